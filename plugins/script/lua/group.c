// SPDX-License-Identifier: Apache-2.0
// Groups (a single body is a group of one link) and links: poses, velocities, forces, equations of motion, inverse
// kinematics.
#include <stdio.h>
#include <string.h>

#include "bind.h"

/// The velocities of a group, as places in those of the model. The list lies in memory that is pushed.
typedef struct dof_list {
    int32_t count;
    const int32_t *dof;
} dof_list;

static dof_list push_dofs(lua_State *L, const stn_model *model, int32_t group) {
    const stn_group *r = &model->groups[group];
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

static int group_mass_matrix(lua_State *L) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_GROUP);
    const stn_model *model = stn_world_model(o->world->world);
    dof_list list = push_dofs(L, model, o->index);
    double *M = push_numbers(L, (size_t)list.count * (size_t)list.count);
    int top = lua_gettop(L);
    for (int32_t first = 0; first < list.count; first++) {
        if (!begins_tree(model, &list, first)) {
            continue;
        }
        int32_t tree = model->dof_tree[list.dof[first]], start = model->trees[tree].v_start;
        size_t n = (size_t)model->trees[tree].nv;
        stn_matrix whole = {.n = (int32_t)n, .form = STN_MATRIX_DENSE, .values = push_numbers(L, n * n)};
        stn_mass_matrix(stn_world_kinematics(o->world->world), tree, &whole);
        for (int32_t k = 0; k < list.count * list.count; k++) {
            int32_t row = list.dof[k / list.count], column = list.dof[k % list.count];
            if (model->dof_tree[row] == tree && model->dof_tree[column] == tree) {
                M[k] = whole.values[(size_t)(row - start) * n + (size_t)(column - start)];
            }
        }
        lua_settop(L, top);
    }
    stn_lua_push_rows(L, M, list.count, list.count);
    return 1;
}

/// C(q, v) v - gravity terms, of every tree that the group is part of.
static int group_bias(lua_State *L) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_GROUP);
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

/// Columns of J (3 x n of the tree) that belong to the group, as three rows of `out`.
static void take_columns(const stn_model *model, const dof_list *list, int32_t tree, const double *J, double *out) {
    size_t n = (size_t)model->trees[tree].nv, count = (size_t)list->count;
    for (size_t i = 0; i < count; i++) {
        int32_t dof = list->dof[i];
        for (size_t r = 0; r < 3 && model->dof_tree[dof] == tree; r++) {
            out[r * count + i] = J[r * n + (size_t)(dof - model->trees[tree].v_start)];
        }
    }
}

static const luaL_Reg dynamics_methods[] = {{"mass_matrix", group_mass_matrix}, {"bias", group_bias}, {NULL, NULL}};

// --------------------------------------------------------------------------------------------------------------- group

static const stn_model *model_of(const stn_lua_object *o) {
    return stn_world_model(o->world->world);
}

static const stn_group *group_of(const stn_lua_object *o) {
    return &model_of(o)->groups[o->index];
}

// ------------------------------------------------------------------------------------------- links: where, how fast

static void link_velocity(stn_lua_world *w, int32_t link, stn_vec3 *linear, stn_vec3 *angular) {
    const stn_link *l = &stn_world_model(w->world)->links[link];
    stn_pose pose = stn_lua_link_pose(w, link);
    const stn_kinematics *k = stn_world_kinematics(w->world);
    *linear = stn_point_velocity(k, l->body, pose.position);
    *angular = k->body_velocity[l->body].angular;
}

/// The link that argument 1 means: a link, or the root link of a group.
static stn_lua_object *check_place(lua_State *L, int32_t *link) {
    bool is_link = luaL_testudata(L, 1, STN_LUA_LINK) != NULL;
    stn_lua_object *o = stn_lua_object_check(L, 1, is_link ? STN_LUA_LINK : STN_LUA_GROUP);
    *link = is_link ? o->index : group_of(o)->root_link;
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
    link_velocity(o->world, link, &linear, &angular);
    stn_lua_push_velocity(L, linear, angular);
    return 1;
}

static int place_speed(lua_State *L) {
    int32_t link = 0;
    stn_lua_object *o = check_place(L, &link);
    stn_vec3 linear, angular;
    link_velocity(o->world, link, &linear, &angular);
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
    if (body == 0) {
        stn_lua_fail(L, "apply_force: link '%s' is fixed to the world, so that no force moves it",
                     model_of(o)->links[link].name);
    }
    const stn_pose *pose = &stn_world_kinematics(o->world->world)->body_pose[body];
    stn_vec3 point = stn_pose_apply(pose, model_of(o)->bodies[body].mass.com);
    stn_fields_vector(&f, "force", "N", &force);
    stn_fields_vector(&f, "torque", "N m", &torque);
    stn_fields_vector(&f, "point", "m", &point);
    stn_error err = {0};
    stn_lua_check(L, stn_world_set_wrench(o->world->world, body, force, torque, point, &err), &err);
    return 0;
}

/// place:jacobian(point, group): of the link's origin, by the velocities of its own group, when they are nil.
static int place_jacobian(lua_State *L) {
    int32_t link = 0;
    stn_lua_object *o = check_place(L, &link);
    stn_lua_world *w = o->world;
    const stn_model *model = stn_world_model(w->world);
    lua_settop(L, 3);
    stn_vec3 point = stn_lua_link_pose(w, link).position;
    if (!lua_isnil(L, 2)) {
        point = stn_lua_vector(L, 2, "jacobian: the point", "m");
    }
    int32_t group = model->links[link].group;
    if (!lua_isnil(L, 3)) {
        const stn_lua_object *other = stn_lua_object_check(L, 3, STN_LUA_GROUP);
        if (other->world != w) {
            stn_lua_fail(L, "jacobian: the group belongs to another world");
        }
        group = other->index;
    }
    dof_list list = push_dofs(L, model, group);
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
    stn_lua_push_rows(L, out, 6, list.count);
    return 1;
}

/// Of all collision shapes of a link, or of all links of a group.
static int place_set_surface_velocity(lua_State *L) {
    bool is_link = luaL_testudata(L, 1, STN_LUA_LINK) != NULL;
    stn_lua_object *o = stn_lua_object_check(L, 1, is_link ? STN_LUA_LINK : STN_LUA_GROUP);
    const stn_model *model = model_of(o);
    stn_vec3 velocity = stn_lua_vector(L, 2, "set_surface_velocity", "m/s");
    for (int32_t g = 0; g < model->geometry_count; g++) {
        int32_t link = model->geometries[g].link;
        bool its = link >= 0 && (is_link ? link == o->index : model->links[link].group == o->index);
        stn_error err = {0};
        if (its && model->geometries[g].collision) {
            stn_lua_check(L, stn_world_set_surface_velocity(o->world->world, g, velocity, &err), &err);
        }
    }
    return 0;
}

// -------------------------------------------------------------------------------------------------------- groups

/// The body of a group's root link, which moves; raises for what is welded to the world.
static int32_t moving_root(lua_State *L, const stn_lua_object *o, const char *what) {
    int32_t body = model_of(o)->links[group_of(o)->root_link].body;
    if (body == 0) {
        stn_lua_fail(
            L, "%s: '%s' is fixed to the world; what is to be moved is described without fixed = true, or kinematic",
            what, group_of(o)->name);
    }
    return body;
}

static int group_set_pose(lua_State *L) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_GROUP);
    stn_pose pose;
    stn_lua_pose(L, 2, "set_pose", &pose);
    stn_error err = {0};
    int32_t body = moving_root(L, o, "set_pose");
    stn_lua_check(L, stn_world_set_body_pose(o->world->world, body, &pose, &err), &err);
    stn_lua_touched(o->world);
    return 0;
}

static int group_set_velocity(lua_State *L) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_GROUP);
    stn_vec3 linear, angular;
    stn_lua_velocity(L, 2, "set_velocity", &linear, &angular);
    stn_error err = {0};
    int32_t body = moving_root(L, o, "set_velocity");
    stn_lua_check(L, stn_world_set_body_velocity(o->world->world, body, linear, angular, &err), &err);
    stn_lua_touched(o->world);
    return 0;
}

/// arm:attach(hand, "flange", pose): welds the hand's root to the link.
static int group_attach(lua_State *L) {
    static const char owner[] = "group:attach";
    lua_settop(L, 4);
    stn_lua_object *o = stn_lua_object_open(L, 1, STN_LUA_GROUP);
    stn_model_builder *builder = stn_lua_world_builder(L, o->world, owner);
    const stn_lua_object *hand = stn_lua_object_test(L, 2, STN_LUA_GROUP);
    if (hand == NULL || lua_type(L, 3) != LUA_TSTRING) {
        stn_lua_fail(
            L,
            "%s takes a group, the name of a link and perhaps a pose, as in arm:attach(hand, \"flange\"), got %s, %s",
            owner, luaL_typename(L, 2), luaL_typename(L, 3));
    }
    if (hand->world != o->world) {
        stn_lua_fail(L, "%s: the groups belong to different worlds", owner);
    }
    if (hand->index == o->index) {
        stn_lua_fail(L, "%s: group '%s' cannot be attached to itself", owner, stn_lua_group_name(o->world, o->index));
    }
    int32_t link = stn_lua_find_link(L, owner, o->world, o->index, lua_tostring(L, 3));
    stn_pose pose = stn_pose_identity();
    if (!lua_isnil(L, 4)) {
        stn_lua_pose(L, 4, "group:attach: pose", &pose);
    }
    // Its start values must not have a velocity.
    lua_getiuservalue(L, 1, 1);
    lua_getiuservalue(L, -1, 1);
    int list = lua_gettop(L);
    lua_Integer count = (lua_Integer)lua_rawlen(L, list);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, list, i);
        lua_getfield(L, -1, "group");
        if (lua_tointeger(L, -1) == hand->index && lua_getfield(L, -2, "velocity") != LUA_TNIL) {
            stn_lua_fail(L, "group:attach: the attached body has a start velocity of its own; it moves with the link");
        }
        lua_settop(L, list);
    }
    lua_pop(L, 2);
    stn_error err = {0};
    stn_lua_check(L, stn_builder_attach(builder, hand->index, link, &pose, &err), &err);
    return 0;
}

static int group_mass(lua_State *L) {
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_GROUP);
    const stn_group *r = group_of(o);
    double mass = 0.0;
    for (int32_t i = 0; i < r->link_count; i++) {
        mass += model_of(o)->links[r->link_start + i].mass.mass;
    }
    lua_pushnumber(L, mass);
    return 1;
}

// --------------------------------------------------------------------------------------------------------- links

static const stn_link *link_of(const stn_lua_object *o) {
    return &model_of(o)->links[o->index];
}

static int link_mass(lua_State *L) {
    lua_pushnumber(L, link_of(stn_lua_object_check(L, 1, STN_LUA_LINK))->mass.mass);
    return 1;
}

/// Pushes the object with this index, nil for a negative one; argument 1 is an object of the same world.
static int push_relative(lua_State *L, const char *type, int32_t index) {
    if (index < 0) {
        lua_pushnil(L);
        return 1;
    }
    lua_getiuservalue(L, 1, 1);
    stn_lua_object_new(L, -1, type, index);
    return 1;
}

/// The link that it hangs on, also by a fixed joint; nil for a root.
static int link_parent(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_LINK);
    return push_relative(L, STN_LUA_LINK, link_of(o)->parent);
}

/// The moving joint right above it; nil when it is welded to its parent.
static int link_joint(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_LINK);
    return push_relative(L, STN_LUA_JOINT, link_of(o)->joint);
}

static int link_group(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_LINK);
    return push_relative(L, STN_LUA_GROUP, link_of(o)->group);
}

// -------------------------------------------------------------------------------------------- properties and classes

static const char *const place_properties[] = {"name", NULL};

/// The name needs no complete world: groups and links keep their numbers.
static bool get_name(lua_State *L, void *self, const char *name) {
    (void)self;
    if (strcmp(name, "name") != 0) {
        return false;
    }
    const stn_lua_object *group = stn_lua_object_test(L, 1, STN_LUA_GROUP);
    const stn_lua_object *link = stn_lua_object_test(L, 1, STN_LUA_LINK);
    lua_pushstring(L, group != NULL ? stn_lua_group_name(group->world, group->index)
                                    : stn_lua_link_name(link->world, link->index));
    return true;
}

static int place_text(lua_State *L) {
    bool is_link = luaL_testudata(L, 1, STN_LUA_LINK) != NULL;
    const stn_lua_object *o = luaL_checkudata(L, 1, is_link ? STN_LUA_LINK : STN_LUA_GROUP);
    if (o->world->world == NULL) {
        lua_pushfstring(L, "%s of a closed world", is_link ? "link" : "group");
    } else {
        lua_pushfstring(L, "%s '%s'", is_link ? "link" : "group",
                        is_link ? stn_lua_link_name(o->world, o->index) : stn_lua_group_name(o->world, o->index));
    }
    return 1;
}

int stn_lua_object_equal(lua_State *L) {
    static const char *const types[] = {STN_LUA_GROUP, STN_LUA_LINK, STN_LUA_JOINT, STN_LUA_CONSTRAINT, STN_LUA_SOFT};
    bool equal = false;
    for (int i = 0; i < STN_COUNT(types); i++) {
        const stn_lua_object *a = luaL_testudata(L, 1, types[i]), *b = luaL_testudata(L, 2, types[i]);
        equal = equal || (a != NULL && b != NULL && a->world == b->world && a->index == b->index);
    }
    lua_pushboolean(L, equal);
    return 1;
}

// -------------------------------------------------------------------------------------------------- inverse kinematics

// group:inverse_kinematics { link =, pose =, ... }: joint positions that put a link where it is wanted.

/// seeds = { positions, ... }, each as set_q takes them: (count x nq) in memory that is pushed, above the others of the
/// present state.
static const double *read_seeds(const stn_fields *f, const stn_lua_object *group, int32_t *count) {
    lua_State *L = f->L;
    *count = 0;
    if (!stn_fields_push(f, "seeds")) {
        return NULL;
    }
    int list = lua_gettop(L);
    size_t length = lua_type(L, list) == LUA_TTABLE ? lua_rawlen(L, list) : 0;
    size_t nq = (size_t)stn_world_model(group->world->world)->nq;
    if (length == 0 || length > 10000) {
        stn_lua_fail(L, "%s: seeds must be a list of joint positions, { arm:positions(), ... }", f->owner);
    }
    double *seeds = lua_newuserdatauv(L, sizeof(double) * nq * length, 0);
    for (size_t i = 0; i < length; i++) {
        char what[80];
        snprintf(what, sizeof what, "%.40s: seeds[%zu]", f->owner, i + 1);
        memcpy(seeds + i * nq, stn_world_state(group->world->world)->q, sizeof(double) * nq);
        lua_rawgeti(L, list, (lua_Integer)i + 1);
        stn_lua_read_joints(L, -1, what, group->world, group->index, STN_LUA_POSITION, seeds + i * nq);
        lua_pop(L, 1);
    }
    *count = (int32_t)length;
    return seeds;
}

int32_t stn_fields_link(const stn_fields *f, const stn_lua_object *group) {
    lua_State *L = f->L;
    if (!stn_fields_push(f, "link")) {
        return -1;
    }
    const char *name = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    if (name != NULL && strchr(name, '/') == NULL) {
        return stn_lua_find_link(L, f->owner, group->world, group->index, name);
    }
    stn_link_range links = stn_lua_links(L, -1, group->world, f->owner);
    if (links.count != 1) {
        stn_lua_fail(L, "%s: link must name a single one, this group has %d", f->owner, (int)links.count);
    }
    return links.start;
}

static void read_goal(const stn_fields *f, const stn_lua_object *group, stn_ik_goal *goal) {
    lua_State *L = f->L;
    *goal = stn_ik_goal_default();
    goal->group = group->index;
    goal->link = stn_fields_link(f, group);
    if (goal->link < 0) {
        stn_lua_fail(L, "%s: link is missing; name the one that the pose is for", f->owner);
    }
    if (!stn_fields_pose(f, "pose", &goal->pose)) {
        stn_lua_fail(L, "%s: pose is missing; give where link '%s' is to be, pose = { xyz = ..., rpy = ... }", f->owner,
                     stn_lua_link_name(group->world, goal->link));
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
    goal->seeds = read_seeds(f, group, &goal->seed_count);
}

bool stn_lua_solve_place(lua_State *L, const stn_lua_object *group, const stn_ik_goal *goal, double *q) {
    stn_ik_result result;
    stn_error err = {0};
    stn_status status = stn_inverse_kinematics(stn_world_kinematics(group->world->world), goal, q, &result, &err);
    stn_lua_check(L, status, &err);
    if (status != STN_OK) {
        char text[512];
        stn_vec3 p = goal->pose.position;
        snprintf(
            text, sizeof text,
            "inverse_kinematics: group '%s' does not get link '%s' to (%.4g, %.4g, %.4g) m within its limits%s: %.3g m "
            "and %.3g deg stay, the best of %d start%s",
            stn_lua_group_name(group->world, group->index), stn_lua_link_name(group->world, goal->link), p.x, p.y, p.z,
            result.refused > 0 ? " clear of what is around" : "", result.distance, result.angle * 180.0 / STN_PI,
            (int)result.starts, result.starts == 1 ? "" : "s");
        if (result.refused > 0) {
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "; %d came there and met something", (int)result.refused);
        }
        lua_pushstring(L, text);
    }
    return status == STN_OK;
}

/// group:inverse_kinematics { link =, pose = }: positions by joint, or nil and a text.
static int group_inverse_kinematics(lua_State *L) {
    static const char *const keys[] = {"link",          "pose", "seeds",      "tolerance",     "angle_tolerance",
                                       "random_starts", "seed", "iterations", "position_only", "nearest",
                                       "free",          NULL};
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_GROUP);
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
    // { joint = value } of the group's joints with one coordinate
    const stn_model *model = stn_world_model(o->world->world);
    const stn_group *r = &model->groups[o->index];
    lua_createtable(L, 0, r->joint_count);
    for (int32_t i = r->joint_start; i < r->joint_start + r->joint_count; i++) {
        if (model->joints[i].nv == 1) {
            stn_lua_set_number(L, model->joints[i].name, q[model->joints[i].q_start]);
        }
    }
    return 1;
}

static const luaL_Reg inverse_methods[] = {{"inverse_kinematics", group_inverse_kinematics}, {NULL, NULL}};

void stn_lua_open_group(lua_State *L) {
    static const luaL_Reg place[] = {
        {"pose", place_pose},
        {"position", place_position},
        {"velocity", place_velocity},
        {"speed", place_speed},
        {"apply_force", place_apply_force},
        {"set_surface_velocity", place_set_surface_velocity},
        {"jacobian", place_jacobian},
        {NULL, NULL},
    };
    static const luaL_Reg group[] = {{"set_pose", group_set_pose}, {"set_velocity", group_set_velocity},
                                     {"attach", group_attach},     {"kinematic", stn_lua_group_kinematic},
                                     {"mass", group_mass},         {NULL, NULL}};
    static const luaL_Reg link[] = {
        {"mass", link_mass}, {"parent", link_parent}, {"joint", link_joint}, {"group", link_group}, {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__tostring", place_text}, {"__eq", stn_lua_object_equal}, {NULL, NULL}};
    stn_lua_class(L, STN_LUA_GROUP, place, meta, get_name, place_properties);
    stn_lua_class(L, STN_LUA_LINK, place, meta, get_name, place_properties);
    stn_lua_extend(L, STN_LUA_GROUP, stn_lua_factor_methods);
    stn_lua_extend(L, STN_LUA_LINK, stn_lua_factor_methods);
    stn_lua_extend(L, STN_LUA_GROUP, group);
    stn_lua_extend(L, STN_LUA_GROUP, stn_lua_name_methods);
    stn_lua_extend(L, STN_LUA_GROUP, stn_lua_coordinate_methods);
    stn_lua_extend(L, STN_LUA_GROUP, stn_lua_finding_methods);
    stn_lua_extend(L, STN_LUA_GROUP, dynamics_methods);
    stn_lua_extend(L, STN_LUA_GROUP, inverse_methods);
    stn_lua_extend(L, STN_LUA_GROUP, stn_lua_move_methods);
    stn_lua_extend(L, STN_LUA_GROUP, stn_lua_grip_methods);
    stn_lua_extend(L, STN_LUA_GROUP, stn_lua_path_methods);
    stn_lua_extend(L, STN_LUA_LINK, link);
}
