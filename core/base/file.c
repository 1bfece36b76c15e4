// SPDX-License-Identifier: Apache-2.0
// Files that are written whole or not at all (temporary file, fsync, rename).
#include "base/file.h"
#include "base/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static stn_status fail_path(stn_error *err, const char *path, int code) {
    return stn_fail(err, code == ENOMEM ? STN_ERR_MEMORY : STN_ERR_FILE, "%s: %s", path, strerror(code));
}

stn_status file_open(stn_context *context, const char *path, file_writer *writer, stn_error *err) {
    size_t size = strlen(path) + 48;
    writer->context = context;
    writer->path = path;
    writer->used = 0;
    writer->failure = 0;
    if (!stn_may_replace(path)) {
        return stn_fail(err, STN_ERR_FILE, "%s: " STN_NOT_REPLACEABLE, path);
    }
    writer->temporary = stn_allocate(context, size, 1);
    if (writer->temporary == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", path);
    }
    writer->descriptor = stn_open_beside(path, writer->temporary, size);
    if (writer->descriptor < 0) {
        int code = errno;
        stn_release(context, writer->temporary);
        return fail_path(err, path, code);
    }
    return STN_OK;
}

static void flush(file_writer *writer) {
    size_t done = 0;
    while (done < writer->used && writer->failure == 0) {
        ssize_t wrote = write(writer->descriptor, writer->buffer + done, writer->used - done);
        if (wrote < 0 && errno != EINTR) {
            writer->failure = errno;
        }
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    writer->used = 0;
}

void file_put(file_writer *writer, const char *text, size_t size) {
    while (size > 0) {
        size_t room = sizeof writer->buffer - writer->used;
        size_t part = size < room ? size : room;
        memcpy(writer->buffer + writer->used, text, part);
        writer->used += part;
        text += part;
        size -= part;
        if (writer->used == sizeof writer->buffer) {
            flush(writer);
        }
    }
}

stn_status file_close(file_writer *writer, bool keep, stn_error *err) {
    flush(writer);
    if (keep && writer->failure == 0 && fsync(writer->descriptor) != 0 && errno != EINVAL) { // EINVAL: cannot be synced
        writer->failure = errno;
    }
    if (close(writer->descriptor) != 0 && writer->failure == 0) {
        writer->failure = errno;
    }
    bool kept = keep && writer->failure == 0;
    if (kept && rename(writer->temporary, writer->path) != 0) {
        writer->failure = errno;
        kept = false;
    }
    if (!kept) {
        unlink(writer->temporary);
    }
    stn_release(writer->context, writer->temporary);
    return writer->failure != 0 ? fail_path(err, writer->path, writer->failure) : STN_OK;
}

stn_status file_write(stn_context *context, const char *path, const void *bytes, size_t size, stn_error *err) {
    file_writer *writer = stn_allocate(context, 1, sizeof *writer);
    if (writer == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", path);
    }
    stn_status status = file_open(context, path, writer, err);
    if (status == STN_OK) {
        file_put(writer, bytes, size);
        status = file_close(writer, true, err);
    }
    stn_release(context, writer);
    return status;
}
