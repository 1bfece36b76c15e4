// SPDX-License-Identifier: Apache-2.0
// Rows of attached nodes whose body moves by forces: the node's place x and the one on the body meet, as those of a
// rigid weld do,
//
//     phi = x - x_B,    phi' = v - v_B(x),
//
// and of a node that turns so do the orientations: phi is the rotation vector from that on the body to its own, phi' =
// w - w_B. Both sides are pushed at x, so that the rows keep angular momentum also while the two places are apart.
#include "world/assemble.h"

/// Has its cloud nodes that turn?
static bool turns(const step_setup *setup, const stn_node_attachment *held) {
    const stn_tree *tree = &setup->model->trees[setup->node_tree[held->node]];
    return tree->nv == 6 * tree->node_count;
}

row_count attachment_row_count(const step_setup *setup) {
    const stn_model *model = setup->model;
    row_count count = {0, 0};
    for (int32_t i = 0; i < model->attachment_count; i++) {
        if (stn_model_body_moves(model, model->attachments[i].body)) {
            const int32_t blocks = turns(setup, &model->attachments[i]) ? 2 : 1;
            count.constraints += blocks;
            count.rows += 3 * blocks;
        }
    }
    return count;
}

/// Where the node is beside its place on the body, or how it is turned against it.
static stn_vec3 error_of(const assembly *a, const stn_node_attachment *held, bool turning) {
    const stn_kinematics *kinematics = a->frame->kinematics;
    const stn_pose *body = &kinematics->body_pose[held->body];
    if (!turning) {
        return stn_vec3_sub(kinematics->node[held->node], stn_pose_apply(body, held->point));
    }
    const stn_tree *tree = &a->setup->model->trees[a->setup->node_tree[held->node]];
    const double *q = a->state->q + tree->q_start + 7 * (held->node - tree->node_start) + 3;
    const stn_quat there = stn_quat_mul(stn_quat_from_matrix(&body->rotation), held->orientation);
    const stn_quat back = {there.w, -there.x, -there.y, -there.z};
    return stn_quat_log(stn_quat_mul((stn_quat){q[0], q[1], q[2], q[3]}, back));
}

/// Three rows of attachment `number`; false: out of memory.
static bool add_rows(const assembly *a, int32_t number, bool turning) {
    const stn_model *model = a->setup->model;
    const stn_node_attachment *held = &model->attachments[number];
    const stn_kinematics *kinematics = a->frame->kinematics;
    stn_problem *p = &a->frame->problem;
    const int32_t key[2] = {number, turning};
    stn_constraint *c = append_constraint(a->frame, STN_CONSTRAINT_WELD, STN_SET_EQUALITY, 3);
    c->id = stn_hash(0x6174746163686564u, key, sizeof key);
    c->body[1] = held->body;
    c->stiffness = (double)INFINITY;
    c->relaxation_time = 0.0;
    c->point = kinematics->node[held->node];
    c->frame = stn_mat3_identity();
    const stn_vec3 error = error_of(a, held, turning);
    p->phi[c->row] = error.x;
    p->phi[c->row + 1] = error.y;
    p->phi[c->row + 2] = error.z;
    const int32_t cloud = a->setup->node_tree[held->node], body_tree = model->bodies[held->body].tree;
    const int32_t size = model->trees[cloud].nv / model->trees[cloud].node_count;
    double *node = append_block(a->frame, cloud, 3 * size, &c->J[0]);
    double *body = append_block(a->frame, body_tree, 3 * model->trees[body_tree].nv, &c->J[1]);
    if (node == NULL || body == NULL) {
        return false;
    }
    c->J[0].node_count = 1;
    c->J[0].node[0] = held->node - model->trees[cloud].node_start;
    for (int32_t r = 0; r < 3; r++) {
        node[size * r + r + (turning ? 3 : 0)] = 1.0;
    }
    if (turning) {
        stn_angular_jacobian_add(kinematics, held->body, &c->frame, -1.0, body);
    } else {
        stn_point_jacobian_add(kinematics, held->body, c->point, &c->frame, -1.0, body);
    }
    return true;
}

bool add_attachment_rows(const assembly *a) {
    const stn_model *model = a->setup->model;
    bool complete = true;
    for (int32_t i = 0; i < model->attachment_count && complete; i++) {
        if (stn_model_body_moves(model, model->attachments[i].body)) {
            a->frame->attached[i].constraint = a->frame->problem.constraint_count;
            complete = add_rows(a, i, false) && (!turns(a->setup, &model->attachments[i]) || add_rows(a, i, true));
        }
    }
    return complete;
}
