// SPDX-License-Identifier: Apache-2.0
// Height fields: the grid, its cells, and what shapes of them are.
#include "mesh_fixture.h"

#include <stiction/mesh_query.h>

static double hill(double x, double y) {
    return 0.3 * sin(2.0 * x) * cos(3.0 * y) + 0.1 * x;
}

static stn_mesh *make_hills(stn_context *context, int32_t rows, int32_t columns, double size_x, double size_y) {
    double *heights = malloc((size_t)rows * (size_t)columns * sizeof *heights);
    for (int32_t i = 0; i < rows * columns; i++) {
        heights[i] = hill(size_x * (i % columns / (columns - 1.0) - 0.5), size_y * (i / columns / (rows - 1.0) - 0.5));
    }
    stn_height_field_spec spec = {rows, columns, size_x, size_y, heights};
    stn_mesh *mesh = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create_height_field(context, &spec, &mesh, &err), err);
    free(heights);
    return mesh;
}

static void vertices_stand_on_the_grid_with_their_heights(void **state) {
    stn_mesh *mesh = make_hills(*state, 7, 5, 3.0, 2.0);
    const stn_grid *g = &mesh->grid;
    assert_true(g->rows == 7 && g->columns == 5 && mesh->vertex_count == 35 && mesh->triangle_count == 2 * 6 * 4);
    for (int32_t r = 0; r < 7; r++) {
        for (int32_t c = 0; c < 5; c++) {
            const double *p = mesh->vertices + 3 * (r * 5 + c);
            assert_near(p[0], -1.5 + 3.0 * c / 4.0, 1e-15);
            assert_near(p[1], -1.0 + 2.0 * r / 6.0, 1e-15);
            assert_near(p[2], hill(p[0], p[1]), 1e-15);
            assert_near(g->x + c * g->dx, p[0], 1e-15);
            assert_near(g->y + r * g->dy, p[1], 1e-15);
        }
    }
    double area = 0.0;
    for (int32_t i = 0; i < mesh->triangle_count; i++) {
        stn_vec3 n = mesh_normal(mesh, i);
        area += 0.5 * stn_vec3_norm(n);
        assert_near(n.z, g->dx * g->dy, 1e-14); // upwards, half a cell each
    }
    assert_near(mesh->facts.area, area, 1e-13);
    assert_int_equal(mesh->facts.open_edge_count, 20);
    assert_true(mesh->solid.mass == 0.0 && !mesh->convex);
    stn_mesh_release(mesh);
}

static void cells_under_a_box_are_those_that_it_overlaps(void **state) {
    stn_random r = {3};
    stn_mesh *mesh = make_hills(*state, 9, 14, 4.0, 2.5);
    for (int32_t i = 0; i < 20000; i++) {
        stn_vec3 c = random_vec3(&r, 3.0), h = {random_size(&r, 1e-4, 2.0), random_size(&r, 1e-4, 2.0), 1.0};
        if (i % 4 == 0) { // sides on lines of the grid
            const double *p = mesh->vertices + 3 * random_below(&r, mesh->vertex_count);
            c = stn_vec3_make(p[0] + h.x, p[1] - h.y, 0.0);
        }
        stn_aabb box = {stn_vec3_sub(c, h), stn_vec3_add(c, h)};
        stn_grid_cells cells = stn_grid_cells_under(mesh, &box);
        for (int32_t row = 0; row < 8; row++) {
            for (int32_t column = 0; column < 13; column++) {
                const double *low = mesh->vertices + 3 * (row * 14 + column), *high = low + 3 * 15;
                double gap = fmax(fmax(low[0] - box.upper.x, box.lower.x - high[0]),
                                  fmax(low[1] - box.upper.y, box.lower.y - high[1]));
                bool listed = row >= cells.row_start && row < cells.row_end && column >= cells.column_start &&
                              column < cells.column_end;
                assert_true(listed ? gap <= 1e-8 : gap > 0.0);
            }
        }
    }
    stn_mesh_release(mesh);
}

/// A triangle of the cells under the point that holds it, by its three edges.
static int32_t triangle_at(const stn_mesh *mesh, double x, double y) {
    const stn_aabb here = {{x, y, -1e3}, {x, y, 1e3}};
    stn_grid_cells cells = stn_grid_cells_under(mesh, &here);
    for (int32_t row = cells.row_start; row < cells.row_end; row++) {
        int32_t first = 2 * row * (mesh->grid.columns - 1);
        for (int32_t t = first + 2 * cells.column_start; t < first + 2 * cells.column_end; t++) {
            double least = INFINITY;
            for (int32_t k = 0; k < 3; k++) {
                stn_vec3 from = mesh_corner(mesh, t, k), to = mesh_corner(mesh, t, (k + 1) % 3);
                least = fmin(least, (to.x - from.x) * (y - from.y) - (to.y - from.y) * (x - from.x));
            }
            if (least >= -1e-14) {
                return t;
            }
        }
    }
    fail_msg("no triangle at (%g, %g)", x, y);
    return -1;
}

/// By barycentric coordinates of the triangle that holds the point.
static void the_height_is_that_of_the_triangle_at_the_point(void **state) {
    stn_random r = {4};
    stn_mesh *mesh = make_hills(*state, 20, 30, 4.0, 2.5);
    for (int32_t i = 0; i < 100000; i++) {
        double x = random_between(&r, -2.0, 2.0), y = random_between(&r, -1.25, 1.25);
        int32_t triangle = triangle_at(mesh, x, y);
        stn_vec3 a = mesh_corner(mesh, triangle, 0), n = mesh_normal(mesh, triangle);
        stn_vec3 p = {x, y, a.z - (n.x * (x - a.x) + n.y * (y - a.y)) / n.z};
        assert_near(stn_grid_height(mesh, x, y), p.z, 1e-14);
    }
    assert_near(stn_grid_height(mesh, 2.0, 1.25), mesh->vertices[3 * mesh->vertex_count - 1], 1e-14);
    assert_near(stn_grid_height(mesh, -2.0, -1.25), mesh->vertices[2], 1e-14);
    assert_true(isnan(stn_grid_height(mesh, 2.0001, 0.0)) && isnan(stn_grid_height(mesh, NAN, 0.0)));
    assert_true(isnan(stn_grid_height(mesh, 0.0, -1.3)));
    stn_mesh_release(mesh);
}

static bool count_visit(void *user, int32_t triangle) {
    (void)triangle;
    ++*(int32_t *)user;
    return true;
}

static void visits_of_a_grid_are_those_of_the_same_surface_as_a_mesh(void **state) {
    stn_random r = {5};
    stn_mesh *grid = make_hills(*state, 20, 30, 4.0, 2.5), *mesh = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create_scaled(grid, stn_vec3_make(1.0, 1.0, 1.0), &mesh, &err), err);
    assert_int_equal(mesh->grid.rows, 0);
    for (int32_t i = 0; i < 2000; i++) {
        stn_vec3 c = random_vec3(&r, 2.0), h = {random_size(&r, 1e-3, 1.0), random_size(&r, 1e-3, 1.0), 0.1};
        stn_aabb box = {stn_vec3_sub(c, h), stn_vec3_add(c, h)};
        int32_t of_grid = 0, of_mesh = 0;
        assert_true(stn_mesh_visit(grid, &box, count_visit, &of_grid) &&
                    stn_mesh_visit(mesh, &box, count_visit, &of_mesh));
        assert_int_equal(of_grid, of_mesh);
        stn_vec3 o = random_vec3(&r, 3.0), d = random_unit(&r);
        d = i % 3 == 0 ? stn_vec3_make(0.0, 0.0, -1.0) : d;
        d = i % 7 == 0 ? stn_vec3_make(i % 2 == 0 ? 1.0 : 0.0, i % 2 == 0 ? 0.0 : -1.0, 0.0) : d;
        stn_mesh_point a = {0}, b = {0};
        assert_int_equal(stn_mesh_raycast(grid, o, d, INFINITY, &a), stn_mesh_raycast(mesh, o, d, INFINITY, &b));
        assert_near(a.distance, b.distance, 1e-13);
        assert_true(stn_mesh_nearest(grid, o, INFINITY, &a) && stn_mesh_nearest(mesh, o, INFINITY, &b));
        assert_near(a.distance, b.distance, 0.0);
    }
    stn_mesh_release(mesh);
    stn_mesh_release(grid);
}

static void the_box_of_a_height_field_has_no_bottom(void **state) {
    stn_random r = {6};
    stn_mesh *mesh = make_hills(*state, 5, 6, 4.0, 2.0);
    stn_shape shape = stn_shape_mesh(mesh);
    assert_int_equal(shape.type, STN_SHAPE_HEIGHT_FIELD);
    stn_error err = {STN_OK, ""};
    assert_ok(stn_shape_check(&shape, &err), err);
    stn_pose upright = {stn_mat3_from_rpy(0.0, 0.0, 0.7), {1.0, 2.0, 3.0}};
    stn_aabb box = stn_shape_aabb(&shape, &upright, 0.1);
    assert_true(box.lower.z == -(double)INFINITY && isfinite(box.lower.x) && isfinite(box.upper.y));
    assert_near(box.upper.z, 3.0 + mesh->bounds.upper.z + 0.1, 1e-15);
    for (int32_t i = 0; i < 200; i++) {
        stn_pose pose = random_pose(&r, 5.0);
        box = stn_shape_aabb(&shape, &pose, 0.0);
        for (int32_t k = 0; k < 100; k++) {
            stn_vec3 p = {random_between(&r, -2.0, 2.0), random_between(&r, -1.0, 1.0), 0.0};
            p.z = stn_grid_height(mesh, p.x, p.y) - random_size(&r, 1e-3, 1e3);
            p = stn_pose_apply(&pose, p);
            assert_true(p.x >= box.lower.x && p.y >= box.lower.y && p.z >= box.lower.z);
            assert_true(p.x <= box.upper.x && p.y <= box.upper.y && p.z <= box.upper.z);
        }
    }
    stn_mass mass;
    assert_true(isinf(stn_shape_volume(&shape)));
    assert_int_equal(stn_shape_mass(&shape, 1.0, &mass, &err), STN_ERR_UNSUPPORTED);
    stn_mesh_release(mesh);
}

static void numbers_that_make_no_surface_are_refused(void **state) {
    const double flat[4] = {0.0, 0.0, 0.0, 0.0}, bad[4] = {0.0, 0.0, NAN, 0.0}, high[4] = {0.0, 1e51, 0.0, 0.0};
    const struct {
        stn_height_field_spec spec;
        const char *word;
    } cases[] = {
        {{1, 2, 1.0, 1.0, flat}, "1 rows"},          {{2, 0, 1.0, 1.0, flat}, "0 columns"},
        {{2, 2, 0.0, 1.0, flat}, "size x"},          {{2, 2, 1.0, NAN, flat}, "size y"},
        {{2, 2, 1.0, INFINITY, flat}, "size y"},     {{2, 2, -1.0, 1.0, flat}, "size x"},
        {{2, 2, 1.0, 1.0, NULL}, "no array"},        {{2, 2, 1.0, 1.0, bad}, "row 1, column 0"},
        {{2, 2, 1.0, 1.0, high}, "row 0, column 1"}, {{1 << 20, 1 << 20, 1.0, 1.0, flat}, "at most"},
    };
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        stn_mesh *mesh = NULL;
        stn_error err = {STN_OK, ""};
        assert_int_equal(stn_mesh_create_height_field(*state, &cases[i].spec, &mesh, &err), STN_ERR_ARGUMENT);
        assert_non_null(strstr(err.text, cases[i].word));
        assert_null(mesh);
    }
    soup s = {0};
    soup_add_cube(&s, 1.0);
    stn_mesh *cube = soup_mesh(&s, *state);
    stn_shape shape = {.type = STN_SHAPE_HEIGHT_FIELD, .mesh = cube};
    stn_error err = {STN_OK, ""};
    assert_int_equal(stn_shape_check(&shape, &err), STN_ERR_ARGUMENT);
    shape.mesh = NULL;
    assert_int_equal(stn_shape_check(&shape, &err), STN_ERR_ARGUMENT);
    stn_mesh_release(cube);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vertices_stand_on_the_grid_with_their_heights),
        cmocka_unit_test(cells_under_a_box_are_those_that_it_overlaps),
        cmocka_unit_test(the_height_is_that_of_the_triangle_at_the_point),
        cmocka_unit_test(visits_of_a_grid_are_those_of_the_same_surface_as_a_mesh),
        cmocka_unit_test(the_box_of_a_height_field_has_no_bottom),
        cmocka_unit_test(numbers_that_make_no_surface_are_refused),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
