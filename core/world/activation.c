// SPDX-License-Identifier: Apache-2.0
// How controllers share joints. Controller i has a weight w_i(t), a ramp between 0 and 1 in simulated time, and a
// priority p_i; of what it does on dof d the step gets the share
//
//     s_id = w_i prod_{j: p_j > p_i, j drives d} (1 - w_j)
//
// so that equal priorities add up, and a controller of a higher one takes a joint over, or gives it back, as its weight
// goes up and down. The ramps are kept as where they began, part of the state: nothing has to be advanced.
#include <string.h>

#include "dynamics/forces.h"
#include "plugin/answer.h"
#include "world/world.h"

activation stn_activation_of(const double *numbers, int32_t index) {
    const double *x = numbers + (size_t)index * ACTIVATION_NUMBERS;
    return (activation){x[0], x[1], x[2], x[3], x[4]};
}

void stn_activation_set(double *numbers, int32_t index, activation a) {
    const double x[ACTIVATION_NUMBERS] = {a.from, a.to, a.since, a.blend, a.priority};
    memcpy(numbers + (size_t)index * ACTIVATION_NUMBERS, x, sizeof x);
}

double stn_activation_weight(activation a, double time) {
    double s = a.blend > 0.0 ? (time - a.since) / a.blend : 1.0;
    return s >= 1.0 ? a.to : a.from + fmax(s, 0.0) * (a.to - a.from);
}

/// The first effort on a joint of the controller that is not finite is named with it.
static stn_status check_efforts(const step_setup *setup, const controller *c, const stn_forces *forces,
                                stn_error *err) {
    for (int32_t i = 0; i < c->target.dof_count; i++) {
        double effort = forces->tau[c->target.dof[i]];
        if (!isfinite(effort)) {
            return stn_fail(err, STN_ERR_NUMERIC, "generalised force on joint %s is %g",
                            setup->model->joints[setup->model->dof_joint[c->target.dof[i]]].name, effort);
        }
    }
    return STN_OK;
}

static stn_status evaluate(const step_setup *setup, const state_view *state, const step_frame *frame,
                           const step_services *services, controller *c, stn_forces *forces, stn_error *err) {
    stn_control_view view = {
        .target = &c->target,
        .time = state->time,
        .dt = frame->dt,
        .gravity = state->gravity,
        .q = state->q,
        .v = state->v,
        .kinematics = frame->kinematics,
        .arena = frame->arena,
        .surroundings = services->surroundings,
    };
    stn_answer_begin(err);
    stn_status status =
        c->instance->desc->ops.controller->evaluate(c->instance->self, &view, state->reference + c->reference_start,
                                                    frame->controller_next + c->memory_start, forces, err);
    status = stn_answer_end(status, err);
    status = status < 0 ? status : check_efforts(setup, c, forces, err);
    if (status < 0) {
        stn_error_prefix(err, "controller %s of %s", c->instance->desc->id, setup->model->groups[c->target.group].name);
    }
    return status;
}

/// Weights at the step's end, where its efforts act: a ramp of no length is over with its first step.
static activation at_end(const state_view *state, const step_frame *frame, int32_t index, double *weight) {
    activation a = stn_activation_of(state->activation, index);
    *weight = stn_activation_weight(a, state->time + frame->dt);
    return a;
}

/// The shares of controller `index` on all dofs; those it does not drive count with its weight. Returns the largest and
/// the least of its own joints.
static void find_shares(const step_setup *setup, const state_view *state, const step_frame *frame, int32_t index,
                        double *share, double *least, double *most) {
    double weight = 0.0, other = 0.0;
    const stn_control_target *target = &setup->controllers[index].target;
    activation own = at_end(state, frame, index, &weight);
    for (int32_t d = 0; d < setup->model->nv; d++) {
        share[d] = weight;
    }
    for (int32_t j = 0; j < setup->controller_count; j++) {
        const stn_control_target *above = &setup->controllers[j].target;
        activation a = at_end(state, frame, j, &other);
        for (int32_t i = 0; a.priority > own.priority && i < above->dof_count; i++) {
            share[above->dof[i]] *= 1.0 - other;
        }
    }
    *least = 1.0, *most = 0.0;
    for (int32_t i = 0; i < target->dof_count; i++) {
        *least = fmin(*least, share[target->dof[i]]);
        *most = fmax(*most, share[target->dof[i]]);
    }
}

/// Do all controllers act in full? The usual case.
static bool all_in_full(const step_setup *setup, const state_view *state, const step_frame *frame) {
    for (int32_t i = 0; i < setup->controller_count; i++) {
        double weight = 0.0;
        activation a = at_end(state, frame, i, &weight);
        if (weight != 1.0 || a.priority != stn_activation_of(state->activation, 0).priority) {
            return false;
        }
    }
    return true;
}

static stn_status add_share(const step_setup *setup, const state_view *state, step_frame *frame,
                            const step_services *services, int32_t index, double *share, stn_error *err) {
    double least = 0.0, most = 0.0;
    find_shares(setup, state, frame, index, share, &least, &most);
    if (most == 0.0) {
        return STN_OK;
    }
    controller *c = &setup->controllers[index];
    if (least == 1.0) {
        return evaluate(setup, state, frame, services, c, &frame->forces, err);
    }
    stn_forces part;
    stn_status status = stn_forces_begin_part(&frame->forces, frame->arena, &part, err);
    status = status == STN_OK ? evaluate(setup, state, frame, services, c, &part, err) : status;
    return status == STN_OK ? stn_forces_add_part(&frame->forces, &part, share, err) : status;
}

stn_status stn_step_controllers(const step_setup *setup, const state_view *state, step_frame *frame,
                                const step_services *services, stn_error *err) {
    if (state->sizes.controller_bytes > 0) {
        memcpy(frame->controller_next, state->controller_memory, state->sizes.controller_bytes);
    }
    bool plain = all_in_full(setup, state, frame);
    double *share = plain ? NULL : STN_ARENA(frame->arena, setup->model->nv, double);
    stn_status status = plain || share != NULL ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "controllers: out of memory");
    for (int32_t i = 0; i < setup->controller_count && status >= 0; i++) {
        status = plain ? evaluate(setup, state, frame, services, &setup->controllers[i], &frame->forces, err)
                       : add_share(setup, state, frame, services, i, share, err);
    }
    return status < 0 ? status : STN_OK;
}
