// SPDX-License-Identifier: Apache-2.0
// The solver ipm beside sap, which solves the same convex problem by another method: random problems, patterns of A,
// rows with bounds, warm starts, and iterations that do not grow with the size.
#include <stiction/solve.h>

#include "solver_fixture.h"
#include "stn_scene.h"

static stn_status choose(fixture *f, const char *id, double tolerance) {
    const stn_setting settings[] = {number_setting("tolerance", tolerance), number_setting("max_iterations", 200.0)};
    return try_with(f, id, settings, STN_COUNT(settings), "sap");
}

enum { MOST_V = 8192, MOST_ROWS = 8192 };

static double v_sap[MOST_V], gamma_sap[MOST_ROWS], v_ipm[MOST_V], gamma_ipm[MOST_ROWS];

typedef struct difference {
    double v, gamma; // relative to the largest, or to the momentum that is there
    int32_t iterations;
} difference;

/// ipm at 1e-11 beside sap at 1e-12.
static difference compare(fixture *f, const stn_problem *p) {
    assert_true(p->nv <= MOST_V && p->row_count <= MOST_ROWS);
    assert_ok(choose(f, "sap", 1e-12), f->err);
    stn_status status = solve_into(f, p, 0, v_sap, gamma_sap);
    assert_true(status == STN_OK || status == STN_STALLED); // at the end of its digits
    leave(f);
    assert_ok(choose(f, "ipm", 1e-11), f->err);
    status = solve_into(f, p, 0, v_ipm, gamma_ipm);
    assert_true(status == STN_OK || status == STN_STALLED);
    assert_true(f->certificate.finite);
    difference out = {.iterations = f->report.iterations};
    static double momentum[MOST_V];
    double size = 1e-300, off = 0.0;
    stn_problem_mass_times(p, p->v_star, NULL, momentum);
    for (int32_t d = 0; d < p->nv; d++) { // all contacts may be open
        size = fmax(size, 1e-3 * fabs(momentum[d]));
    }
    for (int32_t r = 0; r < p->row_count; r++) {
        size = fmax(size, fabs(gamma_sap[r]));
        off = fmax(off, fabs(gamma_ipm[r] - gamma_sap[r]));
    }
    out.gamma = off / size;
    out.v = scene_distance(p, v_ipm, v_sap) / fmax(scene_distance(p, v_sap, NULL), scene_distance(p, p->v_star, NULL));
    leave(f);
    return out;
}

/// 1 to 200 contacts on trees of 1 to 9 dofs, mu 0 to 2, stiffness and gaps over wide ranges, some contacts twice.
static void random_problems_have_the_solution_of_sap(void **state) {
    fixture *f = *state;
    static const int32_t sizes[] = {1, 2, 3, 5, 8, 13, 21, 50, 100, 200};
    double worst_v = 0.0, worst_gamma = 0.0;
    int32_t most = 0;
    for (int32_t k = 0; k < 60; k++) {
        scene s;
        scene_begin(&s, f->context, 100 + (uint64_t)k);
        scene_random(&s, sizes[k % STN_COUNT(sizes)], k % 3 == 0 ? 1.0 : 1e3, k % 2 == 0 ? 1.0 : 2.0);
        difference d = compare(f, &s.problem);
        worst_v = fmax(worst_v, d.v);
        worst_gamma = fmax(worst_gamma, d.gamma);
        most = d.iterations > most ? d.iterations : most;
        if (!(d.v <= 1e-8 && d.gamma <= 1e-7)) {
            fail_msg("problem %d: v off by %.1e, impulses by %.1e", k, d.v, d.gamma);
        }
        scene_end(&s);
    }
    print_message("60 random problems: v off by at most %.1e, impulses by %.1e of the largest; at most %d iterations\n",
                  worst_v, worst_gamma, most);
}

/// S(33): the mean of |gamma . g| over contacts is within the tolerance, too, also where it is rough.
static void complementarity_is_within_the_tolerance(void **state) {
    fixture *f = *state;
    double worst = 0.0;
    int32_t solved = 0;
    for (int32_t k = 0; k < 200; k++) {
        const double tolerance = k % 2 == 0 ? 1e-2 : 1e-4;
        scene s;
        scene_begin(&s, f->context, 500 + (uint64_t)k);
        scene_random(&s, 1 + k % 23, k % 3 == 0 ? 1.0 : 1e3, 1.0);
        assert_ok(choose(f, "ipm", tolerance), f->err);
        if (solve_into(f, &s.problem, 0, v_ipm, gamma_ipm) == STN_OK) {
            solved++;
            assert_true(f->certificate.momentum <= tolerance && f->certificate.complementarity <= tolerance);
            worst = worse(worst, f->certificate.complementarity / tolerance);
        }
        leave(f);
        scene_end(&s);
    }
    print_message("%d of 200 solved, complementarity at most %.2f of the tolerance\n", solved, worst);
    assert_true(solved >= 190);
}

/// Every R from 1e-9 to 1e9 of the inverse mass, given by the problem itself.
static void any_compliance_has_the_solution_of_sap(void **state) {
    fixture *f = *state;
    for (int32_t e = -9; e <= 9; e += 3) {
        scene s;
        scene_begin(&s, f->context, 7);
        scene_random(&s, 20, 10.0, 1.0);
        stn_problem *p = &s.problem;
        for (int32_t i = 0; i < p->constraint_count; i++) {
            const stn_constraint *c = &p->constraints[i];
            double w = 0.0;
            for (int32_t k = 0; k < c->rows * p->trees[c->J[0].tree].A.n; k++) {
                w = fmax(w, c->J[0].values[k] * c->J[0].values[k]);
            }
            for (int32_t r = c->row; r < c->row + c->rows; r++) {
                p->R[r] = w * pow(10.0, e);
                p->v_hat[r] = r == c->row + 2 ? 0.1 : 0.0;
            }
        }
        p->explicit_R = true;
        difference d = compare(f, p);
        print_message("R %g of the inverse mass: v off by %.1e, impulses by %.1e, %d iterations\n", pow(10.0, e), d.v,
                      d.gamma, d.iterations);
        assert_true(d.v <= 1e-8 && d.gamma <= 1e-6);
        scene_end(&s);
    }
}

/// Piles whose boxes are tied, limited and driven beside their contacts.
static void rows_with_bounds_have_the_solution_of_sap(void **state) {
    fixture *f = *state;
    static const double unit[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 1.0};
    static const struct {
        double lo, hi, v_hat;
    } rows[] = {{-INFINITY, INFINITY, 0.3}, {0.0, INFINITY, 0.1}, {-INFINITY, 0.0, -0.2}, {-0.01, 0.01, 0.5},
                {-1e3, 1e3, -0.1},          {0.02, 0.02, 0.0},    {0.01, 0.02, 0.0},      {-0.02, -0.01, 1.0}};
    for (int32_t k = 0; k < STN_COUNT(rows); k++) {
        scene s;
        scene_begin(&s, f->context, 5);
        scene_pile(&s, 2, 3, false, 0.05);
        int32_t from = s.problem.constraint_count;
        for (int32_t t = 0; t < s.problem.tree_count; t++) {
            scene_constraint(&s, 1, t, unit, -1, NULL)->set = k == 0 ? STN_SET_EQUALITY : STN_SET_BOX;
        }
        stn_problem before = s.problem, *p = scene_finish(&s);
        memcpy(p->v_star, before.v_star, (size_t)p->nv * sizeof *p->v_star);
        for (int32_t i = from; i < p->constraint_count; i++) {
            const int32_t r = p->constraints[i].row;
            p->lo[r] = rows[k].lo;
            p->hi[r] = rows[k].hi;
        }
        p->explicit_R = false;
        difference d = compare(f, p);
        print_message("bounds [%g, %g]: v off by %.1e, impulses by %.1e, %d iterations\n", rows[k].lo, rows[k].hi, d.v,
                      d.gamma, d.iterations);
        assert_true(d.v <= 1e-8 && d.gamma <= 1e-7);
        scene_end(&s);
    }
}

/// Piles of 8 to 288 boxes, from the start that the problem gives: the iterations stay what they are.
static void iterations_do_not_grow_with_the_size(void **state) {
    fixture *f = *state;
    int32_t least = INT32_MAX, most = 0;
    assert_ok(choose(f, "ipm", 1e-6), f->err);
    for (int32_t side = 2; side <= 6; side += 2) {
        for (int32_t height = 2; height <= 8; height += 3) {
            scene s;
            scene_begin(&s, f->context, 11);
            scene_pile(&s, side, height, false, 0.05);
            assert_ok(solve_into(f, &s.problem, 0, v_ipm, gamma_ipm), f->err);
            print_message("%d contacts: %d iterations\n", s.problem.constraint_count, f->report.iterations);
            least = f->report.iterations < least ? f->report.iterations : least;
            most = f->report.iterations > most ? f->report.iterations : most;
            scene_end(&s);
        }
    }
    leave(f);
    assert_true(most <= 16 && most <= 2 * least);
}

/// A problem a little apart from the last one takes fewer iterations from its solution than from nothing; its own
/// solution takes none.
static void a_warm_start_saves_iterations(void **state) {
    fixture *f = *state;
    assert_ok(choose(f, "ipm", 1e-6), f->err);
    int32_t before = INT32_MAX;
    for (int32_t e = 0; e <= 4; e++) {
        const double change = e == 0 ? 1.0 : pow(10.0, -e - 1); // from nothing; 1e-2 to 1e-5
        scene s;
        scene_begin(&s, f->context, 5);
        scene_pile(&s, 3, 3, false, 0.05);
        stn_problem *p = &s.problem;
        if (e > 0) {
            assert_ok(solve_into(f, p, 0, v_ipm, gamma_ipm), f->err);
        }
        memset(p->v_guess, 0, (size_t)p->nv * sizeof *p->v_guess);
        memset(p->gamma_guess, 0, (size_t)p->row_count * sizeof *p->gamma_guess);
        if (e > 0) {
            memcpy(p->v_guess, v_ipm, (size_t)p->nv * sizeof *p->v_guess);
            memcpy(p->gamma_guess, gamma_ipm, (size_t)p->row_count * sizeof *p->gamma_guess);
            assert_ok(solve_into(f, p, 0, v_sap, gamma_sap), f->err);
            assert_int_equal(f->report.iterations, 0);
            for (int32_t d = 0; d < p->nv; d++) {
                p->v_star[d] *= 1.0 + (d % 2 == 0 ? change : -change);
            }
        }
        assert_ok(solve_into(f, p, 0, v_sap, gamma_sap), f->err);
        print_message("%s %g: %d iterations\n", e == 0 ? "cold, change" : "warm, change", change, f->report.iterations);
        assert_true(f->report.iterations < before);
        before = f->report.iterations;
        scene_end(&s);
    }
    leave(f);
}

static void the_local_form_is_refused(void **state) {
    fixture *f = *state;
    scene s;
    scene_begin(&s, f->context, 5);
    scene_pile(&s, 1, 1, false, 0.0);
    stn_problem_owner *local;
    assert_ok(choose(f, "ipm", 1e-6), f->err);
    assert_ok(solve(f, &s.problem), f->err); // states the inverse masses
    assert_ok(stn_problem_local(f->context, &s.problem, &local, &f->err), f->err);
    assert_int_equal(solve(f, stn_problem_of(local)), STN_ERR_UNSUPPORTED);
    assert_non_null(strstr(f->err.text, "solver ipm works on velocities, but a local problem has none"));
    stn_problem_destroy(local);
    leave(f);
    scene_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_problems_have_the_solution_of_sap, setup, teardown),
        cmocka_unit_test_setup_teardown(any_compliance_has_the_solution_of_sap, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_with_bounds_have_the_solution_of_sap, setup, teardown),
        cmocka_unit_test_setup_teardown(complementarity_is_within_the_tolerance, setup, teardown),
        cmocka_unit_test_setup_teardown(iterations_do_not_grow_with_the_size, setup, teardown),
        cmocka_unit_test_setup_teardown(a_warm_start_saves_iterations, setup, teardown),
        cmocka_unit_test_setup_teardown(the_local_form_is_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
