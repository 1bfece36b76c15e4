// SPDX-License-Identifier: Apache-2.0
// Islands of a local problem: components of its constraints that no block of W couples. Bilateral rows couple all that
// they act on, as R^-1 is dense.
#include "problem/local_islands.h"

#include <string.h>

#include <stiction/union_find.h>

#include "problem/local_form.h"

static bool any(const double *values, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        if (values[i] != 0.0) { // NaN is not zero
            return true;
        }
    }
    return false;
}

static bool is_bilateral(const stn_problem *p, const stn_constraint *c) {
    return any(p->V + (size_t)c->row * (size_t)p->bilateral_count, c->rows * p->bilateral_count);
}

/// W is not read on once all constraints are in one set.
static bool merge_constraints(const stn_problem *p, stn_arena *arena, int32_t *parent) {
    int32_t pulled = -1, n = p->constraint_count, sets = n; // pulled: the first constraint that bilateral rows act on
    bool *present = STN_ARENA(arena, n, bool);
    if (present == NULL) {
        return false;
    }
    stn_union_begin(parent, n);
    for (int32_t i = 0; i < n && p->bilateral_count > 0; i++) {
        if (is_bilateral(p, &p->constraints[i])) {
            pulled = pulled < 0 ? i : pulled;
            sets -= stn_union_join(parent, pulled, i);
        }
    }
    for (int32_t i = 0; i < n && sets > 1; i++) {
        local_form_block_row(p, p->W, i, present);
        for (int32_t j = 0; j < n; j++) {
            sets -= present[j] && stn_union_join(parent, i, j);
        }
    }
    return true;
}

stn_status local_islands(const stn_problem *p, stn_arena *arena, stn_islands *out, stn_error *err) {
    int32_t n = p->constraint_count, count = 0;
    int32_t *parent = STN_ARENA(arena, n, int32_t), *island_of = STN_ARENA(arena, n, int32_t);
    int32_t *constraint = STN_ARENA(arena, n, int32_t), *start = STN_ARENA_ZEROED(arena, n + 2, int32_t);
    int32_t *tree_start = STN_ARENA_ZEROED(arena, n + 1, int32_t);
    if (parent == NULL || island_of == NULL || constraint == NULL || start == NULL || tree_start == NULL ||
        !merge_constraints(p, arena, parent)) {
        return stn_fail(err, STN_ERR_MEMORY, "islands: out of memory for %d constraints", n);
    }
    for (int32_t i = 0; i < n; i++) { // a root is met before its members
        int32_t root = stn_union_root(parent, i);
        island_of[i] = root == i ? count++ : island_of[root];
        start[island_of[i] + 2]++;
    }
    for (int32_t k = 0; k < count; k++) {
        start[k + 2] += start[k + 1];
    }
    for (int32_t i = 0; i < n; i++) { // start[k + 1] runs ahead while island k fills, up to where the next one begins
        constraint[start[island_of[i] + 1]++] = i;
    }
    *out = (stn_islands){
        .count = count,
        .tree_start = tree_start,
        .tree = tree_start,
        .tree_position = tree_start,
        .constraint_start = start,
        .constraint = constraint,
    };
    return STN_OK;
}

/// First row in the problem, and rows, of every piece that the island's constraints make: neighbours have theirs in
/// one.
typedef struct piece {
    int32_t row, rows;
} piece;

static int32_t list_pieces(const stn_problem *p, const int32_t *index, int32_t count, piece *pieces) {
    int32_t found = 0;
    for (int32_t i = 0; i < count; i++) {
        const stn_constraint *c = &p->constraints[index[i]];
        if (found > 0 && pieces[found - 1].row + pieces[found - 1].rows == c->row) {
            pieces[found - 1].rows += c->rows;
        } else {
            pieces[found++] = (piece){c->row, c->rows};
        }
    }
    return found;
}

/// The pieces of a row of W, one after the other. Returns the end.
static double *gather(const double *from, const piece *pieces, int32_t count, double *to) {
    for (int32_t k = 0; k < count; k++) {
        memcpy(to, from + pieces[k].row, (size_t)pieces[k].rows * sizeof *to);
        to += pieces[k].rows;
    }
    return to;
}

stn_status local_island_operator(const stn_problem *p, const int32_t *index, stn_arena *arena, stn_problem *island,
                                 stn_error *err) {
    size_t n = (size_t)island->row_count, bilateral = (size_t)p->bilateral_count;
    piece *pieces = STN_ARENA(arena, island->constraint_count, piece);
    island->W = STN_ARENA(arena, n * n, double);
    island->q = STN_ARENA(arena, n, double);
    island->V = STN_ARENA(arena, n * bilateral, double);
    if (pieces == NULL || island->W == NULL || island->q == NULL || island->V == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "island of %zu rows: out of memory", n);
    }
    int32_t count = list_pieces(p, index, island->constraint_count, pieces);
    double *W = island->W, *V = island->V;
    for (int32_t k = 0; k < count; k++) {
        for (int32_t r = pieces[k].row; r < pieces[k].row + pieces[k].rows; r++) {
            W = gather(p->W + (size_t)r * (size_t)p->row_count, pieces, count, W);
        }
        size_t values = (size_t)pieces[k].rows * bilateral;
        if (values > 0) {
            memcpy(V, p->V + (size_t)pieces[k].row * bilateral, values * sizeof *V);
            V += values;
        }
    }
    gather(p->q, pieces, count, island->q);
    if (!any(island->V, (int32_t)(n * bilateral))) {
        island->bilateral_count = 0;
    }
    return STN_OK;
}
