// SPDX-License-Identifier: Apache-2.0
// Private parts of convex hulls, shared by mesh_hull.c and mesh_qhull.c.
#ifndef STICTION_CORE_GEOMETRY_MESH_HULL_H
#define STICTION_CORE_GEOMETRY_MESH_HULL_H

#include "geometry/mesh_build.h"

typedef struct hull {
    stn_context *context;
    int32_t point_count;
    int32_t *vertex;        // [point] of the mesh
    double *points;         // (point_count x 3) each axis within [-1, 1]
    double accuracy;        // of the distance between a point and a plane
    int32_t triangle_count; // the result, (triangle_count x 3) points
    int32_t *triangles;
    int32_t *follower; // [point] in the polygon that is walked: the next corner
    int32_t *used;     // [point] 1 for those that count
    int32_t *polygon;  // corners of the polygon that is walked
    int32_t *edge;     // (point_count + 1) x 2 edges of it behind which triangles are missing
} hull;

/// The error of points in one plane.
stn_status hull_flat(stn_error *err);
stn_status hull_out_of_memory(stn_error *err);

/// Finds `triangles` at the given accuracy; they are released and allocated anew. STN_ERR_ARGUMENT: flat;
/// STN_ERR_UNSUPPORTED: too much work; STN_ERR_NUMERIC: nothing that holds together, a larger accuracy may help.
stn_status hull_run(hull *h, stn_error *err);

#endif
