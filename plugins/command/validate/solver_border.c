// SPDX-License-Identifier: Apache-2.0
// What plugin and core promise each other: read-only inputs, honest statuses, repeatable bytes, limits, no allocation.
#include <stdio.h>
#include <string.h>

#include "solver_checks.h"
#include "solver_subject.h"

/// Plain problems and some with more to them, with the guard in between. Returns how many calls the solver had.
static int32_t watch_many(solver_subject *s) {
    int32_t count = s->trial->request->full ? 1000 : 60;
    for (int32_t i = 0; i < count && !s->trial->decided; i++) {
        subject_reset(s);
        problem_spec spec = subject_spec(s);
        spec.clouds = i % 3 == 2 && subject_unique(s) ? 1 : 0;
        spec.islands = 1 + i % 3;
        s->common->max_iterations = i % 4 == 3 ? 1 + i % 7 : (s->formulation == STN_REGULARIZED ? 200 : 2000);
        stn_problem *p = subject_problem(s, &spec);
        if (p != NULL) {
            subject_solve(s, p); // how well is for other checks
        }
    }
    return s->guard->calls;
}

void solver_inputs(validate_trial *trial) {
    solver_subject s;
    if (!subject_begin(&s, trial, true)) {
        return;
    }
    int32_t calls = watch_many(&s);
    if (s.guard->changed_input[0] != '\0') {
        trial_fail(trial, "%s, expected the problem as it was", s.guard->changed_input);
    }
    trial_ok(trial, "%d calls: problem and control as they were, byte by byte", calls);
}

void solver_word(validate_trial *trial) {
    solver_subject s;
    if (!subject_begin(&s, trial, true)) {
        return;
    }
    int32_t calls = watch_many(&s);
    if (s.guard->broke_word[0] != '\0') {
        trial_fail(trial, "%s", s.guard->broke_word);
    }
    trial_ok(trial, "%d calls: known statuses, finite outputs, a reason each", calls);
}

void solver_repeats(validate_trial *trial) {
    solver_subject s;
    if (!subject_begin(&s, trial, true)) {
        return;
    }
    int32_t calls = watch_many(&s);
    if (s.guard->not_repeated[0] != '\0') {
        trial_fail(trial, "%s, expected the same bytes", s.guard->not_repeated);
        return;
    }
    if (!subject_begin(&s, trial, false)) {
        return;
    }
    // Islands on several workers, and one island with workers of its own.
    for (int32_t workers = 2; workers <= 4 && !s.trial->decided; workers *= 2) {
        stn_threads *threads = NULL;
        stn_problem_solver *alone = s.problem_solver, *several = NULL;
        stn_problem_solver_options options = {.solver = s.solver, .law = s.law};
        stn_status status = stn_threads_create(s.context, workers, &threads, &s.error);
        options.threads = threads;
        status = status == STN_OK ? stn_problem_solver_create(s.context, &options, &several, &s.error) : status;
        for (int32_t i = 0; i < 10 && status == STN_OK && !s.trial->decided; i++) {
            subject_reset(&s);
            problem_spec spec = subject_spec(&s);
            spec.islands = 1 + 3 * (i % 2);
            spec.bodies *= spec.islands;
            spec.contacts *= 2 * spec.islands;
            stn_problem *p = subject_problem(&s, &spec);
            if (p == NULL) {
                break;
            }
            s.problem_solver = alone;
            solver_answer one = subject_solve(&s, p);
            s.problem_solver = several;
            solver_answer more = subject_solve(&s, p);
            if (one.status != more.status || memcmp(one.v, more.v, (size_t)p->nv * sizeof(double)) != 0 ||
                memcmp(one.gamma, more.gamma, (size_t)p->row_count * sizeof(double)) != 0) {
                trial_fail(s.trial, "problem %d: other bytes on %d workers than on one%s", i, workers,
                           subject_save(&s, p));
            }
        }
        s.problem_solver = alone;
        if (status != STN_OK) {
            trial_fail(s.trial, "%d workers: %s", workers, s.error.text);
        }
        stn_problem_solver_destroy(several);
        stn_threads_destroy(threads);
    }
    trial_ok(trial, "%d calls made twice, with a fresh workspace, and on 1, 2 and 4 workers: the same bytes", calls);
}

// --------------------------------------------------------------------------------------------------- iteration limit

void solver_iteration_limit(validate_trial *trial) {
    solver_subject s;
    if (!subject_begin(&s, trial, false)) {
        return;
    }
    int32_t ended = 0, count = 0;
    for (int32_t i = 0; i < 40 && !trial->decided; i++) {
        subject_reset(&s);
        problem_spec spec = subject_spec(&s);
        spec.bodies = 6;
        spec.contacts = 20;
        stn_problem *p = subject_problem(&s, &spec);
        if (p == NULL) {
            return;
        }
        s.common->max_iterations = 1 + i % 4;
        s.common->tolerance = i % 2 == 0 ? 1e-10 : 0.0; // 0 cannot be reached: the solver ends in another way
        solver_answer a = subject_solve(&s, p);
        bool limited = a.status == STN_NOT_CONVERGED;
        count++;
        ended += limited;
        solver_verdict verdict = subject_judge(&s, p, &a);
        if (a.status < 0) {
            trial_fail(trial, "problem %d with max_iterations = %d: %s, expected a positive status", i,
                       s.common->max_iterations, s.error.text);
        } else if (a.report.iterations > s.common->max_iterations) {
            trial_fail(trial, "problem %d: %d iterations, max_iterations was %d", i, a.report.iterations,
                       s.common->max_iterations);
        } else if (a.status == STN_OK && s.common->tolerance > 0.0 && !verdict.good) {
            trial_fail(trial, "problem %d with max_iterations = %d %s, expected '%s'", i, s.common->max_iterations,
                       verdict.text, stn_status_text(STN_NOT_CONVERGED));
        }
    }
    trial_ok(trial, "%d problems with 1 to 4 iterations: %d ended as '%s', none made more", count, ended,
             stn_status_text(STN_NOT_CONVERGED));
}

// --------------------------------------------------------------------------------------------------------- tolerance

void solver_tolerances(validate_trial *trial) {
    static const double tolerances[] = {1e-3, 1e-5, 1e-7, 1e-9};
    solver_subject s;
    if (!subject_begin(&s, trial, false) || !subject_has_solutions(&s)) {
        return;
    }
    const problem_spec spec = subject_spec(&s);
    const random_stream start = s.random;
    const int32_t count = trial->request->full ? 300 : 30;
    double worst[STN_COUNT(tolerances)] = {0.0};
    for (int32_t k = 0; k < STN_COUNT(tolerances); k++) {
        s.random = start; // the same problems again
        s.common->tolerance = tolerances[k];
        for (int32_t i = 0; i < count && !trial->decided; i++) {
            subject_reset(&s);
            char what[64];
            snprintf(what, sizeof what, "problem %d at tolerance %.0e", i, tolerances[k]);
            stn_problem *p = subject_problem(&s, &spec);
            solver_answer a = p != NULL ? subject_solve(&s, p) : (solver_answer){0};
            if (p != NULL && subject_expect_solved(&s, p, &a, what)) {
                worst[k] = fmax(worst[k], subject_judge(&s, p, &a).error);
            }
        }
    }
    trial_ok(trial, "%d problems at each of 1e-3, 1e-5, 1e-7, 1e-9: largest errors %.1e, %.1e, %.1e, %.1e", count,
             worst[0], worst[1], worst[2], worst[3]);
}

// --------------------------------------------------------------------------------------------------------------- NaN

/// One place of a problem that may be spoilt.
typedef struct place {
    const char *name;
    double *value;
} place;

/// Outputs hold a mark before and must hold it after a failure.
static void solve_spoilt(solver_subject *s, stn_problem *p, const char *what, double value) {
    static const double mark = 77.25;
    double *v = STN_ARENA(s->arena, p->nv + 1, double), *gamma = STN_ARENA(s->arena, p->row_count + 1, double);
    if (!subject_has(s, v) || !subject_has(s, gamma)) {
        return;
    }
    for (int32_t d = 0; d < p->nv; d++) {
        v[d] = mark;
    }
    for (int32_t r = 0; r < p->row_count; r++) {
        gamma[r] = mark;
    }
    solver_answer a = {.v = v, .gamma = gamma};
    subject_solve_into(s, p, &a);
    if (a.status >= 0) { // it may not have needed the number, then the rest must be right
        solver_verdict verdict = subject_judge(s, p, &a);
        if (a.status == STN_NOT_CONVERGED || !verdict.good) {
            trial_fail(s->trial, "%s = %g: status '%s' (%s), expected a negative status and a line that names it", what,
                       value, stn_status_text(a.status), verdict.good ? a.report.reason : verdict.text);
        }
        return;
    }
    if (s->error.text[0] == '\0') {
        trial_fail(s->trial, "%s = %g: failed without a text", what, value);
    }
    for (int32_t d = 0; d < p->nv; d++) {
        if (v[d] != mark) {
            trial_fail(s->trial, "%s = %g: failed, and v was written", what, value);
        }
    }
}

void solver_not_a_number(validate_trial *trial) {
    enum { PLACES = 16 };
    solver_subject s;
    if (!subject_begin(&s, trial, true)) {
        return;
    }
    static const double bad[] = {(double)NAN, (double)INFINITY};
    s.common->max_iterations = 200;
    int32_t cases = 0;
    problem_spec spec = subject_spec(&s);
    spec.sets &= 1u << STN_SET_CONE | 1u << STN_SET_BOX | 1u << STN_SET_EQUALITY;
    for (int32_t k = 0; k < 2; k++) {
        place places[PLACES];
        int32_t count = 1;
        for (int32_t i = 0; i < count && !trial->decided; i++) {
            subject_reset(&s);
            random_stream fixed = s.random;
            stn_problem *p = problem_make(s.arena, &spec, &fixed);
            if (!subject_has(&s, p) || p->constraint_count == 0) {
                trial_skip(trial, "it takes no constraints that this check makes");
                return;
            }
            int32_t last = p->row_count - 1;
            count = 0;
            const stn_constraint *contact = &p->constraints[0];
            places[count++] = (place){"v_star", &p->v_star[p->nv / 2]};
            places[count++] = (place){"v_guess", &p->v_guess[0]};
            places[count++] = (place){"gamma_guess", &p->gamma_guess[0]};
            places[count++] = (place){"A", &p->trees[0].A.values[0]};
            places[count++] = (place){"a Jacobian", (double *)(uintptr_t)contact->J[0].values};
            places[count++] = (place){"bias", &p->bias[last]};
            places[count++] = (place){"mu", &p->constraints[0].mu1};
            places[count++] = (place){"phi0", &p->constraints[0].phi0};
            *places[i].value = bad[k];
            solve_spoilt(&s, p, places[i].name, bad[k]);
            cases++;
        }
    }
    if (s.guard->changed_input[0] != '\0') {
        trial_fail(trial, "%s", s.guard->changed_input);
    }
    trial_ok(trial, "%d cases: refused with a line, outputs untouched, or not needed", cases);
}

// -------------------------------------------------------------------------------------------------------- allocation

void solver_allocations(validate_trial *trial) {
    solver_subject s;
    if (!subject_begin(&s, trial, false)) {
        return;
    }
    problem_spec spec = subject_spec(&s);
    stn_problem *p = subject_problem(&s, &spec);
    solver_answer a = p != NULL ? subject_solve(&s, p) : (solver_answer){0}; // whose memory the next ones get too
    int64_t more = 0;
    for (int32_t i = 1; i < 12 && a.gamma != NULL; i++) {
        subject_solve_into(&s, p, &a);
        more += i > 5 ? a.allocations : 0;
    }
    if (more > 0) {
        trial_fail(trial, "the 7th to 12th solve of one problem made %lld allocations, expected none", (long long)more);
    }
    trial_ok(trial, "a problem solved 12 times: no allocation from the 7th on");
}
