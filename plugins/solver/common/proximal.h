// SPDX-License-Identifier: Apache-2.0
// Proximal points for problems whose A is singular [rockafellar-1976]: the program with delta D (v - x) on the left of
// its balance is solved again and again,
//
//     A (v - v_star) + delta D (v - x) = J^T gamma + f,    the next centre x is v, or ahead of it,
//
// until A alone balances the impulses: there the answer does not depend on delta D.
#ifndef SOLVER_COMMON_PROXIMAL_H
#define SOLVER_COMMON_PROXIMAL_H

#include <stiction/plugin.h>

/// How far v and gamma are from the balance A (v - v_star) = J^T gamma + f, in |D x|, and what that is relative to: the
/// larger of |D A v| and |D y|, y the sizes of the impulses, which may cancel to nothing.
typedef struct proximal_balance {
    double value, size; // [sqrt(J)]
} proximal_balance;

/// D (nv): diag(A)^-1/2; where that is no number the largest inertia of the tree stands in, or 1.
void proximal_scale(const stn_problem *problem, double *D);
/// The balance of v (nv) and gamma (row_count). `work` holds 2 nv; the second half is then what the balance leaves.
proximal_balance proximal_measure(const stn_problem *problem, const double *D, const double *v, const double *gamma,
                                  double *work);

/// Are the impulses x (nv) in a tree no more than digits of delta D v, which came and went?
bool proximal_is_rounding(const stn_problem_tree *tree, const double *D, const double *weight, const double *v,
                          const double *x);

/// Where the `control` names singular A's: delta D (nv) of their dofs and 0 elsewhere, in its arena; NULL where it
/// names none. D is diag(A) + the sum of J^2/w over constraints without rounding, of a free body and of nodes the
/// largest of axes x, y, z, and at least 1e-4 of the tree's largest, or 1: as large as A + J^T J/w, so that A + delta D
/// has a factor whatever A leaves open.
stn_status proximal_weights(const stn_problem *problem, const stn_solve_control *control, double delta, double **out,
                            stn_error *err);

/// v_star (nv) where A is regular, 0 where it is singular: there it is no speed that anything has without impulses, but
/// may be how far a motor is told to go.
void proximal_free_speeds(const stn_problem *problem, const bool *singular, double *out);

/// What proximal_solve works on; all borrowed.
typedef struct proximal {
    const stn_problem *problem; // of global form
    const stn_solve_control *control;
    const double *weight;   // (nv) delta D [kg], 0 in trees whose A is regular
    const double *scale;    // (nv) of proximal_scale
    stn_solution *solution; // v in: the first centre, 0 in worlds; v and gamma out
    /// `program` ends with a solution wherever there is one, unless digits end; then one failure after a step that came
    /// no nearer says that nothing holds a dof, and so does want of progress in 500 steps. Else 8 such steps and a
    /// failure do, or 24.
    bool exact;
    /// Out of `program`: once it ended without the solution and without telling whether there is one, as when no
    /// iterations are left. Then nothing is said to hold no dof.
    bool vague;
    const char *reason; // out: why the loop ended with STN_NOT_CONVERGED, NULL: as `program` says
    /// Solves the program with the centre x (nv), which is solution->v until it writes there, into `solution`. STN_OK,
    /// or what proximal_solve ends with.
    stn_status (*program)(void *self, const double *x, stn_error *err);
    void *self;
} proximal;

/// The loop. STN_OK: A alone balances, to control->tolerance and as far as digits go on. STN_NOT_CONVERGED: 500 steps
/// did not get there, or as `program` says. STN_ERR_NUMERIC: nothing holds a dof, which stn_fail_unheld names. [step]
stn_status proximal_solve(proximal *p, stn_error *err);

#endif
