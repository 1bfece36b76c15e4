// SPDX-License-Identifier: Apache-2.0
// The face of a triangle: the points that the body would have on its plane, as far as they lie over the triangle.
//
// That is the prism over the triangle, on both sides. Behind a concave edge the prisms leave a gap, which neighbours
// share by the plane that halves the angle at their edge: a point of the body that has sunk in there comes out of the
// face that it is nearest to.
#include "surface.h"

/// Tangent of half the angle by which the surface bends up over edge k; 0 where it does not.
static double bend(const surface *s, const facet *f, int32_t k) {
    int32_t other = s->across[3 * (size_t)f->id + (size_t)k];
    if (other < 0) {
        return 0.0;
    }
    stn_vec3 n = surface_normal(s, other / 3);
    double cosine = stn_vec3_dot(n, f->normal);
    return cosine > -0.999 ? fmax(-stn_vec3_dot(n, f->outward[k]) / (1.0 + cosine), 0.0) : 0.0;
}

/// Behind a concave edge: nothing of the surface is nearer to the point than the edge.
static bool is_in_gap(const surface *s, const facet *f, int32_t k, stn_vec3 point) {
    stn_vec3 along = stn_vec3_sub(f->corner[(k + 1) % 3], f->corner[k]), w = stn_vec3_sub(point, f->corner[k]);
    double t = clamp(stn_vec3_dot(w, along) / stn_vec3_dot(along, along), 0.0, 1.0);
    double distance = stn_vec3_norm(stn_vec3_mul_add(w, -t, along));
    stn_mesh_point nearer;
    return !stn_mesh_nearest(s->mesh, point, (1.0 - 1e-6) * distance, &nearer);
}

/// Does the body's point belong to the triangle?
static bool is_over(const surface *s, const facet *f, const witness *w) {
    double tolerance = 1e-9 * s->size + 1e-7 * fabs(w->phi);
    for (int32_t k = 0; k < 3; k++) {
        double beyond = stn_vec3_dot(f->outward[k], stn_vec3_sub(w->b, f->corner[k])) - tolerance;
        if (beyond > 0.0 && !(w->phi < 0.0 && beyond <= -w->phi * bend(s, f, k) && is_in_gap(s, f, k, w->a))) {
            return false;
        }
    }
    return true;
}

static void lowest_points(const surface *s, const facet *f, manifold *out) {
    static const stn_shape plane = {.type = STN_SHAPE_HALF_SPACE};
    stn_pose pose = stn_pose_identity();
    pose.rotation.m[0][2] = f->normal.x; // of which only the normal counts
    pose.rotation.m[1][2] = f->normal.y;
    pose.rotation.m[2][2] = f->normal.z;
    pose.position = f->corner[0];
    posed a = {s->body.shape, &s->body.pose}, b = {&plane, &pose};
    out->count = 0;
    switch (s->body.shape->type) {
    case STN_SHAPE_SPHERE:
        sphere_half_space(a, b, s->margin, out);
        break;
    case STN_SHAPE_BOX:
        box_half_space(a, b, s->margin, out);
        break;
    case STN_SHAPE_CAPSULE:
        capsule_half_space(a, b, s->margin, out);
        break;
    case STN_SHAPE_CYLINDER:
        cylinder_half_space(a, b, s->margin, out);
        break;
    case STN_SHAPE_ELLIPSOID:
        ellipsoid_half_space(a, b, s->margin, out);
        break;
    default:
        hull_half_space(a, b, s->margin, out);
    }
}

static const manifold *points_on_plane(const surface *s, const facet *f) {
    plane_points *plane = s->plane;
    double height = stn_vec3_dot(f->normal, f->corner[0]);
    stn_vec3 turned = stn_vec3_sub(f->normal, plane->normal);
    if (!(fabs(height - plane->height) <= 1e-15 * s->size && stn_vec3_dot(turned, turned) <= 1e-30)) {
        plane->height = height;
        plane->normal = f->normal;
        lowest_points(s, f, &plane->points);
    }
    return &plane->points;
}

void surface_face_points(const surface *s, const facet *f) {
    const manifold *points = points_on_plane(s, f);
    bool checked = false;
    for (int32_t i = 0; i < points->count; i++) {
        const witness *w = &points->points[i];
        if (!is_over(s, f, w)) {
            continue;
        }
        if (!checked && surface_is_passed(s, f->normal, f->corner[0])) {
            return;
        }
        checked = true;
        surface_add(s, w->a, w->b, f->normal, w->feature_a, (uint32_t)f->id);
    }
}
