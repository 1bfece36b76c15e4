// SPDX-License-Identifier: Apache-2.0
// Dense Cholesky and its solves for every size that takes another path.
#include "stn_test.h"

#include <string.h>

#include <stiction/factor.h>

#include "stn_random.h"

enum { LARGEST = 131 };

static void the_factor_times_its_transpose_is_the_matrix(void **state) {
    (void)state;
    stn_random r = {1};
    for (int32_t n = 1; n <= LARGEST; n += n < 30 ? 1 : 17) {
        size_t m = (size_t)n, stride = m + 3;
        double *a = malloc(m * m * sizeof *a), *l = malloc(m * stride * sizeof *l);
        random_spd(&r, n, 1.0, a);
        for (size_t i = 0; i < m; i++) {
            for (size_t j = 0; j < stride; j++) {
                l[i * stride + j] = j <= i ? a[i * m + j] : (double)NAN; // what stands above the diagonal is not read
            }
        }
        assert_int_equal(stn_cholesky(n, l, (int32_t)stride), -1);
        for (size_t i = 0; i < m; i++) {
            for (size_t j = 0; j < stride; j++) {
                double sum = 0.0;
                for (size_t k = 0; k <= j && j <= i; k++) {
                    sum += l[i * stride + k] * l[j * stride + k];
                }
                if (j <= i) {
                    assert_near(sum, a[i * m + j], 1e-14 * (double)n);
                } else {
                    assert_true(isnan(l[i * stride + j])); // nor written
                }
            }
        }
        free(a);
        free(l);
    }
}

static void solves_agree_with_gaussian_elimination(void **state) {
    (void)state;
    stn_random r = {2};
    for (int32_t n = 1; n <= LARGEST; n += n < 30 ? 1 : 17) {
        for (int32_t columns = 0; columns <= 7; columns++) {
            size_t m = (size_t)n, stride = m + 2;
            double *a = malloc(m * m * sizeof *a), *l = malloc(m * m * sizeof *l);
            double *x = malloc((stride * 8) * sizeof *x), *y = malloc((stride * 8) * sizeof *y);
            random_spd(&r, n, 1.0, a);
            memcpy(l, a, m * m * sizeof *a);
            for (size_t i = 0; i < 8 * stride; i++) {
                x[i] = y[i] = random_real(&r);
            }
            assert_int_equal(stn_cholesky(n, l, n), -1);
            stn_cholesky_forward(n, l, n, columns, x, (int32_t)stride);
            stn_cholesky_backward(n, l, n, columns, x, (int32_t)stride);
            for (int32_t c = 0; c < columns; c++) {
                plain_solve(n, a, y + (size_t)c * stride);
            }
            for (size_t i = 0; i < 8 * stride; i++) {
                bool beside = i / stride >= (size_t)columns || i % stride >= m;
                assert_near(x[i], y[i], beside ? 0.0 : 1e-10);
            }
            free(a);
            free(l);
            free(x);
            free(y);
        }
    }
}

static void a_vector_is_solved_alike_whatever_stands_beside_it(void **state) {
    (void)state;
    stn_random r = {3};
    for (int32_t n = 1; n <= 40; n++) {
        double a[1600], one[40], several[5 * 40];
        random_spd(&r, n, 1.0, a);
        assert_int_equal(stn_cholesky(n, a, n), -1);
        for (int32_t i = 0; i < n; i++) {
            one[i] = random_real(&r);
            for (int32_t c = 0; c < 5; c++) {
                several[c * n + i] = one[i];
            }
        }
        stn_cholesky_forward(n, a, n, 1, one, n);
        stn_cholesky_forward(n, a, n, 5, several, n);
        for (int32_t c = 0; c < 5; c++) {
            assert_memory_equal(several + c * n, one, (size_t)n * sizeof *one);
        }
        stn_cholesky_backward(n, a, n, 1, one, n);
        stn_cholesky_backward(n, a, n, 5, several, n);
        assert_memory_equal(several + 4 * n, one, (size_t)n * sizeof *one);
    }
}

static void the_first_bad_pivot_is_told(void **state) {
    (void)state;
    static const double bad[] = {0.0, -1.0, NAN, INFINITY, -INFINITY};
    for (int32_t n = 1; n <= 70; n++) {
        for (int32_t k = 0; k < n; k += 1 + n / 9) {
            double *a = calloc((size_t)(n * n), sizeof *a);
            for (int32_t b = 0; b < STN_COUNT(bad); b++) {
                for (int32_t i = 0; i < n; i++) {
                    a[i * (n + 1)] = i == k ? bad[b] : 2.0;
                }
                assert_int_equal(stn_cholesky(n, a, n), k);
            }
            free(a);
        }
    }
}

static void the_empty_matrix_has_a_factor(void **state) {
    (void)state;
    double nothing = 0.0;
    assert_int_equal(stn_cholesky(0, &nothing, 0), -1);
    stn_cholesky_forward(0, &nothing, 0, 1, &nothing, 0);
    stn_cholesky_backward(0, &nothing, 0, 1, &nothing, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_factor_times_its_transpose_is_the_matrix),
        cmocka_unit_test(solves_agree_with_gaussian_elimination),
        cmocka_unit_test(a_vector_is_solved_alike_whatever_stands_beside_it),
        cmocka_unit_test(the_first_bad_pivot_is_told),
        cmocka_unit_test(the_empty_matrix_has_a_factor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
