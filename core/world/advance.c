// SPDX-License-Identifier: Apache-2.0
// From the solution to the next state: the integrator's half after the solve, then what keeps it.
#include "world/world.h"

stn_status stn_step_advance(stn_world *world, stn_error *err) {
    const stn_instance *integrator = world->setup->plugin[STN_KIND_INTEGRATOR];
    stn_integrator_view view = stn_world_integrator_view(world);
    stn_status status = integrator->desc->ops.integrator->advance(
        integrator->self, &view, world->frame.integrator_next, &world->frame.problem, world->frame.solution.v,
        world->frame.solution.gamma, world->frame.q_next, world->frame.v_next, err);
    if (status < 0) {
        stn_error_prefix(err, "integrator %s", integrator->desc->id);
        return status;
    }
    stn_step_move_prescribed(world, world->frame.q_next);
    status = stn_step_check_next(world, err);
    if (status != STN_OK) {
        return status;
    }
    world->frame.report.input_work_J = stn_step_input_work(world);
    return stn_step_check_energies(world, err);
}

/// The law's memory, and how far what sticks may hold.
static stn_status commit_contacts(stn_world *world, stn_error *err) {
    stn_law law = stn_world_law(world);
    bool remembers = law.ops != NULL && law.ops->commit != NULL;
    if (!remembers && !world->setup->options.stiction) {
        return STN_OK;
    }
    double *v_c = STN_ARENA(world->frame.arena, world->frame.problem.row_count, double);
    if (v_c == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "step: out of memory");
    }
    stn_problem_contact_velocity(&world->frame.problem, world->frame.solution.v, true, v_c);
    if (remembers) {
        law.ops->commit(law.self, &world->frame.problem, v_c, world->frame.solution.gamma, world->frame.law_memory);
    }
    if (world->setup->options.stiction) {
        stn_step_release(world, v_c);
    }
    return STN_OK;
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
stn_status stn_step_commit(stn_world *world, stn_error *err) {
    stn_status status = commit_contacts(world, err);
    status = status == STN_OK ? stn_cache_commit(world, err) : status;
    if (status != STN_OK) {
        return status;
    }
    stn_state *state = &world->state;
    swap(&state->q, &world->frame.q_next);
    swap(&state->v, &world->frame.v_next);
    swap_bytes(&state->controller_memory, &world->frame.controller_next);
    swap_bytes(&state->integrator_memory, &world->frame.integrator_next);
    stn_step_forget_prescribed(world);
    state->step++;
    state->time += world->frame.dt;
    return STN_OK;
}
