// SPDX-License-Identifier: Apache-2.0
// Cosine and sine of many angles, four at a time. x = n pi/2 + r with |r| <= pi/4: pi/2 is taken off in three parts, of
// which the first two have 33 bits, so that n times them is exact up to n = 2^20; what r loses by rounding is kept.
// Then Taylor's series, whose next terms are below 1e-17, and exchange and signs by n modulo 4. Within 1 ulp. Angles
// beyond 1e6 and what is not finite are left to the C library. Compiled once for every width, with fused multiply-add.
#include <math.h>

#include "base/vector.h"

typedef int64_t bits4 __attribute__((vector_size(32)));

#define TO_NEAREST 0x1.8p52 // adding it leaves the integer in the last bits
#define HALF_PI_1  0x1.921fb544p+0
#define HALF_PI_2  0x1.0b4611a6p-34
#define HALF_PI_3  0x1.3198a2e037073p-69

/// Where mask is all ones: b.
ALWAYS part4 choose(bits4 mask, part4 a, part4 b) {
    return (part4)(((bits4)a & ~mask) | ((bits4)b & mask));
}

ALWAYS void four(const double *angle, double *cosine, double *sine) {
    part4 x = *(const part4 *)angle, shifted = x * (2.0 / 3.14159265358979323846) + TO_NEAREST,
          n = shifted - TO_NEAREST;
    part4 first = x - n * HALF_PI_1, second = first - n * HALF_PI_2;
    part4 small = ((first - second) - n * HALF_PI_2) - n * HALF_PI_3;
    part4 r = second + small, lost = (second - r) + small, z = r * r; // the angle is r + lost
    // sin r = r - r^3/3! + ... + r^17/17!,  cos r = 1 - r^2/2 + r^4/4! - ... + r^16/16!
    part4 s = z * (1.0 / 355687428096000.0) - 1.0 / 1307674368000.0;
    part4 c = z * (1.0 / 20922789888000.0) - 1.0 / 87178291200.0;
    s = s * z + 1.0 / 6227020800.0;
    c = c * z + 1.0 / 479001600.0;
    s = s * z - 1.0 / 39916800.0;
    c = c * z - 1.0 / 3628800.0;
    s = s * z + 1.0 / 362880.0;
    c = c * z + 1.0 / 40320.0;
    s = s * z - 1.0 / 5040.0;
    c = c * z - 1.0 / 720.0;
    s = s * z + 1.0 / 120.0;
    c = c * z + 1.0 / 24.0;
    s = s * z - 1.0 / 6.0;
    part4 half = z * 0.5, rest = 1.0 - half;
    s = (s * z * r + lost) + r;
    c = (c * z * z + (((1.0 - rest) - half) - r * lost)) + rest;
    bits4 quarter = (bits4)shifted, odd = -(quarter & 1);
    bits4 sine_sign = (quarter & 2) << 62, cosine_sign = ((quarter + 1) & 2) << 62;
    *(part4 *)sine = (part4)((bits4)choose(odd, s, c) ^ sine_sign);
    *(part4 *)cosine = (part4)((bits4)choose(odd, c, s) ^ cosine_sign);
}

static void cosines_and_sines(int32_t n, const double *angle, double *cosine, double *sine) {
    for (int32_t i = 0; i < n; i += 4) {
        part4 x = *(const part4 *)(angle + i);
        bits4 near = (x > -1e6) & (x < 1e6);
        if ((near[0] & near[1] & near[2] & near[3]) != 0) {
            four(angle + i, cosine + i, sine + i);
            continue;
        }
        for (int32_t k = i; k < i + 4; k++) {
            cosine[k] = cos(angle[k]);
            sine[k] = sin(angle[k]);
        }
    }
}

const angle_kernels KERNEL_NAME(angle_kernels) = {cosines_and_sines};
