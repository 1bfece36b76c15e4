// SPDX-License-Identifier: Apache-2.0
// Files that are written whole or not at all.
#ifndef STICTION_CORE_BASE_FILE_H
#define STICTION_CORE_BASE_FILE_H

#include <stiction/context.h>
#include <stiction/output.h>

/// A whole file (output.h) that is put together in pieces.
typedef struct file_writer {
    const char *path;
    stn_output output;
    stn_error failure; // the first one, STN_OK: none
    size_t used;
    char buffer[1 << 16];
} file_writer;

/// The writer is large: allocate it. STN_ERR_FILE or STN_ERR_MEMORY; then there is nothing to close.
stn_status file_open(const char *path, file_writer *writer, stn_error *err);
/// Failures are kept until file_close.
void file_put(file_writer *writer, const char *text, size_t size);
/// Flushes to the disk and takes the place of `path`, unless something failed or `keep` is false: then the temporary
/// file is removed and `path` is as it was.
stn_status file_close(file_writer *writer, bool keep, stn_error *err);

#endif
