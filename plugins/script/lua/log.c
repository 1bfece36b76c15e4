// SPDX-License-Identifier: Apache-2.0
// world:log { "column", ..., values = function, patches = pairs }: the columns that a scenario declares for its tables.
// They are signals of the world, set by an observer after every step and before the recorders see it.
#include <string.h>

#include "bind.h"

enum { COLUMNS = 4 }; // user value of the world: a copy of the table, which the script may change afterwards

/// What the function on top of the stack returns; the stack is left as it was below `base`.
static stn_status set_signals(lua_State *L, stn_lua_world *w, int table, int base, stn_error *err) {
    int count = (int)lua_rawlen(L, table);
    if (stn_lua_world_ask(L, w, 0, LUA_MULTRET, "the values of world:log") != LUA_OK) {
        const char *text = lua_tostring(L, -1);
        return stn_fail(err, STN_ERR_ARGUMENT, "world:log: values: %s",
                        text != NULL ? text : "an error that is no text");
    }
    int returned = lua_gettop(L) - base;
    if (returned != count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "world:log: values returned %d number%s for %d column%s", returned,
                        returned == 1 ? "" : "s", count, count == 1 ? "" : "s");
    }
    stn_status status = STN_OK;
    for (int i = 1; i <= count && status == STN_OK; i++) {
        lua_rawgeti(L, table, i);
        const char *name = lua_tostring(L, -1);
        status = lua_isnumber(L, base + i)
                     ? stn_world_plot(w->world, name, lua_tonumber(L, base + i), err)
                     : stn_fail(err, STN_ERR_ARGUMENT, "world:log: column '%s' is a %s, must be a number", name,
                                luaL_typename(L, base + i));
        lua_pop(L, 1);
    }
    return status;
}

stn_status stn_lua_log_columns(lua_State *L, int world_index, stn_lua_world *w, stn_error *err) {
    int top = lua_gettop(L);
    if (!w->has_columns) {
        return stn_lua_log_patches(w, err);
    }
    if (!lua_checkstack(L, 16)) {
        return stn_fail(err, STN_ERR_MEMORY, "world:log: out of memory");
    }
    lua_getiuservalue(L, world_index, COLUMNS);
    lua_getfield(L, top + 1, "values");
    stn_status status = set_signals(L, w, top + 1, top + 1, err);
    lua_settop(L, top);
    return status == STN_OK ? stn_lua_log_patches(w, err) : status;
}

static stn_status observe(void *user, const stn_observation *observation, stn_error *err) {
    (void)observation;
    stn_lua_world *w = user;
    return stn_lua_log_columns(w->L, w->at, w, err);
}

bool stn_lua_is_table(const stn_lua_world *w, const char *recorder) {
    const stn_plugin_info *info = NULL;
    stn_error err = {0};
    if (stn_plugin_find(w->session->context, STN_KIND_RECORDER, recorder, &info, &err) < 0) {
        return false;
    }
    for (int32_t i = 0; i < info->desc->param_count; i++) {
        if (strcmp(info->desc->params[i].name, "columns") == 0) {
            return true;
        }
    }
    return false;
}

/// The name of column i, at the stack's top: every table has `step`, and signals are told apart by their names.
static void check_name(lua_State *L, int table, int i) {
    size_t size;
    const char *name = lua_tolstring(L, -1, &size);
    if (size == 0 || strlen(name) != size) {
        stn_lua_fail(L, "world:log: column %d must be a name without the character \\0, not empty", i);
    }
    bool taken = strcmp(name, "step") == 0;
    for (int k = 1; k < i && !taken; k++) {
        lua_rawgeti(L, table, k);
        taken = strcmp(lua_tostring(L, -1), name) == 0;
        lua_pop(L, 1);
    }
    if (taken) {
        stn_lua_fail(L, "world:log: column %d: there is a column '%s' already", i, name);
    }
}

/// Are any declared? Patches alone join the usual columns.
static bool check_columns(lua_State *L, const stn_fields *f, bool patches) {
    int count = (int)lua_rawlen(L, f->table);
    bool valued = lua_getfield(L, f->table, "values") != LUA_TNIL;
    lua_pop(L, 1);
    if (count == 0 && patches && !valued) {
        return false;
    }
    if (count == 0) {
        stn_lua_fail(L, "world:log: name the columns, world:log { \"x\", values = function() return x end }");
    }
    for (int i = 1; i <= count; i++) {
        if (lua_rawgeti(L, f->table, i) != LUA_TSTRING) {
            stn_lua_fail(L, "world:log: column %d is a %s, must be a name", i, luaL_typename(L, -1));
        }
        check_name(L, f->table, i);
        lua_pop(L, 1);
    }
    lua_getfield(L, f->table, "values");
    if (!lua_isfunction(L, -1)) {
        stn_lua_fail(L, "world:log: 'values' must be a function that returns a number for each column");
    }
    lua_pop(L, 1);
    return true;
}

/// Of the columns and the function; and the log of patches at `patches`, 0: none.
static void push_copy(lua_State *L, int table, int patches) {
    int count = (int)lua_rawlen(L, table);
    lua_createtable(L, count, 2);
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, table, i);
        lua_rawseti(L, -2, i);
    }
    lua_getfield(L, table, "values");
    lua_setfield(L, -2, "values");
    if (patches != 0) {
        lua_pushvalue(L, patches);
        lua_setfield(L, -2, "patches");
    }
}

static int world_log(lua_State *L) {
    static const char *const keys[] = {"values", "patches", NULL};
    stn_lua_world *w = stn_lua_world_check(L, 1);
    stn_fields f = stn_fields_open(L, 2, "world:log", keys, 1000);
    stn_lua_patch_log *patches = stn_fields_patch_log(&f, w);
    int kept = patches != NULL ? lua_gettop(L) : 0;
    bool declared = check_columns(L, &f, patches != NULL);
    if (w->begun || w->has_columns || w->patch_log != NULL) {
        stn_lua_fail(L, "world:log: once, before the first step");
    }
    if (w->tables_begin <= w->made) {
        stn_lua_fail(L, "world:log: before world:record; the table that is open has its columns");
    }
    stn_error err = {0};
    stn_lua_check(L, stn_world_observe(w->world, observe, w, &err), &err);
    push_copy(L, f.table, kept);
    lua_setiuservalue(L, 1, COLUMNS);
    w->has_columns = declared;
    w->patch_log = patches;
    return 0;
}

const luaL_Reg stn_lua_log_methods[] = {{"log", world_log}, {NULL, NULL}};
