// SPDX-License-Identifier: Apache-2.0
// Attached nodes whose body no force moves: the world, or a kinematic one. Where such a node is at the step's end, and
// its velocity u there, are known, so that it is no unknown. With p for these nodes, f for the others, and A, v* and
// the impulse r as the integrator formed them, the problem keeps
//
//     A_ff (v_f - v*_f) = J_f^T gamma + r_f - A_fp (u - v*_p),     v*_p = u,  A_pf = 0,  A_pp the mass, diagonal
//
// (Dirichlet's condition); contacts lose their columns of p and get J_p u as bias. Integrators and solvers do not know
// of this. The rows that were taken out tell afterwards what the body does to the node,
//
//     R_p = A_pp (u - v*_p) + A_pf (v_f - v*_f) - r_p - J_p^T gamma ;
//
// an integrator that makes the step itself tells all of it but J_p^T gamma.
//
// u leads to the node's place on the body in schemes that move q by v. Where q moves by a mean of velocities such a u
// would swing from step to step about the motion of the body: there it is the velocity that the body has at the node
// at the step's end. Either way q of the node is the place itself when the step is made, so that nothing drifts.
#include <string.h>

#include "world/world.h"

enum { MOST = 6 }; // velocities of a node: linear, then angular where it turns

static void put_vector(stn_vec3 v, double *x) {
    x[0] = v.x;
    x[1] = v.y;
    x[2] = v.z;
}

/// A node within its cloud.
typedef struct cloud_node {
    const stn_tree *tree;
    int32_t index;  // within the cloud
    int32_t nq, nv; // of one node
    size_t q, v;    // where its own begin
} cloud_node;

static cloud_node node_in_cloud(const step_setup *setup, int32_t node) {
    const stn_tree *tree = &setup->model->trees[setup->node_tree[node]];
    const int32_t index = node - tree->node_start, nq = tree->nq / tree->node_count, nv = tree->nv / tree->node_count;
    return (cloud_node){
        tree, index, nq, nv, (size_t)(tree->q_start + nq * index), (size_t)(tree->v_start + nv * index)};
}

/// Place and velocity of the node at the step's end.
static void foresee(const step_setup *setup, const state_view *state, const step_frame *frame,
                    const stn_node_attachment *held, attached_node *node) {
    const stn_problem *p = &frame->problem;
    const cloud_node own = node_in_cloud(setup, held->node);
    const double *q = state->q + own.q, *v = state->v + own.v;
    const stn_pose end = stn_step_kinematic_end(setup, state, frame, held->body);
    put_vector(stn_pose_apply(&end, held->point), node->place);
    if (own.nq == 7) { // the quaternion whose sign is that of the present one
        const stn_quat turn = stn_quat_mul(stn_quat_from_matrix(&end.rotation), held->orientation);
        const double sign = turn.w * q[3] + turn.x * q[4] + turn.y * q[5] + turn.z * q[6] < 0.0 ? -1.0 : 1.0;
        const double next[4] = {sign * turn.w, sign * turn.x, sign * turn.y, sign * turn.z};
        memcpy(node->place + 3, next, sizeof next);
    }
    if (p->velocity_kind == STN_VELOCITY_END && frame->force_theta_vq == 1.0) {
        put_vector(stn_vec3_scale(1.0 / frame->dt, stn_vec3_sub(stn_vec3_at(node->place, 0), stn_vec3_at(q, 0))),
                   node->velocity);
        if (own.nq == 7) {
            put_vector(stn_step_mean_twist(frame, q, node->place).angular, node->velocity + 3);
        }
        return;
    }
    const stn_vec3 here = stn_pose_apply(&frame->kinematics->body_pose[held->body], held->point);
    put_vector(stn_step_kinematic_velocity(setup, frame, held->body, here), node->velocity);
    if (own.nv == 6 && stn_setup_is_kinematic(setup, held->body)) {
        put_vector(stn_step_kinematic_twist(setup, frame, held->body).angular, node->velocity + 3);
    }
    const double theta = p->velocity_kind == STN_VELOCITY_MID ? p->theta : 1.0;
    for (int32_t i = 0; i < own.nv; i++) {
        node->velocity[i] = (1.0 - theta) * v[i] + theta * node->velocity[i];
    }
}

/// Block (row, column) of the matrix, `size` x `size`, which is in its pattern.
static double *block_at(const stn_matrix *A, int32_t size, int32_t row, int32_t column) {
    return A->values + (size_t)(size * size) * (size_t)stn_nodal_entry(A->row_start, A->column, row, column);
}

/// y += s B x of one block.
static void add_product(int32_t size, double s, const double *block, const double *x, double *y) {
    for (int32_t i = 0; i < size; i++) {
        for (int32_t j = 0; j < size; j++) {
            y[i] += s * block[size * i + j] * x[j];
        }
    }
}

/// Keeps the node's row of A and what belongs to it: r_p + A_p v*. False: out of memory.
static bool keep_row(const step_frame *frame, const cloud_node *own, attached_node *node) {
    const stn_problem *p = &frame->problem;
    const stn_tree *tree = own->tree;
    const int32_t size = own->nv, first = tree->row_start[own->index], end = tree->row_start[own->index + 1];
    const size_t block = (size_t)(size * size);
    const stn_matrix *A = &p->trees[tree - frame->kinematics->model->trees].A;
    node->row = STN_ARENA(frame->arena, block * (size_t)(end - first), double);
    if (node->row == NULL) {
        return false;
    }
    memcpy(node->row, A->values + block * (size_t)first, block * (size_t)(end - first) * sizeof(double));
    memcpy(node->known, p->free_impulse + own->v, (size_t)size * sizeof(double));
    for (int32_t k = first; k < end; k++) {
        const double *v_star = p->v_star + tree->v_start + size * tree->column[k];
        add_product(size, 1.0, node->row + block * (size_t)(k - first), v_star, node->known);
    }
    return true;
}

/// Takes the node's row and column out of A, and moves the column times u - v*_p to the right side.
static void take_out(step_frame *frame, const cloud_node *own, const double *mass, const attached_node *node) {
    stn_problem *p = &frame->problem;
    const stn_tree *tree = own->tree;
    const int32_t size = own->nv;
    const size_t bytes = (size_t)(size * size) * sizeof(double);
    const stn_matrix *A = &p->trees[tree - frame->kinematics->model->trees].A;
    double change[MOST];
    for (int32_t i = 0; i < size; i++) {
        change[i] = node->velocity[i] - p->v_star[own->v + (size_t)i];
    }
    for (int32_t k = tree->row_start[own->index]; k < tree->row_start[own->index + 1]; k++) {
        double *row = block_at(A, size, own->index, tree->column[k]);
        double *column = block_at(A, size, tree->column[k], own->index);
        add_product(size, -1.0, column, change, p->free_impulse + tree->v_start + size * tree->column[k]);
        memset(row, 0, bytes);
        memset(column, 0, bytes);
    }
    double *diagonal = block_at(A, size, own->index, own->index);
    for (int32_t i = 0; i < size; i++) {
        diagonal[(size + 1) * i] = mass[own->v + (size_t)i];
    }
}

static stn_status prescribe(const step_setup *setup, step_frame *frame, stn_error *err) {
    const stn_model *model = setup->model;
    const stn_problem *p = &frame->problem;
    double *mass = STN_ARENA(frame->arena, model->nv, double);
    bool whole = mass != NULL;
    for (int32_t i = 0; i < model->attachment_count && whole; i++) {
        const cloud_node own = node_in_cloud(setup, model->attachments[i].node);
        whole = !frame->attached[i].prescribed || keep_row(frame, &own, &frame->attached[i]);
    }
    if (!whole) {
        return stn_fail(err, STN_ERR_MEMORY, "attached nodes: out of memory");
    }
    for (int32_t t = 0; t < model->tree_count; t++) {
        if (model->trees[t].kind == STN_TREE_NODAL) {
            stn_matrix_diagonal(&frame->M[t], mass + model->trees[t].v_start);
        }
    }
    for (int32_t i = 0; i < model->attachment_count; i++) {
        const cloud_node own = node_in_cloud(setup, model->attachments[i].node);
        if (frame->attached[i].prescribed) {
            take_out(frame, &own, mass, &frame->attached[i]);
        }
    }
    for (int32_t i = 0; i < model->attachment_count; i++) { // v* of all of them was needed until here
        const cloud_node own = node_in_cloud(setup, model->attachments[i].node);
        const size_t bytes = (size_t)own.nv * sizeof(double);
        if (frame->attached[i].prescribed) {
            memcpy(p->v_star + own.v, frame->attached[i].velocity, bytes);
            memcpy(p->v_guess + own.v, frame->attached[i].velocity, bytes);
            memset(p->free_impulse + own.v, 0, bytes);
        }
    }
    return STN_OK;
}

static stn_status refuse_place(const stn_model *model, const stn_node_attachment *held, const attached_node *node,
                               double dt, stn_error *err) {
    const bool world = held->link == STN_WORLD;
    return stn_fail(err, STN_ERR_NUMERIC,
                    "node %d, which %s%s carries, is at (%g, %g, %g) m at the step's end: too far away for one step of "
                    "%g s",
                    held->node, world ? "the world" : "link ", world ? "" : model->links[held->link].name,
                    node->place[0], node->place[1], node->place[2], dt);
}

stn_status stn_step_prescribe_nodes(const step_setup *setup, const state_view *state, step_frame *frame,
                                    stn_error *err) {
    const stn_model *model = setup->model;
    bool any = false;
    frame->attached = STN_ARENA_ZEROED(frame->arena, model->attachment_count, attached_node);
    if (frame->attached == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "attached nodes: out of memory");
    }
    for (int32_t i = 0; i < model->attachment_count; i++) {
        attached_node *node = &frame->attached[i];
        node->constraint = -1;
        node->prescribed = !stn_model_body_moves(model, model->attachments[i].body);
        any = any || node->prescribed;
        if (node->prescribed) {
            foresee(setup, state, frame, &model->attachments[i], node);
            if (!stn_vec3_finite(stn_vec3_at(node->velocity, 0))) {
                return refuse_place(model, &model->attachments[i], node, frame->dt, err);
            }
        }
    }
    return any ? prescribe(setup, frame, err) : STN_OK;
}

stn_vec3 stn_step_prescribed_velocity(const step_setup *setup, const step_frame *frame, const stn_contact *contact) {
    stn_vec3 sum = stn_vec3_zero();
    for (int32_t side = 0; side < 2 && setup->model->attachment_count > 0; side++) {
        const stn_support *support = side == 0 ? &contact->a : &contact->b;
        for (int32_t i = 0; support->body < 0 && i < support->node_count; i++) {
            if (!stn_model_node_moves(setup->model, support->node[i])) {
                const attached_node *node = &frame->attached[setup->model->node_attachment[support->node[i]]];
                const stn_vec3 arm = stn_vec3_sub(contact->point, frame->kinematics->node[support->node[i]]);
                const stn_vec3 turning =
                    stn_vec3_cross(stn_vec3_at(node->velocity + 3, 0), arm); // 0 of one that does not turn
                const stn_vec3 u = stn_vec3_add(stn_vec3_at(node->velocity, 0), turning);
                sum = stn_vec3_mul_add(sum, side == 0 ? -support->weight[i] : support->weight[i], u);
            }
        }
    }
    return sum;
}

// -------------------------------------------------------------------------------------------------- after the solve

/// -J_p^T gamma of all contacts with such nodes.
static void add_contact_reactions(const step_setup *setup, step_frame *frame) {
    const stn_problem *p = &frame->problem;
    for (int32_t c = 0; c < p->constraint_count; c++) {
        const stn_constraint *constraint = &p->constraints[c];
        if (constraint->contact < 0) {
            continue;
        }
        const stn_contact *contact = &frame->contacts.contacts[constraint->contact];
        const double *gamma = frame->solution.gamma + constraint->row;
        const stn_vec3 impulse = stn_mat3_apply(&constraint->frame, stn_vec3_at(gamma, 0)); // on B
        for (int32_t side = 0; side < 2; side++) {
            const stn_support *support = side == 0 ? &contact->a : &contact->b;
            for (int32_t i = 0; support->body < 0 && i < support->node_count; i++) {
                if (!stn_model_node_moves(setup->model, support->node[i])) {
                    attached_node *node = &frame->attached[setup->model->node_attachment[support->node[i]]];
                    const double share = side == 0 ? support->weight[i] : -support->weight[i];
                    const stn_vec3 arm = stn_vec3_sub(contact->point, frame->kinematics->node[support->node[i]]);
                    const stn_vec3 moment = stn_vec3_cross(arm, impulse);
                    put_vector(stn_vec3_mul_add(stn_vec3_at(node->impulse, 0), share, impulse), node->impulse);
                    put_vector(stn_vec3_mul_add(stn_vec3_at(node->impulse + 3, 0), share, moment), node->impulse + 3);
                }
            }
        }
    }
}

void stn_step_find_reactions(const step_setup *setup, step_frame *frame) {
    const stn_model *model = setup->model;
    const stn_problem *p = &frame->problem;
    for (int32_t i = 0; i < model->attachment_count; i++) {
        attached_node *node = &frame->attached[i];
        const cloud_node own = node_in_cloud(setup, model->attachments[i].node);
        if (!node->prescribed) { // rows of both constraints follow each other
            const double *gamma = frame->solution.gamma + p->constraints[node->constraint].row;
            memcpy(node->impulse, gamma, (size_t)own.nv * sizeof(double));
            continue;
        }
        if (frame->reaction != NULL) { // the integrator knows
            memcpy(node->impulse, frame->reaction + own.v, (size_t)own.nv * sizeof(double));
            continue;
        }
        const int32_t *row = own.tree->row_start + own.index;
        for (int32_t d = 0; d < own.nv; d++) {
            node->impulse[d] = -node->known[d];
        }
        for (int32_t k = row[0]; k < row[1]; k++) {
            const double *v = frame->solution.v + own.tree->v_start + own.nv * own.tree->column[k];
            add_product(own.nv, 1.0, node->row + (size_t)(own.nv * own.nv) * (size_t)(k - row[0]), v, node->impulse);
        }
    }
    if (model->attachment_count > 0) {
        add_contact_reactions(setup, frame);
    }
}

void stn_step_place_nodes(const step_setup *setup, const step_frame *frame, double *q_next) {
    const stn_model *model = setup->model;
    for (int32_t i = 0; i < model->attachment_count; i++) {
        if (frame->attached[i].prescribed) {
            const cloud_node own = node_in_cloud(setup, model->attachments[i].node);
            memcpy(q_next + own.q, frame->attached[i].place, (size_t)own.nq * sizeof(double));
        }
    }
}

double stn_step_reaction_work(const step_setup *setup, const state_view *state, const step_frame *frame) {
    const stn_model *model = setup->model;
    double work = 0.0;
    for (int32_t i = 0; i < model->attachment_count; i++) {
        const cloud_node own = node_in_cloud(setup, model->attachments[i].node);
        for (int32_t d = 0; frame->attached[i].prescribed && d < own.nv; d++) {
            const double both = state->v[own.v + (size_t)d] + frame->v_next[own.v + (size_t)d];
            work += 0.5 * frame->attached[i].impulse[d] * both;
        }
    }
    return work;
}

int32_t stn_world_attachment_force(const stn_world *world, int32_t number, double force[6]) {
    const stn_observation *o = &world->observation;
    if (o->problem == NULL || number < 0 || number >= o->model->attachment_count) {
        return 0;
    }
    const cloud_node own = node_in_cloud(world->setup, o->model->attachments[number].node);
    for (int32_t d = 0; d < own.nv; d++) {
        force[d] = world->frame.attached[number].impulse[d] / o->problem->dt;
    }
    return own.nv;
}
