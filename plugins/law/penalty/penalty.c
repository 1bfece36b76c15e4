// SPDX-License-Identifier: Apache-2.0
// Explicit penalty force: spring and damper along the normal, a damper along the slip, both of the step's start
// [yamane-2006]. With x0 = -phi0 and the contact velocity v0 before the step,
//
//     gamma_n = dt (k x0 - d v_n0)+ where x0 > 0, else 0
//     gamma_t = -min(dt c, mu gamma_n/|v_t0|) v_t0
//     l = -gamma . v_c,   G = 0
//
// The impulse does not depend on v_c, so that a convex solver makes the explicit step in one iteration.
#include "common/contact.h"
#include "common/law_lanes.h"

typedef struct penalty_config {
    double stiffness, damping, friction_damping, beta;
} penalty_config;

static const stn_param params[] = {
    STN_PARAM_REAL(penalty_config, stiffness, "N/m", 0.0, 0.0, 1e12,
                   "k of rigid contacts; 0: of a mode of period beta dt"),
    STN_PARAM_REAL(penalty_config, damping, "N s/m", 0.0, 0.0, 1e12,
                   "d of rigid contacts; 0: sqrt(k/w), half of critical"),
    STN_PARAM_REAL(penalty_config, friction_damping, "N s/m", 0.0, 0.0, 1e12,
                   "c, friction over slip until it slides; 0: sqrt(k/w)"),
    STN_PARAM_REAL(penalty_config, beta, "1", 30.0, 1e-3, 1e6,
                   "of rigid contacts, without a stiffness: that of a mode of period beta dt"),
};

enum { GAMMA_1, GAMMA_2, GAMMA_N, COEFFICIENT_COUNT };

static void fill(const void *self, const law_contact *contact, double *lane, size_t stride) {
    const penalty_config *config = self;
    const bool told = contact->rigid && config->stiffness > 0.0;
    const double k = told ? config->stiffness : contact->stiffness;
    const double w = contact->w == 0.0 ? 1.0 : contact->w; // 0: moves nothing
    const double half_critical = sqrt(k / w), own = config->damping == 0.0 ? half_critical : config->damping;
    const double damping = contact->rigid ? own : k * contact->relaxation_time;
    const double along = config->friction_damping == 0.0 ? half_critical : config->friction_damping;

    const double x0 = -contact->phi0, force = k * x0 - damping * contact->normal_speed;
    const double normal = x0 > 0.0 && force > 0.0 ? contact->dt * force : 0.0, limit = contact->mu * normal;
    const double friction = contact->dt * along, speed = hypot(contact->slip[0], contact->slip[1]);
    const double secant = friction * speed > limit ? limit / speed : friction;
    lane[GAMMA_1 * stride] = 0.0 - secant * contact->slip[0]; // of padding 0, not -0
    lane[GAMMA_2 * stride] = 0.0 - secant * contact->slip[1];
    lane[GAMMA_N * stride] = normal;
}

static stn_status prepare(const void *self, const stn_problem *problem, const stn_law_batch *batch, const void *memory,
                          stn_error *err) {
    (void)memory;
    const penalty_config *config = self;
    const law_rules rules = {.id = "penalty",
                             .beta = config->beta,
                             .lagged = true,
                             .guess = true,
                             .slip = true,
                             .relaxation = true,
                             .fill = fill};
    return law_prepare(&rules, self, problem, batch, err);
}

STN_KERNEL_INLINE void penalty_lane(const double *c, size_t stride, const double *v_c, double *cost, double *gamma,
                                    double *G) {
    double g1 = c[GAMMA_1 * stride], g2 = c[GAMMA_2 * stride], gn = c[GAMMA_N * stride];
    cost[0] = -(g1 * v_c[0] + g2 * v_c[stride] + gn * v_c[2 * stride]);
    gamma[0] = g1;
    gamma[stride] = g2;
    gamma[2 * stride] = gn;
    for (size_t e = 0; G != NULL && e < 6; e++) {
        G[e * stride] = 0.0;
    }
}

STN_KERNEL static void evaluate(const void *self, const stn_law_batch *batch, const double *v_c, double *cost,
                                double *gamma, double *G) {
    (void)self;
    lanes_evaluate(batch, v_c, cost, gamma, G, penalty_lane);
}

static double stored(const void *self, const stn_problem *problem, int32_t constraint, double gap) {
    const penalty_config *config = self;
    const bool told = isinf(problem->constraints[constraint].stiffness) && config->stiffness > 0.0;
    const double k = told ? config->stiffness : law_stiffness(problem, constraint, config->beta);
    const double x = gap < 0.0 ? -gap : 0.0;
    return 0.5 * k * x * x;
}

static const stn_law_ops ops = {
    .size = sizeof ops,
    .coefficient_count = COEFFICIENT_COUNT,
    .sets = 1u << STN_SET_CONE,
    .prepare = prepare,
    .evaluate = evaluate,
    .stored = stored,
};

static const char *const words[] = {"explicit", NULL};

static const stn_plugin_desc desc = {
    .size = sizeof desc,
    .kind = STN_KIND_LAW,
    .id = "penalty",
    .version = "0.1.0",
    .summary = "Explicit spring and damper of the step's start: a baseline, unstable where steps are long for it",
    .reference = "yamane-2006",
    .capabilities = words,
    .config_size = sizeof(penalty_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.law = &ops,
};
STN_PLUGIN_LIBRARY(&desc);
