// SPDX-License-Identifier: Apache-2.0
// What of a block_lu depends on the pattern alone: the order of elimination by minimum degree, the fronts, and the room
// that the factor takes.
#include <string.h>

#include "common/block_lu.h"

// ------------------------------------------------------------------------------------------------ order of elimination

/// Sets of blocks as bits, one row of `words` a block: the graph of what is left, with all fill.
typedef struct graph {
    int32_t n, words;
    uint64_t *bits;
    int32_t *degree;
} graph;

static uint64_t *neighbours(const graph *g, int32_t i) {
    return g->bits + (size_t)i * (size_t)g->words;
}

static int32_t count_bits(const uint64_t *set, int32_t words) {
    int32_t count = 0;
    for (int32_t w = 0; w < words; w++) {
        count += __builtin_popcountll(set[w]);
    }
    return count;
}

static void remove_bit(uint64_t *set, int32_t i) {
    set[i / 64] &= ~(1ULL << (i % 64));
}

static bool make_graph(const block_lu *lu, stn_arena *arena, graph *g) {
    *g = (graph){.n = lu->n, .words = (lu->n + 63) / 64};
    g->bits = STN_ARENA_ZEROED(arena, (size_t)g->n * (size_t)g->words + 1, uint64_t);
    g->degree = STN_ARENA(arena, g->n + 1, int32_t);
    if (g->bits == NULL || g->degree == NULL) {
        return false;
    }
    for (int32_t i = 0; i < g->n; i++) {
        uint64_t *set = neighbours(g, i);
        for (int32_t e = lu->row_start[i]; e < lu->row_start[i + 1]; e++) {
            set[lu->column[e] / 64] |= 1ULL << (lu->column[e] % 64);
        }
        remove_bit(set, i);
        g->degree[i] = count_bits(set, g->words);
    }
    return true;
}

/// Takes block i out; those that it touched then touch each other. `out` gets them.
static void eliminate(graph *g, int32_t i, int32_t *out) {
    const uint64_t *own = neighbours(g, i);
    int32_t count = 0;
    for (int32_t w = 0; w < g->words; w++) {
        for (uint64_t rest = own[w]; rest != 0; rest &= rest - 1) {
            out[count++] = 64 * w + __builtin_ctzll(rest);
        }
    }
    for (int32_t k = 0; k < count; k++) {
        uint64_t *set = neighbours(g, out[k]);
        for (int32_t w = 0; w < g->words; w++) {
            set[w] |= own[w];
        }
        remove_bit(set, i);
        remove_bit(set, out[k]);
        g->degree[out[k]] = count_bits(set, g->words);
    }
    g->degree[i] = INT32_MAX;
}

/// What of the elimination is known of a block.
typedef struct step {
    int32_t *touched; // when it was eliminated
    int32_t count;
    int32_t parent; // the first of those to go, -1: none
    int32_t child, sibling, children;
} step;

/// Each time the block that touches the fewest others.
static bool minimum_degree(graph *g, stn_arena *arena, int32_t *order, step *steps) {
    for (int32_t k = 0; k < g->n; k++) {
        int32_t least = 0;
        for (int32_t i = 1; i < g->n; i++) {
            least = g->degree[i] < g->degree[least] ? i : least;
        }
        step *s = &steps[least];
        *s = (step){.count = g->degree[least], .parent = -1, .child = -1, .sibling = -1};
        s->touched = STN_ARENA(arena, s->count + 1, int32_t);
        if (s->touched == NULL) {
            return false;
        }
        eliminate(g, least, s->touched);
        order[k] = least;
    }
    return true;
}

/// Parents from the order, then the order again such that a block comes right after all that it depends on.
static void order_by_tree(int32_t n, step *steps, int32_t *order, int32_t *position, int32_t *scratch) {
    for (int32_t k = 0; k < n; k++) {
        position[order[k]] = k;
    }
    for (int32_t k = n; k-- > 0;) {
        step *s = &steps[order[k]];
        for (int32_t t = 0; t < s->count; t++) {
            int32_t other = s->touched[t];
            s->parent = s->parent < 0 || position[other] < position[s->parent] ? other : s->parent;
        }
        if (s->parent >= 0) {
            s->sibling = steps[s->parent].child;
            steps[s->parent].child = order[k];
        }
    }
    int32_t count = 0, depth = 0;
    for (int32_t k = 0; k < n; k++) {
        scratch[k] = order[k];
    }
    for (int32_t k = 0; k < n; k++) {
        int32_t i = scratch[k];
        if (steps[i].parent >= 0) {
            continue;
        }
        for (depth = 0; i >= 0;) { // down first children, then up
            for (; steps[i].child >= 0; i = steps[i].child) {
                depth++;
            }
            order[count] = i;
            position[i] = count++;
            while (depth > 0 && steps[i].sibling < 0) {
                i = steps[i].parent;
                depth--;
                order[count] = i;
                position[i] = count++;
            }
            i = depth > 0 ? steps[i].sibling : -1;
        }
    }
}

// -------------------------------------------------------------------------------------------------------------- fronts

/// May the block after `last` join its front: no rows, or few, become longer by zeros?
static bool joins(const step *steps, int32_t last, int32_t next) {
    int32_t longer = steps[next].count + 1 - steps[last].count;
    return steps[last].parent == next && (longer <= 2 || 8 * longer <= steps[next].count);
}

static void sort_by(const int32_t *position, int32_t *x, int32_t count) {
    for (int32_t gap = count / 2; gap > 0; gap /= 2) {
        for (int32_t i = gap; i < count; i++) {
            int32_t value = x[i], at = i;
            for (; at >= gap && position[x[at - gap]] > position[value]; at -= gap) {
                x[at] = x[at - gap];
            }
            x[at] = value;
        }
    }
}

static int32_t rows_in(const block_lu *lu, const int32_t *blocks, int32_t count) {
    int32_t rows = 0;
    for (int32_t k = 0; k < count; k++) {
        rows += lu->size[blocks[k]];
    }
    return rows;
}

static bool make_fronts(block_lu *lu, const int32_t *order, const step *steps, stn_arena *arena) {
    int32_t *front_of = STN_ARENA(arena, lu->n + 1, int32_t);
    lu->fronts = STN_ARENA_ZEROED(arena, lu->n + 1, block_front);
    if (front_of == NULL || lu->fronts == NULL) {
        return false;
    }
    for (int32_t k = 0; k < lu->n; lu->front_count++) {
        block_front *f = &lu->fronts[lu->front_count];
        f->first = k;
        do {
            front_of[order[k]] = lu->front_count;
            f->pivots++;
            k++;
        } while (k < lu->n && joins(steps, order[k - 1], order[k]));
        const step *last = &steps[order[k - 1]];
        int32_t *blocks = STN_ARENA(arena, f->pivots + last->count + 1, int32_t);
        if (blocks == NULL) {
            return false;
        }
        f->rest = last->count;
        memcpy(blocks, order + f->first, (size_t)f->pivots * sizeof *blocks);
        memcpy(blocks + f->pivots, last->touched, (size_t)f->rest * sizeof *blocks);
        sort_by(lu->position, blocks + f->pivots, f->rest);
        f->blocks = blocks;
    }
    for (int32_t i = 0; i < lu->front_count; i++) {
        const block_front *f = &lu->fronts[i];
        if (f->rest > 0) {
            lu->fronts[front_of[f->blocks[f->pivots]]].children++;
        }
    }
    return true;
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

static int32_t find_entry(const block_lu *lu, int32_t i, int32_t j) {
    int32_t low = lu->row_start[i], high = lu->row_start[i + 1];
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (lu->column[middle] <= j) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool lay_out_values(block_lu *lu, stn_arena *arena) {
    int32_t entries = lu->row_start[lu->n];
    lu->offset = STN_ARENA(arena, entries + 1, int64_t);
    lu->mirror = STN_ARENA(arena, entries + 1, int32_t);
    if (lu->offset == NULL || lu->mirror == NULL) {
        return false;
    }
    int64_t total = 0;
    for (int32_t i = 0; i < lu->n; i++) {
        for (int32_t e = lu->row_start[i]; e < lu->row_start[i + 1]; e++) {
            lu->offset[e] = total;
            lu->mirror[e] = find_entry(lu, lu->column[e], i);
            total += (int64_t)lu->size[i] * lu->size[lu->column[e]];
        }
    }
    lu->values = STN_ARENA_ZEROED(arena, total + 1, double);
    return lu->values != NULL;
}

bool block_lu_build(int32_t n, const int32_t *size, const int32_t *row_start, const int32_t *column, stn_arena *arena,
                    block_lu *out) {
    *out = (block_lu){.n = n, .size = size, .row_start = row_start, .column = column};
    int32_t *order = STN_ARENA(arena, n + 1, int32_t), *scratch = STN_ARENA(arena, n + 1, int32_t);
    step *steps = STN_ARENA(arena, n + 1, step);
    out->start = STN_ARENA(arena, n + 1, int32_t);
    out->position = STN_ARENA(arena, n + 1, int32_t);
    graph g;
    if (order == NULL || scratch == NULL || steps == NULL || out->start == NULL || out->position == NULL ||
        !make_graph(out, arena, &g) || !minimum_degree(&g, arena, order, steps)) {
        return false;
    }
    for (int32_t i = 0; i < n; i++) {
        out->start[i] = out->rows;
        out->rows += size[i];
    }
    out->start[n] = out->rows;
    order_by_tree(n, steps, order, out->position, scratch);
    return make_fronts(out, order, steps, arena) && allocate_factor(out, arena) && lay_out_values(out, arena);
}
