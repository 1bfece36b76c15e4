// SPDX-License-Identifier: Apache-2.0
// See process.h.
#define _GNU_SOURCE // POSIX_SPAWN, SOCK_CLOEXEC, dladdr
#include <stiction/process.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/socket.h>
#include <sys/wait.h>

extern char **environ;

enum {
    FIRST_CAPACITY = 1 << 16,    // [bytes]
    BELIEVED_CAPACITY = 16 << 20 // [bytes] that are taken for an output when it announces them
};

typedef struct child {
    const stn_process_request *request;
    stn_context *context;
    stn_process_answer *answer;
    int channel;
    struct timespec deadline;
    size_t sent;
} child;

/// Where a program of ours is: what the environment names, or beside the library: `installed` seen from its folder,
/// else in the build tree. False: nowhere.
static bool find_program(const stn_process_request *r, char program[STN_PROCESS_PATH]) {
    const char *given = getenv(r->variable);
    if (given != NULL && given[0] != '\0') {
        return snprintf(program, STN_PROCESS_PATH, "%s", given) < STN_PROCESS_PATH;
    }
    if (r->installed[0] == '/') {
        return snprintf(program, STN_PROCESS_PATH, "%s", r->installed) < STN_PROCESS_PATH && access(program, X_OK) == 0;
    }
    // The folder that libstiction was loaded from, without links. Told by a text of its own: the address of a function
    // may be that of the program's table of jumps.
    Dl_info library;
    char folder[PATH_MAX];
    if (dladdr(stn_status_text(STN_OK), &library) == 0 || library.dli_fname == NULL ||
        realpath(library.dli_fname, folder) == NULL) {
        return false;
    }
    *strrchr(folder, '/') = '\0';
    return (snprintf(program, STN_PROCESS_PATH, "%s/%s", folder, r->installed) < STN_PROCESS_PATH &&
            access(program, X_OK) == 0) ||
           (snprintf(program, STN_PROCESS_PATH, "%s/../bin/%s", folder, r->name) < STN_PROCESS_PATH &&
            access(program, X_OK) == 0);
}

static size_t input_size(const child *c) {
    return c->request->input[0].size + c->request->input[1].size;
}

static bool all_sent(const child *c) {
    return c->sent == input_size(c);
}

/// Sends and receives as it goes without waiting, until the program says no more. One that does not listen is no error
/// here: its answer, or silence, tells.
static stn_process_fault exchange(child *c) {
    const stn_process_request *r = c->request;
    stn_process_answer *a = c->answer;
    if (all_sent(c)) {
        shutdown(c->channel, SHUT_WR);
    }
    for (;;) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        int64_t left =
            (c->deadline.tv_sec - now.tv_sec) * INT64_C(1000) + (c->deadline.tv_nsec - now.tv_nsec) / 1000000;
        struct pollfd wait = {.fd = c->channel, .events = (short)(POLLIN | (all_sent(c) ? 0 : POLLOUT))};
        int ready = left > 0 ? poll(&wait, 1, (int)left) : 0;
        if (ready == 0) {
            return STN_PROCESS_SLOW;
        }
        if (ready > 0 && (wait.revents & POLLOUT) != 0) {
            bool first = c->sent < r->input[0].size;
            const stn_process_part *part = first ? &r->input[0] : &r->input[1];
            size_t begin = first ? c->sent : c->sent - r->input[0].size;
            ssize_t n = send(c->channel, (const char *)part->data + begin, part->size - begin, MSG_NOSIGNAL);
            c->sent += n > 0 ? (size_t)n : 0;
            c->sent = n < 0 && errno != EAGAIN && errno != EINTR ? input_size(c) : c->sent;
            if (all_sent(c)) {
                shutdown(c->channel, SHUT_WR);
            }
        }
        if (ready < 0 || (wait.revents & (POLLIN | POLLHUP | POLLERR)) == 0) {
            continue;
        }
        if (a->size == a->capacity) { // twice of what was there, or at once what it announces when that is little
            size_t capacity = a->capacity > 0 ? 2 * a->capacity : FIRST_CAPACITY;
            size_t wanted = (r->announced != NULL ? r->announced(a->output, a->size) : 0) + FIRST_CAPACITY;
            capacity = capacity < wanted && wanted <= BELIEVED_CAPACITY ? wanted : capacity;
            capacity = capacity < r->most_output ? capacity : r->most_output;
            if (capacity == a->capacity) {
                return STN_PROCESS_MUCH;
            }
            unsigned char *more = stn_reallocate(c->context, a->output, a->size, capacity, 1);
            if (more == NULL) {
                return STN_PROCESS_NO_MEMORY;
            }
            a->output = more;
            a->capacity = capacity;
        }
        ssize_t n = recv(c->channel, a->output + a->size, a->capacity - a->size, 0);
        a->size += n > 0 ? (size_t)n : 0;
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
            return STN_PROCESS_ANSWERED;
        }
    }
}

/// Starts a program with `channel` as standard input; output goes nowhere. Signals are as at the start of any program,
/// and those of the terminal do not reach it. Returns 0 or errno.
static int spawn(const char *program, char *const *arguments, int channel, pid_t *process) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int error = posix_spawn_file_actions_init(&files);
    if (error != 0) {
        return error;
    }
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
        error = posix_spawn_file_actions_adddup2(&files, channel, 0);
        error = error == 0 ? posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0) : error;
        error = error == 0 ? posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0) : error;
        error = error == 0 ? posix_spawn(process, program, &files, &attributes, arguments, environ) : error;
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return error;
}

stn_process_fault stn_process_talk(stn_context *context, const stn_process_request *request,
                                   stn_process_answer *answer) {
    int ends[2];
    *answer = (stn_process_answer){0};
    bool found = find_program(request, answer->program);
    if (!found) {
        snprintf(answer->program, sizeof answer->program, "%s", request->name);
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        answer->error = errno;
        return answer->fault = STN_PROCESS_NO_CHANNEL;
    }
    answer->error = found ? spawn(answer->program, request->arguments, ends[1], &answer->process) : ENOENT;
    close(ends[1]);
    if (answer->error != 0) {
        close(ends[0]);
        answer->process = 0;
        return answer->fault = STN_PROCESS_NOT_STARTED;
    }
    child c = {.request = request, .context = context, .answer = answer, .channel = ends[0]};
    fcntl(c.channel, F_SETFL, O_NONBLOCK);
    clock_gettime(CLOCK_MONOTONIC, &c.deadline);
    c.deadline.tv_sec += request->seconds;
    answer->fault = exchange(&c);
    close(c.channel);
    kill(answer->process, SIGKILL);
    return answer->fault;
}

int stn_process_reap(int process) {
    int status = -1;
    while (waitpid(process, &status, 0) < 0) {
        if (errno != EINTR) {
            return -1;
        }
    }
    return status;
}

// ------------------------------------------------------------------------------------------------- with usual words

stn_status stn_process_run(stn_context *context, const stn_process_request *request, unsigned char **output,
                           size_t *size, stn_error *err) {
    const stn_process_request *r = request;
    stn_process_answer a;
    stn_status status = STN_OK;
    stn_process_talk(context, request, &a);
    // a program that has answered is killed while it cleans up, or ends by itself: only silence is looked into
    int how = a.process > 0 ? stn_process_reap(a.process) : -1;
    switch (a.fault) {
    case STN_PROCESS_ANSWERED:
        if (a.size > 0) {
            break;
        }
        if (how != -1 && WIFSIGNALED(how) && WTERMSIG(how) != SIGKILL) {
            status = stn_fail(err, STN_ERR_ARGUMENT, "the program %s died of it (signal %d): it may be damaged",
                              r->name, WTERMSIG(how));
        } else if (how != -1 && WIFEXITED(how) && WEXITSTATUS(how) == 127) { // says the dynamic linker
            status = stn_fail(err, STN_ERR_FILE, "it needs the program %s, for which a library is missing", r->name);
        } else {
            status = stn_fail(err, STN_ERR_ARGUMENT, "the program %s ended without an answer", r->name);
        }
        break;
    case STN_PROCESS_NO_CHANNEL:
        status = stn_fail(err, STN_ERR_FILE, "no channel to the program %s: %s", r->name, strerror(a.error));
        break;
    case STN_PROCESS_NOT_STARTED:
        status = stn_fail(err, STN_ERR_FILE,
                          "it needs the program %s, which cannot be started: %s; it is installed with the library, or "
                          "named by %s",
                          r->name, strerror(a.error), r->variable);
        break;
    case STN_PROCESS_SLOW:
        status = stn_fail(err, STN_ERR_ARGUMENT, "it takes longer than %d s", r->seconds);
        break;
    case STN_PROCESS_MUCH:
        status = stn_fail(err, STN_ERR_ARGUMENT, "it gives more than %zu bytes", r->most_output);
        break;
    case STN_PROCESS_NO_MEMORY:
        status = stn_fail(err, STN_ERR_MEMORY, "out of memory for more than %zu bytes", a.capacity);
        break;
    }
    if (status != STN_OK) {
        stn_release(context, a.output);
    }
    *output = status == STN_OK ? a.output : NULL;
    *size = status == STN_OK ? a.size : 0;
    return status;
}
