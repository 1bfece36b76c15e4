// SPDX-License-Identifier: Apache-2.0
// Joint PD with feed-forward and the joints' effort limits:
//
//     u = clamp(-kp (q - q_ref) - kd (v - v_ref) + u_ff, -effort, effort),    q, v at the step's end
//
// A joint with a finite effort limit becomes a servo row of the contact problem, so that limit and gains are implicit
// together; without a limit the gains enter K and D.
#include <stdio.h>

#include "common/servo.h"

enum { GAINS_CONTROLLER, GAINS_ROBOT };
static const char *const gain_sources[] = {[GAINS_CONTROLLER] = "controller", [GAINS_ROBOT] = "robot", NULL};

typedef struct joint_pd {
    double kp, kd;
    int32_t gains; // one of gain_sources
    bool effort_limits;
    bool gravity_compensation;
} joint_pd;

enum { DEFAULT_KP = 100, DEFAULT_KD = 10 };

static const stn_param params[] = {
    STN_PARAM_REAL(joint_pd, kp, "N m/rad, N/m", DEFAULT_KP, 0.0, INFINITY, "position gain"),
    STN_PARAM_REAL(joint_pd, kd, "N m s/rad, N s/m", DEFAULT_KD, 0.0, INFINITY, "velocity gain"),
    STN_PARAM_CHOICE(joint_pd, gains, gain_sources, GAINS_CONTROLLER,
                     "whose gains: kp and kd of here, or each joint's own servo gains where the robot has any"),
    STN_PARAM_BOOL(joint_pd, effort_limits, true, "respect the joints' effort limits"),
    STN_PARAM_BOOL(joint_pd, gravity_compensation, false, "add the efforts that hold the robot against gravity"),
};

enum { POSITION, VELOCITY, FEEDFORWARD, KP, KD, CHANNEL_COUNT };

static const stn_channel channels[CHANNEL_COUNT] = {
    [POSITION] = {"position", "rad, m", "where the joints should be", 0},
    [VELOCITY] = {"velocity", "rad/s, m/s", "how fast they should move", 0},
    [FEEDFORWARD] = {"feedforward", "N m, N", "effort added to the PD law", 0},
    [KP] = {"kp", "N m/rad, N/m", "position gain of each joint; starts as the parameters say", 0},
    [KD] = {"kd", "N m s/rad, N s/m", "velocity gain of each joint; likewise", 0},
};

static bool has_gains(const stn_joint *joint) {
    return joint->servo_kp > 0.0 || joint->servo_kd > 0.0;
}

typedef bool joint_test(const stn_joint *joint);

static bool lacks_gains(const stn_joint *joint) {
    return !has_gains(joint) && joint->effort != 0.0; // without effort there is no motor
}

static bool lacks_motor(const stn_joint *joint) {
    return joint->effort == 0.0;
}

/// Names of the first joints that are so, "a, b, ..."; how many there are.
static int32_t list_joints(const stn_control_target *target, joint_test *is_so, char *names, size_t size) {
    enum { NAMED = 4 };
    int32_t count = 0;
    size_t used = 0;
    names[0] = '\0';
    for (int32_t i = 0; i < target->joint_count; i++) {
        const stn_joint *joint = &target->model->joints[target->joint[i]];
        if (is_so(joint) && count++ < NAMED) {
            used += (size_t)snprintf(names + used, size - used, "%s%.50s", used > 0 ? ", " : "", joint->name);
        }
    }
    if (count > NAMED) {
        snprintf(names + used, size - used, ", ...");
    }
    return count;
}

/// Where the robot's gains are asked for, and nobody gave any for some joints, says what these have. Joints without a
/// motor are not driven.
static stn_status bind(void *self, const stn_control_target *target, stn_error *err) {
    const joint_pd *pd = self;
    char names[5 * 64];
    const char *robot = target->model->groups[target->group].name;
    bool default_gains = pd->gains == GAINS_ROBOT && pd->kp == DEFAULT_KP && pd->kd == DEFAULT_KD;
    int32_t count = default_gains ? list_joints(target, lacks_gains, names, sizeof names) : 0;
    if (count > 0) {
        stn_log(target->model->context, STN_LOG_WARNING,
                "joint_pd: gains = \"robot\", but %d of %d joints of %s have none and get kp = %g, kd = %g: %s; give "
                "kp and kd for them",
                count, target->joint_count, robot, pd->kp, pd->kd, names);
    }
    count = pd->effort_limits ? list_joints(target, lacks_motor, names, sizeof names) : 0;
    if (count > 0) {
        stn_log(target->model->context, STN_LOG_WARNING,
                "joint_pd: %d of %d joints of %s have an effort limit of 0, no motor, and are not driven: %s; name the "
                "others with joints = {...}, or set effort_limits = false",
                count, target->joint_count, robot, names);
    }
    return joints_check_types(target, "joint_pd", err);
}

static void initial_reference(const void *self, const stn_control_target *target, const double *q, double *reference) {
    const joint_pd *pd = self;
    joints_positions(target, q, reference);
    for (int32_t i = 0; i < target->dof_count; i++) {
        const stn_joint *joint = &target->model->joints[target->model->dof_joint[target->dof[i]]];
        const bool own = pd->gains == GAINS_ROBOT && has_gains(joint);
        reference[KP * target->dof_count + i] = own ? joint->servo_kp : pd->kp;
        reference[KD * target->dof_count + i] = own ? joint->servo_kd : pd->kd;
    }
}

static stn_status evaluate(void *self, const stn_control_view *view, const double *reference, void *state,
                           stn_forces *forces, stn_error *err) {
    (void)state;
    const joint_pd *pd = self;
    const stn_control_target *target = view->target;
    const int32_t count = target->dof_count;
    double *hold = STN_ARENA_ZEROED(view->arena, count, double);
    if (hold == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    stn_status status = pd->gravity_compensation ? servo_gravity(view, hold, err) : STN_OK;
    for (int32_t i = 0; i < count && status == STN_OK; i++) {
        const servo_law law = {.kp = reference[KP * count + i],
                               .kd = reference[KD * count + i],
                               .position = reference[POSITION * count + i],
                               .velocity = reference[VELOCITY * count + i],
                               .feedforward = reference[FEEDFORWARD * count + i] + hold[i],
                               .limited = pd->effort_limits};
        if (!(law.kp >= 0.0 && law.kd >= 0.0)) {
            return stn_fail(err, STN_ERR_ARGUMENT, "kp = %g, kd = %g of joint %s: both must be >= 0", law.kp, law.kd,
                            target->model->joints[target->model->dof_joint[target->dof[i]]].name);
        }
        status = servo_add(view, target->dof[i], &law, forces, err);
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

static const char *const capabilities[] = {"joint_by_joint", NULL};
static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_CONTROLLER,
    .id = "joint_pd",
    .version = "1.0.0",
    .summary = "Joint PD with feed-forward, implicit gains and effort limits",
    .reference = "castro-2022 (a servo with an effort limit is a row of the convex problem)",
    .capabilities = capabilities,
    .config_size = sizeof(joint_pd),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.controller = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
