// SPDX-License-Identifier: Apache-2.0
// Surfaces of triangles to put bodies on.
#ifndef STN_POINT_TERRAIN_H
#define STN_POINT_TERRAIN_H

#include <string.h>

#include "point_hulls.h"
#include "point_scene.h"

enum { TERRAIN_SIDE_MAX = 64 };

/// Height over (x, y).
typedef double terrain_height(double x, double y);

static inline double level(double x, double y) {
    (void)x;
    (void)y;
    return 0.0;
}

/// A grid over |x|, |y| <= half with both coordinates shaken by up to a quarter of a cell and either diagonal, turned
/// by `pose`. With `needles` some rows are 1e-6 of a cell high.
static inline stn_mesh *terrain_mesh(stn_random *r, stn_context *context, int32_t side, double half, bool needles,
                                     terrain_height *height, const stn_pose *pose) {
    static stn_vec3 points[TERRAIN_SIDE_MAX * TERRAIN_SIDE_MAX];
    static int32_t ids[6 * TERRAIN_SIDE_MAX * TERRAIN_SIDE_MAX];
    int32_t count = 0;
    double cell = 2.0 * half / (side - 1), line[TERRAIN_SIDE_MAX];
    for (int32_t i = 0; i < side; i++) {
        line[i] = needles && i % 3 == 1 ? line[i - 1] + 1e-6 * cell : -half + i * cell;
    }
    for (int32_t i = 0; i < side * side; i++) {
        bool border = i % side == 0 || i % side == side - 1 || i / side == 0 || i / side == side - 1 || needles;
        double shake = border ? 0.0 : 0.25 * cell;
        double x = -half + (i % side) * cell + shake * random_between(r, -1.0, 1.0);
        double y = line[i / side] + shake * random_between(r, -1.0, 1.0);
        points[i] = stn_pose_apply(pose, stn_vec3_make(x, y, height(x, y)));
    }
    for (int32_t i = 0; i < (side - 1) * (side - 1); i++) {
        int32_t a = i / (side - 1) * side + i % (side - 1), b = a + 1, c = b + side, d = a + side;
        const int32_t one[6] = {a, b, c, a, c, d}, other[6] = {a, b, d, b, c, d};
        memcpy(ids + count, random_below(r, 2) == 0 ? one : other, sizeof one);
        count += 6;
    }
    const stn_mesh_data data = {side * side, count / 3, 0, (const double *)points, ids, NULL, NULL};
    stn_mesh *mesh;
    stn_error err;
    assert_ok(stn_mesh_create(context, &data, &mesh, &err), err);
    return mesh;
}

static inline stn_mesh *terrain_field(stn_context *context, int32_t side, double half, terrain_height *height) {
    static double heights[TERRAIN_SIDE_MAX * TERRAIN_SIDE_MAX];
    for (int32_t i = 0; i < side * side; i++) {
        heights[i] = height(-half + 2.0 * half * (i % side) / (side - 1), -half + 2.0 * half * (i / side) / (side - 1));
    }
    const stn_height_field_spec spec = {side, side, 2.0 * half, 2.0 * half, heights};
    stn_mesh *mesh;
    stn_error err;
    assert_ok(stn_mesh_create_height_field(context, &spec, &mesh, &err), err);
    return mesh;
}

/// The surface of a box, each side of n x n squares.
static inline stn_mesh *terrain_box(stn_context *context, stn_vec3 h, int32_t n) {
    static stn_vec3 points[6 * TERRAIN_SIDE_MAX * TERRAIN_SIDE_MAX];
    static int32_t ids[36 * TERRAIN_SIDE_MAX * TERRAIN_SIDE_MAX];
    int32_t vertices = 0, count = 0;
    for (int32_t face = 0; face < 6; face++) {
        double side = face % 2 == 0 ? 1.0 : -1.0;
        for (int32_t i = 0; i <= n; i++) {
            for (int32_t j = 0; j <= n; j++) {
                double p[3] = {(2.0 * i - n) / n, side * (2.0 * j - n) / n, side};
                int32_t a = face / 2;
                double q[3];
                q[(a + 1) % 3] = p[0];
                q[(a + 2) % 3] = p[1];
                q[a] = p[2];
                if (i < n && j < n) {
                    int32_t v = vertices, w = v + n + 1;
                    const int32_t two[6] = {v, w, w + 1, v, w + 1, v + 1};
                    memcpy(ids + count, two, sizeof two);
                    count += 6;
                }
                points[vertices++] = stn_vec3_make(h.x * q[0], h.y * q[1], h.z * q[2]);
            }
        }
    }
    const stn_mesh_data data = {vertices, count / 3, 0, (const double *)points, ids, NULL, NULL};
    stn_mesh *mesh;
    stn_error err;
    assert_ok(stn_mesh_create(context, &data, &mesh, &err), err);
    assert_true(mesh->solid.mass > 0.0);
    return mesh;
}

static inline double smallest_phi(const stn_contact_set *set) {
    double least = INFINITY;
    for (int32_t i = 0; i < set->count; i++) {
        least = fmin(least, set->contacts[i].phi0);
    }
    return least;
}

#endif
