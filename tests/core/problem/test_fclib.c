// SPDX-License-Identifier: Apache-2.0
// FCLIB files, made here array by array: the local and the global form, what is refused, what is told.
#include <stdlib.h>
#include <string.h>

#include <stiction/certificate.h>
#include <stiction/delassus.h>
#include <stiction/solve.h>

#include "base/array_file.h"
#include "stn_test.h"

#define FILE_NAME STN_BINARY_DIR "/tests/fclib.hdf5"

typedef struct log_lines {
    char text[2048];
} log_lines;

static void keep_line(void *user, stn_log_level level, const char *text) {
    log_lines *lines = user;
    size_t used = strlen(lines->text);
    if (level >= STN_LOG_WARNING) {
        snprintf(lines->text + used, sizeof lines->text - used, "%s\n", text);
    }
}

static log_lines lines;

static int set_up(void **state) {
    const stn_context_options options = {.log = keep_line, .log_user = &lines};
    stn_error err;
    lines.text[0] = '\0';
    return stn_context_create(&options, (stn_context **)state, &err) == STN_OK ? 0 : 1;
}

static int tear_down(void **state) {
    stn_context_destroy(*state);
    remove(FILE_NAME);
    return 0;
}

// ------------------------------------------------------------------------------------------------------------ making

static void put_integer(array_builder *b, const char *name, int64_t value) {
    array_builder_add(b, name, ARRAY_WIRE_INTEGERS, &value, 1);
}

static void put_reals(array_builder *b, const char *name, const double *values, uint64_t count) {
    array_builder_add(b, name, ARRAY_WIRE_REALS, values, count);
}

/// A dense matrix by its entries: nz = -2 rows, -1 columns, 0 triplets (all of them stored, zeros too).
static void put_matrix(array_builder *b, const char *name, int32_t m, int32_t n, int storage, const double *dense) {
    char path[96];
    int64_t p[400], i[400];
    double x[400];
    int64_t count = (int64_t)m * n, lines_of = storage == -1 ? n : m;
    for (int64_t k = 0; k < count; k++) {
        int64_t row = storage == -1 ? k % m : k / n, column = storage == -1 ? k / m : k % n;
        x[k] = dense[row * n + column];
        i[k] = storage == -2 ? column : row;
        p[k] = column;
    }
    for (int64_t k = 0; k <= lines_of && storage < 0; k++) {
        p[k] = k * (storage == -1 ? m : n);
    }
    const struct {
        const char *part;
        int64_t value;
    } numbers[] = {{"m", m}, {"n", n}, {"nzmax", count}, {"nz", storage < 0 ? storage : count}};
    for (int32_t k = 0; k < STN_COUNT(numbers); k++) {
        snprintf(path, sizeof path, "%s/%s", name, numbers[k].part);
        put_integer(b, path, numbers[k].value);
    }
    snprintf(path, sizeof path, "%s/p", name);
    array_builder_add(b, path, ARRAY_WIRE_INTEGERS, p, (uint64_t)(storage < 0 ? lines_of + 1 : count));
    snprintf(path, sizeof path, "%s/i", name);
    array_builder_add(b, path, ARRAY_WIRE_INTEGERS, i, (uint64_t)count);
    snprintf(path, sizeof path, "%s/x", name);
    put_reals(b, path, x, (uint64_t)count);
}

static stn_problem_owner *load(stn_context *context) {
    stn_problem_owner *owner = NULL;
    stn_error err;
    assert_ok(stn_problem_load(context, FILE_NAME, &owner, &err), err);
    return owner;
}

static void write_arrays(array_builder *b) {
    stn_error err;
    assert_ok(array_builder_write(b, FILE_NAME, &err), err);
}

// ------------------------------------------------------------------------------------------------------------- local

// rows n, t1, t2; contact 1 by contact 2
static const double W[36] = {
    4, 1, 0.5, 1, 0, 0, /**/ 1, 3,   0.25, 0, 0.5, 0, /**/ 0.5, 0.25, 5,     0, 0, 0.125,
    1, 0, 0,   6, 1, 0, /**/ 0, 0.5, 0,    1, 7,   2, /**/ 0,   0,    0.125, 0, 2, 8,
};
static const double q[6] = {-1, -2, -3, -4, -5, -6}, mu[2] = {0.25, 0.75};

static void put_local(array_builder *b, int storage, const double *matrix) {
    put_integer(b, "fclib_local/spacedim", 3);
    put_matrix(b, "fclib_local/W", 6, 6, storage, matrix);
    put_reals(b, "fclib_local/vectors/q", q, 6);
    put_reals(b, "fclib_local/vectors/mu", mu, 2);
}

/// Row of a file that stands in row i here.
static int32_t row_of(int32_t i) {
    return i % 3 == 2 ? i - 2 : i + 1;
}

static void a_local_problem_comes_with_the_normal_last(void **state) {
    for (int storage = -2; storage <= 0; storage++) {
        array_builder b = {.context = *state};
        put_local(&b, storage, W);
        write_arrays(&b);
        stn_problem_owner *owner = load(*state);
        const stn_problem *p = stn_problem_of(owner);
        assert_true(p->form == STN_FORM_LOCAL && p->constraint_count == 2 && p->row_count == 6 && !p->general_W);
        for (int32_t i = 0; i < 6; i++) {
            assert_near(p->q[i], q[row_of(i)], 0.0);
            for (int32_t j = 0; j < 6; j++) {
                assert_near(p->W[6 * i + j], W[6 * row_of(i) + row_of(j)], 0.0);
            }
        }
        assert_near(p->constraints[1].mu1, 0.75, 0.0);
        assert_near(p->constraints[0].w_trace, 12.0, 0.0);
        assert_string_equal(lines.text, "");
        stn_problem_destroy(owner);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_local_problem_comes_with_the_normal_last, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
