// SPDX-License-Identifier: Apache-2.0
// Motion through samples: Hermite curves for position and orientation. Between two samples a time h apart, with
// s in [0, 1], positions p0, p1 and velocities v0, v1 give the cubic; orientations R0, R1 and angular velocities (in
// body axes) w0, w1 its counterpart of three turns, one after the other (Kim, Kim and Shin, "A general
// construction scheme for unit quaternion curves with simple high order derivatives", SIGGRAPH 1995):
//
//     R(s) = R0 exp(B1 a1) exp(B2 a2) exp(B3 a3),    a1 = h w0/3,  a3 = h w1/3,  exp(a2) = exp(-a1) R0^T R1 exp(-a3)
//     B1 = 1 - (1 - s)^3,  B2 = 3 s^2 - 2 s^3,  B3 = s^3
//
// which has R0, w0 at its start and R1, w1 at its end. Where velocities are not given they are those of a parabola
// through three samples (of two turns from the middle one), so that motion at a steady rate is met exactly; zero where
// the sample before or after is at the same place (of orientations: is the same), so that who waits there stands.
#include "common/motion.h"

static stn_vec3 turn_between(const stn_mat3 *from, const stn_mat3 *to) { // in the axes of `from`, and of `to`
    stn_mat3 back = stn_mat3_transpose(from), turn = stn_mat3_mul(&back, to);
    return stn_quat_log(stn_quat_from_matrix(&turn));
}

// ------------------------------------------------------------------------------------------------------------- checks

stn_status stn_motion_check(const stn_motion *motion, stn_error *err) {
    if (motion->count < 1) {
        return stn_fail(err, STN_ERR_ARGUMENT, "a motion needs at least one sample");
    }
    int32_t last = motion->count - 1;
    for (int32_t i = 0; i <= last; i++) {
        double t = motion->time[i];
        if (!isfinite(t) || !stn_pose_finite(&motion->pose[i]) ||
            (motion->velocity != NULL &&
             !(stn_vec3_finite(motion->velocity[i].linear) && stn_vec3_finite(motion->velocity[i].angular)))) {
            return stn_fail(err, STN_ERR_ARGUMENT, "sample %d: its time, pose and velocity must be finite", i + 1);
        }
        if (i > 0 && !(t > motion->time[i - 1])) {
            return stn_fail(err, STN_ERR_ARGUMENT, "sample %d: its time %g s must be after the one before, %g s", i + 1,
                            t, motion->time[i - 1]);
        }
        if (i > 0 &&
            stn_vec3_norm(turn_between(&motion->pose[i - 1].rotation, &motion->pose[i].rotation)) > 0.999 * STN_PI) {
            return stn_fail(
                err, STN_ERR_ARGUMENT,
                "sample %d: is half a turn from the one before, so that both ways are as long: put one between them",
                i + 1);
        }
    }
    if (!motion->periodic) {
        return STN_OK;
    }
    if (last < 1) {
        return stn_fail(err, STN_ERR_ARGUMENT, "a periodic motion needs two samples or more, the last as the first");
    }
    const stn_pose *a = &motion->pose[0], *b = &motion->pose[last];
    double displacement = stn_vec3_norm(stn_vec3_sub(b->position, a->position));
    double angle = stn_vec3_norm(turn_between(&a->rotation, &b->rotation));
    if (displacement > 1e-9 || angle > 1e-7) {
        return stn_fail(
            err, STN_ERR_ARGUMENT,
            "the motion is periodic, but its last pose is %.3g m and %.3g rad from the first: they must be one",
            displacement, angle);
    }
    const stn_spatial *v = motion->velocity, *w = v != NULL ? v + last : NULL;
    if (v != NULL && (stn_vec3_norm(stn_vec3_sub(v->linear, w->linear)) > 1e-9 ||
                      stn_vec3_norm(stn_vec3_sub(v->angular, w->angular)) > 1e-9)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "the motion is periodic, but its last velocity is not the first");
    }
    return STN_OK;
}

// --------------------------------------------------------------------------------------------------------- evaluation

/// Mean velocity from sample i to the next: linear in the world, angular in the axes of both; zero without round-off
/// where these are the same.
static stn_spatial rate(const stn_motion *motion, int32_t i) {
    const stn_pose *from = &motion->pose[i], *to = from + 1;
    double per = 1.0 / (motion->time[i + 1] - motion->time[i]);
    bool same = true;
    for (int32_t k = 0; k < 9; k++) {
        same = same && from->rotation.m[k / 3][k % 3] == to->rotation.m[k / 3][k % 3];
    }
    stn_vec3 turn = same ? stn_vec3_zero() : turn_between(&from->rotation, &to->rotation);
    return (stn_spatial){.angular = stn_vec3_scale(per, turn),
                         .linear = stn_vec3_scale(per, stn_vec3_sub(to->position, from->position))};
}

static stn_vec3 blend(double a, stn_vec3 x, double b, stn_vec3 y) {
    return stn_vec3_mul_add(stn_vec3_scale(a, x), b, y);
}

static bool is_zero(stn_vec3 v) {
    return v.x == 0.0 && v.y == 0.0 && v.z == 0.0;
}

/// Of the mean velocities before and after a sample that of the parabola there, zero next to a rest.
static stn_vec3 at_middle(double of_a, stn_vec3 a, double of_b, stn_vec3 b) {
    return is_zero(a) || is_zero(b) ? stn_vec3_zero() : blend(of_a, a, of_b, b);
}

/// Velocity at sample i: linear in the world, angular in its own axes.
static stn_spatial velocity_at(const stn_motion *motion, int32_t i) {
    int32_t last = motion->count - 1, before = i - 1, after = i;
    if (motion->velocity != NULL) {
        stn_spatial v = motion->velocity[i];
        v.angular = stn_mat3_apply_transposed(&motion->pose[i].rotation, v.angular);
        return v;
    }
    if (i == 0 || i == last) {
        if (!motion->periodic) {
            return (stn_spatial){stn_vec3_zero(), stn_vec3_zero()};
        }
        before = last - 1;
        after = 0;
    }
    stn_spatial a = rate(motion, before), b = rate(motion, after);
    double h = motion->time[before + 1] - motion->time[before], g = motion->time[after + 1] - motion->time[after];
    double of_a = g / (h + g), of_b = h / (h + g);
    return (stn_spatial){.angular = at_middle(of_a, a.angular, of_b, b.angular),
                         .linear = at_middle(of_a, a.linear, of_b, b.linear)};
}

/// Multiplies R by exp(b a) and carries the velocity in body axes over, to which b' a is added.
static void add_turn(double b, double rate_of_b, stn_vec3 a, stn_mat3 *R, stn_vec3 *w) {
    stn_mat3 turn = stn_quat_matrix(stn_quat_exp(stn_vec3_scale(b, a)));
    *R = stn_mat3_mul(R, &turn);
    *w = stn_vec3_mul_add(stn_mat3_apply_transposed(&turn, *w), rate_of_b, a);
}

void stn_motion_at(const stn_motion *motion, double time, stn_pose *pose, stn_spatial *velocity) {
    int32_t last = motion->count - 1;
    double begin = motion->time[0], end = motion->time[last], t = time;
    if (motion->periodic) {
        t = begin + fmod(time - begin, end - begin);
        t = t < begin ? t + (end - begin) : t;
    } else if (t < begin || t > end || last == 0) {
        *pose = motion->pose[t < begin ? 0 : last];
        *velocity = (stn_spatial){stn_vec3_zero(), stn_vec3_zero()};
        return;
    }
    // The sample at or before t, which lies between the first and the last.
    int32_t i = 0, high = motion->count - 1; // time[low] <= t < time[high]
    while (high - i > 1) {
        int32_t middle = i + (high - i) / 2;
        if (motion->time[middle] <= t) {
            i = middle;
        } else {
            high = middle;
        }
    }
    const stn_pose *from = &motion->pose[i], *to = from + 1;
    stn_spatial v0 = velocity_at(motion, i), v1 = velocity_at(motion, i + 1);
    double h = motion->time[i + 1] - motion->time[i], s = (t - motion->time[i]) / h, left = 1.0 - s;
    // position
    stn_vec3 displacement = stn_vec3_sub(to->position, from->position);
    pose->position = stn_vec3_mul_add(from->position, s * s * (3.0 - 2.0 * s), displacement);
    pose->position = stn_vec3_mul_add(pose->position, h * s * left * left, v0.linear);
    pose->position = stn_vec3_mul_add(pose->position, -h * s * s * left, v1.linear);
    velocity->linear = blend(left * (1.0 - 3.0 * s), v0.linear, s * (3.0 * s - 2.0), v1.linear);
    velocity->linear = stn_vec3_mul_add(velocity->linear, 6.0 * s * left / h, displacement);
    // orientation, by three turns one after the other
    stn_vec3 a1 = stn_vec3_scale(h / 3.0, v0.angular), a3 = stn_vec3_scale(h / 3.0, v1.angular);
    stn_mat3 first = stn_quat_matrix(stn_quat_exp(a1)), third = stn_quat_matrix(stn_quat_exp(stn_vec3_neg(a3)));
    stn_mat3 middle_begin = stn_mat3_mul(&from->rotation, &first), middle_end = stn_mat3_mul(&to->rotation, &third);
    stn_vec3 a2 = turn_between(&middle_begin, &middle_end), w = stn_vec3_zero();
    pose->rotation = from->rotation;
    add_turn(1.0 - left * left * left, 3.0 * left * left / h, a1, &pose->rotation, &w);
    add_turn(s * s * (3.0 - 2.0 * s), 6.0 * s * left / h, a2, &pose->rotation, &w);
    add_turn(s * s * s, 3.0 * s * s / h, a3, &pose->rotation, &w);
    velocity->angular = stn_mat3_apply(&pose->rotation, w);
}
