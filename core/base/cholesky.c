// SPDX-License-Identifier: Apache-2.0
// Dense Cholesky A = L L^T, row-major, lower triangle. n = 6, a free body, is written out here; other sizes go to the
// kernel for this processor.
#include <math.h>

#include <stiction/factor.h>

#include "base/kernels.h"

// Six columns in registers, right-looking.
static int32_t cholesky6(double *restrict a, size_t s) {
    double l[6][6];
    for (size_t i = 0; i < 6; i++) {
        for (size_t j = 0; j <= i; j++) {
            l[i][j] = a[i * s + j];
        }
    }
#pragma GCC unroll 6
    for (int32_t j = 0; j < 6; j++) {
        if (!(l[j][j] > 0.0 && l[j][j] < (double)INFINITY)) {
            return j;
        }
        double inverse = 1.0 / l[j][j];
#pragma GCC unroll 6
        for (int32_t i = j + 1; i < 6; i++) {
            double factor = l[i][j] * inverse;
#pragma GCC unroll 6
            for (int32_t k = j + 1; k <= i; k++) {
                l[i][k] -= factor * l[k][j];
            }
        }
        double root = sqrt(l[j][j]);
        l[j][j] = root;
#pragma GCC unroll 6
        for (int32_t i = j + 1; i < 6; i++) {
            l[i][j] *= inverse * root;
        }
    }
    for (size_t i = 0; i < 6; i++) {
        for (size_t j = 0; j <= i; j++) {
            a[i * s + j] = l[i][j];
        }
    }
    return -1;
}

int32_t stn_cholesky(int32_t n, double *a, int32_t stride) {
    return n == 6 ? cholesky6(a, (size_t)stride) : row_kernels_choose()->cholesky(n, a, stride);
}

static void forward6(const double *restrict l, size_t s, double *restrict x) {
    double y[6];
#pragma GCC unroll 6
    for (size_t i = 0; i < 6; i++) {
        double sum = x[i];
#pragma GCC unroll 6
        for (size_t k = 0; k < i; k++) {
            sum -= l[i * s + k] * y[k];
        }
        y[i] = sum / l[i * s + i];
        x[i] = y[i];
    }
}

static void backward6(const double *restrict l, size_t s, double *restrict x) {
    double y[6];
#pragma GCC unroll 6
    for (size_t i = 6; i-- > 0;) {
        double sum = x[i];
#pragma GCC unroll 6
        for (size_t k = i + 1; k < 6; k++) {
            sum -= l[k * s + i] * y[k];
        }
        y[i] = sum / l[i * s + i];
        x[i] = y[i];
    }
}

void stn_cholesky_forward(int32_t n, const double *l, int32_t stride, int32_t columns, double *x, int32_t stride_x) {
    if (n != 6) {
        row_kernels_choose()->forward(n, l, stride, columns, x, stride_x);
        return;
    }
    for (int32_t c = 0; c < columns; c++) {
        forward6(l, (size_t)stride, x + (size_t)c * (size_t)stride_x);
    }
}

void stn_cholesky_backward(int32_t n, const double *l, int32_t stride, int32_t columns, double *x, int32_t stride_x) {
    if (n != 6) {
        row_kernels_choose()->backward(n, l, stride, columns, x, stride_x);
        return;
    }
    for (int32_t c = 0; c < columns; c++) {
        backward6(l, (size_t)stride, x + (size_t)c * (size_t)stride_x);
    }
}
