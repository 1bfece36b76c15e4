// SPDX-License-Identifier: Apache-2.0
// Projections on friction cones, beside stn_cone_project of math.h, the Euclidean one on |x_t| <= mu x_n.
#ifndef SOLVER_COMMON_CONE_H
#define SOLVER_COMMON_CONE_H

#include <math.h>

/// Tangential part on the disc |x_t| <= radius, in place; radius >= 0.
static inline void disc_project(double radius, double x[2]) {
    double square = x[0] * x[0] + x[1] * x[1];
    if (square > radius * radius) {
        double s = radius / sqrt(square);
        x[0] *= s;
        x[1] *= s;
    }
}

/// First the normal part on n >= 0, then the tangential one on the disc mu n: no projection on the cone, but its fixed
/// points x = S(x - rho v) are those of Coulomb's law itself, without the shift of De Saxce (COND's strict operator).
static inline void cone_project_strict(double mu, double x[3]) {
    x[2] = x[2] > 0.0 ? x[2] : 0.0;
    disc_project(mu * x[2], x);
}

#endif
