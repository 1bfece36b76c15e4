// SPDX-License-Identifier: Apache-2.0
// A look at the first problem of a world: what a scene begins with by mistake. Rigid contacts, joint limits and
// equality constraints are driven out of their violation within about a step, at -phi0/(dt + tau_d) (the sap law's
// target velocity), so that a scene that begins with bodies inside each other flies apart, the faster the smaller dt
// is.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "world/world.h"

static const double harmless = 0.5; // [m/s], [rad/s]: what is thrown at 0.5 m/s rises by 13 mm

static double exit_speed(const stn_problem *p, const stn_constraint *c) {
    bool considered = c->kind == STN_CONSTRAINT_CONTACT || c->kind == STN_CONSTRAINT_JOINT_LIMIT;
    return considered && isinf(c->stiffness) ? -c->phi0 / (p->dt + c->relaxation_time) : 0.0;
}

/// Of an equality constraint that is rigid, which has the relaxation time dt.
static double closing_speed(const step_frame *frame, const stn_equality *e, const double *error, int32_t rows) {
    double square[2] = {0.0, 0.0}, speed = 0.0;
    for (int32_t r = 0; r < rows; r++) {
        square[r / 3] += error[r] * error[r];
    }
    for (int32_t part = 0; part < 2; part++) {
        bool rigid = isinf(part == 0 ? e->stiffness : e->angular_stiffness);
        speed = fmax(speed, rigid ? sqrt(square[part]) / (2.0 * frame->dt) : 0.0);
    }
    return speed;
}

static void say_overlap(const step_setup *setup, const step_frame *frame, const step_services *services,
                        const stn_constraint *c, double speed, const char *others) {
    const stn_contact *contact = &frame->contacts.contacts[c->contact];
    char a[160], b[160];
    stn_describe_geometry(setup->model, contact->geometry_a, a, sizeof a);
    stn_describe_geometry(setup->model, contact->geometry_b, b, sizeof b);
    stn_log(
        services->context, STN_LOG_WARNING,
        "the first step begins with %s and %s %.3g m inside each other%s; rigid contact drives them apart at %.2g m/s: "
        "place them apart, or give the contact a longer relaxation_time or a stiffness",
        a, b, -c->phi0, others, speed);
}

static void say_limit(const step_setup *setup, const stn_state *state, const step_services *services,
                      const stn_constraint *c, double speed, const char *others) {
    for (int32_t j = 0; j < setup->model->joint_count; j++) {
        const stn_joint *joint = &setup->model->joints[j];
        double q = state->q[joint->q_start];
        if (joint->nv == 1 && joint->child == c->body[1] && (q < joint->lower || q > joint->upper)) {
            stn_log(
                services->context, STN_LOG_WARNING,
                "the first step begins with joint %s at %.4g, outside its limits %.4g to %.4g%s; they drive it back at "
                "%.3g a second: start it inside",
                joint->name, q, joint->lower, joint->upper, others, speed);
            return;
        }
    }
}

/// The end of an equality constraint for a message: "arm/hand", "the world".
static void describe_end(const stn_model *model, const stn_equality *e, bool b, char *text, size_t size) {
    int32_t link = b ? e->link_b : e->link_a, joint = b ? e->joint_b : e->joint_a;
    if (joint < 0 && link == STN_WORLD) {
        snprintf(text, size, "the world");
        return;
    }
    const char *name = joint >= 0 ? model->joints[joint].name : model->links[link].name;
    const char *robot = model->robots[joint >= 0 ? model->joints[joint].robot : model->links[link].robot].name;
    bool alone = strcmp(name, robot) == 0;
    snprintf(text, size, "%s%s%s", alone ? "" : robot, alone ? "" : "/", name);
}

/// The equality constraint that begins furthest from holding, when that is worth a word.
static void check_equalities(const step_setup *setup, const step_frame *frame, const step_services *services) {
    const stn_equality *worst = NULL;
    double fastest = harmless, error[STN_EQUALITY_MAX_ROWS] = {0.0}, worst_error[STN_EQUALITY_MAX_ROWS] = {0.0};
    int32_t count = 0;
    for (int32_t i = 0; i < setup->model->equality_count; i++) {
        const stn_equality *e = &setup->model->equalities[i];
        double speed = closing_speed(frame, e, error, stn_equality_error(frame->kinematics, e, error));
        count += speed > harmless;
        if (speed > fastest) {
            fastest = speed;
            worst = e;
            memcpy(worst_error, error, sizeof error);
        }
    }
    if (worst == NULL) {
        return;
    }
    char a[160], b[160], others[64] = "", off[80];
    describe_end(setup->model, worst, false, a, sizeof a);
    describe_end(setup->model, worst, true, b, sizeof b);
    if (count > 1) {
        snprintf(others, sizeof others, " (%d more such constraints)", count - 1);
    }
    bool vector = worst->type == STN_EQUALITY_WELD || worst->type == STN_EQUALITY_BALL;
    double distance = vector ? hypot(hypot(worst_error[0], worst_error[1]), worst_error[2]) : fabs(worst_error[0]);
    double angle = hypot(hypot(worst_error[3], worst_error[4]), worst_error[5]);
    if (worst->type == STN_EQUALITY_WELD) {
        snprintf(off, sizeof off, "%.3g m and %.3g rad", distance, angle);
    } else {
        snprintf(off, sizeof off, "%.3g%s", distance, worst->type == STN_EQUALITY_GEAR ? "" : " m");
    }
    stn_log(
        services->context, STN_LOG_WARNING,
        "the first step begins with the %s%s%s%s between %s and %s %s from holding%s; it pulls them together at %.3g a "
        "second: place them so that it holds, or give it a stiffness",
        stn_equality_type_name(worst->type), worst->name[0] != '\0' ? " '" : "", worst->name,
        worst->name[0] != '\0' ? "'" : "", a, b, off, others, fastest);
}

/// The contact or joint limit that is driven out fastest.
static void check_rows(const step_setup *setup, const stn_state *state, const step_frame *frame,
                       const step_services *services) {
    const stn_problem *p = &frame->problem;
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
    if (worst->kind == STN_CONSTRAINT_CONTACT) {
        say_overlap(setup, frame, services, worst, speed, others);
    } else {
        say_limit(setup, state, services, worst, speed, others);
    }
}

void stn_step_check_start(const step_setup *setup, const stn_state *state, const step_frame *frame,
                          step_services *services) {
    if (!services->start_checked) {
        services->start_checked = true;
        check_equalities(setup, frame, services);
        check_rows(setup, state, frame, services);
    }
}
