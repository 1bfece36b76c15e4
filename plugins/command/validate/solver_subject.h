// SPDX-License-Identifier: Apache-2.0
// A solver under test with all that it needs, and the judgement of what it answers by the certificate.
#ifndef STICTION_COMMAND_VALIDATE_SOLVER_SUBJECT_H
#define STICTION_COMMAND_VALIDATE_SOLVER_SUBJECT_H

#include <stiction/solve.h>

#include "problem_change.h"
#include "solver_guard.h"
#include "validate.h"

typedef struct solver_subject {
    validate_trial *trial;
    stn_context *context;
    stn_instance *solver, *law;
    const stn_solver_ops *ops;
    stn_formulation formulation; // as configured
    stn_solver_common *common;   // of `solver`: tolerance and limits may be changed between solves
    solver_guard *guard;         // NULL unless asked for
    stn_problem_solver *problem_solver;
    stn_arena *arena;   // of the problem at hand; subject_reset
    uint32_t sets;      // that solver and law take together
    bool masses_stated; // w of the next problem stands in it; else it is computed
    random_stream random;
    bool approximate;        // it says so: judged by momentum, sets and decrease alone
    int32_t asked, unsolved; // by subject_expect_solved
    stn_error error;
} solver_subject;

/// An answer: v and gamma in the subject's arena.
typedef struct solver_answer {
    stn_status status;
    double *v, *gamma;
    stn_solve_report report;
    stn_certificate certificate;
    int64_t allocations; // that the solve asked the context for
} solver_answer;

/// Makes everything, with a guard when `guarded`, tolerances tight (subject_precision). False: the trial is decided.
bool subject_begin(solver_subject *s, validate_trial *trial, bool guarded);
/// For a check that compares solutions. False: the solver says that it is approximate, the trial is skipped.
bool subject_has_solutions(solver_subject *s);
/// From now on with the law, where one is optional (STN_REGULARIZED_BY_LAW). False: the trial is decided.
bool subject_regularize(solver_subject *s);
/// Empties the arena: earlier problems and answers are gone.
void subject_reset(solver_subject *s);
/// A random problem; NULL: the trial is decided.
stn_problem *subject_problem(solver_subject *s, const problem_spec *spec);
/// False decides the trial: out of memory.
bool subject_has(solver_subject *s, const void *memory);

/// Zeroed memory of a solver or law for every constraint, as a first step has it; NULL when it keeps none.
const void *subject_memory(const solver_subject *s, const stn_instance *instance, const stn_problem *p);
/// Through the core: w, R and v_hat are derived and written into the problem, islands are solved apart.
solver_answer subject_solve(solver_subject *s, stn_problem *p);
/// The same into arrays with any content.
void subject_solve_into(solver_subject *s, stn_problem *p, solver_answer *answer);

/// What the answer is judged by, as the solver's formulation says.
typedef struct solver_verdict {
    bool good;
    double error;   // what the formulation is judged by, relative: momentum, or a natural map over the speed
    char text[320]; // what is wrong
} solver_verdict;
/// A status that claims a solution must be true; STN_NOT_CONVERGED claims nothing. The certificate in the answer tells.
solver_verdict subject_judge(const solver_subject *s, const stn_problem *p, const solver_answer *answer);
/// solver_dissipation.c: how far an answer is from maximal dissipation, over `speed` [1]: the largest over contacts of
/// what Signorini's condition and the cone lack, and of the energy that sampled directions of friction would still take
/// away.
double solver_dissipation(const solver_subject *s, const stn_problem *p, const solver_answer *answer, double speed);
/// solver_polyhedron.c: how far an answer is from friction on a polyhedral cone of any kind, over `speed` [1].
double solver_polyhedron(const solver_subject *s, const stn_problem *p, const solver_answer *answer, double speed);
/// Judges, and decides the trial with "what: ..." when it is not good. A solver of a convex potential must converge,
/// any other may leave one problem in ten (and two) honestly unsolved: false then, and the trial goes on.
bool subject_expect_solved(solver_subject *s, const stn_problem *p, const solver_answer *answer, const char *what);
/// Writes the problem into the folder that was asked for, named after the check; returns words for the failure's text.
const char *subject_save(solver_subject *s, const stn_problem *p);

/// Share of ordinary problems that may stay unsolved.
double subject_share_unsolved(const solver_subject *s);
/// Tolerance that the checks ask for, and how near two ways to the same solution must come: |v - w|_A over |v|_A.
double subject_tolerance(const solver_subject *s);
double subject_nearness(const solver_subject *s);
/// The solution is known to be unique, redundant contacts or not: the convex formulations.
bool subject_unique(const solver_subject *s);
/// problem_spec_plain, without what makes solutions ambiguous where the formulation is not convex.
problem_spec subject_spec(const solver_subject *s);
/// |v - w|_A over the larger of |v|_A and |w|_A.
double subject_difference(solver_subject *s, const stn_problem *p, const double *v, const double *w);

#endif
