// SPDX-License-Identifier: Apache-2.0
// What a script calls a control (controls.c): efforts of joints, or references of controllers, in one list of numbers.
#ifndef STICTION_SCRIPT_LUA_CONTROLS_H
#define STICTION_SCRIPT_LUA_CONTROLS_H

#include "channel.h"

/// Where each number of a control goes. Memory is Lua's, in the list that stn_lua_read_controls pushes.
typedef struct stn_controls {
    int32_t count;            // numbers of one control
    int32_t *part;            // (count) of `parts`; -1: an effort
    int32_t *at;              // (count) velocity of the model for an effort, else the place within the part
    int32_t part_count;       // 0: efforts
    stn_channel_place *parts; // (part_count)
    int32_t room;             // numbers that stn_controls_apply works with
} stn_controls;

#define STN_CONTROL_KEYS "control", "joints"
/// Reads `control` ("effort", "command", "reference.NAME"; default "effort") and `joints` (a list of joints, or of
/// their names; default: all) of an open table, for a complete world. Pushes what keeps the memory. Raises, also when
/// there is nothing to control.
stn_controls stn_lua_read_controls(const stn_fields *f, const stn_lua_world *w);
/// The present values (count) of a world with the same controllers.
void stn_controls_now(const stn_controls *controls, const stn_world *world, double *values);
/// Sets them, between steps. `room` as above.
stn_status stn_controls_apply(const stn_controls *controls, stn_world *world, const double *values, double *room,
                              stn_error *err);

#endif
