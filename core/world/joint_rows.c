// SPDX-License-Identifier: Apache-2.0
// Rows of joints: position and velocity limits, mimic couplers, dry friction, servos. What R and v_hat
// follow from their data says docs/contact-problem.md, "What the rows are".
#include <math.h>

#include "world/assemble.h"

/// A row of a joint.
static stn_constraint *append_row(const assembly *a, stn_constraint_kind kind, int32_t joint, int32_t side) {
    bool coupler = kind == STN_CONSTRAINT_COUPLER;
    stn_constraint *c = append_constraint(a->frame, kind, coupler ? STN_SET_EQUALITY : STN_SET_BOX, 1);
    const int32_t key[3] = {(int32_t)kind, joint, side}; // so that the ids of a joint's rows meet no others
    c->id = stn_hash(0x6a6f696e74u, key, sizeof key);
    c->body[0] = a->setup->model->joints[joint].parent;
    c->body[1] = a->setup->model->joints[joint].child;
    return c;
}

/// Limits of a joint that can matter within the step. Those of its position are nearer than 2 dt times its speed, now
/// or as promised, or violated. |v| <= limit has a row a side, v_c = limit -+ v >= 0, when it is faster than half of
/// that now or as promised: a faster one is caught in the next step.
static bool add_limits(const assembly *a, int32_t j) {
    const stn_joint *joint = &a->setup->model->joints[j];
    const double *v = a->state->v, *promised = a->frame->v_promised;
    stn_problem *p = &a->frame->problem;
    const bool limited = joint->nv == 1 && joint->mimic < 0;
    const double q = limited ? a->state->q[joint->q_start] : 0.0;
    const double speed = limited ? at_least(fabs(v[joint->v_start]), fabs(promised[joint->v_start])) : 0.0;
    for (int32_t side = 0; limited && side < 2; side++) {
        const double gap = side == 0 ? q - joint->lower : joint->upper - q;
        if (!(gap <= 2.0 * p->dt * speed)) {
            continue;
        }
        stn_constraint *c = append_row(a, STN_CONSTRAINT_JOINT_LIMIT, j, side);
        c->phi0 = gap;
        c->stiffness = INFINITY;
        c->relaxation_time = a->frame->relaxation_time;
        p->lo[c->row] = 0.0;
        if (!append_unit_row(a, c, joint->v_start, side == 0 ? 1.0 : -1.0)) {
            return false;
        }
    }
    if (!a->setup->model->groups[joint->group].velocity_limits || isinf(joint->velocity)) {
        return true;
    }
    for (int32_t k = 0; k < 2 * joint->nv; k++) {
        int32_t dof = joint->v_start + k / 2;
        double sign = k % 2 == 0 ? 1.0 : -1.0;
        if (!(fmax(sign * v[dof], sign * promised[dof]) > 0.5 * joint->velocity)) {
            continue;
        }
        stn_constraint *c = append_row(a, STN_CONSTRAINT_VELOCITY_LIMIT, j, k);
        p->lo[c->row] = 0.0;
        p->bias[c->row] = joint->velocity;
        if (!append_unit_row(a, c, dof, -sign)) {
            return false;
        }
    }
    return true;
}

/// u = clamp(-kp (q - q_ref) - kd (v - v_ref) + u_ff, -e, e) with q = q0 + dt v. Written as a compliant row: velocity
/// relative to v_ref, phi0 = (q0 - q_ref) + dt v_ref, k = kp, tau_d = kd/kp, so that R = 1/(dt (dt kp + kd)) and v_hat
/// follow as for every row; the feed-forward acts as a force of its own and shifts the bounds.
static bool add_servo(const assembly *a, const stn_servo *servo) {
    const stn_model *model = a->setup->model;
    stn_problem *p = &a->frame->problem;
    int32_t j = model->dof_joint[servo->dof];
    stn_constraint *c = append_row(a, STN_CONSTRAINT_SERVO, j, servo->dof - model->joints[j].v_start);
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
    return append_unit_row(a, c, servo->dof, 1.0);
}

row_count joint_row_count(const step_setup *setup, const step_frame *frame) {
    // at most
    int32_t rows = frame->forces.servo_count;
    for (int32_t i = 0; i < setup->acting_count; i++) {
        const stn_joint *joint = &setup->model->joints[setup->acting[i]];
        const bool limited = setup->model->groups[joint->group].velocity_limits && !isinf(joint->velocity);
        rows += (joint->nv == 1 ? 2 : 0) + (joint->mimic >= 0 ? 1 : 0) + (joint->friction > 0.0 ? joint->nv : 0) +
                (limited ? 2 * joint->nv : 0);
    }
    return (row_count){rows, rows};
}

bool add_joint_rows(const assembly *a) {
    const stn_joint *joints = a->setup->model->joints;
    const double *q = a->state->q;
    stn_problem *p = &a->frame->problem;
    for (int32_t i = 0; i < a->setup->acting_count; i++) {
        const int32_t j = a->setup->acting[i];
        const stn_joint *joint = &joints[j];
        if (!add_limits(a, j)) {
            return false;
        }
        if (joint->mimic >= 0) { // q_i = ratio q_j + offset
            const stn_joint *master = &joints[joint->mimic];
            stn_constraint *c = append_row(a, STN_CONSTRAINT_COUPLER, j, 0);
            c->phi0 = q[joint->q_start] - joint->mimic_multiplier * q[master->q_start] - joint->mimic_offset;
            c->stiffness = INFINITY;
            c->relaxation_time = p->dt;
            if (!append_unit_row(a, c, joint->v_start, 1.0) ||
                !append_unit_row(a, c, master->v_start, -joint->mimic_multiplier)) {
                return false;
            }
        }
        for (int32_t k = 0; k < joint->nv && joint->friction > 0.0; k++) { // dry friction, a row for each velocity
            stn_constraint *c = append_row(a, STN_CONSTRAINT_DRY_FRICTION, j, k);
            p->lo[c->row] = -p->dt * joint->friction;
            p->hi[c->row] = p->dt * joint->friction;
            if (!append_unit_row(a, c, joint->v_start + k, 1.0)) {
                return false;
            }
        }
    }
    for (int32_t i = 0; i < a->frame->forces.servo_count; i++) {
        if (!add_servo(a, &a->frame->forces.servos[i])) {
            return false;
        }
    }
    return true;
}
