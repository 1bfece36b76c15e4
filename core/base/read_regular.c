// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <stiction/input.h>

stn_status stn_read_regular(stn_context *context, const char *path, int flags, size_t limit, char **bytes, size_t *size,
                            stn_error *err) {
    *bytes = NULL;
    *size = 0;
    int file = stn_open_regular(path, flags, size);
    if (file < 0) {
        return stn_fail(err, STN_ERR_FILE, "%s: cannot be read: %s", path,
                        errno == EINVAL ? "it is no regular file" : strerror(errno));
    }
    stn_status status = STN_OK;
    if (*size > limit) {
        status = stn_fail(err, STN_ERR_FILE, "%s: %zu bytes are more than the limit of %zu", path, *size, limit);
    } else if ((*bytes = stn_allocate(context, *size + 1, 1)) == NULL) { // zeroed: a NUL ends it
        status = stn_fail(err, STN_ERR_MEMORY, "%s: out of memory for %zu bytes", path, *size);
    }
    for (size_t have = 0; have < *size && status == STN_OK;) {
        ssize_t n = read(file, *bytes + have, *size - have);
        if (n <= 0 && !(n < 0 && errno == EINTR)) {
            status = stn_fail(err, STN_ERR_FILE, "%s: cannot be read: %s", path,
                              n == 0 ? "it became shorter while it was read" : strerror(errno));
        }
        have += n > 0 ? (size_t)n : 0;
    }
    if (status != STN_OK) {
        stn_release(context, *bytes);
        *bytes = NULL;
    }
    close(file);
    return status;
}
