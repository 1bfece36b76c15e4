// SPDX-License-Identifier: Apache-2.0
// Efforts as they are given, with springs and dampers that act within the step:
//
//     u = clamp(u_ref - k (q - q_ref) - d (v - v_ref), -effort, effort),    q, v at the step's end
//
// servos where a joint has an effort limit and a gain, K and D elsewhere.
#include "common/servo.h"

typedef struct effort {
    bool effort_limits;
} effort;

static const stn_param params[] = {
    STN_PARAM_BOOL(effort, effort_limits, true, "respect the joints' effort limits"),
};

enum { EFFORT, STIFFNESS, DAMPING, POSITION, VELOCITY, CHANNEL_COUNT };

static const stn_channel channels[CHANNEL_COUNT] = {
    [EFFORT] = {"effort", "N m, N", "of each joint", 0},
    [STIFFNESS] = {"stiffness", "N m/rad, N/m", "of a spring beside it", 0},
    [DAMPING] = {"damping", "N m s/rad, N s/m", "of a damper beside it", 0},
    [POSITION] = {"position", "rad, m", "where the springs are at rest", 0},
    [VELOCITY] = {"velocity", "rad/s, m/s", "where the dampers are", 0},
};

static stn_status bind(void *self, const stn_control_target *target, stn_error *err) {
    const effort *control = self;
    stn_status status = joints_check_types(target, "effort", err);
    return status == STN_OK && control->effort_limits ? joints_check_motors(target, err) : status;
}

static void initial_reference(const void *self, const stn_control_target *target, const double *q, double *reference) {
    (void)self;
    joints_positions(target, q, reference + POSITION * target->dof_count);
}

static stn_status evaluate(void *self, const stn_control_view *view, const double *reference, void *state,
                           stn_forces *forces, stn_error *err) {
    (void)state;
    const effort *control = self;
    const stn_model *model = view->target->model;
    int32_t count = view->target->dof_count;
    stn_status status = STN_OK;
    for (int32_t i = 0; i < count && status == STN_OK; i++) {
        int32_t dof = view->target->dof[i];
        const servo_law law = {.kp = reference[STIFFNESS * count + i],
                               .kd = reference[DAMPING * count + i],
                               .position = reference[POSITION * count + i],
                               .velocity = reference[VELOCITY * count + i],
                               .feedforward = reference[EFFORT * count + i],
                               .limited = control->effort_limits};
        if (law.kp < 0.0 || law.kd < 0.0) {
            return stn_fail(err, STN_ERR_ARGUMENT, "%s of joint %s is %g, must be >= 0",
                            law.kp < 0.0 ? "stiffness" : "damping", model->joints[model->dof_joint[dof]].name,
                            fmin(law.kp, law.kd));
        }
        status = servo_add(view, dof, &law, forces, err);
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

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_CONTROLLER,
    .id = "effort",
    .version = "1.0.0",
    .summary = "Efforts as they are given, with springs and dampers beside them and effort limits",
    .reference = "castro-2022 (a servo with an effort limit is a row of the convex problem)",
    .config_size = sizeof(effort),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.controller = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
