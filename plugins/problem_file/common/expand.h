// SPDX-License-Identifier: Apache-2.0
// Rows of a problem's matrices as wide as the problem, for files that know no trees.
#ifndef STICTION_PLUGINS_PROBLEM_FILE_COMMON_EXPAND_H
#define STICTION_PLUGINS_PROBLEM_FILE_COMMON_EXPAND_H

#include <stiction/problem.h>

/// Row `dof` of A_t into `row` (nv), which is zero.
void problem_mass_row(const stn_problem_tree *tree, int32_t dof, double *row);
/// Row r of a constraint's J into `row` (nv), which is zero.
void problem_jacobian_row(const stn_problem *problem, const stn_constraint *constraint, int32_t r, double *row);

#endif
