// SPDX-License-Identifier: Apache-2.0
// A tree of boxes over the elements of one solid, in the solid's own frame: built once, never refitted.
#ifndef HYDROELASTIC_TREE_H
#define HYDROELASTIC_TREE_H

#include <stiction/geometry.h>

/// What an item, or all items below a node, occupies where the extent is at most `level`: between `low`, all that is at
/// most 0, and `full`, by the share (level - lowest of the tree) rise of the way; nothing below `lowest`. An item
/// without a field has low = full.
typedef struct tree_box {
    stn_aabb low, full;
    double lowest; // extent
    double rise;   // 1 / (smallest extent above 0 - lowest of the tree)
} tree_box;

/// Depth first: the left child follows its parent.
typedef struct tree_node {
    stn_vec3 low_centre, low_half;   // [m]
    stn_vec3 more_centre, more_half; // full - low
    double lowest, rise;             // as above
    int32_t right;                   // node; of a leaf -1
    int32_t item;                    // of a leaf, else -1
} tree_node;

typedef struct element_tree {
    int32_t node_count; // 2 items - 1
    tree_node *nodes;
    double lowest; // extent of all
} element_tree;

/// Over the boxes of `count` >= 1 items. Split at the median, so no deeper than TREE_DEPTH. STN_ERR_MEMORY alone.
/// [setup]
enum { TREE_DEPTH = 32 };
stn_status tree_create(stn_context *context, const tree_box *boxes, int32_t count, double lowest, element_tree *out,
                       stn_error *err);
void tree_clear(stn_context *context, element_tree *t);

/// What is done with two items whose boxes meet; false ends the search.
typedef bool tree_visit(void *user, int32_t item_a, int32_t item_b);
/// Visits the pairs of items whose boxes up to these levels meet when B stands at X_AB.
void tree_meet(const element_tree *a, double level_a, const element_tree *b, double level_b, const stn_pose *ab,
               tree_visit *visit, void *user);

/// What is done with an item; false ends the search.
typedef bool tree_visit_one(void *user, int32_t item);
/// Visits the items whose full boxes reach below `above` and, unless `below` is infinite, above -`below` of the plane
/// normal . x + offset = 0 (unit normal) [m].
void tree_meet_plane(const element_tree *a, stn_vec3 normal, double offset, double above, double below,
                     tree_visit_one *visit, void *user);
/// Visits the items whose full boxes hold a point.
void tree_meet_point(const element_tree *a, stn_vec3 point, tree_visit_one *visit, void *user);

#endif
