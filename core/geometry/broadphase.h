// SPDX-License-Identifier: Apache-2.0
// Private parts of the broad phase: boxes rounded outwards to float, four side by side, and the tree over them.
#ifndef STICTION_CORE_GEOMETRY_BROADPHASE_H
#define STICTION_CORE_GEOMETRY_BROADPHASE_H

#include <stiction/geometry.h>

#include "geometry/lanes.h"

/// Four boxes side by side; lanes without a box are empty (lower > upper) and overlap nothing.
typedef struct block {
    lanes lower[3], upper[3];
} block;

/// One node of the tree, in depth-first order: the left child follows its parent.
typedef struct node {
    lanes lower, upper; // fourth lane 0
    int32_t right;      // node, -1 for a leaf
    int32_t block;      // of a leaf
    int32_t weight;     // blocks below
    bool moving;        // some box below moves
} node;

struct stn_broadphase {
    stn_context *context;
    int32_t capacity; // boxes that the arrays below hold
    int32_t *order;   // box of each slot; slot = LANES * block + lane; finite boxes only
    int32_t *slot;    // of each box; negative: wide or empty
    int32_t *wide;    // boxes with an infinite side
    float *key;       // sort keys while the tree is built
    int32_t *start;   // of the counting sort, capacity + 1
    block *blocks;
    node *nodes;
    int32_t slot_count, node_count, wide_count;
    int64_t work, built_work; // node pairs visited in this update, and right after the tree was built
    bool stale;               // the tree has aged: build it anew
    int32_t pair_count, pair_capacity;
    stn_broadphase_pair *pairs, *sorted;
    // of the update in progress
    const stn_aabb *boxes;
    const bool *moving;
    bool (*allowed)(const void *user, int32_t a, int32_t b);
    const void *user;
    bool out_of_memory;
};

/// Adds the pair if the boxes themselves overlap, one of them moves, and it is allowed.
void broadphase_consider(stn_broadphase *bp, int32_t a, int32_t b);
/// Pairs within one block, and between two.
void broadphase_block_self(stn_broadphase *bp, int32_t block_id);
void broadphase_block_cross(stn_broadphase *bp, int32_t block_a, int32_t block_b);

/// Arranges order[0 .. slot_count) so that near boxes stand together, and lays the tree over it.
void broadphase_tree_build(stn_broadphase *bp);
/// Fits the nodes to the blocks, then considers every pair whose blocks overlap.
void broadphase_tree_pairs(stn_broadphase *bp);

#endif
