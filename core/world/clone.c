// SPDX-License-Identifier: Apache-2.0
// Reset, clone, snapshot in memory.
#include <string.h>

#include "plugin/settings.h"
#include "world/clearance.h"
#include "world/snapshot.h"

/// Puts a state of the same sizes in place of the world's.
static stn_status adopt_state(stn_world *world, const stn_state *from, stn_error *err) {
    stn_status status = stn_state_copy(world->context, from, stn_world_cache_bytes(world), &world->state, err);
    if (status != STN_OK) {
        return status;
    }
    world->kinematics_stale = true;
    world->problem = (stn_problem){0}; // what the last step made belongs to the other state
    status = stn_cache_index_rebuild(world, err);
    (void)stn_world_kinematics(world);
    stn_step_energies(world);
    stn_step_observation(world);
    return status;
}

void stn_world_reset(stn_world *world) {
    if (world->model != NULL) {
        (void)adopt_state(world, &world->start, NULL); // smaller than what is there: cannot run out of memory
        stn_journal_state(world);
    }
}

static stn_status clone_controllers(const stn_world *world, stn_world *clone, stn_error *err) {
    stn_status status = STN_OK;
    for (int32_t i = 0; i < world->controller_count && status == STN_OK; i++) {
        const controller *c = &world->controllers[i];
        instance_choice like;
        stn_instance *instance = NULL;
        int32_t index = -1;
        status = instance_describe(c->instance, &like, err);
        if (status == STN_OK) {
            status = stn_instance_create(world->context, STN_KIND_CONTROLLER, like.choice.id, like.choice.settings,
                                         like.choice.setting_count, &instance, err);
        }
        if (status == STN_OK) {
            status = stn_world_add_controller(clone, instance, c->target.robot, c->joints, c->target.joint_count,
                                              &index, err);
        }
        instance_choice_clear(world->context, &like);
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
        if (choices[kind] != NULL && world->plugin[kind] != NULL) {
            status = instance_describe(world->plugin[kind], &like[kind], err);
            *choices[kind] = like[kind].choice;
        }
    }
    return status;
}

stn_status stn_world_clone(const stn_world *world, stn_world **out, stn_error *err) {
    *out = NULL;
    if (world->model == NULL) {
        return stn_fail(err, STN_ERR_SEQUENCE, "clone: compile the world first");
    }
    stn_world_options options = world->options;
    instance_choice like[STN_KIND_COUNT] = {0};
    stn_status status = describe_plugins(world, like, &options, err);
    stn_world *clone = NULL;
    status = status == STN_OK ? stn_world_create(world->context, &options, &clone, err) : status;
    for (int32_t kind = 0; kind < STN_KIND_COUNT; kind++) {
        instance_choice_clear(world->context, &like[kind]);
    }
    if (status == STN_OK) {
        atomic_fetch_add(&world->shared->users, 1);
        clone->shared = world->shared;
        status = stn_world_prepare(clone, err);
    }
    status = status == STN_OK ? clone_controllers(world, clone, err) : status;
    status = status == STN_OK
                 ? stn_state_copy(world->context, &world->start, stn_world_cache_bytes(world), &clone->start, err)
                 : status;
    status = status == STN_OK ? adopt_state(clone, &world->state, err) : status;
    if (status != STN_OK) {
        stn_world_destroy(clone);
        return status;
    }
    clone->stepped = world->stepped;
    clone->start_checked = world->start_checked;
    stn_clearance_inherit(world, clone);
    clone->resolution_said = world->resolution_said;
    clone->loose_said = world->loose_said;
    clone->static_friction_said = world->static_friction_said;
    *out = clone;
    return STN_OK;
}

/// What must agree before a state may be restored: names and shapes of everything that has coordinates.
static uint64_t model_signature(const stn_world *world) {
    const stn_model *model = world->model;
    uint64_t h = 0;
    for (int32_t r = 0; r < model->robot_count; r++) {
        h = stn_hash(h, model->robots[r].name, strlen(model->robots[r].name) + 1);
    }
    for (int32_t j = 0; j < model->joint_count; j++) {
        h = stn_hash(h, model->joints[j].name, strlen(model->joints[j].name) + 1);
        int32_t type = model->joints[j].type;
        h = stn_hash(h, &type, sizeof type);
    }
    h = stn_hash(h, &world->state.sizes, sizeof world->state.sizes);
    uint64_t memory[3] = {stn_world_memory_bytes(world, STN_KIND_LAW), stn_world_memory_bytes(world, STN_KIND_SOLVER),
                          stn_world_cache_bytes(world)};
    return stn_hash(h, memory, sizeof memory);
}

stn_snapshot stn_snapshot_view(const stn_world *world) {
    return (stn_snapshot){world->context, model_signature(world), stn_world_cache_bytes(world), world->state};
}

stn_status stn_world_snapshot(const stn_world *world, stn_snapshot **out, stn_error *err) {
    *out = NULL;
    if (world->model == NULL) {
        return stn_fail(err, STN_ERR_SEQUENCE, "snapshot: compile the world first");
    }
    stn_snapshot *snapshot = stn_allocate(world->context, 1, sizeof *snapshot);
    if (snapshot == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "snapshot: out of memory");
    }
    *snapshot = stn_snapshot_view(world);
    snapshot->state = (stn_state){0};
    stn_status status = stn_state_copy(world->context, &world->state, snapshot->memory_bytes, &snapshot->state, err);
    if (status != STN_OK) {
        stn_snapshot_destroy(snapshot);
        return status;
    }
    *out = snapshot;
    return STN_OK;
}

void stn_snapshot_destroy(stn_snapshot *snapshot) {
    if (snapshot != NULL) {
        stn_state_clear(snapshot->context, &snapshot->state);
        stn_release(snapshot->context, snapshot);
    }
}

stn_status stn_world_restore(stn_world *world, const stn_snapshot *snapshot, stn_error *err) {
    if (world->model == NULL) {
        return stn_fail(err, STN_ERR_SEQUENCE, "restore: compile the world first");
    }
    // a file may forge the signature: the sizes are what keeps reads within bounds
    if (snapshot->signature != model_signature(world) || snapshot->memory_bytes != stn_world_cache_bytes(world) ||
        memcmp(&snapshot->state.sizes, &world->state.sizes, sizeof world->state.sizes) != 0) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "restore: the state belongs to another model (%zu coordinates, here %zu; or other "
                        "robots, joints, controllers or laws, or only one of them holds by stiction)",
                        snapshot->state.sizes.nq, world->state.sizes.nq);
    }
    stn_status status = adopt_state(world, &snapshot->state, err);
    stn_journal_state(world);
    return status;
}

uint64_t stn_world_hash(const stn_world *world) {
    return world->model != NULL ? stn_state_hash(&world->state, stn_world_cache_bytes(world)) : 0;
}
