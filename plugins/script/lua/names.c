// SPDX-License-Identifier: Apache-2.0
// Robots, links and joints by name. All are found while the world is being described too. Robots and links keep their
// numbers when the model is complete; joints get those of the model, where only moving ones are left.
#include <stdio.h>
#include <string.h>

#include "bind.h"

enum { NAMES_LISTED = 256 };

const char *stn_lua_robot_name(const stn_lua_world *w, int32_t robot) {
    return w->compiled ? stn_world_model(w->world)->robots[robot].name
                       : stn_builder_robot_name(stn_world_builder(w->world), robot);
}

const char *stn_lua_link_name(const stn_lua_world *w, int32_t link) {
    return w->compiled ? stn_world_model(w->world)->links[link].name
                       : stn_builder_link_name(stn_world_builder(w->world), link);
}

static int32_t count_robots(const stn_lua_world *w) {
    return w->compiled ? stn_world_model(w->world)->robot_count : stn_builder_robot_count(stn_world_builder(w->world));
}

/// Links, or moving joints, of a robot: [start, start + count).
static stn_link_range range_of(const stn_lua_world *w, int32_t robot, bool joints) {
    stn_link_range range = {0, 0};
    if (w->compiled) {
        const stn_robot *r = &stn_world_model(w->world)->robots[robot];
        range =
            joints ? (stn_link_range){r->joint_start, r->joint_count} : (stn_link_range){r->link_start, r->link_count};
    } else {
        (joints ? stn_builder_robot_joints : stn_builder_robot_links)(stn_world_builder(w->world), robot, &range.start,
                                                                      &range.count);
    }
    return range;
}

stn_link_range stn_lua_robot_links(const stn_lua_world *w, int32_t robot) {
    return range_of(w, robot, false);
}

const char *stn_lua_push_links_name(lua_State *L, const stn_lua_world *w, stn_link_range links) {
    for (int32_t r = 0; r < count_robots(w); r++) {
        stn_link_range all = stn_lua_robot_links(w, r);
        if (links.start >= all.start && links.start < all.start + all.count) {
            const char *robot = stn_lua_robot_name(w, r), *link = stn_lua_link_name(w, links.start);
            return links.count == all.count ? lua_pushstring(L, robot) : lua_pushfstring(L, "%s/%s", robot, link);
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

/// Raises when several robots have the name: "link 'tip' is in several robots, name one of them: left/tip, right/tip".
static void refuse_ambiguous(lua_State *L, const char *owner, const stn_lua_world *w, const char *name, bool joints) {
    char places[512] = "";
    int32_t count = 0;
    for (int32_t r = 0; r < count_robots(w); r++) {
        stn_link_range range = range_of(w, r, joints);
        for (int32_t i = range.start; i < range.start + range.count; i++) {
            size_t used = strlen(places);
            if (strcmp(name_of(w, i, joints), name) == 0) {
                snprintf(places + used, sizeof places - used, "%s%s/%s", count++ > 0 ? ", " : "",
                         stn_lua_robot_name(w, r), name);
            }
        }
    }
    if (count > 1) {
        stn_lua_fail(L, "%s: %s '%s' is in several robots, name one of them: %s", owner, joints ? "joint" : "link",
                     name, places);
    }
}

/// Raises for a name that is not there, with the nearest one. `robot` -1: of the whole world.
_Noreturn static void refuse(lua_State *L, const char *owner, const stn_lua_world *w, int32_t robot, const char *name,
                             bool joints) {
    if (robot < 0) {
        refuse_ambiguous(L, owner, w, name, joints);
    }
    luaL_checkstack(L, NAMES_LISTED + 8, NULL);
    const char *names[NAMES_LISTED + 1] = {NULL}, *plain[NAMES_LISTED];
    int32_t count = 0, first = robot < 0 ? 0 : robot, end = robot < 0 ? count_robots(w) : robot + 1;
    for (int32_t r = first; r < end; r++) {
        stn_link_range range = range_of(w, r, joints);
        for (int32_t i = range.start; i < range.start + range.count && count < NAMES_LISTED; i++) {
            plain[count] = name_of(w, i, joints);
            names[count] =
                robot < 0 ? lua_pushfstring(L, "%s/%s", stn_lua_robot_name(w, r), plain[count]) : plain[count];
            count++;
        }
    }
    const char *near = strchr(name, '/') == NULL ? stn_suggest(name, plain, count) : NULL;
    if (robot < 0 && near != NULL) {
        stn_lua_fail(L, "%s: the world has no %s '%s', did you mean '%s'?", owner, joints ? "joint" : "link", name,
                     near);
    }
    char label[320];
    const char *of = robot < 0 ? "the world" : lua_pushfstring(L, "robot '%s'", stn_lua_robot_name(w, robot));
    snprintf(label, sizeof label, "%.120s: %.160s (%s)", owner, of, joints ? "moving joints" : "links");
    stn_lua_unknown(L, label, name, names);
}

// ------------------------------------------------------------------------------------------------------- lookups

int32_t stn_lua_find_link(lua_State *L, const char *owner, const stn_lua_world *w, int32_t robot, const char *name) {
    int32_t link = w->compiled ? stn_model_find_link(stn_world_model(w->world), robot, name)
                               : stn_builder_find_link(stn_world_builder(w->world), robot, name);
    if (link < 0) {
        refuse(L, owner, w, robot, name, false);
    }
    return link;
}

int32_t stn_lua_find_joint(lua_State *L, const char *owner, const stn_lua_world *w, int32_t robot, const char *name) {
    const stn_model *model = stn_world_model(w->world);
    int32_t joint = w->compiled ? stn_model_find_joint(model, robot, name)
                                : stn_builder_find_joint(stn_world_builder(w->world), robot, name);
    if (joint >= 0) {
        return joint;
    }
    for (int32_t i = 0; w->compiled && i < model->link_count; i++) {
        const stn_link *link = &model->links[i];
        if (link->robot == robot && link->joint_name != NULL && strcmp(link->joint_name, name) == 0) {
            stn_lua_fail(L, "%s: joint '%s' is fixed, it has no coordinates; its links are welded together", owner,
                         name);
        }
    }
    refuse(L, owner, w, robot, name, true);
}

/// The world that argument 1 belongs to, complete when joints are asked for; pushes it.
static stn_lua_world *push_world_of(lua_State *L, const stn_lua_object *o, bool joints) {
    lua_getiuservalue(L, 1, 1);
    if (joints) {
        stn_lua_world_complete(L, -1, o->world);
    }
    return o->world;
}

/// link(name) and joint(name) of a robot or of a world.
static int find_part(lua_State *L, bool joints) {
    const stn_lua_world *w = NULL;
    const char *owner = NULL;
    int32_t robot = -1;
    if (luaL_testudata(L, 1, STN_LUA_WORLD) != NULL) {
        w = joints ? stn_lua_world_compiled(L, 1) : stn_lua_world_check(L, 1);
        owner = joints ? "world:joint" : "world:link";
        lua_pushvalue(L, 1);
    } else {
        const stn_lua_object *o = stn_lua_object_open(L, 1, STN_LUA_ROBOT);
        robot = o->index;
        owner = joints ? "robot:joint" : "robot:link";
        w = push_world_of(L, o, joints);
    }
    const char *name = luaL_checkstring(L, 2);
    int32_t index = joints ? stn_lua_find_joint(L, owner, w, robot, name) : stn_lua_find_link(L, owner, w, robot, name);
    stn_lua_object_new(L, -1, joints ? STN_LUA_JOINT : STN_LUA_LINK, index);
    return 1;
}

static int robot_parts(lua_State *L, bool joints) {
    const stn_lua_object *o = stn_lua_object_open(L, 1, STN_LUA_ROBOT);
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

static int robot_links(lua_State *L) {
    return robot_parts(L, false);
}

static int robot_joints(lua_State *L) {
    return robot_parts(L, true);
}

static int world_robot(lua_State *L) {
    const stn_lua_world *w = stn_lua_world_check(L, 1);
    const char *name = luaL_checkstring(L, 2);
    const char *names[NAMES_LISTED + 1] = {NULL};
    for (int32_t i = 0; i < count_robots(w); i++) {
        const char *own = stn_lua_robot_name(w, i);
        if (strcmp(own, name) == 0) {
            stn_lua_object_new(L, 1, STN_LUA_ROBOT, i);
            return 1;
        }
        names[i < NAMES_LISTED ? i : NAMES_LISTED - 1] = own;
    }
    stn_lua_unknown(L, "the world (robots)", name, names);
}

static int world_robots(lua_State *L) {
    const stn_lua_world *w = stn_lua_world_check(L, 1);
    int32_t count = count_robots(w);
    lua_createtable(L, count, 0);
    for (int32_t i = 0; i < count; i++) {
        stn_lua_object_new(L, 1, STN_LUA_ROBOT, i);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

const luaL_Reg stn_lua_name_methods[] = {
    {"link", find_link}, {"joint", find_joint}, {"links", robot_links}, {"joints", robot_joints}, {NULL, NULL},
};

const luaL_Reg stn_lua_world_name_methods[] = {
    {"link", find_link}, {"joint", find_joint}, {"robot", world_robot}, {"robots", world_robots}, {NULL, NULL},
};
