// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_CERTIFICATE_H
#define STICTION_CORE_CERTIFICATE_H

#include <stiction/certificate.h>

/// The larger one, or NaN when either is: fmax would drop it.
static inline double worst(double a, double b) {
    return isnan(a) || a > b ? a : b;
}

static inline bool is_contact(const stn_constraint *c) {
    return c->set == STN_SET_CONE || c->set == STN_SET_ELLIPSE;
}

/// |(g_1/mu1, g_2/mu2)|; a direction without friction counts only when it carries an impulse.
static inline double ellipse_norm(const stn_constraint *c, const double *g) {
    double a = g[0] == 0.0 ? 0.0 : g[0] / c->mu1, b = g[1] == 0.0 ? 0.0 : g[1] / c->mu2;
    return hypot(a, b);
}

// natural_map.c
void certify_natural(const stn_problem *problem, const double *v_c, const double *gamma, stn_certificate *out);
stn_status certify_scaled(const stn_problem *problem, const double *gamma, const stn_inverse *inverse, stn_arena *scratch,
                          stn_certificate *out, stn_error *err);
// law_residual.c
stn_status certify_law(const stn_problem *problem, const double *v, const double *gamma, const stn_law *law,
                       const void *law_memory, stn_arena *scratch, stn_certificate *out, stn_error *err);

#endif
