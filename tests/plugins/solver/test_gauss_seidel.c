// SPDX-License-Identifier: Apache-2.0
// Sweeps over many contacts: the relaxation against references in extended precision, what acceleration is worth, a
// body that must not creep. What every solver must do is asked by the battery of `stiction validate`.
#include <stiction/solve.h>

#include "common/anderson.h"
#include "solver_fixture.h"
#include "stn_scene.h"

/// `local` NULL: as it is.
static void choose(fixture *f, const char *id, const char *local, double acceleration, double tolerance, double most) {
    const stn_setting settings[] = {number_setting("acceleration", acceleration),
                                    number_setting("tolerance", tolerance), number_setting("max_iterations", most),
                                    text_setting("local", local)};
    choose_with(f, id, settings, local == NULL ? 3 : 4);
}

// x <- B x + c with |B| < 1 is solved in as many combinations as there are unknowns, but for rounding.
static void a_linear_iteration_ends_after_as_many_steps_as_unknowns(void **state) {
    fixture *f = *state;
    enum { N = 8 };
    double B[N * N], c[N], x[N], g[N], solution[N], weight[N], M[N * N];
    stn_random random = {3};
    random_spd(&random, N, 0.5, B);
    for (int32_t i = 0; i < N; i++) {
        weight[i] = 1.0 + i;
        x[i] = 0.0;
        c[i] = solution[i] = random_real(&random);
        for (int32_t j = 0; j < N; j++) {
            B[i * N + j] /= 12.0; // eigenvalues up to 0.8 of a matrix of trace 8 (8/3 + 0.5)
            M[i * N + j] = (i == j) - B[i * N + j];
        }
    }
    plain_solve(N, M, solution);
    stn_arena *arena = stn_arena_create(f->context);
    anderson a;
    assert_true(anderson_create(&a, N, N, weight, arena));
    a.reach = (double)INFINITY;
    for (int32_t step = 0; step < N + 2; step++) {
        for (int32_t i = 0; i < N; i++) {
            g[i] = c[i];
            for (int32_t j = 0; j < N; j++) {
                g[i] += B[i * N + j] * x[j];
            }
        }
        anderson_next(&a, x, g);
        memcpy(x, g, sizeof x);
    }
    for (int32_t i = 0; i < N; i++) {
        assert_near(x[i], solution[i], 1e-7);
    }
    stn_arena_destroy(arena);
}

/// What is called solved is; a tenth of the references, stiff and redundant, may take more sweeps than are given.
static void the_relaxation_meets_its_references(void **state) {
    fixture *f = *state;
    skip_without(multicontact_folder);
    choose(f, "bisection", "ccp", 10.0, 1e-10, 1500.0);
    int32_t solved = 0;
    for (int32_t i = 0; i < MULTICONTACT_PROBLEMS; i++) {
        multicontact r;
        multicontact_load(f->context, i, &r);
        stn_status status = solve(f, r.problem);
        double error = scene_distance(r.problem, f->v, r.v) / scene_distance(r.problem, r.v, NULL);
        if (status < 0 || (status == STN_OK && !(error <= 1e-7))) {
            fail_msg("problem %d: %s, v off by %.1e", i, stn_status_text(status), error);
        }
        solved += status == STN_OK;
        stn_problem_destroy(r.owner);
    }
    print_message("%d of %d solved\n", solved, MULTICONTACT_PROBLEMS);
    assert_true(solved >= 85);
    leave(f);
}

static int32_t sweeps_of_a_stack(fixture *f, const char *id, double acceleration) {
    scene s;
    scene_begin(&s, f->context, 5);
    scene_pile(&s, 1, 6, false, 0.0);
    for (int32_t i = 0; i < s.problem.constraint_count; i++) {
        s.problem.constraints[i].phi0 = 0.0;
    }
    choose(f, id, NULL, acceleration, 1e-8, 20000.0);
    assert_ok(solve(f, &s.problem), f->err);
    assert_true(f->certificate.natural_ncp <= 1e-8 && f->certificate.momentum <= 1e-12);
    leave(f);
    scene_end(&s);
    return f->report.iterations;
}

static void acceleration_saves_sweeps_of_a_stack(void **state) {
    fixture *f = *state;
    static const char *const ids[] = {"bisection", "nsgs", "pgs"};
    for (int32_t k = 0; k < STN_COUNT(ids); k++) {
        int32_t plain = sweeps_of_a_stack(f, ids[k], 0.0), fast = sweeps_of_a_stack(f, ids[k], 10.0);
        print_message("%s: %d sweeps, accelerated %d\n", ids[k], plain, fast);
        assert_true(3 * fast < plain);
    }
}

/// A box on a slope, step after step: the impulses of a step are the start of the next, and the speed never adds up.
static void a_box_on_a_slope_does_not_creep(void **state) {
    fixture *f = *state;
    static const char *const ids[] = {"bisection", "nsgs", "pgs"};
    const double dt = 0.002, slope = 20.0 * STN_PI / 180.0;
    for (int32_t k = 0; k < STN_COUNT(ids); k++) {
        scene s;
        scene_begin(&s, f->context, 5);
        scene_pile(&s, 1, 1, false, 0.0);
        stn_problem *p = &s.problem;
        double way = 0.0, quickest = 0.0;
        int32_t sweeps = 0;
        memset(p->v0, 0, 6 * sizeof *p->v0);
        choose(f, ids[k], NULL, 10.0, 1e-6, 1000.0);
        for (int32_t step = 0; step < 2000; step++) {
            for (int32_t i = 0; i < p->constraint_count; i++) {
                p->constraints[i].phi0 = 0.0;
            }
            memcpy(p->v_star, p->v0, 6 * sizeof *p->v_star);
            p->v_star[0] += dt * 9.81 * sin(slope);
            p->v_star[2] -= dt * 9.81 * cos(slope);
            assert_ok(solve(f, p), f->err);
            memcpy(p->v0, f->v, 6 * sizeof *p->v0);
            memcpy(p->gamma_guess, f->gamma, (size_t)p->row_count * sizeof *f->gamma);
            way += dt * f->v[0];
            quickest = worse(quickest, fabs(f->v[0]));
            sweeps += step > 0 ? f->report.iterations : 0;
        }
        double creep = way / (2000.0 * dt);
        print_message("%s: creep %.1e m/s, quickest %.1e, %d sweeps\n", ids[k], creep, quickest, sweeps);
        assert_true(fabs(creep) <= 1e-9 && quickest <= 1e-6 * dt * 9.81);
        leave(f);
        scene_end(&s);
    }
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CLAIM(a_linear_iteration_ends_after_as_many_steps_as_unknowns),
        CLAIM(the_relaxation_meets_its_references),
        CLAIM(acceleration_saves_sweeps_of_a_stack),
        CLAIM(a_box_on_a_slope_does_not_creep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
