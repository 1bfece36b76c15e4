// SPDX-License-Identifier: Apache-2.0
#include "read_mesh.h"

#define HEAD(format, dataset)   "# vtk DataFile Version 3.0\na title\n" format "\nDATASET " dataset "\n"
#define HEAD_5(format, dataset) "# vtk DataFile Version 5.1\na title\n" format "\nDATASET " dataset "\n"
#define GRID                    HEAD("ASCII", "UNSTRUCTURED_GRID")
#define SURFACE                 HEAD("ASCII", "POLYDATA")
#define SURFACE_5               HEAD_5("ASCII", "POLYDATA")
#define POINTS                  "POINTS 5 double\n0 0 0 1 0 0\n0 1 0 0 0 1\n1 1 1\n"

static const double points[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
static const int32_t two_tetrahedra[8] = {0, 1, 2, 3, 1, 2, 3, 4};

static void assert_solid(const char *text) {
    read_result result;
    read_good("vtk", text, &result);
    assert_vertices(&result.raw, points, 5);
    assert_tetrahedra(&result.raw, two_tetrahedra, 2);
    assert_int_equal(result.raw.triangle_count, 0);
    assert_null(result.raw.triangles);
    read_clear(&result);
}

static void test_tetrahedra_of_a_grid_are_read(void **state) {
    (void)state;
    assert_solid(GRID POINTS "CELLS 2 10\n4 0 1 2 3\n4 1 2 3 4\n\nCELL_TYPES 2\n10\n10\n");
    assert_solid(GRID POINTS "CELLS 2 10 4 0 1 2 3 4 1 2 3 4 cell_types 2 10 10 POINT_DATA 5\nanything at all");
}

static void test_both_layouts_of_cells_give_the_same(void **state) {
    (void)state;
    assert_solid(HEAD_5("ASCII", "UNSTRUCTURED_GRID") POINTS
                 "METADATA\nINFORMATION 1\nNAME L2_NORM_RANGE LOCATION vtkDataArray\nDATA 2 0 1.7\n\n"
                 "CELLS 3 8\nOFFSETS vtktypeint64\n0 4 8\nCONNECTIVITY vtktypeint64\n0 1 2 3\n1 2 3 4\n"
                 "CELL_TYPES 2\n10\n10\nCELL_DATA 2\nSCALARS a int 1\n");
}

static void test_the_surface_and_lines_given_with_a_solid_are_left_to_its_boundary(void **state) {
    (void)state;
    assert_solid(GRID POINTS
                 "CELLS 6 22\n1 0\n2 0 1\n2 2 3\n3 0 1 2\n4 0 1 2 3\n4 1 2 3 4\nCELL_TYPES 6\n1 3 4 5 10 10");
}

static void assert_surface(const char *text, const int32_t *triangles, int32_t count) {
    read_result result;
    read_good("vtk", text, &result);
    assert_vertices(&result.raw, points, 5);
    assert_triangles(&result.raw, triangles, count);
    read_clear(&result);
}

static void test_triangles_polygons_and_strips_are_read(void **state) {
    (void)state;
    assert_surface(GRID POINTS "CELLS 2 8\n3 0 1 2\n3 1 2 4\nCELL_TYPES 2\n5 5\n", (const int32_t[]){0, 1, 2, 1, 2, 4},
                   2);
    assert_surface(SURFACE POINTS "VERTICES 1 2\n1 0\nLINES 1 3\n2 0 4\nPOLYGONS 2 9\n3 0 1 2\n4 0 1 4 3\n",
                   (const int32_t[]){0, 1, 2, 0, 1, 4, 0, 4, 3}, 3);
    assert_surface(SURFACE POINTS "TRIANGLE_STRIPS 1 6\n5 0 1 2 3 4\n", (const int32_t[]){0, 1, 2, 2, 1, 3, 2, 3, 4},
                   3);
    assert_surface(SURFACE_5 POINTS
                   "VERTICES 0 0\nPOLYGONS 3 7\nOFFSETS int\n0 3 7\nCONNECTIVITY vtktypeint64\n0 1 2 0 1 4 3\n",
                   (const int32_t[]){0, 1, 2, 0, 1, 4, 0, 4, 3}, 3);
}

static void test_fields_are_skipped_wherever_they_stand(void **state) {
    (void)state;
    assert_solid(
        GRID "FIELD FieldData 3\nTIME 1 1 double\n0.5\nnames 1 2 string\nCELLS 1 4\n\nempty 0 0 int\n" POINTS
             "METADATA\nCOMPONENT_NAMES\nx\n\nz\nINFORMATION 0\n \nCELLS 2 10\n4 0 1 2 3\n4 1 2 3 4\n"
             "FIELD f 1\nMETADATA\nINFORMATION 0\n\na 2 2 bit\n0 1 1 0\nCELL_TYPES 2\n10\n10\nMETADATA\nINFORMATION 0");
}

static void put_points(bytes *b, bool single) {
    put_text(b, single ? "POINTS 5 float\n" : "POINTS 5 double\r\n");
    for (int32_t i = 0; i < 15; i++) {
        if (single) {
            put_float(b, points[i], true);
        } else {
            put_double(b, points[i], true);
        }
    }
    put_text(b, "\n");
}

static void put_ints(bytes *b, const char *head, const int32_t *values, int32_t count, size_t width) {
    put_text(b, head);
    for (int32_t i = 0; i < count; i++) {
        put_int(b, values[i], width, true);
    }
    put_text(b, "\n");
}

static bytes binary_grid(bool version_5, bool single) {
    bytes b = {0};
    put_text(&b, version_5 ? HEAD_5("BINARY", "UNSTRUCTURED_GRID") : HEAD("BINARY", "UNSTRUCTURED_GRID"));
    put_ints(&b, "FIELD FieldData 2\nbits 1 9 bit\n", (const int32_t[]){0x7f0a}, 1, 2);
    put_ints(&b, "METADATA\nINFORMATION 0\n\nshorts 1 2 short \n", (const int32_t[]){10, 'A'}, 2, 2);
    put_points(&b, single);
    if (version_5) {
        put_ints(&b, "CELLS 3 8\nOFFSETS vtktypeint64\n", (const int32_t[]){0, 4, 8}, 3, 8);
        put_ints(&b, "CONNECTIVITY vtktypeint64\n", two_tetrahedra, 8, 8);
    } else {
        put_ints(&b, "CELLS 2 10\n", (const int32_t[]){4, 0, 1, 2, 3, 4, 1, 2, 3, 4}, 10, 4);
    }
    put_ints(&b, "CELL_TYPES 2\n", (const int32_t[]){10, 10}, 2, 4);
    put_text(&b, "POINT_DATA 5\n\x01\x02\x03");
    return b;
}

static void test_binary_files_are_read_in_both_layouts_and_precisions(void **state) {
    (void)state;
    for (int32_t i = 0; i < 4; i++) {
        bytes b = binary_grid((i & 1) != 0, (i & 2) != 0);
        read_result result;
        read_good_bytes("vtk", b.data, b.size, &result);
        assert_vertices(&result.raw, points, 5);
        assert_tetrahedra(&result.raw, two_tetrahedra, 2);
        read_clear(&result);
        free(b.data);
    }
}

static void test_a_binary_surface_is_read(void **state) {
    (void)state;
    bytes b = {0};
    put_text(&b, HEAD("BINARY", "POLYDATA"));
    put_points(&b, true);
    put_ints(&b, "LINES 1 3\n", (const int32_t[]){2, 0, 1}, 3, 4);
    put_ints(&b, "POLYGONS 2 9\n", (const int32_t[]){3, 0, 1, 2, 4, 0, 1, 4, 3}, 9, 4);
    read_result result;
    read_good_bytes("vtk", b.data, b.size, &result);
    assert_triangles(&result.raw, (const int32_t[]){0, 1, 2, 0, 1, 4, 0, 4, 3}, 3);
    read_clear(&result);
    free(b.data);
}

static void test_wrong_binary_files_are_refused_by_their_byte(void **state) {
    (void)state;
    bytes b = binary_grid(false, true);
    size_t first = 0;
    while (memcmp(b.data + first, "float\n", 6) != 0) {
        first++;
    }
    first += 6;
    char message[200];
    memcpy(b.data + first + 8, "\x7f\xc0\0\0", 4);
    snprintf(message, sizeof message, "part.mesh: byte %zu: POINTS: nan is no finite number", first + 8);
    assert_refused_bytes("vtk", b.data, b.size, message);
    free(b.data);

    b = (bytes){0};
    put_text(&b, HEAD("BINARY", "POLYDATA") "POINTS 5 float\n");
    snprintf(message, sizeof message,
             "part.mesh: byte %zu: POINTS: 5 do not fit into the 8 bytes that follow; the file is cut off or the count "
             "wrong",
             b.size);
    put_int(&b, 0, 8, true);
    assert_refused_bytes("vtk", b.data, b.size, message);
    free(b.data);
}

static const struct {
    const char *text, *message;
} wrong_files[] = {
    {"", "part.mesh: the file is empty"},
    {"<?xml version=\"1.0\"?>\n<VTKFile type=", "part.mesh:1: expected \"#\", found \"<?xml\""},
    {"# vtk DataFile Version x", "part.mesh:1: version: \"x\" is no whole number"},
    {"# vtk DataFile Version 6.0\n", "part.mesh:1: version 6: versions 1 to 5 are read"},
    {"# vtk DataFile Version 3.0\nt\nbytes", "part.mesh:3: expected ASCII or BINARY, found \"bytes\""},
    {HEAD("ASCII", "STRUCTURED_POINTS"),
     "part.mesh:4: dataset \"STRUCTURED_POINTS\": UNSTRUCTURED_GRID and POLYDATA are read"},
    {GRID "POLYGONS 1 4", "part.mesh:5: \"POLYGONS\": no section of UNSTRUCTURED_GRID"},
    {SURFACE "CELLS 1 4", "part.mesh:5: \"CELLS\": no section of POLYDATA"},
    {GRID "POINTS 3 long", "part.mesh:5: POINTS of type long: float and double are read"},
    {GRID "POINTS 3 real", "part.mesh:5: \"real\" is no data type"},
    {GRID "POINTS -3 float\n", "part.mesh:5: POINTS: -3 must be from 0 to 536870911"},
    {GRID "POINTS 99999999999 float\n", "part.mesh:5: POINTS: 99999999999 must be from 0 to 536870911"},
    {GRID "POINTS 3 float\n0 0 0 0 0 0",
     "part.mesh:5: POINTS: 3 do not fit into the 12 bytes that follow; the file is cut off or the count wrong"},
    {GRID "POINTS 1 float\n0 0 1e39x", "part.mesh:6: POINTS: \"1e39x\" is no finite decimal number"},
    {GRID POINTS POINTS, "part.mesh:9: POINTS a second time"},
    {GRID "CELLS 1 5", "part.mesh:5: cells before POINTS"},
    {GRID POINTS "CELLS 2 10\n4 0 1 2 3\n4 1 2 3 5\n",
     "part.mesh:11: a cell names point 5; there are 5, counted from 0"},
    {GRID POINTS "CELLS 2 10\n4 0 1 2 3\n4 1 2 -1 4\n",
     "part.mesh:11: a cell names point -1; there are 5, counted from 0"},
    {GRID POINTS "CELLS 2 9\n4 0 1 2 3\n4 1 2 3 4\n",
     "part.mesh:11: the cells have more points than their section says"},
    {GRID POINTS "CELLS 2 11\n4 0 1 2 3\n4 1 2 3 4\n",
     "part.mesh:11: the cells have 1 numbers less than their section says"},
    {GRID POINTS "CELLS 1 1000000\n4 0 1 2 3\n",
     "part.mesh:9: size of the cells: 1000000 do not fit into the 11 bytes that follow; the file is cut off or the "
     "count wrong"},
    {GRID POINTS "CELLS 1 5\n-4 0 1 2 3\n", "part.mesh:10: a cell of -4 points needs 0"},
    {GRID POINTS "CELLS 5 2\n1 0 1 1 0\n", "part.mesh:10: the cells have more points than their section says"},
    {GRID POINTS "CELLS 1 5\n4 0 1 2 3\n", "part.mesh:11: CELLS without CELL_TYPES behind them"},
    {GRID POINTS "CELLS 1 5\n4 0 1 2 3\nCELLS 1 5\n", "part.mesh:11: CELLS a second time"},
    {GRID POINTS "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 2 10",
     "part.mesh:11: CELL_TYPES of 2 cells; CELLS before it have 1"},
    {GRID POINTS "CELL_TYPES 0", "part.mesh:9: CELL_TYPES of 0 cells; CELLS before it have 0"},
    {GRID POINTS "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n9",
     "part.mesh:12: cell type 9 (quad): triangles (5) and tetrahedra (10) are read; save the mesh as those"},
    {GRID POINTS "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n24",
     "part.mesh:12: a quadratic tetrahedron of 4 points needs 10"},
    {GRID POINTS "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n77",
     "part.mesh:12: cell type 77 (unknown): triangles (5) and tetrahedra (10) are read; save the mesh as those"},
    {GRID POINTS "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n5", "part.mesh:12: a triangle of 4 points needs 3"},
    {GRID POINTS "CELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n10", "part.mesh:12: a tetrahedron of 3 points needs 4"},
    {SURFACE POINTS "POLYGONS 1 3\n2 0 1\n", "part.mesh:10: a cell of 2 points needs 3"},
    {SURFACE_5 POINTS "POLYGONS 2 3\nOFFSETS float\n",
     "part.mesh:10: offsets of type float: whole numbers of 4 or 8 bytes are read"},
    {SURFACE_5 POINTS "POLYGONS 2 3\n3 0 1 2\n", "part.mesh:10: expected \"offsets\", found \"3\""},
    {SURFACE_5 POINTS "POLYGONS 2 3\nOFFSETS int\n1 3\n", "part.mesh:11: OFFSETS: 1 must be 0"},
    {SURFACE_5 POINTS "POLYGONS 3 3\nOFFSETS int\n0 3 2\n", "part.mesh:11: OFFSETS: 2 must not decrease"},
    {SURFACE_5 POINTS "POLYGONS 2 3\nOFFSETS int\n0 4\n",
     "part.mesh:11: the cells have more points than their section says"},
    {SURFACE_5 POINTS "POLYGONS 2 4\nOFFSETS int\n0 3\n", "part.mesh:11: OFFSETS end with 3, CONNECTIVITY has 4"},
    {GRID "FIELD f 1\na 1000000000 1000000000 int\n", "part.mesh:6: a field of 1000000000 x 1000000000"},
    {GRID "FIELD f 1\na 1000 100 int\n1 2 3\n", "part.mesh:8: the file ends in a field of 100000 values after 3"},
    {HEAD("BINARY", "POLYDATA") "FIELD f 1\na 1 1 string\n",
     "part.mesh: byte 81: a binary field of texts is not read; save the mesh without it"},
    {HEAD("BINARY", "POLYDATA") "POINTS 1 float 3\n", "part.mesh: byte 75: found \"3\" where the line should end"},
    {GRID POINTS, "part.mesh: there are no triangles and no tetrahedra in it"},
    {GRID POINTS "CELLS 1 2\n1 0\nCELL_TYPES 1\n1", "part.mesh: there are no triangles and no tetrahedra in it"},
};

static void test_wrong_files_are_refused_by_their_line(void **state) {
    (void)state;
    for (int32_t i = 0; i < STN_COUNT(wrong_files); i++) {
        assert_refused("vtk", wrong_files[i].text, wrong_files[i].message);
    }
}

static void test_no_memory_and_cut_files_leave_nothing_behind(void **state) {
    (void)state;
    static const char surface[] =
        SURFACE_5 POINTS "FIELD f 1\na 1 1 int\n4\nMETADATA\nx\n\nPOLYGONS 3 7\nOFFSETS int\n0 3 7\n"
                         "CONNECTIVITY vtktypeint64\n0 1 2 0 1 4 3\n";
    assert_survives_no_memory("vtk", surface, sizeof surface - 1);
    assert_survives_cuts("vtk", surface, sizeof surface - 1);
    for (int32_t i = 0; i < 2; i++) {
        bytes b = binary_grid(i == 1, i == 1);
        assert_survives_no_memory("vtk", b.data, b.size);
        assert_survives_cuts("vtk", b.data, b.size);
        free(b.data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tetrahedra_of_a_grid_are_read),
        cmocka_unit_test(test_both_layouts_of_cells_give_the_same),
        cmocka_unit_test(test_the_surface_and_lines_given_with_a_solid_are_left_to_its_boundary),
        cmocka_unit_test(test_triangles_polygons_and_strips_are_read),
        cmocka_unit_test(test_fields_are_skipped_wherever_they_stand),
        cmocka_unit_test(test_binary_files_are_read_in_both_layouts_and_precisions),
        cmocka_unit_test(test_a_binary_surface_is_read),
        cmocka_unit_test(test_wrong_binary_files_are_refused_by_their_byte),
        cmocka_unit_test(test_wrong_files_are_refused_by_their_line),
        cmocka_unit_test(test_no_memory_and_cut_files_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
