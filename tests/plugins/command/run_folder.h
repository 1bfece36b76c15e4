// SPDX-License-Identifier: Apache-2.0
// Scripts for `stiction run`, each in an empty folder of its own.
#ifndef STN_RUN_FOLDER_H
#define STN_RUN_FOLDER_H

#include "answer.h"

#define QUIET  "2>/dev/null"
#define ERRORS "2>&1 >/dev/null"

static const char falling[] = "local stn = require 'stiction'\n"
                              "local p = stn.params { height = 1.0, seconds = 0.1, seed = 4, heavy = false }\n"
                              "local w = stn.world { dt = 0.01, gravity = { 0, 0, -10 }, seed = p.seed }\n"
                              "local b = w:sphere { name = 'ball', radius = 0.1, xyz = { 0, 0, p.height } }\n"
                              "for step in w:run { seconds = p.seconds } do end\n"
                              "stn.result('z', b:position()[3], 'm')\n"
                              "stn.check('above', { value = b:position()[3], least = 0.5, unit = 'm' })\n";

static inline cJSON *run_json(const char *words, int status) {
    cJSON *json = cJSON_Parse(stn_run_to(words, status)->out);
    assert_non_null(json);
    return json;
}

/// A run that ends well must say these warnings, and no others but that the build has no viewer for a recording.
static inline void expect_warnings(const char *words, const char *text) {
    char line[512], said[8192] = "";
    snprintf(line, sizeof line, "%s " ERRORS, words);
    const stn_run *run = stn_run_to(line, 0);
    for (const char *at = run->out, *next; *at != '\0'; at = next) {
        size_t length = strcspn(at, "\n");
        next = at + length + (at[length] == '\n');
        const char *viewer = strstr(at, "is recorded without the viewer");
        if (strncmp(at, "warning: ", 9) == 0 && (viewer == NULL || viewer > next)) {
            strncat(said, at, (size_t)(next - at));
        }
    }
    assert_string_equal(said, text);
}

#endif
