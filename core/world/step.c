// SPDX-License-Identifier: Apache-2.0
// One step (docs/architecture.md). Each stage is one call on plain data; a new plugin never changes this file. Nothing
// the caller can see is changed before the solution is known to be finite, so a failed step leaves the state as it was.
#include <string.h>

#include "world/sleep.h"

/// Reads the setup and the state, fills its part of the frame. The state is a view, behind which nothing can be
/// written: commit alone gets the state itself.
typedef stn_status (*step_function)(const step_setup *setup, const state_view *state, step_frame *frame,
                                    step_services *services, stn_error *err);

static const struct {
    stn_stage stage; // to which a profile adds its time
    step_function make;
} stages[] = {
    {STN_STAGE_KINEMATICS, stn_step_kinematics}, // q0, v0         -> poses, velocities
    {STN_STAGE_INPUTS, stn_step_inputs},         // controllers    -> affine forces tau, K, D
    {STN_STAGE_FORM, stn_step_form},             // integrator     -> A, factored, and v_star
    {STN_STAGE_COLLISION, stn_step_collide},     // contact model  -> contact set
    {STN_STAGE_ASSEMBLY, stn_step_assemble},     // constraints    -> contact problem, w
    {STN_STAGE_SOLVE, stn_step_solve},           // law, solver    -> v, gamma, certificate
    {STN_STAGE_ADVANCE, stn_step_advance},       // integrator     -> next q, v
};

/// A state that came from elsewhere: the contacts of what sleeps in it, by the stages that make them.
static stn_status recall_sleepers(stn_world *world, stn_error *err) {
    const state_view before = state_view_of(&world->state);
    step_frame *frame = &world->frame;
    bool any = false;
    for (size_t t = 0; t < world->state.sizes.sleep_count; t++) {
        any = any || world->state.sleep[t].group != 0;
    }
    frame->sleepers.count = 0;
    frame->sleepers.known = !any;
    frame->sleepers.changed = frame->sleepers.cached = false;
    if (!any) {
        return STN_OK;
    }
    memset(frame->asleep, 0, world->state.sizes.sleep_count * sizeof *frame->asleep);
    frame->asleep_count = 0;
    frame->place.step = world->state.step;
    for (int32_t i = 0; stages[i].stage != STN_STAGE_ADVANCE; i++) {
        frame->place.stage = stages[i].stage;
        stn_status made = stages[i].make(world->setup, &before, frame, &world->services, err);
        if (made < 0) {
            return stn_step_failed(world, stages[i].stage, made, err);
        }
    }
    stn_status kept = stn_step_recall_sleepers(world->setup, &before, frame, &world->services, err);
    stn_arena_reset(frame->arena);
    return kept;
}

/// Recorders have how many trees sleep as a signal.
static stn_status plot_sleeping(stn_world *world, stn_status status, stn_error *err) {
    if (!stn_sleep_is_on(world->setup)) {
        return status;
    }
    stn_status plotted = stn_world_take_signal(world, "sleeping", world->frame.report.sleeping_count, err);
    return plotted < 0 ? plotted : status;
}

/// All that can move sleeps, and nothing has been told since: everything stays as the last step made it, and as
/// observers saw it.
static stn_status make_still_step(stn_world *world, stn_error *err) {
    step_frame *frame = &world->frame;
    stn_step_report *report = &frame->report;
    double start = stn_clock_us();
    frame->place.step = world->state.step++;
    world->state.time += frame->dt;
    world->events = (stn_contact_events){0};
    world->events_known = true;
    report->status = STN_OK;
    report->iterations = report->island_count = report->not_converged = report->fallbacks = 0;
    report->reason = "asleep";
    report->input_work_J = report->stopped_J = 0.0;
    report->contact_start_J = report->contact_J;
    memset(report->stage_us, 0, sizeof report->stage_us);
    memset(report->phase_us, 0, sizeof report->phase_us);
    report->phase_us[STN_PHASE_OBSERVERS] = world->observers_us;
    stn_step_observation(world);
    double mark = stn_clock_us();
    report->step_us = mark - start;
    stn_status observed = stn_step_observe(world, err);
    world->observers_us = world->setup->options.profile ? stn_clock_us() - mark : 0.0;
    return observed < 0 ? observed : STN_OK;
}

stn_status stn_world_step(stn_world *world, stn_error *err) {
    stn_status status = world->setup->model == NULL ? stn_world_compile(world, err) : STN_OK;
    if (status != STN_OK) {
        return status;
    }
    const step_setup *setup = world->setup;
    step_frame *frame = &world->frame;
    step_services *services = &world->services;
    const state_view before = state_view_of(&world->state);
    if (frame->still && !frame->told) {
        return make_still_step(world, err);
    }
    bool profile = setup->options.profile; // a small step would spend a twentieth of its time on looking at the clock
    double start = stn_clock_us(), mark = start;
    if (stn_sleep_is_on(setup) && frame->sleepers.known && frame->sleepers.changed) {
        status = stn_step_keep_sleepers(setup, &before, frame, services, err);
        if (status < 0) {
            return status;
        }
    }
    stn_arena_reset(frame->arena);
    if (stn_sleep_is_on(setup) && !frame->sleepers.known) {
        status = recall_sleepers(world, err);
        if (status < 0) {
            return status;
        }
        status = STN_OK;
    }
    stn_step_leave_sleepers(setup, &before, frame);
    world->stepped = true;
    world->events_known = false;
    frame->assembled = false;
    frame->report = (stn_step_report){0};
    frame->report.phase_us[STN_PHASE_OBSERVERS] = world->observers_us;
    frame->place.step = world->state.step;
    for (int32_t i = 0; i <= STN_COUNT(stages); i++) {
        bool commits = i == STN_COUNT(stages); // law, cache -> the state
        stn_stage stage = commits ? STN_STAGE_COMMIT : stages[i].stage;
        frame->place.stage = stage;
        frame->place.plugin = NULL;
        stn_status made = commits ? stn_step_commit(setup, &world->state, frame, services, err)
                                  : stages[i].make(setup, &before, frame, services, err);
        if (profile) {
            double end = stn_clock_us();
            frame->report.stage_us[stage] += end - mark;
            mark = end;
        }
        if (made < 0) {
            return stn_step_failed(world, stage, made, err);
        }
        status = made > status ? made : status; // a qualified solution stays qualified
        if (stage == STN_STAGE_ASSEMBLY && stn_step_wake_by_constraints(setup, &before, frame)) {
            for (; stages[i].stage != STN_STAGE_INPUTS; i--) { // what woke has no A: the next stage is to form it
            }
        }
    }
    frame->told = false;
    frame->still = stn_sleep_is_on(setup) && stn_step_is_still(setup, &world->state, frame);
    status = plot_sleeping(world, status, err);
    if (status < 0) {
        return status;
    }
    frame->place.stage = STN_STAGE_COUNT;
    frame->place.plugin = NULL;
    stn_step_observation(world);
    mark = stn_clock_us();
    frame->report.step_us = mark - start;
    stn_status observed = stn_step_observe(world, err);
    world->observers_us = profile ? stn_clock_us() - mark : 0.0;
    return observed < 0 ? observed : status;
}
