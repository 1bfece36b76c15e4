// SPDX-License-Identifier: Apache-2.0
// Steps that run out of memory while contacts become more: nothing of the state may change, and going on gives the
// same.
#include "scenes.h"
#include "stn_heap.h"

enum { BALLS = 150, STEPS = 12 }; // more contacts than the first contact cache and its index hold

/// Balls that land one after the other, far enough apart not to touch each other.
static stn_world *falling_balls(stn_context *context) {
    stn_world_options options = stn_world_options_default();
    options.dt = 0.01;
    stn_world *world = scene_world(context, &options);
    scene_ground(world);
    for (int32_t i = 0; i < BALLS; i++) {
        char name[16];
        snprintf(name, sizeof name, "ball%d", i);
        scene_ball(world, name, 1.0, 0.1, stn_vec3_make(0.3 * (i % 15), 0.3 * (i / 15), 0.1 + 5e-5 * i));
    }
    return world;
}

/// All steps but the first, with one request for memory failing. Is there such a request?
static bool run_with_failure(stn_context *context, stn_heap *heap, long long fail_at, uint64_t expected, int *failed) {
    stn_world *world = falling_balls(context);
    scene_steps(world, 1); // completes the model
    stn_error err;
    stn_heap_arm(heap, fail_at);
    for (int32_t i = 1; i < STEPS; i++) {
        uint64_t before = stn_world_hash(world);
        stn_status status = stn_world_step(world, &err);
        if (status == STN_ERR_MEMORY) {
            assert_int_equal(stn_world_hash(world), before);
            (*failed)++;
            status = stn_world_step(world, &err);
        } // else none failed, or one whose lack costs time alone (a pattern that is not remembered)
        assert_ok(status, err);
    }
    bool reached = heap->requests >= fail_at;
    heap->fail_at = 0;
    assert_int_equal(stn_world_hash(world), expected);
    stn_world_destroy(world);
    return reached;
}

static void a_step_without_memory_changes_nothing(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    stn_world *easy = falling_balls(context);
    scene_steps(easy, STEPS);
    assert_true(stn_world_observation(easy)->report->contact_count > 128);
    uint64_t expected = stn_world_hash(easy);
    stn_world_destroy(easy);
    int failed = 0;
    for (long long n = 1; run_with_failure(context, &heap, n, expected, &failed); n++) {
    }
    assert_true(failed > 0);
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_step_without_memory_changes_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
