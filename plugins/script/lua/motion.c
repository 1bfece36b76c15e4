// SPDX-License-Identifier: Apache-2.0
// Kinematic bodies: group:kinematic(function or samples). The motions of a world are a list in its user value 5, in
// the order of the calls, of { group =, motion = function or samples, where = "file:line" }. They are asked once a
// step, on the thread that steps, and what they answer is an input of the step: recordings are played again without
// them.
#include "bind.h"

#define SAMPLES "stiction.samples"
enum { MOTIONS = 5 }; // user value of a world

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
    if (lua_getiuservalue(L, index, MOTIONS) != LUA_TTABLE) {
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
    lua_newtable(L);
    lua_getiuservalue(L, from, MOTIONS);
    lua_Integer count = (lua_Integer)lua_rawlen(L, -1);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, -1, i);
        lua_rawseti(L, -3, i);
    }
    lua_pop(L, 1);
    lua_setiuservalue(L, to, MOTIONS);
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
    lua_getiuservalue(L, 3, MOTIONS);
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
