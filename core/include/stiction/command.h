// SPDX-License-Identifier: Apache-2.0
// Words of the command `stiction`: each is a plugin of kind "command", found by its id.
#ifndef STICTION_COMMAND_H
#define STICTION_COMMAND_H

#include <stiction/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One call of a word. All borrowed for the call.
typedef struct stn_command_call {
    uint32_t size;        // sizeof of the struct as the driver was compiled
    stn_context *context; // with the plugin folders of the command line
    const char *program;  // how the driver was called, for messages: "stiction"
    int argc;             // number of words, the command's own word included
    char **argv;          // (argc + 1) argv[0] is the word; the last entry is NULL
} stn_command_call;

/// What a word does; plugin kind "command". The descriptor's id is the word, its summary the line in the list of words.
typedef struct stn_command_ops {
    uint32_t size; // sizeof of the struct as the plugin was compiled
    /// REQUIRED. Parses its words, does the work, and returns the exit status of the process (docs/embedding.md).
    /// Machine-readable output goes to stdout, everything for people to stderr. [main thread]
    int (*run)(void *self, const stn_command_call *call);
} stn_command_ops;

#ifdef __cplusplus
}
#endif
#endif
