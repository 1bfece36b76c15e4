// SPDX-License-Identifier: Apache-2.0
// Many random problems, judged by the certificate for the formulation that the solver declares.
#include <stdio.h>
#include <stdlib.h>

#include "solver_checks.h"
#include "solver_subject.h"

/// What came out of many problems. Every problem is one of converged, not converged, wrong.
typedef struct harvest {
    int32_t count, converged, not_converged, most_iterations; // stalled near a solution counts as converged
    int32_t stalled, wrong, not_finite;                       // wrong: failed, or worse than it says
    int32_t iterations[101];                                  // problems by iterations, the last one: 100 and more
    double worst;                                             // error of what converged
    // of an approximate solver: answers whose natural_ncp is above that without any impulse, and the mean of the two's
    // ratio, 1 at most
    int32_t worse;
    double ratio;
    char first_wrong[480];
} harvest;

static int32_t median_iterations(const harvest *h) {
    int32_t seen = 0, n = 0;
    for (; n < 100 && 2 * (seen + h->iterations[n]) < h->count; n++) {
        seen += h->iterations[n];
    }
    return n;
}

/// An approximate answer beside no impulse at all, v = v_star.
static void compare_with_nothing(solver_subject *s, stn_problem *p, const solver_answer *a, harvest *h) {
    double *gamma = STN_ARENA_ZEROED(s->arena, p->row_count + 1, double);
    stn_certificate idle;
    if (!subject_has(s, gamma) || a->status < 0 ||
        stn_certify(p, p->v_star, gamma, NULL, NULL, NULL, 0, s->arena, &idle, &s->error) != STN_OK) {
        return;
    }
    bool better = a->certificate.natural_ncp <= idle.natural_ncp;
    h->worse += !better;
    h->ratio += better && idle.natural_ncp > 0.0 ? a->certificate.natural_ncp / idle.natural_ncp : 1.0;
}

/// Solves problem `i` of `count` and judges it; of answers that are worse than they say the first is kept.
static void solve_one(solver_subject *s, const problem_spec *spec, int32_t i, int32_t count, harvest *h) {
    subject_reset(s);
    stn_problem *p = subject_problem(s, spec);
    if (p == NULL) {
        return;
    }
    solver_answer a = subject_solve(s, p);
    solver_verdict verdict = subject_judge(s, p, &a);
    if (!verdict.good && h->wrong == 0) {
        snprintf(h->first_wrong, sizeof h->first_wrong, "problem %d (%d dofs, %d constraints): %s%s", i, p->nv,
                 p->constraint_count, verdict.text, subject_save(s, p));
    }
    if (s->approximate) {
        compare_with_nothing(s, p, &a, h);
    }
    int32_t n = a.status >= 0 ? a.report.iterations : 0;
    bool claims = a.status == STN_OK || a.status == STN_STALLED;
    h->count++;
    h->wrong += !verdict.good;
    h->not_finite += a.status >= 0 && !a.certificate.finite;
    h->converged += verdict.good && claims;
    h->not_converged += verdict.good && !claims;
    h->stalled += verdict.good && a.status == STN_STALLED;
    h->iterations[n < 100 ? n : 100]++;
    h->most_iterations = n > h->most_iterations ? n : h->most_iterations;
    h->worst = verdict.good && a.status == STN_OK && verdict.error > h->worst ? verdict.error : h->worst;
    trial_progress(s->trial, i + 1, count);
}

/// `share`: of the problems that may stay unsolved.
static void summarise(solver_subject *s, const harvest *h, double share) {
    if (h->wrong > 0) {
        trial_fail(s->trial, "%d of %d problems, %d not finite; the first: %s", h->wrong, h->count, h->not_finite,
                   h->first_wrong);
    } else if (s->approximate) {
        if (share < 1.0 && (h->worse > 0.1 * h->count || !(h->ratio <= 0.5 * h->count))) {
            trial_fail(
                s->trial,
                "natural_ncp is above that without any impulse in %d of %d problems (expected at most 10 %%), and "
                "%.2f of it in the mean (expected at most 0.5)",
                h->worse, h->count, h->ratio / h->count);
        }
        trial_ok(s->trial,
                 "%d problems, approximate: momentum and sets to rounding, none claimed; natural_ncp %.2f of that "
                 "without any impulse in the mean, above it in %d",
                 h->count, h->ratio / h->count, h->worse);
    } else if (h->not_converged > share * h->count) {
        trial_fail(s->trial, "%d of %d problems not converged, expected at most %g %%", h->not_converged, h->count,
                   100.0 * share);
    }
    trial_ok(
        s->trial,
        "%d problems at tolerance %.0e: %d converged, %d of them stalled, %d not converged, 0 claimed wrongly, 0 not "
        "finite; largest error of the converged %.1e; iterations %d in the median, at most %d",
        h->count, s->common->tolerance, h->converged, h->stalled, h->not_converged, h->worst, median_iterations(h),
        h->most_iterations);
}

void solver_random_problems(validate_trial *trial) {
    solver_subject s;
    if (!subject_begin(&s, trial, false)) {
        return;
    }
    bool convex = s.formulation == STN_REGULARIZED;
    s.common->max_iterations = convex ? 200 : 20000;
    harvest h = {0};
    int32_t count = trial->request->full ? 10000 : (convex ? 2000 : 300);
    for (int32_t i = 0; i < count && !trial->decided; i++) {
        problem_spec spec = problem_spec_plain(s.sets);
        spec.bodies = random_integer(&s.random, 1, 4);
        spec.arms = random_integer(&s.random, 0, 2);
        spec.points = random_integer(&s.random, 0, 2);
        spec.contacts = random_integer(&s.random, 1, 12);
        spec.others = random_integer(&s.random, 0, subject_unique(&s) ? 4 : 1);
        spec.cables = random_integer(&s.random, 0, subject_unique(&s) ? 2 : 1);
        spec.islands = random_integer(&s.random, 1, 2);
        solve_one(&s, &spec, i, count, &h);
    }
    summarise(&s, &h, subject_share_unsolved(&s));
}

void solver_ill_posed_problems(validate_trial *trial) {
    solver_subject s;
    if (!subject_begin(&s, trial, false)) {
        return;
    }
    s.common->tolerance = 1e-6;
    bool convex = s.formulation == STN_REGULARIZED, full = trial->request->full;
    s.common->max_iterations = convex ? 100 : (full ? 500 : 200); // those that go on for long take the time
    harvest h = {0};
    int32_t count = (full ? 10 : 1) * (convex ? 1000 : 100);
    for (int32_t i = 0; i < count && !trial->decided; i++) {
        problem_spec spec = problem_spec_ill_posed(s.sets, &s.random);
        solve_one(&s, &spec, i, count, &h);
    }
    summarise(&s, &h, 1.0);
}
