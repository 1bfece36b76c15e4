// SPDX-License-Identifier: Apache-2.0
// A tree of boxes over the elements of one solid, in the solid's own frame: built once, never refitted.
#ifndef HYDROELASTIC_TREE_H
#define HYDROELASTIC_TREE_H

#include <stiction/geometry.h>

/// Depth first: the left child follows its parent.
typedef struct tree_node {
    stn_vec3 centre, half; // of the box [m]
    int32_t right;         // node; of a leaf -1
    int32_t item;          // of a leaf, else -1
} tree_node;

typedef struct element_tree {
    int32_t node_count; // 2 items - 1
    tree_node *nodes;
} element_tree;

/// Over the boxes of `count` >= 1 items. Split at the median, so no deeper than TREE_DEPTH. STN_ERR_MEMORY alone.
/// [setup]
enum { TREE_DEPTH = 32 };
stn_status tree_create(stn_context *context, const stn_aabb *boxes, int32_t count, element_tree *out, stn_error *err);
void tree_clear(stn_context *context, element_tree *t);

/// What is done with two items whose boxes meet; not STN_OK ends the search.
typedef stn_status tree_visit(void *user, int32_t item_a, int32_t item_b);
/// Visits the pairs of items whose boxes, grown by `room` [m] each, meet when B stands at X_AB.
stn_status tree_meet(const element_tree *a, const element_tree *b, const stn_pose *ab, double room, tree_visit *visit,
                     void *user);

/// What is done with an item.
typedef stn_status tree_visit_one(void *user, int32_t item);
/// Visits the items whose boxes reach below `above` and, unless `below` is infinite, above -`below` of the plane
/// normal . x + offset = 0 (unit normal) [m].
stn_status tree_meet_plane(const element_tree *a, stn_vec3 normal, double offset, double above, double below,
                           tree_visit_one *visit, void *user);

#endif
