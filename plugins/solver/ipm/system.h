// SPDX-License-Identifier: Apache-2.0
// Inside of the solver ipm: pairs of impulse and slack, and Newton's system over the velocities. Blocks, lanes, lines
// and padded vectors: common/augmented.h. With T = diag(mu1, mu2, 1) of a cone, gamma = T z, u = J v + b - v_hat:
//
//     A (v - v*) = J^T gamma + f,    s = T (u + R gamma),    z, s in |x_t| <= x_n,    s o z = 0
//
// A row with bounds keeps its impulse x, with a slack for each finite bound: u + R x = low - high,
// low (x - lo) = high (hi - x) = 0.
#ifndef IPM_SYSTEM_H
#define IPM_SYSTEM_H

#include "common/augmented.h"
#include "common/scaled_dual.h"

/// Of W, added to R in Newton's matrix: without it A loses its digits beside pairs without compliance. The residuals
/// know nothing of it.
#define IPM_LEAST 1e-11

/// The cones by lanes: fields of 3 (t1, t2, n), `stride` apart.
typedef struct ipm_cones {
    int32_t count, stride;
    double *mu;             // (2 x stride)
    double *R, *offset, *u; // (3 x stride) offset = b - v_hat
    double *omega;          // (stride) mean of the diagonal of W
    double *z, *s, *dz, *ds;
    double *residual;     // s - T (u + R gamma)
    double *eta, *unit;   // (stride), (3 x stride) scaling of Nesterov and Todd
    double *l;            // z and s in it
    double *dz_l, *ds_l;  // dz and ds in it
    double *gain;         // what complementarity is to gain: dz_l + ds_l
    double *slip, *value; // (2, 3 x stride) the frame of Q(w)^-1, and its values there
    double *L, *d;        // B = Q(w)^-1 + T R T in that frame: L by 10, 20, 21, and the inverse of D
    double *gamma, *du;   // impulses, or steps of them, for J^T; J dv
    double *G;            // (6 x stride) T B^-1 T
    double *own;          // (stride) of each: what a sum or a maximum is taken over
} ipm_cones;

/// The rows with bounds by lines.
typedef struct ipm_lines {
    int32_t count;
    double *R, *offset, *u, *lo, *hi, *omega;
    double *x, *low, *high, *dx, *dlow, *dhigh; // low, high: -1 where there is no such bound
    double *above, *below;                      // x - lo and hi - x
    double *residual;                           // low - high - (u + R x)
    double *gain_low, *gain_high;               // what complementarity is to gain, over the room
    double *gamma, *du;
    double *G; // 1/(R + slopes of the bounds), 0 where the bounds leave nothing between them
} ipm_lines;

/// Of all pairs. The degree of the barrier is how many there are.
typedef struct ipm_gap {
    double sum; // of s.z and low (x - lo) + high (hi - x) [J]
    int32_t degree;
} ipm_gap;

/// cones.c and lines.c, which do the same for their kind of pair.
/// Impulses gamma and velocities u to a pair on the central path.
void ipm_cones_begin(const ipm_cones *c, double centre);
void ipm_lines_begin(const ipm_lines *l, double centre);
/// `gamma` of the pairs.
void ipm_cones_impulses(const ipm_cones *c);
void ipm_lines_impulses(const ipm_lines *l);
/// Residual, scaling and G of the pairs; adds to the gap.
void ipm_cones_scale(const ipm_cones *c, ipm_gap *gap);
void ipm_lines_scale(const ipm_lines *l, ipm_gap *gap);
/// Is every product l o l within centre/2 of the central path?
bool ipm_cones_central(const ipm_cones *c, double centre);
/// `gain` of the predictor, or of the corrector with the steps at hand; `gamma` is what it puts on the right of
/// Newton's system.
void ipm_cones_aim(const ipm_cones *c, bool corrected, double centre);
void ipm_lines_aim(const ipm_lines *l, bool corrected, double centre);
/// Steps of the pairs for du. Returns 1/(the step at which the first one leaves its set), <= 0: none does.
double ipm_cones_step(const ipm_cones *c, bool more);
double ipm_lines_step(const ipm_lines *l, bool more);
void ipm_cones_move(const ipm_cones *c, double step);
void ipm_lines_move(const ipm_lines *l, double step);

#endif
