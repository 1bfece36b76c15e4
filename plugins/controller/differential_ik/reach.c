// SPDX-License-Identifier: Apache-2.0
// Linearised about the robot as it is (q), for the positions that are commanded (c): place and distances there are
// those of q moved by J (c - q). With the twist t that the link should have,
//
//     minimise  1/2 |W (J u - t)|^2 + damping^2/2 |u - N u_0|^2 + posture_weight^2/2 |u - u_0|^2 + penalty . s,
//     u_0 = posture_gain (posture - c)
//
// over joint velocities u and slacks s >= 0, where N leads into the null space of J. Within the joints' limits of
// position and velocity, hard, and those of acceleration, which give way to these; and for every pair that is near
//
//     n . (v_B - v_A) >= -yield (d - distance) - s_k,
//
// a velocity damper [faverjon-1987], k = 1 for what others move, 2 for what stands and the robot itself. The penalties
// are exact: a slack is 0 whenever the rest can be met, and s_2 also when giving way in s_1 is enough.
#include <math.h>
#include <string.h>

#include "common/qp.h"
#include "reach.h"

enum { ROWS = 6 };
static const double arm = 0.2;   // a rotation counts as much as this lever [m]
static const double tiny = 1e-9; // keeps J J^T regular
enum { MOVED, STANDING, SLACKS };
// larger than any multiplier of a distance; the second also than those that the first makes
static const double penalty[SLACKS] = {1e3, 1e5};

/// Over the n velocities of the target.
typedef struct reach {
    const reach_options *o;
    const stn_control_view *view;
    const reach_goal *goal;
    int32_t n, all;        // of the target; with the slacks
    double *lead;          // (n) c - q
    double *J;             // (ROWS x n), rotations weighted
    double twist[ROWS];    // the same
    double *drawn, *rest;  // (n) u_0, N u_0
    double *H, *g;         // (all x all), (all)
    double *lower, *upper; // (all)
    double *A, *b;         // (rows x all), (rows)
    double *whole;         // of one row, over the velocities of the tree
    int32_t rows;
} reach;

static stn_status out_of_memory(stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "out of memory");
}

/// The columns of the target's dofs, out of those of the tree.
static void pick(const reach *r, int32_t rows, const double *of_tree, double *out) {
    const stn_tree *tree = &r->view->target->model->trees[r->o->tree];
    for (int32_t k = 0; k < rows; k++) {
        for (int32_t i = 0; i < r->n; i++) {
            int32_t column = r->view->target->dof[i] - tree->v_start;
            out[(size_t)k * (size_t)r->n + (size_t)i] = of_tree[(size_t)k * (size_t)tree->nv + (size_t)column];
        }
    }
}

static double dot(int32_t n, const double *a, const double *b) {
    double sum = 0.0;
    for (int32_t i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

// ---------------------------------------------------------------------------------------------------------- the task

static stn_vec3 shorten(stn_vec3 v, double most) {
    double length = stn_vec3_norm(v);
    return length > most ? stn_vec3_scale(most / length, v) : v;
}

static stn_vec3 row_product(const reach *r, int32_t first, double weight) {
    double x[3];
    for (int32_t k = 0; k < 3; k++) {
        x[k] = dot(r->n, r->J + (size_t)(first + k) * (size_t)r->n, r->lead) / weight;
    }
    return stn_vec3_make(x[0], x[1], x[2]);
}

/// J, and the twist that takes the link to its goal.
static stn_status begin(reach *r, stn_error *err) {
    const stn_kinematics *kinematics = r->view->kinematics;
    const stn_model *model = r->view->target->model;
    int32_t body = model->links[r->o->link].body, nt = model->trees[r->o->tree].nv;
    size_t n = (size_t)r->view->target->dof_count, all = n + SLACKS;
    double *whole, **place[] = {&r->lead, &r->J, &r->drawn, &r->rest, &r->H, &r->g, &r->lower, &r->upper, &whole};
    const size_t size[] = {n, ROWS * n, n, n, all * all, all, all, all, ROWS * (size_t)nt};
    r->n = (int32_t)n;
    r->all = (int32_t)all;
    for (int32_t i = 0; i < STN_COUNT(place); i++) {
        *place[i] = STN_ARENA_ZEROED(r->view->arena, size[i], double);
        if (*place[i] == NULL) {
            return out_of_memory(err);
        }
    }
    for (int32_t i = 0; i < r->n; i++) {
        int32_t coordinate = joint_coordinate(model, r->view->target->dof[i]);
        r->lead[i] = r->goal->command[i] - r->view->q[coordinate];
    }
    stn_pose pose = link_pose(kinematics, r->o->link);
    stn_mat3 axes = stn_mat3_identity(), wanted = stn_quat_matrix(stn_quat_exp(r->goal->rotation));
    stn_mat3 back = stn_mat3_transpose(&pose.rotation), turn = stn_mat3_mul(&wanted, &back);
    stn_point_jacobian_add(kinematics, body, pose.position, &axes, 1.0, whole);
    stn_angular_jacobian_add(kinematics, body, &axes, arm, whole + (size_t)3 * (size_t)nt);
    pick(r, ROWS, whole, r->J);
    stn_vec3 away = stn_vec3_sub(stn_vec3_sub(r->goal->position, pose.position), row_product(r, 0, 1.0));
    stn_vec3 angle = stn_vec3_sub(stn_quat_log(stn_quat_from_matrix(&turn)), row_product(r, 3, arm));
    double gain = fmin(r->o->gain, 1.0 / r->view->dt);
    stn_vec3 linear = shorten(stn_vec3_mul_add(r->goal->velocity, gain, away), r->o->speed);
    stn_vec3 angular = shorten(stn_vec3_mul_add(r->goal->angular_velocity, gain, angle), r->o->angular_speed);
    const double twist[ROWS] = {linear.x, linear.y, linear.z, arm * angular.x, arm * angular.y, arm * angular.z};
    memcpy(r->twist, twist, sizeof twist);
    return STN_OK;
}

/// H and g, with u_0 and N u_0 = u_0 - J^T (J J^T)^-1 J u_0.
static stn_status find_objective(reach *r, stn_error *err) {
    size_t n = (size_t)r->n, stride = (size_t)r->all;
    double JJ[ROWS * ROWS], x[ROWS];
    for (size_t i = 0; i < n; i++) {
        r->drawn[i] = r->rest[i] = r->o->posture_gain * (r->goal->posture[i] - r->goal->command[i]);
    }
    for (size_t k = 0; k < ROWS; k++) {
        x[k] = dot(r->n, r->J + k * n, r->rest);
        for (size_t l = 0; l <= k; l++) {
            JJ[k * ROWS + l] = dot(r->n, r->J + k * n, r->J + l * n) + (k == l ? tiny : 0.0);
        }
    }
    if (stn_cholesky(ROWS, JJ, ROWS) >= 0) {
        return stn_fail(err, STN_ERR_NUMERIC, "the Jacobian is not finite");
    }
    stn_cholesky_forward(ROWS, JJ, ROWS, 1, x, ROWS);
    stn_cholesky_backward(ROWS, JJ, ROWS, 1, x, ROWS);
    double damping = r->o->damping * r->o->damping, weight = r->o->posture_weight * r->o->posture_weight;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < ROWS; k++) {
            r->rest[i] -= r->J[k * n + i] * x[k];
        }
        r->g[i] = -damping * r->rest[i] - weight * r->drawn[i];
        for (size_t k = 0; k < ROWS; k++) {
            r->g[i] -= r->J[k * n + i] * r->twist[k];
            for (size_t j = 0; j < n; j++) {
                r->H[i * stride + j] += r->J[k * n + i] * r->J[k * n + j];
            }
        }
        r->H[i * stride + i] += damping + weight;
    }
    for (size_t k = n; k < stride; k++) {
        r->H[k * (stride + 1)] = 1.0;
        r->g[k] = penalty[k - n];
    }
    return STN_OK;
}

// --------------------------------------------------------------------------------------------------------- the limits

static double or_else(double limit, double fallback) {
    return isfinite(limit) && limit > 0.0 ? limit : fallback;
}

static double clamp(double x, double low, double high) {
    return fmin(fmax(x, low), high);
}

/// Velocities that keep the command within its limits, and leave time to stop before them; those that the acceleration
/// allows as far as they are among them.
static void find_bounds(reach *r) {
    const stn_model *model = r->view->target->model;
    double dt = r->view->dt;
    for (int32_t i = 0; i < r->n; i++) {
        const stn_joint *joint = &model->joints[model->dof_joint[r->view->target->dof[i]]];
        double most = r->o->velocity_scale * or_else(joint->velocity, r->o->velocity_limit);
        double a = or_else(joint->acceleration, r->o->acceleration), c = r->goal->command[i];
        double margin = fmin(r->o->joint_margin, 0.25 * (joint->upper - joint->lower));
        double up = joint->upper - margin - c, down = joint->lower + margin - c;
        double low = -most, high = most;
        if (joint->type != STN_JOINT_CONTINUOUS) { // stopping from u takes a dt steps: u^2/(2 a) + u dt/2 of way
            double half = 0.5 * a * dt;
            high =
                fmin(high, up >= 0.0 ? fmin(sqrt(half * half + 2.0 * a * up) - half, up / dt) : fmax(up / dt, -most));
            low = fmax(low, down <= 0.0 ? fmax(half - sqrt(half * half - 2.0 * a * down), down / dt)
                                        : fmin(down / dt, most));
        }
        r->lower[i] = clamp(r->goal->rate[i] - a * dt, low, high);
        r->upper[i] = clamp(r->goal->rate[i] + a * dt, low, high);
    }
    for (int32_t k = r->n; k < r->all; k++) {
        r->lower[k] = 0.0;
        r->upper[k] = INFINITY;
    }
}

static int32_t body_of(const stn_model *model, int32_t geometry) {
    int32_t link = model->geometries[geometry].link;
    return link >= 0 ? model->links[link].body : 0;
}

/// whole += sign n^T J_point of a body on the robot's tree; of another one returns its velocity along n times the sign.
static double add_side(const reach *r, int32_t body, const stn_near_pair *pair, double sign) {
    const stn_kinematics *kinematics = r->view->kinematics;
    const stn_model *model = r->view->target->model;
    if (body == 0) {
        return 0.0;
    }
    if (model->bodies[body].tree != r->o->tree) {
        return sign * stn_vec3_dot(pair->normal, stn_point_velocity(kinematics, body, pair->point));
    }
    stn_vec3 reference = kinematics->reference[r->o->tree], lever = stn_vec3_sub(pair->point, reference);
    for (int32_t b = body; b > 0; b = model->bodies[b].parent) {
        const stn_joint *joint = &model->joints[model->bodies[b].joint];
        for (int32_t d = joint->v_start; d < joint->v_start + joint->nv; d++) {
            const stn_spatial *s = &kinematics->motion[d];
            stn_vec3 moves = stn_vec3_add(s->linear, stn_vec3_cross(s->angular, lever));
            r->whole[d - model->trees[r->o->tree].v_start] += sign * stn_vec3_dot(pair->normal, moves);
        }
    }
    return 0.0;
}

/// The damper of one pair; a pair that the joints cannot part has none.
static void add_distance(reach *r, const stn_near_pair *pair) {
    const stn_model *model = r->view->target->model;
    const stn_tree *tree = &model->trees[r->o->tree];
    double *whole = r->whole, *row = r->A + (size_t)r->rows * (size_t)r->all;
    int32_t other = body_of(model, pair->geometry_b);
    memset(whole, 0, sizeof(double) * (size_t)tree->nv);
    double drift = 0.0;
    drift += add_side(r, other, pair, 1.0);
    drift += add_side(r, body_of(model, pair->geometry_a), pair, -1.0);
    pick(r, 1, whole, row);
    double moves = dot(r->n, row, row);
    if (moves < 1e-12) {
        return;
    }
    bool attached = other > 0 && model->bodies[other].tree == r->o->tree, stands = other == 0 || attached;
    row[r->n + MOVED] = stands ? 0.0 : 1.0;
    row[r->n + STANDING] = stands ? 1.0 : 0.0;
    double rate = dot(tree->nv, whole, r->view->v + tree->v_start); // of joints of the tree that others drive
    for (int32_t i = 0; i < r->n; i++) {
        int32_t d = r->view->target->dof[i];
        rate -= whole[d - tree->v_start] * r->view->v[d];
    }
    drift += rate;
    // of the robot itself, or of what moves with it: the base, which the world holds, is, too
    int32_t link = model->geometries[pair->geometry_b].link;
    bool own = attached || (link >= 0 && model->links[link].group == r->view->target->group);
    double kept = own ? r->o->self_distance : r->o->distance, yield = fmin(r->o->yield, 1.0 / r->view->dt);
    r->b[r->rows++] = -yield * (pair->distance + dot(r->n, row, r->lead) - kept) - drift;
}

// --------------------------------------------------------------------------------------------------------- the answer

static stn_status solve_qp(reach *r, double **velocity, stn_error *err) {
    const stn_model *model = r->view->target->model;
    const stn_near_pair *pairs = NULL;
    int32_t count = 0;
    stn_status status = STN_OK;
    if (r->o->avoid != AVOID_NONE) {
        status = stn_near_pairs(r->view, fmax(r->o->influence, r->o->distance), &pairs, &count, err);
    }
    if (status != STN_OK) {
        return status;
    }
    if (count > 0) {
        r->whole = STN_ARENA(r->view->arena, model->trees[r->o->tree].nv, double);
        r->A = STN_ARENA(r->view->arena, (size_t)count * (size_t)r->all, double);
        r->b = STN_ARENA(r->view->arena, count, double);
        if (r->whole == NULL || r->A == NULL || r->b == NULL) {
            return out_of_memory(err);
        }
        for (int32_t i = 0; i < count; i++) {
            int32_t body = body_of(model, pairs[i].geometry_b), tree = body > 0 ? model->bodies[body].tree : -1;
            bool floats = tree >= 0 && model->trees[tree].body_count == 1 &&
                          model->joints[model->bodies[body].joint].type == STN_JOINT_FLOATING;
            // what floats freely is there to be taken
            if (body == 0 || tree == r->o->tree || r->o->avoid == AVOID_ALL ||
                (r->o->avoid == AVOID_ROBOTS && !floats)) {
                add_distance(r, &pairs[i]);
            }
        }
    }
    const qp problem = {
        .n = r->all, .H = r->H, .g = r->g, .lower = r->lower, .upper = r->upper, .rows = r->rows, .A = r->A, .b = r->b};
    qp_result result;
    status = qp_solve(&problem, r->view->arena, &result, err);
    if (status == STN_NOT_CONVERGED) { // rounding alone can do that: the bounds leave room, the slacks do the rest
        return stn_fail(err, STN_ERR_NUMERIC, "the quadratic program of %d velocities and %d distances has no solution",
                        r->n, r->rows);
    }
    *velocity = result.x;
    return status;
}

/// Damped least squares, shortened as a whole until every joint keeps its velocity, then joint by joint at the others.
static stn_status solve_dls(reach *r, double **velocity, stn_error *err) {
    size_t n = (size_t)r->n;
    double *u = r->g, factor = 1.0;
    int32_t bad = stn_cholesky(r->n, r->H, r->all);
    if (bad >= 0) {
        return stn_fail(err, STN_ERR_NUMERIC, "the Jacobian is not finite");
    }
    for (size_t i = 0; i < n; i++) {
        u[i] = -u[i];
    }
    stn_cholesky_forward(r->n, r->H, r->all, 1, u, r->n);
    stn_cholesky_backward(r->n, r->H, r->all, 1, u, r->n);
    const stn_model *model = r->view->target->model;
    for (int32_t i = 0; i < r->n; i++) {
        const stn_joint *joint = &model->joints[model->dof_joint[r->view->target->dof[i]]];
        double most = r->o->velocity_scale * or_else(joint->velocity, r->o->velocity_limit);
        factor = fabs(u[i]) * factor > most ? most / fabs(u[i]) : factor;
    }
    for (int32_t i = 0; i < r->n; i++) {
        u[i] = clamp(factor * u[i], r->lower[i], r->upper[i]);
    }
    *velocity = u;
    return STN_OK;
}

stn_status reach_velocities(const reach_options *options, const stn_control_view *view, const reach_goal *goal,
                            double **velocity, stn_error *err) {
    reach r = {.o = options, .view = view, .goal = goal};
    stn_status status = begin(&r, err);
    if (status != STN_OK) {
        return status;
    }
    status = find_objective(&r, err);
    if (status != STN_OK) {
        return status;
    }
    find_bounds(&r);
    return options->method == METHOD_QP ? solve_qp(&r, velocity, err) : solve_dls(&r, velocity, err);
}
