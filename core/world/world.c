// SPDX-License-Identifier: Apache-2.0
// A world's life: options, plugins, destruction, and the getters.
#include <stiction/random.h>

#include "world/world.h"

/// The plugins that every world has, with what is chosen when the caller does not say.
static const struct {
    stn_kind kind;
    size_t choice; // offset in stn_world_options
    const char *standard;
} world_plugins[] = {
    {STN_KIND_SOLVER, offsetof(stn_world_options, solver), "sap"},
    {STN_KIND_LAW, offsetof(stn_world_options, law), "sap"},
    {STN_KIND_CONTACT, offsetof(stn_world_options, contact), "point"},
    {STN_KIND_INTEGRATOR, offsetof(stn_world_options, integrator), "symplectic_euler"},
    {STN_KIND_FACTOR, offsetof(stn_world_options, factor), NULL},
};

const char *stn_world_standard_plugin(stn_kind kind) {
    for (int32_t i = 0; i < STN_COUNT(world_plugins); i++) {
        if (world_plugins[i].kind == kind) {
            return world_plugins[i].standard;
        }
    }
    return NULL;
}

stn_world_options stn_world_options_default(void) {
    return (stn_world_options){.dt = 2e-3, .gravity = {0.0, 0.0, -9.81}, .threads = 1, .seed = 1};
}

static stn_status check_options(const stn_world_options *o, stn_error *err) {
    if (!(o->dt > 0.0) || !isfinite(o->dt)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "dt = %g s must be > 0 and finite", o->dt);
    }
    if (!stn_vec3_finite(o->gravity)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "gravity = (%g, %g, %g) m/s^2 must be finite", o->gravity.x,
                        o->gravity.y, o->gravity.z);
    }
    if (!(o->margin >= 0.0) || !isfinite(o->margin)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "margin = %g m must be >= 0 and finite", o->margin);
    }
    if ((unsigned)o->contact_point > STN_CONTACT_POINT_B || (unsigned)o->relaxation_rule > STN_RELAXATION_SERIES) {
        return stn_fail(err, STN_ERR_ARGUMENT, "contact_point = %d, relaxation_rule = %d: no such rule",
                        (int)o->contact_point, (int)o->relaxation_rule);
    }
    return STN_OK;
}

/// Creates the plugins of the table; a solver that needs no law gets none.
static stn_status create_plugins(stn_world *world, const stn_world_options *options, stn_error *err) {
    for (int32_t i = 0; i < STN_COUNT(world_plugins); i++) {
        const stn_plugin_choice *choice =
            (const stn_plugin_choice *)(const void *)((const char *)options + world_plugins[i].choice);
        stn_kind kind = world_plugins[i].kind;
        const char *id = choice->id != NULL ? choice->id : world_plugins[i].standard;
        const stn_instance *solver = world->setup->plugin[STN_KIND_SOLVER];
        bool unused = kind == STN_KIND_LAW && !stn_solver_takes_law(solver->desc->ops.solver);
        if (id == NULL || unused) {
            if (unused && choice->id != NULL) {
                stn_log(world->services.context, STN_LOG_WARNING, "law %s is not used: solver %s takes none",
                        choice->id, solver->desc->id);
            }
            continue;
        }
        stn_status status = stn_instance_create(world->services.context, kind, id, choice->settings,
                                                choice->setting_count, &world->setup->plugin[kind], err);
        if (status != STN_OK) {
            return status;
        }
    }
    return STN_OK;
}

/// Anchors ask the law where its friction lets go.
static void check_stiction(const stn_world *world) {
    stn_law law = stn_setup_law(world->setup);
    if (world->setup->options.stiction && law.ops != NULL && !stn_law_tells_slip(&law)) {
        stn_log(world->services.context, STN_LOG_WARNING,
                "stiction: law %s does not tell its transition speed (slip), so that no contact is held", law.id);
    }
}

static stn_status create_solver(stn_world *world, stn_error *err) {
    stn_problem_solver_options options = {
        .solver = world->setup->plugin[STN_KIND_SOLVER],
        .law = world->setup->plugin[STN_KIND_LAW],
        .factor = world->setup->plugin[STN_KIND_FACTOR],
        .threads = world->services.threads,
    };
    return stn_problem_solver_create(world->services.context, &options, &world->services.solver, err);
}

/// xoshiro256++ is seeded by splitmix64, as its authors advise.
static void seed_random(uint64_t seed, uint64_t rng[4]) {
    for (int32_t i = 0; i < 4; i++) {
        rng[i] = stn_random_bits(&seed);
    }
}

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

stn_status stn_world_create(stn_context *context, const stn_world_options *options, stn_world **out, stn_error *err) {
    *out = NULL;
    stn_status status = check_options(options, err);
    if (status != STN_OK) {
        return status;
    }
    stn_world *world = stn_allocate(context, 1, sizeof *world);
    if (world == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "world: out of memory");
    }
    world->services.context = context;
    world->services.surroundings = (stn_surroundings *)world;
    world->setup = stn_allocate(context, 1, sizeof *world->setup);
    if (world->setup == NULL) {
        stn_release(context, world);
        return stn_fail(err, STN_ERR_MEMORY, "world: out of memory");
    }
    world->setup->context = context;
    world->setup->options = *options;
    world->frame.dt = options->dt;
    world->setup->massless_link = -1;
    world->state.gravity = options->gravity;
    seed_random(options->seed, world->state.rng);
    status = create_plugins(world, options, err);
    world->setup->options.solver = world->setup->options.law = world->setup->options.contact =
        world->setup->options.integrator = world->setup->options.factor = (stn_plugin_choice){0};
    check_stiction(world);
    status = status == STN_OK && options->threads != 1
                 ? stn_threads_create(context, options->threads, &world->services.threads, err)
                 : status;
    world->setup->slip_tolerance = law_slip_tolerance(world->setup->plugin[STN_KIND_LAW]);
    status = status == STN_OK ? create_solver(world, err) : status;
    status = status == STN_OK ? stn_inverse_create(context, &world->services.inverse, err) : status;
    status = status == STN_OK ? stn_builder_create(context, &world->builder, err) : status;
    status = status == STN_OK ? stn_world_describe(world, err) : status;
    world->frame.arena = status == STN_OK ? stn_arena_create(context) : NULL;
    if (status == STN_OK && world->frame.arena == NULL) {
        status = stn_fail(err, STN_ERR_MEMORY, "world: out of memory");
    }
    if (status != STN_OK) {
        stn_world_destroy(world);
        return status;
    }
    *out = world;
    return STN_OK;
}

static void destroy_controllers(stn_world *world) {
    for (int32_t i = 0; i < world->setup->controller_count; i++) {
        controller *c = &world->setup->controllers[i];
        stn_instance_destroy(c->instance);
        stn_release(world->services.context, c->joints);
        stn_release(world->services.context, c->dofs);
    }
    stn_release(world->services.context, world->setup->controllers);
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
    destroy_controllers(world);
    stn_problem_solver_destroy(world->services.solver);
    stn_inverse_destroy(world->services.inverse);
    stn_world_release_compiled(world);
    for (int32_t kind = 0; kind < STN_KIND_COUNT; kind++) {
        stn_instance_destroy(world->setup->plugin[kind]);
    }
    stn_threads_destroy(world->services.threads);
    stn_arena_destroy(world->frame.arena);
    stn_builder_destroy(world->builder);
    stn_release(context, world->setup->parameters);
    stn_release(context, world->setup);
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

stn_law stn_setup_law(const step_setup *setup) {
    const stn_instance *law = setup->plugin[STN_KIND_LAW];
    if (law == NULL) {
        return (stn_law){0};
    }
    return (stn_law){.ops = law->desc->ops.law, .self = law->self, .id = law->desc->id};
}

size_t stn_setup_memory_bytes(const step_setup *setup, stn_kind kind) {
    const stn_instance *plugin = setup->plugin[kind];
    return plugin == NULL ? 0 : (size_t)plugin->desc->memory_per_constraint;
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

double stn_world_dt(const stn_world *world) {
    return world->frame.dt;
}

const stn_kinematics *stn_world_kinematics(stn_world *world) {
    if (world->setup->model != NULL) {
        stn_step_update_kinematics(&world->state, &world->frame);
    }
    return world->frame.kinematics;
}

const stn_instance *stn_world_plugin(const stn_world *world, stn_kind kind) {
    return kind >= 0 && kind < STN_KIND_COUNT ? world->setup->plugin[kind] : NULL;
}
