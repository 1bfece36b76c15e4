// SPDX-License-Identifier: Apache-2.0
// A contact's law where its block of the surrogate's Delassus operator is diagonal: in one shot, and how the impulse
// follows the velocity.
#ifndef SOLVER_COND_ONE_SHOT_H
#define SOLVER_COND_ONE_SHOT_H

#include <stdint.h>

/// How a contact's law is solved.
typedef enum cond_operator {
    COND_STRICT,   // Coulomb's law: the normal part, then the tangents [lee-2023, (26)]
    COND_PROXIMAL, // its convex relaxation: the nearest point of the cone
    COND_LAGGED,   // Coulomb's law with friction of at most mu times the normal impulse before
    COND_SHIFTED,  // Coulomb's law as the relaxation with v_n raised by mu |v_t| of the velocity before [desaxce-1998]
} cond_operator;

/// The larger coefficient, of the circular cone, and what makes that of the ellipse: 1 along it.
typedef struct cond_circle {
    double mu, scale[3];
} cond_circle;

/// Of coefficients along t1 and t2.
cond_circle cond_circle_of(const double mu[2]);
/// What COND_SHIFTED raises v_n by [m/s], for the slip u (2).
double cond_shift(const double mu[2], const double u[2]);
/// x (in: the impulse before, out: the one after; t1, t2, n) = P(x - u/g), g (tangents, normal) > 0 [1/kg]; `shift` is
/// added to u_n by COND_PROXIMAL and COND_SHIFTED.
void cond_one_shot(const double mu[2], cond_operator how, const double g[2], const double u[3], double shift,
                   double x[3]);
/// K (3 x 3, row-major, symmetric) [kg]: less dx'/du of the above, one of them where it jumps, for the impulse before,
/// x; on an ellipse of COND_LAGGED it is nearly that. Not of COND_STRICT, whose slope is not symmetric.
void cond_one_shot_slope(const double mu[2], cond_operator how, const double g[2], const double u[3], double shift,
                         const double x[3], double K[9]);

#endif
