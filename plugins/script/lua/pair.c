// SPDX-License-Identifier: Apache-2.0
// Pairs of links: which never collide, and the contact parameters of those that do.
#include <string.h>

#include "bind.h"

/// The link or robot object at `index`, of this world; NULL when it is something else.
static const stn_lua_object *object_at(lua_State *L, int index, const stn_lua_world *w, const char *type,
                                       const char *owner) {
    const stn_lua_object *o = stn_lua_object_test(L, index, type);
    if (o != NULL && o->world != w) {
        stn_lua_fail(L, "%s: the %s belongs to another world", owner, strchr(type, '.') + 1);
    }
    return o;
}

stn_link_range stn_lua_links(lua_State *L, int index, stn_lua_world *w, const char *owner) {
    int top = lua_gettop(L), at = lua_absindex(L, index);
    const stn_lua_object *link = object_at(L, at, w, STN_LUA_LINK, owner);
    if (link != NULL) {
        return (stn_link_range){link->index, 1};
    }
    if (lua_type(L, at) == LUA_TSTRING) {
        return (stn_link_range){stn_lua_find_link(L, owner, w, -1, lua_tostring(L, at)), 1};
    }
    const char *name = NULL;
    if (lua_type(L, at) == LUA_TTABLE) {
        lua_rawgeti(L, at, 2);
        name = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
        lua_rawgeti(L, at, 1);
        at = lua_gettop(L);
    }
    const stn_lua_object *robot = object_at(L, at, w, STN_LUA_ROBOT, owner);
    if (robot == NULL) {
        stn_lua_fail(L, "%s: name links by a robot, { robot, \"link\" }, \"robot/link\" or a link object, got %s%s",
                     owner, name != NULL ? "a table that begins with " : "", luaL_typename(L, at));
    }
    stn_link_range range = stn_lua_robot_links(w, robot->index);
    if (name != NULL) {
        range = (stn_link_range){stn_lua_find_link(L, owner, w, robot->index, name), 1};
    }
    lua_settop(L, top);
    return range;
}

static int disable_collisions(lua_State *L) {
    stn_lua_world *w = stn_lua_world_check(L, 1);
    stn_model_builder *builder = stn_lua_world_builder(L, w, "world:disable_collisions");
    stn_link_range a = stn_lua_links(L, 2, w, "world:disable_collisions"), b = a;
    if (!lua_isnoneornil(L, 3)) {
        b = stn_lua_links(L, 3, w, "world:disable_collisions");
    }
    stn_error err = {0};
    for (int32_t i = 0; i < a.count; i++) {
        for (int32_t j = 0; j < b.count; j++) {
            if (a.start + i != b.start + j) {
                stn_lua_check(L, stn_builder_disable_collisions(builder, a.start + i, b.start + j, &err), &err);
            }
        }
    }
    return 0;
}

static int contact_material(lua_State *L) {
    static const char *const keys[] = {"a", "b", STN_MATERIAL_KEYS, NULL};
    stn_lua_world *w = stn_lua_world_check(L, 1);
    stn_fields f = stn_fields_open(L, 2, "world:contact_material", keys, 0);
    stn_model_builder *builder = stn_lua_world_builder(L, w, f.owner);
    stn_material material = stn_material_unset();
    stn_fields_material(&f, &material);
    stn_fields_warn_dissipation(&f, w->world, &material);
    stn_fields_warn_modulus(&f, &material);
    stn_fields_warn_restitution(&f, w->world, &material);
    stn_link_range sides[2] = {{STN_ANY, 1}, {STN_ANY, 1}};
    const char *const names[2] = {"a", "b"};
    for (int i = 0; i < 2; i++) {
        if (stn_fields_push(&f, names[i])) {
            sides[i] = stn_lua_links(L, -1, w, f.owner);
            lua_pop(L, 1);
        }
    }
    stn_error err = {0};
    for (int32_t i = 0; i < sides[0].count; i++) {
        for (int32_t j = 0; j < sides[1].count; j++) {
            stn_lua_check(
                L, stn_builder_set_contact_material(builder, sides[0].start + i, sides[1].start + j, &material, &err),
                &err);
        }
    }
    return 0;
}

const luaL_Reg stn_lua_pair_methods[] = {
    {"contact_material", contact_material},
    {"disable_collisions", disable_collisions},
    {NULL, NULL},
};
