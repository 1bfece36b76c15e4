// SPDX-License-Identifier: Apache-2.0
// Problems at the edge: a solver ends within its iterations, with finite numbers, and claims nothing that is not so.
#include <stdio.h>

#include "problem_hard.h"
#include "solver_checks.h"
#include "solver_subject.h"

/// How many problems ended in which way.
typedef struct endings {
    int32_t count, solved, unsolved, refused;
} endings;

/// Ends the trial where `p` was answered wrongly. `solvable`: it has a solution; `must_solve`: which must be found.
static void judge(solver_subject *s, const hard_problem *hard, int32_t i, const stn_problem *p, const solver_answer *a,
                  bool solvable, bool must_solve, endings *e) {
    bool claims = a->status == STN_OK || a->status == STN_STALLED;
    e->count++;
    e->solved += claims;
    e->unsolved += a->status == STN_NOT_CONVERGED;
    e->refused += a->status < 0;
    if (a->status < 0) {
        if (must_solve || s->error.text[0] == '\0') {
            trial_fail(s->trial, "%s, problem %d: %s%s", hard->name, i,
                       s->error.text[0] != '\0' ? s->error.text : "refused without a text", subject_save(s, p));
        }
        return;
    }
    solver_verdict verdict = subject_judge(s, p, a);
    if (claims && !solvable) {
        trial_fail(s->trial,
                   "%s, problem %d: says '%s' (%s), but no velocity satisfies it (residual %.1e); expected '%s'%s",
                   hard->name, i, stn_status_text(a->status), a->report.reason, verdict.error,
                   stn_status_text(STN_NOT_CONVERGED), subject_save(s, p));
    } else if (!verdict.good) {
        trial_fail(s->trial, "%s, problem %d: %s%s", hard->name, i, verdict.text, subject_save(s, p));
    } else if (!claims && must_solve) {
        trial_unsolved(s->trial,
                       "%s, problem %d: not converged (%s) after %d iterations, but compliant contacts bear it%s",
                       hard->name, i, a->report.reason, a->report.iterations, subject_save(s, p));
    }
}

/// Problems of the kinds that are, or are not, contradictions. `compliant`: the law at hand makes contacts give way.
static void solve_hard(solver_subject *s, bool contradictions, bool compliant, endings *e) {
    const int32_t count = s->trial->request->full ? 200 : 20;
    s->common->max_iterations = s->formulation == STN_REGULARIZED ? 200 : 1000;
    for (int32_t k = 0; k < hard_problem_count; k++) {
        const hard_problem *hard = &hard_problems[k];
        bool rigid_rows = (hard->sets >> STN_SET_EQUALITY & 1u) != 0; // whose R = 0 no law changes
        for (int32_t i = 0; i < count && !s->trial->decided; i++) {
            if (hard->contradiction != contradictions || (hard->sets & ~s->sets) != 0) {
                break;
            }
            subject_reset(s);
            stn_problem *p = hard->make(s->arena, &s->random);
            if (!subject_has(s, p)) {
                return;
            }
            solver_answer a = subject_solve(s, p);
            judge(s, hard, i, p, &a, !contradictions || (compliant && !rigid_rows),
                  contradictions && compliant && !rigid_rows && s->formulation == STN_REGULARIZED, e);
        }
    }
}

/// A law that is defined only before touch has nothing to say here.
static bool begin(solver_subject *s, validate_trial *trial) {
    if (!subject_begin(s, trial, false)) {
        return false;
    }
    if (s->law != NULL && stn_plugin_says(s->law, "gap")) {
        trial_skip(trial, "law %s keeps contacts apart: these touch", s->law->desc->id);
    } else if ((s->sets >> STN_SET_CONE & 1u) == 0) {
        trial_skip(trial, "it takes no cones");
    }
    return !trial->decided;
}

void solver_contradictions(validate_trial *trial) {
    solver_subject s;
    if (!begin(&s, trial)) {
        return;
    }
    endings rigid = {0}, soft = {0};
    if (s.law == NULL) {
        solve_hard(&s, true, false, &rigid);
    }
    if (!trial->decided && subject_regularize(&s) && s.law != NULL) {
        solve_hard(&s, true, true, &soft);
    }
    trial_ok(
        trial,
        "%d problems that no rigid contacts solve: %d not converged, %d refused, none claimed; %d with a compliant "
        "law: %d solved, %d not converged, %d refused",
        rigid.count, rigid.unsolved, rigid.refused, soft.count, soft.solved, soft.unsolved, soft.refused);
}

void solver_awkward(validate_trial *trial) {
    solver_subject s;
    endings e = {0};
    if (!begin(&s, trial)) {
        return;
    }
    solve_hard(&s, false, s.law != NULL, &e);
    trial_ok(trial, "%d problems: %d solved, %d not converged, %d refused, all said so", e.count, e.solved, e.unsolved,
             e.refused);
}
