// SPDX-License-Identifier: Apache-2.0
// Robots (a single body is a robot of one link) and links: poses, velocities, coordinates, forces.
#include <stdio.h>
#include <string.h>

#include "lua/bind.h"

stn_lua_object *stn_lua_object_new(lua_State *L, int world_index, const char *type, int32_t index) {
    int world = lua_absindex(L, world_index);
    stn_lua_object *o = lua_newuserdatauv(L, sizeof *o, 1);
    *o = (stn_lua_object){.world = lua_touserdata(L, world), .index = index};
    lua_pushvalue(L, world);
    lua_setiuservalue(L, -2, 1);
    luaL_setmetatable(L, type);
    return o;
}

stn_lua_object *stn_lua_object_test(lua_State *L, int index, const char *type) {
    stn_lua_object *o = luaL_testudata(L, index, type);
    if (o != NULL && o->world->world == NULL) {
        stn_lua_fail(L, "the %s belongs to a world that was closed", strchr(type, '.') + 1);
    }
    return o;
}

stn_lua_object *stn_lua_object_check(lua_State *L, int index, const char *type) {
    int self = lua_absindex(L, index);
    luaL_checkudata(L, self, type);
    stn_lua_object *o = stn_lua_object_test(L, self, type);
    if (!o->world->compiled) {
        lua_getiuservalue(L, self, 1);
        stn_lua_world_complete(L, -1, o->world);
        lua_pop(L, 1);
    }
    return o;
}

static const stn_model *model_of(const stn_lua_object *o) {
    return stn_world_model(o->world->world);
}

static const stn_robot *robot_of(const stn_lua_object *o) {
    return &model_of(o)->robots[o->index];
}

// ------------------------------------------------------------------------------------------- links: where, how fast

stn_pose stn_lua_link_pose(stn_lua_world *w, int32_t link) {
    const stn_link *l = &stn_world_model(w->world)->links[link];
    return stn_pose_mul(&stn_world_kinematics(w->world)->body_pose[l->body], &l->pose);
}

void stn_lua_link_velocity(stn_lua_world *w, int32_t link, stn_vec3 *linear, stn_vec3 *angular) {
    const stn_link *l = &stn_world_model(w->world)->links[link];
    stn_pose pose = stn_lua_link_pose(w, link);
    const stn_kinematics *k = stn_world_kinematics(w->world);
    *linear = stn_point_velocity(k, l->body, pose.position);
    *angular = k->body_velocity[l->body].angular;
}

/// The link that argument 1 means: a link, or the root link of a robot.
static stn_lua_object *check_place(lua_State *L, int32_t *link) {
    bool is_link = luaL_testudata(L, 1, STN_LUA_LINK) != NULL;
    stn_lua_object *o = stn_lua_object_check(L, 1, is_link ? STN_LUA_LINK : STN_LUA_ROBOT);
    *link = is_link ? o->index : robot_of(o)->root_link;
    return o;
}

static int place_pose(lua_State *L) {
    int32_t link = 0;
    stn_lua_object *o = check_place(L, &link);
    stn_pose pose = stn_lua_link_pose(o->world, link);
    stn_lua_push_pose(L, &pose);
    return 1;
}

static int place_position(lua_State *L) {
    int32_t link = 0;
    stn_lua_object *o = check_place(L, &link);
    stn_lua_push_vector(L, stn_lua_link_pose(o->world, link).position);
    return 1;
}

static int place_velocity(lua_State *L) {
    int32_t link = 0;
    stn_lua_object *o = check_place(L, &link);
    stn_vec3 linear, angular;
    stn_lua_link_velocity(o->world, link, &linear, &angular);
    stn_lua_push_velocity(L, linear, angular);
    return 1;
}

static int place_speed(lua_State *L) {
    int32_t link = 0;
    stn_lua_object *o = check_place(L, &link);
    stn_vec3 linear, angular;
    stn_lua_link_velocity(o->world, link, &linear, &angular);
    lua_pushnumber(L, stn_vec3_norm(linear));
    return 1;
}

static int place_apply_force(lua_State *L) {
    static const char *const keys[] = {"force", "torque", "point", NULL};
    int32_t link = 0;
    stn_lua_object *o = check_place(L, &link);
    stn_fields f = stn_fields_open(L, 2, "apply_force", keys, 0);
    stn_vec3 force = stn_vec3_zero(), torque = stn_vec3_zero();
    int32_t body = model_of(o)->links[link].body;
    const stn_pose *pose = &stn_world_kinematics(o->world->world)->body_pose[body];
    stn_vec3 point = stn_pose_apply(pose, model_of(o)->bodies[body].mass.com);
    stn_fields_vector(&f, "force", "N", &force);
    stn_fields_vector(&f, "torque", "N m", &torque);
    stn_fields_vector(&f, "point", "m", &point);
    stn_error err = {0};
    stn_lua_check(L, stn_world_set_wrench(o->world->world, body, force, torque, point, &err), &err);
    return 0;
}

// -------------------------------------------------------------------------------------------------------- robots

static int robot_set_pose(lua_State *L) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_ROBOT);
    stn_pose pose;
    stn_lua_pose(L, 2, "set_pose", &pose);
    stn_error err = {0};
    int32_t body = model_of(o)->links[robot_of(o)->root_link].body;
    stn_lua_check(L, stn_world_set_body_pose(o->world->world, body, &pose, &err), &err);
    o->world->touched = true;
    return 0;
}

static int robot_set_velocity(lua_State *L) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_ROBOT);
    stn_vec3 linear, angular;
    stn_lua_velocity(L, 2, "set_velocity", &linear, &angular);
    stn_error err = {0};
    int32_t body = model_of(o)->links[robot_of(o)->root_link].body;
    stn_lua_check(L, stn_world_set_body_velocity(o->world->world, body, linear, angular, &err), &err);
    o->world->touched = true;
    return 0;
}

static int32_t start_of(const stn_joint *joint, bool position) {
    return position ? joint->q_start : joint->v_start;
}

static int32_t size_of(const stn_joint *joint, bool position) {
    return position ? joint->nq : joint->nv;
}

/// One joint's value on the stack's top: a number, or a list when the joint has several coordinates.
static void read_joint(lua_State *L, const char *owner, const stn_joint *joint, bool position, double *values) {
    int32_t size = size_of(joint, position);
    const stn_joint_units *units = stn_joint_type_units(joint->type);
    const char *unit = position ? units->position : units->velocity;
    char what[192];
    snprintf(what, sizeof what, "%s: %s", owner, joint->name);
    if (size == 1) {
        values[start_of(joint, position)] = stn_lua_real(L, -1, what, unit);
    } else {
        stn_lua_reals(L, -1, what, unit, size, &values[start_of(joint, position)]);
    }
}

static void read_by_name(lua_State *L, int table, const char *owner, const stn_model *model, int32_t robot,
                         bool position, double *values) {
    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
        int32_t joint = name != NULL ? stn_model_find_joint(model, robot, name) : -1;
        if (joint < 0) {
            const char *names[257] = {NULL};
            const stn_robot *r = &model->robots[robot];
            for (int32_t i = 0; i < r->joint_count && i < 256; i++) {
                names[i] = model->joints[r->joint_start + i].name;
            }
            stn_lua_unknown(L, owner, name != NULL ? name : "[...]", names);
        }
        read_joint(L, owner, &model->joints[joint], position, values);
    }
}

void stn_lua_read_joints(lua_State *L, int index, const char *owner, const stn_model *model, int32_t robot,
                         bool position, double *values) {
    int table = lua_absindex(L, index);
    const stn_robot *r = &model->robots[robot];
    if (lua_type(L, table) == LUA_TTABLE && lua_rawlen(L, table) == 0) {
        read_by_name(L, table, owner, model, robot, position, values);
        return;
    }
    int32_t count = 0, at = 0;
    for (int32_t i = 0; i < r->joint_count; i++) {
        count += size_of(&model->joints[r->joint_start + i], position);
    }
    double *list = lua_newuserdatauv(L, sizeof(double) * (size_t)(count + 1), 0);
    stn_lua_reals(L, table, owner, position ? "m, rad" : "m/s, rad/s", count, list);
    for (int32_t i = 0; i < r->joint_count; i++) {
        const stn_joint *joint = &model->joints[r->joint_start + i];
        for (int32_t k = 0; k < size_of(joint, position); k++) {
            values[start_of(joint, position) + k] = list[at++];
        }
    }
    lua_pop(L, 1);
}

static int push_coordinates(lua_State *L, bool position) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_ROBOT);
    const stn_robot *r = robot_of(o);
    const stn_state *state = stn_world_state(o->world->world);
    const double *values = position ? state->q : state->v;
    lua_createtable(L, r->joint_count, 0);
    lua_Integer at = 0;
    for (int32_t i = 0; i < r->joint_count; i++) {
        const stn_joint *joint = &model_of(o)->joints[r->joint_start + i];
        for (int32_t k = 0; k < size_of(joint, position); k++) {
            lua_pushnumber(L, values[start_of(joint, position) + k]);
            lua_rawseti(L, -2, ++at);
        }
    }
    return 1;
}

static int set_coordinates(lua_State *L, const char *owner, bool position) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_ROBOT);
    const stn_model *model = model_of(o);
    const stn_state *state = stn_world_state(o->world->world);
    size_t count = (size_t)(position ? model->nq : model->nv);
    double *values = lua_newuserdatauv(L, sizeof(double) * (count + 1), 0);
    memcpy(values, position ? state->q : state->v, sizeof(double) * count);
    stn_lua_read_joints(L, 2, owner, model, o->index, position, values);
    stn_error err = {0};
    stn_lua_check(
        L, position ? stn_world_set_q(o->world->world, values, &err) : stn_world_set_v(o->world->world, values, &err),
        &err);
    o->world->touched = true;
    return 0;
}

static int robot_q(lua_State *L) {
    return push_coordinates(L, true);
}

static int robot_v(lua_State *L) {
    return push_coordinates(L, false);
}

static int robot_set_q(lua_State *L) {
    return set_coordinates(L, "set_q", true);
}

static int robot_set_v(lua_State *L) {
    return set_coordinates(L, "set_v", false);
}

/// Raises for a name that the robot does not have, with the nearest one.
static void refuse_name(lua_State *L, const stn_lua_object *o, const char *name, bool joints) {
    const stn_model *model = model_of(o);
    const stn_robot *r = robot_of(o);
    const char *names[257] = {NULL};
    for (int32_t i = 0; i < (joints ? r->joint_count : r->link_count) && i < 256; i++) {
        names[i] = joints ? model->joints[r->joint_start + i].name : model->links[r->link_start + i].name;
    }
    char owner[160];
    snprintf(owner, sizeof owner, "robot '%s' (%s)", r->name, joints ? "moving joints" : "links");
    stn_lua_unknown(L, owner, name, names);
}

static int robot_part(lua_State *L, bool joints) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_ROBOT);
    const char *name = luaL_checkstring(L, 2);
    int32_t index =
        joints ? stn_model_find_joint(model_of(o), o->index, name) : stn_model_find_link(model_of(o), o->index, name);
    if (index < 0) {
        refuse_name(L, o, name, joints);
    }
    lua_getiuservalue(L, 1, 1);
    stn_lua_object_new(L, -1, joints ? STN_LUA_JOINT : STN_LUA_LINK, index);
    return 1;
}

static int robot_joint(lua_State *L) {
    return robot_part(L, true);
}

static int robot_link(lua_State *L) {
    return robot_part(L, false);
}

static int robot_parts(lua_State *L, bool joints) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_ROBOT);
    const stn_robot *r = robot_of(o);
    int32_t start = joints ? r->joint_start : r->link_start, count = joints ? r->joint_count : r->link_count;
    lua_getiuservalue(L, 1, 1);
    lua_createtable(L, count, 0);
    for (int32_t i = 0; i < count; i++) {
        stn_lua_object_new(L, -2, joints ? STN_LUA_JOINT : STN_LUA_LINK, start + i);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static int robot_joints(lua_State *L) {
    return robot_parts(L, true);
}

static int robot_links(lua_State *L) {
    return robot_parts(L, false);
}

static int robot_mass(lua_State *L) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_ROBOT);
    const stn_robot *r = robot_of(o);
    double mass = 0.0;
    for (int32_t i = 0; i < r->link_count; i++) {
        mass += model_of(o)->links[r->link_start + i].mass.mass;
    }
    lua_pushnumber(L, mass);
    return 1;
}

// -------------------------------------------------------------------------------------------- properties and classes

static const char *const place_properties[] = {"name", NULL};

static bool get_robot(lua_State *L, void *self, const char *name) {
    (void)self;
    if (strcmp(name, "name") != 0) {
        return false;
    }
    lua_pushstring(L, robot_of(stn_lua_object_check(L, 1, STN_LUA_ROBOT))->name);
    return true;
}

static bool get_link(lua_State *L, void *self, const char *name) {
    const stn_lua_object *o = self;
    if (strcmp(name, "name") != 0) {
        return false;
    }
    stn_lua_object_check(L, 1, STN_LUA_LINK);
    lua_pushstring(L, model_of(o)->links[o->index].name);
    return true;
}

static int place_text(lua_State *L) {
    bool is_link = luaL_testudata(L, 1, STN_LUA_LINK) != NULL;
    const stn_lua_object *o = luaL_checkudata(L, 1, is_link ? STN_LUA_LINK : STN_LUA_ROBOT);
    if (o->world->world == NULL || !o->world->compiled) {
        lua_pushstring(L, is_link ? "link" : "robot");
    } else {
        lua_pushfstring(L, "%s '%s'", is_link ? "link" : "robot",
                        is_link ? model_of(o)->links[o->index].name : robot_of(o)->name);
    }
    return 1;
}

static int place_equal(lua_State *L) {
    for (int i = 0; i < 2; i++) {
        const char *type = i == 0 ? STN_LUA_ROBOT : STN_LUA_LINK;
        const stn_lua_object *a = luaL_testudata(L, 1, type), *b = luaL_testudata(L, 2, type);
        if (a != NULL && b != NULL) {
            lua_pushboolean(L, a->world == b->world && a->index == b->index);
            return 1;
        }
    }
    lua_pushboolean(L, 0);
    return 1;
}

void stn_lua_open_robot(lua_State *L) {
    static const luaL_Reg robot[] = {
        {"pose", place_pose},
        {"position", place_position},
        {"velocity", place_velocity},
        {"speed", place_speed},
        {"apply_force", place_apply_force},
        {"set_pose", robot_set_pose},
        {"q", robot_q},
        {"set_velocity", robot_set_velocity},
        {"set_q", robot_set_q},
        {"v", robot_v},
        {"set_v", robot_set_v},
        {"joint", robot_joint},
        {"joints", robot_joints},
        {"link", robot_link},
        {"links", robot_links},
        {"mass", robot_mass},
        {NULL, NULL},
    };
    static const luaL_Reg link[] = {
        {"pose", place_pose},   {"position", place_position},       {"velocity", place_velocity},
        {"speed", place_speed}, {"apply_force", place_apply_force}, {NULL, NULL},
    };
    static const luaL_Reg meta[] = {{"__tostring", place_text}, {"__eq", place_equal}, {NULL, NULL}};
    stn_lua_class(L, STN_LUA_ROBOT, robot, meta, get_robot, place_properties);
    stn_lua_class(L, STN_LUA_LINK, link, meta, get_link, place_properties);
}
