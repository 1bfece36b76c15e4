// SPDX-License-Identifier: Apache-2.0
// Sessions without the command: statistics, overrides, stopping, and running out of memory at any request.
#include <string.h>

#include "stn_heap.h"
#include "stn_test.h"

#include "common/session.h"

typedef struct fixture {
    stn_heap heap;
    stn_context *context;
    stn_session session;
    char script[64];
} fixture;

static void silent(void *user, stn_log_level level, const char *text) {
    (void)user;
    (void)level;
    (void)text;
}

static void write_script(fixture *f, const char *text) {
    FILE *file = fopen(f->script, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    if (f == NULL) {
        return -1;
    }
    stn_context_options options = stn_heap_options(&f->heap);
    options.log = silent;
    strcpy(f->script, "/tmp/stiction_session_XXXXXX.lua");
    close(mkstemps(f->script, 4));
    stn_error err = {0};
    assert_ok(stn_context_create(&options, &f->context, &err), err);
    stn_session_init(&f->session, f->context);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    stn_session_clear(&f->session);
    stn_context_destroy(f->context);
    unlink(f->script);
    bool clean = f->heap.live == 0;
    free(f);
    return clean ? 0 : -1;
}

static stn_status run(fixture *f, const char *text, stn_error *err) {
    write_script(f, text);
    return stn_session_run(&f->session, f->script, err);
}

/// Steps that took `values`.
static void fill(fixture *f, const double *values, int64_t count) {
    stn_samples *samples = &f->session.statistics.samples;
    samples->columns = STN_SAMPLE_COUNT;
    for (int64_t i = 0; i < count; i++) {
        double row[STN_SAMPLE_COUNT] = {[STN_SAMPLE_STEP_US] = values[i]};
        assert_true(stn_samples_add(f->context, samples, row));
    }
}

static void test_summaries_are_exact(void **state) {
    fixture *f = *state;
    stn_summary s;
    assert_true(stn_statistics_summary(f->context, &f->session.statistics, STN_SAMPLE_STEP_US, &s));
    assert_true(isnan(s.mean) && isnan(s.max));
    double values[200];
    for (int i = 0; i < 200; i++) {
        values[i] = (double)((i * 37) % 200) + 1.0; // 1 to 200, shuffled
    }
    fill(f, values, 200);
    assert_true(stn_statistics_summary(f->context, &f->session.statistics, STN_SAMPLE_STEP_US, &s));
    assert_near(s.mean, 100.5, 1e-12);
    assert_near(s.median, 100.5, 0.0);
    assert_near(s.p99, 198.0, 0.0); // the smallest with at least 99 % at or below it
    assert_near(s.max, 200.0, 0.0);
}

static void test_samples_that_do_not_apply_are_left_out(void **state) {
    fixture *f = *state;
    const double values[] = {3.0, (double)NAN, 1.0};
    stn_summary s;
    fill(f, values, 3);
    assert_true(stn_statistics_summary(f->context, &f->session.statistics, STN_SAMPLE_STEP_US, &s));
    assert_near(s.mean, 2.0, 0.0);
    assert_near(s.max, 3.0, 0.0);
}

static void test_energy_that_a_hand_gives_is_no_rise(void **state) {
    fixture *f = *state;
    stn_error err = {0};
    assert_ok(run(f,
                  "local w = require 'stiction'.world { dt = 1e-3, gravity = { 0, 0, 0 } }\n"
                  "local b = w:sphere { radius = 0.1, mass = 2 }\n"
                  "w:step() b:set_velocity { 3, 0, 0 } w:step() b:apply_force { force = { 1, 0, 0 } } w:step()\n",
                  &err),
              err);
    const stn_statistics *s = &f->session.statistics;
    assert_int_equal(s->samples.steps, 3);
    assert_near(s->energy_first, 0.0, 0.0);
    assert_near(s->energy_last, 0.5 * 2.0 * 3.0005 * 3.0005, 1e-9);
    assert_near(s->energy_rise, 0.0, 1e-6); // the force's work: F dt v at the mid velocity, to second order in dt
}

static void test_an_override_that_nobody_takes_is_an_error(void **state) {
    fixture *f = *state;
    stn_error err = {0};
    assert_ok(stn_session_set(&f->session, "masss=3", &err), err);
    assert_int_equal(run(f, "require 'stiction'.params { mass = 1 }\n", &err), STN_ERR_PARAMETER);
    assert_non_null(strstr(err.text, "did you mean 'mass'?"));
    assert_int_equal(stn_session_set(&f->session, "mass", &err), STN_ERR_ARGUMENT);
}

static void test_a_stopped_script_does_not_step(void **state) {
    fixture *f = *state;
    stn_error err = {0};
    stn_session_stop(&f->session);
    assert_int_equal(run(f, "local w = require 'stiction'.world {}\nw:sphere { radius = 1 }\nw:step()\n", &err),
                     STN_ERR_INTERRUPTED);
    assert_int_equal(f->session.statistics.samples.steps, 0);
}

/// Nothing of a run is left for the next one of the same instance: neither that it was stopped, nor how it ended.
static void test_a_language_runs_again(void **state) {
    static const char *const texts[] = {"local w = require 'stiction'.world {} w:step() os.exit(3)",
                                        "assert(false, 'no')", "while true do require 'stiction'.skip 'no' end",
                                        "local w = require 'stiction'.world {} w:step()\n"};
    fixture *f = *state;
    stn_error err = {0};
    stn_instance *language = NULL;
    assert_ok(stn_plugin_load(f->context, STN_KIND_SCRIPT, "lua", &err), err);
    assert_ok(stn_instance_create(f->context, STN_KIND_SCRIPT, "lua", NULL, 0, &language, &err), err);
    for (int i = 0; i < 2 * STN_COUNT(texts); i++) {
        stn_session session;
        stn_session_init(&session, f->context);
        write_script(f, texts[i % STN_COUNT(texts)]);
        stn_status status = stn_session_run_by(&session, language, f->script, &err);
        assert_int_equal(status, i % STN_COUNT(texts) == 1 ? STN_ERR_ARGUMENT : STN_OK);
        assert_int_equal(session.exit_status, i % STN_COUNT(texts) == 0 ? 3 : 0);
        assert_int_equal(session.asserted, i % STN_COUNT(texts) == 1);
        assert_int_equal(session.skipped != NULL, i % STN_COUNT(texts) == 2);
        assert_int_equal(session.statistics.samples.steps, i % STN_COUNT(texts) % 3 == 0);
        stn_session_clear(&session);
    }
    stn_instance_destroy(language);
}

static void test_a_skipped_script_leaves_its_reason(void **state) {
    fixture *f = *state;
    stn_error err = {0};
    assert_ok(run(f, "require 'stiction'.skip 'no data'\n", &err), err);
    assert_string_equal(f->session.skipped, "no data");
}

static const char everything[] =
    "local stn = require 'stiction'\n"
    "local p = stn.params { a = 1, b = 'text', c = stn.choice { 'x', 'y' } }\n"
    "local w = stn.world { dt = 0.01, solver = { 'sap', tolerance = 1e-6 } }\n"
    "w:ground { name = 'floor' }\n"
    "local b = w:box { size = { 0.1, 0.1, 0.1 }, xyz = { 0, 0, 0.049 }, velocity = { 0.1, 0, 0 } }\n"
    "w:compound { xyz = { 1, 0, 0.1 }, shapes = { { 'sphere', radius = 0.1 }, { 'box', size = { 0.1, 0.1, 0.1 } } } }\n"
    "w:contact_material { mu = 0.5 }\n"
    "for _ in w:run { steps = 3 } do end\n"
    "local s = w:snapshot()\n w:clone():step()\n w:plot('x', 1)\n w:restore(s)\n"
    "stn.check('c', { value = 1, limit = 2, unit = 'm' })\n stn.result('r', 1, 'm')\n w:close()\n";

/// Robots and meshes from files beside the script.
static const char from_files[] =
    "local stn = require 'stiction'\n"
    "local here = debug.getinfo(1, 'S').source:sub(2)\n"
    "local w = stn.world { dt = 0.01 }\n"
    "local arm = w:load { here .. '.urdf', fixed = true, joints = { j = 0.1 }, mu = 0.3 }\n"
    "local hand = w:load { here .. '.urdf' }\n"
    "local part = w:mesh { file = here .. '.obj', scale = 2 }\n"
    "arm:attach(hand, 'b')\n hand:attach(part, 'b', { xyz = { 0, 0, 1 } })\n"
    "w:compound { shapes = { { 'mesh', file = here .. '.obj' }, { 'ellipsoid', radii = { 1, 2, 3 } } } }\n"
    "w:step()\n arm:set_q { j = 0.2 }\n arm:diagnostics()\n hand:positions()\n"
    "assert(w:link(hand.name .. '/a'):parent() == arm:link 'b' and w:joint(hand.name .. '/j'):child())\n"
    "pcall(stn.check_robot, here .. '.urdf')\n w:close()\n";

static void write_beside(const fixture *f, const char *ending, const char *text) {
    char path[80];
    snprintf(path, sizeof path, "%s%s", f->script, ending);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void remove_beside(const fixture *f, const char *ending) {
    char path[80];
    snprintf(path, sizeof path, "%s%s", f->script, ending);
    unlink(path);
}

static void run_out_of_memory(fixture *f, const char *script) {
    stn_error err = {0};
    assert_ok(run(f, script, &err), err); // plugins are found and stay
    stn_session_clear(&f->session);
    long long live = f->heap.live, failures = 0;
    for (long long n = 1;; n += 1 + n / 40) { // every request at the beginning, then a spread
        stn_session_init(&f->session, f->context);
        stn_heap_arm(&f->heap, n);
        stn_status status = stn_session_run(&f->session, f->script, &err);
        bool reached = f->heap.requests >= n;
        stn_heap_arm(&f->heap, 0);
        stn_session_clear(&f->session);
        assert_int_equal(f->heap.live, live);
        if (!reached) {
            assert_int_equal(status, STN_OK);
            break;
        }
        failures += status < 0;
        assert_true(status >= 0 || strstr(err.text, "memory") != NULL);
    }
    assert_true(failures > 50);
    stn_session_init(&f->session, f->context);
}

// A list that is copied for every entry, or searched, would take many minutes here.
static void test_checks_and_results_cost_the_same_however_many_there_are(void **state) {
    enum { MANY = 400000 };
    fixture *f = *state;
    stn_error err = {0};
    assert_ok(run(f,
                  "local stn = require 'stiction'\n"
                  "for i = 1, 400000 do stn.check('claim ' .. i, i % 2 == 0) stn.result('result ' .. i, i, 'm') end\n"
                  "for i = 1, 400000 do stn.result('result ' .. i, -i, 'm') end\n",
                  &err),
              err);
    assert_int_equal(f->session.check_count, MANY);
    assert_int_equal(f->session.result_count, MANY);
    assert_int_equal(stn_session_failed_checks(&f->session), MANY / 2);
    for (int32_t i = 0; i < MANY; i++) {
        assert_near(f->session.results[i].value, -1.0 - i, 0.0);
    }
    assert_string_equal(f->session.results[MANY - 1].name, "result 400000");
    assert_string_equal(f->session.checks[MANY - 1].name, "claim 400000");
}

static void test_running_out_of_memory_is_an_error_and_leaks_nothing(void **state) {
    run_out_of_memory(*state, everything);
}

static void test_running_out_of_memory_with_robots_and_meshes_leaks_nothing(void **state) {
    fixture *f = *state;
    write_beside(f, ".obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n");
    write_beside(f, ".urdf",
                 "<robot name=\"r\"><link name=\"a\"/><link name=\"b\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" "
                 "iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link><joint name=\"j\" "
                 "type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/></joint></robot>");
    run_out_of_memory(f, from_files);
    remove_beside(f, ".obj");
    remove_beside(f, ".urdf");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_summaries_are_exact, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_samples_that_do_not_apply_are_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_energy_that_a_hand_gives_is_no_rise, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_an_override_that_nobody_takes_is_an_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_stopped_script_does_not_step, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_language_runs_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_skipped_script_leaves_its_reason, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_checks_and_results_cost_the_same_however_many_there_are, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_running_out_of_memory_is_an_error_and_leaks_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_running_out_of_memory_with_robots_and_meshes_leaks_nothing, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
