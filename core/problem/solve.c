// SPDX-License-Identifier: Apache-2.0
// One problem through a chosen solver: prepare it, solve its islands, certify the result.
#include <string.h>

#include "base/finite.h"
#include "base/options.h"
#include "problem/inverse.h"
#include "problem/solver.h"

// ---------------------------------------------------------------------------------------------------- one island
// As a problem of its own through the solver, the missing half of the solution completed, scattered back.

/// What the solver sees of one island; all in the slot's arena.
typedef struct part {
    stn_arena *arena;
    stn_problem problem;
    const stn_inverse *inverse; // of its trees
    stn_delassus delassus;
    double delassus_us; // what it took, when a profile is asked for
    stn_solution solution;
} part;

static bool is_nothing(const double *x, int32_t n) {
    return x == NULL || all_zero((size_t)n, x);
}

static stn_status build_island(const solve_job *job, int32_t index, part *out, stn_error *err) {
    stn_arena *arena = out->arena;
    stn_problem *p = &out->problem;
    const stn_islands *islands = &job->islands;
    const bool global = job->problem->form == STN_FORM_GLOBAL;
    stn_status status = STN_OK;
    *p = *job->problem;
    out->inverse = job->inverse;
    if (!job->whole) {
        status = stn_problem_island(job->problem, islands, index, arena, p, err);
    }
    if (status == STN_OK && job->inverse != NULL && !job->whole && global) {
        out->inverse = inverse_view(job->inverse, p, islands->tree + islands->tree_start[index],
                                    islands->constraint + islands->constraint_start[index], arena);
        if (out->inverse == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "inverse of A: out of memory for a view of %d trees", p->tree_count);
        }
    }
    const bool singular = out->inverse != NULL && inverse_has_singular(out->inverse);
    if (status == STN_OK && (singular || !stn_solver_takes_articulated(&job->solver->ops))) {
        const stn_problem compact = *p;
        status = stn_problem_expand(&compact, arena, p) ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    if (status == STN_OK && (job->solver->ops.needs & STN_NEEDS_DELASSUS) != 0 && !singular) {
        const bool timed = job->request->phase_us != NULL;
        const double start = timed ? stn_clock_us() : 0.0;
        status = stn_delassus_build(out->inverse, p, arena, &out->delassus, err);
        out->delassus_us = timed ? stn_clock_us() - start : 0.0;
    }
    if (status != STN_OK) {
        return status;
    }
    size_t nv = (size_t)p->nv, rows = (size_t)p->row_count;
    out->solution = (stn_solution){STN_ARENA(arena, nv, double), STN_ARENA(arena, rows, double), NULL};
    out->solution.v_position = job->v_position != NULL ? STN_ARENA_ZEROED(arena, nv, double) : NULL;
    if (out->solution.v == NULL || out->solution.gamma == NULL ||
        (job->v_position != NULL && out->solution.v_position == NULL)) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    // where nothing moves or pushes a solver begins with zeros, for beside no speed at all no other start is near
    bool rests = is_nothing(p->v_hat, p->row_count) && is_nothing(p->bias, p->row_count) &&
                 (global ? is_nothing(p->v_star, p->nv) && is_nothing(p->free_impulse, p->nv)
                         : is_nothing(p->q, p->row_count) && is_nothing(p->s, p->bilateral_count));
    for (size_t d = 0; d < nv; d++) {
        out->solution.v[d] = rests ? 0.0 : p->v_guess[d];
    }
    for (size_t r = 0; r < rows; r++) {
        out->solution.gamma[r] = rests ? 0.0 : p->gamma_guess[r];
    }
    return STN_OK;
}

static stn_status check_solution(const stn_problem *p, const stn_solution *solution, stn_error *err) {
    if (all_finite((size_t)p->nv, solution->v) && all_finite((size_t)p->row_count, solution->gamma) &&
        (solution->v_position == NULL || all_finite((size_t)p->nv, solution->v_position))) {
        return STN_OK;
    }
    for (int32_t d = 0; d < p->nv; d++) {
        const double *moves = solution->v_position;
        if (!isfinite(solution->v[d]) || (moves != NULL && !isfinite(moves[d]))) {
            int32_t t = 0;
            while (t + 1 < p->tree_count && p->trees[t + 1].dof_start <= d) {
                t++;
            }
            return stn_fail(err, STN_ERR_NUMERIC, "v of tree (source %d), dof %d, came out as %g", p->trees[t].source,
                            d - p->trees[t].dof_start, isfinite(solution->v[d]) ? moves[d] : solution->v[d]);
        }
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        for (int32_t r = c->row; r < c->row + c->rows; r++) {
            if (!isfinite(solution->gamma[r])) {
                return stn_fail(err, STN_ERR_NUMERIC, "gamma of %s (id %llu), row %d, came out as %g",
                                stn_constraint_kind_name(c->kind), (unsigned long long)c->id, r - c->row,
                                solution->gamma[r]);
            }
        }
    }
    return STN_OK;
}

static stn_status run(const solve_job *job, int32_t index, worker_slot *slot, stn_error *err) {
    const stn_problem_solver *s = job->solver;
    const stn_islands *islands = &job->islands;
    part island = {.arena = slot->arena};
    stn_problem *p = &island.problem;
    stn_arena_reset(slot->arena);
    stn_status status = build_island(job, index, &island, err);
    if (status != STN_OK) {
        return status;
    }
    const stn_solver_common *common = s->options.solver->common;
    const stn_instance *factor = s->options.factor;
    bool delassus = (s->ops.needs & STN_NEEDS_DELASSUS) != 0;
    bool *singular = NULL;
    const bool some = island.inverse != NULL && inverse_has_singular(island.inverse);
    for (int32_t t = 0; t < p->tree_count && some; t++) {
        if (stn_inverse_singular(island.inverse, t) < 0) {
            continue;
        }
        singular = singular != NULL ? singular : STN_ARENA_ZEROED(slot->arena, p->tree_count, bool);
        if (singular == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "out of memory");
        }
        singular[t] = true;
    }
    stn_solve_control control = {
        .tolerance = common->tolerance,
        .absolute_tolerance = common->absolute_tolerance,
        .max_iterations = common->max_iterations,
        .context = s->context,
        .arena = slot->arena,
        .threads = slot->threads,
        .law = s->law.ops != NULL ? &s->law : NULL,
        .law_memory = job->request->law_memory,
        .memory = job->request->solver_memory,
        .inverse = !some && (delassus || (s->ops.needs & STN_NEEDS_INVERSE) != 0) ? island.inverse : NULL,
        .delassus = delassus && !some ? &island.delassus : NULL,
        .factor = factor != NULL ? factor->desc->ops.factor : NULL,
        .factor_self = factor != NULL ? factor->self : NULL,
        .workspace = slot->workspace,
        .phase_us = job->request->phase_us != NULL ? slot->phase_us : NULL,
        .singular = singular,
        .unheld = &job->outcomes[index].unheld,
    };
    slot->phase_us[STN_PHASE_DELASSUS] += island.delassus_us;
    status = s->ops.solve(s->options.solver->self, p, &control, &island.solution, &job->outcomes[index].info, err);
    status = stn_answer_end(status, err); // err came in empty
    if (status < 0) {
        return status;
    }
    status = s->approximate ? STN_NOT_CONVERGED : status; // whatever it says
    // the half that the solver leaves to the core
    stn_status completed = STN_OK;
    if (s->ops.yields == STN_YIELDS_IMPULSE && p->form == STN_FORM_GLOBAL && !some) {
        stn_inverse_velocity(island.inverse, p, island.solution.gamma, island.solution.v);
    } else if (s->ops.yields == STN_YIELDS_VELOCITY) {
        const law_question asked = {
            .problem = p, .law = &s->law, .law_memory = job->request->law_memory, .scratch = slot->arena};
        completed = complete_impulses(&asked, island.solution.v, island.solution.gamma, err);
    }
    if (completed == STN_OK) {
        completed = check_solution(&island.problem, &island.solution, err);
    }
    if (completed != STN_OK) {
        return completed;
    }
    for (int32_t k = 0; k < p->tree_count; k++) {
        int32_t tree = job->whole ? k : islands->tree[islands->tree_start[index] + k];
        memcpy(job->v + job->problem->trees[tree].dof_start, island.solution.v + p->trees[k].dof_start,
               (size_t)p->trees[k].A.n * sizeof(double));
        if (job->v_position != NULL) {
            memcpy(job->v_position + job->problem->trees[tree].dof_start,
                   island.solution.v_position + p->trees[k].dof_start, (size_t)p->trees[k].A.n * sizeof(double));
        }
    }
    for (int32_t k = 0; k < p->constraint_count; k++) {
        const stn_constraint *from = &p->constraints[k];
        int32_t c = job->whole ? k : islands->constraint[islands->constraint_start[index] + k];
        const double *gamma = island.solution.gamma + from->row;
        double *to = job->gamma + job->problem->constraints[c].row;
        for (int32_t r = 0; r < from->rows; r++) {
            to[r] = gamma[r];
        }
    }
    return status;
}

/// Solves the islands of chunk `index`, one after the other, each by `threads`.
static void solve_chunk(solve_job *job, int32_t index, stn_threads *threads) {
    worker_slot *slot = &job->solver->slots[index];
    slot->threads = threads;
    for (int32_t i = job->chunk_start[index]; i < job->chunk_start[index + 1]; i++) {
        island_outcome *outcome = &job->outcomes[i];
        *outcome = (island_outcome){.info = {.cost = (double)NAN, .reason = ""}, .unheld = {-1, -1}};
        stn_error err;
        err.status = STN_OK;
        err.text[0] = '\0';
        outcome->status = run(job, i, slot, &err);
        if (outcome->status < 0 && (slot->failed_island < 0 || i < slot->failed_island)) {
            slot->failed_island = i;
            slot->error = err;
        }
    }
}

/// What stn_parallel_for calls: all chunks but the largest.
static void solve_other_chunk(void *user, int32_t index, int32_t worker) {
    (void)worker;
    solve_job *job = user;
    if (index != job->largest) {
        solve_chunk(job, index, NULL); // the threads are busy with chunks
    }
}

// ---------------------------------------------------------------------------------------------------- the object

stn_status stn_problem_solver_create_sized(stn_context *context, const stn_problem_solver_options *given_options,
                                           size_t size, stn_problem_solver **out, stn_error *err) {
    enum { SLOTS_PER_WORKER = 4 };
    stn_problem_solver_options taken, *options = &taken;
    *out = NULL;
    if (stn_options_take("problem solver", &taken, sizeof taken, given_options, size, err) != STN_OK) {
        return STN_ERR_ARGUMENT;
    }
    const stn_instance *solver = options->solver, *law = options->law;
    const struct {
        const stn_instance *instance;
        stn_kind kind;
    } given[] = {{solver, STN_KIND_SOLVER}, {law, STN_KIND_LAW}, {options->factor, STN_KIND_FACTOR}};
    for (int32_t i = 0; i < STN_COUNT(given); i++) {
        if (given[i].instance != NULL && given[i].instance->desc->kind != given[i].kind) {
            return stn_fail(err, STN_ERR_ARGUMENT, "%s %s is no %s", stn_kind_name(given[i].instance->desc->kind),
                            given[i].instance->desc->id, stn_kind_name(given[i].kind));
        }
    }
    if (solver == NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "no solver is chosen");
    }
    const stn_solver_ops *ops = solver->desc->ops.solver;
    if (law == NULL && stn_solver_needs_law(ops)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "solver %s needs a contact law and none is chosen", solver->desc->id);
    }
    stn_problem_solver *s = stn_allocate(context, 1, sizeof *s);
    if (s == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "problem solver: out of memory");
    }
    s->context = context;
    s->options = *options;
    memcpy(&s->ops, ops, ops->size < sizeof s->ops ? ops->size : sizeof s->ops);
    s->approximate = stn_plugin_says(solver, "approximate");
    // which law is evaluated, and which one says what R and v_hat are
    stn_status status = STN_OK;
    if (stn_solver_needs_law(&s->ops)) {
        s->law = s->regularizer = stn_law_of(law);
    } else if (stn_solver_may_have_law(&s->ops) && law != NULL) {
        s->regularizer = stn_law_of(law);
    }
    if ((s->ops.needs & STN_REGULARIZED_BY_LAW) != 0 && law != NULL) {
        if (s->regularizer.adhesive) {
            status = stn_fail(err, STN_ERR_UNSUPPORTED,
                              "law %s pulls, and solver %s keeps impulses in cones that do not: take solver sap",
                              law->desc->id, solver->desc->id);
        } else if (law->desc->ops.law->regularize == NULL) {
            status =
                stn_fail(err, STN_ERR_UNSUPPORTED,
                         "solver %s works with laws that are quadratic, such as sap; %s is evaluated point by point, "
                         "by solver sap",
                         solver->desc->id, law->desc->id);
        }
    }
    int32_t workers = stn_threads_count(s->options.threads), count = workers == 1 ? 1 : SLOTS_PER_WORKER * workers;
    s->arena = stn_arena_create(context);
    s->slots = stn_allocate(context, (size_t)count, sizeof *s->slots);
    if (status == STN_OK) {
        status = s->arena != NULL && s->slots != NULL ? stn_inverse_create(context, &s->inverse, err)
                                                      : stn_fail(err, STN_ERR_MEMORY, "problem solver: out of memory");
    }
    const stn_instance *factor = s->options.factor;
    if (status == STN_OK && factor != NULL) {
        stn_inverse_set_factor(s->inverse, factor->desc->ops.factor, factor->self);
    }
    s->slot_count = s->slots != NULL ? count : 0;
    for (int32_t k = 0; k < count && status == STN_OK; k++) {
        worker_slot *slot = &s->slots[k];
        slot->arena = stn_arena_create(context);
        if (slot->arena == NULL) {
            status = stn_fail(err, STN_ERR_MEMORY, "problem solver: out of memory");
        } else if (s->ops.create_workspace != NULL) {
            status = s->ops.create_workspace(solver->self, context, &slot->workspace, err);
            slot->workspace = status == STN_OK ? slot->workspace : NULL;
        }
    }
    if (status != STN_OK) {
        stn_problem_solver_destroy(s);
        return status;
    }
    *out = s;
    return STN_OK;
}

void stn_problem_solver_destroy(stn_problem_solver *s) {
    if (s == NULL) {
        return;
    }
    for (int32_t k = 0; k < s->slot_count; k++) {
        if (s->slots[k].workspace != NULL) {
            s->ops.destroy_workspace(s->slots[k].workspace);
        }
        stn_arena_destroy(s->slots[k].arena);
    }
    stn_release(s->context, s->slots);
    stn_inverse_destroy(s->inverse);
    stn_arena_destroy(s->arena);
    stn_release(s->context, s);
}

// --------------------------------------------------------------------------------------------------------- solve

/// Islands, room for what comes of them, and chunks: consecutive islands together, at most as many as there are slots,
/// of equal numbers of constraints, and at least CHUNK of them, because small islands are not worth a turn each and
/// neighbours write into the same cache lines.
static stn_status cut_chunks(solve_job *job, stn_error *err) {
    enum { CHUNK = 16 };
    const stn_problem *problem = job->problem;
    stn_arena *arena = job->solver->arena;
    stn_status status = stn_problem_islands(problem, arena, &job->islands, err);
    if (status != STN_OK) {
        return status;
    }
    const int32_t count = job->islands.count, *start = job->islands.constraint_start, slots = job->solver->slot_count;
    job->whole = count == 1 && job->islands.tree_start[1] == problem->tree_count;
    job->outcomes = STN_ARENA(arena, count, island_outcome);
    job->v = STN_ARENA(arena, problem->nv, double);
    job->gamma = STN_ARENA(arena, problem->row_count, double);
    job->chunk_start = STN_ARENA(arena, count + 1, int32_t);
    bool apart = job->out->v_position != NULL && (job->solver->ops.needs & STN_NEEDS_V_POSITION) != 0;
    job->v_position = apart ? STN_ARENA(arena, problem->nv, double) : NULL;
    if (job->outcomes == NULL || job->v == NULL || job->gamma == NULL || job->chunk_start == NULL ||
        (apart && job->v_position == NULL)) {
        return stn_fail(err, STN_ERR_MEMORY, "problem solver: out of memory");
    }
    const int32_t share = (problem->constraint_count + slots - 1) / slots, least = share > CHUNK ? share : CHUNK;
    job->chunk_count = 0;
    job->chunk_start[0] = 0;
    for (int32_t i = 0; i < count; i++) {
        if (i + 1 == count || start[i + 1] - start[job->chunk_start[job->chunk_count]] >= least) {
            job->chunk_start[++job->chunk_count] = i + 1;
        }
    }
    job->largest = -1;
    for (int32_t i = 0, k = 0; i < count; i++) {
        k += i == job->chunk_start[k + 1];
        job->largest = 2 * (start[i + 1] - start[i]) > problem->constraint_count || count == 1 ? k : job->largest;
    }
    return STN_OK;
}

static int32_t severity(stn_status status) {
    return status == STN_NOT_CONVERGED ? 2 : (status == STN_STALLED ? 1 : 0);
}

stn_status stn_fail_unheld(const stn_problem *problem, stn_unheld where, stn_unheld *told, stn_error *err) {
    if (told != NULL) {
        *told = where;
    }
    return stn_fail(
        err, STN_ERR_NUMERIC,
        "nothing holds tree %d (source %d) along dof %d: A is singular there, and no constraint resists the "
        "impulses on it: give the dof mass, stiffness, damping or a support (integrator quasistatic: "
        "unactuated_mass_scale lets it fall, a larger reach finds a support farther away)",
        where.tree, problem->trees[where.tree].source, where.dof);
}

/// Of the forces, what iterations leave of them on trees that nothing touches.
#define ROUND_OFF 1e-13

static stn_status solve_islands(solve_job *job, stn_error *err) {
    const stn_problem *problem = job->problem;
    stn_problem_solver *s = job->solver;
    stn_status status = cut_chunks(job, err);
    if (status != STN_OK) {
        return status;
    }
    for (int32_t k = 0; k < s->slot_count; k++) {
        s->slots[k].failed_island = -1;
    }
    if (job->largest >= 0) {
        solve_chunk(job, job->largest, s->options.threads);
    }
    stn_parallel_for(s->options.threads, job->chunk_count, solve_other_chunk, job);
    for (int32_t k = 0; k < s->slot_count && job->request->phase_us != NULL; k++) { // phases of all slots, from zero
        for (int32_t i = 0; i < STN_PHASE_COUNT; i++) {
            job->request->phase_us[i] += s->slots[k].phase_us[i];
            s->slots[k].phase_us[i] = 0.0;
        }
    }
    // the failure of the first island that failed, whichever chunk it was in
    const worker_slot *first = NULL;
    for (int32_t k = 0; k < s->slot_count; k++) {
        const worker_slot *slot = &s->slots[k];
        if (slot->failed_island >= 0 && (first == NULL || slot->failed_island < first->failed_island)) {
            first = slot;
        }
    }
    if (first != NULL) {
        const island_outcome *outcome = &job->outcomes[first->failed_island];
        const int32_t *trees = job->whole ? NULL : job->islands.tree + job->islands.tree_start[first->failed_island];
        job->unheld = outcome->unheld;
        job->unheld.tree = job->unheld.tree < 0 || trees == NULL ? job->unheld.tree : trees[job->unheld.tree];
        status = outcome->status;
        if (err != NULL) {
            *err = first->error;
            err->status = status;
            if (job->islands.count > 1) {
                stn_error_prefix(err, "island %d", first->failed_island);
            }
            stn_error_prefix(err, "solver %s", s->options.solver->desc->id);
        }
        return status;
    }
    // trees in no island: v = v_star + A^-1 free_impulse
    for (int32_t t = 0; t < problem->tree_count; t++) {
        if (job->islands.tree_position[t] >= 0) {
            continue;
        }
        const stn_problem_tree *tree = &problem->trees[t];
        size_t bytes = (size_t)tree->A.n * sizeof(double);
        double *v = job->v + tree->dof_start;
        const double *v_star = problem->v_star + tree->dof_start;
        const double *impulse = problem->free_impulse != NULL ? problem->free_impulse + tree->dof_start : NULL;
        if (impulse == NULL) {
            memcpy(v, v_star, bytes);
        } else if (inverse_left(job->inverse, t)) {
            for (int32_t d = 0; d < tree->A.n; d++) {
                v[d] = problem->v_guess[tree->dof_start + d] - v_star[d];
            }
            status = inverse_iterate(job->inverse, problem, t, impulse, ROUND_OFF, 4 * tree->A.n, v, s->arena, err);
            if (status == STN_NOT_CONVERGED) {
                return stn_fail(err, STN_ERR_NUMERIC,
                                "A of tree %d (source %d) is too ill-conditioned for conjugate gradients: take a "
                                "solver that factors it, such as sap",
                                t, tree->source);
            }
            if (status != STN_OK) {
                return status;
            }
        } else if (stn_inverse_singular(job->inverse, t) < 0) {
            memcpy(v, impulse, bytes);
            stn_inverse_apply(job->inverse, t, 1, v);
        } else {
            stn_unheld where = {t, 0};
            status = inverse_settle(job->inverse, t, impulse, v, s->arena, &where.dof);
            if (status != STN_OK) {
                return status == STN_ERR_MEMORY ? stn_fail(err, status, "out of memory")
                                                : stn_fail_unheld(problem, where, &job->unheld, err);
            }
        }
        for (int32_t d = 0; d < tree->A.n && impulse != NULL; d++) {
            v[d] += v_star[d];
        }
        if (job->v_position != NULL) {
            memcpy(job->v_position + tree->dof_start, v, bytes);
        }
    }
    return STN_OK;
}

/// A solution that came from elsewhere, as one outcome without islands.
static stn_status take_given(solve_job *job, stn_error *err) {
    job->v = job->out->v;
    job->gamma = job->out->gamma;
    return check_solution(job->problem, job->out, err);
}

stn_status stn_problem_solve(stn_problem_solver *solver, stn_problem *problem, const stn_solve_request *request,
                             stn_solution *solution, stn_solve_report *report, stn_certificate *certificate,
                             stn_error *err) {
    solve_job job = {.solver = solver, .problem = problem, .request = request, .out = solution, .unheld = {-1, -1}};
    stn_solve_report result = {.status = STN_OK, .reason = "no constraints", .worst = -1, .unheld = {-1, -1}};
    certificate_parts parts = {.formulation = stn_solver_formulation(solver->options.solver)};
    stn_certificate certified;
    stn_arena_reset(solver->arena);

    double start = stn_clock_us();
    stn_status status = prepare_problem(&job, err);
    double prepared = stn_clock_us();
    if (status == STN_OK) {
        status = request->given != NULL ? take_given(&job, err) : solve_islands(&job, err);
    }
    double solved = stn_clock_us();
    if (status == STN_OK) {
        const certificate_question asked = {.problem = problem,
                                            .v = job.v,
                                            .gamma = job.gamma,
                                            .law = solver->law.ops != NULL ? &solver->law : NULL,
                                            .law_memory = request->law_memory,
                                            .inverse = job.inverse,
                                            .flags = request->certificate_flags,
                                            .scratch = solver->arena};
        status = certify_in_parts(&asked, &parts, &certified, err);
    }
    if (status == STN_OK) {
        status = judge_claims(&job, &parts, &result.contradiction, err);
    }
    if (status != STN_OK) {
        if (report != NULL) {
            report->unheld = job.unheld;
        }
        return status;
    }
    if (problem->nv > 0 && request->given == NULL) {
        memcpy(solution->v, job.v, (size_t)problem->nv * sizeof(double));
        if (job.v_position != NULL) {
            memcpy(solution->v_position, job.v_position, (size_t)problem->nv * sizeof(double));
        }
    }
    if (problem->row_count > 0 && request->given == NULL) {
        memcpy(solution->gamma, job.gamma, (size_t)problem->row_count * sizeof(double));
    }
    if (certificate != NULL) {
        *certificate = certified;
    }
    result.island_count = job.islands.count;
    if (request->given != NULL) {
        result.status = STN_NOT_CONVERGED;
        result.reason = request->given->reason;
        result.iterations = request->given->iterations;
        result.cost = request->given->cost;
    }
    for (int32_t i = 0; i < job.islands.count; i++) { // in island order: sums do not depend on the workers
        const island_outcome *o = &job.outcomes[i];
        if (result.worst < 0 || severity(o->status) > severity(result.status)) {
            result.status = o->status;
            result.reason = o->info.reason;
            result.worst = i;
        }
        result.not_converged += o->status == STN_NOT_CONVERGED && !solver->approximate;
        result.iterations = o->info.iterations > result.iterations ? o->info.iterations : result.iterations;
        result.factorizations += o->info.factorizations;
        result.line_search_evaluations += o->info.line_search_evaluations;
        result.fallbacks += o->info.fallbacks;
        result.cost += o->info.cost;
    }
    result.prepare_us = prepared - start;
    result.solve_us = solved - prepared;
    if (!certified.finite && severity(result.status) < severity(STN_NOT_CONVERGED)) {
        // residuals that overflow say nothing of a solution, whatever the solver says
        result.status = STN_NOT_CONVERGED;
        result.reason = "residuals not finite";
        result.not_converged = result.not_converged > 0 ? result.not_converged : 1;
        result.worst = job.islands.count > 0 ? 0 : -1;
    }
    result.certificate_us = stn_clock_us() - solved;
    if (report != NULL) {
        *report = result;
    }
    return result.status;
}
