// SPDX-License-Identifier: Apache-2.0
// The module "stiction".
#include <stiction/lua.h>

#include "lua/bind.h"

int luaopen_stiction(lua_State *L) {
    luaL_checkversion(L);
    stn_lua_session(L);
    stn_lua_open_world(L);
    stn_lua_open_state(L);
    stn_lua_open_robot(L);
    stn_lua_open_joint(L);
    stn_lua_open_control(L);
    stn_lua_open_step(L);
    lua_newtable(L);
    lua_pushcfunction(L, stn_lua_world_new);
    lua_setfield(L, -2, "world");
    luaL_setfuncs(L, stn_lua_params_functions, 0);
    luaL_setfuncs(L, stn_lua_report_functions, 0);
    luaL_setfuncs(L, stn_lua_pose_functions, 0);
    lua_pushnumber(L, STN_PI / 180.0);
    lua_setfield(L, -2, "deg");
    lua_pushliteral(L, STN_VERSION);
    lua_setfield(L, -2, "version");
    return 1;
}
