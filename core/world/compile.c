// SPDX-License-Identifier: Apache-2.0
// Compiling a world: the model once, then every array that a step fills, so that a step needs to allocate nothing.
#include <string.h>

#include "world/clearance.h"
#include "world/gap.h"
#include "world/world.h"

static stn_status out_of_memory(stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "world: out of memory while compiling");
}

/// M, A dense per articulated tree; M diagonal and A nodal for clouds of nodes. One block of values each.
static stn_status allocate_matrices(stn_world *world, stn_error *err) {
    const stn_model *model = world->setup->model;
    size_t trees = (size_t)model->tree_count;
    world->frame.M = stn_allocate(world->services.context, trees, sizeof *world->frame.M);
    world->frame.A = stn_allocate(world->services.context, trees, sizeof *world->frame.A);
    if (world->frame.M == NULL || world->frame.A == NULL) {
        return out_of_memory(err);
    }
    for (int32_t t = 0; t < model->tree_count; t++) {
        const stn_tree *tree = &model->trees[t];
        bool nodal = tree->kind == STN_TREE_NODAL;
        stn_matrix A = {.n = tree->nv,
                        .form = nodal ? STN_MATRIX_NODAL : STN_MATRIX_DENSE,
                        .node_count = tree->node_count,
                        .row_start = tree->row_start,
                        .column = tree->column};
        stn_matrix M = nodal ? (stn_matrix){.n = tree->nv, .form = STN_MATRIX_DIAGONAL} : A;
        A.values = stn_allocate(world->services.context, (size_t)stn_matrix_value_count(&A), sizeof(double));
        M.values = stn_allocate(world->services.context, (size_t)stn_matrix_value_count(&M), sizeof(double));
        world->frame.A[t] = A;
        world->frame.M[t] = M;
        if (A.values == NULL || M.values == NULL) {
            return out_of_memory(err);
        }
    }
    return STN_OK;
}

static stn_status allocate_forces(stn_world *world, stn_error *err) {
    const stn_model *model = world->setup->model;
    stn_forces *f = &world->frame.forces;
    stn_context *context = world->services.context;
    size_t values = 0;
    for (int32_t t = 0; t < model->tree_count; t++) {
        values += (size_t)stn_matrix_value_count(&world->frame.A[t]);
    }
    *f = (stn_forces){.model = model};
    f->tau = stn_allocate(context, (size_t)model->nv, sizeof(double));
    f->K = stn_allocate(context, (size_t)model->tree_count, sizeof(stn_matrix));
    f->D = stn_allocate(context, (size_t)model->tree_count, sizeof(stn_matrix));
    f->servo_storage = stn_allocate(context, (size_t)model->nv, sizeof(stn_servo));
    f->K_storage = stn_allocate(context, values, sizeof(double));
    f->D_storage = stn_allocate(context, values, sizeof(double));
    if (f->tau == NULL || f->K == NULL || f->D == NULL || f->servo_storage == NULL || f->K_storage == NULL ||
        f->D_storage == NULL) {
        return out_of_memory(err);
    }
    f->servos = f->servo_storage;
    size_t at = 0;
    for (int32_t t = 0; t < model->tree_count; t++) {
        f->K[t] = f->D[t] = world->frame.A[t];
        f->K[t].values = f->K_storage + at;
        f->D[t].values = f->D_storage + at;
        at += (size_t)stn_matrix_value_count(&world->frame.A[t]);
    }
    return STN_OK;
}

/// Position of block (row, column) in a nodal pattern; elements only join nodes that the pattern joins.
static int32_t nodal_slot(const stn_tree *tree, int32_t row, int32_t column) {
    int32_t e = tree->row_start[row];
    while (tree->column[e] != column) {
        e++;
    }
    return e;
}

static stn_status allocate_element_slots(stn_world *world, stn_error *err) {
    const stn_model *model = world->setup->model;
    world->setup->element_slots =
        stn_allocate(world->services.context, (size_t)model->element_group_count, sizeof *world->setup->element_slots);
    if (world->setup->element_slots == NULL) {
        return out_of_memory(err);
    }
    for (int32_t g = 0; g < model->element_group_count; g++) {
        const stn_element_group *group = &model->element_groups[g];
        int32_t n = group->nodes_per_element;
        int32_t *slot =
            stn_allocate(world->services.context, (size_t)group->element_count * (size_t)(n * n), sizeof *slot);
        if (slot == NULL) {
            return out_of_memory(err);
        }
        world->setup->element_slots[g].slot = slot;
        for (int32_t e = 0; e < group->element_count; e++) {
            const int32_t *node = group->index + (size_t)e * (size_t)n;
            for (int32_t i = 0; i < n * n; i++) {
                *slot++ = nodal_slot(&model->trees[group->tree], node[i / n], node[i % n]);
            }
        }
    }
    return STN_OK;
}

static stn_status allocate_colliders(stn_world *world, stn_error *err) {
    const stn_model *model = world->setup->model;
    stn_context *context = world->services.context;
    size_t count = (size_t)model->geometry_count;
    world->setup->collider = stn_allocate(context, count, sizeof *world->setup->collider);
    world->setup->collider_moves = stn_allocate(context, count, sizeof *world->setup->collider_moves);
    world->setup->collider_radius = stn_allocate(context, count, sizeof *world->setup->collider_radius);
    world->setup->collider_margin = stn_allocate(context, count, sizeof *world->setup->collider_margin);
    world->setup->collider_worst = stn_allocate(context, count, sizeof *world->setup->collider_worst);
    world->frame.collider_box = stn_allocate(context, count, sizeof *world->frame.collider_box);
    world->frame.geometry_pose = stn_allocate(context, count, sizeof *world->frame.geometry_pose);
    world->frame.star_velocity = stn_allocate(context, (size_t)model->body_count, sizeof *world->frame.star_velocity);
    world->setup->body_parts = stn_allocate(context, (size_t)model->body_count, sizeof *world->setup->body_parts);
    if (world->setup->collider == NULL || world->setup->collider_moves == NULL ||
        world->setup->collider_radius == NULL || world->setup->collider_margin == NULL ||
        world->setup->collider_worst == NULL || world->frame.collider_box == NULL ||
        world->frame.geometry_pose == NULL || world->frame.star_velocity == NULL || world->setup->body_parts == NULL) {
        return out_of_memory(err);
    }
    stn_arena *scratch = stn_arena_create(context);
    // a clone shares the model, of which everything was said when it was compiled
    bool first = atomic_load(&world->setup->shared->users) == 1;
    if (first) {
        stn_setup_check_restitution(world->setup);
    }
    stn_status status =
        scratch != NULL ? stn_setup_choose_colliders(world->setup, scratch, first, err) : out_of_memory(err);
    status = status == STN_OK ? stn_setup_examine_pairs(world->setup, scratch, err) : status;
    stn_arena_destroy(scratch);
    return status == STN_OK ? stn_broadphase_create(context, &world->services.broadphase, err) : status;
}

static stn_status allocate_step(stn_world *world, stn_error *err) {
    const stn_model *model = world->setup->model;
    stn_context *context = world->services.context;
    world->frame.q_next = stn_allocate(context, (size_t)model->nq, sizeof(double));
    world->frame.v_next = stn_allocate(context, (size_t)model->nv, sizeof(double));
    world->setup->node_dof = stn_allocate(context, (size_t)model->node_count, sizeof(int32_t));
    world->setup->node_tree = stn_allocate(context, (size_t)model->node_count, sizeof(int32_t));
    if (world->frame.q_next == NULL || world->frame.v_next == NULL || world->setup->node_dof == NULL ||
        world->setup->node_tree == NULL) {
        return out_of_memory(err);
    }
    world->setup->massless_link = -1;
    for (int32_t t = 0; t < model->tree_count; t++) {
        const stn_tree *tree = &model->trees[t];
        for (int32_t n = 0; n < tree->node_count; n++) {
            world->setup->node_dof[tree->node_start + n] = tree->v_start + 3 * n;
            world->setup->node_tree[tree->node_start + n] = t;
        }
        if (world->setup->massless_link < 0 && tree->kind == STN_TREE_ARTICULATED) {
            world->setup->massless_link = stn_model_massless_link(model, t);
        }
    }
    stn_status status = stn_kinematics_create(model, &world->frame.kinematics, err);
    return status == STN_OK ? stn_kinematics_create(model, &world->frame.scratch_kinematics, err) : status;
}

/// The state that a compiled world starts from.
static stn_status allocate_state(stn_world *world, stn_error *err) {
    const stn_model *model = world->setup->model;
    const stn_instance *integrator = world->setup->plugin[STN_KIND_INTEGRATOR];
    const stn_integrator_ops *ops = integrator->desc->ops.integrator;
    stn_state_sizes sizes = {
        .nq = (size_t)model->nq,
        .nv = (size_t)model->nv,
        .wrench_count = 6 * (size_t)model->body_count,
        .prescribed_count = PRESCRIBED_NUMBERS * (size_t)world->setup->prescribed_count,
        .surface_count = 3 * (size_t)model->geometry_count,
        .integrator_bytes = ops->state_size != NULL ? ops->state_size(integrator->self, model) : 0,
    };
    stn_status status = stn_state_resize(world->services.context, &world->state, &sizes, err);
    if (status != STN_OK) {
        return status;
    }
    memcpy(world->state.q, model->q0, sizes.nq * sizeof(double));
    for (int32_t g = 0; g < model->geometry_count; g++) {
        memcpy(world->state.surface_velocity + 3 * (size_t)g, &model->geometries[g].surface_velocity,
               3 * sizeof(double));
    }
    world->frame.integrator_next = stn_allocate(world->services.context, sizes.integrator_bytes, 1);
    if (world->frame.integrator_next == NULL) {
        return out_of_memory(err);
    }
    return stn_world_state_changed(world, err);
}

stn_status stn_world_state_changed(stn_world *world, stn_error *err) {
    unsigned char *next = stn_allocate(world->services.context, world->state.sizes.controller_bytes, 1);
    if (next == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "world: out of memory");
    }
    stn_release(world->services.context, world->frame.controller_next);
    world->frame.controller_next = next;
    world->frame.kinematics_stale = true;
    return stn_state_copy(world->services.context, &world->state, stn_setup_cache_bytes(world->setup), &world->start,
                          err);
}

static void destroy_shared(stn_context *context, shared_model *shared) {
    if (shared != NULL && atomic_fetch_sub(&shared->users, 1) == 1) {
        stn_model_destroy(shared->model);
        stn_release(context, shared);
    }
}

static void release_matrices(stn_world *world) {
    const stn_model *model = world->setup->shared != NULL ? world->setup->shared->model : NULL;
    for (int32_t t = 0; model != NULL && t < model->tree_count; t++) {
        stn_release(world->services.context, world->frame.M != NULL ? world->frame.M[t].values : NULL);
        stn_release(world->services.context, world->frame.A != NULL ? world->frame.A[t].values : NULL);
    }
    for (int32_t g = 0; world->setup->element_slots != NULL && g < model->element_group_count; g++) {
        stn_release(world->services.context, world->setup->element_slots[g].slot);
    }
}

void stn_world_release_compiled(stn_world *world) {
    stn_context *context = world->services.context;
    release_matrices(world);
    stn_step_release_distances(&world->services);
    if (world->services.contact_prepared != NULL) {
        world->setup->plugin[STN_KIND_CONTACT]->desc->ops.contact->release(world->services.contact_prepared);
    }
    stn_broadphase_destroy(world->services.broadphase);
    stn_kinematics_destroy(world->frame.kinematics);
    stn_kinematics_destroy(world->frame.scratch_kinematics);
    void *memory[] = {
        world->frame.M,
        world->frame.A,
        world->frame.forces.tau,
        world->frame.forces.K,
        world->frame.forces.D,
        world->frame.forces.servo_storage,
        world->frame.forces.K_storage,
        world->frame.forces.D_storage,
        world->setup->element_slots,
        world->setup->collider,
        world->setup->collider_moves,
        world->setup->collider_radius,
        world->setup->collider_margin,
        world->setup->collider_worst,
        world->frame.collider_box,
        world->frame.geometry_pose,
        world->frame.star_velocity,
        world->frame.q_next,
        world->frame.v_next,
        world->setup->node_dof,
        world->setup->node_tree,
        world->frame.controller_next,
        world->frame.integrator_next,
        world->services.cache_index.slot,
        world->setup->body_parts,
        world->services.clearances,
        world->setup->prescribed,
        world->setup->prescribed_of,
        world->frame.prescribed_twist,
        world->services.twist_said,
    };
    for (int32_t i = 0; i < STN_COUNT(memory); i++) {
        stn_release(context, memory[i]);
    }
    stn_state_clear(context, &world->state);
    stn_state_clear(context, &world->start);
    destroy_shared(context, world->setup->shared);
    world->setup->model = NULL;
}

/// Everything that follows from the model; `world->setup->shared` holds it.
stn_status stn_world_prepare(stn_world *world, stn_error *err) {
    world->setup->model = world->setup->shared->model;
    const stn_instance *contact = world->setup->plugin[STN_KIND_CONTACT];
    const stn_contact_ops *ops = contact->desc->ops.contact;
    stn_status status = allocate_matrices(world, err);
    status = status == STN_OK ? allocate_forces(world, err) : status;
    status = status == STN_OK ? allocate_element_slots(world, err) : status;
    status = status == STN_OK ? allocate_colliders(world, err) : status;
    status = status == STN_OK ? allocate_step(world, err) : status;
    status = status == STN_OK ? stn_world_find_prescribed(world, err) : status;
    status = status == STN_OK ? allocate_state(world, err) : status;
    if (status == STN_OK && ops->prepare != NULL) {
        status = ops->prepare(contact->self, world->setup->model, &world->services.contact_prepared, err);
        status = status == STN_OK ? stn_clearance_prepare(world, err) : status;
    }
    if (status == STN_OK) {
        (void)stn_world_kinematics(world);
        stn_step_energies(world->setup, &world->state, &world->frame);
        stn_step_observation(world);
    }
    return status;
}

/// The model is complete, so that a world that cannot use it has no way back: it says so whenever it is asked.
static stn_status fail_for_good(stn_world *world, stn_status status, const stn_error *why, stn_error *err) {
    world->setup->model = NULL;
    world->failure = *why;
    world->failure.status = status;
    return stn_fail(err, status, "%s", why->text);
}

stn_status stn_world_compile(stn_world *world, stn_error *err) {
    if (world->setup->model != NULL) {
        return STN_OK;
    }
    if (world->failure.status != STN_OK) {
        return stn_fail(err, world->failure.status, "%s", world->failure.text);
    }
    shared_model *shared = stn_allocate(world->services.context, 1, sizeof *shared);
    if (shared == NULL) {
        return out_of_memory(err);
    }
    stn_status status = stn_model_compile(world->builder, &shared->model, err);
    if (status != STN_OK) {
        stn_release(world->services.context, shared);
        return status;
    }
    atomic_init(&shared->users, 1);
    world->setup->shared = shared;
    stn_error why = {0};
    status = stn_world_prepare(world, &why);
    return status == STN_OK ? STN_OK : fail_for_good(world, status, &why, err);
}
