// SPDX-License-Identifier: Apache-2.0
// Random numbers that follow from a seed, the same on every machine: splitmix64, no state but the caller's. All inline.
#ifndef STICTION_RANDOM_H
#define STICTION_RANDOM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a stream advances by: 2^64 over the golden ratio, odd, so that all 2^64 states come before one comes again.
#define STN_RANDOM_STEP UINT64_C(0x9e3779b97f4a7c15)

/// Mixes 64 bits: one to one, and every bit of `x` reaches every bit of the result. 0 stays 0. Thread: [any].
static inline uint64_t stn_random_mix(uint64_t x) {
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/// The next 64 bits of the stream `*state`, which advances. Any state begins a stream; a seed serves as it is.
/// Thread: [any], a state by one thread at a time.
static inline uint64_t stn_random_bits(uint64_t *state) {
    *state += STN_RANDOM_STEP;
    return stn_random_mix(*state);
}

/// The upper 53 of 64 random bits as a number in [0, 1), all multiples of 2^-53 equally likely. Thread: [any].
static inline double stn_random_unit(uint64_t bits) {
    return (double)(bits >> 11) * (1.0 / 9007199254740992.0);
}

#ifdef __cplusplus
}
#endif
#endif
