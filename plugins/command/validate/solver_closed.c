// SPDX-License-Identifier: Apache-2.0
// Problems whose answers are known: a point on a floor, no friction, nothing to do, each set alone.
#include <stdio.h>
#include <string.h>

#include "solver_checks.h"
#include "solver_point.h"
#include "solver_subject.h"

void solver_declares(validate_trial *trial) {
    const stn_solver_ops *ops = trial->request->plugin->desc->ops.solver;
    const uint32_t all_sets = (1u << STN_SET_COUNT) - 1u, all_needs = STN_NEEDS_DELASSUS | STN_NEEDS_LAW |
                                                                      STN_REGULARIZED_BY_LAW | STN_NEEDS_INVERSE |
                                                                      STN_NEEDS_V_POSITION | STN_NEEDS_RIGID_CONTACTS;
    if (ops == NULL || ops->solve == NULL) {
        trial_fail(trial, "there is no function `solve`");
    } else if (stn_formulation_name(ops->formulation) == NULL) {
        trial_fail(trial, "formulation = %d is none of stn_formulation", (int)ops->formulation);
    } else if ((int)ops->yields < STN_YIELDS_VELOCITY || (int)ops->yields > STN_YIELDS_BOTH) {
        trial_fail(trial, "yields = %d is none of stn_yield", (int)ops->yields);
    } else if ((ops->needs & ~all_needs) != 0) {
        trial_fail(trial, "needs = %#x has unknown bits", ops->needs);
    } else if (ops->sets == 0 || (ops->sets & ~all_sets) != 0) {
        trial_fail(trial, "sets = %#x must be bits of stn_constraint_set", ops->sets);
    } else if (ops->create_workspace != NULL && ops->destroy_workspace == NULL) {
        trial_fail(trial, "create_workspace without destroy_workspace");
    }
    solver_subject s;
    if (trial->decided || !subject_begin(&s, trial, false)) {
        return;
    }
    char sets[80] = "";
    for (int32_t set = 0; set < STN_SET_COUNT; set++) {
        if ((s.sets >> set & 1u) != 0) {
            size_t used = strlen(sets);
            snprintf(sets + used, sizeof sets - used, "%s%s", used > 0 ? ", " : "",
                     stn_constraint_set_name((stn_constraint_set)set));
        }
    }
    trial_ok(trial, "formulation %s, sets %s", stn_formulation_name(ops->formulation), sets);
}

// -------------------------------------------------------------------------------------------------------------- point

/// R_t = 0.01, R_n = 0.02 1/kg, v_hat_n = 0.1 m/s.
static stn_problem *point_of_known_R(solver_subject *s, const double v_star[3]) {
    stn_problem *p = point_on_floor(s, v_star);
    for (int32_t a = 0; a < 3 && p != NULL; a++) {
        p->R[a] = a < 2 ? 0.01 : 0.02;
        p->v_hat[a] = a < 2 ? 0.0 : 0.1;
        p->explicit_R = true;
    }
    return p;
}

/// Impulse of a point that slides: on the cone's boundary, against v_t. The relaxation lifts it: v_n = mu |v_t|.
static void sliding_impulse(const solver_subject *s, const double v_star[3], double gamma[3]) {
    double slip = hypot(v_star[0], v_star[1]);
    bool exact = s->formulation == STN_NCP || s->formulation == STN_MDP; // the same where W_tn = 0
    double n =
        exact ? (0.1 - v_star[2]) / (0.02 + 0.5) : (0.1 - v_star[2] + 0.5 * slip) / (0.02 + 0.25 * 0.01 + 1.25 * 0.5);
    gamma[0] = -0.5 * n * v_star[0] / slip;
    gamma[1] = -0.5 * n * v_star[1] / slip;
    gamma[2] = n;
}

static const double closed_form_limit = 1e-6; // far above the tolerances, far below the answers

static double check_point(solver_subject *s, const char *what, const double v_star[3], const double gamma[3]) {
    subject_reset(s);
    stn_problem *p = point_of_known_R(s, v_star);
    if (p == NULL) {
        return 0.0;
    }
    solver_answer a = subject_solve(s, p);
    if (a.status < 0) {
        trial_fail(s->trial, "%s: %s, expected a solution", what, s->error.text);
        return 0.0;
    }
    if (a.status != STN_OK) {
        trial_fail(s->trial, "%s: %s, at gamma = (%.6g, %.6g, %.6g) N s, expected (%.6g, %.6g, %.6g)", what,
                   stn_status_text(a.status), a.gamma[0], a.gamma[1], a.gamma[2], gamma[0], gamma[1], gamma[2]);
        return 0.0;
    }
    double worst = 0.0;
    for (int32_t k = 0; k < 3; k++) {
        double v = v_star[k] + 0.5 * gamma[k];
        double error = fabs(a.gamma[k] - gamma[k]) / 2.0 + fabs(a.v[k] - v);
        worst = error > worst || isnan(error) ? error : worst;
    }
    if (!(worst <= closed_form_limit)) {
        trial_fail(s->trial, "%s: gamma = (%.9g, %.9g, %.9g) N s, expected (%.9g, %.9g, %.9g)", what, a.gamma[0],
                   a.gamma[1], a.gamma[2], gamma[0], gamma[1], gamma[2]);
    }
    return worst;
}

void solver_closed_forms(validate_trial *trial) {
    solver_subject s;
    if (!subject_begin(&s, trial, false) || !subject_has_solutions(&s)) {
        return;
    }
    if (s.law != NULL && trial->request->other_law) {
        solver_point_by_bisection(&s);
        return;
    }
    if ((s.sets >> STN_SET_CONE & 1u) == 0) {
        trial_skip(trial, "it takes no cones");
        return;
    }
    static const double stick[3] = {0.03, -0.02, -1.0}, slide[3] = {3.0, -4.0, -1.0}, open[3] = {0.1, 0.1, 2.2};
    static const double none[3] = {0.0, 0.0, 0.0};
    const double held[3] = {-0.03 / 0.51, 0.02 / 0.51, 1.1 / 0.52}, pushed[3] = {0.0, 0.0, 0.1 / 0.52};
    bool polyhedral = s.formulation == STN_LCP || s.formulation == STN_QP;
    double slid[3];
    sliding_impulse(&s, slide, slid);
    double worst = check_point(&s, "a point that sticks", stick, held);
    worst = fmax(worst, polyhedral ? 0.0 : check_point(&s, "a point that slides", slide, slid));
    worst = fmax(worst, check_point(&s, "a point that lifts off", open, none));
    worst = fmax(worst, check_point(&s, "a point at rest in the floor", none, pushed)); // v_hat is the only speed
    trial_ok(trial, "a point sticks, slides, lifts off and is driven out to %.1e (limit %.1e)", worst,
             closed_form_limit);
}

// ------------------------------------------------------------------------------------------------------- no friction

void solver_without_friction(validate_trial *trial) {
    solver_subject s;
    if (!subject_begin(&s, trial, false)) {
        return;
    }
    problem_spec spec = subject_spec(&s);
    spec.mu_low = spec.mu_high = 0.0;
    int32_t count = trial->request->full ? 2000 : 200;
    double worst = 0.0;
    for (int32_t i = 0; i < count && !trial->decided; i++) {
        subject_reset(&s);
        char what[48];
        snprintf(what, sizeof what, "problem %d", i);
        stn_problem *p = subject_problem(&s, &spec);
        if (p == NULL) {
            return;
        }
        solver_answer a = subject_solve(&s, p);
        double tangent = 0.0, normal = 0.0;
        if (a.status >= 0) { // converged or not: the largest impulse along the tangents, and along the normals
            for (int32_t k = 0; k < p->constraint_count; k++) {
                const double *g = a.gamma + p->constraints[k].row;
                if (p->constraints[k].kind == STN_CONSTRAINT_CONTACT) {
                    tangent = fmax(tangent, hypot(g[0], g[1]));
                    normal = fmax(normal, fabs(g[2]));
                }
            }
        }
        worst = fmax(worst, tangent / fmax(normal, 1e-12));
        if (!(tangent <= 1e-9 * fmax(normal, 1e-12))) {
            trial_fail(trial,
                       "problem %d: a tangential impulse of %.2g N s where mu = 0 (largest normal impulse %.2g)%s", i,
                       tangent, normal, subject_save(&s, p));
        }
        subject_expect_solved(&s, p, &a, what);
    }
    trial_ok(trial, "%d problems, no tangential impulse (limit 1e-9 of the normal one, largest %.1e)", count, worst);
}

// ------------------------------------------------------------------------------------------------------- no contacts

void solver_without_contacts(validate_trial *trial) {
    solver_subject s;
    if (!subject_begin(&s, trial, false)) {
        return;
    }
    double worst = 0.0;
    for (int32_t trees = 0; trees < 4 && !trial->decided; trees++) {
        problem_spec spec = subject_spec(&s);
        spec.contacts = spec.others = spec.cables = 0;
        spec.bodies = trees;
        spec.arms = spec.points = trees > 2 ? 1 : 0;
        stn_problem *p = subject_problem(&s, &spec);
        solver_answer a = p != NULL ? subject_solve(&s, p) : (solver_answer){0};
        if (p == NULL || !subject_expect_solved(&s, p, &a, "a world without contacts")) {
            return;
        }
        double *v = STN_ARENA_ZEROED(s.arena, p->nv + 1, double), gamma[1] = {0.0};
        stn_solve_info info = {.cost = (double)NAN, .reason = ""};
        if (!subject_has(&s, v)) {
            return;
        }
        // Straight to the solver, as the core would call it for a problem without constraints.
        stn_inverse *inverse = NULL;
        stn_delassus delassus = {0};
        void *workspace = NULL;
        stn_law law = stn_law_of(s.law);
        stn_solve_control control = {.tolerance = s.common->tolerance,
                                     .absolute_tolerance = s.common->absolute_tolerance,
                                     .max_iterations = s.common->max_iterations,
                                     .context = s.context,
                                     .arena = s.arena,
                                     .law = s.law != NULL ? &law : NULL};
        stn_status status = STN_OK;
        if ((s.ops->needs & (STN_NEEDS_DELASSUS | STN_NEEDS_INVERSE)) != 0) {
            status = stn_inverse_create(s.context, &inverse, &s.error);
            status = status == STN_OK ? stn_inverse_factor(inverse, p, &s.error) : status;
            status = status == STN_OK ? stn_delassus_build(inverse, p, s.arena, &delassus, &s.error) : status;
            control.inverse = inverse;
            control.delassus = &delassus;
        }
        if (status == STN_OK && s.ops->create_workspace != NULL) {
            status = s.ops->create_workspace(s.solver->self, s.context, &workspace, &s.error);
            control.workspace = workspace;
        }
        stn_solution solution = {.v = v, .gamma = gamma};
        if (status == STN_OK) {
            status = s.ops->solve(s.solver->self, p, &control, &solution, &info, &s.error);
        }
        if (workspace != NULL) {
            s.ops->destroy_workspace(workspace);
        }
        stn_inverse_destroy(inverse);
        bool own = (s.ops->yields & STN_YIELDS_VELOCITY) != 0;
        double error = own ? subject_difference(&s, p, v, p->v_star) : 0.0;
        worst = fmax(worst, error);
        if (status < 0) {
            trial_fail(trial, "%d trees without a constraint: %s, expected v = v_star", p->tree_count, s.error.text);
        } else if (!(error <= subject_nearness(&s))) {
            trial_fail(trial, "%d trees without a constraint: v is %.2g of |v_star| off v_star", p->tree_count, error);
        }
    }
    trial_ok(trial, "0 to 5 trees without a constraint, by the core and called alone: v = v_star to %.1e", worst);
}

// ------------------------------------------------------------------------------------------------------ kinds, sets

/// Problems with one set alone; how many constraints of each kind came.
static bool solve_set(solver_subject *s, stn_constraint_set set, int32_t count,
                      int32_t kinds[STN_CONSTRAINT_KIND_COUNT]) {
    bool cone = set == STN_SET_CONE || set == STN_SET_ELLIPSE;
    for (int32_t i = 0; i < count && !s->trial->decided; i++) {
        subject_reset(s);
        problem_spec spec = subject_spec(s);
        spec.sets = 1u << set;
        spec.contacts = cone ? spec.contacts : 0;
        spec.others = cone ? 0 : (subject_unique(s) ? 10 : 4);
        char what[64];
        snprintf(what, sizeof what, "problem %d with the set '%s' alone", i, stn_constraint_set_name(set));
        stn_problem *p = subject_problem(s, &spec);
        solver_answer a = p != NULL ? subject_solve(s, p) : (solver_answer){0};
        if (p == NULL || !subject_expect_solved(s, p, &a, what)) {
            continue;
        }
        for (int32_t k = 0; k < p->constraint_count; k++) {
            kinds[p->constraints[k].kind]++;
        }
    }
    return !s->trial->decided;
}

/// A set that is not declared must be refused with its name.
static bool refuse_set(solver_subject *s, stn_constraint_set set) {
    subject_reset(s);
    problem_spec spec = problem_spec_plain(1u << set);
    stn_problem *p = subject_problem(s, &spec);
    if (p == NULL) {
        return false;
    }
    solver_answer a = subject_solve(s, p);
    if (a.status != STN_ERR_UNSUPPORTED || strstr(s->error.text, stn_constraint_set_name(set)) == NULL) {
        trial_fail(s->trial, "the set '%s' is not declared, and a problem with it gives: %s",
                   stn_constraint_set_name(set), a.status < 0 ? s->error.text : stn_status_text(a.status));
        return false;
    }
    return true;
}

void solver_kinds_and_sets(validate_trial *trial) {
    solver_subject s;
    if (!subject_begin(&s, trial, false)) {
        return;
    }
    int32_t kinds[STN_CONSTRAINT_KIND_COUNT] = {0}, solved = 0, refused = 0, count = trial->request->full ? 500 : 50;
    for (int32_t set = 0; set < STN_SET_COUNT; set++) {
        bool declared = (s.sets >> set & 1u) != 0;
        if (!(declared ? solve_set(&s, (stn_constraint_set)set, count, kinds)
                       : refuse_set(&s, (stn_constraint_set)set))) {
            return;
        }
        solved += declared;
        refused += !declared;
    }
    int32_t kind_count = 0;
    for (int32_t kind = 0; kind < STN_CONSTRAINT_KIND_COUNT; kind++) {
        kind_count += kinds[kind] > 0;
    }
    trial_ok(trial, "%d sets with %d kinds of constraint solved, %d problems each; %d sets refused by name", solved,
             kind_count, count, refused);
}

// ------------------------------------------------------------------------------------------------------- step sizes

void solver_step_sizes(validate_trial *trial) {
    solver_subject s;
    if (!subject_begin(&s, trial, false)) {
        return;
    }
    static const double steps[] = {1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1};
    int32_t count = trial->request->full ? 200 : 20;
    double worst = 0.0;
    for (int32_t k = 0; k < STN_COUNT(steps); k++) {
        for (int32_t i = 0; i < count && !trial->decided; i++) {
            subject_reset(&s);
            problem_spec spec = subject_spec(&s);
            spec.dt = steps[k];
            char what[64];
            snprintf(what, sizeof what, "dt = %g s, problem %d", steps[k], i);
            stn_problem *p = subject_problem(&s, &spec);
            solver_answer a = p != NULL ? subject_solve(&s, p) : (solver_answer){0};
            if (p == NULL || !subject_expect_solved(&s, p, &a, what)) {
                continue;
            }
            worst = fmax(worst, subject_judge(&s, p, &a).error);
        }
    }
    trial_ok(trial, "%d step sizes, %d problems each, largest error %.1e at tolerance %.0e", STN_COUNT(steps), count,
             worst, s.common->tolerance);
}
