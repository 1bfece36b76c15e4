// SPDX-License-Identifier: Apache-2.0
// Recordings and capsules of a stranger: what they say is data. Whatever plugin they name, no file is opened for it.
#define _GNU_SOURCE // mkdtemp
#include "scenes.h"

#include <string.h>
#include <unistd.h>

#include "stn_tape.h"

/// A shared object that makes a file named by STN_MARK when it is opened, as "./e" in the current folder: any name
/// does.
static char folder[] = "/tmp/stn_hostile_XXXXXX";
static const char *const mark = "mark";

static int set_up(void **state) {
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(symlink(MARK_FILE, "e"), 0);
    assert_int_equal(setenv("STN_MARK", mark, 1), 0);
    return scene_setup(state);
}

static int tear_down(void **state) {
    unlink("e");
    unlink(mark);
    assert_int_equal(chdir("/"), 0);
    rmdir(folder);
    return scene_teardown(state);
}

static void seal(unsigned char *block, size_t size) {
    uint64_t checksum = stn_hash(0, block, size - 8);
    memcpy(block + size - 8, &checksum, 8);
}

/// A text of a block with its length before it, the n-th of those that are equal.
static unsigned char *text_at(unsigned char *bytes, size_t size, const char *text, int32_t n) {
    char framed[128];
    uint32_t length = (uint32_t)strlen(text) + 1;
    memcpy(framed, &length, sizeof length);
    memcpy(framed + sizeof length, text, length);
    for (size_t i = 0; i + sizeof length + length <= size; i++) {
        if (memcmp(bytes + i, framed, sizeof length + length) == 0 && n-- == 0) {
            return bytes + i + sizeof length;
        }
    }
    return NULL;
}

static tape *recorded(stn_context *context, const stn_world_options *options) {
    stn_world *world = scene_world(context, options);
    scene_ground(world);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.1));
    tape *t = tape_record(world);
    for (int32_t i = 0; i < 20; i++) {
        stn_error err;
        assert_true(stn_world_step(world, &err) >= 0);
    }
    stn_world_destroy(world);
    return t;
}

static void assert_refused(stn_context *context, const tape *t, const char *why) {
    stn_replay *replay = NULL;
    stn_error err;
    assert_int_equal(stn_replay_create(context, t->run, t->run_size, NULL, &replay, &err), STN_ERR_PLUGIN);
    if (strstr(err.text, why) == NULL) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(access(mark, F_OK), -1);
}

static void a_recorded_id_that_is_a_path_is_not_opened(void **state) {
    stn_world_options options = stn_world_options_default();
    options.solver.id = options.law.id = "sap";
    for (int32_t i = 0; i < 2; i++) { // the solver's, then the law's
        tape *t = recorded(*state, &options);
        unsigned char *id = text_at(t->run, t->run_size, "sap", i);
        assert_non_null(id);
        memcpy(id, "./e", 3);
        seal(t->run, t->run_size);
        assert_refused(*state, t, i == 0 ? "solver ./e" : "law ./e");
        tape_drop(t);
    }
}

/// Parameters that name plugins hold ids as well, whoever writes them.
static void a_parameter_that_is_a_path_is_not_opened(void **state) {
    const stn_setting chain = {.name = "chain", .form = STN_SETTING_TEXT, .text = "./e:300"},
                      fallback = {.name = "fallback", .form = STN_SETTING_TEXT, .text = "./e"};
    stn_instance *instance = NULL;
    stn_error err;
    assert_true(stn_instance_create(*state, STN_KIND_SOLVER, "auto", &chain, 1, &instance, &err) < 0);
    if (strstr(err.text, "./e") == NULL) {
        fail_msg("%s", err.text);
    }
    assert_true(
        stn_instance_create(*state, STN_KIND_CONTACT, "hydroelastic_with_fallback", &fallback, 1, &instance, &err) < 0);
    if (strstr(err.text, "./e") == NULL) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(access(mark, F_OK), -1);
}

/// Recorded with a plugin that was named by its file: the recording holds its id and version, not where it was.
static void a_plugin_by_its_file_is_asked_for_by_id_and_version(void **state) {
    stn_world_options options = stn_world_options_default();
    stn_context *own = NULL, *other = NULL;
    stn_error err;
    assert_ok(stn_context_create(NULL, &own, &err), err);
    assert_ok(stn_plugin_load(own, STN_KIND_INTEGRATOR, MIDSTEP_FILE, &err), err);
    options.integrator.id = MIDSTEP_FILE;
    tape *t = recorded(own, &options);
    assert_null(text_at(t->run, t->run_size, MIDSTEP_FILE, 0));
    (void)tape_play(own, t); // fails the test when a step differs
    assert_refused(*state, t, "it was recorded with integrator fake_midstep 0");
    assert_refused(*state, t, "name the folder of its file by STICTION_PLUGIN_PATH");

    assert_ok(stn_context_create(&(stn_context_options){.plugin_path = MIDSTEP_FOLDER}, &other, &err), err);
    (void)tape_play(other, t);
    stn_context_destroy(other);

    assert_ok(stn_context_create(NULL, &other, &err), err); // or its file again, which is no other plugin
    assert_ok(stn_plugin_load(other, STN_KIND_INTEGRATOR, MIDSTEP_FILE, &err), err);
    stn_replay_options wanted = {.plugin = {[STN_KIND_INTEGRATOR] = {.id = MIDSTEP_FILE}}};
    stn_replay *replay = tape_replay(other, t, &wanted);
    size_t used = 0;
    for (int32_t i = 0; i < t->count; i++) {
        stn_replay_difference d;
        assert_true(stn_replay_step(replay, t->steps + t->start[i], t->steps_size - t->start[i], &used, &d, &err) >= 0);
        assert_false(d.differs);
    }
    stn_replay_destroy(replay);
    stn_context_destroy(other);
    stn_context_destroy(own);
    tape_drop(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_recorded_id_that_is_a_path_is_not_opened),
                                       cmocka_unit_test(a_parameter_that_is_a_path_is_not_opened),
                                       cmocka_unit_test(a_plugin_by_its_file_is_asked_for_by_id_and_version)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
