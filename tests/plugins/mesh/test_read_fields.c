// SPDX-License-Identifier: Apache-2.0
// Solids of tetrahedra from VTK and gmsh files: their pressure fields, elements of higher order, and what is wrong.
#include "read_mesh.h"

#define VTK_HEAD(format) "# vtk DataFile Version 3.0\na title\n" format "\nDATASET UNSTRUCTURED_GRID\n"
#define VTK_SOLID                                                                                \
    VTK_HEAD("ASCII")                                                                            \
    "POINTS 5 double\n0 0 0 1 0 0\n0 1 0 0 0 1\n0.2 0.2 0.2\nCELLS 4 20\n4 0 1 2 4\n4 0 1 3 4\n" \
    "4 0 2 3 4\n4 1 2 3 4\nCELL_TYPES 4\n10 10 10 10\n"
#define MSH_SOLID(version)                                                                                     \
    "$MeshFormat\n" version " 0 8\n$EndMeshFormat\n$Nodes\n6\n40 0 0 0\n7 1 0 0\n8 0 1 0\n1000 0 0 1\n"        \
    "3 0.2 0.2 0.2\n99 5 5 5\n$EndNodes\n$Elements\n4\n1 4 0 40 7 8 3\n2 4 0 40 7 1000 3\n3 4 0 40 8 1000 3\n" \
    "4 4 0 7 8 1000 3\n$EndElements\n"
#define VIEW(name, values) "$NodeData\n1\n\"" name "\"\n1\n0.0\n3\n0\n1\n" values "\n$EndNodeData\n"

static const double extents[5] = {0, 0, 0, 0, 1};

static void assert_field(const char *format, const char *text) {
    read_result result;
    read_good(format, text, &result);
    assert_int_equal(result.raw.tetrahedron_count, 4);
    assert_non_null(result.raw.extents);
    for (int32_t i = 0; i < 5; i++) {
        assert_near(result.raw.extents[i], extents[i], 0.0);
    }
    read_clear(&result);
}

static void assert_no_field(const char *format, const char *text) {
    read_result result;
    read_good(format, text, &result);
    assert_int_equal(result.raw.tetrahedron_count, 4);
    assert_null(result.raw.extents);
    read_clear(&result);
}

static void test_scalars_and_arrays_named_extent_are_the_field(void **state) {
    (void)state;
    assert_field("vtk", VTK_SOLID "POINT_DATA 5\nSCALARS extent double 1\nLOOKUP_TABLE default\n0 0 0 0 1\n");
    assert_field("vtk", VTK_SOLID "POINT_DATA 5\nSCALARS extent float\nLOOKUP_TABLE t\n0 0\n0 0 1");
    assert_field("vtk", VTK_SOLID "POINT_DATA 5\nFIELD FieldData 2\nu 3 5 double\n1 nan 3 4 5 6 7 8 9 10 11 12 "
                                  "13 14 15\nextent 1 5 double\n0 0 0 0 1\nMETADATA\nINFORMATION 0\n\n");
    assert_field("vtk",
                 VTK_SOLID "CELL_DATA 4\nSCALARS extent int 1\nLOOKUP_TABLE default\n9 9 9 9\nSCALARS b int 2\n"
                           "LOOKUP_TABLE default\n1 2 3 4 5 6 7 8\nPOINT_DATA 5\nVECTORS v float\n1 2 3 4 5 6 7 8 9 10 "
                           "11 12 13 14 15\nTEXTURE_COORDINATES t 2 float\n0 0 0 0 0 0 0 0 0 0\nLOOKUP_TABLE x 1\n"
                           "1 1 1 1\nCOLOR_SCALARS c 1\n1 1 1 1 1\nSCALARS extent double\nLOOKUP_TABLE x\n0 0 0 0 1\n");
}

static void test_views_named_extent_are_the_field(void **state) {
    (void)state;
    assert_field("msh", MSH_SOLID("2.2") VIEW("extent", "5\n8 0\n40 0\n3 1\n1000 0\n7 0"));
    assert_field(
        "msh", MSH_SOLID("2.2") VIEW("a b $x", "1\n8 nan")
                   VIEW("extent", "6\n99 0\n8 0\n40 0\n3 1\n1000 0\n7 0") "$ElementNodeData\nx\n$EndElementNodeData\n");
}

static void test_other_data_are_no_field(void **state) {
    (void)state;
    assert_no_field("vtk", VTK_SOLID "POINT_DATA 5\nSCALARS extents double 1\nLOOKUP_TABLE default\n0 0 0 0 1\n");
    assert_no_field("vtk", VTK_SOLID "CELL_DATA 4\nSCALARS extent double 1\nLOOKUP_TABLE default\n0 0 0 1\n");
    assert_no_field("vtk", VTK_SOLID "POINT_DATA 5\nanything at all");
    assert_no_field("msh", MSH_SOLID("2.2") VIEW("Extent", "0"));
    assert_no_field("msh", MSH_SOLID("2.2") "$NodeData\n\"extent\"\n$EndNodeData\n");
}

static const double inner_points[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.25, 0.25, 0.25};

static void put_ints(bytes *b, const int32_t *values, int32_t count, size_t width, bool big_endian) {
    for (int32_t i = 0; i < count; i++) {
        put_int(b, values[i], width, big_endian);
    }
}

static void put_reals(bytes *b, const double *values, int32_t count, bool single, bool big_endian) {
    for (int32_t i = 0; i < count; i++) {
        (single ? put_float : put_double)(b, values[i], big_endian);
    }
}

static bytes binary_vtk(bool single) {
    static const int32_t cells[20] = {4, 0, 1, 2, 4, 4, 0, 1, 3, 4, 4, 0, 2, 3, 4, 4, 1, 2, 3, 4};
    static const int32_t types[4] = {10, 10, 10, 10};
    bytes b = {0};
    put_text(&b, VTK_HEAD("BINARY") "POINTS 5 float\n");
    put_reals(&b, inner_points, 15, true, true);
    put_text(&b, "\nCELLS 4 20\n");
    put_ints(&b, cells, 20, 4, true);
    put_text(&b, "\nCELL_TYPES 4\n");
    put_ints(&b, types, 4, 4, true);
    put_text(&b, "\nCELL_DATA 4\nCOLOR_SCALARS c 3\n\n\n\n\n\n\n\n\n\n\n\n\n\nPOINT_DATA 5\nSCALARS extent ");
    put_text(&b, single ? "float 1\nLOOKUP_TABLE default\n" : "double\nLOOKUP_TABLE default\n");
    put_reals(&b, extents, 5, single, true);
    put_text(&b, "\n");
    return b;
}

static bytes binary_msh(bool big_endian) {
    static const int32_t head[4] = {1, 5, 1, 5}, entity[3] = {3, 1, 0}, five[1] = {5}, numbers[5] = {1, 2, 3, 4, 5};
    static const int32_t elements[4] = {1, 4, 1, 4}, volume[3] = {3, 1, 4}, four[1] = {4};
    static const int32_t tagged[20] = {1, 1, 2, 3, 5, 2, 1, 2, 4, 5, 3, 1, 3, 4, 5, 4, 2, 3, 4, 5};
    bytes b = {0};
    put_text(&b, "$MeshFormat\n4.1 1 8\n");
    put_int(&b, 1, 4, big_endian);
    put_text(&b, "\n$EndMeshFormat\n$Nodes\n");
    put_ints(&b, head, 4, 8, big_endian);
    put_ints(&b, entity, 3, 4, big_endian);
    put_ints(&b, five, 1, 8, big_endian);
    put_ints(&b, numbers, 5, 8, big_endian);
    put_reals(&b, inner_points, 15, false, big_endian);
    put_text(&b, "\n$EndNodes\n$Elements\n");
    put_ints(&b, elements, 4, 8, big_endian);
    put_ints(&b, volume, 3, 4, big_endian);
    put_ints(&b, four, 1, 8, big_endian);
    put_ints(&b, tagged, 20, 8, big_endian);
    put_text(&b, "\n$EndElements\n$NodeData\n1\n\"extent\"\n1\n0\n3\n0\n1\n5\n");
    for (int32_t i = 5; i-- > 0;) {
        put_int(&b, i + 1, 4, big_endian);
        put_double(&b, extents[i], big_endian);
    }
    put_text(&b, "\n$EndNodeData\n");
    return b;
}

static void test_binary_fields_are_read(void **state) {
    (void)state;
    for (int32_t i = 0; i < 4; i++) {
        bytes b = i < 2 ? binary_vtk(i == 1) : binary_msh(i == 3);
        const char *format = i < 2 ? "vtk" : "msh";
        read_result result;
        read_good_bytes(format, b.data, b.size, &result);
        assert_int_equal(result.raw.tetrahedron_count, 4);
        assert_memory_equal(result.raw.extents, extents, sizeof extents);
        read_clear(&result);
        assert_survives_no_memory(format, b.data, b.size);
        assert_survives_cuts(format, b.data, b.size);
        free(b.data);
    }
}

static void test_wrong_fields_of_vtk_files_are_refused_by_their_line(void **state) {
    (void)state;
#define SCALARS VTK_SOLID "POINT_DATA 5\nSCALARS extent double 1\nLOOKUP_TABLE default\n"
    static const struct {
        const char *text, *message;
    } cases[] = {
        {SCALARS "0 0 0\n0 nan\n", "part.mesh:20: field extent: \"nan\" is no finite decimal number"},
        {SCALARS "0 0 0\n0 inf\n", "part.mesh:20: field extent: \"inf\" is no finite decimal number"},
        {SCALARS "0 0 0 0\n1.5\n", "part.mesh:20: field extent: 1.5 at vertex 4 (counted from 0) must be from 0 (on "
                                   "the surface) to 1 (deepest)"},
        {SCALARS "0 0 0 0\n-0.1\n", "part.mesh:20: field extent: -0.1 at vertex 4 (counted from 0) must be from 0 (on "
                                    "the surface) to 1 (deepest)"},
        {SCALARS "0 0 0\n", "part.mesh:20: field extent: the end is no finite decimal number"},
        {VTK_SOLID "POINT_DATA 4\nSCALARS extent double 1\nLOOKUP_TABLE default\n0 0 0 0\n",
         "part.mesh:18: field extent: 4 values for 5 points"},
        {VTK_SOLID "POINT_DATA 99999999999\nSCALARS extent double 1\nLOOKUP_TABLE default\n0 0 0 0\n",
         "part.mesh:16: data of 99999999999 points or cells: the field extent behind it is not read"},
        {VTK_SOLID "POINT_DATA 5\nSCALARS extent int 1\nLOOKUP_TABLE default\n0 0 0 0 1\n",
         "part.mesh:18: field extent: 1 of type int at a point: one float or double is read"},
        {VTK_SOLID "POINT_DATA 5\nSCALARS extent double 2\nLOOKUP_TABLE default\n0 0 0 0 1\n",
         "part.mesh:18: field extent: 2 of type double at a point: one float or double is read"},
        {VTK_SOLID "POINT_DATA 5\nNOVELTY x\nSCALARS extent double 1\nLOOKUP_TABLE default\n0 0 0 0 1\n",
         "part.mesh:17: \"NOVELTY\": no array of data: the field extent behind it is not read"},
        {SCALARS "0 0 0 0 1\nSCALARS extent double 1\nLOOKUP_TABLE default\n0 0 0 0 1\n",
         "part.mesh:21: the field extent a second time"},
    };
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        assert_refused("vtk", cases[i].text, cases[i].message);
    }
}

static void test_wrong_fields_of_gmsh_files_are_refused_by_their_line(void **state) {
    (void)state;
#define SOLID MSH_SOLID("2.2")
    static const struct {
        const char *text, *message;
    } cases[] = {
        {SOLID VIEW("extent", "5\n8 0\n40 nan\n3 1\n1000 0\n7 0"),
         "part.mesh:30: field extent: \"nan\" is no finite decimal number"},
        {SOLID VIEW("extent", "5\n8 0\n40 7\n3 1\n1000 0\n7 0"),
         "part.mesh:30: field extent: 7 at vertex 0 (counted from 0) must be from 0 (on the surface) to 1 (deepest)"},
        {SOLID VIEW("extent", "5\n8 0\n41 0\n3 1\n1000 0\n7 0"),
         "part.mesh:30: the field extent names node 41, which $Nodes does not have"},
        {SOLID VIEW("extent", "5\n8 0\n8 0\n3 1\n1000 0\n7 0"),
         "part.mesh:30: the field extent has a second value at node 8"},
        {SOLID VIEW("extent", "4\n8 0\n3 1\n1000 0\n7 0"),
         "part.mesh: its field extent has no value at vertex 0 (counted from 0) of tetrahedron 0: give one at every "
         "vertex, or no field"},
        {SOLID VIEW("extent", "2147483647\n8 0"),
         "part.mesh:28: values of the field extent: 2147483647 must be from 0 to 536870911"},
        {SOLID VIEW("extent", "500000000\n8 0"), "part.mesh:28: values of the field extent: 500000000 do not fit into "
                                                 "the 18 bytes that follow; the file is cut "
                                                 "off or the count wrong"},
        {SOLID "$NodeData\n1\n\"extent\"\n1\n0\n3\n0\n3\n5\n",
         "part.mesh:28: the field extent has 3 components, must have 1"},
        {SOLID "$NodeData\n1\n\"extent\"\n1\n0\n2\n0\n1\n",
         "part.mesh:25: $NodeData with 2 whole numbers: step, components and nodes are needed"},
        {SOLID VIEW("extent", "5\n8 0\n40 0\n3 1\n1000 0\n7 0") VIEW("extent", "5\n8 0\n40 0\n3 1\n1000 0\n7 0"),
         "part.mesh:43: the field extent a second time"},
        {"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n" VIEW("extent", "0"), "part.mesh:6: the field extent before $Nodes"},
    };
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        assert_refused("msh", cases[i].text, cases[i].message);
    }
}

/// Of 10 nodes the four corners come first, in both formats.
static void test_elements_of_higher_order_are_read_by_their_corners(void **state) {
    (void)state;
    static const char vtk[] =
        VTK_HEAD("ASCII") "POINTS 10 double\n0 0 0 2 0 0 0 2 0 0 0 2 1 0 0 1 1 0 0 1 0 0 0 1 1 0 1 "
                          "0 1 1\nCELLS 3 22\n10 0 1 2 3 4 5 6 7 8 9\n6 0 1 2 4 5 6\n3 0 1 4\n"
                          "CELL_TYPES 3\n24 22 21\n";
    static const char msh[] =
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n10\n1 0 0 0\n2 2 0 0\n3 0 2 0\n4 0 0 2\n5 1 0 0\n6 1 1 0\n"
        "7 0 1 0\n8 0 0 1\n9 0 1 1\n10 1 0 1\n$EndNodes\n$Elements\n3\n1 11 0 1 2 3 4 5 6 7 8 9 10\n"
        "2 9 0 1 2 3 5 6 7\n3 8 0 1 2 5\n$EndElements\n";
    for (int32_t i = 0; i < 2; i++) {
        read_result result;
        read_good(i == 0 ? "vtk" : "msh", i == 0 ? vtk : msh, &result);
        assert_tetrahedra(&result.raw, (const int32_t[]){0, 1, 2, 3}, 1);
        assert_int_equal(result.raw.curved_count, 2);
        stn_mesh *mesh = NULL;
        assert_ok(raw_to_mesh(result.context, &result.raw, &mesh, &result.err), result.err);
        assert_int_equal(mesh->facts.solid.unused_count, 6);
        assert_near(mesh->solid.mass, 8.0 / 6.0, 1e-15);
        stn_mesh_release(mesh);
        read_clear(&result);
    }
}

/// Headers that promise more than the file has are refused before anything of that size is allocated.
static void test_promises_are_not_believed(void **state) {
    (void)state;
    assert_refused("vtk", VTK_HEAD("ASCII") "POINTS 2147483648 double\n0 0 0\n",
                   "part.mesh:5: POINTS: 2147483648 must be from 0 to 536870911");
    assert_refused("vtk", VTK_HEAD("ASCII") "POINTS 1 double\n0 0 0\nCELLS 500000000 500000001\n",
                   "part.mesh:7: number of cells: 500000000 do not fit into the 1 bytes that follow; the file is cut "
                   "off or the count wrong");
    assert_refused("msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2147483648\n",
                   "part.mesh:5: number of nodes: 2147483648 must be from 0 to 536870911");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalars_and_arrays_named_extent_are_the_field),
        cmocka_unit_test(test_views_named_extent_are_the_field),
        cmocka_unit_test(test_other_data_are_no_field),
        cmocka_unit_test(test_binary_fields_are_read),
        cmocka_unit_test(test_wrong_fields_of_vtk_files_are_refused_by_their_line),
        cmocka_unit_test(test_wrong_fields_of_gmsh_files_are_refused_by_their_line),
        cmocka_unit_test(test_elements_of_higher_order_are_read_by_their_corners),
        cmocka_unit_test(test_promises_are_not_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
