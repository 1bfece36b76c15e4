// SPDX-License-Identifier: Apache-2.0
// Reading JSON with one-line errors; cJSON does the parsing, this file the strictness that cJSON leaves out.
#include "json.h"

#include <stdio.h>
#include <string.h>

static int64_t line_of(const char *text, const char *position) {
    int64_t line = 1;
    for (const char *c = text; c < position; c++) {
        line += *c == '\n';
    }
    return line;
}

cJSON *json_parse(json_reader *r, const char *text, size_t size) {
    const char *zero = memchr(text, '\0', size), *end = text + size, *rest = NULL;
    if (zero != NULL) {
        r->status = stn_fail(r->err, STN_ERR_PARSE, "%s: line %lld: a zero byte; this is no text file", r->path,
                             (long long)line_of(text, zero));
        return NULL;
    }
    cJSON *root = cJSON_ParseWithLengthOpts(text, size + 1, &rest, 1);
    if (root != NULL) {
        return root;
    }
    // the place of the error as far as it can be shown in one line
    const char *position = rest < text || rest > end ? end : rest;
    rest = position;
    while (rest < end && (*rest == ' ' || *rest == '\t' || *rest == '\n' || *rest == '\r')) {
        rest++;
    }
    if (rest >= end - 1) {
        r->status = stn_fail(r->err, STN_ERR_PARSE, "%s: line %lld: the file ends before its JSON is complete", r->path,
                             (long long)line_of(text, position));
        return NULL;
    }
    char shown[25] = "";
    for (size_t i = 0; i + 1 < sizeof shown && rest + i < end && (unsigned char)rest[i] >= ' '; i++) {
        shown[i] = rest[i];
    }
    r->status = stn_fail(r->err, STN_ERR_PARSE, "%s: line %lld: not JSON at '%s'", r->path,
                         (long long)line_of(text, rest), shown);
    return NULL;
}

void json_fail(json_reader *r, const char *key, const char *format, ...) {
    if (r->status != STN_OK) {
        return;
    }
    char text[512];
    int length = snprintf(text, sizeof text, "key '%s%s': ", r->where, key);
    size_t used = length > 0 && (size_t)length < sizeof text ? (size_t)length : 0;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, sizeof text - used, format, arguments);
    va_end(arguments);
    for (char *c = text; *c != '\0'; c++) { // keys and texts of the file may hold anything; a message is one line
        *c = (unsigned char)*c < ' ' ? '?' : *c;
    }
    r->status = stn_fail(r->err, STN_ERR_PARSE, "%s: %s", r->path, text);
}

void json_check_keys(json_reader *r, const cJSON *object, const char *const *keys) {
    int32_t count = 0;
    while (keys[count] != NULL) {
        count++;
    }
    uint64_t seen = 0; // no object of ours has 64 keys
    for (const cJSON *item = object->child; item != NULL && r->status == STN_OK; item = item->next) {
        int32_t k = 0;
        while (k < count && strcmp(keys[k], item->string) != 0) {
            k++;
        }
        if (k == count) {
            char name[40];
            snprintf(name, sizeof name, "%s", item->string);
            const char *near = stn_suggest(name, keys, count);
            json_fail(r, name, "not known here%s%s%s", near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                      near != NULL ? "'?" : "");
        } else if ((seen >> k & 1u) != 0) {
            json_fail(r, keys[k], "appears twice");
        } else {
            seen |= (uint64_t)1 << k;
        }
    }
}

const cJSON *json_find(json_reader *r, const cJSON *object, const char *key, uint32_t flags) {
    const cJSON *found = NULL;
    if (r->status != STN_OK) {
        return NULL;
    }
    for (const cJSON *item = object->child; item != NULL; item = item->next) {
        if (strcmp(item->string, key) != 0) {
            continue;
        }
        if (found != NULL) {
            json_fail(r, key, "appears twice");
            return NULL;
        }
        found = item;
    }
    if (found == NULL && (flags & JSON_OPTIONAL) == 0) {
        json_fail(r, key, "missing");
    }
    return found;
}

static const char *type_name(const cJSON *item) {
    if (cJSON_IsNumber(item)) {
        return "a number";
    }
    if (cJSON_IsString(item)) {
        return "a text";
    }
    if (cJSON_IsBool(item)) {
        return "true or false";
    }
    return cJSON_IsArray(item) ? "an array" : (cJSON_IsObject(item) ? "an object" : "null");
}

/// One real; false when it is none.
static bool real_of(const cJSON *item, uint32_t flags, double *value) {
    bool special = (flags & JSON_SPECIAL) != 0;
    if (cJSON_IsNumber(item) && isfinite(item->valuedouble)) {
        *value = item->valuedouble;
        return true;
    }
    if (special && cJSON_IsNull(item)) {
        *value = (double)NAN;
        return true;
    }
    if (special && cJSON_IsString(item) && strcmp(item->valuestring, "inf") == 0) {
        *value = (double)INFINITY;
        return true;
    }
    if (special && cJSON_IsString(item) && strcmp(item->valuestring, "-inf") == 0) {
        *value = -(double)INFINITY;
        return true;
    }
    return false;
}

static const char *real_rule(uint32_t flags) {
    return (flags & JSON_SPECIAL) != 0 ? "a finite number, null, \"inf\" or \"-inf\"" : "a finite number";
}

double json_real(json_reader *r, const cJSON *object, const char *key, uint32_t flags) {
    const cJSON *item = json_find(r, object, key, flags);
    double value = (double)NAN;
    if (item != NULL && !real_of(item, flags, &value)) {
        json_fail(r, key, "%s, expected %s", cJSON_IsNumber(item) ? "too large a number" : type_name(item),
                  real_rule(flags));
    }
    return value;
}

static bool integer_of(const cJSON *item, int64_t low, int64_t high, int64_t *value) {
    double number = cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
    if (!(number >= (double)low && number <= (double)high) || floor(number) != number) {
        return false;
    }
    *value = (int64_t)number;
    return true;
}

int64_t json_integer(json_reader *r, const cJSON *object, const char *key, int64_t low, int64_t high, uint32_t flags,
                     int64_t absent) {
    const cJSON *item = json_find(r, object, key, flags);
    int64_t value = absent;
    if (item != NULL && !integer_of(item, low, high, &value)) {
        if (cJSON_IsNumber(item)) {
            json_fail(r, key, "%.17g, expected a whole number from %lld to %lld", item->valuedouble, (long long)low,
                      (long long)high);
        } else {
            json_fail(r, key, "%s, expected a whole number", type_name(item));
        }
    }
    return value;
}

bool json_bool(json_reader *r, const cJSON *object, const char *key) {
    const cJSON *item = json_find(r, object, key, JSON_OPTIONAL);
    if (item != NULL && !cJSON_IsBool(item)) {
        json_fail(r, key, "%s, expected true or false", type_name(item));
    }
    return item != NULL && cJSON_IsTrue(item) != 0;
}

const char *json_text(json_reader *r, const cJSON *object, const char *key, uint32_t flags) {
    const cJSON *item = json_find(r, object, key, flags);
    if (item == NULL || (cJSON_IsNull(item) && (flags & JSON_OPTIONAL) != 0)) {
        return NULL;
    }
    if (!cJSON_IsString(item)) {
        json_fail(r, key, "%s, expected a text", type_name(item));
        return NULL;
    }
    return item->valuestring;
}

int32_t json_choice(json_reader *r, const cJSON *object, const char *key, const char *const *names, int32_t count,
                    uint32_t flags, int32_t absent) {
    const char *text = json_text(r, object, key, flags);
    if (text == NULL) {
        return absent;
    }
    char list[256] = "";
    for (int32_t i = 0; i < count; i++) {
        if (strcmp(text, names[i]) == 0) {
            return i;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    json_fail(r, key, "'%.40s' is not known; expected one of %s", text, list);
    return absent;
}

const cJSON *json_array(json_reader *r, const cJSON *object, const char *key, uint32_t flags) {
    const cJSON *item = json_find(r, object, key, flags);
    if (item == NULL || (cJSON_IsNull(item) && (flags & JSON_OPTIONAL) != 0)) {
        return NULL;
    }
    if (!cJSON_IsArray(item)) {
        json_fail(r, key, "%s, expected an array", type_name(item));
        return NULL;
    }
    return item;
}

int64_t json_length(const cJSON *array) {
    int64_t count = 0;
    for (const cJSON *item = array->child; item != NULL; item = item->next) {
        count++;
    }
    return count;
}

void *json_allocate(json_reader *r, int64_t count, size_t size) {
    if (r->status != STN_OK) {
        return NULL;
    }
    void *memory = stn_arena_zeroed(r->arena, (size_t)count, size);
    if (memory == NULL) {
        r->status = stn_fail(r->err, STN_ERR_MEMORY, "%s: out of memory", r->path);
    }
    return memory;
}

/// The array under `key` when it has `count` entries.
static const cJSON *array_of(json_reader *r, const cJSON *object, const char *key, int64_t count,
                             const char *count_text, uint32_t flags) {
    const cJSON *array = json_array(r, object, key, flags);
    if (array == NULL) {
        return NULL;
    }
    int64_t length = json_length(array);
    if (length != count) {
        char number[24];
        snprintf(number, sizeof number, "%lld", (long long)count);
        bool plain = strcmp(number, count_text) == 0;
        json_fail(r, key, "%lld numbers, expected %s%s%s", (long long)length, count_text, plain ? "" : " = ",
                  plain ? "" : number);
        return NULL;
    }
    return array;
}

double *json_reals(json_reader *r, const cJSON *object, const char *key, int64_t count, const char *count_text,
                   uint32_t flags) {
    const cJSON *array = array_of(r, object, key, count, count_text, flags);
    double *values = array != NULL ? json_allocate(r, count, sizeof *values) : NULL;
    if (values == NULL) {
        return NULL;
    }
    int64_t i = 0;
    for (const cJSON *item = array->child; item != NULL; item = item->next, i++) {
        if (!real_of(item, flags, &values[i])) {
            json_fail(r, key, "entry %lld is %s, expected %s", (long long)i,
                      cJSON_IsNumber(item) ? "too large a number" : type_name(item), real_rule(flags));
            return NULL;
        }
    }
    return values;
}

int32_t *json_integers(json_reader *r, const cJSON *object, const char *key, int64_t count, const char *count_text,
                       uint32_t flags) {
    const cJSON *array = array_of(r, object, key, count, count_text, flags);
    int32_t *values = array != NULL ? json_allocate(r, count, sizeof *values) : NULL;
    if (values == NULL) {
        return NULL;
    }
    int64_t i = 0;
    for (const cJSON *item = array->child; item != NULL; item = item->next, i++) {
        int64_t value = 0;
        if (!integer_of(item, INT32_MIN, INT32_MAX, &value)) {
            json_fail(r, key, "entry %lld is no whole number of 32 bits", (long long)i);
            return NULL;
        }
        values[i] = (int32_t)value;
    }
    return values;
}
