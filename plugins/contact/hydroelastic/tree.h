// SPDX-License-Identifier: Apache-2.0
// A tree of boxes over the elements of one solid, in the solid's own frame: built once, never refitted. Four children a
// node, in single precision, so that a question is answered for four boxes at a time.
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

/// Four numbers, one a child.
typedef float tree_lanes __attribute__((vector_size(16)));

/// A node: boxes of its children, those that are missing empty.
typedef struct tree_node {
    tree_lanes low_lower[3], low_upper[3];   // [m], by axes
    tree_lanes more_lower[3], more_upper[3]; // full - low
    tree_lanes lowest, rise;                 // as above
    int32_t child[4];                        // node; an item i as -1 - i
} tree_node;

typedef struct element_tree {
    int32_t item_count, node_count;
    tree_node *nodes;
    int32_t *lane_of; // (item_count) 4 x node + child that an item is
    double lowest;    // extent of all
} element_tree;

/// Over the boxes of `count` >= 1 items. Split at medians, so no deeper than TREE_DEPTH. STN_ERR_MEMORY alone. [setup]
enum { TREE_DEPTH = 17 };
stn_status tree_create(stn_context *context, const tree_box *boxes, int32_t count, double lowest, element_tree *out,
                       stn_error *err);
void tree_clear(stn_context *context, element_tree *t);

static inline bool tree_boxes_meet(const stn_aabb *a, const stn_aabb *b) {
    return a->lower.x <= b->upper.x && b->lower.x <= a->upper.x && a->lower.y <= b->upper.y &&
           b->lower.y <= a->upper.y && a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

static inline stn_aabb tree_box_grown(const stn_aabb *box, double by) {
    const stn_vec3 all = {by, by, by};
    return (stn_aabb){stn_vec3_sub(box->lower, all), stn_vec3_add(box->upper, all)};
}

/// What a tree holds up to a level.
typedef struct tree_part {
    const element_tree *tree;
    double level;
} tree_part;

/// The box of everything, and that of one item.
stn_aabb tree_whole(tree_part part);
stn_aabb tree_item_box(tree_part part, int32_t item);
/// The box in A's axes of a box that stands at X_AB.
stn_aabb tree_box_seen(const stn_aabb *box, const stn_pose *ab);

// Each writes the items that it finds into `found` (room for all), always in the same order, and returns their number.

/// A box and, when it is `flat`, the plane normal . x + offset = 0 in it.
typedef struct tree_probe {
    stn_aabb box;
    bool flat;
    stn_vec3 normal;
    double offset;
} tree_probe;

/// Whose boxes meet the probe; or would, if either came nearer by `slack` [m].
int32_t tree_near(tree_part part, const tree_probe *probe, double slack, int32_t *found);
/// Items that may be near what `other` holds, when it stands at X_OT in that one's frame: all whose boxes meet the box
/// of all of `other` (tree_whole, seen from `part`) and of which something meets boxes of its items; and a few more.
/// Still true when either moves by `slack` [m].
int32_t tree_near_tree(tree_part part, tree_part other, const stn_pose *ot, double slack, int32_t *found);
/// The boxes up to a level of four items, to be asked without the tree.
typedef struct tree_four {
    tree_lanes lower[3], upper[3];
    int32_t item[4];
} tree_four;
/// Packs the boxes of items in their order; returns how many fours that makes: (count + 3) / 4.
int32_t tree_pack(tree_part part, const int32_t *items, int32_t count, tree_four *fours);
/// Those of the packed items, in their order, that tree_near finds at that level without slack;
/// `found` has room for 4 x four_count + 1.
int32_t tree_near_among(const tree_four *fours, int32_t four_count, const tree_probe *probe, int32_t *found);
/// Whose full boxes reach below `above` and, unless `below` is infinite, above -`below` of the plane
/// normal . x + offset = 0 (unit normal) [m].
int32_t tree_near_plane(const element_tree *t, stn_vec3 normal, double offset, double above, double below,
                        int32_t *found);

#endif
