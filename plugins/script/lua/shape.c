// SPDX-License-Identifier: Apache-2.0
// Shapes of bodies from tables: sizes, mesh file or heights; material, colour, filters.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bind.h"

void stn_fields_material(const stn_fields *f, stn_material *out) {
    stn_fields_at_least(f, "mu", "1", 0.0, &out->mu);
    stn_fields_at_least(f, "mu2", "1", 0.0, &out->mu2);
    stn_fields_stiffness(f, "stiffness", "N/m", &out->stiffness);
    stn_fields_at_least(f, "relaxation_time", "s", 0.0, &out->relaxation_time);
    stn_fields_at_least(f, "dissipation", "s/m", 0.0, &out->dissipation);
    stn_fields_at_least(f, "restitution", "1", 0.0, &out->restitution);
    stn_fields_stiffness(f, "modulus", "Pa", &out->modulus);
    stn_fields_at_least(f, "mu_static", "1", 0.0, &out->mu_static);
}

/// The material of that name, or raises with the nearest one.
static const stn_named_material *find_material(lua_State *L, const char *owner, const char *name) {
    const stn_named_material *found = stn_named_material_find(name);
    if (found == NULL) {
        int32_t count = 0;
        const stn_named_material *all = stn_named_materials(&count);
        const char **names = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *names, 0);
        for (int32_t i = 0; i < count; i++) {
            names[i] = all[i].name;
        }
        names[count] = NULL;
        stn_lua_unknown(L, owner, name, names);
    }
    return found;
}

static void read_field(const stn_fields *f, stn_field_spec *out) {
    stn_fields_above_zero(f, "resolution", "m", &out->resolution);
    stn_fields_at_least(f, "field_margin", "m", 0.0, &out->margin);
    stn_fields_above_zero(f, "slab_thickness", "m", &out->thickness);
}

/// `material`: a name of the table of materials, or a table that says what one says.
static void read_material(const stn_fields *f, stn_lua_surface *out) {
    static const char *const keys[] = {"name", "density", STN_MATERIAL_KEYS, STN_FIELD_KEYS, NULL};
    char owner[96];
    if (!stn_fields_push(f, "material")) {
        return;
    }
    if (lua_istable(f->L, -1)) {
        snprintf(owner, sizeof owner, "%s: material", f->owner);
        stn_fields own = stn_fields_open(f->L, -1, owner, keys, 0);
        stn_fields_text(&own, "name"); // what it is called is up to the script
        stn_fields_above_zero(&own, "density", "kg/m^3", &out->density);
        stn_fields_material(&own, &out->material);
        read_field(&own, &out->field);
        lua_pop(f->L, 1);
        return;
    }
    lua_pop(f->L, 1);
    snprintf(owner, sizeof owner, "%s: the table of materials", f->owner);
    const stn_named_material *named = find_material(f->L, owner, stn_fields_text(f, "material"));
    out->material = named->surface;
    out->density = named->density;
}

void stn_fields_surface(const stn_fields *f, stn_lua_surface *out) {
    *out = (stn_lua_surface){.asked = stn_material_unset(),
                             .material = stn_material_unset(),
                             .field = stn_field_spec_unset(),
                             .density = (double)NAN};
    read_material(f, out);
    stn_fields_material(f, &out->asked);
    if (!isnan(out->asked.mu)) { // alone it means all
        out->material.mu_static = out->material.mu2 = (double)NAN;
    }
    stn_fields_material(f, &out->material);
    read_field(f, &out->field);
    out->asked.dissipation = out->material.dissipation; // no material has one by its name
}

/// stn.material "steel": its density, mu, mu_static and modulus.
static int material_by_name(lua_State *L) {
    const stn_named_material *m = find_material(L, "stn.material: the table of materials", luaL_checkstring(L, 1));
    lua_createtable(L, 0, 5);
    lua_pushstring(L, m->name);
    lua_setfield(L, -2, "name");
    stn_lua_set_number(L, "density", m->density);
    stn_lua_set_number(L, "mu", m->surface.mu);
    stn_lua_set_number(L, "mu_static", isnan(m->surface.mu_static) ? m->surface.mu : m->surface.mu_static);
    stn_lua_set_number(L, "modulus", m->surface.modulus);
    return 1;
}

const luaL_Reg stn_lua_material_functions[] = {
    {"material", material_by_name},
    {NULL, NULL},
};

static const char *id_of(const stn_instance *plugin) {
    return plugin != NULL ? plugin->desc->id : "none";
}

/// `effective`: the value is not the one that means "none of it".
/// `word`: the capability of those that use the key.
static void warn_unread(const stn_fields *f, const stn_world *world, const char *key, const char *word,
                        bool effective) {
    const stn_instance *law = stn_world_plugin(world, STN_KIND_LAW);
    const stn_instance *solver = stn_world_plugin(world, STN_KIND_SOLVER);
    const stn_instance *contact = stn_world_plugin(world, STN_KIND_CONTACT);
    char once[64];
    snprintf(once, sizeof once, "material.%s", key);
    if (!effective || stn_plugin_says(law, word) || stn_plugin_says(solver, word) || stn_plugin_says(contact, word) ||
        !stn_lua_first_time(f->L, once)) {
        return;
    }
    stn_lua_where(f->L);
    stn_log(stn_lua_session(f->L)->context, STN_LOG_WARNING,
            "%s%s: %s has no effect: neither law %s nor solver %s nor contact %s uses it", lua_tostring(f->L, -1),
            f->owner, key, id_of(law), id_of(solver), id_of(contact));
    lua_pop(f->L, 1);
}

void stn_fields_warn_dissipation(const stn_fields *f, const stn_world *world, const stn_material *given) {
    warn_unread(f, world, "dissipation", "dissipation", given->dissipation > 0.0);
}

void stn_fields_warn_unread(const stn_fields *f, const stn_world *world, const stn_material *given) {
    stn_fields_warn_dissipation(f, world, given);
    warn_unread(f, world, "modulus", "modulus", isfinite(given->modulus));
}

void stn_fields_warn_modulus(const stn_fields *f, const stn_material *given) {
    if (isfinite(given->modulus) && stn_lua_first_time(f->L, "pair.modulus")) {
        stn_lua_where(f->L);
        stn_log(stn_lua_session(f->L)->context, STN_LOG_WARNING,
                "%s%s: modulus has no effect on a pair: give it to the body that is to be compliant",
                lua_tostring(f->L, -1), f->owner);
        lua_pop(f->L, 1);
    }
}

void stn_fields_warn_field(const stn_fields *f, const stn_world *world, const stn_field_spec *given) {
    warn_unread(f, world, "resolution", "modulus", !isnan(given->resolution));
    warn_unread(f, world, "field_margin", "modulus", given->margin > 0.0);
    warn_unread(f, world, "slab_thickness", "modulus", !isnan(given->thickness));
}

void stn_fields_warn_restitution(const stn_fields *f, const stn_world *world, const stn_material *given) {
    bool law = stn_world_plugin(world, STN_KIND_LAW) != NULL; // without one Newton's law of impact holds
    warn_unread(f, world, "restitution", "restitution", law && given->restitution > 0.0);
}

// --------------------------------------------------------------------------------------------------------------- shape

// -------------------------------------------------------------------------------------------------- simple shapes

static double read_length(const stn_fields *f, const char *key) {
    double length = 0.0;
    if (!stn_fields_above_zero(f, key, "m", &length)) {
        stn_lua_fail(f->L, "%s: %s is missing; give it in m", f->owner, key);
    }
    return length;
}

static stn_vec3 read_sides(const stn_fields *f, const char *key, const char *meaning) {
    stn_vec3 size;
    if (!stn_fields_vector(f, key, "m", &size)) {
        stn_lua_fail(f->L, "%s: %s is missing; give %s {x, y, z} in m", f->owner, key, meaning);
    }
    if (!(size.x > 0.0 && size.y > 0.0 && size.z > 0.0)) {
        stn_lua_fail(f->L, "%s: %s = {%g, %g, %g} m must be > 0", f->owner, key, size.x, size.y, size.z);
    }
    return size;
}

/// Reads the sizes that a shape of this type has.
static stn_shape read_simple(const stn_fields *f, stn_shape_type type) {
    double radius = 0.0;
    switch (type) {
    case STN_SHAPE_SPHERE:
        return stn_shape_sphere(read_length(f, "radius"));
    case STN_SHAPE_BOX:
        return stn_shape_box(stn_vec3_scale(0.5, read_sides(f, "size", "the whole edges")));
    case STN_SHAPE_CAPSULE:
        radius = read_length(f, "radius");
        return stn_shape_capsule(radius, 0.5 * read_length(f, "length"));
    case STN_SHAPE_CYLINDER:
        radius = read_length(f, "radius");
        return stn_shape_cylinder(radius, 0.5 * read_length(f, "length"));
    case STN_SHAPE_ELLIPSOID:
        return stn_shape_ellipsoid(read_sides(f, "radii", "the semi-axes"));
    default:
        return stn_shape_half_space();
    }
}

// --------------------------------------------------------------------------------------------------------- meshes

static void release_mesh(void *object) {
    stn_mesh_release(*(const stn_mesh **)object);
}

/// Appends the value on top of the stack to the list at `keep`, and pops it.
static void hold(lua_State *L, int keep) {
    lua_rawseti(L, keep, (lua_Integer)lua_rawlen(L, keep) + 1);
}

/// A mesh of the file, or its hull; the list at `keep` holds it.
static const stn_mesh *load_mesh(const stn_fields *f, int keep, const stn_mesh_request *request) {
    const stn_mesh **mesh = stn_lua_own(f->L, sizeof *mesh, release_mesh);
    stn_error err = {0};
    if (stn_mesh_load(stn_lua_session(f->L)->context, request, mesh, &err) < 0) {
        stn_lua_fail(f->L, "%s: %s", f->owner, err.text);
    }
    const stn_mesh *loaded = *mesh;
    hold(f->L, keep);
    return loaded;
}

/// One number for all axes, or one for each; negative ones mirror.
static stn_vec3 read_scale(const stn_fields *f) {
    stn_vec3 scale = {1.0, 1.0, 1.0};
    lua_State *L = f->L;
    if (!stn_fields_push(f, "scale")) {
        return scale;
    }
    bool whole = lua_type(L, -1) == LUA_TNUMBER;
    lua_pop(L, 1);
    if (whole) {
        stn_fields_real(f, "scale", "1", &scale.x);
        scale.y = scale.z = scale.x;
    } else {
        stn_fields_vector(f, "scale", "1", &scale);
    }
    if (scale.x == 0.0 || scale.y == 0.0 || scale.z == 0.0) {
        stn_lua_fail(L, "%s: scale = {%g, %g, %g} must not be 0", f->owner, scale.x, scale.y, scale.z);
    }
    return scale;
}

/// What was found in tetrahedra, once for each file.
static void tell_findings(const stn_fields *f, const char *path, const stn_mesh *mesh) {
    stn_mesh_finding found;
    if (!stn_mesh_finding_of(mesh, 0, &found) || !stn_lua_first_time(f->L, path)) {
        return;
    }
    stn_lua_where(f->L);
    for (int32_t i = 0; stn_mesh_finding_of(mesh, i, &found); i++) {
        stn_log(stn_lua_session(f->L)->context, found.warning ? STN_LOG_WARNING : STN_LOG_NOTE, "%s%s: %s: %s",
                lua_tostring(f->L, -1), f->owner, path, found.text);
    }
    lua_pop(f->L, 1);
}

static bool is_given(const stn_fields *f, const char *key) {
    if (!stn_fields_push(f, key)) {
        return false;
    }
    lua_pop(f->L, 1);
    return true;
}

/// The hull of the file's mesh, or its surface (convex = false); tetrahedra are kept for a pressure field, unless it is
/// to be convex (convex = true). It weighs what the closed surface encloses, else what
/// the hull does; an open surface that is part of the world weighs nothing unless it is told to.
static void read_mesh(const stn_fields *f, int keep, stn_lua_shape *shape) {
    lua_State *L = f->L;
    const char *file = stn_fields_text(f, "file");
    bool fixed = false, convex = true, declared = stn_fields_boolean(f, "convex", &convex) && convex;
    int top = lua_gettop(L);
    if (file == NULL) {
        stn_lua_fail(L, "%s: file is missing; give the name of a mesh file such as \"part.stl\"", f->owner);
    }
    stn_fields_boolean(f, "fixed", &fixed);
    shape->scale = read_scale(f);
    shape->path = stn_lua_find_file(L, f->owner, file);
    hold(L, keep);
    stn_mesh_request request = {.path = shape->path, .scale = shape->scale};
    const stn_mesh *mesh = load_mesh(f, keep, &request), *hull = mesh;
    bool closed = mesh->solid.mass > 0.0, told = is_given(f, "mass") || is_given(f, "density");
    bool weightless = !closed && !convex && fixed && !told;
    if ((convex || !closed) && !mesh->convex && !weightless) {
        request.convex = true;
        hull = load_mesh(f, keep, &request);
    }
    if (!closed && !weightless && stn_lua_first_time(L, shape->path)) {
        stn_lua_where(L);
        stn_log(stn_lua_session(L)->context, STN_LOG_WARNING,
                "%s%s: %s: the surface is not closed (%d open edges): mass and inertia are those of its convex hull",
                lua_tostring(L, -1), f->owner, shape->path, mesh->facts.open_edge_count);
        lua_pop(L, 1);
    }
    tell_findings(f, shape->path, mesh);
    shape->solid = stn_shape_mesh(closed ? mesh : hull);
    shape->volume = mesh->tetrahedron_count > 0 && !declared ? mesh : NULL;
    shape->geometry.shape = stn_shape_mesh(convex ? hull : mesh);
    lua_settop(L, top);
}

// ------------------------------------------------------------------------------------------------------- height fields

// Height fields from tables of numbers or from a function of the place.

enum { SIDE_MAX = 1 << 20, HEIGHTS_MAX = 100000000 };

/// Counts of rows and columns: those of the list at the stack's top, which the keys may repeat, or the keys alone.
static void read_counts(const stn_fields *f, stn_height_field_spec *spec) {
    lua_State *L = f->L;
    lua_Integer rows = 0, columns = 0;
    bool counted = stn_fields_integer(f, "rows", 2, SIDE_MAX, &rows);
    counted = stn_fields_integer(f, "columns", 2, SIDE_MAX, &columns) && counted;
    if (lua_type(L, -1) == LUA_TTABLE) {
        lua_Integer given = (lua_Integer)lua_rawlen(L, -1);
        lua_rawgeti(L, -1, 1);
        lua_Integer width = lua_type(L, -1) == LUA_TTABLE ? (lua_Integer)lua_rawlen(L, -1) : 0;
        lua_pop(L, 1);
        if (given < 2 || width < 2 || given > SIDE_MAX || width > SIDE_MAX) {
            stn_lua_fail(L, "%s: heights has %lld rows of %lld numbers, it needs 2 x 2 at least: { {z, z}, {z, z} }",
                         f->owner, (long long)given, (long long)width);
        }
        if ((rows != 0 && rows != given) || (columns != 0 && columns != width)) {
            stn_lua_fail(L, "%s: heights has %lld rows of %lld numbers, but rows and columns say otherwise", f->owner,
                         (long long)given, (long long)width);
        }
        rows = given;
        columns = width;
    } else if (!counted) {
        stn_lua_fail(L, "%s: heights is a function, so rows and columns must say at how many places it is asked",
                     f->owner);
    }
    if (rows * columns > HEIGHTS_MAX) {
        stn_lua_fail(L, "%s: %lld x %lld heights are too many, %d are the most", f->owner, (long long)rows,
                     (long long)columns, HEIGHTS_MAX);
    }
    spec->rows = (int32_t)rows;
    spec->columns = (int32_t)columns;
}

/// Row r by asking the function at the stack's top for each place.
static void compute_row(const stn_fields *f, const stn_height_field_spec *spec, int32_t r, double *out) {
    lua_State *L = f->L;
    double y = spec->size_y * (r / (spec->rows - 1.0) - 0.5);
    for (int32_t c = 0; c < spec->columns; c++) {
        double x = spec->size_x * (c / (spec->columns - 1.0) - 0.5);
        char what[128];
        lua_pushvalue(L, -1);
        lua_pushnumber(L, x);
        lua_pushnumber(L, y);
        lua_call(L, 2, 1);
        snprintf(what, sizeof what, "%s: heights(%g, %g)", f->owner, x, y);
        out[c] = stn_lua_real(L, -1, what, "m");
        lua_pop(L, 1);
    }
}

/// Reads size, heights, rows and columns of a height field (shape.c).
static void read_height_field(const stn_fields *f, int keep, stn_lua_shape *out) {
    lua_State *L = f->L;
    int top = lua_gettop(L);
    stn_height_field_spec spec = {0};
    double size[2];
    if (!stn_fields_reals(f, "size", "m", 2, size)) {
        stn_lua_fail(L, "%s: size is missing; give the whole edges {x, y} in m", f->owner);
    }
    spec.size_x = size[0];
    spec.size_y = size[1];
    if (!stn_fields_push(f, "heights")) {
        stn_lua_fail(L, "%s: heights is missing; give rows of numbers or a function(x, y) that returns z, in m",
                     f->owner);
    }
    bool computed = lua_type(L, -1) == LUA_TFUNCTION;
    if (!computed && lua_type(L, -1) != LUA_TTABLE) {
        stn_lua_fail(L, "%s: heights must be rows of numbers or a function(x, y), got %s", f->owner,
                     luaL_typename(L, -1));
    }
    read_counts(f, &spec);
    double *heights = lua_newuserdatauv(L, sizeof *heights * (size_t)spec.rows * (size_t)spec.columns, 0);
    lua_insert(L, -2); // the source stays on top
    for (int32_t r = 0; r < spec.rows; r++) {
        double *row = heights + (size_t)r * (size_t)spec.columns;
        if (computed) {
            compute_row(f, &spec, r, row);
        } else {
            char what[96];
            snprintf(what, sizeof what, "%s: heights[%d]", f->owner, r + 1);
            lua_rawgeti(L, -1, r + 1);
            stn_lua_reals(L, -1, what, "m", spec.columns, row);
            lua_pop(L, 1);
        }
    }
    spec.heights = heights;
    stn_mesh **mesh = stn_lua_own(L, sizeof *mesh, release_mesh);
    stn_error err = {0};
    if (stn_mesh_create_height_field(stn_lua_session(L)->context, &spec, mesh, &err) < 0) {
        stn_lua_fail(L, "%s: %s", f->owner, err.text);
    }
    out->geometry.shape = out->solid = stn_shape_mesh(*mesh);
    out->scale = stn_vec3_make(1.0, 1.0, 1.0);
    lua_rawseti(L, keep, (lua_Integer)lua_rawlen(L, keep) + 1); // the list holds it
    lua_settop(L, top);
}

// ----------------------------------------------------------------------------------------------------- all shapes

void stn_fields_color(const stn_fields *f, float rgba[4]) {
    if (!stn_fields_push(f, "color")) {
        return;
    }
    double color[4] = {0.0, 0.0, 0.0, 1.0};
    int32_t count = lua_type(f->L, -1) == LUA_TTABLE && lua_rawlen(f->L, -1) == 4 ? 4 : 3;
    char what[96];
    snprintf(what, sizeof what, "%s: color", f->owner);
    stn_lua_reals(f->L, -1, what, "0 to 1", count, color);
    for (int i = 0; i < 4; i++) {
        if (!(color[i] >= 0.0 && color[i] <= 1.0)) {
            stn_lua_fail(f->L, "%s[%d] = %g must be from 0 to 1", what, i + 1, color[i]);
        }
        rgba[i] = (float)color[i];
    }
    lua_pop(f->L, 1);
}

void stn_fields_filter(const stn_fields *f, uint32_t *category, uint32_t *mask) {
    lua_Integer bits = 0;
    if (stn_fields_integer(f, "category", 0, UINT32_MAX, &bits)) {
        *category = (uint32_t)bits;
    }
    if (stn_fields_integer(f, "mask", 0, UINT32_MAX, &bits)) {
        *mask = (uint32_t)bits;
    }
}

void stn_fields_shape(const stn_fields *f, stn_shape_type type, int keep, stn_lua_shape *out) {
    *out = (stn_lua_shape){.geometry = stn_geometry_spec_default(stn_shape_half_space())};
    stn_geometry_spec *spec = &out->geometry;
    if (type == STN_SHAPE_MESH) {
        read_mesh(f, keep, out);
    } else if (type == STN_SHAPE_HEIGHT_FIELD) {
        read_height_field(f, keep, out);
    } else {
        spec->shape = out->solid = read_simple(f, type);
    }
    stn_error err = {0};
    if (stn_shape_check(&spec->shape, &err) < 0) {
        stn_lua_fail(f->L, "%s: %s", f->owner, err.text);
    }
    stn_lua_surface surface;
    stn_fields_surface(f, &surface);
    out->asked = surface.asked;
    out->density = surface.density;
    spec->material = surface.material;
    spec->field = surface.field;
    stn_fields_color(f, spec->rgba);
    stn_fields_filter(f, &spec->category, &spec->mask);
    stn_fields_vector(f, "surface_velocity", "m/s", &spec->surface_velocity);
    stn_fields_vector(f, "friction_direction", "1", &spec->friction_direction);
    stn_fields_boolean(f, "visual", &spec->visual);
}

bool stn_fields_body_pose(const stn_fields *f, stn_pose *pose) {
    *pose = stn_pose_identity();
    bool whole = stn_fields_pose(f, "pose", pose), parts = stn_fields_pose_here(f, pose);
    if (whole && parts) {
        stn_lua_fail(f->L, "%s: give pose, or xyz with rpy or quat, not both", f->owner);
    }
    return whole || parts;
}

void stn_fields_named_shape(const stn_fields *f, int keep, stn_lua_shape *out) {
    static const char *const words[] = {"sphere", "box", "capsule", "cylinder", "ellipsoid", "mesh", NULL};
    static const stn_shape_type types[] = {STN_SHAPE_SPHERE,   STN_SHAPE_BOX,       STN_SHAPE_CAPSULE,
                                           STN_SHAPE_CYLINDER, STN_SHAPE_ELLIPSOID, STN_SHAPE_MESH};
    lua_State *L = f->L;
    lua_rawgeti(L, f->table, 1);
    if (lua_type(L, -1) != LUA_TSTRING) {
        stn_lua_fail(L, "%s: the first entry must be a shape's name, as in { \"box\", size = {...} }", f->owner);
    }
    const char *word = lua_tostring(L, -1);
    int which = 0;
    while (words[which] != NULL && strcmp(words[which], word) != 0) {
        which++;
    }
    if (words[which] == NULL) {
        stn_lua_unknown(L, f->owner, word, words);
    }
    lua_pop(L, 1);
    stn_fields_shape(f, types[which], keep, out);
    stn_fields_body_pose(f, &out->geometry.pose);
}
