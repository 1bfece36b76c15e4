// SPDX-License-Identifier: Apache-2.0
// Questions to a mesh: the triangles near a box, the nearest one to a point, the first one that a ray meets; and the
// cells of a height field. Everything in the mesh's own frame.
//
// All of them allocate nothing but a tree of boxes that the mesh keeps, made by the first of them that needs it. Where
// that finds no memory they look at all triangles: slower, with the same answers. Answers depend on the mesh alone, not
// on what was asked before. Thread: [any].
#ifndef STICTION_MESH_QUERY_H
#define STICTION_MESH_QUERY_H

#include <stiction/mesh.h>

STN_BEGIN_C

/// Makes the tree now, so that later queries allocate nothing; it is kept with the mesh. O(n log n) for n triangles, 30
/// to 40 bytes a triangle. A height field needs it for stn_mesh_nearest alone. STN_ERR_MEMORY.
STN_API stn_status stn_mesh_prepare(const stn_mesh *mesh, stn_error *err);

/// Which triangles share an edge. Edge 3 t + k of triangle t runs from its corner k to the next one; across[3 t + k] is
/// the same edge of the one other triangle that runs through it the other way, -1 when there is none or more than one.
/// (3 x triangle_count), made at the first call and kept with the mesh, 12 bytes a triangle; NULL without memory.
STN_API const int32_t *stn_mesh_across(const stn_mesh *mesh);

/// How the surface bends at each triangle (triangle_count): STN_BEND_GENTLE when it has three neighbours that look
/// within 15 degrees of where it looks, and none of the four is a needle; STN_BEND_RIDGE << k when edge k is a border,
/// or is convex (but for rounding) and the other triangle there has a higher number; STN_BEND_PEAK << k when a ridge
/// ends at corner k and no triangle around it has a lower number. Made at the first call and kept with the mesh, with
/// what parts know of it, up to 25 bytes a triangle; NULL without memory.
enum { STN_BEND_RIDGE = 1, STN_BEND_GENTLE = 8, STN_BEND_PEAK = 16 };
STN_API const uint8_t *stn_mesh_bends(const stn_mesh *mesh);

/// Which tetrahedra share a face. across[4 t + k] is the tetrahedron behind that face of tetrahedron t which is
/// opposite to its corner k, -1 on the boundary. (4 x tetrahedron_count), made at the first call and kept with the
/// mesh, 16 bytes a tetrahedron; NULL without memory, and for a surface.
STN_API const int32_t *stn_mesh_across_faces(const stn_mesh *mesh);

/// The same as stn_mesh_across of triangles (count x 3) of no mesh, with vertices below `vertex_count`: writes across
/// (3 x count). O(count). STN_ERR_MEMORY. [setup]
STN_API stn_status stn_triangles_across(stn_context *context, const int32_t *triangles, int32_t count,
                                        int32_t vertex_count, int32_t *across, stn_error *err);
/// The same as stn_mesh_across_faces of tetrahedra (count x 4) of no mesh, with vertices below `vertex_count`: writes
/// across (4 x count). O(count). STN_ERR_ARGUMENT when more than two share a face, STN_ERR_MEMORY. [setup]
STN_API stn_status stn_tetrahedra_across(stn_context *context, const int32_t *tetrahedra, int32_t count,
                                         int32_t vertex_count, int32_t *across, stn_error *err);

/// Called with a triangle; false ends the query.
typedef bool (*stn_triangle_visitor)(void *user, int32_t triangle);

/// Visits each triangle whose own box overlaps `box` (touching counts) once, in an order that the mesh alone decides.
/// False when a visitor ended it.
STN_API bool stn_mesh_visit(const stn_mesh *mesh, const stn_aabb *box, stn_triangle_visitor visit, void *user);

/// Some triangles of a mesh that lie together, in its frame.
typedef struct stn_mesh_part {
    stn_vec3 centre, half; // of the box around them [m]
    /// A unit direction m with m . look >= cosine lies within 75 degrees of where each of them looks, and all are
    /// gentle; cosine > 1: that is not so, or stn_mesh_bends was never asked.
    stn_vec3 look;
    double cosine;
} stn_mesh_part;
/// How far the box of a part extends from its centre along m.
static inline double stn_mesh_part_reach(const stn_mesh_part *part, stn_vec3 m) {
    return fabs(m.x) * part->half.x + fabs(m.y) * part->half.y + fabs(m.z) * part->half.z;
}
/// Called with a part; true leaves its triangles out.
typedef bool (*stn_part_filter)(void *user, const stn_mesh_part *part);
/// stn_mesh_visit, in the same order, without the triangles of parts that the filter leaves out.
STN_API bool stn_mesh_visit_parts(const stn_mesh *mesh, const stn_aabb *box, stn_part_filter filter,
                                  stn_triangle_visitor visit, void *user);

/// Visits each triangle that comes within `radius` (may be infinite) of a point once, and some more that come near to
/// it, through the tree. False when a visitor ended it.
STN_API bool stn_mesh_visit_ball(const stn_mesh *mesh, stn_vec3 centre, double radius, stn_triangle_visitor visit,
                                 void *user);

/// A point of the surface.
typedef struct stn_mesh_point {
    int32_t triangle; // that it lies on
    stn_vec3 point;   // [m]
    double distance;  // from what was asked for [m], along a ray or straight; >= 0
} stn_mesh_point;

/// The point of the surface nearest to `point`, within `radius` (may be infinite); false when there is none.
STN_API bool stn_mesh_nearest(const stn_mesh *mesh, stn_vec3 point, double radius, stn_mesh_point *out);

/// The first point of the surface on the ray origin + t direction, 0 <= t <= max (may be infinite); `direction` of unit
/// length. Triangles are met from both sides. A ray does not slip through between two triangles that share an edge
/// [woop-2013]. False when there is none.
STN_API bool stn_mesh_raycast(const stn_mesh *mesh, stn_vec3 origin, stn_vec3 direction, double max,
                              stn_mesh_point *out);

/// Unit normal of a triangle, on the side from which its corners run counter-clockwise.
STN_API stn_vec3 stn_mesh_triangle_normal(const stn_mesh *mesh, int32_t triangle);

/// Cells [row_start, row_end) x [column_start, column_end) of a height field. Cell (r, c) lies between the vertices
/// (r, c) and (r + 1, c + 1); its triangles are 2 (r (columns - 1) + c) and the next one.
typedef struct stn_grid_cells {
    int32_t row_start, row_end, column_start, column_end; // the ends are behind the last
} stn_grid_cells;

/// The cells whose rectangle in x and y touches that of `box`, perhaps some beside by rounding; empty when it lies
/// outside. Only for meshes with a grid. O(1).
STN_API stn_grid_cells stn_grid_cells_under(const stn_mesh *mesh, const stn_aabb *box);
/// Height of the surface of a height field over or under a point; NaN outside its border.
STN_API double stn_grid_height(const stn_mesh *mesh, double x, double y);

STN_END_C
#endif
