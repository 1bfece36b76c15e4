// SPDX-License-Identifier: Apache-2.0
// One run of a sweep, by the process that is to make it, and what its row says.
#ifndef STICTION_COMMAND_SWEEP_RUN_H
#define STICTION_COMMAND_SWEEP_RUN_H

#include "fields.h"
#include "grid.h"
#include "pool.h"
#include "table.h"

typedef struct cli_sweep_plan {
    const char *script;
    char hash[32];  // of the script's bytes, "xxh3-..."
    char sweep[32]; // of all that decides what its table says beside the script
    cli_grid grid;
    int32_t shard, shards;   // the runs shard - 1, shard - 1 + shards, ... are made; shards = 0: all
    bool strict;             // what the verdict has to say against a run is a check that failed
    bool untimed;            // the cells of wall time stay empty
    cli_sweep_folder folder; // where the probe keeps the first run's world
    stn_context *context;    // with that world's fields, which runs inherit; NULL: each has a context of its own
} cli_sweep_plan;

enum { CLI_SWEEP_MOST_SHARDS = 1000000 };
/// "2/3" -> 2 and 3; false: it is none of 1/N ... N/N.
bool cli_sweep_read_shard(const char *text, int32_t *shard, int32_t *shards);
/// How many rows its table has, and the run of its row `row`.
int32_t cli_sweep_row_count(const cli_sweep_plan *plan);
int32_t cli_sweep_run_at(const cli_sweep_plan *plan, int32_t row);

/// In a worker: makes the run, in a context of its own unless the plan has one, and writes its report to `report`. The
/// exit status, 0; another one: nothing is there to be reported.
int cli_sweep_run(const cli_sweep_plan *plan, int32_t run, FILE *report);
/// In the child: makes the first run as far as its first step; refuses names and values that can be none, with a line
/// on stdout and STN_EXIT_BAD_INPUT, and keeps its world in plan->folder. What goes wrong otherwise is left to the
/// runs.
int cli_sweep_probe(const cli_sweep_plan *plan);

/// Columns of the table of a shard alone, behind "run": which one it is, "2/3", of how many runs, of which sweep.
enum { CLI_SWEEP_SHARD_COLUMNS = 3 };
extern const char *const cli_sweep_shard_columns[CLI_SWEEP_SHARD_COLUMNS];

/// How many of a table's columns every row has: up to "reservations"; -1: it is no table of a sweep.
int32_t cli_sweep_count_fixed(const cli_texts *columns);
/// Columns that every row has, in their order; false: out of memory.
bool cli_sweep_columns(const cli_sweep_plan *plan, cli_texts *columns);
/// Those of them that tell which run it is, `key_count` of them.
int32_t cli_sweep_key_count(const cli_sweep_plan *plan);
bool cli_sweep_key(const cli_sweep_plan *plan, int32_t run, cli_texts *cells);
/// The row of a run that has ended: cells of those columns, and names and values of its further ones.
bool cli_sweep_row(const cli_sweep_plan *plan, const cli_pool_end *end, cli_table_cells *row);

#endif
