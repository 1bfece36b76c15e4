// SPDX-License-Identifier: Apache-2.0
// Files that other files name: opened only below a folder.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stiction/input.h>
#include <stiction/worker.h>

int stn_open_regular(const char *path, int flags, size_t *size) {
    int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);
    if (file < 0) {
        return -1;
    }
    struct stat what;
    int error = fstat(file, &what) != 0 ? errno : S_ISREG(what.st_mode) ? 0 : S_ISDIR(what.st_mode) ? EISDIR : EINVAL;
    if (error != 0) {
        close(file);
        errno = error;
        return -1;
    }
    *size = what.st_size > 0 ? (size_t)what.st_size : 0;
    return file;
}

int stn_open_below(const char *root, const char *folder, const char *name, size_t *size) {
    char joined[PATH_MAX], path[PATH_MAX];
    if (name[0] == '\0' || name[0] == '/') {
        errno = EINVAL;
        return -1;
    }
    int length = snprintf(joined, sizeof joined, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof joined) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (realpath(joined, path) == NULL) {
        return -1;
    }
    size_t above = strlen(root);
    while (above > 0 && root[above - 1] == '/') {
        above--;
    }
    if (strncmp(path, root, above) != 0 || path[above] != '/') {
        errno = EXDEV;
        return -1;
    }
    return stn_open_regular(path, O_NOFOLLOW, size); // the path holds no link any more
}
