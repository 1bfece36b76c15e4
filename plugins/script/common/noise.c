// SPDX-License-Identifier: Apache-2.0
// Random numbers by their index: nothing is remembered, so a world that is restored, cloned or made again has the same.
// Normal numbers by Box and Muller from two hashes; the walk as Levy builds Brownian motion: its values at powers of
// two by increments, between them from the ends of an interval of length h to its middle,
//
//     W(m) = (W(m - h/2) + W(m + h/2))/2 + sqrt(h)/2 N_m,
//
// where every integer m is the middle of one interval alone.
#include "common/noise.h"

#include <math.h>

#include <stiction/math.h>
#include <stiction/random.h>

/// In (0, 1).
static double uniform(uint64_t bits) {
    return ((double)(bits >> 11) + 0.5) * 0x1p-53;
}

double stn_noise_normal(uint64_t seed, uint64_t n) {
    uint64_t first = stn_random_mix(stn_random_mix(seed + STN_RANDOM_STEP) + n * STN_RANDOM_STEP);
    uint64_t second = stn_random_mix(first + STN_RANDOM_STEP);
    return sqrt(-2.0 * log(uniform(first))) * cos(2.0 * STN_PI * uniform(second));
}

double stn_noise_walk(uint64_t seed, uint64_t n) {
    if (n == 0) {
        return 0.0;
    }
    uint64_t low = 0, high = 1;
    double at_low = 0.0, at_high = stn_noise_normal(seed, 1);
    while (high < n) {
        low = high;
        at_low = at_high;
        high *= 2;
        at_high += sqrt((double)low) * stn_noise_normal(seed, high);
    }
    while (high != n) {
        uint64_t half = (high - low) / 2, middle = low + half;
        double value = 0.5 * (at_low + at_high) + sqrt(0.5 * (double)half) * stn_noise_normal(seed, middle);
        if (n <= middle) {
            high = middle;
            at_high = value;
        } else {
            low = middle;
            at_low = value;
        }
    }
    return at_high;
}
