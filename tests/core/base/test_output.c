// SPDX-License-Identifier: Apache-2.0
// Files that are written: what was there stays until the new one is whole.
#define _GNU_SOURCE // mkdtemp
#include "stn_test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stiction/output.h>

static char folder[] = "/tmp/stn_output_XXXXXX";

static int set_up(void **state) {
    (void)state;
    memcpy(folder + sizeof folder - 7, "XXXXXX", 6);
    return mkdtemp(folder) != NULL && chdir(folder) == 0 ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    char line[64];
    snprintf(line, sizeof line, "rm -r %s", folder);
    return chdir("/") == 0 && system(line) == 0 ? 0 : -1;
}

static void make(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_true(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void assert_holds(const char *path, const char *text) {
    char held[64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    held[fread(held, 1, sizeof held - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(held, text);
}

static void assert_none(const char *path) {
    assert_int_equal(access(path, F_OK), -1);
}

static int32_t count_files(void) {
    FILE *pipe = popen("ls -A | wc -l", "r");
    int count = -1;
    assert_true(pipe != NULL && fscanf(pipe, "%d", &count) == 1 && pclose(pipe) == 0);
    return count;
}

static stn_output opened(const char *path, stn_output_kind kind, const char *text) {
    stn_output o;
    stn_error err;
    assert_ok(stn_output_open(path, kind, &o, &err), err);
    assert_int_equal(write(o.descriptor, text, strlen(text)), (ssize_t)strlen(text));
    return o;
}

static void close_it(stn_output *o, stn_output_end end) {
    stn_error err;
    assert_ok(stn_output_close(o, end, &err), err);
}

static void a_stream_without_a_file_before_it_grows_at_its_path(void **state) {
    (void)state;
    for (int32_t empty = 0; empty < 2; empty++) {
        if (empty == 1) {
            make("x.csv", "");
        }
        stn_output o = opened("x.csv", STN_OUTPUT_STREAM, "new");
        assert_holds("x.csv", "new");
        assert_none("x.part.csv");
        close_it(&o, empty == 0 ? STN_OUTPUT_KEEP : STN_OUTPUT_LEAVE);
        assert_holds("x.csv", "new");
        unlink("x.csv");
    }
}

static void what_was_there_stays_until_the_stream_is_whole(void **state) {
    (void)state;
    make("x.csv", "old");
    stn_output o = opened("x.csv", STN_OUTPUT_STREAM, "new");
    assert_holds("x.csv", "old");
    assert_holds("x.part.csv", "new"); // what a process that is killed leaves
    close_it(&o, STN_OUTPUT_KEEP);
    assert_holds("x.csv", "new");
    assert_int_equal(count_files(), 1);

    o = opened("x.csv", STN_OUTPUT_STREAM, "third");
    close_it(&o, STN_OUTPUT_DROP);
    assert_holds("x.csv", "new");
    assert_int_equal(count_files(), 1);

    o = opened("x.csv", STN_OUTPUT_STREAM, "half");
    close_it(&o, STN_OUTPUT_LEAVE);
    assert_holds("x.csv", "new");
    assert_holds("x.part.csv", "half");
    o = opened("x.csv", STN_OUTPUT_STREAM, "whole"); // what a killed one left is in nobody's way
    close_it(&o, STN_OUTPUT_KEEP);
    assert_holds("x.csv", "whole");
    assert_int_equal(count_files(), 1);
}

static void a_whole_file_is_never_seen_half(void **state) {
    (void)state;
    stn_output o = opened("x.json", STN_OUTPUT_WHOLE, "new");
    assert_none("x.json");
    close_it(&o, STN_OUTPUT_DROP);
    assert_int_equal(count_files(), 0);
    o = opened("x.json", STN_OUTPUT_WHOLE, "new");
    close_it(&o, STN_OUTPUT_KEEP);
    assert_holds("x.json", "new");
    assert_int_equal(count_files(), 1);
}

static void links_and_permissions_stay(void **state) {
    (void)state;
    static const stn_output_kind kinds[] = {STN_OUTPUT_WHOLE, STN_OUTPUT_STREAM};
    for (int32_t k = 0; k < 2; k++) {
        struct stat what;
        assert_int_equal(mkdir("sub", 0700), 0);
        make("sub/real.csv", "old");
        assert_int_equal(chmod("sub/real.csv", 0640), 0);
        assert_int_equal(symlink("sub/real.csv", "one"), 0);
        assert_int_equal(symlink("one", "two.csv"), 0);
        stn_output o = opened("two.csv", kinds[k], "new");
        assert_holds("two.csv", "old");
        close_it(&o, STN_OUTPUT_KEEP);
        assert_true(lstat("two.csv", &what) == 0 && S_ISLNK(what.st_mode));
        assert_true(lstat("one", &what) == 0 && S_ISLNK(what.st_mode));
        assert_true(lstat("sub/real.csv", &what) == 0 && S_ISREG(what.st_mode) && (what.st_mode & 07777) == 0640);
        assert_holds("sub/real.csv", "new");
        assert_int_equal(unlink("sub/real.csv"), 0); // a link that leads nowhere yet
        o = opened("two.csv", kinds[k], "first");
        close_it(&o, STN_OUTPUT_KEEP);
        assert_holds("sub/real.csv", "first");
        assert_int_equal(system("rm -r sub one two.csv"), 0);
    }
    stn_output o;
    stn_error err;
    assert_int_equal(symlink("round", "round"), 0);
    assert_int_equal(stn_output_open("round", STN_OUTPUT_STREAM, &o, &err), STN_ERR_FILE);
}

static void two_streams_do_not_share_a_file(void **state) {
    (void)state;
    static const char *const before[] = {NULL, "", "old"};
    for (int32_t i = 0; i < STN_COUNT(before); i++) {
        if (before[i] != NULL) {
            make("x.csv", before[i]);
        }
        stn_output one = opened("x.csv", STN_OUTPUT_STREAM, "one"), two;
        stn_error err;
        assert_int_equal(stn_output_open("./x.csv", STN_OUTPUT_STREAM, &two, &err), STN_ERR_FILE);
        assert_non_null(strstr(err.text, "./x.csv: another recording is being written to it"));
        close_it(&one, STN_OUTPUT_KEEP);
        two = opened("./x.csv", STN_OUTPUT_STREAM, "two");
        close_it(&two, STN_OUTPUT_KEEP);
        assert_holds("x.csv", "two");
        unlink("x.csv");
    }
}

static void devices_and_pipes_are_written_as_they_are(void **state) {
    (void)state;
    struct stat what;
    stn_error err;
    stn_output o = opened("/dev/null", STN_OUTPUT_STREAM, "gone");
    close_it(&o, STN_OUTPUT_KEEP);
    assert_true(stat("/dev/null", &what) == 0 && S_ISCHR(what.st_mode));
    assert_int_equal(mkfifo("pipe", 0600), 0);
    int reader = open("pipe", O_RDONLY | O_NONBLOCK);
    o = opened("pipe", STN_OUTPUT_STREAM, "told");
    char got[8] = "";
    assert_int_equal(read(reader, got, sizeof got), 4);
    assert_string_equal(got, "told");
    close_it(&o, STN_OUTPUT_KEEP);
    close(reader);
    assert_true(stat("pipe", &what) == 0 && S_ISFIFO(what.st_mode));
    assert_int_equal(stn_output_open("pipe", STN_OUTPUT_WHOLE, &o, &err), STN_ERR_FILE);
    assert_non_null(strstr(err.text, "not a regular file"));
    assert_int_equal(stn_output_open("/dev/full", STN_OUTPUT_WHOLE, &o, &err), STN_ERR_FILE);
}

/// /proc/self/fd/N is what /dev/stdout leads to: what stands there already stays.
static void a_descriptor_of_the_process_is_written_behind_what_it_holds(void **state) {
    (void)state;
    make("x.csv", "before ");
    char path[64];
    int own = open("x.csv", O_WRONLY | O_APPEND);
    snprintf(path, sizeof path, "/proc/self/fd/%d", own);
    assert_int_equal(symlink(path, "out"), 0);
    stn_output o = opened("out", STN_OUTPUT_STREAM, "after");
    close_it(&o, STN_OUTPUT_KEEP);
    close(own);
    assert_holds("x.csv", "before after");
    assert_int_equal(count_files(), 2);
}

/// Appends a text that fits in a file of 16 bytes, and then one that does not.
static void append_too_much(stn_output *o) {
    stn_error err;
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){16, old.rlim_max});
    const stn_status first = stn_output_append(o, "told.csv", "one, ", 5, &err);
    const stn_status second = stn_output_append(o, "told.csv", "two, three, four", 16, &err);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(first, STN_OK);
    assert_int_equal(second, STN_ERR_FILE);
    assert_non_null(strstr(err.text, "told.csv: cannot be written: File too large"));
    assert_ok(stn_output_append(o, "told.csv", "five", 4, &err), err);
}

static void what_does_not_fit_is_cut_off_again(void **state) {
    (void)state;
    stn_output o = opened("new.csv", STN_OUTPUT_STREAM, "");
    append_too_much(&o);
    close_it(&o, STN_OUTPUT_KEEP);
    assert_holds("new.csv", "one, five");
    char path[64];
    make("x.csv", "before ");
    int own = open("x.csv", O_WRONLY | O_APPEND); // what it held is not cut off
    snprintf(path, sizeof path, "/proc/self/fd/%d", own);
    o = opened(path, STN_OUTPUT_STREAM, "");
    append_too_much(&o);
    close_it(&o, STN_OUTPUT_KEEP);
    close(own);
    assert_holds("x.csv", "before one, five");
    stn_error err;
    assert_ok(stn_output_open("/dev/full", STN_OUTPUT_STREAM, &o, &err), err);
    assert_int_equal(stn_output_append(&o, "/dev/full", "one", 3, &err), STN_ERR_FILE);
    assert_non_null(strstr(err.text, "No space left on device"));
    close_it(&o, STN_OUTPUT_DROP);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_stream_without_a_file_before_it_grows_at_its_path, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_there_stays_until_the_stream_is_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_whole_file_is_never_seen_half, set_up, tear_down),
        cmocka_unit_test_setup_teardown(links_and_permissions_stay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(two_streams_do_not_share_a_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(devices_and_pipes_are_written_as_they_are, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_does_not_fit_is_cut_off_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_descriptor_of_the_process_is_written_behind_what_it_holds, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
