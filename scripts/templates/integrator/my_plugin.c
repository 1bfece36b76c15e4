// my_plugin.c: symplectic Euler, springs and dampers implicit. M, the bias forces c and the affine forces
// tau - K (q - q0) - D (v - v0) are those of the step's start:
//   A = M + dt^2 K + dt D,   A (v_star - v0) = dt (tau - c) - dt^2 K v0,   q = q0 + dt N v
// Contacts come between form and advance: advance gets the v that they left.
// What to change first: where c is taken (stn_kinematics at another q, v: view->scratch_kinematics), or how q moves.
#include <stiction/plugin.h>

/// One tree: its block of A, and the impulse that the core divides by A.
static stn_status form_tree(const stn_integrator_view *view, int32_t t, stn_formed *formed, stn_error *err) {
    const stn_tree *tree = &view->model->trees[t];
    const stn_forces *forces = view->forces;
    double dt = view->dt, *impulse = formed->free_impulse + tree->v_start;
    stn_spatial *scratch = STN_ARENA(view->arena, tree->body_count + 1, stn_spatial);
    double *bias = STN_ARENA(view->arena, tree->nv + 1, double);
    if (scratch == NULL || bias == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    stn_inverse_dynamics(view->kinematics, t, view->gravity, NULL, scratch, bias); // c: without accelerations
    for (int32_t i = 0; i < tree->nv; i++) {
        impulse[i] = dt * (forces->tau[tree->v_start + i] - bias[i]);
    }
    stn_matrix_mul_add(&forces->K[t], -dt * dt, view->v + tree->v_start, impulse);
    stn_matrix *A = &formed->A[t];
    stn_status status = stn_matrix_add_scaled(A, 1.0, &view->M[t]);
    status = status == STN_OK ? stn_matrix_add_scaled(A, dt * dt, &forces->K[t]) : status;
    return status == STN_OK ? stn_matrix_add_scaled(A, dt, &forces->D[t]) : status;
}

static stn_status form(void *self, const stn_integrator_view *view, void *state, stn_formed *formed, stn_error *err) {
    (void)self, (void)state;
    stn_status status = STN_OK;
    for (int32_t t = 0; t < view->model->tree_count && status == STN_OK; t++) {
        status = form_tree(view, t, formed, err);
    }
    for (int32_t d = 0; d < view->model->nv; d++) {
        formed->v_star[d] = view->v[d];
    }
    return status;
}

static stn_status advance(void *self, const stn_integrator_view *view, void *state, const stn_problem *problem,
                          const double *v, const double *gamma, double *q_next, double *v_next, stn_error *err) {
    (void)self, (void)state, (void)problem, (void)gamma, (void)err;
    stn_integrate_q(view->model, view->q, v, view->dt, q_next); // quaternions turn by the exponential map
    for (int32_t d = 0; d < view->model->nv; d++) {
        v_next[d] = v[d];
    }
    return STN_OK;
}

static const stn_integrator_ops ops = {.size = sizeof ops, .form = form, .advance = advance};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_INTEGRATOR,
    .id = "my_plugin",
    .version = "0.1.0",
    .summary = "Symplectic Euler with implicit springs and dampers",
    .ops.integrator = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor); // the one exported symbol
