// SPDX-License-Identifier: Apache-2.0
// Stopping a script from outside, and from inside by os.exit. Hooks belong to one thread of Lua, so the session follows
// which coroutine runs.
#include <stdio.h>

#include "bind.h"

static void raise_stop(lua_State *L, lua_Debug *frame) {
    (void)frame;
    lua_pushliteral(L, "interrupted");
    lua_error(L);
}

/// From here on every instruction raises, also those behind a pcall that catches it.
static void stop_thread(lua_State *L) {
    lua_sethook(L, raise_stop, LUA_MASKCOUNT, 1);
}

/// Setting a hook is the one thing that Lua allows from a signal handler.
void stn_lua_stop(lua_session *session) {
    session->stopped = 1;
    if (session->state != NULL) {
        stop_thread(session->state);
    }
}

void stn_lua_check_host(lua_State *L, stn_status status, const stn_error *err) {
    if (status == STN_ERR_INTERRUPTED) {
        stn_lua_session(L)->stopped = 1;
        stop_thread(L);
    }
    stn_lua_check(L, status, err);
}

/// Calls the function at index 1 with what follows; meanwhile the session knows that `inner` runs.
static int call_inside(lua_State *L, lua_State *inner) {
    lua_session *session = stn_lua_session(L);
    lua_State *outer = session->state;
    session->state = inner;
    int status = session->stopped == 0 ? lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0) : LUA_ERRRUN;
    session->state = outer;
    if (session->stopped != 0) {
        stop_thread(L);
        raise_stop(L, NULL);
    }
    return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

int stn_lua_resume(lua_State *L, lua_State *thread, int arguments, int *results) {
    lua_session *session = stn_lua_session(L);
    lua_State *outer = session->state;
    session->state = thread;
    int status = session->stopped == 0 ? lua_resume(thread, L, arguments, results) : LUA_ERRRUN;
    session->state = outer;
    if (session->stopped != 0) {
        stop_thread(L);
        raise_stop(L, NULL);
    }
    return status;
}

/// coroutine.resume; upvalue: Lua's own.
static int resume(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTHREAD);
    lua_State *inner = lua_tothread(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    return call_inside(L, inner);
}

/// What coroutine.wrap returns; upvalues: what Lua's own returns, its thread.
static int resume_wrapped(lua_State *L) {
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    return call_inside(L, lua_tothread(L, lua_upvalueindex(2)));
}

/// coroutine.wrap; upvalue: Lua's own.
static int wrap(lua_State *L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 1, 1);
    lua_getupvalue(L, 1, 1); // the thread
    lua_pushcclosure(L, resume_wrapped, 2);
    return 1;
}

/// Replaces a function of the table on top by one that has it as upvalue.
static void watch(lua_State *L, const char *name, lua_CFunction function) {
    lua_getfield(L, -1, name);
    lua_pushcclosure(L, function, 1);
    lua_setfield(L, -2, name);
}

void stn_lua_follow_coroutines(lua_State *L) {
    lua_getglobal(L, "coroutine");
    watch(L, "resume", resume);
    watch(L, "wrap", wrap);
    lua_pop(L, 1);
}

/// os.exit(status): nothing of the script runs after it, also behind a pcall.
static int leave(lua_State *L) {
    lua_session *session = stn_lua_session(L);
    bool boolean = lua_isboolean(L, 1);
    lua_Integer status = boolean ? lua_toboolean(L, 1) == 0 : luaL_optinteger(L, 1, 0);
    session->exited = true;
    stn_lua_where(L);
    snprintf(session->exit_text, sizeof session->exit_text,
             "%.160sos.exit: ended with exit status %d before the end of the script", lua_tostring(L, -1),
             (int)(status & 0xff));
    session->host->ops->leave(session->host, (int)(status & 0xff), session->exit_text);
    session->stopped = 1;
    stop_thread(L);
    raise_stop(L, NULL);
    return 0;
}

void stn_lua_replace_exit(lua_State *L) {
    lua_getglobal(L, "os");
    lua_pushcfunction(L, leave);
    lua_setfield(L, -2, "exit");
    lua_pop(L, 1);
}
