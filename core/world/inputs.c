// SPDX-License-Identifier: Apache-2.0
// What a step begins with: kinematics at (q0, v0), where kinematic bodies go; then the affine force model tau, K, D
// there: passive joints and elements, applied efforts and wrenches, the controllers.
#include <stdio.h>
#include <string.h>

#include "base/finite.h"
#include "world/sleep.h"

void stn_step_update_kinematics(step_frame *frame, const double *q, const double *v) {
    if (frame->kinematics_stale) {
        stn_kinematics_update(frame->kinematics, q, v);
        frame->kinematics_stale = false;
        frame->kinematics_number++;
    }
}

stn_status stn_step_kinematics(const step_setup *setup, const state_view *state, step_frame *frame,
                               step_services *services, stn_error *err) {
    (void)err;
    stn_step_update_kinematics(frame, state->q, state->v);
    stn_step_kinematic_bodies(setup, state, frame, services);
    return STN_OK;
}

/// Is the diagonal of gains finite and >= 0? The usual case, in one pass without a branch.
static bool sound_diagonal(const stn_matrix *gain) {
    const uint64_t endless = UINT64_C(0x7ff) << 52; // bits of >= 0 and finite lie below those of infinity
    uint64_t largest = 0;
    for (int32_t r = 0; r < gain->n; r++) {
        const uint64_t bits = bits_of(gain->values[r] + 0.0); // without the sign of a zero
        largest = bits > largest ? bits : largest;
    }
    return largest < endless;
}

/// Adds to a failure of `dof` which controllers drive it; what several may have broken has no file of one.
static stn_status blame_controllers(const step_setup *setup, step_frame *frame, int32_t dof, stn_error *err) {
    int32_t count = 0;
    for (int32_t k = 0; k < setup->controller_count && err != NULL; k++) {
        const controller *c = &setup->controllers[k];
        for (int32_t i = 0; i < c->target.dof_count; i++) {
            if (c->target.dof[i] == dof) {
                size_t used = strlen(err->text);
                snprintf(err->text + used, sizeof err->text - used, "%s %s", count > 0 ? "," : "; driven by controller",
                         c->instance->desc->id);
                frame->place.plugin = count == 0 ? c->instance : NULL;
                count++;
            }
        }
    }
    return STN_ERR_NUMERIC;
}

/// Gains of an articulated tree: finite, and no negative diagonal, which no A could stay positive with.
static stn_status check_gains(const step_setup *setup, step_frame *frame, int32_t t, stn_error *err) {
    const stn_model *model = setup->model;
    for (int32_t k = 0; k < 2; k++) {
        const stn_matrix *gain = k == 0 ? &frame->forces.K[t] : &frame->forces.D[t];
        int32_t n = gain->n, columns = gain->form == STN_MATRIX_DENSE ? n : gain->form == STN_MATRIX_DIAGONAL ? 1 : 0;
        if (columns == 0 || (columns == 1 && sound_diagonal(gain))) {
            continue;
        }
        for (int32_t i = 0; i < n * columns; i++) {
            int32_t r = i / columns;
            bool diagonal = columns == 1 || r == i % columns;
            double value = gain->values[i];
            if (!isfinite(value) || (diagonal && value < 0.0)) {
                int32_t dof = model->trees[t].v_start + r;
                stn_fail(err, STN_ERR_NUMERIC, "%s on joint %s is %g, must be finite%s",
                         k == 0 ? "stiffness" : "damping", model->joints[model->dof_joint[dof]].name, value,
                         diagonal ? " and >= 0" : "");
                return blame_controllers(setup, frame, dof, err);
            }
        }
    }
    return STN_OK;
}

stn_status stn_step_inputs(const step_setup *setup, const state_view *state, step_frame *frame, step_services *services,
                           stn_error *err) {
    const stn_model *model = setup->model;
    stn_forces *f = &frame->forces;
    memset(f->tau, 0, (size_t)model->nv * sizeof(double));
    if (state->sizes.controller_bytes > 0) { // what elements and controllers do not write stays
        memcpy(frame->controller_next, state->controller_memory, state->sizes.controller_bytes);
    }
    f->servo_count = 0;
    for (int32_t t = 0; t < model->tree_count; t++) {
        bool nodal = model->trees[t].kind == STN_TREE_NODAL && model->element_group_count > 0;
        f->K[t].form = f->D[t].form = nodal ? STN_MATRIX_NODAL : STN_MATRIX_ZERO;
        if (nodal) {
            size_t bytes = (size_t)stn_matrix_value_count(&f->K[t]) * sizeof(double);
            memset(f->K[t].values, 0, bytes);
            memset(f->D[t].values, 0, bytes);
        }
    }
    for (int32_t i = 0; i < setup->acting_count; i++) { // springs are there on joints of one velocity alone
        const stn_joint *joint = &model->joints[setup->acting[i]];
        if (joint->stiffness > 0.0) {
            double stretch = state->q[joint->q_start] - joint->rest;
            stn_forces_add_gain(f, joint->v_start, joint->stiffness, 0.0, -joint->stiffness * stretch);
        }
        for (int32_t d = joint->v_start; joint->damping > 0.0 && d < joint->v_start + joint->nv; d++) {
            stn_forces_add_gain(f, d, 0.0, joint->damping, -joint->damping * state->v[d]);
        }
    }
    stn_status status = stn_step_elements(setup, state, frame, services, err);
    if (status != STN_OK) {
        return status;
    }
    const double *restrict effort = state->effort;
    double *restrict tau = f->tau;
    for (int32_t d = 0; d < model->nv; d++) {
        tau[d] += effort[d];
    }
    const size_t others = (size_t)model->body_count - 1; // than the world
    const bool pushed = others > 0 && !all_zero(6 * others, state->wrench + 6);
    for (int32_t b = 1; b < model->body_count && pushed; b++) {
        const double *w = state->wrench + 6 * (size_t)b;
        if (w[0] != 0.0 || w[1] != 0.0 || w[2] != 0.0 || w[3] != 0.0 || w[4] != 0.0 || w[5] != 0.0) {
            stn_spatial wrench = {stn_vec3_make(w[0], w[1], w[2]), stn_vec3_make(w[3], w[4], w[5])};
            stn_forces_add_wrench(f, frame->kinematics, b, frame->kinematics->body_pose[b].position, wrench);
        }
    }
    status = stn_step_controllers(setup, state, frame, services, err);
    if (status < 0) {
        return status;
    }
    for (int32_t i = 0; i < f->servo_count; i++) { // the row's bounds account for it, see joint_rows.c
        f->tau[f->servos[i].dof] += f->servos[i].feedforward;
    }
    // forces enter the step here, so a NaN is named here
    status = stn_step_check_dofs(setup, f->tau, "generalised force on", err);
    for (int32_t t = 0; t < model->tree_count && status == STN_OK; t++) {
        status = model->trees[t].kind == STN_TREE_ARTICULATED ? check_gains(setup, frame, t, err) : STN_OK;
    }
    if (status == STN_OK && frame->asleep_count > 0 && (setup->controller_count > 0 || frame->told)) {
        stn_step_wake_by_forces(setup, state, frame);
    }
    return status;
}

/// Work on all that moves freely of kinematic bodies and belts in one contact, -gamma (b0 + b)/2: of the velocity that
/// the impulse meets, J v + b, the part J v is what it changes the kinetic energy by.
static double driven_work(const step_setup *setup, const step_frame *frame, const stn_constraint *c) {
    const double *gamma = frame->solution.gamma + c->row, *b = frame->problem.bias + c->row;
    const stn_contact *contact = &frame->contacts.contacts[c->contact];
    bool still = contact->bias.x == 0.0 && contact->bias.y == 0.0 && contact->bias.z == 0.0;
    if (still && !stn_setup_is_kinematic(setup, contact->a.body) && !stn_setup_is_kinematic(setup, contact->b.body)) {
        return 0.0;
    }
    // velocity at the step's start of what the contact touches without being part of the problem: kinematic, or a belt
    stn_vec3 u = contact->bias;
    const int32_t body[2] = {contact->a.body, contact->b.body};
    for (int32_t side = 0; side < 2; side++) {
        if (stn_setup_is_kinematic(setup, body[side])) {
            stn_vec3 own = stn_point_velocity(frame->kinematics, body[side], contact->point);
            u = stn_vec3_mul_add(u, side == 0 ? -1.0 : 1.0, own);
        }
    }
    stn_vec3 before = stn_mat3_apply_transposed(&c->frame, u);
    before =
        stn_vec3_sub(before, stn_mat3_apply_transposed(&c->frame, stn_step_prescribed_velocity(setup, frame, contact)));
    double b1 = b[0] - c->anchor[0] / frame->problem.dt, b2 = b[1] - c->anchor[1] / frame->problem.dt;
    return -0.5 * (gamma[0] * (before.x + b1) + gamma[1] * (before.y + b2) + gamma[2] * (before.z + b[2]));
}

/// Work of controllers and applied forces in the step, W = sum_d j_d (v0 + v)_d / 2, where j is the impulse of the
/// affine force model, taken where the integrator takes it, without the joints' own dampers and springs, plus that of
/// the servos' rows and of contacts with kinematic bodies and belts, and of constraints to kinematic bodies and with
/// inputs, and of what holds attached nodes. The mean velocity makes the work of an impulse on a constant mass exact.
/// Nodal trees count with their applied efforts and with elements that say load.
double stn_step_input_work(const step_setup *setup, const state_view *state, const step_frame *frame) {
    const stn_model *model = setup->model;
    const stn_problem *problem = &frame->problem;
    const double *v0 = state->v, *v = frame->v_next;
    double dt = frame->dt, theta = frame->force_theta, theta_vq = frame->force_theta_vq, work = 0.0;
    double *j = STN_ARENA(frame->arena, 3 * model->nv, double);
    int32_t *pushed = STN_ARENA(frame->arena, model->tree_count, int32_t), pushed_count = 0; // trees with a j
    if (j == NULL || pushed == NULL) {
        return NAN;
    }
    double *dq = j + model->nv, *dv = dq + model->nv;
    for (int32_t t = 0; t < model->tree_count; t++) {
        const stn_tree *tree = &model->trees[t];
        const stn_matrix *K = &frame->forces.K[t], *D = &frame->forces.D[t];
        const int32_t start = tree->v_start, end = start + tree->nv;
        const double *tau = frame->forces.tau;
        if (tree->kind == STN_TREE_NODAL) {
            for (int32_t d = start; d < end; d++) {
                j[d] = state->effort[d] + (frame->load != NULL ? frame->load[d] : 0.0);
            }
        } else if (K->form != STN_MATRIX_ZERO || D->form != STN_MATRIX_ZERO) {
            for (int32_t d = start; d < end; d++) {
                j[d] = tau[d];
                dq[d] = theta * dt * (v0[d] + theta_vq * (v[d] - v0[d]));
                dv[d] = theta * (v[d] - v0[d]);
            }
            stn_matrix_mul_add(K, -1.0, dq + start, j + start);
            stn_matrix_mul_add(D, -1.0, dv + start, j + start);
        } else if (!all_zero((size_t)tree->nv, tau + start)) {
            memcpy(j + start, tau + start, (size_t)tree->nv * sizeof *j);
        } else {
            continue;
        }
        pushed[pushed_count++] = t;
    }
    for (int32_t i = 0; i < setup->acting_count; i++) { // without what damper and spring of a joint do: K and D have it
        const stn_joint *joint = &model->joints[setup->acting[i]];
        bool passive = joint->damping > 0.0 || joint->stiffness > 0.0;
        for (int32_t d = joint->v_start; passive && d < joint->v_start + joint->nv; d++) {
            double effort = -joint->damping * (v0[d] + dv[d]);
            if (joint->stiffness > 0.0) {
                effort -= joint->stiffness * (state->q[joint->q_start] + dq[d] - joint->rest);
            }
            j[d] -= effort;
        }
    }
    for (int32_t i = 0; i < pushed_count; i++) {
        const stn_tree *tree = &model->trees[pushed[i]];
        for (int32_t d = tree->v_start; d < tree->v_start + tree->nv; d++) {
            work += 0.5 * dt * j[d] * (v0[d] + v[d]);
        }
    }
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        const stn_constraint *c = &problem->constraints[i];
        if (c->kind == STN_CONSTRAINT_SERVO) {
            double before = 0.0, after = 0.0;
            stn_constraint_velocity(problem, c, v0, &before);
            stn_constraint_velocity(problem, c, v, &after);
            work += 0.5 * frame->solution.gamma[c->row] * (before + after);
        } else if (c->kind == STN_CONSTRAINT_CONTACT) {
            work += driven_work(setup, frame, c);
        }
    }
    return work + stn_step_constraint_work(frame, v0) + stn_step_reaction_work(setup, state, frame);
}
