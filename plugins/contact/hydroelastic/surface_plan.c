// SPDX-License-Identifier: Apache-2.0
// Fineness of every shape.
#include "surface_plan.h"

static const double parts_max = 3e4; // so that counts are compared before they are used

/// At least `least`, and a multiple of it.
static int32_t parts_of(double wanted, int32_t least) {
    double parts = fmax(1.0, fmin(parts_max, ceil(wanted * (1.0 - 1e-12) / least))); // NaN gives 1
    return (int32_t)parts * least;
}

// The constants below are errors at one part, the worst of all directions, that the test of each shape holds them to.

/// Angle between neighbouring corners of an icosahedron [rad].
static const double sphere_side = 1.1071487177940904;

/// Round: the force at a depth of 5 % of the radius errs by 8 / steps^4.
static void plan_sphere(double radius, const field_fineness *f, surface_plan *plan) {
    plan->steps = parts_of(isnan(f->resolution) ? sqrt(sqrt(8.0 / f->error)) : sphere_side * radius / f->resolution, 1);
    plan->triangles = 20.0 * plan->steps * plan->steps;
}

static int32_t bands_of(double half_length, const field_fineness *f) {
    return isnan(f->resolution) ? 2 : parts_of(2.0 * half_length / f->resolution, 2);
}

/// Counts are bounds: split sides are at least h / 2.
static void plan_hull(const stn_mesh *mesh, const field_fineness *f, surface_plan *plan) {
    const stn_polytope *p = mesh->polytope;
    double area = 0.0, sides = 0.0;
    for (int32_t i = 0; i < p->face_count; i++) {
        stn_vec3 sum = stn_vec3_zero();
        int32_t start = p->face_start[i], count = p->face_start[i + 1] - start;
        for (int32_t k = 0; k < count; k++) {
            const double *a = mesh->vertices + 3 * (size_t)p->face_vertices[start + k];
            const double *b = mesh->vertices + 3 * (size_t)p->face_vertices[start + (k + 1) % count];
            const double *o = mesh->vertices + 3 * (size_t)p->face_vertices[start];
            stn_vec3 u = {a[0] - o[0], a[1] - o[1], a[2] - o[2]}, v = {b[0] - o[0], b[1] - o[1], b[2] - o[2]};
            sum = stn_vec3_mul_add(sum, 0.5, stn_vec3_cross(u, v));
            sides += stn_vec3_norm(stn_vec3_sub(u, v));
        }
        area += stn_vec3_norm(sum);
        plan->triangles += count > 3 ? count : 1;
    }
    plan->edge = isnan(f->resolution) ? (double)INFINITY : f->resolution;
    plan->triangles += 6.0 * area / (plan->edge * plan->edge) + 5.0 * sides / plan->edge;
}

static surface_plan plan_at(const stn_shape *shape, const field_fineness *f) {
    surface_plan plan = {.steps = 1};
    stn_vec3 half = shape->half_extents;
    double radius = shape->radius, longest = fmax(half.x, fmax(half.y, half.z));
    bool from_error = isnan(f->resolution);
    switch (shape->type) {
    case STN_SHAPE_SPHERE:
        plan_sphere(radius, f, &plan);
        break;
    case STN_SHAPE_ELLIPSOID: // stretching changes no relative error
        plan_sphere(longest, f, &plan);
        break;
    // Flat sides are exact however coarse they are: faces divide them where friction needs it (face_add.c). So without
    // a resolution every quarter of a side has two triangles, and what is straight two bands.
    case STN_SHAPE_BOX:
        plan.steps = from_error ? 1 : parts_of(longest / f->resolution, 1);
        plan.triangles = 48.0 * plan.steps * plan.steps;
        plan.joins = 16.0 * plan.steps + 16.0;
        break;
    case STN_SHAPE_CAPSULE:
        plan.steps = parts_of(from_error ? sqrt(sqrt(120.0 / f->error)) : 0.5 * STN_PI * radius / f->resolution, 1);
        plan.bands = shape->half_length > 0.0 ? bands_of(shape->half_length, f) : 0;
        plan.triangles = 8.0 * plan.steps * (plan.steps + plan.bands);
        plan.joins = 4.0 * plan.steps;
        break;
    // On its side the force at a depth of 5 % of that of the field errs by 3.4 / (sectors / 4)^3, or by (radius /
    // depth)^1.5 as much when it is short; of coins thinner than 1 : 4 by more.
    case STN_SHAPE_CYLINDER: {
        double slender = fmin(4.0, radius / fmin(radius, shape->half_length));
        double around = 4.0 * sqrt(slender) * cbrt(3.4 / f->error);
        plan.around = parts_of(from_error ? around : 2.0 * STN_PI * radius / f->resolution, 8);
        plan.rings = from_error ? 1 : parts_of(radius / f->resolution, 1);
        plan.bands = bands_of(shape->half_length, f);
        plan.triangles = 2.0 * plan.around * (2.0 * plan.rings - 1.0 + plan.bands);
        plan.joins = plan.around * (plan.bands + 4.0);
        break;
    }
    case STN_SHAPE_CONVEX:
        plan_hull(shape->mesh, f, &plan);
        break;
    case STN_SHAPE_MESH:
    case STN_SHAPE_HEIGHT_FIELD: // as they are
        plan.triangles = shape->mesh->triangle_count;
        break;
    default:
        break;
    }
    return plan;
}

double surface_plan_length(const stn_shape *shape, const surface_plan *plan) {
    stn_vec3 half = shape->half_extents;
    switch (shape->type) {
    case STN_SHAPE_SPHERE:
        return sphere_side * shape->radius / plan->steps;
    case STN_SHAPE_ELLIPSOID:
        return sphere_side * fmax(half.x, fmax(half.y, half.z)) / plan->steps;
    case STN_SHAPE_CAPSULE:
        return 0.5 * STN_PI * shape->radius / plan->steps;
    case STN_SHAPE_CYLINDER:
        return 2.0 * STN_PI * shape->radius / plan->around;
    default:
        return 0.0;
    }
}

static double count_of(const surface_plan *plan, bool solid) {
    return plan->triangles + (solid ? plan->joins : 0.0);
}

stn_status surface_plan_check(const field_fineness *f, stn_error *err) {
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

stn_status surface_plan_make(const stn_shape *shape, const field_fineness *fineness, bool solid, int32_t max_count,
                             surface_plan *plan, stn_error *err) {
    stn_status status = surface_plan_check(fineness, err);
    stn_pose origin = stn_pose_identity();
    stn_aabb box = stn_shape_aabb(shape, &origin, 0.0);
    stn_vec3 size = stn_vec3_sub(box.upper, box.lower);
    double longest = fmax(size.x, fmax(size.y, size.z));
    if (status == STN_OK && !(longest >= 1e-90 && longest <= 1e90)) {
        status = stn_fail(err, STN_ERR_ARGUMENT, "%s: of %g m, but only from 1e-90 to 1e90 m can volumes be computed",
                          stn_shape_name(shape->type), longest);
    }
    if (status != STN_OK) {
        return status;
    }
    *plan = plan_at(shape, fineness);
    double count = count_of(plan, solid);
    if (count <= max_count) {
        return STN_OK;
    }
    field_fineness fitting = *fineness;
    double least = count_of(plan, solid);
    fitting.resolution = isnan(fineness->resolution) ? 1e-4 * longest : fineness->resolution;
    for (; least > max_count && fitting.resolution < longest; fitting.resolution *= 1.02) {
        surface_plan trial = plan_at(shape, &fitting);
        least = count_of(&trial, solid);
    }
    const char *name = stn_shape_name(shape->type), *what = solid ? "tetrahedra" : "triangles";
    if (least > max_count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: at least %.3g %s are needed, more than the %d that are allowed",
                        name, least, what, max_count);
    }
    return stn_fail(err, STN_ERR_ARGUMENT,
                    "%s: %.3g %s (about %.0f MB) are more than the %d that are allowed: give a resolution of %.3g m or "
                    "more",
                    name, count, what, count * surface_plan_bytes * 1e-6, max_count, fitting.resolution);
}
