// SPDX-License-Identifier: Apache-2.0
// From the solution to the next state: the integrator's half after the solve, then what keeps it.
#include "world/sleep.h"

stn_status stn_step_advance(const step_setup *setup, const state_view *state, step_frame *frame,
                            step_services *services, stn_error *err) {
    const stn_instance *integrator = setup->plugin[STN_KIND_INTEGRATOR];
    stn_integrator_view view = stn_step_integrator_view(setup, state, frame, services);
    stn_status status = stn_step_finish_constraints(setup, state, frame, err);
    if (status < 0) {
        return status;
    }
    stn_step_find_reactions(setup, frame);
    frame->place.plugin = integrator;
    view.v_position = frame->solution.v_position;
    status = integrator->desc->ops.integrator->advance(integrator->self, &view, frame->integrator_next, &frame->problem,
                                                       frame->solution.v, frame->solution.gamma, frame->q_next,
                                                       frame->v_next, err);
    if (status < 0) {
        stn_error_prefix(err, "integrator %s", integrator->desc->id);
        return status;
    }
    frame->place.plugin = NULL;
    stn_step_move_kinematic(setup, state, frame->q_next);
    stn_step_place_nodes(setup, frame, frame->q_next);
    status = stn_step_check_next(setup, frame, err);
    if (status != STN_OK) {
        return status;
    }
    if (stn_sleep_is_on(setup)) {
        status = stn_step_fall_asleep(setup, state, frame, err);
        if (status != STN_OK) {
            return status;
        }
    }
    frame->report.input_work_J = stn_step_input_work(setup, state, frame);
    status = stn_step_check_energies(setup, state, frame, err);
    if (status == STN_OK) {
        stn_step_check_inverted(setup, state, frame, services);
    }
    return status;
}

static void swap(double **a, double **b) {
    double *t = *a;
    *a = *b;
    *b = t;
}

static void swap_bytes(unsigned char **a, unsigned char **b) {
    unsigned char *t = *a;
    *a = *b;
    *b = t;
}

/// Memories first, then the state itself: with it the step is made.
stn_status stn_step_commit(const step_setup *setup, stn_state *state, step_frame *frame, step_services *services,
                           stn_error *err) {
    stn_law law = stn_setup_law(setup);
    bool remembers = law.ops != NULL && law.ops->commit != NULL;
    if (remembers || setup->options.stiction) { // the law's memory, and how far what sticks may hold
        double *v_c = STN_ARENA(frame->arena, frame->problem.row_count, double);
        if (v_c == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "step: out of memory");
        }
        stn_problem_contact_velocity(&frame->problem, frame->solution.v, true, v_c);
        if (remembers) {
            frame->place.plugin = setup->plugin[STN_KIND_LAW];
            law.ops->commit(law.self, &frame->problem, v_c, frame->solution.gamma, frame->law_memory);
            frame->place.plugin = NULL;
        }
        if (setup->options.stiction) {
            const state_view before = state_view_of(state);
            stn_step_release(setup, &before, frame, v_c);
        }
    }
    stn_status status = stn_sleep_is_on(setup) ? stn_step_show_sleepers(setup, frame, services, err) : STN_OK;
    if (status == STN_OK) {
        status = stn_cache_commit(setup, state, frame, services, err);
    }
    if (status != STN_OK) {
        return status;
    }
    if (stn_sleep_is_on(setup)) {
        stn_tree_sleep *before = state->sleep;
        state->sleep = frame->sleep_next;
        frame->sleep_next = before;
    }
    swap(&state->q, &frame->q_next);
    swap(&state->v, &frame->v_next);
    swap_bytes(&state->controller_memory, &frame->controller_next);
    swap_bytes(&state->integrator_memory, &frame->integrator_next);
    stn_step_forget_kinematic(state);
    state->step++;
    state->time += frame->dt;
    return STN_OK;
}
