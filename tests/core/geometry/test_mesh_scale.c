// SPDX-License-Identifier: Apache-2.0
// Stretched by S = diag(s): volumes by |det S|, centres by S, second moments M to |det S| S M S.
#include "mesh_fixture.h"

/// Second moments about the centre of mass: M = tr(I)/2 1 - I.
static stn_mat3 second_moments(const stn_mass *solid) {
    double half = 0.5 * (solid->inertia.m[0][0] + solid->inertia.m[1][1] + solid->inertia.m[2][2]);
    stn_mat3 m = stn_mat3_diagonal(half, half, half);
    for (int32_t i = 0; i < 9; i++) {
        m.m[i / 3][i % 3] -= solid->inertia.m[i / 3][i % 3];
    }
    return m;
}

static stn_mass stretched(const stn_mass *solid, stn_vec3 scale) {
    const double s[3] = {scale.x, scale.y, scale.z};
    double det = fabs(scale.x * scale.y * scale.z);
    stn_mat3 m = second_moments(solid), expected = stn_mat3_diagonal(0.0, 0.0, 0.0);
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t j = 0; j < 3; j++) {
            m.m[i][j] *= det * s[i] * s[j];
        }
    }
    double trace = m.m[0][0] + m.m[1][1] + m.m[2][2];
    for (int32_t i = 0; i < 9; i++) {
        expected.m[i / 3][i % 3] = (i % 4 == 0 ? trace : 0.0) - m.m[i / 3][i % 3];
    }
    stn_mass result = {det * solid->mass, stn_vec3_make(s[0] * solid->com.x, s[1] * solid->com.y, s[2] * solid->com.z),
                       expected};
    return result;
}

static void solids_of_any_stretch_and_mirror_follow_the_closed_form(void **state) {
    stn_random r = {3};
    for (int32_t i = 0; i < 64; i++) {
        stn_pose pose = random_pose(&r, 1.0);
        stn_vec3 scale = {random_size(&r, 0.1, 4.0), random_size(&r, 0.1, 4.0), random_size(&r, 0.1, 4.0)};
        scale = stn_vec3_make((i & 1) != 0 ? -scale.x : scale.x, (i & 2) != 0 ? -scale.y : scale.y,
                              (i & 4) != 0 ? -scale.z : scale.z);
        soup s = {0};
        soup_add_l_solid(&s);
        soup_move(&s, &pose);
        stn_mesh *mesh = soup_mesh(&s, *state), *scaled = NULL;
        stn_error err = {STN_OK, ""};
        assert_ok(stn_mesh_create_scaled(mesh, scale, &scaled, &err), err);
        stn_mass expected = stretched(&mesh->solid, scale);
        assert_same_solid(&scaled->solid, &expected, 1e-12 * (1.0 + expected.mass));
        assert_near(mesh_cone_volume(scaled), expected.mass, 1e-12 * expected.mass); // positive: outside is outside
        assert_near(scaled->facts.volume, expected.mass, 1e-12 * expected.mass);
        assert_int_equal(scaled->vertex_count, mesh->vertex_count);
        assert_int_equal(scaled->facts.vertex_count, 3 * 20);
        stn_mesh_release(scaled);
        stn_mesh_release(mesh);
    }
}

static void area_and_box_of_an_uneven_stretch_are_measured_anew(void **state) {
    soup s = {0};
    soup_add_cube(&s, 0.5);
    stn_mesh *mesh = soup_mesh(&s, *state), *scaled = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create_scaled(mesh, stn_vec3_make(1.0, -2.0, 3.0), &scaled, &err), err);
    assert_near(scaled->facts.area, 2.0 * (2.0 + 3.0 + 6.0), 1e-14);
    assert_true(scaled->bounds.lower.y == -1.0 && scaled->bounds.upper.y == 1.0 && scaled->bounds.upper.z == 1.5);
    stn_mesh_release(scaled);
    stn_mesh_release(mesh);
}

static void the_sign_of_a_surface_that_is_inside_out_is_remembered(void **state) {
    soup s = {0};
    soup_add_box(&s, stn_vec3_make(0.0, 0.0, 0.0), stn_vec3_make(1.0, 1.0, 1.0), true);
    stn_mesh *mesh = soup_mesh(&s, *state), *scaled = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create_scaled(mesh, stn_vec3_make(-2.0, 1.0, 1.0), &scaled, &err), err);
    assert_near(scaled->facts.volume, -2.0, 1e-14);
    assert_near(scaled->solid.mass, 2.0, 1e-14);
    assert_near(mesh_cone_volume(scaled), 2.0, 1e-14);
    stn_mesh_release(scaled);
    stn_mesh_release(mesh);
}

static void facts_of_an_open_surface_with_faults_are_scaled(void **state) {
    soup s = {0};
    stn_vec3 a = {3.0, 0.0, 7.0}, b = {5.0, 0.0, 7.0}, c = {3.0, 1.0, 7.0};
    soup_add(&s, a, b, c);
    soup_add(&s, a, b, b);
    stn_mesh *mesh = soup_mesh(&s, *state), *scaled = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create_scaled(mesh, stn_vec3_make(1.0, 3.0, -2.0), &scaled, &err), err);
    assert_int_equal(scaled->facts.degenerate_count, 1);
    assert_int_equal(scaled->facts.triangle_count, 2);
    assert_int_equal(scaled->facts.open_edge_count, mesh->facts.open_edge_count);
    assert_near(scaled->facts.area, 3.0, 1e-14);
    assert_near(scaled->facts.volume, 6.0 * mesh->facts.volume, 1e-13);
    assert_true(mesh_normal(mesh, 0).z > 0.0 && mesh_normal(scaled, 0).z < 0.0); // outside moved with the mirror
    assert_true(scaled->solid.mass == 0.0);
    stn_mesh_release(scaled);
    stn_mesh_release(mesh);
}

/// What closed the surface before, a triangle without area, was dropped then.
static void a_closed_surface_stays_closed(void **state) {
    stn_vec3 a = {0.0, 0.0, 0.0}, b = {2.0, 0.0, 0.0}, m = {1.0, 0.0, 0.0}, c = {0.0, 2.0, 0.0}, d = {0.0, 0.0, 2.0};
    soup s = {0};
    soup_add(&s, a, c, b);
    soup_add(&s, a, m, d);
    soup_add(&s, m, b, d);
    soup_add(&s, a, d, c);
    soup_add(&s, b, c, d);
    soup_add(&s, a, b, m);
    stn_mesh *mesh = soup_mesh(&s, *state), *scaled = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create_scaled(mesh, stn_vec3_make(2.0, 2.0, 2.0), &scaled, &err), err);
    assert_near(scaled->solid.mass, 8.0 * mesh->solid.mass, 1e-13);
    assert_int_equal(scaled->facts.degenerate_count, 1);
    stn_mesh_release(scaled);
    stn_mesh_release(mesh);
}

static void a_stretched_hull_is_the_hull_of_the_stretched(void **state) {
    stn_vec3 scale = {-0.5, 2.0, 3.0};
    soup s = {0};
    soup_add_l_solid(&s);
    stn_mesh *mesh = soup_mesh(&s, *state), *hull = NULL, *a = NULL, *b = NULL, *c = NULL, *even = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create_hull(mesh, &hull, &err), err);
    assert_ok(stn_mesh_create_scaled(hull, scale, &a, &err), err);
    assert_ok(stn_mesh_create_scaled(mesh, scale, &b, &err), err);
    assert_ok(stn_mesh_create_hull(b, &c, &err), err);
    assert_true(a->convex && c->convex && !b->convex);
    assert_int_equal(a->vertex_count, c->vertex_count);
    assert_same_solid(&a->solid, &c->solid, 1e-12);
    assert_near(mesh_cone_volume(a), c->solid.mass, 1e-12);
    assert_near(a->facts.volume, 27.0, 1e-12); // of the source, the L
    assert_near(c->facts.area, b->facts.area, 0.0);
    assert_true(a->facts.area == 0.0); // lost
    assert_ok(stn_mesh_create_scaled(hull, stn_vec3_make(-2.0, 2.0, -2.0), &even, &err), err);
    assert_near(even->facts.area, 4.0 * mesh->facts.area, 1e-12);
    stn_mesh_release(even);
    stn_mesh_release(c);
    stn_mesh_release(b);
    stn_mesh_release(a);
    stn_mesh_release(hull);
    stn_mesh_release(mesh);
}

static void scales_that_leave_nothing_are_refused(void **state) {
    soup s = {0};
    soup_add_cube(&s, 1.0);
    stn_mesh *mesh = soup_mesh(&s, *state), *hull = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create_hull(mesh, &hull, &err), err);
    const stn_vec3 bad[] = {
        {0.0, 1.0, 1.0}, {1.0, NAN, 1.0}, {1.0, 1.0, INFINITY}, {1e60, 1.0, 1.0}, {1e-300, 1e-300, 1.0}};
    for (int32_t i = 0; i < STN_COUNT(bad); i++) {
        stn_mesh *out = mesh;
        assert_int_equal(stn_mesh_create_scaled(mesh, bad[i], &out, &err), STN_ERR_ARGUMENT);
        assert_null(out);
    }
    stn_mesh *flat = mesh;
    assert_int_equal(stn_mesh_create_scaled(hull, stn_vec3_make(1.0, 1.0, 1e-200), &flat, &err), STN_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "flattens"));
    assert_null(flat);
    stn_mesh_release(hull);
    stn_mesh_release(mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solids_of_any_stretch_and_mirror_follow_the_closed_form),
        cmocka_unit_test(area_and_box_of_an_uneven_stretch_are_measured_anew),
        cmocka_unit_test(the_sign_of_a_surface_that_is_inside_out_is_remembered),
        cmocka_unit_test(facts_of_an_open_surface_with_faults_are_scaled),
        cmocka_unit_test(a_closed_surface_stays_closed),
        cmocka_unit_test(a_stretched_hull_is_the_hull_of_the_stretched),
        cmocka_unit_test(scales_that_leave_nothing_are_refused),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
