// SPDX-License-Identifier: Apache-2.0
// Writes one page of several recordings.
#ifndef STICTION_COMMAND_VIEW_RECORDING_PAGE_H
#define STICTION_COMMAND_VIEW_RECORDING_PAGE_H

#include "common/recording_file.h"

/// The first file's viewer, then the blocks of every file. Recordings of one title get the names of their files behind
/// it. `out`: where the page goes; NULL: a file in the folder for temporary ones, named by its content. Appears whole
/// or not at all. `path` receives its name. Files that end in the middle of a block are taken up to there, which a
/// warning says. Errors as of cli_recording_open and cli_recording_next.
stn_status cli_recording_merge(stn_context *context, const char *const *paths, int32_t count, const char *out,
                               char *path, size_t path_size, stn_error *err);

#endif
