// SPDX-License-Identifier: Apache-2.0
// Extended position-based dynamics with sub-steps [macklin-2016, macklin-2019]. With n sub-steps of h = dt/n, in each
//
//     u <- u + h M^-1 f_ext                          gravity, gyroscopic and applied forces, joint springs and dampers
//     x  = q moved by h u                            predicted
//     each element, then each row of the problem     x <- x + dx, one Gauss-Seidel iteration: elements.c, rows.c
//     q <- x,  u = (x - q)/h
//
// The problem is formed as symplectic_euler forms it, so that the certificate tells how far the step is from the one
// that is implicit in dt. v of the step is u of the last sub-step, v_position = (q_next - q0)/dt.
#include <string.h>

#include <stiction/plugin.h>

#include "common/semi_implicit.h"
#include "common/spinning_body.h"
#include "substep.h"

typedef struct xpbd_config {
    int32_t substeps;
    double push_speed;
} xpbd_config;

static const stn_param params[] = {
    STN_PARAM_INT(xpbd_config, substeps, "1", 20.0, 1.0, 1e4, "sub-steps of a step, on the same contacts"),
    STN_PARAM_REAL(xpbd_config, push_speed, "m/s", 0.1, 0.0, 1e9,
                   "at which a rigid contact undoes an overlap at most, a limit its excess [rad/s of revolute joints]"),
};

static stn_status form(void *self, const stn_integrator_view *view, void *state, stn_formed *formed, stn_error *err) {
    (void)self, (void)state;
    formed->exact_contacts = true;
    return semi_implicit_form(view, formed, err);
}

/// What the sub-steps of one step are made with.
typedef struct xpbd {
    substep s;
    double *q, *moved;          // of s
    double *known;              // (nv) velocities of nodes that no force moves; of others not read
    stn_kinematics *kinematics; // of s
    stn_integrator_view view;   // of one sub-step: all that semi_implicit.h reads
    stn_forces forces;          // of that view: tau as it is at the sub-step's start
    stn_matrix *M, *A, *L;      // (tree_count) of articulated trees at the sub-step's start; L: Cholesky factor of A
    bool factored;              // that of the tree at work
    stn_formed formed;          // their free impulse
    double *room;               // of semi_implicit.h
} xpbd;

/// v_star + A^-1 free_impulse where A is diagonal, as it is at nodes whose motion is known.
static void find_known(const stn_problem *problem, double *known) {
    for (int32_t t = 0; t < problem->tree_count; t++) {
        const stn_problem_tree *tree = &problem->trees[t];
        stn_matrix_diagonal(&tree->A, known + tree->dof_start);
        for (int32_t d = tree->dof_start; d < tree->dof_start + tree->A.n; d++) {
            const double impulse = problem->free_impulse != NULL ? problem->free_impulse[d] : 0.0;
            known[d] = problem->v_star[d] + impulse / known[d];
        }
    }
}

/// stn_formed.solve.
static bool solve_tree(void *core, int32_t t, double *impulse) {
    xpbd *x = core;
    const int32_t n = x->A[t].n;
    if (!x->factored) {
        memcpy(x->L[t].values, x->A[t].values, (size_t)n * (size_t)n * sizeof(double));
        x->factored = stn_cholesky(n, x->L[t].values, n) < 0;
    }
    if (x->factored) {
        stn_cholesky_forward(n, x->L[t].values, n, 1, impulse, n);
        stn_cholesky_backward(n, x->L[t].values, n, 1, impulse, n);
    }
    return x->factored;
}

static stn_status make(const xpbd_config *config, const stn_integrator_view *view, const stn_problem *problem,
                       stn_solution *solution, double *reaction, xpbd *x, stn_error *err) {
    const stn_model *model = view->model;
    stn_arena *arena = view->arena;
    x->q = STN_ARENA(arena, model->nq + 1, double);
    x->moved = STN_ARENA_ZEROED(arena, model->nv + 1, double);
    x->known = STN_ARENA(arena, model->nv + 1, double);
    x->M = STN_ARENA_ZEROED(arena, model->tree_count + 1, stn_matrix);
    x->A = STN_ARENA_ZEROED(arena, model->tree_count + 1, stn_matrix);
    x->L = STN_ARENA_ZEROED(arena, model->tree_count + 1, stn_matrix);
    x->kinematics = view->scratch_kinematics;
    x->forces = *view->forces;
    x->forces.tau = STN_ARENA(arena, model->nv + 1, double);
    x->view = *view;
    x->view.dt = view->dt / config->substeps;
    x->view.q = x->q;
    x->view.v = solution->v;
    x->view.kinematics = x->kinematics;
    x->view.scratch_kinematics = NULL;
    x->view.forces = &x->forces;
    x->view.M = x->M;
    x->room = semi_implicit_room(view);
    x->formed = (stn_formed){.A = x->A,
                             .free_impulse = STN_ARENA(arena, model->nv + 1, double),
                             .bias_rule = STN_ARENA(arena, model->tree_count + 1, stn_bias_rule),
                             .solve = solve_tree,
                             .core = x};
    bool whole = x->q != NULL && x->moved != NULL && x->known != NULL && x->M != NULL && x->A != NULL && x->L != NULL &&
                 x->room != NULL && x->forces.tau != NULL && x->formed.free_impulse != NULL &&
                 x->formed.bias_rule != NULL;
    for (int32_t t = 0; t < model->tree_count && whole; t++) {
        if (model->trees[t].kind == STN_TREE_ARTICULATED) {
            x->M[t] = view->M[t];
            x->A[t] = problem->trees[t].A;
            x->M[t].values = STN_ARENA(arena, stn_matrix_value_count(&x->M[t]), double);
            x->A[t].values = STN_ARENA(arena, stn_matrix_value_count(&x->A[t]), double);
            x->L[t] = x->A[t];
            x->L[t].values = STN_ARENA(arena, stn_matrix_value_count(&x->A[t]), double);
            whole = x->M[t].values != NULL && x->A[t].values != NULL && x->L[t].values != NULL;
        }
    }
    if (!whole) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    find_known(problem, x->known);
    memcpy(x->q, view->q, (size_t)model->nq * sizeof(double));
    memcpy(solution->v, view->v, (size_t)model->nv * sizeof(double));
    memset(solution->gamma, 0, (size_t)problem->row_count * sizeof(double));
    x->s = (substep){.view = view,
                     .problem = problem,
                     .h = x->view.dt,
                     .push_speed = config->push_speed,
                     .q = x->q,
                     .kinematics = x->kinematics,
                     .u = solution->v,
                     .moved = x->moved,
                     .reaction = reaction,
                     .factor = x->L};
    return STN_OK;
}

/// u of a tree of joints after a sub-step without rows; the factor of its A.
static stn_status predict_tree(xpbd *x, int32_t t, stn_error *err) {
    const stn_integrator_view *step = x->s.view;
    const stn_tree *tree = &step->model->trees[t];
    const int32_t start = tree->v_start, n = tree->nv;
    double *tau = x->forces.tau + start, *u = x->s.u + start, *impulse = x->formed.free_impulse + start;
    for (int32_t i = 0; i < n; i++) { // the affine forces of the step, here: tau - K (q - q0) - D (u - v0)
        tau[i] = step->forces->tau[start + i];
        impulse[i] = step->v[start + i] - u[i];
    }
    stn_matrix_mul_add(&step->forces->K[t], -1.0, x->moved + start, tau);
    stn_matrix_mul_add(&step->forces->D[t], 1.0, impulse, tau);
    stn_mass_matrix(x->kinematics, t, &x->M[t]);
    x->factored = false;
    stn_status status = semi_implicit_form_tree(&x->view, t, &x->formed, x->room, err);
    if (status < 0) {
        return status;
    }
    if (!solve_tree(x, t, impulse)) {
        return stn_fail(err, STN_ERR_NUMERIC, "t = %g s: A of the tree of link %s is not positive definite",
                        step->time + x->s.t, step->model->bodies[tree->body_start].name);
    }
    for (int32_t i = 0; i < n; i++) {
        u[i] += impulse[i];
    }
    return STN_OK;
}

/// u of the nodes of a cloud after a sub-step without elements and rows.
static void predict_nodes(xpbd *x, int32_t t) {
    const stn_integrator_view *step = x->s.view;
    const stn_model *model = step->model;
    const stn_tree *tree = &model->trees[t];
    const int32_t nv = stn_node_type_nv(tree->node_type);
    const double h = x->s.h, g[3] = {step->gravity.x, step->gravity.y, step->gravity.z};
    double *impulse = x->formed.free_impulse + tree->v_start;
    if (nv == 6) {
        spinning_nodes_impulse(&x->view, tree, impulse);
    }
    for (int32_t i = 0; i < tree->node_count; i++, impulse += nv) {
        const int32_t node = tree->node_start + i, v = tree->v_start + nv * i;
        double *u = x->s.u + v;
        for (int32_t k = 0; k < nv; k++) {
            const double weight = nv == 6 ? impulse[k] : h * model->node_mass[node] * g[k];
            impulse[k] = weight + h * step->effort[v + k];
        }
        if (stn_model_node_moves(model, node)) {
            substep_divide_by_mass(&x->s, node, impulse);
            for (int32_t k = 0; k < nv; k++) {
                u[k] += impulse[k];
            }
            continue;
        }
        double change[6]; // of what is known, against the forces
        for (int32_t k = 0; k < nv; k++) {
            change[k] = x->known[v + k] - u[k];
            u[k] = x->known[v + k];
            x->s.reaction[v + k] -= impulse[k];
        }
        substep_mass_times(&x->s, node, change, x->s.reaction + v);
    }
}

static stn_status predict(xpbd *x, stn_error *err) {
    const stn_model *model = x->s.view->model;
    stn_status status = STN_OK;
    x->view.time = x->s.view->time + x->s.t;
    stn_kinematics_update(x->kinematics, x->q, x->s.u);
    for (int32_t t = 0; t < model->tree_count && status >= 0; t++) {
        if (model->trees[t].kind == STN_TREE_NODAL) {
            predict_nodes(x, t);
        } else if (model->trees[t].nv > 0) {
            status = predict_tree(x, t, err);
        }
    }
    return status < 0 ? status : STN_OK;
}

static stn_status solve(void *self, const stn_integrator_view *view, void *state, const stn_problem *problem,
                        stn_solution *solution, double *reaction, stn_solve_info *info, stn_error *err) {
    (void)state;
    const xpbd_config *config = self;
    xpbd x = {0};
    stn_status status = make(config, view, problem, solution, reaction, &x, err);
    element_room *elements = status == STN_OK ? element_room_make(view) : NULL;
    double *row = status == STN_OK ? row_room_make(view, problem) : NULL;
    if (status == STN_OK && (elements == NULL || row == NULL)) {
        status = stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    for (int32_t k = 0; k < config->substeps && status == STN_OK; k++) {
        x.s.t = k * x.s.h;
        status = predict(&x, err);
        status = status == STN_OK ? substep_elements(&x.s, elements, err) : status;
        if (status == STN_OK) {
            substep_rows(&x.s, row, solution->gamma);
            stn_integrate_q(view->model, x.q, x.s.u, x.s.h, x.q);
            for (int32_t d = 0; d < view->model->nv; d++) {
                x.moved[d] += x.s.h * x.s.u[d];
            }
        }
    }
    if (status != STN_OK) {
        return status;
    }
    stn_difference_q(view->model, view->q, x.q, solution->v_position);
    for (int32_t d = 0; d < view->model->nv; d++) {
        solution->v_position[d] /= view->dt;
    }
    info->iterations = config->substeps;
    return STN_NOT_CONVERGED;
}

static stn_status advance(void *self, const stn_integrator_view *view, void *state, const stn_problem *problem,
                          const double *v, const double *gamma, double *q_next, double *v_next, stn_error *err) {
    (void)self, (void)state, (void)problem, (void)gamma, (void)err;
    semi_implicit_advance(view, v, q_next, v_next);
    return STN_OK;
}

static const stn_integrator_ops ops = {.size = sizeof ops, .form = form, .advance = advance, .solve = solve};

static const char *const capabilities[] = {"v_position", "writes_A", NULL};

static const stn_plugin_desc xpbd_plugin = {
    .size = sizeof xpbd_plugin,
    .kind = STN_KIND_INTEGRATOR,
    .id = "xpbd",
    .version = "0.1.0",
    .summary = "extended position-based dynamics with sub-steps: no solver, approximate; to compare with",
    .reference = "macklin-2016; macklin-2019",
    .capabilities = capabilities,
    .config_size = sizeof(xpbd_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.integrator = &ops,
};
STN_PLUGIN_LIBRARY(&xpbd_plugin);
