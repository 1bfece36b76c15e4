// SPDX-License-Identifier: Apache-2.0
// Joints as springs and dampers about their references, the robot's weight and motion made up for:
//
//     u = clamp(-k (q - q_ref) - d (v - v_ref) + u_ff + C v - g, -effort, effort),    d_i = 2 zeta sqrt(k_i M_ii)
//
// with q and v of the step's end: servos where a joint has an effort limit, K and D elsewhere.
#include "common/servo.h"

typedef struct impedance {
    double stiffness, damping_ratio;
    bool effort_limits;
} impedance;

static const stn_param params[] = {
    STN_PARAM_REAL(impedance, stiffness, "N m/rad, N/m", 100, 0.0, INFINITY,
                   "of every joint, until a script sets others"),
    STN_PARAM_REAL(impedance, damping_ratio, "1", 1, 0.0, INFINITY, "1 is critical for the inertia that a joint feels"),
    STN_PARAM_BOOL(impedance, effort_limits, true, "respect the joints' effort limits"),
};

enum { POSITION, VELOCITY, STIFFNESS, FEEDFORWARD, CHANNEL_COUNT };

static const stn_channel channels[CHANNEL_COUNT] = {
    [POSITION] = {"position", "rad, m", "where the springs are at rest", 0},
    [VELOCITY] = {"velocity", "rad/s, m/s", "where the dampers are", 0},
    [STIFFNESS] = {"stiffness", "N m/rad, N/m", "of each joint", 0},
    [FEEDFORWARD] = {"feedforward", "N m, N", "effort added to springs and dampers", 0},
};

static stn_status bind(void *self, const stn_control_target *target, stn_error *err) {
    const impedance *control = self;
    stn_status status = joints_check_types(target, "joint_impedance", err);
    return status == STN_OK && control->effort_limits ? joints_check_motors(target, err) : status;
}

static void initial_reference(const void *self, const stn_control_target *target, const double *q, double *reference) {
    const impedance *control = self;
    joints_positions(target, q, reference);
    for (int32_t i = 0; i < target->dof_count; i++) {
        reference[STIFFNESS * target->dof_count + i] = control->stiffness;
    }
}

static stn_status evaluate(void *self, const stn_control_view *view, const double *reference, void *state,
                           stn_forces *forces, stn_error *err) {
    (void)state;
    const impedance *control = self;
    const stn_model *model = view->target->model;
    int32_t count = view->target->dof_count, tree = -1;
    double *bias = NULL, *inertia = NULL; // of the tree at hand: what weight and motion need, and the diagonal of M
    for (int32_t i = 0; i < count; i++) {
        int32_t dof = view->target->dof[i], own = model->dof_tree[dof];
        const stn_tree *t = &model->trees[own];
        if (own != tree) {
            stn_matrix M = {.n = t->nv, .form = STN_MATRIX_DENSE};
            bias = STN_ARENA(view->arena, 2 * t->nv, double);
            M.values = STN_ARENA(view->arena, (int64_t)t->nv * t->nv, double);
            if (bias == NULL || M.values == NULL) {
                return stn_fail(err, STN_ERR_MEMORY, "out of memory");
            }
            tree = own;
            inertia = bias + t->nv;
            stn_status weighed = servo_bias(view, tree, bias, err);
            if (weighed != STN_OK) {
                return weighed;
            }
            stn_mass_matrix(view->kinematics, tree, &M);
            stn_matrix_diagonal(&M, inertia);
        }
        double k = reference[STIFFNESS * count + i];
        if (k < 0.0) {
            return stn_fail(err, STN_ERR_ARGUMENT, "stiffness of joint %s is %g, must be >= 0",
                            model->joints[model->dof_joint[dof]].name, k);
        }
        int32_t r = dof - t->v_start;
        const servo_law law = {.kp = k,
                               .kd = 2.0 * control->damping_ratio * sqrt(k * inertia[r]),
                               .position = reference[POSITION * count + i],
                               .velocity = reference[VELOCITY * count + i],
                               .feedforward = reference[FEEDFORWARD * count + i] + bias[r],
                               .limited = control->effort_limits};
        stn_status status = servo_add(view, dof, &law, forces, err);
        if (status != STN_OK) {
            return status;
        }
    }
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

static const char *const capabilities[] = {"joint_by_joint", NULL};
static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_CONTROLLER,
    .id = "joint_impedance",
    .version = "1.0.0",
    .summary =
        "Joints as springs with a damping ratio, the robot's weight and motion made up for; stiffness as reference",
    .reference = "castro-2022 (a servo with an effort limit is a row of the convex problem)",
    .capabilities = capabilities,
    .config_size = sizeof(impedance),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.controller = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
