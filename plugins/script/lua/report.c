// SPDX-License-Identifier: Apache-2.0
// What a scenario says about itself: parameters, checks, results, claims of tests.
#include <math.h>
#include <stdio.h>
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

/// stn.number { 0.5, min = 0, max = 2, unit = "m" }: a number within bounds, both of them included.
static int number_new(lua_State *L) {
    static const char *const keys[] = {"min", "max", "unit", NULL};
    double least = -INFINITY, most = INFINITY;
    stn_fields f = stn_fields_open(L, 1, "stn.number", keys, 1);
    if (lua_rawgeti(L, f.table, 1) != LUA_TNUMBER) {
        stn_lua_fail(L, "stn.number: needs a number, the default, and min, max or both; got %s", luaL_typename(L, -1));
    }
    double value = lua_tonumber(L, -1);
    bool low = stn_fields_real(&f, "min", "as the value", &least);
    bool high = stn_fields_real(&f, "max", "as the value", &most);
    stn_fields_text(&f, "unit");
    if (!low && !high) {
        stn_lua_fail(L, "stn.number: give min, max or both; a number without bounds is a plain default");
    }
    if (!(least <= value && value <= most)) {
        stn_lua_fail(L, "stn.number: the default %g is not within min = %g and max = %g", value, least, most);
    }
    luaL_newmetatable(L, NUMBER_TYPE);
    lua_setmetatable(L, f.table);
    lua_settop(L, f.table);
    return 1;
}

/// Pushes the value of the parameter whose default is at `index`.
static void push_parameter(lua_State *L, lua_session *session, const char *name, int index) {
    stn_script_parameter p = {.name = name};
    bool choice = is_made_by(L, index, CHOICE_TYPE), number = is_made_by(L, index, NUMBER_TYPE);
    if (choice) {
        p.choice_count = (int32_t)lua_rawlen(L, index);
        const char **choices = lua_newuserdatauv(L, sizeof *choices * (size_t)(p.choice_count + 1), 0);
        for (int32_t i = 0; i < p.choice_count; i++) {
            lua_rawgeti(L, index, i + 1);
            const char *text = lua_tostring(L, -1); // the table keeps it alive
            choices[i] = text != NULL ? text : "";
            lua_pop(L, 1);
        }
        p.choices = choices;
    } else if (number) {
        p.bounded = true;
        p.min = lua_getfield(L, index, "min") == LUA_TNUMBER ? lua_tonumber(L, -1) : (double)-INFINITY;
        p.max = lua_getfield(L, index, "max") == LUA_TNUMBER ? lua_tonumber(L, -1) : (double)INFINITY;
        lua_getfield(L, index, "unit");
        p.unit = lua_tostring(L, -1); // likewise
        lua_pop(L, 3);
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

// -------------------------------------------------------------------------------------------------- checks and results

// What a scenario says about itself: checks, results, warnings.

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
        char *text = session->failed_check;
        size_t size = sizeof session->failed_check;
        if (!c.measured) {
            snprintf(text, size, "check failed: %s", c.name);
        } else {
            snprintf(text, size, "check failed: %s: %g is not at %s %g%s%s", c.name, c.value,
                     c.least ? "least" : "most", c.limit, c.unit != NULL ? " " : "", c.unit != NULL ? c.unit : "");
        }
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

// ------------------------------------------------------------------------------------------------- stn.near, stn.fails

// Claims of tests: stn.near about numbers, lists and poses, stn.fails about errors.

/// What stn.near allows.
typedef struct allowance {
    double absolute, relative, angle; // as the value, of what is expected, [rad] for poses
    const char *unit;                 // "" when none is given
} allowance;

/// A finite number at least 0: what is allowed.
static double take_allowed(lua_State *L, int index, const char *what) {
    double allowed = lua_type(L, index) == LUA_TNUMBER ? lua_tonumber(L, index) : (double)NAN;
    if (!(allowed >= 0.0)) {
        stn_lua_fail(L, "stn.near: %s must be a number >= 0, got %s", what, luaL_tolstring(L, index, NULL));
    }
    return allowed;
}

static allowance take_allowance(lua_State *L, int index) {
    static const char *const keys[] = {"tolerance", "relative", "angle", "unit", NULL};
    allowance a = {.unit = ""};
    if (lua_type(L, index) != LUA_TTABLE) {
        a.absolute = a.angle = take_allowed(L, index, "the tolerance");
        return a;
    }
    stn_fields f = stn_fields_open(L, index, "stn.near", keys, 0);
    const char *unit = stn_fields_text(&f, "unit");
    a.unit = unit != NULL ? unit : "";
    bool absolute = stn_fields_at_least(&f, "tolerance", a.unit, 0.0, &a.absolute);
    bool relative = stn_fields_at_least(&f, "relative", "1", 0.0, &a.relative);
    a.angle = a.absolute;
    stn_fields_at_least(&f, "angle", "rad", 0.0, &a.angle);
    if (!absolute && !relative) {
        stn_lua_fail(L, "stn.near: give tolerance, relative or both");
    }
    return a;
}

static void compare(lua_State *L, int value, int expected, const allowance *a, const char *what) {
    double wanted = take_number(L, expected, "stn.near: what is expected"), got = take_number(L, value, what);
    double allowed = a->absolute + a->relative * fabs(wanted), off = got - wanted;
    if (got == wanted || fabs(off) <= allowed) {
        return;
    }
    const char *unit = a->unit, *gap = unit[0] != '\0' ? " " : "";
    stn_lua_fail(L, "%s = %.10g%s%s, expected %.10g%s%s: off by %.4g%s%s, allowed %.4g%s%s", what,
                 isnan(got) ? (double)NAN : got, gap, unit, wanted, gap, unit, isnan(off) ? (double)NAN : off, gap,
                 unit, allowed, gap, unit);
}

/// stn.near(value, expected, tolerance | { tolerance =, relative =, angle =, unit = }, what): numbers, lists of equal
/// length, poses.
static int near(lua_State *L) {
    stn_lua_claim(L);
    lua_settop(L, 4);
    allowance a = take_allowance(L, 3);
    const char *what = luaL_optstring(L, 4, "value");
    if (lua_type(L, 1) != LUA_TTABLE) {
        compare(L, 1, 2, &a, what);
        return 0;
    }
    luaL_checktype(L, 2, LUA_TTABLE);
    if (stn_lua_is_pose(L, 1) || stn_lua_is_pose(L, 2)) {
        stn_pose value, expected;
        stn_lua_pose(L, 1, what, &value);
        stn_lua_pose(L, 2, "stn.near: what is expected", &expected);
        stn_vec3 p = value.position, e = expected.position;
        stn_mat3 back = stn_mat3_transpose(&expected.rotation), turned = stn_mat3_mul(&back, &value.rotation);
        double off = stn_vec3_norm(stn_vec3_sub(p, e)),
               angle = stn_vec3_norm(stn_quat_log(stn_quat_from_matrix(&turned)));
        if (!(off <= a.absolute)) {
            stn_lua_fail(L,
                         "%s: xyz = {%.6g, %.6g, %.6g} m, expected {%.6g, %.6g, %.6g} m: off by %.4g m, allowed %.4g m",
                         what, p.x, p.y, p.z, e.x, e.y, e.z, off, a.absolute);
        }
        if (!(angle <= a.angle)) {
            stn_lua_fail(L, "%s: turned by %.4g rad from what is expected, allowed %.4g rad", what, angle, a.angle);
        }
    } else {
        lua_Integer count = (lua_Integer)lua_rawlen(L, 1);
        if (count != (lua_Integer)lua_rawlen(L, 2)) {
            stn_lua_fail(L, "%s has %lld numbers, expected %lld", what, (long long)count, (long long)lua_rawlen(L, 2));
        }
        for (lua_Integer i = 1; i <= count; i++) {
            lua_rawgeti(L, 1, i);
            lua_rawgeti(L, 2, i);
            const char *item = lua_pushfstring(L, "%s[%d]", what, (int)i);
            compare(L, -3, -2, &a, item);
            lua_pop(L, 3);
        }
    }
    return 0;
}

/// stn.fails(function, text): calls it; it must raise an error that contains `text`. Returns the message.
static int fails(lua_State *L) {
    stn_lua_claim(L);
    luaL_checktype(L, 1, LUA_TFUNCTION);
    const char *text = luaL_optstring(L, 2, "");
    lua_pushvalue(L, 1);
    if (lua_pcall(L, 0, 0, 0) == LUA_OK) {
        stn_lua_fail(L, "expected an error with \"%s\", there was none", text);
    }
    const char *message = luaL_tolstring(L, -1, NULL);
    if (strstr(message, text) == NULL) {
        stn_lua_fail(L, "expected an error with \"%s\", got \"%s\"", text, message);
    }
    return 1;
}

const luaL_Reg stn_lua_near_functions[] = {{"near", near}, {"fails", fails}, {NULL, NULL}};
