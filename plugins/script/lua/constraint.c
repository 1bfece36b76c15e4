// SPDX-License-Identifier: Apache-2.0
// world:constraint { "weld" | "ball" | "distance" | "gear", ... }: equality constraints, and what they do in a run.
#include <string.h>

#include "bind.h"

static const char owner_name[] = "world:constraint";

// ----------------------------------------------------------------------------------------------------- describing

#define COMMON_KEYS "name", "stiffness", "relaxation_time"
static const char *const weld_keys[] = {COMMON_KEYS, "a", "b", "a_pose", "b_pose", "angular_stiffness", NULL};
static const char *const ball_keys[] = {COMMON_KEYS, "a", "b", "a_point", "b_point", NULL};
static const char *const distance_keys[] = {COMMON_KEYS, "a", "b", "a_point", "b_point", "length", NULL};
static const char *const gear_keys[] = {COMMON_KEYS, "joints", "ratio", "offset", NULL};
static const char *const *const keys_of[STN_EQUALITY_COUNT] = {weld_keys, ball_keys, distance_keys, gear_keys};

/// The first entry of the table at stack index 2.
static stn_equality_type read_type(lua_State *L) {
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_rawgeti(L, 2, 1);
    const char *word = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    int type = 0;
    while (type < STN_EQUALITY_COUNT && strcmp(word, stn_equality_type_name((stn_equality_type)type)) != 0) {
        type++;
    }
    if (type == STN_EQUALITY_COUNT) {
        stn_lua_fail(L, "%s: the first entry must be \"weld\", \"ball\", \"distance\" or \"gear\", got %s", owner_name,
                     luaL_tolstring(L, -1, NULL));
    }
    lua_pop(L, 1);
    return (stn_equality_type)type;
}

/// The one link under `key`; the world when it may be missing and is, or is called "world" as in lists of contacts.
static int32_t read_link(const stn_fields *f, stn_lua_world *w, const char *key, bool needed) {
    if (!stn_fields_push(f, key)) {
        if (needed) {
            stn_lua_fail(f->L, "%s: %s is missing: a robot of one link, { robot, \"link\" }, \"robot/link\" or a link",
                         f->owner, key);
        }
        return STN_WORLD;
    }
    if (!needed && lua_type(f->L, -1) == LUA_TSTRING && strcmp(lua_tostring(f->L, -1), "world") == 0) {
        lua_pop(f->L, 1);
        return STN_WORLD;
    }
    stn_link_range range = stn_lua_links(f->L, -1, w, f->owner);
    if (range.count != 1) {
        stn_lua_fail(f->L, "%s: %s is a robot of %d links; name one of them, as in { robot, \"link\" }", f->owner, key,
                     (int)range.count);
    }
    lua_pop(f->L, 1);
    return range.start;
}

/// A joint as "robot/joint" or { robot, "joint" }, on top of the stack.
static int32_t read_joint(const stn_fields *f, const stn_lua_world *w) {
    lua_State *L = f->L;
    int32_t robot = -1;
    int top = lua_gettop(L);
    if (lua_type(L, top) == LUA_TTABLE) {
        lua_rawgeti(L, top, 1);
        const stn_lua_object *object = stn_lua_object_test(L, -1, STN_LUA_ROBOT);
        robot = object != NULL && object->world == w ? object->index : -1;
        lua_rawgeti(L, top, 2);
    }
    bool named = lua_type(L, -1) == LUA_TSTRING && (robot >= 0 || lua_gettop(L) == top);
    if (!named) {
        stn_lua_fail(L, "%s: name joints as { robot, \"joint\" } or \"robot/joint\"", f->owner);
    }
    int32_t joint = stn_lua_find_joint(L, f->owner, w, robot, lua_tostring(L, -1));
    lua_settop(L, top);
    return joint;
}

static void read_joints(const stn_fields *f, const stn_lua_world *w, stn_equality_spec *spec) {
    lua_State *L = f->L;
    int32_t *const ends[] = {&spec->a, &spec->b};
    bool given = stn_fields_push(f, "joints");
    if (!given || lua_type(L, -1) != LUA_TTABLE || lua_rawlen(L, -1) != 2) {
        stn_lua_fail(L, "%s: joints must be a list of two, as in { { arm, \"lift\" }, { arm, \"tilt\" } }", f->owner);
    }
    int list = lua_gettop(L);
    for (int i = 0; i < 2; i++) {
        lua_rawgeti(L, list, i + 1);
        *ends[i] = read_joint(f, w);
        lua_settop(L, list);
    }
    lua_pop(L, 1);
}

static stn_equality_spec read_spec(const stn_fields *f, stn_lua_world *w, stn_equality_type type) {
    stn_equality_spec spec = stn_equality_spec_default(type, STN_WORLD, STN_WORLD);
    spec.name = stn_fields_text(f, "name");
    stn_fields_stiffness(f, "stiffness", "N/m", &spec.stiffness);
    stn_fields_at_least(f, "relaxation_time", "s", 0.0, &spec.relaxation_time);
    if (type == STN_EQUALITY_GEAR) {
        read_joints(f, w, &spec);
        stn_fields_real(f, "ratio", "", &spec.ratio);
        stn_fields_real(f, "offset", "rad or m", &spec.offset);
        return spec;
    }
    spec.a = read_link(f, w, "a", true);
    spec.b = read_link(f, w, "b", false);
    if (type == STN_EQUALITY_WELD) {
        stn_fields_pose(f, "a_pose", &spec.pose_a);
        stn_fields_pose(f, "b_pose", &spec.pose_b);
        stn_fields_stiffness(f, "angular_stiffness", "N m/rad", &spec.angular_stiffness);
        return spec;
    }
    stn_fields_vector(f, "a_point", "m", &spec.pose_a.position);
    stn_fields_vector(f, "b_point", "m", &spec.pose_b.position);
    if (type == STN_EQUALITY_DISTANCE && !stn_fields_real(f, "length", "m", &spec.length)) {
        stn_lua_fail(f->L, "%s: length is missing", f->owner);
    }
    return spec;
}

static int constraint_new(lua_State *L) {
    stn_lua_world *w = stn_lua_world_check(L, 1);
    stn_equality_type type = read_type(L);
    stn_fields f = stn_fields_open(L, 2, owner_name, keys_of[type], 1);
    stn_model_builder *builder = stn_lua_world_builder(L, w, owner_name);
    stn_equality_spec spec = read_spec(&f, w, type);
    stn_lua_position(L);
    spec.where = lua_tostring(L, -1);
    int32_t equality = -1;
    stn_error err = {0};
    stn_lua_check(L, stn_builder_add_equality(builder, &spec, &equality, &err), &err);
    stn_lua_object_new(L, 1, STN_LUA_CONSTRAINT, equality);
    return 1;
}

/// All of them, those of files too, in the order in which they were added.
static int constraint_list(lua_State *L) {
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    int32_t count = stn_world_model(w->world)->equality_count;
    lua_createtable(L, count, 0);
    for (int32_t i = 0; i < count; i++) {
        stn_lua_object_new(L, 1, STN_LUA_CONSTRAINT, i);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

// -------------------------------------------------------------------------------------------------------- in a run

static const stn_equality *equality_of(const stn_lua_object *o) {
    return &stn_world_model(o->world->world)->equalities[o->index];
}

static stn_vec3 vector_of(const double *x) {
    return stn_vec3_make(x[0], x[1], x[2]);
}

/// A weld's distance [m] and angle [rad], a ball's distance; signed numbers of a distance and a gear.
static int constraint_error(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_CONSTRAINT);
    double error[STN_EQUALITY_MAX_ROWS];
    int32_t rows = stn_world_equality_error(o->world->world, o->index, error);
    lua_pushnumber(L, rows == 1 ? error[0] : stn_vec3_norm(vector_of(error)));
    if (rows == 6) {
        lua_pushnumber(L, stn_vec3_norm(vector_of(error + 3)));
    }
    return rows == 6 ? 2 : 1;
}

static int constraint_impulse(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_CONSTRAINT);
    double impulse[STN_EQUALITY_MAX_ROWS];
    int32_t rows = stn_world_equality_impulse(o->world->world, o->index, impulse);
    if (rows == 1) {
        lua_pushnumber(L, impulse[0]);
        return 1;
    }
    for (int32_t r = 0; r < rows; r += 3) {
        stn_lua_push_vector(L, vector_of(impulse + r));
    }
    return rows / 3;
}

static const char *const constraint_properties[] = {"name", "type", NULL};

static bool get_constraint(lua_State *L, void *self, const char *name) {
    (void)self;
    bool is_name = strcmp(name, "name") == 0;
    if (!is_name && strcmp(name, "type") != 0) {
        return false;
    }
    const stn_equality *e = equality_of(stn_lua_object_check(L, 1, STN_LUA_CONSTRAINT));
    lua_pushstring(L, is_name ? e->name : stn_equality_type_name(e->type));
    return true;
}

static int constraint_text(lua_State *L) {
    const stn_lua_object *o = luaL_checkudata(L, 1, STN_LUA_CONSTRAINT);
    if (o->world->world == NULL || !o->world->compiled) {
        lua_pushliteral(L, "constraint");
    } else {
        lua_pushfstring(L, "%s '%s'", stn_equality_type_name(equality_of(o)->type), equality_of(o)->name);
    }
    return 1;
}

const luaL_Reg stn_lua_constraint_methods[] = {
    {"constraint", constraint_new}, {"constraints", constraint_list}, {NULL, NULL}};

void stn_lua_open_constraint(lua_State *L) {
    static const luaL_Reg methods[] = {{"error", constraint_error}, {"impulse", constraint_impulse}, {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__tostring", constraint_text}, {"__eq", stn_lua_object_equal}, {NULL, NULL}};
    stn_lua_class(L, STN_LUA_CONSTRAINT, methods, meta, get_constraint, constraint_properties);
}
