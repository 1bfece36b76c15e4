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

/// y (rows) += J x.
static inline void jacobian_mul_add(const stn_jacobian *J, int32_t rows, int32_t n, const double *restrict x,
                                    double *restrict y) {
    const double *values = J->values;
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

/// out (rows x n, row-major) = J. A node that is named twice adds.
static inline void jacobian_expand(const stn_jacobian *J, int32_t rows, int32_t n, double *restrict out) {
    size_t count = (size_t)rows * (size_t)n;
    if (J->node_count == 0) {
        memcpy(out, J->values, count * sizeof *out);
        return;
    }
    memset(out, 0, count * sizeof *out);
    const double *values = J->values;
    const int32_t m = J->node_size;
    for (int32_t b = 0; b < J->node_count; b++) {
        for (int32_t r = 0; r < rows; r++, values += m) {
            double *to = out + (size_t)r * (size_t)n + (size_t)(m * J->node[b]);
            for (int32_t k = 0; k < m; k++) {
                to[k] += values[k];
            }
        }
    }
}

#endif
