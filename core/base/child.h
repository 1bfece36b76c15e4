// SPDX-License-Identifier: Apache-2.0
// A program of our own that is run beside this one: bytes in, bytes out, over one socket, and always ended and reaped.
#ifndef STICTION_CORE_BASE_CHILD_H
#define STICTION_CORE_BASE_CHILD_H

#include <limits.h>

#include <sys/types.h>

#include <stiction/context.h>

typedef struct child_request {
    const char *name;       // of the program: "stiction-hdf5"; arguments[0]
    const char *installed;  // where it is, seen from the folder of the installed library
    const char *variable;   // of the environment, which may name another program
    char *const *arguments; // NULL-terminated
    const void *input;
    size_t input_size, most_output; // [bytes]
    int seconds;                    // that it may take
} child_request;

/// The program's output through `output`, released with stn_release. STN_ERR_FILE: it does not start, STN_ERR_ARGUMENT:
/// it took too long, said too much, died or said nothing; texts say which, in words that fit behind "path: ".
stn_status child_run(stn_context *context, const child_request *request, unsigned char **output, size_t *size,
                     stn_error *err);

/// Where a program of ours is: what the environment names, or beside this library: `installed` seen from its folder,
/// else in the build tree. False: nowhere.
bool child_find(const char *name, const char *installed, const char *variable, char program[PATH_MAX]);
/// Starts it with `channel` as standard input; output goes nowhere. Signals are as at the start of any program, and
/// those of the terminal do not reach it. Returns 0 or errno; the caller ends and reaps the process.
int child_spawn(const char *program, char *const *arguments, int channel, pid_t *process);

#endif
