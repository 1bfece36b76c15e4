// SPDX-License-Identifier: Apache-2.0
// Gathering forces of the affine model: tau, K, D and servos. A tree's K and D start as zero and grow into diagonal and
// dense form only when something asks for it, so that A = M + dt^2 K + dt D stays as cheap as the forces are simple.
#include <string.h>

#include <stiction/forces.h>

#include "dynamics/kinematics.h"

// ------------------------------------------------------------------------------------------------------- storage

static void make_diagonal(stn_matrix *a, double *storage) {
    if (a->form == STN_MATRIX_ZERO) {
        a->form = STN_MATRIX_DIAGONAL;
        a->values = storage;
        memset(storage, 0, (size_t)a->n * sizeof *storage);
    }
}

/// A diagonal spreads in place, from its end: entry i goes to i (n + 1) >= i.
static void make_dense(stn_matrix *a, double *storage) {
    if (a->form == STN_MATRIX_DENSE) {
        return;
    }
    make_diagonal(a, storage);
    size_t n = (size_t)a->n;
    for (size_t i = n; i-- > 0;) {
        double value = a->values[i];
        double *row = a->values + i * n;
        memset(row, 0, n * sizeof *row);
        row[i] = value;
    }
    a->form = STN_MATRIX_DENSE;
}

static double *storage_of(const stn_forces *forces, double *storage, int32_t tree) {
    return storage + model_object_of(forces->model)->dense_start[tree];
}

// --------------------------------------------------------------------------------------------------------- forces

void stn_forces_add_effort(stn_forces *forces, int32_t dof, double effort) {
    forces->tau[dof] += effort;
}

/// a_ii += value for one dof of a tree that has its values in `storage` once it holds any.
static void add_to_diagonal(const stn_forces *forces, stn_matrix *a, double *storage, int32_t tree, int32_t i,
                            double value) {
    if (a->form == STN_MATRIX_ZERO) {
        make_diagonal(a, storage_of(forces, storage, tree));
    }
    if (a->form == STN_MATRIX_DIAGONAL) {
        a->values[i] += value;
    } else {
        a->values[(size_t)i * (size_t)(a->n + 1)] += value;
    }
}

void stn_forces_add_gain(stn_forces *forces, int32_t dof, double kp, double kd, double tau0) {
    int32_t tree = forces->model->dof_tree[dof], i = dof - forces->model->trees[tree].v_start;
    forces->tau[dof] += tau0;
    if (kp != 0.0) {
        add_to_diagonal(forces, &forces->K[tree], forces->K_storage, tree, i, kp);
    }
    if (kd != 0.0) {
        add_to_diagonal(forces, &forces->D[tree], forces->D_storage, tree, i, kd);
    }
}

static stn_status check_servo(const stn_forces *forces, const stn_servo *servo, stn_error *err) {
    const stn_model *model = forces->model;
    if (servo->dof < 0 || servo->dof >= model->nv) {
        return stn_fail(err, STN_ERR_ARGUMENT, "servo: dof %d, must be 0 to %d", servo->dof, model->nv - 1);
    }
    int32_t joint = model->dof_joint[servo->dof];
    const char *name = joint >= 0 ? model->joints[joint].name : "node";
    if (!(servo->kp >= 0.0 && isfinite(servo->kp) && servo->kd >= 0.0 && isfinite(servo->kd))) {
        return stn_fail(err, STN_ERR_ARGUMENT, "servo on '%s': kp = %g and kd = %g must be >= 0 and finite", name,
                        servo->kp, servo->kd);
    }
    if (!(servo->effort > 0.0 && isfinite(servo->effort))) {
        return stn_fail(err, STN_ERR_ARGUMENT, "servo on '%s': effort = %g must be > 0 and finite", name,
                        servo->effort);
    }
    if (!isfinite(servo->error) || !isfinite(servo->velocity) || !isfinite(servo->feedforward)) {
        return stn_fail(err, STN_ERR_NUMERIC, "servo on '%s': error %g, velocity %g and feed-forward %g must be finite",
                        name, servo->error, servo->velocity, servo->feedforward);
    }
    return STN_OK;
}

/// Kept in the order of their dofs, which is also the usual order of adding.
stn_status stn_forces_add_servo(stn_forces *forces, const stn_servo *servo, stn_error *err) {
    stn_status status = check_servo(forces, servo, err);
    if (status != STN_OK) {
        return status;
    }
    stn_servo *servos = forces->servo_storage;
    int32_t at = forces->servo_count;
    while (at > 0 && servos[at - 1].dof >= servo->dof) {
        at--;
    }
    if (at < forces->servo_count && servos[at].dof == servo->dof) {
        int32_t joint = forces->model->dof_joint[servo->dof];
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "servo on '%s': there is one already; two controllers drive the same joint",
                        joint >= 0 ? forces->model->joints[joint].name : "node");
    }
    memmove(servos + at + 1, servos + at, (size_t)(forces->servo_count - at) * sizeof *servos);
    servos[at] = *servo;
    forces->servo_count++;
    forces->servos = servos;
    return STN_OK;
}

/// a += J^T diag(weight) J.
static void add_products(stn_matrix *a, double *storage, int32_t rows, const double *J, const double *weight) {
    size_t n = (size_t)a->n;
    for (int32_t r = 0; r < rows; r++) {
        const double *row = J + (size_t)r * n;
        if (weight[r] == 0.0) {
            continue;
        }
        make_dense(a, storage);
        for (size_t i = 0; i < n; i++) {
            double s = weight[r] * row[i];
            for (size_t j = 0; j < n; j++) {
                a->values[i * n + j] += s * row[j];
            }
        }
    }
}

void stn_forces_add_task(stn_forces *forces, int32_t tree, int32_t rows, const double *J, const double *k,
                         const double *d, const double *f0) {
    const stn_tree *t = &forces->model->trees[tree];
    double *tau = forces->tau + t->v_start;
    for (int32_t r = 0; r < rows; r++) {
        for (int32_t i = 0; i < t->nv; i++) {
            tau[i] += J[(size_t)r * (size_t)t->nv + (size_t)i] * f0[r];
        }
    }
    add_products(&forces->K[tree], storage_of(forces, forces->K_storage, tree), rows, J, k);
    add_products(&forces->D[tree], storage_of(forces, forces->D_storage, tree), rows, J, d);
}

void stn_forces_add_wrench(stn_forces *forces, const stn_kinematics *kinematics, int32_t body, stn_vec3 point,
                           stn_spatial wrench) {
    const body_plan *plans = kinematics_object_of(kinematics)->plan;
    int32_t tree = forces->model->bodies[body].tree;
    if (tree < 0) {
        return;
    }
    stn_vec3 r = stn_vec3_sub(point, kinematics->reference[tree]);
    wrench.angular = stn_vec3_add(wrench.angular, stn_vec3_cross(r, wrench.linear));
    for (int32_t i = body; i > 0; i = plans[i].parent) {
        for (int32_t j = 0; j < plans[i].nv; j++) {
            forces->tau[plans[i].v + j] += spatial_dot(&kinematics->motion[plans[i].v + j], &wrench);
        }
    }
}
