// SPDX-License-Identifier: Apache-2.0
// Questions to a world: distances, rays, overlaps, the nearest shape.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bind.h"
#include "common/path.h"

/// Shapes that a query looks at: those that are marked, or all but those.
typedef struct shape_set {
    const stn_model *model;
    bool *marked; // (geometry_count), on Lua's stack
    bool rest;    // those that are not marked
} shape_set;

static bool accepts(const void *user, int32_t geometry) {
    const shape_set *set = user;
    return set->marked[geometry] != set->rest;
}

static stn_query query_of(const shape_set *set) {
    stn_query query = {.accepts = accepts, .user = set};
    return query;
}

/// No shape is marked; pushes the marks.
static shape_set begin_set(lua_State *L, const stn_lua_world *w, bool rest) {
    const stn_model *model = stn_world_model(w->world);
    size_t size = sizeof(bool) * ((size_t)model->geometry_count + 1);
    shape_set set = {model, lua_newuserdatauv(L, size, 0), rest};
    memset(set.marked, 0, size);
    return set;
}

/// Marks the shapes of a side.
static void mark(const shape_set *set, const stn_lua_side *side) {
    for (int32_t g = 0; g < set->model->geometry_count; g++) {
        set->marked[g] = set->marked[g] || stn_lua_side_has(side, g);
    }
}

/// { group, "link" } names one link; any other table is a list.
static bool is_list(lua_State *L, int index) {
    if (lua_type(L, index) != LUA_TTABLE) {
        return false;
    }
    lua_rawgeti(L, index, 1);
    lua_rawgeti(L, index, 2);
    bool pair = luaL_testudata(L, -2, STN_LUA_GROUP) != NULL && lua_type(L, -1) == LUA_TSTRING;
    lua_pop(L, 2);
    return !pair || lua_rawlen(L, index) != 2;
}

bool stn_fields_sides(const stn_fields *f, const char *key, stn_lua_world *w, bool *marked) {
    lua_State *L = f->L;
    const shape_set set = {.model = stn_world_model(w->world), .marked = marked};
    if (!stn_fields_push(f, key)) {
        return false;
    }
    int value = lua_gettop(L);
    if (!is_list(L, value)) {
        const stn_lua_side side = stn_lua_side_at(L, value, w, f->owner);
        mark(&set, &side);
    } else {
        for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, value); i++) {
            lua_rawgeti(L, value, i);
            const stn_lua_side side = stn_lua_side_at(L, -1, w, f->owner);
            mark(&set, &side);
            lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
    return true;
}

/// exclude = one side, named as those of contact forces, or a list of them; pushes the marks.
static shape_set read_exclude(const stn_fields *f, stn_lua_world *w) {
    shape_set set = begin_set(f->L, w, true);
    stn_fields_sides(f, "exclude", w, set.marked);
    return set;
}

/// Sets the fields `group` and `link` of the table on top, nil where the geometry is the world's own. Of nodes the
/// group is the soft body and there is no link.
static void set_owner(lua_State *L, const stn_model *model, int32_t geometry, const char *group, const char *link) {
    const stn_geometry *g = &model->geometries[geometry];
    if (g->link >= 0) {
        stn_lua_object_new(L, 1, STN_LUA_LINK, g->link);
        lua_setfield(L, -2, link);
        stn_lua_object_new(L, 1, STN_LUA_GROUP, model->links[g->link].group);
        lua_setfield(L, -2, group);
    } else if (g->body < 0) {
        stn_lua_object_new(L, 1, STN_LUA_SOFT, stn_lua_soft_index(model, model->node_tree[g->node]));
        lua_setfield(L, -2, group);
    }
}

// ----------------------------------------------------------------------------------------------------- distances

/// world:distance(a, b [, { max = }])
static int world_distance(lua_State *L) {
    static const char *const keys[] = {"max", NULL};
    static const char owner[] = "world:distance";
    lua_settop(L, 4);
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    double max = INFINITY;
    if (!lua_isnil(L, 4)) {
        stn_fields f = stn_fields_open(L, 4, owner, keys, 0);
        stn_fields_reach(&f, "max", &max);
    }
    stn_lua_side sides[2];
    shape_set sets[2];
    stn_lua_sides(L, 2, w, owner, &sides[0], &sides[1]);
    for (int i = 0; i < 2; i++) {
        sets[i] = begin_set(L, w, false);
        mark(&sets[i], &sides[i]);
    }
    stn_query a = query_of(&sets[0]), b = query_of(&sets[1]);
    stn_world_distance_result d;
    stn_error err = {0};
    stn_lua_check(L, stn_world_distance(w->world, &a, &b, max, &d, &err), &err);
    if (d.geometry_a < 0) {
        lua_pushnil(L);
        return 1;
    }
    lua_createtable(L, 0, 8);
    stn_lua_set_number(L, "distance", d.distance);
    stn_lua_set_vector(L, "point_a", d.point_a);
    stn_lua_set_vector(L, "point_b", d.point_b);
    stn_lua_set_vector(L, "normal", d.normal);
    set_owner(L, sets[0].model, d.geometry_a, "a", "link_a");
    set_owner(L, sets[0].model, d.geometry_b, "b", "link_b");
    return 1;
}

/// world:nearest { point =, radius =, exclude = }
static int world_nearest(lua_State *L) {
    static const char *const keys[] = {"point", "radius", "exclude", NULL};
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    stn_fields f = stn_fields_open(L, 2, "world:nearest", keys, 0);
    stn_vec3 point;
    double radius = INFINITY;
    if (!stn_fields_vector(&f, "point", "m", &point)) {
        stn_lua_fail(L, "%s: point is missing; give {x, y, z} in m", f.owner);
    }
    stn_fields_reach(&f, "radius", &radius);
    shape_set set = read_exclude(&f, w);
    stn_query query = query_of(&set);
    stn_world_distance_result d;
    stn_error err = {0};
    stn_lua_check(L, stn_world_nearest(w->world, &query, point, radius, &d, &err), &err);
    if (d.geometry_a < 0) {
        lua_pushnil(L);
        return 1;
    }
    lua_createtable(L, 0, 5);
    stn_lua_set_number(L, "distance", d.distance);
    stn_lua_set_vector(L, "point", d.point_a);
    stn_lua_set_vector(L, "normal", d.normal);
    set_owner(L, set.model, d.geometry_a, "group", "link");
    stn_lua_tell_renamed(L);
    return 1;
}

/// world:overlap { "box", size =, xyz =, margin =, exclude = }
static int world_overlap(lua_State *L) {
    static const char *const keys[] = {STN_SIZE_KEYS, "pose", STN_POSE_KEYS, "margin", "exclude", NULL};
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    stn_fields f = stn_fields_open(L, 2, "world:overlap", keys, 1);
    stn_lua_shape shape;
    double margin = 0.0;
    lua_newtable(L);
    stn_fields_named_shape(&f, lua_gettop(L), &shape);
    stn_fields_real(&f, "margin", "m", &margin);
    shape_set set = read_exclude(&f, w);
    stn_query query = query_of(&set);
    const stn_world_overlap_result *found = NULL;
    int32_t count = 0;
    stn_error err = {0};
    stn_lua_check(
        L,
        stn_world_overlap(w->world, &query, &shape.geometry.shape, &shape.geometry.pose, margin, &found, &count, &err),
        &err);
    lua_createtable(L, count, 0);
    for (int32_t i = 0; i < count; i++) {
        lua_createtable(L, 0, 3);
        stn_lua_set_number(L, "distance", found[i].distance);
        set_owner(L, set.model, found[i].geometry, "group", "link");
        stn_lua_tell_renamed(L);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

// ---------------------------------------------------------------------------------------------------------- rays

/// world:raycast { from =, direction = | to =, max =, exclude =, visual = }
static int world_raycast(lua_State *L) {
    static const char *const keys[] = {"from", "direction", "to", "max", "exclude", "visual", NULL};
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    stn_fields f = stn_fields_open(L, 2, "world:raycast", keys, 0);
    stn_vec3 from;
    double end = INFINITY, max = INFINITY;
    if (!stn_fields_vector(&f, "from", "m", &from)) {
        stn_lua_fail(L, "%s: from is missing; give {x, y, z} in m", f.owner);
    }
    stn_vec3 direction, to; // the latter ends the ray too
    bool has_direction = stn_fields_vector(&f, "direction", "m", &direction);
    bool has_to = stn_fields_vector(&f, "to", "m", &to);
    if (has_direction == has_to) {
        stn_lua_fail(L, "%s: give direction = {x, y, z} or to = {x, y, z}", f.owner);
    }
    if (has_to) {
        direction = stn_vec3_sub(to, from);
        end = stn_vec3_norm(direction);
    }
    if (!(stn_vec3_norm(direction) > 0.0)) {
        stn_lua_fail(L, "%s: the ray has no direction: %s", f.owner,
                     has_to ? "from and to are the same point" : "direction must not be {0, 0, 0}");
    }
    stn_fields_reach(&f, "max", &max);
    shape_set set = read_exclude(&f, w);
    stn_query query = query_of(&set);
    stn_fields_boolean(&f, "visual", &query.visual);
    stn_world_hit hit;
    stn_error err = {0};
    stn_lua_check(L, stn_world_raycast(w->world, &query, from, direction, fmin(end, max), &hit, &err), &err);
    if (hit.geometry < 0) {
        lua_pushnil(L);
        return 1;
    }
    lua_createtable(L, 0, 6);
    stn_lua_set_number(L, "distance", hit.ray.distance);
    stn_lua_set_vector(L, "point", hit.ray.point);
    stn_lua_set_vector(L, "normal", hit.ray.normal);
    lua_pushboolean(L, hit.ray.inside);
    lua_setfield(L, -2, "inside");
    set_owner(L, set.model, hit.geometry, "group", "link");
    stn_lua_tell_renamed(L);
    return 1;
}

// ------------------------------------------------------------------------------------------------- along a path

/// A copy of the world that is moved in its place; destroyed with the memory that is pushed.
static void destroy_copy(void *object) {
    stn_world_destroy(*(stn_world **)object);
}

static stn_world *push_copy(lua_State *L, const stn_lua_world *w) {
    stn_world **copy = stn_lua_own(L, sizeof(stn_world *), destroy_copy);
    stn_error err = {0};
    stn_lua_check(L, stn_world_clone(w->world, copy, &err), &err);
    return *copy;
}

/// Coordinates under a key, as set_q takes them, over the present ones; pushes their memory.
static double *read_positions(const stn_fields *f, const char *key, const stn_lua_object *group) {
    double *q = stn_lua_copy_coordinates(f->L, group->world, STN_LUA_POSITION);
    if (stn_fields_push(f, key)) {
        const char *what = lua_pushfstring(f->L, "%s: %s", f->owner, key);
        stn_lua_read_joints(f->L, -2, what, group->world, group->index, STN_LUA_POSITION, q);
        lua_pop(f->L, 2);
    }
    return q;
}

/// What a path keeps: margin, self_margin, resolution and exclude; pushes the marks, which `others` is made of.
static void read_margins(const stn_fields *f, const stn_lua_object *group, stn_path *path, shape_set *set,
                         stn_query *others) {
    *path = (stn_path){.group = group->index, .resolution = 1e-3, .others = others};
    stn_fields_at_least(f, "margin", "m", 0.0, &path->margin);
    stn_fields_at_least(f, "self_margin", "m", 0.0, &path->self_margin);
    stn_fields_above_zero(f, "resolution", "m", &path->resolution);
    *set = read_exclude(f, group->world);
    *others = query_of(set);
}

/// Pushes "group", "group/link" or the name of the soft body that a shape is of.
static const char *push_shape_name(lua_State *L, const stn_lua_world *w, int32_t geometry) {
    const stn_model *model = stn_world_model(w->world);
    const stn_geometry *g = &model->geometries[geometry];
    return g->link < 0 && g->body < 0 ? lua_pushstring(L, model->trees[model->node_tree[g->node]].name)
                                      : stn_lua_push_links_name(L, w, (stn_link_range){g->link, 1});
}

/// group:path_is_free { to =, from =, margin =, self_margin =, resolution =, exclude = }: true, or false and a text.
static int group_path_is_free(lua_State *L) {
    static const char *const keys[] = {"from", "to", "margin", "self_margin", "resolution", "exclude", NULL};
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_GROUP);
    stn_fields f = stn_fields_open(L, 2, "path_is_free", keys, 0);
    if (!stn_fields_push(&f, "to")) {
        stn_lua_fail(L,
                     "path_is_free: to is missing; give the joint positions at the end, to = { joint = value, ... }");
    }
    shape_set set;
    stn_query others;
    stn_path path;
    read_margins(&f, o, &path, &set, &others);
    path.from = read_positions(&f, "from", o);
    path.to = read_positions(&f, "to", o);
    stn_path_meeting meeting;
    stn_error err = {0};
    stn_world *copy = push_copy(L, o->world);
    stn_lua_check(L, stn_path_meets(copy, &path, &meeting, &err), &err);
    stn_lua_release(L, lua_gettop(L));
    bool free = meeting.pair.geometry_a < 0;
    lua_pushboolean(L, free);
    if (!free) {
        const char *first = push_shape_name(L, o->world, meeting.pair.geometry_a);
        const char *second = push_shape_name(L, o->world, meeting.pair.geometry_b);
        char text[320];
        snprintf(text, sizeof text, "at %.3g %% of the path '%.100s' is %.3g m %s '%.100s'", 100.0 * meeting.part,
                 first, fabs(meeting.pair.distance), meeting.pair.distance < 0.0 ? "inside" : "from", second);
        lua_pop(L, 2);
        lua_pushstring(L, text);
    }
    return free ? 1 : 2;
}

// ------------------------------------------------------------------------------------------------- at one place

struct stn_lua_clearance {
    lua_State *L;
    stn_world *copy; // that is moved
    stn_path path;
    shape_set set;
    stn_query others;
};

stn_lua_clearance *stn_fields_clearance(const stn_fields *f, const char *key, const stn_lua_object *group) {
    static const char *const keys[] = {"margin", "self_margin", "exclude", NULL};
    lua_State *L = f->L;
    const char *owner = lua_pushfstring(L, "%s: %s", f->owner, key);
    if (!stn_fields_push(f, key)) {
        return NULL;
    }
    if (lua_isboolean(L, -1)) {
        if (!lua_toboolean(L, -1)) {
            return NULL;
        }
        lua_newtable(L);
    }
    stn_fields own = stn_fields_open(L, -1, owner, keys, 0);
    stn_lua_clearance *c = lua_newuserdatauv(L, sizeof *c, 0);
    c->L = L;
    read_margins(&own, group, &c->path, &c->set, &c->others);
    c->copy = push_copy(L, group->world);
    return c;
}

bool stn_lua_is_clear(void *clearance, const double *q) {
    stn_lua_clearance *c = clearance;
    stn_path_meeting meeting;
    stn_error err = {0};
    c->path.from = c->path.to = q;
    stn_lua_check(c->L, stn_path_meets(c->copy, &c->path, &meeting, &err), &err);
    return meeting.pair.geometry_a < 0;
}

const luaL_Reg stn_lua_path_methods[] = {{"path_is_free", group_path_is_free}, {NULL, NULL}};
const luaL_Reg stn_lua_query_methods[] = {
    {"distance", world_distance},
    {"nearest", world_nearest},
    {"overlap", world_overlap},
    {"raycast", world_raycast},
    {NULL, NULL},
};
