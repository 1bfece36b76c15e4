// SPDX-License-Identifier: Apache-2.0
// The laws over all constraints, and what Newton's method derives from its present point.
#include <math.h>

#include "system.h"

void sap_evaluate(sap_system *s, sap_point *at) {
    at->cost = 0.0;
    if (s->batch.count > 0) {
        const stn_law *law = s->control->law;
        law->ops->evaluate(law->self, &s->batch, at->v, s->lane_cost, at->gamma, at->G);
        for (int32_t i = 0; i < s->batch.count; i++) {
            at->cost += s->lane_cost[i];
        }
    }
    for (int32_t i = 0; i < s->H.line_count; i++) {
        at->cost += stn_box_law(at->line_v[i], s->line_R[i], s->line_v_hat[i], s->line_lo[i], s->line_hi[i],
                                &at->line_gamma[i], &at->line_G[i]);
    }
}

STN_KERNEL static void add(int32_t n, const double *x, double *y) {
    for (int32_t i = 0; i < n; i++) {
        y[i] += x[i];
    }
}

void sap_refresh(sap_system *s) {
    for (int32_t i = 0; i < s->H.nx; i++) {
        s->dv[i] = s->v[i] - s->v_star[i];
    }
    augmented_mass_times(&s->H, s->dv, s->p);
    augmented_jacobian_times(&s->H, s->v, s->now.v, s->now.line_v);
    add(3 * s->batch.stride, s->bias, s->now.v);
    add(s->H.line_stride, s->line_bias, s->now.line_v);
    sap_evaluate(s, &s->now);
    s->cost = 0.5 * padded_dot(s->H.nx, s->dv, s->p) - padded_dot(s->H.nx, s->force, s->v) + s->now.cost;
}

STN_KERNEL void sap_gradient(sap_system *s) {
    augmented_jacobian_transposed(&s->H, s->now.gamma, s->now.line_gamma, s->j);
    for (int32_t i = 0; i < s->H.nx; i++) {
        s->gradient[i] = s->p[i] - s->j[i] - s->force[i];
        s->Av[i] = s->p[i] + s->A_v_star[i];
    }
}
