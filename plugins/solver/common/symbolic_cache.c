// SPDX-License-Identifier: Apache-2.0
// See symbolic_cache.h.
#include "common/symbolic_cache.h"

#include <string.h>

#include <stiction/plugin.h>

enum { CACHE_SIZE = 32, CLOUDS_MORE = 16, CLOUDS_MOST = 4096, ALWAYS_KEPT = 2 };
/// [bytes] what all factors may hold together, and what one holds for each number of its pattern that does not say.
enum { MOST_MEMORY = 4 << 20, GUESS = 160 };

/// A pattern, and what was made of it.
typedef struct symbolic {
    const stn_factor_ops *ops; // NULL: empty
    void *self, *factor;       // factor: NULL of a cloud
    uint64_t used;             // time of the last use
    size_t size, capacity;
    int32_t *pattern; // block sizes, column starts, rows, order, one after the other; of a cloud, then its two answers
} symbolic;

struct symbolic_cache {
    stn_context *context;
    uint64_t clock;
    symbolic slots[CACHE_SIZE];
    symbolic *clouds; // (cloud_count) grows until it holds all that come back
    int32_t cloud_count;
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
    if (slot->ops != NULL && slot->factor != NULL) {
        slot->ops->release(slot->factor);
    }
    slot->ops = NULL;
    slot->factor = NULL;
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
    for (int32_t i = 0; i < w->cloud_count; i++) {
        stn_release(w->context, w->clouds[i].pattern);
    }
    stn_release(w->context, w->clouds);
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

/// The numbers that a pattern consists of.
typedef struct pattern_parts {
    const int32_t *array[4];
    size_t count[4], size; // size: their sum
} pattern_parts;

static pattern_parts parts_of(const stn_block_pattern *p) {
    const size_t n = (size_t)p->block_count, m = (size_t)p->column_start[n], ordered = p->order != NULL ? n : 0;
    return (pattern_parts){
        {p->block_size, p->column_start, p->row, p->order}, {n, n + 1, m, ordered}, 2 * n + 1 + m + ordered};
}

static bool holds(const symbolic *slot, const symbolic_key *key, const pattern_parts *parts) {
    const int32_t *kept = slot->pattern;
    bool same = slot->ops == key->ops && slot->self == key->self && slot->size == parts->size;
    for (int32_t a = 0; a < 4 && same; kept += parts->count[a], a++) {
        same = parts->count[a] == 0 || memcmp(kept, parts->array[a], parts->count[a] * sizeof *kept) == 0;
    }
    return same;
}

/// The slot that holds the pattern, or else the one longest unused: emptied, with a copy of the pattern and room for
/// `more` numbers behind it, its ops still NULL. NULL: out of memory.
static symbolic *take_slot(symbolic_cache *w, symbolic *slots, int32_t count, const symbolic_key *key, size_t more) {
    const pattern_parts parts = parts_of(key->pattern);
    symbolic *oldest = &slots[0];
    w->clock++;
    for (int32_t i = 0; i < count; i++) {
        symbolic *slot = &slots[i];
        if (holds(slot, key, &parts)) {
            slot->used = w->clock;
            return slot;
        }
        oldest = slot->used < oldest->used ? slot : oldest;
    }
    empty(oldest);
    const size_t needed = parts.size + more;
    if (oldest->capacity < needed) {
        stn_release(w->context, oldest->pattern);
        oldest->capacity = 0;
        oldest->pattern = stn_allocate(w->context, needed + needed / 2, sizeof *oldest->pattern);
        if (oldest->pattern == NULL) {
            return NULL;
        }
        oldest->capacity = needed + needed / 2;
    }
    int32_t *kept = oldest->pattern;
    for (int32_t a = 0; a < 4; kept += parts.count[a], a++) {
        if (parts.count[a] > 0) {
            memcpy(kept, parts.array[a], parts.count[a] * sizeof *kept);
        }
    }
    oldest->size = parts.size;
    oldest->used = w->clock;
    return oldest;
}

/// What a slot holds [bytes].
static size_t memory_of(const symbolic *slot) {
    const size_t numbers = STN_PLUGIN_HAS(slot->ops, memory) ? slot->ops->memory(slot->factor) : GUESS * slot->size;
    return numbers + slot->size * sizeof *slot->pattern;
}

/// Gives back the factors longest unused while all together take much memory: one of a large pattern holds its L.
static void shrink(symbolic_cache *w) {
    for (;;) {
        size_t sum = 0;
        int32_t kept = 0;
        symbolic *oldest = NULL;
        for (int32_t i = 0; i < CACHE_SIZE; i++) {
            symbolic *slot = &w->slots[i];
            if (slot->ops != NULL) {
                sum += memory_of(slot);
                kept++;
                oldest = oldest == NULL || slot->used < oldest->used ? slot : oldest;
            }
        }
        if (sum <= MOST_MEMORY || kept <= ALWAYS_KEPT) {
            return;
        }
        empty(oldest);
        oldest->used = 0; // its slot is the next to be taken
    }
}

stn_status symbolic_cache_find(symbolic_cache *w, const symbolic_key *key, void **factor, stn_error *err) {
    symbolic *slot = take_slot(w, w->slots, CACHE_SIZE, key, 0);
    if (slot == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    if (slot->ops == NULL) {
        stn_status status = key->ops->symbolic(key->self, w->context, key->pattern, &slot->factor, err);
        if (status != STN_OK) {
            return status;
        }
        slot->ops = key->ops;
        slot->self = key->self;
        shrink(w);
    }
    *factor = slot->factor;
    return STN_OK;
}

/// Makes room for one cloud more where all slots are in use. False: out of memory.
static bool grow_clouds(symbolic_cache *w, const symbolic_key *key) {
    const pattern_parts parts = parts_of(key->pattern);
    for (int32_t i = 0; i < w->cloud_count; i++) {
        if (w->clouds[i].ops == NULL || holds(&w->clouds[i], key, &parts)) {
            return true;
        }
    }
    if (w->cloud_count >= CLOUDS_MOST) {
        return true; // the one longest unused goes
    }
    const int32_t count = w->cloud_count + CLOUDS_MORE;
    symbolic *more = stn_reallocate(w->context, w->clouds, (size_t)w->cloud_count, (size_t)count, sizeof *more);
    if (more == NULL) {
        return false;
    }
    memset(more + w->cloud_count, 0, CLOUDS_MORE * sizeof *more);
    w->clouds = more;
    w->cloud_count = count;
    return true;
}

stn_status symbolic_cache_order(symbolic_cache *w, const symbolic_key *key, symbolic_order *out, stn_error *err) {
    const size_t n = (size_t)key->pattern->block_count, bytes = n * sizeof(int32_t);
    symbolic *slot = grow_clouds(w, key) ? take_slot(w, w->clouds, w->cloud_count, key, 2 * n) : NULL;
    if (slot == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    int32_t *order = slot->pattern + slot->size, *parent = order + n;
    if (slot->ops == NULL) {
        stn_arena *scratch = stn_arena_create(w->context);
        stn_block_pattern pattern = *key->pattern;
        stn_block_tree tree;
        stn_status status = scratch != NULL ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "out of memory");
        if (status == STN_OK) {
            status = key->ops->order(key->self, w->context, key->pattern, order, err);
            pattern.order = order;
        }
        if (status == STN_OK && !stn_block_tree_build(&pattern, scratch, &tree)) {
            status = stn_fail(err, STN_ERR_MEMORY, "out of memory");
        }
        if (status == STN_OK) {
            memcpy(order, tree.order, bytes);
            memcpy(parent, tree.parent, bytes);
            slot->ops = key->ops;
            slot->self = key->self;
        }
        stn_arena_destroy(scratch);
        if (status != STN_OK) {
            return status;
        }
    }
    *out = (symbolic_order){order, parent};
    return STN_OK;
}
