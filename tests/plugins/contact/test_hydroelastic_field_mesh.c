// SPDX-License-Identifier: Apache-2.0
// Fields of tetrahedra as they are given, and the skirt of a margin around them.
#include <stdio.h>

#include "field_fixture.h"

static stn_mesh *solid_of(int32_t vertex_count, const double *vertices, int32_t count, const int32_t *tetrahedra) {
    stn_mesh_data data = {
        .vertex_count = vertex_count, .vertices = vertices, .tetrahedron_count = count, .tetrahedra = tetrahedra};
    stn_mesh *mesh = NULL;
    stn_error err = {0};
    if (stn_mesh_create(test_context, &data, &mesh, &err) != STN_OK) {
        fail_msg("%s", err.text);
    }
    return mesh;
}

static field *field_of_solid(const stn_mesh *mesh, double margin) {
    field_fineness fineness = {NAN, 0.1, margin};
    return field_made(stn_shape_sphere(1.0), mesh, fineness);
}

/// Unit cells of a grid, each in six tetrahedra about its diagonal, where `filled` says so; cells of one metre.
static stn_mesh *cells_mesh(const int32_t size[3], bool (*filled)(int32_t, int32_t, int32_t)) {
    static double vertices[3 * 1000];
    static int32_t tetrahedra[4 * 6 * 1000];
    static const int32_t order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    int32_t nx = size[0] + 1, ny = size[1] + 1, count = 0, vertex_count = nx * ny * (size[2] + 1);
    for (int32_t i = 0; i < vertex_count; i++) {
        vertices[3 * i] = i % nx;
        vertices[3 * i + 1] = i / nx % ny;
        vertices[3 * i + 2] = i / (nx * ny);
    }
    const int32_t step[3] = {1, nx, nx * ny};
    for (int32_t cell = 0; cell < size[0] * size[1] * size[2]; cell++) {
        int32_t x = cell % size[0], y = cell / size[0] % size[1], z = cell / (size[0] * size[1]);
        for (int32_t k = 0; filled(x, y, z) && k < 6; k++) {
            int32_t at = x + nx * (y + ny * z);
            for (int32_t c = 0; c < 4; c++) {
                tetrahedra[4 * count + c] = at;
                at += c < 3 ? step[order[k][c]] : 0;
            }
            count++;
        }
    }
    return solid_of(vertex_count, vertices, count, tetrahedra);
}

static bool everywhere(int32_t x, int32_t y, int32_t z) {
    (void)x, (void)y, (void)z;
    return true;
}

static bool angled(int32_t x, int32_t y, int32_t z) {
    (void)z;
    return x < 2 || y < 2;
}

static bool slotted(int32_t x, int32_t y, int32_t z) {
    (void)y;
    return x != 2 || z < 2;
}

static void the_extent_of_a_vertex_is_its_distance(void **state) {
    (void)state;
    const int32_t size[3] = {4, 6, 8};
    stn_mesh *mesh = cells_mesh(size, everywhere);
    field *f = field_of_solid(mesh, 0.0);
    assert_sound(f);
    assert_true(f->depth == 2.0 && fabs(field_volume(f) - 192.0) < 1e-10);
    for (int32_t i = 0; i < f->vertex_count; i++) {
        stn_vec3 p = stn_vec3_at(f->vertices, i);
        double x = fmin(p.x, 4.0 - p.x), y = fmin(p.y, 6.0 - p.y), z = fmin(p.z, 8.0 - p.z);
        assert_true(fabs(f->extents[i] - fmin(x, fmin(y, z)) / 2.0) < 1e-12);
    }
    field_destroy(test_context, f);
    stn_mesh_release(mesh);
}

/// A field that the mesh brings along counts as it is; its depth is the distance of its deepest vertex.
static void a_given_field_stays(void **state) {
    (void)state;
    const int32_t size[3] = {4, 6, 8};
    stn_mesh *plain = cells_mesh(size, everywhere), *mesh = NULL;
    double *extents = stn_allocate(test_context, (size_t)plain->vertex_count, sizeof *extents);
    for (int32_t i = 0; i < plain->vertex_count; i++) { // deepest in the middle of one side of the core
        stn_vec3 p = stn_vec3_at(plain->vertices, i);
        double x = fmin(p.x, 4.0 - p.x), y = fmin(p.y, 6.0 - p.y), z = fmin(p.z, 8.0 - p.z);
        extents[i] = x * y * z / 24.0;
    }
    stn_mesh_data data = {.vertex_count = plain->vertex_count,
                          .vertices = plain->vertices,
                          .tetrahedron_count = plain->tetrahedron_count,
                          .tetrahedra = plain->tetrahedra,
                          .extents = extents};
    assert_int_equal(stn_mesh_create(test_context, &data, &mesh, NULL), STN_OK);
    field *f = field_of_solid(mesh, 0.0);
    assert_sound(f);
    assert_true(f->depth == 2.0);
    for (int32_t i = 0; i < mesh->vertex_count; i++) { // behind them come middles of corner tetrahedra
        assert_true(f->extents[i] == mesh->extents[i]);
    }
    field_destroy(test_context, f);
    stn_release(test_context, extents);
    stn_mesh_release(mesh);
    stn_mesh_release(plain);
}

/// All corners of the only tetrahedron are on the surface: four with a vertex in the middle.
static void a_tetrahedron_without_an_inner_corner_is_split(void **state) {
    (void)state;
    const double vertices[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const int32_t corners[] = {0, 1, 2, 3};
    stn_mesh *mesh = solid_of(4, vertices, 1, corners);
    field *f = field_of_solid(mesh, 0.0);
    assert_sound(f);
    assert_int_equal(f->tetrahedron_count, 4);
    assert_true(fabs(f->depth - 0.25 / sqrt(3.0)) < 1e-15); // of (1/4, 1/4, 1/4) from x + y + z = 1
    field_destroy(test_context, f);
    f = field_of_solid(mesh, 0.01);
    assert_sound(f);
    assert_int_equal(f->tetrahedron_count, 16);
    field_destroy(test_context, f);
    field_fineness fineness = {NAN, 0.1, 0.01};
    stn_shape any = stn_shape_sphere(1.0);
    stn_error err = {0};
    assert_int_equal(field_create(test_context, &any, mesh, &fineness, 15, &f, &err), STN_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "16 tetrahedra"));
    stn_mesh_release(mesh);
}

/// Some tetrahedron holds the point with this extent.
static bool holds(const field *f, stn_vec3 p, double extent) {
    for (int32_t t = 0; t < f->tetrahedron_count; t++) {
        bool inside = fabs(extent_in(f, t, p) - extent) < 1e-9;
        for (int32_t k = 0; inside && k < 4; k++) {
            stn_vec3 a = stn_vec3_at(f->vertices, f->tetrahedra[4 * t + k]);
            stn_vec3 b = stn_vec3_at(f->vertices, f->tetrahedra[4 * t + (k + 1) % 4]);
            stn_vec3 c = stn_vec3_at(f->vertices, f->tetrahedra[4 * t + (k + 2) % 4]);
            stn_vec3 d = stn_vec3_at(f->vertices, f->tetrahedra[4 * t + (k + 3) % 4]);
            stn_vec3 n = stn_vec3_cross(stn_vec3_sub(b, a), stn_vec3_sub(c, a));
            double here = stn_vec3_dot(n, stn_vec3_sub(p, a)), there = stn_vec3_dot(n, stn_vec3_sub(d, a));
            inside = here * there >= -1e-9 * there * there;
        }
        if (inside) {
            return true;
        }
    }
    return false;
}

/// Over every triangle of the surface, also in a concave corner, the skirt is as thick as the margin, and e falls in it
/// by the distance over the depth. Inside nothing changes.
static void the_skirt_covers_every_face_by_the_margin(void **state) {
    (void)state;
    const int32_t size[3] = {4, 4, 4};
    const double margin = 0.05;
    stn_mesh *mesh = cells_mesh(size, angled);
    field *plain = field_of_solid(mesh, 0.0), *f = field_of_solid(mesh, margin);
    assert_sound(plain);
    assert_sound(f);
    assert_true(f->tetrahedron_count == plain->tetrahedron_count + 3 * mesh->triangle_count);
    assert_true(fabs(field_inspect(f).lowest + margin / f->depth) < 1e-15);
    for (int32_t t = 0; t < mesh->triangle_count; t++) {
        const int32_t *v = mesh->triangles + 3 * t;
        stn_vec3 a = stn_vec3_at(mesh->vertices, v[0]), b = stn_vec3_at(mesh->vertices, v[1]);
        stn_vec3 c = stn_vec3_at(mesh->vertices, v[2]);
        stn_vec3 n = stn_vec3_cross(stn_vec3_sub(b, a), stn_vec3_sub(c, a));
        n = stn_vec3_scale(1.0 / stn_vec3_norm(n), n);
        stn_vec3 middle = stn_vec3_scale(1.0 / 3.0, stn_vec3_add(a, stn_vec3_add(b, c)));
        assert_true(holds(f, stn_vec3_mul_add(middle, 0.9 * margin, n), -0.9 * margin / f->depth));
        assert_false(holds(f, stn_vec3_mul_add(middle, 1.1 * margin, n), -1.1 * margin / f->depth));
    }
    for (int32_t i = 0; i < 20; i++) {
        stn_vec3 n = spread_direction(i, 20);
        double height = support_height(plain, n) + 0.3;
        double force = plane_integral(plain, n, height).force;
        assert_true(fabs(plane_integral(f, n, height).force - force) < 1e-12 * force);
    }
    field_destroy(test_context, plain);
    field_destroy(test_context, f);
    stn_mesh_release(mesh);
}

static int32_t warnings;
static char warning[300];

static void count_warnings(void *user, stn_log_level level, const char *text) {
    (void)user;
    if (level == STN_LOG_WARNING) {
        warnings++;
        snprintf(warning, sizeof warning, "%s", text);
    }
}

/// A margin wider than the solid's own features: what turned over moves less, and one line says how many.
static void a_margin_that_does_not_fit_is_said_once(void **state) {
    (void)state;
    stn_context *kept = test_context;
    stn_context_options options = {.log = count_warnings};
    assert_int_equal(stn_context_create(&options, &test_context, NULL), STN_OK);
    const int32_t size[3] = {5, 4, 4};
    stn_mesh *mesh = cells_mesh(size, slotted);
    field *f = field_of_solid(mesh, 3.0);
    assert_sound(f);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(warning, "margin of 3 m: "));
    field_destroy(test_context, f);
    f = field_of_solid(mesh, 0.1);
    assert_sound(f);
    assert_int_equal(warnings, 1);
    field_destroy(test_context, f);
    stn_mesh_release(mesh);
    stn_context_destroy(test_context);
    test_context = kept;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_extent_of_a_vertex_is_its_distance),
        cmocka_unit_test(a_given_field_stays),
        cmocka_unit_test(a_tetrahedron_without_an_inner_corner_is_split),
        cmocka_unit_test(the_skirt_covers_every_face_by_the_margin),
        cmocka_unit_test(a_margin_that_does_not_fit_is_said_once),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
