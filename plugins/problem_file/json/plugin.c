// SPDX-License-Identifier: Apache-2.0
// contact-problem-1 and contact-problem-2, and the problem in a failure capsule. docs/contact-problem.md
#include <string.h>

#include <stiction/plugin.h>

#include "json.h"
#include "json_write.h"

const char *const problem_form_names[2] = {"global", "local"};
const char *const problem_velocity_names[2] = {"end", "mid"};
const char *const matrix_form_names[4] = {"zero", "diagonal", "dense", "nodal"};

/// An object, maybe behind a byte order mark; its key "format" says the rest.
static bool recognises(const char *bytes, size_t size) {
    size_t i = size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (i < size && (bytes[i] == ' ' || bytes[i] == '\t' || bytes[i] == '\r' || bytes[i] == '\n')) {
        i++;
    }
    return i < size && bytes[i] == '{';
}

/// A problem, or that in a failure capsule (docs/capsule.md).
static stn_status read(void *self, const stn_problem_source *source, stn_problem *out, stn_error *err) {
    static const char *const known[] = {"contact-problem-1", "contact-problem-2"};
    (void)self;
    json_reader r = {.context = source->context, .arena = source->arena, .path = source->path, .err = err};
    cJSON *root = json_parse(&r, source->bytes, source->size);
    if (root == NULL) {
        return r.status;
    }
    const char *format = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "format"));
    bool capsule = format != NULL && strcmp(format, "stiction-capsule-1") == 0;
    const cJSON *problem = capsule ? cJSON_GetObjectItemCaseSensitive(root, "problem") : root;
    if (capsule && !cJSON_IsObject(problem)) {
        r.status = stn_fail(err, STN_ERR_PARSE,
                            "%s: this capsule holds no contact problem: its step failed before one was formed, or it "
                            "could not be written; make the step again with stiction run --from",
                            r.path);
    } else if (!cJSON_IsObject(problem)) {
        r.status = stn_fail(err, STN_ERR_PARSE,
                            "%s: not a contact problem: expected a JSON object with the key 'format'", r.path);
    } else {
        int32_t which = json_choice(&r, problem, "format", known, STN_COUNT(known), 0, 0);
        if (r.status == STN_OK) {
            (which == 0 ? json_read_problem_1 : json_read_problem_2)(&r, problem, out);
        }
    }
    cJSON_Delete(root);
    return r.status;
}

static const char *const formats[] = {"contact-problem-2", "contact-problem-1", NULL};

static stn_status write(void *self, const stn_problem_sink *sink, const stn_problem *problem, stn_error *err) {
    (void)self;
    json_writer w = {.sink = sink};
    if (strcmp(sink->format, formats[0]) == 0) {
        json_put_problem_2(&w, problem);
        return STN_OK;
    }
    stn_status status = json_check_problem_1(problem, err);
    if (status == STN_OK && !json_put_problem_1(&w, problem)) {
        status = stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    return status;
}

static const char *const extensions[] = {"json", NULL};
static const stn_problem_file_ops ops = {
    .size = sizeof ops,
    .extensions = extensions,
    .recognises = recognises,
    .read = read,
    .formats = formats,
    .write = write,
};
static const char *const capabilities[] = {"exact", NULL};
static const stn_plugin_desc json = {
    .size = sizeof json,
    .kind = STN_KIND_PROBLEM_FILE,
    .id = "json",
    .version = STN_VERSION,
    .summary = "contact problems as JSON, and those in failure capsules",
    .capabilities = capabilities,
    .ops = {.problem_file = &ops},
};
STN_PLUGIN_LIBRARY(&json);
