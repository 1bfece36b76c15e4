// SPDX-License-Identifier: Apache-2.0
// Symbolic factorisation in blocks. The elimination tree: parent(j) = first row below the diagonal in column j of L
// [liu-1990]. Row i of L is the union of the tree's paths from every k with a_ik != 0, k < i, up towards i; walking
// them row by row lists every column's rows in ascending order.
#include <stiction/factor.h>

#include "factor/minimum_degree.h"

// Lower neighbours by place: those of i that are eliminated before it.
typedef struct lower_graph {
    int32_t *start, *neighbour;
} lower_graph;

// Both triangles without the diagonal, in the numbering of the pattern.
static bool full_graph(const stn_block_pattern *p, stn_arena *scratch, graph *g) {
    int32_t n = p->block_count;
    int32_t *start = STN_ARENA_ZEROED(scratch, n + 2, int32_t);
    int32_t *neighbour = STN_ARENA(scratch, 2 * (size_t)p->column_start[n], int32_t);
    if (start == NULL || neighbour == NULL) {
        return false;
    }
    for (int32_t j = 0; j < n; j++) {
        for (int32_t e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
            if (p->row[e] != j) {
                start[j + 2]++;
                start[p->row[e] + 2]++;
            }
        }
    }
    for (int32_t i = 0; i < n; i++) {
        start[i + 2] += start[i + 1];
    }
    for (int32_t j = 0; j < n; j++) {
        for (int32_t e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
            if (p->row[e] != j) {
                neighbour[start[j + 1]++] = p->row[e];
                neighbour[start[p->row[e] + 1]++] = j;
            }
        }
    }
    *g = (graph){n, start, neighbour};
    return true;
}

static void lower_neighbours(const graph *g, const stn_block_tree *t, lower_graph *lower) {
    int32_t e = 0;
    for (int32_t i = 0; i < g->n; i++) {
        int32_t original = t->order[i];
        lower->start[i] = e;
        for (int32_t k = g->start[original]; k < g->start[original + 1]; k++) {
            int32_t j = t->place[g->neighbour[k]];
            if (j < i) {
                lower->neighbour[e++] = j;
            }
        }
    }
    lower->start[g->n] = e;
}

static void set_places(stn_block_tree *t) {
    for (int32_t i = 0; i < t->n; i++) {
        t->place[t->order[i]] = i;
    }
}

// Parents by path compression.
static void find_parents(const stn_block_tree *t, const lower_graph *lower, int32_t *ancestor) {
    for (int32_t i = 0; i < t->n; i++) {
        t->parent[i] = ancestor[i] = -1;
        for (int32_t k = lower->start[i]; k < lower->start[i + 1]; k++) {
            int32_t j = lower->neighbour[k];
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
}

// Calls for every (i, j) of the strictly lower triangle of L, i ascending: rows[cursor[j]++] = i, or only counts.
static void walk_rows(const stn_block_tree *t, const lower_graph *lower, int32_t *mark, int32_t *cursor,
                      int32_t *rows) {
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
// after[k] = the vertex that comes k-th.
static void postorder(const stn_block_tree *t, const int32_t *rows, int32_t *first_child, int32_t *sibling,
                      int32_t *stack, int32_t *after) {
    int32_t roots = -1;
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

typedef struct work {
    lower_graph lower;
    int32_t *a, *b, *c, *d; // (n + 1) each
} work;

static bool allocate(const graph *g, stn_arena *scratch, stn_block_tree *t, work *w) {
    size_t n = (size_t)g->n + 1;
    t->n = g->n;
    t->order = STN_ARENA(scratch, n, int32_t);
    t->place = STN_ARENA(scratch, n, int32_t);
    t->size = STN_ARENA(scratch, n, int32_t);
    t->parent = STN_ARENA(scratch, n, int32_t);
    t->column_start = STN_ARENA(scratch, n, int32_t);
    w->lower.start = STN_ARENA(scratch, n, int32_t);
    w->lower.neighbour = STN_ARENA(scratch, (size_t)g->start[g->n] / 2 + 1, int32_t);
    w->a = STN_ARENA(scratch, n, int32_t);
    w->b = STN_ARENA(scratch, n, int32_t);
    w->c = STN_ARENA(scratch, n, int32_t);
    w->d = STN_ARENA(scratch, n, int32_t);
    return t->order != NULL && t->place != NULL && t->size != NULL && t->parent != NULL && t->column_start != NULL &&
           w->lower.start != NULL && w->lower.neighbour != NULL && w->a != NULL && w->b != NULL && w->c != NULL &&
           w->d != NULL;
}

static void clear_counts(int32_t n, int32_t *mark, int32_t *count) {
    for (int32_t i = 0; i < n; i++) {
        mark[i] = -1;
        count[i] = 0;
    }
}

bool stn_block_tree_build(const stn_block_pattern *pattern, stn_arena *scratch, stn_block_tree *t) {
    graph g;
    work w;
    if (!full_graph(pattern, scratch, &g) || !allocate(&g, scratch, t, &w) ||
        !minimum_degree(&g, pattern->block_size, scratch, t->order)) {
        return false;
    }
    set_places(t);
    lower_neighbours(&g, t, &w.lower);
    find_parents(t, &w.lower, w.a);
    int32_t *mark = w.a, *rows = w.b;
    clear_counts(t->n, mark, rows);
    walk_rows(t, &w.lower, mark, rows, NULL);
    postorder(t, rows, w.a, w.c, w.d, t->column_start);
    // Renumbers by `after`: order, place, and what follows from them.
    const int32_t *after = t->column_start;
    for (int32_t i = 0; i < t->n; i++) {
        w.c[i] = t->order[i];
    }
    for (int32_t i = 0; i < t->n; i++) {
        t->order[i] = w.c[after[i]];
    }
    set_places(t);
    lower_neighbours(&g, t, &w.lower);
    find_parents(t, &w.lower, w.a);

    clear_counts(t->n, mark, rows);
    walk_rows(t, &w.lower, mark, rows, NULL);
    int32_t total = 0;
    for (int32_t j = 0; j < t->n; j++) {
        t->size[j] = pattern->block_size[t->order[j]];
        t->column_start[j] = total;
        total += rows[j];
        mark[j] = -1;
        rows[j] = t->column_start[j];
    }
    t->column_start[t->n] = total;
    t->row = STN_ARENA(scratch, total, int32_t);
    if (t->row == NULL) {
        return false;
    }
    walk_rows(t, &w.lower, mark, rows, t->row);
    return true;
}
