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
#include <math.h>

#include "sap.h"

// lanes do not depend on each other, and outputs never share an array with inputs
#ifdef __clang__
#define LANE_LOOP
#else
#define LANE_LOOP _Pragma("GCC ivdep")
#endif

/// One contact; without branches, so that the loop around it becomes vector code.
SAP_INLINE void anticipate_lane(size_t stride, const double *gamma, const double *G, const double *predicted,
                                double *out) {
    double g1 = gamma[0], g2 = gamma[stride], gn = gamma[2 * stride];
    double size = g1 * g1 + g2 * g2;
    bool rubs = (size > 1e-200) & (gn > 0.0);
    double inverse = 1.0 / sqrt(rubs ? size : 1.0);
    double t1 = g1 * inverse, t2 = g2 * inverse;

    // with v_n free to follow, stick and slide both have the tangent stiffness of friction alone
    double g11 = G[0], g12 = G[stride], g22 = G[2 * stride], gnn = G[5 * stride];
    double secant = g11 * t2 * t2 - 2.0 * g12 * t1 * t2 + g22 * t1 * t1;
    double along = g11 * t1 * t1 + 2.0 * g12 * t1 * t2 + g22 * t2 * t2;
    double coupling = G[3 * stride] * t1 + G[4 * stride] * t2;
    double missing = secant - (along - coupling * coupling / (gnn > 0.0 ? gnn : 1.0));
    bool slides = rubs & (missing > 1e-6 * secant); // else round-off

    // what is predicted beyond the cone lies on it
    double p1 = predicted[0], p2 = predicted[stride], pn = predicted[2 * stride];
    double mu = slides ? size * inverse / gn : 1.0;
    double limit = mu * pn, reach = sqrt(p1 * p1 + p2 * p2);
    double shrink = reach > limit ? limit / reach : 1.0;
    double share = (limit - shrink * (p1 * t1 + p2 * t2)) / (mu * (pn > gn ? pn : gn));
    share = share < 1.0 ? share : 1.0;
    double k = slides & (pn > 0.0) & (share > 0.01) ? share * missing : 0.0; // less: it slides on, as Newton has it

    out[0] = g11 + k * t1 * t1;
    out[stride] = g12 + k * t1 * t2;
    out[2 * stride] = g22 + k * t2 * t2;
    out[3 * stride] = G[3 * stride];
    out[4 * stride] = G[4 * stride];
    out[5 * stride] = gnn;
}

SAP_KERNEL void sap_anticipate(const sap_system *s, double *out) {
    const size_t stride = (size_t)s->batch.stride;
    const double *gamma = s->now.gamma, *G = s->now.G, *predicted = s->predicted;
    LANE_LOOP
    for (size_t i = 0; i < stride; i++) {
        anticipate_lane(stride, gamma + i, G + i, predicted + i, out + i);
    }
}

SAP_KERNEL void sap_predict(const sap_system *s) {
    const size_t stride = (size_t)s->batch.stride;
    const double *gamma = s->now.gamma, *G = s->H_G, *dv = s->dv_c;
    double *out = s->predicted;
    LANE_LOOP
    for (size_t i = 0; i < stride; i++) {
        double x = dv[i], y = dv[i + stride], n = dv[i + 2 * stride];
        out[i] = gamma[i] - (G[i] * x + G[i + stride] * y + G[i + 3 * stride] * n);
        out[i + stride] = gamma[i + stride] - (G[i + stride] * x + G[i + 2 * stride] * y + G[i + 4 * stride] * n);
        out[i + 2 * stride] =
            gamma[i + 2 * stride] - (G[i + 3 * stride] * x + G[i + 4 * stride] * y + G[i + 5 * stride] * n);
    }
}
