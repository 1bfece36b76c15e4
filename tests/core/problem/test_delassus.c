// SPDX-License-Identifier: Apache-2.0
// The Delassus operator against J A^-1 J^T written out, and its residual on problems with known solutions.
#include <stiction/islands.h>

#include "inverse_fixture.h"
#include "problem/inverse.h"
#include "sample_problem.h"

static stn_delassus build(fixture *f, const stn_problem *p) {
    stn_delassus d;
    assert_ok(stn_inverse_factor(f->inverse, p, &f->err), f->err);
    assert_ok(stn_delassus_build(f->inverse, p, f->arena, &d, &f->err), f->err);
    return d;
}

static void blocks_are_those_of_the_dense_operator_and_the_rest_is_zero(void **state) {
    fixture *f = *state;
    for (uint64_t seed = 1; seed < 5; seed++) {
        sample *s = sample_mixed(seed);
        const stn_problem *p = &s->problem;
        stn_delassus d = build(f, p);
        double *W = sample_dense_W(p), *seen = calloc((size_t)(p->row_count * p->row_count), sizeof *seen);
        assert_int_equal(d.n, p->constraint_count);
        assert_int_equal(d.rows, p->row_count);
        for (int32_t i = 0; i < d.n; i++) {
            for (int32_t e = d.row_start[i]; e < d.row_start[i + 1]; e++) {
                const stn_constraint *a = &s->constraints[i], *b = &s->constraints[d.column[e]];
                assert_true(e == d.row_start[i] || d.column[e] > d.column[e - 1]);
                for (int32_t k = 0; k < a->rows * b->rows; k++) {
                    seen[(a->row + k / b->rows) * p->row_count + b->row + k % b->rows] = d.values[d.offset[e] + k];
                }
            }
        }
        for (int32_t i = 0; i < p->row_count; i++) {
            for (int32_t j = 0; j < p->row_count; j++) {
                assert_near(seen[i * p->row_count + j], W[i * p->row_count + j], 1e-11);
                assert_near(seen[i * p->row_count + j], seen[j * p->row_count + i], 0.0); // symmetric to the last bit
            }
        }
        free(W);
        free(seen);
        sample_clear(s);
    }
}

static void the_diagonal_block_is_found_in_its_row(void **state) {
    fixture *f = *state;
    sample *s = sample_mixed(3);
    stn_delassus d = build(f, &s->problem);
    for (int32_t i = 0; i < d.n; i++) {
        for (int32_t e = d.row_start[i]; e < d.row_start[i + 1]; e++) {
            if (d.column[e] == i) {
                assert_ptr_equal(stn_delassus_diagonal(&d, i), d.values + d.offset[e]);
            }
        }
    }
    sample_clear(s);
}

/// Two trees with branches, as robots with limbs have, contacts on both in turn: two islands.
static sample *two_robots(void) {
    enum { DOFS = 18, LIMB = 4, BASE = 6 };
    stn_random r = {8};
    sample *s = sample_create();
    for (int32_t t = 0; t < 2; t++) {
        sample_tree(s, &r, STN_MATRIX_DENSE, DOFS);
        for (int32_t i = 0; i < DOFS * DOFS; i++) {
            int32_t row = i / DOFS, column = i % DOFS;
            bool apart = row >= BASE && column >= BASE && (row - BASE) / LIMB != (column - BASE) / LIMB;
            double *a = &s->trees[t].A.values[i];
            *a = apart ? 0.0 : row == column ? *a + DOFS : *a;
        }
    }
    for (int32_t c = 0; c < 7; c++) {
        sample_constraint(s, &r, STN_SET_CONE, 3, c % 2, 0, -1, 0);
    }
    sample_finish(s, &r);
    return s;
}

static void expect_same_blocks(const stn_delassus *d, const stn_delassus *expected) {
    assert_int_equal(d->row_start[d->n], expected->row_start[expected->n]);
    size_t count = (size_t)expected->offset[expected->row_start[expected->n]];
    assert_memory_equal(d->values, expected->values, count * sizeof(double));
}

static void what_the_masses_left_changes_no_bit(void **state) {
    fixture *f = *state;
    sample *s = two_robots();
    stn_problem *p = &s->problem, part;
    stn_delassus fresh = build(f, p), reused, part_fresh, part_reused;
    stn_islands islands;
    assert_null(inverse_kept_half(f->inverse, 0, 0, &p->constraints[0].J[0]));
    assert_ok(stn_problem_islands(p, f->arena, &islands, &f->err), f->err);
    assert_int_equal(islands.count, 2);
    assert_ok(stn_problem_island(p, &islands, 1, f->arena, &part, &f->err), f->err);
    const int32_t *trees = islands.tree + islands.tree_start[1];
    const int32_t *constraints = islands.constraint + islands.constraint_start[1];
    const stn_inverse *view = inverse_view(f->inverse, &part, trees, constraints, f->arena);
    assert_non_null(view);
    assert_ok(stn_delassus_build(view, &part, f->arena, &part_fresh, &f->err), f->err);

    assert_ok(inverse_masses_keeping(f->inverse, p, f->arena, &f->err), f->err);
    assert_non_null(inverse_kept_half(f->inverse, 6, 0, &p->constraints[6].J[0]));
    assert_ok(stn_delassus_build(f->inverse, p, f->arena, &reused, &f->err), f->err);
    expect_same_blocks(&reused, &fresh);
    view = inverse_view(f->inverse, &part, trees, constraints, f->arena);
    assert_non_null(view);
    for (int32_t c = 0; c < part.constraint_count; c++) {
        const stn_jacobian *J = &part.constraints[c].J[0];
        assert_ptr_equal(inverse_kept_half(view, c, 0, J), inverse_kept_half(f->inverse, 2 * c + 1, 0, J));
        assert_non_null(inverse_kept_half(view, c, 0, J));
    }
    assert_ok(stn_delassus_build(view, &part, f->arena, &part_reused, &f->err), f->err);
    expect_same_blocks(&part_reused, &part_fresh);

    p->constraints[0].J[0].values = p->constraints[2].J[0].values; // another block than the masses saw
    fresh = build(f, p);
    p->constraints[0].J[0].values = s->constraints[4].J[0].values;
    assert_ok(inverse_masses_keeping(f->inverse, p, f->arena, &f->err), f->err);
    p->constraints[0].J[0].values = p->constraints[2].J[0].values;
    assert_ok(stn_delassus_build(f->inverse, p, f->arena, &reused, &f->err), f->err);
    expect_same_blocks(&reused, &fresh);
    sample_clear(s);
}

// v_c = W gamma + b is the contact velocity of the velocity that gamma brings about.
static void impulses_give_the_velocities_that_the_momentum_balance_gives(void **state) {
    fixture *f = *state;
    sample *s = sample_mixed(4);
    stn_problem *p = &s->problem;
    stn_random r = {6};
    p->free_impulse = sample_random_doubles(s, &r, (size_t)p->nv);
    double *gamma = sample_random_doubles(s, &r, (size_t)p->row_count);
    double *v = sample_doubles(s, (size_t)p->nv, 0.0), *v_c = sample_doubles(s, (size_t)p->row_count, 0.0);
    stn_delassus d = build(f, p);
    stn_inverse_velocity(f->inverse, p, gamma, v);
    stn_problem_contact_velocity(p, v, true, v_c);
    for (int32_t i = 0; i < d.n; i++) {
        double y[STN_MAX_ROWS];
        memcpy(y, d.b + s->constraints[i].row, sizeof(double) * (size_t)s->constraints[i].rows);
        stn_delassus_row_mul_add(&d, i, gamma, y);
        for (int32_t k = 0; k < s->constraints[i].rows; k++) {
            assert_near(y[k], v_c[s->constraints[i].row + k], 1e-10);
        }
    }
    sample_clear(s);
}

/// The same problem in local form: W (dense) and q (the operator's b) alone.
static stn_problem local_form(const stn_problem *p, const stn_delassus *d, double *W) {
    stn_problem local = *p;
    local.form = STN_FORM_LOCAL;
    local.nv = local.tree_count = 0;
    local.W = W;
    local.q = (double *)d->b; // read only
    return local;
}

static void the_local_form_gives_the_same_operator(void **state) {
    fixture *f = *state;
    sample *s = sample_mixed(2);
    stn_delassus d = build(f, &s->problem), l;
    double *W = sample_dense_W(&s->problem), *gamma = sample_doubles(s, (size_t)s->problem.row_count, 0.1);
    stn_problem local = local_form(&s->problem, &d, W);
    assert_ok(stn_delassus_build(NULL, &local, f->arena, &l, &f->err), f->err);
    assert_near(stn_delassus_residual(&l, false, gamma), stn_delassus_residual(&d, false, gamma), 1e-9);
    assert_int_equal(l.row_start[l.n], d.row_start[d.n]); // zero blocks are left out
    free(W);
    sample_clear(s);
}

static void bilateral_rows_are_eliminated(void **state) {
    fixture *f = *state;
    sample *s = sample_mixed(2);
    size_t rows = (size_t)s->problem.row_count;
    stn_delassus d = build(f, &s->problem), l;
    double *W = sample_dense_W(&s->problem), *gamma = sample_doubles(s, rows, 0.1);
    stn_problem local = local_form(&s->problem, &d, W);
    enum { BILATERAL = 2 };
    stn_random r = {3};
    double *V = sample_random_doubles(s, &r, rows * BILATERAL), R[4] = {3.0, 0.5, 0.5, 2.0}, shift[2] = {0.3, -0.7};
    double X[2] = {0.0};
    local.bilateral_count = BILATERAL;
    local.V = V;
    local.R_bilateral = R;
    local.s = shift;
    assert_ok(stn_delassus_build(NULL, &local, f->arena, &l, &f->err), f->err);
    for (size_t i = 0; i < rows; i++) { // l = -R^-1 (V^T gamma + s), u = W gamma + V l + q
        X[0] += V[2 * i] * gamma[i];
        X[1] += V[2 * i + 1] * gamma[i];
    }
    X[0] = -X[0] - shift[0];
    X[1] = -X[1] - shift[1];
    plain_solve(2, R, X);
    for (int32_t i = 0; i < l.n; i++) {
        const stn_constraint *c = &s->constraints[i];
        double y[STN_MAX_ROWS];
        memcpy(y, l.b + c->row, sizeof(double) * (size_t)c->rows);
        stn_delassus_row_mul_add(&l, i, gamma, y);
        for (int32_t k = 0; k < c->rows; k++) {
            size_t row = (size_t)(c->row + k);
            double expected = d.b[row] + V[2 * row] * X[0] + V[2 * row + 1] * X[1];
            for (size_t j = 0; j < rows; j++) {
                expected += W[row * rows + j] * gamma[j];
            }
            assert_near(y[k], expected, 1e-10);
        }
    }
    assert_ok(stn_inverse_masses(NULL, &local, f->arena, &f->err), f->err);
    for (int32_t i = 0; i < l.n; i++) {
        const double *diagonal = stn_delassus_diagonal(&l, i);
        double trace = 0.0;
        for (int32_t k = 0; k < s->constraints[i].rows; k++) {
            trace += diagonal[k * (s->constraints[i].rows + 1)];
        }
        assert_near(s->constraints[i].w_trace, trace, 1e-12 * fabs(trace));
    }
    R[0] = R[1] = R[2] = R[3] = 1.0;
    assert_int_equal(stn_delassus_build(NULL, &local, f->arena, &l, &f->err), STN_ERR_NUMERIC);
    assert_non_null(strstr(f->err.text, "singular"));
    free(W);
    sample_clear(s);
}

// One point mass m on a floor: J = I, so W = I/m and b = v_star.
typedef struct block {
    double m, mu, v[3]; // free velocity t1, t2, n
} block;

static sample *block_problem(block k, double *W) {
    stn_random r = {1};
    sample *s = sample_create();
    sample_tree(s, &r, STN_MATRIX_DIAGONAL, 3);
    for (int32_t i = 0; i < 3; i++) {
        s->trees[0].A.values[i] = k.m;
        W[4 * i] = 1.0;
    }
    stn_constraint *c = sample_constraint(s, &r, STN_SET_CONE, 3, 0, 0, -1, 0);
    c->J[0].values = W;
    c->mu1 = c->mu2 = k.mu;
    sample_finish(s, &r);
    for (int32_t i = 0; i < 3; i++) {
        s->problem.v_star[i] = k.v[i];
        s->problem.bias[i] = 0.0;
    }
    return s;
}

static double block_residual(fixture *f, block k, bool convex, double g1, double g2, double gn) {
    double J[9] = {0.0}, gamma[3] = {g1, g2, gn};
    sample *s = block_problem(k, J);
    stn_delassus d = build(f, &s->problem);
    double residual = stn_delassus_residual(&d, convex, gamma);
    sample_clear(s);
    return residual;
}

static void the_residual_vanishes_at_closed_form_solutions_only(void **state) {
    fixture *f = *state;
    block falls = {2.0, 0.5, {0.3, 0.0, -1.0}}, slides = {2.0, 0.5, {3.0, 0.0, -1.0}},
          leaves = {2.0, 0.5, {1.0, 0.0, 0.2}};
    assert_near(block_residual(f, falls, false, -0.6, 0.0, 2.0), 0.0, 1e-15); // sticks: gamma = -m v
    assert_near(block_residual(f, falls, true, -0.6, 0.0, 2.0), 0.0, 1e-15);
    assert_near(block_residual(f, slides, false, -1.0, 0.0, 2.0), 0.0, 1e-15); // gamma_t = -mu gamma_n
    assert_near(block_residual(f, leaves, false, 0.0, 0.0, 0.0), 0.0, 0.0);
    // convex: gamma = P_K(-m v) = (-mu, 0, 1) (1 + mu 3) m/(1 + mu^2)
    double n = 2.0 * (1.0 + 1.5) / 1.25;
    assert_near(block_residual(f, slides, true, -0.5 * n, 0.0, n), 0.0, 1e-14);
    assert_true(block_residual(f, slides, true, -1.0, 0.0, 2.0) > 0.1);    // Coulomb's solution is not the relaxation's
    assert_true(block_residual(f, slides, false, -0.5 * n, 0.0, n) > 0.1); // nor the other way round
    // off by 0.01 N s in the normal of a sticking block: 0.01/m m/s
    assert_near(block_residual(f, falls, false, -0.6, 0.0, 2.01), 0.005, 1e-12);
    assert_true(isnan(block_residual(f, falls, false, NAN, 0.0, 2.0)));
    assert_true(isnan(block_residual(f, falls, true, 0.0, 0.0, NAN)));
}

// Per direction mu1 = 0.5, mu2 = 0.25: sliding along t2 alone is friction 0.25 gamma_n.
static void an_ellipse_is_a_cone_in_scaled_directions(void **state) {
    fixture *f = *state;
    double J[9] = {0.0}, gamma[3] = {0.0, -0.5, 2.0}, wrong[3] = {0.0, -1.0, 2.0};
    sample *s = block_problem((block){2.0, 0.5, {0.0, 3.0, -1.0}}, J);
    s->constraints[0].set = STN_SET_ELLIPSE;
    s->constraints[0].mu2 = 0.25;
    stn_delassus d = build(f, &s->problem);
    assert_near(stn_delassus_residual(&d, false, gamma), 0.0, 1e-15);
    assert_true(stn_delassus_residual(&d, false, wrong) > 0.1);
    s->constraints[0].mu2 = 0.5; // equal: the cone
    wrong[1] = -1.0;
    assert_near(stn_delassus_residual(&d, false, wrong), 0.0, 1e-15);
    s->constraints[0].mu2 = 0.0; // no friction along t2
    gamma[1] = 0.0;
    assert_near(stn_delassus_residual(&d, false, gamma), 0.0, 1e-15);
    assert_true(stn_delassus_residual(&d, false, wrong) > 0.1);
    sample_clear(s);
}

static void box_and_equality_rows_are_judged_by_clamping(void **state) {
    fixture *f = *state;
    stn_random r = {1};
    sample *s = sample_create();
    double one = 1.0;
    for (int32_t t = 0; t < 3; t++) {
        sample_tree(s, &r, STN_MATRIX_DIAGONAL, 3);
        s->trees[t].A.values[0] = 2.0;
    }
    double J[3] = {one, 0.0, 0.0};
    sample_constraint(s, &r, STN_SET_BOX, 1, 0, 0, -1, 0)->J[0].values = J;
    sample_constraint(s, &r, STN_SET_EQUALITY, 1, 1, 0, -1, 0)->J[0].values = J;
    sample_constraint(s, &r, STN_SET_BOX, 1, 2, 0, -1, 0)->J[0].values = J;
    sample_finish(s, &r);
    stn_problem *p = &s->problem;
    memset(p->bias, 0, 3 * sizeof(double));
    p->v_star[0] = p->v_star[3] = p->v_star[6] = -1.0;
    p->lo[2] = -0.5, p->hi[2] = 0.5; // a motor too weak to stop it
    stn_delassus d = build(f, p);
    double gamma[3] = {2.0, 2.0, 0.5};
    assert_near(stn_delassus_residual(&d, false, gamma), 0.0, 1e-15);
    double soft[3] = {4.0 / 3.0, 2.0, 0.5}; // v - v_hat + R gamma = 0 with R = 0.25: gamma = 1/(0.5 + 0.25)
    p->R[0] = 0.25;
    assert_near(stn_delassus_residual(&d, false, soft), 0.0, 1e-15);
    gamma[0] = 4.0 / 3.0;
    gamma[2] = 0.6; // beyond its bound
    assert_near(stn_delassus_residual(&d, false, gamma), 0.05, 1e-12);
    sample_clear(s);
}

static void no_constraints_no_residual(void **state) {
    fixture *f = *state;
    stn_random r = {1};
    sample *s = sample_create();
    sample_tree(s, &r, STN_MATRIX_DENSE, 6);
    sample_finish(s, &r);
    stn_delassus d = build(f, &s->problem);
    assert_int_equal(d.n, 0);
    assert_near(stn_delassus_residual(&d, false, NULL), 0.0, 0.0);
    sample_clear(s);
}

static void a_steady_build_allocates_nothing(void **state) {
    fixture *f = *state;
    sample *s = sample_mixed(6);
    build(f, &s->problem);
    stn_arena_reset(f->arena);
    build(f, &s->problem);
    int64_t before = stn_context_allocations(f->context);
    stn_arena_reset(f->arena);
    build(f, &s->problem);
    assert_int_equal(stn_context_allocations(f->context), before);
    sample_clear(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(blocks_are_those_of_the_dense_operator_and_the_rest_is_zero, setup, teardown),
        cmocka_unit_test_setup_teardown(the_diagonal_block_is_found_in_its_row, setup, teardown),
        cmocka_unit_test_setup_teardown(what_the_masses_left_changes_no_bit, setup, teardown),
        cmocka_unit_test_setup_teardown(impulses_give_the_velocities_that_the_momentum_balance_gives, setup, teardown),
        cmocka_unit_test_setup_teardown(the_local_form_gives_the_same_operator, setup, teardown),
        cmocka_unit_test_setup_teardown(bilateral_rows_are_eliminated, setup, teardown),
        cmocka_unit_test_setup_teardown(the_residual_vanishes_at_closed_form_solutions_only, setup, teardown),
        cmocka_unit_test_setup_teardown(an_ellipse_is_a_cone_in_scaled_directions, setup, teardown),
        cmocka_unit_test_setup_teardown(box_and_equality_rows_are_judged_by_clamping, setup, teardown),
        cmocka_unit_test_setup_teardown(no_constraints_no_residual, setup, teardown),
        cmocka_unit_test_setup_teardown(a_steady_build_allocates_nothing, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
