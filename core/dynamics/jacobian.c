// SPDX-License-Identifier: Apache-2.0
// Point velocities and Jacobians. A column (a, l) of S at O moves the point p by l + a x (p - O); only the joints
// between a body and the world have columns that move it.
#include "dynamics/kinematics.h"

stn_vec3 stn_point_velocity(const stn_kinematics *kinematics, int32_t body, stn_vec3 point) {
    int32_t tree = kinematics->model->bodies[body].tree;
    if (tree < 0) {
        return stn_vec3_zero();
    }
    const stn_spatial *v = &kinematics->body_velocity[body];
    return stn_vec3_add(v->linear, stn_vec3_cross(v->angular, stn_vec3_sub(point, kinematics->reference[tree])));
}

/// Adds s axes^T u to column `column` of J.
static inline void add_column(const stn_mat3 *axes, double s, stn_vec3 u, int32_t n, int32_t column, double *J) {
    stn_vec3 row = stn_mat3_apply_transposed(axes, u);
    J[column] += s * row.x;
    J[n + column] += s * row.y;
    J[2 * n + column] += s * row.z;
}

void stn_point_jacobian_add(const stn_kinematics *kinematics, int32_t body, stn_vec3 point, const stn_mat3 *axes,
                            double sign, double *J) {
    const body_plan *plans = kinematics_object_of(kinematics)->plan;
    int32_t tree = kinematics->model->bodies[body].tree;
    if (tree < 0) {
        return;
    }
    int32_t n = kinematics->model->trees[tree].nv;
    stn_vec3 r = stn_vec3_sub(point, kinematics->reference[tree]);
    for (int32_t i = body; i > 0; i = plans[i].parent) {
        const body_plan *plan = &plans[i];
        for (int32_t k = 0; plan->free_root && k < 3; k++) { // S = 1: the row of axis e is (e, r x e)
            stn_vec3 e = stn_mat3_column(axes, k), turn = stn_vec3_cross(r, e);
            const double added[6] = {sign * e.x, sign * e.y, sign * e.z, sign * turn.x, sign * turn.y, sign * turn.z};
            double *row = J + plan->dof + (size_t)k * (size_t)n;
            for (int32_t m = 0; m < 6; m++) {
                row[m] += added[m];
            }
        }
        if (plan->free_root) {
            return;
        }
        const stn_spatial *S = kinematics->motion + plan->v;
        for (int32_t j = 0; j < plan->nv; j++) {
            stn_vec3 u = stn_vec3_add(S[j].linear, stn_vec3_cross(S[j].angular, r));
            add_column(axes, sign, u, n, plan->dof + j, J);
        }
    }
}

void stn_angular_jacobian_add(const stn_kinematics *kinematics, int32_t body, const stn_mat3 *axes, double sign,
                              double *J) {
    const body_plan *plans = kinematics_object_of(kinematics)->plan;
    int32_t tree = kinematics->model->bodies[body].tree;
    if (tree < 0) {
        return;
    }
    int32_t n = kinematics->model->trees[tree].nv;
    for (int32_t i = body; i > 0; i = plans[i].parent) {
        const body_plan *plan = &plans[i];
        for (int32_t k = 0; plan->free_root && k < 3; k++) { // S = 1
            stn_vec3 e = stn_mat3_column(axes, k);
            double *row = J + plan->dof + (size_t)k * (size_t)n;
            row[3] += sign * e.x;
            row[4] += sign * e.y;
            row[5] += sign * e.z;
        }
        if (plan->free_root) {
            return;
        }
        const stn_spatial *S = kinematics->motion + plan->v;
        for (int32_t j = 0; j < plan->nv; j++) {
            add_column(axes, sign, S[j].angular, n, plan->dof + j, J);
        }
    }
}
