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

/// Where the extent is 1.
typedef struct field_core {
    int32_t count;          // corners
    const double *vertices; // (count x 3) [m], in the plane's order or that of the segment
    stn_vec3 centre;        // of the polygon: used where more than three regions meet
} field_core;

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
stn_status field_join(surface_build *surface, const field_core *core, double depth, field **out, stn_error *err);

/// Gradients, neighbours, box and edge length of what has vertices, extents and tetrahedra; refuses tetrahedra without
/// volume (the field stays the caller's).
stn_status field_finish(stn_context *context, field *field, stn_error *err);

/// Surfaces of shapes as fine as planned (surface_plan.h), extents 0; vertices of round ones moved outwards so that the
/// true solid's volume is enclosed.
surface_build surface_of_sphere(stn_context *context, double radius, int32_t steps);
/// `bit`: what the upper side of each axis adds to the label of a triangle.
surface_build surface_of_box(stn_context *context, stn_vec3 half_extents, const int32_t bit[3], int32_t steps);
surface_build surface_of_hull(stn_context *context, const stn_mesh *mesh);
/// Moves every vertex away from the centre by the factor that lets the cones over its triangles fill their angle.
void surface_swell(surface_build *surface);

#endif
