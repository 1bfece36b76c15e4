// SPDX-License-Identifier: Apache-2.0
// A step that failed, kept in a file: the world in it is the one before the step, to the last bit, and fails the same
// way.
#include "scenes.h"

#include <stdio.h>
#include <stdlib.h>
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

typedef enum fault { FAILS, FAILS_LATE, HALF_AN_OBJECT, TWO_OBJECTS, TEXT_BEHIND, WRONG_BRACKET, NOTHING } fault;

static fault present;

static bool recognises_none(const char *bytes, size_t size) {
    (void)bytes;
    (void)size;
    return false;
}

static stn_status read_none(void *self, const stn_problem_source *source, stn_problem *out, stn_error *err) {
    (void)self;
    (void)source;
    (void)out;
    return stn_fail(err, STN_ERR_PARSE, "nothing is read");
}

static stn_status write_badly(void *self, const stn_problem_sink *sink, const stn_problem *problem, stn_error *err) {
    static const char *const texts[] = {"", "{ \"a\": [1, 2", "{ \"a\": [\"", "{ }, \"run\": { }", "{ }x", "{ ]", ""};
    (void)self;
    (void)problem;
    sink->put(sink, texts[present], strlen(texts[present]));
    return present <= FAILS_LATE ? stn_fail(err, STN_ERR_NUMERIC, "no number will do") : STN_OK;
}

/// The run is worth more than the problem: the writer of that may fail as it likes.
static void a_writer_that_fails_costs_the_problem_alone(void **state) {
    static const char *const extensions[] = {"bad", NULL}, *const formats[] = {STN_PROBLEM_FORMAT, NULL};
    static const stn_problem_file_ops ops = {.size = sizeof ops,
                                             .extensions = extensions,
                                             .recognises = recognises_none,
                                             .read = read_none,
                                             .formats = formats,
                                             .write = write_badly};
    static const stn_plugin_desc bad = {.size = sizeof bad,
                                        .kind = STN_KIND_PROBLEM_FILE,
                                        .id = "a_bad_one", // asked first
                                        .version = "1",
                                        .summary = "fails",
                                        .ops = {.problem_file = &ops}};
    stn_context *context = NULL;
    stn_error why, again, err;
    (void)state;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    assert_ok(stn_plugin_register(context, &bad, &err), err);
    stn_world *world = failed_world(context, &why);
    for (int32_t i = FAILS; i <= NOTHING; i++) {
        stn_world *kept = NULL;
        stn_problem_owner *owner = NULL;
        present = (fault)i;
        assert_ok(stn_world_save_capsule(world, &why, path, &err), err);
        assert_ok(stn_capsule_load(context, path, NULL, &kept, &err), err);
        assert_true(stn_world_hash(world) == stn_world_hash(kept));
        assert_int_equal(stn_world_step(kept, &again), why.status);
        assert_int_equal(stn_problem_load(context, path, &owner, &err), STN_ERR_PARSE);
        assert_non_null(strstr(err.text, "this capsule holds no contact problem"));
        stn_world_destroy(kept);
    }
    stn_world_destroy(world);
    stn_context_destroy(context);
}

/// Whatever else wrote the file anew: a byte order mark, and escapes where none is needed.
static void json_of_other_writers_is_read(void **state) {
    stn_error why, err;
    stn_world *world = failed_world(*state, &why), *kept = NULL;
    assert_ok(stn_world_save_capsule(world, &why, path, &err), err);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size_t size = (size_t)ftell(file), slashes = 0;
    rewind(file);
    char *text = calloc(size + 1, 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, size, file), size);
    fclose(file);
    char *key = strstr(text, "\"run\"");
    assert_non_null(key);
    file = fopen(path, "wb");
    assert_non_null(file);
    fputs("\xEF\xBB\xBF", file);
    for (const char *c = text; *c != '\0'; c++) {
        if (c == key + 1) {
            fputs("\\u0072", file); // r
        } else {
            fputs(*c == '/' ? "\\" : "", file);
            slashes += *c == '/';
            fputc(*c, file);
        }
    }
    fclose(file);
    free(text);
    assert_true(slashes > 0);
    assert_ok(stn_capsule_load(*state, path, NULL, &kept, &err), err);
    assert_true(stn_world_hash(world) == stn_world_hash(kept));
    stn_world_destroy(kept);
    stn_problem_owner *owner = NULL;
    assert_ok(stn_problem_load(*state, path, &owner, &err), err);
    stn_problem_destroy(owner);
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
                                       cmocka_unit_test(a_writer_that_fails_costs_the_problem_alone),
                                       cmocka_unit_test(json_of_other_writers_is_read),
                                       cmocka_unit_test(damage_and_places_that_cannot_be_written_are_said),
                                       cmocka_unit_test(what_is_no_file_is_refused_at_once)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
