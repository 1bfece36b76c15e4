// SPDX-License-Identifier: Apache-2.0
// Transmissions: rotor inertia, reduction and the actuator's name reach the joint, from both dialects.
#include "urdf_fixture.h"

#define DRIVEN(transmissions) ROBOT(transmissions LINK("a") LINK("b") HINGE("j", "a", "b", ""))
#define ROTOR                 "<drake:rotor_inertia value='1e-4'/>"

/// One transmission of joint j, with this inside and beside its actuator; the reflected inertia that comes of it.
static double reflected(fixture *f, const char *inside, const char *beside) {
    char text[2048];
    snprintf(text, sizeof text,
             DRIVEN("<transmission name='t'><joint name='j'/><actuator name='m'>%s</actuator>%s"
                    "</transmission>"),
             inside, beside);
    good_model(f, text);
    assert_string_equal(joint_of(f, "j")->actuator, "m");
    return joint_of(f, "j")->reflected_inertia;
}

static void gear_ratio_multiplies_the_rotor_inertia_by_its_square(void **state) {
    fixture *f = *state;
    assert_near(reflected(f, ROTOR "<drake:gear_ratio value='50'/>", ""), 0.25, 1e-15);
    assert_near(reflected(f, ROTOR "<drake:gear_ratio value='-50'/>", ""), 0.25, 1e-15);
    assert_near(reflected(f, ROTOR, ""), 1e-4, 0.0);
    assert_near(reflected(f, "<drake:gear_ratio value='50'/>", ""), 0.0, 0.0);
    assert_int_equal(f->list.count, 0);
}

static void mechanical_reduction_is_the_gear_ratio_where_no_other_is_given(void **state) {
    fixture *f = *state;
    assert_near(reflected(f, ROTOR "<mechanicalReduction> 10 </mechanicalReduction>", ""), 1e-2, 1e-17);
    assert_near(reflected(f, ROTOR, "<mechanicalReduction>-10</mechanicalReduction>"), 1e-2, 1e-17);
    assert_near(reflected(f, ROTOR "<mechanicalReduction/>", ""), 1e-4, 0.0);
    assert_int_equal(f->list.count, 0);
    assert_near(reflected(f, ROTOR "<drake:gear_ratio value='2'/>", "<mechanicalReduction>1</mechanicalReduction>"),
                4e-4, 1e-18);
    assert_int_equal(f->list.count, 0); // 1 is what files have that mean nothing by it
    assert_near(reflected(f, ROTOR "<drake:gear_ratio value='2'/><mechanicalReduction>9</mechanicalReduction>", ""),
                4e-4, 1e-18);
    expect_finding(f, STN_SEVERITY_NOTE, "transmission", 0, "transmission t", "mechanicalReduction 9");
    assert_near(reflected(f, ROTOR "<mechanicalReduction>0</mechanicalReduction>", ""), 1e-4, 0.0);
    expect_finding(f, STN_SEVERITY_WARNING, "range", 0, "transmission t", "no reduction");
}

static void both_dialects_name_their_type(void **state) {
    fixture *f = *state;
    good_model(
        f, DRIVEN("<transmission name='t'><type>\n transmission_interface/SimpleTransmission </type><joint "
                  "name='j'><hardwareInterface>x</hardwareInterface></joint><actuator name='new'/></transmission>"));
    assert_string_equal(joint_of(f, "j")->actuator, "new");
    good_model(f, DRIVEN("<transmission name='t' type='pr2_mechanism_model/SimpleTransmission'><actuator name='old'/>"
                         "<joint name='j'/><mechanicalReduction>1</mechanicalReduction></transmission>"));
    assert_string_equal(joint_of(f, "j")->actuator, "old");
    good_model(f, DRIVEN("<transmission><actuator/><joint name='j'/></transmission>"));
    assert_string_equal(joint_of(f, "j")->actuator, "");
    assert_int_equal(f->list.count, 0);
}

static void transmission_of_another_type_is_noted_and_not_read(void **state) {
    fixture *f = *state;
    good_model(f, DRIVEN("<transmission name='t'><type>transmission_interface/DifferentialTransmission</type><joint "
                         "name='j'/><actuator name='m'>" ROTOR "</actuator></transmission>"));
    assert_near(joint_of(f, "j")->reflected_inertia, 0.0, 0.0);
    expect_finding(f, STN_SEVERITY_NOTE, "transmission", 2, "transmission t", "DifferentialTransmission");
    assert_int_equal(f->list.count, 1);
}

static void joint_without_effort_gets_no_actuator(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT("<transmission name='t'><joint name='j'/><actuator name='m'>" ROTOR
                        "</actuator></transmission>" LINK("a")
                            LINK("b") "<joint name='j' type='revolute'><parent link='a'/><child link='b'/><axis "
                                      "xyz='0 0 1'/><limit lower='-1' upper='1' effort='0' velocity='1'/></joint>"));
    assert_string_equal(joint_of(f, "j")->actuator, "");
    assert_near(joint_of(f, "j")->reflected_inertia, 0.0, 0.0);
    expect_finding(f, STN_SEVERITY_NOTE, "transmission", 2, "transmission t", "effort limit of joint 'j' is 0");
    assert_int_equal(f->list.count, 1);
}

static void motor_of_an_unknown_or_unfit_joint_is_said(void **state) {
    fixture *f = *state;
    good_model(f, DRIVEN("<transmission name='t'><joint name='k'/><actuator name='m'/></transmission>"));
    expect_finding(f, STN_SEVERITY_WARNING, "unknown_joint", 2, "transmission t", "'k'");
    good_model(f, ROBOT(LINK("a")
                            LINK("b") "<joint name='j' type='ball'><parent link='a'/><child link='b'/></joint>\n"
                                      "<transmission name='t'><joint name='j'/><actuator name='m'/></transmission>"));
    expect_finding(f, STN_SEVERITY_NOTE, "transmission", 5, "transmission t", "a ball joint has no motor");
    assert_string_equal(joint_of(f, "j")->actuator, "");
}

static void first_of_two_transmissions_of_a_joint_counts(void **state) {
    fixture *f = *state;
    good_model(f, DRIVEN("<transmission name='t'><joint name='j'/><actuator name='m'/></transmission>\n"
                         "<transmission name='u'><joint name='j'/><actuator name='n'/></transmission>"));
    assert_string_equal(joint_of(f, "j")->actuator, "m");
    expect_finding(f, STN_SEVERITY_WARNING, "transmission", 3, "transmission u", "driven by transmission t");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(gear_ratio_multiplies_the_rotor_inertia_by_its_square, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mechanical_reduction_is_the_gear_ratio_where_no_other_is_given, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(both_dialects_name_their_type, set_up, tear_down),
        cmocka_unit_test_setup_teardown(transmission_of_another_type_is_noted_and_not_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(joint_without_effort_gets_no_actuator, set_up, tear_down),
        cmocka_unit_test_setup_teardown(motor_of_an_unknown_or_unfit_joint_is_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(first_of_two_transmissions_of_a_joint_counts, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
