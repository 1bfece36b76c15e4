// SPDX-License-Identifier: Apache-2.0
#include "child.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/crash.h"
#include "conduct.h"

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/// Asked to end, other than by a signal that is ignored.
static bool interrupted(const sigset_t *awaited) {
    sigset_t pending;
    return sigpending(&pending) == 0 && ((sigismember(awaited, SIGINT) == 1 && sigismember(&pending, SIGINT) == 1) ||
                                         (sigismember(awaited, SIGTERM) == 1 && sigismember(&pending, SIGTERM) == 1));
}

/// Interrupts wait until the child is ended and its folder removed.
static void hold_interrupts(sigset_t *awaited, sigset_t *before) {
    const int numbers[] = {SIGINT, SIGTERM};
    sigemptyset(awaited);
    for (int32_t i = 0; i < STN_COUNT(numbers); i++) {
        struct sigaction action;
        if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
            sigaddset(awaited, numbers[i]);
        }
    }
    sigprocmask(SIG_BLOCK, awaited, before);
}

/// In the child: the check, its result into the pipe, and away without the parent's exit handlers.
static void run_check(const validate_check *check, const validate_request *request, const char *folder, int out,
                      pid_t parent) {
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) { // it ended before this
        _exit(1);
    }
#else
    (void)parent;
#endif
    for (int i = 0; i < CLI_CRASH_SIGNALS && !CLI_CRASH_SANITIZED; i++) { // the battery tells them, no handler
        signal(cli_crash_signals[i].number, SIG_DFL);
    }
    validate_trial trial = {.request = request, .check = check->name, .folder = folder};
    conduct watched = conduct_begin(request, folder);
    check->run(&trial);
    if (!trial.decided) {
        trial_fail(&trial, "the check came to no result");
    }
    conduct_judge(&watched, &trial.result);
    ssize_t written = write(out, &trial.result, sizeof trial.result); // smaller than a pipe's buffer
    fflush(NULL);
    _exit(written == (ssize_t)sizeof trial.result ? 0 : 1);
}

/// Bytes of the result that came before the child closed the pipe; -1 when the time was over or an interrupt came.
static ssize_t await_result(int in, double end, const sigset_t *awaited, validate_result *out) {
    size_t got = 0;
    while (got < sizeof *out) {
        double left = end - seconds_now();
        if (!(left > 0.0) || interrupted(awaited)) {
            return -1;
        }
        struct pollfd wait = {.fd = in, .events = POLLIN};
        int ready = poll(&wait, 1, (int)fmin(1e3 * left + 1.0, 100.0));
        ssize_t part = ready > 0 ? read(in, (char *)out + got, sizeof *out - got) : 0;
        if (ready > 0 && (part == 0 || (part < 0 && errno != EINTR))) {
            break;
        }
        got += part > 0 ? (size_t)part : 0;
    }
    return (ssize_t)got;
}

/// Has it ended by itself? One that closed the pipe without a result mostly has, or is about to. It is not reaped, so
/// that its process group is still its own.
static bool await_end(pid_t child, double end, const sigset_t *awaited) {
    siginfo_t info = {0};
    while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0) {
        if (!(seconds_now() < end) || interrupted(awaited)) {
            return false;
        }
        poll(NULL, 0, 1);
    }
    return true;
}

/// The folder of a check with its files.
static void remove_folder(const char *folder) {
    char path[512];
    DIR *open = opendir(folder);
    for (struct dirent *entry = NULL; open != NULL && (entry = readdir(open)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path); // "." and ".." are refused
    }
    if (open != NULL) {
        closedir(open);
    }
    rmdir(folder);
}

stn_status check_run_apart(const validate_check *check, const validate_request *request, validate_result *out,
                           stn_error *err) {
    int ends[2];
    char folder[] = "/tmp/stiction_validate_XXXXXX";
    if (mkdtemp(folder) == NULL) {
        return stn_fail(err, STN_ERR_FILE, "%s: %s", folder, strerror(errno));
    }
    fflush(NULL);
    if (pipe(ends) != 0) {
        rmdir(folder);
        return stn_fail(err, STN_ERR_FILE, "no pipe to a child process: %s", strerror(errno));
    }
    double start = seconds_now();
    sigset_t awaited, before;
    hold_interrupts(&awaited, &before);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        setpgid(0, 0); // with what it starts
        sigprocmask(SIG_SETMASK, &before, NULL);
        close(ends[0]);
        run_check(check, request, folder, ends[1], parent);
    }
    close(ends[1]);
    if (child < 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        close(ends[0]);
        rmdir(folder);
        return stn_fail(err, STN_ERR_FILE, "cannot start a process: %s", strerror(errno));
    }
    double end = seconds_now() + request->limit_s;
    int status = 0;
    setpgid(child, child); // here as well: it may be ended before it came to do so
    ssize_t got = await_result(ends[0], end, &awaited, out);
    bool whole = got == (ssize_t)sizeof *out;
    bool late = !whole && (got < 0 || !await_end(child, end, &awaited));
    kill(-child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (late) {
        *out = (validate_result){.verdict = VALIDATE_FAILED, .cause = VALIDATE_BROKEN};
        snprintf(out->text, sizeof out->text, "hangs: no end after %g s, expected every call to return",
                 request->limit_s);
    } else if (!whole) {
        *out = (validate_result){.verdict = VALIDATE_FAILED, .cause = VALIDATE_BROKEN};
        if (WIFSIGNALED(status)) {
            snprintf(out->text, sizeof out->text, "crashed: ended by signal %d (%s), expected a status",
                     WTERMSIG(status), strsignal(WTERMSIG(status)));
        } else {
            snprintf(out->text, sizeof out->text,
                     "ended the process with exit status %d, expected it to return a status",
                     WIFEXITED(status) ? WEXITSTATUS(status) : -1);
        }
    }
    close(ends[0]);
    remove_folder(folder);
    bool ended = interrupted(&awaited);
    sigprocmask(SIG_SETMASK, &before, NULL);
    out->seconds = seconds_now() - start;
    return !ended ? STN_OK : stn_fail(err, STN_ERR_INTERRUPTED, "interrupted"); // a handler had other plans
}
