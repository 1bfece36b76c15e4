// SPDX-License-Identifier: Apache-2.0
// Which problems a solver can treat, said before it is asked to, and what is made ready before one is solved.
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "base/finite.h"
#include "problem/inverse.h"
#include "problem/solver.h"

const char *stn_formulation_name(stn_formulation formulation) {
    static const char *const names[] = {"regularized", "ccp", "ncp", "lcp", "qp", "mdp"};
    return (int)formulation >= 0 && (int)formulation < STN_COUNT(names) ? names[formulation] : NULL;
}

stn_formulation stn_solver_formulation(const stn_instance *solver) {
    const stn_solver_ops *ops = solver->desc->ops.solver;
    return STN_PLUGIN_HAS(ops, configured) ? ops->configured(solver->self) : ops->formulation;
}

static uint32_t sets_of(const stn_problem *problem) {
    uint32_t sets = 0;
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        sets |= 1u << problem->constraints[i].set;
    }
    return sets;
}

enum { SOLVERS_TEXT = 256 };

/// What a problem asks of a solver.
typedef struct demand {
    uint32_t sets;
    bool local, singular;
} demand;

/// Ids of the solvers found that can, for a message.
static void list_solvers(const stn_problem_solver *s, demand d, char text[SOLVERS_TEXT]) {
    const size_t size = SOLVERS_TEXT;
    const stn_plugin_info *plugins = NULL;
    int32_t count = 0;
    snprintf(text, size, "none");
    if (stn_plugins_of_kind(s->context, STN_KIND_SOLVER, &plugins, &count, NULL) != STN_OK) {
        return;
    }
    size_t used = 0;
    for (int32_t i = 0; i < count && used < size; i++) {
        const stn_plugin_desc *desc = plugins[i].desc;
        const stn_solver_ops *ops = desc->ops.solver;
        const bool able = (!d.local || stn_solver_takes_local(ops)) && (!d.singular || stn_solver_takes_singular(ops));
        if (able && (ops->sets & d.sets) == d.sets) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", desc->id);
        }
    }
}

/// Ids of the laws found that take these cones.
static void list_laws(const stn_problem_solver *s, uint32_t sets, char text[SOLVERS_TEXT]) {
    const stn_plugin_info *plugins = NULL;
    int32_t count = 0;
    snprintf(text, SOLVERS_TEXT, "none");
    if (stn_plugins_of_kind(s->context, STN_KIND_LAW, &plugins, &count, NULL) != STN_OK) {
        return;
    }
    size_t used = 0;
    for (int32_t i = 0; i < count && used < SOLVERS_TEXT; i++) {
        const stn_plugin_desc *desc = plugins[i].desc;
        if ((desc->ops.law->sets & sets) == sets) {
            used += (size_t)snprintf(text + used, SOLVERS_TEXT - used, "%s%s", used > 0 ? ", " : "", desc->id);
        }
    }
}

static const uint32_t cones = 1u << STN_SET_CONE | 1u << STN_SET_ELLIPSE;

/// The first constraint of a set that the solver, or its law, cannot treat, and how many more.
static stn_status refuse_sets(const stn_problem_solver *s, const stn_problem *problem, bool by_law, stn_error *err) {
    const uint32_t able = by_law ? s->law.ops->sets | ~cones : s->ops.sets;
    int32_t first = -1, more = 0;
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        if ((able >> problem->constraints[i].set & 1u) == 0) {
            more += first >= 0;
            first = first < 0 ? i : first;
        }
    }
    const stn_constraint *c = &problem->constraints[first];
    char others[48] = "", solvers[SOLVERS_TEXT];
    if (more > 0) {
        snprintf(others, sizeof others, " and %d more", more);
    }
    if (by_law) {
        list_laws(s, sets_of(problem) & cones, solvers);
    } else {
        list_solvers(s, (demand){sets_of(problem), problem->form == STN_FORM_LOCAL, false}, solvers);
    }
    return stn_fail(err, STN_ERR_UNSUPPORTED,
                    "%s %s cannot treat the set '%s': constraint %d (%s, id %llu, rows %d to %d)%s; %s that can: %s",
                    by_law ? "law" : "solver", by_law ? s->law.id : s->options.solver->desc->id,
                    stn_constraint_set_name(c->set), first, stn_constraint_kind_name(c->kind),
                    (unsigned long long)c->id, c->row, c->row + c->rows - 1, others, by_law ? "laws" : "solvers",
                    solvers);
}

stn_status stn_problem_solver_accepts(const stn_problem_solver *solver, const stn_problem *problem, stn_error *err) {
    uint32_t sets = sets_of(problem);
    if ((sets & ~solver->ops.sets) != 0) {
        return refuse_sets(solver, problem, false, err);
    }
    if (solver->law.ops != NULL && (sets & cones & ~solver->law.ops->sets) != 0) {
        return refuse_sets(solver, problem, true, err);
    }
    if (problem->form == STN_FORM_LOCAL && !stn_solver_takes_local(&solver->ops)) {
        char solvers[SOLVERS_TEXT];
        list_solvers(solver, (demand){sets, true, false}, solvers);
        return stn_fail(err, STN_ERR_UNSUPPORTED,
                        "solver %s works on velocities, but a local problem has none; solvers that can: %s",
                        solver->options.solver->desc->id, solvers);
    }
    return STN_OK;
}

/// A solver that cannot treat a singular A meets one.
static stn_status refuse_singular(solve_job *job, stn_error *err) {
    const stn_problem_solver *s = job->solver;
    const stn_problem *problem = job->problem;
    const stn_inverse *inverse = job->inverse;
    if (!inverse_has_singular(inverse) || stn_solver_takes_singular(s->options.solver->desc->ops.solver)) {
        return STN_OK;
    }
    int32_t t = 0;
    while (stn_inverse_singular(inverse, t) < 0) {
        t++;
    }
    job->unheld = (stn_unheld){t, stn_inverse_singular(inverse, t)};
    char solvers[SOLVERS_TEXT];
    list_solvers(s, (demand){sets_of(problem), false, true}, solvers);
    return stn_fail(
        err, STN_ERR_UNSUPPORTED,
        "solver %s needs the inverse of A, but A of tree %d (source %d) is singular at dof %d; give the dof "
        "mass, stiffness or damping, or take a solver that can: %s",
        s->options.solver->desc->id, t, problem->trees[t].source, job->unheld.dof, solvers);
}

// --------------------------------------------------------------------------------------------------------- ready

/// A solver need not look for what is not finite in its vectors, in friction and in what is given by rows: bias,
/// bounds, start.
static stn_status check_vectors(const stn_problem *problem, stn_error *err) {
    const struct {
        const char *name;
        const double *values;
    } vectors[] = {{"v_star", problem->v_star}, {"v_guess", problem->v_guess}};
    bool finite = all_finite(problem->v_star, problem->nv) && all_finite(problem->v_guess, problem->nv);
    for (int32_t t = 0; t < problem->tree_count && !finite; t++) { // of a global problem
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
    finite = all_finite(problem->bias, problem->row_count) && all_finite(problem->gamma_guess, problem->row_count);
    bool ordered = true;
    for (int32_t r = 0; r < problem->row_count; r++) {
        ordered &= problem->lo[r] <= problem->hi[r];
    }
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        const stn_constraint *c = &problem->constraints[i];
        bool contact = stn_constraint_has_cone(c);
        if (contact && !(c->mu1 >= 0.0 && c->mu2 >= 0.0 && isfinite(c->mu1 + c->mu2))) {
            return stn_fail(err, STN_ERR_NUMERIC, "constraint %d (%s, id %llu): mu = %g, %g must be >= 0 and finite", i,
                            stn_constraint_kind_name(c->kind), (unsigned long long)c->id, c->mu1, c->mu2);
        }
        for (int32_t r = c->row; r < c->row + c->rows && !(finite && ordered); r++) {
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

stn_status prepare_problem(solve_job *job, stn_error *err) {
    stn_problem_solver *s = job->solver;
    stn_problem *problem = job->problem;
    const stn_solve_request *request = job->request;
    const stn_plugin_desc *solver = s->options.solver->desc;
    const bool global = problem->form == STN_FORM_GLOBAL;
    const bool solves = request->given == NULL; // otherwise the solver does not run, and need not accept the problem
    stn_status status = solves ? stn_problem_solver_accepts(s, problem, err) : STN_OK;
    if (status != STN_OK) {
        return status;
    }
    if (solves && solver->memory_per_constraint > 0 && request->solver_memory == NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "solver %s keeps memory and none is given", solver->id);
    }
    if (s->law.ops != NULL && s->options.law->desc->memory_per_constraint > 0 && request->law_memory == NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "law %s keeps memory and none is given", s->options.law->desc->id);
    }
    status = check_vectors(problem, err);
    if (status != STN_OK) {
        return status;
    }
    if (global) { // also for solvers that do not ask for it: whether A is singular or indefinite shows in its factor
        job->inverse = request->inverse;
        if (job->inverse == NULL) {
            status = stn_inverse_factor(s->inverse, problem, err);
            job->inverse = s->inverse;
        }
        if (status == STN_OK && solves) {
            status = refuse_singular(job, err);
        }
    }
    if (status == STN_OK && request->masses && job->inverse != NULL) {
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
    // what went wrong is named here, with the data that it comes from; a convex law divides by R
    bool convex = s->law.ops != NULL, regularizes = convex && s->law.ops->regularize != NULL;
    bool usable = all_finite(problem->R, problem->row_count) && all_finite(problem->v_hat, problem->row_count);
    for (int32_t r = 0; r < problem->row_count; r++) {
        usable &= problem->R[r] > 0.0;
    }
    for (int32_t i = 0; i < problem->constraint_count && !usable; i++) {
        const stn_constraint *c = &problem->constraints[i];
        bool contact = stn_constraint_has_cone(c);
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
