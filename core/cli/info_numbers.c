// SPDX-License-Identifier: Apache-2.0
// Counts, mass matrix and gravity forces of a robot at rest. With mimic joints q = G s + c, where every row of G has
// one entry: the product of multipliers down to the joint that mimics nothing.
#include "cli/info.h"

typedef struct follower {
    int32_t target; // velocity index of the joint that mimics nothing
    double weight;  // entry of G
} follower;

void info_count(info *robot) {
    const stn_model *m = robot->model;
    info_counts *c = &robot->counts;
    *c = (info_counts){.dof_reduced = m->nv};
    for (int32_t i = 0; i < m->link_count; i++) {
        c->mass += m->links[i].mass.mass;
        c->joints += m->links[i].joint_name != NULL;
        if (m->links[i].joint >= 0) {
            robot->child_of[m->links[i].joint] = i;
        }
    }
    for (int32_t j = 0; j < m->joint_count; j++) {
        c->of_type[m->joints[j].type]++;
        c->mimic += m->joints[j].mimic >= 0;
    }
    c->of_type[STN_JOINT_FIXED] = c->joints - m->joint_count;
    c->dof_reduced -= c->mimic;
    for (int32_t g = 0; g < m->geometry_count; g++) {
        c->collision += m->geometries[g].collision;
        c->visual += m->geometries[g].visual;
    }
}

stn_pose info_link_pose(const info *robot, int32_t link) {
    const stn_link *l = &robot->model->links[link];
    return stn_pose_mul(&robot->kinematics->body_pose[l->body], &l->pose);
}

static follower follow(const stn_model *model, int32_t dof) {
    follower f = {dof, 1.0};
    const stn_joint *joint = &model->joints[model->dof_joint[dof]];
    while (joint->mimic >= 0) {
        f.weight *= joint->mimic_multiplier;
        joint = &model->joints[joint->mimic];
        f.target = joint->v_start;
    }
    return f;
}

/// Adds a tree's share of both traces; M is dense.
static void add_traces(const stn_model *model, const stn_tree *tree, const double *M, info_dynamics *out) {
    int32_t n = tree->nv;
    for (int32_t i = 0; i < n; i++) {
        follower a = follow(model, tree->v_start + i);
        out->mass_trace_full += M[(size_t)i * (size_t)n + (size_t)i];
        for (int32_t j = 0; j < n; j++) {
            follower b = follow(model, tree->v_start + j);
            out->mass_trace_reduced +=
                a.target == b.target ? a.weight * b.weight * M[(size_t)i * (size_t)n + (size_t)j] : 0.0;
        }
    }
}

static stn_status compute_tree(info *robot, int32_t t, stn_arena *arena, double *gravity, stn_error *err) {
    const stn_tree *tree = &robot->model->trees[t];
    size_t n = (size_t)tree->nv;
    stn_matrix M = {.n = tree->nv, .form = STN_MATRIX_DENSE};
    M.values = stn_arena_zeroed(arena, n * n, sizeof *M.values);
    stn_spatial *scratch = STN_ARENA(arena, tree->body_count, stn_spatial);
    if (M.values == NULL || scratch == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", robot->path);
    }
    stn_mass_matrix(robot->kinematics, t, &M);
    for (size_t i = 0; i < n; i++) { // of the bodies alone
        M.values[i * n + i] -=
            robot->model->joints[robot->model->dof_joint[(size_t)tree->v_start + i]].reflected_inertia;
    }
    add_traces(robot->model, tree, M.values, &robot->dynamics);
    stn_inverse_dynamics(robot->kinematics, t, stn_vec3_make(0.0, 0.0, -9.81), NULL, scratch, gravity + tree->v_start);
    return STN_OK;
}

/// |g| and |G^T g|.
static void add_gravity(info *robot, const double *gravity, double *reduced) {
    double full = 0.0, sum = 0.0;
    for (int32_t i = 0; i < robot->model->nv; i++) {
        follower f = follow(robot->model, i);
        full += gravity[i] * gravity[i];
        reduced[f.target] += f.weight * gravity[i];
    }
    for (int32_t i = 0; i < robot->model->nv; i++) {
        sum += reduced[i] * reduced[i];
    }
    robot->dynamics.gravity_norm_full = sqrt(full);
    robot->dynamics.gravity_norm_reduced = sqrt(sum);
}

stn_status info_compute(info *robot, stn_error *err) {
    stn_kinematics_update(robot->kinematics, robot->q, robot->v);
    robot->dynamics = (info_dynamics){0};
    stn_arena *arena = stn_arena_create(robot->context);
    double *gravity = arena != NULL ? STN_ARENA_ZEROED(arena, robot->model->nv + 1, double) : NULL;
    double *reduced = gravity != NULL ? STN_ARENA_ZEROED(arena, robot->model->nv + 1, double) : NULL;
    stn_status status = STN_OK;
    if (reduced == NULL) {
        status = stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", robot->path);
    }
    for (int32_t t = 0; t < robot->model->tree_count && status == STN_OK; t++) {
        status = compute_tree(robot, t, arena, gravity, err);
    }
    if (status == STN_OK) {
        add_gravity(robot, gravity, reduced);
    }
    stn_arena_destroy(arena);
    return status;
}
