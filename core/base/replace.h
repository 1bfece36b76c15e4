// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_BASE_REPLACE_H
#define STICTION_CORE_BASE_REPLACE_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/// May a finished file be renamed to `path`? Not onto a device, pipe or folder: the rename would put a file in its
/// place.
static inline bool stn_may_replace(const char *path) {
    struct stat what;
    return stat(path, &what) != 0 || S_ISREG(what.st_mode);
}

/// Are both there, and one file? Then the one must not be written from the other.
static inline bool stn_is_same_file(const char *a, const char *b) {
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/// Opens a new file in the folder of `path`, which is to take its place when it is complete; its name goes to
/// `temporary`. It is named by process and attempt rather than by mkstemp, so that it gets the permissions that the
/// user's mask gives. -1: errno says why; ENAMETOOLONG when `size` is too small.
static inline int stn_open_beside(const char *path, char *temporary, size_t size) {
    int descriptor = -1;
    for (int attempt = 0; attempt < 1000 && descriptor < 0; attempt++) {
        int length = snprintf(temporary, size, "%s.%ld-%d.part", path, (long)getpid(), attempt);
        if (length < 0 || (size_t)length >= size) {
            errno = ENAMETOOLONG;
            break;
        }
        descriptor = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST) {
            break;
        }
    }
    return descriptor;
}

#define STN_NOT_REPLACEABLE "cannot be written: it is not a regular file; name another"

#endif
