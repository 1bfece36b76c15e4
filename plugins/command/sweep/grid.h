// SPDX-License-Identifier: Apache-2.0
// The runs of a sweep: every combination of the values of its axes, each repeated with seeds of its own.
#ifndef STICTION_COMMAND_SWEEP_GRID_H
#define STICTION_COMMAND_SWEEP_GRID_H

#include "common/options.h"

/// A name with what is assigned to it, "name=value" each.
typedef struct cli_axis {
    char *name;
    int32_t count;
    char **assignments;
} cli_axis;

/// Runs 0 ... run_count - 1: the last axis changes fastest, repetitions faster still.
typedef struct cli_grid {
    cli_axis *axes;
    int32_t axis_count;
    int32_t repeats;    // of each combination; 0: one, without a seed
    int32_t first_seed; // run i has first_seed + i
    int32_t run_count;
} cli_grid;

/// Reads "name=value" of `sets`, an axis of one value each, and "name=values" of `varied` (docs/sweep.md).
/// STN_ERR_ARGUMENT says what is wrong with which of them, or that there are too many runs. Cleared by cli_grid_clear,
/// also after a failure.
stn_status cli_grid_read(const cli_list *sets, const cli_list *varied, int32_t repeats, int32_t first_seed,
                         cli_grid *grid, stn_error *err);
void cli_grid_clear(cli_grid *grid);
/// What a run assigns on an axis, "name=value", and the value alone.
const char *cli_grid_assignment(const cli_grid *grid, int32_t run, int32_t axis);
const char *cli_grid_value(const cli_grid *grid, int32_t run, int32_t axis);

#endif
