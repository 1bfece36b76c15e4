// SPDX-License-Identifier: Apache-2.0
// Robots (a single body is a robot of one link) and links: poses, velocities, coordinates, forces.
#include <string.h>

#include "bind.h"

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

static const stn_model *model_of(const stn_lua_object *o) {
    return stn_world_model(o->world->world);
}

static const stn_robot *robot_of(const stn_lua_object *o) {
    return &model_of(o)->robots[o->index];
}

// ------------------------------------------------------------------------------------------- links: where, how fast

stn_pose stn_lua_link_pose(stn_lua_world *w, int32_t link) {
    const stn_link *l = &stn_world_model(w->world)->links[link];
    return stn_pose_mul(&stn_world_kinematics(w->world)->body_pose[l->body], &l->pose);
}

static void link_velocity(stn_lua_world *w, int32_t link, stn_vec3 *linear, stn_vec3 *angular) {
    const stn_link *l = &stn_world_model(w->world)->links[link];
    stn_pose pose = stn_lua_link_pose(w, link);
    const stn_kinematics *k = stn_world_kinematics(w->world);
    *linear = stn_point_velocity(k, l->body, pose.position);
    *angular = k->body_velocity[l->body].angular;
}

/// The link that argument 1 means: a link, or the root link of a robot.
static stn_lua_object *check_place(lua_State *L, int32_t *link) {
    bool is_link = luaL_testudata(L, 1, STN_LUA_LINK) != NULL;
    stn_lua_object *o = stn_lua_object_check(L, 1, is_link ? STN_LUA_LINK : STN_LUA_ROBOT);
    *link = is_link ? o->index : robot_of(o)->root_link;
    return o;
}

static int place_pose(lua_State *L) {
    int32_t link = 0;
    stn_lua_object *o = check_place(L, &link);
    stn_pose pose = stn_lua_link_pose(o->world, link);
    stn_lua_push_pose(L, &pose);
    return 1;
}

static int place_position(lua_State *L) {
    int32_t link = 0;
    stn_lua_object *o = check_place(L, &link);
    stn_lua_push_vector(L, stn_lua_link_pose(o->world, link).position);
    return 1;
}

static int place_velocity(lua_State *L) {
    int32_t link = 0;
    stn_lua_object *o = check_place(L, &link);
    stn_vec3 linear, angular;
    link_velocity(o->world, link, &linear, &angular);
    stn_lua_push_velocity(L, linear, angular);
    return 1;
}

static int place_speed(lua_State *L) {
    int32_t link = 0;
    stn_lua_object *o = check_place(L, &link);
    stn_vec3 linear, angular;
    link_velocity(o->world, link, &linear, &angular);
    lua_pushnumber(L, stn_vec3_norm(linear));
    return 1;
}

static int place_apply_force(lua_State *L) {
    static const char *const keys[] = {"force", "torque", "point", NULL};
    int32_t link = 0;
    stn_lua_object *o = check_place(L, &link);
    stn_fields f = stn_fields_open(L, 2, "apply_force", keys, 0);
    stn_vec3 force = stn_vec3_zero(), torque = stn_vec3_zero();
    int32_t body = model_of(o)->links[link].body;
    if (body == 0) {
        stn_lua_fail(L, "apply_force: link '%s' is fixed to the world, so that no force moves it",
                     model_of(o)->links[link].name);
    }
    const stn_pose *pose = &stn_world_kinematics(o->world->world)->body_pose[body];
    stn_vec3 point = stn_pose_apply(pose, model_of(o)->bodies[body].mass.com);
    stn_fields_vector(&f, "force", "N", &force);
    stn_fields_vector(&f, "torque", "N m", &torque);
    stn_fields_vector(&f, "point", "m", &point);
    stn_error err = {0};
    stn_lua_check(L, stn_world_set_wrench(o->world->world, body, force, torque, point, &err), &err);
    return 0;
}

static int place_jacobian(lua_State *L) {
    int32_t link = 0;
    stn_lua_object *o = check_place(L, &link);
    return stn_lua_place_jacobian(L, o->world, link);
}

/// Of all collision shapes of a link, or of all links of a robot.
static int place_set_surface_velocity(lua_State *L) {
    bool is_link = luaL_testudata(L, 1, STN_LUA_LINK) != NULL;
    stn_lua_object *o = stn_lua_object_check(L, 1, is_link ? STN_LUA_LINK : STN_LUA_ROBOT);
    const stn_model *model = model_of(o);
    stn_vec3 velocity = stn_lua_vector(L, 2, "set_surface_velocity", "m/s");
    for (int32_t g = 0; g < model->geometry_count; g++) {
        int32_t link = model->geometries[g].link;
        bool its = link >= 0 && (is_link ? link == o->index : model->links[link].robot == o->index);
        stn_error err = {0};
        if (its && model->geometries[g].collision) {
            stn_lua_check(L, stn_world_set_surface_velocity(o->world->world, g, velocity, &err), &err);
        }
    }
    return 0;
}

// -------------------------------------------------------------------------------------------------------- robots

/// The body of a robot's root link, which moves; raises for what is welded to the world.
static int32_t moving_root(lua_State *L, const stn_lua_object *o, const char *what) {
    int32_t body = model_of(o)->links[robot_of(o)->root_link].body;
    if (body == 0) {
        stn_lua_fail(
            L, "%s: '%s' is fixed to the world; what is to be moved is described without fixed = true, or prescribed",
            what, robot_of(o)->name);
    }
    return body;
}

static int robot_set_pose(lua_State *L) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_ROBOT);
    stn_pose pose;
    stn_lua_pose(L, 2, "set_pose", &pose);
    stn_error err = {0};
    int32_t body = moving_root(L, o, "set_pose");
    stn_lua_check(L, stn_world_set_body_pose(o->world->world, body, &pose, &err), &err);
    stn_lua_touched(o->world);
    return 0;
}

static int robot_set_velocity(lua_State *L) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_ROBOT);
    stn_vec3 linear, angular;
    stn_lua_velocity(L, 2, "set_velocity", &linear, &angular);
    stn_error err = {0};
    int32_t body = moving_root(L, o, "set_velocity");
    stn_lua_check(L, stn_world_set_body_velocity(o->world->world, body, linear, angular, &err), &err);
    stn_lua_touched(o->world);
    return 0;
}

/// Raises when the description gives the robot a velocity at the start.
static void refuse_velocity(lua_State *L, int32_t robot) {
    lua_getiuservalue(L, 1, 1);
    lua_getiuservalue(L, -1, 1);
    int list = lua_gettop(L);
    lua_Integer count = (lua_Integer)lua_rawlen(L, list);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, list, i);
        lua_getfield(L, -1, "robot");
        bool moves = lua_tointeger(L, -1) == robot && lua_getfield(L, -2, "velocity") != LUA_TNIL;
        if (moves) {
            stn_lua_fail(L, "robot:attach: the attached body has a start velocity of its own; it moves with the link");
        }
        lua_settop(L, list);
    }
    lua_pop(L, 2);
}

/// arm:attach(hand, "flange", pose): welds the hand's root to the link.
static int robot_attach(lua_State *L) {
    static const char owner[] = "robot:attach";
    lua_settop(L, 4);
    stn_lua_object *o = stn_lua_object_open(L, 1, STN_LUA_ROBOT);
    stn_model_builder *builder = stn_lua_world_builder(L, o->world, owner);
    const stn_lua_object *hand = stn_lua_object_test(L, 2, STN_LUA_ROBOT);
    if (hand == NULL || lua_type(L, 3) != LUA_TSTRING) {
        stn_lua_fail(
            L,
            "%s takes a robot, the name of a link and perhaps a pose, as in arm:attach(hand, \"flange\"), got %s, %s",
            owner, luaL_typename(L, 2), luaL_typename(L, 3));
    }
    if (hand->world != o->world) {
        stn_lua_fail(L, "%s: the robots belong to different worlds", owner);
    }
    if (hand->index == o->index) {
        stn_lua_fail(L, "%s: robot '%s' cannot be attached to itself", owner, stn_lua_robot_name(o->world, o->index));
    }
    int32_t link = stn_lua_find_link(L, owner, o->world, o->index, lua_tostring(L, 3));
    stn_pose pose = stn_pose_identity();
    if (!lua_isnil(L, 4)) {
        stn_lua_pose(L, 4, "robot:attach: pose", &pose);
    }
    refuse_velocity(L, hand->index);
    stn_error err = {0};
    stn_lua_check(L, stn_builder_attach(builder, hand->index, link, &pose, &err), &err);
    return 0;
}

static int robot_mass(lua_State *L) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_ROBOT);
    const stn_robot *r = robot_of(o);
    double mass = 0.0;
    for (int32_t i = 0; i < r->link_count; i++) {
        mass += model_of(o)->links[r->link_start + i].mass.mass;
    }
    lua_pushnumber(L, mass);
    return 1;
}

// --------------------------------------------------------------------------------------------------------- links

static const stn_link *link_of(const stn_lua_object *o) {
    return &model_of(o)->links[o->index];
}

static int link_mass(lua_State *L) {
    lua_pushnumber(L, link_of(stn_lua_object_check(L, 1, STN_LUA_LINK))->mass.mass);
    return 1;
}

/// Pushes the object with this index, nil for a negative one; argument 1 is an object of the same world.
static int push_relative(lua_State *L, const char *type, int32_t index) {
    if (index < 0) {
        lua_pushnil(L);
        return 1;
    }
    lua_getiuservalue(L, 1, 1);
    stn_lua_object_new(L, -1, type, index);
    return 1;
}

/// The link that it hangs on, also by a fixed joint; nil for a root.
static int link_parent(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_LINK);
    return push_relative(L, STN_LUA_LINK, link_of(o)->parent);
}

/// The moving joint right above it; nil when it is welded to its parent.
static int link_joint(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_LINK);
    return push_relative(L, STN_LUA_JOINT, link_of(o)->joint);
}

static int link_robot(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_LINK);
    return push_relative(L, STN_LUA_ROBOT, link_of(o)->robot);
}

// -------------------------------------------------------------------------------------------- properties and classes

static const char *const place_properties[] = {"name", NULL};

/// The name needs no complete world: robots and links keep their numbers.
static bool get_name(lua_State *L, void *self, const char *name) {
    (void)self;
    if (strcmp(name, "name") != 0) {
        return false;
    }
    const stn_lua_object *robot = stn_lua_object_test(L, 1, STN_LUA_ROBOT);
    const stn_lua_object *link = stn_lua_object_test(L, 1, STN_LUA_LINK);
    lua_pushstring(L, robot != NULL ? stn_lua_robot_name(robot->world, robot->index)
                                    : stn_lua_link_name(link->world, link->index));
    return true;
}

static int place_text(lua_State *L) {
    bool is_link = luaL_testudata(L, 1, STN_LUA_LINK) != NULL;
    const stn_lua_object *o = luaL_checkudata(L, 1, is_link ? STN_LUA_LINK : STN_LUA_ROBOT);
    if (o->world->world == NULL) {
        lua_pushfstring(L, "%s of a closed world", is_link ? "link" : "robot");
    } else {
        lua_pushfstring(L, "%s '%s'", is_link ? "link" : "robot",
                        is_link ? stn_lua_link_name(o->world, o->index) : stn_lua_robot_name(o->world, o->index));
    }
    return 1;
}

int stn_lua_object_equal(lua_State *L) {
    static const char *const types[] = {STN_LUA_ROBOT, STN_LUA_LINK, STN_LUA_JOINT, STN_LUA_CONSTRAINT};
    bool equal = false;
    for (int i = 0; i < STN_COUNT(types); i++) {
        const stn_lua_object *a = luaL_testudata(L, 1, types[i]), *b = luaL_testudata(L, 2, types[i]);
        equal = equal || (a != NULL && b != NULL && a->world == b->world && a->index == b->index);
    }
    lua_pushboolean(L, equal);
    return 1;
}

void stn_lua_open_robot(lua_State *L) {
    static const luaL_Reg place[] = {
        {"pose", place_pose},
        {"position", place_position},
        {"velocity", place_velocity},
        {"speed", place_speed},
        {"apply_force", place_apply_force},
        {"set_surface_velocity", place_set_surface_velocity},
        {"jacobian", place_jacobian},
        {NULL, NULL},
    };
    static const luaL_Reg robot[] = {{"set_pose", robot_set_pose}, {"set_velocity", robot_set_velocity},
                                     {"attach", robot_attach},     {"prescribe", stn_lua_robot_prescribe},
                                     {"mass", robot_mass},         {NULL, NULL}};
    static const luaL_Reg link[] = {
        {"mass", link_mass}, {"parent", link_parent}, {"joint", link_joint}, {"robot", link_robot}, {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__tostring", place_text}, {"__eq", stn_lua_object_equal}, {NULL, NULL}};
    stn_lua_class(L, STN_LUA_ROBOT, place, meta, get_name, place_properties);
    stn_lua_class(L, STN_LUA_LINK, place, meta, get_name, place_properties);
    stn_lua_extend(L, STN_LUA_ROBOT, robot);
    stn_lua_extend(L, STN_LUA_ROBOT, stn_lua_name_methods);
    stn_lua_extend(L, STN_LUA_ROBOT, stn_lua_coordinate_methods);
    stn_lua_extend(L, STN_LUA_ROBOT, stn_lua_finding_methods);
    stn_lua_extend(L, STN_LUA_ROBOT, stn_lua_dynamics_methods);
    stn_lua_extend(L, STN_LUA_ROBOT, stn_lua_inverse_methods);
    stn_lua_extend(L, STN_LUA_ROBOT, stn_lua_move_methods);
    stn_lua_extend(L, STN_LUA_ROBOT, stn_lua_grip_methods);
    stn_lua_extend(L, STN_LUA_ROBOT, stn_lua_path_methods);
    stn_lua_extend(L, STN_LUA_LINK, link);
}
