// SPDX-License-Identifier: Apache-2.0
// Another integrator between steps: whatever was before, from one state on a world makes the steps of one that was made
// with it; nobody else's integrator changes, and what fails changes nothing.
#include "scenes.h"

#include <string.h>

#include "stn_heap.h"

enum { STEPS = 12 };

static const stn_setting mass = {.name = "unactuated_mass_scale", .form = STN_SETTING_NUMBER, .number = 1.0};
static const stn_plugin_choice quasistatic = {"quasistatic", &mass, 1}, euler = {.id = "symplectic_euler"},
                               midstep = {.id = MIDSTEP_FILE}, standard = {0};

static void drive(stn_world *world) {
    const double target = 0.05;
    stn_error err;
    assert_ok(stn_world_set_reference(world, 0, "position", &target, 1, &err), err);
}

/// A cube lies on the ground, a ball falls, a carriage is driven by a spring with a limit.
static stn_world *busy_world(stn_context *context, const stn_plugin_choice *integrator) {
    stn_world_options options = stn_world_options_default();
    options.integrator = *integrator;
    options.margin = 0.01;
    stn_world *world = scene_world(context, &options);
    scene_ground(world);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.0998));
    scene_ball(world, "ball", 1.0, 0.1, stn_vec3_make(1.0, 0.0, 0.11));
    stn_joint_spec rail = stn_joint_spec_default("slide", STN_JOINT_PRISMATIC);
    rail.effort = 30.0;
    int32_t slider = scene_slider(world, "slider", &rail);
    scene_controller(world, slider, "joint_pd", "kp", 500.0, "kd", 5.0, NULL);
    drive(world);
    return world;
}

static void set(stn_world *world, const stn_plugin_choice *integrator) {
    stn_error err;
    assert_ok(stn_world_set_integrator(world, integrator, &err), err);
}

static const char *integrator_of(const stn_world *world) {
    return stn_world_plugin(world, STN_KIND_INTEGRATOR)->desc->id;
}

static stn_context *context_with_midstep(stn_heap *heap) {
    stn_context *context = stn_heap_context(heap);
    stn_error err;
    assert_ok(stn_plugin_load(context, STN_KIND_INTEGRATOR, MIDSTEP_FILE, &err), err);
    return context;
}

/// What the fake counts in its memory.
static int64_t counted(const stn_world *world) {
    int64_t count;
    assert_int_equal(stn_world_state(world)->sizes.integrator_bytes, sizeof count);
    memcpy(&count, stn_world_state(world)->integrator_memory, sizeof count);
    return count;
}

// -------------------------------------------------------------------------------------------------------------- steps

/// Of every pair: made with the one, some steps, reset, then the other; against a world that was made with the other.
static void from_one_state_the_steps_are_those_of_a_world_made_so(void **state) {
    stn_heap *heap = *state;
    stn_context *context = context_with_midstep(heap);
    const stn_plugin_choice *all[] = {&euler, &quasistatic, &midstep, &(stn_plugin_choice){.id = "midpoint"}};
    uint64_t made[STN_COUNT(all)];
    for (int32_t i = 0; i < STN_COUNT(all); i++) {
        stn_world *world = busy_world(context, all[i]);
        scene_steps(world, STEPS);
        made[i] = stn_world_hash(world);
        stn_world_destroy(world);
    }
    for (int32_t i = 0; i < STN_COUNT(all); i++) {
        for (int32_t k = 0; k < STN_COUNT(all); k++) {
            stn_world *world = busy_world(context, all[i]);
            scene_steps(world, 5);
            stn_world_reset(world);
            drive(world);
            set(world, all[k]);
            scene_steps(world, STEPS);
            assert_true(stn_world_hash(world) == made[k]);
            stn_world_reset(world); // to the integrator of the first step
            drive(world);
            scene_steps(world, STEPS);
            assert_true(stn_world_hash(world) == made[i]);
            stn_world_destroy(world);
            assert_true(i == k || made[i] != made[k]);
        }
    }
    stn_context_destroy(context);
    assert_int_equal(heap->live, 0);
}

/// To another one and back with no step between is nothing at all.
static void there_and_back_changes_no_bit(void **state) {
    stn_heap *heap = *state;
    stn_context *context = context_with_midstep(heap);
    stn_world *straight = busy_world(context, &euler), *world = busy_world(context, &euler);
    for (int32_t i = 0; i < STEPS; i++) {
        set(world, i % 2 == 0 ? &quasistatic : &midstep);
        set(world, &standard);
        scene_steps(world, 1);
        scene_steps(straight, 1);
        assert_true(stn_world_hash(world) == stn_world_hash(straight));
        assert_string_equal(stn_world_parameters(world), stn_world_parameters(straight));
    }
    stn_world_destroy(world);
    stn_world_destroy(straight);
    stn_context_destroy(context);
    assert_int_equal(heap->live, 0);
}

/// Before compiling and before the first step it is the one of the start.
static void before_the_first_step_it_is_that_of_the_start(void **state) {
    stn_heap *heap = *state;
    stn_context *context = context_with_midstep(heap);
    stn_error err;
    for (int32_t when = 0; when < 2; when++) {
        stn_world_options options = stn_world_options_default();
        stn_world *world = scene_world(context, &options);
        scene_slider(world, "slider", NULL);
        if (when == 1) {
            assert_ok(stn_world_compile(world, &err), err);
        }
        set(world, &quasistatic);
        set(world, &midstep);
        assert_string_equal(integrator_of(world), "fake_midstep");
        assert_non_null(strstr(stn_world_parameters(world), "integrator = fake_midstep\n"));
        assert_null(strstr(stn_world_parameters(world), "quasistatic"));
        scene_controller(world, 0, "joint_pd", NULL); // takes the state of now for that of the start
        assert_non_null(strstr(stn_world_parameters(world), "controller.1 = joint_pd\n"));
        scene_steps(world, 3);
        assert_int_equal(counted(world), 3);
        set(world, &euler);
        assert_int_equal(stn_world_state(world)->sizes.integrator_bytes, 0);
        assert_non_null(strstr(stn_world_parameters(world), "integrator = symplectic_euler\n"));
        assert_non_null(strstr(stn_world_parameters(world), "controller.1 = joint_pd\n"));
        scene_steps(world, 1);
        stn_world_reset(world);
        assert_string_equal(integrator_of(world), "fake_midstep");
        assert_int_equal(counted(world), 0);
        scene_steps(world, 2);
        assert_int_equal(counted(world), 2);
        set(world, &midstep); // begins anew
        assert_int_equal(counted(world), 0);
        stn_world_destroy(world);
    }
    stn_context_destroy(context);
    assert_int_equal(heap->live, 0);
}

// ------------------------------------------------------------------------------------------------------------- clones

static void clones_keep_theirs(void **state) {
    stn_heap *heap = *state;
    stn_context *context = context_with_midstep(heap);
    stn_world *first = busy_world(context, &euler), *straight = busy_world(context, &euler), *second, *third;
    stn_error err;
    scene_steps(first, 3);
    scene_steps(straight, 3);
    assert_ok(stn_world_clone(first, &second, &err), err);
    set(second, &midstep);
    assert_ok(stn_world_clone(second, &third, &err), err);
    assert_string_equal(integrator_of(first), "symplectic_euler");
    assert_string_equal(integrator_of(second), "fake_midstep");
    assert_string_equal(integrator_of(third), "fake_midstep");
    scene_steps(first, STEPS);
    scene_steps(straight, STEPS);
    scene_steps(second, STEPS);
    assert_true(stn_world_hash(first) == stn_world_hash(straight));
    assert_true(stn_world_hash(second) != stn_world_hash(straight));
    stn_world_destroy(first); // whichever goes first
    set(third, &quasistatic);
    scene_steps(second, 1);
    stn_world_destroy(second);
    scene_steps(third, 1);
    stn_world_reset(third);
    assert_string_equal(integrator_of(third), "symplectic_euler");
    scene_steps(third, 3);
    stn_world_destroy(third);
    stn_world_destroy(straight);
    stn_context_destroy(context);
    assert_int_equal(heap->live, 0);
}

/// However often a world changes its integrator while clones come and go, it holds one setup at a time.
static void setups_do_not_pile_up(void **state) {
    stn_heap *heap = *state;
    stn_context *context = context_with_midstep(heap);
    stn_world *world = busy_world(context, &euler), *clone;
    stn_error err;
    long long live = 0;
    for (int32_t i = 0; i < 20; i++) {
        assert_ok(stn_world_clone(world, &clone, &err), err);
        set(world, i % 2 == 0 ? &midstep : &quasistatic);
        set(clone, i % 2 == 0 ? &quasistatic : &euler);
        scene_steps(world, 1);
        scene_steps(clone, 1);
        stn_world_destroy(clone);
        if (i == 3) {
            live = heap->live;
        }
        assert_true(i < 3 || i % 2 == 0 || heap->live == live);
    }
    stn_world_destroy(world);
    stn_context_destroy(context);
    assert_int_equal(heap->live, 0);
}

// ---------------------------------------------------------------------------------------------------------- snapshots

/// In its world and in another one; from a file, and in a world of another context, the integrator has to be there.
static void a_snapshot_brings_its_integrator_back(void **state) {
    stn_heap *heap = *state;
    const char *path = STN_BINARY_DIR "/test_integrator.state";
    stn_context *context = context_with_midstep(heap), *other_context = context_with_midstep(heap);
    stn_world *world = busy_world(context, &euler), *other = busy_world(context, &quasistatic);
    stn_world *far = busy_world(other_context, &euler);
    stn_snapshot *snapshot = NULL, *loaded = NULL;
    stn_error err;
    scene_steps(world, 4);
    set(world, &midstep);
    scene_steps(world, 3);
    assert_ok(stn_world_snapshot(world, &snapshot, &err), err);
    assert_ok(stn_snapshot_save(snapshot, path, &err), err);
    assert_ok(stn_snapshot_load(context, path, &loaded, &err), err);
    scene_steps(world, STEPS);
    uint64_t expected = stn_world_hash(world);
    set(world, &euler);
    scene_steps(other, 1);
    const struct {
        stn_world *world;
        const stn_snapshot *snapshot;
        bool switches;
    } ways[] = {{world, snapshot, true},
                {other, snapshot, true},
                {other, snapshot, true},
                {far, snapshot, false},
                {world, loaded, false}};
    for (int32_t i = 0; i < STN_COUNT(ways); i++) {
        stn_world *w = ways[i].world;
        if (!ways[i].switches) {
            uint64_t hash = stn_world_hash(w);
            assert_int_equal(stn_world_restore(w, ways[i].snapshot, &err), STN_ERR_ARGUMENT);
            assert_string_equal(err.text, "restore: the state is one of integrator fake_midstep (8 bytes of its own), "
                                          "the world has symplectic_euler (0); choose that integrator first");
            assert_true(stn_world_hash(w) == hash);
            set(w, &midstep);
        }
        assert_ok(stn_world_restore(w, ways[i].snapshot, &err), err);
        assert_string_equal(integrator_of(w), "fake_midstep");
        assert_int_equal(counted(w), 3);
        scene_steps(w, STEPS);
        assert_true(stn_world_hash(w) == expected);
        stn_world_reset(w);
        assert_string_equal(integrator_of(w), w == other ? "quasistatic" : w == far ? "fake_midstep" : euler.id);
    }
    stn_snapshot_destroy(loaded);
    stn_snapshot_destroy(snapshot);
    stn_world_destroy(world);
    stn_world_destroy(other);
    stn_world_destroy(far);
    stn_context_destroy(context);
    stn_context_destroy(other_context);
    assert_int_equal(heap->live, 0);
}

// ------------------------------------------------------------------------------------------------------------ refusals

static void assert_refused(stn_world *world, const stn_plugin_choice *choice, const char *text) {
    stn_error err;
    uint64_t hash = stn_world_hash(world);
    const stn_instance *before = stn_world_plugin(world, STN_KIND_INTEGRATOR);
    assert_true(stn_world_set_integrator(world, choice, &err) < 0);
    if (strstr(err.text, text) == NULL || strchr(err.text, '\n') != NULL) {
        fail_msg("%s", err.text);
    }
    assert_ptr_equal(stn_world_plugin(world, STN_KIND_INTEGRATOR), before);
    assert_true(stn_world_hash(world) == hash);
}

static void what_is_refused_changes_nothing(void **state) {
    stn_heap *heap = *state;
    stn_context *context = context_with_midstep(heap);
    const stn_setting negative = {.name = "unactuated_mass_scale", .form = STN_SETTING_NUMBER, .number = -1.0};
    const stn_setting unknown = {.name = "mass_scale", .form = STN_SETTING_NUMBER, .number = 1.0};
    const stn_plugin_choice wrong[] = {{.id = "quasi"}, {"quasistatic", &negative, 1}, {"quasistatic", &unknown, 1}};
    const stn_plugin_choice law = {.id = "sap"};
    for (int32_t steps = -1; steps < 3; steps += 2) { // before compiling, then after
        stn_world *world = busy_world(context, &euler);
        if (steps > 0) {
            scene_steps(world, steps);
        }
        assert_refused(world, &wrong[0], "unknown integrator quasi; there are explicit_euler");
        assert_refused(world, &wrong[1], "unactuated_mass_scale = -1");
        assert_refused(world, &wrong[2], "unknown parameter mass_scale");
        assert_refused(world, &law, "sap");
        scene_steps(world, 1);
        stn_world_destroy(world);
    }
    stn_world_options options = stn_world_options_default();
    options.solver.id = "soft_step";
    stn_world *world = scene_world(context, &options);
    scene_ground(world);
    scene_ball(world, "ball", 1.0, 0.1, stn_vec3_make(0.0, 0.0, 0.1));
    assert_refused(world, &quasistatic,
                   "solver soft_step moves bodies by another velocity than they keep, and integrator quasistatic does "
                   "not do so");
    stn_error err;
    assert_true(stn_world_step(world, &err) >= 0);
    assert_refused(world, &quasistatic, "choose another integrator, such as symplectic_euler");
    stn_world_destroy(world);
    stn_context_destroy(context);
    assert_int_equal(heap->live, 0);
}

/// A controller of accelerations is refused while it acts, by name, and the step is not made.
static void a_controller_of_accelerations_is_refused_while_it_acts(void **state) {
    stn_heap *heap = *state;
    stn_context *context = context_with_midstep(heap);
    stn_world_options options = stn_world_options_default();
    stn_world *world = scene_world(context, &options);
    int32_t slider = scene_slider(world, "arm", NULL);
    int32_t torque = scene_controller(world, slider, "inverse_dynamics", NULL);
    int32_t pd = scene_controller(world, slider, "joint_pd", NULL);
    stn_error err;
    set(world, &quasistatic);
    uint64_t hash = stn_world_hash(world);
    for (int32_t i = 0; i < 2; i++) {
        assert_int_equal(stn_world_step(world, &err), STN_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.text, "controller inverse_dynamics of arm: "));
        assert_non_null(strstr(err.text, "integrator quasistatic"));
        assert_null(strchr(err.text, '\n'));
        assert_true(stn_world_hash(world) == hash);
    }
    set(world, &euler);
    scene_steps(world, 1);
    assert_ok(stn_world_activate_controller(world, torque, false, 0.0, &err), err);
    set(world, &quasistatic);
    scene_steps(world, 2); // joint_pd alone
    assert_ok(stn_world_activate_controller(world, pd, false, 0.0, &err), err);
    assert_ok(stn_world_activate_controller(world, torque, true, 0.1, &err), err);
    assert_int_equal(stn_world_step(world, &err), STN_ERR_UNSUPPORTED);
    stn_world_destroy(world);
    stn_context_destroy(context);
    assert_int_equal(heap->live, 0);
}

/// With each request for memory failing in turn: the world is as it was, or has the other integrator.
static void without_memory_nothing_changes(void **state) {
    stn_heap *heap = *state;
    stn_context *context = context_with_midstep(heap);
    bool done = false;
    for (int32_t way = 0; way < 4; way++, done = false) { // from none to some memory and back; restore; reset
        for (long long n = 1; !done; n++) {
            stn_world *world = busy_world(context, way == 1 ? &midstep : &euler), *clone;
            stn_snapshot *snapshot = NULL;
            stn_error err;
            scene_steps(world, way == 0 ? 0 : 3);
            assert_ok(stn_world_compile(world, &err), err);
            assert_ok(stn_world_snapshot(world, &snapshot, &err), err);
            if (way >= 2) {
                set(world, &midstep);
                scene_steps(world, 1);
            }
            assert_ok(stn_world_clone(world, &clone, &err), err);
            uint64_t hash = stn_world_hash(world);
            const stn_instance *before = stn_world_plugin(world, STN_KIND_INTEGRATOR);
            stn_heap_arm(heap, n);
            stn_status status = STN_OK;
            if (way < 2) {
                status = stn_world_set_integrator(world, way == 0 ? &midstep : &euler, &err);
            } else if (way == 2) {
                status = stn_world_restore(world, snapshot, &err);
            } else {
                stn_world_reset(world);
                status = stn_world_state(world)->step == 0 ? STN_OK : STN_ERR_MEMORY;
            }
            done = heap->requests < n;
            heap->fail_at = 0;
            assert_true(done ? status == STN_OK : status == STN_ERR_MEMORY || status == STN_OK);
            if (status != STN_OK && stn_world_plugin(world, STN_KIND_INTEGRATOR) == before) {
                assert_true(stn_world_hash(world) == hash);
            } else if (status != STN_OK) { // restoring may end with the integrator alone
                assert_int_equal(way, 2);
                assert_string_equal(integrator_of(world), "symplectic_euler");
            } else {
                assert_string_equal(integrator_of(world), way == 0 ? "fake_midstep" : "symplectic_euler");
            }
            scene_steps(world, 2);
            scene_steps(clone, 2);
            stn_world_reset(world);
            assert_string_equal(integrator_of(world),
                                way == 1 || (way == 0 && status == STN_OK) ? "fake_midstep" : "symplectic_euler");
            stn_snapshot_destroy(snapshot);
            stn_world_destroy(world);
            stn_world_destroy(clone);
        }
    }
    stn_context_destroy(context);
    assert_int_equal(heap->live, 0);
}

static int new_heap(void **state) {
    *state = calloc(1, sizeof(stn_heap));
    return *state == NULL;
}

static int free_heap(void **state) {
    free(*state);
    return 0;
}

int main(void) {
#define ON_A_HEAP(test) cmocka_unit_test_setup_teardown(test, new_heap, free_heap)
    const struct CMUnitTest tests[] = {
        ON_A_HEAP(from_one_state_the_steps_are_those_of_a_world_made_so),
        ON_A_HEAP(there_and_back_changes_no_bit),
        ON_A_HEAP(before_the_first_step_it_is_that_of_the_start),
        ON_A_HEAP(clones_keep_theirs),
        ON_A_HEAP(setups_do_not_pile_up),
        ON_A_HEAP(a_snapshot_brings_its_integrator_back),
        ON_A_HEAP(what_is_refused_changes_nothing),
        ON_A_HEAP(a_controller_of_accelerations_is_refused_while_it_acts),
        ON_A_HEAP(without_memory_nothing_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
