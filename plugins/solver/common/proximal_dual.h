// SPDX-License-Identifier: Apache-2.0
// Singular A for solvers over impulses, which see velocities through W = J A^-1 J^T alone. About a centre x
// (proximal.h) the problem is a regular one,
//
//     P (v - x) = J^T gamma + A (v_star - x) + f,    P = A + delta D,
//
// whose W is made once a solve; from centre to centre only b of v_c = W gamma + b changes.
#ifndef SOLVER_COMMON_PROXIMAL_DUAL_H
#define SOLVER_COMMON_PROXIMAL_DUAL_H

#include <stiction/plugin.h>

/// The solve of stn_solver_ops, for a regular problem.
typedef stn_status (*proximal_dual_solver)(void *self, const stn_problem *problem, const stn_solve_control *control,
                                           stn_solution *solution, stn_solve_info *info, stn_error *err);

/// stn_solver_ops.solve where control->singular is not NULL: `solve` about each centre, from the impulses of the one
/// before. The workspace of `control` is a symbolic_cache. STN_OK: `solve` said so of the last centre, relative to
/// speeds that do not depend on delta, and A alone balances, of each tree by itself. Leaves v and gamma. [step]
stn_status proximal_dual_solve(proximal_dual_solver solve, void *self, const stn_problem *problem,
                               const stn_solve_control *control, stn_solution *solution, stn_solve_info *info,
                               stn_error *err);

#endif
