// SPDX-License-Identifier: Apache-2.0
// Whether all numbers of a vector are what they have to be, by their bits in one pass without a branch. Who finds that
// one is not looks for it afterwards, to name it.
#ifndef STICTION_CORE_BASE_FINITE_H
#define STICTION_CORE_BASE_FINITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/// The top bit tells a number that is infinite or NaN: one more in an exponent of all ones carries into it.
static inline uint64_t carry_of(uint64_t bits) {
    return (bits & UINT64_C(0x7ff) << 52) + (UINT64_C(1) << 52);
}

static inline bool all_finite(size_t count, const double *x) {
    uint64_t any = 0;
    for (size_t i = 0; i < count; i++) {
        any |= carry_of(bits_of(x[i]));
    }
    return any >> 63 == 0;
}

/// Finite and > 0.
static inline bool all_positive(size_t count, const double *x) {
    uint64_t any = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = bits_of(x[i]);
        any |= carry_of(bits) | bits | (bits - 1); // the last: zero
    }
    return any >> 63 == 0;
}

/// Zeros of any sign.
static inline bool all_zero(size_t count, const double *x) {
    uint64_t any = 0;
    for (size_t i = 0; i < count; i++) {
        any |= bits_of(x[i]) << 1;
    }
    return any == 0;
}

#endif
