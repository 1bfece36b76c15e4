// SPDX-License-Identifier: Apache-2.0
// Quasistatic stepping: A = dt^2 K, which is zero, so singular, for everything that no spring holds; velocities
// restart. `extra` makes A regular or, where it is negative, indefinite; `own_scale` hands over a scale.
#include <stiction/plugin.h>

typedef struct quasistatic_config {
    double extra, own_scale;
} quasistatic_config;

static const stn_param params[] = {
    STN_PARAM_REAL(quasistatic_config, extra, "kg", 0.0, -1e9, 1e9, "added to the diagonal of A"),
    STN_PARAM_REAL(quasistatic_config, own_scale, "1", 0.0, 0.0, 1e9, "scale of A in mass matrices; 0: the core's"),
};

static stn_status form(void *self, const stn_integrator_view *view, void *state, stn_formed *formed, stn_error *err) {
    (void)state;
    const quasistatic_config *config = self;
    stn_matrix *scale = STN_ARENA_ZEROED(view->arena, view->model->tree_count, stn_matrix);
    formed->scale = config->own_scale > 0.0 ? scale : NULL;
    for (int32_t t = 0; t < view->model->tree_count; t++) {
        const stn_tree *tree = &view->model->trees[t];
        stn_spatial *scratch = STN_ARENA(view->arena, tree->body_count, stn_spatial);
        double *hold = STN_ARENA(view->arena, tree->nv, double);
        if (scratch == NULL || hold == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "out of memory");
        }
        stn_gravity_efforts(view->kinematics, t, view->gravity, scratch, hold);
        for (int32_t i = 0; i < tree->nv; i++) {
            formed->free_impulse[tree->v_start + i] = view->dt * (view->forces->tau[tree->v_start + i] - hold[i]);
            formed->v0[tree->v_start + i] = formed->v_guess[tree->v_start + i] = 0.0;
        }
        stn_status status = stn_matrix_add_scaled(&formed->A[t], view->dt * view->dt, &view->forces->K[t]);
        if (status != STN_OK) {
            return status;
        }
        const stn_matrix *M = &view->M[t];
        scale[t] = *M;
        scale[t].values = STN_ARENA(view->arena, stn_matrix_value_count(M), double);
        for (int64_t i = 0; i < stn_matrix_value_count(M); i++) {
            scale[t].values[i] = config->own_scale * M->values[i];
        }
        for (int32_t i = 0; i < tree->nv; i++) {
            formed->A[t].values[(int64_t)i * (tree->nv + 1)] += config->extra;
        }
    }
    return STN_OK;
}

static stn_status advance(void *self, const stn_integrator_view *view, void *state, const stn_problem *problem,
                          const double *v, const double *gamma, double *q_next, double *v_next, stn_error *err) {
    (void)self, (void)state, (void)problem, (void)gamma, (void)err;
    stn_integrate_q(view->model, view->q, v, view->dt, q_next);
    for (int32_t d = 0; d < view->model->nv; d++) {
        v_next[d] = v[d];
    }
    return STN_OK;
}

static const stn_integrator_ops ops = {.size = sizeof ops, .form = form, .advance = advance};
static const stn_plugin_desc fake = {.size = sizeof fake,
                                     .kind = STN_KIND_INTEGRATOR,
                                     .id = "fake_quasistatic",
                                     .version = "0",
                                     .summary = "quasistatic, singular A",
                                     .config_size = sizeof(quasistatic_config),
                                     .params = params,
                                     .param_count = STN_COUNT(params),
                                     .ops.integrator = &ops};
STN_PLUGIN_LIBRARY(&fake);
