// SPDX-License-Identifier: Apache-2.0
// world:predict(q, command): the step that the world would make from there, made by a clone that is kept; batches of
// them, and their derivatives (derivative.c).
#include <math.h>
#include <string.h>

#include "bind.h"
#include "predict.h"

enum { PREDICTOR = 10 }; // user value of a world
#define STN_LUA_PREDICTOR "stiction.predictor"

static const char position[] = "position"; // channel of controllers that take commands

/// What a call asks for.
typedef struct request {
    const char *owner; // "world:predict"
    stn_lua_world *w;
    stn_predictor *predictor;
    const double *v;             // (nv), NULL: the world's
    bool contacts;               // are among the results
    bool derivatives, by_q;      // with respect to commands, and to coordinates too
    int32_t threads;             // for batches
    bool batch;                  // several are asked for
    double *q, *start, *command; // memory for one prediction: (nq), (nq), (command_count)
} request;

// ------------------------------------------------------------------------------------------------------ the predictor

static void release_threads(stn_predictor *p) {
    stn_threads_destroy(p->threads);
    for (int32_t i = 0; i < p->more_count; i++) {
        stn_world_destroy(p->more[i]);
    }
    if (p->context != NULL) {
        stn_release(p->context, p->more);
    }
    p->threads = NULL;
    p->more = NULL;
    p->more_count = 0;
}

static void release_clones(stn_predictor *p) {
    if (p->world != NULL) {
        stn_predict_forget(p);
    }
    release_threads(p);
    stn_world_destroy(p->nearby);
    stn_world_destroy(p->world);
    p->world = p->nearby = NULL;
}

void stn_predict_release(stn_predictor *p) {
    stn_snapshot_destroy(p->snapshot);
    p->snapshot = NULL;
}

static int predictor_collect(lua_State *L) {
    stn_predictor *p = lua_touserdata(L, 1);
    release_clones(p);
    stn_predict_release(p);
    stn_arena_destroy(p->arena);
    stn_arena_destroy(p->island);
    p->arena = p->island = NULL;
    if (p->context != NULL) {
        stn_release(p->context, p->parts);
    }
    p->parts = NULL;
    return 0;
}

/// The predictor of the world at index 1, made when there is none.
static stn_predictor *find_predictor(lua_State *L, const stn_lua_world *w) {
    lua_getiuservalue(L, 1, PREDICTOR);
    stn_predictor *p = luaL_testudata(L, -1, STN_LUA_PREDICTOR);
    if (p == NULL) {
        p = lua_newuserdatauv(L, sizeof *p, 0);
        *p = (stn_predictor){.context = w->session->context};
        if (luaL_newmetatable(L, STN_LUA_PREDICTOR) != 0) {
            lua_pushcfunction(L, predictor_collect);
            lua_setfield(L, -2, "__gc");
        }
        lua_setmetatable(L, -2);
        lua_pushvalue(L, -1);
        lua_setiuservalue(L, 1, PREDICTOR);
        lua_remove(L, -2);
        p->arena = stn_arena_create(p->context);
        p->island = stn_arena_create(p->context);
        if (p->arena == NULL || p->island == NULL) {
            stn_lua_fail(L, "world:predict: out of memory");
        }
    }
    lua_pop(L, 1);
    return p;
}

/// Has the clone the plugins and controllers that the world has now?
static bool is_alike(const stn_world *world, const stn_world *clone) {
    static const stn_kind kinds[] = {STN_KIND_SOLVER, STN_KIND_LAW, STN_KIND_CONTACT, STN_KIND_INTEGRATOR,
                                     STN_KIND_FACTOR};
    for (int i = 0; i < STN_COUNT(kinds); i++) {
        if (stn_world_plugin(world, kinds[i]) != stn_world_plugin(clone, kinds[i])) {
            return false;
        }
    }
    return stn_world_controller_count(world) == stn_world_controller_count(clone);
}

/// The parts of a command: position references of all controllers that take one for each velocity.
static void list_parts(lua_State *L, stn_predictor *p, const stn_lua_world *w) {
    const int32_t controllers = stn_world_controller_count(w->world);
    if (controllers > p->part_capacity) {
        stn_release(p->context, p->parts);
        p->part_capacity = 0;
        p->parts = stn_allocate(p->context, (size_t)controllers, sizeof *p->parts);
        if (p->parts == NULL) {
            stn_lua_fail(L, "world:predict: out of memory");
        }
        p->part_capacity = controllers;
    }
    p->part_count = p->command_count = 0;
    for (int32_t c = 0; c < controllers; c++) {
        if (stn_lua_takes_reference(w, c, position)) {
            const int32_t count = stn_world_controller_target(w->world, c)->dof_count;
            p->parts[p->part_count++] = (stn_command_part){c, p->command_count, count};
            p->command_count += count;
        }
    }
}

/// Upvalue-free body of asking the motions: index 1 the world, 2 its stand-in.
static int tell_motions(lua_State *L) {
    stn_lua_motions_step(L, 1, lua_touserdata(L, 2));
    return 0;
}

/// Kinematic bodies move in the predicted step as they would in the world's own.
static void include_motions(lua_State *L, const request *r) {
    stn_predictor *p = r->predictor;
    if (lua_getiuservalue(L, 1, STN_LUA_MOTIONS) != LUA_TTABLE || lua_rawlen(L, -1) == 0) {
        lua_pop(L, 1);
        return;
    }
    lua_pop(L, 1);
    stn_error err = {0};
    stn_lua_check(L, stn_world_restore(p->world, p->snapshot, &err), &err);
    stn_lua_world stand_in = {.session = r->w->session, .world = p->world, .compiled = true, .cloned = true};
    lua_pushcfunction(L, tell_motions);
    lua_pushvalue(L, 1);
    lua_pushlightuserdata(L, &stand_in);
    r->w->asks = "a kinematic motion"; // what the world itself must not do meanwhile, it must not do for this either
    const int failed = lua_pcall(L, 2, 0, 0);
    r->w->asks = NULL;
    if (failed != LUA_OK) {
        lua_error(L);
    }
    stn_predict_release(p);
    stn_lua_check(L, stn_world_snapshot(p->world, &p->snapshot, &err), &err);
}

stn_predictor *stn_lua_predictor(lua_State *L, const stn_lua_world *w) {
    stn_predictor *p = find_predictor(L, w);
    stn_error err = {0};
    stn_predict_release(p);
    if (p->world != NULL && !is_alike(w->world, p->world)) {
        release_clones(p);
    }
    if (p->world == NULL) {
        stn_lua_check(L, stn_world_clone(w->world, &p->world, &err), &err);
    }
    stn_lua_check(L, stn_world_set_dt(p->world, stn_world_dt(w->world), &err), &err);
    list_parts(L, p, w);
    stn_lua_check(L, stn_world_snapshot(w->world, &p->snapshot, &err), &err);
    return p;
}

stn_status stn_predict_place(const stn_predictor *p, stn_world *world, const stn_predict_input *input, stn_error *err) {
    const stn_model *model = stn_world_model(world);
    const size_t size = (size_t)model->nq * sizeof(double);
    stn_status status = stn_world_restore(world, p->snapshot, err);
    // quaternions are normalised where they are set, which may change a last digit of those that are there already
    if (status == STN_OK && input->q != NULL && memcmp(input->q, stn_world_state(world)->q, size) != 0) {
        status = stn_world_set_q(world, input->q, err);
    }
    if (status == STN_OK && input->v != NULL) {
        status = stn_world_set_v(world, input->v, err);
    }
    for (int32_t i = 0; i < p->part_count && input->command != NULL && status == STN_OK; i++) {
        const stn_command_part *part = &p->parts[i];
        status =
            stn_world_set_reference(world, part->controller, position, input->command + part->start, part->count, err);
    }
    return status;
}

stn_status stn_predict_step(const stn_predictor *p, stn_world *world, const stn_predict_input *input, double *start,
                            stn_error *err) {
    const stn_status status = stn_predict_place(p, world, input, err);
    if (status != STN_OK) {
        return status;
    }
    memcpy(start, stn_world_state(world)->q, (size_t)stn_world_model(world)->nq * sizeof *start);
    return stn_world_step(world, err);
}

// ------------------------------------------------------------------------------------------------------- what is asked

static void read_options(lua_State *L, int index, request *r) {
    static const char *const keys[] = {"threads", "v", "contacts", "derivatives", NULL}; // the first: of batches
    const stn_model *model = stn_world_model(r->w->world);
    const stn_instance *integrator = stn_world_plugin(r->w->world, STN_KIND_INTEGRATOR);
    r->contacts = true;
    r->threads = 1;
    if (!lua_isnoneornil(L, index)) {
        stn_fields f = stn_fields_open(L, index, r->owner, r->batch ? keys : keys + 1, 0);
        double *v = lua_newuserdatauv(L, sizeof(double) * (size_t)(model->nv + 1), 0);
        r->v = stn_fields_reals(&f, "v", "m/s, rad/s", model->nv, v) ? v : NULL;
        stn_fields_boolean(&f, "contacts", &r->contacts);
        if (stn_fields_push(&f, "derivatives")) {
            const bool commands = lua_type(L, -1) == LUA_TSTRING && strcmp(lua_tostring(L, -1), "command") == 0;
            if (!commands && lua_type(L, -1) != LUA_TBOOLEAN) {
                stn_lua_fail(L, "%s: derivatives must be true, false or \"command\", got %s", r->owner,
                             luaL_tolstring(L, -1, NULL));
            }
            r->derivatives = commands || lua_toboolean(L, -1);
            r->by_q = r->derivatives && !commands;
            lua_pop(L, 1);
        }
        lua_Integer threads = 1;
        stn_fields_integer(&f, "threads", 1, 1024, &threads);
        r->threads = (int32_t)threads;
        if (threads > 1 && (r->contacts || r->derivatives)) {
            stn_lua_fail(L, "%s: threads are for predictions without contacts and derivatives: contacts = false",
                         r->owner);
        }
    }
    if (r->v == NULL && !stn_plugin_says(integrator, "quasistatic")) {
        stn_lua_fail(
            L,
            "%s: with integrator %s the next coordinates depend on velocities: give v = {...} (%d numbers), or "
            "take integrator quasistatic",
            r->owner, integrator->desc->id, (int)model->nv);
    }
    stn_error err = {0};
    if (r->derivatives && stn_predict_can_differentiate(r->w->world, &err) != STN_OK) {
        stn_lua_fail(L, "%s: %s", r->owner, err.text);
    }
}

/// Coordinates at `index`; nil: the world's.
static const double *read_q(lua_State *L, int index, const request *r, const char *what) {
    const stn_model *model = stn_world_model(r->w->world);
    if (lua_isnil(L, index)) {
        return NULL;
    }
    stn_lua_reals(L, index, what, "m, rad", model->nq, r->q);
    return r->q;
}

/// The position references of the world in the place of a command.
static void keep_references(const request *r) {
    for (int32_t i = 0; i < r->predictor->part_count; i++) {
        const stn_command_part *part = &r->predictor->parts[i];
        memcpy(r->command + part->start, stn_lua_reference(r->w, part->controller, position),
               sizeof(double) * (size_t)part->count);
    }
}

static const char *part_name(const request *r, int32_t part) {
    const int32_t controller = r->predictor->parts[part].controller;
    return stn_lua_group_name(r->w, stn_world_controller_target(r->w->world, controller)->group);
}

/// "arm (7), gripper (2)": what a list is made of, pushed.
static const char *push_parts(lua_State *L, const request *r) {
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    for (int32_t i = 0; i < r->predictor->part_count; i++) {
        luaL_addstring(&b, i > 0 ? ", " : "");
        luaL_addstring(&b, part_name(r, i));
        lua_pushfstring(L, " (%d)", (int)r->predictor->parts[i].count);
        luaL_addvalue(&b);
    }
    luaL_pushresult(&b);
    return lua_tostring(L, -1);
}

/// The entry at the stack's top for the robot `name`, over the references that are in force.
static void read_part(lua_State *L, const request *r, const char *what, const char *name) {
    const char *names[65] = {NULL};
    int32_t found = -1, same = 0;
    for (int32_t i = 0; i < r->predictor->part_count; i++) {
        names[i < 64 ? i : 63] = part_name(r, i);
        if (strcmp(part_name(r, i), name) == 0) {
            found = i;
            same++;
        }
    }
    if (found < 0) {
        stn_lua_unknown(L, what, name, names);
    }
    if (same > 1) {
        stn_lua_fail(L, "%s: %d controllers of '%s' take positions: give the list of all %d", what, (int)same, name,
                     (int)r->predictor->command_count);
    }
    const stn_command_part *part = &r->predictor->parts[found];
    const stn_instance *controller = stn_world_controller(r->w->world, part->controller);
    const stn_controller_ops *ops = controller->desc->ops.controller;
    const stn_channel *channel = NULL;
    for (int32_t i = 0; i < ops->channel_count; i++) {
        channel = strcmp(ops->channels[i].name, position) == 0 ? &ops->channels[i] : channel;
    }
    lua_pushfstring(L, "%s.%s", what, name);
    lua_insert(L, -2);
    stn_lua_read_reference(L, lua_tostring(L, -2), stn_world_controller_target(r->w->world, part->controller), channel,
                           r->command + part->start);
    lua_remove(L, -2);
}

/// The command at `index`: a list of the position references of all controllers, or a table by robot; nil: those in
/// force.
static void read_command(lua_State *L, int index, const request *r, const char *what) {
    const int32_t count = r->predictor->command_count;
    index = lua_absindex(L, index);
    keep_references(r);
    if (lua_isnil(L, index)) {
        return;
    }
    if (count == 0) {
        stn_lua_fail(L, "%s: no controller of this world takes positions of joints; nil is the command then", what);
    }
    if (lua_type(L, index) != LUA_TTABLE) {
        stn_lua_fail(L, "%s must be a list of %d numbers or a table by robot, got %s", what, (int)count,
                     luaL_typename(L, index));
    }
    bool named = false, listed = false;
    for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
        named = named || lua_type(L, -2) == LUA_TSTRING;
        listed = listed || lua_type(L, -2) != LUA_TSTRING;
    }
    if (named && listed) {
        stn_lua_fail(L, "%s: a list of %d numbers or a table by robot, not both", what, (int)count);
    }
    if (!named) {
        if ((lua_Integer)lua_rawlen(L, index) != count) {
            stn_lua_fail(L, "%s must have %d numbers, %s; it has %d", what, (int)count, push_parts(L, r),
                         (int)lua_rawlen(L, index));
        }
        stn_lua_reals(L, index, what, "m, rad", count, r->command);
        return;
    }
    for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
        read_part(L, r, what, lua_tostring(L, -2));
    }
}

// ------------------------------------------------------------------------------------------------------------- results

/// Columns `first` to `end` of a derivative as a list of rows.
static void push_matrix(lua_State *L, const stn_predict_derivative *d, int32_t nv, int32_t first, int32_t end) {
    lua_createtable(L, nv, 0);
    for (int32_t i = 0; i < nv; i++) {
        lua_createtable(L, end - first, 0);
        for (int32_t k = first; k < end; k++) {
            lua_pushnumber(L, d->dq[(size_t)k * (size_t)nv + (size_t)i]);
            lua_rawseti(L, -2, k - first + 1);
        }
        lua_rawseti(L, -2, i + 1);
    }
}

/// Fields of the table on top: derivatives, or why there are none.
static void set_derivatives(lua_State *L, const request *r, const stn_predict_input *input) {
    stn_predictor *p = r->predictor;
    const int32_t nv = stn_world_model(p->world)->nv;
    stn_predict_derivative d;
    stn_error err = {0};
    stn_arena_reset(p->arena);
    if (stn_world_observation(p->world)->report->status == STN_NOT_CONVERGED) {
        (void)stn_fail(&err, STN_NOT_CONVERGED, "the step did not converge");
    } else {
        err.status = stn_predict_differentiate(p, input, r->start, r->by_q, &d, &err);
    }
    if (err.status != STN_OK) {
        lua_pushstring(L, err.text);
        lua_setfield(L, -2, "derivatives_error");
        return;
    }
    push_matrix(L, &d, nv, 0, p->command_count);
    lua_setfield(L, -2, "dq_dcommand");
    if (r->by_q) {
        push_matrix(L, &d, nv, p->command_count, d.columns);
        lua_setfield(L, -2, "dq_dq");
    }
}

/// What came of a prediction; its arrays are borrowed.
typedef struct outcome {
    stn_status made;   // of the step; negative: there is nothing else but err
    stn_status solved; // of the report
    const double *q, *v;
    const stn_certificate *certificate;
    const stn_error *err;
} outcome;

static void push_outcome(lua_State *L, const stn_model *model, const outcome *o) {
    lua_createtable(L, 0, 9);
    const bool converged = o->made >= 0 && o->solved != STN_NOT_CONVERGED;
    lua_pushboolean(L, converged);
    lua_setfield(L, -2, "converged");
    lua_pushstring(L, o->made < 0 ? "failed" : stn_lua_status_word(o->solved));
    lua_setfield(L, -2, "status");
    if (o->made < 0) {
        lua_pushstring(L, o->err->text);
        lua_setfield(L, -2, "error");
        return;
    }
    stn_lua_push_reals(L, o->q, model->nq);
    lua_setfield(L, -2, "q");
    stn_lua_push_reals(L, o->v, model->nv);
    lua_setfield(L, -2, "v");
    stn_lua_push_certificate(L, o->certificate);
    lua_setfield(L, -2, "certificate");
}

/// Makes one prediction and pushes its table.
static void predict(lua_State *L, const request *r, const double *q) {
    stn_predictor *p = r->predictor;
    const stn_predict_input input = {q, r->v, r->command};
    stn_error err = {0};
    outcome out = {.made = stn_predict_step(p, p->world, &input, r->start, &err), .err = &err};
    const stn_observation *o = stn_world_observation(p->world);
    if (out.made >= 0) {
        out.solved = o->report->status;
        out.q = o->q;
        out.v = o->v;
        out.certificate = o->certificate;
    }
    push_outcome(L, stn_world_model(p->world), &out);
    if (out.made >= 0 && r->contacts) {
        stn_lua_world stand_in = {.session = r->w->session, .world = p->world, .compiled = true, .cloned = true};
        stn_lua_push_contacts(L, &stand_in);
        lua_setfield(L, -2, "contacts");
    }
    if (out.made >= 0 && r->derivatives) {
        set_derivatives(L, r, &input);
    }
}

static request begin(lua_State *L, const char *owner, bool batch) {
    request r = {.owner = owner, .batch = batch};
    lua_settop(L, 4);
    luaL_checkstack(L, 60, owner); // results nest
    r.w = stn_lua_world_idle(L, 1, owner);
    stn_lua_world_complete(L, 1, r.w);
    read_options(L, 4, &r);
    r.predictor = stn_lua_predictor(L, r.w);
    include_motions(L, &r);
    const size_t nq = (size_t)stn_world_model(r.w->world)->nq, commands = (size_t)r.predictor->command_count;
    r.q = lua_newuserdatauv(L, sizeof(double) * (2 * nq + commands + 1), 0);
    r.start = r.q + nq;
    r.command = r.start + nq;
    return r;
}

/// world:predict(q, command [, { derivatives = true }])
static int world_predict(lua_State *L) {
    request r = begin(L, "world:predict", false);
    const double *q = read_q(L, 2, &r, "world:predict: q");
    read_command(L, 3, &r, "world:predict: command");
    predict(L, &r, q);
    stn_predict_release(r.predictor);
    return 1;
}

static void check_interrupt(lua_State *L, const request *r) {
    if (r->w->session->stopped) {
        stn_lua_fail(L, "%s: interrupted", r->owner);
    }
}

// --------------------------------------------------------------------------------------------------- many on threads

/// One of a batch, shared with the thread that makes it.
typedef struct batch_entry {
    stn_status made, solved;
    stn_certificate certificate;
    stn_error err;
} batch_entry;

/// A batch whose inputs were all read. Arrays are per entry, one after the other.
typedef struct batch {
    const request *r;
    int32_t nq, nv;
    bool moved;               // starts are given
    double *starts, *command; // (nq), (command_count)
    double *q, *v;            // out: (nq), (nv)
    batch_entry *entries;     // out
    double *room;             // (nq) of each thread
} batch;

static void run_entry(void *user, int32_t index, int32_t worker) {
    const batch *b = user;
    if (b->r->w->session->stopped) {
        return;
    }
    const stn_predictor *p = b->r->predictor;
    stn_world *world = worker == 0 ? p->world : p->more[worker - 1];
    const size_t i = (size_t)index, nq = (size_t)b->nq, nv = (size_t)b->nv;
    batch_entry *entry = &b->entries[index];
    const stn_predict_input input = {b->moved ? b->starts + i * nq : NULL, b->r->v,
                                     b->command + i * (size_t)p->command_count};
    entry->made = stn_predict_step(p, world, &input, b->room + (size_t)worker * nq, &entry->err);
    if (entry->made >= 0) {
        const stn_observation *o = stn_world_observation(world);
        entry->solved = o->report->status;
        entry->certificate = *o->certificate;
        memcpy(b->q + i * nq, o->q, nq * sizeof(double));
        memcpy(b->v + i * nv, o->v, nv * sizeof(double));
    }
}

/// Threads and a clone for each of them.
static void prepare_threads(lua_State *L, const request *r) {
    stn_predictor *p = r->predictor;
    stn_error err = {0};
    if (stn_threads_count(p->threads) != r->threads) {
        release_threads(p);
        p->more = stn_allocate(p->context, (size_t)(r->threads - 1), sizeof *p->more);
        if (p->more == NULL) {
            stn_lua_fail(L, "%s: out of memory", r->owner);
        }
        for (int32_t i = 0; i < r->threads - 1; i++) {
            stn_lua_check(L, stn_world_clone(p->world, &p->more[i], &err), &err);
            p->more_count++;
        }
        stn_lua_check(L, stn_threads_create(p->context, r->threads, &p->threads, &err), &err);
    }
    for (int32_t i = 0; i < p->more_count; i++) {
        stn_lua_check(L, stn_world_set_dt(p->more[i], stn_world_dt(p->world), &err), &err);
    }
}

// ----------------------------------------------------------------------------------------------------------- batches

/// The start and the command of entry `i` into the request; `each`: it has a start of its own.
static const double *read_entry(lua_State *L, const request *r, lua_Integer i, bool each, const double *q) {
    if (each) {
        const char *what = lua_pushfstring(L, "%s: q[%I]", r->owner, (LUAI_UACINT)i);
        lua_rawgeti(L, 2, i);
        q = read_q(L, -1, r, what);
    }
    const char *what = lua_pushfstring(L, "%s: commands[%I]", r->owner, (LUAI_UACINT)i);
    lua_rawgeti(L, 3, i);
    read_command(L, -1, r, what);
    return q;
}

/// All entries on threads, their results into the list at `results`.
static void predict_on_threads(lua_State *L, const request *r, int32_t count, bool each, const double *q, int results) {
    const stn_model *model = stn_world_model(r->w->world);
    const size_t n = (size_t)count, nq = (size_t)model->nq, nv = (size_t)model->nv,
                 commands = (size_t)r->predictor->command_count, threads = (size_t)r->threads;
    batch b = {.r = r, .nq = model->nq, .nv = model->nv, .moved = each || q != NULL};
    prepare_threads(L, r);
    b.entries = lua_newuserdatauv(L, n * sizeof *b.entries + 1, 0);
    b.starts = lua_newuserdatauv(L, sizeof(double) * (n * (2 * nq + nv + commands) + threads * nq + 1), 0);
    memset(b.entries, 0, n * sizeof *b.entries);
    b.command = b.starts + n * nq;
    b.q = b.command + n * commands;
    b.v = b.q + n * nq;
    b.room = b.v + n * nv;
    const int top = lua_gettop(L);
    for (int32_t i = 0; i < count; i++) {
        const double *start = read_entry(L, r, i + 1, each, q);
        if (start != NULL) {
            memcpy(b.starts + (size_t)i * nq, start, nq * sizeof(double));
        }
        memcpy(b.command + (size_t)i * commands, r->command, commands * sizeof(double));
        lua_settop(L, top);
    }
    stn_parallel_for(r->predictor->threads, count, run_entry, &b);
    check_interrupt(L, r);
    for (int32_t i = 0; i < count; i++) {
        const batch_entry *entry = &b.entries[i];
        const outcome out = {.made = entry->made,
                             .solved = entry->solved,
                             .q = b.q + (size_t)i * nq,
                             .v = b.v + (size_t)i * nv,
                             .certificate = &entry->certificate,
                             .err = &entry->err};
        push_outcome(L, model, &out);
        lua_rawseti(L, results, i + 1);
    }
}

/// world:predict_batch(q, commands [, options]): q of all, or a list of them.
static int world_predict_batch(lua_State *L) {
    request r = begin(L, "world:predict_batch", true);
    if (lua_type(L, 3) != LUA_TTABLE) {
        stn_lua_fail(L, "%s: commands must be a list of commands, got %s", r.owner, luaL_typename(L, 3));
    }
    const lua_Integer count = (lua_Integer)lua_rawlen(L, 3);
    if (count > INT32_MAX / 2) {
        stn_lua_fail(L, "%s: %lld commands are too many", r.owner, (long long)count);
    }
    const bool each = lua_type(L, 2) == LUA_TTABLE && lua_rawgeti(L, 2, 1) == LUA_TTABLE;
    if (each && (lua_Integer)lua_rawlen(L, 2) != count) {
        stn_lua_fail(L, "%s: there are %d starts q for %d commands", r.owner, (int)lua_rawlen(L, 2), (int)count);
    }
    const double *q = each ? NULL : read_q(L, 2, &r, "world:predict_batch: q");
    lua_createtable(L, (int)count, 0);
    const int results = lua_gettop(L);
    if (r.threads > 1) {
        predict_on_threads(L, &r, (int32_t)count, each, q, results);
        lua_settop(L, results);
    }
    for (lua_Integer i = 1; i <= count && r.threads == 1; i++) {
        check_interrupt(L, &r);
        predict(L, &r, read_entry(L, &r, i, each, q));
        lua_rawseti(L, results, i);
        lua_settop(L, results);
    }
    stn_predict_release(r.predictor);
    return 1;
}

const luaL_Reg stn_lua_predict_methods[] = {
    {"predict", world_predict}, {"predict_batch", world_predict_batch}, {NULL, NULL}};
