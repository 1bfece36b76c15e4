// SPDX-License-Identifier: Apache-2.0
// One step, as data flows (docs/architecture.md):
//
//     inputs -> kinematics, affine forces -> A, v* -> contact set -> contact problem -> v, gamma -> certificate
//            -> next state -> law.commit, cache -> observers
//
// Each stage is one call on plain data; a new plugin never changes this file. Nothing the caller can see is changed
// before the solution is known to be finite, so a failed step leaves the state as it was.
#include <string.h>

#include "world/world.h"

static stn_status update_kinematics(stn_world *world, stn_error *err) {
    (void)err;
    if (world->kinematics_stale) {
        stn_kinematics_update(world->kinematics, world->state.q, world->state.v);
        world->kinematics_stale = false;
        world->scene_stale = true;
    }
    stn_step_prescribed(world);
    return STN_OK;
}

/// Solver with its law, completion of v or gamma, certificate.
static stn_status solve(stn_world *world, stn_error *err) {
    const stn_problem *p = &world->problem;
    world->solution.v = STN_ARENA(world->arena, p->nv, double);
    world->solution.gamma = STN_ARENA(world->arena, p->row_count, double);
    if (world->solution.v == NULL || world->solution.gamma == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "step: out of memory");
    }
    stn_step_soften(world);
    stn_solve_request request = {
        .inverse = world->inverse,
        .law_memory = world->law_memory,
        .solver_memory = world->solver_memory,
        .certificate_flags = world->options.certificate_light ? STN_CERTIFICATE_LIGHT : 0,
        .phase_us = world->options.profile ? world->report.phase_us : NULL,
    };
    stn_solve_report solved = {0};
    stn_status status = stn_problem_solve(world->solver, &world->problem, &request, &world->solution, &solved,
                                          &world->certificate, err);
    stn_step_report *report = &world->report;
    report->status = status;
    report->iterations = solved.iterations;
    report->islands = solved.islands;
    report->not_converged = solved.not_converged;
    report->cost = solved.cost;
    report->reason = solved.reason;
    report->contacts = world->contacts.count;
    report->constraints = p->constraint_count;
    if (world->options.profile) {
        report->stage_us[STN_STAGE_ASSEMBLY] += solved.prepare_us;
        report->stage_us[STN_STAGE_CERTIFICATE] += solved.certificate_us;
        report->stage_us[STN_STAGE_SOLVE] -= solved.prepare_us + solved.certificate_us; // run() adds the whole call
    } else {
        report->stage_us[STN_STAGE_SOLVE] = solved.solve_us;
    }
    return status;
}

static stn_status advance(stn_world *world, stn_error *err) {
    const stn_instance *integrator = world->plugin[STN_KIND_INTEGRATOR];
    stn_integrator_view view = stn_world_integrator_view(world);
    stn_status status = integrator->desc->ops.integrator->advance(
        integrator->self, &view, world->integrator_next, &world->problem, world->solution.v, world->solution.gamma,
        world->q_next, world->v_next, err);
    if (status < 0) {
        stn_error_prefix(err, "integrator %s", integrator->desc->id);
        return status;
    }
    stn_step_move_prescribed(world, world->q_next);
    status = stn_step_check_next(world, err);
    if (status != STN_OK) {
        return status;
    }
    world->report.input_work_J = stn_step_input_work(world);
    return stn_step_check_energies(world, err);
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

/// From here on the step is made: memories first, then the state itself.
static stn_status commit(stn_world *world, stn_error *err) {
    stn_law law = stn_world_law(world);
    bool remembers = law.ops != NULL && law.ops->commit != NULL;
    if (remembers || world->options.stiction) {
        double *v_c = STN_ARENA(world->arena, world->problem.row_count, double);
        if (v_c == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "step: out of memory");
        }
        stn_problem_contact_velocity(&world->problem, world->solution.v, true, v_c);
        if (remembers) {
            law.ops->commit(law.self, &world->problem, v_c, world->solution.gamma, world->law_memory);
        }
        if (world->options.stiction) {
            stn_step_release(world, v_c);
        }
    }
    stn_status status = stn_cache_commit(world, err);
    if (status != STN_OK) {
        return status;
    }
    stn_state *state = &world->state;
    swap(&state->q, &world->q_next);
    swap(&state->v, &world->v_next);
    swap_bytes(&state->controller_memory, &world->controller_next);
    swap_bytes(&state->integrator_memory, &world->integrator_next);
    stn_step_forget_prescribed(world);
    state->step++;
    state->time += world->options.dt;
    return STN_OK;
}

/// Runs one stage unless an earlier one failed; a profile notes how long it took since `*mark`, the end of the one
/// before. A small step would spend a twentieth of its time on looking at the clock.
static stn_status run(stn_world *world, stn_stage stage, stn_status (*call)(stn_world *, stn_error *),
                      stn_status before, double *mark, stn_error *err) {
    if (before < 0) {
        return before;
    }
    stn_status status = call(world, err);
    if (world->options.profile) {
        double end = stn_clock_us();
        world->report.stage_us[stage] += end - *mark;
        *mark = end;
    }
    return status < 0 || status > before ? status : before; // a qualified solution stays qualified
}

stn_status stn_world_step(stn_world *world, stn_error *err) {
    if (world->model == NULL) {
        stn_status compiled = stn_world_compile(world, err);
        if (compiled != STN_OK) {
            return compiled;
        }
    }
    double start = stn_clock_us(), mark = start;
    stn_arena_reset(world->arena);
    bool first = !world->stepped;
    world->stepped = true;
    world->assembled = false;
    world->report = (stn_step_report){0};
    world->report.phase_us[STN_PHASE_OBSERVERS] = world->observers_us;
    stn_status status = STN_OK;
    status = run(world, STN_STAGE_KINEMATICS, update_kinematics, status, &mark, err);
    status = run(world, STN_STAGE_INPUTS, stn_step_inputs, status, &mark, err);
    status = run(world, STN_STAGE_FORM, stn_step_form, status, &mark, err);
    bool formed = status >= 0;
    status = run(world, STN_STAGE_COLLISION, stn_step_collide, status, &mark, err);
    status = run(world, STN_STAGE_ASSEMBLY, stn_step_assemble, status, &mark, err);
    world->assembled = status >= 0;
    if (first && status >= 0) {
        stn_step_check_start(world);
        mark = stn_clock_us();
    }
    status = run(world, STN_STAGE_SOLVE, solve, status, &mark, err);
    if (status >= 0) {
        stn_step_check_resolution(world);
    } else if (formed) {
        stn_step_name_suspect(world, err);
    }
    status = run(world, STN_STAGE_ADVANCE, advance, status, &mark, err);
    status = run(world, STN_STAGE_ADVANCE, commit, status, &mark, err);
    if (status < 0) {
        world->observation.problem = NULL;
        world->kinematics_stale = true; // they may be those of the step that failed
        stn_error_prefix(err, "step %lld, t = %g s", (long long)world->state.step, world->state.time);
        return status;
    }
    stn_step_observation(world);
    mark = stn_clock_us();
    world->report.duration_us = mark - start;
    stn_status observed = stn_step_observe(world, err);
    world->observers_us = world->options.profile ? stn_clock_us() - mark : 0.0;
    return observed < 0 ? observed : status;
}
