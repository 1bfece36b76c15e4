// SPDX-License-Identifier: Apache-2.0
// Processes that make runs, one after the other each: what crashes, hangs or exits costs the run that it was at.
#ifndef STICTION_COMMAND_SWEEP_POOL_H
#define STICTION_COMMAND_SWEEP_POOL_H

#include <stdio.h>

#include "common/jobs.h"

/// What `next` says instead of a run.
enum {
    CLI_POOL_NONE = -1, // none now; asked again after each end and each word that was heard
    CLI_POOL_OVER = -2, // none any more
};

/// How a run ended.
typedef struct cli_pool_end {
    int32_t run;
    cli_job_outcome outcome; // as in common/jobs.h
    int code;
    double seconds;     // wall time
    const char *report; // what `make` wrote, borrowed for the call; "" unless it came to its end
} cli_pool_end;

typedef struct cli_pool {
    int32_t workers; // processes at a time, >= 1
    bool many;       // each makes many runs; else one, and another process the next
    double limit_s;  // wall time of a run [s]; INFINITY for none
    /// In a worker, whose stdout nobody reads: makes the run and writes what is to be known of it. 0, or the exit
    /// status that the worker ends with, as if the run had left it.
    int (*make)(void *user, int32_t run, FILE *report);
    /// In the parent: the next run, >= 0, or one of the above.
    int32_t (*next)(void *user);
    /// In the parent, in the order in which runs end. False: no further ones are begun, those in progress are ended.
    bool (*done)(void *user, const cli_pool_end *end);
    /// OPTIONAL. In the parent, ten times a second and after each end.
    void (*progress)(void *user);
    int watched; // a descriptor; -1: none. Workers have it not
    /// REQUIRED with `watched`: it can be read. False as in `done`.
    bool (*heard)(void *user);
    void *user;
} cli_pool;

/// Makes all that `next` gives; no worker outlives the call, or this process. A worker that dies at a run which is not
/// its first leaves open whose fault that is: the run is made once more by a new one. STN_ERR_INTERRUPTED: SIGINT or
/// SIGTERM came, runs in progress were ended. STN_ERR_FILE: no process can be had while none is running.
stn_status cli_pool_run(const cli_pool *pool, stn_error *err);

#endif
