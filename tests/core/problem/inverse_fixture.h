// SPDX-License-Identifier: Apache-2.0
// For tests of what needs A^-1: a context, an inverse and an arena for each group of tests.
#ifndef STN_TEST_INVERSE_FIXTURE_H
#define STN_TEST_INVERSE_FIXTURE_H

#include <stdlib.h>

#include "stn_test.h"

#include <stiction/delassus.h>

typedef struct fixture {
    stn_context *context;
    stn_inverse *inverse;
    stn_arena *arena;
    stn_error err;
} fixture;

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    stn_context_create(NULL, &f->context, &f->err);
    stn_inverse_create(f->context, &f->inverse, &f->err);
    f->arena = stn_arena_create(f->context);
    *state = f;
    return f->arena == NULL;
}

static int teardown(void **state) {
    fixture *f = *state;
    stn_inverse_destroy(f->inverse);
    stn_arena_destroy(f->arena);
    stn_context_destroy(f->context);
    free(f);
    return 0;
}

#endif
