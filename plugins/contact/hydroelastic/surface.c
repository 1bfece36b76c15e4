// SPDX-License-Identifier: Apache-2.0
// Rigid surfaces of shapes.
#include "field_build.h"

static stn_status build_surface(stn_context *context, const stn_shape *shape, const field_fineness *fineness,
                                int32_t max_triangles, surface_build *built, stn_surface_error *error, stn_error *err) {
    if (shape->type == STN_SHAPE_HALF_SPACE) {
        return stn_fail(err, STN_ERR_UNSUPPORTED, "a half space has no triangles");
    }
    if (shape->mesh == NULL && (shape->type == STN_SHAPE_MESH || shape->type == STN_SHAPE_CONVEX)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "the mesh is not loaded");
    }
    stn_shape solid = surface_simplest(shape);
    surface_plan plan;
    stn_status status = surface_plan_make(&solid, fineness, false, max_triangles, &plan, err);
    if (status == STN_OK) {
        const field_core whole = {0};
        *built = surface_of_shape(context, &solid, &plan, &whole);
        *error = surface_is_round(&solid) ? surface_error_of(&solid, &plan, built) : (stn_surface_error){0};
    }
    return status;
}

static void set_normals(rigid_surface *s) {
    s->bounds = surface_bounds(s->vertices, s->vertex_count);
    for (int32_t t = 0; t < s->triangle_count; t++) {
        const int32_t *v = s->triangles + 3 * (size_t)t;
        stn_vec3 a = surface_point(s->vertices, v[0]);
        stn_vec3 n = stn_vec3_cross(stn_vec3_sub(surface_point(s->vertices, v[1]), a),
                                    stn_vec3_sub(surface_point(s->vertices, v[2]), a));
        s->normals[t] = stn_vec3_normalize_or(n, stn_vec3_make(0.0, 0.0, 1.0));
    }
}

stn_status rigid_surface_create(stn_context *context, const stn_shape *shape, const field_fineness *fineness,
                                int32_t max_triangles, rigid_surface **out, stn_error *err) {
    *out = NULL;
    surface_build built = surface_build_empty(context);
    stn_surface_error error = {0};
    stn_status status = build_surface(context, shape, fineness, max_triangles, &built, &error, err);
    if (status != STN_OK) {
        return status;
    }
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
                            .error = error};
    built.vertices = NULL;
    built.triangles = NULL;
    surface_build_clear(&built);
    set_normals(made);
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
