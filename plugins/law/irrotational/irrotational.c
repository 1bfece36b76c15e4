// SPDX-License-Identifier: Apache-2.0
// Irrotational contact fields [castro-2023]: Hunt-Crossley normal force with three couplings to friction, each a convex
// potential of the contact velocity.
//
//     n(v) = dt (k x0 - dt k v)+ (1 - d v)+,   x0 = -phi0                                          Hunt-Crossley
//     lagged       l = -N(v_n) + mu gamma_n0 |v_t|_s,   N' = n,   gamma_n0 = dt k x0+ (1 - d v_n0)+
//     similar      l = -N(z),   z = v_n - mu |v_t|_s
//     |v_t|_s = sqrt(|v_t|^2 + e^2) - e,   e = v_s; lagged_regularized: e = max(v_s, sigma w mu gamma_n0)   F(44)
//
// n is zero from vh = min(x0/dt, 1/d) on. With u = (vh - v)+ and n's factors at vh, F = dt k (x0/dt - vh) and
// c = 1 - d vh, one of them zero and none negative,
//
//     n = u (a + b u),   -n' = a + 2 b u,   -N = u^2 (a/2 + b u/3),   a = dt (F d + dt k c),   b = dt^2 k d
//
// exact for k = 0 and d = 0, zero where the contact is open, and nothing cancels.
#include "common/contact.h"
#include "common/lagged.h"
#include "common/law_lanes.h"

/// Which normal impulse lagged friction takes.
typedef enum lag { LAG_IMPULSE, LAG_GAP } lag;
static const char *const lags[] = {"impulse", "gap", NULL};

typedef struct irrotational_config {
    double stiction_tolerance, beta, sigma;
    int32_t lag;
} irrotational_config;
LAGGED_BEGINS(irrotational_config);

#define TOLERANCE_PARAM                                                                                      \
    STN_PARAM_REAL(irrotational_config, stiction_tolerance, "m/s", 1e-4, 1e-12, 1e3,                         \
                   "v_s: slip at which friction comes to 1/sqrt(2) of its limit; stick creeps at v_s times " \
                   "the load ratio")
#define BETA_PARAM                                                 \
    STN_PARAM_REAL(irrotational_config, beta, "1", 1.0, 1e-3, 1e3, \
                   "of rigid contacts alone: stiffness of a mode of period beta dt")
#define SIGMA_PARAM                                                   \
    STN_PARAM_REAL(irrotational_config, sigma, "1", 1e-3, 1e-12, 1e6, \
                   "friction as soft as SAP's where that is softer: e = max(v_s, sigma w mu gamma_n0)")

#define LAG_PARAM                                                                                                    \
    STN_PARAM_CHOICE(irrotational_config, lag, lags, 0,                                                              \
                     "normal impulse that friction takes: impulse: of the step before; gap: as published, what the " \
                     "gap promises, which is nothing on convex surfaces")

static const stn_param params[] = {TOLERANCE_PARAM, BETA_PARAM, LAG_PARAM};
static const stn_param regularized_params[] = {TOLERANCE_PARAM, BETA_PARAM, SIGMA_PARAM, LAG_PARAM};
static const stn_param similar_params[] = {TOLERANCE_PARAM, BETA_PARAM};

static double positive(double x) {
    return x > 0.0 ? x : 0.0;
}

// --------------------------------------------------------------------------------------------------- Hunt-Crossley

enum { BOUND, LINEAR, QUADRATIC, NORMAL_COUNT }; // vh, a, b

static void fill_normal(const law_contact *contact, double *lane, size_t stride) {
    double dt = contact->dt, k = contact->stiffness, d = contact->dissipation;
    double touch = -contact->phi0 / dt, rebound = d > 0.0 ? 1.0 / d : (double)INFINITY;
    double bound = touch < rebound ? touch : rebound;
    double factor = touch < rebound ? 1.0 - d * touch : 0.0; // c
    double force = dt * k * (touch - bound);                 // F
    lane[BOUND * stride] = bound;
    lane[LINEAR * stride] = dt * (force * d + dt * k * positive(factor));
    lane[QUADRATIC * stride] = dt * dt * k * d;
}

STN_KERNEL_INLINE void hunt_crossley(const void *self, const double *lane, size_t stride, double v, double *cost,
                                     double *n, double *slope) {
    (void)self;
    double a = lane[LINEAR * stride], b = lane[QUADRATIC * stride], u = lane[BOUND * stride] - v;
    bool open = !(u > 0.0);
    u = open ? 0.0 : u;
    *cost = u * u * (0.5 * a + b * u * (1.0 / 3.0));
    *n = u * (a + b * u);
    *slope = open ? 0.0 : a + 2.0 * b * u;
}

// --------------------------------------------------------------------------------------------------------- lagged

static void fill_lagged(const void *self, const law_contact *contact, double *lane, size_t stride) {
    (void)self;
    lane[LAGGED_LIMIT * stride] = contact->mu * lagged_impulse(contact, contact->stiffness * positive(-contact->phi0));
    lane[LAGGED_EPSILON * stride] = contact->stiction_tolerance;
    fill_normal(contact, lane + LAGGED_COUNT * stride, stride);
}

static void fill_regularized(const void *self, const law_contact *contact, double *lane, size_t stride) {
    fill_lagged(self, contact, lane, stride);
    double soft = contact->sigma * contact->w * lane[LAGGED_LIMIT * stride];
    double *epsilon = &lane[LAGGED_EPSILON * stride];
    *epsilon = soft > *epsilon ? soft : *epsilon;
}

static law_rules rules_of(const void *self) {
    const irrotational_config *config = self;
    return (law_rules){.id = "lagged",
                       .beta = config->beta,
                       .stiction_tolerance = config->stiction_tolerance,
                       .lagged = true,
                       .guess = config->lag == LAG_GAP,
                       .fill = fill_lagged};
}

static stn_status prepare_lagged(const void *self, const stn_problem *problem, const stn_law_batch *batch,
                                 const void *memory, stn_error *err) {
    (void)memory;
    const law_rules rules = rules_of(self);
    return law_prepare(&rules, self, problem, batch, err);
}

static law_rules regularized_rules(const void *self) {
    law_rules rules = rules_of(self);
    rules.id = "lagged_regularized";
    rules.sigma = ((const irrotational_config *)self)->sigma;
    rules.fill = fill_regularized;
    return rules;
}

static stn_status prepare_regularized(const void *self, const stn_problem *problem, const stn_law_batch *batch,
                                      const void *memory, stn_error *err) {
    (void)memory;
    const law_rules rules = regularized_rules(self);
    return law_prepare(&rules, self, problem, batch, err);
}

static void slip_regularized(const void *self, const stn_problem *problem, int32_t constraint, const double *v_c,
                             const double *gamma, stn_law_slip *out) {
    (void)v_c;
    (void)gamma;
    const law_rules rules = regularized_rules(self);
    law_contact contact;
    double lane[LAGGED_COUNT + NORMAL_COUNT];
    *out = (stn_law_slip){0};
    if (law_read(&rules, problem, constraint, &contact, NULL) == STN_OK) {
        fill_regularized(self, &contact, lane, 1);
        out->transition_speed = soft_norm_transition * lane[LAGGED_EPSILON];
    }
}

STN_KERNEL static void evaluate_lagged(const void *self, const stn_law_batch *batch, const double *v_c, double *cost,
                                       double *gamma, double *G) {
    lagged_evaluate(self, batch, v_c, cost, gamma, G, hunt_crossley);
}

// -------------------------------------------------------------------------------------------------------- similar

enum { MU = NORMAL_COUNT, EPSILON, SIMILAR_COUNT };

static void fill_similar(const void *self, const law_contact *contact, double *lane, size_t stride) {
    (void)self;
    fill_normal(contact, lane, stride);
    lane[MU * stride] = contact->mu;
    lane[EPSILON * stride] = contact->stiction_tolerance;
}

static stn_status prepare_similar(const void *self, const stn_problem *problem, const stn_law_batch *batch,
                                  const void *memory, stn_error *err) {
    (void)memory;
    law_rules rules = rules_of(self);
    rules.id = "similar";
    rules.lagged = false;
    rules.fill = fill_similar;
    return law_prepare(&rules, self, problem, batch, err);
}

/// gamma = n(z) r, r = dz/dv_c = (-mu t_s, 1);  G = -n' r r^T + mu n/s (I - t_s t_s^T) in the plane.
STN_KERNEL_INLINE void similar_lane(const double *c, size_t stride, const double *v_c, double *cost, double *gamma,
                                    double *G) {
    double v1 = v_c[0], v2 = v_c[stride], mu = c[MU * stride], e = c[EPSILON * stride];
    double slip2 = v1 * v1 + v2 * v2, s = sqrt(slip2 + e * e), s_inv = 1.0 / s;
    double n, slope;
    hunt_crossley(NULL, c, stride, v_c[2 * stride] - mu * (slip2 / (s + e)), cost, &n, &slope);
    double t1 = v1 * s_inv, t2 = v2 * s_inv, r1 = -mu * t1, r2 = -mu * t2;
    gamma[0] = n * r1;
    gamma[stride] = n * r2;
    gamma[2 * stride] = n;
    if (G == NULL) {
        return;
    }
    double secant = mu * n * s_inv, rest = e * s_inv * (e * s_inv);
    G[0] = slope * r1 * r1 + secant * (t2 * t2 + rest);
    G[stride] = slope * r1 * r2 - secant * (t1 * t2);
    G[2 * stride] = slope * r2 * r2 + secant * (t1 * t1 + rest);
    G[3 * stride] = slope * r1;
    G[4 * stride] = slope * r2;
    G[5 * stride] = slope;
}

STN_KERNEL static void evaluate_similar(const void *self, const stn_law_batch *batch, const double *v_c, double *cost,
                                        double *gamma, double *G) {
    (void)self;
    lanes_evaluate(batch, v_c, cost, gamma, G, similar_lane);
}

static void slip_similar(const void *self, const stn_problem *problem, int32_t constraint, const double *v_c,
                         const double *gamma, stn_law_slip *out) {
    const irrotational_config *config = self;
    double e = law_stated(problem->stiction_tolerance, config->stiction_tolerance),
           slip2 = v_c[0] * v_c[0] + v_c[1] * v_c[1];
    double soft_norm = slip2 / (sqrt(slip2 + e * e) + e);
    *out = (stn_law_slip){
        .transition_speed = soft_norm_transition * e,
        .glide_gap = gamma[2] > 0.0 ? problem->constraints[constraint].mu1 * problem->dt * soft_norm : 0.0,
    };
}

/// It acts at phi < dt (|v_n| + mu |v_t|) on approach; half as much again for what the step changes.
static double reach_similar(const void *self, double dt, const stn_constraint *c, double normal_speed,
                            double slip_speed) {
    (void)self;
    return 1.5 * dt * (fabs(normal_speed) + c->mu1 * fabs(slip_speed));
}

/// The stiffness is that of a spring, whatever the coupling to friction.
static double stored(const void *self, const stn_problem *problem, int32_t constraint, double gap) {
    double k = law_stiffness(problem, constraint, ((const irrotational_config *)self)->beta);
    return gap < 0.0 ? 0.5 * k * gap * gap : 0.0;
}

// ---------------------------------------------------------------------------------------------------- descriptors

#define OPS(word, count, reach_of)               \
    static const stn_law_ops word##_ops = {      \
        .size = sizeof(stn_law_ops),             \
        .coefficient_count = (count),            \
        .sets = 1u << STN_SET_CONE,              \
        .reach = reach_of,                       \
        .prepare = prepare_##word,               \
        .evaluate = evaluate_##word,             \
        .slip = slip_##word,                     \
        .stored = stored,                        \
        .slip_tolerance = lagged_slip_tolerance, \
    }

#define evaluate_regularized evaluate_lagged
#define slip_lagged          lagged_slip
OPS(lagged, (int32_t)LAGGED_COUNT + (int32_t)NORMAL_COUNT, lagged_reach);
OPS(regularized, (int32_t)LAGGED_COUNT + (int32_t)NORMAL_COUNT, lagged_reach);
OPS(similar, SIMILAR_COUNT, reach_similar);
#undef evaluate_regularized
#undef slip_lagged

static const char *const reads[] = {"dissipation", NULL}, *const lagged_reads[] = {"dissipation", "lagged", NULL};

static const stn_plugin_desc lagged = {
    .size = sizeof lagged,
    .kind = STN_KIND_LAW,
    .id = "lagged",
    .version = "0.1.0",
    .summary = "Hunt-Crossley contact, friction with the normal impulse of the step before: no gliding, no hop",
    .reference = "castro-2023 sections IV-C, VI-B",
    .capabilities = lagged_reads,
    .config_size = sizeof(irrotational_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.law = &lagged_ops,
};

static const stn_plugin_desc lagged_regularized = {
    .size = sizeof lagged_regularized,
    .kind = STN_KIND_LAW,
    .id = "lagged_regularized",
    .version = "0.1.0",
    .summary = "As lagged, with friction softened in impacts: fewer iterations there",
    .reference = "castro-2023 sections IV-C, VI-B, F(44)",
    .capabilities = lagged_reads,
    .config_size = sizeof(irrotational_config),
    .params = regularized_params,
    .param_count = STN_COUNT(regularized_params),
    .ops.law = &regularized_ops,
};

static const stn_plugin_desc similar = {
    .size = sizeof similar,
    .kind = STN_KIND_LAW,
    .id = "similar",
    .version = "0.1.0",
    .summary = "Hunt-Crossley contact, friction coupled within the step; glides at mu dt |v_t|, a sudden slip makes a "
               "body hop",
    .reference = "castro-2023 sections IV-C, VI-C",
    .capabilities = reads,
    .config_size = sizeof(irrotational_config),
    .params = similar_params,
    .param_count = STN_COUNT(similar_params),
    .ops.law = &similar_ops,
};

STN_PLUGIN_LIBRARY(&lagged, &lagged_regularized, &similar);
