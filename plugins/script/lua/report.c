// SPDX-License-Identifier: Apache-2.0
// What a scenario says about itself: checks, results, warnings.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bind.h"

// ------------------------------------------------------------------------------------------------ checks and results

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

/// What tests say of a check that failed.
static void describe_check(const stn_script_check *c, char *text, size_t size) {
    if (!c->measured) {
        snprintf(text, size, "check failed: %s", c->name);
    } else {
        snprintf(text, size, "check failed: %s: %g is not at %s %g%s%s", c->name, c->value, c->least ? "least" : "most",
                 c->limit, c->unit != NULL ? " " : "", c->unit != NULL ? c->unit : "");
    }
}

/// stn.check(name, ok) or stn.check(name, { value =, limit =, unit = }): value <= limit; `least` instead of limit: >=.
static int check(lua_State *L) {
    static const char *const keys[] = {"value", "limit", "least", "unit", NULL};
    lua_session *session = stn_lua_session(L);
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
    stn_script_check c = {name, ok, !isnan(limit), !isnan(least), value, limit, unit};
    stn_error err = {0};
    if (session->host != NULL) {
        stn_lua_check_host(L, session->host->ops->check(session->host, &c, &err), &err);
    } else if (!ok) { // no command that would tell
        stn_log(session->context, STN_LOG_WARNING, "check failed: %s", name);
    }
    if (!ok && !session->check_failed) {
        session->check_failed = true;
        describe_check(&c, session->failed_check, sizeof session->failed_check);
    }
    lua_pushboolean(L, ok);
    return 1;
}

/// stn.result(name, value [, unit]): the last value of a name counts.
static int result(lua_State *L) {
    lua_session *session = stn_lua_session(L);
    const char *name = luaL_checkstring(L, 1), *unit = luaL_optstring(L, 3, NULL);
    double value = take_number(L, 2, "stn.result: the value");
    stn_error err = {0};
    if (session->host != NULL) {
        stn_lua_check_host(L, session->host->ops->result(session->host, name, value, unit, &err), &err);
    }
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

const luaL_Reg stn_lua_report_functions[] = {
    {"check", check},
    {"result", result},
    {"warn", warn},
    {NULL, NULL},
};
