// SPDX-License-Identifier: Apache-2.0
// Controllers that share a joint: sums, weights that ramp, priorities, and all of it as part of the state.
#include "scenes.h"

#include <string.h>

enum { PAIR = 2 };
static const double dt = 0.01, mass = 2.0;

/// Which a reset forgets.
static void set_references(stn_world *world, const int32_t pd[PAIR]) {
    const double reference[PAIR] = {0.5, -0.3};
    stn_error err;
    for (int32_t i = 0; i < PAIR; i++) {
        assert_ok(stn_world_set_reference(world, pd[i], "position", &reference[i], 1, &err), err);
    }
}

static stn_world *new_world(stn_context *context, double effort, int32_t pd[PAIR]) {
    stn_world *world = scene_tight_world(context, dt, 1e-12);
    stn_joint_spec spec = stn_joint_spec_default("slide", STN_JOINT_PRISMATIC);
    spec.effort = effort;
    int32_t robot = scene_slider(world, "slider", &spec);
    pd[0] = scene_controller(world, robot, "joint_pd", "kp", 50.0, "kd", 4.0, NULL);
    pd[1] = scene_controller(world, robot, "joint_pd", "kp", 300.0, "kd", 20.0, NULL);
    set_references(world, pd);
    return world;
}

/// m (v' - v) = -dt (sum of s kp (x + dt v' - x_ref) + s kd v').
static void law(const double share[PAIR], double *x, double *v) {
    double k = 50.0 * share[0] + 300.0 * share[1], d = 4.0 * share[0] + 20.0 * share[1];
    double pull = 50.0 * share[0] * (*x - 0.5) + 300.0 * share[1] * (*x + 0.3);
    *v = (mass * *v - dt * pull) / (mass + dt * d + dt * dt * k);
    *x += dt * *v;
}

static void expect(stn_world *world, const double share[PAIR], double *x, double *v) {
    scene_steps(world, 1);
    law(share, x, v);
    assert_near(stn_world_state(world)->q[0], *x, 1e-10);
    assert_near(stn_world_state(world)->v[0], *v, 1e-9);
}

/// Gains in K and D, and servo rows far from their limit.
static const double efforts[PAIR] = {INFINITY, 1e5};

static void equal_priorities_add_up(void **state) {
    for (int32_t e = 0; e < PAIR; e++) {
        int32_t pd[PAIR];
        double x = 0.0, v = 0.0, share[PAIR] = {1.0, 1.0};
        stn_world *world = new_world(*state, efforts[e], pd);
        for (int32_t i = 0; i < 50; i++) {
            expect(world, share, &x, &v);
        }
        stn_world_destroy(world);
    }
}

static void one_motor_has_one_limit(void **state) {
    int32_t pd[PAIR];
    stn_world *world = new_world(*state, 3.0, pd);
    scene_steps(world, 1);
    // both pull with far more than the motor has: 50 * 0.5 = 25 one way, 300 * 0.3 = 90 the other
    assert_near(stn_world_state(world)->v[0], -dt * 3.0 / mass, 1e-12);
    stn_world_destroy(world);
}

static void a_higher_priority_takes_the_joint_over_and_gives_it_back(void **state) {
    for (int32_t e = 0; e < PAIR; e++) {
        int32_t pd[PAIR];
        double x = 0.0, v = 0.0, w = 0.0;
        stn_error err;
        stn_world *world = new_world(*state, efforts[e], pd);
        assert_ok(stn_world_set_controller(world, pd[1], 1, false, &err), err);
        for (int32_t i = 0; i < 200; i++) {
            if (i == 20 || i == 120) {
                assert_ok(stn_world_activate_controller(world, pd[1], i == 20, 0.5, &err), err);
            }
            w = i < 20 ? 0.0 : i < 70 ? (i - 19) / 50.0 : i < 120 ? 1.0 : i < 170 ? 1.0 - (i - 119) / 50.0 : 0.0;
            expect(world, (const double[PAIR]){1.0 - w, w}, &x, &v);
            assert_near(stn_world_controller_weight(world, pd[1]), w, 1e-12);
        }
        stn_world_destroy(world);
    }
}

static void a_share_of_a_clamped_effort_is_that_share(void **state) {
    int32_t pd[PAIR];
    stn_error err;
    stn_world *world = new_world(*state, 3.0, pd);
    assert_ok(stn_world_set_controller(world, pd[0], 0, false, &err), err);
    assert_ok(stn_world_activate_controller(world, pd[1], false, 0.0, &err), err);
    assert_ok(stn_world_activate_controller(world, pd[0], true, 4.0 * dt, &err), err);
    double v = 0.0;
    for (int32_t i = 1; i <= 4; i++) {
        scene_steps(world, 1);
        v += dt * 3.0 * i / 4.0 / mass;
        assert_near(stn_world_state(world)->v[0], v, 1e-12);
    }
    stn_world_destroy(world);
}

static void ramps_are_part_of_the_state(void **state) {
    int32_t pd[PAIR];
    stn_error err;
    stn_snapshot *snapshot = NULL;
    stn_world *world = new_world(*state, 40.0, pd), *clone = NULL;
    assert_ok(stn_world_set_controller(world, pd[1], 1, false, &err), err);
    scene_steps(world, 10);
    uint64_t first = stn_world_hash(world);
    assert_ok(stn_world_activate_controller(world, pd[1], true, 0.3, &err), err);
    scene_steps(world, 10);
    assert_ok(stn_world_snapshot(world, &snapshot, &err), err);
    assert_ok(stn_world_clone(world, &clone, &err), err);
    scene_steps(world, 50);
    scene_steps(clone, 50);
    uint64_t end = stn_world_hash(world);
    assert_true(stn_world_hash(clone) == end);
    assert_ok(stn_world_restore(world, snapshot, &err), err);
    scene_steps(world, 50);
    assert_true(stn_world_hash(world) == end);
    stn_world_reset(world); // inactive again, with its priority
    assert_near(stn_world_controller_weight(world, pd[1]), 0.0, 0.0);
    set_references(world, pd);
    scene_steps(world, 10);
    assert_true(stn_world_hash(world) == first);
    stn_snapshot_destroy(snapshot);
    stn_world_destroy(clone);
    stn_world_destroy(world);
}

/// A clone has its world's setup; a controller that one of them gets is its own, whichever goes first.
static void a_controller_of_a_clone_is_its_own(void **state) {
    for (int32_t first = 0; first < PAIR; first++) {
        int32_t pd[PAIR];
        stn_error err;
        stn_world *world = new_world(*state, 40.0, pd), *pair[PAIR] = {world, NULL};
        assert_ok(stn_world_clone(world, &pair[1], &err), err);
        int32_t third = scene_controller(pair[1], 0, "joint_pd", "kp", 10.0, "kd", 1.0, NULL);
        assert_int_equal(third, PAIR);
        assert_int_equal(stn_world_controller_count(world), PAIR);
        assert_null(strstr(stn_world_parameters(world), "controller.3"));
        assert_int_equal(stn_world_controller_count(pair[1]), PAIR + 1);
        assert_non_null(strstr(stn_world_parameters(pair[1]), "controller.3"));
        stn_world_destroy(pair[first]);
        scene_steps(pair[!first], 5);
        stn_world_destroy(pair[!first]);
    }
}

static void bad_blends_are_one_line(void **state) {
    int32_t pd[PAIR];
    stn_error err;
    stn_world *world = new_world(*state, 40.0, pd);
    static const double bad[] = {-1.0, NAN, INFINITY};
    for (int32_t i = 0; i < STN_COUNT(bad); i++) {
        assert_int_equal(stn_world_activate_controller(world, pd[0], true, bad[i], &err), STN_ERR_ARGUMENT);
        assert_non_null(strstr(err.text, "controller joint_pd of slider: blend = "));
    }
    assert_int_equal(stn_world_activate_controller(world, 7, true, 0.0, &err), STN_ERR_ARGUMENT);
    scene_steps(world, 1);
    assert_int_equal(stn_world_set_controller(world, pd[0], 1, true, &err), STN_ERR_SEQUENCE);
    stn_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_priorities_add_up),
        cmocka_unit_test(one_motor_has_one_limit),
        cmocka_unit_test(a_higher_priority_takes_the_joint_over_and_gives_it_back),
        cmocka_unit_test(a_share_of_a_clamped_effort_is_that_share),
        cmocka_unit_test(ramps_are_part_of_the_state),
        cmocka_unit_test(a_controller_of_a_clone_is_its_own),
        cmocka_unit_test(bad_blends_are_one_line),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
