// SPDX-License-Identifier: Apache-2.0
// The session of a Lua state, the plugin's or a default one for a stock interpreter; how a script is stopped; where its
// files are.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <stiction/input.h>

#include "bind.h"

static const char session_key = 's'; // its address is the registry key

void stn_lua_install(lua_State *L, lua_session *session) {
    lua_pushlightuserdata(L, session);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &session_key);
}

static int release_session(lua_State *L) {
    lua_session *session = lua_touserdata(L, 1);
    stn_context_destroy(session->context);
    session->context = NULL;
    return 0;
}

lua_session *stn_lua_session(lua_State *L) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &session_key);
    lua_session *session = lua_touserdata(L, -1);
    lua_pop(L, 1);
    if (session == NULL) {
        // a stock interpreter gets one of its own, finalised after every object that is made later
        session = lua_newuserdatauv(L, sizeof *session, 0);
        *session = (lua_session){0};
        lua_createtable(L, 0, 1);
        lua_pushcfunction(L, release_session);
        lua_setfield(L, -2, "__gc");
        stn_error err = {0};
        stn_lua_check(L, stn_context_create(NULL, &session->context, &err), &err);
        lua_setmetatable(L, -2);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &session_key);
    }
    if (session->context == NULL) {
        stn_lua_fail(L, "the state is being closed");
    }
    return session;
}

void stn_lua_claim(lua_State *L) {
    stn_script_host *host = stn_lua_session(L)->host;
    if (host != NULL) {
        host->ops->claim(host, NULL);
    }
}

void stn_lua_touched(const stn_lua_world *w) {
    stn_script_host *host = w->session->host;
    if (host != NULL) {
        host->ops->touched(host, w->world);
    }
}

bool stn_lua_first_time(lua_State *L, const char *path) {
    luaL_getsubtable(L, LUA_REGISTRYINDEX, "stiction.loaded");
    bool first = lua_getfield(L, -1, path) == LUA_TNIL;
    lua_pushboolean(L, 1);
    lua_setfield(L, -3, path);
    lua_pop(L, 2);
    return first;
}

// ------------------------------------------------------------------------------------------------------------ stopping

// Stopping a script from outside, and from inside by os.exit. Hooks belong to one thread of Lua, so the session follows
// which coroutine runs.

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

// --------------------------------------------------------------------------------------------------------------- files

// Where files are looked for: from the current folder, beside the script, in Stiction's own folder.

void stn_lua_push_root(lua_State *L) {
    char root[STN_INPUT_PATH];
    lua_pushstring(L, stn_shipped_folder(root) ? root : "");
}

/// Pushes the folder of the innermost Lua file, "" when there is none.
static void push_script_folder(lua_State *L) {
    lua_Debug frame;
    for (int level = 0; lua_getstack(L, level, &frame); level++) {
        lua_getinfo(L, "S", &frame);
        if (frame.source[0] == '@') {
            const char *slash = strrchr(frame.source, '/');
            if (slash == NULL) {
                lua_pushliteral(L, ".");
            } else {
                lua_pushlstring(L, frame.source + 1, (size_t)(slash - frame.source - 1));
            }
            return;
        }
    }
    lua_pushliteral(L, "");
}

const char *stn_lua_search_file(lua_State *L, const char *name, const char **tried) {
    *tried = name;
    if (access(name, R_OK) == 0) {
        return lua_pushstring(L, name);
    }
    void (*const places[])(lua_State *) = {push_script_folder, stn_lua_push_root};
    for (int i = 0; i < 2 && name[0] != '/'; i++) {
        places[i](L);
        const char *folder = lua_tostring(L, -1);
        if (folder[0] == '\0') {
            continue;
        }
        const char *path = lua_pushfstring(L, "%s/%s", folder, name);
        if (access(path, R_OK) == 0) {
            return path;
        }
        *tried = lua_pushfstring(L, "%s, %s", *tried, path);
    }
    return NULL;
}

const char *stn_lua_find_file(lua_State *L, const char *owner, const char *name) {
    const char *tried = NULL, *path = stn_lua_search_file(L, name, &tried);
    if (path == NULL) {
        stn_lua_fail(L, "%s: no such file: %s (tried %s)", owner, name, tried);
    }
    return path;
}
