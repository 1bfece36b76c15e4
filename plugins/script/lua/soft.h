// SPDX-License-Identifier: Apache-2.0
// What the files about soft bodies share: what a world keeps of each, and reading sets of its nodes.
#ifndef STICTION_SCRIPT_LUA_SOFT_H
#define STICTION_SCRIPT_LUA_SOFT_H

#include <stiction/soft.h>

#include "bind.h"

enum { STN_LUA_SOFT_NAME_MAX = 200 }; ///< letters of a name

/// A soft body of a world, a userdata that owns the mesh. The world lists them by cloud, from 1, in its user value
/// STN_LUA_SOFT_BODIES.
typedef struct stn_lua_soft_body {
    char name[STN_LUA_SOFT_NAME_MAX + 1];
    stn_soft_mesh *mesh; // in its own frame, as described
    stn_soft_body parts; // cloud and groups of elements, numbers of the builder and of the model
} stn_lua_soft_body;

/// Selectors of the value at `index`: one, or a list of them. In memory on Lua's stack.
const stn_soft_selector *stn_lua_soft_selectors(lua_State *L, int index, const char *owner, int32_t *count);
/// Numbers, from 0, of the nodes that the selectors at `index` tell, nil: of all. In memory on Lua's stack.
const int32_t *stn_lua_soft_select(lua_State *L, int index, const char *owner, const stn_soft_mesh *mesh,
                                   int32_t *count);

#endif
