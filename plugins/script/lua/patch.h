// SPDX-License-Identifier: Apache-2.0
// A patch in Lua's hand, between patch.c and patch_image.c.
#ifndef STICTION_SCRIPT_LUA_PATCH_H
#define STICTION_SCRIPT_LUA_PATCH_H

#include "bind.h"

#define STN_LUA_PATCH "stiction.patch"

/// What one patch of a step did, or several between two sides as one. Numbers are copies; an image asks the step
/// itself. User value 1: the world; user value 2: table of names.
typedef struct patch_object {
    stn_lua_world *world;
    int64_t made;      // steps that the world had made: whether its contacts are still there
    int32_t axes_body; // whose axes an image has, unless it is told: B's, or A's where B is the world
    stn_patch_report report;
    int32_t count;     // patches of the step's set
    int32_t patches[]; // (count)
} patch_object;

/// patch:image { ... }
int stn_lua_patch_image(lua_State *L);

#endif
