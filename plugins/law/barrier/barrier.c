// SPDX-License-Identifier: Apache-2.0
// Barrier: a force that grows without bound as the gap closes, so that bodies never touch, and lagged friction
// (law/common/lagged.h). With the gap g = phi0 + dt v after the step, its support h and the contact's stiffness k:
//
//     finite  l_n = -k (h - g)^2 ln(g/h) for g < h, else 0;   f = k (h - g) [(h - g)/g - 2 ln(g/h)]        [li-2020]
//     log     l_n = -k h^2 ln(g/h);                           f = k h^2/g
//
// A solver may start where g <= 0, at an impact. Below a millionth of the gap now, the potential goes on as its Taylor
// parabola, from which Newton comes back; once g > 0, max_step keeps it so.
#include "common/contact.h"
#include "common/lagged.h"
#include "common/law_lanes.h"

typedef enum shape { SHAPE_FINITE, SHAPE_LOG } shape;
static const char *const shapes[] = {"finite", "log", NULL};

typedef struct barrier_config {
    double stiction_tolerance, support, beta;
    int32_t shape;
} barrier_config;
LAGGED_BEGINS(barrier_config);

static const stn_param params[] = {
    STN_PARAM_CHOICE(barrier_config, shape, shapes, 0, "finite: zero beyond the support; log: never zero"),
    STN_PARAM_REAL(barrier_config, support, "m", 1e-3, 1e-9, 1e3, "gap at which the force begins"),
    STN_PARAM_REAL(barrier_config, stiction_tolerance, "m/s", 1e-4, 1e-12, 1e3, "slip that friction is smoothed over"),
    STN_PARAM_REAL(barrier_config, beta, "1", 1.0, 1e-3, 1e3,
                   "of rigid contacts alone: stiffness of a mode of period beta dt"),
};

enum { GAP, STEP, STIFFNESS, NORMAL_COUNT };

static const double parabola_from = 1e-6; // of the gap now

/// Energy, force and stiffness -df/dg at a gap > 0.
static void barrier_at(const barrier_config *config, double k, double gap, double *energy, double *force,
                       double *stiffness) {
    double h = config->support, left = h - gap;
    if (config->shape == SHAPE_LOG) {
        *energy = -k * h * h * log(gap / h);
        *force = k * h * h / gap;
        *stiffness = k * h * h / (gap * gap);
        return;
    }
    left = left > 0.0 ? left : 0.0;
    double ratio = left / gap, depth = left > 0.0 ? -log1p(-left / h) : 0.0; // -ln(g/h)
    *energy = k * left * left * depth;
    *force = k * left * (ratio + 2.0 * depth);
    *stiffness = k * (ratio * ratio + 4.0 * ratio + 2.0 * depth);
}

static void barrier(const void *self, const double *lane, size_t stride, double v, double *cost, double *n,
                    double *slope) {
    double gap0 = lane[GAP * stride], dt = lane[STEP * stride], gap = gap0 + dt * v;
    double start = gap > parabola_from * gap0 ? gap : parabola_from * gap0, below = start - gap; // >= 0
    double energy, force, stiffness;
    barrier_at(self, lane[STIFFNESS * stride], start, &energy, &force, &stiffness);
    *cost = energy + below * (force + 0.5 * below * stiffness);
    *n = dt * (force + below * stiffness);
    *slope = dt * dt * stiffness;
}

static void fill(const void *self, const law_contact *contact, double *lane, size_t stride) {
    const barrier_config *config = self;
    double energy, force, stiffness;
    barrier_at(config, contact->stiffness, contact->phi0, &energy, &force, &stiffness);
    lane[LAGGED_LIMIT * stride] = contact->mu * lagged_impulse(contact, force);
    lane[LAGGED_EPSILON * stride] = contact->stiction_tolerance;
    lane += LAGGED_COUNT * stride;
    lane[GAP * stride] = contact->phi0;
    lane[STEP * stride] = contact->dt;
    lane[STIFFNESS * stride] = contact->stiffness;
}

static stn_status prepare(const void *self, const stn_problem *problem, const stn_law_batch *batch, const void *memory,
                          stn_error *err) {
    (void)memory;
    for (int32_t i = 0; i < batch->count; i++) {
        const stn_constraint *c = &problem->constraints[batch->constraint[i]];
        if (c->patch < 0 && !(c->phi0 > 0.0)) { // faces are refused below
            return stn_fail(
                err, STN_ERR_NUMERIC,
                "contact %d (id %llu): phi0 = %g m must be > 0; a barrier keeps bodies apart that start apart",
                batch->constraint[i], (unsigned long long)c->id, c->phi0);
        }
    }
    const barrier_config *config = self;
    const law_rules rules = {.id = "barrier",
                             .beta = config->beta,
                             .stiction_tolerance = config->stiction_tolerance,
                             .lagged = true,
                             .fill = fill,
                             .points_alone = true};
    return law_prepare(&rules, self, problem, batch, err);
}

static void evaluate(const void *self, const stn_law_batch *batch, const double *v_c, double *cost, double *gamma,
                     double *G) {
    lagged_evaluate(self, batch, v_c, cost, gamma, G, barrier);
}

static double max_step(const void *self, const stn_law_batch *batch, const double *v_c, const double *dv_c) {
    (void)self;
    const size_t stride = (size_t)batch->stride;
    double most = (double)INFINITY;
    for (size_t i = 0; i < (size_t)batch->count; i++) {
        const double *lane = batch->coefficients + LAGGED_COUNT * stride + i;
        double dt = lane[STEP * stride], gap = lane[GAP * stride] + dt * v_c[2 * stride + i];
        double closing = -dt * dv_c[2 * stride + i];
        if (gap > 0.0 && closing > 0.0 && gap < most * closing) {
            most = gap / closing;
        }
    }
    return most;
}

static double reach(const void *self, double dt, const stn_constraint *c, double normal_speed, double slip_speed) {
    (void)c;
    (void)slip_speed;
    return ((const barrier_config *)self)->support + 2.0 * dt * fabs(normal_speed);
}

/// Infinite once the gap is closed.
static double stored(const void *self, const stn_problem *problem, int32_t constraint, double gap) {
    const barrier_config *config = self;
    double energy = (double)INFINITY, force, stiffness;
    if (gap > 0.0) {
        barrier_at(config, law_stiffness(problem, constraint, config->beta), gap, &energy, &force, &stiffness);
    }
    return energy;
}

static const stn_law_ops ops = {
    .size = sizeof ops,
    .coefficient_count = (int32_t)LAGGED_COUNT + (int32_t)NORMAL_COUNT,
    .sets = 1u << STN_SET_CONE,
    .reach = reach,
    .prepare = prepare,
    .evaluate = evaluate,
    .max_step = max_step,
    .slip = lagged_slip,
    .stored = stored,
    .slip_tolerance = lagged_slip_tolerance,
};

static const char *const words[] = {"gap", "lagged", NULL};

static const stn_plugin_desc desc = {
    .size = sizeof desc,
    .kind = STN_KIND_LAW,
    .id = "barrier",
    .version = "0.1.0",
    .summary = "Barrier that keeps bodies apart (finite support or log), with lagged friction",
    .reference = "li-2020; castro-2023",
    .capabilities = words,
    .config_size = sizeof(barrier_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.law = &ops,
};
STN_PLUGIN_LIBRARY(&desc);
