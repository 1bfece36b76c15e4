// SPDX-License-Identifier: Apache-2.0
// Hertz contact with the dissipation of Hunt and Crossley, and lagged friction (law/common/lagged.h). With x0 = -phi0,
//
//     n(v) = dt k_h (x0 - dt v)+^(3/2) (1 - d v)+,   k_h = k/sqrt(indentation)                    [hunt-1975]
//
// It is zero from vh = min(x0/dt, 1/d) on. With u = (vh - v)+, the penetration w = w_h + dt u after the step and w_h at
// vh, c = 1 - d vh >= 0, a = sqrt(w), b = sqrt(w_h):
//
//     -N = k_h (c P + d/dt Q),   P = int w^(3/2) = 2/5 (a - b)(a^4 + a^3 b + a^2 b^2 + a b^3 + b^4)
//     Q = int w^(3/2) (w - w_h) = 2/35 (a - b)^2 (5 a^5 + 10 a^4 b + 8 a^3 b^2 + 6 a^2 b^3 + 4 a b^4 + 2 b^5)
//
// where a - b = dt u/(a + b): nothing cancels.
#include "common/contact.h"
#include "common/lagged.h"
#include "common/law_lanes.h"

typedef struct hertz_config {
    double stiction_tolerance, indentation, beta;
} hertz_config;
LAGGED_BEGINS(hertz_config);

static const stn_param params[] = {
    STN_PARAM_REAL(hertz_config, indentation, "m", 1e-4, 1e-12, 1e3,
                   "where the force is that of a linear spring of the contact's stiffness"),
    STN_PARAM_REAL(hertz_config, stiction_tolerance, "m/s", 1e-4, 1e-12, 1e3, "slip that friction is smoothed over"),
    STN_PARAM_REAL(hertz_config, beta, "1", 1.0, 1e-3, 1e3,
                   "of rigid contacts alone: stiffness of a mode of period beta dt"),
};

enum { BOUND, STEP, DEEP, FACTOR, STIFFNESS, DISSIPATION, NORMAL_COUNT }; // vh, dt, w_h, c, k_h, d

static double positive(double x) {
    return x > 0.0 ? x : 0.0;
}

static void fill(const void *self, const law_contact *contact, double *lane, size_t stride) {
    const hertz_config *config = self;
    double dt = contact->dt, d = contact->dissipation, x0 = -contact->phi0;
    double touch = x0 / dt, rebound = d > 0.0 ? 1.0 / d : (double)INFINITY;
    bool touching = touch < rebound; // where n ends
    double stiffness = contact->stiffness / sqrt(config->indentation);
    lane[LAGGED_LIMIT * stride] = contact->mu * lagged_impulse(contact, stiffness * pow(positive(x0), 1.5));
    lane[LAGGED_EPSILON * stride] = contact->stiction_tolerance;
    lane += LAGGED_COUNT * stride;
    lane[BOUND * stride] = touching ? touch : rebound;
    lane[STEP * stride] = dt;
    lane[DEEP * stride] = touching ? 0.0 : positive(x0 - dt * rebound);
    lane[FACTOR * stride] = touching ? positive(1.0 - d * touch) : 0.0;
    lane[STIFFNESS * stride] = stiffness;
    lane[DISSIPATION * stride] = d;
}

STN_KERNEL_INLINE void hertz(const void *self, const double *lane, size_t stride, double v, double *cost, double *n,
                             double *slope) {
    (void)self;
    double dt = lane[STEP * stride], k = lane[STIFFNESS * stride], d = lane[DISSIPATION * stride];
    double c = lane[FACTOR * stride], deep = lane[DEEP * stride], u = lane[BOUND * stride] - v;
    bool open = !(u > 0.0);
    u = open ? 0.0 : u;
    double w = deep + dt * u, a = sqrt(w), b = sqrt(deep), sum = a + b;
    double apart = dt * u / (sum > 0.0 ? sum : 1.0); // a - b
    double a2 = a * a, b2 = b * b, ab = a * b;
    double P = 0.4 * apart * (a2 * a2 + ab * (a2 + ab + b2) + b2 * b2);
    double Q = (2.0 / 35.0) * apart * apart *
               (a * (a2 * (5.0 * a2 + 10.0 * ab + 8.0 * b2) + b2 * (6.0 * ab + 4.0 * b2)) + 2.0 * b2 * b2 * b);
    double factor = c + d * u, power = w * a;
    *cost = k * (c * P + d / dt * Q);
    *n = open ? 0.0 : dt * k * power * factor;
    *slope = open ? 0.0 : dt * k * (1.5 * dt * a * factor + d * power);
}

static stn_status prepare(const void *self, const stn_problem *problem, const stn_law_batch *batch, const void *memory,
                          stn_error *err) {
    (void)memory;
    const hertz_config *config = self;
    const law_rules rules = {.id = "hertz",
                             .beta = config->beta,
                             .stiction_tolerance = config->stiction_tolerance,
                             .lagged = true,
                             .fill = fill,
                             .points_alone = true};
    return law_prepare(&rules, self, problem, batch, err);
}

STN_KERNEL static void evaluate(const void *self, const stn_law_batch *batch, const double *v_c, double *cost,
                                double *gamma, double *G) {
    lagged_evaluate(self, batch, v_c, cost, gamma, G, hertz);
}

/// 2/5 k_h x^(5/2).
static double stored(const void *self, const stn_problem *problem, int32_t constraint, double gap) {
    const hertz_config *config = self;
    double k = law_stiffness(problem, constraint, config->beta) / sqrt(config->indentation), x = positive(-gap);
    return 0.4 * k * x * x * sqrt(x);
}

static const stn_law_ops ops = {
    .size = sizeof ops,
    .coefficient_count = (int32_t)LAGGED_COUNT + (int32_t)NORMAL_COUNT,
    .sets = 1u << STN_SET_CONE,
    .reach = lagged_reach,
    .prepare = prepare,
    .evaluate = evaluate,
    .slip = lagged_slip,
    .stored = stored,
    .slip_tolerance = lagged_slip_tolerance,
};

static const char *const reads[] = {"dissipation", "lagged", NULL};

static const stn_plugin_desc desc = {
    .size = sizeof desc,
    .kind = STN_KIND_LAW,
    .id = "hertz",
    .version = "0.1.0",
    .summary = "Hertz contact, force as penetration^1.5, with dissipation and lagged friction",
    .reference = "hunt-1975; castro-2023 section IV",
    .capabilities = reads,
    .config_size = sizeof(hertz_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.law = &ops,
};
STN_PLUGIN_LIBRARY(&desc);
