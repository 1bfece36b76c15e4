// SPDX-License-Identifier: Apache-2.0
// Files that are written whole or not at all.
#include "base/file.h"

#include <string.h>

stn_status file_open(const char *path, file_writer *writer, stn_error *err) {
    writer->path = path;
    writer->used = 0;
    writer->failure.status = STN_OK;
    return stn_output_open(path, STN_OUTPUT_WHOLE, &writer->output, err);
}

static void flush(file_writer *writer) {
    if (writer->failure.status == STN_OK) {
        stn_output_append(&writer->output, writer->path, writer->buffer, writer->used, &writer->failure);
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
    if (writer->failure.status != STN_OK) {
        stn_output_close(&writer->output, STN_OUTPUT_DROP, NULL);
        return stn_fail(err, writer->failure.status, "%s", writer->failure.text);
    }
    return stn_output_close(&writer->output, keep ? STN_OUTPUT_KEEP : STN_OUTPUT_DROP, err);
}
