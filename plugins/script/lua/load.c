// SPDX-License-Identifier: Apache-2.0
// world:load { "file", ... }, and the start values that scripts give before the model is complete.
#include "bind.h"

// ---------------------------------------------------------------------------------------------------- start values

void stn_lua_note_start(lua_State *L, int world_index, int32_t robot, const char *key) {
    int world = lua_absindex(L, world_index);
    lua_createtable(L, 0, 3);
    lua_insert(L, -2);
    lua_setfield(L, -2, key);
    lua_pushinteger(L, robot);
    lua_setfield(L, -2, "robot");
    stn_lua_position(L);
    lua_setfield(L, -2, "where");
    lua_getiuservalue(L, world, 1);
    lua_insert(L, -2);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    lua_pop(L, 1);
}

/// A core error about a value that the script gave earlier, at `where`.
static void check_start(lua_State *L, stn_status status, const char *where, const char *what, const stn_error *err) {
    if (status < 0) {
        lua_pushfstring(L, "%s: %s: %s", where, what, err->text);
        lua_error(L);
    }
}

static void apply_joints(lua_State *L, stn_lua_world *w, int32_t robot, const char *where) {
    double *q = stn_lua_copy_coordinates(L, w, STN_LUA_POSITION);
    const char *owner = lua_pushfstring(L, "joints (world:load at %s)", where);
    stn_lua_read_joints(L, -3, owner, w, robot, STN_LUA_POSITION, q);
    stn_error err = {0};
    check_start(L, stn_world_set_q(w->world, q, &err), where, "joints", &err);
    lua_pop(L, 2);
}

/// The value on top: { name, whether the script placed the robot, which then stands where it said }.
static void apply_keyframe(lua_State *L, stn_lua_world *w, int32_t robot, const char *where) {
    lua_rawgeti(L, -1, 1);
    lua_rawgeti(L, -2, 2);
    const char *name = lua_tostring(L, -2), *owner = lua_pushfstring(L, "keyframe (world:load at %s)", where);
    stn_lua_apply_keyframe(L, owner, w, robot, name, lua_toboolean(L, -2));
    lua_pop(L, 3);
}

static void apply_velocity(lua_State *L, stn_lua_world *w, int32_t robot, const char *where) {
    const stn_model *model = stn_world_model(w->world);
    stn_vec3 linear, angular;
    stn_lua_velocity(L, -1, "velocity", &linear, &angular);
    int32_t body = model->links[model->robots[robot].root_link].body;
    stn_error err = {0};
    check_start(L, stn_world_set_body_velocity(w->world, body, linear, angular, &err), where, "velocity", &err);
}

void stn_lua_world_apply_start(lua_State *L, int index, stn_lua_world *w) {
    lua_getiuservalue(L, index, 1);
    lua_Integer count = (lua_Integer)lua_rawlen(L, -1);
    for (lua_Integer i = 1; i <= count; i++) {
        int top = lua_gettop(L);
        lua_rawgeti(L, top, i);
        lua_getfield(L, top + 1, "where");
        const char *where = lua_tostring(L, -1);
        lua_getfield(L, top + 1, "robot");
        int32_t robot = (int32_t)lua_tointeger(L, -1);
        if (lua_getfield(L, top + 1, "keyframe") != LUA_TNIL) {
            apply_keyframe(L, w, robot, where);
        } else if (lua_getfield(L, top + 1, "joints") != LUA_TNIL) {
            apply_joints(L, w, robot, where);
        } else if (lua_getfield(L, top + 1, "velocity") != LUA_TNIL) {
            apply_velocity(L, w, robot, where);
        }
        lua_settop(L, top);
    }
    lua_pop(L, 1);
    stn_lua_motions_start(L, lua_absindex(L, index), w);
}

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

/// Loads and places the robot; on failure nothing stays in the builder.
static stn_status load(stn_context *context, stn_model_builder *builder, const load_options *o, int32_t *robot,
                       stn_diagnostics *list, stn_error *err) {
    stn_status status = stn_load_robot(context, &o->request, builder, robot, list, err);
    if (status < 0) {
        return status;
    }
    if (o->placed || o->fixed_given) { // what is not given is as the file says
        stn_pose base;
        bool fixed = false;
        stn_builder_get_base(builder, *robot, &base, &fixed);
        status =
            stn_builder_set_base(builder, *robot, o->placed ? &o->base : &base, o->fixed_given ? o->fixed : fixed, err);
    }
    if (status >= 0 && o->velocity_limits) {
        status = stn_builder_set_velocity_limits(builder, *robot, true, err);
    }
    if (status >= 0 && o->mass_factor != 1.0) {
        status = stn_builder_scale_mass(builder, *robot, o->mass_factor, err);
    }
    if (status >= 0 && o->has_material) {
        status = stn_builder_set_material(builder, *robot, &o->surface.material, err);
    }
    if (status >= 0) {
        status = stn_builder_set_field(builder, *robot, &o->surface.field, err);
    }
    if (status < 0) {
        stn_builder_discard(builder, *robot);
    }
    return status;
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
    int32_t robot = -1;
    stn_error err = {0};
    stn_diagnostics *list = stn_lua_push_findings(L, w->session->context);
    int findings = lua_gettop(L);
    stn_status status = load(w->session->context, builder, &o, &robot, list, &err);
    stn_lua_log_findings(L, o.request.path, list);
    if (status < 0) {
        stn_lua_release(L, findings);
        stn_lua_fail(L, "world:load: %s", err.text);
    }
    stn_lua_keep_findings(L, 1, robot, list);
    stn_lua_release(L, findings);
    stn_lua_take_name(L, 1, stn_builder_robot_name(builder, robot));
    const char *keyframe = stn_fields_text(&f, "keyframe");
    if (keyframe != NULL) {
        lua_createtable(L, 2, 0);
        lua_pushstring(L, keyframe);
        lua_rawseti(L, -2, 1);
        lua_pushboolean(L, o.placed);
        lua_rawseti(L, -2, 2);
        stn_lua_note_start(L, 1, robot, "keyframe");
    }
    if (stn_fields_push(&f, "joints")) { // on top of the keyframe
        luaL_checktype(L, -1, LUA_TTABLE);
        stn_lua_note_start(L, 1, robot, "joints");
    }
    stn_lua_object_new(L, 1, STN_LUA_ROBOT, robot);
    return 1;
}
