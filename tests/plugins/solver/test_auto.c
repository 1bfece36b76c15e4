// SPDX-License-Identifier: Apache-2.0
// The portfolio: which solver ended it, what it makes of one that refuses or lies, what it does not take, and the
// problems of the FCLIB collection and the like.
#include "solver_fixture.h"
#include "stn_scene.h"

/// What the fakes saw, one test at a time.
static struct {
    int32_t refuser, liar, witness; // calls
    double start[2];                // impulses of row 2 that the witness was given
} seen;

static stn_status refuse(void *self, const stn_problem *problem, const stn_solve_control *control,
                         stn_solution *solution, stn_solve_info *info, stn_error *err) {
    (void)self;
    (void)problem;
    (void)control;
    (void)solution;
    (void)info;
    seen.refuser++;
    return stn_fail(err, STN_ERR_UNSUPPORTED, "not today");
}

/// Says that it has solved what it has spoiled.
static stn_status lie(void *self, const stn_problem *problem, const stn_solve_control *control, stn_solution *solution,
                      stn_solve_info *info, stn_error *err) {
    (void)self;
    (void)control;
    (void)err;
    seen.liar++;
    for (int32_t r = 0; r < problem->row_count; r++) {
        solution->gamma[r] = 1e6;
    }
    info->iterations = 7;
    info->reason = "residual";
    return STN_OK;
}

/// Looks at its start and leaves it.
static stn_status look(void *self, const stn_problem *problem, const stn_solve_control *control, stn_solution *solution,
                       stn_solve_info *info, stn_error *err) {
    (void)self;
    (void)problem;
    (void)err;
    if (seen.witness < STN_COUNT(seen.start)) {
        seen.start[seen.witness] = solution->gamma[2];
    }
    seen.witness++;
    info->iterations = control->max_iterations < 5 ? control->max_iterations : 5;
    info->reason = "iterations";
    return STN_NOT_CONVERGED;
}

#define FAKE(name, function)                                                \
    static const stn_solver_ops name##_ops = {.size = sizeof name##_ops,    \
                                              .formulation = STN_NCP,       \
                                              .yields = STN_YIELDS_IMPULSE, \
                                              .needs = STN_NEEDS_DELASSUS,  \
                                              .sets = 1u << STN_SET_CONE,   \
                                              .solve = (function)};         \
    static const stn_plugin_desc name = {.size = sizeof name,               \
                                         .kind = STN_KIND_SOLVER,           \
                                         .id = #name,                       \
                                         .version = "1",                    \
                                         .summary = "of a test",            \
                                         .ops.solver = &name##_ops};
FAKE(refuser, refuse)
FAKE(liar, lie)
FAKE(witness, look)

static stn_status choose(fixture *f, const char *chain, double tolerance, double most) {
    const stn_setting settings[] = {number_setting("tolerance", tolerance), number_setting("max_iterations", most),
                                    text_setting("chain", chain)};
    return try_with(f, "auto", settings, chain == NULL ? 2 : 3, NULL);
}

static void begin_pile(scene *s, fixture *f) {
    scene_begin(s, f->context, 5);
    scene_pile(s, 1, 3, false, 0.0);
    for (int32_t i = 0; i < s->problem.constraint_count; i++) {
        s->problem.constraints[i].phi0 = 0.0;
    }
    seen.refuser = seen.liar = seen.witness = 0;
    assert_ok(stn_plugin_register(f->context, &refuser, &f->err), f->err);
    assert_ok(stn_plugin_register(f->context, &liar, &f->err), f->err);
    assert_ok(stn_plugin_register(f->context, &witness, &f->err), f->err);
}

static void it_believes_no_solver_and_keeps_the_best(void **state) {
    fixture *f = *state;
    scene s;
    begin_pile(&s, f);
    s.problem.gamma_guess[2] = 0.01;
    assert_ok(choose(f, "refuser:10, liar:10,witness:3, bisection:5000", 1e-9, 1e5), f->err);
    assert_ok(solve_into(f, &s.problem, STN_CERTIFICATE_SCALED, f->v, f->gamma), f->err);
    assert_string_equal(f->report.reason, "bisection");
    assert_true(f->certificate.natural_ncp <= 1e-9);
    assert_int_equal(seen.refuser, 1); // never asked again
    assert_int_equal(seen.liar, 1);
    assert_near(seen.start[0], 0.01, 0.0);     // the start, not what the liar made of it
    assert_true(f->report.iterations > 7 + 3); // all of them count
    leave(f);
    scene_end(&s);
}

static void without_progress_it_ends(void **state) {
    fixture *f = *state;
    scene s;
    begin_pile(&s, f);
    s.problem.gamma_guess[2] = 0.01;
    assert_ok(choose(f, "witness:3,liar:10", 1e-9, 1e5), f->err);
    assert_int_equal(solve_into(f, &s.problem, STN_CERTIFICATE_SCALED, f->v, f->gamma), STN_NOT_CONVERGED);
    assert_string_equal(f->report.reason, "no progress");
    assert_int_equal(seen.witness, 2); // a round from the start, one from nothing
    assert_int_equal(seen.liar, 2);
    assert_near(seen.start[0], 0.01, 0.0);
    leave(f);
    assert_ok(choose(f, "witness:3,bisection:3", 1e-9, 5.0), f->err);
    assert_int_equal(solve_into(f, &s.problem, STN_CERTIFICATE_SCALED, f->v, f->gamma), STN_NOT_CONVERGED);
    assert_string_equal(f->report.reason, "iterations");
    assert_int_equal(f->report.iterations, 5);
    leave(f);
    assert_ok(choose(f, "refuser:3", 1e-9, 5.0), f->err);
    assert_int_equal(solve_into(f, &s.problem, STN_CERTIFICATE_SCALED, f->v, f->gamma), STN_ERR_UNSUPPORTED);
    assert_string_equal(f->err.text, "solver auto: not today");
    leave(f);
    scene_end(&s);
}

static void a_chain_that_is_none_is_a_line(void **state) {
    fixture *f = *state;
    static const char *const chains[][2] = {
        {"bisection", "solver auto: chain: 'bisection' must be ID:ITERATIONS, such as bisection:300"},
        {"bisection:300,", "solver auto: chain: '' must be ID:ITERATIONS, such as bisection:300"},
        {"bisection:0", "solver auto: chain: 'bisection:0' must be ID:ITERATIONS, such as bisection:300"},
        {"bisection:3x", "solver auto: chain: 'bisection:3x' must be ID:ITERATIONS, such as bisection:300"},
        {"nsgs:3,auto:3", "solver auto: chain: auto is no part of a chain"},
        {"apgd:3", "solver auto: chain: solver apgd solves ccp, all of a chain must solve ncp without a law"},
        {"pgs:1,pgs:1,pgs:1,pgs:1,pgs:1,pgs:1,pgs:1,pgs:1,pgs:1", "solver auto: chain: more than 8 solvers"},
    };
    for (int32_t k = 0; k < STN_COUNT(chains); k++) {
        assert_int_equal(choose(f, chains[k][0], 1e-9, 5.0), STN_ERR_PARAMETER);
        assert_string_equal(f->err.text, chains[k][1]);
    }
    assert_int_equal(choose(f, "bisektion:3", 1e-9, 5.0), STN_ERR_PLUGIN);
    assert_non_null(strstr(f->err.text, "bisection")); // the nearest
}

/// Those that take less than a second; the README has all 24.
static void problems_of_the_literature_are_solved(void **state) {
    fixture *f = *state;
    static const char folder[] = STN_SHARED_DIR "/fclib";
    static const char *const names[] = {"Box_Stacks-i0035-31-0",
                                        "Capsules-i125-1213",
                                        "Capsules-i97-269",
                                        "Confeti-ex03",
                                        "ContactBench-sliding_cube",
                                        "KaplasTower-i1061-4",
                                        "NESpheres_30_1",
                                        "LMGC_100_PR_PerioBox-i00361-60-03000",
                                        "OneObject-i1028-138",
                                        "LMGC_GlobalFrictionContactProblem00046",
                                        "Rover4396",
                                        "gen_arch",
                                        "gen_box_stack",
                                        "gen_chain",
                                        "gen_grasp",
                                        "gen_heavy_top",
                                        "gen_painleve",
                                        "gen_table",
                                        "gen_wedge",
                                        "local_problem_test",
                                        "spheres-in-a-box-98-i10000-256-10"};
    enum { ROWS = 4096 };
    static double v[ROWS], gamma[ROWS];
    skip_without(folder);
    assert_ok(choose(f, NULL, 1e-7, 1e5), f->err);
    for (int32_t k = 0; k < STN_COUNT(names); k++) {
        char path[512];
        stn_problem_owner *owner;
        snprintf(path, sizeof path, "%s/%s.hdf5", folder, names[k]);
        assert_ok(stn_problem_load(f->context, path, &owner, &f->err), f->err);
        const stn_problem *problem = stn_problem_of(owner);
        assert_true(problem->row_count <= ROWS && problem->nv <= ROWS);
        stn_status status = solve_into(f, problem, STN_CERTIFICATE_SCALED, v, gamma);
        print_message("%-40s %-12s natural_scaled %.1e\n", names[k], f->report.reason, f->certificate.natural_scaled);
        assert_int_equal(status, STN_OK);
        assert_true(f->certificate.natural_scaled <= 1e-6);
        stn_problem_destroy(owner);
    }
    leave(f);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CLAIM(it_believes_no_solver_and_keeps_the_best),
        CLAIM(without_progress_it_ends),
        CLAIM(a_chain_that_is_none_is_a_line),
        CLAIM(problems_of_the_literature_are_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
