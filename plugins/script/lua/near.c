// SPDX-License-Identifier: Apache-2.0
// Claims of tests: stn.near about numbers, lists and poses, stn.fails about errors.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bind.h"

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

/// A number, NaN too; no text that looks like one. `what` names it in messages.
static double take_number(lua_State *L, int index, const char *what) {
    if (lua_type(L, index) != LUA_TNUMBER) {
        stn_lua_fail(L, "%s must be a number, got %s", what, luaL_typename(L, index));
    }
    return lua_tonumber(L, index);
}

void stn_lua_compare(lua_State *L, double value, double expected, double allowed, const char *unit, const char *what) {
    double off = value - expected;
    if (value == expected || fabs(off) <= allowed) {
        return;
    }
    const char *gap = unit[0] != '\0' ? " " : "";
    stn_lua_fail(L, "%s = %.10g%s%s, expected %.10g%s%s: off by %.4g%s%s, allowed %.4g%s%s", what,
                 isnan(value) ? (double)NAN : value, gap, unit, expected, gap, unit, isnan(off) ? (double)NAN : off,
                 gap, unit, allowed, gap, unit);
}

static void compare(lua_State *L, int value, int expected, const allowance *a, const char *what) {
    double wanted = take_number(L, expected, "stn.near: what is expected");
    stn_lua_compare(L, take_number(L, value, what), wanted, a->absolute + a->relative * fabs(wanted), a->unit, what);
}

static void compare_lists(lua_State *L, const allowance *a, const char *what) {
    lua_Integer count = (lua_Integer)lua_rawlen(L, 1);
    if (count != (lua_Integer)lua_rawlen(L, 2)) {
        stn_lua_fail(L, "%s has %lld numbers, expected %lld", what, (long long)count, (long long)lua_rawlen(L, 2));
    }
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, 1, i);
        lua_rawgeti(L, 2, i);
        const char *item = lua_pushfstring(L, "%s[%d]", what, (int)i);
        compare(L, -3, -2, a, item);
        lua_pop(L, 3);
    }
}

static bool is_pose(lua_State *L, int index) {
    static const char *const keys[] = {STN_POSE_KEYS};
    bool found = false;
    lua_pushvalue(L, index);
    for (int i = 0; i < STN_COUNT(keys) && !found; i++) {
        lua_pushstring(L, keys[i]);
        found = lua_rawget(L, -2) != LUA_TNIL;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return found;
}

static void compare_poses(lua_State *L, const allowance *a, const char *what) {
    stn_pose value, expected;
    stn_lua_pose(L, 1, what, &value);
    stn_lua_pose(L, 2, "stn.near: what is expected", &expected);
    stn_vec3 p = value.position, e = expected.position;
    stn_mat3 back = stn_mat3_transpose(&expected.rotation), turned = stn_mat3_mul(&back, &value.rotation);
    double off = stn_vec3_norm(stn_vec3_sub(p, e)), angle = stn_vec3_norm(stn_quat_log(stn_quat_from_matrix(&turned)));
    if (!(off <= a->absolute)) {
        stn_lua_fail(L, "%s: xyz = {%.6g, %.6g, %.6g} m, expected {%.6g, %.6g, %.6g} m: off by %.4g m, allowed %.4g m",
                     what, p.x, p.y, p.z, e.x, e.y, e.z, off, a->absolute);
    }
    if (!(angle <= a->angle)) {
        stn_lua_fail(L, "%s: turned by %.4g rad from what is expected, allowed %.4g rad", what, angle, a->angle);
    }
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
    if (is_pose(L, 1) || is_pose(L, 2)) {
        compare_poses(L, &a, what);
    } else {
        compare_lists(L, &a, what);
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
