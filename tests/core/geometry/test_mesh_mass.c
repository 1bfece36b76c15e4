// SPDX-License-Identifier: Apache-2.0
#include "mesh_fixture.h"

static stn_vec3 vec(double x, double y, double z) {
    return stn_vec3_make(x, y, z);
}

static void a_box_of_triangles_weighs_what_a_box_does(void **state) {
    stn_random r = {1};
    for (int32_t i = 0; i < 50; i++) {
        stn_vec3 lower = random_vec3(&r, 1.0);
        stn_vec3 upper =
            stn_vec3_add(lower, vec(random_size(&r, 0.1, 2.0), random_size(&r, 0.1, 2.0), random_size(&r, 0.1, 2.0)));
        stn_pose pose = random_pose(&r, 2.0);
        soup s = {0};
        soup_add_box(&s, lower, upper, false);
        soup_move(&s, &pose);
        stn_mesh *mesh = soup_mesh(&s, *state);
        stn_mass box = box_solid(lower, upper), expected = stn_mass_transform(&pose, &box);
        assert_same_solid(&mesh->solid, &expected, 1e-13 * (1.0 + expected.mass));
        stn_mesh_release(mesh);
    }
}

/// Corner at the origin, legs a, b, c along the axes: with V = abc/6 the integrals of x^2 and xy are V a^2/10 and V
/// ab/20.
static void a_tetrahedron_has_its_closed_form(void **state) {
    double a = 0.7, b = 1.1, c = 1.9, volume = a * b * c / 6.0;
    soup s = {0};
    stn_vec3 o = vec(0.0, 0.0, 0.0), x = vec(a, 0.0, 0.0), y = vec(0.0, b, 0.0), z = vec(0.0, 0.0, c);
    soup_add(&s, o, y, x);
    soup_add(&s, o, x, z);
    soup_add(&s, o, z, y);
    soup_add(&s, x, y, z);
    stn_mesh *mesh = soup_mesh(&s, *state);
    assert_near(mesh->solid.mass, volume, 1e-15);
    assert_near(stn_vec3_norm(stn_vec3_sub(mesh->solid.com, vec(a / 4.0, b / 4.0, c / 4.0))), 0.0, 1e-15);
    const double leg[3] = {a, b, c};
    for (int32_t i = 0; i < 3; i++) {
        double p = leg[(i + 1) % 3], q = leg[(i + 2) % 3];
        assert_near(mesh->solid.inertia.m[i][i], volume * (1.0 / 10.0 - 1.0 / 16.0) * (p * p + q * q), 1e-15);
        assert_near(mesh->solid.inertia.m[(i + 1) % 3][(i + 2) % 3], -volume * (1.0 / 20.0 - 1.0 / 16.0) * p * q,
                    1e-15);
    }
    stn_mesh_release(mesh);
}

static void an_l_is_the_sum_of_two_boxes(void **state) {
    soup s = {0};
    soup_add_l_solid(&s);
    stn_mesh *mesh = soup_mesh(&s, *state);
    stn_mass long_part = box_solid(vec(0.0, 0.0, 0.0), vec(2.0, 1.0, 3.0));
    stn_mass short_part = box_solid(vec(0.0, 1.0, 0.0), vec(1.0, 2.0, 3.0));
    stn_mass expected = stn_mass_add(&long_part, &short_part);
    assert_same_solid(&mesh->solid, &expected, 1e-13);
    assert_int_equal(mesh->facts.open_edge_count, 0);
    assert_near(mesh->facts.area, 8.0 * 3.0 + 2.0 * 3.0, 1e-13);
    stn_mesh_release(mesh);
}

static void a_cavity_is_taken_away(void **state) {
    soup s = {0};
    soup_add_box(&s, vec(-1.0, -1.0, -1.0), vec(1.0, 1.0, 1.0), false);
    soup_add_box(&s, vec(0.0, 0.0, 0.0), vec(0.5, 0.5, 0.5), true);
    stn_mesh *mesh = soup_mesh(&s, *state);
    stn_mass outer = box_solid(vec(-1.0, -1.0, -1.0), vec(1.0, 1.0, 1.0));
    stn_mass inner = box_solid(vec(0.0, 0.0, 0.0), vec(0.5, 0.5, 0.5)), filled = stn_mass_add(&mesh->solid, &inner);
    assert_near(mesh->solid.mass, 7.875, 1e-14);
    assert_same_solid(&filled, &outer, 1e-13);
    stn_mesh_release(mesh);
}

static void parts_of_opposite_sign_that_are_no_body_give_no_solid(void **state) {
    soup s = {0};
    soup_add_box(&s, vec(-1.0, -1.0, -1.0), vec(1.0, 1.0, 1.0), false);
    soup_add_box(&s, vec(5.0, 5.0, 5.0), vec(6.5, 6.5, 6.5), true); // a hole in nothing
    stn_mesh *mesh = soup_mesh(&s, *state);
    assert_near(mesh->facts.volume, 8.0 - 3.375, 1e-12);
    assert_true(mesh->solid.mass == 0.0);
    stn_mesh_release(mesh);
}

static void a_sheet_with_two_sides_gives_no_solid(void **state) {
    stn_random r = {2};
    for (int32_t i = 0; i < 20; i++) {
        stn_pose pose = random_pose(&r, 10.0);
        soup s = {0};
        soup_add_quad(&s, vec(0.0, 0.0, 0.0), vec(1.0, 0.0, 0.0), vec(1.0, 1.0, 0.0), vec(0.0, 1.0, 0.0));
        soup_add_quad(&s, vec(0.0, 1.0, 0.0), vec(1.0, 1.0, 0.0), vec(1.0, 0.0, 0.0), vec(0.0, 0.0, 0.0));
        soup_move(&s, &pose);
        stn_mesh *mesh = soup_mesh(&s, *state);
        assert_true(mesh->solid.mass == 0.0);
        stn_mesh_release(mesh);
    }
}

/// Errors of volume and inertia against the ball's 4/3 pi and 2/5 m, after each halving of the edges a quarter.
static void a_sphere_converges_with_order_two(void **state) {
    double volume_error[6], inertia_error[6], ball = 4.0 / 3.0 * STN_PI;
    for (int32_t level = 1; level <= 5; level++) {
        soup s = {0};
        soup_add_sphere(&s, level);
        stn_mesh *mesh = soup_mesh(&s, *state);
        volume_error[level] = ball - mesh->solid.mass;
        inertia_error[level] = 0.4 * ball - mesh->solid.inertia.m[2][2];
        assert_near(mesh->solid.inertia.m[0][0], mesh->solid.inertia.m[1][1], 1e-13);
        assert_near(mesh->solid.inertia.m[0][1], 0.0, 1e-14);
        stn_mesh_release(mesh);
    }
    for (int32_t level = 4; level <= 5; level++) {
        assert_near(log2(volume_error[level - 1] / volume_error[level]), 2.0, 0.05);
        assert_near(log2(inertia_error[level - 1] / inertia_error[level]), 2.0, 0.05);
    }
    assert_true(volume_error[5] > 0.0 && volume_error[5] < 0.01);
}

/// Coordinates that are whole multiples of 2^-20 stay exact at a distance of 2^20: so must the figures, but for `com`.
static void nothing_is_lost_far_from_the_origin(void **state) {
    stn_pose away = stn_pose_identity();
    away.position = vec(0x1p20, -0x1p20, 0x1p20);
    soup near = {0}, far = {0};
    soup_add_l_solid(&near);
    soup_add_l_solid(&far);
    soup_move(&far, &away);
    stn_mesh *a = soup_mesh(&near, *state), *b = soup_mesh(&far, *state);
    assert_true(a->solid.mass == b->solid.mass);
    assert_near(b->facts.volume, 9.0, 1e-14);
    assert_near(stn_vec3_norm(stn_vec3_sub(stn_vec3_sub(b->solid.com, away.position), a->solid.com)), 0.0, 1e-9);
    for (int32_t i = 0; i < 9; i++) {
        assert_near(b->solid.inertia.m[i / 3][i % 3], a->solid.inertia.m[i / 3][i % 3], 1e-14);
    }
    stn_mesh_release(a);
    stn_mesh_release(b);
}

static void a_thin_plate_keeps_its_figures(void **state) {
    double thin = 1e-9;
    soup s = {0};
    soup_add_box(&s, vec(-1.0, -1.0, -0.5 * thin), vec(1.0, 1.0, 0.5 * thin), false);
    stn_mesh *mesh = soup_mesh(&s, *state);
    stn_mass expected = box_solid(vec(-1.0, -1.0, -0.5 * thin), vec(1.0, 1.0, 0.5 * thin));
    assert_same_solid(&mesh->solid, &expected, 1e-21);
    stn_mesh_release(mesh);
}

static void meshes_and_hulls_take_the_mass_they_are_given(void **state) {
    soup s = {0};
    soup_add_cube(&s, 0.5);
    stn_mesh *mesh = soup_mesh(&s, *state), *hull = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create_hull(mesh, &hull, &err), err);
    stn_shape surface = stn_shape_mesh(mesh), convex = stn_shape_mesh(hull), box = stn_shape_box(vec(0.5, 0.5, 0.5));
    assert_true(surface.type == STN_SHAPE_MESH && convex.type == STN_SHAPE_CONVEX);
    stn_mass a, b, expected;
    assert_ok(stn_shape_mass(&surface, 12.0, &a, &err), err);
    assert_ok(stn_shape_mass(&convex, 12.0, &b, &err), err);
    assert_ok(stn_shape_mass(&box, 12.0, &expected, &err), err);
    assert_same_solid(&a, &expected, 1e-14);
    assert_same_solid(&b, &expected, 1e-14);
    assert_near(stn_shape_volume(&surface), 1.0, 1e-15);
    assert_near(stn_shape_volume(&convex), 1.0, 1e-15);
    stn_mesh_release(hull);
    stn_mesh_release(mesh);
}

static void the_mass_of_an_open_mesh_is_refused_with_the_reason(void **state) {
    soup s = {0};
    soup_add_cube(&s, 0.5);
    s.triangle_count--;
    stn_mesh *mesh = soup_mesh(&s, *state);
    stn_shape shape = stn_shape_mesh(mesh);
    stn_mass mass = {.mass = 7.0};
    stn_error err = {STN_OK, ""};
    assert_int_equal(stn_shape_mass(&shape, 1.0, &mass, &err), STN_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "3 of its edges"));
    assert_true(mass.mass == 7.0 && stn_shape_volume(&shape) == 0.0);
    stn_mesh_release(mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_of_triangles_weighs_what_a_box_does),
        cmocka_unit_test(a_tetrahedron_has_its_closed_form),
        cmocka_unit_test(an_l_is_the_sum_of_two_boxes),
        cmocka_unit_test(a_cavity_is_taken_away),
        cmocka_unit_test(parts_of_opposite_sign_that_are_no_body_give_no_solid),
        cmocka_unit_test(a_sheet_with_two_sides_gives_no_solid),
        cmocka_unit_test(a_sphere_converges_with_order_two),
        cmocka_unit_test(nothing_is_lost_far_from_the_origin),
        cmocka_unit_test(a_thin_plate_keeps_its_figures),
        cmocka_unit_test(meshes_and_hulls_take_the_mass_they_are_given),
        cmocka_unit_test(the_mass_of_an_open_mesh_is_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
