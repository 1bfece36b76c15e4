// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_RECORD_SNAPSHOT_H
#define STICTION_CORE_RECORD_SNAPSHOT_H

#include <stiction/record.h>

#include "base/bytes.h"
#include "world/world.h"

struct stn_snapshot {
    stn_context *context;
    uint64_t signature;  // of the model and plugins it fits
    size_t memory_bytes; // private bytes per cache entry
    stn_state state;
    char integrator_id[64];   // whose state it is
    stn_instance *integrator; // the same, kept; NULL: of a file
};

stn_snapshot snapshot_view(const stn_world *world); // borrows the state; not to be destroyed

/// A block of bytes and back; the caller clears `out`. STN_ERR_PARSE says what is wrong.
stn_status snapshot_encode(const stn_snapshot *snapshot, byte_stream *out, stn_error *err);
stn_status snapshot_decode(stn_context *context, const void *data, size_t size, stn_snapshot **out, stn_error *err);

#endif
