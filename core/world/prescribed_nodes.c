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
//     R_p = A_pp (u - v*_p) + A_pf (v_f - v*_f) - r_p - J_p^T gamma .
//
// u leads to the node's place on the body in schemes that move q by v. Where q moves by a mean of velocities such a u
// would swing from step to step about the motion of the body: there it is the velocity that the body has at the node
// at the step's end. Either way q of the node is the place itself when the step is made, so that nothing drifts.
#include <string.h>

#include "world/world.h"

enum { SIZE = 3, BLOCK = SIZE * SIZE }; // of a node's velocity

static stn_vec3 vector_at(const double *x) {
    return stn_vec3_make(x[0], x[1], x[2]);
}

static void put_vector(stn_vec3 v, double *x) {
    x[0] = v.x;
    x[1] = v.y;
    x[2] = v.z;
}

/// Place and velocity of the node at the step's end.
static void foresee(const step_setup *setup, const state_view *state, const step_frame *frame,
                    const stn_node_attachment *held, attached_node *node) {
    const stn_problem *p = &frame->problem;
    const int32_t dof = setup->node_dof[held->node];
    const stn_vec3 now = frame->kinematics->node[held->node];
    const stn_pose end = stn_step_kinematic_end(setup, state, frame, held->body);
    node->place = stn_pose_apply(&end, held->point);
    if (p->velocity_kind == STN_VELOCITY_END && frame->force_theta_vq == 1.0) {
        node->velocity = stn_vec3_scale(1.0 / frame->dt, stn_vec3_sub(node->place, now));
        return;
    }
    const stn_vec3 here = stn_pose_apply(&frame->kinematics->body_pose[held->body], held->point);
    const stn_vec3 u = stn_step_kinematic_velocity(setup, frame, held->body, here);
    const double theta = p->velocity_kind == STN_VELOCITY_MID ? p->theta : 1.0;
    node->velocity = stn_vec3_mul_add(stn_vec3_scale(1.0 - theta, vector_at(state->v + dof)), theta, u);
}

/// Block (row, column) of the matrix, which is in its pattern.
static double *block_at(const stn_matrix *A, int32_t row, int32_t column) {
    int32_t low = A->row_start[row], high = A->row_start[row + 1] - 1;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (A->column[middle] < column) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return A->values + BLOCK * (size_t)low;
}

/// Keeps the node's row of A and what belongs to it: r_p + A_p v*. False: out of memory.
static bool keep_row(const step_frame *frame, const stn_problem_tree *tree, int32_t n, attached_node *node) {
    const stn_problem *p = &frame->problem;
    const stn_matrix *A = &tree->A;
    const int32_t first = A->row_start[n], count = A->row_start[n + 1] - first;
    double known[SIZE];
    node->row = STN_ARENA(frame->arena, BLOCK * (size_t)count, double);
    if (node->row == NULL) {
        return false;
    }
    memcpy(node->row, A->values + BLOCK * (size_t)first, BLOCK * (size_t)count * sizeof(double));
    memcpy(known, p->free_impulse + tree->dof_start + SIZE * n, sizeof known);
    for (int32_t k = 0; k < count; k++) {
        const double *x = p->v_star + tree->dof_start + SIZE * A->column[first + k];
        for (int32_t i = 0; i < BLOCK; i++) {
            known[i / SIZE] += node->row[BLOCK * (size_t)k + (size_t)i] * x[i % SIZE];
        }
    }
    node->known = vector_at(known);
    return true;
}

/// Takes the node's row and column out of A, and moves the column times u - v*_p to the right side.
static void take_out(step_frame *frame, const stn_problem_tree *tree, int32_t n, const double *mass,
                     const attached_node *node) {
    stn_problem *p = &frame->problem;
    const stn_matrix *A = &tree->A;
    const double *v_star = p->v_star + tree->dof_start + SIZE * n;
    double change[SIZE];
    put_vector(stn_vec3_sub(node->velocity, vector_at(v_star)), change);
    for (int32_t k = A->row_start[n]; k < A->row_start[n + 1]; k++) {
        double *own = A->values + BLOCK * (size_t)k, *other = block_at(A, A->column[k], n);
        double *impulse = p->free_impulse + tree->dof_start + SIZE * A->column[k];
        for (int32_t i = 0; i < BLOCK; i++) {
            impulse[i / SIZE] -= other[i] * change[i % SIZE];
        }
        memset(own, 0, BLOCK * sizeof *own);
        memset(other, 0, BLOCK * sizeof *other);
    }
    double *diagonal = block_at(A, n, n);
    for (int32_t r = 0; r < SIZE; r++) {
        diagonal[(SIZE + 1) * r] = mass[SIZE * n + r];
    }
}

static stn_status prescribe(const step_setup *setup, step_frame *frame, stn_error *err) {
    const stn_model *model = setup->model;
    const stn_problem *p = &frame->problem;
    double *mass = STN_ARENA(frame->arena, model->nv, double);
    bool whole = mass != NULL;
    for (int32_t i = 0; i < model->attachment_count && whole; i++) {
        const int32_t node = model->attachments[i].node, t = setup->node_tree[node];
        if (frame->attached[i].prescribed) {
            whole = keep_row(frame, &p->trees[t], node - model->trees[t].node_start, &frame->attached[i]);
        }
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
        const int32_t node = model->attachments[i].node, t = setup->node_tree[node];
        if (frame->attached[i].prescribed) {
            take_out(frame, &p->trees[t], node - model->trees[t].node_start, mass + model->trees[t].v_start,
                     &frame->attached[i]);
        }
    }
    for (int32_t i = 0; i < model->attachment_count; i++) { // v* of all of them was needed until here
        const int32_t dof = setup->node_dof[model->attachments[i].node];
        if (frame->attached[i].prescribed) {
            put_vector(frame->attached[i].velocity, p->v_star + dof);
            put_vector(frame->attached[i].velocity, p->v_guess + dof);
            memset(p->free_impulse + dof, 0, SIZE * sizeof(double));
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
                    node->place.x, node->place.y, node->place.z, dt);
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
            if (!stn_vec3_finite(node->velocity)) {
                return refuse_place(model, &model->attachments[i], node, frame->dt, err);
            }
        }
    }
    return any ? prescribe(setup, frame, err) : STN_OK;
}

stn_vec3 stn_step_prescribed_velocity(const step_setup *setup, const step_frame *frame, const stn_contact *contact) {
    stn_vec3 u = stn_vec3_zero();
    for (int32_t side = 0; side < 2 && setup->model->attachment_count > 0; side++) {
        const stn_support *support = side == 0 ? &contact->a : &contact->b;
        for (int32_t i = 0; support->body < 0 && i < support->node_count; i++) {
            if (!stn_model_node_moves(setup->model, support->node[i])) {
                const attached_node *node = &frame->attached[setup->model->node_attachment[support->node[i]]];
                u = stn_vec3_mul_add(u, side == 0 ? -support->weight[i] : support->weight[i], node->velocity);
            }
        }
    }
    return u;
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
        const stn_vec3 impulse = stn_mat3_apply(&constraint->frame, vector_at(gamma)); // on B
        for (int32_t side = 0; side < 2; side++) {
            const stn_support *support = side == 0 ? &contact->a : &contact->b;
            for (int32_t i = 0; support->body < 0 && i < support->node_count; i++) {
                if (!stn_model_node_moves(setup->model, support->node[i])) {
                    attached_node *node = &frame->attached[setup->model->node_attachment[support->node[i]]];
                    const double share = side == 0 ? support->weight[i] : -support->weight[i];
                    node->impulse = stn_vec3_mul_add(node->impulse, share, impulse);
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
        const int32_t number = model->attachments[i].node;
        const stn_tree *tree = &model->trees[setup->node_tree[number]];
        if (!node->prescribed) {
            node->impulse = vector_at(frame->solution.gamma + p->constraints[node->constraint].row);
            continue;
        }
        double impulse[SIZE] = {-node->known.x, -node->known.y, -node->known.z};
        const int32_t *row = tree->row_start + (number - tree->node_start);
        for (int32_t k = row[0]; k < row[1]; k++) {
            const double *x = frame->solution.v + tree->v_start + SIZE * tree->column[k];
            const double *block = node->row + BLOCK * (size_t)(k - row[0]);
            for (int32_t e = 0; e < BLOCK; e++) {
                impulse[e / SIZE] += block[e] * x[e % SIZE];
            }
        }
        node->impulse = vector_at(impulse);
    }
    if (model->attachment_count > 0) {
        add_contact_reactions(setup, frame);
    }
}

void stn_step_place_nodes(const step_setup *setup, const step_frame *frame, double *q_next) {
    const stn_model *model = setup->model;
    for (int32_t i = 0; i < model->attachment_count; i++) {
        if (frame->attached[i].prescribed) {
            const int32_t node = model->attachments[i].node;
            const stn_tree *tree = &model->trees[setup->node_tree[node]];
            put_vector(frame->attached[i].place, q_next + tree->q_start + 3 * (node - tree->node_start));
        }
    }
}

double stn_step_reaction_work(const step_setup *setup, const state_view *state, const step_frame *frame) {
    const stn_model *model = setup->model;
    double work = 0.0;
    for (int32_t i = 0; i < model->attachment_count; i++) {
        if (frame->attached[i].prescribed) {
            const int32_t dof = setup->node_dof[model->attachments[i].node];
            const stn_vec3 both = stn_vec3_add(vector_at(state->v + dof), vector_at(frame->v_next + dof));
            work += 0.5 * stn_vec3_dot(frame->attached[i].impulse, both);
        }
    }
    return work;
}

int32_t stn_world_attachment_force(const stn_world *world, int32_t number, double force[6]) {
    const stn_observation *o = &world->observation;
    if (o->problem == NULL || number < 0 || number >= o->model->attachment_count) {
        return 0;
    }
    put_vector(stn_vec3_scale(1.0 / o->problem->dt, world->frame.attached[number].impulse), force);
    return SIZE;
}
