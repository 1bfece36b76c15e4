// SPDX-License-Identifier: Apache-2.0
// Pressure fields of solids: volume, extents and the force on a plane against closed forms.
#include <stiction/mesh_query.h>

#include "field_fixture.h"

static void a_sphere_feels_a_plane_as_the_closed_form_says(void **state) {
    (void)state;
    const double depth = 0.05, h = 1.0 - depth, errors[] = {0.1, 0.01};
    const double exact = 2.0 * STN_PI * ((1.0 - h * h) / 2.0 - (1.0 - h * h * h) / 3.0); // J: sphere_plane.csv
    for (int32_t k = 0; k < STN_COUNT(errors); k++) {
        field *f = field_of(stn_shape_sphere(0.3), NAN, errors[k], 0.0);
        assert_sound(f);
        assert_true(fabs(field_volume(f) / (4.0 / 3.0 * STN_PI * 0.027) - 1.0) < 1e-13);
        for (int32_t i = 0; i < 200; i++) {
            double force = plane_integral(f, spread_direction(i, 200), -0.3 * h).force / 0.09;
            assert_true(fabs(force / exact - 1.0) < errors[k]);
        }
        field_destroy(test_context, f);
    }
}

/// Distance from the nearest face over the smallest half size, everywhere; also with a margin, and below 0 in it.
static void a_box_has_the_exact_extent(void **state) {
    (void)state;
    const stn_vec3 halves[] = {{0.3, 0.3, 0.3}, {0.7, 0.2, 0.2}, {0.2, 0.2, 0.1}, {0.3, 0.1, 0.2}, {5e2, 0.5, 5e2}};
    for (int32_t k = 0; k < 2 * STN_COUNT(halves); k++) {
        stn_vec3 half = halves[k / 2];
        double depth = fmin(half.x, fmin(half.y, half.z)), margin = k % 2 == 1 ? 0.03 * depth : 0.0;
        field *f = field_of(stn_shape_box(half), NAN, 0.1, margin);
        assert_sound(f);
        double volume = 8.0 * (half.x + margin) * (half.y + margin) * (half.z + margin);
        assert_true(fabs(field_volume(f) / volume - 1.0) < 1e-12);
        for (int32_t t = 0; t < f->tetrahedron_count; t++) {
            stn_vec3 p = stn_vec3_zero();
            for (int32_t c = 0; c < 4; c++) {
                p = stn_vec3_mul_add(p, 0.1 * (c + 1), stn_vec3_at(f->vertices, f->tetrahedra[4 * t + c]));
            }
            double distance = fmin(half.x - fabs(p.x), fmin(half.y - fabs(p.y), half.z - fabs(p.z)));
            assert_true(fabs(extent_in(f, t, p) - distance / depth) < 1e-9);
        }
        field_destroy(test_context, f);
    }
}

static void surfaces_enclose_their_shapes(void **state) {
    (void)state;
    const stn_shape shapes[] = {
        stn_shape_sphere(0.2),         stn_shape_box(stn_vec3_make(0.1, 0.2, 0.3)),
        stn_shape_capsule(0.1, 0.3),   stn_shape_ellipsoid(stn_vec3_make(0.3, 0.2, 0.1)),
        stn_shape_cylinder(0.2, 0.05), stn_shape_cylinder(0.2, 0.3),
    };
    for (int32_t k = 0; k < STN_COUNT(shapes); k++) {
        field_fineness fineness = {NAN, 0.1, 0.0};
        rigid_surface *s = NULL;
        assert_int_equal(rigid_surface_create(test_context, shapes + k, &fineness, 10000, &s, NULL), STN_OK);
        double volume = 0.0;
        for (int32_t t = 0; t < s->triangle_count; t++) {
            stn_vec3 a = stn_vec3_at(s->vertices, s->triangles[3 * t]);
            stn_vec3 b = stn_vec3_at(s->vertices, s->triangles[3 * t + 1]);
            volume += stn_vec3_dot(a, stn_vec3_cross(b, stn_vec3_at(s->vertices, s->triangles[3 * t + 2]))) / 6.0;
            assert_true(fabs(stn_vec3_norm(s->normals[t]) - 1.0) < 1e-14 && stn_vec3_dot(s->normals[t], a) > 0.0);
        }
        assert_true(fabs(volume / stn_shape_volume(shapes + k) - 1.0) < 1e-9);
        rigid_surface_destroy(test_context, s);
    }
}

/// A hull's faces, and the triangles of a surface that is open or has dents as they are.
static void meshes_keep_their_triangles(void **state) {
    (void)state;
    const double points[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0.5, 0.5, -0.2};
    const int32_t triangles[] = {0, 1, 4, 1, 2, 4, 2, 3, 4};
    stn_mesh_data data = {.vertex_count = 5, .vertices = points, .triangle_count = 3, .triangles = triangles};
    stn_mesh *sheet = NULL, *hull = NULL;
    assert_int_equal(stn_mesh_create(test_context, &data, &sheet, NULL), STN_OK);
    assert_int_equal(stn_mesh_create_hull(sheet, &hull, NULL), STN_OK);
    field_fineness fineness = {NAN, 0.1, 0.0};
    rigid_surface *s = NULL;
    stn_shape shape = stn_shape_mesh(sheet);
    assert_int_equal(rigid_surface_create(test_context, &shape, &fineness, 3, &s, NULL), STN_OK);
    assert_true(s->triangle_count == 3 && s->vertex_count == sheet->vertex_count && s->bounds.lower.z == -0.2);
    for (int32_t t = 0; t < 3; t++) {
        stn_vec3 n = stn_mesh_triangle_normal(sheet, t);
        assert_true(stn_vec3_norm(stn_vec3_sub(n, s->normals[t])) < 1e-14);
    }
    rigid_surface_destroy(test_context, s);
    assert_int_equal(rigid_surface_create(test_context, &shape, &fineness, 2, &s, NULL), STN_ERR_ARGUMENT);
    shape = stn_shape_mesh(hull);
    assert_int_equal(rigid_surface_create(test_context, &shape, &fineness, 1000, &s, NULL), STN_OK);
    for (int32_t t = 0; t < s->triangle_count; t++) { // away from what is inside
        stn_vec3 from = stn_vec3_sub(stn_vec3_at(s->vertices, s->triangles[3 * t]), stn_vec3_make(0.5, 0.5, -0.1));
        assert_true(stn_vec3_dot(s->normals[t], from) > 0.0);
    }
    rigid_surface_destroy(test_context, s);
    stn_mesh_release(sheet);
    stn_mesh_release(hull);
}

static void bad_fineness_is_named(void **state) {
    (void)state;
    const struct {
        field_fineness fineness;
        const char *what;
    } bad[] = {{{0.0, 0.1, 0.0}, "resolution = 0 m"},    {{-1.0, 0.1, 0.0}, "resolution = -1 m"},
               {{INFINITY, 0.1, 0.0}, "resolution"},     {{NAN, NAN, 0.0}, "error = "},
               {{NAN, 0.0, 0.0}, "error = 0"},           {{NAN, 2.0, 0.0}, "error = 2"},
               {{NAN, 0.1, -1e-3}, "margin = -0.001 m"}, {{NAN, 0.1, NAN}, "margin = "}};
    stn_shape ball = stn_shape_sphere(0.1);
    for (int32_t k = 0; k < STN_COUNT(bad); k++) {
        stn_error err = {0};
        field *f = NULL;
        rigid_surface *s = NULL;
        assert_int_equal(field_create(test_context, &ball, NULL, &bad[k].fineness, 1000, &f, &err), STN_ERR_ARGUMENT);
        assert_non_null(strstr(err.text, bad[k].what));
        assert_int_equal(rigid_surface_create(test_context, &ball, &bad[k].fineness, 1000, &s, &err), STN_ERR_ARGUMENT);
        assert_true(f == NULL && s == NULL);
    }
}

static void too_many_are_refused_with_the_resolution_that_fits(void **state) {
    (void)state;
    field_fineness fineness = {1e-5, 0.1, 0.0};
    stn_shape ball = stn_shape_sphere(0.1);
    field *f = NULL;
    stn_error err = {0};
    assert_int_equal(field_create(test_context, &ball, NULL, &fineness, 100000, &f, &err), STN_ERR_ARGUMENT);
    assert_null(f);
    double resolution = 0.0;
    const char *at = strstr(err.text, "resolution of ");
    assert_non_null(at);
    assert_true(stn_scan_real(at + 14, strlen(at + 14), &resolution) > 0);
    f = field_of(ball, resolution, 0.1, 0.0);
    assert_true(f->tetrahedron_count <= 100000 && f->tetrahedron_count > 80000);
    field_destroy(test_context, f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sphere_feels_a_plane_as_the_closed_form_says),
        cmocka_unit_test(a_box_has_the_exact_extent),
        cmocka_unit_test(surfaces_enclose_their_shapes),
        cmocka_unit_test(meshes_keep_their_triangles),
        cmocka_unit_test(bad_fineness_is_named),
        cmocka_unit_test(too_many_are_refused_with_the_resolution_that_fits),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
