// SPDX-License-Identifier: Apache-2.0
// Fineness from a wanted edge length or from an error estimate.
#include "surface_plan.h"

/// Bytes of a tetrahedron with its share of vertices and of a search tree.
static const double field_bytes = 200.0;

static const double steps_max = 3e4; // so that counts stay in int32_t before they are compared

static int32_t steps_of(double wanted) {
    return (int32_t)fmax(1.0, fmin(steps_max, ceil(wanted * (1.0 - 1e-12)))); // NaN gives 1
}

/// Relative error of the force at a depth of 5 % of the radius, worst of all directions: 8 / steps^4 (README).
static double sphere_steps(double radius, const field_fineness *f) {
    const double side = 1.1071487177940904; // angle between neighbouring corners of an icosahedron [rad]
    return isnan(f->resolution) ? sqrt(sqrt(8.0 / f->error)) : side * radius / f->resolution;
}

/// A face of 4 n^2 squares of two triangles each, every one of which counts at its centroid: 1 / (8 n^2) of the moment
/// that holds the face against tilting is missing.
static double box_steps(stn_vec3 half, const field_fineness *f) {
    double longest = fmax(half.x, fmax(half.y, half.z));
    return isnan(f->resolution) ? sqrt(0.125 / f->error) : longest / f->resolution;
}

static surface_plan plan_at(const stn_shape *shape, const field_fineness *f) {
    surface_plan plan = {.steps = 1};
    double n;
    switch (shape->type) {
    case STN_SHAPE_SPHERE:
        plan.steps = steps_of(sphere_steps(shape->radius, f));
        n = plan.steps;
        plan.triangles = 20.0 * n * n;
        break;
    case STN_SHAPE_BOX:
        plan.steps = steps_of(box_steps(shape->half_extents, f));
        n = plan.steps;
        plan.triangles = 48.0 * n * n;
        plan.joins = 16.0 * n + 16.0;
        break;
    default:
        break;
    }
    return plan;
}

static double mean_size(const stn_shape *shape) {
    return fmax(shape->radius, fmax(shape->half_extents.x, fmax(shape->half_extents.y, shape->half_extents.z)));
}

stn_status surface_plan_make(const stn_shape *shape, const field_fineness *fineness, bool solid, int32_t max_count,
                             surface_plan *plan, stn_error *err) {
    *plan = plan_at(shape, fineness);
    double count = plan->triangles + (solid ? plan->joins : 0.0);
    if (count <= max_count) {
        return STN_OK;
    }
    field_fineness fitting = *fineness;
    fitting.resolution = isnan(fineness->resolution) ? 1e-3 * mean_size(shape) : fineness->resolution;
    for (int32_t i = 0; i < 1000; i++) {
        surface_plan trial = plan_at(shape, &fitting);
        if (trial.triangles + (solid ? trial.joins : 0.0) <= max_count) {
            break;
        }
        fitting.resolution *= 1.05;
    }
    return stn_fail(err, STN_ERR_ARGUMENT,
                    "%s: %.3g %s (about %.0f MB) are more than the %d that are allowed: give a resolution of %.2g m or "
                    "more",
                    stn_shape_name(shape->type), count, solid ? "tetrahedra" : "triangles", count * field_bytes * 1e-6,
                    max_count, fitting.resolution);
}
