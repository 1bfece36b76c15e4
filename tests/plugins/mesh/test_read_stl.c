// SPDX-License-Identifier: Apache-2.0
#include "read_mesh.h"

static const double corners[18] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0,  1.0,  0.0,
                                   0.0, 0.0, 0.5, 0.0, 2.0, 0.0, -3.0, 0.25, 1e-3};
static const int32_t two_triangles[6] = {0, 1, 2, 3, 4, 5};

/// The two triangles behind a header that begins like a text file.
static bytes binary_file(void) {
    bytes b = {0};
    char header[80] = "solid part";
    put(&b, header, sizeof header);
    put_int(&b, 2, 4, false);
    for (int32_t t = 0; t < 2; t++) {
        for (int32_t i = 0; i < 3; i++) {
            put_float(&b, (double)NAN, false); // a normal that nobody may look at
        }
        for (int32_t i = 0; i < 9; i++) {
            put_float(&b, corners[9 * t + i], false);
        }
        put_int(&b, 0x1234, 2, false);
    }
    assert_int_equal(b.size, 84 + 2 * 50);
    return b;
}

static void assert_two_triangles(const read_result *result) {
    double single[18];
    for (int32_t i = 0; i < 18; i++) {
        single[i] = (double)(float)corners[i];
    }
    assert_vertices(&result->raw, result->raw.vertices[17] == corners[17] ? corners : single, 6);
    assert_triangles(&result->raw, two_triangles, 2);
    assert_int_equal(result->raw.tetrahedron_count, 0);
}

static void test_a_binary_file_is_told_by_its_size_though_it_says_solid(void **state) {
    (void)state;
    bytes b = binary_file();
    read_result result;
    read_good_bytes("stl", b.data, b.size, &result);
    assert_two_triangles(&result);
    read_clear(&result);
    free(b.data);
}

static const char plain[] = "solid part\n"
                            "  facet normal 0 0 1\n"
                            "    outer loop\n"
                            "      vertex 0 0 0\n"
                            "      vertex 1 0 0\n"
                            "      vertex 0 1 0\n"
                            "    endloop\n"
                            "  endfacet\n"
                            "  facet normal 0 0 1\n"
                            "    outer loop\n"
                            "      vertex 0 0 0.5\n"
                            "      vertex 0 2 0\n"
                            "      vertex -3 0.25 1e-3\n"
                            "    endloop\n"
                            "  endfacet\n"
                            "endsolid part\n";

static void test_a_text_file_is_read(void **state) {
    (void)state;
    read_result result;
    read_good("stl", plain, &result);
    assert_two_triangles(&result);
    read_clear(&result);
}

static void test_case_layout_and_the_spelling_of_numbers_do_not_matter(void **state) {
    (void)state;
    read_result result;
    read_good(
        "stl",
        "\xef\xbb\xbf \r\n SOLID \r\nFACET Normal nan nan -nan(ind) Outer LOOP Vertex +0 -0 0.\tVERTEX\r\n1.e0 .0 0e5 "
        "vertex 0 +.1E+1 0 EndLoop ENDFACET\nendsolid whatever stands here\n"
        "solid second facet\nfacet normal 0 0 0 outer loop vertex 0 0 5e-1 vertex 0 20E-1 0 vertex -3.0 .25 .001 "
        "endloop endfacet endsolid",
        &result);
    assert_two_triangles(&result);
    read_clear(&result);
}

static void test_a_text_file_of_the_size_of_a_binary_one_is_text_when_its_count_differs(void **state) {
    (void)state;
    char text[84 + 50 + 200];
    memset(text, ' ', sizeof text);
    memcpy(text, plain, sizeof plain - 1);
    read_result result;
    read_good_bytes("stl", text, sizeof text, &result);
    assert_two_triangles(&result);
    read_clear(&result);
}

static void test_a_binary_file_of_another_size_is_refused_with_both_sizes(void **state) {
    (void)state;
    bytes b = binary_file();
    static const char solid[] = "part.mesh: 183 bytes, but a binary STL file of the 2 triangles that byte 80 says has "
                                "184; it is cut off or damaged";
    assert_refused_bytes("stl", b.data, b.size - 1, solid);
    memset(b.data, 'x', 80);
    put_text(&b, "more");
    assert_refused_bytes("stl", b.data, b.size,
                         "part.mesh: 188 bytes, but a binary STL file of the 2 triangles that byte 80 says has 184; it "
                         "is cut off or damaged");
    free(b.data);
}

static void test_a_binary_count_that_no_file_could_hold_is_refused(void **state) {
    (void)state;
    bytes b = binary_file();
    memset(b.data + 80, 0xff, 4);
    assert_refused_bytes(
        "stl", b.data, b.size,
        "part.mesh: 184 bytes, but a binary STL file of the 4294967295 triangles that byte 80 says has "
        "214748364834; it is cut off or damaged");
    free(b.data);
}

static void test_coordinates_that_are_no_numbers_are_refused_by_their_byte(void **state) {
    (void)state;
    bytes b = binary_file();
    float bad = INFINITY;
    memcpy(b.data + 84 + 50 + 12 + 12 + 8, &bad, sizeof bad);
    assert_refused_bytes("stl", b.data, b.size,
                         "part.mesh: byte 166: triangle 1: the coordinate inf is no finite number");
    free(b.data);
}

static void test_files_without_triangles_are_refused(void **state) {
    (void)state;
    char header[84] = "solid";
    static const char none[] = "part.mesh: there are no triangles and no tetrahedra in it";
    assert_refused_bytes("stl", header, sizeof header, none);
    assert_refused("stl", "solid x\nendsolid x\n", none);
    assert_refused("stl", "", "part.mesh: the file is empty");
    assert_refused("stl", "hello",
                   "part.mesh: 5 bytes are no STL file: text begins with \"solid\", binary has at least 84 bytes");
}

#define FACET "solid\nfacet normal 0 0 1\nouter loop\n"

static void test_wrong_text_is_refused_by_its_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"solid\nfacet\nnorm 0 0 1", "part.mesh:3: expected \"normal\", found \"norm\""},
        {"solid\nfacet normal 0 0\nouter loop", "part.mesh:3: expected \"outer\", found \"loop\""},
        {FACET "vertex 0 0 0\nvertex 0 1 0\nendloop", "part.mesh:6: expected \"vertex\", found \"endloop\""},
        {FACET "vertex 0 0 0 vertex 0 1 0 vertex 1 0 0 \nvertex 1 1 0",
         "part.mesh:5: expected \"endloop\", found \"vertex\""},
        {FACET "vertex 0 0 0x1", "part.mesh:4: vertex: \"0x1\" is no finite decimal number"},
        {FACET "vertex 0\n0 1,5", "part.mesh:5: vertex: \"1,5\" is no finite decimal number"},
        {FACET "vertex nan 0 0", "part.mesh:4: vertex: \"nan\" is no finite decimal number"},
        {FACET "vertex 0 -inf 0", "part.mesh:4: vertex: \"-inf\" is no finite decimal number"},
        {FACET "vertex 0 1e999 0", "part.mesh:4: vertex: \"1e999\" is no finite decimal number"},
        {FACET "vertex 0 0\nvertex", "part.mesh:5: vertex: \"vertex\" is no finite decimal number"},
        {FACET "vertex 0 0", "part.mesh:4: vertex: the end is no finite decimal number"},
        {"solid\n", "part.mesh:2: expected \"facet\" or \"endsolid\", found the end"},
        {"solid\nendsolid\nfacet", "part.mesh:3: expected \"solid\" or the end, found \"facet\""},
        {"solid\nsolid", "part.mesh:2: expected \"facet\" or \"endsolid\", found \"solid\""},
        {"solid\n\x1b[31m\xc3\xa4this_word_is_much_too_long_to_be_shown_whole",
         "part.mesh:2: expected \"facet\" or \"endsolid\", found \"?[31m??this_word_is_much_too_long_to_be_sh...\""},
    };
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        assert_refused("stl", cases[i].text, cases[i].message);
    }
}

static void test_growing_keeps_every_triangle(void **state) {
    (void)state;
    enum { MANY = 5000 };
    bytes b = {0};
    put_text(&b, "solid\n");
    for (int32_t i = 0; i < MANY; i++) {
        char text[120];
        snprintf(text, sizeof text,
                 "facet normal 0 0 0 outer loop vertex %d 0 0 vertex 0 %d 0 vertex 0 0 .%05d endloop endfacet\n", i, -i,
                 i);
        put_text(&b, text);
    }
    put_text(&b, "endsolid");
    read_result result;
    read_good_bytes("stl", b.data, b.size, &result);
    assert_int_equal(result.raw.triangle_count, MANY);
    for (int32_t i = 0; i < MANY; i++) {
        const double *v = result.raw.vertices + 9 * (size_t)i;
        assert_near(v[0], i, 0.0);
        assert_near(v[4], -i, 0.0);
        assert_near(v[8], i / 1e5, 0.0);
        assert_int_equal(result.raw.triangles[3 * i + 2], 3 * i + 2);
    }
    read_clear(&result);
    free(b.data);
}

static void test_no_memory_and_cut_files_leave_nothing_behind(void **state) {
    (void)state;
    bytes b = binary_file();
    assert_survives_no_memory("stl", b.data, b.size);
    assert_survives_no_memory("stl", plain, sizeof plain - 1);
    assert_survives_cuts("stl", b.data, b.size);
    assert_survives_cuts("stl", plain, sizeof plain - 1);
    free(b.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_binary_file_is_told_by_its_size_though_it_says_solid),
        cmocka_unit_test(test_a_text_file_is_read),
        cmocka_unit_test(test_case_layout_and_the_spelling_of_numbers_do_not_matter),
        cmocka_unit_test(test_a_text_file_of_the_size_of_a_binary_one_is_text_when_its_count_differs),
        cmocka_unit_test(test_a_binary_file_of_another_size_is_refused_with_both_sizes),
        cmocka_unit_test(test_a_binary_count_that_no_file_could_hold_is_refused),
        cmocka_unit_test(test_coordinates_that_are_no_numbers_are_refused_by_their_byte),
        cmocka_unit_test(test_files_without_triangles_are_refused),
        cmocka_unit_test(test_wrong_text_is_refused_by_its_line),
        cmocka_unit_test(test_growing_keeps_every_triangle),
        cmocka_unit_test(test_no_memory_and_cut_files_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
