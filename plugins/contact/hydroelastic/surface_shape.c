// SPDX-License-Identifier: Apache-2.0
// The surface of any shape.
#include "field_build.h"

/// A surface's own triangles.
static surface_build copy_mesh(stn_context *context, const stn_mesh *mesh) {
    surface_build s = surface_build_empty(context);
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        surface_build_vertex(&s, surface_point(mesh->vertices, i), 0.0);
    }
    for (int32_t t = 0; t < mesh->triangle_count; t++) {
        const int32_t *v = mesh->triangles + 3 * (size_t)t;
        surface_build_triangle(&s, v[0], v[1], v[2], 0);
    }
    return s;
}

stn_shape surface_simplest(const stn_shape *shape) {
    bool round = shape->type == STN_SHAPE_CAPSULE && shape->half_length <= 1e-8 * shape->radius;
    return round ? stn_shape_sphere(shape->radius) : *shape;
}

static surface_build ellipsoid(stn_context *context, stn_vec3 half, int32_t steps) {
    surface_build s = surface_of_sphere(context, 1.0, steps);
    for (int32_t i = 0; i < s.vertex_count; i++) {
        stn_vec3 p = surface_point(s.vertices, i);
        surface_put(s.vertices, i, stn_vec3_make(half.x * p.x, half.y * p.y, half.z * p.z));
    }
    return s;
}

surface_build surface_of_shape(stn_context *context, const stn_shape *shape, const surface_plan *plan,
                               const field_core *core) {
    switch (shape->type) {
    case STN_SHAPE_SPHERE:
        return surface_of_sphere(context, shape->radius, plan->steps);
    case STN_SHAPE_ELLIPSOID:
        return ellipsoid(context, shape->half_extents, plan->steps);
    case STN_SHAPE_BOX:
        return surface_of_box(context, shape->half_extents, plan, core->bit);
    case STN_SHAPE_CYLINDER:
        return surface_of_cylinder(context, shape->radius, shape->half_length, plan, core->regions);
    case STN_SHAPE_CAPSULE:
        return surface_of_capsule(context, shape->radius, shape->half_length, plan);
    case STN_SHAPE_CONVEX: {
        surface_build s = surface_of_hull(context, shape->mesh);
        surface_refine(&s, plan->edge);
        return s;
    }
    default: // its own triangles, as they are
        return copy_mesh(context, shape->mesh);
    }
}

/// Distance of a triangle's plane from the corner of the core that it belongs to.
static double depth_of(const surface_build *s, const field_core *core, int32_t triangle) {
    const int32_t *v = s->triangles + 3 * (size_t)triangle;
    stn_vec3 a = surface_point(s->vertices, v[0]), m = surface_point(core->vertices, s->labels[triangle]);
    stn_vec3 n = stn_vec3_cross(stn_vec3_sub(surface_point(s->vertices, v[1]), a),
                                stn_vec3_sub(surface_point(s->vertices, v[2]), a));
    return stn_vec3_dot(stn_vec3_sub(a, m), n) / stn_vec3_norm(n);
}

/// The point of a core (a point or a segment) that is nearest to p.
static stn_vec3 nearest_of_core(const field_core *core, stn_vec3 p) {
    stn_vec3 a = surface_point(core->vertices, 0);
    if (core->count == 1) {
        return a;
    }
    stn_vec3 along = stn_vec3_sub(surface_point(core->vertices, 1), a);
    double share = stn_vec3_dot(stn_vec3_sub(p, a), along) / stn_vec3_dot(along, along);
    return stn_vec3_mul_add(a, fmin(1.0, fmax(0.0, share)), along);
}

/// Every vertex moves away from the core by the factor 1 + s, where e = -s: a face is where it was on the rays to its
/// corners. With s = margin / (distance from the core) of the nearest face at the vertex all faces move far enough.
void surface_inflate(surface_build *s, const field_core *core, double margin) {
    for (int32_t t = 0; t < s->triangle_count; t++) {
        double by = margin / depth_of(s, core, t);
        for (int32_t k = 0; k < 3; k++) {
            double *extent = s->extents + s->triangles[3 * t + k];
            *extent = fmin(*extent, -by);
        }
    }
    for (int32_t i = 0; i < s->vertex_count; i++) {
        stn_vec3 p = surface_point(s->vertices, i), from = nearest_of_core(core, p);
        surface_put(s->vertices, i, stn_vec3_mul_add(p, -s->extents[i], stn_vec3_sub(p, from)));
    }
}
