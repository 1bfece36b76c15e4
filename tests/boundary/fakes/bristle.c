// SPDX-License-Identifier: Apache-2.0
// A law with memory: every contact carries the displacement s of a tangential spring, gamma_t = -dt k (s + dt v_t), and
// remembers it while the contact lasts. Normal: gamma_n = ((v_hat - v_n)/R)+ with the problem's compliance.
#include <stiction/plugin.h>

typedef struct bristle {
    double k;
} bristle;
static const stn_param params[] = {STN_PARAM_REAL(bristle, k, "N/m", 1000.0, 0.0, INFINITY, "tangential stiffness")};

typedef struct memory {
    double s[2];
    int64_t steps;
} memory;
enum { R_N, V_HAT, S_1, S_2, DT, ACTIVE, COEFFICIENTS };

static void regularize(const void *self, stn_problem *p) {
    (void)self;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        if (c->kind == STN_CONSTRAINT_CONTACT) {
            p->R[c->row] = p->R[c->row + 1] = p->R[c->row + 2] = 0.0253 * c->w;
            p->v_hat[c->row] = p->v_hat[c->row + 1] = 0.0;
            p->v_hat[c->row + 2] = -c->phi0 / (2.0 * p->dt);
        }
    }
}

static stn_status prepare(const void *self, const stn_problem *p, const stn_law_batch *b, const void *blocks,
                          stn_error *err) {
    (void)self, (void)err;
    for (int32_t i = 0; i < b->stride; i++) {
        double c[COEFFICIENTS] = {1.0, 0.0, 0.0, 0.0, p->dt, 0.0};
        if (i < b->count) {
            const stn_constraint *k = &p->constraints[b->constraint[i]];
            const memory *m = (const memory *)blocks + k->memory;
            c[R_N] = p->R[k->row + 2], c[V_HAT] = p->v_hat[k->row + 2], c[S_1] = m->s[0], c[S_2] = m->s[1],
            c[ACTIVE] = 1.0;
        }
        for (int32_t j = 0; j < COEFFICIENTS; j++) {
            b->coefficients[j * b->stride + i] = c[j];
        }
    }
    return STN_OK;
}

static void evaluate(const void *self, const stn_law_batch *b, const double *v, double *cost, double *gamma,
                     double *G) {
    double k = ((const bristle *)self)->k;
    int32_t n = b->stride;
    for (int32_t i = 0; i < n; i++) {
        const double *c = b->coefficients + i;
        double kt = c[ACTIVE * n] * k, dt = c[DT * n];
        double y = c[ACTIVE * n] * (c[V_HAT * n] - v[2 * n + i]) / c[R_N * n];
        double x1 = c[S_1 * n] + dt * v[i], x2 = c[S_2 * n] + dt * v[n + i];
        gamma[i] = -dt * kt * x1, gamma[n + i] = -dt * kt * x2, gamma[2 * n + i] = y > 0.0 ? y : 0.0;
        cost[i] = 0.5 * kt * (x1 * x1 + x2 * x2) + 0.5 * c[R_N * n] * gamma[2 * n + i] * gamma[2 * n + i];
        if (G != NULL) {
            G[i] = G[2 * n + i] = dt * dt * kt;
            G[n + i] = G[3 * n + i] = G[4 * n + i] = 0.0;
            G[5 * n + i] = y > 0.0 ? 1.0 / c[R_N * n] : 0.0;
        }
    }
}

static void commit(const void *self, const stn_problem *p, const double *v_c, const double *gamma, void *blocks) {
    (void)self, (void)gamma;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        if (c->kind == STN_CONSTRAINT_CONTACT) {
            memory *m = (memory *)blocks + c->memory;
            m->s[0] += p->dt * v_c[c->row], m->s[1] += p->dt * v_c[c->row + 1], m->steps++;
        }
    }
}

static const stn_law_ops ops = {.size = sizeof ops,
                                .coefficient_count = COEFFICIENTS,
                                .sets = 1u << STN_SET_CONE,
                                .regularize = regularize,
                                .prepare = prepare,
                                .evaluate = evaluate,
                                .commit = commit};
static const stn_plugin_desc fake = {.size = sizeof fake,
                                     .kind = STN_KIND_LAW,
                                     .id = "fake_bristle",
                                     .version = "0",
                                     .summary = "tangential springs with memory",
                                     .config_size = sizeof(bristle),
                                     .params = params,
                                     .param_count = 1,
                                     .memory_per_constraint = sizeof(memory),
                                     .ops.law = &ops};
STN_PLUGIN_LIBRARY(&fake);
