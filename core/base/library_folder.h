// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_BASE_LIBRARY_FOLDER_H
#define STICTION_CORE_BASE_LIBRARY_FOLDER_H

#include <limits.h>
#include <stdbool.h>

#include <stiction/base.h>

/// The folder that this library was loaded from, without links; what belongs to it is found from there, in the build
/// tree and installed. False when the system does not tell.
bool stn_library_folder(char folder[PATH_MAX]);
/// The folder that holds the models which come along: one above the library's, or share/stiction below one of them.
STN_API bool stn_shipped_folder(char root[PATH_MAX]);
/// Where a file lies: from the current folder, else in that folder, so that "models/panda/panda.urdf" is found from
/// everywhere. Returns `name` or `path`; `name` also when there is no such file.
STN_API const char *stn_find_shipped(const char *name, char path[PATH_MAX]);

#endif
