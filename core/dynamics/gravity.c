// SPDX-License-Identifier: Apache-2.0
// Efforts against gravity: tau_i = -S_i . sum over the bodies that joint i carries of (r x m g, m g), r from the tree's
// reference point to the centre of mass.
#include <stiction/dynamics.h>

void stn_gravity_efforts(const stn_kinematics *kinematics, int32_t t, stn_vec3 gravity, stn_spatial *scratch,
                         double *tau) {
    const stn_model *model = kinematics->model;
    const stn_tree *tree = &model->trees[t];
    for (int32_t i = 0; i < tree->body_count; i++) {
        const stn_body *body = &model->bodies[tree->body_start + i];
        stn_vec3 com = stn_pose_apply(&kinematics->body_pose[tree->body_start + i], body->mass.com);
        stn_vec3 weight = stn_vec3_scale(body->mass.mass, gravity);
        scratch[i] = (stn_spatial){stn_vec3_cross(stn_vec3_sub(com, kinematics->reference[t]), weight), weight};
    }
    for (int32_t i = tree->body_count - 1; i >= 0; i--) {
        const stn_body *body = &model->bodies[tree->body_start + i];
        const stn_joint *joint = &model->joints[body->joint];
        for (int32_t d = joint->v_start; d < joint->v_start + joint->nv; d++) {
            const stn_spatial *s = &kinematics->motion[d];
            tau[d - tree->v_start] =
                -stn_vec3_dot(s->angular, scratch[i].angular) - stn_vec3_dot(s->linear, scratch[i].linear);
        }
        int32_t parent = body->parent - tree->body_start;
        if (parent >= 0) {
            scratch[parent].angular = stn_vec3_add(scratch[parent].angular, scratch[i].angular);
            scratch[parent].linear = stn_vec3_add(scratch[parent].linear, scratch[i].linear);
        }
    }
}
