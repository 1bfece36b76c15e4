// SPDX-License-Identifier: Apache-2.0
// A step that failed, kept in a file: the world in it is the one before the step, to the last bit, and fails the same
// way.
#include "scenes.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stiction/replay.h>

static char path[64];

/// A cube, and a slider under PD, after 50 steps; then a force beyond what numbers hold, and the step that fails of it.
static stn_world *failed_world(stn_context *context, stn_error *why) {
    stn_world_options options = stn_world_options_default();
    stn_world *world = scene_world(context, &options);
    stn_error err;
    scene_ground(world);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.12));
    int32_t slider = scene_slider(world, "slider", NULL);
    int32_t pd = scene_controller(world, slider, "joint_pd", "kp", 50.0, "kd", 1.0, NULL);
    double target = 0.2;
    assert_ok(stn_world_set_reference(world, pd, "position", &target, 1, &err), err);
    scene_steps(world, 50);
    assert_ok(stn_world_set_wrench(world, 1, stn_vec3_make(1e200, 0.0, 0.0), stn_vec3_make(0.0, 0.0, 0.0),
                                   stn_vec3_make(0.0, 0.0, 0.1), &err),
              err);
    assert_true(stn_world_step(world, why) < 0);
    return world;
}

static void the_step_can_be_made_again(void **state) {
    stn_error why, again, err;
    stn_world *world = failed_world(*state, &why), *kept = NULL;
    assert_non_null(strstr(why.text, "; the fastest without contact is cube, joint cube_floating, at 2e+197 a second"));
    assert_ok(stn_world_save_capsule(world, &why, path, &err), err);
    assert_ok(stn_capsule_load(*state, path, NULL, &kept, &err), err);
    assert_true(stn_world_hash(world) == stn_world_hash(kept));
    assert_int_equal(stn_world_step(kept, &again), why.status);
    assert_string_equal(again.text, why.text);
    stn_vec3 zero = stn_vec3_make(0.0, 0.0, 0.0);
    stn_world *both[2] = {world, kept};
    for (int32_t i = 0; i < 2; i++) { // without what was too much, both go on as one
        assert_ok(stn_world_set_wrench(both[i], 1, zero, zero, zero, &err), err);
        scene_steps(both[i], 20);
    }
    assert_true(stn_world_hash(world) == stn_world_hash(kept));
    stn_world_destroy(kept);
    stn_world_destroy(world);
}

static void other_plugins_and_settings_are_taken(void **state) {
    stn_error why, err;
    stn_world *world = failed_world(*state, &why), *kept = NULL;
    assert_ok(stn_world_save_capsule(world, &why, path, &err), err);
    const stn_setting loose = {.name = "tolerance", .form = STN_SETTING_NUMBER, .number = 0.125, .where = "test"};
    stn_replay_options options = {.threads = 2,
                                  .plugin = {[STN_KIND_SOLVER] = {.settings = &loose, .setting_count = 1}}};
    assert_ok(stn_capsule_load(*state, path, &options, &kept, &err), err);
    assert_non_null(strstr(stn_world_parameters(kept), "solver.tolerance = 0.125"));
    stn_world_destroy(kept);
    options.plugin[STN_KIND_LAW].id = "no_such_law";
    assert_int_equal(stn_capsule_load(*state, path, &options, &kept, &err), STN_ERR_PLUGIN);
    assert_non_null(strstr(err.text, "no_such_law"));
    assert_null(kept);
    stn_world_destroy(world);
}

static void its_contact_problem_is_there_when_the_step_came_so_far(void **state) {
    stn_error why, err;
    stn_world *world = failed_world(*state, &why);
    stn_problem_owner *owner = NULL;
    assert_ok(stn_world_save_capsule(world, &why, path, &err), err);
    assert_ok(stn_problem_load(*state, path, &owner, &err), err);
    assert_int_equal(stn_problem_of(owner)->nv, 7);
    assert_true(stn_problem_of(owner)->constraint_count >= 4);
    stn_problem_destroy(owner);
    assert_ok(stn_world_set_dt(world, 1e150, &err), err); // v* becomes infinite before there is a problem
    assert_true(stn_world_step(world, &why) < 0);
    assert_ok(stn_world_save_capsule(world, &why, path, &err), err);
    assert_int_equal(stn_problem_load(*state, path, &owner, &err), STN_ERR_PARSE);
    assert_non_null(strstr(err.text, "this capsule holds no contact problem"));
    stn_world_destroy(world);
}

static void damage_and_places_that_cannot_be_written_are_said(void **state) {
    stn_error why, err;
    stn_world *world = failed_world(*state, &why), *kept = NULL;
    assert_int_equal(stn_world_save_capsule(world, &why, "/nowhere/x.json", &err), STN_ERR_FILE);
    assert_ok(stn_world_save_capsule(world, &why, path, &err), err);
    FILE *file = fopen(path, "rb+");
    char start[4096];
    size_t size = fread(start, 1, sizeof start - 1, file);
    start[size] = '\0';
    char *run = strstr(start, "\"run\": \"");
    assert_non_null(run);
    assert_int_equal(fseek(file, (long)(run - start) + 1000, SEEK_SET), 0);
    assert_int_equal(fputs("zzzzzzzz", file) >= 0, 1);
    fclose(file);
    assert_int_equal(stn_capsule_load(*state, path, NULL, &kept, &err), STN_ERR_PARSE);
    assert_null(kept);
    assert_int_equal(strncmp(err.text, path, strlen(path)), 0);
    stn_world_destroy(world);
}

/// A pipe that nobody writes would keep the reader for ever, a device give it bytes without end.
static void what_is_no_file_is_refused_at_once(void **state) {
    stn_world *kept = NULL;
    stn_problem_owner *owner = NULL;
    stn_error err = {0};
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    const char *const paths[] = {path, "/dev/zero", "/dev/null"};
    for (int32_t i = 0; i < STN_COUNT(paths); i++) {
        assert_int_equal(stn_capsule_load(*state, paths[i], NULL, &kept, &err), STN_ERR_FILE);
        assert_non_null(strstr(err.text, "cannot be read: it is no regular file"));
        assert_int_equal(stn_problem_load(*state, paths[i], &owner, &err), STN_ERR_FILE);
        assert_non_null(strstr(err.text, "cannot be read: it is no regular file"));
    }
}

static int setup(void **state) {
    snprintf(path, sizeof path, "/tmp/stiction_capsule_%d.json", (int)getpid());
    return scene_setup(state);
}

static int teardown(void **state) {
    unlink(path);
    return scene_teardown(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_step_can_be_made_again),
                                       cmocka_unit_test(other_plugins_and_settings_are_taken),
                                       cmocka_unit_test(its_contact_problem_is_there_when_the_step_came_so_far),
                                       cmocka_unit_test(damage_and_places_that_cannot_be_written_are_said),
                                       cmocka_unit_test(what_is_no_file_is_refused_at_once)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
