// SPDX-License-Identifier: Apache-2.0
// Rows of attached nodes whose body moves by forces: the node's place x and the one on the body meet, as those of a
// rigid weld do,
//
//     phi = x - x_B,    phi' = v - v_B(x) .
//
// Both sides are pushed at x, so that the rows keep angular momentum also while the two places are apart.
#include "world/assemble.h"

row_count attachment_row_count(const step_setup *setup) {
    const stn_model *model = setup->model;
    row_count count = {0, 0};
    for (int32_t i = 0; i < model->attachment_count; i++) {
        const bool moves = stn_model_body_moves(model, model->attachments[i].body);
        count.constraints += moves ? 1 : 0;
        count.rows += moves ? 3 : 0;
    }
    return count;
}

static bool add_rows(const assembly *a, int32_t number) {
    const stn_model *model = a->setup->model;
    const stn_node_attachment *held = &model->attachments[number];
    const stn_kinematics *kinematics = a->frame->kinematics;
    stn_problem *p = &a->frame->problem;
    a->frame->attached[number].constraint = p->constraint_count;
    stn_constraint *c = append_constraint(a->frame, STN_CONSTRAINT_WELD, STN_SET_EQUALITY, 3);
    c->id = stn_hash(0x6174746163686564u, &number, sizeof number);
    c->body[1] = held->body;
    c->stiffness = (double)INFINITY;
    c->relaxation_time = 0.0;
    c->point = kinematics->node[held->node];
    c->frame = stn_mat3_identity();
    const stn_vec3 apart = stn_vec3_sub(c->point, stn_pose_apply(&kinematics->body_pose[held->body], held->point));
    p->phi[c->row] = apart.x;
    p->phi[c->row + 1] = apart.y;
    p->phi[c->row + 2] = apart.z;
    const int32_t cloud = a->setup->node_tree[held->node], body_tree = model->bodies[held->body].tree;
    double *node = append_block(a->frame, cloud, 9, &c->J[0]);
    double *body = append_block(a->frame, body_tree, 3 * model->trees[body_tree].nv, &c->J[1]);
    if (node == NULL || body == NULL) {
        return false;
    }
    c->J[0].node_count = 1;
    c->J[0].node[0] = held->node - model->trees[cloud].node_start;
    node[0] = node[4] = node[8] = 1.0;
    stn_point_jacobian_add(kinematics, held->body, c->point, &c->frame, -1.0, body);
    return true;
}

bool add_attachment_rows(const assembly *a) {
    const stn_model *model = a->setup->model;
    bool complete = true;
    for (int32_t i = 0; i < model->attachment_count && complete; i++) {
        complete = !stn_model_body_moves(model, model->attachments[i].body) || add_rows(a, i);
    }
    return complete;
}
