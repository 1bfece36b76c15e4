// SPDX-License-Identifier: Apache-2.0
// stn.batch { world, count = 1000, threads = 2 }: many worlds of one description, stepped side by side (batch.h).
#include <math.h>
#include <string.h>

#include <stiction/replay.h>

#include "batch.h"
#include "channel.h"

/// Steps of all worlds between two looks whether the script is to end; of one world at most so many.
enum { STEPS_AT_ONCE = 20000, STEPS_OF_A_WORLD = 16 };

static const char sensors[] = "sensors";

/// What a script names: a field, or a channel of all controllers that take it, which is a part of the references.
typedef struct field_choice {
    stn_batch_field stored;
    stn_channel_name name; // its channel NULL: all columns
    bool sensors;          // what the sensors of the description's world read, in place of a field
    int32_t columns;
} field_choice;

/// User value 1: the world that visitors get; others as told below.
typedef struct batch_object {
    lua_session *session;
    stn_batch *batch; // NULL once closed
    stn_batch_warnings said;
    int32_t part_count;
    stn_channel_place *parts; // (part_count) of all controllers, in the memory of user value 2
    // of worlds whose sensors are read after every step:
    int32_t sensor_count, sensor_columns;
    const void **sensors; // (sensor_count) of the list in user value 3, in the memory of user value 4
    double *readings;     // (count x sensor_columns) of the last step; in the memory of user value 5
} batch_object;

static batch_object *check_batch(lua_State *L) {
    batch_object *o = stn_lua_self(L, 1, STN_LUA_BATCH);
    if (o->batch == NULL) {
        stn_lua_fail(L, "this batch was closed");
    }
    return o;
}

static int batch_close(lua_State *L) {
    batch_object *o = luaL_checkudata(L, 1, STN_LUA_BATCH);
    stn_batch_destroy(o->batch);
    o->batch = NULL;
    return 0;
}

// ---------------------------------------------------------------------------------------------------- arguments

/// A field by name, "command", or "reference." with the name of a channel.
static field_choice check_field(lua_State *L, int index, const batch_object *o, const char *owner) {
    const char *names[STN_BATCH_FIELD_COUNT + 3] = {NULL};
    for (int f = 0; f < STN_BATCH_FIELD_COUNT; f++) {
        names[f] = stn_batch_field_name(f);
    }
    names[STN_BATCH_FIELD_COUNT] = STN_COMMAND;
    names[STN_BATCH_FIELD_COUNT + 1] = sensors;
    if (lua_type(L, index) != LUA_TSTRING) {
        stn_lua_fail(L, "%s: name the field, such as \"q\", got %s", owner, luaL_typename(L, index));
    }
    const char *name = lua_tostring(L, index);
    for (int f = 0; f < STN_BATCH_FIELD_COUNT; f++) {
        if (strcmp(names[f], name) == 0) {
            return (field_choice){.stored = f, .columns = o->batch != NULL ? stn_batch_columns(o->batch, f) : 0};
        }
    }
    if (strcmp(name, sensors) == 0) {
        return (field_choice){.stored = STN_BATCH_FIELD_COUNT, .sensors = true, .columns = o->sensor_columns};
    }
    field_choice choice = {.stored = STN_BATCH_REFERENCE, .name = stn_lua_channel_name(name)};
    if (choice.name.channel == NULL) {
        stn_lua_unknown(L, owner, name, names);
    }
    for (int32_t i = 0; i < o->part_count; i++) {
        choice.columns += stn_channel_is(&o->parts[i], choice.name) ? o->parts[i].size : 0;
    }
    if (choice.columns == 0 && !choice.name.by_velocity) {
        stn_lua_fail(L, "%s: no controller takes references called '%s'", owner, choice.name.channel);
    }
    return choice;
}

static int32_t check_world(lua_State *L, int index, const batch_object *o, const char *owner) {
    int is_integer = 0;
    const lua_Integer world = lua_tointegerx(L, index, &is_integer);
    if (!is_integer || world < 1 || world > stn_batch_count(o->batch)) {
        stn_lua_fail(L, "%s: world %s is not one of 1 to %d", owner, luaL_tolstring(L, index, NULL),
                     (int)stn_batch_count(o->batch));
    }
    return (int32_t)world - 1;
}

/// A world, a list of them, or nil: all. In memory that it pushes; NULL: all.
static int32_t *check_worlds(lua_State *L, int index, const batch_object *o, const char *owner, int32_t *count) {
    *count = stn_batch_count(o->batch);
    if (lua_isnoneornil(L, index)) {
        lua_pushnil(L);
        return NULL;
    }
    const bool one = lua_type(L, index) != LUA_TTABLE;
    *count = one ? 1 : (int32_t)lua_rawlen(L, index);
    int32_t *worlds = lua_newuserdatauv(L, sizeof *worlds * (size_t)(*count + 1), 0);
    for (int32_t i = 0; i < *count; i++) {
        if (one) {
            lua_pushvalue(L, index);
        } else {
            lua_rawgeti(L, index, i + 1);
        }
        worlds[i] = check_world(L, lua_gettop(L), o, owner);
        lua_pop(L, 1);
    }
    return worlds;
}

/// Between rows of references and those of a channel.
static void exchange_channel(const batch_object *o, const field_choice *choice, double *references, double *row,
                             bool read) {
    for (int32_t i = 0; i < o->part_count; i++) {
        const stn_channel_place *part = &o->parts[i];
        if (stn_channel_is(part, choice->name)) {
            double *reference = references + part->start;
            memcpy(read ? row : reference, read ? reference : row, sizeof(double) * (size_t)part->size);
            row += part->size;
        }
    }
}

// ------------------------------------------------------------------------------------------------- numbers in and out

/// What the sensors read, as batch:get returns it.
static void push_readings(lua_State *L, const batch_object *o, const int32_t *worlds, int32_t count) {
    if (o->readings == NULL) {
        stn_lua_fail(L,
                     "batch:get: sensors are not kept; stn.batch { world, outputs = { \"sensors\" } } asks for them");
    }
    lua_createtable(L, count, 0);
    for (int32_t i = 0; i < count; i++) {
        const int32_t world = worlds != NULL ? worlds[i] : i;
        stn_lua_push_reals(L, o->readings + (size_t)world * (size_t)o->sensor_columns, o->sensor_columns);
        lua_rawseti(L, -2, i + 1);
    }
}

static int batch_get(lua_State *L) {
    static const char owner[] = "batch:get";
    const batch_object *o = check_batch(L);
    const field_choice field = check_field(L, 2, o, owner);
    int32_t count = 0;
    const int32_t *worlds = check_worlds(L, 3, o, owner, &count);
    if (field.sensors) {
        push_readings(L, o, worlds, count);
        if (lua_type(L, 3) == LUA_TNUMBER) {
            lua_rawgeti(L, -1, 1);
        }
        return 1;
    }
    const size_t stored = (size_t)stn_batch_columns(o->batch, field.stored);
    double *values = lua_newuserdatauv(L, sizeof *values * ((size_t)count * stored + (size_t)field.columns + 1), 0);
    double *channel = values + (size_t)count * stored;
    stn_error err = {0};
    stn_lua_check(L, stn_batch_get(o->batch, field.stored, worlds, count, values, &err), &err);
    lua_createtable(L, count, 0);
    for (int32_t i = 0; i < count; i++) {
        double *row = values + (size_t)i * stored;
        if (field.name.channel != NULL) {
            exchange_channel(o, &field, row, channel, true);
            row = channel;
        }
        if (field.stored == STN_BATCH_TIME) {
            lua_pushnumber(L, row[0]);
        } else {
            stn_lua_push_reals(L, row, field.columns);
        }
        lua_rawseti(L, -2, i + 1);
    }
    if (lua_type(L, 3) == LUA_TNUMBER) { // of one world
        lua_rawgeti(L, -1, 1);
    }
    return 1;
}

/// Is the table at `index` one row for all, a list of numbers?
static bool is_row(lua_State *L, int index) {
    const bool number = lua_rawgeti(L, index, 1) == LUA_TNUMBER;
    lua_pop(L, 1);
    return number;
}

static int batch_set(lua_State *L) {
    static const char owner[] = "batch:set";
    const batch_object *o = check_batch(L);
    const field_choice field = check_field(L, 2, o, owner);
    const int32_t columns = field.columns;
    if (field.sensors) {
        stn_lua_fail(L, "%s: sensors cannot be set", owner);
    }
    int32_t count = 0;
    const int32_t *worlds = check_worlds(L, 4, o, owner, &count);
    luaL_argcheck(L, lua_type(L, 3) == LUA_TTABLE, 3, "a list of rows, or one row for all, is needed");
    stn_error err = {0};
    stn_lua_check(L, stn_batch_set(o->batch, field.stored, NULL, 0, NULL, &err), &err); // can it be set at all?
    const bool one_row = is_row(L, 3);
    if (!one_row && (lua_Integer)lua_rawlen(L, 3) != count) {
        stn_lua_fail(L, "%s: %d rows for %d worlds", owner, (int)lua_rawlen(L, 3), (int)count);
    }
    const size_t stored = (size_t)stn_batch_columns(o->batch, field.stored);
    double *values = lua_newuserdatauv(L, sizeof *values * ((size_t)count * stored + (size_t)columns + 1), 0);
    double *row = values + (size_t)count * stored;
    if (field.name.channel != NULL) {
        stn_lua_check(L, stn_batch_get(o->batch, STN_BATCH_REFERENCE, worlds, count, values, &err), &err);
    }
    for (int32_t i = 0; i < count; i++) {
        if (!one_row || i == 0) {
            const char *what = lua_pushfstring(L, "%s %s, row %d", owner, lua_tostring(L, 2), (int)i + 1);
            lua_pushvalue(L, 3);
            if (!one_row) {
                lua_rawgeti(L, 3, i + 1);
            }
            stn_lua_reals(L, lua_gettop(L), what, "", columns, row);
            lua_pop(L, one_row ? 2 : 3);
        }
        if (field.name.channel != NULL) {
            exchange_channel(o, &field, values + (size_t)i * stored, row, false);
        } else {
            memcpy(values + (size_t)i * stored, row, stored * sizeof *row);
        }
    }
    for (int32_t i = 0; i < count; i++) {
        const int32_t world = worlds != NULL ? worlds[i] : i;
        if (stn_batch_set(o->batch, field.stored, &world, 1, values + (size_t)i * stored, &err) < 0) {
            const char *why = strstr(err.text, ": "); // before it the core counts worlds from 0
            stn_lua_fail(L, "%s %s, world %d: %s", owner, lua_tostring(L, 2), (int)world + 1,
                         why != NULL ? why + 2 : err.text);
        }
    }
    return 0;
}

static int batch_columns(lua_State *L) {
    const batch_object *o = check_batch(L);
    lua_pushinteger(L, check_field(L, 2, o, "batch:columns").columns);
    return 1;
}

// ---------------------------------------------------------------------------------------------------------- steps

stn_batch_warnings stn_lua_batch_warnings(const stn_lua_world *w) {
    const stn_instance *integrator = stn_world_plugin(w->world, STN_KIND_INTEGRATOR);
    return (stn_batch_warnings){.convergence_said =
                                    stn_integrator_solves(integrator->desc->ops.integrator) ||
                                    stn_plugin_says(stn_world_plugin(w->world, STN_KIND_SOLVER), "approximate")};
}

void stn_lua_batch_warn(lua_State *L, const lua_session *session, const stn_batch *batch, bool rollout,
                        stn_batch_warnings *said) {
    const stn_batch_tally all = stn_batch_count_steps(batch);
    const bool failed = all.failed > 0 && !said->failure_said, open = all.not_converged > 0 && !said->convergence_said;
    if (!failed && !open) {
        return;
    }
    const char *owner = rollout ? "rollout:run" : "batch:step", *tally = rollout ? "rollout:tally()" : "batch:tally()";
    const int top = lua_gettop(L);
    stn_lua_where(L);
    const char *where = lua_tostring(L, -1);
    for (int32_t i = 0; failed && !said->failure_said; i++) {
        const stn_error *why = stn_batch_error(batch, i);
        if (why != NULL) {
            const char *keep =
                rollout ? ""
                        : lua_pushfstring(L, " (batch:save_capsule(%d, \"failed.json\") keeps the step)", (int)i + 1);
            stn_log(session->context, STN_LOG_WARNING, "%s%s: %d of %d %s; the first one, %s %d: %s%s", where, owner,
                    (int)all.failed, (int)stn_batch_count(batch), rollout ? "plans failed" : "worlds stand still",
                    rollout ? "plan" : "world", (int)i + 1, why->text, keep);
            said->failure_said = true;
        }
    }
    if (open) {
        stn_log(session->context, STN_LOG_WARNING, "%s%s: %lld of %lld steps have not converged so far; %s counts them",
                where, owner, (long long)all.not_converged, (long long)all.steps, tally);
        said->convergence_said = true;
    }
    lua_settop(L, top);
}

static stn_status read_sensors(void *user, int32_t world, stn_world *stepped, stn_error *err) {
    const batch_object *o = user;
    double *row = o->readings + (size_t)world * (size_t)o->sensor_columns;
    return stn_lua_sensors_measure(o->sensors, o->sensor_count, stepped, (uint64_t)world, row, err);
}

/// Of worlds that have made no step since, or whose last one failed, they read zeros.
static void forget_readings(const batch_object *o, int32_t world) {
    if (o->readings != NULL) {
        const size_t columns = (size_t)o->sensor_columns;
        memset(o->readings + (size_t)world * columns, 0, columns * sizeof *o->readings);
    }
}

/// batch:step(steps): how many worlds stand still because they have failed.
static int batch_step(lua_State *L) {
    batch_object *o = check_batch(L);
    const lua_Integer steps = luaL_optinteger(L, 2, 1);
    luaL_argcheck(L, steps >= 0 && steps <= INT32_MAX, 2, "steps must be >= 0");
    const int32_t fair = STEPS_AT_ONCE / stn_batch_count(o->batch) + 1;
    const lua_Integer most = fair < STEPS_OF_A_WORLD ? fair : STEPS_OF_A_WORLD;
    for (lua_Integer made = 0; made < steps;) {
        const lua_Integer next = steps - made < most ? steps - made : most;
        (void)stn_batch_step(o->batch, (int32_t)next, NULL); // the tally has what came of it
        made += next;
        if (o->session->stopped) {
            stn_lua_fail(L, "interrupted");
        }
    }
    const stn_batch_tally all = stn_batch_count_steps(o->batch);
    for (int32_t i = 0; all.failed > 0 && i < stn_batch_count(o->batch); i++) {
        if (stn_batch_error(o->batch, i) != NULL) {
            forget_readings(o, i);
        }
    }
    stn_lua_batch_warn(L, o->session, o->batch, false, &o->said);
    lua_pushinteger(L, all.failed);
    return 1;
}

static int batch_reset(lua_State *L) {
    const batch_object *o = check_batch(L);
    int32_t count = 0;
    const int32_t *worlds = check_worlds(L, 2, o, "batch:reset", &count);
    stn_error err = {0};
    stn_lua_check(L, stn_batch_reset(o->batch, worlds, count, &err), &err);
    for (int32_t i = 0; i < count; i++) {
        forget_readings(o, worlds != NULL ? worlds[i] : i);
    }
    return 0;
}

static int batch_copy(lua_State *L) {
    static const char owner[] = "batch:copy";
    const batch_object *o = check_batch(L);
    int32_t from_count = 0, to_count = 0;
    int32_t *from = check_worlds(L, 2, o, owner, &from_count);
    const int32_t *to = check_worlds(L, 3, o, owner, &to_count);
    if (from == NULL || (from_count != to_count && from_count != 1)) {
        stn_lua_fail(L, "%s: name one world, or a list of as many as are copied to (%d)", owner, (int)to_count);
    }
    int32_t *pairs = lua_newuserdatauv(L, 2 * sizeof *pairs * (size_t)(to_count + 1), 0);
    for (int32_t i = 0; i < to_count; i++) {
        pairs[i] = from[from_count == 1 ? 0 : i];
        pairs[to_count + i] = to != NULL ? to[i] : i;
    }
    stn_error err = {0};
    stn_lua_check(L, stn_batch_copy(o->batch, pairs, pairs + to_count, to_count, &err), &err);
    for (int32_t i = 0; i < to_count && o->readings != NULL; i++) {
        const size_t columns = (size_t)o->sensor_columns;
        memmove(o->readings + (size_t)pairs[to_count + i] * columns, o->readings + (size_t)pairs[i] * columns,
                columns * sizeof *o->readings);
    }
    return 0;
}

/// batch:error(i): why a world stands still; nil: it does not.
static int batch_error(lua_State *L) {
    const batch_object *o = check_batch(L);
    const stn_error *err = stn_batch_error(o->batch, check_world(L, 2, o, "batch:error"));
    if (err != NULL) {
        lua_pushstring(L, err->text);
    } else {
        lua_pushnil(L);
    }
    return 1;
}

/// batch:save_capsule(i, path): the step that failed, as a file that `stiction replay` makes again.
static int batch_save_capsule(lua_State *L) {
    const batch_object *o = check_batch(L);
    const int32_t world = check_world(L, 2, o, "batch:save_capsule");
    const char *path = luaL_checkstring(L, 3);
    if (stn_batch_error(o->batch, world) == NULL) {
        stn_lua_fail(L, "batch:save_capsule: world %d has not failed", (int)world + 1);
    }
    stn_error err = {0};
    stn_lua_check(L, stn_batch_save_capsule(o->batch, world, path, &err), &err);
    return 0;
}

void stn_lua_push_tally(lua_State *L, const stn_batch *batch) {
    const stn_batch_tally all = stn_batch_count_steps(batch);
    lua_createtable(L, 0, 4);
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {
        {"steps", all.steps}, {"not_converged", all.not_converged}, {"stalled", all.stalled}, {"failed", all.failed}};
    for (int i = 0; i < STN_COUNT(numbers); i++) {
        lua_pushinteger(L, numbers[i].value);
        lua_setfield(L, -2, numbers[i].name);
    }
}

static int batch_tally(lua_State *L) {
    stn_lua_push_tally(L, check_batch(L)->batch);
    return 1;
}

static int batch_hash(lua_State *L) {
    const batch_object *o = check_batch(L);
    char text[32];
    snprintf(text, sizeof text, "%016llx",
             (unsigned long long)stn_batch_hash(o->batch, check_world(L, 2, o, "batch:hash")));
    lua_pushstring(L, text);
    return 1;
}

// --------------------------------------------------------------------------------------------------------- visits

typedef struct visit {
    lua_State *L;
    stn_lua_world *stand_in; // at stack index `world`
    int world;
    bool raised;
} visit;

static stn_status call_visitor(void *user, stn_world *world, stn_error *err) {
    visit *v = user;
    lua_State *L = v->L;
    (void)err;
    v->stand_in->world = world;
    lua_pushvalue(L, 3);
    lua_pushvalue(L, v->world);
    v->raised = lua_pcall(L, 1, LUA_MULTRET, 0) != LUA_OK;
    v->stand_in->world = NULL;
    return STN_OK;
}

/// batch:visit(i, function(world) ... end): what the function returns.
static int batch_visit(lua_State *L) {
    const batch_object *o = check_batch(L);
    const int32_t world = check_world(L, 2, o, "batch:visit");
    luaL_checktype(L, 3, LUA_TFUNCTION);
    lua_settop(L, 3);
    lua_getiuservalue(L, 1, 1);
    visit v = {.L = L, .stand_in = lua_touserdata(L, 4), .world = 4};
    if (v.stand_in->world != NULL) {
        stn_lua_fail(L, "batch:visit: not inside another visit");
    }
    stn_error err = {0};
    stn_lua_check(L, stn_batch_visit(o->batch, world, call_visitor, &v, &err), &err);
    if (v.raised) {
        return lua_error(L);
    }
    return lua_gettop(L) - 4;
}

// ------------------------------------------------------------------------------------------------------------ life

static const char *const batch_properties[] = {"count", NULL};

static bool get_batch(lua_State *L, void *self, const char *name) {
    const batch_object *o = self;
    if (strcmp(name, "count") == 0 && o->batch != NULL) {
        lua_pushinteger(L, stn_batch_count(o->batch));
        return true;
    }
    return false;
}

/// Sensors of the world at index `at` are read after every step; the batch is on top of the stack.
static void keep_sensors(lua_State *L, int at, int32_t count, batch_object *o) {
    const int batch = lua_gettop(L);
    lua_getiuservalue(L, at, STN_LUA_SENSORS);
    o->sensor_count = (int32_t)lua_rawlen(L, -1);
    if (o->sensor_count == 0) {
        stn_lua_fail(L, "stn.batch: outputs: the world has no sensors; give it some by world:sensor before");
    }
    o->sensor_columns = stn_lua_sensors_columns(L);
    const void **list = lua_newuserdatauv(L, sizeof *list * (size_t)o->sensor_count, 0);
    const size_t bytes = sizeof *o->readings * (size_t)count * (size_t)o->sensor_columns;
    o->readings = lua_newuserdatauv(L, bytes + 1, 0);
    memset(o->readings, 0, bytes);
    o->sensors = list;
    lua_setiuservalue(L, batch, 5);
    lua_setiuservalue(L, batch, 4);
    stn_lua_sensors_list(L, list);
    // a list of its own: sensors that the world gets later are none of the batch's
    lua_createtable(L, o->sensor_count, 0);
    for (lua_Integer i = 1; i <= o->sensor_count; i++) {
        lua_rawgeti(L, -2, i);
        lua_rawseti(L, -2, i);
    }
    lua_setiuservalue(L, batch, 3);
    lua_settop(L, batch);
}

/// Fields that `outputs` asks for, a bit each, and whether it asks for sensors.
static uint32_t read_outputs(lua_State *L, const stn_fields *f, const batch_object *o, bool *reads_sensors) {
    uint32_t outputs = 0;
    if (!stn_fields_push(f, "outputs")) {
        return 0;
    }
    if (lua_type(L, -1) != LUA_TTABLE) {
        stn_lua_fail(L, "stn.batch: outputs must be a list of fields, got %s", luaL_typename(L, -1));
    }
    const lua_Integer count = (lua_Integer)lua_rawlen(L, -1);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, -1, i);
        const field_choice field = check_field(L, lua_gettop(L), o, "stn.batch: outputs");
        *reads_sensors = *reads_sensors || field.sensors;
        outputs |= field.name.channel == NULL && !field.sensors ? 1u << field.stored : 0u;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return outputs;
}

stn_lua_world *stn_lua_batch_world(lua_State *L, const char *owner) {
    lua_rawgeti(L, 1, 1);
    if (luaL_testudata(L, -1, STN_LUA_WORLD) == NULL) {
        stn_lua_fail(L, "%s: the first entry must be a world, %s { world, count = 100 }, got %s", owner, owner,
                     luaL_typename(L, -1));
    }
    const int at = lua_gettop(L);
    stn_lua_world *w = stn_lua_world_compiled(L, at);
    stn_lua_tasks_refuse(L, at, owner, "code that waits cannot be copied");
    if (stn_lua_runs_functions(L, at)) {
        stn_lua_fail(L,
                     "%s: this world has kinematic motions or functions of controllers, which run in Lua; the worlds "
                     "of a batch step by themselves",
                     owner);
    }
    return w;
}

static int module_batch(lua_State *L) {
    static const char *const keys[] = {"count", "threads", "outputs", NULL};
    stn_fields f = stn_fields_open(L, 1, "stn.batch", keys, 1);
    stn_lua_world *w = stn_lua_batch_world(L, "stn.batch");
    const int at = lua_gettop(L);
    stn_batch_options options = stn_batch_options_default();
    lua_Integer count = 1, threads = 1;
    stn_fields_integer(&f, "count", 1, 1 << 24, &count);
    stn_fields_integer(&f, "threads", 1, 1024, &threads);
    options.count = (int32_t)count;
    options.threads = (int32_t)threads;
    batch_object *o = lua_newuserdatauv(L, sizeof *o, 5);
    *o = (batch_object){.session = w->session, .said = stn_lua_batch_warnings(w)};
    luaL_setmetatable(L, STN_LUA_BATCH);
    o->parts = stn_lua_channels(L, w, &o->part_count);
    lua_setiuservalue(L, -2, 2);
    bool reads_sensors = false;
    options.outputs = read_outputs(L, &f, o, &reads_sensors);
    if (reads_sensors) {
        keep_sensors(L, at, options.count, o);
    }
    stn_lua_world *stand_in = stn_lua_push_twin(L, at, w); // for visitors
    stand_in->asks = "batch:visit";                        // for good: it is stepped by batch:step alone
    lua_setiuservalue(L, -2, 1);
    stn_error err = {0};
    stn_lua_check(L, stn_batch_create(w->world, &options, &o->batch, &err), &err);
    if (reads_sensors) {
        stn_batch_observe(o->batch, read_sensors, o);
    }
    return 1;
}

void stn_lua_open_batch(lua_State *L) {
    static const luaL_Reg methods[] = {{"step", batch_step},
                                       {"get", batch_get},
                                       {"set", batch_set},
                                       {"reset", batch_reset},
                                       {"copy", batch_copy},
                                       {"visit", batch_visit},
                                       {"error", batch_error},
                                       {"columns", batch_columns},
                                       {"tally", batch_tally},
                                       {"hash", batch_hash},
                                       {"close", batch_close},
                                       {"save_capsule", batch_save_capsule},
                                       {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__gc", batch_close}, {"__close", batch_close}, {NULL, NULL}};
    stn_lua_class(L, STN_LUA_BATCH, methods, meta, get_batch, batch_properties);
}

const luaL_Reg stn_lua_batch_functions[] = {{"batch", module_batch}, {NULL, NULL}};
