// SPDX-License-Identifier: Apache-2.0
// How the solution of a step moves with its problem: the solver is asked island by island, as it solved them, for those
// columns alone that change something there.
#include <math.h>
#include <stiction/islands.h>
#include <string.h>

#include "predict.h"

/// One island of the step's problem as the solver sees it; all in predictor->island.
typedef struct part {
    stn_problem problem;
    const int32_t *tree, *constraint; // of the whole problem
    int32_t *column;                  // (sensitivity.columns) which of the whole these are
    stn_sensitivity sensitivity;
} part;

void stn_predict_forget(stn_predictor *p) {
    if (p->workspace != NULL) {
        stn_world_plugin(p->world, STN_KIND_SOLVER)->desc->ops.solver->destroy_workspace(p->workspace);
    }
    p->workspace = NULL;
    stn_inverse_destroy(p->inverse);
    p->inverse = NULL;
}

// ------------------------------------------------------------------------------------------- to an island and back

/// The dofs of its trees of x (nv of the whole).
static void gather_dofs(const part *island, const stn_problem *whole, const double *x, double *to) {
    for (int32_t t = 0; t < island->problem.tree_count; t++) {
        const stn_problem_tree *tree = &island->problem.trees[t];
        const double *from = x + whole->trees[island->tree[t]].dof_start;
        memcpy(to + tree->dof_start, from, (size_t)tree->A.n * sizeof *to);
    }
}

/// The rows of its constraints of x (row_count of the whole).
static void gather_rows(const part *island, const stn_problem *whole, const double *x, double *to) {
    for (int32_t i = 0; i < island->problem.constraint_count; i++) {
        const stn_constraint *c = &island->problem.constraints[i];
        memcpy(to + c->row, x + whole->constraints[island->constraint[i]].row, (size_t)c->rows * sizeof *to);
    }
}

static void scatter_dofs(const part *island, const stn_problem *whole, const double *x, double *to) {
    for (int32_t t = 0; t < island->problem.tree_count; t++) {
        const stn_problem_tree *tree = &island->problem.trees[t];
        double *own = to + whole->trees[island->tree[t]].dof_start;
        memcpy(own, x + tree->dof_start, (size_t)tree->A.n * sizeof *to);
    }
}

static bool any(const double *x, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        if (x[i] != 0.0) { // NaN is not zero
            return true;
        }
    }
    return false;
}

/// The columns that change something in the island.
static stn_status take_columns(stn_predictor *p, const stn_problem *whole, const stn_sensitivity *columns, part *island,
                               stn_error *err) {
    const size_t nv = (size_t)island->problem.nv, rows = (size_t)island->problem.row_count;
    const size_t count = (size_t)columns->columns;
    double *impulse = STN_ARENA(p->island, count * nv + 1, double);
    double *velocity = STN_ARENA(p->island, count * rows + 1, double);
    stn_sensitivity *own = &island->sensitivity;
    island->column = STN_ARENA(p->island, count, int32_t);
    if (impulse == NULL || velocity == NULL || island->column == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    *own = (stn_sensitivity){.impulse = impulse, .velocity = velocity};
    for (size_t k = 0; k < count; k++) {
        double *f = impulse + (size_t)own->columns * nv, *y = velocity + (size_t)own->columns * rows;
        gather_dofs(island, whole, columns->impulse + k * (size_t)whole->nv, f);
        gather_rows(island, whole, columns->velocity + k * (size_t)whole->row_count, y);
        if (any(f, (int32_t)nv) || any(y, (int32_t)rows)) {
            island->column[own->columns++] = (int32_t)k;
        }
    }
    own->dv = STN_ARENA_ZEROED(p->island, (size_t)own->columns * nv + 1, double);
    own->dgamma = STN_ARENA_ZEROED(p->island, (size_t)own->columns * rows + 1, double);
    return own->dv != NULL && own->dgamma != NULL ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "out of memory");
}

// --------------------------------------------------------------------------------------------------- the solver

/// A workspace, the inverse, and the solver's memory of all constraints, empty.
static stn_status prepare(stn_predictor *p, stn_error *err) {
    const stn_instance *solver = stn_world_plugin(p->world, STN_KIND_SOLVER);
    const stn_solver_ops *ops = solver->desc->ops.solver;
    stn_status status = p->inverse != NULL ? STN_OK : stn_inverse_create(p->context, &p->inverse, err);
    if (status == STN_OK && p->workspace == NULL && STN_PLUGIN_HAS(ops, create_workspace)) {
        status = ops->create_workspace(solver->self, p->context, &p->workspace, err);
        p->workspace = status == STN_OK ? p->workspace : NULL;
    }
    const size_t each = (size_t)solver->desc->memory_per_constraint;
    const size_t size = each * (size_t)stn_world_observation(p->world)->problem->constraint_count;
    p->memory = size > 0 ? STN_ARENA_ZEROED(p->arena, size, unsigned char) : NULL;
    if (status == STN_OK && size > 0 && p->memory == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "solver memory of %zu bytes: out of memory", size);
    }
    return status;
}

/// What the solver was told when it solved the island, apart from its memory.
static stn_status make_control(stn_predictor *p, const stn_problem *problem, stn_solve_control *out, stn_error *err) {
    const stn_instance *solver = stn_world_plugin(p->world, STN_KIND_SOLVER);
    const stn_instance *factor = stn_world_plugin(p->world, STN_KIND_FACTOR);
    const stn_solver_ops *ops = solver->desc->ops.solver;
    const stn_solver_common *common = solver->common;
    const bool needs_delassus = (ops->needs & STN_NEEDS_DELASSUS) != 0;
    const bool needs_inverse = needs_delassus || (ops->needs & STN_NEEDS_INVERSE) != 0;
    stn_delassus *delassus = STN_ARENA(p->island, 1, stn_delassus);
    bool *singular = STN_ARENA_ZEROED(p->island, problem->tree_count, bool), some = false;
    if (delassus == NULL || singular == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    stn_status status = stn_inverse_factor(p->inverse, problem, err);
    for (int32_t t = 0; t < problem->tree_count && status == STN_OK; t++) {
        singular[t] = stn_inverse_singular(p->inverse, t) >= 0;
        some = some || singular[t];
    }
    if (status == STN_OK && needs_delassus && !some) {
        status = stn_delassus_build(p->inverse, problem, p->island, delassus, err);
    }
    *out = (stn_solve_control){
        .tolerance = common->tolerance,
        .absolute_tolerance = common->absolute_tolerance,
        .max_iterations = common->max_iterations,
        .context = p->context,
        .arena = p->island,
        .law = stn_solver_needs_law(ops) ? stn_world_observation(p->world)->law : NULL,
        .memory = p->memory,
        .inverse = needs_inverse && !some ? p->inverse : NULL,
        .delassus = needs_delassus && !some ? delassus : NULL,
        .factor = factor != NULL ? factor->desc->ops.factor : NULL,
        .factor_self = factor != NULL ? factor->self : NULL,
        .workspace = p->workspace,
        .singular = some ? singular : NULL,
    };
    return status;
}

/// Which object there is no derivative of: the first group of the island.
static void name_island(const stn_predictor *p, const part *island, stn_error *err) {
    const stn_model *model = stn_world_model(p->world);
    for (int32_t i = 0; i < model->body_count; i++) {
        const stn_body *body = &model->bodies[i];
        if (body->tree == island->problem.trees[0].source && body->group >= 0) {
            stn_error_prefix(err, "island of %s", model->groups[body->group].name);
            return;
        }
    }
}

/// dv and unique of the columns of one island.
static stn_status ask_solver(stn_predictor *p, const part *island, stn_error *err) {
    const stn_observation *o = stn_world_observation(p->world);
    const stn_instance *solver = stn_world_plugin(p->world, STN_KIND_SOLVER);
    const stn_problem *problem = &island->problem;
    const stn_sensitivity *s = &island->sensitivity;
    double *v = STN_ARENA(p->island, problem->nv + 1, double);
    double *gamma = STN_ARENA(p->island, problem->row_count + 1, double);
    if (v == NULL || gamma == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    gather_dofs(island, o->problem, o->solution_v, v);
    gather_rows(island, o->problem, o->gamma, gamma);
    stn_solve_control control;
    stn_status status = make_control(p, problem, &control, err);
    if (status == STN_OK) {
        const stn_solution solution = {.v = v, .gamma = gamma};
        status = solver->desc->ops.solver->differentiate(solver->self, problem, &control, &solution, s, err);
    }
    for (size_t i = 0; i < (size_t)s->columns * (size_t)problem->nv && status >= STN_OK; i++) {
        if (!isfinite(s->dv[i])) {
            status =
                stn_fail(err, STN_ERR_NUMERIC, "solver %s: a derivative came out as %g", solver->desc->id, s->dv[i]);
        }
    }
    return status;
}

/// Island i of `islands`.
static stn_status differentiate_island(stn_predictor *p, const stn_islands *islands, int32_t i,
                                       const stn_sensitivity *columns, stn_error *err) {
    const stn_problem *whole = stn_world_observation(p->world)->problem;
    part island = {.tree = islands->tree + islands->tree_start[i],
                   .constraint = islands->constraint + islands->constraint_start[i]};
    bool unique = true;
    stn_arena_reset(p->island);
    stn_problem compact;
    stn_status status = stn_problem_island(whole, islands, i, p->island, &compact, err);
    if (status == STN_OK && !stn_problem_expand(&compact, p->island, &island.problem)) {
        status = stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    status = status == STN_OK ? take_columns(p, whole, columns, &island, err) : status;
    if (status != STN_OK || island.sensitivity.columns == 0) {
        return status;
    }
    island.sensitivity.unique = &unique;
    status = ask_solver(p, &island, err);
    if (status < STN_OK) {
        if (status == STN_ERR_NUMERIC && whole->tree_count > island.problem.tree_count) {
            name_island(p, &island, err);
        }
        return status;
    }
    *columns->unique = *columns->unique && unique;
    for (int32_t k = 0; k < island.sensitivity.columns; k++) {
        scatter_dofs(&island, whole, island.sensitivity.dv + (size_t)k * (size_t)island.problem.nv,
                     columns->dv + (size_t)island.column[k] * (size_t)whole->nv);
    }
    return STN_OK;
}

/// Each tree that is in no island as one.
static stn_status list_single_trees(stn_predictor *p, const stn_islands *islands, stn_islands *out, stn_error *err) {
    const int32_t count = stn_world_observation(p->world)->problem->tree_count;
    int32_t *tree = STN_ARENA(p->arena, count + 1, int32_t), *start = STN_ARENA(p->arena, count + 1, int32_t);
    int32_t *zeros = STN_ARENA_ZEROED(p->arena, count + 1, int32_t);
    *out = (stn_islands){
        .tree_start = start, .tree = tree, .tree_position = zeros, .constraint_start = zeros, .constraint = zeros};
    if (tree == NULL || start == NULL || zeros == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    for (int32_t t = 0; t < count; t++) {
        if (islands->tree_position[t] < 0) {
            tree[out->count++] = t;
        }
    }
    for (int32_t i = 0; i <= out->count; i++) {
        start[i] = i;
    }
    return STN_OK;
}

stn_status stn_predict_sensitivity(stn_predictor *p, const stn_sensitivity *columns, stn_error *err) {
    stn_islands islands, single;
    stn_status status = prepare(p, err);
    status = status == STN_OK ? stn_problem_islands(stn_world_observation(p->world)->problem, p->arena, &islands, err)
                              : status;
    status = status == STN_OK ? list_single_trees(p, &islands, &single, err) : status;
    *columns->unique = true;
    for (int32_t i = 0; status == STN_OK && i < islands.count; i++) {
        status = differentiate_island(p, &islands, i, columns, err);
    }
    for (int32_t i = 0; status == STN_OK && i < single.count; i++) {
        status = differentiate_island(p, &single, i, columns, err);
    }
    return status;
}
