// SPDX-License-Identifier: Apache-2.0
// The symmetric matrix of one tree in its forms: products, diagonal, sums; and dense systems of equations.
#include <math.h>
#include <string.h>

#include <stiction/matrix.h>

#include "base/kernels.h"
#include "base/ltl.h"

int64_t stn_matrix_value_count(const stn_matrix *a) {
    switch (a->form) {
    case STN_MATRIX_ZERO:
        return 0;
    case STN_MATRIX_DIAGONAL:
        return a->n;
    case STN_MATRIX_DENSE:
        return (int64_t)a->n * a->n;
    case STN_MATRIX_NODAL:
        return (int64_t)a->node_size * a->node_size * a->row_start[a->node_count];
    case STN_MATRIX_ARTICULATED:
        return (int64_t)ARTICULATED_NUMBERS * a->n;
    }
    return 0;
}

// A free body: six columns added in registers.
static void dense6_mul_add(const double *restrict a, double s, const double *restrict x, double *restrict y) {
    double sum[6] = {0.0};
    for (int32_t j = 0; j < 6; j++) { // symmetric: row j is column j
        for (int32_t i = 0; i < 6; i++) {
            sum[i] += x[j] * a[6 * j + i];
        }
    }
    for (int32_t i = 0; i < 6; i++) {
        y[i] += s * sum[i];
    }
}

static void diagonal_mul_add(int32_t n, const double *restrict a, double s, const double *restrict x,
                             double *restrict y) {
    for (int32_t i = 0; i < n; i++) {
        y[i] += s * a[i] * x[i];
    }
}

/// m: a->node_size, known to the compiler where it is written as a number.
static inline void nodal_mul_add(const stn_matrix *a, int32_t m, double s, const double *restrict x,
                                 double *restrict y) {
    const double *b = a->values;
    for (int32_t i = 0; i < a->node_count; i++, y += m) {
        double sum[STN_MAX_NODE_SIZE] = {0.0};
        for (int32_t e = a->row_start[i]; e < a->row_start[i + 1]; e++) {
            const double *z = x + (size_t)m * (size_t)a->column[e];
            for (int32_t r = 0; r < m; r++, b += m) {
                double product = b[0] * z[0];
                for (int32_t k = 1; k < m; k++) {
                    product += b[k] * z[k];
                }
                sum[r] += product;
            }
        }
        for (int32_t k = 0; k < m; k++) {
            y[k] += s * sum[k];
        }
    }
}

void stn_matrix_mul_add(const stn_matrix *a, double s, const double *x, double *y) {
    switch (a->form) {
    case STN_MATRIX_ZERO:
        break;
    case STN_MATRIX_DIAGONAL:
        diagonal_mul_add(a->n, a->values, s, x, y);
        break;
    case STN_MATRIX_DENSE:
        if (a->n == 6) {
            dense6_mul_add(a->values, s, x, y);
        } else {
            row_kernels_choose()->mul_add(a->n, a->values, s, x, NULL, y);
        }
        break;
    case STN_MATRIX_NODAL:
        if (a->node_size == 3) {
            nodal_mul_add(a, 3, s, x, y);
        } else {
            nodal_mul_add(a, a->node_size, s, x, y);
        }
        break;
    case STN_MATRIX_ARTICULATED:
        articulated_times(a, s, x, NULL, y);
        break;
    }
}

// Values of the block in row i, column j of a nodal matrix; NULL when it is not in the pattern.
static double *nodal_block(const stn_matrix *a, int32_t i, int32_t j) {
    const int32_t entry = stn_nodal_entry(a->row_start, a->column, i, j);
    return entry < 0 ? NULL : a->values + (size_t)a->node_size * (size_t)a->node_size * (size_t)entry;
}

void stn_matrix_diagonal(const stn_matrix *a, double *diagonal) {
    size_t n = (size_t)a->n;
    switch (a->form) {
    case STN_MATRIX_ZERO:
        for (size_t i = 0; i < n; i++) {
            diagonal[i] = 0.0;
        }
        break;
    case STN_MATRIX_DIAGONAL:
        for (size_t i = 0; i < n; i++) {
            diagonal[i] = a->values[i];
        }
        break;
    case STN_MATRIX_DENSE:
        for (size_t i = 0; i < n; i++) {
            diagonal[i] = a->values[i * (n + 1)];
        }
        break;
    case STN_MATRIX_NODAL:
        for (int32_t i = 0; i < a->node_count; i++) {
            const double *block = nodal_block(a, i, i);
            for (int32_t k = 0; k < a->node_size; k++) {
                *diagonal++ = block[k * (a->node_size + 1)];
            }
        }
        break;
    case STN_MATRIX_ARTICULATED:
        memcpy(diagonal, articulated_diagonal(a), n * sizeof *diagonal);
        break;
    }
}

void stn_matrix_expand(const stn_matrix *a, double *out) {
    const size_t n = (size_t)a->n;
    if (a->form == STN_MATRIX_DENSE) {
        memcpy(out, a->values, n * n * sizeof *out);
    } else if (a->form == STN_MATRIX_ARTICULATED) {
        articulated_expand(a, out);
    } else {
        memset(out, 0, n * n * sizeof *out);
        for (size_t i = 0; i < n && a->form == STN_MATRIX_DIAGONAL; i++) {
            out[i * (n + 1)] = a->values[i];
        }
    }
}

/// Has `a` a place for each entry of `b`?
static bool holds(const stn_matrix *a, const stn_matrix *b) {
    if (a->n != b->n) {
        return false;
    }
    switch (b->form) {
    case STN_MATRIX_ZERO:
        return true;
    case STN_MATRIX_DIAGONAL:
        return a->form != STN_MATRIX_ZERO;
    case STN_MATRIX_DENSE:
        return a->form == STN_MATRIX_DENSE;
    case STN_MATRIX_ARTICULATED:
        return a->form == STN_MATRIX_ARTICULATED && a->bodies == b->bodies;
    case STN_MATRIX_NODAL:
        break;
    }
    bool all = a->form == STN_MATRIX_NODAL && a->node_count == b->node_count && a->node_size == b->node_size;
    for (int32_t i = 0; all && i < b->node_count; i++) {
        for (int32_t e = b->row_start[i]; all && e < b->row_start[i + 1]; e++) {
            all = nodal_block(a, i, b->column[e]) != NULL;
        }
    }
    return all;
}

stn_status stn_matrix_add_scaled(stn_matrix *a, double s, const stn_matrix *b) {
    if (b->form == STN_MATRIX_ZERO && a->n == b->n) {
        return STN_OK;
    }
    if (!holds(a, b)) {
        return STN_ERR_ARGUMENT;
    }
    void (*add)(int64_t, double, const double *, double *) = row_kernels_choose()->add_scaled;
    if (b->form == STN_MATRIX_DENSE || b->form == STN_MATRIX_ARTICULATED) { // the latter is linear in its values
        add(stn_matrix_value_count(a), s, b->values, a->values);
    }
    if (b->form == STN_MATRIX_DIAGONAL && a->form == STN_MATRIX_ARTICULATED) {
        add(a->n, s, b->values, articulated_extra(a));
        add(a->n, s, b->values, articulated_diagonal(a));
        return STN_OK;
    }
    const int32_t m = a->node_size;
    if (b->form == STN_MATRIX_DIAGONAL && a->form != STN_MATRIX_NODAL) {
        const double *restrict from = b->values;
        double *restrict to = a->values;
        const size_t n = (size_t)a->n, next = a->form == STN_MATRIX_DENSE ? n + 1 : 1;
        for (size_t i = 0; i < n; i++) {
            to[i * next] += s * from[i];
        }
        return STN_OK;
    }
    for (int32_t i = 0; b->form == STN_MATRIX_DIAGONAL && i < a->n; i++) {
        nodal_block(a, i / m, i / m)[(m + 1) * (i % m)] += s * b->values[i];
    }
    for (int32_t i = 0; b->form == STN_MATRIX_NODAL && i < b->node_count; i++) {
        for (int32_t e = b->row_start[i]; e < b->row_start[i + 1]; e++) {
            add(m * m, s, b->values + (size_t)(m * m) * (size_t)e, nodal_block(a, i, b->column[e]));
        }
    }
    return STN_OK;
}

bool stn_matrix_eliminate(int32_t n, int32_t columns, double *R, double *X) {
    for (int32_t k = 0; k < n; k++) {
        int32_t pivot = k;
        for (int32_t i = k + 1; i < n; i++) {
            pivot = fabs(R[i * n + k]) > fabs(R[pivot * n + k]) ? i : pivot;
        }
        if (!(fabs(R[pivot * n + k]) > 0.0)) {
            return false;
        }
        for (int32_t j = 0; j < n && pivot != k; j++) {
            double t = R[k * n + j];
            R[k * n + j] = R[pivot * n + j];
            R[pivot * n + j] = t;
        }
        for (int32_t j = 0; j < columns && pivot != k; j++) {
            double t = X[k * columns + j];
            X[k * columns + j] = X[pivot * columns + j];
            X[pivot * columns + j] = t;
        }
        for (int32_t i = k + 1; i < n; i++) {
            double factor = R[i * n + k] / R[k * n + k];
            for (int32_t j = k; j < n; j++) {
                R[i * n + j] -= factor * R[k * n + j];
            }
            for (int32_t j = 0; j < columns; j++) {
                X[i * columns + j] -= factor * X[k * columns + j];
            }
        }
    }
    for (int32_t k = n - 1; k >= 0; k--) {
        for (int32_t j = 0; j < columns; j++) {
            double sum = X[k * columns + j];
            for (int32_t i = k + 1; i < n; i++) {
                sum -= R[k * n + i] * X[i * columns + j];
            }
            X[k * columns + j] = sum / R[k * n + k];
        }
    }
    return true;
}
