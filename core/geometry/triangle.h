// SPDX-License-Identifier: Apache-2.0
// One triangle: its nearest point, where a ray meets it.
#ifndef STICTION_CORE_GEOMETRY_TRIANGLE_H
#define STICTION_CORE_GEOMETRY_TRIANGLE_H

#include <stiction/mesh.h>

typedef struct triangle {
    stn_vec3 a, b, c;
} triangle;

triangle triangle_of(const stn_mesh *mesh, int32_t id);

/// The point of the triangle that is nearest to p.
stn_vec3 triangle_nearest(const triangle *t, stn_vec3 p);

/// A ray prepared for triangles: axis z of the permuted frame is the largest component of the direction.
typedef struct triangle_ray {
    stn_vec3 origin;
    int32_t x, y, z;
    double shear_x, shear_y, shear_z;
} triangle_ray;
triangle_ray triangle_ray_make(stn_vec3 origin, stn_vec3 direction);

/// Where the line origin + t direction meets the triangle, of either side; false: nowhere, or it lies in its plane.
bool triangle_meet(const triangle *t, const triangle_ray *ray, double *at);

#endif
