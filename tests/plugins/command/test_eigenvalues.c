// SPDX-License-Identifier: Apache-2.0
// Eigenvalues of dense symmetric matrices with known ones: the second difference, whose eigenvalues are
// 2 - 2 cos(k pi / (n + 1)), and diagonal matrices, both hidden by random reflections.
#include "stn_test.h"

#include <stiction/math.h>

#include "common/eigenvalues.h"
#include "stn_random.h"

enum { MOST = 120 };

/// A <- H A H, H = 1 - 2 u u^T with a random unit vector u.
static void hide(stn_random *r, int32_t n, double *a) {
    double u[MOST], w[MOST], square = 0.0, share = 0.0;
    for (int32_t i = 0; i < n; i++) {
        u[i] = random_real(r);
        square += u[i] * u[i];
    }
    for (int32_t i = 0; i < n; i++) {
        w[i] = 0.0;
        for (int32_t j = 0; j < n; j++) {
            w[i] += 2.0 / square * a[i * n + j] * u[j];
        }
        share += u[i] * w[i] / square;
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            a[i * n + j] -= u[i] * (w[j] - share * u[j]) + (w[i] - share * u[i]) * u[j];
        }
    }
}

static void second_differences_have_their_cosines(void **state) {
    (void)state;
    static double a[MOST * MOST];
    double lambda[MOST];
    stn_random r = {1};
    stn_error err;
    static const int32_t sizes[] = {1, 2, 3, 7, 40, MOST};
    for (int32_t s = 0; s < 2 * STN_COUNT(sizes); s++) {
        int32_t n = sizes[s / 2];
        for (int32_t i = 0; i < n * n; i++) {
            int32_t apart = abs(i / n - i % n);
            a[i] = apart == 0 ? 2.0 : apart == 1 ? -1.0 : 0.0;
        }
        for (int32_t k = 0; k < 3 * (s % 2); k++) { // plain, then hidden
            hide(&r, n, a);
        }
        assert_ok(symmetric_eigenvalues(n, a, lambda, &err), err);
        for (int32_t k = 0; k < n; k++) {
            assert_near(lambda[k], 2.0 - 2.0 * cos(STN_PI * (k + 1) / (n + 1)), 1e-14 * n);
        }
    }
}

static void repeated_and_scaled_eigenvalues_are_found(void **state) {
    (void)state;
    stn_random r = {2};
    stn_error err;
    static const double scales[] = {1.0, 1e-300, 1e300};
    for (int32_t s = 0; s < STN_COUNT(scales); s++) {
        double a[36] = {0.0}, lambda[6];
        static const double wanted[6] = {-3.0, 0.0, 1.0, 1.0, 1.0, 7.0};
        for (int32_t i = 0; i < 6; i++) {
            a[7 * i] = wanted[(i + 2) % 6] * scales[s];
        }
        for (int32_t k = 0; k < 4; k++) {
            hide(&r, 6, a);
        }
        assert_ok(symmetric_eigenvalues(6, a, lambda, &err), err);
        for (int32_t i = 0; i < 6; i++) {
            assert_near(lambda[i] / scales[s], wanted[i], 1e-13);
        }
    }
}

static void zero_and_empty_matrices_are_no_exception(void **state) {
    (void)state;
    double zero[9] = {0.0}, lambda[3] = {1.0, 1.0, 1.0};
    stn_error err;
    assert_ok(symmetric_eigenvalues(3, zero, lambda, &err), err);
    assert_true(lambda[0] == 0.0 && lambda[1] == 0.0 && lambda[2] == 0.0);
    assert_ok(symmetric_eigenvalues(0, zero, lambda, &err), err);
}

static void entries_that_are_no_numbers_are_refused(void **state) {
    (void)state;
    double bad[4] = {1.0, NAN, NAN, 1.0}, lambda[2];
    stn_error err;
    assert_int_equal(symmetric_eigenvalues(2, bad, lambda, &err), STN_ERR_NUMERIC);
    bad[1] = bad[2] = INFINITY;
    assert_int_equal(symmetric_eigenvalues(2, bad, lambda, NULL), STN_ERR_NUMERIC);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(second_differences_have_their_cosines),
        cmocka_unit_test(repeated_and_scaled_eigenvalues_are_found),
        cmocka_unit_test(zero_and_empty_matrices_are_no_exception),
        cmocka_unit_test(entries_that_are_no_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
