// SPDX-License-Identifier: Apache-2.0
// What the batteries of readers of files share: memory that is counted, bytes of exactly their size, and what a refusal
// must look like.
#ifndef STICTION_COMMAND_VALIDATE_FILE_SUBJECT_H
#define STICTION_COMMAND_VALIDATE_FILE_SUBJECT_H

#include "random_stream.h"
#include "validate.h"

/// Memory of a context that is counted, and of which a request may fail.
typedef struct file_heap {
    int64_t live;     // blocks that nobody has let go
    int64_t requests; // so far
    int64_t fail_at;  // the request that fails, from 1; 0: none
} file_heap;

/// A context on that memory, whose messages go nowhere; NULL when out of memory. `heap` must outlive it.
stn_context *file_context(file_heap *heap);

/// A copy of exactly `size` bytes and a zero byte, so that memory checkers see every step beyond; NULL when out of
/// memory. Released with free.
char *file_copy(const char *bytes, size_t size);

/// Decides the trial unless the refusal is one line that begins with the path.
void file_check_refusal(validate_trial *trial, const char *what, const char *path, stn_status status,
                        const stn_error *err);

/// Decides the trial unless extensions are small letters, digits and _.
void file_check_extensions(validate_trial *trial, const char *const *extensions);

/// Texts that are a file of no format, NULL-terminated.
extern const char *const file_nonsense[];

/// Damaged file number `i`, in turn cut off and with bytes changed in place; returns its size.
size_t file_damage(random_stream *random, int32_t i, char *bytes, size_t size);

#endif
