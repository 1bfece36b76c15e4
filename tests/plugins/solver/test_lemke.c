// SPDX-License-Identifier: Apache-2.0
// Lemke's pivoting against solvers that know nothing of it, where no solution is, where contacts are redundant, and
// with bounds that hold or give way.
#include "solver_fixture.h"
#include "stn_scene.h"

/// `option` NULL: as the plugin is; else that parameter as a number, or with `word` as a text.
static void choose(fixture *f, const char *id, const char *option, double number, const char *word) {
    const stn_setting settings[] = {number_setting("tolerance", 1e-11), number_setting("max_iterations", 50000.0),
                                    word != NULL ? text_setting(option, word) : number_setting(option, number)};
    choose_with(f, id, settings, option == NULL ? 2 : 3);
}

static bool solved_by(fixture *f, const stn_problem *problem, const char *id, const char *option, double number,
                      const char *word) {
    choose(f, id, option, number, word);
    stn_status status = solve(f, problem);
    leave(f);
    assert_true(status >= STN_OK);
    return status == STN_OK;
}

/// Every contact's tangents by 45 degrees, friction sqrt(2) of what it was: the corners of the pyramid with four
/// directions are now where two clamped tangents have theirs.
static void turn_tangents(scene *s) {
    const double half = sqrt(0.5);
    for (int32_t i = 0; i < s->problem.constraint_count; i++) {
        stn_constraint *c = &s->problem.constraints[i];
        for (int32_t k = 0; k < 2; k++) {
            int32_t n = c->J[k].tree >= 0 ? s->problem.trees[c->J[k].tree].A.n : 0;
            double *J = scene_reals(s, 3 * n, 0.0);
            for (int32_t d = 0; d < n; d++) {
                double a = c->J[k].values[d], b = c->J[k].values[n + d];
                J[d] = half * (a + b);
                J[n + d] = half * (b - a);
                J[2 * n + d] = c->J[k].values[2 * n + d];
            }
            c->J[k].values = n > 0 ? J : NULL;
        }
        double *bias = s->problem.bias + c->row, a = bias[0], b = bias[1];
        bias[0] = half * (a + b);
        bias[1] = half * (b - a);
        c->mu1 *= sqrt(2.0);
        c->mu2 *= sqrt(2.0);
    }
}

static void four_directions_are_the_pyramid_of_pgs(void **state) {
    fixture *f = *state;
    enum { PROBLEMS = 30 };
    int32_t compared = 0;
    double worst = 0.0, v[MULTICONTACT_MOST];
    for (uint64_t seed = 1; seed <= PROBLEMS; seed++) {
        scene s;
        scene_begin(&s, f->context, seed);
        scene_random(&s, 6, 10.0, 0.3);
        bool swept = solved_by(f, &s.problem, "pgs", "friction", 0.0, "pyramid");
        memcpy(v, f->v, sizeof v);
        turn_tangents(&s);
        bool pivoted = solved_by(f, &s.problem, "lemke", NULL, 0.0, NULL);
        if (swept) { // else there may be no solution at all
            assert_true(pivoted);
            worst = worse(worst, scene_distance(&s.problem, f->v, v) / scene_distance(&s.problem, v, NULL));
            compared++;
        }
        scene_end(&s);
    }
    print_message("%d of %d problems compared, v off by at most %.1e\n", compared, PROBLEMS, worst);
    assert_true(worst <= 1e-8 && compared >= 25);
}

/// The pyramid is short of the cone by 1 - cos(pi/n) at its flanks: four times the directions, a sixteenth of the
/// error.
static void many_directions_approach_the_cone(void **state) {
    fixture *f = *state;
    enum { PROBLEMS = 20 };
    const double directions[] = {8.0, 32.0, 128.0};
    double error[3] = {0.0}, v[MULTICONTACT_MOST];
    for (uint64_t seed = 1; seed <= PROBLEMS; seed++) {
        scene s;
        scene_begin(&s, f->context, seed);
        scene_random(&s, 3, 10.0, 0.3);
        bool swept = solved_by(f, &s.problem, "bisection", NULL, 0.0, NULL);
        memcpy(v, f->v, sizeof v);
        for (int32_t k = 0; k < 3 && swept; k++) {
            assert_true(solved_by(f, &s.problem, "lemke", "directions", directions[k], NULL));
            error[k] += scene_distance(&s.problem, f->v, v) / scene_distance(&s.problem, v, NULL) / PROBLEMS;
        }
        scene_end(&s);
    }
    print_message("mean error with 8, 32, 128 directions: %.1e, %.1e, %.1e\n", error[0], error[1], error[2]);
    assert_true(error[1] < error[0] / 2.0 && error[2] < error[1] / 2.0); // 4 but for the problems' luck
    for (int32_t k = 0; k < 3; k++) {
        assert_true(error[k] <= 0.3 * STN_PI / directions[k]); // mu times the angle
    }
}

/// One body, one direction: contacts push it along +x and -x.
static void squeeze(scene *s, fixture *f, double first, double second) {
    const double A[1] = {2.0}, right[3] = {0.0, 0.0, 1.0}, left[3] = {0.0, 0.0, -1.0};
    scene_begin(s, f->context, 1);
    int32_t body = scene_tree(s, 1, A);
    scene_constraint(s, 3, body, right, -1, NULL);
    scene_constraint(s, 3, body, left, -1, NULL);
    scene_finish(s);
    s->problem.bias[2] = first;
    s->problem.bias[5] = second;
}

static void what_has_no_solution_ends_in_a_ray(void **state) {
    fixture *f = *state;
    scene s;
    choose(f, "lemke", NULL, 0.0, NULL);
    squeeze(&s, f, -1.0, -1.0); // v >= 1 and v <= -1
    assert_int_equal(solve(f, &s.problem), STN_NOT_CONVERGED);
    assert_string_equal(f->report.reason, "ray");
    scene_end(&s);
    squeeze(&s, f, -1.0, 1.0); // v = 1: both touch, and only the sum of the impulses is known
    assert_ok(solve(f, &s.problem), f->err);
    assert_near(f->v[0], 1.0, 1e-14);
    assert_near(f->gamma[2] - f->gamma[5], 2.0, 1e-14);
    scene_end(&s);
    leave(f);
}

/// Rigid boxes on boxes that all just touch: four corners where three would do, every ratio is a tie.
static void degenerate_stacks_do_not_cycle(void **state) {
    fixture *f = *state;
    for (int32_t height = 1; height <= 12; height++) {
        scene s;
        scene_begin(&s, f->context, 1);
        scene_pile(&s, 1, height, false, 0.0);
        for (int32_t i = 0; i < s.problem.constraint_count; i++) {
            s.problem.constraints[i].phi0 = 0.0;
        }
        choose(f, "lemke", NULL, 0.0, NULL);
        assert_ok(solve(f, &s.problem), f->err);
        leave(f);
        assert_true(f->report.iterations <= 2 * 6 * s.problem.constraint_count);
        assert_true(f->certificate.natural_ncp <= 1e-13);
        double weight = 0.0;
        for (int32_t corner = 0; corner < 4; corner++) { // of the lowest box: they carry all above
            weight += f->gamma[3 * corner + 2];
        }
        assert_near(weight, height * 9.81 * s.problem.dt, 1e-12);
        scene_end(&s);
    }
}

/// A motor holds a joint with at most 1 N s; what pulls is 0.5, 3 and -3 N s of momentum.
static void bounds_hold_or_give_way(void **state) {
    fixture *f = *state;
    const double A[1] = {2.0}, J[1] = {1.0}, pull[] = {0.5, 3.0, -3.0}, held[] = {-0.5, -1.0, 1.0};
    choose(f, "lemke", NULL, 0.0, NULL);
    for (int32_t k = 0; k < STN_COUNT(pull); k++) {
        scene s;
        scene_begin(&s, f->context, 1);
        stn_constraint *c = scene_constraint(&s, 1, scene_tree(&s, 1, A), J, -1, NULL);
        c->set = STN_SET_BOX;
        c->kind = STN_CONSTRAINT_SERVO;
        scene_finish(&s);
        s.problem.explicit_R = true; // R = 0: it holds without giving
        s.problem.lo[0] = -1.0;
        s.problem.hi[0] = 1.0;
        s.problem.v_star[0] = pull[k] / A[0];
        assert_ok(solve(f, &s.problem), f->err);
        assert_near(f->gamma[0], held[k], 1e-14);
        assert_near(f->v[0], (pull[k] + held[k]) / A[0], 1e-14);
        scene_end(&s);
    }
    leave(f);
}

static void what_it_cannot_do_is_a_line(void **state) {
    fixture *f = *state;
    const stn_setting odd = number_setting("directions", 5.0);
    assert_int_equal(stn_instance_create(f->context, STN_KIND_SOLVER, "lemke", &odd, 1, &f->solver, &f->err),
                     STN_ERR_PARAMETER);
    assert_string_equal(f->err.text, "solver lemke: directions = 5, must be even");
    scene s;
    scene_begin(&s, f->context, 1);
    scene_pile(&s, 1, 12, false, 0.0);
    choose(f, "lemke", "directions", 256.0, NULL);
    assert_int_equal(solve(f, &s.problem), STN_ERR_UNSUPPORTED);
    assert_string_equal(f->err.text, "solver lemke: 12384 unknowns (48 constraints, 256 directions) as a full tableau, "
                                     "at most 4000: solver pgs with friction = pyramid needs none");
    leave(f);
    scene_end(&s);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CLAIM(four_directions_are_the_pyramid_of_pgs),
        CLAIM(many_directions_approach_the_cone),
        CLAIM(what_has_no_solution_ends_in_a_ray),
        CLAIM(degenerate_stacks_do_not_cycle),
        CLAIM(bounds_hold_or_give_way),
        CLAIM(what_it_cannot_do_is_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
