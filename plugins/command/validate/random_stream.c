// SPDX-License-Identifier: Apache-2.0
#include "random_stream.h"

#include <stiction/math.h>
#include <stiction/random.h>

double random_uniform(random_stream *r, double low, double high) {
    return low + (high - low) * stn_random_unit(stn_random_bits(&r->state));
}

double random_normal(random_stream *r) {
    double radius = sqrt(-2.0 * log(random_uniform(r, 1e-300, 1.0)));
    return radius * cos(2.0 * STN_PI * random_uniform(r, 0.0, 1.0));
}

int32_t random_integer(random_stream *r, int32_t low, int32_t high) {
    return low + (int32_t)(stn_random_bits(&r->state) % (uint64_t)(high - low + 1));
}

bool random_chance(random_stream *r, double probability) {
    return random_uniform(r, 0.0, 1.0) < probability;
}
