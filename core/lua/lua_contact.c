// SPDX-License-Identifier: Apache-2.0
// Contacts of the last step: who touches whom, with what force, sticking or slipping; and forces summed over all
// contacts of two sides.
#include <math.h>

#include "lua/bind.h"

static void set_text(lua_State *L, const char *key, const char *value) {
    lua_pushstring(L, value);
    lua_setfield(L, -2, key);
}

void stn_lua_set_link(lua_State *L, const stn_model *model, int32_t link, const char *robot_key, const char *link_key) {
    if (link < 0) {
        set_text(L, robot_key, "world");
        return;
    }
    int32_t robot = model->links[link].robot;
    set_text(L, robot_key, robot >= 0 ? model->robots[robot].name : "world");
    set_text(L, link_key, model->links[link].name);
}

/// The force as a whole and in its two parts.
static void set_forces(lua_State *L, stn_vec3 normal, stn_vec3 friction) {
    stn_lua_set_vector(L, "force", stn_vec3_add(normal, friction));
    stn_lua_set_vector(L, "normal_part", normal);
    stn_lua_set_vector(L, "friction_part", friction);
    stn_lua_set_number(L, "normal_force", stn_vec3_norm(normal));
    stn_lua_set_number(L, "friction_force", stn_vec3_norm(friction));
}

/// Impulse and force on B, and how B moves along A. The rows of contact i are those of constraint i.
static void set_solution(lua_State *L, const stn_observation *o, int32_t i) {
    const stn_constraint *c = &o->problem->constraints[i];
    const double *gamma = &o->gamma[c->row];
    stn_contact_report r;
    stn_observation_contact(o, i, &r);
    set_text(L, "state", stn_contact_state_name(r.state));
    set_forces(L, r.normal_part, r.friction_part);
    stn_lua_set_vector(L, "impulse", stn_mat3_apply(&c->frame, stn_vec3_make(gamma[0], gamma[1], gamma[2])));
    stn_lua_set_number(L, "normal_impulse", gamma[2]);
    stn_lua_set_number(L, "friction_impulse", sqrt(gamma[0] * gamma[0] + gamma[1] * gamma[1]));
    stn_lua_set_number(L, "slip_speed", r.slip_speed);
    stn_lua_set_number(L, "separation_speed", r.separation_speed);
    stn_lua_set_number(L, "glide_gap", r.glide_gap);
}

void stn_lua_push_contacts(lua_State *L, stn_lua_world *w) {
    const stn_observation *o = stn_world_observation(w->world);
    int32_t count = o->problem != NULL && o->contacts != NULL ? o->contacts->count : 0;
    lua_createtable(L, count, 0);
    for (int32_t i = 0; i < count; i++) {
        const stn_contact *contact = &o->contacts->contacts[i];
        lua_createtable(L, 0, 21);
        lua_pushinteger(L, (lua_Integer)contact->id);
        lua_setfield(L, -2, "id");
        stn_lua_set_link(L, o->model, o->model->geometries[contact->geometry_a].link, "a", "link_a");
        stn_lua_set_link(L, o->model, o->model->geometries[contact->geometry_b].link, "b", "link_b");
        stn_lua_set_vector(L, "point", contact->point);
        stn_lua_set_vector(L, "normal", contact->normal);
        stn_lua_set_number(L, "distance", contact->phi0);
        stn_lua_set_number(L, "mu", o->problem->constraints[i].mu1); // of this step: at rest or sliding
        set_solution(L, o, i);
        lua_rawseti(L, -2, i + 1);
    }
}

static int world_contacts(lua_State *L) {
    stn_lua_push_contacts(L, stn_lua_world_compiled(L, 1));
    return 1;
}

// ------------------------------------------------------------------------------------------------------------- sums

bool stn_lua_side_has(const void *user, int32_t geometry) {
    const stn_lua_side *s = user;
    int32_t link = s->model->geometries[geometry].link;
    return link >= s->links.start && link < s->links.start + s->links.count;
}

static void check_apart(lua_State *L, const stn_lua_world *w, const stn_lua_side *a, const stn_lua_side *b,
                        const char *owner) {
    int32_t first = a->links.start > b->links.start ? a->links.start : b->links.start;
    if (first < a->links.start + a->links.count && first < b->links.start + b->links.count) {
        stn_lua_fail(L, "%s: link '%s' is on both sides", owner, stn_lua_link_name(w, first));
    }
}

void stn_lua_sides(lua_State *L, int index, stn_lua_world *w, const char *owner, stn_lua_side *a, stn_lua_side *b) {
    const stn_model *model = stn_world_model(w->world);
    *a = (stn_lua_side){model, stn_lua_links(L, index, w, owner)};
    *b = (stn_lua_side){model, stn_lua_links(L, index + 1, w, owner)};
    check_apart(L, w, a, b, owner);
}

/// world:contact_force(on [, by [, { point = }]])
static int world_contact_force(lua_State *L) {
    static const char *const keys[] = {"point", NULL};
    static const char owner[] = "world:contact_force";
    lua_settop(L, 4);
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    stn_lua_side on = {stn_world_model(w->world), {0, 0}}, by = on;
    stn_contact_side sides[2] = {{stn_lua_side_has, &on}, {stn_lua_side_has, &by}};
    bool paired = !lua_isnil(L, 3);
    stn_vec3 point = stn_vec3_zero();
    if (paired) {
        stn_lua_sides(L, 2, w, owner, &on, &by);
    } else {
        on.links = stn_lua_links(L, 2, w, owner);
    }
    if (!lua_isnil(L, 4)) {
        stn_fields f = stn_fields_open(L, 4, owner, keys, 0);
        stn_fields_vector(&f, "point", "m", &point);
    }
    stn_contact_force sum;
    stn_observation_contact_force(stn_world_observation(w->world), &sides[0], paired ? &sides[1] : NULL, point, &sum);
    lua_createtable(L, 0, 10);
    set_forces(L, sum.normal_part, sum.friction_part);
    stn_lua_set_vector(L, "torque", sum.torque);
    lua_pushinteger(L, sum.sticking);
    lua_setfield(L, -2, "sticking");
    lua_pushinteger(L, sum.slipping);
    lua_setfield(L, -2, "slipping");
    stn_lua_set_number(L, "slip_speed", sum.slip_speed);
    stn_lua_set_number(L, "glide_gap", sum.glide_gap);
    return 1;
}

const luaL_Reg stn_lua_contact_methods[] = {
    {"contacts", world_contacts},
    {"contact_force", world_contact_force},
    {NULL, NULL},
};
