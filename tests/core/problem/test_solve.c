// SPDX-License-Identifier: Apache-2.0
// The problem solver: islands, completion, refusals, the same result for any number of workers.
#include "solve_bench.h"

static void the_momentum_balance_holds_and_free_trees_keep_their_velocity(void **state) {
    (void)state;
    bench b;
    assert_ok(bench_open(&b, "sap", 1), b.err);
    sample *s = pairs_sample(1, 4);
    stn_problem *p = &s->problem;
    assert_ok(bench_solve(&b, p, NULL), b.err);
    assert_int_equal(b.report.island_count, 4);
    assert_int_equal(b.report.not_converged, 0);
    double left[MOST], right[MOST] = {0.0};
    stn_problem_mass_times(p, b.v, p->v_star, left);
    stn_problem_jacobian_transposed_add(p, 1.0, b.gamma, right);
    for (int32_t d = 0; d < p->nv; d++) {
        assert_near(left[d], right[d], 1e-9); // tolerance 1e-12 on momenta of about 10
    }
    assert_memory_equal(b.v + p->nv - 6, p->v_star + p->nv - 6, 6 * sizeof(double));
    assert_true(p->constraints[0].w > 0.0 && p->R[0] > 0.0);
    sample_clear(s);
    bench_close(&b);
}

static void free_impulses_move_trees_in_no_island(void **state) {
    (void)state;
    bench b;
    assert_ok(bench_open(&b, "sap", 1), b.err);
    sample *s = pairs_sample(2, 1);
    stn_problem *p = &s->problem;
    p->free_impulse = sample_doubles(s, (size_t)p->nv, 0.0);
    double f[6] = {1.0, -2.0, 3.0, 0.5, 0.0, 1.0};
    memcpy(p->free_impulse + p->nv - 6, f, sizeof f);
    assert_ok(bench_solve(&b, p, NULL), b.err);
    plain_solve(6, s->trees[2].A.values, f);
    for (int32_t k = 0; k < 6; k++) {
        assert_near(b.v[p->nv - 6 + k], p->v_star[p->nv - 6 + k] + f[k], 1e-12);
    }
    sample_clear(s);
    bench_close(&b);
}

// The certificate judges what is given, and nothing is changed.
static void a_given_solution_is_judged_and_left_alone(void **state) {
    (void)state;
    bench b, c;
    assert_ok(bench_open(&b, "sap", 1), b.err);
    sample *s = pairs_sample(9, 3);
    stn_certificate solved, judged;
    const stn_solve_request masses = {.masses = true};
    assert_ok(stn_problem_solve(b.ps, &s->problem, &masses, &b.solution, &b.report, &solved, &b.err), b.err);
    // by a solver that takes no cones, and is not asked
    assert_ok(bench_open(&c, "fake_pgs", 1), c.err);
    assert_int_equal(bench_solve(&c, &s->problem, NULL), STN_ERR_UNSUPPORTED);
    memcpy(c.v, b.v, sizeof c.v);
    memcpy(c.gamma, b.gamma, sizeof c.gamma);
    const stn_solve_info info = {.iterations = 12, .cost = (double)NAN, .reason = "by hand"};
    const stn_solve_request given = {.given = &info};
    stn_status status = stn_problem_solve(c.ps, &s->problem, &given, &c.solution, &c.report, &judged, &c.err);
    assert_int_equal(status, STN_NOT_CONVERGED);
    assert_int_equal(c.report.not_converged, 0);
    assert_int_equal(c.report.iterations, 12);
    assert_string_equal(c.report.reason, "by hand");
    assert_memory_equal(c.v, b.v, sizeof c.v);
    assert_memory_equal(c.gamma, b.gamma, sizeof c.gamma);
    assert_near(judged.momentum, solved.momentum, 1e-15);
    assert_near(judged.natural_ncp, solved.natural_ncp, 1e-15);
    c.v[0] += 1.0;
    status = stn_problem_solve(c.ps, &s->problem, &given, &c.solution, &c.report, &judged, &c.err);
    assert_int_equal(status, STN_NOT_CONVERGED);
    assert_true(judged.momentum > 1e-3);
    c.gamma[1] = (double)NAN;
    status = stn_problem_solve(c.ps, &s->problem, &given, &c.solution, &c.report, &judged, &c.err);
    assert_int_equal(status, STN_ERR_NUMERIC);
    assert_non_null(strstr(c.err.text, "gamma of contact"));
    bench_close(&c);
    sample_clear(s);
    bench_close(&b);
}

static void the_result_does_not_depend_on_the_number_of_workers(void **state) {
    (void)state;
    double v[MOST] = {0.0}, gamma[MOST] = {0.0}, cost = 0.0;
    for (int32_t threads = 1; threads <= 4; threads++) {
        bench b;
        assert_ok(bench_open(&b, "sap", threads), b.err);
        sample *s = pairs_sample(3, 7);
        tile(s, 6);
        for (int32_t repeat = 0; repeat < 5; repeat++) {
            assert_ok(bench_solve(&b, &s->problem, NULL), b.err);
            if (threads == 1 && repeat == 0) {
                memcpy(v, b.v, sizeof v);
                memcpy(gamma, b.gamma, sizeof gamma);
                cost = b.report.cost;
            }
            assert_memory_equal(v, b.v, sizeof v);
            assert_memory_equal(gamma, b.gamma, sizeof gamma);
            assert_memory_equal(&cost, &b.report.cost, sizeof cost);
        }
        sample_clear(s);
        bench_close(&b);
    }
}

static void a_second_solve_allocates_nothing(void **state) {
    (void)state;
    bench b;
    assert_ok(bench_open(&b, "sap", 1), b.err);
    sample *s = pairs_sample(4, 5);
    for (int32_t warm = 0; warm < 3; warm++) {
        assert_ok(bench_solve(&b, &s->problem, NULL), b.err);
    }
    int64_t before = stn_context_allocations(b.context);
    for (int32_t again = 0; again < 5; again++) {
        assert_ok(bench_solve(&b, &s->problem, NULL), b.err);
    }
    assert_int_equal(stn_context_allocations(b.context), before);
    sample_clear(s);
    bench_close(&b);
}

static void masses_are_computed_on_request_alone(void **state) {
    (void)state;
    bench b;
    assert_ok(bench_open(&b, "sap", 1), b.err);
    sample *s = pairs_sample(5, 2);
    stn_problem *p = &s->problem;
    const stn_solve_request as_given = {.masses = false};
    assert_int_equal(bench_solve(&b, p, &as_given), STN_ERR_NUMERIC);
    assert_non_null(strstr(b.err.text, "constraint 0 (contact, id 1000), row 0: R = nan 1/kg"));
    for (int32_t i = 0; i < p->constraint_count; i++) {
        p->constraints[i].w = 2.0;
        p->constraints[i].w_trace = 6.0;
    }
    assert_ok(bench_solve(&b, p, &as_given), b.err);
    assert_near(p->constraints[3].w, 2.0, 0.0);
    assert_near(p->R[0], 2e-3, 1e-15); // sigma w of the law sap
    sample_clear(s);
    bench_close(&b);
}

// A solver that yields v alone, started at sap's answer: the law must give sap's impulses.
static void impulses_come_from_the_law_when_a_solver_yields_velocities(void **state) {
    (void)state;
    bench b, c;
    assert_ok(bench_open(&b, "sap", 1), b.err);
    sample *s = pairs_sample(6, 3);
    assert_ok(bench_solve(&b, &s->problem, NULL), b.err);
    memcpy(s->problem.v_guess, b.v, (size_t)s->problem.nv * sizeof(double));
    assert_ok(bench_open(&c, "fake_velocity", 1), c.err);
    assert_ok(bench_solve(&c, &s->problem, NULL), c.err);
    for (int32_t r = 0; r < s->problem.row_count; r++) {
        assert_near(c.gamma[r], b.gamma[r], 1e-9);
    }
    assert_true(fake.saw_law && !fake.saw_threads && !fake.saw_inverse && !fake.saw_workspace);
    bench_close(&c);
    sample_clear(s);
    bench_close(&b);
}

/// Two islands of box and equality rows, well conditioned; and one body that nothing holds.
static sample *joints_sample(void) {
    stn_random r = {50};
    sample *s = sample_create();
    for (int32_t i = 0; i < 5; i++) {
        sample_tree(s, &r, STN_MATRIX_DENSE, 6);
    }
    sample_constraint(s, &r, STN_SET_BOX, 2, 0, 0, -1, 0);
    sample_constraint(s, &r, STN_SET_EQUALITY, 3, 0, 0, 3, 0);
    sample_constraint(s, &r, STN_SET_BOX, 1, 3, 0, -1, 0);
    sample_constraint(s, &r, STN_SET_EQUALITY, 2, 1, 0, 4, 0);
    sample_finish(s, &r);
    for (int32_t i = 0; i < s->problem.constraint_count; i++) {
        s->constraints[i].phi0 = -0.01;
        s->constraints[i].stiffness = 50.0;
        s->constraints[i].relaxation_time = 0.1;
        s->constraints[i].mu1 = s->constraints[i].mu2 = NAN;
    }
    return s;
}

// On box and equality rows an impulse solver and sap solve the same strictly convex problem.
static void velocities_are_recovered_when_a_solver_yields_impulses(void **state) {
    (void)state;
    bench b, c;
    assert_ok(bench_open(&b, "sap", 1), b.err);
    sample *s = joints_sample();
    assert_ok(bench_solve(&b, &s->problem, NULL), b.err);
    for (int32_t threads = 1; threads <= 2; threads++) {
        assert_ok(bench_open(&c, "fake_pgs", threads), c.err);
        assert_ok(bench_solve(&c, &s->problem, NULL), c.err);
        assert_int_equal(c.report.island_count, 2);
        assert_true(isnan(c.report.cost));
        for (int32_t d = 0; d < s->problem.nv; d++) {
            assert_near(c.v[d], b.v[d], 1e-9); // sap stops at 1e-12 of momenta of about 10
        }
        for (int32_t k = 0; k < s->problem.row_count; k++) {
            assert_near(c.gamma[k], b.gamma[k], 1e-8);
        }
        bench_close(&c);
    }
    sample_clear(s);
    bench_close(&b);
}

// fake_pgs works with A^-1 and is refused; fake_velocity does not, but says nothing of a singular A; sap does.
static void a_tree_with_singular_A_is_for_solvers_that_say_so(void **state) {
    (void)state;
    const char *const ids[] = {"fake_pgs", "fake_velocity", "sap"};
    for (int32_t k = 0; k < STN_COUNT(ids); k++) {
        bench b;
        assert_ok(bench_open(&b, ids[k], 1), b.err);
        sample *s = joints_sample();
        memset(s->trees[3].A.values, 0, 36 * sizeof(double));
        stn_status status = bench_solve(&b, &s->problem, NULL);
        char text[64];
        snprintf(text, sizeof text, "solver %s needs the inverse of A", ids[k]);
        if (k < 2) {
            assert_int_equal(status, STN_ERR_UNSUPPORTED);
            assert_non_null(strstr(b.err.text, text));
            assert_non_null(strstr(b.err.text, "A of tree 3 (source 103) is singular at dof 0"));
            assert_non_null(
                strstr(b.err.text,
                       "admm, admm_ncp, admm_split, admm_split_ncp, auto_convex, ipm, lemke, newton_ncp, qp, sap"));
        } else {
            assert_ok(status, b.err);
        }
        s->trees[3].A.values[0] = -1.0;
        assert_int_equal(bench_solve(&b, &s->problem, NULL), STN_ERR_NUMERIC); // whatever the solver
        assert_non_null(strstr(b.err.text, "A of tree 3 (source 103) is indefinite"));
        sample_clear(s);
        bench_close(&b);
    }
}

static void there_is_no_inverse_of_a_singular_A(void **state) {
    (void)state;
    stn_solver_ops ops = velocity_ops;
    stn_plugin_desc desc = velocity_solver;
    ops.yields = STN_YIELDS_BOTH;
    ops.needs = STN_NEEDS_DELASSUS;
    ops.supports = STN_SUPPORTS_SINGULAR_A;
    desc.id = "fake_singular";
    desc.ops.solver = &ops;
    bench b;
    assert_ok(bench_open(&b, "sap", 1), b.err);
    stn_problem_solver_destroy(b.ps);
    stn_instance_destroy(b.solver);
    assert_ok(stn_plugin_register(b.context, &desc, &b.err), b.err);
    assert_ok(stn_instance_create(b.context, STN_KIND_SOLVER, desc.id, NULL, 0, &b.solver, &b.err), b.err);
    const stn_problem_solver_options o = {b.solver, NULL, NULL, b.threads};
    assert_ok(stn_problem_solver_create(b.context, &o, &b.ps, &b.err), b.err);
    stn_random r = {5};
    sample *s = sample_create();
    const int32_t tree = sample_tree(s, &r, STN_MATRIX_DENSE, 6);
    sample_constraint(s, &r, STN_SET_EQUALITY, 1, tree, 0, -1, 0);
    sample_finish(s, &r);
    assert_true(bench_solve(&b, &s->problem, NULL) >= STN_OK); // it keeps its start
    assert_true(fake.saw_inverse && fake.saw_delassus);
    memset(s->trees[0].A.values, 0, 36 * sizeof(double));
    assert_true(bench_solve(&b, &s->problem, NULL) >= STN_OK);
    assert_true(fake.calls == 2 && !fake.saw_inverse && !fake.saw_delassus);
    sample_clear(s);
    bench_close(&b);
}

// A tree without constraints whose A has rank 1: what it resists is balanced, what it does not is named.
static void what_nothing_holds_is_named_beside_the_islands(void **state) {
    (void)state;
    bench b;
    assert_ok(bench_open(&b, "sap", 1), b.err);
    stn_random r = {3};
    sample *s = sample_create();
    sample_tree(s, &r, STN_MATRIX_DENSE, 2);
    sample_finish(s, &r);
    const double A[4] = {4.0, 2.0, 2.0, 1.0};
    double impulse[2] = {8.0, 4.0};
    memcpy(s->trees[0].A.values, A, sizeof A);
    s->problem.free_impulse = impulse;
    s->problem.v_star[0] = s->problem.v_star[1] = 0.0;
    assert_ok(bench_solve(&b, &s->problem, NULL), b.err);
    assert_near(A[0] * b.v[0] + A[1] * b.v[1], 8.0, 1e-8);
    assert_near(A[2] * b.v[0] + A[3] * b.v[1], 4.0, 1e-8);
    impulse[1] = 4.1;
    assert_int_equal(bench_solve(&b, &s->problem, NULL), STN_ERR_NUMERIC);
    assert_non_null(strstr(b.err.text, "nothing holds tree 0 (source 100) along dof "));
    sample_clear(s);
    bench_close(&b);
}

// The local form of the joints: the same impulses from W and q alone.
static void local_problems_give_the_impulses_of_their_global_form(void **state) {
    (void)state;
    bench b;
    stn_certificate certificate;
    assert_ok(bench_open(&b, "fake_pgs", 1), b.err);
    sample *s = joints_sample();
    stn_problem *p = &s->problem, local;
    assert_ok(bench_solve(&b, p, NULL), b.err);
    double gamma[8];
    memcpy(gamma, b.gamma, sizeof gamma);
    local = *p;
    local.form = STN_FORM_LOCAL;
    local.nv = local.tree_count = 0;
    local.W = sample_dense_W(p);
    local.q = sample_doubles(s, 8, 0.0);
    stn_problem_contact_velocity(p, p->v_star, true, local.q);
    memset(local.bias, 0, 8 * sizeof(double));
    local.explicit_R = true;
    const stn_solve_request request = {.masses = true};
    assert_ok(stn_problem_solve(b.ps, &local, &request, &b.solution, &b.report, &certificate, &b.err), b.err);
    for (int32_t k = 0; k < 8; k++) {
        assert_near(b.gamma[k], gamma[k], 1e-10);
    }
    assert_true(isnan(certificate.momentum) && certificate.natural_ncp < 1e-9 && certificate.finite);
    free(local.W);
    sample_clear(s);
    bench_close(&b);
}

static void the_report_is_the_worst_of_the_islands(void **state) {
    (void)state;
    bench b;
    sample *s = pairs_sample(7, 4);
    stn_problem *p = &s->problem;
    assert_ok(bench_open(&b, "sap", 1), b.err);
    assert_ok(bench_solve(&b, p, NULL), b.err);
    memcpy(p->v_guess, b.v, (size_t)p->nv * sizeof(double)); // the solution: the fake keeps it, and claims the truth
    bench_close(&b);
    assert_ok(bench_open(&b, "fake_velocity", 1), b.err);
    fake.status[3] = STN_STALLED; // the second pair
    fake.status[6] = STN_NOT_CONVERGED;
    fake.status[9] = STN_NOT_CONVERGED;
    assert_int_equal(bench_solve(&b, p, NULL), STN_NOT_CONVERGED);
    assert_int_equal(fake.calls, 4);
    assert_int_equal(b.report.status, STN_NOT_CONVERGED);
    assert_int_equal(b.report.worst, 2);
    assert_int_equal(b.report.not_converged, 2);
    assert_int_equal(b.report.iterations, 3);
    assert_near(b.report.cost, 2.0, 1e-15);
    assert_string_equal(b.report.reason, "asked");
    p->constraint_count = p->row_count = 0; // nothing touches
    assert_ok(bench_solve(&b, p, NULL), b.err);
    assert_int_equal(b.report.island_count, 0);
    assert_int_equal(b.report.worst, -1);
    assert_near(b.report.cost, 0.0, 0.0);
    assert_string_equal(b.report.reason, "no constraints");
    assert_memory_equal(b.v, p->v_star, (size_t)p->nv * sizeof(double));
    sample_clear(s);
    bench_close(&b);
}

static void a_failed_island_leaves_the_outputs_and_is_the_same_for_any_workers(void **state) {
    (void)state;
    for (int32_t threads = 1; threads <= 3; threads++) {
        bench b;
        assert_ok(bench_open(&b, "fake_velocity", threads), b.err);
        sample *s = pairs_sample(8, 7);
        tile(s, 3);
        fake.status[60] = fake.status[48] = STN_ERR_NUMERIC;
        fake.status[24] = STN_ERR_DIVERGED;
        b.v[0] = b.gamma[0] = 77.0;
        b.report.island_count = 77;
        assert_int_equal(bench_solve(&b, &s->problem, NULL), STN_ERR_DIVERGED);
        assert_string_equal(b.err.text, "solver fake_velocity: island 8: asked to fail at 1024");
        assert_near(b.v[0] + b.gamma[0] + b.report.island_count, 231.0, 0.0);
        sample_clear(s);
        bench_close(&b);
    }
}

static void not_a_number_is_named_where_it_comes_out(void **state) {
    (void)state;
    bench b;
    assert_ok(bench_open(&b, "fake_velocity", 1), b.err);
    sample *s = pairs_sample(9, 1);
    fake.spoil = true;
    assert_int_equal(bench_solve(&b, &s->problem, NULL), STN_ERR_NUMERIC);
    assert_non_null(strstr(b.err.text, "solver fake_velocity: v of tree (source 100), dof 0, came out as nan"));
    sample_clear(s);
    bench_close(&b);
}

static void what_a_solver_cannot_treat_is_named_with_those_that_can(void **state) {
    (void)state;
    bench b;
    assert_ok(bench_open(&b, "fake_both", 1), b.err);
    sample *s = pairs_sample(10, 4);
    const stn_solve_request request = {.solver_memory = b.v};
    assert_int_equal(bench_solve(&b, &s->problem, &request), STN_ERR_UNSUPPORTED);
    assert_non_null(strstr(b.err.text,
                           "solver fake_both cannot treat the set 'box': constraint 2 (joint_limit, id 1002, "
                           "rows 6 to 6) and 1 more; solvers that can: "));
    assert_non_null(strstr(b.err.text, "sap"));
    assert_int_equal(fake.calls, 0);
    s->problem = (stn_problem){.form = STN_FORM_LOCAL, .dt = 0.01};
    assert_int_equal(stn_problem_solver_accepts(b.ps, &s->problem, &b.err), STN_ERR_UNSUPPORTED);
    assert_non_null(strstr(b.err.text, "a local problem has none"));
    sample_clear(s);
    bench_close(&b);
}

static void a_law_says_which_sets_it_knows(void **state) {
    (void)state;
    bench b;
    assert_ok(bench_open(&b, "sap", 1), b.err);
    stn_problem_solver_destroy(b.ps);
    stn_instance_destroy(b.law);
    assert_ok(stn_instance_create(b.context, STN_KIND_LAW, "lagged", NULL, 0, &b.law, &b.err), b.err);
    stn_problem_solver_options o = {b.solver, b.law, NULL, b.threads};
    assert_ok(stn_problem_solver_create(b.context, &o, &b.ps, &b.err), b.err);
    sample *s = pairs_sample(11, 1);
    s->constraints[1].set = STN_SET_ELLIPSE;
    assert_int_equal(bench_solve(&b, &s->problem, NULL), STN_ERR_UNSUPPORTED);
    assert_non_null(strstr(b.err.text, "law lagged cannot treat the set 'ellipse': constraint 1"));
    sample_clear(s);
    bench_close(&b);
}

static void memory_that_a_solver_keeps_must_be_given(void **state) {
    (void)state;
    bench b;
    assert_ok(bench_open(&b, "fake_both", 2), b.err);
    assert_true(fake.workspaces >= 2);
    sample *s = pairs_sample(12, 1);
    s->problem.constraint_count = 2;
    s->problem.row_count = 6;
    assert_int_equal(bench_solve(&b, &s->problem, NULL), STN_ERR_ARGUMENT);
    assert_string_equal(b.err.text, "solver fake_both keeps memory and none is given");
    const stn_solve_request request = {.masses = true, .solver_memory = b.v};
    assert_true(bench_solve(&b, &s->problem, &request) >= 0);             // its answer is none
    assert_true(fake.saw_threads && fake.saw_workspace && !fake.saw_law); // one island may use all workers
    sample_clear(s);
    bench_close(&b);
}

// What a cache grows to must not depend on which thread is quick: each island keeps its workspace.
static void islands_keep_their_workspaces_however_threads_are_scheduled(void **state) {
    (void)state;
    enum { TREES = 16, TILES = 4, ISLANDS = TREES * TILES };
    bench b;
    assert_ok(bench_open(&b, "fake_both", 2), b.err);
    stn_random r = {14};
    sample *s = sample_create();
    for (int32_t i = 0; i < TREES; i++) {
        sample_constraint(s, &r, STN_SET_EQUALITY, 1, sample_tree(s, &r, STN_MATRIX_DENSE, 1), 0, -1, 0);
    }
    sample_finish(s, &r);
    tile(s, TILES);
    const stn_solve_request request = {.masses = true, .solver_memory = b.v};
    const void *first[ISLANDS];
    fake.slow = pthread_self();
    assert_true(bench_solve(&b, &s->problem, &request) >= 0); // its answer is none
    memcpy(first, fake.workspace, sizeof first);
    assert_ptr_not_equal(first[0], first[ISLANDS - 1]);
    fake.slow_others = true;
    assert_true(bench_solve(&b, &s->problem, &request) >= 0);
    assert_memory_equal(first, fake.workspace, sizeof first);
    sample_clear(s);
    bench_close(&b);
}

static void plugins_of_the_wrong_kind_and_missing_laws_are_refused(void **state) {
    (void)state;
    bench b;
    stn_problem_solver *ps;
    assert_ok(bench_open(&b, "sap", 1), b.err);
    stn_problem_solver_options o = {0};
    assert_int_equal(stn_problem_solver_create(b.context, &o, &ps, &b.err), STN_ERR_ARGUMENT);
    o.solver = b.law;
    assert_int_equal(stn_problem_solver_create(b.context, &o, &ps, &b.err), STN_ERR_ARGUMENT);
    assert_string_equal(b.err.text, "law sap is no solver");
    o.solver = b.solver;
    assert_int_equal(stn_problem_solver_create(b.context, &o, &ps, &b.err), STN_ERR_ARGUMENT);
    assert_string_equal(b.err.text, "solver sap needs a contact law and none is chosen");
    assert_null(ps);
    bench_close(&b);
}

static void no_memory_is_said_and_nothing_leaks(void **state) {
    (void)state;
    bench b;
    assert_ok(bench_open(&b, "sap", 2), b.err);
    sample *s = pairs_sample(13, 3);
    stn_problem_solver_options o = {b.solver, b.law, NULL, b.threads};
    const stn_solve_request request = {.masses = true};
    stn_status status = STN_ERR_MEMORY;
    long long before = atomic_load(&b.heap.live);
    for (long long n = 1; status != STN_OK; n++) {
        stn_problem_solver *ps = NULL;
        stn_heap_arm(&b.heap, n);
        status = stn_problem_solver_create(b.context, &o, &ps, &b.err);
        if (status == STN_OK) {
            status = stn_problem_solve(ps, &s->problem, &request, &b.solution, &b.report, NULL, &b.err);
        }
        stn_heap_arm(&b.heap, 0);
        assert_true(status == STN_OK || status == STN_ERR_MEMORY);
        stn_problem_solver_destroy(ps);
        assert_int_equal(atomic_load(&b.heap.live), before);
    }
    sample_clear(s);
    bench_close(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_momentum_balance_holds_and_free_trees_keep_their_velocity),
        cmocka_unit_test(free_impulses_move_trees_in_no_island),
        cmocka_unit_test(a_given_solution_is_judged_and_left_alone),
        cmocka_unit_test(the_result_does_not_depend_on_the_number_of_workers),
        cmocka_unit_test(a_second_solve_allocates_nothing),
        cmocka_unit_test(masses_are_computed_on_request_alone),
        cmocka_unit_test(impulses_come_from_the_law_when_a_solver_yields_velocities),
        cmocka_unit_test(velocities_are_recovered_when_a_solver_yields_impulses),
        cmocka_unit_test(a_tree_with_singular_A_is_for_solvers_that_say_so),
        cmocka_unit_test(there_is_no_inverse_of_a_singular_A),
        cmocka_unit_test(what_nothing_holds_is_named_beside_the_islands),
        cmocka_unit_test(local_problems_give_the_impulses_of_their_global_form),
        cmocka_unit_test(the_report_is_the_worst_of_the_islands),
        cmocka_unit_test(a_failed_island_leaves_the_outputs_and_is_the_same_for_any_workers),
        cmocka_unit_test(not_a_number_is_named_where_it_comes_out),
        cmocka_unit_test(what_a_solver_cannot_treat_is_named_with_those_that_can),
        cmocka_unit_test(a_law_says_which_sets_it_knows),
        cmocka_unit_test(memory_that_a_solver_keeps_must_be_given),
        cmocka_unit_test(islands_keep_their_workspaces_however_threads_are_scheduled),
        cmocka_unit_test(plugins_of_the_wrong_kind_and_missing_laws_are_refused),
        cmocka_unit_test(no_memory_is_said_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
