// SPDX-License-Identifier: Apache-2.0
#include "common/expand.h"

#include <string.h>

void problem_mass_row(const stn_problem_tree *tree, int32_t dof, double *row) {
    const stn_matrix *A = &tree->A;
    const int32_t m = A->node_size;
    switch (A->form) {
    case STN_MATRIX_ZERO:
        break;
    case STN_MATRIX_DIAGONAL:
        row[tree->dof_start + dof] = A->values[dof];
        break;
    case STN_MATRIX_DENSE:
        memcpy(row + tree->dof_start, A->values + (size_t)dof * (size_t)A->n, (size_t)A->n * sizeof *row);
        break;
    case STN_MATRIX_NODAL:
        for (int32_t e = A->row_start[dof / m]; e < A->row_start[dof / m + 1]; e++) {
            memcpy(row + tree->dof_start + m * A->column[e], A->values + (int64_t)m * (m * e + dof % m),
                   (size_t)m * sizeof *row);
        }
        break;
    case STN_MATRIX_ARTICULATED: // who writes is given dense ones
        break;
    }
}

void problem_jacobian_row(const stn_problem *p, const stn_constraint *c, int32_t r, double *row) {
    for (int32_t k = 0; k < stn_constraint_block_count(c); k++) {
        const stn_jacobian *J = stn_constraint_block(c, k);
        const stn_problem_tree *tree = &p->trees[J->tree];
        if (J->node_count == 0) {
            memcpy(row + tree->dof_start, J->values + (size_t)r * (size_t)tree->A.n, (size_t)tree->A.n * sizeof *row);
        }
        for (int32_t m = J->node_size, b = 0; b < J->node_count; b++) {
            memcpy(row + tree->dof_start + m * J->node[b], J->values + m * (c->rows * b + r), (size_t)m * sizeof *row);
        }
    }
}
