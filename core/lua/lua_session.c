// SPDX-License-Identifier: Apache-2.0
// The session: overrides, declared scenario parameters, and the state's hold on it.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lua/bind.h"

static const char session_key = 's'; // its address is the registry key

void stn_session_init(stn_session *session, stn_context *context) {
    *session = (stn_session){.context = context, .dt = NAN, .seconds = NAN, .seed = -1, .end_time = NAN};
    session->statistics.energy_first = NAN;
    session->statistics.energy_last = NAN;
}

void stn_session_clear(stn_session *session) {
    stn_context *context = session->context;
    for (int32_t i = 0; i < session->parameter_count; i++) {
        stn_release(context, session->parameters[i].name);
        stn_release(context, session->parameters[i].text);
    }
    for (int32_t i = 0; i < session->check_count; i++) {
        stn_release(context, session->checks[i].name);
        stn_release(context, session->checks[i].unit);
    }
    for (int32_t i = 0; i < session->result_count; i++) {
        stn_release(context, session->results[i].name);
        stn_release(context, session->results[i].unit);
    }
    for (int32_t i = 0; i < session->override_count; i++) {
        stn_release(context, session->overrides[i].name);
    }
    stn_release(context, session->parameters);
    stn_release(context, session->checks);
    stn_release(context, session->results);
    stn_release(context, session->overrides);
    stn_release(context, session->assertion);
    stn_release(context, session->scene);
    stn_statistics_clear(session);
    if (session->owns_context) {
        stn_context_destroy(context);
    }
    *session = (stn_session){0};
}

stn_status stn_session_set(stn_session *session, const char *assignment, stn_error *err) {
    const char *equals = strchr(assignment, '=');
    if (equals == NULL || equals == assignment) {
        return stn_fail(err, STN_ERR_ARGUMENT, "--set %s: write name=value", assignment);
    }
    size_t count = (size_t)session->override_count;
    stn_override *grown = stn_reallocate(session->context, session->overrides, count, count + 1, sizeof *grown);
    if (grown == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "--set: out of memory");
    }
    session->overrides = grown;
    size_t length = (size_t)(equals - assignment);
    char *name = stn_allocate(session->context, length + 1, 1);
    if (name == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "--set: out of memory");
    }
    memcpy(name, assignment, length);
    grown[count] = (stn_override){.name = name, .text = equals + 1};
    session->override_count++;
    return STN_OK;
}

stn_status stn_session_check_overrides(stn_session *session, stn_error *err) {
    for (int32_t i = 0; i < session->override_count; i++) {
        const stn_override *o = &session->overrides[i];
        if (o->used) {
            continue;
        }
        char known[512] = "";
        const char *names[64] = {NULL};
        int32_t count = 0;
        for (int32_t p = 0; p < session->parameter_count && count < STN_COUNT(names); p++) {
            names[count++] = session->parameters[p].name;
            size_t used = strlen(known);
            snprintf(known + used, sizeof known - used, "%s%s", used > 0 ? ", " : "", session->parameters[p].name);
        }
        const char *near = stn_suggest(o->name, names, count);
        if (near != NULL) {
            return stn_fail(err, STN_ERR_PARAMETER,
                            "--set %s: the script declares no such parameter, did you mean '%s'?", o->name, near);
        }
        return stn_fail(err, STN_ERR_PARAMETER, "--set %s: the script declares no such parameter; it declares: %s",
                        o->name, count > 0 ? known : "none");
    }
    return STN_OK;
}

int32_t stn_session_failed_checks(const stn_session *session) {
    int32_t failed = 0;
    for (int32_t i = 0; i < session->check_count; i++) {
        failed += !session->checks[i].ok;
    }
    return failed;
}

// ------------------------------------------------------------------------------------------- hold of the Lua state

void stn_session_install(lua_State *L, stn_session *session) {
    lua_pushlightuserdata(L, session);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &session_key);
}

static int release_session(lua_State *L) {
    stn_session *session = lua_touserdata(L, 1);
    if (session->context != NULL) {
        stn_session_clear(session);
    }
    return 0;
}

/// A stock interpreter: a session of its own, finalised after every object that was made later.
static stn_session *make_default(lua_State *L) {
    stn_session *session = lua_newuserdatauv(L, sizeof *session, 0);
    stn_session_init(session, NULL);
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, release_session);
    lua_setfield(L, -2, "__gc");
    stn_error err = {0};
    stn_lua_check(L, stn_context_create(NULL, &session->context, &err), &err);
    session->owns_context = true;
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &session_key);
    return session;
}

stn_session *stn_lua_session(lua_State *L) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &session_key);
    stn_session *session = lua_touserdata(L, -1);
    lua_pop(L, 1);
    if (session == NULL) {
        session = make_default(L);
    }
    if (session->context == NULL) {
        stn_lua_fail(L, "the state is being closed");
    }
    return session;
}

// ---------------------------------------------------------------------------------------- declared parameters

#define CHOICE_TYPE "stiction.choice"

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

static bool is_choice(lua_State *L, int index) {
    int top = lua_gettop(L);
    luaL_getmetatable(L, CHOICE_TYPE);
    bool same = lua_type(L, index) == LUA_TTABLE && lua_getmetatable(L, index) != 0 && lua_rawequal(L, -1, -2);
    lua_settop(L, top);
    return same;
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
    bool choice = is_choice(L, index);
    int type = lua_type(L, index);
    if (!choice && type != LUA_TNUMBER && type != LUA_TBOOLEAN && type != LUA_TSTRING) {
        stn_lua_fail(L, "stn.params: %s must be a number, text, true, false or stn.choice { ... }, got %s", name,
                     lua_typename(L, type));
    }
    if (choice && given == NULL) {
        lua_rawgeti(L, index, 1);
    } else if (given == NULL) {
        lua_pushvalue(L, index);
    } else {
        push_override(L, index, name, given);
    }
    if (lua_type(L, -1) == LUA_TNUMBER && isnan(lua_tonumber(L, -1))) {
        stn_lua_fail(L, "stn.params: %s is not a number (nan)", name);
    }
    if (choice) {
        check_choice(L, index, name);
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

const luaL_Reg stn_lua_session_functions[] = {
    {"params", params_new},
    {"choice", choice_new},
    {NULL, NULL},
};
