// SPDX-License-Identifier: Apache-2.0
// world:log { patches = { { a, b }, ... } }: what the patch between two sides did, as signals of the world that are set
// after every step without asking Lua. Without contact forces, areas and counts are 0; there is no center of pressure.
#include <math.h>
#include <string.h>

#include "bind.h"

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

/// Reads pair `i` of the list at `list`; its names join those in the table at `names`.
static void read_pair(lua_State *L, stn_lua_world *w, int list, int i, int names, logged_pair *pair) {
    char owner[64];
    snprintf(owner, sizeof owner, "world:log: patches[%d]", i);
    int top = lua_gettop(L);
    if (lua_rawgeti(L, list, i) != LUA_TTABLE || lua_rawlen(L, -1) != 2) {
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
    for (int32_t i = 0; i < count; i++) {
        read_pair(L, w, list, i + 1, list + 2, &log->pairs[i]);
    }
    lua_setiuservalue(L, list + 1, 1);
    lua_replace(L, list);
    return log;
}

static stn_status set_pair(stn_world *world, const logged_pair *pair, stn_error *err) {
    const stn_observation *o = stn_world_observation(world);
    const stn_lua_side a = {stn_world_model(world), pair->a}, b = {stn_world_model(world), pair->b};
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
    stn_status status = STN_OK;
    for (int32_t k = 0; k < PARTS && status == STN_OK; k++) {
        status = stn_world_plot(world, pair->name[k], values[k], err);
    }
    return status;
}

stn_status stn_lua_log_patches(const stn_lua_world *w, stn_error *err) {
    stn_status status = STN_OK;
    for (int32_t i = 0; w->patch_log != NULL && i < w->patch_log->count && status == STN_OK; i++) {
        status = set_pair(w->world, &w->patch_log->pairs[i], err);
    }
    return status;
}
