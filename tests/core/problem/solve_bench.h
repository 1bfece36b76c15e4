// SPDX-License-Identifier: Apache-2.0
// Fake solvers that show what a plugin is given, and a bench on which a problem solver runs.
#ifndef STN_SOLVE_BENCH_H
#define STN_SOLVE_BENCH_H

#include <pthread.h>
#include <time.h>

#include <stiction/solve.h>

#include "full_problem.h"
#include "stn_heap.h"
#include "stn_test.h"

// ------------------------------------------------------------------------------------------------------ fake solvers

/// What the fakes are told and what they saw; one test at a time.
typedef struct fake_state {
    stn_status status[64]; // by the first constraint's id - 1000
    int32_t calls;
    bool spoil; // gives NaN
    bool saw_threads, saw_law, saw_inverse, saw_delassus, saw_workspace;
    int32_t workspaces;
    pthread_t slow;            // this thread waits 2 ms in each solve
    bool slow_others;          // all but `slow` wait
    const void *workspace[64]; // that each island was given, by its first constraint's id - 1000
} fake_state;

static fake_state fake;

static stn_status fake_workspace_create(void *self, stn_context *context, void **workspace, stn_error *err) {
    (void)self;
    *workspace = stn_allocate(context, 1, 16);
    if (*workspace == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "fake workspace: out of memory");
    }
    *(stn_context **)*workspace = context;
    fake.workspaces++;
    return STN_OK;
}

static void fake_workspace_destroy(void *workspace) {
    stn_context *context = *(stn_context **)workspace;
    stn_release(context, workspace);
    fake.workspaces--;
}

/// Keeps the warm start as its solution; iterations and cost come from the island's size.
static stn_status fake_solve(void *self, const stn_problem *problem, const stn_solve_control *control,
                             stn_solution *solution, stn_solve_info *info, stn_error *err) {
    (void)self;
    stn_status status = fake.status[problem->constraints[0].id - 1000];
    fake.calls++;
    fake.saw_threads = control->threads != NULL;
    fake.saw_law = control->law != NULL;
    fake.saw_inverse = control->inverse != NULL;
    fake.saw_delassus = control->delassus != NULL;
    fake.saw_workspace = control->workspace != NULL;
    fake.workspace[problem->constraints[0].id - 1000] = control->workspace;
    if (fake.slow != 0 && (pthread_equal(fake.slow, pthread_self()) != 0) != fake.slow_others) {
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    if (status < 0) {
        return stn_fail(err, status, "asked to fail at %d", (int)problem->constraints[0].id);
    }
    *info = (stn_solve_info){.iterations = problem->constraint_count, .cost = 0.5, .reason = "asked"};
    if (fake.spoil) {
        solution->v[0] = NAN;
    }
    return status;
}

static const stn_solver_ops velocity_ops = {
    .size = sizeof velocity_ops,
    .formulation = STN_REGULARIZED,
    .yields = STN_YIELDS_VELOCITY,
    .needs = STN_NEEDS_LAW,
    .sets = 1u << STN_SET_CONE | 1u << STN_SET_BOX | 1u << STN_SET_EQUALITY,
    .solve = fake_solve,
};
static const stn_plugin_desc velocity_solver = {
    .size = sizeof velocity_solver,
    .kind = STN_KIND_SOLVER,
    .id = "fake_velocity",
    .version = "1",
    .summary = "keeps the warm start",
    .ops.solver = &velocity_ops,
};
static const stn_solver_ops both_ops = {
    .size = sizeof both_ops,
    .formulation = STN_NCP,
    .yields = STN_YIELDS_BOTH,
    .sets = 1u << STN_SET_CONE | 1u << STN_SET_EQUALITY,
    .create_workspace = fake_workspace_create,
    .destroy_workspace = fake_workspace_destroy,
    .solve = fake_solve,
};
static const stn_plugin_desc both_solver = {
    .size = sizeof both_solver,
    .kind = STN_KIND_SOLVER,
    .id = "fake_both",
    .version = "1",
    .summary = "keeps the warm start",
    .memory_per_constraint = 8,
    .ops.solver = &both_ops,
};

/// Projected Gauss-Seidel on box and equality rows, v_c + R gamma = v_hat inside the bounds: yields impulses alone.
static stn_status pgs_solve(void *self, const stn_problem *problem, const stn_solve_control *control,
                            stn_solution *solution, stn_solve_info *info, stn_error *err) {
    (void)self;
    const stn_delassus *d = control->delassus;
    if (d == NULL || (problem->form == STN_FORM_GLOBAL && control->inverse == NULL)) {
        return stn_fail(err, STN_ERR_SEQUENCE, "no Delassus operator");
    }
    for (int32_t sweep = 0; sweep < 20000; sweep++) {
        for (int32_t i = 0; i < d->n; i++) {
            const stn_constraint *c = &problem->constraints[i];
            for (int32_t a = 0; a < c->rows; a++) {
                double v_c[STN_MAX_ROWS] = {0.0};
                int32_t r = c->row + a;
                stn_delassus_row_mul_add(d, i, solution->gamma, v_c);
                double W = stn_delassus_diagonal(d, i)[a * (c->rows + 1)] + problem->R[r];
                double left = problem->v_hat[r] - (v_c[a] + d->b[r] + problem->R[r] * solution->gamma[r]);
                solution->gamma[r] = fmin(fmax(solution->gamma[r] + left / W, problem->lo[r]), problem->hi[r]);
            }
        }
    }
    *info = (stn_solve_info){.iterations = 20000, .cost = NAN, .reason = "sweeps"};
    return STN_OK;
}

static const stn_solver_ops pgs_ops = {
    .size = sizeof pgs_ops,
    .formulation = STN_NCP,
    .yields = STN_YIELDS_IMPULSE,
    .needs = STN_NEEDS_DELASSUS,
    .sets = 1u << STN_SET_BOX | 1u << STN_SET_EQUALITY,
    .solve = pgs_solve,
};
static const stn_plugin_desc pgs_solver = {
    .size = sizeof pgs_solver,
    .kind = STN_KIND_SOLVER,
    .id = "fake_pgs",
    .version = "1",
    .summary = "projected Gauss-Seidel",
    .ops.solver = &pgs_ops,
};

// ---------------------------------------------------------------------------------------------------------- fixture

enum { MOST = 1024 };

typedef struct bench {
    stn_heap heap;
    stn_context *context;
    stn_instance *solver, *law;
    stn_threads *threads;
    stn_problem_solver *ps;
    double v[MOST], gamma[MOST];
    stn_solution solution;
    stn_solve_report report;
    stn_error err;
} bench;

static inline stn_status bench_open(bench *b, const char *id, int32_t threads) {
    stn_context_options options = stn_heap_options(&b->heap);
    *b = (bench){0};
    stn_heap_arm(&b->heap, 0);
    fake = (fake_state){0};
    b->solution = (stn_solution){.v = b->v, .gamma = b->gamma};
    assert_ok(stn_context_create(&options, &b->context, &b->err), b->err);
    assert_ok(stn_plugin_register(b->context, &velocity_solver, &b->err), b->err);
    assert_ok(stn_plugin_register(b->context, &both_solver, &b->err), b->err);
    assert_ok(stn_plugin_register(b->context, &pgs_solver, &b->err), b->err);
    const stn_setting tight = {.name = "tolerance", .form = STN_SETTING_NUMBER, .number = 1e-12, .where = "test"};
    assert_ok(stn_instance_create(b->context, STN_KIND_SOLVER, id, &tight, 1, &b->solver, &b->err), b->err);
    assert_ok(stn_instance_create(b->context, STN_KIND_LAW, "sap", NULL, 0, &b->law, &b->err), b->err);
    assert_ok(stn_threads_create(b->context, threads, &b->threads, &b->err), b->err);
    stn_problem_solver_options o = {b->solver, b->law, NULL, b->threads};
    return stn_problem_solver_create(b->context, &o, &b->ps, &b->err);
}

static inline void bench_close(bench *b) {
    stn_problem_solver_destroy(b->ps);
    stn_threads_destroy(b->threads);
    stn_instance_destroy(b->law);
    stn_instance_destroy(b->solver);
    stn_context_destroy(b->context);
    assert_int_equal(atomic_load(&b->heap.live), 0);
    assert_int_equal(fake.workspaces, 0);
}

static inline stn_status bench_solve(bench *b, stn_problem *problem, const stn_solve_request *request) {
    static const stn_solve_request plain = {.masses = true};
    return stn_problem_solve(b->ps, problem, request != NULL ? request : &plain, &b->solution, &b->report, NULL,
                             &b->err);
}

/// `pairs` islands of two bodies that touch each other and the ground, and one free body at the end; the sets vary.
static sample *pairs_sample(uint64_t seed, int32_t pairs) {
    stn_random r = {seed};
    sample *s = sample_create();
    for (int32_t i = 0; i < pairs; i++) {
        int32_t a = sample_tree(s, &r, STN_MATRIX_DENSE, 6), c = sample_tree(s, &r, STN_MATRIX_DENSE, 3 + i);
        sample_constraint(s, &r, STN_SET_CONE, 3, a, 0, -1, 0);
        sample_constraint(s, &r, STN_SET_CONE, 3, c, 0, a, 0);
        sample_constraint(s, &r, i % 2 == 0 ? STN_SET_BOX : STN_SET_EQUALITY, 1, c, 0, -1, 0);
    }
    sample_tree(s, &r, STN_MATRIX_DENSE, 6);
    sample_finish(s, &r);
    for (int32_t i = 0; i < s->problem.constraint_count; i++) {
        stn_constraint *c = &s->constraints[i];
        c->phi0 = -1e-3;
        c->relaxation_time = 0.01;
        c->stiffness = i % 2 == 0 ? (double)INFINITY : 1e3;
        c->w = c->w_trace = NAN;
        c->memory = i;
    }
    return s;
}

/// The vector `from` (count numbers) `times` over, in the sample's memory.
static double *repeat(sample *s, const double *from, int32_t count, int32_t times) {
    double *to = sample_doubles(s, (size_t)(count * times), 0.0);
    for (int32_t k = 0; k < times; k++) {
        memcpy(to + k * count, from, (size_t)count * sizeof *to);
    }
    return to;
}

/// `times` copies of the sample's problem side by side: enough islands to keep several workers busy.
static void tile(sample *s, int32_t times) {
    stn_problem *p = &s->problem;
    stn_problem_tree *trees = (stn_problem_tree *)(void *)sample_doubles(
        s, (size_t)(p->tree_count * times) * sizeof *trees / sizeof(double) + 1, 0.0);
    stn_constraint *constraints = (stn_constraint *)(void *)sample_doubles(
        s, (size_t)(p->constraint_count * times) * sizeof *constraints / sizeof(double) + 1, 0.0);
    for (int32_t k = 0; k < times; k++) {
        for (int32_t t = 0; t < p->tree_count; t++) {
            trees[k * p->tree_count + t] = p->trees[t];
            trees[k * p->tree_count + t].dof_start += k * p->nv;
        }
        for (int32_t i = 0; i < p->constraint_count; i++) {
            stn_constraint *c = &constraints[k * p->constraint_count + i];
            *c = p->constraints[i];
            c->id += (uint64_t)(k * p->constraint_count);
            c->row += k * p->row_count;
            c->J[0].tree += k * p->tree_count;
            c->J[1].tree += c->J[1].tree < 0 ? 0 : k * p->tree_count;
        }
    }
    double **dofs[] = {&p->v0, &p->v_star, &p->v_guess};
    double **rows[] = {&p->bias, &p->lo, &p->hi, &p->R, &p->v_hat, &p->gamma_guess};
    for (int32_t k = 0; k < STN_COUNT(dofs); k++) {
        *dofs[k] = repeat(s, *dofs[k], p->nv, times);
    }
    for (int32_t k = 0; k < STN_COUNT(rows); k++) {
        *rows[k] = repeat(s, *rows[k], p->row_count, times);
    }
    p->trees = trees;
    p->constraints = constraints;
    p->tree_count *= times;
    p->constraint_count *= times;
    p->nv *= times;
    p->row_count *= times;
}

#endif
