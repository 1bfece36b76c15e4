// SPDX-License-Identifier: Apache-2.0
// The static coefficient of friction. A velocity-level law knows one coefficient; it is chosen for each contact from
// the slip speed that the step begins with, so that the step's problem stays convex:
//     mu(s) = mu_d + (mu_s - mu_d)/2 (1 - f(s - 10)/f(10)),   s = |v_t0|/v_s,   f(x) = x/sqrt(1 + x^2)
// mu(0) = mu_s, half of the way at s = 10, mu(20) = mu_d; beyond that the formula would end at
// (sqrt(101)/10 - 1)/2 = 0.25 % of the difference below mu_d, and mu_d is kept. v_s is the law's slip_tolerance.
// Contacts whose slip is below 20 v_s reach 20 v_s (mu_s - mu_d) too little to be told (collide.c asks with mu_d).
#include "world/assemble.h"

static const double usual_tolerance = 1e-4; // [m/s] where a law tells none

double law_slip_tolerance(const stn_instance *law) {
    const stn_law_ops *ops = law != NULL ? law->desc->ops.law : NULL;
    return ops != NULL && STN_PLUGIN_HAS(ops, slip_tolerance) ? ops->slip_tolerance(law->self) : usual_tolerance;
}

static double f(double x) {
    return x / sqrt(1.0 + x * x);
}

/// mu for a slip of s slip tolerances.
static double friction_at_slip(double mu_dynamic, double mu_static, double s) {
    double share = s < 20.0 ? 0.5 * (1.0 - f(s - 10.0) / f(10.0)) : 0.0;
    return mu_dynamic + (mu_static - mu_dynamic) * share;
}

void apply_static_friction(const step_setup *setup, const step_frame *frame, const stn_contact *contact,
                           stn_constraint *c) {
    const double *bias = frame->problem.bias + c->row;
    double v_c[3];
    stn_constraint_velocity(&frame->problem, c, frame->problem.v0, v_c);
    double s = hypot(v_c[0] + bias[0], v_c[1] + bias[1]) / setup->slip_tolerance;
    double mu = friction_at_slip(contact->material.mu, contact->material.mu_static, s);
    if (c->set == STN_SET_CONE && c->mu1 == contact->material.mu) {
        c->mu1 = c->mu2 = mu;
    } else if (contact->material.mu > 0.0) { // across the direction it holds better by the same ratio
        double ratio = mu / contact->material.mu;
        c->mu1 *= ratio;
        c->mu2 *= ratio;
    }
}

/// Surfaces and the calls of contact_material are checked alone: only a mu_static of a pair and a mu of its surfaces,
/// or of another call, come here. Means of the same numbers may differ in the last digits.
void say_static_friction_lost(const step_setup *setup, step_services *services, const stn_contact *contact) {
    const stn_material *m = &contact->material;
    if (services->static_friction_said || m->mu_static > m->mu * (1.0 - 1e-12)) {
        return;
    }
    services->static_friction_said = true;
    char a[160], b[160];
    stn_describe_geometry(setup->model, contact->geometry_a, a, sizeof a);
    stn_describe_geometry(setup->model, contact->geometry_b, b, sizeof b);
    stn_log(services->context, STN_LOG_WARNING,
            "the contact of %s and %s: mu_static = %g has no effect below mu = %g: state mu beside it", a, b,
            m->mu_static, m->mu);
}
