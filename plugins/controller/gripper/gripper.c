// SPDX-License-Identifier: Apache-2.0
// Parallel jaws that open to a width and press with a force. The width is led at a speed; each motor pulls towards it
// with the force asked for, at most.
#include "jaws.h"

typedef struct gripper {
    double speed, kp, kd;
    jaws pair; // found by bind
} gripper;

static const stn_param params[] = {
    STN_PARAM_REAL(gripper, speed, "m/s", 0.1, 1e-9, INFINITY, "of the width, until a script sets another"),
    STN_PARAM_REAL(gripper, kp, "N/m", 2e4, 1e-9, INFINITY, "position gain of a jaw"),
    STN_PARAM_REAL(gripper, kd, "N s/m", 1e3, 1e-9, INFINITY, "velocity gain of a jaw"),
};

enum { WIDTH, FORCE, SPEED, CHANNEL_COUNT };

static const stn_channel channels[CHANNEL_COUNT] = {
    [WIDTH] = {"width", "m", "opening between the jaws; what the joints cannot reach is cut to what they can", 1},
    [FORCE] = {"force", "N", "each jaw presses with at most this", 1},
    [SPEED] = {"speed", "m/s", "of the width", 1},
};

static stn_status bind(void *self, const stn_control_target *target, stn_error *err) {
    gripper *g = self;
    stn_status status = joints_check_types(target, "gripper", err);
    if (status == STN_OK) {
        status = joints_check_motors(target, err);
    }
    return status == STN_OK ? jaws_find(target, &g->pair, err) : status;
}

/// Kept across steps; zero before the first one.
typedef struct memory {
    double begun, width; // 1 from the first step on; commanded [m]
} memory;

static size_t state_size(const void *self, const stn_control_target *target) {
    (void)self;
    (void)target;
    return sizeof(memory);
}

/// How far the motor of a target joint must pull for each newton of its jaws.
static double effort_of_force(const gripper *g, const stn_model *model, int32_t driver) {
    return fabs(press_ratio(model, driver, g->pair.joint[0])) + fabs(press_ratio(model, driver, g->pair.joint[1]));
}

/// As wide as it is; as strong as the motors are.
static void initial_reference(const void *self, const stn_control_target *target, const double *q, double *reference) {
    const gripper *g = self;
    reference[WIDTH] = jaws_width(&g->pair, target->model, q);
    reference[SPEED] = g->speed;
    reference[FORCE] = INFINITY;
    for (int32_t i = 0; i < target->joint_count; i++) {
        double most = target->model->joints[target->joint[i]].effort;
        reference[FORCE] = fmin(reference[FORCE], most / effort_of_force(g, target->model, target->joint[i]));
    }
    reference[FORCE] = isfinite(reference[FORCE]) ? reference[FORCE] : 100.0; // motors without limits
}

static stn_status evaluate(void *self, const stn_control_view *view, const double *reference, void *state,
                           stn_forces *forces, stn_error *err) {
    const gripper *g = self;
    memory *m = state;
    double *weight = NULL;
    stn_status status = press_check(channels, reference, FORCE, err);
    if (status == STN_OK) {
        status = press_check(channels, reference, SPEED, err);
    }
    if (status == STN_OK) {
        status = press_weights(view, g->pair.moved, 2, &weight, err);
    }
    if (status != STN_OK) {
        return status;
    }
    const stn_control_target *target = view->target;
    double width = jaws_width(&g->pair, target->model, view->q), step = reference[SPEED] * view->dt, lead = 0.0;
    if (m->begun == 0.0) {
        *m = (memory){1.0, width};
    }
    // the command is led towards the width asked for, no further beside the width than every jaw pulls in full there,
    // also one that is held off the middle
    for (int32_t i = 0; i < target->joint_count; i++) {
        double ratio, position = jaws_position(&g->pair, target, i, width, &ratio);
        double q = view->q[joint_coordinate(target->model, target->dof[i])];
        double effort = reference[FORCE] * effort_of_force(g, target->model, target->joint[i]);
        effort = fmin(effort, target->model->joints[target->joint[i]].effort);
        lead = fmax(lead, (fabs(q - position) + press_lead(effort, g->kp)) / fabs(ratio));
    }
    m->width = fmin(fmax(m->width, width - lead), width + lead);
    double goal = fmin(fmax(reference[WIDTH], g->pair.closed), g->pair.open);
    double move = fmin(fmax(goal - m->width, -step), step), rate = move / view->dt;
    m->width += move;
    for (int32_t i = 0; i < target->joint_count && status == STN_OK; i++) {
        double ratio, position = jaws_position(&g->pair, target, i, m->width, &ratio);
        const press_law law = {g->kp,
                               g->kd,
                               position,
                               ratio * rate,
                               reference[FORCE] * effort_of_force(g, target->model, target->joint[i]),
                               weight[i]};
        status = press_add(view, i, &law, forces, err);
    }
    return status;
}

static const stn_controller_ops ops = {
    .size = sizeof ops,
    .channel_count = CHANNEL_COUNT,
    .channels = channels,
    .bind = bind,
    .state_size = state_size,
    .initial_reference = initial_reference,
    .evaluate = evaluate,
};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_CONTROLLER,
    .id = "gripper",
    .version = "1.0.0",
    .summary = "Parallel jaws that open to a width and press with a limited force",
    .reference = "castro-2022 (a servo with an effort limit is a row of the convex problem)",
    .config_size = sizeof(gripper),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.controller = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
