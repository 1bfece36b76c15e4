// SPDX-License-Identifier: Apache-2.0
// See semi_implicit.h.
#include "common/semi_implicit.h"

#include <string.h>

#include "common/spinning_body.h"
#include "common/turning_tree.h"

/// The impulse of one tree; `formed` holds its A.
static stn_status form_impulse(const stn_integrator_view *view, int32_t t, const stn_formed *formed, double *room,
                               stn_error *err) {
    const stn_tree *tree = &view->model->trees[t];
    double *impulse = formed->free_impulse + tree->v_start;
    stn_status status = STN_OK;
    const lone_body lone = lone_body_of(view->model, tree);
    if (lone == LONE_BODY_FALLS) {
        const stn_vec3 weight = stn_vec3_scale(view->model->bodies[tree->body_start].mass.mass, view->gravity);
        impulse[0] = view->dt * weight.x;
        impulse[1] = view->dt * weight.y;
        impulse[2] = view->dt * weight.z;
        impulse[3] = impulse[4] = impulse[5] = 0.0;
    } else if (lone == LONE_BODY_SPINS) {
        formed->bias_rule[t] = STN_BIAS_MEAN;
        spinning_body_impulse(view, tree, impulse);
    } else if (tree->kind == STN_TREE_NODAL && tree->node_type == STN_NODE_FRAME) {
        formed->bias_rule[t] = STN_BIAS_MEAN;
        spinning_nodes_impulse(view, tree, impulse);
    } else if (turning_tree_is(view->model, tree)) {
        formed->bias_rule[t] = STN_BIAS_POLAR;
        status = turning_tree_impulse(view, t, formed, room, impulse, err);
    } else {
        stn_spatial *scratch = (stn_spatial *)(void *)room;
        double *bias = (double *)(scratch + tree->body_count + 1);
        stn_inverse_dynamics(view->kinematics, t, view->gravity, NULL, scratch, bias);
        for (int32_t i = 0; i < tree->nv; i++) {
            impulse[i] = -view->dt * bias[i];
        }
    }
    const double dt = view->dt, *restrict tau = view->forces->tau + tree->v_start;
    double *restrict sum = impulse;
    for (int32_t i = 0; i < tree->nv; i++) {
        sum[i] += dt * tau[i];
    }
    if (view->forces->K[t].form != STN_MATRIX_ZERO) {
        stn_matrix_mul_add(&view->forces->K[t], -dt * dt, view->v + tree->v_start, impulse);
    }
    return status;
}

double *semi_implicit_room(const stn_integrator_view *view) {
    size_t most = 0;
    for (int32_t t = 0; t < view->model->tree_count; t++) {
        const stn_tree *tree = &view->model->trees[t];
        const size_t own = turning_tree_is(view->model, tree) ? turning_tree_room(view->model, tree)
                                                              : 6 * ((size_t)tree->body_count + 1) + (size_t)tree->nv;
        most = own > most ? own : most;
    }
    return STN_ARENA(view->arena, most, double);
}

/// A = M. False: A cannot hold it.
static bool begin_mass(stn_matrix *A, const stn_matrix *M) {
    if (A->form == STN_MATRIX_DENSE && M->form == STN_MATRIX_DENSE && A->n == 6) {
        memcpy(A->values, M->values, 36 * sizeof *A->values);
        return true;
    }
    const size_t bytes = (size_t)stn_matrix_value_count(A) * sizeof *A->values;
    if (A->form == STN_MATRIX_DENSE && M->form == STN_MATRIX_DENSE) {
        memcpy(A->values, M->values, bytes);
        return true;
    }
    memset(A->values, 0, bytes);
    return stn_matrix_add_scaled(A, 1.0, M) == STN_OK;
}

stn_status semi_implicit_form_tree(const stn_integrator_view *view, int32_t t, const stn_formed *formed, double *room,
                                   stn_error *err) {
    const double dt = view->dt;
    const stn_matrix *K = &view->forces->K[t], *D = &view->forces->D[t];
    stn_status status = begin_mass(&formed->A[t], &view->M[t]) ? STN_OK : STN_ERR_ARGUMENT;
    if (status == STN_OK && K->form != STN_MATRIX_ZERO) {
        status = stn_matrix_add_scaled(&formed->A[t], dt * dt, K);
    }
    if (status == STN_OK && D->form != STN_MATRIX_ZERO) {
        status = stn_matrix_add_scaled(&formed->A[t], dt, D);
    }
    return status == STN_OK ? form_impulse(view, t, formed, room, err) : status;
}

stn_status semi_implicit_form(const stn_integrator_view *view, const stn_formed *formed, stn_error *err) {
    stn_status qualified = STN_OK;
    double *room = semi_implicit_room(view);
    if (room == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    for (int32_t t = 0; t < view->model->tree_count; t++) {
        if (view->asleep != NULL && view->asleep[t]) {
            continue;
        }
        stn_status status = semi_implicit_form_tree(view, t, formed, room, err);
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

void semi_implicit_advance(const stn_integrator_view *view, const double *v, double *q_next, double *v_next) {
    stn_integrate_q(view->model, view->q, view->v_position != NULL ? view->v_position : v, view->dt, q_next);
    for (int32_t d = 0; d < view->model->nv; d++) {
        v_next[d] = v[d];
    }
}
