// SPDX-License-Identifier: Apache-2.0
// What the process that reads scenes may do once it has limited itself: tried out in a child.
#include "mesh_files.h"

#include <poll.h>
#include <signal.h>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <stiction/worker.h>

enum { MEMORY = 256 << 20, SECONDS = 7 };

/// Runs `trial` behind the limits; its bits say which of its expectations failed, 0: none.
static void behind_limits(int (*trial)(void)) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        stn_worker_limit(MEMORY, SECONDS);
        stn_worker_limit_calls();
        _exit(trial());
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static bool refused(long result) {
    return result == -1 && errno == EPERM;
}

static int reach_outside(void) {
    char name[] = "/bin/true", *arguments[] = {name, NULL};
    int failures = 0;
    failures |= refused(socket(AF_INET, SOCK_STREAM, 0)) ? 0 : 1;
    failures |= refused(fork()) ? 0 : 2;
    failures |= refused(execve(name, arguments, NULL)) ? 0 : 4;
    failures |= refused(kill(getppid(), 0)) ? 0 : 8;
    failures |= refused(unlink(in_folder("victim"))) ? 0 : 16;
    failures |= refused(rename(in_folder("victim"), in_folder("other"))) ? 0 : 32;
    failures |= refused(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)) ? 0 : 64;
    return failures;
}

static int write_files(void) {
    static const int flags[] = {O_WRONLY, O_RDWR, O_RDONLY | O_CREAT, O_RDONLY | O_TRUNC, O_WRONLY | O_APPEND};
    int failures = 0;
    for (int i = 0; i < 5; i++) {
        failures |= refused(open(in_folder("victim"), flags[i], 0600)) ? 0 : 1 << i;
    }
    return failures;
}

static int read_and_compute(void) {
    char bytes[8];
    int file = open(in_folder("victim"), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    void *little = malloc(16 << 20),
         *much = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int failures = file >= 0 && read(file, bytes, sizeof bytes) == 4 ? 0 : 1;
    failures |= little != NULL ? 0 : 2;
    failures |= much == MAP_FAILED ? 0 : 4;
    free(little);
    return failures;
}

static void the_reading_process_can_neither_start_programs_nor_connect_nor_remove(void **state) {
    (void)state;
    write_text("victim", "text");
    behind_limits(reach_outside);
    assert_int_equal(access(in_folder("victim"), R_OK), 0);
}

static void the_reading_process_can_write_no_file(void **state) {
    (void)state;
    size_t size = 0;
    write_text("victim", "text");
    behind_limits(write_files);
    char *bytes = read_bytes(in_folder("victim"), &size);
    assert_int_equal(size, 4);
    free(bytes);
}

static void the_reading_process_can_read_and_compute_within_its_memory(void **state) {
    (void)state;
    write_text("victim", "text");
    behind_limits(read_and_compute);
}

static int count_limits(void) {
    static const struct {
        __rlimit_resource_t what;
        rlim_t most;
    } limits[] = {{RLIMIT_AS, MEMORY}, {RLIMIT_CPU, SECONDS}, {RLIMIT_FSIZE, 0}, {RLIMIT_CORE, 0}};
    int failures = 0;
    for (int i = 0; i < 4; i++) {
        struct rlimit now;
        failures |= getrlimit(limits[i].what, &now) == 0 && now.rlim_cur == limits[i].most ? 0 : 1 << i;
    }
    return failures;
}

static void every_limit_of_the_process_is_set(void **state) {
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        stn_worker_limit(MEMORY, SECONDS);
        _exit(count_limits());
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/// The process between this and the reading one is killed: the pipe that both hold ends when both are gone.
static void the_reading_process_dies_with_the_program_that_started_it(void **state) {
    (void)state;
    int ends[2];
    char ready = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (fork() == 0) {
            stn_worker_limit(MEMORY, SECONDS);
            (void)!write(ends[1], "r", 1);
        }
        sleep(SECONDS);
        _exit(0);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &ready, 1), 1);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    struct pollfd wait = {.fd = ends[0], .events = POLLIN};
    assert_int_equal(poll(&wait, 1, 1000 * (SECONDS - 2)), 1); // it would sleep for longer
    assert_int_equal(read(ends[0], &ready, 1), 0);
    close(ends[0]);
}

int main(void) {
#if defined(__SANITIZE_ADDRESS__)
    print_message("skipped: the sanitizer needs what the limits refuse\n");
    return 0;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_reading_process_can_neither_start_programs_nor_connect_nor_remove,
                                        enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(the_reading_process_can_write_no_file, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(the_reading_process_can_read_and_compute_within_its_memory, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(every_limit_of_the_process_is_set, enter_folder, leave_folder),
        cmocka_unit_test(the_reading_process_dies_with_the_program_that_started_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
