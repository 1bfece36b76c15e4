// SPDX-License-Identifier: Apache-2.0
// Pressure fields that the runs of a sweep have in common: made once, before their processes begin, which inherit them.
// The script runs in processes of its own alone, so what it does there, crash and hang included, stays there; what its
// first world is made of comes back as a file.
#ifndef STICTION_COMMAND_SWEEP_FIELDS_H
#define STICTION_COMMAND_SWEEP_FIELDS_H

#include <stiction/world.h>

/// A folder of its own for that file; empty when the system has none to give.
typedef struct cli_sweep_folder {
    char path[512], file[540];
} cli_sweep_folder;
void cli_sweep_folder_make(cli_sweep_folder *folder);
void cli_sweep_folder_remove(const cli_sweep_folder *folder); // with the file

/// In the child that looks at the script: keeps its first world, which begins its first step, when something in it is
/// compliant. What cannot be kept is not: every run makes its own then.
void cli_sweep_keep_world(const cli_sweep_folder *folder, const stn_world *world);
/// In the parent: a context, without messages, that has made the kept world's fields, for the runs to inherit; the
/// caller's to destroy. NULL: there is nothing to share.
stn_context *cli_sweep_fields(const cli_sweep_folder *folder);

#endif
