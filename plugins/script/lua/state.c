// SPDX-License-Identifier: Apache-2.0
// A world's state in Lua: by value, snapshots, files, random stream, gravity, energy and momentum.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <stiction/solve.h>

#include "bind.h"

// ------------------------------------------------------------------------------------------------------- by value

static int world_state(lua_State *L) {
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    const stn_state *state = stn_world_state(w->world);
    const stn_model *model = stn_world_model(w->world);
    lua_createtable(L, 0, 4);
    lua_pushnumber(L, state->time);
    lua_setfield(L, -2, "time");
    lua_pushinteger(L, state->step);
    lua_setfield(L, -2, "step");
    stn_lua_push_reals(L, state->q, model->nq);
    lua_setfield(L, -2, "q");
    stn_lua_push_reals(L, state->v, model->nv);
    lua_setfield(L, -2, "v");
    return 1;
}

static int world_set_state(lua_State *L) {
    static const char *const keys[] = {"q", "v", "time", "step", NULL};
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    stn_fields f = stn_fields_open(L, 2, "world:set_state", keys, 0);
    const stn_model *model = stn_world_model(w->world);
    double *q = lua_newuserdatauv(L, sizeof(double) * (size_t)(model->nq + 1), 0);
    double *v = lua_newuserdatauv(L, sizeof(double) * (size_t)(model->nv + 1), 0);
    bool has_q = stn_fields_reals(&f, "q", "m, rad", model->nq, q);
    bool has_v = stn_fields_reals(&f, "v", "m/s, rad/s", model->nv, v);
    stn_error err = {0};
    if (has_q) {
        stn_lua_check(L, stn_world_set_q(w->world, q, &err), &err);
    }
    if (has_v) {
        stn_lua_check(L, stn_world_set_v(w->world, v, &err), &err);
    }
    stn_lua_touched(w);
    return 0;
}

// ------------------------------------------------------------------------------------------------------- snapshots

/// User value 1: the world it was taken from.
typedef struct snapshot_object {
    stn_snapshot *snapshot;
} snapshot_object;

static snapshot_object *push_snapshot(lua_State *L, int world) {
    snapshot_object *o = lua_newuserdatauv(L, sizeof *o, 1);
    o->snapshot = NULL;
    lua_pushvalue(L, world);
    lua_setiuservalue(L, -2, 1);
    luaL_setmetatable(L, STN_LUA_SNAPSHOT);
    return o;
}

static int snapshot_collect(lua_State *L) {
    snapshot_object *o = luaL_checkudata(L, 1, STN_LUA_SNAPSHOT);
    stn_snapshot_destroy(o->snapshot);
    o->snapshot = NULL;
    return 0;
}

static int world_snapshot(lua_State *L) {
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    stn_lua_tasks_refuse(L, 1, "world:snapshot", "code that waits cannot be kept");
    snapshot_object *o = push_snapshot(L, 1);
    stn_error err = {0};
    stn_lua_check(L, stn_world_snapshot(w->world, &o->snapshot, &err), &err);
    return 1;
}

static int world_restore(lua_State *L) {
    stn_lua_world *w = stn_lua_world_idle(L, 1, "world:restore");
    stn_lua_tasks_refuse(L, 1, "world:restore", "it waits by a time that would jump");
    stn_lua_world_complete(L, 1, w);
    snapshot_object *o = luaL_checkudata(L, 2, STN_LUA_SNAPSHOT);
    stn_error err = {0};
    stn_lua_check(L, stn_world_restore(w->world, o->snapshot, &err), &err);
    stn_lua_sensors_forget(L, 1);
    stn_lua_touched(w);
    return 0;
}

static int world_save_state(lua_State *L) {
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    stn_lua_tasks_refuse(L, 1, "world:save_state", "code that waits cannot be kept");
    const char *path = luaL_checkstring(L, 2);
    snapshot_object *o = push_snapshot(L, 1);
    stn_error err = {0};
    stn_lua_check(L, stn_world_snapshot(w->world, &o->snapshot, &err), &err);
    stn_lua_check(L, stn_snapshot_save(o->snapshot, path, &err), &err);
    return 0;
}

static int world_load_state(lua_State *L) {
    stn_lua_world *w = stn_lua_world_idle(L, 1, "world:load_state");
    stn_lua_tasks_refuse(L, 1, "world:load_state", "it waits by a time that would jump");
    stn_lua_world_complete(L, 1, w);
    const char *path = luaL_checkstring(L, 2);
    snapshot_object *o = push_snapshot(L, 1);
    stn_error err = {0};
    stn_lua_check(L, stn_snapshot_load(w->session->context, path, &o->snapshot, &err), &err);
    stn_lua_check(L, stn_world_restore(w->world, o->snapshot, &err), &err);
    stn_lua_sensors_forget(L, 1);
    stn_lua_touched(w);
    return 0;
}

/// The contact problem of the last step as a file.
static int world_save_problem(lua_State *L) {
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    const char *path = luaL_checkstring(L, 2);
    const stn_observation *o = stn_world_observation(w->world);
    if (o->problem == NULL) {
        stn_lua_fail(L, "world:save_problem: the world has not made a step yet");
    }
    stn_error err = {0};
    stn_lua_check(L, stn_problem_save(w->session->context, o->problem, NULL, path, &err), &err);
    return 0;
}

/// Back to the start: poses of the description, and the velocities and joint positions given with it.
static int world_reset(lua_State *L) {
    stn_lua_world *w = stn_lua_world_idle(L, 1, "world:reset");
    stn_lua_tasks_refuse(L, 1, "world:reset", "it waits by a time that would jump");
    stn_lua_world_complete(L, 1, w);
    stn_world_reset(w->world);
    stn_lua_sensors_forget(L, 1);
    stn_lua_world_apply_start(L, 1, w);
    stn_lua_touched(w);
    return 0;
}

static int world_hash(lua_State *L) {
    char text[24];
    snprintf(text, sizeof text, "%016" PRIx64, stn_world_hash(stn_lua_world_compiled(L, 1)->world));
    lua_pushstring(L, text);
    return 1;
}

// --------------------------------------------------------------------------------------------- gravity, dt, random

static int world_set_gravity(lua_State *L) {
    stn_lua_world *w = stn_lua_world_idle(L, 1, "world:set_gravity");
    stn_error err = {0};
    stn_vec3 gravity = stn_lua_vector(L, 2, "world:set_gravity", "m/s^2");
    stn_lua_check(L, stn_world_set_gravity(w->world, gravity, &err), &err);
    stn_lua_touched(w);
    return 0;
}

static int world_set_dt(lua_State *L) {
    stn_lua_world *w = stn_lua_world_idle(L, 1, "world:set_dt");
    stn_error err = {0};
    stn_lua_check(L, stn_world_set_dt(w->world, stn_lua_real(L, 2, "world:set_dt", "s"), &err), &err);
    return 0;
}

/// world:random(): [0, 1); world:random(low, high): [low, high).
static int world_random(lua_State *L) {
    stn_lua_world *w = stn_lua_world_check(L, 1);
    double low = 0.0, high = 1.0;
    if (!lua_isnoneornil(L, 2)) {
        low = stn_lua_real(L, 2, "world:random: low", "any unit");
        high = stn_lua_real(L, 3, "world:random: high", "any unit");
    }
    if (high < low) {
        stn_lua_fail(L, "world:random: low = %g is above high = %g", low, high);
    }
    if (!isfinite(high - low)) {
        stn_lua_fail(L, "world:random: low = %g and high = %g are too far apart for their difference", low, high);
    }
    lua_pushnumber(L, low + (high - low) * stn_world_random(w->world));
    return 1;
}

// ----------------------------------------------------------------------------------------------- energy, momentum

static int world_condition_number(lua_State *L) {
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    stn_error err = {0};
    double value = 0.0;
    stn_lua_check(L, stn_world_condition_number(w->world, &value, &err), &err);
    lua_pushnumber(L, value);
    return 1;
}

static int world_energy(lua_State *L) {
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    const stn_kinematics *k = stn_world_kinematics(w->world);
    const struct {
        const char *name;
        double value;
    } parts[] = {{"kinetic", stn_kinetic_energy(k)},
                 {"potential", stn_gravitational_energy(k, stn_world_state(w->world)->gravity)},
                 {"elastic", stn_world_elastic_energy(w->world)}};
    double total = 0.0;
    lua_createtable(L, 0, STN_COUNT(parts) + 1);
    for (int32_t i = 0; i < STN_COUNT(parts); i++) {
        total += parts[i].value;
        lua_pushnumber(L, parts[i].value);
        lua_setfield(L, -2, parts[i].name);
    }
    lua_pushnumber(L, total);
    lua_setfield(L, -2, "total");
    return 1;
}

static int world_momentum(lua_State *L) {
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    stn_spatial h = stn_momentum(stn_world_kinematics(w->world));
    stn_lua_push_velocity(L, h.linear, h.angular);
    return 1;
}

static int world_mass(lua_State *L) {
    lua_pushnumber(L, stn_total_mass(stn_world_model(stn_lua_world_compiled(L, 1)->world)));
    return 1;
}

const luaL_Reg stn_lua_state_methods[] = {
    {"state", world_state},
    {"set_state", world_set_state},
    {"snapshot", world_snapshot},
    {"restore", world_restore},
    {"save_state", world_save_state},
    {"load_state", world_load_state},
    {"save_problem", world_save_problem},
    {"reset", world_reset},
    {"hash", world_hash},
    {"set_gravity", world_set_gravity},
    {"set_dt", world_set_dt},
    {"random", world_random},
    {"condition_number", world_condition_number},
    {"energy", world_energy},
    {"momentum", world_momentum},
    {"mass", world_mass},
    {NULL, NULL},
};

void stn_lua_open_state(lua_State *L) {
    static const luaL_Reg methods[] = {{NULL, NULL}};
    static const luaL_Reg meta[] = {{"__gc", snapshot_collect}, {"__close", snapshot_collect}, {NULL, NULL}};
    stn_lua_class(L, STN_LUA_SNAPSHOT, methods, meta, NULL, NULL);
}

// ------------------------------------------------------------------------------------------------------ another solver

// The contact problem of the last step through another solver: the same numbers, another answer to compare with.

static const char default_law[] = "sap"; // that of worlds

/// What one call holds; Lua releases it after an error.
typedef struct second_solve {
    stn_context *context;
    stn_instance *solver, *law; // law: NULL where the world's is taken, or none is needed
    stn_problem_solver *problem_solver;
    stn_problem_owner *owner;
    double *v, *gamma;
    void *law_memory, *solver_memory;
} second_solve;

static void release(void *object) {
    second_solve *s = object;
    stn_problem_solver_destroy(s->problem_solver);
    stn_problem_destroy(s->owner);
    stn_instance_destroy(s->solver);
    stn_instance_destroy(s->law);
    if (s->context != NULL) {
        stn_release(s->context, s->v);
        stn_release(s->context, s->gamma);
        stn_release(s->context, s->law_memory);
        stn_release(s->context, s->solver_memory);
    }
}

static void *allocate(lua_State *L, const second_solve *s, int32_t count, size_t size) {
    void *memory = stn_allocate(s->context, (size_t)count, size);
    if (memory == NULL && count > 0 && size > 0) {
        stn_lua_fail(L, "world:solve_problem: out of memory");
    }
    return memory;
}

/// A copy of the problem; its constraints get slots of memories that begin empty.
static stn_problem copy_problem(lua_State *L, second_solve *s, const stn_problem *problem, const stn_instance *law) {
    stn_error err = {0};
    stn_lua_check(L, stn_problem_copy(s->context, problem, &s->owner, &err), &err);
    stn_problem copy = *stn_problem_of(s->owner);
    for (int32_t i = 0; i < copy.constraint_count; i++) {
        copy.constraints[i].memory = i;
    }
    s->v = allocate(L, s, copy.nv, sizeof *s->v);
    s->gamma = allocate(L, s, copy.row_count, sizeof *s->gamma);
    s->law_memory =
        law != NULL ? allocate(L, s, copy.constraint_count, (size_t)law->desc->memory_per_constraint) : NULL;
    s->solver_memory = allocate(L, s, copy.constraint_count, (size_t)s->solver->desc->memory_per_constraint);
    return copy;
}

/// The world's law, or where that has none and the solver takes one, the default.
static const stn_instance *choose_law(lua_State *L, second_solve *s, const stn_world *world) {
    const stn_instance *law = stn_world_plugin(world, STN_KIND_LAW);
    if (law == NULL && stn_solver_takes_law(s->solver->desc->ops.solver)) {
        stn_error err = {0};
        stn_lua_check(L, stn_instance_create(s->context, STN_KIND_LAW, default_law, NULL, 0, &s->law, &err), &err);
        law = s->law;
    }
    return law;
}

/// A list of impulses of the contacts on B, in world axes, in the order of world:contacts().
static void push_impulses(lua_State *L, const stn_observation *o, const double *gamma) {
    int32_t contacts = o->contacts != NULL ? o->contacts->count : 0;
    lua_createtable(L, contacts, 0);
    for (int32_t i = 0; i < contacts; i++) {
        const stn_constraint *c = &o->problem->constraints[i];
        const double *g = &gamma[c->row];
        stn_lua_push_vector(L, stn_mat3_apply(&c->frame, stn_vec3_make(g[0], g[1], g[2])));
        lua_rawseti(L, -2, i + 1);
    }
}

/// world:solve_problem { "pgs", tolerance = 1e-10 }
static int world_solve_problem(lua_State *L) {
    static const char owner[] = "world:solve_problem";
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    const stn_observation *o = stn_world_observation(w->world);
    if (o->problem == NULL) {
        stn_lua_fail(L, "%s: the world has not made a step yet", owner);
    }
    stn_plugin_choice choice = stn_lua_plugin(L, 2, STN_KIND_SOLVER, owner, NULL);
    second_solve *s = stn_lua_own(L, sizeof *s, release);
    const int held = lua_gettop(L);
    s->context = w->session->context;
    stn_error err = {0};
    stn_lua_check(L,
                  stn_instance_create(s->context, STN_KIND_SOLVER, choice.id, choice.settings, choice.setting_count,
                                      &s->solver, &err),
                  &err);
    const stn_instance *law = choose_law(L, s, w->world);
    const stn_problem_solver_options options = {.solver = s->solver, .law = law};
    stn_lua_check(L, stn_problem_solver_create(s->context, &options, &s->problem_solver, &err), &err);
    stn_problem problem = copy_problem(L, s, o->problem, law);

    const stn_solve_request request = {
        .law_memory = s->law_memory, .solver_memory = s->solver_memory, .certificate_flags = STN_CERTIFICATE_SCALED};
    stn_solution solution = {.v = s->v, .gamma = s->gamma};
    stn_solve_report report;
    stn_certificate certificate;
    stn_status status =
        stn_problem_solve(s->problem_solver, &problem, &request, &solution, &report, &certificate, &err);
    if (status < 0) {
        stn_lua_check(L, status, &err);
    }
    lua_createtable(L, 0, 8);
    stn_lua_push_contradiction(L, &report.contradiction);
    lua_setfield(L, -2, "contradiction");
    lua_pushinteger(L, report.fallbacks);
    lua_setfield(L, -2, "fallbacks");
    lua_pushstring(L, stn_lua_status_word(status));
    lua_setfield(L, -2, "status");
    lua_pushboolean(L, report.status != STN_NOT_CONVERGED);
    lua_setfield(L, -2, "converged");
    lua_pushinteger(L, report.iterations);
    lua_setfield(L, -2, "iterations");
    stn_lua_set_number(L, "solve_us", report.prepare_us + report.solve_us);
    stn_lua_push_certificate(L, &certificate);
    lua_setfield(L, -2, "certificate");
    push_impulses(L, o, s->gamma);
    lua_setfield(L, -2, "impulses");
    stn_lua_release(L, held);
    return 1;
}

/// world:law_impulses()
static int world_law_impulses(lua_State *L) {
    static const char owner[] = "world:law_impulses";
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    const stn_observation *o = stn_world_observation(w->world);
    const stn_instance *instance = stn_world_plugin(w->world, STN_KIND_LAW);
    if (o->problem == NULL) {
        stn_lua_fail(L, "%s: the world has not made a step yet", owner);
    }
    if (instance == NULL || instance->desc->memory_per_constraint > 0) {
        stn_lua_fail(L, "%s: the world's solver takes no law, or its law remembers the step before", owner);
    }
    const stn_law law = stn_law_of(instance);
    double *gamma = lua_newuserdatauv(L, ((size_t)o->problem->row_count + 1) * sizeof *gamma, 0);
    stn_arena *arena = stn_arena_create(w->session->context);
    stn_error err = {0};
    stn_status status = arena != NULL ? stn_law_impulses(o->problem, &law, NULL, o->solution_v, arena, gamma, &err)
                                      : stn_fail(&err, STN_ERR_MEMORY, "%s: out of memory", owner);
    stn_arena_destroy(arena);
    stn_lua_check(L, status, &err);
    push_impulses(L, o, gamma);
    return 1;
}

const luaL_Reg stn_lua_solve_methods[] = {
    {"solve_problem", world_solve_problem}, {"law_impulses", world_law_impulses}, {NULL, NULL}};
