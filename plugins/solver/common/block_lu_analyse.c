// SPDX-License-Identifier: Apache-2.0
// What of a block_lu depends on the pattern alone: the fronts, from the core's order of elimination, and the room that
// the factor takes.
#include <stiction/factor.h>
#include <string.h>

#include "common/block_lu.h"

static bool make_fronts(block_lu *lu, const stn_block_tree *tree, stn_arena *arena) {
    int32_t *front_of = STN_ARENA(arena, lu->n + 1, int32_t); // by place
    lu->fronts = STN_ARENA_ZEROED(arena, lu->n + 1, block_front);
    if (front_of == NULL || lu->fronts == NULL) {
        return false;
    }
    for (int32_t k = 0; k < lu->n; lu->front_count++) {
        block_front *f = &lu->fronts[lu->front_count];
        int32_t longer = 0; // rows that those of the last block get, as zeros, if the next one joins the front
        f->first = k;
        do {
            const int32_t *start = tree->column_start + k;
            front_of[k] = lu->front_count;
            f->pivots++;
            f->rest = start[1] - start[0];
            k++;
            if (k < lu->n) {
                longer = start[2] - start[1] + 1 - f->rest;
            }
        } while (k < lu->n && tree->parent[k - 1] == k &&
                 (longer <= 2 || 8 * longer <= tree->column_start[k + 1] - tree->column_start[k]));
        int32_t *blocks = STN_ARENA(arena, f->pivots + f->rest + 1, int32_t);
        if (blocks == NULL) {
            return false;
        }
        memcpy(blocks, tree->order + f->first, (size_t)f->pivots * sizeof *blocks);
        for (int32_t r = 0; r < f->rest; r++) {
            blocks[f->pivots + r] = tree->order[tree->row[tree->column_start[k - 1] + r]];
        }
        f->blocks = blocks;
    }
    for (int32_t i = 0; i < lu->front_count; i++) {
        const block_front *f = &lu->fronts[i];
        if (f->rest > 0) {
            lu->fronts[front_of[tree->place[f->blocks[f->pivots]]]].children++;
        }
    }
    return true;
}

static int32_t rows_in(const block_lu *lu, const int32_t *blocks, int32_t count) {
    int32_t rows = 0;
    for (int32_t k = 0; k < count; k++) {
        rows += lu->size[blocks[k]];
    }
    return rows;
}

static bool allocate_factor(block_lu *lu, stn_arena *arena) {
    int64_t *sizes = STN_ARENA(arena, lu->front_count + 1, int64_t), stacked = 0, most = 0, total = 0;
    int64_t largest = 0;
    int32_t waiting = 0, longest = 0;
    if (sizes == NULL) {
        return false;
    }
    for (int32_t i = 0; i < lu->front_count; i++) {
        block_front *f = &lu->fronts[i];
        int32_t k = rows_in(lu, f->blocks, f->pivots), r = rows_in(lu, f->blocks + f->pivots, f->rest);
        f->place = total;
        f->pivot = longest;
        longest += k;
        total += (int64_t)k * (k + r) + (int64_t)r * k;
        int64_t needed = (k + r) * block_lu_stride(k + r);
        largest = needed > largest ? needed : largest;
        for (int32_t c = 0; c < f->children; c++) {
            stacked -= sizes[--waiting];
        }
        sizes[waiting++] = f->rest > 0 ? (int64_t)r * r : 0;
        stacked += sizes[waiting - 1];
        waiting -= f->rest == 0;
        most = stacked > most ? stacked : most;
    }
    lu->entries = total;
    lu->factors = STN_ARENA(arena, total + 1, double);
    lu->front = STN_ARENA(arena, largest + 8, double);
    lu->stack = STN_ARENA(arena, most + 1, double);
    lu->work = STN_ARENA(arena, lu->rows + 1, double);
    lu->exchanges = STN_ARENA(arena, lu->rows + 1, int32_t);
    lu->local = STN_ARENA(arena, lu->n + 1, int32_t);
    lu->relative = STN_ARENA(arena, lu->rows + 1, int32_t);
    lu->waiting = STN_ARENA(arena, lu->front_count + 1, int32_t);
    lu->rows_of = STN_ARENA(arena, lu->n + 1, int32_t);
    return lu->factors != NULL && lu->front != NULL && lu->stack != NULL && lu->work != NULL && lu->exchanges != NULL &&
           lu->local != NULL && lu->relative != NULL && lu->waiting != NULL && lu->rows_of != NULL;
}

bool block_lu_build(int32_t n, const int32_t *size, const int32_t *row_start, const int32_t *column, stn_arena *arena,
                    block_lu *out) {
    const int32_t entries = row_start[n];
    int32_t *lower_start = STN_ARENA(arena, n + 1, int32_t), *lower = STN_ARENA(arena, entries + 1, int32_t), count = 0;
    *out = (block_lu){.n = n, .size = size, .row_start = row_start, .column = column};
    out->start = STN_ARENA(arena, n + 1, int32_t);
    out->offset = STN_ARENA(arena, entries + 1, int64_t);
    out->mirror = STN_ARENA(arena, entries + 1, int32_t);
    if (lower_start == NULL || lower == NULL || out->start == NULL || out->offset == NULL || out->mirror == NULL) {
        return false;
    }
    int64_t values = 0;
    for (int32_t i = 0; i < n; i++) {
        out->start[i] = out->rows;
        out->rows += size[i];
        lower_start[i] = count;
        for (int32_t e = row_start[i]; e < row_start[i + 1]; e++) {
            int32_t j = column[e], low = row_start[j], high = row_start[j + 1];
            while (high - low > 1) { // (j, i) among the ascending columns of row j
                int32_t middle = low + (high - low) / 2;
                low = column[middle] <= i ? middle : low;
                high = column[middle] <= i ? high : middle;
            }
            out->mirror[e] = low;
            out->offset[e] = values;
            values += (int64_t)size[i] * size[j];
            if (j >= i) { // the lower triangle by column is, of a symmetric pattern, the upper one by row
                lower[count++] = j;
            }
        }
    }
    out->start[n] = out->rows;
    lower_start[n] = count;
    stn_block_pattern pattern = {n, size, lower_start, lower, NULL};
    stn_block_tree tree;
    out->values = STN_ARENA_ZEROED(arena, values + 1, double);
    if (out->values == NULL || !stn_block_tree_build(&pattern, arena, &tree)) {
        return false;
    }
    out->position = tree.place;
    return make_fronts(out, &tree, arena) && allocate_factor(out, arena);
}
