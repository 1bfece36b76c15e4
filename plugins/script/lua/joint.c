// SPDX-License-Identifier: Apache-2.0
// Joints: position, velocity, effort, limits, what they join.
#include <string.h>

#include "bind.h"

static const stn_joint *joint_of(const stn_lua_object *o) {
    return &stn_world_model(o->world->world)->joints[o->index];
}

static int joint_position(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_JOINT);
    stn_lua_push_joint(L, joint_of(o), STN_LUA_POSITION, stn_world_state(o->world->world)->q);
    return 1;
}

static int joint_velocity(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_JOINT);
    stn_lua_push_joint(L, joint_of(o), STN_LUA_VELOCITY, stn_world_state(o->world->world)->v);
    return 1;
}

/// What set_effort gave; controllers come on top.
static int joint_effort(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_JOINT);
    stn_lua_push_joint(L, joint_of(o), STN_LUA_EFFORT, stn_world_state(o->world->world)->effort);
    return 1;
}

/// Sets argument 2; joints that mimic this one follow.
static int set_value(lua_State *L, const char *what, stn_lua_quantity quantity) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_JOINT);
    double *values = stn_lua_copy_coordinates(L, o->world, quantity);
    stn_lua_read_joint(L, 2, what, joint_of(o), quantity, values);
    stn_lua_follow(stn_world_model(o->world->world), o->index, quantity, values);
    stn_lua_set_coordinates(L, o->world, quantity, values);
    return 0;
}

static int joint_set_position(lua_State *L) {
    return set_value(L, "set_position", STN_LUA_POSITION);
}

static int joint_set_velocity(lua_State *L) {
    return set_value(L, "set_velocity", STN_LUA_VELOCITY);
}

static int joint_set_effort(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_JOINT);
    const stn_joint *joint = joint_of(o);
    double *efforts = stn_lua_copy_coordinates(L, o->world, STN_LUA_VELOCITY);
    stn_lua_read_joint(L, 2, "set_effort", joint, STN_LUA_EFFORT, efforts);
    stn_error err = {0};
    for (int32_t i = joint->v_start; i < joint->v_start + joint->nv; i++) {
        stn_lua_check(L, stn_world_set_effort(o->world->world, i, efforts[i], &err), &err);
    }
    return 0;
}

/// Pushes { name = value, ... }.
static int push_numbers(lua_State *L, const char *const *names, const double *values, int32_t count) {
    lua_createtable(L, 0, count);
    for (int32_t i = 0; i < count; i++) {
        lua_pushnumber(L, values[i]);
        lua_setfield(L, -2, names[i]);
    }
    return 1;
}

static int joint_limits(lua_State *L) {
    static const char *const names[] = {"lower", "upper", "effort", "velocity", "acceleration"};
    const stn_joint *j = joint_of(stn_lua_object_check(L, 1, STN_LUA_JOINT));
    const double values[] = {j->lower, j->upper, j->effort, j->velocity, j->acceleration};
    return push_numbers(L, names, values, STN_COUNT(values));
}

static int joint_dynamics(lua_State *L) {
    static const char *const names[] = {"damping", "friction", "reflected_inertia", "stiffness",
                                        "rest",    "servo_kp", "servo_kd"};
    const stn_joint *j = joint_of(stn_lua_object_check(L, 1, STN_LUA_JOINT));
    const double values[] = {j->damping, j->friction, j->reflected_inertia, j->stiffness,
                             j->rest,    j->servo_kp, j->servo_kd};
    return push_numbers(L, names, values, STN_COUNT(values));
}

/// Unit vector in the joint frame.
static int joint_axis(lua_State *L) {
    stn_lua_push_vector(L, joint_of(stn_lua_object_check(L, 1, STN_LUA_JOINT))->axis);
    return 1;
}

/// { joint =, multiplier =, offset = }, nil when it follows none.
static int joint_mimic(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_JOINT);
    const stn_joint *joint = joint_of(o);
    static const char *const names[] = {"multiplier", "offset"};
    const double values[] = {joint->mimic_multiplier, joint->mimic_offset};
    if (joint->mimic < 0) {
        lua_pushnil(L);
        return 1;
    }
    push_numbers(L, names, values, STN_COUNT(values));
    lua_getiuservalue(L, 1, 1);
    stn_lua_object_new(L, -1, STN_LUA_JOINT, joint->mimic);
    lua_setfield(L, -3, "joint");
    lua_pop(L, 1);
    return 1;
}

/// The link right below the joint: the first of the body that it carries.
static int32_t child_link(const stn_lua_object *o) {
    const stn_model *model = stn_world_model(o->world->world);
    const stn_joint *joint = joint_of(o);
    const stn_robot *robot = &model->robots[joint->robot];
    for (int32_t i = robot->link_start; i < robot->link_start + robot->link_count; i++) {
        const stn_link *link = &model->links[i];
        if (link->joint == o->index && (link->joint_name == NULL || strcmp(link->joint_name, joint->name) == 0)) {
            return i;
        }
    }
    return robot->root_link;
}

static int push_link(lua_State *L, int32_t link) {
    lua_getiuservalue(L, 1, 1);
    stn_lua_object_new(L, -1, STN_LUA_LINK, link);
    return 1;
}

static int joint_child(lua_State *L) {
    return push_link(L, child_link(stn_lua_object_check(L, 1, STN_LUA_JOINT)));
}

/// nil when it hangs on the world.
static int joint_parent(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_JOINT);
    int32_t parent = stn_world_model(o->world->world)->links[child_link(o)].parent;
    if (parent < 0) {
        lua_pushnil(L);
        return 1;
    }
    return push_link(L, parent);
}

static int joint_robot(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_JOINT);
    lua_getiuservalue(L, 1, 1);
    stn_lua_object_new(L, -1, STN_LUA_ROBOT, joint_of(o)->robot);
    return 1;
}

static const char *const joint_properties[] = {"name", "type", NULL};

static bool get_joint(lua_State *L, void *self, const char *name) {
    const stn_lua_object *o = self;
    bool is_name = strcmp(name, "name") == 0;
    if (!is_name && strcmp(name, "type") != 0) {
        return false;
    }
    stn_lua_object_check(L, 1, STN_LUA_JOINT);
    lua_pushstring(L, is_name ? joint_of(o)->name : stn_joint_type_name(joint_of(o)->type));
    return true;
}

static int joint_text(lua_State *L) {
    const stn_lua_object *o = luaL_checkudata(L, 1, STN_LUA_JOINT);
    lua_pushfstring(L, "joint '%s'", o->world->world != NULL ? joint_of(o)->name : "of a closed world");
    return 1;
}

void stn_lua_open_joint(lua_State *L) {
    static const luaL_Reg methods[] = {
        {"position", joint_position},
        {"velocity", joint_velocity},
        {"effort", joint_effort},
        {"set_position", joint_set_position},
        {"set_velocity", joint_set_velocity},
        {"set_effort", joint_set_effort},
        {"limits", joint_limits},
        {"dynamics", joint_dynamics},
        {"axis", joint_axis},
        {"mimic", joint_mimic},
        {"parent", joint_parent},
        {"child", joint_child},
        {"robot", joint_robot},
        {NULL, NULL},
    };
    static const luaL_Reg meta[] = {{"__tostring", joint_text}, {"__eq", stn_lua_object_equal}, {NULL, NULL}};
    stn_lua_class(L, STN_LUA_JOINT, methods, meta, get_joint, joint_properties);
}
