// SPDX-License-Identifier: Apache-2.0
// Inverse dynamics: of one free body here, of a cloud of nodes, and of articulated trees by the kernel; with the forces
// c(v) = C(v, v) of the velocities of the kinematics, or with C(v, w).
#include <stiction/dynamics.h>

#include "dynamics/tree_kernels.h"

static stn_vec3 at(const double *x) {
    return stn_vec3_make(x[0], x[1], x[2]);
}

/// Of a cloud with velocities v and w (n_t; NULL: at rest): Newton for every node, and Euler for those that are frames.
static void nodal(const stn_kinematics *k, const stn_tree *tree, stn_vec3 gravity, const double *v, const double *w,
                  const double *acceleration, double *tau) {
    const double *mass = k->model->node_mass + tree->node_start, g[3] = {gravity.x, gravity.y, gravity.z};
    const int32_t nv = stn_node_type_nv(tree->node_type);
    const bool lumped = tree->mass == NULL;
    for (int32_t i = 0; i < tree->nv; i++) {
        const double a = acceleration != NULL && lumped ? acceleration[i] : 0.0;
        tau[i] = i % nv < 3 ? mass[i / nv] * (a - g[i % nv]) : a;
    }
    for (int32_t i = 0; i < tree->node_count && !lumped && acceleration != NULL; i++) {
        for (int32_t e = tree->row_start[i]; e < tree->row_start[i + 1]; e++) {
            for (int32_t r = 0; r < 3; r++) {
                tau[3 * i + r] += tree->mass[e] * acceleration[3 * tree->column[e] + r];
            }
        }
    }
    for (int32_t i = 0; i < tree->node_count && tree->node_type == STN_NODE_FRAME && v != NULL; i++) {
        double *torque = tau + 6 * i + 3; // holds the angular acceleration
        const stn_vec3 alpha = at(torque), a = at(v + 6 * i + 3), b = at(w + 6 * i + 3);
        const stn_mat3 I = stn_node_inertia(k, tree->node_start + i);
        const stn_vec3 spin =
            stn_vec3_add(stn_vec3_cross(a, stn_mat3_apply(&I, b)), stn_vec3_cross(b, stn_mat3_apply(&I, a)));
        const stn_vec3 sum = stn_vec3_mul_add(stn_mat3_apply(&I, alpha), 0.5, spin);
        torque[0] = sum.x;
        torque[1] = sum.y;
        torque[2] = sum.z;
    }
}

void stn_inverse_dynamics(const stn_kinematics *kinematics, int32_t tree, stn_vec3 gravity, const double *acceleration,
                          stn_spatial *scratch, double *tau) {
    const kinematics_object *k = kinematics_object_of(kinematics);
    const stn_tree *t = &kinematics->model->trees[tree];
    if (t->kind == STN_TREE_NODAL) {
        nodal(kinematics, t, gravity, kinematics->v + t->v_start, kinematics->v + t->v_start, acceleration, tau);
    } else if (t->body_count == 1 && k->plan[t->body_start].free_root) {
        // One body floating in the world: Newton and Euler about its origin, which accelerates by a.
        int32_t body = t->body_start;
        const inertia *i = &k->inertia[body];
        stn_vec3 omega = k->face.body_velocity[body].angular, alpha = stn_vec3_zero(), u = stn_vec3_neg(gravity);
        if (acceleration != NULL) {
            u = stn_vec3_add(u, stn_vec3_make(acceleration[0], acceleration[1], acceleration[2]));
            alpha = stn_vec3_make(acceleration[3], acceleration[4], acceleration[5]);
        }
        stn_vec3 swing = stn_vec3_cross(omega, stn_vec3_cross(omega, inertia_moment(i))), spin = inertia_turn(i, omega);
        stn_spatial F = inertia_apply(i, &(stn_spatial){alpha, u});
        F.linear = stn_vec3_add(F.linear, swing);
        F.angular = stn_vec3_add(F.angular, stn_vec3_cross(omega, spin));
        tau[0] = F.linear.x;
        tau[1] = F.linear.y;
        tau[2] = F.linear.z;
        tau[3] = F.angular.x;
        tau[4] = F.angular.y;
        tau[5] = F.angular.z;
    } else {
        k->kernels->inverse_dynamics(k, t, gravity, acceleration, scratch, tau);
    }
}

void stn_inverse_dynamics_polar(const stn_kinematics *kinematics, int32_t tree, stn_vec3 gravity, const double *w,
                                const double *acceleration, stn_spatial *scratch, double *tau) {
    const kinematics_object *k = kinematics_object_of(kinematics);
    const stn_tree *t = &kinematics->model->trees[tree];
    if (t->kind == STN_TREE_NODAL) {
        nodal(kinematics, t, gravity, kinematics->v + t->v_start, w, acceleration, tau);
    } else {
        k->kernels->inverse_dynamics_polar(k, t, gravity, w, acceleration, scratch, tau);
    }
}

// --------------------------------------------------------------------------------------- efforts against gravity
// Efforts against gravity: tau_i = -S_i . sum over the bodies that joint i carries of (r x m g, m g), r from the tree's
// reference point to the centre of mass; of nodes -m g.

void stn_gravity_efforts(const stn_kinematics *kinematics, int32_t t, stn_vec3 gravity, stn_spatial *scratch,
                         double *tau) {
    const stn_model *model = kinematics->model;
    const stn_tree *tree = &model->trees[t];
    if (tree->kind == STN_TREE_NODAL) {
        nodal(kinematics, tree, gravity, NULL, NULL, NULL, tau);
        return;
    }
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
