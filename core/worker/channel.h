// SPDX-License-Identifier: Apache-2.0
// The socket between a program of ours and the library that started it.
#ifndef STICTION_CORE_WORKER_CHANNEL_H
#define STICTION_CORE_WORKER_CHANNEL_H

#include <stdarg.h>
#include <stddef.h>

/// Standard input; everything else that is open is closed, or leads nowhere.
enum { CHANNEL = 0 };

/// Sends the whole. A library that has gone away ends the process.
void channel_send(const void *data, size_t size);
/// The line of a failure, cut to `size`; letters that are not printable ASCII become '?'.
void channel_line(char *text, size_t size, const char *format, va_list arguments) __attribute__((format(printf, 3, 0)));

#endif
