// SPDX-License-Identifier: Apache-2.0
// How meshes are made, step by step: joining, topology, integrals. Used by mesh*.c alone.
#ifndef STICTION_CORE_GEOMETRY_MESH_BUILD_H
#define STICTION_CORE_GEOMETRY_MESH_BUILD_H

#include "geometry/raw_mesh.h"

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

/// Edge i runs from corner i % 3 of triangle i / 3 to the next one. `other` (3 x triangle_count): the edge of the one
/// triangle that runs through it the other way; -1 when there is none or more than one.
stn_status mesh_pair_edges(const raw_mesh *mesh, int32_t *other, stn_error *err);

/// Repairs tetrahedra (turned positive, repeated and flat ones dropped), makes the triangles their boundary, and the
/// extents 0 there; `facts` keep their curved_count. STN_ERR_ARGUMENT for a face that does not lie between two of them,
/// and where dropping would tear.
stn_status mesh_make_solid(raw_mesh *mesh, stn_solid_facts *facts, stn_error *err);

/// Tuples of vertices, sorted so that equal ones stand together: edges of triangles as pairs, faces of tetrahedra as
/// triples, each with its vertices in rising order. Counting sort, one pass for each place: time and memory are linear
/// whatever the numbers are.
typedef struct tuples {
    stn_context *context;
    int32_t width;  // 2: edges, 3: faces
    int32_t count;  // at most INT32_MAX by STN_MESH_COUNT_MAX
    int32_t *ids;   // (count x width) rising
    int32_t *order; // once sorted: the tuples from the smallest to the largest
} tuples;

/// Room for the ids, which the caller writes.
stn_status tuples_create(stn_context *context, int32_t width, int32_t count, tuples *out, stn_error *err);
void tuples_clear(tuples *t); ///< accepts a zeroed one
/// Fills `order`; equal tuples keep the order in which they were written.
stn_status tuples_sort(tuples *t, int32_t vertex_count, stn_error *err);
/// First position in `order` behind the tuples equal to the one at `from`.
int32_t tuples_end(const tuples *t, int32_t from);

/// Vertices whose triangles form more than one fan around them.
stn_status mesh_count_touching(const raw_mesh *mesh, int32_t *count, stn_error *err);

/// Given extents, as far as tetrahedra use them, are from 0 to 1 but for rounding.
stn_status mesh_check_extents(const raw_mesh *raw, stn_error *err);
/// Equal but for rounding, or one of them not given.
bool mesh_extents_agree(double a, double b);
/// Makes the extents 0 on the surface, and counts where they were not. STN_ERR_ARGUMENT when nothing is left inside.
stn_status mesh_finish_extents(raw_mesh *mesh, int32_t *raised_count, stn_error *err);

/// Swaps two corners of every triangle.
void mesh_flip(raw_mesh *mesh);

stn_aabb mesh_bounds(const raw_mesh *mesh);

/// What integration over a mesh gives.
typedef struct mesh_integrals {
    double area, volume; // volume signed
    stn_mass solid;      // of positive mass; zero when there is no solid
} mesh_integrals;
mesh_integrals mesh_integrate(const raw_mesh *mesh, const stn_aabb *bounds, bool closed);

/// Faces, edges and neighbours of a convex surface, which encloses `volume`. STN_ERR_ARGUMENT when the triangles are no
/// closed surface.
stn_status mesh_polytope_create(const raw_mesh *mesh, double volume, stn_polytope **out, stn_error *err);
void mesh_polytope_release(stn_context *context, const stn_polytope *polytope); ///< accepts NULL
size_t mesh_polytope_bytes(const stn_polytope *polytope);                       ///< accepts NULL

/// Gives the arrays to a new object with one reference; of a convex surface it finds the polytope. On failure they
/// stay.
stn_status mesh_wrap(raw_mesh *mesh, const stn_mesh_facts *facts, const stn_mass *solid, bool convex, stn_mesh **out,
                     stn_error *err);

#endif
