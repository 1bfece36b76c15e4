// SPDX-License-Identifier: Apache-2.0
// Describing a world: robot files and what loaders find in them; ground, height fields, bodies of one or several
// shapes.
#include <math.h>
#include <stdio.h>

#include "soft.h"

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

static void clear_softs(void *object) {
    stn_soft_list_clear(object);
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
    const stn_soft_list *softs = o->request.softs;
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
    for (int32_t i = 0; i < softs->count && status >= 0; i++) {
        const int32_t cloud = softs->items[i].body.cloud;
        status = stn_builder_scale_nodes_mass(builder, cloud, o->mass_factor, err);
        if (status >= 0 && o->has_material) {
            status = stn_builder_set_nodes_material(builder, cloud, &o->surface.material, err);
        }
    }
    return status >= 0 ? stn_builder_set_field(builder, group, &o->surface.field, err) : status;
}

/// Makes the soft bodies that a file brought those of the world, with their meshes.
static void take_softs(lua_State *L, stn_soft_list *list) {
    for (int32_t i = 0; i < list->count; i++) {
        stn_soft_item *item = &list->items[i];
        stn_lua_soft_body *body = stn_lua_soft_push(L);
        body->mesh = item->mesh;
        body->parts = item->body;
        item->mesh = NULL;
        int kept = lua_gettop(L);
        stn_lua_soft_keep(L, kept, item->name);
        lua_settop(L, kept - 1);
    }
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
    stn_soft_list *softs = stn_lua_own(L, sizeof *softs, clear_softs);
    *softs = (stn_soft_list){.context = w->session->context};
    o.request.softs = softs;
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
        stn_lua_release(L, findings + 1);
        stn_lua_fail(L, "world:load: %s", err.text);
    }
    take_softs(L, softs);
    stn_lua_release(L, findings + 1);
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
