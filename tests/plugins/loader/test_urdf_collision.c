// SPDX-License-Identifier: Apache-2.0
// Collision meshes: what becomes of them, and what is said about the files.
#include <stiction/mesh.h>

#include "urdf_fixture.h"

// A cube of side 2 with corners at +-1, and one whose top is dented down to the middle: hull volume 8, its own 8 - 8/6.
#define CORNERS "v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\nv -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1\n"
#define SIDES   "f 4 3 2 1\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n"
static const char cube[] = CORNERS SIDES "f 5 6 7 8\n";
static const char dented[] = CORNERS "v 0 0 0\n" SIDES "f 5 6 9\nf 6 7 9\nf 7 8 9\nf 8 5 9\n";
static const char open_cube[] = CORNERS SIDES;
static const char inside_out[] = CORNERS "f 1 2 3 4\nf 5 6 2 1\nf 6 7 3 2\nf 7 8 4 3\nf 8 5 1 4\nf 8 7 6 5\n";
static const char degenerate[] = CORNERS SIDES "f 5 6 7 8\nf 1 1 2\nf 3 3 3\n";

#define MESH(kind, mesh, more) "<" kind "><geometry><mesh " mesh "</geometry>" more "</" kind ">\n"
#define PROXIMITY(text)        "<drake:proximity_properties>" text "</drake:proximity_properties>"
#define ONE(kind, mesh, more)  ROBOT("<link name='a'>\n" MESH(kind, mesh, more) "</link>")

static const stn_geometry *only(const fixture *f) {
    assert_int_equal(f->model->geometry_count, 1);
    return &f->model->geometries[0];
}

static void collision_mesh_is_its_convex_hull(void **state) {
    fixture *f = *state;
    write_text(f, "m.obj", dented);
    good_model(f, ONE("collision", "filename='m.obj'/>", ""));
    assert_int_equal(only(f)->shape.type, STN_SHAPE_CONVEX);
    assert_true(only(f)->shape.mesh->convex);
    assert_ptr_equal(only(f)->shape.mesh, f->model->meshes[0].data);
    assert_near(only(f)->shape.mesh->solid.mass, 8.0, 1e-14);
    expect_finding(f, STN_SEVERITY_NOTE, "convex_hull", 3, "link a", "1.2 times its volume"); // 8 / (8 - 8/6)
    assert_int_equal(f->list.count, 1);
    write_text(f, "m.obj", cube);
    good_model(f, ONE("collision", "filename='m.obj'/>", ""));
    assert_int_equal(f->list.count, 0);
    // a tetrahedron whose base is dented by 0.6 of its height keeps 0.4 of its volume
    write_text(f, "m.obj",
               "v 3 0 0\nv 0 3 0\nv 0 0 0\nv 0 0 3\nv 0.4 0.4 1.8\n"
               "f 1 2 4\nf 2 3 4\nf 3 1 4\nf 1 3 5\nf 3 2 5\nf 2 1 5\n");
    good_model(f, ONE("collision", "filename='m.obj'/>", ""));
    expect_finding(f, STN_SEVERITY_WARNING, "convex_hull", 3, "link a", "2.5 times its volume");
}

static void rigid_hydroelastic_mesh_is_its_surface_unless_declared_convex(void **state) {
    fixture *f = *state;
    write_text(f, "m.obj", dented);
    good_model(f, ONE("collision", "filename='m.obj'/>", PROXIMITY("<drake:rigid_hydroelastic/>")));
    assert_int_equal(only(f)->shape.type, STN_SHAPE_MESH);
    assert_near(only(f)->shape.mesh->solid.mass, 8.0 - 4.0 / 3.0, 1e-14);
    good_model(f, ONE("collision", "filename='m.obj'><drake:declare_convex/></mesh>",
                      PROXIMITY("<drake:rigid_hydroelastic/>")));
    assert_int_equal(only(f)->shape.type, STN_SHAPE_CONVEX);
    good_model(f, ONE("collision", "filename='m.obj'/>",
                      PROXIMITY("<drake:compliant_hydroelastic/><drake:hydroelastic_modulus value='1e6'/>")));
    assert_int_equal(only(f)->shape.type, STN_SHAPE_CONVEX);
}

// The dented cube as ten tetrahedra with a corner in its middle, and the whole one as twelve.
#define POINTS_VTK                                                                          \
    "# vtk DataFile Version 3.0\ncube\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 9 double\n" \
    "-1 -1 -1  1 -1 -1  1 1 -1  -1 1 -1  -1 -1 1  1 -1 1  1 1 1  -1 1 1  0 0 0\n"
#define DENTED_VTK                                                                             \
    "4 0 1 2 8\n4 0 2 3 8\n4 0 5 1 8\n4 0 4 5 8\n4 1 6 2 8\n4 1 5 6 8\n4 2 7 3 8\n4 2 6 7 8\n" \
    "4 3 4 0 8\n4 3 7 4 8\n"
static const char solid_dented[] =
    POINTS_VTK "CELLS 10 50\n" DENTED_VTK "CELL_TYPES 10\n10 10 10 10 10 10 10 10 10 10\n";
static const char solid_cube[] =
    POINTS_VTK "CELLS 12 60\n" DENTED_VTK "4 4 6 5 8\n4 4 7 6 8\nCELL_TYPES 12\n10 10 10 10 10 10 10 10 10 10 10 10\n";
#define SOFT PROXIMITY("<drake:compliant_hydroelastic/><drake:hydroelastic_modulus value='1e6'/>")

/// Points touch the hull, patches the tetrahedra; whoever declares a mesh convex has neither dents nor tetrahedra.
static void tetrahedra_of_a_file_are_kept_beside_its_hull(void **state) {
    static const struct {
        const char *mesh, *more;
        stn_shape_type type;
        int32_t tetrahedra; // 0: no volume mesh
    } cases[] = {
        {"filename='m.vtk'/>", SOFT, STN_SHAPE_CONVEX, 10},
        {"filename='m.vtk' scale='1 2 -1'/>", SOFT, STN_SHAPE_CONVEX, 10},
        {"filename='m.vtk'/>", "", STN_SHAPE_CONVEX, 10}, // may be made compliant later
        {"filename='m.vtk'/>", PROXIMITY("<drake:rigid_hydroelastic/>"), STN_SHAPE_MESH, 10},
        {"filename='m.vtk'><drake:declare_convex/></mesh>", SOFT, STN_SHAPE_CONVEX, 0},
        {"filename='m.obj'/>", SOFT, STN_SHAPE_CONVEX, 0},
    };
    fixture *f = *state;
    write_text(f, "m.vtk", solid_dented);
    write_text(f, "m.obj", cube);
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        char text[600];
        snprintf(text, sizeof text,
                 ROBOT("<link name='a'>\n<collision><geometry><mesh %s</geometry>%s</collision></link>"), cases[i].mesh,
                 cases[i].more);
        good_model(f, text);
        const stn_geometry *g = only(f);
        int32_t volume = g->field.volume_mesh;
        assert_int_equal(g->shape.type, cases[i].type);
        assert_int_equal(volume >= 0, cases[i].tetrahedra > 0);
        if (volume >= 0) {
            const stn_mesh *data = f->model->meshes[volume].data;
            assert_int_equal(data->tetrahedron_count, cases[i].tetrahedra);
            assert_near(data->solid.mass, (i == 1 ? 2.0 : 1.0) * (8.0 - 4.0 / 3.0), 1e-13);
            assert_true(data == g->shape.mesh || g->shape.type == STN_SHAPE_CONVEX);
        }
    }
}

static void hull_of_a_compliant_mesh_with_dents_says_what_to_give(void **state) {
    fixture *f = *state;
    write_text(f, "m.obj", dented);
    write_text(f, "m.vtk", solid_dented);
    good_model(f, ONE("collision", "filename='m.obj'/>", SOFT));
    expect_finding(f, STN_SEVERITY_NOTE, "convex_hull", 3, "link a",
                   "which collides and is compliant, encloses 1.2 times its volume: give a file of tetrahedra (.vtk");
    good_model(f, ONE("collision", "filename='m.vtk'/>", SOFT));
    expect_finding(f, STN_SEVERITY_NOTE, "convex_hull", 3, "link a", "which collides at points, encloses 1.2 times");
    assert_int_equal(f->list.count, 1);
    write_text(f, "m.vtk", solid_cube);
    good_model(f, ONE("collision", "filename='m.vtk'/>", SOFT));
    assert_int_equal(f->list.count, 0);
}

/// Told with the place that names the file, and once for hull and tetrahedra; what cannot be repaired is an error
/// there.
static void findings_of_tetrahedra_are_told_at_the_mesh(void **state) {
    fixture *f = *state;
    write_text(f, "m.vtk",
               POINTS_VTK "CELLS 12 60\n" DENTED_VTK "4 4 5 6 8\n4 4 7 6 8\nCELL_TYPES 12\n"
                          "10 10 10 10 10 10 10 10 10 10 10 10\n");
    good_model(f, ONE("collision", "filename='m.vtk'/>", SOFT));
    expect_finding(f, STN_SEVERITY_WARNING, "inverted_tetrahedra", 3, "link a",
                   "mesh 'm.vtk': 1 of 12 tetrahedra are inverted: turned round");
    assert_int_equal(f->list.count, 1);
    write_text(f, "m.vtk", POINTS_VTK "CELLS 2 10\n4 0 1 2 8\n4 0 1 2 4\nCELL_TYPES 2\n10 10\n");
    load_text(f, ONE("collision", "filename='m.vtk'/>", SOFT));
    assert_int_equal(f->status, STN_ERR_PARSE);
    expect_finding(f, STN_SEVERITY_ERROR, "mesh", 3, "link a",
                   "tetrahedra 0 and 1 (counted from 0) lie on the same side of a face that they share");
}

static void visual_mesh_is_a_reference_unless_asked_for(void **state) {
    fixture *f = *state;
    write_text(f, "m.obj", dented);
    write_text(f, "bad.obj", "v 0 0\n");
    const char *text = ROBOT("<link name='a'>\n" MESH("visual", "filename='m.obj' scale='2 1 1'/>", "")
                                 MESH("visual", "filename='bad.obj'/>", "") "</link>");
    good_model(f, text);
    assert_int_equal(f->model->geometry_count, 2);
    assert_null(f->model->meshes[0].data);
    assert_near(f->model->meshes[0].scale.x, 2.0, 0.0);
    assert_int_equal(f->list.count, 0);
    f->request.visual_meshes = true;
    good_model(f, text);
    assert_int_equal(only(f)->shape.type, STN_SHAPE_MESH);
    assert_near(only(f)->shape.mesh->solid.mass, 2.0 * (8.0 - 4.0 / 3.0), 1e-13);
    expect_finding(f, STN_SEVERITY_WARNING, "mesh", 4, "link a", "visual mesh 'bad.obj'");
    assert_int_equal(f->list.count, 1);
}

static void mesh_that_cannot_be_read_is_an_error_of_a_collision(void **state) {
    static const struct {
        const char *name, *text;
    } cases[] = {{"m.obj", "v 0 0\n"},
                 {"m.obj", CORNERS},
                 {"m.stl", "solid\nendsolid\n"},
                 {"m.stl", ""},
                 {"m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"}, // flat: it has no hull
                 {"m.txt", "no mesh"}};
    fixture *f = *state;
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        char text[512];
        snprintf(text, sizeof text, ONE("collision", "filename='%s'/>", ""), cases[i].name);
        write_text(f, cases[i].name, cases[i].text);
        load_text(f, text);
        assert_int_equal(f->status, STN_ERR_PARSE);
        assert_int_equal(f->list.error_count, 1);
        expect_finding(f, STN_SEVERITY_ERROR, "mesh", 3, "link a", cases[i].name);
    }
}

static void what_is_wrong_with_a_surface_is_a_warning(void **state) {
    static const struct {
        const char *text, *code, *part;
    } cases[] = {{open_cube, "open_mesh", "not closed (4 edges): its convex hull is used"},
                 {inside_out, "inside_out", "volume -8 m^3"},
                 {degenerate, "degenerate_triangles", "2 triangles without area are dropped"}};
    fixture *f = *state;
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        write_text(f, "m.obj", cases[i].text);
        good_model(f, ONE("collision", "filename='m.obj'/>", ""));
        expect_finding(f, STN_SEVERITY_WARNING, cases[i].code, 3, "link a", cases[i].part);
        assert_int_equal(f->list.count, 1);
        assert_near(only(f)->shape.mesh->solid.mass, 8.0, 1e-14); // the hull is sound all the same
    }
    write_text(f, "m.obj", open_cube);
    good_model(f, ONE("collision", "filename='m.obj'/>", PROXIMITY("<drake:rigid_hydroelastic/>")));
    expect_finding(f, STN_SEVERITY_WARNING, "open_mesh", 3, "link a", "it is used as it is");
    write_text(f, "m.obj", inside_out);
    good_model(f, ONE("collision", "filename='m.obj'/>", PROXIMITY("<drake:rigid_hydroelastic/>")));
    expect_finding(f, STN_SEVERITY_WARNING, "inside_out", 3, "link a", "they are turned round");
    assert_near(only(f)->shape.mesh->solid.mass, 8.0, 1e-14);
}

static void unit_and_up_axis_of_a_collada_file_are_said(void **state) {
    fixture *f = *state;
    write_text(f, "m.dae",
               "<?xml version='1.0'?><COLLADA xmlns='http://www.collada.org/2005/11/COLLADASchema' version='1.4.1'>"
               "<asset><unit meter='0.01' name='cm'/><up_axis>Y_UP</up_axis></asset><library_geometries><geometry "
               "id='g'><mesh><source id='p'><float_array id='a' count='12'>0 0 0 100 0 0 0 100 0 0 0 100</float_array>"
               "<technique_common><accessor source='#a' count='4' stride='3'><param name='X' type='float'/><param "
               "name='Y' type='float'/><param name='Z' type='float'/></accessor></technique_common></source><vertices "
               "id='v'><input semantic='POSITION' source='#p'/></vertices><triangles count='4'><input "
               "semantic='VERTEX' source='#v' offset='0'/><p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles></mesh></geometry>"
               "</library_geometries><library_visual_scenes><visual_scene id='s'><node><instance_geometry url='#g'/>"
               "</node></visual_scene></library_visual_scenes><scene><instance_visual_scene url='#s'/></scene>"
               "</COLLADA>");
    good_model(f, ONE("collision", "filename='m.dae'/>", ""));
    assert_near(only(f)->shape.mesh->solid.mass, 1.0 / 6.0, 1e-6); // single precision of the reader
    assert_near(only(f)->shape.mesh->bounds.upper.y, 1.0, 1e-6);   // not turned
    expect_finding(f, STN_SEVERITY_WARNING, "up_axis", 3, "link a", "y is up");
    expect_finding(f, STN_SEVERITY_NOTE, "unit", 3, "link a", "0.01 m");
    assert_int_equal(f->list.count, 2);
}

static void one_mesh_used_fifty_times_is_read_and_judged_once(void **state) {
    fixture *f = *state;
    char text[16384] = "<robot name='r'><link name='a'>";
    size_t length = strlen(text);
    write_text(f, "m.obj", open_cube);
    for (int32_t i = 0; i < 50; i++) {
        length +=
            (size_t)snprintf(text + length, sizeof text - length, MESH("collision", "filename='%sm.obj' %s/>", ""),
                             i % 2 == 0 ? "" : "./", i % 5 == 0 ? "scale='1 1 2'" : "");
    }
    snprintf(text + length, sizeof text - length, "</link></robot>");
    good_model(f, text);
    assert_int_equal(f->list.count, 1);
    assert_int_equal(f->model->geometry_count, 50);
    assert_int_equal(f->model->mesh_count, 2);
    assert_ptr_equal(f->model->geometries[1].shape.mesh, f->model->geometries[49].shape.mesh);
}

static void bad_mesh_used_often_is_one_error(void **state) {
    fixture *f = *state;
    write_text(f, "m.obj", "v 0\n");
    load_text(f, ROBOT("<link name='a'>" MESH("collision", "filename='m.obj'/>", "")
                           MESH("collision", "filename='m.obj'/>", "")
                               MESH("collision", "filename='./m.obj' scale='2 2 2'/>", "") "</link>"));
    assert_int_equal(f->list.error_count, 1);
}

// A mirrored tetrahedron keeps its outside outside, and its volume grows by the product of the factors.
static void scale_of_any_sign_is_applied(void **state) {
    fixture *f = *state;
    write_text(f, "m.obj", cube);
    good_model(f, ROBOT("<link name='a'>" MESH("collision", "filename='m.obj' scale='1 -2 0.5'/>", "")
                            MESH("collision", "filename='m.obj' scale='-1 -2 3'/>",
                                 PROXIMITY("<drake:rigid_hydroelastic/>")) "</link>"));
    const stn_mesh *hull = f->model->geometries[0].shape.mesh, *surface = f->model->geometries[1].shape.mesh;
    assert_near(hull->solid.mass, 8.0, 1e-13);
    assert_near(hull->bounds.upper.y, 2.0, 1e-15);
    assert_near(surface->solid.mass, 48.0, 1e-13);
    assert_near(surface->facts.volume, 48.0, 1e-13);
    assert_int_equal(f->list.count, 0);
}

static void robots_that_use_one_file_share_its_data(void **state) {
    fixture *f = *state;
    stn_model_builder *builder = NULL;
    write_text(f, "m.obj", dented);
    write_text(f, "copy/of/m.obj", dented);
    write_text(f, "one.urdf", ONE("collision", "filename='m.obj'/>", ""));
    write_text(f, "two.urdf", ONE("collision", "filename='copy/of/m.obj'/>", ""));
    assert_ok(stn_builder_create(f->context, &builder, &f->err), f->err);
    for (int32_t i = 0; i < 2; i++) {
        char path[128];
        int32_t robot = -1;
        snprintf(path, sizeof path, "%s/%s.urdf", f->folder, i == 0 ? "one" : "two");
        stn_load_request request = {.path = path, .robot_name = i == 0 ? "one" : "two"};
        assert_ok(stn_load_robot(f->context, &request, builder, &robot, &f->list, &f->err), f->err);
    }
    assert_ok(stn_model_compile(builder, &f->model, &f->err), f->err);
    stn_builder_destroy(builder);
    assert_ptr_equal(f->model->geometries[0].shape.mesh, f->model->geometries[1].shape.mesh);
}

static void load_scales(fixture *f, const char *kind) {
    size_t capacity = 20000, length = 0;
    char *text = malloc(capacity);
    write_text(f, "m.obj", cube);
    length += (size_t)snprintf(text, capacity, "<robot name='r'><link name='a'>");
    for (int32_t i = 0; i < 100; i++) {
        length += (size_t)snprintf(text + length, capacity - length,
                                   "<%s><geometry><mesh filename='m.obj' scale='1 1 %d'/></geometry></%s>\n", kind,
                                   (int)(i / 2) + 1, kind);
    }
    snprintf(text + length, capacity - length, "</link></robot>");
    load_text(f, text);
    free(text);
}

static void too_many_scales_of_one_file_are_refused(void **state) {
    fixture *f = *state;
    load_scales(f, "collision");
    assert_int_equal(f->list.error_count, 1);
    expect_finding(f, STN_SEVERITY_ERROR, "size", 33, "link a", "16 scales of one file");
    load_scales(f, "visual");
    assert_int_equal(f->status, STN_OK);
    assert_int_equal(f->model->geometry_count, 32);
    expect_finding(f, STN_SEVERITY_WARNING, "size", 33, "link a", "left out");
    assert_int_equal(f->list.count, 1);
}

// The buffer of a glTF file must lie below the package too.
static void files_named_by_a_mesh_stay_in_the_package(void **state) {
    static const float points[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const uint16_t corners[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    unsigned char bytes[72];
    fixture *f = *state;
    memcpy(bytes, points, 48);
    memcpy(bytes + 48, corners, 24);
    write_bytes(f, "outside.bin", (const char *)bytes, sizeof bytes);
    write_bytes(f, "pkg/data/inside.bin", (const char *)bytes, sizeof bytes);
    write_text(f, "pkg/package.xml", "<package><name>pkg</name></package>");
    for (int32_t i = 0; i < 2; i++) {
        char gltf[2048];
        snprintf(gltf, sizeof gltf,
                 "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0}],"
                 "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1}]}],"
                 "\"buffers\":[{\"uri\":\"%s\",\"byteLength\":72}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":48},"
                 "{\"buffer\":0,\"byteOffset\":48,\"byteLength\":24}],\"accessors\":[{\"bufferView\":0,"
                 "\"componentType\":5126,\"count\":4,\"type\":\"VEC3\",\"min\":[0,0,0],\"max\":[1,1,1]},"
                 "{\"bufferView\":1,\"componentType\":5123,\"count\":12,\"type\":\"SCALAR\"}]}",
                 i == 0 ? "../data/inside.bin" : "../../outside.bin");
        write_text(f, "pkg/meshes/m.gltf", gltf);
        const char *text = ONE("collision", "filename='package://pkg/meshes/m.gltf' scale='2 3 4'/>", "");
        load_bytes(f, "pkg/robot.urdf", text, strlen(text));
        if (i == 0) {
            assert_ok(f->status, f->err);
            const stn_geometry *g = only(f); // y of the file is up, and so z of the robot; z of the file is -y
            stn_vec3 top = stn_pose_apply(&g->pose, stn_vec3_make(0.0, 1.0, 0.0));
            assert_near(g->shape.mesh->solid.mass, 24.0 / 6.0, 1e-5);
            assert_near(g->shape.mesh->bounds.upper.y, 4.0, 1e-6);
            assert_near(g->shape.mesh->bounds.upper.z, 3.0, 1e-6);
            assert_near(top.z, 1.0, 1e-12);
            assert_int_equal(f->list.warning_count, 0);
        } else {
            expect_finding(f, STN_SEVERITY_ERROR, "mesh", 3, "link a", "outside.bin");
        }
    }
}

int main(void) {
    setenv("STICTION_CACHE", "off", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(collision_mesh_is_its_convex_hull, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tetrahedra_of_a_file_are_kept_beside_its_hull, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hull_of_a_compliant_mesh_with_dents_says_what_to_give, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rigid_hydroelastic_mesh_is_its_surface_unless_declared_convex, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(findings_of_tetrahedra_are_told_at_the_mesh, set_up, tear_down),
        cmocka_unit_test_setup_teardown(visual_mesh_is_a_reference_unless_asked_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mesh_that_cannot_be_read_is_an_error_of_a_collision, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_wrong_with_a_surface_is_a_warning, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unit_and_up_axis_of_a_collada_file_are_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_mesh_used_fifty_times_is_read_and_judged_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_mesh_used_often_is_one_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(scale_of_any_sign_is_applied, set_up, tear_down),
        cmocka_unit_test_setup_teardown(robots_that_use_one_file_share_its_data, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_many_scales_of_one_file_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_named_by_a_mesh_stay_in_the_package, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
