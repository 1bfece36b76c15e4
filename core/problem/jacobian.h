// SPDX-License-Identifier: Apache-2.0
// Products with one Jacobian block. Vectors of dofs are those of the block's tree alone (n entries).
#ifndef STICTION_CORE_PROBLEM_JACOBIAN_H
#define STICTION_CORE_PROBLEM_JACOBIAN_H

#include <string.h>

#include <stiction/problem.h>

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
    for (int32_t b = 0; b < J->node_count; b++) {
        const double *z = x + 3 * (size_t)J->node[b];
        for (int32_t r = 0; r < rows; r++) {
            y[r] += values[0] * z[0] + values[1] * z[1] + values[2] * z[2];
            values += 3;
        }
    }
}

/// y (n) += s J^T gamma.
static inline void jacobian_transposed_add(const stn_jacobian *J, int32_t rows, int32_t n, double s,
                                           const double *restrict gamma, double *restrict y) {
    const double *values = J->values;
    if (J->node_count == 0 && rows == 3) { // a contact, y read and written once
        const double *b = values + n, *c = b + n;
        const double f = s * gamma[0], g = s * gamma[1], h = s * gamma[2];
        for (int32_t k = 0; k < n; k++) {
            y[k] = ((y[k] + f * values[k]) + g * b[k]) + h * c[k];
        }
        return;
    }
    if (J->node_count == 0) {
        for (int32_t r = 0; r < rows; r++) {
            double factor = s * gamma[r];
            for (int32_t k = 0; k < n; k++) {
                y[k] += factor * values[k];
            }
            values += n;
        }
        return;
    }
    for (int32_t b = 0; b < J->node_count; b++) {
        double *z = y + 3 * (size_t)J->node[b];
        for (int32_t r = 0; r < rows; r++) {
            for (int32_t k = 0; k < 3; k++) {
                z[k] += s * gamma[r] * values[k];
            }
            values += 3;
        }
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
    for (int32_t b = 0; b < J->node_count; b++) {
        for (int32_t r = 0; r < rows; r++) {
            double *to = out + (size_t)r * (size_t)n + 3 * (size_t)J->node[b];
            for (int32_t k = 0; k < 3; k++) {
                to[k] += values[k];
            }
            values += 3;
        }
    }
}

#endif
