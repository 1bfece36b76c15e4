// SPDX-License-Identifier: Apache-2.0
#include "read_mesh.h"

#include "stn_random.h"

#define SQUARE "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"
static const double square[12] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};

static void assert_faces(const char *text, const int32_t *triangles, int32_t count) {
    read_result result;
    read_good("obj", text, &result);
    assert_triangles(&result.raw, triangles, count);
    read_clear(&result);
}

static void test_vertices_and_triangles_are_read_in_their_order(void **state) {
    (void)state;
    read_result result;
    read_good("obj", SQUARE "f 1 2 3\nf 4 3 1\n", &result);
    assert_vertices(&result.raw, square, 4);
    assert_triangles(&result.raw, (const int32_t[]){0, 1, 2, 3, 2, 0}, 2);
    assert_int_equal(result.raw.tetrahedron_count, 0);
    assert_null(result.raw.tetrahedra);
    read_clear(&result);
}

static void test_every_form_of_a_corner_names_its_vertex(void **state) {
    (void)state;
    static const int32_t expected[3] = {1, 2, 3};
    static const char *const forms[] = {"f 2 3 4",       "f 2/1 3/2 4/3", "f 2//1 3//2 4//3", "f 2/1/9 3/2/9 4/3/9",
                                        "f 2/ 3// 4/-1", "f +2 3 4 ",     "f -3 -2 -1",       "f -3/-1/-1 3//-7 4",
                                        "fo 2 3 4"};
    for (int32_t i = 0; i < STN_COUNT(forms); i++) {
        char text[200];
        snprintf(text, sizeof text, SQUARE "%s", forms[i]);
        assert_faces(text, expected, 1);
    }
}

static void test_negative_indices_count_back_from_where_they_stand_and_positive_ones_may_look_ahead(void **state) {
    (void)state;
    assert_faces("v 0 0 0\nv 1 0 0\nv 1 1 0\nf -3 -2 -1\nf 1 3 4\nv 0 1 0\nf -1 -4 -2\n",
                 (const int32_t[]){0, 1, 2, 0, 2, 3, 3, 0, 2}, 3);
}

static void test_weights_and_colours_after_a_vertex_are_stepped_over(void **state) {
    (void)state;
    read_result result;
    read_good(
        "obj",
        "v 0 0 0 1\nv 1. .0 +0 1 0.5 0.5 0.5\nv 1e0 10e-1 0 .1 .2 .3\nv 0 1 -0 1 1 1 1 1 # a corner\nf 1 2 3 # a face",
        &result);
    assert_vertices(&result.raw, square, 4);
    read_clear(&result);
}

static void test_polygons_become_fans(void **state) {
    (void)state;
    assert_faces(SQUARE "f 1 2 3 4", (const int32_t[]){0, 1, 2, 0, 2, 3}, 2);
    assert_faces(SQUARE "v -1 1 0\nv -1 0 0\nf 2//1 3//1 4//1 5//1 6//1", (const int32_t[]){1, 2, 3, 1, 3, 4, 1, 4, 5},
                 3);
}

/// Twice the area of a triangle in the plane.
static double turn(const double *v, const int32_t *t) {
    const double *a = v + 3 * t[0], *b = v + 3 * t[1], *c = v + 3 * t[2];
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/// Every turn of the quadrilateral and of the pentagon: one corner of them looks inward.
static void test_concave_polygons_of_few_corners_are_covered_once_whatever_corner_comes_first(void **state) {
    (void)state;
    static const double dart[8] = {0, 0, 2, -2, 0, 2, -2, -2};        // area 4
    static const double arrow[10] = {0, 0, 4, 0, 4, 3, 2, 0.5, 0, 3}; // area 12 - 5
    for (int32_t corners = 4; corners <= 5; corners++) {
        for (int32_t first = 0; first < corners; first++) {
            char text[400] = "";
            const double *p = corners == 4 ? dart : arrow;
            for (int32_t i = 0; i < corners; i++) {
                snprintf(text + strlen(text), sizeof text - strlen(text), "v %g %g 0\n", p[2 * i], p[2 * i + 1]);
            }
            strcat(text, "f");
            for (int32_t i = 0; i < corners; i++) {
                snprintf(text + strlen(text), sizeof text - strlen(text), " %d", (first + i) % corners + 1);
            }
            read_result result;
            read_good("obj", text, &result);
            assert_int_equal(result.raw.triangle_count, corners - 2);
            double twice = 0.0;
            for (int32_t t = 0; t < corners - 2; t++) {
                double part = turn(result.raw.vertices, result.raw.triangles + 3 * t);
                assert_true(part > 0.0);
                twice += part;
            }
            assert_near(twice, corners == 4 ? 8.0 : 14.0, 0.0); // sums of small dyadic numbers
            read_clear(&result);
        }
    }
}

/// A comb that no corner sees whole: overlaps are counted, the signed area stays right.
static void test_a_polygon_that_no_corner_sees_keeps_its_signed_area(void **state) {
    (void)state;
    read_result result;
    read_good(
        "obj",
        "v 0 0 0\nv 5 0 0\nv 5 4 0\nv 4 4 0\nv 4 1 0\nv 3 1 0\nv 3 4 0\nv 2 4 0\nv 2 1 0\nv 1 1 0\nv 1 4 0\nv 0 4 0\n"
        "f 1 2 3 4 5 6 7 8 9 10 11 12",
        &result);
    double twice = 0.0;
    for (int32_t t = 0; t < result.raw.triangle_count; t++) {
        twice += turn(result.raw.vertices, result.raw.triangles + 3 * t);
    }
    assert_int_equal(result.raw.triangle_count, 10);
    assert_near(twice, 2.0 * 14.0, 0.0); // whole numbers
    read_clear(&result);
}

static void test_degenerate_and_enormous_polygons_are_kept_as_fans(void **state) {
    (void)state;
    assert_faces(SQUARE "f 1 1 2 2 1", (const int32_t[]){0, 0, 1, 0, 1, 1, 0, 1, 0}, 3);
    assert_faces("v 1e308 0 0\nv -1e308 1e308 0\nv 0 -1e308 1e308\nv 1 1 -1e308\nf 1 2 3 4",
                 (const int32_t[]){0, 1, 2, 0, 2, 3}, 2);
}

static void test_statements_without_surface_are_skipped(void **state) {
    (void)state;
    assert_faces(
        "# a comment that ends with a folder C:\\parts\\\nmtllib a b.mtl\no part 1\ng a b\ns off\nmg 0\n" SQUARE
        "vt 0 0\nvn nan nan nan\nusemtl steel\np 1 2\nl 1 2 \\\n 3 4\n\n   \t\n  f 1 2 3\n#f 1 2 9\nlod 3\n",
        (const int32_t[]){0, 1, 2}, 1);
}

static void test_a_backslash_continues_the_line_also_before_carriage_returns(void **state) {
    (void)state;
    read_result result;
    read_good("obj", "\xef\xbb\xbfv 0 \\\r\n 0 0\r\nv 1\\\n0\\\n\\\n0\r\nv 1 1 0\r\nv 0 1 0 \\\r\n\nf 1 2\\\r\n 3 \\",
              &result);
    assert_vertices(&result.raw, square, 4);
    assert_triangles(&result.raw, (const int32_t[]){0, 1, 2}, 1);
    read_clear(&result);
}

static void test_wrong_statements_are_refused_by_their_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"v 1 2\nf 1 1 1", "part.mesh:1: v has 2 numbers, x y z are needed"},
        {"v 1 2 3 4 5 6 7 8 9", "part.mesh:1: v has more than 8 numbers"},
        {"\n\nv 1 2 3z", "part.mesh:3: v: \"3z\" is no finite decimal number"},
        {"v 1 \\\n2 nan", "part.mesh:2: v: \"nan\" is no finite decimal number"},
        {"v 1 2 1e400", "part.mesh:1: v: \"1e400\" is no finite decimal number"},
        {"v 1 2 \\x", "part.mesh:1: v: \"\\x\" is no finite decimal number"},
        {"v 1 2 0x10", "part.mesh:1: v: \"0x10\" is no finite decimal number"},
        {SQUARE "f 1 2", "part.mesh:5: f has 2 corners, a face needs 3"},
        {SQUARE "f", "part.mesh:5: f has 0 corners, a face needs 3"},
        {SQUARE "f 1 2 5",
         "part.mesh:5: f names vertex 5; there are 4, counted from 1, or from -1 backwards from the 4 so far"},
        {SQUARE "f 1 2 0",
         "part.mesh:5: f names vertex 0; there are 4, counted from 1, or from -1 backwards from the 4 so far"},
        {"v 0 0 0\nf -1 -1 -2\n" SQUARE,
         "part.mesh:2: f names vertex -2; there are 5, counted from 1, or from -1 backwards from the 1 so far"},
        {SQUARE "f 1 2 99999999999999999999", "part.mesh:5: f: \"99999999999999999999\" is no whole number"},
        {SQUARE "f 1 2 9223372036854775807", "part.mesh:5: f names vertex 9223372036854775807; there are 4, counted "
                                             "from 1, or from -1 backwards from the 4 so far"},
        {SQUARE "f 1 2 -9223372036854775807", "part.mesh:5: f names vertex -9223372036854775807; there are 4, counted "
                                              "from 1, or from -1 backwards from the 4 so far"},
        {SQUARE "f 1 2 3.0", "part.mesh:5: f: \"3.0\" is no whole number"},
        {SQUARE "f 1 2 3/x", "part.mesh:5: f: \"x\" is no whole number"},
        {SQUARE "f 1/2/3/4 2 3", "part.mesh:5: f: \"/4\" is no whole number"},
        {SQUARE "f 1 2 3 \\ \n 4", "part.mesh:6: unknown statement \"4\""},
        {"surf 0 1 0 1 1", "part.mesh:1: \"surf\": curved surfaces are not read; save the mesh as polygons"},
        {"\nsolid part", "part.mesh:2: unknown statement \"solid\""},
        {SQUARE, "part.mesh: there are no triangles and no tetrahedra in it"},
        {"", "part.mesh: the file is empty"},
    };
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        assert_refused("obj", cases[i].text, cases[i].message);
    }
}

/// Random vertices and polygons of random forms, whose fans are known: all corners lie on a circle.
static void test_a_written_file_reads_back(void **state) {
    (void)state;
    enum { MANY = 700 };
    stn_random random = {7};
    static double points[3 * MANY];
    static int32_t triangles[3 * 8 * MANY];
    bytes b = {0};
    int32_t count = 0;
    char text[100];
    for (int32_t i = 0; i < MANY; i++) {
        double angle = 6.283185307179586 * i / MANY;
        double p[3] = {cos(angle), sin(angle), random_real(&random) * 1e-3};
        memcpy(points + 3 * i, p, sizeof p);
        snprintf(text, sizeof text, "v %.17g %.17g %.17g%s\n", p[0], p[1], p[2], i % 3 == 0 ? " 0.5 0.25 1" : "");
        put_text(&b, text);
    }
    for (int32_t i = 0; i < MANY; i++) {
        int32_t corners = 3 + random_below(&random, 5), first = random_below(&random, MANY - 40), v[8];
        put_text(&b, "f");
        for (int32_t k = 0; k < corners; k++) {
            v[k] = first + 5 * k;
            static const char *const forms[] = {" %d", " %d/7", " %d//8", " %d/7/8"};
            bool back = random_below(&random, 2) == 0;
            snprintf(text, sizeof text, forms[random_below(&random, 4)], back ? v[k] - MANY : v[k] + 1);
            put_text(&b, text);
        }
        put_text(&b, random_below(&random, 2) == 0 ? "\n" : "  \r\n");
        for (int32_t k = 1; k + 1 < corners; k++) {
            memcpy(triangles + 3 * count++, (int32_t[]){v[0], v[k], v[k + 1]}, 3 * sizeof(int32_t));
        }
    }
    read_result result;
    read_good_bytes("obj", b.data, b.size, &result);
    assert_vertices(&result.raw, points, MANY);
    assert_triangles(&result.raw, triangles, count);
    read_clear(&result);
    free(b.data);
}

static void test_no_memory_and_cut_files_leave_nothing_behind(void **state) {
    (void)state;
    static const char text[] =
        "# x\\\n" SQUARE "v 2 \\\r\n 0 0 1 1 1 1\nf 1//1 2/2/2 3 4/4\nf -1 -2 \\\n -3\nvn 0 0 1\n";
    assert_survives_no_memory("obj", text, sizeof text - 1);
    assert_survives_cuts("obj", text, sizeof text - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vertices_and_triangles_are_read_in_their_order),
        cmocka_unit_test(test_every_form_of_a_corner_names_its_vertex),
        cmocka_unit_test(test_negative_indices_count_back_from_where_they_stand_and_positive_ones_may_look_ahead),
        cmocka_unit_test(test_weights_and_colours_after_a_vertex_are_stepped_over),
        cmocka_unit_test(test_polygons_become_fans),
        cmocka_unit_test(test_concave_polygons_of_few_corners_are_covered_once_whatever_corner_comes_first),
        cmocka_unit_test(test_a_polygon_that_no_corner_sees_keeps_its_signed_area),
        cmocka_unit_test(test_degenerate_and_enormous_polygons_are_kept_as_fans),
        cmocka_unit_test(test_statements_without_surface_are_skipped),
        cmocka_unit_test(test_a_backslash_continues_the_line_also_before_carriage_returns),
        cmocka_unit_test(test_wrong_statements_are_refused_by_their_line),
        cmocka_unit_test(test_a_written_file_reads_back),
        cmocka_unit_test(test_no_memory_and_cut_files_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
