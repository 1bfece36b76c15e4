// SPDX-License-Identifier: Apache-2.0
// Inverse dynamics (recursive Newton-Euler) at the tree's reference point O, gravity as an acceleration of the frame:
//     A_i = sum of S a down to i + c_i - (0, g),   F_i = I_i A_i + V_i x* (I_i V_i),   tau = S . (sum of F above)
#include "dynamics/kinematics.h"

/// The motion's own force: I A + V x* (I V), with A what the body accelerates by beside gravity's frame.
static inline stn_spatial body_force(const inertia *i, const stn_spatial *v, const stn_spatial *a) {
    stn_spatial p = inertia_apply(i, v), f = inertia_apply(i, a);
    f.angular = stn_vec3_add(f.angular,
                             stn_vec3_add(stn_vec3_cross(v->angular, p.angular), stn_vec3_cross(v->linear, p.linear)));
    f.linear = stn_vec3_add(f.linear, stn_vec3_cross(v->angular, p.linear));
    return f;
}

static void store_free(const stn_spatial *F, double *tau) {
    tau[0] = F->linear.x;
    tau[1] = F->linear.y;
    tau[2] = F->linear.z;
    tau[3] = F->angular.x;
    tau[4] = F->angular.y;
    tau[5] = F->angular.z;
}

/// One body floating in the world: Newton and Euler about its origin, which accelerates by a.
static void free_body(const kinematics_object *k, int32_t body, stn_vec3 gravity, const double *a, double *tau) {
    const inertia *i = &k->inertia[body];
    stn_vec3 omega = k->face.body_velocity[body].angular, alpha = stn_vec3_zero(), u = stn_vec3_neg(gravity);
    if (a != NULL) {
        u = stn_vec3_add(u, stn_vec3_make(a[0], a[1], a[2]));
        alpha = stn_vec3_make(a[3], a[4], a[5]);
    }
    stn_vec3 swing = stn_vec3_cross(omega, stn_vec3_cross(omega, i->h)), spin = inertia_turn(i, omega);
    stn_spatial F = inertia_apply(i, &(stn_spatial){alpha, u});
    F.linear = stn_vec3_add(F.linear, swing);
    F.angular = stn_vec3_add(F.angular, stn_vec3_cross(omega, spin));
    store_free(&F, tau);
}

/// Forces of the bodies alone, at first with nothing that they carry.
static void body_forces(const kinematics_object *k, const stn_tree *tree, stn_vec3 gravity, const double *acceleration,
                        stn_spatial *F) {
    int32_t begin = tree->body_start;
    for (int32_t i = begin; acceleration != NULL && i < begin + tree->body_count; i++) { // sum of S a first
        const body_plan *plan = &k->plan[i];
        stn_spatial *sum = &F[i - begin];
        *sum = plan->parent > 0 ? F[plan->parent - begin] : (stn_spatial){stn_vec3_zero(), stn_vec3_zero()};
        for (int32_t j = 0; j < plan->nv; j++) {
            spatial_add_to(sum, acceleration[plan->dof + j], &k->face.motion[plan->v + j]);
        }
    }
    for (int32_t i = begin; i < begin + tree->body_count; i++) {
        stn_spatial a = k->face.bias[i];
        a.linear = stn_vec3_sub(a.linear, gravity);
        if (acceleration != NULL) {
            spatial_add_to(&a, 1.0, &F[i - begin]);
        }
        F[i - begin] = body_force(&k->inertia[i], &k->face.body_velocity[i], &a);
    }
}

static void articulated(const kinematics_object *k, const stn_tree *tree, stn_vec3 gravity, const double *acceleration,
                        stn_spatial *F, double *tau) {
    int32_t begin = tree->body_start;
    body_forces(k, tree, gravity, acceleration, F);
    for (int32_t i = begin + tree->body_count - 1; i >= begin; i--) {
        const body_plan *plan = &k->plan[i];
        const stn_spatial *force = &F[i - begin];
        if (plan->parent > 0) {
            spatial_add_to(&F[plan->parent - begin], 1.0, force);
        }
        if (plan->free_root) {
            store_free(force, tau + plan->dof);
            continue;
        }
        double rotor = k->face.model->joints[plan->joint].reflected_inertia;
        for (int32_t j = 0; j < plan->nv; j++) {
            double own = acceleration != NULL ? rotor * acceleration[plan->dof + j] : 0.0;
            tau[plan->dof + j] = spatial_dot(&k->face.motion[plan->v + j], force) + own;
        }
    }
}

static void nodal(const stn_tree *tree, const double *node_mass, stn_vec3 gravity, const double *acceleration,
                  double *tau) {
    const double g[3] = {gravity.x, gravity.y, gravity.z};
    for (int32_t i = 0; i < tree->nv; i++) {
        double a = acceleration != NULL ? acceleration[i] : 0.0;
        tau[i] = node_mass[tree->node_start + i / 3] * (a - g[i % 3]);
    }
}

void stn_inverse_dynamics(const stn_kinematics *kinematics, int32_t tree, stn_vec3 gravity, const double *acceleration,
                          stn_spatial *scratch, double *tau) {
    const kinematics_object *k = kinematics_object_of(kinematics);
    const stn_tree *t = &kinematics->model->trees[tree];
    if (t->kind == STN_TREE_NODAL) {
        nodal(t, kinematics->model->node_mass, gravity, acceleration, tau);
    } else if (t->body_count == 1 && k->plan[t->body_start].free_root) {
        free_body(k, t->body_start, gravity, acceleration, tau);
    } else {
        articulated(k, t, gravity, acceleration, scratch, tau);
    }
}
