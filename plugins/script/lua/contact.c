// SPDX-License-Identifier: Apache-2.0
// Contacts of the last step: who touches whom, with what force, sticking or slipping; forces summed over all contacts
// of two sides. And pairs of links: which never collide, and the contact parameters of those that do.
#include <math.h>
#include <string.h>

#include "bind.h"

static void set_text(lua_State *L, const char *key, const char *value) {
    lua_pushstring(L, value);
    lua_setfield(L, -2, key);
}

void stn_lua_set_link(lua_State *L, const stn_model *model, int32_t link, const char *group_key, const char *link_key) {
    if (link < 0) {
        set_text(L, group_key, "world");
        return;
    }
    int32_t group = model->links[link].group;
    set_text(L, group_key, group >= 0 ? model->groups[group].name : "world");
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
        // impulse and force on B, and how B moves along A; the rows of contact i are those of constraint i
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

void stn_lua_sides(lua_State *L, int index, stn_lua_world *w, const char *owner, stn_lua_side *a, stn_lua_side *b) {
    const stn_model *model = stn_world_model(w->world);
    *a = (stn_lua_side){model, stn_lua_links(L, index, w, owner)};
    *b = (stn_lua_side){model, stn_lua_links(L, index + 1, w, owner)};
    int32_t first = a->links.start > b->links.start ? a->links.start : b->links.start;
    if (first < a->links.start + a->links.count && first < b->links.start + b->links.count) {
        stn_lua_fail(L, "%s: link '%s' is on both sides", owner, stn_lua_link_name(w, first));
    }
}

/// What acts on the first side by the second in the last step; `by` NULL: by all others; torque
/// about the point.
static stn_contact_force force_on(const stn_lua_world *w, const stn_lua_side *on, const stn_lua_side *by,
                                  stn_vec3 point) {
    stn_contact_side sides[2] = {{stn_lua_side_has, on}, {stn_lua_side_has, by}};
    stn_contact_force sum;
    stn_observation_contact_force(stn_world_observation(w->world), &sides[0], by != NULL ? &sides[1] : NULL, point,
                                  &sum);
    return sum;
}

/// world:contact_force(on [, by [, { point = }]])
static int world_contact_force(lua_State *L) {
    static const char *const keys[] = {"point", NULL};
    static const char owner[] = "world:contact_force";
    lua_settop(L, 4);
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    stn_lua_side on = {stn_world_model(w->world), {0, 0}}, by = on;
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
    stn_contact_force sum = force_on(w, &on, paired ? &by : NULL, point);
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

// ------------------------------------------------------------------------------------------------------ who holds what

static int32_t pressing(const stn_contact_force *force) {
    return force->sticking + force->slipping;
}

/// world:in_contact(a [, b])
static int world_in_contact(lua_State *L) {
    lua_settop(L, 3);
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    stn_lua_side a, b;
    bool paired = !lua_isnil(L, 3);
    if (paired) {
        stn_lua_sides(L, 2, w, "world:in_contact", &a, &b);
    } else {
        a = (stn_lua_side){stn_world_model(w->world), stn_lua_links(L, 2, w, "world:in_contact")};
    }
    stn_contact_force force = force_on(w, &a, paired ? &b : NULL, stn_vec3_zero());
    lua_pushboolean(L, pressing(&force) > 0);
    return 1;
}

/// Pushes the name of the first link outside of the hand that presses on the object: "the world" when none has a name.
static const char *push_other(lua_State *L, const stn_lua_world *w, const stn_lua_side *hand,
                              const stn_lua_side *object) {
    for (int32_t link = 0; link < hand->model->link_count; link++) {
        stn_lua_side other = {hand->model, {link, 1}};
        bool inside = link >= hand->links.start && link < hand->links.start + hand->links.count;
        bool own = link >= object->links.start && link < object->links.start + object->links.count;
        stn_contact_force force = {0};
        if (!inside && !own) {
            force = force_on(w, object, &other, stn_vec3_zero());
        }
        if (pressing(&force) > 0) {
            return lua_pushfstring(L, "'%s'", stn_lua_push_links_name(L, w, other.links));
        }
    }
    return lua_pushliteral(L, "the world");
}

/// Why the hand does not hold the object, pushed; NULL: it does. With f_i the normal force of the hand's link i on the
/// object, the links squeeze it when |sum f_i| <= sum |f_i| / 2: at least half of what presses cancels.
static const char *push_reason(lua_State *L, const stn_lua_world *w, const stn_lua_side *hand,
                               const stn_lua_side *object) {
    stn_vec3 sum = stn_vec3_zero();
    double whole = 0.0;
    int32_t links = 0, contacts = 0;
    for (int32_t i = 0; i < hand->links.count; i++) {
        stn_lua_side link = {hand->model, {hand->links.start + i, 1}};
        stn_contact_force force = force_on(w, object, &link, stn_vec3_zero());
        if (pressing(&force) > 0) {
            links++;
            contacts += pressing(&force);
            whole += stn_vec3_norm(force.normal_part);
            sum = stn_vec3_add(sum, force.normal_part);
        }
    }
    stn_contact_force all = force_on(w, object, NULL, stn_vec3_zero());
    const char *name = stn_lua_push_links_name(L, w, object->links);
    const char *of_hand = stn_lua_push_links_name(L, w, hand->links);
    if (links < 2) {
        return lua_pushfstring(L, "%d link%s of '%s' press%s on '%s', at least 2 must", (int)links,
                               links == 1 ? "" : "s", of_hand, links == 1 ? "es" : "", name);
    }
    if (pressing(&all) > contacts) {
        return lua_pushfstring(L, "'%s' rests on %s too", name, push_other(L, w, hand, object));
    }
    if (stn_vec3_norm(sum) > 0.5 * whole) {
        return lua_pushfstring(L, "the links of '%s' do not press on '%s' from opposite sides", of_hand, name);
    }
    return NULL;
}

/// world:held(hand, object)
static int world_held(lua_State *L) {
    lua_settop(L, 3);
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    stn_lua_side hand, object;
    stn_lua_sides(L, 2, w, "world:held", &hand, &object);
    const char *reason = push_reason(L, w, &hand, &object);
    lua_pushboolean(L, reason == NULL);
    lua_pushstring(L, reason); // nil without one
    return 2;
}

const luaL_Reg stn_lua_contact_methods[] = {
    {"contacts", world_contacts},
    {"contact_force", world_contact_force},
    {"in_contact", world_in_contact},
    {"held", world_held},
    {NULL, NULL},
};

// ------------------------------------------------------------------------------------------------------ pairs of links

// Pairs of links: which never collide, and the contact parameters of those that do.

static int disable_collisions(lua_State *L) {
    stn_lua_world *w = stn_lua_world_check(L, 1);
    stn_model_builder *builder = stn_lua_world_builder(L, w, "world:disable_collisions");
    stn_link_range a = stn_lua_links(L, 2, w, "world:disable_collisions"), b = a;
    if (!lua_isnoneornil(L, 3)) {
        b = stn_lua_links(L, 3, w, "world:disable_collisions");
    }
    stn_error err = {0};
    for (int32_t i = 0; i < a.count; i++) {
        for (int32_t j = 0; j < b.count; j++) {
            if (a.start + i != b.start + j) {
                stn_lua_check(L, stn_builder_disable_collisions(builder, a.start + i, b.start + j, &err), &err);
            }
        }
    }
    return 0;
}

static int contact_material(lua_State *L) {
    static const char *const keys[] = {"a", "b", STN_MATERIAL_KEYS, NULL};
    stn_lua_world *w = stn_lua_world_check(L, 1);
    stn_fields f = stn_fields_open(L, 2, "world:contact_material", keys, 0);
    stn_model_builder *builder = stn_lua_world_builder(L, w, f.owner);
    stn_material material = stn_material_unset();
    stn_fields_material(&f, &material);
    stn_fields_warn_dissipation(&f, w->world, &material);
    stn_fields_warn_modulus(&f, &material);
    stn_fields_warn_restitution(&f, w->world, &material);
    stn_link_range sides[2] = {{STN_ANY, 1}, {STN_ANY, 1}};
    const char *const names[2] = {"a", "b"};
    for (int i = 0; i < 2; i++) {
        if (stn_fields_push(&f, names[i])) {
            sides[i] = stn_lua_links(L, -1, w, f.owner);
            lua_pop(L, 1);
        }
    }
    stn_error err = {0};
    for (int32_t i = 0; i < sides[0].count; i++) {
        for (int32_t j = 0; j < sides[1].count; j++) {
            stn_lua_check(
                L, stn_builder_set_contact_material(builder, sides[0].start + i, sides[1].start + j, &material, &err),
                &err);
        }
    }
    return 0;
}

const luaL_Reg stn_lua_pair_methods[] = {
    {"contact_material", contact_material},
    {"disable_collisions", disable_collisions},
    {NULL, NULL},
};
