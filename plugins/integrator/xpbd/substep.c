// SPDX-License-Identifier: Apache-2.0
// The mass of a node: of a frame about its centre, with the axes of the sub-step's start.
#include "substep.h"

void substep_divide_by_mass(const substep *s, int32_t node, double *x) {
    const stn_model *model = s->view->model;
    const double mass = model->node_mass[node];
    for (int32_t k = 0; k < 3; k++) {
        x[k] /= mass;
    }
    if (model->trees[model->node_tree[node]].node_type == STN_NODE_FRAME) {
        const double *principal = model->node_inertia + 3 * (size_t)node;
        const stn_mat3 *R = &s->kinematics->node_pose[node].rotation;
        stn_vec3 own = stn_mat3_apply_transposed(R, stn_vec3_at(x, 1));
        own = stn_mat3_apply(R, stn_vec3_make(own.x / principal[0], own.y / principal[1], own.z / principal[2]));
        x[3] = own.x;
        x[4] = own.y;
        x[5] = own.z;
    }
}

void substep_mass_times(const substep *s, int32_t node, const double *x, double *y) {
    const stn_model *model = s->view->model;
    for (int32_t k = 0; k < 3; k++) {
        y[k] += model->node_mass[node] * x[k];
    }
    if (model->trees[model->node_tree[node]].node_type == STN_NODE_FRAME) {
        const stn_mat3 I = stn_node_inertia(s->kinematics, node);
        const stn_vec3 moment = stn_mat3_apply(&I, stn_vec3_at(x, 1));
        y[3] += moment.x;
        y[4] += moment.y;
        y[5] += moment.z;
    }
}
