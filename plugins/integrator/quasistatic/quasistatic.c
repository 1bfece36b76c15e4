// SPDX-License-Identifier: Apache-2.0
// Quasistatic steps: forces balance at the end of each, inertia plays no part, velocities start from rest [pang-2021].
//
//     dt (tau(q, v) - g(q0)) + J^T gamma = 0,    tau(q, v) = tau - K dt v - D (v - v0)
//     A = dt^2 K + dt D,    A v = dt (tau + D v0 - g) + J^T gamma,    q = q0 + dt N(q0) v
//
// Gains of controllers, springs of joints and elements are K, dampers D; equation 10 of the paper is this with D = 0.
// Where no spring and no damper holds a velocity A is zero: contacts alone determine it, and the solver has to be one
// for singular A. `unactuated_mass_scale` s > 0 puts s M there, which makes A regular.
#include <math.h>
#include <string.h>

#include <stiction/plugin.h>

typedef struct quasistatic_config {
    double unactuated_mass_scale, scale_time, reach;
    bool carries;
} quasistatic_config;

static const stn_param params[] = {
    STN_PARAM_REAL(quasistatic_config, unactuated_mass_scale, "1", 0.0, 0.0, 1e6,
                   "share of its mass by which each step resists what no spring or damper holds; 0: balance of forces "
                   "alone, for solvers that take singular A"),
    STN_PARAM_REAL(quasistatic_config, scale_time, "s", 0.01, 1e-9, 1e9,
                   "laws and rows are regularised as in dynamic steps of this length, where dt is longer"),
    STN_PARAM_REAL(quasistatic_config, reach, "m", 0.01, 0.0, 1e9,
                   "contacts nearer than this are in the problem, whatever moves"),
    STN_PARAM_BOOL(quasistatic_config, carries, true,
                   "the reach of all contacts follows from the fastest speed, as what moves may carry the rest; false: "
                   "from the speeds of the pair now and as commanded"),
};

/// An object that nothing supports falls by g dt^2/s in a step. Beyond this a relative tolerance means nothing [m].
static const double farthest_fall = 1e4;

/// What holds a velocity beside contacts.
typedef struct holds {
    bool *held;      // (n) by a spring or damper
    double *kp, *kd; // (n) of motors with a limit, which are rows of the problem
    double *command; // (n) [m/s], [rad/s] at which such a motor is where it is told to be; 0 without
    bool any_motor;
} holds;

static bool make_holds(const stn_integrator_view *view, int32_t t, holds *h) {
    const stn_tree *tree = &view->model->trees[t];
    const stn_matrix *both[2] = {&view->forces->K[t], &view->forces->D[t]};
    double *diagonal = STN_ARENA(view->arena, tree->nv, double);
    h->held = STN_ARENA_ZEROED(view->arena, tree->nv, bool);
    h->kp = STN_ARENA_ZEROED(view->arena, tree->nv, double);
    h->kd = STN_ARENA_ZEROED(view->arena, tree->nv, double);
    h->command = STN_ARENA_ZEROED(view->arena, tree->nv, double);
    h->any_motor = false;
    if (diagonal == NULL || h->held == NULL || h->kp == NULL || h->kd == NULL || h->command == NULL) {
        return false;
    }
    for (int32_t m = 0; m < 2; m++) { // of a semidefinite matrix a row is zero where its diagonal is
        stn_matrix_diagonal(both[m], diagonal);
        for (int32_t i = 0; i < tree->nv; i++) {
            h->held[i] = h->held[i] || diagonal[i] > 0.0;
        }
    }
    for (int32_t k = 0; k < view->forces->servo_count; k++) {
        const stn_servo *servo = &view->forces->servos[k];
        int32_t i = servo->dof - tree->v_start;
        double resistance = view->dt * servo->kp + servo->kd;
        if (i >= 0 && i < tree->nv && resistance > 0.0) {
            h->any_motor = true;
            h->kp[i] = servo->kp;
            h->kd[i] = servo->kd;
            h->command[i] = (-servo->kp * servo->error + servo->kd * servo->velocity + servo->feedforward) / resistance;
        }
    }
    return true;
}

/// a += s M of the velocities that nothing holds; of clouds of all nodes, whose springs leave rigid motions open.
static stn_status add_unheld_mass(const holds *h, double s, const stn_matrix *M, stn_matrix *a) {
    if (a->form != STN_MATRIX_DENSE || M->form != STN_MATRIX_DENSE) {
        return stn_matrix_add_scaled(a, s, M);
    }
    for (int32_t i = 0; i < M->n; i++) {
        for (int32_t j = 0; j < M->n; j++) {
            const size_t at = (size_t)i * (size_t)M->n + (size_t)j;
            a->values[at] += h->held[i] || h->held[j] ? 0.0 : s * M->values[at];
        }
    }
    return STN_OK;
}

/// The scale of a tree: as large as A, positive whatever K is, and a mass in it weighs what it does in dynamic steps of
/// scale_time, or of dt where that is less: regularisation by w displaces as much in a long step as in one of
/// scale_time, and in shorter ones friction creeps as slowly as it does in dynamic steps.
static stn_status make_scale(const quasistatic_config *config, const stn_integrator_view *view, int32_t t,
                             const holds *h, const stn_matrix *A, stn_matrix *scale) {
    const double dt = view->dt, share = fmax(1.0, dt / config->scale_time);
    *scale = *A;
    scale->values = STN_ARENA_ZEROED(view->arena, stn_matrix_value_count(A), double);
    if (scale->values == NULL) {
        return STN_ERR_MEMORY;
    }
    stn_status status = stn_matrix_add_scaled(scale, dt * dt, &view->forces->K[t]);
    status = status == STN_OK ? stn_matrix_add_scaled(scale, dt, &view->forces->D[t]) : status;
    status = status == STN_OK ? stn_matrix_add_scaled(scale, share * share, &view->M[t]) : status;
    for (int32_t i = 0; h->any_motor && i < A->n; i++) { // motors are of articulated trees, whose A is dense
        scale->values[(size_t)i * (size_t)(A->n + 1)] += dt * (dt * h->kp[i] + h->kd[i]);
    }
    return status;
}

static stn_status form_tree(const quasistatic_config *config, const stn_integrator_view *view, int32_t t,
                            stn_formed *formed, stn_matrix *scale) {
    const stn_tree *tree = &view->model->trees[t];
    const double dt = view->dt;
    const stn_matrix *K = &view->forces->K[t], *D = &view->forces->D[t];
    stn_matrix *A = &formed->A[t];
    holds h;
    stn_spatial *scratch = STN_ARENA(view->arena, tree->body_count + 1, stn_spatial);
    double *gravity = STN_ARENA_ZEROED(view->arena, tree->nv, double);
    if (scratch == NULL || gravity == NULL || !make_holds(view, t, &h)) {
        return STN_ERR_MEMORY;
    }
    stn_status status = stn_matrix_add_scaled(A, dt * dt, K);
    status = status == STN_OK ? stn_matrix_add_scaled(A, dt, D) : status;
    status = status == STN_OK && config->unactuated_mass_scale > 0.0
                 ? add_unheld_mass(&h, config->unactuated_mass_scale, &view->M[t], A)
                 : status;
    status = status == STN_OK ? make_scale(config, view, t, &h, A, scale) : status;
    if (status != STN_OK) {
        return status;
    }
    double *impulse = formed->free_impulse + tree->v_start;
    stn_gravity_efforts(view->kinematics, t, view->gravity, scratch, gravity);
    for (int32_t i = 0; i < tree->nv; i++) {
        impulse[i] = dt * (view->forces->tau[tree->v_start + i] - gravity[i]);
        formed->v_told[tree->v_start + i] = h.command[i];
        formed->v0[tree->v_start + i] = formed->v_guess[tree->v_start + i] = 0.0;
    }
    stn_matrix_mul_add(D, dt, view->v + tree->v_start, impulse);
    return STN_OK;
}

static stn_status form(void *self, const stn_integrator_view *view, void *state, stn_formed *formed, stn_error *err) {
    (void)state;
    const quasistatic_config *config = self;
    const double s = config->unactuated_mass_scale, fall = stn_vec3_norm(view->gravity) * view->dt * view->dt;
    if (s > 0.0 && fall > s * farthest_fall) {
        return stn_fail(
            err, STN_ERR_ARGUMENT,
            "dt = %g s and unactuated_mass_scale = %g: what nothing supports would fall by %.3g m in a step, "
            "at most %g m are allowed: take a shorter step, a larger scale, or 0",
            view->dt, s, fall / s, farthest_fall);
    }
    stn_matrix *scale = STN_ARENA_ZEROED(view->arena, view->model->tree_count, stn_matrix);
    stn_status status = scale == NULL ? STN_ERR_MEMORY : STN_OK;
    for (int32_t t = 0; t < view->model->tree_count && status == STN_OK; t++) {
        status = form_tree(config, view, t, formed, &scale[t]);
    }
    formed->scale = scale;
    formed->relaxation_time = 0.0; // a gap closes within the step: phi/dt + v_n >= 0, equation 8 of the paper
    formed->reach = config->reach;
    formed->carries = config->carries;
    formed->exact_contacts = true;
    formed->singular_by = s > 0.0 ? NULL : "unactuated_mass_scale = 0 of integrator quasistatic";
    return status == STN_ERR_MEMORY ? stn_fail(err, status, "out of memory")
           : status != STN_OK       ? stn_fail(err, status, "the stiffness of a tree has a form that A cannot hold")
                                    : STN_OK;
}

static stn_status advance(void *self, const stn_integrator_view *view, void *state, const stn_problem *problem,
                          const double *v, const double *gamma, double *q_next, double *v_next, stn_error *err) {
    (void)self, (void)state, (void)problem, (void)gamma, (void)err;
    stn_integrate_q(view->model, view->q, v, view->dt, q_next); // rotations by the exponential map
    memcpy(v_next, v, (size_t)view->model->nv * sizeof *v);
    return STN_OK;
}

static const stn_integrator_ops ops = {.size = sizeof ops, .form = form, .advance = advance};
static const char *const capabilities[] = {"quasistatic", NULL};
static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_INTEGRATOR,
    .id = "quasistatic",
    .version = "0.1.0",
    .summary = "Balance of forces in each step, without inertia: large steps, actuators as impedances",
    .reference = "pang-2021, equations 9 and 10",
    .capabilities = capabilities,
    .config_size = sizeof(quasistatic_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.integrator = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
