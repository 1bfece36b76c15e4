// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <stiction/input.h>

static stn_status read_all(stn_context *context, int file, const char *path, size_t size, char **bytes,
                           stn_error *err) {
    char *all = stn_allocate(context, size + 1, 1); // zeroed: a NUL ends it
    if (all == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory for %zu bytes", path, size);
    }
    size_t have = 0;
    while (have < size) {
        ssize_t n = read(file, all + have, size - have);
        if (n <= 0 && !(n < 0 && errno == EINTR)) {
            const char *reason = n == 0 ? "it became shorter while it was read" : strerror(errno);
            stn_status status = stn_fail(err, STN_ERR_FILE, "%s: cannot be read: %s", path, reason);
            stn_release(context, all);
            return status;
        }
        have += n > 0 ? (size_t)n : 0;
    }
    *bytes = all;
    return STN_OK;
}

stn_status stn_read_regular(stn_context *context, const char *path, int flags, size_t limit, char **bytes, size_t *size,
                            stn_error *err) {
    *bytes = NULL;
    *size = 0;
    int file = stn_open_regular(path, flags, size);
    if (file < 0) {
        return stn_fail(err, STN_ERR_FILE, "%s: cannot be read: %s", path,
                        errno == EINVAL ? "it is no regular file" : strerror(errno));
    }
    stn_status status = *size <= limit ? read_all(context, file, path, *size, bytes, err)
                                       : stn_fail(err, STN_ERR_FILE, "%s: %zu bytes are more than the limit of %zu",
                                                  path, *size, limit);
    close(file);
    return status;
}
