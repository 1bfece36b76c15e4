// SPDX-License-Identifier: Apache-2.0
// The integrator's half before the solve: M, then A and v_star; A is factored here, once for the whole step.
#include <string.h>

#include "world/world.h"

static stn_status refuse_massless(const stn_world *world, stn_error *err) {
    const stn_model *model = world->setup->model;
    int32_t link = world->setup->massless_link;
    if (link < 0) {
        return STN_OK;
    }
    return stn_fail(err, STN_ERR_UNSUPPORTED,
                    "robot %s: link %s moves but neither it nor what hangs on it has mass, so "
                    "it has no dynamics: give it an <inertial>",
                    model->robots[model->links[link].robot].name, model->links[link].name);
}

static void update_mass_matrices(stn_world *world) {
    for (int32_t t = 0; t < world->setup->model->tree_count; t++) {
        stn_mass_matrix(world->frame.kinematics, t, &world->frame.M[t]);
    }
}

static stn_status allocate_vectors(stn_world *world, stn_error *err) {
    stn_problem *p = &world->frame.problem;
    size_t n = (size_t)p->nv;
    p->v0 = STN_ARENA(world->frame.arena, n, double);
    p->v_star = STN_ARENA_ZEROED(world->frame.arena, n, double);
    p->v_guess = STN_ARENA(world->frame.arena, n, double);
    p->free_impulse = STN_ARENA_ZEROED(world->frame.arena, n, double);
    p->trees = STN_ARENA_ZEROED(world->frame.arena, p->tree_count, stn_problem_tree);
    if (p->v0 == NULL || p->v_star == NULL || p->v_guess == NULL || p->free_impulse == NULL || p->trees == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "step: out of memory");
    }
    memcpy(p->v0, world->state.v, n * sizeof(double));
    memcpy(p->v_guess, world->state.v, n * sizeof(double));
    return STN_OK;
}

static stn_status run_integrator(stn_world *world, stn_error *err) {
    const stn_model *model = world->setup->model;
    stn_problem *p = &world->frame.problem;
    for (int32_t t = 0; t < model->tree_count; t++) {
        memset(world->frame.A[t].values, 0, (size_t)stn_matrix_value_count(&world->frame.A[t]) * sizeof(double));
    }
    if (world->state.sizes.integrator_bytes > 0) {
        memcpy(world->frame.integrator_next, world->state.integrator_memory, world->state.sizes.integrator_bytes);
    }
    stn_integrator_view view = stn_world_integrator_view(world);
    stn_formed formed = {
        .A = world->frame.A,
        .v_star = p->v_star,
        .v0 = p->v0,
        .v_guess = p->v_guess,
        .free_impulse = p->free_impulse,
        .velocity_kind = STN_VELOCITY_END,
        .bias_rule = STN_ARENA_ZEROED(world->frame.arena, model->tree_count, stn_bias_rule),
        .theta = 1.0,
        .force_theta = 1.0,
        .force_theta_vq = 1.0,
    };
    const stn_instance *integrator = world->setup->plugin[STN_KIND_INTEGRATOR];
    stn_error said = {0};
    if (formed.bias_rule == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "step: out of memory");
    }
    world->frame.bias_rule = formed.bias_rule;
    stn_status status =
        integrator->desc->ops.integrator->form(integrator->self, &view, world->frame.integrator_next, &formed, &said);
    if (status < 0) {
        return stn_fail(err, status, "integrator %s: %s", integrator->desc->id, said.text);
    }
    world->frame.formed_loosely = status != STN_OK;
    if (world->frame.formed_loosely && !world->services.loose_said) {
        world->services.loose_said = true;
        stn_log(world->services.context, STN_LOG_WARNING, "integrator %s: t = %g s: %s", integrator->desc->id,
                world->state.time, said.text);
    }
    p->velocity_kind = formed.velocity_kind;
    p->theta = formed.theta;
    world->frame.force_theta = formed.force_theta;
    world->frame.force_theta_vq = formed.force_theta_vq;
    world->frame.contact_theta = formed.contact_theta;
    for (int32_t t = 0; t < model->tree_count; t++) {
        p->trees[t] = (stn_problem_tree){.dof_start = model->trees[t].v_start, .source = t, .A = world->frame.A[t]};
    }
    return STN_OK;
}

stn_integrator_view stn_world_integrator_view(stn_world *world) {
    return (stn_integrator_view){
        .context = world->services.context,
        .model = world->setup->model,
        .time = world->state.time,
        .dt = world->frame.dt,
        .gravity = world->state.gravity,
        .q = world->state.q,
        .v = world->state.v,
        .kinematics = world->frame.kinematics,
        .scratch_kinematics = world->frame.scratch_kinematics,
        .forces = &world->frame.forces,
        .M = world->frame.M,
        .arena = world->frame.arena,
    };
}

/// v_star += A^-1 free_impulse where A is regular; elsewhere the impulse stays in the problem.
static void absorb_free_impulse(stn_world *world) {
    stn_problem *p = &world->frame.problem;
    bool left = false;
    for (int32_t t = 0; t < p->tree_count; t++) {
        int32_t start = p->trees[t].dof_start, n = p->trees[t].A.n;
        if (!stn_inverse_regular(world->services.inverse, t)) {
            left = true;
            continue;
        }
        stn_inverse_apply(world->services.inverse, t, 1, p->free_impulse + start);
        for (int32_t d = start; d < start + n; d++) {
            p->v_star[d] += p->free_impulse[d];
            p->free_impulse[d] = 0.0;
        }
    }
    if (!left) {
        p->free_impulse = NULL;
    }
}

stn_status stn_step_form(stn_world *world, stn_error *err) {
    const stn_model *model = world->setup->model;
    world->frame.problem = (stn_problem){
        .form = STN_FORM_GLOBAL,
        .dt = world->frame.dt,
        .nv = model->nv,
        .tree_count = model->tree_count,
        .beta = NAN,
        .sigma = NAN,
        .stiction_tolerance = NAN,
    };
    stn_status status = refuse_massless(world, err);
    if (status != STN_OK) {
        return status;
    }
    update_mass_matrices(world);
    status = allocate_vectors(world, err);
    if (status == STN_OK) {
        status = run_integrator(world, err);
    }
    if (status == STN_OK) {
        status = stn_inverse_factor(world->services.inverse, &world->frame.problem, world->frame.M, err);
    }
    if (status != STN_OK) {
        return status;
    }
    absorb_free_impulse(world);
    return stn_step_check_dofs(world, world->frame.problem.v_star, "free velocity of", err);
}
