// SPDX-License-Identifier: Apache-2.0
// The ranks of mpirun, for a word that knows nothing of MPI: its process goes on in a child of it, which speaks with
// the other ranks over a socket. Messages pass through the word sweep_mpi, a plugin of its own, in the process that
// mpirun has started: there nobody runs a script, and here nobody has MPI.
#ifndef STICTION_COMMAND_SWEEP_RANKS_H
#define STICTION_COMMAND_SWEEP_RANKS_H

#include "common/options.h"

/// Messages are frames (common/frames.h). `peer` is the rank that one is for, or from: on the first rank any other, on
/// others the first. One without bytes: that rank is gone.
typedef struct cli_ranks {
    int socket; // -1: this process is alone
    int32_t rank, count;
} cli_ranks;

/// Joins the ranks when mpirun has started more than one. CLI_PROCEED: go on, as the rank that `ranks` says, or alone.
/// Otherwise all is done, by the child or because there is no plugin: the exit status.
int cli_ranks_begin(const cli_command *command, const stn_command_call *call, cli_ranks *ranks);

#endif
