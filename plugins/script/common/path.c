// SPDX-License-Identifier: Apache-2.0
// Does a group meet anything on a straight path in joint space? Conservative advancement: where a pair has a distance d
// to lose, and no point of A comes nearer to one of B by more than r per unit of the path, nothing happens to it within
// d/r of the path. r is a sum over the joints between each body and the world, at any configuration: of the path of a
// revolute joint times how far anything that hangs on it can be from its origin.
#include "common/path.h"

#include <math.h>
#include <string.h>

/// How far the look goes from each place: pairs beyond have that to lose [m].
static const double look = 0.2;

typedef struct walk {
    stn_world *world;
    const stn_model *model;
    const stn_path *path;
    double *reach, *rate; // (body_count) of what hangs on its joint from its origin [m]; r of its points [m]
    bool *moved;          // (body_count) by joints of the group
    double fastest;       // of rate [m]
} walk;

/// How far the joint may take its body from its place in the parent, anywhere on the path.
static double travel_of(const stn_joint *joint, const double *q) {
    const double *at = q + joint->q_start;
    switch (joint->type) {
    case STN_JOINT_PRISMATIC:
        return fabs(at[0]);
    case STN_JOINT_SCREW:
        return fabs(at[0] * joint->screw_pitch) / (2.0 * STN_PI);
    case STN_JOINT_PLANAR:
        return hypot(at[0], at[1]);
    case STN_JOINT_FLOATING:
        return stn_vec3_norm((stn_vec3){at[0], at[1], at[2]});
    default:
        return 0.0;
    }
}

/// Fills reach, from the tips inwards, and rate and moved, outwards: bodies come after their parents.
static stn_status find_rates(walk *w, stn_error *err) {
    const stn_model *model = w->model;
    const double *from = w->path->from, *to = w->path->to;
    // From the origin of a body's frame to the furthest corner of its shapes' boxes.
    for (int32_t g = 0; g < model->geometry_count; g++) {
        const stn_geometry *shape = &model->geometries[g];
        if (shape->body > 0 && shape->collision) {
            stn_aabb box = stn_shape_aabb(&shape->shape, &shape->pose, 0.0);
            const stn_vec3 corner = {fmax(-box.lower.x, box.upper.x), fmax(-box.lower.y, box.upper.y),
                                     fmax(-box.lower.z, box.upper.z)};
            w->reach[shape->body] = fmax(w->reach[shape->body], stn_vec3_norm(corner));
        }
    }
    for (int32_t b = model->body_count - 1; b > 0; b--) {
        const stn_joint *joint = &model->joints[model->bodies[b].joint];
        int32_t parent = model->bodies[b].parent;
        if (parent > 0) {
            double travel = fmax(travel_of(joint, from), travel_of(joint, to));
            double out = stn_vec3_norm(joint->origin.position) + travel + w->reach[b];
            w->reach[parent] = fmax(w->reach[parent], out);
        }
    }
    for (int32_t b = 1; b < model->body_count; b++) {
        const stn_joint *joint = &model->joints[model->bodies[b].joint];
        int32_t parent = model->bodies[b].parent > 0 ? model->bodies[b].parent : 0;
        double travel = fabs(to[joint->q_start] - from[joint->q_start]), rate = travel * w->reach[b];
        if (joint->type == STN_JOINT_PRISMATIC) {
            rate = travel;
        } else if (joint->type == STN_JOINT_SCREW) {
            rate = travel * (w->reach[b] + fabs(joint->screw_pitch) / (2.0 * STN_PI));
        }
        w->moved[b] = w->moved[parent] || joint->group == w->path->group;
        w->rate[b] = w->rate[parent] + rate;
        w->fastest = fmax(w->fastest, w->rate[b]);
    }
    return isfinite(w->fastest) ? STN_OK : stn_fail(err, STN_ERR_ARGUMENT, "path: a shape without end moves on it");
}

static int32_t body_of(const stn_model *model, int32_t geometry) {
    return model->geometries[geometry].node >= 0 ? 0 : model->geometries[geometry].body;
}

static bool is_moved(const void *user, int32_t geometry) {
    const walk *w = user;
    return w->moved[body_of(w->model, geometry)];
}

/// At one place: how much of the path is certain to be free from there on; meeting->pair what is too near.
static stn_status look_around(const walk *w, stn_path_meeting *meeting, double *free, stn_error *err) {
    const stn_path *path = w->path;
    const stn_model *model = w->model;
    const stn_query mine = {.accepts = is_moved, .user = w};
    const stn_near_pair *pairs = NULL;
    int32_t count = 0;
    double worst = 0.0, most = fmax(path->margin, path->self_margin);
    *free = look / (2.0 * w->fastest);
    stn_status status = stn_world_near_pairs(w->world, &mine, path->others, most + look, &pairs, &count, err);
    for (int32_t i = 0; i < count; i++) {
        const stn_near_pair *p = &pairs[i];
        // links that joints of the group do not move are its own too
        int32_t link = model->geometries[p->geometry_b].link;
        bool own = is_moved(w, p->geometry_b) || (link >= 0 && model->links[link].group == path->group);
        double left = p->distance - (own ? path->self_margin : path->margin);
        double rate = w->rate[body_of(model, p->geometry_a)] + w->rate[body_of(model, p->geometry_b)];
        if (left < worst) {
            worst = left;
            meeting->pair = *p;
        }
        *free = rate > 0.0 ? fmin(*free, fmax(left, path->resolution) / rate) : *free;
    }
    return status;
}

static stn_status follow(const walk *w, double *q, stn_path_meeting *meeting, stn_error *err) {
    const stn_path *path = w->path;
    double free = 0.0;
    for (double part = w->fastest > 0.0 ? 0.0 : 1.0;; part = fmin(part + fmax(free, 1e-9), 1.0)) {
        memcpy(q, stn_world_state(w->world)->q,
               (size_t)w->model->nq * sizeof *q); // nodes are where bodies carried them
        for (int32_t b = 1; b < w->model->body_count; b++) {
            const stn_joint *joint = &w->model->joints[w->model->bodies[b].joint];
            for (int32_t k = joint->q_start; k < joint->q_start + stn_joint_type_nq(joint->type); k++) {
                q[k] = path->from[k] + part * (path->to[k] - path->from[k]);
            }
        }
        meeting->part = part;
        stn_status status = stn_world_set_q(w->world, q, err);
        if (status == STN_OK) {
            status = look_around(w, meeting, &free, err);
        }
        if (status != STN_OK || meeting->pair.geometry_a >= 0 || part >= 1.0) {
            return status;
        }
    }
}

/// Only joints with one coordinate move along straight lines.
static stn_status check(const stn_model *model, const stn_path *path, stn_error *err) {
    if (!(path->margin >= 0.0) || !(path->self_margin >= 0.0) || !(path->resolution > 0.0)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "path: margins must be >= 0, the resolution > 0");
    }
    for (int32_t j = 0; j < model->joint_count; j++) {
        const stn_joint *joint = &model->joints[j];
        for (int32_t k = joint->q_start; k < joint->q_start + joint->nq; k++) {
            if (!isfinite(path->from[k]) || !isfinite(path->to[k])) {
                return stn_fail(err, STN_ERR_NUMERIC, "path: joint '%s': the path is not finite", joint->name);
            }
            if (joint->nq > 1 && path->from[k] != path->to[k]) {
                return stn_fail(err, STN_ERR_ARGUMENT,
                                "path: joint '%s' has several coordinates and cannot move along a straight path",
                                joint->name);
            }
        }
    }
    return STN_OK;
}

stn_status stn_path_meets(stn_world *world, const stn_path *path, stn_path_meeting *meeting, stn_error *err) {
    const stn_model *model = stn_world_model(world);
    *meeting = (stn_path_meeting){.pair = {.geometry_a = -1, .geometry_b = -1}};
    stn_status status = check(model, path, err);
    if (status != STN_OK) {
        return status;
    }
    stn_context *context = stn_world_context(world);
    size_t bodies = (size_t)model->body_count;
    double *numbers = stn_allocate(context, 2 * bodies + (size_t)model->nq + 1, sizeof(double));
    bool *moved = stn_allocate(context, bodies, sizeof(bool));
    if (numbers == NULL || moved == NULL) {
        status = stn_fail(err, STN_ERR_MEMORY, "path: out of memory");
    } else {
        memset(numbers, 0, 2 * bodies * sizeof(double));
        memset(moved, 0, bodies * sizeof(bool));
        walk w = {world, model, path, numbers, numbers + bodies, moved, 0.0};
        status = find_rates(&w, err);
        if (status == STN_OK) {
            status = follow(&w, numbers + 2 * bodies, meeting, err);
        }
    }
    stn_release(context, numbers);
    stn_release(context, moved);
    return status;
}
