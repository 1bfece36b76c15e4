// SPDX-License-Identifier: Apache-2.0
// A^-1 and the inverse masses against plain Gaussian elimination.
#include "inverse_fixture.h"
#include "sample_problem.h"
#include "stn_heap.h"

static void apply_equals_gaussian_elimination_on_every_form(void **state) {
    fixture *f = *state;
    for (uint64_t seed = 1; seed < 7; seed++) {
        sample *s = sample_mixed(seed);
        const stn_problem *p = &s->problem;
        assert_ok(stn_inverse_factor(f->inverse, p, &f->err), f->err);
        double *A = sample_dense_A(p);
        double *x = malloc((size_t)p->nv * sizeof *x), *y = malloc((size_t)p->nv * sizeof *y);
        memcpy(x, p->v0, (size_t)p->nv * sizeof *x);
        memcpy(y, p->v0, (size_t)p->nv * sizeof *y);
        plain_solve(p->nv, A, x);
        for (int32_t t = 0; t < p->tree_count; t++) {
            assert_int_equal(stn_inverse_singular(f->inverse, t), -1);
            stn_inverse_apply(f->inverse, t, 1, y + p->trees[t].dof_start);
        }
        for (int32_t i = 0; i < p->nv; i++) {
            assert_near(y[i], x[i], 1e-11);
        }
        free(A);
        free(x);
        free(y);
        sample_clear(s);
    }
}

static void several_columns_are_solved_as_one_by_one(void **state) {
    fixture *f = *state;
    sample *s = sample_mixed(7);
    assert_ok(stn_inverse_factor(f->inverse, &s->problem, &f->err), f->err);
    stn_random r = {3};
    for (int32_t t = 0; t < s->problem.tree_count; t++) {
        size_t n = (size_t)s->trees[t].A.n;
        double all[5 * 32], one[5 * 32];
        for (size_t i = 0; i < 5 * n; i++) {
            all[i] = one[i] = random_real(&r);
        }
        stn_inverse_apply(f->inverse, t, 5, all);
        for (size_t c = 0; c < 5; c++) {
            stn_inverse_apply(f->inverse, t, 1, one + c * n);
        }
        for (size_t i = 0; i < 5 * n; i++) {
            assert_near(all[i], one[i], 1e-12);
        }
    }
    sample_clear(s);
}

static void masses_are_diagonal_blocks(fixture *f, uint64_t seed) {
    sample *s = sample_mixed(seed);
    stn_problem *p = &s->problem;
    assert_ok(stn_inverse_factor(f->inverse, p, &f->err), f->err);
    assert_ok(stn_inverse_masses(f->inverse, p, f->arena, &f->err), f->err);
    for (int32_t t = 0; t < p->tree_count; t++) { // clouds by the blocks of their nodes
        const stn_matrix *a = &p->trees[t].A;
        for (int32_t i = 0; i < a->node_count; i++) {
            for (int32_t e = a->row_start[i]; e < a->row_start[i + 1]; e++) {
                const size_t size = (size_t)(a->node_size * a->node_size);
                memset(a->values + size * (size_t)e, 0, a->column[e] == i ? 0 : size * sizeof(double));
            }
        }
    }
    double *W = sample_dense_W(p);
    for (int32_t c = 0; c < p->constraint_count; c++) {
        const stn_constraint *k = &s->constraints[c];
        double square = 0.0, trace = 0.0;
        for (int32_t i = k->row; i < k->row + k->rows; i++) {
            for (int32_t j = k->row; j < k->row + k->rows; j++) {
                square += pow(W[(size_t)i * (size_t)p->row_count + (size_t)j], 2);
            }
            trace += W[(size_t)i * (size_t)(p->row_count + 1)];
        }
        assert_near(k->w, sqrt(square) / k->rows, 1e-11 * k->w);
        assert_near(k->w_trace, trace, 1e-11 * trace);
    }
    free(W);
    sample_clear(s);
}

static void masses_are_the_diagonal_blocks_of_the_dense_operator(void **state) {
    for (uint64_t seed = 10; seed < 17; seed++) {
        masses_are_diagonal_blocks(*state, seed);
    }
}

/// Six dofs that carry four branches of six, as in a robot with limbs: factored from the tips to the base.
static void branches_are_divided_by_like_any_other_tree(void **state) {
    fixture *f = *state;
    const int32_t n = 30;
    stn_random r = {21};
    sample *s = sample_create();
    sample_tree(s, &r, STN_MATRIX_DENSE, n);
    double *A = s->trees[0].A.values, x[30], expected[30];
    for (int32_t i = 0; i < n * n; i++) {
        int32_t row = i / n, column = i % n;
        bool apart = row >= 6 && column >= 6 && row / 6 != column / 6;
        A[i] = apart ? 0.0 : row == column ? A[i] + n : A[i];
    }
    for (int32_t c = 0; c < 5; c++) {
        sample_constraint(s, &r, STN_SET_CONE, 3, 0, 0, -1, 0);
    }
    sample_finish(s, &r);
    stn_problem *p = &s->problem;
    assert_ok(stn_inverse_factor(f->inverse, p, &f->err), f->err);
    assert_ok(stn_inverse_masses(f->inverse, p, f->arena, &f->err), f->err);
    memcpy(x, p->v0, sizeof x);
    memcpy(expected, p->v0, sizeof expected);
    plain_solve(n, A, expected);
    stn_inverse_apply(f->inverse, 0, 1, x);
    for (int32_t i = 0; i < n; i++) {
        assert_near(x[i], expected[i], 1e-14);
    }
    double *W = sample_dense_W(p);
    for (int32_t c = 0; c < p->constraint_count; c++) {
        double trace = 0.0;
        for (int32_t i = s->constraints[c].row; i < s->constraints[c].row + 3; i++) {
            trace += W[i * (p->row_count + 1)];
        }
        assert_near(s->constraints[c].w_trace, trace, 1e-12 * trace);
    }
    free(W);
    A[17 * (n + 1)] = -1.0; // of the second branch
    assert_int_equal(stn_inverse_factor(f->inverse, p, &f->err), STN_ERR_NUMERIC);
    assert_non_null(strstr(f->err.text, "indefinite: its elimination fails at dof 17"));
    sample_clear(s);
}

static void a_free_body_at_its_centre_weighs_one_over_m(void **state) {
    fixture *f = *state;
    stn_random r = {1};
    sample *s = sample_create();
    sample_tree(s, &r, STN_MATRIX_DENSE, 6);
    memset(s->trees[0].A.values, 0, 36 * sizeof(double));
    for (int32_t i = 0; i < 6; i++) {
        s->trees[0].A.values[7 * i] = i < 3 ? 4.0 : 0.1;
    }
    double J[18] = {[0] = 1.0, [7] = 1.0, [14] = 1.0};
    sample_constraint(s, &r, STN_SET_CONE, 3, 0, 0, -1, 0)->J[0].values = J;
    sample_finish(s, &r);
    assert_ok(stn_inverse_factor(f->inverse, &s->problem, &f->err), f->err);
    assert_ok(stn_inverse_masses(f->inverse, &s->problem, f->arena, &f->err), f->err);
    assert_near(s->constraints[0].w_trace, 0.75, 1e-15);
    assert_near(s->constraints[0].w, sqrt(3.0) / 12.0, 1e-15);
    sample_clear(s);
}

static void velocity_recovers_what_the_momentum_balance_says(void **state) {
    fixture *f = *state;
    sample *s = sample_mixed(5);
    stn_problem *p = &s->problem;
    stn_random r = {9};
    p->free_impulse = sample_random_doubles(s, &r, (size_t)p->nv);
    double *gamma = sample_random_doubles(s, &r, (size_t)p->row_count);
    double *v = sample_doubles(s, (size_t)p->nv, NAN);
    assert_ok(stn_inverse_factor(f->inverse, p, &f->err), f->err);
    stn_inverse_velocity(f->inverse, p, gamma, v);
    double *A = sample_dense_A(p), *J = sample_dense_J(p);
    size_t nv = (size_t)p->nv;
    for (size_t i = 0; i < nv; i++) {
        double residual = -p->free_impulse[i];
        for (size_t j = 0; j < nv; j++) {
            residual += A[i * nv + j] * (v[j] - p->v_star[j]);
        }
        for (size_t k = 0; k < (size_t)p->row_count; k++) {
            residual -= J[k * nv + i] * gamma[k];
        }
        assert_near(residual, 0.0, 1e-12);
    }
    free(A);
    free(J);
    sample_clear(s);
}

/// J P^-1 J^T of the first constraint, whose J[0] is on `tree` alone and dense: its trace, by elimination.
static double trace_by(const sample *s, int32_t n, const double *P) {
    const stn_constraint *c = &s->constraints[0];
    double trace = 0.0;
    for (int32_t r = 0; r < c->rows; r++) {
        double x[24];
        memcpy(x, c->J[0].values + (size_t)r * (size_t)n, (size_t)n * sizeof *x);
        plain_solve(n, P, x);
        for (int32_t k = 0; k < n; k++) {
            trace += c->J[0].values[r * n + k] * x[k];
        }
    }
    return trace;
}

// Every form of matrix: no operator, which is named, but a scale, which may be another matrix.
static void a_singular_tree_has_a_scale_and_no_operator(void **state) {
    fixture *f = *state;
    for (int32_t form = STN_MATRIX_ZERO; form <= STN_MATRIX_NODAL; form++) {
        stn_random r = {4};
        sample *s = sample_create();
        sample_tree(s, &r, STN_MATRIX_DENSE, 6);
        int32_t t = sample_tree(s, &r, (stn_matrix_form)form, 6);
        sample_constraint(s, &r, STN_SET_CONE, 3, t, 0, -1, 0);
        sample_finish(s, &r);
        double unit[36] = {0.0}, *mass = sample_doubles(s, 36, 0.0);
        for (int32_t i = 0; i < 6; i++) {
            unit[7 * i] = 1.0;
        }
        random_spd(&r, 6, 1.0, mass);
        stn_matrix *a = &s->trees[t].A;
        if (a->values != NULL) {
            memset(a->values, 0, (size_t)stn_matrix_value_count(a) * sizeof(double));
        }
        assert_ok(stn_inverse_factor(f->inverse, &s->problem, &f->err), f->err);
        assert_int_equal(stn_inverse_singular(f->inverse, 0), -1);
        assert_int_equal(stn_inverse_singular(f->inverse, t), 0);
        assert_int_equal(stn_inverse_require(f->inverse, &f->err), STN_ERR_NUMERIC);
        assert_non_null(strstr(f->err.text, "tree 1 (source 101) is singular at dof 0"));
        stn_delassus d;
        assert_int_equal(stn_delassus_build(f->inverse, &s->problem, f->arena, &d, &f->err), STN_ERR_NUMERIC);
        assert_ok(stn_inverse_masses(f->inverse, &s->problem, f->arena, &f->err), f->err);
        assert_near(s->constraints[0].w_trace, trace_by(s, 6, unit), 1e-12); // nothing > 0: 1 stands in
        const stn_matrix given = {.n = 6, .form = STN_MATRIX_DENSE, .values = mass};
        const stn_matrix *from[2] = {NULL, &given};
        assert_ok(stn_inverse_set_scale(f->inverse, from, &f->err), f->err);
        assert_ok(stn_inverse_masses(f->inverse, &s->problem, f->arena, &f->err), f->err);
        assert_near(s->constraints[0].w_trace, trace_by(s, 6, mass), 1e-12);
        mass[7] = -1.0;
        assert_int_equal(stn_inverse_set_scale(f->inverse, from, &f->err), STN_ERR_NUMERIC);
        assert_non_null(strstr(f->err.text, "scale of tree 1 (source 101)"));
        sample_clear(s);
    }
}

// Of a cloud w comes from the diagonal blocks of A alone.
static void a_cloud_is_scaled_by_the_blocks_of_its_nodes(void **state) {
    fixture *f = *state;
    stn_random r = {14};
    sample *s = sample_create();
    sample_tree(s, &r, STN_MATRIX_NODAL, 24);
    sample_constraint(s, &r, STN_SET_CONE, 3, 0, 0, -1, 0);
    stn_constraint *by_node = sample_constraint(s, &r, STN_SET_CONE, 3, 0, 3, -1, 0);
    for (int32_t k = 0; k < 3; k++) {
        by_node->J[0].node[k] = 2 * k;
    }
    sample_finish(s, &r);
    double *blocks = sample_dense_A(&s->problem), W = 0.0;
    for (int32_t i = 0; i < 24 * 24; i++) {
        blocks[i] = i / 24 / 3 == i % 24 / 3 ? blocks[i] : 0.0;
    }
    for (int32_t k = 0; k < 3; k++) {
        for (int32_t row = 0; row < 3; row++) {
            double x[24] = {0.0};
            const double *J = by_node->J[0].values + 9 * k + 3 * row;
            memcpy(x + 6 * k, J, 3 * sizeof *x);
            plain_solve(24, blocks, x);
            W += J[0] * x[6 * k] + J[1] * x[6 * k + 1] + J[2] * x[6 * k + 2];
        }
    }
    assert_ok(stn_inverse_factor(f->inverse, &s->problem, &f->err), f->err);
    assert_ok(stn_inverse_masses(f->inverse, &s->problem, f->arena, &f->err), f->err);
    assert_near(s->constraints[0].w_trace, trace_by(s, 24, blocks), 1e-12);
    assert_near(by_node->w_trace, W, 1e-12);
    free(blocks);
    sample_clear(s);
}

// B B^T of rank n - 1 plus `less` times a direction's square: singular for 0, indefinite below.
static void rank_deficient(stn_random *r, int32_t n, double less, double *a) {
    double b[24 * 24], u[24];
    for (int32_t i = 0; i < n * n; i++) {
        b[i] = random_real(r);
    }
    for (int32_t i = 0; i < n; i++) {
        u[i] = random_real(r);
    }
    for (int32_t i = 0; i < n * n; i++) {
        a[i] = less * u[i / n] * u[i % n];
        for (int32_t k = 0; k < n - 2; k++) {
            a[i] += b[n * (i / n) + k] * b[n * (i % n) + k];
        }
    }
}

static void indefinite_is_told_from_singular(void **state) {
    fixture *f = *state;
    const double sizes[] = {1.0, 1e-9, 1e12};
    for (uint64_t seed = 1; seed <= 300; seed++) {
        stn_random r = {seed};
        sample *s = sample_create();
        int32_t n = 3 + (int32_t)(seed % 20), tree, dof;
        sample_tree(s, &r, STN_MATRIX_DENSE, 6);
        sample_tree(s, &r, STN_MATRIX_DENSE, n);
        sample_finish(s, &r);
        double *a = s->trees[1].A.values, size = sizes[seed % 3];
        bool bad = seed % 2 == 0;
        rank_deficient(&r, n, bad ? -1e-6 : 0.0, a);
        for (int32_t i = 0; i < n * n; i++) {
            a[i] *= size;
        }
        stn_status status = stn_inverse_factor(f->inverse, &s->problem, &f->err);
        if (bad) {
            assert_int_equal(status, STN_ERR_NUMERIC);
            assert_non_null(strstr(f->err.text, "A of tree 1 (source 101) is indefinite"));
            assert_true(stn_inverse_fault(f->inverse, &tree, &dof));
            assert_true(tree == 1 && dof >= 0 && dof < n);
        } else {
            assert_ok(status, f->err);
            assert_true(stn_inverse_singular(f->inverse, 1) >= 0);
            assert_false(stn_inverse_fault(f->inverse, &tree, &dof));
        }
        sample_clear(s);
    }
}

// A chain of nodes joined by springs: what moves as a whole costs nothing, and a spring that pushes makes it
// indefinite.
static void clouds_are_told_apart_too(void **state) {
    fixture *f = *state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        stn_random r = {seed};
        sample *s = sample_create();
        int32_t tree, dof;
        sample_tree(s, &r, STN_MATRIX_NODAL, 24);
        sample_finish(s, &r);
        stn_matrix *a = &s->trees[0].A;
        memset(a->values, 0, (size_t)stn_matrix_value_count(a) * sizeof(double));
        bool bad = seed % 2 == 0;
        for (int32_t i = 0; i + 1 < 8; i++) {
            double K[9];
            random_spd(&r, 3, 0.5, K);
            for (int32_t q = 0; q < 9; q++) {
                double k = (bad && i == 3 ? -0.01 : 1.0) * K[q];
                for (int32_t e = a->row_start[i]; e < a->row_start[i + 2]; e++) {
                    int32_t row = e < a->row_start[i + 1] ? i : i + 1, column = a->column[e];
                    if (column == i || column == i + 1) {
                        a->values[9 * e + q] += row == column ? k : -k;
                    }
                }
            }
        }
        stn_status status = stn_inverse_factor(f->inverse, &s->problem, &f->err);
        if (bad) {
            assert_int_equal(status, STN_ERR_NUMERIC);
            assert_non_null(strstr(f->err.text, "A of tree 0 (source 100) is indefinite"));
            assert_true(stn_inverse_fault(f->inverse, &tree, &dof));
        } else {
            assert_ok(status, f->err);
            assert_true(stn_inverse_singular(f->inverse, 0) >= 0);
        }
        sample_clear(s);
    }
}

// Rank 5 up to round-off: the pivot is tiny but not zero.
static void round_off_does_not_make_a_singular_matrix_regular(void **state) {
    fixture *f = *state;
    stn_random r = {8};
    sample *s = sample_create();
    sample_tree(s, &r, STN_MATRIX_DENSE, 6);
    double *a = s->trees[0].A.values, b[30];
    for (int32_t i = 0; i < 30; i++) {
        b[i] = random_real(&r);
    }
    for (int32_t i = 0; i < 36; i++) {
        a[i] = 0.0;
        for (int32_t k = 0; k < 5; k++) {
            a[i] += b[5 * (i / 6) + k] * b[5 * (i % 6) + k];
        }
    }
    sample_finish(s, &r);
    assert_ok(stn_inverse_factor(f->inverse, &s->problem, &f->err), f->err);
    assert_int_equal(stn_inverse_singular(f->inverse, 0), 5);
    sample_clear(s);
}

static void nan_in_A_is_an_error(void **state) {
    fixture *f = *state;
    sample *s = sample_mixed(2);
    for (int32_t t = 0; t < s->problem.tree_count; t++) {
        double *values = s->trees[t].A.values, kept = values[0];
        values[0] = NAN;
        assert_int_equal(stn_inverse_factor(f->inverse, &s->problem, &f->err), STN_ERR_NUMERIC);
        assert_non_null(strstr(f->err.text, "nan"));
        values[0] = kept;
    }
    double *J = (double *)s->constraints[3].J[0].values; // the sample owns it
    J[0] = NAN;
    assert_ok(stn_inverse_factor(f->inverse, &s->problem, &f->err), f->err);
    assert_int_equal(stn_inverse_masses(f->inverse, &s->problem, f->arena, &f->err), STN_ERR_NUMERIC);
    assert_non_null(strstr(f->err.text, "constraint 3"));
    sample_clear(s);
}

static void a_steady_sequence_allocates_nothing(void **state) {
    fixture *f = *state;
    sample *s = sample_mixed(6), *other = sample_mixed(60);
    int64_t before = 0;
    for (int32_t round = 0; round < 4; round++) {
        if (round == 2) {
            before = stn_context_allocations(f->context);
        }
        stn_arena_reset(f->arena);
        sample *now = round % 2 == 0 ? s : other;
        assert_ok(stn_inverse_factor(f->inverse, &now->problem, &f->err), f->err);
        assert_ok(stn_inverse_masses(f->inverse, &now->problem, f->arena, &f->err), f->err);
        stn_inverse_velocity(f->inverse, &now->problem, now->problem.gamma_guess, now->problem.v0);
    }
    assert_int_equal(stn_context_allocations(f->context), before);
    sample_clear(s);
    sample_clear(other);
}

static void running_out_of_memory_is_an_error_and_leaks_nothing(void **state) {
    (void)state;
    sample *s = sample_mixed(3);
    bool done = false;
    for (int32_t requests = 1; !done && requests < 200; requests++) {
        stn_heap heap = {0};
        stn_context *context = stn_heap_context(&heap);
        stn_inverse *inverse = NULL;
        stn_error err = {0};
        stn_heap_arm(&heap, requests);
        if (stn_inverse_create(context, &inverse, &err) == STN_OK) {
            stn_arena *arena = stn_arena_create(context);
            stn_status status = stn_inverse_factor(inverse, &s->problem, &err);
            if (status == STN_OK && arena != NULL) {
                status = stn_inverse_masses(inverse, &s->problem, arena, &err);
                done = status == STN_OK;
            }
            assert_true(status == STN_OK || status == STN_ERR_MEMORY);
            stn_arena_destroy(arena);
        }
        stn_inverse_destroy(inverse);
        stn_context_destroy(context);
        assert_int_equal(heap.live, 0);
    }
    assert_true(done);
    sample_clear(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(apply_equals_gaussian_elimination_on_every_form, setup, teardown),
        cmocka_unit_test_setup_teardown(several_columns_are_solved_as_one_by_one, setup, teardown),
        cmocka_unit_test_setup_teardown(masses_are_the_diagonal_blocks_of_the_dense_operator, setup, teardown),
        cmocka_unit_test_setup_teardown(branches_are_divided_by_like_any_other_tree, setup, teardown),
        cmocka_unit_test_setup_teardown(a_free_body_at_its_centre_weighs_one_over_m, setup, teardown),
        cmocka_unit_test_setup_teardown(velocity_recovers_what_the_momentum_balance_says, setup, teardown),
        cmocka_unit_test_setup_teardown(a_singular_tree_has_a_scale_and_no_operator, setup, teardown),
        cmocka_unit_test_setup_teardown(a_cloud_is_scaled_by_the_blocks_of_its_nodes, setup, teardown),
        cmocka_unit_test_setup_teardown(indefinite_is_told_from_singular, setup, teardown),
        cmocka_unit_test_setup_teardown(clouds_are_told_apart_too, setup, teardown),
        cmocka_unit_test_setup_teardown(round_off_does_not_make_a_singular_matrix_regular, setup, teardown),
        cmocka_unit_test_setup_teardown(nan_in_A_is_an_error, setup, teardown),
        cmocka_unit_test_setup_teardown(a_steady_sequence_allocates_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(running_out_of_memory_is_an_error_and_leaks_nothing, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
