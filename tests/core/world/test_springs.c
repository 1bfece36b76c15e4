// SPDX-License-Identifier: Apache-2.0
// Springs of joints against closed forms. A mass m on a spring k swings with omega = sqrt(k/m); the implicit scheme
//     (m + dt^2 k + dt c)(v' - v) = -dt (k (x - rest) + c v) - dt^2 k v,    x' = x + dt v'
// is backward Euler: with z = x - rest, from rest z_n = z_0 cos(n phi)/(1 + (omega dt)^2)^(n/2), phi = atan(omega dt),
// when c = 0.
#include "scenes.h"

#include <stiction/dynamics.h>

static stn_joint_spec sprung(stn_joint_type type, double stiffness, double rest) {
    stn_joint_spec spec = stn_joint_spec_default("spring", type);
    spec.stiffness = stiffness;
    spec.rest = rest;
    return spec;
}

static void start(stn_world *world, const double *q) {
    stn_error err;
    assert_ok(stn_world_compile(world, &err), err);
    assert_ok(stn_world_set_q(world, q, &err), err);
}

/// Mean period over `count` swings of coordinate i about `centre`: zero crossings upwards, interpolated.
static double measure_period(stn_world *world, int32_t i, double centre, int32_t count) {
    double dt = stn_world_dt(world), before = stn_world_state(world)->q[i] - centre, first = NAN, last = NAN;
    for (int32_t crossings = 0; crossings <= count;) {
        scene_steps(world, 1);
        double now = stn_world_state(world)->q[i] - centre;
        if (before < 0.0 && now >= 0.0) {
            last = stn_world_state(world)->time - dt * now / (now - before);
            first = crossings++ == 0 ? last : first;
        }
        before = now;
    }
    return (last - first) / count;
}

/// The carriage weighs 2 kg and has 0.01 kg m^2 about its axis. Backward Euler's own period is that of atan(omega dt),
/// longer by (omega dt)^2/3.
static void a_mass_on_a_spring_swings_with_its_period(void **state) {
    const struct {
        stn_joint_type type;
        double stiffness, inertia;
    } cases[] = {{STN_JOINT_PRISMATIC, 200.0, 2.0}, {STN_JOINT_REVOLUTE, 0.5, 0.01}, {STN_JOINT_CONTINUOUS, 2.0, 0.01}};
    const double dt = 1e-4, rest = 0.3;
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        stn_world *world = scene_tight_world(*state, dt, 1e-12);
        stn_joint_spec spec = sprung(cases[i].type, cases[i].stiffness, rest);
        scene_slider(world, "slider", &spec);
        double q = 0.5, omega = sqrt(cases[i].stiffness / cases[i].inertia);
        start(world, &q);
        double period = measure_period(world, 0, rest, 5), expected = 2.0 * STN_PI / omega;
        assert_near(period / expected, 1.0, 0.5 * omega * omega * dt * dt);
        assert_near(period, 2.0 * STN_PI * dt / atan(omega * dt), 1e-9);
        stn_world_destroy(world);
    }
}

static void every_step_is_that_of_the_implicit_scheme_and_loses_energy(void **state) {
    const double dt = 0.01, m = 2.0, k = 200.0, rest = -0.2;
    stn_world *world = scene_tight_world(*state, dt, 1e-12);
    stn_joint_spec spec = sprung(STN_JOINT_PRISMATIC, k, rest);
    scene_slider(world, "slider", &spec);
    double q = 0.1, v0 = 0.0, before = 0.5 * k * 0.3 * 0.3;
    start(world, &q);
    assert_near(stn_world_elastic_energy(world), before, 1e-14); // also before the first step
    const double phi = atan(sqrt(k / m) * dt);
    for (int32_t i = 0; i < 200; i++) {
        scene_steps(world, 1);
        double z = 0.3 * cos((i + 1) * phi) * pow(1.0 + k / m * dt * dt, -0.5 * (i + 1));
        double x = stn_world_state(world)->q[0], v = stn_world_state(world)->v[0];
        const stn_step_report *r = stn_world_observation(world)->report;
        assert_near(x - rest, z, 1e-13);
        assert_near(r->elastic_J, 0.5 * k * (x - rest) * (x - rest), 1e-14);
        assert_near(r->elastic_J, stn_spring_energy(stn_world_kinematics(world)), 1e-15);
        assert_near(r->input_work_J, 0.0, 1e-14); // nobody does work on it
        double energy = 0.5 * m * v * v + r->elastic_J;
        assert_near(energy, before - 0.5 * m * (v - v0) * (v - v0) - 0.5 * k * dt * dt * v * v, 1e-12);
        before = energy;
        v0 = v;
    }
    stn_world_destroy(world);
}

static void the_work_of_an_effort_does_not_count_what_the_spring_does(void **state) {
    stn_world *world = scene_tight_world(*state, 0.01, 1e-12);
    stn_joint_spec spec = sprung(STN_JOINT_PRISMATIC, 300.0, 0.1);
    spec.damping = 4.0;
    scene_slider(world, "slider", &spec);
    double q = 0.0, v = 0.0;
    start(world, &q);
    stn_error err;
    assert_ok(stn_world_set_effort(world, 0, 7.0, &err), err);
    for (int32_t i = 0; i < 50; i++) {
        scene_steps(world, 1);
        double now = stn_world_state(world)->v[0];
        assert_near(stn_world_observation(world)->report->input_work_J, 7.0 * 0.01 * 0.5 * (v + now), 1e-14);
        v = now;
    }
    stn_world_destroy(world);
}

static void a_huge_stiffness_is_stable_and_a_loaded_spring_settles(void **state) {
    const double stiffnesses[] = {1e3, 1e8, 1e14};
    for (int32_t i = 0; i < STN_COUNT(stiffnesses); i++) {
        stn_world_options options = stn_world_options_default();
        options.dt = 0.02; // explicit: unstable beyond k = 4 m/dt^2 = 2e4
        options.gravity = stn_vec3_make(9.81, 0.0, 0.0);
        stn_world *world = scene_world(*state, &options);
        stn_joint_spec spec = sprung(STN_JOINT_PRISMATIC, stiffnesses[i], 0.25);
        scene_slider(world, "slider", &spec);
        double q = -1.0, most = 0.0;
        start(world, &q);
        for (int32_t s = 0; s < 400; s++) {
            scene_steps(world, 1);
            most = worse(most, fabs(stn_world_state(world)->q[0] - 0.25));
        }
        assert_true(most <= 1.25);
        assert_near(stn_world_state(world)->q[0], 0.25 + 2.0 * 9.81 / stiffnesses[i], 1e-12);
        stn_world_destroy(world);
    }
}

/// Two carriages of 1 kg, q2 = -2 q1 + 0.1, springs k1 (slack at 0) and k2 (slack at 0.1): in q1 the mass is 1 + 4, the
/// stiffness k1 + 4 k2, the centre 0. With k1 or k2 alone as well.
static void springs_act_through_mimic_joints(void **state) {
    const double springs[3][2] = {{0.0, 50.0}, {200.0, 0.0}, {80.0, 30.0}};
    for (int32_t i = 0; i < 3; i++) {
        stn_world *world = scene_tight_world(*state, 2e-4, 1e-12);
        stn_model_builder *builder = stn_world_builder(world);
        stn_joint_spec joints[2] = {sprung(STN_JOINT_PRISMATIC, springs[i][0], 0.0),
                                    sprung(STN_JOINT_PRISMATIC, springs[i][1], 0.1)};
        stn_link_spec links[3] = {{.name = "rail"}, {.name = "a"}, {.name = "b"}};
        int32_t robot, link[3], joint[2];
        stn_pose base = stn_pose_identity();
        stn_error err;
        assert_ok(stn_builder_begin_group(builder, "pair", &robot, &err), err);
        for (int32_t n = 0; n < 3; n++) {
            links[n].mass = (stn_mass){.mass = 1.0, .inertia = stn_mat3_diagonal(0.01, 0.01, 0.01)};
            assert_ok(stn_builder_add_link(builder, &links[n], &link[n], &err), err);
        }
        for (int32_t n = 0; n < 2; n++) {
            joints[n].name = n == 0 ? "first" : "second";
            joints[n].parent = link[0];
            joints[n].child = link[n + 1];
            joints[n].mimic = n == 0 ? -1 : joint[0];
            joints[n].mimic_multiplier = -2.0;
            joints[n].mimic_offset = 0.1;
            assert_ok(stn_builder_add_joint(builder, &joints[n], &joint[n], &err), err);
        }
        assert_ok(stn_builder_set_base(builder, robot, &base, true, &err), err);
        const double q[2] = {0.2, -0.3};
        start(world, q);
        double period = measure_period(world, 0, 0.0, 4);
        double expected = 2.0 * STN_PI * sqrt(5.0 / (springs[i][0] + 4.0 * springs[i][1]));
        assert_near(period / expected, 1.0, 1e-5);
        assert_near(stn_world_state(world)->q[1], -2.0 * stn_world_state(world)->q[0] + 0.1, 1e-10);
        stn_world_destroy(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mass_on_a_spring_swings_with_its_period),
        cmocka_unit_test(every_step_is_that_of_the_implicit_scheme_and_loses_energy),
        cmocka_unit_test(the_work_of_an_effort_does_not_count_what_the_spring_does),
        cmocka_unit_test(a_huge_stiffness_is_stable_and_a_loaded_spring_settles),
        cmocka_unit_test(springs_act_through_mimic_joints),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
