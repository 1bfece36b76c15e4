// SPDX-License-Identifier: Apache-2.0
// Four doubles at a time, lowered to what the target has, inside functions marked STN_KERNEL only; small products.
#ifndef SOLVER_COMMON_VECTORS_H
#define SOLVER_COMMON_VECTORS_H

#include <stiction/kernel.h>

// Loops over vectors that shall stay in registers must disappear.
#define UNROLL _Pragma("GCC unroll 8")

// Passed by value only between inlined functions, so no ABI is at stake.
#pragma GCC diagnostic ignored "-Wpsabi"
typedef double v4 __attribute__((vector_size(32), may_alias));
typedef double v4u __attribute__((vector_size(32), aligned(8), may_alias)); // anywhere
typedef double v2u __attribute__((vector_size(16), aligned(8), may_alias));

STN_KERNEL_INLINE v4 v4_load(const double *x) {
    return *(const v4 *)x;
}

STN_KERNEL_INLINE void v4_store(double *x, v4 a) {
    *(v4 *)x = a;
}

STN_KERNEL_INLINE double sum4(v4 a) {
    return (a[0] + a[2]) + (a[1] + a[3]);
}

/// out (rows x columns) = X Y^T, X (rows x n), Y (columns x n) with rows at distance `stride`.
STN_KERNEL_INLINE void multiply_rows(int32_t n, int32_t rows, int32_t columns, const double *restrict X,
                                     const double *restrict Y, int32_t stride, double *restrict out) {
    for (int32_t r = 0; r < rows; r++) {
        for (int32_t c = 0; c < columns; c++) {
            double sum = 0.0;
            for (int32_t k = 0; k < n; k++) {
                sum += X[r * n + k] * Y[c * stride + k];
            }
            out[r * columns + c] = sum;
        }
    }
}

/// rows x n values into rows x ld, n rounded up to 4, filled up with zeros.
STN_KERNEL_INLINE void copy_padded(int64_t rows, int64_t n, int64_t ld, const double *values, double *out) {
    for (int64_t r = 0; r < rows; r++, values += n, out += ld) {
        if (ld > 0) {
            *(v4u *)(out + ld - 4) = (v4){0.0}; // what is no zero is written next
        }
        for (int64_t i = 0; i + 4 <= n; i += 4) {
            *(v4u *)(out + i) = *(const v4u *)(values + i);
        }
        if (n >= 4) { // the last four once more
            *(v4u *)(out + n - 4) = *(const v4u *)(values + n - 4);
            continue;
        }
        for (int64_t i = 0; i < n; i++) {
            out[i] = values[i];
        }
    }
}

/// The same for 6 values a row.
STN_KERNEL_INLINE void copy_padded_6(int64_t rows, const double *values, double *out) {
    for (int64_t r = 0; r < rows; r++, values += 6, out += 8) {
        v2u rest = *(const v2u *)(values + 4);
        *(v4 *)out = (v4) * (const v4u *)values;
        *(v4 *)(out + 4) = (v4){rest[0], rest[1], 0.0, 0.0};
    }
}

#endif
