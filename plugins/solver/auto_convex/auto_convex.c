// SPDX-License-Identifier: Apache-2.0
// Convex contact to the tolerance that is asked for: each island by the faster of two solvers of the same problem.
//
//     apgd    where the tolerance is loose for the island's size, and then for a bounded number of iterations
//     sap     elsewhere, and from apgd's velocities where those iterations were not enough
//
// Which one depends on the problem and the parameters alone, never on time: the same problem gives the same bytes.
#include "common/body_lanes.h"

#include <math.h>
#include <stiction/plugin.h>
#include <stiction/solve.h>

typedef struct auto_config {
    int32_t smallest_island, sweeps;
    double advantage;
} auto_config;

static const stn_param params[] = {
    STN_PARAM_INT(auto_config, smallest_island, "1", 64, 0.0, 1e9, "bodies from which on an island may be apgd's"),
    STN_PARAM_REAL(auto_config, advantage, "1", 4.0, 0.0, 1e18,
                   "an island is apgd's where tolerance times bodies squared is at least this"),
    STN_PARAM_INT(auto_config, sweeps, "1", 200, 1.0, 1e6, "iterations of apgd after which sap goes on"),
};

enum { FIRST_ORDER, NEWTON, SOLVERS };
static const char *const ids[SOLVERS] = {"apgd", "sap"};

typedef struct choice {
    stn_context *context;
    const auto_config *config;
    stn_instance *solvers[SOLVERS];
} choice;

/// Of both solvers; NULL where one has none.
typedef struct workspace {
    stn_context *context;
    const choice *choice;
    void *of[SOLVERS];
} workspace;

static const stn_solver_ops *ops_of(const choice *c, int32_t k) {
    return c->solvers[k]->desc->ops.solver;
}

/// Is apgd worth it? It needs A^-1 and single bodies, whose operator it multiplies by without making it. Its iterations
/// grow with the digits asked for, the time of Newton's method with the factor of the island.
static bool is_loose(const choice *c, const stn_problem *problem, const stn_solve_control *control) {
    const double bodies = problem->tree_count;
    return control->inverse != NULL && bodies >= c->config->smallest_island &&
           control->tolerance * bodies * bodies >= c->config->advantage && body_lanes_fit(problem);
}

/// By solver k, for `iterations` at most; info gets what it did.
static stn_status use(const choice *c, int32_t k, const stn_problem *problem, const stn_solve_control *control,
                      int32_t iterations, stn_solution *solution, stn_solve_info *info, stn_error *err) {
    stn_solve_control own = *control;
    own.max_iterations = iterations;
    own.workspace = ((const workspace *)control->workspace)->of[k];
    *info = (stn_solve_info){.cost = (double)NAN, .reason = ""};
    return ops_of(c, k)->solve(c->solvers[k]->self, problem, &own, solution, info, err);
}

static stn_status solve(void *self, const stn_problem *problem, const stn_solve_control *control,
                        stn_solution *solution, stn_solve_info *info, stn_error *err) {
    const choice *c = self;
    const int32_t most = control->max_iterations;
    stn_solve_info first = {.reason = ""};
    if (is_loose(c, problem, control)) {
        const int32_t sweeps = most < c->config->sweeps ? most : c->config->sweeps;
        stn_status status = use(c, FIRST_ORDER, problem, control, sweeps, solution, &first, err);
        if (status < STN_OK) {
            return status;
        }
        stn_inverse_velocity(control->inverse, problem, solution->gamma, solution->v);
        if (status == STN_OK || first.iterations >= most) {
            *info = first;
            info->reason = ids[FIRST_ORDER];
            return status;
        }
    }
    stn_status status = use(c, NEWTON, problem, control, most - first.iterations, solution, info, err);
    if (status == STN_OK) {
        info->reason = ids[NEWTON];
    }
    info->iterations += first.iterations;
    info->line_search_evaluations += first.line_search_evaluations;
    info->fallbacks += first.iterations > 0;
    return status;
}

static stn_status differentiate(void *self, const stn_problem *problem, const stn_solve_control *control,
                                const stn_solution *solution, const stn_sensitivity *sensitivity, stn_error *err) {
    const choice *c = self;
    stn_solve_control own = *control;
    own.workspace = control->workspace != NULL ? ((const workspace *)control->workspace)->of[NEWTON] : NULL;
    return ops_of(c, NEWTON)->differentiate(c->solvers[NEWTON]->self, problem, &own, solution, sensitivity, err);
}

// ----------------------------------------------------------------------------------------------------------- life time

static void destroy(void *self) {
    choice *c = self;
    if (c != NULL) {
        for (int32_t k = 0; k < SOLVERS; k++) {
            stn_instance_destroy(c->solvers[k]);
        }
        stn_release(c->context, c);
    }
}

static stn_status create(stn_context *context, const void *config, void **self, stn_error *err) {
    choice *c = stn_allocate(context, 1, sizeof *c);
    if (c == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    *c = (choice){.context = context, .config = config};
    for (int32_t k = 0; k < SOLVERS; k++) {
        stn_status status = stn_instance_create(context, STN_KIND_SOLVER, ids[k], NULL, 0, &c->solvers[k], err);
        if (status != STN_OK) {
            destroy(c);
            return status;
        }
    }
    *self = c;
    return STN_OK;
}

static void destroy_workspace(void *memory) {
    workspace *w = memory;
    for (int32_t k = 0; k < SOLVERS; k++) {
        if (w->of[k] != NULL) {
            ops_of(w->choice, k)->destroy_workspace(w->of[k]);
        }
    }
    stn_release(w->context, w);
}

static stn_status create_workspace(void *self, stn_context *context, void **out, stn_error *err) {
    const choice *c = self;
    workspace *w = stn_allocate(context, 1, sizeof *w);
    if (w == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    *w = (workspace){.context = context, .choice = c};
    for (int32_t k = 0; k < SOLVERS; k++) {
        const stn_solver_ops *of = ops_of(c, k);
        stn_status status =
            of->create_workspace == NULL ? STN_OK : of->create_workspace(c->solvers[k]->self, context, &w->of[k], err);
        if (status != STN_OK) {
            destroy_workspace(w);
            return status;
        }
    }
    *out = w;
    return STN_OK;
}

static const stn_solver_ops ops = {
    .size = sizeof ops,
    .formulation = STN_CCP, // what both solve with a quadratic law
    .yields = STN_YIELDS_BOTH,
    .needs = STN_NEEDS_LAW | STN_REGULARIZED_BY_LAW | STN_NEEDS_INVERSE,
    .sets = 1u << STN_SET_CONE | 1u << STN_SET_ELLIPSE | 1u << STN_SET_BOX | 1u << STN_SET_EQUALITY,
    .create_workspace = create_workspace,
    .destroy_workspace = destroy_workspace,
    .solve = solve,
    .max_iterations = 1000,
    .supports = STN_SUPPORTS_SINGULAR_A | STN_SUPPORTS_ARTICULATED_A,
    .differentiate = differentiate,
};

static const stn_plugin_desc auto_convex = {
    .size = sizeof auto_convex,
    .kind = STN_KIND_SOLVER,
    .id = "auto_convex",
    .version = "0.1.0",
    .summary = "Convex contact by sap, or by apgd where the tolerance is loose for the size of an island",
    .config_size = sizeof(auto_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .create = create,
    .destroy = destroy,
    .ops.solver = &ops,
};
STN_PLUGIN_LIBRARY(&auto_convex);
