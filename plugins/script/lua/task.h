// SPDX-License-Identifier: Apache-2.0
// Tasks: coroutines of a script that the steps of one world drive. task.c makes, runs and ends them, and has
// what they wait by.
#ifndef STICTION_SCRIPT_LUA_TASK_H
#define STICTION_SCRIPT_LUA_TASK_H

#include "bind.h"

#define STN_LUA_TASK "stiction.task"

typedef enum stn_task_state { STN_TASK_WAITING, STN_TASK_DONE, STN_TASK_FAILED, STN_TASK_CANCELLED } stn_task_state;

/// User values of a task.
enum {
    STN_TASK_WORLD = 1,   // that drives it
    STN_TASK_THREAD = 2,  // its coroutine
    STN_TASK_RESULT = 3,  // list of what it returned, with n; of one that failed the error
    STN_TASK_OWNER = 4,   // the task whose parallel or race made it
    STN_TASK_AWAITED = 5, // list of the tasks that it waits for
    STN_TASK_VALUES = 5
};

typedef struct stn_lua_task {
    stn_lua_world *world;
    lua_State *thread;
    struct stn_lua_task *owner; // NULL: none
    stn_task_state state;
    bool begun, running;
    bool on_tasks;         // it waits for other tasks, which may end at the same time
    int arguments;         // of its function, until it begins
    double started, since; // it was made, its present wait began [s]
    char name[64];
    char started_at[96], waits_at[96], cancelled_at[96]; // "file:line"
    char what[96];                                       // it waits for
} stn_lua_task;

/// Makes a task of the function at `index` and the arguments above it, which are popped; pushes it. `name` NULL: by its
/// number.
stn_lua_task *stn_lua_task_new(lua_State *L, int world_index, const char *name, int index, stn_lua_task *owner);
/// The task that runs this code; raises outside of one, and where it cannot wait. Pushes it.
stn_lua_task *stn_lua_task_here(lua_State *L, const char *what);
/// The same without raising: NULL and nothing pushed outside of a task.
stn_lua_task *stn_lua_task_running(lua_State *L);
/// Ends the task at `index` if it has not ended: what it made by parallel and race first, then its to-be-closed
/// variables.
void stn_lua_task_cancel(lua_State *L, int index);
/// Lets the step go on; the continuation is called when the task is asked again. Returns what a C function of Lua must.
int stn_lua_task_yield(lua_State *L, stn_lua_task *task, const char *what, lua_KContext context,
                       lua_KFunction continuation);
double stn_lua_task_time(const stn_lua_task *task); ///< of its world [s]
/// Has the world's time come to `time`? Half a millionth of a step forgives the rounding of a sum of many dt.
bool stn_lua_task_is_past(const stn_lua_task *task, double time);

extern const luaL_Reg stn_lua_wait_functions[], stn_lua_wait_methods[];

#endif
