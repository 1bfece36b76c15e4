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
    stn_release(w->context, w);
}

/// The three arrays of a pattern and their sizes in bytes.
typedef struct pattern_view {
    const int32_t *array[3];
    size_t count[3];
    size_t size;
} pattern_view;

static bool same_pattern(const symbolic *slot, const pattern_view *view) {
    bool same = slot->size == view->size;
    const int32_t *kept = slot->pattern;
    for (int32_t i = 0; i < 3 && same; i++) {
        same = memcmp(kept, view->array[i], view->count[i] * sizeof *kept) == 0;
        kept += view->count[i];
    }
    return same;
}

stn_status symbolic_cache_find(symbolic_cache *w, const stn_factor_ops *ops, void *self,
                               const stn_block_pattern *pattern, void **factor, stn_error *err) {
    size_t n = (size_t)pattern->block_count, m = (size_t)pattern->column_start[pattern->block_count];
    pattern_view view =
        (pattern_view){{pattern->block_size, pattern->column_start, pattern->row}, {n, n + 1, m}, 2 * n + 1 + m};
    symbolic *oldest = &w->slots[0];
    w->clock++;
    for (int32_t i = 0; i < CACHE_SIZE; i++) {
        symbolic *slot = &w->slots[i];
        if (slot->ops == ops && slot->self == self && same_pattern(slot, &view)) {
            slot->used = w->clock;
            *factor = slot->factor;
            return STN_OK;
        }
        oldest = slot->used < oldest->used ? slot : oldest;
    }
    empty(oldest);
    if (oldest->capacity < view.size) {
        stn_release(w->context, oldest->pattern);
        oldest->capacity = 0;
        oldest->pattern = stn_allocate(w->context, view.size + view.size / 2, sizeof *oldest->pattern);
        if (oldest->pattern == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "out of memory");
        }
        oldest->capacity = view.size + view.size / 2;
    }
    int32_t *kept = oldest->pattern;
    for (int32_t i = 0; i < 3; i++) {
        memcpy(kept, view.array[i], view.count[i] * sizeof *kept);
        kept += view.count[i];
    }
    oldest->size = view.size;
    stn_status status = ops->symbolic(self, w->context, pattern, &oldest->factor, err);
    if (status == STN_OK) {
        oldest->ops = ops;
        oldest->self = self;
        oldest->used = w->clock;
        *factor = oldest->factor;
    }
    return status;
}
