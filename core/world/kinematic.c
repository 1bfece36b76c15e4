// SPDX-License-Identifier: Apache-2.0
// Bodies that move as they are told. What is told for a step is the pose and the twist at its end:
// state.kinematic_target holds it until the step is made, 14 numbers a body: 1 (0: nothing is told, the body stands),
// then the coordinates of a kinematic joint. In the step the body is where it was, and every constraint feels the twist
// of the end:
//
//     v_c = J v + b,    b = axes^T (u_B - u_A),    u = linear + angular x (p - origin)
//
// with u = 0 of all that is not kinematic.
#include <math.h>
#include <string.h>

#include "model/compiled.h"
#include "world/world.h"

enum { TOLD = KINEMATIC_NUMBERS - 13, TWIST = 7 };

static const stn_joint *joint_of(const step_setup *setup, int32_t body) {
    const stn_joint *joint = body > 0 ? &setup->model->joints[setup->model->bodies[body].joint] : NULL;
    return joint != NULL && joint->type == STN_JOINT_KINEMATIC ? joint : NULL;
}

/// What is told for the next step of the kinematic body number i.
static const double *told(const state_view *state, int32_t i) {
    return state->kinematic_target + KINEMATIC_NUMBERS * (size_t)i;
}

bool stn_setup_is_kinematic(const step_setup *setup, int32_t body) {
    return setup->kinematic_count > 0 && body > 0 && setup->kinematic_of[body] >= 0;
}

static stn_quat to_quat(const double *q) {
    return (stn_quat){q[0], q[1], q[2], q[3]};
}

stn_spatial stn_step_mean_twist(const step_frame *frame, const double *now, const double *next) {
    double rate = 1.0 / frame->dt;
    stn_vec3 displacement = stn_vec3_make(next[0] - now[0], next[1] - now[1], next[2] - now[2]);
    stn_quat from = to_quat(now + 3), back = {from.w, -from.x, -from.y, -from.z};
    stn_vec3 turn = stn_quat_log(stn_quat_mul(to_quat(next + 3), back)); // rotation vector, length at most pi
    return (stn_spatial){.linear = stn_vec3_scale(rate, displacement), .angular = stn_vec3_scale(rate, turn)};
}

/// Over a step the mean velocity lies between those of its ends where these are alike: it may be off their mean by half
/// their difference, and by 5 % of the largest.
static bool fits(stn_vec3 mean, stn_vec3 before, stn_vec3 after, double least) {
    stn_vec3 middle = stn_vec3_scale(0.5, stn_vec3_add(before, after));
    double off = stn_vec3_norm(stn_vec3_sub(mean, middle)), change = stn_vec3_norm(stn_vec3_sub(after, before));
    double most = fmax(stn_vec3_norm(mean), fmax(stn_vec3_norm(before), stn_vec3_norm(after)));
    return off <= 0.5 * change + 0.05 * most + least;
}

// ----------------------------------------------------------------------------------------------------------- stepping

void stn_step_kinematic_bodies(const step_setup *setup, const state_view *state, step_frame *frame,
                               step_services *services) {
    static const double least = 1e-4; // [m/s], [rad/s]
    for (int32_t i = 0; i < setup->kinematic_count; i++) {
        stn_spatial *twist = &frame->kinematic_twist[i];
        const double *to = told(state, i), *next = to + TOLD;
        const double *now = state->q + joint_of(setup, setup->kinematic_bodies[i])->q_start;
        *twist = (stn_spatial){stn_vec3_zero(), stn_vec3_zero()};
        if (to[0] == 0.0) {
            continue;
        }
        twist->linear = stn_vec3_at(next + TWIST, 0);
        twist->angular = stn_vec3_at(next + TWIST + 3, 0);
        // once a body and world: a twist that is not the rate of the poses makes contacts drift and work appear
        stn_spatial mean = stn_step_mean_twist(frame, now, next);
        bool moves = fits(mean.linear, stn_vec3_at(now + TWIST, 0), twist->linear, least),
             turns = fits(mean.angular, stn_vec3_at(now + TWIST + 3, 0), twist->angular, least);
        if (services->twist_said[i] || (moves && turns)) {
            continue;
        }
        services->twist_said[i] = true;
        stn_vec3 is = moves ? mean.angular : mean.linear, given = moves ? twist->angular : twist->linear;
        stn_log(services->context, STN_LOG_WARNING,
                "kinematic motion of %s, step %lld: the poses of the step's start and end are (%.4g, %.4g, %.4g) %s "
                "apart a second, but the %s velocity given for its end is (%.4g, %.4g, %.4g): contacts follow the "
                "velocity, so let it be the rate of the poses",
                setup->model->bodies[setup->kinematic_bodies[i]].name, (long long)state->step, is.x, is.y, is.z,
                moves ? "rad" : "m", moves ? "angular" : "linear", given.x, given.y, given.z);
    }
}

stn_spatial stn_step_kinematic_twist(const step_setup *setup, const step_frame *frame, int32_t body) {
    return frame->kinematic_twist[setup->kinematic_of[body]];
}

stn_vec3 stn_step_kinematic_velocity(const step_setup *setup, const step_frame *frame, int32_t body, stn_vec3 point) {
    if (!stn_setup_is_kinematic(setup, body)) {
        return stn_vec3_zero();
    }
    stn_spatial twist = stn_step_kinematic_twist(setup, frame, body);
    stn_vec3 arm = stn_vec3_sub(point, frame->kinematics->body_pose[body].position);
    return stn_vec3_add(twist.linear, stn_vec3_cross(twist.angular, arm));
}

static bool is_told(const step_setup *setup, const state_view *state, int32_t body) {
    return stn_setup_is_kinematic(setup, body) && told(state, setup->kinematic_of[body])[0] != 0.0;
}

stn_pose stn_step_kinematic_end(const step_setup *setup, const state_view *state, const step_frame *frame,
                                int32_t body) {
    if (!is_told(setup, state, body)) {
        return frame->kinematics->body_pose[body];
    }
    const double *next = told(state, setup->kinematic_of[body]) + TOLD;
    return stn_pose_make(to_quat(next + 3), stn_vec3_at(next, 0));
}

stn_vec3 stn_step_kinematic_displacement(const step_setup *setup, const state_view *state, const step_frame *frame,
                                         int32_t body, stn_vec3 point) {
    if (!is_told(setup, state, body)) {
        return stn_vec3_zero();
    }
    stn_pose end = stn_step_kinematic_end(setup, state, frame, body);
    stn_vec3 own = stn_pose_apply_inverse(&frame->kinematics->body_pose[body], point);
    return stn_vec3_sub(stn_pose_apply(&end, own), point);
}

void stn_step_move_kinematic(const step_setup *setup, const state_view *state, double *q_next) {
    for (int32_t i = 0; i < setup->kinematic_count; i++) {
        const double *to = told(state, i);
        double *next = q_next + joint_of(setup, setup->kinematic_bodies[i])->q_start;
        if (to[0] != 0.0) {
            memcpy(next, to + TOLD, 13 * sizeof *next);
        } else {
            memset(next + TWIST, 0, 6 * sizeof *next); // where it is, at rest
        }
    }
}

void stn_step_forget_kinematic(stn_state *state) {
    if (state->sizes.kinematic_count > 0) {
        memset(state->kinematic_target, 0, state->sizes.kinematic_count * sizeof(double));
    }
}
