// SPDX-License-Identifier: Apache-2.0
// The order in which the blocks of H are eliminated where some A is nodal: clouds in the order of A alone, which is
// made once for each pattern, whatever touches them. A contact on one element couples nodes that A couples already; any
// other coupling becomes fill.
//
// Trees come where they cost little: at the place where the paths up the elimination tree from all nodes that they
// touch have met, right before that node, so that only these paths hold their rows. A tree that another one carries
// along by elimination inherits what that one touches. Trees that touch no node come first, those that touch clouds
// without a common root last.
#include "common/augmented.h"

enum { NOWHERE = -1 };

typedef struct ordering {
    const augmented *h;
    const stn_block_pattern *pattern;
    int32_t node_count, tree_count; // blocks of either kind
    int32_t *node;                  // (node_count) by rank: the block
    int32_t *parent;                // (node_count) by rank: a rank; node_count: none
    int32_t *place;                 // (block_count) rank of a node; -1 - number of a tree
    int32_t *tree;                  // (tree_count) the block
    int32_t *anchor;                // (tree_count) rank that it comes before; node_count: the end
} ordering;

static bool is_node(const augmented *h, int32_t block) {
    return h->problem->trees[h->blocks[block].tree].A.form == STN_MATRIX_NODAL;
}

/// Appends the nodes of a cloud in the order of its A.
static stn_status rank_cloud(ordering *o, int32_t tree, const symbolic_key *like, stn_error *err) {
    const augmented *h = o->h;
    const stn_matrix *A = &h->problem->trees[tree].A;
    const int32_t n = A->node_count, first = h->tree_block[tree], base = o->node_count;
    stn_arena *arena = h->control->arena;
    int32_t *size = STN_ARENA(arena, n + 1, int32_t), *start = STN_ARENA(arena, n + 1, int32_t);
    int32_t *row = STN_ARENA(arena, A->row_start[n] + 1, int32_t), e = 0;
    if (size == NULL || start == NULL || row == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "order of %d nodes: out of memory", n);
    }
    for (int32_t i = 0; i < n; i++) { // the lower triangle by column is the upper one by row
        size[i] = h->blocks[first + i].n;
        start[i] = e;
        for (int32_t k = A->row_start[i]; k < A->row_start[i + 1]; k++) {
            if (A->column[k] >= i) {
                row[e++] = A->column[k];
            }
        }
    }
    start[n] = e;
    const stn_block_pattern pattern = {n, size, start, row, NULL};
    const symbolic_key key = {like->ops, like->self, &pattern};
    symbolic_order order;
    stn_status status = symbolic_cache_order(h->control->workspace, &key, &order, err);
    for (int32_t k = 0; k < n && status == STN_OK; k++) {
        o->node[base + k] = first + order.order[k];
        o->place[first + order.order[k]] = base + k;
        o->parent[base + k] = order.parent[k] < 0 ? -1 : base + order.parent[k];
    }
    o->node_count += n;
    return status;
}

/// Where the paths up from two ranks meet.
static int32_t meet(const ordering *o, int32_t a, int32_t b) {
    if (a == NOWHERE || b == NOWHERE) {
        return a == NOWHERE ? b : a;
    }
    while (a != b) {
        if (a < b) {
            a = o->parent[a];
        } else {
            b = o->parent[b];
        }
    }
    return a;
}

/// The anchor of every tree, and the order among trees: that of `elimination`.
static stn_status anchor_trees(ordering *o, stn_block_tree *elimination, stn_error *err) {
    const stn_block_pattern *p = o->pattern;
    const int32_t n = o->tree_count;
    stn_arena *arena = o->h->control->arena;
    int32_t *size = STN_ARENA(arena, n + 1, int32_t), *start = STN_ARENA(arena, n + 1, int32_t);
    int32_t *row = STN_ARENA(arena, p->column_start[p->block_count] + 1, int32_t), e = 0, t = 0;
    o->anchor = STN_ARENA(arena, n + 1, int32_t);
    if (size == NULL || start == NULL || row == NULL || o->anchor == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "order of %d trees: out of memory", n);
    }
    for (int32_t k = 0; k < n; k++) {
        o->anchor[k] = NOWHERE;
    }
    for (int32_t j = 0; j < p->block_count; j++) {
        if (o->place[j] < 0) {
            size[t] = p->block_size[j];
            start[t++] = e;
        }
        for (int32_t k = p->column_start[j]; k < p->column_start[j + 1]; k++) {
            const int32_t a = o->place[j], b = o->place[p->row[k]];
            if (a < 0 && b < 0) {
                row[e++] = -1 - b;
            } else if (a < 0) {
                o->anchor[-1 - a] = meet(o, o->anchor[-1 - a], b);
            } else if (b < 0) {
                o->anchor[-1 - b] = meet(o, o->anchor[-1 - b], a);
            }
        }
    }
    start[n] = e;
    const stn_block_pattern trees = {n, size, start, row, NULL};
    if (!stn_block_tree_build(&trees, arena, elimination)) {
        return stn_fail(err, STN_ERR_MEMORY, "order of %d trees: out of memory", n);
    }
    for (int32_t k = 0; k < n; k++) {
        if (elimination->parent[k] >= 0) {
            int32_t *above = &o->anchor[elimination->order[elimination->parent[k]]];
            *above = meet(o, *above, o->anchor[elimination->order[k]]);
        }
    }
    return STN_OK;
}

/// Trees before their anchors, in their own order where they share one.
static stn_status merge(const ordering *o, const stn_block_tree *elimination, int32_t *order, stn_error *err) {
    const int32_t n = o->node_count;
    int32_t *first = STN_ARENA(o->h->control->arena, n + o->tree_count + 3, int32_t), *next = first + n + 2, at = 0;
    if (first == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "order of %d trees: out of memory", o->tree_count);
    }
    for (int32_t k = 0; k < n + 2; k++) {
        first[k] = NOWHERE;
    }
    for (int32_t k = o->tree_count - 1; k >= 0; k--) { // lists at 1 + anchor, the earliest in front
        const int32_t tree = elimination->order[k];
        next[tree] = first[1 + o->anchor[tree]];
        first[1 + o->anchor[tree]] = tree;
    }
    for (int32_t k = 0; k < n + 2; k++) {
        for (int32_t tree = first[k]; tree != NOWHERE; tree = next[tree]) {
            order[at++] = o->tree[tree];
        }
        if (k > 0 && k <= n) {
            order[at++] = o->node[k - 1];
        }
    }
    return STN_OK;
}

stn_status augmented_order(const augmented *h, const symbolic_key *key, int32_t *order, stn_error *err) {
    stn_arena *arena = h->control->arena;
    const size_t n = (size_t)h->block_count + 1;
    int32_t *memory = STN_ARENA(arena, 4 * n, int32_t);
    ordering o = {h, key->pattern, 0, 0, memory, memory + n, memory + 2 * n, memory + 3 * n, NULL};
    if (memory == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "order of %d blocks: out of memory", h->block_count);
    }
    for (int32_t t = 0; t < h->problem->tree_count; t++) {
        if (h->problem->trees[t].A.form == STN_MATRIX_NODAL) {
            stn_status status = rank_cloud(&o, t, key, err);
            if (status != STN_OK) {
                return status;
            }
        }
    }
    for (int32_t k = 0; k < o.node_count; k++) {
        o.parent[k] = o.parent[k] < 0 ? o.node_count : o.parent[k];
    }
    for (int32_t b = 0; b < h->block_count; b++) {
        if (!is_node(h, b)) {
            o.place[b] = -1 - o.tree_count;
            o.tree[o.tree_count++] = b;
        }
    }
    stn_block_tree elimination;
    stn_status status = anchor_trees(&o, &elimination, err);
    return status == STN_OK ? merge(&o, &elimination, order, err) : status;
}
