// SPDX-License-Identifier: Apache-2.0
#include "solver_guard.h"

#include <stdio.h>
#include <string.h>

enum { SPANS = 64 };

/// Bytes that a solver may read and must not write.
typedef struct span {
    const char *name;
    const void *start;
    size_t size;
    uint64_t hash;
} span;

typedef struct span_list {
    int32_t count;
    span items[SPANS];
} span_list;

static void add_span(span_list *list, const char *name, const void *start, size_t size) {
    if (start != NULL && size > 0 && list->count < SPANS) {
        list->items[list->count++] = (span){name, start, size, stn_hash(1, start, size)};
    }
}

/// Hash of all arrays that hang from trees, or from constraints.
static uint64_t hash_trees(const stn_problem *p) {
    uint64_t hash = 1;
    for (int32_t t = 0; t < p->tree_count; t++) {
        const stn_matrix *A = &p->trees[t].A;
        hash = stn_hash(hash, A->values, (size_t)stn_matrix_value_count(A) * sizeof(double));
    }
    return hash;
}

static uint64_t hash_jacobians(const stn_problem *p) {
    uint64_t hash = 1;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        for (int32_t k = 0; k < stn_constraint_block_count(c); k++) {
            const stn_jacobian *J = stn_constraint_block(c, k);
            if (J->tree >= 0) {
                hash = stn_hash(hash, J->values, (size_t)(c->rows * stn_jacobian_columns(p, J)) * sizeof(double));
            }
        }
    }
    return hash;
}

static span_list spans_of(const stn_problem *p, const stn_solve_control *control) {
    span_list list = {0};
    size_t dofs = (size_t)p->nv * sizeof(double), rows = (size_t)p->row_count * sizeof(double);
    add_span(&list, "the problem itself", p, sizeof *p);
    add_span(&list, "control", control, sizeof *control);
    add_span(&list, "v0", p->v0, dofs);
    add_span(&list, "v_star", p->v_star, dofs);
    add_span(&list, "v_guess", p->v_guess, dofs);
    add_span(&list, "free_impulse", p->free_impulse, dofs);
    add_span(&list, "bias", p->bias, rows);
    add_span(&list, "lo", p->lo, rows);
    add_span(&list, "hi", p->hi, rows);
    add_span(&list, "R", p->R, rows);
    add_span(&list, "v_hat", p->v_hat, rows);
    add_span(&list, "gamma_guess", p->gamma_guess, rows);
    add_span(&list, "phi", p->phi, rows);
    add_span(&list, "constraints", p->constraints, (size_t)p->constraint_count * sizeof *p->constraints);
    add_span(&list, "trees", p->trees, (size_t)p->tree_count * sizeof *p->trees);
    const stn_delassus *d = control->delassus;
    if (d != NULL) {
        add_span(&list, "the Delassus operator's b", d->b, (size_t)d->rows * sizeof(double));
        int32_t blocks = d->row_start[d->n];
        const stn_constraint *last = blocks > 0 ? &p->constraints[d->column[blocks - 1]] : NULL;
        size_t end =
            blocks > 0 ? (size_t)d->offset[blocks - 1] + (size_t)(p->constraints[d->n - 1].rows * last->rows) : 0;
        add_span(&list, "the Delassus operator", d->values, end * sizeof(double));
    }
    return list;
}

typedef struct inputs {
    span_list spans;
    uint64_t trees, jacobians;
} inputs;

/// A solution's arrays, copied.
typedef struct answer {
    double *v, *gamma;
} answer;

static answer copy_solution(stn_arena *arena, const stn_problem *p, const stn_solution *from) {
    answer a = {STN_ARENA(arena, p->nv + 1, double), STN_ARENA(arena, p->row_count + 1, double)};
    if (a.v != NULL && p->nv > 0) {
        memcpy(a.v, from->v, (size_t)p->nv * sizeof(double));
    }
    if (a.gamma != NULL && p->row_count > 0) {
        memcpy(a.gamma, from->gamma, (size_t)p->row_count * sizeof(double));
    }
    return a;
}

static int32_t first_difference(int32_t n, const double *a, const double *b) {
    for (int32_t i = 0; i < n; i++) {
        if (memcmp(&a[i], &b[i], sizeof a[i]) != 0) {
            return i;
        }
    }
    return -1;
}

static int32_t first_not_finite(int32_t n, const double *a) {
    for (int32_t i = 0; i < n; i++) {
        if (!isfinite(a[i])) {
            return i;
        }
    }
    return -1;
}

static bool known_status(stn_status status) {
#define IS_STATUS(name, value, text) \
    if ((int)status == (value)) {    \
        return true;                 \
    }
    STN_STATUSES(IS_STATUS)
#undef IS_STATUS
    return false;
}

/// What the status and the info promise, against what is there.
static void check_word(solver_guard *g, const stn_problem *p, const stn_solve_control *control, const answer *before,
                       const stn_solution *after, stn_status status, const stn_solve_info *info, const stn_error *err) {
    char *text = g->broke_word;
    size_t size = sizeof g->broke_word;
    bool v_yielded = (g->ops.yields & STN_YIELDS_VELOCITY) != 0,
         gamma_yielded = (g->ops.yields & STN_YIELDS_IMPULSE) != 0;
    int32_t v_changed = first_difference(p->nv, before->v, after->v);
    int32_t gamma_changed = first_difference(p->row_count, before->gamma, after->gamma);
    if (text[0] != '\0') {
        return;
    }
    if (!known_status(status)) {
        snprintf(text, size, "call %d returned the unknown status %d", g->calls, (int)status);
    } else if (status < 0 && (v_changed >= 0 || gamma_changed >= 0)) {
        snprintf(text, size, "call %d failed (%s) and had changed %s[%d], expected outputs untouched", g->calls,
                 stn_status_text(status), v_changed >= 0 ? "v" : "gamma", v_changed >= 0 ? v_changed : gamma_changed);
    } else if (status < 0 && err->text[0] == '\0') {
        snprintf(text, size, "call %d failed (%s) without a text, expected one line", g->calls,
                 stn_status_text(status));
    } else if (status < 0) {
        return;
    } else if (!v_yielded && v_changed >= 0) {
        snprintf(text, size, "call %d changed v[%d], which it says it does not yield", g->calls, v_changed);
    } else if (!gamma_yielded && gamma_changed >= 0) {
        snprintf(text, size, "call %d changed gamma[%d], which it says it does not yield", g->calls, gamma_changed);
    } else if (first_not_finite(p->nv, after->v) >= 0 || first_not_finite(p->row_count, after->gamma) >= 0) {
        snprintf(text, size, "call %d returned '%s' with numbers that are not finite", g->calls,
                 stn_status_text(status));
    } else if (info->iterations < 0 || info->iterations > control->max_iterations) {
        snprintf(text, size, "call %d made %d iterations, max_iterations was %d", g->calls, info->iterations,
                 control->max_iterations);
    } else if (info->reason == NULL || info->reason[0] == '\0') {
        snprintf(text, size, "call %d gave no reason for stopping", g->calls);
    } else if (status != STN_NOT_CONVERGED && stn_plugin_says(g->inner, "approximate")) {
        snprintf(text, size, "call %d returned '%s', and the solver says that it is approximate: '%s' always", g->calls,
                 stn_status_text(status), stn_status_text(STN_NOT_CONVERGED));
    }
}

static void repeat(solver_guard *g, const stn_problem *p, const stn_solve_control *control, answer *start,
                   const stn_solution *first, stn_status status, const stn_solve_info *info) {
    stn_solve_info again = {.cost = (double)NAN, .reason = ""};
    // Once more, from the same start, with a fresh workspace and scratch memory of other content.
    enum { GARBAGE = 1 << 16 };
    stn_error err = {STN_OK, ""};
    stn_status second = STN_OK;
    void *workspace = NULL;
    stn_arena_reset(g->other_arena);
    void *garbage = stn_arena_allocate(g->other_arena, GARBAGE, 1);
    if (garbage != NULL) {
        memset(garbage, 0xa5, GARBAGE);
    }
    stn_arena_reset(g->other_arena);
    if (g->ops.create_workspace != NULL) {
        second = g->inner->desc->ops.solver->create_workspace(g->inner->self, g->context, &workspace, &err);
    }
    stn_solve_control other = *control;
    other.workspace = workspace;
    other.arena = g->other_arena;
    stn_solution solution = {.v = start->v, .gamma = start->gamma};
    if (second == STN_OK) {
        second = g->inner->desc->ops.solver->solve(g->inner->self, p, &other, &solution, &again, &err);
    }
    if (workspace != NULL) {
        g->ops.destroy_workspace(workspace);
    }
    int32_t v = first_difference(p->nv, first->v, start->v);
    int32_t gamma = first_difference(p->row_count, first->gamma, start->gamma);
    if (g->not_repeated[0] != '\0') {
        return;
    }
    if (second != status || again.iterations != info->iterations) {
        snprintf(g->not_repeated, sizeof g->not_repeated,
                 "call %d, made again with a fresh workspace: '%s' after %d iterations, first '%s' after %d", g->calls,
                 stn_status_text(second), again.iterations, stn_status_text(status), info->iterations);
    } else if (v >= 0 || gamma >= 0) {
        int32_t i = v >= 0 ? v : gamma;
        double x = v >= 0 ? first->v[i] : first->gamma[i], y = v >= 0 ? start->v[i] : start->gamma[i];
        snprintf(g->not_repeated, sizeof g->not_repeated,
                 "call %d, made again with a fresh workspace: %s[%d] = %.17g, first %.17g", g->calls,
                 v >= 0 ? "v" : "gamma", i, y, x);
    }
}

static stn_status watch(void *self, const stn_problem *problem, const stn_solve_control *control,
                        stn_solution *solution, stn_solve_info *info, stn_error *err) {
    solver_guard *g = self;
    g->calls++;
    stn_arena_reset(g->arena);
    answer start = copy_solution(g->arena, problem, solution), scratch = copy_solution(g->arena, problem, solution);
    if (start.v == NULL || start.gamma == NULL || scratch.v == NULL || scratch.gamma == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "guard: out of memory");
    }
    inputs before = {spans_of(problem, control), hash_trees(problem), hash_jacobians(problem)};
    stn_error own = {STN_OK, ""};
    stn_status status = g->inner->desc->ops.solver->solve(g->inner->self, problem, control, solution, info, &own);
    const char *what = NULL;
    for (int32_t i = 0; i < before.spans.count && what == NULL; i++) {
        const span *s = &before.spans.items[i];
        what = stn_hash(1, s->start, s->size) != s->hash ? s->name : NULL;
    }
    what = what == NULL && hash_trees(problem) != before.trees ? "A" : what;
    what = what == NULL && hash_jacobians(problem) != before.jacobians ? "a Jacobian" : what;
    if (what != NULL && g->changed_input[0] == '\0') {
        snprintf(g->changed_input, sizeof g->changed_input, "call %d changed its input: %s", g->calls, what);
    }
    check_word(g, problem, control, &start, solution, status, info, &own);
    if (control->memory == NULL) { // a solver with memory starts elsewhere the second time
        repeat(g, problem, control, &scratch, solution, status, info);
    }
    if (err != NULL) {
        *err = own;
    }
    return status;
}

static stn_status create_workspace(void *self, stn_context *context, void **workspace, stn_error *err) {
    solver_guard *g = self;
    return g->inner->desc->ops.solver->create_workspace(g->inner->self, context, workspace, err);
}

solver_guard *solver_guard_create(stn_context *context, const stn_instance *inner) {
    solver_guard *g = stn_allocate(context, 1, sizeof *g);
    if (g == NULL) {
        return NULL;
    }
    const stn_plugin_desc *desc = inner->desc;
    const stn_solver_ops *ops = desc->ops.solver;
    g->inner = inner;
    g->context = context;
    memcpy(&g->desc, desc, desc->size < sizeof g->desc ? desc->size : sizeof g->desc);
    memcpy(&g->ops, ops, ops->size < sizeof g->ops ? ops->size : sizeof g->ops);
    g->arena = stn_arena_create(context);
    g->other_arena = stn_arena_create(context);
    if (g->ops.create_workspace != NULL) {
        g->ops.create_workspace = create_workspace;
    }
    g->ops.solve = watch;
    g->desc.ops.solver = &g->ops;
    g->outer = *inner;
    g->outer.desc = &g->desc;
    g->outer.self = g;
    return g->arena != NULL && g->other_arena != NULL ? g : NULL;
}
