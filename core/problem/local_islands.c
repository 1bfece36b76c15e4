// SPDX-License-Identifier: Apache-2.0
// Islands of a local problem: components of its constraints that no block of W couples. Bilateral rows couple all that
// they act on, as R^-1 is dense.
#include "problem/local_islands.h"

#include <string.h>

#include "problem/local_form.h"
#include "problem/union_find.h"

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

static void merge_constraints(const stn_problem *p, const bool *blocks, int32_t *parent) {
    int32_t pulled = -1, n = p->constraint_count; // the first constraint that bilateral rows act on
    for (int32_t i = 0; i < n; i++) {
        parent[i] = i;
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < i; j++) {
            if (blocks[(size_t)i * (size_t)n + (size_t)j]) {
                union_join(parent, i, j);
            }
        }
        if (p->bilateral_count > 0 && is_bilateral(p, &p->constraints[i])) {
            pulled = pulled < 0 ? i : pulled;
            union_join(parent, pulled, i);
        }
    }
}

stn_status local_islands(const stn_problem *p, stn_arena *arena, stn_islands *out, stn_error *err) {
    int32_t n = p->constraint_count, count = 0;
    int32_t *parent = STN_ARENA(arena, n, int32_t), *island_of = STN_ARENA(arena, n, int32_t);
    int32_t *constraint = STN_ARENA(arena, n, int32_t), *start = STN_ARENA_ZEROED(arena, n + 2, int32_t);
    int32_t *tree_start = STN_ARENA_ZEROED(arena, n + 1, int32_t);
    const bool *blocks = local_form_blocks(p, p->W, arena);
    if (blocks == NULL || parent == NULL || island_of == NULL || constraint == NULL || start == NULL ||
        tree_start == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "islands: out of memory for %d constraints", n);
    }
    merge_constraints(p, blocks, parent);
    for (int32_t i = 0; i < n; i++) { // a root is met before its members
        int32_t root = union_root(parent, i);
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

/// Rows of the island's constraints in the problem, one after the other.
static void list_rows(const stn_problem *p, const int32_t *index, int32_t count, int32_t *rows) {
    for (int32_t i = 0; i < count; i++) {
        const stn_constraint *c = &p->constraints[index[i]];
        for (int32_t r = 0; r < c->rows; r++) {
            *rows++ = c->row + r;
        }
    }
}

stn_status local_island_operator(const stn_problem *p, const int32_t *index, stn_arena *arena, stn_problem *island,
                                 stn_error *err) {
    size_t n = (size_t)island->row_count, bilateral = (size_t)p->bilateral_count;
    int32_t *rows = STN_ARENA(arena, n, int32_t);
    island->W = STN_ARENA(arena, n * n, double);
    island->q = STN_ARENA(arena, n, double);
    island->V = STN_ARENA(arena, n * bilateral, double);
    if (rows == NULL || island->W == NULL || island->q == NULL || island->V == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "island of %zu rows: out of memory", n);
    }
    list_rows(p, index, island->constraint_count, rows);
    for (size_t i = 0; i < n; i++) {
        const double *from = p->W + (size_t)rows[i] * (size_t)p->row_count;
        for (size_t j = 0; j < n; j++) {
            island->W[i * n + j] = from[rows[j]];
        }
        island->q[i] = p->q[rows[i]];
        if (bilateral > 0) {
            memcpy(island->V + i * bilateral, p->V + (size_t)rows[i] * bilateral, bilateral * sizeof(double));
        }
    }
    if (!any(island->V, (int32_t)(n * bilateral))) {
        island->bilateral_count = 0;
    }
    return STN_OK;
}
