// SPDX-License-Identifier: Apache-2.0
// Friction on a pyramid as a linear complementarity problem, in the scaled variables of scaled_dual.h, g = H x + q:
//
//     x_n = beta_n,  x_t = sum_j beta_j d_j      d_j = (cos, sin)(2 pi j/directions): inscribed, for j and -j alike
//     0 <= beta_n  _|_  g_n                 >= 0
//     0 <= beta_j  _|_  d_j.g_t + slip      >= 0
//     0 <= slip    _|_  mu beta_n - sum_j beta_j >= 0
//
// Or with Anitescu's friction the dual of its quadratic program, with unknowns along rays alone [anitescu-2006]:
//
//     x = sum_j beta_j r_j,  r_j = (mu d_j, 1),    0 <= beta_j  _|_  r_j.g >= 0
//
// A row between bounds is x = lo + z (or hi - z): 0 <= z _|_ g + y >= 0, 0 <= y _|_ (hi - lo) - z >= 0. A free row is
// an equation.
#ifndef LEMKE_PYRAMID_H
#define LEMKE_PYRAMID_H

#include "common/scaled_dual.h"
#include "tableau.h"

typedef enum unknown_kind {
    UNKNOWN_IMPULSE, // x changes along `direction`
    UNKNOWN_FREE,    // the same, of either sign, and its w is 0
    UNKNOWN_SLIP,    // of a contact: its normal is unknown `partner`, its directions follow that one
    UNKNOWN_TOP,     // y of the row that is unknown `partner`, its room is hi - lo
} unknown_kind;

typedef struct unknown {
    unknown_kind kind;
    int32_t constraint;
    int32_t place, entries; // of `direction` in padded vectors: 1, of a tangent 2, of a ray 3
    double direction[3];
    int32_t partner; // of an impulse: its slip or top, -1: none
    double room;
} unknown;

/// How friction is modelled.
typedef struct pyramid_friction {
    int32_t directions;
    bool anitescu; // else Coulomb's
} pyramid_friction;

typedef struct pyramid {
    scaled_dual dual;
    int32_t directions;
    bool anitescu;
    const double *cosine, *sine; // (directions)
    int32_t n;                   // unknowns
    unknown *unknowns;
    int32_t *start; // (constraints + 1) unknowns of a constraint
    double *base;   // (size) x where all unknowns are 0
} pyramid;

/// Everything lives in `arena`. STN_ERR_UNSUPPORTED: more unknowns than a full tableau may have.
stn_status pyramid_build(const stn_delassus *delassus, pyramid_friction friction, stn_arena *arena, pyramid *out,
                         stn_error *err);
/// w = M z + q into a tableau: M into T, whose entries are 0 now, and q. `work` is a padded vector.
void pyramid_matrix(const pyramid *p, tableau *t, double *work);
/// x (size) of z (n).
void pyramid_impulses(const pyramid *p, const double *z, double *x);
/// w (n) of z and g = H x + q.
void pyramid_slacks(const pyramid *p, const double *z, const double *g, double *w);
/// How far x is from solving: natural maps with the pyramid for the cone, with Anitescu's friction the largest of what
/// rays close at, what is beyond the pyramid, and the lesser of x.g/|x| and x; g = H x + q.
dual_residual pyramid_residual(const pyramid *p, const double *x, const double *g);

#endif
