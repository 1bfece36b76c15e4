// SPDX-License-Identifier: Apache-2.0
// Joints follow a spline through waypoints, from rest to rest; implicit servos with the efforts that its accelerations
// need as feed-forward. The spline is the controller's state: it is found again when the references have changed.
#include <stdlib.h>
#include <string.h>

#include <stiction/spline.h>

#include "common/servo.h"

enum { POINTS = 64 }; // waypoints at most
#define REST 0.1      // what two equal waypoints have between them, where times are chosen [s]

typedef struct trajectory {
    int32_t spline;
    bool scaling;
    double velocity_scale, velocity_limit, acceleration;
    double kp, kd;
    bool effort_limits;
} trajectory;

static const char *const splines[] = {
    [STN_SPLINE_CUBIC] = "cubic", [STN_SPLINE_QUINTIC] = "quintic", [STN_SPLINE_MONOTONE] = "monotone", NULL};

static const stn_param params[] = {
    STN_PARAM_CHOICE(
        trajectory, spline, splines, STN_SPLINE_MONOTONE,
        "with continuous acceleration; with continuous jerk too; that does not swing out between waypoints"),
    STN_PARAM_BOOL(trajectory, scaling, true, "stretch the times as far as the joints' limits ask for it"),
    STN_PARAM_REAL(trajectory, velocity_scale, "1", 0.9, 0.01, 1.0, "part of the joints' velocity limits"),
    STN_PARAM_REAL(trajectory, velocity_limit, "rad/s, m/s", 1, 1e-9, INFINITY, "of joints that have none"),
    STN_PARAM_REAL(trajectory, acceleration, "rad/s^2, m/s^2", 20, 1e-9, INFINITY, "limit of joints that have none"),
    STN_PARAM_REAL(trajectory, kp, "N m/rad, N/m", 1e4, 0.0, INFINITY, "position gain of the servos"),
    STN_PARAM_REAL(trajectory, kd, "N m s/rad, N s/m", 1e3, 0.0, INFINITY, "velocity gain of the servos"),
    STN_PARAM_BOOL(trajectory, effort_limits, true, "respect the joints' effort limits"),
};

enum { TIMES, WAYPOINTS, CHANNEL_COUNT };

static const stn_channel channels[CHANNEL_COUNT] = {
    [TIMES] = {"times", "s", "when to be at each waypoint; one time: begin then, and take what the limits need", 1},
    [WAYPOINTS] = {"points", "rad, m", "positions of the joints at each waypoint", 0},
};
static const int32_t channel_rows[CHANNEL_COUNT] = {POINTS, POINTS};

// -------------------------------------------------------------------------------------------------------------- setup

/// Kept across steps: the spline through the waypoints `times` and `points`, as the references had them.
typedef struct memory {
    int32_t count;     // waypoints; 0: no spline yet
    double *reference; // (POINTS (1 + dof_count)) that the spline is for
    double *times;     // (POINTS)
    double *velocity;  // (POINTS dof_count)
    double *acceleration;
} memory;

static size_t rows(const stn_control_target *target) {
    return (size_t)POINTS * (size_t)target->dof_count;
}

static size_t state_size(const void *self, const stn_control_target *target) {
    (void)self;
    return (1 + 2 * POINTS + 3 * rows(target)) * sizeof(double);
}

static stn_status bind(void *self, const stn_control_target *target, stn_error *err) {
    const trajectory *control = self;
    stn_status status = joints_check_types(target, "trajectory", err);
    return status == STN_OK && control->effort_limits ? joints_check_motors(target, err) : status;
}

static void initial_reference(const void *self, const stn_control_target *target, const double *q, double *reference) {
    (void)self;
    memset(reference, 0, POINTS * sizeof(double));
    for (int32_t k = 0; k < POINTS; k++) {
        joints_positions(target, q, reference + POINTS + (size_t)k * (size_t)target->dof_count);
    }
}

// --------------------------------------------------------------------------------------------------------- the spline

/// Rows of `size` numbers up to the last that differs from the one before.
static int32_t given_rows(const double *values, int32_t size) {
    int32_t count = POINTS;
    while (count > 1 && memcmp(values + (size_t)(count - 1) * (size_t)size, values + (size_t)(count - 2) * (size_t)size,
                               (size_t)size * sizeof(double)) == 0) {
        count--;
    }
    return count;
}

static const stn_joint *joint_of(const stn_control_target *target, int32_t i) {
    return &target->model->joints[target->model->dof_joint[target->dof[i]]];
}

/// The curve itself must stay within the joints' position limits, between waypoints too.
static stn_status check_extent(const stn_spline *spline, const stn_control_target *target, stn_error *err) {
    for (int32_t i = 0; i < target->dof_count; i++) {
        const stn_joint *joint = joint_of(target, i);
        double value = 0.0;
        bool bounded = joint->type != STN_JOINT_CONTINUOUS;
        int32_t piece = bounded ? stn_spline_leaves(spline, i, joint->lower, joint->upper, &value) : -1;
        if (piece >= 0) {
            return stn_fail(err, STN_ERR_ARGUMENT,
                            "joint '%s' would go to %g %s between waypoints %d and %d, its limits are %g and %g; "
                            "add a waypoint or move these",
                            joint->name, value, stn_joint_type_units(joint->type)->position, piece + 1, piece + 2,
                            joint->lower, joint->upper);
        }
    }
    return STN_OK;
}

static stn_status find_spline(const trajectory *control, const stn_control_view *view, const memory *m,
                              stn_spline *spline, stn_error *err) {
    int32_t times = given_rows(m->reference, 1), points = given_rows(spline->points, spline->size);
    double *scratch = STN_ARENA(view->arena, STN_SPLINE_SCRATCH(POINTS), double);
    double *velocity = STN_ARENA(view->arena, spline->size, double);
    double *acceleration = STN_ARENA(view->arena, spline->size, double);
    if (scratch == NULL || velocity == NULL || acceleration == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    for (int32_t i = 0; i < spline->size; i++) {
        const stn_joint *joint = joint_of(view->target, i);
        bool fast = isfinite(joint->velocity) && joint->velocity > 0.0;
        bool brisk = isfinite(joint->acceleration) && joint->acceleration > 0.0;
        velocity[i] = fast ? control->velocity_scale * joint->velocity : control->velocity_limit;
        acceleration[i] = brisk ? joint->acceleration : control->acceleration;
    }
    const stn_spline_limits limits = {velocity, acceleration};
    stn_status status = STN_OK;
    if (times > 1 && points > times) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%d waypoints, but times for %d; give one time for each, or one for all",
                        points, times);
    }
    memcpy(m->times, m->reference, POINTS * sizeof(double));
    spline->count = times > 1 ? times : points;
    if (times == 1) {
        status = stn_spline_choose_times(spline, &limits, m->reference[0], REST, m->times, scratch, err);
    } else {
        status = stn_spline_fit(spline, scratch, err);
        double factor = status == STN_OK && control->scaling ? stn_spline_stretch(spline, &limits) : 0.0;
        if (!(factor <= 1.0)) { // a limit asks for longer times
            for (int32_t k = 1; k < spline->count; k++) {
                m->times[k] = m->times[0] + factor * (m->times[k] - m->times[0]);
            }
            status = stn_spline_fit(spline, scratch, err);
        }
    }
    return status == STN_OK ? check_extent(spline, view->target, err) : status;
}

// -------------------------------------------------------------------------------------------------------------- step

static stn_status evaluate(void *self, const stn_control_view *view, const double *reference, void *state,
                           stn_forces *forces, stn_error *err) {
    const trajectory *control = self;
    int32_t count = view->target->dof_count;
    // the spline of the references: as kept, or found anew when they have changed; a state may come from a file: a
    // count that is none means no spline
    size_t kept = rows(view->target), bytes = (POINTS + kept) * sizeof(double);
    double *state_count = state;
    memory m = {.count = *state_count >= 1.0 && *state_count <= POINTS ? (int32_t)*state_count : 0};
    m.reference = state_count + 1;
    m.times = m.reference + POINTS + kept;
    m.velocity = m.times + POINTS;
    m.acceleration = m.velocity + kept;
    stn_spline spline = {.kind = (stn_spline_kind)control->spline,
                         .count = m.count,
                         .size = count,
                         .times = m.times,
                         .points = m.reference + POINTS,
                         .velocity = m.velocity,
                         .acceleration = m.acceleration};
    stn_status status = STN_OK;
    if (m.count == 0 || memcmp(m.reference, reference, bytes) != 0) {
        memcpy(m.reference, reference, bytes);
        status = find_spline(control, view, &m, &spline, err);
        *state_count = status == STN_OK ? spline.count : 0;
    }
    double *numbers = STN_ARENA(view->arena, 4 * count, double);
    if (status != STN_OK || numbers == NULL) {
        return status != STN_OK ? status : stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    double *position = numbers, *velocity = position + count, *acceleration = velocity + count,
           *effort = acceleration + count;
    stn_spline_step(&spline, view->time, view->dt, position, velocity, acceleration);
    status = servo_dynamics(view, acceleration, effort, err);
    for (int32_t i = 0; i < count && status == STN_OK; i++) {
        const servo_law law = {control->kp, control->kd, position[i], velocity[i], effort[i], control->effort_limits};
        status = servo_add(view, view->target->dof[i], &law, forces, err);
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
    .channel_rows = channel_rows,
};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_CONTROLLER,
    .id = "trajectory",
    .version = "1.0.0",
    .summary = "Splines through waypoints, cubic, quintic or monotone, scaled in time to the joints' limits",
    .reference = "de-boor-1978 (splines), fritsch-1984 (monotone ones), lin-1983 (times within limits)",
    .config_size = sizeof(trajectory),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.controller = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
