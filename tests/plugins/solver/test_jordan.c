// SPDX-License-Identifier: Apache-2.0
// The Jordan algebra of solver/ipm against its definitions.
#include "ipm/jordan.h"
#include "stn_random.h"
#include "stn_test.h"

static jordan random_vector(stn_random *random) {
    jordan x = {random_real(random), random_real(random), 0.0};
    x.n = random_real(random);
    return x;
}

/// A random vector inside the cone, at a relative distance from its border.
static jordan random_inside(stn_random *random, double distance) {
    jordan x = random_vector(random);
    x.n = jordan_norm(x) * (1.0 + distance);
    return x;
}

static double largest(jordan x) {
    return fmax(fmax(fabs(x.t1), fabs(x.t2)), fabs(x.n));
}

static void assert_equal(jordan x, jordan y, double tolerance) {
    assert_near(x.t1, y.t1, tolerance);
    assert_near(x.t2, y.t2, tolerance);
    assert_near(x.n, y.n, tolerance);
}

/// Q(x) y = 2 x o (x o y) - (x o x) o y.
static jordan quadratic(jordan x, jordan y) {
    jordan a = jordan_multiply(x, jordan_multiply(x, y)), b = jordan_multiply(jordan_multiply(x, x), y);
    return (jordan){2.0 * a.t1 - b.t1, 2.0 * a.t2 - b.t2, 2.0 * a.n - b.n};
}

/// Q(w^1/2) y and Q(w^-1/2) y.
static jordan scale_forth(const jordan_scaling *w, jordan y) {
    jordan x = jordan_reflect(jordan_root(w->unit), y);
    return (jordan){w->eta * x.t1, w->eta * x.t2, w->eta * x.n};
}
static jordan scale_back(const jordan_scaling *w, jordan y) {
    jordan x = jordan_reflect_back(jordan_root(w->unit), y);
    return (jordan){x.t1 / w->eta, x.t2 / w->eta, x.n / w->eta};
}

static void the_scaling_takes_s_to_z(void **state) {
    (void)state;
    stn_random random = {3};
    for (int32_t k = 0; k < 1000; k++) {
        double distance = pow(10.0, -4.0 * (k % 3));
        jordan z = random_inside(&random, 0.3 + distance), s = random_inside(&random, distance);
        jordan_scaling scaling = jordan_scale(z, s);
        jordan w = {scaling.eta * scaling.unit.t1, scaling.eta * scaling.unit.t2, scaling.eta * scaling.unit.n};
        jordan forth = scale_forth(&scaling, s);
        assert_equal(quadratic(w, s), z, 1e-13 * (jordan_norm(z) + z.n) / distance);
        assert_equal(forth, scale_back(&scaling, z), 1e-12 * (1.0 + largest(forth)) / distance);
        assert_near(jordan_det(scaling.unit), 1.0, 1e-12 / distance);
    }
}

/// A pair that moves: its scaling and l, followed in scaled variables, are those of the pair itself.
static void the_scaling_follows_the_pair(void **state) {
    (void)state;
    stn_random random = {8};
    for (int32_t k = 0; k < 1000; k++) {
        jordan z = random_inside(&random, 0.3), s = random_inside(&random, 0.1);
        jordan to_z = random_inside(&random, 0.2), to_s = random_inside(&random, 0.5);
        jordan_scaling w = jordan_scale(z, s), direct = jordan_scale(to_z, to_s);
        jordan l = scale_forth(&w, s);
        jordan_follow(&w, scale_back(&w, to_z), scale_forth(&w, to_s), &l);
        assert_near(w.eta, direct.eta, 1e-12 * direct.eta);
        assert_equal(w.unit, direct.unit, 1e-12 * direct.unit.n);
        assert_equal(l, scale_back(&direct, to_z), 1e-11 * (1.0 + l.n));
        assert_equal(l, scale_forth(&direct, to_s), 1e-11 * (1.0 + l.n));
    }
}

static void the_frame_is_that_of_the_inverse(void **state) {
    (void)state;
    stn_random random = {4};
    const double h = sqrt(0.5);
    for (int32_t k = 0; k < 1000; k++) {
        jordan z = random_inside(&random, 0.2), s = random_inside(&random, 0.1), y = random_vector(&random);
        if (k % 10 == 0) { // pairs on the axis have no slip
            z.t1 = z.t2 = s.t1 = s.t2 = 0.0;
        }
        jordan_scaling w = jordan_scale(z, s);
        jordan_frame f = jordan_inverse_frame(&w);
        const double e1 = f.slip[0], e2 = f.slip[1];
        const jordan axis[3] = {{h * e1, h * e2, h}, {-e2, e1, 0.0}, {-h * e1, -h * e2, h}};
        jordan x = {0.0, 0.0, 0.0};
        for (int32_t a = 0; a < 3; a++) { // F diag(value) F^T y
            x = jordan_add(x, f.value[a] * jordan_dot(axis[a], y), axis[a]);
        }
        jordan twice = scale_back(&w, scale_back(&w, y));
        assert_equal(x, twice, 1e-11 * largest(twice));
        assert_true(f.value[0] <= f.value[1] && f.value[1] <= f.value[2]);
    }
}

static void division_undoes_the_product(void **state) {
    (void)state;
    stn_random random = {5};
    for (int32_t k = 0; k < 1000; k++) {
        jordan l = random_inside(&random, 0.1), x = random_vector(&random);
        assert_equal(jordan_divide(l, jordan_multiply(l, x)), x, 1e-12);
    }
}

/// At the reach the vector lies on the border; a direction inside never leaves.
static void the_reach_ends_on_the_border(void **state) {
    (void)state;
    stn_random random = {6};
    int32_t left = 0;
    for (int32_t k = 0; k < 1000; k++) {
        jordan x = random_inside(&random, 0.3), d = random_vector(&random);
        double shrink = jordan_reach(x, d);
        if (d.n >= jordan_norm(d)) {
            assert_true(shrink <= 1e-14);
            continue;
        }
        left++;
        assert_true(shrink > 0.0);
        jordan end = jordan_add(x, 1.0 / shrink, d);
        assert_near(end.n - jordan_norm(end), 0.0, 1e-10 * (1.0 + fabs(end.n)));
    }
    assert_true(left > 500);
}

/// The pair solves both of its equations, and both members lie inside of the cone, wherever x lies.
static void the_central_pair_is_on_the_central_path(void **state) {
    (void)state;
    stn_random random = {7};
    for (int32_t k = 0; k < 1000; k++) {
        jordan x = random_vector(&random), z, s;
        if (k % 10 == 0) {
            x.t1 = x.t2 = 0.0;
        }
        double omega = pow(10.0, k % 7 - 3), centre = pow(10.0, -(k % 5)) * omega;
        jordan_scaling w = jordan_central_pair(x, omega, centre, &z, &s), direct = jordan_scale(z, s);
        assert_near(w.eta, direct.eta, 1e-9 * direct.eta);
        assert_equal(w.unit, direct.unit, 1e-9 * direct.unit.n);
        jordan product = jordan_multiply(z, s);
        assert_true(z.n > jordan_norm(z) && s.n > jordan_norm(s));
        assert_equal(jordan_add(z, -1.0 / omega, s), x, 1e-13 * (1.0 + largest(z)));
        assert_equal(product, (jordan){0.0, 0.0, centre}, 1e-12 * omega);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scaling_takes_s_to_z),         cmocka_unit_test(the_scaling_follows_the_pair),
        cmocka_unit_test(the_frame_is_that_of_the_inverse), cmocka_unit_test(division_undoes_the_product),
        cmocka_unit_test(the_reach_ends_on_the_border),     cmocka_unit_test(the_central_pair_is_on_the_central_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
