// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_BASE_READ_REGULAR_H
#define STICTION_CORE_BASE_READ_REGULAR_H

#include <stiction/context.h>

/// All bytes of a regular file of at most `limit` bytes, with a NUL behind the last one, released with stn_release;
/// pipes, devices and folders are refused without waiting for them. `flags` are further ones of open (O_NOFOLLOW), or
/// 0. STN_ERR_FILE names path and reason, STN_ERR_MEMORY.
stn_status stn_read_regular(stn_context *context, const char *path, int flags, size_t limit, char **bytes, size_t *size,
                            stn_error *err);

#endif
