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
        const stn_bias_of own = {kinematics->body_velocity, kinematics->bias};
        k->kernels->inverse_dynamics(k, t, gravity, acceleration, own, scratch, tau);
    }
}

/// C(v, w) of a joint's own bias, which is quadratic in the joint's velocities.
static stn_spatial own_polar(const joint_kind *kind, const joint_state *at_joint, int32_t nv, const double *v,
                             const double *w) {
    double middle[6];
    stn_spatial own = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}, part = own;
    for (int32_t j = 0; j < nv; j++) {
        middle[j] = 0.5 * (v[j] + w[j]);
    }
    const struct {
        const double *v;
        double weight;
    } looks[] = {{middle, 2.0}, {v, -0.5}, {w, -0.5}};
    for (int32_t i = 0; i < STN_COUNT(looks); i++) {
        kind->own_bias(at_joint, looks[i].v, &part);
        spatial_add_to(&own, looks[i].weight, &part);
    }
    return own;
}

/// a x b + c x d, halved: of velocities that cross.
static stn_vec3 half_crosses(stn_vec3 a, stn_vec3 b, stn_vec3 c, stn_vec3 d) {
    return stn_vec3_scale(0.5, stn_vec3_add(stn_vec3_cross(a, b), stn_vec3_cross(c, d)));
}

void stn_inverse_dynamics_polar(const stn_kinematics *kinematics, int32_t tree, stn_vec3 gravity, const double *w,
                                const double *acceleration, stn_spatial *scratch, double *tau) {
    const stn_model *model = kinematics->model;
    const stn_tree *t = &model->trees[tree];
    if (t->kind == STN_TREE_NODAL) {
        nodal(kinematics, t, gravity, kinematics->v + t->v_start, w, acceleration, tau);
        return;
    }
    const kinematics_object *k = kinematics_object_of(kinematics);
    const double *v = kinematics->v + t->v_start;
    const stn_spatial zero = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    stn_spatial *W = scratch, *c = W + model->body_count + 1; // of the bodies: velocity from w, bias C(v, w)
    for (int32_t i = t->body_start; i < t->body_start + t->body_count; i++) {
        const body_plan *plan = &k->plan[i];
        if (plan->type == STN_JOINT_KINEMATIC) {
            W[i] = kinematics->body_velocity[i];
            c[i] = kinematics->bias[i];
            continue;
        }
        const stn_spatial *S = kinematics->motion + plan->v;
        stn_spatial Sv = zero, Sw = zero;
        for (int32_t j = 0; j < plan->nv; j++) {
            spatial_add_to(&Sv, v[plan->dof + j], &S[j]);
            spatial_add_to(&Sw, w[plan->dof + j], &S[j]);
        }
        const stn_spatial *up = plan->parent > 0 ? &kinematics->body_velocity[plan->parent] : &zero;
        const stn_spatial *W_up = plan->parent > 0 ? &W[plan->parent] : &zero;
        c[i] = plan->parent > 0 ? c[plan->parent] : zero;
        c[i].angular = stn_vec3_add(c[i].angular, half_crosses(up->angular, Sw.angular, W_up->angular, Sv.angular));
        c[i].linear = stn_vec3_add(c[i].linear, half_crosses(up->angular, Sw.linear, W_up->angular, Sv.linear));
        c[i].linear = stn_vec3_add(c[i].linear, half_crosses(up->linear, Sw.angular, W_up->linear, Sv.angular));
        const joint_kind *kind = joint_kind_get((stn_joint_type)plan->type);
        if (plan->free_root) {
            c[i].linear = stn_vec3_add(c[i].linear, half_crosses(Sv.linear, Sw.angular, Sw.linear, Sv.angular));
        } else if (kind->own_bias != NULL) {
            const stn_joint *joint = &model->joints[plan->joint];
            const joint_state at_joint = {joint, stn_pose_mul(&kinematics->body_pose[plan->parent], &joint->origin),
                                          kinematics->q + plan->q,
                                          stn_vec3_sub(kinematics->body_pose[i].position, kinematics->reference[tree])};
            const stn_spatial own = own_polar(kind, &at_joint, plan->nv, v + plan->dof, w + plan->dof);
            spatial_add_to(&c[i], 1.0, &own);
        }
        W[i] = *W_up;
        spatial_add_to(&W[i], 1.0, &Sw);
    }
    const stn_bias_of polar = {W, c};
    k->kernels->inverse_dynamics(k, t, gravity, acceleration, polar, c + model->body_count + 1, tau);
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
