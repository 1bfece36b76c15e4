// SPDX-License-Identifier: Apache-2.0
#include "read_mesh.h"

#include "stn_random.h"

#define FORMAT_2 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define FORMAT_4 "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
#define NODES_2  "$Nodes\n5\n40 0 0 0\n7 1 0 0\n8 0 1 0\n1000000 0 0 1\n3 1 1 1\n$EndNodes\n"
#define NODES_4                                                                                          \
    "$Nodes\n3 5 3 1000000\n0 1 0 1\n40\n0 0 0\n2 5 1 2\n7\n8\n1 0 0 0.5 0.5\n0 1 0 0.5 0.25\n3 1 0 2\n" \
    "1000000 3\n0 0 1\n1 1 1\n$EndNodes\n"

static const double nodes[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
static const int64_t tags[5] = {40, 7, 8, 1000000, 3};
static const int32_t two_tetrahedra[8] = {0, 1, 2, 3, 1, 2, 3, 4};
static const int32_t two_triangles[6] = {0, 1, 2, 4, 3, 2};

static void assert_solid(const char *text) {
    read_result result;
    read_good("msh", text, &result);
    assert_vertices(&result.raw, nodes, 5);
    assert_tetrahedra(&result.raw, two_tetrahedra, 2);
    assert_int_equal(result.raw.triangle_count, 0);
    read_clear(&result);
}

static void assert_surface(const char *text) {
    read_result result;
    read_good("msh", text, &result);
    assert_vertices(&result.raw, nodes, 5);
    assert_triangles(&result.raw, two_triangles, 2);
    read_clear(&result);
}

static void test_tetrahedra_replace_the_triangles_points_and_lines_beside_them(void **state) {
    (void)state;
    assert_solid(FORMAT_2 NODES_2 "$Elements\n5\n1 15 2 0 1 40\n2 1 2 0 1 40 7\n3 2 0 40 7 8\n"
                                  "12 4 3 99 2 1 40 7 8 1000000\n11 4 1 1 7 8 1000000 3\n$EndElements\n");
    assert_solid(FORMAT_4 NODES_4 "$Elements\n4 5 1 12\n0 1 15 1\n1 40\n1 1 1 1\n2 40 7\n2 1 2 1\n3 40 7 8\n"
                                  "3 1 4 2\n12 40 7 8 1000000\n11 7 8 1000000 3\n$EndElements\n");
}

static void test_triangles_alone_are_a_surface(void **state) {
    (void)state;
    assert_surface(FORMAT_2 NODES_2 "$Elements\n2\n1 2 2 0 1 40 7 8\n2 2 2 0 1 3 1000000 8\n$EndElements\n");
    assert_surface(FORMAT_4 NODES_4 "$Elements\n1 2 1 2\n2 1 2 2\n1 40 7 8\n2 3 1000000 8\n$EndElements\n");
    assert_surface("$MeshFormat 2 0 8 $EndMeshFormat " NODES_2
                   "$Elements 2 1 2 0 40 7 8 2 2 0 3 1000000 8 $EndElements");
}

static void test_sections_without_geometry_are_skipped_with_all_they_hold(void **state) {
    (void)state;
    assert_surface("$Comments\n$ a $EndComment is not the end \n$EndComments\n" FORMAT_4
                   "$PhysicalNames\n1\n2 1 \"the $Nodes of it\"\n$EndPhysicalNames\n$Entities\n1 0 0 0\n1 0 0 0 0 0\n"
                   "$EndEntities\n" NODES_4 "$Elements\n1 2 1 2\n2 1 2 2\n1 40 7 8\n2 3 1000000 8\n$EndElements\n"
                   "$Periodic\n0\n$EndPeriodic\n$NodeData\nnan\n$EndNodeData\n");
}

typedef struct layout {
    bool format_4, big_endian;
} layout;

static void put_ints(bytes *b, layout l, size_t width, const int64_t *values, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        put_int(b, values[i], width, l.big_endian);
    }
}

static void put_positions(bytes *b, layout l, int32_t first, int32_t count, int32_t parameters) {
    for (int32_t i = first; i < first + count; i++) {
        for (int32_t k = 0; k < 3 + parameters; k++) {
            put_double(b, k < 3 ? nodes[3 * i + k] : 0.75, l.big_endian);
        }
    }
}

static void put_nodes(bytes *b, layout l) {
    put_text(b, l.format_4 ? "$Nodes\n" : "$Nodes\n5\n");
    if (l.format_4) {
        put_ints(b, l, 8, (const int64_t[]){2, 5, 3, 1000000}, 4);
        put_ints(b, l, 4, (const int64_t[]){2, 9, 1}, 3);
        put_ints(b, l, 8, (const int64_t[]){2}, 1);
        put_ints(b, l, 8, tags, 2);
        put_positions(b, l, 0, 2, 2);
        put_ints(b, l, 4, (const int64_t[]){3, 1, 0}, 3);
        put_ints(b, l, 8, (const int64_t[]){3}, 1);
        put_ints(b, l, 8, tags + 2, 3);
        put_positions(b, l, 2, 3, 0);
    } else {
        for (int32_t i = 0; i < 5; i++) {
            put_ints(b, l, 4, tags + i, 1);
            put_positions(b, l, i, 1, 0);
        }
    }
    put_text(b, "\n$EndNodes\n");
}

/// A point, a triangle and the two tetrahedra.
static void put_elements(bytes *b, layout l) {
    put_text(b, l.format_4 ? "$Elements\n" : "$Elements\n4\n");
    size_t width = l.format_4 ? 8 : 4;
    if (l.format_4) {
        put_ints(b, l, 8, (const int64_t[]){3, 4, 1, 4}, 4);
    }
    static const int64_t types[3][2] = {{15, 1}, {2, 1}, {4, 2}};
    for (int32_t i = 0; i < 3; i++) {
        if (l.format_4) {
            put_ints(b, l, 4, (const int64_t[]){i, 1, types[i][0]}, 3);
            put_ints(b, l, 8, &types[i][1], 1);
        } else {
            put_ints(b, l, 4, (const int64_t[]){types[i][0], types[i][1], 2}, 3);
        }
        for (int32_t k = 0; k < types[i][1]; k++) {
            put_ints(b, l, width, (const int64_t[]){10 + i}, 1);
            if (!l.format_4) {
                put_ints(b, l, 4, (const int64_t[]){99, 1}, 2);
            }
            put_ints(b, l, width, tags + k, i == 0 ? 1 : 2 + i);
        }
    }
    put_text(b, "\n$EndElements\n");
}

static bytes binary_file(layout l) {
    bytes b = {0};
    put_text(&b, l.format_4 ? "$MeshFormat\n4.1 1 8\n" : "$MeshFormat\n2.2 1 8\n");
    put_int(&b, 1, 4, l.big_endian);
    put_text(&b, "\n$EndMeshFormat\n");
    if (l.format_4) {
        put_text(&b, "$Entities\n");
        put(&b, "$EndE\0\xff\n\n$", 10);
        put_text(&b, "\n$EndEntities\n");
    }
    put_nodes(&b, l);
    put_elements(&b, l);
    return b;
}

static void test_binary_files_are_read_in_both_formats_and_byte_orders(void **state) {
    (void)state;
    for (int32_t i = 0; i < 4; i++) {
        bytes b = binary_file((layout){(i & 1) != 0, (i & 2) != 0});
        read_result result;
        read_good_bytes("msh", b.data, b.size, &result);
        assert_vertices(&result.raw, nodes, 5);
        assert_tetrahedra(&result.raw, two_tetrahedra, 2);
        read_clear(&result);
        free(b.data);
    }
}

/// Node i of a shuffled list has the tag that the shuffle gave it, dense or scattered over 62 bits.
static void test_any_positive_tags_find_their_nodes(void **state) {
    (void)state;
    enum { MANY = 3000 };
    static int64_t tag[MANY];
    for (int32_t scattered = 0; scattered < 2; scattered++) {
        stn_random random = {11};
        for (int32_t i = 0; i < MANY; i++) {
            tag[i] = scattered ? (int64_t)(random_bits(&random) >> (2 + random_below(&random, 40))) + 1 : i + 50;
        }
        for (int32_t i = MANY - 1; i > 0; i--) {
            int32_t k = random_below(&random, i + 1);
            int64_t t = tag[i];
            tag[i] = tag[k];
            tag[k] = t;
        }
        bytes b = {0};
        char text[120];
        put_text(&b, FORMAT_4 "$Nodes\n1 3000 1 1\n2 1 0 3000\n");
        for (int32_t i = 0; i < 2 * MANY; i++) {
            if (i < MANY) {
                snprintf(text, sizeof text, "%lld\n", (long long)tag[i]);
            } else {
                snprintf(text, sizeof text, "%d 0 .5\n", i - MANY);
            }
            put_text(&b, text);
        }
        put_text(&b, "$EndNodes\n$Elements\n1 1000 1 1000\n2 1 2 1000\n");
        for (int32_t i = 0; i < MANY; i += 3) {
            snprintf(text, sizeof text, "%d %lld %lld %lld\n", i + 1, (long long)tag[i], (long long)tag[i + 1],
                     (long long)tag[i + 2]);
            put_text(&b, text);
        }
        put_text(&b, "$EndElements\n");
        read_result result;
        read_good_bytes("msh", b.data, b.size, &result);
        assert_int_equal(result.raw.triangle_count, MANY / 3);
        for (int32_t i = 0; i < MANY; i++) {
            assert_int_equal(result.raw.triangles[i], i);
            assert_near(result.raw.vertices[3 * i], i, 0.0);
        }
        read_clear(&result);
        free(b.data);
    }
}

#define ELEMENTS_2 FORMAT_2 NODES_2 "$Elements\n1\n"
#define ELEMENTS_4 FORMAT_4 NODES_4 "$Elements\n"

static void test_wrong_files_are_refused_by_their_line(void **state) {
    (void)state;
    static const char none[] = "part.mesh: there are no triangles and no tetrahedra in it";
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "part.mesh: the file is empty"},
        {"solid x", "part.mesh:1: expected a section such as $MeshFormat, found \"solid\""},
        {"$", "part.mesh:1: expected a section such as $MeshFormat, found \"$\""},
        {"$NOD\n1\n1 0 0 0\n$ENDNOD\n", "part.mesh:1: \"$NOD\": such nodes are not read; save the mesh in format 4.1"},
        {"$Other\n1\n1 0 0 0\n$EndOthe\n", "part.mesh:5: section \"$Other\" does not end"},
        {"$Nodes\n", "part.mesh:1: \"$Nodes\" before $MeshFormat"},
        {"$MeshFormat\n4 0 8", "part.mesh:2: format \"4\": 2.2 and 4.1 are read; save the mesh in one of them"},
        {"$MeshFormat\n1.0 0 8", "part.mesh:2: format \"1.0\": 2.2 and 4.1 are read; save the mesh in one of them"},
        {"$MeshFormat\n2.2.2.2.2.2 0 8",
         "part.mesh:2: format \"2.2.2.2.2.2\": 2.2 and 4.1 are read; save the mesh in one of them"},
        {"$MeshFormat\n2.2 2 8", "part.mesh:2: file type 2 and data size 8: 0 or 1, and 8, are read"},
        {"$MeshFormat\n2.2 0 4", "part.mesh:2: file type 0 and data size 4: 0 or 1, and 8, are read"},
        {"$MeshFormat\n2.2 0 8\n$EndNodes", "part.mesh:3: expected the end of \"$MeshFormat\", found \"$EndNodes\""},
        {"$MeshFormat\n2.2 1 8\nabcd",
         "part.mesh: byte 24: the byte order is told by an int of value 1; here it is 1684234849"},
        {FORMAT_2 FORMAT_2, "part.mesh:4: $MeshFormat a second time"},
        {FORMAT_2 NODES_2 NODES_2, "part.mesh:12: $Nodes a second time"},
        {FORMAT_2 "$Elements\n0\n$EndElements", "part.mesh:4: $Elements before $Nodes"},
        {FORMAT_2 "$Nodes\n999\n1 0 0 0\n",
         "part.mesh:5: number of nodes: 999 do not fit into the 9 bytes that follow; the file is cut off or the count "
         "wrong"},
        {FORMAT_2 "$Nodes\n-1\n", "part.mesh:5: number of nodes: -1 must be from 0 to 536870911"},
        {FORMAT_2 "$Nodes\n2\n1 0 0 0\n1 1 0 0\n$EndNodes", "part.mesh:7: node tag 1 twice"},
        {FORMAT_2 "$Nodes\n1\n0 0 0 0\n$EndNodes", "part.mesh:6: node tag 0 must be positive"},
        {FORMAT_2 "$Nodes\n1\n1 0 0 inf\n$EndNodes", "part.mesh:6: node: \"inf\" is no finite decimal number"},
        {FORMAT_2 "$Nodes\n1\n1.5 0 0 0\n$EndNodes", "part.mesh:6: node tag: \"1.5\" is no whole number"},
        {FORMAT_2 "$Nodes\n1\n1 0 0 0\n2 0 0 0\n$EndNodes", "part.mesh:7: expected the end of \"$Nodes\", found \"2\""},
        {ELEMENTS_2 "1 2 0 40 7 9\n", "part.mesh:14: an element names node 9, which $Nodes does not have"},
        {ELEMENTS_2 "1 2 0 40 7 -9223372036854775807\n",
         "part.mesh:14: an element names node -9223372036854775807, which $Nodes does not have"},
        {ELEMENTS_2 "1 3 0 40 7 8 3\n", "part.mesh:14: element type 3 (quadrangle): triangles (2) and tetrahedra (4), "
                                        "and those of second and third order, are read; save the "
                                        "mesh with those only"},
        {ELEMENTS_2 "1 11 0 40 7 8 3\n$EndElements",
         "part.mesh:15: node of an element: \"$EndElements\" is no whole number"},
        {ELEMENTS_2 "1 77 0 40 7 8 3\n", "part.mesh:14: element type 77 (of unknown shape): triangles (2) and "
                                         "tetrahedra (4), and those of second and third "
                                         "order, are read; save the mesh with those only"},
        {ELEMENTS_2 "1 2 -1 40 7 8 3\n", "part.mesh:14: an element with -1 tags"},
        {ELEMENTS_2 "1 2 999999999999 40 7 8 3\n", "part.mesh:15: tag of an element: the end is no whole number"},
        {ELEMENTS_2 "1 2 0 40 7\n$EndElements",
         "part.mesh:15: node of an element: \"$EndElements\" is no whole number"},
        {ELEMENTS_2 "1 15 0 40\n$EndElements\n", none},
        {ELEMENTS_4 "1 2 1 2\n2 1 2 3\n", "part.mesh:21: a block of 3 elements; 2 are left of those announced"},
    };
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        assert_refused("msh", cases[i].text, cases[i].message);
    }
}

static void test_blocks_that_do_not_add_up_are_refused(void **state) {
    (void)state;
    assert_refused("msh", FORMAT_4 "$Nodes\n1 2 1 2\n2 1 0 3\n1\n2\n3\n0 0 0\n",
                   "part.mesh:6: a block of 3 nodes of dimension 2; 2 nodes are left of those announced");
    assert_refused("msh", FORMAT_4 "$Nodes\n1 2 1 2\n4 1 0 2\n1\n2\n0 0 0\n",
                   "part.mesh:6: a block of 2 nodes of dimension 4; 2 nodes are left of those announced");
    assert_refused("msh", FORMAT_4 "$Nodes\n1 2 1 2\n2 1 0 1\n1\n0 0 0\n$EndNodes\n",
                   "part.mesh:8: the blocks have 1 nodes, $Nodes announces 2");
    assert_refused("msh", ELEMENTS_4 "1 2 1 2\n2 1 2 1\n1 40 7 8\n$EndElements",
                   "part.mesh:22: the blocks have 1 elements, $Elements announces 2");
    assert_refused("msh", ELEMENTS_4 "1000000000000 2 1 2\n2 1 2 0\n2 1 2 -1\n",
                   "part.mesh:22: a block of -1 elements; 2 are left of those announced");
}

/// Byte 4 of the header of the first elements is their number.
static void test_wrong_binary_files_are_refused_by_their_byte(void **state) {
    (void)state;
    bytes b = binary_file((layout){false, false});
    size_t first = 0;
    while (memcmp(b.data + first, "$Elements\n4\n", 12) != 0) {
        first++;
    }
    first += 12;
    b.data[first + 4] = 5;
    char message[200];
    snprintf(message, sizeof message, "part.mesh: byte %zu: a header of 5 elements; 4 are left of those announced",
             first + 12);
    assert_refused_bytes("msh", b.data, b.size, message);
    b.data[first + 4] = 1;
    size_t second = first + 12 + 16 + 12 + 12; // a header, the point, a header, number and tags of the triangle
    snprintf(message, sizeof message,
             "part.mesh: byte %zu: node of an element: 4 bytes are needed, the file has 3 more; it is cut off", second);
    assert_refused_bytes("msh", b.data, second + 3, message);
    free(b.data);
}

static void test_no_memory_and_cut_files_leave_nothing_behind(void **state) {
    (void)state;
    static const char text[] = FORMAT_4 "$Comments\n\n$EndComments\n" NODES_4
                                        "$Elements\n1 2 1 2\n2 1 2 2\n1 40 7 8\n2 3 1000000 8\n$EndElements\n";
    assert_survives_no_memory("msh", text, sizeof text - 1);
    assert_survives_cuts("msh", text, sizeof text - 1);
    for (int32_t i = 0; i < 2; i++) {
        bytes b = binary_file((layout){i == 1, i == 1});
        assert_survives_no_memory("msh", b.data, b.size);
        assert_survives_cuts("msh", b.data, b.size);
        free(b.data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tetrahedra_replace_the_triangles_points_and_lines_beside_them),
        cmocka_unit_test(test_triangles_alone_are_a_surface),
        cmocka_unit_test(test_sections_without_geometry_are_skipped_with_all_they_hold),
        cmocka_unit_test(test_binary_files_are_read_in_both_formats_and_byte_orders),
        cmocka_unit_test(test_any_positive_tags_find_their_nodes),
        cmocka_unit_test(test_wrong_files_are_refused_by_their_line),
        cmocka_unit_test(test_blocks_that_do_not_add_up_are_refused),
        cmocka_unit_test(test_wrong_binary_files_are_refused_by_their_byte),
        cmocka_unit_test(test_no_memory_and_cut_files_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
