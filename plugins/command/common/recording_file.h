// SPDX-License-Identifier: Apache-2.0
// Reads recordings (docs/recording.md) block by block, for the commands that show and replay them. Nothing of such a
// file is believed: lengths are bounds, memory grows with what is there.
#ifndef STICTION_COMMAND_COMMON_RECORDING_FILE_H
#define STICTION_COMMAND_COMMON_RECORDING_FILE_H

#include <cjson/cJSON.h>

#include <stiction/context.h>

/// A block, borrowed from the reader until the next one.
typedef struct cli_block {
    char kind[16];    // "scene", "frames", ...
    int64_t offset;   // of its line in the file
    const char *line; // the line as it stands in the file, without its end
    size_t line_length;
    const char *text; // the base64 in it
    size_t text_length;
} cli_block;

typedef struct cli_recording cli_recording;

/// Opens a file and reads as far as its first scene. STN_ERR_FILE: it cannot be read; STN_ERR_PARSE: it is no
/// recording, or ends before its scene does; STN_ERR_UNSUPPORTED: one of another format. Lines name path and byte.
stn_status cli_recording_open(stn_context *context, const char *path, cli_recording **out, stn_error *err);
void cli_recording_close(cli_recording *recording); ///< accepts NULL
/// The next block, the first scene included; its kind is "" at the end. STN_ERR_PARSE: a line that ought to be one is
/// not.
stn_status cli_recording_next(cli_recording *recording, cli_block *block, stn_error *err);
/// The payload of the block read last, borrowed until the next block; a zero byte stands behind it. STN_ERR_PARSE: it
/// is damaged, or of more than 256 MiB.
stn_status cli_recording_unpack(cli_recording *recording, const uint8_t **payload, size_t *size, stn_error *err);
/// The scene that the block read last is, as JSON; the caller deletes it. Errors also as of cli_recording_open.
stn_status cli_recording_scene(cli_recording *recording, cJSON **out, stn_error *err);
/// Everything before the first block: the viewer. Lives as long as the recording.
const char *cli_recording_head(const cli_recording *recording, size_t *size);
/// After the last block: did the file end in the middle of another one?
bool cli_recording_is_cut(const cli_recording *recording);

#endif
