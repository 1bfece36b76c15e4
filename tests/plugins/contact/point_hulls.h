// SPDX-License-Identifier: Apache-2.0
// Convex hulls to put into contact.
#ifndef STN_POINT_HULLS_H
#define STN_POINT_HULLS_H

#include <stiction/mesh.h>

#include "stn_random_pose.h"
#include "stn_test.h"

enum { HULL_POINTS_MAX = 4000 };

static inline stn_mesh *hull_of_points(stn_context *context, const stn_vec3 *points, int32_t count) {
    static int32_t ids[3 * HULL_POINTS_MAX];
    stn_mesh *mesh, *hull;
    stn_error err;
    assert_true(count <= HULL_POINTS_MAX);
    for (int32_t i = 0; i < 3 * count; i++) {
        ids[i] = (i / 3 + i % 3) % count;
    }
    const stn_mesh_data data = {count, count, 0, (const double *)points, ids, NULL, NULL};
    assert_ok(stn_mesh_create(context, &data, &mesh, &err), err);
    assert_ok(stn_mesh_create_hull(mesh, &hull, &err), err);
    stn_mesh_release(mesh);
    return hull;
}

/// Points on an ellipsoid of these semi-axes about `centre`.
static inline stn_mesh *hull_blob(stn_random *r, stn_context *context, int32_t count, stn_vec3 h, stn_vec3 centre) {
    static stn_vec3 points[HULL_POINTS_MAX];
    for (int32_t i = 0; i < count; i++) {
        stn_vec3 p = random_unit(r);
        points[i] = stn_vec3_add(centre, stn_vec3_make(h.x * p.x, h.y * p.y, h.z * p.z));
    }
    return hull_of_points(context, points, count);
}

/// Over a regular polygon around z, |z| <= h.z.
static inline stn_mesh *hull_prism(stn_context *context, int32_t sides, stn_vec3 h) {
    static stn_vec3 points[HULL_POINTS_MAX];
    for (int32_t i = 0; i < 2 * sides; i++) {
        double angle = 2.0 * STN_PI * (i / 2) / sides;
        points[i] = stn_vec3_make(h.x * cos(angle), h.y * sin(angle), i % 2 == 0 ? h.z : -h.z);
    }
    return hull_of_points(context, points, 2 * sides);
}

static inline stn_mesh *hull_box(stn_context *context, stn_vec3 h) {
    stn_vec3 points[8];
    for (int32_t i = 0; i < 8; i++) {
        points[i] = stn_vec3_make((i & 1) != 0 ? h.x : -h.x, (i & 2) != 0 ? h.y : -h.y, (i & 4) != 0 ? h.z : -h.z);
    }
    return hull_of_points(context, points, 8);
}

/// A blob beside its frame's origin, a prism or a box.
static inline stn_mesh *hull_random(stn_random *r, stn_context *context, stn_vec3 h) {
    int32_t kind = random_below(r, 4);
    if (kind == 0) {
        return hull_box(context, h);
    }
    if (kind == 1) {
        return hull_prism(context, 3 + random_below(r, 18), h);
    }
    return hull_blob(r, context, 4 + random_below(r, kind == 2 ? 8 : 60), h, random_vec3(r, 1.0));
}

#endif
