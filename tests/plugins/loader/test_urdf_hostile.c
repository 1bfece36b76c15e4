// SPDX-License-Identifier: Apache-2.0
// Broken, mutilated and oversized files, and memory that runs out: an error or a robot, never a crash, a leak or a
// hang.
#include "robot_hostile.h"
#include "urdf_fixture.h"

static const char valid[] =
    "<?xml version=\"1.0\"?>\n<!-- all that the loader reads -->\n<robot name=\"r\">\n"
    "<material name=\"m\"><color rgba=\"1 0 0 1\"/></material>\n"
    "<joint name=\"k\" type=\"prismatic\"><parent link=\"b\"/><child link=\"c\"/><axis xyz=\"0 1 0\"/>"
    "<limit lower=\"0\" upper=\"1\" effort=\"1\" velocity=\"1\"/><mimic joint=\"j\" multiplier=\"-2\" "
    "offset=\"0.5\"/></joint>\n"
    "<link name=\"a\"><visual><geometry><mesh filename=\"m.stl\" scale=\"1 1 -1\"/></geometry><material "
    "name=\"m\"/></visual>"
    "</link>\n"
    "<link name=\"b\"><inertial><origin xyz=\"0 0 1\" rpy=\"0.1 0.2 0.3\"/><mass value=\"2.5\"/>"
    "<inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0.1\" ixz=\"0\" iyz=\"0\"/></inertial>"
    "<collision name=\"s\"><geometry><sphere radius=\"0.1\"/></geometry><drake:proximity_properties>"
    "<drake:mu_dynamic value=\"0.5\"/></drake:proximity_properties></collision>"
    "<collision name=\"s\"><geometry><box size=\"1 2 3\"/></geometry></collision></link>\n"
    "<link name=\"c\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" "
    "iyz=\"0\"/>"
    "</inertial><odd/></link>\n"
    "<joint name=\"j\" type=\"revolute\"><parent link=\"a\"/><child link=\"b\"/><axis xyz=\"0 0 2\"/>"
    "<limit lower=\"-1\" upper=\"1\" effort=\"1\" velocity=\"1\"/><dynamics damping=\"1\" friction=\"1\"/></joint>\n"
    "<transmission name=\"t\"><joint name=\"j\"/><actuator><drake:rotor_inertia "
    "value=\"1e-4\"/></actuator></transmission>\n"
    "<drake:collision_filter_group name=\"g\"><drake:member link=\"a\"/><drake:member link=\"c\"/>"
    "<drake:ignored_collision_filter_group name=\"g\"/></drake:collision_filter_group>\n"
    "</robot>";

static void valid_file_loads(void **state) {
    fixture *f = *state;
    write_mesh(f, "m.stl");
    good_model(f, valid);
    assert_int_equal(f->model->link_count, 3);
    assert_int_equal(f->model->geometry_count, 3);
}

static void file_cut_at_any_byte_is_an_error(void **state) {
    fixture *f = *state;
    write_mesh(f, "m.stl");
    expect_cuts_refused(f, valid, sizeof valid - 1);
}

static void mutated_file_is_an_error_or_a_robot(void **state) {
    fixture *f = *state;
    write_mesh(f, "m.stl");
    expect_mutants_judged(f, valid, 2000);
}

static void every_failed_allocation_is_said_and_leaks_nothing(void **state) {
    fixture *f = *state;
    write_mesh(f, "m.stl");
    expect_no_leaks_without_memory(f, valid);
}

static void file_at_the_limits_of_size_is_read_or_refused(void **state) {
    fixture *f = *state;
    text t = {0};
    append(&t, "<robot name='r'>");
    for (int32_t i = 0; i < 150000; i++) {
        append(&t, "<link name='%d'/>", (int)i); // many names, one root each
    }
    append(&t, "</robot>");
    load_and_free(f, &t);
    expect_finding(f, STN_SEVERITY_ERROR, "two_roots", 0, NULL, "...");

    append(&t, "<robot name='r'><link name='a'");
    for (int32_t i = 0; i < 1100; i++) {
        append(&t, " a%d=''", (int)i);
    }
    append(&t, "/></robot>");
    load_and_free(f, &t);
    expect_finding(f, STN_SEVERITY_ERROR, "size", 1, NULL, "1000 attributes");

    for (int32_t i = 0; i < 100000; i++) {
        append(&t, "<robot>");
    }
    load_and_free(f, &t);
    expect_finding(f, STN_SEVERITY_ERROR, "xml", 1, NULL, "deep");

    append(&t, "<robot name='r'><link name='a'/></robot>");
    for (int32_t i = 0; i < 10000; i++) {
        append(&t, "%900s", "\n");
    }
    load_and_free(f, &t);
    expect_finding(f, STN_SEVERITY_ERROR, "size", 0, NULL, "9000040 bytes");
}

// Each of these would take minutes if the work grew with the square of the file; the test has a time limit.

static void chain_of_thousands_of_followers_is_cut(void **state) {
    fixture *f = *state;
    text t = {0};
    append(&t, "<robot name='r'><link name='0'/>");
    for (int32_t i = 1; i < 20000; i++) {
        append(&t,
               "<link name='%d'/><joint name='j%d' type='continuous'><parent link='%d'/><child link='%d'/>"
               "<mimic joint='j%d'/></joint>",
               (int)i, (int)i, (int)i - 1, (int)i, (int)(i + 1) % 20000);
    }
    append(&t, "</robot>");
    load_and_free(f, &t);
    assert_true(f->list.error_count > 100);
    expect_finding(f, STN_SEVERITY_ERROR, "mimic", 1, NULL, "more than 100 joints");
}

static void nested_groups_of_many_links_are_bounded(void **state) {
    fixture *f = *state;
    for (int32_t k = 0; k < 2; k++) {
        int32_t groups = k == 0 ? 3000 : 40, links = k == 0 ? 6000 : 40;
        text t = {0};
        append(&t, "<robot name='r'>");
        for (int32_t i = 0; i < links; i++) {
            append(&t, "<link name='%d'/>", (int)i);
        }
        for (int32_t i = 0; i < groups; i++) {
            append(&t,
                   "<drake:collision_filter_group name='g%d'><drake:member link='%d'/><drake:member_group name='g%d'/>"
                   "<drake:ignored_collision_filter_group name='g%d'/></drake:collision_filter_group>",
                   (int)i, (int)(i % links), (int)((i + 1) % groups), (int)i);
        }
        append(&t, "</robot>");
        load_and_free(f, &t);
        expect_finding(f, STN_SEVERITY_ERROR, "size", 1, "robot", k == 0 ? "too many" : "nested too deep");
    }
}

static void many_names_that_exist_nowhere_are_said_quickly(void **state) {
    fixture *f = *state;
    text t = {0};
    append(&t, "<robot name='r'><link name='a'>");
    for (int32_t i = 0; i < 15000; i++) {
        append(&t, "<visual><geometry><mesh filename='package://p%d/m.stl'/></geometry></visual>", (int)i);
    }
    append(&t, "</link>");
    for (int32_t i = 0; i < 15000; i++) {
        append(&t, "<joint name='%d' type='revolut%d'><parent link='x%d'/><child link='y%d'/></joint>", (int)i, (int)i,
               (int)i, (int)i);
    }
    append(&t, "</robot>");
    load_and_free(f, &t);
    assert_int_equal(f->list.error_count, 45000);
    assert_int_equal(f->list.warning_count, 15000);
}

static void binary_file_is_refused(void **state) {
    fixture *f = *state;
    load_bytes(f, "robot.urdf", "\xff\xfe<\0r\0", 6);
    expect_finding(f, STN_SEVERITY_ERROR, "encoding", 0, NULL, "UTF-16");
    load_bytes(f, "robot.urdf", "<robot name='r'>\0</robot>", 25);
    expect_finding(f, STN_SEVERITY_ERROR, "encoding", 0, NULL, "binary");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(valid_file_loads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file_cut_at_any_byte_is_an_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mutated_file_is_an_error_or_a_robot, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_failed_allocation_is_said_and_leaks_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file_at_the_limits_of_size_is_read_or_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(chain_of_thousands_of_followers_is_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nested_groups_of_many_links_are_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_names_that_exist_nowhere_are_said_quickly, set_up, tear_down),
        cmocka_unit_test_setup_teardown(binary_file_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
