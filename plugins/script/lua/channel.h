// SPDX-License-Identifier: Apache-2.0
// Channels of controllers by name, as batches, rollouts and linearisations take them: "command", "reference.NAME".
#ifndef STICTION_SCRIPT_LUA_CHANNEL_H
#define STICTION_SCRIPT_LUA_CHANNEL_H

#include <string.h>

#include "bind.h"

#define STN_COMMAND   "command"
#define STN_REFERENCE "reference."

/// What a name stands for.
typedef struct stn_channel_name {
    const char *channel; // NULL: the name is neither; borrowed from the name
    bool by_velocity;    // only channels that have a number for each velocity of their joints
} stn_channel_name;
stn_channel_name stn_lua_channel_name(const char *name);

/// A channel of one controller among the references of the state.
typedef struct stn_channel_place {
    int32_t controller;
    const char *channel; // of the plugin, which is there as long as the context
    int32_t start, size;
    bool by_velocity;
} stn_channel_place;
/// All of them, in the order of the controllers. Pushes their memory.
stn_channel_place *stn_lua_channels(lua_State *L, const stn_lua_world *w, int32_t *count);

static inline bool stn_channel_is(const stn_channel_place *place, stn_channel_name name) {
    return (place->by_velocity || !name.by_velocity) && strcmp(place->channel, name.channel) == 0;
}

#endif
