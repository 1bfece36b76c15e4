// SPDX-License-Identifier: Apache-2.0
// Compliant solids as tetrahedra with a pressure field, and rigid solids as triangles: what patches are cut from.
//
// A field is the extent e [1], linear in every tetrahedron: 1 where the solid is deepest, 0 on its surface, below 0 in
// the skirt that a margin adds. Pressure is p = E e with the modulus E [Pa] of the material, so that shapes of any
// modulus share one field. Everything is in the shape's own frame [m], made once, then constant.
#ifndef HYDROELASTIC_FIELD_H
#define HYDROELASTIC_FIELD_H

#include <stiction/contact.h>

/// How fine a field or surface is made.
typedef struct field_fineness {
    double resolution; // wanted edge length [m]; NaN: from `error`
    double error;      // relative error of the force of a shallow contact that is accepted where no length is given [1]
    double margin;     // by how much the solid is inflated for faces that are about to touch [m], >= 0
} field_fineness;

/// Tetrahedra of a compliant solid.
typedef struct field {
    int32_t vertex_count, tetrahedron_count;
    double *vertices;    // (vertex_count x 3) [m]
    double *extents;     // (vertex_count) [1]
    int32_t *tetrahedra; // (tetrahedron_count x 4), positive volume; a corner is inside, or all of them in the skirt
    int32_t *neighbours; // (tetrahedron_count x 4): the tetrahedron across the face opposite to corner k, -1: none
    stn_vec3 *gradients; // (tetrahedron_count) of e [1/m], world orientation of the shape's frame
    double *offsets;     // (tetrahedron_count): e(x) = offset + gradient . x
    double depth;        // H: distance from the surface of what has e = 1 [m]
    double edge;         // mean length of edges on the surface [m]
    stn_aabb bounds;     // of the inflated solid
} field;

/// Outside of a rigid solid, or an open sheet.
typedef struct rigid_surface {
    int32_t vertex_count, triangle_count;
    double *vertices;   // (vertex_count x 3) [m]
    int32_t *triangles; // (triangle_count x 3), counter-clockwise seen from outside
    stn_vec3 *normals;  // (triangle_count) unit, outward
    stn_aabb bounds;
    stn_surface_error error; // of a round shape
} rigid_surface;

/// Can a field be made of this geometry's shape (its material aside)? NULL, else why not: static text.
const char *field_refuses(const stn_geometry *geometry);
/// The field of a sphere, box, cylinder, capsule, ellipsoid, convex hull or of the tetrahedra `volume` (which wins over
/// the shape; NULL: none). Half spaces have none: their layer is exact. STN_ERR_ARGUMENT for what cannot be repaired
/// and for more than `max_tetrahedra`, naming the number and the resolution to give instead. [setup]
stn_status field_create(stn_context *context, const stn_shape *shape, const stn_mesh *volume,
                        const field_fineness *fineness, int32_t max_tetrahedra, field **out, stn_error *err);
void field_destroy(stn_context *context, field *field); // accepts NULL

/// The triangles of a rigid shape: of a mesh its own, concave or not, of a hull its faces, of round shapes as fine as
/// told.
stn_status rigid_surface_create(stn_context *context, const stn_shape *shape, const field_fineness *fineness,
                                int32_t max_triangles, rigid_surface **out, stn_error *err);
void rigid_surface_destroy(stn_context *context, rigid_surface *surface); // accepts NULL

#endif
