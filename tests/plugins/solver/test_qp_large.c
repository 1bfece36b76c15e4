// SPDX-License-Identifier: Apache-2.0
// Solver qp beyond what has room in a full matrix: thousands of contacts, in many trees and in one, against the
// conditions of the program, against sap where contacts hardly give way, and problems without a solution.
#include "anitescu.h"
#include "solver_fixture.h"
#include "stn_scene.h"

enum { ROWS = 3 * SCENE_CONSTRAINTS };

static double v[6 * SCENE_TREES], other[6 * SCENE_TREES], gamma_[ROWS], v_c[ROWS];

static stn_status solve_large(fixture *f, const stn_problem *p) {
    return solve_into(f, p, 0, v, gamma_);
}

static void choose_qp(fixture *f, const char *impulses) {
    const stn_setting settings[] = {number_setting("tolerance", 1e-10), text_setting("impulses", impulses)};
    choose_with(f, "qp", settings, 2);
}

/// Boxes side by side and upon each other, 4896 contacts.
static void begin_pile(fixture *f, scene *s, double rattle, double mu) {
    scene_begin(s, f->context, 3);
    scene_pile(s, 9, 8, false, rattle);
    for (int32_t i = 0; i < s->problem.constraint_count; i++) {
        s->problem.constraints[i].mu1 = s->problem.constraints[i].mu2 = mu;
    }
    assert_int_equal(s->problem.constraint_count, 4896);
}

static void check_conditions(fixture *f, const stn_problem *p) {
    stn_problem solved = *p; // R and v_hat as the solver sees them
    stn_problem_regularize(&solved);
    double speed = 0.0;
    stn_problem_contact_velocity(p, p->v_star, true, v_c);
    for (int32_t k = 0; k < p->row_count; k++) {
        speed = fmax(speed, fabs(v_c[k]));
    }
    const double error = anitescu_error(&solved, 4, v, gamma_, v_c);
    print_message("%d contacts: error %.1e of %.2g m/s, momentum %.1e, %d steps and sets\n", p->constraint_count, error,
                  speed, f->certificate.momentum, f->report.iterations);
    assert_true(error <= 1e-13 * speed && f->certificate.momentum <= 1e-14);
}

static void a_large_pile_meets_the_conditions(void **state) {
    fixture *f = *state;
    scene s;
    begin_pile(f, &s, 0.02, 1.0);
    choose_qp(f, "vertex");
    assert_ok(solve_large(f, &s.problem), f->err);
    check_conditions(f, &s.problem);
    leave(f);
    scene_end(&s);
}

/// sap's R falls with the square of beta, and so does what is between the two.
static void where_contacts_hardly_give_way_sap_moves_the_same(void **state) {
    fixture *f = *state;
    static const struct { double rattle, mu; } kinds[] = {{0.02, 0.0}, {0.0, 1.0}}; // without friction; all stick
    for (int32_t kind = 0; kind < STN_COUNT(kinds); kind++) {
        scene s;
        begin_pile(f, &s, kinds[kind].rattle, kinds[kind].mu);
        for (int32_t i = 0; i < s.problem.constraint_count; i++) {
            s.problem.constraints[i].phi0 = 0.0;
        }
        choose_qp(f, "vertex");
        assert_ok(solve_large(f, &s.problem), f->err);
        memcpy(other, v, sizeof v);
        leave(f);
        const double speed = scene_distance(&s.problem, s.problem.v_star, NULL);
        for (double beta = 1e-1; beta > 1e-4; beta *= 0.1) {
            s.problem.beta = beta;
            const stn_setting tolerance = number_setting("tolerance", 1e-10);
            assert_ok(try_with(f, "sap", &tolerance, 1, "sap"), f->err);
            assert_true(solve_large(f, &s.problem) >= STN_OK);
            leave(f);
            const double difference = scene_distance(&s.problem, v, other) / speed;
            print_message("beta %.0e: v differs by %.1e of v_star\n", beta, difference);
            assert_true(difference <= beta * beta);
        }
        scene_end(&s);
    }
}

/// A plate on 1600 contacts.
static void one_tree_has_many(void **state) {
    fixture *f = *state;
    static const double A[36] = {[0] = 1, [7] = 1, [14] = 1, [21] = 0.01, [28] = 0.01, [35] = 0.01};
    const stn_mat3 frame = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    scene s;
    scene_begin(&s, f->context, 1);
    const int32_t body = scene_tree(&s, 6, A);
    for (int32_t k = 0; k < 1600; k++) {
        double J[18];
        scene_body_rows((stn_vec3){0.01 * (k % 40 - 19.5), 0.01 * (k / 40 - 19.5), -0.1}, &frame, 1.0, J);
        stn_constraint *c = scene_constraint(&s, 3, body, J, -1, NULL);
        c->mu1 = c->mu2 = 0.5;
        c->phi0 = 0.0;
        c->stiffness = (double)INFINITY;
    }
    scene_finish(&s);
    s.problem.v_star[0] = 0.02;
    s.problem.v_star[2] = -0.1;
    choose_qp(f, "minimum_norm");
    assert_ok(solve_large(f, &s.problem), f->err);
    check_conditions(f, &s.problem);
    double weight = 0.0;
    for (int32_t i = 0; i < s.problem.constraint_count; i++) {
        weight += gamma_[3 * i + 2];
        assert_near(gamma_[3 * i + 1], 0.0, 1e-9);
    }
    assert_near(weight, 0.1, 1e-12);
    leave(f);
    scene_end(&s);
}

/// A ceiling that comes down upon a box on the ground: nothing is claimed, and it ends.
static void a_contradiction_among_thousands_is_not_solved(void **state) {
    fixture *f = *state;
    const stn_mat3 frame = {{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}};
    scene s;
    begin_pile(f, &s, 0.02, 0.5);
    double J[18];
    scene_body_rows((stn_vec3){0.0, 0.0, 0.05}, &frame, 1.0, J);
    stn_constraint *c = scene_constraint(&s, 3, 0, J, -1, NULL); // of a box on the ground
    c->mu1 = c->mu2 = 0.5;
    c->phi0 = 0.0;
    c->stiffness = (double)INFINITY;
    scene_finish(&s);
    s.problem.bias[c->row + 2] = -1.0;
    choose_qp(f, "vertex");
    assert_int_equal(solve_large(f, &s.problem), STN_NOT_CONVERGED);
    print_message("%s after %d iterations\n", f->report.reason, f->report.iterations);
    assert_true(f->report.iterations < 200);
    leave(f);
    scene_end(&s);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CLAIM(a_large_pile_meets_the_conditions),
        CLAIM(where_contacts_hardly_give_way_sap_moves_the_same),
        CLAIM(one_tree_has_many),
        CLAIM(a_contradiction_among_thousands_is_not_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
