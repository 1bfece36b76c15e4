// SPDX-License-Identifier: Apache-2.0
// Mid-step stepping, theta = 1/2: M/theta (v_mid - v0) = dt f + J^T gamma; positions move by v_mid. Counts its steps in
// its state.
#include <stiction/plugin.h>

static const double theta = 0.5;

static size_t state_size(const void *self, const stn_model *model) {
    (void)self, (void)model;
    return sizeof(int64_t);
}

static stn_status form(void *self, const stn_integrator_view *view, void *state, stn_formed *formed, stn_error *err) {
    (void)self;
    ++*(int64_t *)state;
    formed->velocity_kind = STN_VELOCITY_MID;
    formed->theta = theta;
    for (int32_t t = 0; t < view->model->tree_count; t++) {
        const stn_tree *tree = &view->model->trees[t];
        stn_spatial *scratch = STN_ARENA(view->arena, tree->body_count, stn_spatial);
        double *bias = STN_ARENA(view->arena, tree->nv, double);
        if (scratch == NULL || bias == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "out of memory");
        }
        stn_inverse_dynamics(view->kinematics, t, view->gravity, NULL, scratch, bias);
        for (int32_t i = tree->v_start; i < tree->v_start + tree->nv; i++) {
            formed->v_star[i] = view->v[i];
            formed->free_impulse[i] = view->dt * (view->forces->tau[i] - bias[i - tree->v_start]);
        }
        stn_status status = stn_matrix_add_scaled(&formed->A[t], 1.0 / theta, &view->M[t]);
        if (status != STN_OK) {
            return status;
        }
    }
    return STN_OK;
}

static stn_status advance(void *self, const stn_integrator_view *view, void *state, const stn_problem *problem,
                          const double *v, const double *gamma, double *q_next, double *v_next, stn_error *err) {
    (void)self, (void)state, (void)gamma, (void)err;
    stn_integrate_q(view->model, view->q, v, view->dt, q_next);
    for (int32_t d = 0; d < view->model->nv; d++) {
        v_next[d] = view->v[d] + (v[d] - view->v[d]) / problem->theta;
    }
    return STN_OK;
}

static const stn_integrator_ops ops = {.size = sizeof ops, .state_size = state_size, .form = form, .advance = advance};
static const stn_plugin_desc fake = {.size = sizeof fake,
                                     .kind = STN_KIND_INTEGRATOR,
                                     .id = "fake_midstep",
                                     .version = "0",
                                     .summary = "mid-step velocities",
                                     .ops.integrator = &ops};
STN_PLUGIN_LIBRARY(&fake);
