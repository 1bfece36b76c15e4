// SPDX-License-Identifier: Apache-2.0
#include "data.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/// A place in the file, for messages.
typedef struct place {
    const char *path;
    char where[96];
    stn_error *err;
} place;

static stn_status wrong(const place *at, const char *name, const char *what) {
    return stn_fail(at->err, STN_ERR_FILE, "%s: %s: '%s' %s", at->path, at->where, name, what);
}

static stn_status check_names(const place *at, const cJSON *object, const char *const *known, int32_t count) {
    if (!cJSON_IsObject(object)) {
        return stn_fail(at->err, STN_ERR_FILE, "%s: %s must be an object", at->path, at->where);
    }
    for (const cJSON *item = object->child; item != NULL; item = item->next) {
        bool is_known = false;
        for (int32_t i = 0; i < count; i++) {
            is_known |= strcmp(item->string, known[i]) == 0;
        }
        if (!is_known) {
            return wrong(at, item->string, "is no name that is known here");
        }
    }
    return STN_OK;
}

/// A text; NULL where it may be absent and is.
static stn_status text_of(const place *at, const cJSON *object, const char *name, bool required, const char **out) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    *out = cJSON_GetStringValue(item);
    if (item == NULL) {
        return required ? wrong(at, name, "is missing") : STN_OK;
    }
    return *out != NULL && (*out)[0] != '\0' ? STN_OK : wrong(at, name, "must be a text");
}

/// Names are parts of file names.
static stn_status check_name(const place *at, const char *name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const size_t length = strlen(name);
    return length > 0 && length <= 60 && strspn(name, letters) == length
               ? STN_OK
               : wrong(at, name, "must be a name of up to 60 letters, digits, _ and -");
}

static stn_status flag_of(const place *at, const cJSON *object, const char *name, bool *out) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    *out = cJSON_IsTrue(item);
    return item == NULL || cJSON_IsBool(item) ? STN_OK : wrong(at, name, "must be true or false");
}

/// A list of texts that hold `mark`; NULL where it is absent.
static stn_status texts_of(const place *at, const cJSON *object, const char *name, char mark, const char *advice,
                           const cJSON **out) {
    *out = cJSON_GetObjectItemCaseSensitive(object, name);
    bool good = *out == NULL || cJSON_IsArray(*out);
    const cJSON *word;
    cJSON_ArrayForEach(word, *out) {
        good = good && cJSON_GetStringValue(word) != NULL && strchr(word->valuestring, mark) != NULL;
    }
    return good ? STN_OK : wrong(at, name, advice);
}

// --------------------------------------------------------------------------------------------------------------- runs

static stn_status read_run(place *at, const cJSON *item, paper_run *run) {
    static const char *const known[] = {"script", "set", "options", "plot", "caption", "full"};
    snprintf(at->where, sizeof at->where, "run '%.60s'", item->string);
    run->id = item->string;
    stn_status status = check_name(at, item->string);
    for (const cJSON *before = item->prev; before != NULL && before->next != NULL && status == STN_OK;
         before = before->prev) { // the first one's is the last
        status = strcmp(before->string, item->string) != 0 ? STN_OK : wrong(at, item->string, "is there twice");
    }
    status = status == STN_OK ? check_names(at, item, known, STN_COUNT(known)) : status;
    status = status == STN_OK ? text_of(at, item, "script", true, &run->script) : status;
    status = status == STN_OK ? text_of(at, item, "plot", false, &run->plot) : status;
    status = status == STN_OK ? text_of(at, item, "caption", run->plot != NULL, &run->caption) : status;
    status = status == STN_OK ? flag_of(at, item, "full", &run->full) : status;
    status =
        status == STN_OK ? texts_of(at, item, "set", '=', "must be a list of texts, as \"mu=0.5\"", &run->set) : status;
    return status == STN_OK
               ? texts_of(at, item, "options", '-', "must be a list of texts, as \"--profile\"", &run->options)
               : status;
}

// --------------------------------------------------------------------------------------------------------------- rows

static stn_status read_same(const place *at, const cJSON *row, paper_row *out) {
    static const char *const names[PAPER_SAME_COUNT] = {"relative", "absolute", "factor",
                                                        "at_most",  "at_least", "range"};
    static const char advice[] = "must be one of {\"relative\": x}, {\"absolute\": x}, {\"factor\": x}, "
                                 "{\"range\": [x, y]}, \"at_most\", \"at_least\"";
    const cJSON *same = cJSON_GetObjectItemCaseSensitive(row, "same");
    const cJSON *value = cJSON_IsObject(same) ? same->child : NULL;
    const char *name = value != NULL ? value->string : cJSON_GetStringValue(same);
    int32_t kind = 0;
    while (kind < PAPER_SAME_COUNT && (name == NULL || strcmp(name, names[kind]) != 0)) {
        kind++;
    }
    const bool word = kind == PAPER_AT_MOST || kind == PAPER_AT_LEAST;
    if (kind == PAPER_SAME_COUNT || word == (value != NULL) || (value != NULL && value->next != NULL)) {
        return wrong(at, "same", advice);
    }
    out->same = (paper_same)kind;
    if (kind == PAPER_RANGE) {
        const cJSON *low = cJSON_GetArrayItem(value, 0), *high = cJSON_GetArrayItem(value, 1);
        out->bound = cJSON_IsNumber(low) ? low->valuedouble : (double)NAN;
        out->upper = cJSON_IsNumber(high) ? high->valuedouble : (double)NAN;
        return cJSON_GetArraySize(value) == 2 && out->bound <= out->upper ? STN_OK : wrong(at, "same", advice);
    }
    out->bound = word ? 0.0 : cJSON_IsNumber(value) ? value->valuedouble : (double)NAN;
    if (!(out->bound >= (kind == PAPER_FACTOR ? 1.0 : 0.0)) || !isfinite(out->bound)) {
        return wrong(at, "same", advice);
    }
    return isnan(out->published) ? wrong(at, "published", "must be a number where 'same' is no range") : STN_OK;
}

static stn_status read_row(place *at, const paper_data *p, const cJSON *item, int32_t index, paper_row *row) {
    static const char *const known[] = {"place",  "quantity", "unit", "published", "run",
                                        "result", "over",     "same", "why",       "not_comparable"};
    snprintf(at->where, sizeof at->where, "row %d", (int)index + 1);
    const char *run = NULL;
    stn_status status = check_names(at, item, known, STN_COUNT(known));
    status = status == STN_OK ? text_of(at, item, "place", true, &row->place) : status;
    status = status == STN_OK ? text_of(at, item, "quantity", true, &row->quantity) : status;
    status = status == STN_OK ? text_of(at, item, "unit", true, &row->unit) : status;
    status = status == STN_OK ? text_of(at, item, "why", false, &row->why) : status;
    status = status == STN_OK ? text_of(at, item, "not_comparable", false, &row->not_comparable) : status;
    status = status == STN_OK ? text_of(at, item, "run", row->not_comparable == NULL, &run) : status;
    status = status == STN_OK ? text_of(at, item, "result", run != NULL, &row->result) : status;
    status = status == STN_OK ? text_of(at, item, "over", false, &row->over) : status;
    if (status != STN_OK) {
        return status;
    }
    const cJSON *published = cJSON_GetObjectItemCaseSensitive(item, "published");
    const double value = cJSON_IsNumber(published) ? published->valuedouble : (double)NAN;
    row->published = isfinite(value) ? value : (double)NAN;
    row->text = cJSON_GetStringValue(published);
    if (isnan(row->published) && row->text == NULL) {
        return wrong(at, "published", "must be a number, or a text");
    }
    row->run = -1;
    for (int32_t k = 0; k < p->run_count && run != NULL; k++) {
        row->run = strcmp(p->runs[k].id, run) == 0 ? k : row->run;
    }
    if (run != NULL && row->run < 0) {
        return wrong(at, run, "is none of the runs");
    }
    return row->not_comparable == NULL ? read_same(at, item, row) : STN_OK;
}

// ---------------------------------------------------------------------------------------------------------- the paper

stn_status paper_read(stn_context *context, const char *path, paper_data *out, stn_error *err) {
    enum { LARGEST = 1 << 22 };
    static const char *const known[] = {"name", "reference", "title", "runs", "rows"};
    *out = (paper_data){0};
    char *bytes = NULL;
    size_t size = 0;
    stn_status status = stn_read_regular(context, path, 0, LARGEST, &bytes, &size, err);
    if (status != STN_OK) {
        return status;
    }
    const char *end = NULL;
    out->json = cJSON_ParseWithOpts(bytes, &end, true);
    if (out->json == NULL) {
        int32_t line = 1;
        for (const char *c = bytes; end != NULL && c < end; c++) {
            line += *c == '\n';
        }
        status = stn_fail(err, STN_ERR_FILE, "%s:%d: is no JSON from here on", path, (int)line);
    }
    stn_release(context, bytes);
    if (status != STN_OK) {
        return status;
    }
    const char *slash = strrchr(path, '/');
    snprintf(out->folder, sizeof out->folder, "%.*s", slash != NULL ? (int)(slash - path) : 1,
             slash != NULL ? path : ".");
    place at = {.path = path, .where = "the paper", .err = err};
    status = check_names(&at, out->json, known, STN_COUNT(known));
    status = status == STN_OK ? text_of(&at, out->json, "name", true, &out->name) : status;
    status = status == STN_OK ? check_name(&at, out->name) : status;
    status = status == STN_OK ? text_of(&at, out->json, "reference", true, &out->reference) : status;
    status = status == STN_OK ? text_of(&at, out->json, "title", true, &out->title) : status;
    const cJSON *runs = cJSON_GetObjectItemCaseSensitive(out->json, "runs");
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(out->json, "rows"), *item;
    if (status == STN_OK && !cJSON_IsObject(runs)) {
        status = wrong(&at, "runs", "must be an object, a run a name");
    }
    if (status == STN_OK && !cJSON_IsArray(rows)) {
        status = wrong(&at, "rows", "must be a list");
    }
    if (status != STN_OK) {
        return status;
    }
    out->runs = stn_allocate(context, (size_t)cJSON_GetArraySize(runs) + 1, sizeof *out->runs);
    out->rows = stn_allocate(context, (size_t)cJSON_GetArraySize(rows) + 1, sizeof *out->rows);
    if (out->runs == NULL || out->rows == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", path);
    }
    cJSON_ArrayForEach(item, runs) {
        status = status == STN_OK ? read_run(&at, item, &out->runs[out->run_count++]) : status;
    }
    cJSON_ArrayForEach(item, rows) {
        status = status == STN_OK ? read_row(&at, out, item, out->row_count, &out->rows[out->row_count]) : status;
        out->row_count++;
    }
    return status;
}

void paper_clear(stn_context *context, paper_data *p) {
    stn_release(context, p->runs);
    stn_release(context, p->rows);
    cJSON_Delete(p->json);
    *p = (paper_data){0};
}
