// SPDX-License-Identifier: Apache-2.0
// One island: as a problem of its own through the solver, the missing half of the solution completed, scattered back.
#include <string.h>

#include "plugin/answer.h"
#include "problem/inverse.h"
#include "problem/solver.h"

/// What the solver sees of one island; all in the seat's arena.
typedef struct part {
    stn_problem problem;
    const stn_inverse *inverse; // of its trees
    stn_delassus delassus;
    stn_solution solution;
} part;

static bool all_zero(const double *x, int32_t n) {
    for (int32_t i = 0; i < n && x != NULL; i++) {
        if (x[i] != 0.0) {
            return false;
        }
    }
    return true;
}

/// Nothing moves or pushes: zeros are where a solver begins then, for beside no speed at all no other start is near.
static bool is_at_rest(const part *island) {
    const stn_problem *p = &island->problem;
    bool global = p->form == STN_FORM_GLOBAL;
    return all_zero(p->v_hat, p->row_count) && all_zero(p->bias, p->row_count) &&
           (global ? all_zero(p->v_star, p->nv) && all_zero(p->free_impulse, p->nv)
                   : all_zero(p->q, p->row_count) && all_zero(p->s, p->bilateral_count));
}

static stn_status build_island(const solve_job *job, int32_t index, stn_arena *arena, part *out, stn_error *err) {
    *out = (part){.problem = *job->problem};
    stn_status status = STN_OK;
    const stn_islands *islands = &job->islands;
    if (!job->whole) {
        status = stn_problem_island(job->problem, islands, index, arena, &out->problem, err);
    }
    out->inverse = job->inverse;
    if (status == STN_OK && job->inverse != NULL && !job->whole && out->problem.form == STN_FORM_GLOBAL) {
        status = inverse_view(job->inverse, &out->problem, islands, index, arena, &out->inverse, err);
    }
    if (status == STN_OK && (job->solver->ops.needs & STN_NEEDS_DELASSUS) != 0) {
        status = stn_delassus_build(out->inverse, &out->problem, arena, &out->delassus, err);
    }
    if (status != STN_OK) {
        return status;
    }
    size_t nv = (size_t)out->problem.nv, rows = (size_t)out->problem.row_count;
    out->solution = (stn_solution){STN_ARENA(arena, nv, double), STN_ARENA(arena, rows, double)};
    if (out->solution.v == NULL || out->solution.gamma == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    bool rests = is_at_rest(out);
    const double *v = out->problem.v_guess, *gamma = out->problem.gamma_guess;
    for (size_t d = 0; d < nv; d++) {
        out->solution.v[d] = rests ? 0.0 : v[d];
    }
    for (size_t r = 0; r < rows; r++) {
        out->solution.gamma[r] = rests ? 0.0 : gamma[r];
    }
    return STN_OK;
}

static stn_solve_control control_of(const solve_job *job, solver_seat *seat, const part *island) {
    const stn_problem_solver *s = job->solver;
    const stn_solver_common *common = s->options.solver->common;
    const stn_instance *factor = s->options.factor;
    bool delassus = (s->ops.needs & STN_NEEDS_DELASSUS) != 0;
    return (stn_solve_control){
        .tolerance = common->tolerance,
        .absolute_tolerance = common->absolute_tolerance,
        .max_iterations = common->max_iterations,
        .context = s->context,
        .arena = seat->arena,
        .threads = job->islands.count == 1 ? s->options.threads : NULL, // with several they are busy with islands
        .law = s->law.ops != NULL ? &s->law : NULL,
        .law_memory = job->request->law_memory,
        .memory = job->request->solver_memory,
        .inverse = delassus ? island->inverse : NULL,
        .delassus = delassus ? &island->delassus : NULL,
        .factor = factor != NULL ? factor->desc->ops.factor : NULL,
        .factor_self = factor != NULL ? factor->self : NULL,
        .workspace = seat->workspace,
        .phase_us = job->request->phase_us != NULL ? seat->phase_us : NULL,
    };
}

/// The half that the solver leaves to the core.
static stn_status complete(const solve_job *job, part *island, stn_arena *arena, stn_error *err) {
    const stn_problem_solver *s = job->solver;
    if (s->ops.yields == STN_YIELDS_IMPULSE && island->problem.form == STN_FORM_GLOBAL) {
        stn_inverse_velocity(island->inverse, &island->problem, island->solution.gamma, island->solution.v);
    }
    if (s->ops.yields == STN_YIELDS_VELOCITY) {
        return complete_impulses(&island->problem, &s->law, job->request->law_memory, island->solution.v,
                                 island->solution.gamma, arena, err);
    }
    return STN_OK;
}

static stn_status check_solution(const part *island, stn_error *err) {
    const stn_problem *p = &island->problem;
    for (int32_t d = 0; d < p->nv; d++) {
        if (!isfinite(island->solution.v[d])) {
            int32_t t = 0;
            while (t + 1 < p->tree_count && p->trees[t + 1].dof_start <= d) {
                t++;
            }
            return stn_fail(err, STN_ERR_NUMERIC, "v of tree (source %d), dof %d, came out as %g", p->trees[t].source,
                            d - p->trees[t].dof_start, island->solution.v[d]);
        }
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        for (int32_t r = c->row; r < c->row + c->rows; r++) {
            if (!isfinite(island->solution.gamma[r])) {
                return stn_fail(err, STN_ERR_NUMERIC, "gamma of %s (id %llu), row %d, came out as %g",
                                stn_constraint_kind_name(c->kind), (unsigned long long)c->id, r - c->row,
                                island->solution.gamma[r]);
            }
        }
    }
    return STN_OK;
}

static void scatter(const solve_job *job, int32_t index, const part *island) {
    const stn_islands *islands = &job->islands;
    for (int32_t k = 0; k < island->problem.tree_count; k++) {
        const stn_problem_tree *from = &island->problem.trees[k];
        int32_t tree = job->whole ? k : islands->tree[islands->tree_start[index] + k];
        memcpy(job->v + job->problem->trees[tree].dof_start, island->solution.v + from->dof_start,
               (size_t)from->A.n * sizeof(double));
    }
    for (int32_t k = 0; k < island->problem.constraint_count; k++) {
        const stn_constraint *from = &island->problem.constraints[k];
        int32_t c = job->whole ? k : islands->constraint[islands->constraint_start[index] + k];
        memcpy(job->gamma + job->problem->constraints[c].row, island->solution.gamma + from->row,
               (size_t)from->rows * sizeof(double));
    }
}

static stn_status run(const solve_job *job, int32_t index, solver_seat *seat, stn_solve_info *info, stn_error *err) {
    const stn_problem_solver *s = job->solver;
    part island;
    stn_arena_reset(seat->arena);
    stn_status status = build_island(job, index, seat->arena, &island, err);
    if (status != STN_OK) {
        return status;
    }
    stn_solve_control control = control_of(job, seat, &island);
    status = s->ops.solve(s->options.solver->self, &island.problem, &control, &island.solution, info, err);
    status = stn_answer_end(status, err); // err came in empty
    if (status < 0) {
        return status;
    }
    stn_status completed = complete(job, &island, seat->arena, err);
    if (completed == STN_OK) {
        completed = check_solution(&island, err);
    }
    if (completed != STN_OK) {
        return completed;
    }
    scatter(job, index, &island);
    return status;
}

static void solve_island(solve_job *job, int32_t index, solver_seat *seat) {
    island_outcome *outcome = &job->outcomes[index];
    *outcome = (island_outcome){.info = {.cost = (double)NAN, .reason = ""}};
    stn_error err;
    err.status = STN_OK;
    err.text[0] = '\0';
    outcome->status = run(job, index, seat, &outcome->info, &err);
    if (outcome->status < 0 && (seat->failed_island < 0 || index < seat->failed_island)) {
        seat->failed_island = index;
        seat->error = err;
    }
}

void solve_chunk(void *user, int32_t index, int32_t worker) {
    (void)worker;
    solve_job *job = user;
    for (int32_t i = job->chunk_start[index]; i < job->chunk_start[index + 1]; i++) {
        solve_island(job, i, &job->solver->seats[index]);
    }
}
