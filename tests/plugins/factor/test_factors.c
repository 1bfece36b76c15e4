// SPDX-License-Identifier: Apache-2.0
// Every factor plugin, reached by name, on the same matrices.
#include "stn_test.h"

#include <dirent.h>
#include <stdlib.h>

#include <stiction/plugin.h>

#include "stn_blocks.h"
#include "stn_context.h"

typedef struct variant {
    const char *id, *method; // NULL: no parameter
} variant;

static const variant variants[] = {
    {"dense", NULL}, {"block", NULL}, {"cholmod", NULL}, {"cholmod", "simplicial"}, {"cholmod", "supernodal"}};

// NULL where CHOLMOD was not there to build with.
static stn_instance *choose(stn_context *context, variant v) {
    stn_setting method = {.name = "method", .form = STN_SETTING_TEXT, .text = v.method, .where = "test"};
    stn_instance *instance = NULL;
    stn_error err = {0};
    stn_status status = stn_instance_create(context, STN_KIND_FACTOR, v.id, &method, v.method != NULL, &instance, &err);
    if (status == STN_ERR_PLUGIN && strcmp(v.id, "cholmod") == 0) {
        print_message("skipped: %s\n", err.text);
        return NULL;
    }
    assert_ok(status, err);
    return instance;
}

static void check(stn_context *context, stn_instance *f, const blocks *b, int32_t columns, stn_random *r) {
    const stn_factor_ops *ops = f->desc->ops.factor;
    size_t count = (size_t)b->n * (size_t)columns;
    double *x = malloc((count + 1) * sizeof *x), *rhs = malloc((count + 1) * sizeof *rhs);
    void *factor = NULL;
    stn_error err = {0};
    assert_ok(ops->symbolic(f->self, context, &b->matrix.pattern, &factor, &err), err);
    for (int32_t round = 0; round < 2; round++) { // the second time everything is there
        for (size_t i = 0; i < count; i++) {
            x[i] = rhs[i] = random_real(r);
        }
        assert_ok(ops->numeric(factor, &b->matrix, &err), err);
        ops->solve(factor, columns, x);
        assert_true(blocks_residual(b, x, rhs, columns) < 1e-9);
    }
    ops->release(factor);
    ops->release(NULL);
    free(x);
    free(rhs);
}

static void all_of_them_solve_mixed_blocks(void **state) {
    static const int32_t sizes[] = {6, 3, 1, 7, 16, 23};
    for (int32_t k = 0; k < STN_COUNT(variants); k++) {
        stn_random r = {11};
        stn_instance *f = choose(*state, variants[k]);
        for (int32_t round = 0; round < 25 && f != NULL; round++) {
            int32_t count = 1 + random_below(&r, 25), size[25];
            bool adjacent[625];
            for (int32_t i = 0; i < count; i++) {
                size[i] = sizes[random_below(&r, STN_COUNT(sizes))];
            }
            for (int32_t i = 0; i < count * count; i++) {
                adjacent[i] = random_real(&r) > 0.6;
            }
            blocks b = blocks_create(count, size, adjacent);
            blocks_fill(&b, &r);
            check(*state, f, &b, round % 4, &r);
            blocks_clear(&b);
        }
        stn_instance_destroy(f);
    }
}

static void bad_pivots_are_named_by_all_of_them(void **state) {
    static const double bad[] = {-1.0, 0.0, NAN, INFINITY};
    bool adjacent[9] = {false, false, true, false, false, false, true, false, false};
    for (int32_t k = 0; k < STN_COUNT(variants); k++) {
        stn_random r = {3};
        stn_instance *f = choose(*state, variants[k]);
        for (int32_t block = 0; block < 3 && f != NULL; block++) {
            for (int32_t q = 0; q < STN_COUNT(bad); q++) {
                blocks b = blocks_create(3, (int32_t[]){6, 3, 1}, adjacent);
                blocks_fill(&b, &r);
                int64_t place = b.offset[b.column_start[block]];
                for (int32_t i = 0; i < b.size[block] * b.size[block]; i++) {
                    b.matrix.values[place + i] = 0.0;
                }
                for (int32_t i = 0; i < b.size[block]; i++) {
                    b.matrix.values[place + i * (b.size[block] + 1)] = bad[q];
                }
                for (int64_t i = b.offset[1]; i < b.offset[2]; i++) { // the coupling
                    b.matrix.values[i] = 0.0;
                }
                stn_error err = {0};
                char name[32];
                void *factor = NULL;
                snprintf(name, sizeof name, "of block %d", block);
                const stn_factor_ops *ops = f->desc->ops.factor;
                assert_ok(ops->symbolic(f->self, *state, &b.matrix.pattern, &factor, &err), err);
                assert_int_equal(ops->numeric(factor, &b.matrix, &err), STN_ERR_NUMERIC);
                assert_non_null(strstr(err.text, name));
                ops->release(factor);
                blocks_clear(&b);
            }
        }
        stn_instance_destroy(f);
    }
}

static int32_t count_threads(void) {
    DIR *tasks = opendir("/proc/self/task");
    int32_t count = 0;
    for (struct dirent *e = tasks != NULL ? readdir(tasks) : NULL; e != NULL; e = readdir(tasks)) {
        count += e->d_name[0] != '.';
    }
    if (tasks != NULL) {
        closedir(tasks);
    }
    return count;
}

static void none_of_them_starts_threads(void **state) {
    enum { COUNT = 120 };
    static bool adjacent[COUNT * COUNT];
    int32_t size[COUNT];
    for (int32_t i = 0; i < COUNT; i++) {
        size[i] = 6;
    }
    stn_random r = {5};
    for (int32_t i = 0; i < COUNT;
         i++) { // a wide band: large supernodes one after the other, where CHOLMOD likes threads
        for (int32_t j = 0; j < COUNT; j++) {
            adjacent[i * COUNT + j] = abs(i - j) <= 40;
        }
    }
    blocks b = blocks_create(COUNT, size, adjacent);
    blocks_fill(&b, &r);
    for (int32_t k = 1; k < STN_COUNT(variants); k++) {
        stn_instance *f = choose(*state, variants[k]);
        if (f != NULL) {
            int32_t before = count_threads();
            check(*state, f, &b, 1, &r);
            assert_int_equal(count_threads(), before);
        }
        stn_instance_destroy(f);
    }
    blocks_clear(&b);
}

static void an_unknown_method_is_refused_with_the_list(void **state) {
    stn_setting method = {.name = "method", .form = STN_SETTING_TEXT, .text = "magic", .where = "test"};
    stn_instance *f = choose(*state, (variant){"cholmod", NULL});
    stn_error err = {0};
    if (f != NULL) {
        stn_instance *other = NULL;
        assert_int_equal(stn_instance_create(*state, STN_KIND_FACTOR, "cholmod", &method, 1, &other, &err),
                         STN_ERR_PARAMETER);
        assert_non_null(strstr(err.text, "simplicial"));
    }
    stn_instance_destroy(f);
}

int main(void) {
    unsetenv("OMP_THREAD_LIMIT"); // what the test runner sets would hide the threads that the plugin must not start
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(none_of_them_starts_threads, make_context, drop_context), // first: threads stay
        cmocka_unit_test_setup_teardown(all_of_them_solve_mixed_blocks, make_context, drop_context),
        cmocka_unit_test_setup_teardown(bad_pivots_are_named_by_all_of_them, make_context, drop_context),
        cmocka_unit_test_setup_teardown(an_unknown_method_is_refused_with_the_list, make_context, drop_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
