// SPDX-License-Identifier: Apache-2.0
// Natural maps e = |gamma - P(gamma - rho g)| / rho [m/s]: how far gamma and g are from complementing each other
// [acary-2018]. Zero exactly at a solution; NaN in, NaN out. Shared by the certificate and the stopping test of impulse
// solvers.
#ifndef STICTION_CORE_PROBLEM_NATURAL_MAP_H
#define STICTION_CORE_PROBLEM_NATURAL_MAP_H

#include <stiction/delassus.h>

/// The larger one, or NaN when either is: fmax would drop it.
static inline double worst(double a, double b) {
    return isnan(a) || a > b ? a : b;
}

/// An impulse and a velocity in the variables in which the constraint's cone is circular with coefficient mu:
/// (gamma_1 mu/mu1, gamma_2 mu/mu2, gamma_n) and (g_1 mu1/mu, g_2 mu2/mu, g_n), mu = max(mu1, mu2). A direction without
/// friction takes no impulse at all: what gamma has there is `forbidden`. For equal coefficients nothing changes.
typedef struct circular {
    double mu;
    double gamma[3], g[3];
    double forbidden;
} circular;

circular circular_of(const stn_constraint *constraint, const double *gamma, const double *g);

/// How a map is taken: with g_n raised by mu |g_t|, the form of De Saxce [desaxce-1998]; omega = trace(W_ii)/rows.
typedef struct natural_form {
    bool coulomb;
    double omega;
} natural_form;

/// Of the circular cone of an ellipse in those variables.
double natural_map_ellipse(const stn_constraint *constraint, natural_form form, const double *gamma, const double *g);

static inline double natural_map_circle(double mu, natural_form form, const double *gamma, const double *g) {
    double shifted = form.coulomb ? g[2] + mu * sqrt(g[0] * g[0] + g[1] * g[1]) : g[2];
    return stn_natural_map_cone(mu, form.omega, shifted, gamma, g);
}

/// Squares of the maps [m^2/s^2] of a cone or ellipse. omega = 1/rho: e = |omega gamma - P(omega gamma - g)|, for cones
/// are cones in any unit.
static inline double natural_map_cone(const stn_constraint *constraint, natural_form form, const double *gamma,
                                      const double *g) {
    return constraint->set == STN_SET_CONE ? natural_map_circle(constraint->mu1, form, gamma, g)
                                           : natural_map_ellipse(constraint, form, gamma, g);
}
/// 1 where the trace is 0.
static inline double natural_map_omega(int32_t rows, double trace) {
    return trace == 0.0 ? 1.0 : trace / rows;
}

#endif
