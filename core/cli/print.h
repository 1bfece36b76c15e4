// SPDX-License-Identifier: Apache-2.0
// JSON for machines: reals keep all their digits, what is no finite number is null.
#ifndef STICTION_CLI_PRINT_H
#define STICTION_CLI_PRINT_H

#include <cjson/cJSON.h>

#include <stiction/base.h>

/// Once, before any JSON is made: running out of memory while making it then ends the command with one line.
void cli_json_begin(void);

cJSON *cli_json_real(double value);
void cli_json_add_real(cJSON *object, const char *name, double value);
void cli_json_add_reals(cJSON *object, const char *name, const double *values, int32_t count);
/// A string, null for NULL.
void cli_json_add_text(cJSON *object, const char *name, const char *text);
/// Strings up to a NULL; null when `texts` is NULL.
void cli_json_add_texts(cJSON *object, const char *name, const char *const *texts);

/// Writes `json` to stdout, indented or on one line, with a line end, and deletes it. False when stdout cannot be
/// written, which main says.
bool cli_json_print(cJSON *json, bool indented);

#endif
