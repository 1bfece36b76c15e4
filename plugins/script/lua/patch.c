// SPDX-License-Identifier: Apache-2.0
// Patches of the last step: what faces that touch over an area did together, one by one or between two sides.
#include <string.h>

#include "patch.h"

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

void stn_lua_open_patch(lua_State *L) {
    static const luaL_Reg methods[] = {{"image", stn_lua_patch_image}, {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__pairs", patch_pairs}, {"__tostring", patch_text}, {NULL, NULL}};
    stn_lua_class(L, STN_LUA_PATCH, methods, meta, get, properties);
}
