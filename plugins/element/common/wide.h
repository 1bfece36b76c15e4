// SPDX-License-Identifier: Apache-2.0
// Four elements at once: a wide holds one number of each. No operation mixes lanes, so an element gets the same bytes
// in every batch.
#ifndef STICTION_ELEMENT_COMMON_WIDE_H
#define STICTION_ELEMENT_COMMON_WIDE_H

#include <math.h>
#include <stiction/kernel.h>

enum { WIDE = 4 };
typedef double wide __attribute__((vector_size(8 * WIDE)));
typedef int64_t wide_mask __attribute__((vector_size(8 * WIDE))); // of a comparison: -1 where it holds, else 0
typedef struct wide3 {
    wide at[3];
} wide3;
typedef struct wide33 {
    wide at[3][3];
} wide33;

STN_KERNEL_INLINE void wide_fill(wide *a, double value) {
    *a = (wide){value, value, value, value};
}
/// a where the mask holds, else b, in place of a.
STN_KERNEL_INLINE void wide_keep(wide *a, const wide_mask *mask, const wide *b) {
    *a = (wide)(((wide_mask)*a & *mask) | ((wide_mask)*b & ~*mask));
}
STN_KERNEL_INLINE bool wide_any(const wide_mask *mask) {
    return ((*mask)[0] | (*mask)[1] | (*mask)[2] | (*mask)[3]) != 0;
}
STN_KERNEL_INLINE void wide_root(wide *a) {
    for (int32_t i = 0; i < WIDE; i++) {
        (*a)[i] = sqrt((*a)[i]);
    }
}
STN_KERNEL_INLINE void wide_absolute(wide *a) {
    *a = (wide)((wide_mask)*a & INT64_MAX);
}
/// The larger one of both, in place of a; a NaN in a stays.
STN_KERNEL_INLINE void wide_raise(wide *a, const wide *b) {
    wide_mask stay = ~(*a < *b);
    wide_keep(a, &stay, b);
}
/// a . b
STN_KERNEL_INLINE void wide_dot(const wide a[3], const wide b[3], wide *sum) {
    *sum = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
STN_KERNEL_INLINE void wide_cross(const wide a[3], const wide b[3], wide c[3]) {
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}
/// Number `k` of `stride` numbers an element, of `count` elements; lanes beyond them repeat the last one.
STN_KERNEL_INLINE void wide_gather(const double *values, int32_t stride, int32_t k, int32_t count, wide *a) {
    const double *first = values + k, *last = first + (count - 1) * stride;
    *a = (wide){first[0], count > 1 ? first[stride] : last[0], count > 2 ? first[2 * stride] : last[0], last[0]};
}
STN_KERNEL_INLINE void wide_scatter(const wide *a, int32_t stride, int32_t k, int32_t count, double *values) {
    for (int32_t i = 0; i < WIDE && i < count; i++) {
        values[i * stride + k] = (*a)[i];
    }
}

#endif
