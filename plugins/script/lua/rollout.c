// SPDX-License-Identifier: Apache-2.0
// stn.rollout { world, count = 64, cost = f, ... }: plans of controls, tried side by side from the present state of a
// world by one batch (batch.h) that is kept. A worker makes all steps of a plan before it takes the next one: the
// observer of the batch keeps rows at the end of each control and sets the next one. Costs are summed afterwards.
#include <math.h>
#include <string.h>

#include "batch.h"
#include "controls.h"

#define STN_LUA_ROLLOUT "stiction.rollout"

/// User values of a rollout.
enum { OF_WORLD = 1, OF_CONTROLS, OF_POSES, OF_COST, OF_ROW, OF_PLANS, ROLLOUT_VALUES = OF_PLANS };

/// What a row has, one after the other.
enum { PART_Q, PART_V, PART_POSE, PART_CONTROL, PART_COUNT };
static const char *const part_names[] = {"q", "v", "body_pose", "control", NULL};

/// cost = { q = { weight =, target = }, ... }: sum of weight (x - target)^2 over the columns of a row.
typedef struct quadratic {
    double *weight, *last, *target; // (columns); last: at the end of a plan, on top
} quadratic;

typedef struct rollout {
    lua_session *session;
    stn_batch *batch; // NULL once closed
    stn_controls controls;
    stn_batch_warnings said;
    double dt;                                             // of the world when the batch was made [s]
    int32_t count, hold;                                   // plans, steps of a control
    int32_t pose_count;                                    // bodies of body_pose
    int32_t *bodies;                                       // (pose_count)
    quadratic quadratic;                                   // weight NULL: a function
    bool running;                                          // its cost function is called
    bool ran;                                              // the last run was made
    int32_t width[PART_COUNT], start[PART_COUNT], columns; // of a row
    // of the last run, in the memory of user value OF_PLANS
    int32_t horizon, room; // controls of a plan, those that there is memory for
    double *plans;         // (count x horizon x controls.count)
    double *rows;          // (count x horizon x columns) at the end of each control
    double *costs;         // (count)
    double *scratch;       // (count x controls.room)
    int32_t *steps;        // (count) made
} rollout;

static rollout *check_rollout(lua_State *L, const char *owner) {
    rollout *o = stn_lua_self(L, 1, STN_LUA_ROLLOUT);
    if (o->batch == NULL) {
        stn_lua_fail(L, "this rollout was closed");
    }
    if (o->running) {
        stn_lua_fail(L, "%s: not inside of its own cost function", owner);
    }
    return o;
}

static int rollout_close(lua_State *L) {
    rollout *o = luaL_checkudata(L, 1, STN_LUA_ROLLOUT);
    stn_batch_destroy(o->batch);
    o->batch = NULL;
    return 0;
}

// ---------------------------------------------------------------------------------------------------------- stepping

static const double *control_at(const rollout *o, int32_t plan, int32_t interval) {
    const size_t numbers = (size_t)o->controls.count;
    return o->plans + ((size_t)plan * (size_t)o->horizon + (size_t)interval) * numbers;
}

static double *row_at(const rollout *o, int32_t plan, int32_t interval) {
    return o->rows + ((size_t)plan * (size_t)o->horizon + (size_t)interval) * (size_t)o->columns;
}

static stn_status apply_control(const rollout *o, int32_t plan, int32_t interval, stn_world *world, stn_error *err) {
    return stn_controls_apply(&o->controls, world, control_at(o, plan, interval),
                              o->scratch + (size_t)plan * (size_t)o->controls.room, err);
}

static void keep_row(const rollout *o, int32_t plan, int32_t interval, const stn_world *world) {
    const stn_observation *seen = stn_world_observation(world);
    double *row = row_at(o, plan, interval);
    memcpy(row + o->start[PART_Q], seen->q, (size_t)o->width[PART_Q] * sizeof *row);
    memcpy(row + o->start[PART_V], seen->v, (size_t)o->width[PART_V] * sizeof *row);
    for (int32_t k = 0; k < o->pose_count; k++) {
        const stn_pose *at = &seen->kinematics->body_pose[o->bodies[k]];
        const stn_quat r = stn_quat_from_matrix(&at->rotation);
        const double numbers[7] = {at->position.x, at->position.y, at->position.z, r.w, r.x, r.y, r.z};
        memcpy(row + o->start[PART_POSE] + 7 * (size_t)k, numbers, sizeof numbers);
    }
    memcpy(row + o->start[PART_CONTROL], control_at(o, plan, interval), (size_t)o->controls.count * sizeof *row);
}

/// After a step of a plan's world.
static stn_status watch(void *user, int32_t plan, stn_world *world, stn_error *err) {
    rollout *o = user;
    const int32_t made = ++o->steps[plan], interval = made / o->hold - 1;
    if (o->session->stopped) {
        return stn_fail(err, STN_ERR_INTERRUPTED, "interrupted");
    }
    if (made % o->hold != 0) {
        return STN_OK;
    }
    keep_row(o, plan, interval, world);
    return interval + 1 < o->horizon ? apply_control(o, plan, interval + 1, world, err) : STN_OK;
}

typedef struct first_control {
    const rollout *o;
    int32_t plan;
} first_control;

static stn_status restore(void *user, stn_world *world, stn_error *err) {
    return stn_world_restore(world, user, err);
}

static stn_status begin_plan(void *user, stn_world *world, stn_error *err) {
    const first_control *f = user;
    return apply_control(f->o, f->plan, 0, world, err);
}

/// All worlds of the batch in the state of `world`, with the first control of their plans.
static stn_status begin(const rollout *o, const stn_world *world, int32_t *numbers, stn_error *err) {
    stn_snapshot *snapshot = NULL;
    stn_status status = stn_world_snapshot(world, &snapshot, err);
    if (status == STN_OK) {
        status = stn_batch_visit(o->batch, 0, restore, snapshot, err);
    }
    stn_snapshot_destroy(snapshot);
    for (int32_t i = 0; i < o->count; i++) {
        numbers[i] = i;
        numbers[o->count + i] = 0;
    }
    if (status == STN_OK) {
        status = stn_batch_copy(o->batch, numbers + o->count, numbers, o->count, err);
    }
    for (int32_t i = 0; i < o->count && status == STN_OK; i++) {
        first_control f = {.o = o, .plan = i};
        status = stn_batch_visit(o->batch, i, begin_plan, &f, err);
    }
    return status;
}

// ------------------------------------------------------------------------------------------------------------- costs

/// A quaternion and its negative are one orientation: the sign nearer to the target.
static void turn_quaternions(const rollout *o, double *row) {
    for (int32_t k = 0; k < o->pose_count; k++) {
        const int32_t at = o->start[PART_POSE] + 7 * k + 3;
        double product = 0.0;
        for (int32_t i = at; i < at + 4; i++) {
            product += row[i] * o->quadratic.target[i];
        }
        for (int32_t i = at; i < at + 4 && product < 0.0; i++) {
            row[i] = -row[i];
        }
    }
}

static double quadratic_cost(const rollout *o, int32_t plan) {
    const quadratic *c = &o->quadratic;
    double sum = 0.0;
    for (int32_t t = 0; t < o->horizon; t++) {
        double *row = row_at(o, plan, t);
        turn_quaternions(o, row);
        for (int32_t k = 0; k < o->columns; k++) {
            const double off = row[k] - c->target[k];
            sum += (c->weight[k] + (t + 1 == o->horizon ? c->last[k] : 0.0)) * off * off;
        }
    }
    return sum;
}

/// Fills the tables of the row at stack index `row`.
static void fill_row(lua_State *L, int row, const rollout *o, int32_t plan, int32_t interval) {
    const double *values = row_at(o, plan, interval);
    for (int32_t p = 0; p < PART_COUNT; p++) {
        lua_getfield(L, row, part_names[p]);
        for (int32_t k = 0; k < o->width[p]; k++) {
            lua_pushnumber(L, values[o->start[p] + k]);
            lua_rawseti(L, -2, k + 1);
        }
        lua_pop(L, 1);
    }
    lua_pushinteger(L, interval + 1);
    lua_setfield(L, row, "interval");
    lua_pushboolean(L, interval + 1 == o->horizon);
    lua_setfield(L, row, "last");
}

/// The cost of every plan that has made all of its steps, by the function; in protected mode, index 1 the rollout.
static int call_costs(lua_State *L) {
    const rollout *o = lua_touserdata(L, 1);
    lua_getiuservalue(L, 1, OF_COST);
    lua_getiuservalue(L, 1, OF_ROW);
    for (int32_t i = 0; i < o->count; i++) {
        double sum = 0.0;
        for (int32_t t = 0; t < o->horizon && stn_batch_error(o->batch, i) == NULL; t++) {
            fill_row(L, 3, o, i, t);
            lua_pushvalue(L, 2);
            lua_pushvalue(L, 3);
            lua_call(L, 1, 1);
            if (lua_type(L, -1) != LUA_TNUMBER || isnan(lua_tonumber(L, -1))) {
                stn_lua_fail(L, "rollout:run: cost of plan %d, interval %d: the function must return a number, got %s",
                             (int)i + 1, (int)t + 1, luaL_tolstring(L, -1, NULL));
            }
            sum += lua_tonumber(L, -1);
            lua_pop(L, 1);
        }
        o->costs[i] = stn_batch_error(o->batch, i) == NULL ? sum : (double)INFINITY;
    }
    return 0;
}

static void sum_costs(lua_State *L, rollout *o) {
    if (o->quadratic.weight != NULL) {
        for (int32_t i = 0; i < o->count; i++) {
            o->costs[i] = stn_batch_error(o->batch, i) == NULL ? quadratic_cost(o, i) : (double)INFINITY;
        }
        return;
    }
    lua_pushcfunction(L, call_costs);
    lua_pushvalue(L, 1);
    o->running = true;
    const int failed = lua_pcall(L, 1, 0, 0);
    o->running = false;
    if (failed != LUA_OK) {
        lua_error(L);
    }
}

// --------------------------------------------------------------------------------------------------------------- run

/// Memory for plans of so many controls.
static void make_room(lua_State *L, rollout *o, int32_t horizon) {
    if (horizon <= o->room) {
        o->horizon = horizon;
        return;
    }
    const size_t count = (size_t)o->count, intervals = count * (size_t)horizon;
    const size_t plans = intervals * (size_t)o->controls.count, rows = intervals * (size_t)o->columns,
                 scratch = count * (size_t)o->controls.room;
    o->horizon = o->room = 0;
    o->plans = lua_newuserdatauv(
        L, sizeof(double) * (plans + rows + scratch + count) + sizeof(int32_t) * 3 * (size_t)count, 0);
    o->rows = o->plans + plans;
    o->scratch = o->rows + rows;
    o->costs = o->scratch + scratch;
    o->steps = (int32_t *)(o->costs + count);
    o->horizon = o->room = horizon;
    lua_setiuservalue(L, 1, OF_PLANS);
}

/// The plans at stack index 2 into memory.
static void read_plans(lua_State *L, rollout *o) {
    static const char owner[] = "rollout:run";
    const int32_t numbers = o->controls.count;
    if (lua_type(L, 2) != LUA_TTABLE || (lua_Integer)lua_rawlen(L, 2) != o->count) {
        stn_lua_fail(L, "%s: a list of %d plans is needed, got %s", owner, (int)o->count,
                     lua_type(L, 2) == LUA_TTABLE ? lua_pushfstring(L, "%d", (int)lua_rawlen(L, 2))
                                                  : luaL_typename(L, 2));
    }
    for (int32_t i = 0; i < o->count; i++) {
        lua_rawgeti(L, 2, i + 1);
        const char *what = lua_pushfstring(L, "%s: plan %d", owner, (int)i + 1);
        const lua_Integer length = lua_type(L, -2) == LUA_TTABLE ? (lua_Integer)lua_rawlen(L, -2) : 0;
        if (i == 0 && (length < numbers || length % numbers != 0 || length / numbers > INT32_MAX / o->hold)) {
            stn_lua_fail(L, "%s must be a list of %d numbers for each control, got %s", what, (int)numbers,
                         lua_type(L, -2) == LUA_TTABLE ? lua_pushfstring(L, "%I", (LUAI_UACINT)length)
                                                       : luaL_typename(L, -2));
        }
        if (i == 0) {
            make_room(L, o, (int32_t)(length / numbers));
        }
        stn_lua_reals(L, lua_gettop(L) - 1, what, "of controls", o->horizon * numbers,
                      o->plans + (size_t)i * (size_t)o->horizon * (size_t)numbers);
        lua_pop(L, 2);
    }
}

/// rollout:run(plans): the costs, and how many plans failed.
static int rollout_run(lua_State *L) {
    static const char owner[] = "rollout:run";
    rollout *o = check_rollout(L, owner);
    lua_settop(L, 2);
    lua_getiuservalue(L, 1, OF_WORLD);
    const stn_lua_world *w = stn_lua_world_idle(L, 3, owner);
    if (stn_world_dt(w->world) != o->dt) {
        stn_lua_fail(L, "%s: the world has dt = %g, and had %g when the rollout was made: make a new one", owner,
                     stn_world_dt(w->world), o->dt);
    }
    o->ran = false;
    read_plans(L, o);
    stn_error err = {0};
    stn_lua_check(L, begin(o, w->world, o->steps + o->count, &err), &err);
    memset(o->steps, 0, (size_t)o->count * sizeof *o->steps);
    stn_batch_observe(o->batch, watch, o);
    (void)stn_batch_step(o->batch, o->horizon * o->hold, NULL); // each world's error has what came of it
    stn_batch_observe(o->batch, NULL, NULL);
    if (o->session->stopped) {
        stn_lua_fail(L, "interrupted");
    }
    o->ran = true;
    sum_costs(L, o);
    stn_lua_batch_warn(L, o->session, o->batch, true, &o->said);
    int32_t failed = 0;
    lua_createtable(L, o->count, 0);
    for (int32_t i = 0; i < o->count; i++) {
        failed += stn_batch_error(o->batch, i) != NULL;
        lua_pushnumber(L, o->costs[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_pushinteger(L, failed);
    return 2;
}

// ------------------------------------------------------------------------------------------------- of the last run

static int32_t check_plan(lua_State *L, const rollout *o, const char *owner) {
    int is_integer = 0;
    const lua_Integer plan = lua_tointegerx(L, 2, &is_integer);
    if (!is_integer || plan < 1 || plan > o->count) {
        stn_lua_fail(L, "%s: plan %s is not one of 1 to %d", owner, luaL_tolstring(L, 2, NULL), (int)o->count);
    }
    return (int32_t)plan - 1;
}

/// rollout:trajectory(i): { q = rows, v = rows, body_pose = rows, control = rows }, a row for each control that ended.
static int rollout_trajectory(lua_State *L) {
    const rollout *o = check_rollout(L, "rollout:trajectory");
    const int32_t plan = check_plan(L, o, "rollout:trajectory");
    if (!o->ran) {
        stn_lua_fail(L, "rollout:trajectory: nothing was run yet");
    }
    const bool failed = stn_batch_error(o->batch, plan) != NULL;
    const int32_t made = failed ? (o->steps[plan] > 0 ? o->steps[plan] / o->hold : 0) : o->horizon;
    lua_createtable(L, 0, PART_COUNT);
    for (int32_t p = 0; p < PART_COUNT; p++) {
        lua_createtable(L, made, 0);
        for (int32_t t = 0; t < made; t++) {
            stn_lua_push_reals(L, row_at(o, plan, t) + o->start[p], o->width[p]);
            lua_rawseti(L, -2, t + 1);
        }
        lua_setfield(L, -2, part_names[p]);
    }
    return 1;
}

/// rollout:error(i): why the plan failed; nil: it did not.
static int rollout_error(lua_State *L) {
    const rollout *o = check_rollout(L, "rollout:error");
    const stn_error *err = stn_batch_error(o->batch, check_plan(L, o, "rollout:error"));
    if (err != NULL) {
        lua_pushstring(L, err->text);
    } else {
        lua_pushnil(L);
    }
    return 1;
}

static int rollout_tally(lua_State *L) {
    const rollout *o = check_rollout(L, "rollout:tally");
    stn_lua_push_tally(L, o->batch);
    return 1;
}

// -------------------------------------------------------------------------------------------------------------- life

static const char *const rollout_properties[] = {"count", "hold", "control_count", NULL};

static bool get_rollout(lua_State *L, void *self, const char *name) {
    const rollout *o = self;
    const int32_t values[] = {o->count, o->hold, o->controls.count};
    for (int i = 0; rollout_properties[i] != NULL; i++) {
        if (strcmp(rollout_properties[i], name) == 0) {
            lua_pushinteger(L, values[i]);
            return true;
        }
    }
    return false;
}

/// body_pose = { link, ... }: the bodies of links, in memory that it pushes.
static void read_poses(lua_State *L, const stn_fields *f, stn_lua_world *w, rollout *o) {
    if (!stn_fields_push(f, "body_pose")) {
        lua_pushnil(L);
        return;
    }
    const stn_model *model = stn_world_model(w->world);
    if (lua_type(L, -1) != LUA_TTABLE) {
        stn_lua_fail(L, "%s: body_pose must be a list of groups and links, got %s", f->owner, luaL_typename(L, -1));
    }
    const int32_t count = (int32_t)lua_rawlen(L, -1);
    o->bodies = lua_newuserdatauv(L, sizeof *o->bodies * (size_t)(count + 1), 0);
    for (int32_t i = 0; i < count; i++) {
        lua_rawgeti(L, -2, i + 1);
        const stn_link_range links = stn_lua_links(L, lua_gettop(L), w, f->owner);
        if (links.count != 1) {
            stn_lua_fail(L, "%s: body_pose[%d] has %d links: name one of them", f->owner, (int)i + 1, (int)links.count);
        }
        o->bodies[i] = model->links[links.start].body;
        lua_pop(L, 1);
    }
    o->pose_count = count;
    lua_remove(L, -2);
}

/// One part of a quadratic cost, { weight =, target = } on top of the stack: a number for all columns, or one for each.
static void read_part(lua_State *L, const char *owner, const rollout *o, int32_t part, double *weight, double *target) {
    static const char *const keys[] = {"weight", "target", NULL};
    const char *what = lua_pushfstring(L, "%s: cost.%s", owner, part_names[part]);
    lua_insert(L, -2);
    const stn_fields f = stn_fields_open(L, -1, what, target != NULL ? keys : (const char *const[]){"weight", NULL}, 0);
    double *const out[] = {weight + o->start[part], target != NULL ? target + o->start[part] : NULL};
    for (int32_t k = 0; k < 2; k++) {
        if (out[k] == NULL || !stn_fields_push(&f, keys[k])) {
            continue;
        }
        const char *name = lua_pushfstring(L, "%s.%s", what, keys[k]);
        lua_insert(L, -2);
        if (lua_type(L, -1) == LUA_TTABLE) {
            stn_lua_reals(L, -1, name, "of columns", o->width[part], out[k]);
        } else {
            const double value = stn_lua_real(L, -1, name, "of columns");
            for (int32_t i = 0; i < o->width[part]; i++) {
                out[k][i] = value;
            }
        }
        lua_pop(L, 2);
    }
    lua_remove(L, -2);
}

static void read_parts(lua_State *L, const stn_fields *f, const rollout *o, double *weight, double *target) {
    for (int32_t p = 0; p < PART_COUNT; p++) {
        if (stn_fields_push(f, part_names[p])) {
            read_part(L, f->owner, o, p, weight, target);
            lua_pop(L, 1);
        }
    }
}

/// The cost: a function, or weights of squares. Into user value OF_COST of the rollout at `self`.
static void read_cost(lua_State *L, const stn_fields *f, rollout *o, int self) {
    static const char *const keys[] = {"q", "v", "body_pose", "control", "last", NULL};
    const bool there = stn_fields_push(f, "cost");
    if (!there || (lua_type(L, -1) != LUA_TFUNCTION && lua_type(L, -1) != LUA_TTABLE)) {
        stn_lua_fail(L, "%s: cost must be a function of a row or a table { q = { weight =, target = }, ... }, got %s",
                     f->owner, there ? luaL_typename(L, -1) : "nothing");
    }
    if (lua_type(L, -1) == LUA_TFUNCTION) {
        lua_setiuservalue(L, self, OF_COST);
        return;
    }
    const size_t columns = (size_t)o->columns;
    const stn_fields terms = stn_fields_open(L, -1, f->owner, keys, 0);
    double *numbers = lua_newuserdatauv(L, 3 * sizeof *numbers * (columns + 1), 0);
    memset(numbers, 0, 3 * sizeof *numbers * (columns + 1));
    o->quadratic = (quadratic){.weight = numbers, .last = numbers + columns, .target = numbers + 2 * columns};
    lua_setiuservalue(L, self, OF_COST);
    read_parts(L, &terms, o, o->quadratic.weight, o->quadratic.target);
    if (stn_fields_push(&terms, "last")) {
        const stn_fields last = stn_fields_open(L, -1, f->owner, (const char *const[]){"q", "v", "body_pose", NULL}, 0);
        read_parts(L, &last, o, o->quadratic.last, NULL);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/// The tables that a cost function gets, filled anew for each call.
static void push_row(lua_State *L, const rollout *o) {
    lua_createtable(L, 0, PART_COUNT + 2);
    for (int32_t p = 0; p < PART_COUNT; p++) {
        lua_createtable(L, o->width[p], 0);
        lua_setfield(L, -2, part_names[p]);
    }
}

static void lay_out_rows(rollout *o, const stn_model *model) {
    const int32_t width[PART_COUNT] = {model->nq, model->nv, 7 * o->pose_count, o->controls.count};
    for (int32_t p = 0; p < PART_COUNT; p++) {
        o->width[p] = width[p];
        o->start[p] = o->columns;
        o->columns += width[p];
    }
}

static int module_rollout(lua_State *L) {
    static const char owner[] = "stn.rollout";
    static const char *const keys[] = {"count", "threads", "hold", "cost", "body_pose", STN_CONTROL_KEYS, NULL};
    lua_settop(L, 1);
    const stn_fields f = stn_fields_open(L, 1, owner, keys, 1);
    stn_lua_world *w = stn_lua_batch_world(L, owner); // at 2
    stn_batch_options options = stn_batch_options_default();
    lua_Integer count = 1, threads = 1, hold = 1;
    if (!stn_fields_integer(&f, "count", 1, 1 << 24, &count)) {
        stn_lua_fail(L, "%s: count, the number of plans of a run, is missing", owner);
    }
    stn_fields_integer(&f, "threads", 1, 1024, &threads);
    stn_fields_integer(&f, "hold", 1, 1 << 20, &hold);
    options.count = (int32_t)count;
    options.threads = (int32_t)threads;
    rollout *o = lua_newuserdatauv(L, sizeof *o, ROLLOUT_VALUES); // at 3
    *o = (rollout){.session = w->session,
                   .said = stn_lua_batch_warnings(w),
                   .dt = stn_world_dt(w->world),
                   .count = options.count,
                   .hold = (int32_t)hold};
    luaL_setmetatable(L, STN_LUA_ROLLOUT);
    lua_pushvalue(L, 2);
    lua_setiuservalue(L, 3, OF_WORLD);
    o->controls = stn_lua_read_controls(&f, w);
    lua_setiuservalue(L, 3, OF_CONTROLS);
    read_poses(L, &f, w, o);
    lua_setiuservalue(L, 3, OF_POSES);
    lay_out_rows(o, stn_world_model(w->world));
    read_cost(L, &f, o, 3);
    push_row(L, o);
    lua_setiuservalue(L, 3, OF_ROW);
    lua_settop(L, 3);
    stn_error err = {0};
    stn_lua_check(L, stn_batch_create(w->world, &options, &o->batch, &err), &err);
    return 1;
}

void stn_lua_open_rollout(lua_State *L) {
    static const luaL_Reg methods[] = {{"run", rollout_run},     {"trajectory", rollout_trajectory},
                                       {"error", rollout_error}, {"tally", rollout_tally},
                                       {"close", rollout_close}, {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__gc", rollout_close}, {"__close", rollout_close}, {NULL, NULL}};
    stn_lua_class(L, STN_LUA_ROLLOUT, methods, meta, get_rollout, rollout_properties);
}

const luaL_Reg stn_lua_rollout_functions[] = {{"rollout", module_rollout}, {NULL, NULL}};
