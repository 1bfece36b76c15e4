// SPDX-License-Identifier: Apache-2.0
// Frames of SDFormat against poses worked out by hand: relative_to, attached_to, expressed_in, placement frames, nested
// models, merged ones. A quarter turn about z takes x to y and y to -x.
#include "sdf_fixture.h"

#define TURN    "0 0 1.5707963267948966"
#define QUARTER (STN_PI / 2.0)

static void links_stand_in_the_model_unless_told_otherwise(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT(POSE("10 0 0 " TURN) LINK("a", POSE("1 0 0 " TURN)) LINK("b", POSE("0 1 0 0 0 0"))
                            LINK("c", POSE_IN("a", "0 0 1 0 0 0")) LINK("d", POSE_IN("__model__", "0 0 2 0 0 0"))));
    expect_pose(f, "a", NULL, 10.0, 1.0, 0.0, 0.0, 0.0, STN_PI);
    expect_pose(f, "b", NULL, 9.0, 0.0, 0.0, 0.0, 0.0, QUARTER);
    expect_pose(f, "c", NULL, 10.0, 1.0, 1.0, 0.0, 0.0, STN_PI);
    expect_pose(f, "d", NULL, 10.0, 0.0, 2.0, 0.0, 0.0, QUARTER);
}

static void rotations_may_be_degrees_or_quaternions(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT(LINK("a", "<pose degrees='true'>1 2 3 30 40 50</pose>")
                            LINK("b", "<pose rotation_format='quat_xyzw'>1 2 3 0 0 3 4</pose>")
                                LINK("c", "<pose degrees='0' rotation_format='euler_rpy'>0 0 0 0.1 0.2 0.3</pose>")
                                    LINK("d", "<pose relative_to='a'/>")));
    double degree = STN_PI / 180.0;
    expect_pose(f, "a", NULL, 1.0, 2.0, 3.0, 30.0 * degree, 40.0 * degree, 50.0 * degree);
    expect_pose(f, "b", NULL, 1.0, 2.0, 3.0, 0.0, 0.0, 2.0 * atan2(3.0, 4.0)); // brought to length 1
    expect_pose(f, "c", NULL, 0.0, 0.0, 0.0, 0.1, 0.2, 0.3);
    expect_pose(f, "d", NULL, 1.0, 2.0, 3.0, 30.0 * degree, 40.0 * degree, 50.0 * degree);
}

static void joint_frame_is_the_childs_unless_placed(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT(LINK("a", "") LINK("b", POSE("1 0 0 0 0 0")) LINK("c", POSE("3 0 0 0 0 0"))
                            JOINT("j", "revolute", "a", "b", POSE("-0.5 0 0 0 0 0") AXIS("0 0 1", ""))
                                JOINT("k", "revolute", "b", "c", AXIS("0 0 1", ""))));
    const double q[9] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, QUARTER, QUARTER};
    assert_int_equal(f->model->nq, 9);
    assert_int_equal(f->model->link_count, 4); // with j_frame
    expect_pose(f, "j_frame", NULL, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0);
    expect_pose(f, "b", NULL, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    expect_pose(f, "b", q, 0.5, 0.5, 0.0, 0.0, 0.0, QUARTER);
    expect_pose(f, "c", q, 0.5, 2.5, 0.0, 0.0, 0.0, STN_PI);
}

static void joint_may_be_placed_in_any_frame(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT(LINK("a", "") LINK("b", POSE("1 0 0 0 0 0"))
                            JOINT("j", "revolute", "a", "b", POSE_IN("f", "0 1 0 0 0 0") AXIS("0 0 1", ""))
                                FRAME("f", POSE("1 0 0 " TURN))));
    const double q[8] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, QUARTER}; // the joint lies at the origin, turned
    expect_pose(f, "j_frame", NULL, 0.0, 0.0, 0.0, 0.0, 0.0, QUARTER);
    expect_pose(f, "b", q, 0.0, 1.0, 0.0, 0.0, 0.0, QUARTER);
}

static void joint_that_lands_on_its_child_needs_no_link_of_its_own(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT(LINK("a", "") LINK("b", POSE("0.1 0.2 0.3 0.4 0.5 0.6")) JOINT(
                      "j", "revolute", "a", "b", POSE_IN("__model__", "0.1 0.2 0.3 0.4 0.5 0.6") AXIS("0 0 1", ""))));
    assert_int_equal(f->model->link_count, 2);
}

static void frames_move_with_what_they_are_attached_to(void **state) {
    fixture *f = *state;
    good_model(
        f, ROBOT(LINK("a", "") LINK("b", POSE("1 0 0 0 0 0")) JOINT("j", "revolute", "a", "b", AXIS("0 0 1", "")) FRAME(
               "on_a",
               POSE_IN(
                   "b",
                   "1 0 0 0 0 0")) "<frame name='on_b' attached_to='b'><pose>1 0 0 0 0 0</pose></frame>"
                                   "<frame name='on_j' attached_to='j'><pose relative_to='a'>2 0 1 0 0 0</pose></frame>"
                                   "<frame name='on_frame' attached_to='on_b'/>"));
    const double q[8] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, QUARTER};
    expect_pose(f, "on_a", q, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0); // the model's frame moves with its first link
    expect_pose(f, "on_b", q, 1.0, 1.0, 0.0, 0.0, 0.0, QUARTER);
    expect_pose(f, "on_j", q, 1.0, 1.0, 1.0, 0.0, 0.0, QUARTER);
    expect_pose(f, "on_frame", q, 1.0, 1.0, 0.0, 0.0, 0.0, QUARTER);
    assert_near(link_of(f, "on_b")->mass.mass, 0.0, 0.0);
    assert_string_equal(link_of(f, "on_b")->joint_name, "on_b_fixed");
    assert_int_equal(f->list.count, 0);
}

static void canonical_link_carries_the_models_frame(void **state) {
    fixture *f = *state;
    good_model(f, SDF("1.9", "<model name='m' canonical_link='b'>" LINK("a", "") LINK("b", POSE("1 0 0 0 0 0"))
                                 JOINT("j", "revolute", "a", "b", AXIS("0 0 1", "")) FRAME("f", "") "</model>"));
    const double q[8] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, QUARTER};
    expect_pose(f, "f", q, 1.0, -1.0, 0.0, 0.0, 0.0, QUARTER);
}

static void joint_ends_may_be_frames(void **state) {
    fixture *f = *state;
    good_model(
        f,
        ROBOT(LINK("a", "") LINK(
            "b", POSE("1 0 0 0 0 0")) "<frame name='tip' attached_to='a'><pose>0.5 0 0 0 0 0</pose></frame>"
                                      "<frame name='tail' attached_to='b'><pose>-0.25 0 0 0 0 0</pose></frame>" JOINT(
                                          "j", "revolute", "tip", "tail", AXIS("0 0 1", ""))));
    const double q[8] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, QUARTER};
    assert_string_equal(f->model->links[link_of(f, "j_frame")->parent].name, "a");
    expect_pose(f, "b", q, 0.75, 0.25, 0.0, 0.0, 0.0, QUARTER); // the joint's frame is tail's
    expect_pose(f, "tip", q, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0);
}

static void axis_is_given_in_the_joints_frame_or_another(void **state) {
    static const struct {
        const char *version, *axis;
        double x, y;
    } cases[] = {{"1.9", "<xyz>1 0 0</xyz>", 1.0, 0.0},
                 {"1.9", "<xyz expressed_in='__model__'>1 0 0</xyz>", 0.0, -1.0},
                 {"1.9", "<xyz expressed_in='a'>0 1 0</xyz>", 1.0, 0.0},
                 {"1.9", "<xyz expressed_in='b'>1 0 0</xyz>", 1.0, 0.0},
                 {"1.6", "<xyz>1 0 0</xyz>", 1.0, 0.0},
                 {"1.6", "<xyz>1 0 0</xyz><use_parent_model_frame>1</use_parent_model_frame>", 0.0, -1.0},
                 {"1.6", "<xyz>1 0 0</xyz><use_parent_model_frame>0</use_parent_model_frame>", 1.0, 0.0},
                 {"1.4", "<xyz>1 0 0</xyz>", 0.0, -1.0}};
    fixture *f = *state;
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 SDF("%s", MODEL("m", LINK("a", "") LINK("b", POSE("1 0 0 " TURN))
                                          JOINT("j", "revolute", "a", "b", "<axis>%s</axis>"))),
                 cases[i].version, cases[i].axis);
        good_model(f, text);
        assert_near(joint_of(f, "j")->axis.x, cases[i].x, 1e-15);
        assert_near(joint_of(f, "j")->axis.y, cases[i].y, 1e-15);
        assert_int_equal(f->list.count, 0);
    }
}

static void nested_models_have_frames_and_names_of_their_own(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT(LINK("base", "") MODEL("in", POSE("1 0 0 " TURN) LINK("base", POSE("1 0 0 0 0 0"))
                                                         LINK("end", POSE_IN("base", "0 0 1 0 0 0"))
                                                             JOINT("j", "fixed", "base", "end", ""))
                            JOINT("j", "revolute", "base", "in::base",
                                  AXIS("0 0 1", "")) "<frame name='f' attached_to='in'><pose relative_to='in::end'>0 0 "
                                                     "1 0 0 0</pose></frame>"));
    expect_pose(f, "base", NULL, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    expect_pose(f, "in::base", NULL, 1.0, 1.0, 0.0, 0.0, 0.0, QUARTER);
    expect_pose(f, "in::end", NULL, 1.0, 1.0, 1.0, 0.0, 0.0, QUARTER);
    expect_pose(f, "f", NULL, 1.0, 1.0, 2.0, 0.0, 0.0, QUARTER);
    assert_string_equal(link_of(f, "in::end")->joint_name, "in::j");
    assert_string_equal(f->model->groups[0].name, "m");
}

static void placement_frame_is_what_the_pose_places(void **state) {
    fixture *f = *state;
    good_model(
        f, SDF("1.9",
               "<model name='m' placement_frame='foot'>" POSE("5 0 0 0 0 0") LINK(
                   "a",
                   POSE("0 0 1 " TURN)) "<frame name='foot' attached_to='a'><pose>2 0 0 0 0 0</pose></frame></model>"));
    expect_pose(f, "foot", NULL, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0); // it lies 2 along the link's x, which is the model's y
    expect_pose(f, "a", NULL, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0);
}

static void placement_frames_of_models_inside_models_are_resolved_inside_out(void **state) {
    fixture *f = *state;
    good_model(f, SDF("1.9", "<model name='m' placement_frame='in::p'>" POSE("0 0 7 0 0 0")
                                 LINK("a", "") "<model name='in' placement_frame='p'>" POSE("1 0 0 0 0 0") LINK("b", "")
                                     FRAME("p", POSE("0 2 0 0 0 0")) "</model>" JOINT("j", "fixed", "a", "in::b",
                                                                                      "") "</model>"));
    expect_pose(f, "in::p", NULL, 0.0, 0.0, 7.0, 0.0, 0.0, 0.0); // p is at (1, 0, 0) of m, so m stands at (-1, 0, 7)
    expect_pose(f, "a", NULL, -1.0, 0.0, 7.0, 0.0, 0.0, 0.0);
    expect_pose(f, "in::b", NULL, 0.0, -2.0, 7.0, 0.0, 0.0, 0.0);
}

static void models_of_a_world_are_one_robot(void **state) {
    fixture *f = *state;
    const stn_model *m = good_model(
        f, SDF("1.9", "<world name='w'>" MODEL("arm", POSE("1 0 0 0 0 0") LINK("a", "") LINK("b", "")
                                                          JOINT("j", "revolute", "a", "b", AXIS("0 0 1", "")))
                          MODEL("table", "<static>true</static>" POSE_IN("arm", "0 0 -1 0 0 0") LINK("a", "")
                                             LINK("b", "") JOINT("j", "revolute", "a", "b", AXIS("0 0 1", "")))
                              FRAME("here", POSE_IN("arm::b", "0 0 3 0 0 0"))
                                  JOINT("to", "prismatic", "world", "box", AXIS("0 0 1", ""))
                                      MODEL("box", POSE("0 9 0 0 0 0") LINK("l", "")) "</world>"));
    assert_string_equal(m->groups[0].name, "w");
    assert_string_equal(m->links[m->groups[0].root_link].name, "world");
    assert_int_equal(m->nv, 6 + 1 + 1);
    assert_int_equal(joint_of(f, "arm::a_floating")->type, STN_JOINT_FLOATING);
    assert_int_equal(joint_of(f, "to")->type, STN_JOINT_PRISMATIC);
    expect_pose(f, "arm::b", NULL, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    expect_pose(f, "table::b", NULL, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0);
    expect_pose(f, "box::l", NULL, 0.0, 9.0, 0.0, 0.0, 0.0, 0.0);
    expect_pose(f, "here", NULL, 1.0, 0.0, 3.0, 0.0, 0.0, 0.0);
    assert_int_equal(link_of(f, "table::a")->body, 0); // part of the world, its joints too
    assert_int_equal(link_of(f, "table::b")->body, 0);
    assert_int_equal(link_of(f, "here")->body, 0);
    expect_finding(f, STN_SEVERITY_NOTE, "static", 10, "joint table::j", "fixed at zero");
    assert_int_equal(f->list.count, 1);
}

static void only_model_of_a_world_keeps_its_names(void **state) {
    fixture *f = *state;
    const stn_model *m =
        good_model(f, SDF("1.9", "<world name='w'>" MODEL("m", POSE("1 0 0 0 0 0") LINK("a", "")) "</world>"));
    assert_string_equal(m->groups[0].name, "m");
    expect_pose(f, "a", NULL, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0);
}

static void several_roots_float_side_by_side(void **state) {
    fixture *f = *state;
    const stn_model *m = good_model(f, ROBOT(POSE("0 0 1 0 0 0") LINK("a", "") LINK("b", POSE("2 0 0 " TURN))));
    assert_int_equal(m->nv, 12);
    expect_pose(f, "b", NULL, 2.0, 0.0, 1.0, 0.0, 0.0, QUARTER);
}

static void joint_to_the_world_fixes_the_robot(void **state) {
    fixture *f = *state;
    const stn_model *m = good_model(f, ROBOT(POSE("0 0 1 0 0 0") LINK("a", POSE("1 0 0 0 0 0")) JOINT(
                                           "j", "revolute", "world", "a", POSE("-1 0 0 0 0 0") AXIS("0 0 1", ""))));
    const double q[1] = {QUARTER};
    assert_int_equal(m->nv, 1);
    expect_pose(f, "a", q, 0.0, 1.0, 1.0, 0.0, 0.0, QUARTER);
}

static void names_of_the_file_come_before_those_made_here(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT(LINK("a", "") LINK("b", POSE("1 0 0 0 0 0")) FRAME("j_frame", "")
                            JOINT("j", "revolute", "a", "b", POSE("1 0 0 0 0 0") AXIS("0 0 1", ""))
                                JOINT("j_frame_fixed", "fixed", "a", "c", "") LINK("c", "")));
    expect_pose(f, "j_frame", NULL, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    expect_pose(f, "j_frame_2", NULL, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    assert_string_equal(link_of(f, "c")->joint_name, "j_frame_fixed");
}

static void links_and_joints_of_old_files_may_share_names(void **state) {
    fixture *f = *state;
    const char *text = "<sdf version='%s'><model name='m'>" LINK("a", "") LINK("b", POSE("1 0 0 0 0 0"))
        JOINT("b", "revolute", "a", "b", AXIS("0 0 1", "")) "</model></sdf>";
    char old[2048], new[2048];
    snprintf(old, sizeof old, text, "1.6");
    snprintf(new, sizeof new, text, "1.7");
    good_model(f, old);
    assert_int_equal(f->list.count, 0);
    load_text(f, new);
    expect_finding(f, STN_SEVERITY_ERROR, "duplicate_name", 3, NULL, "from 1.7 on");
}

static void flattened_names_are_found_whole(void **state) {
    fixture *f = *state;
    good_model(f, SDF("1.6", MODEL("m", LINK("x::a", "") LINK("x::b", POSE("1 0 0 0 0 0"))
                                            JOINT("x::j", "revolute", "x::a", "x::b", AXIS("0 0 1", "")))));
    expect_pose(f, "x::b", NULL, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(links_stand_in_the_model_unless_told_otherwise, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(rotations_may_be_degrees_or_quaternions, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(joint_frame_is_the_childs_unless_placed, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(joint_may_be_placed_in_any_frame, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(joint_that_lands_on_its_child_needs_no_link_of_its_own, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(frames_move_with_what_they_are_attached_to, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(canonical_link_carries_the_models_frame, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(joint_ends_may_be_frames, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(axis_is_given_in_the_joints_frame_or_another, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(nested_models_have_frames_and_names_of_their_own, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(placement_frame_is_what_the_pose_places, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(placement_frames_of_models_inside_models_are_resolved_inside_out, set_up_sdf,
                                        tear_down),
        cmocka_unit_test_setup_teardown(models_of_a_world_are_one_robot, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(only_model_of_a_world_keeps_its_names, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(several_roots_float_side_by_side, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(joint_to_the_world_fixes_the_robot, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(names_of_the_file_come_before_those_made_here, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(links_and_joints_of_old_files_may_share_names, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(flattened_names_are_found_whole, set_up_sdf, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
