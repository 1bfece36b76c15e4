// SPDX-License-Identifier: Apache-2.0
// Describing a world: ground, height fields, bodies of one or several shapes; and equality constraints.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bind.h"

#define PLACE_KEYS "name", "pose", STN_POSE_KEYS, "fixed", "on", "velocity", "mass", "density"
#define BODY_KEYS  PLACE_KEYS, STN_GEOMETRY_KEYS, STN_FIELD_KEYS

static const double default_density = 1000.0; // [kg/m^3], water

// ------------------------------------------------------------------------------------------------------------ bodies

/// A body before it enters the builder.
typedef struct body_description {
    const char *type;  // "box"
    const char *name;  // as given, NULL: make one
    const char *where; // "file:line"
    stn_pose pose;
    bool placed; // the pose was given; a body without may be attached later
    bool fixed;
    int32_t on; // link that it is mounted on, -1: none
    stn_mass mass;
    int32_t count;
    stn_lua_shape *shapes; // (count), on Lua's stack
} body_description;

/// Pushes the body's name: as given, or the type with the next number that is free ("box3").
static const char *push_name(lua_State *L, stn_lua_world *w, const body_description *d) {
    lua_getiuservalue(L, 1, 2);
    int names = lua_gettop(L);
    bool taken = d->name == NULL;
    lua_pushstring(L, d->name);
    while (taken) {
        lua_settop(L, names);
        lua_pushfstring(L, "%s%d", d->type, (int)++w->unnamed);
        lua_pushvalue(L, -1);
        taken = lua_rawget(L, names) != LUA_TNIL;
        lua_settop(L, names + 1);
    }
    lua_remove(L, names);
    return lua_tostring(L, -1);
}

/// Group with one link; on failure nothing stays in the builder.
static stn_status add_body(stn_model_builder *builder, const body_description *d, int32_t *group, stn_error *err) {
    stn_link_spec spec = {.name = d->name, .mass = d->mass, .where = d->where};
    stn_status status = stn_builder_begin_group(builder, d->name, group, err);
    if (status < 0) {
        return status;
    }
    int32_t link = -1;
    status = stn_builder_add_link(builder, &spec, &link, err);
    for (int32_t i = 0; i < d->count && status >= 0; i++) {
        const stn_lua_shape *shape = &d->shapes[i];
        stn_geometry_spec geometry = shape->geometry;
        geometry.name = d->name;
        geometry.where = d->where;
        int32_t index = -1;
        if (geometry.shape.mesh != NULL) {
            status = stn_builder_add_mesh(builder, shape->path, shape->scale, geometry.shape.mesh, &geometry.mesh, err);
        }
        if (shape->volume != NULL && status >= 0) {
            status = stn_builder_add_mesh(builder, shape->path, shape->scale, shape->volume,
                                          &geometry.field.volume_mesh, err);
        }
        if (status >= 0) {
            status = stn_builder_add_geometry(builder, link, &geometry, &index, err);
        }
    }
    if (status >= 0 && d->on >= 0) {
        status = stn_builder_attach(builder, *group, d->on, &d->pose, err);
    } else if (status >= 0 && (d->placed || d->fixed)) {
        status = stn_builder_set_base(builder, *group, &d->pose, d->fixed, err);
    }
    if (status < 0) {
        stn_builder_discard(builder, *group);
    }
    return status;
}

/// Builds the body and pushes its group object. The table that described it is argument 2.
static int finish_body(lua_State *L, stn_lua_world *w, const stn_fields *f, body_description *d) {
    stn_model_builder *builder = stn_lua_world_builder(L, w, f->owner);
    bool moves = stn_fields_push(f, "velocity");
    int velocity = lua_gettop(L);
    if (moves && (d->fixed || d->on >= 0)) {
        stn_lua_fail(L, "%s: a fixed body has no velocity; surface_velocity makes it a conveyor", f->owner);
    }
    for (int32_t i = 0; i < d->count; i++) {
        stn_fields_warn_unread(f, w->world, &d->shapes[i].asked);
        stn_fields_warn_field(f, w->world, &d->shapes[i].geometry.field);
    }
    d->name = push_name(L, w, d);
    stn_lua_position(L);
    d->where = lua_tostring(L, -1);
    int32_t group = -1;
    stn_error err = {0};
    stn_status status = add_body(builder, d, &group, &err);
    if (status < 0) {
        stn_lua_fail(L, "%s: %s", f->owner, err.text);
    }
    stn_lua_take_name(L, 1, d->name);
    if (moves) {
        stn_vec3 linear, angular;
        char what[96];
        snprintf(what, sizeof what, "%s: velocity", f->owner);
        stn_lua_velocity(L, velocity, what, &linear, &angular);
        stn_lua_push_velocity(L, linear, angular);
        stn_lua_note_start(L, 1, group, "velocity");
    }
    stn_lua_object_new(L, 1, STN_LUA_GROUP, group);
    return 1;
}

/// Common keys of bodies.
static body_description read_body(const stn_fields *f, stn_lua_world *w, const char *type) {
    body_description d = {.type = type, .name = stn_fields_text(f, "name"), .on = -1};
    d.placed = stn_fields_body_pose(f, &d.pose);
    stn_fields_boolean(f, "fixed", &d.fixed);
    if (stn_fields_push(f, "on")) {
        stn_link_range range = stn_lua_links(f->L, -1, w, f->owner);
        if (range.count != 1 || d.fixed) {
            stn_lua_fail(f->L, "%s: on = { group, \"link\" } names one link, without fixed", f->owner);
        }
        d.on = range.start;
        lua_pop(f->L, 1);
    }
    return d;
}

/// What a shape weighs for itself, of its material or of water [kg].
static double own_mass(const stn_lua_shape *shape) {
    return (isnan(shape->density) ? default_density : shape->density) * stn_shape_volume(&shape->solid);
}

/// Mass from `mass` or `density`; `otherwise` where neither is given; [kg].
static double read_mass(const stn_fields *f, double volume, double otherwise) {
    double mass = 0.0, density = 0.0;
    bool weighed = stn_fields_above_zero(f, "mass", "kg", &mass);
    bool dense = stn_fields_above_zero(f, "density", "kg/m^3", &density);
    if (weighed && dense) {
        stn_lua_fail(f->L, "%s: give mass or density, not both", f->owner);
    }
    return weighed ? mass : (dense ? density * volume : otherwise);
}

/// A body of one shape.
static int add_simple(lua_State *L, const char *owner, stn_shape_type type, const char *const *keys) {
    stn_lua_world *w = stn_lua_world_check(L, 1);
    stn_fields f = stn_fields_open(L, 2, owner, keys, 0);
    body_description d = read_body(&f, w, stn_shape_name(type));
    stn_lua_shape shape;
    lua_newtable(L);
    stn_fields_shape(&f, type, lua_gettop(L), &shape);
    d.count = 1;
    d.shapes = &shape;
    stn_error err = {0};
    double volume = stn_shape_volume(&shape.solid), mass = read_mass(&f, volume, own_mass(&shape));
    if (volume > 0.0) { // else a surface that is part of the world
        stn_lua_check(L, stn_shape_mass(&shape.solid, mass, &d.mass, &err), &err);
    }
    return finish_body(L, w, &f, &d);
}

static int add_sphere(lua_State *L) {
    static const char *const keys[] = {"radius", BODY_KEYS, NULL};
    return add_simple(L, "world:sphere", STN_SHAPE_SPHERE, keys);
}

static int add_box(lua_State *L) {
    static const char *const keys[] = {"size", BODY_KEYS, NULL};
    return add_simple(L, "world:box", STN_SHAPE_BOX, keys);
}

static int add_capsule(lua_State *L) {
    static const char *const keys[] = {"radius", "length", BODY_KEYS, NULL};
    return add_simple(L, "world:capsule", STN_SHAPE_CAPSULE, keys);
}

static int add_cylinder(lua_State *L) {
    static const char *const keys[] = {"radius", "length", BODY_KEYS, NULL};
    return add_simple(L, "world:cylinder", STN_SHAPE_CYLINDER, keys);
}

static int add_ellipsoid(lua_State *L) {
    static const char *const keys[] = {"radii", BODY_KEYS, NULL};
    return add_simple(L, "world:ellipsoid", STN_SHAPE_ELLIPSOID, keys);
}

static int add_mesh(lua_State *L) {
    static const char *const keys[] = {"file", "scale", "convex", BODY_KEYS, NULL};
    return add_simple(L, "world:mesh", STN_SHAPE_MESH, keys);
}

static int add_ground(lua_State *L) {
    static const char *const keys[] = {"name",         "pose",           STN_POSE_KEYS, STN_GEOMETRY_KEYS,
                                       "field_margin", "slab_thickness", NULL};
    stn_lua_world *w = stn_lua_world_check(L, 1);
    if (lua_isnoneornil(L, 2)) {
        lua_settop(L, 1);
        lua_newtable(L);
    }
    stn_fields f = stn_fields_open(L, 2, "world:ground", keys, 0);
    stn_lua_shape shape;
    stn_fields_shape(&f, STN_SHAPE_HALF_SPACE, 0, &shape);
    body_description d = {
        .type = "ground", .name = stn_fields_text(&f, "name"), .fixed = true, .on = -1, .count = 1, .shapes = &shape};
    stn_fields_body_pose(&f, &d.pose);
    return finish_body(L, w, &f, &d);
}

static int add_height_field(lua_State *L) {
    static const char *const keys[] = {"size",        "heights",         "rows", "columns", "name", "pose",
                                       STN_POSE_KEYS, STN_GEOMETRY_KEYS, NULL};
    stn_lua_world *w = stn_lua_world_check(L, 1);
    stn_fields f = stn_fields_open(L, 2, "world:height_field", keys, 0);
    stn_lua_shape shape;
    lua_newtable(L);
    stn_fields_shape(&f, STN_SHAPE_HEIGHT_FIELD, lua_gettop(L), &shape);
    body_description d = {.type = "height_field",
                          .name = stn_fields_text(&f, "name"),
                          .fixed = true,
                          .on = -1,
                          .count = 1,
                          .shapes = &shape};
    stn_fields_body_pose(&f, &d.pose);
    return finish_body(L, w, &f, &d);
}

// ---------------------------------------------------------------------------------------------------- compound bodies

/// Sum of the parts. Masses of the shapes as given (the others then weigh nothing), or the body's mass spread by what
/// they weigh of their materials, by volume where these are the same.
static stn_mass weigh_parts(const stn_fields *f, const body_description *d, const double *masses) {
    double volume = 0.0, own = 0.0;
    bool given = false;
    for (int32_t i = 0; i < d->count; i++) {
        volume += stn_shape_volume(&d->shapes[i].solid);
        own += own_mass(&d->shapes[i]);
        given = given || !isnan(masses[i]);
    }
    double whole = 0.0;
    if (given && (stn_fields_real(f, "mass", "kg", &whole) || stn_fields_real(f, "density", "kg/m^3", &whole))) {
        stn_lua_fail(f->L, "%s: give the mass of the whole or of the shapes, not both", f->owner);
    }
    double total = given ? 0.0 : read_mass(f, volume, own);
    stn_mass sum = {0};
    for (int32_t i = 0; i < d->count; i++) {
        const stn_lua_shape *shape = &d->shapes[i];
        double share = given ? (isnan(masses[i]) ? 0.0 : masses[i]) : total * own_mass(shape) / own;
        stn_mass part, moved;
        stn_error err = {0};
        if (share > 0.0) {
            stn_lua_check(f->L, stn_shape_mass(&shape->solid, share, &part, &err), &err);
            moved = stn_mass_transform(&shape->geometry.pose, &part);
            sum = stn_mass_add(&sum, &moved);
        }
    }
    return sum;
}

/// Materials, colours and filters are those of its shapes, of each by itself.
static void refuse_shape_keys(lua_State *L) {
    static const char *const keys[] = {STN_GEOMETRY_KEYS, STN_FIELD_KEYS};
    for (int i = 0; i < STN_COUNT(keys) && lua_type(L, 2) == LUA_TTABLE; i++) {
        if (lua_getfield(L, 2, keys[i]) != LUA_TNIL) {
            stn_lua_fail(
                L, "world:compound: '%s' is said of each shape: shapes = { { \"box\", size = {...}, %s = ... }, ... }",
                keys[i], keys[i]);
        }
        lua_pop(L, 1);
    }
}

static int add_compound(lua_State *L) {
    static const char *const keys[] = {"shapes", PLACE_KEYS, NULL};
    static const char *const part_keys[] = {STN_SIZE_KEYS,     "pose",         "mass", STN_POSE_KEYS,
                                            STN_GEOMETRY_KEYS, STN_FIELD_KEYS, NULL};
    stn_lua_world *w = stn_lua_world_check(L, 1);
    refuse_shape_keys(L);
    stn_fields f = stn_fields_open(L, 2, "world:compound", keys, 0);
    body_description d = read_body(&f, w, "compound");
    if (!stn_fields_push(&f, "shapes") || lua_type(L, -1) != LUA_TTABLE || lua_rawlen(L, -1) == 0) {
        stn_lua_fail(
            L,
            "world:compound: shapes must be a list such as { { \"box\", size = {...} }, { \"sphere\", radius = r } }");
    }
    int list = lua_gettop(L);
    size_t count = lua_rawlen(L, list);
    if (count > 100000) {
        stn_lua_fail(L, "world:compound: %zu shapes are too many", count);
    }
    d.count = (int32_t)count;
    d.shapes = lua_newuserdatauv(L, count * sizeof *d.shapes, 0);
    double *masses = lua_newuserdatauv(L, count * sizeof *masses, 0);
    lua_newtable(L);
    int keep = lua_gettop(L);
    for (int32_t i = 0; i < d.count; i++) {
        char name[96];
        snprintf(name, sizeof name, "%s: shapes[%d]", f.owner, i + 1);
        lua_rawgeti(L, list, i + 1);
        stn_fields part = stn_fields_open(L, -1, name, part_keys, 1);
        stn_fields_named_shape(&part, keep, &d.shapes[i]);
        masses[i] = NAN;
        stn_fields_at_least(&part, "mass", "kg", 0.0, &masses[i]);
        lua_pop(L, 1);
    }
    d.mass = weigh_parts(&f, &d, masses);
    return finish_body(L, w, &f, &d);
}

const luaL_Reg stn_lua_model_methods[] = {
    {"load", stn_lua_world_load},
    {"ground", add_ground},
    {"sphere", add_sphere},
    {"box", add_box},
    {"capsule", add_capsule},
    {"cylinder", add_cylinder},
    {"compound", add_compound},
    {"ellipsoid", add_ellipsoid},
    {"mesh", add_mesh},
    {"height_field", add_height_field},
    {NULL, NULL},
};

// --------------------------------------------------------------------------------------------------------- constraints

// world:constraint { "weld" | "ball" | "distance" | "gear", ... }: equality constraints, and what they do in a run.

static const char owner_name[] = "world:constraint";

// ----------------------------------------------------------------------------------------------------- describing

#define COMMON_KEYS "name", "stiffness", "relaxation_time"
static const char *const weld_keys[] = {COMMON_KEYS, "a", "b", "a_pose", "b_pose", "angular_stiffness", NULL};
static const char *const ball_keys[] = {COMMON_KEYS, "a", "b", "a_point", "b_point", NULL};
static const char *const distance_keys[] = {COMMON_KEYS, "a", "b", "a_point", "b_point", "length", NULL};
static const char *const gear_keys[] = {COMMON_KEYS, "joints", "ratio", "offset", NULL};
static const char *const *const keys_of[STN_EQUALITY_COUNT] = {weld_keys, ball_keys, distance_keys, gear_keys};

/// The first entry of the table at stack index 2.
static stn_equality_type read_type(lua_State *L) {
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_rawgeti(L, 2, 1);
    const char *word = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    int type = 0;
    while (type < STN_EQUALITY_COUNT && strcmp(word, stn_equality_type_name((stn_equality_type)type)) != 0) {
        type++;
    }
    if (type == STN_EQUALITY_COUNT) {
        stn_lua_fail(L, "%s: the first entry must be \"weld\", \"ball\", \"distance\" or \"gear\", got %s", owner_name,
                     luaL_tolstring(L, -1, NULL));
    }
    lua_pop(L, 1);
    return (stn_equality_type)type;
}

/// The one link under `key`; the world when it may be missing and is, or is called "world" as in lists of contacts.
static int32_t read_link(const stn_fields *f, stn_lua_world *w, const char *key, bool needed) {
    if (!stn_fields_push(f, key)) {
        if (needed) {
            stn_lua_fail(f->L, "%s: %s is missing: a group of one link, { group, \"link\" }, \"group/link\" or a link",
                         f->owner, key);
        }
        return STN_WORLD;
    }
    if (!needed && lua_type(f->L, -1) == LUA_TSTRING && strcmp(lua_tostring(f->L, -1), "world") == 0) {
        lua_pop(f->L, 1);
        return STN_WORLD;
    }
    stn_link_range range = stn_lua_links(f->L, -1, w, f->owner);
    if (range.count != 1) {
        stn_lua_fail(f->L, "%s: %s is a group of %d links; name one of them, as in { group, \"link\" }", f->owner, key,
                     (int)range.count);
    }
    lua_pop(f->L, 1);
    return range.start;
}

/// A joint as "group/joint" or { group, "joint" }, on top of the stack.
static int32_t read_joint(const stn_fields *f, const stn_lua_world *w) {
    lua_State *L = f->L;
    int32_t group = -1;
    int top = lua_gettop(L);
    if (lua_type(L, top) == LUA_TTABLE) {
        lua_rawgeti(L, top, 1);
        const stn_lua_object *object = stn_lua_object_test(L, -1, STN_LUA_GROUP);
        group = object != NULL && object->world == w ? object->index : -1;
        lua_rawgeti(L, top, 2);
    }
    bool named = lua_type(L, -1) == LUA_TSTRING && (group >= 0 || lua_gettop(L) == top);
    if (!named) {
        stn_lua_fail(L, "%s: name joints as { group, \"joint\" } or \"group/joint\"", f->owner);
    }
    int32_t joint = stn_lua_find_joint(L, f->owner, w, group, lua_tostring(L, -1));
    lua_settop(L, top);
    return joint;
}

static stn_equality_spec read_spec(const stn_fields *f, stn_lua_world *w, stn_equality_type type) {
    stn_equality_spec spec = stn_equality_spec_default(type, STN_WORLD, STN_WORLD);
    spec.name = stn_fields_text(f, "name");
    stn_fields_stiffness(f, "stiffness", "N/m", &spec.stiffness);
    stn_fields_at_least(f, "relaxation_time", "s", 0.0, &spec.relaxation_time);
    if (type == STN_EQUALITY_GEAR) {
        lua_State *L = f->L;
        int32_t *const ends[] = {&spec.a, &spec.b};
        bool given = stn_fields_push(f, "joints");
        if (!given || lua_type(L, -1) != LUA_TTABLE || lua_rawlen(L, -1) != 2) {
            stn_lua_fail(L, "%s: joints must be a list of two, as in { { arm, \"lift\" }, { arm, \"tilt\" } }",
                         f->owner);
        }
        int list = lua_gettop(L);
        for (int i = 0; i < 2; i++) {
            lua_rawgeti(L, list, i + 1);
            *ends[i] = read_joint(f, w);
            lua_settop(L, list);
        }
        lua_pop(L, 1);
        stn_fields_real(f, "ratio", "", &spec.ratio);
        stn_fields_real(f, "offset", "rad or m", &spec.offset);
        return spec;
    }
    spec.a = read_link(f, w, "a", true);
    spec.b = read_link(f, w, "b", false);
    if (type == STN_EQUALITY_WELD) {
        stn_fields_pose(f, "a_pose", &spec.pose_a);
        stn_fields_pose(f, "b_pose", &spec.pose_b);
        stn_fields_stiffness(f, "angular_stiffness", "N m/rad", &spec.angular_stiffness);
        return spec;
    }
    stn_fields_vector(f, "a_point", "m", &spec.pose_a.position);
    stn_fields_vector(f, "b_point", "m", &spec.pose_b.position);
    if (type == STN_EQUALITY_DISTANCE && !stn_fields_real(f, "length", "m", &spec.length)) {
        stn_lua_fail(f->L, "%s: length is missing", f->owner);
    }
    return spec;
}

static int constraint_new(lua_State *L) {
    stn_lua_world *w = stn_lua_world_check(L, 1);
    stn_equality_type type = read_type(L);
    stn_fields f = stn_fields_open(L, 2, owner_name, keys_of[type], 1);
    stn_model_builder *builder = stn_lua_world_builder(L, w, owner_name);
    stn_equality_spec spec = read_spec(&f, w, type);
    stn_lua_position(L);
    spec.where = lua_tostring(L, -1);
    int32_t equality = -1;
    stn_error err = {0};
    stn_lua_check(L, stn_builder_add_equality(builder, &spec, &equality, &err), &err);
    stn_lua_object_new(L, 1, STN_LUA_CONSTRAINT, equality);
    return 1;
}

/// All of them, those of files too, in the order in which they were added.
static int constraint_list(lua_State *L) {
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    int32_t count = stn_world_model(w->world)->equality_count;
    lua_createtable(L, count, 0);
    for (int32_t i = 0; i < count; i++) {
        stn_lua_object_new(L, 1, STN_LUA_CONSTRAINT, i);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

// -------------------------------------------------------------------------------------------------------- in a run

static const stn_equality *equality_of(const stn_lua_object *o) {
    return &stn_world_model(o->world->world)->equalities[o->index];
}

static stn_vec3 vector_of(const double *x) {
    return stn_vec3_make(x[0], x[1], x[2]);
}

/// A weld's distance [m] and angle [rad], a ball's distance; signed numbers of a distance and a gear.
static int constraint_error(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_CONSTRAINT);
    double error[STN_EQUALITY_MAX_ROWS];
    int32_t rows = stn_world_equality_error(o->world->world, o->index, error);
    lua_pushnumber(L, rows == 1 ? error[0] : stn_vec3_norm(vector_of(error)));
    if (rows == 6) {
        lua_pushnumber(L, stn_vec3_norm(vector_of(error + 3)));
    }
    return rows == 6 ? 2 : 1;
}

static int constraint_impulse(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_CONSTRAINT);
    double impulse[STN_EQUALITY_MAX_ROWS];
    int32_t rows = stn_world_equality_impulse(o->world->world, o->index, impulse);
    if (rows == 1) {
        lua_pushnumber(L, impulse[0]);
        return 1;
    }
    for (int32_t r = 0; r < rows; r += 3) {
        stn_lua_push_vector(L, vector_of(impulse + r));
    }
    return rows / 3;
}

static const char *const constraint_properties[] = {"name", "type", NULL};

static bool get_constraint(lua_State *L, void *self, const char *name) {
    (void)self;
    bool is_name = strcmp(name, "name") == 0;
    if (!is_name && strcmp(name, "type") != 0) {
        return false;
    }
    const stn_equality *e = equality_of(stn_lua_object_check(L, 1, STN_LUA_CONSTRAINT));
    lua_pushstring(L, is_name ? e->name : stn_equality_type_name(e->type));
    return true;
}

static int constraint_text(lua_State *L) {
    const stn_lua_object *o = luaL_checkudata(L, 1, STN_LUA_CONSTRAINT);
    if (o->world->world == NULL || !o->world->compiled) {
        lua_pushliteral(L, "constraint");
    } else {
        lua_pushfstring(L, "%s '%s'", stn_equality_type_name(equality_of(o)->type), equality_of(o)->name);
    }
    return 1;
}

const luaL_Reg stn_lua_constraint_methods[] = {
    {"constraint", constraint_new}, {"constraints", constraint_list}, {NULL, NULL}};

void stn_lua_open_constraint(lua_State *L) {
    static const luaL_Reg methods[] = {{"error", constraint_error}, {"impulse", constraint_impulse}, {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__tostring", constraint_text}, {"__eq", stn_lua_object_equal}, {NULL, NULL}};
    stn_lua_class(L, STN_LUA_CONSTRAINT, methods, meta, get_constraint, constraint_properties);
}
