// SPDX-License-Identifier: Apache-2.0
// Fields of shapes.
#include "field_build.h"

const char *field_refuses(const stn_geometry *geometry) {
    if (geometry->field.volume_mesh >= 0) {
        return NULL;
    }
    switch (geometry->shape.type) {
    case STN_SHAPE_MESH:
        return "a surface of triangles has no inside: give a file of tetrahedra (.vtk, .msh), declare it convex, or "
               "leave it rigid (no modulus)";
    case STN_SHAPE_HEIGHT_FIELD:
        return "a height field cannot be compliant: leave it rigid (no modulus)";
    case STN_SHAPE_HALF_SPACE:
        return "a half space has no bounded field";
    default:
        return NULL;
    }
}

stn_status field_create(stn_context *context, const stn_shape *shape, const stn_mesh *volume,
                        const field_fineness *fineness, int32_t max_tetrahedra, field **out, stn_error *err) {
    *out = NULL;
    const stn_geometry geometry = {.shape = *shape, .field = stn_field_spec_unset()};
    stn_status status = surface_plan_check(fineness, err);
    if (status != STN_OK) {
        return status;
    }
    if (volume != NULL) {
        return field_of_mesh(context, volume, fineness->margin, max_tetrahedra, out, err);
    }
    const char *refused = field_refuses(&geometry);
    if (refused != NULL) {
        return stn_fail(err, STN_ERR_UNSUPPORTED, "%s", refused);
    }
    stn_shape solid = surface_simplest(shape);
    surface_plan plan;
    status = surface_plan_make(&solid, fineness, true, max_tetrahedra, &plan, err);
    if (status != STN_OK) {
        return status;
    }
    field_core core;
    status = field_core_make(context, &solid, &plan, &core, err);
    if (status != STN_OK) {
        return status;
    }
    // a box or cylinder is made larger by the margin, so that with e = -rim on its faces the zero level stays where it
    // was; the others are inflated
    double margin = fineness->margin, rim = margin / core.depth;
    stn_shape larger = solid;
    if (solid.type == STN_SHAPE_BOX) {
        larger.half_extents = stn_vec3_add(solid.half_extents, stn_vec3_make(margin, margin, margin));
    } else if (solid.type == STN_SHAPE_CYLINDER) { // neither side nor caps move by less
        rim = margin / fmin(core.side, core.end);
        larger.radius += rim * core.side / (surface_prism_factor(plan.around) * cos(STN_PI / plan.around));
        larger.half_length += rim * core.end;
    }
    surface_build s = surface_of_shape(context, &larger, &plan, &core);
    if (margin > 0.0 && !s.failed) {
        if (solid.type == STN_SHAPE_BOX || solid.type == STN_SHAPE_CYLINDER) {
            for (int32_t i = 0; i < s.vertex_count; i++) {
                s.extents[i] = -rim;
            }
        } else {
            surface_inflate(&s, &core, margin);
        }
    }
    status = field_join(&s, &core, out, err);
    stn_release(context, core.vertices);
    return status;
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
