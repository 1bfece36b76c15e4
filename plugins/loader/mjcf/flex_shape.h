// SPDX-License-Identifier: Apache-2.0
// Shapes that <flexcomp> makes.
#ifndef MJCF_FLEX_SHAPE_H
#define MJCF_FLEX_SHAPE_H

#include "mjcf.h"

/// In the order of `flex_types`.
typedef enum flex_type {
    FLEX_GRID,
    FLEX_BOX,
    FLEX_CYLINDER,
    FLEX_ELLIPSOID,
    FLEX_SQUARE,
    FLEX_DISC,
    FLEX_CIRCLE,
    FLEX_MESH,
    FLEX_GMSH,
    FLEX_DIRECT
} flex_type;

typedef struct flex_shape {
    flex_type type;
    int32_t dim;       // 2: triangles, 3: tetrahedra
    int32_t count[3];  // points along x, y, z
    double spacing[3]; // > 0 [m]
    int32_t point_count, element_count;
    double *points;    // (point_count x 3) [m], in memory of the load
    int32_t *elements; // (element_count x (dim + 1))
} flex_shape;

/// Points and elements of a grid, box, cylinder, ellipsoid, square or disc; counts of what has faces are at least 2,
/// and of a sheet count[2] is 1. false: out of memory.
bool flex_shape_make(robot_reader *reader, flex_shape *shape);

#endif
