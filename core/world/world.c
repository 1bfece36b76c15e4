// SPDX-License-Identifier: Apache-2.0
// A world's life and the getters.
#include <stiction/random.h>

#include "base/options.h"
#include "world/world.h"

static uint64_t rotate_left(uint64_t x, int32_t k) {
    return (x << k) | (x >> (64 - k));
}

double stn_world_random(stn_world *world) {
    uint64_t *s = world->state.rng;
    uint64_t result = rotate_left(s[0] + s[3], 23) + s[0];
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return stn_random_unit(result);
}

stn_status stn_world_of_setup(step_setup *setup, int32_t threads, stn_world **out, stn_error *err) {
    stn_context *context = setup->context;
    stn_world *world = stn_allocate(context, 1, sizeof *world);
    if (world == NULL) {
        stn_setup_release(setup);
        return stn_fail(err, STN_ERR_MEMORY, "world: out of memory");
    }
    world->setup = setup;
    world->services.context = context;
    world->services.surroundings = (stn_surroundings *)world;
    world->frame.dt = setup->options.dt;
    world->state.gravity = setup->options.gravity;
    uint64_t seed = setup->options.seed;
    for (int32_t i = 0; i < 4; i++) { // xoshiro256++ is seeded by splitmix64, as its authors advise
        world->state.rng[i] = stn_random_bits(&seed);
    }
    step_services *services = &world->services;
    stn_status status = STN_OK;
    world->frame.arena = stn_arena_create(context);
    services->looks = stn_arena_create(context);
    if (world->frame.arena == NULL || services->looks == NULL) {
        status = stn_fail(err, STN_ERR_MEMORY, "world: out of memory");
    } else if (threads != 1) {
        status = stn_threads_create(context, threads, &services->threads, err);
    }
    for (int32_t i = 0; i < NARROW_PARTS && status == STN_OK && services->threads != NULL; i++) {
        services->narrow[i] = stn_arena_create(context);
        if (services->narrow[i] == NULL) {
            status = stn_fail(err, STN_ERR_MEMORY, "world: out of memory");
        }
    }
    if (status == STN_OK) {
        const stn_problem_solver_options options = {
            .solver = setup->plugin[STN_KIND_SOLVER],
            .law = setup->plugin[STN_KIND_LAW],
            .factor = setup->plugin[STN_KIND_FACTOR],
            .threads = services->threads,
        };
        status = stn_problem_solver_create(context, &options, &services->solver, err);
    }
    if (status == STN_OK) {
        status = stn_inverse_create(context, &services->inverse, err);
    }
    const stn_instance *factor = setup->plugin[STN_KIND_FACTOR];
    if (status == STN_OK && factor != NULL) {
        stn_inverse_set_factor(services->inverse, factor->desc->ops.factor, factor->self);
    }
    if (status != STN_OK) {
        stn_world_destroy(world);
        return status;
    }
    *out = world;
    return STN_OK;
}

stn_status stn_world_create(stn_context *context, const stn_world_options *options, stn_world **out, stn_error *err) {
    step_setup *setup = NULL;
    stn_world *world = NULL;
    *out = NULL;
    stn_world_options own;
    if (options->size == 0) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "world: its options do not say their size; start from "
                        "stn_world_options_default()");
    }
    stn_status status = stn_options_take("world", &own, sizeof own, options, options->size, err);
    status = status == STN_OK ? stn_setup_create(context, &own, &setup, err) : status;
    if (status != STN_OK) {
        return status;
    }
    status = stn_world_of_setup(setup, own.threads, &world, err);
    if (status != STN_OK) {
        return status;
    }
    status = stn_builder_create(context, &world->builder, err);
    if (status != STN_OK) {
        stn_world_destroy(world);
        return status;
    }
    *out = world;
    return STN_OK;
}

void stn_world_destroy(stn_world *world) {
    if (world == NULL) {
        return;
    }
    stn_context *context = world->services.context;
    for (int32_t i = world->attachment_count - 1; i >= 0; i--) {
        world->attachments[i].release(world, world->attachments[i].data);
    }
    stn_release(context, world->attachments);
    stn_release(context, world->observers);
    for (int32_t i = 0; i < world->signal_count; i++) {
        stn_release(context, (char *)(uintptr_t)world->signals[i].name);
    }
    stn_release(context, world->signals);
    stn_world_forget_show(world);
    stn_problem_solver_destroy(world->services.solver);
    stn_inverse_destroy(world->services.inverse);
    stn_world_release_compiled(world);
    stn_threads_destroy(world->services.threads);
    stn_arena_destroy(world->frame.arena);
    stn_arena_destroy(world->services.looks);
    for (int32_t i = 0; i < NARROW_PARTS; i++) {
        stn_arena_destroy(world->services.narrow[i]);
    }
    stn_builder_destroy(world->builder);
    stn_setup_release(world->setup);
    stn_release(context, world);
}

stn_status stn_world_attach(stn_world *world, void (*release)(stn_world *world, void *data), void *data,
                            stn_error *err) {
    size_t count = (size_t)world->attachment_count;
    attachment *grown = stn_reallocate(world->services.context, world->attachments, count, count + 1, sizeof *grown);
    if (grown == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "world: out of memory");
    }
    grown[count] = (attachment){release, data};
    world->attachments = grown;
    world->attachment_count++;
    return STN_OK;
}

void *stn_world_attached(const stn_world *world, void (*release)(stn_world *world, void *data)) {
    for (int32_t i = 0; i < world->attachment_count; i++) {
        if (world->attachments[i].release == release) {
            return world->attachments[i].data;
        }
    }
    return NULL;
}

stn_context *stn_world_context(const stn_world *world) {
    return world->services.context;
}

stn_model_builder *stn_world_builder(stn_world *world) {
    return world->setup->model == NULL && world->failure.status == STN_OK ? world->builder : NULL;
}

const stn_model *stn_world_model(const stn_world *world) {
    return world->setup->model;
}

const stn_state *stn_world_state(const stn_world *world) {
    return world->setup->model != NULL ? &world->state : NULL;
}

const stn_step_place *stn_world_place(const stn_world *world) {
    return &world->frame.place;
}

double stn_world_dt(const stn_world *world) {
    return world->frame.dt;
}

const stn_kinematics *stn_world_kinematics(stn_world *world) {
    if (world->setup->model != NULL) {
        stn_step_update_kinematics(&world->frame, world->state.q, world->state.v);
    }
    return world->frame.kinematics;
}

const stn_instance *stn_world_plugin(const stn_world *world, stn_kind kind) {
    return kind >= 0 && kind < STN_KIND_COUNT ? world->setup->plugin[kind] : NULL;
}
