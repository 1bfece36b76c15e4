// SPDX-License-Identifier: Apache-2.0
// Height fields from tables of numbers or from a function of the place.
#include <stdio.h>

#include "bind.h"

enum { SIDE_MAX = 1 << 20, HEIGHTS_MAX = 100000000 };

static void release_mesh(void *object) {
    stn_mesh_release(*(const stn_mesh **)object);
}

/// size = {x, y}.
static void read_size(const stn_fields *f, stn_height_field_spec *spec) {
    double size[2];
    if (!stn_fields_reals(f, "size", "m", 2, size)) {
        stn_lua_fail(f->L, "%s: size is missing; give the whole edges {x, y} in m", f->owner);
    }
    spec->size_x = size[0];
    spec->size_y = size[1];
}

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

/// Row r of the list at the stack's top.
static void copy_row(const stn_fields *f, int32_t r, int32_t columns, double *out) {
    char what[96];
    snprintf(what, sizeof what, "%s: heights[%d]", f->owner, r + 1);
    lua_rawgeti(f->L, -1, r + 1);
    stn_lua_reals(f->L, -1, what, "m", columns, out);
    lua_pop(f->L, 1);
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

void stn_fields_height_field(const stn_fields *f, int keep, stn_lua_shape *out) {
    lua_State *L = f->L;
    int top = lua_gettop(L);
    stn_height_field_spec spec = {0};
    read_size(f, &spec);
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
            copy_row(f, r, spec.columns, row);
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
