// SPDX-License-Identifier: Apache-2.0
// A v = f of one tree by products with A alone: conjugate gradients with the scale as preconditioner [hestenes-1952].
#include <math.h>
#include <string.h>

#include "problem/inverse.h"

/// x^T y; four sums at once, in a fixed order.
static double dot(int32_t n, const double *x, const double *y) {
    double sum[4] = {0.0};
    int32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int32_t k = 0; k < 4; k++) {
            sum[k] += x[i + k] * y[i + k];
        }
    }
    for (; i < n; i++) {
        sum[0] += x[i] * y[i];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

stn_status inverse_iterate(const stn_inverse *inverse, const stn_problem *problem, int32_t tree, const double *f,
                           double tolerance, int32_t most, double *v, stn_arena *scratch, stn_error *err) {
    const stn_matrix *A = &problem->trees[tree].A;
    const stn_inverse *scale = inverse_scale(inverse);
    const int32_t n = A->n;
    const size_t bytes = (size_t)n * sizeof(double);
    double *r = STN_ARENA(scratch, 4 * (size_t)n + 1, double), *z = r + n, *p = z + n, *Ap = p + n;
    if (r == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "conjugate gradients of tree %d: out of memory", tree);
    }
    memcpy(z, f, bytes);
    stn_inverse_apply(scale, tree, 1, z);
    const double size = dot(n, f, z); // |f|^2 in the inverse of the scale
    memcpy(r, f, bytes);
    stn_matrix_mul_add(A, -1.0, v, r);
    memset(p, 0, bytes);
    double before = 0.0;
    for (int32_t k = 0;; k++) {
        memcpy(z, r, bytes);
        stn_inverse_apply(scale, tree, 1, z);
        const double square = dot(n, r, z);
        if (!isfinite(square)) {
            return stn_fail(err, STN_ERR_NUMERIC, "A or the forces of tree %d (source %d) are not finite", tree,
                            problem->trees[tree].source);
        }
        if (square <= tolerance * tolerance * size) {
            return STN_OK;
        }
        if (k >= most) {
            return STN_NOT_CONVERGED;
        }
        const double beta = k > 0 ? square / before : 0.0;
        for (int32_t i = 0; i < n; i++) {
            p[i] = z[i] + beta * p[i];
        }
        memset(Ap, 0, bytes);
        stn_matrix_mul_add(A, 1.0, p, Ap);
        const double curvature = dot(n, p, Ap);
        if (!(curvature > 0.0)) {
            return stn_fail(err, STN_ERR_NUMERIC,
                            "A of tree %d (source %d) is indefinite: look for a negative mass, stiffness or damping",
                            tree, problem->trees[tree].source);
        }
        const double alpha = square / curvature;
        for (int32_t i = 0; i < n; i++) {
            v[i] += alpha * p[i];
            r[i] -= alpha * Ap[i];
        }
        before = square;
    }
}
