// SPDX-License-Identifier: Apache-2.0
// Describing a world: robot files and what loaders find in them; ground, height fields, bodies of one or several
// shapes; and constraints.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bind.h"

// --------------------------------------------------------------------------------------------------------- robot files

/// A list of texts under `key`, NULL-terminated, in memory on Lua's stack; NULL when absent.
static const char *const *read_texts(const stn_fields *f, const char *key) {
    lua_State *L = f->L;
    if (!stn_fields_push(f, key)) {
        return NULL;
    }
    int list = lua_gettop(L);
    size_t count = lua_type(L, list) == LUA_TTABLE ? lua_rawlen(L, list) : 0;
    lua_pushnil(L);
    if (lua_type(L, list) != LUA_TTABLE || (count == 0 && lua_next(L, list) != 0)) {
        stn_lua_fail(L, "%s: %s must be a list of folders, as in { \"models\", \"name=folder\" }", f->owner, key);
    }
    lua_settop(L, list);
    const char **texts = lua_newuserdatauv(L, (count + 1) * sizeof *texts, 0);
    for (size_t i = 0; i < count; i++) {
        if (lua_rawgeti(L, list, (lua_Integer)i + 1) != LUA_TSTRING) {
            stn_lua_fail(L, "%s: %s[%zu] must be a folder's name", f->owner, key, i + 1);
        }
        texts[i] = lua_tostring(L, -1); // the list keeps it alive
        lua_pop(L, 1);
    }
    texts[count] = NULL;
    return texts;
}

static void read_request(const stn_fields *f, stn_load_request *request) {
    request->package_paths = read_texts(f, "packages");
    stn_fields_boolean(f, "allow_absolute", &request->allow_absolute);
    stn_fields_boolean(f, "visual_meshes", &request->visual_meshes);
    request->loader = stn_fields_plugin(f, "loader");
    stn_lua_override(f->L, STN_KIND_LOADER, &request->loader);
}

/// Of a table that names a robot file: the file's name, pushed; and the keys packages, allow_absolute, visual_meshes,
/// loader.
static const char *file_entry(const stn_fields *f) {
    lua_rawgeti(f->L, f->table, 1);
    if (lua_type(f->L, -1) != LUA_TSTRING) {
        stn_lua_fail(f->L, "%s: the first entry must be a file's name, as in %s { \"arm.urdf\" }", f->owner, f->owner);
    }
    return lua_tostring(f->L, -1);
}

static void clear(void *object) {
    stn_diagnostics *list = object;
    if (list->context != NULL) {
        stn_diagnostics_clear(list);
    }
}

/// Pushes an empty list of findings, released by Lua.
static stn_diagnostics *push_findings(lua_State *L, stn_context *context) {
    stn_diagnostics *list = stn_lua_own(L, sizeof *list, clear);
    stn_diagnostics_init(list, context);
    return list;
}

/// Warnings go to the log when the state loads the file for the first time.
static void log_findings(lua_State *L, const char *path, const stn_diagnostics *list) {
    if (!stn_lua_first_time(L, path)) {
        return;
    }
    for (int32_t i = 0; i < list->count; i++) {
        const stn_diagnostic *d = &list->items[i];
        if (d->severity == STN_SEVERITY_WARNING) {
            stn_log(list->context, STN_LOG_WARNING, "%s:%d: %s: %s", d->file, d->line, d->where, d->text);
        }
    }
}

/// Pushes a list of { severity =, code =, file =, line =, where =, text = }.
static void push_list(lua_State *L, const stn_diagnostics *list) {
    static const char *const severities[] = {"note", "warning", "error"};
    lua_createtable(L, list->count, 0);
    for (int32_t i = 0; i < list->count; i++) {
        const stn_diagnostic *d = &list->items[i];
        const struct {
            const char *name, *text;
        } texts[] = {{"severity", severities[d->severity]},
                     {"code", d->code},
                     {"file", d->file},
                     {"where", d->where},
                     {"text", d->text}};
        lua_createtable(L, 0, STN_COUNT(texts) + 1);
        for (int32_t k = 0; k < STN_COUNT(texts); k++) {
            lua_pushstring(L, texts[k].text);
            lua_setfield(L, -2, texts[k].name);
        }
        lua_pushinteger(L, d->line);
        lua_setfield(L, -2, "line");
        lua_rawseti(L, -2, i + 1);
    }
}

/// Findings of the load that made the group; none for a body of the script. A new list at every call: it may be
/// changed.
static int group_diagnostics(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_open(L, 1, STN_LUA_GROUP);
    lua_getiuservalue(L, 1, 1);
    lua_getiuservalue(L, -1, 3);
    lua_newtable(L);
    int list = lua_gettop(L);
    if (lua_rawgeti(L, list - 1, o->index) != LUA_TTABLE) {
        lua_settop(L, list);
        return 1;
    }
    lua_Integer count = (lua_Integer)lua_rawlen(L, -1);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_newtable(L);
        lua_rawgeti(L, list + 1, i);
        for (lua_pushnil(L); lua_next(L, -2) != 0;) {
            lua_pushvalue(L, -2);
            lua_insert(L, -2);
            lua_settable(L, -5);
        }
        lua_pop(L, 1);
        lua_rawseti(L, list, i);
    }
    lua_settop(L, list);
    return 1;
}

/// group:save("file.sdf", { format =, name = }): writes the robot file; what the format cannot hold, as a list.
static int group_save(lua_State *L) {
    static const char *const keys[] = {"format", "name", NULL};
    lua_settop(L, 3);
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_GROUP);
    if (lua_type(L, 2) != LUA_TSTRING) {
        stn_lua_fail(L, "group:save takes a file's name, as in arm:save \"arm.sdf\", got %s", luaL_typename(L, 2));
    }
    if (lua_isnil(L, 3)) {
        lua_newtable(L);
        lua_replace(L, 3);
    }
    stn_fields f = stn_fields_open(L, 3, "group:save", keys, 0);
    stn_save_request request = {.model = stn_world_model(o->world->world),
                                .group = o->index,
                                .name = stn_fields_text(&f, "name"),
                                .path = lua_tostring(L, 2)};
    const char *format = stn_fields_text(&f, "format");
    stn_diagnostics *list = push_findings(L, o->world->session->context);
    int findings = lua_gettop(L);
    stn_error err = {0};
    stn_context *context = o->world->session->context;
    stn_lua_check(L, format != NULL ? stn_plugin_load(context, STN_KIND_LOADER, format, &err) : STN_OK, &err);
    stn_lua_check(L, stn_save_robot(context, &request, format, list, &err), &err);
    push_list(L, list);
    stn_lua_release(L, findings);
    return 1;
}

const luaL_Reg stn_lua_finding_methods[] = {{"diagnostics", group_diagnostics}, {"save", group_save}, {NULL, NULL}};

// ------------------------------------------------------------------------------------------------ without a world

static void destroy_builder(void *object) {
    stn_builder_destroy(*(stn_model_builder **)object);
}

/// stn.check_robot "file" or { "file", packages = ... }: everything worth saying about the file, as a list.
static int check_robot(lua_State *L) {
    static const char *const keys[] = {"packages", "allow_absolute", "visual_meshes", "loader", NULL};
    stn_context *context = stn_lua_session(L)->context;
    if (lua_type(L, 1) == LUA_TSTRING) {
        lua_createtable(L, 1, 0);
        lua_insert(L, 1);
        lua_rawseti(L, 1, 1);
    }
    stn_fields f = stn_fields_open(L, 1, "stn.check_robot", keys, 1);
    stn_load_request request = {0};
    read_request(&f, &request);
    const char *name = file_entry(&f), *tried = NULL;
    stn_diagnostics *list = push_findings(L, context);
    int findings = lua_gettop(L);
    stn_model_builder **builder = stn_lua_own(L, sizeof(stn_model_builder *), destroy_builder);
    int owned = lua_gettop(L);
    stn_error err = {0};
    stn_lua_check(L, stn_builder_create(context, builder, &err), &err);
    request.path = stn_lua_search_file(L, name, &tried);
    if (request.path == NULL) {
        stn_diagnostics_add(list, STN_SEVERITY_ERROR, "file", name, 0, "", "no such file (tried %s)", tried);
    } else {
        int32_t group = -1;
        stn_model *model = NULL;
        const char *code = "file";
        stn_status status = stn_load_robot(context, &request, *builder, &group, list, &err);
        if (status >= 0) {
            code = "model";
            status = stn_model_compile(*builder, &model, &err);
            stn_model_destroy(model);
        }
        if (status < 0 && list->error_count == 0) { // what no finding tells becomes one
            stn_diagnostics_add(list, STN_SEVERITY_ERROR, code, request.path, 0, "", "%s", err.text);
        }
    }
    push_list(L, list);
    stn_lua_release(L, owned);
    stn_lua_release(L, findings);
    return 1;
}

const luaL_Reg stn_lua_finding_functions[] = {{"check_robot", check_robot}, {NULL, NULL}};

// ---------------------------------------------------------------------------------------------------------- world:load

/// What the table says besides the file.
typedef struct load_options {
    stn_load_request request;
    stn_pose base;
    bool placed, fixed, fixed_given, has_material, velocity_limits;
    double mass_factor;
    stn_lua_surface surface;
} load_options;

static load_options read_options(const stn_fields *f) {
    lua_State *L = f->L;
    load_options o = {.base = stn_pose_identity(), .mass_factor = 1.0};
    o.request.path = stn_lua_find_file(L, f->owner, file_entry(f));
    o.request.robot_name = stn_fields_text(f, "name");
    read_request(f, &o.request);
    o.placed = stn_fields_pose(f, "base", &o.base);
    o.fixed_given = stn_fields_boolean(f, "fixed", &o.fixed);
    stn_fields_boolean(f, "velocity_limits", &o.velocity_limits);
    stn_fields_above_zero(f, "mass_factor", "1", &o.mass_factor);
    static const char *const keys[] = {STN_SURFACE_KEYS, NULL};
    for (int i = 0; keys[i] != NULL && !o.has_material; i++) {
        o.has_material = stn_fields_push(f, keys[i]);
        lua_pop(L, o.has_material ? 1 : 0);
    }
    stn_fields_surface(f, &o.surface);
    return o;
}

/// What the table says over the file.
static stn_status change_group(stn_model_builder *builder, int32_t group, const load_options *o, stn_error *err) {
    stn_status status = STN_OK;
    if (o->placed || o->fixed_given) { // what is not given is as the file says
        stn_pose base;
        bool fixed = false;
        stn_builder_get_base(builder, group, &base, &fixed);
        status =
            stn_builder_set_base(builder, group, o->placed ? &o->base : &base, o->fixed_given ? o->fixed : fixed, err);
    }
    if (status >= 0 && o->velocity_limits) {
        status = stn_builder_set_velocity_limits(builder, group, true, err);
    }
    if (status >= 0 && o->mass_factor != 1.0) {
        status = stn_builder_scale_mass(builder, group, o->mass_factor, err);
    }
    if (status >= 0 && o->has_material) {
        status = stn_builder_set_material(builder, group, &o->surface.material, err);
    }
    return status >= 0 ? stn_builder_set_field(builder, group, &o->surface.field, err) : status;
}

static int world_load(lua_State *L) {
    static const char *const keys[] = {"name",        "base",           "fixed",         "joints", "keyframe",
                                       "packages",    "allow_absolute", "visual_meshes", "loader", "velocity_limits",
                                       "mass_factor", STN_SURFACE_KEYS, STN_FIELD_KEYS,  NULL};
    stn_lua_world *w = stn_lua_world_check(L, 1);
    stn_fields f = stn_fields_open(L, 2, "world:load", keys, 1);
    stn_model_builder *builder = stn_lua_world_builder(L, w, f.owner);
    load_options o = read_options(&f);
    stn_fields_warn_unread(&f, w->world, &o.surface.asked);
    stn_fields_warn_field(&f, w->world, &o.surface.field);
    int32_t group = -1;
    stn_error err = {0};
    stn_diagnostics *list = push_findings(L, w->session->context);
    int findings = lua_gettop(L);
    stn_status status = stn_load_robot(w->session->context, &o.request, builder, &group, list, &err);
    if (status >= 0) {
        status = change_group(builder, group, &o, &err);
        if (status < 0) {
            stn_builder_discard(builder, group);
        }
    }
    log_findings(L, o.request.path, list);
    if (status < 0) {
        stn_lua_release(L, findings);
        stn_lua_fail(L, "world:load: %s", err.text);
    }
    // Keeps them as those of a group.
    lua_getiuservalue(L, 1, 3);
    push_list(L, list);
    lua_rawseti(L, -2, group);
    lua_pop(L, 1);
    stn_lua_release(L, findings);
    stn_lua_take_name(L, 1, stn_builder_group_name(builder, group));
    const char *keyframe = stn_fields_text(&f, "keyframe");
    if (keyframe != NULL) {
        lua_createtable(L, 2, 0);
        lua_pushstring(L, keyframe);
        lua_rawseti(L, -2, 1);
        lua_pushboolean(L, o.placed);
        lua_rawseti(L, -2, 2);
        stn_lua_note_start(L, 1, group, "keyframe");
    }
    if (stn_fields_push(&f, "joints")) { // on top of the keyframe
        luaL_checktype(L, -1, LUA_TTABLE);
        stn_lua_note_start(L, 1, group, "joints");
    }
    stn_lua_object_new(L, 1, STN_LUA_GROUP, group);
    return 1;
}

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
    {"load", world_load},
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

// world:constraint { "weld", ... }: any plugin of kind constraint, and what it does in a run.

static const char owner_name[] = "world:constraint";

// ----------------------------------------------------------------------------------------------------- describing

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

// What a constraint takes hold of: a and b, or a list of points of a path, or joints, or links; any_of in place of b:
// several links.
static const char *const end_keys[] = {"name",   "a",    "b",      "a_point", "b_point", "a_pose",
                                       "b_pose", "path", "joints", "any_of",  "links",   NULL};

/// The list under `key`: its length, and on top of the stack the list; -1: absent.
static lua_Integer push_list_of(const stn_fields *f, const char *key, const char *example) {
    if (!stn_fields_push(f, key)) {
        return -1;
    }
    if (lua_type(f->L, -1) != LUA_TTABLE || lua_rawlen(f->L, -1) == 0) {
        stn_lua_fail(f->L, "%s: %s must be a list, as in %s", f->owner, key, example);
    }
    return (lua_Integer)lua_rawlen(f->L, -1);
}

/// What the table at `entry` says of a sphere or cylinder of a path.
static void read_path_shape(const stn_fields *f, int entry, const char *word, stn_constraint_end_spec *end) {
    static const char *const keys[] = {"radius", "side", STN_POSE_KEYS, "pose", NULL};
    bool cylinder = strcmp(word, "cylinder") == 0;
    if (!cylinder && strcmp(word, "sphere") != 0) {
        stn_lua_fail(f->L, "%s: '%s' is no shape that a path goes round; \"cylinder\" or \"sphere\"", f->owner, word);
    }
    const stn_fields shape = stn_fields_open(f->L, entry, f->owner, keys, 2);
    end->shape = cylinder ? STN_END_CYLINDER : STN_END_SPHERE;
    if (!stn_fields_above_zero(&shape, "radius", "m", &end->radius)) {
        stn_lua_fail(f->L, "%s: radius of the %s in path is missing", f->owner, word);
    }
    stn_fields_vector(&shape, "side", "m", &end->side);
    stn_fields_body_pose(&shape, &end->pose);
}

/// Entry { link, { x, y, z } } or { link, "cylinder" | "sphere", radius = ... } of a path, on top of the stack.
static void read_path_entry(const stn_fields *f, stn_lua_world *w, stn_constraint_end_spec *end) {
    lua_State *L = f->L;
    int entry = lua_gettop(L);
    if (lua_type(L, entry) != LUA_TTABLE || lua_rawlen(L, entry) != 2) {
        stn_lua_fail(L, "%s: an entry of path is { link, { x, y, z } } or { link, \"cylinder\", radius = number }",
                     f->owner);
    }
    lua_rawgeti(L, entry, 1);
    if (lua_type(L, -1) != LUA_TSTRING || strcmp(lua_tostring(L, -1), "world") != 0) {
        stn_link_range range = stn_lua_links(L, -1, w, f->owner);
        if (range.count != 1) {
            stn_lua_fail(L, "%s: a point of path names a group of %d links; name one of them", f->owner,
                         (int)range.count);
        }
        end->link = range.start;
    }
    lua_rawgeti(L, entry, 2);
    if (lua_type(L, -1) == LUA_TSTRING) {
        read_path_shape(f, entry, lua_tostring(L, -1), end);
    } else {
        static const char *const keys[] = {NULL};
        (void)stn_fields_open(L, entry, f->owner, keys, 2);
        end->pose.position = stn_lua_vector(L, -1, f->owner, "m");
    }
    lua_settop(L, entry);
}

/// Entry { group, "joint", factor } or { "group/joint", factor } of joints, on top of the stack; without a factor it
/// may be a text alone.
static void read_joint_end(const stn_fields *f, stn_lua_world *w, stn_constraint_end_spec *end) {
    lua_State *L = f->L;
    int entry = lua_gettop(L);
    lua_Integer length = lua_type(L, entry) == LUA_TTABLE ? (lua_Integer)lua_rawlen(L, entry) : 0;
    bool alone = lua_type(L, entry) == LUA_TSTRING;
    if (length > 1) {
        lua_rawgeti(L, entry, length);
        bool factor = length > 2 || lua_type(L, -1) == LUA_TNUMBER;
        end->factor = factor ? stn_lua_real(L, -1, f->owner, "m") : end->factor;
        lua_settop(L, entry);
        if (length == 2 && factor) {
            lua_rawgeti(L, entry, 1);
        }
    }
    if (!alone && length != 2 && length != 3) {
        stn_lua_fail(L, "%s: a joint is { group, \"joint\", factor } or { \"group/joint\", factor }", f->owner);
    }
    end->joint = read_joint(f, w);
    lua_settop(L, entry);
}

/// Entry `i` of links, which is the list on top of the stack: a link, a group with all of its links, or the world.
static stn_link_range read_links_entry(const stn_fields *f, stn_lua_world *w, lua_Integer i) {
    lua_State *L = f->L;
    lua_rawgeti(L, -1, i);
    stn_link_range range = {STN_WORLD, 1};
    if (lua_type(L, -1) != LUA_TSTRING || strcmp(lua_tostring(L, -1), "world") != 0) {
        range = stn_lua_links(L, -1, w, f->owner);
    }
    lua_pop(L, 1);
    return range;
}

static stn_constraint_end_spec end_on(int32_t link) {
    return (stn_constraint_end_spec){.link = link, .pose = stn_pose_identity(), .joint = -1, .factor = 1.0};
}

/// The ends of `links`, which is the list on top of the stack, in memory on Lua's stack.
static const stn_constraint_end_spec *read_links(const stn_fields *f, stn_lua_world *w, lua_Integer entries,
                                                 int32_t *count) {
    *count = 0;
    for (lua_Integer i = 1; i <= entries; i++) {
        *count += read_links_entry(f, w, i).count;
    }
    int list = lua_gettop(f->L);
    stn_constraint_end_spec *ends = lua_newuserdatauv(f->L, (size_t)*count * sizeof *ends, 0);
    lua_pushvalue(f->L, list);
    for (lua_Integer i = 1, at = 0; i <= entries; i++) {
        stn_link_range range = read_links_entry(f, w, i);
        for (int32_t k = 0; k < range.count; k++) {
            ends[at++] = end_on(range.start + k);
        }
    }
    lua_pop(f->L, 1);
    return ends;
}

/// Refuses the first of the keys that stands beside `used`.
static void refuse_beside(const stn_fields *f, const char *used, const char *const *keys) {
    for (; *keys != NULL; keys++) {
        if (stn_fields_push(f, *keys)) {
            stn_lua_fail(f->L, "%s: %s and %s are two ways to say what it takes hold of; give one of them", f->owner,
                         used, *keys);
        }
    }
}

/// The pose of one of two ends, of its origin or of a point.
static void read_end_pose(const stn_fields *f, const char *pose, const char *point, stn_pose *out) {
    if (stn_fields_pose(f, pose, out) && stn_fields_vector(f, point, "m", &out->position)) {
        stn_lua_fail(f->L, "%s: %s and %s both say where it is; give one of them", f->owner, point, pose);
    }
    stn_fields_vector(f, point, "m", &out->position);
}

/// a, which may be "world".
static stn_constraint_end_spec read_first_end(const stn_fields *f, stn_lua_world *w) {
    lua_State *L = f->L;
    stn_constraint_end_spec end = end_on(STN_WORLD);
    bool world = stn_fields_push(f, "a") && lua_type(L, -1) == LUA_TSTRING && strcmp(lua_tostring(L, -1), "world") == 0;
    end.link = read_link(f, w, "a", !world);
    read_end_pose(f, "a_pose", "a_point", &end.pose);
    return end;
}

/// a and those of any_of, which is the list on top of the stack.
static const stn_constraint_end_spec *read_any_of(const stn_fields *f, stn_lua_world *w, lua_Integer entries,
                                                  int32_t *count) {
    const stn_constraint_end_spec *others = read_links(f, w, entries, count);
    stn_constraint_end_spec *ends = lua_newuserdatauv(f->L, (size_t)(*count + 1) * sizeof *ends, 0);
    memcpy(ends + 1, others, (size_t)*count * sizeof *ends);
    (*count)++;
    int top = lua_gettop(f->L);
    ends[0] = read_first_end(f, w);
    lua_settop(f->L, top);
    return ends;
}

/// The ends, in memory on Lua's stack.
static const stn_constraint_end_spec *read_ends(const stn_fields *f, stn_lua_world *w, int32_t *count) {
    static const char *const ways[] = {"path",   "joints", "any_of",  "a",      "a_point",
                                       "a_pose", "b",      "b_point", "b_pose", NULL};
    lua_State *L = f->L;
    lua_Integer links = push_list_of(f, "links", "{ ball, { robot, \"foot\" } }");
    if (links > 0) { // the list is on top of the stack
        refuse_beside(f, "links", ways);
        return read_links(f, w, links, count);
    }
    lua_Integer points = push_list_of(f, "path", "{ { arm, { 0, 0, 0.1 } }, { box, { 0, 0, 0 } } }");
    int path = lua_gettop(L);
    lua_Integer joints = push_list_of(f, "joints", "{ { hand, \"finger_1\", 0.01 }, { hand, \"finger_2\", 0.008 } }");
    int list = lua_gettop(L);
    bool pair = points < 0 && joints < 0;
    if (!pair) {
        refuse_beside(f, points > 0 ? "path" : "joints", ways + 2);
    }
    lua_Integer others = push_list_of(f, "any_of", "{ box, ball }");
    if (others > 0) {
        refuse_beside(f, "any_of", ways + 6);
        return read_any_of(f, w, others, count);
    }
    if (pair && !stn_fields_push(f, "a") && !stn_fields_push(f, "b")) {
        stn_lua_fail(L, "%s: what it takes hold of is missing; give a and b, or links, or path or joints", f->owner);
    }
    *count = pair ? 2 : (int32_t)((points > 0 ? points : 0) + (joints > 0 ? joints : 0));
    stn_constraint_end_spec *ends = lua_newuserdatauv(L, (size_t)*count * sizeof *ends, 0);
    int32_t at = 0;
    for (int32_t i = 0; i < *count; i++) {
        ends[i] = end_on(STN_WORLD);
    }
    if (pair) {
        ends[0] = read_first_end(f, w);
        ends[1].link = read_link(f, w, "b", false);
        read_end_pose(f, "b_pose", "b_point", &ends[1].pose);
        return ends;
    }
    char owner[96];
    stn_fields entry = *f;
    entry.owner = owner;
    for (lua_Integer i = 1; i <= points; i++, lua_pop(L, 1)) {
        snprintf(owner, sizeof owner, "%s: path[%lld]", f->owner, (long long)i);
        lua_rawgeti(L, path, i);
        read_path_entry(&entry, w, &ends[at++]);
    }
    for (lua_Integer i = 1; i <= joints; i++, lua_pop(L, 1)) {
        snprintf(owner, sizeof owner, "%s: joints[%lld]", f->owner, (long long)i);
        lua_rawgeti(L, list, i);
        read_joint_end(&entry, w, &ends[at++]);
    }
    return ends;
}

static int constraint_new(lua_State *L) {
    stn_lua_world *w = stn_lua_world_check(L, 1);
    stn_fields f = stn_fields_open(L, 2, owner_name, NULL, 1);
    stn_model_builder *builder = stn_lua_world_builder(L, w, owner_name);
    stn_constraint_spec spec = {.name = stn_fields_text(&f, "name")};
    stn_plugin_choice choice = stn_lua_plugin(L, 2, STN_KIND_CONSTRAINT, owner_name, end_keys);
    spec.ends = read_ends(&f, w, &spec.end_count);
    stn_lua_position(L);
    spec.where = lua_tostring(L, -1);
    stn_instance *instance = NULL;
    stn_error err = {0};
    stn_lua_check(L,
                  stn_instance_create(w->session->context, STN_KIND_CONSTRAINT, choice.id, choice.settings,
                                      choice.setting_count, &instance, &err),
                  &err);
    int32_t constraint = -1;
    stn_lua_check(L, stn_builder_add_constraint(builder, instance, &spec, &constraint, &err), &err);
    stn_lua_object_new(L, 1, STN_LUA_CONSTRAINT, constraint);
    return 1;
}

/// All of them, those of files too, in the order in which they were added.
static int constraint_list(lua_State *L) {
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    int32_t count = stn_world_model(w->world)->constraint_count;
    lua_createtable(L, count, 0);
    for (int32_t i = 0; i < count; i++) {
        stn_lua_object_new(L, 1, STN_LUA_CONSTRAINT, i);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

// -------------------------------------------------------------------------------------------------------- in a run

static const stn_model_constraint *described(const stn_lua_object *o) {
    return &stn_world_model(o->world->world)->constraints[o->index];
}

enum { FEW = 2 }; // blocks that most have

/// What it emits at the present state: in `few`, or in memory on Lua's stack where there is more.
static const stn_row_block *blocks_of(lua_State *L, const stn_lua_object *o, stn_row_block few[FEW], int32_t *count) {
    stn_error err = {0};
    stn_row_block *blocks = few;
    *count = stn_world_constraint_blocks(o->world->world, o->index, blocks, FEW, &err);
    if (*count > FEW) {
        blocks = lua_newuserdatauv(L, (size_t)*count * sizeof *blocks, 0);
        *count = stn_world_constraint_blocks(o->world->world, o->index, blocks, *count, &err);
    }
    stn_lua_check(L, *count < 0 ? err.status : STN_OK, &err);
    luaL_checkstack(L, *count > 0 ? *count : 1, NULL);
    return blocks;
}

/// How far from holding, a number a block: a weld's distance [m] and angle [rad], a ball's distance; signed where a
/// block is one row (distance, gear).
static int constraint_error(lua_State *L) {
    int32_t count = 0;
    stn_row_block few[FEW];
    const stn_row_block *blocks = blocks_of(L, stn_lua_object_check(L, 1, STN_LUA_CONSTRAINT), few, &count);
    for (int32_t k = 0; k < count; k++) {
        const double *phi = blocks[k].phi;
        double square = 0.0;
        for (int32_t r = 0; r < blocks[k].rows; r++) {
            square += phi[r] * phi[r];
        }
        lua_pushnumber(L, blocks[k].rows == 1 ? phi[0] : sqrt(square));
    }
    return count;
}

/// Impulse of the last step, a number or list a block, as it acts on b.
static int constraint_impulse(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_CONSTRAINT);
    int32_t count = 0;
    stn_row_block few[FEW];
    const stn_row_block *blocks = blocks_of(L, o, few, &count);
    for (int32_t k = 0; k < count; k++) {
        double impulse[STN_MAX_ROWS];
        (void)stn_world_constraint_impulse(o->world->world, o->index, blocks[k].part, impulse);
        if (blocks[k].rows == 1) {
            lua_pushnumber(L, impulse[0]);
        } else {
            stn_lua_push_reals(L, impulse, blocks[k].rows);
        }
    }
    return count;
}

/// constraint:force([part]): of each row of a block in the last step; nothing where it was not there.
static int constraint_force(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_CONSTRAINT);
    double force[STN_MAX_ROWS];
    int32_t part = (int32_t)luaL_optinteger(L, 2, 0);
    int32_t rows = stn_world_constraint_force(o->world->world, o->index, part, force);
    for (int32_t r = 0; r < rows; r++) {
        lua_pushnumber(L, force[r]);
    }
    return rows;
}

/// Does it carry nothing, because it only pulls or only pushes, or because it emitted no rows?
static int constraint_slack(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_CONSTRAINT);
    const stn_observation *seen = stn_world_observation(o->world->world);
    stn_constraint_report block = {.slack = true};
    bool slack = seen->problem != NULL;
    for (int32_t k = 0; slack && stn_observation_constraint(seen, o->index, k, &block); k++) {
        slack = block.slack;
    }
    lua_pushboolean(L, slack);
    return 1;
}

/// Its line where the world stands now, in memory of Lua.
static stn_constraint_path path_of(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_CONSTRAINT);
    stn_world *world = o->world->world;
    (void)stn_world_kinematics(world); // up to date
    stn_constraint_path path = {.room = 0};
    stn_observation_constraint_path(stn_world_observation(world), o->index, &path);
    path.room = path.count;
    path.points = lua_newuserdatauv(L, (size_t)path.room * sizeof *path.points + 1, 0);
    stn_observation_constraint_path(stn_world_observation(world), o->index, &path);
    return path;
}

static int constraint_path(lua_State *L) {
    const stn_constraint_path path = path_of(L);
    lua_createtable(L, path.count, 0);
    for (int32_t i = 0; i < path.count; i++) {
        stn_lua_push_vector(L, path.points[i]);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static int constraint_length(lua_State *L) {
    const stn_constraint_path path = path_of(L);
    if (isnan(path.length)) {
        return 0;
    }
    lua_pushnumber(L, path.length);
    return 1;
}

/// constraint:set { channel = number or list }.
static int constraint_set(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_CONSTRAINT);
    luaL_checktype(L, 2, LUA_TTABLE);
    for (lua_pushnil(L); lua_next(L, 2) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING) {
            stn_lua_fail(L, "constraint:set takes { channel = value }");
        }
        const char *name = lua_tostring(L, -2);
        bool list = lua_type(L, -1) == LUA_TTABLE;
        int value = lua_gettop(L);
        lua_Integer count = list ? (lua_Integer)lua_rawlen(L, value) : 1;
        double *values = lua_newuserdatauv(L, (size_t)(count > 0 ? count : 1) * sizeof *values, 0);
        for (lua_Integer i = 0; i < count; i++) {
            if (list) {
                lua_rawgeti(L, value, i + 1);
            } else {
                lua_pushvalue(L, value);
            }
            values[i] = stn_lua_real(L, -1, name, "as the plugin says");
            lua_pop(L, 1);
        }
        stn_error err = {0};
        stn_lua_check(L, stn_world_set_constraint(o->world->world, o->index, name, values, (int32_t)count, &err), &err);
        lua_settop(L, value);
    }
    return 0;
}

/// Reads a channel or an output, raises when there is none.
static stn_constraint_value value_of(lua_State *L, const stn_lua_object *o, const char *name) {
    stn_constraint_value value = {0};
    stn_error err = {0};
    stn_lua_check(L, stn_world_get_constraint(o->world->world, o->index, name, &value, &err), &err);
    return value;
}

/// Pushes the word for a number, or the number where it has none.
static void push_value(lua_State *L, const stn_constraint_value *value, int32_t i) {
    for (int32_t k = 0; value->words != NULL && value->words[k] != NULL; k++) {
        if (value->values[i] == k) {
            lua_pushstring(L, value->words[k]);
            return;
        }
    }
    lua_pushnumber(L, value->values[i]);
}

/// constraint:get(name): a channel, or what the plugin tells: number, word or list.
static int constraint_get(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_CONSTRAINT);
    const stn_constraint_value value = value_of(L, o, luaL_checkstring(L, 2));
    if (value.count == 1) {
        push_value(L, &value, 0);
        return 1;
    }
    lua_createtable(L, value.count, 0);
    for (int32_t i = 0; i < value.count; i++) {
        push_value(L, &value, i);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

// constraint:attach { timeout = }, constraint:release(), of plugins with a channel "attached" and an output "holding":
// any number above 0 that is new attaches, every other one lets go. In a task they wait until it is so.

static bool holds(lua_State *L, const stn_lua_object *o) {
    return value_of(L, o, "holding").values[0] > 0.0;
}

/// Sets the channel; whether it changed.
static bool tell(lua_State *L, const stn_lua_object *o, bool attach) {
    double told = value_of(L, o, "attached").values[0];
    if (attach ? told > 0.0 && holds(L, o) : !(told > 0.0)) {
        return false; // as it is
    }
    // released is the number with its sign turned, so that the next one is always another
    double value = attach ? fabs(told) + 1.0 : -told;
    stn_error err = {0};
    stn_lua_check(L, stn_world_set_constraint(o->world->world, o->index, "attached", &value, 1, &err), &err);
    return true;
}

typedef struct attaching {
    bool attach;
    double begin, timeout; // [s]
} attaching;

/// 1 the constraint, 2 what is waited for.
static int attach_on(lua_State *L, int status, lua_KContext stepped) {
    (void)status;
    lua_settop(L, 2);
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_CONSTRAINT);
    const attaching *a = lua_touserdata(L, 2);
    const char *verb = a->attach ? "attach" : "release";
    stn_lua_task *task = stn_lua_task_here(L, verb);
    if (stepped != 0 && holds(L, o) == a->attach) {
        return 0;
    }
    if (stepped != 0 && stn_lua_task_is_past(task, a->begin + a->timeout)) {
        const stn_constraint_value why = value_of(L, o, "why");
        push_value(L, &why, 0);
        stn_lua_fail(L, "%s: %s '%s' does not hold after %g s: %s", verb, described(o)->instance->desc->id,
                     described(o)->name, a->timeout, lua_tostring(L, -1));
    }
    return stn_lua_task_yield(L, task, verb, 1, attach_on);
}

static int change_hold(lua_State *L, bool attach) {
    static const char *const keys[] = {"timeout", NULL};
    lua_settop(L, 2);
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_CONSTRAINT);
    attaching a = {.attach = attach, .timeout = 1.0};
    if (!lua_isnil(L, 2)) {
        const stn_fields f = stn_fields_open(L, 2, attach ? "attach" : "release", keys, 0);
        stn_fields_at_least(&f, "timeout", "s", 0.0, &a.timeout);
    }
    bool changed = tell(L, o, attach);
    const stn_lua_task *task = stn_lua_task_running(L);
    if (task == NULL || task->world != o->world || !changed) {
        return 0;
    }
    a.begin = stn_lua_task_time(task);
    attaching *kept = lua_newuserdatauv(L, sizeof *kept, 0);
    *kept = a;
    lua_replace(L, 2);
    lua_settop(L, 2);
    return attach_on(L, LUA_OK, 0);
}

static int constraint_attach(lua_State *L) {
    return change_hold(L, true);
}

static int constraint_release(lua_State *L) {
    return change_hold(L, false);
}

static const char *const constraint_properties[] = {"name", "type", NULL};

static bool get_constraint(lua_State *L, void *self, const char *name) {
    (void)self;
    bool is_name = strcmp(name, "name") == 0;
    if (!is_name && strcmp(name, "type") != 0) {
        return false;
    }
    const stn_model_constraint *c = described(stn_lua_object_check(L, 1, STN_LUA_CONSTRAINT));
    lua_pushstring(L, is_name ? c->name : c->instance->desc->id);
    return true;
}

static int constraint_text(lua_State *L) {
    const stn_lua_object *o = luaL_checkudata(L, 1, STN_LUA_CONSTRAINT);
    if (o->world->world == NULL || !o->world->compiled) {
        lua_pushliteral(L, "constraint");
    } else {
        lua_pushfstring(L, "%s '%s'", described(o)->instance->desc->id, described(o)->name);
    }
    return 1;
}

const luaL_Reg stn_lua_constraint_methods[] = {
    {"constraint", constraint_new}, {"constraints", constraint_list}, {NULL, NULL}};

void stn_lua_open_constraint(lua_State *L) {
    static const luaL_Reg methods[] = {{"error", constraint_error},
                                       {"impulse", constraint_impulse},
                                       {"force", constraint_force},
                                       {"set", constraint_set},
                                       {"get", constraint_get},
                                       {"slack", constraint_slack},
                                       {"path", constraint_path},
                                       {"length", constraint_length},
                                       {"attach", constraint_attach},
                                       {"release", constraint_release},
                                       {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__tostring", constraint_text}, {"__eq", stn_lua_object_equal}, {NULL, NULL}};
    stn_lua_class(L, STN_LUA_CONSTRAINT, methods, meta, get_constraint, constraint_properties);
}
