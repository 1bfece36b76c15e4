// SPDX-License-Identifier: Apache-2.0
// world:log { "column", ..., values = function, patches = pairs }: the columns that a scenario declares for its tables.
// They are signals of the world, set by an observer after every step and before the recorders see it.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bind.h"

enum { COLUMNS = 4 }; // user value of the world: a copy of the table, which the script may change afterwards

stn_status stn_lua_log_columns(lua_State *L, int world_index, stn_lua_world *w, stn_error *err) {
    int top = lua_gettop(L), table = top + 1;
    if (!w->has_columns) {
        return stn_lua_log_patches(w, err);
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
    stn_status logged = stn_lua_log_patches(w, status == STN_OK ? err : &later);
    return status == STN_OK ? logged : status;
}

static stn_status observe(void *user, const stn_observation *observation, stn_error *err) {
    (void)observation;
    stn_lua_world *w = user;
    return stn_lua_log_columns(w->L, w->at, w, err);
}

bool stn_lua_is_table(const stn_lua_world *w, const char *recorder) {
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
    stn_lua_patch_log *patches = stn_fields_patch_log(&f, w);
    int kept = patches != NULL ? lua_gettop(L) : 0;
    bool declared = check_columns(L, &f, patches != NULL);
    if (w->begun || w->has_columns || w->patch_log != NULL) {
        stn_lua_fail(L, "world:log: once, before the first step");
    }
    if (w->tables_begin <= w->made) {
        stn_lua_fail(L, "world:log: before world:record; the table that is open has its columns");
    }
    stn_error err = {0};
    stn_lua_check(L, stn_world_observe(w->world, observe, w, &err), &err);
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
    lua_setiuservalue(L, 1, COLUMNS);
    w->has_columns = declared;
    w->patch_log = patches;
    return 0;
}

const luaL_Reg stn_lua_log_methods[] = {{"log", world_log}, {NULL, NULL}};

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

stn_lua_patch_log *stn_fields_patch_log(const stn_fields *f, stn_lua_world *w) {
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

stn_status stn_lua_log_patches(const stn_lua_world *w, stn_error *err) {
    const stn_observation *o = stn_world_observation(w->world);
    for (int32_t i = 0; w->patch_log != NULL && i < w->patch_log->count; i++) {
        const logged_pair *pair = &w->patch_log->pairs[i];
        const stn_lua_side a = {o->model, pair->a}, b = {o->model, pair->b};
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
