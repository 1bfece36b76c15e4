// SPDX-License-Identifier: Apache-2.0
// Where an A is singular the velocities that balance are many: all v of
//
//     A v = A v_0,   g_u(v) = 0 for u in F,   the other rays as the problem asks,
//
// v_0 one of them and F the unknowns that its impulses lie strictly inside of. (Every choice of impulses has the same
// set.) The solution is the one nearest to the start s: min (v - s)^T D (v - s)/2 over that set. D v = D s + A w + J^T
// x there, x free on F and of one sign at the other rays: a proximal step with the centre s, in which A (v - v_0) and
// R gamma come to rest by their multipliers [rockafellar-1976].
#ifndef QP_NEAREST_H
#define QP_NEAREST_H

#include "rays.h"

/// Replaces v (nv), a solution with the impulses gamma, by the nearest to `start`. `marks` in: F; out: also what else
/// bounds v on the way to the start. STN_NOT_CONVERGED: digits do not allow it; v and marks are untouched.
stn_status nearest_solution(rays *r, const active_set *set, const double *start, const double *gamma, double *v,
                            bool *marks);
/// The largest difference in v, velocities of unlike dofs over diag(A)^-1/2.
double nearest_distance(const rays *r, const double *a, const double *b);

#endif
