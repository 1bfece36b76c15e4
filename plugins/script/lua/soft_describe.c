// SPDX-License-Identifier: Apache-2.0
// world:soft { ... } and world:cloth { ... }: from a table to a mesh, its material and what holds it.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "soft.h"

enum { CELLS_MAX = 100000 };

// -------------------------------------------------------------------------------------------------------------- meshes

/// One number for the longest edge, or one for each axis.
static void read_cells(const stn_fields *f, stn_soft_shape *shape, int32_t otherwise) {
    lua_State *L = f->L;
    int axes = shape->type == STN_SOFT_SHEET ? 2 : 3;
    double cells[3] = {otherwise, otherwise, otherwise};
    bool each = false;
    if (stn_fields_push(f, "cells")) {
        each = lua_type(L, -1) == LUA_TTABLE;
        lua_pop(L, 1);
        if (each) {
            stn_fields_reals(f, "cells", "1", axes, cells);
        } else {
            stn_fields_real(f, "cells", "1", &cells[0]);
        }
    }
    for (int k = 0; k < (each ? axes : 1); k++) {
        if (!(cells[k] >= 1.0 && cells[k] <= CELLS_MAX) || cells[k] != floor(cells[k])) {
            stn_lua_fail(L, "%s: cells = %g must be a whole number from 1 to %d", f->owner, cells[k], CELLS_MAX);
        }
        shape->cells[k] = (int32_t)cells[k];
    }
    if (!each) {
        stn_soft_shape_divide(shape, shape->cells[0]);
    }
}

static stn_vec3 positive(const stn_fields *f, const char *key, stn_vec3 v, int axes) {
    if (!(v.x > 0.0 && v.y > 0.0 && (v.z > 0.0 || axes == 2))) {
        stn_lua_fail(f->L, "%s: %s = {%g, %g, %g} m must be > 0", f->owner, key, v.x, v.y, v.z);
    }
    return v;
}

/// A ball's radius, or its three semi-axes.
static void read_ball(const stn_fields *f, stn_soft_shape *shape) {
    stn_vec3 radii = stn_vec3_zero();
    shape->type = STN_SOFT_BALL;
    if (stn_fields_push(f, "ball") && lua_type(f->L, -1) == LUA_TTABLE) {
        stn_fields_vector(f, "ball", "m", &radii);
    } else {
        stn_fields_real(f, "ball", "m", &radii.x);
        radii.y = radii.z = radii.x;
    }
    lua_pop(f->L, 1);
    shape->size = stn_vec3_scale(2.0, positive(f, "ball", radii, 3));
}

static void read_cylinder(const stn_fields *f, stn_soft_shape *shape) {
    static const char *const keys[] = {"radius", "length", NULL};
    char owner[96];
    double radius = 0.0, length = 0.0;
    snprintf(owner, sizeof owner, "%s: cylinder", f->owner);
    (void)stn_fields_push(f, "cylinder");
    const stn_fields part = stn_fields_open(f->L, -1, owner, keys, 0);
    if (!stn_fields_above_zero(&part, "radius", "m", &radius) ||
        !stn_fields_above_zero(&part, "length", "m", &length)) {
        stn_lua_fail(f->L, "%s: give radius and length", owner);
    }
    lua_pop(f->L, 1);
    shape->type = STN_SOFT_CYLINDER;
    shape->size = stn_vec3_make(2.0 * radius, 2.0 * radius, length);
}

static void read_finger(const stn_fields *f, stn_soft_shape *shape) {
    static const char *const keys[] = {"size", "chambers", "rows", "wall", "floor", NULL};
    char owner[96];
    lua_Integer chambers = 0, rows = 1;
    snprintf(owner, sizeof owner, "%s: finger", f->owner);
    (void)stn_fields_push(f, "finger");
    const stn_fields part = stn_fields_open(f->L, -1, owner, keys, 0);
    shape->type = STN_SOFT_FINGER;
    if (!stn_fields_vector(&part, "size", "m", &shape->size) ||
        !stn_fields_above_zero(&part, "wall", "m", &shape->wall) ||
        !stn_fields_integer(&part, "chambers", 1, CELLS_MAX, &chambers)) {
        stn_lua_fail(f->L, "%s: give size {length, width, height}, chambers and wall", owner);
    }
    positive(&part, "size", shape->size, 3);
    stn_fields_integer(&part, "rows", 1, CELLS_MAX, &rows);
    shape->floor = shape->wall;
    stn_fields_above_zero(&part, "floor", "m", &shape->floor);
    shape->chambers = (int32_t)chambers;
    shape->rows = (int32_t)rows;
    lua_pop(f->L, 1);
}

/// The tetrahedra, or for a cloth the triangles, of a file.
static void read_file(const stn_fields *f, bool solid, stn_soft_mesh **mesh) {
    lua_State *L = f->L;
    lua_Integer whole = 0;
    if (stn_fields_integer(f, "cells", 1, CELLS_MAX, &whole)) {
        stn_lua_fail(L, "%s: cells divide shapes; the mesh of a file is as it is", f->owner);
    }
    stn_mesh_request request = {.scale = {1.0, 1.0, 1.0}};
    request.path = stn_lua_find_file(L, f->owner, stn_fields_text(f, "mesh"));
    if (stn_fields_above_zero(f, "scale", "1", &request.scale.x)) {
        request.scale.y = request.scale.z = request.scale.x;
    }
    const stn_mesh *loaded = NULL;
    stn_error err = {0};
    stn_context *context = stn_lua_session(L)->context;
    stn_status status = stn_mesh_load(context, &request, &loaded, &err);
    if (status >= 0 && solid && loaded->tetrahedron_count == 0) {
        status = stn_fail(&err, STN_ERR_ARGUMENT,
                          "%s has no tetrahedra; make them of its surface, with gmsh for instance, or use world:cloth",
                          request.path);
    } else if (status >= 0 && !solid && loaded->tetrahedron_count > 0) {
        status = stn_fail(&err, STN_ERR_ARGUMENT, "%s has tetrahedra, it is no sheet; use world:soft", request.path);
    }
    if (status >= 0) {
        status = stn_soft_mesh_from(loaded, context, request.path, mesh, &err);
    }
    stn_mesh_release(loaded);
    if (status < 0) {
        stn_lua_fail(L, "%s: %s", f->owner, err.text);
    }
}

/// Exactly one of these keys, by its place in the list.
static int which_of(const stn_fields *f, const char *const *keys) {
    int found = -1;
    for (int i = 0; keys[i] != NULL; i++) {
        if (!stn_fields_push(f, keys[i])) {
            continue;
        }
        lua_pop(f->L, 1);
        if (found >= 0) {
            stn_lua_fail(f->L, "%s: %s and %s are two shapes; give one of them", f->owner, keys[found], keys[i]);
        }
        found = i;
    }
    return found;
}

/// The mesh that the table asks for.
static void make_mesh(const stn_fields *f, bool solid, stn_soft_mesh **mesh) {
    static const char *const solids[] = {"box", "ball", "cylinder", "finger", "mesh", NULL};
    static const char *const sheets[] = {"size", "mesh", NULL};
    lua_State *L = f->L;
    stn_soft_shape shape = {0};
    int which = which_of(f, solid ? solids : sheets);
    int top = lua_gettop(L);
    if (which < 0) {
        stn_lua_fail(L, "%s: %s", f->owner,
                     solid ? "its shape is missing; give box, ball, cylinder, finger or mesh"
                           : "its shape is missing; give size {x, y} or mesh");
    }
    const char *key = (solid ? solids : sheets)[which];
    double edges[2] = {0.0, 0.0};
    if (strcmp(key, "mesh") == 0) {
        read_file(f, solid, mesh);
        lua_settop(L, top);
        return;
    }
    if (strcmp(key, "box") == 0) {
        stn_fields_vector(f, "box", "m", &shape.size);
        positive(f, "box", shape.size, 3);
    } else if (strcmp(key, "ball") == 0) {
        read_ball(f, &shape);
    } else if (strcmp(key, "cylinder") == 0) {
        read_cylinder(f, &shape);
    } else if (strcmp(key, "finger") == 0) {
        read_finger(f, &shape);
    } else {
        stn_fields_reals(f, "size", "m", 2, edges);
        shape.type = STN_SOFT_SHEET;
        shape.size = positive(f, "size", stn_vec3_make(edges[0], edges[1], 0.0), 2);
    }
    if (stn_fields_push(f, "scale")) {
        stn_lua_fail(L, "%s: scale is for the mesh of a file", f->owner);
    }
    read_cells(f, &shape, shape.type == STN_SOFT_SHEET ? 20 : (shape.type == STN_SOFT_FINGER ? 40 : 6));
    stn_error err = {0};
    if (stn_soft_mesh_generate(stn_lua_session(L)->context, &shape, mesh, &err) < 0) {
        stn_lua_fail(L, "%s: %s", f->owner, err.text);
    }
    lua_settop(L, top);
}

// -----------------------------------------------------------------------------------------------------------
// describing

int32_t stn_lua_soft_settings(const stn_fields *f, const stn_lua_soft_number *numbers, int32_t count,
                              const stn_lua_surface *surface, stn_setting *settings) {
    stn_lua_position(f->L);
    const char *where = lua_tostring(f->L, -1);
    int32_t set = 0;
    for (int32_t i = 0; i < count; i++) {
        const stn_lua_soft_number *n = &numbers[i];
        double value = NAN;
        if (strcmp(n->key, "young") == 0) {
            value = surface->material.modulus;
        } else if (strcmp(n->key, "density") == 0) {
            value = surface->density;
        }
        stn_fields_real(f, n->key, n->unit, &value);
        if (!isnan(value)) {
            settings[set++] =
                (stn_setting){.name = n->parameter, .form = STN_SETTING_NUMBER, .number = value, .where = where};
        }
    }
    return set;
}

/// What the table says of the material, as settings of the element, in memory on Lua's stack.
static stn_plugin_choice read_element(const stn_fields *f, bool solid, const stn_lua_surface *surface) {
    static const stn_lua_soft_number numbers[] = {
        {"young", "young", "Pa"},         {"poisson", "poisson", "1"},
        {"density", "density", "kg/m^3"}, {"damping", "rayleigh_stiffness", "s"},
        {"drag", "rayleigh_mass", "1/s"}, {"thickness", "thickness", "m"},
        {"bending", "bending", "N m"}};
    stn_setting *settings = lua_newuserdatauv(f->L, (STN_COUNT(numbers) + 1) * sizeof *settings, 0);
    int32_t count = stn_lua_soft_settings(f, numbers, solid ? 5 : STN_COUNT(numbers), surface, settings);
    const char *model = solid ? stn_fields_text(f, "model") : NULL;
    if (model != NULL) {
        stn_lua_position(f->L);
        settings[count++] =
            (stn_setting){.name = "model", .form = STN_SETTING_TEXT, .text = model, .where = lua_tostring(f->L, -1)};
    }
    return (stn_plugin_choice){.settings = settings, .setting_count = count};
}

/// { link =, nodes = } at `index`.
static stn_soft_attachment read_attachment(const stn_fields *f, stn_lua_world *w, const stn_soft_mesh *mesh, int index,
                                           int number) {
    static const char *const keys[] = {"link", "nodes", NULL};
    lua_State *L = f->L;
    char *owner = lua_newuserdatauv(L, 96, 0); // messages may name it later
    snprintf(owner, 96, "%s: attach[%d]", f->owner, number);
    const stn_fields part = stn_fields_open(L, index, owner, keys, 0);
    stn_soft_attachment a = {.link = STN_WORLD};
    if (!stn_fields_push(&part, "link")) {
        stn_lua_fail(L, "%s: link is missing; pinned = ... holds nodes in the world", owner);
    }
    if (lua_type(L, -1) != LUA_TSTRING || strcmp(lua_tostring(L, -1), "world") != 0) {
        stn_link_range range = stn_lua_links(L, -1, w, owner);
        if (range.count != 1) {
            stn_lua_fail(L, "%s: link is a group of %d links; name one of them, as in { group, \"link\" }", owner,
                         (int)range.count);
        }
        a.link = range.start;
    }
    if (!stn_fields_push(&part, "nodes")) {
        stn_lua_fail(L, "%s: nodes is missing; give a region such as \"x_min\", { box = }, { plane = } or { nodes = }",
                     owner);
    }
    a.selectors = stn_lua_soft_selectors(L, -1, owner, mesh, &a.selector_count);
    return a;
}

const stn_soft_attachment *stn_lua_soft_attachments(const stn_fields *f, stn_lua_world *w, const stn_soft_mesh *mesh,
                                                    int32_t *attachment_count) {
    lua_State *L = f->L;
    bool pinned = stn_fields_push(f, "pinned");
    int pins = lua_gettop(L);
    bool attached = stn_fields_push(f, "attach");
    int list = lua_gettop(L);
    lua_Integer count = attached && lua_type(L, list) == LUA_TTABLE ? (lua_Integer)lua_rawlen(L, list) : 0;
    bool single = attached && count == 0;
    if (count > 1000) {
        stn_lua_fail(L, "%s: attach has %lld entries, at most 1000", f->owner, (long long)count);
    }
    int32_t total = (int32_t)count + pinned + single;
    stn_soft_attachment *attachments = lua_newuserdatauv(L, (size_t)(total + 1) * sizeof *attachments, 0);
    luaL_checkstack(L, 16 * (total + 1), NULL);
    for (int32_t i = 0; i < total - pinned; i++) {
        if (single) {
            lua_pushvalue(L, list);
        } else {
            lua_rawgeti(L, list, i + 1);
        }
        attachments[i] = read_attachment(f, w, mesh, lua_gettop(L), i + 1);
    }
    if (pinned) {
        const char *owner = lua_pushfstring(L, "%s: pinned", f->owner);
        stn_soft_attachment *a = &attachments[total - 1];
        *a = (stn_soft_attachment){.link = STN_WORLD};
        a->selectors = stn_lua_soft_selectors(L, pins, owner, mesh, &a->selector_count);
    }
    *attachment_count = total;
    return attachments;
}

/// How far its surface reaches, what it meets, how it is drawn. A cloth is as thick as its sheet.
static void read_surface(const stn_fields *f, bool solid, stn_surface_spec *surface) {
    if (solid) {
        stn_fields_at_least(f, "contact_thickness", "m", 0.0, &surface->thickness);
    } else {
        surface->thickness = 1e-3;
        stn_fields_above_zero(f, "thickness", "m", &surface->thickness);
        surface->thickness *= 0.5;
        stn_fields_at_least(f, "contact_thickness", "m", 0.0, &surface->thickness);
    }
    stn_fields_boolean(f, "self_collision", &surface->self_collision);
    stn_fields_boolean(f, "visual", &surface->visual);
    stn_fields_color(f, surface->rgba);
    stn_fields_filter(f, &surface->category, &surface->mask);
}

/// regions = { { nodes =, mu =, ... }, ... }, in memory on Lua's stack.
static void read_regions(const stn_fields *f, stn_soft_spec *spec) {
    static const char *const keys[] = {"name",        "nodes",       "mu", "mu_static", "stiffness", "relaxation_time",
                                       "dissipation", "restitution", NULL};
    lua_State *L = f->L;
    if (!stn_fields_push(f, "regions")) {
        return;
    }
    int list = lua_gettop(L);
    lua_Integer count = lua_type(L, list) == LUA_TTABLE ? (lua_Integer)lua_rawlen(L, list) : 0;
    if (count < 1 || count > 1000) {
        stn_lua_fail(L, "%s: regions must be a list of up to 1000 tables, { { nodes = \"z_min\", mu = 1 }, ... }",
                     f->owner);
    }
    stn_soft_patch *patches = lua_newuserdatauv(L, (size_t)count * sizeof *patches, 0);
    luaL_checkstack(L, 16 * (int)count, NULL);
    for (int32_t i = 0; i < count; i++) {
        char *owner = lua_newuserdatauv(L, 96, 0);
        snprintf(owner, 96, "%s: regions[%d]", f->owner, i + 1);
        lua_rawgeti(L, list, i + 1);
        const stn_fields part = stn_fields_open(L, -1, owner, keys, 0);
        patches[i] = (stn_soft_patch){.name = stn_fields_text(&part, "name"), .material = stn_material_unset()};
        if (patches[i].name == NULL) {
            patches[i].name = lua_pushfstring(L, "region%d", i + 1);
        }
        stn_fields_material(&part, &patches[i].material);
        if (!stn_fields_push(&part, "nodes")) {
            stn_lua_fail(L,
                         "%s: nodes is missing; give a region such as \"z_min\", { box = }, { plane = } or { nodes = }",
                         owner);
        }
        patches[i].selectors = stn_lua_soft_selectors(L, -1, owner, spec->mesh, &patches[i].selector_count);
    }
    spec->patches = patches;
    spec->patch_count = (int32_t)count;
}

const char *stn_lua_soft_push_name(const stn_fields *f, stn_lua_world *w, const char *type) {
    lua_State *L = f->L;
    const char *given = stn_fields_text(f, "name");
    lua_getiuservalue(L, 1, 2);
    int names = lua_gettop(L);
    bool taken = true;
    lua_pushstring(L, given);
    while (taken) {
        lua_settop(L, names);
        if (given != NULL) {
            lua_pushstring(L, given);
        } else {
            lua_pushfstring(L, "%s%d", type, (int)++w->unnamed);
        }
        lua_pushvalue(L, -1);
        taken = lua_rawget(L, names) != LUA_TNIL;
        lua_pop(L, 1);
        if (taken && given != NULL) {
            stn_lua_fail(L, "%s: the name '%s' is taken; choose another one", f->owner, given);
        }
        if (given != NULL &&
            (given[0] == '\0' || strchr(given, '/') != NULL || strlen(given) > STN_LUA_SOFT_NAME_MAX)) {
            stn_lua_fail(L, "%s: name '%.40s' must have 1 to %d letters and no '/'", f->owner, given,
                         STN_LUA_SOFT_NAME_MAX);
        }
        if (given != NULL && strcmp(given, "world") == 0) {
            stn_lua_fail(L, "%s: the name 'world' is that of the world itself; choose another one", f->owner);
        }
    }
    lua_remove(L, names);
    return lua_tostring(L, -1);
}

static int collect_body(lua_State *L) {
    stn_lua_soft_body *body = lua_touserdata(L, 1);
    stn_soft_mesh_destroy(body->mesh);
    body->mesh = NULL;
    return 0;
}

stn_lua_soft_body *stn_lua_soft_push(lua_State *L) {
    stn_lua_soft_body *body = lua_newuserdatauv(L, sizeof *body, 0);
    *body = (stn_lua_soft_body){.mesh = NULL};
    if (luaL_newmetatable(L, "stiction.soft_body") != 0) {
        lua_pushcfunction(L, collect_body);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return body;
}

int stn_lua_soft_keep(lua_State *L, int kept, const char *name) {
    stn_lua_soft_body *body = lua_touserdata(L, kept);
    (void)snprintf(body->name, sizeof body->name, "%s", name);
    stn_lua_take_name(L, 1, name);
    lua_getiuservalue(L, 1, STN_LUA_SOFT_BODIES);
    lua_pushvalue(L, kept);
    lua_rawseti(L, -2, body->parts.cloud + 1);
    stn_lua_object_new(L, 1, STN_LUA_SOFT, body->parts.cloud);
    return 1;
}

#define SOFT_KEYS                                                                                              \
    "name", "mesh", "scale", "cells", "pose", STN_POSE_KEYS, "young", "poisson", "density", "damping", "drag", \
        "material", "mu", "mu_static", "stiffness", "relaxation_time", "dissipation", "restitution",           \
        "contact_thickness", "self_collision", "visual", "color", "category", "mask", "regions", "pinned", "attach"

static int add_soft(lua_State *L, const char *owner, const char *const *keys, bool solid) {
    stn_lua_world *w = stn_lua_world_check(L, 1);
    const stn_fields f = stn_fields_open(L, 2, owner, keys, 0);
    stn_model_builder *builder = stn_lua_world_builder(L, w, owner);
    luaL_checkstack(L, 64, NULL);
    stn_soft_spec spec = {.surface = stn_surface_spec_default()};
    stn_lua_surface surface;
    stn_fields_surface(&f, &surface);
    stn_fields_warn_dissipation(&f, w->world, &surface.asked);
    spec.element = read_element(&f, solid, &surface);
    spec.surface.material = surface.material;
    spec.surface.material.modulus = NAN; // it is the elements that yield
    read_surface(&f, solid, &spec.surface);
    stn_fields_body_pose(&f, &spec.pose);
    stn_lua_soft_body *body = stn_lua_soft_push(L);
    int kept = lua_gettop(L);
    make_mesh(&f, solid, &body->mesh);
    spec.mesh = body->mesh;
    read_regions(&f, &spec);
    spec.attachments = stn_lua_soft_attachments(&f, w, spec.mesh, &spec.attachment_count);
    spec.name = stn_lua_soft_push_name(&f, w, solid ? "soft" : "cloth");
    stn_error err = {0};
    if (stn_soft_add(builder, w->session->context, &spec, &body->parts, &err) < 0) {
        stn_lua_fail(L, "%s: %s", owner, err.text);
    }
    return stn_lua_soft_keep(L, kept, spec.name);
}

static int world_soft(lua_State *L) {
    static const char *const keys[] = {"box", "ball", "cylinder", "finger", "model", SOFT_KEYS, NULL};
    return add_soft(L, "world:soft", keys, true);
}

static int world_cloth(lua_State *L) {
    static const char *const keys[] = {"size", "thickness", "bending", SOFT_KEYS, NULL};
    return add_soft(L, "world:cloth", keys, false);
}

const luaL_Reg stn_lua_soft_describe_methods[] = {
    {"soft", world_soft}, {"cloth", world_cloth}, {"cable", stn_lua_world_cable}, {NULL, NULL}};
