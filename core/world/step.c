// SPDX-License-Identifier: Apache-2.0
// One step (docs/architecture.md). Each stage is one call on plain data; a new plugin never changes this file. Nothing
// the caller can see is changed before the solution is known to be finite, so a failed step leaves the state as it was.
#include "world/world.h"

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

stn_status stn_world_step(stn_world *world, stn_error *err) {
    stn_status status = world->setup->model == NULL ? stn_world_compile(world, err) : STN_OK;
    if (status != STN_OK) {
        return status;
    }
    const step_setup *setup = world->setup;
    step_frame *frame = &world->frame;
    step_services *services = &world->services;
    const state_view before = state_view_of(&world->state);
    bool profile = setup->options.profile; // a small step would spend a twentieth of its time on looking at the clock
    double start = stn_clock_us(), mark = start;
    stn_arena_reset(frame->arena);
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
