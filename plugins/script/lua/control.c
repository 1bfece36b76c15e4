// SPDX-License-Identifier: Apache-2.0
// What is given to a world before each of its steps: the references that a script sets on controllers, controllers
// that are written in Lua, and motions of kinematic bodies. And world:controller { "joint_pd", target = group, ... }.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bind.h"
#include "common/motion.h"

// ---------------------------------------------------------------------------------------------------------- references

/// Those of all constraints, of all elements and of all controllers are stacked in the state, channel by channel.
const double *stn_lua_channel(const stn_lua_world *w, int32_t controller, int32_t channel) {
    const double *reference = stn_world_state(w->world)->reference;
    const stn_model *model = stn_world_model(w->world);
    for (int32_t i = 0; i < model->constraint_count; i++) {
        const stn_constraint_ops *ops = model->constraints[i].instance->desc->ops.constraint;
        for (int32_t k = 0; k < ops->channel_count; k++) {
            reference += ops->channels[k].size;
        }
    }
    for (int32_t i = 0; i < model->element_group_count; i++) {
        const stn_element_ops *ops = model->element_groups[i].instance->desc->ops.element;
        for (int32_t k = 0; k < ops->channel_count; k++) {
            reference += ops->channels[k].size;
        }
    }
    for (int32_t c = 0; c <= controller; c++) {
        const stn_controller_ops *ops = stn_world_controller(w->world, c)->desc->ops.controller;
        int32_t end = c == controller ? channel : ops->channel_count;
        for (int32_t k = 0; k < end; k++) {
            reference += stn_channel_count(ops, k, stn_world_controller_target(w->world, c)->dof_count);
        }
    }
    return reference;
}

/// The vector of that name with so many values, 0: one for each velocity of the target; -1: none.
static int32_t find_channel(const stn_lua_world *w, int32_t controller, const char *name, int32_t size) {
    const stn_controller_ops *ops = stn_world_controller(w->world, controller)->desc->ops.controller;
    for (int32_t i = 0; i < ops->channel_count; i++) {
        if (ops->channels[i].size == size && stn_channel_rows(ops, i) == 1 &&
            strcmp(ops->channels[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

const double *stn_lua_scalar_reference(const stn_lua_world *w, int32_t controller, const char *channel) {
    int32_t index = find_channel(w, controller, channel, 1);
    return index >= 0 ? stn_lua_channel(w, controller, index) : NULL;
}

bool stn_lua_find_reference(const stn_lua_world *w, int32_t joint, const char *channel, int32_t *controller,
                            int32_t *at) {
    for (int32_t c = 0; c < stn_world_controller_count(w->world); c++) {
        const stn_control_target *target = stn_world_controller_target(w->world, c);
        bool takes = stn_world_controller_weight(w->world, c) > 0.0 && find_channel(w, c, channel, 0) >= 0;
        int32_t place = 0;
        for (int32_t i = 0; i < target->joint_count && takes; i++) {
            if (target->joint[i] == joint) {
                *controller = c;
                *at = place;
                return true;
            }
            place += target->model->joints[target->joint[i]].nv;
        }
    }
    return false;
}

bool stn_lua_takes_reference(const stn_lua_world *w, int32_t controller, const char *channel) {
    return find_channel(w, controller, channel, 0) >= 0;
}

const double *stn_lua_reference(const stn_lua_world *w, int32_t controller, const char *channel) {
    return stn_lua_channel(w, controller, find_channel(w, controller, channel, 0));
}

stn_status stn_lua_set_reference(const stn_lua_world *w, int32_t controller, const char *channel, int32_t at,
                                 double value, double *scratch, stn_error *err) {
    int32_t size = stn_world_controller_target(w->world, controller)->dof_count;
    memcpy(scratch, stn_lua_reference(w, controller, channel), sizeof(double) * (size_t)size);
    scratch[at] = value;
    return stn_world_set_reference(w->world, controller, channel, scratch, size, err);
}

/// A joint that mimics another is none of the controller's: naming its nearest neighbour would help nobody.
static void refuse_followers(lua_State *L, const char *what, const stn_control_target *target, const char *name) {
    const stn_model *model = target->model;
    for (int32_t j = 0; j < model->joint_count; j++) {
        const stn_joint *joint = &model->joints[j];
        bool mine = target->joint_count > 0 && joint->group == model->joints[target->joint[0]].group;
        if (mine && joint->mimic >= 0 && strcmp(joint->name, name) == 0) {
            stn_lua_fail(L, "%s: joint '%s' mimics '%s' and takes no value of its own: leave it out", what, name,
                         model->joints[joint->mimic].name);
        }
    }
}

/// Pushes all of its references as they are, a table of lists by channel.
static void push_references(lua_State *L, const stn_lua_world *w, int32_t controller) {
    const stn_controller_ops *ops = stn_world_controller(w->world, controller)->desc->ops.controller;
    const stn_control_target *target = stn_world_controller_target(w->world, controller);
    const double *values = stn_lua_channel(w, controller, 0);
    lua_createtable(L, 0, ops->channel_count);
    for (int32_t i = 0; i < ops->channel_count; i++) {
        int32_t size = stn_channel_count(ops, i, target->dof_count);
        stn_lua_push_reals(L, values, size);
        lua_setfield(L, -2, ops->channels[i].name);
        values += size;
    }
}

void stn_lua_read_reference(lua_State *L, const char *what, const stn_control_target *target,
                            const stn_channel *channel, double *values) {
    int32_t whole = channel->size > 0 ? channel->size : target->dof_count;
    if (lua_type(L, -1) != LUA_TTABLE && whole == 1) {
        values[0] = stn_lua_real(L, -1, what, channel->unit);
        return;
    }
    if (lua_type(L, -1) != LUA_TTABLE || lua_rawlen(L, -1) > 0 || channel->size > 0) {
        stn_lua_reals(L, -1, what, channel->unit, whole, values);
        return;
    }
    int table = lua_gettop(L);
    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "[...]";
        const char *names[257] = {NULL};
        int32_t at = 0, found = -1, size = 0;
        for (int32_t i = 0; i < target->joint_count; i++) {
            const stn_joint *joint = &target->model->joints[target->joint[i]];
            names[i < 256 ? i : 255] = joint->name;
            if (strcmp(joint->name, name) == 0) {
                found = at;
                size = joint->nv;
            }
            at += joint->nv;
        }
        if (found < 0) {
            refuse_followers(L, what, target, name);
            stn_lua_unknown(L, what, name, names);
        }
        char place[320];
        snprintf(place, sizeof place, "%s.%s", what, name);
        if (size == 1) {
            values[found] = stn_lua_real(L, -1, place, channel->unit);
        } else {
            stn_lua_reals(L, -1, place, channel->unit, size, &values[found]);
        }
    }
}

/// The value on top of the stack for one channel, set in the world: one vector, or a series of them, { vector, vector,
/// ... }, whose last one fills the rest. Joints that a vector does not name are as in the one before.
static void set_channel(lua_State *L, const stn_lua_world *w, int32_t controller, int32_t index, const char *owner) {
    const stn_instance *instance = stn_world_controller(w->world, controller);
    const stn_control_target *target = stn_world_controller_target(w->world, controller);
    const stn_channel *channel = &instance->desc->ops.controller->channels[index];
    int32_t size = stn_channel_count(instance->desc->ops.controller, index, target->dof_count);
    int32_t rows = stn_channel_rows(instance->desc->ops.controller, index);
    double *values = lua_newuserdatauv(L, sizeof(double) * (size_t)(size + 1), 0);
    const char *what = lua_pushfstring(L, "%s: %s", owner, channel->name);
    lua_rotate(L, -3, 2);
    memcpy(values, stn_lua_channel(w, controller, index), sizeof(double) * (size_t)size);
    if (rows == 1) {
        stn_lua_read_reference(L, what, target, channel, values);
    } else {
        int32_t width = size / rows;
        lua_Integer given = lua_type(L, -1) == LUA_TTABLE ? (lua_Integer)lua_rawlen(L, -1) : 0;
        if (given < 1 || given > rows) {
            stn_lua_fail(L, "%s must be a list of 1 to %d %s [%s], got %s of %d", what, rows,
                         width == 1 ? "numbers" : "lists", channel->unit, luaL_typename(L, -1), (int)given);
        }
        for (int32_t row = 0; row < rows; row++) {
            double *vector = values + (size_t)row * (size_t)width;
            if (row > 0) {
                memcpy(vector, vector - width, sizeof(double) * (size_t)width);
            }
            if (row < given) {
                char place[160];
                snprintf(place, sizeof place, "%s[%d]", what, row + 1);
                lua_rawgeti(L, -1, row + 1);
                stn_lua_read_reference(L, place, target, channel, vector);
                lua_pop(L, 1);
            }
        }
    }
    stn_error err = {0};
    stn_lua_check(L, stn_world_set_reference(w->world, controller, channel->name, values, size, &err), &err);
    lua_rotate(L, -3, 1);
    lua_pop(L, 2);
}

/// The table at stack index `table`, { position = {...}, velocity = ... }.
static void set_channels(lua_State *L, int table, const stn_lua_world *w, int32_t controller, const char *owner) {
    const stn_controller_ops *ops = stn_world_controller(w->world, controller)->desc->ops.controller;
    const char *names[65] = {NULL};
    for (int32_t i = 0; i < ops->channel_count && i < 64; i++) {
        names[i] = ops->channels[i].name;
    }
    stn_fields f = stn_fields_open(L, table, owner, names, 0);
    for (int32_t i = 0; i < ops->channel_count; i++) {
        if (stn_fields_push(&f, ops->channels[i].name)) {
            set_channel(L, w, controller, i, owner);
            lua_pop(L, 1);
        }
    }
}

/// controller:set { position = {...}, velocity = ... }.
static int controller_set(lua_State *L) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_CONTROLLER);
    const stn_control_target *target = stn_world_controller_target(o->world->world, o->index);
    const char *owner = lua_pushfstring(L, "controller:set of group '%s'", stn_lua_group_name(o->world, target->group));
    set_channels(L, 2, o->world, o->index, owner);
    return 0;
}

/// The names of the joints it drives, in the order of its references.
static int controller_joints(lua_State *L) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_CONTROLLER);
    const stn_control_target *target = stn_world_controller_target(o->world->world, o->index);
    lua_createtable(L, target->joint_count, 0);
    for (int32_t i = 0; i < target->joint_count; i++) {
        lua_pushstring(L, target->model->joints[target->joint[i]].name);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static int set_active(lua_State *L, const char *what, bool active) {
    static const char *const keys[] = {"blend", NULL};
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_CONTROLLER);
    double blend = 0.0;
    if (!lua_isnoneornil(L, 2)) {
        stn_fields f = stn_fields_open(L, 2, what, keys, 0);
        stn_fields_at_least(&f, "blend", "s", 0.0, &blend);
    }
    stn_error err = {0};
    stn_lua_check(L, stn_world_activate_controller(o->world->world, o->index, active, blend, &err), &err);
    return 0;
}

/// controller:activate { blend = 0.2 }, controller:deactivate(): what it does is ramped up or down.
static int controller_activate(lua_State *L) {
    return set_active(L, "controller:activate", true);
}

static int controller_deactivate(lua_State *L) {
    return set_active(L, "controller:deactivate", false);
}

/// The share of its efforts that acts now, but for controllers of a higher priority.
static int controller_weight(lua_State *L) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_CONTROLLER);
    lua_pushnumber(L, stn_world_controller_weight(o->world->world, o->index));
    return 1;
}

static int controller_text(lua_State *L) {
    const stn_lua_object *o = luaL_checkudata(L, 1, STN_LUA_CONTROLLER);
    lua_pushfstring(L, "controller %s",
                    o->world->world != NULL ? stn_world_controller(o->world->world, o->index)->desc->id : "");
    return 1;
}

// -------------------------------------------------------------------------------------------- functions of controllers

// Controllers written in Lua: world:controller { "lua", update = f, rate = 100 }. Before a step, f gets a table of the
// present state and returns references of its controller. The functions of a world are a list in its user value 8, of
// { controller =, update =, rate =, where = "file:line" }. What they return is an input of the step: recordings are
// played again without them. When one is due follows from the time alone, so that restored worlds go on alike.

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
    const stn_state *state = stn_world_state(w->world);
    lua_getfield(L, entry, "where");
    const char *owner =
        lua_pushfstring(L, "controller %s of %s (%s) at t = %f s", stn_world_controller(w->world, controller)->desc->id,
                        stn_lua_group_name(w, target->group), lua_tostring(L, -1), (lua_Number)state->time);
    lua_getfield(L, entry, "update");
    // it sees numbers of its own, copied
    lua_createtable(L, 0, 6);
    stn_lua_set_number(L, "time", state->time);
    stn_lua_set_number(L, "period", fmax(stn_world_dt(w->world), 1.0 / rate));
    stn_lua_set_number(L, "weight", stn_world_controller_weight(w->world, controller));
    push_joints(L, target, true, state->q);
    lua_setfield(L, -2, "position");
    push_joints(L, target, false, state->v);
    lua_setfield(L, -2, "velocity");
    push_references(L, w, controller);
    lua_setfield(L, -2, "reference");
    if (stn_lua_world_ask(L, w, 1, 1, "the update of a controller") != LUA_OK) {
        if (lua_type(L, -1) == LUA_TSTRING) {
            lua_pushfstring(L, "%s; in the update of %s", lua_tostring(L, -1), owner);
        }
        lua_error(L);
    }
    if (w->world == NULL) {
        stn_lua_fail(L, "the update of a controller closed its world");
    }
    if (!lua_isnil(L, -1)) {
        // a table by channel; a list or a number is for the first one
        if (lua_type(L, -1) == LUA_TNUMBER || (lua_type(L, -1) == LUA_TTABLE && lua_rawlen(L, -1) > 0)) {
            set_channel(L, w, controller, 0, owner);
        } else {
            set_channels(L, lua_gettop(L), w, controller, owner);
        }
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

/// The list that is user value `which` of one world, copied to another one.
static void copy_list(lua_State *L, int from, int to, int which) {
    lua_newtable(L);
    lua_getiuservalue(L, from, which);
    lua_Integer count = (lua_Integer)lua_rawlen(L, -1);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, -1, i);
        lua_rawseti(L, -3, i);
    }
    lua_pop(L, 1);
    lua_setiuservalue(L, to, which);
}

void stn_lua_updates_copy(lua_State *L, int from, int to) {
    copy_list(L, from, to, UPDATES);
}

/// Checks the keys update and rate; 0: there is no function, else its rate [Hz], infinite: every step.
static double read_update(const stn_fields *f, bool required) {
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

// --------------------------------------------------------------------------------------------------------- controllers

static int ascending(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/// Joints named under `joints`, in the group's order, in memory on Lua's stack; the count is 0 when the key is absent.
static const int32_t *read_joint_names(const stn_fields *f, const stn_lua_world *w, int32_t group, int32_t *count) {
    lua_State *L = f->L;
    *count = 0;
    if (!stn_fields_push(f, "joints")) {
        return NULL;
    }
    int list = lua_gettop(L);
    size_t length = lua_type(L, list) == LUA_TTABLE ? lua_rawlen(L, list) : 0;
    if (length == 0) {
        stn_lua_fail(L, "world:controller: joints must be a list of joint names");
    }
    int32_t *joints = lua_newuserdatauv(L, length * sizeof *joints, 0);
    for (size_t i = 0; i < length; i++) {
        if (lua_rawgeti(L, list, (lua_Integer)i + 1) != LUA_TSTRING) {
            stn_lua_fail(L, "world:controller: joints[%zu] must be a joint's name", i + 1);
        }
        const char *name = lua_tostring(L, -1);
        joints[i] = stn_lua_find_joint(L, "world:controller: joints", w, group, name);
        lua_pop(L, 1);
    }
    qsort(joints, length, sizeof *joints, ascending);
    *count = (int32_t)length;
    return joints;
}

static int controller_new(lua_State *L) {
    static const char *const own[] = {"target", "joints", "priority", "active", "update", "rate", NULL};
    stn_lua_world *w = stn_lua_world_check(L, 1);
    stn_fields f = stn_fields_open(L, 2, "world:controller", NULL, 1);
    lua_getfield(L, 2, "target");
    stn_lua_object *target = stn_lua_object_test(L, -1, STN_LUA_GROUP);
    if (target == NULL || target->world != w) {
        stn_lua_fail(L, "world:controller: target must be a group of this world, got %s", luaL_typename(L, -1));
    }
    stn_lua_world_complete(L, 1, w);
    if (w->begun) {
        stn_lua_fail(L, "world:controller: add controllers before the first step");
    }
    int32_t count = 0, controller = -1;
    const int32_t *joints = read_joint_names(&f, w, target->index, &count);
    stn_plugin_choice choice = stn_lua_plugin(L, 2, STN_KIND_CONTROLLER, "world:controller", own);
    bool updates = strcmp(choice.id, "lua") == 0; // "effort" takes efforts as they are, and a function gives them
    choice.id = updates ? "effort" : choice.id;
    double rate = read_update(&f, updates);
    stn_instance *instance = NULL;
    stn_error err = {0};
    stn_lua_check(L,
                  stn_instance_create(w->session->context, STN_KIND_CONTROLLER, choice.id, choice.settings,
                                      choice.setting_count, &instance, &err),
                  &err);
    stn_lua_check(L, stn_world_add_controller(w->world, instance, target->index, joints, count, &controller, &err),
                  &err);
    lua_Integer priority = 0;
    bool active = true;
    stn_fields_integer(&f, "priority", -1000, 1000, &priority);
    stn_fields_boolean(&f, "active", &active);
    stn_lua_check(L, stn_world_set_controller(w->world, controller, (int32_t)priority, active, &err), &err);
    if (rate > 0.0) {
        lua_getiuservalue(L, 1, UPDATES);
        lua_createtable(L, 0, 4);
        lua_pushinteger(L, controller);
        lua_setfield(L, -2, "controller");
        stn_lua_set_number(L, "rate", rate);
        stn_lua_position(L);
        lua_setfield(L, -2, "where");
        lua_getfield(L, 2, "update");
        lua_setfield(L, -2, "update");
        lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
        lua_pop(L, 1);
    }
    stn_lua_object_new(L, 1, STN_LUA_CONTROLLER, controller);
    return 1;
}

const luaL_Reg stn_lua_control_methods[] = {{"controller", controller_new}, {NULL, NULL}};

void stn_lua_open_control(lua_State *L) {
    static const luaL_Reg methods[] = {{"set", controller_set},           {"joints", controller_joints},
                                       {"activate", controller_activate}, {"deactivate", controller_deactivate},
                                       {"weight", controller_weight},     {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__tostring", controller_text}, {NULL, NULL}};
    stn_lua_class(L, STN_LUA_CONTROLLER, methods, meta, NULL, NULL);
}

// --------------------------------------------------------------------------------------------------- kinematic motions

// Kinematic bodies: group:kinematic(function or samples). The motions of a world are a list in its user value 5, in
// the order of the calls, of { group =, motion = function or samples, where = "file:line" }. They are asked once a
// step, on the thread that steps, and what they answer is an input of the step: recordings are played again without
// them.

#define SAMPLES "stiction.samples"
/// What a motion answers for one time.
typedef struct place {
    stn_pose pose;
    stn_vec3 linear, angular;
    bool has_velocity;
} place;

// ------------------------------------------------------------------------------------------------------------ samples

/// Length of the list under `key`, which is left on the stack; 0 and nothing pushed when there is none.
static int32_t open_list(const stn_fields *f, const char *key) {
    if (!stn_fields_push(f, key)) {
        return 0;
    }
    size_t count = lua_type(f->L, -1) == LUA_TTABLE ? lua_rawlen(f->L, -1) : 0;
    if (count == 0 || count > 10000000) {
        stn_lua_fail(f->L, "%s: %s must be a list with one entry for each sample", f->owner, key);
    }
    return (int32_t)count;
}

static void check_length(const stn_fields *f, const char *key, int32_t count, int32_t wanted) {
    if (count != wanted) {
        stn_lua_fail(f->L, "%s: there are %d times, but %d %s", f->owner, (int)wanted, (int)count, key);
    }
}

/// Text "group:kinematic: poses[3]", pushed.
static const char *name_entry(lua_State *L, const stn_fields *f, const char *key, int32_t i) {
    return lua_pushfstring(L, "%s: %s[%d]", f->owner, key, (int)i + 1);
}

/// false: none are given.
static bool read_velocities(const stn_fields *f, int32_t count, stn_spatial *velocities) {
    int32_t given = open_list(f, "velocities");
    if (given == 0) {
        return false;
    }
    check_length(f, "velocities", given, count);
    for (int32_t i = 0; i < count; i++) {
        lua_rawgeti(f->L, -1, i + 1);
        const char *what = name_entry(f->L, f, "velocities", i);
        stn_lua_velocity(f->L, -2, what, &velocities[i].linear, &velocities[i].angular);
        lua_pop(f->L, 2);
    }
    lua_pop(f->L, 1);
    return true;
}

/// Pushes a userdata that holds the samples of the table at `index`.
static void push_samples(lua_State *L, int index, const char *owner) {
    static const char *const keys[] = {"times", "poses", "velocities", "periodic", NULL};
    stn_fields f = stn_fields_open(L, index, owner, keys, 0);
    int32_t count = open_list(&f, "times");
    if (count == 0) {
        stn_lua_fail(L, "%s: times is missing; give times = {...} in s and poses = {...}, or a function of time",
                     owner);
    }
    lua_pop(L, 1);
    size_t n = (size_t)count, each = sizeof(double) + sizeof(stn_pose) + sizeof(stn_spatial);
    stn_motion *motion = lua_newuserdatauv(L, sizeof *motion + n * each, 0);
    stn_pose *poses = (stn_pose *)(motion + 1);
    stn_spatial *velocities = (stn_spatial *)(poses + n);
    double *times = (double *)(velocities + n);
    *motion = (stn_motion){.count = count, .time = times, .pose = poses};
    stn_fields_reals(&f, "times", "s", count, times);
    check_length(&f, "poses", open_list(&f, "poses"), count);
    for (int32_t i = 0; i < count; i++) {
        lua_rawgeti(L, -1, i + 1);
        stn_lua_pose(L, -2, name_entry(L, &f, "poses", i), &poses[i]);
        lua_pop(L, 2);
    }
    lua_pop(L, 1);
    motion->velocity = read_velocities(&f, count, velocities) ? velocities : NULL;
    stn_fields_boolean(&f, "periodic", &motion->periodic);
    stn_error err = {0};
    if (stn_motion_check(motion, &err) < 0) {
        stn_lua_fail(L, "%s: %s", owner, err.text);
    }
    luaL_setmetatable(L, SAMPLES);
}

// --------------------------------------------------------------------------------------------------------- evaluation

/// Asks the motion in the table at stack index `entry`.
static place evaluate(lua_State *L, int entry, stn_lua_world *w, double time) {
    place out = {.linear = stn_vec3_zero(), .angular = stn_vec3_zero()};
    int top = lua_gettop(L);
    lua_getfield(L, entry, "motion");
    const stn_motion *samples = luaL_testudata(L, -1, SAMPLES);
    if (samples != NULL) {
        stn_spatial velocity;
        stn_motion_at(samples, time, &out.pose, &velocity);
        out.linear = velocity.linear;
        out.angular = velocity.angular;
        out.has_velocity = true;
    } else {
        lua_getfield(L, entry, "where");
        const char *owner =
            lua_pushfstring(L, "kinematic motion (%s) at t = %f s", lua_tostring(L, -1), (lua_Number)time);
        lua_getfield(L, entry, "motion");
        lua_pushnumber(L, time);
        if (stn_lua_world_ask(L, w, 1, 2, "a kinematic motion") != LUA_OK) {
            lua_error(L);
        }
        if (lua_type(L, -2) != LUA_TTABLE) {
            stn_lua_fail(L, "%s: the function must return a pose and perhaps a velocity, not %s", owner,
                         luaL_typename(L, -2));
        }
        const char *of_pose = lua_pushfstring(L, "%s: the pose", owner);
        stn_lua_pose(L, -3, of_pose, &out.pose);
        out.has_velocity = !lua_isnil(L, -2);
        if (out.has_velocity) {
            const char *of_velocity = lua_pushfstring(L, "%s: the velocity", owner);
            stn_lua_velocity(L, -3, of_velocity, &out.linear, &out.angular);
        }
    }
    lua_settop(L, top);
    return out;
}

/// Each motion of the world at `index` at a time, in order; `use` does with it what is wanted.
static void for_each(lua_State *L, int index, stn_lua_world *w, double time,
                     stn_status (*use)(stn_world *world, int32_t body, const place *at, stn_error *err)) {
    if (lua_getiuservalue(L, index, STN_LUA_MOTIONS) != LUA_TTABLE) {
        lua_pop(L, 1);
        return;
    }
    int list = lua_gettop(L);
    lua_Integer count = (lua_Integer)lua_rawlen(L, list);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, list, i);
        lua_getfield(L, -1, "group");
        int32_t group = (int32_t)lua_tointeger(L, -1);
        place at = evaluate(L, list + 1, w, time);
        stn_error err = {0};
        if (w->world == NULL) {
            stn_lua_fail(L, "the motion of a kinematic body closed its world");
        }
        const stn_model *model = stn_world_model(w->world);
        stn_lua_check(L, use(w->world, model->links[model->groups[group].root_link].body, &at, &err), &err);
        lua_settop(L, list);
    }
    lua_pop(L, 1);
}

static stn_status put(stn_world *world, int32_t body, const place *at, stn_error *err) {
    stn_status status = stn_world_set_body_pose(world, body, &at->pose, err);
    return status == STN_OK ? stn_world_set_body_velocity(world, body, at->linear, at->angular, err) : status;
}

static stn_status tell(stn_world *world, int32_t body, const place *at, stn_error *err) {
    return stn_world_set_kinematic(world, body, &at->pose, at->has_velocity ? &at->linear : NULL,
                                   at->has_velocity ? &at->angular : NULL, err);
}

void stn_lua_motions_start(lua_State *L, int index, stn_lua_world *w) {
    for_each(L, index, w, stn_world_state(w->world)->time, put);
}

void stn_lua_motions_step(lua_State *L, int index, stn_lua_world *w) {
    for_each(L, index, w, stn_world_state(w->world)->time + stn_world_dt(w->world), tell);
}

void stn_lua_motions_copy(lua_State *L, int from, int to) {
    copy_list(L, from, to, STN_LUA_MOTIONS);
}

bool stn_lua_runs_functions(lua_State *L, int index) {
    lua_getiuservalue(L, index, UPDATES);
    lua_getiuservalue(L, index, STN_LUA_MOTIONS);
    const bool any = lua_rawlen(L, -1) + lua_rawlen(L, -2) > 0;
    lua_pop(L, 2);
    return any;
}

// --------------------------------------------------------------------------------------------------- kinematic bodies

/// group:kinematic(function(t) return pose, velocity end) or group:kinematic { times =, poses =, ... }.
int stn_lua_group_kinematic(lua_State *L) {
    static const char owner[] = "group:kinematic";
    stn_lua_object *o = stn_lua_object_open(L, 1, STN_LUA_GROUP);
    lua_settop(L, 2);
    bool function = lua_type(L, 2) == LUA_TFUNCTION;
    if (!function && lua_type(L, 2) != LUA_TTABLE) {
        stn_lua_fail(
            L,
            "%s takes a function of time that returns a pose and a velocity, or { times = ..., poses = ... }, not %s",
            owner, luaL_typename(L, 2));
    }
    lua_getiuservalue(L, 1, 1);
    lua_createtable(L, 0, 3);
    lua_pushinteger(L, o->index);
    lua_setfield(L, 4, "group");
    stn_lua_position(L);
    lua_setfield(L, 4, "where");
    if (function) {
        lua_pushvalue(L, 2);
    } else {
        push_samples(L, 2, owner);
    }
    lua_setfield(L, 4, "motion");
    stn_error err = {0};
    if (!o->world->compiled) {
        place start = evaluate(L, 4, o->world, 0.0);
        stn_model_builder *builder = stn_lua_world_builder(L, o->world, owner);
        stn_lua_check(L, stn_builder_make_kinematic(builder, o->index, &err), &err);
        stn_lua_check(L, stn_builder_set_base(builder, o->index, &start.pose, true, &err), &err);
    } else {
        const stn_model *model = stn_world_model(o->world->world);
        int32_t joint = model->bodies[model->links[model->groups[o->index].root_link].body].joint;
        if (joint < 0 || model->joints[joint].type != STN_JOINT_KINEMATIC) {
            stn_lua_fail(
                L, "%s: the world was completed at %s; make '%s' kinematic before that, then other motions may follow",
                owner, o->world->compiled_at, stn_lua_group_name(o->world, o->index));
        }
    }
    // in place of the group's earlier one
    lua_getiuservalue(L, 3, STN_LUA_MOTIONS);
    int list = lua_gettop(L);
    lua_Integer count = (lua_Integer)lua_rawlen(L, list), at = count + 1;
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, list, i);
        lua_getfield(L, -1, "group");
        at = lua_tointeger(L, -1) == o->index ? i : at;
        lua_pop(L, 2);
    }
    lua_pushvalue(L, 4);
    lua_rawseti(L, list, at);
    return 0;
}

void stn_lua_open_motion(lua_State *L) {
    luaL_newmetatable(L, SAMPLES);
    lua_pop(L, 1);
}
