// SPDX-License-Identifier: Apache-2.0
// True stiction of patches: a cube of 1 kg, side 0.2 m, on one patch of 10 x 10 faces that are others in every step.
// Slopes are gravity that leans.
#include "fake_scenes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stn_tape.h"

static const double g = 9.81, side = 0.2;
enum { FACES = 100 };

static stn_world *make(stn_context *context, double slope, const char *law, const char *solver, bool stiction) {
    stn_world_options options = stn_world_options_default();
    options.contact.id = "fake_box_patch";
    options.gravity = stn_vec3_make(g * sin(slope), 0.0, -g * cos(slope));
    options.law.id = law;
    options.solver.id = solver;
    options.stiction = stiction;
    stn_world *world = scene_world(context, &options);
    scene_ground(world);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.5 * side - 2e-6));
    return world;
}

static double friction(const stn_world *world) {
    return stn_world_observation(world)->problem->constraints[0].mu1;
}

static const double *velocity(const stn_world *world) { // linear, angular
    return stn_world_state(world)->v;
}

static double place(const stn_world *world) {
    return stn_world_state(world)->q[0];
}

static void a_box_on_a_slope_stays_where_it_is(void **state) {
    const char *const laws[] = {"sap", "lagged", "similar", "lagged_regularized"};
    for (int32_t i = 0; i < STN_COUNT(laws); i++) {
        stn_world *world = make(*state, 0.26, laws[i], "sap", true);
        scene_steps(world, 500);
        double before = place(world);
        uint64_t face = stn_world_observation(world)->problem->constraints[0].id;
        scene_steps(world, 1000);
        assert_int_equal(stn_world_observation(world)->problem->constraint_count, FACES);
        assert_true(i > 0 || face != stn_world_observation(world)->problem->constraints[0].id);
        assert_near(place(world), before, 1e-12); // without stiction 4e-7 m (sap), 1e-4 m (soft norms)
        stn_world_destroy(world);
    }
}

static void solvers_of_coulomb_friction_hold_it_too(void **state) {
    const char *const solvers[] = {"nsgs", "pgs", "bisection", "newton_ncp"};
    for (int32_t i = 0; i < STN_COUNT(solvers); i++) {
        stn_world *world = make(*state, 0.26, NULL, solvers[i], true);
        scene_steps(world, 50);
        double before = place(world);
        scene_steps(world, 100);
        assert_near(place(world), before, 1e-10);
        stn_world_destroy(world);
    }
}

/// What friction can bear about the normal: mu times the integral of p r over a square of side L, mu N L (sqrt 2 +
/// asinh 1)/6.
static void a_torque_below_its_limit_turns_nothing(void **state) {
    const double shares[] = {0.5, 0.985, 1.01};
    for (int32_t i = 0; i < STN_COUNT(shares); i++) {
        stn_world *world = make(*state, 0.0, "sap", "sap", true);
        stn_error err;
        scene_steps(world, 200);
        double limit = friction(world) * g * side * (sqrt(2.0) + asinh(1.0)) / 6.0;
        assert_ok(stn_world_set_wrench(world, 1, stn_vec3_zero(), stn_vec3_make(0.0, 0.0, shares[i] * limit),
                                       stn_vec3_make(0.0, 0.0, 0.5 * side), &err),
                  err);
        scene_steps(world, 200);
        double spin = 0.0; // [rad/s], summed
        for (int32_t k = 0; k < 500; k++) {
            scene_steps(world, 1);
            spin += velocity(world)[5];
        }
        if (shares[i] < 1.0) {
            assert_near(spin * 2e-3, 0.0, 1e-10); // without stiction 1e-5 rad
        } else {
            assert_true(velocity(world)[5] > 1e-3);
        }
        stn_world_destroy(world);
    }
}

static void a_box_that_slides_slides_as_without(void **state) {
    double way[2];
    for (int32_t held = 0; held < 2; held++) {
        stn_world *world = make(*state, 0.0, "sap", "sap", held == 1);
        stn_error err;
        scene_steps(world, 200);
        double start = place(world), v[6] = {0.5};
        assert_ok(stn_world_set_v(world, v, &err), err);
        scene_steps(world, 300);
        way[held] = place(world) - start;
        assert_near(velocity(world)[0], 0.0, 1e-9);
        stn_world_destroy(world);
    }
    assert_near(way[1], way[0], 1e-6 * way[0]);
}

/// An anchor does not pull back what slid: after a slip both ways, the box rests where friction stopped it.
static void what_slid_is_not_drawn_back(void **state) {
    stn_world *world = make(*state, 0.0, "sap", "sap", true);
    stn_error err;
    scene_steps(world, 200);
    const double speeds[][2] = {{0.2, 3.0}, {-0.2, -3.0}};
    for (int32_t i = 0; i < 2; i++) {
        double v[6] = {speeds[i][0], 0.0, 0.0, 0.0, 0.0, speeds[i][1]};
        assert_ok(stn_world_set_v(world, v, &err), err);
        scene_steps(world, 200);
        double stopped = place(world);
        scene_steps(world, 200);
        assert_near(place(world), stopped, 1e-9);
        assert_near(velocity(world)[5], 0.0, 1e-9);
    }
    stn_world_destroy(world);
}

static void states_hold_the_anchors_of_patches(void **state) {
    stn_world *world = make(*state, 0.26, "lagged", "sap", true), *twin = NULL;
    stn_snapshot *snapshot = NULL;
    stn_error err;
    scene_steps(world, 100);
    assert_ok(stn_world_snapshot(world, &snapshot, &err), err);
    assert_ok(stn_world_clone(world, &twin, &err), err);
    assert_true(stn_world_hash(world) == stn_world_hash(twin));
    scene_steps(world, 100);
    scene_steps(twin, 100);
    uint64_t after = stn_world_hash(world);
    assert_true(stn_world_hash(twin) == after);
    assert_ok(stn_world_restore(world, snapshot, &err), err);
    scene_steps(world, 100);
    assert_true(stn_world_hash(world) == after);
    stn_snapshot_destroy(snapshot);
    stn_world_destroy(twin);
    stn_world_destroy(world);
}

/// Is the box held by more than friction's own gliding?
static bool is_anchored(const stn_world *world) {
    const stn_problem *p = stn_world_observation(world)->problem;
    double most = 0.0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        most = worse(most, hypot(p->constraints[i].anchor[0], p->constraints[i].anchor[1]));
    }
    return most > 1e-8;
}

/// A recording, or a capsule, that begins where the box is held already has what holds it.
static void recordings_begin_with_the_anchors_of_patches(void **state) {
    stn_world *world = make(*state, 0.26, "lagged", "sap", true);
    scene_steps(world, 100);
    tape *held = tape_record(world);
    scene_steps(world, 100);
    assert_true(is_anchored(world));
    assert_int_equal(held->count, 100);
    assert_true(tape_play(*state, held) == stn_world_hash(world));
    stn_world_destroy(world);
    tape_drop(held);
}

static void capsules_hold_the_anchors_of_patches(void **state) {
    stn_world *world = make(*state, 0.26, "lagged", "sap", true), *kept = NULL;
    const stn_vec3 zero = stn_vec3_zero();
    char path[] = "/tmp/stiction_patch_XXXXXX";
    stn_error why, err;
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    scene_steps(world, 100);
    assert_ok(stn_world_set_wrench(world, 1, stn_vec3_make(1e200, 0.0, 0.0), zero, zero, &err), err);
    assert_true(stn_world_step(world, &why) < 0);
    assert_ok(stn_world_save_capsule(world, &why, path, &err), err);
    assert_ok(stn_capsule_load(*state, path, NULL, &kept, &err), err);
    assert_int_equal(unlink(path), 0);
    stn_world *both[] = {world, kept};
    for (int32_t i = 0; i < 2; i++) {
        assert_ok(stn_world_set_wrench(both[i], 1, zero, zero, zero, &err), err);
        scene_steps(both[i], 50);
        assert_true(is_anchored(both[i]));
    }
    assert_true(stn_world_hash(kept) == stn_world_hash(world));
    stn_world_destroy(kept);
    stn_world_destroy(world);
}

static void a_steady_step_allocates_nothing(void **state) {
    stn_world *world = make(*state, 0.26, "lagged", "sap", true);
    scene_steps(world, 100);
    int64_t before = stn_context_allocations(*state);
    scene_steps(world, 100);
    assert_int_equal(stn_context_allocations(*state) - before, 0);
    stn_world_destroy(world);
}

static void a_patch_that_is_put_elsewhere_begins_anew(void **state) {
    stn_world *world = make(*state, 0.26, "sap", "sap", true);
    stn_error err;
    scene_steps(world, 100);
    double q[7];
    memcpy(q, stn_world_state(world)->q, sizeof q);
    q[0] += 0.1;
    assert_ok(stn_world_set_q(world, q, &err), err);
    scene_steps(world, 1);
    const stn_problem *p = stn_world_observation(world)->problem;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        assert_true(p->constraints[i].anchor[0] == 0.0 && p->constraints[i].anchor[1] == 0.0);
    }
    stn_world_destroy(world);
}

/// Soft rubber on rigid ground, about 100 faces that are others in every step: after 0.4 s it rolls as without.
static void a_ball_that_rolls_is_not_braked(void **state) {
    double speed[2];
    for (int32_t held = 0; held < 2; held++) {
        stn_world_options options = stn_world_options_default();
        stn_geometry_spec ball = stn_geometry_spec_default(stn_shape_sphere(0.1));
        const double v[6] = {0.5, 0.0, 0.0, 0.0, 5.3, 0.0};
        stn_error err;
        options.contact.id = "hydroelastic";
        options.stiction = held == 1;
        ball.material.modulus = 1e5;
        ball.field.resolution = 0.01;
        stn_world *world = scene_world(*state, &options);
        scene_ground(world);
        scene_body(world, "ball", 1.0, &ball, stn_vec3_make(0.0, 0.0, 0.0946));
        assert_ok(stn_world_compile(world, &err), err);
        assert_ok(stn_world_set_v(world, v, &err), err);
        scene_steps(world, 200);
        assert_true(stn_world_observation(world)->contacts->count > 80);
        assert_true(velocity(world)[4] > 4.0);
        speed[held] = velocity(world)[0];
        stn_world_destroy(world);
    }
    assert_near(speed[1], speed[0], 1e-5 * speed[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_on_a_slope_stays_where_it_is),
        cmocka_unit_test(solvers_of_coulomb_friction_hold_it_too),
        cmocka_unit_test(a_torque_below_its_limit_turns_nothing),
        cmocka_unit_test(a_box_that_slides_slides_as_without),
        cmocka_unit_test(what_slid_is_not_drawn_back),
        cmocka_unit_test(states_hold_the_anchors_of_patches),
        cmocka_unit_test(recordings_begin_with_the_anchors_of_patches),
        cmocka_unit_test(capsules_hold_the_anchors_of_patches),
        cmocka_unit_test(a_ball_that_rolls_is_not_braked),
        cmocka_unit_test(a_steady_step_allocates_nothing),
        cmocka_unit_test(a_patch_that_is_put_elsewhere_begins_anew),
    };
    return cmocka_run_group_tests(tests, fakes_setup, scene_teardown);
}
