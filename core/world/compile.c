// SPDX-License-Identifier: Apache-2.0
// Compiling a world: the model once, then every array that a step fills, so that a step needs to allocate nothing.
#include <string.h>

#include "world/clearance.h"
#include "world/world.h"

static stn_status out_of_memory(stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "world: out of memory while compiling");
}

/// M, A dense per articulated tree; M diagonal and A nodal for clouds of nodes. One block of values each.
static stn_status allocate_matrices(stn_world *world, stn_error *err) {
    const stn_model *model = world->model;
    size_t trees = (size_t)model->tree_count;
    world->M = stn_allocate(world->context, trees, sizeof *world->M);
    world->A = stn_allocate(world->context, trees, sizeof *world->A);
    if (world->M == NULL || world->A == NULL) {
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
        A.values = stn_allocate(world->context, (size_t)stn_matrix_value_count(&A), sizeof(double));
        M.values = stn_allocate(world->context, (size_t)stn_matrix_value_count(&M), sizeof(double));
        world->A[t] = A;
        world->M[t] = M;
        if (A.values == NULL || M.values == NULL) {
            return out_of_memory(err);
        }
    }
    return STN_OK;
}

static stn_status allocate_forces(stn_world *world, stn_error *err) {
    const stn_model *model = world->model;
    stn_forces *f = &world->forces;
    stn_context *context = world->context;
    size_t values = 0;
    for (int32_t t = 0; t < model->tree_count; t++) {
        values += (size_t)stn_matrix_value_count(&world->A[t]);
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
        f->K[t] = f->D[t] = world->A[t];
        f->K[t].values = f->K_storage + at;
        f->D[t].values = f->D_storage + at;
        at += (size_t)stn_matrix_value_count(&world->A[t]);
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
    const stn_model *model = world->model;
    world->element_slots =
        stn_allocate(world->context, (size_t)model->element_group_count, sizeof *world->element_slots);
    if (world->element_slots == NULL) {
        return out_of_memory(err);
    }
    for (int32_t g = 0; g < model->element_group_count; g++) {
        const stn_element_group *group = &model->element_groups[g];
        int32_t n = group->nodes_per_element;
        int32_t *slot = stn_allocate(world->context, (size_t)group->element_count * (size_t)(n * n), sizeof *slot);
        if (slot == NULL) {
            return out_of_memory(err);
        }
        world->element_slots[g].slot = slot;
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
    const stn_model *model = world->model;
    stn_context *context = world->context;
    size_t count = (size_t)model->geometry_count;
    world->collider = stn_allocate(context, count, sizeof *world->collider);
    world->collider_moves = stn_allocate(context, count, sizeof *world->collider_moves);
    world->collider_radius = stn_allocate(context, count, sizeof *world->collider_radius);
    world->collider_margin = stn_allocate(context, count, sizeof *world->collider_margin);
    world->collider_worst = stn_allocate(context, count, sizeof *world->collider_worst);
    world->collider_box = stn_allocate(context, count, sizeof *world->collider_box);
    world->geometry_pose = stn_allocate(context, count, sizeof *world->geometry_pose);
    world->star_velocity = stn_allocate(context, (size_t)model->body_count, sizeof *world->star_velocity);
    world->body_parts = stn_allocate(context, (size_t)model->body_count, sizeof *world->body_parts);
    if (world->collider == NULL || world->collider_moves == NULL || world->collider_radius == NULL ||
        world->collider_margin == NULL || world->collider_worst == NULL || world->collider_box == NULL ||
        world->geometry_pose == NULL || world->star_velocity == NULL || world->body_parts == NULL) {
        return out_of_memory(err);
    }
    stn_arena *scratch = stn_arena_create(context);
    // a clone shares the model, of which everything was said when it was compiled
    bool first = atomic_load(&world->shared->users) == 1;
    if (first) {
        stn_world_check_restitution(world);
    }
    stn_status status = scratch != NULL ? stn_world_choose_colliders(world, scratch, first, err) : out_of_memory(err);
    status = status == STN_OK ? stn_world_examine_pairs(world, scratch, err) : status;
    stn_arena_destroy(scratch);
    return status == STN_OK ? stn_broadphase_create(context, &world->broadphase, err) : status;
}

static stn_status allocate_step(stn_world *world, stn_error *err) {
    const stn_model *model = world->model;
    stn_context *context = world->context;
    world->q_next = stn_allocate(context, (size_t)model->nq, sizeof(double));
    world->v_next = stn_allocate(context, (size_t)model->nv, sizeof(double));
    world->node_dof = stn_allocate(context, (size_t)model->node_count, sizeof(int32_t));
    world->node_tree = stn_allocate(context, (size_t)model->node_count, sizeof(int32_t));
    if (world->q_next == NULL || world->v_next == NULL || world->node_dof == NULL || world->node_tree == NULL) {
        return out_of_memory(err);
    }
    world->massless_link = -1;
    for (int32_t t = 0; t < model->tree_count; t++) {
        const stn_tree *tree = &model->trees[t];
        for (int32_t n = 0; n < tree->node_count; n++) {
            world->node_dof[tree->node_start + n] = tree->v_start + 3 * n;
            world->node_tree[tree->node_start + n] = t;
        }
        if (world->massless_link < 0 && tree->kind == STN_TREE_ARTICULATED) {
            world->massless_link = stn_model_massless_link(model, t);
        }
    }
    stn_status status = stn_kinematics_create(model, &world->kinematics, err);
    return status == STN_OK ? stn_kinematics_create(model, &world->scratch_kinematics, err) : status;
}

/// The state that a compiled world starts from.
static stn_status allocate_state(stn_world *world, stn_error *err) {
    const stn_model *model = world->model;
    const stn_instance *integrator = world->plugin[STN_KIND_INTEGRATOR];
    const stn_integrator_ops *ops = integrator->desc->ops.integrator;
    stn_state_sizes sizes = {
        .nq = (size_t)model->nq,
        .nv = (size_t)model->nv,
        .wrench_count = 6 * (size_t)model->body_count,
        .prescribed_count = PRESCRIBED_NUMBERS * (size_t)world->prescribed_count,
        .surface_count = 3 * (size_t)model->geometry_count,
        .integrator_bytes = ops->state_size != NULL ? ops->state_size(integrator->self, model) : 0,
    };
    stn_status status = stn_state_resize(world->context, &world->state, &sizes, err);
    if (status != STN_OK) {
        return status;
    }
    memcpy(world->state.q, model->q0, sizes.nq * sizeof(double));
    for (int32_t g = 0; g < model->geometry_count; g++) {
        memcpy(world->state.surface_velocity + 3 * (size_t)g, &model->geometries[g].surface_velocity,
               3 * sizeof(double));
    }
    world->integrator_next = stn_allocate(world->context, sizes.integrator_bytes, 1);
    if (world->integrator_next == NULL) {
        return out_of_memory(err);
    }
    return stn_world_state_changed(world, err);
}

stn_status stn_world_state_changed(stn_world *world, stn_error *err) {
    unsigned char *next = stn_allocate(world->context, world->state.sizes.controller_bytes, 1);
    if (next == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "world: out of memory");
    }
    stn_release(world->context, world->controller_next);
    world->controller_next = next;
    world->kinematics_stale = true;
    return stn_state_copy(world->context, &world->state, stn_world_cache_bytes(world), &world->start, err);
}

static void destroy_shared(stn_context *context, shared_model *shared) {
    if (shared != NULL && atomic_fetch_sub(&shared->users, 1) == 1) {
        stn_model_destroy(shared->model);
        stn_release(context, shared);
    }
}

static void release_matrices(stn_world *world) {
    const stn_model *model = world->shared != NULL ? world->shared->model : NULL;
    for (int32_t t = 0; model != NULL && t < model->tree_count; t++) {
        stn_release(world->context, world->M != NULL ? world->M[t].values : NULL);
        stn_release(world->context, world->A != NULL ? world->A[t].values : NULL);
    }
    for (int32_t g = 0; world->element_slots != NULL && g < model->element_group_count; g++) {
        stn_release(world->context, world->element_slots[g].slot);
    }
}

void stn_world_release_compiled(stn_world *world) {
    stn_context *context = world->context;
    release_matrices(world);
    if (world->contact_prepared != NULL) {
        world->plugin[STN_KIND_CONTACT]->desc->ops.contact->release(world->contact_prepared);
    }
    stn_broadphase_destroy(world->broadphase);
    stn_kinematics_destroy(world->kinematics);
    stn_kinematics_destroy(world->scratch_kinematics);
    void *memory[] = {
        world->M,
        world->A,
        world->forces.tau,
        world->forces.K,
        world->forces.D,
        world->forces.servo_storage,
        world->forces.K_storage,
        world->forces.D_storage,
        world->element_slots,
        world->collider,
        world->collider_moves,
        world->collider_radius,
        world->collider_margin,
        world->collider_worst,
        world->collider_box,
        world->geometry_pose,
        world->star_velocity,
        world->q_next,
        world->v_next,
        world->node_dof,
        world->node_tree,
        world->controller_next,
        world->integrator_next,
        world->cache_index.slot,
        world->body_parts,
        world->clearances,
        world->prescribed,
        world->prescribed_of,
    };
    for (int32_t i = 0; i < STN_COUNT(memory); i++) {
        stn_release(context, memory[i]);
    }
    stn_state_clear(context, &world->state);
    stn_state_clear(context, &world->start);
    destroy_shared(context, world->shared);
    world->model = NULL;
}

/// Everything that follows from the model; `world->shared` holds it.
stn_status stn_world_prepare(stn_world *world, stn_error *err) {
    world->model = world->shared->model;
    const stn_instance *contact = world->plugin[STN_KIND_CONTACT];
    const stn_contact_ops *ops = contact->desc->ops.contact;
    stn_status status = allocate_matrices(world, err);
    status = status == STN_OK ? allocate_forces(world, err) : status;
    status = status == STN_OK ? allocate_element_slots(world, err) : status;
    status = status == STN_OK ? allocate_colliders(world, err) : status;
    status = status == STN_OK ? allocate_step(world, err) : status;
    status = status == STN_OK ? stn_world_find_prescribed(world, err) : status;
    status = status == STN_OK ? allocate_state(world, err) : status;
    if (status == STN_OK && ops->prepare != NULL) {
        status = ops->prepare(contact->self, world->model, &world->contact_prepared, err);
        status = status == STN_OK ? stn_clearance_prepare(world, err) : status;
    }
    if (status == STN_OK) {
        (void)stn_world_kinematics(world);
        stn_step_energies(world);
        stn_step_observation(world);
    }
    return status;
}

/// The model is complete, so that a world that cannot use it has no way back: it says so whenever it is asked.
static stn_status fail_for_good(stn_world *world, stn_status status, const stn_error *why, stn_error *err) {
    world->model = NULL;
    world->failure = *why;
    world->failure.status = status;
    return stn_fail(err, status, "%s", why->text);
}

stn_status stn_world_compile(stn_world *world, stn_error *err) {
    if (world->model != NULL) {
        return STN_OK;
    }
    if (world->failure.status != STN_OK) {
        return stn_fail(err, world->failure.status, "%s", world->failure.text);
    }
    shared_model *shared = stn_allocate(world->context, 1, sizeof *shared);
    if (shared == NULL) {
        return out_of_memory(err);
    }
    stn_status status = stn_model_compile(world->builder, &shared->model, err);
    if (status != STN_OK) {
        stn_release(world->context, shared);
        return status;
    }
    atomic_init(&shared->users, 1);
    world->shared = shared;
    stn_error why = {0};
    status = stn_world_prepare(world, &why);
    return status == STN_OK ? STN_OK : fail_for_good(world, status, &why, err);
}
