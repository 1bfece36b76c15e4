// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_BASE_BELOW_H
#define STICTION_CORE_BASE_BELOW_H

#include <stiction/input.h>

/// Opens the regular file `name`, relative to `folder`, for reading when it lies below `root` after all symbolic links
/// are followed. `root` must be canonical (realpath). Returns a descriptor, closed on exec, and its size; or -1 with
/// errno: EXDEV when it lies outside, EINVAL for an absolute or empty name or what is no regular file, or what the
/// system said. Needs nothing of the library, as the mesh worker has it too.
int stn_open_below(const char *root, const char *folder, const char *name, size_t *size);

#endif
