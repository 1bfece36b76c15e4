// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_LUA_H
#define STICTION_LUA_H

#include <stiction/base.h>

STN_BEGIN_C

struct lua_State;

/// The Lua module "stiction": returns its table. Lives in the module stiction.so (require), not in
/// libstiction.so, which does not depend on Lua.
STN_API int luaopen_stiction(struct lua_State *state);

STN_END_C
#endif
