// SPDX-License-Identifier: Apache-2.0
// A balanced tree of fat boxes over blocks of four, built by median splits along the longest axis. It is kept from
// update to update and only fitted anew. It is rebuilt when a walk visits half as many node pairs again as after
// building, or when boxes that left their fat ones, and so moved by a part of their size each, were looked up 8 times
// their number. How old the tree is changes the time that an update takes, never the pairs.
#include "geometry/box_split.h"
#include "geometry/broadphase.h"

/// Splits so that all blocks but the last are full. Depth is at most log2 of the number of blocks, rounded up.
static int32_t build(stn_broadphase *bp, int32_t first, int32_t count) {
    int32_t id = bp->node_count++;
    node *n = &bp->nodes[id];
    n->weight = (count + LANES - 1) / LANES;
    n->right = -1;
    n->block = first / LANES;
    if (count > LANES) {
        int32_t left = (n->weight + 1) / 2 * LANES;
        box_split(bp->boxes, bp->order + first, bp->key + first, count, left);
        build(bp, first, left);
        n->right = build(bp, first + left, count - left);
    }
    return id;
}

void broadphase_tree_build(stn_broadphase *bp) {
    bp->node_count = 0;
    build(bp, 0, bp->slot_count);
    for (int32_t s = 0; s < bp->slot_count; s++) {
        bp->slot[bp->order[s]] = s;
    }
    bp->built_work = -1;
    bp->asked = 0;
}

static float least(lanes v) {
    float a = v[0] < v[1] ? v[0] : v[1], b = v[2] < v[3] ? v[2] : v[3];
    return a < b ? a : b;
}

static float greatest(lanes v) {
    float a = v[0] > v[1] ? v[0] : v[1], b = v[2] > v[3] ? v[2] : v[3];
    return a > b ? a : b;
}

static void fit_leaf(const stn_broadphase *bp, node *n) {
    const block *b = &bp->blocks[n->block];
    n->lower = (lanes){least(b->lower[0]), least(b->lower[1]), least(b->lower[2]), 0.0F};
    n->upper = (lanes){greatest(b->upper[0]), greatest(b->upper[1]), greatest(b->upper[2]), 0.0F};
    n->moving = false;
    int32_t first = LANES * n->block;
    for (int32_t s = first; s < first + LANES && s < bp->slot_count; s++) {
        n->moving = n->moving || bp->moving[bp->order[s]];
    }
}

/// Children stand behind their parent, so one backward pass meets them first.
static void fit(stn_broadphase *bp) {
    for (int32_t i = bp->node_count - 1; i >= 0; i--) {
        node *n = &bp->nodes[i];
        if (n->right < 0) {
            fit_leaf(bp, n);
            continue;
        }
        const node *l = &bp->nodes[i + 1], *r = &bp->nodes[n->right];
        n->lower = select_lanes(l->lower < r->lower, l->lower, r->lower);
        n->upper = select_lanes(l->upper > r->upper, l->upper, r->upper);
        n->moving = l->moving || r->moving;
    }
}

static void cross(stn_broadphase *bp, int32_t id_a, int32_t id_b) {
    const node *a = &bp->nodes[id_a], *b = &bp->nodes[id_b];
    bp->work++;
    if (!lanes_all((a->lower <= b->upper) & (b->lower <= a->upper)) || !(a->moving || b->moving)) {
        return;
    }
    if (a->right < 0 && b->right < 0) {
        broadphase_block_cross(bp, a->block, b->block);
    } else if (a->weight >= b->weight) {
        cross(bp, id_a + 1, id_b);
        cross(bp, a->right, id_b);
    } else {
        cross(bp, id_a, id_b + 1);
        cross(bp, id_a, b->right);
    }
}

static void walk(stn_broadphase *bp, int32_t id) {
    const node *n = &bp->nodes[id];
    if (!n->moving) {
        return;
    }
    if (n->right < 0) {
        broadphase_block_self(bp, n->block);
        return;
    }
    walk(bp, id + 1);
    walk(bp, n->right);
    cross(bp, id + 1, n->right);
}

/// Boxes of a leaf that overlap fat box i. A pair of two that left meets once.
static void ask_block(stn_broadphase *bp, int32_t i, int32_t id) {
    const block *b = &bp->blocks[id];
    const fat_box *f = &bp->fat[i];
    lane_mask mask = (lane_mask){-1, -1, -1, -1};
    for (int32_t k = 0; k < 3; k++) {
        mask &= (lanes_of(f->lower[k]) <= b->upper[k]) & (b->lower[k] <= lanes_of(f->upper[k]));
    }
    for (int32_t k = 0; lanes_any(mask) && k < LANES; k++) {
        int32_t j = mask[k] ? bp->order[LANES * id + k] : i;
        if (j > i || (j < i && !bp->has_left[j])) {
            broadphase_meet(bp, i, j);
        }
    }
}

static void ask(stn_broadphase *bp, int32_t i) {
    const fat_box *f = &bp->fat[i];
    const lanes lower = {f->lower[0], f->lower[1], f->lower[2], 0.0F},
                upper = {f->upper[0], f->upper[1], f->upper[2], 0.0F};
    int32_t waiting[64], count = 0; // one a level; the tree is balanced
    waiting[count++] = 0;
    while (count > 0) {
        int32_t id = waiting[--count];
        const node *n = &bp->nodes[id];
        bp->work++;
        if (!lanes_all((n->lower <= upper) & (lower <= n->upper)) || !(n->moving || bp->moving[i])) {
            continue;
        }
        if (n->right < 0) {
            ask_block(bp, i, n->block);
        } else {
            waiting[count++] = n->right;
            waiting[count++] = id + 1;
        }
    }
}

void broadphase_tree_left(stn_broadphase *bp) {
    fit(bp);
    for (int32_t k = 0; k < bp->left_count; k++) {
        bp->has_left[bp->left[k]] = true;
    }
    for (int32_t k = 0; k < bp->left_count; k++) {
        ask(bp, bp->left[k]);
    }
    bp->asked += bp->left_count;
    bp->stale = bp->asked > 8 * (int64_t)bp->slot_count;
}

void broadphase_tree_pairs(stn_broadphase *bp) {
    fit(bp);
    walk(bp, 0);
    if (bp->built_work < 0) {
        bp->built_work = bp->work;
    }
    bp->stale = bp->work > bp->built_work + bp->built_work / 2;
}
