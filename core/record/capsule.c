// SPDX-License-Identifier: Apache-2.0
// Failure capsules: a step that failed, in one file that shows why and lets it be made again. docs/capsule.md
//
//     { "format": "stiction-capsule-1", "failure": { "step", "time_s", "reason" },
//       "problem": contact problem of the step, or null, "run": base64 of a run (run.c) }
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stiction/input.h>

#include "base/file.h"
#include "base/options.h"
#include "problem/problem_file.h"
#include "record/run.h"

static const char format[] = "stiction-capsule-1";
static const size_t largest_file = (size_t)1 << 32; // bytes

// ----------------------------------------------------------------------------------------------------------- scanning

/// A place in a text of JSON.
typedef struct json_place {
    char *at, *end;
} json_place;

/// A text of it without its quotes.
typedef struct json_text {
    char *text;
    size_t length;
} json_text;

/// Steps over white space and, when it is there, this character.
static bool step_over(json_place *p, char wanted) {
    while (p->at < p->end && memchr(" \t\r\n", *p->at, 4) != NULL) {
        p->at++;
    }
    bool there = p->at < p->end && *p->at == wanted;
    p->at += there;
    return there;
}

/// A text with its escapes as they stand.
static bool take_text(json_place *p, json_text *out) {
    if (!step_over(p, '"')) {
        return false;
    }
    out->text = p->at;
    while (p->at < p->end && *p->at != '"') {
        p->at += *p->at == '\\' && p->end - p->at > 1 ? 2 : 1;
    }
    out->length = (size_t)(p->at - out->text);
    return step_over(p, '"');
}

/// Puts characters in the place of their escapes. Those beyond ASCII stay: neither keys nor base64 hold any.
static void unescape(json_text *t) {
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    size_t kept = 0;
    for (size_t i = 0; i < t->length; i++) {
        const char *letter = t->text[i] == '\\' && i + 1 < t->length ? strchr(letters, t->text[i + 1]) : NULL;
        unsigned code = 0x80;
        if (t->text[i] == '\\' && t->length - i >= 6 && t->text[i + 1] == 'u') {
            char digits[5] = "", *end = NULL;
            memcpy(digits, t->text + i + 2, 4);
            code = isxdigit((unsigned char)digits[1]) ? (unsigned)strtoul(digits, &end, 16) : code; // no "0x41"
            code = isxdigit((unsigned char)digits[0]) && end == digits + 4 ? code : 0x80;
        }
        t->text[kept++] = code < 0x80 ? (char)code : letter != NULL ? meant[letter - letters] : t->text[i];
        i += code < 0x80 ? 5 : letter != NULL ? 1 : 0;
    }
    t->length = kept;
}

/// Steps over a value of any kind: to the end of an object or a list, else up to the comma or brace behind it or the
/// end. False: it is not complete.
static bool skip_value(json_place *p) {
    json_text ignored;
    int64_t depth = 0;
    while (p->at < p->end) {
        char c = *p->at;
        if (depth == 0 && (c == ',' || c == '}')) {
            return true;
        }
        depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
        if (c == '"') {
            if (!take_text(p, &ignored)) {
                return false;
            }
        } else {
            p->at++;
        }
        if (depth == 0 && (c == '}' || c == ']')) {
            return true;
        }
    }
    return depth == 0;
}

// ------------------------------------------------------------------------------------------------------------ writing

static void put(file_writer *w, const char *text) {
    file_put(w, text, strlen(text));
}

/// Quoted and escaped.
static void put_text(file_writer *w, const char *text) {
    put(w, "\"");
    for (const char *c = text; *c != '\0'; c++) {
        char escaped[8];
        if (*c == '"' || *c == '\\') {
            snprintf(escaped, sizeof escaped, "\\%c", *c);
        } else if ((unsigned char)*c < 0x20) {
            snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)(unsigned char)*c);
        } else {
            snprintf(escaped, sizeof escaped, "%c", *c);
        }
        put(w, escaped);
    }
    put(w, "\"");
}

static void take_problem(const stn_problem_sink *sink, const void *bytes, size_t size) {
    bytes_pass(sink->user, (void *)bytes, size); // written: only read from
}

/// The step's problem, as the plugin of its format writes it; null where none was formed, or none can be written. It
/// goes to memory first: whatever a writer does, the run stays and can be found behind it.
static void put_problem(file_writer *w, const stn_world *world) {
    stn_context *context = world->services.context;
    byte_stream text = bytes_writer(context);
    stn_error why = {STN_OK, ""};
    bool written = false;
    if (world->frame.assembled) {
        stn_status status = problem_file_put(context, &world->frame.problem, take_problem, &text, &why);
        if (status == STN_OK) {
            status = bytes_status(&text, &why);
        }
        // Does the scanner find the end of the object where it is?
        char *begin = (char *)text.data;
        json_place p = {begin, begin + text.size};
        bool object = status == STN_OK && text.size > 0 && step_over(&p, '{');
        if (object) {
            p.at--;
            object = skip_value(&p) && p.at[-1] == '}';
            step_over(&p, ' ');
            object = object && p.at == p.end;
        }
        if (status == STN_OK && !object) {
            status = stn_fail(&why, STN_ERR_PLUGIN, "what was written as %s is no JSON object", STN_PROBLEM_FORMAT);
        }
        written = status == STN_OK;
        if (!written) {
            stn_log(context, STN_LOG_WARNING, "the capsule holds no contact problem: %s", why.text);
        }
    }
    if (written) {
        file_put(w, (const char *)text.data, text.size);
    } else {
        put(w, "null\n");
    }
    bytes_clear(&text);
}

stn_status stn_world_save_capsule(const stn_world *world, const stn_error *why, const char *path, stn_error *err) {
    enum { PIECE = 3 * 1024 }; // bytes of the run that become text at a time
    if (world->setup->model == NULL) {
        return stn_fail(err, STN_ERR_SEQUENCE, "%s: the world was not completed, so no step of it has failed", path);
    }
    byte_stream run;
    stn_status status = run_encode(world, 0, &run, err);
    if (status != STN_OK) {
        return status;
    }
    file_writer *w = stn_allocate(world->services.context, 1, sizeof *w);
    status = w != NULL ? file_open(path, w, err) : stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", path);
    if (status == STN_OK) {
        put(w, "{\n  \"format\": ");
        put_text(w, format);
        put(w, ",\n  \"failure\": ");
        char step[24], time[40] = "null";
        snprintf(step, sizeof step, "%lld", (long long)world->state.step);
        if (isfinite(world->state.time)) {
            stn_print_real(time, sizeof time, world->state.time);
        }
        put(w, "{ \"step\": ");
        put(w, step);
        put(w, ", \"time_s\": ");
        put(w, time);
        put(w, ", \"reason\": ");
        put_text(w, why->text);
        put(w, " }");
        put(w, ",\n  \"run\": ");
        put(w, "\"");
        for (size_t at = 0; at < run.size; at += PIECE) {
            char digits[STN_BASE64_SIZE(PIECE) + 1];
            size_t piece = run.size - at < PIECE ? run.size - at : PIECE;
            stn_base64_encode(run.data + at, piece, digits);
            digits[STN_BASE64_SIZE(piece)] = '\0';
            put(w, digits);
        }
        put(w, "\"");
        put(w, ",\n  \"problem\": ");
        put_problem(w, world);
        put(w, "}\n");
        status = file_close(w, true, err);
    }
    stn_release(world->services.context, w);
    bytes_clear(&run);
    return status;
}

/// Makes the step that stopped the world again, in a clone, and keeps it.
static stn_status save_clone(void *user, stn_world *world, stn_error *err) {
    const char *path = user;
    stn_world *clone = NULL;
    stn_error why = {0};
    stn_status status = stn_world_clone(world, &clone, err);
    if (status != STN_OK) {
        return status;
    }
    if (stn_world_step(clone, &why) < 0) {
        status = stn_world_save_capsule(clone, &why, path, err);
    } else {
        status = stn_fail(err, STN_ERR_SEQUENCE, "%s: no step of this world has failed, an observer stopped it", path);
    }
    stn_world_destroy(clone);
    return status;
}

stn_status stn_batch_save_capsule(stn_batch *batch, int32_t world, const char *path, stn_error *err) {
    if (world >= 0 && world < stn_batch_count(batch) && stn_batch_error(batch, world) == NULL) {
        return stn_fail(err, STN_ERR_SEQUENCE, "%s: world %d of the batch has not failed", path, world);
    }
    return stn_batch_visit(batch, world, save_clone, (void *)(uintptr_t)path, err);
}

// ------------------------------------------------------------------------------------------------------------ reading

static bool is_text(json_text text, const char *wanted) {
    return text.length == strlen(wanted) && memcmp(text.text, wanted, text.length) == 0;
}

/// The texts under "format" and "run" of an object that is all of the file, without escapes; those that are not there
/// stay empty. A byte order mark may stand before it. False: it does not end.
static bool find_texts(char *text, size_t size, json_text *name, json_text *run) {
    bool marked = size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0;
    json_place p = {text + (marked ? 3 : 0), text + size};
    if (!step_over(&p, '{')) {
        return true;
    }
    do {
        json_text key;
        if (!take_text(&p, &key) || !step_over(&p, ':')) {
            return false;
        }
        unescape(&key);
        json_text *wanted = is_text(key, "format") ? name : is_text(key, "run") ? run : NULL;
        if (wanted != NULL && take_text(&p, wanted)) {
            unescape(wanted);
        } else if (!skip_value(&p)) {
            return false;
        }
    } while (step_over(&p, ','));
    bool ends = step_over(&p, '}');
    step_over(&p, ' ');
    return ends && p.at == p.end;
}

stn_status stn_capsule_load_sized(stn_context *context, const char *path, const stn_replay_options *options,
                                  size_t options_size, stn_world **out, stn_error *err) {
    stn_error local = {STN_OK, ""};
    err = err != NULL ? err : &local;
    *out = NULL;
    stn_replay_options own;
    if (options != NULL && stn_options_take("capsule", &own, sizeof own, options, options_size, err) != STN_OK) {
        return STN_ERR_ARGUMENT;
    }
    char *text = NULL;
    size_t length = 0, size = 0;
    stn_status status = stn_read_regular(context, path, 0, largest_file, &text, &length, err);
    if (status != STN_OK) {
        return status;
    }
    json_text name = {NULL, 0}, run = {NULL, 0};
    bool ends = find_texts(text, length, &name, &run);
    unsigned char *data = NULL; // of the run
    if (!is_text(name, format)) {
        status = stn_fail(err, STN_ERR_PARSE, "%s: no failure capsule: expected the format \"%s\"", path, format);
    } else if (!ends) {
        status = stn_fail(err, STN_ERR_PARSE, "%s: it is cut off or damaged: its JSON is not complete", path);
    } else if (run.length == 0) {
        status = stn_fail(err, STN_ERR_PARSE, "%s: key 'run': missing, or no text", path);
    } else if ((data = stn_allocate(context, run.length, 1)) == NULL) {
        status = stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", path);
    } else if (!stn_base64_decode(run.text, run.length, data, &size)) {
        status = stn_fail(err, STN_ERR_PARSE, "%s: key 'run': is no base64; the file is damaged", path);
    }
    stn_release(context, text);
    if (status == STN_OK) {
        recorded_run decoded = {0};
        status = run_decode(context, data, size, options != NULL ? &own : NULL, &decoded, err);
        if (status != STN_OK) {
            stn_error_prefix(err, "%s", path);
        }
        *out = decoded.world;
    }
    stn_release(context, data);
    return status;
}
