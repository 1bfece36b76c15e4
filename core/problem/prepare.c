// SPDX-License-Identifier: Apache-2.0
// A problem made ready for its solver: what must be finite is, A is factored where that is needed, R and v_hat are
// there.
#include <math.h>

#include "problem/cone.h"
#include "problem/solver.h"

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

stn_status prepare_problem(solve_job *job, bool scaled, stn_error *err) {
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
