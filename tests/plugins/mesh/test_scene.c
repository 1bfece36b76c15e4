// SPDX-License-Identifier: Apache-2.0
// Scene files through the real worker: a cube with corners at +-1 (area 24, volume 8), placed by COLLADA and glTF.
#include "mesh_files.h"

#include "expected_mesh.h"

// The address sanitizer ends a process at its limit before the library is told that memory is short.
#if defined(__SANITIZE_ADDRESS__)
#define OUT_OF_MEMORY "ended without an answer"
#else
#define OUT_OF_MEMORY "placements"
#endif

static const stn_vec3 ones = {1.0, 1.0, 1.0}, minus_ones = {-1.0, -1.0, -1.0};

static void a_collada_cube_is_a_closed_solid_of_its_volume(void **state) {
    (void)state;
    loaded l = must_load(write_dae("cube.dae", "<up_axis>Z_UP</up_axis>", "<node>" DAE_CUBE "</node>"));
    assert_int_equal(l.facts.triangle_count, 12);
    assert_int_equal(l.vertex_count, 8);
    assert_int_equal(l.facts.open_edge_count, 0);
    assert_int_equal(l.facts.instance_count, 1);
    assert_int_equal(l.facts.up_axis, 'z');
    assert_near(l.facts.unit, 1.0, 0.0);
    assert_near(l.facts.area, 24.0, 1e-14);
    assert_near(l.facts.volume, 8.0, 1e-14);
    assert_near(l.mass, 8.0, 1e-14);
    assert_bounds(&l, minus_ones, ones, 0.0);
}

static void the_unit_is_applied_exactly_and_the_up_axis_is_told_but_not_applied(void **state) {
    (void)state;
    static const struct {
        const char *asset;
        double unit;
        char axis;
    } cases[] = {
        {"<unit name=\"cm\" meter=\"0.01\"/><up_axis>Y_UP</up_axis>", 0.01, 'y'},
        {"<unit name=\"inch\" meter=\"0.0254\"/><up_axis>X_UP</up_axis>", 0.0254, 'x'},
        {"<unit name=\"mm\" meter=\"0.001\"/><up_axis>Z_UP</up_axis>", 0.001, 'z'},
        {"<unit name=\"km\" meter=\"1000\"/>", 1000.0, 'y'}, // COLLADA's default axis
        {"", 1.0, 'y'},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        // a box of 2 x 4 x 6, so that a rotation would show
        loaded l = must_load(write_dae("unit.dae", cases[i].asset, "<node><scale>1 2 3</scale>" DAE_CUBE "</node>"));
        double u = cases[i].unit;
        assert_near(l.facts.unit, u, 0.0);
        assert_int_equal(l.facts.up_axis, cases[i].axis);
        assert_bounds(&l, (stn_vec3){-u, -2.0 * u, -3.0 * u}, (stn_vec3){u, 2.0 * u, 3.0 * u}, 0.0);
        assert_near(l.facts.volume / (u * u * u), 48.0, 1e-13);
    }
}

static void all_placements_count_with_the_transformations_of_their_nodes(void **state) {
    (void)state;
    // the outer node moves by (10, 0, 0) and turns a quarter about z; inside, one cube at 0 and one at (0, 5, 0) that
    // ends at (10 - 5, 0, 0); a third node places it once more at (0, 0, -7)
    loaded l = must_load(write_dae("placed.dae", "<unit meter=\"0.5\"/><up_axis>Z_UP</up_axis>",
                                   "<node><translate>10 0 0</translate><rotate>0 0 1 90</rotate>" DAE_CUBE
                                   "<node><matrix>1 0 0 0 0 1 0 5 0 0 1 0 0 0 0 1</matrix>" DAE_CUBE "</node></node>"
                                   "<node><translate>0 0 -7</translate>" DAE_CUBE "</node>"));
    assert_int_equal(l.facts.instance_count, 3);
    assert_int_equal(l.facts.triangle_count, 36);
    assert_near(l.facts.volume, 3.0 * 8.0 * 0.125, 1e-6);
    // rotations come from assimp in single precision
    assert_bounds(&l, (stn_vec3){-0.5, -0.5, -4.0}, (stn_vec3){5.5, 0.5, 0.5}, 1e-6);
}

static void a_part_of_several_materials_is_one_placement_and_two_of_it_are_two(void **state) {
    (void)state;
    const char *halves = "<triangles material=\"a\" count=\"6\">" DAE_INPUT "<p>0 1 3 0 3 2 4 6 7 4 7 5 0 4 5 0 5 1</p>"
                         "</triangles><triangles material=\"b\" count=\"6\">" DAE_INPUT
                         "<p>2 3 7 2 7 6 0 2 6 0 6 4 1 5 7 1 7 3</p></triangles>";
    loaded one = must_load(write_dae_of("one.dae", "", halves, "<node>" DAE_CUBE "</node>"));
    assert_int_equal(one.facts.instance_count, 1);
    assert_int_equal(one.facts.triangle_count, 12);
    assert_int_equal(one.facts.open_edge_count, 0);
    loaded two = must_load(write_dae_of("two.dae", "", halves, "<node>" DAE_CUBE DAE_CUBE "</node>"));
    assert_int_equal(two.facts.instance_count, 2);
    assert_int_equal(two.facts.triangle_count, 24);
}

static void polygons_become_triangles_and_lines_are_left_out(void **state) {
    (void)state;
    loaded l = must_load(write_dae_of(
        "poly.dae", "",
        "<polylist count=\"5\">" DAE_INPUT "<vcount>4 4 4 4 4</vcount><p>0 1 3 2 4 6 7 5 0 4 5 1 2 3 7 6 0 2 6 4</p>"
        "</polylist><lines count=\"2\">" DAE_INPUT "<p>0 7 1 6</p></lines><polygons count=\"1\">" DAE_INPUT
        "<p>1 5 7 3</p></polygons>",
        "<node>" DAE_CUBE "</node>"));
    assert_int_equal(l.facts.triangle_count, 12);
    assert_int_equal(l.facts.open_edge_count, 0);
    assert_int_equal(l.facts.instance_count, 1);
    assert_near(l.facts.volume, 8.0, 1e-14);
}

static void gltf_with_a_file_beside_it_inside_it_and_binary_is_the_same_cube(void **state) {
    (void)state;
    static const char node[] = "{\"mesh\":0}";
    write_gltf_buffer("cube.bin");
    write_gltf_buffer("cube two.bin");
    static const char inside[] =
        "data:application/octet-stream;base64,"
        "AACAvwAAgL8AAIC/AACAvwAAgL8AAIA/AACAvwAAgD8AAIC/AACAvwAAgD8AAIA/AACAPwAAgL8AAIC/AACAPwAAgL8AAIA/"
        "AACAPwAAgD8AAIC/AACAPwAAgD8AAIA/AAABAAMAAAADAAIABAAGAAcABAAHAAUAAAAEAAUAAAAFAAEAAgADAAcAAgAHAAYA"
        "AAACAAYAAAAGAAQAAQAFAAcAAQAHAAMA";
    const char *paths[] = {write_gltf("beside.gltf", "cube.bin", node), write_gltf("inside.GLTF", inside, node),
                           write_gltf("coded.gltf", "cube%20two%2Ebin", node), write_glb("binary.glb", node),
                           write_glb("misnamed.gltf", node)};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        loaded l = must_load(paths[i]);
        assert_int_equal(l.facts.triangle_count, 12);
        assert_int_equal(l.facts.open_edge_count, 0);
        assert_int_equal(l.facts.up_axis, 'y');
        assert_near(l.facts.unit, 1.0, 0.0);
        assert_near(l.facts.volume, 8.0, 1e-14);
        assert_bounds(&l, minus_ones, ones, 0.0);
    }
}

static void gltf_nodes_place_their_mesh(void **state) {
    (void)state;
    loaded l =
        must_load(write_glb("nodes.glb", "{\"translation\":[10,0,0],\"scale\":[1,2,3],\"mesh\":0,\"children\":[1]},"
                                         "{\"translation\":[0,0,4],\"mesh\":0}"));
    assert_int_equal(l.facts.instance_count, 2);
    assert_int_equal(l.facts.triangle_count, 24);
    assert_bounds(&l, (stn_vec3){9.0, -2.0, -3.0}, (stn_vec3){11.0, 2.0, 15.0}, 1e-5);
}

/// A gltf in sub/ that names a buffer by `uri`, allowed files below `root` (NULL: beside it).
static loaded load_jailed(const char *uri, const char *root) {
    mkdir(in_folder("sub"), 0700);
    stn_mesh_request request = request_of(write_gltf("sub/scene.gltf", uri, "{\"mesh\":0}"));
    request.root = root;
    return load_request(&request);
}

static void only_files_below_the_root_are_opened(void **state) {
    (void)state;
    char absolute[600], target[600];
    loaded l;
    mkdir(in_folder("sub"), 0700);
    mkdir(in_folder("subterranean"), 0700);
    write_gltf_buffer("outside.bin");
    write_gltf_buffer("subterranean/near.bin");
    snprintf(absolute, sizeof absolute, "%s/outside.bin", folder);
    snprintf(target, sizeof target, "%s/sub/link.bin", folder);
    assert_int_equal(symlink("../outside.bin", target), 0);
    snprintf(target, sizeof target, "%s/sub/up", folder);
    assert_int_equal(symlink("..", target), 0);
    const char *const outside[] = {"../outside.bin",           "link.bin",           "up/outside.bin",
                                   "../subterranean/near.bin", "%2E%2E/outside.bin", "sub/../../outside.bin"};
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        l = load_jailed(outside[i], NULL);
        assert_int_equal(l.status, STN_ERR_ARGUMENT);
        assert_non_null(strstr(l.err.text, "could not open"));
    }
    l = load_jailed("../outside.bin", NULL);
    assert_non_null(strstr(l.err.text, "outside of the folder that is allowed"));
    l = load_jailed(absolute, folder);
    assert_int_equal(l.status, STN_ERR_ARGUMENT);
    l = load_jailed("nowhere.bin", NULL);
    assert_non_null(strstr(l.err.text, "nowhere.bin: No such file"));
    // the same names are good below a root further up
    for (size_t i = 0; i < 5; i++) {
        l = load_jailed(outside[i], folder);
        assert_int_equal(l.status, STN_OK);
    }
    l = load_jailed("../outside.bin", "/nowhere");
    assert_int_equal(l.status, STN_ERR_FILE);
}

static void buffers_that_are_no_regular_files_do_not_block(void **state) {
    (void)state;
    mkdir(in_folder("sub"), 0700);
    assert_int_equal(mkfifo(in_folder("sub/pipe.bin"), 0600), 0);
    assert_int_equal(mkdir(in_folder("sub/folder.bin"), 0700), 0);
    assert_int_equal(load_jailed("pipe.bin", NULL).status, STN_ERR_ARGUMENT);
    assert_int_equal(load_jailed("folder.bin", NULL).status, STN_ERR_ARGUMENT);
    write_text("sub/short.bin", "short");
    assert_int_equal(load_jailed("short.bin", NULL).status, STN_ERR_ARGUMENT);
}

static void hostile_scenes_are_errors_in_bounded_time_and_memory(void **state) {
    (void)state;
    static char text[1 << 20];
    // 12 levels of nodes that hold the next ten times: 10^12 cubes
    char *at = text;
    at += sprintf(at, "<node>");
    for (int level = 0; level < 12; level++) {
        for (int i = 0; i < 10; i++) {
            at += sprintf(at, "<instance_node url=\"#n%d\"/>", level);
        }
        at += sprintf(at, "</node><node id=\"n%d\">", level);
    }
    sprintf(at, DAE_CUBE "</node>");
    must_refuse(write_dae("laughs.dae", "", text), STN_ERR_ARGUMENT, OUT_OF_MEMORY);
    must_refuse(write_dae("self.dae", "", "<node id=\"me\">" DAE_CUBE "<instance_node url=\"#me\"/></node>"),
                STN_ERR_ARGUMENT, "");
    at = text;
    for (int i = 0; i < 100000; i++) {
        at += sprintf(at, "<a>");
    }
    must_refuse(write_text("deep.dae", text), STN_ERR_ARGUMENT, "");
    must_refuse(write_dae("unit.dae", "<unit meter=\"nan\"/>", "<node>" DAE_CUBE "</node>"), STN_ERR_ARGUMENT, "unit");
    must_refuse(write_dae("zero.dae", "<unit meter=\"0\"/>", "<node>" DAE_CUBE "</node>"), STN_ERR_ARGUMENT, "unit");
    must_refuse(write_dae("empty.dae", "", "<node/>"), STN_ERR_ARGUMENT, "no triangles");
    must_refuse(write_text("none.dae", ""), STN_ERR_ARGUMENT, "");
    must_refuse(write_text("cut.dae", "<?xml version=\"1.0\"?><COLLADA><library_geometries>"), STN_ERR_ARGUMENT, "");
    must_refuse(write_text("other.dae", "solid x\nendsolid\n"), STN_ERR_ARGUMENT, "");
    must_refuse(write_text("json.gltf", "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":1e15,"
                                        "\"uri\":\"json.gltf\"}]}"),
                STN_ERR_ARGUMENT, "");
    must_refuse(write_dae_of("index.dae", "", "<triangles count=\"1\">" DAE_INPUT "<p>0 1 4000000</p></triangles>",
                             "<node>" DAE_CUBE "</node>"),
                STN_ERR_ARGUMENT, "");
}

static void every_cut_of_a_scene_is_an_error_or_a_mesh(void **state) {
    (void)state;
    size_t size = 0;
    char *bytes = read_bytes(write_glb("whole.glb", "{\"mesh\":0}"), &size);
    for (size_t cut = 0; cut < size; cut += 1 + size / 40) {
        loaded l = load(write_bytes("cut.glb", bytes, cut));
        assert_true(l.status == STN_OK || l.status == STN_ERR_ARGUMENT);
    }
    free(bytes);
    assert_no_children();
}

static void check_file(const expected_mesh *e) {
    bool dae = strcmp(e->format, "dae") == 0; // glTF has its unit and up axis by its standard
    double u = dae ? e->unit : 1.0, size = 0.0;
    char up_axis = dae ? (char)(e->up_axis[0] + 'x' - 'X') : 'y';
    skip_without(e->path);
    loaded l = must_load(e->path);
    for (int i = 0; i < 6; i++) {
        size = fmax(size, fabs(e->bounds[i] * u));
    }
    assert_int_equal(l.facts.triangle_count, e->triangles);
    assert_int_equal(l.facts.degenerate_count, e->degenerate);
    assert_int_equal(l.facts.open_edge_count, e->open_edges);
    assert_int_equal(l.facts.instance_count, dae ? e->instances : 1);
    assert_near(l.facts.unit, u, 0.0);
    assert_int_equal(l.facts.up_axis, up_axis);
    // assimp holds COLLADA's decimals in single precision, of relative error 6e-8
    double tolerance = dae ? 1e-7 : 1e-14;
    assert_bounds(&l, (stn_vec3){e->bounds[0] * u, e->bounds[1] * u, e->bounds[2] * u},
                  (stn_vec3){e->bounds[3] * u, e->bounds[4] * u, e->bounds[5] * u}, tolerance * size);
    assert_near(l.facts.area / (e->area * u * u), 1.0, tolerance);
    // positions that are off by d change the volume by up to the area times d
    assert_near(l.facts.volume, e->volume * u * u * u, tolerance * size * l.facts.area);
}

static void published_scenes_have_the_figures_of_an_independent_reader(void **state) {
    (void)state;
    skip_without(EXPECTED_MESHES);
    FILE *file = expected_meshes_open();
    expected_mesh e;
    int checked = 0;
    while (expected_mesh_next(file, &e)) {
        if (strcmp(e.format, "dae") == 0 || strcmp(e.format, "gltf") == 0) {
            check_file(&e);
            checked++;
        }
    }
    fclose(file);
    print_message("%d files\n", checked);
    assert_true(checked > 0);
}

int main(void) {
    // A program at a fixed place that takes this address gives the function one of its own (see CMakeLists.txt).
    stn_status (*volatile create)(const stn_context_options *, stn_context **, stn_error *) = stn_context_create;
    (void)create;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_collada_cube_is_a_closed_solid_of_its_volume, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(the_unit_is_applied_exactly_and_the_up_axis_is_told_but_not_applied,
                                        enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(all_placements_count_with_the_transformations_of_their_nodes, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(a_part_of_several_materials_is_one_placement_and_two_of_it_are_two,
                                        enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(polygons_become_triangles_and_lines_are_left_out, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(gltf_with_a_file_beside_it_inside_it_and_binary_is_the_same_cube, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(gltf_nodes_place_their_mesh, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(only_files_below_the_root_are_opened, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(buffers_that_are_no_regular_files_do_not_block, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(hostile_scenes_are_errors_in_bounded_time_and_memory, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(every_cut_of_a_scene_is_an_error_or_a_mesh, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(published_scenes_have_the_figures_of_an_independent_reader, enter_folder,
                                        leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
