// SPDX-License-Identifier: Apache-2.0
// The tree of boxes over the triangles of a mesh, and what its parts know of where their triangles look: what
// mesh_tree.c and mesh_bends.c make and mesh_query.c walks.
#ifndef STICTION_CORE_GEOMETRY_MESH_TREE_H
#define STICTION_CORE_GEOMETRY_MESH_TREE_H

#include <stiction/mesh_query.h>

#include "geometry/box_lanes.h"
#include "geometry/mesh_object.h"

typedef struct mesh_triangle {
    stn_vec3 a, b, c;
} mesh_triangle;

static inline mesh_triangle triangle_of(const stn_mesh *mesh, int32_t id) {
    const int32_t *ids = mesh->triangles + 3 * (size_t)id;
    return (mesh_triangle){stn_vec3_at(mesh->vertices, ids[0]), stn_vec3_at(mesh->vertices, ids[1]),
                           stn_vec3_at(mesh->vertices, ids[2])};
}

// Every node has up to four children whose boxes lie side by side. Boxes are floats in units of half the mesh's size
// about its centre, x' = (x - centre) scale, within [-1, 1], and reach TREE_MARGIN further on every side: more than all
// rounding of what is compared with them, so that a test may keep a box too many, never one too few.

/// Enough for a ray: along each axis the planes of a box, at most 2 away, are met within 2 * 2^-22 (subtraction,
/// rounded inverse, product), with 2^-25 each for the box and the ray's origin.
#define TREE_MARGIN 0x1p-20F

/// Room of a walk: the depth is log4 of the number of triangles, rounded up: 15; it holds three siblings of each.
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

/// Where the triangles of a node's child look. A direction within acos(cosine) of the normal is within 75 degrees of
/// each of theirs.
typedef struct part_look {
    float normal[3], cosine; // cosine > 1: some are not gentle, or they look too far apart
} part_look;

/// (node_count x LANES) of the children of each node; NULL before anybody asked how the surface bends.
const part_look *mesh_looks(const stn_mesh *mesh);

#endif
