// SPDX-License-Identifier: Apache-2.0
// One problem through a chosen solver: prepare it, solve its islands, certify the result.
#include <string.h>

#include "plugin/solver_law.h"
#include "problem/cone.h"
#include "problem/solver.h"

// ------------------------------------------------------------------------------------------------------- the object

static stn_status check_options(const stn_problem_solver_options *o, stn_error *err) {
    const struct {
        const stn_instance *instance;
        stn_kind kind;
    } given[] = {{o->solver, STN_KIND_SOLVER}, {o->law, STN_KIND_LAW}, {o->factor, STN_KIND_FACTOR}};
    for (int32_t i = 0; i < STN_COUNT(given); i++) {
        if (given[i].instance != NULL && given[i].instance->desc->kind != given[i].kind) {
            return stn_fail(err, STN_ERR_ARGUMENT, "%s %s is no %s", stn_kind_name(given[i].instance->desc->kind),
                            given[i].instance->desc->id, stn_kind_name(given[i].kind));
        }
    }
    if (o->solver == NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "no solver is chosen");
    }
    const stn_solver_ops *ops = o->solver->desc->ops.solver;
    if (o->law == NULL && solver_needs_law(ops)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "solver %s needs a contact law and none is chosen", o->solver->desc->id);
    }
    return STN_OK;
}

/// Which law is evaluated, and which one says what R and v_hat are.
static stn_status choose_laws(stn_problem_solver *s, stn_error *err) {
    const stn_instance *given = s->options.law;
    if (solver_needs_law(&s->ops)) {
        s->law = s->regularizer = (stn_law){given->desc->ops.law, given->self, given->desc->id};
    } else if (solver_may_have_law(&s->ops) && given != NULL) {
        if (given->desc->ops.law->regularize == NULL) {
            return stn_fail(
                err, STN_ERR_UNSUPPORTED,
                "solver %s works with laws that are quadratic, such as sap; %s is evaluated point by point, "
                "by solver sap",
                s->options.solver->desc->id, given->desc->id);
        }
        s->regularizer = (stn_law){given->desc->ops.law, given->self, given->desc->id};
    }
    return STN_OK;
}

static stn_status create_seats(stn_problem_solver *s, stn_error *err) {
    enum { SEATS_PER_WORKER = 4 };
    int32_t workers = stn_threads_count(s->options.threads), count = workers == 1 ? 1 : SEATS_PER_WORKER * workers;
    s->seats = stn_allocate(s->context, (size_t)count, sizeof *s->seats);
    if (s->seats == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "problem solver: out of memory");
    }
    s->seat_count = count;
    for (int32_t k = 0; k < count; k++) {
        s->seats[k].arena = stn_arena_create(s->context);
        if (s->seats[k].arena == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "problem solver: out of memory");
        }
        if (s->ops.create_workspace == NULL) {
            continue;
        }
        stn_status status = s->ops.create_workspace(s->options.solver->self, s->context, &s->seats[k].workspace, err);
        if (status != STN_OK) {
            s->seats[k].workspace = NULL;
            return status;
        }
    }
    return STN_OK;
}

stn_status stn_problem_solver_create(stn_context *context, const stn_problem_solver_options *options,
                                     stn_problem_solver **out, stn_error *err) {
    *out = NULL;
    stn_status status = check_options(options, err);
    if (status != STN_OK) {
        return status;
    }
    stn_problem_solver *s = stn_allocate(context, 1, sizeof *s);
    if (s == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "problem solver: out of memory");
    }
    s->context = context;
    s->options = *options;
    const stn_solver_ops *ops = options->solver->desc->ops.solver;
    memcpy(&s->ops, ops, ops->size < sizeof s->ops ? ops->size : sizeof s->ops);
    status = choose_laws(s, err);
    s->arena = stn_arena_create(context);
    if (status == STN_OK) {
        status = s->arena != NULL ? stn_inverse_create(context, &s->inverse, err)
                                  : stn_fail(err, STN_ERR_MEMORY, "problem solver: out of memory");
    }
    if (status == STN_OK) {
        status = create_seats(s, err);
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
    for (int32_t k = 0; k < s->seat_count; k++) {
        if (s->seats[k].workspace != NULL) {
            s->ops.destroy_workspace(s->seats[k].workspace);
        }
        stn_arena_destroy(s->seats[k].arena);
    }
    stn_release(s->context, s->seats);
    stn_inverse_destroy(s->inverse);
    stn_arena_destroy(s->arena);
    stn_release(s->context, s);
}

// ---------------------------------------------------------------------------------------------------------- prepare

static bool has_free_impulse(const stn_problem *problem) {
    for (int32_t d = 0; d < problem->nv && problem->free_impulse != NULL; d++) {
        if (problem->free_impulse[d] != 0.0) {
            return true;
        }
    }
    return false;
}

static bool needs_inverse(const solve_job *job, bool scaled) {
    const stn_solver_ops *ops = &job->solver->ops;
    return job->problem->form == STN_FORM_GLOBAL &&
           (job->request->masses || scaled || (ops->needs & STN_NEEDS_DELASSUS) != 0 ||
            ops->yields == STN_YIELDS_IMPULSE || has_free_impulse(job->problem));
}

static stn_status check_memories(const stn_problem_solver *s, const stn_solve_request *request, stn_error *err) {
    const stn_instance *solver = s->options.solver, *law = s->options.law;
    if (solver->desc->memory_per_constraint > 0 && request->solver_memory == NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "solver %s keeps memory and none is given", solver->desc->id);
    }
    if (s->law.ops != NULL && law->desc->memory_per_constraint > 0 && request->law_memory == NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "law %s keeps memory and none is given", law->desc->id);
    }
    return STN_OK;
}

/// A solver need not look for what is not finite in its vectors.
static stn_status check_velocities(const stn_problem *problem, stn_error *err) {
    const struct {
        const char *name;
        const double *values;
    } vectors[] = {{"v_star", problem->v_star}, {"v_guess", problem->v_guess}};
    for (int32_t t = 0; t < problem->tree_count; t++) {
        const stn_problem_tree *tree = &problem->trees[t];
        for (int32_t i = 0; i < STN_COUNT(vectors); i++) {
            const double *v = vectors[i].values + tree->dof_start;
            for (int32_t d = 0; d < tree->A.n; d++) {
                if (!isfinite(v[d])) {
                    return stn_fail(err, STN_ERR_NUMERIC, "%s of tree %d (source %d), dof %d, is %g, must be finite",
                                    vectors[i].name, t, tree->source, d, v[d]);
                }
            }
        }
    }
    return STN_OK;
}

/// Likewise of friction, and of what is given by rows: bias, bounds, start.
static stn_status check_rows(const stn_problem *problem, stn_error *err) {
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        const stn_constraint *c = &problem->constraints[i];
        bool contact = has_cone(c);
        if (contact && !(c->mu1 >= 0.0 && c->mu2 >= 0.0 && isfinite(c->mu1 + c->mu2))) {
            return stn_fail(err, STN_ERR_NUMERIC, "constraint %d (%s, id %llu): mu = %g, %g must be >= 0 and finite", i,
                            stn_constraint_kind_name(c->kind), (unsigned long long)c->id, c->mu1, c->mu2);
        }
        for (int32_t r = c->row; r < c->row + c->rows; r++) {
            if (!isfinite(problem->bias[r]) || !isfinite(problem->gamma_guess[r]) ||
                !(problem->lo[r] <= problem->hi[r])) {
                return stn_fail(
                    err, STN_ERR_NUMERIC,
                    "constraint %d (%s, id %llu), row %d: bias = %g m/s and gamma_guess = %g N s must be finite, "
                    "lo = %g <= hi = %g",
                    i, stn_constraint_kind_name(c->kind), (unsigned long long)c->id, r - c->row, problem->bias[r],
                    problem->gamma_guess[r], problem->lo[r], problem->hi[r]);
            }
        }
    }
    return STN_OK;
}

/// R and v_hat that went wrong are named here, with the data that they come from. A convex law divides by R.
static stn_status check_regularisation(const stn_problem_solver *s, const stn_problem *problem, stn_error *err) {
    bool convex = s->law.ops != NULL, regularizes = convex && s->law.ops->regularize != NULL;
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        const stn_constraint *c = &problem->constraints[i];
        bool contact = has_cone(c);
        bool positive = contact ? regularizes : convex; // a law without regularize does not read R
        for (int32_t r = c->row; r < c->row + c->rows; r++) {
            bool good = positive ? problem->R[r] > 0.0 : problem->R[r] >= 0.0;
            if (!good || !isfinite(problem->R[r]) || !isfinite(problem->v_hat[r])) {
                return stn_fail(
                    err, STN_ERR_NUMERIC,
                    "constraint %d (%s, id %llu), row %d: R = %g 1/kg and v_hat = %g m/s, must be finite and R "
                    "%s 0 (w = %g 1/kg, k = %g N/m, tau_d = %g s, phi0 = %g m)",
                    i, stn_constraint_kind_name(c->kind), (unsigned long long)c->id, r - c->row, problem->R[r],
                    problem->v_hat[r], positive ? ">" : ">=", c->w, c->stiffness, c->relaxation_time, c->phi0);
            }
        }
    }
    return STN_OK;
}

static stn_status prepare(solve_job *job, bool scaled, stn_error *err) {
    stn_problem_solver *s = job->solver;
    stn_problem *problem = job->problem;
    stn_status status = stn_problem_solver_accepts(s, problem, err);
    status = status == STN_OK ? check_memories(s, job->request, err) : status;
    status = status == STN_OK && problem->form == STN_FORM_GLOBAL ? check_velocities(problem, err) : status;
    status = status == STN_OK ? check_rows(problem, err) : status;
    if (status == STN_OK && needs_inverse(job, scaled)) {
        job->inverse = job->request->inverse;
        if (job->inverse == NULL) {
            status = stn_inverse_factor(s->inverse, problem, job->request->fallback, err);
            job->inverse = s->inverse;
        }
    }
    if (status == STN_OK && job->request->masses && job->inverse != NULL) {
        status = stn_inverse_masses(job->inverse, problem, s->arena, err);
    }
    if (status != STN_OK) {
        return status;
    }
    stn_problem_regularize(problem);
    bool physical = s->law.ops == NULL && problem->form == STN_FORM_LOCAL; // impulses of a literature problem
    if (s->regularizer.ops != NULL && s->regularizer.ops->regularize != NULL && !problem->explicit_R && !physical) {
        s->regularizer.ops->regularize(s->regularizer.self, problem);
    }
    return check_regularisation(s, problem, err);
}

// ------------------------------------------------------------------------------------------------------------ solve

static stn_status find_islands(solve_job *job, stn_error *err) {
    const stn_problem *problem = job->problem;
    stn_problem_solver *s = job->solver;
    stn_status status = stn_problem_islands(problem, s->arena, &job->islands, err);
    if (status != STN_OK) {
        return status;
    }
    job->whole = job->islands.count == 1 && job->islands.tree_start[1] == problem->tree_count;
    job->outcomes = STN_ARENA(s->arena, job->islands.count, island_outcome);
    job->v = STN_ARENA(s->arena, problem->nv, double);
    job->gamma = STN_ARENA(s->arena, problem->row_count, double);
    if (job->outcomes == NULL || job->v == NULL || job->gamma == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "problem solver: out of memory");
    }
    return STN_OK;
}

/// Consecutive islands together, at most as many chunks as there are seats: of equal numbers of constraints, and at
/// least CHUNK of them, because small islands are not worth a turn each and neighbours write into the same cache lines.
static stn_status cut_chunks(solve_job *job, stn_error *err) {
    enum { CHUNK = 16 };
    const int32_t count = job->islands.count, *start = job->islands.constraint_start, seats = job->solver->seat_count;
    job->chunk_start = STN_ARENA(job->solver->arena, count + 1, int32_t);
    if (job->chunk_start == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "problem solver: out of memory");
    }
    const int32_t share = (job->problem->constraint_count + seats - 1) / seats, least = share > CHUNK ? share : CHUNK;
    job->chunk_count = 0;
    job->chunk_start[0] = 0;
    for (int32_t i = 0; i < count; i++) {
        if (i + 1 == count || start[i + 1] - start[job->chunk_start[job->chunk_count]] >= least) {
            job->chunk_start[++job->chunk_count] = i + 1;
        }
    }
    return STN_OK;
}

/// Trees in no island: v = v_star + A^-1 free_impulse.
static void free_trees(const solve_job *job) {
    const stn_problem *problem = job->problem;
    for (int32_t t = 0; t < problem->tree_count; t++) {
        if (job->islands.tree_position[t] >= 0) {
            continue;
        }
        const stn_problem_tree *tree = &problem->trees[t];
        size_t bytes = (size_t)tree->A.n * sizeof(double);
        double *v = job->v + tree->dof_start;
        const double *v_star = problem->v_star + tree->dof_start;
        if (problem->free_impulse == NULL || job->inverse == NULL) { // no inverse: free_impulse is zero everywhere
            memcpy(v, v_star, bytes);
            continue;
        }
        memcpy(v, problem->free_impulse + tree->dof_start, bytes);
        stn_inverse_apply(job->inverse, t, 1, v);
        for (int32_t d = 0; d < tree->A.n; d++) {
            v[d] += v_star[d];
        }
    }
}

/// The failure of the first island that failed, whichever chunk it was in.
static stn_status first_failure(const solve_job *job, stn_error *err) {
    const stn_problem_solver *s = job->solver;
    const solver_seat *first = NULL;
    for (int32_t k = 0; k < s->seat_count; k++) {
        const solver_seat *seat = &s->seats[k];
        if (seat->failed_island >= 0 && (first == NULL || seat->failed_island < first->failed_island)) {
            first = seat;
        }
    }
    if (first == NULL) {
        return STN_OK;
    }
    stn_status status = job->outcomes[first->failed_island].status;
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

static int32_t severity(stn_status status) {
    return status == STN_NOT_CONVERGED ? 2 : (status == STN_STALLED ? 1 : 0);
}

static void summarise(const solve_job *job, stn_solve_report *report) {
    report->status = STN_OK;
    report->reason = "no constraints";
    report->worst = -1;
    report->island_count = job->islands.count;
    for (int32_t i = 0; i < job->islands.count; i++) { // in island order: sums do not depend on the workers
        const island_outcome *o = &job->outcomes[i];
        if (report->worst < 0 || severity(o->status) > severity(report->status)) {
            report->status = o->status;
            report->reason = o->info.reason;
            report->worst = i;
        }
        report->not_converged += o->status == STN_NOT_CONVERGED;
        report->iterations = o->info.iterations > report->iterations ? o->info.iterations : report->iterations;
        report->factorizations += o->info.factorizations;
        report->line_search_evaluations += o->info.line_search_evaluations;
        report->cost += o->info.cost;
    }
}

/// Phases of all seats, which began at zero, into the request.
static void gather_profile(const solve_job *job) {
    const stn_problem_solver *s = job->solver;
    for (int32_t k = 0; k < s->seat_count; k++) {
        for (int32_t i = 0; i < STN_PHASE_COUNT; i++) {
            job->request->phase_us[i] += s->seats[k].phase_us[i];
            s->seats[k].phase_us[i] = 0.0;
        }
    }
}

static stn_status solve_islands(solve_job *job, stn_error *err) {
    stn_problem_solver *s = job->solver;
    stn_status status = find_islands(job, err);
    status = status == STN_OK ? cut_chunks(job, err) : status;
    if (status != STN_OK) {
        return status;
    }
    for (int32_t k = 0; k < s->seat_count; k++) {
        s->seats[k].failed_island = -1;
    }
    stn_parallel_for(s->options.threads, job->chunk_count, solve_chunk, job);
    if (job->request->phase_us != NULL) {
        gather_profile(job);
    }
    status = first_failure(job, err);
    if (status == STN_OK) {
        free_trees(job);
    }
    return status;
}

stn_status stn_problem_solve(stn_problem_solver *solver, stn_problem *problem, const stn_solve_request *request,
                             stn_solution *solution, stn_solve_report *report, stn_certificate *certificate,
                             stn_error *err) {
    solve_job job = {.solver = solver, .problem = problem, .request = request};
    stn_solve_report result = {0};
    stn_certificate certified;
    bool scaled = certificate != NULL && (request->certificate_flags & STN_CERTIFICATE_SCALED) != 0;
    stn_arena_reset(solver->arena);

    double start = stn_clock_us();
    stn_status status = prepare(&job, scaled, err);
    double prepared = stn_clock_us();
    if (status == STN_OK) {
        status = solve_islands(&job, err);
    }
    double solved = stn_clock_us();
    if (status == STN_OK && certificate != NULL) {
        const stn_law *law = solver->law.ops != NULL ? &solver->law : NULL;
        status = stn_certify(problem, job.v, job.gamma, law, request->law_memory, job.inverse,
                             request->certificate_flags, solver->arena, &certified, err);
    }
    if (status != STN_OK) {
        return status;
    }
    if (problem->nv > 0) {
        memcpy(solution->v, job.v, (size_t)problem->nv * sizeof(double));
    }
    if (problem->row_count > 0) {
        memcpy(solution->gamma, job.gamma, (size_t)problem->row_count * sizeof(double));
    }
    if (certificate != NULL) {
        *certificate = certified;
    }
    summarise(&job, &result);
    result.prepare_us = prepared - start;
    result.solve_us = solved - prepared;
    result.certificate_us = stn_clock_us() - solved;
    if (report != NULL) {
        *report = result;
    }
    return result.status;
}
