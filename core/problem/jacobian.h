// SPDX-License-Identifier: Apache-2.0
// Products with one Jacobian block. Vectors of dofs are those of the block's tree alone (n entries). Blocks by node of
// any size m go through one loop, which is compiled once more for m = 3.
#ifndef STICTION_CORE_PROBLEM_JACOBIAN_H
#define STICTION_CORE_PROBLEM_JACOBIAN_H

#include <string.h>

#include <stiction/problem.h>

/// y (rows) += J x, by node.
static inline void jacobian_nodes_mul_add(const stn_jacobian *J, int32_t m, int32_t rows, const double *restrict x,
                                          double *restrict y) {
    const double *values = J->values;
    for (int32_t b = 0; b < J->node_count; b++) {
        const double *z = x + (size_t)m * (size_t)J->node[b];
        for (int32_t r = 0; r < rows; r++, values += m) {
            double sum = values[0] * z[0];
            for (int32_t k = 1; k < m; k++) {
                sum += values[k] * z[k];
            }
            y[r] += sum;
        }
    }
}

/// y += s J^T gamma, by node of size m.
static inline void jacobian_size_transposed_add(const stn_jacobian *J, int32_t m, int32_t rows, double s,
                                                const double *restrict gamma, double *restrict y) {
    const double *values = J->values;
    for (int32_t b = 0; b < J->node_count; b++) {
        double *z = y + (size_t)m * (size_t)J->node[b];
        for (int32_t r = 0; r < rows; r++, values += m) {
            const double factor = s * gamma[r];
            for (int32_t k = 0; k < m; k++) {
                z[k] += factor * values[k];
            }
        }
    }
}

/// The same of any size.
static inline void jacobian_nodes_transposed_add(const stn_jacobian *J, int32_t rows, double s, const double *gamma,
                                                 double *y) {
    if (J->node_size == 3) {
        jacobian_size_transposed_add(J, 3, rows, s, gamma, y);
    } else {
        jacobian_size_transposed_add(J, J->node_size, rows, s, gamma, y);
    }
}

/// y (3) += E V, E (3 x 8), V (8).
static inline void wrench_mul_add(const double *restrict E, const double *restrict V, double *restrict y) {
    for (int32_t r = 0; r < 3; r++, E += 8) {
        const double front = (E[0] * V[0] + E[2] * V[2]) + (E[1] * V[1] + E[3] * V[3]);
        y[r] += front + (E[4] * V[4] + E[5] * V[5]);
    }
}

/// F (8) += s E^T gamma.
static inline void wrench_transposed_add(const double *restrict E, double s, const double *restrict gamma,
                                         double *restrict F) {
    const double g0 = s * gamma[0], g1 = s * gamma[1], g2 = s * gamma[2];
    for (int32_t k = 0; k < 8; k++) {
        F[k] += E[k] * g0 + E[8 + k] * g1 + E[16 + k] * g2;
    }
}

/// Has the block, of three rows, a wrench and nothing else?
static inline bool jacobian_is_wrench(const stn_jacobian *J) {
    return J->values == NULL && J->wrench != NULL;
}

/// y (3) += J x of such a block.
static inline void jacobian_wrench_mul_add(const stn_problem_tree *tree, const stn_jacobian *J,
                                           const double *restrict x, double *restrict y) {
    double V[8] = {0.0};
    for (int32_t j = J->tip; j >= 0; j = tree->parent[j]) {
        const double *S = tree->motion + 8 * (size_t)j;
        for (int32_t k = 0; k < 8; k++) {
            V[k] += S[k] * x[j];
        }
    }
    wrench_mul_add(J->wrench, V, y);
}

/// y (rows) += J x.
static inline void jacobian_mul_add(const stn_problem_tree *tree, const stn_jacobian *J, int32_t rows,
                                    const double *restrict x, double *restrict y) {
    const double *values = J->values;
    const int32_t n = tree->A.n;
    if (jacobian_is_wrench(J)) {
        jacobian_wrench_mul_add(tree, J, x, y);
        return;
    }
    if (J->node_count == 0) {
        for (int32_t r = 0; r < rows; r++) {
            double sum = 0.0;
            for (int32_t k = 0; k < n; k++) {
                sum += values[k] * x[k];
            }
            y[r] += sum;
            values += n;
        }
        return;
    }
    if (J->node_size == 3) {
        jacobian_nodes_mul_add(J, 3, rows, x, y);
    } else {
        jacobian_nodes_mul_add(J, J->node_size, rows, x, y);
    }
}

#endif
