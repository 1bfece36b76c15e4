// SPDX-License-Identifier: Apache-2.0
// A look at bodies that a convex law throws off what they slide over. Laws sap and similar couple the normal impulse to
// the slip: while a contact slides they push it apart until v_n - mu |v_t| fits, so that it glides at the height
// mu (dt + tau_d) |v_t|. Where a slip begins within a step the body is made to rise at up to mu |v_t|, whatever dt, and
// flies. Told once a run, after the flight began:
//
//     a sliding contact pushes, gamma_n > 0, though it parts within the step, phi0 + dt v_n > 0,
//     by more than half of mu |v_t| faster than before it, and high enough to be seen, v_n^2/(2 g);
//     then nothing between the two links pushes for a few steps
//
// Without the coupling such a contact has no impulse: what springs back, bounces or is thrown is not taken for it.
#include <math.h>

#include "base/context.h"
#include "world/world.h"

enum { FLIGHT = 3, PATIENCE = 20 }; // steps without a push; steps to wait for them
static const double coupled = 0.5;  // of mu |v_t|
static const double visible = 5e-3; // [m]

/// How high a contact that the law throws up would fly [m], 0: it is none. `v_c`: its velocity after the step.
static double height_of(const stn_state *state, const step_frame *frame, const stn_law *law, int32_t i, double *v_c) {
    const stn_problem *p = &frame->problem;
    const stn_constraint *c = &p->constraints[i];
    const double *gamma = frame->solution.gamma + c->row, *bias = p->bias + c->row;
    if (c->kind != STN_CONSTRAINT_CONTACT || !(gamma[2] > 0.0) ||
        !(hypot(gamma[0], gamma[1]) > coupled * c->mu1 * gamma[2])) {
        return 0.0;
    }
    double before[3];
    stn_constraint_velocity(p, c, frame->solution.v, v_c);
    for (int32_t r = 0; r < 3; r++) {
        v_c[r] += bias[r];
    }
    double coupling = coupled * c->mu1 * hypot(v_c[0], v_c[1]);
    if (!(v_c[2] > coupling) || !(c->phi0 + p->dt * v_c[2] > 0.0)) {
        return 0.0;
    }
    stn_constraint_velocity(p, c, p->v0, before);
    double glide = stn_ask_slip(law, p, i, v_c, gamma).glide_gap;
    double height = v_c[2] * v_c[2] / (2.0 * fmax(stn_vec3_norm(state->gravity), 1e-3));
    bool sudden = v_c[2] - fmax(before[2] + bias[2], 0.0) > coupling;
    return sudden && glide > 0.0 && height > fmax(glide, visible) ? height : 0.0;
}

/// The highest one of the step, where nothing higher is waited for.
static void look_for(const step_setup *setup, const stn_state *state, step_frame *frame, step_services *services,
                     const stn_law *law) {
    hop_watch *hop = &services->hop;
    for (int32_t i = 0; i < frame->contacts.count; i++) {
        double v_c[3], height = height_of(state, frame, law, i, v_c);
        if (height > hop->height) {
            const stn_constraint *c = &frame->problem.constraints[i];
            const stn_contact *contact = &frame->contacts.contacts[c->contact];
            *hop = (hop_watch){.links = stn_step_links(setup, frame, c),
                               .geometry = {contact->geometry_a, contact->geometry_b},
                               .height = height,
                               .slip_speed = hypot(v_c[0], v_c[1]),
                               .normal_speed = v_c[2],
                               .time = state->time};
        }
    }
}

static bool pushes(const step_setup *setup, const step_frame *frame, uint64_t links) {
    for (int32_t i = 0; i < frame->contacts.count; i++) {
        const stn_constraint *c = &frame->problem.constraints[i];
        if (frame->solution.gamma[c->row + 2] > 0.0 && stn_step_links(setup, frame, c) == links) {
            return true;
        }
    }
    return false;
}

static void say(const step_setup *setup, step_services *services, const stn_law *law) {
    const hop_watch *hop = &services->hop;
    services->hop_said = true;
    if (!stn_context_first_time(services->context, STN_SAID_HOP)) {
        return;
    }
    char a[160], b[160];
    stn_describe_geometry(setup->model, hop->geometry[0], a, sizeof a);
    stn_describe_geometry(setup->model, hop->geometry[1], b, sizeof b);
    stn_log(services->context, STN_LOG_WARNING,
            "t = %.4g s: law %s threw %s and %s apart at %.2g m/s, about %.2g cm high: their slip, %.2g m/s after the "
            "step, began within it, and this convex law makes up to mu times the slip a normal speed, at every dt; "
            "law lagged does not (docs/laws.md)",
            hop->time, law->id, a, b, hop->normal_speed, 100.0 * hop->height, hop->slip_speed);
}

void stn_step_watch_hops(const step_setup *setup, const stn_state *state, step_frame *frame, step_services *services) {
    stn_law law = stn_setup_law(setup);
    hop_watch *hop = &services->hop;
    if (services->hop_said || law.ops == NULL || !stn_law_tells_slip(&law)) {
        return;
    }
    if (hop->height > 0.0) {
        hop->age++;
        hop->apart = pushes(setup, frame, hop->links) ? 0 : hop->apart + 1;
        if (hop->apart >= FLIGHT) {
            say(setup, services, &law);
            return;
        }
        if (hop->age > PATIENCE) {
            *hop = (hop_watch){0};
        }
    }
    look_for(setup, state, frame, services, &law);
}
