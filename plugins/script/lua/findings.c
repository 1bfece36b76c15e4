// SPDX-License-Identifier: Apache-2.0
// What loaders find in robot files, as data: robot:diagnostics(), stn.check_robot; and robot:save, which has findings.
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

bool stn_lua_first_time(lua_State *L, const char *path) {
    luaL_getsubtable(L, LUA_REGISTRYINDEX, "stiction.loaded");
    bool first = lua_getfield(L, -1, path) == LUA_TNIL;
    lua_pushboolean(L, 1);
    lua_setfield(L, -3, path);
    lua_pop(L, 2);
    return first;
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

void stn_lua_keep_findings(lua_State *L, int world_index, int32_t robot, const stn_diagnostics *list) {
    lua_getiuservalue(L, world_index, 3);
    push_list(L, list);
    lua_rawseti(L, -2, robot);
    lua_pop(L, 1);
}

/// Findings of the load that made the robot; none for a body of the script. A new list at every call: it may be
/// changed.
static int robot_diagnostics(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_open(L, 1, STN_LUA_ROBOT);
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

/// robot:save("file.sdf", { format =, name = }): writes the robot file; what the format cannot hold, as a list.
static int robot_save(lua_State *L) {
    static const char *const keys[] = {"format", "name", NULL};
    lua_settop(L, 3);
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_ROBOT);
    if (lua_type(L, 2) != LUA_TSTRING) {
        stn_lua_fail(L, "robot:save takes a file's name, as in arm:save \"arm.sdf\", got %s", luaL_typename(L, 2));
    }
    if (lua_isnil(L, 3)) {
        lua_newtable(L);
        lua_replace(L, 3);
    }
    stn_fields f = stn_fields_open(L, 3, "robot:save", keys, 0);
    stn_save_request request = {.model = stn_world_model(o->world->world),
                                .robot = o->index,
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

const luaL_Reg stn_lua_finding_methods[] = {{"diagnostics", robot_diagnostics}, {"save", robot_save}, {NULL, NULL}};

// ------------------------------------------------------------------------------------------------ without a world

static void destroy_builder(void *object) {
    stn_builder_destroy(*(stn_model_builder **)object);
}

/// Loads and compiles; what no finding tells becomes one.
static void examine(stn_context *context, const stn_load_request *request, stn_model_builder *builder,
                    stn_diagnostics *list) {
    int32_t robot = -1;
    stn_error err = {0};
    stn_model *model = NULL;
    const char *code = "file";
    stn_status status = stn_load_robot(context, request, builder, &robot, list, &err);
    if (status >= 0) {
        code = "model";
        status = stn_model_compile(builder, &model, &err);
        stn_model_destroy(model);
    }
    if (status < 0 && list->error_count == 0) {
        stn_diagnostics_add(list, STN_SEVERITY_ERROR, code, request->path, 0, "", "%s", err.text);
    }
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
        examine(context, &request, *builder, list);
    }
    push_list(L, list);
    stn_lua_release(L, owned);
    stn_lua_release(L, findings);
    return 1;
}

const luaL_Reg stn_lua_finding_functions[] = {{"check_robot", check_robot}, {NULL, NULL}};
