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

/// k of a contact: its own, else the law's.
static double stiffness_of(const penalty_config *config, const stn_problem *problem, int32_t index) {
    bool own = !isinf(problem->constraints[index].stiffness);
    return own || config->stiffness == 0.0 ? law_stiffness(problem, index, config->beta) : config->stiffness;
}

/// Velocity along the tangents before the step.
static stn_status find_slip(const stn_problem *problem, int32_t index, double slip[2], stn_error *err) {
    const stn_constraint *c = &problem->constraints[index];
    if (problem->form == STN_FORM_LOCAL) {
        return stn_fail(err, STN_ERR_NUMERIC,
                        "contact %d (id %llx): the law penalty needs the velocity before the step, and a local problem "
                        "has no v0: solve it in its global form",
                        index, (unsigned long long)c->id);
    }
    double v_c[3];
    stn_constraint_velocity(problem, c, problem->v0, v_c);
    for (int32_t a = 0; a < 2; a++) {
        slip[a] = v_c[a] + problem->bias[c->row + a];
        if (!isfinite(slip[a])) {
            return stn_fail(err, STN_ERR_NUMERIC, "contact %d (id %llx): slip before the step = %g m/s must be finite",
                            index, (unsigned long long)c->id, slip[a]);
        }
    }
    return STN_OK;
}

static stn_status fill(const penalty_config *config, const stn_problem *problem, int32_t index, double gamma[3],
                       stn_error *err) {
    const law_rules rules = {.id = "penalty", .beta = config->beta, .lagged = true, .guess = true};
    const stn_constraint *c = &problem->constraints[index];
    law_contact contact = {0};
    double slip[2] = {0.0};
    stn_status status = find_slip(problem, index, slip, err);
    status = status == STN_OK ? law_read(&rules, problem, index, &contact, err) : status;
    if (status != STN_OK) {
        return status;
    }
    bool rigid = isinf(c->stiffness);
    if (!rigid && (!(c->relaxation_time >= 0.0) || !isfinite(c->relaxation_time))) {
        return stn_fail(err, STN_ERR_NUMERIC, "contact %d (id %llx): relaxation_time = %g s must be >= 0 and finite",
                        index, (unsigned long long)c->id, c->relaxation_time);
    }
    double k = stiffness_of(config, problem, index), w = contact.w == 0.0 ? 1.0 : contact.w; // 0: moves nothing
    double half_critical = sqrt(k / w);
    double own = config->damping == 0.0 ? half_critical : config->damping;
    double damping = rigid ? own : k * c->relaxation_time;
    double along = config->friction_damping == 0.0 ? half_critical : config->friction_damping;

    double x0 = -contact.phi0, force = k * x0 - damping * contact.normal_speed;
    gamma[2] = x0 > 0.0 && force > 0.0 ? contact.dt * force : 0.0;
    double limit = contact.mu * gamma[2], friction = contact.dt * along, speed = hypot(slip[0], slip[1]);
    double secant = friction * speed > limit ? limit / speed : friction;
    gamma[0] = -secant * slip[0];
    gamma[1] = -secant * slip[1];
    return STN_OK;
}

static stn_status prepare(const void *self, const stn_problem *problem, const stn_law_batch *batch, const void *memory,
                          stn_error *err) {
    (void)memory;
    for (int32_t i = 0; i < batch->stride; i++) {
        double gamma[3] = {0.0};
        stn_status status = i < batch->count ? fill(self, problem, batch->constraint[i], gamma, err) : STN_OK;
        if (status != STN_OK) {
            return status;
        }
        for (int32_t a = 0; a < 3; a++) {
            batch->coefficients[a * batch->stride + i] = gamma[a];
        }
    }
    return STN_OK;
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
    double x = gap < 0.0 ? -gap : 0.0;
    return 0.5 * stiffness_of(self, problem, constraint) * x * x;
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
