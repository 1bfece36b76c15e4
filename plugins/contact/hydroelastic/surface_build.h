// SPDX-License-Identifier: Apache-2.0
// Surfaces of triangles while they are made, and points of arrays: what the files field*.c, surface*.c and solid.c
// share.
#ifndef HYDROELASTIC_SURFACE_BUILD_H
#define HYDROELASTIC_SURFACE_BUILD_H

#include "field.h"

/// Grows; a request for memory that failed is remembered until the end, so that makers read without tests.
typedef struct surface_build {
    stn_context *context;
    bool failed; // out of memory: whatever follows is dropped
    int32_t vertex_count, vertex_capacity, triangle_count, triangle_capacity;
    double *vertices;   // (vertex_count x 3) [m]
    double *extents;    // (vertex_count) of the field there: 0, or below 0 where a margin inflates [1]
    int32_t *triangles; // (triangle_count x 3), counter-clockwise seen from outside
    int32_t *labels;    // (triangle_count): the deepest vertex that is below a triangle (field_join.c)
} surface_build;

surface_build surface_build_empty(stn_context *context);
void surface_build_clear(surface_build *build);
/// Returns the new vertex; any number once memory has run out.
int32_t surface_build_vertex(surface_build *build, stn_vec3 point, double extent);
void surface_build_triangle(surface_build *build, int32_t a, int32_t b, int32_t c, int32_t label);

static inline void surface_put(double *vertices, int32_t id, stn_vec3 point) {
    double *p = vertices + 3 * (size_t)id;
    p[0] = point.x;
    p[1] = point.y;
    p[2] = point.z;
}
static inline void surface_grow(stn_aabb *box, stn_vec3 p) {
    stn_vec3 *low = &box->lower, *high = &box->upper;
    *low = stn_vec3_make(fmin(low->x, p.x), fmin(low->y, p.y), fmin(low->z, p.z));
    *high = stn_vec3_make(fmax(high->x, p.x), fmax(high->y, p.y), fmax(high->z, p.z));
}
/// The box of `count` > 0 points.
static inline stn_aabb surface_bounds(const double *vertices, int32_t count) {
    stn_aabb box = {stn_vec3_at(vertices, 0), stn_vec3_at(vertices, 0)};
    for (int32_t i = 1; i < count; i++) {
        surface_grow(&box, stn_vec3_at(vertices, i));
    }
    return box;
}
/// Six times the volume of the tetrahedron a b c d: positive when a b c run clockwise seen from d.
static inline double surface_det(stn_vec3 a, stn_vec3 b, stn_vec3 c, stn_vec3 d) {
    return stn_vec3_dot(stn_vec3_cross(stn_vec3_sub(b, a), stn_vec3_sub(c, a)), stn_vec3_sub(d, a));
}

/// Which side lies against which: across[3 t + k] is 3 u + l when the side of triangle t from corner k to the next is
/// the side l of triangle u, -1 when no or several other triangles share it. For stn_release; NULL: out of memory.
int32_t *surface_sides(stn_context *context, int32_t triangle_count, const int32_t *triangles);

/// Where the point with the barycentric coordinates `b` of a triangle with these corners belongs.
typedef stn_vec3 surface_place(const stn_vec3 corner[3], const double b[3]);
stn_vec3 surface_place_flat(const stn_vec3 corner[3], const double b[3]);  // in its plane
stn_vec3 surface_place_round(const stn_vec3 corner[3], const double b[3]); // on the unit sphere, evenly

/// Divides the sides of every triangle of `coarse` in `steps`, so that it becomes steps^2; labels are inherited,
/// extents become 0. `coarse` is closed.
surface_build surface_divide(const surface_build *coarse, int32_t steps, surface_place *place);
/// Splits sides in the middle until none is longer than `edge`; the surface is closed and flat where it is split.
void surface_refine(surface_build *surface, double edge);

#endif
