// SPDX-License-Identifier: Apache-2.0
// Products with the Jacobians of contacts between free bodies and with their masses, for runs of neighbours: what piles
// consist of. A function that takes `from` begins with that constraint or tree and goes on until it meets one of
// another kind; it returns where that is, which is `from` itself or later.
#ifndef STICTION_CORE_PROBLEM_BODY_ROWS_H
#define STICTION_CORE_PROBLEM_BODY_ROWS_H

#include <stiction/problem.h>

/// v_c = J v of three rows each.
int32_t body_rows_velocity(const stn_problem *problem, int32_t from, const double *v, double *v_c);
/// The same of one constraint, its own v_c (3), to the last bit. False: it is of another kind.
bool body_row_velocity(const stn_problem *problem, const stn_constraint *c, const double *v, double *v_c);
/// y += s J^T gamma.
int32_t body_rows_transposed_add(const stn_problem *problem, int32_t from, double s, const double *gamma, double *y);
/// The same of one constraint, its own gamma (3).
bool body_row_transposed_add(const stn_problem *problem, const stn_constraint *c, double s, const double *gamma,
                             double *y);
/// y = A (x - x0), x0 NULL: 0. Of dense trees of six dofs.
int32_t body_mass_times(const stn_problem *problem, int32_t from, const double *x, const double *x0, double *y);

#endif
