// SPDX-License-Identifier: Apache-2.0
// See symbolic_cache.h.
#include "common/symbolic_cache.h"

#include <string.h>

enum { CACHE_SIZE = 32 };

typedef struct symbolic {
    const stn_factor_ops *ops; // NULL: empty
    void *self, *factor;
    uint64_t used; // time of the last use
    size_t size, capacity;
    int32_t *pattern; // block sizes, column starts, rows, one after the other
} symbolic;

struct symbolic_cache {
    stn_context *context;
    uint64_t clock;
    symbolic slots[CACHE_SIZE];
    symbolic_cache_room room; // its members are NULL until symbolic_cache_take makes them
};

stn_status symbolic_cache_create(void *self, stn_context *context, void **out, stn_error *err) {
    (void)self;
    symbolic_cache *w = stn_allocate(context, 1, sizeof *w);
    *out = w;
    if (w == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    w->context = context;
    return STN_OK;
}

static void empty(symbolic *slot) {
    if (slot->ops != NULL) {
        slot->ops->release(slot->factor);
        slot->ops = NULL;
    }
}

void symbolic_cache_destroy(void *memory) {
    symbolic_cache *w = memory;
    if (w == NULL) {
        return;
    }
    for (int32_t i = 0; i < CACHE_SIZE; i++) {
        empty(&w->slots[i]);
        stn_release(w->context, w->slots[i].pattern);
    }
    stn_inverse_destroy(w->room.inverse);
    stn_arena_destroy(w->room.arena);
    stn_release(w->context, w);
}

stn_status symbolic_cache_take(symbolic_cache *w, symbolic_cache_room *out, stn_error *err) {
    stn_status status = STN_OK;
    if (w->room.inverse == NULL) {
        status = stn_inverse_create(w->context, &w->room.inverse, err);
    }
    w->room.arena = w->room.arena != NULL ? w->room.arena : stn_arena_create(w->context);
    if (status == STN_OK && w->room.arena == NULL) {
        status = stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    *out = w->room;
    return status;
}

stn_status symbolic_cache_find(symbolic_cache *w, const symbolic_key *key, void **factor, stn_error *err) {
    const stn_block_pattern *p = key->pattern;
    const size_t n = (size_t)p->block_count, m = (size_t)p->column_start[p->block_count];
    const int32_t *const arrays[] = {p->block_size, p->column_start, p->row};
    const size_t counts[] = {n, n + 1, m}, size = 2 * n + 1 + m;
    symbolic *oldest = &w->slots[0];
    w->clock++;
    for (int32_t i = 0; i < CACHE_SIZE; i++) {
        symbolic *slot = &w->slots[i];
        const int32_t *kept = slot->pattern;
        bool same = slot->ops == key->ops && slot->self == key->self && slot->size == size;
        for (int32_t a = 0; a < 3 && same; a++) {
            same = memcmp(kept, arrays[a], counts[a] * sizeof *kept) == 0;
            kept += counts[a];
        }
        if (same) {
            slot->used = w->clock;
            *factor = slot->factor;
            return STN_OK;
        }
        oldest = slot->used < oldest->used ? slot : oldest;
    }
    empty(oldest);
    if (oldest->capacity < size) {
        stn_release(w->context, oldest->pattern);
        oldest->capacity = 0;
        oldest->pattern = stn_allocate(w->context, size + size / 2, sizeof *oldest->pattern);
        if (oldest->pattern == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "out of memory");
        }
        oldest->capacity = size + size / 2;
    }
    int32_t *kept = oldest->pattern;
    for (int32_t i = 0; i < 3; i++) {
        memcpy(kept, arrays[i], counts[i] * sizeof *kept);
        kept += counts[i];
    }
    oldest->size = size;
    stn_status status = key->ops->symbolic(key->self, w->context, p, &oldest->factor, err);
    if (status == STN_OK) {
        oldest->ops = key->ops;
        oldest->self = key->self;
        oldest->used = w->clock;
        *factor = oldest->factor;
    }
    return status;
}
