// SPDX-License-Identifier: Apache-2.0
// Convex solvers of impulses: the references in extended precision, the same problems as solver/sap, and what the law
// and its absence mean.
#include <stiction/solve.h>

#include "solver_fixture.h"
#include "stn_scene.h"

/// Solvers by id, the tolerance that the references are solved to, and how many iterations the hardest of them may
/// take. Of interior points digits end at 1e-8.
static const struct {
    const char *id;
    double tolerance;
    int32_t most;
} solvers[] = {{"apgd", 1e-10, 20000}, {"admm", 1e-10, 4000}, {"admm_split", 1e-10, 4000}, {"ipm", 1e-8, 40}};

/// A solver with a law or, NULL, without.
static stn_status choose(fixture *f, const char *id, const char *law, double tolerance) {
    const stn_setting settings[] = {number_setting("tolerance", tolerance), number_setting("max_iterations", 200000.0)};
    return try_with(f, id, settings, STN_COUNT(settings), law);
}

/// Bounds of the README of the problems.
static void check_references(fixture *f, const char *id, int32_t most) {
    double worst_v = 0.0, worst_gamma = 0.0, worst_cost = 0.0, total = 0.0;
    int32_t largest = 0, stalled = 0;
    for (int32_t i = 0; i < MULTICONTACT_PROBLEMS; i++) {
        multicontact r;
        multicontact_load(f->context, i, &r);
        stn_status status = solve(f, r.problem);
        assert_true(status == STN_OK || status == STN_STALLED); // at the end of its digits: the bounds judge
        stalled += status == STN_STALLED;
        const stn_problem *p = r.problem;
        double v = scene_distance(p, f->v, r.v) / scene_distance(p, r.v, NULL);
        double gamma =
            multicontact_largest(p->row_count, f->gamma, r.gamma) / multicontact_largest(p->row_count, r.gamma, NULL);
        bool has_cost = strcmp(id, "admm_split") != 0; // which never forms the operator
        assert_true(isnan(f->report.cost) != has_cost);
        double cost = has_cost ? fabs(f->report.cost + r.cost) / r.cost : 0.0; // the dual's is the primal's, negative
        worst_v = worse(worst_v, v);
        worst_gamma = worse(worst_gamma, gamma);
        worst_cost = worse(worst_cost, cost);
        total += f->report.iterations;
        largest = f->report.iterations > largest ? f->report.iterations : largest;
        if (!(v <= 1e-7 && gamma <= 1e-5 && cost <= 1e-9)) {
            fail_msg("%s, problem %d: v off by %.1e, gamma %.1e, cost %.1e", id, i, v, gamma, cost);
        }
        stn_problem_destroy(r.owner);
    }
    print_message("%s: worst relative error of v %.1e, gamma %.1e, cost %.1e; %.1f iterations on average, at most %d; "
                  "%d stalled\n",
                  id, worst_v, worst_gamma, worst_cost, total / MULTICONTACT_PROBLEMS, largest, stalled);
    assert_true(largest <= most);
}

static void references_are_met(void **state) {
    fixture *f = *state;
    skip_without(multicontact_folder);
    for (int32_t k = 0; k < STN_COUNT(solvers); k++) {
        assert_ok(choose(f, solvers[k].id, NULL, solvers[k].tolerance), f->err);
        check_references(f, solvers[k].id, solvers[k].most);
        leave(f);
    }
}

/// A pile of spheres, contacts rigid: with the law R and v_hat are its own, so the motion is that of solver/sap.
static void with_the_law_the_motion_is_that_of_sap(void **state) {
    fixture *f = *state;
    static double v[MULTICONTACT_MOST];
    for (int32_t k = 0; k < STN_COUNT(solvers); k++) {
        scene s;
        scene_begin(&s, f->context, 5);
        scene_pile(&s, 2, 4, true, 0.05);
        assert_ok(choose(f, "sap", "sap", 1e-12), f->err);
        assert_ok(solve(f, &s.problem), f->err);
        memcpy(v, f->v, sizeof v);
        leave(f);
        assert_ok(choose(f, solvers[k].id, "sap", solvers[k].tolerance), f->err);
        assert_ok(solve(f, &s.problem), f->err);
        double error = scene_distance(&s.problem, v, f->v) / scene_distance(&s.problem, v, NULL);
        print_message("%s: v of a pile of %d contacts differs from sap's by %.1e, %d iterations\n", solvers[k].id,
                      s.problem.constraint_count, error, f->report.iterations);
        assert_true(error <= 1e-8);
        assert_true(s.problem.R[0] > 0.0);
        leave(f);
        scene_end(&s);
    }
}

/// Without a law nothing softens a rigid contact: R = 0, and the cone acts on v_c - v_hat itself.
static void without_a_law_contacts_are_as_stiff_as_they_are(void **state) {
    fixture *f = *state;
    for (int32_t k = 0; k < STN_COUNT(solvers); k++) {
        scene s;
        scene_begin(&s, f->context, 5);
        scene_pile(&s, 2, 4, true, 0.05);
        for (int32_t i = 0; i < s.problem.constraint_count; i++) {
            s.problem.constraints[i].stiffness = (double)INFINITY;
            s.problem.constraints[i].phi0 = 1e-4; // to fall: the rigid problem has a solution
        }
        assert_ok(choose(f, solvers[k].id, NULL, 1e-8), f->err);
        assert_ok(solve(f, &s.problem), f->err);
        assert_true(s.problem.R[0] == 0.0 && s.problem.R[2] == 0.0);
        assert_true(f->certificate.natural_ccp <= 1e-7 && f->certificate.momentum <= 1e-7);
        leave(f);
        scene_end(&s);
    }
}

static void laws_that_are_not_quadratic_are_refused(void **state) {
    fixture *f = *state;
    for (int32_t k = 0; k < STN_COUNT(solvers); k++) {
        char text[512];
        snprintf(text, sizeof text,
                 "solver %s works with laws that are quadratic, such as sap; lagged is evaluated point by point, by "
                 "solver sap",
                 solvers[k].id);
        assert_int_equal(choose(f, solvers[k].id, "lagged", 1e-8), STN_ERR_UNSUPPORTED);
        assert_string_equal(f->err.text, text);
        f->problem_solver = NULL;
        leave(f);
    }
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CLAIM(references_are_met),
        CLAIM(with_the_law_the_motion_is_that_of_sap),
        CLAIM(without_a_law_contacts_are_as_stiff_as_they_are),
        CLAIM(laws_that_are_not_quadratic_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
