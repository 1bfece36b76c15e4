// SPDX-License-Identifier: Apache-2.0
// world:capture { file, every = n, when = function }: contact problems of the run as files.
#include <string.h>

#include "bind.h"

enum { CAPTURES = 6 }; // user value of the world: list of what `when` functions belong to

/// User value 1: the function.
typedef struct lua_capture {
    stn_lua_world *world;
    int number; // in the list
} lua_capture;

/// Asks the function about the step just made; the stack is left as it was.
static stn_status ask(void *user, const stn_observation *observation, bool *take, stn_error *err) {
    (void)observation;
    const lua_capture *c = user;
    stn_lua_world *w = c->world;
    lua_State *L = w->L;
    int top = lua_gettop(L);
    if (!lua_checkstack(L, 16)) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    lua_getiuservalue(L, w->at, CAPTURES);
    lua_rawgeti(L, -1, c->number);
    lua_getiuservalue(L, -1, 1);
    stn_lua_push_step(L, w->at, w);
    stn_status status = STN_OK;
    if (stn_lua_world_ask(L, w, 1, 1, "'when' of world:capture") == LUA_OK) {
        *take = lua_toboolean(L, -1) != 0;
    } else {
        const char *text = lua_tostring(L, -1);
        status = stn_fail(err, STN_ERR_ARGUMENT, "when: %s", text != NULL ? text : "an error that is no text");
    }
    lua_settop(L, top);
    return status;
}

/// "scripts/clutter.lua" -> pushes "clutter"; NULL and nothing pushed when no file is run.
static const char *push_title(lua_State *L, const lua_session *session) {
    if (session->host == NULL) {
        return NULL;
    }
    const char *path = session->host->path, *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return lua_pushlstring(L, name, dot != NULL ? (size_t)(dot - name) : strlen(name));
}

/// The function on top of the stack becomes one of the world's at `index`.
static void keep_function(lua_State *L, int index, stn_lua_world *w, stn_capture_options *o) {
    lua_getiuservalue(L, index, CAPTURES);
    lua_capture *c = lua_newuserdatauv(L, sizeof *c, 1);
    *c = (lua_capture){.world = w, .number = (int)lua_rawlen(L, -2) + 1};
    lua_pushvalue(L, -3);
    lua_setiuservalue(L, -2, 1);
    lua_rawseti(L, -2, c->number);
    lua_pop(L, 1);
    o->when = ask;
    o->user = c;
}

static int world_capture(lua_State *L) {
    static const char owner[] = "world:capture";
    static const char *const keys[] = {"file", "every", "when", "most", "form", NULL};
    static const char *const forms[] = {"global", "local", NULL};
    stn_lua_world *w = stn_lua_world_idle(L, 1, owner);
    stn_fields f = stn_fields_open(L, 2, owner, keys, 0);
    stn_capture_options o = {.file = stn_fields_text(&f, "file")};
    lua_Integer every = 1, most = 0;
    if (o.file == NULL) {
        stn_lua_fail(L, "%s: name the file, %s { file = \"out/problem.json\", every = 100 }", owner, owner);
    }
    stn_fields_integer(&f, "every", 1, INT64_C(1) << 52, &every);
    stn_fields_integer(&f, "most", 1, INT64_C(1) << 52, &most);
    o.every = every;
    o.most = most;
    o.form = stn_fields_choice(&f, "form", forms) == 1 ? STN_FORM_LOCAL : STN_FORM_GLOBAL;
    o.title = push_title(L, w->session);
    if (stn_fields_push(&f, "when")) {
        if (!lua_isfunction(L, -1)) {
            stn_lua_fail(L, "%s: 'when' is a %s, must be a function of the step", owner, luaL_typename(L, -1));
        }
        keep_function(L, 1, w, &o);
    }
    stn_error err = {0};
    stn_lua_check(L, stn_world_capture(w->world, &o, &err), &err);
    return 0;
}

const luaL_Reg stn_lua_capture_methods[] = {{"capture", world_capture}, {NULL, NULL}};
