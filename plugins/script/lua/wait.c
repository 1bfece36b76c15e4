// SPDX-License-Identifier: Apache-2.0
// What tasks wait by: simulated time, conditions, other tasks. A wait is a function of Lua that yields and, when the
// task is asked again after a step, looks whether it is over; so errors and pcall work in it as anywhere.
#include <stdio.h>

#include "task.h"

/// Begins a wait of the task that asks, which it pushes.
static stn_lua_task *begin(lua_State *L, const char *what) {
    stn_lua_task *task = stn_lua_task_here(L, what);
    task->since = stn_lua_task_time(task);
    return task;
}

// --------------------------------------------------------------------------------------------------- time, conditions

/// 1 end of the wait [s].
static int wait_on(lua_State *L, int status, lua_KContext context) {
    lua_settop(L, 1);
    stn_lua_task *task = stn_lua_task_here(L, "stn.wait");
    if (status == LUA_YIELD && stn_lua_task_is_past(task, lua_tonumber(L, 1))) {
        return 0;
    }
    return stn_lua_task_yield(L, task, "stn.wait", context, wait_on);
}

/// stn.wait([seconds]): at least one step.
static int module_wait(lua_State *L) {
    lua_settop(L, 1);
    const stn_lua_task *task = begin(L, "stn.wait");
    double seconds = lua_isnil(L, 1) ? 0.0 : stn_lua_real(L, 1, "stn.wait: seconds", "s");
    if (!(seconds >= 0.0)) {
        stn_lua_fail(L, "stn.wait: seconds = %g s must be >= 0", seconds);
    }
    lua_pushnumber(L, task->since + seconds);
    lua_replace(L, 1);
    return wait_on(L, LUA_OK, 0);
}

/// 1 condition, 2 seconds or nil.
static int until_on(lua_State *L, int status, lua_KContext context) {
    (void)status;
    lua_settop(L, 2);
    stn_lua_task *task = stn_lua_task_here(L, "stn.wait_until");
    lua_pushvalue(L, 1);
    lua_call(L, 0, 1);
    if (lua_toboolean(L, -1) != 0) {
        return 1;
    }
    if (!lua_isnil(L, 2) && stn_lua_task_is_past(task, task->since + lua_tonumber(L, 2))) {
        char text[160];
        snprintf(text, sizeof text, "stn.wait_until: not true within %g s, from t = %.9g s to %.9g s",
                 lua_tonumber(L, 2), task->since, stn_lua_task_time(task));
        lua_pushboolean(L, 0);
        lua_pushstring(L, text);
        return 2;
    }
    return stn_lua_task_yield(L, task, "stn.wait_until", context, until_on);
}

/// stn.wait_until(condition [, timeout]): what the condition returned, or false and a text.
static int module_wait_until(lua_State *L) {
    lua_settop(L, 2);
    begin(L, "stn.wait_until");
    if (lua_type(L, 1) != LUA_TFUNCTION) {
        stn_lua_fail(L, "stn.wait_until: the condition must be a function that returns whether it holds, got %s",
                     luaL_typename(L, 1));
    }
    if (!lua_isnil(L, 2)) {
        double seconds = stn_lua_real(L, 2, "stn.wait_until: the timeout", "s");
        if (!(seconds >= 0.0)) {
            stn_lua_fail(L, "stn.wait_until: the timeout = %g s must be >= 0", seconds);
        }
    }
    return until_on(L, LUA_OK, 0);
}

// --------------------------------------------------------------------------------------------------------- other tasks

static stn_lua_task *task_at(lua_State *L, int list, lua_Integer i) {
    lua_rawgeti(L, list, i);
    return lua_touserdata(L, -1);
}

/// Pushes what the task at `index` returned, at most `most` values; raises what ended it otherwise.
static int push_result(lua_State *L, int index, int most, const char *owner) {
    const stn_lua_task *task = lua_touserdata(L, index);
    if (task->state == STN_TASK_WAITING) {
        stn_lua_fail(L, "%s: task '%s', begun at %s, has not ended; let it: %s", owner, task->name, task->started_at,
                     stn_lua_task_running(L) != NULL ? "task:wait()" : "make steps");
    }
    if (task->state == STN_TASK_CANCELLED) {
        stn_lua_fail(L, "%s: task '%s', begun at %s, was cancelled at %s", owner, task->name, task->started_at,
                     task->cancelled_at);
    }
    lua_getiuservalue(L, index, STN_TASK_RESULT);
    if (task->state == STN_TASK_FAILED) {
        lua_error(L);
    }
    int list = lua_gettop(L);
    lua_getfield(L, list, "n");
    int count = (int)lua_tointeger(L, -1);
    count = count < most ? count : most;
    luaL_checkstack(L, count + 1, NULL);
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, list, i);
    }
    return count;
}

static int task_result(lua_State *L) {
    luaL_checkudata(L, 1, STN_LUA_TASK);
    return push_result(L, 1, INT16_MAX, "task:result");
}

/// Yields for the tasks of the list at stack index 1. The task that waits is on top.
static int yield_for(lua_State *L, stn_lua_task *task, const char *what, lua_KFunction continuation) {
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, STN_TASK_AWAITED);
    task->on_tasks = true;
    lua_settop(L, 1);
    return stn_lua_task_yield(L, task, what, 0, continuation);
}

static void cancel_all(lua_State *L) {
    for (lua_Integer i = (lua_Integer)lua_rawlen(L, 1); i >= 1; i--) {
        task_at(L, 1, i);
        stn_lua_task_cancel(L, -1);
        lua_pop(L, 1);
    }
}

/// Raises what ended the task on top of the stack.
static void raise_end(lua_State *L, const char *owner) {
    char since[40];
    const stn_lua_task *self = stn_lua_task_running(L);
    snprintf(since, sizeof since, "%.9g", self != NULL ? self->since : 0.0);
    lua_pop(L, self != NULL ? 1 : 0);
    const stn_lua_task *task = lua_touserdata(L, -1);
    if (task->state == STN_TASK_FAILED) {
        lua_getiuservalue(L, -1, STN_TASK_RESULT);
        if (lua_type(L, -1) == LUA_TSTRING) {
            lua_pushfstring(L, "%s; awaited since t = %s s", lua_tostring(L, -1), since);
        }
        lua_error(L);
    }
    stn_lua_fail(L, "%s: task '%s', begun at %s, was cancelled at %s; awaited since t = %s s", owner, task->name,
                 task->started_at, task->cancelled_at, since);
}

/// The first task of the list at stack index 1 that has ended otherwise than by being done, pushed; or none.
static bool push_broken(lua_State *L) {
    for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, 1); i++) {
        const stn_lua_task *task = task_at(L, 1, i);
        if (task->state == STN_TASK_FAILED || task->state == STN_TASK_CANCELLED) {
            return true;
        }
        lua_pop(L, 1);
    }
    return false;
}

/// 1 list of one task.
static int await_on(lua_State *L, int status, lua_KContext context) {
    (void)status;
    (void)context;
    lua_settop(L, 1);
    const stn_lua_task *task = task_at(L, 1, 1);
    if (task->state == STN_TASK_WAITING) {
        char what[96];
        snprintf(what, sizeof what, "task '%s'", task->name);
        return yield_for(L, stn_lua_task_here(L, "task:wait"), what, await_on);
    }
    if (task->state != STN_TASK_DONE) {
        raise_end(L, "task:wait");
    }
    return push_result(L, 2, INT16_MAX, "task:wait");
}

/// task:wait(): what it returned, or its error.
static int task_wait(lua_State *L) {
    luaL_checkudata(L, 1, STN_LUA_TASK);
    lua_settop(L, 1);
    const stn_lua_task *self = begin(L, "task:wait");
    if (self == lua_touserdata(L, 1)) {
        stn_lua_fail(L, "task:wait: task '%s' would wait for itself", self->name);
    }
    lua_createtable(L, 1, 0);
    lua_pushvalue(L, 1);
    lua_rawseti(L, -2, 1);
    lua_replace(L, 1);
    return await_on(L, LUA_OK, 0);
}

/// Replaces the arguments, functions or tasks, by the list of tasks; functions become tasks that this one owns.
static void gather(lua_State *L, const char *owner) {
    int count = lua_gettop(L);
    stn_lua_task *self = begin(L, owner);
    int at = lua_gettop(L);
    if (count == 0) {
        stn_lua_fail(L, "%s takes functions or tasks", owner);
    }
    for (int i = 1; i <= count; i++) {
        bool task = luaL_testudata(L, i, STN_LUA_TASK) != NULL;
        if (!task && lua_type(L, i) != LUA_TFUNCTION) {
            stn_lua_fail(L, "%s takes functions or tasks, argument %d is a %s", owner, i, luaL_typename(L, i));
        }
        if (task && lua_touserdata(L, i) == self) {
            stn_lua_fail(L, "%s: task '%s' would wait for itself", owner, self->name);
        }
    }
    lua_createtable(L, count, 0);
    lua_getiuservalue(L, at, STN_TASK_WORLD);
    for (int i = 1; i <= count; i++) {
        if (lua_type(L, i) == LUA_TFUNCTION) {
            const char *name = lua_pushfstring(L, "%s/%d", self->name, i);
            lua_pushvalue(L, i);
            stn_lua_task_new(L, at + 2, name, -1, self);
            lua_pushvalue(L, at);
            lua_setiuservalue(L, -2, STN_TASK_OWNER);
        } else {
            lua_pushvalue(L, i);
        }
        lua_rawseti(L, at + 1, i);
        lua_settop(L, at + 2);
    }
    lua_settop(L, at + 1);
    lua_replace(L, 1);
    lua_settop(L, 1);
}

static int parallel_on(lua_State *L, int status, lua_KContext context) {
    (void)status;
    (void)context;
    lua_settop(L, 1);
    if (push_broken(L)) {
        cancel_all(L);
        raise_end(L, "stn.parallel");
    }
    lua_Integer count = (lua_Integer)lua_rawlen(L, 1);
    for (lua_Integer i = 1; i <= count; i++) {
        if (task_at(L, 1, i)->state == STN_TASK_WAITING) {
            return yield_for(L, stn_lua_task_here(L, "stn.parallel"), "stn.parallel", parallel_on);
        }
        lua_pop(L, 1);
    }
    luaL_checkstack(L, (int)count + 8, NULL);
    for (lua_Integer i = 1; i <= count; i++) {
        task_at(L, 1, i);
        int at = lua_gettop(L);
        if (push_result(L, at, 1, "stn.parallel") == 0) {
            lua_pushnil(L);
        }
        lua_replace(L, at);
        lua_settop(L, at);
    }
    return (int)count;
}

/// stn.parallel(function | task, ...): waits for all; the first result of each.
static int module_parallel(lua_State *L) {
    gather(L, "stn.parallel");
    return parallel_on(L, LUA_OK, 0);
}

static int race_on(lua_State *L, int status, lua_KContext context) {
    (void)status;
    (void)context;
    lua_settop(L, 1);
    for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, 1); i++) {
        const stn_lua_task *task = task_at(L, 1, i);
        if (task->state != STN_TASK_WAITING) {
            cancel_all(L);
            if (task->state != STN_TASK_DONE) {
                raise_end(L, "stn.race");
            }
            int count = push_result(L, 2, INT16_MAX, "stn.race");
            lua_pushinteger(L, i);
            lua_insert(L, -count - 1);
            return 1 + count;
        }
        lua_pop(L, 1);
    }
    return yield_for(L, stn_lua_task_here(L, "stn.race"), "stn.race", race_on);
}

/// stn.race(function | task, ...): waits for the first, cancels the others; its place among the arguments and what it
/// returned.
static int module_race(lua_State *L) {
    gather(L, "stn.race");
    return race_on(L, LUA_OK, 0);
}

const luaL_Reg stn_lua_wait_functions[] = {{"wait", module_wait},
                                           {"wait_until", module_wait_until},
                                           {"parallel", module_parallel},
                                           {"race", module_race},
                                           {NULL, NULL}};
const luaL_Reg stn_lua_wait_methods[] = {{"wait", task_wait}, {"result", task_result}, {NULL, NULL}};
