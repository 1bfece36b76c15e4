// SPDX-License-Identifier: Apache-2.0
// Computed torque: with M, C, g of the robot's model,
//
//     u = M (a_ref - kp e - kd e') + C v - g + damping and springs of the joints,    e = q - q_ref
//
// so that the error obeys e'' + kd e' + kp e = 0. The gains enter the step as K = kp M, D = kd M: e and e' are those of
// its end. A joint that this would take to its effort limit becomes a servo with the gains kp M_ii, kd M_ii, which
// keeps the limit exactly; the couplings of its error with the others' are left out then.
#include "common/servo.h"

typedef struct inverse_dynamics {
    double kp, kd;
    bool effort_limits;
} inverse_dynamics;

static const stn_param params[] = {
    STN_PARAM_REAL(inverse_dynamics, kp, "1/s^2", 400, 0.0, INFINITY, "of the error: squared frequency [rad/s]"),
    STN_PARAM_REAL(inverse_dynamics, kd, "1/s", 40, 0.0, INFINITY, "of the error's rate; 2 sqrt(kp) is critical"),
    STN_PARAM_BOOL(inverse_dynamics, effort_limits, true, "respect the joints' effort limits"),
};

enum { POSITION, VELOCITY, ACCELERATION, CHANNEL_COUNT };

static const stn_channel channels[CHANNEL_COUNT] = {
    [POSITION] = {"position", "rad, m", "where the joints should be at the step's end", 0},
    [VELOCITY] = {"velocity", "rad/s, m/s", "how fast they should move", 0},
    [ACCELERATION] = {"acceleration", "rad/s^2, m/s^2", "and how their velocity should change", 0},
};

static stn_status bind(void *self, const stn_control_target *target, stn_error *err) {
    const inverse_dynamics *control = self;
    stn_status status = joints_check_types(target, "inverse_dynamics", err);
    return status == STN_OK && control->effort_limits ? joints_check_motors(target, err) : status;
}

static void initial_reference(const void *self, const stn_control_target *target, const double *q, double *reference) {
    (void)self;
    joints_positions(target, q, reference);
}

/// One tree of the robot; arrays (n) and (n x n) over its velocities, of which `driven` are the controller's.
typedef struct tree_control {
    const inverse_dynamics *control;
    const stn_control_view *view;
    int32_t tree, n, start;
    bool *driven, *servo;
    double *e, *e_dot, *v_ref, *a_ref; // zero where not driven
    double *feedforward;               // M a_ref + C v - g + passive
    double *pull;                      // kp e + kd e'
    double *M, *K, *D, *tau;
} tree_control;

/// Errors, M, and what moves the tree along the reference when there is no error. Joints of others count as not
/// accelerated.
static stn_status begin(tree_control *c, const double *reference, stn_error *err) {
    const stn_control_view *view = c->view;
    const stn_control_target *target = view->target;
    const stn_model *model = target->model;
    size_t n = (size_t)model->trees[c->tree].nv;
    c->n = (int32_t)n;
    c->start = model->trees[c->tree].v_start;
    double *vectors = STN_ARENA_ZEROED(view->arena, 7 * n, double);
    c->driven = STN_ARENA_ZEROED(view->arena, 2 * n, bool);
    c->M = STN_ARENA(view->arena, 3 * n * n, double);
    if (vectors == NULL || c->driven == NULL || c->M == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    double **place[] = {&c->e, &c->e_dot, &c->v_ref, &c->a_ref, &c->feedforward, &c->pull, &c->tau};
    for (int32_t i = 0; i < STN_COUNT(place); i++) {
        *place[i] = vectors + (size_t)i * n;
    }
    c->servo = c->driven + n;
    c->K = c->M + n * n;
    c->D = c->K + n * n;
    int32_t count = target->dof_count;
    for (int32_t i = 0; i < count; i++) {
        int32_t dof = target->dof[i], r = dof - c->start;
        if (model->dof_tree[dof] != c->tree) {
            continue;
        }
        c->driven[r] = true;
        c->v_ref[r] = reference[VELOCITY * count + i];
        c->a_ref[r] = reference[ACCELERATION * count + i];
        c->e[r] = view->q[joint_coordinate(model, dof)] - reference[i];
        c->e_dot[r] = view->v[dof] - c->v_ref[r];
        c->pull[r] = c->control->kp * c->e[r] + c->control->kd * c->e_dot[r];
    }
    stn_matrix M = {.n = c->n, .form = STN_MATRIX_DENSE, .values = c->M};
    stn_mass_matrix(view->kinematics, c->tree, &M);
    stn_status status = servo_tree_dynamics(view, c->tree, c->a_ref, c->feedforward, err);
    if (status != STN_OK) {
        return status;
    }
    for (int32_t r = 0; r < c->n; r++) {
        const stn_joint *joint = &model->joints[model->dof_joint[c->start + r]];
        double stretch = joint->stiffness > 0.0 ? view->q[joint->q_start] - joint->rest : 0.0;
        c->feedforward[r] += joint->damping * view->v[c->start + r] + joint->stiffness * stretch;
    }
    return STN_OK;
}

/// sum over the driven joints without servo of M_rs x_s.
static double coupled(const tree_control *c, int32_t r, const double *x) {
    double sum = 0.0;
    for (int32_t s = 0; s < c->n; s++) {
        sum += c->driven[s] && !c->servo[s] ? c->M[(size_t)r * (size_t)c->n + (size_t)s] * x[s] : 0.0;
    }
    return sum;
}

/// Servos where the effort would reach the limit: when a contact holds the joint where it is, or when it moves freely,
///     (v - v0)/dt = a_ref - kp (e + dt v) - kd (v - v_ref),
/// by which its acceleration is (a_ref - pull - dt kp v0)/(1 + dt kd + dt^2 kp).
static void find_servos(tree_control *c) {
    const inverse_dynamics *control = c->control;
    const stn_control_view *view = c->view;
    const stn_model *model = view->target->model;
    double dt = view->dt, softening = 1.0 / (1.0 + dt * control->kd + dt * dt * control->kp);
    double *left = c->tau, *most = c->K; // scratch: the pull at the step's end, the larger effort
    for (int32_t r = 0; r < c->n; r++) {
        left[r] = c->a_ref[r] - softening * (c->a_ref[r] - c->pull[r] - dt * control->kp * view->v[c->start + r]);
    }
    for (bool more = true; more;) { // a servo leaves its couplings out, so that others may reach theirs
        more = false;
        for (int32_t r = 0; r < c->n; r++) {
            double held = c->feedforward[r] - coupled(c, r, c->pull), moving = c->feedforward[r] - coupled(c, r, left);
            most[r] = fmax(fabs(held), fabs(moving));
        }
        for (int32_t r = 0; r < c->n; r++) {
            bool reached = most[r] >= model->joints[model->dof_joint[c->start + r]].effort;
            bool joins = c->driven[r] && !c->servo[r] && reached;
            c->servo[r] = c->servo[r] || joins;
            more = more || joins;
        }
    }
}

static stn_status add_forces(const tree_control *c, stn_forces *forces, stn_error *err) {
    const inverse_dynamics *control = c->control;
    const stn_model *model = c->view->target->model;
    for (int32_t r = 0; r < c->n; r++) {
        bool own = c->driven[r] && !c->servo[r];
        c->tau[r] = own ? c->feedforward[r] - coupled(c, r, c->pull) : 0.0;
        for (int32_t s = 0; s < c->n; s++) {
            size_t at = (size_t)r * (size_t)c->n + (size_t)s;
            double m = own && c->driven[s] && !c->servo[s] ? c->M[at] : 0.0;
            c->K[at] = control->kp * m;
            c->D[at] = control->kd * m;
        }
    }
    stn_forces_add_matrix(forces, c->tree, c->K, c->D, c->tau);
    stn_status status = STN_OK;
    for (int32_t r = 0; r < c->n && status == STN_OK; r++) {
        const stn_joint *joint = &model->joints[model->dof_joint[c->start + r]];
        double m = c->M[(size_t)r * (size_t)(c->n + 1)];
        stn_servo servo = {.dof = c->start + r,
                           .kp = control->kp * m,
                           .kd = control->kd * m,
                           .error = c->e[r],
                           .velocity = c->v_ref[r],
                           .feedforward = c->feedforward[r],
                           .effort = joint->effort};
        if (c->servo[r] && servo.kp + servo.kd > 0.0) {
            status = stn_forces_add_servo(forces, &servo, err);
        } else if (c->servo[r]) {
            stn_forces_add_effort(forces, servo.dof, fmin(fmax(c->feedforward[r], -joint->effort), joint->effort));
        }
    }
    return status;
}

static stn_status evaluate(void *self, const stn_control_view *view, const double *reference, void *state,
                           stn_forces *forces, stn_error *err) {
    (void)state;
    const stn_model *model = view->target->model;
    stn_status status = STN_OK;
    int32_t last = -1;
    for (int32_t i = 0; i < view->target->dof_count && status == STN_OK; i++) {
        int32_t tree = model->dof_tree[view->target->dof[i]]; // dofs of a tree follow each other
        if (tree == last) {
            continue;
        }
        last = tree;
        tree_control c = {.control = self, .view = view, .tree = tree};
        status = begin(&c, reference, err);
        if (status != STN_OK) {
            return status;
        }
        if (c.control->effort_limits) {
            find_servos(&c);
        }
        status = add_forces(&c, forces, err);
    }
    return status;
}

static const stn_controller_ops ops = {
    .size = sizeof ops,
    .channel_count = CHANNEL_COUNT,
    .channels = channels,
    .bind = bind,
    .initial_reference = initial_reference,
    .evaluate = evaluate,
};

static const char *const capabilities[] = {"inertia", NULL}; // its gains are those of accelerations

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_CONTROLLER,
    .id = "inverse_dynamics",
    .version = "1.0.0",
    .summary = "Computed torque: references with acceleration, gains of the error's dynamics, implicit",
    .reference = "featherstone-2008 (recursive Newton-Euler, composite rigid bodies)",
    .capabilities = capabilities,
    .config_size = sizeof(inverse_dynamics),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.controller = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
