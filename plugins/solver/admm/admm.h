// SPDX-License-Identifier: Apache-2.0
// The linear half of ADMM, x = (H + sigma)^-1 (sigma w - q), over velocities: the same iterates as over impulses.
#ifndef SOLVER_ADMM_H
#define SOLVER_ADMM_H

#include "common/augmented.h"
#include "common/dense_dual.h"
#include "common/scaled_dual.h"

/// A + J^T D^-1 J over the velocities, D = R + sigma/s^2: the Delassus operator is never formed.
typedef struct velocity_form {
    const stn_problem *problem;
    const scaled_dual *dual; // its blocks hold nothing but their trace
    augmented H;
    double *v;            // (nv) of the last solve
    double *G, *line_G;   // D^-1 of its lanes and lines
    double *soft;         // (rows) diagonal of D^-1
    double *target;       // (rows) sigma w/s - bias + v_hat
    double *gamma, *v_c;  // (rows)
    double *right, *work; // (nv)
    double *scale;        // (nv) of proximal_scale
    double *balance;      // (3 nv) of stn_problem_imbalance
} velocity_form;

/// `dual` is built here, with the same scales as from the Delassus operator. v starts at `v`.
stn_status velocity_form_build(const stn_problem *problem, const stn_solve_control *control, const double *v,
                               scaled_dual *dual, velocity_form *out, stn_error *err);
stn_status velocity_form_factor(velocity_form *form, double sigma, stn_error *err);
void velocity_form_solve(velocity_form *form, double sigma, const double *w, double *x);
/// g at z, of the present velocity.
void velocity_form_gradient(velocity_form *form, const double *z, double *g);
/// |D (A (v - v*) - f - J^T gamma)| of the present velocity and the impulses of z, and what it is relative to
/// [sqrt(J)].
typedef struct momentum_residual {
    double value, size;
} momentum_residual;
momentum_residual velocity_form_momentum(velocity_form *form, const double *z);

#endif
