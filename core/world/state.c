// SPDX-License-Identifier: Apache-2.0
// The state as a value: resize, copy, hash. Driven by STN_STATE_FIELDS so that no array can be forgotten.
#include <string.h>

#include "world/world.h"

stn_status stn_state_resize(stn_context *context, stn_state *state, const stn_state_sizes *sizes, stn_error *err) {
    stn_state grown = *state;
#define NULL_MEMBER(name, type, count, unit, text) grown.name = NULL;
    STN_STATE_FIELDS(NULL_MEMBER)
#undef NULL_MEMBER
    bool complete = true;
#define ALLOCATE_MEMBER(name, type, count, unit, text)                                       \
    grown.name = stn_allocate(context, sizes->count, sizeof(type));                          \
    complete = complete && grown.name != NULL;                                               \
    if (grown.name != NULL && state->name != NULL) {                                         \
        size_t kept = state->sizes.count < sizes->count ? state->sizes.count : sizes->count; \
        memcpy(grown.name, state->name, kept * sizeof(type));                                \
    }
    STN_STATE_FIELDS(ALLOCATE_MEMBER)
#undef ALLOCATE_MEMBER
    stn_state *discarded = complete ? state : &grown;
#define RELEASE_MEMBER(name, type, count, unit, text) stn_release(context, discarded->name);
    STN_STATE_FIELDS(RELEASE_MEMBER)
#undef RELEASE_MEMBER
    if (!complete) {
        return stn_fail(err, STN_ERR_MEMORY, "state: out of memory");
    }
    grown.sizes = *sizes;
    *state = grown;
    return STN_OK;
}

bool stn_state_reserve_cache(stn_context *context, stn_state *state, int32_t capacity, size_t memory_bytes) {
    stn_cache_entry *cache = stn_allocate(context, (size_t)capacity, sizeof *cache);
    unsigned char *memory = stn_allocate(context, (size_t)capacity, memory_bytes);
    if (cache == NULL || memory == NULL) {
        stn_release(context, cache);
        stn_release(context, memory);
        return false;
    }
    stn_release(context, state->cache);
    stn_release(context, state->cache_memory);
    state->cache = cache;
    state->cache_memory = memory;
    state->cache_count = 0;
    state->cache_capacity = capacity;
    return true;
}

stn_status stn_state_copy(stn_context *context, const stn_state *from, size_t memory_bytes, stn_state *to,
                          stn_error *err) {
    if (to->q == NULL || memcmp(&from->sizes, &to->sizes, sizeof from->sizes) != 0) {
        stn_status status = stn_state_resize(context, to, &from->sizes, err);
        if (status != STN_OK) {
            return status;
        }
    }
    size_t count = (size_t)from->cache_count;
    if ((from->cache_count > to->cache_capacity || to->cache == NULL) &&
        !stn_state_reserve_cache(context, to, from->cache_count, memory_bytes)) {
        return stn_fail(err, STN_ERR_MEMORY, "state: out of memory for %d contacts", from->cache_count);
    }
    to->cache_count = from->cache_count;
    if (count > 0) {
        memcpy(to->cache, from->cache, count * sizeof *to->cache);
        memcpy(to->cache_memory, from->cache_memory, count * memory_bytes);
    }
    to->time = from->time;
    to->step = from->step;
    to->gravity = from->gravity;
    memcpy(to->rng, from->rng, sizeof to->rng);
#define COPY_MEMBER(name, type, count, unit, text)                      \
    if (from->sizes.count > 0) {                                        \
        memcpy(to->name, from->name, from->sizes.count * sizeof(type)); \
    }
    STN_STATE_FIELDS(COPY_MEMBER)
#undef COPY_MEMBER
    return STN_OK;
}

void stn_state_clear(stn_context *context, stn_state *state) {
#define CLEAR_MEMBER(name, type, count, unit, text) stn_release(context, state->name);
    STN_STATE_FIELDS(CLEAR_MEMBER)
#undef CLEAR_MEMBER
    stn_release(context, state->cache);
    stn_release(context, state->cache_memory);
    *state = (stn_state){0};
}

uint64_t stn_state_hash(const stn_state *state, size_t memory_bytes) {
    uint64_t h = stn_hash(0, &state->time, sizeof state->time);
    h = stn_hash(h, &state->step, sizeof state->step);
    h = stn_hash(h, state->rng, sizeof state->rng);
    h = stn_hash(h, &state->gravity, sizeof state->gravity);
#define HASH_MEMBER(name, type, count, unit, text) h = stn_hash(h, state->name, state->sizes.count * sizeof(type));
    STN_STATE_FIELDS(HASH_MEMBER)
#undef HASH_MEMBER
    h = stn_hash(h, state->cache, (size_t)state->cache_count * sizeof *state->cache);
    return stn_hash(h, state->cache_memory, (size_t)state->cache_count * memory_bytes);
}
