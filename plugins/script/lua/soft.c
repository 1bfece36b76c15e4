// SPDX-License-Identifier: Apache-2.0
// world:soft { ... } and world:cloth { ... }: deformable bodies, and what they do in a run.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <stiction/soft.h>

#include "bind.h"

enum { CELLS_MAX = 100000, LISTED_MAX = STN_SOFT_COUNT_MAX };

// ----------------------------------------------------------------------------------------------------------- selectors

static void read_box(const stn_fields *f, stn_soft_selector *s) {
    lua_State *L = f->L;
    char what[128];
    stn_vec3 *corner[2] = {&s->lower, &s->upper};
    s->where = STN_SOFT_IN_BOX;
    if (lua_type(L, -1) != LUA_TTABLE || lua_rawlen(L, -1) != 2) {
        stn_lua_fail(L, "%s: box must be two corners { { x, y, z }, { x, y, z } }, the smaller first", f->owner);
    }
    for (int i = 0; i < 2; i++) {
        snprintf(what, sizeof what, "%.100s: box[%d]", f->owner, i + 1);
        if (lua_rawgeti(L, -1, i + 1) != LUA_TTABLE || lua_rawlen(L, -1) != 3) {
            stn_lua_fail(L, "%s must be a corner { x, y, z } [m]", what);
        }
        double *x[3] = {&corner[i]->x, &corner[i]->y, &corner[i]->z};
        for (int k = 0; k < 3; k++) { // an infinite corner is no bound
            lua_rawgeti(L, -1, k + 1);
            bool unbounded = lua_type(L, -1) == LUA_TNUMBER && isinf(lua_tonumber(L, -1));
            *x[k] = unbounded ? lua_tonumber(L, -1) : stn_lua_real(L, -1, what, "m");
            lua_pop(L, 1);
        }
        lua_pop(L, 1);
    }
}

static void read_numbers(const stn_fields *f, stn_soft_selector *s) {
    lua_State *L = f->L;
    lua_Integer count = lua_type(L, -1) == LUA_TTABLE ? (lua_Integer)lua_rawlen(L, -1) : 0;
    if (count < 1 || count > LISTED_MAX) {
        stn_lua_fail(L, "%s: nodes must be a list of numbers of nodes, from 1", f->owner);
    }
    int32_t *listed = lua_newuserdatauv(L, (size_t)count * sizeof *listed, 0);
    for (lua_Integer i = 0; i < count; i++) {
        lua_rawgeti(L, -2, i + 1);
        double number = stn_lua_real(L, -1, f->owner, "1");
        if (!(number >= 1.0 && number <= LISTED_MAX) || number != floor(number)) {
            stn_lua_fail(L, "%s: nodes[%lld] = %g must be a whole number from 1", f->owner, (long long)i + 1, number);
        }
        listed[i] = (int32_t)number - 1;
        lua_pop(L, 1);
    }
    lua_insert(L, -2); // below the value, so that it stays while the caller's frame does
    *s = (stn_soft_selector){.where = STN_SOFT_LISTED, .node_count = (int32_t)count, .listed = listed};
}

/// One selector, the value at `index`: a region's name, or a table with box, plane or nodes. Memory stays on the stack.
static stn_soft_selector read_selector(lua_State *L, int index, const char *owner) {
    static const char *const keys[] = {"box", "plane", "offset", "nodes", NULL};
    stn_soft_selector s = {.where = STN_SOFT_IN_REGION};
    if (lua_type(L, index) == LUA_TSTRING) {
        s.region = lua_tostring(L, index);
        return s;
    }
    if (lua_type(L, index) != LUA_TTABLE) {
        stn_lua_fail(L,
                     "%s: nodes are told by a region such as \"x_min\", { box = }, { plane = }, { nodes = } or a list "
                     "of these, got %s",
                     owner, luaL_typename(L, index));
    }
    const stn_fields f = stn_fields_open(L, index, owner, keys, 0);
    int given = 0;
    if (stn_fields_push(&f, "box")) {
        read_box(&f, &s);
        given++;
    }
    if (stn_fields_vector(&f, "plane", "1", &s.normal)) {
        s.where = STN_SOFT_BEYOND_PLANE;
        stn_fields_real(&f, "offset", "m", &s.offset);
        given++;
    }
    if (stn_fields_push(&f, "nodes")) {
        read_numbers(&f, &s);
        given++;
    }
    if (given != 1) {
        stn_lua_fail(L, "%s: give one of box, plane and nodes", owner);
    }
    return s;
}

/// Selectors of the value at `index`: one, or a list of them. In memory on Lua's stack.
static const stn_soft_selector *read_selectors(lua_State *L, int index, const char *owner, int32_t *count) {
    int at = lua_absindex(L, index);
    lua_Integer length = lua_type(L, at) == LUA_TTABLE ? (lua_Integer)lua_rawlen(L, at) : 0;
    *count = length > 0 ? (int32_t)length : 1;
    if (length > 1000) {
        stn_lua_fail(L, "%s: %lld selectors are too many; list nodes as { nodes = { ... } }", owner, (long long)length);
    }
    stn_soft_selector *selectors = lua_newuserdatauv(L, (size_t)*count * sizeof *selectors, 0);
    luaL_checkstack(L, 4 * *count + 8, NULL);
    for (int32_t i = 0; i < *count; i++) {
        if (length > 0) {
            lua_rawgeti(L, at, i + 1);
        } else {
            lua_pushvalue(L, at);
        }
        selectors[i] = read_selector(L, lua_gettop(L), owner);
    }
    return selectors;
}

// ---------------------------------------------------------------------------------------------------------------
// meshes

static const char mesh_class[] = "stiction.soft_mesh";

static int collect_mesh(lua_State *L) {
    stn_soft_mesh **mesh = lua_touserdata(L, 1);
    stn_soft_mesh_destroy(*mesh);
    *mesh = NULL;
    return 0;
}

/// Pushes a place for a mesh, which goes when Lua drops it.
static stn_soft_mesh **push_place(lua_State *L) {
    stn_soft_mesh **mesh = lua_newuserdatauv(L, sizeof(stn_soft_mesh *), 0);
    *mesh = NULL;
    if (luaL_newmetatable(L, mesh_class) != 0) {
        lua_pushcfunction(L, collect_mesh);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return mesh;
}

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

/// The mesh that the table asks for, on Lua's stack.
static stn_soft_mesh *push_mesh(const stn_fields *f, bool solid) {
    static const char *const solids[] = {"box", "ball", "cylinder", "finger", "mesh", NULL};
    static const char *const sheets[] = {"size", "mesh", NULL};
    lua_State *L = f->L;
    stn_soft_shape shape = {0};
    int which = which_of(f, solid ? solids : sheets);
    stn_soft_mesh **mesh = push_place(L);
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
        return *mesh;
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
    return *mesh;
}

// ------------------------------------------------------------------------------------------------------------
// describing

/// A key of the script and the parameter of the element that it sets.
typedef struct number_key {
    const char *key, *parameter, *unit;
} number_key;

/// What the table says of the material, as settings of the element, in memory on Lua's stack.
static stn_plugin_choice read_element(const stn_fields *f, bool solid, const stn_lua_surface *surface) {
    static const number_key numbers[] = {{"young", "young", "Pa"},         {"poisson", "poisson", "1"},
                                         {"density", "density", "kg/m^3"}, {"damping", "rayleigh_stiffness", "s"},
                                         {"drag", "rayleigh_mass", "1/s"}, {"thickness", "thickness", "m"},
                                         {"bending", "bending", "N m"}};
    lua_State *L = f->L;
    stn_setting *settings = lua_newuserdatauv(L, (STN_COUNT(numbers) + 1) * sizeof *settings, 0);
    stn_lua_position(L);
    const char *where = lua_tostring(L, -1);
    int32_t count = 0;
    for (int i = 0; i < (solid ? 5 : STN_COUNT(numbers)); i++) {
        double value = NAN;
        bool given = stn_fields_real(f, numbers[i].key, numbers[i].unit, &value);
        if (!given && i == 0) {
            value = surface->material.modulus;
        } else if (!given && i == 2) {
            value = surface->density;
        }
        if (given || !isnan(value)) {
            settings[count++] = (stn_setting){
                .name = numbers[i].parameter, .form = STN_SETTING_NUMBER, .number = value, .where = where};
        }
    }
    const char *model = solid ? stn_fields_text(f, "model") : NULL;
    if (model != NULL) {
        settings[count++] = (stn_setting){.name = "model", .form = STN_SETTING_TEXT, .text = model, .where = where};
    }
    return (stn_plugin_choice){.settings = settings, .setting_count = count};
}

/// { link =, nodes = } at `index`.
static stn_soft_attachment read_attachment(const stn_fields *f, stn_lua_world *w, int index, int number) {
    static const char *const keys[] = {"link", "nodes", NULL};
    lua_State *L = f->L;
    char *owner = lua_newuserdatauv(L, 96, 0); // messages may name it later
    snprintf(owner, 96, "%s: attach[%d]", f->owner, number);
    const stn_fields part = stn_fields_open(L, index, owner, keys, 0);
    stn_soft_attachment a = {.link = STN_WORLD};
    if (!stn_fields_push(&part, "link")) {
        stn_lua_fail(L, "%s: link is missing; pinned = ... holds nodes in the world", owner);
    }
    stn_link_range range = stn_lua_links(L, -1, w, owner);
    if (range.count != 1) {
        stn_lua_fail(L, "%s: link is a group of %d links; name one of them, as in { group, \"link\" }", owner,
                     (int)range.count);
    }
    a.link = range.start;
    if (!stn_fields_push(&part, "nodes")) {
        stn_lua_fail(L, "%s: nodes is missing; give a region such as \"x_min\", { box = }, { plane = } or { nodes = }",
                     owner);
    }
    a.selectors = read_selectors(L, -1, owner, &a.selector_count);
    return a;
}

/// pinned and attach, in memory on Lua's stack.
static void read_attachments(const stn_fields *f, stn_lua_world *w, stn_soft_spec *spec) {
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
        attachments[i] = read_attachment(f, w, lua_gettop(L), i + 1);
    }
    if (pinned) {
        static const char owner[] = "pinned";
        stn_soft_attachment *a = &attachments[total - 1];
        *a = (stn_soft_attachment){.link = STN_WORLD};
        a->selectors = read_selectors(L, pins, owner, &a->selector_count);
    }
    spec->attachments = attachments;
    spec->attachment_count = total;
}

/// How far its surface reaches, what it meets, how it is drawn. A cloth is as thick as its sheet.
static void read_surface(const stn_fields *f, bool solid, stn_surface_spec *surface) {
    lua_Integer bits = 0;
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
    if (stn_fields_integer(f, "category", 0, UINT32_MAX, &bits)) {
        surface->category = (uint32_t)bits;
    }
    if (stn_fields_integer(f, "mask", 0, UINT32_MAX, &bits)) {
        surface->mask = (uint32_t)bits;
    }
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
        patches[i].selectors = read_selectors(L, -1, owner, &patches[i].selector_count);
    }
    spec->patches = patches;
    spec->patch_count = (int32_t)count;
}

/// The world's list of soft bodies, pushed.
static void push_bodies(lua_State *L, int world) {
    lua_getiuservalue(L, world, STN_LUA_SOFT_BODIES);
}

/// A name that the world does not have yet, pushed: as given, or `type` with the next free number.
static const char *push_name(const stn_fields *f, stn_lua_world *w, const char *type) {
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
        if (given != NULL && (given[0] == '\0' || strchr(given, '/') != NULL || strlen(given) > 200)) {
            stn_lua_fail(L, "%s: name '%.40s' must have 1 to 200 letters and no '/'", f->owner, given);
        }
    }
    lua_remove(L, names);
    return lua_tostring(L, -1);
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
    spec.mesh = push_mesh(&f, solid);
    int mesh = lua_gettop(L);
    read_regions(&f, &spec);
    read_attachments(&f, w, &spec);
    spec.name = push_name(&f, w, solid ? "soft" : "cloth");
    stn_soft_body body = {.cloud = -1};
    stn_error err = {0};
    if (stn_soft_add(builder, w->session->context, &spec, &body, &err) < 0) {
        stn_lua_fail(L, "%s: %s", owner, err.text);
    }
    stn_lua_take_name(L, 1, spec.name);
    push_bodies(L, 1);
    lua_createtable(L, 0, 2);
    lua_pushstring(L, spec.name);
    lua_setfield(L, -2, "name");
    lua_pushvalue(L, mesh);
    lua_setfield(L, -2, "mesh");
    lua_rawseti(L, -2, body.cloud + 1);
    stn_lua_object_new(L, 1, STN_LUA_SOFT, body.cloud);
    return 1;
}

static int world_soft(lua_State *L) {
    static const char *const keys[] = {"box", "ball", "cylinder", "finger", "model", SOFT_KEYS, NULL};
    return add_soft(L, "world:soft", keys, true);
}

static int world_cloth(lua_State *L) {
    static const char *const keys[] = {"size", "thickness", "bending", SOFT_KEYS, NULL};
    return add_soft(L, "world:cloth", keys, false);
}

/// world:soft_body(name)
static int world_soft_body(lua_State *L) {
    stn_lua_world_check(L, 1);
    const char *name = luaL_checkstring(L, 2);
    const char *names[257] = {NULL};
    lua_settop(L, 2);
    push_bodies(L, 1);
    lua_Integer count = (lua_Integer)lua_rawlen(L, -1);
    luaL_checkstack(L, 300, NULL);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, 3, i);
        lua_getfield(L, -1, "name");
        if (strcmp(lua_tostring(L, -1), name) == 0) {
            stn_lua_object_new(L, 1, STN_LUA_SOFT, (int32_t)i - 1);
            return 1;
        }
        names[i < 256 ? i - 1 : 255] = lua_tostring(L, -1); // the list keeps it alive
        lua_pop(L, 2);
    }
    stn_lua_unknown(L, "the world (soft bodies)", name, names);
}

static int world_soft_bodies(lua_State *L) {
    stn_lua_world_check(L, 1);
    push_bodies(L, 1);
    lua_Integer count = (lua_Integer)lua_rawlen(L, -1);
    lua_createtable(L, (int)count, 0);
    for (lua_Integer i = 1; i <= count; i++) {
        stn_lua_object_new(L, 1, STN_LUA_SOFT, (int32_t)i - 1);
        lua_rawseti(L, -2, i);
    }
    return 1;
}

const luaL_Reg stn_lua_soft_methods[] = {{"soft", world_soft},
                                         {"cloth", world_cloth},
                                         {"soft_body", world_soft_body},
                                         {"soft_bodies", world_soft_bodies},
                                         {NULL, NULL}};

// ------------------------------------------------------------------------------------------------------------- in a
// run

/// A soft body in its complete world.
typedef struct soft {
    stn_lua_world *w;
    const stn_model *model;
    const stn_tree *tree;
    int32_t tree_index;
    const double *x, *v, *mass; // positions, velocities (3 node_count), masses (node_count)
} soft;

static soft check_soft(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_SOFT);
    soft s = {.w = o->world, .model = stn_world_model(o->world->world)};
    s.tree_index = stn_lua_soft_tree(o);
    s.tree = &s.model->trees[s.tree_index];
    const stn_state *state = stn_world_state(o->world->world);
    s.x = &state->q[s.tree->q_start];
    s.v = &state->v[s.tree->v_start];
    s.mass = &s.model->node_mass[s.tree->node_start];
    return s;
}

/// The mesh that the describing call made; raises where the world came without it.
static const stn_soft_mesh *mesh_of(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_open(L, 1, STN_LUA_SOFT);
    lua_getiuservalue(L, 1, 1);
    push_bodies(L, -1);
    lua_rawgeti(L, -1, o->index + 1);
    lua_getfield(L, -1, "mesh");
    const stn_soft_mesh *mesh = *(stn_soft_mesh *const *)lua_touserdata(L, -1);
    lua_pop(L, 4);
    return mesh;
}

static stn_vec3 vector_at(const double *x, int32_t i) {
    return stn_vec3_make(x[3 * (size_t)i], x[3 * (size_t)i + 1], x[3 * (size_t)i + 2]);
}

static int push_vectors(lua_State *L, const double *x, int32_t count) {
    lua_createtable(L, count, 0);
    for (int32_t i = 0; i < count; i++) {
        stn_lua_push_vector(L, vector_at(x, i));
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static int soft_positions(lua_State *L) {
    const soft s = check_soft(L);
    return push_vectors(L, s.x, s.tree->node_count);
}

static int soft_velocities(lua_State *L) {
    const soft s = check_soft(L);
    return push_vectors(L, s.v, s.tree->node_count);
}

/// The nodes that the selectors at `index` tell, in memory on Lua's stack; without them all.
static const int32_t *select_nodes(lua_State *L, int index, const char *owner, int32_t *count) {
    const stn_soft_mesh *mesh = mesh_of(L);
    static const stn_soft_selector all = {.where = STN_SOFT_IN_REGION, .region = "all"};
    const stn_soft_selector *selectors = &all;
    int32_t selector_count = 1;
    if (!lua_isnoneornil(L, index)) {
        selectors = read_selectors(L, index, owner, &selector_count);
    }
    int32_t *nodes = lua_newuserdatauv(L, (size_t)mesh->node_count * sizeof *nodes, 0);
    stn_error err = {0};
    if (stn_soft_mesh_select(mesh, selector_count, selectors, nodes, count, &err) < 0) {
        stn_lua_fail(L, "%s: %s", owner, err.text);
    }
    return nodes;
}

/// soft:nodes(selector): numbers of nodes, from 1.
static int soft_nodes(lua_State *L) {
    lua_settop(L, 2);
    int32_t count = 0;
    const int32_t *nodes = select_nodes(L, 2, "nodes", &count);
    lua_createtable(L, count, 0);
    for (int32_t i = 0; i < count; i++) {
        lua_pushinteger(L, nodes[i] + 1);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/// soft:position(selector), soft:velocity(selector): mean over these nodes, without a selector over all by their
/// masses; a number: of that node.
static int mean_of(lua_State *L, bool velocity) {
    lua_settop(L, 2);
    const char *owner = velocity ? "velocity" : "position";
    const soft s = check_soft(L);
    const double *values = velocity ? s.v : s.x;
    if (lua_type(L, 2) == LUA_TNUMBER) {
        double number = stn_lua_real(L, 2, owner, "1");
        if (!(number >= 1.0 && number <= s.tree->node_count) || number != floor(number)) {
            stn_lua_fail(L, "%s: there is no node %g; nodes have numbers from 1 to %d", owner, number,
                         s.tree->node_count);
        }
        stn_lua_push_vector(L, vector_at(values, (int32_t)number - 1));
        return 1;
    }
    int32_t count = 0;
    const int32_t *nodes = select_nodes(L, 2, owner, &count);
    stn_vec3 sum = stn_vec3_zero();
    double mass = 0.0;
    for (int32_t i = 0; i < count; i++) {
        double weight = lua_isnil(L, 2) ? s.mass[nodes[i]] : 1.0;
        sum = stn_vec3_mul_add(sum, weight, vector_at(values, nodes[i]));
        mass += weight;
    }
    stn_lua_push_vector(L, stn_vec3_scale(1.0 / mass, sum));
    return 1;
}

static int soft_position(lua_State *L) {
    return mean_of(L, false);
}

static int soft_velocity(lua_State *L) {
    return mean_of(L, true);
}

static int soft_mass(lua_State *L) {
    const soft s = check_soft(L);
    double mass = 0.0;
    for (int32_t i = 0; i < s.tree->node_count; i++) {
        mass += s.mass[i];
    }
    lua_pushnumber(L, mass);
    return 1;
}

static int soft_volume(lua_State *L) {
    const soft s = check_soft(L);
    lua_pushnumber(L, stn_soft_mesh_volume(mesh_of(L), s.x));
    return 1;
}

/// soft:attachment_force(link): what the link, or "world", exerted on the nodes that it holds in the last step [N].
static int soft_attachment_force(lua_State *L) {
    static const char owner[] = "attachment_force";
    const soft s = check_soft(L);
    stn_link_range links = {STN_WORLD, 1};
    if (lua_type(L, 2) != LUA_TSTRING || strcmp(lua_tostring(L, 2), "world") != 0) {
        links = stn_lua_links(L, 2, s.w, owner);
    }
    stn_vec3 sum = stn_vec3_zero();
    bool held = false;
    for (int32_t i = 0; i < s.tree->node_count; i++) {
        int32_t attachment = s.model->node_attachment[s.tree->node_start + i];
        int32_t link = attachment >= 0 ? s.model->attachments[attachment].link : INT32_MAX;
        double force[6] = {0.0};
        if (link < links.start || link >= links.start + links.count) {
            continue;
        }
        held = true;
        if (stn_world_attachment_force(s.w->world, attachment, force) >= 3) {
            sum = stn_vec3_add(sum, stn_vec3_make(force[0], force[1], force[2]));
        }
    }
    if (!held) {
        stn_lua_fail(L, "%s: none of the body's nodes is attached to '%s'", owner,
                     links.start == STN_WORLD ? "world" : stn_lua_push_links_name(L, s.w, links));
    }
    stn_lua_push_vector(L, sum);
    return 1;
}

/// soft:contact_force([by, [options]]): as world:contact_force(soft, by, options).
static int soft_contact_force(lua_State *L) {
    lua_settop(L, 3);
    (void)stn_lua_object_check(L, 1, STN_LUA_SOFT);
    lua_getiuservalue(L, 1, 1);
    lua_insert(L, 1);
    lua_getfield(L, 1, "contact_force");
    lua_insert(L, 1);
    lua_call(L, 4, 1);
    return 1;
}

// -------------------------------------------------------------------------------------------------------------
// elements

/// Chamber number of the argument; raises when there is none.
static int32_t check_chamber(lua_State *L, int index, const char *owner) {
    const stn_soft_mesh *mesh = mesh_of(L);
    double number = stn_lua_real(L, index, owner, "1");
    if (mesh->chamber_count == 0) {
        stn_lua_fail(L, "%s: the body has no chambers", owner);
    }
    if (!(number >= 1.0 && number <= mesh->chamber_count) || number != floor(number)) {
        stn_lua_fail(L, "%s: there is no chamber %g; the body has %d, from 1", owner, number, mesh->chamber_count);
    }
    return (int32_t)number - 1;
}

/// The group of elements of a chamber.
static int32_t chamber_group(const soft *s, int32_t chamber) {
    char name[32];
    snprintf(name, sizeof name, "chamber%d", chamber + 1);
    int32_t group = 0;
    while (s->model->element_groups[group].tree != s->tree_index ||
           strcmp(s->model->element_groups[group].name, name) != 0) {
        group++;
    }
    return group;
}

/// soft:set_pressure(chamber, Pa); soft:set_pressure(Pa): all chambers.
static int soft_set_pressure(lua_State *L) {
    static const char owner[] = "set_pressure";
    const bool all = lua_gettop(L) <= 2; // a second argument that is nil is a mistake, not all chambers
    lua_settop(L, 3);
    const soft s = check_soft(L);
    int32_t first = all ? 0 : check_chamber(L, 2, owner), end = all ? mesh_of(L)->chamber_count : first + 1;
    if (end == 0) {
        stn_lua_fail(L, "%s: the body has no chambers", owner);
    }
    double pressure = stn_lua_real(L, all ? 2 : 3, owner, "Pa");
    for (int32_t c = first; c < end; c++) {
        stn_error err = {0};
        stn_lua_check(
            L, stn_world_set_element_channel(s.w->world, chamber_group(&s, c), "pressure", &pressure, 1, &err), &err);
    }
    return 0;
}

static int soft_pressure(lua_State *L) {
    const soft s = check_soft(L);
    stn_constraint_value value;
    stn_error err = {0};
    int32_t chamber = check_chamber(L, 2, "pressure");
    stn_lua_check(L, stn_world_get_element_channel(s.w->world, chamber_group(&s, chamber), "pressure", &value, &err),
                  &err);
    lua_pushnumber(L, value.values[0]);
    return 1;
}

static int soft_chamber_volume(lua_State *L) {
    const soft s = check_soft(L);
    lua_pushnumber(L, stn_soft_mesh_chamber_volume(mesh_of(L), check_chamber(L, 2, "chamber_volume"), s.x));
    return 1;
}

/// Place of an output among those of a plugin and its size; -1: there is none.
static int32_t find_output(const stn_element_group *group, const char *name, int32_t *size) {
    const stn_element_ops *ops = group->instance->desc->ops.element;
    int32_t count = STN_PLUGIN_HAS(ops, output_count) ? ops->output_count : 0;
    for (int32_t i = 0, at = 0; i < count; at += ops->outputs[i++].size) {
        if (strcmp(ops->outputs[i].name, name) == 0) {
            *size = ops->outputs[i].size;
            return at;
        }
    }
    return -1;
}

/// soft:output(name): what the elements tell, a number or list for each.
static int soft_output(lua_State *L) {
    const soft s = check_soft(L);
    const char *name = luaL_checkstring(L, 2);
    const char *names[65] = {NULL};
    int32_t known = 0;
    for (int32_t g = 0; g < s.model->element_group_count; g++) {
        const stn_element_group *group = &s.model->element_groups[g];
        int32_t size = 0, at = group->tree == s.tree_index ? find_output(group, name, &size) : -1;
        const stn_element_ops *ops = group->instance->desc->ops.element;
        for (int32_t i = 0; group->tree == s.tree_index && i < ops->output_count && known < 64; i++) {
            names[known++] = ops->outputs[i].name;
        }
        if (at < 0) {
            continue;
        }
        int32_t stride = stn_element_output_count(group);
        double *values = lua_newuserdatauv(L, (size_t)group->element_count * (size_t)stride * sizeof *values, 0);
        stn_error err = {0};
        stn_lua_check(L, stn_world_element_outputs(s.w->world, g, values, &err), &err);
        lua_createtable(L, group->element_count, 0);
        for (int32_t e = 0; e < group->element_count; e++) {
            const double *value = &values[(size_t)e * (size_t)stride + (size_t)at];
            if (size == 1) {
                lua_pushnumber(L, *value);
            } else {
                stn_lua_push_reals(L, value, size);
            }
            lua_rawseti(L, -2, e + 1);
        }
        return 1;
    }
    stn_lua_unknown(L, "output: the elements", name, names);
}

// -------------------------------------------------------------------------------------------------------------- class

static const char *const soft_properties[] = {"name", "node_count", NULL};

static bool get_soft(lua_State *L, void *self, const char *name) {
    const stn_lua_object *o = self;
    if (strcmp(name, "name") != 0 && strcmp(name, "node_count") != 0) {
        return false;
    }
    if (name[1] == 'o') {
        lua_pushinteger(L, mesh_of(L)->node_count);
        return true;
    }
    lua_getiuservalue(L, 1, 1);
    push_bodies(L, -1);
    lua_rawgeti(L, -1, o->index + 1);
    lua_getfield(L, -1, "name");
    return true;
}

static int soft_text(lua_State *L) {
    luaL_checkudata(L, 1, STN_LUA_SOFT);
    (void)get_soft(L, lua_touserdata(L, 1), "name");
    lua_pushfstring(L, "soft body '%s'", lua_tostring(L, -1));
    return 1;
}

void stn_lua_open_soft(lua_State *L) {
    static const luaL_Reg methods[] = {{"positions", soft_positions},
                                       {"velocities", soft_velocities},
                                       {"nodes", soft_nodes},
                                       {"position", soft_position},
                                       {"velocity", soft_velocity},
                                       {"mass", soft_mass},
                                       {"volume", soft_volume},
                                       {"attachment_force", soft_attachment_force},
                                       {"contact_force", soft_contact_force},
                                       {"set_pressure", soft_set_pressure},
                                       {"pressure", soft_pressure},
                                       {"chamber_volume", soft_chamber_volume},
                                       {"output", soft_output},
                                       {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__tostring", soft_text}, {"__eq", stn_lua_object_equal}, {NULL, NULL}};
    stn_lua_class(L, STN_LUA_SOFT, methods, meta, get_soft, soft_properties);
}
