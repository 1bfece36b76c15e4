// SPDX-License-Identifier: Apache-2.0
// Counts every malloc, calloc and realloc of the process, plugins and libraries included, over steady steps. The
// counters replace the C library's entry points, so this is a program of its own; sanitizers bring their own and skip
// it.
#include "scenes.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "stn_joined.h"
#include "stn_random.h"

#if defined(__SANITIZE_ADDRESS__)
#define COUNTING 0
#else
#define COUNTING 1
#endif

#if COUNTING
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

static atomic_llong requests;

void *malloc(size_t size) {
    atomic_fetch_add(&requests, 1);
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    atomic_fetch_add(&requests, 1);
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    atomic_fetch_add(&requests, 1);
    return __libc_realloc(memory, size);
}
#endif

#if COUNTING
/// The first cube to the second by a weld and a distance, a cube that hangs beside on a ball.
static void hold_cubes(stn_context *context, stn_world *world) {
    stn_model_builder *builder = stn_world_builder(world);
    int32_t hanging = 0, id = 0;
    scene_cube(world, "hanging", 1.0, stn_vec3_make(5.0, 0.0, 2.0));
    stn_builder_group_links(builder, stn_builder_group_count(builder) - 1, &hanging, &id);
    joined_spec specs[] = {joined("weld", 0, 1), joined("distance", 0, 1), joined("ball", STN_WORLD, hanging)};
    specs[0].ends[0].pose.position.z = 0.2;
    joined_set(&specs[1], "length", 0.2);
    specs[2].ends[0].pose.position = stn_vec3_make(5.0, 0.0, 2.5);
    specs[2].ends[1].pose.position.z = 0.5;
    for (int32_t i = 0; i < STN_COUNT(specs); i++) {
        joined_add(context, builder, &specs[i]);
    }
}
#endif

/// A pile that has come to rest, cubes that constraints hold, and an arm-like slider under PD.
static void a_steady_step_allocates_nothing(void **state) {
    (void)state;
#if COUNTING
    const struct {
        int32_t threads;
        const char *integrator;
        bool stiction;
    } runs[] = {{1, NULL, false}, {2, NULL, true}, {1, "midpoint", false}};
    for (int32_t k = 0; k < STN_COUNT(runs); k++) {
        stn_context *context = NULL;
        stn_error err;
        assert_ok(stn_context_create(NULL, &context, &err), err);
        stn_world_options options = stn_world_options_default();
        options.threads = runs[k].threads;
        options.integrator.id = runs[k].integrator;
        options.stiction = runs[k].stiction;
        stn_world *world = scene_world(context, &options);
        scene_ground(world);
        for (int32_t i = 0; i < 8; i++) {
            char name[16];
            snprintf(name, sizeof name, "cube%d", i);
            scene_cube(world, name, 1.0, stn_vec3_make(0.5 * (i / 4), 0.0, 0.1 + 0.2 * (i % 4)));
        }
        hold_cubes(context, world);
        stn_joint_spec spec = stn_joint_spec_default("slide", STN_JOINT_PRISMATIC);
        spec.effort = 50.0;
        int32_t robot = scene_slider(world, "slider", &spec);
        scene_controller(world, robot, "joint_pd", "kp", 50.0, "kd", 1.0, NULL);
        scene_steps(world, 300);
        long long before = atomic_load(&requests);
        int64_t context_before = stn_context_allocations(context);
        scene_steps(world, 300);
        assert_int_equal(atomic_load(&requests) - before, 0);
        assert_int_equal(stn_context_allocations(context) - context_before, 0);
        assert_true(stn_world_observation(world)->report->contact_count >= 32);
        stn_world_destroy(world);
        stn_context_destroy(context);
    }
#else
    skip();
#endif
}

/// One controller takes a joint over from another and gives it back, while a third adds to both: not even the first
/// step of a ramp, nor the change that begins it, asks for memory.
static void a_blend_allocates_nothing(void **state) {
    (void)state;
#if COUNTING
    static const char *const ids[] = {"joint_pd", "inverse_dynamics", "cartesian_impedance"};
    stn_context *context = NULL;
    stn_error err;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    stn_world_options options = stn_world_options_default();
    stn_world *world = scene_world(context, &options);
    stn_joint_spec spec = stn_joint_spec_default("slide", STN_JOINT_PRISMATIC);
    spec.effort = 50.0;
    int32_t robot = scene_slider(world, "slider", &spec), controller[STN_COUNT(ids)];
    for (int32_t i = 0; i < STN_COUNT(ids); i++) {
        controller[i] = scene_controller(world, robot, ids[i], NULL);
    }
    assert_ok(stn_world_set_controller(world, controller[1], 1, false, &err), err);
    scene_steps(world, 300);
    long long before = atomic_load(&requests);
    int64_t context_before = stn_context_allocations(context);
    for (int32_t i = 0; i < 4; i++) {
        assert_ok(stn_world_activate_controller(world, controller[1], i % 2 == 0, 50 * options.dt, &err), err);
        scene_steps(world, 60);
    }
    assert_int_equal(atomic_load(&requests) - before, 0);
    assert_int_equal(stn_context_allocations(context) - context_before, 0);
    stn_world_destroy(world);
    stn_context_destroy(context);
#else
    skip();
#endif
}

/// A carriage is led along a row of balls that it keeps clear of: near pairs and their quadratic program.
static void keeping_clear_allocates_nothing(void **state) {
    (void)state;
#if COUNTING
    stn_context *context = NULL;
    stn_error err;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    stn_world_options options = stn_world_options_default();
    options.gravity = stn_vec3_zero();
    stn_world *world = scene_world(context, &options);
    stn_joint_spec spec = stn_joint_spec_default("slide", STN_JOINT_PRISMATIC);
    spec.effort = 50.0;
    int32_t robot = scene_slider(world, "slider", &spec), id = 0, carriage = 0;
    stn_builder_group_links(stn_world_builder(world), robot, &carriage, &id);
    stn_geometry_spec shape = stn_geometry_spec_default(stn_shape_box(stn_vec3_make(0.1, 0.1, 0.1)));
    assert_ok(stn_builder_add_geometry(stn_world_builder(world), carriage + 1, &shape, &id, &err), err);
    for (int32_t i = 0; i < 8; i++) {
        shape = stn_geometry_spec_default(stn_shape_sphere(0.1));
        shape.pose.position = stn_vec3_make(0.2 * i, 0.25, 0.0);
        assert_ok(stn_builder_add_geometry(stn_world_builder(world), STN_WORLD, &shape, &id, &err), err);
    }
    int32_t controller = scene_controller(world, robot, "differential_ik", NULL);
    const double goal[2][3] = {{1.0, 0.0, 0.0}, {0.2, 0.0, 0.0}};
    long long before = 0;
    for (int32_t i = 0; i < 4; i++) { // there and back once before it counts
        before = i == 2 ? atomic_load(&requests) : before;
        assert_ok(stn_world_set_reference(world, controller, "position", goal[i % 2], 3, &err), err);
        scene_steps(world, 2000);
        assert_near(stn_world_state(world)->q[0], goal[i % 2][0], 0.1);
    }
    assert_int_equal(atomic_load(&requests) - before, 0);
    stn_world_destroy(world);
    stn_context_destroy(context);
#else
    skip();
#endif
}

/// Cubes ride on a plate that is told to shake, and what begins and ends is asked for.
static void a_kinematic_plate_and_events_allocate_nothing(void **state) {
    (void)state;
#if COUNTING
    enum { CUBES = 200, WARM_UP = 150, STEPS = 150 };
    stn_context *context = NULL;
    stn_error err;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    stn_world_options options = stn_world_options_default();
    stn_world *world = scene_world(context, &options);
    stn_geometry_spec shape = stn_geometry_spec_default(stn_shape_box(stn_vec3_make(20.0, 20.0, 0.1)));
    int32_t plate = scene_body(world, "plate", 1.0, &shape, stn_vec3_make(0.0, 0.0, -0.1));
    assert_ok(stn_builder_make_kinematic(stn_world_builder(world), plate, &err), err);
    for (int32_t i = 0; i < CUBES; i++) {
        char name[16];
        snprintf(name, sizeof name, "cube%d", i);
        scene_cube(world, name, 1.0, stn_vec3_make(0.5 * (i % 20), 0.5 * (i / 20), 0.1));
    }
    assert_ok(stn_world_compile(world, &err), err);
    long long before = 0;
    int32_t events = 0;
    for (int32_t i = 0; i < WARM_UP + STEPS; i++) {
        double dt = options.dt, w = 40.0, h = 0.01, t = (i + 1) * dt; // h w^2 = 16 m/s^2: they leave it at times
        stn_pose pose = stn_pose_identity();
        stn_vec3 linear = {0.0, 0.0, h * w * cos(w * t)}, none = {0.0, 0.0, 0.0};
        stn_contact_events happened;
        pose.position.z = -0.1 + h * sin(w * t);
        before = i == WARM_UP ? atomic_load(&requests) : before;
        assert_ok(stn_world_set_kinematic(world, 1, &pose, &linear, &none, &err), err);
        scene_steps(world, 1);
        assert_ok(stn_world_contact_events(world, &happened, &err), err);
        events += i >= WARM_UP ? happened.begun_count + happened.ended_count : 0;
    }
    assert_int_equal(atomic_load(&requests) - before, 0);
    assert_true(events > CUBES);
    stn_world_destroy(world);
    stn_context_destroy(context);
#else
    skip();
#endif
}

/// Balls that roll over the ground into each other: the number of pairs and contacts goes up and down from step to
/// step.
static void a_thousand_moving_bodies_allocate_nothing(void **state) {
    (void)state;
#if COUNTING
    enum { BODIES = 1000, SIDE = 32, WARM_UP = 150, STEPS = 100 };
    stn_context *context = NULL;
    stn_error err;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    stn_world_options options = stn_world_options_default();
    stn_world *world = scene_world(context, &options);
    scene_ground(world);
    for (int32_t i = 0; i < BODIES; i++) {
        char name[16];
        snprintf(name, sizeof name, "ball%d", i);
        scene_ball(world, name, 1.0, 0.1, stn_vec3_make(0.24 * (i % SIDE), 0.24 * (i / SIDE), 0.1));
    }
    assert_ok(stn_world_compile(world, &err), err);
    stn_random r = {3};
    for (int32_t i = 0; i < BODIES; i++) {
        stn_vec3 v = {random_real(&r), random_real(&r), 0.0};
        assert_ok(stn_world_set_body_velocity(world, 1 + i, v, stn_vec3_make(-10.0 * v.y, 10.0 * v.x, 0.0), &err), err);
    }
    scene_steps(world, WARM_UP);
    long long before = atomic_load(&requests);
    int32_t fewest = INT32_MAX, most = 0;
    for (int32_t k = 0; k < STEPS; k++) {
        scene_steps(world, 1);
        int32_t contacts = stn_world_observation(world)->report->contact_count;
        fewest = contacts < fewest ? contacts : fewest;
        most = contacts > most ? contacts : most;
    }
    assert_int_equal(atomic_load(&requests) - before, 0);
    assert_true(fewest > BODIES && most > fewest);
    stn_world_destroy(world);
    stn_context_destroy(context);
#else
    skip();
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_steady_step_allocates_nothing),
                                       cmocka_unit_test(a_blend_allocates_nothing),
                                       cmocka_unit_test(keeping_clear_allocates_nothing),
                                       cmocka_unit_test(a_kinematic_plate_and_events_allocate_nothing),
                                       cmocka_unit_test(a_thousand_moving_bodies_allocate_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
