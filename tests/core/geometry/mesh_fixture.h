// SPDX-License-Identifier: Apache-2.0
// Meshes for tests: loose triangles, every corner a vertex of its own, that are added piece by piece.
#ifndef MESH_FIXTURE_H
#define MESH_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include <stiction/mesh.h>

#include "stn_context.h"
#include "stn_random_pose.h"
#include "stn_test.h"

typedef struct soup {
    int32_t triangle_count, capacity;
    stn_vec3 *corner; // (triangle_count x 3)
} soup;

static inline void soup_add(soup *s, stn_vec3 a, stn_vec3 b, stn_vec3 c) {
    if (s->triangle_count == s->capacity) {
        s->capacity = 2 * s->capacity + 12;
        s->corner = realloc(s->corner, 3 * (size_t)s->capacity * sizeof *s->corner);
        assert_non_null(s->corner);
    }
    stn_vec3 *corner = s->corner + 3 * (size_t)s->triangle_count++;
    corner[0] = a;
    corner[1] = b;
    corner[2] = c;
}

static inline void soup_add_quad(soup *s, stn_vec3 a, stn_vec3 b, stn_vec3 c, stn_vec3 d) {
    soup_add(s, a, b, c);
    soup_add(s, a, c, d);
}

/// Twelve triangles, outward; inward when `inward`.
static inline void soup_add_box(soup *s, stn_vec3 lower, stn_vec3 upper, bool inward) {
    stn_vec3 p[8];
    for (int32_t i = 0; i < 8; i++) {
        p[i] = stn_vec3_make((i & 1) != 0 ? upper.x : lower.x, (i & 2) != 0 ? upper.y : lower.y,
                             (i & 4) != 0 ? upper.z : lower.z);
    }
    static const int32_t face[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                       {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    for (int32_t i = 0; i < 6; i++) {
        const int32_t *f = face[i];
        soup_add_quad(s, p[f[0]], p[f[inward ? 3 : 1]], p[f[2]], p[f[inward ? 1 : 3]]);
    }
}

static inline void soup_add_cube(soup *s, double half) {
    soup_add_box(s, stn_vec3_make(-half, -half, -half), stn_vec3_make(half, half, half), false);
}

/// Four triangles for one, `levels` times; the new corners on the unit sphere.
static inline void soup_add_refined(soup *s, stn_vec3 a, stn_vec3 b, stn_vec3 c, int32_t levels) {
    if (levels == 0) {
        soup_add(s, a, b, c);
        return;
    }
    stn_vec3 up = {0.0, 0.0, 1.0};
    stn_vec3 ab = stn_vec3_normalize_or(stn_vec3_add(a, b), up), bc = stn_vec3_normalize_or(stn_vec3_add(b, c), up),
             ca = stn_vec3_normalize_or(stn_vec3_add(c, a), up);
    soup_add_refined(s, a, ab, ca, levels - 1);
    soup_add_refined(s, ab, b, bc, levels - 1);
    soup_add_refined(s, ca, bc, c, levels - 1);
    soup_add_refined(s, ab, bc, ca, levels - 1);
}

/// The unit sphere: an octahedron, refined.
static inline void soup_add_sphere(soup *s, int32_t levels) {
    for (int32_t i = 0; i < 8; i++) {
        double x = (i & 1) != 0 ? 1.0 : -1.0, y = (i & 2) != 0 ? 1.0 : -1.0, z = (i & 4) != 0 ? 1.0 : -1.0;
        stn_vec3 a = {x, 0.0, 0.0}, b = {0.0, y, 0.0}, c = {0.0, 0.0, z};
        bool outward = x * y * z > 0.0;
        soup_add_refined(s, a, outward ? b : c, outward ? c : b, levels);
    }
}

/// The prism over an L of outer sides 2, inner corner at (1, 1), between z = 0 and z = 3.
static inline void soup_add_l_solid(soup *s) {
    static const double xy[6][2] = {{0.0, 0.0}, {2.0, 0.0}, {2.0, 1.0}, {1.0, 1.0}, {1.0, 2.0}, {0.0, 2.0}};
    stn_vec3 low[6], high[6];
    for (int32_t i = 0; i < 6; i++) {
        low[i] = stn_vec3_make(xy[i][0], xy[i][1], 0.0);
        high[i] = stn_vec3_make(xy[i][0], xy[i][1], 3.0);
    }
    for (int32_t i = 0; i < 6; i++) {
        int32_t k = (i + 1) % 6;
        soup_add_quad(s, low[i], low[k], high[k], high[i]);
    }
    static const int32_t part[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}};
    for (int32_t i = 0; i < 4; i++) {
        soup_add(s, high[part[i][0]], high[part[i][1]], high[part[i][2]]);
        soup_add(s, low[part[i][0]], low[part[i][2]], low[part[i][1]]);
    }
}

static inline void soup_move(soup *s, const stn_pose *pose) {
    for (int32_t i = 0; i < 3 * s->triangle_count; i++) {
        s->corner[i] = stn_pose_apply(pose, s->corner[i]);
    }
}

static inline void soup_stretch(soup *s, stn_vec3 factor) {
    for (int32_t i = 0; i < 3 * s->triangle_count; i++) {
        stn_vec3 p = s->corner[i];
        s->corner[i] = stn_vec3_make(p.x * factor.x, p.y * factor.y, p.z * factor.z);
    }
}

/// The mesh of a soup, which is emptied.
static inline stn_status soup_try(soup *s, stn_context *context, stn_mesh **out, stn_error *err) {
    int32_t *ids = malloc(3 * (size_t)s->triangle_count * sizeof *ids + 1);
    assert_non_null(ids);
    for (int32_t i = 0; i < 3 * s->triangle_count; i++) {
        ids[i] = i;
    }
    stn_mesh_data data = {.vertex_count = 3 * s->triangle_count,
                          .triangle_count = s->triangle_count,
                          .vertices = (const double *)s->corner,
                          .triangles = ids};
    stn_status status = stn_mesh_create(context, &data, out, err);
    free(ids);
    free(s->corner);
    *s = (soup){0};
    return status;
}

static inline stn_mesh *soup_mesh(soup *s, stn_context *context) {
    stn_mesh *mesh = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(soup_try(s, context, &mesh, &err), err);
    return mesh;
}

/// Triangles between the points in the order in which they come: their hull is that of the points.
static inline stn_mesh *mesh_of_points(stn_context *context, const stn_vec3 *points, int32_t count) {
    soup s = {0};
    for (int32_t i = 0; i < count; i++) {
        soup_add(&s, points[i], points[(i + 1) % count], points[(i + 2) % count]);
    }
    return soup_mesh(&s, context);
}

static inline stn_vec3 mesh_vertex_at(const stn_mesh *mesh, int32_t i) {
    const double *v = mesh->vertices + 3 * (size_t)i;
    return stn_vec3_make(v[0], v[1], v[2]);
}

static inline stn_vec3 mesh_corner(const stn_mesh *mesh, int32_t triangle, int32_t k) {
    const double *p = mesh->vertices + 3 * (size_t)mesh->triangles[3 * triangle + k];
    return stn_vec3_make(p[0], p[1], p[2]);
}

/// Not of unit length: twice the area.
static inline stn_vec3 mesh_normal(const stn_mesh *mesh, int32_t triangle) {
    stn_vec3 a = mesh_corner(mesh, triangle, 0);
    return stn_vec3_cross(stn_vec3_sub(mesh_corner(mesh, triangle, 1), a),
                          stn_vec3_sub(mesh_corner(mesh, triangle, 2), a));
}

/// Volume as height times base over one point, summed in long double: not the code under test.
static inline double mesh_cone_volume(const stn_mesh *mesh) {
    stn_vec3 apex = mesh_corner(mesh, 0, 0);
    long double sum = 0.0L;
    for (int32_t i = 0; i < mesh->triangle_count; i++) {
        sum += (long double)stn_vec3_dot(mesh_normal(mesh, i), stn_vec3_sub(mesh_corner(mesh, i, 0), apex));
    }
    return (double)(sum / 6.0L);
}

static inline void assert_same_solid(const stn_mass *a, const stn_mass *b, double tolerance) {
    assert_near(a->mass, b->mass, tolerance);
    assert_near(stn_vec3_norm(stn_vec3_sub(a->com, b->com)), 0.0, tolerance);
    for (int32_t i = 0; i < 9; i++) {
        assert_near(a->inertia.m[i / 3][i % 3], b->inertia.m[i / 3][i % 3], tolerance);
    }
}

/// A box of unit density.
static inline stn_mass box_solid(stn_vec3 lower, stn_vec3 upper) {
    stn_shape box = stn_shape_box(stn_vec3_scale(0.5, stn_vec3_sub(upper, lower)));
    stn_mass mass;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_shape_mass(&box, stn_shape_volume(&box), &mass, &err), err);
    mass.com = stn_vec3_scale(0.5, stn_vec3_add(lower, upper));
    return mass;
}

#endif
