// SPDX-License-Identifier: Apache-2.0
// Mesh names to files: relative, in packages, and what must not be reached.
#include "urdf_fixture.h"

static void load_mesh_from(fixture *f, const char *file, const char *kind, const char *mesh) {
    char text[1024];
    snprintf(text, sizeof text, ROBOT("<link name='a'>\n<%s><geometry><mesh %s/></geometry></%s></link>"), kind, mesh,
             kind);
    load_bytes(f, file, text, strlen(text));
}

/// The collision mesh must be found, as the file `expected` below the folder.
static void expect_found(fixture *f, const char *file, const char *mesh, const char *expected) {
    char path[256];
    load_mesh_from(f, file, "collision", mesh);
    if (f->status != STN_OK) {
        fail_msg("%s: %s", mesh, f->err.text);
    }
    assert_int_equal(f->model->mesh_count, 1);
    assert_int_equal(f->model->geometries[0].shape.type, STN_SHAPE_CONVEX);
    snprintf(path, sizeof path, "%s/%s", f->folder, expected);
    assert_string_equal(f->model->meshes[0].path, path);
}

static void expect_refused(fixture *f, const char *file, const char *mesh, const char *code, const char *part) {
    load_mesh_from(f, file, "collision", mesh);
    assert_int_equal(f->status, STN_ERR_PARSE);
    expect_finding(f, STN_SEVERITY_ERROR, code, 3, "link a", part);
    assert_int_equal(f->list.error_count, 1);
}

static void write_package(fixture *f, const char *folder, const char *name) {
    char file[128], text[256];
    snprintf(file, sizeof file, "%s/package.xml", folder);
    snprintf(text, sizeof text,
             "<?xml version='1.0'?>\n<!-- p -->\n<package><version>1</version><name>\n %s </name></package>", name);
    write_text(f, file, text);
}

static void mesh_keeps_path_and_scale(void **state) {
    fixture *f = *state;
    write_mesh(f, "meshes/m.stl");
    expect_found(f, "robot.urdf", "filename='meshes/m.stl' scale='1 -2 0.5'", "meshes/m.stl");
    assert_near(f->model->meshes[0].scale.y, -2.0, 0.0);
    assert_near(f->model->meshes[0].scale.z, 0.5, 0.0);
    assert_int_equal(f->list.count, 0);
}

static void missing_collision_mesh_is_an_error(void **state) {
    fixture *f = *state;
    expect_refused(f, "robot.urdf", "filename='meshes/m.stl'", "missing_mesh", "'meshes/m.stl'");
    assert_null(f->model);
    mkdir(f->path, 0777);
    write_text(f, "meshes/m.stl/x", "a folder is no mesh");
    expect_refused(f, "robot.urdf", "filename='meshes/m.stl'", "missing_mesh", "not a readable file");
}

static void missing_visual_mesh_is_a_warning_and_left_out(void **state) {
    fixture *f = *state;
    load_mesh_from(f, "robot.urdf", "visual", "filename='meshes/m.stl'");
    assert_int_equal(f->status, STN_OK);
    assert_int_equal(f->model->geometry_count, 0);
    assert_int_equal(f->list.warning_count, 1);
    expect_finding(f, STN_SEVERITY_WARNING, "missing_mesh", 3, "link a", "'meshes/m.stl'");
}

static void relative_name_stays_below_the_parent_folder(void **state) {
    fixture *f = *state;
    write_mesh(f, "pkg/meshes/m.stl");
    write_mesh(f, "outside.stl");
    expect_found(f, "pkg/urdf/robot.urdf", "filename='../meshes/./m.stl'", "pkg/meshes/m.stl");
    expect_refused(f, "pkg/urdf/robot.urdf", "filename='../../outside.stl'", "path", "leaves");
    expect_refused(f, "pkg/urdf/robot.urdf", "filename='../meshes/../../outside.stl'", "path", "leaves");
    expect_refused(f, "pkg/urdf/robot.urdf", "filename='../../../../../../../../../../etc/passwd'", "path", "leaves");
}

static void relative_name_stays_below_the_package(void **state) {
    fixture *f = *state;
    write_package(f, "pkg", "pkg");
    write_mesh(f, "pkg/m.stl");
    write_mesh(f, "outside.stl");
    expect_found(f, "pkg/a/b/c/robot.urdf", "filename='../../../m.stl'", "pkg/m.stl");
    expect_refused(f, "pkg/robot.urdf", "filename='../outside.stl'", "path", "leaves");
}

static void package_name_stays_below_its_package(void **state) {
    fixture *f = *state;
    write_package(f, "pkg", "pkg");
    write_mesh(f, "pkg/m.stl");
    write_mesh(f, "outside.stl");
    expect_found(f, "pkg/robot.urdf", "filename='package://pkg/x/../m.stl'", "pkg/m.stl");
    expect_refused(f, "pkg/robot.urdf", "filename='package://pkg/../outside.stl'", "path", "leaves");
    expect_refused(f, "pkg/robot.urdf", "filename='package://pkg/../pkg2/../outside.stl'", "path", "leaves");
    expect_refused(f, "pkg/robot.urdf", "filename='package://../outside.stl'", "path", "package://name");
    expect_refused(f, "pkg/robot.urdf", "filename='package://pkg'", "path", "package://name");
    expect_refused(f, "pkg/robot.urdf", "filename='package://other/m.stl'", "unknown_package", "ROS_PACKAGE_PATH");
}

static void package_is_found_by_the_name_in_its_file(void **state) {
    fixture *f = *state;
    write_package(f, "ws/folder", "name");
    write_mesh(f, "ws/folder/m.stl");
    expect_found(f, "ws/folder/urdf/robot.urdf", "filename='package://name/m.stl'", "ws/folder/m.stl");
    expect_refused(f, "ws/folder/urdf/robot.urdf", "filename='package://folder/m.stl'", "unknown_package", "'folder'");
}

static void package_may_lie_inside_or_beside_that_of_the_robot(void **state) {
    fixture *f = *state;
    write_package(f, "ws/robot", "robot");
    write_package(f, "ws/robot/deep/inner", "inner");
    write_package(f, "ws/other", "beside");
    write_mesh(f, "ws/robot/deep/inner/with space.STL");
    write_mesh(f, "ws/other/m.stl");
    write_mesh(f, "ws/plain/m.stl");
    expect_found(f, "ws/robot/urdf/robot.urdf", "filename='package://inner/with space.STL'",
                 "ws/robot/deep/inner/with space.STL");
    expect_found(f, "ws/robot/urdf/robot.urdf", "filename='package://beside/m.stl'", "ws/other/m.stl");
    expect_found(f, "ws/robot/urdf/robot.urdf", "filename='package://plain/m.stl'", "ws/plain/m.stl");
}

static void folder_of_the_caller_comes_first_and_the_environment_last(void **state) {
    fixture *f = *state;
    char given[128], environment[256];
    write_package(f, "given/x/pkg", "pkg");
    write_package(f, "near/pkg", "pkg");
    write_package(f, "far/pkg", "pkg");
    write_package(f, "far/y/only_far", "only_far");
    write_mesh(f, "given/x/pkg/m.stl");
    write_mesh(f, "near/pkg/m.stl");
    write_mesh(f, "far/y/only_far/m.stl");
    snprintf(given, sizeof given, "%s/given", f->folder);
    snprintf(environment, sizeof environment, "/nonexistent:%s/far", f->folder);
    const char *const paths[] = {given, NULL};
    setenv("ROS_PACKAGE_PATH", environment, 1);
    expect_found(f, "near/pkg/robot.urdf", "filename='package://pkg/m.stl'", "near/pkg/m.stl");
    expect_found(f, "near/pkg/robot.urdf", "filename='package://only_far/m.stl'", "far/y/only_far/m.stl");
    f->request.package_paths = paths;
    expect_found(f, "near/pkg/robot.urdf", "filename='package://pkg/m.stl'", "given/x/pkg/m.stl");
    unsetenv("ROS_PACKAGE_PATH");
}

static void caller_may_say_where_a_package_lies(void **state) {
    fixture *f = *state;
    char given[128];
    write_mesh(f, "elsewhere/m.stl");
    write_package(f, "ws/pkg", "pkg");
    write_mesh(f, "ws/pkg/m.stl");
    snprintf(given, sizeof given, "pkg=%s/elsewhere", f->folder);
    const char *const paths[] = {"/nonexistent", given, NULL};
    f->request.package_paths = paths;
    expect_found(f, "ws/pkg/robot.urdf", "filename='package://pkg/m.stl'", "elsewhere/m.stl");
    expect_refused(f, "ws/pkg/robot.urdf", "filename='package://pkg/../m.stl'", "path", "leaves");
}

// Beside the file lies a folder of that name, farther away a package that has it as its name.
static void name_in_package_xml_wins_over_a_nearer_folder(void **state) {
    fixture *f = *state;
    write_package(f, "ws/robot", "robot");
    write_package(f, "ws/deep/er/other", "wanted");
    write_mesh(f, "ws/deep/er/other/m.stl");
    write_mesh(f, "ws/robot/urdf/wanted/m.stl");
    expect_found(f, "ws/robot/urdf/robot.urdf", "filename='package://wanted/m.stl'", "ws/deep/er/other/m.stl");
    expect_refused(f, "ws/robot/urdf/robot.urdf", "filename='package://other/m.stl'", "unknown_package", "'other'");
    // without it the folder is good enough
    write_package(f, "ws/deep/er/other", "unwanted");
    expect_found(f, "ws/robot/urdf/robot.urdf", "filename='package://wanted/m.stl'", "ws/robot/urdf/wanted/m.stl");
}

// ------------------------------------------------------------------------------------------------- symbolic links

static void link_to(fixture *f, const char *name, const char *target) {
    char path[256], text[256];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    snprintf(text, sizeof text, "%s%s%s", target[0] == '/' ? "" : f->folder, target[0] == '/' ? "" : "/", target);
    unlink(path);
    assert_int_equal(symlink(text, path), 0);
}

static void symbolic_link_must_not_leave_the_package(void **state) {
    fixture *f = *state;
    write_package(f, "ws/pkg", "pkg");
    write_mesh(f, "ws/pkg/meshes/m.stl");
    write_mesh(f, "secret/m.stl");
    link_to(f, "ws/pkg/file.stl", "secret/m.stl");
    link_to(f, "ws/pkg/folder", "secret");
    link_to(f, "ws/pkg/passwd.stl", "/etc/passwd");
    link_to(f, "ws/pkg/inside.stl", "ws/pkg/meshes/m.stl");
    expect_refused(f, "ws/pkg/robot.urdf", "filename='package://pkg/file.stl'", "path", "symbolic link");
    expect_refused(f, "ws/pkg/robot.urdf", "filename='package://pkg/folder/m.stl'", "path", "symbolic link");
    expect_refused(f, "ws/pkg/robot.urdf", "filename='package://pkg/passwd.stl'", "path", "symbolic link");
    expect_refused(f, "ws/pkg/robot.urdf", "filename='file.stl'", "path", "symbolic link");
    expect_found(f, "ws/pkg/robot.urdf", "filename='package://pkg/inside.stl'", "ws/pkg/inside.stl");
    f->request.allow_absolute = true; // then any file may be named anyway
    expect_found(f, "ws/pkg/robot.urdf", "filename='package://pkg/file.stl'", "ws/pkg/file.stl");
}

// As in the devel space of catkin.
static void package_folder_may_be_a_symbolic_link(void **state) {
    fixture *f = *state;
    write_package(f, "src/pkg", "pkg");
    write_mesh(f, "src/pkg/m.stl");
    write_text(f, "devel/share/x", "");
    link_to(f, "devel/share/pkg", "src/pkg");
    char share[128];
    snprintf(share, sizeof share, "%s/devel/share", f->folder);
    const char *const paths[] = {share, NULL};
    f->request.package_paths = paths;
    expect_found(f, "robot.urdf", "filename='package://pkg/m.stl'", "devel/share/pkg/m.stl");
    f->request.package_paths = NULL;
    expect_found(f, "devel/share/pkg/robot.urdf", "filename='m.stl'", "src/pkg/m.stl");
}

// As colcon installs with --symlink-install: every file is a link to the sources of the same package.
static void files_of_a_package_may_be_links_to_its_sources(void **state) {
    fixture *f = *state;
    write_package(f, "src/pkg", "pkg");
    write_mesh(f, "src/pkg/meshes/m.stl");
    write_package(f, "src/other", "other");
    write_mesh(f, "src/other/m.stl");
    write_package(f, "install/share/pkg", "pkg");
    link_to(f, "install/share/pkg/m.stl", "src/pkg/meshes/m.stl");
    link_to(f, "install/share/pkg/other.stl", "src/other/m.stl");
    expect_found(f, "install/share/pkg/robot.urdf", "filename='package://pkg/m.stl'", "install/share/pkg/m.stl");
    expect_found(f, "install/share/pkg/robot.urdf", "filename='m.stl'", "install/share/pkg/m.stl");
    expect_refused(f, "install/share/pkg/robot.urdf", "filename='other.stl'", "path", "symbolic link");
}

static void parent_of_a_folder_at_the_top_is_not_everything(void **state) {
    fixture *f = *state;
    char path[] = "/tmp/stn_urdf_XXXXXX";
    const char *text =
        ROBOT("<link name='a'>\n<visual><geometry><mesh filename='../etc/passwd'/></geometry></visual></link>");
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    f->request.path = path;
    load_request(f);
    unlink(path);
    expect_finding(f, STN_SEVERITY_WARNING, "path", 3, "link a", "it leaves /tmp");
}

// --------------------------------------------------------------------------------------------------- repetitions

#define USE(kind, mesh) "<" kind "><geometry><mesh filename='" mesh "'/></geometry></" kind ">\n"

static void same_fault_of_one_name_is_said_once(void **state) {
    fixture *f = *state;
    load_text(f, ROBOT("<link name='a'>" USE("visual", "m.stl") USE("visual", "m.stl") USE("collision", "m.stl")
                           USE("collision", "m.stl") USE("visual", "package://p/a.stl")
                               USE("visual", "package://p/b.stl") USE("visual", "/x.stl") "</link>"));
    assert_int_equal(f->list.error_count, 1);
    assert_int_equal(f->list.warning_count, 3);
    expect_finding(f, STN_SEVERITY_WARNING, "missing_mesh", 2, "link a", "'m.stl'");
    expect_finding(f, STN_SEVERITY_ERROR, "missing_mesh", 4, "link a", "'m.stl'");
    expect_finding(f, STN_SEVERITY_WARNING, "unknown_package", 6, "link a", "package 'p'");
    expect_finding(f, STN_SEVERITY_WARNING, "path", 8, "link a", "absolute");
}

static void xacro_in_a_mesh_name_is_said_to_be_xacro(void **state) {
    fixture *f = *state;
    load_text(f,
              ROBOT("<link name='a'>" USE("visual", "package://$(arg p)/m.stl") USE("visual", "${d}/m.stl") "</link>"));
    assert_int_equal(f->list.error_count, 1);
    expect_finding(f, STN_SEVERITY_ERROR, "xacro", 2, "link a", "expand the file first");
}

static void absolute_names_need_permission(void **state) {
    fixture *f = *state;
    char absolute[160], uri[160];
    write_mesh(f, "m.stl");
    snprintf(absolute, sizeof absolute, "filename='%s/m.stl'", f->folder);
    snprintf(uri, sizeof uri, "filename='file://%s/m.stl'", f->folder);
    expect_refused(f, "robot.urdf", absolute, "path", "absolute");
    expect_refused(f, "robot.urdf", uri, "path", "absolute");
    expect_refused(f, "robot.urdf", "filename='http://x/m.stl'", "path", "unknown kind");
    f->request.allow_absolute = true;
    expect_found(f, "robot.urdf", absolute, "m.stl");
    expect_found(f, "robot.urdf", uri, "m.stl");
    expect_refused(f, "robot.urdf", "filename='/../m.stl'", "path", "leaves");
}

static void meshes_of_one_path_and_scale_are_one_reference(void **state) {
    fixture *f = *state;
    write_mesh(f, "m.stl");
    good_model(f, ROBOT("<link name='a'><visual><geometry><mesh filename='m.stl'/></geometry></visual>"
                        "<visual><geometry><mesh filename='./m.stl'/></geometry></visual>"
                        "<visual><geometry><mesh filename='m.stl' scale='2 2 2'/></geometry></visual></link>"));
    assert_int_equal(f->model->geometry_count, 3);
    assert_int_equal(f->model->mesh_count, 2);
    assert_int_equal(f->list.count, 0);
}

int main(void) {
    unsetenv("ROS_PACKAGE_PATH");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(mesh_keeps_path_and_scale, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missing_collision_mesh_is_an_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missing_visual_mesh_is_a_warning_and_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(relative_name_stays_below_the_parent_folder, set_up, tear_down),
        cmocka_unit_test_setup_teardown(relative_name_stays_below_the_package, set_up, tear_down),
        cmocka_unit_test_setup_teardown(package_name_stays_below_its_package, set_up, tear_down),
        cmocka_unit_test_setup_teardown(package_is_found_by_the_name_in_its_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(package_may_lie_inside_or_beside_that_of_the_robot, set_up, tear_down),
        cmocka_unit_test_setup_teardown(folder_of_the_caller_comes_first_and_the_environment_last, set_up, tear_down),
        cmocka_unit_test_setup_teardown(caller_may_say_where_a_package_lies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(name_in_package_xml_wins_over_a_nearer_folder, set_up, tear_down),
        cmocka_unit_test_setup_teardown(symbolic_link_must_not_leave_the_package, set_up, tear_down),
        cmocka_unit_test_setup_teardown(package_folder_may_be_a_symbolic_link, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_of_a_package_may_be_links_to_its_sources, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parent_of_a_folder_at_the_top_is_not_everything, set_up, tear_down),
        cmocka_unit_test_setup_teardown(same_fault_of_one_name_is_said_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(xacro_in_a_mesh_name_is_said_to_be_xacro, set_up, tear_down),
        cmocka_unit_test_setup_teardown(absolute_names_need_permission, set_up, tear_down),
        cmocka_unit_test_setup_teardown(meshes_of_one_path_and_scale_are_one_reference, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
