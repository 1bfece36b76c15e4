// SPDX-License-Identifier: Apache-2.0
// For tests of a solver on the problems of multicontact.h: what is created, and what the last solve gave. The solver
// and the law belong to the test that makes them.
#ifndef STN_TEST_SOLVER_FIXTURE_H
#define STN_TEST_SOLVER_FIXTURE_H

#include <string.h>

#include <stiction/solve.h>

#include "multicontact.h"
#include "stn_setting.h"

typedef struct fixture {
    stn_context *context;
    stn_instance *solver, *law;
    stn_problem_solver *problem_solver;
    double v[MULTICONTACT_MOST], gamma[MULTICONTACT_MOST];
    stn_solve_report report;
    stn_certificate certificate;
    stn_error err;
} fixture;

static int setup(void **state) {
    static fixture f;
    f = (fixture){0};
    *state = &f;
    return stn_context_create(NULL, &f.context, &f.err);
}

static int teardown(void **state) {
    fixture *f = *state;
    stn_context_destroy(f->context);
    return 0;
}

/// The solver `id` with settings and, unless NULL, a law; a problem solver around them. `leave` gives all back.
static inline stn_status try_with(fixture *f, const char *id, const stn_setting *settings, int32_t count,
                                  const char *law) {
    stn_status status = stn_instance_create(f->context, STN_KIND_SOLVER, id, settings, count, &f->solver, &f->err);
    if (status == STN_OK && law != NULL) {
        status = stn_instance_create(f->context, STN_KIND_LAW, law, NULL, 0, &f->law, &f->err);
    }
    const stn_problem_solver_options options = {.solver = f->solver, .law = f->law};
    return status == STN_OK ? stn_problem_solver_create(f->context, &options, &f->problem_solver, &f->err) : status;
}

static inline void choose_with(fixture *f, const char *id, const stn_setting *settings, int32_t count) {
    assert_ok(try_with(f, id, settings, count, NULL), f->err);
}

static inline void leave(fixture *f) {
    stn_problem_solver_destroy(f->problem_solver);
    stn_instance_destroy(f->law);
    stn_instance_destroy(f->solver);
    f->law = NULL;
}

/// Zeroed memory of the solver for a problem, NULL where it keeps none. One block serves all.
static inline void *empty_memory(const fixture *f, const stn_problem *problem) {
    static char memory[1 << 20];
    const size_t bytes = (size_t)problem->constraint_count * (size_t)f->solver->desc->memory_per_constraint;
    assert_true(bytes <= sizeof memory);
    memset(memory, 0, bytes);
    return f->solver->desc->memory_per_constraint > 0 ? memory : NULL;
}

/// Solves a copy of the problem, inverse masses computed anew, from its own start.
static inline stn_status solve_into(fixture *f, const stn_problem *problem, uint32_t certificate_flags, double *v,
                                    double *gamma) {
    stn_problem p = *problem;
    const stn_solve_request request = {
        .masses = true, .certificate_flags = certificate_flags, .solver_memory = empty_memory(f, problem)};
    stn_solution solution = {.v = v, .gamma = gamma};
    return stn_problem_solve(f->problem_solver, &p, &request, &solution, &f->report, &f->certificate, &f->err);
}

static inline stn_status solve(fixture *f, const stn_problem *problem) {
    return solve_into(f, problem, 0, f->v, f->gamma);
}

#endif
