// SPDX-License-Identifier: Apache-2.0
// Four floats side by side, for boxes that are tested four at a time.
#ifndef STICTION_CORE_GEOMETRY_BOX_LANES_H
#define STICTION_CORE_GEOMETRY_BOX_LANES_H

#include <stdbool.h>
#include <stdint.h>

enum { LANES = 4 };
typedef float lanes __attribute__((vector_size(16)));
typedef int32_t lane_mask __attribute__((vector_size(16)));
typedef int64_t lane_words __attribute__((vector_size(16)));

static inline bool lanes_any(lane_mask mask) {
    lane_words w = (lane_words)mask;
    return (w[0] | w[1]) != 0;
}

static inline bool lanes_all(lane_mask mask) {
    lane_words w = (lane_words)mask;
    return (w[0] & w[1]) == -1;
}

static inline lanes select_lanes(lane_mask mask, lanes yes, lanes no) {
    return (lanes)((mask & (lane_mask)yes) | (~mask & (lane_mask)no));
}

static inline lanes lanes_of(float value) {
    return (lanes){value, value, value, value};
}

#endif
