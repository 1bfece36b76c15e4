// SPDX-License-Identifier: Apache-2.0
// Contact points between two posed shapes: what the files of this plugin share.
#ifndef STN_PLUGIN_CONTACT_POINT_PAIR_H
#define STN_PLUGIN_CONTACT_POINT_PAIR_H

#include <stiction/mesh.h>
#include <stiction/plugin.h>

/// A point of contact: where the surfaces of A and B are nearest along the normal.
typedef struct witness {
    stn_vec3 a, b;                 // on the two surfaces, world [m]
    stn_vec3 normal;               // unit, from A into B, world
    double phi;                    // normal . (b - a) [m]
    uint32_t feature_a, feature_b; // what touches, on each side: the same while the same corner, edge, ... touches
} witness;

enum { MANIFOLD_CAPACITY = 48 };
typedef struct manifold {
    int32_t count, limit; // limit: how many of the points will stay
    witness points[MANIFOLD_CAPACITY];
} manifold;

/// A shape in the world.
typedef struct posed {
    const stn_shape *shape;
    const stn_pose *pose;
} posed;

/// Appends a point with both sides given; nothing when it is full. Member by member, as a record that is built first
/// and copied then is read in larger pieces than it was written, and processors wait for that.
static inline void manifold_add_both(manifold *m, stn_vec3 a, stn_vec3 b, stn_vec3 normal, uint32_t feature_a,
                                     uint32_t feature_b) {
    if (m->count < MANIFOLD_CAPACITY) {
        witness *w = &m->points[m->count++];
        w->a = a;
        w->b = b;
        w->normal = normal;
        w->phi = stn_vec3_dot(normal, stn_vec3_sub(b, a));
        w->feature_a = feature_a;
        w->feature_b = feature_b;
    }
}
/// Appends a point whose B side lies at a + phi normal.
static inline void manifold_add(manifold *m, stn_vec3 a, stn_vec3 normal, double phi, uint32_t feature_a,
                                uint32_t feature_b) {
    if (m->count < MANIFOLD_CAPACITY) {
        witness *w = &m->points[m->count++];
        w->a = a;
        w->b = stn_vec3_mul_add(a, phi, normal);
        w->normal = normal;
        w->phi = phi;
        w->feature_a = feature_a;
        w->feature_b = feature_b;
    }
}
/// Keeps at most `limit` points in their old order: the deepest, then again and again the one that adds most to the
/// polygon that those kept span, seen along the normal. Points that hang higher than those that touch come last.
void manifold_reduce(manifold *m, int32_t limit);
/// The same whatever the depths, with the outermost point instead of the deepest.
void manifold_thin(manifold *m, int32_t limit);
/// The point of smallest phi; there must be one.
const witness *manifold_deepest(const manifold *m);
/// Smallest phi; infinite when there are no points.
double manifold_depth(const manifold *m);

// One function a pair of types. Each adds the points with phi <= margin.
typedef void collide_pair(posed a, posed b, double margin, manifold *out);
collide_pair sphere_sphere, sphere_box, sphere_capsule, sphere_cylinder;
collide_pair sphere_half_space, box_half_space, capsule_half_space, cylinder_half_space;
collide_pair box_box, box_capsule, box_cylinder;
collide_pair capsule_capsule, capsule_cylinder, cylinder_cylinder;
collide_pair sphere_ellipsoid, ellipsoid_half_space, convex_ellipsoid; // the last: A is anything but those
collide_pair sphere_hull, hull_half_space, convex_hull;                // also of box, capsule, cylinder

/// Signed distance of a point from a box, capsule, cylinder or ellipsoid, everything in the shape's frame; the nearest
/// surface point and the outward unit normal there. On a tie the lowest axis decides.
double closest_point(const stn_shape *shape, stn_vec3 p, stn_vec3 *surface, stn_vec3 *normal);
/// A sphere against what closest_point knows.
collide_pair sphere_shape;
double closest_on_ellipsoid(stn_vec3 semi_axes, stn_vec3 p, stn_vec3 *surface, stn_vec3 *normal);

/// Pose of B seen from A.
static inline stn_pose relative_pose(const stn_pose *a, const stn_pose *b) {
    stn_mat3 back = stn_mat3_transpose(&a->rotation);
    stn_pose r = {stn_mat3_mul(&back, &b->rotation), stn_mat3_apply(&back, stn_vec3_sub(b->position, a->position))};
    return r;
}

static inline double box_size(stn_vec3 lower, stn_vec3 upper) {
    return 0.5 * (upper.x - lower.x + upper.y - lower.y + upper.z - lower.z);
}
/// Of a hull also as far as rounding in its coordinates asks for, when it lies far from its frame's origin.
static inline double shape_size(const stn_shape *s) {
    if (s->mesh != NULL) {
        stn_vec3 lower = s->mesh->bounds.lower, upper = s->mesh->bounds.upper;
        return box_size(lower, upper) + 1e-4 * stn_vec3_norm(stn_vec3_add(lower, upper));
    }
    return s->radius + s->half_length + s->half_extents.x + s->half_extents.y + s->half_extents.z;
}
/// The length that tolerances of a pair are measured by: the smaller body's, as far as rounding in the coordinates of a
/// larger one allows.
static inline double pair_size(const stn_shape *a, const stn_shape *b) {
    double s = shape_size(a), t = shape_size(b);
    return (s < t ? s : t) + 1e-4 * (s < t ? t : s);
}

static inline double clamp(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

#endif
