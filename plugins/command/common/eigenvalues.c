// SPDX-License-Identifier: Apache-2.0
// Eigenvalues of a dense symmetric matrix A: reflections H = 1 - 2 v v^T / (v^T v) bring it to tridiagonal form T with
// the same eigenvalues, H A H = A - v w^T - w v^T, w = p - (v^T p / v^T v) v, p = 2 A v / (v^T v); then rotations with
// Wilkinson's shift (QL) bring T to diagonal form.
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "common/eigenvalues.h"

enum { MOST_SWEEPS = 60 }; // per eigenvalue; two are usual

static double dot(const double *a, const double *b, size_t n) {
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/// One reflection that empties row and column k beyond their second entry. Row k then holds the off-diagonal value at
/// k + 1. `w` is scratch (n).
static void reflect(size_t n, size_t k, double *a, double *w) {
    double *v = a + k * n; // its entries k + 1 ... n - 1
    size_t first = k + 1, count = n - first;
    double length = sqrt(dot(v + first, v + first, count)), rest = dot(v + first + 1, v + first + 1, count - 1);
    if (rest == 0.0) {
        return;
    }
    double value = v[first] > 0.0 ? -length : length;
    v[first] -= value;
    double square = dot(v + first, v + first, count);
    for (size_t i = first; i < n; i++) {
        w[i] = 2.0 / square * dot(a + i * n + first, v + first, count);
    }
    double share = dot(v + first, w + first, count) / square;
    for (size_t i = first; i < n; i++) {
        w[i] -= share * v[i];
    }
    for (size_t i = first; i < n; i++) {
        for (size_t j = first; j < n; j++) {
            a[i * n + j] -= v[i] * w[j] + w[i] * v[j];
        }
    }
    v[first] = value;
}

/// One sweep of rotations from m up to l over diagonal d and off-diagonal e.
static void sweep(size_t l, size_t m, double *d, double *e) {
    double g = (d[l + 1] - d[l]) / (2.0 * e[l]);
    g = d[m] - d[l] + e[l] / (g + copysign(hypot(g, 1.0), g));
    double s = 1.0, c = 1.0, p = 0.0;
    for (size_t i = m; i-- > l;) {
        double f = s * e[i], b = c * e[i], r = hypot(f, g);
        e[i + 1] = r;
        if (r == 0.0) { // the matrix falls in two
            d[i + 1] -= p;
            e[m] = 0.0;
            return;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2.0 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
    }
    d[l] -= p;
    e[l] = g;
    e[m] = 0.0;
}

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

stn_status symmetric_eigenvalues(int32_t n, double *a, double *eigenvalues, stn_error *err) {
    size_t size = (size_t)n;
    double scale = 0.0; // with a largest entry of 1, squares neither over- nor underflow
    for (size_t i = 0; i < size * size; i++) {
        if (!isfinite(a[i])) {
            return stn_fail(err, STN_ERR_NUMERIC, "eigenvalues: an entry of the %d x %d matrix is not finite", n, n);
        }
        scale = fmax(scale, fabs(a[i]));
    }
    for (size_t i = 0; i < size * size; i++) {
        a[i] = scale > 0.0 ? a[i] / scale : 0.0;
    }
    for (size_t k = 0; k + 2 < size; k++) {
        reflect(size, k, a, eigenvalues);
    }
    for (size_t i = 0; i < size; i++) {
        eigenvalues[i] = a[i * size + i];
    }
    for (size_t i = 0; i + 1 < size; i++) {
        a[i] = a[i * size + i + 1]; // the first row has served
    }
    if (size > 0) {
        a[size - 1] = 0.0;
    }
    double *d = eigenvalues, *e = a; // the diagonal, and what is beside it
    for (size_t l = 0; l < size; l++) {
        for (int32_t count = 0;; count++) {
            size_t m = l;
            while (m + 1 < size && fabs(e[m]) > DBL_EPSILON * (fabs(d[m]) + fabs(d[m + 1]))) {
                m++;
            }
            if (m == l) {
                break;
            }
            if (count == MOST_SWEEPS) {
                return stn_fail(err, STN_ERR_NUMERIC, "eigenvalues of a %d x %d matrix: no convergence", n, n);
            }
            sweep(l, m, d, e);
        }
    }
    for (size_t i = 0; i < size; i++) {
        eigenvalues[i] *= scale;
    }
    qsort(eigenvalues, size, sizeof *eigenvalues, compare);
    return STN_OK;
}
