// SPDX-License-Identifier: Apache-2.0
// A portfolio: solvers of Coulomb's law one after the other, each from the best impulses so far, until the natural map,
// computed here, is within the tolerance.
//
//     round 1, 2, ...:  each solver gets its share of iterations, twice as many in the next round
//                       again at once where it has lowered the residual tenfold; passed over where it refuses the
//                       problem
//     where a round gains nothing, once: from no impulses, the second solver first
//
// Shares are iterations, never time: the same problem gives the same bytes.
#include <math.h>
#include <string.h>

#include "chain.h"
#include "common/scaled_dual.h"

typedef struct auto_config {
    const char *chain;
    int32_t dense_rows;
} auto_config;

#define DEFAULT_CHAIN "bisection:100,newton_ncp:2000,admm_split_ncp:4000,admm_ncp:4000,nsgs:2000"

static const stn_param params[] = {
    STN_PARAM_TEXT(auto_config, chain, DEFAULT_CHAIN,
                   "solvers in their order, each with its iterations in the first round"),
    STN_PARAM_INT(auto_config, dense_rows, "1", 3000.0, 0.0, 1e9,
                  "rows up to which solvers with a full matrix are asked"),
};

typedef struct portfolio {
    const auto_config *config;
    chain chain;
} portfolio;

/// Scratch of a stage, and the workspaces of all.
typedef struct workspace {
    stn_context *context;
    stn_arena *arena;
    int32_t count;
    struct {
        void *memory;
        void (*destroy)(void *);
    } of[MOST_STAGES];
} workspace;

/// A solve.
typedef struct run {
    const portfolio *all;
    const stn_problem *problem;
    const stn_solve_control *control;
    scaled_dual dual;  // judges
    double *x, *g;     // padded, of the judge
    double *v, *gamma; // of a stage, in and out
    double *at;        // (row_count) the best impulses since the last begin: where the next stage starts
    double at_speed;   // their residual [m/s]
    double *best;      // (row_count) of all
    dual_residual least;
    stn_status best_status; // of the stage that found it
    int32_t first;          // stage that a round begins with
    bool done;
    bool refused[MOST_STAGES];
    int32_t refusals;
    stn_error refusal; // the first one
    stn_solve_info *info;
} run;

// ------------------------------------------------------------------------------------------------------------- judge

/// Keeps r->gamma when it is the best since the last begin, and of all.
static void judge(run *r, stn_status status) {
    const size_t bytes = (size_t)r->problem->row_count * sizeof *r->gamma;
    scaled_dual_enter(&r->dual, r->gamma, r->x);
    scaled_dual_gradient(&r->dual, r->x, r->g);
    dual_residual residual = scaled_dual_residual(&r->dual, false, r->x, r->g);
    if (residual.speed < r->at_speed) {
        r->at_speed = residual.speed;
        memcpy(r->at, r->gamma, bytes);
    }
    if (!(residual.speed < r->least.speed) && !(residual.size < r->least.size && residual.speed <= r->least.speed)) {
        return;
    }
    r->least = residual;
    r->best_status = status;
    r->done = scaled_dual_done(&r->dual, residual, r->control);
    memcpy(r->best, r->gamma, bytes);
}

// ------------------------------------------------------------------------------------------------------------- stages

/// Stage k from the best impulses since the last begin, at most `iterations`; again while the residual falls tenfold.
/// Only a lack of memory is an error; any other refusal passes the stage over.
static stn_status use(run *r, int32_t k, int32_t iterations, stn_error *err) {
    const stage *s = &r->all->chain.stages[k];
    workspace *w = r->control->workspace;
    double before;
    do {
        stn_error own = {.status = STN_OK};
        stn_solve_control control = *r->control;
        stn_solve_info info = {.cost = (double)NAN, .reason = ""};
        stn_solution solution = {.v = r->v, .gamma = r->gamma};
        int32_t left = r->control->max_iterations - r->info->iterations;
        before = r->at_speed;
        control.max_iterations = iterations < left ? iterations : left;
        control.arena = w->arena;
        control.workspace = w->of[k].memory;
        stn_arena_reset(w->arena);
        memcpy(r->gamma, r->at, (size_t)r->problem->row_count * sizeof *r->gamma);
        stn_status status = s->ops->solve(s->solver->self, r->problem, &control, &solution, &info, &own);
        if (status == STN_ERR_MEMORY) {
            *err = own;
            return status;
        }
        if (status < STN_OK) {
            r->refusal = r->refusals++ == 0 ? own : r->refusal;
            r->refused[k] = true;
            return STN_OK;
        }
        r->info->iterations += info.iterations;
        r->info->factorizations += info.factorizations;
        r->info->line_search_evaluations += info.line_search_evaluations;
        judge(r, status);
    } while (!r->done && r->at_speed <= 0.1 * before && r->info->iterations < r->control->max_iterations);
    if (r->done) {
        r->info->reason = s->solver->desc->id;
    }
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------------------- rounds

static stn_status make_rounds(run *r, stn_error *err) {
    enum { MOST_DOUBLINGS = 20 };
    r->info->reason = "iterations"; // unless a stage or the end of progress gives another
    for (int32_t doubled = 0; doubled < MOST_DOUBLINGS; doubled++) {
        const chain *c = &r->all->chain;
        double before = r->least.speed;
        int32_t asked = 0; // stages in this round
        for (int32_t i = 0; i < c->count && !r->done; i++) {
            int32_t k = (r->first + i) % c->count;
            if (r->refused[k] || r->info->iterations >= r->control->max_iterations) {
                continue;
            }
            int64_t share = (int64_t)c->stages[k].iterations << doubled;
            stn_status status = use(r, k, share < INT32_MAX ? (int32_t)share : INT32_MAX, err);
            if (status != STN_OK) {
                return status;
            }
            asked += !r->refused[k];
        }
        if (r->done) {
            return STN_OK;
        }
        if (r->info->iterations >= r->control->max_iterations) {
            break;
        }
        bool gained = r->least.speed <= 0.5 * before;
        if (asked == 0 || (!gained && r->first > 0)) {
            r->info->reason = "no progress";
            break;
        }
        if (!gained) {
            // from no impulses, and another stage first: what one ended in, another may go around.
            memset(r->gamma, 0, (size_t)r->problem->row_count * sizeof *r->gamma);
            r->at_speed = (double)INFINITY;
            judge(r, STN_NOT_CONVERGED);
            r->first++;
        }
    }
    return r->best_status == STN_STALLED ? STN_STALLED : STN_NOT_CONVERGED;
}

static stn_status solve(void *self, const stn_problem *problem, const stn_solve_control *control,
                        stn_solution *solution, stn_solve_info *info, stn_error *err) {
    run r = {.all = self,
             .problem = problem,
             .control = control,
             .at_speed = (double)INFINITY,
             .least = {(double)INFINITY, (double)INFINITY},
             .best_status = STN_NOT_CONVERGED,
             .info = info};
    stn_arena *arena = control->arena;
    stn_status status = scaled_dual_build(control->delassus, arena, &r.dual, err);
    if (status != STN_OK) {
        return status;
    }
    size_t rows = (size_t)problem->row_count, nv = (size_t)problem->nv;
    r.x = packed_vector(&r.dual.H, arena);
    r.g = packed_vector(&r.dual.H, arena);
    r.v = STN_ARENA(arena, nv + 1, double);
    r.gamma = STN_ARENA(arena, rows + 1, double);
    r.at = STN_ARENA(arena, rows + 1, double);
    r.best = STN_ARENA(arena, rows + 1, double);
    if (r.x == NULL || r.g == NULL || r.v == NULL || r.gamma == NULL || r.at == NULL || r.best == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d rows: out of memory", problem->row_count);
    }
    if (nv > 0) {
        memcpy(r.v, solution->v, nv * sizeof *r.v);
    }
    memcpy(r.gamma, solution->gamma, rows * sizeof *r.gamma);
    memcpy(r.best, solution->gamma, rows * sizeof *r.best);
    for (int32_t k = 0; k < r.all->chain.count; k++) {
        const stage *s = &r.all->chain.stages[k];
        r.refused[k] = s->dense && problem->row_count > r.all->config->dense_rows;
        for (int32_t i = 0; i < problem->constraint_count && !r.refused[k]; i++) {
            r.refused[k] = (s->ops->sets >> problem->constraints[i].set & 1u) == 0;
        }
    }
    info->reason = "residual";
    judge(&r, STN_NOT_CONVERGED);
    if (isinf(r.least.speed)) { // NaN is never less
        return stn_fail(err, STN_ERR_NUMERIC,
                        "the residual at the start is no finite number: numbers of the problem are too large");
    }
    if (!r.done) {
        status = make_rounds(&r, err);
    }
    if (status < STN_OK) {
        return status;
    }
    if (info->iterations == 0 && r.refusals > 0 && !r.done) {
        *err = r.refusal;
        return r.refusal.status;
    }
    memcpy(solution->gamma, r.best, (size_t)problem->row_count * sizeof *solution->gamma);
    return status;
}

// ----------------------------------------------------------------------------------------------------------- life time

static void destroy(void *self) {
    portfolio *p = self;
    if (p != NULL) {
        stn_context *context = p->chain.context;
        chain_clear(&p->chain);
        stn_release(context, p);
    }
}

static stn_status create(stn_context *context, const void *config, void **self, stn_error *err) {
    portfolio *p = stn_allocate(context, 1, sizeof *p);
    if (p == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    p->config = config;
    stn_status status = chain_create(context, p->config->chain, &p->chain, err);
    if (status != STN_OK) {
        destroy(p);
        return status;
    }
    *self = p;
    return STN_OK;
}

static void destroy_workspace(void *memory) {
    workspace *w = memory;
    for (int32_t k = 0; k < w->count; k++) {
        if (w->of[k].memory != NULL) {
            w->of[k].destroy(w->of[k].memory);
        }
    }
    stn_arena_destroy(w->arena);
    stn_release(w->context, w);
}

static stn_status create_workspace(void *self, stn_context *context, void **out, stn_error *err) {
    const chain *c = &((const portfolio *)self)->chain;
    workspace *w = stn_allocate(context, 1, sizeof *w);
    if (w == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    w->context = context;
    w->arena = stn_arena_create(context);
    stn_status status = w->arena != NULL ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "out of memory");
    for (; w->count < c->count && status == STN_OK; w->count++) {
        const stage *s = &c->stages[w->count];
        if (s->ops->create_workspace != NULL) {
            w->of[w->count].destroy = s->ops->destroy_workspace;
            status = s->ops->create_workspace(s->solver->self, context, &w->of[w->count].memory, err);
        }
    }
    if (status != STN_OK) {
        destroy_workspace(w);
        return status;
    }
    *out = w;
    return STN_OK;
}

// ---------------------------------------------------------------------------------------------------------- descriptor

static const stn_solver_ops ops = {
    .size = sizeof ops,
    .formulation = STN_NCP,
    .yields = STN_YIELDS_IMPULSE,
    .needs = STN_NEEDS_DELASSUS,
    .sets = 1u << STN_SET_CONE | 1u << STN_SET_ELLIPSE | 1u << STN_SET_BOX | 1u << STN_SET_EQUALITY,
    .create_workspace = create_workspace,
    .destroy_workspace = destroy_workspace,
    .solve = solve,
    .max_iterations = 100000,
};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_SOLVER,
    .id = "auto",
    .version = "0.1.0",
    .summary = "A portfolio for Coulomb friction: solvers one after the other, each from the best impulses so far",
    .config_size = sizeof(auto_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .create = create,
    .destroy = destroy,
    .ops.solver = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
