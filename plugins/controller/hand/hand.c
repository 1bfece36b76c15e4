// SPDX-License-Identifier: Apache-2.0
// Fingers that go from an open posture by way of a pre-shape to a closed one, and press with a limited force. The
// closure is led at a speed; the motor of each joint pulls with at most
//
//     force sum |k_i| lever_i
//
// over the joint and those that mimic it with factors k, lever being the distance of the joint's axis from the tip of
// its finger: a tip that pushes straight across the lever of every joint pushes with the force.
#include <string.h>

#include "tips.h"

typedef struct hand_options {
    double speed, kp, kd;
} hand_options;

/// The end of the finger of a joint.
typedef struct fingertip {
    int32_t body;   // of the model
    stn_vec3 point; // there
} fingertip;

typedef struct hand {
    stn_context *context;
    hand_options options;
    int32_t count;
    press_joint *joints; // (count), made by bind
    fingertip *tips;     // (count)
} hand;

static const stn_param params[] = {
    STN_PARAM_REAL(hand_options, speed, "1/s", 1.5, 1e-9, INFINITY, "of the closure, until a script sets another"),
    STN_PARAM_REAL(hand_options, kp, "N m/rad, N/m", 10, 1e-9, INFINITY, "position gain of a joint"),
    STN_PARAM_REAL(hand_options, kd, "N m s/rad, N s/m", 0.5, 1e-9, INFINITY, "velocity gain of a joint"),
};

enum { CLOSURE, FORCE, SPEED, OPEN, PRESHAPE, CLOSED, CHANNEL_COUNT };
static const double least_lever = 0.01; // [m]

static const stn_channel channels[CHANNEL_COUNT] = {
    [CLOSURE] = {"closure", "1", "0 open, 1/2 pre-shaped, 1 closed", 1},
    [FORCE] = {"force", "N", "a finger presses with at most about this", 1},
    [SPEED] = {"speed", "1/s", "of the closure", 1},
    [OPEN] = {"open", "rad, m", "posture of the open hand", 0},
    [PRESHAPE] = {"preshape", "rad, m", "posture on the way", 0},
    [CLOSED] = {"closed", "rad, m", "posture that is closed to when nothing is in the way", 0},
};

// ------------------------------------------------------------------------------------------------------------- setup

static stn_status create(stn_context *context, const void *config, void **self, stn_error *err) {
    hand *h = stn_allocate(context, 1, sizeof *h);
    if (h == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    const hand_options *options = config;
    *h = (hand){.context = context, .options = *options};
    *self = h;
    return STN_OK;
}

static void destroy(void *self) {
    hand *h = self;
    if (h != NULL) {
        stn_release(h->context, h->joints);
        stn_release(h->context, h->tips);
        stn_release(h->context, h);
    }
}

static stn_status bind(void *self, const stn_control_target *target, stn_error *err) {
    hand *h = self;
    const stn_model *model = target->model;
    stn_status status = joints_check_types(target, "hand", err);
    if (status != STN_OK) {
        return status;
    }
    for (int32_t i = 0; i < target->joint_count; i++) {
        const stn_joint *joint = &model->joints[target->joint[i]];
        if (joint->nv != 1) {
            return stn_fail(err, STN_ERR_UNSUPPORTED,
                            "joint %s is %s: the joints of fingers have one axis; name the other "
                            "joints with joints = {...}",
                            joint->name, stn_joint_type_name(joint->type));
        }
    }
    status = joints_check_motors(target, err);
    if (status != STN_OK) {
        return status;
    }
    stn_release(h->context, h->joints);
    stn_release(h->context, h->tips);
    h->joints = stn_allocate(h->context, (size_t)model->joint_count, sizeof *h->joints);
    h->tips = stn_allocate(h->context, (size_t)model->joint_count, sizeof *h->tips);
    if (h->joints == NULL || h->tips == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    h->count = press_joints(target, h->joints);
    for (int32_t k = 0; k < h->count; k++) {
        h->tips[k].body = tip_find(model, h->joints[k].joint, &h->tips[k].point);
    }
    return STN_OK;
}

/// Kept across steps; zero before the first one.
typedef struct memory {
    double begun, closure; // 1 from the first step on; commanded
} memory;

static size_t state_size(const void *self, const stn_control_target *target) {
    (void)self;
    (void)target;
    return sizeof(memory);
}

/// Open is as near to 0 as the limits allow; closed the limit that is further from there, unless both are alike: a
/// joint that spreads the fingers stays.
static void initial_reference(const void *self, const stn_control_target *target, const double *q, double *reference) {
    const hand *h = self;
    (void)q;
    int32_t n = target->dof_count;
    double *open = reference + OPEN, *preshape = open + n, *closed = preshape + n;
    reference[CLOSURE] = 0.0;
    reference[FORCE] = 5.0;
    reference[SPEED] = h->options.speed;
    for (int32_t i = 0; i < n; i++) {
        const stn_joint *joint = &target->model->joints[target->joint[i]];
        open[i] = fmin(fmax(0.0, joint->lower), joint->upper);
        double up = joint->upper - open[i], down = open[i] - joint->lower;
        bool bends = isfinite(up) && isfinite(down) && fabs(up - down) > 0.1 * (up + down);
        closed[i] = !bends ? open[i] : up > down ? joint->upper : joint->lower;
        preshape[i] = 0.5 * (open[i] + closed[i]);
    }
}

// -------------------------------------------------------------------------------------------------------------- step

/// Between the three postures; how it changes with the closure in `*slope`.
static double posture_at(const stn_control_target *target, const double *reference, int32_t i, double closure,
                         double *slope) {
    const double *open = reference + OPEN, *preshape = open + target->dof_count;
    const double *closed = preshape + target->dof_count;
    bool early = closure < 0.5;
    *slope = 2.0 * (early ? preshape[i] - open[i] : closed[i] - preshape[i]);
    return preshape[i] + (closure - 0.5) * *slope;
}

static stn_status evaluate(void *self, const stn_control_view *view, const double *reference, void *state,
                           stn_forces *forces, stn_error *err) {
    const hand *h = self;
    const stn_control_target *target = view->target;
    memory *m = state;
    double *weight = NULL, *lever = STN_ARENA_ZEROED(view->arena, target->dof_count, double);
    stn_status status = press_check(channels, reference, FORCE, err);
    if (status == STN_OK) {
        status = press_check(channels, reference, SPEED, err);
    }
    if (status == STN_OK) {
        status = press_weights(view, h->joints, h->count, &weight, err);
    }
    if (status != STN_OK || lever == NULL) {
        return status != STN_OK ? status : stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    for (int32_t k = 0; k < h->count; k++) {
        const press_joint *joint = &h->joints[k];
        int32_t dof = target->model->joints[joint->joint].v_start;
        double arm = tip_lever(view->kinematics, dof, h->tips[k].body, h->tips[k].point);
        lever[joint->driver] += fabs(joint->ratio) * fmax(arm, least_lever);
    }
    double step = reference[SPEED] * view->dt, goal = fmin(fmax(reference[CLOSURE], 0.0), 1.0);
    if (m->begun == 0.0) {
        *m = (memory){1.0, goal};
    }
    // the closure is led towards the one asked for, never so far beside the fingers that all pull in full already, so
    // that they turn back at once
    double least = INFINITY, most = -INFINITY;
    for (int32_t i = 0; i < target->dof_count; i++) {
        // the closure at which the joint is where it is, and how much of it the servo's lead is
        double early, late, q = view->q[joint_coordinate(target->model, target->dof[i])];
        double open = posture_at(target, reference, i, 0.0, &early);
        double preshape = posture_at(target, reference, i, 0.5, &late);
        bool is_early = late == 0.0 || (early != 0.0 && (preshape - q) * early > 0.0);
        double slope = is_early ? early : late;
        if (slope != 0.0) { // else all postures are alike
            double effort = fmin(reference[FORCE] * lever[i], target->model->joints[target->joint[i]].effort);
            double closure = (is_early ? 0.0 : 0.5) + (is_early ? q - open : q - preshape) / slope;
            double lead = press_lead(effort, h->options.kp) / fabs(slope);
            least = fmin(least, closure - lead);
            most = fmax(most, closure + lead);
        }
    }
    m->closure = least <= most ? fmin(fmax(m->closure, fmin(least, 1.0)), fmax(most, 0.0)) : m->closure;
    double move = fmin(fmax(goal - m->closure, -step), step), rate = move / view->dt;
    m->closure += move;
    for (int32_t i = 0; i < target->dof_count && status == STN_OK; i++) {
        double slope, position = posture_at(target, reference, i, m->closure, &slope);
        const press_law law = {h->options.kp, h->options.kd, position, slope * rate, reference[FORCE] * lever[i],
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
    .id = "hand",
    .version = "1.0.0",
    .summary = "Fingers that open, take a pre-shape, and close on what is there with a limited force",
    .reference = "castro-2022 (a servo with an effort limit is a row of the convex problem)",
    .config_size = sizeof(hand_options),
    .params = params,
    .param_count = STN_COUNT(params),
    .create = create,
    .destroy = destroy,
    .ops.controller = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
