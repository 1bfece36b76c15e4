// SPDX-License-Identifier: Apache-2.0
// What a scenario says about itself: checks, results, warnings.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lua/bind.h"

// ------------------------------------------------------------------------------------------------ checks and results

static const char results_key = 'r'; // its address is the registry key of a table: places of results by their names

static char *copy_text(stn_session *session, const char *text) {
    return text != NULL ? stn_duplicate_text(session->context, text) : NULL;
}

/// Room for one more behind `count`: twice as much whenever that is full, at powers of two. NULL: out of memory.
static void *room_for_one(stn_session *session, void *items, int32_t count, size_t size) {
    bool full = (count & (count - 1)) == 0;
    size_t wanted = count > 0 ? 2 * (size_t)count : 1;
    return full ? stn_reallocate(session->context, items, (size_t)count, wanted, size) : items;
}

bool stn_session_add_check(stn_session *session, const char *name, bool ok, double value, double limit,
                           const char *unit) {
    int32_t count = session->check_count;
    stn_check *grown = room_for_one(session, session->checks, count, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    session->checks = grown;
    char *name_copy = copy_text(session, name), *unit_copy = copy_text(session, unit);
    if (name_copy == NULL || (unit != NULL && unit_copy == NULL)) {
        stn_release(session->context, name_copy);
        stn_release(session->context, unit_copy);
        return false;
    }
    grown[count] = (stn_check){.name = name_copy, .ok = ok, .value = value, .limit = limit, .unit = unit_copy};
    session->check_count++;
    return true;
}

/// Messages say nan: which sign a computation left on it tells nobody anything.
static double without_sign_of_nan(double value) {
    return isnan(value) ? (double)NAN : value;
}

/// A number, NaN too; no text that looks like one. `what` names it in messages.
static double take_number(lua_State *L, int index, const char *what) {
    if (lua_type(L, index) != LUA_TNUMBER) {
        stn_lua_fail(L, "%s must be a number, got %s", what, luaL_typename(L, index));
    }
    return without_sign_of_nan(lua_tonumber(L, index));
}

/// stn.check(name, ok) or stn.check(name, { value =, limit =, unit = }): value <= limit; `least` instead of limit: >=.
static int check(lua_State *L) {
    static const char *const keys[] = {"value", "limit", "least", "unit", NULL};
    stn_session *session = stn_lua_session(L);
    const char *name = luaL_checkstring(L, 1);
    double value = NAN, limit = NAN, least = NAN;
    const char *unit = NULL;
    bool ok = lua_toboolean(L, 2) != 0;
    if (lua_type(L, 2) == LUA_TTABLE) {
        stn_fields f = stn_fields_open(L, 2, "stn.check", keys, 0);
        lua_getfield(L, 2, "value"); // may be nan: then the check fails
        if (lua_type(L, -1) != LUA_TNUMBER) {
            stn_lua_fail(L, "stn.check: '%s' needs value, a number, got %s", name, luaL_typename(L, -1));
        }
        value = without_sign_of_nan(lua_tonumber(L, -1));
        unit = stn_fields_text(&f, "unit");
        bool above = stn_fields_real(&f, "limit", "as the value", &limit);
        bool below = stn_fields_real(&f, "least", "as the value", &least);
        if (above == below) {
            stn_lua_fail(L, "stn.check: give limit (value <= limit) or least (value >= least)%s",
                         above ? ", not both" : "");
        }
        ok = above ? value <= limit : value >= least;
        limit = above ? limit : least;
    } else if (lua_type(L, 2) != LUA_TBOOLEAN) {
        stn_lua_fail(L, "stn.check: '%s' needs true, false or { value =, limit =, unit = }, got %s", name,
                     luaL_typename(L, 2));
    }
    if (!stn_session_add_check(session, name, ok, value, limit, unit)) {
        stn_lua_fail(L, "out of memory");
    }
    session->checks[session->check_count - 1].least = !isnan(least);
    if (!ok && session->owns_context) { // no command that would tell
        stn_log(session->context, STN_LOG_WARNING, "check failed: %s", name);
    }
    lua_pushboolean(L, ok);
    return 1;
}

/// Adds a result, which has a name of its own; false: out of memory.
static bool add_result(stn_session *session, const char *name, double value, const char *unit) {
    int32_t count = session->result_count;
    stn_result *grown = room_for_one(session, session->results, count, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    session->results = grown;
    char *name_copy = copy_text(session, name), *unit_copy = copy_text(session, unit);
    if (name_copy == NULL || (unit != NULL && unit_copy == NULL)) {
        stn_release(session->context, name_copy);
        stn_release(session->context, unit_copy);
        return false;
    }
    grown[count] = (stn_result){name_copy, value, unit_copy};
    session->result_count++;
    return true;
}

/// stn.result(name, value [, unit]): the last value of a name counts.
static int result(lua_State *L) {
    stn_session *session = stn_lua_session(L);
    const char *name = luaL_checkstring(L, 1), *unit = luaL_optstring(L, 3, NULL);
    double value = take_number(L, 2, "stn.result: the value");
    lua_settop(L, 3);
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &results_key) != LUA_TTABLE) {
        lua_settop(L, 3);
        lua_newtable(L);
        lua_pushvalue(L, 4);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &results_key);
    }
    lua_pushstring(L, name); // up to its first NUL, as the result has it
    if (lua_rawget(L, 4) == LUA_TNUMBER) {
        session->results[lua_tointeger(L, 5)].value = value;
        return 0;
    }
    if (!add_result(session, name, value, unit)) {
        stn_lua_fail(L, "out of memory");
    }
    lua_pushstring(L, name);
    lua_pushinteger(L, session->result_count - 1);
    lua_rawset(L, 4);
    return 0;
}

/// stn.warn(format, ...), as string.format.
static int warn(lua_State *L) {
    int count = lua_gettop(L);
    luaL_checkstring(L, 1);
    lua_getglobal(L, "string");
    lua_getfield(L, -1, "format");
    lua_insert(L, 1);
    lua_pop(L, 1);
    lua_call(L, count, 1);
    stn_lua_where(L);
    stn_log(stn_lua_session(L)->context, STN_LOG_WARNING, "%s%s", lua_tostring(L, -1), lua_tostring(L, -2));
    return 0;
}

const char *stn_session_failed_check(const stn_session *session, int32_t first, char *text, size_t size) {
    for (int32_t i = first; i < session->check_count; i++) {
        const stn_check *c = &session->checks[i];
        if (c->ok) {
            continue;
        }
        if (isnan(c->limit)) {
            snprintf(text, size, "check failed: %s", c->name);
        } else {
            snprintf(text, size, "check failed: %s: %g is not at %s %g%s%s", c->name, c->value,
                     c->least ? "least" : "most", c->limit, c->unit != NULL ? " " : "", c->unit != NULL ? c->unit : "");
        }
        return text;
    }
    return NULL;
}

const luaL_Reg stn_lua_report_functions[] = {
    {"check", check},
    {"result", result},
    {"warn", warn},
    {NULL, NULL},
};
