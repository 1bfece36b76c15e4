// SPDX-License-Identifier: Apache-2.0
// robot:inverse_kinematics { link =, pose =, ... }: joint positions that put a link where it is wanted.
#include <stdio.h>
#include <string.h>

#include "bind.h"

/// seeds = { positions, ... }, each as set_q takes them: (count x nq) in memory that is pushed, above the others of the
/// present state.
static const double *read_seeds(const stn_fields *f, const stn_lua_object *robot, int32_t *count) {
    lua_State *L = f->L;
    *count = 0;
    if (!stn_fields_push(f, "seeds")) {
        return NULL;
    }
    int list = lua_gettop(L);
    size_t length = lua_type(L, list) == LUA_TTABLE ? lua_rawlen(L, list) : 0;
    size_t nq = (size_t)stn_world_model(robot->world->world)->nq;
    if (length == 0 || length > 10000) {
        stn_lua_fail(L, "%s: seeds must be a list of joint positions, { arm:positions(), ... }", f->owner);
    }
    double *seeds = lua_newuserdatauv(L, sizeof(double) * nq * length, 0);
    for (size_t i = 0; i < length; i++) {
        char what[80];
        snprintf(what, sizeof what, "%.40s: seeds[%zu]", f->owner, i + 1);
        memcpy(seeds + i * nq, stn_world_state(robot->world->world)->q, sizeof(double) * nq);
        lua_rawgeti(L, list, (lua_Integer)i + 1);
        stn_lua_read_joints(L, -1, what, robot->world, robot->index, STN_LUA_POSITION, seeds + i * nq);
        lua_pop(L, 1);
    }
    *count = (int32_t)length;
    return seeds;
}

int32_t stn_fields_link(const stn_fields *f, const stn_lua_object *robot) {
    lua_State *L = f->L;
    if (!stn_fields_push(f, "link")) {
        return -1;
    }
    const char *name = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    if (name != NULL && strchr(name, '/') == NULL) {
        return stn_lua_find_link(L, f->owner, robot->world, robot->index, name);
    }
    stn_link_range links = stn_lua_links(L, -1, robot->world, f->owner);
    if (links.count != 1) {
        stn_lua_fail(L, "%s: link must name a single one, this robot has %d", f->owner, (int)links.count);
    }
    return links.start;
}

static void read_goal(const stn_fields *f, const stn_lua_object *robot, stn_ik_goal *goal) {
    lua_State *L = f->L;
    *goal = stn_ik_goal_default();
    goal->robot = robot->index;
    goal->link = stn_fields_link(f, robot);
    if (goal->link < 0) {
        stn_lua_fail(L, "%s: link is missing; name the one that the pose is for", f->owner);
    }
    if (!stn_fields_pose(f, "pose", &goal->pose)) {
        stn_lua_fail(L, "%s: pose is missing; give where link '%s' is to be, pose = { xyz = ..., rpy = ... }", f->owner,
                     stn_lua_link_name(robot->world, goal->link));
    }
    lua_Integer starts = goal->random_starts, seed = 1, iterations = goal->iterations_a_start;
    stn_fields_boolean(f, "position_only", &goal->position_only);
    stn_fields_above_zero(f, "tolerance", "m", &goal->position_tolerance);
    stn_fields_above_zero(f, "angle_tolerance", "rad", &goal->angle_tolerance);
    stn_fields_integer(f, "random_starts", 0, 1000000, &starts);
    stn_fields_integer(f, "seed", 0, INT64_C(1) << 53, &seed);
    stn_fields_integer(f, "iterations", 1, 1000000, &iterations);
    goal->random_starts = (int32_t)starts;
    goal->random_seed = (uint64_t)seed;
    goal->iterations_a_start = (int32_t)iterations;
    stn_fields_boolean(f, "nearest", &goal->nearest);
    goal->seeds = read_seeds(f, robot, &goal->seed_count);
}

/// Pushes { joint = value } of the robot's joints with one coordinate.
static void push_positions(lua_State *L, const stn_lua_object *robot, const double *q) {
    const stn_model *model = stn_world_model(robot->world->world);
    const stn_robot *r = &model->robots[robot->index];
    lua_createtable(L, 0, r->joint_count);
    for (int32_t i = r->joint_start; i < r->joint_start + r->joint_count; i++) {
        if (model->joints[i].nv == 1) {
            stn_lua_set_number(L, model->joints[i].name, q[model->joints[i].q_start]);
        }
    }
}

/// Pushes "robot 'arm' does not reach ...".
static void push_reason(lua_State *L, const stn_lua_object *robot, const stn_ik_goal *goal,
                        const stn_ik_result *result) {
    char text[512];
    stn_vec3 p = goal->pose.position;
    snprintf(
        text, sizeof text,
        "inverse_kinematics: robot '%s' does not get link '%s' to (%.4g, %.4g, %.4g) m within its limits%s: %.3g m "
        "and %.3g deg stay, the best of %d start%s",
        stn_lua_robot_name(robot->world, robot->index), stn_lua_link_name(robot->world, goal->link), p.x, p.y, p.z,
        result->refused > 0 ? " clear of what is around" : "", result->distance, result->angle * 180.0 / STN_PI,
        (int)result->starts, result->starts == 1 ? "" : "s");
    if (result->refused > 0) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "; %d came there and met something", (int)result->refused);
    }
    lua_pushstring(L, text);
}

bool stn_lua_solve_place(lua_State *L, const stn_lua_object *robot, const stn_ik_goal *goal, double *q) {
    stn_ik_result result;
    stn_error err = {0};
    stn_status status = stn_inverse_kinematics(stn_world_kinematics(robot->world->world), goal, q, &result, &err);
    stn_lua_check(L, status, &err);
    if (status != STN_OK) {
        push_reason(L, robot, goal, &result);
    }
    return status == STN_OK;
}

/// robot:inverse_kinematics { link =, pose = }: positions by joint, or nil and a text.
static int robot_inverse_kinematics(lua_State *L) {
    static const char *const keys[] = {"link",          "pose", "seeds",      "tolerance",     "angle_tolerance",
                                       "random_starts", "seed", "iterations", "position_only", "nearest",
                                       "free",          NULL};
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_ROBOT);
    stn_fields f = stn_fields_open(L, 2, "inverse_kinematics", keys, 0);
    stn_ik_goal goal;
    read_goal(&f, o, &goal);
    stn_lua_clearance *clear = stn_fields_clearance(&f, "free", o);
    goal.accepts = clear != NULL ? stn_lua_is_clear : NULL;
    goal.user = clear;
    double *q = stn_lua_copy_coordinates(L, o->world, STN_LUA_POSITION);
    if (!stn_lua_solve_place(L, o, &goal, q)) {
        lua_pushnil(L);
        lua_insert(L, -2);
        return 2;
    }
    push_positions(L, o, q);
    return 1;
}

const luaL_Reg stn_lua_inverse_methods[] = {{"inverse_kinematics", robot_inverse_kinematics}, {NULL, NULL}};
