// SPDX-License-Identifier: Apache-2.0
// Where a ray meets a triangle [woop-2013]. Space is sheared and permuted so that the ray runs along z from the origin.
// It meets the triangle when the three edge functions of the corners' shadows, U = C_x B_y - C_y B_x and so on, do not
// differ in sign. Two triangles that share an edge compute this edge's function from the same products, exactly
// negated, so that no ray passes between them; this needs products and differences that are rounded one by one (no
// fused ones).
#ifndef STN_GEOMETRY_TRIANGLE_RAY_H
#define STN_GEOMETRY_TRIANGLE_RAY_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include <stiction/math.h>

/// A ray prepared for triangles: axis z of the permuted frame is the largest component of the direction.
typedef struct triangle_ray {
    stn_vec3 origin;
    int32_t x, y, z;
    double shear_x, shear_y, shear_z;
} triangle_ray;

static inline double triangle_ray_component(stn_vec3 v, int32_t axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

/// direction: of any length but 0.
static inline triangle_ray triangle_ray_make(stn_vec3 origin, stn_vec3 direction) {
    double x = fabs(direction.x), y = fabs(direction.y), z = fabs(direction.z);
    triangle_ray ray = {.origin = origin, .z = z >= x && z >= y ? 2 : y >= x ? 1 : 0};
    double largest = triangle_ray_component(direction, ray.z);
    ray.x = (ray.z + 1) % 3;
    ray.y = (ray.z + 2) % 3;
    ray.shear_x = triangle_ray_component(direction, ray.x) / largest;
    ray.shear_y = triangle_ray_component(direction, ray.y) / largest;
    ray.shear_z = 1.0 / largest;
    return ray;
}

static inline stn_vec3 triangle_ray_sheared(const triangle_ray *ray, stn_vec3 p) {
    stn_vec3 d = stn_vec3_sub(p, ray->origin);
    double z = triangle_ray_component(d, ray->z);
    return stn_vec3_make(triangle_ray_component(d, ray->x) - ray->shear_x * z,
                         triangle_ray_component(d, ray->y) - ray->shear_y * z, ray->shear_z * z);
}

/// Where the line origin + t direction meets the triangle, of either side; false: nowhere, or it lies in its plane.
static inline bool triangle_ray_meet(const triangle_ray *ray, stn_vec3 p, stn_vec3 q, stn_vec3 r, double *at) {
    stn_vec3 a = triangle_ray_sheared(ray, p), b = triangle_ray_sheared(ray, q), c = triangle_ray_sheared(ray, r);
    double u = c.x * b.y - c.y * b.x, v = a.x * c.y - a.y * c.x, w = b.x * a.y - b.y * a.x;
    if ((u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0)) {
        return false;
    }
    double sum = u + v + w;
    if (sum == 0.0 || !isfinite(sum)) {
        return false;
    }
    *at = (u * a.z + v * b.z + w * c.z) / sum;
    return true;
}

#endif
