// SPDX-License-Identifier: Apache-2.0
// Who makes the runs of a sweep: workers of this process, and those of other ranks, which get them over a descriptor.
#ifndef STICTION_COMMAND_SWEEP_RUNS_H
#define STICTION_COMMAND_SWEEP_RUNS_H

#include "run.h"

typedef struct cli_runs {
    const cli_sweep_plan *plan;
    int32_t first, count; // rows of the table that are to be made
    int32_t workers;      // here, and per rank
    bool in_process;      // a worker makes many runs
    double limit_s;       // wall time of a run [s]
    int ranks;            // descriptor of the other ranks (ranks.h); -1: there are none
    int32_t rank_count;   // with this one
    /// In the order of the rows. False: no further ones are made.
    bool (*done)(void *user, const cli_pool_end *end);
    /// Of how many rows the runs have ended, in any order.
    void (*progress)(void *user, int32_t ended);
    void *user;
} cli_runs;

/// Makes them all. A rank that is gone is told on stderr, and what it was at is made by others. Fails as cli_pool_run,
/// or with STN_ERR_FILE when another rank has another script, or the way to the ranks broke off.
stn_status cli_runs_make(const cli_runs *runs, stn_error *err);
/// On another rank than the first one: makes what that one asks for, until it asks no more. `first` and what follows
/// `rank_count` are not used.
stn_status cli_runs_serve(const cli_runs *runs, stn_error *err);
/// In place of that: it can make none, for a reason that the first rank tells.
void cli_runs_refuse(const cli_runs *runs, const char *reason);

#endif
