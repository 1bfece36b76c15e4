// SPDX-License-Identifier: Apache-2.0
// The integrator's half before the solve: M, then A and v_star; A is factored here, once for the whole step.
#include <string.h>

#include "dynamics/kinematics.h"
#include "problem/inverse.h"
#include "world/world.h"

/// M of a tree. A large one keeps how its bodies move, as they do now: the kinematics will be those of the next step
/// when somebody solves the problem once more. M and A are then articulated, where the integrator knows that form and
/// gains couple no dofs.
static void form_mass(const step_setup *setup, step_frame *frame, int32_t t) {
    stn_articulated *bodies = &frame->bodies[t];
    if (bodies->n > 0) {
        const bool known = stn_plugin_says(setup->plugin[STN_KIND_INTEGRATOR], "articulated");
        const bool coupled = frame->forces.K[t].form == STN_MATRIX_DENSE || frame->forces.D[t].form == STN_MATRIX_DENSE;
        frame->M[t].form = frame->A[t].form = known && !coupled ? STN_MATRIX_ARTICULATED : STN_MATRIX_DENSE;
        stn_tree_motion(frame->kinematics, t, (double *)(uintptr_t)bodies->motion);
    }
    stn_mass_matrix(frame->kinematics, t, &frame->M[t]);
}

/// stn_formed.solve.
static bool solve_formed(void *core, int32_t tree, double *x) {
    return inverse_solve(core, tree, x);
}

static stn_status run_integrator(const step_setup *setup, const state_view *state, step_frame *frame,
                                 step_services *services, const stn_matrix **scale, stn_error *err) {
    const stn_model *model = setup->model;
    stn_problem *p = &frame->problem;
    const stn_instance *integrator = setup->plugin[STN_KIND_INTEGRATOR];
    const bool cleared = !stn_plugin_says(integrator, "writes_A");
    for (int32_t t = 0; t < model->tree_count; t++) {
        if (cleared && (frame->asleep_count == 0 || !frame->asleep[t])) {
            memset(frame->A[t].values, 0, (size_t)stn_matrix_value_count(&frame->A[t]) * sizeof(double));
        }
        p->trees[t] = (stn_problem_tree){.dof_start = model->trees[t].v_start,
                                         .source = t,
                                         .A = frame->A[t],
                                         .motion = frame->bodies[t].motion,
                                         .parent = frame->bodies[t].parent};
    }
    stn_status status = inverse_begin(services->inverse, p, err);
    if (status != STN_OK) {
        return status;
    }
    if (state->sizes.integrator_bytes > 0) {
        memcpy(frame->integrator_next, state->integrator_memory, state->sizes.integrator_bytes);
    }
    stn_integrator_view view = stn_step_integrator_view(setup, state, frame, services);
    stn_formed formed = {
        .A = frame->A,
        .v_star = p->v_star,
        .v0 = p->v0,
        .v_guess = p->v_guess,
        .v_told = frame->v_promised = STN_ARENA_ZEROED(frame->arena, model->nv, double),
        .free_impulse = p->free_impulse,
        .velocity_kind = STN_VELOCITY_END,
        .bias_rule = STN_ARENA_ZEROED(frame->arena, model->tree_count, stn_bias_rule),
        .theta = 1.0,
        .force_theta = 1.0,
        .force_theta_vq = 1.0,
        .relaxation_time = frame->dt,
        .solve = solve_formed,
        .core = services->inverse,
    };
    stn_error said = {0};
    if (formed.bias_rule == NULL || formed.v_told == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "step: out of memory");
    }
    frame->bias_rule = formed.bias_rule;
    frame->place.plugin = integrator;
    status = integrator->desc->ops.integrator->form(integrator->self, &view, frame->integrator_next, &formed, &said);
    if (status < 0) {
        return stn_fail(err, status, "integrator %s: %s", integrator->desc->id, said.text);
    }
    frame->place.plugin = NULL;
    frame->formed_loosely = status != STN_OK;
    if (frame->formed_loosely && !services->loose_said) {
        services->loose_said = true;
        stn_log(services->context, STN_LOG_WARNING, "integrator %s: t = %g s: %s", integrator->desc->id, state->time,
                said.text);
    }
    p->velocity_kind = formed.velocity_kind;
    p->theta = formed.theta;
    frame->force_theta = formed.force_theta;
    frame->force_theta_vq = formed.force_theta_vq;
    frame->contact_theta = formed.contact_theta;
    frame->relaxation_time = formed.relaxation_time;
    frame->reach = formed.reach;
    frame->carries = formed.carries;
    frame->exact_contacts = formed.exact_contacts;
    frame->singular_by = formed.singular_by;
    *scale = formed.scale;
    return STN_OK;
}

/// Factors A. Where it is singular the mass matrix gives the scale, unless the integrator says another.
static stn_status factor(const step_setup *setup, step_frame *frame, step_services *services, const stn_matrix *scale,
                         stn_error *err) {
    const stn_problem *p = &frame->problem;
    const stn_instance *plugin = setup->plugin[STN_KIND_INTEGRATOR];
    const char *integrator = plugin->desc->id;
    // whether an A is singular shows in its factor: what has inertia in it is regular without being looked at
    const bool unfactored = stn_setup_integrator_solves(setup) ||
                            stn_solver_takes_unfactored(setup->plugin[STN_KIND_SOLVER]->desc->ops.solver);
    inverse_leave_nodal(services->inverse, unfactored && scale == NULL && !stn_plugin_says(plugin, "quasistatic"));
    stn_status status = inverse_finish(services->inverse, err);
    int32_t tree, dof;
    if (status != STN_OK) {
        if (stn_inverse_fault(services->inverse, &tree, &dof)) {
            stn_step_name_dof(setup, frame, tree, dof, err);
        }
        stn_error_prefix(err, "integrator %s", integrator);
        return status;
    }
    status = stn_step_check_masses(setup, frame, err);
    if (status != STN_OK) {
        return status;
    }
    if (scale == NULL && !inverse_has_singular(services->inverse)) {
        return STN_OK;
    }
    const stn_matrix **from = STN_ARENA_ZEROED(frame->arena, p->tree_count, const stn_matrix *);
    if (from == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "step: out of memory");
    }
    for (int32_t t = 0; t < p->tree_count; t++) {
        const bool given = scale != NULL && scale[t].n > 0;
        if (given && scale[t].n != p->trees[t].A.n) {
            return stn_fail(err, STN_ERR_PLUGIN, "integrator %s: the scale of tree %d has %d rows, A has %d",
                            integrator, t, scale[t].n, p->trees[t].A.n);
        }
        from[t] = given ? &scale[t] : stn_inverse_singular(services->inverse, t) >= 0 ? &frame->M[t] : NULL;
    }
    status = stn_inverse_set_scale(services->inverse, from, err);
    if (status != STN_OK) {
        stn_error_prefix(err, "integrator %s", integrator);
    }
    return status;
}

stn_integrator_view stn_step_integrator_view(const step_setup *setup, const state_view *state, step_frame *frame,
                                             const step_services *services) {
    return (stn_integrator_view){
        .context = services->context,
        .model = setup->model,
        .time = state->time,
        .dt = frame->dt,
        .gravity = state->gravity,
        .q = state->q,
        .v = state->v,
        .kinematics = frame->kinematics,
        .scratch_kinematics = frame->scratch_kinematics,
        .forces = &frame->forces,
        .M = frame->M,
        .arena = frame->arena,
        .asleep = frame->asleep_count > 0 ? frame->asleep : NULL,
    };
}

static bool is_finite(const stn_problem *p) {
    for (int32_t t = 0; t < p->tree_count; t++) {
        for (int64_t i = 0; i < stn_matrix_value_count(&p->trees[t].A); i++) {
            if (!isfinite(p->trees[t].A.values[i])) {
                return false;
            }
        }
    }
    return true;
}

/// Of numbers that only the integrator can have broken: the state and the forces that it was given are finite.
static stn_status blame_integrator(const step_setup *setup, step_frame *frame, stn_status status, stn_error *err) {
    frame->place.plugin = setup->plugin[STN_KIND_INTEGRATOR];
    stn_error_prefix(err, "integrator %s", frame->place.plugin->desc->id);
    return status;
}

/// For a tree without a factor: moves into v_star about what the forces make, exactly where all of the tree is pushed
/// alike, as it falls, and a few iterations towards the rest. What that leaves stays in free_impulse: the problem is
/// the same one, and contacts in advance and restitution know where its nodes would go.
static stn_status foresee(const step_frame *frame, int32_t t, const stn_inverse *inverse, stn_error *err) {
    enum { MOST = 10 };
    const stn_problem *p = &frame->problem;
    const stn_problem_tree *tree = &p->trees[t];
    const int32_t n = tree->A.n, m = tree->A.node_size;
    double *v_star = p->v_star + tree->dof_start, *f = p->free_impulse + tree->dof_start;
    double *v = STN_ARENA(frame->arena, n, double), *r = STN_ARENA(frame->arena, n, double);
    double *mass = STN_ARENA_ZEROED(frame->arena, n, double);
    if (v == NULL || r == NULL || mass == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "step: out of memory");
    }
    for (int32_t d = 0; d < n; d++) {
        v[d] = p->v0[tree->dof_start + d] - v_star[d];
        r[d] = f[d];
    }
    stn_matrix_mul_add(&tree->A, -1.0, v, r);
    stn_matrix_diagonal(&frame->M[t], mass);
    for (int32_t axis = 0; axis < 3; axis++) {
        double push = 0.0, all = 0.0;
        for (int32_t d = axis; d < n; d += m) {
            push += r[d];
            all += mass[d];
        }
        for (int32_t d = axis; d < n && all > 0.0; d += m) {
            v[d] += push / all;
        }
    }
    stn_status status = inverse_iterate(inverse, p, t, f, 1e-2, MOST, v, frame->arena, err);
    if (status < STN_OK) {
        return status;
    }
    for (int32_t d = 0; d < n; d++) {
        v_star[d] += v[d];
    }
    stn_matrix_mul_add(&tree->A, -1.0, v, f);
    return STN_OK;
}

stn_status stn_step_form(const step_setup *setup, const state_view *state, step_frame *frame, step_services *services,
                         stn_error *err) {
    const stn_model *model = setup->model;
    const size_t n = (size_t)model->nv;
    stn_problem *p = &frame->problem;
    *p = (stn_problem){
        .form = STN_FORM_GLOBAL,
        .dt = frame->dt,
        .nv = model->nv,
        .tree_count = model->tree_count,
        .beta = NAN,
        .sigma = NAN,
        .stiction_tolerance = NAN,
    };
    if (setup->massless_link >= 0) {
        const stn_link *link = &model->links[setup->massless_link];
        return stn_fail(err, STN_ERR_UNSUPPORTED,
                        "group %s: link %s moves but neither it nor what hangs on it has mass, so "
                        "it has no dynamics: give it an <inertial>",
                        model->groups[link->group].name, link->name);
    }
    for (int32_t t = 0; t < model->tree_count; t++) {
        if (frame->asleep_count == 0 || !frame->asleep[t]) { // that of a tree that sleeps is there
            form_mass(setup, frame, t);
        }
    }
    p->v0 = STN_ARENA(frame->arena, n, double);
    p->v_star = STN_ARENA_ZEROED(frame->arena, n, double);
    p->v_guess = STN_ARENA(frame->arena, n, double);
    p->free_impulse = STN_ARENA_ZEROED(frame->arena, n, double);
    p->trees = STN_ARENA_ZEROED(frame->arena, p->tree_count, stn_problem_tree);
    if (p->v0 == NULL || p->v_star == NULL || p->v_guess == NULL || p->free_impulse == NULL || p->trees == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "step: out of memory");
    }
    memcpy(p->v0, state->v, n * sizeof(double));
    memcpy(p->v_guess, state->v, n * sizeof(double));
    const stn_matrix *scale = NULL;
    stn_status status = run_integrator(setup, state, frame, services, &scale, err);
    if (status != STN_OK) {
        return status;
    }
    status = stn_step_move_loads(setup, state, frame, services, err);
    if (status != STN_OK) {
        return status;
    }
    status = stn_step_prescribe_nodes(setup, state, frame, err);
    if (status != STN_OK) {
        return status;
    }
    status = factor(setup, frame, services, scale, err);
    if (status != STN_OK) {
        return is_finite(p) ? status : blame_integrator(setup, frame, status, err);
    }
    // v_star += A^-1 free_impulse where A is regular and factored; elsewhere the impulse stays in the problem
    bool left = inverse_has_singular(services->inverse);
    for (int32_t t = 0; t < p->tree_count; t++) {
        int32_t start = p->trees[t].dof_start, end = start + p->trees[t].A.n;
        if (inverse_left(services->inverse, t)) {
            left = true;
            status = foresee(frame, t, services->inverse, err);
            if (status != STN_OK) {
                return is_finite(p) ? status : blame_integrator(setup, frame, status, err);
            }
            continue;
        }
        if (stn_inverse_singular(services->inverse, t) >= 0 || (frame->asleep_count > 0 && frame->asleep[t])) {
            continue;
        }
        stn_inverse_apply(services->inverse, t, 1, p->free_impulse + start);
        double *restrict v_star = p->v_star, *restrict free_impulse = p->free_impulse;
        for (int32_t d = start; d < end; d++) {
            v_star[d] += free_impulse[d];
            free_impulse[d] = 0.0;
        }
    }
    if (!left) {
        p->free_impulse = NULL;
    }
    const double *restrict star = p->v_star;
    double *restrict promised = frame->v_promised;
    for (size_t d = 0; d < n; d++) {
        promised[d] = fabs(promised[d]) > fabs(star[d]) ? promised[d] : star[d];
    }
    status = stn_step_check_dofs(setup, p->v_star, "free velocity of", err);
    return status == STN_OK ? status : blame_integrator(setup, frame, status, err);
}
