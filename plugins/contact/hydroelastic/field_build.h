// SPDX-License-Identifier: Apache-2.0
// From a labelled surface to a field: what the files field*.c share.
//
// A convex solid is the union of segments from its surface to the set where it is deepest, which is a point, a segment
// or a flat convex polygon. With the surface cut in regions, one for each corner of that set, its tetrahedra are
//     every triangle                              joined with the corner of its region,
//     every edge between two regions              joined with the segment of their corners,
//     every vertex at which three or more meet    joined with the polygon of their corners.
// So all tetrahedra have a corner inside, only the first kind has a triangle on the surface, and fineness costs no
// tetrahedra inside. Where all triangles of a region are equally far from its corner the extent is exactly the distance
// from the surface over the depth.
#ifndef HYDROELASTIC_FIELD_BUILD_H
#define HYDROELASTIC_FIELD_BUILD_H

#include "surface_build.h"
#include "surface_plan.h"

/// How a cylinder's surface belongs to its core: a point, the ends of a segment, or a polygon's corners, one a
/// sector of the side, and its centre below the caps.
typedef enum cylinder_regions { CYLINDER_WHOLE, CYLINDER_HALVES, CYLINDER_SECTORS } cylinder_regions;

/// Where the extent is 1, and which part of the surface belongs to which of its corners. Zeroed: one region.
typedef struct field_core {
    int32_t count;            // corners
    double *vertices;         // (count x 3) [m], of a polygon in turn
    stn_vec3 centre;          // of the polygon: joined where more than three regions meet; label `count` is over it
    double depth;             // H: distance of the surface [m]
    int32_t bit[3];           // box: what the upper side of each axis adds to a label
    cylinder_regions regions; // cylinder
    double side, end;         // cylinder: its distances from the faces of the side and from the caps [m]
} field_core;

/// The core of a shape whose surface is divided so. STN_ERR_MEMORY. Vertices for stn_release.
stn_status field_core_make(stn_context *context, const stn_shape *shape, const surface_plan *plan, field_core *core,
                           stn_error *err);

/// A capsule without length is a sphere.
stn_shape surface_simplest(const stn_shape *shape);
/// The surface of a shape, labelled, extents 0; round ones are moved outwards so that the true volume is enclosed.
surface_build surface_of_shape(stn_context *context, const stn_shape *shape, const surface_plan *plan,
                               const field_core *core);
/// Is it one of those?
bool surface_is_round(const stn_shape *shape);
/// Moves it outwards so that each face moves by at least `margin`, and continues the extents below 0: they stay 0 on
/// the surface that was there. Boxes and cylinders are to be made larger instead.
void surface_inflate(surface_build *surface, const field_core *core, double margin);

/// Tetrahedra while they are made.
typedef struct tetrahedra_build {
    stn_context *context;
    bool failed; // out of memory
    int32_t count, capacity;
    int32_t *corners; // (count x 4), positive volume
} tetrahedra_build;

/// Appends a tetrahedron, turned so that its volume is positive.
void tetrahedra_add(tetrahedra_build *build, const double *vertices, int32_t a, int32_t b, int32_t c, int32_t d);

/// Joins a closed surface with its core; takes the surface over.
stn_status field_join(surface_build *surface, const field_core *core, field **out, stn_error *err);

/// The field of vertices with extents and tetrahedra, both taken over.
stn_status field_take(surface_build *surface, tetrahedra_build *tetrahedra, double depth, field **out, stn_error *err);

/// Appends the vertices and tetrahedra of a solid mesh, whose vertices come first in their order, to two empty builds,
/// with extents that are positive inside of each tetrahedron: where all corners of an edge, a face or a tetrahedron
/// inside lie on the surface, it gets a vertex in its middle, which neighbours share. At most nine tetrahedra come from
/// one. Given extents stay; all others are the distance to the surface over the largest one. The result depends on the
/// mesh alone. STN_ERR_ARGUMENT for a surface, and where rounding puts all vertices onto it.
stn_status field_split(const stn_mesh *mesh, surface_build *vertices, tetrahedra_build *tetrahedra, stn_error *err);

/// The field of a solid mesh as it is, with a skirt around it where there is a margin.
stn_status field_of_mesh(stn_context *context, const stn_mesh *mesh, double margin, int32_t max_tetrahedra, field **out,
                         stn_error *err);

/// Gradients, neighbours, box and edge length of what has vertices, extents and tetrahedra; refuses tetrahedra without
/// volume (the field stays the caller's).
stn_status field_finish(stn_context *context, field *field, stn_error *err);

// The shapes, as fine as planned.

/// Circumradius of the regular polygon that has the area of the unit circle.
double surface_prism_factor(int32_t around);
/// What has |z| below this is on the equator of a divided unit sphere.
static const double surface_equator = 1e-9;

#endif
