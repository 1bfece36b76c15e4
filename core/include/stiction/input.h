// SPDX-License-Identifier: Apache-2.0
// Files that are read: whole files of a known kind, and those that come with Stiction.
#ifndef STICTION_INPUT_H
#define STICTION_INPUT_H

#include <stiction/context.h>

STN_BEGIN_C

/// Bytes of a path with its end.
enum { STN_INPUT_PATH = 4096 }; // the longest that the system accepts

/// Opens a regular file for reading without ever waiting for a pipe or a device. `flags` are further flags of open
/// (O_NOFOLLOW), or 0. Returns a descriptor, closed on exec, and the file's size [bytes]; or -1 with errno: EISDIR for
/// a folder, EINVAL for what is no regular file, otherwise what the system said. Thread: [any].
STN_API int stn_open_regular(const char *path, int flags, size_t *size);
/// All bytes of a regular file of at most `limit` bytes, followed by a NUL; released with stn_release. Pipes, devices
/// and folders are refused without waiting for them. `flags` are further flags of open (O_NOFOLLOW), or 0. STN_ERR_FILE
/// names path and reason; STN_ERR_MEMORY. Thread: [any].
STN_API stn_status stn_read_regular(stn_context *context, const char *path, int flags, size_t limit, char **bytes,
                                    size_t *size, stn_error *err);

/// The folder that holds Stiction's models/ and scripts/: the source tree above a build tree, or share/stiction of an
/// installed one. False when there is none; `root` is then undefined. Thread: [any].
STN_API bool stn_shipped_folder(char root[STN_INPUT_PATH]);
/// Where a file lies: as named from the current folder, otherwise in that folder, so that "models/panda/panda.urdf" is
/// found from everywhere. Returns `name` or `path`; also `name` when there is no such file. Thread: [any].
STN_API const char *stn_find_shipped(const char *name, char path[STN_INPUT_PATH]);

STN_END_C
#endif
