// SPDX-License-Identifier: Apache-2.0
#include "common/expand.h"

#include <string.h>

void problem_mass_row(const stn_problem_tree *tree, int32_t dof, double *row) {
    const stn_matrix *A = &tree->A;
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
        for (int32_t e = A->row_start[dof / 3]; e < A->row_start[dof / 3 + 1]; e++) {
            memcpy(row + tree->dof_start + 3 * A->column[e], A->values + 9 * (size_t)e + (size_t)(3 * (dof % 3)),
                   3 * sizeof *row);
        }
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
        for (int32_t b = 0; b < J->node_count; b++) {
            memcpy(row + tree->dof_start + 3 * J->node[b], J->values + 3 * (c->rows * b + r), 3 * sizeof *row);
        }
    }
}
