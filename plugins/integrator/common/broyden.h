// SPDX-License-Identifier: Apache-2.0
// Newton's iteration on one tree with a fixed matrix A for the derivative, which learns what A lacks from
// its own steps by Broyden's rank-one updates [broyden-1965, kelley-1995].
#ifndef STN_INTEGRATOR_BROYDEN_H
#define STN_INTEGRATOR_BROYDEN_H

#include <stiction/base.h>

typedef struct broyden {
    int32_t n;
    double *factor; // (n x n) Cholesky factor of A; NULL: A is divided by in another way, see broyden_update
    double *scale;  // (n) metric of residuals, diag(M)^-1/2; velocities have its inverse
    double *steps;  // (most + 1, n) made so far
} broyden;

/// Norm of a residual or another momentum [kg^(1/2) m/s].
double broyden_norm(const broyden *b, const double *x);
/// steps[count] = -B^-1 m, where B is A with one rank-one update for each of the `count` steps before. Returns it.
double *broyden_step(const broyden *b, int32_t count, const double *m);
/// The same where steps[count] holds -A^-1 m already.
double *broyden_update(const broyden *b, int32_t count);

#endif
