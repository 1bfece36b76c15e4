// SPDX-License-Identifier: Apache-2.0
// Controllers written in Lua: world:controller { "lua", update = f, rate = 100 }. Before a step, f gets a table of the
// present state and returns references of its controller. The functions of a world are a list in its user value 8, of
// { controller =, update =, rate =, where = "file:line" }. What they return is an input of the step: recordings are
// played again without them. When one is due follows from the time alone, so that restored worlds go on alike.
#include <math.h>

#include "bind.h"

enum { UPDATES = 8 }; // user value of a world

/// Is an instant k/rate in (time - dt, time]? Half a millionth of a step forgives the rounding of a sum of many dt.
static bool is_due(const stn_lua_world *w, double rate) {
    const stn_state *state = stn_world_state(w->world);
    if (isinf(rate)) {
        return true;
    }
    double turns = (state->time + 5e-7 * stn_world_dt(w->world)) * rate;
    return state->step == 0 || floor(turns) > floor(turns - stn_world_dt(w->world) * rate);
}

/// Pushes a list of what each joint of a controller has in `values`, by coordinates or by velocities.
static void push_joints(lua_State *L, const stn_control_target *target, bool coordinates, const double *values) {
    lua_createtable(L, target->dof_count, 0);
    lua_Integer place = 0;
    for (int32_t i = 0; i < target->joint_count; i++) {
        const stn_joint *joint = &target->model->joints[target->joint[i]];
        const double *own = values + (coordinates ? joint->q_start : joint->v_start);
        for (int32_t k = 0; k < (coordinates ? joint->nq : joint->nv); k++) {
            lua_pushnumber(L, own[k]);
            lua_rawseti(L, -2, ++place);
        }
    }
}

/// Pushes what an update sees: numbers of its own, copied.
static void push_view(lua_State *L, const stn_lua_world *w, int32_t controller, double rate) {
    const stn_state *state = stn_world_state(w->world);
    const stn_control_target *target = stn_world_controller_target(w->world, controller);
    double dt = stn_world_dt(w->world);
    lua_createtable(L, 0, 6);
    stn_lua_set_number(L, "time", state->time);
    stn_lua_set_number(L, "period", fmax(dt, 1.0 / rate));
    stn_lua_set_number(L, "weight", stn_world_controller_weight(w->world, controller));
    push_joints(L, target, true, state->q);
    lua_setfield(L, -2, "position");
    push_joints(L, target, false, state->v);
    lua_setfield(L, -2, "velocity");
    stn_lua_push_references(L, w, controller);
    lua_setfield(L, -2, "reference");
}

/// The error at the stack's top, with whose it is behind its place and text.
static int fail_update(lua_State *L, const char *owner) {
    if (lua_type(L, -1) == LUA_TSTRING) {
        lua_pushfstring(L, "%s; in the update of %s", lua_tostring(L, -1), owner);
    }
    return lua_error(L);
}

/// Asks the entry at the stack's top.
static void update(lua_State *L, stn_lua_world *w) {
    int entry = lua_gettop(L);
    lua_getfield(L, entry, "rate");
    double rate = lua_tonumber(L, -1);
    if (!is_due(w, rate)) {
        return;
    }
    lua_getfield(L, entry, "controller");
    int32_t controller = (int32_t)lua_tointeger(L, -1);
    const stn_control_target *target = stn_world_controller_target(w->world, controller);
    lua_getfield(L, entry, "where");
    const char *owner = lua_pushfstring(
        L, "controller %s of %s (%s) at t = %f s", stn_world_controller(w->world, controller)->desc->id,
        stn_lua_robot_name(w, target->robot), lua_tostring(L, -1), (lua_Number)stn_world_state(w->world)->time);
    lua_getfield(L, entry, "update");
    push_view(L, w, controller, rate);
    if (stn_lua_world_ask(L, w, 1, 1, "the update of a controller") != LUA_OK) {
        fail_update(L, owner);
    }
    if (w->world == NULL) {
        stn_lua_fail(L, "the update of a controller closed its world");
    }
    if (!lua_isnil(L, -1)) {
        stn_lua_set_references(L, w, controller, owner);
    }
}

void stn_lua_updates_step(lua_State *L, int index, stn_lua_world *w) {
    lua_getiuservalue(L, index, UPDATES);
    int list = lua_gettop(L);
    lua_Integer count = (lua_Integer)lua_rawlen(L, list);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, list, i);
        update(L, w);
        lua_settop(L, list);
    }
    lua_pop(L, 1);
}

void stn_lua_updates_copy(lua_State *L, int from, int to) {
    lua_newtable(L);
    lua_getiuservalue(L, from, UPDATES);
    lua_Integer count = (lua_Integer)lua_rawlen(L, -1);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, -1, i);
        lua_rawseti(L, -3, i);
    }
    lua_pop(L, 1);
    lua_setiuservalue(L, to, UPDATES);
}

double stn_fields_update(const stn_fields *f, bool required) {
    lua_State *L = f->L;
    double rate = INFINITY;
    bool timed = stn_fields_above_zero(f, "rate", "Hz", &rate);
    int type = lua_getfield(L, f->table, "update");
    lua_pop(L, 1);
    if (type != LUA_TFUNCTION && (type != LUA_TNIL || required)) {
        stn_lua_fail(L, "%s: update must be a function of the state that returns references, got %s", f->owner,
                     lua_typename(L, type));
    }
    if (timed && type == LUA_TNIL) {
        stn_lua_fail(L, "%s: rate is that of update, which is missing", f->owner);
    }
    return type == LUA_TNIL ? 0.0 : rate;
}

void stn_lua_updates_add(lua_State *L, int index, int table, int32_t controller, double rate) {
    lua_getiuservalue(L, index, UPDATES);
    lua_createtable(L, 0, 4);
    lua_pushinteger(L, controller);
    lua_setfield(L, -2, "controller");
    stn_lua_set_number(L, "rate", rate);
    stn_lua_position(L);
    lua_setfield(L, -2, "where");
    lua_getfield(L, table, "update");
    lua_setfield(L, -2, "update");
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    lua_pop(L, 1);
}
