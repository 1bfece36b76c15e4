// SPDX-License-Identifier: Apache-2.0
// A look at the first problem of a world: what a scene begins with by mistake. Rigid contacts and joint limits are
// driven out of their violation within about a step, at -phi0/(dt + tau_d) (the sap law's target velocity), so that a
// scene that begins with bodies inside each other flies apart, the faster the smaller dt is.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "world/world.h"

static const double harmless = 0.5; // [m/s], [rad/s]: what is thrown at 0.5 m/s rises by 13 mm

static double exit_speed(const stn_problem *p, const stn_constraint *c) {
    bool considered = c->kind == STN_CONSTRAINT_CONTACT || c->kind == STN_CONSTRAINT_LIMIT;
    return considered && isinf(c->stiffness) ? -c->phi0 / (p->dt + c->relaxation_time) : 0.0;
}

static void say_overlap(const stn_world *world, const stn_constraint *c, double speed, const char *others) {
    const stn_contact *contact = &world->contacts.contacts[c->contact];
    char a[160], b[160];
    stn_describe_geometry(world->model, contact->geometry_a, a, sizeof a);
    stn_describe_geometry(world->model, contact->geometry_b, b, sizeof b);
    stn_log(
        world->context, STN_LOG_WARNING,
        "the first step begins with %s and %s %.3g m inside each other%s; rigid contact drives them apart at %.2g m/s: "
        "place them apart, or give the contact a longer relaxation_time or a stiffness",
        a, b, -c->phi0, others, speed);
}

static void say_limit(const stn_world *world, const stn_constraint *c, double speed, const char *others) {
    for (int32_t j = 0; j < world->model->joint_count; j++) {
        const stn_joint *joint = &world->model->joints[j];
        double q = world->state.q[joint->q_start];
        if (joint->nv == 1 && joint->child == c->body[1] && (q < joint->lower || q > joint->upper)) {
            stn_log(
                world->context, STN_LOG_WARNING,
                "the first step begins with joint %s at %.4g, outside its limits %.4g to %.4g%s; they drive it back at "
                "%.3g a second: start it inside",
                joint->name, q, joint->lower, joint->upper, others, speed);
            return;
        }
    }
}

void stn_step_check_start(const stn_world *world) {
    const stn_problem *p = &world->problem;
    const stn_constraint *worst = NULL;
    double speed = harmless;
    int32_t count = 0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        double out = exit_speed(p, &p->constraints[i]);
        count += out > harmless;
        if (out > speed) {
            speed = out;
            worst = &p->constraints[i];
        }
    }
    if (worst == NULL) {
        return;
    }
    char others[64] = "";
    if (count > 1) {
        snprintf(others, sizeof others, " (%d more such contacts or joints)", count - 1);
    }
    (worst->kind == STN_CONSTRAINT_CONTACT ? say_overlap : say_limit)(world, worst, speed, others);
}
