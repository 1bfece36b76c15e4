// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_PROBLEM_LOCAL_FORM_H
#define STICTION_CORE_PROBLEM_LOCAL_FORM_H

#include <stiction/problem.h>

/// The local form without bilateral rows: v_c = W gamma + q. Points at the problem's arrays, or into the arena.
typedef struct local_form {
    const double *W, *q; // (row_count x row_count, row-major), (row_count)
} local_form;

/// STN_ERR_NUMERIC when R_bilateral is singular.
stn_status local_form_reduce(const stn_problem *problem, stn_arena *arena, local_form *out, stn_error *err);
/// Largest |W_ij - W_ji| by the largest |W_ij|; 0 of an empty one.
double local_form_asymmetry(const stn_problem *problem);
/// v_c = W gamma + q.
void local_form_velocity(const local_form *form, int32_t rows, const double *gamma, double *v_c);

/// Where row i of the blocks of W (row_count x row_count) holds something else than 0: present (constraint_count), NaN
/// is something and -0 is not.
void local_form_block_row(const stn_problem *problem, const double *W, int32_t i, bool *present);
/// Which blocks of W are there: [i n + j] for the n constraints, true where block (i, j) or (j, i) is, and on the
/// diagonal. In `arena`; NULL: out of memory.
const bool *local_form_blocks(const stn_problem *problem, const double *W, stn_arena *arena);

#endif
