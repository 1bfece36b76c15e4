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
static void fill_axial(body_constants *c, axial_constants *a, const stn_joint *joint, const joint_kind *kind) {
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
        a->constant[i / 3][i % 3] = along.m[i / 3][i % 3];
        a->cosine[i / 3][i % 3] = c->turns ? joint->origin.rotation.m[i / 3][i % 3] - along.m[i / 3][i % 3] : 0.0;
        a->sine[i / 3][i % 3] = cross.m[i / 3][i % 3];
    }
    stn_vec3 p = joint->origin.position, d = stn_mat3_apply(&joint->origin.rotation, S.linear);
    stn_vec3 axis = stn_mat3_apply(&joint->origin.rotation, S.angular);
    const double last[3][3] = {{p.x, d.x, axis.x}, {p.y, d.y, axis.y}, {p.z, d.z, axis.z}};
    for (int32_t i = 0; i < 3; i++) {
        a->constant[i][3] = last[i][0];
        a->cosine[i][3] = last[i][1];
        a->sine[i][3] = last[i][2];
    }
}

static void fill_mass(body_constants *c, const stn_mass *mass) {
    const double(*I)[3] = mass->inertia.m;
    const double entries[6] = {I[0][0], I[1][1], I[2][2], I[0][1], I[0][2], I[1][2]};
    memcpy(c->inertia, entries, sizeof entries);
    c->com[0] = mass->com.x;
    c->com[1] = mass->com.y;
    c->com[2] = mass->com.z;
    c->com[3] = mass->mass;
}

void kinematics_take_masses(stn_kinematics *kinematics) {
    const stn_model *model = kinematics->model;
    body_constants *constants = (body_constants *)(uintptr_t)kinematics_object_of(kinematics)->constants;
    for (int32_t i = 1; i < model->body_count; i++) {
        fill_mass(&constants[i], &model->bodies[i].mass);
    }
}

static void fill_constants(const stn_model *model, const body_plan *plans, body_constants *constants,
                           axial_constants *axial, double *rotor) {
    for (int32_t i = 1; i < model->body_count; i++) {
        const body_plan *plan = &plans[i];
        const joint_kind *kind = joint_kind_get((stn_joint_type)plan->type);
        body_constants *c = &constants[i];
        fill_mass(c, &model->bodies[i].mass);
        for (int32_t j = 0; j < plan->nv; j++) {
            rotor[plan->v + j] = model->joints[plan->joint].reflected_inertia;
        }
        if (kind->axial) {
            fill_axial(c, &axial[i], &model->joints[plan->joint], kind);
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

/// What never changes. False: out of memory.
static bool make_constants(kinematics_object *k, const stn_model *model) {
    const size_t bodies = (size_t)model->body_count, nv = (size_t)model->nv;
    body_constants *constants = STN_ARENA_ZEROED(k->memory, bodies, body_constants);
    axial_constants *axial = STN_ARENA(k->memory, bodies, axial_constants); // most of a pile has none: not touched
    int32_t *turn_q = STN_ARENA(k->memory, bodies, int32_t);
    double *rotor = STN_ARENA_ZEROED(k->memory, nv, double);
    mass_block *blocks = STN_ARENA(k->memory, model->nv, mass_block);
    int32_t *start = STN_ARENA_ZEROED(k->memory, model->tree_count + 1, int32_t);
    int32_t *end = STN_ARENA_ZEROED(k->memory, model->nv, int32_t);
    if (constants == NULL || axial == NULL || turn_q == NULL || rotor == NULL || blocks == NULL || start == NULL ||
        end == NULL) {
        return false;
    }
    fill_constants(model, k->plan, constants, axial, rotor);
    // Places for angles, first of the joints that turn, then one whose angle stays 0 for all others.
    for (int32_t i = 1; i < model->body_count; i++) {
        if (constants[i].turns) {
            turn_q[k->turn_count++] = k->plan[i].q;
        }
    }
    for (int32_t i = 1, turn = 0; i < model->body_count; i++) {
        constants[i].turn = constants[i].turns ? turn++ : k->turn_count;
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
    k->constants = constants;
    k->axial = axial;
    k->turn_q = turn_q;
    k->rotor = rotor;
    k->blocks = blocks;
    k->block_start = start;
    return true;
}

/// Room for what updates write, which stays untouched until then. False: out of memory.
static bool make_room(kinematics_object *k, const stn_model *model) {
    const size_t bodies = (size_t)model->body_count, trees = (size_t)model->tree_count, nv = (size_t)model->nv;
    const size_t angles = (size_t)k->turn_count + 4; // kernels read whole vectors
    k->face.body_pose = STN_ARENA(k->memory, bodies, stn_pose);
    k->face.reference = STN_ARENA_ZEROED(k->memory, trees, stn_vec3);
    k->face.body_velocity = STN_ARENA(k->memory, bodies + 1, stn_spatial); // kernels read one number more
    k->face.motion = STN_ARENA(k->memory, nv + 1, stn_spatial);
    k->face.bias = STN_ARENA(k->memory, bodies + 1, stn_spatial);
    const size_t nodes = model_object_of(model)->has_frames ? (size_t)model->node_count : 0;
    k->node = nodes > 0 ? STN_ARENA_ZEROED(k->memory, nodes, stn_vec3) : NULL;
    k->face.node_pose = k->node_pose = nodes > 0 ? STN_ARENA_ZEROED(k->memory, nodes, stn_pose) : NULL;
    k->frame = STN_ARENA(k->memory, bodies, body_frame);
    k->angle = STN_ARENA_ZEROED(k->memory, angles, double);
    k->cosine = STN_ARENA_ZEROED(k->memory, angles, double);
    k->sine = STN_ARENA_ZEROED(k->memory, angles, double);
    k->inertia = STN_ARENA(k->memory, bodies, inertia);
    k->composite = STN_ARENA(k->memory, bodies, inertia);
    k->force_rows = STN_ARENA(k->memory, 6 * (nv + MASS_BLOCK * trees), double);
    return k->face.body_pose != NULL && k->face.reference != NULL && k->face.body_velocity != NULL &&
           k->face.motion != NULL && k->face.bias != NULL && k->frame != NULL && k->angle != NULL &&
           k->cosine != NULL && k->sine != NULL && k->inertia != NULL && k->composite != NULL &&
           k->force_rows != NULL && (nodes == 0 || (k->node != NULL && k->node_pose != NULL));
}

/// What updates leave as it is: the world, and the columns of S that never change.
static void begin(kinematics_object *k) {
    const stn_model *model = k->face.model;
    k->face.body_pose[0] = stn_pose_identity();
    k->face.body_velocity[0] = k->face.bias[0] = (stn_spatial){{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    k->frame[0] = (body_frame){.column = {{1.0}, {0.0, 1.0}, {0.0, 0.0, 1.0}}};
    memset(&k->inertia[0], 0, sizeof k->inertia[0]);
    for (int32_t i = 1; i < model->body_count; i++) {
        const body_plan *plan = &k->plan[i];
        if (plan->free_root) {
            const joint_state at = {&model->joints[plan->joint], stn_pose_identity(), NULL, stn_vec3_zero()};
            joint_kind_get((stn_joint_type)plan->type)->motion(&at, k->face.motion + plan->v);
        }
    }
    k->begun = true;
}

static stn_status create(const stn_model *model, const kinematics_object *lender, stn_kinematics **out,
                         stn_error *err) {
    *out = NULL;
    stn_arena *memory = stn_arena_create(model->context);
    kinematics_object *k = memory != NULL ? STN_ARENA_ZEROED(memory, 1, kinematics_object) : NULL;
    if (k != NULL && lender != NULL) {
        k->constants = lender->constants;
        k->axial = lender->axial;
        k->rotor = lender->rotor;
        k->turn_count = lender->turn_count;
        k->turn_q = lender->turn_q;
        k->blocks = lender->blocks;
        k->block_start = lender->block_start;
    }
    if (k != NULL) {
        k->face.model = model;
        k->memory = memory;
        k->kernels = dynamics_kernels_choose();
        k->angles = angle_kernels_choose();
        k->plan = model_object_of(model)->plan;
    }
    if (k == NULL || (lender == NULL && !make_constants(k, model)) || !make_room(k, model)) {
        stn_arena_destroy(memory);
        return stn_fail(err, STN_ERR_MEMORY, "kinematics: out of memory");
    }
    *out = &k->face;
    return STN_OK;
}

stn_status stn_kinematics_create(const stn_model *model, stn_kinematics **out, stn_error *err) {
    return create(model, NULL, out, err);
}

stn_status stn_kinematics_create_beside(const stn_kinematics *lender, stn_kinematics **out, stn_error *err) {
    return create(lender->model, kinematics_object_of(lender), out, err);
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
    if (!k->begun) {
        begin(k);
    }
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
