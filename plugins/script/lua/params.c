// SPDX-License-Identifier: Apache-2.0
// stn.params { name = default }: parameters that the command line sets; stn.choice for those with a list of values,
// stn.number for numbers with a range, as parameters of plugins have it.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bind.h"

#define CHOICE_TYPE "stiction.choice"
#define NUMBER_TYPE "stiction.number"

/// stn.choice { "manifold", "spheres26" }: the first is the default.
static int choice_new(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_Integer count = (lua_Integer)lua_rawlen(L, 1);
    for (lua_Integer i = 1; i <= count; i++) {
        if (lua_rawgeti(L, 1, i) != LUA_TSTRING) {
            stn_lua_fail(L, "stn.choice: entry [%lld] must be a text", (long long)i);
        }
        lua_pop(L, 1);
    }
    if (count == 0) {
        stn_lua_fail(L, "stn.choice: needs at least one text; the first is the default");
    }
    luaL_newmetatable(L, CHOICE_TYPE);
    lua_setmetatable(L, 1);
    lua_settop(L, 1);
    return 1;
}

static bool is_made_by(lua_State *L, int index, const char *type) {
    int top = lua_gettop(L);
    luaL_getmetatable(L, type);
    bool same = lua_type(L, index) == LUA_TTABLE && lua_getmetatable(L, index) != 0 && lua_rawequal(L, -1, -2);
    lua_settop(L, top);
    return same;
}

/// A number with the values that it may take.
typedef struct number_range {
    double min, max;  // infinite: no bound
    const char *unit; // NULL: none; the table keeps it alive
} number_range;

/// stn.number { 0.5, min = 0, max = 2, unit = "m" }: a number within bounds, both of them included.
static int number_new(lua_State *L) {
    static const char *const keys[] = {"min", "max", "unit", NULL};
    number_range range = {-INFINITY, INFINITY, NULL};
    stn_fields f = stn_fields_open(L, 1, "stn.number", keys, 1);
    if (lua_rawgeti(L, f.table, 1) != LUA_TNUMBER) {
        stn_lua_fail(L, "stn.number: needs a number, the default, and min, max or both; got %s", luaL_typename(L, -1));
    }
    double value = lua_tonumber(L, -1);
    bool low = stn_fields_real(&f, "min", "as the value", &range.min);
    bool high = stn_fields_real(&f, "max", "as the value", &range.max);
    stn_fields_text(&f, "unit");
    if (!low && !high) {
        stn_lua_fail(L, "stn.number: give min, max or both; a number without bounds is a plain default");
    }
    if (!(range.min <= value && value <= range.max)) {
        stn_lua_fail(L, "stn.number: the default %g is not within min = %g and max = %g", value, range.min, range.max);
    }
    luaL_newmetatable(L, NUMBER_TYPE);
    lua_setmetatable(L, f.table);
    lua_settop(L, f.table);
    return 1;
}

/// Of the table at `index`.
static number_range range_of(lua_State *L, int index) {
    number_range range = {-INFINITY, INFINITY, NULL};
    range.min = lua_getfield(L, index, "min") == LUA_TNUMBER ? lua_tonumber(L, -1) : range.min;
    range.max = lua_getfield(L, index, "max") == LUA_TNUMBER ? lua_tonumber(L, -1) : range.max;
    lua_getfield(L, index, "unit");
    range.unit = lua_tostring(L, -1);
    lua_pop(L, 3);
    return range;
}

/// The list of a choice at `index`, in memory that it pushes.
static const char *const *push_choices(lua_State *L, int index, int32_t *count) {
    *count = (int32_t)lua_rawlen(L, index);
    const char **choices = lua_newuserdatauv(L, sizeof *choices * (size_t)(*count + 1), 0);
    for (int32_t i = 0; i < *count; i++) {
        lua_rawgeti(L, index, i + 1);
        const char *text = lua_tostring(L, -1); // the table keeps it alive
        choices[i] = text != NULL ? text : "";
        lua_pop(L, 1);
    }
    return choices;
}

/// Pushes the default that stands at `index`, and what goes with it.
static stn_script_parameter push_default(lua_State *L, const char *name, int index) {
    stn_script_parameter p = {.name = name};
    bool choice = is_made_by(L, index, CHOICE_TYPE), number = is_made_by(L, index, NUMBER_TYPE);
    if (choice) {
        p.choices = push_choices(L, index, &p.choice_count);
    } else if (number) {
        const number_range range = range_of(L, index);
        p.bounded = true;
        p.min = range.min;
        p.max = range.max;
        p.unit = range.unit;
    }
    if (choice || number) {
        lua_rawgeti(L, index, 1);
    } else {
        lua_pushvalue(L, index);
    }
    switch (lua_type(L, -1)) {
    case LUA_TNUMBER:
        p.type = STN_SCRIPT_NUMBER;
        p.number = lua_tonumber(L, -1);
        break;
    case LUA_TBOOLEAN:
        p.type = STN_SCRIPT_BOOL;
        p.number = lua_toboolean(L, -1) != 0 ? 1.0 : 0.0;
        break;
    case LUA_TSTRING:
        p.type = choice ? STN_SCRIPT_CHOICE : STN_SCRIPT_TEXT;
        p.text = lua_tostring(L, -1);
        break;
    default:
        stn_lua_fail(L,
                     "stn.params: %s must be a number, text, true, false, stn.number { ... } or stn.choice { ... }, "
                     "got %s",
                     name, luaL_typename(L, -1));
    }
    return p;
}

/// Pushes the value of the parameter whose default is at `index`.
static void push_parameter(lua_State *L, lua_session *session, const char *name, int index) {
    stn_script_parameter p = push_default(L, name, index);
    bool whole = lua_isinteger(L, -1);
    stn_error err = {0};
    session->declares_seconds = session->declares_seconds || strcmp(name, "seconds") == 0;
    if (p.type == STN_SCRIPT_NUMBER && isnan(p.number)) {
        stn_lua_fail(L, "stn.params: %s is not a number (nan)", name);
    }
    if (session->host == NULL) {
        return;
    }
    stn_lua_check_host(L, session->host->ops->parameter(session->host, &p, &err), &err);
    if (p.type == STN_SCRIPT_NUMBER && whole && p.number == floor(p.number) && fabs(p.number) < 9e15) {
        lua_pushinteger(L, (lua_Integer)p.number);
    } else if (p.type == STN_SCRIPT_NUMBER) {
        lua_pushnumber(L, p.number);
    } else if (p.type == STN_SCRIPT_BOOL) {
        lua_pushboolean(L, p.number != 0.0);
    } else {
        lua_pushstring(L, p.text);
    }
}

static int refuse_parameter(lua_State *L) {
    const char *names[65] = {NULL};
    int32_t count = 0;
    for (lua_pushnil(L); lua_next(L, 1) != 0; lua_pop(L, 1)) {
        if (count < STN_COUNT(names) - 1) {
            names[count++] = lua_tostring(L, -2);
        }
    }
    qsort(names, (size_t)count, sizeof *names, stn_lua_compare_names);
    stn_lua_unknown(L, "the parameter table", luaL_tolstring(L, 2, NULL), names);
}

/// stn.params { name = default }: the table of values.
static int params_new(lua_State *L) {
    lua_session *session = stn_lua_session(L);
    stn_fields f = stn_fields_open(L, 1, "stn.params", NULL, 0);
    lua_settop(L, 1);
    lua_newtable(L);
    lua_pushnil(L);
    while (lua_next(L, f.table) != 0) { // 3 name, 4 default
        push_parameter(L, session, lua_tostring(L, 3), 4);
        lua_setfield(L, 2, lua_tostring(L, 3));
        lua_settop(L, 3);
    }
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, refuse_parameter);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, 2);
    return 1;
}

const luaL_Reg stn_lua_params_functions[] = {
    {"params", params_new},
    {"choice", choice_new},
    {"number", number_new},
    {NULL, NULL},
};
