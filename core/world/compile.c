// SPDX-License-Identifier: Apache-2.0
// Compiling a world: the model once, then every array that a step fills, so that a step needs to allocate nothing.
#include <string.h>

#include "base/context.h"
#include "base/ltl.h"
#include "dynamics/kinematics.h"
#include "plugin/settings.h"
#include "world/clearance.h"
#include "world/gap.h"
#include "world/sleep.h"

static stn_status out_of_memory(stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "world: out of memory while compiling");
}

/// Numbers of the matrices of the trees before one: A, M, K or D in full, and bodies of large trees.
typedef struct matrix_room {
    size_t A, M, full, bodies;
} matrix_room;

/// M, A, K and D. M and A are dense per articulated tree, or of the articulated form where it is large; of clouds of
/// nodes M is diagonal, or nodal where elements have mass between nodes or nodes are frames, and A nodal.
static stn_status allocate_matrices(stn_world *world, stn_error *err) {
    const stn_model *model = world->setup->model;
    stn_context *context = world->services.context;
    step_frame *frame = &world->frame;
    stn_forces *f = &frame->forces;
    enum { LARGE = 24 }; // of smaller trees full matrices are faster
    const size_t trees = (size_t)model->tree_count;
    frame->M = stn_allocate(context, trees, sizeof *frame->M);
    frame->A = stn_allocate(context, trees, sizeof *frame->A);
    frame->bodies = stn_allocate(context, trees, sizeof *frame->bodies);
    matrix_room *room = stn_allocate(context, trees + 1, sizeof *room); // where those of a tree begin, and all end
    if (frame->M == NULL || frame->A == NULL || frame->bodies == NULL || room == NULL) {
        stn_release(context, room);
        return out_of_memory(err);
    }
    for (int32_t t = 0; t < model->tree_count; t++) {
        const stn_tree *tree = &model->trees[t];
        const size_t n = (size_t)tree->nv;
        bool nodal = tree->kind == STN_TREE_NODAL;
        stn_matrix A = {.n = tree->nv,
                        .form = nodal ? STN_MATRIX_NODAL : STN_MATRIX_DENSE,
                        .node_count = tree->node_count,
                        .node_size = nodal ? stn_node_type_nv(tree->node_type) : 0,
                        .row_start = tree->row_start,
                        .column = tree->column};
        const bool diagonal = nodal && tree->mass == NULL && tree->node_type == STN_NODE_POINT;
        const bool large = !nodal && n > LARGE; // a step may store M and A in either form
        const size_t least = large ? ARTICULATED_NUMBERS * n : 0;
        frame->A[t] = A;
        frame->M[t] = diagonal ? (stn_matrix){.n = tree->nv, .form = STN_MATRIX_DIAGONAL} : A;
        frame->bodies[t].n = large ? tree->nv : 0;
        const size_t full_A = (size_t)stn_matrix_value_count(&A), full_M = (size_t)stn_matrix_value_count(&frame->M[t]);
        room[t + 1] =
            (matrix_room){room[t].A + (full_A > least ? full_A : least), room[t].M + (full_M > least ? full_M : least),
                          room[t].full + full_A, room[t].bodies + (large ? STN_ARTICULATED_VALUES(n) + 8 * n : 0)};
    }
    const matrix_room *all = &room[trees];
    frame->A_values = stn_allocate(context, all->A, sizeof(double));
    frame->M_values = stn_allocate(context, all->M, sizeof(double));
    frame->body_values = stn_allocate(context, all->bodies, sizeof(double));
    *f = (stn_forces){.model = model};
    f->tau = stn_allocate(context, (size_t)model->nv, sizeof(double));
    f->K = stn_allocate(context, trees, sizeof(stn_matrix));
    f->D = stn_allocate(context, trees, sizeof(stn_matrix));
    // what is written before it is read, and in a pile not at all
    f->servos = f->servo_storage = stn_context_allocate_raw(context, (size_t)model->nv * sizeof(stn_servo));
    f->K_storage = stn_context_allocate_raw(context, all->full * sizeof(double));
    f->D_storage = stn_context_allocate_raw(context, all->full * sizeof(double));
    const bool complete = frame->A_values != NULL && frame->M_values != NULL && frame->body_values != NULL &&
                          f->tau != NULL && f->K != NULL && f->D != NULL && f->servo_storage != NULL &&
                          f->K_storage != NULL && f->D_storage != NULL;
    for (int32_t t = 0; t < model->tree_count && complete; t++) {
        const size_t n = (size_t)model->trees[t].nv;
        stn_matrix *A = &frame->A[t], *M = &frame->M[t];
        f->K[t] = f->D[t] = *A;
        A->values = frame->A_values + room[t].A;
        M->values = frame->M_values + room[t].M;
        f->K[t].values = f->K_storage + room[t].full;
        f->D[t].values = f->D_storage + room[t].full;
        if (frame->bodies[t].n > 0) {
            double *own = frame->body_values + room[t].bodies;
            frame->bodies[t] = (stn_articulated){(int32_t)n, model->dof_parent + model->trees[t].v_start,
                                                 own + STN_ARTICULATED_VALUES(n), own};
            A->bodies = M->bodies = &frame->bodies[t];
        }
    }
    stn_release(context, room);
    return complete ? STN_OK : out_of_memory(err);
}

/// The state that a compiled world starts from.
static stn_status make_state(stn_world *world, stn_error *err) {
    const stn_model *model = world->setup->model;
    stn_instance *integrator = world->setup->plugin[STN_KIND_INTEGRATOR];
    const stn_integrator_ops *ops = integrator->desc->ops.integrator;
    stn_state_sizes sizes = {
        .nq = (size_t)model->nq,
        .reference_count = world->setup->plugin_references,
        .controller_bytes = world->setup->plugin_bytes,
        .nv = (size_t)model->nv,
        .wrench_count = 6 * (size_t)model->body_count,
        .kinematic_count = KINEMATIC_NUMBERS * (size_t)world->setup->kinematic_count,
        .surface_count = 3 * (size_t)model->geometry_count,
        .mass_count = world->setup->varied != NULL ? (size_t)model->body_count : 0,
        .friction_count = world->setup->varied != NULL ? (size_t)model->geometry_count : 0,
        .sleep_count = stn_sleep_is_on(world->setup) ? (size_t)model->tree_count : 0,
        .integrator_bytes = ops->state_size != NULL ? ops->state_size(integrator->self, model) : 0,
    };
    stn_status status = stn_state_resize(world->services.context, &world->state, &sizes, err);
    if (status != STN_OK) {
        return status;
    }
    world->start_integrator = instance_keep(integrator);
    for (size_t i = 0; i < sizes.mass_count; i++) {
        world->state.mass_factor[i] = 1.0;
    }
    for (size_t i = 0; i < sizes.friction_count; i++) {
        world->state.friction_factor[i] = 1.0;
    }
    memcpy(world->state.q, model->q0, sizes.nq * sizeof(double));
    stn_kinematics_update(world->frame.kinematics, world->state.q, world->state.v);
    stn_world_begin_constraints(world->setup, world->frame.kinematics, &world->state);
    stn_world_begin_elements(world->setup, &world->state);
    for (int32_t g = 0; g < model->geometry_count; g++) {
        memcpy(world->state.surface_velocity + 3 * (size_t)g, &model->geometries[g].surface_velocity,
               3 * sizeof(double));
    }
    status = stn_world_size_memories(world, &world->state.sizes, err);
    return status == STN_OK ? stn_world_keep_start(world, err) : status;
}

stn_status stn_world_size_memories(stn_world *world, const stn_state_sizes *sizes, stn_error *err) {
    stn_context *context = world->services.context;
    step_frame *frame = &world->frame;
    unsigned char *controllers = stn_allocate(context, sizes->controller_bytes, 1);
    unsigned char *integrator = stn_allocate(context, sizes->integrator_bytes, 1);
    if (controllers == NULL || integrator == NULL) {
        stn_release(context, controllers);
        stn_release(context, integrator);
        return stn_fail(err, STN_ERR_MEMORY, "world: out of memory");
    }
    stn_release(context, frame->controller_next);
    stn_release(context, frame->integrator_next);
    frame->controller_next = controllers;
    frame->integrator_next = integrator;
    frame->kinematics_stale = true;
    return STN_OK;
}

stn_status stn_world_keep_start(stn_world *world, stn_error *err) {
    return stn_state_copy(world->services.context, &world->state, stn_setup_cache_bytes(world->setup), &world->start,
                          err);
}

void stn_world_release_compiled(stn_world *world) {
    step_frame *frame = &world->frame;
    step_services *services = &world->services;
    stn_context *context = services->context;
    stn_step_release_distances(services);
    if (services->contact_prepared != NULL) {
        world->setup->plugin[STN_KIND_CONTACT]->desc->ops.contact->release(services->contact_prepared);
    }
    stn_broadphase_destroy(services->broadphase);
    stn_kinematics_destroy(frame->scratch_kinematics);
    stn_kinematics_destroy(frame->kinematics); // lends to the other
    void *memory[] = {
        frame->M,
        frame->A,
        frame->bodies,
        frame->body_values,
        frame->M_values,
        frame->A_values,
        frame->forces.tau,
        frame->forces.K,
        frame->forces.D,
        frame->forces.servo_storage,
        frame->forces.K_storage,
        frame->forces.D_storage,
        frame->kinematic_twist,
        frame->collider_box,
        frame->geometry_pose,
        frame->star_velocity,
        frame->q_next,
        frame->v_next,
        frame->asleep,
        frame->sleep_next,
        frame->controller_next,
        frame->integrator_next,
        services->cache_index.slot,
        services->clearances,
        services->twist_said,
    };
    for (int32_t i = 0; i < STN_COUNT(memory); i++) {
        stn_release(context, memory[i]);
    }
    stn_step_release_sleepers(context, frame);
    stn_state_clear(context, &world->state);
    stn_state_clear(context, &world->start);
    stn_instance_destroy(world->start_integrator);
}

stn_status stn_world_prepare(stn_world *world, stn_error *err) {
    const step_setup *setup = world->setup;
    const stn_model *model = setup->model;
    step_frame *frame = &world->frame;
    step_services *services = &world->services;
    stn_context *context = services->context;
    stn_status status = allocate_matrices(world, err);
    if (status != STN_OK) {
        return status;
    }
    size_t geometries = (size_t)model->geometry_count, kinematic = (size_t)setup->kinematic_count;
    frame->collider_box = stn_allocate(context, (size_t)setup->collider_count, sizeof *frame->collider_box);
    frame->geometry_pose = stn_allocate(context, geometries, sizeof *frame->geometry_pose);
    frame->star_velocity = stn_allocate(context, (size_t)model->body_count, sizeof *frame->star_velocity);
    frame->kinematic_twist = stn_allocate(context, kinematic, sizeof *frame->kinematic_twist);
    frame->q_next = stn_allocate(context, (size_t)model->nq, sizeof(double));
    frame->v_next = stn_allocate(context, (size_t)model->nv, sizeof(double));
    services->twist_said = stn_allocate(context, kinematic, sizeof *services->twist_said);
    if (stn_sleep_is_on(setup)) {
        frame->asleep = stn_allocate(context, (size_t)model->tree_count, sizeof *frame->asleep);
        frame->sleep_next = stn_allocate(context, (size_t)model->tree_count, sizeof *frame->sleep_next);
        frame->sleepers.v_star = stn_allocate(context, (size_t)model->nv, sizeof *frame->sleepers.v_star);
        frame->sleepers.arena = stn_arena_create(context);
        frame->sleepers.spare = stn_arena_create(context);
        if (frame->asleep == NULL || frame->sleep_next == NULL || frame->sleepers.v_star == NULL ||
            frame->sleepers.arena == NULL || frame->sleepers.spare == NULL) {
            return out_of_memory(err);
        }
    }
    if (frame->collider_box == NULL || frame->geometry_pose == NULL || frame->star_velocity == NULL ||
        frame->kinematic_twist == NULL || frame->q_next == NULL || frame->v_next == NULL ||
        services->twist_said == NULL) {
        return out_of_memory(err);
    }
    status = stn_kinematics_create(model, &frame->kinematics, err);
    if (status != STN_OK) {
        return status;
    }
    status = stn_kinematics_create_beside(frame->kinematics, &frame->scratch_kinematics, err);
    if (status != STN_OK) {
        return status;
    }
    status = stn_broadphase_create(context, &services->broadphase, err);
    if (status != STN_OK) {
        return status;
    }
    const stn_instance *contact = setup->plugin[STN_KIND_CONTACT];
    const stn_contact_ops *ops = contact->desc->ops.contact;
    if (ops->prepare == NULL) {
        return STN_OK;
    }
    status = ops->prepare(contact->self, model, &services->contact_prepared, err);
    return status == STN_OK ? stn_clearance_prepare(world, err) : status;
}

stn_status stn_world_compile(stn_world *world, stn_error *err) {
    if (world->setup->model != NULL) {
        return STN_OK;
    }
    if (world->failure.status != STN_OK) {
        return stn_fail(err, world->failure.status, "%s", world->failure.text);
    }
    stn_status status = stn_model_compile(world->builder, &world->setup->compiled, err);
    if (status != STN_OK) {
        return status;
    }
    stn_error why = {0};
    status = stn_setup_compile(world->setup, &why);
    if (status == STN_OK) {
        status = stn_world_prepare(world, &why);
    }
    if (status == STN_OK) {
        status = make_state(world, &why);
    }
    if (status != STN_OK) {
        // the model is complete, so that a world that cannot use it has no way back: it says so whenever it is asked
        world->setup->model = NULL;
        world->failure = why;
        world->failure.status = status;
        return stn_fail(err, status, "%s", why.text);
    }
    stn_world_show_state(world);
    return stn_sleep_is_on(world->setup) ? stn_world_take_signal(world, "sleeping", 0.0, err) : STN_OK;
}
