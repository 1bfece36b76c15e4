// SPDX-License-Identifier: Apache-2.0
// Joint kinds: placement X_WB = X_WJ X_JB(q), motion subspace S, its drift, exponential map and logarithm.
//
// At a reference point O that is at rest, the columns of S are (angular, linear at O):
//     rotation about a through p:  (a, (p - O) x a)          translation along a:  (0, a)
// A column that is constant in the parent has S-dot = V_parent x S. Only the floating joint has others: its rotations
// are about the child's origin, which moves with u = x-dot relative to the parent, so S-dot v gains (0, u x omega).
#include "model/joint.h"

static void rest_zero(double *q) {
    q[0] = 0.0;
}

static void integrate_one(const double *q, const double *v, double s, double *next) {
    next[0] = q[0] + s * v[0];
}

static void difference_one(const double *a, const double *b, double *v) {
    v[0] = b[0] - a[0];
}

// ------------------------------------------------------------------------------------------ revolute, continuous

/// Rotation by `angle` about a unit axis (Rodrigues).
static stn_mat3 axis_rotation(stn_vec3 a, double angle) {
    double c = cos(angle), s = sin(angle), d = 1.0 - c;
    stn_vec3 da = stn_vec3_scale(d, a), sa = stn_vec3_scale(s, a);
    stn_mat3 r = {{{c + da.x * a.x, da.x * a.y - sa.z, da.x * a.z + sa.y},
                   {da.y * a.x + sa.z, c + da.y * a.y, da.y * a.z - sa.x},
                   {da.z * a.x - sa.y, da.z * a.y + sa.x, c + da.z * a.z}}};
    return r;
}

static void revolute_place(const stn_joint *joint, const stn_pose *frame, const double *q, stn_pose *body) {
    stn_mat3 turn = axis_rotation(joint->axis, q[0]);
    body->rotation = stn_mat3_mul(&frame->rotation, &turn);
    body->position = frame->position;
}

static void revolute_motion(const stn_joint *joint, const stn_pose *frame, stn_vec3 r, stn_spatial *S) {
    S[0].angular = stn_mat3_apply(&frame->rotation, joint->axis);
    S[0].linear = stn_vec3_cross(r, S[0].angular);
}

// ---------------------------------------------------------------------------------------------------- prismatic

static void prismatic_place(const stn_joint *joint, const stn_pose *frame, const double *q, stn_pose *body) {
    stn_vec3 along = stn_mat3_apply(&frame->rotation, joint->axis);
    body->rotation = frame->rotation;
    body->position = stn_vec3_mul_add(frame->position, q[0], along);
}

static void prismatic_motion(const stn_joint *joint, const stn_pose *frame, stn_vec3 r, stn_spatial *S) {
    (void)r;
    S[0].angular = stn_vec3_zero();
    S[0].linear = stn_mat3_apply(&frame->rotation, joint->axis);
}

// ----------------------------------------------------------------------------------------------------- floating

static void floating_rest(double *q) {
    for (int32_t i = 0; i < 7; i++) {
        q[i] = i == 3 ? 1.0 : 0.0;
    }
}

static stn_quat read_quaternion(const double *q) {
    stn_quat r = {q[0], q[1], q[2], q[3]};
    return stn_quat_normalize(r);
}

static void floating_place(const stn_joint *joint, const stn_pose *frame, const double *q, stn_pose *body) {
    (void)joint;
    stn_pose moved = stn_pose_make(read_quaternion(q + 3), stn_vec3_make(q[0], q[1], q[2]));
    *body = stn_pose_mul(frame, &moved);
}

static void floating_motion(const stn_joint *joint, const stn_pose *frame, stn_vec3 r, stn_spatial *S) {
    (void)joint;
    for (int32_t k = 0; k < 3; k++) {
        stn_vec3 e = stn_mat3_column(&frame->rotation, k);
        S[k].angular = stn_vec3_zero();
        S[k].linear = e;
        S[3 + k].angular = e;
        S[3 + k].linear = stn_vec3_cross(r, e);
    }
}

static void floating_bias(const stn_joint *joint, const stn_pose *frame, const double *v, stn_spatial *bias) {
    (void)joint;
    stn_vec3 u = stn_vec3_make(v[0], v[1], v[2]), omega = stn_vec3_make(v[3], v[4], v[5]);
    bias->angular = stn_vec3_zero();
    bias->linear = stn_mat3_apply(&frame->rotation, stn_vec3_cross(u, omega));
}

/// quat(s) = exp(s omega) quat0, omega in the joint frame's axes, then normalised (math note 2.5).
static void floating_integrate(const double *q, const double *v, double s, double *next) {
    stn_quat turn = stn_quat_exp(stn_vec3_make(s * v[3], s * v[4], s * v[5]));
    stn_quat from = {q[3], q[4], q[5], q[6]};
    stn_quat to = stn_quat_normalize(stn_quat_mul(turn, from));
    for (int32_t i = 0; i < 3; i++) {
        next[i] = q[i] + s * v[i];
    }
    next[3] = to.w;
    next[4] = to.x;
    next[5] = to.y;
    next[6] = to.z;
}

/// omega = log(quat_b quat_a^-1), the short way round.
static void floating_difference(const double *a, const double *b, double *v) {
    stn_quat qa = read_quaternion(a + 3), qb = read_quaternion(b + 3);
    stn_quat back = {qa.w, -qa.x, -qa.y, -qa.z};
    stn_quat d = stn_quat_mul(qb, back);
    double sine = sqrt(d.x * d.x + d.y * d.y + d.z * d.z); // of half the angle
    double sign = d.w < 0.0 ? -1.0 : 1.0;
    double scale = sine > 0.0 ? sign * 2.0 * atan2(sine, fabs(d.w)) / sine : 2.0 * sign;
    for (int32_t i = 0; i < 3; i++) {
        v[i] = b[i] - a[i];
    }
    v[3] = scale * d.x;
    v[4] = scale * d.y;
    v[5] = scale * d.z;
}

// -------------------------------------------------------------------------------------------------------- table

#define TURNS                                                                                               \
    .nq = 1, .nv = 1, .axial = true, .rest = rest_zero, .place = revolute_place, .motion = revolute_motion, \
    .integrate = integrate_one, .difference = difference_one

static const joint_kind kinds[STN_JOINT_COUNT] = {
    [STN_JOINT_FIXED] = {.name = "fixed"},
    [STN_JOINT_REVOLUTE] = {.name = "revolute", .limited = true, TURNS},
    [STN_JOINT_CONTINUOUS] = {.name = "continuous", TURNS},
    [STN_JOINT_PRISMATIC] = {.name = "prismatic",
                             .nq = 1,
                             .nv = 1,
                             .axial = true,
                             .limited = true,
                             .rest = rest_zero,
                             .place = prismatic_place,
                             .motion = prismatic_motion,
                             .integrate = integrate_one,
                             .difference = difference_one},
    [STN_JOINT_FLOATING] = {.name = "floating",
                            .nq = 7,
                            .nv = 6,
                            .rest = floating_rest,
                            .place = floating_place,
                            .motion = floating_motion,
                            .own_bias = floating_bias,
                            .integrate = floating_integrate,
                            .difference = floating_difference},
};

const joint_kind *joint_kind_get(stn_joint_type type) {
    return (int)type >= 0 && type < STN_JOINT_COUNT ? &kinds[type] : NULL;
}

int32_t stn_joint_type_nq(stn_joint_type type) {
    const joint_kind *kind = joint_kind_get(type);
    return kind != NULL ? kind->nq : 0;
}

int32_t stn_joint_type_nv(stn_joint_type type) {
    const joint_kind *kind = joint_kind_get(type);
    return kind != NULL ? kind->nv : 0;
}

const char *stn_joint_type_name(stn_joint_type type) {
    const joint_kind *kind = joint_kind_get(type);
    return kind != NULL ? kind->name : NULL;
}
