// SPDX-License-Identifier: Apache-2.0
// Approximate minimum degree ordering on the quotient graph [amestoy-1996].
//
// Eliminating p turns it into an element: L_p = the neighbours that it leaves connected to each other. A vertex i keeps
// its remaining neighbours A_i and the elements E_i that contain it; elements swallowed by L_p die. The degree of i is
// bounded by
//     d_i = min(d_i + |L_p \ i|,  |A_i \ i| + |L_p \ i| + sum over e in E_i, e != p of |L_e \ L_p|)
// with all sizes counted in scalar columns. |L_e \ L_p| of all e costs one pass over the E_i of L_p.
#include "factor/minimum_degree.h"

#include <string.h>

typedef struct quotient {
    const int32_t *weight;
    // vertices: lists in place of the graph's, elements first
    const int32_t *start;
    int32_t *list, *element_count, *vertex_count, *degree;
    bool *gone;
    // elements, named by their pivot
    int32_t **members;
    int32_t *member_count, *size;
    int64_t *outside; // outside - tag = |L_e \ L_p|
    bool *dead;
    // buckets by degree, doubly linked
    int32_t *head, *next, *previous;
    int32_t lowest, left; // left: weight of what is not eliminated
    int32_t *mark, *buffer;
    int32_t marks;
    int64_t tag;
    stn_arena *arena;
} quotient;

static void bucket_insert(quotient *q, int32_t i) {
    int32_t d = q->degree[i], first = q->head[d];
    q->next[i] = first;
    q->previous[i] = -1;
    if (first >= 0) {
        q->previous[first] = i;
    }
    q->head[d] = i;
    q->lowest = d < q->lowest ? d : q->lowest;
}

static void bucket_remove(quotient *q, int32_t i) {
    if (q->next[i] >= 0) {
        q->previous[q->next[i]] = q->previous[i];
    }
    if (q->previous[i] >= 0) {
        q->next[q->previous[i]] = q->next[i];
    } else {
        q->head[q->degree[i]] = q->next[i];
    }
}

static bool start(quotient *q, const graph *g) {
    for (int32_t i = 0; i < g->n; i++) {
        q->left += q->weight[i];
    }
    const size_t n = (size_t)g->n + 1;
    int32_t **const arrays[] = {&q->element_count, &q->vertex_count, &q->degree,   &q->member_count, &q->size,
                                &q->mark,          &q->next,         &q->previous, &q->buffer};
    int32_t *memory = STN_ARENA_ZEROED(q->arena, STN_COUNT(arrays) * n, int32_t);
    q->list = STN_ARENA(q->arena, (size_t)g->start[g->n] + 1, int32_t);
    q->head = STN_ARENA(q->arena, (size_t)q->left + 1, int32_t);
    q->gone = STN_ARENA_ZEROED(q->arena, n, bool);
    q->dead = STN_ARENA_ZEROED(q->arena, n, bool);
    q->members = STN_ARENA_ZEROED(q->arena, n, int32_t *);
    q->outside = STN_ARENA_ZEROED(q->arena, n, int64_t);
    if (memory == NULL || q->list == NULL || q->head == NULL || q->gone == NULL || q->dead == NULL ||
        q->members == NULL || q->outside == NULL) {
        return false;
    }
    for (int32_t k = 0; k < STN_COUNT(arrays); k++, memory += n) {
        *arrays[k] = memory;
    }
    memcpy(q->list, g->neighbour, (size_t)g->start[g->n] * sizeof *q->list);
    for (int32_t d = 0; d <= q->left; d++) {
        q->head[d] = -1;
    }
    q->lowest = q->left;
    for (int32_t i = g->n - 1; i >= 0; i--) { // the smallest index comes first in its bucket
        q->vertex_count[i] = g->start[i + 1] - g->start[i];
        for (int32_t k = g->start[i]; k < g->start[i + 1]; k++) {
            q->degree[i] += q->weight[g->neighbour[k]];
        }
        bucket_insert(q, i);
    }
    return true;
}

static int32_t gather(quotient *q, const int32_t *from, int32_t count, int32_t found) {
    for (int32_t k = 0; k < count; k++) {
        int32_t i = from[k];
        if (!q->gone[i] && q->mark[i] != q->marks) {
            q->mark[i] = q->marks;
            q->buffer[found++] = i;
        }
    }
    return found;
}

// New lists and degree of i in L_p. True when i has become as good as p itself and may follow it at once.
static bool update_vertex(quotient *q, int32_t p, int32_t i) {
    int32_t *list = q->list + q->start[i];
    int32_t elements = q->element_count[i], vertices = q->vertex_count[i];
    int32_t kept = 0, bound = q->size[p] - q->weight[i], bound_old = q->degree[i] + bound;
    q->buffer[kept++] = p;
    for (int32_t k = 0; k < elements; k++) {
        int32_t e = list[k];
        if (q->dead[e]) {
            continue;
        }
        if (q->outside[e] == q->tag) { // inside L_p: absorbed
            q->dead[e] = true;
            continue;
        }
        q->buffer[kept++] = e;
        bound += (int32_t)(q->outside[e] - q->tag);
    }
    int32_t kept_elements = kept;
    for (int32_t k = elements; k < elements + vertices; k++) {
        int32_t j = list[k];
        if (!q->gone[j] && q->mark[j] != q->marks) {
            q->buffer[kept++] = j;
            bound += q->weight[j];
        }
    }
    memcpy(list, q->buffer, (size_t)kept * sizeof *list);
    q->element_count[i] = kept_elements;
    q->vertex_count[i] = kept - kept_elements;
    int32_t most = q->left - q->weight[i];
    bound = bound < bound_old ? bound : bound_old;
    q->degree[i] = bound < most ? bound : most;
    return kept == 1;
}

bool minimum_degree(const graph *g, const int32_t *weight, stn_arena *scratch, int32_t *order) {
    quotient q = {.weight = weight, .start = g->start, .arena = scratch, .tag = 1};
    if (!start(&q, g)) {
        return false;
    }
    const int32_t total = q.left;
    for (int32_t done = 0; done < g->n; q.tag += total) { // the tag outgrows every outside[] of this round
        while (q.head[q.lowest] < 0) {
            q.lowest++;
        }
        int32_t p = q.head[q.lowest];
        bucket_remove(&q, p);
        q.gone[p] = true;
        q.left -= q.weight[p];
        order[done++] = p;
        // L_p; the elements of p die
        const int32_t *list = q.list + q.start[p];
        q.marks++;
        int32_t count = gather(&q, list + q.element_count[p], q.vertex_count[p], 0), kept = 0;
        for (int32_t k = 0; k < q.element_count[p]; k++) {
            int32_t e = list[k];
            if (!q.dead[e]) {
                count = gather(&q, q.members[e], q.member_count[e], count);
                q.dead[e] = true;
            }
        }
        int32_t *members = q.members[p] = STN_ARENA(scratch, count, int32_t);
        if (members == NULL) {
            return false;
        }
        for (int32_t k = 0; k < count; k++) {
            members[k] = q.buffer[k];
            q.size[p] += q.weight[members[k]];
        }
        for (int32_t k = 0; k < count; k++) { // outside[e] - tag = |L_e \ L_p| for every element that meets L_p
            int32_t i = members[k];
            for (int32_t m = 0; m < q.element_count[i]; m++) {
                int32_t e = q.list[q.start[i] + m];
                if (!q.dead[e]) {
                    q.outside[e] = q.outside[e] < q.tag ? q.tag + q.size[e] : q.outside[e];
                    q.outside[e] -= q.weight[i];
                }
            }
        }
        for (int32_t k = 0; k < count; k++) {
            int32_t i = members[k];
            bucket_remove(&q, i);
            if (update_vertex(&q, p, i)) {
                order[done++] = i;
                q.gone[i] = true;
                q.left -= q.weight[i];
                q.size[p] -= q.weight[i];
            } else {
                members[kept++] = i;
            }
        }
        q.member_count[p] = kept;
        for (int32_t k = 0; k < kept; k++) {
            bucket_insert(&q, members[k]);
        }
    }
    return true;
}
