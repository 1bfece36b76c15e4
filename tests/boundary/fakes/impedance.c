// SPDX-License-Identifier: Apache-2.0
// A controller with implicit stiffness and damping in a task coordinate, the sum of its dofs: f = -k (x - x_ref) - d
// xdot.
#include <stiction/plugin.h>

typedef struct impedance {
    double k, d;
} impedance;
static const stn_param params[] = {
    STN_PARAM_REAL(impedance, k, "N/m", 1.0, 0.0, INFINITY, "stiffness"),
    STN_PARAM_REAL(impedance, d, "N s/m", 0.0, 0.0, INFINITY, "damping"),
};
static const stn_channel channels[] = {{"task", "m", "where the sum of the coordinates should be", 1}};

static stn_status evaluate(void *self, const stn_control_view *view, const double *reference, void *state,
                           stn_forces *forces, stn_error *err) {
    (void)state;
    const impedance *config = self;
    const stn_model *model = view->target->model;
    int32_t t = model->dof_tree[view->target->dof[0]];
    int32_t first = model->trees[t].v_start, n = model->trees[t].nv;
    double *tau = STN_ARENA_ZEROED(view->arena, n, double), *K = STN_ARENA_ZEROED(view->arena, n * n, double),
           *D = STN_ARENA_ZEROED(view->arena, n * n, double);
    if (tau == NULL || K == NULL || D == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    double x = 0.0, xdot = 0.0;
    for (int32_t i = 0; i < view->target->dof_count; i++) {
        int32_t dof = view->target->dof[i];
        tau[dof - first] = 1.0; // of the task's row
        x += view->q[model->joints[view->target->joint[i]].q_start];
        xdot += view->v[dof];
    }
    double f0 = -config->k * (x - reference[0]) - config->d * xdot;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            K[i * n + j] = config->k * tau[i] * tau[j];
            D[i * n + j] = config->d * tau[i] * tau[j];
        }
    }
    for (int32_t i = 0; i < n; i++) {
        tau[i] *= f0;
    }
    stn_forces_add_matrix(forces, t, K, D, tau);
    return STN_OK;
}

static const stn_controller_ops ops = {
    .size = sizeof ops, .channel_count = 1, .channels = channels, .evaluate = evaluate};
static const stn_plugin_desc fake = {.size = sizeof fake,
                                     .kind = STN_KIND_CONTROLLER,
                                     .id = "fake_impedance",
                                     .version = "0",
                                     .summary = "implicit task stiffness",
                                     .config_size = sizeof(impedance),
                                     .params = params,
                                     .param_count = STN_COUNT(params),
                                     .ops.controller = &ops};
STN_PLUGIN_LIBRARY(&fake);
