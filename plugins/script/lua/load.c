// SPDX-License-Identifier: Apache-2.0
// world:load { "file", ... }, and what loaders find in robot files.
#include "bind.h"

static void clear(void *object) {
    stn_diagnostics *list = object;
    if (list->context != NULL) {
        stn_diagnostics_clear(list);
    }
}

stn_diagnostics *stn_lua_push_findings(lua_State *L, stn_context *context) {
    stn_diagnostics *list = stn_lua_own(L, sizeof *list, clear);
    stn_diagnostics_init(list, context);
    return list;
}

void stn_lua_log_findings(lua_State *L, const char *path, const stn_diagnostics *list) {
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

void stn_lua_keep_findings(lua_State *L, int world_index, int32_t group, const stn_diagnostics *list) {
    lua_getiuservalue(L, world_index, 3);
    push_list(L, list);
    lua_rawseti(L, -2, group);
    lua_pop(L, 1);
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
    stn_diagnostics *list = stn_lua_push_findings(L, o->world->session->context);
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
    stn_lua_read_request(&f, &request);
    const char *name = stn_lua_file_entry(&f), *tried = NULL;
    stn_diagnostics *list = stn_lua_push_findings(L, context);
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

// ---------------------------------------------------------------------------------------------------------------- load

// -------------------------------------------------------------------------------------------------------------- load

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

void stn_lua_read_request(const stn_fields *f, stn_load_request *request) {
    request->package_paths = read_texts(f, "packages");
    stn_fields_boolean(f, "allow_absolute", &request->allow_absolute);
    stn_fields_boolean(f, "visual_meshes", &request->visual_meshes);
    request->loader = stn_fields_plugin(f, "loader");
    stn_lua_override(f->L, STN_KIND_LOADER, &request->loader);
}

const char *stn_lua_file_entry(const stn_fields *f) {
    lua_rawgeti(f->L, f->table, 1);
    if (lua_type(f->L, -1) != LUA_TSTRING) {
        stn_lua_fail(f->L, "%s: the first entry must be a file's name, as in %s { \"arm.urdf\" }", f->owner, f->owner);
    }
    return lua_tostring(f->L, -1);
}

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
    o.request.path = stn_lua_find_file(L, f->owner, stn_lua_file_entry(f));
    o.request.robot_name = stn_fields_text(f, "name");
    stn_lua_read_request(f, &o.request);
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

int stn_lua_world_load(lua_State *L) {
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
    stn_diagnostics *list = stn_lua_push_findings(L, w->session->context);
    int findings = lua_gettop(L);
    stn_status status = stn_load_robot(w->session->context, &o.request, builder, &group, list, &err);
    if (status >= 0) {
        status = change_group(builder, group, &o, &err);
        if (status < 0) {
            stn_builder_discard(builder, group);
        }
    }
    stn_lua_log_findings(L, o.request.path, list);
    if (status < 0) {
        stn_lua_release(L, findings);
        stn_lua_fail(L, "world:load: %s", err.text);
    }
    stn_lua_keep_findings(L, 1, group, list);
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
