// SPDX-License-Identifier: Apache-2.0
// The solver sap: closed forms and invariances.
#include "sap_fixture.h"

static void sticking_point_solves_a_linear_system(void **state) {
    fixture *f = *state;
    stn_problem *p = make_point(f, 0.03, -0.02, -1.0);
    double v[3] = {0.0}, gamma[3];
    stn_solve_info info;
    assert_ok(fixture_solve(f, p, v, gamma, &info), f->err);
    // stick: v + R gamma = v_hat and v = v* + gamma/m
    assert_near(gamma[2], (0.1 + 1.0) / (0.02 + 0.5), 1e-12);
    assert_near(gamma[0], -0.03 / (0.01 + 0.5), 1e-12);
    assert_near(gamma[1], 0.02 / (0.01 + 0.5), 1e-12);
    assert_near(v[2], -1.0 + 0.5 * gamma[2], 1e-12);
    assert_string_equal(info.reason, "residual");
    assert_true(info.iterations <= 2);
}

static void sliding_point_solves_the_boundary_of_the_cone(void **state) {
    fixture *f = *state;
    stn_problem *p = make_point(f, 3.0, -4.0, -1.0);
    double v[3] = {0.0}, gamma[3];
    stn_solve_info info;
    assert_ok(fixture_solve(f, p, v, gamma, &info), f->err);
    // slide: gamma_n (R_n + mu^2 R_t + (1 + mu^2)/m) = v_hat - v_n* + mu |v_t*|
    double gn = (0.1 + 1.0 + 0.5 * 5.0) / (0.02 + 0.25 * 0.01 + 1.25 * 0.5);
    assert_near(gamma[2], gn, 1e-9); // ten times the tolerance
    assert_near(gamma[0], -0.5 * gn * 0.6, 1e-9);
    assert_near(gamma[1], 0.5 * gn * 0.8, 1e-9);
    assert_near(v[0], 3.0 + 0.5 * gamma[0], 1e-12);
    double cost = gn * gn * (1.25 / 2.0 + 0.02 + 0.25 * 0.01) / 2.0;
    assert_near(info.cost, cost, 1e-9);
}

static void open_contact_leaves_the_free_velocity(void **state) {
    fixture *f = *state;
    stn_problem *p = make_point(f, 3.0, -4.0, 2.2);
    p->v_star[0] = p->v_star[1] = 0.1; // |v_t| mu is not enough to reach y_n > -mu_hat y_r
    double v[3] = {0.5, 0.0, -1.0}, gamma[3] = {7.0, 7.0, 7.0};
    stn_solve_info info;
    assert_ok(fixture_solve(f, p, v, gamma, &info), f->err);
    for (int a = 0; a < 3; a++) {
        assert_near(v[a], p->v_star[a], 1e-12);
        assert_true(gamma[a] == 0.0);
    }
    assert_near(info.cost, 0.0, 1e-20);
}

static void bias_is_a_moving_belt(void **state) {
    fixture *f = *state;
    stn_problem *p = make_point(f, 0.0, 0.0, -1.0);
    p->bias[0] = 0.03;
    double v[3] = {0.0}, gamma[3];
    stn_solve_info info;
    assert_ok(fixture_solve(f, p, v, gamma, &info), f->err);
    assert_near(gamma[0], -0.03 / (0.01 + 0.5), 1e-12);
    assert_near(v[0], 0.5 * gamma[0], 1e-12);
}

static void box_rows_clamp_and_equality_rows_hold(void **state) {
    fixture *f = *state;
    static const double A[9] = {2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0};
    scene_tree(&f->scene, 3, A);
    scene_constraint(&f->scene, 3, 0, unit_rows, -1, NULL)->set = STN_SET_BOX;
    stn_constraint *second = scene_constraint(&f->scene, 1, 0, unit_rows + 6, -1, NULL);
    second->set = STN_SET_EQUALITY;
    stn_problem *p = scene_finish(&f->scene);
    for (int r = 0; r < 4; r++) {
        p->R[r] = 0.1;
        p->v_star[r % 3] = 1.0;
    }
    p->lo[0] = -0.5;
    p->hi[0] = 0.5; // clamped: free impulse would be -1/(0.1 + 0.5)
    p->lo[1] = -5.0;
    p->hi[1] = 5.0; // inside
    p->v_hat[1] = 0.2;
    p->lo[2] = 0.0; // one-sided, would pull: 0
    p->hi[2] = INFINITY;
    p->v_hat[3] = 0.3;
    double v[3] = {0.0}, gamma[4];
    stn_solve_info info;
    assert_ok(fixture_solve(f, p, v, gamma, &info), f->err);
    assert_near(gamma[0], -0.5, 0.0);
    assert_near(v[0], 1.0 - 0.25, 1e-12);
    assert_near(gamma[1], (0.2 - 1.0) / (0.1 + 0.5), 1e-12);
    assert_near(gamma[2], 0.0, 0.0);
    assert_near(gamma[3], (0.3 - 1.0) / (0.1 + 0.5), 1e-12);
}

static void free_impulse_is_carried_by_a_contact_where_A_is_zero(void **state) {
    fixture *f = *state;
    stn_problem *p = make_point(f, 0.0, 0.0, 0.0);
    p->trees[0].A = (stn_matrix){.n = 3, .form = STN_MATRIX_ZERO};
    double force[3] = {0.3, 0.0, -2.0}, v[3] = {0.0}, gamma[3];
    p->free_impulse = force;
    p->v_hat[2] = 0.0;
    stn_solve_info info;
    assert_ok(fixture_solve(f, p, v, gamma, &info), f->err);
    assert_near(gamma[0], -0.3, 1e-9);
    assert_near(gamma[2], 2.0, 1e-9);
    assert_near(v[0], 0.01 * 0.3, 1e-11); // v = v_hat - R gamma
    assert_near(v[2], -0.02 * 2.0, 1e-11);
    assert_near(info.cost, 0.5 * (0.01 * 0.09 + 0.02 * 4.0) - 0.3 * v[0] + 2.0 * v[2], 1e-11);
}

static void singular_hessian_is_damped_once(void **state) {
    fixture *f = *state;
    static const double A[4] = {1.0, 1.0, 1.0, 1.0};
    scene_tree(&f->scene, 2, A);
    stn_problem *p = scene_finish(&f->scene);
    p->v_star[0] = 1.0;
    p->v_star[1] = 2.0;
    double v[2] = {0.0}, gamma[1];
    stn_solve_info info;
    assert_ok(fixture_solve(f, p, v, gamma, &info), f->err);
    assert_near(v[0] + v[1], 3.0, 1e-9); // all that A says
    assert_true(info.factorizations == 2 * info.iterations);
}

// A factorisation whose analysis fails, with the status that numeric gives where a matrix is not positive definite.
static stn_status fail_analysis(void *self, stn_context *context, const stn_block_pattern *pattern, void **symbolic,
                                stn_error *err) {
    (void)self, (void)context, (void)pattern;
    *symbolic = NULL;
    return stn_fail(err, STN_ERR_NUMERIC, "internal failure");
}

static void release_nothing(void *symbolic) {
    (void)symbolic;
}

static stn_status fail_numeric(void *symbolic, const stn_block_matrix *matrix, stn_error *err) {
    (void)matrix;
    assert_non_null(symbolic);
    return stn_fail(err, STN_ERR_NUMERIC, "there was no analysis");
}

static void solve_nothing(void *symbolic, int32_t columns, double *x) {
    (void)symbolic, (void)columns, (void)x;
}

static void an_analysis_that_fails_ends_the_solve(void **state) {
    static const stn_factor_ops ops = {.size = sizeof ops,
                                       .symbolic = fail_analysis,
                                       .release = release_nothing,
                                       .numeric = fail_numeric,
                                       .solve = solve_nothing};
    static const stn_plugin_desc desc = {.size = sizeof desc,
                                         .kind = STN_KIND_FACTOR,
                                         .id = "no_analysis",
                                         .version = "1",
                                         .summary = "fails",
                                         .ops = {.factor = &ops}};
    fixture *f = *state;
    stn_problem *p = make_point(f, 0.3, 0.0, -1.0);
    double v[3] = {0.0}, gamma[3];
    stn_solve_info info;
    stn_instance *factor = NULL;
    assert_ok(stn_plugin_register(f->context, &desc, &f->err), f->err);
    assert_ok(stn_instance_create(f->context, STN_KIND_FACTOR, "no_analysis", NULL, 0, &factor, &f->err), f->err);
    f->factor = factor;
    assert_int_equal(fixture_solve(f, p, v, gamma, &info), STN_ERR_UNSUPPORTED);
    assert_non_null(strstr(f->err.text, "internal failure"));
    stn_instance_destroy(factor);
    f->factor = NULL;
}

// Another law: a barrier, cost -ln(v_n + 1) per contact, defined for v_n > -1 only.
static stn_status prepare_barrier(const void *self, const stn_problem *problem, const stn_law_batch *batch,
                                  const void *memory, stn_error *err) {
    (void)self, (void)problem, (void)memory, (void)err;
    for (int32_t i = 0; i < batch->stride; i++) {
        batch->coefficients[i] = i < batch->count ? 1.0 : 0.0;
    }
    return STN_OK;
}

static void evaluate_barrier(const void *self, const stn_law_batch *batch, const double *v_c, double *cost,
                             double *gamma, double *G) {
    (void)self;
    int32_t stride = batch->stride;
    memset(gamma, 0, 3 * (size_t)stride * sizeof *gamma);
    memset(G, 0, 6 * (size_t)stride * sizeof *G);
    for (int32_t i = 0; i < stride; i++) {
        double x = v_c[2 * stride + i] + 1.0, on = batch->coefficients[i];
        assert_true(x > 0.0);
        cost[i] = -on * log(x);
        gamma[2 * stride + i] = on / x;
        G[5 * stride + i] = on / (x * x);
    }
}

static double step_to_barrier(const void *self, const stn_law_batch *batch, const double *v_c, const double *dv_c) {
    (void)self;
    double step = INFINITY;
    for (int32_t i = 0; i < batch->count; i++) {
        int32_t n = 2 * batch->stride + i;
        step = dv_c[n] < 0.0 ? fmin(step, -(v_c[n] + 1.0) / dv_c[n]) : step;
    }
    return step;
}

static void steps_stay_where_the_law_is_defined(void **state) {
    fixture *f = *state;
    static const stn_law_ops barrier = {.size = sizeof barrier,
                                        .coefficient_count = 1,
                                        .sets = 1u << STN_SET_CONE,
                                        .prepare = prepare_barrier,
                                        .evaluate = evaluate_barrier,
                                        .max_step = step_to_barrier};
    f->law = (stn_law){.ops = &barrier, .id = "barrier"};
    for (int i = 0; i < 2; i++) {
        fixture_choose(f, "line_search", i == 0 ? "exact" : "armijo");
        scene_end(&f->scene);
        scene_begin(&f->scene, f->context, 1);
        stn_problem *p = make_point(f, 0.0, 0.0, -50.0);
        double v[3] = {0.0, 0.0, 40.0}, gamma[3];
        stn_solve_info info;
        assert_ok(fixture_solve(f, p, v, gamma, &info), f->err);
        // 2 (v + 50) = 1/(v + 1)
        double root = 0.5 * (-51.0 + sqrt(51.0 * 51.0 - 4.0 * 49.5));
        assert_near(v[2], root, 1e-9);
        assert_near(gamma[2], 1.0 / (root + 1.0), 1e-8);
    }
}

static void nothing_to_do_is_done_at_once(void **state) {
    fixture *f = *state;
    stn_solve_info info;
    double v[4] = {1.0, 2.0, 3.0, 4.0}, gamma[1];
    assert_ok(fixture_solve(f, scene_finish(&f->scene), v, gamma, &info), f->err); // no tree
    assert_int_equal(info.iterations, 0);
    scene_random_tree(&f->scene, 4, 100.0, 1.0); // no contact
    stn_problem *p = scene_finish(&f->scene);
    p->v_star[2] = 5.0;
    assert_ok(fixture_solve(f, p, v, gamma, &info), f->err);
    assert_true(info.iterations <= 1);
    for (int i = 0; i < 4; i++) {
        assert_near(v[i], p->v_star[i], 1e-8);
    }
}

static void a_solution_as_warm_start_takes_no_iteration_and_stays(void **state) {
    fixture *f = *state;
    scene_pile(&f->scene, 3, 3, false, 0.05);
    stn_problem *p = &f->scene.problem;
    fixture_derive(f, p);
    double v[MAX_ROWS], gamma[MAX_ROWS], again[MAX_ROWS], gamma_again[MAX_ROWS];
    stn_solve_info info;
    memcpy(v, p->v_guess, (size_t)p->nv * sizeof *v);
    assert_ok(fixture_solve(f, p, v, gamma, &info), f->err);
    assert_true(info.iterations > 0);
    double cost = info.cost;
    memcpy(again, v, sizeof v);
    assert_ok(fixture_solve(f, p, again, gamma_again, &info), f->err);
    assert_int_equal(info.iterations, 0);
    assert_int_equal(info.factorizations, 0);
    assert_memory_equal(v, again, (size_t)p->nv * sizeof *v);
    assert_memory_equal(gamma, gamma_again, (size_t)p->row_count * sizeof *gamma);
    assert_true(info.cost == cost);
}

static void copies_of_a_contact_share_its_impulse(void **state) {
    fixture *f = *state;
    static const double A[9] = {2.0, 0.1, 0.0, 0.1, 2.0, 0.0, 0.0, 0.0, 3.0};
    double v1[3] = {0.0}, gamma1[3], v4[3] = {0.0}, gamma4[12];
    stn_solve_info info;
    stn_problem *p = NULL;
    for (int copies = 1; copies <= 4; copies += 3) {
        scene_end(&f->scene);
        scene_begin(&f->scene, f->context, 1);
        scene_tree(&f->scene, 3, A);
        for (int i = 0; i < copies; i++) {
            scene_constraint(&f->scene, 3, 0, unit_rows, -1, NULL);
        }
        p = scene_finish(&f->scene);
        for (int r = 0; r < 3 * copies; r++) { // n contacts of n R are one contact of R
            p->R[r] = (r % 3 == 2 ? 0.02 : 0.01) * copies;
        }
        p->v_star[0] = 2.0;
        p->v_star[2] = -1.0;
        assert_ok(fixture_solve(f, p, copies == 1 ? v1 : v4, copies == 1 ? gamma1 : gamma4, &info), f->err);
    }
    for (int a = 0; a < 3; a++) {
        assert_near(v1[a], v4[a], 1e-9);
        for (int i = 0; i < 4; i++) {
            assert_near(gamma4[3 * i + a], gamma1[a] / 4.0, 1e-9);
        }
    }
}

/// The same constraints in another order, rows stacked anew.
static void permute(const stn_problem *p, const int32_t *order, stn_problem *out, stn_constraint *constraints,
                    double rows[6][MAX_ROWS]) {
    *out = *p;
    out->constraints = constraints;
    out->bias = rows[0];
    out->lo = rows[1];
    out->hi = rows[2];
    out->R = rows[3];
    out->v_hat = rows[4];
    int32_t row = 0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[order[i]];
        constraints[i] = *c;
        constraints[i].row = row;
        for (int32_t r = 0; r < c->rows; r++, row++) {
            rows[0][row] = p->bias[c->row + r];
            rows[1][row] = p->lo[c->row + r];
            rows[2][row] = p->hi[c->row + r];
            rows[3][row] = p->R[c->row + r];
            rows[4][row] = p->v_hat[c->row + r];
        }
    }
}

static void order_of_contacts_does_not_matter(void **state) {
    fixture *f = *state;
    scene_pile(&f->scene, 3, 2, false, 0.05);
    stn_problem *p = &f->scene.problem, other;
    fixture_derive(f, p);
    static stn_constraint constraints[MAX_ROWS];
    static double rows[6][MAX_ROWS];
    int32_t order[MAX_ROWS];
    for (int32_t i = 0; i < p->constraint_count; i++) { // shuffle
        int32_t k = scene_integer(&f->scene, 0, i);
        order[i] = order[k];
        order[k] = i;
    }
    permute(p, order, &other, constraints, rows);
    double v[MAX_ROWS], gamma[MAX_ROWS], v2[MAX_ROWS], gamma2[MAX_ROWS];
    stn_solve_info info;
    memcpy(v, p->v_guess, (size_t)p->nv * sizeof *v);
    memcpy(v2, p->v_guess, (size_t)p->nv * sizeof *v);
    assert_ok(fixture_solve(f, p, v, gamma, &info), f->err);
    assert_ok(fixture_solve(f, &other, v2, gamma2, &info), f->err);
    assert_true(scene_distance(p, v, v2) <= 1e-9 * scene_distance(p, v, NULL));
    for (int32_t i = 0; i < p->constraint_count; i++) {
        for (int32_t a = 0; a < 3; a++) {
            assert_near(gamma2[3 * i + a], gamma[p->constraints[order[i]].row + a], 1e-12);
        }
    }
}

static void factorisations_and_line_searches_agree(void **state) {
    fixture *f = *state;
    scene_pile(&f->scene, 3, 3, false, 0.05);
    stn_problem *p = &f->scene.problem;
    fixture_derive(f, p);
    const char *settings[][2] = {{"factorization", "dense"},
                                 {"factorization", "block"},
                                 {"factorization", "auto"},
                                 {"factorization", "iterative"},
                                 {"line_search", "armijo"}};
    double v[6][MAX_ROWS], gamma[MAX_ROWS];
    stn_solve_info info;
    stn_instance *cholmod = NULL;
    int32_t count =
        stn_instance_create(f->context, STN_KIND_FACTOR, "cholmod", NULL, 0, &cholmod, NULL) == STN_OK ? 6 : 5;
    for (int32_t i = 0; i < count; i++) {
        fixture_choose(f, i < 5 ? settings[i][0] : NULL, i < 5 ? settings[i][1] : NULL);
        f->factor = i < 5 ? NULL : cholmod;
        memcpy(v[i], p->v_guess, (size_t)p->nv * sizeof **v);
        assert_ok(fixture_solve(f, p, v[i], gamma, &info), f->err);
        assert_true(scene_distance(p, v[i], v[0]) <= 1e-9 * scene_distance(p, v[0], NULL));
        assert_true(info.factorizations >= info.iterations && info.line_search_evaluations >= info.iterations);
    }
    f->factor = NULL;
    stn_instance_destroy(cholmod);
}

/// The scene by one factorization into v (nv).
static stn_solve_info solve_scene(fixture *f, const char *factorization, double *v) {
    const stn_problem *p = &f->scene.problem;
    double *gamma = calloc((size_t)p->row_count, sizeof *gamma);
    stn_solve_info info;
    assert_non_null(gamma);
    fixture_choose(f, "factorization", factorization);
    memcpy(v, p->v_guess, (size_t)p->nv * sizeof *v);
    assert_ok(fixture_solve(f, p, v, gamma, &info), f->err);
    free(gamma);
    return info;
}

static void large_piles_are_solved_by_conjugate_gradients(void **state) {
    fixture *f = *state;
    static const int32_t sides[] = {7, 8}; // 196 bodies, 256: from 200 on a whole factor may not be worth it
    for (int32_t k = 0; k < STN_COUNT(sides); k++) {
        scene_end(&f->scene);
        scene_begin(&f->scene, f->context, 3);
        scene_pile(&f->scene, sides[k], 4, false, 0.05);
        stn_problem *p = &f->scene.problem;
        fixture_derive(f, p);
        const size_t n = (size_t)p->nv;
        double *v = calloc(3 * n, sizeof *v);
        assert_non_null(v);
        assert_int_equal(solve_scene(f, "block", v).fallbacks, 0);
        assert_int_equal(solve_scene(f, "iterative", v + n).fallbacks, 0);
        assert_int_equal(solve_scene(f, "auto", v + 2 * n).fallbacks, 0);
        assert_true(scene_distance(p, v + n, v) <= 1e-8 * scene_distance(p, v, NULL));
        assert_memory_equal(v + 2 * n, k == 0 ? v : v + n, n * sizeof *v);
        free(v);
    }
}

/// Contacts and velocities of several parts, by a whole factor and by conjugate gradients.
static void any_number_of_threads_gives_the_same_bits(void **state) {
    enum { MOST = 4 };
    fixture *f = *state;
    for (int32_t k = 0; k < 2; k++) {
        scene_end(&f->scene);
        scene_begin(&f->scene, f->context, 5);
        scene_pile(&f->scene, 8, 4, k == 1, 0.05);
        stn_problem *p = &f->scene.problem;
        fixture_derive(f, p);
        const size_t n = (size_t)p->nv;
        assert_true(p->constraint_count > 400 && n > 1500);
        double *v = calloc(2 * n, sizeof *v);
        assert_non_null(v);
        for (int32_t count = 1; count <= MOST; count++) {
            for (int32_t i = 0; i < 2; i++) {
                assert_ok(stn_threads_create(f->context, count, &f->threads, &f->err), f->err);
                const stn_solve_info info = solve_scene(f, i == 0 ? "block" : "iterative", v + n);
                stn_threads_destroy(f->threads);
                f->threads = NULL;
                solve_scene(f, i == 0 ? "block" : "iterative", v);
                assert_true(info.iterations > 2);
                assert_memory_equal(v, v + n, n * sizeof *v);
            }
        }
        free(v);
    }
}

/// Boxes of 1e-3 to 1e3 kg on each other, and trees whose A have conditions up to 1e12, where conjugate gradients give
/// up: the answer is that of a whole factor.
static void conjugate_gradients_give_way_to_a_whole_factor(void **state) {
    fixture *f = *state;
    int32_t fallbacks[2] = {0};
    for (uint64_t seed = 1; seed <= 40; seed++) {
        const bool pile = seed <= 20;
        scene_end(&f->scene);
        scene_begin(&f->scene, f->context, seed);
        if (pile) {
            scene_pile(&f->scene, 3, 8, false, 0.05);
        } else {
            scene_random(&f->scene, 80, 1e12, 2.0);
        }
        stn_problem *p = &f->scene.problem;
        for (int32_t t = 0; t < p->tree_count && pile; t++) {
            const double factor = pow(10.0, scene_uniform(&f->scene, -3.0, 3.0));
            for (int32_t i = 0; i < 36; i++) {
                p->trees[t].A.values[i] *= factor;
            }
        }
        fixture_derive(f, p);
        double v[2][MAX_ROWS];
        const double cost = solve_scene(f, "block", v[0]).cost, speed = scene_distance(p, v[0], NULL);
        const stn_solve_info info = solve_scene(f, "iterative", v[1]);
        fallbacks[pile] += info.fallbacks;
        assert_near(info.cost, cost, 1e-10 * speed * speed); // v is not determined as well where A is ill-conditioned
        assert_true(!pile || scene_distance(p, v[1], v[0]) <= 1e-8 * speed);
    }
    print_message("with a whole factor in the end: %d of 20 piles, %d of 20 others\n", fallbacks[1], fallbacks[0]);
    assert_true(fallbacks[0] > 0);
}

typedef struct ring {
    int32_t row_start[7], column[18];
    double values[162], dense[324];
} ring;

/// Six nodes in a circle, joined by springs, as a nodal matrix and as the same dense one.
static void make_ring_matrix(ring *r) {
    memset(r, 0, sizeof *r);
    int32_t e = 0;
    for (int32_t i = 0; i < 6; i++) {
        r->row_start[i] = e;
        for (int32_t j = 0; j < 6; j++) {
            bool near = j == i || (j + 1) % 6 == i || (i + 1) % 6 == j;
            for (int32_t k = 0; k < 9 && near; k++) {
                double a = i == j ? (k % 4 == 0 ? 3.0 : 0.2) : -0.3 - 0.01 * (double)(k % 3 + k / 3);
                r->values[9 * e + k] = a;
                r->dense[18 * (3 * i + k / 3) + 3 * j + k % 3] = a;
            }
            if (near) {
                r->column[e++] = j;
            }
        }
    }
    r->row_start[6] = e;
}

/// The ring with a contact of its element of nodes 4, 1, 2 against a box, a contact of node 3 with the world, and a box
/// row.
static stn_problem *make_ring(fixture *f, bool nodal, bool by_nodes) {
    static const int32_t nodes[3] = {4, 1, 2};
    static ring r;
    static double J_nodes[27], J_one[9];
    double body[36] = {0.0}, J_body[18], J_dense[54] = {0.0}, J_single[54] = {0.0};
    scene *s = &f->scene;
    make_ring_matrix(&r);
    for (int32_t k = 0; k < 36; k++) {
        body[k] = k % 7 == 0 ? 1.0 : 0.0;
        J_body[k % 18] = 0.1 * (double)(k % 5) - 0.2 + (k % 18 == 14 ? -1.0 : 0.0);
    }
    for (int32_t k = 0; k < 27; k++) {
        J_nodes[k] = (k % 9) % 4 == 0 ? 0.5 - 0.1 * (double)(k / 9) : 0.03;
        J_dense[18 * (k % 9 / 3) + 3 * nodes[k / 9] + k % 3] = J_nodes[k];
        J_one[k % 9] = J_single[18 * (k % 9 / 3) + 9 + k % 3] = unit_rows[k % 9];
    }
    int32_t ring_tree = scene_tree(s, 18, r.dense), box = scene_tree(s, 6, body);
    stn_jacobian *element = scene_constraint(s, 3, box, J_body, ring_tree, J_dense)->J + 1;
    stn_jacobian *node = scene_constraint(s, 3, ring_tree, J_single, -1, NULL)->J;
    stn_constraint *line = scene_constraint(s, 1, ring_tree, J_single + 36, -1, NULL);
    line->set = STN_SET_BOX;
    if (nodal) {
        s->problem.trees[ring_tree].A = (stn_matrix){.n = 18,
                                                     .form = STN_MATRIX_NODAL,
                                                     .values = r.values,
                                                     .node_count = 6,
                                                     .node_size = 3,
                                                     .row_start = r.row_start,
                                                     .column = r.column};
    }
    if (by_nodes) {
        *element =
            (stn_jacobian){.tree = ring_tree, .node_count = 3, .node_size = 3, .node = {4, 1, 2}, .values = J_nodes};
        *node = (stn_jacobian){.tree = ring_tree, .node_count = 1, .node_size = 3, .node = {3}, .values = J_one};
        line->J[0] = *node;
        line->J[0].values += 6;
    }
    stn_problem *p = scene_finish(s);
    for (int32_t i = 0; i < p->nv; i++) {
        p->v_star[i] = i % 3 == 2 ? -1.0 : 0.4 * (double)(i % 4) - 0.5;
    }
    for (int32_t k = 0; k < p->row_count; k++) {
        p->R[k] = k % 3 == 2 ? 0.03 : 0.01;
    }
    p->lo[6] = -0.2;
    p->hi[6] = 0.05;
    return p;
}

/// Piles that slide at 1 m/s and come to rest within the step: most contacts go from sliding to sticking. 249
/// iterations here, 419 with the Hessian of the potential, which does not see that coming.
static void sliding_piles_stop_in_few_iterations(void **state) {
    fixture *f = *state;
    static const char *const words[] = {"false", "true"};
    int32_t total[2] = {0};
    for (int with = 0; with < 2; with++) {
        fixture_choose(f, "anticipate", words[with]);
        for (uint64_t seed = 1; seed <= 20; seed++) {
            scene s;
            scene_begin(&s, f->context, seed);
            scene_pile(&s, 3, 3, false, 0.05);
            stn_problem *p = &s.problem;
            fixture_derive(f, p);
            double v[MAX_ROWS], gamma[MAX_ROWS];
            for (int32_t i = 0; i < p->nv; i++) {
                p->v_guess[i] = scene_normal(&s);
                p->v_star[i] *= 0.1;
            }
            memcpy(v, p->v_guess, (size_t)p->nv * sizeof *v);
            stn_solve_info info;
            assert_ok(fixture_solve(f, p, v, gamma, &info), f->err);
            total[with] += info.iterations;
            scene_end(&s);
        }
    }
    print_message("%d iterations for 20 piles, %d without anticipation\n", total[1], total[0]);
    assert_true(total[1] <= 320);
    assert_true(total[0] > 380);
}

/// gradient (nv) of S(24) at v, the contacts by the closed form of S(V-A); no code of the law or of the solver.
static void find_gradient(const stn_problem *p, const double *v, double *gradient) {
    double v_c[MAX_ROWS], gamma[MAX_ROWS] = {0.0};
    stn_problem_contact_velocity(p, v, true, v_c);
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const int32_t k = p->constraints[i].row;
        const double mu = p->constraints[i].mu1, R_t = p->R[k], R_n = p->R[k + 2];
        const double y1 = -v_c[k] / R_t, y2 = -v_c[k + 1] / R_t, yn = (p->v_hat[k + 2] - v_c[k + 2]) / R_n,
                     yr = hypot(y1, y2);
        if (yr <= mu * yn) { // sticks
            gamma[k] = y1;
            gamma[k + 1] = y2;
            gamma[k + 2] = yn;
        } else if (yn > -mu * R_t / R_n * yr) { // slides
            gamma[k + 2] = (yn + mu * R_t / R_n * yr) / (1.0 + mu * mu * R_t / R_n);
            gamma[k] = mu * gamma[k + 2] * y1 / yr;
            gamma[k + 1] = mu * gamma[k + 2] * y2 / yr;
        }
    }
    stn_problem_mass_times(p, v, p->v_star, gradient);
    for (int32_t k = 0; k < p->row_count; k++) {
        gamma[k] = -gamma[k];
    }
    stn_problem_jacobian_transposed_add(p, 1.0, gamma, gradient);
}

/// direction = -H^-1 gradient at v, H by central differences, solved by Gauss's elimination.
static void find_newton_direction(const stn_problem *p, const double *v, double *direction) {
    const int32_t n = p->nv;
    const double h = 1e-7;
    double *H = malloc((size_t)n * (size_t)n * sizeof *H);
    double x[MAX_ROWS], up[MAX_ROWS], down[MAX_ROWS];
    assert_non_null(H);
    memcpy(x, v, (size_t)n * sizeof *x);
    for (int32_t j = 0; j < n; j++) {
        x[j] = v[j] + h;
        find_gradient(p, x, up);
        x[j] = v[j] - h;
        find_gradient(p, x, down);
        x[j] = v[j];
        for (int32_t i = 0; i < n; i++) {
            H[i * n + j] = (up[i] - down[i]) / (2.0 * h);
        }
    }
    find_gradient(p, v, direction);
    for (int32_t k = 0; k < n; k++) { // positive definite: no pivots
        for (int32_t i = k + 1; i < n; i++) {
            double factor = H[i * n + k] / H[k * n + k];
            for (int32_t j = k; j < n && factor != 0.0; j++) {
                H[i * n + j] -= factor * H[k * n + j];
            }
            direction[i] -= factor * direction[k];
        }
    }
    for (int32_t k = n - 1; k >= 0; k--) {
        for (int32_t j = k + 1; j < n; j++) {
            direction[k] -= H[k * n + j] * direction[j];
        }
        direction[k] /= H[k * n + k];
    }
    for (int32_t k = 0; k < n; k++) {
        direction[k] = -direction[k];
    }
    free(H);
}

/// |a/|a| - b/|b||
static double angle_between(int32_t n, const double *a, const double *b) {
    double aa = 0.0, bb = 0.0, sum = 0.0;
    for (int32_t i = 0; i < n; i++) {
        aa += a[i] * a[i];
        bb += b[i] * b[i];
    }
    for (int32_t i = 0; i < n; i++) {
        double d = a[i] / sqrt(aa) - b[i] / sqrt(bb);
        sum += d * d;
    }
    return sqrt(sum);
}

/// A pile that slides at 1 m/s and comes to rest within the step. Without anticipation its first step is along Newton's
/// direction of the potential, whose Hessian comes from differences of a gradient of our own; with it, it is not. Both
/// end at the same velocities.
static void without_anticipation_the_model_is_the_hessian_of_the_potential(void **state) {
    fixture *f = *state;
    static const char *const words[] = {"false", "true"};
    for (uint64_t seed = 1; seed <= 5; seed++) {
        scene s;
        scene_begin(&s, f->context, seed);
        scene_pile(&s, 2, 2, false, 0.05);
        stn_problem *p = &s.problem;
        for (int32_t i = 0; i < p->constraint_count; i++) {
            p->gamma_guess[p->constraints[i].row + 2] = 1.0; // [N s], without friction: every contact will stick
        }
        fixture_derive(f, p);
        for (int32_t i = 0; i < p->nv; i++) {
            p->v_guess[i] = scene_normal(&s);
            p->v_star[i] *= 0.1;
        }
        double expected[MAX_ROWS], step[MAX_ROWS], end[2][MAX_ROWS], gamma[MAX_ROWS], off[2];
        find_newton_direction(p, p->v_guess, expected);
        for (int with = 0; with < 2; with++) {
            fixture_choose(f, "anticipate", words[with]);
            stn_solve_info info;
            memcpy(step, p->v_guess, (size_t)p->nv * sizeof *step);
            f->max_iterations = 1;
            assert_int_equal(fixture_solve(f, p, step, gamma, &info), STN_NOT_CONVERGED);
            for (int32_t i = 0; i < p->nv; i++) {
                step[i] -= p->v_guess[i];
            }
            off[with] = angle_between(p->nv, step, expected);
            memcpy(end[with], p->v_guess, (size_t)p->nv * sizeof *step);
            f->max_iterations = 100;
            assert_ok(fixture_solve(f, p, end[with], gamma, &info), f->err);
        }
        print_message("off Newton's direction by %.1e without, %.1e with\n", off[0], off[1]);
        assert_true(off[0] < 1e-6); // differences of numbers of 1e3, h = 1e-7
        assert_true(off[1] > 1e-2);
        assert_true(scene_distance(p, end[0], end[1]) <= 1e-8 * scene_distance(p, end[0], NULL));
        scene_end(&s);
    }
}

/// Boxes that fly about at 1 m/s, up to 1 mm apart: the first step puts contacts at a millionth of their gap, from
/// where a barrier's impulse falls by six digits while lagged friction, whose limit stays, stops the slip. 675
/// iterations here; with a limit that follows the normal impulse 1,897, and half of the piles are not solved in 100.
static void lagged_friction_is_foreseen_while_normal_impulses_fall(void **state) {
    fixture *f = *state;
    stn_instance *barrier = NULL;
    assert_ok(stn_instance_create(f->context, STN_KIND_LAW, "barrier", NULL, 0, &barrier, &f->err), f->err);
    int32_t total = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        scene s;
        scene_begin(&s, f->context, seed);
        scene_pile(&s, 2, 2, false, 1.0);
        stn_problem *p = &s.problem;
        fixture_derive(f, p);
        for (int32_t i = 0; i < p->constraint_count; i++) {
            stn_constraint *c = &p->constraints[i];
            c->phi0 = pow(10.0, scene_uniform(&s, -5.0, -3.0));
            c->stiffness = pow(10.0, scene_uniform(&s, 4.0, 6.0));
        }
        double v[MAX_ROWS], gamma[MAX_ROWS];
        memcpy(v, p->v_guess, (size_t)p->nv * sizeof *v);
        fixture with = *f;
        with.law = (stn_law){.ops = barrier->desc->ops.law, .self = barrier->self, .id = "barrier"};
        stn_solve_info info;
        stn_status status = fixture_solve(&with, p, v, gamma, &info);
        assert_true(status == STN_OK || status == STN_STALLED);
        total += info.iterations;
        scene_end(&s);
    }
    print_message("%d iterations for 20 piles apart\n", total);
    assert_true(total <= 900);
    stn_instance_destroy(barrier);
}

/// A and Jacobians each by nodes and dense, also where one is and the other is not.
static void nodal_trees_solve_as_dense_ones(void **state) {
    fixture *f = *state;
    static const struct {
        bool nodal, by_nodes;
        const char *factorization;
    } cases[] = {{false, false, "dense"},   {true, true, "dense"},     {true, true, "block"},
                 {true, false, "block"},    {false, true, "block"},    {false, true, "dense"},
                 {true, true, "iterative"}, {false, true, "iterative"}};
    double v[STN_COUNT(cases)][24] = {{0.0}}, gamma[STN_COUNT(cases)][7];
    stn_solve_info info;
    for (int i = 0; i < STN_COUNT(cases); i++) {
        scene_end(&f->scene);
        scene_begin(&f->scene, f->context, 1);
        fixture_choose(f, "factorization", cases[i].factorization);
        stn_problem *p = make_ring(f, cases[i].nodal, cases[i].by_nodes);
        assert_ok(fixture_solve(f, p, v[i], gamma[i], &info), f->err);
        assert_true(info.iterations > 0);
        for (int k = 0; k < 24; k++) {
            assert_near(v[i][k], v[0][k], 1e-10);
            assert_near(gamma[i][k % 7], gamma[0][k % 7], 1e-8);
        }
    }
    assert_true(gamma[0][2] > 0.0); // the contact of the element carries
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CLAIM(sticking_point_solves_a_linear_system),
        CLAIM(sliding_point_solves_the_boundary_of_the_cone),
        CLAIM(open_contact_leaves_the_free_velocity),
        CLAIM(bias_is_a_moving_belt),
        CLAIM(box_rows_clamp_and_equality_rows_hold),
        CLAIM(free_impulse_is_carried_by_a_contact_where_A_is_zero),
        CLAIM(singular_hessian_is_damped_once),
        CLAIM(an_analysis_that_fails_ends_the_solve),
        CLAIM(steps_stay_where_the_law_is_defined),
        CLAIM(nothing_to_do_is_done_at_once),
        CLAIM(a_solution_as_warm_start_takes_no_iteration_and_stays),
        CLAIM(copies_of_a_contact_share_its_impulse),
        CLAIM(order_of_contacts_does_not_matter),
        CLAIM(factorisations_and_line_searches_agree),
        CLAIM(large_piles_are_solved_by_conjugate_gradients),
        CLAIM(any_number_of_threads_gives_the_same_bits),
        CLAIM(conjugate_gradients_give_way_to_a_whole_factor),
        CLAIM(nodal_trees_solve_as_dense_ones),
        CLAIM(sliding_piles_stop_in_few_iterations),
        CLAIM(without_anticipation_the_model_is_the_hessian_of_the_potential),
        CLAIM(lagged_friction_is_foreseen_while_normal_impulses_fall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
