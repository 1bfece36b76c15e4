// SPDX-License-Identifier: Apache-2.0
// The choice between solvers of convex contact: who solves which island, and that what comes out is within the
// tolerance whoever did.
#include "solver_fixture.h"
#include "stn_scene.h"

typedef struct ask {
    double tolerance, most, sweeps, smallest_island;
} ask;

static stn_status solve_pile(fixture *f, ask a, int32_t side, int32_t height) {
    const stn_setting settings[] = {number_setting("tolerance", a.tolerance), number_setting("max_iterations", a.most),
                                    number_setting("sweeps", a.sweeps),
                                    number_setting("smallest_island", a.smallest_island)};
    scene s;
    scene_begin(&s, f->context, 5);
    scene_pile(&s, side, height, true, 0.05);
    assert_ok(try_with(f, "auto_convex", settings, STN_COUNT(settings), "sap"), f->err);
    stn_status status = solve(f, &s.problem);
    leave(f);
    scene_end(&s);
    return status;
}

static void a_loose_tolerance_and_a_large_island_are_for_apgd(void **state) {
    fixture *f = *state;
    static const struct {
        double tolerance, smallest_island;
        int32_t side, height;
        const char *by;
    } cases[] = {
        {1e-1, 64.0, 3, 8, "apgd"}, {1e-2, 64.0, 3, 8, "apgd"}, {1e-3, 64.0, 3, 8, "apgd"}, {1e-4, 64.0, 3, 8, "sap"},
        {1e-8, 64.0, 3, 8, "sap"},  {1e-2, 64.0, 3, 6, "sap"},  {1e-2, 20.0, 3, 6, "apgd"}, {1e-2, 0.0, 1, 1, "sap"},
    };
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        const ask a = {cases[i].tolerance, 1000.0, 200.0, cases[i].smallest_island};
        const stn_status status = solve_pile(f, a, cases[i].side, cases[i].height);
        if (status != STN_OK || strcmp(f->report.reason, cases[i].by) != 0) {
            fail_msg("case %d: status %d, %s solved it, %s was to", i, (int)status, f->report.reason, cases[i].by);
        }
        const bool first = strcmp(cases[i].by, "apgd") == 0;
        assert_true(!first || f->certificate.momentum <= 1e-14); // v is that of the impulses
        assert_true(first || f->certificate.momentum <= cases[i].tolerance);
        assert_true(f->certificate.natural_ccp <= 4.0 * cases[i].tolerance); // speeds are below 1 m/s
        assert_int_equal(f->report.fallbacks, 0);
    }
}

/// A robot among the bodies, or an A that is singular: nothing for apgd, whatever is asked for.
static void other_islands_are_for_sap(void **state) {
    fixture *f = *state;
    for (int32_t k = 0; k < 2; k++) {
        scene s;
        double A[49] = {0.0}, J[21];
        scene_begin(&s, f->context, 5);
        for (int32_t i = 0; i < 7; i++) {
            A[8 * i] = k == 1 && i == 6 ? 0.0 : 1.0;
        }
        for (int32_t i = 0; i < 21; i++) {
            J[i] = scene_normal(&s);
        }
        scene_tree(&s, k == 0 ? 7 : 3, A);
        if (k == 1) {
            s.problem.trees[0].A.values[8] = 0.0;
        }
        scene_constraint(&s, 3, 0, J, -1, NULL)->stiffness = 1e6;
        scene_finish(&s);
        s.problem.v_star[0] = 0.1;
        const stn_setting settings[] = {number_setting("tolerance", 1e-1), number_setting("advantage", 0.0),
                                        number_setting("smallest_island", 0.0)};
        assert_ok(try_with(f, "auto_convex", settings, STN_COUNT(settings), "sap"), f->err);
        assert_ok(solve(f, &s.problem), f->err);
        assert_string_equal(f->report.reason, "sap");
        leave(f);
        scene_end(&s);
    }
}

/// Where its iterations do not do, sap goes on from there, and both count.
static void what_apgd_does_not_reach_sap_does(void **state) {
    fixture *f = *state;
    const ask few = {1e-3, 1000.0, 3.0, 64.0}, enough = {1e-3, 1000.0, 200.0, 64.0};
    assert_int_equal(solve_pile(f, few, 3, 8), STN_OK);
    assert_string_equal(f->report.reason, "sap");
    assert_int_equal(f->report.fallbacks, 1);
    assert_true(f->report.iterations > 3);
    assert_true(f->report.line_search_evaluations >= 3);
    assert_true(f->certificate.momentum <= 1e-3);
    const int32_t both = f->report.iterations;
    assert_int_equal(solve_pile(f, enough, 3, 8), STN_OK);
    assert_string_equal(f->report.reason, "apgd");
    // max_iterations is that of both together
    const ask short_of_both = {1e-3, both - 1.0, 3.0, 64.0}, short_of_one = {1e-3, 2.0, 200.0, 64.0};
    assert_int_equal(solve_pile(f, short_of_both, 3, 8), STN_NOT_CONVERGED);
    assert_int_equal(f->report.iterations, both - 1);
    assert_int_equal(solve_pile(f, short_of_one, 3, 8), STN_NOT_CONVERGED);
    assert_int_equal(f->report.iterations, 2);
    assert_string_equal(f->report.reason, "apgd");
}

static void laws_that_are_not_quadratic_are_refused(void **state) {
    fixture *f = *state;
    assert_int_equal(try_with(f, "auto_convex", NULL, 0, "lagged"), STN_ERR_UNSUPPORTED);
    assert_string_equal(f->err.text, "solver auto_convex works with laws that are quadratic, such as sap; lagged is "
                                     "evaluated point by point, by solver sap");
    f->problem_solver = NULL;
    leave(f);
    assert_int_equal(try_with(f, "auto_convex", NULL, 0, NULL), STN_ERR_ARGUMENT);
    assert_string_equal(f->err.text, "solver auto_convex needs a contact law and none is chosen");
    f->problem_solver = NULL;
    leave(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_loose_tolerance_and_a_large_island_are_for_apgd, setup, teardown),
        cmocka_unit_test_setup_teardown(other_islands_are_for_sap, setup, teardown),
        cmocka_unit_test_setup_teardown(laws_that_are_not_quadratic_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(what_apgd_does_not_reach_sap_does, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
