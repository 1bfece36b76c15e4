// SPDX-License-Identifier: Apache-2.0
// Words of the command `stiction`: each is a plugin of kind "command", found by its id. docs/plugins.md has an example.
#ifndef STICTION_COMMAND_H
#define STICTION_COMMAND_H

#include <stiction/context.h>

STN_BEGIN_C

/// Exit statuses of the command, for every word.
typedef enum stn_exit {
    STN_EXIT_DONE = 0,          // also after --help
    STN_EXIT_CHECK_FAILED = 1,  // the work was done, and a check or test of the user's failed
    STN_EXIT_BAD_INPUT = 2,     // words, options or files are wrong, or output cannot be written
    STN_EXIT_SOLVER_FAILED = 3, // the simulation diverged, or the solver of `stiction solve` did not converge
    STN_EXIT_INTERRUPTED = 130, // by SIGINT or SIGTERM; files that grew are closed
} stn_exit;

/// The exit status that belongs to a failure: 3 for what a solver or a simulation did, 130 for an interrupt, 2 for the
/// rest; 0 for STN_OK.
static inline stn_exit stn_exit_of(stn_status status) {
    switch (status) {
    case STN_OK:
        return STN_EXIT_DONE;
    case STN_NOT_CONVERGED:
    case STN_STALLED:
    case STN_ERR_NUMERIC:
    case STN_ERR_DIVERGED:
        return STN_EXIT_SOLVER_FAILED;
    case STN_ERR_INTERRUPTED:
        return STN_EXIT_INTERRUPTED;
    default:
        return STN_EXIT_BAD_INPUT;
    }
}

/// One call of a word. All borrowed for the call.
typedef struct stn_command_call {
    uint32_t size; // sizeof of the struct as the driver was compiled
    /// Made by the driver with the default options: warnings and errors go to stderr, plugins are found in the folders
    /// of STICTION_PLUGIN_PATH and beside the library. Owned by the driver, which ends it after the call. A word that
    /// wants another log or allocator makes a context of its own.
    stn_context *context;
    const char *program; // what messages begin with: "stiction"
    int argc;            // number of words, the command's own word included; >= 1
    char **argv;         // (argc + 1) argv[0] is the word; the last entry is NULL
} stn_command_call;

/// What a word does; plugin kind "command". The descriptor's id is the word that is typed, its summary the line behind
/// it in `stiction --help`, which reads descriptors and runs no code of theirs.
typedef struct stn_command_ops {
    uint32_t size; // sizeof of the struct as the plugin was compiled
    /// REQUIRED. Parses its words, does the work, and returns the exit status of the process, one of stn_exit. It
    /// returns, it never calls exit: the driver takes that for a fault.
    ///   --help, -h        anywhere among the options: the text on stdout, 0
    ///   what is wrong     one line on stderr that begins with "stiction WORD: ", nothing on stdout, 2
    ///   output            machine-readable output goes to stdout, everything for people to stderr. The driver flushes
    ///                     both; when stdout lost something it says so and turns 0 into 2
    ///   signals           as they are by default, but SIGXFSZ is ignored. A word that has files to close handles
    ///                     SIGINT and SIGTERM and returns 130
    ///   files             descriptors 0 to 2 are open; nothing is written but what was asked for
    /// [main thread]
    int (*run)(void *self, const stn_command_call *call);
} stn_command_ops;

STN_END_C
#endif
