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

/// Weight at the step's end, where efforts act: a ramp of no length is over with its first step.
static double weight_at_end(const state_view *state, const step_frame *frame, int32_t index) {
    return stn_activation_weight(stn_activation_of(state->activation, index), state->time + frame->dt);
}

/// The shares of controller `index` on all dofs; those it does not drive count with its weight.
static void find_shares(const step_setup *setup, const state_view *state, const step_frame *frame, int32_t index,
                        double *share) {
    double weight = weight_at_end(state, frame, index);
    double priority = stn_activation_of(state->activation, index).priority;
    for (int32_t d = 0; d < setup->model->nv; d++) {
        share[d] = weight;
    }
    for (int32_t j = 0; j < setup->controller_count; j++) {
        const stn_control_target *above = &setup->controllers[j].target;
        if (stn_activation_of(state->activation, j).priority > priority) {
            double other = weight_at_end(state, frame, j);
            for (int32_t i = 0; i < above->dof_count; i++) {
                share[above->dof[i]] *= 1.0 - other;
            }
        }
    }
}

static stn_status evaluate(const step_setup *setup, const controller *c, const stn_control_view *view,
                           const double *reference, void *memory, stn_forces *forces, stn_error *err) {
    if (view->quasistatic && stn_plugin_says(c->instance, "inertia")) { // only where it acts: others may wait
        return stn_fail(err, STN_ERR_UNSUPPORTED,
                        "it rules accelerations, and steps of integrator %s have none: deactivate it for them, or take "
                        "a controller of stiffness and damping, such as joint_impedance",
                        setup->plugin[STN_KIND_INTEGRATOR]->desc->id);
    }
    return c->instance->desc->ops.controller->evaluate(c->instance->self, view, reference, memory, forces, err);
}

stn_status stn_step_controllers(const step_setup *setup, const state_view *state, step_frame *frame,
                                const step_services *services, stn_error *err) {
    const stn_model *model = setup->model;
    bool plain = true; // all act in full, the usual case
    for (int32_t i = 0; i < setup->controller_count && plain; i++) {
        plain = weight_at_end(state, frame, i) == 1.0 &&
                stn_activation_of(state->activation, i).priority == stn_activation_of(state->activation, 0).priority;
    }
    const bool quasistatic = stn_plugin_says(setup->plugin[STN_KIND_INTEGRATOR], "quasistatic");
    double *share = plain ? NULL : STN_ARENA(frame->arena, model->nv, double);
    if (!plain && share == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "controllers: out of memory");
    }
    for (int32_t k = 0; k < setup->controller_count; k++) {
        const controller *c = &setup->controllers[k];
        const stn_control_target *target = &c->target;
        stn_forces part, *forces = &frame->forces;
        stn_status status = STN_OK;
        if (!plain) {
            double least = 1.0, most = 0.0; // of its own joints
            find_shares(setup, state, frame, k, share);
            for (int32_t i = 0; i < target->dof_count; i++) {
                least = fmin(least, share[target->dof[i]]);
                most = fmax(most, share[target->dof[i]]);
            }
            if (most == 0.0) {
                continue;
            }
            if (least != 1.0) {
                forces = &part;
                status = stn_forces_begin_part(&frame->forces, frame->arena, &part, err);
            }
        }
        if (status != STN_OK) {
            return status;
        }
        const stn_control_view view = {
            .target = target,
            .time = state->time,
            .dt = frame->dt,
            .gravity = state->gravity,
            .q = state->q,
            .v = state->v,
            .kinematics = frame->kinematics,
            .arena = frame->arena,
            .surroundings = services->surroundings,
            .quasistatic = quasistatic,
        };
        stn_answer_begin(err);
        frame->place.plugin = c->instance;
        status = evaluate(setup, c, &view, state->reference + c->reference_start,
                          frame->controller_next + c->memory_start, forces, err);
        status = stn_answer_end(status, err);
        for (int32_t i = 0; i < target->dof_count && status >= 0; i++) {
            double effort = forces->tau[target->dof[i]];
            if (!isfinite(effort)) {
                status = stn_fail(err, STN_ERR_NUMERIC, "generalised force on joint %s is %g",
                                  model->joints[model->dof_joint[target->dof[i]]].name, effort);
            }
        }
        if (status < 0) {
            stn_error_prefix(err, "controller %s of %s", c->instance->desc->id, model->groups[target->group].name);
            return status;
        }
        frame->place.plugin = NULL;
        if (forces == &part) {
            status = stn_forces_add_part(&frame->forces, &part, share, err);
            if (status < 0) {
                return status;
            }
        }
    }
    return STN_OK;
}
