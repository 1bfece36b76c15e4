// SPDX-License-Identifier: Apache-2.0
// The scaled dual problem (scaled_dual.h) of constraints between single bodies, without W = J A^-1 J^T: products go
// through the bodies, and neighbouring constraints are lanes. With A_t = L_t L_t^T and D_it = s_i S_i J_it L_t^-T
//
//     u_t = sum over the constraints of body t of D_it^T x_i,    (H x)_i = sum_t D_it u_t + d_i x_i
//
// In a pile a contact has ten to twenty blocks of W, and two of D. S turns ellipses into circular cones (packed.h); d
// holds s S R S s, and a positive number in directions without friction, whose S is 0.
//
// Vectors hold constraints [4 k, 4 k + 4) in 12 numbers from 12 k on: four first rows, four second, four third ones. A
// constraint has up to three rows; rows that it has not, and constraints beyond the last, are zeros.
#ifndef SOLVER_COMMON_BODY_LANES_H
#define SOLVER_COMMON_BODY_LANES_H

#include <stiction/kernel.h>
#include <stiction/plugin.h>

#include "common/cone_lanes.h"

enum { BODY_DOFS = 6, BODY_SIDES = 2, BODY_ROWS = 3, BODY_FOUR = 4 * BODY_ROWS };

/// Four constraints.
typedef struct body_four {
    packed_v4 D[BODY_SIDES][BODY_DOFS][BODY_ROWS]; // zeros where there is no body
    packed_v4 d[BODY_ROWS];
    packed_v4 scale[BODY_ROWS];  // s S
    packed_v4 mu, omega, unit;   // of circular cones; natural map's omega, scaled by s^2; 1/s
    int32_t body[BODY_SIDES][4]; // the one behind the last where there is none
    int32_t row[4], rows[4];     // in the problem; 0 rows: beyond the last constraint
    int32_t sides;               // 1: no constraint has a second body
    bool cones;                  // all four are friction cones, or none at all
    bool cone[4];                // else rows with bounds
} body_four;

typedef struct body_lanes {
    int32_t n, count, size; // constraints, bodies; size of vectors
    body_four *fours;       // (size / 12)
    double *q;              // (size) s S (b - v_hat)
    double *lo, *hi;        // (size) of rows with bounds, over s; NULL where all are cones
    double *u;              // ((count + 1) x 8) of bodies, two zeros each
    double speed, rounding; // as packed.h has them [m/s]
} body_lanes;

/// Where row r of constraint i is in a vector.
static inline int32_t body_place(int32_t i, int32_t r) {
    return BODY_FOUR * (i / 4) + 4 * r + i % 4;
}

/// Is it for this problem: in the global form, every tree has at most 6 dofs and is not nodal, every constraint has at
/// most 3 rows and 2 trees?
bool body_lanes_fit(const stn_problem *problem);
/// Every A is regular. With n_i the mean number of constraints on the bodies of constraint i,
///
///     s_i^2 = rows / diagonal,    diagonal = sqrt(n_i) trace(J A^-1 J^T) + trace(d_i)
///
/// the trace w_trace where the problem knows it. With the number in place of its root H has no large eigenvalue
/// whatever the pile (mass splitting, [tonge-2012]); with 1 all blocks have the mean diagonal 1. The root takes the
/// fewest iterations. Everything lives in `arena`; false: out of memory. Numbers that are not finite stay what they
/// are: `speed` is then NaN or infinite.
bool body_lanes_build(const stn_problem *problem, const stn_inverse *inverse, stn_arena *arena, body_lanes *out);
/// x (size) of impulses in the order of the problem (0 where S is 0), and back.
void body_lanes_enter(const body_lanes *p, const double *gamma, double *x);
void body_lanes_leave(const body_lanes *p, const double *x, double *gamma);
/// g (size) = H x + q.
void body_lanes_gradient(const body_lanes *p, const double *x, double *g);

STN_KERNEL_INLINE cone_lanes body_read(const double *x) {
    return (cone_lanes){*(const packed_v4 *)x, *(const packed_v4 *)(x + 4), *(const packed_v4 *)(x + 8)};
}

STN_KERNEL_INLINE void body_write(cone_lanes x, double *out) {
    *(packed_v4 *)out = x.t1;
    *(packed_v4 *)(out + 4) = x.t2;
    *(packed_v4 *)(out + 8) = x.n;
}

#endif
