// SPDX-License-Identifier: Apache-2.0
// robot:move_to(pose | joints, { ... }): in a task, the references of a robot's controllers go to a goal within joint
// space, along s(u) = 10 u^3 - 15 u^4 + 6 u^5: from rest to rest without a jump of the acceleration.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lua/task.h"

#define MOVE "stiction.move"
/// Largest s' and |s''| of the quintic: 15/8 and 10/sqrt(3).
#define PEAK_RATE         1.875
#define PEAK_ACCELERATION 5.773502691896258

/// A joint on its way.
typedef struct mover {
    int32_t joint, controller, at; // of the model; whose references drive it, and the place in them
    double start, goal;
} mover;

/// User value 1: the world.
typedef struct move {
    stn_lua_world *world;
    int32_t robot, count;
    double begin, duration; // [s]
    double timeout;         // after it [s]
    double tolerance;       // [rad] or [m]
    double *scratch;        // (nv)
    mover mover[];
} move;

static const stn_joint *joint_of(const move *m, int32_t i) {
    return &stn_world_model(m->world->world)->joints[m->mover[i].joint];
}

static const char *unit_of(const stn_joint *joint) {
    return stn_joint_type_units(joint->type)->position;
}

// ---------------------------------------------------------------------------------------------------------- the goal

/// Is the table at `index` a pose? It has a key of one then.
static bool is_pose(lua_State *L, int index) {
    static const char *const keys[] = {STN_POSE_KEYS, NULL};
    bool found = false;
    for (int i = 0; keys[i] != NULL && !found; i++) {
        lua_pushstring(L, keys[i]);
        found = lua_rawget(L, index) != LUA_TNIL;
        lua_pop(L, 1);
    }
    return found;
}

/// The link that a pose is for: named, or the only one of the robot that nothing of it hangs on.
static int32_t read_tip(const stn_fields *f, const stn_lua_object *robot) {
    const stn_model *model = stn_world_model(robot->world->world);
    int32_t named = stn_fields_link(f, robot);
    if (named >= 0) {
        return named;
    }
    stn_link_range links = stn_lua_robot_links(robot->world, robot->index);
    int32_t tip = -1, tips = 0;
    for (int32_t i = links.start; i < links.start + links.count; i++) {
        bool carries = false;
        for (int32_t k = links.start; k < links.start + links.count; k++) {
            carries = carries || model->links[k].parent == i;
        }
        tip = carries ? tip : i;
        tips += carries ? 0 : 1;
    }
    if (tips != 1) {
        stn_lua_fail(f->L, "%s: robot '%s' ends in %d links; say which one the pose is for: link = ...", f->owner,
                     stn_lua_robot_name(robot->world, robot->index), (int)tips);
    }
    return tip;
}

/// The goal at stack index 2 as coordinates of the model, over `q`.
static void read_goal(const stn_fields *f, const stn_lua_object *robot, double *q) {
    lua_State *L = f->L;
    if (lua_type(L, 2) != LUA_TTABLE) {
        stn_lua_fail(L, "%s takes a pose or joint positions, { joint = value, ... }, got %s", f->owner,
                     lua_isnoneornil(L, 2) ? "nothing" : luaL_typename(L, 2));
    }
    if (!is_pose(L, 2)) {
        stn_lua_read_joints(L, 2, f->owner, robot->world, robot->index, STN_LUA_POSITION, q);
        return;
    }
    stn_ik_goal goal = stn_ik_goal_default();
    goal.robot = robot->index;
    goal.link = read_tip(f, robot);
    stn_lua_pose(L, 2, "move_to: the pose", &goal.pose);
    if (stn_fields_push(f, "frame")) {
        stn_link_range frame = stn_lua_links(L, -1, robot->world, "move_to: frame");
        stn_pose of = stn_lua_link_pose(robot->world, frame.start);
        goal.pose = stn_pose_mul(&of, &goal.pose);
    }
    double *found = stn_lua_copy_coordinates(L, robot->world, STN_LUA_POSITION);
    if (!stn_lua_solve_place(L, robot, &goal, found)) {
        stn_lua_fail(L, "%s: %s", f->owner, lua_tostring(L, -1));
    }
    const stn_model *model = stn_world_model(robot->world->world);
    const double *present = stn_world_state(robot->world->world)->q;
    for (int32_t i = 0; i < model->nq; i++) {
        q[i] = found[i] != present[i] ? found[i] : q[i];
    }
}

/// Adds the joints of the robot that controllers drive, with their present references; q gets these.
static void find_movers(move *m, double *q) {
    const stn_model *model = stn_world_model(m->world->world);
    const stn_robot *robot = &model->robots[m->robot];
    for (int32_t j = robot->joint_start; j < robot->joint_start + robot->joint_count; j++) {
        mover *to = &m->mover[m->count];
        if (model->joints[j].nv == 1 && stn_lua_find_reference(m->world, j, "position", &to->controller, &to->at)) {
            to->joint = j;
            to->start = stn_lua_reference(m->world, to->controller, "position")[to->at];
            q[model->joints[j].q_start] = to->start;
            m->count++;
        }
    }
}

/// Takes the goals over, which must be within the limits; the rest of the robot must stay where it is.
static void take_goals(lua_State *L, move *m, const double *q, const char *owner) {
    const stn_model *model = stn_world_model(m->world->world);
    const stn_robot *robot = &model->robots[m->robot];
    const double *present = stn_world_state(m->world->world)->q;
    for (int32_t j = robot->joint_start, i = 0; j < robot->joint_start + robot->joint_count; j++) {
        const stn_joint *joint = &model->joints[j];
        double goal = q[joint->q_start];
        bool driven = i < m->count && m->mover[i].joint == j;
        if (driven) {
            m->mover[i++].goal = goal;
        } else if (goal != present[joint->q_start] && joint->mimic < 0) {
            stn_lua_fail(
                L,
                "%s: joint '%s' of robot '%s' has no active controller with references for its position; add one, "
                "world:controller { \"joint_pd\", target = ... }",
                owner, joint->name, robot->name);
        }
        if (driven && joint->type != STN_JOINT_CONTINUOUS && !(goal >= joint->lower && goal <= joint->upper)) {
            stn_lua_fail(L, "%s: joint '%s' of robot '%s' cannot go to %g %s, its limits are %g and %g", owner,
                         joint->name, robot->name, goal, unit_of(joint), joint->lower, joint->upper);
        }
    }
}

/// The shortest time within `speed` times the velocity limits, and the acceleration limits; a joint without a velocity
/// limit has one of 1 rad/s or 1 m/s.
static double shortest(const move *m, double speed) {
    double time = 0.0;
    for (int32_t i = 0; i < m->count; i++) {
        const stn_joint *joint = joint_of(m, i);
        double way = fabs(m->mover[i].goal - m->mover[i].start);
        double limit = speed * (isfinite(joint->velocity) && joint->velocity > 0.0 ? joint->velocity : 1.0);
        time = fmax(time, PEAK_RATE * way / limit);
        if (isfinite(joint->acceleration) && joint->acceleration > 0.0) {
            time = fmax(time, sqrt(PEAK_ACCELERATION * way / joint->acceleration));
        }
    }
    return time;
}

// ------------------------------------------------------------------------------------------------------- on the way

/// References for the time `t` since the beginning.
static stn_status set_references(const move *m, double t, stn_error *err) {
    double u = m->duration > 0.0 ? fmin(t / m->duration, 1.0) : 1.0;
    double s = u * u * u * (10.0 + u * (-15.0 + 6.0 * u)), rate = 30.0 * u * u * (1.0 + u * (-2.0 + u));
    stn_status status = STN_OK;
    for (int32_t i = 0; i < m->count && status >= 0; i++) {
        const mover *to = &m->mover[i];
        double way = to->goal - to->start, velocity = u < 1.0 ? way * rate / m->duration : 0.0;
        int32_t controller, at;
        status =
            stn_lua_set_reference(m->world, to->controller, "position", to->at, to->start + s * way, m->scratch, err);
        if (status >= 0 && stn_lua_find_reference(m->world, to->joint, "velocity", &controller, &at)) {
            status = stn_lua_set_reference(m->world, controller, "velocity", at, velocity, m->scratch, err);
        }
    }
    return status;
}

/// However it ends: what it asked for last stays, at rest.
static int move_close(lua_State *L) {
    const move *m = luaL_checkudata(L, 1, MOVE);
    stn_error err = {0};
    for (int32_t i = 0; i < m->count && m->world->world != NULL; i++) {
        int32_t controller, at;
        if (stn_lua_find_reference(m->world, m->mover[i].joint, "velocity", &controller, &at)) {
            stn_lua_set_reference(m->world, controller, "velocity", at, 0.0, m->scratch, &err);
        }
    }
    return 0;
}

/// The joint that is farthest from its goal.
static int32_t farthest(const move *m, double *distance) {
    const double *q = stn_world_state(m->world->world)->q;
    int32_t found = -1;
    *distance = 0.0;
    for (int32_t i = 0; i < m->count; i++) {
        double d = fabs(q[joint_of(m, i)->q_start] - m->mover[i].goal);
        if (d > *distance) {
            *distance = d;
            found = i;
        }
    }
    return found;
}

/// 2 the move, to be closed.
static int move_on(lua_State *L, int status, lua_KContext context) {
    (void)status;
    lua_settop(L, 2);
    const move *m = lua_touserdata(L, 2);
    stn_lua_task *task = stn_lua_task_here(L, "move_to");
    double t = stn_lua_task_time(task) - m->begin, distance;
    int32_t last = farthest(m, &distance);
    bool over = stn_lua_task_is_past(task, m->begin + m->duration);
    if (over && distance <= m->tolerance) {
        return 0;
    }
    if (over && stn_lua_task_is_past(task, m->begin + m->duration + m->timeout)) {
        const stn_joint *joint = joint_of(m, last);
        stn_lua_fail(L,
                     "move_to: joint '%s' of robot '%s' is still %.4g %s from its goal %g s after the end of a move of "
                     "%.4g s, begun at t = %.9g s",
                     joint->name, stn_lua_robot_name(m->world, m->robot), distance, unit_of(joint), m->timeout,
                     m->duration, m->begin);
    }
    stn_error err = {0};
    stn_lua_check(L, set_references(m, t + stn_world_dt(m->world->world), &err), &err);
    return stn_lua_task_yield(L, task, "move_to", context, move_on);
}

/// Pushes a move without a goal.
static move *new_move(lua_State *L, const stn_lua_object *robot, double begin) {
    const stn_model *model = stn_world_model(robot->world->world);
    size_t joints = (size_t)model->robots[robot->index].joint_count + 1, nv = (size_t)model->nv + 1;
    move *m = lua_newuserdatauv(L, sizeof *m + joints * sizeof *m->mover + nv * sizeof(double), 1);
    *m = (move){.world = robot->world, .robot = robot->index, .begin = begin, .timeout = 2.0, .tolerance = 0.01};
    m->scratch = (double *)(m->mover + joints);
    luaL_setmetatable(L, MOVE);
    lua_getiuservalue(L, 1, 1);
    lua_setiuservalue(L, -2, 1);
    return m;
}

static void check_world(lua_State *L, const stn_lua_task *task, const stn_lua_object *robot) {
    if (task->world != robot->world) {
        stn_lua_fail(L, "move_to: robot '%s' is of another world than task '%s'",
                     stn_lua_robot_name(robot->world, robot->index), task->name);
    }
}

/// robot:move_to(pose | joints [, { speed =, seconds =, link =, frame =, tolerance =, timeout = }])
static int robot_move_to(lua_State *L) {
    static const char *const keys[] = {"speed", "seconds", "link", "frame", "tolerance", "timeout", NULL};
    lua_settop(L, 3);
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_ROBOT);
    stn_lua_task *task = stn_lua_task_here(L, "move_to");
    check_world(L, task, o);
    task->since = stn_lua_task_time(task);
    if (lua_isnil(L, 3)) {
        lua_newtable(L);
        lua_replace(L, 3);
    }
    stn_fields f = stn_fields_open(L, 3, "move_to", keys, 0);
    move *m = new_move(L, o, task->since);
    int at = lua_gettop(L);
    double *q = stn_lua_copy_coordinates(L, o->world, STN_LUA_POSITION), speed = 0.5;
    find_movers(m, q);
    read_goal(&f, o, q);
    take_goals(L, m, q, "move_to");
    stn_fields_above_zero(&f, "speed", "1", &speed);
    if (speed > 1.0) {
        stn_lua_fail(L, "move_to: speed = %g must be <= 1, a part of the joints' velocity limits", speed);
    }
    stn_fields_above_zero(&f, "tolerance", "rad or m", &m->tolerance);
    stn_fields_at_least(&f, "timeout", "s", 0.0, &m->timeout);
    m->duration = shortest(m, speed);
    stn_fields_above_zero(&f, "seconds", "s", &m->duration);
    lua_settop(L, at);
    lua_replace(L, 2);
    lua_settop(L, 2);
    lua_toclose(L, 2);
    return move_on(L, LUA_OK, 0);
}

void stn_lua_open_move(lua_State *L) {
    luaL_newmetatable(L, MOVE);
    lua_pushcfunction(L, move_close);
    lua_setfield(L, -2, "__close");
    lua_pop(L, 1);
}

const luaL_Reg stn_lua_move_methods[] = {{"move_to", robot_move_to}, {NULL, NULL}};
