// SPDX-License-Identifier: Apache-2.0
// A run by value: everything that a world was made of when recording began.
#ifndef STICTION_CORE_RECORD_RUN_H
#define STICTION_CORE_RECORD_RUN_H

#include <stiction/replay.h>

#include "base/bytes.h"
#include "world/world.h"

/// Writes the block; the caller clears `out`. `known`: see recorded_run.
stn_status run_encode(const stn_world *world, size_t known, byte_stream *out, stn_error *err);

/// What a block holds.
typedef struct recorded_run {
    stn_world *world;      // as it was, the caller's to destroy
    char other_build[384]; // how the build that recorded differs from this one; empty: not at all
    bool adapt;            // some plugin is another than when it was recorded
    size_t known;          // bytes of the first record's inputs that the state holds already
} recorded_run;
stn_status run_decode(stn_context *context, const void *data, size_t size, const stn_replay_options *wanted,
                      recorded_run *out, stn_error *err);

// Parts that journals hold too.
void run_write_controller(byte_stream *b, const controller *c);
stn_status run_read_controller(byte_stream *b, stn_world *world, stn_error *err);
/// Puts an encoded state in the place of the world's.
stn_status run_take_state(stn_world *world, const void *data, size_t size, bool adapt, stn_error *err);

#endif
