// SPDX-License-Identifier: Apache-2.0
// Shapes of bodies from tables: sizes or mesh file, material, colour, filters.
#include <stdio.h>
#include <string.h>

#include "bind.h"

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

static void warn_open(const stn_fields *f, const char *path, const stn_mesh *mesh) {
    if (stn_lua_first_time(f->L, path)) {
        stn_lua_where(f->L);
        stn_log(stn_lua_session(f->L)->context, STN_LOG_WARNING,
                "%s%s: %s: the surface is not closed (%d open edges): mass and inertia are those of its convex hull",
                lua_tostring(f->L, -1), f->owner, path, mesh->facts.open_edge_count);
        lua_pop(f->L, 1);
    }
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
    const char *file = stn_fields_text(f, "file");
    bool fixed = false, convex = true, declared = stn_fields_boolean(f, "convex", &convex) && convex;
    int top = lua_gettop(f->L);
    if (file == NULL) {
        stn_lua_fail(f->L, "%s: file is missing; give the name of a mesh file such as \"part.stl\"", f->owner);
    }
    stn_fields_boolean(f, "fixed", &fixed);
    shape->scale = read_scale(f);
    shape->path = stn_lua_find_file(f->L, f->owner, file);
    hold(f->L, keep);
    stn_mesh_request request = {.path = shape->path, .scale = shape->scale};
    const stn_mesh *mesh = load_mesh(f, keep, &request), *hull = mesh;
    bool closed = mesh->solid.mass > 0.0, told = is_given(f, "mass") || is_given(f, "density");
    bool weightless = !closed && !convex && fixed && !told;
    if ((convex || !closed) && !mesh->convex && !weightless) {
        request.convex = true;
        hull = load_mesh(f, keep, &request);
    }
    if (!closed && !weightless) {
        warn_open(f, shape->path, mesh);
    }
    tell_findings(f, shape->path, mesh);
    shape->solid = stn_shape_mesh(closed ? mesh : hull);
    shape->volume = mesh->tetrahedron_count > 0 && !declared ? mesh : NULL;
    shape->geometry.shape = stn_shape_mesh(convex ? hull : mesh);
    lua_settop(f->L, top);
}

// ----------------------------------------------------------------------------------------------------- all shapes

static void read_color(const stn_fields *f, float rgba[4]) {
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

void stn_fields_shape(const stn_fields *f, stn_shape_type type, int keep, stn_lua_shape *out) {
    *out = (stn_lua_shape){.geometry = stn_geometry_spec_default(stn_shape_half_space())};
    stn_geometry_spec *spec = &out->geometry;
    if (type == STN_SHAPE_MESH) {
        read_mesh(f, keep, out);
    } else if (type == STN_SHAPE_HEIGHT_FIELD) {
        stn_fields_height_field(f, keep, out);
    } else {
        spec->shape = out->solid = read_simple(f, type);
    }
    stn_error err = {0};
    if (stn_shape_check(&spec->shape, &err) < 0) {
        stn_lua_fail(f->L, "%s: %s", f->owner, err.text);
    }
    lua_Integer bits = 0;
    stn_lua_surface surface;
    stn_fields_surface(f, &surface);
    out->asked = surface.asked;
    out->density = surface.density;
    spec->material = surface.material;
    spec->field = surface.field;
    read_color(f, spec->rgba);
    if (stn_fields_integer(f, "category", 0, UINT32_MAX, &bits)) {
        spec->category = (uint32_t)bits;
    }
    if (stn_fields_integer(f, "mask", 0, UINT32_MAX, &bits)) {
        spec->mask = (uint32_t)bits;
    }
    stn_fields_vector(f, "surface_velocity", "m/s", &spec->surface_velocity);
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
