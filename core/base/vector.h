// SPDX-License-Identifier: Apache-2.0
// Vectors of KERNEL_WIDTH doubles for the kernel files, which are compiled once for every width (KERNEL_SUFFIX names
// the compilation). Only those files include this.
#ifndef STICTION_CORE_BASE_VECTOR_H
#define STICTION_CORE_BASE_VECTOR_H

#include "base/kernels.h"

#define W                           KERNEL_WIDTH
#define KERNEL_PASTE(name, suffix)  name##_##suffix
#define KERNEL_EXPAND(name, suffix) KERNEL_PASTE(name, suffix)
#define KERNEL_NAME(name)           KERNEL_EXPAND(name, KERNEL_SUFFIX)

#define ALWAYS static inline __attribute__((always_inline))
// Loops over the columns of a chunk and the vectors of a tile must disappear: their bounds are constants after
// inlining.
#define UNROLL _Pragma("GCC unroll 8")

typedef double vec __attribute__((vector_size(8 * W), may_alias));
// at any address
typedef double vec_loose __attribute__((vector_size(8 * W), aligned(8), may_alias));
typedef double part4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef double part2 __attribute__((vector_size(16), aligned(8), may_alias));

ALWAYS vec load(const double *x) {
    return *(const vec *)x;
}
ALWAYS void store(double *x, vec v) {
    *(vec *)x = v;
}
ALWAYS vec load_loose(const double *x) {
    return *(const vec_loose *)x;
}
ALWAYS void store_loose(double *x, vec v) {
    *(vec_loose *)x = v;
}
ALWAYS double sum_of(vec v) {
    double s = v[0];
    UNROLL
    for (int32_t i = 1; i < W; i++) {
        s += v[i];
    }
    return s;
}

#endif
