// SPDX-License-Identifier: Apache-2.0
// The state in which the command runs one script, and what its errors mean.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <lualib.h>
#include <stiction/lua.h>

#include "lua/bind.h"

/// assert as everybody knows it, but the message says where, and the session learns that a claim of the script failed.
static int assert_with_place(lua_State *L) {
    luaL_checkany(L, 1);
    stn_lua_session(L)->claim_count++;
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
        stn_session *session = stn_lua_session(L);
        stn_release(session->context, session->assertion);
        session->assertion = stn_duplicate_text(session->context, lua_tostring(L, -1));
    }
    return lua_error(L);
}

/// Scripts find modules beside themselves, in lib/ beside themselves and in Stiction's own scripts/lib.
static void extend_search_path(lua_State *L, const char *script) {
    const char *slash = strrchr(script, '/');
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
}

/// Arguments: session and script's path, as light userdata.
static int fill_state(lua_State *L) {
    stn_session *session = lua_touserdata(L, 1);
    const char *script = lua_touserdata(L, 2);
    luaL_openlibs(L);
    stn_session_install(L, session);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, luaopen_stiction);
    lua_setfield(L, -2, "stiction");
    lua_register(L, "assert", assert_with_place);
    stn_lua_follow_coroutines(L);
    stn_lua_replace_exit(L);
    extend_search_path(L, script);
    return 0;
}

bool stn_lua_has_place(const char *text) {
    for (const char *colon = strchr(text, ':'); colon != NULL; colon = strchr(colon + 1, ':')) {
        size_t digits = strspn(colon + 1, "0123456789");
        if (digits > 0 && colon[1 + digits] == ':') {
            return true;
        }
    }
    return false;
}

static int show_object(lua_State *L) {
    luaL_tolstring(L, 1, NULL);
    return 1;
}

/// Replaces an error object by a text: a script may raise anything, also what fails when it is shown.
static void name_object(lua_State *L) {
    bool shows = lua_isnumber(L, 1) || luaL_getmetafield(L, 1, "__tostring") != LUA_TNIL;
    lua_settop(L, 1);
    lua_pushcfunction(L, show_object);
    lua_pushvalue(L, 1);
    if (!shows || lua_pcall(L, 1, 1, 0) != LUA_OK) {
        lua_pushfstring(L, "the script raised a %s value; raise a text", luaL_typename(L, 1));
    }
    lua_replace(L, 1);
    lua_settop(L, 1);
}

int stn_lua_place_message(lua_State *L) {
    if (stn_lua_skip_reason(L, 1) != NULL) {
        return 1;
    }
    if (lua_type(L, 1) != LUA_TSTRING) {
        name_object(L);
    }
    if (!stn_lua_has_place(lua_tostring(L, 1))) {
        stn_lua_where(L);
        lua_insert(L, 1);
        lua_concat(L, 2);
    }
    return 1;
}

static bool keep_reason(stn_session *session, const char *reason) {
    session->skipped = stn_duplicate_text(session->context, reason);
    return session->skipped != NULL;
}

/// The error on top of the stack as a status; see session.h.
static stn_status classify(stn_session *session, lua_State *L, stn_error *err) {
    const char *reason = stn_lua_skip_reason(L, -1);
    if (reason != NULL) {
        return keep_reason(session, reason) ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    if (session->exited) {
        return session->exit_status == 0 ? stn_session_check_overrides(session, err) : STN_OK;
    }
    if (session->stopped != 0) {
        return stn_fail(err, STN_ERR_INTERRUPTED, "interrupted");
    }
    const char *text = lua_tostring(L, -1); // stn_lua_place_message made it one
    stn_status status = STN_ERR_ARGUMENT;
    if (session->failure.status < 0 && strstr(text, session->failure.text) != NULL) {
        status = session->failure.status;
    }
    const char *claim = session->assertion; // a task adds behind it where it was
    session->asserted = claim != NULL && strncmp(claim, text, strlen(claim)) == 0;
    return stn_fail(err, status, "%s", text);
}

/// Calls the function on top of the stack with `count` arguments, above the handler at index 1.
static stn_status call(stn_session *session, lua_State *L, int count, stn_error *err) {
    if (lua_pcall(L, count, 0, 1) != LUA_OK) {
        return classify(session, L, err);
    }
    return stn_session_check_overrides(session, err);
}

static stn_status run_capsule(stn_session *session, lua_State *L, const char *path, stn_error *err) {
    static const char steps[] = "for _ in require('stiction').capsule(...):run { steps = 1 } do end";
    lua_settop(L, 0);
    lua_pushcfunction(L, stn_lua_place_message);
    if (luaL_loadbuffer(L, steps, sizeof steps - 1, "=--from") != LUA_OK) {
        return stn_fail(err, STN_ERR_MEMORY, "%s", lua_tostring(L, -1));
    }
    lua_pushstring(L, path);
    stn_status status = call(session, L, 1, err);
    static const char place[] = "--from:1: "; // of the line above: says nothing
    if (status < 0 && strncmp(err->text, place, sizeof place - 1) == 0) {
        memmove(err->text, err->text + sizeof place - 1, strlen(err->text) - sizeof place + 2);
    }
    return status;
}

static stn_status run_file(stn_session *session, lua_State *L, const char *script, stn_error *err) {
    FILE *file = fopen(script, "rb");
    if (file == NULL) {
        return stn_fail(err, STN_ERR_FILE, "%s: cannot be read: %s; give the path of a Lua script", script,
                        strerror(errno));
    }
    int first = fgetc(file); // no script begins like XML, which a robot file put in its place does
    fclose(file);
    if (first == '<') {
        return stn_fail(err, STN_ERR_PARSE, "%s: this is XML, not a Lua script; a script loads robots by world:load",
                        script);
    }
    lua_settop(L, 0);
    lua_pushcfunction(L, stn_lua_place_message);
    int loaded = luaL_loadfile(L, script);
    if (loaded != LUA_OK) {
        return stn_fail(err, loaded == LUA_ERRFILE ? STN_ERR_FILE : STN_ERR_PARSE, "%s", lua_tostring(L, -1));
    }
    return call(session, L, 0, err);
}

/// The end of a recording that could not be written is what ended the run, unless something else did.
static stn_status add_unwritten(stn_session *session, stn_status status, stn_error *err) {
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

/// A state for what stands in `path`, given to `run`.
static stn_status run_in_state(stn_session *session, const char *path,
                               stn_status (*run)(stn_session *, lua_State *, const char *, stn_error *),
                               stn_error *err) {
    session->unwritten = (stn_error){0};
    lua_State *L = luaL_newstate();
    if (L == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "Lua: out of memory");
    }
    lua_pushcfunction(L, fill_state);
    lua_pushlightuserdata(L, session);
    lua_pushlightuserdata(L, (void *)(uintptr_t)path);
    stn_status status = STN_OK;
    if (lua_pcall(L, 2, 0, 0) != LUA_OK) {
        status = stn_fail(err, STN_ERR_MEMORY, "Lua: %s", lua_tostring(L, -1));
    } else {
        session->state = L;
        session->script = path;
        status = run(session, L, path, err);
        session->state = NULL;
        session->script = NULL;
    }
    lua_sethook(L, NULL, 0, 0);
    lua_close(L);
    return add_unwritten(session, status, err);
}

stn_status stn_session_run(stn_session *session, const char *script, stn_error *err) {
    return run_in_state(session, script, run_file, err);
}

stn_status stn_session_run_capsule(stn_session *session, const char *path, stn_error *err) {
    return run_in_state(session, path, run_capsule, err);
}
