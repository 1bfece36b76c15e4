// SPDX-License-Identifier: Apache-2.0
// Friction in Newton's model of a contact that slides now and sticks, or turns, after the step.
//
// The Hessian of the potential has no stiffness along the slip t = gamma_t/|gamma_t|: a sliding contact resists with
// mu gamma_n however far it is slowed down. The Newton step carries such contacts through zero slip, where friction
// changes sign, and the line search stops it at one of these kinks after the other. Whether a contact will stick is
// known from the impulse p that the model of the step before predicted for it: p lies inside the cone. The model then
// gets the stiffness at which friction falls from mu gamma_n at the present slip to p at zero slip,
//
//     G + k t t^T,    k = (k_s - k_t) (mu p_n - t.p_t)/(mu max(p_n, gamma_n))
//
// with the secant stiffness k_s = |gamma_t|/slip, which is also that of G across t, and the tangent stiffness k_t along
// t, normal impulse held. A contact that goes on sliding has p_t = mu p_n t, hence k = 0 and Newton's own model: the
// gradient stays that of the cost, and so do the solution and the fast convergence at the end. It is the primal-dual
// Newton method of total variation (Chan, Golub, Mulet 1999) for friction, p being the dual variable.
//
// Where G does not couple slip and normal velocity, friction has the limit |gamma_t| whatever becomes of the normal
// impulse (lagged friction): with p_n = gamma_n, k = (k_s - k_t) (1 - t.p_t/|gamma_t|). A contact of an elliptic cone
// that sticks shows no coupling either; laws that take such cones have no lagged friction.
//
// anticipate = false leaves all of this out: G is then the Hessian of the potential alone, Newton's method as
// published.
#include <math.h>

#include "system.h"

typedef int64_t mask4 __attribute__((vector_size(32), may_alias));

STN_KERNEL_INLINE v4 pick(mask4 mask, v4 a, v4 b) {
    return (v4)((mask & (mask4)a) | (~mask & (mask4)b));
}

STN_KERNEL_INLINE bool any(mask4 m) {
    return (m[0] | m[1] | m[2] | m[3]) != 0;
}

STN_KERNEL_INLINE v4 root(v4 x) {
    v4 r;
    for (int32_t i = 0; i < 4; i++) {
        r[i] = sqrt(x[i]);
    }
    return r;
}

/// g (11, 12, 22, 13, 23, 33) of four contacts into H_G; marks the lanes where it was another.
STN_KERNEL_INLINE void keep(const sap_system *s, size_t at, const v4 *g) {
    const size_t stride = (size_t)s->batch.stride;
    double *H_G = s->H_G + at;
    mask4 changed = {0};
    for (size_t e = 0; e < 6; e++) {
        changed |= (mask4)(g[e] != v4_load(H_G + e * stride));
        v4_store(H_G + e * stride, g[e]);
    }
    *(mask4 *)(s->changed + at) = changed;
}

/// Four contacts as the law has them.
STN_KERNEL_INLINE void keep_lanes(const sap_system *s, size_t at) {
    v4 g[6];
    for (size_t e = 0; e < 6; e++) {
        g[e] = v4_load(s->now.G + at + e * (size_t)s->batch.stride);
    }
    keep(s, at, g);
}

/// Four contacts with the stiffness of those that will stick. `elliptic`, whether the law takes such cones, is a
/// constant where it is called.
STN_KERNEL_INLINE void anticipate_lanes(const sap_system *s, size_t at, bool elliptic) {
    const size_t stride = (size_t)s->batch.stride;
    const double *gamma = s->now.gamma + at, *G = s->now.G + at, *predicted = s->predicted + at;
    const v4 zero = {0.0}, one = {1.0, 1.0, 1.0, 1.0};
    v4 g1 = v4_load(gamma), g2 = v4_load(gamma + stride), gn = v4_load(gamma + 2 * stride);
    v4 g[6];
    for (size_t e = 0; e < 6; e++) {
        g[e] = v4_load(G + e * stride);
    }
    v4 square = g1 * g1 + g2 * g2;
    mask4 rubs = (mask4)(square > 1e-200 * one);

    // times |gamma_t|^2; with v_n free to follow, stick and slide both have the tangent stiffness of friction alone
    v4 coupling = g[3] * g1 + g[4] * g2, mixed = 2.0 * g[1] * g1 * g2;
    v4 secant = g[0] * g2 * g2 - mixed + g[2] * g1 * g1;
    v4 along = g[0] * g1 * g1 + mixed + g[2] * g2 * g2;
    v4 missing = secant - (along - coupling * coupling / pick((mask4)(g[5] > zero), g[5], one));
    mask4 slides = rubs & (mask4)(missing > 1e-6 * secant); // else round-off
    if (any(slides)) {
        square = pick(slides, square, one);
        v4 inverse = one / square;
        // (mu p_n - t.p_t)/(mu max(p_n, gamma_n)), mu = |gamma_t|/gamma_n: 0 for those that slide on, at most 1. What
        // is predicted beyond the cone lies on it.
        v4 p1 = v4_load(predicted), p2 = v4_load(predicted + stride), pn = v4_load(predicted + 2 * stride);
        mask4 follows = slides;
        if (!elliptic) {
            follows &= (mask4)(coupling != zero);
            pn = pick(follows, pick((mask4)(gn > zero), pn, zero), one); // one that pulls: as Newton has it
        }
        gn = pick(follows, gn, one);
        v4 limit = pn * pn * square, reach = gn * gn * (p1 * p1 + p2 * p2);
        mask4 beyond = (mask4)(reach > limit);
        v4 shrink = root(pick(beyond, limit, one) / pick(beyond, reach, one));
        v4 share = (pn - shrink * gn * (p1 * g1 + p2 * g2) * inverse) / pick((mask4)(pn > gn), pn, gn);
        share = pick((mask4)(share < one), share, one);
        share = pick((mask4)(pn > zero) & (mask4)(share > 0.01 * one), share, zero); // less: as Newton has it
        v4 k = pick(slides, share * missing * inverse * inverse, zero);
        g[0] += k * g1 * g1;
        g[1] += k * g1 * g2;
        g[2] += k * g2 * g2;
    }
    keep(s, at, g);
}

STN_KERNEL static void anticipate(void *user, int32_t begin, int32_t end, int32_t worker) {
    (void)worker;
    const sap_system *s = user;
    const size_t last = (size_t)end;
    const bool plain = !s->config->anticipate;
    const bool elliptic = !plain && end > begin && (s->control->law->ops->sets & 1u << STN_SET_ELLIPSE) != 0;
    for (size_t i = (size_t)begin; i < last && plain; i += 4) {
        keep_lanes(s, i);
    }
    for (size_t i = (size_t)begin; i < last && elliptic; i += 4) {
        anticipate_lanes(s, i, true);
    }
    for (size_t i = (size_t)begin; i < last && !plain && !elliptic; i += 4) {
        anticipate_lanes(s, i, false);
    }
}

void sap_anticipate(sap_system *s) {
    augmented_parallel(&s->H, s->batch.stride, 4 * SAP_LANES, anticipate, s);
}

STN_KERNEL static void predict(void *user, int32_t begin, int32_t end, int32_t worker) {
    (void)worker;
    const sap_system *s = user;
    const size_t stride = (size_t)s->batch.stride;
    const double *gamma = s->now.gamma, *G = s->H_G, *dv = s->dv_c;
    double *out = s->predicted;
    for (size_t i = (size_t)begin; i < (size_t)end; i++) {
        double x = dv[i], y = dv[i + stride], n = dv[i + 2 * stride];
        out[i] = gamma[i] - (G[i] * x + G[i + stride] * y + G[i + 3 * stride] * n);
        out[i + stride] = gamma[i + stride] - (G[i + stride] * x + G[i + 2 * stride] * y + G[i + 4 * stride] * n);
        out[i + 2 * stride] =
            gamma[i + 2 * stride] - (G[i + 3 * stride] * x + G[i + 4 * stride] * y + G[i + 5 * stride] * n);
    }
}

void sap_predict(sap_system *s) {
    augmented_parallel(&s->H, s->batch.stride, 4 * SAP_LANES, predict, s);
}
