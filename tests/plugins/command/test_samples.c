// SPDX-License-Identifier: Apache-2.0
// The statistics of long runs beside all of their samples: what is exact, how far percentiles are off, and that memory
// ends to grow.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stn_random.h"
#include "stn_test.h"

#include "common/statistics.h"

enum { STEPS = 500000 };

static int compare_reals(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

typedef struct fixture {
    stn_context *context;
    stn_statistics statistics;
    double *values; // (STEPS)
    stn_random random;
} fixture;

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    stn_error err = {0};
    assert_ok(stn_context_create(NULL, &f->context, &err), err);
    f->values = calloc(STEPS, sizeof *f->values);
    f->random.state = 7;
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    stn_statistics_clear(f->context, &f->statistics);
    stn_context_destroy(f->context);
    free(f->values);
    free(f);
    return 0;
}

static double uniform(stn_random *r) {
    return 0.5 * (1.0 + random_real(r));
}

static double normal(stn_random *r) {
    return sqrt(-2.0 * log(fmax(uniform(r), 1e-300))) * cos(6.283185307179586 * uniform(r));
}

static double value_of(int which, int32_t i, stn_random *r) {
    switch (which) {
    case 0:
        return uniform(r);
    case 1: // a heavy tail over many orders of magnitude
        return exp(5.0 * normal(r));
    case 2: // steadily growing
        return i;
    case 3: // a rhythm of a power of two, its peaks in one step each
        return i % 64 == 0 ? 1000.0 + i % 4096 : i % 64;
    case 4: // whole numbers, most of them one and the same
        return floor(-2.0 * log(fmax(uniform(r), 1e-300)));
    default: // one in a thousand far away, some that do not apply
        return i % 7 == 3 ? (double)NAN : uniform(r) < 1e-3 ? 1e6 * uniform(r) : uniform(r);
    }
}

/// The distance of `q` from the shares of the sorted values that are below `value`, and at most it.
static double rank_error(const double *sorted, int64_t count, double value, double q) {
    int64_t below = 0, upto = 0;
    while (below < count && sorted[below] < value) {
        below++;
    }
    for (upto = below; upto < count && sorted[upto] == value; upto++) {
    }
    return fmax(0.0, fmax((double)below / (double)count - q, q - (double)upto / (double)count));
}

static void test_percentiles_of_long_runs_are_near_the_exact_ones(void **state) {
    fixture *f = *state;
    stn_samples *samples = &f->statistics.samples;
    for (int which = 0; which < 6; which++) {
        int64_t count = 0;
        double sum = 0.0, max = -1.0;
        stn_statistics_clear(f->context, &f->statistics);
        samples->columns = STN_SAMPLE_COUNT;
        for (int32_t i = 0; i < STEPS; i++) {
            double row[STN_SAMPLE_COUNT] = {0}, value = value_of(which, i, &f->random);
            row[STN_SAMPLE_STEP_US] = value;
            assert_true(stn_samples_add(f->context, samples, row));
            if (!isnan(value)) {
                f->values[count++] = value;
                sum += value;
                max = fmax(max, value);
            }
        }
        stn_summary s;
        assert_true(stn_statistics_summary(f->context, &f->statistics, STN_SAMPLE_STEP_US, &s));
        assert_near(s.mean, sum / (double)count, 0.0);
        assert_near(s.max, max, 0.0);
        assert_int_equal(samples->steps, STEPS);
        assert_true(samples->kept > STN_SAMPLES_MOST / 2 - 1 && samples->kept <= STN_SAMPLES_MOST);
        assert_int_equal(samples->capacity, STN_SAMPLES_MOST);
        qsort(f->values, (size_t)count, sizeof *f->values, compare_reals);
        // five standard deviations of sqrt(q (1 - q)/32768)
        assert_true(rank_error(f->values, count, s.median, 0.5) <= 5.0 * 0.5 / 181.0);
        assert_true(rank_error(f->values, count, s.p99, 0.99) <= 5.0 * 0.0995 / 181.0);
    }
}

/// Every block of 2^level steps has one row, whose number is known.
static void test_rows_are_those_of_their_steps(void **state) {
    fixture *f = *state;
    stn_samples *samples = &f->statistics.samples;
    samples->columns = 1;
    for (int64_t i = 0; i < STEPS; i++) {
        double step = (double)i;
        assert_true(stn_samples_add(f->context, samples, &step));
    }
    assert_int_equal(samples->level, 3);
    int64_t first_halves = 0;
    for (int32_t i = 0; i < samples->kept; i++) {
        int64_t step = stn_samples_step(samples, i);
        assert_near(samples->values[i], (double)step, 0.0);
        assert_int_equal(step >> samples->level, i);
        first_halves += (step & 7) < 4;
    }
    assert_near((double)first_halves / samples->kept, 0.5, 0.01);
}

/// A run of `steps`: the error, what it is relative to, and allocations of each.
static void observe(fixture *f, int32_t steps, double (*error)(int32_t), double (*size)(int32_t),
                    int64_t (*allocations)(int32_t)) {
    stn_world_account account = {.statistics = &f->statistics};
    for (int32_t i = 0; i < steps; i++) {
        stn_step_report report = {.step_us = 1.0};
        stn_certificate certificate = {.momentum = error(i), .momentum_size = size(i), .finite = true};
        stn_observation o = {.report = &report, .certificate = &certificate, .dt = 1e-3};
        stn_error err = {0};
        account.allocations = stn_context_allocations(f->context) - allocations(i);
        assert_ok(stn_account_observe(&account, f->context, &o, &err), err);
    }
}

/// Half of the steps rest, at errors of 1 relative to sizes of 1e-13 to 1e-8; the others move, at up to 1e4.
static double size_of_step(int32_t i) {
    return i % 2 == 0 ? 1e-13 * pow(10.0, i / 2 % 6) : 1e4 * (1.0 + i) / STEPS;
}

static double error_of_step(int32_t i) {
    return i % 2 == 0 ? 1.0 - 1e-3 * (i % 7) : 1e-7 * (1.0 + i % 101);
}

static int64_t allocations_of_step(int32_t i) {
    return i < 1000 ? 3 : i == 200001;
}

static void test_momentum_errors_of_rounding_count_as_none(void **state) {
    fixture *f = *state;
    for (int32_t steps = 50000; steps <= STEPS; steps += STEPS - 50000) {
        double sum = 0.0, max = 0.0, largest = size_of_step(steps - 1);
        stn_summary s;
        stn_statistics_clear(f->context, &f->statistics);
        observe(f, steps, error_of_step, size_of_step, allocations_of_step);
        for (int32_t i = 0; i < steps; i++) {
            bool rounded = error_of_step(i) * size_of_step(i) <= fmax(1e-14, 1e-13 * largest);
            f->values[i] = rounded ? 0.0 : error_of_step(i);
            sum += f->values[i];
            max = fmax(max, f->values[i]);
        }
        assert_true(stn_statistics_momentum(f->context, &f->statistics, &s));
        assert_near(s.max, max, 0.0);
        assert_near(s.mean, sum / steps, 1e-12 * sum / steps);
        qsort(f->values, (size_t)steps, sizeof *f->values, compare_reals);
        assert_true(rank_error(f->values, steps, s.median, 0.5) <= 5.0 * 0.5 / 181.0);
        assert_true(rank_error(f->values, steps, s.p99, 0.99) <= 5.0 * 0.0995 / 181.0);
    }
}

static void test_no_allocation_is_overlooked(void **state) {
    fixture *f = *state;
    observe(f, 1500, error_of_step, size_of_step, allocations_of_step);
    assert_near(stn_statistics_allocations(&f->statistics, 0), 2.0, 0.0);
    assert_near(stn_statistics_allocations(&f->statistics, 900), 0.5, 0.0);
    assert_near(stn_statistics_allocations(&f->statistics, 1000), 0.0, 0.0);
    assert_true(isnan(stn_statistics_allocations(&f->statistics, 1500)));
    stn_statistics_clear(f->context, &f->statistics);
    observe(f, STEPS, error_of_step, size_of_step, allocations_of_step);
    assert_near(stn_statistics_allocations(&f->statistics, STEPS / 10) * (STEPS * 9 / 10), 1.0, 1e-3); // the one step
    assert_near(stn_statistics_allocations(&f->statistics, STEPS / 2), 0.0, 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_percentiles_of_long_runs_are_near_the_exact_ones, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rows_are_those_of_their_steps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_momentum_errors_of_rounding_count_as_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_allocation_is_overlooked, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
