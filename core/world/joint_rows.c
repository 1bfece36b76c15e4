// SPDX-License-Identifier: Apache-2.0
// Rows of joints: position and velocity limits, mimic couplers, dry friction, servos. What R and v_hat
// follow from their data says docs/contact-problem.md, "What the rows are".
#include <math.h>

#include "world/assemble.h"

/// Hashed with the kind, so that the ids of a joint's rows meet no others.
static uint64_t joint_id(stn_constraint_kind kind, int32_t joint, int32_t side) {
    int32_t key[3] = {(int32_t)kind, joint, side};
    return stn_hash(0x6a6f696e74u, key, sizeof key);
}

/// Limits that can matter within the step: nearer than 2 dt max(|v0|, |v*|), or violated.
static stn_status add_limits(const step_setup *setup, const state_view *state, step_frame *frame, int32_t j,
                             stn_error *err) {
    const stn_joint *joint = &setup->model->joints[j];
    stn_problem *p = &frame->problem;
    if (joint->nv != 1 || joint->mimic >= 0) {
        return STN_OK;
    }
    double q = state->q[joint->q_start];
    double speed = fmax(fabs(state->v[joint->v_start]), fabs(p->v_star[joint->v_start]));
    for (int32_t side = 0; side < 2; side++) {
        double gap = side == 0 ? q - joint->lower : joint->upper - q;
        if (!(gap <= 2.0 * p->dt * speed)) {
            continue;
        }
        stn_constraint *c = append_constraint(frame, STN_CONSTRAINT_JOINT_LIMIT, STN_SET_BOX, 1);
        c->id = joint_id(STN_CONSTRAINT_JOINT_LIMIT, j, side);
        c->phi0 = gap;
        c->stiffness = INFINITY;
        c->relaxation_time = p->dt;
        c->body[0] = joint->parent;
        c->body[1] = joint->child;
        p->lo[c->row] = 0.0;
        stn_status status = append_unit_row(setup, frame, c, joint->v_start, side == 0 ? 1.0 : -1.0, err);
        if (status != STN_OK) {
            return status;
        }
    }
    return STN_OK;
}

/// u = clamp(-kp (q - q_ref) - kd (v - v_ref) + u_ff, -e, e) with q = q0 + dt v. Written as a compliant row: velocity
/// relative to v_ref, phi0 = (q0 - q_ref) + dt v_ref, k = kp, tau_d = kd/kp, so that R = 1/(dt (dt kp + kd)) and v_hat
/// follow as for every row; the feed-forward acts as a force of its own and shifts the bounds.
static stn_status add_servo(const step_setup *setup, step_frame *frame, const stn_servo *servo, stn_error *err) {
    stn_problem *p = &frame->problem;
    stn_constraint *c = append_constraint(frame, STN_CONSTRAINT_SERVO, STN_SET_BOX, 1);
    const stn_joint *joint = &setup->model->joints[setup->model->dof_joint[servo->dof]];
    c->id = joint_id(STN_CONSTRAINT_SERVO, setup->model->dof_joint[servo->dof], servo->dof - joint->v_start);
    c->body[0] = joint->parent;
    c->body[1] = joint->child;
    p->bias[c->row] = -servo->velocity;
    p->lo[c->row] = p->dt * (-servo->effort - servo->feedforward);
    p->hi[c->row] = p->dt * (servo->effort - servo->feedforward);
    if (servo->kp > 0.0) {
        c->stiffness = servo->kp;
        c->relaxation_time = servo->kd / servo->kp;
        c->phi0 = servo->error + p->dt * servo->velocity;
    } else { // a damper alone: any relaxation time serves as long as k (dt + tau_d) = kd
        c->relaxation_time = p->dt;
        c->stiffness = servo->kd / (2.0 * p->dt);
        c->phi0 = 0.0;
    }
    return append_unit_row(setup, frame, c, servo->dof, 1.0, err);
}

/// q_i = ratio q_j + offset.
static stn_status add_coupler(const step_setup *setup, const state_view *state, step_frame *frame, int32_t i,
                              stn_error *err) {
    const stn_joint *joint = &setup->model->joints[i];
    if (joint->mimic < 0) {
        return STN_OK;
    }
    const stn_joint *master = &setup->model->joints[joint->mimic];
    stn_constraint *c = append_constraint(frame, STN_CONSTRAINT_COUPLER, STN_SET_EQUALITY, 1);
    c->id = joint_id(STN_CONSTRAINT_COUPLER, i, 0);
    c->phi0 = state->q[joint->q_start] - joint->mimic_multiplier * state->q[master->q_start] - joint->mimic_offset;
    c->stiffness = INFINITY;
    c->relaxation_time = frame->problem.dt;
    c->body[0] = joint->parent;
    c->body[1] = joint->child;
    stn_status status = append_unit_row(setup, frame, c, joint->v_start, 1.0, err);
    return status == STN_OK ? append_unit_row(setup, frame, c, master->v_start, -joint->mimic_multiplier, err) : status;
}

/// One row for each velocity of the joint.
static stn_status add_dry_friction(const step_setup *setup, step_frame *frame, int32_t j, stn_error *err) {
    const stn_joint *joint = &setup->model->joints[j];
    stn_problem *p = &frame->problem;
    stn_status status = STN_OK;
    for (int32_t k = 0; k < joint->nv && joint->friction > 0.0 && status == STN_OK; k++) {
        stn_constraint *c = append_constraint(frame, STN_CONSTRAINT_DRY_FRICTION, STN_SET_BOX, 1);
        c->id = joint_id(STN_CONSTRAINT_DRY_FRICTION, j, k);
        c->body[0] = joint->parent;
        c->body[1] = joint->child;
        p->lo[c->row] = -p->dt * joint->friction;
        p->hi[c->row] = p->dt * joint->friction;
        status = append_unit_row(setup, frame, c, joint->v_start + k, 1.0, err);
    }
    return status;
}

/// A joint that must keep to |v| <= limit has a row a side, v_c = limit -+ v >= 0, when it is faster than half of that
/// now or without constraints: a faster one is caught in the next step.
static stn_status add_velocity_limits(const step_setup *setup, const state_view *state, step_frame *frame, int32_t j,
                                      stn_error *err) {
    const stn_joint *joint = &setup->model->joints[j];
    stn_problem *p = &frame->problem;
    if (!setup->model->groups[joint->group].velocity_limits || isinf(joint->velocity)) {
        return STN_OK;
    }
    stn_status status = STN_OK;
    for (int32_t k = 0; k < 2 * joint->nv && status == STN_OK; k++) {
        int32_t dof = joint->v_start + k / 2;
        double sign = k % 2 == 0 ? 1.0 : -1.0;
        if (!(fmax(sign * state->v[dof], sign * p->v_star[dof]) > 0.5 * joint->velocity)) {
            continue;
        }
        stn_constraint *c = append_constraint(frame, STN_CONSTRAINT_VELOCITY_LIMIT, STN_SET_BOX, 1);
        c->id = joint_id(STN_CONSTRAINT_VELOCITY_LIMIT, j, k);
        c->body[0] = joint->parent;
        c->body[1] = joint->child;
        p->lo[c->row] = 0.0;
        p->bias[c->row] = joint->velocity;
        status = append_unit_row(setup, frame, c, dof, -sign, err);
    }
    return status;
}

row_count joint_row_count(const step_setup *setup, const step_frame *frame) {
    // every joint may bring two limits and a coupler, every velocity of a joint dry friction and two limits of its own
    int32_t velocities = setup->model->nv - 3 * setup->model->node_count;
    int32_t rows = 3 * setup->model->joint_count + 3 * velocities + frame->forces.servo_count;
    return (row_count){rows, rows};
}

stn_status add_joint_rows(const step_setup *setup, const state_view *state, step_frame *frame, stn_error *err) {
    stn_status status = STN_OK;
    for (int32_t j = 0; j < setup->model->joint_count && status == STN_OK; j++) {
        status = add_limits(setup, state, frame, j, err);
        status = status == STN_OK ? add_velocity_limits(setup, state, frame, j, err) : status;
        status = status == STN_OK ? add_coupler(setup, state, frame, j, err) : status;
        status = status == STN_OK ? add_dry_friction(setup, frame, j, err) : status;
    }
    for (int32_t i = 0; i < frame->forces.servo_count && status == STN_OK; i++) {
        status = add_servo(setup, frame, &frame->forces.servos[i], err);
    }
    return status;
}
