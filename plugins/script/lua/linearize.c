// SPDX-License-Identifier: Apache-2.0
// world:linearize { q =, v =, control = }: how the state after a step moves with the state before it and with controls,
// by central differences of steps that a clone makes (predict.c). Coordinates are those of velocities on both sides:
// of a quaternion three, a small rotation.
#include <math.h>
#include <string.h>

#include "controls.h"
#include "predict.h"

/// Half of the way between two places [m, rad]: rounding of coordinates of 1 and third derivatives weigh alike.
static const double delta_q = 0x1p-17;
/// The same of velocities and controls, in which a step is nearly quadratic and nearly linear: for rounding alone.
static const double delta_v = 0x1p-13;

/// A place, and what a step makes of it.
typedef struct place {
    double *q, *v, *control; // (nq), (nv), (controls.count)
} place;

typedef struct linearization {
    lua_State *L;
    stn_predictor *p;
    const stn_model *model;
    stn_controls controls;
    place start, moved, here, less, more; // here, less, more: after a step
    double *scratch, *along, *column;     // (controls.room), (nv), (2 nv)
    double *A, *B;                        // (2 nv x 2 nv), (2 nv x controls.count), row by row
    double one_sided;
    int32_t not_converged;
} linearization;

static const char owner[] = "world:linearize";

// --------------------------------------------------------------------------------------------------------------- steps

static stn_status step_from(linearization *l, const place *from, place *to, stn_error *err) {
    stn_world *world = l->p->world;
    const size_t nq = (size_t)l->model->nq * sizeof(double), nv = (size_t)l->model->nv * sizeof(double);
    const stn_predict_input input = {from->q, from->v, NULL};
    stn_status status = stn_predict_place(l->p, world, &input, err);
    status = status == STN_OK ? stn_controls_apply(&l->controls, world, from->control, l->scratch, err) : status;
    status = status == STN_OK ? stn_world_step(world, err) : status;
    if (status >= 0) {
        memcpy(to->q, stn_world_state(world)->q, nq);
        memcpy(to->v, stn_world_state(world)->v, nv);
        l->not_converged += status == STN_NOT_CONVERGED;
    }
    return status;
}

static void check_step(linearization *l, const place *from, place *to) {
    stn_error err = {0};
    if (step_from(l, from, to, &err) < 0) {
        stn_lua_fail(l->L, "%s: %s", owner, err.text);
    }
}

/// (to - from) / width into `out` (2 nv).
static void difference(const linearization *l, const place *from, const place *to, double width, double *out) {
    const int32_t nv = l->model->nv;
    stn_difference_q(l->model, from->q, to->q, out);
    for (int32_t i = 0; i < nv; i++) {
        out[i] /= width;
        out[nv + i] = (to->v[i] - from->v[i]) / width;
    }
}

/// A column of `matrix`: `moved` was set to both sides of the start in turn by `set`.
static void column_of(linearization *l, void (*set)(linearization *l, int32_t i, double by), int32_t i, double delta,
                      double *matrix, int32_t columns) {
    const int32_t rows = 2 * l->model->nv;
    set(l, i, -delta);
    check_step(l, &l->moved, &l->less);
    set(l, i, delta);
    check_step(l, &l->moved, &l->more);
    set(l, i, 0.0);
    difference(l, &l->here, &l->more, delta, l->column);
    for (int32_t r = 0; r < rows; r++) {
        matrix[(size_t)r * (size_t)columns + (size_t)i] = l->column[r];
    }
    difference(l, &l->less, &l->here, delta, l->column);
    for (int32_t r = 0; r < rows; r++) {
        double *entry = &matrix[(size_t)r * (size_t)columns + (size_t)i];
        l->one_sided = fmax(l->one_sided, fabs(*entry - l->column[r]));
        *entry = 0.5 * (*entry + l->column[r]);
    }
}

static void move_q(linearization *l, int32_t i, double by) {
    l->along[i] = 1.0;
    stn_integrate_q(l->model, l->start.q, l->along, by, l->moved.q);
    l->along[i] = 0.0;
    if (by == 0.0) {
        memcpy(l->moved.q, l->start.q, (size_t)l->model->nq * sizeof(double));
    }
}

static void move_v(linearization *l, int32_t i, double by) {
    const int32_t k = i - l->model->nv;
    l->moved.v[k] = l->start.v[k] + by;
}

static void move_control(linearization *l, int32_t i, double by) {
    l->moved.control[i] = l->start.control[i] + by;
}

static void differentiate(linearization *l) {
    const int32_t nv = l->model->nv;
    check_step(l, &l->start, &l->here);
    for (int32_t i = 0; i < 2 * nv; i++) {
        column_of(l, i < nv ? move_q : move_v, i, i < nv ? delta_q : delta_v, l->A, 2 * nv);
    }
    for (int32_t i = 0; i < l->controls.count; i++) {
        column_of(l, move_control, i, delta_v, l->B, l->controls.count);
    }
}

// ------------------------------------------------------------------------------------------------------------- in Lua

static void refuse(lua_State *L, const stn_lua_world *w) {
    const stn_instance *integrator = stn_world_plugin(w->world, STN_KIND_INTEGRATOR);
    if (stn_plugin_says(integrator, "quasistatic")) {
        stn_lua_fail(L,
                     "%s: steps of integrator %s do not start from velocities: world:predict with derivatives = true "
                     "has the derivatives of their coordinates",
                     owner, integrator->desc->id);
    }
    if (stn_lua_runs_functions(L, 1)) {
        stn_lua_fail(L,
                     "%s: this world has kinematic motions or functions of controllers, which run in Lua and whose "
                     "derivatives nobody tells",
                     owner);
    }
}

/// Memory for all, pushed.
static void make_room(linearization *l) {
    const size_t nq = (size_t)l->model->nq, nv = (size_t)l->model->nv, nu = (size_t)l->controls.count;
    place *const places[] = {&l->start, &l->moved, &l->here, &l->less, &l->more};
    const size_t count = 5 * (nq + nv + nu) + (size_t)l->controls.room + nv + 2 * nv + 2 * nv * (2 * nv + nu);
    double *numbers = lua_newuserdatauv(l->L, sizeof *numbers * (count + 1), 0);
    memset(numbers, 0, sizeof *numbers * (count + 1));
    for (int32_t i = 0; i < STN_COUNT(places); i++) {
        *places[i] = (place){numbers, numbers + nq, numbers + nq + nv};
        numbers += nq + nv + nu;
    }
    l->scratch = numbers;
    l->along = l->scratch + l->controls.room;
    l->column = l->along + nv;
    l->A = l->column + 2 * nv;
    l->B = l->A + 4 * nv * nv;
}

/// The start: as the world is, but for what the table tells.
static void read_start(const stn_fields *f, linearization *l, const stn_world *world) {
    const stn_state *state = stn_world_state(world);
    const size_t nq = (size_t)l->model->nq, nv = (size_t)l->model->nv, nu = (size_t)l->controls.count;
    memcpy(l->start.q, state->q, nq * sizeof(double));
    memcpy(l->start.v, state->v, nv * sizeof(double));
    stn_controls_now(&l->controls, world, l->start.control);
    stn_fields_reals(f, "q", "m, rad", l->model->nq, l->start.q);
    stn_fields_reals(f, "v", "m/s, rad/s", l->model->nv, l->start.v);
    stn_fields_reals(f, "values", "of control", l->controls.count, l->start.control);
    memcpy(l->moved.q, l->start.q, nq * sizeof(double));
    memcpy(l->moved.v, l->start.v, nv * sizeof(double));
    memcpy(l->moved.control, l->start.control, nu * sizeof(double));
}

static int world_linearize(lua_State *L) {
    static const char *const keys[] = {"q", "v", "values", STN_CONTROL_KEYS, NULL};
    lua_settop(L, 2);
    luaL_checkstack(L, 60, owner);
    const stn_lua_world *w = stn_lua_world_idle(L, 1, owner);
    stn_lua_world_compiled(L, 1);
    if (lua_isnil(L, 2)) {
        lua_newtable(L);
        lua_replace(L, 2);
    }
    const stn_fields f = stn_fields_open(L, 2, owner, keys, 0);
    refuse(L, w);
    linearization l = {.L = L, .model = stn_world_model(w->world), .controls = stn_lua_read_controls(&f, w)};
    make_room(&l);
    read_start(&f, &l, w->world);
    l.p = stn_lua_predictor(L, w);
    differentiate(&l);
    stn_predict_release(l.p);
    stn_lua_push_rows(L, l.A, 2 * l.model->nv, 2 * l.model->nv);
    stn_lua_push_rows(L, l.B, 2 * l.model->nv, l.controls.count);
    lua_createtable(L, 0, 4);
    stn_lua_push_reals(L, l.here.q, l.model->nq);
    lua_setfield(L, -2, "q");
    stn_lua_push_reals(L, l.here.v, l.model->nv);
    lua_setfield(L, -2, "v");
    stn_lua_set_number(L, "one_sided", l.one_sided);
    lua_pushboolean(L, l.not_converged == 0);
    lua_setfield(L, -2, "converged");
    return 3;
}

const luaL_Reg stn_lua_linearize_methods[] = {{"linearize", world_linearize}, {NULL, NULL}};
