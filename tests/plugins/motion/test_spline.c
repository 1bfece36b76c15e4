// SPDX-License-Identifier: Apache-2.0
// Curves through waypoints: order of convergence, smoothness, what they minimise, and limits, by samples of them.
#include "stn_test.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include <stiction/math.h>
#include <stiction/spline.h>

#include "stn_random.h"

enum { MOST = 65, SIZE = 3 };

/// A curve with the memory that it needs.
typedef struct curve {
    double times[MOST], points[MOST * SIZE], velocity[MOST * SIZE], acceleration[MOST * SIZE];
    double scratch[STN_SPLINE_SCRATCH(MOST)];
    stn_spline spline;
} curve;

static double between(stn_random *r, double low, double high) {
    return low + 0.5 * (1.0 + random_real(r)) * (high - low);
}

static void use(curve *c, stn_spline_kind kind, int32_t count, int32_t size) {
    c->spline = (stn_spline){kind, count, size, c->times, c->points, c->velocity, c->acceleration};
}

static void fit(curve *c) {
    stn_error err;
    assert_ok(stn_spline_fit(&c->spline, c->scratch, &err), err);
}

/// Waypoints in a box of [-1, 1], pieces of 0.1 to 1.1 s.
static void draw(curve *c, stn_random *r, stn_spline_kind kind, int32_t count) {
    use(c, kind, count, SIZE);
    c->times[0] = between(r, -5.0, 5.0);
    for (int32_t k = 0; k < count; k++) {
        c->times[k] = k > 0 ? c->times[k - 1] + between(r, 0.1, 1.1) : c->times[0];
        for (int32_t i = 0; i < SIZE; i++) {
            c->points[k * SIZE + i] = between(r, -1.0, 1.0);
        }
    }
    fit(c);
}

static const stn_spline_kind kinds[] = {STN_SPLINE_CUBIC, STN_SPLINE_QUINTIC, STN_SPLINE_MONOTONE};

// -------------------------------------------------------------------------------------------------------- closed forms

static void test_one_piece(void **state) {
    (void)state;
    static curve c;
    double x, v, a;
    for (int32_t step = 0; step <= 20; step++) {
        double u = step / 20.0, d = 3.0, h = 2.0;
        for (int32_t k = 0; k < STN_COUNT(kinds); k++) {
            use(&c, kinds[k], 2, 1);
            memcpy(c.times, (double[]){1.0, 3.0}, 2 * sizeof(double));
            memcpy(c.points, (double[]){-1.0, 2.0}, 2 * sizeof(double));
            fit(&c);
            stn_spline_at(&c.spline, 1.0 + h * u, &x, &v, &a);
            bool cubic = kinds[k] == STN_SPLINE_CUBIC, ends = step == 0 || step == 20;
            double s = cubic ? u * u * (3.0 - 2.0 * u) : u * u * u * (10.0 - 15.0 * u + 6.0 * u * u);
            double rate = cubic ? 6.0 * u * (1.0 - u) : 30.0 * u * u * (1.0 - u) * (1.0 - u);
            double change = cubic ? 6.0 - 12.0 * u : 60.0 * u * (1.0 - u) * (1.0 - 2.0 * u);
            assert_near(x, -1.0 + d * s, 1e-14);
            assert_near(v, d * rate / h, 1e-14);
            assert_near(a, ends ? 0.0 : d * change / (h * h), 1e-13); // at rest before and after
        }
    }
}

/// Curves with the ends that splines have: errors fall with h^4 and h^6.
static double worst_error(stn_spline_kind kind, int32_t pieces) {
    static curve c;
    double worst = 0.0;
    use(&c, kind, pieces + 1, 1);
    for (int32_t k = 0; k <= pieces; k++) {
        double t = 2.0 * STN_PI * k / pieces;
        c.times[k] = t;
        c.points[k] = kind == STN_SPLINE_CUBIC ? cos(t) : t - sin(t);
    }
    fit(&c);
    for (int32_t i = 0; i < 1000; i++) {
        double t = 2.0 * STN_PI * (i + 0.5) / 1000.0, x;
        stn_spline_at(&c.spline, t, &x, NULL, NULL);
        worst = worse(worst, fabs(x - (kind == STN_SPLINE_CUBIC ? cos(t) : t - sin(t))));
    }
    return worst;
}

static void test_order(void **state) {
    (void)state;
    double cubic = log2(worst_error(STN_SPLINE_CUBIC, 16) / worst_error(STN_SPLINE_CUBIC, 32));
    double quintic = log2(worst_error(STN_SPLINE_QUINTIC, 16) / worst_error(STN_SPLINE_QUINTIC, 32));
    assert_near(cubic, 4.0, 0.1);
    assert_near(quintic, 6.0, 0.2);
}

// --------------------------------------------------------------------------------------------------- what splines are

/// Jerk and its rate at `u` of a piece, from four samples of the acceleration, which is a cubic at most.
static void higher(const curve *c, int32_t piece, int32_t i, double u, double *jerk, double *rate) {
    double h = c->times[piece + 1] - c->times[piece], at[4], a[4], x[4];
    for (int32_t k = 0; k < 4; k++) {
        double all[SIZE];
        x[k] = 0.2 * (k + 1);
        stn_spline_at(&c->spline, c->times[piece] + h * x[k], NULL, NULL, all);
        at[k] = all[i];
    }
    memcpy(a, at, sizeof a);
    for (int32_t level = 1; level < 4; level++) { // divided differences
        for (int32_t k = 3; k >= level; k--) {
            a[k] = (a[k] - a[k - 1]) / (x[k] - x[k - level]);
        }
    }
    double p = u - x[0], q = u - x[1], r = u - x[2];
    *jerk = (a[1] + a[2] * (p + q) + a[3] * (p * q + p * r + q * r)) / h;
    *rate = (2.0 * a[2] + 2.0 * a[3] * (p + q + r)) / (h * h);
}

static void test_smooth(void **state) {
    (void)state;
    static curve c;
    stn_random r = {7};
    for (int32_t trial = 0; trial < 100; trial++) {
        draw(&c, &r, kinds[trial % 3], 2 + trial % 20);
        for (int32_t k = 1; k + 1 < c.spline.count; k++) {
            double before[3][SIZE], after[3][SIZE], t = c.times[k];
            stn_spline_at(&c.spline, nextafter(t, -INFINITY), before[0], before[1], before[2]);
            stn_spline_at(&c.spline, t, after[0], after[1], after[2]);
            for (int32_t i = 0; i < SIZE; i++) {
                assert_near(after[0][i], c.points[k * SIZE + i], 1e-13);
                assert_near(before[0][i], after[0][i], 1e-12);
                assert_near(before[1][i], after[1][i], 1e-11 * (1.0 + fabs(after[1][i])));
                assert_near(before[2][i], after[2][i], 1e-9 * (1.0 + fabs(after[2][i])));
                double jerk[2], rate[2];
                higher(&c, k - 1, i, 1.0, &jerk[0], &rate[0]);
                higher(&c, k, i, 0.0, &jerk[1], &rate[1]);
                if (c.spline.kind == STN_SPLINE_QUINTIC) {
                    assert_near(jerk[0], jerk[1], 1e-8 * (1.0 + fabs(jerk[0]) + fabs(rate[0])));
                    assert_near(rate[0], rate[1], 1e-7 * (1.0 + fabs(rate[0]) + fabs(rate[1])));
                }
            }
        }
    }
}

/// Integral of a^2 (cubic) or jerk^2 (quintic) over the curve, by Gauss' four points.
static double bending(const curve *c) {
    static const double place[] = {0.06943184420297371, 0.33000947820757187, 0.66999052179242813, 0.93056815579702629};
    static const double weight[] = {0.17392742256872693, 0.32607257743127307};
    double sum = 0.0;
    for (int32_t k = 0; k + 1 < c->spline.count; k++) {
        double h = c->times[k + 1] - c->times[k];
        for (int32_t g = 0; g < 4; g++) {
            double a[SIZE], rate;
            stn_spline_at(&c->spline, c->times[k] + h * place[g], NULL, NULL, a);
            for (int32_t i = 0; i < SIZE; i++) {
                double value = a[i];
                if (c->spline.kind == STN_SPLINE_QUINTIC) {
                    higher(c, k, i, place[g], &value, &rate);
                }
                sum += h * weight[g == 1 || g == 2] * value * value;
            }
        }
    }
    return sum;
}

/// Among all piecewise polynomials of their degree through the points, these bend least.
static void test_least_bending(void **state) {
    (void)state;
    static curve c, other;
    stn_random r = {11};
    for (int32_t trial = 0; trial < 60; trial++) {
        draw(&c, &r, kinds[trial % 2], 3 + trial % 8);
        double least = bending(&c);
        memcpy(&other, &c, sizeof c);
        use(&other, c.spline.kind, c.spline.count, SIZE);
        for (int32_t k = 1; k + 1 < c.spline.count; k++) {
            for (int32_t i = 0; i < SIZE; i++) {
                double nudge = 1e-3 * (trial % 3 - 1.5);
                other.velocity[k * SIZE + i] += nudge * between(&r, 0.1, 1.0);
                other.acceleration[k * SIZE + i] += nudge * between(&r, 0.1, 1.0);
            }
        }
        assert_true(bending(&other) > least);
    }
}

// -------------------------------------------------------------------------------------------------------------- limits

/// Largest of |v| / limit and |a| / limit at 400 places in each piece.
static void sampled(const curve *c, const stn_spline_limits *limits, double *velocity, double *acceleration) {
    *velocity = *acceleration = 0.0;
    for (int32_t k = 0; k + 1 < c->spline.count; k++) {
        for (int32_t n = 0; n < 400; n++) {
            double v[SIZE], a[SIZE];
            stn_spline_at(&c->spline, c->times[k] + (c->times[k + 1] - c->times[k]) * n / 400.0, NULL, v, a);
            for (int32_t i = 0; i < SIZE; i++) {
                *velocity = worse(*velocity, fabs(v[i]) / limits->velocity[i]);
                *acceleration = worse(*acceleration, fabs(a[i]) / limits->acceleration[i]);
            }
        }
    }
}

static void test_times_keep_limits(void **state) {
    (void)state;
    static curve c;
    stn_random r = {13};
    stn_error err;
    for (int32_t trial = 0; trial < 200; trial++) {
        double velocity[SIZE], acceleration[SIZE], most[2];
        draw(&c, &r, kinds[trial % 3], 2 + trial % 12);
        for (int32_t i = 0; i < SIZE; i++) {
            velocity[i] = between(&r, 0.5, 3.0);
            acceleration[i] = trial % 7 == 0 ? (double)INFINITY : between(&r, 0.5, 10.0);
        }
        const stn_spline_limits limits = {velocity, acceleration};
        assert_ok(stn_spline_choose_times(&c.spline, &limits, 2.0, 0.1, c.times, c.scratch, &err), err);
        sampled(&c, &limits, &most[0], &most[1]);
        assert_near(c.times[0], 2.0, 0.0);
        assert_true(most[0] <= 1.0 + 1e-9 && most[1] <= 1.0 + 1e-9);
        assert_true(fmax(most[0], most[1]) > 0.99);
        assert_near(stn_spline_stretch(&c.spline, &limits), 1.0, 1e-9);
    }
}

/// Where a number turns back it has a waypoint, and rests there.
static void test_monotone(void **state) {
    (void)state;
    static curve c;
    stn_random r = {23};
    for (int32_t trial = 0; trial < 200; trial++) {
        draw(&c, &r, STN_SPLINE_MONOTONE, 2 + trial % 20);
        for (int32_t k = 0; k + 1 < c.spline.count; k++) {
            for (int32_t i = 0; i < SIZE; i++) {
                double a = c.points[k * SIZE + i], b = c.points[(k + 1) * SIZE + i], lowest, highest;
                stn_spline_extent(&c.spline, k, i, &lowest, &highest);
                assert_true(lowest >= fmin(a, b) - 1e-12 && highest <= fmax(a, b) + 1e-12);
            }
        }
    }
}

static void test_extent(void **state) {
    (void)state;
    static curve c;
    stn_random r = {17};
    for (int32_t trial = 0; trial < 100; trial++) {
        draw(&c, &r, kinds[trial % 3], 2 + trial % 6);
        for (int32_t k = 0; k + 1 < c.spline.count; k++) {
            double lowest, highest, low = INFINITY, high = -INFINITY, x[SIZE];
            stn_spline_extent(&c.spline, k, 1, &lowest, &highest);
            for (int32_t n = 0; n <= 2000; n++) {
                stn_spline_at(&c.spline, c.times[k] + (c.times[k + 1] - c.times[k]) * n / 2000.0, x, NULL, NULL);
                low = fmin(low, x[1]);
                high = fmax(high, x[1]);
            }
            assert_true(lowest <= low + 1e-12 && lowest > low - 1e-4);
            assert_true(highest >= high - 1e-12 && highest < high + 1e-4);
        }
    }
}

static void test_there_and_back(void **state) {
    (void)state;
    static curve c;
    stn_error err;
    const double one = 1.0, ten = 10.0;
    const stn_spline_limits limits = {&one, &ten};
    for (int32_t k = 0; k < STN_COUNT(kinds); k++) {
        use(&c, kinds[k], 4, 1);
        memcpy(c.points, (double[]){0.0, 0.5, -0.5, 0.0}, 4 * sizeof(double));
        assert_ok(stn_spline_choose_times(&c.spline, &limits, 0.0, 0.1, c.times, c.scratch, &err), err);
        double lowest, highest;
        stn_spline_extent(&c.spline, 1, 0, &lowest, &highest);
        assert_true(lowest > -0.57 && highest < 0.57);
        assert_true(c.times[3] < 1.875 * 3.0); // sooner than with a stop at each waypoint
    }
}

static void test_rest(void **state) {
    (void)state;
    static curve c;
    stn_error err;
    const double limit[] = {1.0, 1.0, 1.0};
    const stn_spline_limits limits = {limit, limit};
    use(&c, STN_SPLINE_QUINTIC, 3, SIZE);
    memset(c.points, 0, sizeof c.points);
    assert_ok(stn_spline_choose_times(&c.spline, &limits, 1.0, 0.25, c.times, c.scratch, &err), err);
    assert_near(c.times[2], 1.5, 1e-15);
    assert_near(stn_spline_stretch(&c.spline, &limits), 0.0, 0.0);
    use(&c, STN_SPLINE_QUINTIC, 1, SIZE);
    c.points[1] = 4.0;
    assert_ok(stn_spline_choose_times(&c.spline, &limits, 1.0, 0.25, c.times, c.scratch, &err), err);
    double x[SIZE], v[SIZE];
    stn_spline_at(&c.spline, 7.0, x, v, NULL);
    assert_near(x[1], 4.0, 0.0);
    assert_near(v[1], 0.0, 0.0);
}

/// As a joint has that comes to rest at 0: what is left of its way is rounding.
static void test_ways_of_rounding(void **state) {
    (void)state;
    static curve c;
    const double limit[] = {1.0, 1.0, 1.0}, ways[] = {1e-14, 1e-30, 1e-200, 1e-300};
    const stn_spline_limits limits = {limit, limit};
    for (int32_t trial = 0; trial < 8 * STN_COUNT(kinds); trial++) {
        stn_error err = {0};
        use(&c, kinds[trial / 8], 2 + trial / 4 % 2, SIZE);
        memset(c.points, 0, sizeof c.points);
        c.points[SIZE] = c.points[2 * SIZE] = ways[trial % 4];
        c.points[2 * SIZE + 1] = 0.5;
        assert_ok(stn_spline_choose_times(&c.spline, &limits, 10.0, 0.25, c.times, c.scratch, &err), err);
        double x[SIZE], v[SIZE], a[SIZE];
        stn_spline_at(&c.spline, 10.1, x, v, a);
        for (int32_t i = 0; i < SIZE; i++) {
            assert_true(isfinite(x[i]) && isfinite(v[i]) && isfinite(a[i]));
        }
        assert_near(c.times[1], c.spline.count == 2 ? 10.25 : c.times[1], 1e-12);
        assert_near(stn_spline_stretch(&c.spline, &limits), c.spline.count == 2 ? 0.0 : 1.0, 1e-5);
    }
}

static void test_refuses(void **state) {
    (void)state;
    static curve c;
    stn_random r = {19};
    stn_error err;
    draw(&c, &r, STN_SPLINE_CUBIC, 4);
    const double wrong[] = {NAN, INFINITY, c.times[1], -INFINITY};
    for (int32_t k = 0; k < STN_COUNT(wrong); k++) {
        double right = c.times[2];
        c.times[2] = wrong[k];
        assert_int_equal(stn_spline_fit(&c.spline, c.scratch, &err), STN_ERR_NUMERIC);
        assert_non_null(strstr(err.text, "waypoint 3"));
        c.times[2] = right;
    }
    c.points[4] = NAN;
    assert_int_equal(stn_spline_fit(&c.spline, c.scratch, &err), STN_ERR_NUMERIC);
    assert_non_null(strstr(err.text, "waypoint 2: number 2"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_piece),        cmocka_unit_test(test_order),
        cmocka_unit_test(test_smooth),           cmocka_unit_test(test_least_bending),
        cmocka_unit_test(test_extent),           cmocka_unit_test(test_times_keep_limits),
        cmocka_unit_test(test_there_and_back),   cmocka_unit_test(test_rest),
        cmocka_unit_test(test_refuses),          cmocka_unit_test(test_monotone),
        cmocka_unit_test(test_ways_of_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
