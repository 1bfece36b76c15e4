// SPDX-License-Identifier: Apache-2.0
// A check in its process: nothing that it does holds up or outlives the battery.
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stn_test.h"
#include "validate/child.h"
#include "validate/conduct.h"

static char *folder; // of the last check, in memory that it shares with us

void trial_fail(validate_trial *trial, const char *format, ...) {
    (void)format;
    trial->decided = true;
    trial->result.verdict = VALIDATE_FAILED;
}

conduct conduct_begin(const validate_request *request, const char *files) {
    (void)request, (void)files;
    return (conduct){.prints = -1};
}

void conduct_judge(const conduct *c, validate_result *result) {
    (void)c, (void)result;
}

static void pass(validate_trial *trial) {
    strcpy(folder, trial->folder);
    trial->decided = true;
    trial->result.verdict = VALIDATE_OK;
}

static stn_status run(void (*work)(validate_trial *), double limit_s, validate_result *out) {
    const validate_check check = {.name = "check", .run = work};
    const validate_request request = {.limit_s = limit_s};
    stn_error err;
    stn_status status = check_run_apart(&check, &request, out, &err);
    struct stat what;
    assert_int_equal(stat(folder, &what), -1);
    return status;
}

static void a_result_comes_back(void **state) {
    (void)state;
    validate_result result;
    assert_int_equal(run(pass, 60.0, &result), STN_OK);
    assert_int_equal(result.verdict, VALIDATE_OK);
}

static void leave_a_child(validate_trial *trial) {
    pid_t child = fork();
    if (child < 0) {
        trial_fail(trial, "no second process");
    }
    while (child == 0) {
        pause();
    }
    pass(trial);
}

static void nothing_outlives_a_check(void **state) {
    (void)state;
    validate_result result;
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(run(leave_a_child, 60.0, &result), STN_OK);
    assert_int_equal(result.verdict, VALIDATE_OK);
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 0); // nobody else can write any more
    close(ends[0]);
}

static void close_all_and_wait(validate_trial *trial) {
    strcpy(folder, trial->folder);
    for (int i = 0; i < 100; i++) {
        close(i);
    }
    while (true) {
        pause();
    }
}

static void closing_the_pipe_is_no_way_out_of_the_limit(void **state) {
    (void)state;
    validate_result result;
    assert_int_equal(run(close_all_and_wait, 0.2, &result), STN_OK);
    assert_int_equal(result.verdict, VALIDATE_FAILED);
    assert_non_null(strstr(result.text, "hangs: no end after 0.2 s"));
}

static void leave(validate_trial *trial) {
    strcpy(folder, trial->folder);
    _exit(7);
}

static void crash(validate_trial *trial) {
    strcpy(folder, trial->folder);
    raise(SIGKILL);
}

static void how_it_ended_is_told(void **state) {
    (void)state;
    validate_result result;
    assert_int_equal(run(leave, 60.0, &result), STN_OK);
    assert_non_null(strstr(result.text, "exit status 7"));
    assert_int_equal(run(crash, 60.0, &result), STN_OK);
    assert_non_null(strstr(result.text, "crashed: ended by signal 9"));
}

static volatile sig_atomic_t interrupts;

static void on_interrupt(int number) {
    (void)number;
    interrupts++;
}

static void interrupt_parent(validate_trial *trial) {
    strcpy(folder, trial->folder);
    kill(getppid(), SIGTERM);
    while (true) {
        pause();
    }
}

static void an_interrupt_leaves_nothing(void **state) {
    (void)state;
    validate_result result;
    struct sigaction action = {.sa_handler = on_interrupt}, before;
    sigaction(SIGTERM, &action, &before);
    assert_int_equal(run(interrupt_parent, 60.0, &result), STN_ERR_INTERRUPTED);
    assert_int_equal(interrupts, 1);
    sigaction(SIGTERM, &before, NULL);
}

int main(void) {
    folder = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_comes_back),
        cmocka_unit_test(nothing_outlives_a_check),
        cmocka_unit_test(closing_the_pipe_is_no_way_out_of_the_limit),
        cmocka_unit_test(how_it_ended_is_told),
        cmocka_unit_test(an_interrupt_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
