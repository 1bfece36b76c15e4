// SPDX-License-Identifier: Apache-2.0
// The linear system of an iteration,
//
//     (M + D) dz = r,   M = T H T = tau J A^-1 J^T tau + rho,   D block diagonal: F diag(value) F^T in the frame of a
//     cone
//
// over the impulses, dense, or, where rows are many beside the dofs (patches of faces), over the velocities:
//
//     B = rho + D,   K = A + J^T tau B^-1 tau J,   dz = B^-1 (r - tau J y),   y = K^-1 J^T tau B^-1 r [woodbury-1950]
//
// whose cost grows with the rows instead of their cube. That needs B positive, which R > 0 makes it: B^-1 is then at
// most what the Hessian of solver/sap has of contacts that stick.
#ifndef SOLVER_IPM_NEWTON_SYSTEM_H
#define SOLVER_IPM_NEWTON_SYSTEM_H

#include "common/augmented.h"
#include "common/dense_dual.h"
#include "common/scaled_dual.h"
#include "jordan.h"

typedef struct newton_system {
    const stn_problem *problem;
    const packed *p;
    bool over_velocities;
    jordan_frame *frame; // (n) of Q(w)^-1, set by the owner before every factorisation
    double *value;       // (size) the diagonal of D in the frames, likewise
    dense_dual dense;
    augmented H;
    double *tau, *rho;  // (size)
    double *inverse;    // (n x STN_MAX_ROWS^2) B^-1
    double *G, *line_G; // tau B^-1 tau of the lanes and lines of H
    double *gamma, *v;  // (row_count), (nv)
} newton_system;

/// T (size) scales impulses on top of the scaling of `dual`. Everything lives in the arena of `control`.
stn_status newton_system_build(const stn_problem *problem, const stn_solve_control *control, const scaled_dual *dual,
                               const double *T, newton_system *out, stn_error *err);
/// False: no digits are left.
bool newton_system_factor(newton_system *m);
/// x = (M + D)^-1 right; `right` is overwritten.
void newton_system_solve(newton_system *m, double *right, double *x);

#endif
