// SPDX-License-Identifier: Apache-2.0
// Random robots, and their mechanics computed the slow way: homogeneous 4 x 4 matrices link by link, no merged bodies,
// no reference points, no spatial vectors.
#ifndef RANDOM_TREE_H
#define RANDOM_TREE_H

#include "stn_model_test.h"

#include <stdlib.h>
#include <string.h>

#include <stiction/dynamics.h>

#include "stn_random_pose.h"

enum { MOST_LINKS = 32, MOST_DOFS = 6 * MOST_LINKS };

typedef struct random_link {
    int32_t parent; // link, -1: the world
    stn_joint_spec joint;
    stn_mass mass;
    int32_t q, v, nv; // where the model put its joint
} random_link;

typedef struct random_tree {
    stn_context *context;
    stn_model *model;
    int32_t count;
    random_link links[MOST_LINKS];
    double q[7 * MOST_LINKS], v[MOST_DOFS], a[MOST_DOFS];
} random_tree;

/// A solid with all six inertia entries, its centre anywhere.
static inline stn_mass random_mass(stn_random *r) {
    stn_mat3 turn = stn_quat_matrix(random_rotation(r));
    double m = random_between(r, 0.2, 3.0), x = random_size(r, 0.01, 0.2), y = random_size(r, 0.01, 0.2);
    double z = random_size(r, 0.01, 0.2);
    stn_mat3 principal = stn_mat3_diagonal(m * (y + z), m * (x + z), m * (x + y));
    stn_mass mass = {m, random_vec3(r, 0.3), stn_mat3_rotate_tensor(&turn, &principal)};
    return mass;
}

static inline stn_joint_spec random_joint(stn_random *r, int32_t number, char *name, size_t size) {
    static const stn_joint_type types[] = {
        STN_JOINT_REVOLUTE, STN_JOINT_REVOLUTE, STN_JOINT_CONTINUOUS, STN_JOINT_PRISMATIC, STN_JOINT_FLOATING,
        STN_JOINT_FIXED,    STN_JOINT_PLANAR,   STN_JOINT_BALL,       STN_JOINT_SCREW,     STN_JOINT_UNIVERSAL};
    snprintf(name, size, "j%d", number);
    stn_joint_spec spec = stn_joint_spec_default(name, types[random_below(r, STN_COUNT(types))]);
    spec.origin = random_pose(r, 0.5);
    spec.axis = stn_vec3_scale(random_between(r, 0.5, 2.0), random_unit(r));
    spec.rotor_inertia = random_below(r, 2) == 0 && stn_joint_type_nv(spec.type) == 1 ? 1e-3 : 0.0;
    spec.gear_ratio = 7.0;
    spec.screw_pitch = random_between(r, -1.0, 1.0);
    return spec;
}

/// Coordinates of one joint, anywhere in its range.
static inline void random_coordinates(stn_random *r, stn_joint_type type, double *q) {
    int32_t nq = stn_joint_type_nq(type), turn = type == STN_JOINT_FLOATING ? 3 : type == STN_JOINT_BALL ? 0 : nq;
    for (int32_t i = 0; i < turn; i++) {
        q[i] = type == STN_JOINT_FLOATING ? random_between(r, -0.5, 0.5) : random_between(r, -2.0, 2.0);
    }
    if (turn < nq) {
        stn_quat e = random_rotation(r);
        const double values[4] = {e.w, e.x, e.y, e.z};
        memcpy(q + turn, values, sizeof values);
    }
}

/// A robot of `count` links; root: a moving joint of any type on the world, so that all kinds of roots occur.
static inline void random_tree_init(random_tree *t, uint64_t seed, int32_t count) {
    stn_random r = {seed};
    stn_error err;
    char name[16];
    memset(t, 0, sizeof *t);
    t->count = count;
    assert_ok(stn_context_create(NULL, &t->context, &err), err);
    stn_model_builder *b = new_builder(t->context);
    begin_robot(b, "tree");
    for (int32_t i = 0; i < count; i++) {
        random_link *link = &t->links[i];
        link->mass = random_mass(&r);
        snprintf(name, sizeof name, "l%d", i);
        add_link(b, name, link->mass);
    }
    for (int32_t i = 0; i < count; i++) {
        random_link *link = &t->links[i];
        link->joint = random_joint(&r, i, name, sizeof name);
        link->parent = i == 0 ? STN_WORLD : random_below(&r, i);
        if (i == 0) {
            static const stn_joint_type roots[3][2] = {{STN_JOINT_FLOATING, STN_JOINT_FLOATING},
                                                       {STN_JOINT_REVOLUTE, STN_JOINT_PLANAR},
                                                       {STN_JOINT_FIXED, STN_JOINT_BALL}};
            link->joint.type = roots[seed % 3][seed / 3 % 2];
            link->joint.rotor_inertia = 0.0;
            link->joint.origin = seed % 2 == 0 ? shift(0.3, 0.1, -0.2) : link->joint.origin; // S = 1, and rotated
        }
        link->joint.parent = link->parent;
        link->joint.child = i;
        link->joint.name = name;
        add_joint_spec(b, &link->joint);
        link->joint.name = NULL;
    }
    t->model = compile_model(b);
    stn_builder_destroy(b);
    for (int32_t i = 0; i < count; i++) {
        random_link *link = &t->links[i];
        snprintf(name, sizeof name, "j%d", i);
        int32_t joint = stn_model_find_joint(t->model, 0, name);
        link->nv = joint < 0 ? 0 : t->model->joints[joint].nv;
        link->q = joint < 0 ? -1 : t->model->joints[joint].q_start;
        link->v = joint < 0 ? -1 : t->model->joints[joint].v_start;
        if (joint >= 0) {
            random_coordinates(&r, link->joint.type, t->q + link->q);
        }
    }
    for (int32_t i = 0; i < t->model->nv; i++) {
        t->v[i] = random_between(&r, -1.5, 1.5);
        t->a[i] = random_between(&r, -3.0, 3.0);
    }
}

static inline void random_tree_clear(random_tree *t) {
    stn_model_destroy(t->model);
    stn_context_destroy(t->context);
}

// ------------------------------------------------------------------------------------------------------- slow way

typedef struct mat4 {
    double m[4][4];
} mat4;

static inline mat4 mat4_mul(const mat4 *a, const mat4 *b) {
    mat4 c = {{{0.0}}};
    for (int32_t i = 0; i < 4; i++) {
        for (int32_t j = 0; j < 4; j++) {
            for (int32_t k = 0; k < 4; k++) {
                c.m[i][j] += a->m[i][k] * b->m[k][j];
            }
        }
    }
    return c;
}

static inline mat4 mat4_of(const stn_pose *pose) {
    const double(*r)[3] = pose->rotation.m;
    mat4 a = {{{r[0][0], r[0][1], r[0][2], pose->position.x},
               {r[1][0], r[1][1], r[1][2], pose->position.y},
               {r[2][0], r[2][1], r[2][2], pose->position.z},
               {0.0, 0.0, 0.0, 1.0}}};
    return a;
}

/// exp of [w, u; 0, 0], w and u constant over unit time, by its series.
static inline mat4 mat4_exp(stn_vec3 w, stn_vec3 u) {
    mat4 x = {{{0.0, -w.z, w.y, u.x}, {w.z, 0.0, -w.x, u.y}, {-w.y, w.x, 0.0, u.z}, {0.0, 0.0, 0.0, 0.0}}};
    stn_pose one = stn_pose_identity();
    mat4 sum = mat4_of(&one), term = sum;
    for (int32_t n = 1; n < 60; n++) {
        term = mat4_mul(&term, &x);
        for (int32_t i = 0; i < 16; i++) {
            term.m[i / 4][i % 4] /= n;
            sum.m[i / 4][i % 4] += term.m[i / 4][i % 4];
        }
    }
    return sum;
}

/// Rotation about an axis of unit length.
static inline mat4 mat4_turn(stn_vec3 axis, double angle) {
    return mat4_exp(stn_vec3_scale(angle, axis), stn_vec3_zero());
}

static inline mat4 mat4_shift(stn_vec3 u) {
    return mat4_exp(stn_vec3_zero(), u);
}

static const stn_vec3 EX = {1.0, 0.0, 0.0}, EY = {0.0, 1.0, 0.0}, EZ = {0.0, 0.0, 1.0};

/// The shortest turn from z to `axis`: about z x axis, by the angle between them.
static inline mat4 shortest_turn(stn_vec3 axis) {
    stn_vec3 w = stn_vec3_cross(EZ, axis);
    return mat4_turn(stn_vec3_normalize_or(w, EX), atan2(stn_vec3_norm(w), axis.z));
}

/// x and y of a planar joint moved by (x, y) in the joint frame.
static inline stn_vec3 in_plane(stn_vec3 axis, double x, double y) {
    mat4 turn = shortest_turn(axis);
    return stn_vec3_make(turn.m[0][0] * x + turn.m[0][1] * y, turn.m[1][0] * x + turn.m[1][1] * y,
                         turn.m[2][0] * x + turn.m[2][1] * y);
}

static inline mat4 joint_motion(const random_link *link, const double *q) {
    stn_vec3 axis = stn_vec3_normalize_or(link->joint.axis, stn_vec3_zero()), none = stn_vec3_zero();
    const double *x = q + link->q;
    switch (link->joint.type) {
    case STN_JOINT_REVOLUTE:
    case STN_JOINT_CONTINUOUS:
        return mat4_turn(axis, x[0]);
    case STN_JOINT_PRISMATIC:
        return mat4_shift(stn_vec3_scale(x[0], axis));
    case STN_JOINT_SCREW:
        return mat4_exp(stn_vec3_scale(x[0], axis),
                        stn_vec3_scale(x[0] * link->joint.screw_pitch / (2.0 * STN_PI), axis));
    case STN_JOINT_UNIVERSAL: {
        mat4 a = mat4_turn(EX, x[0]), b = mat4_turn(EY, x[1]);
        return mat4_mul(&a, &b);
    }
    case STN_JOINT_PLANAR: {
        mat4 a = mat4_shift(in_plane(axis, x[0], x[1])), b = mat4_turn(axis, x[2]);
        return mat4_mul(&a, &b);
    }
    case STN_JOINT_BALL: {
        stn_pose pose = stn_pose_make((stn_quat){x[0], x[1], x[2], x[3]}, none);
        return mat4_of(&pose);
    }
    case STN_JOINT_FLOATING: {
        stn_quat e = {x[3], x[4], x[5], x[6]};
        stn_pose pose = stn_pose_make(e, stn_vec3_make(x[0], x[1], x[2]));
        return mat4_of(&pose);
    }
    default:
        return mat4_exp(none, none);
    }
}

/// Joint frames and link frames in the world, and how velocity k of a joint moves its child: the child's origin by
/// `linear`, its turning by `angular`.
typedef struct slow_frames {
    mat4 joint[MOST_LINKS], link[MOST_LINKS];
    stn_vec3 linear[MOST_LINKS][6], angular[MOST_LINKS][6];
} slow_frames;

static inline stn_vec3 turn4(const mat4 *a, stn_vec3 p) {
    return stn_vec3_make(a->m[0][0] * p.x + a->m[0][1] * p.y + a->m[0][2] * p.z,
                         a->m[1][0] * p.x + a->m[1][1] * p.y + a->m[1][2] * p.z,
                         a->m[2][0] * p.x + a->m[2][1] * p.y + a->m[2][2] * p.z);
}

/// Fills linear and angular of link i, first in the axes of its joint frame.
static inline void slow_joint_rates(const random_link *l, const double *q, int32_t i, slow_frames *out) {
    static const stn_vec3 frame[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    stn_vec3 axis = stn_vec3_normalize_or(l->joint.axis, stn_vec3_zero());
    stn_joint_type type = l->joint.type;
    stn_vec3 *linear = out->linear[i], *angular = out->angular[i];
    for (int32_t k = 0; k < l->nv; k++) {
        bool slides =
            type == STN_JOINT_PRISMATIC || (type == STN_JOINT_FLOATING && k < 3) || (type == STN_JOINT_PLANAR && k < 2);
        stn_vec3 e = type == STN_JOINT_FLOATING || type == STN_JOINT_BALL ? frame[k % 3] : axis;
        if (type == STN_JOINT_UNIVERSAL) { // the second axis is the y that the first one turned
            mat4 first = mat4_turn(EX, q[l->q]);
            e = k == 0 ? EX : turn4(&first, EY);
        } else if (slides && type == STN_JOINT_PLANAR) {
            e = in_plane(axis, k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0);
        }
        double advance = type == STN_JOINT_SCREW ? l->joint.screw_pitch / (2.0 * STN_PI) : slides ? 1.0 : 0.0;
        e = turn4(&out->joint[i], e);
        linear[k] = stn_vec3_scale(advance, e);
        angular[k] = slides ? stn_vec3_zero() : e;
    }
}

static inline void slow_kinematics(const random_tree *t, const double *q, slow_frames *out) {
    for (int32_t i = 0; i < t->count; i++) {
        const random_link *link = &t->links[i];
        mat4 origin = mat4_of(&link->joint.origin), motion = joint_motion(link, q);
        out->joint[i] = link->parent < 0 ? origin : mat4_mul(&out->link[link->parent], &origin);
        out->link[i] = mat4_mul(&out->joint[i], &motion);
        slow_joint_rates(link, q, i, out);
    }
}

static inline stn_vec3 column4(const mat4 *a, int32_t j) {
    return stn_vec3_make(a->m[0][j], a->m[1][j], a->m[2][j]);
}

static inline stn_vec3 apply4(const mat4 *a, stn_vec3 p) {
    return stn_vec3_make(a->m[0][0] * p.x + a->m[0][1] * p.y + a->m[0][2] * p.z + a->m[0][3],
                         a->m[1][0] * p.x + a->m[1][1] * p.y + a->m[1][2] * p.z + a->m[1][3],
                         a->m[2][0] * p.x + a->m[2][1] * p.y + a->m[2][2] * p.z + a->m[2][3]);
}

/// Columns of the Jacobians of the point p (world) of a link, linear and angular; zero elsewhere.
static inline void slow_jacobian(const random_tree *t, const slow_frames *f, int32_t link, stn_vec3 p, stn_vec3 *linear,
                                 stn_vec3 *angular) {
    memset(linear, 0, MOST_DOFS * sizeof *linear);
    memset(angular, 0, MOST_DOFS * sizeof *angular);
    for (int32_t i = link; i >= 0; i = t->links[i].parent) {
        const random_link *l = &t->links[i];
        stn_vec3 arm = stn_vec3_sub(p, column4(&f->link[i], 3));
        for (int32_t k = 0; k < l->nv; k++) {
            linear[l->v + k] = stn_vec3_add(f->linear[i][k], stn_vec3_cross(f->angular[i][k], arm));
            angular[l->v + k] = f->angular[i][k];
        }
    }
}

/// What one link adds: its centre of mass, world inertia about it, and the Jacobians of both.
typedef struct slow_link {
    stn_vec3 com, linear[MOST_DOFS], angular[MOST_DOFS];
    stn_mat3 inertia;
} slow_link;

static inline void slow_link_at(const random_tree *t, const slow_frames *f, int32_t i, slow_link *out) {
    const stn_mass *mass = &t->links[i].mass;
    stn_mat3 R = stn_mat3_columns(column4(&f->link[i], 0), column4(&f->link[i], 1), column4(&f->link[i], 2));
    out->com = apply4(&f->link[i], mass->com);
    out->inertia = stn_mat3_rotate_tensor(&R, &mass->inertia);
    slow_jacobian(t, f, i, out->com, out->linear, out->angular);
}

/// M = sum over links of m J_c^T J_c + J_w^T I J_w, plus rotors.
static inline void slow_mass_matrix(const random_tree *t, const double *q, double *M) {
    static slow_frames f;
    static slow_link s;
    int32_t n = t->model->nv;
    slow_kinematics(t, q, &f);
    memset(M, 0, (size_t)n * (size_t)n * sizeof *M);
    for (int32_t i = 0; i < t->count; i++) {
        slow_link_at(t, &f, i, &s);
        for (int32_t k = 0; k < n; k++) {
            for (int32_t l = 0; l < n; l++) {
                M[k * n + l] += t->links[i].mass.mass * stn_vec3_dot(s.linear[k], s.linear[l]) +
                                stn_vec3_dot(s.angular[k], stn_mat3_apply(&s.inertia, s.angular[l]));
            }
        }
        if (t->links[i].nv == 1) {
            M[t->links[i].v * (n + 1)] += 49.0 * t->links[i].joint.rotor_inertia;
        }
    }
}

#endif
