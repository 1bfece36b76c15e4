// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_BASE_REPLACE_H
#define STICTION_CORE_BASE_REPLACE_H

#include <stdbool.h>
#include <sys/stat.h>

/// May a finished file be renamed to `path`? Not onto a device, pipe or folder: the rename would put a file in its
/// place.
static inline bool stn_may_replace(const char *path) {
    struct stat what;
    return stat(path, &what) != 0 || S_ISREG(what.st_mode);
}

#define STN_NOT_REPLACEABLE "cannot be written: it is not a regular file; name another"

#endif
