// SPDX-License-Identifier: Apache-2.0
#include "validate/child.h"

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

#include "validate/conduct.h"

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/// In the child: the check, its result into the pipe, and away without the parent's exit handlers.
static void run_check(const validate_check *check, const validate_request *request, const char *folder, int out) {
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
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

/// Bytes of the result that came before the child closed the pipe; -1 when the time was over.
static ssize_t await_result(int in, double limit_s, validate_result *out) {
    double end = seconds_now() + limit_s;
    size_t got = 0;
    while (got < sizeof *out) {
        double left = end - seconds_now();
        struct pollfd wait = {.fd = in, .events = POLLIN};
        int ready = left > 0.0 ? poll(&wait, 1, (int)fmin(1e3 * left + 1.0, 1e9)) : 0;
        if (ready == 0) {
            return -1;
        }
        ssize_t part = ready > 0 ? read(in, (char *)out + got, sizeof *out - got) : -1;
        if (part == 0) {
            break;
        }
        if (part < 0 && errno != EINTR) {
            break;
        }
        got += part > 0 ? (size_t)part : 0;
    }
    return (ssize_t)got;
}

static void say_how_it_ended(int status, validate_result *out) {
    *out = (validate_result){.verdict = VALIDATE_FAILED, .cause = VALIDATE_BROKEN};
    if (WIFSIGNALED(status)) {
        snprintf(out->text, sizeof out->text, "crashed: ended by signal %d (%s), expected a status", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    } else {
        snprintf(out->text, sizeof out->text, "ended the process with exit status %d, expected it to return a status",
                 WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    }
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

stn_status child_run(const validate_check *check, const validate_request *request, validate_result *out,
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
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        run_check(check, request, folder, ends[1]);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        rmdir(folder);
        return stn_fail(err, STN_ERR_FILE, "cannot start a process: %s", strerror(errno));
    }
    *out = (validate_result){.verdict = VALIDATE_FAILED};
    ssize_t got = await_result(ends[0], request->limit_s, out);
    if (got < 0) {
        kill(child, SIGKILL);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    close(ends[0]);
    remove_folder(folder);
    if (got < 0) {
        *out = (validate_result){.verdict = VALIDATE_FAILED, .cause = VALIDATE_BROKEN};
        snprintf(out->text, sizeof out->text, "hangs: no end after %g s, expected every call to return",
                 request->limit_s);
    } else if (got != (ssize_t)sizeof *out) {
        say_how_it_ended(status, out);
    }
    out->seconds = seconds_now() - start;
    return STN_OK;
}
