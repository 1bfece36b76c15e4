// SPDX-License-Identifier: Apache-2.0
// What a command writes is none of what it reads, nor anything else that it writes.
#ifndef STICTION_COMMAND_COMMON_APART_H
#define STICTION_COMMAND_COMMON_APART_H

#include "common/options.h"

/// CLI_PROCEED unless an output is the file of an input or of another output, however the two are named: by links, by
/// other folders, also where none is there yet. Asked before anything is opened. NULL outputs count for nothing; a
/// device, a pipe or a terminal may be several.
int cli_keep_apart(const cli_command *command, const char *const *inputs, int32_t input_count,
                   const char *const *outputs, int32_t output_count);

#endif
