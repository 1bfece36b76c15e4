// SPDX-License-Identifier: Apache-2.0
// Joint types of SDFormat, and what each axis says.
#include "sdf_fixture.h"
#include "stn_joined.h"

#define WELDED              "<static>false</static>" JOINT("root", "fixed", "world", "a", "")
#define PAIR(joint)         ROBOT(WELDED LINK("a", "") LINK("b", POSE("1 0 0 0 0 0")) joint)
#define ONE(type, more)     PAIR(JOINT("j", type, "a", "b", more))
#define LIMIT(lower, upper) "<limit><lower>" lower "</lower><upper>" upper "</upper></limit>"

static void every_type_reaches_the_model(void **state) {
    static const struct {
        const char *word, *more;
        stn_joint_type type;
        int32_t nv;
    } cases[] = {{"revolute", AXIS("0 0 1", ""), STN_JOINT_REVOLUTE, 1},
                 {"continuous", AXIS("0 0 1", ""), STN_JOINT_CONTINUOUS, 1},
                 {"prismatic", AXIS("0 0 1", ""), STN_JOINT_PRISMATIC, 1},
                 {"ball", "", STN_JOINT_BALL, 3},
                 {"screw", AXIS("0 0 1", "") "<screw_thread_pitch>0.1</screw_thread_pitch>", STN_JOINT_SCREW, 1},
                 {"universal", AXIS("1 0 0", "") AXIS2("0 1 0", ""), STN_JOINT_UNIVERSAL, 2}};
    fixture *f = *state;
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        char text[2048];
        snprintf(text, sizeof text, PAIR("<joint name='j' type='%s'><parent>a</parent><child>b</child>%s</joint>"),
                 cases[i].word, cases[i].more);
        const stn_model *m = good_model(f, text);
        assert_int_equal(joint_of(f, "j")->type, cases[i].type);
        assert_int_equal(m->nv, cases[i].nv);
        assert_int_equal(m->link_count, 3); // with the world
        expect_pose(f, "b", NULL, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0);
        assert_int_equal(f->list.count, 0);
    }
    assert_int_equal(good_model(f, ONE("fixed", POSE("3 2 1 0.1 0.2 0.3")))->nv, 0);
    expect_pose(f, "b", NULL, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0);
}

/// a - b - c - a: the last hinge, whose child hangs on a already, becomes two balls on its axis.
static void a_hinge_that_closes_a_loop_is_two_balls(void **state) {
    fixture *f = *state;
    const stn_model *m = good_model(
        f, ROBOT(WELDED LINK("a", "") LINK("b", POSE("1 0 0 0 0 0.3")) LINK("c", POSE("0 1 0 0.2 0 0")) JOINT(
               "j", "revolute", "a", "b", AXIS("0 0 1", "")) JOINT("k", "revolute", "a", "c", AXIS("0 0 1", ""))
                     JOINT("close", "continuous", "b", "c", POSE("0.1 0.2 0.3 0 0.4 0") AXIS("0 3 4", ""))));
    assert_int_equal(m->constraint_count, 2);
    assert_int_equal(m->nv, 2);
    assert_string_equal(m->constraints[0].name, "close");
    expect_finding(f, STN_SEVERITY_WARNING, "loop", 0, "joint close",
                   "closes a loop, which two balls on its axis hold");
    stn_kinematics *kinematics = NULL;
    stn_error err;
    const double v[2] = {0.0, 0.0};
    stn_vec3 at[2];
    assert_ok(stn_kinematics_create(m, &kinematics, &err), err);
    stn_kinematics_update(kinematics, m->q0, v);
    for (int32_t i = 0; i < 2; i++) {
        const stn_constraint_end *ends = m->constraints[i].ends;
        assert_joined_type(&m->constraints[i], "ball");
        at[i] = stn_pose_apply(&kinematics->body_pose[ends[0].body], ends[0].frame.position);
        stn_vec3 other = stn_pose_apply(&kinematics->body_pose[ends[1].body], ends[1].frame.position);
        assert_near(stn_vec3_norm(stn_vec3_sub(at[i], other)), 0.0, 1e-15);
    }
    // the axis is (0, 0.6, 0.8) of the joint's frame, which stands in c: turned by 0.4 about y and by 0.2 about x
    const stn_mat3 joint = stn_mat3_from_rpy(0.0, 0.4, 0.0), child = stn_mat3_from_rpy(0.2, 0.0, 0.0);
    stn_vec3 axis = stn_mat3_apply(&child, stn_mat3_apply(&joint, stn_vec3_make(0.0, 0.6, 0.8)));
    assert_near(stn_vec3_norm(stn_vec3_sub(stn_vec3_sub(at[0], at[1]), stn_vec3_scale(0.1, axis))), 0.0, 1e-15);
    stn_kinematics_destroy(kinematics);
    m = good_model(f, ROBOT(WELDED LINK("a", "") LINK("b", "") LINK("c", "") JOINT("j", "ball", "a", "b", "")
                                JOINT("k", "ball", "a", "c", "") JOINT("close", "ball", "b", "c", "")));
    assert_int_equal(m->constraint_count, 1);
    load_text(f, ROBOT(WELDED LINK("a", "") LINK("b", "") LINK("c", "") JOINT("j", "ball", "a", "b", "")
                           JOINT("k", "ball", "a", "c", "") JOINT("close", "prismatic", "b", "c", AXIS("0 0 1", ""))));
    expect_finding(f, STN_SEVERITY_ERROR, "two_parents", 0, "joint close", "remove one");
}

// About a1, fixed in the parent, then about a2, which that turned: R(a1, q1) R(a2, q2) with both given at zero.
static void universal_joint_turns_about_its_two_axes(void **state) {
    fixture *f = *state;
    good_model(f, ONE("universal", AXIS("0 0 2", "") AXIS2("0.6 0.8 0", "")));
    const double q[2] = {0.3, 0.4};
    const stn_vec3 a1 = {0.0, 0.0, 1.0}, a2 = {0.6, 0.8, 0.0};
    stn_quat first = stn_quat_exp(stn_vec3_scale(q[0], a1)), second = stn_quat_exp(stn_vec3_scale(q[1], a2));
    const stn_pose expected = stn_pose_make(stn_quat_mul(first, second), stn_vec3_make(1.0, 0.0, 0.0));
    const stn_pose pose = pose_of(f, "b", q);
    expect_same_pose(&pose, &expected, 1e-14);
    expect_pose(f, "b", NULL, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    load_text(f, ONE("universal", AXIS("0 0 1", "") AXIS2("0 1 1", "")));
    expect_finding(f, STN_SEVERITY_ERROR, "axis", 0, "joint j", "must be perpendicular, their cosine is 0.70710");
}

static void second_axis_of_a_universal_joint_has_no_figures_of_its_own(void **state) {
#define DAMPED(d) "<dynamics><damping>" d "</damping></dynamics>"
    fixture *f = *state;
    good_model(f, ONE("universal", AXIS("1 0 0", DAMPED("2")) AXIS2("0 1 0", DAMPED("2"))));
    assert_int_equal(f->list.count, 0);
    good_model(f, ONE("universal", AXIS("1 0 0", DAMPED("2") LIMIT("-1", "1")) AXIS2("0 1 0", DAMPED("3"))));
    assert_near(joint_of(f, "j")->damping, 2.0, 0.0);
    expect_finding(f, STN_SEVERITY_WARNING, "damping", 0, "joint j", "those of <axis> count");
    expect_finding(f, STN_SEVERITY_WARNING, "skipped", 0, "joint j", "lower and upper of a universal joint");
}

static void revolute2_is_two_hinges(void **state) {
    fixture *f = *state;
    const stn_model *m = good_model(
        f, ONE("revolute2", POSE("-1 0 0 0 0 0") AXIS("0 0 1", LIMIT("-1", "2")) AXIS2("0 0.6 0.8", LIMIT("-3", "4"))));
    const double q[2] = {0.3, 0.4};
    const stn_vec3 a1 = {0.0, 0.0, 1.0}, a2 = {0.0, 0.6, 0.8};
    stn_quat first = stn_quat_exp(stn_vec3_scale(q[0], a1)), second = stn_quat_exp(stn_vec3_scale(q[1], a2));
    stn_pose joint = stn_pose_make(stn_quat_mul(first, second), stn_vec3_zero());
    const stn_pose arm = stn_pose_make(stn_quat_identity(), stn_vec3_make(1.0, 0.0, 0.0));
    const stn_pose expected = stn_pose_mul(&joint, &arm), pose = pose_of(f, "b", q);
    expect_same_pose(&pose, &expected, 1e-14);
    assert_int_equal(m->nv, 2);
    assert_near(joint_of(f, "j")->upper, 2.0, 0.0);
    assert_near(joint_of(f, "j_axis2")->lower, -3.0, 0.0);
    assert_int_equal(f->list.count, 0);
}

static void screw_advances_by_its_pitch_and_its_ancestor_is_left_handed(void **state) {
    fixture *f = *state;
    const double q[1] = {2.0 * STN_PI};
    good_model(f, ONE("screw", AXIS("1 0 0", "") "<screw_thread_pitch>0.01</screw_thread_pitch>"));
    expect_pose(f, "b", q, 1.01, 0.0, 0.0, 0.0, 0.0, 0.0);
    good_model(f, ONE("screw", AXIS("1 0 0", "") "<thread_pitch>-100</thread_pitch>")); // 100 rad a metre
    expect_pose(f, "b", q, 1.0 + 2.0 * STN_PI / 100.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    expect_finding(f, STN_SEVERITY_NOTE, "thread_pitch", 0, "joint j", "right-handed");
    good_model(f, ONE("screw",
                      AXIS("1 0 0", "") "<thread_pitch>5</thread_pitch><screw_thread_pitch>0.5</screw_thread_pitch>"));
    assert_near(joint_of(f, "j")->screw_pitch, 0.5, 0.0);
}

static void limits_have_the_defaults_of_the_standard(void **state) {
    fixture *f = *state;
    good_model(f, ONE("revolute", AXIS("0 0 1", "")));
    assert_true(joint_of(f, "j")->upper == (double)INFINITY);
    assert_true(joint_of(f, "j")->effort == (double)INFINITY);
    assert_int_equal(f->list.count, 0);
    good_model(f, ONE("revolute", AXIS("0 0 1", "<limit><lower>-1e16</lower><upper>1e+16</upper><effort>-1</effort>"
                                                "<velocity>-1</velocity></limit>")));
    assert_true(joint_of(f, "j")->lower == -(double)INFINITY);
    assert_true(joint_of(f, "j")->upper == (double)INFINITY);
    assert_true(joint_of(f, "j")->effort == (double)INFINITY);
    assert_true(joint_of(f, "j")->velocity == (double)INFINITY);
    good_model(f, ONE("revolute", AXIS("0 0 1", "<limit><lower>-inf</lower><upper> inf </upper><effort>0</effort>"
                                                "<drake:acceleration>7</drake:acceleration></limit>")));
    assert_true(joint_of(f, "j")->lower == -(double)INFINITY);
    assert_near(joint_of(f, "j")->effort, 0.0, 0.0);
    assert_near(joint_of(f, "j")->acceleration, 7.0, 0.0);
    good_model(f, ONE("prismatic", AXIS("0 0 1", "<limit><upper>2</upper></limit>")));
    assert_true(joint_of(f, "j")->lower == -(double)INFINITY);
    assert_near(joint_of(f, "j")->upper, 2.0, 0.0);
    good_model(f, ONE("prismatic", AXIS("0 0 1", LIMIT("2", "2"))));
    expect_finding(f, STN_SEVERITY_WARNING, "limit", 0, "joint j", "locked there");
}

static void range_of_a_continuous_joint_is_noted(void **state) {
    fixture *f = *state;
    good_model(f, ONE("continuous", AXIS("0 0 1", LIMIT("-1", "1"))));
    assert_true(joint_of(f, "j")->upper == (double)INFINITY);
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 0, "joint j", "lower and upper of a continuous joint");
}

static void springs_are_read(void **state) {
#define SPRING "<dynamics><spring_stiffness>5</spring_stiffness><spring_reference>0.2</spring_reference></dynamics>"
    fixture *f = *state;
    good_model(f, ONE("revolute", AXIS("0 0 1", SPRING)));
    assert_near(joint_of(f, "j")->stiffness, 5.0, 0.0);
    assert_near(joint_of(f, "j")->rest, 0.2, 0.0);
    good_model(f, ONE("ball", AXIS("0 0 1", SPRING)));
    expect_finding(f, STN_SEVERITY_WARNING, "skipped", 0, "joint j", "<spring_stiffness> of a ball joint");
}

static void motors_of_drake_are_read(void **state) {
    fixture *f = *state;
    good_model(f, ONE("revolute", AXIS("0 0 1", "") "<drake:rotor_inertia>0.25</drake:rotor_inertia>"
                                                    "<drake:gear_ratio>4</drake:gear_ratio>"
                                                    "<drake:controller_gains p='100' d='10'/>"));
    assert_near(joint_of(f, "j")->reflected_inertia, 4.0, 0.0);
    assert_near(joint_of(f, "j")->servo_kp, 100.0, 0.0);
    assert_near(joint_of(f, "j")->servo_kd, 10.0, 0.0);
    assert_int_equal(f->list.count, 0);
}

#define THREE(first, second)                                                                       \
    ROBOT(WELDED LINK("a", "") LINK("b", "") LINK("c", "") JOINT("j", "revolute", "a", "b", first) \
              JOINT("k", "revolute", "b", "c", second))

static void mimic_follows_its_leader_from_a_reference(void **state) {
    fixture *f = *state;
    good_model(f, THREE(AXIS("0 0 1", "<mimic joint='k'><multiplier>2</multiplier><offset>1</offset><reference>0.5"
                                      "</reference></mimic>"),
                        AXIS("0 0 1", "")));
    const stn_joint *j = joint_of(f, "j");
    assert_string_equal(f->model->joints[j->mimic].name, "k");
    assert_near(j->mimic_multiplier, 2.0, 0.0);
    assert_near(j->mimic_offset, 0.0, 0.0); // 1 - 2 * 0.5
    good_model(f, THREE(AXIS("0 0 1", "") "<drake:mimic joint='k' multiplier='-1' offset='0.5'/>", AXIS("0 0 1", "")));
    assert_near(joint_of(f, "j")->mimic_multiplier, -1.0, 0.0);
    assert_near(joint_of(f, "j")->mimic_offset, 0.5, 0.0);
    assert_int_equal(f->list.count, 0);
}

static void mimic_may_follow_a_second_axis_and_a_joint_of_a_model_inside(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT(WELDED LINK("a", "") LINK("b", "") LINK("c", "")
                            JOINT("j", "revolute", "a", "b", AXIS("0 0 1", "<mimic joint='k' axis='axis2'/>"))
                                JOINT("k", "revolute2", "b", "c", AXIS("0 0 1", "") AXIS2("1 0 0", ""))
                                    JOINT("l", "revolute", "c", "in::l", AXIS("0 0 1", "<mimic joint='in::n'/>"))
                                        MODEL("in", LINK("l", "") LINK("m", "")
                                                        JOINT("n", "revolute", "l", "m", AXIS("0 0 1", "")))));
    assert_string_equal(f->model->joints[joint_of(f, "j")->mimic].name, "k_axis2");
    assert_string_equal(f->model->joints[joint_of(f, "l")->mimic].name, "in::n");
}

static void planar_joint_of_drake_brings_its_frames_together(void **state) {
    fixture *f = *state;
    good_model(f,
               ROBOT(WELDED LINK("a", "") LINK(
                   "b", POSE("9 9 9 0 0 0")) "<frame name='p' attached_to='a'><pose>1 0 0 0 0 0</pose></frame>"
                                             "<frame name='c' attached_to='b'><pose>0 0 0.5 0 0 0</pose></frame>"
                                             "<drake:joint name='j' "
                                             "type='planar'><drake:parent>p</drake:parent><drake:child>c</drake:child>"
                                             "<drake:damping>1 1 2</drake:damping></drake:joint>"));
    const double q[3] = {0.1, 0.2, 0.3};
    assert_int_equal(joint_of(f, "j")->type, STN_JOINT_PLANAR);
    expect_pose(f, "b", NULL, 1.0, 0.0, -0.5, 0.0, 0.0, 0.0);
    expect_pose(f, "b", q, 1.1, 0.2, -0.5, 0.0, 0.0, 0.3);
    expect_pose(f, "c", q, 1.1, 0.2, 0.0, 0.0, 0.0, 0.3);
    assert_near(joint_of(f, "j")->damping, 1.0, 0.0);
    expect_finding(f, STN_SEVERITY_WARNING, "damping", 0, "joint j", "1 counts");
}

#define GEARED(axis_c, gear)                                                                             \
    ROBOT(WELDED LINK("a", "") LINK("b", "") LINK("c", POSE("1 0 0 0 0 3.141592653589793"))              \
              JOINT("j", "revolute", "a", "b", AXIS("0 0 1", ""))                                        \
                  JOINT("k", "revolute", "a", "c", POSE("0 0 0 0 3.141592653589793 0") AXIS(axis_c, "")) \
                      JOINT("g", "gearbox", "b", "c", gear))
#define REFERENCE(ratio, body) \
    "<gearbox_ratio>" ratio "</gearbox_ratio><gearbox_reference_body>" body "</gearbox_reference_body>"

/// Turning the first wheel by t about z turns the second by -ratio t about z.
static void gearbox_is_a_mimic_of_its_hinges(void **state) {
    fixture *f = *state;
    good_model(f, GEARED("0 0 1", AXIS("0 0 1", "") AXIS2("0 0 1", "") REFERENCE("2", "a")));
    assert_string_equal(f->model->joints[joint_of(f, "k")->mimic].name, "j");
    assert_near(joint_of(f, "k")->mimic_multiplier, 2.0, 0.0); // its axis, turned over, looks down
    good_model(f, GEARED("0 0 -1", AXIS("0 0 1", "") AXIS2("0 0 1", "") REFERENCE("2", "a")));
    assert_near(joint_of(f, "k")->mimic_multiplier, -2.0, 0.0);
    good_model(f, GEARED("0 0 -1", AXIS("0 0 1", "") AXIS2("0 0 -1", "") REFERENCE("2", "a")));
    assert_near(joint_of(f, "k")->mimic_multiplier, 2.0, 0.0);
    assert_int_equal(f->list.count, 0);
}

static void gearbox_between_other_links_is_left_out_with_a_warning(void **state) {
    fixture *f = *state;
    good_model(f, GEARED("0 1 0", AXIS("0 0 1", "") AXIS2("0 0 1", "") REFERENCE("2", "a"))); // not along the axis
    assert_int_equal(joint_of(f, "k")->mimic, -1);
    expect_finding(f, STN_SEVERITY_WARNING, "joint_type", 0, "joint g", "left out");
    good_model(f, GEARED("0 0 1", AXIS("0 0 1", "") AXIS2("0 0 1", "") REFERENCE("2", "world")));
    expect_finding(f, STN_SEVERITY_WARNING, "joint_type", 0, "joint g", "left out");
    load_text(f, GEARED("0 0 1", AXIS("0 0 1", "") AXIS2("0 0 1", "")));
    expect_finding(f, STN_SEVERITY_ERROR, "missing", 0, "joint g", "gearbox_reference_body");
}

static void stops_that_give_are_said(void **state) {
    fixture *f = *state;
    good_model(f, ONE("revolute", AXIS("0 0 1", "<limit><stiffness>100000000</stiffness><dissipation>1</dissipation>"
                                                "</limit>")));
    assert_int_equal(f->list.count, 0);
    good_model(f, ONE("revolute", AXIS("0 0 1", "<limit><stiffness>15000</stiffness></limit>")));
    expect_finding(f, STN_SEVERITY_WARNING, "skipped", 0, "joint j", "<stiffness> 15000 is not read");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_type_reaches_the_model, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(a_hinge_that_closes_a_loop_is_two_balls, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(universal_joint_turns_about_its_two_axes, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(second_axis_of_a_universal_joint_has_no_figures_of_its_own, set_up_sdf,
                                        tear_down),
        cmocka_unit_test_setup_teardown(revolute2_is_two_hinges, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(screw_advances_by_its_pitch_and_its_ancestor_is_left_handed, set_up_sdf,
                                        tear_down),
        cmocka_unit_test_setup_teardown(limits_have_the_defaults_of_the_standard, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(range_of_a_continuous_joint_is_noted, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(springs_are_read, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(motors_of_drake_are_read, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(mimic_follows_its_leader_from_a_reference, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(mimic_may_follow_a_second_axis_and_a_joint_of_a_model_inside, set_up_sdf,
                                        tear_down),
        cmocka_unit_test_setup_teardown(planar_joint_of_drake_brings_its_frames_together, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(gearbox_is_a_mimic_of_its_hinges, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(gearbox_between_other_links_is_left_out_with_a_warning, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(stops_that_give_are_said, set_up_sdf, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
