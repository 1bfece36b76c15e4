// SPDX-License-Identifier: Apache-2.0
// Work in processes of its own, several beside each other: what crashes, hangs or exits is a result like any other.
#ifndef STICTION_COMMAND_COMMON_JOBS_H
#define STICTION_COMMAND_COMMON_JOBS_H

#include <stdio.h>

#include <stiction/base.h>

typedef enum cli_job_outcome {
    CLI_JOB_EXITED,  // of itself: `code` is the exit status
    CLI_JOB_CRASHED, // by a signal: `code` is its number; SIGXFSZ also when we ended it after 64 MiB of output
    CLI_JOB_TIMEOUT, // ended by us after its time
} cli_job_outcome;

/// How a job ended.
typedef struct cli_job_end {
    int32_t index; // of the job
    cli_job_outcome outcome;
    int code;
    double seconds;       // wall time from its start to its end
    FILE *output, *error; // what it wrote to stdout and stderr, at the beginning of the file; closed by cli_jobs_run
} cli_job_end;

/// Jobs 0 ... count - 1.
typedef struct cli_jobs {
    int32_t count, at_once; // at_once >= 1
    double limit_s;         // wall time of each [s]; INFINITY for none
    /// In the child, whose stdout and stderr are files: does the job, or executes another program; returns the exit
    /// status.
    int (*work)(void *user, int32_t index);
    /// In the parent, in the order of the jobs, whatever the order in which they end, unless `any_order`. False: no
    /// further ones are begun, running ones are ended.
    bool (*done)(void *user, const cli_job_end *end);
    /// OPTIONAL. In the parent, ten times a second and after each job that ends: how many have ended, in any order.
    void (*progress)(void *user, int32_t ended);
    void *user;
    /// OPTIONAL. In the parent, right before a job is begun: makes what its child is to inherit.
    void (*prepare)(void *user, int32_t index);
    /// OPTIONAL. Wall time of a job in place of limit_s [s].
    double (*limit_of)(void *user, int32_t index);
    bool survives;  // an interrupt ends the jobs and not this process
    bool any_order; // `done` is called as jobs end
} cli_jobs;

/// The processors that this process may use: as many jobs at once keep the machine busy.
int32_t cli_jobs_usual(void);

/// Runs them all; no child outlives the call, or this process. After an interrupt (SIGINT, SIGTERM; not one that is
/// ignored) running jobs are ended; the signal has its effect after that, or with `survives` the call returns
/// STN_ERR_INTERRUPTED. STN_ERR_FILE: a process or a file for its
/// output cannot be made while none is running.
stn_status cli_jobs_run(const cli_jobs *jobs, stn_error *err);

/// Copies what a job wrote, as it is, and flushes.
void cli_job_print(FILE *from, FILE *to);

#endif
