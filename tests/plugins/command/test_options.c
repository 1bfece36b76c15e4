// SPDX-License-Identifier: Apache-2.0
#include "stn_test.h"

#include <string.h>

#include "common/options.h"

/// What a command with one option of every form reads.
typedef struct answers {
    bool json;
    const char *out;
    double dt;
    int32_t jobs;
    cli_list set, words;
    int status;
} answers;

enum { MOST_WORDS = 12 };

/// Reads the words up to NULL.
static answers give(const char *const *given) {
    answers a = {.dt = 0.25, .jobs = 1};
    const cli_option options[] = {
        {"json", 0, CLI_FLAG, NULL, "JSON", &a.json},      {"out", 'o', CLI_TEXT, "FILE", "where to", &a.out},
        {"dt", 0, CLI_REAL, "S", "step", &a.dt},           {"jobs", 'j', CLI_INT, "N", "workers", &a.jobs},
        {"set", 0, CLI_TEXTS, "K=V", "parameter", &a.set},
    };
    const cli_command command = {"toy", "FILE [FILE]", "For tests.", options, STN_COUNT(options), 1, 2};
    char *argv[MOST_WORDS + 1] = {(char *)(uintptr_t) "toy"};
    int argc = 1;
    for (; given[argc - 1] != NULL; argc++) {
        argv[argc] = (char *)(uintptr_t)given[argc - 1];
    }
    a.status = cli_parse(&command, argc, argv, &a.words);
    return a;
}

#define READ(...) give((const char *const[]){__VA_ARGS__, NULL})

static void clear(answers *a) {
    cli_list_clear(&a->set);
    cli_list_clear(&a->words);
}

static void test_a_short_option_may_hold_its_value(void **state) {
    (void)state;
    answers a = READ("-j2", "-os.json", "in.hdf5");
    assert_int_equal(a.status, CLI_PROCEED);
    assert_int_equal(a.jobs, 2);
    assert_string_equal(a.out, "s.json");
    clear(&a);
    a = READ("-jx", "in.hdf5");
    assert_int_equal(a.status, STN_EXIT_BAD_INPUT);
    clear(&a);
}

static void test_every_form_of_option_reaches_its_target(void **state) {
    (void)state;
    answers a = READ("--json", "in.hdf5", "--out", "s.json", "--dt=1e-3", "-j", "2", "--set", "mu=1", "--set=k=2");
    assert_int_equal(a.status, CLI_PROCEED);
    assert_true(a.json);
    assert_string_equal(a.out, "s.json");
    assert_near(a.dt, 1e-3, 0.0);
    assert_int_equal(a.jobs, 2);
    assert_int_equal(a.set.count, 2);
    assert_string_equal(a.set.items[0], "mu=1");
    assert_string_equal(a.set.items[1], "k=2");
    assert_int_equal(a.words.count, 1);
    assert_string_equal(a.words.items[0], "in.hdf5");
    clear(&a);
}

static void test_targets_keep_their_values_without_options(void **state) {
    (void)state;
    answers a = READ("a", "b");
    assert_int_equal(a.status, CLI_PROCEED);
    assert_near(a.dt, 0.25, 0.0);
    assert_int_equal(a.jobs, 1);
    assert_null(a.out);
    assert_int_equal(a.words.count, 2);
    clear(&a);
}

static void test_words_that_begin_with_a_dash_follow_two_dashes(void **state) {
    (void)state;
    answers a = READ("--", "--json", "-");
    assert_int_equal(a.status, CLI_PROCEED);
    assert_false(a.json);
    assert_string_equal(a.words.items[0], "--json");
    clear(&a);
    a = READ("-");
    assert_string_equal(a.words.items[0], "-");
    clear(&a);
    a = READ("a", "--dt", "-2");
    assert_near(a.dt, -2.0, 0.0);
    clear(&a);
}

static void test_what_cannot_be_read_is_bad_usage_and_leaves_no_list(void **state) {
    (void)state;
    static const char *const bad[][4] = {
        {"a", "--jsn"},
        {"a", "-x"},
        {"a", "--json=1"},
        {"a", "--dt"},
        {"a", "--dt", "fast"},
        {"a", "-j", "2.5"},
        {"a", "-j", "1e99"},
        {"a", "--dt", "nan"},
        {"a", "b", "c"},
        {"--json"},
        {"a", "--jsonx"},
        {"a", "--"
              "dtx=1"},
    };
    for (int32_t i = 0; i < STN_COUNT(bad); i++) {
        answers a = give(bad[i]);
        assert_int_equal(a.status, STN_EXIT_BAD_INPUT);
        assert_null(a.words.items);
        assert_null(a.set.items);
    }
}

static void test_a_setting_splits_at_the_first_equals_sign(void **state) {
    (void)state;
    char name[8];
    stn_setting s;
    assert_true(cli_setting("case=a=b", name, sizeof name, &s));
    assert_string_equal(s.name, "case");
    assert_string_equal(s.text, "a=b");
    assert_int_equal(s.form, STN_SETTING_TEXT);
    assert_string_equal(s.where, "--set");
    assert_true(cli_setting("k=", name, sizeof name, &s));
    assert_string_equal(s.text, "");
    assert_false(cli_setting("=3", name, sizeof name, &s));
    assert_false(cli_setting("mu", name, sizeof name, &s));
    assert_false(cli_setting("too_long_a_name=3", name, sizeof name, &s));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_form_of_option_reaches_its_target),
        cmocka_unit_test(test_a_short_option_may_hold_its_value),
        cmocka_unit_test(test_targets_keep_their_values_without_options),
        cmocka_unit_test(test_words_that_begin_with_a_dash_follow_two_dashes),
        cmocka_unit_test(test_what_cannot_be_read_is_bad_usage_and_leaves_no_list),
        cmocka_unit_test(test_a_setting_splits_at_the_first_equals_sign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
