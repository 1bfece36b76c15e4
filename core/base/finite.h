// SPDX-License-Identifier: Apache-2.0
// Is there a number that is not finite in a vector? All of it is read, so that the loop is vector code.
#ifndef STICTION_CORE_BASE_FINITE_H
#define STICTION_CORE_BASE_FINITE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/// False for infinities and NaN, whose exponents are all ones: one more carries into the place of the sign.
static inline bool all_finite(const double *x, int32_t n) {
    const uint64_t digits = UINT64_MAX >> 1, one = UINT64_C(1) << 52;
    uint64_t carried = 0;
    for (int32_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, x + i, sizeof bits);
        carried |= (bits & digits) + one;
    }
    return carried >> 63 == 0;
}

#endif
