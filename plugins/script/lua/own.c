// SPDX-License-Identifier: Apache-2.0
// Memory of the core in Lua's hand: an error unwinds the C stack, Lua's collector then releases what was held.
#include <stddef.h>
#include <string.h>

#include "bind.h"

static const char class_name[] = "stiction.owned";

typedef struct owned {
    void (*release)(void *object);
    max_align_t object[]; // of the size that was asked for
} owned;

static void drop(owned *o) {
    if (o->release != NULL) {
        o->release(o->object);
        o->release = NULL;
    }
}

static int collect(lua_State *L) {
    drop(lua_touserdata(L, 1));
    return 0;
}

void *stn_lua_own(lua_State *L, size_t size, void (*release)(void *object)) {
    owned *o = lua_newuserdatauv(L, sizeof *o + size, 0);
    memset(o, 0, sizeof *o + size);
    o->release = release;
    if (luaL_newmetatable(L, class_name) != 0) {
        lua_pushcfunction(L, collect);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return o->object;
}

void stn_lua_release(lua_State *L, int index) {
    drop(lua_touserdata(L, index));
}
