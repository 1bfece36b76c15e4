// SPDX-License-Identifier: Apache-2.0
// Formats of contact problem files: a plugin of kind "problem_file" reads and writes contact problems.
#ifndef STICTION_PROBLEM_FILE_H
#define STICTION_PROBLEM_FILE_H

#include <stiction/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

struct stn_problem_source;

/// What a format does; plugin kind "problem_file".
typedef struct stn_problem_file_ops {
    uint32_t size; // sizeof of the struct as the plugin was compiled
    /// Lower case, NULL-terminated: "json". REQUIRED.
    const char *const *extensions;
    /// REQUIRED. Could these first bytes be of this format? [any]
    bool (*recognises)(const char *bytes, size_t size);
    /// REQUIRED. Reads a file of any content. [setup]
    stn_status (*read)(void *self, const struct stn_problem_source *source, stn_problem *out, stn_error *err);
} stn_problem_file_ops;

#ifdef __cplusplus
}
#endif
#endif
