// SPDX-License-Identifier: Apache-2.0
// (H + E) d = -g over the rays, E diagonal, without a matrix over the rays: H = B^T (J P^-1 J^T + R) B, B the rays of
// all constraints. With dgamma = B d, dv = P^-1 J^T dgamma, any speeds s of the rows, g = B^T s + l, K = B E^-1 B^T and
// t = -B E^-1 l:
//
//     (P + J^T G J) dv = J^T (t - G (s + R t)),   G = (K^-1 + R)^-1
//     y = (1 - R G) (s + R t + J dv),             E d = -l - B^T y
//
// K, R and G are 3 x 3 for a cone and numbers for a row with bounds; P + J^T G J is sparse (common/augmented.h). s
// holds the part of g that the unknowns with the least E see. E^-1 times that part may be so much larger than d that no
// digit of d would be left; y, which is small, is used instead. An unknown whose E is infinite does not move.
#ifndef QP_RAY_SYSTEM_H
#define QP_RAY_SYSTEM_H

#include "common/augmented.h"
#include "rays.h"

typedef struct ray_system {
    rays *r;
    int32_t n;
    augmented H;
    int32_t *unknown;        // (row_count) of a row with bounds
    const double *extra;     // (n) added to the diagonal of H; NULL: nothing. The caller's
    double *E;               // (n) of the factor, extra in it
    bool factored;           // E is that of the factor
    double *G, *line_G;      // of lanes (6 x lane_stride) and lines
    double *dv;              // (nv)
    double *t, *rate, *seen; // (row_count); seen: s
    double *rest;            // (n) l
    double *left, *more;     // (n) work of a refinement
} ray_system;

/// Everything lives in the arena of `control`, whose workspace keeps the symbolic factor.
stn_status ray_system_create(rays *r, int32_t n, const stn_solve_control *control, ray_system *out, stn_error *err);
/// Factors for E (n) > 0; nothing is done where it is that of the last call. STN_ERR_NUMERIC: no factor.
stn_status ray_system_factor(ray_system *s, const double *E, stn_error *err);
/// g (n) = H x (n), extra in H.
void ray_system_product(ray_system *s, const double *x, double *g);
/// d (n) = -(H + E)^-1 g (n), as good as one solve gives it. `speeds`: g are the speeds of some v along the rays, so
/// that l is rounding and left out.
void ray_system_solve(ray_system *s, const double *g, bool speeds, double *d);
/// The same of any g with corrections by what is left, as long as they lessen it; `size` (n) are the roots of H's
/// diagonal.
void ray_system_refine(ray_system *s, const double *g, const double *size, double *d);

#endif
