// SPDX-License-Identifier: Apache-2.0
// Private parts of the broad phase: fat boxes in float, four side by side, the tree over them, the pairs of fat boxes.
#ifndef STICTION_CORE_GEOMETRY_BROADPHASE_H
#define STICTION_CORE_GEOMETRY_BROADPHASE_H

#include <stiction/geometry.h>

#include "geometry/box_lanes.h"

enum { SLOT_WIDE = -1, SLOT_EMPTY = -2 }; // what a box without a slot is

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

/// Holds a box and its surroundings, rounded outwards, until the box leaves it.
typedef struct fat_box {
    float lower[3], upper[3];
} fat_box;

struct stn_broadphase {
    stn_context *context;
    int32_t count;    // boxes of the last update
    int32_t capacity; // that the arrays below hold
    int32_t *order;   // box of each slot; slot = LANES * block + lane; finite boxes only
    int32_t *slot;    // of each box; negative: wide or empty
    int32_t *wide;    // boxes with an infinite side
    float *key;       // sort keys while the tree is built
    int32_t *start;   // of the counting sort, capacity + 1
    fat_box *fat;     // of each box
    int32_t *left;    // boxes that left their fat ones
    bool *has_left;   // of each box; all false between updates
    bool *moved;      // of each box: `moving` of the last update
    block *blocks;    // of fat boxes
    node *nodes;
    int32_t slot_count, node_count, wide_count, left_count;
    int64_t work,
        built_work; // nodes and pairs of nodes visited by the last update, and by the first walk of a new tree
    int64_t asked;  // boxes looked up one by one since the tree was built
    bool stale;     // the tree has aged: build it anew
    bool known;     // order, fat boxes and candidates are those of the last update
    int32_t pair_count, candidate_count, pair_capacity;
    stn_broadphase_pair *pairs, *sorted;
    stn_broadphase_pair *candidates; // allowed pairs of fat boxes that overlap, one moving, ascending
    // of the update in progress
    const stn_aabb *boxes;
    const bool *moving;
    bool (*allowed)(const void *user, int32_t a, int32_t b);
    const void *user;
    bool out_of_memory;
};

#endif
