// SPDX-License-Identifier: Apache-2.0
// See proximal_dual.h.
#include "common/proximal_dual.h"

#include <math.h>
#include <string.h>

#include "common/proximal.h"
#include "common/symbolic_cache.h"

/// delta: a centre is worth a solve, and a smaller one takes digits.
#define DUAL_SHARE 1e-3

typedef struct dual {
    proximal_dual_solver solve;
    void *self;
    const stn_problem *problem;
    const stn_solve_control *control;
    stn_solution *solution;
    stn_solve_info *info;
    stn_problem regular; // its v_star is x, its free_impulse A (v_star - x) + f
    stn_delassus delassus;
    symbolic_cache_room room; // the inverse is that of P, the arena is reset for each centre
    double *b, *speed;        // (row_count) b of the delassus; the least speed that bounds force on a row
    double *none;             // (row_count) zeros
    double *free;             // (nv) of proximal_free_speeds
    stn_status last;          // of `solve`
    proximal points;
} dual;

// ------------------------------------------------------------------------------------------------------------- set-up

/// P of a tree in the form of A, or a diagonal where A is zero.
static bool add_weight(const dual *d, int32_t t, const double *weight) {
    stn_problem_tree *tree = &d->regular.trees[t];
    stn_matrix *P = &tree->A;
    const stn_matrix A = *P, D = {.n = A.n, .form = STN_MATRIX_DIAGONAL, .values = (double *)(uintptr_t)weight};
    P->form = A.form == STN_MATRIX_ZERO ? STN_MATRIX_DIAGONAL : A.form;
    P->values = STN_ARENA_ZEROED(d->control->arena, stn_matrix_value_count(P) + 1, double);
    if (P->values == NULL) {
        return false;
    }
    if (A.form != STN_MATRIX_ZERO) {
        memcpy(P->values, A.values, (size_t)stn_matrix_value_count(&A) * sizeof(double));
    }
    return stn_matrix_add_scaled(P, 1.0, &D) == STN_OK;
}

/// |W gamma| of the least impulses within bounds: none where 0 is among them.
static void find_forced_speeds(dual *d) {
    const stn_problem *p = d->problem;
    double *least = d->b;
    for (int32_t r = 0; r < p->row_count; r++) {
        least[r] = p->lo[r] > 0.0 ? p->lo[r] : fmin(p->hi[r], 0.0);
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        stn_delassus_row_mul_add(&d->delassus, i, least, d->speed + p->constraints[i].row);
    }
    for (int32_t r = 0; r < p->row_count; r++) {
        d->speed[r] = fabs(d->speed[r]);
    }
}

static stn_status build(dual *d, const double *weight, stn_error *err) {
    const stn_problem *p = d->problem;
    stn_arena *arena = d->control->arena;
    d->regular = *p;
    d->regular.trees = STN_ARENA(arena, p->tree_count + 1, stn_problem_tree);
    d->regular.v_star = STN_ARENA(arena, p->nv + 1, double);
    d->regular.free_impulse = STN_ARENA_ZEROED(arena, p->nv + 1, double);
    d->b = STN_ARENA(arena, p->row_count + 1, double);
    d->speed = STN_ARENA_ZEROED(arena, p->row_count + 1, double);
    d->none = STN_ARENA_ZEROED(arena, p->row_count + 1, double);
    d->free = STN_ARENA(arena, p->nv + 1, double);
    bool good = d->regular.trees != NULL && d->regular.v_star != NULL && d->regular.free_impulse != NULL &&
                d->b != NULL && d->speed != NULL && d->none != NULL && d->free != NULL;
    for (int32_t t = 0; t < p->tree_count && good; t++) {
        d->regular.trees[t] = p->trees[t];
        good = !d->control->singular[t] || add_weight(d, t, weight + p->trees[t].dof_start);
    }
    if (!good) {
        return stn_fail(err, STN_ERR_MEMORY, "%d dofs, %d rows: out of memory", p->nv, p->row_count);
    }
    proximal_free_speeds(p, d->control->singular, d->free);
    memcpy(d->regular.v_star, p->v_star, (size_t)p->nv * sizeof *p->v_star);
    stn_status status = stn_inverse_factor(d->room.inverse, &d->regular, err);
    if (status == STN_OK) {
        status = stn_delassus_build(d->room.inverse, &d->regular, arena, &d->delassus, err);
    }
    if (status == STN_OK) {
        find_forced_speeds(d);
        d->delassus.b = d->b;
    }
    return status;
}

// ------------------------------------------------------------------------------------------------------------- centre

/// The problem about x.
static void centre(dual *d, const double *x) {
    const stn_problem *p = d->problem;
    double *f = d->regular.free_impulse, *v = d->solution->v;
    for (int32_t t = 0; t < p->tree_count; t++) { // v serves as v_star - x
        const stn_problem_tree *tree = &p->trees[t];
        for (int32_t k = tree->dof_start; k < tree->dof_start + tree->A.n; k++) {
            d->regular.v_star[k] = d->control->singular[t] ? x[k] : p->v_star[k];
            v[k] = p->v_star[k] - d->regular.v_star[k];
            f[k] = p->free_impulse != NULL ? p->free_impulse[k] : 0.0;
        }
        stn_matrix_mul_add(&tree->A, 1.0, v + tree->dof_start, f + tree->dof_start);
    }
    stn_inverse_velocity(d->room.inverse, &d->regular, d->none, v);
    stn_problem_contact_velocity(p, v, true, d->b);
}

/// What tolerances of speeds are to be multiplied with. `solve` takes them relative to those without impulses, |b| of
/// P, which grow as delta falls and with x; meant are DUAL_SHARE of what f makes of P, and speeds that are there:
/// v_hat, biases, those of v_star where A is regular.
static double find_share(const dual *d) {
    const stn_problem *p = d->problem;
    double all = 0.0, meant = 0.0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        double centre[STN_MAX_ROWS], star[STN_MAX_ROWS];
        stn_constraint_velocity(p, c, d->regular.v_star, centre);
        stn_constraint_velocity(p, c, d->free, star);
        for (int32_t k = 0; k < c->rows; k++) {
            const int32_t r = c->row + k;
            const double pushed = fmax(fabs(d->b[r] - p->bias[r] - centre[k]), d->speed[r]);
            const double room =
                stn_constraint_has_cone(c) ? (double)INFINITY : c->w_trace / c->rows * (p->hi[r] - p->lo[r]);
            const double given = fmax(fmin(fabs(p->v_hat[r]), room), fmax(fabs(p->bias[r]), fabs(star[k])));
            all = fmax(all, fmax(fmax(fabs(d->b[r]), d->speed[r]), given));
            meant = fmax(meant, fmax(DUAL_SHARE * pushed, given));
        }
    }
    return meant < all ? meant / all : 1.0;
}

/// proximal.program.
static stn_status solve_about(void *self, const double *x, stn_error *err) {
    dual *d = self;
    centre(d, x);
    stn_arena_reset(d->room.arena);
    stn_solve_control control = *d->control;
    control.tolerance *= find_share(d);
    control.absolute_tolerance *= sqrt(DUAL_SHARE);
    control.max_iterations -= d->info->iterations;
    control.arena = d->room.arena;
    control.inverse = d->room.inverse;
    control.delassus = &d->delassus;
    control.singular = NULL;
    stn_solve_info info = {.cost = NAN, .reason = ""};
    d->last = d->solve(d->self, &d->regular, &control, d->solution, &info, err);
    d->info->iterations += info.iterations;
    d->info->factorizations += info.factorizations;
    d->info->line_search_evaluations += info.line_search_evaluations;
    d->info->reason = info.reason;
    d->points.vague = d->points.vague || d->info->iterations >= d->control->max_iterations;
    if (d->last < STN_OK) {
        return d->last;
    }
    stn_inverse_velocity(d->room.inverse, &d->regular, d->solution->gamma, d->solution->v);
    return d->last == STN_STALLED ? STN_OK : d->last; // as near as digits allow
}

stn_status proximal_dual_solve(proximal_dual_solver solve, void *self, const stn_problem *problem,
                               const stn_solve_control *control, stn_solution *solution, stn_solve_info *info,
                               stn_error *err) {
    dual d = {.solve = solve, .self = self, .problem = problem, .control = control, .solution = solution, .info = info};
    double *weight, *scale = STN_ARENA(control->arena, problem->nv + 1, double);
    double *work = STN_ARENA(control->arena, 3 * (size_t)problem->nv + 1, double);
    *info = (stn_solve_info){.cost = NAN, .reason = ""};
    if (scale == NULL || work == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d dofs: out of memory", problem->nv);
    }
    stn_status status = proximal_weights(problem, control, DUAL_SHARE, &weight, err);
    if (status == STN_OK) {
        status = symbolic_cache_take(control->workspace, &d.room, err);
    }
    if (status == STN_OK) {
        status = build(&d, weight, err);
    }
    if (status != STN_OK) {
        return status;
    }
    proximal_scale(problem, scale);
    d.points = (proximal){.problem = problem,
                          .control = control,
                          .weight = weight,
                          .scale = scale,
                          .solution = solution,
                          .program = solve_about,
                          .self = &d};
    status = proximal_solve(&d.points, err);
    info->reason = d.points.reason != NULL ? d.points.reason : info->reason;
    if (status != STN_OK || d.last != STN_OK) {
        return status != STN_OK ? status : d.last;
    }
    const double off = stn_problem_imbalance(problem, control->singular, solution->v, solution->gamma, work);
    info->reason = off <= control->tolerance ? info->reason : "stagnation";
    return off <= control->tolerance ? STN_OK : off <= 1e3 * control->tolerance ? STN_STALLED : STN_NOT_CONVERGED;
}
