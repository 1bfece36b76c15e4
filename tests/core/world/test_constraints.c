// SPDX-License-Identifier: Apache-2.0
// Joint rows of the contact problem against closed forms: limits, servos, couplers, dry friction, damping.
#include "scenes.h"

#include <string.h>

static stn_joint_spec slide(void) {
    return stn_joint_spec_default("slide", STN_JOINT_PRISMATIC);
}

static void a_limit_stops_the_joint_and_holds_it(void **state) {
    stn_world *world = scene_tight_world(*state, 0.005, 1e-11);
    stn_joint_spec spec = slide();
    spec.lower = -1.0;
    spec.upper = 0.25;
    scene_slider(world, "slider", &spec);
    stn_error err;
    assert_ok(stn_world_compile(world, &err), err);
    double v = 2.0;
    assert_ok(stn_world_set_v(world, &v, &err), err);
    assert_ok(stn_world_set_effort(world, 0, 20.0, &err), err);
    scene_steps(world, 100);
    const stn_observation *o = stn_world_observation(world);
    // R gamma = penetration/(2 dt), R = beta^2/(4 pi^2) w, w = 1/m: docs/contact-problem.md
    double depth = 0.01 / (4.0 * STN_PI * STN_PI) / 2.0 * 20.0 * 0.005 * 2.0 * 0.005;
    assert_near(o->q[0], 0.25 + depth, 1e-9);
    assert_near(o->v[0], 0.0, 1e-9);
    assert_near(o->gamma[0], 20.0 * 0.005, 1e-9);
    assert_int_equal(o->problem->constraints[0].kind, STN_CONSTRAINT_JOINT_LIMIT);
    stn_world_destroy(world);
}

/// Implicit PD without limit, v = (m v - dt kp (x - r) - dt kd 0)/(m + dt kd + dt^2 kp); with one, clamped.
static void pd_follows_the_implicit_formula_until_its_effort_limit(void **state) {
    const double efforts[] = {INFINITY, 30.0};
    for (int32_t i = 0; i < 2; i++) {
        stn_world *world = scene_tight_world(*state, 0.01, 1e-11);
        stn_joint_spec spec = slide();
        spec.effort = efforts[i];
        int32_t robot = scene_slider(world, "slider", &spec);
        int32_t pd = scene_controller(world, robot, "joint_pd", "kp", 200.0, "kd", 5.0, NULL);
        double target = 0.5, x = 0.0, v = 0.0, dt = 0.01, m = 2.0;
        stn_error err;
        assert_ok(stn_world_set_reference(world, pd, "position", &target, 1, &err), err);
        int32_t clamped = 0;
        double work = 0.0;
        for (int32_t k = 0; k < 100; k++) {
            scene_steps(world, 1);
            double before = v;
            v = (m * v - dt * 200.0 * (x - target)) / (m + dt * 5.0 + dt * dt * 200.0);
            double u = (m * (v - before)) / dt;
            if (fabs(u) > efforts[i]) {
                u = copysign(efforts[i], u);
                v = before + dt * u / m;
                clamped++;
            }
            x += dt * v;
            work += stn_world_observation(world)->report->input_work_J;
            assert_near(stn_world_state(world)->v[0], v, 1e-9);
            assert_near(stn_world_state(world)->q[0], x, 1e-9);
        }
        assert_true(i == 0 ? clamped == 0 : clamped > 5);
        assert_near(work, 0.5 * m * v * v, 1e-9); // the motor's work is all of the energy
        stn_world_destroy(world);
    }
}

static void feed_forward_shares_the_effort_limit(void **state) {
    stn_world *world = scene_tight_world(*state, 0.01, 1e-11);
    stn_joint_spec spec = slide();
    spec.effort = 10.0;
    int32_t robot = scene_slider(world, "slider", &spec);
    int32_t pd = scene_controller(world, robot, "joint_pd", "kp", 1.0, "kd", 0.0, NULL);
    double feedforward = 50.0;
    stn_error err;
    assert_ok(stn_world_set_reference(world, pd, "feedforward", &feedforward, 1, &err), err);
    scene_steps(world, 1);
    assert_near(stn_world_state(world)->v[0], 10.0 * 0.01 / 2.0, 1e-10);
    stn_world_destroy(world);
}

static void dry_friction_holds_below_its_level_and_brakes_above(void **state) {
    stn_world *world = scene_tight_world(*state, 0.005, 1e-11);
    stn_joint_spec spec = slide();
    spec.friction = 3.0;
    scene_slider(world, "slider", &spec);
    stn_error err;
    assert_ok(stn_world_compile(world, &err), err);
    assert_ok(stn_world_set_effort(world, 0, 2.0, &err), err);
    scene_steps(world, 100);
    assert_true(fabs(stn_world_state(world)->v[0]) <= 1e-3 * 0.5 * 0.005 * 2.0 + 1e-12); // sigma w dt tau
    assert_ok(stn_world_set_effort(world, 0, 5.0, &err), err);
    scene_steps(world, 100);
    assert_near(stn_world_state(world)->v[0], (5.0 - 3.0) / 2.0 * 0.5, 1e-4);
    stn_world_destroy(world);
}

static void damping_is_implicit(void **state) {
    stn_world *world = scene_tight_world(*state, 0.1, 1e-11);
    stn_joint_spec spec = slide();
    spec.damping = 400.0; // explicit Euler would explode at dt c/m = 20
    scene_slider(world, "slider", &spec);
    stn_error err;
    assert_ok(stn_world_compile(world, &err), err);
    double v = 1.0;
    assert_ok(stn_world_set_v(world, &v, &err), err);
    for (int32_t i = 0; i < 5; i++) {
        scene_steps(world, 1);
        v *= 2.0 / (2.0 + 0.1 * 400.0);
        assert_near(stn_world_state(world)->v[0], v, 1e-13);
    }
    stn_world_destroy(world);
}

/// Two carriages on one rail, the second mimics the first: q2 = -2 q1 + 0.1. An effort on the first moves the sum of
/// inertias.
static void a_coupler_keeps_its_ratio_and_adds_inertias(void **state) {
    stn_world *world = scene_tight_world(*state, 0.002, 1e-11);
    stn_model_builder *builder = stn_world_builder(world);
    stn_link_spec rail = {.name = "rail"}, a = {.name = "a"}, b = {.name = "b"};
    a.mass = b.mass = (stn_mass){.mass = 1.0, .inertia = stn_mat3_diagonal(0.01, 0.01, 0.01)};
    stn_joint_spec first = stn_joint_spec_default("first", STN_JOINT_PRISMATIC);
    stn_joint_spec second = stn_joint_spec_default("second", STN_JOINT_PRISMATIC);
    first.axis = second.axis = stn_vec3_make(1.0, 0.0, 0.0);
    int32_t robot = 0, id = 0;
    stn_pose base = stn_pose_identity();
    stn_error err;
    assert_ok(stn_builder_begin_group(builder, "pair", &robot, &err), err);
    assert_ok(stn_builder_add_link(builder, &rail, &first.parent, &err), err);
    second.parent = first.parent;
    assert_ok(stn_builder_add_link(builder, &a, &first.child, &err), err);
    assert_ok(stn_builder_add_link(builder, &b, &second.child, &err), err);
    assert_ok(stn_builder_add_joint(builder, &first, &second.mimic, &err), err);
    second.mimic_multiplier = -2.0;
    second.mimic_offset = 0.1;
    assert_ok(stn_builder_add_joint(builder, &second, &id, &err), err);
    assert_ok(stn_builder_set_base(builder, robot, &base, true, &err), err);
    assert_ok(stn_world_compile(world, &err), err);
    int32_t j1 = stn_model_find_joint(stn_world_model(world), robot, "first");
    int32_t j2 = stn_model_find_joint(stn_world_model(world), robot, "second");
    int32_t d1 = stn_world_model(world)->joints[j1].v_start, d2 = stn_world_model(world)->joints[j2].v_start;
    assert_ok(stn_world_set_effort(world, d1, 1.0, &err), err);
    scene_steps(world, 500);
    const stn_state *s = stn_world_state(world);
    assert_near(s->q[d2], -2.0 * s->q[d1] + 0.1, 1e-6);
    assert_near(s->v[d1], 1.0 / (1.0 + 4.0) * 1.0, 1e-12); // F t/(m + rho^2 m)
    stn_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_stops_the_joint_and_holds_it),
        cmocka_unit_test(pd_follows_the_implicit_formula_until_its_effort_limit),
        cmocka_unit_test(feed_forward_shares_the_effort_limit),
        cmocka_unit_test(dry_friction_holds_below_its_level_and_brakes_above),
        cmocka_unit_test(damping_is_implicit),
        cmocka_unit_test(a_coupler_keeps_its_ratio_and_adds_inertias),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
