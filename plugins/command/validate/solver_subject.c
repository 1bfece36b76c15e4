// SPDX-License-Identifier: Apache-2.0
#include "solver_subject.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------------------- make

static stn_status create(solver_subject *s, bool guarded) {
    const validate_request *request = s->trial->request;
    stn_status status = stn_instance_create(s->context, STN_KIND_SOLVER, request->id, request->settings,
                                            request->setting_count, &s->solver, &s->error);
    if (status != STN_OK) {
        return status;
    }
    s->ops = s->solver->desc->ops.solver;
    s->formulation = stn_solver_formulation(s->solver);
    s->common = s->solver->common;
    s->approximate = stn_plugin_says(s->solver, "approximate");
    const uint32_t cones = 1u << STN_SET_CONE | 1u << STN_SET_ELLIPSE;
    s->sets = s->ops->sets;
    if ((s->ops->needs & STN_NEEDS_LAW) != 0 || s->ops->yields == STN_YIELDS_VELOCITY) {
        status = stn_instance_create(s->context, STN_KIND_LAW, request->law, NULL, 0, &s->law, &s->error);
        s->sets &= status == STN_OK ? s->law->desc->ops.law->sets | ~cones : 0;
    }
    const stn_instance *solver = s->solver;
    if (status == STN_OK && guarded) {
        s->guard = solver_guard_create(s->context, s->solver);
        status = s->guard != NULL ? STN_OK : stn_fail(&s->error, STN_ERR_MEMORY, "guard: out of memory");
        solver = s->guard != NULL ? &s->guard->outer : solver;
    }
    stn_problem_solver_options options = {.solver = solver, .law = s->law};
    return status == STN_OK ? stn_problem_solver_create(s->context, &options, &s->problem_solver, &s->error) : status;
}

bool subject_begin(solver_subject *s, validate_trial *trial, bool guarded) {
    const validate_request *request = trial->request;
    *s = (solver_subject){.trial = trial, .context = request->context, .random = {request->seed}};
    s->random.state = stn_hash(request->seed, trial->check, strlen(trial->check)); // each check draws its own numbers
    s->arena = stn_arena_create(s->context);
    stn_status status = s->arena != NULL ? create(s, guarded) : stn_fail(&s->error, STN_ERR_MEMORY, "out of memory");
    if (status != STN_OK) {
        trial_fail(trial, "cannot be made: %s", s->error.text);
        return false;
    }
    s->common->tolerance = subject_tolerance(s);
    s->common->max_iterations = s->formulation == STN_REGULARIZED ? 200 : 20000;
    return true;
}

bool subject_has_solutions(solver_subject *s) {
    if (s->approximate) {
        trial_skip(s->trial, "it says that it is approximate, and this check compares solutions");
    }
    return !s->approximate;
}

bool subject_regularize(solver_subject *s) {
    const validate_request *request = s->trial->request;
    if (s->law != NULL || (s->ops->needs & STN_REGULARIZED_BY_LAW) == 0) {
        return true;
    }
    stn_problem_solver_options options = {.solver = s->guard != NULL ? &s->guard->outer : s->solver};
    stn_problem_solver_destroy(s->problem_solver);
    s->problem_solver = NULL;
    stn_status status = stn_instance_create(s->context, STN_KIND_LAW, request->law, NULL, 0, &s->law, &s->error);
    options.law = s->law;
    status = status == STN_OK ? stn_problem_solver_create(s->context, &options, &s->problem_solver, &s->error) : status;
    if (status != STN_OK) {
        trial_fail(s->trial, "with law %s: %s", request->law, s->error.text);
    }
    return status == STN_OK;
}

void subject_reset(solver_subject *s) {
    stn_arena_reset(s->arena);
}

bool subject_has(solver_subject *s, const void *memory) {
    if (memory == NULL) {
        trial_fail(s->trial, "out of memory");
    }
    return memory != NULL;
}

stn_problem *subject_problem(solver_subject *s, const problem_spec *spec) {
    problem_spec fitting = *spec;
    fitting.gap = s->law != NULL && stn_plugin_says(s->law, "gap");
    fitting.bias = fitting.gap ? 0.0 : spec->bias; // nothing moves then that cannot be kept apart
    stn_problem *p = problem_make(s->arena, &fitting, &s->random);
    subject_has(s, p);
    return p;
}

// ------------------------------------------------------------------------------------------------------------ solve

const void *subject_memory(const solver_subject *s, const stn_instance *instance, const stn_problem *p) {
    int32_t bytes = instance != NULL ? instance->desc->memory_per_constraint : 0;
    return bytes > 0 ? stn_arena_zeroed(s->arena, (size_t)p->constraint_count + 1, (size_t)bytes) : NULL;
}

solver_answer subject_solve(solver_subject *s, stn_problem *p) {
    solver_answer a = {.v = STN_ARENA(s->arena, p->nv + 1, double),
                       .gamma = STN_ARENA(s->arena, p->row_count + 1, double)};
    if (a.v == NULL || a.gamma == NULL) {
        a.status = stn_fail(&s->error, STN_ERR_MEMORY, "out of memory");
    } else {
        subject_solve_into(s, p, &a);
    }
    return a;
}

void subject_solve_into(solver_subject *s, stn_problem *p, solver_answer *a) {
    stn_solve_request request = {
        .masses = !s->masses_stated,
        .law_memory = subject_memory(s, s->law, p),
        .solver_memory = (void *)(uintptr_t)subject_memory(s, s->solver, p),
    };
    stn_solution solution = {.v = a->v, .gamma = a->gamma};
    s->error = (stn_error){STN_OK, ""};
    const int64_t before = stn_context_allocations(s->context);
    a->status = stn_problem_solve(s->problem_solver, p, &request, &solution, &a->report, &a->certificate, &s->error);
    a->allocations = stn_context_allocations(s->context) - before;
    if (a->status == STN_NOT_CONVERGED && a->report.contradiction.islands > 0 &&
        a->report.contradiction.islands == a->report.not_converged) {
        a->status = a->report.contradiction.claimed; // the solver's word is what is judged
    }
}

// ------------------------------------------------------------------------------------------------------------ judge

/// max |J v + bias| over the rows [m/s]; 0: out of memory.
static double largest_speed(const solver_subject *s, const stn_problem *p, const double *v) {
    double *v_c = STN_ARENA(s->arena, p->row_count + 1, double), speed = 0.0;
    if (v_c == NULL) {
        return 0.0;
    }
    stn_problem_contact_velocity(p, v, true, v_c);
    for (int32_t r = 0; r < p->row_count; r++) {
        speed = fmax(speed, fabs(v_c[r]));
    }
    return speed;
}

/// The same with the least impulses that the bounds allow, which are as given as v_star is. 0 where all may be 0, in a
/// local problem, and where A is singular.
static double forced_speed(const solver_subject *s, const stn_problem *p) {
    double *gamma = STN_ARENA_ZEROED(s->arena, p->row_count + 1, double), *v = STN_ARENA(s->arena, p->nv + 1, double);
    bool forced = false;
    for (int32_t r = 0; r < p->row_count && gamma != NULL; r++) {
        gamma[r] = p->lo[r] > 0.0 ? p->lo[r] : fmin(p->hi[r], 0.0);
        forced = forced || gamma[r] != 0.0;
    }
    stn_inverse *inverse = NULL;
    double speed = 0.0;
    if (forced && v != NULL && p->form == STN_FORM_GLOBAL && stn_inverse_create(s->context, &inverse, NULL) == STN_OK &&
        stn_inverse_factor(inverse, p, NULL) == STN_OK && stn_inverse_require(inverse, NULL) == STN_OK) {
        stn_inverse_velocity(inverse, p, gamma, v);
        speed = largest_speed(s, p, v);
    }
    stn_inverse_destroy(inverse);
    return speed;
}

/// Speeds that the natural maps of a problem are relative to [m/s].
static double speed_of(const solver_subject *s, const stn_problem *p) {
    double speed = fmax(1e-12, fmax(largest_speed(s, p, p->v_star), forced_speed(s, p)));
    for (int32_t r = 0; r < p->row_count; r++) {
        speed = fmax(speed, fabs(p->v_hat[r]));
    }
    return speed;
}

/// natural_ncp judges positions over dt, a solver sees them over dt + tau_d.
static double longest_relaxation(const stn_problem *p) {
    double longest = 0.0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        double tau = p->constraints[i].relaxation_time;
        longest = tau > longest ? tau : longest;
    }
    return longest / p->dt;
}

static bool frictionless(const stn_problem *p) {
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        if (c->kind == STN_CONSTRAINT_CONTACT && c->mu1 + c->mu2 > 0.0) {
            return false;
        }
    }
    return true;
}

/// The residual of the formulation, relative, and what it is called.
static double own_residual(const solver_subject *s, const stn_problem *p, const solver_answer *a, const char **name) {
    const stn_certificate *c = &a->certificate;
    switch (s->formulation) {
    case STN_REGULARIZED:
        *name = "law_residual";
        return isnan(c->law_residual) ? c->natural_ccp / speed_of(s, p) : c->law_residual;
    case STN_CCP:
        *name = "natural_ccp over the speed";
        return c->natural_ccp / speed_of(s, p);
    case STN_NCP:
        *name = "natural_ncp over the speed";
        return c->natural_ncp / speed_of(s, p) / (1.0 + longest_relaxation(p));
    case STN_LCP:
        *name = "the map of a polyhedral cone";
        return solver_polyhedron(s, p, a, speed_of(s, p));
    case STN_QP:
        *name = frictionless(p) ? "natural_ncp over the speed" : "box";
        return frictionless(p) ? c->natural_ncp / speed_of(s, p) / (1.0 + longest_relaxation(p)) : c->box;
    case STN_MDP:
        *name = "dissipation";
        return solver_dissipation(s, p, a, speed_of(s, p));
    }
    return (double)NAN;
}

/// Impulses of the law at v, of the cones that it handles; the rows of others stay 0. NULL: out of memory, or refused.
static double *law_impulses(const solver_subject *s, const stn_problem *p, const double *v) {
    const stn_law_ops *ops = s->law->desc->ops.law;
    int32_t stride = (p->constraint_count + STN_LANES - 1) / STN_LANES * STN_LANES, *cones = NULL;
    stn_law_batch batch = {.stride = stride};
    double *reals = STN_ARENA_ZEROED(s->arena, (ops->coefficient_count + 7) * stride + 1, double);
    double *v_c = STN_ARENA_ZEROED(s->arena, p->row_count + 1, double);
    double *gamma = STN_ARENA_ZEROED(s->arena, p->row_count + 1, double);
    cones = STN_ARENA_ZEROED(s->arena, stride + 1, int32_t);
    if (reals == NULL || v_c == NULL || gamma == NULL || cones == NULL) {
        return NULL;
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        if (p->constraints[i].kind == STN_CONSTRAINT_CONTACT) {
            cones[batch.count++] = i;
        }
    }
    batch.constraint = cones;
    batch.coefficients = reals;
    double *lane_v = reals + ops->coefficient_count * stride, *lane_gamma = lane_v + 3 * stride;
    stn_problem_contact_velocity(p, v, true, v_c);
    stn_error err;
    if (ops->prepare(s->law->self, p, &batch, subject_memory(s, s->law, p), &err) != STN_OK) {
        return NULL;
    }
    for (int32_t k = 0; k < 3 * batch.count; k++) {
        lane_v[k / 3 + k % 3 * stride] = v_c[p->constraints[cones[k / 3]].row + k % 3];
    }
    ops->evaluate(s->law->self, &batch, lane_v, lane_gamma + 3 * stride, lane_gamma, NULL);
    for (int32_t k = 0; k < 3 * batch.count; k++) {
        gamma[p->constraints[cones[k / 3]].row + k % 3] = lane_gamma[k / 3 + k % 3 * stride];
    }
    return gamma;
}

/// What the law makes of the last bits of v, over |gamma|: a contact far stiffer than a step resolves has no more
/// digits.
static double law_rounding(const solver_subject *s, const stn_problem *p, const solver_answer *a) {
    enum { TRIES = 4 };
    double *v = STN_ARENA(s->arena, p->nv + 1, double), *gamma = law_impulses(s, p, a->v), worst = 0.0, size = 0.0;
    random_stream random = {p->constraint_count > 0 ? p->constraints[0].id : 0}; // draws nothing from the check's own
    for (int32_t i = 0; i < TRIES && v != NULL && gamma != NULL; i++) {
        for (int32_t d = 0; d < p->nv; d++) {
            v[d] = a->v[d] * (1.0 + DBL_EPSILON * random_uniform(&random, -4.0, 4.0));
        }
        const double *other = law_impulses(s, p, v);
        for (int32_t r = 0; r < p->row_count && other != NULL; r++) {
            worst = fmax(worst, fabs(other[r] - gamma[r]));
            size += a->gamma[r] * a->gamma[r] / TRIES;
        }
    }
    return size > 0.0 ? worst / sqrt(size) : 0.0;
}

solver_verdict subject_judge(const solver_subject *s, const stn_problem *p, const solver_answer *a) {
    solver_verdict out = {.good = true};
    if (a->status < 0) {
        out.good = false;
        snprintf(out.text, sizeof out.text, "failed (%.300s)", s->error.text);
        return out;
    }
    const stn_certificate *c = &a->certificate;
    const char *name = "";
    double own = own_residual(s, p, a, &name), tolerance = s->common->tolerance;
    double factor =
        a->status == STN_STALLED ? 1e4 : 1.0; // round-off may keep it from the tolerance, not from the solution
    double momentum_limit = factor * 10.0 * tolerance;
    double own_limit = factor * (s->formulation == STN_REGULARIZED ? fmax(1e-7, 100.0 * tolerance) : 100.0 * tolerance);
    if (own > own_limit && s->law != NULL) {
        own_limit += 4.0 * law_rounding(s, p, a);
    }
    out.error = s->formulation == STN_REGULARIZED ? c->momentum : own;
    if (!c->finite) {
        out.good = false;
        snprintf(out.text, sizeof out.text, "v or gamma is not finite");
    } else if (s->approximate) {
        double size = 1.0, mu = 1.0; // the cone is told relative to the normal part
        for (int32_t i = 0; i < p->constraint_count; i++) {
            mu = fmax(mu, fmax(p->constraints[i].mu1, p->constraints[i].mu2));
        }
        for (int32_t r = 0; r < p->row_count; r++) {
            size = fmax(size, fabs(a->gamma[r]));
        }
        out.error = own;
        bool silent = a->report.island_count == 0 || a->status == STN_NOT_CONVERGED;
        out.good = silent && c->momentum <= 1e-9 && c->cone <= 1e-9 * mu && c->box <= 1e-9 * size;
        snprintf(out.text, sizeof out.text,
                 "says '%s' (an approximate solver: '%s' always); momentum error %.2g, cone %.2g (limits 1e-9, by mu), "
                 "bounds "
                 "exceeded by %.2g N s",
                 stn_status_text(a->status), stn_status_text(STN_NOT_CONVERGED), c->momentum, c->cone, c->box);
    } else if (a->status == STN_NOT_CONVERGED) {
        return out;
    } else if (!(c->momentum <= momentum_limit)) {
        out.good = false;
        snprintf(out.text, sizeof out.text, "says '%s' (%s), but the momentum error is %.2g, limit %.2g",
                 stn_status_text(a->status), a->report.reason, c->momentum, momentum_limit);
    } else if (!(own <= own_limit)) {
        out.good = false;
        snprintf(out.text, sizeof out.text, "says '%s' (%s), but %s is %.2g, limit %.2g (formulation %s)",
                 stn_status_text(a->status), a->report.reason, name, own, own_limit,
                 stn_formulation_name(s->formulation));
    } else if (a->report.contradiction.islands > 0) {
        out.good = false;
        stn_contradiction_text(&a->report.contradiction, out.text, sizeof out.text);
    }
    return out;
}

bool subject_expect_solved(solver_subject *s, const stn_problem *p, const solver_answer *a, const char *what) {
    solver_verdict verdict = subject_judge(s, p, a);
    s->asked++;
    if (verdict.good && a->status == STN_NOT_CONVERGED && !s->approximate) {
        double share = subject_share_unsolved(s);
        s->unsolved++;
        if (share > 0.0 && s->unsolved <= 2 + share * s->asked) {
            return false;
        }
        trial_unsolved(s->trial, "%s: not converged (%s) after %d iterations, error %.2g at tolerance %g%s", what,
                       a->report.reason, a->report.iterations, verdict.error, s->common->tolerance, subject_save(s, p));
        return false;
    }
    if (!verdict.good) {
        trial_fail(s->trial, "%s: %s%s", what, verdict.text, subject_save(s, p));
    }
    return verdict.good;
}

const char *subject_save(solver_subject *s, const stn_problem *p) {
    static char words[200];
    const char *folder = s->trial->request->save;
    char path[4096], name[64];
    words[0] = '\0';
    if (folder == NULL || s->trial->decided) {
        return words;
    }
    snprintf(name, sizeof name, "%s", s->trial->check);
    for (char *c = name; *c != '\0'; c++) {
        *c = (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') ? *c : '_';
    }
    snprintf(path, sizeof path, "%s/%s.json", folder, name);
    stn_error err;
    bool saved = stn_problem_save(s->context, p, STN_PROBLEM_FORMAT, path, &err) == STN_OK;
    snprintf(words, sizeof words, saved ? "; the problem is in %.150s" : "; not saved: %.150s",
             saved ? path : err.text);
    return words;
}

// -------------------------------------------------------------------------------------------------------- precision

double subject_tolerance(const solver_subject *s) {
    return s->formulation == STN_REGULARIZED ? 1e-10 : 1e-8;
}

double subject_share_unsolved(const solver_subject *s) {
    return s->formulation == STN_REGULARIZED ? 0.0 : 0.1;
}

double subject_nearness(const solver_subject *s) {
    return s->formulation == STN_REGULARIZED ? 1e-7 : 1e-5;
}

bool subject_unique(const solver_subject *s) {
    return s->formulation == STN_REGULARIZED || s->formulation == STN_CCP || s->formulation == STN_QP;
}

problem_spec subject_spec(const solver_subject *s) {
    problem_spec spec = problem_spec_plain(s->sets);
    if (!subject_unique(s)) {
        spec.one_a_pair = true;
        spec.others = 1;
        spec.mu_high = 0.3;
    }
    return spec;
}

double subject_difference(solver_subject *s, const stn_problem *p, const double *v, const double *w) {
    double size_v = problem_distance(s->arena, p, v, NULL), size_w = problem_distance(s->arena, p, w, NULL);
    return problem_distance(s->arena, p, v, w) / fmax(fmax(size_v, size_w), 1e-14);
}
