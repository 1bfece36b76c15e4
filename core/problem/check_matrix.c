// SPDX-License-Identifier: Apache-2.0
// Is a matrix finite, symmetric and positive semidefinite? All in the scale of its diagonal,
//
//     |a_ij - a_ji| <= 1e-9 sqrt(a_ii a_jj),   |a_ij|^2 <= a_ii a_jj,   D^-1/2 A D^-1/2 + 1e-10 I > 0,  D = diag(A),
//
// so that units and masses of any size are judged alike.
#include <stiction/factor.h>

#include "factor/nodal_factor.h"
#include "problem/check.h"

static const double symmetry_tolerance = 1e-9;
static const double definite_shift = 1e-10; // eigenvalues of the scaled matrix below minus this are no round-off

static stn_status refuse_pair(const char *label, int32_t i, int32_t j, double a, double b, stn_error *err) {
    return stn_fail(err, STN_ERR_ARGUMENT,
                    "%s is not symmetric: entry (%d, %d) = %.17g but (%d, %d) = %.17g; both triangles must be stored",
                    label, i, j, a, j, i, b);
}

static stn_status refuse_indefinite(const char *label, int32_t dof, stn_error *err) {
    return stn_fail(err, STN_ERR_ARGUMENT, "%s is not positive semidefinite: elimination fails at dof %d", label, dof);
}

/// One pair of entries against the diagonal.
static stn_status check_pair(const char *label, int32_t i, int32_t j, double a_ij, double a_ji, double a_ii,
                             double a_jj, stn_error *err) {
    if (!isfinite(a_ij) || !isfinite(a_ji)) {
        bool first = !isfinite(a_ij);
        return stn_fail(err, STN_ERR_NUMERIC, "%s: entry (%d, %d) is %g, must be finite", label, first ? i : j,
                        first ? j : i, first ? a_ij : a_ji);
    }
    double scale = sqrt(a_ii) * sqrt(a_jj);
    if (!(fabs(a_ij - a_ji) <= symmetry_tolerance * scale)) {
        return refuse_pair(label, i, j, a_ij, a_ji, err);
    }
    if (!(fabs(a_ij) <= (1.0 + symmetry_tolerance) * scale)) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "%s is not positive semidefinite: entry (%d, %d) = %g exceeds sqrt(%g * %g) of its diagonal",
                        label, i, j, a_ij, a_ii, a_jj);
    }
    return STN_OK;
}

static stn_status check_diagonal_entry(const char *label, int32_t i, double a, stn_error *err) {
    if (!isfinite(a)) {
        return stn_fail(err, STN_ERR_NUMERIC, "%s: entry (%d, %d) is %g, must be finite", label, i, i, a);
    }
    if (!(a >= 0.0)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s is not positive semidefinite: diagonal entry %d is %g", label, i, a);
    }
    return STN_OK;
}

static double inverse_root(double a) {
    return a > 0.0 ? 1.0 / sqrt(a) : 0.0;
}

static stn_status check_dense_definite(stn_context *context, const char *label, int32_t n, const double *a,
                                       stn_error *err) {
    size_t size = (size_t)n;
    double *scaled = stn_allocate(context, size * size, sizeof *scaled);
    if (scaled == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory for %d x %d numbers", label, n, n);
    }
    for (size_t i = 0; i < size; i++) {
        double d = inverse_root(a[i * size + i]);
        for (size_t j = 0; j < i; j++) {
            scaled[i * size + j] = d * a[i * size + j] * inverse_root(a[j * size + j]);
        }
        scaled[i * size + i] = 1.0 + definite_shift; // a zero row passed the test of pairs, so it is zero throughout
    }
    int32_t pivot = stn_cholesky(n, scaled, n);
    stn_release(context, scaled);
    return pivot < 0 ? STN_OK : refuse_indefinite(label, pivot, err);
}

static stn_status check_dense(stn_context *context, const char *label, const stn_matrix *A, stn_error *err) {
    size_t n = (size_t)A->n;
    const double *a = A->values;
    for (size_t i = 0; i < n; i++) {
        stn_status status = check_diagonal_entry(label, (int32_t)i, a[i * n + i], err);
        for (size_t j = 0; j < i && status == STN_OK; j++) {
            status =
                check_pair(label, (int32_t)i, (int32_t)j, a[i * n + j], a[j * n + i], a[i * n + i], a[j * n + j], err);
        }
        if (status != STN_OK) {
            return status;
        }
    }
    return check_dense_definite(context, label, A->n, a, err);
}

/// Index of block (row, column) of a nodal matrix, -1 when it is not in the pattern.
static int32_t find_block(const stn_matrix *A, int32_t row, int32_t column) {
    int32_t low = A->row_start[row], high = A->row_start[row + 1] - 1;
    while (low <= high) {
        int32_t middle = low + (high - low) / 2;
        if (A->column[middle] == column) {
            return middle;
        }
        if (A->column[middle] < column) {
            low = middle + 1;
        } else {
            high = middle - 1;
        }
    }
    return -1;
}

static stn_status check_pattern(const char *label, const stn_matrix *A, stn_error *err) {
    if (A->node_count < 0 || A->n != 3 * (int64_t)A->node_count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: n = %d, expected 3 per node = 3 * %d", label, A->n, A->node_count);
    }
    if (A->node_count > 0 && (A->row_start == NULL || A->row_start[0] != 0)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: row_start must begin with 0", label);
    }
    for (int32_t i = 0; i < A->node_count; i++) {
        if (A->row_start[i + 1] < A->row_start[i]) {
            return stn_fail(err, STN_ERR_ARGUMENT, "%s: row_start[%d] = %d is below row_start[%d] = %d", label, i + 1,
                            A->row_start[i + 1], i, A->row_start[i]);
        }
    }
    for (int32_t i = 0; i < A->node_count; i++) {
        int32_t before = -1;
        for (int32_t e = A->row_start[i]; e < A->row_start[i + 1]; e++) {
            if (A->column[e] <= before || A->column[e] >= A->node_count) {
                return stn_fail(err, STN_ERR_ARGUMENT,
                                "%s: row %d of the pattern has node %d after %d; nodes must ascend "
                                "and lie below %d",
                                label, i, A->column[e], before, A->node_count);
            }
            before = A->column[e];
        }
        if (find_block(A, i, i) < 0) {
            return stn_fail(err, STN_ERR_ARGUMENT, "%s: the pattern has no diagonal block for node %d", label, i);
        }
    }
    return STN_OK;
}

static double nodal_diagonal(const stn_matrix *A, int32_t dof) {
    int32_t a = dof % 3;
    return A->values[9 * (size_t)find_block(A, dof / 3, dof / 3) + 4 * (size_t)a];
}

/// Block (i, j) against its mirror image.
static stn_status check_block(const char *label, const stn_matrix *A, int32_t i, int32_t e, stn_error *err) {
    int32_t j = A->column[e], mirror = find_block(A, j, i);
    if (mirror < 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: the pattern has block (%d, %d) but not (%d, %d)", label, i, j, j,
                        i);
    }
    for (int32_t k = 0; k < 9; k++) {
        int32_t a = k / 3, b = k % 3;
        stn_status status = check_pair(label, 3 * i + a, 3 * j + b, A->values[9 * (size_t)e + (size_t)k],
                                       A->values[9 * (size_t)mirror + (size_t)(3 * b + a)],
                                       nodal_diagonal(A, 3 * i + a), nodal_diagonal(A, 3 * j + b), err);
        if (status != STN_OK) {
            return status;
        }
    }
    return STN_OK;
}

/// Scales and shifts a copy of A; false when out of memory.
static bool scale_nodal(stn_context *context, const stn_matrix *A, stn_matrix *scaled) {
    double *values = stn_allocate(context, (size_t)stn_matrix_value_count(A), sizeof *values);
    double *d = stn_allocate(context, (size_t)A->n, sizeof *d);
    *scaled = *A;
    scaled->values = values;
    if (values != NULL && d != NULL) {
        for (int32_t i = 0; i < A->n; i++) {
            d[i] = inverse_root(nodal_diagonal(A, i));
        }
        for (int32_t i = 0; i < A->node_count; i++) {
            for (int32_t e = A->row_start[i]; e < A->row_start[i + 1]; e++) {
                int32_t j = A->column[e];
                for (int32_t k = 0; k < 9; k++) {
                    size_t at = 9 * (size_t)e + (size_t)k;
                    bool diagonal = i == j && k % 4 == 0;
                    values[at] = diagonal ? 1.0 + definite_shift : d[3 * i + k / 3] * A->values[at] * d[3 * j + k % 3];
                }
            }
        }
    }
    stn_release(context, d);
    return values != NULL && d != NULL;
}

static stn_status check_nodal_definite(stn_context *context, const char *label, const stn_matrix *A, stn_error *err) {
    stn_matrix scaled;
    nodal_cache cache = {.context = context};
    int32_t index = 0;
    stn_error cause = {STN_OK, ""};
    bool ready = scale_nodal(context, A, &scaled);
    stn_status status = ready ? nodal_cache_take(&cache, &scaled, &index, &cause) : STN_ERR_MEMORY;
    if (status == STN_OK) {
        status = nodal_factor_numeric(&cache.entries[index], &scaled, &cause);
    }
    nodal_cache_clear(&cache);
    stn_release(context, scaled.values);
    if (status == STN_ERR_NUMERIC) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s is not positive semidefinite: %s", label, cause.text);
    }
    return status == STN_OK ? STN_OK : stn_fail(err, status, "%s: out of memory for its factor", label);
}

static stn_status check_nodal(stn_context *context, const char *label, const stn_matrix *A, stn_error *err) {
    stn_status status = check_pattern(label, A, err);
    for (int32_t d = 0; d < A->n && status == STN_OK; d++) {
        status = check_diagonal_entry(label, d, nodal_diagonal(A, d), err);
    }
    for (int32_t i = 0; i < A->node_count && status == STN_OK; i++) {
        for (int32_t e = A->row_start[i]; e < A->row_start[i + 1] && status == STN_OK; e++) {
            status = check_block(label, A, i, e, err);
        }
    }
    return status == STN_OK && A->n > 0 ? check_nodal_definite(context, label, A, err) : status;
}

stn_status stn_check_matrix(stn_context *context, const char *label, const stn_matrix *a, stn_error *err) {
    if (a->n < 0 || a->form < STN_MATRIX_ZERO || a->form > STN_MATRIX_NODAL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: n = %d, form %d is no matrix", label, a->n, (int)a->form);
    }
    if (a->values == NULL && a->form != STN_MATRIX_ZERO && a->n > 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s has no values", label);
    }
    switch (a->form) {
    case STN_MATRIX_ZERO:
        return STN_OK;
    case STN_MATRIX_DIAGONAL:
        for (int32_t i = 0; i < a->n; i++) {
            stn_status status = check_diagonal_entry(label, i, a->values[i], err);
            if (status != STN_OK) {
                return status;
            }
        }
        return STN_OK;
    case STN_MATRIX_DENSE:
        return check_dense(context, label, a, err);
    case STN_MATRIX_NODAL:
        return check_nodal(context, label, a, err);
    }
    return STN_OK;
}
