// SPDX-License-Identifier: Apache-2.0
// The state in which the command runs one script, and what its errors mean.
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <lualib.h>
#include <stiction/lua.h>

#include "bind.h"

/// assert as everybody knows it, but the message says where, and the session learns that a claim of the script failed.
static int assert_with_place(lua_State *L) {
    luaL_checkany(L, 1);
    stn_lua_claim(L);
    if (lua_toboolean(L, 1) != 0) {
        return lua_gettop(L);
    }
    lua_remove(L, 1);
    lua_pushliteral(L, "assertion failed");
    lua_settop(L, 1);
    if (lua_type(L, 1) == LUA_TSTRING) {
        stn_lua_where(L);
        lua_insert(L, 1);
        lua_concat(L, 2);
        lua_session *session = stn_lua_session(L);
        stn_release(session->context, session->assertion);
        session->assertion = stn_duplicate_text(session->context, lua_tostring(L, -1));
    }
    return lua_error(L);
}

/// Argument: the session, as light userdata.
static int fill_state(lua_State *L) {
    lua_session *session = lua_touserdata(L, 1);
    luaL_openlibs(L);
    stn_lua_install(L, session);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, luaopen_stiction);
    lua_setfield(L, -2, "stiction");
    lua_register(L, "assert", assert_with_place);
    stn_lua_follow_coroutines(L);
    stn_lua_replace_exit(L);
    // scripts find modules beside themselves, in lib/ beside themselves and in Stiction's own scripts/lib
    const char *script = session->host->path, *slash = strrchr(script, '/');
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "path");
    const char *present = lua_tostring(L, -1);
    lua_pushlstring(L, slash != NULL ? script : ".", slash != NULL ? (size_t)(slash - script) : 1);
    const char *folder = lua_tostring(L, -1);
    stn_lua_push_root(L);
    const char *root = lua_tostring(L, -1);
    lua_pushfstring(L, "%s/?.lua;%s/lib/?.lua;%s/scripts/lib/?.lua;%s", folder, folder, root, present);
    lua_setfield(L, -5, "path");
    lua_pop(L, 4);
    return 0;
}

/// The error on top of the stack as a status; see stn_script_ops.run.
static stn_status classify(lua_session *session, lua_State *L, stn_error *err) {
    stn_script_host *host = session->host;
    const char *reason = stn_lua_skip_reason(L, -1);
    if (reason != NULL) {
        return host->ops->skip(host, reason, err);
    }
    if (session->exited) {
        return STN_OK; // the host was told
    }
    if (session->stopped != 0) {
        return stn_fail(err, STN_ERR_INTERRUPTED, "interrupted");
    }
    const char *text = lua_tostring(L, -1); // stn_lua_place_message made it one
    stn_status status = STN_ERR_ARGUMENT;
    if (session->failed_step.status < 0 && strstr(text, session->failed_step.text) != NULL) {
        status = session->failed_step.status;
    }
    const char *claim = session->assertion; // a task adds behind it where it was
    if (claim != NULL && strncmp(claim, text, strlen(claim)) == 0) {
        host->ops->claim(host, text);
    }
    return stn_fail(err, status, "%s", text);
}

static stn_status run_file(lua_session *session, lua_State *L, stn_error *err) {
    const char *script = session->host->path;
    if (access(script, R_OK) != 0) {
        return stn_fail(err, STN_ERR_FILE, "%s: cannot be read: %s; give the path of a Lua script", script,
                        strerror(errno));
    }
    lua_settop(L, 0);
    lua_pushcfunction(L, stn_lua_place_message);
    int loaded = luaL_loadfile(L, script);
    if (loaded != LUA_OK) {
        return stn_fail(err, loaded == LUA_ERRFILE ? STN_ERR_FILE : STN_ERR_PARSE, "%s", lua_tostring(L, -1));
    }
    return lua_pcall(L, 0, 0, 1) != LUA_OK ? classify(session, L, err) : STN_OK;
}

/// The end of a recording that could not be written is what ended the run, unless something else did.
static stn_status add_unwritten(lua_session *session, stn_status status, stn_error *err) {
    const stn_error *unwritten = &session->unwritten;
    if (unwritten->status == STN_OK) {
        return status;
    }
    if (status == STN_OK && !session->exited) {
        return stn_fail(err, unwritten->status, "%s", unwritten->text);
    }
    stn_log(session->context, STN_LOG_ERROR, "%s", unwritten->text);
    return status;
}

/// A fresh state with the module, search paths beside the script, and an assert that says where; it is closed
/// afterwards, and with it every world and recording.
static stn_status run(void *self, stn_script_host *host, stn_error *err) {
    lua_session *session = self;
    session->host = host;
    lua_State *L = luaL_newstate();
    if (L == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "Lua: out of memory");
    }
    lua_pushcfunction(L, fill_state);
    lua_pushlightuserdata(L, session);
    stn_status status = STN_OK;
    if (lua_pcall(L, 1, 0, 0) != LUA_OK) {
        status = stn_fail(err, STN_ERR_MEMORY, "Lua: %s", lua_tostring(L, -1));
    } else {
        session->state = L;
        status = run_file(session, L, err);
        session->state = NULL;
    }
    lua_sethook(L, NULL, 0, 0);
    lua_close(L);
    status = add_unwritten(session, status, err);
    stn_release(session->context, session->assertion);
    *session = (lua_session){.context = session->context}; // the next run begins anew
    return status;
}

static void stop(void *self) {
    stn_lua_stop(self);
}

static stn_status create(stn_context *context, const void *config, void **self, stn_error *err) {
    (void)config;
    lua_session *session = stn_allocate(context, 1, sizeof *session);
    if (session == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "Lua: out of memory");
    }
    session->context = context;
    *self = session;
    return STN_OK;
}

static void destroy(void *self) {
    lua_session *session = self;
    if (session != NULL) {
        stn_release(session->context, session);
    }
}

static const char example[] = "local stn = require \"stiction\"\n"
                              "local p = stn.params { height = 0.2 } -- m\n"
                              "local world = stn.world { dt = 0.002 }\n"
                              "world:ground {}\n"
                              "local box = world:box { size = { 0.1, 0.1, 0.1 }, xyz = { 0, 0, p.height } }\n"
                              "for _ in world:run { seconds = 1 } do\n"
                              "end\n"
                              "local z = box:pose().xyz[3]\n"
                              "stn.check(\"it lies\", { value = math.abs(z - 0.05), limit = 1e-3, unit = \"m\" })\n"
                              "stn.result(\"z\", z, \"m\")\n";

static const stn_script_ops ops = {
    .size = sizeof ops, .extensions = (const char *const[]){"lua", NULL}, .run = run, .stop = stop, .example = example};

static const stn_plugin_desc lua = {
    .size = sizeof lua,
    .kind = STN_KIND_SCRIPT,
    .id = "lua",
    .version = STN_VERSION,
    .summary = "Scenarios in Lua 5.4",
    .create = create,
    .destroy = destroy,
    .ops.script = &ops,
};
STN_PLUGIN_LIBRARY(&lua);
