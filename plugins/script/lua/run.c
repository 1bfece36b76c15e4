// SPDX-License-Identifier: Apache-2.0
// Stepping: world:step, world:run, and what is recorded meanwhile.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bind.h"

// ------------------------------------------------------------------------------------------------------------- step

/// Before a recorder opens: signals that world:log declared for the first row, and, without other settings, a table of
/// these columns alone.
static stn_status prepare_recorder(lua_State *L, int index, stn_lua_world *w, stn_plugin_choice *choice,
                                   stn_error *err) {
    static const stn_setting declared[] = {
        {.name = "columns", .form = STN_SETTING_TEXT, .text = "declared", .where = "world:log"}};
    bool table = stn_lua_is_table(w, choice->id);
    if (choice->setting_count == 0 && table && w->has_columns) {
        choice->settings = declared;
        choice->setting_count = 1;
    }
    if (table) { // its first row is the start, or the next step
        int64_t first_row = stn_world_state(w->world)->step == 0 ? w->made : w->made + 1;
        w->tables_begin = first_row < w->tables_begin ? first_row : w->tables_begin;
    }
    return stn_lua_log_columns(L, index, w, err); // of step 0
}

/// A recorder of the command line is about to open.
static stn_status opens(void *user, stn_world *world, stn_plugin_choice *recorder, stn_error *err) {
    (void)world;
    stn_lua_world *w = user;
    return prepare_recorder(w->L, w->at, w, recorder, err);
}

/// What the command line records follows the first world that steps, which a plan made ahead in a clone may be.
static void warn_clone(lua_State *L, const stn_lua_world *w) {
    const stn_script_host *host = w->session->host;
    if (w->cloned && host->output != NULL) {
        stn_lua_where(L);
        stn_log(w->session->context, STN_LOG_WARNING,
                "%s%s follows this clone, the first world that steps, and not the world that it was cloned from; step "
                "that one first, or record it by world:record or world:capture",
                lua_tostring(L, -1), host->output);
        lua_pop(L, 1);
    }
}

/// Before a world's first step; w->L and w->at are set.
static void begin(lua_State *L, stn_lua_world *w) {
    lua_session *session = w->session;
    stn_script_host *host = session->host;
    bool first = !session->stepped;
    stn_error err = {0};
    w->begun = true;
    session->stepped = true;
    if (host == NULL) {
        return;
    }
    if (first) {
        warn_clone(L, w);
    }
    stn_lua_check_host(L, host->ops->begin(host, w->world, opens, w, &err), &err);
}

/// What runs in a process of its own has a copy of the world, and no thread that writes its recordings.
static void refuse_copy(lua_State *L, const stn_lua_world *w, const char *owner) {
    if (w->recorded_by != 0 && w->recorded_by != getpid()) {
        stn_lua_fail(L, "%s: a recording of this world was opened outside of the test; open it inside", owner);
    }
}

/// The host's step; the plain one for a stock interpreter.
static stn_status step_world(lua_session *session, stn_world *world, stn_error *err) {
    stn_status status =
        session->host != NULL ? session->host->ops->step(session->host, world, err) : stn_world_step(world, err);
    if (status == STN_ERR_DIVERGED || status == STN_ERR_NUMERIC) {
        session->failed_step = *err;
        session->failed_step.status = status;
    }
    return status;
}

/// A world's step, and what waits for it: recordings, tasks, prescribed motions, functions of controllers. Raises.
static void make_step(lua_State *L, int index, stn_lua_world *w) {
    stn_lua_world_idle(L, index, "world:step");
    stn_lua_world_complete(L, index, w);
    if (w->runs_tasks) {
        stn_lua_fail(L, "world:step: not inside a task of this world, which its steps drive: wait by stn.wait");
    }
    refuse_copy(L, w, "world:step");
    int self = lua_absindex(L, index);
    w->L = L;
    w->at = self;
    if (!w->begun) {
        begin(L, w);
    }
    stn_lua_tasks_advance(L, self, w, false);
    stn_lua_motions_step(L, self, w);
    stn_lua_updates_step(L, self, w);
    double dt = stn_world_dt(w->world);
    stn_error err = {0};
    stn_lua_check_host(L, step_world(w->session, w->world, &err), &err);
    w->made++;
    w->made_time += dt;
    stn_lua_tasks_advance(L, self, w, true);
}

static int world_step(lua_State *L) {
    stn_lua_world *w = stn_lua_world_check(L, 1);
    make_step(L, 1, w);
    stn_lua_push_step(L, 1, w);
    return 1;
}

// -------------------------------------------------------------------------------------------------------------- run

/// For the progress line: when the present loop of steps ends [s], NaN when it has.
static void tell_end(const lua_session *session, double time) {
    if (session->host != NULL) {
        session->host->ops->until(session->host, time);
    }
}

/// Upvalues: the world, the count of steps made (or nil) and the time made at which it is over. Both go on when the
/// script resets the world inside the loop: a run makes its steps and ends.
static int run_next(lua_State *L) {
    stn_lua_world *w = stn_lua_world_check(L, lua_upvalueindex(1));
    bool over;
    if (lua_isinteger(L, lua_upvalueindex(2))) {
        over = w->made >= lua_tointeger(L, lua_upvalueindex(2));
    } else {
        // half a millionth of a step forgives the rounding of a sum of many dt
        over = w->made_time >= lua_tonumber(L, lua_upvalueindex(3)) - 5e-7 * stn_world_dt(w->world);
    }
    if (over) {
        tell_end(w->session, NAN);
        return 0;
    }
    make_step(L, lua_upvalueindex(1), w);
    stn_lua_push_step(L, lua_upvalueindex(1), w);
    return 1;
}

static int world_run(lua_State *L) {
    static const char *const keys[] = {"seconds", "steps", NULL};
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    stn_fields f = stn_fields_open(L, 2, "world:run", keys, 0);
    double seconds = NAN;
    lua_Integer steps = 0;
    bool timed = stn_fields_at_least(&f, "seconds", "s", 0.0, &seconds);
    bool counted = stn_fields_integer(&f, "steps", 0, INT64_C(1) << 52, &steps);
    if (timed == counted) {
        stn_lua_fail(L, "world:run: give seconds or steps%s", timed ? ", not both" : "");
    }
    const stn_script_host *host = w->session->host;
    if (host != NULL && !isnan(host->seconds) && !w->session->declares_seconds) {
        seconds = host->seconds;
        counted = false;
    }
    const stn_state *state = stn_world_state(w->world);
    lua_pushvalue(L, 1);
    if (counted) {
        lua_pushinteger(L, w->made + steps);
        lua_pushnil(L);
        tell_end(w->session, state->time + (double)steps * stn_world_dt(w->world));
    } else {
        lua_pushnil(L);
        lua_pushnumber(L, w->made_time + seconds);
        tell_end(w->session, state->time + seconds);
    }
    lua_pushcclosure(L, run_next, 3);
    return 1;
}

// -------------------------------------------------------------------------------------------------------- recording

/// world:record(path) or world:record(path, { "csv", ... }).
static int world_record(lua_State *L) {
    stn_lua_world *w = stn_lua_world_idle(L, 1, "world:record");
    stn_lua_world_complete(L, 1, w);
    const char *path = luaL_checkstring(L, 2);
    stn_error err = {0};
    stn_plugin_choice choice = {0};
    if (lua_type(L, 3) == LUA_TTABLE) {
        choice = stn_lua_plugin(L, 3, STN_KIND_RECORDER, "world:record", NULL);
    } else if (lua_type(L, 3) == LUA_TSTRING) {
        choice.id = lua_tostring(L, 3);
        stn_lua_check(L, stn_plugin_load(w->session->context, STN_KIND_RECORDER, choice.id, &err), &err);
    } else {
        stn_lua_check(L, stn_plugin_for_file(w->session->context, STN_KIND_RECORDER, path, &choice.id, &err), &err);
    }
    stn_lua_check(L, prepare_recorder(L, 1, w, &choice, &err), &err);
    stn_instance *recorder = NULL;
    stn_lua_check(L,
                  stn_instance_create(w->session->context, STN_KIND_RECORDER, choice.id, choice.settings,
                                      choice.setting_count, &recorder, &err),
                  &err);
    stn_lua_check(L, stn_world_record(w->world, recorder, path, &err), &err);
    w->recorded_by = getpid();
    return 0;
}

static int world_close_recordings(lua_State *L) {
    stn_lua_world *w = stn_lua_world_idle(L, 1, "world:close_recordings");
    stn_error err = {0};
    refuse_copy(L, w, "world:close_recordings");
    w->tables_begin = INT64_MAX;
    stn_lua_check(L, stn_world_close_recordings(w->world, &err), &err);
    w->recorded_by = 0;
    return 0;
}

static bool has_signal(const stn_lua_world *w, const char *name) {
    const stn_observation *o = stn_world_observation(w->world);
    for (int32_t i = 0; i < o->signal_count; i++) {
        if (strcmp(o->signals[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/// Columns of a table are those of its first row.
static void warn_late_signal(lua_State *L, const stn_lua_world *w, const char *name) {
    if (w->made >= w->tables_begin && !has_signal(w, name)) {
        stn_lua_where(L);
        stn_log(w->session->context, STN_LOG_WARNING,
                "%sworld:plot: '%s' comes after a table's first row and is not in it: declare it by world:log, or plot "
                "it before world:record and the first step",
                lua_tostring(L, -1), name);
        lua_pop(L, 1);
    }
}

static int world_plot(lua_State *L) {
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    size_t size;
    const char *name = luaL_checklstring(L, 2, &size);
    luaL_argcheck(L, strlen(name) == size, 2, "a name without the character \\0 expected");
    double value = stn_lua_real(L, 3, "world:plot: the value", "as plotted");
    warn_late_signal(L, w, name);
    stn_error err = {0};
    stn_lua_check(L, stn_world_plot(w->world, name, value, &err), &err);
    return 0;
}

const luaL_Reg stn_lua_run_methods[] = {
    {"step", world_step}, {"run", world_run}, {"record", world_record}, {"close_recordings", world_close_recordings},
    {"plot", world_plot}, {NULL, NULL},
};
