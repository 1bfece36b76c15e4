// SPDX-License-Identifier: Apache-2.0
// What a step warns of, each once: a first problem that flies apart, a contact that the step is too long for, a body
// that the law throws up. No result depends on any of it.
#include <math.h>
#include <stdio.h>

#include "base/context.h"
#include "world/assemble.h"

// --------------------------------------------------------------------------------------------------- the first problem
// A look at the first problem of a world: what a scene begins with by mistake. Rigid contacts, joint limits and
// constraints are driven out of their violation within about a step, at -phi0/(dt + tau_d) (the sap law's target
// velocity), so that a scene that begins with bodies inside each other flies apart, the faster the smaller dt is.

static const double harmless = 0.5; // [m/s], [rad/s]: what is thrown at 0.5 m/s rises by 13 mm

/// How far rows without a bound on the side that would bring them back are from holding, as a vector.
static double violation(const stn_row_block *block) {
    double square = 0.0;
    for (int32_t r = 0; r < block->rows; r++) {
        bool pulled = isinf(block->phi[r] > 0.0 ? block->lo[r] : block->hi[r]);
        square += pulled ? block->phi[r] * block->phi[r] : 0.0;
    }
    return sqrt(square);
}

/// The rigid constraint that begins furthest from holding, when that is worth a word.
static void check_constraints(const assembly *a) {
    const stn_model *model = a->setup->model;
    const stn_model_constraint *worst = NULL;
    double fastest = harmless;
    char off[80] = "";
    int32_t count = 0;
    for (int32_t i = 0; i < model->constraint_count; i++) { // a rigid one has the relaxation time dt
        const stn_row_block *blocks = NULL;
        double speed = 0.0;
        int32_t block_count = look_at_constraint(a, i, &blocks, NULL);
        for (int32_t k = 0; k < block_count; k++) {
            speed = fmax(speed, isinf(blocks[k].stiffness) ? violation(&blocks[k]) / (2.0 * a->frame->dt) : 0.0);
        }
        count += speed > harmless;
        if (speed > fastest) {
            fastest = speed;
            worst = &model->constraints[i];
            off[0] = '\0';
            for (int32_t k = 0; k < block_count; k++) {
                stn_text_append(off, sizeof off, "%s%.3g", k > 0 ? " and " : "", violation(&blocks[k]));
                stn_text_append(off, sizeof off, "%s%s", blocks[k].unit[0] != '\0' ? " " : "", blocks[k].unit);
            }
        }
    }
    if (worst == NULL) {
        return;
    }
    char first[256], last[256], others[64] = "";
    stn_constraint_end_describe(model, &worst->ends[0], first, sizeof first);
    stn_constraint_end_describe(model, &worst->ends[worst->end_count - 1], last, sizeof last);
    if (count > 1) {
        snprintf(others, sizeof others, " (%d more such constraints)", count - 1);
    }
    stn_log(
        a->setup->context, STN_LOG_WARNING,
        "the first step begins with the %s%s%s%s between %s and %s %s from holding%s; it pulls them together at %.3g a "
        "second: place them so that it holds, or give it a stiffness",
        worst->instance->desc->id, worst->name[0] != '\0' ? " '" : "", worst->name, worst->name[0] != '\0' ? "'" : "",
        first, last, off, others, fastest);
}

/// The attached node that begins furthest from its place, on a body that forces move, where its coordinates were set.
static void check_attachments(const assembly *a) {
    const stn_model *model = a->setup->model;
    const stn_kinematics *kinematics = a->frame->kinematics;
    const stn_node_attachment *worst = NULL;
    double furthest = harmless * a->frame->dt;
    int32_t count = 0;
    for (int32_t i = 0; i < model->attachment_count; i++) {
        const stn_node_attachment *held = &model->attachments[i];
        const stn_vec3 place = stn_pose_apply(&kinematics->body_pose[held->body], held->point);
        const double off = stn_vec3_norm(stn_vec3_sub(kinematics->node[held->node], place));
        const bool pulled = off > harmless * a->frame->dt && stn_model_body_moves(model, held->body);
        count += pulled;
        if (pulled && off > furthest) {
            furthest = off;
            worst = held;
        }
    }
    if (worst == NULL) {
        return;
    }
    const stn_tree *tree = &model->trees[model->node_tree[worst->node]];
    char others[64] = "";
    if (count > 1) {
        snprintf(others, sizeof others, " (%d more such nodes)", count - 1);
    }
    stn_log(a->setup->context, STN_LOG_WARNING,
            "the first step begins with node %d of '%s', counted from 0, %.3g m from its place on link %s%s; it is "
            "brought back within a step, at %.3g m/s: set coordinates of attached nodes to where the link holds them",
            worst->node - tree->node_start, tree->name, furthest, model->links[worst->link].name, others,
            furthest / a->frame->dt);
}

/// The contact or joint limit that is driven out fastest.
static void check_rows(const step_setup *setup, const state_view *state, const step_frame *frame) {
    const stn_model *model = setup->model;
    const stn_problem *p = &frame->problem;
    const stn_constraint *worst = NULL;
    // the step drives them out at these speeds, but contacts of an explicit law
    const bool contacts = !stn_plugin_says(setup->plugin[STN_KIND_LAW], "explicit");
    double speed = harmless;
    int32_t count = 0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        bool considered = (c->kind == STN_CONSTRAINT_CONTACT && contacts) || c->kind == STN_CONSTRAINT_JOINT_LIMIT;
        double out = considered && isinf(c->stiffness) ? -c->phi0 / (p->dt + c->relaxation_time) : 0.0;
        count += out > harmless;
        if (out > speed) {
            speed = out;
            worst = c;
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
        const stn_contact *contact = &frame->contacts.contacts[worst->contact];
        char a[160], b[160];
        stn_describe_geometry(model, contact->geometry_a, a, sizeof a);
        stn_describe_geometry(model, contact->geometry_b, b, sizeof b);
        stn_log(setup->context, STN_LOG_WARNING,
                "the first step begins with %s and %s %.3g m inside each other%s; rigid contact drives them apart at "
                "%.2g m/s: place them apart, or give the contact a longer relaxation_time or a stiffness",
                a, b, -worst->phi0, others, speed);
        return;
    }
    for (int32_t j = 0; j < model->joint_count; j++) {
        const stn_joint *joint = &model->joints[j];
        double q = state->q[joint->q_start];
        if (joint->nv == 1 && joint->child == worst->body[1] && (q < joint->lower || q > joint->upper)) {
            stn_log(setup->context, STN_LOG_WARNING,
                    "the first step begins with joint %s at %.4g, outside its limits %.4g to %.4g%s; they drive it "
                    "back at %.3g a second: start it inside",
                    joint->name, q, joint->lower, joint->upper, others, speed);
            return;
        }
    }
}

void stn_step_check_start(const step_setup *setup, const state_view *state, step_frame *frame,
                          step_services *services) {
    if (!services->start_checked) {
        services->start_checked = true;
        const assembly a = {setup, state, frame, services};
        check_constraints(&a);
        check_attachments(&a);
        if (!stn_setup_integrator_solves(setup)) { // which has speeds of its own
            check_rows(setup, state, frame);
        }
    }
}

// ------------------------------------------------------------------------------------------------------------ elements

void stn_step_check_inverted(const step_setup *setup, const state_view *state, const step_frame *frame,
                             step_services *services) {
    const stn_step_report *report = &frame->report;
    if (report->inverted_count == 0 || services->inverted_said) {
        return;
    }
    services->inverted_said = true;
    const stn_element_group *group = &setup->model->element_groups[report->inverted_group];
    const int32_t n = group->nodes_per_element, *nodes = group->index + (size_t)report->inverted_element * (size_t)n;
    stn_vec3 middle = stn_vec3_zero();
    for (int32_t i = 0; i < n; i++) {
        const int32_t node = setup->model->trees[group->tree].node_start + nodes[i];
        middle = stn_vec3_mul_add(middle, 1.0 / n, frame->kinematics->node[node]);
    }
    char text[400], others[64] = "";
    stn_describe_element(setup->model, group, report->inverted_element, text, sizeof text);
    if (report->inverted_count > 1) {
        snprintf(others, sizeof others, " (%d more such elements)", report->inverted_count - 1);
    }
    stn_log(services->context, STN_LOG_WARNING,
            "%s, is turned inside out at (%.4g, %.4g, %.4g) m at t = %.4g s%s: what presses the body is near its "
            "modulus, or the step too long for it; make it stiffer or the step shorter, its shape and energy are wrong "
            "from here on",
            text, middle.x, middle.y, middle.z, state->time + frame->dt, others);
}

// ---------------------------------------------------------------------------------------------------------- resolution
// A look at compliant contacts that a step cannot resolve. A contact of stiffness k between bodies of inverse mass w
// oscillates with the period T = 2 pi / sqrt(k w). When the step is longer than T, bounce, damping and indentation are
// those of the step and not of the material; near-rigid laws then take a stiffness that the step can resolve.

static const double steps_per_period = 10.0; // what we suggest: sap's two-stage schemes are then good to some per cent

/// The constraint that is left least of its force where the near-rigid floor of R wins, at rest (problem.h). dt (dt + 2
/// tau_d) as much smaller as R is larger is enough for springs and for dampers alone. What has rows beside contacts is
/// friction, whose slopes nobody asked for.
static void check_softened(const step_setup *setup, const step_frame *frame, step_services *services) {
    const stn_problem *p = &frame->problem;
    double least = 1.0, dt = p->dt;
    stn_error text;
    for (int32_t i = 0; i < setup->model->constraint_count && !services->softening_said; i++) {
        for (int32_t k = frame->constraint_block[i]; k < frame->constraint_block[i + 1]; k++) {
            const stn_constraint *c = &p->constraints[k];
            double tau = c->relaxation_time, square = dt * (dt + tau), softer = p->R[c->row] * square * c->stiffness;
            double left = (dt + tau) / (dt + fmax(dt, tau)) / softer;
            if (setup->constraint_slots[i].contact_rows == 0 && c->w > 0.0 && isfinite(softer) && softer > 1.0 + 1e-9 &&
                left < least) {
                least = left;
                (void)stn_fail(&text, STN_ERR_NUMERIC,
                               "too stiff or too damped for what it moves and steps of %.2g s: its force is %.2g of "
                               "what was asked for; dt = %.2g s would hold it, and welds and the like are rigid "
                               "without a stiffness",
                               dt, left, 0.95 * square / softer / (tau + sqrt(tau * tau + square / softer)));
                stn_describe_constraint_error(setup->model, i, &text);
            }
        }
    }
    if (least < 1.0) {
        services->softening_said = true;
        stn_log(services->context, STN_LOG_WARNING, "%s", text.text);
    }
}

void stn_step_check_resolution(const step_setup *setup, step_frame *frame, step_services *services) {
    check_softened(setup, frame, services);
    const stn_problem *p = &frame->problem;
    const stn_constraint *worst = NULL;
    double most = 1.0;
    for (int32_t i = 0; i < p->constraint_count && !services->resolution_said; i++) {
        const stn_constraint *c = &p->constraints[i];
        bool compliant = c->kind == STN_CONSTRAINT_CONTACT && c->w > 0.0 &&
                         isfinite(frame->contacts.contacts[c->contact].material.stiffness); // as it was asked for
        double coarse = compliant ? p->dt * p->dt * c->stiffness * c->w / (4.0 * STN_PI * STN_PI) : 0.0; // (dt / T)^2
        if (coarse > most) {
            most = coarse;
            worst = c;
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
    // how the contact acts instead: with the stiffness that is left of R, where the law made it softer
    double later = p->dt * (p->dt + worst->relaxation_time);
    double R = p->R[worst->row + 2], asked = 1.0 / (p->dt * worst->stiffness * (p->dt + worst->relaxation_time));
    if (R > asked * (1.0 + 1e-9)) {
        snprintf(effect, sizeof effect, "the law makes it as soft as %.2g N/m", 1.0 / (R * later));
    } else {
        snprintf(effect, sizeof effect, "its bounce and damping are those of the step");
    }
    stn_log(
        services->context, STN_LOG_WARNING,
        "the contact of %s and %s with stiffness %.3g N/m has a period of %.2g s, shorter than the step of %.2g s: %s; "
        "dt = %.1g s would resolve it, and without a stiffness contact is rigid",
        a, b, worst->stiffness, period, p->dt, effect, period / steps_per_period);
}

// ---------------------------------------------------------------------------------------------------------------- hops
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

enum { FLIGHT = 3, PATIENCE = 20 }; // steps without a push; steps to wait for them
static const double coupled = 0.5;  // of mu |v_t|
static const double visible = 5e-3; // [m]

/// Does the contact push, and hold back what slides?
static inline bool slides(const step_frame *frame, const stn_constraint *c) {
    const double *gamma = frame->solution.gamma + c->row, least = coupled * c->mu1 * gamma[2];
    return c->kind == STN_CONSTRAINT_CONTACT && gamma[2] > 0.0 &&
           gamma[0] * gamma[0] + gamma[1] * gamma[1] > least * least;
}

/// Contact `i`, which slides, as one that the law throws up; height 0: it is none.
static hop_watch hop_of(const step_setup *setup, const state_view *state, const step_frame *frame, const stn_law *law,
                        int32_t i) {
    const hop_watch none = {0};
    const stn_problem *p = &frame->problem;
    const stn_constraint *c = &p->constraints[i];
    const double *gamma = frame->solution.gamma + c->row, *bias = p->bias + c->row;
    double before[3], v_c[3]; // after the step
    stn_constraint_velocity(p, c, frame->solution.v, v_c);
    for (int32_t r = 0; r < 3; r++) {
        v_c[r] += bias[r];
    }
    double coupling = coupled * c->mu1 * hypot(v_c[0], v_c[1]);
    if (!(v_c[2] > coupling) || !(c->phi0 + p->dt * v_c[2] > 0.0)) {
        return none;
    }
    stn_constraint_velocity(p, c, p->v0, before);
    double glide = stn_ask_slip(law, p, i, v_c, gamma).glide_gap;
    double height = v_c[2] * v_c[2] / (2.0 * fmax(stn_vec3_norm(state->gravity), 1e-3));
    bool sudden = v_c[2] - fmax(before[2] + bias[2], 0.0) > coupling;
    if (!sudden || !(glide > 0.0) || !(height > fmax(glide, visible))) {
        return none;
    }
    const stn_contact *contact = &frame->contacts.contacts[c->contact];
    return (hop_watch){.links = stn_step_links(setup, frame, c),
                       .geometry = {contact->geometry_a, contact->geometry_b},
                       .height = height,
                       .slip_speed = hypot(v_c[0], v_c[1]),
                       .normal_speed = v_c[2],
                       .time = state->time};
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

void stn_step_watch_hops(const step_setup *setup, const state_view *state, step_frame *frame, step_services *services) {
    const stn_model *model = setup->model;
    stn_law law = stn_setup_law(setup);
    hop_watch *hop = &services->hop;
    if (services->hop_said || law.ops == NULL || !stn_law_tells_slip(&law)) {
        return;
    }
    if (hop->height > 0.0) {
        hop->age++;
        hop->apart = pushes(setup, frame, hop->links) ? 0 : hop->apart + 1;
        if (hop->apart >= FLIGHT) {
            char a[160], b[160];
            services->hop_said = true;
            if (!stn_context_first_time(services->context, STN_SAID_HOP)) {
                return;
            }
            stn_describe_geometry(model, hop->geometry[0], a, sizeof a);
            stn_describe_geometry(model, hop->geometry[1], b, sizeof b);
            stn_log(services->context, STN_LOG_WARNING,
                    "t = %.4g s: law %s threw %s and %s apart at %.2g m/s, about %.2g cm high: their slip, %.2g m/s "
                    "after the step, began within it, and this convex law makes up to mu times the slip a normal "
                    "speed, at every dt; solver auto does not, nor does law lagged, which takes no mu2 (docs/laws.md)",
                    hop->time, law.id, a, b, hop->normal_speed, 100.0 * hop->height, hop->slip_speed);
            return;
        }
        if (hop->age > PATIENCE) {
            *hop = (hop_watch){0};
        }
    }
    for (int32_t i = 0; i < frame->contacts.count; i++) { // the highest one, where nothing higher is waited for
        if (!slides(frame, &frame->problem.constraints[i])) {
            continue;
        }
        const hop_watch seen = hop_of(setup, state, frame, &law, i);
        if (seen.height > hop->height) {
            *hop = seen;
        }
    }
}
