// SPDX-License-Identifier: Apache-2.0
// What compiling makes of links and joints, and what it warns of.
#include "compile_fixture.h"

#include "stn_random_pose.h"

static void assert_pose(const stn_pose *pose, const stn_pose *expected, double tolerance) {
    for (int32_t i = 0; i < 9; i++) {
        assert_near(pose->rotation.m[i / 3][i % 3], expected->rotation.m[i / 3][i % 3], tolerance);
    }
    assert_near(stn_vec3_norm(stn_vec3_sub(pose->position, expected->position)), 0.0, tolerance);
}

// --------------------------------------------------------------------------------------------------------- bodies

static void empty_builder_compiles_to_the_world_alone(void **state) {
    fixture *f = *state;
    stn_model *model = compile_model(f->builder);
    assert_int_equal(model->body_count, 1);
    assert_int_equal(model->nq + model->nv + model->tree_count, 0);
    assert_string_equal(model->bodies[0].name, "world");
    assert_int_equal(model->bodies[0].parent, -1);
    stn_model_destroy(model);
}

static void free_robot_floats_at_its_base_pose(void **state) {
    fixture *f = *state;
    stn_random random = {3};
    stn_pose base = random_pose(&random, 2.0);
    int32_t robot = begin_robot(f->builder, "box");
    add_link(f->builder, "body", one_kg());
    set_base(f->builder, robot, base, false);
    stn_model *model = compile_model(f->builder);
    assert_int_equal(model->nq, 7);
    assert_int_equal(model->nv, 6);
    assert_int_equal(model->joint_count, 1);
    assert_string_equal(model->joints[0].name, "body_floating");
    assert_int_equal(model->joints[0].type, STN_JOINT_FLOATING);
    assert_int_equal(model->bodies[1].parent, 0);
    assert_int_equal(model->links[0].joint, 0);
    assert_int_equal(model->links[0].parent, STN_WORLD);
    assert_null(model->links[0].joint_name);
    assert_false(model->groups[0].fixed);
    const double *q = model->q0;
    stn_quat e = {q[3], q[4], q[5], q[6]};
    stn_pose start = stn_pose_make(e, stn_vec3_make(q[0], q[1], q[2]));
    assert_pose(&start, &base, 1e-15);
    stn_model_destroy(model);
}

static void implicit_joint_gets_a_name_that_the_file_does_not_use(void **state) {
    fixture *f = *state;
    begin_robot(f->builder, "r");
    int32_t a = add_link(f->builder, "a", one_kg()), b = add_link(f->builder, "b", one_kg());
    add_joint(f->builder, "a_floating", STN_JOINT_REVOLUTE, a, b, stn_pose_identity(), X);
    stn_model *model = compile_model(f->builder);
    assert_string_equal(model->joints[0].name, "a_floating_");
    assert_string_equal(model->joints[1].name, "a_floating");
    stn_model_destroy(model);
}

static void fixed_robot_hangs_at_its_base_pose(void **state) {
    fixture *f = *state;
    stn_pose base = stn_pose_make(stn_quat_exp(stn_vec3_make(0.0, 0.0, 0.5)), stn_vec3_make(1.0, 2.0, 3.0));
    stn_pose origin = shift(0.1, 0.0, 0.2);
    int32_t robot = begin_robot(f->builder, "arm");
    int32_t root = add_link(f->builder, "root", one_kg()), upper = add_link(f->builder, "upper", one_kg());
    add_joint(f->builder, "shoulder", STN_JOINT_REVOLUTE, root, upper, origin, Z);
    set_base(f->builder, robot, base, true);
    stn_model *model = compile_model(f->builder);
    stn_pose expected = stn_pose_mul(&base, &origin);
    assert_int_equal(model->nv, 1);
    assert_int_equal(model->links[root].body, 0);
    assert_int_equal(model->links[root].joint, -1);
    assert_pose(&model->links[root].pose, &base, 0.0);
    assert_pose(&model->joints[0].origin, &expected, 0.0);
    assert_true(model->groups[0].fixed);
    assert_near(model->bodies[0].mass.mass, 1.0, 0.0);
    stn_model_destroy(model);
}

static void root_link_named_world_is_the_world_without_its_mass(void **state) {
    fixture *f = *state;
    int32_t robot = begin_robot(f->builder, "arm");
    int32_t world = add_link(f->builder, "world", one_kg()), upper = add_link(f->builder, "upper", one_kg());
    add_joint(f->builder, "shoulder", STN_JOINT_REVOLUTE, world, upper, stn_pose_identity(), Z);
    set_base(f->builder, robot, shift(1.0, 0.0, 0.0), false);
    stn_model *model = compile_model(f->builder);
    assert_true(model->groups[0].fixed);
    assert_int_equal(model->nv, 1);
    assert_int_equal(model->links[world].body, 0);
    assert_near(model->links[world].mass.mass, 0.0, 0.0);
    assert_near(model->bodies[0].mass.mass, 0.0, 0.0);
    assert_near(model->joints[0].origin.position.x, 1.0, 0.0);
    expect_log(f, "link 'world': is the world, so its mass is ignored");
    stn_model_destroy(model);
}

static void link_named_world_below_another_is_a_link(void **state) {
    fixture *f = *state;
    begin_robot(f->builder, "r");
    int32_t root = add_link(f->builder, "root", one_kg()), world = add_link(f->builder, "world", one_kg());
    add_joint(f->builder, "j", STN_JOINT_REVOLUTE, root, world, stn_pose_identity(), Z);
    stn_model *model = compile_model(f->builder);
    assert_int_equal(model->nv, 7);
    assert_int_not_equal(model->links[world].body, 0);
    stn_model_destroy(model);
}

static void joint_on_the_world_is_as_good_as_a_root_link(void **state) {
    fixture *f = *state;
    int32_t robot = begin_robot(f->builder, "two_arms");
    int32_t left = add_link(f->builder, "left", one_kg()), right = add_link(f->builder, "right", one_kg());
    add_joint(f->builder, "jl", STN_JOINT_REVOLUTE, STN_WORLD, left, shift(0.0, 1.0, 0.0), Z);
    add_joint(f->builder, "jr", STN_JOINT_FLOATING, STN_WORLD, right, shift(0.0, -1.0, 0.0), Z);
    set_base(f->builder, robot, shift(5.0, 0.0, 0.0), false);
    stn_model *model = compile_model(f->builder);
    assert_int_equal(model->tree_count, 2);
    assert_int_equal(model->nv, 7);
    assert_true(model->groups[0].fixed);
    assert_int_equal(model->groups[0].root_link, left);
    assert_near(model->joints[0].origin.position.x, 5.0, 0.0);
    assert_near(model->joints[1].origin.position.y, -1.0, 0.0);
    assert_near(model->q0[1], 0.0, 0.0); // a floating joint of the file starts at its frame
    assert_near(model->q0[4], 1.0, 0.0);
    stn_model_destroy(model);
}

static void branches_of_a_fixed_base_are_trees_of_their_own(void **state) {
    fixture *f = *state;
    int32_t robot = begin_robot(f->builder, "torso");
    int32_t base = add_link(f->builder, "base", one_kg()), mast = add_link(f->builder, "mast", one_kg());
    int32_t l1 = add_link(f->builder, "l1", one_kg()), r1 = add_link(f->builder, "r1", one_kg());
    int32_t l2 = add_link(f->builder, "l2", one_kg());
    set_base(f->builder, robot, stn_pose_identity(), true);
    add_joint(f->builder, "jl2", STN_JOINT_REVOLUTE, l1, l2, stn_pose_identity(), Z); // leaf first
    add_joint(f->builder, "jr1", STN_JOINT_PRISMATIC, mast, r1, stn_pose_identity(), Z);
    add_joint(f->builder, "jl1", STN_JOINT_REVOLUTE, mast, l1, stn_pose_identity(), Z);
    add_joint(f->builder, "weld", STN_JOINT_FIXED, base, mast, shift(0.0, 0.0, 1.0), Z);
    stn_model *model = compile_model(f->builder);
    assert_int_equal(model->tree_count, 2);
    assert_int_equal(model->body_count, 4);
    assert_int_equal(model->trees[0].nv, 1); // jr1 comes first in the file
    assert_int_equal(model->trees[1].nv, 2);
    assert_int_equal(model->joint_count, 3);
    assert_string_equal(model->joints[0].name, "jl2"); // joints in file order
    assert_int_equal(model->joints[0].v_start, 2);     // velocities in tree order
    for (int32_t i = 1; i < model->body_count; i++) {
        const stn_body *body = &model->bodies[i];
        const stn_tree *tree = &model->trees[body->tree];
        assert_true(body->parent < i);
        assert_true(i >= tree->body_start && i < tree->body_start + tree->body_count);
        assert_int_equal(model->joints[body->joint].child, i);
        assert_int_equal(model->joints[body->joint].parent, body->parent);
    }
    for (int32_t i = 0; i < model->nv; i++) {
        const stn_joint *joint = &model->joints[model->dof_joint[i]];
        assert_true(i >= joint->v_start && i < joint->v_start + joint->nv);
        assert_int_equal(model->dof_tree[i], model->bodies[joint->child].tree);
    }
    stn_model_destroy(model);
}

static void fixed_links_are_merged_and_stay_named_frames(void **state) {
    fixture *f = *state;
    stn_random random = {5};
    begin_robot(f->builder, "r");
    stn_pose x1 = random_pose(&random, 1.0), x2 = random_pose(&random, 1.0), chain = stn_pose_mul(&x1, &x2);
    stn_mass m = mass_of(2.0, stn_vec3_make(0.1, 0.2, 0.3), 0.3, 0.4, 0.5);
    int32_t a = add_link(f->builder, "a", m), b = add_link(f->builder, "b", m), c = add_link(f->builder, "c", m);
    add_joint(f->builder, "ab", STN_JOINT_FIXED, a, b, x1, Z);
    add_joint(f->builder, "bc", STN_JOINT_FIXED, b, c, x2, Z);
    int32_t g = add_shape(f->builder, c, stn_shape_sphere(0.1));
    stn_model *model = compile_model(f->builder);
    assert_int_equal(model->body_count, 2);
    assert_int_equal(model->link_count, 3);
    assert_string_equal(model->bodies[1].name, "a");
    assert_pose(&model->links[c].pose, &chain, 1e-15);
    assert_pose(&model->geometries[g].pose, &chain, 1e-15);
    assert_int_equal(model->geometries[g].body, 1);
    assert_int_equal(model->geometries[g].link, c);
    assert_int_equal(model->links[c].joint, -1);
    assert_string_equal(model->links[c].joint_name, "bc");
    stn_mass mb = stn_mass_transform(&x1, &m), mc = stn_mass_transform(&chain, &m), sum = stn_mass_add(&m, &mb);
    sum = stn_mass_add(&sum, &mc);
    assert_near(model->bodies[1].mass.mass, 6.0, 0.0);
    for (int32_t i = 0; i < 9; i++) {
        assert_near(model->bodies[1].mass.inertia.m[i / 3][i % 3], sum.inertia.m[i / 3][i % 3], 1e-14);
    }
    stn_model_destroy(model);
}

static void start_is_zero_or_the_nearest_limit_and_mimics_follow(void **state) {
    fixture *f = *state;
    int32_t robot = begin_robot(f->builder, "r"), previous = add_link(f->builder, "base", one_kg());
    set_base(f->builder, robot, stn_pose_identity(), true);
    static const struct {
        double lower, upper, expected;
    } cases[] = {{-1.0, 1.0, 0.0}, {0.3, 1.0, 0.3}, {-1.0, -0.2, -0.2}, {0.4, 0.4, 0.4}};
    char name[16];
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        snprintf(name, sizeof name, "l%d", i);
        int32_t link = add_link(f->builder, name, one_kg());
        stn_joint_spec spec = stn_joint_spec_default(name, STN_JOINT_REVOLUTE);
        spec.parent = previous, spec.child = link, spec.lower = cases[i].lower, spec.upper = cases[i].upper;
        add_joint_spec(f->builder, &spec);
        previous = link;
    }
    for (int32_t i = 4; i < 6; i++) { // joint 4 mimics 5, which comes later and mimics 1
        snprintf(name, sizeof name, "l%d", i);
        int32_t link = add_link(f->builder, name, one_kg());
        stn_joint_spec spec = stn_joint_spec_default(name, STN_JOINT_PRISMATIC);
        spec.parent = previous, spec.child = link, spec.mimic = i == 4 ? 5 : 1;
        spec.mimic_multiplier = 2.0, spec.mimic_offset = 0.1;
        add_joint_spec(f->builder, &spec);
        previous = link;
    }
    int32_t tip = add_link(f->builder, "tip", one_kg());
    stn_joint_spec spec = stn_joint_spec_default("turn", STN_JOINT_CONTINUOUS);
    spec.parent = previous, spec.child = tip, spec.lower = 1.0, spec.upper = 2.0;
    spec.rotor_inertia = 1e-4, spec.gear_ratio = -50.0, spec.axis = stn_vec3_make(0.0, 3.0, 4.0);
    add_joint_spec(f->builder, &spec);
    stn_model *model = compile_model(f->builder);
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        assert_near(model->q0[i], cases[i].expected, 0.0);
    }
    assert_near(model->q0[5], 2.0 * 0.3 + 0.1, 1e-15);
    assert_near(model->q0[4], 2.0 * 0.7 + 0.1, 1e-15);
    assert_int_equal(model->joints[4].mimic, 5);
    assert_near(model->q0[6], 0.0, 0.0); // continuous joints have no limits
    assert_true(isinf(model->joints[6].upper));
    assert_near(model->joints[6].reflected_inertia, 0.25, 1e-16);
    assert_near(model->joints[6].axis.z, 0.8, 1e-16);
    stn_model_destroy(model);
}

static void robot_may_hang_on_another(void **state) {
    fixture *f = *state;
    int32_t arm = begin_robot(f->builder, "arm"), base = add_link(f->builder, "base", one_kg());
    int32_t flange = add_link(f->builder, "flange", one_kg());
    set_base(f->builder, arm, stn_pose_identity(), true);
    add_joint(f->builder, "j", STN_JOINT_REVOLUTE, base, flange, stn_pose_identity(), Z);
    int32_t hand = begin_robot(f->builder, "hand"), palm = add_link(f->builder, "palm", one_kg());
    int32_t finger = add_link(f->builder, "finger", one_kg());
    add_joint(f->builder, "mount", STN_JOINT_FIXED, flange, palm, shift(0.0, 0.0, 0.1), Z);
    add_joint(f->builder, "j", STN_JOINT_PRISMATIC, palm, finger, stn_pose_identity(), X);
    stn_model *model = compile_model(f->builder);
    assert_int_equal(model->tree_count, 1);
    assert_int_equal(model->nv, 2);
    assert_int_equal(model->links[palm].body, model->links[flange].body);
    assert_int_equal(model->groups[hand].root_link, palm);
    assert_int_equal(model->groups[hand].joint_count, 1);
    assert_int_equal(stn_model_find_joint(model, hand, "j"), 1);
    assert_int_equal(stn_model_find_joint(model, -1, "hand/j"), 1);
    assert_int_equal(stn_model_find_joint(model, -1, "j"), -1); // two robots have one
    assert_int_equal(stn_model_find_link(model, -1, "finger"), finger);
    assert_int_equal(stn_model_find_group(model, "hand"), hand);
    assert_int_equal(stn_model_find_group(model, "foot"), -1);
    stn_model_destroy(model);
}

// -------------------------------------------------------------------------------------------------------- warnings

static void subtree_without_mass_loads_with_a_warning(void **state) {
    fixture *f = *state;
    stn_mass none = {.mass = 0.0};
    int32_t robot = begin_robot(f->builder, "panda"), base = add_link(f->builder, "base", one_kg());
    set_base(f->builder, robot, stn_pose_identity(), true);
    int32_t dummy = add_link(f->builder, "dummy", none), arm = add_link(f->builder, "arm", one_kg());
    int32_t wrist = add_link(f->builder, "wrist", none), tip = add_link(f->builder, "tip", none);
    add_joint(f->builder, "j0", STN_JOINT_REVOLUTE, base, dummy, stn_pose_identity(), X);
    add_joint(f->builder, "j1", STN_JOINT_REVOLUTE, dummy, arm, stn_pose_identity(), Z); // dummy carries the arm: fine
    stn_joint_spec geared = stn_joint_spec_default("j2", STN_JOINT_REVOLUTE);
    geared.parent = arm, geared.child = wrist, geared.rotor_inertia = 1e-4; // massless, but its rotor is not
    add_joint_spec(f->builder, &geared);
    stn_joint_spec copy = geared;
    copy.name = "j3", copy.parent = wrist, copy.child = tip, copy.rotor_inertia = 0.0;
    add_joint_spec(f->builder, &copy);
    stn_model *model = compile_model(f->builder);
    assert_int_equal(stn_model_massless_link(model, 0), tip);
    expect_log(f, "group 'panda', link 'tip'");
    assert_null(strstr(f->log, "dummy"));
    stn_model_destroy(model);
}

static void impossible_inertia_is_a_warning(void **state) {
    fixture *f = *state;
    begin_robot(f->builder, "r");
    int32_t a = add_link(f->builder, "fine", mass_of(1.0, stn_vec3_zero(), 0.1, 0.1, 0.2)); // a disc: equality
    int32_t b = add_link(f->builder, "odd", mass_of(1.0, stn_vec3_zero(), 0.1, 0.1, 0.3));
    int32_t c = add_link(f->builder, "empty", mass_of(0.0, stn_vec3_zero(), 1.0, 1.0, 1.0));
    add_joint(f->builder, "ab", STN_JOINT_FIXED, a, b, stn_pose_identity(), Z);
    add_joint(f->builder, "bc", STN_JOINT_FIXED, b, c, stn_pose_identity(), Z);
    stn_model *model = compile_model(f->builder);
    expect_log(f, "link 'odd': no body has this inertia");
    expect_log(f, "link 'empty': inertia without mass is ignored");
    assert_null(strstr(f->log, "fine"));
    stn_model_destroy(model);
}

static void limits_rotors_and_springs_of_joints_that_have_none_are_a_warning(void **state) {
    fixture *f = *state;
    begin_robot(f->builder, "r");
    int32_t a = add_link(f->builder, "a", one_kg()), b = add_link(f->builder, "b", one_kg());
    int32_t c = add_link(f->builder, "c", one_kg()), d = add_link(f->builder, "d", one_kg());
    stn_joint_spec spec = stn_joint_spec_default("hip", STN_JOINT_BALL);
    spec.parent = a, spec.child = b, spec.upper = 1.0;
    add_joint_spec(f->builder, &spec);
    spec = stn_joint_spec_default("cart", STN_JOINT_PLANAR);
    spec.parent = a, spec.child = c, spec.rotor_inertia = 1e-3, spec.stiffness = 4.0, spec.servo_kp = 6.0;
    add_joint_spec(f->builder, &spec);
    spec = stn_joint_spec_default("lead", STN_JOINT_SCREW); // has both
    spec.parent = a, spec.child = d, spec.rotor_inertia = 1e-3, spec.gear_ratio = 10.0, spec.lower = 0.5;
    spec.screw_pitch = -0.01, spec.acceleration = 3.0, spec.stiffness = 5.0, spec.rest = -0.7, spec.servo_kd = 2.0;
    add_joint_spec(f->builder, &spec);
    stn_model *model = compile_model(f->builder);
    expect_log(f, "joint 'hip': is ball, which has no limits: lower and upper are ignored");
    expect_log(f, "joint 'cart': is planar, so its rotor inertia is ignored");
    expect_log(f, "joint 'cart': is planar, so its spring is ignored");
    assert_null(strstr(f->log, "lead"));
    assert_true(isinf(model->joints[1].upper));
    assert_near(model->joints[2].reflected_inertia, 0.0, 0.0);
    assert_near(model->joints[2].stiffness, 0.0, 0.0);
    assert_near(model->joints[2].servo_kp, 6.0, 0.0); // gains are for every joint
    const stn_joint *lead = &model->joints[3];
    assert_near(lead->reflected_inertia, 0.1, 1e-16);
    assert_near(lead->lower, 0.5, 0.0);
    assert_near(lead->screw_pitch, -0.01, 0.0);
    assert_near(lead->stiffness, 5.0, 0.0);
    assert_near(lead->rest, -0.7, 0.0);
    assert_near(lead->servo_kp, 0.0, 0.0);
    assert_near(lead->servo_kd, 2.0, 0.0);
    assert_near(lead->acceleration, 3.0, 0.0);
    assert_near(model->q0[lead->q_start], 0.5, 0.0);
    assert_near(model->q0[model->joints[1].q_start], 1.0, 0.0); // the quaternion of a ball joint
    stn_model_destroy(model);
}

static void screws_mimic_and_are_mimicked(void **state) {
    fixture *f = *state;
    stn_error err;
    begin_robot(f->builder, "r");
    int32_t a = add_link(f->builder, "a", one_kg()), b = add_link(f->builder, "b", one_kg());
    int32_t c = add_link(f->builder, "c", one_kg()), d = add_link(f->builder, "d", one_kg());
    add_joint(f->builder, "turn", STN_JOINT_REVOLUTE, a, b, stn_pose_identity(), Z);
    add_joint(f->builder, "lead", STN_JOINT_SCREW, a, c, stn_pose_identity(), Z);
    add_joint(f->builder, "slide", STN_JOINT_PRISMATIC, a, d, stn_pose_identity(), Z);
    assert_ok(stn_builder_set_mimic(f->builder, 0, 1, 2.0, 0.1, &err), err);
    assert_ok(stn_builder_set_mimic(f->builder, 1, 2, 3.0, 0.2, &err), err);
    stn_model *model = compile_model(f->builder);
    assert_near(model->q0[model->joints[2].q_start], 0.2, 1e-15);
    assert_near(model->q0[model->joints[1].q_start], 0.5, 1e-15);
    stn_model_destroy(model);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(empty_builder_compiles_to_the_world_alone),
        TEST(free_robot_floats_at_its_base_pose),
        TEST(implicit_joint_gets_a_name_that_the_file_does_not_use),
        TEST(fixed_robot_hangs_at_its_base_pose),
        TEST(root_link_named_world_is_the_world_without_its_mass),
        TEST(link_named_world_below_another_is_a_link),
        TEST(joint_on_the_world_is_as_good_as_a_root_link),
        TEST(branches_of_a_fixed_base_are_trees_of_their_own),
        TEST(fixed_links_are_merged_and_stay_named_frames),
        TEST(start_is_zero_or_the_nearest_limit_and_mimics_follow),
        TEST(robot_may_hang_on_another),
        TEST(subtree_without_mass_loads_with_a_warning),
        TEST(impossible_inertia_is_a_warning),
        TEST(limits_rotors_and_springs_of_joints_that_have_none_are_a_warning),
        TEST(screws_mimic_and_are_mimicked),
    };
    return cmocka_run_group_tests_name("model compiler", tests, NULL, NULL);
}
