// SPDX-License-Identifier: Apache-2.0
// Contacts and other rows of the problem in a sub-step, one after the other, each projected once. In terms of the
// impulse lambda of the sub-step [N s], which begins at zero, a row of error C with compliance alpha and damping beta
// (a spring k = 1/alpha with relaxation time tau = beta) asks for
//
//     (W + R) lambda = -C/(h + tau) - v_c,   R = 1/(h k (h + tau)),
//
// with v_c = J u + bias and C the error at the sub-step's start: XPBD's dlambda = (-C - gamma dC)/((1 + gamma) w + at)
// [macklin-2016] times (1 + gamma), in impulses. Gaps follow the motion to first order, C = phi + J moved + bias t,
// with the contacts and Jacobians of the step's start.
#include <math.h>
#include <string.h>

#include <stiction/plugin.h>

#include "substep.h"

/// A constraint at hand.
typedef struct visited {
    const stn_constraint *c;
    double v_c[STN_MAX_ROWS];              // velocity along the rows, bias included [m/s]
    double motion[STN_MAX_ROWS];           // along them since the step's start [m]
    double W[STN_MAX_ROWS * STN_MAX_ROWS]; // J M^-1 J^T [1/kg]
    double *B;                             // M^-1 J^T, a block as J has it after the other
} visited;

double *row_room_make(const stn_integrator_view *view, const stn_problem *problem) {
    int64_t most = 0;
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        const stn_constraint *c = &problem->constraints[i];
        int64_t size = 0;
        for (int32_t k = 0; k < stn_constraint_block_count(c); k++) {
            size += (int64_t)c->rows * stn_jacobian_columns(problem, stn_constraint_block(c, k));
        }
        most = size > most ? size : most;
    }
    return STN_ARENA(view->arena, most + 1, double);
}

/// B and W.
static void find_response(const substep *s, visited *v) {
    const stn_model *model = s->view->model;
    const int32_t rows = v->c->rows;
    double *B = v->B;
    memset(v->W, 0, sizeof v->W);
    for (int32_t k = 0; k < stn_constraint_block_count(v->c); k++) {
        const stn_jacobian *J = stn_constraint_block(v->c, k);
        const int32_t n = stn_jacobian_columns(s->problem, J), parts = J->node_count > 0 ? J->node_count : 1;
        const int32_t width = n / parts;
        memcpy(B, J->values, (size_t)(rows * n) * sizeof *B);
        if (J->node_count == 0) {
            stn_cholesky_forward(n, s->factor[J->tree].values, n, rows, B, n);
            stn_cholesky_backward(n, s->factor[J->tree].values, n, rows, B, n);
        }
        for (int32_t b = 0; b < J->node_count * rows; b++) {
            substep_divide_by_mass(s, model->trees[J->tree].node_start + J->node[b / rows], B + width * b);
        }
        for (int32_t b = 0; b < parts; b++, B += rows * width) {
            const double *values = J->values + (size_t)(rows * width) * (size_t)b;
            for (int32_t r = 0; r < rows; r++) {
                for (int32_t c = 0; c < rows; c++) {
                    for (int32_t d = 0; d < width; d++) {
                        v->W[rows * r + c] += values[width * r + d] * B[width * c + d];
                    }
                }
            }
        }
    }
}

/// u += M^-1 J^T lambda, gamma += lambda.
static void push(const substep *s, const visited *v, const double *lambda, double *gamma) {
    const int32_t rows = v->c->rows;
    const double *B = v->B;
    for (int32_t k = 0; k < stn_constraint_block_count(v->c); k++) {
        const stn_jacobian *J = stn_constraint_block(v->c, k);
        const int32_t parts = J->node_count > 0 ? J->node_count : 1;
        const int32_t width = stn_jacobian_columns(s->problem, J) / parts;
        for (int32_t b = 0; b < parts; b++) {
            double *u = s->u + s->problem->trees[J->tree].dof_start + (J->node_count > 0 ? width * J->node[b] : 0);
            for (int32_t r = 0; r < rows; r++, B += width) {
                for (int32_t d = 0; d < width; d++) {
                    u[d] += B[d] * lambda[r];
                }
            }
        }
    }
    for (int32_t r = 0; r < rows; r++) {
        gamma[v->c->row + r] += lambda[r];
    }
}

/// The normal first, then friction along minus the tangential motion of the sub-step, at most mu lambda_n. Ellipses are
/// circles in tangents scaled by mu_i/mu.
static void visit_contact(const substep *s, visited *v, double *gamma) {
    const stn_constraint *c = v->c;
    const double gap = (isnan(c->phi0) ? 0.0 : c->phi0) + v->motion[2], h = s->h;
    double R = 0.0, target = gap > 0.0 ? -gap / h : fmin(-gap / h, s->push_speed);
    if (c->stiffness < (double)INFINITY) {
        R = 1.0 / (h * c->stiffness * (h + c->relaxation_time));
        target = -gap / (h + c->relaxation_time);
    }
    if (!(v->v_c[2] < target)) {
        return;
    }
    find_response(s, v);
    if (!(v->W[8] + R > 0.0)) {
        return; // nothing moves along the normal
    }
    double lambda[3] = {0.0, 0.0, (target - v->v_c[2]) / (v->W[8] + R)};
    const double mu = fmax(c->mu1, c->mu2), scale[2] = {mu > 0.0 ? c->mu1 / mu : 0.0, mu > 0.0 ? c->mu2 / mu : 0.0};
    const double t1 = scale[0] * (v->v_c[0] + v->W[2] * lambda[2]), t2 = scale[1] * (v->v_c[1] + v->W[5] * lambda[2]);
    const double slip = sqrt(t1 * t1 + t2 * t2);
    if (slip > 0.0) {
        const double d1 = scale[0] * t1 / slip, d2 = scale[1] * t2 / slip;
        const double w = d1 * d1 * v->W[0] + 2.0 * d1 * d2 * v->W[1] + d2 * d2 * v->W[4];
        const double size = fmin(slip / w, mu * lambda[2]); // w = 0: nothing moves along, and mu lambda_n stands
        lambda[0] = -d1 * size;
        lambda[1] = -d2 * size;
    }
    push(s, v, lambda, gamma);
}

/// Equalities all at once, rows with bounds one after the other.
static void visit_rows(const substep *s, visited *v, double *gamma) {
    const stn_constraint *c = v->c;
    const stn_problem *p = s->problem;
    const int32_t rows = c->rows;
    const double part = s->h / p->dt;
    double tau, R = stn_constraint_regularize(c, s->h, &tau), lambda[STN_MAX_ROWS], A[STN_MAX_ROWS * STN_MAX_ROWS];
    find_response(s, v);
    for (int32_t r = 0; r < rows; r++) {
        const double phi = !isnan(p->phi[c->row + r]) ? p->phi[c->row + r] : c->phi0;
        const bool placed = !isnan(phi) && c->kind != STN_CONSTRAINT_DRY_FRICTION;
        double target = placed ? -(phi + v->motion[r]) / (s->h + tau) : 0.0;
        if (c->kind == STN_CONSTRAINT_JOINT_LIMIT && c->stiffness == (double)INFINITY) {
            target = fmin(target, s->push_speed); // as of contacts
        }
        lambda[r] = target - v->v_c[r]; // what is missing
        memcpy(A + rows * r, v->W + rows * r, (size_t)rows * sizeof *A);
        A[(rows + 1) * r] += R;
    }
    if (c->set == STN_SET_EQUALITY && stn_cholesky(rows, A, rows) < 0) {
        stn_cholesky_forward(rows, A, rows, 1, lambda, rows);
        stn_cholesky_backward(rows, A, rows, 1, lambda, rows);
    } else {
        for (int32_t r = 0; r < rows; r++) {
            double missing = lambda[r];
            for (int32_t k = 0; k < r; k++) {
                missing -= v->W[rows * r + k] * lambda[k];
            }
            lambda[r] =
                fmin(fmax(missing / (v->W[(rows + 1) * r] + R), part * p->lo[c->row + r]), part * p->hi[c->row + r]);
        }
    }
    push(s, v, lambda, gamma);
}

void substep_rows(const substep *s, double *room, double *gamma) {
    const stn_problem *p = s->problem;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        visited v = {.c = &p->constraints[i], .B = room};
        stn_constraint_velocity(p, v.c, s->u, v.v_c);
        stn_constraint_velocity(p, v.c, s->moved, v.motion);
        for (int32_t r = 0; r < v.c->rows; r++) {
            v.v_c[r] += p->bias[v.c->row + r];
            v.motion[r] += p->bias[v.c->row + r] * s->t;
        }
        (stn_constraint_has_cone(v.c) ? visit_contact : visit_rows)(s, &v, gamma);
    }
}
