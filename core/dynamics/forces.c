// SPDX-License-Identifier: Apache-2.0
// Gathering forces of the affine model: tau, K, D and servos. A tree's K and D start as zero and grow into diagonal and
// dense form only when something asks for it, so that A = M + dt^2 K + dt D stays as cheap as the forces are simple.
#include <string.h>

#include <stiction/forces.h>

#include "dynamics/forces.h"
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

/// Entry (i, i) of the gain `a` of a tree.
static inline void add_to_diagonal(const stn_forces *forces, stn_matrix *a, double *storage, int32_t tree, int32_t i,
                                   double gain) {
    if (gain == 0.0) {
        return;
    }
    if (a->form == STN_MATRIX_ZERO) {
        make_diagonal(a, storage_of(forces, storage, tree));
    }
    a->values[a->form == STN_MATRIX_DIAGONAL ? (size_t)i : (size_t)i * (size_t)(a->n + 1)] += gain;
}

void stn_forces_add_gain(stn_forces *forces, int32_t dof, double kp, double kd, double tau0) {
    const int32_t tree = forces->model->dof_tree[dof], i = dof - forces->model->trees[tree].v_start;
    forces->tau[dof] += tau0;
    add_to_diagonal(forces, &forces->K[tree], forces->K_storage, tree, i, kp);
    add_to_diagonal(forces, &forces->D[tree], forces->D_storage, tree, i, kd);
}

/// Mean of two values by their gains.
static double weighted(double gain_a, double a, double gain_b, double b) {
    return gain_a + gain_b > 0.0 ? (gain_a * a + gain_b * b) / (gain_a + gain_b) : 0.0;
}

/// Kept in the order of their dofs, which is also the usual order of adding.
stn_status stn_forces_add_servo(stn_forces *forces, const stn_servo *servo, stn_error *err) {
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
    stn_servo *servos = forces->servo_storage;
    int32_t at = forces->servo_count;
    while (at > 0 && servos[at - 1].dof >= servo->dof) {
        at--;
    }
    if (at < forces->servo_count && servos[at].dof == servo->dof) {
        // u = u_a + u_b before the clamp: the gains' sums about the means of the references.
        stn_servo *a = &servos[at];
        double motor = joint >= 0 ? model->joints[joint].effort : (double)INFINITY;
        double limit = a->effort + servo->effort;
        a->error = weighted(a->kp, a->error, servo->kp, servo->error);
        a->velocity = weighted(a->kd, a->velocity, servo->kd, servo->velocity);
        a->kp += servo->kp;
        a->kd += servo->kd;
        a->feedforward += servo->feedforward;
        a->effort = motor > 0.0 ? fmin(limit, motor) : limit;
        return STN_OK;
    }
    memmove(servos + at + 1, servos + at, (size_t)(forces->servo_count - at) * sizeof *servos);
    servos[at] = *servo;
    forces->servo_count++;
    forces->servos = servos;
    return STN_OK;
}

void stn_forces_add_matrix(stn_forces *forces, int32_t tree, const double *K_t, const double *D_t, const double *tau0) {
    const stn_tree *t = &forces->model->trees[tree];
    const double *from[2] = {K_t, D_t};
    stn_matrix *to[2] = {&forces->K[tree], &forces->D[tree]};
    double *storage[2] = {storage_of(forces, forces->K_storage, tree), storage_of(forces, forces->D_storage, tree)};
    for (int32_t m = 0; m < 2; m++) {
        if (from[m] == NULL) {
            continue;
        }
        make_dense(to[m], storage[m]);
        for (int32_t i = 0; i < t->nv * t->nv; i++) {
            to[m]->values[i] += from[m][i];
        }
    }
    for (int32_t i = 0; tau0 != NULL && i < t->nv; i++) {
        forces->tau[t->v_start + i] += tau0[i];
    }
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

// ------------------------------------------------------------------------------------------------------ weighted sums

stn_status stn_forces_begin_part(const stn_forces *whole, stn_arena *arena, stn_forces *part, stn_error *err) {
    const stn_model *model = whole->model;
    int64_t values = 0;
    for (int32_t t = 0; t < model->tree_count; t++) {
        int64_t n = model->trees[t].nv;
        values += model->trees[t].kind == STN_TREE_ARTICULATED ? n * n : 0;
    }
    *part = (stn_forces){.model = model};
    part->tau = STN_ARENA_ZEROED(arena, model->nv, double);
    part->K = STN_ARENA(arena, model->tree_count, stn_matrix);
    part->D = STN_ARENA(arena, model->tree_count, stn_matrix);
    part->servo_storage = STN_ARENA(arena, model->nv, stn_servo);
    part->K_storage = STN_ARENA(arena, values, double);
    part->D_storage = STN_ARENA(arena, values, double);
    if (part->tau == NULL || part->K == NULL || part->D == NULL || part->servo_storage == NULL ||
        part->K_storage == NULL || part->D_storage == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    part->servos = part->servo_storage;
    for (int32_t t = 0; t < model->tree_count; t++) {
        part->K[t] = part->D[t] = (stn_matrix){.n = model->trees[t].nv, .form = STN_MATRIX_ZERO};
    }
    return STN_OK;
}

/// A congruence, so that what is symmetric and >= 0 stays it: a_ij sqrt(s_i s_j).
static void add_scaled(stn_matrix *whole, double *storage, const stn_matrix *part, const double *share) {
    size_t n = (size_t)part->n;
    if (part->form == STN_MATRIX_DIAGONAL) {
        make_diagonal(whole, storage);
        size_t stride = whole->form == STN_MATRIX_DENSE ? n + 1 : 1;
        for (size_t i = 0; i < n; i++) {
            whole->values[i * stride] += share[i] * part->values[i];
        }
    } else if (part->form == STN_MATRIX_DENSE) {
        make_dense(whole, storage);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++) {
                whole->values[i * n + j] += sqrt(share[i] * share[j]) * part->values[i * n + j];
            }
        }
    }
}

stn_status stn_forces_add_part(stn_forces *whole, const stn_forces *part, const double *share, stn_error *err) {
    const stn_model *model = whole->model;
    for (int32_t d = 0; d < model->nv; d++) {
        whole->tau[d] += share[d] * part->tau[d];
    }
    for (int32_t t = 0; t < model->tree_count; t++) {
        if (part->K[t].form != STN_MATRIX_ZERO) {
            add_scaled(&whole->K[t], storage_of(whole, whole->K_storage, t), &part->K[t],
                       share + model->trees[t].v_start);
        }
        if (part->D[t].form != STN_MATRIX_ZERO) {
            add_scaled(&whole->D[t], storage_of(whole, whole->D_storage, t), &part->D[t],
                       share + model->trees[t].v_start);
        }
    }
    stn_status status = STN_OK;
    for (int32_t i = 0; i < part->servo_count && status == STN_OK; i++) {
        stn_servo servo = part->servos[i];
        double s = share[servo.dof];
        servo.kp *= s, servo.kd *= s, servo.feedforward *= s, servo.effort *= s;
        status = s > 0.0 ? stn_forces_add_servo(whole, &servo, err) : STN_OK;
    }
    return status;
}
