// SPDX-License-Identifier: Apache-2.0
// JSON for machines: reals keep all their digits, what is no finite number is null.
#ifndef STICTION_COMMAND_COMMON_PRINT_H
#define STICTION_COMMAND_COMMON_PRINT_H

#include <cjson/cJSON.h>

#include <stiction/geometry.h>

/// Once, before any JSON is made: running out of memory while making it then ends the command with one line.
void cli_json_begin(void);

cJSON *cli_json_real(double value);
void cli_json_add_real(cJSON *object, const char *name, double value);
void cli_json_add_reals(cJSON *object, const char *name, const double *values, int32_t count);
void cli_json_add_vector(cJSON *object, const char *name, stn_vec3 v);
/// Members "lower", "upper", "extent" [m].
void cli_json_add_box(cJSON *object, const stn_aabb *box);
/// A string, null for NULL.
void cli_json_add_text(cJSON *object, const char *name, const char *text);
/// Strings up to a NULL; null when `texts` is NULL.
void cli_json_add_texts(cJSON *object, const char *name, const char *const *texts);

/// Writes `json` to stdout, indented or on one line, with a line end, and deletes it. False when stdout cannot be
/// written, which main says.
bool cli_json_print(cJSON *json, bool indented);

#endif
