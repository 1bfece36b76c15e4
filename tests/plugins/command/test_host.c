// SPDX-License-Identifier: Apache-2.0
// The host of scripts, asked by a language in C what an unknown one may ask: odd values are errors in one line, and a
// script that makes no step has a result, too.
#include <math.h>
#include <string.h>

#include "stn_test.h"

#include <stiction/stiction.h>

#include "common/session.h"

typedef void (*talk)(stn_script_host *host);

/// What the script does; the language is found by the path alone.
static talk talks;

static stn_status run(void *self, stn_script_host *host, stn_error *err) {
    (void)self, (void)err;
    talks(host);
    return STN_OK;
}

static const char *const endings[] = {"talk", NULL};
static const stn_script_ops ops = {.size = sizeof ops, .extensions = endings, .run = run};
static const stn_plugin_desc language = {
    .size = sizeof language, .kind = STN_KIND_SCRIPT, .id = "talk", .version = "1", .summary = "C", .ops.script = &ops};

typedef struct fixture {
    stn_context *context;
    stn_session session;
} fixture;

static int set_up(void **state) {
    static fixture f;
    stn_error err = {0};
    assert_ok(stn_context_create(NULL, &f.context, &err), err);
    assert_ok(stn_plugin_register(f.context, &language, &err), err);
    stn_session_init(&f.session, f.context);
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    stn_session_clear(&f->session);
    stn_context_destroy(f->context);
    return 0;
}

static stn_status converse(fixture *f, talk what, stn_error *err) {
    talks = what;
    return stn_session_run(&f->session, "any/place.talk", err);
}

// --------------------------------------------------------------------------------------------------------- parameters

static void ask_parameters(stn_script_host *host) {
    static const char *const choices[] = {"a", "b"};
    stn_error err = {0};
    stn_script_parameter number = {.name = "mu", .type = STN_SCRIPT_NUMBER, .number = 0.5};
    assert_ok(host->ops->parameter(host, &number, &err), err);
    assert_near(number.number, 0.25, 0.0); // the last --set counts
    stn_script_parameter seconds = {.name = "seconds", .type = STN_SCRIPT_NUMBER, .number = 3.0};
    assert_ok(host->ops->parameter(host, &seconds, &err), err);
    assert_near(seconds.number, 7.0, 0.0);
    stn_script_parameter choice = {
        .name = "shape", .type = STN_SCRIPT_CHOICE, .text = "a", .choices = choices, .choice_count = 2};
    assert_int_equal(host->ops->parameter(host, &choice, &err), STN_ERR_ARGUMENT);
    assert_string_equal(err.text, "parameter shape = \"c\" must be one of: a, b");
    stn_script_parameter unnamed = {.type = STN_SCRIPT_NUMBER}, none = {.name = "t", .type = STN_SCRIPT_TEXT},
                         nan_ = {.name = "n", .number = NAN};
    assert_int_equal(host->ops->parameter(host, &unnamed, &err), STN_ERR_ARGUMENT);
    assert_int_equal(host->ops->parameter(host, &none, &err), STN_ERR_ARGUMENT);
    assert_int_equal(host->ops->parameter(host, &nan_, &err), STN_ERR_ARGUMENT);
    stn_script_parameter bounded = {.name = "m", .number = 3.0, .bounded = true, .min = 0.0, .max = 2.0, .unit = "kg"};
    assert_int_equal(host->ops->parameter(host, &bounded, &err), STN_ERR_ARGUMENT);
    assert_string_equal(err.text, "parameter m = 3 kg must be 0 to 2 kg");
}

static void parameters_are_those_of_the_command_line_and_within_their_bounds(void **state) {
    fixture *f = *state;
    stn_error err = {0};
    assert_ok(stn_session_set(&f->session, "mu=0.1", &err), err);
    assert_ok(stn_session_set(&f->session, "mu=0.25", &err), err);
    assert_ok(stn_session_set(&f->session, "shape=c", &err), err);
    f->session.host.seconds = 7.0;
    assert_ok(converse(f, ask_parameters, &err), err);
    assert_int_equal(f->session.parameter_count, 2); // those that were refused are none
}

// ------------------------------------------------------------------------------------------------------------ plugins

static void ask_choices(stn_script_host *host) {
    static const stn_setting own[] = {{.name = "tolerance", .form = STN_SETTING_NUMBER, .number = 1e-3},
                                      {.name = "sigma", .form = STN_SETTING_NUMBER, .number = 1.0}};
    stn_plugin_choice choice = {"sap", own, 2};
    stn_error err = {0};
    assert_ok(host->ops->choose(host, "solver", &choice, &err), err);
    assert_string_equal(choice.id, "apgd");
    assert_int_equal(choice.setting_count, 2); // sigma is sap's own; --set comes last
    assert_string_equal(choice.settings[0].name, "tolerance");
    assert_string_equal(choice.settings[1].text, "1e-9");
    assert_ok(host->ops->choose(host, "solver", &choice, &err), err); // of its own memory
    assert_string_equal(choice.settings[choice.setting_count - 1].text, "1e-9");
    assert_int_equal(host->ops->choose(host, "solvr", &choice, &err), STN_ERR_ARGUMENT);
    assert_int_equal(host->ops->choose(host, NULL, &choice, &err), STN_ERR_ARGUMENT);
}

static void another_solver_keeps_what_all_solvers_share(void **state) {
    fixture *f = *state;
    stn_error err = {0};
    f->session.plugin[STN_KIND_SOLVER] = "apgd";
    assert_ok(stn_session_set(&f->session, "solver.tolerance=1e-9", &err), err);
    assert_ok(converse(f, ask_choices, &err), err);
}

// ------------------------------------------------------------------------------------------------------------- worlds

static void make_no_step(stn_script_host *host) {
    stn_error err = {0};
    stn_world_options options = stn_world_options_default();
    stn_world *world = NULL;
    assert_int_equal(host->ops->step(host, NULL, &err), STN_ERR_ARGUMENT);
    assert_ok(host->ops->end(host, NULL, &err), err);
    host->ops->touched(host, NULL);
    assert_ok(host->ops->options(host, &options, &err), err);
    assert_near(options.dt, 0.004, 0.0);
    assert_ok(stn_world_create(host->context, &options, &world, &err), err);
    assert_ok(host->ops->end(host, world, &err), err); // as it was being described
    assert_ok(host->ops->result(host, NULL, 1.0, NULL, &err), err);
    assert_ok(host->ops->result(host, "r", 1.0, NULL, &err), err);
    assert_ok(host->ops->result(host, "r", 2.0, "m", &err), err);
    host->ops->leave(host, 259, NULL);
}

static void a_script_without_a_step_has_results_and_its_own_exit_status(void **state) {
    fixture *f = *state;
    stn_error err = {0};
    f->session.host.dt = 0.004;
    assert_ok(converse(f, make_no_step, &err), err);
    assert_int_equal(f->session.result_count, 2);
    assert_near(f->session.results[1].value, 2.0, 0.0);
    assert_int_equal(f->session.exit_status, 3);
    assert_false(f->session.stepped);
}

static void leave_a_world(stn_script_host *host) {
    stn_error err = {0};
    stn_world_options options = stn_world_options_default();
    static stn_world *world; // destroyed by the test
    assert_ok(stn_world_create(host->context, &options, &world, &err), err);
    for (int i = 0; i < 3; i++) {
        assert_ok(host->ops->step(host, world, &err), err);
    }
    stn_world_destroy(world);
}

static void a_world_that_a_script_forgets_is_counted_and_its_steps_are_kept(void **state) {
    fixture *f = *state;
    stn_error err = {0};
    assert_ok(converse(f, leave_a_world, &err), err);
    assert_int_equal(f->session.left_count, 1);
    assert_int_equal(f->session.statistics.samples.steps, 3);
}

static void catch_a_missing_recording(stn_script_host *host) {
    stn_error err = {0};
    stn_world_options options = stn_world_options_default();
    stn_world *first = NULL, *second = NULL;
    assert_ok(stn_world_create(host->context, &options, &first, &err), err);
    assert_ok(stn_world_create(host->context, &options, &second, &err), err);
    for (int i = 0; i < 3; i++) {
        err = (stn_error){0};
        assert_int_equal(host->ops->step(host, first, &err), STN_ERR_FILE);
        assert_non_null(strstr(err.text, "/nowhere/out.csv"));
        assert_ok(host->ops->step(host, second, &err), err);
    }
    assert_int_equal(stn_world_state(first)->step, 0);
    assert_int_equal(stn_world_state(second)->step, 3);
    assert_ok(host->ops->end(host, first, &err), err);
    assert_ok(host->ops->end(host, second, &err), err);
}

/// Also when the script takes no notice of it.
static void a_world_whose_recording_cannot_be_opened_makes_no_step_and_the_run_fails(void **state) {
    static const char *const paths[] = {STN_SOURCE_DIR "/nowhere/out.csv"};
    fixture *f = *state;
    stn_error err = {0};
    f->session.record_paths = paths;
    f->session.record_count = 1;
    assert_int_equal(converse(f, catch_a_missing_recording, &err), STN_ERR_FILE);
    assert_non_null(strstr(err.text, "/nowhere/out.csv"));
}

static void an_ending_that_no_language_has_is_told_with_those_that_exist(void **state) {
    fixture *f = *state;
    stn_error err = {0};
    const char *script = STN_SOURCE_DIR "/.ci/run"; // the dot is the folder's
    assert_int_equal(stn_session_run(&f->session, script, &err), STN_ERR_PLUGIN);
    assert_non_null(strstr(err.text, "/.ci/run: no scripting language runs such files; endings that are known: "));
    assert_non_null(strstr(err.text, ".talk"));
    assert_int_equal(stn_session_run(&f->session, STN_SOURCE_DIR "/nowhere", &err), STN_ERR_FILE);
    assert_non_null(strstr(err.text, "/nowhere: cannot be read: No such file or directory; give the path of a script"));
    assert_int_equal(stn_session_run(&f->session, STN_SOURCE_DIR "/docs", &err), STN_ERR_FILE);
    assert_non_null(strstr(err.text, "/docs: is a folder; give the path of a script"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(parameters_are_those_of_the_command_line_and_within_their_bounds, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(another_solver_keeps_what_all_solvers_share, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_script_without_a_step_has_results_and_its_own_exit_status, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_world_that_a_script_forgets_is_counted_and_its_steps_are_kept, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_world_whose_recording_cannot_be_opened_makes_no_step_and_the_run_fails,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_ending_that_no_language_has_is_told_with_those_that_exist, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
