// SPDX-License-Identifier: Apache-2.0
// Joint kinds: placement X_WB = X_WJ X_JB(q), motion subspace S, its drift, exponential map and logarithm.
//
// At a reference point O that is at rest, the columns of S are (angular, linear at O):
//     rotation about a through p:  (a, (p - O) x a)          translation along a:  (0, a)
// A column that is constant in the parent has S-dot = V_parent x S. Others are those of
//   floating, planar: rotations about the child's origin, which moves with u = x-dot relative to the parent, so S-dot v
//                     gains (0, u x omega)
//   universal:        the second axis b, which the first, a, turns, so S-dot v gains v1 v2 (a x b, (p - O) x (a x b))
#include <string.h>

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
    return (stn_mat3){{{c + da.x * a.x, da.x * a.y - sa.z, da.x * a.z + sa.y},
                       {da.y * a.x + sa.z, c + da.y * a.y, da.y * a.z - sa.x},
                       {da.z * a.x - sa.y, da.z * a.y + sa.x, c + da.z * a.z}}};
}

static void revolute_place(const stn_joint *joint, const stn_pose *frame, const double *q, stn_pose *body) {
    stn_mat3 turn = axis_rotation(joint->axis, q[0]);
    body->rotation = stn_mat3_mul(&frame->rotation, &turn);
    body->position = frame->position;
}

static void revolute_motion(const joint_state *at, stn_spatial *S) {
    S[0].angular = stn_mat3_apply(&at->frame.rotation, at->joint->axis);
    S[0].linear = stn_vec3_cross(at->r, S[0].angular);
}

// ---------------------------------------------------------------------------------------------------- prismatic

static void prismatic_place(const stn_joint *joint, const stn_pose *frame, const double *q, stn_pose *body) {
    stn_vec3 along = stn_mat3_apply(&frame->rotation, joint->axis);
    body->rotation = frame->rotation;
    body->position = stn_vec3_mul_add(frame->position, q[0], along);
}

static void prismatic_motion(const joint_state *at, stn_spatial *S) {
    S[0].angular = stn_vec3_zero();
    S[0].linear = stn_mat3_apply(&at->frame.rotation, at->joint->axis);
}

// -------------------------------------------------------------------------------------------------------- screw

static void screw_place(const stn_joint *joint, const stn_pose *frame, const double *q, stn_pose *body) {
    stn_vec3 along = stn_mat3_apply(&frame->rotation, joint->axis);
    revolute_place(joint, frame, q, body);
    body->position = stn_vec3_mul_add(frame->position, joint->screw_pitch / (2.0 * STN_PI) * q[0], along);
}

static void screw_motion(const joint_state *at, stn_spatial *S) {
    revolute_motion(at, S); // the child's origin stays on the axis
    S[0].linear = stn_vec3_mul_add(S[0].linear, at->joint->screw_pitch / (2.0 * STN_PI), S[0].angular);
}

// ---------------------------------------------------------------------------------------------------- universal

static void rest_two(double *q) {
    q[0] = q[1] = 0.0;
}

static void universal_place(const stn_joint *joint, const stn_pose *frame, const double *q, stn_pose *body) {
    (void)joint;
    stn_mat3 first = axis_rotation(stn_vec3_make(1.0, 0.0, 0.0), q[0]);
    stn_mat3 second = axis_rotation(stn_vec3_make(0.0, 1.0, 0.0), q[1]);
    stn_mat3 turn = stn_mat3_mul(&first, &second);
    body->rotation = stn_mat3_mul(&frame->rotation, &turn);
    body->position = frame->position;
}

/// The two axes in the world: x of the frame, and the y that x turned.
static void universal_axes(const stn_pose *frame, const double *q, stn_vec3 *a, stn_vec3 *b) {
    *a = stn_mat3_column(&frame->rotation, 0);
    *b = stn_mat3_apply(&frame->rotation, stn_vec3_make(0.0, cos(q[0]), sin(q[0])));
}

static void universal_motion(const joint_state *at, stn_spatial *S) {
    universal_axes(&at->frame, at->q, &S[0].angular, &S[1].angular);
    S[0].linear = stn_vec3_cross(at->r, S[0].angular);
    S[1].linear = stn_vec3_cross(at->r, S[1].angular);
}

static void universal_bias(const joint_state *at, const double *v, stn_spatial *bias) {
    stn_vec3 a, b;
    universal_axes(&at->frame, at->q, &a, &b);
    bias->angular = stn_vec3_scale(v[0] * v[1], stn_vec3_cross(a, b));
    bias->linear = stn_vec3_cross(at->r, bias->angular);
}

static void integrate_two(const double *q, const double *v, double s, double *next) {
    next[0] = q[0] + s * v[0];
    next[1] = q[1] + s * v[1];
}

static void difference_two(const double *a, const double *b, double *v) {
    v[0] = b[0] - a[0];
    v[1] = b[1] - a[1];
}

// ------------------------------------------------------------------------------------------------------- planar

static void rest_three(double *q) {
    q[0] = q[1] = q[2] = 0.0;
}

static void planar_place(const stn_joint *joint, const stn_pose *frame, const double *q, stn_pose *body) {
    stn_vec3 x, y;
    stn_plane_axes(joint->axis, &x, &y);
    stn_vec3 moved = stn_vec3_add(stn_vec3_scale(q[0], x), stn_vec3_scale(q[1], y));
    stn_mat3 turn = axis_rotation(joint->axis, q[2]);
    body->rotation = stn_mat3_mul(&frame->rotation, &turn);
    body->position = stn_pose_apply(frame, moved);
}

static void planar_motion(const joint_state *at, stn_spatial *S) {
    stn_vec3 x, y;
    stn_plane_axes(at->joint->axis, &x, &y);
    S[0].angular = S[1].angular = stn_vec3_zero();
    S[0].linear = stn_mat3_apply(&at->frame.rotation, x);
    S[1].linear = stn_mat3_apply(&at->frame.rotation, y);
    S[2].angular = stn_mat3_apply(&at->frame.rotation, at->joint->axis);
    S[2].linear = stn_vec3_cross(at->r, S[2].angular);
}

static void planar_bias(const joint_state *at, const double *v, stn_spatial *bias) {
    stn_vec3 x, y;
    stn_plane_axes(at->joint->axis, &x, &y);
    stn_vec3 u = stn_vec3_add(stn_vec3_scale(v[0], x), stn_vec3_scale(v[1], y));
    bias->angular = stn_vec3_zero();
    bias->linear = stn_mat3_apply(&at->frame.rotation, stn_vec3_cross(u, stn_vec3_scale(v[2], at->joint->axis)));
}

static void integrate_three(const double *q, const double *v, double s, double *next) {
    for (int32_t i = 0; i < 3; i++) {
        next[i] = q[i] + s * v[i];
    }
}

static void difference_three(const double *a, const double *b, double *v) {
    for (int32_t i = 0; i < 3; i++) {
        v[i] = b[i] - a[i];
    }
}

// --------------------------------------------------------------------------------------------------------- ball

static stn_quat read_quaternion(const double *q) {
    stn_quat r = {q[0], q[1], q[2], q[3]};
    return stn_quat_normalize(r);
}

static void ball_rest(double *q) {
    for (int32_t i = 0; i < 4; i++) {
        q[i] = i == 0 ? 1.0 : 0.0;
    }
}

static void ball_place(const stn_joint *joint, const stn_pose *frame, const double *q, stn_pose *body) {
    (void)joint;
    stn_mat3 turn = stn_quat_matrix(read_quaternion(q));
    body->rotation = stn_mat3_mul(&frame->rotation, &turn);
    body->position = frame->position;
}

static void ball_motion(const joint_state *at, stn_spatial *S) {
    for (int32_t k = 0; k < 3; k++) {
        S[k].angular = stn_mat3_column(&at->frame.rotation, k);
        S[k].linear = stn_vec3_cross(at->r, S[k].angular);
    }
}

/// stn_quat_exp, by series where they are exact to rounding: turns of less than 0.2 rad, as those of a step are.
static stn_quat turn_by(stn_vec3 u) {
    const double s = 0.25 * stn_vec3_dot(u, u); // square of half the angle; what is left out is below 2e-18
    if (!(s < 1e-2)) {
        return stn_quat_exp(u);
    }
    const double cosine =
        1.0 + s * (-1.0 / 2 + s * (1.0 / 24 + s * (-1.0 / 720 + s * (1.0 / 40320 + s * (-1.0 / 3628800)))));
    const double sinc = 0.5 * (1.0 + s * (-1.0 / 6 + s * (1.0 / 120 + s * (-1.0 / 5040 + s * (1.0 / 362880)))));
    return (stn_quat){cosine, sinc * u.x, sinc * u.y, sinc * u.z};
}

/// quat(s) = exp(s omega) quat0, omega in the joint frame's axes, then normalised.
static void ball_integrate(const double *q, const double *v, double s, double *next) {
    stn_quat turn = turn_by(stn_vec3_make(s * v[0], s * v[1], s * v[2]));
    stn_quat from = {q[0], q[1], q[2], q[3]};
    stn_quat to = stn_quat_normalize(stn_quat_mul(turn, from));
    next[0] = to.w;
    next[1] = to.x;
    next[2] = to.y;
    next[3] = to.z;
}

/// omega = log(quat_b quat_a^-1), the short way round.
static void ball_difference(const double *a, const double *b, double *v) {
    stn_quat qa = read_quaternion(a), qb = read_quaternion(b);
    stn_quat back = {qa.w, -qa.x, -qa.y, -qa.z};
    stn_quat d = stn_quat_mul(qb, back);
    double sine = sqrt(d.x * d.x + d.y * d.y + d.z * d.z); // of half the angle
    double sign = d.w < 0.0 ? -1.0 : 1.0;
    double scale = sine > 0.0 ? sign * 2.0 * atan2(sine, fabs(d.w)) / sine : 2.0 * sign;
    v[0] = scale * d.x;
    v[1] = scale * d.y;
    v[2] = scale * d.z;
}

// ----------------------------------------------------------------------------------------------------- floating

static void floating_rest(double *q) {
    for (int32_t i = 0; i < 7; i++) {
        q[i] = i == 3 ? 1.0 : 0.0;
    }
}

static void floating_place(const stn_joint *joint, const stn_pose *frame, const double *q, stn_pose *body) {
    (void)joint;
    stn_pose moved = stn_pose_make(read_quaternion(q + 3), stn_vec3_make(q[0], q[1], q[2]));
    *body = stn_pose_mul(frame, &moved);
}

static void floating_motion(const joint_state *at, stn_spatial *S) {
    for (int32_t k = 0; k < 3; k++) {
        stn_vec3 e = stn_mat3_column(&at->frame.rotation, k);
        S[k].angular = stn_vec3_zero();
        S[k].linear = e;
        S[3 + k].angular = e;
        S[3 + k].linear = stn_vec3_cross(at->r, e);
    }
}

static void floating_bias(const joint_state *at, const double *v, stn_spatial *bias) {
    stn_vec3 u = stn_vec3_make(v[0], v[1], v[2]), omega = stn_vec3_make(v[3], v[4], v[5]);
    bias->angular = stn_vec3_zero();
    bias->linear = stn_mat3_apply(&at->frame.rotation, stn_vec3_cross(u, omega));
}

static void floating_integrate(const double *q, const double *v, double s, double *next) {
    for (int32_t i = 0; i < 3; i++) {
        next[i] = q[i] + s * v[i];
    }
    ball_integrate(q + 3, v + 3, s, next + 3);
}

static void floating_difference(const double *a, const double *b, double *v) {
    for (int32_t i = 0; i < 3; i++) {
        v[i] = b[i] - a[i];
    }
    ball_difference(a + 3, b + 3, v + 3);
}

// --------------------------------------------------------------------------------------------------- kinematic

static void kinematic_rest(double *q) {
    static const double rest[13] = {[3] = 1.0};
    memcpy(q, rest, sizeof rest);
}

/// It moves as it is told, never by a velocity of the state.
static void kinematic_integrate(const double *q, const double *v, double s, double *next) {
    (void)v;
    (void)s;
    memmove(next, q, 13 * sizeof *q);
}

static void kinematic_difference(const double *a, const double *b, double *v) {
    (void)a;
    (void)b;
    (void)v;
}

// -------------------------------------------------------------------------------------------------------- table

static const stn_joint_units angles = {"rad", "rad/s", "rad/s^2", "N m", "N m s/rad", "kg m^2", "N m/rad"},
                             lengths = {"m", "m/s", "m/s^2", "N", "N s/m", "kg", "N/m"},
                             turns = {"1", "rad/s", "rad/s^2", "N m", "N m s/rad", "kg m^2", "N m/rad"},
                             both = {"m, rad",           "m/s, rad/s", "m/s^2, rad/s^2", "N, N m",
                                     "N s/m, N m s/rad", "kg, kg m^2", "N/m, N m/rad"},
                             pose = {"m, 1",       "m/s, rad/s",  "m/s^2, rad/s^2", "N, N m", "N s/m, N m s/rad",
                                     "kg, kg m^2", "N/m, N m/rad"},
                             kinematic = {"m, 1, m/s, rad/s", "m/s, rad/s", "m/s^2, rad/s^2", "N, N m",
                                          "N s/m, N m s/rad", "kg, kg m^2", "N/m, N m/rad"};

#define ONE_AXIS                                                                                                   \
    .nq = 1, .nv = 1, .axial = true, .has_axis = true, .coordinates = {""}, .velocities = {""}, .rest = rest_zero, \
    .integrate = integrate_one, .difference = difference_one
#define TURNS ONE_AXIS, .units = &angles, .place = revolute_place, .motion = revolute_motion

static const joint_kind kinds[STN_JOINT_KINEMATIC + 1] = {
    [STN_JOINT_FIXED] = {.name = "fixed", .units = &angles},
    [STN_JOINT_REVOLUTE] = {.name = "revolute", .limited = true, TURNS},
    [STN_JOINT_CONTINUOUS] = {.name = "continuous", TURNS},
    [STN_JOINT_PRISMATIC] = {.name = "prismatic",
                             .limited = true,
                             ONE_AXIS,
                             .units = &lengths,
                             .place = prismatic_place,
                             .motion = prismatic_motion},
    [STN_JOINT_FLOATING] = {.name = "floating",
                            .nq = 7,
                            .nv = 6,
                            .quaternion = true,
                            .units = &pose,
                            .coordinates = {"x", "y", "z", "qw", "qx", "qy", "qz"},
                            .velocities = {"vx", "vy", "vz", "wx", "wy", "wz"},
                            .rest = floating_rest,
                            .place = floating_place,
                            .motion = floating_motion,
                            .own_bias = floating_bias,
                            .integrate = floating_integrate,
                            .difference = floating_difference},
    [STN_JOINT_PLANAR] = {.name = "planar",
                          .nq = 3,
                          .nv = 3,
                          .has_axis = true,
                          .units = &both,
                          .coordinates = {"x", "y", "angle"},
                          .velocities = {"vx", "vy", "rate"},
                          .rest = rest_three,
                          .place = planar_place,
                          .motion = planar_motion,
                          .own_bias = planar_bias,
                          .integrate = integrate_three,
                          .difference = difference_three},
    [STN_JOINT_BALL] = {.name = "ball",
                        .nq = 4,
                        .nv = 3,
                        .quaternion = true,
                        .units = &turns,
                        .coordinates = {"qw", "qx", "qy", "qz"},
                        .velocities = {"wx", "wy", "wz"},
                        .rest = ball_rest,
                        .place = ball_place,
                        .motion = ball_motion,
                        .integrate = ball_integrate,
                        .difference = ball_difference},
    [STN_JOINT_SCREW] =
        {.name = "screw", .limited = true, ONE_AXIS, .units = &angles, .place = screw_place, .motion = screw_motion},
    [STN_JOINT_UNIVERSAL] = {.name = "universal",
                             .nq = 2,
                             .nv = 2,
                             .units = &angles,
                             .coordinates = {"angle_x", "angle_y"},
                             .velocities = {"rate_x", "rate_y"},
                             .rest = rest_two,
                             .place = universal_place,
                             .motion = universal_motion,
                             .own_bias = universal_bias,
                             .integrate = integrate_two,
                             .difference = difference_two},
    // moved by the kinematics themselves: its twist is no column of S times a velocity
    [STN_JOINT_KINEMATIC] = {.name = "kinematic",
                             .nq = 13,
                             .quaternion = true,
                             .behind = 6,
                             .units = &kinematic,
                             .coordinates = {"x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"},
                             .rest = kinematic_rest,
                             .place = floating_place,
                             .integrate = kinematic_integrate,
                             .difference = kinematic_difference},
};

const joint_kind *joint_kind_get(stn_joint_type type) {
    bool known = (int)type >= 0 && (type < STN_JOINT_COUNT || type == STN_JOINT_KINEMATIC);
    return known ? &kinds[type] : NULL;
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

bool stn_joint_type_is_axial(stn_joint_type type) {
    const joint_kind *kind = joint_kind_get(type);
    return kind != NULL && kind->axial;
}

bool stn_joint_type_is_limited(stn_joint_type type) {
    const joint_kind *kind = joint_kind_get(type);
    return kind != NULL && kind->limited;
}

bool stn_joint_type_has_axis(stn_joint_type type) {
    const joint_kind *kind = joint_kind_get(type);
    return kind != NULL && kind->has_axis;
}

int32_t stn_joint_type_quaternion(stn_joint_type type) {
    const joint_kind *kind = joint_kind_get(type);
    return kind != NULL && kind->quaternion ? kind->nq - kind->behind - 4 : -1;
}

void stn_joint_type_rest(stn_joint_type type, double *q) {
    const joint_kind *kind = joint_kind_get(type);
    if (kind != NULL && kind->rest != NULL) {
        kind->rest(q);
    }
}

const char *stn_joint_coordinate_name(stn_joint_type type, int32_t i) {
    const joint_kind *kind = joint_kind_get(type);
    return kind != NULL && i >= 0 && i < kind->nq ? kind->coordinates[i] : NULL;
}

const char *stn_joint_velocity_name(stn_joint_type type, int32_t i) {
    const joint_kind *kind = joint_kind_get(type);
    return kind != NULL && i >= 0 && i < kind->nv ? kind->velocities[i] : NULL;
}

const stn_joint_units *stn_joint_type_units(stn_joint_type type) {
    const joint_kind *kind = joint_kind_get(type);
    return kind != NULL ? kind->units : NULL;
}
