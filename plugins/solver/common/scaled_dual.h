// SPDX-License-Identifier: Apache-2.0
// The convex relaxation as a problem over the impulses, scaled so that first-order methods see one unit:
//
//     min over x in K of  f(x) = x^T H x/2 + q^T x,    gamma = s x,   H = s (W + R) s,   q = s (b - v_hat)
//
// s is one number s_i = (rows/trace(W_ii + R_ii))^(1/2) a constraint, which leaves cones as they are, so that the
// diagonal blocks of H have the mean 1 whatever the masses; between single bodies smaller where many constraints share
// a body (body_lanes.h). x and the gradient g = H x + q are in sqrt(J). Vectors are
// padded as in packed.h, or lie as in body_lanes.h.
#ifndef SOLVER_COMMON_SCALED_DUAL_H
#define SOLVER_COMMON_SCALED_DUAL_H

#include "common/body_lanes.h"

typedef struct scaled_dual {
    const body_lanes *bodies; // H as products through the bodies; NULL: as in `H`
    packed H;                 // with `bodies` n, size, q, speed and rounding alone
    double *s;                // (size) s_i at all places of a constraint
    // constraints [4 k, 4 k + 4) as lanes of one vector
    int32_t fours;             // how many there are
    bool *cones;               // (fours) all four are friction cones
    double *mu, *omega, *unit; // (4 fours) of cones; unit: 1/s
} scaled_dual;

/// Everything lives in `arena`. STN_ERR_MEMORY is the only failure.
stn_status scaled_dual_build(const stn_delassus *delassus, stn_arena *arena, scaled_dual *out, stn_error *err);
/// The same with H as products through the bodies, where body_lanes_fit. For what is below, and H.size, alone.
stn_status scaled_dual_build_bodies(const stn_problem *problem, const stn_inverse *inverse, stn_arena *arena,
                                    scaled_dual *out, stn_error *err);
/// The same from the traces of the diagonal blocks alone, which the constraints know: all that sets, scales, natural
/// maps and tolerances of a solver over velocities need. There are no products with H then.
stn_status scaled_dual_build_traces(const stn_problem *problem, const stn_solve_control *control, scaled_dual *out,
                                    stn_error *err);
/// x of the impulses of the problem, and back.
void scaled_dual_enter(const scaled_dual *dual, const double *gamma, double *x);
void scaled_dual_leave(const scaled_dual *dual, const double *x, double *gamma);
/// g = H x + q.
void scaled_dual_gradient(const scaled_dual *dual, const double *x, double *g);
/// Every x_i onto its cone or between its bounds.
void scaled_dual_project(const scaled_dual *dual, double *x);
/// f(x) [J].
double scaled_dual_cost(const scaled_dual *dual, const double *x, const double *g);

/// How far x is from solving.
typedef struct dual_residual {
    double speed; // the largest natural map, as the certificate's natural_ccp [m/s]
    double size;  // norm of all of them in x [sqrt(J)]
} dual_residual;
/// Of Coulomb's law itself when not `convex` (the natural map of De Saxce). No smaller than what rounding hides of it:
/// x - (x - g) loses g beside impulses that grow without end. NaN when an input is.
dual_residual scaled_dual_residual(const scaled_dual *dual, bool convex, const double *x, const double *g);
/// Within the tolerances: relative to the speeds of the problem, absolute in sqrt(J). False for NaN.
bool scaled_dual_done(const scaled_dual *dual, dual_residual residual, const stn_solve_control *control);

#endif
