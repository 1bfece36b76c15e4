// SPDX-License-Identifier: Apache-2.0
// Two-stage theta schemes [castro-2022, S(6), S(7), S(11), S(15)]:
//
//     q_th = q0 + theta dt N v_vq,   v_th = theta v + (1 - theta) v0,   v_vq = theta_vq v + (1 - theta_vq) v0
//     M(q_th) (v - v0) = dt k(q_th, v_th) + J^T gamma,   q = q0 + dt N v_vq
//
// Stage 1 (free_motion.c) solves this without gamma for v* and gives A = M + dt^2 theta theta_vq K + dt theta D; stage
// 2 is the core's contact problem A (v - v*) = J^T gamma in the velocities of the step's end, whatever theta is, with
// contacts where they are at q0 + theta dt N v0 when positions do not move by v alone (contact_theta); stage 3 moves
// the positions, rotations by the exponential map. The well known schemes have plugins of their own.
#include <stdlib.h>

#include <stiction/plugin.h>

#include "free_motion.h"

enum { MIDPOINT, IMPLICIT_EULER, SYMPLECTIC_EULER, EXPLICIT_EULER, CUSTOM };

static const char *const names[] = {"midpoint", "implicit_euler", "symplectic_euler", "explicit_euler", "custom", NULL};

static const theta_scheme schemes[] = {
    [MIDPOINT] = {0.5, 0.5},
    [IMPLICIT_EULER] = {1.0, 1.0},
    [SYMPLECTIC_EULER] = {0.0, 1.0},
    [EXPLICIT_EULER] = {0.0, 0.0},
};

typedef struct theta_config {
    int32_t scheme;
    double theta, theta_vq;
} theta_config;

static const stn_param params[] = {
    STN_PARAM_CHOICE(theta_config, scheme, names, MIDPOINT, "custom: by theta and theta_vq"),
    STN_PARAM_REAL(theta_config, theta, "1", 0.5, 0.0, 1.0, "of custom: where in the step forces are taken"),
    STN_PARAM_REAL(theta_config, theta_vq, "1", 0.5, 0.0, 1.0, "of custom: share of the new velocity in the motion"),
};

// ------------------------------------------------------------------------------------------------------- the choice

static stn_status keep(theta_scheme scheme, void **self, stn_error *err) {
    theta_scheme *kept = malloc(sizeof *kept);
    if (kept == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    *kept = scheme;
    *self = kept;
    return STN_OK;
}

static stn_status create_theta(stn_context *context, const void *config, void **self, stn_error *err) {
    (void)context;
    const theta_config *c = config;
    if (c->scheme == CUSTOM) {
        return keep((theta_scheme){c->theta, c->theta_vq}, self, err);
    }
    if (c->theta != params[1].default_number || c->theta_vq != params[2].default_number) {
        return stn_fail(err, STN_ERR_PARAMETER,
                        "integrator theta: theta and theta_vq belong to scheme = \"custom\", not to %s",
                        names[c->scheme]);
    }
    return keep(schemes[c->scheme], self, err);
}

static stn_status create_midpoint(stn_context *context, const void *config, void **self, stn_error *err) {
    (void)context, (void)config;
    return keep(schemes[MIDPOINT], self, err);
}

static stn_status create_implicit_euler(stn_context *context, const void *config, void **self, stn_error *err) {
    (void)context, (void)config;
    return keep(schemes[IMPLICIT_EULER], self, err);
}

static stn_status create_explicit_euler(stn_context *context, const void *config, void **self, stn_error *err) {
    (void)context, (void)config;
    return keep(schemes[EXPLICIT_EULER], self, err);
}

// --------------------------------------------------------------------------------------------------------- the step

static stn_status form(void *self, const stn_integrator_view *view, void *state, stn_formed *formed, stn_error *err) {
    (void)state;
    const theta_scheme *scheme = self;
    formed->force_theta = scheme->theta;
    formed->force_theta_vq = scheme->theta_vq;
    formed->contact_theta = scheme->theta_vq < 1.0 ? scheme->theta : 0.0;
    return theta_free_motion(scheme, view, formed, err);
}

static stn_status advance(void *self, const stn_integrator_view *view, void *state, const stn_problem *problem,
                          const double *v, const double *gamma, double *q_next, double *v_next, stn_error *err) {
    (void)state, (void)problem, (void)gamma, (void)err;
    const theta_scheme *scheme = self;
    for (int32_t d = 0; d < view->model->nv; d++) { // v_vq first
        v_next[d] = scheme->theta_vq * v[d] + (1.0 - scheme->theta_vq) * view->v[d];
    }
    stn_integrate_q(view->model, view->q, view->v_position != NULL ? view->v_position : v_next, view->dt, q_next);
    for (int32_t d = 0; d < view->model->nv; d++) {
        v_next[d] = v[d];
    }
    return STN_OK;
}

static const stn_integrator_ops ops = {.size = sizeof ops, .form = form, .advance = advance};

static const char *const capabilities[] = {"v_position", "sleep", NULL};

#define PLUGIN(name, text)                                                                                          \
    .size = sizeof(stn_plugin_desc), .kind = STN_KIND_INTEGRATOR, .id = #name, .version = "1.0.0", .summary = text, \
    .reference = "castro-2022, section II", .capabilities = capabilities, .create = create_##name, .destroy = free, \
    .ops.integrator = &ops

static const stn_plugin_desc theta = {
    PLUGIN(theta, "Two-stage theta schemes: midpoint, implicit, symplectic and explicit Euler, or any other"),
    .config_size = sizeof(theta_config),
    .params = params,
    .param_count = STN_COUNT(params),
};
static const stn_plugin_desc midpoint = {
    PLUGIN(midpoint, "theta = theta_vq = 1/2: second order, keeps energy; no damping of its own")};
static const stn_plugin_desc implicit_euler = {
    PLUGIN(implicit_euler, "theta = theta_vq = 1: first order, damps; steady at any stiffness")};
static const stn_plugin_desc explicit_euler = {
    PLUGIN(explicit_euler, "theta = theta_vq = 0: first order, gains energy; to compare with")};
STN_PLUGIN_LIBRARY(&theta, &midpoint, &implicit_euler, &explicit_euler);
