// SPDX-License-Identifier: Apache-2.0
// A solver that says "converged" of what is none: every command says that it is not, with what was said and what was
// found. The solvers are those of wrong_claims.c; what Lua sees: claims.lua.
#include "stn_command.h"
#include "stn_folder.h"

#include <cjson/cJSON.h>

static const char *const folder = STN_BINARY_DIR "/tests/claims";
static const char *const problem = STN_BINARY_DIR "/tests/claims/block.json";
static const char *const at_rest = STN_BINARY_DIR "/tests/claims/singular.json";
static const char *const scene = STN_BINARY_DIR "/tests/claims/scene.lua";

/// A block of 2 kg that slides on the ground.
static const char block[] =
    "{ \"format\": \"contact-problem-2\", \"form\": \"global\", \"dt\": 0.01,\n"
    "  \"trees\": [ { \"A\": { \"form\": \"diagonal\", \"n\": 3, \"values\": [2, 2, 2] } } ],\n"
    "  \"v_star\": [1, 0, -0.1], \"v_guess\": [0.5, 0, 0],\n"
    "  \"constraints\": [\n"
    "    { \"id\": \"7\", \"kind\": \"contact\", \"set\": \"cone\", \"rows\": 3, \"mu1\": 0.5,\n"
    "      \"mu2\": 0.5, \"phi0\": 0, \"stiffness\": \"inf\", \"relaxation_time\": 0.01,\n"
    "      \"J\": [ { \"tree\": 0, \"values\": [1, 0, 0, 0, 1, 0, 0, 0, 1] } ] } ] }\n";

/// The same without a mass, as quasistatic stepping has it, on a spring along the ground that is pulled.
static const char massless[] =
    "{ \"format\": \"contact-problem-2\", \"form\": \"global\", \"dt\": 0.01,\n"
    "  \"trees\": [ { \"A\": { \"form\": \"diagonal\", \"n\": 3, \"values\": [2, 2, 0] } } ],\n"
    "  \"v_star\": [0, 0, 0], \"free_impulse\": [2, 0, -0.2],\n"
    "  \"constraints\": [\n"
    "    { \"id\": \"7\", \"kind\": \"contact\", \"set\": \"cone\", \"rows\": 3, \"mu1\": 0.5,\n"
    "      \"mu2\": 0.5, \"phi0\": 0, \"stiffness\": \"inf\", \"relaxation_time\": 0.01,\n"
    "      \"J\": [ { \"tree\": 0, \"values\": [1, 0, 0, 0, 1, 0, 0, 0, 1] } ] } ] }\n";

static const char box[] = "local stn = require 'stiction'\n"
                          "local function drop(solver)\n"
                          "  local world = stn.world { dt = 0.01, solver = solver }\n"
                          "  world:ground { mu = 0.5 }\n"
                          "  world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0, 0, 0.06 }, mu = 0.5 }\n"
                          "  for _ in world:run { steps = 30 } do end\n"
                          "end\n"
                          "local word = stn.params { word = 'truth' }.word\n"
                          "stn.test('a box falls', function() drop('lie_sap_' .. word) end)\n"
                          "drop('lie_sap_' .. word)\n";

static int write_files(void **state) {
    (void)state;
    char line[512];
    snprintf(line, sizeof line, "mkdir -p %s", folder);
    if (system(line) != 0) {
        return -1;
    }
    write_file(problem, block);
    write_file(at_rest, massless);
    write_file(scene, box);
    return 0;
}

static const char *const lies[] = {"lie_sap_zero",     "lie_sap_before",  "lie_sap_twice",     "lie_sap_negative",
                                   "lie_sap_velocity", "lie_sap_impulse", "lie_sap_stalled",   "lie_nsgs_zero",
                                   "lie_nsgs_before",  "lie_nsgs_twice",  "lie_nsgs_negative", "lie_nsgs_stalled",
                                   "lie_qp_zero",      "lie_qp_before",   "lie_qp_twice",      "lie_qp_negative",
                                   "lie_qp_velocity",  "lie_qp_impulse",  "lie_qp_flight"};

static cJSON *json_of(const char *words, int status) {
    cJSON *json = cJSON_Parse(stn_run_to(words, status)->out);
    assert_non_null(json);
    return json;
}

static const char *text_of(const cJSON *json, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static double number(const cJSON *json, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);
    return cJSON_IsNumber(item) ? item->valuedouble : 0.0;
}

/// "says 'ok' at tolerance 1e-06, but its momentum error is 0.94, bound 0.001".
static void assert_contradiction(const char *text, const char *solver) {
    double tolerance = 0.0, found = 0.0, bound = 0.0;
    char residual[2][32];
    const char *said = strstr(text, "at tolerance ");
    if (said == NULL || sscanf(said, "at tolerance %lf, but its %31s %31s is %lf, bound %lf", &tolerance, residual[0],
                               residual[1], &found, &bound) != 5) {
        fail_msg("%s: \"%s\" is no contradiction", solver, text);
    }
    assert_near(tolerance, 1e-6, 0.0);
    assert_true(found > bound && bound >= 1e-3);
}

static void solve_says_it(void **state) {
    (void)state;
    char words[512];
    for (int32_t i = 0; i < STN_COUNT(lies); i++) {
        snprintf(words, sizeof words, "solve %s --solver %s --json 2>/dev/null", problem, lies[i]);
        cJSON *json = json_of(words, 3);
        assert_string_equal(text_of(json, "status"), "not_converged");
        assert_contradiction(text_of(json, "contradiction"), lies[i]);
        cJSON_Delete(json);
        snprintf(words, sizeof words, "solve %s --solver %s 2>&1", problem, lies[i]);
        stn_expect_part(words, 3, "the solver says '");
    }
    snprintf(words, sizeof words, "solve %s --solver lie_nsgs_part 2>&1", problem);
    stn_expect_part(words, 3, "came out as nan");
    static const char *const honest[] = {"sap", "nsgs", "qp"};
    for (int32_t i = 0; i < STN_COUNT(honest); i++) {
        snprintf(words, sizeof words, "solve %s --solver lie_%s_truth --json", problem, honest[i]);
        cJSON *json = json_of(words, 0);
        assert_string_equal(text_of(json, "contradiction"), "");
        cJSON_Delete(json);
    }
}

/// There is no A^-1 there to compare speeds with.
static void a_singular_problem_hides_nothing(void **state) {
    (void)state;
    char words[512];
    for (int32_t i = 0; i < 7; i++) { // those that take it
        snprintf(words, sizeof words, "solve %s --solver %s --json 2>/dev/null", at_rest, lies[i]);
        cJSON *json = json_of(words, 3);
        assert_contradiction(text_of(json, "contradiction"), lies[i]);
        cJSON_Delete(json);
    }
    snprintf(words, sizeof words, "solve %s --solver lie_sap_truth --json", at_rest);
    cJSON_Delete(json_of(words, 0));
}

static void compare_says_it(void **state) {
    (void)state;
    char words[1024];
    int used = snprintf(words, sizeof words, "compare %s --tolerance 1e-6 --json --solvers lie_sap_truth", problem);
    for (int32_t i = 0; i < STN_COUNT(lies); i++) {
        used += snprintf(words + used, sizeof words - (size_t)used, ",%s", lies[i]);
    }
    cJSON *json = json_of(words, 0);
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(json, "rows");
    assert_int_equal(cJSON_GetArraySize(rows), 1 + STN_COUNT(lies));
    assert_string_equal(text_of(cJSON_GetArrayItem(rows, 0), "status"), "converged");
    for (int32_t i = 0; i < STN_COUNT(lies); i++) {
        const cJSON *row = cJSON_GetArrayItem(rows, i + 1);
        assert_string_equal(text_of(row, "status"), "not_converged");
        assert_contradiction(text_of(row, "note"), lies[i]);
    }
    cJSON_Delete(json);
}

static void validate_says_it(void **state) {
    (void)state;
    char words[512];
    for (int32_t i = 0; i < STN_COUNT(lies); i++) {
        snprintf(words, sizeof words, "validate solver/%s -k 'random problems'", lies[i]);
        stn_expect_part(words, 1, strstr(lies[i], "stalled") != NULL ? "says 'stalled at round-off'" : "says 'ok'");
    }
}

static void runs_tests_sweeps_and_replays_say_it(void **state) {
    (void)state;
    char words[1024];
    snprintf(words, sizeof words, "run %s --json 2>/dev/null", scene);
    cJSON *json = json_of(words, 0);
    assert_near(number(json, "not_converged") + number(json, "contradicted"), 0.0, 0.0);
    cJSON_Delete(json);
    snprintf(words, sizeof words, "run %s --set word=twice --json 2>/dev/null", scene);
    json = json_of(words, 0);
    assert_true(number(json, "contradicted") >= 20.0);
    assert_near(number(json, "not_converged"), number(json, "contradicted"), 0.0);
    const cJSON *claim = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(json, "verdict"), "claim");
    assert_contradiction(text_of(claim, "what"), "run");
    assert_true(number(claim, "ratio") > number(claim, "limit"));
    cJSON_Delete(json);
    snprintf(words, sizeof words, "run %s --set word=twice 2>&1", scene);
    stn_expect_part(words, 0, "the solver says 'ok' at tolerance 1e-06, but its momentum error is");
    stn_expect_part(words, 0, "of them by the certificate alone: the solver says that it converged");
    snprintf(words, sizeof words, "run %s --set word=twice --strict 2>&1", scene);
    stn_expect_part(words, 1, "FAILED verdict: claim");
    snprintf(words, sizeof words, "test %s --set word=impulse --strict 2>&1", scene);
    stn_expect_part(words, 1, "--strict: the solver says 'ok'");
    snprintf(words, sizeof words, "test %s --strict 2>&1", scene);
    stn_expect_part(words, 0, "1 passed, 0 failed");
    snprintf(words, sizeof words, "sweep %s --vary word=truth,twice 2>/dev/null", scene);
    stn_expect_part(words, 0, "claim");
    snprintf(words, sizeof words,
             "run %s --set word=twice --record %s/r.html --quiet 2>/dev/null; " COMMAND " replay %s/r.html --json 2>&1",
             scene, folder, folder);
    stn_expect_part(words, 0, "\"contradiction\":");
    stn_expect_part(words, 0, "in the first the solver says 'ok'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solve_says_it),
        cmocka_unit_test(a_singular_problem_hides_nothing),
        cmocka_unit_test(compare_says_it),
        cmocka_unit_test(validate_says_it),
        cmocka_unit_test(runs_tests_sweeps_and_replays_say_it),
    };
    return cmocka_run_group_tests(tests, write_files, NULL);
}
