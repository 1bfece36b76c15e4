// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_BASE_LIBRARY_FOLDER_H
#define STICTION_CORE_BASE_LIBRARY_FOLDER_H

#include <limits.h>

#include <stiction/input.h>

/// The folder that this library was loaded from, without links; what belongs to it is found from there, in the build
/// tree and installed. False when the system does not tell.
bool stn_library_folder(char folder[PATH_MAX]);

#endif
