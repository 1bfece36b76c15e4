// SPDX-License-Identifier: Apache-2.0
// Surfaces of nodes against shapes, meshes, height fields, each other and themselves: the least distance that contacts
// tell is that of all triangles, found by means that know neither trees nor features; ids differ; nothing is lost.
#include "skin_probe.h"

#include <stiction/mesh.h>

#include "stn_random_pose.h"
#include "stn_random_shape.h"

// ------------------------------------------------------------------------------------------------------------ oracle

/// Signed distance of a point from a shape at the origin, from its definition.
static double shape_distance(const stn_shape *s, stn_vec3 p) {
    stn_vec3 h = s->half_extents;
    double rho = hypot(p.x, p.y), z = fabs(p.z);
    double x[3] = {fabs(p.x) - h.x, fabs(p.y) - h.y, fabs(p.z) - h.z}, side = rho - s->radius, cap = z - s->half_length;
    switch (s->type) {
    case STN_SHAPE_SPHERE:
        return stn_vec3_norm(p) - s->radius;
    case STN_SHAPE_CAPSULE:
        return hypot(rho, fmax(cap, 0.0)) - s->radius;
    case STN_SHAPE_BOX:
        return sqrt(pow(fmax(x[0], 0.0), 2.0) + pow(fmax(x[1], 0.0), 2.0) + pow(fmax(x[2], 0.0), 2.0)) +
               fmin(fmax(x[0], fmax(x[1], x[2])), 0.0);
    case STN_SHAPE_HALF_SPACE:
        return p.z;
    default: // a cylinder
        return hypot(fmax(side, 0.0), fmax(cap, 0.0)) + fmin(fmax(side, cap), 0.0);
    }
}

static stn_vec3 between(stn_vec3 a, stn_vec3 b, double t) {
    return stn_vec3_mul_add(a, t, stn_vec3_sub(b, a));
}

/// The least value on a segment of a function that is convex there, by golden sections.
typedef double along(const void *user, double t);
static double least_along(along *f, const void *user) {
    const double golden = 0.6180339887498949;
    double low = 0.0, high = 1.0, x = 1.0 - golden, y = golden, fx = f(user, x), fy = f(user, y);
    for (int32_t i = 0; i < 60; i++) {
        if (fx <= fy) {
            high = y;
            y = x;
            fy = fx;
            x = high - golden * (high - low);
            fx = f(user, x);
        } else {
            low = x;
            x = y;
            fx = fy;
            y = low + golden * (high - low);
            fy = f(user, y);
        }
    }
    return fmin(fmin(fx, fy), fmin(f(user, 0.0), f(user, 1.0)));
}

typedef struct searched {
    const stn_shape *shape;
    const stn_pose *pose;
    stn_vec3 corner[3], from, to;
} searched;

static double on_chord(const void *user, double t) {
    const searched *s = user;
    return shape_distance(s->shape, stn_pose_apply_inverse(s->pose, between(s->from, s->to, t)));
}

static double on_triangle(const void *user, double t) {
    searched s = *(const searched *)user;
    s.from = between(s.corner[0], s.corner[1], t);
    s.to = between(s.corner[0], s.corner[2], t);
    return least_along(on_chord, &s);
}

/// The least signed distance of any point of the surface from a convex shape: it is a convex function of the point.
static double brute_distance(const skin_probe *p, int32_t surface, int32_t shape) {
    const stn_surface *face = &p->model->surfaces[surface];
    const stn_geometry *g = &p->model->geometries[shape];
    double least = INFINITY;
    for (int32_t t = 0; t < face->triangle_count; t++) {
        searched s = {.shape = &g->shape, .pose = &g->pose};
        for (int32_t k = 0; k < 3; k++) {
            s.corner[k] = skin_probe_node(p, face->vertex[face->triangle[3 * t + k]]);
        }
        least = fmin(least, least_along(on_triangle, &s));
    }
    return least;
}

// ------------------------------------------------------------------------------------------------------------ shapes

static void crumple(skin_probe *p, stn_random *r, double amount) {
    for (int32_t i = 0; i < 3 * p->model->node_count; i++) {
        p->q[i] = p->model->q0[i] + random_between(r, -amount, amount);
    }
}

static const stn_shape_type types[] = {STN_SHAPE_SPHERE, STN_SHAPE_BOX, STN_SHAPE_CAPSULE, STN_SHAPE_CYLINDER,
                                       STN_SHAPE_HALF_SPACE};

/// Apart, the least distance; overlapping, a contact that says so.
static void distances_are_those_of_all_triangles(void **state) {
    (void)state;
    stn_random random = {1}, *r = &random;
    int32_t apart = 0, overlapping = 0;
    for (int32_t round = 0; round < 400; round++) {
        skin_probe p;
        skin_probe_begin(&p);
        skin_sheet sheet = skin_sheet_make(1 + random_below(r, 4), random_between(r, 0.2, 1.0));
        stn_surface_spec spec = stn_surface_spec_default();
        spec.triangle_count = sheet.triangle_count;
        spec.triangles = sheet.triangles;
        spec.thickness = round % 3 == 0 ? 0.0 : random_between(r, 0.001, 0.05);
        stn_shape_type type = types[round % STN_COUNT(types)];
        stn_shape shape = type == STN_SHAPE_HALF_SPACE
                              ? stn_shape_half_space()
                              : shape_of_sizes(type, random_between(r, 0.02, 0.3), random_between(r, 0.02, 0.3),
                                               random_between(r, 0.02, 0.3));
        stn_pose pose = random_pose(r, 0.7);
        bool first = random_below(r, 2) == 0;
        int32_t body = first ? skin_probe_shape(&p, shape, pose) : 0;
        int32_t skin = skin_probe_add(&p, sheet.position, sheet.nodes, &spec, NULL);
        body = first ? body : skin_probe_shape(&p, shape, pose);
        skin_probe_compile(&p);
        crumple(&p, r, 0.1);
        double brute = brute_distance(&p, 0, body) - spec.thickness;
        skin_probe_collide(&p, skin, body, 5.0);
        skin_probe_check(&p);
        double found = skin_probe_deepest(&p);
        if (brute + spec.thickness > 1e-9) {
            assert_near(found, brute, 1e-7);
            apart++;
            // far away asks for the nearest alone
            skin_probe_collide(&p, skin, body, 1e6);
            assert_near(skin_probe_deepest(&p), brute, 1e-7);
            // within a margin all have it
            skin_probe_collide(&p, skin, body, brute + 1e-3);
            assert_true(p.set.count > 0);
            for (int32_t i = 0; i < p.set.count; i++) {
                assert_true(p.set.contacts[i].phi0 <= brute + 1e-3);
            }
            skin_probe_collide(&p, skin, body, brute - 1e-6);
            assert_int_equal(p.set.count, 0);
        } else {
            assert_true(found <= 1e-9);
            overlapping++;
        }
        skin_sheet_free(&sheet);
        skin_probe_end(&p);
    }
    assert_true(apart > 100 && overlapping > 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_those_of_all_triangles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
