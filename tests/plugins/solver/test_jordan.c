// SPDX-License-Identifier: Apache-2.0
// The Jordan algebra of solver/ipm against its definitions.
#include "ipm/jordan.h"
#include "stn_random.h"
#include "stn_test.h"

/// A random vector inside the cone, at a relative distance from its border.
static void random_inside(stn_random *random, double distance, double x[3]) {
    x[0] = random_real(random);
    x[1] = random_real(random);
    x[2] = jordan_norm(x) * (1.0 + distance);
}

/// Q(x) y = 2 x o (x o y) - (x o x) o y.
static void quadratic(const double *x, const double *y, double *out) {
    double a[3], b[3], c[3], d[3];
    jordan_multiply(x, y, a);
    jordan_multiply(x, a, b);
    jordan_multiply(x, x, c);
    jordan_multiply(c, y, d);
    for (int32_t i = 0; i < 3; i++) {
        out[i] = 2.0 * b[i] - d[i];
    }
}

static void the_scaling_takes_s_to_z(void **state) {
    (void)state;
    stn_random random = {3};
    for (int32_t k = 0; k < 1000; k++) {
        double z[3], s[3], w[3], out[3], forth[3], back[3], distance = pow(10.0, -4.0 * (k % 3));
        random_inside(&random, 0.3 + distance, z);
        random_inside(&random, distance, s);
        jordan_scaling scaling = jordan_scale(z, s);
        for (int32_t i = 0; i < 3; i++) {
            w[i] = scaling.eta * scaling.unit[i];
        }
        double size = jordan_norm(z) + z[2];
        quadratic(w, s, out);
        jordan_scale_forth(&scaling, s, forth);
        jordan_scale_back(&scaling, z, back);
        for (int32_t i = 0; i < 3; i++) {
            double tolerance = 1e-13 * size / distance;
            assert_near(out[i], z[i], tolerance);
            assert_near(forth[i], back[i], 1e-12 * (1.0 + fabs(forth[2])) / distance);
        }
        assert_near(jordan_det(scaling.unit), 1.0, 1e-12 / distance);
    }
}

static void the_frame_is_that_of_the_inverse(void **state) {
    (void)state;
    stn_random random = {4};
    for (int32_t k = 0; k < 1000; k++) {
        double z[3], s[3], y[3], x[3] = {0.0}, once[3], twice[3];
        random_inside(&random, 0.2, z);
        random_inside(&random, 0.1, s);
        jordan_scaling scaling = jordan_scale(z, s);
        jordan_frame frame = jordan_inverse_frame(&scaling);
        for (int32_t i = 0; i < 3; i++) {
            y[i] = random_real(&random);
        }
        for (int32_t c = 0; c < 3; c++) { // F diag F^T y
            double along = frame.F[0][c] * y[0] + frame.F[1][c] * y[1] + frame.F[2][c] * y[2];
            for (int32_t r = 0; r < 3; r++) {
                x[r] += frame.F[r][c] * frame.value[c] * along;
            }
        }
        jordan_scale_back(&scaling, y, once);
        jordan_scale_back(&scaling, once, twice);
        for (int32_t i = 0; i < 3; i++) {
            assert_near(x[i], twice[i], 1e-11 * (fabs(twice[0]) + fabs(twice[1]) + fabs(twice[2])));
        }
    }
}

static void division_undoes_the_product(void **state) {
    (void)state;
    stn_random random = {5};
    for (int32_t k = 0; k < 1000; k++) {
        double l[3], x[3], y[3], out[3];
        random_inside(&random, 0.1, l);
        for (int32_t i = 0; i < 3; i++) {
            x[i] = random_real(&random);
        }
        jordan_multiply(l, x, y);
        jordan_divide(l, y, out);
        for (int32_t i = 0; i < 3; i++) {
            assert_near(out[i], x[i], 1e-12);
        }
    }
}

/// At the reach the vector lies on the border; a direction inside never leaves.
static void the_reach_ends_on_the_border(void **state) {
    (void)state;
    stn_random random = {6};
    int32_t left = 0;
    for (int32_t k = 0; k < 1000; k++) {
        double x[3], d[3];
        random_inside(&random, 0.3, x);
        for (int32_t i = 0; i < 3; i++) {
            d[i] = random_real(&random);
        }
        double reach = jordan_reach(x, d);
        if (jordan_least(d) >= 0.0) {
            assert_true(isinf(reach));
            continue;
        }
        left++;
        for (int32_t i = 0; i < 3; i++) {
            d[i] = x[i] + reach * d[i];
        }
        assert_near(jordan_least(d), 0.0, 1e-10 * (1.0 + fabs(d[2])));
    }
    assert_true(left > 500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scaling_takes_s_to_z),
        cmocka_unit_test(the_frame_is_that_of_the_inverse),
        cmocka_unit_test(division_undoes_the_product),
        cmocka_unit_test(the_reach_ends_on_the_border),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
