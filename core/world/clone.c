// SPDX-License-Identifier: Apache-2.0
// A state in the place of the world's, another integrator, and a second world.
#include <string.h>

#include "plugin/settings.h"
#include "world/clearance.h"
#include "world/world.h"

void stn_world_state_replaced(stn_world *world) {
    stn_world_take_factors(world);
    world->frame.kinematics_stale = true;
    world->frame.problem = (stn_problem){0};
    world->services.hop = (hop_watch){0};
    world->frame.sleepers.known = false;
    world->frame.told = true;
}

stn_status stn_world_take_state(stn_world *world, const stn_state *from, stn_error *err) {
    stn_status status =
        stn_cache_replace_state(&world->state, from, stn_setup_cache_bytes(world->setup), &world->services, err);
    if (status != STN_OK) {
        return status;
    }
    stn_world_state_replaced(world);
    stn_world_show_state(world);
    return STN_OK;
}

stn_status stn_world_check_own(const stn_world *world, stn_error *err) {
    return !world->in_batch ? STN_OK
                            : stn_fail(err, STN_ERR_SEQUENCE,
                                       "the world is one of a batch, which share step length, integrator and "
                                       "controllers: choose them before the batch is made");
}

stn_status stn_world_take_integrator(stn_world *world, stn_instance *integrator, stn_error *err) {
    stn_status own = stn_world_check_own(world, err);
    if (own != STN_OK) {
        return own;
    }
    if (world->setup->model == NULL) {
        return stn_setup_put_integrator(world->setup, integrator, err);
    }
    const stn_integrator_ops *ops = integrator->desc->ops.integrator;
    const size_t before = world->state.sizes.integrator_bytes;
    const size_t bytes = ops->state_size != NULL ? ops->state_size(integrator->self, world->setup->model) : 0;
    stn_state *states[] = {&world->state, &world->start};
    stn_state_sizes sizes = world->state.sizes; // first room in which both memories fit, which changes nothing
    sizes.integrator_bytes = bytes > before ? bytes : before;
    stn_status status = stn_world_size_memories(world, &sizes, err);
    for (int32_t i = 0; i < STN_COUNT(states) && status == STN_OK; i++) {
        status = stn_state_resize(world->services.context, states[i], &sizes, err);
        states[i]->sizes.integrator_bytes = before;
    }
    status = status == STN_OK ? stn_setup_part(&world->setup, err) : status;
    status = status == STN_OK ? stn_setup_put_integrator(world->setup, integrator, err) : status;
    if (status != STN_OK) {
        return status;
    }
    for (int32_t i = 0; i < STN_COUNT(states); i++) {
        states[i]->sizes.integrator_bytes = bytes;
        memset(states[i]->integrator_memory, 0, bytes);
    }
    if (!world->stepped) {
        stn_instance_destroy(world->start_integrator);
        world->start_integrator = instance_keep(integrator);
    }
    world->frame.place.plugin = NULL; // it may have been the one before
    world->services.loose_said = false;
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
    return stn_world_take_state(clone, &world->state, err);
}

static stn_status make_clone(const stn_world *world, int32_t threads, stn_world **out, stn_error *err) {
    *out = NULL;
    if (world->setup->model == NULL) {
        return stn_fail(err, STN_ERR_SEQUENCE, "clone: compile the world first");
    }
    stn_world *clone = NULL;
    step_setup *setup = NULL;
    stn_status status = stn_setup_for_clone(world->setup, &setup, err);
    status = status == STN_OK ? stn_world_of_setup(setup, threads, &clone, err) : status;
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

stn_status stn_world_clone(const stn_world *world, stn_world **out, stn_error *err) {
    return make_clone(world, world->setup->options.threads, out, err);
}

stn_status stn_world_clone_alone(const stn_world *world, stn_world **out, stn_error *err) {
    return make_clone(world, 1, out, err);
}

uint64_t stn_world_hash(const stn_world *world) {
    return world->setup->model != NULL ? stn_state_hash(&world->state, stn_setup_cache_bytes(world->setup)) : 0;
}
