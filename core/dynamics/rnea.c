// SPDX-License-Identifier: Apache-2.0
// Inverse dynamics: of one free body here, of a cloud of nodes, and of articulated trees by the kernel.
#include "dynamics/kernels.h"

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
    stn_vec3 swing = stn_vec3_cross(omega, stn_vec3_cross(omega, inertia_moment(i))), spin = inertia_turn(i, omega);
    stn_spatial F = inertia_apply(i, &(stn_spatial){alpha, u});
    F.linear = stn_vec3_add(F.linear, swing);
    F.angular = stn_vec3_add(F.angular, stn_vec3_cross(omega, spin));
    store_free(&F, tau);
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
        k->kernels->inverse_dynamics(k, t, gravity, acceleration, scratch, tau);
    }
}
