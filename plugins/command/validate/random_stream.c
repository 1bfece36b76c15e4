// SPDX-License-Identifier: Apache-2.0
#include "random_stream.h"

#include <stiction/math.h>

/// splitmix64
static uint64_t random_bits(random_stream *r) {
    uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double random_uniform(random_stream *r, double low, double high) {
    return low + (high - low) * (double)(random_bits(r) >> 11) * 0x1p-53;
}

double random_normal(random_stream *r) {
    double radius = sqrt(-2.0 * log(random_uniform(r, 1e-300, 1.0)));
    return radius * cos(2.0 * STN_PI * random_uniform(r, 0.0, 1.0));
}

int32_t random_integer(random_stream *r, int32_t low, int32_t high) {
    return low + (int32_t)(random_bits(r) % (uint64_t)(high - low + 1));
}

bool random_chance(random_stream *r, double probability) {
    return random_uniform(r, 0.0, 1.0) < probability;
}
