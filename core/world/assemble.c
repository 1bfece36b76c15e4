// SPDX-License-Identifier: Apache-2.0
// The rows of the contact problem: one constraint per contact, index for index with the contact set, then those of the
// joints (joint_rows.c) and of constraints of plugins (constraint_rows.c).
#include "world/assemble.h"

#include <string.h>

#include "model/compiled.h"
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

double *append_block(const step_frame *frame, int32_t tree, int32_t count, stn_jacobian *J) {
    double *values = STN_ARENA_ZEROED(frame->arena, count, double);
    *J = (stn_jacobian){.tree = tree, .node_size = frame->problem.trees[tree].A.node_size, .values = values};
    return values;
}

/// Adds to the number of one dof in a row by nodes of one dof each, in ascending order. A row of joints has two at
/// most.
static void add_at_node(stn_jacobian *J, double *row, int32_t dof, double value) {
    int32_t at = 0;
    while (at < J->node_count && J->node[at] < dof) {
        at++;
    }
    if (at == J->node_count || J->node[at] != dof) {
        for (int32_t k = J->node_count++; k > at; k--) {
            J->node[k] = J->node[k - 1];
            row[k] = row[k - 1];
        }
        J->node[at] = dof;
        row[at] = 0.0;
    }
    row[at] += value;
}

bool append_unit_row(const assembly *a, stn_constraint *c, int32_t dof, double value) {
    const stn_model *model = a->setup->model;
    int32_t tree = model->dof_tree[dof], slot = c->J[0].tree < 0 || c->J[0].tree == tree ? 0 : 1;
    stn_jacobian *J = &c->J[slot];
    const bool by_nodes = a->frame->problem.trees[tree].A.form == STN_MATRIX_ARTICULATED;
    const int32_t count = by_nodes ? STN_MAX_NODES : model->trees[tree].nv, own = dof - model->trees[tree].v_start;
    double *row = J->tree == tree ? (double *)(uintptr_t)J->values : append_block(a->frame, tree, count, J);
    if (row != NULL && by_nodes) {
        J->node_size = 1;
        add_at_node(J, row, own, value);
    } else if (row != NULL) {
        row[own] += value;
    }
    return row != NULL;
}

/// -1: its support has no velocity in the problem.
static inline int32_t support_tree(const step_setup *setup, const stn_support *support) {
    if (support->body >= 0) {
        return stn_setup_is_kinematic(setup, support->body) ? -1 : setup->model->bodies[support->body].tree;
    }
    for (int32_t i = 0; i < support->node_count; i++) {
        if (stn_model_node_moves(setup->model, support->node[i])) {
            return setup->node_tree[support->node[0]];
        }
    }
    return -1;
}

/// The Jacobian of a contact of one body of a tree whose motion is told, by its wrench; with values unless A is
/// articulated. False: out of memory.
static bool put_wrench(const assembly *a, const stn_kinematics *k, int32_t body, double sign,
                       const stn_contact *contact, const stn_constraint *c, stn_jacobian *J) {
    const stn_problem_tree *tree = &a->frame->problem.trees[J->tree];
    double *wrench = STN_ARENA(a->frame->arena, 24, double);
    J->wrench = wrench;
    if (wrench == NULL) {
        return false;
    }
    const stn_vec3 arm = stn_vec3_sub(contact->point, k->reference[J->tree]);
    for (int32_t r = 0; r < 3; r++, wrench += 8) {
        const stn_vec3 axis = stn_vec3_scale(sign, stn_mat3_column(&c->frame, r)), moment = stn_vec3_cross(arm, axis);
        wrench[0] = moment.x;
        wrench[1] = moment.y;
        wrench[2] = moment.z;
        wrench[3] = axis.x;
        wrench[4] = axis.y;
        wrench[5] = axis.z;
        wrench[6] = wrench[7] = 0.0;
    }
    J->tip = stn_model_body_velocity(a->setup->model, body);
    if (J->values != NULL) {
        articulated_rows(tree->A.n, tree->parent, tree->motion, J->wrench, J->tip, (double *)(uintptr_t)J->values);
    }
    return true;
}

/// The rows of a body that floats in the world, at `arm` from its origin: S = 1, that of axis e is (e, arm x e).
static inline void put_free_rows(stn_vec3 arm, const stn_vec3 axes[3], double *J) {
    for (int32_t r = 0; r < 3; r++, J += 6) {
        const stn_vec3 turn = stn_vec3_cross(arm, axes[r]);
        J[0] = axes[r].x;
        J[1] = axes[r].y;
        J[2] = axes[r].z;
        J[3] = turn.x;
        J[4] = turn.y;
        J[5] = turn.z;
    }
}

/// The Jacobian where each side is such a body, or has no velocity in the problem. False: it is not so, and nothing is
/// written; `complete`: there was memory.
static bool free_jacobian(const assembly *a, const stn_kinematics *k, const stn_contact *contact, stn_constraint *c,
                          bool *complete) {
    const stn_model *model = a->setup->model;
    const int32_t bodies[2] = {contact->a.body, contact->b.body};
    int32_t tree[2];
    for (int32_t side = 0; side < 2; side++) {
        const int32_t b = bodies[side];
        tree[side] = -1;
        if (b < 0 || (b > 0 && !model_object_of(model)->plan[b].free_root)) {
            return false;
        }
        if (b > 0) {
            tree[side] = model->bodies[b].tree;
            if (model->trees[tree[side]].body_count > 1) {
                return false;
            }
        }
    }
    double *values = STN_ARENA(a->frame->arena, 36, double);
    *complete = values != NULL;
    const stn_mat3 *axes = &c->frame;
    int32_t count = 0;
    for (int32_t side = 0; side < 2 && values != NULL; side++) {
        if (tree[side] < 0) {
            continue;
        }
        const double sign = side == 0 ? -1.0 : 1.0;
        const stn_vec3 signed_axes[3] = {stn_vec3_scale(sign, stn_mat3_column(axes, 0)),
                                         stn_vec3_scale(sign, stn_mat3_column(axes, 1)),
                                         stn_vec3_scale(sign, stn_mat3_column(axes, 2))};
        put_free_rows(stn_vec3_sub(contact->point, k->reference[tree[side]]), signed_axes, values);
        c->J[count].tree = tree[side]; // the rest as append_constraint left it
        c->J[count].values = values;
        values += 18;
        count++;
    }
    return true;
}

/// J_B - J_A along the axes of the contact's frame, in one block where both supports are of one tree; false: out of
/// memory.
static bool contact_jacobian(const assembly *a, const stn_kinematics *k, const stn_contact *contact,
                             stn_constraint *c) {
    const stn_model *model = a->setup->model;
    bool complete = true;
    if (free_jacobian(a, k, contact, c, &complete)) {
        return complete;
    }
    const stn_support *supports[2] = {&contact->a, &contact->b};
    const int32_t trees[2] = {support_tree(a->setup, &contact->a), support_tree(a->setup, &contact->b)};
    double *values[2] = {NULL, NULL};
    int32_t count = 0;
    const bool now = k == a->frame->kinematics && trees[0] != trees[1]; // both bodies of one tree have no wrench
    for (int32_t side = 0; side < 2; side++) {
        if (trees[side] < 0) {
            continue;
        }
        const stn_tree *tree = &model->trees[trees[side]];
        const stn_problem_tree *told = &a->frame->problem.trees[trees[side]];
        const bool moves = now && told->motion != NULL;
        int32_t slot = side == 1 && trees[0] == trees[1] ? 0 : count;
        stn_jacobian *J = &c->J[slot];
        if (slot == count) {
            const int32_t size = stn_node_type_nv(tree->node_type);
            int32_t columns = tree->kind == STN_TREE_NODAL ? size * STN_MAX_NODES : tree->nv;
            if (moves && told->A.form == STN_MATRIX_ARTICULATED) {
                *J = (stn_jacobian){.tree = trees[side]};
            } else {
                values[slot] = append_block(a->frame, trees[side], 3 * columns, J);
                if (values[slot] == NULL) {
                    return false;
                }
            }
            count++;
        }
        const stn_support *support = supports[side];
        double sign = side == 0 ? -1.0 : 1.0;
        if (support->body >= 0 && moves) {
            if (!put_wrench(a, k, support->body, sign, contact, c, J)) {
                return false;
            }
            continue;
        }
        if (support->body >= 0) {
            stn_point_jacobian_add(k, support->body, contact->point, &c->frame, sign, values[slot]);
            continue;
        }
        for (int32_t i = 0; i < support->node_count; i++) {
            if (!stn_model_node_moves(model, support->node[i])) { // the bias has it
                continue;
            }
            const int32_t size = stn_node_type_nv(tree->node_type);
            double *row = values[slot] + 3 * size * J->node_count;
            J->node[J->node_count++] = support->node[i] - tree->node_start;
            for (int32_t r = 0; r < 3; r++, row += size) {
                const stn_vec3 axis = stn_vec3_scale(sign * support->weight[i], stn_mat3_column(&c->frame, r));
                row[0] = axis.x;
                row[1] = axis.y;
                row[2] = axis.z;
                if (size == 6) { // axis . (omega x arm) = (arm x axis) . omega
                    const stn_vec3 arm = stn_vec3_sub(contact->point, k->node[support->node[i]]);
                    const stn_vec3 moment = stn_vec3_cross(arm, axis);
                    row[3] = moment.x;
                    row[4] = moment.y;
                    row[5] = moment.z;
                }
            }
        }
    }
    return true;
}

/// Friction of a contact by direction: its frame, with t1 along the friction direction projected on the plane. Without
/// a direction, and where it is normal to the plane, the frame is the deterministic one; in the latter case every
/// direction lies across, and mu2 acts in all of them.
static void put_friction(const stn_contact *contact, stn_constraint *c) {
    const stn_vec3 n = contact->normal, told = contact->direction;
    c->mu1 = contact->material.mu;
    c->mu2 = contact->mu2;
    if (told.x == 0.0 && told.y == 0.0 && told.z == 0.0) { // the usual case
        c->frame = stn_contact_frame(n);
    } else {
        const stn_vec3 d = stn_vec3_mul_add(told, -stn_vec3_dot(told, n), n);
        const double along = stn_vec3_norm(d), length = stn_vec3_norm(told);
        if (along > DIRECTION_IS_NORMAL * length) {
            const stn_vec3 t1 = stn_vec3_scale(1.0 / along, d);
            c->frame = stn_mat3_columns(t1, stn_vec3_cross(n, t1), n);
        } else {
            c->frame = stn_contact_frame(n);
            c->mu1 = length > 0.0 ? c->mu2 : c->mu1;
        }
    }
    c->set = c->mu1 == c->mu2 ? STN_SET_CONE : STN_SET_ELLIPSE;
}

static void put_bias(step_frame *frame, const stn_constraint *c, stn_vec3 world) {
    stn_vec3 b = stn_mat3_apply_transposed(&c->frame, world);
    double *bias = frame->problem.bias + c->row;
    bias[0] = b.x;
    bias[1] = b.y;
    bias[2] = b.z;
}

static bool add_contact(const assembly *a, int32_t i, patch_pair *pair) {
    step_frame *frame = a->frame;
    const stn_contact *contact = &frame->contacts.contacts[i];
    stn_constraint *c = append_constraint(frame, STN_CONSTRAINT_CONTACT, STN_SET_CONE, 3);
    c->id = contact->id;
    put_friction(contact, c);
    c->point = contact->point;
    c->phi0 = contact->phi0;
    c->stiffness = contact->material.stiffness;
    c->relaxation_time = contact->material.relaxation_time;
    c->dissipation = contact->material.dissipation;
    c->restitution = contact->material.restitution;
    c->body[0] = contact->a.body;
    c->body[1] = contact->b.body;
    c->contact = i;
    c->patch = contact->patch;
    bool done = true;
    if (frame->middle != NULL && frame->middle[i].known) { // it acts where it is later in the step
        const contact_middle *middle = &frame->middle[i];
        stn_contact moved = *contact;
        moved.point = middle->point;
        moved.normal = middle->normal;
        moved.direction = middle->direction;
        put_friction(&moved, c);
        put_bias(frame, c, stn_vec3_add(moved.bias, middle->change));
        done = contact_jacobian(a, frame->scratch_kinematics, &moved, c);
    } else {
        stn_vec3 told = stn_vec3_zero();
        if (a->setup->kinematic_count > 0) {
            told = stn_vec3_sub(stn_step_kinematic_velocity(a->setup, frame, contact->b.body, contact->point),
                                stn_step_kinematic_velocity(a->setup, frame, contact->a.body, contact->point));
        }
        if (a->setup->model->attachment_count > 0) {
            told = stn_vec3_add(told, stn_step_prescribed_velocity(a->setup, frame, contact));
        }
        put_bias(frame, c, stn_vec3_add(contact->bias, told));
        if (contact->patch < 0 || contact->a.body < 0 || contact->b.body < 0) {
            done = contact_jacobian(a, frame->kinematics, contact, c);
        } else { // faces of patches share what their pair does
            done = contact->patch == pair->patch || make_patch_pair(a, contact->patch, pair);
            if (done) {
                add_face_rows(pair, c);
            }
        }
    }
    double mu_static = contact->material.mu_static; // NaN: none
    if (mu_static > contact->material.mu && done) {
        apply_static_friction(a->setup, frame, contact, c);
    } else if (mu_static < contact->material.mu) {
        say_static_friction_lost(a->setup, a->services, contact);
    }
    return done;
}

stn_status stn_step_assemble(const step_setup *setup, const state_view *state, step_frame *frame,
                             step_services *services, stn_error *err) {
    const assembly a = {setup, state, frame, services};
    stn_problem *p = &frame->problem;
    row_count joints = joint_row_count(setup, frame), attached = attachment_row_count(setup), plugins = {0, 0};
    bool complete = count_constraint_rows(&a, &plugins);
    int32_t constraints = frame->contacts.count + joints.constraints + attached.constraints + plugins.constraints;
    int32_t rows = 3 * frame->contacts.count + joints.rows + attached.rows + plugins.rows;
    double **vectors[] = {&p->bias, &p->lo, &p->hi, &p->R, &p->v_hat, &p->gamma_guess, &p->phi};
    frame->assembled = false;
    p->constraints = STN_ARENA(frame->arena, constraints, stn_constraint);
    complete = complete && p->constraints != NULL;
    for (int32_t i = 0; i < STN_COUNT(vectors); i++) {
        *vectors[i] = STN_ARENA(frame->arena, rows, double);
        complete = complete && *vectors[i] != NULL;
    }
    if (!complete) {
        return stn_fail(err, STN_ERR_MEMORY, "assembly: out of memory for %d rows", rows);
    }
    patch_pair pair = {.patch = -1};
    for (int32_t i = 0; i < frame->contacts.count && complete; i++) {
        complete = add_contact(&a, i, &pair);
    }
    if (!complete || !add_joint_rows(&a) || !add_attachment_rows(&a)) {
        return stn_fail(err, STN_ERR_MEMORY, "assembly: out of memory");
    }
    // normal impulses of the step before, for laws that lag and for plugins whose rows stand beside contacts
    stn_status status = stn_step_lag(setup, state, frame, services, err);
    if (status != STN_OK) {
        return status;
    }
    status = add_constraint_rows(&a, plugins.rows, err);
    if (status != STN_OK) {
        return status;
    }
    // what earlier steps left: warm starts and memories, anchors of what sticks
    status = stn_cache_recall(setup, state, frame, services, err);
    if (status != STN_OK) {
        return status;
    }
    status = stn_step_hold(setup, state, frame, err);
    if (status != STN_OK) {
        return status;
    }
    // a solver that works with the Delassus operator meets the same halves again
    bool delassus = (setup->plugin[STN_KIND_SOLVER]->desc->ops.solver->needs & STN_NEEDS_DELASSUS) != 0 &&
                    !stn_setup_integrator_solves(setup);
    status = delassus ? inverse_masses_keeping(services->inverse, p, frame->arena, err)
                      : inverse_masses_missing(services->inverse, p, frame->arena, err);
    add_constraint_inputs(frame);
    frame->assembled = status == STN_OK;
    return status;
}
