// SPDX-License-Identifier: Apache-2.0
// The whole step on small scenes with closed forms.
#include "scenes.h"

#include <stdlib.h>
#include <string.h>

static const double g = 9.81;

static void free_fall_is_that_of_symplectic_euler(void **state) {
    stn_world *world = scene_tight_world(*state, 0.01, 1e-12);
    scene_ground(world);
    scene_ball(world, "ball", 2.0, 0.1, stn_vec3_make(0.0, 0.0, 10.0));
    scene_steps(world, 100);
    assert_near(stn_world_state(world)->v[2], -g * 1.0, 1e-12);
    assert_near(stn_world_state(world)->q[2], 10.0 - g * 1e-4 * 5050.0, 1e-11); // dt^2 g n (n + 1)/2
    assert_int_equal(stn_world_observation(world)->report->contact_count, 0);
    stn_world_destroy(world);
}

/// A pushed block sticks below the cone and slides above it, v = (F/m - mu g) t.
static void a_pushed_block_sticks_or_slides_as_coulomb_says(void **state) {
    const double force[] = {4.0, 6.0}; // mu m g = 4.905
    for (int32_t i = 0; i < 2; i++) {
        stn_world *world = scene_tight_world(*state, 0.002, 1e-12);
        scene_ground(world);
        scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.1));
        stn_error err;
        assert_ok(stn_world_compile(world, &err), err);
        scene_steps(world, 50); // settles
        // at ground height, so that the push does not tip
        stn_vec3 foot = {stn_world_state(world)->q[0], stn_world_state(world)->q[1], 0.0};
        assert_ok(stn_world_set_wrench(world, 1, stn_vec3_make(force[i], 0.0, 0.0), stn_vec3_zero(), foot, &err), err);
        scene_steps(world, 500);
        double v = stn_world_state(world)->v[0];
        const stn_observation *o = stn_world_observation(world);
        assert_true(o->certificate->momentum <= 1e-11);
        assert_near(scene_normal_impulse(o), g * 0.002, 1e-10);
        if (i == 0) {
            assert_true(fabs(v) < 1e-3 * 0.5 * g * 0.002 * 4.0); // creep sigma mu g dt, S(31)
        } else {
            assert_near(v, (6.0 - 0.5 * g) * 1.0, 2e-3);
        }
        stn_world_destroy(world);
    }
}

static void momentum_and_its_moment_survive_a_collision(void **state) {
    stn_world_options options = stn_world_options_default();
    options.gravity = stn_vec3_zero();
    stn_world *world = scene_world(*state, &options);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.0));
    scene_ball(world, "ball", 3.0, 0.1, stn_vec3_make(0.5, 0.05, 0.08));
    stn_error err;
    assert_ok(stn_world_compile(world, &err), err);
    double v[12] = {1.0, 0.0, 0.0, 0.3, -0.2, 0.5, -2.0, 0.1, 0.0, 0.0, 4.0, 0.0};
    assert_ok(stn_world_set_v(world, v, &err), err);
    stn_spatial before = stn_momentum(stn_world_kinematics(world));
    double energy = stn_kinetic_energy(stn_world_kinematics(world)), last = energy;
    int32_t touched = 0;
    for (int32_t i = 0; i < 300; i++) {
        scene_steps(world, 1);
        const stn_observation *o = stn_world_observation(world);
        touched += o->report->contact_count > 0 && scene_normal_impulse(o) > 0.0;
        assert_true(o->report->kinetic_J <= last + 1e-5 * energy); // gyroscopic terms are explicit: first order in dt
        last = o->report->kinetic_J;
    }
    stn_spatial after = stn_momentum(stn_world_kinematics(world));
    assert_true(touched > 0);
    assert_near(after.linear.x, before.linear.x, 1e-9);
    assert_near(after.linear.y, before.linear.y, 1e-9);
    assert_near(after.linear.z, before.linear.z, 1e-9);
    // the impulses act at one point, and the gyroscopic torque is implicit: nothing remains but rounding
    assert_near(after.angular.x, before.angular.x, 1e-12);
    assert_near(after.angular.y, before.angular.y, 1e-12);
    assert_near(after.angular.z, before.angular.z, 1e-12);
    stn_world_destroy(world);
}

static void a_belt_carries_a_box_to_its_own_speed(void **state) {
    stn_world *world = scene_tight_world(*state, 0.002, 1e-12);
    stn_geometry_spec belt = stn_geometry_spec_default(stn_shape_half_space());
    belt.surface_velocity = stn_vec3_make(0.3, 0.0, 0.0);
    int32_t id = 0;
    stn_error err;
    assert_ok(stn_builder_add_geometry(stn_world_builder(world), STN_WORLD, &belt, &id, &err), err);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.1));
    scene_steps(world, 20);
    assert_near(stn_world_state(world)->v[0], 0.5 * g * 0.04, 2e-2); // accelerates with mu g
    scene_steps(world, 480);
    assert_near(stn_world_state(world)->v[0], 0.3, 1e-12);
    stn_world_destroy(world);
}

static void the_result_does_not_depend_on_the_number_of_threads(void **state) {
    uint64_t hash[3];
    const int32_t threads[] = {1, 2, 4};
    for (int32_t k = 0; k < 3; k++) {
        stn_world_options options = stn_world_options_default();
        options.threads = threads[k];
        stn_world *world = scene_world(*state, &options);
        scene_ground(world);
        for (int32_t i = 0; i < 6; i++) {
            char name[16];
            snprintf(name, sizeof name, "body%d", i);
            stn_vec3 at = {0.5 * (i / 2), 0.03 * (i % 2), 0.11 + 0.21 * (i % 2)};
            (void)(i % 3 == 0 ? scene_ball(world, name, 1.0, 0.1, at) : scene_cube(world, name, 1.0, at));
        }
        scene_steps(world, 200);
        assert_true(stn_world_observation(world)->report->island_count >= 2);
        hash[k] = stn_world_hash(world);
        stn_world_destroy(world);
    }
    assert_true(hash[0] == hash[1] && hash[1] == hash[2]);
}

/// A heap that is one island, large enough for threads inside of it: for pairs, assembly and factor.
static void the_result_of_a_large_island_does_not_depend_on_the_number_of_threads(void **state) {
    enum { SIDE = 7 };
    uint64_t hash[4];
    for (int32_t k = 0; k < 4; k++) {
        stn_world_options options = stn_world_options_default();
        options.threads = k + 1;
        stn_world *world = scene_world(*state, &options);
        scene_ground(world);
        for (int32_t i = 0; i < SIDE * SIDE * SIDE; i++) {
            char name[16];
            snprintf(name, sizeof name, "body%d", i);
            const int32_t x = i % SIDE, y = i / SIDE % SIDE, z = i / (SIDE * SIDE);
            const stn_vec3 at = {0.1998 * x + 0.02 * (z % 2), 0.1998 * y + 0.03 * (z % 3), 0.0999 + 0.1998 * z};
            (void)(i % 3 == 0 ? scene_ball(world, name, 1.0, 0.1, at) : scene_cube(world, name, 1.0, at));
        }
        scene_steps(world, 4);
        assert_true(stn_world_observation(world)->report->island_count == 1);
        assert_true(stn_world_observation(world)->report->contact_count > 1000);
        assert_true(stn_world_observation(world)->report->iterations > 2);
        hash[k] = stn_world_hash(world);
        stn_world_destroy(world);
    }
    assert_true(hash[0] == hash[1] && hash[1] == hash[2] && hash[2] == hash[3]);
}

static void a_failed_step_leaves_the_state_as_it_was(void **state) {
    stn_world_options options = stn_world_options_default();
    stn_world *world = scene_world(*state, &options);
    scene_ground(world);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.1));
    scene_steps(world, 10);
    uint64_t hash = stn_world_hash(world);
    stn_error err;
    // finite, but beyond what the arithmetic can carry
    double v[6] = {1e308, -1e308, 1e308, 1e308, 1e308, 1e308};
    stn_snapshot *snapshot = NULL;
    assert_ok(stn_world_snapshot(world, &snapshot, &err), err);
    assert_ok(stn_world_set_v(world, v, &err), err);
    uint64_t absurd = stn_world_hash(world);
    stn_status status = stn_world_step(world, &err);
    assert_true(status < 0);
    assert_non_null(strstr(err.text, "step 10"));
    assert_true(stn_world_hash(world) == absurd);
    assert_ok(stn_world_restore(world, snapshot, &err), err);
    assert_true(stn_world_hash(world) == hash);
    scene_steps(world, 10);
    stn_snapshot_destroy(snapshot);
    stn_world_destroy(world);
}

static void bad_values_are_refused_by_name(void **state) {
    stn_world_options options = stn_world_options_default();
    stn_world *world = scene_world(*state, &options);
    stn_error err;
    double q[7] = {0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0};
    assert_int_equal(stn_world_set_q(world, q, &err), STN_ERR_SEQUENCE);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.1));
    assert_ok(stn_world_compile(world, &err), err);
    q[2] = NAN;
    assert_int_equal(stn_world_set_q(world, q, &err), STN_ERR_NUMERIC);
    assert_non_null(strstr(err.text, "cube"));
    q[2] = 0.0;
    q[3] = 0.0;
    assert_int_equal(stn_world_set_q(world, q, &err), STN_ERR_NUMERIC);
    assert_int_equal(stn_world_set_effort(world, 6, 1.0, &err), STN_ERR_ARGUMENT);
    assert_int_equal(stn_world_set_effort(world, 0, INFINITY, &err), STN_ERR_NUMERIC);
    assert_int_equal(stn_world_set_dt(world, 0.0, &err), STN_ERR_ARGUMENT);
    stn_world_destroy(world);
    stn_world *none = NULL;
    options.dt = NAN;
    assert_int_equal(stn_world_create(*state, &options, &none, &err), STN_ERR_ARGUMENT);
    options = stn_world_options_default();
    options.relaxation_rule = (stn_relaxation_rule)2;
    assert_int_equal(stn_world_create(*state, &options, &none, &err), STN_ERR_ARGUMENT);
    options.relaxation_rule = STN_RELAXATION_SUM;
    options.contact_point = (stn_contact_point_rule)-1;
    assert_int_equal(stn_world_create(*state, &options, &none, &err), STN_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "contact_point = -1"));
    options = stn_world_options_default();
    options.solver.id = "sapp";
    assert_int_equal(stn_world_create(*state, &options, &none, &err), STN_ERR_PLUGIN);
    assert_non_null(strstr(err.text, "sap"));
    assert_null(none);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_fall_is_that_of_symplectic_euler),
        cmocka_unit_test(a_pushed_block_sticks_or_slides_as_coulomb_says),
        cmocka_unit_test(momentum_and_its_moment_survive_a_collision),
        cmocka_unit_test(a_belt_carries_a_box_to_its_own_speed),
        cmocka_unit_test(the_result_does_not_depend_on_the_number_of_threads),
        cmocka_unit_test(the_result_of_a_large_island_does_not_depend_on_the_number_of_threads),
        cmocka_unit_test(a_failed_step_leaves_the_state_as_it_was),
        cmocka_unit_test(bad_values_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
