// SPDX-License-Identifier: Apache-2.0
// The object behind stn_mesh, and what it is made of.
#ifndef STICTION_CORE_GEOMETRY_MESH_OBJECT_H
#define STICTION_CORE_GEOMETRY_MESH_OBJECT_H

#include <stdatomic.h>

#include <stiction/mesh_file.h>

/// Gives the arrays of `parts`, which are of the context's memory, to a new object with one reference; finds its bounds
/// and of a convex surface the polytope. On failure they stay.
stn_status mesh_wrap(stn_context *context, const stn_mesh *parts, stn_mesh **out, stn_error *err);

/// Faces, edges and neighbours of the convex surface of a mesh that has no polytope yet. STN_ERR_ARGUMENT when the
/// triangles are no closed surface.
stn_status mesh_polytope_create(stn_context *context, const stn_mesh *mesh, stn_polytope **out, stn_error *err);
void mesh_polytope_release(stn_context *context, const stn_polytope *polytope); ///< accepts NULL
size_t mesh_polytope_bytes(const stn_polytope *polytope);                       ///< accepts NULL

/// How far the vertices of a convex hull reach along three directions, the rows: the least and the largest product of
/// each row with a vertex.
void mesh_range(const stn_mesh *mesh, const stn_mat3 *rows, double least[3], double most[3]);

/// The tree of boxes over the triangles that queries walk: mesh_tree.c.
typedef struct mesh_tree mesh_tree;
void mesh_tree_destroy(mesh_tree *tree);       ///< accepts NULL
size_t mesh_tree_bytes(const mesh_tree *tree); ///< accepts NULL

/// How the surface bends, and where parts of the tree look: mesh_bends.c.
typedef struct mesh_bend mesh_bend;
void mesh_bend_destroy(mesh_bend *bend);                             ///< accepts NULL
size_t mesh_bend_bytes(const mesh_bend *bend, const stn_mesh *mesh); ///< accepts NULL

/// The object behind a stn_mesh, which is its first member and owns the arrays.
typedef struct mesh_object {
    stn_mesh face;
    atomic_int references;
    mesh_tree *_Atomic tree;       // NULL until a query asks for it; then it stays
    int32_t *_Atomic across;       // likewise: stn_mesh_across
    int32_t *_Atomic across_faces; // likewise: stn_mesh_across_faces
    mesh_bend *_Atomic bend;       // likewise: stn_mesh_bends
    stn_context *context;
} mesh_object;

#endif
