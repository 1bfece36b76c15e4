// SPDX-License-Identifier: Apache-2.0
// Bodies that move as they are told, from C: where they are, what they push, what is refused.
// The physics stands in tests/scenario/kinematic.lua.
#include "scenes.h"

#include <string.h>

static stn_vec3 vec(double x, double y, double z) {
    return stn_vec3_make(x, y, z);
}

/// A plate that is kinematic (body 1) under a cube.
static stn_world *plate_world(stn_context *context) {
    stn_world *world = scene_tight_world(context, 1e-3, 1e-10);
    stn_error err;
    stn_geometry_spec plate = stn_geometry_spec_default(stn_shape_box(vec(1.0, 1.0, 0.05)));
    int32_t robot = scene_body(world, "plate", 5.0, &plate, vec(0.0, 0.0, -0.05));
    assert_ok(stn_builder_make_kinematic(stn_world_builder(world), robot, &err), err);
    scene_cube(world, "cube", 2.0, vec(0.0, 0.0, 0.1));
    assert_ok(stn_world_compile(world, &err), err);
    return world;
}

static stn_world *plain_world(stn_context *context) {
    stn_world_options options = stn_world_options_default();
    return scene_world(context, &options);
}

static stn_pose at(double x, double y, double z) {
    stn_pose pose = stn_pose_identity();
    pose.position = vec(x, y, z);
    return pose;
}

static void a_body_is_where_it_was_told_to_be(void **state) {
    stn_world *world = plate_world(*state);
    const stn_kinematics *k = stn_world_kinematics(world);
    stn_pose pose = {stn_quat_matrix(stn_quat_exp(vec(0.01, 0.02, 0.03))), {0.001, -0.002, -0.05}};
    stn_vec3 linear = {1.0, -2.0, 0.0}, angular = {10.0, 20.0, 30.0};
    stn_error err;
    assert_int_equal(stn_world_model(world)->nv, 6);
    assert_near(stn_total_mass(stn_world_model(world)), 2.0, 1e-15);
    assert_ok(stn_world_set_kinematic(world, 1, &pose, &linear, &angular, &err), err);
    assert_near(k->body_pose[1].position.x, 0.0, 0.0); // not before the step
    scene_steps(world, 1);
    k = stn_world_kinematics(world);
    for (int32_t i = 0; i < 9; i++) {
        assert_near(k->body_pose[1].rotation.m[i / 3][i % 3], pose.rotation.m[i / 3][i % 3], 1e-15);
    }
    stn_vec3 u = stn_point_velocity(k, 1, vec(0.101, -0.002, -0.05)); // linear + angular x (0.1, 0, 0)
    assert_near(u.x, 1.0, 1e-14);
    assert_near(u.y, -2.0 + 3.0, 1e-14);
    assert_near(u.z, -2.0, 1e-14);
    scene_steps(world, 1); // not told: it stands
    k = stn_world_kinematics(world);
    assert_near(k->body_pose[1].position.x, 0.001, 0.0);
    assert_near(stn_vec3_norm(k->body_velocity[1].linear) + stn_vec3_norm(k->body_velocity[1].angular), 0.0, 0.0);
    stn_world_destroy(world);
}

static void a_pose_alone_means_the_velocity_that_leads_to_it(void **state) {
    stn_world *world = plate_world(*state);
    stn_pose pose = {stn_quat_matrix(stn_quat_exp(vec(0.0, 0.0, 0.002))), {0.0005, 0.0, -0.05}};
    stn_error err;
    assert_ok(stn_world_set_kinematic(world, 1, &pose, NULL, NULL, &err), err);
    scene_steps(world, 1);
    const stn_spatial *v = &stn_world_kinematics(world)->body_velocity[1];
    assert_near(v->linear.x, 0.5, 1e-12);
    assert_near(v->angular.z, 2.0, 1e-12);
    stn_world_destroy(world);
}

/// The tangent part of b = axes^T (u_B - u_A) is in the problem, which any solver may get.
static void contacts_carry_the_velocity_as_bias(void **state) {
    stn_world *world = plate_world(*state);
    stn_pose pose = at(0.001, 0.0, -0.05);
    stn_vec3 linear = {1.0, 0.0, 0.0}, none = {0.0, 0.0, 0.0};
    stn_error err;
    assert_ok(stn_world_set_kinematic(world, 1, &pose, &linear, &none, &err), err);
    scene_steps(world, 1);
    const stn_problem *p = stn_world_observation(world)->problem;
    assert_int_equal(p->constraint_count, 4);
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        stn_vec3 b = stn_mat3_apply(&c->frame, vec(p->bias[c->row], p->bias[c->row + 1], p->bias[c->row + 2]));
        double side = c->body[0] == 1 ? -1.0 : 1.0;
        assert_near(b.x, side, 1e-15);
        assert_near(fabs(b.y) + fabs(b.z), 0.0, 1e-15);
        assert_true(c->J[0].tree >= 0 && c->J[1].tree == -1); // the cube alone is in the problem
    }
    stn_world_destroy(world);
}

static void count_warnings(void *user, stn_log_level level, const char *text) {
    int32_t *count = user;
    *count += level == STN_LOG_WARNING && strstr(text, "kinematic motion of plate") != NULL;
    if (level == STN_LOG_WARNING && strstr(text, "(0.5, 0, 0) m apart a second") == NULL) {
        *count += 100; // something else is said
    }
}

/// 0.5 m/s by the poses: a velocity of that size is silent, also at the start from rest, another one is said once.
static void a_velocity_that_does_not_fit_the_poses_is_said_once(void **state) {
    (void)state;
    for (int32_t wrong = 0; wrong < 2; wrong++) {
        int32_t warnings = 0;
        stn_context_options options = {.log = count_warnings, .log_user = &warnings};
        stn_context *context = NULL;
        stn_error err;
        assert_ok(stn_context_create(&options, &context, &err), err);
        stn_world *world = plate_world(context);
        for (int32_t i = 1; i <= 5; i++) {
            stn_pose pose = at(0.0005 * i, 0.0, -0.05);
            stn_vec3 linear = {wrong == 1 ? -0.5 : 0.5, 0.0, 0.0}, none = {0.0, 0.0, 0.0};
            assert_ok(stn_world_set_kinematic(world, 1, &pose, &linear, &none, &err), err);
            scene_steps(world, 1);
        }
        assert_int_equal(warnings, wrong);
        stn_world_destroy(world);
        stn_context_destroy(context);
    }
}

static void what_cannot_be_told_is_refused(void **state) {
    stn_world *world = plate_world(*state);
    stn_pose good = at(0.0, 0.0, 0.0), bad = good;
    stn_vec3 zero = {0.0, 0.0, 0.0}, nan = {NAN, 0.0, 0.0};
    bad.rotation.m[1][1] = NAN;
    assert_error(stn_world_set_kinematic(world, 2, &good, &zero, &zero, &said), STN_ERR_ARGUMENT, "cube");
    assert_error(stn_world_set_kinematic(world, 0, &good, &zero, &zero, &said), STN_ERR_ARGUMENT, "world");
    assert_error(stn_world_set_kinematic(world, 7, &good, &zero, &zero, &said), STN_ERR_ARGUMENT, "not there");
    assert_error(stn_world_set_kinematic(world, 1, &bad, &zero, &zero, &said), STN_ERR_NUMERIC, "pose of plate");
    assert_error(stn_world_set_kinematic(world, 1, &good, &nan, &zero, &said), STN_ERR_NUMERIC, "velocity of plate");
    assert_error(stn_world_set_kinematic(world, 1, &good, &zero, NULL, &said), STN_ERR_ARGUMENT, "both velocities");
    assert_error(stn_world_set_wrench(world, 1, zero, zero, zero, &said), STN_ERR_ARGUMENT, "kinematic");
    stn_world_destroy(world);
    world = plain_world(*state);
    assert_error(stn_world_set_kinematic(world, 1, &good, &zero, &zero, &said), STN_ERR_SEQUENCE, "not compiled");
    stn_world_destroy(world);
}

static void what_cannot_be_kinematic_is_refused(void **state) {
    stn_world *world = plain_world(*state);
    stn_model_builder *builder = stn_world_builder(world);
    stn_error err;
    int32_t slider = scene_slider(world, "slider", NULL);
    assert_ok(stn_builder_make_kinematic(builder, slider, &err), err);
    assert_error(stn_world_compile(world, &said), STN_ERR_ARGUMENT, "joint 'slide': moves on link 'rail'");
    stn_world_destroy(world);

    world = plain_world(*state);
    builder = stn_world_builder(world);
    stn_geometry_spec half = stn_geometry_spec_default(stn_shape_half_space());
    stn_link_spec link = {.name = "floor"};
    int32_t robot = 0, index = 0, geometry = 0;
    assert_ok(stn_builder_begin_group(builder, "floor", &robot, &err), err);
    assert_ok(stn_builder_add_link(builder, &link, &index, &err), err);
    assert_ok(stn_builder_add_geometry(builder, index, &half, &geometry, &err), err);
    assert_ok(stn_builder_make_kinematic(builder, robot, &err), err);
    assert_error(stn_world_compile(world, &said), STN_ERR_ARGUMENT, "half space");
    stn_world_destroy(world);

    world = plain_world(*state);
    builder = stn_world_builder(world);
    int32_t a = scene_cube(world, "a", 1.0, vec(0.0, 0.0, 0.0)), b = scene_cube(world, "b", 1.0, vec(0.0, 0.0, 0.0));
    stn_pose pose = stn_pose_identity();
    assert_ok(stn_builder_make_kinematic(builder, b, &err), err);
    assert_error(stn_builder_attach(builder, b, stn_builder_find_link(builder, a, "a"), &pose, &said), STN_ERR_ARGUMENT,
                 "kinematic");
    assert_error(stn_builder_make_kinematic(builder, 7, &said), STN_ERR_ARGUMENT, "no group 7");
    stn_joint_spec spec = stn_joint_spec_default("j", STN_JOINT_KINEMATIC);
    int32_t joint = 0;
    assert_error(stn_builder_add_joint(builder, &spec, &joint, &said), STN_ERR_ARGUMENT, "stn_builder_make_kinematic");
    stn_world_destroy(world);
}

/// Plates in the ground and in each other feel nothing.
static void kinematic_bodies_and_the_world_do_not_touch(void **state) {
    stn_world *world = plain_world(*state);
    stn_error err;
    scene_ground(world);
    for (int32_t i = 0; i < 2; i++) {
        int32_t robot = scene_cube(world, i == 0 ? "a" : "b", 1.0, vec(0.0, 0.0, 0.05));
        assert_ok(stn_builder_make_kinematic(stn_world_builder(world), robot, &err), err);
    }
    scene_steps(world, 2);
    assert_int_equal(stn_world_observation(world)->contacts->count, 0);
    stn_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_is_where_it_was_told_to_be),
        cmocka_unit_test(a_pose_alone_means_the_velocity_that_leads_to_it),
        cmocka_unit_test(contacts_carry_the_velocity_as_bias),
        cmocka_unit_test(a_velocity_that_does_not_fit_the_poses_is_said_once),
        cmocka_unit_test(what_cannot_be_told_is_refused),
        cmocka_unit_test(what_cannot_be_kinematic_is_refused),
        cmocka_unit_test(kinematic_bodies_and_the_world_do_not_touch),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
