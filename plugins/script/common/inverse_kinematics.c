// SPDX-License-Identifier: Apache-2.0
// Inverse kinematics of one link: Levenberg-Marquardt within joint limits, from seeds and then from random starts.
#include "common/inverse_kinematics.h"

#include <string.h>

#include <stiction/random.h>

enum { MOST = 64 }; // joints between the world and the link

/// How many metres a radian counts.
#define ANGLE_LENGTH 0.2

/// A moving joint on the way to the link.
typedef struct chain_joint {
    stn_pose before; // frame behind the joint before it -> frame of this joint
    const stn_joint *joint;
    int32_t variable;          // that its position follows
    double multiplier, offset; // position = multiplier x + offset
} chain_joint;

typedef struct chain {
    const stn_model *model;
    const stn_ik_goal *goal;
    chain_joint joint[MOST];
    int32_t joint_count;
    stn_pose after; // frame behind the last joint -> link
    int32_t variable[MOST];
    int32_t variable_count;
} chain;

/// A place of the search.
typedef struct trial {
    double x[MOST];
    double error[6]; // position [m], angle times ANGLE_LENGTH; world axes
    double cost;     // |error|^2
    double distance, angle;
} trial;

stn_ik_goal stn_ik_goal_default(void) {
    return (stn_ik_goal){.group = -1,
                         .link = -1,
                         .pose = stn_pose_identity(),
                         .position_tolerance = 1e-6,
                         .angle_tolerance = 1e-6,
                         .random_starts = 50,
                         .random_seed = 1,
                         .iterations_a_start = 100};
}

// -------------------------------------------------------------------------------------------------------- the chain

/// The joint at the end of a line of joints that mimic each other.
static int32_t master_of(const stn_model *model, int32_t joint, double *multiplier, double *offset) {
    *multiplier = 1.0;
    *offset = 0.0;
    while (model->joints[joint].mimic >= 0) {
        *offset += *multiplier * model->joints[joint].mimic_offset;
        *multiplier *= model->joints[joint].mimic_multiplier;
        joint = model->joints[joint].mimic;
    }
    return joint;
}

static stn_status make_chain(chain *c, const stn_kinematics *present, stn_error *err) {
    const stn_model *model = c->model;
    const stn_link *link = &model->links[c->goal->link];
    int32_t path[MOST], length = 0;
    for (int32_t b = link->body; b > 0; b = model->bodies[b].parent) {
        if (length == MOST) {
            return stn_fail(err, STN_ERR_ARGUMENT, "inverse kinematics: link '%s' has more than %d joints above it",
                            link->name, MOST);
        }
        path[length++] = b;
    }
    stn_pose offset = stn_pose_identity();
    for (int32_t i = length - 1; i >= 0; i--) {
        const stn_body *body = &model->bodies[path[i]];
        const stn_joint *joint = &model->joints[body->joint];
        if (joint->group != c->goal->group || joint->nv != 1) { // it does not move here
            stn_pose back = stn_pose_inverse(&present->body_pose[body->parent]);
            stn_pose step = stn_pose_mul(&back, &present->body_pose[path[i]]);
            offset = stn_pose_mul(&offset, &step);
            continue;
        }
        chain_joint *out = &c->joint[c->joint_count++];
        int32_t master = master_of(model, body->joint, &out->multiplier, &out->offset);
        out->before = stn_pose_mul(&offset, &joint->origin);
        out->joint = joint;
        out->variable = 0;
        while (out->variable < c->variable_count && c->variable[out->variable] != master) {
            out->variable++;
        }
        if (out->variable == c->variable_count) {
            c->variable[c->variable_count++] = master;
        }
        offset = stn_pose_identity();
    }
    c->after = stn_pose_mul(&offset, &link->pose);
    if (c->joint_count == 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "inverse kinematics: no joint of group '%s' moves link '%s'",
                        model->groups[c->goal->group].name, link->name);
    }
    return STN_OK;
}

/// How far the joint goes along its axis for a unit of its position: [m/rad] or [m/m].
static double advance(const stn_joint *joint) {
    return joint->type == STN_JOINT_PRISMATIC ? 1.0
           : joint->type == STN_JOINT_SCREW   ? joint->screw_pitch / (2.0 * STN_PI)
                                              : 0.0;
}

/// Pose of the link at t->x, with the error; J (6 x variables) if wanted.
static void evaluate(const chain *c, trial *t, double J[6][MOST]) {
    stn_vec3 axis[MOST], place[MOST];
    stn_pose X = stn_pose_identity();
    for (int32_t i = 0; i < c->joint_count; i++) {
        const chain_joint *j = &c->joint[i];
        double position = j->multiplier * t->x[j->variable] + j->offset, along = advance(j->joint) * position;
        bool turns = j->joint->type != STN_JOINT_PRISMATIC;
        stn_pose motion =
            stn_pose_make(turns ? stn_quat_exp(stn_vec3_scale(position, j->joint->axis)) : stn_quat_identity(),
                          stn_vec3_scale(along, j->joint->axis));
        X = stn_pose_mul(&X, &j->before);
        axis[i] = stn_mat3_apply(&X.rotation, j->joint->axis);
        place[i] = X.position;
        X = stn_pose_mul(&X, &motion);
    }
    X = stn_pose_mul(&X, &c->after);
    const stn_pose *goal = &c->goal->pose;
    stn_mat3 back = stn_mat3_transpose(&X.rotation), turn = stn_mat3_mul(&goal->rotation, &back);
    stn_vec3 p = stn_vec3_sub(goal->position, X.position), r = stn_quat_log(stn_quat_from_matrix(&turn));
    double scale = c->goal->position_only ? 0.0 : ANGLE_LENGTH;
    const double error[6] = {p.x, p.y, p.z, scale * r.x, scale * r.y, scale * r.z};
    memcpy(t->error, error, sizeof error);
    t->distance = stn_vec3_norm(p);
    t->angle = c->goal->position_only ? 0.0 : stn_vec3_norm(r);
    t->cost = t->distance * t->distance + scale * scale * t->angle * t->angle;
    if (J == NULL) {
        return;
    }
    memset(J, 0, sizeof(double[6][MOST]));
    for (int32_t i = 0; i < c->joint_count; i++) {
        const chain_joint *j = &c->joint[i];
        bool turns = j->joint->type != STN_JOINT_PRISMATIC;
        stn_vec3 linear = stn_vec3_scale(advance(j->joint), axis[i]), angular = stn_vec3_zero();
        if (turns) {
            linear = stn_vec3_add(linear, stn_vec3_cross(axis[i], stn_vec3_sub(X.position, place[i])));
            angular = stn_vec3_scale(scale, axis[i]);
        }
        const double column[6] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
        for (int32_t k = 0; k < 6; k++) {
            J[k][j->variable] += j->multiplier * column[k];
        }
    }
}

// --------------------------------------------------------------------------------------------------------- the search

static double clamp(const chain *c, int32_t i, double x) {
    const stn_joint *j = &c->model->joints[c->variable[i]];
    return j->type == STN_JOINT_CONTINUOUS ? x : fmin(fmax(x, j->lower), j->upper);
}

static bool reached(const chain *c, const trial *t) {
    return t->distance <= c->goal->position_tolerance && t->angle <= c->goal->angle_tolerance;
}

/// y with (J J^T + mu 1) y = e by Cholesky; columns of joints that are `held` are left out.
static void solve_damped(const chain *c, double J[6][MOST], const bool *held, double mu, const double *e, double *y) {
    double A[6][6];
    for (int32_t r = 0; r < 6; r++) {
        for (int32_t s = 0; s <= r; s++) {
            A[r][s] = r == s ? mu : 0.0;
            for (int32_t i = 0; i < c->variable_count; i++) {
                A[r][s] += held[i] ? 0.0 : J[r][i] * J[s][i];
            }
        }
    }
    for (int32_t r = 0; r < 6; r++) {
        y[r] = e[r];
        for (int32_t s = 0; s <= r; s++) {
            for (int32_t k = 0; k < s; k++) {
                A[r][s] -= A[r][k] * A[s][k];
            }
            A[r][s] = r == s ? sqrt(A[r][r]) : A[r][s] / A[s][s];
        }
        for (int32_t s = 0; s < r; s++) {
            y[r] -= A[r][s] * y[s];
        }
        y[r] /= A[r][r];
    }
    for (int32_t r = 5; r >= 0; r--) {
        for (int32_t s = r + 1; s < 6; s++) {
            y[r] -= A[s][r] * y[s];
        }
        y[r] /= A[r][r];
    }
}

/// From t->x to a place where the error is least.
static void descend(const chain *c, trial *t, int32_t *iterations) {
    double J[6][MOST], y[6], mu = 1e-3;
    trial next;
    evaluate(c, t, J);
    for (int32_t round = 0; round < c->goal->iterations_a_start && !reached(c, t) && mu < 1e6; round++) {
        (*iterations)++;
        // Joints that the step would take beyond their limits stay there and the rest is solved again.
        bool held[MOST] = {false}, again = true;
        for (int32_t pass = 0; again && pass < c->variable_count; pass++) {
            again = false;
            solve_damped(c, J, held, mu, t->error, y);
            for (int32_t i = 0; i < c->variable_count; i++) {
                double step = 0.0;
                for (int32_t r = 0; r < 6; r++) {
                    step += J[r][i] * y[r];
                }
                next.x[i] = held[i] ? t->x[i] : clamp(c, i, t->x[i] + step);
                bool stuck =
                    !held[i] && step != 0.0 && next.x[i] == t->x[i] && clamp(c, i, t->x[i] + step) != t->x[i] + step;
                held[i] = held[i] || stuck;
                again = again || stuck;
            }
        }
        evaluate(c, &next, NULL);
        bool better = next.cost < t->cost;
        bool little = better && next.cost > (1.0 - 1e-6) * t->cost;
        mu = better ? fmax(0.1 * mu, 1e-12) : 10.0 * mu;
        if (better) {
            *t = next;
            evaluate(c, t, J);
        }
        if (little) { // a place that it cannot leave
            return;
        }
    }
}

/// How far its joints are from `q`: the square of the way in joint space.
static double distance_to(const chain *c, const trial *t, const double *q) {
    double sum = 0.0;
    for (int32_t i = 0; i < c->variable_count; i++) {
        double d = t->x[i] - q[c->model->joints[c->variable[i]].q_start];
        sum += d * d;
    }
    return sum;
}

/// Writes the variables, and the joints that mimic them, into q.
static void write_back(const chain *c, const trial *t, double *q) {
    for (int32_t i = 0; i < c->variable_count; i++) {
        q[c->model->joints[c->variable[i]].q_start] = t->x[i];
    }
    for (int32_t j = 0; j < c->model->joint_count; j++) {
        double multiplier, offset;
        int32_t master = master_of(c->model, j, &multiplier, &offset);
        for (int32_t i = 0; i < c->variable_count && master != j; i++) {
            if (c->variable[i] == master) {
                q[c->model->joints[j].q_start] = multiplier * t->x[i] + offset;
            }
        }
    }
}

stn_status stn_inverse_kinematics(const stn_kinematics *present, const stn_ik_goal *goal, double *q,
                                  stn_ik_result *result, stn_error *err) {
    chain c = {.model = present->model, .goal = goal};
    stn_status status = make_chain(&c, present, err);
    if (status < 0) {
        return status;
    }
    size_t nq = (size_t)present->model->nq;
    int32_t given = goal->seed_count > 0 ? goal->seed_count : 1;
    uint64_t random = goal->random_seed;
    bool found = false;
    trial t, best = {.cost = (double)INFINITY};
    *result = (stn_ik_result){0};
    memmove(q, present->q, nq * sizeof *q);
    for (int32_t start = 0; start < given + goal->random_starts && (!found || goal->nearest); start++) {
        if (start >= given) {
            // Uniform within the limits; without limits within half a turn, or a metre, to both sides.
            for (int32_t i = 0; i < c.variable_count; i++) {
                const stn_joint *j = &c.model->joints[c.variable[i]];
                double free = j->type == STN_JOINT_PRISMATIC ? 1.0 : STN_PI;
                bool limited = j->type != STN_JOINT_CONTINUOUS;
                double low = limited && isfinite(j->lower) ? j->lower : -free;
                double high = limited && isfinite(j->upper) ? j->upper : free;
                t.x[i] = low + (high - low) * stn_random_unit(stn_random_bits(&random));
            }
        } else {
            const double *from = goal->seed_count > 0 ? goal->seeds + (size_t)start * nq : present->q;
            for (int32_t i = 0; i < c.variable_count; i++) {
                t.x[i] = clamp(&c, i, from[c.model->joints[c.variable[i]].q_start]);
            }
        }
        descend(&c, &t, &result->iterations);
        result->starts++;
        bool there = reached(&c, &t);
        if (there && goal->accepts != NULL) {
            write_back(&c, &t, q);
            there = goal->accepts(goal->user, q);
            result->refused += there ? 0 : 1;
        }
        bool better = there ? !found || distance_to(&c, &t, present->q) < distance_to(&c, &best, present->q)
                            : !found && t.cost < best.cost;
        best = better ? t : best;
        found = found || there;
    }
    result->distance = best.distance;
    result->angle = best.angle;
    write_back(&c, &best, q);
    return found ? STN_OK : STN_NOT_CONVERGED;
}
