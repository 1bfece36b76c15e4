// SPDX-License-Identifier: Apache-2.0
// Fields of shapes: which there are, and where their cores lie.
#include "field_build.h"
#include "surface_plan.h"

const char *field_refuses(const stn_geometry *geometry) {
    switch (geometry->shape.type) {
    case STN_SHAPE_SPHERE:
    case STN_SHAPE_BOX:
        return NULL;
    case STN_SHAPE_MESH:
        return "a surface of triangles has no inside: give a file of tetrahedra (.vtk, .msh), declare it convex, or "
               "leave "
               "it rigid (no modulus)";
    case STN_SHAPE_HEIGHT_FIELD:
        return "a height field cannot be compliant: leave it rigid (no modulus)";
    case STN_SHAPE_HALF_SPACE:
        return "a half space has no bounded field";
    default:
        return "no pressure field is known for this shape";
    }
}

/// Moves vertices away from the centre by the factor 1 + s, where e continues to -s: the zero level stays.
static void inflate_about_centre(surface_build *s, double by) {
    for (int32_t i = 0; i < s->vertex_count; i++) {
        surface_put(s->vertices, i, stn_vec3_scale(1.0 + by, surface_point(s->vertices, i)));
        s->extents[i] = -by;
    }
}

/// Smallest distance of the origin from a triangle's plane.
static double inner_radius(const surface_build *s) {
    double smallest = INFINITY;
    for (int32_t t = 0; t < s->triangle_count; t++) {
        const int32_t *v = s->triangles + 3 * (size_t)t;
        stn_vec3 a = surface_point(s->vertices, v[0]);
        stn_vec3 n = stn_vec3_cross(stn_vec3_sub(surface_point(s->vertices, v[1]), a),
                                    stn_vec3_sub(surface_point(s->vertices, v[2]), a));
        smallest = fmin(smallest, stn_vec3_dot(a, n) / stn_vec3_norm(n));
    }
    return smallest;
}

static stn_status sphere_field(stn_context *context, double radius, const surface_plan *plan, double margin,
                               field **out, stn_error *err) {
    surface_build s = surface_of_sphere(context, radius, plan->steps);
    if (margin > 0.0 && !s.failed) {
        inflate_about_centre(&s, margin / inner_radius(&s));
    }
    const double centre[3] = {0};
    field_core core = {.count = 1, .vertices = centre};
    return field_join(&s, &core, radius, out, err);
}

/// The core is what is left of the box when its smallest half size is taken off every side: a point, a segment or a
/// rectangle. Sides that differ by less than 1e-8 count as equal, for their tetrahedra would be flat.
static stn_status box_field(stn_context *context, stn_vec3 half, const surface_plan *plan, double margin, field **out,
                            stn_error *err) {
    double depth = fmin(half.x, fmin(half.y, half.z));
    double reach[3] = {half.x - depth, half.y - depth, half.z - depth}, corners[12];
    int32_t bit[3], count = 1;
    for (int32_t k = 0; k < 3; k++) {
        reach[k] = reach[k] > 1e-8 * depth ? reach[k] : 0.0;
        bit[k] = reach[k] > 0.0 ? count : 0;
        count *= reach[k] > 0.0 ? 2 : 1;
    }
    for (int32_t i = 0; i < count; i++) {
        for (int32_t k = 0; k < 3; k++) {
            corners[3 * i + k] = (i & bit[k]) != 0 ? reach[k] : -reach[k];
        }
    }
    stn_vec3 inflated = {half.x + margin, half.y + margin, half.z + margin};
    surface_build s = surface_of_box(context, inflated, bit, plan->steps);
    for (int32_t i = 0; i < s.vertex_count; i++) {
        s.extents[i] = -margin / depth;
    }
    field_core core = {.count = count, .vertices = corners};
    return field_join(&s, &core, depth, out, err);
}

static stn_status check_fineness(const field_fineness *f, stn_error *err) {
    if (!isnan(f->resolution) && !(f->resolution > 0.0 && isfinite(f->resolution))) {
        return stn_fail(err, STN_ERR_ARGUMENT, "resolution = %g m must be > 0 and finite", f->resolution);
    }
    if (isnan(f->resolution) && !(f->error > 0.0 && f->error <= 1.0)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "error = %g must be > 0 and at most 1 where no resolution is given",
                        f->error);
    }
    if (!(f->margin >= 0.0 && isfinite(f->margin))) {
        return stn_fail(err, STN_ERR_ARGUMENT, "margin = %g m must be >= 0 and finite", f->margin);
    }
    return STN_OK;
}

stn_status field_create(stn_context *context, const stn_shape *shape, const stn_mesh *volume,
                        const field_fineness *fineness, int32_t max_tetrahedra, field **out, stn_error *err) {
    *out = NULL;
    surface_plan plan;
    stn_status status = check_fineness(fineness, err);
    if (status == STN_OK) {
        status = surface_plan_make(shape, fineness, true, max_tetrahedra, &plan, err);
    }
    if (status != STN_OK) {
        return status;
    }
    (void)volume;
    switch (shape->type) {
    case STN_SHAPE_SPHERE:
        return sphere_field(context, shape->radius, &plan, fineness->margin, out, err);
    case STN_SHAPE_BOX:
        return box_field(context, shape->half_extents, &plan, fineness->margin, out, err);
    default:
        return stn_fail(err, STN_ERR_UNSUPPORTED, "no pressure field is known for a %s", stn_shape_name(shape->type));
    }
}

void field_destroy(stn_context *context, field *f) {
    if (f != NULL) {
        stn_release(context, f->vertices);
        stn_release(context, f->extents);
        stn_release(context, f->tetrahedra);
        stn_release(context, f->neighbours);
        stn_release(context, f->gradients);
        stn_release(context, f->offsets);
        stn_release(context, f);
    }
}
