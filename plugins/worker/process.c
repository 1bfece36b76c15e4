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
    // The folder that libstiction was loaded from, without links.
    Dl_info library;
    char folder[PATH_MAX];
    if (dladdr((const void *)(uintptr_t)stn_context_create, &library) == 0 || library.dli_fname == NULL ||
        realpath(library.dli_fname, folder) == NULL) {
        return false;
    }
    *strrchr(folder, '/') = '\0';
    return (snprintf(program, STN_PROCESS_PATH, "%s/%s", folder, r->installed) < STN_PROCESS_PATH &&
            access(program, X_OK) == 0) ||
           (snprintf(program, STN_PROCESS_PATH, "%s/../bin/%s", folder, r->name) < STN_PROCESS_PATH &&
            access(program, X_OK) == 0);
}

/// Starts it with `channel` as standard input; output goes nowhere. Signals are as at the start of any program, and
/// those of the terminal do not reach it. Returns 0 or errno.
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

static stn_process_fault start(child *c) {
    stn_process_answer *a = c->answer;
    int ends[2];
    bool found = find_program(c->request, a->program);
    if (!found) {
        snprintf(a->program, sizeof a->program, "%s", c->request->name);
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        a->error = errno;
        return STN_PROCESS_NO_CHANNEL;
    }
    a->error = found ? spawn(a->program, c->request->arguments, ends[1], &a->process) : ENOENT;
    close(ends[1]);
    if (a->error != 0) {
        close(ends[0]);
        a->process = 0;
        return STN_PROCESS_NOT_STARTED;
    }
    c->channel = ends[0];
    fcntl(c->channel, F_SETFL, O_NONBLOCK);
    clock_gettime(CLOCK_MONOTONIC, &c->deadline);
    c->deadline.tv_sec += c->request->seconds;
    return STN_PROCESS_ANSWERED;
}

static size_t input_size(const child *c) {
    return c->request->input[0].size + c->request->input[1].size;
}

static bool all_sent(const child *c) {
    return c->sent == input_size(c);
}

/// Sends what goes without waiting. A program that does not listen is no error here: its answer, or silence, tells.
static void send_part(child *c) {
    const stn_process_part *input = c->request->input;
    bool first = c->sent < input[0].size;
    const stn_process_part *part = first ? &input[0] : &input[1];
    size_t begin = first ? c->sent : c->sent - input[0].size;
    ssize_t n = send(c->channel, (const char *)part->data + begin, part->size - begin, MSG_NOSIGNAL);
    if (n > 0) {
        c->sent += (size_t)n;
    } else if (n < 0 && errno != EAGAIN && errno != EINTR) {
        c->sent = input_size(c);
    }
    if (all_sent(c)) {
        shutdown(c->channel, SHUT_WR);
    }
}

/// Room for more of the output: twice of what was there, or at once what it announces when that is little.
static stn_process_fault make_room(child *c) {
    const stn_process_request *r = c->request;
    stn_process_answer *a = c->answer;
    size_t capacity = a->capacity > 0 ? 2 * a->capacity : FIRST_CAPACITY;
    size_t wanted = (r->announced != NULL ? r->announced(a->output, a->size) : 0) + FIRST_CAPACITY;
    if (capacity < wanted && wanted <= BELIEVED_CAPACITY) {
        capacity = wanted;
    }
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
    return STN_PROCESS_ANSWERED;
}

static stn_process_fault exchange(child *c) {
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
            send_part(c);
        }
        if (ready > 0 && (wait.revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
            stn_process_fault fault = a->size == a->capacity ? make_room(c) : STN_PROCESS_ANSWERED;
            if (fault != STN_PROCESS_ANSWERED) {
                return fault;
            }
            ssize_t n = recv(c->channel, a->output + a->size, a->capacity - a->size, 0);
            a->size += n > 0 ? (size_t)n : 0;
            if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
                return STN_PROCESS_ANSWERED; // it will say no more
            }
        }
    }
}

stn_process_fault stn_process_talk(stn_context *context, const stn_process_request *request,
                                   stn_process_answer *answer) {
    *answer = (stn_process_answer){0};
    child c = {.request = request, .context = context, .answer = answer};
    answer->fault = start(&c);
    if (answer->fault == STN_PROCESS_ANSWERED) {
        answer->fault = exchange(&c);
        close(c.channel);
        kill(answer->process, SIGKILL);
    }
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

static stn_status explain_fault(const stn_process_request *r, const stn_process_answer *a, stn_error *err) {
    switch (a->fault) {
    case STN_PROCESS_ANSWERED:
        return STN_OK;
    case STN_PROCESS_NO_CHANNEL:
        return stn_fail(err, STN_ERR_FILE, "no channel to the program %s: %s", r->name, strerror(a->error));
    case STN_PROCESS_NOT_STARTED:
        return stn_fail(err, STN_ERR_FILE,
                        "it needs the program %s, which cannot be started: %s; it is installed with the library, or "
                        "named by %s",
                        r->name, strerror(a->error), r->variable);
    case STN_PROCESS_SLOW:
        return stn_fail(err, STN_ERR_ARGUMENT, "it takes longer than %d s", r->seconds);
    case STN_PROCESS_MUCH:
        return stn_fail(err, STN_ERR_ARGUMENT, "it gives more than %zu bytes", r->most_output);
    case STN_PROCESS_NO_MEMORY:
        break;
    }
    return stn_fail(err, STN_ERR_MEMORY, "out of memory for more than %zu bytes", a->capacity);
}

/// A program that has answered is killed while it cleans up, or ends by itself: only silence is looked into.
static stn_status explain_silence(const stn_process_request *r, int status, stn_error *err) {
    if (status != -1 && WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "the program %s died of it (signal %d): it may be damaged", r->name,
                        WTERMSIG(status));
    }
    if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 127) { // says the dynamic linker
        return stn_fail(err, STN_ERR_FILE, "it needs the program %s, for which a library is missing", r->name);
    }
    return stn_fail(err, STN_ERR_ARGUMENT, "the program %s ended without an answer", r->name);
}

stn_status stn_process_run(stn_context *context, const stn_process_request *request, unsigned char **output,
                           size_t *size, stn_error *err) {
    stn_process_answer a;
    stn_process_talk(context, request, &a);
    stn_status status = explain_fault(request, &a, err);
    int how = a.process > 0 ? stn_process_reap(a.process) : -1;
    if (status == STN_OK && a.size == 0) {
        status = explain_silence(request, how, err);
    }
    if (status != STN_OK) {
        stn_release(context, a.output);
    }
    *output = status == STN_OK ? a.output : NULL;
    *size = status == STN_OK ? a.size : 0;
    return status;
}
