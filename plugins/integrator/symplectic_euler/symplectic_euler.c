// SPDX-License-Identifier: Apache-2.0
// Symplectic Euler with implicit springs and dampers (linearly implicit Euler) [castro-2022, II-D]:
//
//     A = M + dt^2 K + dt D,    A (v* - v0) = dt (tau - c(q0, v0, v*)) - dt^2 K v0,    q = q0 + dt N(q0) v
//
// where c holds gravity and the Coriolis forces, a quadratic form in the velocities, as its symmetric bilinear form
// (turning_tree.c; spinning_body.c takes free bodies and frames at the mean velocity). Without K and D it is symplectic
// Euler for constant M, and reversible for any: first order, energy that does not drift.
#include <stiction/plugin.h>

#include "spinning_body.h"
#include "turning_tree.h"

/// The impulse dt (tau - c) - dt^2 K v0 of one tree; the core divides it by A.
static stn_status form_impulse(const stn_integrator_view *view, int32_t t, const stn_formed *formed, stn_error *err) {
    const stn_tree *tree = &view->model->trees[t];
    double *impulse = formed->free_impulse + tree->v_start;
    stn_status status = STN_OK;
    if (spinning_body_is(view->model, tree)) {
        formed->bias_rule[t] = STN_BIAS_MEAN;
        spinning_body_impulse(view, tree, impulse);
    } else if (tree->kind == STN_TREE_NODAL && tree->node_type == STN_NODE_FRAME) {
        formed->bias_rule[t] = STN_BIAS_MEAN;
        spinning_nodes_impulse(view, tree, impulse);
    } else if (turning_tree_is(view->model, tree)) {
        formed->bias_rule[t] = STN_BIAS_POLAR;
        status = turning_tree_impulse(view, t, formed, impulse, err);
        if (status < 0) {
            return status;
        }
    } else {
        stn_spatial *scratch = STN_ARENA(view->arena, tree->body_count + 1, stn_spatial);
        double *bias = STN_ARENA(view->arena, tree->nv, double);
        if (scratch == NULL || bias == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "out of memory");
        }
        stn_inverse_dynamics(view->kinematics, t, view->gravity, NULL, scratch, bias);
        for (int32_t i = 0; i < tree->nv; i++) {
            impulse[i] = -view->dt * bias[i];
        }
    }
    for (int32_t i = 0; i < tree->nv; i++) {
        impulse[i] += view->dt * view->forces->tau[tree->v_start + i];
    }
    stn_matrix_mul_add(&view->forces->K[t], -view->dt * view->dt, view->v + tree->v_start, impulse);
    return status;
}

static stn_status form(void *self, const stn_integrator_view *view, void *state, stn_formed *formed, stn_error *err) {
    (void)self;
    (void)state;
    double dt = view->dt;
    stn_status qualified = STN_OK;
    for (int32_t t = 0; t < view->model->tree_count; t++) {
        stn_status status = stn_matrix_add_scaled(&formed->A[t], 1.0, &view->M[t]);
        if (status == STN_OK) {
            status = stn_matrix_add_scaled(&formed->A[t], dt * dt, &view->forces->K[t]);
        }
        if (status == STN_OK) {
            status = stn_matrix_add_scaled(&formed->A[t], dt, &view->forces->D[t]);
        }
        if (status == STN_OK) {
            status = form_impulse(view, t, formed, err);
        }
        if (status < 0) {
            return status;
        }
        qualified = status != STN_OK ? status : qualified;
    }
    for (int32_t d = 0; d < view->model->nv; d++) {
        formed->v_star[d] = view->v[d];
    }
    return qualified;
}

static stn_status advance(void *self, const stn_integrator_view *view, void *state, const stn_problem *problem,
                          const double *v, const double *gamma, double *q_next, double *v_next, stn_error *err) {
    (void)self;
    (void)state;
    (void)problem;
    (void)gamma;
    (void)err;
    stn_integrate_q(view->model, view->q, view->v_position != NULL ? view->v_position : v, view->dt, q_next);
    for (int32_t d = 0; d < view->model->nv; d++) {
        v_next[d] = v[d];
    }
    return STN_OK;
}

static const stn_integrator_ops ops = {.size = sizeof ops, .form = form, .advance = advance};

static const char *const capabilities[] = {"v_position", NULL};

static const stn_plugin_desc symplectic_euler = {
    .size = sizeof symplectic_euler,
    .kind = STN_KIND_INTEGRATOR,
    .id = "symplectic_euler",
    .version = "1.0.0",
    .summary = "Symplectic Euler with implicit springs, dampers and PD gains; first order",
    .reference = "castro-2022, section II-D, theta = 0, theta_vq = 1; K and D linearly implicit",
    .capabilities = capabilities,
    .ops.integrator = &ops,
};
STN_PLUGIN_LIBRARY(&symplectic_euler);
