// SPDX-License-Identifier: Apache-2.0
// Worlds, groups, links and joints as Lua holds them: which one an argument means, by object or by name, and whether
// its world is complete. Groups and links keep their numbers when the model is complete; joints get those of the model,
// where only moving ones are left.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bind.h"

// --------------------------------------------------------------------------------------------------------- open worlds

static const char worlds_key = 'w'; // its address is the registry key of a list with weak values

int stn_lua_push_open_world(lua_State *L) {
    int count = 0;
    lua_pushnil(L);
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &worlds_key) == LUA_TTABLE) {
        for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
            const stn_lua_world *w = luaL_testudata(L, -1, STN_LUA_WORLD);
            if (w != NULL && w->world != NULL) {
                count++;
                lua_pushvalue(L, -1);
                lua_replace(L, -5);
            }
        }
    }
    lua_pop(L, 1);
    return count;
}

stn_lua_world *stn_lua_push_world(lua_State *L, lua_session *session) {
    stn_lua_world *w = lua_newuserdatauv(L, sizeof *w, 11);
    *w = (stn_lua_world){.session = session, .tables_begin = INT64_MAX};
    for (int i = 1; i <= 11; i++) {
        lua_newtable(L);
        lua_setiuservalue(L, -2, i);
    }
    luaL_setmetatable(L, STN_LUA_WORLD);
    // into the list of worlds
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &worlds_key) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_createtable(L, 0, 1);
        lua_pushliteral(L, "v");
        lua_setfield(L, -2, "__mode");
        lua_setmetatable(L, -2);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &worlds_key);
    }
    lua_pushvalue(L, -2);
    luaL_ref(L, -2);
    lua_pop(L, 1);
    return w;
}

stn_lua_world *stn_lua_push_twin(lua_State *L, int index, const stn_lua_world *w) {
    index = lua_absindex(L, index);
    stn_lua_world *twin = stn_lua_push_world(L, w->session);
    twin->compiled = twin->cloned = true;
    memcpy(twin->compiled_at, w->compiled_at, sizeof twin->compiled_at);
    memcpy(twin->compiled_by, w->compiled_by, sizeof twin->compiled_by);
    static const int shared[] = {1, 3, STN_LUA_SOFT_BODIES}; // start values, findings: never changed after completion
    for (int i = 0; i < STN_COUNT(shared); i++) {
        lua_getiuservalue(L, index, shared[i]);
        lua_setiuservalue(L, -2, shared[i]);
    }
    return twin;
}

stn_lua_world *stn_lua_world_check(lua_State *L, int index) {
    stn_lua_world *w = stn_lua_self(L, index, STN_LUA_WORLD);
    if (w->world == NULL) {
        stn_lua_fail(L, "this world was closed");
    }
    return w;
}

stn_lua_world *stn_lua_world_idle(lua_State *L, int index, const char *what) {
    stn_lua_world *w = stn_lua_world_check(L, index);
    if (w->asks != NULL) {
        stn_lua_fail(L, "%s: not inside %s, for which the world waits; do it between steps", what, w->asks);
    }
    return w;
}

int stn_lua_world_ask(lua_State *L, stn_lua_world *w, int arguments, int results, const char *asks) {
    const char *before = w->asks;
    lua_pushcfunction(L, stn_lua_place_message);
    lua_insert(L, -arguments - 2);
    int handler = lua_gettop(L) - arguments - 1;
    w->asks = asks;
    int status = lua_pcall(L, arguments, results, handler);
    w->asks = before;
    lua_remove(L, handler);
    return status;
}

// --------------------------------------------------------------------------------------------------------------- names

enum { NAMES_LISTED = 256 };

const char *stn_lua_group_name(const stn_lua_world *w, int32_t group) {
    return w->compiled ? stn_world_model(w->world)->groups[group].name
                       : stn_builder_group_name(stn_world_builder(w->world), group);
}

const char *stn_lua_link_name(const stn_lua_world *w, int32_t link) {
    return w->compiled ? stn_world_model(w->world)->links[link].name
                       : stn_builder_link_name(stn_world_builder(w->world), link);
}

static int32_t count_groups(const stn_lua_world *w) {
    return w->compiled ? stn_world_model(w->world)->group_count : stn_builder_group_count(stn_world_builder(w->world));
}

/// Links, or moving joints, of a group: [start, start + count).
static stn_link_range range_of(const stn_lua_world *w, int32_t group, bool joints) {
    stn_link_range range = {0, 0};
    if (w->compiled) {
        const stn_group *r = &stn_world_model(w->world)->groups[group];
        range =
            joints ? (stn_link_range){r->joint_start, r->joint_count} : (stn_link_range){r->link_start, r->link_count};
    } else {
        (joints ? stn_builder_group_joints : stn_builder_group_links)(stn_world_builder(w->world), group, &range.start,
                                                                      &range.count);
    }
    return range;
}

stn_link_range stn_lua_group_links(const stn_lua_world *w, int32_t group) {
    return range_of(w, group, false);
}

const char *stn_lua_push_links_name(lua_State *L, const stn_lua_world *w, stn_link_range links) {
    for (int32_t r = 0; r < count_groups(w); r++) {
        stn_link_range all = stn_lua_group_links(w, r);
        if (links.start >= all.start && links.start < all.start + all.count) {
            const char *group = stn_lua_group_name(w, r), *link = stn_lua_link_name(w, links.start);
            return links.count == all.count ? lua_pushstring(L, group) : lua_pushfstring(L, "%s/%s", group, link);
        }
    }
    return lua_pushliteral(L, "world");
}

static const char *name_of(const stn_lua_world *w, int32_t index, bool joints) {
    if (!joints) {
        return stn_lua_link_name(w, index);
    }
    return w->compiled ? stn_world_model(w->world)->joints[index].name
                       : stn_builder_joint_name(stn_world_builder(w->world), index);
}

// -------------------------------------------------------------------------------------------------- what is refused

/// Raises for a name that is not there, with the nearest one. `group` -1: of the whole world.
_Noreturn static void refuse(lua_State *L, const char *owner, const stn_lua_world *w, int32_t group, const char *name,
                             bool joints) {
    const char *kind = joints ? "joint" : "link";
    if (group < 0) { // several groups may have it
        char places[512] = "";
        int32_t found = 0;
        for (int32_t r = 0; r < count_groups(w); r++) {
            stn_link_range range = range_of(w, r, joints);
            for (int32_t i = range.start; i < range.start + range.count; i++) {
                size_t used = strlen(places);
                if (strcmp(name_of(w, i, joints), name) == 0) {
                    snprintf(places + used, sizeof places - used, "%s%s/%s", found++ > 0 ? ", " : "",
                             stn_lua_group_name(w, r), name);
                }
            }
        }
        if (found > 1) {
            stn_lua_fail(L, "%s: %s '%s' is in several groups, name one of them: %s", owner, kind, name, places);
        }
    }
    luaL_checkstack(L, NAMES_LISTED + 8, NULL);
    const char *names[NAMES_LISTED + 1] = {NULL}, *plain[NAMES_LISTED];
    int32_t count = 0, first = group < 0 ? 0 : group, end = group < 0 ? count_groups(w) : group + 1;
    for (int32_t r = first; r < end; r++) {
        stn_link_range range = range_of(w, r, joints);
        for (int32_t i = range.start; i < range.start + range.count && count < NAMES_LISTED; i++) {
            plain[count] = name_of(w, i, joints);
            names[count] =
                group < 0 ? lua_pushfstring(L, "%s/%s", stn_lua_group_name(w, r), plain[count]) : plain[count];
            count++;
        }
    }
    const char *near = strchr(name, '/') == NULL ? stn_suggest(name, plain, count) : NULL;
    if (group < 0 && near != NULL) {
        stn_lua_fail(L, "%s: the world has no %s '%s', did you mean '%s'?", owner, kind, name, near);
    }
    char label[320];
    const char *of = group < 0 ? "the world" : lua_pushfstring(L, "group '%s'", stn_lua_group_name(w, group));
    snprintf(label, sizeof label, "%.120s: %.160s (%s)", owner, of, joints ? "moving joints" : "links");
    stn_lua_unknown(L, label, name, names);
}

// ------------------------------------------------------------------------------------------------------- lookups

int32_t stn_lua_find_link(lua_State *L, const char *owner, const stn_lua_world *w, int32_t group, const char *name) {
    int32_t link = w->compiled ? stn_model_find_link(stn_world_model(w->world), group, name)
                               : stn_builder_find_link(stn_world_builder(w->world), group, name);
    if (link < 0) {
        refuse(L, owner, w, group, name, false);
    }
    return link;
}

int32_t stn_lua_find_joint(lua_State *L, const char *owner, const stn_lua_world *w, int32_t group, const char *name) {
    const stn_model *model = stn_world_model(w->world);
    int32_t joint = w->compiled ? stn_model_find_joint(model, group, name)
                                : stn_builder_find_joint(stn_world_builder(w->world), group, name);
    if (joint >= 0) {
        return joint;
    }
    for (int32_t i = 0; w->compiled && i < model->link_count; i++) {
        const stn_link *link = &model->links[i];
        if (link->group == group && link->joint_name != NULL && strcmp(link->joint_name, name) == 0) {
            stn_lua_fail(L, "%s: joint '%s' is fixed, it has no coordinates; its links are welded together", owner,
                         name);
        }
    }
    refuse(L, owner, w, group, name, true);
}

// ------------------------------------------------------------------------------------------------------------- objects

stn_lua_object *stn_lua_object_new(lua_State *L, int world_index, const char *type, int32_t index) {
    int world = lua_absindex(L, world_index);
    stn_lua_object *o = lua_newuserdatauv(L, sizeof *o, 1);
    *o = (stn_lua_object){.world = lua_touserdata(L, world), .index = index};
    lua_pushvalue(L, world);
    lua_setiuservalue(L, -2, 1);
    luaL_setmetatable(L, type);
    return o;
}

stn_lua_object *stn_lua_object_test(lua_State *L, int index, const char *type) {
    stn_lua_object *o = luaL_testudata(L, index, type);
    if (o != NULL && o->world->world == NULL) {
        stn_lua_fail(L, "the %s belongs to a world that was closed", strchr(type, '.') + 1);
    }
    return o;
}

stn_lua_object *stn_lua_object_open(lua_State *L, int index, const char *type) {
    stn_lua_self(L, index, type);
    return stn_lua_object_test(L, index, type);
}

/// Clouds come last, in the builder's order.
static int32_t first_cloud(const stn_model *model) {
    int32_t first = 0;
    while (model->trees[first].kind != STN_TREE_NODAL) {
        first++;
    }
    return first;
}

int32_t stn_lua_soft_tree(const stn_lua_object *soft) {
    return first_cloud(stn_world_model(soft->world->world)) + soft->index;
}

int32_t stn_lua_soft_index(const stn_model *model, int32_t tree) {
    return tree - first_cloud(model);
}

void stn_lua_take_name(lua_State *L, int world_index, const char *name) {
    lua_getiuservalue(L, world_index, 2);
    lua_pushboolean(L, 1);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
}

stn_pose stn_lua_link_pose(stn_lua_world *w, int32_t link) {
    const stn_link *l = &stn_world_model(w->world)->links[link];
    return stn_pose_mul(&stn_world_kinematics(w->world)->body_pose[l->body], &l->pose);
}

/// The link or group object at `index`, of this world; NULL when it is something else.
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
    const stn_lua_object *group = object_at(L, at, w, STN_LUA_GROUP, owner);
    if (group == NULL) {
        stn_lua_fail(L, "%s: name links by a group, { group, \"link\" }, \"group/link\" or a link object, got %s%s",
                     owner, name != NULL ? "a table that begins with " : "", luaL_typename(L, at));
    }
    stn_link_range range = stn_lua_group_links(w, group->index);
    if (name != NULL) {
        range = (stn_link_range){stn_lua_find_link(L, owner, w, group->index, name), 1};
    }
    lua_settop(L, top);
    return range;
}

// -------------------------------------------------------------------------------------------------------- start values

void stn_lua_note_start(lua_State *L, int world_index, int32_t group, const char *key) {
    int world = lua_absindex(L, world_index);
    lua_createtable(L, 0, 3);
    lua_insert(L, -2);
    lua_setfield(L, -2, key);
    lua_pushinteger(L, group);
    lua_setfield(L, -2, "group");
    stn_lua_position(L);
    lua_setfield(L, -2, "where");
    lua_getiuservalue(L, world, 1);
    lua_insert(L, -2);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    lua_pop(L, 1);
}

/// A core error about a value that the script gave earlier, at `where`.
static void check_start(lua_State *L, stn_status status, const char *where, const char *what, const stn_error *err) {
    if (status < 0) {
        lua_pushfstring(L, "%s: %s: %s", where, what, err->text);
        lua_error(L);
    }
}

void stn_lua_world_apply_start(lua_State *L, int index, stn_lua_world *w) {
    lua_getiuservalue(L, index, 1);
    lua_Integer count = (lua_Integer)lua_rawlen(L, -1);
    for (lua_Integer i = 1; i <= count; i++) {
        int top = lua_gettop(L);
        lua_rawgeti(L, top, i);
        lua_getfield(L, top + 1, "where");
        const char *where = lua_tostring(L, -1);
        lua_getfield(L, top + 1, "group");
        int32_t group = (int32_t)lua_tointeger(L, -1);
        stn_error err = {0};
        if (lua_getfield(L, top + 1, "keyframe") != LUA_TNIL) {
            // { name, whether the script placed the group, which then stands where it said }
            lua_rawgeti(L, -1, 1);
            lua_rawgeti(L, -2, 2);
            const char *name = lua_tostring(L, -2), *owner = lua_pushfstring(L, "keyframe (world:load at %s)", where);
            stn_lua_apply_keyframe(L, owner, w, group, name, lua_toboolean(L, -2));
        } else if (lua_getfield(L, top + 1, "joints") != LUA_TNIL) {
            double *q = stn_lua_copy_coordinates(L, w, STN_LUA_POSITION);
            const char *owner = lua_pushfstring(L, "joints (world:load at %s)", where);
            stn_lua_read_joints(L, -3, owner, w, group, STN_LUA_POSITION, q);
            check_start(L, stn_world_set_q(w->world, q, &err), where, "joints", &err);
        } else if (lua_getfield(L, top + 1, "velocity") != LUA_TNIL) {
            const stn_model *model = stn_world_model(w->world);
            stn_vec3 linear, angular;
            stn_lua_velocity(L, -1, "velocity", &linear, &angular);
            int32_t body = model->links[model->groups[group].root_link].body;
            check_start(L, stn_world_set_body_velocity(w->world, body, linear, angular, &err), where, "velocity", &err);
        }
        lua_settop(L, top);
    }
    lua_pop(L, 1);
    stn_lua_motions_start(L, lua_absindex(L, index), w);
}

// ---------------------------------------------------------------------------------------------------------- completing

void stn_lua_world_complete(lua_State *L, int index, stn_lua_world *w) {
    if (w->compiled) {
        return;
    }
    int self = lua_absindex(L, index);
    stn_error err = {0};
    stn_lua_check(L, stn_world_compile(w->world, &err), &err);
    w->compiled = true;
    // where the script is, and the function of the binding that it has called
    stn_lua_position(L);
    snprintf(w->compiled_at, sizeof w->compiled_at, "%s", lua_tostring(L, -1));
    lua_pop(L, 1);
    lua_Debug function;
    if (lua_getstack(L, 0, &function) != 0 && lua_getinfo(L, "n", &function) != 0 && function.name != NULL &&
        strcmp(function.namewhat, "metamethod") != 0) {
        snprintf(w->compiled_by, sizeof w->compiled_by, "%s", function.name);
    }
    stn_lua_world_apply_start(L, self, w);
}

stn_lua_world *stn_lua_world_compiled(lua_State *L, int index) {
    stn_lua_world *w = stn_lua_world_check(L, index);
    stn_lua_world_complete(L, index, w);
    return w;
}

stn_model_builder *stn_lua_world_builder(lua_State *L, stn_lua_world *w, const char *what) {
    if (w->world == NULL) { // by a function among the values that were read
        stn_lua_fail(L, "%s: this world was closed", what);
    }
    if (w->compiled) {
        stn_lua_fail(L, "%s: the world was completed at %s, by %s%s%s its state; describe everything before that", what,
                     w->compiled_at, w->compiled_by[0] != '\0' ? "'" : "the first use of", w->compiled_by,
                     w->compiled_by[0] != '\0' ? "', which uses" : "");
    }
    stn_model_builder *builder = stn_world_builder(w->world);
    if (builder == NULL) { // completing it failed for good: says why
        stn_error err = {0};
        stn_lua_check(L, stn_world_compile(w->world, &err), &err);
    }
    return builder;
}

stn_lua_object *stn_lua_object_check(lua_State *L, int index, const char *type) {
    int self = lua_absindex(L, index);
    stn_lua_object *o = stn_lua_object_open(L, self, type);
    if (!o->world->compiled) {
        lua_getiuservalue(L, self, 1);
        stn_lua_world_complete(L, -1, o->world);
        lua_pop(L, 1);
    }
    return o;
}

// ---------------------------------------------------------------------------------------------------- lookups from Lua

/// The world that argument 1 belongs to, complete when joints are asked for; pushes it.
static stn_lua_world *push_world_of(lua_State *L, const stn_lua_object *o, bool joints) {
    lua_getiuservalue(L, 1, 1);
    if (joints) {
        stn_lua_world_complete(L, -1, o->world);
    }
    return o->world;
}

/// link(name) and joint(name) of a group or of a world.
static int find_part(lua_State *L, bool joints) {
    const stn_lua_world *w = NULL;
    const char *owner = NULL;
    int32_t group = -1;
    if (luaL_testudata(L, 1, STN_LUA_WORLD) != NULL) {
        w = joints ? stn_lua_world_compiled(L, 1) : stn_lua_world_check(L, 1);
        owner = joints ? "world:joint" : "world:link";
        lua_pushvalue(L, 1);
    } else {
        const stn_lua_object *o = stn_lua_object_open(L, 1, STN_LUA_GROUP);
        group = o->index;
        owner = joints ? "group:joint" : "group:link";
        w = push_world_of(L, o, joints);
    }
    const char *name = luaL_checkstring(L, 2);
    int32_t index = joints ? stn_lua_find_joint(L, owner, w, group, name) : stn_lua_find_link(L, owner, w, group, name);
    stn_lua_object_new(L, -1, joints ? STN_LUA_JOINT : STN_LUA_LINK, index);
    return 1;
}

static int group_parts(lua_State *L, bool joints) {
    const stn_lua_object *o = stn_lua_object_open(L, 1, STN_LUA_GROUP);
    const stn_lua_world *w = push_world_of(L, o, joints);
    stn_link_range range = range_of(w, o->index, joints);
    lua_createtable(L, range.count, 0);
    for (int32_t i = 0; i < range.count; i++) {
        stn_lua_object_new(L, -2, joints ? STN_LUA_JOINT : STN_LUA_LINK, range.start + i);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static int find_link(lua_State *L) {
    return find_part(L, false);
}

static int find_joint(lua_State *L) {
    return find_part(L, true);
}

static int group_links(lua_State *L) {
    return group_parts(L, false);
}

static int group_joints(lua_State *L) {
    return group_parts(L, true);
}

static int world_group(lua_State *L) {
    const stn_lua_world *w = stn_lua_world_check(L, 1);
    const char *name = luaL_checkstring(L, 2);
    const char *names[NAMES_LISTED + 1] = {NULL};
    for (int32_t i = 0; i < count_groups(w); i++) {
        const char *own = stn_lua_group_name(w, i);
        if (strcmp(own, name) == 0) {
            stn_lua_object_new(L, 1, STN_LUA_GROUP, i);
            return 1;
        }
        names[i < NAMES_LISTED ? i : NAMES_LISTED - 1] = own;
    }
    stn_lua_unknown(L, "the world (groups)", name, names);
}

static int world_groups(lua_State *L) {
    const stn_lua_world *w = stn_lua_world_check(L, 1);
    int32_t count = count_groups(w);
    lua_createtable(L, count, 0);
    for (int32_t i = 0; i < count; i++) {
        stn_lua_object_new(L, 1, STN_LUA_GROUP, i);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

const luaL_Reg stn_lua_name_methods[] = {
    {"link", find_link}, {"joint", find_joint}, {"links", group_links}, {"joints", group_joints}, {NULL, NULL},
};

const luaL_Reg stn_lua_world_name_methods[] = {
    {"link", find_link}, {"joint", find_joint}, {"group", world_group}, {"groups", world_groups}, {NULL, NULL},
};
