// SPDX-License-Identifier: Apache-2.0
// The rows of the contact problem: one constraint per contact, index for index with the contact set, then those of the
// joints (joint_rows.c) and of the equality constraints (equality_rows.c).
#include "world/assemble.h"
#include "problem/inverse.h"

stn_constraint *append_constraint(step_frame *frame, stn_constraint_kind kind, stn_constraint_set set, int32_t rows) {
    stn_problem *p = &frame->problem;
    stn_constraint *c = &p->constraints[p->constraint_count++];
    *c = (stn_constraint){
        .kind = kind,
        .set = set,
        .row = p->row_count,
        .rows = rows,
        .J = {{.tree = -1}, {.tree = -1}},
        .phi0 = NAN,
        .stiffness = NAN,
        .relaxation_time = NAN,
        .dissipation = NAN,
        .mu1 = NAN,
        .mu2 = NAN,
        .restitution = NAN,
        .w = NAN,
        .w_trace = NAN,
        .gamma_n0 = NAN,
        .vn0 = NAN,
        .memory = -1,
        .body = {-1, -1},
        .contact = -1,
        .patch = -1,
    };
    for (int32_t r = p->row_count; r < p->row_count + rows; r++) {
        p->bias[r] = p->gamma_guess[r] = 0.0;
        p->lo[r] = -INFINITY;
        p->hi[r] = INFINITY;
        p->R[r] = p->v_hat[r] = p->phi[r] = NAN;
    }
    p->row_count += rows;
    return c;
}

stn_status assemble_out_of_memory(stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "assembly: out of memory");
}

static double *block(const step_frame *frame, int32_t tree, int32_t rows, int32_t columns, stn_jacobian *J) {
    double *values = STN_ARENA_ZEROED(frame->arena, rows * columns, double);
    *J = (stn_jacobian){.tree = tree, .values = values};
    return values;
}

double *append_block(const step_setup *setup, const step_frame *frame, int32_t tree, int32_t rows, stn_jacobian *J) {
    return block(frame, tree, rows, setup->model->trees[tree].nv, J);
}

stn_status append_unit_row(const step_setup *setup, const step_frame *frame, stn_constraint *c, int32_t dof,
                           double value, stn_error *err) {
    int32_t tree = setup->model->dof_tree[dof], slot = c->J[0].tree < 0 || c->J[0].tree == tree ? 0 : 1;
    stn_jacobian *J = &c->J[slot];
    double *row = J->tree == tree ? (double *)(uintptr_t)J->values : append_block(setup, frame, tree, 1, J);
    if (row == NULL) {
        return assemble_out_of_memory(err);
    }
    row[dof - setup->model->trees[tree].v_start] += value;
    return STN_OK;
}

/// -1: its support has no velocity in the problem.
static int32_t support_tree(const step_setup *setup, const stn_support *support) {
    if (support->body >= 0) {
        return stn_setup_is_kinematic(setup, support->body) ? -1 : setup->model->bodies[support->body].tree;
    }
    return setup->node_tree[support->node[0]];
}

/// Adds sign axes^T J of the support of a contact into `values`; for nodes, appends their blocks.
static void add_support(const step_setup *setup, const stn_kinematics *k, const stn_support *support, stn_vec3 point,
                        const stn_mat3 *axes, double sign, stn_jacobian *J, double *values) {
    if (support->body >= 0) {
        stn_point_jacobian_add(k, support->body, point, axes, sign, values);
        return;
    }
    const stn_tree *tree = &setup->model->trees[J->tree];
    for (int32_t i = 0; i < support->node_count; i++) {
        double *block = values + 9 * (size_t)J->node_count;
        J->node[J->node_count++] = support->node[i] - tree->node_start;
        for (int32_t r = 0; r < 3; r++) {
            stn_vec3 axis = stn_mat3_column(axes, r);
            block[3 * r] = sign * support->weight[i] * axis.x;
            block[3 * r + 1] = sign * support->weight[i] * axis.y;
            block[3 * r + 2] = sign * support->weight[i] * axis.z;
        }
    }
}

/// J_B - J_A, in one block where both supports are of one tree.
static stn_status contact_jacobian(const step_setup *setup, const step_frame *frame, const stn_kinematics *k,
                                   const stn_contact *contact, stn_constraint *c, stn_error *err) {
    int32_t tree_a = support_tree(setup, &contact->a), tree_b = support_tree(setup, &contact->b);
    int32_t count = 0;
    const stn_support *supports[2] = {&contact->a, &contact->b};
    const int32_t trees[2] = {tree_a, tree_b};
    double *values[2] = {NULL, NULL};
    for (int32_t side = 0; side < 2; side++) {
        if (trees[side] < 0) {
            continue;
        }
        int32_t slot = side == 1 && tree_a == tree_b ? 0 : count;
        if (slot == count) {
            bool nodal = setup->model->trees[trees[side]].kind == STN_TREE_NODAL;
            int32_t columns = nodal ? 3 * STN_MAX_NODES : setup->model->trees[trees[side]].nv;
            values[slot] = block(frame, trees[side], 3, columns, &c->J[slot]);
            if (values[slot] == NULL) {
                return assemble_out_of_memory(err);
            }
            count++;
        }
        add_support(setup, k, supports[side], contact->point, &c->frame, side == 0 ? -1.0 : 1.0, &c->J[slot],
                    values[slot]);
    }
    return STN_OK;
}

/// t1 along the material direction projected on the plane; the deterministic frame otherwise.
static stn_mat3 frame_of(const stn_contact *contact) {
    stn_vec3 n = contact->normal;
    stn_vec3 d = stn_vec3_mul_add(contact->direction, -stn_vec3_dot(contact->direction, n), n);
    if (stn_vec3_norm(d) > 1e-9 * stn_vec3_norm(contact->direction)) {
        stn_vec3 t1 = stn_vec3_scale(1.0 / stn_vec3_norm(d), d);
        return stn_mat3_columns(t1, stn_vec3_cross(n, t1), n);
    }
    return stn_contact_frame(n);
}

/// Faces of patches share what their pair does.
static stn_status add_jacobian(const step_setup *setup, step_frame *frame, const step_services *services,
                               const stn_contact *contact, patch_pair *pair, stn_constraint *c, stn_error *err) {
    if (contact->patch < 0 || contact->a.body < 0 || contact->b.body < 0) {
        return contact_jacobian(setup, frame, frame->kinematics, contact, c, err);
    }
    stn_status status =
        contact->patch != pair->patch ? make_patch_pair(setup, frame, services, contact->patch, pair, err) : STN_OK;
    if (status == STN_OK) {
        add_face_rows(pair, c);
    }
    return status;
}

/// What acts where contact i is later in the step.
static stn_status add_middle(const step_setup *setup, step_frame *frame, int32_t i, stn_constraint *c, stn_error *err) {
    const contact_middle *middle = &frame->middle[i];
    stn_contact moved = frame->contacts.contacts[i];
    double *bias = frame->problem.bias + c->row;
    moved.point = middle->point;
    moved.normal = middle->normal;
    moved.direction = middle->direction;
    c->frame = frame_of(&moved);
    stn_vec3 b = stn_mat3_apply_transposed(&c->frame, stn_vec3_add(moved.bias, middle->change));
    bias[0] = b.x;
    bias[1] = b.y;
    bias[2] = b.z;
    return contact_jacobian(setup, frame, frame->scratch_kinematics, &moved, c, err);
}

static stn_status add_contact(const step_setup *setup, step_frame *frame, step_services *services, int32_t i,
                              patch_pair *pair, stn_error *err) {
    const stn_contact *contact = &frame->contacts.contacts[i];
    stn_problem *p = &frame->problem;
    bool isotropic = contact->material.mu == contact->mu2; // NaN cannot come here: the set was checked
    stn_constraint *c = append_constraint(frame, STN_CONSTRAINT_CONTACT, isotropic ? STN_SET_CONE : STN_SET_ELLIPSE, 3);
    c->id = contact->id;
    c->frame = frame_of(contact);
    c->point = contact->point;
    c->phi0 = contact->phi0;
    c->stiffness = contact->material.stiffness;
    c->relaxation_time = contact->material.relaxation_time;
    c->dissipation = contact->material.dissipation;
    c->mu1 = contact->material.mu;
    c->mu2 = contact->mu2;
    c->restitution = contact->material.restitution;
    c->body[0] = contact->a.body;
    c->body[1] = contact->b.body;
    c->contact = i;
    c->patch = contact->patch;
    stn_vec3 told = stn_vec3_sub(stn_step_kinematic_velocity(setup, frame, contact->b.body, contact->point),
                                 stn_step_kinematic_velocity(setup, frame, contact->a.body, contact->point));
    stn_vec3 bias = stn_mat3_apply_transposed(&c->frame, stn_vec3_add(contact->bias, told));
    p->bias[c->row] = bias.x;
    p->bias[c->row + 1] = bias.y;
    p->bias[c->row + 2] = bias.z;
    bool later = frame->middle != NULL && frame->middle[i].known;
    stn_status status =
        later ? add_middle(setup, frame, i, c, err) : add_jacobian(setup, frame, services, contact, pair, c, err);
    double mu_static = contact->material.mu_static; // NaN: none
    if (mu_static > contact->material.mu && status == STN_OK) {
        apply_static_friction(setup, frame, contact, c);
    } else if (mu_static < contact->material.mu) {
        say_static_friction_lost(setup, services, contact);
    }
    return status;
}

static stn_status allocate_rows(const step_setup *setup, step_frame *frame, stn_error *err) {
    stn_problem *p = &frame->problem;
    row_count joints = joint_row_count(setup, frame), equalities = equality_row_count(setup);
    int32_t rows = 3 * frame->contacts.count + joints.rows + equalities.rows;
    p->constraints =
        STN_ARENA(frame->arena, frame->contacts.count + joints.constraints + equalities.constraints, stn_constraint);
    double **vectors[] = {&p->bias, &p->lo, &p->hi, &p->R, &p->v_hat, &p->gamma_guess, &p->phi};
    bool complete = p->constraints != NULL;
    for (int32_t i = 0; i < STN_COUNT(vectors); i++) {
        *vectors[i] = STN_ARENA(frame->arena, rows, double);
        complete = complete && *vectors[i] != NULL;
    }
    return complete ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "assembly: out of memory for %d rows", rows);
}

/// A solver that works with the Delassus operator meets the same halves again.
static stn_status update_masses(const step_setup *setup, step_frame *frame, const step_services *services,
                                stn_error *err) {
    bool delassus = (setup->plugin[STN_KIND_SOLVER]->desc->ops.solver->needs & STN_NEEDS_DELASSUS) != 0;
    return delassus ? inverse_masses_keeping(services->inverse, &frame->problem, frame->arena, err)
                    : inverse_masses_missing(services->inverse, &frame->problem, frame->arena, err);
}

stn_status stn_step_assemble(const step_setup *setup, const state_view *state, step_frame *frame,
                             step_services *services, stn_error *err) {
    stn_status status = allocate_rows(setup, frame, err);
    patch_pair pair = {.patch = -1};
    for (int32_t i = 0; i < frame->contacts.count && status == STN_OK; i++) {
        status = add_contact(setup, frame, services, i, &pair, err);
    }
    status = status == STN_OK ? add_joint_rows(setup, state, frame, err) : status;
    status = status == STN_OK ? add_equality_rows(setup, frame, err) : status;
    status = status == STN_OK ? stn_cache_recall(setup, state, frame, services, err) : status;
    status = status == STN_OK ? stn_step_lag(setup, state, frame, services, err) : status;
    status = status == STN_OK ? stn_step_hold(setup, state, frame, err) : status;
    status = status == STN_OK ? update_masses(setup, frame, services, err) : status;
    frame->assembled = status == STN_OK;
    return status;
}
