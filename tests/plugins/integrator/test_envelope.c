// SPDX-License-Identifier: Apache-2.0
// The factor by envelope against plain elimination, of nodal matrices of any node size and pattern.
#include <string.h>

#include <stiction/stiction.h>

#include "envelope.h"
#include "sample_problem.h"
#include "stn_test.h"

static void solutions_are_those_of_gaussian_elimination(void **state) {
    (void)state;
    static const int32_t sizes[] = {1, 2, 3, 4, 6, 12};
    stn_context *context = NULL;
    stn_error err;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    stn_arena *arena = stn_arena_create(context);
    for (int32_t k = 0; k < STN_COUNT(sizes); k++) {
        stn_random r = {11 + (uint64_t)k};
        sample *s = sample_create();
        s->node_size = sizes[k];
        sample_tree(s, &r, STN_MATRIX_NODAL, 5 * sizes[k]);
        const stn_matrix *a = &s->trees[0].A;
        double *dense = sample_dense_A(&s->problem), x[60], y[60];
        for (int32_t i = 0; i < a->n; i++) {
            x[i] = y[i] = random_real(&r);
        }
        envelope e;
        assert_true(envelope_create(a, arena, &e));
        assert_int_equal(envelope_factor(&e, a), -1);
        envelope_solve(&e, x);
        plain_solve(a->n, dense, y);
        for (int32_t i = 0; i < a->n; i++) {
            assert_near(x[i], y[i], 1e-13);
        }
        const int32_t node = 3, diagonal = a->row_start[node] + 1; // of a path: left, itself, right
        a->values[sizes[k] * sizes[k] * diagonal] = -1.0;
        assert_int_equal(envelope_factor(&e, a), node * sizes[k]);
        free(dense);
        sample_clear(s);
    }
    stn_arena_destroy(arena);
    stn_context_destroy(context);
}

/// Pattern of a ring: the last node is joined to the first, so that its row begins there.
static void a_ring_fills_its_last_rows(void **state) {
    (void)state;
    static int32_t row_start[] = {0, 3, 6, 9, 12}, column[] = {0, 1, 3, 0, 1, 2, 1, 2, 3, 0, 2, 3};
    double values[12], dense[16] = {0.0}, x[4] = {1.0, -2.0, 0.5, 3.0}, y[4] = {1.0, -2.0, 0.5, 3.0};
    const stn_matrix a = {.n = 4,
                          .form = STN_MATRIX_NODAL,
                          .values = values,
                          .node_count = 4,
                          .node_size = 1,
                          .row_start = row_start,
                          .column = column};
    for (int32_t i = 0; i < 4; i++) {
        for (int32_t e = row_start[i]; e < row_start[i + 1]; e++) {
            values[e] = dense[4 * i + column[e]] = column[e] == i ? 4.0 : -1.0 - 0.1 * (i + column[e]);
        }
    }
    stn_context *context = NULL;
    stn_error err;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    stn_arena *arena = stn_arena_create(context);
    envelope e;
    assert_true(envelope_create(&a, arena, &e));
    assert_int_equal(envelope_factor(&e, &a), -1);
    envelope_solve(&e, x);
    plain_solve(4, dense, y);
    for (int32_t i = 0; i < 4; i++) {
        assert_near(x[i], y[i], 1e-13);
    }
    stn_arena_destroy(arena);
    stn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solutions_are_those_of_gaussian_elimination),
        cmocka_unit_test(a_ring_fills_its_last_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
