// SPDX-License-Identifier: Apache-2.0
// The solver sap where things run out or are wrong: iterations, digits, memory, input.
#include "sap_fixture.h"
#include "stn_heap.h"

static void too_few_iterations_leave_a_better_point_and_say_so(void **state) {
    fixture *f = *state;
    scene_pile(&f->scene, 3, 3, false, 0.05);
    stn_problem *p = &f->scene.problem;
    fixture_derive(f, p);
    double v[MAX_ROWS], gamma[MAX_ROWS], cost = INFINITY;
    stn_solve_info info;
    for (f->max_iterations = 1; f->max_iterations <= 4; f->max_iterations++) {
        memcpy(v, p->v_guess, (size_t)p->nv * sizeof *v);
        assert_int_equal(fixture_solve(f, p, v, gamma, &info), STN_NOT_CONVERGED);
        assert_string_equal(info.reason, "iterations");
        assert_int_equal(info.iterations, f->max_iterations);
        assert_true(info.cost < cost);
        cost = info.cost;
    }
}

static void an_unreachable_tolerance_ends_in_stagnation_at_round_off(void **state) {
    fixture *f = *state;
    scene_pile(&f->scene, 3, 3, false, 0.05);
    stn_problem *p = &f->scene.problem;
    fixture_derive(f, p);
    double v[MAX_ROWS], gamma[MAX_ROWS], best[MAX_ROWS];
    stn_solve_info info;
    memcpy(best, p->v_guess, (size_t)p->nv * sizeof *v);
    memcpy(v, p->v_guess, (size_t)p->nv * sizeof *v);
    assert_ok(fixture_solve(f, p, v, gamma, &info), f->err);
    f->tolerance = f->absolute_tolerance = 0.0;
    assert_int_equal(fixture_solve(f, p, best, gamma, &info), STN_STALLED);
    assert_string_equal(info.reason, "stagnation");
    assert_true(scene_distance(p, v, best) <= 1e-9 * scene_distance(p, v, NULL));
}

// Near the last digit cost and residual are noise, and so is the step along a direction that promises nothing.
static void any_tolerance_ends_at_round_off(void **state) {
    fixture *f = *state;
    f->tolerance = f->absolute_tolerance = 0.0;
    double v[MAX_ROWS], gamma[MAX_ROWS];
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        scene_end(&f->scene);
        scene_begin(&f->scene, f->context, seed);
        scene_random(&f->scene, scene_integer(&f->scene, 1, 8), pow(10.0, scene_uniform(&f->scene, 0.0, 12.0)), 5.0);
        stn_problem *p = &f->scene.problem;
        fixture_derive(f, p);
        stn_solve_info info;
        memcpy(v, p->v_guess, (size_t)p->nv * sizeof *v);
        stn_status status = fixture_solve(f, p, v, gamma, &info);
        if (status == STN_NOT_CONVERGED || status < 0) {
            fail_msg("seed %d: %s after %d iterations", (int)seed, info.reason, info.iterations);
        }
    }
}

/// A pile of grams that creeps by micrometres per second: costs of 1e-15 J, whose differences an Armijo search must not
/// take for rounding.
static void backtracking_compares_costs_however_small(void **state) {
    fixture *f = *state;
    fixture_choose(f, "line_search", "armijo");
    scene_pile(&f->scene, 3, 3, false, 0.05);
    stn_problem *p = &f->scene.problem;
    for (int32_t t = 0; t < p->tree_count; t++) {
        for (int32_t k = 0; k < 36; k++) {
            p->trees[t].A.values[k] *= 1e-3;
        }
    }
    for (int32_t i = 0; i < p->nv; i++) {
        p->v_star[i] *= 1e-6;
        p->v_guess[i] *= 1e-6;
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        p->constraints[i].phi0 *= 1e-6;
    }
    fixture_derive(f, p);
    double v[MAX_ROWS], gamma[MAX_ROWS];
    stn_solve_info info;
    f->absolute_tolerance = 0.0;
    memcpy(v, p->v_guess, (size_t)p->nv * sizeof *v);
    assert_int_equal(fixture_solve(f, p, v, gamma, &info), STN_OK);
    assert_true(info.cost < 1e-12);
    assert_true(info.iterations <= 20);
    print_message("%d iterations, cost %g J\n", info.iterations, info.cost);
}

static void repeated_solves_allocate_nothing(void **state) {
    fixture *f = *state;
    scene_pile(&f->scene, 3, 3, false, 0.05);
    stn_problem *p = &f->scene.problem;
    fixture_derive(f, p);
    double v[MAX_ROWS], gamma[MAX_ROWS];
    stn_solve_info info;
    int64_t before = 0;
    for (int i = 0; i < 4; i++) {
        memcpy(v, p->v_guess, (size_t)p->nv * sizeof *v);
        assert_ok(fixture_solve(f, p, v, gamma, &info), f->err);
        if (i == 1) {
            before = stn_context_allocations(f->context);
        }
    }
    assert_int_equal(stn_context_allocations(f->context), before);
}

static void a_solve_does_not_depend_on_those_before(void **state) {
    fixture *f = *state;
    scene_pile(&f->scene, 3, 3, false, 0.05);
    stn_problem *p = &f->scene.problem;
    fixture_derive(f, p);
    stn_problem less = *p;
    double v[MAX_ROWS], gamma[MAX_ROWS], again[MAX_ROWS];
    stn_solve_info info;
    for (int i = 0; i < 2; i++) { // other patterns in between, a new workspace at last
        double *x = i == 0 ? v : again;
        memcpy(x, p->v_guess, (size_t)p->nv * sizeof *v);
        assert_ok(fixture_solve(f, p, x, gamma, &info), f->err);
        for (int k = 1; k < 20; k++) {
            less.constraint_count = p->constraint_count - 9 * k;
            less.row_count = p->row_count - 27 * k;
            double w[MAX_ROWS];
            memcpy(w, p->v_guess, (size_t)p->nv * sizeof *v);
            assert_ok(fixture_solve(f, &less, w, gamma, &info), f->err);
        }
        fixture_choose(f, NULL, NULL);
    }
    assert_memory_equal(v, again, (size_t)p->nv * sizeof *v);
}

static void what_is_not_finite_is_named(void **state) {
    fixture *f = *state;
    stn_problem *p = make_point(f, 1.0, 0.0, -1.0);
    double v[3] = {1.0, 2.0, 3.0}, gamma[3] = {4.0, 5.0, 6.0};
    stn_solve_info info;
    double *J = (double *)(uintptr_t)p->constraints[0].J[0].values;
    struct {
        double *member;
        const char *word;
    } cases[] = {{&v[1], "v[1]"},    {&p->v_star[2], "v_star"},     {&p->bias[1], "bias"},
                 {&p->R[2], "R[n]"}, {&p->v_hat[2], "v_hat"},       {&p->trees[0].A.values[4], "A"},
                 {&J[4], "J"},       {&p->constraints[0].mu1, "mu"}};
    const double bad[] = {NAN, INFINITY};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int k = 0; k < 2; k++) {
            double before = *cases[i].member;
            *cases[i].member = bad[k];
            assert_int_equal(fixture_solve(f, p, v, gamma, &info), STN_ERR_NUMERIC);
            assert_non_null(strstr(f->err.text, cases[i].word));
            *cases[i].member = before;
            assert_true(v[0] == 1.0 && v[1] == 2.0 && gamma[0] == 4.0 && gamma[2] == 6.0);
        }
    }
}

static void what_cannot_be_solved_is_refused_with_the_reason(void **state) {
    fixture *f = *state;
    stn_problem *p = make_point(f, 1.0, 0.0, -1.0);
    double v[3] = {0.0}, gamma[3];
    stn_solve_info info;
    double mu2 = p->constraints[0].mu2;
    p->constraints[0].set = STN_SET_ELLIPSE; // with one R for both directions
    p->constraints[0].mu2 = 0.5 * p->constraints[0].mu1;
    assert_int_equal(fixture_solve(f, p, v, gamma, &info), STN_ERR_UNSUPPORTED);
    assert_non_null(strstr(f->err.text, "mu1^2 R[t1] = mu2^2 R[t2]"));
    p->constraints[0].mu2 = mu2;
    p->constraints[0].set = STN_SET_BOX;
    p->R[1] = 0.0;
    assert_int_equal(fixture_solve(f, p, v, gamma, &info), STN_ERR_NUMERIC);
    assert_non_null(strstr(f->err.text, "row 1"));
    p->constraints[0].set = STN_SET_CONE;
    p->R[1] = 0.01;
    p->trees[0].A = (stn_matrix){.n = 3, .form = STN_MATRIX_ZERO};
    p->v_hat[2] = -1.0; // open: H = 0
    double force[3] = {1.0, 0.0, 0.0};
    p->free_impulse = force;
    assert_int_equal(fixture_solve(f, p, v, gamma, &info), STN_ERR_NUMERIC);
    assert_non_null(strstr(f->err.text, "tree 0"));
    p->form = STN_FORM_LOCAL;
    assert_int_equal(fixture_solve(f, p, v, gamma, &info), STN_ERR_UNSUPPORTED);
    p->form = STN_FORM_GLOBAL;
    void *workspace = f->workspace;
    f->workspace = NULL;
    assert_int_equal(fixture_solve(f, p, v, gamma, &info), STN_ERR_SEQUENCE);
    f->workspace = workspace;
}

static void running_out_of_memory_is_a_status(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context_options options = stn_heap_options(&heap);
    fixture f;
    fixture_begin(&f, &options);
    scene_begin(&f.scene, f.context, 3);
    scene_pile(&f.scene, 3, 3, false, 0.05);
    stn_problem *p = &f.scene.problem;
    fixture_derive(&f, p);
    double v[MAX_ROWS], gamma[MAX_ROWS];
    stn_solve_info info;
    stn_status status = STN_ERR_MEMORY;
    int failures = 0;
    for (int n = 1; status == STN_ERR_MEMORY; n++) {
        fixture_choose(&f, NULL, NULL); // an empty workspace
        stn_arena_destroy(f.arena);
        f.arena = stn_arena_create(f.context);
        memcpy(v, p->v_guess, (size_t)p->nv * sizeof *v);
        gamma[0] = 77.0;
        stn_heap_arm(&heap, n);
        status = fixture_solve(&f, p, v, gamma, &info);
        stn_heap_arm(&heap, 0);
        if (status == STN_ERR_MEMORY) {
            failures++;
            assert_memory_equal(v, p->v_guess, (size_t)p->nv * sizeof *v);
            assert_true(gamma[0] == 77.0);
        }
    }
    assert_int_equal(status, STN_OK);
    assert_true(failures > 2);
    scene_end(&f.scene);
    fixture_end(&f);
    assert_int_equal(heap.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CLAIM(too_few_iterations_leave_a_better_point_and_say_so),
        CLAIM(an_unreachable_tolerance_ends_in_stagnation_at_round_off),
        CLAIM(any_tolerance_ends_at_round_off),
        CLAIM(backtracking_compares_costs_however_small),
        CLAIM(repeated_solves_allocate_nothing),
        CLAIM(a_solve_does_not_depend_on_those_before),
        CLAIM(what_is_not_finite_is_named),
        CLAIM(what_cannot_be_solved_is_refused_with_the_reason),
        cmocka_unit_test(running_out_of_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
