// SPDX-License-Identifier: Apache-2.0
// Moves and grasps in tasks. group:move_to(pose | joints, { ... }), group:follow({ pose | joints, ... }, { ... }): the
// references of a group's controllers go through waypoints in joint space along a spline, from rest to rest.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <stiction/spline.h>

#include "bind.h"

#define MOVE "stiction.move"
/// Between waypoints that are equal, where times are chosen [s].
#define REST 0.1

/// A joint on its way.
typedef struct mover {
    int32_t joint, controller, at; // of the model; whose references drive it, and the place in them
} mover;

/// User value 1: the world.
typedef struct move {
    const char *owner; // for messages
    stn_lua_world *world;
    int32_t group, count;
    double timeout;    // after its end [s]
    double tolerance;  // [rad] or [m]
    stn_spline spline; // of the movers; its first point is where they begin
    double *times, *points;
    double *now, *scratch; // (3 count) what the spline asks for; (nv)
    double *fit_scratch;   // (STN_SPLINE_SCRATCH)
    mover *mover;          // (count)
} move;

static const stn_joint *joint_of(const move *m, int32_t i) {
    return &stn_world_model(m->world->world)->joints[m->mover[i].joint];
}

static const char *unit_of(const stn_joint *joint) {
    return stn_joint_type_units(joint->type)->position;
}

// ---------------------------------------------------------------------------------------------------------- the goal

/// The link that a pose is for: named, or the only one of the group that nothing of it hangs on.
static int32_t read_tip(const stn_fields *f, const stn_lua_object *group) {
    const stn_model *model = stn_world_model(group->world->world);
    int32_t named = stn_fields_link(f, group);
    if (named >= 0) {
        return named;
    }
    stn_link_range links = stn_lua_group_links(group->world, group->index);
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
        stn_lua_fail(f->L, "%s: group '%s' ends in %d links; say which one the pose is for: link = ...", f->owner,
                     stn_lua_group_name(group->world, group->index), (int)tips);
    }
    return tip;
}

/// The goal at stack index `at` as coordinates of the model, over `q`.
static void read_goal(const stn_fields *f, int at, const char *what, const stn_lua_object *group, double *q) {
    lua_State *L = f->L;
    if (lua_type(L, at) != LUA_TTABLE) {
        stn_lua_fail(L, "%s takes a pose or joint positions, { joint = value, ... }, got %s", what,
                     lua_isnoneornil(L, at) ? "nothing" : luaL_typename(L, at));
    }
    if (!stn_lua_is_pose(L, at)) {
        stn_lua_read_joints(L, at, what, group->world, group->index, STN_LUA_POSITION, q);
        return;
    }
    stn_ik_goal goal = stn_ik_goal_default();
    goal.group = group->index;
    goal.link = read_tip(f, group);
    stn_lua_pose(L, at, lua_pushfstring(L, "%s: the pose", what), &goal.pose);
    const char *key = lua_pushfstring(L, "%s: frame", f->owner);
    if (stn_fields_push(f, "frame")) {
        stn_link_range frame = stn_lua_links(L, -1, group->world, key);
        stn_pose of = stn_lua_link_pose(group->world, frame.start);
        goal.pose = stn_pose_mul(&of, &goal.pose);
    }
    double *found = stn_lua_copy_coordinates(L, group->world, STN_LUA_POSITION);
    goal.seeds = q;
    goal.seed_count = 1;
    if (!stn_lua_solve_place(L, group, &goal, found)) {
        stn_lua_fail(L, "%s: %s", what, lua_tostring(L, -1));
    }
    // of the group's joints between the world and the link; the others are not the goal's
    const stn_model *model = stn_world_model(group->world->world);
    for (int32_t b = model->links[goal.link].body; b > 0; b = model->bodies[b].parent) {
        const stn_joint *joint = &model->joints[model->bodies[b].joint];
        for (int32_t k = joint->q_start; k < joint->q_start + joint->nq && joint->group == group->index; k++) {
            q[k] = found[k];
        }
    }
}

/// Finds the joints of the group that controllers drive; q gets their present references.
static void find_movers(move *m, double *q) {
    const stn_model *model = stn_world_model(m->world->world);
    const stn_group *group = &model->groups[m->group];
    for (int32_t j = group->joint_start; j < group->joint_start + group->joint_count; j++) {
        mover *to = &m->mover[m->count];
        if (model->joints[j].nv == 1 && stn_lua_find_reference(m->world, j, "position", &to->controller, &to->at)) {
            to->joint = j;
            q[model->joints[j].q_start] = stn_lua_reference(m->world, to->controller, "position")[to->at];
            m->count++;
        }
    }
    m->spline.size = m->count;
}

/// Adds a waypoint, which must be within the limits; the rest of the group must stay where it is.
static void add_point(lua_State *L, move *m, const double *q, const char *what) {
    const stn_model *model = stn_world_model(m->world->world);
    const stn_group *group = &model->groups[m->group];
    const double *present = stn_world_state(m->world->world)->q;
    double *point = m->points + (size_t)m->spline.count * (size_t)m->count;
    for (int32_t j = group->joint_start, i = 0; j < group->joint_start + group->joint_count; j++) {
        const stn_joint *joint = &model->joints[j];
        double goal = q[joint->q_start];
        bool driven = i < m->count && m->mover[i].joint == j;
        if (driven) {
            point[i++] = goal;
        } else if (goal != present[joint->q_start] && joint->mimic < 0) {
            stn_lua_fail(
                L,
                "%s: joint '%s' of group '%s' has no active controller with references for its position; add one, "
                "world:controller { \"joint_pd\", target = ... }",
                what, joint->name, group->name);
        }
        if (driven && m->spline.count > 0 && joint->type != STN_JOINT_CONTINUOUS &&
            !(goal >= joint->lower && goal <= joint->upper)) {
            stn_lua_fail(L, "%s: joint '%s' of group '%s' cannot go to %g %s, its limits are %g and %g", what,
                         joint->name, group->name, goal, unit_of(joint), joint->lower, joint->upper);
        }
    }
    m->spline.count++;
}

// ----------------------------------------------------------------------------------------------------------- its times

/// `times`, `seconds` or the shortest that `speed` allows.
static void read_times(const stn_fields *f, move *m, double begin) {
    lua_State *L = f->L;
    double speed = 0.5, seconds = 0.0;
    int32_t last = m->spline.count - 1;
    stn_error err = {0};
    stn_fields_above_zero(f, "speed", "1", &speed);
    stn_fields_above_zero(f, "seconds", "s", &seconds);
    if (speed > 1.0) {
        stn_lua_fail(L, "%s: speed = %g must be <= 1, a part of the joints' velocity limits", f->owner, speed);
    }
    // Within `speed` times the velocity limits, and the acceleration limits; a joint without a velocity limit has one
    // of 1 rad/s or 1 m/s.
    double *velocity = lua_newuserdatauv(L, (2 * (size_t)m->count + 1) * sizeof(double), 0);
    double *acceleration = velocity + m->count;
    for (int32_t i = 0; i < m->count; i++) {
        const stn_joint *joint = joint_of(m, i);
        velocity[i] = speed * (isfinite(joint->velocity) && joint->velocity > 0.0 ? joint->velocity : 1.0);
        acceleration[i] =
            isfinite(joint->acceleration) && joint->acceleration > 0.0 ? joint->acceleration : (double)INFINITY;
    }
    const stn_spline_limits limits = {velocity, acceleration};
    stn_lua_check(L, stn_spline_choose_times(&m->spline, &limits, begin, REST, m->times, m->fit_scratch, &err), &err);
    double chosen = m->times[last] - begin;
    const char *times = lua_pushfstring(L, "%s: times", f->owner);
    bool listed = stn_fields_push(f, "times");
    if (!listed && seconds == 0.0 && stn_spline_stretch(&m->spline, &limits) == 0.0) {
        m->spline.count = 1; // it is there
    }
    for (int32_t k = 1; k <= last && seconds > 0.0; k++) {
        m->times[k] = begin + seconds / chosen * (m->times[k] - begin);
    }
    if (listed) {
        stn_lua_reals(L, -1, times, "s", last, m->times + 1);
        for (int32_t k = 1; k <= last; k++) {
            m->times[k] += begin;
            if (!(m->times[k] > m->times[k - 1])) {
                stn_lua_fail(L, "%s: times[%d] = %g s must be after the point before, at %g s", f->owner, (int)k,
                             m->times[k] - begin, m->times[k - 1] - begin);
            }
        }
    }
    stn_status status = stn_spline_fit(&m->spline, m->fit_scratch, &err);
    stn_lua_check(L, status < 0 ? stn_error_prefix(&err, "%s", f->owner) : status, &err);
}

/// Times that are asked for may pass what joints can do: told of the one that passes its velocity limit by most.
static void warn_of_speed(lua_State *L, const move *m) {
    double *limit = lua_newuserdatauv(L, (2 * (size_t)m->count + 1) * sizeof(double), 0), *none = limit + m->count;
    double most = 1.0 + 1e-6; // of its limit
    const stn_joint *fastest = NULL;
    for (int32_t i = 0; i < 2 * m->count; i++) {
        limit[i] = INFINITY;
    }
    for (int32_t i = 0; i < m->count; i++) {
        const stn_joint *joint = joint_of(m, i);
        limit[i] = joint->velocity > 0.0 ? joint->velocity : (double)INFINITY;
        double part = stn_spline_stretch(&m->spline, &(stn_spline_limits){limit, none});
        limit[i] = INFINITY;
        fastest = part > most ? joint : fastest;
        most = fmax(most, part);
    }
    if (fastest != NULL) {
        stn_lua_where(L);
        stn_log(stn_lua_session(L)->context, STN_LOG_WARNING,
                "%s%s: joint '%s' of group '%s' has to go at up to %.4g %s, its limit is %g; allow %.3g times as long",
                lua_tostring(L, -1), m->owner, fastest->name, stn_lua_group_name(m->world, m->group),
                most * fastest->velocity, stn_joint_type_units(fastest->type)->velocity, fastest->velocity, most);
    }
}

// ------------------------------------------------------------------------------------------------------- on the way

/// One number of a channel that may be absent.
static stn_status set_derivative(const move *m, int32_t i, const char *channel, double value, stn_error *err) {
    int32_t controller, at;
    bool taken = stn_lua_find_reference(m->world, m->mover[i].joint, channel, &controller, &at);
    return taken ? stn_lua_set_reference(m->world, controller, channel, at, value, m->scratch, err) : STN_OK;
}

/// References for the step that begins at the world's time `t`.
static stn_status set_references(const move *m, double t, stn_error *err) {
    double *position = m->now, *velocity = position + m->count, *acceleration = velocity + m->count;
    stn_spline_step(&m->spline, t, stn_world_dt(m->world->world), position, velocity, acceleration);
    stn_status status = STN_OK;
    for (int32_t i = 0; i < m->count && status >= 0; i++) {
        const mover *to = &m->mover[i];
        status = stn_lua_set_reference(m->world, to->controller, "position", to->at, position[i], m->scratch, err);
        status = status >= 0 ? set_derivative(m, i, "velocity", velocity[i], err) : status;
        status = status >= 0 ? set_derivative(m, i, "acceleration", acceleration[i], err) : status;
    }
    return status;
}

/// However it ends: what it asked for last stays, at rest.
static int move_close(lua_State *L) {
    const move *m = luaL_checkudata(L, 1, MOVE);
    stn_error err = {0};
    for (int32_t i = 0; i < m->count && m->world->world != NULL; i++) {
        set_derivative(m, i, "velocity", 0.0, &err);
        set_derivative(m, i, "acceleration", 0.0, &err);
    }
    return 0;
}

/// 2 the move, to be closed.
static int move_on(lua_State *L, int status, lua_KContext context) {
    (void)status;
    lua_settop(L, 2);
    const move *m = lua_touserdata(L, 2);
    stn_lua_task *task = stn_lua_task_here(L, m->owner);
    double begin = m->times[0], end = m->times[m->spline.count - 1], distance = 0.0;
    // the joint that is farthest from its goal
    const double *q = stn_world_state(m->world->world)->q;
    const double *goal = m->points + (size_t)(m->spline.count - 1) * (size_t)m->count;
    int32_t last = -1;
    for (int32_t i = 0; i < m->count; i++) {
        double d = fabs(q[joint_of(m, i)->q_start] - goal[i]);
        if (d > distance) {
            distance = d;
            last = i;
        }
    }
    bool over = stn_lua_task_is_past(task, end);
    if (over && distance <= m->tolerance) {
        return 0;
    }
    if (over && stn_lua_task_is_past(task, end + m->timeout)) {
        const stn_joint *joint = joint_of(m, last);
        stn_lua_fail(L,
                     "%s: joint '%s' of group '%s' is still %.4g %s from its goal %g s after the end of a move of "
                     "%.4g s, begun at t = %.9g s",
                     m->owner, joint->name, stn_lua_group_name(m->world, m->group), distance, unit_of(joint),
                     m->timeout, end - begin, begin);
    }
    stn_error err = {0};
    stn_lua_check(L, set_references(m, stn_lua_task_time(task), &err), &err);
    return stn_lua_task_yield(L, task, m->owner, context, move_on);
}

/// Pushes a move through `count` waypoints, without them.
static move *new_move(lua_State *L, const stn_lua_object *group, const char *owner, int32_t count) {
    const stn_model *model = stn_world_model(group->world->world);
    size_t joints = (size_t)model->groups[group->index].joint_count + 1, nv = (size_t)model->nv + 1;
    size_t points = (size_t)count + 1, numbers = points + 3 * points * joints + 3 * joints + nv;
    numbers += STN_SPLINE_SCRATCH(points);
    move *m = lua_newuserdatauv(L, sizeof *m + numbers * sizeof(double) + joints * sizeof(mover), 1);
    *m = (move){.owner = owner, .world = group->world, .group = group->index, .timeout = 2.0, .tolerance = 0.01};
    m->times = (double *)(m + 1);
    m->points = m->times + points;
    m->spline = (stn_spline){.times = m->times, .points = m->points};
    m->spline.velocity = m->points + points * joints;
    m->spline.acceleration = m->spline.velocity + points * joints;
    m->now = m->spline.acceleration + points * joints;
    m->scratch = m->now + 3 * joints;
    m->fit_scratch = m->scratch + nv;
    m->mover = (mover *)(m->fit_scratch + STN_SPLINE_SCRATCH(points));
    luaL_setmetatable(L, MOVE);
    lua_getiuservalue(L, 1, 1);
    lua_setiuservalue(L, -2, 1);
    return m;
}

static int32_t count_points(lua_State *L, const char *owner) {
    lua_Integer count = lua_type(L, 2) == LUA_TTABLE ? (lua_Integer)lua_rawlen(L, 2) : 0;
    if (count < 1 || count > 1000000) {
        stn_lua_fail(L, "%s takes a list of waypoints, each a pose or joint positions, got %s", owner,
                     lua_type(L, 2) == LUA_TTABLE ? "one without entries" : luaL_typename(L, 2));
    }
    return (int32_t)count;
}

/// The waypoints at stack index 2: one goal, or a list of `count`.
static void read_points(const stn_fields *f, move *m, const stn_lua_object *group, int32_t count, bool list) {
    lua_State *L = f->L;
    double *q = stn_lua_copy_coordinates(L, m->world, STN_LUA_POSITION);
    find_movers(m, q);
    add_point(L, m, q, f->owner);
    for (int32_t k = 1; k <= count; k++) {
        int top = lua_gettop(L);
        const char *what = list ? lua_pushfstring(L, "%s: point %d", f->owner, (int)k) : f->owner;
        if (list) {
            lua_rawgeti(L, 2, k);
        }
        read_goal(f, list ? lua_gettop(L) : 2, what, group, q);
        add_point(L, m, q, what);
        lua_settop(L, top);
    }
}

static int begin_move(lua_State *L, const char *owner, const char *const *keys, bool list) {
    static const char *const splines[] = {
        [STN_SPLINE_CUBIC] = "cubic", [STN_SPLINE_QUINTIC] = "quintic", [STN_SPLINE_MONOTONE] = "monotone", NULL};
    lua_settop(L, 3);
    stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_GROUP);
    stn_lua_task *task = stn_lua_task_here(L, owner);
    if (task->world != o->world) {
        stn_lua_fail(L, "%s: group '%s' is of another world than task '%s'", owner,
                     stn_lua_group_name(o->world, o->index), task->name);
    }
    task->since = stn_lua_task_time(task);
    if (lua_isnil(L, 3)) {
        lua_newtable(L);
        lua_replace(L, 3);
    }
    stn_fields f = stn_fields_open(L, 3, owner, keys, 0);
    int32_t count = list ? count_points(L, owner) : 1;
    move *m = new_move(L, o, owner, count);
    int at = lua_gettop(L);
    read_points(&f, m, o, count, list);
    int kind = list ? stn_fields_choice(&f, "spline", splines) : -1;
    m->spline.kind = kind >= 0 ? (stn_spline_kind)kind : STN_SPLINE_MONOTONE;
    stn_fields_above_zero(&f, "tolerance", "rad or m", &m->tolerance);
    stn_fields_at_least(&f, "timeout", "s", 0.0, &m->timeout);
    read_times(&f, m, task->since);
    // Between waypoints the curve must keep the joints' limits too; from where a joint is beyond them it may come back.
    for (int32_t i = 0; i < m->count; i++) {
        const stn_joint *joint = joint_of(m, i);
        double value = 0.0, lower = fmin(joint->lower, m->points[i]), upper = fmax(joint->upper, m->points[i]);
        bool bounded = joint->type != STN_JOINT_CONTINUOUS;
        int32_t piece = bounded ? stn_spline_leaves(&m->spline, i, lower, upper, &value) : -1;
        if (piece >= 0) {
            stn_lua_fail(L,
                         "%s: joint '%s' of group '%s' would go to %g %s between points %d and %d, its limits are "
                         "%g and %g; add a waypoint or move these",
                         m->owner, joint->name, stn_lua_group_name(m->world, m->group), value, unit_of(joint),
                         (int)piece, (int)piece + 1, joint->lower, joint->upper);
        }
    }
    warn_of_speed(L, m);
    lua_settop(L, at);
    lua_replace(L, 2);
    lua_settop(L, 2);
    lua_toclose(L, 2);
    return move_on(L, LUA_OK, 0);
}

/// group:move_to(pose | joints [, { speed =, seconds =, link =, frame =, tolerance =, timeout = }])
static int group_move_to(lua_State *L) {
    static const char *const keys[] = {"speed", "seconds", "link", "frame", "tolerance", "timeout", NULL};
    return begin_move(L, "move_to", keys, false);
}

/// group:follow({ pose | joints, ... } [, { times =, spline = } and those of move_to])
static int group_follow(lua_State *L) {
    static const char *const keys[] = {"speed",   "seconds", "link",   "frame", "tolerance",
                                       "timeout", "times",   "spline", NULL};
    return begin_move(L, "follow", keys, true);
}

void stn_lua_open_move(lua_State *L) {
    luaL_newmetatable(L, MOVE);
    lua_pushcfunction(L, move_close);
    lua_setfield(L, -2, "__close");
    lua_pop(L, 1);
}

const luaL_Reg stn_lua_move_methods[] = {{"move_to", group_move_to}, {"follow", group_follow}, {NULL, NULL}};

// -------------------------------------------------------------------------------------------------------------- grasps

// hand:close { force = }, hand:open {}, hand:preshape {}: in a task, fingers go and the task waits until they stand. It
// is the group's active controller with channels "force" and "closure" (a hand), or "width" (a gripper), that is told.

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

/// The controller of the group that closes it; `*gripper`: by its width.
static int32_t find_controller(lua_State *L, const stn_lua_object *group, verb v, bool *gripper) {
    const stn_lua_world *w = group->world;
    for (int32_t c = 0; c < stn_world_controller_count(w->world); c++) {
        bool mine = stn_world_controller_target(w->world, c)->group == group->index;
        bool acts = stn_world_controller_weight(w->world, c) > 0.0 && stn_lua_scalar_reference(w, c, "force") != NULL;
        *gripper = stn_lua_scalar_reference(w, c, "width") != NULL;
        if (mine && acts && (*gripper || stn_lua_scalar_reference(w, c, "closure") != NULL)) {
            return c;
        }
    }
    stn_lua_fail(L,
                 "%s: group '%s' has no active controller for its fingers; add one, world:controller { \"hand\", "
                 "target = ... } or { \"gripper\", ... }",
                 verbs[v], stn_lua_group_name(w, group->index));
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
static void push_feeling(lua_State *L, const stn_lua_world *w, int32_t group) {
    stn_lua_side hand = {.model = stn_world_model(w->world), .links = stn_lua_group_links(w, group)};
    stn_contact_side outside = {is_outside, &hand};
    double sum = 0.0;
    lua_Integer links = 0;
    for (int32_t i = 0; i < hand.links.count; i++) {
        stn_lua_side link = {.model = hand.model, .links = {hand.links.start + i, 1}};
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

/// 1 the group, 2 the grip.
static int grip_on(lua_State *L, int status, lua_KContext context) {
    (void)status;
    lua_settop(L, 2);
    const stn_lua_object *group = stn_lua_object_check(L, 1, STN_LUA_GROUP);
    grip *g = lua_touserdata(L, 2);
    stn_lua_task *task = stn_lua_task_here(L, verbs[g->verb]);
    int32_t joint;
    bool stands = fastest(group->world, g->controller, &joint) < g->pace;
    g->standing_since = stands ? g->standing_since : stn_lua_task_time(task);
    if (stn_lua_task_is_past(task, g->standing_since + still)) {
        push_feeling(L, group->world, group->index);
        return 1;
    }
    if (stn_lua_task_is_past(task, g->begin + g->timeout)) {
        stn_lua_fail(L, "%s: joint '%s' of group '%s' still moves after %g s", verbs[g->verb],
                     stn_world_model(group->world->world)->joints[joint].name,
                     stn_lua_group_name(group->world, group->index), g->timeout);
    }
    return stn_lua_task_yield(L, task, verbs[g->verb], context, grip_on);
}

static int move_fingers(lua_State *L, verb v) {
    static const char *const keys[][5] = {[CLOSE] = {"force", "speed", "timeout", NULL},
                                          [OPEN] = {"force", "speed", "timeout", "width", NULL},
                                          [PRESHAPE] = {"force", "speed", "timeout", NULL}};
    static const double closures[] = {[CLOSE] = 1.0, [OPEN] = 0.0, [PRESHAPE] = 0.5};
    lua_settop(L, 2);
    const stn_lua_object *group = stn_lua_object_check(L, 1, STN_LUA_GROUP);
    stn_lua_task *task = stn_lua_task_here(L, verbs[v]);
    if (task->world != group->world) {
        stn_lua_fail(L, "%s: group '%s' is of another world than task '%s'", verbs[v],
                     stn_lua_group_name(group->world, group->index), task->name);
    }
    if (lua_isnil(L, 2)) {
        lua_newtable(L);
        lua_replace(L, 2);
    }
    task->since = stn_lua_task_time(task);
    stn_fields f = stn_fields_open(L, 2, verbs[v], keys[v], 0);
    grip *g = lua_newuserdatauv(L, sizeof *g, 0);
    *g = (grip){.verb = v, .begin = task->since, .timeout = 5.0, .standing_since = task->since};
    bool gripper = false;
    double force = 0.0, speed = 0.0, width = 1e3; // wider than any: cut to what the jaws can
    g->controller = find_controller(L, group, v, &gripper);
    stn_fields_above_zero(&f, "timeout", "s", &g->timeout);
    bool wide = stn_fields_at_least(&f, "width", "m", 0.0, &width);
    if (wide && !gripper) {
        stn_lua_fail(L, "%s: group '%s' is a hand, width is for grippers", f.owner,
                     stn_lua_group_name(group->world, group->index));
    }
    if (v == PRESHAPE && gripper) {
        stn_lua_fail(L, "preshape: group '%s' is a gripper: open it to a width, open { width = 0.04 }",
                     stn_lua_group_name(group->world, group->index));
    }
    if (stn_fields_at_least(&f, "force", "N", 0.0, &force)) {
        set(L, group->world, g->controller, "force", force);
    }
    if (stn_fields_above_zero(&f, "speed", gripper ? "m/s" : "1/s", &speed)) {
        set(L, group->world, g->controller, "speed", speed);
    }
    const double *told = stn_lua_scalar_reference(group->world, g->controller, "speed");
    if (told != NULL && *told <= 0.0) {
        stn_lua_fail(L, "%s: the fingers of group '%s' are told to go at speed 0; give one, speed = 0.1", f.owner,
                     stn_lua_group_name(group->world, group->index));
    }
    g->pace = told != NULL ? fmin(1.0, *told / (gripper ? usual_width : usual_closure)) : 1.0;
    if (gripper) {
        set(L, group->world, g->controller, "width", v == CLOSE ? -1e3 : width);
    } else {
        set(L, group->world, g->controller, "closure", closures[v]);
    }
    lua_replace(L, 2);
    lua_settop(L, 2);
    return grip_on(L, LUA_OK, 0);
}

static int group_close(lua_State *L) {
    return move_fingers(L, CLOSE);
}

static int group_open(lua_State *L) {
    return move_fingers(L, OPEN);
}

static int group_preshape(lua_State *L) {
    return move_fingers(L, PRESHAPE);
}

const luaL_Reg stn_lua_grip_methods[] = {
    {"close", group_close}, {"open", group_open}, {"preshape", group_preshape}, {NULL, NULL}};
