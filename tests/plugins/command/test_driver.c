// SPDX-License-Identifier: Apache-2.0
// The command as a user meets it: words in, text and exit status out.
#include "stn_command.h"

#include <cjson/cJSON.h>

#define QUIET "2>/dev/null"
#define BOTH  "2>&1"

static void test_help_and_version_answer_on_stdout(void **state) {
    (void)state;
    stn_expect_part("--help " QUIET, 0, "usage: stiction COMMAND");
    stn_expect_part("--help " QUIET, 0, "plugins ");
    stn_expect("--version " QUIET, 0, "stiction " STN_VERSION ", plugin ABI 1.0\n");
    stn_expect_part("plugins --help " QUIET, 0, "usage: stiction plugins [ID|KIND|KIND/ID|PATH] [options]\n");
}

static void test_bad_usage_is_one_line_on_stderr_and_status_2(void **state) {
    (void)state;
    stn_expect_part("2>&1 >/dev/null", 2, "usage: stiction COMMAND");
    stn_expect("plugin " BOTH, 2, "stiction: unknown command plugin; did you mean plugins? see stiction --help\n");
    stn_expect("--versoin " BOTH, 2,
               "stiction: unknown option --versoin; did you mean --version? see stiction --help\n");
    stn_expect("plugins --jsn " BOTH, 2, "stiction plugins: unknown option --jsn; did you mean --json?\n");
    stn_expect("plugins a b " BOTH, 2, "stiction plugins: too many words at \"b\"; see stiction plugins --help\n");
    stn_expect("plugins --jsn " QUIET, 2, "");
}

static void test_an_output_that_cannot_be_written_is_a_failure(void **state) {
    (void)state;
    static const char *const words[] = {"plugins --json", "plugins",   "plugins sap",
                                        "--help",         "--version", "run --help"};
    for (int32_t i = 0; i < STN_COUNT(words); i++) {
        char line[64];
        snprintf(line, sizeof line, "%s 2>&1 >/dev/full", words[i]);
        stn_expect(line, 2,
                   "stiction: stdout cannot be written, part of the output is lost; is it closed, or its disk full?\n");
    }
}

static void test_plugins_lists_kind_id_and_summary(void **state) {
    (void)state;
    stn_expect_part("plugins " QUIET, 0, "\nrecorder      quiet");
    stn_expect_part("plugins recorder " QUIET, 0, "quiet");
    stn_expect("plugins 2>&1 >/dev/null", 0, "");
}

static void test_plugins_with_an_id_tells_what_can_be_set(void **state) {
    (void)state;
    stn_expect("plugins quiet " QUIET, 0,
               "recorder quiet 1.2.3\n"
               "  writes nothing\n"
               "  file: " FAKE_DIR "/good/recorder_quiet.so\n"
               "  gain = 0.5 m  (real, 0 to 2)\n"
               "      a length\n"
               "  every = 1  (int, 1 to 100)\n"
               "      steps between rows\n"
               "  flush = true  (bool)\n"
               "      write at once\n"
               "  shape = square  (choice, round | square)\n"
               "      of the marker\n"
               "  title = none  (text)\n"
               "      first line\n");
    stn_expect("plugins quite " BOTH, 2,
               "stiction plugins: unknown plugin quite; did you mean quiet? see stiction plugins\n");
    stn_expect_part("plugins recorder/quiet " QUIET, 0, "recorder quiet 1.2.3\n");
    stn_expect("plugins recorder/quite " BOTH, 2,
               "stiction plugins: unknown plugin recorder/quite; did you mean quiet? see stiction plugins\n");
    stn_expect_part("plugins law/quiet " BOTH, 2, "stiction plugins: unknown plugin law/quiet;");
}

static void test_a_path_shows_the_plugins_of_one_file(void **state) {
    (void)state;
    stn_expect_part("plugins " FAKE_DIR "/second/recorder_loud.so " QUIET, 0, "recorder loud 1.2.3\n");
    stn_expect_part("plugins --json " FAKE_DIR "/second/recorder_loud.so " QUIET, 0, "\"loud\"");
    stn_expect("plugins " FAKE_DIR "/bad/text.so " BOTH, 2,
               "stiction plugins: " FAKE_DIR "/bad/text.so: cannot be loaded: file too short\n");
}

static void test_refused_plugins_are_told_and_do_no_harm(void **state) {
    (void)state;
    setenv("STICTION_PLUGIN_PATH", FAKE_DIR "/bad:" FAKE_DIR "/good", 1);
    stn_expect_part("plugins " QUIET, 0, "\nrecorder      quiet");
    stn_expect_part("plugins 2>&1 >/dev/null", 0,
                    "warning: " FAKE_DIR "/bad/text.so: cannot be loaded: file too short\n");
    stn_expect_part("plugins text 2>&1", 2, // it may be the one that is missed
                    "warning: " FAKE_DIR "/bad/text.so: cannot be loaded: file too short\n");
    setenv("STICTION_PLUGIN_PATH", FAKE_DIR "/good", 1);
}

static void test_a_plugin_that_hides_one_of_its_id_says_so(void **state) {
    (void)state;
    setenv("STICTION_PLUGIN_PATH", FAKE_DIR "/second:" FAKE_DIR "/good", 1);
    stn_expect_part("plugins recorder " QUIET, 0, " (hides that of " FAKE_DIR "/good/recorder_quiet.so)\n");
    stn_expect_part("plugins quiet " QUIET, 0,
                    "  file: " FAKE_DIR "/second/recorder_quiet.so\n"
                    "  hides that of " FAKE_DIR "/good/recorder_quiet.so\n");
    setenv("STICTION_PLUGIN_PATH", FAKE_DIR "/good", 1);
}

static void test_channels_are_listed(void **state) {
    (void)state;
    stn_expect_part("plugins tendon " QUIET, 0,
                    "  channel length [m]  (1 number)\n"
                    "      at which the tendon is at rest\n"
                    "  channel tension [N]  (1 number)\n");
    stn_expect_part("plugins joint_pd " QUIET, 0, "  channel position [rad, m]  (one per velocity)\n");
    stn_expect_part("plugins constraint/spring --json " QUIET, 0, "\"name\":\t\"length\"");
}

static void test_outputs_are_listed(void **state) {
    (void)state;
    stn_expect_part(
        "plugins suction " QUIET, 0,
        "  output holding [1]  (1 number)\n"
        "      number of the body that it holds, 1 for the first after a; 0: none\n"
        "  output why [1]  (1 number: \"\" | \"released\" | \"force\" | \"shear\" | \"torque\" | \"no seal\")\n");
    stn_expect_part("plugins suction " QUIET, 0, "  output force [N]  (3 numbers)\n");
    stn_expect_part("plugins constraint/suction --json " QUIET, 0,
                    "\"words\":\t[\"\", \"released\", \"force\", \"shear\", \"torque\", \"no seal\"]");
}

static void test_a_refused_word_is_told_when_the_shipped_one_takes_its_place(void **state) {
    (void)state;
    char folder[] = "/tmp/stiction-driver-XXXXXX", file[64], line[200];
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/command_info.so", folder);
    FILE *broken = fopen(file, "w");
    assert_non_null(broken);
    fputs("no shared object\n", broken);
    fclose(broken);
    setenv("STICTION_PLUGIN_PATH", folder, 1);
    snprintf(line, sizeof line, "warning: %s: cannot be loaded: file too short; command info is that of ", file);
    stn_expect_part("info --help 2>&1 >/dev/null", 0, line);
    stn_expect_part("info --help " QUIET, 0, "usage: stiction info ");
    stn_expect("convert --help 2>&1 >/dev/null", 0, "");
    setenv("STICTION_PLUGIN_PATH", FAKE_DIR "/good", 1);
    unlink(file);
    rmdir(folder);
}

static void test_a_relative_folder_is_that_of_the_start(void **state) {
    (void)state;
    char here[4096];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(FAKE_DIR), 0);
    setenv("STICTION_PLUGIN_PATH", "nowhere::good:", 1);
    stn_expect_part("plugins quiet " QUIET, 0, "  file: " FAKE_DIR "/good/recorder_quiet.so\n");
    stn_expect_part("plugins 2>&1 >/dev/null", 0, "warning: " FAKE_DIR "/nowhere: folder cannot be read");
    setenv("STICTION_PLUGIN_PATH", FAKE_DIR "/good", 1);
    assert_int_equal(chdir(here), 0);
}

static const char *member(const cJSON *object, const char *name) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    assert_non_null(item);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static cJSON *read_json(const char *words) {
    static stn_run run;
    stn_run_command(&run, words);
    assert_int_equal(run.status, 0);
    cJSON *json = cJSON_Parse(run.out);
    assert_non_null(json);
    return json;
}

static void test_plugins_as_json_hold_every_documented_key(void **state) {
    (void)state;
    cJSON *json = read_json("plugins quiet --json " QUIET);
    const cJSON *plugins = cJSON_GetObjectItemCaseSensitive(json, "plugins");
    assert_int_equal(cJSON_GetArraySize(plugins), 1);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(json, "problems")), 0);
    const cJSON *plugin = cJSON_GetArrayItem(plugins, 0);
    assert_string_equal(member(plugin, "kind"), "recorder");
    assert_string_equal(member(plugin, "id"), "quiet");
    assert_string_equal(member(plugin, "version"), "1.2.3");
    assert_string_equal(member(plugin, "summary"), "writes nothing");
    assert_string_equal(member(plugin, "file"), FAKE_DIR "/good/recorder_quiet.so");
    assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(plugin, "reference")));
    assert_true(cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(plugin, "capabilities")));
    const cJSON *parameters = cJSON_GetObjectItemCaseSensitive(plugin, "parameters");
    assert_int_equal(cJSON_GetArraySize(parameters), 5);
    const cJSON *gain = cJSON_GetArrayItem(parameters, 0);
    assert_string_equal(member(gain, "name"), "gain");
    assert_string_equal(member(gain, "type"), "real");
    assert_string_equal(member(gain, "unit"), "m");
    assert_string_equal(member(gain, "text"), "a length");
    assert_near(cJSON_GetObjectItemCaseSensitive(gain, "default")->valuedouble, 0.5, 0.0);
    assert_near(cJSON_GetObjectItemCaseSensitive(gain, "max")->valuedouble, 2.0, 0.0);
    assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(gain, "choices")));
    const cJSON *shape = cJSON_GetArrayItem(parameters, 3);
    assert_string_equal(member(shape, "default"), "square");
    assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(shape, "min")));
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(shape, "choices")), 2);
    assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(parameters, 2), "default")));
    cJSON_Delete(json);
}

static int set_up(void **state) {
    (void)state;
    return setenv("STICTION_PLUGIN_PATH", FAKE_DIR "/good", 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_help_and_version_answer_on_stdout),
        cmocka_unit_test(test_bad_usage_is_one_line_on_stderr_and_status_2),
        cmocka_unit_test(test_an_output_that_cannot_be_written_is_a_failure),
        cmocka_unit_test(test_plugins_lists_kind_id_and_summary),
        cmocka_unit_test(test_plugins_with_an_id_tells_what_can_be_set),
        cmocka_unit_test(test_a_path_shows_the_plugins_of_one_file),
        cmocka_unit_test(test_refused_plugins_are_told_and_do_no_harm),
        cmocka_unit_test(test_a_plugin_that_hides_one_of_its_id_says_so),
        cmocka_unit_test(test_channels_are_listed),
        cmocka_unit_test(test_outputs_are_listed),
        cmocka_unit_test(test_a_refused_word_is_told_when_the_shipped_one_takes_its_place),
        cmocka_unit_test(test_a_relative_folder_is_that_of_the_start),
        cmocka_unit_test(test_plugins_as_json_hold_every_documented_key),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
