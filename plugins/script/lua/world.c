// SPDX-License-Identifier: Apache-2.0
// stn.world { ... }: creation, completion of the model, properties, life; and the module "stiction".
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <stiction/lua.h>

#include "bind.h"

// ------------------------------------------------------------------------------------------------------- options

static int world_new(lua_State *L) {
    static const char *const points[] = {"stiffness", "midpoint", "a", "b", NULL};
    static const char *const relaxations[] = {"sum", "series", NULL};
    static const char *const certificates[] = {"full", "light", NULL};
    static const char *const keys[] = {
        "dt",          "gravity",        "solver",          "law",        "contact", "integrator",  "factor",
        "margin",      "contact_point",  "relaxation_rule", "seed",       "threads", "certificate", "stiction",
        "margin_only", "exact_contacts", "sleep_velocity",  "sleep_time", "varied",  NULL};
    lua_session *session = stn_lua_session(L);
    if (lua_gettop(L) == 0) {
        lua_newtable(L);
    }
    stn_fields f = stn_fields_open(L, 1, "stn.world", keys, 0);
    stn_world_options o = stn_world_options_default();
    lua_Integer whole = 0;
    stn_fields_above_zero(&f, "dt", "s", &o.dt);
    stn_fields_vector(&f, "gravity", "m/s^2", &o.gravity);
    stn_fields_at_least(&f, "margin", "m", 0.0, &o.margin);
    int point = stn_fields_choice(&f, "contact_point", points);
    if (point >= 0) {
        o.contact_point = (stn_contact_point_rule)point;
    }
    o.relaxation_rule =
        stn_fields_choice(&f, "relaxation_rule", relaxations) == 1 ? STN_RELAXATION_SERIES : STN_RELAXATION_SUM;
    o.certificate_light = stn_fields_choice(&f, "certificate", certificates) == 1;
    stn_fields_boolean(&f, "stiction", &o.stiction);
    stn_fields_boolean(&f, "exact_contacts", &o.exact_contacts);
    stn_fields_boolean(&f, "margin_only", &o.margin_only);
    stn_fields_at_least(&f, "sleep_velocity", "m/s", 0.0, &o.sleep_velocity);
    stn_fields_above_zero(&f, "sleep_time", "s", &o.sleep_time);
    stn_fields_boolean(&f, "varied", &o.varied);
    if (stn_fields_integer(&f, "threads", 1, 1024, &whole)) {
        o.threads = (int32_t)whole;
    }
    if (stn_fields_integer(&f, "seed", 0, INT64_C(1) << 53, &whole)) {
        o.seed = (uint64_t)whole;
    }
    o.solver = stn_fields_plugin(&f, "solver");
    o.law = stn_fields_plugin(&f, "law");
    o.contact = stn_fields_plugin(&f, "contact");
    o.integrator = stn_fields_plugin(&f, "integrator");
    o.factor = stn_fields_plugin(&f, "factor");
    stn_error err = {0};
    if (session->host != NULL) {
        stn_lua_check_host(L, session->host->ops->options(session->host, &o, &err), &err);
    }
    stn_lua_load_plugin(L, STN_KIND_SOLVER, o.solver.id);
    stn_lua_load_plugin(L, STN_KIND_LAW, o.law.id);
    stn_lua_load_plugin(L, STN_KIND_CONTACT, o.contact.id);
    stn_lua_load_plugin(L, STN_KIND_INTEGRATOR, o.integrator.id);
    stn_lua_load_plugin(L, STN_KIND_FACTOR, o.factor.id);
    stn_lua_world *w = stn_lua_push_world(L, session);
    stn_lua_check(L, stn_world_create(session->context, &o, &w->world, &err), &err);
    return 1;
}

static int world_from_capsule(lua_State *L) {
    lua_session *session = stn_lua_session(L);
    const char *path = luaL_checkstring(L, 1);
    const stn_script_host *host = session->host;
    stn_replay_options options = {.threads = host != NULL ? host->threads : 0};
    static const stn_kind kinds[] = {STN_KIND_SOLVER, STN_KIND_LAW, STN_KIND_CONTACT, STN_KIND_INTEGRATOR,
                                     STN_KIND_FACTOR};
    for (int i = 0; i < STN_COUNT(kinds); i++) {
        stn_lua_override(L, kinds[i], &options.plugin[kinds[i]]);
    }
    stn_error err = {0};
    stn_lua_world *w = stn_lua_push_world(L, session);
    stn_lua_check(L, stn_capsule_load(session->context, path, &options, &w->world, &err), &err);
    if (host != NULL && !isnan(host->dt)) {
        stn_lua_check(L, stn_world_set_dt(w->world, host->dt, &err), &err);
    }
    return 1;
}

// ---------------------------------------------------------------------------------------------------- life, access

/// A fork has no part in the recording: the thread that writes it is elsewhere, and the file is written there.
static bool is_recorded_elsewhere(const stn_lua_world *w) {
    return w->recorded_by != 0 && w->recorded_by != getpid();
}

/// Closes the world's recordings and destroys it; accepts one that is closed.
static stn_status end_world(stn_lua_world *w, stn_error *err) {
    stn_script_host *host = w->session->host;
    stn_world *world = w->world;
    w->world = NULL;
    if (world == NULL || is_recorded_elsewhere(w)) {
        return STN_OK;
    }
    if (host != NULL) {
        return host->ops->end(host, world, err);
    }
    stn_status status = stn_world_close_recordings(world, err);
    stn_world_destroy(world);
    return status;
}

static int world_close(lua_State *L) {
    stn_lua_world *w = luaL_checkudata(L, 1, STN_LUA_WORLD);
    if (w->world != NULL && !is_recorded_elsewhere(w)) {
        stn_lua_world_idle(L, 1, "world:close");
        if (w->runs_tasks) {
            stn_lua_fail(L, "world:close: not inside a task of this world, which its steps drive");
        }
        stn_lua_tasks_end(L, 1); // a task that cleans up may close it
    }
    stn_error err = {0};
    stn_lua_check(L, end_world(w, &err), &err);
    return 0;
}

/// A finaliser cannot raise: the first failure while recordings are closed is kept for the end of the script, others
/// are logged, and all where nobody runs it (a stock lua5.4).
static int world_collect(lua_State *L) {
    stn_lua_world *w = luaL_checkudata(L, 1, STN_LUA_WORLD);
    lua_session *session = w->session;
    stn_error err = {0};
    stn_status status = end_world(w, &err);
    if (status < 0 && (session->host == NULL || session->unwritten.status < 0)) {
        stn_log(session->context, STN_LOG_ERROR, "%s", err.text);
    } else if (status < 0) {
        session->unwritten = err;
        session->unwritten.status = status;
    }
    return 0;
}

static int world_clone(lua_State *L) {
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    stn_lua_tasks_refuse(L, 1, "world:clone", "code that waits cannot be copied");
    stn_lua_world *copy = stn_lua_push_twin(L, 1, w);
    stn_error err = {0};
    stn_lua_check(L, stn_world_clone(w->world, &copy->world, &err), &err);
    stn_lua_motions_copy(L, 1, lua_gettop(L));
    stn_lua_updates_copy(L, 1, lua_gettop(L));
    return 1;
}

// ------------------------------------------------------------------------------------------------------ properties

static const char *const world_properties[] = {"time", "dt", "steps",      "gravity",    "parameters",
                                               "nq",   "nv", "body_count", "integrator", NULL};

static bool get_world(lua_State *L, void *self, const char *name) {
    stn_lua_world *w = self;
    if (w->world == NULL) {
        stn_lua_fail(L, "this world was closed");
    }
    if (strcmp(name, "dt") == 0) {
        lua_pushnumber(L, stn_world_dt(w->world));
        return true;
    }
    if (strcmp(name, "parameters") == 0) {
        lua_pushstring(L, stn_world_parameters(w->world));
        return true;
    }
    if (strcmp(name, "integrator") == 0) {
        lua_pushstring(L, stn_world_plugin(w->world, STN_KIND_INTEGRATOR)->desc->id);
        return true;
    }
    bool known = false;
    for (int i = 0; world_properties[i] != NULL; i++) {
        known = known || strcmp(world_properties[i], name) == 0;
    }
    if (!known) {
        return false;
    }
    stn_lua_world_complete(L, 1, w);
    const stn_state *state = stn_world_state(w->world);
    const stn_model *model = stn_world_model(w->world);
    if (strcmp(name, "time") == 0) {
        lua_pushnumber(L, state->time);
    } else if (strcmp(name, "steps") == 0) {
        lua_pushinteger(L, state->step);
    } else if (strcmp(name, "gravity") == 0) {
        stn_lua_push_vector(L, state->gravity);
    } else if (strcmp(name, "nq") == 0) {
        lua_pushinteger(L, model->nq);
    } else if (strcmp(name, "nv") == 0) {
        lua_pushinteger(L, model->nv);
    } else {
        lua_pushinteger(L, model->body_count - 1);
    }
    return true;
}

/// world.integrator = "quasistatic", or { "quasistatic", unactuated_mass_scale = 1 }; nothing else is assigned.
static int assign_to_world(lua_State *L) {
    static const char *const owner = "world.integrator";
    if (lua_type(L, 2) != LUA_TSTRING || strcmp(lua_tostring(L, 2), "integrator") != 0) {
        lua_pushvalue(L, lua_upvalueindex(1));
        lua_insert(L, 1);
        lua_call(L, 3, 0);
        return 0;
    }
    stn_lua_world *w = stn_lua_world_idle(L, 1, owner);
    stn_plugin_choice choice = {0};
    if (lua_type(L, 3) == LUA_TSTRING) {
        choice.id = lua_tostring(L, 3);
        stn_lua_load_plugin(L, STN_KIND_INTEGRATOR, choice.id);
    } else if (lua_type(L, 3) == LUA_TTABLE) {
        choice = stn_lua_plugin(L, 3, STN_KIND_INTEGRATOR, owner, NULL);
    } else {
        stn_lua_fail(L, "%s must be a plugin's name or { \"name\", parameter = value }, got %s", owner,
                     luaL_typename(L, 3));
    }
    stn_error err = {0};
    stn_lua_check(L, stn_world_set_integrator(w->world, &choice, &err), &err);
    return 0;
}

static int world_text(lua_State *L) {
    stn_lua_world *w = luaL_checkudata(L, 1, STN_LUA_WORLD);
    if (w->world == NULL) {
        lua_pushliteral(L, "world (closed)");
    } else if (!w->compiled) {
        lua_pushliteral(L, "world (being described)");
    } else {
        const stn_model *model = stn_world_model(w->world);
        lua_pushfstring(L, "world: %d bodies, nv = %d, t = %f s", (int)model->body_count - 1, (int)model->nv,
                        (lua_Number)stn_world_state(w->world)->time);
    }
    return 1;
}

// ------------------------------------------------------------------------------------------------------ plugins in use

/// The kind that the argument names; anything else is raised.
static stn_kind check_kind(lua_State *L, int index, const char *owner) {
    const char *word = luaL_checkstring(L, index), *kinds[STN_KIND_COUNT + 1] = {NULL};
    int32_t kind = 0;
    for (int32_t i = 0; i < STN_KIND_COUNT; i++) {
        kinds[i] = stn_kind_name((stn_kind)i);
    }
    while (kinds[kind] != NULL && strcmp(kinds[kind], word) != 0) {
        kind++;
    }
    if (kinds[kind] == NULL) {
        stn_lua_unknown(L, owner, word, kinds);
    }
    return (stn_kind)kind;
}

/// stn.plugins(kind): ids of the plugins of a kind that were found, sorted.
static int list_plugins(lua_State *L) {
    stn_kind wanted = check_kind(L, 1, "stn.plugins");
    const stn_plugin_info *plugins = NULL;
    int32_t count = 0;
    stn_error err = {0};
    if (stn_plugins_of_kind(stn_lua_session(L)->context, wanted, &plugins, &count, &err) < 0) {
        stn_lua_fail(L, "stn.plugins: %s", err.text);
    }
    lua_newtable(L);
    for (int32_t i = 0; i < count; i++) {
        lua_pushstring(L, plugins[i].desc->id);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/// Parameters with their values into the table on top of the stack.
static void push_values(lua_State *L, const stn_param *params, int32_t count, const void *config) {
    for (int32_t i = 0; i < count; i++) {
        const void *value = (const unsigned char *)config + params[i].offset;
        switch (params[i].type) {
        case STN_PARAM_TYPE_REAL:
            lua_pushnumber(L, *(const double *)value);
            break;
        case STN_PARAM_TYPE_INT:
            lua_pushinteger(L, *(const int32_t *)value);
            break;
        case STN_PARAM_TYPE_BOOL:
            lua_pushboolean(L, *(const bool *)value);
            break;
        case STN_PARAM_TYPE_CHOICE:
            lua_pushstring(L, params[i].choices[*(const int32_t *)value]);
            break;
        case STN_PARAM_TYPE_TEXT:
            lua_pushstring(L, *(const char *const *)value);
            break;
        }
        lua_setfield(L, -2, params[i].name);
    }
}

/// world:plugin(kind): the plugin in use as stn.world takes it, { "sap", sigma = 1e-3, ... }; nil when there is none.
static int world_plugin(lua_State *L) {
    const stn_lua_world *w = stn_lua_world_check(L, 1);
    const stn_instance *plugin = stn_world_plugin(w->world, check_kind(L, 2, "world:plugin"));
    if (plugin == NULL) {
        lua_pushnil(L);
        return 1;
    }
    const stn_param *common = NULL;
    int32_t common_count = 0;
    size_t common_size = 0;
    stn_kind_params(plugin->desc->kind, &common, &common_count, &common_size);
    lua_newtable(L);
    lua_pushstring(L, plugin->desc->id);
    lua_rawseti(L, -2, 1);
    push_values(L, common, common_count, plugin->common);
    push_values(L, plugin->desc->params, plugin->desc->param_count, plugin->config);
    return 1;
}

static void open_world(lua_State *L) {
    static const luaL_Reg methods[] = {
        {"close", world_close}, {"clone", world_clone}, {"plugin", world_plugin}, {NULL, NULL}};
    static const luaL_Reg meta[] = {
        {"__gc", world_collect}, {"__close", world_close}, {"__tostring", world_text}, {NULL, NULL}};
    stn_lua_class(L, STN_LUA_WORLD, methods, meta, get_world, world_properties);
    luaL_getmetatable(L, STN_LUA_WORLD);
    lua_getfield(L, -1, "__newindex");
    lua_pushcclosure(L, assign_to_world, 1);
    lua_setfield(L, -2, "__newindex");
    lua_pop(L, 1);
    const luaL_Reg *const more[] = {
        stn_lua_show_methods,       stn_lua_model_methods,   stn_lua_pair_methods,         stn_lua_state_methods,
        stn_lua_run_methods,        stn_lua_log_methods,     stn_lua_control_methods,      stn_lua_sensor_methods,
        stn_lua_world_name_methods, stn_lua_query_methods,   stn_lua_constraint_methods,   stn_lua_contact_methods,
        stn_lua_solve_methods,      stn_lua_capture_methods, stn_lua_patch_methods,        stn_lua_task_methods,
        stn_lua_predict_methods,    stn_lua_soft_methods,    stn_lua_soft_describe_methods};
    for (int i = 0; i < STN_COUNT(more); i++) {
        stn_lua_extend(L, STN_LUA_WORLD, more[i]);
    }
}

// ---------------------------------------------------------------------------------------------------------- the module

/// stn.wrold: the nearest name, or all.
static int refuse_name(lua_State *L) {
    const char *names[64] = {NULL};
    int count = 0;
    for (lua_pushnil(L); lua_next(L, 1) != 0; lua_pop(L, 1)) {
        if (count < STN_COUNT(names) - 1 && lua_type(L, -2) == LUA_TSTRING) {
            names[count++] = lua_tostring(L, -2);
        }
    }
    stn_lua_unknown(L, "stiction", luaL_tolstring(L, 2, NULL), names);
}

int luaopen_stiction(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"world", world_new}, {"capsule", world_from_capsule}, {"plugins", list_plugins}, {NULL, NULL}};
    luaL_checkversion(L);
    stn_lua_session(L);
    open_world(L);
    stn_lua_open_state(L);
    stn_lua_open_group(L);
    stn_lua_open_joint(L);
    stn_lua_open_control(L);
    stn_lua_open_sensor(L);
    stn_lua_open_constraint(L);
    stn_lua_open_soft(L);
    stn_lua_open_step(L);
    stn_lua_open_motion(L);
    stn_lua_open_patch(L);
    stn_lua_open_pose(L);
    stn_lua_open_task(L);
    stn_lua_open_move(L);
    stn_lua_open_batch(L);
    lua_newtable(L);
    luaL_setfuncs(L, functions, 0);
    luaL_setfuncs(L, stn_lua_params_functions, 0);
    luaL_setfuncs(L, stn_lua_report_functions, 0);
    luaL_setfuncs(L, stn_lua_test_functions, 0);
    luaL_setfuncs(L, stn_lua_near_functions, 0);
    luaL_setfuncs(L, stn_lua_reference_functions, 0);
    stn_lua_add_fixtures(L);
    luaL_setfuncs(L, stn_lua_pose_functions, 0);
    luaL_setfuncs(L, stn_lua_finding_functions, 0);
    luaL_setfuncs(L, stn_lua_material_functions, 0);
    luaL_setfuncs(L, stn_lua_task_functions, 0);
    luaL_setfuncs(L, stn_lua_batch_functions, 0);
    luaL_setfuncs(L, stn_lua_wait_functions, 0);
    lua_pushnumber(L, STN_PI / 180.0);
    lua_setfield(L, -2, "deg");
    lua_pushliteral(L, STN_VERSION);
    lua_setfield(L, -2, "version");
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, refuse_name);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    return 1;
}
