// SPDX-License-Identifier: Apache-2.0
// The quadratic program of rays.h by an interior point [mehrotra-1992] that forms no matrix over the rays, and a
// crossover to the set that it shows (crossover.h):
//
//     min over lo <= x <= hi of  x^T H x/2 + q^T x,      H x + q = low - high,  low (x - lo) = high (hi - x) = mu
//     (H + E) dx = -(H x + q - low + high) + c_low/(x - lo) - c_high/(hi - x),  E = low/(x - lo) + high/(hi - x)
//
// with v = c + P^-1 J^T B x always. The predictor and the corrector use the same factor. Primal and dual steps have the
// same length. An unknown without bounds gets E = 1e-10 of H's diagonal: a proximal step, which ends where the gradient
// is 0.
#ifndef QP_INTERIOR_H
#define QP_INTERIOR_H

#include "crossover.h"

typedef struct interior {
    rays *r;
    active_set *set;
    ray_system system;
    crossover cross;
    double unit;                     // the largest |q|/size: an impulse of it costs what is at hand [sqrt(J)]
    double *x, *low, *high;          // (n) interior point
    double *dx, *dlow, *dhigh;       // steps
    double *aim_low, *aim_high;      // c
    double *residual, *right, *best; // H x + q - low + high; work
    double *kept[3];                 // (n) steps before they were made longer
    bool *chosen;
    bool exact; // the crossover found the set of the last solution
} interior;

/// Everything lives in the arena of `control`.
stn_status interior_create(rays *r, active_set *set, const stn_solve_control *control, interior *out, stn_error *err);
/// From any free set and x to the solution, or to the best x that was found, which `exact` tells apart: both end with
/// ACTIVE_SET_SOLVED. Adds iterations and sets of the crossover to `moves`; ends with ACTIVE_SET_LIMIT when they come
/// to `most` without a solution. In a contradiction `entering`, `free` and `follow` of the set tell whose impulses can
/// grow together without end.
active_set_end interior_solve(interior *s, int32_t most, int32_t *moves);

#endif
