// SPDX-License-Identifier: Apache-2.0
// The kinematics object: its memory, and what it knows of every body before the first update. All arrays lie in one
// arena, which aligns them for the kernels.
#include <string.h>

#include "base/kernels.h"
#include "dynamics/kinematics.h"
#include "dynamics/tree_kernels.h"

// ------------------------------------------------------------------------------------------------------- kernels
// Which compilation of the loops over bodies suits this processor.

#define TABLE(suffix)                                                                                            \
    {                                                                                                            \
        kinematics_##suffix, inverse_dynamics_##suffix, inverse_dynamics_polar_##suffix, twice_kinetic_##suffix, \
            mass_matrix_##suffix, mass_diagonal_##suffix                                                         \
    }

static const dynamics_kernels *dynamics_kernels_choose(void) {
    static const dynamics_kernels plain = TABLE(plain);
#ifdef STN_KERNELS_X86
    static const dynamics_kernels avx2 = TABLE(avx2);
    if (kernels_have_avx2()) {
        return &avx2;
    }
#endif
    return &plain;
}

// ----------------------------------------------------------------------------------------------------- constants

/// Of a joint whose one column of S is constant in the joint frame.
static void fill_axial(body_constants *c, const stn_joint *joint, const joint_kind *kind) {
    const double none = 0.0;
    const joint_state at = {joint, stn_pose_identity(), &none, stn_vec3_zero()};
    stn_spatial S;
    kind->motion(&at, &S);
    c->axial = true;
    c->turns = stn_vec3_dot(S.angular, S.angular) > 0.0;
    c->slides = stn_vec3_dot(S.linear, S.linear) > 0.0;
    // R_PJ [a a^T, 1 - a a^T, [a]] for the rotation R(q) = a a^T + cos q (1 - a a^T) + sin q [a] about a unit vector a.
    const double x[3] = {S.angular.x, S.angular.y, S.angular.z};
    stn_mat3 along,
        cross = {
            {{0.0, -S.angular.z, S.angular.y}, {S.angular.z, 0.0, -S.angular.x}, {-S.angular.y, S.angular.x, 0.0}}};
    for (int32_t i = 0; i < 9; i++) {
        along.m[i / 3][i % 3] = c->turns ? x[i / 3] * x[i % 3] : i % 4 == 0 ? 1.0 : 0.0;
    }
    along = stn_mat3_mul(&joint->origin.rotation, &along);
    cross = stn_mat3_mul(&joint->origin.rotation, &cross);
    for (int32_t i = 0; i < 9; i++) {
        c->constant[i / 3][i % 3] = along.m[i / 3][i % 3];
        c->cosine[i / 3][i % 3] = c->turns ? joint->origin.rotation.m[i / 3][i % 3] - along.m[i / 3][i % 3] : 0.0;
        c->sine[i / 3][i % 3] = cross.m[i / 3][i % 3];
    }
    stn_vec3 p = joint->origin.position, d = stn_mat3_apply(&joint->origin.rotation, S.linear);
    stn_vec3 axis = stn_mat3_apply(&joint->origin.rotation, S.angular);
    const double last[3][3] = {{p.x, d.x, axis.x}, {p.y, d.y, axis.y}, {p.z, d.z, axis.z}};
    for (int32_t i = 0; i < 3; i++) {
        c->constant[i][3] = last[i][0];
        c->cosine[i][3] = last[i][1];
        c->sine[i][3] = last[i][2];
    }
}

static void fill_constants(const stn_model *model, const body_plan *plans, body_constants *constants, double *rotor) {
    for (int32_t i = 1; i < model->body_count; i++) {
        const body_plan *plan = &plans[i];
        const joint_kind *kind = joint_kind_get((stn_joint_type)plan->type);
        body_constants *c = &constants[i];
        const stn_mass *mass = &model->bodies[i].mass;
        const double(*I)[3] = mass->inertia.m;
        const double entries[6] = {I[0][0], I[1][1], I[2][2], I[0][1], I[0][2], I[1][2]};
        memcpy(c->inertia, entries, sizeof entries);
        c->com[0] = mass->com.x;
        c->com[1] = mass->com.y;
        c->com[2] = mass->com.z;
        c->com[3] = mass->mass;
        for (int32_t j = 0; j < plan->nv; j++) {
            rotor[plan->v + j] = model->joints[plan->joint].reflected_inertia;
        }
        if (kind->axial) {
            fill_axial(c, &model->joints[plan->joint], kind);
        }
    }
}

/// One past the last dof that each dof of the tree moves.
static void find_ends(const body_plan *plans, const stn_tree *tree, int32_t *end) {
    for (int32_t i = tree->body_start + tree->body_count - 1; i >= tree->body_start; i--) {
        const body_plan *plan = &plans[i], *parent = &plans[plan->parent];
        int32_t last = plan->dof + plan->nv;
        for (int32_t d = plan->dof; d < last; d++) {
            end[d] = end[d] > last ? end[d] : last;
        }
        for (int32_t d = parent->dof; plan->parent > 0 && d < parent->dof + parent->nv; d++) {
            end[d] = end[d] > end[plan->dof] ? end[d] : end[plan->dof];
        }
    }
}

// -------------------------------------------------------------------------------------------------------- memory

/// false: out of memory.
static bool allocate(kinematics_object *k, const stn_model *model) {
    size_t bodies = (size_t)model->body_count, trees = (size_t)model->tree_count, nv = (size_t)model->nv;
    body_constants *constants = STN_ARENA_ZEROED(k->memory, bodies, body_constants);
    int32_t *turn_q = STN_ARENA_ZEROED(k->memory, bodies, int32_t);
    double *rotor = STN_ARENA_ZEROED(k->memory, nv, double);
    k->face.body_pose = STN_ARENA_ZEROED(k->memory, bodies, stn_pose);
    k->face.reference = STN_ARENA_ZEROED(k->memory, trees, stn_vec3);
    k->face.body_velocity = STN_ARENA_ZEROED(k->memory, bodies + 1, stn_spatial); // kernels read one number more
    k->face.motion = STN_ARENA_ZEROED(k->memory, nv + 1, stn_spatial);
    k->face.bias = STN_ARENA_ZEROED(k->memory, bodies + 1, stn_spatial);
    const size_t nodes = model_object_of(model)->has_frames ? (size_t)model->node_count : 0;
    k->node = nodes > 0 ? STN_ARENA_ZEROED(k->memory, nodes, stn_vec3) : NULL;
    k->face.node_pose = k->node_pose = nodes > 0 ? STN_ARENA_ZEROED(k->memory, nodes, stn_pose) : NULL;
    k->frame = STN_ARENA_ZEROED(k->memory, bodies, body_frame);
    k->angle = STN_ARENA_ZEROED(k->memory, bodies + 4, double);
    k->cosine = STN_ARENA_ZEROED(k->memory, bodies + 4, double);
    k->sine = STN_ARENA_ZEROED(k->memory, bodies + 4, double);
    k->inertia = STN_ARENA_ZEROED(k->memory, bodies, inertia);
    k->composite = STN_ARENA_ZEROED(k->memory, bodies, inertia);
    k->force_rows = STN_ARENA_ZEROED(k->memory, 6 * (nv + MASS_BLOCK * trees), double);
    if (constants == NULL || rotor == NULL || k->face.body_pose == NULL || k->face.reference == NULL ||
        k->face.body_velocity == NULL || k->face.motion == NULL || k->face.bias == NULL || k->frame == NULL ||
        turn_q == NULL || k->angle == NULL || k->cosine == NULL || k->sine == NULL || k->inertia == NULL ||
        k->composite == NULL || k->force_rows == NULL || (nodes > 0 && (k->node == NULL || k->node_pose == NULL))) {
        return false;
    }
    fill_constants(model, k->plan, constants, rotor);
    k->constants = constants;
    k->rotor = rotor;
    k->turn_q = turn_q;
    // Places for angles, first of the joints that turn, then one whose angle stays 0 for all others.
    for (int32_t i = 1; i < model->body_count; i++) {
        if (constants[i].turns) {
            turn_q[k->turn_count++] = k->plan[i].q;
        }
    }
    for (int32_t i = 1, turn = 0; i < model->body_count; i++) {
        constants[i].turn = constants[i].turns ? turn++ : k->turn_count;
    }
    mass_block *blocks = STN_ARENA(k->memory, model->nv, mass_block);
    int32_t *start = STN_ARENA_ZEROED(k->memory, model->tree_count + 1, int32_t);
    int32_t *end = STN_ARENA_ZEROED(k->memory, model->nv, int32_t);
    if (blocks == NULL || start == NULL || end == NULL) {
        return false;
    }
    for (int32_t t = 0; t < model->tree_count; t++) {
        const stn_tree *tree = &model->trees[t];
        start[t + 1] = start[t];
        if (tree->kind == STN_TREE_ARTICULATED) {
            find_ends(k->plan, tree, end + tree->v_start);
            // Dofs with the same end form a chain, which is cut into blocks.
            for (int32_t d = 0; d < tree->nv; d++) {
                mass_block *last = start[t + 1] > start[t] ? &blocks[start[t + 1] - 1] : NULL;
                int32_t behind = end[tree->v_start + d];
                if (last != NULL && last->end == behind && last->count < MASS_BLOCK) {
                    last->count++;
                } else {
                    blocks[start[t + 1]++] = (mass_block){.row = d, .count = 1, .end = behind};
                }
            }
        }
    }
    k->blocks = blocks;
    k->block_start = start;
    return true;
}

stn_status stn_kinematics_create(const stn_model *model, stn_kinematics **out, stn_error *err) {
    *out = NULL;
    stn_arena *memory = stn_arena_create(model->context);
    kinematics_object *k = memory != NULL ? STN_ARENA_ZEROED(memory, 1, kinematics_object) : NULL;
    if (k != NULL) {
        k->face.model = model;
        k->memory = memory;
        k->kernels = dynamics_kernels_choose();
        k->angles = angle_kernels_choose();
        k->plan = model_object_of(model)->plan;
    }
    if (k == NULL || !allocate(k, model)) {
        stn_arena_destroy(memory);
        return stn_fail(err, STN_ERR_MEMORY, "kinematics: out of memory");
    }
    k->face.body_pose[0] = stn_pose_identity();
    for (int32_t i = 0; i < 3; i++) {
        k->frame[0].column[i][i] = 1.0;
    }
    // The columns of S that never change.
    for (int32_t i = 1; i < model->body_count; i++) {
        const body_plan *plan = &k->plan[i];
        if (plan->free_root) {
            const joint_state at = {&model->joints[plan->joint], stn_pose_identity(), NULL, stn_vec3_zero()};
            joint_kind_get((stn_joint_type)plan->type)->motion(&at, k->face.motion + plan->v);
        }
    }
    *out = &k->face;
    return STN_OK;
}

void stn_kinematics_destroy(stn_kinematics *kinematics) {
    if (kinematics != NULL) {
        stn_arena_destroy(kinematics_object_of(kinematics)->memory); // holds the object itself
    }
}

/// Positions and poses where some nodes are frames.
static void place_nodes(kinematics_object *k, const double *q) {
    const stn_model *model = k->face.model;
    for (int32_t i = 0; i < model->node_count; i++) {
        const double *x = q + stn_model_node_q(model, i);
        k->node[i] = stn_vec3_make(x[0], x[1], x[2]);
        k->node_pose[i] = (stn_pose){stn_mat3_identity(), k->node[i]};
        if (model->trees[model->node_tree[i]].node_type == STN_NODE_FRAME) {
            const stn_quat turn = {x[3], x[4], x[5], x[6]};
            k->node_pose[i].rotation = stn_quat_matrix(stn_quat_normalize(turn));
        }
    }
}

void stn_kinematics_update(stn_kinematics *kinematics, const double *q, const double *v) {
    kinematics_object *k = (kinematics_object *)(void *)kinematics;
    kinematics->q = q;
    kinematics->v = v;
    if (k->node != NULL) {
        place_nodes(k, q);
        kinematics->node = k->node;
    } else {
        kinematics->node = (const stn_vec3 *)(const void *)(q + model_object_of(kinematics->model)->node_q);
    }
    k->kernels->kinematics(k, q, v);
}

// ------------------------------------------------------------------------------------------------ configurations
// Moving configurations by velocities, and the velocity between two configurations.

void stn_integrate_q(const stn_model *model, const double *q, const double *v, double s, double *q_next) {
    const model_object *object = model_object_of(model);
    for (int32_t i = 1; i < model->body_count; i++) {
        const body_plan *plan = &object->plan[i];
        joint_kind_get((stn_joint_type)plan->type)->integrate(q + plan->q, v + plan->v, s, q_next + plan->q);
    }
    for (int32_t t = object->articulated_count; t < model->tree_count; t++) {
        const stn_tree *tree = &model->trees[t];
        const double *from = q + tree->q_start, *u = v + tree->v_start;
        double *to = q_next + tree->q_start;
        for (int32_t i = 0; i < tree->nq && tree->node_type == STN_NODE_POINT; i++) {
            to[i] = from[i] + s * u[i];
        }
        for (int32_t i = 0; i < tree->node_count && tree->node_type == STN_NODE_FRAME; i++) {
            joint_kind_get(STN_JOINT_FLOATING)->integrate(from + 7 * i, u + 6 * i, s, to + 7 * i);
        }
    }
}

void stn_difference_q(const stn_model *model, const double *q_a, const double *q_b, double *v) {
    const model_object *object = model_object_of(model);
    for (int32_t i = 1; i < model->body_count; i++) {
        const body_plan *plan = &object->plan[i];
        joint_kind_get((stn_joint_type)plan->type)->difference(q_a + plan->q, q_b + plan->q, v + plan->v);
    }
    for (int32_t t = object->articulated_count; t < model->tree_count; t++) {
        const stn_tree *tree = &model->trees[t];
        const double *a = q_a + tree->q_start, *b = q_b + tree->q_start;
        double *u = v + tree->v_start;
        for (int32_t i = 0; i < tree->nv && tree->node_type == STN_NODE_POINT; i++) {
            u[i] = b[i] - a[i];
        }
        for (int32_t i = 0; i < tree->node_count && tree->node_type == STN_NODE_FRAME; i++) {
            joint_kind_get(STN_JOINT_FLOATING)->difference(a + 7 * i, b + 7 * i, u + 6 * i);
        }
    }
}
