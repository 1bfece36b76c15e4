// SPDX-License-Identifier: Apache-2.0
// The contact problem of the last step through another solver: the same numbers, another answer to compare with.
#include <stiction/solve.h>

#include "bind.h"

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

/// Impulses of the contacts in world axes, in the order of world:contacts().
static void push_impulses(lua_State *L, const stn_problem *problem, int32_t contacts, const double *gamma) {
    lua_createtable(L, contacts, 0);
    for (int32_t i = 0; i < contacts; i++) {
        const stn_constraint *c = &problem->constraints[i];
        const double *g = &gamma[c->row];
        stn_lua_push_vector(L, stn_mat3_apply(&c->frame, stn_vec3_make(g[0], g[1], g[2])));
        lua_rawseti(L, -2, i + 1);
    }
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
    lua_createtable(L, 0, 6);
    lua_pushstring(L, stn_lua_status_word(status));
    lua_setfield(L, -2, "status");
    lua_pushboolean(L, report.not_converged == 0);
    lua_setfield(L, -2, "converged");
    lua_pushinteger(L, report.iterations);
    lua_setfield(L, -2, "iterations");
    stn_lua_set_number(L, "solve_us", report.prepare_us + report.solve_us);
    stn_lua_push_certificate(L, &certificate);
    lua_setfield(L, -2, "certificate");
    push_impulses(L, &problem, o->contacts != NULL ? o->contacts->count : 0, s->gamma);
    lua_setfield(L, -2, "impulses");
    stn_lua_release(L, held);
    return 1;
}

const luaL_Reg stn_lua_solve_methods[] = {{"solve_problem", world_solve_problem}, {NULL, NULL}};
