// SPDX-License-Identifier: Apache-2.0
// Joint types beyond the hinge: what each reads, and how they reach the model.
#include <stiction/dynamics.h>

#include "urdf_fixture.h"

#define ENDS          "<parent link='a'/><child link='b'/>"
#define PAIR(joint)   ROBOT(LINK("a") LINK("b") joint)
#define TYPE(t, more) PAIR("<joint name='j' type='" t "'>" ENDS more "</joint>")

static void every_type_is_read_under_both_element_names(void **state) {
    static const struct {
        const char *word;
        stn_joint_type type;
        int32_t nv;
    } cases[] = {
        {"floating", STN_JOINT_FLOATING, 6},    {"planar", STN_JOINT_PLANAR, 3}, {"ball", STN_JOINT_BALL, 3},
        {"spherical", STN_JOINT_BALL, 3},       {"screw", STN_JOINT_SCREW, 1},   {"universal", STN_JOINT_UNIVERSAL, 2},
        {"continuous", STN_JOINT_CONTINUOUS, 1}};
    fixture *f = *state;
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        for (int32_t k = 0; k < 2; k++) {
            const char *element = k == 0 ? "joint" : "drake:joint";
            char text[1024];
            snprintf(text, sizeof text,
                     PAIR("<%s name='j' type='%s'>" ENDS "<drake:screw_thread_pitch value='0.01'/></%s>"), element,
                     cases[i].word, element);
            good_model(f, text);
            assert_int_equal(joint_of(f, "j")->type, cases[i].type);
            assert_int_equal(f->model->nv, cases[i].nv);
            assert_int_equal(f->list.warning_count, 0);
        }
    }
}

// The plane's x and y are those of the joint frame turned the shortest way so that z lies along the axis: about y by 90
// degrees for axis x, so that its x is -z and its y stays.
static void planar_joint_moves_in_the_plane_across_its_axis(void **state) {
    fixture *f = *state;
    const stn_model *m = good_model(f, TYPE("planar", "<origin xyz='0 0 1'/><axis xyz='2 0 0'/>"));
    stn_kinematics *k = NULL;
    const double q[3] = {0.1, 0.2, 0.3}, v[3] = {0.0};
    assert_near(joint_of(f, "j")->axis.x, 1.0, 0.0);
    assert_ok(stn_kinematics_create(m, &k, &f->err), f->err);
    stn_kinematics_update(k, q, v);
    const stn_pose *pose = &k->body_pose[link_of(f, "b")->body];
    assert_near(pose->position.x, 0.0, 1e-15);
    assert_near(pose->position.y, 0.2, 1e-15);
    assert_near(pose->position.z, 1.0 - 0.1, 1e-15);
    assert_near(pose->rotation.m[1][1], cos(0.3), 1e-15);
    assert_near(pose->rotation.m[0][0], 1.0, 1e-15);
    stn_kinematics_destroy(k);
}

static void screw_advances_by_its_pitch_each_turn(void **state) {
    fixture *f = *state;
    const stn_model *m = good_model(f, TYPE("screw", "<axis xyz='0 0 1'/><drake:screw_thread_pitch value='-0.004'/>"));
    stn_kinematics *k = NULL;
    const double q[1] = {2.0 * STN_PI * 3.0}, v[1] = {0.0};
    assert_ok(stn_kinematics_create(m, &k, &f->err), f->err);
    stn_kinematics_update(k, q, v);
    assert_near(k->body_pose[link_of(f, "b")->body].position.z, -0.012, 1e-15);
    stn_kinematics_destroy(k);
}

static void screw_may_be_limited_and_need_not(void **state) {
    fixture *f = *state;
    good_model(f, TYPE("screw", "<drake:screw_thread_pitch value='1'/><limit effort='1' velocity='2'/>"));
    assert_true(joint_of(f, "j")->upper == (double)INFINITY);
    assert_near(joint_of(f, "j")->velocity, 2.0, 0.0);
    good_model(f, TYPE("screw", "<drake:screw_thread_pitch value='1'/><limit upper='9' effort='1' velocity='2'/>"));
    assert_near(joint_of(f, "j")->upper, 9.0, 0.0);
    expect_finding(f, STN_SEVERITY_WARNING, "default", 4, "joint j", "no lower: taken as 0 rad");
}

static void joints_of_several_motions_have_no_axis_and_no_range(void **state) {
    static const char *const types[] = {"ball", "universal", "floating"};
    fixture *f = *state;
    for (int32_t i = 0; i < STN_COUNT(types); i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 PAIR("<joint name='j' type='%s'>" ENDS
                      "<axis xyz='0 0 0'/><limit lower='1' upper='-1' effort='5' velocity='6'/></joint>"),
                 types[i]);
        good_model(f, text);
        assert_true(joint_of(f, "j")->upper == (double)INFINITY);
        assert_near(joint_of(f, "j")->effort, 5.0, 0.0);
        assert_near(joint_of(f, "j")->velocity, 6.0, 0.0);
        expect_finding(f, STN_SEVERITY_NOTE, "skipped", 4, "joint j", "lower and upper of a");
        assert_int_equal(f->list.count, 1);
    }
}

static void range_of_a_continuous_joint_is_noted_and_not_read(void **state) {
    fixture *f = *state;
    good_model(f, TYPE("continuous", "<axis xyz='0 0 1'/><limit lower='-1' upper='1' effort='5' velocity='6'/>"));
    assert_true(joint_of(f, "j")->upper == (double)INFINITY);
    assert_near(joint_of(f, "j")->effort, 5.0, 0.0);
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 4, "joint j", "lower and upper of a continuous joint");
    assert_int_equal(f->list.count, 1);
}

static void acceleration_limit_reaches_the_joint(void **state) {
    fixture *f = *state;
    good_model(f, TYPE("prismatic", "<axis xyz='0 0 1'/><limit lower='0' upper='1' effort='5' velocity='6' "
                                    "drake:acceleration='7'/>"));
    assert_near(joint_of(f, "j")->acceleration, 7.0, 0.0);
    assert_int_equal(f->list.count, 0);
    good_model(f, PAIR(HINGE("j", "a", "b", "")));
    assert_true(joint_of(f, "j")->acceleration == (double)INFINITY);
}

static void damping_of_a_planar_joint_is_one_figure_or_three(void **state) {
    fixture *f = *state;
    good_model(f, TYPE("planar", "<axis xyz='0 0 1'/><dynamics damping='0.5'/>"));
    assert_near(joint_of(f, "j")->damping, 0.5, 0.0);
    good_model(f, TYPE("planar", "<axis xyz='0 0 1'/><dynamics damping='2 2 2'/>"));
    assert_near(joint_of(f, "j")->damping, 2.0, 0.0);
    assert_int_equal(f->list.count, 0);
    good_model(f, TYPE("planar", "<axis xyz='0 0 1'/><dynamics damping='2 2 1'/>"));
    assert_near(joint_of(f, "j")->damping, 2.0, 0.0);
    expect_finding(f, STN_SEVERITY_WARNING, "damping", 4, "joint j", "2 counts");
}

static void damping_and_friction_of_a_ball_joint_hold_for_each_motion(void **state) {
    fixture *f = *state;
    good_model(f, TYPE("ball", "<dynamics damping='0.5' friction='0.25'/>"));
    assert_near(joint_of(f, "j")->damping, 0.5, 0.0);
    assert_near(joint_of(f, "j")->friction, 0.25, 0.0);
    assert_int_equal(f->list.count, 0);
}

static void screw_follows_and_is_followed(void **state) {
    fixture *f = *state;
    good_model(
        f,
        ROBOT(LINK("a") LINK("b") LINK("c") HINGE(
            "h", "b", "c",
            "<mimic joint='s' multiplier='2' offset='1'/>") "<drake:joint name='s' type='screw'>" ENDS
                                                            "<axis xyz='0 0 1'/>"
                                                            "<drake:screw_thread_pitch value='0.1'/></drake:joint>"));
    assert_string_equal(f->model->joints[joint_of(f, "h")->mimic].name, "s");
    assert_near(joint_of(f, "h")->mimic_multiplier, 2.0, 0.0);
    assert_near(joint_of(f, "h")->mimic_offset, 1.0, 0.0);
}

static void chain_of_a_hundred_followers_is_the_longest(void **state) {
    fixture *f = *state;
    for (int32_t joints = 100; joints <= 102; joints++) {
        char text[32768] = "<robot name='r'><link name='l0'/>";
        size_t length = strlen(text);
        for (int32_t i = 1; i <= joints; i++) {
            length += (size_t)snprintf(text + length, sizeof text - length,
                                       "<link name='l%d'/><joint name='j%d' type='continuous'><parent link='l%d'/>"
                                       "<child link='l%d'/>%s<mimic joint='j%d'/>%s</joint>\n",
                                       (int)i, (int)i, (int)i - 1, (int)i, i > 1 ? "" : "<!--", (int)i - 1,
                                       i > 1 ? "" : "-->");
        }
        snprintf(text + length, sizeof text - length, "</robot>");
        load_text(f, text);
        assert_int_equal(f->list.error_count, joints > 100 ? 1 : 0);
    }
    expect_finding(f, STN_SEVERITY_ERROR, "mimic", 101, "joint j101", "more than 100 joints");
}

static void mimic_of_a_fixed_joint_is_ignored_with_a_warning(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT(LINK("a") LINK("b") LINK("c") HINGE("h", "b", "c", "") "<joint name='x' type='fixed'>" ENDS
                                                                               "<mimic joint='h'/></joint>"));
    expect_finding(f, STN_SEVERITY_WARNING, "mimic", 0, "joint x", "does not move");
}

/// An unknown type is one error, not also one for everybody who follows that joint.
static void joint_of_unknown_type_is_one_error(void **state) {
    fixture *f = *state;
    load_text(f, ROBOT(LINK("a") LINK("b") LINK("c")
                           HINGE("h", "b", "c", "<mimic joint='x'/>") "<joint name='x' type='hinge'>" ENDS "</joint>"));
    assert_int_equal(f->list.error_count, 1);
    expect_finding(f, STN_SEVERITY_ERROR, "joint_type", 0, "joint x", "'hinge'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_type_is_read_under_both_element_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(planar_joint_moves_in_the_plane_across_its_axis, set_up, tear_down),
        cmocka_unit_test_setup_teardown(screw_advances_by_its_pitch_each_turn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(screw_may_be_limited_and_need_not, set_up, tear_down),
        cmocka_unit_test_setup_teardown(joints_of_several_motions_have_no_axis_and_no_range, set_up, tear_down),
        cmocka_unit_test_setup_teardown(range_of_a_continuous_joint_is_noted_and_not_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(acceleration_limit_reaches_the_joint, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damping_of_a_planar_joint_is_one_figure_or_three, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damping_and_friction_of_a_ball_joint_hold_for_each_motion, set_up, tear_down),
        cmocka_unit_test_setup_teardown(screw_follows_and_is_followed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(chain_of_a_hundred_followers_is_the_longest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mimic_of_a_fixed_joint_is_ignored_with_a_warning, set_up, tear_down),
        cmocka_unit_test_setup_teardown(joint_of_unknown_type_is_one_error, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
