// SPDX-License-Identifier: Apache-2.0
// Symplectic Euler with implicit springs and dampers (linearly implicit Euler) [castro-2022, II-D]:
//
//     A = M + dt^2 K + dt D,    A (v* - v0) = dt (tau - c(q0, v0, v*)) - dt^2 K v0,    q = q0 + dt N(q0) v
//
// where c holds gravity and the Coriolis forces, a quadratic form in the velocities, as its symmetric bilinear form
// (turning_tree.c; spinning_body.c takes free bodies and frames at the mean velocity). Without K and D it is symplectic
// Euler for constant M, and reversible for any: first order, energy that does not drift.
#include <stiction/plugin.h>

#include "common/semi_implicit.h"

static stn_status form(void *self, const stn_integrator_view *view, void *state, stn_formed *formed, stn_error *err) {
    (void)self, (void)state;
    return semi_implicit_form(view, formed, err);
}

static stn_status advance(void *self, const stn_integrator_view *view, void *state, const stn_problem *problem,
                          const double *v, const double *gamma, double *q_next, double *v_next, stn_error *err) {
    (void)self, (void)state, (void)problem, (void)gamma, (void)err;
    semi_implicit_advance(view, v, q_next, v_next);
    return STN_OK;
}

static const stn_integrator_ops ops = {.size = sizeof ops, .form = form, .advance = advance};

static const char *const capabilities[] = {"v_position", "sleep", "articulated", "writes_A", NULL};

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
