// SPDX-License-Identifier: Apache-2.0
// The face of a triangle: the points that the body would have on its plane, as far as they lie over the triangle.
//
// That is the prism over the triangle, on both sides. Behind a concave edge the prisms leave a gap, which neighbours
// share by the plane that halves the angle at their edge: a point of the body that has sunk in there comes out of the
// face that it is nearest to.
#include "surface.h"

/// Does the body's point belong to the triangle? Behind a concave edge to that which the edge is bent towards, unless
/// something else of the surface is nearer to the point than the edge.
static bool is_over(const surface *s, const facet *f, const witness *w) {
    double tolerance = 1e-9 * s->size + 1e-7 * fabs(w->phi);
    for (int32_t k = 0; k < 3; k++) {
        double beyond = stn_vec3_dot(f->outward[k], stn_vec3_sub(w->b, f->corner[k])) - tolerance;
        int32_t other = s->across[3 * (size_t)f->id + (size_t)k];
        if (!(beyond > 0.0)) {
            continue;
        }
        if (!(w->phi < 0.0) || other < 0) {
            return false;
        }
        stn_vec3 n = surface_normal(s, other / 3);
        double cosine = stn_vec3_dot(n, f->normal), bend = 0.0; // tangent of half the angle by which it bends up
        if (cosine > -0.999) {
            bend = fmax(-stn_vec3_dot(n, f->outward[k]) / (1.0 + cosine), 0.0);
        }
        if (!(beyond <= -w->phi * bend)) {
            return false;
        }
        stn_vec3 along = stn_vec3_sub(f->corner[(k + 1) % 3], f->corner[k]), from = stn_vec3_sub(w->a, f->corner[k]);
        double t = clamp(stn_vec3_dot(from, along) / stn_vec3_dot(along, along), 0.0, 1.0);
        double distance = stn_vec3_norm(stn_vec3_mul_add(from, -t, along));
        stn_mesh_point nearer;
        if (stn_mesh_nearest(s->mesh, w->a, (1.0 - 1e-6) * distance, &nearer)) {
            return false;
        }
    }
    return true;
}

void surface_face_points(const surface *s, const facet *f) {
    static const stn_shape half_space = {.type = STN_SHAPE_HALF_SPACE};
    static collide_pair *const on_plane[STN_SHAPE_COUNT] = {
        [STN_SHAPE_SPHERE] = sphere_half_space,       [STN_SHAPE_BOX] = box_half_space,
        [STN_SHAPE_CAPSULE] = capsule_half_space,     [STN_SHAPE_CYLINDER] = cylinder_half_space,
        [STN_SHAPE_ELLIPSOID] = ellipsoid_half_space, [STN_SHAPE_CONVEX] = hull_half_space};
    plane_points *plane = s->plane;
    manifold *points = &plane->points;
    double height = stn_vec3_dot(f->normal, f->corner[0]);
    stn_vec3 turned = stn_vec3_sub(f->normal, plane->normal);
    if (!(fabs(height - plane->height) <= 1e-15 * s->size && stn_vec3_dot(turned, turned) <= 1e-30)) {
        plane->height = height;
        plane->normal = f->normal;
        stn_pose pose = stn_pose_identity();
        pose.rotation.m[0][2] = f->normal.x; // of which only the normal counts
        pose.rotation.m[1][2] = f->normal.y;
        pose.rotation.m[2][2] = f->normal.z;
        pose.position = f->corner[0];
        posed a = {s->body.shape, &s->body.pose}, b = {&half_space, &pose};
        points->count = 0;
        on_plane[s->body.shape->type](a, b, s->margin, points);
    }
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
