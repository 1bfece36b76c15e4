// SPDX-License-Identifier: Apache-2.0
// Joints, and their coordinates, velocities and efforts as Lua values: a number, or a list when the joint has several;
// of a whole group as one flat list, as a table by joint name, or as a keyframe.
#include <stdio.h>
#include <string.h>

#include "bind.h"

static int32_t start_of(const stn_joint *joint, stn_lua_quantity quantity) {
    return quantity == STN_LUA_POSITION ? joint->q_start : joint->v_start;
}

static int32_t size_of(const stn_joint *joint, stn_lua_quantity quantity) {
    return quantity == STN_LUA_POSITION ? joint->nq : joint->nv;
}

/// One joint's share of `values` (nq or nv of the whole model): a number, or a list when it has several.
static void read_joint(lua_State *L, int index, const char *what, const stn_joint *joint, stn_lua_quantity quantity,
                       double *values) {
    const stn_joint_units *units = stn_joint_type_units(joint->type);
    const char *unit = quantity == STN_LUA_POSITION   ? units->position
                       : quantity == STN_LUA_VELOCITY ? units->velocity
                                                      : units->effort;
    double *own = &values[start_of(joint, quantity)];
    if (size_of(joint, quantity) == 1) {
        own[0] = stn_lua_real(L, index, what, unit);
    } else {
        stn_lua_reals(L, index, what, unit, size_of(joint, quantity), own);
    }
}

static void push_joint(lua_State *L, const stn_joint *joint, stn_lua_quantity quantity, const double *values) {
    const double *own = &values[start_of(joint, quantity)];
    if (size_of(joint, quantity) == 1) {
        lua_pushnumber(L, own[0]);
    } else {
        stn_lua_push_reals(L, own, size_of(joint, quantity));
    }
}

// ---------------------------------------------------------------------------------------------------------- mimic

/// Sets the joints that mimic `master`, directly or through others, as it is in `values`.
static void move_followers(const stn_model *model, int32_t master, stn_lua_quantity quantity, double *values) {
    const stn_group *group = &model->groups[model->joints[master].group];
    double value = values[start_of(&model->joints[master], quantity)];
    for (int32_t i = group->joint_start; i < group->joint_start + group->joint_count; i++) {
        double multiplier = 1.0, offset = 0.0;
        int32_t above = i;
        while (above >= 0 && above != master) { // cycles were refused when the model was compiled
            offset += multiplier * model->joints[above].mimic_offset;
            multiplier *= model->joints[above].mimic_multiplier;
            above = model->joints[above].mimic;
        }
        if (above == master && i != master) {
            values[start_of(&model->joints[i], quantity)] =
                multiplier * value + (quantity == STN_LUA_POSITION ? offset : 0.0);
        }
    }
}

// -------------------------------------------------------------------------------------------------- whole groups

void stn_lua_read_joints(lua_State *L, int index, const char *owner, stn_lua_world *w, int32_t group,
                         stn_lua_quantity quantity, double *values) {
    int table = lua_absindex(L, index);
    const stn_model *model = stn_world_model(w->world);
    const stn_group *r = &model->groups[group];
    bool by_name = lua_type(L, table) == LUA_TTABLE && lua_rawlen(L, table) == 0;
    // Twice: joints that mimic follow their masters unless the table names them too.
    for (int pass = 0; pass < 2 && by_name; pass++) {
        for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
            const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "[...]";
            int32_t joint = stn_lua_find_joint(L, owner, w, group, name);
            char what[192];
            snprintf(what, sizeof what, "%s: %s", owner, name);
            read_joint(L, -1, what, &model->joints[joint], quantity, values);
            if (pass == 0) {
                move_followers(model, joint, quantity, values);
            }
        }
    }
    if (by_name) {
        return;
    }
    int32_t count = 0, at = 0;
    for (int32_t i = 0; i < r->joint_count; i++) {
        count += size_of(&model->joints[r->joint_start + i], quantity);
    }
    double *list = lua_newuserdatauv(L, sizeof(double) * (size_t)(count + 1), 0);
    char what[160];
    snprintf(what, sizeof what, "%s: the list for group '%s'", owner, r->name);
    stn_lua_reals(L, table, what, quantity == STN_LUA_POSITION ? "m or rad" : "m/s or rad/s", count, list);
    for (int32_t i = 0; i < r->joint_count; i++) {
        const stn_joint *joint = &model->joints[r->joint_start + i];
        memcpy(&values[start_of(joint, quantity)], &list[at], sizeof(double) * (size_t)size_of(joint, quantity));
        at += size_of(joint, quantity);
    }
    lua_pop(L, 1);
}

double *stn_lua_copy_coordinates(lua_State *L, const stn_lua_world *w, stn_lua_quantity quantity) {
    const stn_model *model = stn_world_model(w->world);
    const stn_state *state = stn_world_state(w->world);
    bool position = quantity == STN_LUA_POSITION;
    size_t count = (size_t)(position ? model->nq : model->nv);
    double *values = lua_newuserdatauv(L, sizeof(double) * (count + 1), 0);
    memcpy(values, position ? state->q : state->v, sizeof(double) * count);
    return values;
}

static void set_coordinates(lua_State *L, stn_lua_world *w, stn_lua_quantity quantity, const double *values) {
    stn_error err = {0};
    bool position = quantity == STN_LUA_POSITION;
    stn_lua_check(L, position ? stn_world_set_q(w->world, values, &err) : stn_world_set_v(w->world, values, &err),
                  &err);
    stn_lua_touched(w);
}

/// Pushes the values of a group, as one list or by name.
static int push_all(lua_State *L, stn_lua_quantity quantity, bool by_name) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_GROUP);
    const stn_model *model = stn_world_model(o->world->world);
    const stn_group *r = &model->groups[o->index];
    const stn_state *state = stn_world_state(o->world->world);
    const double *values = quantity == STN_LUA_POSITION ? state->q : state->v;
    lua_createtable(L, by_name ? 0 : r->joint_count, by_name ? r->joint_count : 0);
    lua_Integer at = 0;
    for (int32_t i = 0; i < r->joint_count; i++) {
        const stn_joint *joint = &model->joints[r->joint_start + i];
        if (by_name) {
            push_joint(L, joint, quantity, values);
            lua_setfield(L, -2, joint->name);
        }
        for (int32_t k = 0; k < size_of(joint, quantity) && !by_name; k++) {
            lua_pushnumber(L, values[start_of(joint, quantity) + k]);
            lua_rawseti(L, -2, ++at);
        }
    }
    return 1;
}

static int set_all(lua_State *L, const char *owner, stn_lua_quantity quantity) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_GROUP);
    double *values = stn_lua_copy_coordinates(L, o->world, quantity);
    stn_lua_read_joints(L, 2, owner, o->world, o->index, quantity, values);
    set_coordinates(L, o->world, quantity, values);
    return 0;
}

static int group_q(lua_State *L) {
    return push_all(L, STN_LUA_POSITION, false);
}

static int group_v(lua_State *L) {
    return push_all(L, STN_LUA_VELOCITY, false);
}

static int group_positions(lua_State *L) {
    return push_all(L, STN_LUA_POSITION, true);
}

static int group_velocities(lua_State *L) {
    return push_all(L, STN_LUA_VELOCITY, true);
}

static int group_set_q(lua_State *L) {
    return set_all(L, "set_q", STN_LUA_POSITION);
}

static int group_set_v(lua_State *L) {
    return set_all(L, "set_v", STN_LUA_VELOCITY);
}

// ------------------------------------------------------------------------------------------------------ keyframes

void stn_lua_apply_keyframe(lua_State *L, const char *owner, stn_lua_world *w, int32_t group, const char *name,
                            bool keep_base) {
    int top = lua_gettop(L);
    const stn_model *model = stn_world_model(w->world);
    const stn_group *r = &model->groups[group];
    int32_t keyframe = stn_model_find_keyframe(model, group, name);
    if (keyframe < 0) {
        const char **names = lua_newuserdatauv(L, ((size_t)r->keyframe_count + 1) * sizeof *names, 0);
        for (int32_t i = 0; i < r->keyframe_count; i++) {
            names[i] = model->keyframes[r->keyframe_start + i].name;
        }
        names[r->keyframe_count] = NULL;
        stn_lua_unknown(L, lua_pushfstring(L, "%s: group '%s' (keyframes)", owner, r->name), name, names);
    }
    double *q = stn_lua_copy_coordinates(L, w, STN_LUA_POSITION), *v = stn_lua_copy_coordinates(L, w, STN_LUA_VELOCITY);
    stn_model_keyframe_apply(model, keyframe, q);
    if (keep_base && model->keyframes[keyframe].has_base) { // its joint is the group's first
        const stn_joint *root = &model->joints[r->joint_start];
        memcpy(q + root->q_start, stn_world_state(w->world)->q + root->q_start, sizeof(double) * (size_t)root->nq);
    }
    for (int32_t i = r->joint_start; i < r->joint_start + r->joint_count; i++) {
        memset(v + model->joints[i].v_start, 0, sizeof(double) * (size_t)model->joints[i].nv);
    }
    set_coordinates(L, w, STN_LUA_POSITION, q);
    set_coordinates(L, w, STN_LUA_VELOCITY, v);
    lua_settop(L, top);
}

static int group_keyframes(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_GROUP);
    const stn_model *model = stn_world_model(o->world->world);
    const stn_group *r = &model->groups[o->index];
    lua_createtable(L, r->keyframe_count, 0);
    for (int32_t i = 0; i < r->keyframe_count; i++) {
        lua_pushstring(L, model->keyframes[r->keyframe_start + i].name);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static int group_set_keyframe(lua_State *L) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_GROUP);
    stn_lua_apply_keyframe(L, "set_keyframe", o->world, o->index, luaL_checkstring(L, 2), false);
    return 0;
}

const luaL_Reg stn_lua_coordinate_methods[] = {
    {"q", group_q},
    {"v", group_v},
    {"positions", group_positions},
    {"velocities", group_velocities},
    {"set_q", group_set_q},
    {"set_v", group_set_v},
    {"keyframes", group_keyframes},
    {"set_keyframe", group_set_keyframe},
    {NULL, NULL},
};

// -------------------------------------------------------------------------------------------------------------- joints

// Joints: position, velocity, effort, limits, what they join.

static const stn_joint *joint_of(const stn_lua_object *o) {
    return &stn_world_model(o->world->world)->joints[o->index];
}

static int joint_position(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_JOINT);
    push_joint(L, joint_of(o), STN_LUA_POSITION, stn_world_state(o->world->world)->q);
    return 1;
}

static int joint_velocity(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_JOINT);
    push_joint(L, joint_of(o), STN_LUA_VELOCITY, stn_world_state(o->world->world)->v);
    return 1;
}

/// What set_effort gave; controllers come on top.
static int joint_effort(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_JOINT);
    push_joint(L, joint_of(o), STN_LUA_EFFORT, stn_world_state(o->world->world)->effort);
    return 1;
}

/// Sets argument 2; joints that mimic this one follow.
static int set_value(lua_State *L, const char *what, stn_lua_quantity quantity) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_JOINT);
    double *values = stn_lua_copy_coordinates(L, o->world, quantity);
    read_joint(L, 2, what, joint_of(o), quantity, values);
    move_followers(stn_world_model(o->world->world), o->index, quantity, values);
    set_coordinates(L, o->world, quantity, values);
    return 0;
}

static int joint_set_position(lua_State *L) {
    return set_value(L, "set_position", STN_LUA_POSITION);
}

static int joint_set_velocity(lua_State *L) {
    return set_value(L, "set_velocity", STN_LUA_VELOCITY);
}

static int joint_set_effort(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_JOINT);
    const stn_joint *joint = joint_of(o);
    double *efforts = stn_lua_copy_coordinates(L, o->world, STN_LUA_VELOCITY);
    read_joint(L, 2, "set_effort", joint, STN_LUA_EFFORT, efforts);
    stn_error err = {0};
    for (int32_t i = joint->v_start; i < joint->v_start + joint->nv; i++) {
        stn_lua_check(L, stn_world_set_effort(o->world->world, i, efforts[i], &err), &err);
    }
    return 0;
}

/// Pushes { name = value, ... }.
static int push_numbers(lua_State *L, const char *const *names, const double *values, int32_t count) {
    lua_createtable(L, 0, count);
    for (int32_t i = 0; i < count; i++) {
        lua_pushnumber(L, values[i]);
        lua_setfield(L, -2, names[i]);
    }
    return 1;
}

static int joint_limits(lua_State *L) {
    static const char *const names[] = {"lower", "upper", "effort", "velocity", "acceleration"};
    const stn_joint *j = joint_of(stn_lua_object_check(L, 1, STN_LUA_JOINT));
    const double values[] = {j->lower, j->upper, j->effort, j->velocity, j->acceleration};
    return push_numbers(L, names, values, STN_COUNT(values));
}

static int joint_dynamics(lua_State *L) {
    static const char *const names[] = {"damping", "friction", "reflected_inertia", "stiffness",
                                        "rest",    "servo_kp", "servo_kd"};
    const stn_joint *j = joint_of(stn_lua_object_check(L, 1, STN_LUA_JOINT));
    const double values[] = {j->damping, j->friction, j->reflected_inertia, j->stiffness,
                             j->rest,    j->servo_kp, j->servo_kd};
    return push_numbers(L, names, values, STN_COUNT(values));
}

/// Unit vector in the joint frame.
static int joint_axis(lua_State *L) {
    stn_lua_push_vector(L, joint_of(stn_lua_object_check(L, 1, STN_LUA_JOINT))->axis);
    return 1;
}

/// { joint =, multiplier =, offset = }, nil when it follows none.
static int joint_mimic(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_JOINT);
    const stn_joint *joint = joint_of(o);
    static const char *const names[] = {"multiplier", "offset"};
    const double values[] = {joint->mimic_multiplier, joint->mimic_offset};
    if (joint->mimic < 0) {
        lua_pushnil(L);
        return 1;
    }
    push_numbers(L, names, values, STN_COUNT(values));
    lua_getiuservalue(L, 1, 1);
    stn_lua_object_new(L, -1, STN_LUA_JOINT, joint->mimic);
    lua_setfield(L, -3, "joint");
    lua_pop(L, 1);
    return 1;
}

/// The link right below the joint: the first of the body that it carries.
static int32_t child_link(const stn_lua_object *o) {
    const stn_model *model = stn_world_model(o->world->world);
    const stn_joint *joint = joint_of(o);
    const stn_group *group = &model->groups[joint->group];
    for (int32_t i = group->link_start; i < group->link_start + group->link_count; i++) {
        const stn_link *link = &model->links[i];
        if (link->joint == o->index && (link->joint_name == NULL || strcmp(link->joint_name, joint->name) == 0)) {
            return i;
        }
    }
    return group->root_link;
}

static int push_link(lua_State *L, int32_t link) {
    lua_getiuservalue(L, 1, 1);
    stn_lua_object_new(L, -1, STN_LUA_LINK, link);
    return 1;
}

static int joint_child(lua_State *L) {
    return push_link(L, child_link(stn_lua_object_check(L, 1, STN_LUA_JOINT)));
}

/// nil when it hangs on the world.
static int joint_parent(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_JOINT);
    int32_t parent = stn_world_model(o->world->world)->links[child_link(o)].parent;
    if (parent < 0) {
        lua_pushnil(L);
        return 1;
    }
    return push_link(L, parent);
}

static int joint_group(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_JOINT);
    lua_getiuservalue(L, 1, 1);
    stn_lua_object_new(L, -1, STN_LUA_GROUP, joint_of(o)->group);
    return 1;
}

static const char *const joint_properties[] = {"name", "type", NULL};

static bool get_joint(lua_State *L, void *self, const char *name) {
    const stn_lua_object *o = self;
    bool is_name = strcmp(name, "name") == 0;
    if (!is_name && strcmp(name, "type") != 0) {
        return false;
    }
    stn_lua_object_check(L, 1, STN_LUA_JOINT);
    lua_pushstring(L, is_name ? joint_of(o)->name : stn_joint_type_name(joint_of(o)->type));
    return true;
}

static int joint_text(lua_State *L) {
    const stn_lua_object *o = luaL_checkudata(L, 1, STN_LUA_JOINT);
    lua_pushfstring(L, "joint '%s'", o->world->world != NULL ? joint_of(o)->name : "of a closed world");
    return 1;
}

void stn_lua_open_joint(lua_State *L) {
    static const luaL_Reg methods[] = {
        {"position", joint_position},
        {"velocity", joint_velocity},
        {"effort", joint_effort},
        {"set_position", joint_set_position},
        {"set_velocity", joint_set_velocity},
        {"set_effort", joint_set_effort},
        {"limits", joint_limits},
        {"dynamics", joint_dynamics},
        {"axis", joint_axis},
        {"mimic", joint_mimic},
        {"parent", joint_parent},
        {"child", joint_child},
        {"group", joint_group},
        {NULL, NULL},
    };
    static const luaL_Reg meta[] = {{"__tostring", joint_text}, {"__eq", stn_lua_object_equal}, {NULL, NULL}};
    stn_lua_class(L, STN_LUA_JOINT, methods, meta, get_joint, joint_properties);
}
