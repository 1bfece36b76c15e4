// SPDX-License-Identifier: Apache-2.0
// The session: overrides, what a script leaves behind, and the state's hold on it.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lua/bind.h"

static const char session_key = 's'; // its address is the registry key

void stn_session_init(stn_session *session, stn_context *context) {
    *session = (stn_session){.context = context, .dt = NAN, .seconds = NAN, .seed = -1, .end_time = NAN};
    session->statistics.energy_first = NAN;
    session->statistics.total_first = session->statistics.total_last = NAN;
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
    stn_release(context, session->skipped);
    stn_statistics_clear(context, &session->statistics);
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

/// What the command has an option for, whatever the script declares.
static bool is_world_option(const char *name) {
    static const char *const options[] = {"dt",         "threads", "seed",   "solver",  "law",
                                          "integrator", "contact", "factor", "stiction"};
    for (int32_t i = 0; i < STN_COUNT(options); i++) {
        if (strcmp(name, options[i]) == 0) {
            return true;
        }
    }
    return false;
}

stn_status stn_session_check_overrides(stn_session *session, stn_error *err) {
    for (int32_t i = 0; i < session->override_count && !session->overrides_shared; i++) {
        const stn_override *o = &session->overrides[i];
        if (o->used) {
            continue;
        }
        char known[512] = "";
        const char *names[64] = {NULL};
        int32_t count = 0;
        for (int32_t p = 0; p < session->parameter_count && count < STN_COUNT(names); p++) {
            names[count++] = session->parameters[p].name;
        }
        qsort(names, (size_t)count, sizeof *names, stn_lua_compare_names);
        for (int32_t p = 0; p < count; p++) {
            size_t used = strlen(known);
            snprintf(known + used, sizeof known - used, "%s%s", used > 0 ? ", " : "", names[p]);
        }
        if (is_world_option(o->name)) {
            return stn_fail(err, STN_ERR_PARAMETER,
                            "--set %s: the script declares no such parameter; --%s sets it for every world", o->name,
                            o->name);
        }
        const char *near = stn_suggest(o->name, names, count);
        if (near != NULL) {
            return stn_fail(err, STN_ERR_PARAMETER,
                            "--set %s: the script declares no such parameter, did you mean '%s'?", o->name, near);
        }
        return stn_fail(err, STN_ERR_PARAMETER,
                        "--set %s: the script declares no such parameter before its first world; it declares: %s",
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
