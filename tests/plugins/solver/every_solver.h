// SPDX-License-Identifier: Apache-2.0
// Every solver in every way in which it solves a contact, for tests of what all of them promise.
#ifndef STN_TEST_EVERY_SOLVER_H
#define STN_TEST_EVERY_SOLVER_H

#include "solver_fixture.h"

typedef struct solver_way {
    const char *id, *setting, *value; // one choice, NULL: as it is
    const char *law;                  // NULL: none
} solver_way;

static const solver_way every_way[] = {
    {"sap", NULL, NULL, "sap"},
    {"sap", "line_search", "armijo", "sap"},
    {"sap", "factorization", "block", "sap"},
    {"sap", "factorization", "iterative", "sap"},
    {"bisection", "local", "coulomb", NULL},
    {"bisection", "local", "ccp", NULL},
    {"bisection", "local", "bisection", NULL},
    {"bisection", "local", "golden", NULL},
    {"bisection", "local", "quartic", NULL},
    {"nsgs", NULL, NULL, NULL},
    {"pgs", "friction", "disc", NULL},
    {"pgs", "friction", "pyramid", NULL},
    {"apgd", NULL, NULL, "sap"},
    {"apgd", NULL, NULL, NULL},
    {"admm", NULL, NULL, "sap"},
    {"admm_ncp", NULL, NULL, NULL},
    {"admm_split", NULL, NULL, "sap"},
    {"admm_split_ncp", NULL, NULL, NULL},
    {"ipm", NULL, NULL, "sap"},
    {"ipm", NULL, NULL, NULL},
    {"lemke", NULL, NULL, NULL},
    {"qp", NULL, NULL, NULL},
    {"qp", "impulses", "vertex", NULL},
    {"qp", "method", "interior_point", NULL},
    {"newton_ncp", NULL, NULL, NULL},
    {"auto", NULL, NULL, NULL},
    {"auto_convex", NULL, NULL, "sap"},
    {"cond", NULL, NULL, NULL},
    {"cond", "acceleration", "chebyshev", NULL},
    {"cond", "step_size", "barzilai_borwein", NULL},
    {"cond_proximal", NULL, NULL, "sap"},
    {"cond_proximal", NULL, NULL, NULL},
};

/// The solver of `way` with at most `most` iterations; `leave` gives it back.
static inline void choose_way(fixture *f, const solver_way *way, double most) {
    const stn_setting settings[] = {number_setting("max_iterations", most), text_setting(way->setting, way->value)};
    assert_ok(try_with(f, way->id, settings, way->setting != NULL ? 2 : 1, way->law), f->err);
}

#endif
