// SPDX-License-Identifier: Apache-2.0
// Rigid surfaces of shapes.
#include "field_build.h"

// ------------------------------------------------------------------------------------------- beside round shapes
// How flat pieces lie beside a round shape. Corners stand out, since the volume is kept, and middles lie inside: both
// go with the square of an edge. Looked for at corners, middles of edges and centroids.

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

/// Of a round shape's surface without a margin.
static stn_surface_error surface_error_of(const stn_shape *shape, const surface_plan *plan, const surface_build *s) {
    stn_surface_error e = {.resolution = surface_plan_length(shape, plan)};
    for (int32_t i = 0; i < s->vertex_count; i++) {
        e.outward = fmax(e.outward, height_above(shape, stn_vec3_at(s->vertices, i)));
    }
    for (int32_t t = 0; t < s->triangle_count; t++) {
        const int32_t *v = s->triangles + 3 * (size_t)t;
        stn_vec3 corner[3], sum = stn_vec3_zero();
        for (int32_t k = 0; k < 3; k++) {
            corner[k] = stn_vec3_at(s->vertices, v[k]);
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

// --------------------------------------------------------------------------------------------------- any surface

stn_status rigid_surface_create(stn_context *context, const stn_shape *shape, const field_fineness *fineness,
                                int32_t max_triangles, rigid_surface **out, stn_error *err) {
    *out = NULL;
    if (shape->type == STN_SHAPE_HALF_SPACE) {
        return stn_fail(err, STN_ERR_UNSUPPORTED, "a half space has no triangles");
    }
    if (shape->mesh == NULL && (shape->type == STN_SHAPE_MESH || shape->type == STN_SHAPE_CONVEX)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "the mesh is not loaded");
    }
    stn_shape solid = surface_simplest(shape);
    surface_plan plan;
    stn_status status = surface_plan_make(&solid, fineness, false, max_triangles, &plan, err);
    if (status != STN_OK) {
        return status;
    }
    const field_core whole = {0};
    surface_build built = surface_of_shape(context, &solid, &plan, &whole);
    rigid_surface *made = stn_allocate(context, 1, sizeof *made);
    stn_vec3 *normals = stn_allocate(context, (size_t)built.triangle_count + 1, sizeof *normals);
    if (built.failed || made == NULL || normals == NULL) {
        surface_build_clear(&built);
        stn_release(context, made);
        stn_release(context, normals);
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for a surface of triangles");
    }
    *made = (rigid_surface){.vertex_count = built.vertex_count,
                            .triangle_count = built.triangle_count,
                            .vertices = built.vertices,
                            .triangles = built.triangles,
                            .normals = normals,
                            .bounds = surface_bounds(built.vertices, built.vertex_count)};
    if (surface_is_round(&solid)) {
        made->error = surface_error_of(&solid, &plan, &built);
    }
    for (int32_t t = 0; t < built.triangle_count; t++) {
        const int32_t *v = built.triangles + 3 * (size_t)t;
        stn_vec3 a = stn_vec3_at(built.vertices, v[0]);
        stn_vec3 n = stn_vec3_cross(stn_vec3_sub(stn_vec3_at(built.vertices, v[1]), a),
                                    stn_vec3_sub(stn_vec3_at(built.vertices, v[2]), a));
        normals[t] = stn_vec3_normalize_or(n, stn_vec3_make(0.0, 0.0, 1.0));
    }
    built.vertices = NULL;
    built.triangles = NULL;
    surface_build_clear(&built);
    *out = made;
    return STN_OK;
}

void rigid_surface_destroy(stn_context *context, rigid_surface *s) {
    if (s != NULL) {
        stn_release(context, s->vertices);
        stn_release(context, s->triangles);
        stn_release(context, s->normals);
        stn_release(context, s);
    }
}
