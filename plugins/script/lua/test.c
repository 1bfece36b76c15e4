// SPDX-License-Identifier: Apache-2.0
// Tests of a script: stn.test (or stn.it) declares one, stn.describe a group, fixtures make what tests need. A group
// runs when the outermost one is complete, a test outside of groups at once; where, is the affair of the host: the
// command `stiction test` gives each a process of its own, else they run here.
//
//     test  = { name = "group: test", limit_s, body, above = group, wanted }
//     group = { name, limit_s, above, values, fault, before_all = { f, ... }, ..., [1 ... n] = tests and groups }
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bind.h"

static const char current_key = 'g'; // its address is the registry key of the group that is being described

/// Tests that are run together: a list of them on the stack.
typedef struct test_list {
    lua_State *L;
    int index;
} test_list;

// -------------------------------------------------------------------------------------------------------------- skip

/// stn.skip(reason): ends the test, or the file, without a verdict.
static int skip(lua_State *L) {
    luaL_checkstring(L, 1);
    lua_createtable(L, 1, 0);
    lua_pushvalue(L, 1);
    lua_rawseti(L, -2, 1);
    luaL_newmetatable(L, STN_LUA_SKIP);
    lua_setmetatable(L, -2);
    return lua_error(L);
}

// -------------------------------------------------------------------------------------------------------- one test

static double limit_of(lua_State *L, int node) {
    double limit = lua_getfield(L, node, "limit_s") == LUA_TNUMBER ? lua_tonumber(L, -1) : (double)NAN;
    lua_pop(L, 1);
    return limit;
}

static const char *name_of(lua_State *L, int node) {
    lua_getfield(L, node, "name");
    const char *name = lua_tostring(L, -1);
    lua_pop(L, 1);
    return name; // the table keeps it alive
}

/// A verdict, and whether an error of the script gave it.
typedef struct judgement {
    stn_test_verdict verdict;
    bool raised;
} judgement;

/// How the protected call ended, whose error is on top of the stack unless it went well.
static void judge(lua_State *L, const lua_session *session, int status, judgement *j) {
    stn_test_verdict *verdict = &j->verdict;
    j->raised = status != LUA_OK;
    const char *reason = j->raised ? stn_lua_skip_reason(L, -1) : NULL;
    const char *fault = NULL;
    if (session->exited) {
        fault = session->exit_text;
    } else if (j->raised && reason == NULL) {
        fault = luaL_tolstring(L, -1, NULL);
    } else if (!j->raised && session->check_failed) {
        fault = session->failed_check;
    }
    verdict->outcome = fault != NULL ? STN_TEST_FAILED : reason != NULL ? STN_TEST_SKIPPED : STN_TEST_PASSED;
    snprintf(verdict->text, sizeof verdict->text, "%s", fault != NULL ? fault : reason != NULL ? reason : "");
}

/// Calls the functions of a group's list of fixtures, if there is one, with all values; what they return joins them.
static void call_fixtures(lua_State *L, int group, const char *list, int values) {
    if (lua_getfield(L, group, list) == LUA_TTABLE) {
        for (lua_Integer i = 1, count = (lua_Integer)lua_rawlen(L, -1); i <= count; i++) {
            int top = lua_gettop(L), given = (int)luaL_len(L, values);
            luaL_checkstack(L, given + 8, "too many values of fixtures");
            lua_rawgeti(L, -1, i);
            for (int k = 1; k <= given; k++) {
                lua_rawgeti(L, values, k);
            }
            lua_call(L, given, LUA_MULTRET);
            for (int k = lua_gettop(L); k > top; k--) {
                if (lua_isnil(L, -1)) {
                    stn_lua_fail(L, "stn.%s: value %d that the fixture returned is nil", list, k - top);
                }
                lua_rawseti(L, values, given + k - top);
            }
        }
    }
    lua_pop(L, 1);
}

/// before_each of all groups around, the outermost first.
static void set_up(lua_State *L, int group, int values) {
    luaL_checkstack(L, 8, "groups lie too deep");
    if (lua_getfield(L, group, "above") == LUA_TTABLE) {
        set_up(L, lua_gettop(L), values);
    }
    lua_pop(L, 1);
    call_fixtures(L, group, "before_each", values);
}

/// Arguments: test, table for the values of its fixtures.
static int run_body(lua_State *L) {
    if (lua_getfield(L, 1, "above") == LUA_TTABLE) {
        lua_getfield(L, 3, "values");
        for (lua_Integer i = 1, count = (lua_Integer)lua_rawlen(L, 4); i <= count; i++) {
            lua_rawgeti(L, 4, i);
            lua_rawseti(L, 2, i);
        }
        set_up(L, 3, 2);
    }
    int count = (int)lua_rawlen(L, 2);
    luaL_checkstack(L, count + 8, "too many values of fixtures");
    lua_getfield(L, 1, "body");
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, 2, i);
    }
    lua_call(L, count, 0);
    return 0;
}

/// after_each of all groups around, the innermost first. Arguments as for run_body.
static int clean_up(lua_State *L) {
    while (lua_getfield(L, 1, "above") == LUA_TTABLE) {
        lua_replace(L, 1);
        call_fixtures(L, 1, "after_each", 2);
    }
    return 0;
}

/// Tests of a group whose fixture failed share its verdict.
static bool take_fault(lua_State *L, int test, stn_test_verdict *verdict) {
    int top = lua_gettop(L);
    bool found = false;
    lua_pushvalue(L, test);
    do {
        if (lua_getfield(L, -1, "fault") == LUA_TUSERDATA) {
            *verdict = *(const stn_test_verdict *)lua_touserdata(L, -1);
            found = true;
        }
        lua_pop(L, 1);
    } while (!found && lua_getfield(L, -1, "above") == LUA_TTABLE);
    lua_settop(L, top);
    return found;
}

/// Runs a test of a list with its fixtures.
static void run_test(const test_list *list, int32_t index, judgement *whole) {
    lua_State *L = list->L;
    lua_session *session = stn_lua_session(L);
    int top = lua_gettop(L);
    lua_rawgeti(L, list->index, index + 1);
    if (!take_fault(L, top + 1, &whole->verdict)) {
        session->testing = true;
        session->check_failed = false;
        session->test_name = name_of(L, top + 1);
        lua_newtable(L);
        lua_pushcfunction(L, stn_lua_place_message);
        static const lua_CFunction parts[] = {run_body, clean_up};
        for (int i = 0; i < 2 && session->stopped == 0; i++) {
            judgement part;
            lua_pushcfunction(L, parts[i]);
            lua_pushvalue(L, top + 1);
            lua_pushvalue(L, top + 2);
            judge(L, session, lua_pcall(L, 2, 0, top + 3), &part);
            if (i == 0 || whole->verdict.outcome == STN_TEST_PASSED) {
                *whole = part;
            }
        }
        session->testing = false;
        session->test_name = NULL;
    }
    lua_settop(L, top);
}

static void perform(void *user, int32_t index, stn_test_verdict *verdict) {
    const test_list *list = user;
    lua_session *session = stn_lua_session(list->L);
    judgement j = {0};
    run_test(list, index, &j);
    if (session->host->isolates_tests) {
        // worlds end with the test, and with them recordings: only in a process of its own are they surely of no use
        lua_gc(list->L, LUA_GCCOLLECT);
        lua_gc(list->L, LUA_GCCOLLECT); // what finalizers let go
        if (session->unwritten.status < 0 && j.verdict.outcome == STN_TEST_PASSED) {
            j.verdict.outcome = STN_TEST_FAILED;
            snprintf(j.verdict.text, sizeof j.verdict.text, "%s", session->unwritten.text);
        }
    }
    *verdict = j.verdict;
}

// ------------------------------------------------------------------------------------------------------------- lists

static bool is_wanted(lua_State *L, int test) {
    bool wanted = lua_getfield(L, test, "wanted") != LUA_TNIL;
    lua_pop(L, 1);
    return wanted;
}

/// Runs the tests of the list on top of the stack, and takes it away.
static void run_list(lua_State *L) {
    const lua_session *session = stn_lua_session(L);
    stn_script_host *host = session->host;
    test_list list = {L, lua_gettop(L)};
    int32_t count = (int32_t)lua_rawlen(L, list.index);
    stn_test *tests = lua_newuserdatauv(L, sizeof *tests * (size_t)(count + 1), 0);
    for (int32_t i = 0; i < count; i++) {
        lua_rawgeti(L, list.index, i + 1);
        tests[i] = (stn_test){name_of(L, -1), limit_of(L, -1)};
        lua_pop(L, 1);
    }
    stn_test_batch batch = {tests, count, perform, &list};
    if (count > 0 && host != NULL) {
        stn_error err = {0};
        stn_lua_check_host(L, host->ops->tests(host, &batch, &err), &err);
    } else {
        // a stock interpreter: a test that fails raises its error
        for (int32_t i = 0; i < count; i++) {
            judgement j = {0};
            run_test(&list, i, &j);
            if (j.verdict.outcome == STN_TEST_FAILED && j.raised) {
                lua_pushstring(L, j.verdict.text);
                lua_error(L);
            }
        }
    }
    lua_settop(L, list.index - 1);
}

static void append(lua_State *L, int list, int node) {
    lua_pushvalue(L, node);
    lua_rawseti(L, list, (lua_Integer)lua_rawlen(L, list) + 1);
}

static bool is_test(lua_State *L, int node) {
    bool found = lua_getfield(L, node, "body") != LUA_TNIL;
    lua_pop(L, 1);
    return found;
}

/// Adds the wanted tests of a group and of those in it to a list.
static void gather(lua_State *L, int group, int list) {
    luaL_checkstack(L, 8, "groups lie too deep");
    for (lua_Integer i = 1; lua_rawgeti(L, group, i) != LUA_TNIL; i++) {
        int node = lua_gettop(L);
        if (!is_test(L, node)) {
            gather(L, node, list);
        } else if (is_wanted(L, node)) {
            append(L, list, node);
        }
        lua_settop(L, node - 1);
    }
    lua_pop(L, 1);
}

// ------------------------------------------------------------------------------------------------------------ groups

static void run_group(lua_State *L, int group);

/// Tests that follow one another are run together.
static void run_nodes(lua_State *L, int group) {
    lua_newtable(L);
    int list = lua_gettop(L);
    for (lua_Integer i = 1; lua_rawgeti(L, group, i) != LUA_TNIL; i++) {
        int node = lua_gettop(L);
        if (!is_test(L, node)) {
            lua_pushvalue(L, list);
            run_list(L);
            run_group(L, node);
            lua_newtable(L);
            lua_replace(L, list);
        } else if (is_wanted(L, node)) {
            append(L, list, node);
        }
        lua_settop(L, node - 1);
    }
    lua_settop(L, list);
    run_list(L);
}

/// Arguments: group, name of the list of fixtures.
static int call_group_fixtures(lua_State *L) {
    lua_getfield(L, 1, "values");
    call_fixtures(L, 1, lua_tostring(L, 2), 3);
    return 0;
}

/// Calls before_all or after_all. Pushes the verdict as `fault` unless it went well.
static bool try_fixtures(lua_State *L, int group, const char *which) {
    lua_session *session = stn_lua_session(L);
    int top = lua_gettop(L);
    judgement j;
    session->testing = true;
    session->check_failed = false;
    lua_pushcfunction(L, stn_lua_place_message);
    lua_pushcfunction(L, call_group_fixtures);
    lua_pushvalue(L, group);
    lua_pushstring(L, which);
    judge(L, session, lua_pcall(L, 2, 0, top + 1), &j);
    session->testing = false;
    lua_settop(L, top);
    if (j.verdict.outcome == STN_TEST_PASSED) {
        return true;
    }
    *(stn_test_verdict *)lua_newuserdatauv(L, sizeof j.verdict, 0) = j.verdict;
    return false;
}

/// Between before_all and after_all, whose failure counts as a test of its own.
static void run_between(void *user) {
    const test_list *place = user;
    lua_State *L = place->L;
    int group = place->index, top = lua_gettop(L);
    bool ready = try_fixtures(L, group, "before_all");
    if (!ready) {
        lua_setfield(L, group, "fault");
    }
    run_nodes(L, group);
    if (ready && !try_fixtures(L, group, "after_all")) {
        lua_createtable(L, 1, 0);
        lua_createtable(L, 0, 2);
        lua_pushfstring(L, "%s: after_all", name_of(L, group));
        lua_setfield(L, -2, "name");
        lua_pushvalue(L, top + 1);
        lua_setfield(L, -2, "fault");
        lua_rawseti(L, -2, 1);
        run_list(L);
    }
    lua_settop(L, top);
}

static bool has_fixtures_of_all(lua_State *L, int group) {
    bool found = lua_getfield(L, group, "before_all") != LUA_TNIL || lua_getfield(L, group, "after_all") != LUA_TNIL;
    lua_settop(L, group);
    return found;
}

/// The one on top of the stack.
static void run_group(lua_State *L, int group) {
    stn_script_host *host = stn_lua_session(L)->host;
    luaL_checkstack(L, 16, "groups lie too deep");
    // it starts with the values of the one around it
    lua_newtable(L);
    if (lua_getfield(L, group, "above") == LUA_TTABLE) {
        lua_getfield(L, -1, "values");
        for (lua_Integer i = 1, count = (lua_Integer)lua_rawlen(L, -1); i <= count; i++) {
            lua_rawgeti(L, -1, i);
            lua_rawseti(L, -4, i);
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    lua_setfield(L, group, "values");
    if (!(host != NULL && host->lists_tests) && has_fixtures_of_all(L, group)) {
        // in a process of its own when the session has them
        test_list place = {L, group};
        lua_newtable(L);
        int list = lua_gettop(L);
        gather(L, group, list);
        int32_t count = (int32_t)lua_rawlen(L, list);
        const char **names = lua_newuserdatauv(L, sizeof *names * (size_t)(count + 1), 0);
        for (int32_t i = 0; i < count; i++) {
            lua_rawgeti(L, list, i + 1);
            names[i] = name_of(L, -1);
            lua_pop(L, 1);
        }
        stn_test_group all = {name_of(L, group), names, count, run_between, &place};
        if (count > 0 && host != NULL) {
            host->ops->group(host, &all);
        } else if (count > 0) {
            run_between(&place);
        }
        lua_settop(L, group);
    } else {
        run_nodes(L, group);
    }
}

// ------------------------------------------------------------------------------------------------------- declarations

static void push_current(lua_State *L) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &current_key);
}

/// What is on top of the stack.
static void set_current(lua_State *L) {
    lua_rawsetp(L, LUA_REGISTRYINDEX, &current_key);
}

/// Arguments (name, [options,] function): leaves the function at 1, the group around or nil at 2, and at 3 a node that
/// has name, limit and the group above it.
static void open_node(lua_State *L, const char *owner) {
    static const char *const keys[] = {"limit_s", NULL};
    double limit = NAN;
    const char *name = luaL_checkstring(L, 1);
    if (stn_lua_session(L)->testing) {
        stn_lua_fail(L, "%s \"%s\": inside of a test or a fixture; declare it outside", owner, name);
    }
    bool options = lua_type(L, 2) == LUA_TTABLE;
    luaL_checktype(L, options ? 3 : 2, LUA_TFUNCTION);
    if (options) {
        stn_fields f = stn_fields_open(L, 2, owner, keys, 0);
        stn_fields_above_zero(&f, "limit_s", "s", &limit);
        lua_remove(L, 2);
    }
    lua_settop(L, 2);
    push_current(L);
    lua_createtable(L, 0, 4);
    bool inside = lua_istable(L, 3);
    if (inside) {
        limit = isnan(limit) ? limit_of(L, 3) : limit;
        name = lua_pushfstring(L, "%s: %s", name_of(L, 3), name);
        lua_pop(L, 1);
        lua_pushvalue(L, 3);
        lua_setfield(L, 4, "above");
    }
    lua_pushstring(L, name);
    lua_setfield(L, 4, "name");
    if (!isnan(limit)) {
        lua_pushnumber(L, limit);
        lua_setfield(L, 4, "limit_s");
    }
    if (inside) {
        append(L, 3, 4);
    }
    lua_remove(L, 1);
}

/// stn.test(name, [options,] function), stn.it: one test.
static int test(lua_State *L) {
    open_node(L, "stn.test");
    lua_pushvalue(L, 1);
    lua_setfield(L, 3, "body");
    stn_script_host *host = stn_lua_session(L)->host;
    bool wanted = host == NULL || host->ops->declare_test(host, name_of(L, 3));
    if (wanted) {
        lua_pushboolean(L, true);
        lua_setfield(L, 3, "wanted");
    }
    if (wanted && lua_isnil(L, 2)) {
        lua_createtable(L, 1, 0);
        append(L, 4, 3);
        run_list(L);
    }
    return 0;
}

/// stn.describe(name, [options,] function): the tests that the function declares are a group.
static int describe(lua_State *L) {
    open_node(L, "stn.describe");
    lua_pushvalue(L, 3);
    set_current(L);
    lua_pushcfunction(L, stn_lua_place_message);
    lua_pushvalue(L, 1);
    int status = lua_pcall(L, 0, 0, 4);
    lua_pushvalue(L, 2);
    set_current(L);
    if (status != LUA_OK) {
        return lua_error(L);
    }
    lua_settop(L, 3);
    if (lua_isnil(L, 2)) {
        run_group(L, 3);
    }
    return 0;
}

/// stn.before_all(function) and its like; upvalue: the name.
static int fixture(lua_State *L) {
    const char *name = lua_tostring(L, lua_upvalueindex(1));
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 1);
    push_current(L);
    if (lua_isnil(L, 2) || stn_lua_session(L)->testing) {
        stn_lua_fail(L, "stn.%s: stands in the function of a stn.describe, outside of tests", name);
    }
    if (lua_getfield(L, 2, name) == LUA_TNIL) {
        lua_newtable(L);
        lua_replace(L, 3);
        lua_pushvalue(L, 3);
        lua_setfield(L, 2, name);
    }
    append(L, 3, 1);
    return 0;
}

void stn_lua_add_fixtures(lua_State *L) {
    static const char *const names[] = {"before_all", "before_each", "after_each", "after_all"};
    for (int i = 0; i < STN_COUNT(names); i++) {
        lua_pushstring(L, names[i]);
        lua_pushcclosure(L, fixture, 1);
        lua_setfield(L, -2, names[i]);
    }
}

const luaL_Reg stn_lua_test_functions[] = {
    {"test", test}, {"it", test}, {"describe", describe}, {"skip", skip}, {NULL, NULL}};
