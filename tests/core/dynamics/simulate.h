// SPDX-License-Identifier: Apache-2.0
// A plain integrator for tests: RK4 in (q, v), quaternions as four numbers, forward dynamics by elimination.
#ifndef SIMULATE_H
#define SIMULATE_H

#include "stn_test.h"

#include <stdlib.h>
#include <string.h>

#include <stiction/dynamics.h>

#include "stn_random.h"

typedef struct simulator {
    const stn_model *model;
    stn_kinematics *kinematics;
    stn_vec3 gravity;
    double damping; // torque -damping v on every dof
    stn_spatial *scratch;
    double *M, *tau, *work;
} simulator;

static inline simulator simulator_create(const stn_model *model, stn_vec3 gravity) {
    size_t nv = (size_t)model->nv, nq = (size_t)model->nq;
    simulator s = {.model = model, .gravity = gravity};
    stn_error err;
    assert_ok(stn_kinematics_create(model, &s.kinematics, &err), err);
    s.scratch = calloc((size_t)model->body_count, sizeof *s.scratch);
    s.M = calloc(nv * nv, sizeof *s.M);
    s.tau = calloc(nv, sizeof *s.tau);
    s.work = calloc(10 * (nq + nv), sizeof *s.work);
    return s;
}

static inline void simulator_destroy(simulator *s) {
    stn_kinematics_destroy(s->kinematics);
    free(s->scratch);
    free(s->M);
    free(s->tau);
    free(s->work);
}

static inline stn_matrix dense_matrix(int32_t n, double *values) {
    stn_matrix a = {.n = n, .form = STN_MATRIX_DENSE, .values = values};
    return a;
}

/// Accelerations of all trees at (q, v) without applied forces; M of the last tree stays in s->M.
static inline void accelerations(simulator *s, const double *q, const double *v, double *a) {
    stn_kinematics_update(s->kinematics, q, v);
    for (int32_t t = 0; t < s->model->tree_count; t++) {
        const stn_tree *tree = &s->model->trees[t];
        stn_matrix M = dense_matrix(tree->nv, s->M);
        stn_mass_matrix(s->kinematics, t, &M);
        stn_inverse_dynamics(s->kinematics, t, s->gravity, NULL, s->scratch, s->tau);
        for (int32_t i = 0; i < tree->nv; i++) {
            a[tree->v_start + i] = -s->tau[i] - s->damping * v[tree->v_start + i];
        }
        plain_solve(tree->nv, s->M, a + tree->v_start);
    }
}

/// q-dot = N v: quaternions by 1/2 (0, omega) quat.
static inline void coordinate_rates(const stn_model *model, const double *q, const double *v, double *rate) {
    for (int32_t j = 0; j < model->joint_count; j++) {
        const stn_joint *joint = &model->joints[j];
        const double *x = q + joint->q_start, *u = v + joint->v_start;
        double *r = rate + joint->q_start;
        int32_t plain = joint->nq == joint->nv ? joint->nv : joint->nv - 3;
        memcpy(r, u, (size_t)plain * sizeof *r);
        if (plain < joint->nv) {
            const double *y = x + plain, *turn = u + plain;
            stn_quat w = {0.0, 0.5 * turn[0], 0.5 * turn[1], 0.5 * turn[2]}, e = {y[0], y[1], y[2], y[3]};
            stn_quat d = stn_quat_mul(w, e);
            const double rates[4] = {d.w, d.x, d.y, d.z};
            memcpy(r + plain, rates, sizeof rates);
        }
    }
}

static inline void rk4_step(simulator *s, double dt, double *q, double *v) {
    static const double at[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
    int32_t nq = s->model->nq, nv = s->model->nv;
    double *x = s->work, *u = x + nq, *xdot = u + nv, *udot = xdot + nq, *xsum = udot + nv, *usum = xsum + nq;
    memset(xdot, 0, (size_t)(2 * (nq + nv)) * sizeof *xdot);
    memset(xsum, 0, (size_t)(nq + nv) * sizeof *xsum);
    for (int32_t k = 0; k < 4; k++) {
        for (int32_t i = 0; i < nq; i++) {
            x[i] = q[i] + dt * at[k] * xdot[i];
        }
        for (int32_t i = 0; i < nv; i++) {
            u[i] = v[i] + dt * at[k] * udot[i];
        }
        accelerations(s, x, u, udot);
        coordinate_rates(s->model, x, u, xdot);
        for (int32_t i = 0; i < nq; i++) {
            xsum[i] += weight[k] * xdot[i];
        }
        for (int32_t i = 0; i < nv; i++) {
            usum[i] += weight[k] * udot[i];
        }
    }
    for (int32_t i = 0; i < nq; i++) {
        q[i] += dt * xsum[i];
    }
    for (int32_t i = 0; i < nv; i++) {
        v[i] += dt * usum[i];
    }
}

#endif
