// SPDX-License-Identifier: Apache-2.0
// Making a setup: plugins first, the tables when the model is complete. It is shared by count, so that a second world
// of one description costs its state and frame alone.
#include <string.h>

#include "model/compiled.h"
#include "model/varied.h"
#include "plugin/settings.h"
#include "world/sleep.h"

static stn_status out_of_memory(stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "world: out of memory while compiling");
}

// ---------------------------------------------------------------------------------------------- options and plugins

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

/// Where positions move by another velocity of the solver's the integrator has to do so.
static stn_status check_integrator(const step_setup *setup, const stn_instance *integrator, stn_error *err) {
    const stn_instance *solver = setup->plugin[STN_KIND_SOLVER];
    bool apart = (solver->desc->ops.solver->needs & STN_NEEDS_V_POSITION) != 0;
    if (apart && !stn_plugin_says(integrator, "v_position")) {
        return stn_fail(err, STN_ERR_UNSUPPORTED,
                        "solver %s moves bodies by another velocity than they keep, and integrator %s does not do so "
                        "(\"v_position\" is not among its capabilities): choose another integrator, such as "
                        "symplectic_euler, or another solver",
                        solver->desc->id, integrator->desc->id);
    }
    if (setup->options.sleep_velocity > 0.0 && !stn_plugin_says(integrator, "sleep")) {
        return stn_fail(err, STN_ERR_UNSUPPORTED,
                        "sleep_velocity: integrator %s cannot leave out what sleeps (\"sleep\" is not among its "
                        "capabilities): choose another one, such as symplectic_euler, or let nothing sleep",
                        integrator->desc->id);
    }
    return STN_OK;
}

/// Creates the plugins of the table; a solver that needs no law gets none.
static stn_status create_plugins(step_setup *setup, const stn_world_options *options, stn_error *err) {
    for (int32_t i = 0; i < STN_COUNT(world_plugins); i++) {
        const stn_plugin_choice *choice =
            (const stn_plugin_choice *)(const void *)((const char *)options + world_plugins[i].choice);
        stn_kind kind = world_plugins[i].kind;
        const char *id = choice->id != NULL ? choice->id : world_plugins[i].standard;
        const stn_instance *solver = setup->plugin[STN_KIND_SOLVER];
        bool unused = kind == STN_KIND_LAW && !stn_solver_takes_law(solver->desc->ops.solver);
        if (id == NULL || unused) {
            if (unused && choice->id != NULL) {
                stn_log(setup->context, STN_LOG_WARNING, "law %s is not used: solver %s takes none", choice->id,
                        solver->desc->id);
            }
            continue;
        }
        stn_status status = stn_instance_create(setup->context, kind, id, choice->settings, choice->setting_count,
                                                &setup->plugin[kind], err);
        if (status != STN_OK) {
            return status;
        }
    }
    setup->solver_chosen = options->solver.id != NULL;
    setup->law_chosen = options->law.id != NULL && setup->plugin[STN_KIND_LAW] != NULL;
    return check_integrator(setup, setup->plugin[STN_KIND_INTEGRATOR], err);
}

/// What was asked for and has no use beside the integrator.
static void tell_unused(const step_setup *setup) {
    const stn_law law = stn_setup_law(setup);
    if (stn_setup_integrator_solves(setup)) {
        const char *integrator = setup->plugin[STN_KIND_INTEGRATOR]->desc->id;
        const stn_kind kinds[] = {STN_KIND_SOLVER, STN_KIND_LAW};
        const bool chosen[] = {setup->solver_chosen, setup->law_chosen};
        for (int32_t i = 0; i < STN_COUNT(kinds); i++) {
            if (chosen[i]) {
                stn_log(setup->context, STN_LOG_WARNING, "%s %s is not used: integrator %s makes the step itself",
                        stn_kind_name(kinds[i]), setup->plugin[kinds[i]]->desc->id, integrator);
            }
        }
        if (setup->options.stiction) {
            stn_log(setup->context, STN_LOG_WARNING,
                    "stiction: integrator %s makes the step itself and holds no contact", integrator);
        }
    } else if (setup->options.stiction && law.ops != NULL && !stn_law_tells_slip(&law)) { // which anchors ask for
        stn_log(setup->context, STN_LOG_WARNING,
                "stiction: law %s does not tell its transition speed (slip), so that no contact is held", law.id);
    }
}

#define SLEEP_TIME 0.5 // unless told [s]

stn_status stn_setup_create(stn_context *context, const stn_world_options *options, step_setup **out, stn_error *err) {
    *out = NULL;
    if (!(options->dt > 0.0) || !isfinite(options->dt)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "dt = %g s must be > 0 and finite", options->dt);
    }
    if (!stn_vec3_finite(options->gravity)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "gravity = (%g, %g, %g) m/s^2 must be finite", options->gravity.x,
                        options->gravity.y, options->gravity.z);
    }
    if (!(options->margin >= 0.0) || !isfinite(options->margin)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "margin = %g m must be >= 0 and finite", options->margin);
    }
    if (!(options->sleep_velocity >= 0.0) || !isfinite(options->sleep_velocity) || !(options->sleep_time >= 0.0) ||
        !isfinite(options->sleep_time)) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "sleep_velocity = %g m/s, sleep_time = %g s: both must be >= 0 and finite",
                        options->sleep_velocity, options->sleep_time);
    }
    stn_world_options told = *options;
    told.sleep_time = options->sleep_time > 0.0 ? options->sleep_time : SLEEP_TIME;
    stn_status slow = stn_sleep_check_bound(&told, options->gravity, err);
    if (slow != STN_OK) {
        return slow;
    }
    if ((unsigned)options->contact_point > STN_CONTACT_POINT_B ||
        (unsigned)options->relaxation_rule > STN_RELAXATION_SERIES) {
        return stn_fail(err, STN_ERR_ARGUMENT, "contact_point = %d, relaxation_rule = %d: no such rule",
                        (int)options->contact_point, (int)options->relaxation_rule);
    }
    step_setup *setup = stn_allocate(context, 1, sizeof *setup);
    if (setup == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "world: out of memory");
    }
    setup->context = context;
    setup->options = told;
    setup->massless_link = -1;
    setup->most_friction = 1.0;
    atomic_init(&setup->users, 1);
    stn_status status = create_plugins(setup, options, err);
    setup->options.solver = setup->options.law = setup->options.contact = setup->options.integrator =
        setup->options.factor = (stn_plugin_choice){0};
    if (status == STN_OK) {
        tell_unused(setup);
        setup->slip_tolerance = law_slip_tolerance(setup->plugin[STN_KIND_LAW]);
        status = stn_setup_describe(setup, err);
    }
    if (status != STN_OK) {
        stn_setup_release(setup);
        return status;
    }
    *out = setup;
    return STN_OK;
}

stn_law stn_setup_law(const step_setup *setup) {
    return stn_law_of(setup->plugin[STN_KIND_LAW]);
}

size_t stn_setup_memory_bytes(const step_setup *setup, stn_kind kind) {
    const stn_instance *plugin = setup->plugin[kind];
    return plugin == NULL ? 0 : (size_t)plugin->desc->memory_per_constraint;
}

// ------------------------------------------------------------------------------------------------------------ tables

/// First velocity and tree of each node; the first link that has no dynamics.
static stn_status look_through_trees(step_setup *setup, stn_error *err) {
    const stn_model *model = setup->model;
    setup->node_dof = stn_allocate(setup->context, (size_t)model->node_count, sizeof *setup->node_dof);
    setup->node_tree = stn_allocate(setup->context, (size_t)model->node_count, sizeof *setup->node_tree);
    if (setup->node_dof == NULL || setup->node_tree == NULL) {
        return out_of_memory(err);
    }
    for (int32_t t = 0; t < model->tree_count; t++) {
        const stn_tree *tree = &model->trees[t];
        for (int32_t n = 0; n < tree->node_count; n++) {
            setup->node_dof[tree->node_start + n] = tree->v_start + stn_node_type_nv(tree->node_type) * n;
            setup->node_tree[tree->node_start + n] = t;
        }
        if (setup->massless_link < 0 && tree->kind == STN_TREE_ARTICULATED) {
            setup->massless_link = stn_model_massless_link(model, t);
        }
    }
    return STN_OK;
}

static stn_status list_kinematic(step_setup *setup, stn_error *err) {
    const stn_model *model = setup->model;
    setup->kinematic_bodies = stn_allocate(setup->context, (size_t)model->body_count, sizeof *setup->kinematic_bodies);
    setup->kinematic_of = stn_allocate(setup->context, (size_t)model->body_count, sizeof *setup->kinematic_of);
    if (setup->kinematic_bodies == NULL || setup->kinematic_of == NULL) {
        return out_of_memory(err);
    }
    for (int32_t b = 0; b < model->body_count; b++) {
        bool is = b > 0 && model->joints[model->bodies[b].joint].type == STN_JOINT_KINEMATIC;
        setup->kinematic_of[b] = is ? setup->kinematic_count : -1;
        if (is) {
            setup->kinematic_bodies[setup->kinematic_count++] = b;
        }
    }
    return STN_OK;
}

static stn_status make_colliders(step_setup *setup, stn_error *err) {
    stn_context *context = setup->context;
    size_t count = (size_t)setup->model->geometry_count;
    setup->collider = stn_allocate(context, count, sizeof *setup->collider);
    setup->collider_moves = stn_allocate(context, count, sizeof *setup->collider_moves);
    setup->collider_radius = stn_allocate(context, count, sizeof *setup->collider_radius);
    setup->collider_margin = stn_allocate(context, count, sizeof *setup->collider_margin);
    setup->collider_worst = stn_allocate(context, count, sizeof *setup->collider_worst);
    setup->body_parts = stn_allocate(context, (size_t)setup->model->body_count, sizeof *setup->body_parts);
    if (setup->collider == NULL || setup->collider_moves == NULL || setup->collider_radius == NULL ||
        setup->collider_margin == NULL || setup->collider_worst == NULL || setup->body_parts == NULL) {
        return out_of_memory(err);
    }
    stn_arena *scratch = stn_arena_create(context);
    if (scratch == NULL) {
        return out_of_memory(err);
    }
    stn_setup_check_restitution(setup);
    stn_status status = stn_setup_choose_colliders(setup, scratch, err);
    if (status == STN_OK) {
        status = stn_setup_examine_pairs(setup, scratch, err);
    }
    if (status == STN_OK) {
        status = stn_setup_tabulate_materials(setup, err);
    }
    stn_arena_destroy(scratch);
    return status;
}

/// Masses and frictions of the setup's own, as compiled.
static stn_status vary(step_setup *setup, stn_error *err) {
    const size_t count = (size_t)setup->compiled->body_count + (size_t)setup->compiled->geometry_count;
    setup->varied = NULL;
    setup->most_friction = 1.0;
    setup->factors = stn_allocate(setup->context, count, sizeof *setup->factors);
    if (setup->factors == NULL) {
        return out_of_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        setup->factors[i] = 1.0;
    }
    stn_status status = model_vary(setup->compiled, &setup->varied, err);
    setup->model = setup->varied;
    return status;
}

stn_status stn_setup_compile(step_setup *setup, stn_error *err) {
    setup->model = setup->compiled;
    stn_status varied = setup->options.varied ? vary(setup, err) : STN_OK;
    if (varied != STN_OK) {
        return varied;
    }
    setup->acting_count = model_object_of(setup->model)->acting_count;
    setup->acting = model_object_of(setup->model)->acting;
    stn_status (*const make[])(step_setup *, stn_error *) = {
        make_colliders,           look_through_trees, stn_setup_place_constraints,
        stn_setup_place_elements, list_kinematic,     stn_setup_prepare_sleep};
    for (int32_t i = 0; i < STN_COUNT(make); i++) {
        stn_status status = make[i](setup, err);
        if (status != STN_OK) {
            return status;
        }
    }
    return STN_OK;
}

// ----------------------------------------------------------------------------------------------------------- sharing

step_setup *stn_setup_keep(step_setup *setup) {
    atomic_fetch_add(&setup->users, 1);
    return setup;
}

void stn_setup_release(step_setup *setup) {
    if (setup == NULL || atomic_fetch_sub(&setup->users, 1) != 1) {
        return;
    }
    stn_context *context = setup->context;
    for (int32_t i = setup->base != NULL ? setup->base->controller_count : 0; i < setup->controller_count; i++) {
        const controller *c = &setup->controllers[i];
        stn_instance_destroy(c->instance);
        stn_release(context, c->joints);
        stn_release(context, c->dofs);
    }
    stn_release(context, setup->controllers);
    stn_release(context, setup->parameters);
    stn_release(context, setup->factors);
    model_varied_destroy(setup->varied);
    if (setup->base != NULL) {
        stn_instance_destroy(setup->plugin[STN_KIND_INTEGRATOR]);
        stn_setup_release(setup->base);
        stn_release(context, setup);
        return;
    }
    for (int32_t g = 0; setup->element_slots != NULL && g < setup->compiled->element_group_count; g++) {
        stn_release(context, setup->element_slots[g].slot);
    }
    void *tables[] = {
        setup->constraint_slots, setup->element_slots,   setup->collider,       setup->collider_moves,
        setup->collider_radius,  setup->collider_margin, setup->collider_worst, setup->body_parts,
        setup->kinematic_bodies, setup->kinematic_of,    setup->node_dof,       setup->node_tree,
        setup->tree_may_sleep,   setup->body_radius,     setup->surface_kind,   setup->kind_material,
    };
    for (int32_t i = 0; i < STN_COUNT(tables); i++) {
        stn_release(context, tables[i]);
    }
    stn_model_destroy(setup->compiled);
    for (int32_t kind = 0; kind < STN_KIND_COUNT; kind++) {
        stn_instance_destroy(setup->plugin[kind]);
    }
    stn_release(context, setup);
}

/// A setup with a list of controllers of its own on top of another.
static stn_status put_on_top(const step_setup *from, step_setup **out, stn_error *err) {
    const step_setup *base = from;
    while (base->base != NULL && base->base->controller_count == base->controller_count) {
        base = base->base; // the one that owns the controllers: setups do not pile up
    }
    size_t count = (size_t)base->controller_count;
    step_setup *own = stn_allocate(base->context, 1, sizeof *own);
    controller *controllers = stn_allocate(base->context, count, sizeof *controllers);
    char *parameters = stn_duplicate_text(base->context, from->parameters);
    if (own == NULL || controllers == NULL || parameters == NULL) {
        stn_release(base->context, own);
        stn_release(base->context, controllers);
        stn_release(base->context, parameters);
        return stn_fail(err, STN_ERR_MEMORY, "world: out of memory");
    }
    const size_t shared = offsetof(step_setup, context); // other worlds may change the count of users meanwhile
    memcpy((char *)own + shared, (const char *)from + shared, sizeof *own - shared);
    if (count > 0) {
        memcpy(controllers, base->controllers, count * sizeof *controllers);
    }
    atomic_init(&own->users, 1);
    own->base = stn_setup_keep((step_setup *)(uintptr_t)base);
    own->controllers = controllers;
    own->parameters = parameters;
    own->factors = NULL;
    own->varied = NULL;
    instance_keep(own->plugin[STN_KIND_INTEGRATOR]);
    *out = own;
    return STN_OK;
}

stn_status stn_setup_part(step_setup **setup, stn_error *err) {
    step_setup *from = *setup;
    if (atomic_load(&from->users) == 1) {
        return STN_OK;
    }
    stn_status status = put_on_top(from, setup, err);
    if (status != STN_OK) {
        return status;
    }
    if (from->varied != NULL) { // goes along with its only world: others only stand on what it leaves
        (*setup)->varied = from->varied;
        (*setup)->factors = from->factors;
        from->model = from->compiled;
        from->varied = NULL;
        from->factors = NULL;
    }
    stn_setup_release(from);
    return STN_OK;
}

stn_status stn_setup_for_clone(step_setup *setup, step_setup **out, stn_error *err) {
    *out = NULL;
    if (setup->varied == NULL) {
        *out = stn_setup_keep(setup);
        return STN_OK;
    }
    step_setup *own = NULL;
    stn_status status = put_on_top(setup, &own, err);
    status = status == STN_OK ? vary(own, err) : status;
    if (status != STN_OK) {
        stn_setup_release(own);
        return status;
    }
    *out = own;
    return STN_OK;
}

stn_status stn_setup_put_integrator(step_setup *setup, stn_instance *integrator, stn_error *err) {
    stn_instance *before = setup->plugin[STN_KIND_INTEGRATOR];
    char *parameters = setup->parameters;
    stn_status status = check_integrator(setup, integrator, err);
    if (status != STN_OK) {
        return status;
    }
    setup->plugin[STN_KIND_INTEGRATOR] = integrator;
    setup->parameters = NULL;
    status = stn_setup_describe(setup, err);
    if (status != STN_OK) {
        stn_release(setup->context, setup->parameters);
        setup->plugin[STN_KIND_INTEGRATOR] = before;
        setup->parameters = parameters;
        return status;
    }
    instance_keep(integrator);
    stn_instance_destroy(before);
    stn_release(setup->context, parameters);
    if (stn_setup_integrator_solves(setup)) {
        tell_unused(setup);
    }
    return STN_OK;
}
