// SPDX-License-Identifier: Apache-2.0
// What bodies rest on over meshes and height fields: supports, grooves, ways out, and what becomes of degenerate ones.
#include "point_terrain.h"

static stn_context *context_of(void **state) {
    return ((probe *)*state)->context;
}

static double valley(double x, double y) {
    (void)y;
    return fabs(x);
}

static double bumps(double x, double y) {
    return 0.3 * sin(2.0 * x) * cos(3.0 * y);
}

static void a_body_larger_than_the_mesh_rests_on_its_corners(void **state) {
    stn_mesh *mesh = terrain_box(context_of(state), stn_vec3_make(0.2, 0.1, 0.1), 3);
    placed block = at(stn_shape_mesh(mesh), 0.0, 0.0, -0.1);
    stn_mesh *plate = hull_box(context_of(state), stn_vec3_make(1.0, 1.0, 0.1));
    const placed above[] = {box_at(1.0, 1.0, 0.1, 0.1, 0.2, 0.1 - depth),
                            at(stn_shape_cylinder(1.0, 0.1), 0.1, 0.2, 0.1 - depth),
                            at(stn_shape_mesh(plate), 0.1, 0.2, 0.1 - depth)};
    for (int32_t i = 0; i < STN_COUNT(above); i++) {
        for (int32_t k = 0; k < 3; k++) { // level, and tilted by next to nothing
            placed body = turned(above[i], 1e-9 * (k - 1), 1e-9 * k, 0.0);
            const stn_contact_set *set = touch(state, block, body, 0.01);
            assert_true(set->count >= 4 && set->count <= 8);
            for (int32_t c = 0; c < 4; c++) {
                bool found = false;
                for (int32_t j = 0; j < set->count; j++) {
                    stn_vec3 p = set->contacts[j].point;
                    found = found || hypot(p.x - (c & 1 ? 0.2 : -0.2), p.y - (c & 2 ? 0.1 : -0.1)) < 1e-6;
                    assert_near(set->contacts[j].normal.z, 1.0, 1e-12);
                    assert_near(set->contacts[j].phi0, -depth, 1e-7);
                }
                assert_true(found);
            }
        }
    }
    stn_mesh_release(mesh);
    stn_mesh_release(plate);
}

static void a_log_across_a_plank_rests_on_its_two_edges(void **state) {
    stn_mesh *mesh = terrain_box(context_of(state), stn_vec3_make(0.1, 1.0, 0.1), 4);
    placed plank = at(stn_shape_mesh(mesh), 0.0, 0.0, -0.1);
    const stn_shape logs[] = {stn_shape_cylinder(0.05, 0.5), stn_shape_capsule(0.05, 0.5)};
    for (int32_t i = 0; i < 2; i++) {
        for (int32_t k = 0; k < 3; k++) {
            placed log = turned(at(logs[i], 0.0, 0.1, 0.05 - depth), 0.0, 0.5 * STN_PI + 1e-6 * (k - 1), 0.0);
            const stn_contact_set *set = touch(state, plank, log, 0.01);
            assert_int_equal(set->count, 2);
            assert_near(fabs(set->contacts[0].point.x - set->contacts[1].point.x), 0.2, 1e-6);
            assert_near(smallest_phi(set), -depth, 2e-7);
        }
    }
    stn_mesh_release(mesh);
}

static void a_body_in_a_groove_has_points_on_both_sides(void **state) {
    stn_mesh *field = terrain_field(context_of(state), 41, 2.0, valley);
    placed ground = at(stn_shape_mesh(field), 0.0, 0.0, 0.0);
    placed ball = at(stn_shape_sphere(0.3), 0.0, 0.03, 0.3 * sqrt(2.0) - depth * sqrt(2.0));
    placed beam =
        turned(box_at(0.2, 0.7, 0.2, 0.0, 0.03, 0.2 * sqrt(2.0) - depth * sqrt(2.0)), 0.0, 0.25 * STN_PI, 0.0);
    const placed bodies[] = {ball, beam};
    for (int32_t i = 0; i < 2; i++) {
        const stn_contact_set *set = touch(state, ground, bodies[i], 0.01);
        int32_t left = 0, right = 0;
        for (int32_t k = 0; k < set->count; k++) {
            const stn_contact *c = &set->contacts[k];
            assert_near(c->phi0, -depth, 1e-12);
            assert_near(fabs(c->normal.x), sqrt(0.5), 1e-12);
            *(c->normal.x > 0.0 ? &left : &right) += 1;
        }
        assert_int_equal(left, i == 0 ? 1 : 4);
        assert_int_equal(right, left);
    }
    stn_mesh_release(field);
}

/// Sunk in by less than half, everything comes back out on the side that the triangles look to; from behind nothing.
static void a_surface_is_met_from_its_outside_alone(void **state) {
    stn_random r = {3};
    const stn_pose own = stn_pose_identity();
    stn_mesh *sheet = terrain_mesh(&r, context_of(state), 24, 2.0, false, level, &own);
    placed ground = at(stn_shape_mesh(sheet), 0.0, 0.0, 0.0);
    const stn_shape shapes[] = {stn_shape_sphere(0.3), stn_shape_box(stn_vec3_make(0.3, 0.3, 0.3)),
                                stn_shape_cylinder(0.3, 0.3), stn_shape_capsule(0.15, 0.15),
                                stn_shape_ellipsoid(stn_vec3_make(0.2, 0.25, 0.3))};
    for (int32_t i = 0; i < STN_COUNT(shapes); i++) {
        for (int32_t k = 0; k <= 30; k++) {
            double z = 0.35 - 0.02 * k; // of the middle
            const stn_contact_set *set = touch(state, ground, at(shapes[i], 0.11, 0.07, z), 0.1);
            if (z > -0.14) {
                assert_near(smallest_phi(set), z - 0.3, 1e-12);
                assert_near(set->contacts[0].normal.z, 1.0, 1e-12);
            } else if (z < -0.16) {
                assert_int_equal(set->count, 0);
            }
        }
    }
    stn_mesh_release(sheet);
}

static void the_far_side_of_a_plate_is_not_felt(void **state) {
    stn_mesh *plate = terrain_box(context_of(state), stn_vec3_make(1.0, 1.0, 0.005), 8);
    placed ground = at(stn_shape_mesh(plate), 0.0, 0.0, -0.005);
    for (int32_t k = 0; k < 20; k++) {
        double sunk = 1e-3 * k;
        const stn_contact_set *set = touch(state, ground, box_at(0.2, 0.2, 0.1, 0.3, 0.1, 0.1 - sunk), 0.01);
        assert_int_equal(set->count, 4);
        assert_near(smallest_phi(set), -sunk, 1e-12);
        assert_near(set->contacts[0].normal.z, 1.0, 1e-12);
    }
    stn_mesh_release(plate);
}

/// A sheet with a fin below that hangs on one of its inner edges, which three triangles share: a border of each.
static stn_mesh *finned_sheet(stn_context *context) {
    static const double points[] = {-1, -1, 0, 0, -1, 0, 1, -1, 0, -1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 0, -0.5};
    static const int32_t ids[] = {0, 1, 4, 0, 4, 3, 1, 2, 5, 1, 5, 4, 1, 4, 6};
    const stn_mesh_data data = {7, 5, 0, points, ids, NULL, NULL};
    stn_mesh *mesh;
    stn_error err;
    assert_ok(stn_mesh_create(context, &data, &mesh, &err), err);
    return mesh;
}

/// Sunk in and leaning by next to nothing, what stands on a fin comes out upwards, not as far as to its own side.
static void a_fin_below_a_sheet_is_not_felt(void **state) {
    stn_mesh *sheet = finned_sheet(context_of(state));
    placed ground = at(stn_shape_mesh(sheet), 0.0, 0.0, 0.0);
    const stn_shape shapes[] = {stn_shape_cylinder(0.1, 0.1), stn_shape_box(stn_vec3_make(0.1, 0.1, 0.1))};
    for (int32_t i = 0; i < STN_COUNT(shapes); i++) {
        for (int32_t k = -20; k <= 20; k++) {
            double sunk = 1e-9 * (k + 20);
            placed body = turned(at(shapes[i], 0.0, 0.0, 0.1 - sunk), 0.0, 5e-9 * k, 0.0);
            const stn_contact_set *set = touch(state, ground, body, 1e-3);
            assert_true(set->count >= 3);
            for (int32_t c = 0; c < set->count; c++) {
                assert_near(set->contacts[c].normal.z, 1.0, 1e-6);
            }
        }
    }
    stn_mesh_release(sheet);
}

/// However deep, the middle of a body below a height field or inside a solid has a way out, and points know their side.
static void what_is_buried_comes_out(void **state) {
    stn_mesh *field = terrain_field(context_of(state), 30, 2.0, level);
    stn_mesh *solid = terrain_box(context_of(state), stn_vec3_make(1.0, 1.2, 1.4), 5);
    for (int32_t k = 0; k < 12; k++) {
        double z = -0.13 * k;
        placed ball = at(stn_shape_sphere(0.1), 0.21, 0.13, z), can = at(stn_shape_cylinder(0.1, 0.1), 0.21, 0.13, z);
        assert_near(smallest_phi(touch(state, at(stn_shape_mesh(field), 0.0, 0.0, 0.0), ball, 0.1)), z - 0.1, 1e-9);
        assert_near(smallest_phi(touch(state, at(stn_shape_mesh(field), 0.0, 0.0, 0.0), can, 0.1)), z - 0.1, 1e-9);
    }
    stn_random r = {8};
    for (int32_t k = 0; k < 200; k++) {
        stn_vec3 p = {random_between(&r, -2.0, 2.0), random_between(&r, -2.0, 2.0), random_between(&r, -2.0, 2.0)};
        placed point = {stn_shape_sphere(1e-9), {stn_mat3_identity(), p}};
        placed ground = at(stn_shape_mesh(solid), 0.0, 0.0, 0.0), box = box_at(1.0, 1.2, 1.4, 0.0, 0.0, 0.0);
        double expected = smallest_phi(touch(state, box, point, 1e9));
        assert_near(smallest_phi(touch(state, ground, point, 1e9)), expected, 1e-9);
    }
    stn_mesh_release(field);
    stn_mesh_release(solid);
}

/// Exchanged, the answer is the same to the last bit; normals are unit, numbers finite, ids different; a small motion
/// changes the distance by no more than it can.
static void answers_are_symmetric_finite_and_continuous(void **state) {
    static const double sizes[] = {1e-4, 1.0, 1e4};
    stn_random r = {13};
    for (int32_t i = 0; i < 600; i++) {
        double size = sizes[i % 3];
        stn_pose stretch = {stn_mat3_identity(), stn_vec3_zero()};
        stretch.rotation.m[0][0] = stretch.rotation.m[1][1] = stretch.rotation.m[2][2] = size;
        stn_mesh *mesh = terrain_mesh(&r, context_of(state), 12, 2.0, i % 4 == 0, bumps, &stretch);
        stn_vec3 h = {random_size(&r, 0.02, 0.5), random_size(&r, 0.02, 0.5), random_size(&r, 0.02, 0.5)};
        h = stn_vec3_scale(size, h);
        stn_mesh *hull = hull_blob(&r, context_of(state), 20, h, stn_vec3_zero());
        const stn_shape shapes[] = {stn_shape_sphere(h.x),        stn_shape_box(h),       stn_shape_capsule(h.x, h.y),
                                    stn_shape_cylinder(h.x, h.y), stn_shape_ellipsoid(h), stn_shape_mesh(hull)};
        placed ground = {stn_shape_mesh(mesh), random_pose(&r, size)}, body = {shapes[i / 3 % 6], random_pose(&r, 0.0)};
        stn_vec3 place = {random_between(&r, -1.5, 1.5), random_between(&r, -1.5, 1.5), random_between(&r, -0.3, 0.8)};
        body.pose.position = stn_pose_apply(&ground.pose, stn_vec3_scale(size, place));
        stn_contact first[128];
        const stn_contact_set *set = touch(state, ground, body, 0.3 * size);
        int32_t count = set->count;
        assert_true(count <= 96);
        for (int32_t k = 0; k < count; k++) {
            first[k] = set->contacts[k];
        }
        double phi = smallest_phi(set);
        set = touch(state, body, ground, 0.3 * size);
        assert_int_equal(set->count, count);
        for (int32_t k = 0; k < count; k++) {
            const stn_contact *c = &set->contacts[k];
            assert_true(c->phi0 == first[k].phi0 && stn_vec3_norm(stn_vec3_sub(c->point, first[k].point)) == 0.0 &&
                        stn_vec3_norm(stn_vec3_add(c->normal, first[k].normal)) == 0.0);
            assert_true(isfinite(c->phi0) && fabs(stn_vec3_norm(c->normal) - 1.0) < 1e-12);
            for (int32_t other = 0; other < k; other++) {
                assert_true(c->id != set->contacts[other].id);
            }
        }
        placed nudged = body;
        nudged.pose.position = stn_vec3_mul_add(body.pose.position, 1e-7 * size, random_unit(&r));
        double after = smallest_phi(touch(state, nudged, ground, 0.3 * size));
        if (phi > 0.0 && phi < 0.29 * size) {
            assert_near(after, phi, (1e-7 + (i % 4 == 0 ? 1e-6 : 1e-10)) * size);
        }
        stn_mesh_release(mesh);
        stn_mesh_release(hull);
    }
}

static void a_steady_step_allocates_nothing(void **state) {
    stn_random r = {4};
    const stn_pose own = stn_pose_identity();
    stn_mesh *mesh = terrain_mesh(&r, context_of(state), 20, 2.0, false, bumps, &own);
    stn_mesh *field = terrain_field(context_of(state), 20, 2.0, bumps);
    int64_t before = 0;
    for (int32_t i = 0; i < 400; i++) {
        before = i == 20 ? stn_context_allocations(context_of(state)) : before;
        placed ground = at(stn_shape_mesh(i % 2 == 0 ? mesh : field), 0.0, 0.0, 0.0);
        placed body = {stn_shape_box(stn_vec3_make(0.3, 0.2, 0.1)), random_pose(&r, 1.0)};
        touch(state, ground, body, i % 5 == 0 ? 1e9 : 0.1);
    }
    assert_int_equal(stn_context_allocations(context_of(state)), before);
    stn_mesh_release(mesh);
    stn_mesh_release(field);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        REST(a_body_larger_than_the_mesh_rests_on_its_corners),
        REST(a_log_across_a_plank_rests_on_its_two_edges),
        REST(a_body_in_a_groove_has_points_on_both_sides),
        REST(a_surface_is_met_from_its_outside_alone),
        REST(the_far_side_of_a_plate_is_not_felt),
        REST(a_fin_below_a_sheet_is_not_felt),
        REST(what_is_buried_comes_out),
        REST(answers_are_symmetric_finite_and_continuous),
        REST(a_steady_step_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
