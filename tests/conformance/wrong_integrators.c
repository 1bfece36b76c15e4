// SPDX-License-Identifier: Apache-2.0
// Linearly implicit Euler, right and with one fault each:
//   A = M + dt^2 K + dt D,   A (v* - v0) = dt (tau - c) - dt^2 K v0,   q = q0 + dt N v
#include "misconduct.h" // first: it asks for more of the system's headers

#include <string.h>

#include <stiction/plugin.h>

typedef enum fault {
    NONE,
    HALF_GRAVITY,
    NO_GYROSCOPE,
    NO_SPRINGS,
    OLD_VELOCITY, // moves by half of v0 where it says nothing of it
    LINEAR_QUATERNIONS,
    NO_CONTACTS,
    COUNTS,
    ALLOCATES,
    FAILS,
    QUASISTATIC, // A = dt^2 K: a balance of forces
} fault;

typedef struct config {
    int32_t fault;
} config;

static stn_status form_tree(fault f, const stn_integrator_view *view, int32_t t, stn_formed *formed, stn_error *err) {
    const stn_tree *tree = &view->model->trees[t];
    double dt = view->dt, *impulse = formed->free_impulse + tree->v_start;
    stn_spatial *scratch = STN_ARENA(view->arena, tree->body_count + 1, stn_spatial);
    double *bias = STN_ARENA(view->arena, tree->nv + 1, double);
    if (scratch == NULL || bias == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    if (f == QUASISTATIC) {
        stn_gravity_efforts(view->kinematics, t, view->gravity, scratch, bias);
        for (int32_t i = 0; i < tree->nv; i++) {
            impulse[i] = dt * (view->forces->tau[tree->v_start + i] - bias[i]);
            formed->v0[tree->v_start + i] = formed->v_guess[tree->v_start + i] = 0.0;
        }
        return stn_matrix_add_scaled(&formed->A[t], dt * dt, &view->forces->K[t]);
    }
    stn_vec3 gravity = f == HALF_GRAVITY ? stn_vec3_scale(0.5, view->gravity) : view->gravity;
    stn_inverse_dynamics(view->kinematics, t, gravity, NULL, scratch, bias);
    for (int32_t i = 0; i < tree->nv; i++) {
        bool gyroscope = tree->nv == 6 && i > 2;
        impulse[i] = f == NO_GYROSCOPE && gyroscope ? 0.0 : dt * (view->forces->tau[tree->v_start + i] - bias[i]);
    }
    stn_matrix *A = &formed->A[t];
    stn_status status = stn_matrix_add_scaled(A, 1.0, &view->M[t]);
    if (f != NO_SPRINGS) {
        stn_matrix_mul_add(&view->forces->K[t], -dt * dt, view->v + tree->v_start, impulse);
        status = status == STN_OK ? stn_matrix_add_scaled(A, dt * dt, &view->forces->K[t]) : status;
        status = status == STN_OK ? stn_matrix_add_scaled(A, dt, &view->forces->D[t]) : status;
    } else {
        for (int32_t i = 0; i < tree->nv && tree->nv == 1; i++) {
            impulse[i] += dt * bias[i] - dt * view->forces->tau[tree->v_start + i];
        }
    }
    return status;
}

static stn_status form(void *self, const stn_integrator_view *view, void *state, stn_formed *formed, stn_error *err) {
    (void)state;
    fault f = (fault)((const config *)self)->fault;
    if (f == FAILS) {
        return stn_fail(err, STN_ERR_UNSUPPORTED, "on purpose");
    }
    if (f == ALLOCATES) {
        stn_release(view->context, stn_allocate(view->context, 1, 8));
    }
    misbehave((int32_t)f, formed->v_star, view->model->nv, view->arena);
    stn_status status = STN_OK;
    for (int32_t t = 0; t < view->model->tree_count && status == STN_OK; t++) {
        status = form_tree(f, view, t, formed, err);
    }
    if (f != QUASISTATIC) { // whose v_star is 0
        memcpy(formed->v_star, view->v, (size_t)view->model->nv * sizeof *view->v);
    }
    return status;
}

static stn_status advance(void *self, const stn_integrator_view *view, void *state, const stn_problem *problem,
                          const double *v, const double *gamma, double *q_next, double *v_next, stn_error *err) {
    (void)state, (void)gamma, (void)err;
    static double calls;
    fault f = (fault)((const config *)self)->fault;
    for (int32_t d = 0; d < view->model->nv; d++) {
        v_next[d] = f == NO_CONTACTS ? problem->v_star[d] : v[d];
        v_next[d] = f == OLD_VELOCITY ? 0.5 * v[d] + 0.5 * view->v[d] : v_next[d];
    }
    if (f == COUNTS) {
        v_next[0] += 1e-15 * ++calls;
    }
    stn_integrate_q(view->model, view->q, v_next, view->dt, q_next);
    if (f == LINEAR_QUATERNIONS && view->model->nq == 7) {
        for (int32_t k = 3; k < 7; k++) {
            q_next[k] *= 1.0 + 1e-6;
        }
    }
    return STN_OK;
}

static const stn_integrator_ops ops = {.size = sizeof ops, .form = form, .advance = advance};

#define INTEGRATOR_THAT_SAYS(word, number, words)                                           \
    static const stn_param word##_params[] = {                                              \
        STN_PARAM_INT(config, fault, "1", number, number, number, "what is wrong")};        \
    static const stn_plugin_desc word = {.size = sizeof word,                               \
                                         .kind = STN_KIND_INTEGRATOR,                       \
                                         .id = "wrong_" #word,                              \
                                         .version = "1",                                    \
                                         .summary = "linearly implicit Euler with a fault", \
                                         .capabilities = words,                             \
                                         .config_size = sizeof(config),                     \
                                         .params = word##_params,                           \
                                         .param_count = 1,                                  \
                                         .ops.integrator = &ops};
#define INTEGRATOR(word, number) INTEGRATOR_THAT_SAYS(word, number, NULL)

static const char *const quasistatic[] = {"quasistatic", NULL};

INTEGRATOR(still, QUASISTATIC)
INTEGRATOR_THAT_SAYS(quasistatic_still, QUASISTATIC, quasistatic)
INTEGRATOR_THAT_SAYS(quasistatic_none, NONE, quasistatic)
INTEGRATOR(none, NONE)
INTEGRATOR(gravity, HALF_GRAVITY)
INTEGRATOR(gyroscope, NO_GYROSCOPE)
INTEGRATOR(springs, NO_SPRINGS)
INTEGRATOR(velocity, OLD_VELOCITY)
INTEGRATOR(quaternions, LINEAR_QUATERNIONS)
INTEGRATOR(contacts, NO_CONTACTS)
INTEGRATOR(counter, COUNTS)
INTEGRATOR(allocation, ALLOCATES)
INTEGRATOR(fails, FAILS)

#define WITH_MISCONDUCT(word) INTEGRATOR(word, MISCONDUCT_##word)
#define ITS_DESCRIPTOR(word)  , &(word)
STN_MISCONDUCTS(WITH_MISCONDUCT)

STN_PLUGIN_LIBRARY(&still, &quasistatic_still, &quasistatic_none, &none, &gravity, &gyroscope, &springs, &velocity,
                   &quaternions, &contacts, &counter, &allocation, &fails STN_MISCONDUCTS(ITS_DESCRIPTOR));
