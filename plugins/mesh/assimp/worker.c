// SPDX-License-Identifier: Apache-2.0
// The worker process that reads a scene file: started, given the bytes, listened to, and always ended and reaped. A
// process for each file, so that no file can spoil the reading of another; starting one costs 2.5 ms.
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <sys/wait.h>

#include <stiction/process.h>

#include "scene.h"

enum {
    DEFAULT_SECONDS = 30,
    MOST_SECONDS = 3600,
    MEMORY_LEAST = 512 << 20, // [bytes] of address space, of which 20 MB are libraries
    MEMORY_FACTOR = 32,       // further bytes for a byte of the file; 8 were seen
    REPLY_LEAST = 64 << 20,   // [bytes]
    REPLY_FACTOR = 32,        // further bytes for a byte of the file; 1.3 were seen without repeated parts
};
static const uint64_t reply_most = UINT64_C(1) << 30;

typedef struct worker {
    const stn_mesh_source *file;
    int seconds;
    mesh_wire_request request;
    stn_process_answer answer;
} worker;

static stn_status refuse_program(const worker *w, const char *reason, stn_error *err) {
    return stn_fail(
        err, STN_ERR_FILE,
        "%s: DAE and glTF are read by the program %s, which cannot be started: %s; it is installed with the "
        "library, or named by STICTION_MESH_WORKER",
        w->file->path, w->answer.program, reason);
}

/// How many bytes the head of the reply announces, without the names of further files; 0 while it is not there.
static size_t announced(const unsigned char *reply, size_t have) {
    mesh_wire_reply r;
    if (have < sizeof r) {
        return 0;
    }
    memcpy(&r, reply, sizeof r);
    return sizeof r + 24 * (size_t)r.vertex_count + 12 * (size_t)r.triangle_count;
}

static stn_status explain_fault(const worker *w, stn_error *err) {
    const char *path = w->file->path;
    switch (w->answer.fault) {
    case STN_PROCESS_ANSWERED:
        return STN_OK;
    case STN_PROCESS_NO_CHANNEL:
        return stn_fail(err, STN_ERR_FILE, "%s: no channel to a reading process: %s", path, strerror(w->answer.error));
    case STN_PROCESS_NOT_STARTED:
        return refuse_program(w, strerror(w->answer.error), err);
    case STN_PROCESS_SLOW:
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "%s: reading it takes longer than %d s; STICTION_MESH_SECONDS allows more", path, w->seconds);
    case STN_PROCESS_MUCH:
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: reading it gives more than %llu bytes, the limit for its size",
                        path, (unsigned long long)w->request.reply_bytes);
    case STN_PROCESS_NO_MEMORY:
        break;
    }
    return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", path);
}

void mesh_scene_clear(mesh_scene *scene) {
    for (int32_t i = 0; i < scene->raw.further_count; i++) {
        stn_release(scene->context, scene->raw.further[i].name);
    }
    if (scene->context != NULL) {
        stn_release(scene->context, scene->raw.further);
        stn_release(scene->context, scene->reply);
    }
    if (scene->worker > 0) {
        stn_process_reap(scene->worker);
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
    if (w->answer.size == 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: the reading process ended without an answer", path);
    }
    return stn_fail(err, STN_ERR_ARGUMENT, "%s", wrong);
}

stn_status mesh_scene_read(const stn_mesh_source *source, mesh_scene_format format, mesh_scene *out, stn_error *err) {
    *out = (mesh_scene){0};
    const char *allowed = getenv("STICTION_MESH_SECONDS");
    double given = 0.0;
    bool good = allowed != NULL && stn_parse_real(allowed, &given) && given >= 1.0 && given <= MOST_SECONDS;
    worker w = {.file = source, .seconds = good ? (int)given : DEFAULT_SECONDS};
    uint64_t size = source->size, reply_bytes = REPLY_LEAST + REPLY_FACTOR * size;
    size_t root = strlen(source->root), folder = strlen(source->folder), head_size = sizeof w.request + root + folder;
    w.request = (mesh_wire_request){.version = MESH_WIRE_VERSION,
                                    .format = (uint32_t)format,
                                    .size = size,
                                    .memory = MEMORY_LEAST + MEMORY_FACTOR * size,
                                    .reply_bytes = reply_bytes < reply_most ? reply_bytes : reply_most,
                                    .seconds = (uint32_t)w.seconds,
                                    .root_length = (uint32_t)root,
                                    .folder_length = (uint32_t)folder};
    memcpy(w.request.magic, MESH_WIRE_REQUEST, sizeof w.request.magic);
    char *head = stn_allocate(source->context, head_size, 1); // request, root and folder; behind it goes the file
    if (head == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", source->path);
    }
    memcpy(head, &w.request, sizeof w.request);
    memcpy(head + sizeof w.request, source->root, root);
    memcpy(head + sizeof w.request + root, source->folder, folder);
    char name[] = "stiction-mesh", *arguments[] = {name, NULL};
    const stn_process_request request = {.name = name,
                                         .installed = PROGRAM_INSTALLED,
                                         .variable = "STICTION_MESH_WORKER",
                                         .arguments = arguments,
                                         .input = {{head, head_size}, {source->bytes, source->size}},
                                         .most_output = (size_t)w.request.reply_bytes,
                                         .seconds = w.seconds,
                                         .announced = announced};
    stn_process_talk(source->context, &request, &w.answer);
    stn_release(source->context, head);
    // A process that has answered needs some time to give its memory back: it is waited for when the mesh has been
    // made.
    out->context = source->context;
    out->reply = w.answer.output;
    out->worker = w.answer.process;
    stn_status status = explain_fault(&w, err);
    if (status == STN_OK) {
        stn_error reason = {STN_OK, ""};
        status = mesh_scene_parse(source->path, w.answer.size, out, &reason);
        if (status == STN_ERR_MEMORY) {
            stn_fail(err, status, "%s", reason.text);
        } else if (status != STN_OK) {
            out->worker = 0;
            status = explain_end(&w, stn_process_reap(w.answer.process), reason.text, err);
        }
    }
    if (status != STN_OK) {
        mesh_scene_clear(out);
    }
    return status;
}
