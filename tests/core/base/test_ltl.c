// SPDX-License-Identifier: Apache-2.0
// A = L^T L of random trees and of matrices without structure, by every compilation of the kernels that this processor
// can run, against Gaussian elimination.
#include "stn_test.h"

#include <string.h>

#include <stiction/factor.h>

#include "base/kernels.h"
#include "base/ltl.h"
#include "stn_random.h"

enum { MOST = 70, COLUMNS = 6 };

typedef struct sample {
    int32_t n;
    int32_t parent[MOST]; // -1: none
    double a[MOST * MOST];
} sample;

static bool carries(const sample *s, int32_t i, int32_t k) {
    while (k > i) {
        k = s->parent[k];
    }
    return k == i;
}

/// B^T B with rows of B that are zero but for one dof and those that carry it: positive definite with a tree's zeros.
static void make_tree(stn_random *r, int32_t n, int32_t kind, sample *s) {
    s->n = n;
    memset(s->a, 0, sizeof s->a);
    for (int32_t k = 0; k < n; k++) { // up from the dof before: depth first
        int32_t up = kind == 0 ? 0 : random_below(r, kind + 1);
        s->parent[k] = k - 1;
        while (up-- > 0 && s->parent[k] >= 0) {
            s->parent[k] = s->parent[s->parent[k]];
        }
    }
    for (int32_t k = 0; k < n; k++) {
        double row[MOST] = {0.0};
        for (int32_t i = k; i >= 0; i = s->parent[i]) {
            row[i] = i == k ? 1.5 : 0.5 * random_real(r);
        }
        for (int32_t i = 0; i < n * n; i++) {
            s->a[i] += row[i / n] * row[i % n];
        }
    }
}

/// x (COLUMNS x n) with some rows zero off the chain of one dof; returns A^-1 x by elimination in `solved`.
static void make_vectors(stn_random *r, const sample *s, double *x, double *solved) {
    for (int32_t c = 0; c < COLUMNS; c++) {
        int32_t tip = random_below(r, s->n);
        for (int32_t i = 0; i < s->n; i++) {
            x[c * s->n + i] = c % 2 == 0 || carries(s, i, tip) ? random_real(r) : 0.0;
        }
        memcpy(solved + c * s->n, x + c * s->n, (size_t)s->n * sizeof *x);
        plain_solve(s->n, s->a, solved + c * s->n);
    }
}

typedef struct storage {
    double v[MOST * STN_LTL_STRIDE(MOST)], inverse[MOST], root[MOST];
} storage;

static int32_t all_tables(const ltl_kernels **out) {
    int32_t count = 0;
    out[count++] = &ltl_kernels_plain;
#ifdef STN_KERNELS_X86
    if (kernels_have_avx2()) {
        out[count++] = &ltl_kernels_avx2;
    }
#endif
    return count;
}

/// Forward and backward give A^-1 x, and forward alone a half of it: y_c . y_d = x_c . A^-1 x_d.
static double check_solves(const ltl_kernels *kernels, const ltl_parts *f, const sample *s, const double *x,
                           const double *solved) {
    int32_t n = s->n, columns = 1 + n % COLUMNS;
    double worst = 0.0, *y = malloc((size_t)(columns * n) * sizeof *y); // a sanitizer sees what is touched behind it
    assert_non_null(y);
    memcpy(y, x, (size_t)(columns * n) * sizeof *y);
    kernels->forward(f, columns, y, n);
    for (int32_t c = 0; c < columns * columns; c++) {
        double half = 0.0, whole = 0.0;
        for (int32_t i = 0; i < n; i++) {
            half += y[c / columns * n + i] * y[c % columns * n + i];
            whole += x[c / columns * n + i] * solved[c % columns * n + i];
        }
        worst = worse(worst, fabs(half - whole) / n);
    }
    if (columns >= 3) { // the same of three vectors at once
        static double lanes[4 * MOST];
        int32_t dofs[MOST];
        double weights[9] = {0.0};
        int32_t count = kernels->half(f, x, lanes, dofs);
        kernels->pair_add(count, dofs, lanes, lanes, weights);
        for (int32_t c = 0; c < 9; c++) {
            double whole = 0.0;
            for (int32_t i = 0; i < n; i++) {
                whole += x[c / 3 * n + i] * solved[c % 3 * n + i];
            }
            worst = worse(worst, fabs(weights[c] - whole) / n);
        }
    }
    kernels->backward(f, columns, y, n);
    for (int32_t i = 0; i < columns * n; i++) {
        double error = fabs(y[i] - solved[i]);
        worst = worse(worst, error);
    }
    free(y);
    return worst;
}

static void factors_of_trees_solve_and_halve(void **state) {
    (void)state;
    static sample s;
    static storage t;
    static double x[COLUMNS * MOST], solved[COLUMNS * MOST];
    const ltl_kernels *table[2];
    double worst = 0.0;
    for (int32_t which = all_tables(table) - 1; which >= 0; which--) {
        stn_random r = {11};
        for (int32_t n = 1; n <= MOST; n++) {
            for (int32_t kind = 0; kind < 4; kind++) {
                int32_t numbers[2 * MOST];
                stn_ltl f = {n, NULL, numbers};
                const ltl_parts p = {n, STN_LTL_STRIDE(n), t.v, t.inverse, t.root, numbers, numbers + n};
                make_tree(&r, n, kind, &s);
                make_vectors(&r, &s, x, solved);
                bool branches = stn_ltl_analyse(&f, s.a, n);
                for (int32_t k = 0; k < n; k++) {
                    assert_int_equal(p.parent[k], s.parent[k]);
                    branches = branches && (kind > 0 || n < 2);
                }
                assert_int_equal(branches, p.run[n - 1] > 0);
                memset(&t, 0xff, sizeof t); // NaN where nothing is written
                assert_int_equal(table[which]->factor(&p, s.a, n, 0.0), -1);
                double error = check_solves(table[which], &p, &s, x, solved);
                worst = worse(worst, error);
            }
        }
    }
    print_message("  %.2g\n", worst);
    assert_near(worst, 0.0, 1e-11);
}

/// The squares of four contacts side by side are those of their halves, bit by bit: which four come together does not
/// matter.
static void squares_of_four_are_those_of_each(void **state) {
    (void)state;
    static sample s;
    static storage t;
    const ltl_kernels *table[2];
    for (int32_t which = all_tables(table) - 1; which >= 0; which--) {
        stn_random r = {14};
        for (int32_t n = 1; n <= STN_LTL_WHOLE; n++) {
            double J[4][3 * STN_LTL_WHOLE], X[12 * STN_LTL_WHOLE], squares[36];
            int32_t dofs[STN_LTL_WHOLE];
            const ltl_parts p = {n, STN_LTL_STRIDE(n), t.v, t.inverse, t.root, NULL, NULL};
            make_tree(&r, n, n % 3, &s);
            assert_int_equal(table[which]->factor(&p, s.a, n, 0.0), -1);
            for (int32_t c = 0; c < 4; c++) {
                for (int32_t i = 0; i < 3 * n; i++) { // some dofs do not move it
                    J[c][i] = (i % n + c) % 3 == 0 && i % n > 2 ? 0.0 : random_real(&r);
                }
            }
            const double *const four[4] = {J[0], J[1], J[2], J[3]};
            table[which]->four_squares(&p, four, X, squares);
            for (int32_t c = 0; c < 4; c++) {
                double own[9] = {0.0};
                const int32_t count = table[which]->half(&p, J[c], X, dofs);
                table[which]->pair_add(count, dofs, X, X, own);
                for (int32_t e = 0; e < 9; e++) {
                    assert_true(own[e] == squares[4 * e + c]);
                }
            }
        }
    }
}

/// Zeros anywhere, and couplings between branches: the shape then holds more than the matrix, and the result is right.
static void matrices_that_are_no_trees_are_factored_too(void **state) {
    (void)state;
    static sample s;
    static double x[COLUMNS * MOST], solved[COLUMNS * MOST], values[STN_LTL_VALUES(MOST)];
    stn_random r = {12};
    for (int32_t round = 0; round < 300; round++) {
        int32_t n = 2 + random_below(&r, MOST - 2), numbers[2 * MOST];
        stn_ltl f = {n, values, numbers};
        make_tree(&r, n, 1 + round % 3, &s);
        for (int32_t i = 0; i < round % 5; i++) { // couple or uncouple two dofs
            int32_t p = random_below(&r, n), q = random_below(&r, n);
            s.a[p * n + q] = s.a[q * n + p] = p == q ? s.a[p * n + q] : i % 2 == 0 ? 0.0 : 0.1;
        }
        for (int32_t i = 0; i < n; i++) {
            s.a[i * (n + 1)] += n; // whatever was changed
        }
        make_vectors(&r, &s, x, solved);
        stn_ltl_analyse(&f, s.a, n);
        f.shape = n > STN_LTL_WHOLE ? numbers : NULL;
        assert_int_equal(stn_ltl_factor(&f, s.a, n, 0.0), -1);
        stn_ltl_forward(&f, COLUMNS, x, n);
        stn_ltl_backward(&f, COLUMNS, x, n);
        for (int32_t i = 0; i < COLUMNS * n; i++) {
            assert_near(x[i], solved[i], 1e-13);
        }
    }
}

static void pivots_that_are_not_positive_are_told_by_their_row(void **state) {
    (void)state;
    static sample s;
    static storage t;
    const ltl_kernels *table[2];
    const double bad[] = {-1.0, 0.0, (double)NAN, (double)INFINITY};
    for (int32_t which = all_tables(table) - 1; which >= 0; which--) {
        stn_random r = {13};
        for (int32_t i = 0; i < 22 + 23 + 40; i++) { // an even, an odd and a large size
            const int32_t n = i < 22 ? 22 : i < 45 ? 23 : 40, row = i < 22 ? i : i < 45 ? i - 22 : i - 45;
            for (int32_t b = 0; b < STN_COUNT(bad); b++) {
                int32_t numbers[2 * MOST];
                stn_ltl f = {n, NULL, numbers};
                const ltl_parts p = {n, STN_LTL_STRIDE(n), t.v, t.inverse, t.root, numbers, numbers + n};
                make_tree(&r, n, 2, &s);
                s.a[row * (n + 1)] = bad[b];
                stn_ltl_analyse(&f, s.a, n);
                assert_int_equal(table[which]->factor(&p, s.a, n, 0.0), row);
            }
        }
    }
}

static void pivots_that_round_off_leaves_count_as_zero(void **state) {
    (void)state;
    double values[STN_LTL_VALUES(3)], a[9] = {1.0, 1.0, 1.0, 1.0, 1.0 + 1e-14, 0.0, 1.0, 0.0, 2.0};
    int32_t numbers[6];
    stn_ltl f = {3, values, numbers};
    a[0] = 1.5 + 1e-14; // what dofs 1 and 2 leave of it is 1e-14 or so
    assert_true(stn_ltl_analyse(&f, a, 3));
    assert_int_equal(stn_ltl_factor(&f, a, 3, 0.0), -1);
    assert_int_equal(stn_ltl_factor(&f, a, 3, 1e-13), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_of_trees_solve_and_halve),
        cmocka_unit_test(squares_of_four_are_those_of_each),
        cmocka_unit_test(matrices_that_are_no_trees_are_factored_too),
        cmocka_unit_test(pivots_that_are_not_positive_are_told_by_their_row),
        cmocka_unit_test(pivots_that_round_off_leaves_count_as_zero),
    };
    return cmocka_run_group_tests_name("L^T L", tests, NULL, NULL);
}
