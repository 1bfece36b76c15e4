// SPDX-License-Identifier: Apache-2.0
// Private parts of polytopes, shared by mesh_faces.c and mesh_polytope.c.
#ifndef STICTION_CORE_GEOMETRY_MESH_POLYTOPE_H
#define STICTION_CORE_GEOMETRY_MESH_POLYTOPE_H

#include "geometry/mesh_build.h"

/// A polytope in the making. Edge i runs from corner i % 3 of triangle i / 3 to the next one.
typedef struct faces {
    const raw_mesh *mesh;
    int32_t *other;    // [edge] the same edge of the other triangle
    int32_t *members;  // triangles in the order of their faces
    int32_t *face;     // [triangle] its face; while they are gathered: its group
    int32_t *follower; // [vertex] the edge behind it, of the outline that is walked
    int32_t face_count, corner_count, edge_count;
    int32_t *start;   // [face_count + 1] first corner
    int32_t *corners; // edges of triangles that are sides of faces, in order round each
    int32_t *edge;    // [edge] number of the polytope's edge that it is a half of
} faces;

static inline int32_t faces_vertex(const faces *f, int32_t edge) {
    return f->mesh->triangles[edge];
}

/// Gathers triangles that lie within `tolerance` of one plane and look the same way; each group with a convex outline
/// becomes a face, the triangles of others one each. Fills `members`, `start` and `corners`; of `face` only whether two
/// triangles have the same is left to use. False: out of memory.
bool faces_gather(faces *f, double tolerance);

#endif
