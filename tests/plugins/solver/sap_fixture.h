// SPDX-License-Identifier: Apache-2.0
// What the tests of the solver sap share: law, solver and workspace, and one call to solve a problem.
#ifndef SAP_FIXTURE_H
#define SAP_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include <stiction/plugin.h>

#include "stn_scene.h"
#include "stn_test.h"

typedef struct fixture {
    stn_context *context;
    stn_instance *law_instance, *solver;
    stn_law law;
    stn_inverse *inverse;
    stn_arena *arena;
    void *workspace;
    double tolerance, absolute_tolerance;
    int32_t max_iterations;
    const stn_instance *factor;
    stn_threads *threads;
    scene scene;
    stn_error err;
} fixture;

/// Chooses the solver again with one setting by name; NULL: none.
static void fixture_choose(fixture *f, const char *name, const char *value) {
    stn_setting setting = {name, STN_SETTING_TEXT, 0.0, value, "test"};
    if (f->solver != NULL) {
        f->solver->desc->ops.solver->destroy_workspace(f->workspace);
        stn_instance_destroy(f->solver);
    }
    assert_ok(
        stn_instance_create(f->context, STN_KIND_SOLVER, "sap", &setting, name == NULL ? 0 : 1, &f->solver, &f->err),
        f->err);
    assert_ok(f->solver->desc->ops.solver->create_workspace(f->solver->self, f->context, &f->workspace, &f->err),
              f->err);
}

static void fixture_begin(fixture *f, const stn_context_options *options) {
    *f = (fixture){.tolerance = 1e-10, .absolute_tolerance = 1e-14, .max_iterations = 100};
    assert_ok(stn_context_create(options, &f->context, &f->err), f->err);
    assert_ok(stn_instance_create(f->context, STN_KIND_LAW, "sap", NULL, 0, &f->law_instance, &f->err), f->err);
    f->law = (stn_law){.ops = f->law_instance->desc->ops.law, .self = f->law_instance->self, .id = "sap"};
    assert_ok(stn_inverse_create(f->context, &f->inverse, &f->err), f->err);
    f->arena = stn_arena_create(f->context);
    fixture_choose(f, NULL, NULL);
}

static void fixture_end(fixture *f) {
    f->solver->desc->ops.solver->destroy_workspace(f->workspace);
    stn_arena_destroy(f->arena);
    stn_inverse_destroy(f->inverse);
    stn_instance_destroy(f->solver);
    stn_instance_destroy(f->law_instance);
    stn_context_destroy(f->context);
}

/// w, R and v_hat of all constraints, as the core derives them before a solve.
static void fixture_derive(fixture *f, stn_problem *p) {
    assert_ok(stn_inverse_factor(f->inverse, p, &f->err), f->err);
    assert_ok(stn_inverse_masses(f->inverse, p, f->arena, &f->err), f->err);
    stn_arena_reset(f->arena);
    stn_problem_regularize(p);
    f->law.ops->regularize(f->law.self, p);
}

static stn_status fixture_solve(fixture *f, const stn_problem *p, double *v, double *gamma, stn_solve_info *info) {
    stn_solve_control control = {.tolerance = f->tolerance,
                                 .absolute_tolerance = f->absolute_tolerance,
                                 .max_iterations = f->max_iterations,
                                 .context = f->context,
                                 .arena = f->arena,
                                 .threads = f->threads,
                                 .law = &f->law,
                                 .workspace = f->workspace};
    if (f->factor != NULL) {
        control.factor = f->factor->desc->ops.factor;
        control.factor_self = f->factor->self;
    }
    stn_solution solution = {.v = v, .gamma = gamma};
    stn_status status = f->solver->desc->ops.solver->solve(f->solver->self, p, &control, &solution, info, &f->err);
    stn_arena_reset(f->arena);
    return status;
}

enum { MAX_ROWS = 1024 };
static const double unit_rows[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};

/// A point of mass 2 kg on a floor: R_t = 0.01, R_n = 0.02 1/kg, v_hat_n = 0.1 m/s, mu = 0.5.
static inline stn_problem *make_point(fixture *f, double vx, double vy, double vz) {
    static const double A[9] = {2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0};
    scene_tree(&f->scene, 3, A);
    scene_constraint(&f->scene, 3, 0, unit_rows, -1, NULL);
    stn_problem *p = scene_finish(&f->scene);
    p->R[0] = p->R[1] = 0.01;
    p->R[2] = 0.02;
    p->v_hat[2] = 0.1;
    p->v_star[0] = vx;
    p->v_star[1] = vy;
    p->v_star[2] = vz;
    return p;
}

static inline int setup(void **state) {
    static fixture f;
    fixture_begin(&f, NULL);
    scene_begin(&f.scene, f.context, 11);
    *state = &f;
    return 0;
}

static inline int teardown(void **state) {
    fixture *f = *state;
    scene_end(&f->scene);
    fixture_end(f);
    return 0;
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
