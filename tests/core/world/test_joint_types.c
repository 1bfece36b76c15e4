// SPDX-License-Identifier: Apache-2.0
// Joints with several velocities in a world: friction, damping, controllers, couplers, saved states and columns,
// against the same robots made of simple joints.
#include "scenes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stn_model_test.h"

static const stn_vec3 X = {1.0, 0.0, 0.0}, Y = {0.0, 1.0, 0.0}, Z = {0.0, 0.0, 1.0};

static stn_mass body_mass(void) {
    return mass_of(2.0, stn_vec3_make(0.1, 0.0, 0.2), 0.05, 0.06, 0.07);
}

/// A fixed base and one body on it by these joints, all with the numbers of `like`; links between them have no mass.
static int32_t add_mounted(stn_world *world, const char *name, const stn_joint_type *types, const stn_vec3 *axes,
                           int32_t count, const stn_joint_spec *like) {
    stn_model_builder *b = stn_world_builder(world);
    int32_t robot = begin_robot(b, name), at = add_link(b, "base", body_mass());
    for (int32_t i = 0; i < count; i++) {
        char text[16];
        snprintf(text, sizeof text, "j%d", i);
        stn_joint_spec spec = like != NULL ? *like : stn_joint_spec_default(text, types[i]);
        spec.name = text;
        spec.type = types[i];
        spec.axis = axes[i];
        spec.parent = at;
        spec.child = at =
            add_link(b, i == count - 1 ? "body" : text, i == count - 1 ? body_mass() : (stn_mass){.mass = 0.0});
        add_joint_spec(b, &spec);
    }
    set_base(b, robot, shift(0.0, 0.0, 1.0), true);
    return robot;
}

static const stn_joint_type PLANAR[] = {STN_JOINT_PLANAR}, UNIVERSAL[] = {STN_JOINT_UNIVERSAL},
                            BALL[] = {STN_JOINT_BALL},
                            SLIDES[] = {STN_JOINT_PRISMATIC, STN_JOINT_PRISMATIC, STN_JOINT_REVOLUTE},
                            TURNS[] = {STN_JOINT_REVOLUTE, STN_JOINT_REVOLUTE};

static void friction_bounds_every_velocity_of_a_joint_by_itself(void **state) {
    stn_world *world = scene_tight_world(*state, 0.005, 1e-11);
    stn_joint_spec like = stn_joint_spec_default("", STN_JOINT_PLANAR);
    stn_error err;
    like.friction = 3.0;
    add_mounted(world, "cart", PLANAR, &Z, 1, &like);
    assert_ok(stn_world_compile(world, &err), err);
    assert_ok(stn_world_set_gravity(world, stn_vec3_zero(), &err), err);
    const double holding[3] = {2.9, -2.9, 2.9}; // |(2.9, 2.9)| > 3: the bound is a square
    for (int32_t d = 0; d < 3; d++) {
        assert_ok(stn_world_set_effort(world, d, holding[d], &err), err);
    }
    scene_steps(world, 100);
    for (int32_t d = 0; d < 3; d++) {
        assert_near(stn_world_state(world)->v[d], 0.0, 1e-3);
    }
    int32_t rows = 0;
    const stn_problem *problem = stn_world_observation(world)->problem;
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        assert_int_equal(problem->constraints[i].kind, STN_CONSTRAINT_DRY_FRICTION);
        for (int32_t j = 0; j < i; j++) {
            assert_true(problem->constraints[i].id != problem->constraints[j].id);
        }
        rows += problem->constraints[i].rows;
    }
    assert_int_equal(rows, 3);
    assert_ok(stn_world_set_effort(world, 0, 5.0, &err), err); // (5 - 3) N along x, through a body that may not turn
    scene_steps(world, 100);
    assert_near(stn_world_state(world)->v[0], 2.0 / 2.0 * 0.5, 1e-4);
    assert_near(stn_world_state(world)->v[1], 0.0, 1e-3);
    stn_world_destroy(world);
}

/// Both worlds go on alike; coordinates are in the same order.
static void assert_alike(stn_world *a, stn_world *b, int32_t count, int32_t steps) {
    for (int32_t k = 0; k < steps; k++) {
        scene_steps(a, 1);
        scene_steps(b, 1);
        for (int32_t i = 0; i < count; i++) {
            assert_near(stn_world_state(a)->q[i], stn_world_state(b)->q[i], 1e-9);
            assert_near(stn_world_state(a)->v[i], stn_world_state(b)->v[i], 1e-8);
        }
    }
}

static int32_t add_pd(stn_world *world, int32_t robot) {
    const stn_setting settings[] = {
        {.name = "kp", .form = STN_SETTING_NUMBER, .number = 80.0},
        {.name = "kd", .form = STN_SETTING_NUMBER, .number = 6.0},
        {.name = "gravity_compensation", .form = STN_SETTING_BOOL, .number = 1.0},
    };
    stn_instance *pd = NULL;
    stn_error err;
    int32_t index = -1;
    assert_ok(stn_instance_create(stn_world_context(world), STN_KIND_CONTROLLER, "joint_pd", settings, 3, &pd, &err),
              err);
    assert_ok(stn_world_add_controller(world, pd, robot, NULL, 0, &index, &err), err);
    return index;
}

static void joint_pd_drives_planar_and_universal_joints_like_the_simple_ones(void **state) {
    const stn_vec3 slides[3] = {X, Y, Z}, turns[2] = {X, Y};
    for (int32_t k = 0; k < 4; k++) {
        bool planar = k < 2, limited = k % 2 == 1;
        int32_t count = planar ? 3 : 2;
        stn_joint_spec like = stn_joint_spec_default("", STN_JOINT_REVOLUTE);
        like.effort = limited ? 20.0 : (double)INFINITY; // servo rows, or gains
        like.damping = 0.3;
        like.friction = 0.2;
        stn_world *a = scene_tight_world(*state, 0.005, 1e-12), *b = scene_tight_world(*state, 0.005, 1e-12);
        int32_t one = add_mounted(a, "one", planar ? PLANAR : UNIVERSAL, &Z, 1, &like);
        int32_t two = add_mounted(b, "two", planar ? SLIDES : TURNS, planar ? slides : turns, count, &like);
        int32_t pd_a = add_pd(a, one), pd_b = add_pd(b, two);
        const double target[3] = {0.4, -0.3, 0.5};
        stn_error err;
        assert_int_equal(stn_world_controller_target(a, pd_a)->dof_count, count);
        assert_ok(stn_world_set_reference(a, pd_a, "position", target, count, &err), err);
        assert_ok(stn_world_set_reference(b, pd_b, "position", target, count, &err), err);
        assert_alike(a, b, count, 800);
        for (int32_t i = 0; i < count; i++) { // and both get there, but for the friction
            assert_near(stn_world_state(a)->q[i], target[i], 0.05);
        }
        stn_world_destroy(a);
        stn_world_destroy(b);
    }
}

static void joint_pd_refuses_a_ball_joint_by_name(void **state) {
    stn_world *world = scene_tight_world(*state, 0.005, 1e-11);
    int32_t robot = add_mounted(world, "hip", BALL, &X, 1, NULL), index = -1;
    stn_instance *pd = NULL;
    stn_error err;
    assert_ok(stn_instance_create(*state, STN_KIND_CONTROLLER, "joint_pd", NULL, 0, &pd, &err), err);
    assert_int_equal(stn_world_add_controller(world, pd, robot, NULL, 0, &index, &err), STN_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "joint j0 is ball"));
    assert_non_null(strstr(err.text, "joints = {...}"));
    stn_world_destroy(world);
}

static void screw_couples_with_a_slide(void **state) {
    stn_world *world = scene_tight_world(*state, 0.002, 1e-11);
    stn_model_builder *b = stn_world_builder(world);
    stn_error err;
    int32_t robot = begin_robot(b, "press"), base = add_link(b, "base", body_mass());
    int32_t nut = add_link(b, "nut", body_mass()), ram = add_link(b, "ram", body_mass());
    stn_joint_spec slide = stn_joint_spec_default("slide", STN_JOINT_PRISMATIC);
    stn_joint_spec screw = stn_joint_spec_default("screw", STN_JOINT_SCREW);
    slide.parent = screw.parent = base;
    slide.child = ram, screw.child = nut;
    slide.axis = screw.axis = X;
    screw.screw_pitch = 0.1;
    screw.mimic_multiplier = -2.0 * STN_PI / 0.1; // the nut turns so that it goes the other way as far
    screw.mimic = add_joint_spec(b, &slide);
    add_joint_spec(b, &screw);
    set_base(b, robot, stn_pose_identity(), true);
    assert_ok(stn_world_compile(world, &err), err);
    assert_ok(stn_world_set_effort(world, 0, 30.0, &err), err);
    scene_steps(world, 100);
    const stn_state *s = stn_world_state(world);
    // the coupler gives by 2 dt R gamma, R = beta^2 / (4 pi^2) w: docs/contact-problem.md
    const stn_observation *o = stn_world_observation(world);
    double ratio = screw.mimic_multiplier, h = 0.1 / (2.0 * STN_PI), inertia = 0.05 + 2.0 * (0.04 + h * h);
    double w = 1.0 / inertia + ratio * ratio / 2.0, gives = 2.0 * 0.002 * 0.01 / (4.0 * STN_PI * STN_PI) * w;
    assert_true(s->q[0] > 1e-4 && o->problem->constraint_count == 1);
    assert_near(s->q[1] - ratio * s->q[0], -gives * o->gamma[0], 1e-9);
    const stn_kinematics *k = stn_world_kinematics(world);
    const stn_link *links = stn_world_model(world)->links;
    assert_near(k->body_pose[links[nut].body].position.x, -k->body_pose[links[ram].body].position.x,
                h * fabs(gives * o->gamma[0]) + 1e-10);
    stn_world_destroy(world);
}

/// All types on one robot, moving.
static stn_world *moving_world(stn_context *context) {
    static const stn_joint_type types[] = {STN_JOINT_PLANAR, STN_JOINT_BALL, STN_JOINT_UNIVERSAL, STN_JOINT_SCREW};
    stn_world *world = scene_tight_world(context, 0.005, 1e-11);
    stn_model_builder *b = stn_world_builder(world);
    stn_error err;
    int32_t at = STN_WORLD;
    begin_robot(b, "all");
    for (int32_t i = 0; i < STN_COUNT(types); i++) {
        const char *name = stn_joint_type_name(types[i]);
        int32_t link = add_link(b, name, body_mass());
        add_joint(b, name, types[i], at, link, shift(0.1, 0.2, 0.0), Z);
        at = link;
    }
    assert_ok(stn_world_compile(world, &err), err);
    double v[9];
    for (int32_t i = 0; i < 9; i++) {
        v[i] = 0.3 * (i + 1);
    }
    assert_int_equal(stn_world_model(world)->nv, 9);
    assert_ok(stn_world_set_v(world, v, &err), err);
    return world;
}

static void saved_state_goes_on_to_the_last_bit(void **state) {
    stn_world *world = moving_world(*state);
    stn_snapshot *snapshot = NULL;
    stn_error err;
    scene_steps(world, 20);
    assert_ok(stn_world_snapshot(world, &snapshot, &err), err);
    scene_steps(world, 50);
    uint64_t expected = stn_world_hash(world);
    const double *q = stn_world_state(world)->q + 3; // of the ball joint
    assert_near(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1.0, 1e-15);
    assert_true(fabs(q[0]) < 0.99);
    assert_ok(stn_world_restore(world, snapshot, &err), err);
    scene_steps(world, 50);
    assert_true(stn_world_hash(world) == expected);
    stn_snapshot_destroy(snapshot);
    stn_world_destroy(world);
}

static void quaternion_of_a_ball_joint_is_normalised_or_refused(void **state) {
    stn_world *world = moving_world(*state);
    stn_error err;
    double q[10] = {0.0};
    q[3] = 3.0, q[5] = 4.0;
    assert_ok(stn_world_set_q(world, q, &err), err);
    assert_near(stn_world_state(world)->q[3], 0.6, 1e-16);
    assert_near(stn_world_state(world)->q[5], 0.8, 1e-16);
    q[3] = q[5] = 0.0;
    assert_int_equal(stn_world_set_q(world, q, &err), STN_ERR_NUMERIC);
    assert_non_null(strstr(err.text, "joint ball"));
    stn_world_destroy(world);
}

static void columns_are_named_by_coordinate(void **state) {
    stn_world *world = moving_world(*state);
    stn_instance *csv = NULL;
    stn_error err;
    char path[] = "/tmp/stn_joint_types_XXXXXX", parameters[64], line[2048] = "";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_ok(stn_instance_create(*state, STN_KIND_RECORDER, "csv", NULL, 0, &csv, &err), err);
    assert_ok(stn_world_record(world, csv, path, &err), err);
    scene_steps(world, 1);
    assert_ok(stn_world_close_recordings(world, &err), err);
    FILE *rows = fopen(path, "r");
    assert_non_null(rows);
    assert_non_null(fgets(line, sizeof line, rows));
    fclose(rows);
    const char *expected =
        "step,time_s,q[planar].x,q[planar].y,q[planar].angle,q[ball].qw,q[ball].qx,q[ball].qy,q[ball].qz,"
        "q[universal].angle_x,q[universal].angle_y,q[screw],v[planar].vx,v[planar].vy,v[planar].rate,v[ball].wx,"
        "v[ball].wy,v[ball].wz,v[universal].rate_x,v[universal].rate_y,v[screw],";
    line[strlen(expected)] = '\0';
    assert_string_equal(line, expected);
    snprintf(parameters, sizeof parameters, "%s.parameters", path);
    remove(parameters);
    remove(path);
    stn_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(friction_bounds_every_velocity_of_a_joint_by_itself),
        cmocka_unit_test(joint_pd_drives_planar_and_universal_joints_like_the_simple_ones),
        cmocka_unit_test(joint_pd_refuses_a_ball_joint_by_name),
        cmocka_unit_test(screw_couples_with_a_slide),
        cmocka_unit_test(saved_state_goes_on_to_the_last_bit),
        cmocka_unit_test(quaternion_of_a_ball_joint_is_normalised_or_refused),
        cmocka_unit_test(columns_are_named_by_coordinate),
    };
    return cmocka_run_group_tests_name("joint types", tests, scene_setup, scene_teardown);
}
