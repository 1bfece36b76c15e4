// SPDX-License-Identifier: Apache-2.0
// control = "effort" | "command" | "reference.NAME", joints = { ... }: what rollouts and linearisations vary.
#include <string.h>

#include "controls.h"

/// A choice that is being read: which channel, and the velocities of the joints that were named.
typedef struct choice {
    lua_State *L;
    const char *owner;
    const stn_lua_world *w;
    stn_channel_name name; // its channel NULL: efforts
    int32_t *dofs;         // (dof_count) in the order in which the joints were named; NULL: no joints were named
    int32_t dof_count;
} choice;

static void read_field(const stn_fields *f, choice *c) {
    static const char *const names[] = {"effort", STN_COMMAND, STN_REFERENCE "NAME", NULL};
    const char *name = stn_fields_text(f, "control");
    if (name == NULL || strcmp(name, names[0]) == 0) {
        return;
    }
    c->name = stn_lua_channel_name(name);
    if (c->name.channel == NULL) {
        stn_lua_unknown(f->L, lua_pushfstring(f->L, "%s: control", f->owner), name, names);
    }
}

/// The joint at the top of the stack.
static int32_t check_joint(const choice *c) {
    lua_State *L = c->L;
    const stn_lua_object *joint = stn_lua_object_test(L, -1, STN_LUA_JOINT);
    if (joint != NULL && joint->world != c->w) {
        stn_lua_fail(L, "%s: joints: the joint belongs to another world", c->owner);
    }
    if (joint == NULL && lua_type(L, -1) != LUA_TSTRING) {
        stn_lua_fail(L, "%s: joints must be a list of joints or of their names, got %s", c->owner,
                     luaL_typename(L, -1));
    }
    return joint != NULL ? joint->index : stn_lua_find_joint(L, c->owner, c->w, -1, lua_tostring(L, -1));
}

static void read_joints(const stn_fields *f, choice *c) {
    lua_State *L = c->L;
    const stn_model *model = stn_world_model(c->w->world);
    if (!stn_fields_push(f, "joints")) {
        return;
    }
    if (lua_type(L, -1) != LUA_TTABLE) {
        stn_lua_fail(L, "%s: joints must be a list of joints or of their names, got %s", c->owner,
                     luaL_typename(L, -1));
    }
    const lua_Integer count = (lua_Integer)lua_rawlen(L, -1);
    c->dofs = lua_newuserdatauv(L, sizeof *c->dofs * (size_t)(model->nv + 1), 0);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, -2, i);
        const stn_joint *joint = &model->joints[check_joint(c)];
        lua_pop(L, 1);
        for (int32_t k = 0; k < joint->nv; k++) {
            for (int32_t j = 0; j < c->dof_count; j++) {
                if (c->dofs[j] == joint->v_start + k) {
                    stn_lua_fail(L, "%s: joints: '%s' is named twice", c->owner, joint->name);
                }
            }
            c->dofs[c->dof_count++] = joint->v_start + k;
        }
    }
}

static void take_efforts(const choice *c, stn_controls *out) {
    const int32_t nv = stn_world_model(c->w->world)->nv;
    out->count = c->dofs != NULL ? c->dof_count : nv;
    out->part = lua_newuserdatauv(c->L, 2 * sizeof *out->part * (size_t)(out->count + 1), 0);
    out->at = out->part + out->count;
    for (int32_t i = 0; i < out->count; i++) {
        out->part[i] = -1;
        out->at[i] = c->dofs != NULL ? c->dofs[i] : i;
    }
}

/// The channels that are meant, in the order of controllers. Pushes their memory.
static void find_parts(const choice *c, stn_controls *out) {
    int32_t count = 0;
    out->parts = stn_lua_channels(c->L, c->w, &count);
    for (int32_t i = 0; i < count; i++) {
        const stn_channel_place place = out->parts[i];
        if (!stn_channel_is(&place, c->name)) {
            continue;
        }
        if (c->dofs != NULL && !place.by_velocity) {
            stn_lua_fail(c->L, "%s: references '%s' are not one for each velocity: leave out joints", c->owner,
                         place.channel);
        }
        out->parts[out->part_count++] = place;
        out->room = place.size > out->room ? place.size : out->room;
    }
    if (out->part_count == 0) {
        stn_lua_fail(c->L, "%s: no controller takes references called '%s'", c->owner, c->name.channel);
    }
}

/// All numbers of all parts, or those of the joints that were named, in their order.
static void take_references(const choice *c, stn_controls *out) {
    find_parts(c, out);
    int32_t most = 0;
    for (int32_t p = 0; p < out->part_count; p++) {
        most += out->parts[p].size;
    }
    out->part = lua_newuserdatauv(c->L, 2 * sizeof *out->part * (size_t)(most + 1), 0);
    out->at = out->part + most;
    const int32_t turns = c->dofs != NULL ? c->dof_count : 1;
    for (int32_t turn = 0; turn < turns; turn++) {
        const int32_t before = out->count;
        for (int32_t p = 0; p < out->part_count; p++) {
            const int32_t *dof = stn_world_controller_target(c->w->world, out->parts[p].controller)->dof;
            for (int32_t k = 0; k < out->parts[p].size; k++) {
                if (c->dofs == NULL || dof[k] == c->dofs[turn]) {
                    out->part[out->count] = p;
                    out->at[out->count++] = k;
                }
            }
        }
        if (c->dofs != NULL && out->count == before) {
            const stn_model *model = stn_world_model(c->w->world);
            int32_t j = 0;
            while (c->dofs[turn] >= model->joints[j].v_start + model->joints[j].nv) {
                j++;
            }
            stn_lua_fail(c->L, "%s: joints: no controller of '%s' takes references called '%s'", c->owner,
                         model->joints[j].name, c->name.channel);
        }
    }
}

stn_controls stn_lua_read_controls(const stn_fields *f, const stn_lua_world *w) {
    lua_State *L = f->L;
    stn_controls out = {0};
    choice c = {.L = L, .owner = f->owner, .w = w};
    const int top = lua_gettop(L);
    read_field(f, &c);
    read_joints(f, &c);
    if (c.name.channel == NULL) {
        take_efforts(&c, &out);
    } else {
        take_references(&c, &out);
    }
    if (out.count == 0) {
        stn_lua_fail(L, "%s: there is nothing to control: the world has no joint that moves, or joints is empty",
                     f->owner);
    }
    lua_createtable(L, 2, 0); // what keeps the memory
    for (int i = top + 1; i < lua_gettop(L); i++) {
        lua_pushvalue(L, i);
        lua_rawseti(L, -2, i - top);
    }
    lua_replace(L, top + 1);
    lua_settop(L, top + 1);
    return out;
}

void stn_controls_now(const stn_controls *controls, const stn_world *world, double *values) {
    const stn_state *state = stn_world_state(world);
    for (int32_t i = 0; i < controls->count; i++) {
        const int32_t part = controls->part[i];
        values[i] =
            part < 0 ? state->effort[controls->at[i]] : state->reference[controls->parts[part].start + controls->at[i]];
    }
}

stn_status stn_controls_apply(const stn_controls *controls, stn_world *world, const double *values, double *room,
                              stn_error *err) {
    stn_status status = STN_OK;
    for (int32_t i = 0; i < controls->count && controls->part_count == 0 && status == STN_OK; i++) {
        status = stn_world_set_effort(world, controls->at[i], values[i], err);
    }
    for (int32_t p = 0; p < controls->part_count && status == STN_OK; p++) {
        const stn_channel_place *part = &controls->parts[p];
        memcpy(room, stn_world_state(world)->reference + part->start, (size_t)part->size * sizeof *room);
        for (int32_t i = 0; i < controls->count; i++) {
            if (controls->part[i] == p) {
                room[controls->at[i]] = values[i];
            }
        }
        status = stn_world_set_reference(world, part->controller, part->channel, room, part->size, err);
    }
    return status;
}
