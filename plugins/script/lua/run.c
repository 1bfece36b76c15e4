// SPDX-License-Identifier: Apache-2.0
// Stepping: world:step, world:run, what is logged, recorded and captured meanwhile, and the finished step in Lua's
// hand.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bind.h"

// ------------------------------------------------------------------------------------------------------------- patches

// world:log { patches = { { a, b }, ... } }: what the patch between two sides did, as signals of the world that are set
// after every step without asking Lua. Without contact forces, areas and counts are 0; there is no center of pressure.

static const char *const parts[] = {"force_x_N",   "force_y_N",   "force_z_N",        "normal_N",        "friction_N",
                                    "torque_x_Nm", "torque_y_Nm", "torque_z_Nm",      "center_x_m",      "center_y_m",
                                    "center_z_m",  "area_m2",     "mean_pressure_Pa", "max_pressure_Pa", "faces",
                                    "sticking",    "slipping",    "slip_speed_m/s",   "glide_gap_m",     "elastic_J"};
enum { PARTS = STN_COUNT(parts) };

typedef struct logged_pair {
    stn_link_range a, b;
    const char *name[PARTS]; // texts of Lua, kept beside
} logged_pair;

struct stn_lua_patch_log {
    int32_t count;
    logged_pair pairs[]; // (count)
};

/// Pairs of sides whose patches are logged, from the key `patches`: pushed; NULL and nothing pushed without. Raises.
static stn_lua_patch_log *read_patch_log(const stn_fields *f, stn_lua_world *w) {
    lua_State *L = f->L;
    if (!stn_fields_push(f, "patches")) {
        return NULL;
    }
    int list = lua_gettop(L);
    if (lua_type(L, list) != LUA_TTABLE || lua_rawlen(L, list) == 0) {
        stn_lua_fail(L, "%s: patches must be a list of pairs, { { a, b }, ... }", f->owner);
    }
    int32_t count = (int32_t)lua_rawlen(L, list);
    stn_lua_patch_log *log = lua_newuserdatauv(L, sizeof *log + sizeof(logged_pair) * (size_t)count, 1);
    log->count = count;
    lua_newtable(L);
    int names = list + 2, top = lua_gettop(L);
    for (int32_t i = 0; i < count; i++) {
        logged_pair *pair = &log->pairs[i];
        char owner[64];
        snprintf(owner, sizeof owner, "world:log: patches[%d]", (int)i + 1);
        if (lua_rawgeti(L, list, i + 1) != LUA_TTABLE || lua_rawlen(L, -1) != 2) {
            stn_lua_fail(L, "%s must be a pair { a, b }, each named as links are", owner);
        }
        lua_rawgeti(L, top + 1, 1);
        lua_rawgeti(L, top + 1, 2);
        stn_lua_side a, b;
        stn_lua_sides(L, top + 2, w, owner, &a, &b);
        pair->a = a.links;
        pair->b = b.links;
        const char *name_a = stn_lua_push_links_name(L, w, a.links), *name_b = stn_lua_push_links_name(L, w, b.links);
        for (int32_t k = 0; k < PARTS; k++) {
            pair->name[k] = lua_pushfstring(L, "patch[%s|%s].%s", name_a, name_b, parts[k]);
            lua_rawseti(L, names, (lua_Integer)lua_rawlen(L, names) + 1);
        }
        lua_settop(L, top);
    }
    lua_setiuservalue(L, list + 1, 1);
    lua_replace(L, list);
    return log;
}

/// Sets the signals of those pairs, if any.
static stn_status log_patches(const stn_lua_world *w, stn_error *err) {
    const stn_observation *o = stn_world_observation(w->world);
    for (int32_t i = 0; w->patch_log != NULL && i < w->patch_log->count; i++) {
        const logged_pair *pair = &w->patch_log->pairs[i];
        const stn_lua_side a = {.model = o->model, .links = pair->a}, b = {.model = o->model, .links = pair->b};
        const stn_contact_side sides[2] = {{stn_lua_side_has, &a}, {stn_lua_side_has, &b}};
        stn_patch_report r;
        if (!stn_observation_patch_between(o, &sides[0], &sides[1], &r)) {
            r.center = stn_vec3_make((double)NAN, (double)NAN, (double)NAN);
        }
        stn_vec3 force = stn_vec3_add(r.normal_part, r.friction_part);
        const double values[PARTS] = {force.x,
                                      force.y,
                                      force.z,
                                      stn_vec3_norm(r.normal_part),
                                      stn_vec3_norm(r.friction_part),
                                      r.torque.x,
                                      r.torque.y,
                                      r.torque.z,
                                      r.center.x,
                                      r.center.y,
                                      r.center.z,
                                      r.area,
                                      r.mean_pressure,
                                      r.max_pressure,
                                      r.faces,
                                      r.sticking,
                                      r.slipping,
                                      r.slip_speed,
                                      r.glide_gap,
                                      r.elastic_J};
        for (int32_t k = 0; k < PARTS; k++) {
            stn_status status = stn_world_plot(w->world, pair->name[k], values[k], err);
            if (status != STN_OK) {
                return status;
            }
        }
    }
    return STN_OK;
}

// ----------------------------------------------------------------------------------------------------------- world:log

// world:log { "column", ..., values = function, patches = pairs }: the columns that a scenario declares for its tables.
// They are signals of the world, set by an observer after every step and before the recorders see it.

enum { COLUMNS = 4 }; // user value of the world: a copy of the table, which the script may change afterwards

/// Sets the signals that world:log declared, if any.
static stn_status log_columns(lua_State *L, int world_index, stn_lua_world *w, stn_error *err) {
    int top = lua_gettop(L), table = top + 1;
    if (!w->has_columns) {
        return log_patches(w, err);
    }
    if (!lua_checkstack(L, 16)) {
        return stn_fail(err, STN_ERR_MEMORY, "world:log: out of memory");
    }
    lua_getiuservalue(L, world_index, COLUMNS);
    lua_getfield(L, table, "values");
    int count = (int)lua_rawlen(L, table);
    stn_status status = STN_OK;
    if (stn_lua_world_ask(L, w, 0, LUA_MULTRET, "the values of world:log") != LUA_OK) {
        const char *text = lua_tostring(L, -1);
        status =
            stn_fail(err, STN_ERR_ARGUMENT, "world:log: values: %s", text != NULL ? text : "an error that is no text");
    } else if (lua_gettop(L) - table != count) {
        int returned = lua_gettop(L) - table;
        status = stn_fail(err, STN_ERR_ARGUMENT, "world:log: values returned %d number%s for %d column%s", returned,
                          returned == 1 ? "" : "s", count, count == 1 ? "" : "s");
    }
    for (int i = 1; i <= count && status == STN_OK; i++) {
        lua_rawgeti(L, table, i);
        const char *name = lua_tostring(L, -1);
        status = lua_isnumber(L, table + i)
                     ? stn_world_plot(w->world, name, lua_tonumber(L, table + i), err)
                     : stn_fail(err, STN_ERR_ARGUMENT, "world:log: column '%s' is a %s, must be a number", name,
                                luaL_typename(L, table + i));
        lua_pop(L, 1);
    }
    stn_error later = {0};
    for (int i = 1; i <= count && status < 0; i++) { // in place of the values of the step before
        lua_rawgeti(L, table, i);
        stn_world_plot(w->world, lua_tostring(L, -1), NAN, &later);
        lua_pop(L, 1);
    }
    lua_settop(L, top);
    stn_status logged = log_patches(w, status == STN_OK ? err : &later);
    return status == STN_OK ? logged : status;
}

static stn_status observe(void *user, const stn_observation *observation, stn_error *err) {
    (void)observation;
    stn_lua_world *w = user;
    return log_columns(w->L, w->at, w, err);
}

/// Does this recorder write tables, where columns that world:log declares stand in place of its own? Such a one has the
/// parameter `columns`.
static bool is_table(const stn_lua_world *w, const char *recorder) {
    const stn_plugin_info *info = NULL;
    stn_error err = {0};
    if (stn_plugin_find(w->session->context, STN_KIND_RECORDER, recorder, &info, &err) < 0) {
        return false;
    }
    for (int32_t i = 0; i < info->desc->param_count; i++) {
        if (strcmp(info->desc->params[i].name, "columns") == 0) {
            return true;
        }
    }
    return false;
}

/// Are any declared? Patches alone join the usual columns.
static bool check_columns(lua_State *L, const stn_fields *f, bool patches) {
    int count = (int)lua_rawlen(L, f->table);
    bool valued = lua_getfield(L, f->table, "values") != LUA_TNIL;
    lua_pop(L, 1);
    if (count == 0 && patches && !valued) {
        return false;
    }
    if (count == 0) {
        stn_lua_fail(L, "world:log: name the columns, world:log { \"x\", values = function() return x end }");
    }
    for (int i = 1; i <= count; i++) {
        if (lua_rawgeti(L, f->table, i) != LUA_TSTRING) {
            stn_lua_fail(L, "world:log: column %d is a %s, must be a name", i, luaL_typename(L, -1));
        }
        size_t size;
        const char *name = lua_tolstring(L, -1, &size);
        if (size == 0 || strlen(name) != size) {
            stn_lua_fail(L, "world:log: column %d must be a name without the character \\0, not empty", i);
        }
        bool taken = strcmp(name, "step") == 0; // every table has it, and signals are told apart by their names
        for (int k = 1; k < i && !taken; k++) {
            lua_rawgeti(L, f->table, k);
            taken = strcmp(lua_tostring(L, -1), name) == 0;
            lua_pop(L, 1);
        }
        if (taken) {
            stn_lua_fail(L, "world:log: column %d: there is a column '%s' already", i, name);
        }
        lua_pop(L, 1);
    }
    lua_getfield(L, f->table, "values");
    if (!lua_isfunction(L, -1)) {
        stn_lua_fail(L, "world:log: 'values' must be a function that returns a number for each column");
    }
    lua_pop(L, 1);
    return true;
}

static int world_log(lua_State *L) {
    static const char *const keys[] = {"values", "patches", NULL};
    stn_lua_world *w = stn_lua_world_check(L, 1);
    stn_fields f = stn_fields_open(L, 2, "world:log", keys, 1000);
    stn_lua_patch_log *patches = read_patch_log(&f, w);
    int kept = patches != NULL ? lua_gettop(L) : 0;
    bool declared = check_columns(L, &f, patches != NULL);
    if (w->begun || w->has_columns || w->patch_log != NULL) {
        stn_lua_fail(L, "world:log: once, before the first step");
    }
    if (w->tables_begin <= w->made) {
        stn_lua_fail(L, "world:log: before world:record; the table that is open has its columns");
    }
    // a copy of the columns and the function, with the log of patches
    int count = (int)lua_rawlen(L, f.table);
    lua_createtable(L, count, 2);
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, f.table, i);
        lua_rawseti(L, -2, i);
    }
    lua_getfield(L, f.table, "values");
    lua_setfield(L, -2, "values");
    if (kept != 0) {
        lua_pushvalue(L, kept);
        lua_setfield(L, -2, "patches");
    }
    stn_error err = {0}; // from here on Lua needs no memory: observed and declared go together
    stn_lua_check(L, stn_world_observe(w->world, observe, w, &err), &err);
    lua_setiuservalue(L, 1, COLUMNS);
    w->has_columns = declared;
    w->patch_log = patches;
    return 0;
}

const luaL_Reg stn_lua_log_methods[] = {{"log", world_log}, {NULL, NULL}};

// ------------------------------------------------------------------------------------------------------------ the step

/// User value 1: the world.
typedef struct step_object {
    stn_lua_world *world;
    int64_t index;
    double time;
    int32_t patch_count, face_count;
    stn_step_report report;
    stn_certificate certificate;
    bool certified;
} step_object;

/// Pushes the step object of the world's last step.
static void push_step(lua_State *L, int world_index, stn_lua_world *w) {
    int world = lua_absindex(L, world_index);
    const stn_observation *o = stn_world_observation(w->world);
    step_object *step = lua_newuserdatauv(L, sizeof *step, 1);
    *step = (step_object){.world = w, .index = o->step, .time = o->time};
    if (o->contacts != NULL) {
        step->patch_count = o->contacts->patch_count;
        step->face_count = stn_contact_set_faces(o->contacts);
    }
    if (o->report != NULL) {
        step->report = *o->report;
    }
    if (o->certificate != NULL) {
        step->certificate = *o->certificate;
        step->certified = true;
    }
    lua_pushvalue(L, world);
    lua_setiuservalue(L, -2, 1);
    luaL_setmetatable(L, STN_LUA_STEP);
}

// ------------------------------------------------------------------------------------------------------ certificate

static const char *const certificate_names[] = {
#define FIELD_NAME(member, name, unit, text) name,
    STN_CERTIFICATE_FIELDS(FIELD_NAME)
#undef FIELD_NAME
        "finite",
    NULL};

/// A residual by name; NaN means that it does not apply.
static bool residual(const stn_certificate *c, const char *wanted, double *value) {
#define FIELD_VALUE(member, name, unit, text) \
    if (strcmp(wanted, name) == 0) {          \
        *value = c->member;                   \
        return true;                          \
    }
    STN_CERTIFICATE_FIELDS(FIELD_VALUE)
#undef FIELD_VALUE
    return false;
}

static bool get_certificate(lua_State *L, void *self, const char *name) {
    const stn_certificate *c = self;
    double value = NAN;
    if (strcmp(name, "finite") == 0) {
        lua_pushboolean(L, c->finite);
        return true;
    }
    if (!residual(c, name, &value)) {
        return false;
    }
    if (isnan(value)) {
        lua_pushnil(L);
    } else {
        lua_pushnumber(L, value);
    }
    return true;
}

/// pairs(certificate): names and values that apply.
static int certificate_pairs(lua_State *L) {
    const stn_certificate *c = luaL_checkudata(L, 1, STN_LUA_CERTIFICATE);
    lua_getglobal(L, "next");
    lua_newtable(L);
    for (int i = 0; certificate_names[i] != NULL; i++) {
        double value = NAN;
        if (residual(c, certificate_names[i], &value) && !isnan(value)) {
            lua_pushnumber(L, value);
            lua_setfield(L, -2, certificate_names[i]);
        }
    }
    lua_pushnil(L);
    return 3;
}

const char *stn_lua_status_word(stn_status status) {
    return status == STN_STALLED ? "stalled" : status == STN_NOT_CONVERGED ? "not_converged" : "ok";
}

void stn_lua_push_contradiction(lua_State *L, const stn_contradiction *contradiction) {
    char text[256];
    stn_contradiction_text(contradiction, text, sizeof text);
    if (contradiction->islands == 0) {
        lua_pushnil(L);
    } else {
        lua_pushstring(L, text);
    }
}

void stn_lua_push_certificate(lua_State *L, const stn_certificate *certificate) {
    stn_certificate *c = lua_newuserdatauv(L, sizeof *c, 0);
    *c = *certificate;
    luaL_setmetatable(L, STN_LUA_CERTIFICATE);
}

// ------------------------------------------------------------------------------------------------------ step objects

/// The step at stack index 1, whose contacts are still there.
static const step_object *check_present(lua_State *L, const char *owner) {
    const step_object *step = luaL_checkudata(L, 1, STN_LUA_STEP);
    if (step->world->world == NULL || stn_world_observation(step->world->world)->step != step->index) {
        stn_lua_fail(L, "%s: step %lld is over; ask for its contacts before the next step is made", owner,
                     (long long)step->index);
    }
    return step;
}

static int step_contacts(lua_State *L) {
    stn_lua_push_contacts(L, check_present(L, "step:contacts")->world);
    return 1;
}

static void push_pairs(lua_State *L, const stn_model *model, const stn_link_pair *pairs, int32_t count) {
    lua_createtable(L, count, 0);
    for (int32_t i = 0; i < count; i++) {
        lua_createtable(L, 0, 4);
        stn_lua_set_link(L, model, pairs[i].link_a, "a", "link_a");
        stn_lua_set_link(L, model, pairs[i].link_b, "b", "link_b");
        lua_rawseti(L, -2, i + 1);
    }
}

static stn_contact_events events_of(lua_State *L, const step_object *step) {
    stn_contact_events events;
    stn_error err = {0};
    stn_lua_check(L, stn_world_contact_events(step->world->world, &events, &err), &err);
    return events;
}

static int step_begun(lua_State *L) {
    const step_object *step = check_present(L, "step:begun");
    stn_contact_events events = events_of(L, step);
    push_pairs(L, stn_world_model(step->world->world), events.begun, events.begun_count);
    return 1;
}

static int step_ended(lua_State *L) {
    const step_object *step = check_present(L, "step:ended");
    stn_contact_events events = events_of(L, step);
    push_pairs(L, stn_world_model(step->world->world), events.ended, events.ended_count);
    return 1;
}

static const char *const step_properties[] = {"time",
                                              "index",
                                              "certificate",
                                              "status",
                                              "iterations",
                                              "island_count",
                                              "contact_count",
                                              "constraint_count",
                                              "inverted",
                                              "patch_count",
                                              "face_count",
                                              "kinetic_J",
                                              "potential_J",
                                              "elastic_J",
                                              "energy_J",
                                              "input_work_J",
                                              "overlap_m",
                                              "step_us",
                                              "solve_us",
                                              "cost",
                                              "converged",
                                              "contradiction",
                                              "fallbacks",
                                              "stage_us",
                                              "approximate",
                                              "overlap_without_contact_m",
                                              "contact_J",
                                              "total_energy_J",
                                              "sleeping",
                                              "stopped_J",
                                              NULL};

/// Real members of the report, by name.
static bool get_real(const stn_step_report *r, const char *name, double *value) {
    const struct {
        const char *name;
        double value;
    } reals[] = {{"kinetic_J", r->kinetic_J},
                 {"potential_J", r->potential_J},
                 {"elastic_J", r->elastic_J},
                 {"energy_J", r->kinetic_J + r->potential_J + r->elastic_J},
                 {"contact_J", r->contact_J},
                 {"total_energy_J", r->kinetic_J + r->potential_J + r->elastic_J + r->contact_J},
                 {"input_work_J", r->input_work_J},
                 {"overlap_m", r->overlap_m},
                 {"overlap_without_contact_m", r->overlap_without_contact_m},
                 {"step_us", r->step_us},
                 {"solve_us", r->stage_us[STN_STAGE_SOLVE]},
                 {"cost", r->cost},
                 {"stopped_J", r->stopped_J}};
    for (int32_t i = 0; i < STN_COUNT(reals); i++) {
        if (strcmp(reals[i].name, name) == 0) {
            *value = reals[i].value;
            return true;
        }
    }
    return false;
}

static bool get_integer(const step_object *step, const char *name, lua_Integer *value) {
    const struct {
        const char *name;
        lua_Integer value;
    } integers[] = {{"index", step->index},
                    {"iterations", step->report.iterations},
                    {"island_count", step->report.island_count},
                    {"contact_count", step->report.contact_count},
                    {"constraint_count", step->report.constraint_count},
                    {"inverted", step->report.inverted_count},
                    {"fallbacks", step->report.fallbacks},
                    {"sleeping", step->report.sleeping_count},
                    {"patch_count", step->patch_count},
                    {"face_count", step->face_count}};
    for (int32_t i = 0; i < STN_COUNT(integers); i++) {
        if (strcmp(integers[i].name, name) == 0) {
            *value = integers[i].value;
            return true;
        }
    }
    return false;
}

/// step.stage_us: by the name of the stage; nil in worlds without a profile.
static void push_stages(lua_State *L, const stn_step_report *r) {
    if (r->stage_us[STN_STAGE_FORM] == 0.0) { // which takes its time in every step that is profiled
        lua_pushnil(L);
        return;
    }
    lua_createtable(L, 0, STN_STAGE_COUNT);
    for (int32_t i = 0; i < STN_STAGE_COUNT; i++) {
        lua_pushnumber(L, r->stage_us[i]);
        lua_setfield(L, -2, stn_stage_name((stn_stage)i));
    }
}

static bool get_step(lua_State *L, void *self, const char *name) {
    const step_object *step = self;
    double real = 0.0;
    lua_Integer integer = 0;
    if (strcmp(name, "certificate") == 0) {
        if (step->certified) {
            stn_lua_push_certificate(L, &step->certificate);
        } else {
            lua_pushnil(L);
        }
    } else if (strcmp(name, "time") == 0) {
        lua_pushnumber(L, step->time);
    } else if (strcmp(name, "status") == 0) {
        lua_pushstring(L, stn_lua_status_word(step->report.status));
    } else if (strcmp(name, "converged") == 0) {
        lua_pushboolean(L, step->report.status != STN_NOT_CONVERGED);
    } else if (strcmp(name, "approximate") == 0) {
        lua_pushboolean(L, step->report.status == STN_NOT_CONVERGED && step->report.not_converged == 0);
    } else if (strcmp(name, "contradiction") == 0) {
        stn_lua_push_contradiction(L, &step->report.contradiction);
    } else if (strcmp(name, "stage_us") == 0) {
        push_stages(L, &step->report);
    } else if (get_integer(step, name, &integer)) {
        lua_pushinteger(L, integer);
    } else if (get_real(&step->report, name, &real)) {
        lua_pushnumber(L, real);
    } else {
        return false;
    }
    return true;
}

static int step_text(lua_State *L) {
    const step_object *step = luaL_checkudata(L, 1, STN_LUA_STEP);
    lua_pushfstring(L, "step %I, t = %f s", (LUAI_UACINT)step->index, (lua_Number)step->time);
    return 1;
}

void stn_lua_open_step(lua_State *L) {
    static const luaL_Reg methods[] = {
        {"contacts", step_contacts}, {"begun", step_begun}, {"ended", step_ended}, {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__tostring", step_text}, {NULL, NULL}};
    static const luaL_Reg none[] = {{NULL, NULL}};
    static const luaL_Reg certificate_meta[] = {{"__pairs", certificate_pairs}, {NULL, NULL}};
    stn_lua_class(L, STN_LUA_STEP, methods, meta, get_step, step_properties);
    stn_lua_class(L, STN_LUA_CERTIFICATE, none, certificate_meta, get_certificate, certificate_names);
}

// ------------------------------------------------------------------------------------------------------- world:capture

// world:capture { file, every = n, when = function }: contact problems of the run as files.

enum { CAPTURES = 6 }; // user value of the world: list of what `when` functions belong to

/// User value 1: the function.
typedef struct lua_capture {
    stn_lua_world *world;
    int number; // in the list
} lua_capture;

/// Asks the function about the step just made; the stack is left as it was.
static stn_status ask(void *user, const stn_observation *observation, bool *take, stn_error *err) {
    (void)observation;
    const lua_capture *c = user;
    stn_lua_world *w = c->world;
    lua_State *L = w->L;
    int top = lua_gettop(L);
    if (!lua_checkstack(L, 16)) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    lua_getiuservalue(L, w->at, CAPTURES);
    lua_rawgeti(L, -1, c->number);
    lua_getiuservalue(L, -1, 1);
    push_step(L, w->at, w);
    stn_status status = STN_OK;
    if (stn_lua_world_ask(L, w, 1, 1, "'when' of world:capture") == LUA_OK) {
        *take = lua_toboolean(L, -1) != 0;
    } else {
        const char *text = lua_tostring(L, -1);
        status = stn_fail(err, STN_ERR_ARGUMENT, "when: %s", text != NULL ? text : "an error that is no text");
    }
    lua_settop(L, top);
    return status;
}

/// "scripts/clutter.lua" -> pushes "clutter"; NULL and nothing pushed when no file is run.
static const char *push_title(lua_State *L, const lua_session *session) {
    if (session->host == NULL) {
        return NULL;
    }
    const char *path = session->host->path, *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return lua_pushlstring(L, name, dot != NULL ? (size_t)(dot - name) : strlen(name));
}

static int world_capture(lua_State *L) {
    static const char owner[] = "world:capture";
    static const char *const keys[] = {"file", "every", "when", "most", "form", NULL};
    static const char *const forms[] = {"global", "local", NULL};
    stn_lua_world *w = stn_lua_world_idle(L, 1, owner);
    stn_fields f = stn_fields_open(L, 2, owner, keys, 0);
    stn_capture_options o = {.file = stn_fields_text(&f, "file")};
    lua_Integer every = 1, most = 0;
    if (o.file == NULL) {
        stn_lua_fail(L, "%s: name the file, %s { file = \"out/problem.json\", every = 100 }", owner, owner);
    }
    stn_fields_integer(&f, "every", 1, INT64_C(1) << 52, &every);
    stn_fields_integer(&f, "most", 1, INT64_C(1) << 52, &most);
    o.every = every;
    o.most = most;
    o.form = stn_fields_choice(&f, "form", forms) == 1 ? STN_FORM_LOCAL : STN_FORM_GLOBAL;
    o.title = push_title(L, w->session);
    if (stn_fields_push(&f, "when")) {
        if (!lua_isfunction(L, -1)) {
            stn_lua_fail(L, "%s: 'when' is a %s, must be a function of the step", owner, luaL_typename(L, -1));
        }
        lua_getiuservalue(L, 1, CAPTURES);
        lua_capture *c = lua_newuserdatauv(L, sizeof *c, 1);
        *c = (lua_capture){.world = w, .number = (int)lua_rawlen(L, -2) + 1};
        lua_pushvalue(L, -3);
        lua_setiuservalue(L, -2, 1);
        lua_rawseti(L, -2, c->number);
        lua_pop(L, 1);
        o.when = ask;
        o.user = c;
    }
    stn_error err = {0};
    stn_lua_check(L, stn_world_capture(w->world, &o, &err), &err);
    return 0;
}

const luaL_Reg stn_lua_capture_methods[] = {{"capture", world_capture}, {NULL, NULL}};

// ----------------------------------------------------------------------------------------------------------------- run

// ------------------------------------------------------------------------------------------------------------- step

/// Before a recorder opens: signals that world:log declared for the first row, and, without other settings, a table of
/// these columns alone.
static stn_status prepare_recorder(lua_State *L, int index, stn_lua_world *w, stn_plugin_choice *choice,
                                   stn_error *err) {
    static const stn_setting declared[] = {
        {.name = "columns", .form = STN_SETTING_TEXT, .text = "declared", .where = "world:log"}};
    bool table = is_table(w, choice->id);
    if (choice->setting_count == 0 && table && w->has_columns) {
        choice->settings = declared;
        choice->setting_count = 1;
    }
    if (table) { // its first row is the start, or the next step
        int64_t first_row = stn_world_state(w->world)->step == 0 ? w->made : w->made + 1;
        w->tables_begin = first_row < w->tables_begin ? first_row : w->tables_begin;
    }
    return log_columns(L, index, w, err); // of step 0
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

/// A world's step, and what waits for it: recordings, tasks, kinematic motions, functions of controllers. Raises.
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
    int64_t before = stn_world_state(w->world)->step;
    stn_error err = {0};
    lua_session *session = w->session;
    stn_script_host *host = session->host; // NULL: a stock interpreter
    stn_status status = host != NULL ? host->ops->step(host, w->world, &err) : stn_world_step(w->world, &err);
    if (status == STN_ERR_DIVERGED || status == STN_ERR_NUMERIC) {
        session->failed_step = err;
        session->failed_step.status = status;
    }
    if (stn_world_state(w->world)->step != before) { // it stands also when an observer failed
        w->made++;
        w->made_time += dt;
    }
    stn_lua_check_host(L, status, &err);
    stn_lua_tasks_advance(L, self, w, true);
}

static int world_step(lua_State *L) {
    stn_lua_world *w = stn_lua_world_check(L, 1);
    make_step(L, 1, w);
    push_step(L, 1, w);
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
    push_step(L, lua_upvalueindex(1), w);
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
    int64_t tables_begin = w->tables_begin;
    stn_instance *recorder = NULL;
    stn_status status = prepare_recorder(L, 1, w, &choice, &err);
    if (status >= 0) {
        status = stn_instance_create(w->session->context, STN_KIND_RECORDER, choice.id, choice.settings,
                                     choice.setting_count, &recorder, &err);
    }
    if (status >= 0) {
        status = stn_world_record(w->world, recorder, path, &err);
    }
    if (status < 0) {
        w->tables_begin = tables_begin; // no table was opened
    }
    stn_lua_check(L, status, &err);
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

static int world_plot(lua_State *L) {
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    size_t size;
    const char *name = luaL_checklstring(L, 2, &size);
    luaL_argcheck(L, strlen(name) == size, 2, "a name without the character \\0 expected");
    double value = stn_lua_real(L, 3, "world:plot: the value", "as plotted");
    if (w->made >= w->tables_begin && !has_signal(w, name)) {
        stn_lua_where(L);
        stn_log(w->session->context, STN_LOG_WARNING,
                "%sworld:plot: '%s' comes after a table's first row and is not in it: declare it by world:log, or plot "
                "it before world:record and the first step",
                lua_tostring(L, -1), name);
        lua_pop(L, 1);
    }
    stn_error err = {0};
    stn_lua_check(L, stn_world_plot(w->world, name, value, &err), &err);
    return 0;
}

const luaL_Reg stn_lua_run_methods[] = {
    {"step", world_step}, {"run", world_run}, {"record", world_record}, {"close_recordings", world_close_recordings},
    {"plot", world_plot}, {NULL, NULL},
};
