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

// On a circular cone. Most contacts are inside or in the polar cone, where no root is needed; a NaN falls through both.
static double circular_map(double mu, bool coulomb, double omega, const double *gamma, const double *g) {
    double shifted = coulomb ? g[2] + mu * sqrt(g[0] * g[0] + g[1] * g[1]) : g[2];
    double impulse[3] = {omega * gamma[0], omega * gamma[1], omega * gamma[2]};
    double x[3] = {impulse[0] - g[0], impulse[1] - g[1], impulse[2] - shifted};
    double t2 = x[0] * x[0] + x[1] * x[1];
    if (x[2] >= 0.0 && t2 <= mu * mu * x[2] * x[2]) {
        return g[0] * g[0] + g[1] * g[1] + shifted * shifted;
    }
    if (x[2] <= 0.0 && mu * mu * t2 <= x[2] * x[2]) {
        return impulse[0] * impulse[0] + impulse[1] * impulse[1] + impulse[2] * impulse[2];
    }
    double t = sqrt(t2), n = (x[2] + mu * t) / (1.0 + mu * mu), s = mu * n / t;
    double d[3] = {impulse[0] - s * x[0], impulse[1] - s * x[1], impulse[2] - n};
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

double natural_map_cone(const stn_constraint *constraint, bool coulomb, double omega, const double *gamma,
                        const double *g) {
    if (constraint->set == STN_SET_CONE) {
        return circular_map(constraint->mu1, coulomb, omega, gamma, g);
    }
    circular c = circular_of(constraint, gamma, g);
    double forbidden = omega * c.forbidden;
    return forbidden * forbidden + circular_map(c.mu, coulomb, omega, c.gamma, c.g);
}

double natural_map_box(int32_t rows, double omega, const double *lo, const double *hi, const double *gamma,
                       const double *g) {
    double square = 0.0;
    for (int32_t r = 0; r < rows; r++) {
        double d = g[r]; // free rows: the map is g itself, without the rounding of gamma - (gamma - rho g)
        if (lo[r] > -(double)INFINITY || hi[r] < (double)INFINITY) {
            double x = omega * gamma[r] - g[r], low = omega * lo[r], high = omega * hi[r];
            d = omega * gamma[r] - (x < low ? low : (x > high ? high : x));
        }
        square += d * d;
    }
    return square;
}
