// SPDX-License-Identifier: Apache-2.0
// Files for the command to read, and its JSON answers.
#ifndef STN_ANSWER_H
#define STN_ANSWER_H

#include "stn_command.h"
#include "stn_folder.h"

#include <cjson/cJSON.h>

/// The answer of `stiction info FILE --json OPTIONS`; owned by the caller.
static inline cJSON *ask(const char *file, const char *options) {
    char words[2048];
    snprintf(words, sizeof words, "info '%s' --json %s 2>/dev/null", file, options);
    cJSON *json = cJSON_Parse(stn_run_to(words, 0)->out);
    assert_non_null(json);
    return json;
}

static inline const cJSON *item(const cJSON *json, const char *name) {
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(json, name);
    if (found == NULL) {
        fail_msg("no \"%s\" in the JSON", name);
    }
    return found;
}

static inline double number(const cJSON *json, const char *name) {
    const cJSON *found = item(json, name);
    assert_true(cJSON_IsNumber(found));
    return found->valuedouble;
}

static inline const char *text_of(const cJSON *json, const char *name) {
    const cJSON *found = item(json, name);
    assert_true(cJSON_IsString(found));
    return found->valuestring;
}

static inline double component(const cJSON *json, const char *name, int index) {
    const cJSON *found = cJSON_GetArrayItem(item(json, name), index);
    assert_true(cJSON_IsNumber(found));
    return found->valuedouble;
}

#endif
