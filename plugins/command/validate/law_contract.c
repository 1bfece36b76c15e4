// SPDX-License-Identifier: Apache-2.0
// What law.h promises beside the physics: lanes, memory, inputs, and data that are missing.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "law_checks.h"
#include "law_subject.h"

static bool check_reach(law_subject *s) {
    const stn_constraint *c = &s->problem->constraints[0];
    double before = 0.0;
    for (double speed = 0.0; speed < 100.0 && s->ops->reach != NULL; speed = 2.0 * speed + 1e-3) {
        double reach = s->ops->reach(s->instance->self, s->problem->dt, c, -speed, speed);
        if (!(reach >= before) || !isfinite(reach)) {
            trial_fail(s->trial, "reach(%.3g m/s) = %.3g m, expected finite and at least %.3g m", speed, reach, before);
            return false;
        }
        before = reach;
    }
    return true;
}

void law_declares(validate_trial *trial) {
    law_subject s;
    if (!law_begin(&s, trial)) {
        return;
    }
    const stn_law_ops *ops = s.ops;
    const uint32_t cones = 1u << STN_SET_CONE | 1u << STN_SET_ELLIPSE;
    if (ops->prepare == NULL || ops->evaluate == NULL) {
        trial_fail(trial, "prepare or evaluate is missing");
    } else if (ops->coefficient_count < 1 || ops->coefficient_count > 1000) {
        trial_fail(trial, "coefficient_count = %d", ops->coefficient_count);
    } else if ((ops->sets & cones) == 0 || (ops->sets & ~cones) != 0) {
        trial_fail(trial, "sets = 0x%x, expected the cone, the ellipse or both", (unsigned)ops->sets);
    } else if (law_draw(&s) && check_reach(&s)) {
        trial_ok(trial, "%d coefficients a contact%s%s%s%s", ops->coefficient_count,
                 ops->regularize != NULL ? ", regularizes" : "", ops->reach != NULL ? ", reaches beyond touch" : "",
                 ops->max_step != NULL ? ", bounds steps" : "",
                 s.instance->desc->memory_per_constraint > 0 ? ", keeps memory" : "");
    }
    law_end(&s);
}

// ----------------------------------------------------------------------------------------------------------- lanes

static bool same(const double *x, const double *y, int32_t count) {
    return memcmp(x, y, (size_t)count * sizeof *x) == 0;
}

/// Velocities of all lanes: those of the contacts, and any in the padding.
static void fill_lanes(law_subject *s, double v[LAW_CONTACTS][3]) {
    for (int32_t i = 0; i < s->batch.stride; i++) {
        for (int32_t a = 0; a < 3; a++) {
            s->v_c[a * s->batch.stride + i] = i < s->batch.count ? v[i][a] : 0.3 * a - 0.7;
        }
    }
}

static void evaluate(law_subject *s, double *G) {
    s->ops->evaluate(s->instance->self, &s->batch, s->v_c, s->cost, s->gamma, G);
}

static bool padding_is_zero(const law_subject *s) {
    const int32_t stride = s->batch.stride;
    for (int32_t i = s->batch.count; i < stride; i++) {
        double most = fabs(s->cost[i]);
        for (int32_t a = 0; a < 6; a++) {
            most += fabs(s->G[a * stride + i]) + fabs(s->gamma[a % 3 * stride + i]);
        }
        if (!(most == 0.0)) {
            trial_fail(s->trial, "lane %d is padding (count %d) and gives cost %g J, gamma_n %g N s, G_nn %g kg", i,
                       s->batch.count, s->cost[i], s->gamma[2 * stride + i], s->G[5 * stride + i]);
            return false;
        }
    }
    return true;
}

/// A part of the batch gives what the whole gave, which is in cost and gamma, and writes to no other lanes.
static void compare_part(law_subject *s, const double *cost, const double *gamma, int32_t first, int32_t end) {
    const int32_t stride = s->batch.stride;
    const stn_law_batch part = {.count = (end < s->batch.count ? end : s->batch.count) - first,
                                .stride = stride,
                                .constraint = s->batch.constraint + first,
                                .coefficients = s->batch.coefficients + first};
    memset(s->cost, 0xff, (size_t)stride * sizeof *s->cost);
    memset(s->gamma, 0xff, 3 * (size_t)stride * sizeof *s->gamma);
    s->ops->evaluate(s->instance->self, &part, s->v_c + first, s->cost + first, s->gamma + first, s->G + first);
    for (int32_t i = 0; i < stride; i++) {
        const bool within = i >= first && i < end;
        if (within ? s->cost[i] != cost[i] || s->gamma[2 * stride + i] != gamma[2 * stride + i]
                   : !isnan(s->cost[i]) || !isnan(s->gamma[2 * stride + i])) {
            trial_fail(s->trial, "evaluate of lanes %d to %d of %d writes %g J to lane %d, where the whole gives %g",
                       first, end - 1, stride, s->cost[i], i, cost[i]);
            return;
        }
    }
}

static void compare_lanes(law_subject *s, int32_t count) {
    double v[LAW_CONTACTS][3], cost[LAW_STRIDE], gamma[3 * LAW_STRIDE];
    law_answer alone[LAW_CONTACTS];
    for (int32_t i = 0; i < count; i++) {
        if (!law_choose(s, i)) {
            return;
        }
        law_velocity(s, i, v[i]);
        alone[i] = law_at(s, v[i]);
    }
    if (law_prepare_batch(s, 0, count) != STN_OK) {
        trial_fail(s->trial, "prepare refuses %d contacts together: %s", count, s->error.text);
        return;
    }
    const int32_t stride = s->batch.stride;
    fill_lanes(s, v);
    evaluate(s, s->G);
    if (!padding_is_zero(s)) {
        return;
    }
    for (int32_t i = 0; i < count; i++) {
        if (s->cost[i] != alone[i].cost || s->gamma[2 * stride + i] != alone[i].gamma[2] ||
            s->gamma[i] != alone[i].gamma[0] || s->G[5 * stride + i] != alone[i].G[2][2]) {
            trial_fail(s->trial, "contact %d of %d has gamma_n = %.17g N s, alone it has %.17g", i, count,
                       s->gamma[2 * stride + i], alone[i].gamma[2]);
            return;
        }
    }
    memcpy(cost, s->cost, sizeof cost);
    memcpy(gamma, s->gamma, sizeof gamma);
    evaluate(s, NULL);
    if (!same(cost, s->cost, stride) || !same(gamma, s->gamma, 3 * stride)) {
        trial_fail(s->trial, "without G the cost or impulse has other bytes than with it");
    }
    for (int32_t first = 0; first < stride && !s->trial->decided; first += STN_LANES) {
        compare_part(s, cost, gamma, first, first + STN_LANES);
    }
}

void law_lanes(validate_trial *trial) {
    law_subject s;
    if (!law_begin(&s, trial)) {
        return;
    }
    for (int32_t count = 1; count <= LAW_CONTACTS && !trial->decided && law_draw(&s); count++) {
        compare_lanes(&s, count);
    }
    trial_ok(trial, "batches of 1 to %d contacts", LAW_CONTACTS);
    law_end(&s);
}

// ---------------------------------------------------------------------------------------------- repetition, memory

void law_repeats(validate_trial *trial) {
    law_subject s;
    if (!law_begin(&s, trial)) {
        return;
    }
    for (int32_t round = 0; round < 20 && !trial->decided && law_draw(&s); round++) {
        stn_constraint before[LAW_CONTACTS];
        double v[LAW_CONTACTS][3], R[3 * LAW_CONTACTS], cost[LAW_STRIDE], gamma[3 * LAW_STRIDE], G[6 * LAW_STRIDE];
        memcpy(before, s.problem->constraints, sizeof before);
        memcpy(R, s.problem->R, sizeof R);
        for (int32_t i = 0; i < LAW_CONTACTS && law_choose(&s, i); i++) {
            law_velocity(&s, i, v[i]);
        }
        for (int32_t pass = 0; pass < 2 && !trial->decided; pass++) {
            int64_t requests = stn_context_allocations(trial->request->context);
            if (law_prepare_batch(&s, 0, LAW_CONTACTS) != STN_OK) {
                trial_fail(trial, "prepare refuses ordinary contacts: %s", s.error.text);
                break;
            }
            fill_lanes(&s, v);
            evaluate(&s, s.G);
            requests = stn_context_allocations(trial->request->context) - requests;
            if (pass == 1 && requests > 0) {
                trial_fail(trial, "prepare and evaluate made %lld allocations in a step, expected none",
                           (long long)requests);
            }
            if (pass == 1 && !(same(cost, s.cost, LAW_STRIDE) && same(gamma, s.gamma, 3 * LAW_STRIDE) &&
                               same(G, s.G, 6 * LAW_STRIDE))) {
                trial_fail(trial, "prepared and evaluated again, the same contacts give other bytes");
            }
            memcpy(cost, s.cost, sizeof cost);
            memcpy(gamma, s.gamma, sizeof gamma);
            memcpy(G, s.G, sizeof G);
        }
        if (memcmp(before, s.problem->constraints, sizeof before) != 0 || !same(R, s.problem->R, 3 * LAW_CONTACTS)) {
            trial_fail(trial, "prepare or evaluate changed its input: the constraints or R");
        }
    }
    trial_ok(trial, "20 batches of %d contacts", LAW_CONTACTS);
    law_end(&s);
}

enum { GUARD = 64, POISON = 0xa5 };

static bool guard_stands(const unsigned char *guard) {
    for (int32_t i = 0; i < GUARD; i++) {
        if (guard[i] != POISON) {
            return false;
        }
    }
    return true;
}

static void commit_once(law_subject *s, unsigned char *blocks, size_t used) {
    double v_c[3 * LAW_CONTACTS], gamma[3 * LAW_CONTACTS];
    s->memory = blocks + GUARD;
    for (int32_t i = 0; i < LAW_CONTACTS && law_choose(s, i); i++) {
        law_velocity(s, i, v_c + 3 * i);
        law_answer x = law_at(s, v_c + 3 * i);
        memcpy(gamma + 3 * i, x.gamma, sizeof x.gamma);
    }
    if (s->trial->decided) {
        return;
    }
    s->ops->commit(s->instance->self, s->problem, v_c, gamma, s->memory);
    if (!guard_stands(blocks) || !guard_stands(blocks + GUARD + used)) {
        trial_fail(s->trial, "commit writes outside of the %d slots of %d bytes", LAW_CONTACTS,
                   s->instance->desc->memory_per_constraint);
    }
}

void law_memory(validate_trial *trial) {
    law_subject s;
    if (!law_begin(&s, trial)) {
        return;
    }
    size_t used = LAW_CONTACTS * (size_t)s.instance->desc->memory_per_constraint;
    if ((used > 0) != (s.ops->commit != NULL)) {
        trial_fail(trial, "memory of %d bytes a constraint, and %s commit", s.instance->desc->memory_per_constraint,
                   s.ops->commit != NULL ? "a" : "no");
    } else if (used == 0) {
        trial_ok(trial, "keeps no memory");
    }
    unsigned char *blocks = stn_arena_zeroed(s.arena, used + 2 * GUARD, 1);
    if (blocks == NULL) {
        trial_fail(trial, "out of memory");
    } else {
        memset(blocks, POISON, GUARD);
        memset(blocks + GUARD + used, POISON, GUARD);
    }
    for (int32_t step = 0; step < 20 && !trial->decided && law_draw(&s); step++) {
        commit_once(&s, blocks, used);
    }
    trial_ok(trial, "20 steps of %d contacts", LAW_CONTACTS);
    law_end(&s);
}

// ------------------------------------------------------------------------------------------------------------- NaN

/// Offsets of the data that a law may read.
static const struct {
    const char *name;
    size_t offset;
} data[] = {
    {"phi0", offsetof(stn_constraint, phi0)},
    {"stiffness", offsetof(stn_constraint, stiffness)},
    {"relaxation_time", offsetof(stn_constraint, relaxation_time)},
    {"dissipation", offsetof(stn_constraint, dissipation)},
    {"mu1", offsetof(stn_constraint, mu1)},
    {"w", offsetof(stn_constraint, w)},
};

/// With the datum missing in contact 1: refused, or nothing changes because it is not read. Returns whether it is.
static bool reads_datum(law_subject *s, int32_t d) {
    double v[3], *datum = (double *)((char *)&s->problem->constraints[1] + data[d].offset), before = *datum;
    if (!law_choose(s, 1)) {
        return false;
    }
    law_velocity(s, 1, v);
    law_answer good = law_at(s, v);
    *datum = (double)NAN;
    law_regularize(s);
    stn_status status = law_prepare_batch(s, 1, 1);
    law_answer answer = status == STN_OK ? law_at(s, v) : good;
    *datum = before;
    law_regularize(s);
    if (status == STN_OK && memcmp(&answer, &good, sizeof good) != 0) {
        trial_fail(s->trial, "%s = nan is taken, and gives gamma_n = %g N s, cost %g J", data[d].name, answer.gamma[2],
                   answer.cost);
    } else if (status != STN_OK && (status != STN_ERR_NUMERIC || strstr(s->error.text, "nan") == NULL)) {
        trial_fail(s->trial, "%s = nan: status '%s', \"%s\", expected STN_ERR_NUMERIC and the datum with its value",
                   data[d].name, stn_status_text(status), s->error.text);
    }
    return status != STN_OK;
}

void law_not_a_number(validate_trial *trial) {
    law_subject s;
    char names[160] = "";
    if (!law_begin(&s, trial)) {
        return;
    }
    for (int32_t d = 0; d < STN_COUNT(data) && !trial->decided; d++) {
        bool read = false;
        for (int32_t round = 0; round < 20 && !trial->decided && law_draw(&s); round++) {
            read = reads_datum(&s, d) || read;
        }
        if (read) {
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", names[0] != '\0' ? ", " : "",
                     data[d].name);
        }
    }
    trial_ok(trial, "refused without %s", names);
    law_end(&s);
}
