// SPDX-License-Identifier: Apache-2.0
// See natural_map.h.
#include "problem/natural_map.h"

// One tangent in circular variables.
static void scale_tangent(double mu_here, double mu, double gamma, double g, double *gamma_out, double *g_out,
                          double *forbidden) {
    bool frictionless = mu_here == 0.0;
    *gamma_out = frictionless ? 0.0 : gamma * (mu / mu_here);
    *g_out = frictionless ? 0.0 : g * (mu_here / mu);
    *forbidden = frictionless ? gamma : 0.0;
}

circular circular_of(const stn_constraint *constraint, const double *gamma, const double *g) {
    bool ellipse = constraint->set == STN_SET_ELLIPSE;
    circular c = {.gamma = {gamma[0], gamma[1], gamma[2]}, .g = {g[0], g[1], g[2]}, .mu = constraint->mu1};
    if (ellipse && constraint->mu2 != constraint->mu1) {
        double forbidden[2];
        c.mu = worst(constraint->mu1, constraint->mu2);
        scale_tangent(constraint->mu1, c.mu, gamma[0], g[0], &c.gamma[0], &c.g[0], &forbidden[0]);
        scale_tangent(constraint->mu2, c.mu, gamma[1], g[1], &c.gamma[1], &c.g[1], &forbidden[1]);
        c.forbidden = forbidden[0] + forbidden[1]; // one of them is 0
    }
    return c;
}

double natural_map_cone(const stn_constraint *constraint, bool coulomb, double rho, const double *gamma,
                        const double *g) {
    circular c = circular_of(constraint, gamma, g);
    double shift = coulomb ? c.mu * sqrt(c.g[0] * c.g[0] + c.g[1] * c.g[1]) : 0.0;
    double x[3] = {c.gamma[0] - rho * c.g[0], c.gamma[1] - rho * c.g[1], c.gamma[2] - rho * (c.g[2] + shift)};
    stn_cone_project(c.mu, x);
    double square = c.forbidden * c.forbidden;
    for (int32_t k = 0; k < 3; k++) {
        double d = c.gamma[k] - x[k];
        square += d * d;
    }
    return sqrt(square) / rho;
}

double natural_map_box(int32_t rows, double rho, const double *lo, const double *hi, const double *gamma,
                       const double *g) {
    double square = 0.0;
    for (int32_t r = 0; r < rows; r++) {
        double d = g[r]; // free rows: the map is g itself, without the rounding of gamma - (gamma - rho g)
        if (lo[r] > -(double)INFINITY || hi[r] < (double)INFINITY) {
            double x = gamma[r] - rho * g[r];
            d = (gamma[r] - (x < lo[r] ? lo[r] : (x > hi[r] ? hi[r] : x))) / rho;
        }
        square += d * d;
    }
    return sqrt(square);
}
