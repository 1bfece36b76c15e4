// SPDX-License-Identifier: Apache-2.0
// A program of our own that is run beside this one: bytes in, bytes out, over one socket, and always ended and reaped.
#ifndef STICTION_CORE_BASE_CHILD_H
#define STICTION_CORE_BASE_CHILD_H

#include <limits.h>

#include <sys/types.h>

#include <stiction/context.h>

typedef struct child_part {
    const void *data;
    size_t size; // [bytes]
} child_part;

typedef struct child_request {
    const char *name;       // of the program: "stiction-hdf5"; arguments[0]
    const char *installed;  // where it is, seen from the folder of the installed library
    const char *variable;   // of the environment, which may name another program
    char *const *arguments; // NULL-terminated
    child_part input[2];    // one behind the other; either may be empty
    size_t most_output;     // [bytes]
    int seconds;            // that it may take
    /// How many bytes the whole output has, as its first `have` say; 0: they do not. NULL: it never says.
    size_t (*announced)(const unsigned char *output, size_t have);
} child_request;

/// How it went; an answer may still be empty.
typedef enum child_fault {
    CHILD_ANSWERED,
    CHILD_NO_CHANNEL,
    CHILD_NOT_STARTED,
    CHILD_SLOW, // it took too long
    CHILD_MUCH, // it said too much
    CHILD_NO_MEMORY,
} child_fault;

typedef struct child_answer {
    child_fault fault;
    int error;              // errno of the first two
    char program[PATH_MAX]; // what was started; the name alone when it was not found
    pid_t process;          // killed, to be reaped by child_reap; 0: none
    unsigned char *output;  // to be released with stn_release
    size_t size, capacity;
} child_answer;

/// Runs it to the end of its output, or until it fails, and kills it. `answer` is overwritten.
child_fault child_talk(stn_context *context, const child_request *request, child_answer *answer);
/// Waits for a process that is ending. Returns how it ended; -1: not told, because the program around us collects all
/// its children.
int child_reap(pid_t process);

/// The program's output through `output`, released with stn_release. STN_ERR_FILE: it does not start, STN_ERR_ARGUMENT:
/// it took too long, said too much, died or said nothing; texts say which, in words that fit behind "path: ".
stn_status child_run(stn_context *context, const child_request *request, unsigned char **output, size_t *size,
                     stn_error *err);

#endif
