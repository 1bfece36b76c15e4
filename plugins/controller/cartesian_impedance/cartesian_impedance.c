// SPDX-License-Identifier: Apache-2.0
// A link as a mass on springs and dampers about a reference frame. With x the error of place and rotation (6, along the
// axes chosen), J its Jacobian, k the stiffness and d the damping of each row:
//
//     u = J^T (-k x - d x') + N^T (-k_0 (q - q_0) - d_0 N v) + C v - g,
//     N = 1 - M^-1 J^T (J M^-1 J^T)^-1 J,    d_i = 2 zeta sqrt(k_i/(J M^-1 J^T)_ii)
//
// so that the spring of the posture does nothing at the link [khatib-1987]. Springs and dampers enter the step as K and
// D. Where the sum would pass a joint's effort limit the springs of all joints act with one factor below 1, the dampers
// with its root.
#include <string.h>

#include "common/link.h"
#include "common/servo.h"

enum { ROWS = 6 };
enum { AXES_WORLD, AXES_REFERENCE };
static const char *const axes_names[] = {[AXES_WORLD] = "world", [AXES_REFERENCE] = "reference", NULL};

typedef struct impedance {
    const char *frame;
    int32_t axes;
    double stiffness, rotational_stiffness, damping_ratio, posture_stiffness;
    bool effort_limits;
    int32_t link, tree; // of the model, found by bind
} impedance;

static const stn_param params[] = {
    STN_PARAM_TEXT(impedance, frame, NULL, "link that is held; else that of the last joint"),
    STN_PARAM_CHOICE(impedance, axes, axes_names, AXES_WORLD, "axes of the stiffness: the world's, or the reference's"),
    STN_PARAM_REAL(impedance, stiffness, "N/m", 1000, 0.0, INFINITY, "in place, until a script sets others"),
    STN_PARAM_REAL(impedance, rotational_stiffness, "N m/rad", 50, 0.0, INFINITY, "in rotation, likewise"),
    STN_PARAM_REAL(impedance, damping_ratio, "1", 1, 0.0, INFINITY, "1 is critical for the mass that a row feels"),
    STN_PARAM_REAL(impedance, posture_stiffness, "N m/rad, N/m", 10, 0.0, INFINITY,
                   "draws the joints to the posture, where the link does not feel it"),
    STN_PARAM_BOOL(impedance, effort_limits, true, "respect the joints' effort limits"),
};

enum { POSITION, ROTATION, VELOCITY, ANGULAR_VELOCITY, STIFFNESS, POSTURE, CHANNEL_COUNT };

static const stn_channel channels[CHANNEL_COUNT] = {
    [POSITION] = {"position", "m", "where the link's origin should be, world", 3},
    [ROTATION] = {"rotation", "rad", "how the link should be turned: rotation vector, world", 3},
    [VELOCITY] = {"velocity", "m/s", "how fast the origin should move, world", 3},
    [ANGULAR_VELOCITY] = {"angular_velocity", "rad/s", "and the link turn, world", 3},
    [STIFFNESS] = {"stiffness", "N/m, N m/rad", "of place and rotation along the three axes", ROWS},
    [POSTURE] = {"posture", "rad, m", "where the joints should be as far as the link allows", 0},
};

/// The references, as they are stacked.
typedef struct references {
    stn_vec3 position, rotation, velocity, angular_velocity;
    double stiffness[ROWS];
} references;
enum { FIXED_REFERENCES = sizeof(references) / sizeof(double) };

// ------------------------------------------------------------------------------------------------------------- setup

static stn_status bind(void *self, const stn_control_target *target, stn_error *err) {
    impedance *control = self;
    stn_status status = joints_check_types(target, "cartesian_impedance", err);
    if (status == STN_OK && control->effort_limits) {
        status = joints_check_motors(target, err);
    }
    return status == STN_OK ? link_find(target, control->frame, &control->link, &control->tree, err) : status;
}

static void initial_reference(const void *self, const stn_control_target *target, const double *q, double *reference) {
    const impedance *control = self;
    references start = {.position = stn_vec3_zero()};
    link_place(target, control->link, q, &start.position, &start.rotation);
    for (int32_t r = 0; r < ROWS; r++) {
        start.stiffness[r] = r < 3 ? control->stiffness : control->rotational_stiffness;
    }
    memcpy(reference, &start, sizeof start);
    joints_positions(target, q, reference + FIXED_REFERENCES);
}

// -------------------------------------------------------------------------------------------------------------- step

/// Over the n velocities of the tree; matrices row-major.
typedef struct task {
    const impedance *control;
    const stn_control_view *view;
    references ref;
    int32_t n, start;
    bool *driven;
    double *posture;                      // (n) q - q_0
    double *J;                            // (ROWS x n), zero in joints of others
    double *B;                            // (ROWS x n) J M^-1
    double *N;                            // (n x n)
    double *L;                            // (n x n) factor of M
    double *M_ii;                         // (n)
    double *K, *D;                        // (n x n)
    double *spring, *damper, *bias;       // (n) their efforts; C v - g
    double x[ROWS], x_dot[ROWS], d[ROWS]; // errors and damping of the rows
    double W[ROWS * ROWS];                // J M^-1 J^T, then its factor
} task;

/// References, and the errors along the axes of the stiffness with their Jacobian.
static stn_status begin(task *t, const double *reference, stn_error *err) {
    const stn_control_target *target = t->view->target;
    const stn_tree *tree = &target->model->trees[t->control->tree];
    size_t n = (size_t)tree->nv;
    t->n = tree->nv;
    t->start = tree->v_start;
    double **place[] = {&t->J,       &t->B,    &t->N,      &t->L,      &t->K,   &t->D,
                        &t->posture, &t->M_ii, &t->spring, &t->damper, &t->bias};
    const size_t size[] = {ROWS * n, ROWS * n, n * n, n * n, n * n, n * n, n, n, n, n, n};
    t->driven = STN_ARENA_ZEROED(t->view->arena, n, bool);
    bool complete = t->driven != NULL;
    for (int32_t i = 0; i < STN_COUNT(place); i++) {
        *place[i] = STN_ARENA_ZEROED(t->view->arena, size[i], double);
        complete = complete && *place[i] != NULL;
    }
    if (!complete) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    memcpy(&t->ref, reference, sizeof t->ref);
    for (int32_t r = 0; r < ROWS; r++) {
        if (t->ref.stiffness[r] < 0.0) {
            return stn_fail(err, STN_ERR_ARGUMENT, "stiffness[%d] = %g, must be >= 0", r + 1, t->ref.stiffness[r]);
        }
    }
    for (int32_t i = 0; i < target->dof_count; i++) {
        int32_t dof = target->dof[i];
        t->driven[dof - t->start] = true;
        t->posture[dof - t->start] = t->view->q[joint_coordinate(target->model, dof)] - reference[FIXED_REFERENCES + i];
    }
    const stn_kinematics *kinematics = t->view->kinematics;
    stn_pose pose = link_pose(kinematics, t->control->link);
    int32_t body = kinematics->model->links[t->control->link].body;
    stn_mat3 wanted = stn_quat_matrix(stn_quat_exp(t->ref.rotation)), back = stn_mat3_transpose(&wanted);
    stn_mat3 turned = stn_mat3_mul(&pose.rotation, &back);
    stn_mat3 axes = t->control->axes == AXES_REFERENCE ? wanted : stn_mat3_identity();
    stn_vec3 velocity = stn_point_velocity(kinematics, body, pose.position);
    const stn_vec3 error[4] = {
        stn_vec3_sub(pose.position, t->ref.position),
        stn_quat_log(stn_quat_from_matrix(&turned)),
        stn_vec3_sub(velocity, t->ref.velocity),
        stn_vec3_sub(kinematics->body_velocity[body].angular, t->ref.angular_velocity),
    };
    for (int32_t i = 0; i < 4; i++) {
        stn_vec3 e = stn_mat3_apply_transposed(&axes, error[i]);
        double *to = (i < 2 ? t->x : t->x_dot) + 3 * (i % 2);
        to[0] = e.x, to[1] = e.y, to[2] = e.z;
    }
    stn_point_jacobian_add(kinematics, body, pose.position, &axes, 1.0, t->J);
    stn_angular_jacobian_add(kinematics, body, &axes, 1.0, t->J + 3 * n);
    for (size_t i = 0; i < ROWS * n; i++) {
        t->J[i] = t->driven[i % n] ? t->J[i] : 0.0;
    }
    return STN_OK;
}

/// Springs and dampers of the link; with them the factor of M, J M^-1 and the factor of W, by which the damping has the
/// ratio that is asked for. W is kept regular where the arm is singular: a row feels at most 1e3 kg, kg m^2.
static stn_status add_task(task *t, stn_error *err) {
    size_t n = (size_t)t->n;
    stn_matrix M = {.n = t->n, .form = STN_MATRIX_DENSE, .values = t->L};
    stn_mass_matrix(t->view->kinematics, t->control->tree, &M);
    for (size_t i = 0; i < n; i++) {
        t->M_ii[i] = t->L[i * (n + 1)];
    }
    if (stn_cholesky(t->n, t->L, t->n) >= 0) {
        return stn_fail(err, STN_ERR_NUMERIC, "the mass matrix is not positive definite");
    }
    memcpy(t->B, t->J, ROWS * n * sizeof(double));
    stn_cholesky_forward(t->n, t->L, t->n, ROWS, t->B, t->n);
    stn_cholesky_backward(t->n, t->L, t->n, ROWS, t->B, t->n);
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t s = 0; s < ROWS; s++) {
            double w = r == s ? 1e-6 : 0.0;
            for (size_t i = 0; i < n; i++) {
                w += t->B[r * n + i] * t->J[s * n + i];
            }
            t->W[r * ROWS + s] = w;
        }
        double k = t->ref.stiffness[r], mobility = fmax(t->W[r * (ROWS + 1)], 1e-3);
        t->d[r] = 2.0 * t->control->damping_ratio * sqrt(k / mobility);
    }
    if (stn_cholesky(ROWS, t->W, ROWS) >= 0) {
        return stn_fail(err, STN_ERR_NUMERIC, "J M^-1 J^T is not positive definite");
    }
    for (size_t r = 0; r < ROWS; r++) {
        const double *row = t->J + r * n;
        double k = t->ref.stiffness[r], d = t->d[r];
        for (size_t i = 0; i < n; i++) {
            t->spring[i] -= row[i] * k * t->x[r];
            t->damper[i] -= row[i] * d * t->x_dot[r];
            for (size_t j = 0; j < n; j++) {
                t->K[i * n + j] += k * row[i] * row[j];
                t->D[i * n + j] += d * row[i] * row[j];
            }
        }
    }
    return STN_OK;
}

static void add_posture(task *t) {
    size_t n = (size_t)t->n;
    const double *v = t->view->v + t->start;
    double k = t->control->posture_stiffness;
    for (size_t j = 0; j < n; j++) { // N over the driven joints, whose columns of J alone are not zero
        double y[ROWS];
        for (size_t r = 0; r < ROWS; r++) {
            y[r] = t->J[r * n + j];
        }
        stn_cholesky_forward(ROWS, t->W, ROWS, 1, y, ROWS);
        stn_cholesky_backward(ROWS, t->W, ROWS, 1, y, ROWS);
        for (size_t i = 0; i < n; i++) {
            double sum = i == j && t->driven[i] ? 1.0 : 0.0;
            for (size_t r = 0; r < ROWS; r++) {
                sum -= t->driven[i] ? t->B[r * n + i] * y[r] : 0.0;
            }
            t->N[i * n + j] = sum;
        }
    }
    for (size_t i = 0; i < n; i++) {
        double d = 2.0 * t->control->damping_ratio * sqrt(k * t->M_ii[i]), rate = 0.0;
        const double *row = t->N + i * n;
        for (size_t j = 0; j < n; j++) {
            rate += row[j] * v[j];
        }
        for (size_t j = 0; j < n; j++) {
            t->spring[j] -= row[j] * k * t->posture[i];
            t->damper[j] -= row[j] * d * rate;
            for (size_t l = 0; l < n; l++) {
                t->K[j * n + l] += k * row[j] * row[l];
                t->D[j * n + l] += d * row[j] * row[l];
            }
        }
    }
}

/// The factor <= 1 that `efforts` may act with beside the bias.
static double room_for(const task *t, const double *efforts) {
    const stn_model *model = t->view->target->model;
    double factor = 1.0;
    for (int32_t i = 0; i < t->n && t->control->effort_limits; i++) {
        double limit = model->joints[model->dof_joint[t->start + i]].effort;
        double room = limit - copysign(1.0, efforts[i]) * t->bias[i];
        factor = t->driven[i] && fabs(efforts[i]) > room ? fmin(factor, fmax(room, 0.0) / fabs(efforts[i])) : factor;
    }
    return factor;
}

/// Adds efforts to the bias with a factor, which their gains get too.
static void take(task *t, double factor, const double *efforts, double *gains) {
    for (int32_t i = 0; i < t->n; i++) {
        t->bias[i] += t->driven[i] ? factor * efforts[i] : 0.0;
    }
    for (int32_t i = 0; i < t->n * t->n; i++) {
        gains[i] *= factor;
    }
}

static stn_status evaluate(void *self, const stn_control_view *view, const double *reference, void *state,
                           stn_forces *forces, stn_error *err) {
    (void)state;
    task t = {.control = self, .view = view};
    stn_status status = begin(&t, reference, err);
    if (status != STN_OK) {
        return status;
    }
    status = add_task(&t, err);
    if (status != STN_OK) {
        return status;
    }
    if (t.control->posture_stiffness > 0.0) {
        add_posture(&t);
    }
    // what weight and motion of the tree need, within the limits
    const stn_model *model = view->target->model;
    int32_t tree = t.control->tree;
    status = servo_bias(view, tree, t.bias, err);
    if (status != STN_OK) {
        return status;
    }
    for (int32_t i = 0; i < t.n; i++) {
        double effort = model->joints[model->dof_joint[t.start + i]].effort;
        double limit = t.control->effort_limits ? effort : (double)INFINITY;
        t.bias[i] = t.driven[i] ? fmin(fmax(t.bias[i], -limit), limit) : 0.0;
    }
    // dampers first, with the damping ratio of the springs that are left
    double damping = sqrt(room_for(&t, t.spring));
    take(&t, fmin(damping, room_for(&t, t.damper)), t.damper, t.D);
    take(&t, room_for(&t, t.spring), t.spring, t.K);
    stn_forces_add_matrix(forces, tree, t.K, t.D, t.bias);
    return STN_OK;
}

static const stn_controller_ops ops = {
    .size = sizeof ops,
    .channel_count = CHANNEL_COUNT,
    .channels = channels,
    .bind = bind,
    .initial_reference = initial_reference,
    .evaluate = evaluate,
};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_CONTROLLER,
    .id = "cartesian_impedance",
    .version = "1.0.0",
    .summary = "A link on springs and dampers about a reference frame, implicit, with a posture in the null space",
    .reference = "khatib-1987 (operational space, dynamically consistent null space)",
    .config_size = sizeof(impedance),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.controller = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
