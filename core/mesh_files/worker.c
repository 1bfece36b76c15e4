// SPDX-License-Identifier: Apache-2.0
// The worker process that reads a scene file: started, given the bytes, listened to, and always ended and reaped. A
// process for each file, so that no file can spoil the reading of another; starting one costs 2.5 ms.
#define _GNU_SOURCE // SOCK_CLOEXEC
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/socket.h>
#include <sys/wait.h>

#include "base/child.h"
#include "mesh_files/scene.h"

enum {
    DEFAULT_SECONDS = 30,
    MOST_SECONDS = 3600,
    MEMORY_LEAST = 512 << 20,    // [bytes] of address space, of which 20 MB are libraries
    MEMORY_FACTOR = 32,          // further bytes for a byte of the file; 8 were seen
    REPLY_LEAST = 64 << 20,      // [bytes]
    REPLY_FACTOR = 32,           // further bytes for a byte of the file; 1.3 were seen without repeated parts
    FIRST_CAPACITY = 1 << 16,    // [bytes]
    BELIEVED_CAPACITY = 16 << 20 // [bytes] that are taken for a reply when it announces them
};
static const uint64_t reply_most = UINT64_C(1) << 30;

typedef struct worker {
    const mesh_scene_file *file;
    stn_context *context;
    char program[PATH_MAX];
    pid_t process;
    int channel;
    int seconds;
    struct timespec deadline;
    mesh_wire_request request;
    char *head; // request, root and folder; behind it goes the file
    size_t head_size, sent;
    unsigned char *reply;
    size_t have, capacity;
} worker;

static int allowed_seconds(void) {
    const char *text = getenv("STICTION_MESH_SECONDS");
    double seconds = 0.0;
    bool good = text != NULL && stn_parse_real(text, &seconds) && seconds >= 1.0 && seconds <= MOST_SECONDS;
    return good ? (int)seconds : DEFAULT_SECONDS;
}

static stn_status refuse_program(const worker *w, const char *reason, stn_error *err) {
    return stn_fail(
        err, STN_ERR_FILE,
        "%s: DAE and glTF are read by the program %s, which cannot be started: %s; it is installed with the "
        "library, or named by STICTION_MESH_WORKER",
        w->file->path, w->program, reason);
}

static stn_status start(worker *w, stn_error *err) {
    char name[] = "stiction-mesh", *arguments[] = {name, NULL};
    int ends[2];
    bool found = child_find(name, STN_WORKER_INSTALLED, "STICTION_MESH_WORKER", w->program);
    if (!found) {
        snprintf(w->program, PATH_MAX, "%s", name);
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return stn_fail(err, STN_ERR_FILE, "%s: no channel to a reading process: %s", w->file->path, strerror(errno));
    }
    int error = found ? child_spawn(w->program, arguments, ends[1], &w->process) : ENOENT;
    close(ends[1]);
    if (error != 0) {
        close(ends[0]);
        return refuse_program(w, strerror(error), err);
    }
    w->channel = ends[0];
    fcntl(w->channel, F_SETFL, O_NONBLOCK);
    clock_gettime(CLOCK_MONOTONIC, &w->deadline);
    w->deadline.tv_sec += w->seconds;
    return STN_OK;
}

static stn_status prepare(worker *w, stn_error *err) {
    uint64_t size = w->file->size, reply_bytes = REPLY_LEAST + REPLY_FACTOR * size;
    size_t root = strlen(w->file->root), folder = strlen(w->file->folder);
    w->seconds = allowed_seconds();
    w->request = (mesh_wire_request){.version = MESH_WIRE_VERSION,
                                     .format = (uint32_t)w->file->format,
                                     .size = size,
                                     .memory = MEMORY_LEAST + MEMORY_FACTOR * size,
                                     .reply_bytes = reply_bytes < reply_most ? reply_bytes : reply_most,
                                     .seconds = (uint32_t)w->seconds,
                                     .root_length = (uint32_t)root,
                                     .folder_length = (uint32_t)folder};
    memcpy(w->request.magic, MESH_WIRE_REQUEST, sizeof w->request.magic);
    w->head_size = sizeof w->request + root + folder;
    w->head = stn_allocate(w->context, w->head_size, 1);
    if (w->head == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", w->file->path);
    }
    memcpy(w->head, &w->request, sizeof w->request);
    memcpy(w->head + sizeof w->request, w->file->root, root);
    memcpy(w->head + sizeof w->request + root, w->file->folder, folder);
    return STN_OK;
}

/// How many bytes the head of the reply announces, without the names of further files; 0 while it is not there.
static size_t announced(const worker *w) {
    mesh_wire_reply r;
    if (w->have < sizeof r) {
        return 0;
    }
    memcpy(&r, w->reply, sizeof r);
    return sizeof r + 24 * (size_t)r.vertex_count + 12 * (size_t)r.triangle_count;
}

/// Room for more of the reply: twice of what was there, or at once what it announces when that is little.
static stn_status make_room(worker *w, stn_error *err) {
    size_t capacity = w->capacity > 0 ? 2 * w->capacity : FIRST_CAPACITY, wanted = announced(w) + FIRST_CAPACITY;
    if (capacity < wanted && wanted <= BELIEVED_CAPACITY) {
        capacity = wanted;
    }
    if (capacity > w->request.reply_bytes) {
        capacity = (size_t)w->request.reply_bytes;
    }
    if (capacity == w->capacity) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: reading it gives more than %llu bytes, the limit for its size",
                        w->file->path, (unsigned long long)w->request.reply_bytes);
    }
    unsigned char *more = stn_reallocate(w->context, w->reply, w->have, capacity, 1);
    if (more == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", w->file->path);
    }
    w->reply = more;
    w->capacity = capacity;
    return STN_OK;
}

static bool all_sent(const worker *w) {
    return w->sent == w->head_size + w->file->size;
}

/// Sends what goes without waiting. A worker that does not listen is no error here: its answer, or silence, tells.
static void send_part(worker *w) {
    bool head = w->sent < w->head_size;
    const char *from = head ? w->head + w->sent : w->file->bytes + (w->sent - w->head_size);
    size_t size = head ? w->head_size - w->sent : w->file->size - (w->sent - w->head_size);
    ssize_t n = send(w->channel, from, size, MSG_NOSIGNAL);
    if (n > 0) {
        w->sent += (size_t)n;
    } else if (n < 0 && errno != EAGAIN && errno != EINTR) {
        w->sent = w->head_size + w->file->size;
    }
    if (all_sent(w)) {
        shutdown(w->channel, SHUT_WR);
    }
}

/// Receives what is there; `ended` when there will be no more.
static stn_status receive_part(worker *w, bool *ended, stn_error *err) {
    if (w->have == w->capacity) {
        stn_status status = make_room(w, err);
        if (status != STN_OK) {
            return status;
        }
    }
    ssize_t n = recv(w->channel, w->reply + w->have, w->capacity - w->have, 0);
    w->have += n > 0 ? (size_t)n : 0;
    *ended = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    return STN_OK;
}

static int milliseconds_left(const worker *w) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t left = (w->deadline.tv_sec - now.tv_sec) * INT64_C(1000) + (w->deadline.tv_nsec - now.tv_nsec) / 1000000;
    return left > 0 ? (int)left : 0;
}

static stn_status exchange(worker *w, stn_error *err) {
    bool ended = false;
    while (!ended) {
        struct pollfd wait = {.fd = w->channel, .events = (short)(POLLIN | (all_sent(w) ? 0 : POLLOUT))};
        int left = milliseconds_left(w);
        int ready = left > 0 ? poll(&wait, 1, left) : 0;
        if (ready == 0) {
            return stn_fail(err, STN_ERR_ARGUMENT,
                            "%s: reading it takes longer than %d s; STICTION_MESH_SECONDS allows more", w->file->path,
                            w->seconds);
        }
        if (ready > 0 && (wait.revents & POLLOUT) != 0) {
            send_part(w);
        }
        if (ready > 0 && (wait.revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
            stn_status status = receive_part(w, &ended, err);
            if (status != STN_OK) {
                return status;
            }
        }
    }
    return STN_OK;
}

/// Waits for a process that is ending. Returns how it ended; -1: not told, because the program around us collects all
/// its children.
static int reap(pid_t process) {
    int status = -1;
    while (waitpid(process, &status, 0) < 0) {
        if (errno != EINTR) {
            return -1;
        }
    }
    return status;
}

void mesh_scene_clear(mesh_scene *scene) {
    raw_mesh_clear(&scene->raw);
    mesh_further_clear(&scene->further);
    if (scene->reply != NULL) {
        stn_release(scene->context, scene->reply);
    }
    if (scene->worker > 0) {
        reap(scene->worker);
    }
    *scene = (mesh_scene){0};
}

/// Why there is no good answer: how the worker died, else what is wrong with the answer.
static stn_status explain_end(const worker *w, int status, const char *wrong, stn_error *err) {
    const char *path = w->file->path;
    int number = status != -1 && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (number == SIGXCPU) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "%s: reading it takes more than %d s of processor time; STICTION_MESH_SECONDS allows more",
                        path, w->seconds);
    }
    if (number != 0 && number != SIGKILL) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "%s: the reading process died of it (signal %d); it may be damaged, or need more than the %llu "
                        "MiB allowed for its size",
                        path, number, (unsigned long long)(w->request.memory >> 20));
    }
    if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 127) { // says the dynamic linker
        return refuse_program(w, "a library that it needs (assimp?) is missing", err);
    }
    if (w->have == 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: the reading process ended without an answer", path);
    }
    return stn_fail(err, STN_ERR_ARGUMENT, "%s", wrong);
}

/// Ends the process in any case. One that has answered needs some time to give its memory back: it is waited for when
/// the mesh has been made (mesh_scene_clear).
static stn_status finish(worker *w, stn_status status, mesh_scene *out, stn_error *err) {
    close(w->channel);
    kill(w->process, SIGKILL);
    out->context = w->context;
    out->reply = w->reply;
    out->worker = w->process;
    w->reply = NULL;
    if (status != STN_OK) {
        return status;
    }
    stn_error reason = {STN_OK, ""};
    status = mesh_scene_parse(w->file->path, w->have, out, &reason);
    if (status == STN_OK || status == STN_ERR_MEMORY) {
        return status == STN_OK ? STN_OK : stn_fail(err, status, "%s", reason.text);
    }
    out->worker = 0;
    return explain_end(w, reap(w->process), reason.text, err);
}

stn_status mesh_scene_read(stn_context *context, const mesh_scene_file *file, mesh_scene *out, stn_error *err) {
    worker w = {.file = file, .context = context};
    *out = (mesh_scene){0};
    stn_status status = prepare(&w, err);
    if (status == STN_OK) {
        status = start(&w, err);
    }
    if (status == STN_OK) {
        status = finish(&w, exchange(&w, err), out, err);
    }
    stn_release(context, w.head);
    if (status != STN_OK) {
        mesh_scene_clear(out);
    }
    return status;
}
