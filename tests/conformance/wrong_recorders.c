// SPDX-License-Identifier: Apache-2.0
// A line a step with its time, right and with one fault each.
#define _POSIX_C_SOURCE 200809L // fdopen
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <stiction/plugin.h>

typedef enum fault {
    NONE,
    NOTHING_WRITTEN,
    NEEDS_BODIES,
    NEEDS_STEPS,
    PUSHES,    // writes into the state
    ONE_FILE,  // for all recordings
    NO_PATH,   // in what it says when it cannot open
    DISK_LOST, // says nothing of what was not written
} fault;

typedef struct config {
    int32_t fault;
} config;

typedef struct recording {
    fault fault;
    FILE *file;
    int64_t rows;
    char path[256];
} recording;

static stn_status open_file(void *self, const stn_record_header *header, void **out, stn_error *err) {
    static recording only; // of ONE_FILE
    fault f = (fault)((const config *)self)->fault;
    stn_output output; // of a new file, which needs no ending but that of its stream
    stn_error why = {STN_OK, ""};
    stn_status status = stn_output_open(header->path, STN_OUTPUT_STREAM, &output, &why);
    if (status != STN_OK) {
        return stn_fail(err, status, "%s", f == NO_PATH ? "cannot be opened" : why.text);
    }
    recording *r = f == ONE_FILE ? &only : calloc(1, sizeof *r);
    FILE *file = r != NULL ? fdopen(output.descriptor, "w") : NULL;
    if (r == NULL || file == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    r->fault = f;
    r->rows = 0;
    r->file = file;
    snprintf(r->path, sizeof r->path, "%s", header->path);
    *out = r;
    return STN_OK;
}

static stn_status observe(void *self, const stn_observation *o, stn_error *err) {
    recording *r = self;
    if (r->fault == NEEDS_BODIES && o->model->body_count < 2) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: no body", r->path);
    }
    if (r->fault == PUSHES) {
        ((double *)(uintptr_t)o->v)[0] += 0.1;
    }
    r->rows += o->step > 0;
    if (r->fault != NOTHING_WRITTEN) {
        fprintf(r->file, "%.17g\n", o->time);
    }
    return STN_OK;
}

static stn_status close_file(void *self, stn_error *err) {
    recording *r = self;
    if (r == NULL || r->file == NULL) {
        return STN_OK;
    }
    fault f = r->fault;
    bool good = fclose(r->file) == 0 || f == DISK_LOST;
    bool rows = r->rows > 0 || f != NEEDS_STEPS;
    char path[256];
    memcpy(path, r->path, sizeof path);
    r->file = NULL;
    if (f != ONE_FILE) {
        free(r);
    }
    return !good  ? stn_fail(err, STN_ERR_FILE, "%s: cannot be written", path)
           : rows ? STN_OK
                  : stn_fail(err, STN_ERR_ARGUMENT, "%s: no step", path);
}

static const stn_recorder_ops ops = {
    .size = sizeof ops, .extension = "times", .open = open_file, .observe = observe, .close = close_file};
static const stn_recorder_ops dotted = {
    .size = sizeof ops, .extension = ".Times", .open = open_file, .observe = observe, .close = close_file};

#define RECORDER(word, number, table)                                                \
    static const stn_param word##_params[] = {                                       \
        STN_PARAM_INT(config, fault, "1", number, number, number, "what is wrong")}; \
    static const stn_plugin_desc word = {.size = sizeof word,                        \
                                         .kind = STN_KIND_RECORDER,                  \
                                         .id = "wrong_" #word,                       \
                                         .version = "1",                             \
                                         .summary = "times with a fault",            \
                                         .config_size = sizeof(config),              \
                                         .params = word##_params,                    \
                                         .param_count = 1,                           \
                                         .ops.recorder = &table};

RECORDER(none, NONE, ops)
RECORDER(dot, NONE, dotted)
RECORDER(empty, NOTHING_WRITTEN, ops)
RECORDER(bodies, NEEDS_BODIES, ops)
RECORDER(steps, NEEDS_STEPS, ops)
RECORDER(push, PUSHES, ops)
RECORDER(file, ONE_FILE, ops)
RECORDER(path, NO_PATH, ops)
RECORDER(disk, DISK_LOST, ops)

STN_PLUGIN_LIBRARY(&none, &dot, &empty, &bodies, &steps, &push, &file, &path, &disk);
