// SPDX-License-Identifier: Apache-2.0
// Nodal matrices factored by a back end; see nodal_factor.h.
#include "factor/nodal_factor.h"

#include <string.h>

enum { IDLE_LIMIT = 32 }; // entries kept although no tree of the present problem uses them

static void clear_entry(stn_context *context, nodal_factor *entry) {
    if (entry->ops != NULL) {
        entry->ops->release(entry->factor);
    }
    stn_release(context, entry->least);
    stn_release(context, entry->row_start);
    stn_release(context, entry->column);
    stn_release(context, entry->block_size);
    stn_release(context, entry->column_start);
    stn_release(context, entry->row);
    stn_release(context, entry->offset);
    stn_release(context, entry->values);
    memset(entry, 0, sizeof *entry);
}

void nodal_cache_clear(nodal_cache *cache) {
    for (int32_t i = 0; i < cache->count; i++) {
        clear_entry(cache->context, &cache->entries[i]);
    }
    stn_release(cache->context, cache->entries);
    cache->entries = NULL;
    cache->count = cache->capacity = 0;
}

void nodal_cache_begin(nodal_cache *cache) {
    for (int32_t i = 0; i < cache->count; i++) {
        cache->entries[i].used = false;
    }
}

/// The order of a back end: memory for `count` + 1 numbers, released by the caller, also on failure.
static stn_status find_order(stn_context *context, const stn_factor_ops *ops, void *self, const stn_block_pattern *p,
                             int32_t **order, stn_error *err) {
    const int32_t n = p->block_count;
    bool *seen = stn_allocate(context, (size_t)n + 1, sizeof *seen);
    *order = stn_allocate(context, (size_t)n + 1, sizeof **order);
    stn_status status = seen == NULL || *order == NULL
                            ? stn_fail(err, STN_ERR_MEMORY, "order of %d nodes: out of memory", n)
                            : ops->order(self, context, p, *order, err);
    for (int32_t k = 0; k < n && status == STN_OK; k++) {
        const int32_t block = (*order)[k];
        if (block < 0 || block >= n || seen[block]) {
            status = stn_fail(err, STN_ERR_PLUGIN,
                              "the factor that was chosen orders %d nodes wrongly: place %d holds %d, which is none of "
                              "them or stands there twice; stiction validate tests such a plugin",
                              n, k, block);
        } else {
            seen[block] = true;
        }
    }
    stn_release(context, seen);
    return status;
}

// Copies the pattern of `a` and analyses it.
static stn_status make_entry(const nodal_cache *cache, const stn_matrix *a, nodal_factor *entry, stn_error *err) {
    stn_context *context = cache->context;
    size_t nodes = (size_t)a->node_count;
    size_t blocks = (size_t)a->row_start[nodes];
    size_t lower = 0;
    for (int32_t i = 0; i < a->node_count; i++) {
        for (int32_t k = a->row_start[i]; k < a->row_start[i + 1]; k++) {
            lower += a->column[k] >= i;
        }
    }
    const int32_t m = a->node_size;
    entry->node_count = a->node_count;
    entry->node_size = m;
    entry->row_start = stn_allocate(context, nodes + 1, sizeof *entry->row_start);
    entry->column = stn_allocate(context, blocks + 1, sizeof *entry->column);
    entry->block_size = stn_allocate(context, nodes + 1, sizeof *entry->block_size);
    entry->column_start = stn_allocate(context, nodes + 1, sizeof *entry->column_start);
    entry->row = stn_allocate(context, lower + 1, sizeof *entry->row);
    entry->offset = stn_allocate(context, lower + 1, sizeof *entry->offset);
    entry->values = stn_allocate(context, (size_t)(m * m) * lower + 1, sizeof *entry->values);
    entry->least = stn_allocate(context, (size_t)a->n + 1, sizeof *entry->least);
    if (entry->least == NULL || entry->row_start == NULL || entry->column == NULL || entry->block_size == NULL ||
        entry->column_start == NULL || entry->row == NULL || entry->offset == NULL || entry->values == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "factor of a tree with %d nodes: out of memory", a->node_count);
    }
    memcpy(entry->row_start, a->row_start, (nodes + 1) * sizeof *a->row_start);
    memcpy(entry->column, a->column, blocks * sizeof *a->column);
    // the lower triangle by column is the upper triangle by row, each block transposed
    int32_t e = 0;
    for (int32_t i = 0; i < entry->node_count; i++) {
        entry->block_size[i] = m;
        entry->column_start[i] = e;
        for (int32_t k = entry->row_start[i]; k < entry->row_start[i + 1]; k++) {
            if (entry->column[k] >= i) {
                entry->row[e] = entry->column[k];
                entry->offset[e] = (int64_t)(m * m) * e;
                e++;
            }
        }
    }
    entry->column_start[entry->node_count] = e;
    entry->offset[e] = (int64_t)(m * m) * e;
    const bool chosen = cache->ops != NULL && cache->ops->weak_pivot != NULL;
    void *self = chosen ? cache->self : NULL;
    entry->ops = chosen ? cache->ops : stn_factor_block();
    stn_block_pattern pattern = {entry->node_count, entry->block_size, entry->column_start, entry->row, NULL};
    int32_t *order = NULL;
    stn_status status =
        entry->ops->order != NULL ? find_order(context, entry->ops, self, &pattern, &order, err) : STN_OK;
    pattern.order = order;
    status = status == STN_OK ? entry->ops->symbolic(self, context, &pattern, &entry->factor, err) : status;
    stn_release(context, order);
    return status;
}

stn_status nodal_cache_take(nodal_cache *cache, const stn_matrix *a, int32_t *index, stn_error *err) {
    *index = -1;
    for (int32_t i = 0; i < cache->count && *index < 0; i++) {
        const nodal_factor *e = &cache->entries[i];
        bool same = !e->used && e->node_count == a->node_count && e->node_size == a->node_size &&
                    memcmp(e->row_start, a->row_start, ((size_t)a->node_count + 1) * sizeof *a->row_start) == 0 &&
                    memcmp(e->column, a->column, (size_t)a->row_start[a->node_count] * sizeof *a->column) == 0;
        *index = same ? i : -1;
    }
    if (*index < 0) {
        nodal_factor entry = {0};
        stn_status status = make_entry(cache, a, &entry, err);
        // its slot: an idle one when there are many, else one more at the end
        int32_t idle = 0, slot = cache->count;
        for (int32_t i = cache->count - 1; i >= 0; i--) {
            idle += !cache->entries[i].used;
            slot = cache->entries[i].used ? slot : i;
        }
        if (status == STN_OK && idle > IDLE_LIMIT) {
            clear_entry(cache->context, &cache->entries[slot]);
        } else {
            slot = cache->count;
        }
        if (status == STN_OK && slot == cache->capacity) {
            int32_t capacity = cache->capacity + 8;
            nodal_factor *entries = stn_reallocate(cache->context, cache->entries, (size_t)cache->capacity,
                                                   (size_t)capacity, sizeof *entries);
            if (entries == NULL) {
                status = stn_fail(err, STN_ERR_MEMORY, "factors of nodal trees: out of memory");
            } else {
                cache->entries = entries;
                cache->capacity = capacity;
            }
        }
        if (status != STN_OK) {
            clear_entry(cache->context, &entry);
            return status;
        }
        cache->count += slot == cache->count;
        cache->entries[slot] = entry;
        *index = slot;
    }
    cache->entries[*index].used = true;
    return STN_OK;
}

stn_status nodal_factor_numeric(nodal_factor *entry, const stn_matrix *a, const double *shift, double least,
                                int32_t *weak, stn_error *err) {
    const int32_t m = a->node_size;
    double *to = entry->values;
    for (int32_t i = 0; i < a->node_count; i++) {
        for (int32_t k = a->row_start[i]; k < a->row_start[i + 1]; k++) {
            if (a->column[k] < i) {
                continue;
            }
            const double *from = a->values + (size_t)(m * m) * (size_t)k;
            for (int32_t r = 0; r < m; r++) {
                for (int32_t c = 0; c < m; c++) {
                    to[m * r + c] = from[m * c + r];
                }
                to[(m + 1) * r] += a->column[k] == i && shift != NULL ? shift[m * i + r] : 0.0;
            }
            to += m * m;
        }
    }
    stn_block_matrix matrix = {
        {entry->node_count, entry->block_size, entry->column_start, entry->row, NULL}, entry->offset, entry->values};
    for (int32_t i = 0; i < a->n; i++) {
        const double *diagonal = entry->values + entry->offset[entry->column_start[i / m]]; // the first of its column
        entry->least[i] = least * diagonal[(m + 1) * (i % m)];
    }
    stn_error cause = {STN_OK, ""};
    const stn_status status = entry->ops->numeric(entry->factor, &matrix, &cause);
    if (status != STN_OK && status != STN_ERR_NUMERIC) {
        return stn_fail(err, status, "%s", cause.text);
    }
    *weak = entry->ops->weak_pivot(entry->factor, entry->least);
    *weak = *weak < 0 && status != STN_OK ? 0 : *weak;
    return STN_OK;
}

void nodal_factor_solve(const nodal_factor *entry, int32_t columns, double *x) {
    entry->ops->solve(entry->factor, columns, x);
}
