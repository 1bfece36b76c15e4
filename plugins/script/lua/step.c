// SPDX-License-Identifier: Apache-2.0
// A finished step in Lua's hand: report, certificate, who began and ceased to touch. Numbers are copies; contacts
// (contact.c) are those of the last step.
#include <math.h>
#include <string.h>

#include "bind.h"

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

void stn_lua_push_step(lua_State *L, int world_index, stn_lua_world *w) {
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

void stn_lua_push_certificate(lua_State *L, const stn_certificate *certificate) {
    stn_certificate *c = lua_newuserdatauv(L, sizeof *c, 0);
    *c = *certificate;
    luaL_setmetatable(L, STN_LUA_CERTIFICATE);
}

static void push_certificate(lua_State *L, const step_object *step) {
    if (step->certified) {
        stn_lua_push_certificate(L, &step->certificate);
    } else {
        lua_pushnil(L);
    }
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
                                              "overlap_without_contact_m",
                                              "contact_J",
                                              "total_energy_J",
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
                 {"cost", r->cost}};
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

static bool get_step(lua_State *L, void *self, const char *name) {
    const step_object *step = self;
    double real = 0.0;
    lua_Integer integer = 0;
    if (strcmp(name, "certificate") == 0) {
        push_certificate(L, step);
    } else if (strcmp(name, "time") == 0) {
        lua_pushnumber(L, step->time);
    } else if (strcmp(name, "status") == 0) {
        lua_pushstring(L, stn_lua_status_word(step->report.status));
    } else if (strcmp(name, "converged") == 0) {
        lua_pushboolean(L, step->report.not_converged == 0);
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
