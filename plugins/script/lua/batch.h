// SPDX-License-Identifier: Apache-2.0
// What batches (batch.c) and rollouts (rollout.c) share.
#ifndef STICTION_SCRIPT_LUA_BATCH_H
#define STICTION_SCRIPT_LUA_BATCH_H

#include <stiction/batch.h>

#include "bind.h"

/// What was warned of so far.
typedef struct stn_batch_warnings {
    bool failure_said, convergence_said; // the latter also of approximate plugins, which never converge
} stn_batch_warnings;

/// The first entry of the table at index 1, a world whose steps ask no function of Lua, is pushed; raises for all else.
stn_lua_world *stn_lua_batch_world(lua_State *L, const char *owner);
/// What there is to warn of with the plugins of this world.
stn_batch_warnings stn_lua_batch_warnings(const stn_lua_world *w);
/// Neither the table of a run nor its checks see the steps of a batch: what is wrong with them is warned of once.
/// `rollout`: its worlds are plans.
void stn_lua_batch_warn(lua_State *L, const lua_session *session, const stn_batch *batch, bool rollout,
                        stn_batch_warnings *said);
/// Pushes a table of stn_batch_tally.
void stn_lua_push_tally(lua_State *L, const stn_batch *batch);

#endif
