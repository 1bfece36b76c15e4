// SPDX-License-Identifier: Apache-2.0
// The state as every stage but commit sees it: nothing in it or behind it can be written, so that a step that fails
// cannot have changed it. Made of the list that the state itself is made of.
#ifndef STICTION_CORE_WORLD_STATE_VIEW_H
#define STICTION_CORE_WORLD_STATE_VIEW_H

#include <stiction/state.h>

typedef struct state_view {
    double time;           // [s]
    int64_t step;          // steps made
    stn_vec3 gravity;      // [m/s^2]
    stn_state_sizes sizes; // of the arrays
#define STATE_VIEW_MEMBER(name, type, count, unit, text) const type *name;
    STN_STATE_FIELDS(STATE_VIEW_MEMBER)
#undef STATE_VIEW_MEMBER
    int32_t cache_count;
    const stn_cache_entry *cache;      // (cache_count)
    const unsigned char *cache_memory; // (cache_count x (law + solver bytes))
} state_view;

/// Valid until the state's arrays are replaced, which commit does.
static inline state_view state_view_of(const stn_state *state) {
    return (state_view){
        .time = state->time,
        .step = state->step,
        .gravity = state->gravity,
        .sizes = state->sizes,
#define STATE_VIEW_MEMBER(name, type, count, unit, text) .name = state->name,
        STN_STATE_FIELDS(STATE_VIEW_MEMBER)
#undef STATE_VIEW_MEMBER
            .cache_count = state->cache_count,
        .cache = state->cache,
        .cache_memory = state->cache_memory,
    };
}

#endif
