// SPDX-License-Identifier: Apache-2.0
// Matrices of large trees and Jacobians of their contacts, written out for who knows neither articulated matrices nor
// wrenches.
#include <string.h>

#include "base/ltl.h"
#include "problem/jacobian.h"

void stn_jacobian_expand(const stn_problem *problem, const stn_jacobian *J, int32_t rows, double *out) {
    const stn_problem_tree *tree = &problem->trees[J->tree];
    const size_t n = (size_t)tree->A.n, count = (size_t)rows * n;
    if (J->node_count == 0 && !jacobian_is_wrench(J)) {
        memcpy(out, J->values, count * sizeof *out);
        return;
    }
    memset(out, 0, count * sizeof *out);
    if (jacobian_is_wrench(J)) {
        articulated_rows(tree->A.n, tree->parent, tree->motion, J->wrench, J->tip, out);
        return;
    }
    const double *values = J->values;
    const int32_t m = J->node_size;
    for (int32_t b = 0; b < J->node_count; b++) { // a node that is named twice adds
        for (int32_t r = 0; r < rows; r++, values += m) {
            double *to = out + (size_t)r * n + (size_t)(m * J->node[b]);
            for (int32_t k = 0; k < m; k++) {
                to[k] += values[k];
            }
        }
    }
}

/// A block of an articulated tree.
static bool expand_block(const stn_problem *problem, stn_arena *arena, int32_t rows, stn_jacobian *J) {
    if (J->tree < 0 || problem->trees[J->tree].A.form != STN_MATRIX_ARTICULATED ||
        (J->node_count == 0 && !jacobian_is_wrench(J))) {
        return true;
    }
    double *values = STN_ARENA(arena, (size_t)rows * (size_t)problem->trees[J->tree].A.n, double);
    if (values == NULL) {
        return false;
    }
    stn_jacobian_expand(problem, J, rows, values);
    J->values = values;
    J->node_count = J->node_size = 0;
    return true;
}

bool stn_problem_expand(const stn_problem *problem, stn_arena *arena, stn_problem *out) {
    bool any = false;
    *out = *problem;
    for (int32_t t = 0; t < problem->tree_count; t++) {
        any = any || problem->trees[t].A.form == STN_MATRIX_ARTICULATED;
    }
    if (!any) {
        return true;
    }
    out->trees = STN_ARENA(arena, problem->tree_count, stn_problem_tree);
    out->constraints = STN_ARENA(arena, problem->constraint_count, stn_constraint);
    if (out->trees == NULL || out->constraints == NULL) {
        return false;
    }
    memcpy(out->trees, problem->trees, (size_t)problem->tree_count * sizeof *out->trees);
    for (int32_t t = 0; t < problem->tree_count; t++) {
        stn_matrix *A = &out->trees[t].A;
        if (A->form != STN_MATRIX_ARTICULATED) {
            continue;
        }
        double *values = STN_ARENA(arena, (size_t)A->n * (size_t)A->n, double);
        if (values == NULL) {
            return false;
        }
        stn_matrix_expand(A, values);
        *A = (stn_matrix){.n = A->n, .form = STN_MATRIX_DENSE, .values = values};
    }
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        stn_constraint *c = &out->constraints[i];
        *c = problem->constraints[i];
        if (!expand_block(problem, arena, c->rows, &c->J[0]) || !expand_block(problem, arena, c->rows, &c->J[1])) {
            return false;
        }
    }
    return true;
}
