// SPDX-License-Identifier: Apache-2.0
// Dense Cholesky A = L L^T, row-major, lower triangle:
//     l_ij = (a_ij - sum_k<j l_ik l_jk) / l_jj,   l_ii = sqrt(a_ii - sum_k<i l_ik^2)
#include <math.h>

#include <stiction/factor.h>

static double dot(int32_t n, const double *x, const double *y) {
    double sum = 0.0;
    for (int32_t k = 0; k < n; k++) {
        sum += x[k] * y[k];
    }
    return sum;
}

int32_t stn_cholesky(int32_t n, double *a, int32_t stride) {
    for (int32_t i = 0; i < n; i++) {
        double *row = a + (size_t)i * (size_t)stride;
        for (int32_t j = 0; j < i; j++) {
            const double *other = a + (size_t)j * (size_t)stride;
            row[j] = (row[j] - dot(j, row, other)) / other[j];
        }
        double pivot = row[i] - dot(i, row, row);
        if (!(pivot > 0.0 && pivot < (double)INFINITY)) {
            return i;
        }
        row[i] = sqrt(pivot);
    }
    return -1;
}

void stn_cholesky_forward(int32_t n, const double *l, int32_t stride, int32_t columns, double *x, int32_t stride_x) {
    for (int32_t c = 0; c < columns; c++) {
        double *y = x + (size_t)c * (size_t)stride_x;
        for (int32_t i = 0; i < n; i++) {
            const double *row = l + (size_t)i * (size_t)stride;
            y[i] = (y[i] - dot(i, row, y)) / row[i];
        }
    }
}

void stn_cholesky_backward(int32_t n, const double *l, int32_t stride, int32_t columns, double *x, int32_t stride_x) {
    for (int32_t c = 0; c < columns; c++) {
        double *y = x + (size_t)c * (size_t)stride_x;
        for (int32_t i = n - 1; i >= 0; i--) {
            const double *row = l + (size_t)i * (size_t)stride;
            y[i] /= row[i];
            for (int32_t k = 0; k < i; k++) {
                y[k] -= row[k] * y[i];
            }
        }
    }
}
