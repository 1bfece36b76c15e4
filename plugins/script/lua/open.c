// SPDX-License-Identifier: Apache-2.0
// The module "stiction".
#include <stiction/lua.h>

#include "bind.h"

/// stn.wrold: the nearest name, or all.
static int refuse_name(lua_State *L) {
    const char *names[64] = {NULL};
    int count = 0;
    for (lua_pushnil(L); lua_next(L, 1) != 0; lua_pop(L, 1)) {
        if (count < STN_COUNT(names) - 1 && lua_type(L, -2) == LUA_TSTRING) {
            names[count++] = lua_tostring(L, -2);
        }
    }
    stn_lua_unknown(L, "stiction", luaL_tolstring(L, 2, NULL), names);
}

int luaopen_stiction(lua_State *L) {
    luaL_checkversion(L);
    stn_lua_session(L);
    stn_lua_open_world(L);
    stn_lua_open_state(L);
    stn_lua_open_group(L);
    stn_lua_open_joint(L);
    stn_lua_open_control(L);
    stn_lua_open_sensor(L);
    stn_lua_open_constraint(L);
    stn_lua_open_step(L);
    stn_lua_open_motion(L);
    stn_lua_open_patch(L);
    stn_lua_open_pose(L);
    stn_lua_open_task(L);
    stn_lua_open_move(L);
    lua_newtable(L);
    lua_pushcfunction(L, stn_lua_world_new);
    lua_setfield(L, -2, "world");
    lua_pushcfunction(L, stn_lua_world_from_capsule);
    lua_setfield(L, -2, "capsule");
    luaL_setfuncs(L, stn_lua_params_functions, 0);
    luaL_setfuncs(L, stn_lua_report_functions, 0);
    luaL_setfuncs(L, stn_lua_test_functions, 0);
    luaL_setfuncs(L, stn_lua_near_functions, 0);
    luaL_setfuncs(L, stn_lua_reference_functions, 0);
    stn_lua_add_fixtures(L);
    luaL_setfuncs(L, stn_lua_pose_functions, 0);
    luaL_setfuncs(L, stn_lua_finding_functions, 0);
    luaL_setfuncs(L, stn_lua_choice_functions, 0);
    luaL_setfuncs(L, stn_lua_material_functions, 0);
    luaL_setfuncs(L, stn_lua_task_functions, 0);
    luaL_setfuncs(L, stn_lua_wait_functions, 0);
    lua_pushnumber(L, STN_PI / 180.0);
    lua_setfield(L, -2, "deg");
    lua_pushliteral(L, STN_VERSION);
    lua_setfield(L, -2, "version");
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, refuse_name);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    return 1;
}
