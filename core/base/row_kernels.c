// SPDX-License-Identifier: Apache-2.0
// Dense Cholesky A = L L^T of a row-major matrix, and solves with L, for any n without scratch:
//     l_ij = (a_ij - sum_k<j l_ik l_jk) / l_jj,   l_ii = sqrt(a_ii - sum_k<i l_ik^2)
// Rows are contiguous, so the sums are dot products of rows: a tile takes four rows against two, eight vectors of
// partial sums. A right-hand side x stored as a row is one more such row: x <- x L^-T is the forward solve. Every row
// sees the same operations whatever tile it falls into. Compiled once for every width, with fused multiply-add.
#include <math.h>

#include "base/vector.h"

enum { BLOCK = 32, SMALL = 64 }; // columns, even; below SMALL everything stays in cache anyway

// sum (rows x 2) = a - x y^T over the first k columns.
ALWAYS void subtract_dots(int32_t rows, int32_t k, const double *const x[4], const double *const y[2],
                          double sum[4][2]) {
    vec acc[4][2];
    UNROLL
    for (int32_t i = 0; i < rows; i++) {
        acc[i][0] = acc[i][1] = (vec){0.0};
    }
    int32_t c = 0;
    for (; c + W <= k; c += W) {
        vec y0 = load_loose(y[0] + c), y1 = load_loose(y[1] + c);
        UNROLL
        for (int32_t i = 0; i < rows; i++) {
            vec xi = load_loose(x[i] + c);
            acc[i][0] += xi * y0;
            acc[i][1] += xi * y1;
        }
    }
    UNROLL
    for (int32_t i = 0; i < rows; i++) {
        sum[i][0] -= sum_of(acc[i][0]);
        sum[i][1] -= sum_of(acc[i][1]);
    }
    for (; c < k; c++) {
        UNROLL
        for (int32_t i = 0; i < rows; i++) {
            sum[i][0] -= x[i][c] * y[0][c];
            sum[i][1] -= x[i][c] * y[1][c];
        }
    }
}

// Columns j and j + 1 of `rows` rows of x (distance `stride_x`): x <- x L^-T there, all columns to the left being done.
ALWAYS void solve_rows(int32_t rows, int32_t j, const double *l0, const double *l1, double *x, size_t stride_x) {
    const double *in[4], *const against[2] = {l0, l1};
    double sum[4][2];
    UNROLL
    for (int32_t i = 0; i < rows; i++) {
        in[i] = x + (size_t)i * stride_x;
        sum[i][0] = in[i][j];
        sum[i][1] = in[i][j + 1];
    }
    subtract_dots(rows, j, in, against, sum);
    double inverse0 = 1.0 / l0[j], inverse1 = 1.0 / l1[j + 1];
    UNROLL
    for (int32_t i = 0; i < rows; i++) {
        double first = sum[i][0] * inverse0;
        x[(size_t)i * stride_x + (size_t)j] = first;
        x[(size_t)i * stride_x + (size_t)j + 1] = (sum[i][1] - first * l1[j]) * inverse1;
    }
}

// The same for columns [j, end), an even number.
ALWAYS void solve_tile(int32_t rows, int32_t j, int32_t end, const double *l, size_t stride, double *x,
                       size_t stride_x) {
    for (; j < end; j += 2) {
        solve_rows(rows, j, l + (size_t)j * stride, l + (size_t)(j + 1) * stride, x, stride_x);
    }
}

static void solve_block(int32_t count, int32_t j, int32_t end, const double *l, size_t stride, double *x,
                        size_t stride_x) {
    for (; count >= 4; count -= 4, x += 4 * stride_x) {
        solve_tile(4, j, end, l, stride, x, stride_x);
    }
    if (count == 3) {
        solve_tile(3, j, end, l, stride, x, stride_x);
    } else if (count == 2) {
        solve_tile(2, j, end, l, stride, x, stride_x);
    } else if (count == 1) {
        solve_tile(1, j, end, l, stride, x, stride_x);
    }
}

static double dot(int32_t n, const double *x, const double *y) {
    vec acc = {0.0};
    int32_t c = 0;
    for (; c + W <= n; c += W) {
        acc += load_loose(x + c) * load_loose(y + c);
    }
    double sum = sum_of(acc);
    for (; c < n; c++) {
        sum += x[c] * y[c];
    }
    return sum;
}

ALWAYS bool pivot_is_good(double pivot) {
    return pivot > 0.0 && pivot < (double)INFINITY;
}

// Rows j and j + 1 of their own two columns. Returns -1 or the row that fails.
static int32_t factor_pair(int32_t j, double *a, size_t stride) {
    double *r0 = a + (size_t)j * stride, *r1 = r0 + stride;
    const double *const rows[4] = {r0, r1, r0, r1}, *const against[2] = {r0, r1};
    double sum[4][2] = {{r0[j], 0.0}, {r1[j], r1[j + 1]}};
    subtract_dots(2, j, rows, against, sum);
    if (!pivot_is_good(sum[0][0])) {
        return j;
    }
    double pivot = sum[1][1] - sum[1][0] * sum[1][0] / sum[0][0];
    if (!pivot_is_good(pivot)) {
        return j + 1;
    }
    r0[j] = sqrt(sum[0][0]);
    r1[j] = sum[1][0] / r0[j];
    r1[j + 1] = sqrt(pivot);
    return -1;
}

// Columns of a block are finished for its own rows first, then for four rows below at a time, which stay in cache.
static int32_t cholesky(int32_t n, double *a, int32_t stride) {
    size_t s = (size_t)stride;
    int32_t even = n - n % 2, block = n < SMALL ? 2 : BLOCK;
    for (int32_t first = 0; first < even; first += block) {
        int32_t end = first + block < even ? first + block : even;
        for (int32_t j = first; j < end; j += 2) {
            int32_t bad = factor_pair(j, a, s);
            if (bad >= 0) {
                return bad;
            }
            solve_block(end - j - 2, j, j + 2, a, s, a + (size_t)(j + 2) * s, s);
        }
        solve_block(n - end, first, end, a, s, a + (size_t)end * s, s);
    }
    if (even < n) {
        double *row = a + (size_t)even * s, pivot = row[even] - dot(even, row, row);
        if (!pivot_is_good(pivot)) {
            return even;
        }
        row[even] = sqrt(pivot);
    }
    return -1;
}

static void forward(int32_t n, const double *l, int32_t stride, int32_t columns, double *x, int32_t stride_x) {
    int32_t even = n - n % 2;
    solve_block(columns, 0, even, l, (size_t)stride, x, (size_t)stride_x);
    if (even < n) {
        const double *row = l + (size_t)even * (size_t)stride;
        for (int32_t c = 0; c < columns; c++, x += stride_x) {
            x[even] = (x[even] - dot(even, row, x)) / row[even];
        }
    }
}

// x[0 .. n) -= a l0 + b l1.
ALWAYS void subtract_pair(int32_t n, double a, const double *l0, double b, const double *l1, double *x) {
    int32_t c = 0;
    for (; c + W <= n; c += W) {
        store_loose(x + c, load_loose(x + c) - load_loose(l0 + c) * a - load_loose(l1 + c) * b);
    }
    for (; c < n; c++) {
        x[c] = x[c] - a * l0[c] - b * l1[c];
    }
}

static void backward(int32_t n, const double *l, int32_t stride, int32_t columns, double *x, int32_t stride_x) {
    size_t s = (size_t)stride;
    int32_t even = n - n % 2;
    if (even < n) { // an odd last row stands alone
        const double *row = l + (size_t)even * s;
        for (int32_t c = 0; c < columns; c++) {
            double *y = x + (size_t)c * (size_t)stride_x;
            y[even] /= row[even];
            subtract_pair(even, y[even], row, 0.0, row, y);
        }
    }
    for (int32_t j = even - 2; j >= 0; j -= 2) {
        const double *l0 = l + (size_t)j * s, *l1 = l0 + s;
        double inverse0 = 1.0 / l0[j], inverse1 = 1.0 / l1[j + 1];
        for (int32_t c = 0; c < columns; c++) {
            double *y = x + (size_t)c * (size_t)stride_x;
            y[j + 1] *= inverse1;
            y[j] = (y[j] - y[j + 1] * l1[j]) * inverse0;
            subtract_pair(j, y[j], l0, y[j + 1], l1, y);
        }
    }
}

/// y += s A (x - x0), from columns of A one vector or four at a time: its rows serve as columns.
ALWAYS void mul_add_of(int32_t n, const double *a, double s, const double *x, const double *x0, double *y) {
    int32_t c = 0;
    for (; c + 4 * W <= n; c += 4 * W) {
        const double *row = a + c;
        vec sum0 = {0.0}, sum1 = {0.0}, sum2 = {0.0}, sum3 = {0.0};
        for (int32_t j = 0; j < n; j++, row += n) {
            double d = x0 != NULL ? x[j] - x0[j] : x[j];
            sum0 += load_loose(row) * d;
            sum1 += load_loose(row + W) * d;
            sum2 += load_loose(row + 2 * W) * d;
            sum3 += load_loose(row + 3 * W) * d;
        }
        store_loose(y + c, load_loose(y + c) + sum0 * s);
        store_loose(y + c + W, load_loose(y + c + W) + sum1 * s);
        store_loose(y + c + 2 * W, load_loose(y + c + 2 * W) + sum2 * s);
        store_loose(y + c + 3 * W, load_loose(y + c + 3 * W) + sum3 * s);
    }
    for (; c + W <= n; c += W) {
        const double *row = a + c;
        vec sum = {0.0};
        for (int32_t j = 0; j < n; j++, row += n) {
            sum += load_loose(row) * (x0 != NULL ? x[j] - x0[j] : x[j]);
        }
        store_loose(y + c, load_loose(y + c) + sum * s);
    }
    for (; c + 2 <= n; c += 2) {
        const double *row = a + c;
        part2 sum = {0.0};
        for (int32_t j = 0; j < n; j++, row += n) {
            sum += *(const part2 *)row * (x0 != NULL ? x[j] - x0[j] : x[j]);
        }
        *(part2 *)(y + c) += sum * s;
    }
    for (double sum = 0.0; c < n; y[c++] += s * sum) {
        for (int32_t j = 0; j < n; j++) {
            sum += a[(size_t)j * (size_t)n + (size_t)c] * (x0 != NULL ? x[j] - x0[j] : x[j]);
        }
    }
}

static void mul_add(int32_t n, const double *a, double s, const double *x, const double *x0, double *y) {
    if (x0 == NULL) {
        mul_add_of(n, a, s, x, NULL, y);
    } else {
        mul_add_of(n, a, s, x, x0, y);
    }
}

static void add_scaled(int64_t count, double s, const double *x, double *y) {
    int64_t i = 0;
    for (; i + W <= count; i += W) {
        store_loose(y + i, load_loose(y + i) + load_loose(x + i) * s);
    }
    for (; i < count; i++) {
        y[i] += x[i] * s;
    }
}

const row_kernels KERNEL_NAME(row_kernels) = {cholesky, forward, backward, mul_add, add_scaled};
