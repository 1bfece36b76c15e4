// SPDX-License-Identifier: Apache-2.0
// Convex bodies against meshes and height fields.
#include <string.h>

#include "point_terrain.h"

static stn_context *context_of(void **state) {
    return ((probe *)*state)->context;
}

enum { MOVERS = 6 };

/// One of each convex shape, of about half a metre times `size`.
static void movers(stn_random *r, stn_context *context, double size, stn_shape *shapes) {
    stn_vec3 h = {size * random_between(r, 0.2, 0.6), size * random_between(r, 0.2, 0.6),
                  size * random_between(r, 0.2, 0.6)};
    shapes[0] = stn_shape_sphere(h.x);
    shapes[1] = stn_shape_box(h);
    shapes[2] = stn_shape_capsule(0.5 * h.x, h.y);
    shapes[3] = stn_shape_cylinder(h.x, h.y);
    shapes[4] = stn_shape_ellipsoid(h);
    shapes[5] = stn_shape_mesh(hull_blob(r, context, 30, h, stn_vec3_make(0.1 * size, 0.0, 0.2 * size)));
}

static bool has_same(const stn_contact_set *set, const stn_contact *c, double tolerance) {
    for (int32_t i = 0; i < set->count; i++) {
        const stn_contact *o = &set->contacts[i];
        if (stn_vec3_norm(stn_vec3_sub(o->point, c->point)) < tolerance && fabs(o->phi0 - c->phi0) < tolerance &&
            stn_vec3_norm(stn_vec3_sub(o->normal, c->normal)) < 1e-9) {
            return true;
        }
    }
    return false;
}

/// Any triangles in a plane are that plane: the same points, distances and normals, edges or not.
static void a_plane_of_triangles_answers_like_a_half_space(void **state) {
    stn_random r = {3};
    static const double sizes[] = {1e-4, 1.0, 1e4};
    for (int32_t i = 0; i < 240; i++) {
        stn_shape shapes[MOVERS];
        double size = sizes[i % 3];
        movers(&r, context_of(state), size, shapes);
        stn_pose tilt = random_pose(&r, size), world = random_pose(&r, size);
        stn_mesh *mesh = i % 8 == 7
                             ? terrain_field(context_of(state), 30, 8.0 * size, level)
                             : terrain_mesh(&r, context_of(state), 4 + i % 40, 8.0 * size, i % 4 == 1, level, &tilt);
        tilt = i % 8 == 7 ? stn_pose_identity() : tilt;
        placed ground = {stn_shape_mesh(mesh), world}, plane = {stn_shape_half_space(), stn_pose_mul(&world, &tilt)};
        placed body = {shapes[i / 3 % MOVERS], random_pose(&r, size)};
        body.pose.rotation = i % 5 == 0 ? plane.pose.rotation : body.pose.rotation;
        stn_vec3 up = stn_mat3_column(&plane.pose.rotation, 2);
        body.pose.position = stn_vec3_mul_add(plane.pose.position, 3.0 * size, up);
        double gap = smallest_phi(touch(state, body, plane, 1e9));
        double target = random_between(&r, -0.1, 0.1) * size;
        body.pose.position = stn_vec3_mul_add(body.pose.position, target - gap, up);
        const stn_contact_set *set = touch(state, body, plane, 0.2 * size);
        int32_t count = set->count;
        stn_contact expected[16];
        memcpy(expected, set->contacts, (size_t)count * sizeof *expected);
        set = touch(state, body, ground, 0.2 * size);
        assert_int_equal(set->count, count);
        for (int32_t k = 0; k < count; k++) {
            assert_true(has_same(set, &expected[k], 1e-9 * size));
        }
        stn_mesh_release(mesh);
        stn_mesh_release(shapes[5].mesh);
    }
}

/// The surface of a box is the box: apart, and sunk in by a little.
static void a_closed_mesh_of_a_box_answers_like_the_box(void **state) {
    stn_random r = {5};
    int32_t failures = 0, others = 0;
    double worst = 0.0;
    for (int32_t i = 0; i < 1200; i++) {
        stn_shape shapes[MOVERS];
        movers(&r, context_of(state), 1.0, shapes);
        stn_vec3 h = {random_between(&r, 0.3, 1.0), random_between(&r, 0.3, 1.0), random_between(&r, 0.3, 1.0)};
        stn_mesh *mesh = terrain_box(context_of(state), h, 1 + i % 4);
        placed ground = {stn_shape_mesh(mesh), random_pose(&r, 1.0)}, box = {stn_shape_box(h), ground.pose};
        placed body = {shapes[i % MOVERS], random_pose(&r, 1.0)};
        body.pose.rotation = i % 5 == 0 ? box.pose.rotation : body.pose.rotation;
        body.pose.position = stn_vec3_mul_add(ground.pose.position, 3.0, random_unit(&r));
        double gap = i % 2 == 0 ? random_between(&r, 1e-6, 0.5) : -random_between(&r, 0.0, 2e-3);
        for (int32_t k = 0; k < 3; k++) {
            const stn_contact_set *set = touch(state, body, box, 1e9);
            const stn_contact *deepest = &set->contacts[0];
            for (int32_t c = 1; c < set->count; c++) {
                deepest = set->contacts[c].phi0 < deepest->phi0 ? &set->contacts[c] : deepest;
            }
            body.pose.position = stn_vec3_mul_add(body.pose.position, deepest->phi0 - gap, deepest->normal);
        }
        double expected = smallest_phi(touch(state, body, box, 1.0)),
               found = smallest_phi(touch(state, body, ground, 1.0));
        double error = fabs(found - expected);
        worst = fmax(worst, gap > 0.0 ? error : 0.0);
        bool another = gap < 0.0 && found < expected && found > 1.25 * expected; // two ways out of nearly one depth
        others += another && error > 1e-9;
        if (!(error <= 1e-9 || another)) {
            failures++;
            print_message("case %d, %s: %.12g instead of %.12g\n", i, stn_shape_name(body.shape.type), found, expected);
        }
        stn_mesh_release(mesh);
        stn_mesh_release(shapes[5].mesh);
    }
    print_message("apart: worst error %.2g m; in overlap: %d of 600 report a deeper way out beside\n", worst, others);
    assert_int_equal(failures, 0);
    assert_true(others < 90);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        REST(a_plane_of_triangles_answers_like_a_half_space),
        REST(a_closed_mesh_of_a_box_answers_like_the_box),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
