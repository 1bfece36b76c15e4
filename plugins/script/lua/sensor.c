// SPDX-License-Identifier: Apache-2.0
// world:sensor { "force_torque", link = l, noise = {...}, seed = 1, log = "wrist" }: read after every step by an
// observer, before recorders see it. Noise follows from seed and number of the step, nothing of it is kept:
//
//     reading = exact + density / sqrt(dt) N_k + walk sqrt(dt) W(k)
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bind.h"
#include "common/noise.h"

#define STN_LUA_SENSOR "stiction.sensor"

enum { FORCE_TORQUE, IMU, CONTACT_FORCE, JOINT_TORQUE };

/// Kinds, and the vectors that each reads.
static const char *const kinds[] = {"force_torque", "imu", "contact_force", "joint_torque", NULL};
static const char *const parts[][3] = {{"force", "torque", NULL},
                                       {"specific_force", "angular_velocity", NULL},
                                       {"force", "torque", NULL},
                                       {"torque", NULL, NULL}};
static const char *const units[][2] = {{"N", "N m"}, {"m/s^2", "rad/s"}, {"N", "N m"}, {"N m, N", ""}};

/// A world's user value keeps it as long as the world's observer needs it.
typedef struct sensor {
    stn_lua_world *world;
    int kind;
    int32_t index;       // link or joint
    int32_t count;       // numbers of each part
    stn_lua_side on, by; // of contact_force
    bool by_all;         // contacts with all others count
    double density[2], walk[2];
    uint64_t seed;
    char log[64]; // "": none
    int64_t step; // that the values are of; -1: none
    double time;  // [s]
    double exact[6], read[6];
} sensor;

static void split(stn_vec3 a, stn_vec3 b, double out[6]) {
    const double values[6] = {a.x, a.y, a.z, b.x, b.y, b.z};
    memcpy(out, values, sizeof values);
}

static int32_t part_count(const sensor *s) {
    return parts[s->kind][1] != NULL ? 2 : 1;
}

/// Columns "wrist.force.x" of the logs; of a step, or without numbers before the first one.
static stn_status plot(const sensor *s, bool known, stn_error *err) {
    stn_status status = STN_OK;
    for (int32_t i = 0; i < part_count(s) * s->count && status >= 0 && s->log[0] != '\0'; i++) {
        char name[128];
        const char *part = parts[s->kind][i / s->count];
        if (s->count == 1) {
            snprintf(name, sizeof name, "%s.%s", s->log, part);
        } else {
            snprintf(name, sizeof name, "%s.%s.%c", s->log, part, "xyzuvw"[i % s->count]);
        }
        status = stn_world_plot(s->world->world, name, known ? s->read[i] : (double)NAN, err);
    }
    return status;
}

/// What it measures of the last step of a world of its description, and the same with noise; 6 numbers each, those of
/// its parts first.
static stn_status measure(const sensor *s, stn_world *world, uint64_t stream, double *exact, double *noisy,
                          stn_error *err) {
    static const uint64_t apart = UINT64_C(0x9E3779B97F4A7C15); // odd: streams and seeds fall on different numbers
    const stn_observation *observation = stn_world_observation(world);
    stn_spatial wrench = {stn_vec3_zero(), stn_vec3_zero()};
    stn_vec3 force = stn_vec3_zero(), turn = stn_vec3_zero();
    stn_status status = STN_OK;
    memset(exact, 0, 6 * sizeof *exact);
    if (s->kind == FORCE_TORQUE) {
        status = stn_world_link_wrench(world, s->index, &wrench, err);
        split(wrench.linear, wrench.angular, exact);
    } else if (s->kind == IMU) {
        status = stn_world_link_inertial(world, s->index, &force, &turn, err);
        split(force, turn, exact);
    } else if (s->kind == JOINT_TORQUE) {
        status = stn_world_joint_torque(world, s->index, exact, err);
    } else {
        stn_contact_side on = {stn_lua_side_has, &s->on}, by = {stn_lua_side_has, &s->by};
        stn_contact_force sum;
        stn_observation_contact_force(observation, &on, s->by_all ? NULL : &by, stn_vec3_zero(), &sum);
        split(stn_vec3_add(sum.normal_part, sum.friction_part), sum.torque, exact);
    }
    if (status < 0) {
        stn_error_prefix(err, "sensor %s", kinds[s->kind]);
        return status;
    }
    const double dt = stn_world_dt(world), white = 1.0 / sqrt(dt), slow = sqrt(dt);
    for (int32_t i = 0; i < 6; i++) {
        const int32_t part = i / s->count;
        const uint64_t own = s->seed * 16 + (uint64_t)i + stream * apart, k = (uint64_t)observation->step;
        double noise = 0.0;
        if (part < 2 && s->density[part] > 0.0) {
            noise += s->density[part] * white * stn_noise_normal(own, k);
        }
        if (part < 2 && s->walk[part] > 0.0) {
            noise += s->walk[part] * slow * stn_noise_walk(~own, k);
        }
        noisy[i] = exact[i] + noise;
    }
    return STN_OK;
}

static stn_status observe(void *user, const stn_observation *observation, stn_error *err) {
    sensor *s = user;
    if (s->step == observation->step || observation->problem == NULL) {
        return STN_OK;
    }
    stn_status status = measure(s, s->world->world, 0, s->exact, s->read, err);
    if (status < 0) {
        return status;
    }
    s->step = observation->step;
    s->time = observation->time;
    return plot(s, true, err);
}

void stn_lua_sensors_forget(lua_State *L, int index) {
    lua_getiuservalue(L, index, STN_LUA_SENSORS);
    for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, -1); i++) {
        lua_rawgeti(L, -1, i);
        sensor *s = lua_touserdata(L, -1);
        s->step = -1;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

int32_t stn_lua_sensors_columns(lua_State *L) {
    int32_t columns = 0;
    for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, -1); i++) {
        lua_rawgeti(L, -1, i);
        const sensor *s = lua_touserdata(L, -1);
        columns += part_count(s) * s->count;
        lua_pop(L, 1);
    }
    return columns;
}

void stn_lua_sensors_list(lua_State *L, const void **sensors) {
    for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, -1); i++) {
        lua_rawgeti(L, -1, i);
        sensors[i - 1] = lua_touserdata(L, -1);
        lua_pop(L, 1);
    }
}

stn_status stn_lua_sensors_measure(const void *const *sensors, int32_t count, stn_world *world, uint64_t stream,
                                   double *row, stn_error *err) {
    for (int32_t i = 0; i < count; i++) {
        const sensor *s = sensors[i];
        double exact[6], noisy[6];
        stn_status status = measure(s, world, stream, exact, noisy, err);
        if (status < 0) {
            return status;
        }
        const int32_t numbers = part_count(s) * s->count;
        memcpy(row, noisy, sizeof *row * (size_t)numbers);
        row += numbers;
    }
    return STN_OK;
}

// --------------------------------------------------------------------------------------------------------- describing

static void read_noise(const stn_fields *f, sensor *s) {
    static const char *const keys[] = {"density", "walk", NULL};
    if (!stn_fields_push(f, "noise")) {
        return;
    }
    stn_fields noise = stn_fields_open(f->L, lua_gettop(f->L), "world:sensor: noise", parts[s->kind], 0);
    for (int32_t i = 0; i < part_count(s); i++) {
        const char *part = parts[s->kind][i];
        if (stn_fields_push(&noise, part)) {
            const char *owner = lua_pushfstring(f->L, "world:sensor: noise.%s", part);
            stn_fields own = stn_fields_open(f->L, lua_gettop(f->L) - 1, owner, keys, 0);
            const char *unit = lua_pushfstring(f->L, "%s per sqrt(Hz)", units[s->kind][i]);
            stn_fields_at_least(&own, "density", unit, 0.0, &s->density[i]);
            unit = lua_pushfstring(f->L, "%s per sqrt(s)", units[s->kind][i]);
            stn_fields_at_least(&own, "walk", unit, 0.0, &s->walk[i]);
            lua_pop(f->L, 4);
        }
    }
    lua_pop(f->L, 1);
}

/// The joint on top of the stack: an object, or its name as world:joint takes it.
static int32_t joint_at_top(lua_State *L, const stn_lua_world *w, const char *owner) {
    if (lua_type(L, -1) == LUA_TSTRING) {
        return stn_lua_find_joint(L, owner, w, -1, lua_tostring(L, -1));
    }
    const stn_lua_object *joint = stn_lua_object_test(L, -1, STN_LUA_JOINT);
    if (joint == NULL || joint->world != w) {
        stn_lua_fail(L, "%s: joint must be a joint of this world, arm:joint(\"name\"), got %s", owner,
                     luaL_typename(L, -1));
    }
    return joint->index;
}

/// Where it sits, by its kind.
static void read_place(const stn_fields *f, stn_lua_world *w, sensor *s) {
    lua_State *L = f->L;
    const stn_model *model = stn_world_model(w->world);
    s->count = 3;
    if (s->kind == CONTACT_FORCE) {
        lua_getfield(L, f->table, "on");
        s->by_all = lua_getfield(L, f->table, "by") == LUA_TNIL;
        int on = lua_gettop(L) - 1;
        if (s->by_all) {
            s->on = stn_lua_side_at(L, on, w, f->owner);
        } else {
            stn_lua_sides(L, on, w, f->owner, &s->on, &s->by);
        }
        lua_pop(L, 2);
    } else if (s->kind == JOINT_TORQUE) {
        lua_getfield(L, f->table, "joint");
        s->index = joint_at_top(L, w, f->owner);
        s->count = model->joints[s->index].nv;
        lua_pop(L, 1);
    } else {
        if (!stn_fields_push(f, "link")) {
            stn_lua_fail(L, "%s: link is missing; name the one that it sits on, link = arm:link(\"tool\")", f->owner);
        }
        stn_link_range links = stn_lua_links(L, lua_gettop(L), w, f->owner);
        if (links.count != 1) {
            stn_lua_fail(L, "%s: link must name a single one, this group has %d", f->owner, (int)links.count);
        }
        lua_pop(L, 1);
        s->index = links.start;
    }
}

/// What would fail in the first step is refused now.
static void check_place(lua_State *L, const sensor *s) {
    const stn_model *model = stn_world_model(s->world->world);
    int32_t link = s->index;
    if (s->kind == CONTACT_FORCE) {
        return;
    }
    if (s->kind == JOINT_TORQUE) {
        link = 0;
        while (link < model->link_count && model->links[link].joint != s->index) {
            link++;
        }
    }
    stn_error err = {0};
    stn_status status = stn_world_check_sensor(s->world->world, link, s->kind != IMU, &err);
    if (status < 0) {
        stn_error_prefix(&err, "world:sensor: %s", kinds[s->kind]);
    }
    stn_lua_check(L, status, &err);
}

static int sensor_new(lua_State *L) {
    static const char *const keys[][8] = {{"link", "noise", "seed", "log", NULL},
                                          {"link", "noise", "seed", "log", NULL},
                                          {"on", "by", "noise", "seed", "log", NULL},
                                          {"joint", "noise", "seed", "log", NULL}};
    stn_lua_world *w = stn_lua_world_check(L, 1);
    stn_fields f = stn_fields_open(L, 2, "world:sensor", NULL, 1);
    stn_lua_world_complete(L, 1, w);
    lua_rawgeti(L, f.table, 1);
    if (lua_type(L, -1) != LUA_TSTRING) {
        stn_lua_fail(
            L, "world:sensor: what it measures is missing; begin with its kind, { \"force_torque\", link = ... }");
    }
    const char *word = lua_tostring(L, -1);
    int kind = 0;
    while (kinds[kind] != NULL && strcmp(kinds[kind], word) != 0) {
        kind++;
    }
    if (kinds[kind] == NULL) {
        stn_lua_unknown(L, "world:sensor", word, kinds);
    }
    lua_pop(L, 1);
    stn_fields own = stn_fields_open(L, f.table, "world:sensor", keys[kind], 1);
    sensor *s = lua_newuserdatauv(L, sizeof *s, 1);
    *s = (sensor){.world = w, .kind = kind, .step = -1};
    luaL_setmetatable(L, STN_LUA_SENSOR);
    read_place(&own, w, s);
    check_place(L, s);
    read_noise(&own, s);
    int at = lua_gettop(L);
    lua_getiuservalue(L, 1, STN_LUA_SENSORS);
    lua_Integer number = (lua_Integer)lua_rawlen(L, -1) + 1, seed = number;
    stn_fields_integer(&f, "seed", 0, INT64_C(1) << 52, &seed);
    s->seed = (uint64_t)seed;
    const char *log = stn_fields_text(&f, "log");
    if (log != NULL && (log[0] == '\0' || strlen(log) >= sizeof s->log)) {
        stn_lua_fail(L, "world:sensor: log must be a name of 1 to %d characters", (int)sizeof s->log - 1);
    }
    snprintf(s->log, sizeof s->log, "%s", log != NULL ? log : "");
    stn_error err = {0};
    stn_lua_check(L, plot(s, false, &err), &err);
    stn_lua_check(L, stn_world_observe(w->world, observe, s, &err), &err);
    lua_pushvalue(L, at);
    lua_rawseti(L, -2, number);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, at, 1);
    lua_settop(L, at);
    return 1;
}

// ------------------------------------------------------------------------------------------------------------ reading

/// The values of the last step as a table by part; nil before one was made since the sensor is there.
static int push_values(lua_State *L, bool exact) {
    sensor *s = stn_lua_self(L, 1, STN_LUA_SENSOR);
    if (s->world->world == NULL) {
        stn_lua_fail(L, "sensor %s: its world is closed", kinds[s->kind]);
    }
    const stn_observation *o = stn_world_observation(s->world->world);
    stn_error err = {0};
    if (o == NULL || o->problem == NULL) {
        lua_pushnil(L);
        return 1;
    }
    if (s->world->L != NULL && s->world->asks != NULL) { // an earlier observer asks: of the step that was just made
        stn_lua_check(L, observe(s, o, &err), &err);
    }
    if (s->step != o->step) {
        lua_pushnil(L);
        return 1;
    }
    lua_createtable(L, 0, 3);
    stn_lua_set_number(L, "time", s->time);
    for (int32_t i = 0; i < part_count(s); i++) {
        const double *values = (exact ? s->exact : s->read) + i * s->count;
        if (s->count == 1) {
            lua_pushnumber(L, values[0]);
        } else {
            stn_lua_push_reals(L, values, s->count);
        }
        lua_setfield(L, -2, parts[s->kind][i]);
    }
    return 1;
}

static int sensor_read(lua_State *L) {
    return push_values(L, false);
}

static int sensor_exact(lua_State *L) {
    return push_values(L, true);
}

static int sensor_text(lua_State *L) {
    const sensor *s = luaL_checkudata(L, 1, STN_LUA_SENSOR);
    lua_pushfstring(L, "sensor %s", kinds[s->kind]);
    return 1;
}

const luaL_Reg stn_lua_sensor_methods[] = {{"sensor", sensor_new}, {NULL, NULL}};

void stn_lua_open_sensor(lua_State *L) {
    static const luaL_Reg methods[] = {{"read", sensor_read}, {"exact", sensor_exact}, {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__tostring", sensor_text}, {NULL, NULL}};
    stn_lua_class(L, STN_LUA_SENSOR, methods, meta, NULL, NULL);
}
