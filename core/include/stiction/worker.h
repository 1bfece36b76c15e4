// SPDX-License-Identifier: Apache-2.0
// For programs that read strangers' files on behalf of a plugin (process.h starts them): what bounds them, and their
// socket. In a static library of its own, Stiction::worker, so that such a program links nothing of libstiction.
#ifndef STICTION_WORKER_H
#define STICTION_WORKER_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The socket to the library that started the program: standard input. Standard output and error lead nowhere. Whatever
/// else the library's process left open is still open: begin with close_range(STN_WORKER_CHANNEL + 3, ~0U, 0).
enum { STN_WORKER_CHANNEL = 0 };

/// Bounds memory [bytes of address space], processor time [s] and files before anything of the file is read.
void stn_worker_limit(uint64_t memory, uint32_t seconds);
/// From here on: memory, the channel, and files opened for reading; all other system calls fail.
void stn_worker_limit_calls(void);

/// Sends the whole. A library that has gone away ends the process.
void stn_worker_send(const void *data, size_t size);
/// The line of a failure, cut to `size`; letters that are not printable ASCII become '?'.
void stn_worker_line(char *text, size_t size, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

/// Opens the regular file `name`, relative to `folder`, for reading when it lies below `root` after all symbolic links
/// are followed. `root` must be canonical (realpath). Returns a descriptor, closed on exec, and its size; or -1 with
/// errno: EXDEV when it lies outside, EINVAL for an absolute or empty name or what is no regular file, or what the
/// system said.
int stn_open_below(const char *root, const char *folder, const char *name, size_t *size);

#ifdef __cplusplus
}
#endif
#endif
