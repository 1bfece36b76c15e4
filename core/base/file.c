// SPDX-License-Identifier: Apache-2.0
// Files that are written whole or not at all.
#include "base/file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

stn_status file_open(const char *path, file_writer *writer, stn_error *err) {
    writer->path = path;
    writer->used = 0;
    writer->failure = 0;
    return stn_output_open(path, STN_OUTPUT_WHOLE, &writer->output, err);
}

static void flush(file_writer *writer) {
    size_t done = 0;
    while (done < writer->used && writer->failure == 0) {
        ssize_t wrote = write(writer->output.descriptor, writer->buffer + done, writer->used - done);
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
    if (writer->failure != 0) {
        stn_output_close(&writer->output, STN_OUTPUT_DROP, NULL);
        return stn_fail(err, STN_ERR_FILE, "%s: cannot be written: %s", writer->path, strerror(writer->failure));
    }
    return stn_output_close(&writer->output, keep ? STN_OUTPUT_KEEP : STN_OUTPUT_DROP, err);
}
