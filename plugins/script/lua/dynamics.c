// SPDX-License-Identifier: Apache-2.0
// Equations of motion of a robot in Lua: M(q) a + bias(q, v) = tau + J^T f. Rows and columns are velocities of the
// robot in the order of robot:v(), whatever their order in the model's trees.
#include <string.h>

#include "bind.h"

/// The velocities of a robot, as places in those of the model. The list lies in memory that is pushed.
typedef struct dof_list {
    int32_t count;
    const int32_t *dof;
} dof_list;

static dof_list push_dofs(lua_State *L, const stn_model *model, int32_t robot) {
    const stn_robot *r = &model->robots[robot];
    int32_t *dof = lua_newuserdatauv(L, ((size_t)model->nv + 1) * sizeof *dof, 0);
    dof_list list = {.dof = dof};
    for (int32_t j = r->joint_start; j < r->joint_start + r->joint_count; j++) {
        for (int32_t k = 0; k < model->joints[j].nv; k++) {
            dof[list.count++] = model->joints[j].v_start + k;
        }
    }
    return list;
}

static double *push_numbers(lua_State *L, size_t count) {
    double *values = lua_newuserdatauv(L, (count + 1) * sizeof *values, 0);
    memset(values, 0, count * sizeof *values);
    return values;
}

/// Is this the first of the list that lies in its tree?
static bool begins_tree(const stn_model *model, const dof_list *list, int32_t at) {
    int32_t tree = model->dof_tree[list->dof[at]];
    for (int32_t i = 0; i < at; i++) {
        if (model->dof_tree[list->dof[i]] == tree) {
            return false;
        }
    }
    return true;
}

// -------------------------------------------------------------------------------------------------- mass matrix, bias

/// Adds the part of M (count x count) that lies in one tree. Pushes memory.
static void add_mass_matrix(lua_State *L, stn_lua_world *w, const dof_list *list, int32_t tree, double *M) {
    const stn_model *model = stn_world_model(w->world);
    size_t n = (size_t)model->trees[tree].nv;
    int32_t start = model->trees[tree].v_start;
    stn_matrix whole = {.n = (int32_t)n, .form = STN_MATRIX_DENSE, .values = push_numbers(L, n * n)};
    stn_mass_matrix(stn_world_kinematics(w->world), tree, &whole);
    for (int32_t i = 0; i < list->count; i++) {
        for (int32_t j = 0; j < list->count; j++) {
            int32_t row = list->dof[i], column = list->dof[j];
            if (model->dof_tree[row] == tree && model->dof_tree[column] == tree) {
                M[(size_t)i * (size_t)list->count + (size_t)j] =
                    whole.values[(size_t)(row - start) * n + (size_t)(column - start)];
            }
        }
    }
}

static void push_rows(lua_State *L, const double *values, int32_t rows, int32_t columns) {
    lua_createtable(L, rows, 0);
    for (int32_t i = 0; i < rows; i++) {
        stn_lua_push_reals(L, values + (size_t)i * (size_t)columns, columns);
        lua_rawseti(L, -2, i + 1);
    }
}

static int robot_mass_matrix(lua_State *L) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_ROBOT);
    const stn_model *model = stn_world_model(o->world->world);
    dof_list list = push_dofs(L, model, o->index);
    double *M = push_numbers(L, (size_t)list.count * (size_t)list.count);
    int top = lua_gettop(L);
    for (int32_t i = 0; i < list.count; i++) {
        if (begins_tree(model, &list, i)) {
            add_mass_matrix(L, o->world, &list, model->dof_tree[list.dof[i]], M);
            lua_settop(L, top);
        }
    }
    push_rows(L, M, list.count, list.count);
    return 1;
}

/// C(q, v) v - gravity terms, of every tree that the robot is part of.
static int robot_bias(lua_State *L) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_ROBOT);
    stn_world *world = o->world->world;
    const stn_model *model = stn_world_model(world);
    dof_list list = push_dofs(L, model, o->index);
    double *bias = push_numbers(L, (size_t)model->nv), *out = push_numbers(L, (size_t)list.count);
    stn_spatial *scratch = lua_newuserdatauv(L, ((size_t)model->body_count + 1) * sizeof *scratch, 0);
    for (int32_t i = 0; i < list.count; i++) {
        int32_t tree = model->dof_tree[list.dof[i]];
        if (begins_tree(model, &list, i)) {
            stn_inverse_dynamics(stn_world_kinematics(world), tree, stn_world_state(world)->gravity, NULL, scratch,
                                 bias + model->trees[tree].v_start);
        }
        out[i] = bias[list.dof[i]];
    }
    stn_lua_push_reals(L, out, list.count);
    return 1;
}

// ----------------------------------------------------------------------------------------------------------- Jacobian

/// Columns of J (3 x n of the tree) that belong to the robot, as three rows of `out`.
static void take_columns(const stn_model *model, const dof_list *list, int32_t tree, const double *J, double *out) {
    size_t n = (size_t)model->trees[tree].nv, count = (size_t)list->count;
    for (size_t i = 0; i < count; i++) {
        int32_t dof = list->dof[i];
        for (size_t r = 0; r < 3 && model->dof_tree[dof] == tree; r++) {
            out[r * count + i] = J[r * n + (size_t)(dof - model->trees[tree].v_start)];
        }
    }
}

/// place:jacobian(point, robot).
int stn_lua_place_jacobian(lua_State *L, stn_lua_world *w, int32_t link) {
    const stn_model *model = stn_world_model(w->world);
    lua_settop(L, 3);
    stn_vec3 point = stn_lua_link_pose(w, link).position;
    if (!lua_isnil(L, 2)) {
        point = stn_lua_vector(L, 2, "jacobian: the point", "m");
    }
    int32_t robot = model->links[link].robot;
    if (!lua_isnil(L, 3)) {
        const stn_lua_object *other = stn_lua_object_check(L, 3, STN_LUA_ROBOT);
        if (other->world != w) {
            stn_lua_fail(L, "jacobian: the robot belongs to another world");
        }
        robot = other->index;
    }
    dof_list list = push_dofs(L, model, robot);
    double *out = push_numbers(L, 6 * (size_t)list.count);
    int32_t body = model->links[link].body, tree = model->bodies[body].tree;
    if (tree >= 0) {
        size_t n = (size_t)model->trees[tree].nv;
        double *linear = push_numbers(L, 3 * n), *angular = push_numbers(L, 3 * n);
        const stn_kinematics *k = stn_world_kinematics(w->world);
        stn_mat3 axes = stn_mat3_identity();
        stn_point_jacobian_add(k, body, point, &axes, 1.0, linear);
        stn_angular_jacobian_add(k, body, &axes, 1.0, angular);
        take_columns(model, &list, tree, linear, out);
        take_columns(model, &list, tree, angular, out + 3 * (size_t)list.count);
    }
    push_rows(L, out, 6, list.count);
    return 1;
}

const luaL_Reg stn_lua_dynamics_methods[] = {{"mass_matrix", robot_mass_matrix}, {"bias", robot_bias}, {NULL, NULL}};
