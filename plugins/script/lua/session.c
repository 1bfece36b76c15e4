// SPDX-License-Identifier: Apache-2.0
// The session of a Lua state: the plugin's, or a default one for a stock interpreter.
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

/// A stock interpreter: a session of its own, finalised after every object that was made later.
static lua_session *make_default(lua_State *L) {
    lua_session *session = lua_newuserdatauv(L, sizeof *session, 0);
    *session = (lua_session){0};
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, release_session);
    lua_setfield(L, -2, "__gc");
    stn_error err = {0};
    stn_lua_check(L, stn_context_create(NULL, &session->context, &err), &err);
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &session_key);
    return session;
}

lua_session *stn_lua_session(lua_State *L) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &session_key);
    lua_session *session = lua_touserdata(L, -1);
    lua_pop(L, 1);
    if (session == NULL) {
        session = make_default(L);
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
