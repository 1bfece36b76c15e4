// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_SNAPSHOT_H
#define STICTION_CORE_SNAPSHOT_H

#include "world/world.h"

struct stn_snapshot {
    stn_context *context;
    uint64_t signature; // of the model and plugins it fits
    size_t memory_bytes; // private bytes per cache entry
    stn_state state;
};

size_t stn_world_cache_bytes(const stn_world *world); // private bytes per cache entry

#endif
