// SPDX-License-Identifier: Apache-2.0
// stn.params { name = default }: parameters that the command line sets; stn.choice for those with a list of values,
// stn.number for numbers with a range, as parameters of plugins have it.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lua/bind.h"

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

/// The number on top of the stack.
static void check_number(lua_State *L, int index, const char *name) {
    const number_range range = range_of(L, index);
    const char *gap = range.unit != NULL ? " " : "", *unit = range.unit != NULL ? range.unit : "";
    double value = lua_tonumber(L, -1);
    char bounds[80];
    if (value >= range.min && value <= range.max) {
        return;
    }
    if (isinf(range.max)) {
        snprintf(bounds, sizeof bounds, ">= %g", range.min);
    } else if (isinf(range.min)) {
        snprintf(bounds, sizeof bounds, "<= %g", range.max);
    } else {
        snprintf(bounds, sizeof bounds, "%g to %g", range.min, range.max);
    }
    stn_lua_fail(L, "parameter %s = %g%s%s must be %s%s%s", name, value, gap, unit, bounds, gap, unit);
}

/// The command line's text for a parameter: --set, else --dt, --seconds, --seed, --solver, ... of that name.
static const char *override_text(stn_session *session, const char *name, char *text, size_t size) {
    const char *found = NULL;
    for (int32_t i = 0; i < session->override_count; i++) {
        if (strcmp(session->overrides[i].name, name) == 0) {
            session->overrides[i].used = true;
            found = session->overrides[i].text; // the last one counts
        }
    }
    if (found != NULL) {
        return found;
    }
    for (stn_kind kind = 0; kind < STN_KIND_COUNT; kind++) {
        if (session->plugin[kind] != NULL && strcmp(stn_kind_name(kind), name) == 0) {
            return session->plugin[kind];
        }
    }
    if (strcmp(name, "dt") == 0 && !isnan(session->dt)) {
        snprintf(text, size, "%.17g", session->dt);
        return text;
    }
    if (strcmp(name, "seconds") == 0 && !isnan(session->seconds)) {
        snprintf(text, size, "%.17g", session->seconds);
        return text;
    }
    if (strcmp(name, "seed") == 0 && session->seed >= 0) {
        snprintf(text, size, "%lld", (long long)session->seed);
        return text;
    }
    if (strcmp(name, "threads") == 0 && session->threads > 0) {
        snprintf(text, size, "%d", session->threads);
        return text;
    }
    return NULL;
}

/// Pushes `text` as a value of the default's type, which is at `index`.
static void push_override(lua_State *L, int index, const char *name, const char *text) {
    double number = 0.0;
    switch (lua_type(L, index)) {
    case LUA_TNUMBER:
        if (strcmp(text, "inf") == 0) {
            number = INFINITY;
        } else if (!stn_parse_real(text, &number)) {
            stn_lua_fail(L, "--set %s=%s: must be a number", name, text);
        }
        if (lua_isinteger(L, index) && number == floor(number) && fabs(number) < 9e15) {
            lua_pushinteger(L, (lua_Integer)number);
        } else {
            lua_pushnumber(L, number);
        }
        return;
    case LUA_TBOOLEAN:
        if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0) {
            stn_lua_fail(L, "--set %s=%s: must be true or false", name, text);
        }
        lua_pushboolean(L, strcmp(text, "true") == 0);
        return;
    default:
        lua_pushstring(L, text);
    }
}

/// A choice's value: checks the text on top of the stack against the list at `index`.
static void check_choice(lua_State *L, int index, const char *name) {
    const char *text = lua_tostring(L, -1);
    lua_Integer count = (lua_Integer)lua_rawlen(L, index);
    luaL_Buffer list;
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, index, i);
        bool same = strcmp(lua_tostring(L, -1), text) == 0;
        lua_pop(L, 1);
        if (same) {
            return;
        }
    }
    luaL_buffinit(L, &list);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, index, i);
        luaL_addvalue(&list);
        luaL_addstring(&list, i < count ? ", " : "");
    }
    luaL_pushresult(&list);
    stn_lua_fail(L, "parameter %s = \"%s\" must be one of: %s", name, text, lua_tostring(L, -1));
}

static void keep_text(lua_State *L, stn_session *session, char **to, const char *text) {
    char *copy = stn_duplicate_text(session->context, text);
    if (copy == NULL) {
        stn_lua_fail(L, "out of memory");
    }
    stn_release(session->context, *to);
    *to = copy;
}

/// Notes the value on top of the stack for the summary; a second declaration replaces the first.
static void note_parameter(lua_State *L, stn_session *session, const char *name, bool choice) {
    stn_parameter *p = NULL;
    for (int32_t i = 0; i < session->parameter_count; i++) {
        if (strcmp(session->parameters[i].name, name) == 0) {
            p = &session->parameters[i];
        }
    }
    if (p == NULL) {
        size_t count = (size_t)session->parameter_count;
        stn_parameter *grown = stn_reallocate(session->context, session->parameters, count, count + 1, sizeof *grown);
        if (grown == NULL) {
            stn_lua_fail(L, "out of memory");
        }
        session->parameters = grown;
        p = &grown[count];
        keep_text(L, session, &p->name, name);
        session->parameter_count++;
    }
    switch (lua_type(L, -1)) {
    case LUA_TNUMBER:
        p->type = STN_PARAMETER_NUMBER;
        p->number = lua_tonumber(L, -1);
        break;
    case LUA_TBOOLEAN:
        p->type = STN_PARAMETER_BOOL;
        p->number = lua_toboolean(L, -1) != 0 ? 1.0 : 0.0;
        break;
    default:
        p->type = choice ? STN_PARAMETER_CHOICE : STN_PARAMETER_TEXT;
        keep_text(L, session, &p->text, lua_tostring(L, -1));
    }
}

/// Pushes the value of the parameter whose default is at `index`.
static void push_parameter(lua_State *L, stn_session *session, const char *name, int index) {
    char text[40];
    const char *given = override_text(session, name, text, sizeof text);
    bool choice = is_made_by(L, index, CHOICE_TYPE), number = is_made_by(L, index, NUMBER_TYPE);
    int type = lua_type(L, index);
    if (!choice && !number && type != LUA_TNUMBER && type != LUA_TBOOLEAN && type != LUA_TSTRING) {
        stn_lua_fail(L,
                     "stn.params: %s must be a number, text, true, false, stn.number { ... } or stn.choice { ... }, "
                     "got %s",
                     name, lua_typename(L, type));
    }
    if (choice || number) {
        lua_rawgeti(L, index, 1); // the default
    } else {
        lua_pushvalue(L, index);
    }
    if (given != NULL) {
        push_override(L, lua_gettop(L), name, given);
    }
    if (lua_type(L, -1) == LUA_TNUMBER && isnan(lua_tonumber(L, -1))) {
        stn_lua_fail(L, "stn.params: %s is not a number (nan)", name);
    }
    if (choice) {
        check_choice(L, index, name);
    }
    if (number) {
        check_number(L, index, name);
    }
    note_parameter(L, session, name, choice);
}

static int refuse_parameter(lua_State *L) {
    stn_session *session = stn_lua_session(L);
    const char *names[65] = {NULL};
    for (int32_t i = 0; i < session->parameter_count && i < 64; i++) {
        names[i] = session->parameters[i].name;
    }
    stn_lua_unknown(L, "the parameter table", luaL_tolstring(L, 2, NULL), names);
}

/// stn.params { name = default }: the table of values.
static int params_new(lua_State *L) {
    stn_session *session = stn_lua_session(L);
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
