// SPDX-License-Identifier: Apache-2.0
// A state in the place of the world's, and a second world.
#include <string.h>

#include "plugin/settings.h"
#include "world/clearance.h"
#include "world/world.h"

stn_status stn_world_take_state(stn_world *world, const stn_state *from, stn_error *err) {
    stn_status status =
        stn_state_copy(world->services.context, from, stn_setup_cache_bytes(world->setup), &world->state, err);
    if (status != STN_OK) {
        return status;
    }
    world->frame.kinematics_stale = true;
    world->frame.problem = (stn_problem){0}; // what the last step made belongs to the other state
    status = stn_cache_index_rebuild(&world->state, &world->services, err);
    (void)stn_world_kinematics(world);
    stn_step_energies(world->setup, &world->state, &world->frame);
    stn_step_observation(world);
    return status;
}

static stn_status clone_controllers(const stn_world *world, stn_world *clone, stn_error *err) {
    stn_status status = STN_OK;
    for (int32_t i = 0; i < world->setup->controller_count && status == STN_OK; i++) {
        const controller *c = &world->setup->controllers[i];
        instance_choice like;
        stn_instance *instance = NULL;
        int32_t index = -1;
        status = instance_describe(c->instance, &like, err);
        if (status == STN_OK) {
            status = stn_instance_create(world->services.context, STN_KIND_CONTROLLER, like.choice.id,
                                         like.choice.settings, like.choice.setting_count, &instance, err);
        }
        if (status == STN_OK) {
            status = stn_world_add_controller(clone, instance, c->target.robot, c->joints, c->target.joint_count,
                                              &index, err);
        }
        instance_choice_clear(world->services.context, &like);
    }
    return status;
}

/// Fills in the choices of options that make equal plugins; their settings lie in `like` (STN_KIND_COUNT).
static stn_status describe_plugins(const stn_world *world, instance_choice *like, stn_world_options *options,
                                   stn_error *err) {
    stn_plugin_choice *choices[STN_KIND_COUNT] = {
        [STN_KIND_SOLVER] = &options->solver,   [STN_KIND_LAW] = &options->law,
        [STN_KIND_CONTACT] = &options->contact, [STN_KIND_INTEGRATOR] = &options->integrator,
        [STN_KIND_FACTOR] = &options->factor,
    };
    stn_status status = STN_OK;
    for (int32_t kind = 0; kind < STN_KIND_COUNT && status == STN_OK; kind++) {
        if (choices[kind] != NULL && world->setup->plugin[kind] != NULL) {
            status = instance_describe(world->setup->plugin[kind], &like[kind], err);
            *choices[kind] = like[kind].choice;
        }
    }
    return status;
}

stn_status stn_world_clone(const stn_world *world, stn_world **out, stn_error *err) {
    *out = NULL;
    if (world->setup->model == NULL) {
        return stn_fail(err, STN_ERR_SEQUENCE, "clone: compile the world first");
    }
    stn_world_options options = world->setup->options;
    options.dt = world->frame.dt;
    instance_choice like[STN_KIND_COUNT] = {0};
    stn_status status = describe_plugins(world, like, &options, err);
    stn_world *clone = NULL;
    status = status == STN_OK ? stn_world_create(world->services.context, &options, &clone, err) : status;
    for (int32_t kind = 0; kind < STN_KIND_COUNT; kind++) {
        instance_choice_clear(world->services.context, &like[kind]);
    }
    if (status == STN_OK) {
        atomic_fetch_add(&world->setup->shared->users, 1);
        clone->setup->shared = world->setup->shared;
        status = stn_world_prepare(clone, err);
    }
    status = status == STN_OK ? clone_controllers(world, clone, err) : status;
    status = status == STN_OK ? stn_state_copy(world->services.context, &world->start,
                                               stn_setup_cache_bytes(world->setup), &clone->start, err)
                              : status;
    status = status == STN_OK ? stn_world_take_state(clone, &world->state, err) : status;
    if (status != STN_OK) {
        stn_world_destroy(clone);
        return status;
    }
    clone->stepped = world->stepped;
    clone->services.start_checked = world->services.start_checked;
    stn_clearance_inherit(world, clone);
    clone->services.resolution_said = world->services.resolution_said;
    clone->services.loose_said = world->services.loose_said;
    clone->services.static_friction_said = world->services.static_friction_said;
    *out = clone;
    return STN_OK;
}

uint64_t stn_world_hash(const stn_world *world) {
    return world->setup->model != NULL ? stn_state_hash(&world->state, stn_setup_cache_bytes(world->setup)) : 0;
}
