// SPDX-License-Identifier: Apache-2.0
// Errors with the script's position, and classes whose unknown members are errors.
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

void stn_lua_unknown(lua_State *L, const char *owner, const char *name, const char *const *names) {
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

/// Raises for an unknown member: collects the names of properties and, sorted, of methods.
static void refuse_member(lua_State *L, const class_info *info, const char *name) {
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
        refuse_member(L, info, name);
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
