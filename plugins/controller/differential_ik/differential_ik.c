// SPDX-License-Identifier: Apache-2.0
// A link is led to a pose by joint velocities that are found afresh in every step (reach.c); the positions that they
// add up to are commanded to implicit servos. The command is the controller's state, and never further from the joints
// than these can be held back by what they touch.
#include <string.h>

#include "common/servo.h"
#include "reach.h"

static const char *const methods[] = {[METHOD_QP] = "qp", [METHOD_DLS] = "dls", NULL};
static const char *const avoids[] = {
    [AVOID_NONE] = "none", [AVOID_FIXED] = "fixed", [AVOID_ROBOTS] = "robots", [AVOID_ALL] = "all", NULL};

static const stn_param params[] = {
    STN_PARAM_TEXT(reach_options, frame, NULL, "link that is led; else that of the last joint"),
    STN_PARAM_CHOICE(reach_options, method, methods, METHOD_QP,
                     "quadratic program with all limits, or damped least squares, which keeps clear of nothing"),
    STN_PARAM_REAL(reach_options, gain, "1/s", 10, 0.0, INFINITY, "velocity of the link for its distance to the goal"),
    STN_PARAM_REAL(reach_options, speed, "m/s", 0.5, 0.0, INFINITY, "largest of the link"),
    STN_PARAM_REAL(reach_options, angular_speed, "rad/s", 2, 0.0, INFINITY, "the same"),
    STN_PARAM_REAL(reach_options, damping, "m/rad", 0.02, 1e-6, INFINITY, "of joint velocities near singular postures"),
    STN_PARAM_REAL(reach_options, posture_gain, "1/s", 1, 0.0, INFINITY,
                   "draws the joints to the posture, as far as the link does not feel it"),
    STN_PARAM_REAL(reach_options, posture_weight, "m/rad", 0, 0.0, INFINITY,
                   "draws them there also where the link feels it: for a posture that has the link at its goal"),
    STN_PARAM_REAL(reach_options, velocity_scale, "1", 0.9, 0.01, 1.0, "part of the joints' velocity limits"),
    STN_PARAM_REAL(reach_options, velocity_limit, "rad/s, m/s", 1, 1e-9, INFINITY, "of joints that have none"),
    STN_PARAM_REAL(reach_options, acceleration, "rad/s^2, m/s^2", 20, 1e-9, INFINITY, "limit of joints that have none"),
    STN_PARAM_REAL(reach_options, joint_margin, "rad, m", 0.01, 0.0, INFINITY, "kept from the joints' limits"),
    STN_PARAM_CHOICE(reach_options, avoid, avoids, AVOID_ROBOTS,
                     "what to keep clear of: nothing, itself and what is fixed, robots too, free bodies too"),
    STN_PARAM_REAL(reach_options, distance, "m", 0.02, 0.0, INFINITY, "kept from what is avoided"),
    STN_PARAM_REAL(reach_options, self_distance, "m", 0.005, 0.0, INFINITY, "the same, between links of the robot"),
    STN_PARAM_REAL(reach_options, influence, "m", 0.15, 0.0, INFINITY, "what is further away does not count"),
    STN_PARAM_REAL(reach_options, yield, "1/s", 5, 1e-9, INFINITY, "speed of approach for the distance that is left"),
    STN_PARAM_REAL(reach_options, kp, "N m/rad, N/m", 1e4, 0.0, INFINITY, "position gain of the servos"),
    STN_PARAM_REAL(reach_options, kd, "N m s/rad, N s/m", 1e3, 0.0, INFINITY, "velocity gain of the servos"),
    STN_PARAM_BOOL(reach_options, effort_limits, true, "respect the joints' effort limits"),
};

enum { POSITION, ROTATION, VELOCITY, ANGULAR_VELOCITY, POSTURE, CHANNEL_COUNT };

static const stn_channel channels[CHANNEL_COUNT] = {
    [POSITION] = {"position", "m", "where the link's origin should be, world", 3},
    [ROTATION] = {"rotation", "rad", "how the link should be turned: rotation vector, world", 3},
    [VELOCITY] = {"velocity", "m/s", "how fast that place moves, world", 3},
    [ANGULAR_VELOCITY] = {"angular_velocity", "rad/s", "how fast it turns, world", 3},
    [POSTURE] = {"posture", "rad, m", "where the joints should be as far as the link allows", 0},
};
enum { FIXED_REFERENCES = 12 };

// ------------------------------------------------------------------------------------------------------------- setup

static stn_status bind(void *self, const stn_control_target *target, stn_error *err) {
    reach_options *o = self;
    stn_status status = joints_check_types(target, "differential_ik", err);
    if (status == STN_OK && o->effort_limits) {
        status = joints_check_motors(target, err);
    }
    return status == STN_OK ? link_find(target, o->frame, &o->link, &o->tree, err) : status;
}

/// Kept across steps.
typedef struct memory {
    double until;    // when the step that they were for ended [s]
    double values[]; // (dof_count) commanded positions, (dof_count) velocities
} memory;

static size_t state_size(const void *self, const stn_control_target *target) {
    (void)self;
    return sizeof(memory) + 2 * (size_t)target->dof_count * sizeof(double);
}

static void initial_reference(const void *self, const stn_control_target *target, const double *q, double *reference) {
    const reach_options *o = self;
    stn_vec3 place[4] = {{0}};
    link_place(target, o->link, q, &place[0], &place[1]);
    memcpy(reference, place, sizeof place);
    joints_positions(target, q, reference + FIXED_REFERENCES);
}

// -------------------------------------------------------------------------------------------------------------- step

static stn_status evaluate(void *self, const stn_control_view *view, const double *reference, void *state,
                           stn_forces *forces, stn_error *err) {
    const reach_options *o = self;
    const stn_control_target *target = view->target;
    memory *m = state;
    int32_t count = target->dof_count;
    double *command = m->values, *rate = m->values + count;
    // begins with the joints as they are, also after steps in which it was not asked; later the command is led back to
    // where the effort limit lets the servo still pull
    bool goes_on = m->until > 0.0 && fabs(view->time - m->until) < 0.5 * view->dt;
    for (int32_t i = 0; i < count; i++) {
        int32_t dof = target->dof[i];
        double q = view->q[joint_coordinate(target->model, dof)];
        double limit = target->model->joints[target->model->dof_joint[dof]].effort;
        double lead = o->kp > 0.0 && o->effort_limits ? limit / o->kp : (double)INFINITY;
        if (!goes_on) {
            command[i] = q;
            rate[i] = view->v[dof];
        }
        command[i] = fmin(fmax(command[i], q - lead), q + lead);
    }
    m->until = view->time + view->dt;
    stn_vec3 place[4];
    memcpy(place, reference, sizeof place);
    const reach_goal goal = {place[0], place[1], place[2], place[3], reference + FIXED_REFERENCES, command, rate};
    double *next = NULL;
    stn_status status = reach_velocities(o, view, &goal, &next, err);
    if (status != STN_OK) {
        return status;
    }
    double *acceleration = STN_ARENA(view->arena, count, double), *effort = STN_ARENA(view->arena, count, double);
    if (acceleration == NULL || effort == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    for (int32_t i = 0; i < count; i++) {
        acceleration[i] = (next[i] - rate[i]) / view->dt;
    }
    status = servo_dynamics(view, acceleration, effort, err);
    for (int32_t i = 0; i < count && status == STN_OK; i++) {
        command[i] += view->dt * next[i];
        rate[i] = next[i];
        const servo_law law = {o->kp, o->kd, command[i], rate[i], effort[i], o->effort_limits};
        status = servo_add(view, target->dof[i], &law, forces, err);
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
    .id = "differential_ik",
    .version = "1.0.0",
    .summary = "Leads a link to a pose by joint velocities within limits of joints and distances to bodies",
    .reference = "faverjon-1987 (velocity dampers), goldfarb-1983 (quadratic program)",
    .config_size = sizeof(reach_options),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.controller = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
