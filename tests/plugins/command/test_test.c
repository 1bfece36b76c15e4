// SPDX-License-Identifier: Apache-2.0
// stiction test: what counts as a test, what it prints, and its exit statuses.
#include "stn_command.h"
#include "stn_folder.h"

#include <sys/stat.h>

#define QUIET "2>/dev/null"

static int enter(void **state) {
    return enter_folder(state) != 0 || mkdir("sub", 0700) != 0 || mkdir("sub/lib", 0700) != 0;
}

static void expect_last_line(const char *words, int status, const char *last) {
    const stn_run *run = stn_run_to(words, status);
    size_t length = strlen(run->out), wanted = strlen(last);
    assert_true(length >= wanted);
    assert_string_equal(run->out + length - wanted, last);
}

static void test_every_test_and_every_plain_file_counts(void **state) {
    (void)state;
    write_file("a.lua",
               "local stn = require 'stiction'\nstn.test('one', function() end)\nstn.test('two', function() end)\n");
    write_file("sub/b.lua", "assert(1 == 1)\n");
    write_file("sub/notes.txt", "no script\n");
    write_file("sub/lib/shared.lua", "error 'a module is no test'\n");
    expect_last_line("test . " QUIET, 0, "\n3 passed, 0 failed\n");
    expect_last_line("test a.lua sub sub/b.lua --jobs 2 " QUIET, 0, "\n3 passed, 0 failed\n");
    expect_last_line("test . -k tw " QUIET, 0, "\n1 passed, 0 failed\n");
}

static void test_failures_name_file_and_line(void **state) {
    (void)state;
    write_file("a.lua",
               "local stn = require 'stiction'\n"
               "stn.test('good', function() end)\n"
               "stn.test('bad', function()\n  stn.near(1, 2, 0.5, 'the sum')\nend)\n"
               "stn.test('checked', function() stn.check('small', { value = 3, limit = 2, unit = 'm' }) end)\n");
    write_file("b.lua", "require 'stiction'.check('whole file', false)\n");
    write_file("c.lua", "\nerror 'no test at all'\n");
    write_file("d.lua", "assert(1 == 2, 'claim')\n");
    expect_last_line("test . " QUIET, 1, "\n1 passed, 5 failed\n");
    stn_expect_part("test a.lua " QUIET, 1, "a.lua:4: the sum = 1, expected 2: off by -1, allowed 0.5");
    stn_expect_part("test a.lua " QUIET, 1, "check failed: small: 3 is not at most 2 m");
    stn_expect_part("test c.lua " QUIET, 1, "c.lua:2: no test at all");
    stn_expect_part("test d.lua " QUIET, 1, "d.lua:1: claim");
}

static void test_skipped_tests_are_counted_apart(void **state) {
    (void)state;
    write_file("a.lua", "local stn = require 'stiction'\nstn.test('one', function() stn.skip 'no data' end)\n"
                        "stn.test('two', function() end)\n");
    write_file("b.lua", "require 'stiction'.skip 'not here'\n");
    expect_last_line("test . " QUIET, 0, "\n1 passed, 0 failed, 2 skipped\n");
    stn_expect_part("test b.lua " QUIET, 0, "not here");
}

static void test_a_file_that_ends_the_process_is_a_failure(void **state) {
    (void)state;
    write_file("a.lua", "require 'stiction'.test('one', function() end)\nos.exit(7)\n");
    write_file("b.lua", "assert(1 == 1)\n");
    expect_last_line("test . " QUIET, 1, "\n2 passed, 1 failed\n");
    stn_expect_part("test a.lua " QUIET, 1, "a.lua:2: os.exit: ended with exit status 7 before the end");
}

static void test_a_file_that_leaves_by_os_exit_is_a_failure(void **state) {
    (void)state;
    write_file("early.lua", "require 'stiction'.test('one', function() os.exit(true) end)\n");
    stn_expect_part("test early.lua " QUIET, 1, "ended with exit status 0 before the end of the script");
    write_file("late.lua", "require 'stiction'.test('one', function() end)\nos.exit(0)\n");
    expect_last_line("test late.lua " QUIET, 1, "\n1 passed, 1 failed\n");
}

static void test_an_error_that_is_no_text_says_where(void **state) {
    (void)state;
    write_file("a.lua", "require 'stiction'.test('one', function()\n  error(nil)\nend)\n");
    stn_expect_part("test a.lua " QUIET, 1, "a.lua:2: the script raised a nil value");
}

static void test_links_to_folders_above_have_an_end(void **state) {
    (void)state;
    assert_int_equal(mkdir("a", 0777), 0);
    assert_int_equal(mkdir("a/b", 0777), 0);
    assert_int_equal(symlink(".", "a/self") + symlink("../..", "a/b/top") + symlink("..", "a/b/up"), 0);
    assert_int_equal(symlink("b", "a/other"), 0); // a link that is no loop is followed
    write_file("a/b/c.lua", "assert(1 == 1)\n");
    expect_last_line("test a " QUIET, 0, "\n2 passed, 0 failed\n");
    assert_int_equal(system("rm -r a"), 0);
}

/// The next files that are opened would get its number.
static void test_a_closed_stdin_takes_nothing_of_the_output(void **state) {
    (void)state;
    write_file("a.lua", "require 'stiction'.test('one', function() end)\n");
    stn_expect_part("test a.lua <&- " QUIET, 0, "ok   a.lua: one");
}

/// All that a test began holds the pipe: its end comes with theirs.
static void test_an_interrupt_ends_what_tests_began(void **state) {
    (void)state;
    write_file("slow.lua", "require 'stiction'.test('one', function() os.execute 'echo begun >&9; sleep 60' end)\n");
    write_file("run.sh", "mkfifo pipe\n" COMMAND " test slow.lua 9>pipe &\ncommand=$!\n"
                         "timeout 40 cat pipe >said & reader=$!\n"
                         "until [ -s said ]; do sleep 0.01; done\n"
                         "kill -TERM $command\nwait $reader\n");
    assert_int_equal(system("sh run.sh 2>/dev/null"), 0);
}

static void expect_in(const char *path, const char *text) {
    static char content[20000];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    content[fread(content, 1, sizeof content - 1, file)] = '\0';
    fclose(file);
    assert_non_null(strstr(content, text));
}

/// The second test interrupts the command: results so far are told and written, the status is 130.
static void test_an_interrupt_tells_what_was_done(void **state) {
    (void)state;
    write_file("a.lua", "local stn = require 'stiction'\nstn.test('one', function() end)\n"
                        "stn.test('two', function() os.execute 'kill -TERM $(cat pid); sleep 60' end)\n"
                        "stn.test('three', function() end)\n");
    write_file("run.sh", "sh -c 'echo $$ >pid; exec " COMMAND
                         " test a.lua --junit a.xml \"$@\"' sh \"$@\" >said 2>&1; echo $? >>said\n");
    assert_int_equal(system("sh run.sh"), 0);
    expect_in("said", "ok   a.lua: one");
    expect_in("said", "stiction test: interrupted\n1 passed, 0 failed\n130\n");
    expect_in("a.xml", "tests=\"1\" failures=\"0\" errors=\"0\"");
    assert_int_equal(system("sh run.sh --tap"), 0);
    expect_in("said", "Bail out! interrupted\n# 1 passed, 0 failed\n130\n");
}

static void test_the_tier_is_for_scripts_to_ask(void **state) {
    (void)state;
    write_file("a.lua", "require 'stiction'.test(os.getenv 'STICTION_TEST_TIER' or 'none', function() end)\n");
    stn_expect_part("test a.lua --full " QUIET, 0, "ok   a.lua: full (");
    stn_expect_part("test a.lua --quick " QUIET, 0, "ok   a.lua: quick (");
}

static void test_bad_usage_is_status_2(void **state) {
    (void)state;
    stn_expect("test nowhere 2>&1 >/dev/null", 2, "stiction test: nowhere: No such file or directory\n");
    stn_expect("test . --jobs 0 2>&1 >/dev/null", 2, "stiction test: --jobs 0: must be at least 1\n");
    stn_expect_part("test 2>&1 >/dev/null", 2, "needs PATH");
    expect_last_line("test . " QUIET, 0, "0 passed, 0 failed\n");
    stn_expect("test . --quick --full 2>&1 >/dev/null", 2,
               "stiction test: --quick and --full are two tiers; choose one\n");
    write_file("a.lua", "require 'stiction'.test('one', function() end)\n");
    expect_last_line("test . -k two " QUIET, 2, "0 passed, 0 failed\n");
    stn_expect("test . -k two 2>&1 >/dev/null", 2,
               "stiction test: -k \"two\": no test's name contains it; --list tells the names\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_test_and_every_plain_file_counts, enter, leave_folder),
        cmocka_unit_test_setup_teardown(test_failures_name_file_and_line, enter, leave_folder),
        cmocka_unit_test_setup_teardown(test_skipped_tests_are_counted_apart, enter, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_file_that_ends_the_process_is_a_failure, enter, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_file_that_leaves_by_os_exit_is_a_failure, enter, leave_folder),
        cmocka_unit_test_setup_teardown(test_an_error_that_is_no_text_says_where, enter, leave_folder),
        cmocka_unit_test_setup_teardown(test_links_to_folders_above_have_an_end, enter, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_closed_stdin_takes_nothing_of_the_output, enter, leave_folder),
        cmocka_unit_test_setup_teardown(test_an_interrupt_ends_what_tests_began, enter, leave_folder),
        cmocka_unit_test_setup_teardown(test_an_interrupt_tells_what_was_done, enter, leave_folder),
        cmocka_unit_test_setup_teardown(test_the_tier_is_for_scripts_to_ask, enter, leave_folder),
        cmocka_unit_test_setup_teardown(test_bad_usage_is_status_2, enter, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
