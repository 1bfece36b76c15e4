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

/// Selectors of the value at `index`: one, or a list of them, of nodes that the mesh has. In memory on Lua's stack.
const stn_soft_selector *stn_lua_soft_selectors(lua_State *L, int index, const char *owner, const stn_soft_mesh *mesh,
                                                int32_t *count);
/// Numbers, from 0, of the nodes that the selectors at `index` tell, nil: of all. In memory on Lua's stack.
const int32_t *stn_lua_soft_select(lua_State *L, int index, const char *owner, const stn_soft_mesh *mesh,
                                   int32_t *count);

// What describing calls share, soft_describe.c. `f` reads their table; the world is their first argument.

/// A key of the table and the parameter of the element that it sets.
typedef struct stn_lua_soft_number {
    const char *key, *parameter, *unit;
} stn_lua_soft_number;

/// Settings of the element from these keys, and where `young` and `density` are not there from the `material`; with
/// room for `count`. Returns how many were written.
int32_t stn_lua_soft_settings(const stn_fields *f, const stn_lua_soft_number *numbers, int32_t count,
                              const stn_lua_surface *surface, stn_setting *settings);
/// pinned and attach, in memory on Lua's stack.
const stn_soft_attachment *stn_lua_soft_attachments(const stn_fields *f, stn_lua_world *w, const stn_soft_mesh *mesh,
                                                    int32_t *attachment_count);
/// A name that the world does not have yet, pushed: as given, or `type` with the next free number.
const char *stn_lua_soft_push_name(const stn_fields *f, stn_lua_world *w, const char *type);
/// Pushes a soft body without anything, whose mesh goes when Lua drops it.
stn_lua_soft_body *stn_lua_soft_push(lua_State *L);
/// The body at `kept`, which was added to the builder, becomes one of the world. Pushes its handle, returns 1.
int stn_lua_soft_keep(lua_State *L, int kept, const char *name);

int stn_lua_world_cable(lua_State *L); ///< world:cable { ... }, soft_cable.c

#endif
