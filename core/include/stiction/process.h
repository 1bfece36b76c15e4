// SPDX-License-Identifier: Apache-2.0
// A program that a plugin brings along, run beside this one: bytes in, bytes out, over one socket, and always ended and
// reaped. For libraries that read strangers' files (worker.h bounds such a program). Starting one takes 2 to 5 ms. In
// the static library Stiction::worker: stn_add_plugin(... LIBRARIES Stiction::worker).
#ifndef STICTION_PROCESS_H
#define STICTION_PROCESS_H

#include <stiction/context.h>

STN_BEGIN_C

/// Bytes of a program's path with its end.
enum { STN_PROCESS_PATH = 4096 };

/// A piece of what the program is given.
typedef struct stn_process_part {
    const void *data; // (size) borrowed
    size_t size;      // [bytes]
} stn_process_part;

/// What is to be run; all borrowed for the call.
typedef struct stn_process_request {
    const char *name;          // of the program: "stiction-hdf5"; arguments[0]. In a build tree it is bin/<name>
    const char *installed;     // where it is, seen from the folder of the installed library; absolute: as it stands
    const char *variable;      // of the environment, which may name another program
    char *const *arguments;    // NULL-terminated
    stn_process_part input[2]; // one behind the other; either may be empty
    size_t most_output;        // [bytes] an output must be shorter
    int seconds;               // that it may take
    /// How many bytes the whole output has, as its first `have` say; 0: they do not. NULL: it never says.
    size_t (*announced)(const unsigned char *output, size_t have);
} stn_process_request;

/// How it went; an answer may still be empty.
typedef enum stn_process_fault {
    STN_PROCESS_ANSWERED,    // to the end of its output
    STN_PROCESS_NO_CHANNEL,  // no socket: see error
    STN_PROCESS_NOT_STARTED, // not found, or not to be run: see error
    STN_PROCESS_SLOW,        // it took too long
    STN_PROCESS_MUCH,        // it said too much
    STN_PROCESS_NO_MEMORY,   // of the context
} stn_process_fault;

/// What came of it.
typedef struct stn_process_answer {
    stn_process_fault fault;        // STN_PROCESS_ANSWERED: none
    int error;                      // errno of the first two faults
    char program[STN_PROCESS_PATH]; // what was started; the name alone when it was not found
    int process;                    // its id: killed, to be reaped by stn_process_reap; 0: none
    unsigned char *output;          // (size) to be released with stn_release; may be NULL
    size_t size, capacity;          // [bytes] of the output, and that were allocated
} stn_process_answer;

/// Runs it to the end of its output, or until it fails, and kills it. `answer` is overwritten. Thread: [any].
stn_process_fault stn_process_talk(stn_context *context, const stn_process_request *request,
                                   stn_process_answer *answer);
/// Waits for a process that is ending. Returns how it ended, as waitpid has it; -1: not told, because the program
/// around us collects all its children. Thread: [any].
int stn_process_reap(int process);

/// The program's output through `output` (`size` bytes, released with stn_release). STN_ERR_FILE: it does not start;
/// STN_ERR_ARGUMENT: it took too long, said too much, died or said nothing; STN_ERR_MEMORY. Texts say which, in words
/// that fit behind "path: ". Thread: [any].
stn_status stn_process_run(stn_context *context, const stn_process_request *request, unsigned char **output,
                           size_t *size, stn_error *err);

STN_END_C
#endif
