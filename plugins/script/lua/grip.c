// SPDX-License-Identifier: Apache-2.0
// hand:close { force = }, hand:open {}, hand:preshape {}: in a task, fingers go and the task waits until they stand. It
// is the robot's active controller with channels "force" and "closure" (a hand), or "width" (a gripper), that is told.
#include <math.h>
#include <string.h>

#include "task.h"

/// Fingers stand when no joint of the controller has been faster than this for so long; where they are told to go
/// slower than usual, that part of it.
static const double slow_turn = 0.05, slow_slide = 1e-3, still = 0.1; // [rad/s], [m/s], [s]
static const double usual_width = 0.1, usual_closure = 1.5;           // [m/s], [1/s]

typedef enum verb { CLOSE, OPEN, PRESHAPE } verb;
static const char *const verbs[] = {"close", "open", "preshape"};

/// What is waited for; on Lua's stack at index 2.
typedef struct grip {
    verb verb;
    int32_t controller;
    double begin, timeout, standing_since; // [s]
    double pace;                           // part of the usual speed that they are told to go at, at most 1
} grip;

/// The controller of the robot that closes it; `*gripper`: by its width.
static int32_t find_controller(lua_State *L, const stn_lua_object *robot, verb v, bool *gripper) {
    const stn_lua_world *w = robot->world;
    for (int32_t c = 0; c < stn_world_controller_count(w->world); c++) {
        bool mine = stn_world_controller_target(w->world, c)->robot == robot->index;
        bool acts = stn_world_controller_weight(w->world, c) > 0.0 && stn_lua_scalar_reference(w, c, "force") != NULL;
        *gripper = stn_lua_scalar_reference(w, c, "width") != NULL;
        if (mine && acts && (*gripper || stn_lua_scalar_reference(w, c, "closure") != NULL)) {
            return c;
        }
    }
    stn_lua_fail(L,
                 "%s: robot '%s' has no active controller for its fingers; add one, world:controller { \"hand\", "
                 "target = ... } or { \"gripper\", ... }",
                 verbs[v], stn_lua_robot_name(w, robot->index));
}

static void set(lua_State *L, const stn_lua_world *w, int32_t controller, const char *channel, double value) {
    stn_error err = {0};
    stn_lua_check(L, stn_world_set_reference(w->world, controller, channel, &value, 1, &err), &err);
}

/// The joint of the controller that is furthest from standing, as a part of what usually counts as standing; `*joint`.
static double fastest(const stn_lua_world *w, int32_t controller, int32_t *joint) {
    const stn_model *model = stn_world_model(w->world);
    const stn_control_target *target = stn_world_controller_target(w->world, controller);
    const double *v = stn_world_state(w->world)->v;
    double most = 0.0;
    *joint = target->joint[0];
    for (int32_t i = 0; i < target->dof_count; i++) {
        int32_t j = model->dof_joint[target->dof[i]];
        bool slides = model->joints[j].type == STN_JOINT_PRISMATIC;
        double part = fabs(v[target->dof[i]]) / (slides ? slow_slide : slow_turn);
        *joint = part > most ? j : *joint;
        most = fmax(most, part);
    }
    return most;
}

static bool is_outside(const void *user, int32_t geometry) {
    return !stn_lua_side_has(user, geometry);
}

/// Pushes { force =, links = }: half the sum of what presses on the links, and how many of them something presses on.
static void push_feeling(lua_State *L, const stn_lua_world *w, int32_t robot) {
    stn_lua_side hand = {stn_world_model(w->world), stn_lua_robot_links(w, robot)};
    stn_contact_side outside = {is_outside, &hand};
    double sum = 0.0;
    lua_Integer links = 0;
    for (int32_t i = 0; i < hand.links.count; i++) {
        stn_lua_side link = {hand.model, {hand.links.start + i, 1}};
        stn_contact_side on = {stn_lua_side_has, &link};
        stn_contact_force force;
        stn_observation_contact_force(stn_world_observation(w->world), &on, &outside, stn_vec3_zero(), &force);
        sum += stn_vec3_norm(force.normal_part);
        links += force.sticking + force.slipping > 0 ? 1 : 0;
    }
    lua_createtable(L, 0, 2);
    stn_lua_set_number(L, "force", 0.5 * sum);
    lua_pushinteger(L, links);
    lua_setfield(L, -2, "links");
}

/// 1 the robot, 2 the grip.
static int grip_on(lua_State *L, int status, lua_KContext context) {
    (void)status;
    lua_settop(L, 2);
    const stn_lua_object *robot = stn_lua_object_check(L, 1, STN_LUA_ROBOT);
    grip *g = lua_touserdata(L, 2);
    stn_lua_task *task = stn_lua_task_here(L, verbs[g->verb]);
    int32_t joint;
    bool stands = fastest(robot->world, g->controller, &joint) < g->pace;
    g->standing_since = stands ? g->standing_since : stn_lua_task_time(task);
    if (stn_lua_task_is_past(task, g->standing_since + still)) {
        push_feeling(L, robot->world, robot->index);
        return 1;
    }
    if (stn_lua_task_is_past(task, g->begin + g->timeout)) {
        stn_lua_fail(L, "%s: joint '%s' of robot '%s' still moves after %g s", verbs[g->verb],
                     stn_world_model(robot->world->world)->joints[joint].name,
                     stn_lua_robot_name(robot->world, robot->index), g->timeout);
    }
    return stn_lua_task_yield(L, task, verbs[g->verb], context, grip_on);
}

/// What the controller is told, by the table at index 2.
static void tell(lua_State *L, const stn_lua_object *robot, const stn_fields *f, grip *g) {
    bool gripper = false;
    double force = 0.0, speed = 0.0, width = 1e3; // wider than any: cut to what the jaws can
    g->controller = find_controller(L, robot, g->verb, &gripper);
    stn_fields_above_zero(f, "timeout", "s", &g->timeout);
    bool wide = stn_fields_at_least(f, "width", "m", 0.0, &width);
    if (wide && !gripper) {
        stn_lua_fail(L, "%s: robot '%s' is a hand, width is for grippers", f->owner,
                     stn_lua_robot_name(robot->world, robot->index));
    }
    if (g->verb == PRESHAPE && gripper) {
        stn_lua_fail(L, "preshape: robot '%s' is a gripper: open it to a width, open { width = 0.04 }",
                     stn_lua_robot_name(robot->world, robot->index));
    }
    if (stn_fields_at_least(f, "force", "N", 0.0, &force)) {
        set(L, robot->world, g->controller, "force", force);
    }
    if (stn_fields_above_zero(f, "speed", gripper ? "m/s" : "1/s", &speed)) {
        set(L, robot->world, g->controller, "speed", speed);
    }
    const double *told = stn_lua_scalar_reference(robot->world, g->controller, "speed");
    if (told != NULL && *told <= 0.0) {
        stn_lua_fail(L, "%s: the fingers of robot '%s' are told to go at speed 0; give one, speed = 0.1", f->owner,
                     stn_lua_robot_name(robot->world, robot->index));
    }
    g->pace = told != NULL ? fmin(1.0, *told / (gripper ? usual_width : usual_closure)) : 1.0;
    static const double closures[] = {[CLOSE] = 1.0, [OPEN] = 0.0, [PRESHAPE] = 0.5};
    if (gripper) {
        set(L, robot->world, g->controller, "width", g->verb == CLOSE ? -1e3 : width);
    } else {
        set(L, robot->world, g->controller, "closure", closures[g->verb]);
    }
}

static int move_fingers(lua_State *L, verb v) {
    static const char *const keys[][5] = {[CLOSE] = {"force", "speed", "timeout", NULL},
                                          [OPEN] = {"force", "speed", "timeout", "width", NULL},
                                          [PRESHAPE] = {"force", "speed", "timeout", NULL}};
    lua_settop(L, 2);
    const stn_lua_object *robot = stn_lua_object_check(L, 1, STN_LUA_ROBOT);
    stn_lua_task *task = stn_lua_task_here(L, verbs[v]);
    if (task->world != robot->world) {
        stn_lua_fail(L, "%s: robot '%s' is of another world than task '%s'", verbs[v],
                     stn_lua_robot_name(robot->world, robot->index), task->name);
    }
    if (lua_isnil(L, 2)) {
        lua_newtable(L);
        lua_replace(L, 2);
    }
    task->since = stn_lua_task_time(task);
    stn_fields f = stn_fields_open(L, 2, verbs[v], keys[v], 0);
    grip *g = lua_newuserdatauv(L, sizeof *g, 0);
    *g = (grip){.verb = v, .begin = task->since, .timeout = 5.0, .standing_since = task->since};
    tell(L, robot, &f, g);
    lua_replace(L, 2);
    lua_settop(L, 2);
    return grip_on(L, LUA_OK, 0);
}

static int robot_close(lua_State *L) {
    return move_fingers(L, CLOSE);
}

static int robot_open(lua_State *L) {
    return move_fingers(L, OPEN);
}

static int robot_preshape(lua_State *L) {
    return move_fingers(L, PRESHAPE);
}

const luaL_Reg stn_lua_grip_methods[] = {
    {"close", robot_close}, {"open", robot_open}, {"preshape", robot_preshape}, {NULL, NULL}};
