// SPDX-License-Identifier: Apache-2.0
// stiction validate: right plugins pass; its words and options. That wrong ones are caught: test_faults.c.
#include <cjson/cJSON.h>
#include <stiction/plugin.h>

#include "stn_command.h"

static bool full_tier(void) {
    const char *tier = getenv("STICTION_TEST_TIER");
    return tier != NULL && strcmp(tier, "full") == 0;
}

static stn_kind tested; // kind of plugins, when the program is told one

/// Each ends by itself, however slow the machine is: only what hangs takes so long.
static void passes(const char *words) {
    char all[256];
    snprintf(all, sizeof all, "validate %s %s", words, full_tier() ? "--full" : "--timeout 500");
    stn_expect_part(all, 0, " passed, 0 failed");
}

static void every_plugin_passes(void **state) {
    (void)state;
    stn_context *context = NULL;
    stn_error err;
    const stn_plugin_info *plugins = NULL;
    int32_t all = 0, count = 0;
    char words[200];
    assert_ok(stn_context_create(NULL, &context, &err), err);
    assert_ok(stn_plugins(context, &plugins, &all, NULL, NULL, &err), err);
    for (int32_t i = 0; i < all; i++) {
        if (plugins[i].desc->kind == tested) {
            snprintf(words, sizeof words, "%s/%s", stn_kind_name(tested), plugins[i].desc->id);
            passes(words);
            count++;
        }
        if (plugins[i].desc->kind == tested && tested == STN_KIND_LAW && full_tier()) {
            snprintf(words, sizeof words, "validate solver/sap --law %s", plugins[i].desc->id);
            stn_expect_part(words, 0, " passed, 0 failed"); // under the solver that takes laws
        }
    }
    assert_true(count > 0 || tested == STN_KIND_ELEMENT); // of which none comes along
    stn_context_destroy(context);
}

/// Parameters choose the formulation of these.
static void configured_solvers_pass(void **state) {
    (void)state;
    static const char *const configured[] = {"bisection --set local=bisection", "pgs --set friction=pyramid",
                                             "bisection --set local=ccp", "bisection --set local=golden",
                                             "bisection --set local=quartic"};
    for (int32_t k = 0; k < (full_tier() ? STN_COUNT(configured) : 2); k++) {
        char words[256];
        snprintf(words, sizeof words, "validate solver/%s", configured[k]);
        stn_expect_part(words, 0, " passed, 0 failed\n");
    }
}

/// Without settings a spring, tendon or weld_at_runtime does nothing, and a distance has no length.
static void configured_constraints_pass(void **state) {
    (void)state;
    static const char *const configured[] = {
        "spring --set stiffness=100 --set damping=3",
        "spring --set damping=3",
        "rolling --set rolling=0.01 --set torsional=0.02",
        "tendon --set stiffness=100 --set damping=1",
        "weld --set stiffness=100 --set angular_stiffness=10 --set relaxation_time=0.1",
        "ball --set stiffness=100",
        "distance --set length=0.7",
        "distance --set length=0.7 --set stiffness=100",
        "gear --set ratio=-2 --set offset=1",
        "bushing --set 'force_stiffness=10 20 30' --set 'torque_stiffness=1 2 3' --set 'torque_damping=1 1 1'",
        "weld_at_runtime --set attached=true",
        "weld_at_runtime --set stiffness=100 --set angular_stiffness=7",
        "suction --set stiffness=100 --set angular_stiffness=7 --set force=1e9",
        "gear --set ratio=-2 --set stiffness=50",
        "tendon --set stiffness=100 --set limit=20",
        "suction --set attached=true --set force=1e12",
        "suction --set attached=true",
        "weld_at_runtime --set attached=true --set force_limit=1",
        "spring --set stiffness=100 --set tension_only=true",
        "tendon --set stiffness=100 --set two_sided=true"};
    for (int32_t k = 0; k < STN_COUNT(configured); k++) {
        char words[256];
        snprintf(words, sizeof words, "validate constraint/%s", configured[k]);
        stn_expect_part(words, 0, " passed, 0 failed");
    }
}

/// What is skipped says why, and names a setting with which it is not; what only acts when told is told.
static void idle_constraints_say_what_makes_them_act(void **state) {
    (void)state;
    static const char *const advised[][2] = {
        {"spring", "both 0; give one of them; it takes them with --set stiffness=1"},
        {"rolling", "both 0; give one of them; it takes them with --set rolling=1"},
        {"bushing", "; it takes them with --set 'force_stiffness=10 20 30'"},
        {"distance", "length is missing; it takes them with --set length=1"},
        {"tendon -k derivative", "two free bodies: emits no row whose phi changes; give it settings with which it "
                                 "does, such as --set stiffness=1"},
        {"weld_at_runtime -k momentum", "ok     momentum: 300 rows in 50 states of two free bodies"},
        {"suction -k momentum", "ok     momentum: "},
    };
    for (int32_t k = 0; k < STN_COUNT(advised); k++) {
        char words[256];
        snprintf(words, sizeof words, "validate constraint/%s", advised[k][0]);
        stn_expect_part(words, 0, advised[k][1]);
    }
}

static void plugins_are_named_by_id_kind_and_path(void **state) {
    (void)state;
    stn_expect_part("validate sap -k declares", 0, "law sap ");
    stn_expect_part("validate sap -k declares", 0,
                    "ok     declares what it is: formulation regularized, sets cone, ellipse, box, equality");
    stn_expect_part("validate solver/sap -k declares", 0, "solver sap ");
    stn_expect_part("validate " STN_BINARY_DIR "/lib/stiction/plugins/solver_sap.so -k declares", 0,
                    "1 passed, 0 failed\n");
    stn_expect_part("validate solver/spa 2>&1", 2, "did you mean sap?");
    stn_expect("validate spa 2>&1", 2,
               "stiction validate: unknown plugin spa; did you mean sap? see stiction plugins\n");
    stn_expect_part("validate /no/such.so 2>&1", 2, "/no/such.so");
    stn_expect_part("validate " ABORTS " 2>&1", 2,
                    "aborts_when_loaded.so: while it is loaded: crashed: ended by signal 6");
}

static void bad_words_are_refused(void **state) {
    (void)state;
    stn_expect_part("validate 2>&1", 2, "stiction validate: ");
    stn_expect("validate solver/sap -k nothing 2>/dev/null", 2, "");
    stn_expect_part("validate solver/sap -k nothing 2>&1", 2, "-k nothing: no check has this in its name\n");
    stn_expect_part("validate solver/sap --timeout 0 2>&1", 2, "--timeout 0: must be > 0 s\n");
    stn_expect_part("validate solver/sap --law nolaw 2>&1", 2, "nolaw");
    stn_expect_part("validate solver/sap --set tolerance=1 2>&1", 2, "--set tolerance: the battery sets it itself\n");
    stn_expect_part("validate solver/sap --set line_serach=exact 2>&1", 2, "did you mean line_search?");
    stn_expect_part("validate solver/sap --save /no/folder 2>&1", 2, "--save /no/folder: no such folder\n");
}

/// What is known of the default law by closed forms is known of the others by bisection and from their parameters'
/// units.
static void a_solver_is_judged_with_other_laws(void **state) {
    (void)state;
    static const char *const laws[] = {"lagged",  "similar", "lagged_regularized", "hertz", "table",
                                       "barrier", "penalty"};
    for (int32_t i = 0; i < STN_COUNT(laws); i++) {
        char words[256];
        snprintf(words, sizeof words, "validate solver/sap --law %s -k closed", laws[i]);
        stn_expect_part(words, 0, " as by bisection, to ");
        snprintf(words, sizeof words, "validate solver/sap --law %s -k units", laws[i]);
        stn_expect_part(words, 0,
                        strcmp(laws[i], "table") == 0 ? "parameter force of law table is a text" : "1 passed");
        snprintf(words, sizeof words, "validate solver/sap --law %s -k redundant", laws[i]);
        bool linear = strcmp(laws[i], "table") != 0 && strcmp(laws[i], "lagged_regularized") != 0 &&
                      strcmp(laws[i], "penalty") != 0;
        stn_expect_part(words, 0,
                        linear ? "1 passed" : "is not linear in the stiffness: copies of a contact are another");
    }
}

static void settings_and_seeds_reach_the_plugin(void **state) {
    (void)state;
    stn_expect_part("validate solver/sap --set line_search=armijo --seed 5 -k random", 0, "1 passed, 0 failed\n");
    const char *words = "validate solver/sap --seed 5 -k random | sed 's/ ([0-9]* ms)//'"; // but for the time
    char *first = strdup(stn_run_to(words, 0)->out);
    stn_expect(words, 0, first);
    free(first);
}

static void json_holds_every_check(void **state) {
    (void)state;
    const stn_run *run = stn_run_to("validate wrong_input -k input --json", 1);
    cJSON *json = cJSON_Parse(run->out);
    assert_non_null(json);
    const cJSON *checks = cJSON_GetObjectItem(json, "checks");
    assert_int_equal(cJSON_GetArraySize(checks), 2); // and "NaN in the input"
    const cJSON *first = cJSON_GetArrayItem(checks, 0);
    assert_string_equal(cJSON_GetObjectItem(first, "name")->valuestring, "inputs unchanged");
    assert_string_equal(cJSON_GetObjectItem(first, "status")->valuestring, "failed");
    assert_non_null(strstr(cJSON_GetObjectItem(first, "advice")->valuestring, "control->arena"));
    assert_true(cJSON_GetObjectItem(json, "failed")->valueint >= 1);
    cJSON_Delete(json);
}

static void a_problem_that_failed_can_be_solved_again(void **state) {
    (void)state;
    char folder[] = "/tmp/stn_validate_XXXXXX", words[512];
    assert_non_null(mkdtemp(folder));
    snprintf(words, sizeof words, "validate wrong_claim -k 'random problems' --save %s", folder);
    stn_expect_part(words, 1, "; the problem is in ");
    snprintf(words, sizeof words, "solve %s/random_problems.json --solver sap", folder);
    stn_expect_part(words, 0, "converged");
    snprintf(words, sizeof words, "%s/random_problems.json", folder);
    assert_int_equal(remove(words), 0);
    assert_int_equal(remove(folder), 0);
}

/// Without arguments the words and options; with the name of a kind all plugins of it.
int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plugins_are_named_by_id_kind_and_path),
        cmocka_unit_test(bad_words_are_refused),
        cmocka_unit_test(a_solver_is_judged_with_other_laws),
        cmocka_unit_test(settings_and_seeds_reach_the_plugin),
        cmocka_unit_test(configured_solvers_pass),
        cmocka_unit_test(configured_constraints_pass),
        cmocka_unit_test(idle_constraints_say_what_makes_them_act),
        cmocka_unit_test(json_holds_every_check),
        cmocka_unit_test(a_problem_that_failed_can_be_solved_again),
    };
    const struct CMUnitTest plugins[] = {cmocka_unit_test(every_plugin_passes)};
    if (argc < 2) {
        return cmocka_run_group_tests(tests, NULL, NULL);
    }
    while (tested < STN_KIND_COUNT && strcmp(stn_kind_name(tested), argv[1]) != 0) {
        tested++;
    }
    if (tested == STN_KIND_COUNT) {
        fprintf(stderr, "%s: no kind of plugins\n", argv[1]);
        return 2;
    }
    return cmocka_run_group_tests(plugins, NULL, NULL);
}
