// SPDX-License-Identifier: Apache-2.0
// Masses and frictions of a varied world: stn.world { varied = true }, of a group or of a link.
#include "bind.h"

static bool belongs(const stn_lua_object *o, bool is_link, int32_t link) {
    const stn_model *model = stn_world_model(o->world->world);
    return link >= 0 && (is_link ? link == o->index : model->links[link].group == o->index);
}

static stn_lua_object *check_place(lua_State *L, bool *is_link) {
    *is_link = luaL_testudata(L, 1, STN_LUA_LINK) != NULL;
    return stn_lua_object_check(L, 1, *is_link ? STN_LUA_LINK : STN_LUA_GROUP);
}

/// place:set_mass_factor(factor): of all bodies of the group, or of the body that the link is part of.
static int place_set_mass_factor(lua_State *L) {
    bool is_link;
    const stn_lua_object *o = check_place(L, &is_link);
    const double factor = luaL_checknumber(L, 2);
    const stn_model *model = stn_world_model(o->world->world);
    bool moves = false;
    stn_lua_touched(o->world); // what its energy changes by is work
    for (int32_t b = 1; b < model->body_count; b++) {
        stn_error err = {0};
        if (is_link ? model->links[o->index].body == b : model->bodies[b].group == o->index) {
            stn_lua_check(L, stn_world_set_mass_factor(o->world->world, b, factor, &err), &err);
            moves = true;
        }
    }
    if (!moves) {
        stn_lua_fail(L, "set_mass_factor: nothing of '%s' moves, its mass does nothing",
                     is_link ? model->links[o->index].name : model->groups[o->index].name);
    }
    return 0;
}

/// place:set_friction_factor(factor): of all collision shapes of the link, or of all links of the group.
static int place_set_friction_factor(lua_State *L) {
    bool is_link;
    const stn_lua_object *o = check_place(L, &is_link);
    const double factor = luaL_checknumber(L, 2);
    const stn_model *model = stn_world_model(o->world->world);
    for (int32_t g = 0; g < model->geometry_count; g++) {
        stn_error err = {0};
        if (model->geometries[g].collision && belongs(o, is_link, model->geometries[g].link)) {
            stn_lua_check(L, stn_world_set_friction_factor(o->world->world, g, factor, &err), &err);
        }
    }
    return 0;
}

const luaL_Reg stn_lua_factor_methods[] = {
    {"set_mass_factor", place_set_mass_factor}, {"set_friction_factor", place_set_friction_factor}, {NULL, NULL}};
