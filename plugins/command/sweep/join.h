// SPDX-License-Identifier: Apache-2.0
// Tables of the shards of a sweep -> its whole table, the bytes that one machine would have written.
#ifndef STICTION_COMMAND_SWEEP_JOIN_H
#define STICTION_COMMAND_SWEEP_JOIN_H

#include "common/options.h"
#include "table.h"

/// Joins the tables at `paths`, files and folders of ".csv" files, into `whole`, a temporary one that is made here and
/// closed by the caller in any case. STN_ERR_FILE: one cannot be read, is not of a shard, is of another sweep or
/// another script, is given twice, or a row is missing.
stn_status cli_join(const cli_list *paths, cli_table *whole, stn_error *err);
/// Puts the table at `path`. STN_ERR_FILE: it cannot be written, or another file is there, which stays.
stn_status cli_join_write(cli_table *whole, const char *path, stn_error *err);

#endif
