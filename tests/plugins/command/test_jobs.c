// SPDX-License-Identifier: Apache-2.0
// Jobs in processes of their own: order, outcomes, what they wrote, and that none outlives the call.
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/jobs.h"
#include "stn_test.h"

enum { MOST = 300 };

typedef struct seen {
    int32_t count, stop_after, order[MOST], most_ended;
    cli_job_outcome outcome[MOST];
    int code[MOST];
    char output[MOST][32], error[MOST][32];
} seen;

static void read_text(FILE *file, char text[32]) {
    text[fread(text, 1, 31, file)] = '\0';
}

static bool note_done(void *user, const cli_job_end *end) {
    seen *s = user;
    int32_t i = s->count++;
    s->order[i] = end->index;
    s->outcome[i] = end->outcome;
    s->code[i] = end->code;
    assert_true(end->seconds >= 0.0 && isfinite(end->seconds));
    read_text(end->output, s->output[i]);
    read_text(end->error, s->error[i]);
    return s->count != s->stop_after;
}

static void note_progress(void *user, int32_t ended) {
    seen *s = user;
    assert_true(ended >= s->most_ended && ended <= MOST);
    s->most_ended = ended;
}

/// Later jobs are through sooner.
static int count_down(void *user, int32_t index) {
    (void)user;
    usleep(index % 8 == 0 ? 4000 : 0);
    printf("job %d", index);
    fprintf(stderr, "error %d", index);
    return index % 7;
}

static void test_results_come_in_the_order_of_the_jobs(void **state) {
    (void)state;
    for (int32_t at_once = 1; at_once <= 9; at_once += 4) {
        static seen s;
        s = (seen){0};
        cli_jobs jobs = {MOST,  at_once, (double)INFINITY, count_down, note_done, note_progress, &s, NULL, NULL,
                         false, false};
        assert_int_equal(cli_jobs_run(&jobs, NULL), STN_OK);
        assert_int_equal(s.count, MOST);
        assert_int_equal(s.most_ended, MOST);
        for (int32_t i = 0; i < MOST; i++) {
            char expected[32];
            assert_int_equal(s.order[i], i);
            assert_int_equal(s.outcome[i], CLI_JOB_EXITED);
            assert_int_equal(s.code[i], i % 7);
            snprintf(expected, sizeof expected, "job %d", i);
            assert_string_equal(s.output[i], expected);
            snprintf(expected, sizeof expected, "error %d", i);
            assert_string_equal(s.error[i], expected);
        }
    }
}

/// The first one goes on until the others are done.
static int wait_for_others(void *user, int32_t index) {
    (void)user;
    usleep(index == 0 ? 300000 : 0);
    printf("job %d", index);
    return 0;
}

static void test_results_come_as_jobs_end(void **state) {
    (void)state;
    static seen s;
    s = (seen){.stop_after = 3};
    cli_jobs jobs = {.count = 4,
                     .at_once = 2,
                     .limit_s = (double)INFINITY,
                     .work = wait_for_others,
                     .done = note_done,
                     .user = &s,
                     .any_order = true};
    assert_int_equal(cli_jobs_run(&jobs, NULL), STN_OK); // ends the first one, which the third result stopped
    assert_int_equal(s.count, 3);
    s.stop_after = 0;
    assert_int_equal(cli_jobs_run(&jobs, NULL), STN_OK);
    assert_int_equal(s.count, 7);
    static const int32_t order[] = {1, 2, 3, 1, 2, 3, 0};
    for (int32_t i = 0; i < 7; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "job %d", order[i]);
        assert_int_equal(s.order[i], order[i]);
        assert_string_equal(s.output[i], expected);
    }
}

/// One that aborts, one that never ends with a child of its own, one that reads what nobody writes.
static int misbehave(void *user, int32_t index) {
    (void)user;
    if (index == 0) {
        abort();
    } else if (index == 1) {
        (void)!fork();
        while (true) {
            pause();
        }
    }
    return getchar() == EOF ? 0 : 9;
}

static void test_a_crash_and_a_hang_are_results(void **state) {
    (void)state;
    static seen s;
    cli_jobs jobs = {3, 3, 0.2, misbehave, note_done, NULL, &s, NULL, NULL, false, false};
    assert_int_equal(cli_jobs_run(&jobs, NULL), STN_OK);
    assert_int_equal(s.outcome[0], CLI_JOB_CRASHED);
    assert_int_equal(s.code[0], SIGABRT);
    assert_int_equal(s.outcome[1], CLI_JOB_TIMEOUT);
    assert_int_equal(s.outcome[2], CLI_JOB_EXITED);
    assert_int_equal(s.code[2], 0);
}

/// Exits, and leaves a child of its own behind that keeps the pipe open.
static int leave_a_child(void *user, int32_t index) {
    (void)user;
    (void)index;
    if (fork() == 0) {
        while (true) {
            pause();
        }
    }
    return 0;
}

static void test_nothing_outlives_a_job(void **state) {
    (void)state;
    static seen s;
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    cli_jobs jobs = {1, 1, (double)INFINITY, leave_a_child, note_done, NULL, &s, NULL, NULL, false, false};
    assert_int_equal(cli_jobs_run(&jobs, NULL), STN_OK);
    assert_int_equal(s.outcome[0], CLI_JOB_EXITED);
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 0); // nobody else can write any more
    close(ends[0]);
}

static int wait_for_ever(void *user, int32_t index) {
    (void)user;
    while (index > 0) {
        pause();
    }
    return 0;
}

static void test_done_may_stop_the_rest(void **state) {
    (void)state;
    static seen s = {.stop_after = 1};
    cli_jobs jobs = {20, 4, (double)INFINITY, wait_for_ever, note_done, NULL, &s, NULL, NULL, false, false};
    assert_int_equal(cli_jobs_run(&jobs, NULL), STN_OK);
    assert_int_equal(s.count, 1);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); // all are reaped
    assert_int_equal(errno, ECHILD);
}

static volatile sig_atomic_t interrupts;

static void on_interrupt(int number) {
    (void)number;
    interrupts++;
}

static int interrupt_parent(void *user, int32_t index) {
    if (index == 0) {
        kill(getppid(), SIGINT);
    }
    return wait_for_ever(user, index + 1);
}

static void test_an_interrupt_ends_all(void **state) {
    (void)state;
    static seen s;
    stn_error err;
    struct sigaction action = {.sa_handler = on_interrupt}, before;
    sigaction(SIGINT, &action, &before);
    cli_jobs jobs = {5, 2, (double)INFINITY, interrupt_parent, note_done, NULL, &s, NULL, NULL, false, false};
    assert_int_equal(cli_jobs_run(&jobs, &err), STN_ERR_INTERRUPTED);
    assert_int_equal(s.count, 0);
    assert_int_equal(interrupts, 1);
    sigaction(SIGINT, &before, NULL);
}

static int interrupt_parent_and_end(void *user, int32_t index) {
    (void)user, (void)index;
    return kill(getppid(), SIGINT);
}

/// As below nohup, or beside a parent that leaves its children to the system.
static void test_ignored_signals_stay_ignored(void **state) {
    (void)state;
    static seen s;
    const int numbers[] = {SIGINT, SIGCHLD};
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before[2], after;
    for (int32_t i = 0; i < 2; i++) {
        sigaction(numbers[i], &ignore, &before[i]);
    }
    cli_jobs jobs = {5, 2, (double)INFINITY, interrupt_parent_and_end, note_done, NULL, &s, NULL, NULL, false, false};
    assert_int_equal(cli_jobs_run(&jobs, NULL), STN_OK);
    assert_int_equal(s.count, 5);
    for (int32_t i = 0; i < 2; i++) {
        assert_int_equal(s.code[i], 0);
        sigaction(numbers[i], &before[i], &after);
        assert_true(after.sa_handler == SIG_IGN);
    }
}

/// The first one is through when all that may be begun beside it are.
static int late_first(void *user, int32_t index) {
    (void)user;
    usleep(index == 0 ? 100000 : 0);
    return open("/dev/null", O_RDONLY) < 0; // of this process' own files there are some
}

static void test_few_files_are_enough(void **state) {
    (void)state;
    int lowest = dup(STDIN_FILENO); // 3, or more where this process got files beyond its three
    assert_true(lowest > 0);
    close(lowest);
    for (rlim_t most = (rlim_t)lowest + 5; most <= (rlim_t)lowest + 64; most *= 2) {
        static seen s;
        s = (seen){0};
        struct rlimit before, few;
        assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
        few = (struct rlimit){most, before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        cli_jobs jobs = {100, 8, (double)INFINITY, late_first, note_done, NULL, &s, NULL, NULL, false, false};
        stn_status status = cli_jobs_run(&jobs, NULL);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        assert_int_equal(status, STN_OK);
        assert_int_equal(s.count, 100);
        for (int32_t i = 0; i < 100; i++) {
            assert_int_equal(s.outcome[i], CLI_JOB_EXITED);
            assert_int_equal(s.code[i], 0);
        }
    }
}

static int print_for_ever(void *user, int32_t index) {
    (void)user;
    static char line[1 << 16];
    memset(line, 'x', sizeof line);
    while (index == 1) {
        (void)!write(STDERR_FILENO, line, sizeof line);
    }
    return 0;
}

static void test_what_prints_without_end_is_ended(void **state) {
    (void)state;
    static seen s;
    cli_jobs jobs = {3, 1, (double)INFINITY, print_for_ever, note_done, NULL, &s, NULL, NULL, false, false};
    assert_int_equal(cli_jobs_run(&jobs, NULL), STN_OK);
    assert_int_equal(s.count, 3);
    assert_int_equal(s.outcome[1], CLI_JOB_CRASHED);
    assert_int_equal(s.code[1], SIGXFSZ);
    assert_int_equal(s.outcome[2], CLI_JOB_EXITED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_files_are_enough),
        cmocka_unit_test(test_what_prints_without_end_is_ended),
        cmocka_unit_test(test_results_come_in_the_order_of_the_jobs),
        cmocka_unit_test(test_results_come_as_jobs_end),
        cmocka_unit_test(test_a_crash_and_a_hang_are_results),
        cmocka_unit_test(test_nothing_outlives_a_job),
        cmocka_unit_test(test_done_may_stop_the_rest),
        cmocka_unit_test(test_an_interrupt_ends_all),
        cmocka_unit_test(test_ignored_signals_stay_ignored),
    };
    return cmocka_run_group_tests_name("command/jobs", tests, NULL, NULL);
}
