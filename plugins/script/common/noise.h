// SPDX-License-Identifier: Apache-2.0
// Noise of sensors by seed and number of the step, so that it needs no state.
#ifndef STICTION_PLUGINS_SCRIPT_NOISE_H
#define STICTION_PLUGINS_SCRIPT_NOISE_H

#include <stdint.h>

/// A standard normal number. Thread: [any].
double stn_noise_normal(uint64_t seed, uint64_t n);
/// A random walk, W(0) = 0, whose increments are such numbers, built by halving intervals (Levy's construction of
/// Brownian motion) in O(log n). Thread: [any].
double stn_noise_walk(uint64_t seed, uint64_t n);

#endif
