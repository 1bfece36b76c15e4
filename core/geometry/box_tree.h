// SPDX-License-Identifier: Apache-2.0
// A tree over boxes that is asked about rays and about what is near. For questions between steps: the broad phase of a
// step looks for all pairs at once, in single precision and with fat boxes (broadphase.h).
#ifndef STICTION_CORE_GEOMETRY_BOX_TREE_H
#define STICTION_CORE_GEOMETRY_BOX_TREE_H

#include <stiction/context.h>
#include <stiction/geometry.h>

/// How trees over boxes are divided: orders the `count` boxes that `order` names so that the first `left` of them are
/// those whose middles lie lowest along the axis on which the middles spread furthest. `key` (count): scratch. Which of
/// equals come first is left open.
void box_split(const stn_aabb *boxes, int32_t *order, float *key, int32_t count, int32_t left);

/// In depth-first order: the left child follows its parent.
typedef struct box_node {
    stn_aabb box;
    int32_t first, count; // in `order`
    int32_t right;        // node, -1 for a leaf
} box_node;

/// Boxes with an infinite side stand apart, behind those of the tree; empty ones (lower > upper) nowhere.
typedef struct box_tree {
    int32_t capacity;    // boxes
    int32_t inner_count; // in the tree: order[0 .. inner_count)
    int32_t wide_count;  // order[inner_count .. inner_count + wide_count)
    int32_t node_count;
    int32_t *order;    // boxes, near ones together
    float *key;        // while the tree is built
    signed char *kind; // of each box when the tree was built
    box_node *nodes;
    double built_area; // of all nodes, after building
} box_tree;

/// Room for as many boxes; STN_ERR_MEMORY leaves it cleared.
stn_status box_tree_init(stn_context *context, int32_t capacity, box_tree *tree, stn_error *err);
void box_tree_clear(stn_context *context, box_tree *tree);
/// Makes the tree that of these boxes, at most `capacity`: fits the one there is, or builds it when there is none, when
/// other boxes are infinite or empty than before, or when it has become loose. Allocates nothing.
void box_tree_update(box_tree *tree, const stn_aabb *boxes, int32_t count);

/// What a search does with a box; may shrink what the search goes by.
typedef void box_visit(void *user, int32_t box);

/// Visits the boxes that the ray enters before `*end` (may be infinite), roughly in order. `inverse`: 1 / direction.
void box_tree_ray(const box_tree *tree, const stn_aabb *boxes, stn_vec3 origin, stn_vec3 inverse, const double *end,
                  box_visit *visit, void *user);
/// Visits the boxes no further than `*within` (may be infinite) from one, roughly the nearest first. Returns how many
/// boxes and nodes were looked at.
int32_t box_tree_near(const box_tree *tree, const stn_aabb *boxes, const stn_aabb *from, const double *within,
                      box_visit *visit, void *user);

static inline double box_gap_along(double lower_a, double upper_a, double lower_b, double upper_b) {
    double above = lower_a - upper_b, below = lower_b - upper_a, gap = above > below ? above : below;
    return gap > 0.0 ? gap : 0.0;
}

/// The distance of two boxes.
static inline double box_gap(const stn_aabb *a, const stn_aabb *b) {
    stn_vec3 d = {box_gap_along(a->lower.x, a->upper.x, b->lower.x, b->upper.x),
                  box_gap_along(a->lower.y, a->upper.y, b->lower.y, b->upper.y),
                  box_gap_along(a->lower.z, a->upper.z, b->lower.z, b->upper.z)};
    return stn_vec3_norm(d);
}

#endif
