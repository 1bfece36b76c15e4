// SPDX-License-Identifier: Apache-2.0
// What all files of the binding stand on: errors with the script's position, classes whose unknown members are errors,
// memory that an error cannot lose, and tables that are read as configuration.
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bind.h"

void stn_lua_where(lua_State *L) {
    lua_Debug frame;
    for (int level = 0; lua_getstack(L, level, &frame); level++) {
        lua_getinfo(L, "Sl", &frame);
        if (frame.currentline > 0) {
            lua_pushfstring(L, "%s:%d: ", frame.short_src, frame.currentline);
            return;
        }
    }
    lua_pushliteral(L, "");
}

void stn_lua_position(lua_State *L) {
    stn_lua_where(L);
    size_t length = 0;
    const char *where = lua_tolstring(L, -1, &length);
    lua_pushlstring(L, where, length > 2 ? length - 2 : 0);
    lua_remove(L, -2);
}

void stn_lua_fail(lua_State *L, const char *format, ...) {
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    stn_lua_where(L);
    lua_pushstring(L, text);
    lua_concat(L, 2);
    lua_error(L);
    __builtin_unreachable();
}

void stn_lua_check(lua_State *L, stn_status status, const stn_error *err) {
    if (status >= 0) {
        return;
    }
    stn_lua_where(L);
    const char *where = lua_tostring(L, -1);
    if (where[0] != '\0' && strncmp(err->text, where, strlen(where)) == 0) { // the core was told and says it itself
        lua_pushstring(L, err->text);
        lua_error(L);
    }
    stn_lua_fail(L, "%s", err->text);
}

/// Names of earlier versions, each followed by its name of today.
static const char *const renamed[][2] = {{"prescribe", "kinematic"}, {"robot", "group"}, {"robots", "groups"}};

/// The name of today of what was called `name` in an earlier version, when it is among `names` (NULL-terminated; NULL:
/// any); else NULL.
static const char *name_today(const char *name, const char *const *names) {
    for (size_t i = 0; i < STN_COUNT(renamed); i++) {
        bool there = names == NULL;
        for (const char *const *n = names; !there && *n != NULL; n++) {
            there = strcmp(*n, renamed[i][1]) == 0;
        }
        if (there && strcmp(renamed[i][0], name) == 0) {
            return renamed[i][1];
        }
    }
    return NULL;
}

static int index_answer(lua_State *L) {
    const char *now = lua_type(L, 2) == LUA_TSTRING ? name_today(lua_tostring(L, 2), NULL) : NULL;
    if (now != NULL) {
        stn_lua_fail(L, "'%s' is called '%s' now", lua_tostring(L, 2), now);
    }
    return 0;
}

void stn_lua_tell_renamed(lua_State *L) {
    if (luaL_newmetatable(L, "stiction.answer")) {
        lua_pushcfunction(L, index_answer);
        lua_setfield(L, -2, "__index");
    }
    lua_setmetatable(L, -2);
}

void stn_lua_unknown(lua_State *L, const char *owner, const char *name, const char *const *names) {
    const char *now = name_today(name, names);
    if (now != NULL) {
        stn_lua_fail(L, "%s: '%s' is called '%s' now", owner, name, now);
    }
    int32_t count = 0;
    while (names[count] != NULL) {
        count++;
    }
    const char *near = stn_suggest(name, names, count);
    if (near != NULL) {
        stn_lua_fail(L, "%s has no '%s', did you mean '%s'?", owner, name, near);
    }
    luaL_Buffer list;
    luaL_buffinit(L, &list);
    for (int32_t i = 0; i < count; i++) {
        luaL_addstring(&list, i > 0 ? ", " : "");
        luaL_addstring(&list, names[i]);
    }
    luaL_pushresult(&list);
    stn_lua_fail(L, "%s has no '%s'; it has: %s", owner, name, count > 0 ? lua_tostring(L, -1) : "nothing");
}

void *stn_lua_self(lua_State *L, int index, const char *type) {
    void *self = luaL_testudata(L, index, type);
    lua_Debug call = {0};
    if (self == NULL && index == 1 && lua_getstack(L, 0, &call) && lua_getinfo(L, "n", &call) && call.name != NULL &&
        strncmp(call.name, "__", 2) != 0) {
        const char *class = strchr(type, '.') + 1;
        stn_lua_fail(L, "%s is a function of a %s, got %s; call it with a colon, %s:%s(...)", call.name, class,
                     luaL_typename(L, 1), class, call.name);
    }
    return self != NULL ? self : luaL_checkudata(L, index, type);
}

/// What the index function of a class needs.
typedef struct class_info {
    const char *type;
    stn_lua_getter get;
    const char *const *properties;
} class_info;

int stn_lua_compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int index_object(lua_State *L) {
    const class_info *info = lua_touserdata(L, lua_upvalueindex(2));
    void *self = luaL_checkudata(L, 1, info->type);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) {
        return 1;
    }
    if (lua_type(L, 2) != LUA_TSTRING) {
        stn_lua_fail(L, "%s cannot be indexed with a %s", strchr(info->type, '.') + 1, luaL_typename(L, 2));
    }
    const char *name = lua_tostring(L, 2);
    if (info->get == NULL || !info->get(L, self, name)) {
        // unknown: the names of properties and, sorted, of methods are told
        const char *names[128];
        int32_t count = 0;
        for (const char *const *p = info->properties; p != NULL && *p != NULL && count < 64; p++) {
            names[count++] = *p;
        }
        int32_t methods = count;
        lua_pushnil(L);
        while (count < STN_COUNT(names) - 1 && lua_next(L, lua_upvalueindex(1)) != 0) {
            lua_pop(L, 1);
            names[count++] = lua_tostring(L, -1);
        }
        qsort(&names[methods], (size_t)(count - methods), sizeof *names, stn_lua_compare_names);
        names[count] = NULL;
        stn_lua_unknown(L, strchr(info->type, '.') + 1, name, names);
    }
    return 1;
}

static int refuse_assignment(lua_State *L) {
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : luaL_typename(L, 2);
    const char *setter = lua_pushfstring(L, "set_%s", name);
    if (lua_getfield(L, lua_upvalueindex(1), setter) != LUA_TNIL) {
        stn_lua_fail(L, "'%s' cannot be assigned; use %s", name, setter);
    }
    stn_lua_fail(L, "'%s' cannot be assigned; use the object's set functions", name);
}

void stn_lua_class(lua_State *L, const char *type, const luaL_Reg *methods, const luaL_Reg *meta, stn_lua_getter get,
                   const char *const *properties) {
    luaL_newmetatable(L, type);
    luaL_setfuncs(L, meta, 0);
    lua_newtable(L);
    luaL_setfuncs(L, methods, 0);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "__methods");
    lua_pushvalue(L, -1);
    lua_pushcclosure(L, refuse_assignment, 1);
    lua_setfield(L, -3, "__newindex");
    class_info *info = lua_newuserdatauv(L, sizeof *info, 0);
    *info = (class_info){type, get, properties};
    lua_pushcclosure(L, index_object, 2);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}

void stn_lua_extend(lua_State *L, const char *type, const luaL_Reg *methods) {
    luaL_getmetatable(L, type);
    lua_getfield(L, -1, "__methods");
    luaL_setfuncs(L, methods, 0);
    lua_pop(L, 2);
}

// ------------------------------------------------------------------------------------------------------------ messages

const char *stn_lua_skip_reason(lua_State *L, int index) {
    int at = lua_absindex(L, index), top = lua_gettop(L);
    const char *reason = NULL;
    luaL_getmetatable(L, STN_LUA_SKIP);
    if (lua_type(L, at) == LUA_TTABLE && lua_getmetatable(L, at) != 0 && lua_rawequal(L, -1, -2)) {
        lua_rawgeti(L, at, 1);
        reason = lua_tostring(L, -1); // the table keeps it alive
    }
    lua_settop(L, top);
    return reason;
}

bool stn_lua_has_place(const char *text) {
    for (const char *colon = strchr(text, ':'); colon != NULL; colon = strchr(colon + 1, ':')) {
        size_t digits = strspn(colon + 1, "0123456789");
        if (digits > 0 && colon[1 + digits] == ':') {
            return true;
        }
    }
    return false;
}

static int show_object(lua_State *L) {
    luaL_tolstring(L, 1, NULL);
    return 1;
}

int stn_lua_place_message(lua_State *L) {
    if (stn_lua_skip_reason(L, 1) != NULL) {
        return 1;
    }
    if (lua_type(L, 1) != LUA_TSTRING) {
        // a script may raise anything, also what fails when it is shown
        bool shows = lua_isnumber(L, 1) || luaL_getmetafield(L, 1, "__tostring") != LUA_TNIL;
        lua_settop(L, 1);
        lua_pushcfunction(L, show_object);
        lua_pushvalue(L, 1);
        if (!shows || lua_pcall(L, 1, 1, 0) != LUA_OK) {
            lua_pushfstring(L, "the script raised a %s value; raise a text", luaL_typename(L, 1));
        }
        lua_replace(L, 1);
        lua_settop(L, 1);
    }
    if (!stn_lua_has_place(lua_tostring(L, 1))) {
        stn_lua_where(L);
        lua_insert(L, 1);
        lua_concat(L, 2);
    }
    return 1;
}

// -------------------------------------------------------------------------------------------------------------- memory

// Memory of the core in Lua's hand: an error unwinds the C stack, Lua's collector then releases what was held.

static const char class_name[] = "stiction.owned";

typedef struct owned {
    void (*release)(void *object);
    max_align_t object[]; // of the size that was asked for
} owned;

static void drop(owned *o) {
    if (o->release != NULL) {
        o->release(o->object);
        o->release = NULL;
    }
}

static int collect(lua_State *L) {
    drop(lua_touserdata(L, 1));
    return 0;
}

void *stn_lua_own(lua_State *L, size_t size, void (*release)(void *object)) {
    owned *o = lua_newuserdatauv(L, sizeof *o + size, 0);
    memset(o, 0, sizeof *o + size);
    o->release = release;
    if (luaL_newmetatable(L, class_name) != 0) {
        lua_pushcfunction(L, collect);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return o->object;
}

void stn_lua_release(lua_State *L, int index) {
    drop(lua_touserdata(L, index));
}

// ------------------------------------------------------------------------------------------------------ checked tables

// Reading tables as configuration: every key must be known, every number finite, and a message names owner, key and
// index.

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
    const char *now = name_today(name, keys);
    if (now != NULL) {
        stn_lua_fail(L, "%s: '%s' is called '%s' now", f->owner, name, now);
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

void stn_lua_push_rows(lua_State *L, const double *values, int32_t rows, int32_t columns) {
    lua_createtable(L, rows, 0);
    for (int32_t i = 0; i < rows; i++) {
        stn_lua_push_reals(L, values + (size_t)i * (size_t)columns, columns);
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
