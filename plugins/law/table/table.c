// SPDX-License-Identifier: Apache-2.0
// Normal force from a table, linear between its points and on beyond the last, and lagged friction
// (law/common/lagged.h). Any force that does not fall with penetration has a convex potential [castro-2023]. With
// x = -phi0 - dt v and delta_j the part of x within segment j,
//
//     f = sum s_j delta_j,   n = dt f,   -N = sum (f_j + s_j delta_j/2) delta_j,   -n' = dt^2 s
//
// a sum of terms >= 0: nothing cancels.
#include <stdlib.h>
#include <string.h>

#include "common/contact.h"
#include "common/lagged.h"
#include "common/law_lanes.h"

enum { MOST_POINTS = 32 };

typedef struct table_config {
    const char *force;
    double stiction_tolerance;
} table_config;

static const stn_param params[] = {
    STN_PARAM_TEXT(table_config, force, "0.001 10, 0.002 40, 0.004 200",
                   "points 'penetration force' [m N], comma separated, both rising; starts at 0 0"),
    STN_PARAM_REAL(table_config, stiction_tolerance, "m/s", 1e-4, 1e-12, 1e3, "slip that friction is smoothed over"),
};

/// Segment j: from start[j] on, over width[j] (infinite: the last), with force[j] at its start.
typedef struct table {
    double stiction_tolerance;
    stn_context *context;
    int32_t count;
    double start[MOST_POINTS], width[MOST_POINTS], force[MOST_POINTS], slope[MOST_POINTS];
} table;
LAGGED_BEGINS(table);

static stn_status refuse(stn_error *err, const char *text, int32_t point, const char *why) {
    return stn_fail(err, STN_ERR_PARAMETER, "force = \"%s\": point %d %s", text, point + 1, why);
}

/// "x f, x f, ..."
static stn_status read_points(table *t, const char *text, stn_error *err) {
    const char *at = text;
    double x0 = 0.0, f0 = 0.0;
    do {
        char *middle = NULL, *end = NULL;
        double x = strtod(at, &middle), f = strtod(middle, &end);
        bool two = middle != at && end != middle && isfinite(x) && isfinite(f);
        at = end + strspn(end, " \t");
        if (t->count == MOST_POINTS) {
            return refuse(err, text, t->count, "is one too many: at most 32");
        }
        if (!two || (*at != '\0' && *at != ',')) {
            return refuse(err, text, t->count, "must be two numbers, penetration [m] and force [N]");
        }
        if (!(x > x0) || !(f >= f0)) {
            return refuse(err, text, t->count, "must lie deeper than the one before, with no smaller force");
        }
        int32_t j = t->count++;
        t->start[j] = x0;
        t->width[j] = x - x0;
        t->force[j] = f0;
        t->slope[j] = (f - f0) / (x - x0);
        x0 = x;
        f0 = f;
    } while (*at++ == ',');
    if (f0 == 0.0) {
        return stn_fail(err, STN_ERR_PARAMETER, "force = \"%s\": every force is 0, so contacts would hold nothing",
                        text);
    }
    t->width[t->count - 1] = (double)INFINITY;
    return STN_OK;
}

static stn_status create(stn_context *context, const void *given, void **self, stn_error *err) {
    const table_config *config = given;
    table *t = stn_allocate(context, 1, sizeof *t);
    if (t == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "table: out of memory");
    }
    *t = (table){.context = context, .stiction_tolerance = config->stiction_tolerance};
    stn_status status = read_points(t, config->force, err);
    if (status != STN_OK) {
        stn_release(context, t);
        return status;
    }
    *self = t;
    return STN_OK;
}

static void destroy(void *self) {
    table *t = self;
    if (t != NULL) {
        stn_release(t->context, t);
    }
}

enum { PENETRATION, STEP, SCALE, NORMAL_COUNT }; // x0, dt, 1 or 0 without contact

static void look_up(const table *t, double x, double *energy, double *force, double *slope) {
    *energy = *force = *slope = 0.0;
    for (int32_t j = 0; j < t->count; j++) {
        double within = x - t->start[j], width = t->width[j];
        bool here = within > 0.0 && within <= width;
        within = within < 0.0 ? 0.0 : (within > width ? width : within);
        *energy += (t->force[j] + 0.5 * t->slope[j] * within) * within;
        *force += t->slope[j] * within;
        *slope += here ? t->slope[j] : 0.0;
    }
}

static void fill(const void *self, const law_contact *contact, double *lane, size_t stride) {
    const table *t = self;
    double energy, force, slope, scale = contact->stiffness > 0.0 ? 1.0 : 0.0;
    look_up(t, -contact->phi0, &energy, &force, &slope);
    lane[LAGGED_LIMIT * stride] = contact->mu * lagged_impulse(contact, scale * force);
    lane[LAGGED_EPSILON * stride] = contact->stiction_tolerance;
    lane += LAGGED_COUNT * stride;
    lane[PENETRATION * stride] = -contact->phi0;
    lane[STEP * stride] = contact->dt;
    lane[SCALE * stride] = scale;
}

STN_KERNEL_INLINE void tabulated(const void *self, const double *lane, size_t stride, double v, double *cost, double *n,
                                 double *slope) {
    double dt = lane[STEP * stride], scale = lane[SCALE * stride], energy, force, stiffness;
    look_up(self, lane[PENETRATION * stride] - dt * v, &energy, &force, &stiffness);
    *cost = scale * energy;
    *n = scale * dt * force;
    *slope = scale * dt * dt * stiffness;
}

static stn_status prepare(const void *self, const stn_problem *problem, const stn_law_batch *batch, const void *memory,
                          stn_error *err) {
    (void)memory;
    const law_rules rules = {.id = "table",
                             .beta = 1.0,
                             .stiction_tolerance = ((const table *)self)->stiction_tolerance,
                             .lagged = true,
                             .fill = fill,
                             .points_alone = true};
    return law_prepare(&rules, self, problem, batch, err);
}

static void evaluate(const void *self, const stn_law_batch *batch, const double *v_c, double *cost, double *gamma,
                     double *G) {
    lagged_evaluate(self, batch, v_c, cost, gamma, G, tabulated);
}

static double stored(const void *self, const stn_problem *problem, int32_t constraint, double gap) {
    double energy, force, slope;
    look_up(self, -gap, &energy, &force, &slope);
    return problem->constraints[constraint].stiffness > 0.0 ? energy : 0.0;
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

static const char *const reads[] = {"lagged", NULL};

static const stn_plugin_desc desc = {
    .size = sizeof desc,
    .kind = STN_KIND_LAW,
    .id = "table",
    .version = "0.1.0",
    .summary = "Normal force from a table of penetration, with lagged friction",
    .reference = "castro-2023 section IV",
    .capabilities = reads,
    .config_size = sizeof(table_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .create = create,
    .destroy = destroy,
    .ops.law = &ops,
};
STN_PLUGIN_LIBRARY(&desc);
