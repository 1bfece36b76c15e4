// SPDX-License-Identifier: Apache-2.0
// What a model's geometries are cut from: fields and rigid surfaces laid out for cutting, with a tree each. Equal
// shapes share one.
#ifndef HYDROELASTIC_SOLID_H
#define HYDROELASTIC_SOLID_H

#include "field.h"
#include "tree.h"

/// Four planes a . x + at = 0, unit a.
typedef struct four_planes {
    double x[4], y[4], z[4], at[4];
} four_planes;

/// A tetrahedron of a field.
typedef struct cell {
    double x[4], y[4], z[4]; // corners [m]
    four_planes face;        // each opposite to a corner, positive inside
    double extent[4];        // at the corners
    stn_vec3 gradient;       // of the extent [1/m]
    double steep;            // its length
    double offset;           // extent = offset + gradient . x
    double size;             // longest edge [m]
    double rise;             // as in tree_box
} cell;

/// A triangle of a rigid surface.
typedef struct facet {
    stn_vec3 corner[3]; // [m], counter-clockwise from outside
    stn_vec3 normal;    // unit, outward
    double size;        // longest edge [m]
} facet;

enum { SOLID_PARTS = 8 };
typedef enum solid_kind { SOLID_NONE, SOLID_FIELD, SOLID_SURFACE, SOLID_HALF_SPACE } solid_kind;

typedef struct solid {
    solid_kind kind;
    stn_shape shape;         // that it was made of
    int32_t volume;          // model mesh with its tetrahedra, -1: none
    field_fineness fineness; // as it was asked for
    cell *cells;             // of a field
    facet *facets;           // of a surface
    int32_t count;           // of either
    element_tree tree;       // over them; not of a half space
    double depth;            // H [m]: of a field, of a half space its layer
    stn_aabb bounds;
    int32_t part_count;                // of what hangs together; more than SOLID_PARTS: there are more
    stn_vec3 part_end[SOLID_PARTS][2]; // the points of each that are furthest along -x and x
} solid;

stn_status solid_of_field(stn_context *context, const field *field, solid *out, stn_error *err);
stn_status solid_of_surface(stn_context *context, const rigid_surface *surface, solid *out, stn_error *err);
void solid_clear(stn_context *context, solid *s);

#endif
