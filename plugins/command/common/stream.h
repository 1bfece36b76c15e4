// SPDX-License-Identifier: Apache-2.0
// Output files (stiction/output.h) as streams of C.
#ifndef STICTION_COMMAND_COMMON_STREAM_H
#define STICTION_COMMAND_COMMON_STREAM_H

#include <stdio.h>

#include <stiction/output.h>

/// A stream with a descriptor of its own, so that closing it leaves the output open; NULL: errno says why.
FILE *cli_stream_of(const stn_output *output);
/// Closes both. The output takes its place if all of the stream was written; a NULL stream could not be made.
stn_status cli_finish_stream(stn_output *output, FILE *stream, const char *path, stn_error *err);
/// Closes both, and leaves what was there as it was.
void cli_drop_stream(stn_output *output, FILE *stream);

#endif
