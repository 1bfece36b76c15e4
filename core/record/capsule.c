// SPDX-License-Identifier: Apache-2.0
// Failure capsules: a step that failed, in one file that shows why and lets it be made again. docs/capsule.md
//
//     { "format": "stiction-capsule-1", "failure": { "step", "time_s", "reason" },
//       "problem": contact problem of the step, or null, "run": base64 of a run (run.c) }
#include <string.h>

#include "base/read_regular.h"
#include "problem_files/json.h"
#include "problem_files/json_write.h"
#include "record/run.h"

static const char format[] = "stiction-capsule-1";
static const size_t largest_file = (size_t)1 << 32; // bytes

static void put_failure(json_writer *w, const stn_world *world, const stn_error *why) {
    json_put_key(w, "  ", "failure");
    json_put(w, "{ \"step\": ");
    json_put_integer(w, world->state.step);
    json_put(w, ", \"time_s\": ");
    json_put_real(w, world->state.time);
    json_put(w, ", \"reason\": ");
    json_put_text(w, why->text);
    json_put(w, " }");
}

static void put_bytes(json_writer *w, const unsigned char *data, size_t size) {
    enum { PIECE = 3 * 1024 };
    char digits[STN_BASE64_SIZE(PIECE) + 1];
    json_put(w, "\"");
    for (size_t at = 0; at < size; at += PIECE) {
        size_t piece = size - at < PIECE ? size - at : PIECE;
        stn_base64_encode(data + at, piece, digits);
        digits[STN_BASE64_SIZE(piece)] = '\0';
        json_put(w, digits);
    }
    json_put(w, "\"");
}

static void put_capsule(json_writer *w, const stn_world *world, const stn_error *why, const byte_stream *run) {
    json_put(w, "{");
    w->first = true;
    json_put_key(w, "  ", "format");
    json_put_text(w, format);
    put_failure(w, world, why);
    json_put_key(w, "  ", "run");
    put_bytes(w, run->data, run->size);
    json_put_key(w, "  ", "problem");
    if (world->frame.assembled) {
        json_put_problem_2(w, &world->frame.problem);
    } else {
        json_put(w, "null\n");
    }
    json_put(w, "}\n");
}

stn_status stn_world_save_capsule(const stn_world *world, const stn_error *why, const char *path, stn_error *err) {
    if (world->setup->model == NULL) {
        return stn_fail(err, STN_ERR_SEQUENCE, "%s: the world was not completed, so no step of it has failed", path);
    }
    byte_stream run;
    stn_status status = run_encode(world, 0, &run, err);
    if (status != STN_OK) {
        return status;
    }
    json_writer *w = stn_allocate(world->services.context, 1, sizeof *w);
    status = w != NULL ? file_open(path, &w->file, err) : stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", path);
    if (status == STN_OK) {
        put_capsule(w, world, why, &run);
        status = file_close(&w->file, true, err);
    }
    stn_release(world->services.context, w);
    bytes_clear(&run);
    return status;
}

/// The bytes behind "run", in place of their text.
static void decode_run(json_reader *r, const cJSON *root, unsigned char **data, size_t *size) {
    const char *text = json_text(r, root, "run", 0);
    if (r->status != STN_OK) {
        return;
    }
    size_t length = text != NULL ? strlen(text) : 0;
    *data = json_allocate(r, (int64_t)length, 1);
    if (*data != NULL && !stn_base64_decode(text, length, *data, size)) {
        json_fail(r, "run", "is no base64; the file is damaged");
    }
}

static stn_status parse(json_reader *r, unsigned char **data, size_t *size) {
    char *text = NULL;
    size_t length = 0;
    r->status = stn_read_regular(r->context, r->path, 0, largest_file, &text, &length, r->err);
    if (r->status != STN_OK) {
        return r->status;
    }
    cJSON *root = json_parse(r, text, length);
    stn_release(r->context, text);
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "format"));
    if (r->status == STN_OK && (name == NULL || strcmp(name, format) != 0)) {
        r->status =
            stn_fail(r->err, STN_ERR_PARSE, "%s: no failure capsule: expected the format \"%s\"", r->path, format);
    }
    if (r->status == STN_OK) {
        decode_run(r, root, data, size);
    }
    cJSON_Delete(root);
    return r->status;
}

stn_status stn_capsule_load(stn_context *context, const char *path, const stn_replay_options *options, stn_world **out,
                            stn_error *err) {
    stn_error local = {STN_OK, ""};
    err = err != NULL ? err : &local;
    *out = NULL;
    stn_arena *scratch = stn_arena_create(context);
    if (scratch == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", path);
    }
    json_reader r = {.context = context, .arena = scratch, .path = path, .err = err};
    unsigned char *data = NULL;
    size_t size = 0;
    recorded_run run = {0};
    stn_status status = parse(&r, &data, &size);
    if (status == STN_OK) {
        status = run_decode(context, data, size, options, &run, err);
        if (status != STN_OK) {
            stn_error_prefix(err, "%s", path);
        }
    }
    stn_arena_destroy(scratch);
    *out = run.world;
    return status;
}
