// SPDX-License-Identifier: Apache-2.0
// A look at compliant contacts that a step cannot resolve. A contact of stiffness k between bodies of inverse mass w
// oscillates with the period T = 2 pi / sqrt(k w). When the step is longer than T, bounce, damping and indentation are
// those of the step and not of the material; near-rigid laws then take a stiffness that the step can resolve.
#include <math.h>
#include <stdio.h>

#include "world/world.h"

static const double steps_per_period = 10.0; // what we suggest: sap's two-stage schemes are then good to some per cent

/// (dt / T)^2; 0 for contacts without a finite stiffness.
static double coarseness(const step_frame *frame, const stn_constraint *c) {
    const stn_problem *p = &frame->problem;
    bool compliant = c->kind == STN_CONSTRAINT_CONTACT && c->w > 0.0 &&
                     isfinite(frame->contacts.contacts[c->contact].material.stiffness); // as it was asked for
    return compliant ? p->dt * p->dt * c->stiffness * c->w / (4.0 * STN_PI * STN_PI) : 0.0;
}

/// How the contact acts instead: with the stiffness that is left of R, where the law made it softer.
static void describe_effect(const stn_problem *p, const stn_constraint *c, char *text, size_t size) {
    double R = p->R[c->row + 2], asked = 1.0 / (p->dt * c->stiffness * (p->dt + c->relaxation_time));
    if (R > asked * (1.0 + 1e-9)) {
        snprintf(text, size, "the law makes it as soft as %.2g N/m", 1.0 / (R * p->dt * (p->dt + c->relaxation_time)));
    } else {
        snprintf(text, size, "its bounce and damping are those of the step");
    }
}

void stn_step_check_resolution(const step_setup *setup, step_frame *frame, step_services *services) {
    const stn_problem *p = &frame->problem;
    const stn_constraint *worst = NULL;
    double most = 1.0;
    for (int32_t i = 0; i < p->constraint_count && !services->resolution_said; i++) {
        double coarse = coarseness(frame, &p->constraints[i]);
        if (coarse > most) {
            most = coarse;
            worst = &p->constraints[i];
        }
    }
    if (worst == NULL) {
        return;
    }
    services->resolution_said = true;
    const stn_contact *contact = &frame->contacts.contacts[worst->contact];
    double period = p->dt / sqrt(most);
    char a[160], b[160], effect[96];
    stn_describe_geometry(setup->model, contact->geometry_a, a, sizeof a);
    stn_describe_geometry(setup->model, contact->geometry_b, b, sizeof b);
    describe_effect(p, worst, effect, sizeof effect);
    stn_log(
        services->context, STN_LOG_WARNING,
        "the contact of %s and %s with stiffness %.3g N/m has a period of %.2g s, shorter than the step of %.2g s: %s; "
        "dt = %.1g s would resolve it, and without a stiffness contact is rigid",
        a, b, worst->stiffness, period, p->dt, effect, period / steps_per_period);
}
