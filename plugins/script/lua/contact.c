// SPDX-License-Identifier: Apache-2.0
// Contacts of the last step: who touches whom, with what force, sticking or slipping; forces summed over all contacts
// of two sides; patches. And pairs of links: which never collide, and the contact parameters of those that do.
#include <math.h>
#include <string.h>

#include "bind.h"
#include "patch_image.h"

static void set_text(lua_State *L, const char *key, const char *value) {
    lua_pushstring(L, value);
    lua_setfield(L, -2, key);
}

void stn_lua_set_link(lua_State *L, const stn_model *model, int32_t link, const char *group_key, const char *link_key) {
    if (link < 0) {
        set_text(L, group_key, link <= STN_CLOUD ? model->trees[STN_CLOUD - link].name : "world");
        return;
    }
    int32_t group = model->links[link].group;
    set_text(L, group_key, group >= 0 ? model->groups[group].name : "world");
    set_text(L, link_key, model->links[link].name);
}

/// Two fields of the table on top: the names of the group and link that a shape is on; of nodes the name of their
/// cloud, and what the shape's own name, which a region's surface has behind the cloud's, says.
static void set_owner(lua_State *L, const stn_model *model, int32_t index, const char *group_key,
                      const char *link_key) {
    const stn_geometry *geometry = &model->geometries[index];
    if (geometry->body >= 0) {
        stn_lua_set_link(L, model, geometry->link, group_key, link_key);
        return;
    }
    const char *slash = strchr(geometry->name, '/');
    set_text(L, group_key, model->trees[model->node_tree[geometry->node]].name);
    set_text(L, link_key, slash != NULL ? slash + 1 : geometry->name);
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
        lua_createtable(L, 0, 23);
        lua_pushinteger(L, (lua_Integer)contact->id);
        lua_setfield(L, -2, "id");
        set_owner(L, o->model, contact->geometry_a, "a", "link_a");
        set_owner(L, o->model, contact->geometry_b, "b", "link_b");
        stn_lua_set_vector(L, "point", contact->point);
        stn_lua_set_vector(L, "normal", contact->normal);
        stn_lua_set_number(L, "distance", contact->phi0);
        stn_lua_set_number(L, "mu", o->problem->constraints[i].mu1); // of this step: at rest or sliding
        // impulse and force on B, and how B moves along A; the rows of contact i are those of constraint i
        const stn_constraint *c = &o->problem->constraints[i];
        if (c->set == STN_SET_ELLIPSE) {
            stn_lua_set_number(L, "mu2", c->mu2);
            stn_lua_set_vector(L, "friction_direction", stn_mat3_column(&c->frame, 0));
        }
        const double *gamma = &o->gamma[c->row];
        stn_contact_report r;
        stn_observation_contact(o, i, &r);
        set_text(L, "state", stn_contact_state_name(r.state));
        set_forces(L, r.normal_part, r.friction_part);
        if (gamma[2] < 0.0) { // it pulls
            stn_lua_set_number(L, "normal_force", -stn_vec3_norm(r.normal_part));
        }
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

/// The link that a geometry counts for: its own, or with `with_pads` that on which the first attached node of its cloud
/// is; STN_WORLD without one.
static int32_t link_of(const stn_model *model, const stn_geometry *geometry, bool with_pads) {
    for (int32_t i = 0; geometry->body < 0 && with_pads && i < model->attachment_count; i++) {
        if (model->node_tree[model->attachments[i].node] == model->node_tree[geometry->node]) {
            return model->attachments[i].link;
        }
    }
    return geometry->link;
}

bool stn_lua_side_has(const void *user, int32_t geometry) {
    const stn_lua_side *s = user;
    const stn_geometry *g = &s->model->geometries[geometry];
    const int32_t link = link_of(s->model, g, s->with_pads);
    bool of_nodes = g->body < 0 && g->node >= s->node_start && g->node < s->node_start + s->node_count;
    return of_nodes || (link >= s->links.start && link < s->links.start + s->links.count);
}

stn_lua_side stn_lua_side_at(lua_State *L, int index, stn_lua_world *w, const char *owner) {
    stn_lua_side side = {.model = stn_world_model(w->world)};
    const stn_lua_object *soft = stn_lua_object_test(L, index, STN_LUA_SOFT);
    if (soft == NULL) {
        side.links = stn_lua_links(L, index, w, owner);
        return side;
    }
    if (!w->compiled) { // world:log, which is about patches
        stn_lua_fail(L, "%s: a soft body has no patches", owner);
    }
    if (soft->world != w) {
        stn_lua_fail(L, "%s: the soft body belongs to another world", owner);
    }
    const stn_tree *tree = &side.model->trees[stn_lua_soft_tree(soft)];
    side.node_start = tree->node_start;
    side.node_count = tree->node_count;
    return side;
}

const char *stn_lua_push_side_name(lua_State *L, const stn_lua_world *w, const stn_lua_side *side) {
    if (side->node_count > 0) {
        return lua_pushstring(L, side->model->trees[side->model->node_tree[side->node_start]].name);
    }
    return stn_lua_push_links_name(L, w, side->links);
}

void stn_lua_sides(lua_State *L, int index, stn_lua_world *w, const char *owner, stn_lua_side *a, stn_lua_side *b) {
    *a = stn_lua_side_at(L, index, w, owner);
    *b = stn_lua_side_at(L, index + 1, w, owner);
    if (a->node_count > 0 && a->node_count == b->node_count && a->node_start == b->node_start) {
        stn_lua_fail(L, "%s: '%s' is on both sides", owner, stn_lua_push_side_name(L, w, a));
    }
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
    stn_lua_side on = {.model = stn_world_model(w->world)}, by = on;
    bool paired = !lua_isnil(L, 3);
    stn_vec3 point = stn_vec3_zero();
    if (paired) {
        stn_lua_sides(L, 2, w, owner, &on, &by);
    } else {
        on = stn_lua_side_at(L, 2, w, owner);
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
        a = stn_lua_side_at(L, 2, w, "world:in_contact");
    }
    stn_contact_force force = force_on(w, &a, paired ? &b : NULL, stn_vec3_zero());
    lua_pushboolean(L, pressing(&force) > 0);
    return 1;
}

/// world:asleep(links): does all of it that moves sleep?
static int world_asleep(lua_State *L) {
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    const stn_model *model = stn_world_model(w->world);
    const stn_link_range links = stn_lua_links(L, 2, w, "world:asleep");
    bool any = false, all = true;
    for (int32_t i = links.start; i < links.start + links.count; i++) {
        const int32_t body = model->links[i].body;
        if (stn_model_body_moves(model, body)) {
            any = true;
            all = all && stn_world_is_asleep(w->world, body);
        }
    }
    lua_pushboolean(L, any && all);
    return 1;
}

/// Pushes the name of the first link outside of the hand that presses on the object: "the world" when none has a name.
static const char *push_other(lua_State *L, const stn_lua_world *w, const stn_lua_side *hand,
                              const stn_lua_side *object) {
    for (int32_t link = 0; link < hand->model->link_count; link++) {
        stn_lua_side other = {.model = hand->model, .links = {link, 1}};
        bool inside = link >= hand->links.start && link < hand->links.start + hand->links.count;
        bool own = link >= object->links.start && link < object->links.start + object->links.count;
        stn_contact_force force = {0};
        if (!inside && !own) {
            force = force_on(w, object, &other, stn_vec3_zero());
        }
        if (pressing(&force) > 0) {
            return lua_pushfstring(L, "'%s'", stn_lua_push_side_name(L, w, &other));
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
        stn_lua_side link = {.model = hand->model, .links = {hand->links.start + i, 1}, .with_pads = true};
        stn_contact_force force = force_on(w, object, &link, stn_vec3_zero());
        if (pressing(&force) > 0) {
            links++;
            contacts += pressing(&force);
            whole += stn_vec3_norm(force.normal_part);
            sum = stn_vec3_add(sum, force.normal_part);
        }
    }
    stn_contact_force all = force_on(w, object, NULL, stn_vec3_zero());
    const char *name = stn_lua_push_side_name(L, w, object);
    const char *of_hand = stn_lua_push_side_name(L, w, hand);
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
    if (hand.node_count > 0) {
        stn_lua_fail(L,
                     "world:held: '%s' is a soft body and has no links that could press from two sides; ask "
                     "world:contact_force",
                     stn_lua_push_side_name(L, w, &hand));
    }
    const char *reason = push_reason(L, w, &hand, &object);
    lua_pushboolean(L, reason == NULL);
    lua_pushstring(L, reason); // nil without one
    return 2;
}

const luaL_Reg stn_lua_contact_methods[] = {
    {"contacts", world_contacts},
    {"contact_force", world_contact_force},
    {"in_contact", world_in_contact},
    {"asleep", world_asleep},
    {"held", world_held},
    {NULL, NULL},
};

// ------------------------------------------------------------------------------------------------------ pairs of links

// Pairs of links: which never collide, and the contact parameters of those that do.

/// Links, no soft body; `instead` says what to do about one.
static stn_link_range links_of_pair(lua_State *L, int index, stn_lua_world *w, const char *owner, const char *instead) {
    if (stn_lua_object_test(L, index, STN_LUA_SOFT) != NULL) {
        const char *name = luaL_tolstring(L, index, NULL);
        stn_lua_fail(L, "%s: %s has no links; %s", owner, name, instead);
    }
    return stn_lua_links(L, index, w, owner);
}

static int disable_collisions(lua_State *L) {
    static const char owner[] = "world:disable_collisions", instead[] = "give category and mask where it is described";
    stn_lua_world *w = stn_lua_world_check(L, 1);
    stn_model_builder *builder = stn_lua_world_builder(L, w, owner);
    stn_link_range a = links_of_pair(L, 2, w, owner, instead), b = a;
    if (!lua_isnoneornil(L, 3)) {
        b = links_of_pair(L, 3, w, owner, instead);
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
            sides[i] =
                links_of_pair(L, lua_gettop(L), w, f.owner, "give mu and the like, or regions, where it is described");
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

// ------------------------------------------------------------------------------------------------------------- patches

// Patches of the last step: what faces that touch over an area did together, one by one or between two sides.

#define STN_LUA_PATCH "stiction.patch"

/// What one patch of a step did, or several between two sides as one. Numbers are copies; an image asks the step
/// itself. User value 1: the world; user value 2: table of names.
typedef struct patch_object {
    stn_lua_world *world;
    int64_t made;      // steps that the world had made: whether its contacts are still there
    int32_t axes_body; // whose axes an image has, unless it is told: B's, or A's where B is the world
    stn_patch_report report;
    int32_t count;     // patches of the step's set
    int32_t patches[]; // (count)
} patch_object;

enum { WORLD = 1, NAMES = 2 }; // user values

// ---------------------------------------------------------------------------------------------------------- members

static const char *const properties[] = {"a",
                                         "link_a",
                                         "geometry_a",
                                         "b",
                                         "link_b",
                                         "geometry_b",
                                         "force",
                                         "normal_part",
                                         "friction_part",
                                         "normal_force",
                                         "friction_force",
                                         "torque",
                                         "center",
                                         "normal",
                                         "area",
                                         "mean_pressure",
                                         "max_pressure",
                                         "field_force",
                                         "field_max_pressure",
                                         "faces",
                                         "sticking",
                                         "slipping",
                                         "slip_speed",
                                         "glide_gap",
                                         "elastic_J",
                                         NULL};
enum { NAME_COUNT = 6 }; // at the head of them

static bool push_vector(lua_State *L, const stn_patch_report *r, const char *name) {
    const struct {
        const char *name;
        stn_vec3 value;
    } vectors[] = {{"force", stn_vec3_add(r->normal_part, r->friction_part)},
                   {"normal_part", r->normal_part},
                   {"friction_part", r->friction_part},
                   {"torque", r->torque},
                   {"center", r->center},
                   {"normal", r->normal}};
    for (int32_t i = 0; i < STN_COUNT(vectors); i++) {
        if (strcmp(vectors[i].name, name) == 0) {
            stn_lua_push_vector(L, vectors[i].value);
            return true;
        }
    }
    return false;
}

static bool push_number(lua_State *L, const stn_patch_report *r, const char *name) {
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"normal_force", stn_vec3_norm(r->normal_part)},
                   {"friction_force", stn_vec3_norm(r->friction_part)},
                   {"area", r->area},
                   {"mean_pressure", r->mean_pressure},
                   {"max_pressure", r->max_pressure},
                   {"field_force", r->field_force},
                   {"field_max_pressure", r->field_max_pressure},
                   {"slip_speed", r->slip_speed},
                   {"glide_gap", r->glide_gap},
                   {"elastic_J", r->elastic_J}};
    for (int32_t i = 0; i < STN_COUNT(numbers); i++) {
        if (strcmp(numbers[i].name, name) == 0) {
            lua_pushnumber(L, numbers[i].value);
            return true;
        }
    }
    return false;
}

static bool push_count(lua_State *L, const stn_patch_report *r, const char *name) {
    const struct {
        const char *name;
        int32_t value;
    } counts[] = {{"faces", r->faces}, {"sticking", r->sticking}, {"slipping", r->slipping}};
    for (int32_t i = 0; i < STN_COUNT(counts); i++) {
        if (strcmp(counts[i].name, name) == 0) {
            lua_pushinteger(L, counts[i].value);
            return true;
        }
    }
    return false;
}

/// Of the patch at stack index 1.
static bool get(lua_State *L, void *self, const char *name) {
    const patch_object *patch = self;
    for (int i = 0; i < NAME_COUNT; i++) {
        if (strcmp(properties[i], name) == 0) {
            lua_getiuservalue(L, 1, NAMES);
            lua_getfield(L, -1, name);
            return true;
        }
    }
    return push_vector(L, &patch->report, name) || push_number(L, &patch->report, name) ||
           push_count(L, &patch->report, name);
}

/// pairs(patch): what it is and did.
static int patch_pairs(lua_State *L) {
    patch_object *patch = luaL_checkudata(L, 1, STN_LUA_PATCH);
    lua_settop(L, 1);
    lua_getglobal(L, "next");
    lua_newtable(L);
    for (int i = 0; properties[i] != NULL; i++) {
        get(L, patch, properties[i]);
        lua_setfield(L, 3, properties[i]);
        lua_settop(L, 3);
    }
    lua_pushnil(L);
    return 3;
}

static int patch_text(lua_State *L) {
    const patch_object *patch = luaL_checkudata(L, 1, STN_LUA_PATCH);
    lua_getiuservalue(L, 1, NAMES);
    lua_getfield(L, -1, "a");
    lua_getfield(L, -2, "b");
    lua_pushfstring(L, "patch %s|%s: %d faces, %f N", lua_tostring(L, -2), lua_tostring(L, -1),
                    (int)patch->report.faces, (lua_Number)stn_vec3_norm(patch->report.normal_part));
    return 1;
}

// ---------------------------------------------------------------------------------------------------------- objects

/// Names of one side in the table on top; of several links or geometries only what they have in common.
static void set_side(lua_State *L, const stn_model *model, int32_t geometry, bool first, const char *const keys[3]) {
    const stn_geometry *g = &model->geometries[geometry];
    lua_createtable(L, 0, 3);
    stn_lua_set_link(L, model, g->link, keys[0], keys[1]);
    if (g->name != NULL) {
        lua_pushstring(L, g->name);
        lua_setfield(L, -2, keys[2]);
    }
    for (int i = 0; i < 3; i++) {
        lua_getfield(L, -1, keys[i]);
        lua_getfield(L, -3, keys[i]);
        bool common = first || lua_rawequal(L, -1, -2) != 0;
        lua_pop(L, 1);
        if (!common) {
            lua_pop(L, 1);
            lua_pushnil(L);
        }
        lua_setfield(L, -3, keys[i]);
    }
    lua_pop(L, 1);
}

/// Pushes a patch of the world at stack index 1, with room for `count` of the set.
static patch_object *push_patch(lua_State *L, stn_lua_world *w, int32_t count) {
    patch_object *patch = lua_newuserdatauv(L, sizeof *patch + sizeof(int32_t) * (size_t)count, 2);
    *patch = (patch_object){.world = w, .made = w->made};
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, WORLD);
    lua_createtable(L, 0, NAME_COUNT);
    lua_setiuservalue(L, -2, NAMES);
    luaL_setmetatable(L, STN_LUA_PATCH);
    return patch;
}

/// Adds patch `index` of the set to the one on top; `turned`: with A and B exchanged.
static void add_patch(lua_State *L, patch_object *patch, const stn_observation *o, int32_t index, bool turned) {
    static const char *const keys[2][3] = {{"a", "link_a", "geometry_a"}, {"b", "link_b", "geometry_b"}};
    const stn_patch *p = &o->contacts->patches[index];
    int32_t a = turned ? p->geometry_b : p->geometry_a, b = turned ? p->geometry_a : p->geometry_b;
    int32_t body_a = o->model->geometries[a].body, body_b = o->model->geometries[b].body;
    bool first = patch->count == 0;
    lua_getiuservalue(L, -1, NAMES);
    set_side(L, o->model, a, first, keys[0]);
    set_side(L, o->model, b, first, keys[1]);
    lua_pop(L, 1);
    patch->axes_body = !first ? patch->axes_body : body_b > 0 ? body_b : body_a > 0 ? body_a : 0; // nodes have none
    patch->patches[patch->count++] = index;
}

static int32_t patch_count(const stn_observation *o) {
    return o->problem != NULL && o->contacts != NULL ? o->contacts->patch_count : 0;
}

/// world:patches()
static int world_patches(lua_State *L) {
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    const stn_observation *o = stn_world_observation(w->world);
    int32_t count = patch_count(o);
    lua_settop(L, 1);
    lua_createtable(L, count, 0);
    for (int32_t i = 0; i < count; i++) {
        patch_object *patch = push_patch(L, w, 1);
        stn_observation_patch(o, i, &patch->report);
        add_patch(L, patch, o, i, false);
        lua_rawseti(L, 2, i + 1);
    }
    return 1;
}

/// world:patch(a, b)
static int world_patch(lua_State *L) {
    static const char owner[] = "world:patch";
    lua_settop(L, 3);
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    stn_lua_side a, b;
    stn_lua_sides(L, 2, w, owner, &a, &b);
    const stn_contact_side sides[2] = {{stn_lua_side_has, &a}, {stn_lua_side_has, &b}};
    const stn_observation *o = stn_world_observation(w->world);
    int32_t count = patch_count(o);
    patch_object *patch = push_patch(L, w, count);
    if (!stn_observation_patch_between(o, &sides[0], &sides[1], &patch->report)) {
        lua_pushnil(L);
        return 1;
    }
    for (int32_t i = 0; i < count; i++) {
        const stn_patch *p = &o->contacts->patches[i];
        bool straight = stn_lua_side_has(&a, p->geometry_a) && stn_lua_side_has(&b, p->geometry_b),
             turned = stn_lua_side_has(&a, p->geometry_b) && stn_lua_side_has(&b, p->geometry_a);
        if (straight || turned) {
            add_patch(L, patch, o, i, turned);
        }
    }
    return 1;
}

const luaL_Reg stn_lua_patch_methods[] = {
    {"patches", world_patches},
    {"patch", world_patch},
    {NULL, NULL},
};

// -------------------------------------------------------------------------------------------------------------- images

// patch:image { ... }: the pressure in a patch as rows of numbers, as a touch sensor would have it. The plane is the xy
// plane of a frame that a link carries, or, without one, that through the center of pressure across the mean normal.

static const double ALONG = 0.9; // an axis that leans less than 26 degrees from the normal gives no direction across it

/// The pose X_WF that a frame has now, where it was a step ago: contacts are those of the step's start. To second order
/// in dt, exact for free bodies under symplectic stepping.
static stn_pose a_step_ago(const stn_observation *o, int32_t body, stn_pose now) {
    stn_vec3 turn = stn_vec3_scale(-o->dt, o->kinematics->body_velocity[body].angular);
    stn_mat3 back = stn_quat_matrix(stn_quat_exp(turn));
    return (stn_pose){stn_mat3_mul(&back, &now.rotation),
                      stn_vec3_mul_add(now.position, -o->dt, stn_point_velocity(o->kinematics, body, now.position))};
}

/// z along the normal, x as far along an axis of the body as it can be: the same from step to step.
static stn_mat3 axes_across(stn_vec3 z, const stn_mat3 *body) {
    stn_vec3 x = stn_mat3_column(body, 0);
    if (fabs(stn_vec3_dot(x, z)) > ALONG) {
        x = stn_mat3_column(body, 1);
    }
    x = stn_vec3_mul_add(x, -stn_vec3_dot(x, z), z);
    x = stn_vec3_scale(1.0 / stn_vec3_norm(x), x);
    stn_vec3 y = stn_vec3_cross(z, x);
    return (stn_mat3){{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}};
}

/// The frame that `link`, xyz and rpy or quat give; false without a link.
static bool read_frame(const stn_fields *f, const patch_object *patch, const stn_observation *o, stn_pose *pose) {
    stn_pose in_link = stn_pose_identity();
    bool placed = stn_fields_pose_here(f, &in_link);
    if (!stn_fields_push(f, "link")) {
        if (placed) {
            stn_lua_fail(f->L, "%s: a pose places the image in a link; give link = ... too", f->owner);
        }
        return false;
    }
    stn_link_range links = stn_lua_links(f->L, -1, patch->world, f->owner);
    if (links.count != 1) {
        stn_lua_fail(f->L, "%s: link = a group of %d links; name one, { group, \"link\" }", f->owner, (int)links.count);
    }
    lua_pop(f->L, 1);
    stn_pose now = stn_lua_link_pose(patch->world, links.start);
    stn_pose then = a_step_ago(o, o->model->links[links.start].body, now);
    *pose = stn_pose_mul(&then, &in_link);
    return true;
}

/// One number, or { x, y }.
static bool read_extent(const stn_fields *f, patch_image *image) {
    if (!stn_fields_push(f, "extent")) {
        return false;
    }
    bool one = lua_type(f->L, -1) != LUA_TTABLE;
    lua_pop(f->L, 1);
    double extent[2] = {0.0, 0.0};
    if (one) {
        stn_fields_above_zero(f, "extent", "m", &extent[0]);
        extent[1] = extent[0];
    } else {
        stn_fields_reals(f, "extent", "m", 2, extent);
    }
    if (!(extent[0] > 0.0 && extent[1] > 0.0)) {
        stn_lua_fail(f->L, "%s: extent = { %g, %g } m must be > 0", f->owner, extent[0], extent[1]);
    }
    image->extent_x = extent[0];
    image->extent_y = extent[1];
    return true;
}

/// Rows of numbers, with what they mean.
static void push_image(lua_State *L, const patch_image *image, const double *pressure) {
    double pixel_area = image->extent_x / image->width * (image->extent_y / image->height), sum = 0.0, max = 0.0;
    lua_createtable(L, image->height, 7);
    for (int32_t y = 0; y < image->height; y++) {
        const double *row = &pressure[(size_t)y * (size_t)image->width];
        stn_lua_push_reals(L, row, image->width);
        lua_rawseti(L, -2, y + 1);
        for (int32_t x = 0; x < image->width; x++) {
            sum += row[x];
            max = fmax(max, row[x]);
        }
    }
    const double extent[2] = {image->extent_x, image->extent_y};
    lua_pushinteger(L, image->width);
    lua_setfield(L, -2, "width");
    lua_pushinteger(L, image->height);
    lua_setfield(L, -2, "height");
    stn_lua_push_reals(L, extent, 2);
    lua_setfield(L, -2, "extent");
    stn_lua_set_number(L, "pixel_area", pixel_area);
    stn_lua_set_number(L, "force", sum * pixel_area);
    stn_lua_set_number(L, "max_pressure", max);
    stn_lua_push_pose(L, &image->pose);
    lua_setfield(L, -2, "pose");
}

static int push_pressure(lua_State *L) {
    static const char *const keys[] = {"width", "height", "extent", "link", STN_POSE_KEYS, NULL};
    static const char owner[] = "patch:image";
    const patch_object *patch = luaL_checkudata(L, 1, STN_LUA_PATCH);
    if (patch->world->world == NULL) {
        stn_lua_fail(L, "%s: the world is closed", owner);
    }
    if (patch->world->made != patch->made || stn_world_observation(patch->world->world)->problem == NULL) {
        stn_lua_fail(L, "%s: the patch's step is over; ask the world for its patches again", owner);
    }
    lua_settop(L, 2);
    if (lua_isnil(L, 2)) {
        lua_newtable(L);
        lua_replace(L, 2);
    }
    stn_fields f = stn_fields_open(L, 2, owner, keys, 0);
    const stn_observation *o = stn_world_observation(patch->world->world);
    lua_Integer width = 32, height = 32;
    patch_image image = {.width = 0};
    stn_fields_integer(&f, "width", 1, PATCH_IMAGE_MAX, &width);
    stn_fields_integer(&f, "height", 1, PATCH_IMAGE_MAX, &height);
    image.width = (int32_t)width;
    image.height = (int32_t)height;
    bool carried = read_frame(&f, patch, o, &image.pose), sized = read_extent(&f, &image);
    if (carried && !sized) {
        stn_lua_fail(L, "%s: extent is missing; an image that a link carries has a size, extent = { x, y } in m",
                     owner);
    }
    if (!carried) {
        stn_pose body = a_step_ago(o, patch->axes_body, o->kinematics->body_pose[patch->axes_body]);
        stn_vec3 normal = patch->report.normal;
        if (!(stn_vec3_norm(normal) > 0.5)) { // all around: nothing lies across
            normal = stn_mat3_column(&body.rotation, 2);
        }
        image.pose = (stn_pose){axes_across(normal, &body.rotation), patch->report.center};
    }
    if (!sized) {
        // square pixels, as small as they can be with the whole patch in the image
        const stn_contact_set *set = o->contacts;
        double x = 0.0, y = 0.0;
        for (int32_t k = 0; k < patch->count; k++) {
            const stn_patch *p = &set->patches[patch->patches[k]];
            for (int32_t i = p->contact_start; i < p->contact_start + p->contact_count; i++) {
                const stn_contact *c = &set->contacts[i];
                for (int32_t v = c->vertex_start; v < c->vertex_start + c->vertex_count; v++) {
                    stn_vec3 at = stn_pose_apply_inverse(&image.pose, set->vertices[v]);
                    x = fmax(x, fabs(at.x));
                    y = fmax(y, fabs(at.y));
                }
            }
        }
        double pixel = 2.0 * (1.0 + 1e-9) * fmax(x / image.width, y / image.height);
        image.extent_x = pixel * image.width;
        image.extent_y = pixel * image.height;
    }
    size_t pixels = (size_t)image.width * (size_t)image.height;
    double *pressure = lua_newuserdatauv(L, sizeof(double) * pixels, 0);
    for (size_t i = 0; i < pixels; i++) {
        pressure[i] = 0.0;
    }
    stn_error err = {0};
    for (int32_t k = 0; k < patch->count; k++) {
        stn_lua_check(L, patch_image_add(o, patch->patches[k], &image, pressure, &err), &err);
    }
    push_image(L, &image, pressure);
    return 1;
}

void stn_lua_open_patch(lua_State *L) {
    static const luaL_Reg methods[] = {{"image", push_pressure}, {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__pairs", patch_pairs}, {"__tostring", patch_text}, {NULL, NULL}};
    stn_lua_class(L, STN_LUA_PATCH, methods, meta, get, properties);
}
