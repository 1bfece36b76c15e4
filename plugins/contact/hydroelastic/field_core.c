// SPDX-License-Identifier: Apache-2.0
// Cores of shapes: where they are deepest.
#include "field_build.h"

#include <string.h>

/// Sizes that differ by less than 1e-8 of the smaller one, or 1e-11 of the largest there is, count as equal, for their
/// tetrahedra would be flat.
static bool is_longer(double size, double than, double largest) {
    return size - than > fmax(1e-8 * than, 1e-11 * largest);
}

/// What is left of the box when its smallest half size is taken off every side: a point, a segment or a rectangle.
static void box_core(stn_vec3 half, double corners[12], field_core *core) {
    core->depth = fmin(half.x, fmin(half.y, half.z));
    const double size[3] = {half.x, half.y, half.z};
    double reach[3], largest = fmax(half.x, fmax(half.y, half.z));
    for (int32_t k = 0; k < 3; k++) {
        bool longer = is_longer(size[k], core->depth, largest);
        reach[k] = longer ? size[k] - core->depth : 0.0;
        core->bit[k] = longer ? core->count : 0;
        core->count *= longer ? 2 : 1;
    }
    for (int32_t i = 0; i < core->count; i++) {
        for (int32_t k = 0; k < 3; k++) {
            corners[3 * i + k] = (i & core->bit[k]) != 0 ? reach[k] : -reach[k];
        }
    }
}

static void segment_core(double reach, double corners[12], field_core *core) {
    core->count = 2;
    corners[2] = -reach;
    corners[5] = reach;
}

/// The side of a cylinder is that of a prism: a polygon lies below all of its faces at the same depth when its corners
/// lie behind their middles.
static stn_status disc_core(stn_context *context, double reach, int32_t around, field_core *core, stn_error *err) {
    core->count = around;
    core->regions = CYLINDER_SECTORS;
    core->vertices = stn_allocate(context, (size_t)around, 3 * sizeof(double));
    if (core->vertices == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for a pressure field");
    }
    for (int32_t i = 0; i < around; i++) {
        double angle = 2.0 * STN_PI * (i + 0.5) / around;
        surface_put(core->vertices, i, stn_vec3_make(reach * cos(angle), reach * sin(angle), 0.0));
    }
    return STN_OK;
}

static stn_status cylinder_core(stn_context *context, const stn_shape *shape, int32_t around, double corners[12],
                                field_core *core, stn_error *err) {
    double half_length = shape->half_length;
    double apothem = shape->radius * surface_prism_factor(around) * cos(STN_PI / around);
    core->depth = fmin(shape->radius, half_length);
    core->side = apothem;
    core->end = core->depth;
    if (is_longer(half_length, shape->radius, half_length)) {
        core->regions = CYLINDER_HALVES;
        segment_core(half_length - shape->radius, corners, core);
    } else if (is_longer(apothem, half_length, apothem)) {
        core->side = half_length;
        return disc_core(context, apothem - half_length, around, core, err);
    }
    return STN_OK;
}

/// The centroid; its depth is that of the nearest face.
static void hull_core(const stn_mesh *mesh, double corners[12], field_core *core) {
    const stn_polytope *p = mesh->polytope;
    stn_vec3 centroid = mesh->solid.com;
    surface_put(corners, 0, centroid);
    core->depth = INFINITY;
    for (int32_t f = 0; f < p->face_count; f++) {
        stn_vec3 normal = {p->planes[4 * f], p->planes[4 * f + 1], p->planes[4 * f + 2]};
        core->depth = fmin(core->depth, p->planes[4 * f + 3] - stn_vec3_dot(normal, centroid));
    }
}

stn_status field_core_make(stn_context *context, const stn_shape *shape, const surface_plan *plan, field_core *core,
                           stn_error *err) {
    double corners[12] = {0};
    stn_vec3 half = shape->half_extents;
    stn_status status = STN_OK;
    *core = (field_core){.count = 1, .depth = shape->radius};
    switch (shape->type) {
    case STN_SHAPE_ELLIPSOID:
        core->depth = fmin(half.x, fmin(half.y, half.z));
        break;
    case STN_SHAPE_BOX:
        box_core(half, corners, core);
        break;
    case STN_SHAPE_CAPSULE:
        if (shape->half_length > 0.0) {
            segment_core(shape->half_length, corners, core);
        }
        break;
    case STN_SHAPE_CYLINDER:
        status = cylinder_core(context, shape, plan->around, corners, core, err);
        break;
    case STN_SHAPE_CONVEX:
        hull_core(shape->mesh, corners, core);
        break;
    default: // a sphere: its centre
        break;
    }
    if (status != STN_OK || core->vertices != NULL) {
        return status;
    }
    core->vertices = stn_allocate(context, (size_t)core->count, 3 * sizeof(double));
    if (core->vertices == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for a pressure field");
    }
    memcpy(core->vertices, corners, (size_t)core->count * 3 * sizeof(double));
    return STN_OK;
}
