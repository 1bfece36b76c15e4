// SPDX-License-Identifier: Apache-2.0
// stiction solve as a user meets it: the example of the manual, the public problems, what goes wrong.
#include "stn_command.h"

#include <cjson/cJSON.h>

#define QUIET "2>/dev/null"
#define BOTH  "2>&1"

static const char *const folder = STN_SHARED_DIR "/reference/i_multicontact";
static const char *const example = STN_BINARY_DIR "/tests/solve_example.json";

static char *read_file(const char *path) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = malloc((size_t)1 << 22);
    size_t size = fread(text, 1, ((size_t)1 << 22) - 1, file);
    text[size] = '\0';
    fclose(file);
    return text;
}

/// The JSON block of docs/contact-problem.md into a file.
static int write_example(void **state) {
    (void)state;
    char *manual = read_file(STN_SOURCE_DIR "/docs/contact-problem.md");
    char *start = strstr(manual, "```json\n"), *end = start != NULL ? strstr(start + 8, "```") : NULL;
    FILE *file = fopen(example, "w");
    bool written = end != NULL && file != NULL && fwrite(start + 8, 1, (size_t)(end - start - 8), file) > 0;
    free(manual);
    return file != NULL && fclose(file) == 0 && written ? 0 : -1;
}

static cJSON *solve_json(const char *words, int status) {
    char line[1024];
    snprintf(line, sizeof line, "solve %s --json " QUIET, words);
    cJSON *json = cJSON_Parse(stn_run_to(line, status)->out);
    assert_non_null(json);
    return json;
}

static double number(const cJSON *json, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);
    assert_true(cJSON_IsNumber(item));
    return item->valuedouble;
}

static const char *text_of(const cJSON *json, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);
    assert_true(cJSON_IsString(item));
    return item->valuestring;
}

// A block of 2 kg that slides along x: m (v - v_star) = gamma, and gamma_t = -mu gamma_n.
static void the_example_of_the_manual_solves(void **state) {
    (void)state;
    char words[512];
    snprintf(words, sizeof words, "%s --full --tolerance 1e-12", example);
    cJSON *json = solve_json(words, 0);
    assert_string_equal(text_of(json, "problem"), example);
    assert_string_equal(text_of(json, "solver"), "sap");
    assert_string_equal(text_of(json, "law"), "sap");
    assert_string_equal(text_of(json, "formulation"), "regularized");
    assert_string_equal(text_of(json, "status"), "converged");
    assert_near(number(json, "nv"), 3.0, 0.0);
    assert_near(number(json, "contacts"), 1.0, 0.0);
    assert_true(number(json, "time_ms") > 0.0 && number(json, "iterations") >= 1.0);
    assert_true(cJSON_IsObject(cJSON_GetObjectItem(json, "certificate")));
    const cJSON *v = cJSON_GetObjectItem(json, "v"), *gamma = cJSON_GetObjectItem(json, "gamma");
    const double v_star[3] = {1.0, 0.0, -0.1};
    double g[3];
    for (int k = 0; k < 3; k++) {
        g[k] = cJSON_GetArrayItem(gamma, k)->valuedouble;
        assert_near(2.0 * (cJSON_GetArrayItem(v, k)->valuedouble - v_star[k]), g[k], 1e-11);
    }
    assert_near(g[0], -0.5 * g[2], 1e-12);
    cJSON_Delete(json);
}

static void the_whole_result_goes_to_a_file(void **state) {
    (void)state;
    char words[1024];
    const char *out = STN_BINARY_DIR "/tests/solve_result.json";
    snprintf(words, sizeof words, "solve %s --out %s " QUIET, example, out);
    stn_expect_part(words, 0, "converged");
    char *text = read_file(out);
    cJSON *json = cJSON_Parse(text);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "gamma")), 3);
    cJSON_Delete(json);
    free(text);
    unlink(out);
}

static void a_file_with_the_name_of_a_part_stays_as_it_is(void **state) {
    (void)state;
    char words[1024];
    const char *out = STN_BINARY_DIR "/tests/solve_beside.json",
               *other = STN_BINARY_DIR "/tests/solve_beside.json.part";
    FILE *file = fopen(other, "w");
    assert_true(file != NULL && fputs("mine", file) >= 0 && fclose(file) == 0);
    snprintf(words, sizeof words, "solve %s --out %s " QUIET, example, out);
    stn_expect_part(words, 0, "converged");
    char *text = read_file(other);
    assert_string_equal(text, "mine");
    free(text);
    assert_int_equal(unlink(out), 0);
    unlink(other);
}

static void too_few_iterations_are_status_3_with_the_result(void **state) {
    (void)state;
    skip_without(folder);
    char words[512];
    snprintf(words, sizeof words, "%s/p001.json --max-iterations 2", folder);
    cJSON *json = solve_json(words, 3);
    assert_string_equal(text_of(json, "status"), "not_converged");
    assert_string_equal(text_of(json, "reason"), "iterations");
    assert_near(number(json, "iterations"), 2.0, 0.0);
    assert_null(cJSON_GetObjectItem(json, "v"));
    cJSON_Delete(json);
}

static void bad_input_is_one_line_and_status_2(void **state) {
    (void)state;
    const char *const rows[][2] = {
        {"", "needs PROBLEM; see stiction solve --help\n"},
        {"/nothere.json", "/nothere.json: cannot be read: No such file or directory\n"},
        {"/dev/zero", "/dev/zero: cannot be read: it is no regular file\n"}, // 2 GiB of it were read
        {"/dev/zero --solver bisection", "/dev/zero: cannot be read: it is no regular file\n"},
        {"/tmp", "/tmp: cannot be read: Is a directory\n"},
        {"@ --solver sab", "unknown solver sab; did you mean sap?"},
        {"@ --law sab", "unknown law sab; did you mean sap?"},
        {"@ --law jkr", "unknown law jkr; there are barrier, hertz,"},
        {"@ --out nowhere/a.json", "nowhere/a.json: cannot be written: No such file or directory\n"},
        {"@ --tolerance -1", "--tolerance: solver sap: tolerance = -1, must be 0 to 1\n"},
        {"@ --max-iterations 0", "--max-iterations: solver sap: max_iterations = 0"},
        {"@ --set tolerance=1", "--set tolerance=1: expected solver.NAME=VALUE or law.NAME=VALUE\n"},
        {"@ --set solver.tol=1", "--set: solver sap: unknown parameter tol"},
        {"@ --set law.sigma=x", "--set: law sap: sigma = \"x\", must be a finite number\n"},
        {"@ --set factor.a=1", "--set factor.a needs --factor ID\n"},
        {"@ --out a.txt", "--out a.txt: the name must end in .hdf5 or .h5; for the whole result in .json\n"},
        {"@ --threads 0", "threads = 0, must be 1 to 1024\n"},
    };
    for (int32_t i = 0; i < STN_COUNT(rows); i++) {
        char words[1024], expected[1100];
        bool named = rows[i][0][0] == '@';
        snprintf(words, sizeof words, "solve %s%s " BOTH, named ? example : "", rows[i][0] + named);
        snprintf(expected, sizeof expected, "stiction solve: %s", rows[i][1]);
        stn_expect_part(words, 2, expected);
    }
}

/// A problem of one contact that states a parameter of its law, NULL: none.
static void write_stating(const char *path, const char *member) {
    static const char *const form =
        "{ \"format\": \"contact-problem-2\", \"form\": \"global\", \"dt\": 0.01, %s \"trees\": [ { \"A\": { "
        "\"form\": \"diagonal\", \"n\": 3, \"values\": [2, 2, 2] } } ], \"v_star\": [2e-3, 0, -0.1], \"constraints\": "
        "[ { \"id\": \"7\", \"kind\": \"contact\", \"set\": \"cone\", \"rows\": 3, \"mu1\": 0.05, \"mu2\": 0.05, "
        "\"phi0\": -1e-4, \"stiffness\": 1e5, \"dissipation\": 0, \"relaxation_time\": 0, \"J\": [ { \"tree\": 0, "
        "\"values\": [1, 0, 0, 0, 1, 0, 0, 0, 1] } ] } ] }";
    char stated[64] = "";
    if (member != NULL) {
        snprintf(stated, sizeof stated, "\"%s\": 0.005,", member);
    }
    FILE *file = fopen(path, "w");
    assert_true(file != NULL && fprintf(file, form, stated) > 0);
    assert_int_equal(fclose(file), 0);
}

/// Velocity along the slip, and the note of the result.
static double slip_of(const char *words, char note[512]) {
    cJSON *json = solve_json(words, 0);
    const cJSON *said = cJSON_GetObjectItem(json, "note");
    snprintf(note, 512, "%s", cJSON_IsString(said) ? said->valuestring : "");
    double v = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "v"), 0)->valuedouble;
    cJSON_Delete(json);
    return v;
}

static void what_a_file_states_stands_before_the_default_of_every_law_and_a_setting_before_both(void **state) {
    (void)state;
    static const struct {
        const char *law, *member, *usual;
    } rows[] = {
        {"lagged", "stiction_tolerance", "1e-4"},  {"lagged_regularized", "stiction_tolerance", "1e-4"},
        {"similar", "stiction_tolerance", "1e-4"}, {"hertz", "stiction_tolerance", "1e-4"},
        {"table", "stiction_tolerance", "1e-4"},   {"sap", "sigma", "1e-3"},
    };
    const char *stated = STN_BINARY_DIR "/tests/solve_states.json",
               *bare = STN_BINARY_DIR "/tests/solve_states_none.json";
    write_stating(bare, NULL);
    for (int32_t i = 0; i < STN_COUNT(rows); i++) {
        char words[512], note[512], expected[128];
        write_stating(stated, rows[i].member);
        snprintf(words, sizeof words, "%s --law %s --full", stated, rows[i].law);
        double by_file = slip_of(words, note);
        assert_string_equal(note, "");
        snprintf(words, sizeof words, "%s --law %s --full --set law.%s=0.005", bare, rows[i].law, rows[i].member);
        assert_true(by_file == slip_of(words, note));
        snprintf(words, sizeof words, "%s --law %s --full", bare, rows[i].law);
        double usual = slip_of(words, note);
        assert_true(fabs(by_file - usual) > 1e-6);
        snprintf(words, sizeof words, "%s --law %s --full --set law.%s=%s", stated, rows[i].law, rows[i].member,
                 rows[i].usual);
        assert_true(usual == slip_of(words, note));
        snprintf(expected, sizeof expected, "%s = 0.005 of the file is not used: law.%s was set", rows[i].member,
                 rows[i].member);
        assert_non_null(strstr(note, expected));
    }
    remove(stated);
    remove(bare);
}

/// The example with one part of it replaced; "": cut off before it.
static void write_spoiled(const char *path, const char *part, const char *with) {
    char *text = read_file(example), *at = strstr(text, part);
    FILE *file = fopen(path, "w");
    assert_true(at != NULL && file != NULL);
    fwrite(text, 1, (size_t)(at - text), file);
    fprintf(file, "%s%s", with, with[0] != '\0' ? at + strlen(part) : "");
    assert_int_equal(fclose(file), 0);
    free(text);
}

static void a_spoiled_problem_is_one_line_and_status_2(void **state) {
    (void)state;
    static const char *const rows[][3] = {
        {"\"v_star\"", "", "line 3: the file ends before its JSON is complete"},
        {"[2, 2, 2]", "[2, 2]", "2 numbers"},
        {"[2, 2, 2]", "[2, -2, 2]", "is not positive semidefinite: diagonal entry 1 is -2"},
        {"[2, 2, 2]", "[2, 1e999, 2]", "entry 1 is too large a number, expected a finite number"},
        {"[2, 2, 2]", "[2, NaN, 2]", "not JSON at"},
        {"[2, 2, 2]", "[2, \"2\", 2]", "values"},
        {"\"form\": \"diagonal\", \"n\": 3, \"values\": [2, 2, 2]",
         "\"form\": \"dense\", \"n\": 3, \"values\": [2, 1, 0, 0, 2, 0, 0, 0, 2]", "is not symmetric: entry (1, 0)"},
        {"\"n\": 3", "\"n\": 2000000000", "2000000000"},
        {"\"mu1\": 0.5", "\"mu1\": -0.5", "mu1 = -0.5, must be >= 0"},
        {"\"tree\": 0", "\"tree\": 7", "7"},
        {"\"rows\": 3", "\"rows\": 9", "9"},
        {"\"dt\": 0.01", "\"dt\": 0", "dt = 0"},
        {"\"kind\": \"contact\"", "\"kind\": \"glue\"", "glue"},
        {"\"dt\"", "\"ddt\"", "ddt"},
        {"\"v_star\": [1, 0, -0.1]", "\"v_star\": [1, 0, null]", "v_star"},
        {"contact-problem-2", "contact-problem-9", "contact-problem-9"},
    };
    const char *const path = STN_BINARY_DIR "/tests/solve_spoiled.json";
    for (int32_t i = 0; i < STN_COUNT(rows); i++) {
        char words[512];
        write_spoiled(path, rows[i][0], rows[i][1]);
        snprintf(words, sizeof words, "solve %s " BOTH, path);
        const char *text = stn_run_to(words, 2)->out;
        if (strstr(text, rows[i][2]) == NULL) {
            fail_msg("no \"%s\" in: %s", rows[i][2], text);
        }
        assert_true(strncmp(text, "stiction solve: ", 16) == 0 && strstr(text, "solve_spoiled.json: ") != NULL);
        assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    }
    remove(path);
}

static void parameters_reach_the_solver(void **state) {
    (void)state;
    skip_without(folder);
    double iterations[2];
    const char *const searches[] = {"exact", "armijo"};
    for (int32_t k = 0; k < 2; k++) {
        char words[512];
        snprintf(words, sizeof words, "%s/p010.json --set solver.line_search=%s", folder, searches[k]);
        cJSON *json = solve_json(words, 0);
        iterations[k] = number(json, "iterations");
        cJSON_Delete(json);
    }
    assert_true(iterations[0] != iterations[1]);
}

/// A block on a table whose W is skew by 1e-2 of its largest entry; and digits that run out.
static void a_floor_is_told_with_the_result(void **state) {
    (void)state;
    const char *const path = STN_BINARY_DIR "/tests/solve_skew.json";
    FILE *file = fopen(path, "w");
    assert_true(file != NULL &&
                fputs("{ \"format\": \"contact-problem-2\", \"form\": \"local\", \"dt\": 1, "
                      "\"general_W\": true, \"W\": [2, 0.02, 0, 0, 2, 0, 0, 0, 2], "
                      "\"q\": [3, 0, -1], \"constraints\": [{ \"id\": \"1\", \"kind\": \"contact\", "
                      "\"set\": \"cone\", \"rows\": 3, \"mu1\": 0.5, \"mu2\": 0.5 }] }",
                      file) >= 0 &&
                fclose(file) == 0);
    char words[512];
    snprintf(words, sizeof words, "%s --solver nsgs", path);
    cJSON *json = solve_json(words, 0);
    assert_non_null(strstr(text_of(json, "note"), "W is not symmetric, by 1.0e-02 of its largest entry"));
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(json, "stalled")));
    cJSON_Delete(json);
    snprintf(words, sizeof words, "solve %s --solver nsgs " BOTH, path);
    const char *text = stn_run_to(words, 0)->out, *said = strstr(text, "not symmetric");
    assert_true(said != NULL && strstr(said + 1, "not symmetric") == NULL); // once
    remove(path);
    snprintf(words, sizeof words, "%s --tolerance 0", example);
    json = solve_json(words, 3);
    assert_string_equal(text_of(json, "status"), "not_converged");
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(json, "stalled")));
    assert_non_null(strstr(text_of(json, "note"), "stalled: "));
    cJSON_Delete(json);
    snprintf(words, sizeof words, "%s", example);
    json = solve_json(words, 0);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(json, "note")));
    cJSON_Delete(json);
}

/// Friction on a square is not Coulomb's: what has converged is said beside the residual of the other.
static void another_model_than_coulombs_is_named(void **state) {
    (void)state;
    char words[512];
    snprintf(words, sizeof words, "%s --solver pgs --set solver.friction=pyramid", example);
    cJSON *json = solve_json(words, 0);
    assert_string_equal(text_of(json, "formulation"), "lcp");
    assert_string_equal(text_of(json, "note"),
                        "the status is that of friction on a pyramid (lcp); natural_ncp is how far "
                        "this is from Coulomb's law");
    cJSON_Delete(json);
}

static const char *const singles = STN_BINARY_DIR "/tests/single_contacts.csv";
static const char *const header = "id,note,mu,Wxx,Wxy,Wxz,Wyy,Wyz,Wzz,cx,cy,cz\n";

static void write_singles(const char *first, const char *rows) {
    FILE *file = fopen(singles, "w");
    assert_true(file != NULL && fputs(first, file) >= 0 && fputs(rows, file) >= 0 && fclose(file) == 0);
}

// Blocks of 2 kg: one lifts off, one sticks, one slides.
static void single_contacts_are_a_line_each(void **state) {
    (void)state;
    static const char *const kinds[] = {"open", "stick", "slip"};
    static const double l[3][3] = {{0.0, 0.0, 0.0}, {-0.2, 0.4, 2.0}, {-0.6, 0.8, 2.0}};
    write_singles(header, "4,a,0.5,0.5,0,0,0.5,0,0.5,1,0,0.5\r\n5,,0.5,0.5,0,0,0.5,0,0.5,0.1,-0.2,-1\n"
                          "6,b,0.5,0.5,0,0,0.5,0,0.5,3,-4,-1");
    static const char *const ways[] = {"", "--local bisection", "--local golden", "--local quartic --tolerance 1e-10"};
    for (int32_t k = 0; k < STN_COUNT(ways); k++) {
        char words[512];
        snprintf(words, sizeof words, "solve %s %s " QUIET, singles, ways[k]);
        const char *at = stn_run_to(words, 0)->out;
        for (int32_t i = 0; i < 3; i++) {
            const char *end = NULL;
            cJSON *json = cJSON_ParseWithOpts(at, &end, false);
            assert_non_null(json);
            assert_near(number(json, "id"), 4.0 + i, 0.0);
            assert_string_equal(text_of(json, "kind"), kinds[i]);
            assert_true(number(json, "ns") >= 0.0);
            for (int32_t r = 0; r < 3; r++) {
                assert_near(cJSON_GetArrayItem(cJSON_GetObjectItem(json, "l"), r)->valuedouble, l[i][r], 1e-9);
            }
            cJSON_Delete(json);
            assert_true(*end == '\n');
            at = end + 1;
        }
        assert_true(*at == '\0');
    }
    unlink(singles);
}

static void a_bad_file_of_single_contacts_is_one_line(void **state) {
    (void)state;
    const char *const good = "1,,0.5,0.5,0,0,0.5,0,0.5,1,0,0.5\n";
    const char *const rows[][3] = {
        {"", "", ":1: the file is empty\n"},
        {"id,mu,Wxx\n", "", ":1: the header names no column 'Wxy'; id, mu, Wxx, "},
        {header, "2,,0.5,0.5,0,0,0.5,0,0.5,1,0\n", ":3: 11 fields, the header has 12\n"},
        {header, "2,,0.5,0.5,0,0,0.5,0,0.5,1,0,nan\n", ":3: cz = 'nan' must be a finite number\n"},
        {header, "2,,-0.5,0.5,0,0,0.5,0,0.5,1,0,1\n", ":3: mu = -0.5 must be >= 0\n"},
        {header, "\n2,,0.5,0.5,0,0,0.5,0,-0.5,1,0,1\n", ":4: W must be positive definite\n"},
    };
    for (int32_t i = 0; i < STN_COUNT(rows); i++) {
        char text[512], words[512], expected[512];
        snprintf(text, sizeof text, "%s%s", i < 2 ? "" : good, rows[i][1]);
        snprintf(words, sizeof words, "solve %s " BOTH, singles);
        snprintf(expected, sizeof expected, "stiction solve: %s%s", singles, rows[i][2]);
        write_singles(rows[i][0], text);
        stn_expect_part(words, 2, expected);
    }
    char words[512];
    write_singles(header, good);
    snprintf(words, sizeof words, "solve %s --solver sap " BOTH, singles);
    stn_expect_part(words, 2, "solver sap does not solve single contacts; bisection does\n");
    snprintf(words, sizeof words, "solve %s --local newton " BOTH, singles);
    stn_expect_part(words, 2, "--local: solver bisection: local = \"newton\", must be one of");
    unlink(singles);
}

static void what_means_nothing_for_single_contacts_is_refused(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"--law sap", "--law means nothing for a CSV of single contacts\n"},
        {"--factor dense", "--factor means nothing"},
        {"--max-iterations 5", "--max-iterations means nothing"},
        {"--threads 2", "--threads means nothing"},
        {"--full", "--full means nothing"},
        {"--out singles.json", "--out means nothing"},
        {"--set law.sigma=1", "--set law.NAME means nothing"},
        {"--set factor.x=1", "--set factor.NAME means nothing"},
        {"--set solver.max_iterations=5", "--set solver.max_iterations means nothing"},
        {"--set solver.alpha=0.5", "--set solver.alpha means nothing for a CSV of single contacts\n"},
        {"--set solver.acceleration=3", "--set solver.acceleration means nothing"},
        {"--set solver.tolerance=1e-3", "--set solver.tolerance means nothing for a CSV of single contacts: use "
                                        "--tolerance\n"},
        {"--tolerance 0", "--tolerance 0: must be > 0 and finite\n"},
    };
    write_singles(header, "1,,0.5,0.5,0,0,0.5,0,0.5,1,0,0.5\n");
    char words[512], expected[256];
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        snprintf(words, sizeof words, "solve %s %s " BOTH, singles, cases[i][0]);
        snprintf(expected, sizeof expected, "stiction solve: %s", cases[i][1]);
        stn_expect_part(words, 2, expected);
    }
    snprintf(words, sizeof words, "solve %s --json --set solver.local=quartic " QUIET, singles);
    stn_expect_part(words, 0, "{\"id\":1,\"kind\":\"open\"");
    unlink(singles);
}

/// A point with A = diag(2, 0, 0) on a plane, friction 0.5, and an impulse on it.
static void write_semidefinite(const char *path, const char *A, const char *impulse) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "{ \"format\": \"contact-problem-2\", \"form\": \"global\", \"dt\": 0.01, \"v_star\": [0, 0, 0], "
            "\"free_impulse\": %s, \"trees\": [ { \"A\": { \"form\": \"dense\", \"n\": 3, \"values\": %s } } ], "
            "\"constraints\": [ { \"id\": \"1\", \"kind\": \"contact\", \"set\": \"cone\", \"rows\": 3, \"phi0\": 0, "
            "\"J\": [ { \"tree\": 0, \"values\": [1, 0, 0, 0, 1, 0, 0, 0, 1] } ], \"stiffness\": 1e4, "
            "\"relaxation_time\": 0.01, \"mu1\": 0.5, \"mu2\": 0.5 } ] }",
            impulse, A);
    fclose(file);
}

// Held: the plane carries 0.1, friction takes 0.05 of 0.3 along the one direction that has mass. Else nothing holds it.
static void a_semidefinite_A_is_solved_refused_or_an_error(void **state) {
    (void)state;
    const char *path = STN_BINARY_DIR "/tests/solve_semidefinite.json", *singular = "[2, 0, 0, 0, 0, 0, 0, 0, 0]";
    const char *const able[] = {"sap",      "admm_split", "admm_split_ncp", "admm",
                                "admm_ncp", "ipm",        "lemke",          "newton_ncp"};
    const char *const unable[] = {"apgd", "nsgs", "pgs", "bisection", "auto"};
    char words[512], text[256];
    write_semidefinite(path, singular, "[0.3, 0, -0.1]");
    for (int32_t i = 0; i < STN_COUNT(able); i++) {
        snprintf(words, sizeof words, "%s --full --solver %s", path, able[i]);
        cJSON *json = solve_json(words, 0);
        const cJSON *v = cJSON_GetObjectItem(json, "v"), *gamma = cJSON_GetObjectItem(json, "gamma");
        assert_near(cJSON_GetArrayItem(v, 0)->valuedouble, 0.125, 1e-6);
        assert_near(cJSON_GetArrayItem(gamma, 0)->valuedouble, -0.05, 1e-6);
        assert_near(cJSON_GetArrayItem(gamma, 2)->valuedouble, 0.1, 1e-6);
        assert_true(number(cJSON_GetObjectItem(json, "certificate"), "momentum") <= 1e-6);
        cJSON_Delete(json);
    }
    for (int32_t i = 0; i < STN_COUNT(unable); i++) {
        snprintf(words, sizeof words, "%s --solver %s", path, unable[i]);
        snprintf(text, sizeof text, "solver %s needs the inverse of A, but A of tree 0 (source 0) is singular at dof 1",
                 unable[i]);
        cJSON *json = solve_json(words, 3);
        assert_string_equal(text_of(json, "status"), "failed");
        assert_non_null(strstr(text_of(json, "reason"), text));
        cJSON_Delete(json);
    }
    write_semidefinite(path, singular, "[0.3, 0, 0.1]");
    for (int32_t i = 0; i < STN_COUNT(able); i++) {
        snprintf(words, sizeof words, "%s --solver %s", path, able[i]);
        cJSON *json = solve_json(words, 3);
        assert_string_not_equal(text_of(json, "status"), "converged");
        if (i == 0) {
            assert_non_null(strstr(text_of(json, "reason"), "nothing holds tree 0 (source 0) along dof 2"));
        }
        cJSON_Delete(json);
    }
    write_semidefinite(path, "[2, 0, 0, 0, 1, 2, 0, 2, 1]", "[0.3, 0, -0.1]");
    snprintf(words, sizeof words, "solve %s " BOTH, path);
    stn_expect_part(words, 2, "tree 0 (source 0): A is not positive semidefinite");
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_semidefinite_A_is_solved_refused_or_an_error),
        cmocka_unit_test(the_example_of_the_manual_solves),
        cmocka_unit_test(the_whole_result_goes_to_a_file),
        cmocka_unit_test(a_file_with_the_name_of_a_part_stays_as_it_is),
        cmocka_unit_test(too_few_iterations_are_status_3_with_the_result),
        cmocka_unit_test(bad_input_is_one_line_and_status_2),
        cmocka_unit_test(what_a_file_states_stands_before_the_default_of_every_law_and_a_setting_before_both),
        cmocka_unit_test(a_spoiled_problem_is_one_line_and_status_2),
        cmocka_unit_test(parameters_reach_the_solver),
        cmocka_unit_test(a_floor_is_told_with_the_result),
        cmocka_unit_test(another_model_than_coulombs_is_named),
        cmocka_unit_test(single_contacts_are_a_line_each),
        cmocka_unit_test(a_bad_file_of_single_contacts_is_one_line),
        cmocka_unit_test(what_means_nothing_for_single_contacts_is_refused),
    };
    return cmocka_run_group_tests(tests, write_example, NULL);
}
