// SPDX-License-Identifier: Apache-2.0
// Tasks of a world: its live tasks are a list in its user value 7, in the order in which they were made. After every
// step each is asked once, in this order, on the thread that steps; those that wait for tasks again as long as tasks
// end. New ones begin before the next step.
#include <stdio.h>
#include <string.h>

#include "bind.h"

enum { TASKS = 7 }; // user value of a world

static const char tasks_key = 't'; // its address is the registry key of { thread = task }, with weak keys

double stn_lua_task_time(const stn_lua_task *task) {
    return stn_world_state(task->world->world)->time;
}

bool stn_lua_task_is_past(const stn_lua_task *task, double time) {
    return stn_lua_task_time(task) >= time - 5e-7 * stn_world_dt(task->world->world);
}

/// Copies "file:line" of the script.
static void note_place(lua_State *L, char *place, size_t size) {
    stn_lua_position(L);
    snprintf(place, size, "%s", lua_tostring(L, -1));
    lua_pop(L, 1);
}

// --------------------------------------------------------------------------------------------------- making, finding

static void push_threads(lua_State *L) {
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &tasks_key) == LUA_TTABLE) {
        return;
    }
    lua_pop(L, 1);
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "k");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &tasks_key);
}

stn_lua_task *stn_lua_task_new(lua_State *L, int world_index, const char *name, int index, stn_lua_task *owner) {
    int world = lua_absindex(L, world_index), function = lua_absindex(L, index);
    int arguments = lua_gettop(L) - function;
    stn_lua_world *w = stn_lua_world_check(L, world);
    stn_lua_task *task = lua_newuserdatauv(L, sizeof *task, STN_TASK_VALUES);
    *task = (stn_lua_task){.world = w, .owner = owner, .arguments = arguments};
    luaL_setmetatable(L, STN_LUA_TASK);
    lua_pushvalue(L, world);
    lua_setiuservalue(L, -2, STN_TASK_WORLD);
    task->thread = lua_newthread(L);
    push_threads(L);
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -4);
    lua_rawset(L, -3);
    lua_pop(L, 1);
    lua_setiuservalue(L, -2, STN_TASK_THREAD);
    if (name != NULL) {
        snprintf(task->name, sizeof task->name, "%s", name);
    } else {
        snprintf(task->name, sizeof task->name, "%lld", (long long)++w->task_names);
    }
    note_place(L, task->started_at, sizeof task->started_at);
    task->started = task->since = w->compiled ? stn_lua_task_time(task) : 0.0;
    lua_getiuservalue(L, world, TASKS);
    lua_pushvalue(L, -2);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    lua_pop(L, 1);
    lua_insert(L, function);
    lua_xmove(L, task->thread, arguments + 1);
    return task;
}

stn_lua_task *stn_lua_task_running(lua_State *L) {
    push_threads(L);
    lua_pushthread(L);
    lua_rawget(L, -2);
    lua_remove(L, -2);
    stn_lua_task *task = lua_touserdata(L, -1);
    if (task == NULL || !task->running) {
        lua_pop(L, 1);
        return NULL;
    }
    return task;
}

stn_lua_task *stn_lua_task_here(lua_State *L, const char *what) {
    stn_lua_task *task = stn_lua_task_running(L);
    if (task == NULL) {
        stn_lua_fail(L,
                     "%s: only a task can wait: call it inside of stn.task(function() ... end), not in a coroutine of "
                     "the script's own nor while a cancelled task is cleaned up",
                     what);
    }
    if (!lua_isyieldable(L)) {
        stn_lua_fail(L,
                     "%s: task '%s' cannot wait here, inside of a condition or a function that Lua's libraries call "
                     "(table.sort, string.gsub, ...)",
                     what, task->name);
    }
    return task;
}

int stn_lua_task_yield(lua_State *L, stn_lua_task *task, const char *what, lua_KContext context,
                       lua_KFunction continuation) {
    snprintf(task->what, sizeof task->what, "%s", what);
    note_place(L, task->waits_at, sizeof task->waits_at);
    return lua_yieldk(L, 0, context, continuation);
}

// ------------------------------------------------------------------------------------------------------------- ending

/// Pushes "a.lua:41 < a.lua:60": the script's lines that are under way in a task, the innermost first.
static void push_chain(lua_State *L, lua_State *thread) {
    luaL_Buffer text;
    lua_Debug frame;
    luaL_buffinit(L, &text);
    int count = 0;
    for (int level = 0; count < 8 && lua_getstack(thread, level, &frame) != 0; level++) {
        lua_getinfo(thread, "Sl", &frame);
        if (frame.currentline > 0) {
            char place[LUA_IDSIZE + 24];
            snprintf(place, sizeof place, "%s%s:%d", count++ > 0 ? " < " : "", frame.short_src, frame.currentline);
            luaL_addstring(&text, place);
        }
    }
    luaL_pushresult(&text);
}

/// Pushes the world's list.
static int push_list(lua_State *L, int world_index) {
    lua_getiuservalue(L, world_index, TASKS);
    return lua_gettop(L);
}

/// Does a task of the list wait for the one at stack index `at`?
static bool is_awaited(lua_State *L, int list, int at) {
    bool found = false;
    int top = lua_gettop(L);
    for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, list) && !found; i++) {
        lua_rawgeti(L, list, i);
        const stn_lua_task *task = lua_touserdata(L, -1);
        bool waits = task->state == STN_TASK_WAITING && task->on_tasks;
        if (waits && lua_getiuservalue(L, -1, STN_TASK_AWAITED) == LUA_TTABLE) {
            for (lua_Integer k = 1; k <= (lua_Integer)lua_rawlen(L, top + 2) && !found; k++) {
                lua_rawgeti(L, top + 2, k);
                found = lua_rawequal(L, -1, at) != 0;
                lua_pop(L, 1);
            }
        }
        lua_settop(L, top);
    }
    return found;
}

void stn_lua_task_cancel(lua_State *L, int index) {
    int at = lua_absindex(L, index), top = lua_gettop(L);
    stn_lua_task *task = lua_touserdata(L, at);
    if (task->state != STN_TASK_WAITING) {
        return;
    }
    luaL_checkstack(L, 16, NULL);
    // it cannot end itself, nor what waits for it: their code is under way
    const stn_lua_task *self = stn_lua_task_running(L);
    for (const stn_lua_task *t = self; t != NULL; t = t->owner) {
        if (t == task) {
            stn_lua_fail(L, "task:cancel: task '%s' is %s: return from its function, or raise an error", task->name,
                         t == self ? "the one that asks" : "what waits for the one that asks");
        }
    }
    lua_pop(L, self != NULL ? 1 : 0);
    task->state = STN_TASK_CANCELLED;
    note_place(L, task->cancelled_at, sizeof task->cancelled_at);
    lua_getiuservalue(L, at, STN_TASK_WORLD);
    int list = push_list(L, top + 1);
    for (lua_Integer i = (lua_Integer)lua_rawlen(L, list); i >= 1; i--) {
        lua_rawgeti(L, list, i);
        const stn_lua_task *made = lua_touserdata(L, -1);
        if (made->owner == task) {
            stn_lua_task_cancel(L, -1);
        }
        lua_settop(L, list);
    }
    if (lua_resetthread(task->thread) != LUA_OK) {
        lua_xmove(task->thread, L, 1);
        stn_lua_fail(L, "%s; in the clean-up of task '%s', begun at %s", luaL_tolstring(L, -1, NULL), task->name,
                     task->started_at);
    }
    lua_settop(L, top);
}

// ------------------------------------------------------------------------------------------------------------ running

/// Runs the task at the stack's top until it waits again or has ended.
static void resume(lua_State *L, stn_lua_task *task) {
    int at = lua_gettop(L), results = 0, arguments = task->begun ? 0 : task->arguments;
    task->begun = task->running = true;
    task->on_tasks = false;
    snprintf(task->what, sizeof task->what, "coroutine.yield");
    int status = stn_lua_resume(L, task->thread, arguments, &results);
    task->running = false;
    if (status == LUA_YIELD) {
        lua_pop(task->thread, results);
    } else if (status == LUA_OK) {
        luaL_checkstack(L, results + 4, NULL);
        lua_createtable(L, results, 1);
        int list = lua_gettop(L);
        lua_xmove(task->thread, L, results);
        for (int i = results; i >= 1; i--) {
            lua_rawseti(L, list, i);
        }
        lua_pushinteger(L, results);
        lua_setfield(L, list, "n");
        lua_setiuservalue(L, at, STN_TASK_RESULT);
        task->state = STN_TASK_DONE;
    } else {
        // its text, with the way to it, is left behind
        lua_State *thread = task->thread;
        push_chain(L, thread);
        bool text = lua_type(thread, -1) == LUA_TSTRING;
        if (text && !stn_lua_has_place(lua_tostring(thread, -1))) {
            stn_lua_where(thread);
            lua_insert(thread, -2);
            lua_concat(thread, 2);
        }
        task->state = STN_TASK_FAILED;
        lua_resetthread(thread); // its to-be-closed variables; what one of them raises comes in place of the error
        if (lua_type(thread, -1) == LUA_TSTRING) {
            char started[32];
            snprintf(started, sizeof started, "%.9g", task->started);
            lua_pushfstring(L, "%s; in task '%s' (%s, begun at %s, t = %s s)", lua_tostring(thread, -1), task->name,
                            lua_tostring(L, -1), task->started_at, started);
        } else {
            lua_xmove(thread, L, 1);
        }
        lua_setiuservalue(L, at, STN_TASK_RESULT);
        lua_pop(L, 1);
    }
    lua_settop(L, at);
}

/// Asks the tasks of the list in order, those that are `due`; false: one that nobody waits for failed, its error is
/// pushed.
static bool ask_all(lua_State *L, int list, bool stepped) {
    bool again = true;
    for (int round = 0; again; round++) {
        again = false;
        for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, list); i++) { // it grows meanwhile
            lua_rawgeti(L, list, i);
            stn_lua_task *task = lua_touserdata(L, -1);
            bool due = !task->begun || (round == 0 ? stepped : task->on_tasks);
            if (task->state == STN_TASK_WAITING && due) {
                resume(L, task);
                again = again || task->state != STN_TASK_WAITING;
                if (task->state == STN_TASK_FAILED && !is_awaited(L, list, lua_gettop(L))) {
                    lua_getiuservalue(L, -1, STN_TASK_RESULT);
                    return false;
                }
            }
            lua_settop(L, list);
        }
    }
    return true;
}

void stn_lua_tasks_advance(lua_State *L, int index, stn_lua_world *w, bool stepped) {
    luaL_checkstack(L, 24, NULL);
    int list = push_list(L, index);
    if (lua_rawlen(L, list) > 0) {
        w->runs_tasks = true;
        bool well = ask_all(L, list, stepped);
        w->runs_tasks = false;
        // those that have ended are dropped
        lua_Integer count = (lua_Integer)lua_rawlen(L, list), kept = 0;
        for (lua_Integer i = 1; i <= count; i++) {
            lua_rawgeti(L, list, i);
            const stn_lua_task *task = lua_touserdata(L, -1);
            if (task->state == STN_TASK_WAITING) {
                lua_rawseti(L, list, ++kept);
            } else {
                lua_pop(L, 1);
            }
        }
        for (lua_Integer i = kept + 1; i <= count; i++) {
            lua_pushnil(L);
            lua_rawseti(L, list, i);
        }
        if (!well) {
            lua_error(L);
        }
    }
    lua_pop(L, 1);
}

void stn_lua_tasks_refuse(lua_State *L, int index, const char *what, const char *why) {
    int list = push_list(L, index);
    for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, list); i++) {
        lua_rawgeti(L, list, i);
        const stn_lua_task *task = lua_touserdata(L, -1);
        lua_pop(L, 1);
        if (task->state == STN_TASK_WAITING) {
            stn_lua_fail(L, "%s: task '%s', begun at %s, is under way, and %s; let it end, or cancel it", what,
                         task->name, task->started_at, why);
        }
    }
    lua_pop(L, 1);
}

void stn_lua_tasks_end(lua_State *L, int index) {
    int list = push_list(L, index);
    for (lua_Integer ended = 0, count; (count = (lua_Integer)lua_rawlen(L, list)) > ended; ended = count) {
        for (lua_Integer i = count; i > ended; i--) { // whose clean-up may make others
            lua_rawgeti(L, list, i);
            stn_lua_task_cancel(L, -1);
            lua_settop(L, list);
        }
    }
    lua_pop(L, 1);
}

// ------------------------------------------------------------------------------------------- the task in Lua's hand

/// Reads ([name,] function, ...) from `first` on.
static int make(lua_State *L, int world_index, int first, const char *owner) {
    const char *name = lua_type(L, first) == LUA_TSTRING ? lua_tostring(L, first) : NULL;
    int function = name != NULL ? first + 1 : first;
    if (lua_type(L, function) != LUA_TFUNCTION) {
        stn_lua_fail(L, "%s takes a name, if it is to have one, and a function, as in %s(\"pick\", function() ... end)",
                     owner, owner);
    }
    stn_lua_task_new(L, world_index, name, function, NULL);
    return 1;
}

static int world_task(lua_State *L) {
    stn_lua_world_check(L, 1);
    return make(L, 1, 2, "world:task");
}

/// Pushes the world of the task that asks, else the only one that is open.
static void push_world(lua_State *L) {
    if (stn_lua_task_running(L) != NULL) {
        lua_getiuservalue(L, -1, STN_TASK_WORLD);
        lua_remove(L, -2);
        return;
    }
    int count = stn_lua_push_open_world(L);
    if (count > 1) { // worlds that nobody holds any more may wait for the collector
        lua_pop(L, 1);
        lua_gc(L, LUA_GCCOLLECT, 0);
        count = stn_lua_push_open_world(L);
    }
    if (count != 1) {
        stn_lua_fail(L, count == 0 ? "stn.task: there is no world whose steps could drive it; make one first"
                                   : "stn.task: there are several worlds; say whose steps drive it: world:task(...)");
    }
}

static int module_task(lua_State *L) {
    push_world(L);
    lua_insert(L, 1);
    return make(L, 1, 2, "stn.task");
}

/// world:tasks(): those under way, in the order of making.
static int world_tasks(lua_State *L) {
    stn_lua_world_check(L, 1);
    int list = push_list(L, 1);
    lua_newtable(L);
    for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, list); i++) {
        lua_rawgeti(L, list, i);
        const stn_lua_task *task = lua_touserdata(L, -1);
        if (task->state == STN_TASK_WAITING) {
            lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
        } else {
            lua_pop(L, 1);
        }
    }
    return 1;
}

static stn_lua_task *check_task(lua_State *L) {
    return stn_lua_self(L, 1, STN_LUA_TASK);
}

static int task_cancel(lua_State *L) {
    check_task(L);
    stn_lua_task_cancel(L, 1);
    return 0;
}

static int task_done(lua_State *L) {
    lua_pushboolean(L, check_task(L)->state != STN_TASK_WAITING);
    return 1;
}

static const char *state_word(const stn_lua_task *task) {
    static const char *const words[] = {"waiting", "done", "failed", "cancelled"};
    return task->running ? "running" : words[task->state];
}

static const char *const task_properties[] = {"name", "state", NULL};

static bool get_task(lua_State *L, void *self, const char *name) {
    const stn_lua_task *task = self;
    bool named = strcmp(name, "name") == 0;
    lua_pushstring(L, named ? task->name : state_word(task));
    return named || strcmp(name, "state") == 0;
}

static int task_text(lua_State *L) {
    const stn_lua_task *task = check_task(L);
    if (task->state == STN_TASK_WAITING && task->begun && !task->running) {
        char since[32];
        snprintf(since, sizeof since, "%.9g", task->since);
        lua_pushfstring(L, "task '%s', waiting at %s for %s since t = %s s", task->name, task->waits_at, task->what,
                        since);
    } else {
        lua_pushfstring(L, "task '%s', %s", task->name, task->begun ? state_word(task) : "not begun");
    }
    return 1;
}

void stn_lua_open_task(lua_State *L) {
    static const luaL_Reg methods[] = {{"cancel", task_cancel}, {"done", task_done}, {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__tostring", task_text}, {NULL, NULL}};
    stn_lua_class(L, STN_LUA_TASK, methods, meta, get_task, task_properties);
    stn_lua_extend(L, STN_LUA_TASK, stn_lua_wait_methods);
}

const luaL_Reg stn_lua_task_functions[] = {{"task", module_task}, {NULL, NULL}};
const luaL_Reg stn_lua_task_methods[] = {{"task", world_task}, {"tasks", world_tasks}, {NULL, NULL}};

// ------------------------------------------------------------------------------------------------------------- waiting

// What tasks wait by: simulated time, conditions, other tasks. A wait is a function of Lua that yields and, when the
// task is asked again after a step, looks whether it is over; so errors and pcall work in it as anywhere.

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
