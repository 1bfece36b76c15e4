// SPDX-License-Identifier: Apache-2.0
// Selectors of nodes of soft bodies: a region, a box, a plane, a list, or several of them.
#include <math.h>
#include <stdio.h>

#include "soft.h"

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

static void read_numbers(const stn_fields *f, const stn_soft_mesh *mesh, stn_soft_selector *s) {
    lua_State *L = f->L;
    lua_Integer count = lua_type(L, -1) == LUA_TTABLE ? (lua_Integer)lua_rawlen(L, -1) : 0;
    if (count < 1 || count > STN_SOFT_COUNT_MAX) {
        stn_lua_fail(L, "%s: nodes must be a list of numbers of nodes, from 1", f->owner);
    }
    int32_t *listed = lua_newuserdatauv(L, (size_t)count * sizeof *listed, 0);
    for (lua_Integer i = 0; i < count; i++) {
        lua_rawgeti(L, -2, i + 1);
        double number = stn_lua_real(L, -1, f->owner, "1");
        if (!(number >= 1.0 && number <= mesh->node_count) || number != floor(number)) {
            stn_lua_fail(L, "%s: nodes[%lld] = %.17g must be a whole number from 1 to %d, as many nodes as there are",
                         f->owner, (long long)i + 1, number, mesh->node_count);
        }
        listed[i] = (int32_t)number - 1;
        lua_pop(L, 1);
    }
    lua_insert(L, -2); // below the value, so that it stays while the caller's frame does
    *s = (stn_soft_selector){.where = STN_SOFT_LISTED, .node_count = (int32_t)count, .listed = listed};
}

/// One selector, the value at `index`: a region's name, or a table with box, plane or nodes. Memory stays on the stack.
static stn_soft_selector read_selector(lua_State *L, int index, const char *owner, const stn_soft_mesh *mesh) {
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
        read_numbers(&f, mesh, &s);
        given++;
    }
    if (given != 1) {
        stn_lua_fail(L, "%s: give one of box, plane and nodes", owner);
    }
    return s;
}

const stn_soft_selector *stn_lua_soft_selectors(lua_State *L, int index, const char *owner, const stn_soft_mesh *mesh,
                                                int32_t *count) {
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
        selectors[i] = read_selector(L, lua_gettop(L), owner, mesh);
    }
    return selectors;
}

const int32_t *stn_lua_soft_select(lua_State *L, int index, const char *owner, const stn_soft_mesh *mesh,
                                   int32_t *count) {
    static const stn_soft_selector all = {.where = STN_SOFT_IN_REGION, .region = "all"};
    const stn_soft_selector *selectors = &all;
    int32_t selector_count = 1;
    if (!lua_isnoneornil(L, index)) {
        selectors = stn_lua_soft_selectors(L, index, owner, mesh, &selector_count);
    }
    int32_t *nodes = lua_newuserdatauv(L, (size_t)mesh->node_count * sizeof *nodes, 0);
    stn_error err = {0};
    if (stn_soft_mesh_select(mesh, selector_count, selectors, nodes, count, &err) < 0) {
        stn_lua_fail(L, "%s: %s", owner, err.text);
    }
    return nodes;
}
