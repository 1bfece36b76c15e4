// SPDX-License-Identifier: Apache-2.0
// Reading tables as configuration: every key must be known, every number finite, and a message names owner, key and
// index.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bind.h"

static int32_t count_names(const char *const *names) {
    int32_t count = 0;
    while (names[count] != NULL) {
        count++;
    }
    return count;
}

/// Raises unless the key on the stack's top but one is in `keys` or a list entry up to `positional`.
static void check_key(const stn_fields *f, int key, const char *const *keys, int positional) {
    lua_State *L = f->L;
    if (lua_isinteger(L, key)) {
        lua_Integer i = lua_tointeger(L, key);
        if (i < 1 || i > positional) {
            stn_lua_fail(L, "%s: list entry [%lld] has no meaning here, %s", f->owner, (long long)i,
                         positional == 0 ? "name it: key = value" : "remove it or name it: key = value");
        }
        return;
    }
    if (lua_type(L, key) != LUA_TSTRING) {
        stn_lua_fail(L, "%s: a %s cannot be a key, use names", f->owner, luaL_typename(L, key));
    }
    const char *name = lua_tostring(L, key);
    for (int32_t i = 0; keys != NULL && keys[i] != NULL; i++) {
        if (strcmp(keys[i], name) == 0) {
            return;
        }
    }
    if (keys == NULL) {
        return;
    }
    const char *near = stn_suggest(name, keys, count_names(keys));
    if (near != NULL) {
        stn_lua_fail(L, "%s: unknown key '%s', did you mean '%s'?", f->owner, name, near);
    }
    luaL_Buffer list;
    luaL_buffinit(L, &list);
    for (int32_t i = 0; keys[i] != NULL; i++) {
        luaL_addstring(&list, i > 0 ? ", " : "");
        luaL_addstring(&list, keys[i]);
    }
    luaL_pushresult(&list);
    stn_lua_fail(L, "%s: unknown key '%s'; it takes: %s", f->owner, name, lua_tostring(L, -1));
}

stn_fields stn_fields_open(lua_State *L, int index, const char *owner, const char *const *keys, int positional) {
    stn_fields f = {L, lua_absindex(L, index), owner, false};
    luaL_checkstack(L, 40, NULL);
    if (lua_type(L, f.table) != LUA_TTABLE) {
        stn_lua_fail(L, "%s takes a table { key = value, ... }, got %s", owner,
                     lua_isnoneornil(L, f.table) ? "nothing" : luaL_typename(L, f.table));
    }
    lua_pushnil(L);
    while (lua_next(L, f.table) != 0) {
        check_key(&f, lua_gettop(L) - 1, keys, positional);
        lua_pop(L, 1);
    }
    return f;
}

bool stn_fields_push(const stn_fields *f, const char *key) {
    lua_pushstring(f->L, key);
    int type = f->raw ? lua_rawget(f->L, f->table) : lua_gettable(f->L, f->table);
    if (type == LUA_TNIL) {
        lua_pop(f->L, 1);
    }
    return type != LUA_TNIL;
}

/// The number on top of the stack, or an error that names it. Infinity passes when `infinite`.
static double take_real(lua_State *L, int index, const char *what, const char *unit, bool infinite) {
    if (lua_type(L, index) != LUA_TNUMBER) {
        const char *text = lua_type(L, index) == LUA_TSTRING ? lua_tostring(L, index) : NULL;
        stn_lua_fail(L, "%s must be a number [%s], got %s%s%s%s", what, unit,
                     text != NULL ? "the text \"" : (lua_isnil(L, index) ? "nothing" : luaL_typename(L, index)),
                     text != NULL ? text : "", text != NULL ? "\"" : "",
                     text != NULL ? "; write it without quotes" : "");
    }
    double value = lua_tonumber(L, index);
    if (isnan(value) || (isinf(value) && !infinite)) {
        stn_lua_fail(L, "%s = %s is not a finite number [%s]; correct the computation that made it", what,
                     isnan(value) ? "nan" : (value > 0.0 ? "inf" : "-inf"), unit);
    }
    return value;
}

double stn_lua_real(lua_State *L, int index, const char *what, const char *unit) {
    return take_real(L, index, what, unit, false);
}

void stn_lua_reals(lua_State *L, int index, const char *what, const char *unit, int32_t count, double *out) {
    int list = lua_absindex(L, index);
    if (lua_type(L, list) != LUA_TTABLE) {
        stn_lua_fail(L, "%s must be a list of %d numbers [%s], got %s", what, count, unit,
                     lua_isnoneornil(L, list) ? "nothing" : luaL_typename(L, list));
    }
    lua_Integer length = (lua_Integer)lua_rawlen(L, list);
    if (length != count) {
        stn_lua_fail(L, "%s has %lld number%s, it needs %d [%s]", what, (long long)length, length == 1 ? "" : "s",
                     count, unit);
    }
    for (int32_t i = 0; i < count; i++) {
        char name[160];
        snprintf(name, sizeof name, "%s[%d]", what, i + 1);
        lua_rawgeti(L, list, i + 1);
        out[i] = stn_lua_real(L, -1, name, unit);
        lua_pop(L, 1);
    }
}

stn_vec3 stn_lua_vector(lua_State *L, int index, const char *what, const char *unit) {
    double x[3];
    stn_lua_reals(L, index, what, unit, 3, x);
    return stn_vec3_make(x[0], x[1], x[2]);
}

void stn_lua_push_reals(lua_State *L, const double *values, int32_t count) {
    lua_createtable(L, count, 0);
    for (int32_t i = 0; i < count; i++) {
        lua_pushnumber(L, values[i]);
        lua_rawseti(L, -2, i + 1);
    }
}

void stn_lua_push_vector(lua_State *L, stn_vec3 v) {
    double x[3] = {v.x, v.y, v.z};
    stn_lua_push_reals(L, x, 3);
}

void stn_lua_set_number(lua_State *L, const char *key, double value) {
    lua_pushnumber(L, value);
    lua_setfield(L, -2, key);
}

void stn_lua_set_vector(lua_State *L, const char *key, stn_vec3 value) {
    stn_lua_push_vector(L, value);
    lua_setfield(L, -2, key);
}

/// "owner: key", for messages.
typedef struct label {
    char text[128];
} label;

static label name_of(const stn_fields *f, const char *key) {
    label name;
    snprintf(name.text, sizeof name.text, "%s: %s", f->owner, key);
    return name;
}

bool stn_fields_real(const stn_fields *f, const char *key, const char *unit, double *out) {
    if (!stn_fields_push(f, key)) {
        return false;
    }
    *out = stn_lua_real(f->L, -1, name_of(f, key).text, unit);
    lua_pop(f->L, 1);
    return true;
}

bool stn_fields_at_least(const stn_fields *f, const char *key, const char *unit, double low, double *out) {
    double value = 0.0;
    if (!stn_fields_real(f, key, unit, &value)) {
        return false;
    }
    if (!(value >= low)) {
        bool number = strcmp(unit, "1") == 0;
        stn_lua_fail(f->L, "%s: %s = %g must be >= %g%s%s", f->owner, key, value, low, number ? "" : " ",
                     number ? "" : unit);
    }
    *out = value;
    return true;
}

bool stn_fields_above_zero(const stn_fields *f, const char *key, const char *unit, double *out) {
    double value = 0.0;
    if (!stn_fields_real(f, key, unit, &value)) {
        return false;
    }
    if (!(value > 0.0)) {
        bool number = strcmp(unit, "1") == 0;
        stn_lua_fail(f->L, "%s: %s = %g%s%s must be > 0", f->owner, key, value, number ? "" : " ", number ? "" : unit);
    }
    *out = value;
    return true;
}

/// `huge` says what an infinite value is.
static bool take_above_zero(const stn_fields *f, const char *key, const char *unit, const char *huge, double *out) {
    if (!stn_fields_push(f, key)) {
        return false;
    }
    double value = take_real(f->L, -1, name_of(f, key).text, unit, true);
    lua_pop(f->L, 1);
    if (!(value > 0.0)) {
        stn_lua_fail(f->L, "%s: %s = %g %s must be > 0; math.huge is %s", f->owner, key, value, unit, huge);
    }
    *out = value;
    return true;
}

bool stn_fields_stiffness(const stn_fields *f, const char *key, const char *unit, double *out) {
    return take_above_zero(f, key, unit, "rigid", out);
}

bool stn_fields_reach(const stn_fields *f, const char *key, double *out) {
    return take_above_zero(f, key, "m", "no limit, as without it", out);
}

bool stn_fields_vector(const stn_fields *f, const char *key, const char *unit, stn_vec3 *out) {
    if (!stn_fields_push(f, key)) {
        return false;
    }
    *out = stn_lua_vector(f->L, -1, name_of(f, key).text, unit);
    lua_pop(f->L, 1);
    return true;
}

bool stn_fields_reals(const stn_fields *f, const char *key, const char *unit, int32_t count, double *out) {
    if (!stn_fields_push(f, key)) {
        return false;
    }
    stn_lua_reals(f->L, -1, name_of(f, key).text, unit, count, out);
    lua_pop(f->L, 1);
    return true;
}

bool stn_fields_integer(const stn_fields *f, const char *key, lua_Integer low, lua_Integer high, lua_Integer *out) {
    double value = 0.0;
    if (!stn_fields_real(f, key, "1", &value)) {
        return false;
    }
    if (!(value >= (double)low && value <= (double)high) || value != floor(value)) {
        stn_lua_fail(f->L, "%s: %s = %g must be a whole number from %lld to %lld", f->owner, key, value, (long long)low,
                     (long long)high);
    }
    *out = (lua_Integer)value;
    return true;
}

bool stn_fields_boolean(const stn_fields *f, const char *key, bool *out) {
    if (!stn_fields_push(f, key)) {
        return false;
    }
    if (!lua_isboolean(f->L, -1)) {
        stn_lua_fail(f->L, "%s: %s must be true or false, got %s", f->owner, key, luaL_typename(f->L, -1));
    }
    *out = lua_toboolean(f->L, -1) != 0;
    lua_pop(f->L, 1);
    return true;
}

const char *stn_fields_text(const stn_fields *f, const char *key) {
    if (!stn_fields_push(f, key)) {
        return NULL;
    }
    if (lua_type(f->L, -1) != LUA_TSTRING) {
        stn_lua_fail(f->L, "%s: %s must be a text, got %s", f->owner, key, luaL_typename(f->L, -1));
    }
    size_t size;
    const char *text = lua_tolstring(f->L, -1, &size); // stays alive: the table holds it
    if (strlen(text) != size) {
        stn_lua_fail(f->L, "%s: %s must be a text without the character \\0", f->owner, key);
    }
    lua_pop(f->L, 1);
    return text;
}

int stn_fields_choice(const stn_fields *f, const char *key, const char *const *words) {
    const char *text = stn_fields_text(f, key);
    if (text == NULL) {
        return -1;
    }
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], text) == 0) {
            return i;
        }
    }
    label name = name_of(f, key);
    stn_lua_unknown(f->L, name.text, text, words);
}
