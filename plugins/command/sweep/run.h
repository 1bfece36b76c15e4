// SPDX-License-Identifier: Apache-2.0
// One run of a sweep in a process of its own, and what its row says.
#ifndef STICTION_COMMAND_SWEEP_RUN_H
#define STICTION_COMMAND_SWEEP_RUN_H

#include "common/jobs.h"
#include "fields.h"
#include "grid.h"
#include "table.h"

typedef struct cli_sweep_plan {
    const char *script;
    char hash[32]; // of the script's bytes, "xxh3-..."
    cli_grid grid;
    bool strict;             // what the verdict has to say against a run is a check that failed
    cli_sweep_folder folder; // where the probe keeps the first run's world
    stn_context *context;    // with that world's fields, which runs inherit; NULL: each has a context of its own
} cli_sweep_plan;

/// In the child: makes the run and writes its report to stdout, where the script's own output does not go. Returns the
/// exit status, 0.
int cli_sweep_run(const cli_sweep_plan *plan, int32_t run);
/// In the child: makes the first run as far as its first step; refuses names and values that can be none, with a line
/// on stdout and STN_EXIT_BAD_INPUT, and keeps its world in plan->folder. What goes wrong otherwise is left to the
/// runs.
int cli_sweep_probe(const cli_sweep_plan *plan);

/// Columns that every row has, in their order; false: out of memory.
bool cli_sweep_columns(const cli_sweep_plan *plan, cli_texts *columns);
/// Those of them that tell which run it is, `key_count` of them.
int32_t cli_sweep_key_count(const cli_sweep_plan *plan);
bool cli_sweep_key(const cli_sweep_plan *plan, int32_t run, cli_texts *cells);
/// The row of a run that has ended: cells of those columns, and names and values of its further ones.
bool cli_sweep_row(const cli_sweep_plan *plan, int32_t run, const cli_job_end *end, cli_table_cells *row);

#endif
