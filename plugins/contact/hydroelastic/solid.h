// SPDX-License-Identifier: Apache-2.0
// What a model's geometries are cut from: fields and rigid surfaces laid out for cutting, with a tree each. Equal
// shapes share one.
#ifndef HYDROELASTIC_SOLID_H
#define HYDROELASTIC_SOLID_H

#include "cell.h"

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
    stn_shape shape;         // that it was made of, without its mesh
    bool given;              // its tetrahedra are those of a mesh
    uint64_t mesh;           // hash of the mesh with its surface or its tetrahedra, 0: none
    field_fineness fineness; // as it was asked for
    cell_array of_field;     // its cells
    const cell *cells;       // the same
    facet *facets;           // of a surface
    int32_t count;           // of either
    bool flat;               // of a surface: its triangles are flat sides, or parts of them
    element_tree tree;       // over them; not of a half space
    double depth;            // H [m]: of a field, of a half space its layer
    stn_surface_error error; // of its flat pieces
    stn_aabb bounds;
    stn_aabb core;                     // of a field: around its deepest set, e = 1; around all of given tetrahedra
    size_t bytes;                      // memory of cells or facets and tree, at most
    int32_t part_count;                // of what hangs together; more than SOLID_PARTS: there are more
    stn_vec3 part_end[SOLID_PARTS][2]; // the points of each that are furthest along -x and x
} solid;

stn_status solid_of_field(stn_context *context, const field *field, solid *out, stn_error *err);
stn_status solid_of_surface(stn_context *context, const rigid_surface *surface, solid *out, stn_error *err);
void solid_clear(stn_context *context, solid *s);

#endif
