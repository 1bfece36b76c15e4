// SPDX-License-Identifier: Apache-2.0
// Numbers on their way to a mesh, and how they are made sound, step by step.
#ifndef STICTION_MESH_MAKER_RAW_MESH_H
#define STICTION_MESH_MAKER_RAW_MESH_H

#include <stiction/mesh_file.h>

/// stn_raw_mesh as it is worked on. Zeroed, it is empty and says nothing.
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

/// The arrays, borrowed.
static inline stn_mesh_data raw_mesh_data(const raw_mesh *raw) {
    return (stn_mesh_data){.vertex_count = raw->vertex_count,
                           .triangle_count = raw->triangle_count,
                           .tetrahedron_count = raw->tetrahedron_count,
                           .vertices = raw->vertices,
                           .triangles = raw->triangles,
                           .tetrahedra = raw->tetrahedra,
                           .extents = raw->extents};
}

/// The finished mesh: checked, unit applied, equal positions joined, degenerate triangles dropped, facts and solid
/// computed. STN_ERR_ARGUMENT "mesh: what is wrong" for bad numbers; the caller knows the file to name.
stn_status mesh_from_raw(stn_context *context, const raw_mesh *raw, stn_mesh **out, stn_error *err);

/// The mesh of sound numbers (copied) and what is known of them. STN_ERR_MEMORY.
stn_status mesh_finish(const raw_mesh *mesh, const stn_mesh_facts *facts, const stn_mass *solid, bool convex,
                       stn_mesh **out, stn_error *err);

/// No area: the sine between the two shorter edges is below the rounding error of computing it. Corners count as exact;
/// equal ones are included.
bool mesh_triangle_degenerate(const double *vertices, const int32_t corners[3]);

/// Copies `source` with its coordinates times `factor`; equal positions (-0 is 0) become one vertex, in the order in
/// which they first appear; the extent is that of the first, and STN_ERR_ARGUMENT tells of one that differs. `source`
/// must have been checked.
stn_status mesh_weld(stn_context *context, const raw_mesh *source, stn_vec3 factor, raw_mesh *out, stn_error *err);

/// Drops the degenerate triangles and says how many they were.
int32_t mesh_drop_degenerate(raw_mesh *mesh);

/// Drops vertices, with their extents, that no triangle and no tetrahedron has; gives the arrays the size of what is
/// left.
stn_status mesh_compact(raw_mesh *mesh, stn_error *err);

/// `open`: edges between different vertices that other than two triangles share. `closed`: every edge is run through as
/// often in one direction as in the other, so the surface has no border and the divergence theorem holds.
stn_status mesh_count_edges(const raw_mesh *mesh, int32_t *open, bool *closed, stn_error *err);

/// Vertices whose triangles form more than one fan around them.
stn_status mesh_count_touching(const raw_mesh *mesh, int32_t *count, stn_error *err);

/// Swaps two corners of every triangle.
void mesh_flip(raw_mesh *mesh);

/// Repairs tetrahedra (turned positive, repeated and flat ones dropped), makes the triangles their boundary, and the
/// extents 0 there; `facts` keep their curved_count. STN_ERR_ARGUMENT for a face that does not lie between two of them,
/// where dropping would tear, and for extents that leave nothing inside.
stn_status mesh_make_solid(raw_mesh *mesh, stn_solid_facts *facts, stn_error *err);

/// Extents that are equal but for rounding, or one of them not given.
bool mesh_extents_agree(double a, double b);

#endif
