// SPDX-License-Identifier: Apache-2.0
// What is not read is said: every name once, at the level of notes, unless the mechanism is another one without it.
#include "urdf_fixture.h"

static void unknown_elements_are_noted_once_each(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT("<link name='a'><odd><deeper/></odd><odd/>" MASS(
                      "1") "</link>\n<link name='b'><odd/></link>"
                           "<joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint>"
                           "<mujoco/><ros2_control/><frame name='t' link='a'/><mujoco/><strange><odd/></strange>"));
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 2, "link a", "<odd>");
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 3, "robot", "<mujoco>");
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 3, "robot", "<ros2_control>");
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 3, "robot", "<frame>");
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 3, "robot", "<strange>");
    assert_int_equal(f->list.count, 5); // nothing of what lies inside a skipped one
}

static void unknown_attributes_are_noted_once_each(void **state) {
    fixture *f = *state;
    good_model(f, "<robot name='r' xmlns:xacro='http://x' xmlns='y' version='1.0' color='red'>\n"
                  "<link name='a' type='x'/>\n<link name='b' type='y'><visual><geometry><mesh filename='m.stl' "
                  "convert='1'/></geometry></visual></link>\n<joint name='j' type='fixed'><parent link='a'/>"
                  "<child link='b' name='n'/></joint></robot>");
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 1, "robot", "'color' of <robot>");
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 2, "link a", "'type' of <link>");
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 3, "link b", "'convert' of <mesh>");
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 4, "joint j", "'name' of <child>");
    assert_int_equal(f->list.count - f->list.warning_count, 4);
}

static void what_has_nothing_to_simulate_is_skipped_without_noise(void **state) {
    fixture *f = *state;
    good_model(
        f, ROBOT(LINK("a") "<link name='b'>" MASS(
               "1") "<visual><geometry><sphere radius='1'/></geometry>"
                    "<drake:accepting_renderer name='r'/><drake:illustration_properties/></visual></link>" HINGE(
                        "j", "a", "b",
                        "<safety_controller k_velocity='1'/><calibration rising='0'/>") "<transmission name='t'><joint "
                                                                                        "name='j'><hardwareInterface>x<"
                                                                                        "/hardwareInterface></joint>"
                                                                                        "<actuator "
                                                                                        "name='m'><hardwareInterface>x<"
                                                                                        "/hardwareInterface></"
                                                                                        "actuator></transmission>"));
    assert_int_equal(f->list.count, 0);
}

static void forces_and_loops_that_are_not_read_are_warnings(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT(LINK("a") "<drake:linear_bushing_rpy/><drake:ball_constraint/>\n<drake:ball_constraint/>"
                                  "<loop_joint name='l'/>"));
    expect_finding(f, STN_SEVERITY_WARNING, "skipped", 3, "robot", "<drake:linear_bushing_rpy>");
    expect_finding(f, STN_SEVERITY_WARNING, "skipped", 3, "robot", "<drake:ball_constraint>");
    expect_finding(f, STN_SEVERITY_WARNING, "skipped", 4, "robot", "<loop_joint>");
    assert_int_equal(f->list.count, 3);
}

static void second_shape_of_a_geometry_is_ignored_with_a_warning(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT("<link name='a'><collision><geometry><box size='1 1 1'/>\n<sphere radius='1'/></geometry>"
                        "</collision></link>"));
    assert_int_equal(f->model->geometries[0].shape.type, STN_SHAPE_BOX);
    expect_finding(f, STN_SEVERITY_WARNING, "repeated", 3, "link a", "second shape <sphere>");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(unknown_elements_are_noted_once_each, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unknown_attributes_are_noted_once_each, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_has_nothing_to_simulate_is_skipped_without_noise, set_up, tear_down),
        cmocka_unit_test_setup_teardown(forces_and_loops_that_are_not_read_are_warnings, set_up, tear_down),
        cmocka_unit_test_setup_teardown(second_shape_of_a_geometry_is_ignored_with_a_warning, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
