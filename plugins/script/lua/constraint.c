// SPDX-License-Identifier: Apache-2.0
// world:constraint { "weld", ... }: any plugin of kind constraint, and what it does in a run.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bind.h"

static const char owner_name[] = "world:constraint";

// ----------------------------------------------------------------------------------------------------- describing

/// The one link under `key`; the world when it may be missing and is, or is called "world" as in lists of contacts.
static int32_t read_link(const stn_fields *f, stn_lua_world *w, const char *key, bool needed) {
    if (!stn_fields_push(f, key)) {
        if (needed) {
            stn_lua_fail(f->L, "%s: %s is missing: a group of one link, { group, \"link\" }, \"group/link\" or a link",
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
        stn_lua_fail(f->L, "%s: %s is a group of %d links; name one of them, as in { group, \"link\" }", f->owner, key,
                     (int)range.count);
    }
    lua_pop(f->L, 1);
    return range.start;
}

/// A joint as "group/joint" or { group, "joint" }, on top of the stack.
static int32_t read_joint(const stn_fields *f, const stn_lua_world *w) {
    lua_State *L = f->L;
    int32_t group = -1;
    int top = lua_gettop(L);
    if (lua_type(L, top) == LUA_TTABLE) {
        lua_rawgeti(L, top, 1);
        const stn_lua_object *object = stn_lua_object_test(L, -1, STN_LUA_GROUP);
        group = object != NULL && object->world == w ? object->index : -1;
        lua_rawgeti(L, top, 2);
    }
    bool named = lua_type(L, -1) == LUA_TSTRING && (group >= 0 || lua_gettop(L) == top);
    if (!named) {
        stn_lua_fail(L, "%s: name joints as { group, \"joint\" } or \"group/joint\"", f->owner);
    }
    int32_t joint = stn_lua_find_joint(L, f->owner, w, group, lua_tostring(L, -1));
    lua_settop(L, top);
    return joint;
}

// What a constraint takes hold of: a and b, or a list of points of a path, or joints, or links; any_of in place of b:
// several links.
static const char *const end_keys[] = {"name",   "a",    "b",      "a_point", "b_point", "a_pose",
                                       "b_pose", "path", "joints", "any_of",  "links",   NULL};

/// The list under `key`: its length, and on top of the stack the list; -1: absent.
static lua_Integer push_list_of(const stn_fields *f, const char *key, const char *example) {
    if (!stn_fields_push(f, key)) {
        return -1;
    }
    if (lua_type(f->L, -1) != LUA_TTABLE || lua_rawlen(f->L, -1) == 0) {
        stn_lua_fail(f->L, "%s: %s must be a list, as in %s", f->owner, key, example);
    }
    return (lua_Integer)lua_rawlen(f->L, -1);
}

/// What the table at `entry` says of a sphere or cylinder of a path.
static void read_path_shape(const stn_fields *f, int entry, const char *word, stn_constraint_end_spec *end) {
    static const char *const keys[] = {"radius", "side", STN_POSE_KEYS, "pose", NULL};
    bool cylinder = strcmp(word, "cylinder") == 0;
    if (!cylinder && strcmp(word, "sphere") != 0) {
        stn_lua_fail(f->L, "%s: '%s' is no shape that a path goes round; \"cylinder\" or \"sphere\"", f->owner, word);
    }
    const stn_fields shape = stn_fields_open(f->L, entry, f->owner, keys, 2);
    end->shape = cylinder ? STN_END_CYLINDER : STN_END_SPHERE;
    if (!stn_fields_above_zero(&shape, "radius", "m", &end->radius)) {
        stn_lua_fail(f->L, "%s: radius of the %s in path is missing", f->owner, word);
    }
    stn_fields_vector(&shape, "side", "m", &end->side);
    stn_fields_body_pose(&shape, &end->pose);
}

/// Entry { link, { x, y, z } } or { link, "cylinder" | "sphere", radius = ... } of a path, on top of the stack.
static void read_path_entry(const stn_fields *f, stn_lua_world *w, stn_constraint_end_spec *end) {
    lua_State *L = f->L;
    int entry = lua_gettop(L);
    if (lua_type(L, entry) != LUA_TTABLE || lua_rawlen(L, entry) != 2) {
        stn_lua_fail(L, "%s: an entry of path is { link, { x, y, z } } or { link, \"cylinder\", radius = number }",
                     f->owner);
    }
    lua_rawgeti(L, entry, 1);
    if (lua_type(L, -1) != LUA_TSTRING || strcmp(lua_tostring(L, -1), "world") != 0) {
        stn_link_range range = stn_lua_links(L, -1, w, f->owner);
        if (range.count != 1) {
            stn_lua_fail(L, "%s: a point of path names a group of %d links; name one of them", f->owner,
                         (int)range.count);
        }
        end->link = range.start;
    }
    lua_rawgeti(L, entry, 2);
    if (lua_type(L, -1) == LUA_TSTRING) {
        read_path_shape(f, entry, lua_tostring(L, -1), end);
    } else {
        static const char *const keys[] = {NULL};
        (void)stn_fields_open(L, entry, f->owner, keys, 2);
        end->pose.position = stn_lua_vector(L, -1, f->owner, "m");
    }
    lua_settop(L, entry);
}

/// Entry { group, "joint", factor } or { "group/joint", factor } of joints, on top of the stack; without a factor it
/// may be a text alone.
static void read_joint_end(const stn_fields *f, stn_lua_world *w, stn_constraint_end_spec *end) {
    lua_State *L = f->L;
    int entry = lua_gettop(L);
    lua_Integer length = lua_type(L, entry) == LUA_TTABLE ? (lua_Integer)lua_rawlen(L, entry) : 0;
    bool alone = lua_type(L, entry) == LUA_TSTRING;
    if (length > 1) {
        lua_rawgeti(L, entry, length);
        bool factor = length > 2 || lua_type(L, -1) == LUA_TNUMBER;
        end->factor = factor ? stn_lua_real(L, -1, f->owner, "m") : end->factor;
        lua_settop(L, entry);
        if (length == 2 && factor) {
            lua_rawgeti(L, entry, 1);
        }
    }
    if (!alone && length != 2 && length != 3) {
        stn_lua_fail(L, "%s: a joint is { group, \"joint\", factor } or { \"group/joint\", factor }", f->owner);
    }
    end->joint = read_joint(f, w);
    lua_settop(L, entry);
}

/// Entry `i` of links, which is the list on top of the stack: a link, a group with all of its links, or the world.
static stn_link_range read_links_entry(const stn_fields *f, stn_lua_world *w, lua_Integer i) {
    lua_State *L = f->L;
    lua_rawgeti(L, -1, i);
    stn_link_range range = {STN_WORLD, 1};
    if (lua_type(L, -1) != LUA_TSTRING || strcmp(lua_tostring(L, -1), "world") != 0) {
        range = stn_lua_links(L, -1, w, f->owner);
    }
    lua_pop(L, 1);
    return range;
}

static stn_constraint_end_spec end_on(int32_t link) {
    return (stn_constraint_end_spec){.link = link, .pose = stn_pose_identity(), .joint = -1, .factor = 1.0};
}

/// The ends of `links`, which is the list on top of the stack, in memory on Lua's stack.
static const stn_constraint_end_spec *read_links(const stn_fields *f, stn_lua_world *w, lua_Integer entries,
                                                 int32_t *count) {
    *count = 0;
    for (lua_Integer i = 1; i <= entries; i++) {
        *count += read_links_entry(f, w, i).count;
    }
    int list = lua_gettop(f->L);
    stn_constraint_end_spec *ends = lua_newuserdatauv(f->L, (size_t)*count * sizeof *ends, 0);
    lua_pushvalue(f->L, list);
    for (lua_Integer i = 1, at = 0; i <= entries; i++) {
        stn_link_range range = read_links_entry(f, w, i);
        for (int32_t k = 0; k < range.count; k++) {
            ends[at++] = end_on(range.start + k);
        }
    }
    lua_pop(f->L, 1);
    return ends;
}

/// Refuses the first of the keys that stands beside `used`.
static void refuse_beside(const stn_fields *f, const char *used, const char *const *keys) {
    for (; *keys != NULL; keys++) {
        if (stn_fields_push(f, *keys)) {
            stn_lua_fail(f->L, "%s: %s and %s are two ways to say what it takes hold of; give one of them", f->owner,
                         used, *keys);
        }
    }
}

/// The pose of one of two ends, of its origin or of a point.
static void read_end_pose(const stn_fields *f, const char *pose, const char *point, stn_pose *out) {
    if (stn_fields_pose(f, pose, out) && stn_fields_vector(f, point, "m", &out->position)) {
        stn_lua_fail(f->L, "%s: %s and %s both say where it is; give one of them", f->owner, point, pose);
    }
    stn_fields_vector(f, point, "m", &out->position);
}

/// a, which may be "world".
static stn_constraint_end_spec read_first_end(const stn_fields *f, stn_lua_world *w) {
    lua_State *L = f->L;
    stn_constraint_end_spec end = end_on(STN_WORLD);
    bool world = stn_fields_push(f, "a") && lua_type(L, -1) == LUA_TSTRING && strcmp(lua_tostring(L, -1), "world") == 0;
    end.link = read_link(f, w, "a", !world);
    read_end_pose(f, "a_pose", "a_point", &end.pose);
    return end;
}

/// a and those of any_of, which is the list on top of the stack.
static const stn_constraint_end_spec *read_any_of(const stn_fields *f, stn_lua_world *w, lua_Integer entries,
                                                  int32_t *count) {
    const stn_constraint_end_spec *others = read_links(f, w, entries, count);
    stn_constraint_end_spec *ends = lua_newuserdatauv(f->L, (size_t)(*count + 1) * sizeof *ends, 0);
    memcpy(ends + 1, others, (size_t)*count * sizeof *ends);
    (*count)++;
    int top = lua_gettop(f->L);
    ends[0] = read_first_end(f, w);
    lua_settop(f->L, top);
    return ends;
}

/// The ends, in memory on Lua's stack.
static const stn_constraint_end_spec *read_ends(const stn_fields *f, stn_lua_world *w, int32_t *count) {
    static const char *const ways[] = {"path",   "joints", "any_of",  "a",      "a_point",
                                       "a_pose", "b",      "b_point", "b_pose", NULL};
    lua_State *L = f->L;
    lua_Integer links = push_list_of(f, "links", "{ ball, { robot, \"foot\" } }");
    if (links > 0) { // the list is on top of the stack
        refuse_beside(f, "links", ways);
        return read_links(f, w, links, count);
    }
    lua_Integer points = push_list_of(f, "path", "{ { arm, { 0, 0, 0.1 } }, { box, { 0, 0, 0 } } }");
    int path = lua_gettop(L);
    lua_Integer joints = push_list_of(f, "joints", "{ { hand, \"finger_1\", 0.01 }, { hand, \"finger_2\", 0.008 } }");
    int list = lua_gettop(L);
    bool pair = points < 0 && joints < 0;
    if (!pair) {
        refuse_beside(f, points > 0 ? "path" : "joints", ways + 2);
    }
    lua_Integer others = push_list_of(f, "any_of", "{ box, ball }");
    if (others > 0) {
        refuse_beside(f, "any_of", ways + 6);
        return read_any_of(f, w, others, count);
    }
    if (pair && !stn_fields_push(f, "a") && !stn_fields_push(f, "b")) {
        stn_lua_fail(L, "%s: what it takes hold of is missing; give a and b, or links, or path or joints", f->owner);
    }
    *count = pair ? 2 : (int32_t)((points > 0 ? points : 0) + (joints > 0 ? joints : 0));
    stn_constraint_end_spec *ends = lua_newuserdatauv(L, (size_t)*count * sizeof *ends, 0);
    int32_t at = 0;
    for (int32_t i = 0; i < *count; i++) {
        ends[i] = end_on(STN_WORLD);
    }
    if (pair) {
        ends[0] = read_first_end(f, w);
        ends[1].link = read_link(f, w, "b", false);
        read_end_pose(f, "b_pose", "b_point", &ends[1].pose);
        return ends;
    }
    char owner[96];
    stn_fields entry = *f;
    entry.owner = owner;
    for (lua_Integer i = 1; i <= points; i++, lua_pop(L, 1)) {
        snprintf(owner, sizeof owner, "%s: path[%lld]", f->owner, (long long)i);
        lua_rawgeti(L, path, i);
        read_path_entry(&entry, w, &ends[at++]);
    }
    for (lua_Integer i = 1; i <= joints; i++, lua_pop(L, 1)) {
        snprintf(owner, sizeof owner, "%s: joints[%lld]", f->owner, (long long)i);
        lua_rawgeti(L, list, i);
        read_joint_end(&entry, w, &ends[at++]);
    }
    return ends;
}

static int constraint_new(lua_State *L) {
    stn_lua_world *w = stn_lua_world_check(L, 1);
    stn_fields f = stn_fields_open(L, 2, owner_name, NULL, 1);
    stn_model_builder *builder = stn_lua_world_builder(L, w, owner_name);
    stn_constraint_spec spec = {.name = stn_fields_text(&f, "name")};
    stn_plugin_choice choice = stn_lua_plugin(L, 2, STN_KIND_CONSTRAINT, owner_name, end_keys);
    spec.ends = read_ends(&f, w, &spec.end_count);
    stn_lua_position(L);
    spec.where = lua_tostring(L, -1);
    stn_instance *instance = NULL;
    stn_error err = {0};
    stn_lua_check(L,
                  stn_instance_create(w->session->context, STN_KIND_CONSTRAINT, choice.id, choice.settings,
                                      choice.setting_count, &instance, &err),
                  &err);
    int32_t constraint = -1;
    stn_lua_check(L, stn_builder_add_constraint(builder, instance, &spec, &constraint, &err), &err);
    stn_lua_object_new(L, 1, STN_LUA_CONSTRAINT, constraint);
    return 1;
}

/// All of them, those of files too, in the order in which they were added.
static int constraint_list(lua_State *L) {
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    int32_t count = stn_world_model(w->world)->constraint_count;
    lua_createtable(L, count, 0);
    for (int32_t i = 0; i < count; i++) {
        stn_lua_object_new(L, 1, STN_LUA_CONSTRAINT, i);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

// -------------------------------------------------------------------------------------------------------- in a run

static const stn_model_constraint *described(const stn_lua_object *o) {
    return &stn_world_model(o->world->world)->constraints[o->index];
}

/// Pushes "suction 'cup'", or "suction (number 1)" where it has no name.
static const char *push_title(lua_State *L, const stn_lua_object *o) {
    const stn_model_constraint *c = described(o);
    return c->name[0] != '\0' ? lua_pushfstring(L, "%s '%s'", c->instance->desc->id, c->name)
                              : lua_pushfstring(L, "%s (number %d)", c->instance->desc->id, (int)o->index + 1);
}

enum { FEW = 2 }; // blocks that most have

/// What it emits at the present state: in `few`, or in memory on Lua's stack where there is more.
static const stn_row_block *blocks_of(lua_State *L, const stn_lua_object *o, stn_row_block few[FEW], int32_t *count) {
    stn_error err = {0};
    stn_row_block *blocks = few;
    *count = stn_world_constraint_blocks(o->world->world, o->index, blocks, FEW, &err);
    if (*count > FEW) {
        blocks = lua_newuserdatauv(L, (size_t)*count * sizeof *blocks, 0);
        *count = stn_world_constraint_blocks(o->world->world, o->index, blocks, *count, &err);
    }
    stn_lua_check(L, *count < 0 ? err.status : STN_OK, &err);
    luaL_checkstack(L, *count > 0 ? *count : 1, NULL);
    return blocks;
}

/// How far from holding, a number a block: a weld's distance [m] and angle [rad], a ball's distance; signed where a
/// block is one row (distance, gear).
static int constraint_error(lua_State *L) {
    int32_t count = 0;
    stn_row_block few[FEW];
    const stn_row_block *blocks = blocks_of(L, stn_lua_object_check(L, 1, STN_LUA_CONSTRAINT), few, &count);
    for (int32_t k = 0; k < count; k++) {
        const double *phi = blocks[k].phi;
        double square = 0.0;
        for (int32_t r = 0; r < blocks[k].rows; r++) {
            square += phi[r] * phi[r];
        }
        lua_pushnumber(L, blocks[k].rows == 1 ? phi[0] : sqrt(square));
    }
    return count;
}

/// Impulse of the last step, a number or list a block, as it acts on b.
static int constraint_impulse(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_CONSTRAINT);
    int32_t count = 0;
    stn_row_block few[FEW];
    const stn_row_block *blocks = blocks_of(L, o, few, &count);
    for (int32_t k = 0; k < count; k++) {
        double impulse[STN_MAX_ROWS];
        (void)stn_world_constraint_impulse(o->world->world, o->index, blocks[k].part, impulse);
        if (blocks[k].rows == 1) {
            lua_pushnumber(L, impulse[0]);
        } else {
            stn_lua_push_reals(L, impulse, blocks[k].rows);
        }
    }
    return count;
}

/// constraint:force([part]): of each row of a block in the last step; nothing where it was not there.
static int constraint_force(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_CONSTRAINT);
    double force[STN_MAX_ROWS];
    int32_t part = (int32_t)luaL_optinteger(L, 2, 0);
    int32_t rows = stn_world_constraint_force(o->world->world, o->index, part, force);
    for (int32_t r = 0; r < rows; r++) {
        lua_pushnumber(L, force[r]);
    }
    return rows;
}

/// Does it carry nothing, because it only pulls or only pushes, or because it emitted no rows?
static int constraint_slack(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_CONSTRAINT);
    lua_pushboolean(L, stn_observation_constraint_slack(stn_world_observation(o->world->world), o->index));
    return 1;
}

/// Its line where the world stands now: as many of its points as `path` has room for.
static void find_path(lua_State *L, stn_constraint_path *path) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_CONSTRAINT);
    stn_world *world = o->world->world;
    (void)stn_world_kinematics(world); // up to date
    stn_observation_constraint_path(stn_world_observation(world), o->index, path);
}

static int constraint_path(lua_State *L) {
    stn_constraint_path path = {.room = 0};
    find_path(L, &path);
    path.room = path.count;
    path.points = lua_newuserdatauv(L, (size_t)path.room * sizeof *path.points + 1, 0);
    find_path(L, &path);
    lua_createtable(L, path.count, 0);
    for (int32_t i = 0; i < path.count; i++) {
        stn_lua_push_vector(L, path.points[i]);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static int constraint_length(lua_State *L) {
    stn_constraint_path path = {.room = 0};
    find_path(L, &path);
    if (isnan(path.length)) {
        return 0;
    }
    lua_pushnumber(L, path.length);
    return 1;
}

/// constraint:set { channel = number or list }.
static int constraint_set(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_CONSTRAINT);
    luaL_checktype(L, 2, LUA_TTABLE);
    for (lua_pushnil(L); lua_next(L, 2) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING) {
            stn_lua_fail(L, "constraint:set takes { channel = value }");
        }
        const char *name = lua_tostring(L, -2);
        bool list = lua_type(L, -1) == LUA_TTABLE;
        int value = lua_gettop(L);
        lua_Integer count = list ? (lua_Integer)lua_rawlen(L, value) : 1;
        double *values = lua_newuserdatauv(L, (size_t)(count > 0 ? count : 1) * sizeof *values, 0);
        for (lua_Integer i = 0; i < count; i++) {
            if (list) {
                lua_rawgeti(L, value, i + 1);
            } else {
                lua_pushvalue(L, value);
            }
            values[i] = stn_lua_real(L, -1, name, "as the plugin says");
            lua_pop(L, 1);
        }
        stn_error err = {0};
        stn_lua_check(L, stn_world_set_constraint(o->world->world, o->index, name, values, (int32_t)count, &err), &err);
        lua_settop(L, value);
    }
    return 0;
}

/// Reads a channel or an output, raises when there is none.
static stn_constraint_value value_of(lua_State *L, const stn_lua_object *o, const char *name) {
    stn_constraint_value value = {0};
    stn_error err = {0};
    stn_lua_check(L, stn_world_get_constraint(o->world->world, o->index, name, &value, &err), &err);
    return value;
}

/// Pushes the word for a number, or the number where it has none.
static void push_value(lua_State *L, const stn_constraint_value *value, int32_t i) {
    for (int32_t k = 0; value->words != NULL && value->words[k] != NULL; k++) {
        if (value->values[i] == k) {
            lua_pushstring(L, value->words[k]);
            return;
        }
    }
    lua_pushnumber(L, value->values[i]);
}

/// constraint:get(name): a channel, or what the plugin tells: number, word or list.
static int constraint_get(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_CONSTRAINT);
    const stn_constraint_value value = value_of(L, o, luaL_checkstring(L, 2));
    if (value.count == 1) {
        push_value(L, &value, 0);
        return 1;
    }
    lua_createtable(L, value.count, 0);
    for (int32_t i = 0; i < value.count; i++) {
        push_value(L, &value, i);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

// constraint:attach { timeout = }, constraint:release(), of plugins with a channel "attached" and an output "holding":
// any number above 0 that is new attaches, every other one lets go. In a task they wait until it is so.

static bool holds(lua_State *L, const stn_lua_object *o) {
    return value_of(L, o, "holding").values[0] > 0.0;
}

/// Pushes why it does not hold.
static const char *push_reason(lua_State *L, const stn_lua_object *o) {
    stn_constraint_value why = {0};
    stn_error err = {0};
    if (stn_world_get_constraint(o->world->world, o->index, "why", &why, &err) == STN_OK) {
        push_value(L, &why, 0);
        if (lua_tostring(L, -1)[0] != '\0') {
            return lua_tostring(L, -1);
        }
    }
    bool told = value_of(L, o, "attached").values[0] > 0.0;
    return lua_pushstring(L, told ? "its plugin does not say why" : "it was told to let go meanwhile");
}

/// Sets the channel; whether it changed.
static bool tell(lua_State *L, const stn_lua_object *o, bool attach) {
    double told = value_of(L, o, "attached").values[0];
    if (attach ? told > 0.0 && holds(L, o) : !(told > 0.0)) {
        return false; // as it is
    }
    // released is the number with its sign turned, so that the next one is always another
    double value = attach ? fabs(told) + 1.0 : -told;
    stn_error err = {0};
    stn_lua_check(L, stn_world_set_constraint(o->world->world, o->index, "attached", &value, 1, &err), &err);
    return true;
}

typedef struct attaching {
    bool attach;
    double begin, timeout; // [s]
} attaching;

/// 1 the constraint, 2 what is waited for.
static int attach_on(lua_State *L, int status, lua_KContext stepped) {
    (void)status;
    lua_settop(L, 2);
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_CONSTRAINT);
    const attaching *a = lua_touserdata(L, 2);
    const char *verb = a->attach ? "attach" : "release";
    stn_lua_task *task = stn_lua_task_here(L, verb);
    if (stepped != 0 && holds(L, o) == a->attach) {
        return 0;
    }
    if (stepped != 0 && stn_lua_task_is_past(task, a->begin + a->timeout)) {
        const char *title = push_title(L, o), *reason = a->attach ? push_reason(L, o) : "";
        stn_lua_fail(L, "%s: %s %s after %g s%s%s", verb, title, a->attach ? "does not hold" : "still holds",
                     a->timeout, a->attach ? ": " : "", reason);
    }
    return stn_lua_task_yield(L, task, verb, 1, attach_on);
}

static int change_hold(lua_State *L, bool attach) {
    static const char *const keys[] = {"timeout", NULL};
    lua_settop(L, 2);
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_CONSTRAINT);
    attaching a = {.attach = attach, .timeout = 1.0};
    if (!lua_isnil(L, 2)) {
        const stn_fields f = stn_fields_open(L, 2, attach ? "attach" : "release", keys, 0);
        stn_fields_at_least(&f, "timeout", "s", 0.0, &a.timeout);
    }
    bool changed = tell(L, o, attach);
    const stn_lua_task *task = stn_lua_task_running(L);
    if (task == NULL || task->world != o->world || !changed) {
        return 0;
    }
    a.begin = stn_lua_task_time(task);
    attaching *kept = lua_newuserdatauv(L, sizeof *kept, 0);
    *kept = a;
    lua_replace(L, 2);
    lua_settop(L, 2);
    return attach_on(L, LUA_OK, 0);
}

static int constraint_attach(lua_State *L) {
    return change_hold(L, true);
}

static int constraint_release(lua_State *L) {
    return change_hold(L, false);
}

static const char *const constraint_properties[] = {"name", "type", NULL};

static bool get_constraint(lua_State *L, void *self, const char *name) {
    (void)self;
    bool is_name = strcmp(name, "name") == 0;
    if (!is_name && strcmp(name, "type") != 0) {
        return false;
    }
    const stn_model_constraint *c = described(stn_lua_object_check(L, 1, STN_LUA_CONSTRAINT));
    lua_pushstring(L, is_name ? c->name : c->instance->desc->id);
    return true;
}

static int constraint_text(lua_State *L) {
    const stn_lua_object *o = luaL_checkudata(L, 1, STN_LUA_CONSTRAINT);
    if (o->world->world == NULL || !o->world->compiled) {
        lua_pushliteral(L, "constraint");
    } else {
        (void)push_title(L, o);
    }
    return 1;
}

const luaL_Reg stn_lua_constraint_methods[] = {
    {"constraint", constraint_new}, {"constraints", constraint_list}, {NULL, NULL}};

void stn_lua_open_constraint(lua_State *L) {
    static const luaL_Reg methods[] = {{"error", constraint_error},
                                       {"impulse", constraint_impulse},
                                       {"force", constraint_force},
                                       {"set", constraint_set},
                                       {"get", constraint_get},
                                       {"slack", constraint_slack},
                                       {"path", constraint_path},
                                       {"length", constraint_length},
                                       {"attach", constraint_attach},
                                       {"release", constraint_release},
                                       {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__tostring", constraint_text}, {"__eq", stn_lua_object_equal}, {NULL, NULL}};
    stn_lua_class(L, STN_LUA_CONSTRAINT, methods, meta, get_constraint, constraint_properties);
}
