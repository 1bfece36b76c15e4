// SPDX-License-Identifier: Apache-2.0
// See natural_map.h.
#include "problem/natural_map.h"

circular circular_of(const stn_constraint *constraint, const double *gamma, const double *g) {
    const double mu[2] = {constraint->mu1, constraint->mu2};
    circular c = {.gamma = {gamma[0], gamma[1], gamma[2]}, .g = {g[0], g[1], g[2]}, .mu = mu[0]};
    if (constraint->set == STN_SET_ELLIPSE && mu[1] != mu[0]) {
        double forbidden[2];
        c.mu = worst(mu[0], mu[1]);
        for (int32_t k = 0; k < 2; k++) {
            bool frictionless = mu[k] == 0.0;
            c.gamma[k] = frictionless ? 0.0 : gamma[k] * (c.mu / mu[k]);
            c.g[k] = frictionless ? 0.0 : g[k] * (mu[k] / c.mu);
            forbidden[k] = frictionless ? gamma[k] : 0.0;
        }
        c.forbidden = forbidden[0] + forbidden[1]; // one of them is 0
    }
    return c;
}

double natural_map_ellipse(const stn_constraint *constraint, natural_form form, const double *gamma, const double *g) {
    circular c = circular_of(constraint, gamma, g);
    double forbidden = form.omega * c.forbidden;
    return forbidden * forbidden + natural_map_circle(c.mu, form, c.gamma, c.g);
}
