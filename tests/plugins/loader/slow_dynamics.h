// SPDX-License-Identifier: Apache-2.0
// Mechanics of a robot straight from its URDF, the slow way: homogeneous 4 x 4 transforms and Lagrange's equations in
// the form of Uicker. With T_l(q) the transform of link l and P_l its second moments (4 x 4) about its own frame,
//     M_ij = sum over l of tr(T_l,i P_l T_l,j^T),    bias_i = sum over l of tr(T_l,i P_l (T_l-ddot - G)^T),
// T_l,i the derivative along velocity i alone, T_l-ddot the second derivative along v when v stays constant, G gravity
// in the last column. Derivatives are exact: transforms are multiplied as polynomials in time, modulo t^3.
#ifndef SLOW_DYNAMICS_H
#define SLOW_DYNAMICS_H

#include "random_urdf.h"

typedef struct square {
    double m[4][4];
} square;

/// T(t) = at[0] + at[1] t + at[2] t^2.
typedef struct moving {
    square at[3];
} moving;

static inline moving moving_one(void) {
    moving a = {{{{{0.0}}}}};
    for (int32_t i = 0; i < 4; i++) {
        a.at[0].m[i][i] = 1.0;
    }
    return a;
}

/// c += a b.
static inline void product_add(const square *a, const square *b, square *c) {
    for (int32_t i = 0; i < 4; i++) {
        for (int32_t j = 0; j < 4; j++) {
            for (int32_t k = 0; k < 4; k++) {
                c->m[i][j] += a->m[i][k] * b->m[k][j];
            }
        }
    }
}

static inline moving moving_product(const moving *a, const moving *b) {
    moving c = {{{{{0.0}}}}};
    for (int32_t k = 0; k < 3; k++) {
        for (int32_t l = 0; k + l < 3; l++) {
            product_add(&a->at[k], &b->at[l], &c.at[k + l]);
        }
    }
    return c;
}

/// Translation by x + u t.
static inline moving translation(const double x[3], const double u[3]) {
    moving a = moving_one();
    for (int32_t i = 0; i < 3; i++) {
        a.at[0].m[i][3] = x[i];
        a.at[1].m[i][3] = u[i];
    }
    return a;
}

/// Rotation by q + w t about coordinate axis k.
static inline moving turn_about(int32_t k, double q, double w) {
    const double c[3] = {cos(q), -w * sin(q), -0.5 * w * w * cos(q)};
    const double s[3] = {sin(q), w * cos(q), -0.5 * w * w * sin(q)};
    int32_t i = (k + 1) % 3, j = (k + 2) % 3;
    moving a = moving_one();
    for (int32_t p = 0; p < 3; p++) {
        a.at[p].m[i][i] = a.at[p].m[j][j] = c[p];
        a.at[p].m[i][j] = -s[p];
        a.at[p].m[j][i] = s[p];
    }
    return a;
}

static inline moving turned_back(const moving *a) {
    moving b = moving_one();
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t j = 0; j < 3; j++) {
            b.at[0].m[i][j] = a->at[0].m[j][i];
        }
    }
    return b;
}

/// The turn of z to `axis` the short way: about z x axis; half a turn about x when there is no short way.
static inline moving upright(const double axis[3]) {
    double across = hypot(axis[0], axis[1]), tilt = atan2(across, axis[2]), heading = atan2(axis[1], axis[0]);
    if (across == 0.0) {
        return turn_about(0, tilt, 0.0);
    }
    moving to = turn_about(2, heading, 0.0), lean = turn_about(1, tilt, 0.0), from = turn_about(2, -heading, 0.0);
    moving half = moving_product(&to, &lean);
    return moving_product(&half, &from);
}

/// `inner` as seen in axes whose z lies on `axis`.
static inline moving along_axis(const double axis[3], const moving *inner) {
    moving to = upright(axis), back = turned_back(&to), half = moving_product(&to, inner);
    return moving_product(&half, &back);
}

/// Attitude e (w, x, y, z) that goes on turning at w: exp(t [w]) R, R = 1 + 2 e_w [e] + 2 [e]^2.
static inline moving spinning(const double e[4], const double w[3]) {
    square b = {{{0.0, -w[2], w[1], 0.0}, {w[2], 0.0, -w[0], 0.0}, {-w[1], w[0], 0.0, 0.0}, {0.0}}};
    square x = {{{0.0, -e[3], e[2], 0.0}, {e[3], 0.0, -e[1], 0.0}, {-e[2], e[1], 0.0, 0.0}, {0.0}}};
    moving turn = moving_one(), attitude = moving_one();
    turn.at[1] = b;
    product_add(&b, &b, &turn.at[2]);
    product_add(&x, &x, &attitude.at[0]);
    for (int32_t i = 0; i < 9; i++) {
        turn.at[2].m[i / 3][i % 3] *= 0.5;
        double *entry = &attitude.at[0].m[i / 3][i % 3], one = i % 4 == 0 ? 1.0 : 0.0;
        *entry = one + 2.0 * (*entry - one) + 2.0 * e[0] * x.m[i / 3][i % 3];
    }
    return moving_product(&turn, &attitude);
}

/// URDF: translation by xyz, then fixed-axis roll, pitch, yaw.
static inline moving placed(const written_origin *o) {
    static const double rest[3] = {0.0, 0.0, 0.0};
    moving x = translation(o->xyz, rest);
    for (int32_t k = 2; k >= 0; k--) {
        moving turn = turn_about(k, o->rpy[k], 0.0);
        x = moving_product(&x, &turn);
    }
    return x;
}

/// Child frame in the joint frame while the joint's coordinates q move at w.
static inline moving joint_transform(const written_link *link, const double *q, const double *w) {
    double n = sqrt(link->axis[0] * link->axis[0] + link->axis[1] * link->axis[1] + link->axis[2] * link->axis[2]);
    double axis[3] = {link->axis[0] / n, link->axis[1] / n, link->axis[2] / n}, x[3] = {0.0}, u[3] = {0.0};
    moving slide, turn;
    switch (link->type) {
    case STN_JOINT_REVOLUTE:
    case STN_JOINT_CONTINUOUS:
        turn = turn_about(2, q[0], w[0]);
        return along_axis(axis, &turn);
    case STN_JOINT_PRISMATIC:
        x[2] = q[0];
        u[2] = w[0];
        slide = translation(x, u);
        return along_axis(axis, &slide);
    case STN_JOINT_SCREW:
        x[2] = link->pitch * q[0] / (2.0 * STN_PI);
        u[2] = link->pitch * w[0] / (2.0 * STN_PI);
        slide = translation(x, u);
        turn = turn_about(2, q[0], w[0]);
        turn = moving_product(&slide, &turn);
        return along_axis(axis, &turn);
    case STN_JOINT_PLANAR:
        slide = translation((const double[3]){q[0], q[1], 0.0}, (const double[3]){w[0], w[1], 0.0});
        turn = turn_about(2, q[2], w[2]);
        turn = moving_product(&slide, &turn);
        return along_axis(axis, &turn);
    case STN_JOINT_UNIVERSAL:
        slide = turn_about(0, q[0], w[0]);
        turn = turn_about(1, q[1], w[1]);
        return moving_product(&slide, &turn);
    case STN_JOINT_BALL:
        return spinning(q, w);
    case STN_JOINT_FLOATING:
        slide = translation(q, w);
        turn = spinning(q + 3, w + 3);
        return moving_product(&slide, &turn);
    default:
        return moving_one();
    }
}

/// Link frames in the world while q moves at w. A free root's coordinates are those of the world, its base only where
/// it starts.
static inline void slow_transforms(const written_robot *robot, const double *q, const double *w, moving *out) {
    static const double rest[6] = {0.0};
    moving base = robot->root == WRITTEN_FREE ? moving_one() : placed(&robot->base);
    for (int32_t i = 0; i < robot->count; i++) {
        const written_link *link = &robot->links[i];
        moving frame = placed(&link->origin);
        frame = moving_product(link->parent < 0 ? &base : &out[link->parent], &frame);
        moving motion = joint_transform(link, q + link->q, link->nv > 0 ? w + link->v : rest);
        out[i] = moving_product(&frame, &motion);
    }
}

/// Second moments of a link: the integral of p p^T dm over p = (x, y, z, 1), from those in the inertial frame, whose
/// upper block is 1/2 tr(I) - I.
static inline square second_moments(const written_link *link) {
    square inner = {{{0.0}}}, half = inner, sum = inner, back;
    double trace = link->inertia[0][0] + link->inertia[1][1] + link->inertia[2][2];
    moving frame = placed(&link->inertial);
    for (int32_t i = 0; i < 16; i++) {
        back.m[i / 4][i % 4] = frame.at[0].m[i % 4][i / 4];
    }
    for (int32_t i = 0; i < 9; i++) {
        inner.m[i / 3][i % 3] = (i % 4 == 0 ? 0.5 * trace : 0.0) - link->inertia[i / 3][i % 3];
    }
    inner.m[3][3] = link->mass;
    product_add(&frame.at[0], &inner, &half);
    product_add(&half, &back, &sum);
    return sum;
}

/// tr(A B^T) of the first three rows; the last row of a derivative is zero.
static inline double trace_product(const square *a, const square *b) {
    double sum = 0.0;
    for (int32_t i = 0; i < 12; i++) {
        sum += a->m[i / 4][i % 4] * b->m[i / 4][i % 4];
    }
    return sum;
}

/// M (nv x nv, rotors included) and bias (nv) at (q, v).
static inline void slow_dynamics(const written_robot *robot, int32_t nv, const double *q, const double *v,
                                 const double gravity[3], double *M, double *bias) {
    static moving along[WRITTEN_LINKS];
    double w[WRITTEN_DOFS] = {0.0};
    size_t count = (size_t)robot->count, n = (size_t)nv;
    square *D = malloc((n * count + 1) * sizeof *D); // T_l,i
    memset(M, 0, n * n * sizeof *M);
    memset(bias, 0, n * sizeof *bias);
    for (size_t i = 0; i < n; i++) {
        w[i] = 1.0;
        slow_transforms(robot, q, w, along);
        w[i] = 0.0;
        for (size_t l = 0; l < count; l++) {
            D[i * count + l] = along[l].at[1];
        }
    }
    slow_transforms(robot, q, v, along);
    for (size_t l = 0; l < count; l++) {
        const written_link *link = &robot->links[l];
        square P = second_moments(link);
        for (int32_t k = 0; k < 12; k++) { // T-ddot - G
            along[l].at[2].m[k / 4][k % 4] = 2.0 * along[l].at[2].m[k / 4][k % 4] - (k % 4 == 3 ? gravity[k / 4] : 0.0);
        }
        for (size_t i = 0; i < n && link->massive; i++) {
            square moments = {{{0.0}}};
            product_add(&D[i * count + l], &P, &moments);
            bias[i] += trace_product(&moments, &along[l].at[2]);
            for (size_t j = 0; j < n; j++) {
                M[i * n + j] += trace_product(&moments, &D[j * count + l]);
            }
        }
        if (link->nv == 1) {
            M[(size_t)link->v * (n + 1)] += link->ratio * link->ratio * link->rotor;
        }
    }
    free(D);
}

#endif
