// SPDX-License-Identifier: Apache-2.0
// The core's factor back ends against Gaussian elimination and against each other.
#include "stn_test.h"

#include <stiction/factor.h>

#include "stn_blocks.h"
#include "stn_context.h"
#include "stn_heap.h"

static const stn_factor_ops *back_end(int32_t k) {
    return k == 0 ? stn_factor_dense() : stn_factor_block();
}

static void check_back_end(stn_context *context, const stn_factor_ops *ops, const blocks *b, stn_random *r) {
    enum { COLUMNS = 4 };
    stn_error err = {0};
    void *factor = NULL;
    size_t count = (size_t)b->n * COLUMNS;
    double *x = malloc((count + 1) * sizeof *x), *rhs = malloc((count + 1) * sizeof *rhs);
    for (size_t i = 0; i < count; i++) {
        x[i] = rhs[i] = random_real(r);
    }
    assert_ok(ops->symbolic(NULL, context, &b->matrix.pattern, &factor, &err), err);
    assert_ok(ops->numeric(factor, &b->matrix, &err), err);
    ops->solve(factor, COLUMNS, x);
    assert_true(blocks_residual(b, x, rhs, COLUMNS) < 1e-9); // conditions up to 1e4 here
    ops->release(factor);
    free(x);
    free(rhs);
}

static void random_patterns_of_mixed_blocks_are_solved(void **state) {
    static const int32_t sizes[] = {6, 3, 1, 7, 16, 23, 12, 2, 5, 4};
    stn_random r = {42};
    for (int32_t round = 0; round < 120; round++) {
        int32_t count = 1 + random_below(&r, round < 60 ? 8 : 40);
        int32_t size[40];
        bool adjacent[1600];
        double density = 0.5 * (1.0 + random_real(&r));
        for (int32_t i = 0; i < count; i++) {
            size[i] = round % 3 == 0 ? 6 : sizes[random_below(&r, STN_COUNT(sizes))];
        }
        for (int32_t i = 0; i < count * count; i++) {
            adjacent[i] = 0.5 * (1.0 + random_real(&r)) < density * density * density;
        }
        blocks b = blocks_create(count, size, adjacent);
        blocks_fill(&b, &r);
        for (int32_t k = 0; k < 2; k++) {
            check_back_end(*state, back_end(k), &b, &r);
        }
        blocks_clear(&b);
    }
}

static void heaps_of_bodies_are_solved(void **state) {
    stn_random r = {7};
    static bool adjacent[160 * 160];
    int32_t size[160];
    for (int32_t i = 0; i < 160; i++) {
        size[i] = 6;
    }
    for (int32_t layers = 1; layers <= 10; layers += 3) {
        blocks_heap(4, 4, layers, 0.8, &r, adjacent);
        blocks b = blocks_create(16 * layers, size, adjacent);
        blocks_fill(&b, &r);
        check_back_end(*state, stn_factor_block(), &b, &r);
        blocks_clear(&b);
    }
}

// Chains, stars, separate bodies and complete graphs: the extreme elimination trees.
static void extreme_graphs_are_solved(void **state) {
    enum { COUNT = 30 };
    stn_random r = {5};
    for (int32_t shape = 0; shape < 5; shape++) {
        bool adjacent[COUNT * COUNT] = {false};
        int32_t size[COUNT];
        for (int32_t i = 0; i < COUNT; i++) {
            size[i] = shape % 2 == 0 ? 6 : 3;
            for (int32_t j = 0; j < i; j++) {
                bool chain = i == j + 1, star = j == 0, end = i == COUNT - 1;
                adjacent[i * COUNT + j] = shape == 0   ? chain
                                          : shape == 1 ? star
                                          : shape == 2 ? false
                                          : shape == 3 ? true
                                                       : end;
            }
        }
        blocks b = blocks_create(COUNT, size, adjacent);
        blocks_fill(&b, &r);
        check_back_end(*state, stn_factor_block(), &b, &r);
        blocks_clear(&b);
    }
}

static void the_empty_matrix_is_solved(void **state) {
    bool adjacent = false;
    stn_random r = {1};
    blocks b = blocks_create(0, NULL, &adjacent);
    for (int32_t k = 0; k < 2; k++) {
        check_back_end(*state, back_end(k), &b, &r);
    }
    blocks_clear(&b);
}

static void only_the_lower_triangle_of_a_diagonal_block_is_read(void **state) {
    stn_random r = {3};
    bool adjacent[4] = {false, true, true, false};
    blocks b = blocks_create(2, (int32_t[]){6, 3}, adjacent);
    blocks_fill(&b, &r);
    for (int32_t k = 0; k < 2; k++) {
        double *block = b.matrix.values;
        block[1] = NAN; // row 0, column 1
        void *factor = NULL;
        assert_int_equal(back_end(k)->symbolic(NULL, *state, &b.matrix.pattern, &factor, NULL), STN_OK);
        assert_int_equal(back_end(k)->numeric(factor, &b.matrix, NULL), STN_OK);
        double x[9] = {1.0};
        back_end(k)->solve(factor, 1, x);
        assert_true(isfinite(x[8]));
        back_end(k)->release(factor);
    }
    blocks_clear(&b);
}

// A bad pivot anywhere is reported by the block it stands in, and the factor can be used again.
static void a_bad_pivot_is_named_by_its_block(void **state) {
    static const double bad[] = {0.0, -1.0, NAN, INFINITY};
    stn_random r = {9};
    bool adjacent[25];
    for (int32_t i = 0; i < 25; i++) {
        adjacent[i] = i % 3 != 0;
    }
    blocks b = blocks_create(5, (int32_t[]){6, 3, 1, 7, 6}, adjacent);
    const stn_block_pattern *p = &b.matrix.pattern;
    for (int32_t k = 0; k < 2; k++) {
        void *factor = NULL;
        assert_int_equal(back_end(k)->symbolic(NULL, *state, p, &factor, NULL), STN_OK);
        for (int32_t block = 0; block < 5; block++) {
            blocks_fill(&b, &r);
            for (int32_t e = 0; e < p->column_start[5]; e++) { // decouple everything: the pivot is the entry itself
                bool diagonal = false;
                for (int32_t j = 0; j < 5; j++) {
                    diagonal = diagonal || e == p->column_start[j];
                }
                for (int64_t i = b.offset[e]; i < b.offset[e + 1] && !diagonal; i++) {
                    b.matrix.values[i] = 0.0;
                }
            }
            double *pivot = b.matrix.values + b.offset[p->column_start[block]], good = *pivot;
            for (int32_t q = 0; q < STN_COUNT(bad); q++) {
                stn_error err = {0};
                char name[32];
                *pivot = bad[q];
                snprintf(name, sizeof name, "pivot 0 of block %d", block);
                assert_int_equal(back_end(k)->numeric(factor, &b.matrix, &err), STN_ERR_NUMERIC);
                assert_non_null(strstr(err.text, name));
            }
            *pivot = good;
            assert_int_equal(back_end(k)->numeric(factor, &b.matrix, NULL), STN_OK);
        }
        back_end(k)->release(factor);
    }
    blocks_clear(&b);
}

static void repeated_factorisations_allocate_nothing_and_agree_bit_for_bit(void **state) {
    stn_context *context = *state;
    stn_random r = {21};
    static bool adjacent[64 * 64];
    int32_t size[64];
    for (int32_t i = 0; i < 64; i++) {
        size[i] = 6;
    }
    blocks_heap(4, 4, 4, 0.8, &r, adjacent);
    blocks b = blocks_create(64, size, adjacent);
    blocks_fill(&b, &r);
    for (int32_t k = 0; k < 2; k++) {
        double first[384], x[384];
        void *factor = NULL;
        assert_int_equal(back_end(k)->symbolic(NULL, context, &b.matrix.pattern, &factor, NULL), STN_OK);
        int64_t before = stn_context_allocations(context);
        for (int32_t round = 0; round < 3; round++) {
            for (int32_t i = 0; i < 384; i++) {
                x[i] = 1.0 / (1.0 + i);
            }
            assert_int_equal(back_end(k)->numeric(factor, &b.matrix, NULL), STN_OK);
            back_end(k)->solve(factor, 1, x);
            if (round == 0) {
                memcpy(first, x, sizeof x);
            }
            assert_memory_equal(first, x, sizeof x);
        }
        assert_int_equal(stn_context_allocations(context), before);
        back_end(k)->release(factor);
    }
    blocks_clear(&b);
}

static void running_out_of_memory_is_an_error_and_leaks_nothing(void **state) {
    (void)state;
    stn_random r = {2};
    static bool adjacent[48 * 48];
    int32_t size[48];
    for (int32_t i = 0; i < 48; i++) {
        size[i] = 6;
    }
    blocks_heap(4, 4, 3, 0.9, &r, adjacent);
    blocks b = blocks_create(48, size, adjacent);
    for (int32_t k = 0; k < 2; k++) {
        stn_status status = STN_ERR_MEMORY;
        for (int32_t requests = 1; status != STN_OK; requests++) {
            stn_heap heap = {0};
            stn_context *context = stn_heap_context(&heap);
            void *factor = NULL;
            stn_heap_arm(&heap, requests);
            status = back_end(k)->symbolic(NULL, context, &b.matrix.pattern, &factor, NULL);
            assert_true(status == STN_OK || (status == STN_ERR_MEMORY && factor == NULL));
            back_end(k)->release(factor);
            stn_context_destroy(context);
            assert_int_equal(heap.live, 0);
            assert_true(requests < 100);
        }
    }
    blocks_clear(&b);
}

/// Factor and solution of one right-hand side, with so many threads (0: none given).
static void solve_by(stn_context *context, int32_t workers, const blocks *b, int32_t rounds, double *x) {
    stn_error err = {0};
    stn_threads *threads = NULL;
    void *factor = NULL;
    const stn_factor_ops *ops = stn_factor_block();
    assert_ok(stn_threads_create(context, workers > 0 ? workers : 1, &threads, &err), err);
    assert_ok(ops->symbolic(NULL, context, &b->matrix.pattern, &factor, &err), err);
    ops->use_threads(factor, workers > 0 ? threads : NULL);
    for (int32_t round = 0; round < rounds; round++) {
        for (int32_t i = 0; i < b->n; i++) {
            x[i] = x[b->n + i] = 1.0 / (1.0 + i);
        }
        assert_ok(ops->numeric(factor, &b->matrix, &err), err);
        ops->solve(factor, 2, x);
    }
    ops->release(factor);
    stn_threads_destroy(threads);
}

static void any_number_of_threads_gives_the_same_bits(void **state) {
    enum { MOST = 700 };
    static const int32_t sizes[] = {6, 3, 1, 7, 16, 12, 5};
    static bool adjacent[MOST * MOST];
    stn_random r = {31};
    for (int32_t round = 0; round < 6; round++) {
        int32_t size[MOST], count = round == 0 ? 20 : round == 5 ? 2 * 180 : 100 + 150 * round;
        memset(adjacent, 0, sizeof adjacent);
        if (round == 5) { // two heaps that do not touch
            static bool one[180 * 180];
            blocks_heap(6, 6, 5, 0.9, &r, one);
            for (int32_t i = 0; i < 180 * 180; i++) {
                adjacent[i / 180 * 360 + i % 180] = adjacent[(180 + i / 180) * 360 + 180 + i % 180] = one[i];
            }
        } else {
            blocks_heap(count / 10, 2, 5, 0.9, &r, adjacent);
        }
        for (int32_t i = 0; i < count; i++) {
            size[i] = round % 2 == 1 ? 6 : sizes[random_below(&r, STN_COUNT(sizes))];
        }
        blocks b = blocks_create(count, size, adjacent);
        blocks_fill(&b, &r);
        double *one = calloc(2 * (size_t)b.n, sizeof *one), *many = calloc(2 * (size_t)b.n, sizeof *many);
        solve_by(*state, 0, &b, 1, one);
        for (int32_t workers = 1; workers <= 4; workers++) {
            solve_by(*state, workers, &b, 20, many);
            assert_memory_equal(one, many, 2 * (size_t)b.n * sizeof *one);
        }
        free(one);
        free(many);
        blocks_clear(&b);
    }
}

// The block that is named is the one that fails first in the order of elimination, and memory does not grow.
static void threads_report_a_bad_pivot_as_one_does(void **state) {
    enum { COUNT = 320 };
    static bool adjacent[COUNT * COUNT];
    int32_t size[COUNT];
    stn_random r = {8};
    stn_error err = {0}, other = {0};
    stn_threads *threads = NULL;
    void *factor = NULL;
    const stn_factor_ops *ops = stn_factor_block();
    for (int32_t i = 0; i < COUNT; i++) {
        size[i] = 6;
    }
    blocks_heap(8, 4, 10, 0.9, &r, adjacent);
    blocks b = blocks_create(COUNT, size, adjacent);
    assert_ok(stn_threads_create(*state, 3, &threads, &err), err);
    assert_ok(ops->symbolic(NULL, *state, &b.matrix.pattern, &factor, &err), err);
    for (int32_t round = 0; round < 20; round++) {
        blocks_fill(&b, &r);
        for (int32_t k = 0; k < 3; k++) {
            b.matrix.values[b.offset[b.column_start[random_below(&r, COUNT)]]] = round % 2 == 0 ? -1.0 : (double)NAN;
        }
        ops->use_threads(factor, NULL);
        assert_int_equal(ops->numeric(factor, &b.matrix, &other), STN_ERR_NUMERIC);
        ops->use_threads(factor, threads);
        assert_int_equal(ops->numeric(factor, &b.matrix, &err), STN_ERR_NUMERIC);
        assert_string_equal(err.text, other.text);
    }
    blocks_fill(&b, &r);
    double *x = calloc((size_t)b.n, sizeof *x);
    const int64_t before = stn_context_allocations(*state);
    assert_ok(ops->numeric(factor, &b.matrix, &err), err);
    ops->solve(factor, 1, x);
    assert_int_equal(stn_context_allocations(*state), before);
    free(x);
    ops->release(factor);
    stn_threads_destroy(threads);
    blocks_clear(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_patterns_of_mixed_blocks_are_solved, make_context, drop_context),
        cmocka_unit_test_setup_teardown(heaps_of_bodies_are_solved, make_context, drop_context),
        cmocka_unit_test_setup_teardown(extreme_graphs_are_solved, make_context, drop_context),
        cmocka_unit_test_setup_teardown(the_empty_matrix_is_solved, make_context, drop_context),
        cmocka_unit_test_setup_teardown(only_the_lower_triangle_of_a_diagonal_block_is_read, make_context,
                                        drop_context),
        cmocka_unit_test_setup_teardown(a_bad_pivot_is_named_by_its_block, make_context, drop_context),
        cmocka_unit_test_setup_teardown(repeated_factorisations_allocate_nothing_and_agree_bit_for_bit, make_context,
                                        drop_context),
        cmocka_unit_test_setup_teardown(any_number_of_threads_gives_the_same_bits, make_context, drop_context),
        cmocka_unit_test_setup_teardown(threads_report_a_bad_pivot_as_one_does, make_context, drop_context),
        cmocka_unit_test_setup_teardown(running_out_of_memory_is_an_error_and_leaks_nothing, make_context,
                                        drop_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
