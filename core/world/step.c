// SPDX-License-Identifier: Apache-2.0
// One step (docs/architecture.md). Each stage is one call on plain data; a new plugin never changes this file. Nothing
// the caller can see is changed before the solution is known to be finite, so a failed step leaves the state as it was.
#include "world/world.h"

typedef struct step_stage {
    stn_stage stage; // to which a profile adds its time
    stn_status (*make)(stn_world *world, stn_error *err);
} step_stage;

static const step_stage stages[] = {
    {STN_STAGE_KINEMATICS, stn_step_kinematics}, // q0, v0         -> poses, velocities
    {STN_STAGE_INPUTS, stn_step_inputs},         // controllers    -> affine forces tau, K, D
    {STN_STAGE_FORM, stn_step_form},             // integrator     -> A, factored, and v_star
    {STN_STAGE_COLLISION, stn_step_collide},     // contact model  -> contact set
    {STN_STAGE_ASSEMBLY, stn_step_assemble},     // constraints    -> contact problem, w
    {STN_STAGE_SOLVE, stn_step_solve},           // law, solver    -> v, gamma, certificate
    {STN_STAGE_ADVANCE, stn_step_advance},       // integrator     -> next q, v
    {STN_STAGE_ADVANCE, stn_step_commit},        // law, cache     -> the state
};

static void begin(stn_world *world) {
    stn_arena_reset(world->frame.arena);
    world->stepped = true;
    world->frame.assembled = false;
    world->frame.report = (stn_step_report){0};
    world->frame.report.phase_us[STN_PHASE_OBSERVERS] = world->observers_us;
}

stn_status stn_world_step(stn_world *world, stn_error *err) {
    stn_status status = world->setup->model == NULL ? stn_world_compile(world, err) : STN_OK;
    if (status != STN_OK) {
        return status;
    }
    double start = stn_clock_us(), mark = start;
    begin(world);
    for (int32_t i = 0; i < STN_COUNT(stages); i++) {
        stn_status made = stages[i].make(world, err);
        if (world->setup->options.profile) { // a small step would spend a twentieth of its time on looking at the clock
            double end = stn_clock_us();
            world->frame.report.stage_us[stages[i].stage] += end - mark;
            mark = end;
        }
        if (made < 0) {
            return stn_step_failed(world, stages[i].stage, made, err);
        }
        status = made > status ? made : status; // a qualified solution stays qualified
    }
    stn_step_observation(world);
    mark = stn_clock_us();
    world->frame.report.step_us = mark - start;
    stn_status observed = stn_step_observe(world, err);
    world->observers_us = world->setup->options.profile ? stn_clock_us() - mark : 0.0;
    return observed < 0 ? observed : status;
}
