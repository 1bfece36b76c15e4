// SPDX-License-Identifier: Apache-2.0
// Symbolic factorisation in blocks. The elimination tree: parent(j) = first row below the diagonal in column j of L
// [liu-1990]. Row i of L is the union of the tree's paths from every k with a_ik != 0, k < i, up towards i; walking
// them row by row lists every column's rows in ascending order.
#include <stiction/factor.h>
#include <string.h>

#include "factor/block_factor.h"
#include "factor/nested_dissection.h"

// Lower neighbours by place: those of i that are eliminated before it.
typedef struct lower_graph {
    int32_t *start, *neighbour;
} lower_graph;

// What follows from the order: places, lower neighbours, and parents by path compression.
static void number(const graph *g, stn_block_tree *t, const lower_graph *lower, int32_t *ancestor) {
    for (int32_t i = 0; i < t->n; i++) {
        t->place[t->order[i]] = i;
    }
    int32_t e = 0;
    for (int32_t i = 0; i < t->n; i++) {
        int32_t original = t->order[i];
        lower->start[i] = e;
        t->parent[i] = ancestor[i] = -1;
        for (int32_t k = g->start[original]; k < g->start[original + 1]; k++) {
            int32_t j = t->place[g->neighbour[k]];
            if (j >= i) {
                continue;
            }
            lower->neighbour[e++] = j;
            while (ancestor[j] >= 0 && ancestor[j] != i) {
                int32_t next = ancestor[j];
                ancestor[j] = i;
                j = next;
            }
            if (ancestor[j] < 0) {
                ancestor[j] = t->parent[j] = i;
            }
        }
    }
    lower->start[t->n] = e;
}

// Calls for every (i, j) of the strictly lower triangle of L, i ascending: rows[cursor[j]++] = i, or counts in cursor
// where `rows` is NULL.
static void walk_rows(const stn_block_tree *t, const lower_graph *lower, int32_t *mark, int32_t *cursor,
                      int32_t *rows) {
    for (int32_t i = 0; i < t->n; i++) {
        mark[i] = -1;
        cursor[i] = rows != NULL ? cursor[i] : 0;
    }
    for (int32_t i = 0; i < t->n; i++) {
        mark[i] = i;
        for (int32_t k = lower->start[i]; k < lower->start[i + 1]; k++) {
            for (int32_t j = lower->neighbour[k]; mark[j] != i; j = t->parent[j]) {
                mark[j] = i;
                if (rows != NULL) {
                    rows[cursor[j]] = i;
                }
                cursor[j]++;
            }
        }
    }
}

// Postorder in which every vertex comes right after the child with most rows, so that the two can share a panel.
// after[k] = the vertex that comes k-th. `work` holds 3 n.
static void postorder(const stn_block_tree *t, const int32_t *rows, int32_t *work, int32_t *after) {
    int32_t *first_child = work, *sibling = first_child + t->n, *stack = sibling + t->n, roots = -1;
    for (int32_t i = 0; i < t->n; i++) {
        first_child[i] = -1;
    }
    for (int32_t i = t->n - 1; i >= 0; i--) { // lists ascend
        int32_t *list = t->parent[i] >= 0 ? &first_child[t->parent[i]] : &roots;
        sibling[i] = *list;
        *list = i;
    }
    for (int32_t i = 0; i < t->n; i++) { // largest child to the end of its list
        int32_t *largest = NULL, *end = &first_child[i];
        for (; *end >= 0; end = &sibling[*end]) {
            largest = largest == NULL || rows[*end] >= rows[*largest] ? end : largest;
        }
        if (largest != NULL && sibling[*largest] >= 0) {
            int32_t moved = *largest;
            *largest = sibling[moved];
            *end = moved;
            sibling[moved] = -1;
        }
    }
    int32_t done = 0;
    for (int32_t root = roots; root >= 0; root = sibling[root]) {
        int32_t depth = 0;
        stack[depth++] = root;
        while (depth > 0) {
            int32_t i = stack[depth - 1], child = first_child[i];
            if (child >= 0) {
                first_child[i] = sibling[child];
                stack[depth++] = child;
            } else {
                after[done++] = i;
                depth--;
            }
        }
    }
}

/// The graph of a pattern: both triangles without the diagonal.
static bool make_graph(const stn_block_pattern *p, stn_arena *arena, graph *g) {
    const size_t n = (size_t)p->block_count + 1;
    int32_t *start = STN_ARENA_ZEROED(arena, n + 1, int32_t);
    int32_t *both = STN_ARENA(arena, 2 * (size_t)p->column_start[p->block_count], int32_t);
    if (start == NULL || both == NULL) {
        return false;
    }
    for (int32_t j = 0; j < p->block_count; j++) {
        for (int32_t e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
            if (p->row[e] != j) {
                start[j + 2]++;
                start[p->row[e] + 2]++;
            }
        }
    }
    for (int32_t i = 0; i < p->block_count; i++) {
        start[i + 2] += start[i + 1];
    }
    for (int32_t j = 0; j < p->block_count; j++) {
        for (int32_t e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
            if (p->row[e] != j) {
                both[start[j + 1]++] = p->row[e];
                both[start[p->row[e] + 1]++] = j;
            }
        }
    }
    *g = (graph){p->block_count, start, both};
    return true;
}

bool stn_block_tree_build(const stn_block_pattern *p, stn_arena *arena, stn_block_tree *t) {
    const size_t n = (size_t)p->block_count + 1;
    graph g;
    if (!make_graph(p, arena, &g)) {
        return false;
    }
    int32_t *memory = STN_ARENA(arena, 10 * n, int32_t);
    int32_t *neighbour = STN_ARENA(arena, (size_t)g.start[g.n] / 2 + 1, int32_t);
    if (memory == NULL || neighbour == NULL) {
        return false;
    }
    int32_t *rows = memory + 5 * n, *work = rows + n; // (n), (3 n)
    const lower_graph lower = {work + 3 * n, neighbour};
    *t = (stn_block_tree){g.n, memory, memory + n, memory + 2 * n, memory + 3 * n, memory + 4 * n, NULL};
    if (p->order != NULL) {
        memcpy(t->order, p->order, (size_t)t->n * sizeof *t->order);
    } else if (!minimum_degree(&g, p->block_size, arena, t->order)) {
        return false;
    }
    number(&g, t, &lower, work);
    walk_rows(t, &lower, work, rows, NULL);
    postorder(t, rows, work, t->column_start);
    memcpy(rows, t->order, (size_t)t->n * sizeof *rows);
    for (int32_t i = 0; i < t->n; i++) {
        t->order[i] = rows[t->column_start[i]];
    }
    number(&g, t, &lower, work);
    walk_rows(t, &lower, work, rows, NULL);
    int32_t total = 0;
    for (int32_t j = 0; j < t->n; j++) {
        t->size[j] = p->block_size[t->order[j]];
        t->column_start[j] = total;
        total += rows[j];
        rows[j] = t->column_start[j];
    }
    t->column_start[t->n] = total;
    t->row = STN_ARENA(arena, total, int32_t);
    if (t->row == NULL) {
        return false;
    }
    walk_rows(t, &lower, work, rows, t->row);
    return true;
}

double block_tree_work(const stn_block_tree *t) {
    double work = 0.0;
    for (int32_t j = 0; j < t->n; j++) {
        double rows = 0.5 * t->size[j];
        for (int32_t e = t->column_start[j]; e < t->column_start[j + 1]; e++) {
            rows += t->size[t->row[e]];
        }
        work += 0.5 * t->size[j] * rows * rows;
    }
    return work;
}

bool block_order(const stn_block_pattern *p, stn_arena *scratch, int32_t *order) {
    enum { SMALL = 200 }; // blocks; minimum degree does well there
    stn_block_pattern own = *p;
    stn_block_tree degree, dissection;
    graph g;
    own.order = NULL;
    if (!stn_block_tree_build(&own, scratch, &degree)) {
        return false;
    }
    const stn_block_tree *best = &degree;
    if (p->block_count >= SMALL) {
        int32_t *parts = STN_ARENA(scratch, p->block_count, int32_t);
        own.order = parts;
        if (parts == NULL || !make_graph(p, scratch, &g) || !nested_dissection(&g, scratch, parts) ||
            !stn_block_tree_build(&own, scratch, &dissection)) {
            return false;
        }
        best = block_tree_work(&dissection) < block_tree_work(&degree) ? &dissection : &degree;
    }
    memcpy(order, best->order, (size_t)p->block_count * sizeof *order);
    return true;
}
