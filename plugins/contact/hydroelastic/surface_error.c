// SPDX-License-Identifier: Apache-2.0
// How flat pieces lie beside a round shape. Corners stand out, since the volume is kept, and middles lie inside: both
// go with the square of an edge. Looked for at corners, middles of edges and centroids.
#include "field_build.h"

/// Distance from the surface, above 0 outside: exact near it, of an ellipsoid to first order.
static double height_above(const stn_shape *shape, stn_vec3 p) {
    double across = hypot(p.x, p.y);
    switch (shape->type) {
    case STN_SHAPE_SPHERE:
        return stn_vec3_norm(p) - shape->radius;
    case STN_SHAPE_CAPSULE:
        return hypot(across, fmax(0.0, fabs(p.z) - shape->half_length)) - shape->radius;
    case STN_SHAPE_CYLINDER:
        return fmax(across - shape->radius, fabs(p.z) - shape->half_length);
    default: {
        stn_vec3 h = shape->half_extents, u = {p.x / h.x, p.y / h.y, p.z / h.z};
        double gauge = stn_vec3_norm(u);
        return (gauge - 1.0) * gauge / stn_vec3_norm(stn_vec3_make(u.x / h.x, u.y / h.y, u.z / h.z));
    }
    }
}

bool surface_is_round(const stn_shape *shape) {
    return shape->type == STN_SHAPE_SPHERE || shape->type == STN_SHAPE_CAPSULE || shape->type == STN_SHAPE_CYLINDER ||
           shape->type == STN_SHAPE_ELLIPSOID;
}

stn_surface_error surface_error_of(const stn_shape *shape, const surface_plan *plan, const surface_build *s) {
    stn_surface_error e = {.resolution = surface_plan_length(shape, plan)};
    for (int32_t i = 0; i < s->vertex_count; i++) {
        e.outward = fmax(e.outward, height_above(shape, surface_point(s->vertices, i)));
    }
    for (int32_t t = 0; t < s->triangle_count; t++) {
        const int32_t *v = s->triangles + 3 * (size_t)t;
        stn_vec3 corner[3], sum = stn_vec3_zero();
        for (int32_t k = 0; k < 3; k++) {
            corner[k] = surface_point(s->vertices, v[k]);
            sum = stn_vec3_add(sum, corner[k]);
        }
        e.inward = fmax(e.inward, -height_above(shape, stn_vec3_scale(1.0 / 3.0, sum)));
        for (int32_t k = 0; k < 3; k++) {
            stn_vec3 middle = stn_vec3_scale(0.5, stn_vec3_sub(sum, corner[k]));
            e.inward = fmax(e.inward, -height_above(shape, middle));
        }
    }
    return e;
}
