// SPDX-License-Identifier: Apache-2.0
#include "mesh_fixture.h"

static void a_cube_has_eight_vertices_however_often_they_are_given(void **state) {
    soup s = {0};
    soup_add_box(&s, stn_vec3_make(0.0, 0.0, 0.0), stn_vec3_make(1.0, 2.0, 3.0), false);
    for (int32_t i = 0; i < 36; i += 2) { // -0 is 0
        stn_vec3 *p = &s.corner[i];
        *p = stn_vec3_make(p->x == 0.0 ? -0.0 : p->x, p->y == 0.0 ? -0.0 : p->y, p->z == 0.0 ? -0.0 : p->z);
    }
    stn_mesh *mesh = soup_mesh(&s, *state);
    assert_int_equal(mesh->vertex_count, 8);
    assert_int_equal(mesh->triangle_count, 12);
    assert_int_equal(mesh->tetrahedron_count, 0);
    assert_null(mesh->tetrahedra);
    assert_false(mesh->convex);
    const stn_mesh_facts *facts = &mesh->facts;
    assert_int_equal(facts->vertex_count, 36);
    assert_int_equal(facts->triangle_count, 12);
    assert_int_equal(facts->degenerate_count, 0);
    assert_int_equal(facts->open_edge_count, 0);
    assert_near(facts->area, 22.0, 1e-14);
    assert_near(facts->volume, 6.0, 1e-14);
    assert_true(facts->unit == 1.0 && facts->up_axis == 'z' && facts->instance_count == 1);
    assert_true(mesh->bounds.lower.x == 0.0 && mesh->bounds.upper.x == 1.0 && mesh->bounds.upper.y == 2.0 &&
                mesh->bounds.upper.z == 3.0);
    stn_mesh_release(mesh);
}

static void many_corners_of_a_sphere_become_few_vertices(void **state) {
    soup s = {0};
    soup_add_sphere(&s, 5); // V - E + F = 2 with E = 3/2 F
    int32_t triangles = s.triangle_count;
    stn_mesh *mesh = soup_mesh(&s, *state);
    assert_int_equal(triangles, 8 * 1024);
    assert_int_equal(mesh->triangle_count, triangles);
    assert_int_equal(mesh->vertex_count, triangles / 2 + 2);
    assert_int_equal(mesh->facts.open_edge_count, 0);
    stn_mesh_release(mesh);
}

/// A cube and loose triangles without area, all `size` times as large.
static void check_degenerate(stn_context *context, double size) {
    static const double bad[][9] = {
        {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5},    // three equal corners
        {0.0, 0.0, 0.0, 0.5, 0.1, 0.2, 0.0, 0.0, 0.0},    // two
        {-1.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.25, 0.0, 0.0},  // on a line
        {0.1, 0.2, 0.3, 0.2, 0.4, 0.6, 0.3, 0.6, 0.9},    // on a line but for rounding
        {0.1, 0.7, 0.3, 0.11, 0.77, 0.33, 0.3, 2.1, 0.9}, // the same
    };
    soup s = {0};
    soup_add_cube(&s, 1.0);
    for (int32_t i = 0; i < STN_COUNT(bad); i++) {
        const double *b = bad[i];
        soup_add(&s, stn_vec3_make(b[0], b[1], b[2]), stn_vec3_make(b[3], b[4], b[5]), stn_vec3_make(b[6], b[7], b[8]));
    }
    soup_add(&s, stn_vec3_make(0.0, 0.0, 0.0), stn_vec3_make(1.0, 0.0, 0.0), stn_vec3_make(0.5, 1e-12, 0.0)); // thin
    soup_stretch(&s, stn_vec3_make(size, size, size));
    stn_mesh *mesh = soup_mesh(&s, context);
    assert_int_equal(mesh->facts.degenerate_count, STN_COUNT(bad));
    assert_int_equal(mesh->facts.triangle_count, 13 + STN_COUNT(bad));
    assert_int_equal(mesh->triangle_count, 13);
    assert_int_equal(mesh->vertex_count, 11); // those of the dropped triangles alone are gone
    for (int32_t i = 0; i < 3 * mesh->triangle_count; i++) {
        assert_true(mesh->triangles[i] >= 0 && mesh->triangles[i] < mesh->vertex_count);
    }
    stn_mesh_release(mesh);
}

static void triangles_without_area_are_dropped_and_counted_at_any_size(void **state) {
    check_degenerate(*state, 1.0);
    check_degenerate(*state, 0x1p-60);
    check_degenerate(*state, 0x1p60);
    check_degenerate(*state, 1e-3);
    check_degenerate(*state, 0.0254);
}

static void a_hole_of_one_triangle_has_three_open_edges(void **state) {
    soup s = {0};
    soup_add_cube(&s, 1.0);
    s.triangle_count--;
    stn_mesh *mesh = soup_mesh(&s, *state);
    assert_int_equal(mesh->facts.open_edge_count, 3);
    assert_true(mesh->solid.mass == 0.0);
    stn_mesh_release(mesh);
    soup_add_cube(&s, 1.0);
    s.triangle_count -= 2; // a whole face: its diagonal goes too
    mesh = soup_mesh(&s, *state);
    assert_int_equal(mesh->facts.open_edge_count, 4);
    stn_mesh_release(mesh);
}

static void a_triangle_without_area_closes_the_gap_between_edges_that_meet_in_a_line(void **state) {
    stn_vec3 a = {0.0, 0.0, 0.0}, b = {2.0, 0.0, 0.0}, middle = {1.0, 0.0, 0.0}, c = {0.0, 2.0, 0.0},
             d = {0.0, 0.0, 2.0};
    soup s = {0};
    soup_add(&s, a, c, b);
    soup_add(&s, a, middle, d); // the face a b d in two
    soup_add(&s, middle, b, d);
    soup_add(&s, a, d, c);
    soup_add(&s, b, c, d);
    soup copy = s;
    copy.corner = malloc(3 * (size_t)copy.capacity * sizeof *copy.corner);
    memcpy(copy.corner, s.corner, 3 * (size_t)s.triangle_count * sizeof *s.corner);
    stn_mesh *open = soup_mesh(&copy, *state);
    assert_int_equal(open->facts.open_edge_count, 3);
    assert_true(open->solid.mass == 0.0);
    stn_mesh_release(open);
    soup_add(&s, a, b, middle);
    stn_mesh *closed = soup_mesh(&s, *state);
    assert_int_equal(closed->facts.open_edge_count, 0);
    assert_int_equal(closed->facts.degenerate_count, 1);
    assert_int_equal(closed->triangle_count, 5);
    assert_near(closed->solid.mass, 8.0 / 6.0, 1e-15);
    stn_mesh_release(closed);
}

static void a_folded_triangle_counts_its_edge_twice_but_leaves_a_solid(void **state) {
    soup s = {0};
    soup_add_cube(&s, 1.0);
    soup_add(&s, s.corner[0], s.corner[0], s.corner[1]); // an edge of the cube, there and back
    stn_mesh *mesh = soup_mesh(&s, *state);
    assert_int_equal(mesh->facts.degenerate_count, 1);
    assert_int_equal(mesh->facts.open_edge_count, 1);
    assert_near(mesh->solid.mass, 8.0, 1e-14);
    stn_mesh_release(mesh);
}

static void two_cubes_that_touch_along_an_edge_are_one_solid(void **state) {
    soup s = {0};
    soup_add_box(&s, stn_vec3_make(0.0, 0.0, 0.0), stn_vec3_make(1.0, 1.0, 1.0), false);
    soup_add_box(&s, stn_vec3_make(1.0, 1.0, 0.0), stn_vec3_make(2.0, 2.0, 1.0), false);
    stn_mesh *mesh = soup_mesh(&s, *state);
    assert_int_equal(mesh->vertex_count, 14);
    assert_int_equal(mesh->facts.open_edge_count, 1); // four triangles share it
    assert_near(mesh->solid.mass, 2.0, 1e-14);
    stn_mesh_release(mesh);
}

static void a_surface_whose_triangles_face_different_ways_is_no_solid(void **state) {
    soup s = {0};
    soup_add_cube(&s, 1.0);
    stn_vec3 swap = s.corner[0];
    s.corner[0] = s.corner[1];
    s.corner[1] = swap;
    stn_mesh *mesh = soup_mesh(&s, *state);
    assert_int_equal(mesh->facts.open_edge_count, 0);
    assert_true(mesh->solid.mass == 0.0);
    stn_mesh_release(mesh);
}

static void a_surface_that_is_inside_out_is_told_and_turned_round(void **state) {
    soup s = {0};
    soup_add_box(&s, stn_vec3_make(-1.0, -1.0, -1.0), stn_vec3_make(1.0, 1.0, 1.0), true);
    stn_mesh *mesh = soup_mesh(&s, *state);
    assert_near(mesh->facts.volume, -8.0, 1e-14);
    assert_near(mesh->solid.mass, 8.0, 1e-14);
    for (int32_t i = 0; i < mesh->triangle_count; i++) {
        assert_true(stn_vec3_dot(mesh_normal(mesh, i), mesh_corner(mesh, i, 0)) > 0.0);
    }
    stn_mesh_release(mesh);
}

static void the_volume_of_an_open_surface_is_that_of_the_cone_from_the_origin(void **state) {
    soup s = {0};
    soup_add(&s, stn_vec3_make(3.0, 0.0, 7.0), stn_vec3_make(5.0, 0.0, 7.0), stn_vec3_make(3.0, 1.0, 7.0));
    stn_mesh *mesh = soup_mesh(&s, *state);
    assert_near(mesh->facts.volume, 7.0 / 3.0, 1e-14); // height times base over 3
    assert_int_equal(mesh->facts.open_edge_count, 3);
    assert_true(mesh->solid.mass == 0.0);
    stn_mesh_release(mesh);
}

static void bad_numbers_are_refused_with_place_and_value(void **state) {
    const double good[] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0},
                 nan[] = {0.0, 0.0, 0.0, 1.0, NAN, 0.0, 0.0, 1.0, 0.0},
                 far[] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1e51, 0.0};
    const int32_t triangle[] = {0, 1, 2}, outside[] = {0, 1, 3}, negative[] = {0, 1, -1}, edge[] = {0, 1, 0},
                  tetrahedron[] = {0, 1, 2, 3};
    const struct {
        stn_mesh_data data;
        const char *word;
    } bad[] = {
        {{3, 0, 0, good, NULL, NULL, NULL}, "no triangles"},
        {{0, 0, 0, NULL, NULL, NULL, NULL}, "no triangles"},
        {{-1, 1, 0, good, triangle, NULL, NULL}, "-1 vertices"},
        {{3, INT32_MAX, 0, good, triangle, NULL, NULL}, "2147483647 triangles"},
        {{3, 1, INT32_MIN, good, triangle, NULL, NULL}, "tetrahedra"},
        {{3, 1, 0, NULL, triangle, NULL, NULL}, "3 vertices, but no array"},
        {{3, 1, 0, good, NULL, NULL, NULL}, "1 triangles, but no array"},
        {{3, 0, 1, good, NULL, NULL, NULL}, "1 tetrahedra, but no array"},
        {{3, 1, 0, nan, triangle, NULL, NULL}, "vertex 1 (counted from 0) at (1, nan, 0)"},
        {{3, 1, 0, far, triangle, NULL, NULL}, "1e+51"},
        {{3, 1, 0, good, outside, NULL, NULL}, "triangle 0 (counted from 0) names vertex 3 of 3"},
        {{3, 1, 0, good, negative, NULL, NULL}, "vertex -1"},
        {{3, 0, 1, good, NULL, tetrahedron, NULL}, "tetrahedron 0"},
        {{3, 1, 0, good, edge, NULL, NULL}, "none of its 1 triangles has an area"},
    };
    for (int32_t i = 0; i < STN_COUNT(bad); i++) {
        stn_error err = {STN_OK, ""};
        stn_mesh *mesh = (stn_mesh *)state;
        assert_int_equal(stn_mesh_create(*state, &bad[i].data, &mesh, &err), STN_ERR_ARGUMENT);
        assert_null(mesh);
        if (strstr(err.text, bad[i].word) == NULL) {
            print_message("%s\n", err.text);
            fail();
        }
    }
    stn_mesh_release(NULL);
}

/// Multipliers of the hash differ from call to call; what is made must not.
static void the_same_numbers_give_the_same_bytes(void **state) {
    stn_mesh *first = NULL;
    for (int32_t turn = 0; turn < 3; turn++) {
        soup s = {0};
        soup_add_sphere(&s, 3);
        stn_mesh *mesh = soup_mesh(&s, *state);
        if (first == NULL) {
            first = mesh;
            continue;
        }
        assert_int_equal(mesh->vertex_count, first->vertex_count);
        assert_memory_equal(mesh->vertices, first->vertices, 3 * (size_t)first->vertex_count * sizeof(double));
        assert_memory_equal(mesh->triangles, first->triangles, 3 * (size_t)first->triangle_count * sizeof(int32_t));
        assert_memory_equal(&mesh->solid, &first->solid, sizeof first->solid);
        stn_mesh_release(mesh);
    }
    stn_mesh_release(first);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cube_has_eight_vertices_however_often_they_are_given),
        cmocka_unit_test(many_corners_of_a_sphere_become_few_vertices),
        cmocka_unit_test(triangles_without_area_are_dropped_and_counted_at_any_size),
        cmocka_unit_test(a_hole_of_one_triangle_has_three_open_edges),
        cmocka_unit_test(a_triangle_without_area_closes_the_gap_between_edges_that_meet_in_a_line),
        cmocka_unit_test(a_folded_triangle_counts_its_edge_twice_but_leaves_a_solid),
        cmocka_unit_test(two_cubes_that_touch_along_an_edge_are_one_solid),
        cmocka_unit_test(a_surface_whose_triangles_face_different_ways_is_no_solid),
        cmocka_unit_test(a_surface_that_is_inside_out_is_told_and_turned_round),
        cmocka_unit_test(the_volume_of_an_open_surface_is_that_of_the_cone_from_the_origin),
        cmocka_unit_test(bad_numbers_are_refused_with_place_and_value),
        cmocka_unit_test(the_same_numbers_give_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
