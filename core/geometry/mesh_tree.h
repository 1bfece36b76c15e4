// SPDX-License-Identifier: Apache-2.0
// The tree of boxes over the triangles of a mesh. Every node has up to four children whose boxes lie side by side.
//
// Boxes are floats in units of half the mesh's size about its centre, x' = (x - centre) scale, within [-1, 1], and
// reach TREE_MARGIN further on every side: more than all rounding of what is compared with them, so that a test may
// keep a box too many, never one too few.
#ifndef STICTION_CORE_GEOMETRY_MESH_TREE_H
#define STICTION_CORE_GEOMETRY_MESH_TREE_H

#include <stiction/mesh_query.h>

#include "geometry/box_lanes.h"
#include "geometry/raw_mesh.h"

/// Enough for a ray: along each axis the planes of a box, at most 2 away, are met within 2 * 2^-22 (subtraction,
/// rounded inverse, product), with 2^-25 each for the box and the ray's origin.
#define TREE_MARGIN 0x1p-20F

/// Depth is log4 of the number of triangles, rounded up: 15; a walk holds three siblings of every level.
enum { TREE_STACK = 64 };

typedef struct tree_node {
    lanes lower[3], upper[3]; // of the children; no child: lower is infinite, upper its negative
    int32_t child[LANES];     // >= 0: node; < 0: triangle ~child
} tree_node;

struct mesh_tree {
    stn_context *context;
    stn_vec3 centre;
    double scale; // a power of two
    int32_t node_count;
    tree_node *nodes; // a parent before its children; 0 is the root
};

static inline stn_vec3 tree_local(const mesh_tree *tree, stn_vec3 p) {
    return stn_vec3_scale(tree->scale, stn_vec3_sub(p, tree->centre));
}

/// The tree of a mesh, made at the first call; NULL without memory.
const mesh_tree *mesh_tree_of(const stn_mesh *mesh);
void mesh_tree_destroy(mesh_tree *tree);       ///< accepts NULL
size_t mesh_tree_bytes(const mesh_tree *tree); ///< accepts NULL

#endif
