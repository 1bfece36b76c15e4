// SPDX-License-Identifier: Apache-2.0
// Joints: position, velocity, effort, limits.
#include <math.h>
#include <string.h>

#include "lua/bind.h"

static const stn_joint *joint_of(const stn_lua_object *o) {
    return &stn_world_model(o->world->world)->joints[o->index];
}

static void push_values(lua_State *L, const double *values, int32_t count) {
    if (count == 1) {
        lua_pushnumber(L, values[0]);
    } else {
        stn_lua_push_reals(L, values, count);
    }
}

/// A number, or a list when the joint has several coordinates.
static void read_values(lua_State *L, int index, const char *what, const char *unit, int32_t count, double *values) {
    if (count == 1) {
        values[0] = stn_lua_real(L, index, what, unit);
    } else {
        stn_lua_reals(L, index, what, unit, count, values);
    }
}

static int joint_position(lua_State *L) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_JOINT);
    push_values(L, &stn_world_state(o->world->world)->q[joint_of(o)->q_start], joint_of(o)->nq);
    return 1;
}

static int joint_velocity(lua_State *L) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_JOINT);
    push_values(L, &stn_world_state(o->world->world)->v[joint_of(o)->v_start], joint_of(o)->nv);
    return 1;
}

static int joint_set_position(lua_State *L) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_JOINT);
    const stn_joint *joint = joint_of(o);
    size_t nq = (size_t)stn_world_model(o->world->world)->nq;
    double *q = lua_newuserdatauv(L, sizeof(double) * (nq + 1), 0);
    memcpy(q, stn_world_state(o->world->world)->q, sizeof(double) * nq);
    read_values(L, 2, "set_position", stn_joint_type_units(joint->type)->position, joint->nq, &q[joint->q_start]);
    stn_error err = {0};
    stn_lua_check(L, stn_world_set_q(o->world->world, q, &err), &err);
    o->world->touched = true;
    return 0;
}

static int joint_set_velocity(lua_State *L) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_JOINT);
    const stn_joint *joint = joint_of(o);
    size_t nv = (size_t)stn_world_model(o->world->world)->nv;
    double *v = lua_newuserdatauv(L, sizeof(double) * (nv + 1), 0);
    memcpy(v, stn_world_state(o->world->world)->v, sizeof(double) * nv);
    read_values(L, 2, "set_velocity", stn_joint_type_units(joint->type)->velocity, joint->nv, &v[joint->v_start]);
    stn_error err = {0};
    stn_lua_check(L, stn_world_set_v(o->world->world, v, &err), &err);
    o->world->touched = true;
    return 0;
}

static int joint_set_effort(lua_State *L) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_JOINT);
    const stn_joint *joint = joint_of(o);
    double effort[8] = {0.0};
    read_values(L, 2, "set_effort", stn_joint_type_units(joint->type)->effort, joint->nv, effort);
    stn_error err = {0};
    for (int32_t i = 0; i < joint->nv; i++) {
        stn_lua_check(L, stn_world_set_effort(o->world->world, joint->v_start + i, effort[i], &err), &err);
    }
    return 0;
}

static int joint_limits(lua_State *L) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_JOINT);
    const stn_joint *joint = joint_of(o);
    const struct {
        const char *name;
        double value;
    } limits[] = {
        {"lower", joint->lower}, {"upper", joint->upper}, {"effort", joint->effort}, {"velocity", joint->velocity}};
    lua_createtable(L, 0, STN_COUNT(limits));
    for (int32_t i = 0; i < STN_COUNT(limits); i++) {
        lua_pushnumber(L, limits[i].value);
        lua_setfield(L, -2, limits[i].name);
    }
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
        {"set_position", joint_set_position},
        {"set_velocity", joint_set_velocity},
        {"set_effort", joint_set_effort},
        {"limits", joint_limits},
        {NULL, NULL},
    };
    static const luaL_Reg meta[] = {{"__tostring", joint_text}, {NULL, NULL}};
    stn_lua_class(L, STN_LUA_JOINT, methods, meta, get_joint, joint_properties);
}
