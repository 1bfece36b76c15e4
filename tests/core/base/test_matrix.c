// SPDX-License-Identifier: Apache-2.0
// Products, diagonals and sums of tree matrices in every form, against the matrix written out.
#include "stn_test.h"

#include <string.h>

#include <stiction/factor.h>
#include <stiction/matrix.h>

#include "stn_random.h"

enum { N = 12 };

static const int32_t node_sizes[] = {1, 2, 3, 4, 6, 12}; // one after the other
static int32_t node_size = 3;

typedef struct sample {
    double values[3 * N * N];
    int32_t row_start[N + 1], column[3 * N];
    stn_matrix matrix;
} sample;

/// A path of nodes, the last link left out where it is not `linked`.
static void make_path(sample *s, bool linked) {
    const int32_t nodes = N / node_size, last = linked ? nodes : nodes - 1;
    int32_t e = 0;
    for (int32_t i = 0; i < nodes; i++) {
        s->row_start[i] = e;
        for (int32_t j = i > 0 ? i - 1 : 0; j <= i + 1 && j < nodes; j++) {
            s->column[e] = j;
            e += j == i || (i < last && j < last);
        }
    }
    s->row_start[nodes] = e;
    s->matrix.node_count = nodes;
    s->matrix.node_size = node_size;
    s->matrix.row_start = s->row_start;
    s->matrix.column = s->column;
}

static void make(sample *s, stn_matrix_form form, stn_random *r) {
    s->matrix = (stn_matrix){.n = N, .form = form, .values = s->values};
    if (form == STN_MATRIX_NODAL) {
        make_path(s, true);
    }
    for (int32_t i = 0; i < 3 * N * N; i++) {
        s->values[i] = random_real(r);
    }
    for (int32_t i = 0; i < N && form == STN_MATRIX_DENSE; i++) {
        for (int32_t j = 0; j < i; j++) {
            s->values[i * N + j] = s->values[j * N + i];
        }
    }
}

static void write_out(const stn_matrix *a, double *full) {
    memset(full, 0, N * N * sizeof *full);
    for (int32_t i = 0; i < N; i++) {
        for (int32_t j = 0; j < N; j++) {
            if (a->form == STN_MATRIX_DENSE) {
                full[i * N + j] = a->values[i * N + j];
            } else if (a->form == STN_MATRIX_DIAGONAL && i == j) {
                full[i * N + j] = a->values[i];
            }
        }
    }
    for (int32_t i = 0; i < a->node_count && a->form == STN_MATRIX_NODAL; i++) {
        for (int32_t e = a->row_start[i]; e < a->row_start[i + 1]; e++) {
            for (int32_t m = a->node_size, q = 0; q < m * m; q++) {
                full[(m * i + q / m) * N + m * a->column[e] + q % m] = a->values[m * m * e + q];
            }
        }
    }
}

static void the_number_of_values_follows_the_form(void **state) {
    (void)state;
    const int64_t blocks = 3 * N / node_size - 2, expected[] = {0, N, N * N, blocks * node_size * node_size};
    stn_random r = {5};
    for (int32_t form = STN_MATRIX_ZERO; form <= STN_MATRIX_NODAL; form++) {
        sample s;
        make(&s, (stn_matrix_form)form, &r);
        assert_int_equal(stn_matrix_value_count(&s.matrix), expected[form]);
    }
}

static void the_product_is_that_of_the_full_matrix(void **state) {
    (void)state;
    stn_random r = {1};
    for (int32_t form = STN_MATRIX_ZERO; form <= STN_MATRIX_NODAL; form++) {
        sample s;
        double full[N * N], x[N], y[N], expected[N];
        make(&s, (stn_matrix_form)form, &r);
        write_out(&s.matrix, full);
        for (int32_t i = 0; i < N; i++) {
            x[i] = random_real(&r);
            y[i] = expected[i] = random_real(&r);
        }
        for (int32_t i = 0; i < N * N; i++) {
            expected[i / N] += -0.7 * full[i] * x[i % N];
        }
        stn_matrix_mul_add(&s.matrix, -0.7, x, y);
        for (int32_t i = 0; i < N; i++) {
            assert_near(y[i], expected[i], 1e-14);
        }
    }
}

static void a_free_body_takes_the_same_product(void **state) {
    (void)state;
    stn_random r = {5};
    double a[36], x[6], y[6] = {0.0};
    stn_matrix m = {.n = 6, .form = STN_MATRIX_DENSE, .values = a};
    random_spd(&r, 6, 1.0, a);
    for (int32_t i = 0; i < 6; i++) {
        x[i] = random_real(&r);
    }
    stn_matrix_mul_add(&m, 1.0, x, y);
    plain_solve(6, a, y);
    for (int32_t i = 0; i < 6; i++) {
        assert_near(y[i], x[i], 1e-13);
    }
}

static void the_diagonal_is_that_of_the_full_matrix(void **state) {
    (void)state;
    stn_random r = {2};
    for (int32_t form = STN_MATRIX_ZERO; form <= STN_MATRIX_NODAL; form++) {
        sample s;
        double full[N * N], diagonal[N];
        make(&s, (stn_matrix_form)form, &r);
        write_out(&s.matrix, full);
        stn_matrix_diagonal(&s.matrix, diagonal);
        for (int32_t i = 0; i < N; i++) {
            assert_near(diagonal[i], full[i * (N + 1)], 0.0);
        }
    }
}

// Rows: the sum's form; columns: what is added.
static void sums_are_made_where_the_form_can_hold_them_and_refused_elsewhere(void **state) {
    (void)state;
    static const bool possible[4][4] = {
        {true, false, false, false}, {true, true, false, false}, {true, true, true, false}, {true, true, false, true}};
    stn_random r = {3};
    for (int32_t to = 0; to < 4; to++) {
        for (int32_t from = 0; from < 4; from++) {
            sample a, b;
            double full_a[N * N], full_b[N * N], sum[N * N];
            make(&a, (stn_matrix_form)to, &r);
            make(&b, (stn_matrix_form)from, &r);
            write_out(&a.matrix, full_a);
            write_out(&b.matrix, full_b);
            bool done = stn_matrix_add_scaled(&a.matrix, 0.5, &b.matrix) == STN_OK;
            assert_int_equal(done, possible[to][from]);
            write_out(&a.matrix, sum);
            for (int32_t i = 0; i < N * N; i++) {
                assert_near(sum[i], full_a[i] + (done ? 0.5 * full_b[i] : 0.0), 0.0);
            }
        }
    }
}

static void a_nodal_pattern_must_contain_what_is_added(void **state) {
    (void)state;
    stn_random r = {4};
    sample outer, inner;
    make(&outer, STN_MATRIX_NODAL, &r);
    make(&inner, STN_MATRIX_NODAL, &r);
    make_path(&inner, false);
    double before[N * N], full[N * N], after[N * N];
    write_out(&outer.matrix, before);
    write_out(&inner.matrix, full);
    assert_int_equal(stn_matrix_add_scaled(&outer.matrix, 2.0, &inner.matrix), STN_OK);
    write_out(&outer.matrix, after);
    for (int32_t i = 0; i < N * N; i++) {
        assert_near(after[i], before[i] + 2.0 * full[i], 0.0);
    }
    if (node_size < N) { // else there is no link
        assert_int_equal(stn_matrix_add_scaled(&inner.matrix, 1.0, &outer.matrix), STN_ERR_ARGUMENT);
    }
    stn_matrix other = inner.matrix;
    other.n -= node_size;
    other.node_count--;
    assert_int_equal(stn_matrix_add_scaled(&outer.matrix, 1.0, &other), STN_ERR_ARGUMENT);
    other = inner.matrix; // as many rows, other nodes
    other.node_size = 5;
    assert_int_equal(stn_matrix_add_scaled(&outer.matrix, 1.0, &other), STN_ERR_ARGUMENT);
}

/// A matrix by the inertias of bodies is linear in its values: what is added to it shows in products, in the diagonal
/// and where it is written out.
static void articulated_matrices_take_diagonals_and_their_like(void **state) {
    (void)state;
    stn_random r = {6};
    int32_t parent[N];
    double motion[8 * N], room[STN_ARTICULATED_VALUES(N)], values[2][50 * N] = {{0.0}}, added[N], full[3][N * N];
    const stn_articulated bodies = {N, parent, motion, room}, others = bodies;
    stn_matrix A[2], dense = {.n = N, .form = STN_MATRIX_DENSE, .values = full[2]};
    const stn_matrix D = {.n = N, .form = STN_MATRIX_DIAGONAL, .values = added};
    for (int32_t j = 0; j < N; j++) {
        parent[j] = j - 1 - (j > 3 && j % 3 == 0);
        added[j] = random_real(&r);
        for (int32_t k = 0; k < 8; k++) {
            motion[8 * j + k] = k < 6 ? random_real(&r) : 0.0;
        }
        for (int32_t m = 0; m < 2; m++) {
            double I[36];
            random_spd(&r, 6, 1.0, I);
            for (int32_t k = 0; k < 36; k++) {
                values[m][48 * j + 8 * (k / 6) + k % 6] = I[k];
            }
            values[m][48 * N + j] = 0.1 * (j + m);
        }
    }
    for (int32_t m = 0; m < 2; m++) {
        A[m] = (stn_matrix){.n = N, .form = STN_MATRIX_ARTICULATED, .values = values[m], .bodies = &bodies};
        assert_int_equal(stn_matrix_value_count(&A[m]), 50 * N);
        stn_matrix_expand(&A[m], full[m]);
        for (int32_t j = 0; j < N; j++) {
            values[m][49 * N + j] = full[m][j * (N + 1)];
        }
    }
    assert_int_equal(stn_matrix_add_scaled(&A[0], 0.5, &A[1]), STN_OK);
    assert_int_equal(stn_matrix_add_scaled(&A[0], 2.0, &D), STN_OK);
    for (int32_t k = 0; k < N * N; k++) {
        full[0][k] += 0.5 * full[1][k] + (k % (N + 1) == 0 ? 2.0 * added[k / N] : 0.0);
    }
    double x[N], y[N], sum[N], diagonal[N];
    for (int32_t i = 0; i < N; i++) {
        x[i] = random_real(&r);
        y[i] = sum[i] = random_real(&r);
    }
    for (int32_t k = 0; k < N * N; k++) {
        sum[k / N] += -0.7 * full[0][k] * x[k % N];
    }
    stn_matrix_mul_add(&A[0], -0.7, x, y);
    stn_matrix_diagonal(&A[0], diagonal);
    stn_matrix_expand(&A[0], full[1]);
    for (int32_t k = 0; k < N * N; k++) {
        assert_near(full[1][k], full[0][k], 1e-13 * (1.0 + fabs(full[0][k])));
    }
    for (int32_t i = 0; i < N; i++) {
        assert_near(y[i], sum[i], 1e-12 * (1.0 + fabs(sum[i])));
        assert_near(diagonal[i], full[0][i * (N + 1)], 1e-13 * fabs(diagonal[i]));
    }
    A[1].bodies = &others;
    assert_int_equal(stn_matrix_add_scaled(&A[0], 1.0, &A[1]), STN_ERR_ARGUMENT);
    assert_int_equal(stn_matrix_add_scaled(&A[0], 1.0, &dense), STN_ERR_ARGUMENT);
    assert_int_equal(stn_matrix_add_scaled(&dense, 1.0, &A[0]), STN_ERR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(articulated_matrices_take_diagonals_and_their_like),
        cmocka_unit_test(the_number_of_values_follows_the_form),
        cmocka_unit_test(the_product_is_that_of_the_full_matrix),
        cmocka_unit_test(a_free_body_takes_the_same_product),
        cmocka_unit_test(the_diagonal_is_that_of_the_full_matrix),
        cmocka_unit_test(sums_are_made_where_the_form_can_hold_them_and_refused_elsewhere),
        cmocka_unit_test(a_nodal_pattern_must_contain_what_is_added),
    };
    int failures = 0;
    for (int32_t k = 0; k < STN_COUNT(node_sizes); k++) {
        node_size = node_sizes[k];
        failures += cmocka_run_group_tests(tests, NULL, NULL);
    }
    return failures;
}
