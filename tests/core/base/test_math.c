// SPDX-License-Identifier: Apache-2.0
// Eigenvalues of symmetric 3 x 3 matrices: those of R diag(a, b, c) R^T are a, b, c.
#include "stn_random_pose.h"
#include "stn_test.h"

/// Round-off of the product and of ten sweeps, relative to the largest entry.
static void expect_eigenvalues(const stn_mat3 *a, const double expected[3], double big) {
    double lambda[3];
    stn_mat3_eigenvalues(a, lambda);
    for (int32_t i = 0; i < 3; i++) {
        assert_near(lambda[i], expected[i], 2e-15 * big);
    }
}

static void turned_diagonal_keeps_its_eigenvalues(void **state) {
    static const double cases[][3] = {
        {1.0, 2.0, 3.0}, {-1.0, 0.0, 1.0},     {1.0, 1.0, 1.0},   {0.0, 0.0, 1.0},       {2.0, 2.0, 5.0},
        {2.0, 5.0, 5.0}, {-8e-19, 3e-3, 3e-3}, {1e-9, 1e-3, 1.0}, {1e150, 2e150, 3e150}, {1e-170, 2e-170, 3e-170}};
    (void)state;
    stn_random random = {7};
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        for (int32_t k = 0; k < 200; k++) {
            stn_mat3 r = stn_quat_matrix(random_rotation(&random)),
                     d = stn_mat3_diagonal(cases[i][1], cases[i][2], cases[i][0]);
            stn_mat3 a = stn_mat3_rotate_tensor(&r, &d);
            expect_eigenvalues(&a, cases[i], cases[i][2]);
        }
    }
}

static void diagonal_is_sorted_without_round_off(void **state) {
    (void)state;
    static const double sorted[3] = {-1e-300, 1e-30, 7.0};
    static const int32_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int32_t i = 0; i < STN_COUNT(orders); i++) {
        stn_mat3 a = stn_mat3_diagonal(sorted[orders[i][0]], sorted[orders[i][1]], sorted[orders[i][2]]);
        expect_eigenvalues(&a, sorted, 0.0);
    }
}

// Trace, sum of the principal minors and determinant are those of the characteristic polynomial.
static void invariants_of_any_symmetric_matrix_agree(void **state) {
    (void)state;
    stn_random random = {11};
    for (int32_t k = 0; k < 1000; k++) {
        double x = random_real(&random), y = random_real(&random), z = random_real(&random), l[3];
        double u = random_real(&random), v = random_real(&random), w = random_real(&random);
        stn_mat3 a = {{{x, u, v}, {u, y, w}, {v, w, z}}};
        stn_mat3_eigenvalues(&a, l);
        assert_near(l[0] + l[1] + l[2], x + y + z, 1e-14);
        assert_near(l[0] * l[1] + l[1] * l[2] + l[2] * l[0], x * y + y * z + z * x - u * u - v * v - w * w, 2e-14);
        assert_near(l[0] * l[1] * l[2], x * (y * z - w * w) - u * (u * z - w * v) + v * (u * w - y * v), 2e-14);
        assert_true(l[0] <= l[1] && l[1] <= l[2]);
    }
}

// y = P(x) is the only y in the cone with x - y across y and in the polar cone (Moreau).
static void projections_on_a_cone_split_a_vector(void **state) {
    (void)state;
    stn_random random = {12};
    const double mus[] = {0.0, 1e-9, 0.3, 1.0, 5.0};
    for (int32_t k = 0; k < 5000; k++) {
        double mu = mus[k % 5], x[3], y[3], r[3];
        for (int32_t a = 0; a < 3; a++) {
            x[a] = k % 3 == 0 && a < 2 ? 0.0 : random_real(&random); // on the axis, too
            y[a] = x[a];
        }
        stn_cone_project(mu, y);
        for (int32_t a = 0; a < 3; a++) {
            r[a] = x[a] - y[a];
        }
        assert_true(hypot(y[0], y[1]) <= mu * y[2] + 1e-15 && y[2] >= 0.0);
        assert_true(mu * hypot(r[0], r[1]) <= -r[2] + 1e-14);
        assert_near(r[0] * y[0] + r[1] * y[1] + r[2] * y[2], 0.0, 1e-14);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turned_diagonal_keeps_its_eigenvalues),
        cmocka_unit_test(diagonal_is_sorted_without_round_off),
        cmocka_unit_test(invariants_of_any_symmetric_matrix_agree),
        cmocka_unit_test(projections_on_a_cone_split_a_vector),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
