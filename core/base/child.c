// SPDX-License-Identifier: Apache-2.0
// See child.h. Starting a process takes 2 to 5 ms.
#define _GNU_SOURCE // POSIX_SPAWN, SOCK_CLOEXEC
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
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

#include "base/library_folder.h"

extern char **environ;

enum { FIRST_CAPACITY = 1 << 16 };

typedef struct child {
    const child_request *request;
    stn_context *context;
    pid_t process;
    int channel;
    struct timespec deadline;
    size_t sent, have, capacity;
    unsigned char *output;
} child;

bool child_find(const char *name, const char *installed, const char *variable, char program[PATH_MAX]) {
    const char *given = getenv(variable);
    if (given != NULL && given[0] != '\0') {
        return snprintf(program, PATH_MAX, "%s", given) < PATH_MAX;
    }
    char folder[PATH_MAX];
    bool found = stn_library_folder(folder);
    if (found && snprintf(program, PATH_MAX, "%s/%s", folder, installed) < PATH_MAX && access(program, X_OK) == 0) {
        return true;
    }
    return found && snprintf(program, PATH_MAX, "%s/../bin/%s", folder, name) < PATH_MAX && access(program, X_OK) == 0;
}

int child_spawn(const char *program, char *const *arguments, int channel, pid_t *process) {
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

static stn_status start(child *c, stn_error *err) {
    const child_request *r = c->request;
    char program[PATH_MAX] = "";
    int ends[2];
    bool found = child_find(r->name, r->installed, r->variable, program);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return stn_fail(err, STN_ERR_FILE, "no channel to the program %s: %s", r->name, strerror(errno));
    }
    int error = found ? child_spawn(program, r->arguments, ends[1], &c->process) : ENOENT;
    close(ends[1]);
    if (error != 0) {
        close(ends[0]);
        return stn_fail(err, STN_ERR_FILE,
                        "it needs the program %s, which cannot be started: %s; it is installed with the library, or "
                        "named by %s",
                        r->name, strerror(error), r->variable);
    }
    c->channel = ends[0];
    fcntl(c->channel, F_SETFL, O_NONBLOCK);
    clock_gettime(CLOCK_MONOTONIC, &c->deadline);
    c->deadline.tv_sec += r->seconds;
    return STN_OK;
}

static bool all_sent(const child *c) {
    return c->sent == c->request->input_size;
}

/// Sends what goes without waiting. A program that does not listen is no error here: its answer, or silence, tells.
static void send_part(child *c) {
    const char *from = c->request->input;
    ssize_t n = send(c->channel, from + c->sent, c->request->input_size - c->sent, MSG_NOSIGNAL);
    if (n > 0) {
        c->sent += (size_t)n;
    } else if (n < 0 && errno != EAGAIN && errno != EINTR) {
        c->sent = c->request->input_size;
    }
    if (all_sent(c)) {
        shutdown(c->channel, SHUT_WR);
    }
}

static stn_status make_room(child *c, stn_error *err) {
    size_t most = c->request->most_output, capacity = c->capacity > 0 ? 2 * c->capacity : FIRST_CAPACITY;
    capacity = capacity < most ? capacity : most;
    if (capacity == c->capacity) {
        return stn_fail(err, STN_ERR_ARGUMENT, "it gives more than %zu bytes", most);
    }
    unsigned char *more = stn_reallocate(c->context, c->output, c->have, capacity, 1);
    if (more == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for %zu bytes", capacity);
    }
    c->output = more;
    c->capacity = capacity;
    return STN_OK;
}

/// Receives what is there; `ended` when there will be no more.
static stn_status receive_part(child *c, bool *ended, stn_error *err) {
    stn_status status = c->have == c->capacity ? make_room(c, err) : STN_OK;
    if (status != STN_OK) {
        return status;
    }
    ssize_t n = recv(c->channel, c->output + c->have, c->capacity - c->have, 0);
    c->have += n > 0 ? (size_t)n : 0;
    *ended = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    return STN_OK;
}

static int milliseconds_left(const child *c) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t left = (c->deadline.tv_sec - now.tv_sec) * INT64_C(1000) + (c->deadline.tv_nsec - now.tv_nsec) / 1000000;
    return left > 0 ? (int)left : 0;
}

static stn_status exchange(child *c, stn_error *err) {
    bool ended = false;
    if (all_sent(c)) {
        shutdown(c->channel, SHUT_WR);
    }
    while (!ended) {
        struct pollfd wait = {.fd = c->channel, .events = (short)(POLLIN | (all_sent(c) ? 0 : POLLOUT))};
        int left = milliseconds_left(c);
        int ready = left > 0 ? poll(&wait, 1, left) : 0;
        if (ready == 0) {
            return stn_fail(err, STN_ERR_ARGUMENT, "it takes longer than %d s", c->request->seconds);
        }
        if (ready > 0 && (wait.revents & POLLOUT) != 0) {
            send_part(c);
        }
        if (ready > 0 && (wait.revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
            stn_status status = receive_part(c, &ended, err);
            if (status != STN_OK) {
                return status;
            }
        }
    }
    return STN_OK;
}

/// How the process ended; -1: not told, because the program around us collects all its children.
static int end(child *c) {
    int status = -1;
    close(c->channel);
    kill(c->process, SIGKILL);
    while (waitpid(c->process, &status, 0) < 0) {
        if (errno != EINTR) {
            return -1;
        }
    }
    return status;
}

/// A program that has answered is killed while it cleans up, or ends by itself: only silence is looked into.
static stn_status explain_silence(const child_request *r, int status, stn_error *err) {
    if (status != -1 && WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "the program %s died of it (signal %d): it may be damaged", r->name,
                        WTERMSIG(status));
    }
    if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 127) { // says the dynamic linker
        return stn_fail(err, STN_ERR_FILE, "it needs the program %s, for which a library is missing", r->name);
    }
    return stn_fail(err, STN_ERR_ARGUMENT, "the program %s ended without an answer", r->name);
}

stn_status child_run(stn_context *context, const child_request *request, unsigned char **output, size_t *size,
                     stn_error *err) {
    child c = {.request = request, .context = context};
    *output = NULL;
    *size = 0;
    stn_status status = start(&c, err);
    if (status != STN_OK) {
        return status;
    }
    status = exchange(&c, err);
    int how = end(&c);
    if (status == STN_OK && c.have == 0) {
        status = explain_silence(request, how, err);
    }
    if (status != STN_OK) {
        stn_release(context, c.output);
        return status;
    }
    *output = c.output;
    *size = c.have;
    return STN_OK;
}
