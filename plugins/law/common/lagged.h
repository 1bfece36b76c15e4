// SPDX-License-Identifier: Apache-2.0
// Friction with the normal impulse of the step before, beside any normal law: the potential is a sum, and stays convex.
//
//     l = l_n(v_n) + p |v_t|_s,   p = mu gamma_n0,   |v_t|_s = s - e,   s = sqrt(|v_t|^2 + e^2)
//     gamma_t = -p v_t/s,         G_t = p (I - v_t v_t^T/s^2)/s
//
// s - e = |v_t|^2/(s + e) and 1 - v_1^2/s^2 = (v_2^2 + e^2)/s^2: nothing cancels near v_t = 0.
#ifndef STICTION_LAW_COMMON_LAGGED_H
#define STICTION_LAW_COMMON_LAGGED_H

#include <math.h>
#include <stddef.h>

#include "common/contact.h"
#include "common/law_lanes.h"

/// The first coefficients of a lane; those of the normal law follow from LAGGED_COUNT on.
enum { LAGGED_LIMIT, LAGGED_EPSILON, LAGGED_COUNT };

/// `force`: elastic normal force now, at least 0; gamma_n0 = dt force (1 - d v_n0)+ unless the problem states it.
static inline double lagged_impulse(const law_contact *c, double force) {
    double damping = 1.0 - c->dissipation * c->normal_speed;
    double impulse = isnan(c->normal_impulse) ? c->dt * force * (damping > 0.0 ? damping : 0.0) : c->normal_impulse;
    return impulse > 0.0 ? impulse : 0.0;
}

/// One contact: cost, normal impulse n(v_n) >= 0 and slope -n'(v_n) >= 0 of the normal law.
typedef void lagged_normal(const void *self, const double *lane, size_t stride, double v_n, double *cost, double *n,
                           double *slope);

STN_KERNEL_INLINE void lagged_lane(const void *self, const double *c, size_t stride, const double *v_c, double *cost,
                                   double *gamma, double *G, lagged_normal *normal) {
    double v1 = v_c[0], v2 = v_c[stride], p = c[LAGGED_LIMIT * stride], e = c[LAGGED_EPSILON * stride];
    double slip2 = v1 * v1 + v2 * v2, s = sqrt(slip2 + e * e), s_inv = 1.0 / s;
    double cost_n, n, slope;
    normal(self, c + LAGGED_COUNT * stride, stride, v_c[2 * stride], &cost_n, &n, &slope);
    double secant = p * s_inv;
    cost[0] = cost_n + p * (slip2 / (s + e));
    gamma[0] = -secant * v1;
    gamma[stride] = -secant * v2;
    gamma[2 * stride] = n;
    if (G == NULL) {
        return;
    }
    double t1 = v1 * s_inv, t2 = v2 * s_inv, rest = e * s_inv * (e * s_inv);
    G[0] = secant * (t2 * t2 + rest);
    G[stride] = -secant * (t1 * t2);
    G[2 * stride] = secant * (t1 * t1 + rest);
    G[3 * stride] = G[4 * stride] = 0.0;
    G[5 * stride] = slope;
}

/// Friction |v_t|/s of a soft norm only tends to its limit; it has 99 % of it at |v_t| = 0.99/sqrt(1 - 0.99^2) e.
static const double soft_norm_transition = 7.0179238;

/// The slip of such a law. Its instance begins with its stiction_tolerance, the e of its friction [m/s].
static inline void lagged_slip(const void *self, const stn_problem *problem, int32_t constraint, const double *v_c,
                               const double *gamma, stn_law_slip *out) {
    (void)constraint;
    (void)v_c;
    (void)gamma;
    double e = law_stated(problem->stiction_tolerance, *(const double *)self);
    *out = (stn_law_slip){.transition_speed = soft_norm_transition * e};
}

/// Of the same instances.
static inline double lagged_slip_tolerance(const void *self) {
    return *(const double *)self;
}

#define LAGGED_BEGINS(type) \
    _Static_assert(offsetof(type, stiction_tolerance) == 0, #type " begins with what lagged_slip reads")

/// The reach of such a law: friction of a step needs a normal impulse before touch.
static inline double lagged_reach(const void *self, double dt, const stn_constraint *c, double normal_speed,
                                  double slip_speed) {
    (void)self;
    (void)c;
    (void)slip_speed;
    return 2.0 * dt * fabs(normal_speed);
}

/// The evaluate of such a law. `normal` is a constant where it is called, so that it becomes part of the loop.
STN_KERNEL_INLINE void lagged_evaluate(const void *self, const stn_law_batch *batch, const double *v_c, double *cost,
                                       double *gamma, double *G, lagged_normal *normal) {
    const size_t stride = (size_t)batch->stride, lanes = (size_t)stn_law_lanes(batch);
    const double *c = batch->coefficients;
    if (G == NULL) {
        LANE_LOOP
        for (size_t i = 0; i < lanes; i++) {
            lagged_lane(self, c + i, stride, v_c + i, cost + i, gamma + i, NULL, normal);
        }
        return;
    }
    LANE_LOOP
    for (size_t i = 0; i < lanes; i++) {
        lagged_lane(self, c + i, stride, v_c + i, cost + i, gamma + i, G + i, normal);
    }
}

#endif
