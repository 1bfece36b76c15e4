// SPDX-License-Identifier: Apache-2.0
// Private parts of meshes: what readers hand over, how it becomes a mesh, and the object behind stn_mesh.
#ifndef STICTION_CORE_GEOMETRY_RAW_MESH_H
#define STICTION_CORE_GEOMETRY_RAW_MESH_H

#include <stdatomic.h>

#include <stiction/mesh_file.h>

static inline stn_vec3 mesh_vertex(const double *vertices, int32_t id) {
    const double *p = vertices + 3 * (size_t)id;
    return stn_vec3_make(p[0], p[1], p[2]);
}

/// Numbers on their way to a mesh: stn_raw_mesh as the core has it. Zeroed, it is empty and says nothing.
typedef struct raw_mesh {
    stn_context *context; // whose memory the arrays are
    int32_t vertex_count, triangle_count, tetrahedron_count;
    double *vertices;       // (vertex_count x 3) in `unit`
    int32_t *triangles;     // (triangle_count x 3), polygons as fans
    int32_t *tetrahedra;    // (tetrahedron_count x 4), of either orientation
    double *extents;        // (vertex_count) of a solid, NAN where the file has none; NULL: no such field
    int32_t curved_count;   // elements of higher order of which the corners alone were read
    double unit;            // [m] of one length in the file; 0 or 1: the file does not say
    char up_axis;           // 'x', 'y' or 'z'; 0: the file does not say
    int32_t instance_count; // placements of parts in a scene file; 0 or 1 for others
} raw_mesh;

/// What single precision in a file leaves of extents.
#define MESH_EXTENT_EXACTNESS 1e-6

/// Releases the arrays and leaves a zeroed mesh; accepts a zeroed one.
static inline void raw_mesh_clear(raw_mesh *raw) {
    if (raw->context != NULL) {
        stn_release(raw->context, raw->vertices);
        stn_release(raw->context, raw->triangles);
        stn_release(raw->context, raw->tetrahedra);
        stn_release(raw->context, raw->extents);
    }
    *raw = (raw_mesh){0};
}

/// The finished mesh: checked, unit applied, equal positions joined, degenerate triangles dropped, facts and solid
/// computed. STN_ERR_ARGUMENT "mesh: what is wrong" for bad numbers; the caller knows the file to name.
stn_status mesh_from_raw(stn_context *context, const raw_mesh *raw, stn_mesh **out, stn_error *err);

/// A mesh from finished parts that were stored once (copied; `bounds` is computed anew). Counts, indices, finiteness
/// and the ranges of the facts are checked, as a stored file may be damaged: STN_ERR_ARGUMENT. What only a computation
/// could tell (joined vertices, convexity, facts that fit) is believed.
stn_status mesh_from_parts(stn_context *context, const stn_mesh *parts, stn_mesh **out, stn_error *err);

/// The tree of boxes over the triangles that queries walk: mesh_query.c.
typedef struct mesh_tree mesh_tree;
void mesh_tree_destroy(mesh_tree *tree);       ///< accepts NULL
size_t mesh_tree_bytes(const mesh_tree *tree); ///< accepts NULL

/// The object behind a stn_mesh, which is its first member and owns the arrays.
typedef struct mesh_object {
    stn_mesh face;
    atomic_int references;
    mesh_tree *_Atomic tree;       // NULL until a query asks for it; then it stays
    int32_t *_Atomic across;       // likewise: stn_mesh_across
    int32_t *_Atomic across_faces; // likewise: stn_mesh_across_faces
    stn_context *context;
} mesh_object;

/// What a mesh holds of memory [bytes], with its polytope and, once a query has made it, its tree. Thread: [any].
size_t mesh_bytes(const stn_mesh *mesh);

#endif
