// SPDX-License-Identifier: Apache-2.0
// Rigid contacts for solvers of exact friction: as stiff as the step can resolve.
//
//     R_n = beta^2/(4 pi^2) w,  k = 1/(dt R_n (dt + tau_d)),  beta = 0.3:  a period of 0.3 steps   S(29)
//
// Bodies that overlap a little from two sides, and bodies on more contacts than they need, have no or no unique
// impulses where contacts are rigid: those found grow by the sweep until friction lets go somewhere. With this k there
// is always one set of normal impulses; a body at rest on the ground sinks in by about g dt^2/100. Friction is
// Coulomb's, without compliance, so that nothing creeps. Impacts that bounce by their restitution are instants and stay
// rigid. A law has its own near-rigid R. With true stiction contacts stay rigid, too: its anchors let go where contacts
// contradict each other (docs/stiction.md).
#include "problem/regularize.h"
#include "world/world.h"

static const double beta = 0.3;

void stn_step_soften(const step_setup *setup, step_frame *frame) {
    stn_problem *p = &frame->problem;
    if (setup->options.exact_contacts || setup->options.stiction || setup->plugin[STN_KIND_LAW] != NULL) {
        return;
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        stn_constraint *c = &p->constraints[i];
        double speed;
        bool rigid = c->kind == STN_CONSTRAINT_CONTACT && isinf(c->stiffness) && c->w > 0.0;
        if (rigid && !problem_impact(p, c, &speed)) {
            double R = beta * beta / (4.0 * STN_PI * STN_PI) * c->w;
            c->stiffness = 1.0 / (p->dt * R * (p->dt + c->relaxation_time));
        }
    }
}
