// SPDX-License-Identifier: Apache-2.0
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/apart.h"

/// The folder that a name of a file stands in, and the name; false: too long.
static bool split(const char *path, char folder[PATH_MAX], const char **name) {
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    *name = slash != NULL ? slash + 1 : path;
    return snprintf(folder, PATH_MAX, "%.*s", length > 0 ? (int)length : 1, length > 0 ? path : ".") < PATH_MAX;
}

static bool is_one(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_same_file(const char *a, const char *b) {
    struct stat one, other;
    bool has_one = stat(a, &one) == 0, has_other = stat(b, &other) == 0;
    if (has_one || has_other) {
        return has_one && has_other && is_one(&one, &other) && (S_ISREG(one.st_mode) || S_ISDIR(one.st_mode));
    }
    char folder[PATH_MAX], other_folder[PATH_MAX];
    const char *name, *other_name; // neither is there yet
    return split(a, folder, &name) && split(b, other_folder, &other_name) && strcmp(name, other_name) == 0 &&
           stat(folder, &one) == 0 && stat(other_folder, &other) == 0 && is_one(&one, &other);
}

int cli_keep_apart(const cli_command *command, const char *const *inputs, int32_t input_count,
                   const char *const *outputs, int32_t output_count) {
    for (int32_t o = 0; o < output_count; o++) {
        for (int32_t k = 0; k < input_count + o && outputs[o] != NULL; k++) {
            const char *other = k < input_count ? inputs[k] : outputs[k - input_count];
            if (other != NULL && is_same_file(other, outputs[o])) {
                return cli_fail(command, "%s and %s are one file; name another to write", other, outputs[o]);
            }
        }
    }
    return CLI_PROCEED;
}
