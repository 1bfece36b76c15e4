// SPDX-License-Identifier: Apache-2.0
// A state in the place of the world's, another integrator, and a second world.
#include <string.h>

#include "plugin/settings.h"
#include "world/clearance.h"
#include "world/world.h"

/// All that may fail of going over to another integrator: a setup with it, and room in the frame for the memory of both.
/// `*next` NULL: it is the one in use.
static stn_status prepare_integrator(stn_world *world, stn_instance *integrator, step_setup **next, stn_error *err) {
    *next = NULL;
    if (integrator == world->setup->plugin[STN_KIND_INTEGRATOR]) {
        return STN_OK;
    }
    stn_status status = stn_setup_with_integrator(world->setup, integrator, next, err);
    if (status == STN_OK) {
        stn_state_sizes sizes = world->state.sizes;
        size_t bytes = stn_setup_integrator_bytes(*next);
        sizes.integrator_bytes = bytes > sizes.integrator_bytes ? bytes : sizes.integrator_bytes;
        status = stn_world_size_memories(world, &sizes, err);
    }
    if (status != STN_OK) {
        stn_setup_release(*next);
        *next = NULL;
    }
    return status;
}

static void take_setup(stn_world *world, step_setup *next) {
    stn_setup_release(world->setup);
    world->setup = next;
    world->frame.place.plugin = NULL; // it may have been the integrator
    world->services.loose_said = false;
}

stn_status stn_world_take_integrator(stn_world *world, stn_instance *integrator, stn_error *err) {
    step_setup *next = NULL;
    if (world->setup->model == NULL) {
        return stn_setup_put_integrator(world->setup, integrator, err);
    }
    stn_status status = prepare_integrator(world, integrator, &next, err);
    if (status != STN_OK || next == NULL) {
        return status;
    }
    stn_state *states[] = {&world->state, &world->start};
    const int32_t count = world->stepped ? 1 : 2; // before the first step it becomes the one of the start, too
    const size_t bytes = stn_setup_integrator_bytes(next);
    for (int32_t i = 0; i < count && status == STN_OK; i++) { // room first, in which both memories fit
        stn_state_sizes sizes = states[i]->sizes, own = sizes;
        sizes.integrator_bytes = bytes > own.integrator_bytes ? bytes : own.integrator_bytes;
        status = stn_state_resize(world->services.context, states[i], &sizes, err);
        states[i]->sizes = own;
    }
    if (status != STN_OK) {
        stn_setup_release(next);
        return status;
    }
    for (int32_t i = 0; i < count; i++) {
        states[i]->sizes.integrator_bytes = bytes;
        memset(states[i]->integrator_memory, 0, bytes);
    }
    if (!world->stepped) {
        stn_instance_destroy(world->start_integrator);
        world->start_integrator = instance_keep(integrator);
    }
    take_setup(world, next);
    return STN_OK;
}

stn_status stn_world_take_state(stn_world *world, const stn_state *from, stn_instance *integrator, stn_error *err) {
    step_setup *next = NULL;
    stn_status status = prepare_integrator(world, integrator, &next, err);
    if (status == STN_OK) {
        size_t bytes = stn_setup_integrator_bytes(next != NULL ? next : world->setup);
        if (from->sizes.integrator_bytes != bytes) { // of a file
            status = stn_fail(err, STN_ERR_ARGUMENT, "the state holds %zu bytes of integrator %s, which keeps %zu",
                              from->sizes.integrator_bytes, integrator->desc->id, bytes);
        }
    }
    if (status == STN_OK) {
        status =
            stn_cache_replace_state(&world->state, from, stn_setup_cache_bytes(world->setup), &world->services, err);
    }
    if (status != STN_OK) {
        stn_setup_release(next);
        return status;
    }
    if (next != NULL) {
        take_setup(world, next);
    }
    world->frame.kinematics_stale = true;
    world->frame.problem = (stn_problem){0}; // what the last step made belongs to the other state
    world->services.hop = (hop_watch){0};
    stn_world_show_state(world);
    return STN_OK;
}

/// The state and its start, and the warnings: a clone does not say again what its world has said.
static stn_status fill_clone(const stn_world *world, stn_world *clone, stn_error *err) {
    size_t bytes = stn_setup_cache_bytes(world->setup);
    stn_status status = stn_world_prepare(clone, err);
    if (status != STN_OK) {
        return status;
    }
    status = stn_state_copy(clone->services.context, &world->start, bytes, &clone->start, err);
    if (status != STN_OK) {
        return status;
    }
    clone->start_integrator = instance_keep(world->start_integrator);
    status = stn_state_copy(clone->services.context, &world->state, bytes, &clone->state, err);
    if (status != STN_OK) {
        return status;
    }
    status = stn_world_size_memories(clone, &clone->state.sizes, err);
    if (status != STN_OK) {
        return status;
    }
    const step_services *from = &world->services;
    step_services *to = &clone->services;
    to->start_checked = from->start_checked;
    to->resolution_said = from->resolution_said;
    to->softening_said = from->softening_said;
    to->loose_said = from->loose_said;
    to->static_friction_said = from->static_friction_said;
    to->hop_said = from->hop_said;
    memcpy(to->twist_said, from->twist_said, (size_t)world->setup->kinematic_count * sizeof *to->twist_said);
    stn_clearance_inherit(from, to);
    return stn_world_take_state(clone, &world->state, clone->setup->plugin[STN_KIND_INTEGRATOR], err);
}

stn_status stn_world_clone(const stn_world *world, stn_world **out, stn_error *err) {
    *out = NULL;
    if (world->setup->model == NULL) {
        return stn_fail(err, STN_ERR_SEQUENCE, "clone: compile the world first");
    }
    stn_world *clone = NULL;
    stn_status status = stn_world_of_setup(stn_setup_keep(world->setup), &clone, err);
    if (status != STN_OK) {
        return status;
    }
    clone->frame.dt = world->frame.dt;
    clone->stepped = world->stepped;
    status = fill_clone(world, clone, err);
    if (status != STN_OK) {
        stn_world_destroy(clone);
        return status;
    }
    *out = clone;
    return STN_OK;
}

uint64_t stn_world_hash(const stn_world *world) {
    return world->setup->model != NULL ? stn_state_hash(&world->state, stn_setup_cache_bytes(world->setup)) : 0;
}
