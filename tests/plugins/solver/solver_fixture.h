// SPDX-License-Identifier: Apache-2.0
// For tests of a solver on the problems of multicontact.h: what is created, and what the last solve gave. The solver
// and the law belong to the test that makes them.
#ifndef STN_TEST_SOLVER_FIXTURE_H
#define STN_TEST_SOLVER_FIXTURE_H

#include <stiction/solve.h>

#include "multicontact.h"

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

#endif
