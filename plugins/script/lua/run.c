// SPDX-License-Identifier: Apache-2.0
// Stepping: world:step, world:run, and what is recorded meanwhile.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lua/bind.h"

// ------------------------------------------------------------------------------------------------------------- step

/// The world at `index`; without settings a table holds the columns that world:log declared.
static stn_status open_recorder(lua_State *L, int index, stn_lua_world *w, stn_plugin_choice choice, const char *path,
                                stn_error *err) {
    static const stn_setting declared[] = {
        {.name = "columns", .form = STN_SETTING_TEXT, .text = "declared", .where = "world:log"}};
    bool table = stn_lua_is_table(w, choice.id);
    if (choice.setting_count == 0 && table && w->has_columns) {
        choice.settings = declared;
        choice.setting_count = 1;
    }
    stn_instance *recorder = NULL;
    stn_status status = stn_lua_log_columns(L, index, w, err); // of step 0
    status = status < 0 ? status
                        : stn_instance_create(w->session->context, STN_KIND_RECORDER, choice.id, choice.settings,
                                              choice.setting_count, &recorder, err);
    status = status < 0 ? status : stn_world_record(w->world, recorder, path, err);
    w->recorded_by = status < 0 ? w->recorded_by : getpid();
    if (status >= 0 && table) { // its first row is the start, or the next step
        int64_t first_row = stn_world_state(w->world)->step == 0 ? w->made : w->made + 1;
        w->tables_begin = first_row < w->tables_begin ? first_row : w->tables_begin;
    }
    return status;
}

/// What the command line records follows the first world that steps, which a plan made ahead in a clone may be.
static void warn_clone(lua_State *L, const stn_lua_world *w) {
    const stn_session *session = w->session;
    bool captures = session->capture_file != NULL;
    if (w->cloned && (session->record_count > 0 || captures)) {
        stn_lua_where(L);
        stn_log(session->context, STN_LOG_WARNING,
                "%s%s follows this clone, the first world that steps, and not the world that it was cloned from; step "
                "that one first, or record it by world:%s",
                lua_tostring(L, -1), session->record_count > 0 ? session->record_paths[0] : session->capture_file,
                session->record_count > 0 ? "record" : "capture");
        lua_pop(L, 1);
    }
}

/// Before a world's first step. The first world that steps is the one that the run is about: the summary describes it,
/// and it gets the recordings that the command line asked for.
static void begin(lua_State *L, int index, stn_lua_world *w) {
    stn_session *session = w->session;
    w->begun = true;
    w->number = ++session->world_count;
    if (session->stepped) {
        return;
    }
    session->stepped = true;
    w->account.first = true;
    stn_lua_world_describe(w);
    warn_clone(L, w);
    for (int32_t i = 0; i < session->record_count; i++) {
        const char *path = session->record_paths[i];
        stn_error err = {0};
        stn_plugin_choice choice = {0};
        stn_lua_check(L, stn_recorder_for(session->context, path, &choice.id, &err), &err);
        stn_lua_check(L, open_recorder(L, index, w, choice, path, &err), &err);
    }
    stn_lua_capture_begin(L, w);
    if (session->begins != NULL) {
        session->begins(session->begins_user, w->world);
    }
}

/// The step that failed; a capsule keeps what it was made of.
static void note_failure(stn_lua_world *w, const stn_error *err) {
    stn_failure *failure = &w->session->failure;
    const stn_state *state = stn_world_state(w->world);
    *failure = (stn_failure){.status = err->status, .step = state->step, .time = state->time};
    memcpy(failure->text, err->text, sizeof failure->text);
    const char *path = w->session->failure_path;
    stn_error unsaved = {0};
    if (path == NULL) {
        return;
    }
    if (stn_world_save_capsule(w->world, err, path, &unsaved) >= 0) {
        snprintf(failure->saved, sizeof failure->saved, "%s", path);
    } else {
        stn_log(w->session->context, STN_LOG_ERROR, "the failed step could not be kept: %s", unsaved.text);
    }
}

/// What runs in a process of its own has a copy of the world, and no thread that writes its recordings.
static void refuse_copy(lua_State *L, const stn_lua_world *w, const char *owner) {
    if (w->recorded_by != 0 && w->recorded_by != getpid()) {
        stn_lua_fail(L, "%s: a recording of this world was opened outside of the test; open it inside", owner);
    }
}

/// Does the session keep the last steps of this world?
static bool is_kept(const stn_lua_world *w) {
    return w->session->keep != NULL && w->session->keep->until.world == w->number;
}

static void keep_before(lua_State *L, int index, stn_lua_world *w) {
    const stn_keepsake *keep = w->session->keep;
    if (is_kept(w) && !w->keeps && w->made >= keep->from) {
        stn_error err = {0};
        stn_plugin_choice choice = {0};
        w->keeps = true;
        stn_lua_check(L, stn_recorder_for(w->session->context, keep->recording, &choice.id, &err), &err);
        stn_lua_check(L, open_recorder(L, index, w, choice, keep->recording, &err), &err);
    }
}

static void keep_after(lua_State *L, stn_lua_world *w) {
    stn_session *session = w->session;
    if (session->mark != NULL) {
        *session->mark = (stn_step_mark){w->number, w->made, stn_world_dt(w->world)};
    }
    if (is_kept(w) && w->made == session->keep->until.made) {
        stn_error err = {0}, why = {.status = STN_ERR_ARGUMENT};
        snprintf(why.text, sizeof why.text, "%s", session->keep->reason);
        stn_lua_check(L, stn_world_close_recordings(w->world, &err), &err);
        if (!session->keep->goes_on) {
            stn_lua_check(L, stn_world_save_capsule(w->world, &why, session->keep->capsule, &err), &err);
            stn_session_stop(session);
            stn_lua_fail(L, "kept");
        }
    }
}

/// A world's step with its book-keeping: session hooks, statistics, failure record. Raises.
static void make_step(lua_State *L, int index, stn_lua_world *w) {
    stn_lua_world_idle(L, index, "world:step");
    stn_lua_world_complete(L, index, w);
    if (w->session->stopped != 0) {
        stn_lua_fail(L, "interrupted");
    }
    if (w->runs_tasks) {
        stn_lua_fail(L, "world:step: not inside a task of this world, which its steps drive: wait by stn.wait");
    }
    refuse_copy(L, w, "world:step");
    if (!w->begun) {
        begin(L, index, w);
    }
    keep_before(L, index, w);
    stn_lua_tasks_advance(L, index, w, false);
    stn_lua_motions_step(L, lua_absindex(L, index), w);
    stn_lua_updates_step(L, lua_absindex(L, index), w);
    stn_error err = {0};
    stn_lua_check(L, stn_account_before(&w->account, w->world, &err), &err);
    double dt = stn_world_dt(w->world);
    w->L = L;
    w->at = lua_absindex(L, index);
    stn_status status = stn_world_step(w->world, &err);
    if (status == STN_ERR_DIVERGED || status == STN_ERR_NUMERIC) {
        err.status = status;
        note_failure(w, &err);
    }
    stn_lua_check(L, status, &err);
    w->made++;
    w->made_time += dt;
    keep_after(L, w);
    stn_lua_tasks_advance(L, index, w, true);
}

static int world_step(lua_State *L) {
    stn_lua_world *w = stn_lua_world_check(L, 1);
    make_step(L, 1, w);
    stn_lua_push_step(L, 1, w);
    return 1;
}

// -------------------------------------------------------------------------------------------------------------- run

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
        w->session->end_time = NAN;
        return 0;
    }
    make_step(L, lua_upvalueindex(1), w);
    stn_lua_push_step(L, lua_upvalueindex(1), w);
    return 1;
}

/// Was the duration taken from a declared parameter? Then --seconds has reached it that way.
static bool declares_seconds(const stn_session *session) {
    for (int32_t i = 0; i < session->parameter_count; i++) {
        if (strcmp(session->parameters[i].name, "seconds") == 0) {
            return true;
        }
    }
    return false;
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
    if (!isnan(w->session->seconds) && !declares_seconds(w->session)) {
        seconds = w->session->seconds;
        counted = false;
    }
    const stn_state *state = stn_world_state(w->world);
    lua_pushvalue(L, 1);
    if (counted) {
        lua_pushinteger(L, w->made + steps);
        lua_pushnil(L);
        w->session->end_time = state->time + (double)steps * stn_world_dt(w->world);
    } else {
        lua_pushnil(L);
        lua_pushnumber(L, w->made_time + seconds);
        w->session->end_time = state->time + seconds;
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
        stn_lua_check(L, stn_recorder_for(w->session->context, path, &choice.id, &err), &err);
    }
    stn_lua_check(L, open_recorder(L, 1, w, choice, path, &err), &err);
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
