// SPDX-License-Identifier: Apache-2.0
// stiction compare as a user meets it: every pair is a row, whatever its solver does.
#include "stn_command.h"
#include "stn_folder.h"

#include <math.h>

#include <cjson/cJSON.h>

#define QUIET "2>/dev/null"
#define BOTH  "2>&1"

static const char *const folder = STN_BINARY_DIR "/tests/compare";
static const char *const good = STN_BINARY_DIR "/tests/compare/two.json";
static const char *const bad = STN_BINARY_DIR "/tests/compare/bad.json";

/// A block of 2 kg that slides on the ground below one of 1 kg, which a stop holds on one side.
static const char two_blocks[] =
    "{ \"format\": \"contact-problem-2\", \"form\": \"global\", \"dt\": 0.01, \"explicit_R\": true,\n"
    "  \"trees\": [ { \"A\": { \"form\": \"diagonal\", \"n\": 3, \"values\": [2, 2, 2] } },\n"
    "             { \"A\": { \"form\": \"diagonal\", \"n\": 3, \"values\": [1, 1, 1] } } ],\n"
    "  \"v_star\": [1, 0, -0.1, -0.5, 0.3, -0.2],\n"
    "  \"constraints\": [\n"
    "    { \"id\": \"7\", \"kind\": \"contact\", \"set\": \"cone\", \"rows\": 3, \"mu1\": 0.5, \"mu2\": 0.5,\n"
    "      \"R\": [0, 0, 0], \"v_hat\": [0, 0, 0],\n"
    "      \"J\": [ { \"tree\": 0, \"values\": [1, 0, 0, 0, 1, 0, 0, 0, 1] } ] },\n"
    "    { \"id\": \"8\", \"kind\": \"contact\", \"set\": \"cone\", \"rows\": 3, \"mu1\": 0.3, \"mu2\": 0.3,\n"
    "      \"R\": [0, 0, 0], \"v_hat\": [0, 0, 0],\n"
    "      \"J\": [ { \"tree\": 0, \"values\": [-1, 0, 0, 0, -1, 0, 0, 0, -1] },\n"
    "             { \"tree\": 1, \"values\": [1, 0, 0, 0, 1, 0, 0, 0, 1] } ] },\n"
    "    { \"id\": \"9\", \"kind\": \"joint_limit\", \"set\": \"box\", \"rows\": 1, \"lo\": [0], \"hi\": [\"inf\"],\n"
    "      \"R\": [0], \"v_hat\": [0], \"J\": [ { \"tree\": 1, \"values\": [0, 1, 0] } ] } ] }\n";

static int write_problems(void **state) {
    (void)state;
    char line[512];
    snprintf(line, sizeof line, "mkdir -p %s", folder);
    if (system(line) != 0 || setenv("STICTION_PLUGIN_PATH", WRONG_DIR, 1) != 0) {
        return -1;
    }
    write_file(good, two_blocks);
    write_file(bad, "{ \"format\": \"contact-problem-2\", \"form\": \"global\", \"dt\": -1 }\n");
    return 0;
}

static cJSON *compare_json(const char *words) {
    char line[2048];
    snprintf(line, sizeof line, "compare %s --json " QUIET, words);
    cJSON *json = cJSON_Parse(stn_run_to(line, 0)->out);
    assert_non_null(json);
    return json;
}

static const cJSON *row_of(const cJSON *json, int index) {
    const cJSON *row = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(json, "rows"), index);
    assert_non_null(row);
    return row;
}

static double number(const cJSON *json, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);
    assert_non_null(item);
    return cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
}

static const char *text_of(const cJSON *json, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);
    assert_true(cJSON_IsString(item));
    return item->valuestring;
}

static void every_pair_is_a_row_judged_by_what_the_solver_solves(void **state) {
    (void)state;
    static const char *const expected[][3] = {
        {"bisection", "ncp", "natural_scaled"},
        {"bisection:local=golden", "mdp", "natural_scaled"},
        {"apgd:law=none", "ccp", "natural_ccp_scaled"},
        {"nsgs", "ncp", "natural_scaled"},
    };
    char words[1024];
    snprintf(words, sizeof words,
             "%s %s --solvers bisection,bisection:local=golden,apgd:law=none,nsgs --tolerance 1e-10", good, good);
    cJSON *json = compare_json(words);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(json, "rows")), 8);
    for (int i = 0; i < 8; i++) {
        const cJSON *row = row_of(json, i);
        assert_string_equal(text_of(row, "problem"), good);
        assert_string_equal(text_of(row, "solver"), expected[i % 4][0]);
        assert_string_equal(text_of(row, "formulation"), expected[i % 4][1]);
        assert_string_equal(text_of(row, "judged_by"), expected[i % 4][2]);
        assert_string_equal(text_of(row, "status"), "converged");
        assert_string_equal(text_of(row, "note"), "");
        assert_near(number(row, "residual"), 0.0, 1e-9);
        assert_near(number(row, "momentum"), 0.0, 1e-12);
        assert_near(number(row, text_of(row, "judged_by")), number(row, "residual"), 0.0);
        assert_true(number(row, "iterations") > 1.0 && number(row, "time_ms") > 0.0);
        bool convex = i % 4 == 2; // contacts slide: the relaxation lifts them by mu |v_t|
        assert_true(convex == (number(row, "natural_scaled") > 0.01));
        assert_true(convex == (number(row, "natural_ccp") < 1e-6));
        assert_null(cJSON_GetObjectItemCaseSensitive(row, "curve"));
    }
    cJSON_Delete(json);
}

static void what_a_solver_does_wrong_is_a_row(void **state) {
    (void)state;
    static const char *const expected[][3] = {
        {"nsgs", "converged", ""},
        {"wrong_crash", "failed", "ended by signal 6 (Aborted)"},
        {"wrong_leave:max_iterations=3", "failed", "the solver ended its process, with exit status 0"},
        {"wrong_claim", "not_converged", "says 'ok' at tolerance 1e-09, but its natural map is 0.0"},
        {"wrong_none", "not_converged", "iterations"},
        {"sap", "failed", "R = 0 1/kg"},
        {"nsgs:max_iterations=5", "not_converged", "iterations"},
    };
    char words[1024], names[512] = "";
    for (int32_t i = 0; i < STN_COUNT(expected); i++) {
        strcat(strcat(names, i > 0 ? "," : ""), expected[i][0]);
    }
    snprintf(words, sizeof words, "%s --solvers %s --jobs 2", good, names);
    cJSON *json = compare_json(words);
    for (int32_t i = 0; i < STN_COUNT(expected); i++) {
        const cJSON *row = row_of(json, i);
        assert_string_equal(text_of(row, "solver"), expected[i][0]);
        assert_string_equal(text_of(row, "status"), expected[i][1]);
        if (strstr(text_of(row, "note"), expected[i][2]) == NULL) {
            fail_msg("%s: note \"%s\", expected \"%s\"", expected[i][0], text_of(row, "note"), expected[i][2]);
        }
        bool result = strstr(expected[i][1], "converged") != NULL;
        assert_true(result == isfinite(number(row, "natural_scaled")));
        assert_true(result == isfinite(number(row, "iterations")));
    }
    cJSON_Delete(json);
}

static void a_solver_without_end_is_a_row(void **state) {
    (void)state;
    char words[1024];
    snprintf(words, sizeof words, "%s --solvers wrong_hang:max_iterations=3 --timeout 0.1", good);
    cJSON *json = compare_json(words);
    assert_string_equal(text_of(row_of(json, 0), "status"), "timeout");
    assert_string_equal(text_of(row_of(json, 0), "note"), "not done after 0.1 s");
    assert_true(isnan(number(row_of(json, 0), "natural_scaled")));
    cJSON_Delete(json);
}

static void a_problem_that_a_solver_does_not_treat_is_refused(void **state) {
    (void)state;
    char words[1024];
    const char *path = STN_BINARY_DIR "/tests/compare/local.json";
    write_file(path,
               "{ \"format\": \"contact-problem-2\", \"form\": \"local\", \"dt\": 1, \"general_W\": true,\n"
               "  \"W\": [1, 0, 0, 0, 1, 0, 0, 0, 1], \"q\": [1, 0, -1], \"constraints\": [\n"
               "  { \"id\": \"1\", \"kind\": \"contact\", \"set\": \"cone\", \"rows\": 3, \"mu1\": 0.5, \"mu2\": 0.5,\n"
               "    \"w_trace\": 3, \"stiffness\": \"inf\" } ] }\n");
    snprintf(words, sizeof words, "%s --solvers sap,pgs", path);
    cJSON *json = compare_json(words);
    assert_string_equal(text_of(row_of(json, 0), "status"), "refused");
    assert_non_null(strstr(text_of(row_of(json, 0), "note"), "solver sap works on velocities"));
    assert_string_equal(text_of(row_of(json, 1), "status"), "converged");
    assert_true(isnan(number(row_of(json, 1), "momentum")));
    cJSON_Delete(json);
    unlink(path);
}

static void a_file_that_cannot_be_read_is_a_row_unless_none_can(void **state) {
    (void)state;
    char words[1024];
    snprintf(words, sizeof words, "%s %s /nothere.json --solvers pgs,nsgs", bad, good);
    cJSON *json = compare_json(words);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(json, "rows")), 6);
    static const char *const statuses[] = {"failed", "failed", "converged", "converged", "failed", "failed"};
    for (int i = 0; i < 6; i++) {
        assert_string_equal(text_of(row_of(json, i), "status"), statuses[i]);
    }
    assert_non_null(strstr(text_of(row_of(json, 1), "note"), "bad.json: "));
    assert_string_equal(text_of(row_of(json, 4), "note"), "/nothere.json: cannot be read: No such file or directory");
    cJSON_Delete(json);
    snprintf(words, sizeof words, "compare %s /nothere.json --solvers pgs,sap --json " BOTH, bad);
    stn_expect_part(words, 2, "stiction compare: /nothere.json: cannot be read: No such file or directory\n");
}

static void what_reading_a_problem_warns_of_stands_beside_it(void **state) {
    (void)state;
    skip_without(STN_SHARED_DIR "/fclib/Rover4396.hdf5");
    cJSON *json = compare_json(STN_SHARED_DIR "/fclib/Rover4396.hdf5 --solvers pgs --curves");
    const cJSON *problem = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(json, "problems"), 0);
    const char *note = text_of(problem, "note");
    assert_memory_equal(note, "W is not symmetric, by ", 23);
    assert_null(strstr(note + 1, "W is not symmetric")); // said once, though the file is read twice
    cJSON_Delete(json);
}

// A block of 2 kg that rests, m (v - v_star) = gamma: the file knows the impulse.
static void cold_forgets_the_start_that_a_file_gives(void **state) {
    (void)state;
    char words[1024];
    const char *path = STN_BINARY_DIR "/tests/compare/warm.json";
    write_file(path,
               "{ \"format\": \"contact-problem-2\", \"form\": \"global\", \"dt\": 0.01, \"explicit_R\": true,\n"
               "  \"trees\": [ { \"A\": { \"form\": \"diagonal\", \"n\": 3, \"values\": [2, 2, 2] } } ],\n"
               "  \"v_star\": [0.01, 0, -0.1], \"v_guess\": [0, 0, 0], \"constraints\": [\n"
               "  { \"id\": \"1\", \"kind\": \"contact\", \"set\": \"cone\", \"rows\": 3, \"mu1\": 0.5, \"mu2\": 0.5,\n"
               "    \"R\": [0, 0, 0], \"v_hat\": [0, 0, 0], \"gamma_guess\": [-0.02, 0, 0.2],\n"
               "    \"J\": [ { \"tree\": 0, \"values\": [1, 0, 0, 0, 1, 0, 0, 0, 1] } ] } ] }\n");
    for (int cold = 0; cold < 2; cold++) {
        snprintf(words, sizeof words, "%s --solvers wrong_none,apgd --law none%s", path, cold ? " --cold" : "");
        cJSON *json = compare_json(words);
        for (int i = 0; i < 2; i++) {
            assert_string_equal(text_of(row_of(json, i), "status"), "converged");
            assert_true((number(row_of(json, i), "iterations") > 0.0) == cold);
        }
        cJSON_Delete(json);
    }
    unlink(path);
}

/// The residual that `stiction solve` has when it is stopped after so many iterations.
static double residual_of_solve(const char *solver, int32_t iterations) {
    char line[1024];
    stn_run *run = calloc(1, sizeof *run);
    snprintf(line, sizeof line, "solve %s --solver %s --tolerance 1e-9 --max-iterations %d --json " QUIET, good, solver,
             iterations);
    stn_run_command(run, line);
    cJSON *json = cJSON_Parse(run->out);
    assert_non_null(json);
    double residual = number(cJSON_GetObjectItemCaseSensitive(json, "certificate"), "natural_scaled");
    cJSON_Delete(json);
    free(run);
    return residual;
}

static void curves_are_solves_with_growing_limits(void **state) {
    (void)state;
    char words[1024];
    snprintf(words, sizeof words, "%s --solvers nsgs,wrong_leave --curves", good);
    cJSON *json = compare_json(words);
    const cJSON *row = row_of(json, 0), *curve = cJSON_GetObjectItemCaseSensitive(row, "curve"), *point;
    static const int32_t limits[] = {1, 2, 3, 4, 6, 8, 12, 16};
    int32_t count = cJSON_GetArraySize(curve), i = 0;
    assert_true(count >= 6);
    cJSON_ArrayForEach(point, curve) {
        bool last = i == count - 1;
        double iterations = last ? number(row, "iterations") : limits[i];
        assert_near(number(point, "iterations"), iterations, 0.0);
        assert_near(number(point, "residual"), residual_of_solve("nsgs", (int32_t)iterations), 0.0);
        assert_near(number(point, "residual"), last ? number(row, "residual") : number(point, "natural_scaled"), 0.0);
        i++;
    }
    const cJSON *reached = cJSON_GetObjectItemCaseSensitive(row, "reached"), *at;
    cJSON_ArrayForEach(at, reached) { // 1e-3, 1e-6, 1e-9: between the two points on either side
        double iterations = number(at, "iterations"), target = number(at, "residual"), above = 0.0, below = 0.0;
        cJSON_ArrayForEach(point, curve) {
            bool later = number(point, "iterations") >= iterations;
            above = later ? above : number(point, "residual");
            below = later && below == 0.0 ? number(point, "residual") : below;
        }
        assert_true(above > target && below <= target && below > 0.0);
    }
    // at a limit of 3 it ends its process: what is known of its curve stays
    curve = cJSON_GetObjectItemCaseSensitive(row_of(json, 1), "curve");
    assert_int_equal(cJSON_GetArraySize(curve), 3);
    assert_string_equal(text_of(row_of(json, 1), "status"), "not_converged");
    assert_string_equal(text_of(row_of(json, 1), "curve_note"), "a shorter solve came to no result");
    cJSON_Delete(json);
}

// Both measure by the largest of the maps; wrong_tolerance stops at 1e-8 m/s whatever it is told.
static void a_curve_goes_on_where_a_row_stops_short_of_its_target(void **state) {
    (void)state;
    char words[1024];
    snprintf(words, sizeof words, "%s --solvers wrong_none,wrong_tolerance --max-iterations 1000 --curves", good);
    cJSON *json = compare_json(words);
    for (int i = 0; i < 2; i++) {
        const cJSON *row = row_of(json, i), *curve = cJSON_GetObjectItemCaseSensitive(row, "curve");
        const cJSON *last = cJSON_GetArrayItem(curve, cJSON_GetArraySize(curve) - 1);
        const cJSON *reached = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(row, "reached"), 2);
        assert_string_equal(text_of(row, "status"), "converged");
        assert_true(number(row, "residual") > 1e-9);
        assert_true((i == 0) == (number(last, "residual") <= 1e-9));
        assert_true((i == 0) == (number(last, "iterations") > number(row, "iterations")));
        assert_true((i == 0) == (number(reached, "iterations") > number(row, "iterations")));
    }
    cJSON_Delete(json);
}

static void the_table_and_the_csv_have_a_line_for_each_row(void **state) {
    (void)state;
    char words[1024], text[8192];
    const char *csv = STN_BINARY_DIR "/tests/compare/rows.csv";
    snprintf(words, sizeof words, "compare %s %s --solvers pgs,wrong_crash --csv %s " QUIET, good, bad, csv);
    const char *table = stn_run_to(words, 0)->out;
    assert_non_null(strstr(table, "\ntwo.json         2  pgs          ncp          converged "));
    assert_non_null(strstr(table, "\nbad.json  failed: "));
    assert_non_null(strstr(table, "\n1 converged, 3 failed\n"));
    FILE *file = fopen(csv, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    const char *start = "problem,contacts,nv,solver,formulation,status,judged_by,residual,momentum,";
    assert_memory_equal(text, start, strlen(start));
    assert_non_null(strstr(text, ",iterations,time_ms,repeats,iterations_1e-3,time_ms_1e-3,iterations_1e-6,"
                                 "time_ms_1e-6,iterations_1e-9,time_ms_1e-9,note\n"));
    assert_non_null(strstr(text, "two.json,2,6,pgs,ncp,converged,natural_scaled,"));
    assert_non_null(strstr(text, "two.json,2,6,wrong_crash,ncp,failed,natural_scaled,,,,"));
    assert_non_null(strstr(text, "bad.json,,,pgs,ncp,failed,natural_scaled,,,,"));
    int32_t lines = 0;
    for (const char *at = text; *at != '\0'; at++) {
        lines += *at == '\n';
    }
    assert_int_equal(lines, 5);
    snprintf(words, sizeof words, "compare %s --solvers pgs --csv %s 2>&1 >/dev/null", good, csv);
    snprintf(text, sizeof text, "written: %s\n", csv);
    stn_expect(words, 0, text);
    unlink(csv);
}

static void parameters_go_to_the_solvers_that_they_name(void **state) {
    (void)state;
    char words[1024];
    snprintf(words, sizeof words,
             "%s --solvers pgs,nsgs,pgs:max_iterations=7 --max-iterations 3 --set pgs.max_iterations=5", good);
    cJSON *json = compare_json(words);
    static const double limits[] = {5.0, 3.0, 7.0};
    for (int i = 0; i < 3; i++) {
        assert_near(number(row_of(json, i), "iterations"), limits[i], 0.0);
        assert_string_equal(text_of(row_of(json, i), "status"), "not_converged");
    }
    cJSON_Delete(json);
}

static void bad_usage_is_one_line_and_status_2(void **state) {
    (void)state;
    const char *const rows[][2] = {
        {"", "needs PROBLEM...; see stiction compare --help\n"},
        {"@ --solvers nsgx", "--solvers: unknown solver nsgx; did you mean nsgs?"},
        {"@ --solvers xpbd", "--solvers: unknown solver xpbd; did you mean integrator xpbd?"},
        {"@ --solvers nsgs,nsgs", "--solvers: nsgs is named twice\n"},
        {"@ --solvers nsgs,,pgs", "--solvers nsgs,,pgs: a name is missing\n"},
        {"@ --solvers bisection:local", "--solvers bisection:local: expected ID:NAME=VALUE at \"local\"\n"},
        {"@ --solvers bisection:local=x", "bisection:local=x: solver bisection: local = \"x\", must be one of"},
        {"@ --solvers pgs:law=sap", "solver pgs takes no contact law"},
        {"@ --solvers sap:law=sop", "unknown law sop; did you mean sap?"},
        {"@ --solvers pgs --set nsgs.alpha=1", "--set nsgs.alpha=1: nsgs is none of the solvers that are compared\n"},
        {"@ --solvers pgs --set alpha=1", "--set alpha=1: expected SOLVER.NAME=VALUE"},
        {"@ --solvers pgs --set pgs.alpa=1", "--set: solver pgs: unknown parameter alpa; did you mean alpha?"},
        {"@ --solvers pgs --tolerance -1", "--tolerance: solver pgs: tolerance = -1, must be 0 to 1\n"},
        {"@ --timeout 0", "--timeout 0: must be > 0 s\n"},
        {"@ --jobs 0", "--jobs 0: must be at least 1\n"},
        {"@ --timeout 1e9 --html /nothere/a.html", "/nothere/a.html: cannot be written: No such file or directory\n"},
        {"@ --csv .", ".: cannot be written: it is not a regular file"},
        {"@ --solvers pgs --csv /nothere/a.csv", "/nothere/a.csv: cannot be written: No such file or directory\n"},
    };
    char self[1024];
    snprintf(self, sizeof self, "solve %s --out %s " BOTH, good, good);
    stn_expect_part(self, 2, "are one file; name another to write\n");
    for (int32_t i = 0; i < 2; i++) {
        snprintf(self, sizeof self, "compare %s --solvers pgs --%s %s " BOTH, good, i == 0 ? "csv" : "html", good);
        stn_expect_part(self, 2, "are one file; name another to write\n");
    }
    for (int32_t i = 0; i < STN_COUNT(rows); i++) {
        char words[1024], expected[1100];
        bool named = rows[i][0][0] == '@';
        snprintf(words, sizeof words, "compare %s%s " BOTH, named ? good : "", rows[i][0] + named);
        snprintf(expected, sizeof expected, "stiction compare: %s", rows[i][1]);
        stn_expect_part(words, 2, expected);
    }
}

/// Outside of jobs nothing but the exit status could say that the command did not come to its end.
static void a_solver_that_exits_does_not_pass_for_success(void **state) {
    (void)state;
    char words[1024];
    snprintf(words, sizeof words, "solve %s --solver wrong_leave --max-iterations 4 " BOTH, good);
    stn_expect_part(words, 2, "stiction: a plugin, or a library that it uses, called exit");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_is_a_row_judged_by_what_the_solver_solves),
        cmocka_unit_test(what_a_solver_does_wrong_is_a_row),
        cmocka_unit_test(a_solver_without_end_is_a_row),
        cmocka_unit_test(a_solver_that_exits_does_not_pass_for_success),
        cmocka_unit_test(a_problem_that_a_solver_does_not_treat_is_refused),
        cmocka_unit_test(a_file_that_cannot_be_read_is_a_row_unless_none_can),
        cmocka_unit_test(what_reading_a_problem_warns_of_stands_beside_it),
        cmocka_unit_test(cold_forgets_the_start_that_a_file_gives),
        cmocka_unit_test(curves_are_solves_with_growing_limits),
        cmocka_unit_test(a_curve_goes_on_where_a_row_stops_short_of_its_target),
        cmocka_unit_test(the_table_and_the_csv_have_a_line_for_each_row),
        cmocka_unit_test(parameters_go_to_the_solvers_that_they_name),
        cmocka_unit_test(bad_usage_is_one_line_and_status_2),
    };
    return cmocka_run_group_tests(tests, write_problems, NULL);
}
