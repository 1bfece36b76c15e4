// SPDX-License-Identifier: Apache-2.0
// Products, regularisation and copies of contact problems, against plain dense algebra and closed forms.
#include "full_problem.h"
#include "stn_heap.h"
#include "stn_test.h"

static void every_kind_and_set_has_a_name(void **state) {
    (void)state;
    assert_string_equal(stn_constraint_kind_name(STN_CONSTRAINT_CONTACT), "contact");
    assert_string_equal(stn_constraint_kind_name(STN_CONSTRAINT_JOINT_LIMIT), "joint_limit");
    assert_string_equal(stn_constraint_kind_name(STN_CONSTRAINT_DISTANCE), "distance");
    assert_string_equal(stn_constraint_set_name(STN_SET_EQUALITY), "equality");
    assert_null(stn_constraint_kind_name(STN_CONSTRAINT_KIND_COUNT));
    assert_null(stn_constraint_set_name(STN_SET_COUNT));
}

// 1e-13: sums of at most 60 products of numbers below 2 (and of A up to 30).
static void products_equal_dense_algebra(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        sample *s = sample_mixed(seed);
        const stn_problem *p = &s->problem;
        stn_random r = {seed};
        size_t nv = (size_t)p->nv, rows = (size_t)p->row_count;
        double *J = sample_dense_J(p), *A = sample_dense_A(p);
        double *v = sample_random_doubles(s, &r, nv), *x0 = sample_random_doubles(s, &r, nv);
        double *gamma = sample_random_doubles(s, &r, rows);
        double *v_c = sample_random_doubles(s, &r, rows), *y = sample_doubles(s, nv, 2.0);
        double *z = sample_doubles(s, nv, 7.0);
        stn_problem_contact_velocity(p, v, true, v_c);
        stn_problem_jacobian_transposed_add(p, -0.5, gamma, y);
        stn_problem_mass_times(p, v, x0, z);
        for (size_t k = 0; k < rows; k++) {
            double expected = p->bias[k];
            for (size_t d = 0; d < nv; d++) {
                expected += J[k * nv + d] * v[d];
            }
            assert_near(v_c[k], expected, 1e-13);
        }
        for (size_t d = 0; d < nv; d++) {
            double expected = 2.0, mass = 0.0;
            for (size_t k = 0; k < rows; k++) {
                expected -= 0.5 * J[k * nv + d] * gamma[k];
            }
            for (size_t e = 0; e < nv; e++) {
                mass += A[d * nv + e] * (v[e] - x0[e]);
            }
            assert_near(y[d], expected, 1e-13);
            assert_near(z[d], mass, 1e-12);
        }
        free(J);
        free(A);
        sample_clear(s);
    }
}

static void velocity_of_one_constraint_is_its_rows_without_bias(void **state) {
    (void)state;
    sample *s = sample_mixed(3);
    stn_random r = {4};
    double *v = sample_random_doubles(s, &r, (size_t)s->problem.nv);
    double *all = sample_doubles(s, (size_t)s->problem.row_count, 0.0);
    stn_problem_contact_velocity(&s->problem, v, false, all);
    for (int32_t i = 0; i < s->problem.constraint_count; i++) {
        const stn_constraint *c = &s->constraints[i];
        double v_c[STN_MAX_ROWS];
        stn_constraint_velocity(&s->problem, c, v, v_c);
        assert_memory_equal(v_c, all + c->row, (size_t)c->rows * sizeof(double));
    }
    sample_clear(s);
}

// A (x - x0) with x near x0 must not be computed as A x - A x0, which would keep no digit here.
static void mass_times_a_small_difference_is_exact(void **state) {
    (void)state;
    double A[4] = {3.0, 1.0, 1.0, 2.0}, x[2] = {1e8 + 1.0, 1e8}, x0[2] = {1e8, 1e8 + 2.0}, y[2];
    stn_problem_tree tree = {.A = {.n = 2, .form = STN_MATRIX_DENSE, .values = A}};
    stn_problem p = {.nv = 2, .tree_count = 1, .trees = &tree};
    stn_problem_mass_times(&p, x, x0, y);
    assert_near(y[0], 1.0, 0.0);
    assert_near(y[1], -3.0, 0.0);
    stn_problem_mass_times(&p, x, NULL, y);
    assert_near(y[0], 4e8 + 3.0, 0.0);
}

typedef struct one_row {
    stn_problem problem;
    stn_constraint constraint;
    double R[3], v_hat[3];
} one_row;

static void regularize_one(one_row *o, stn_constraint_kind kind, stn_constraint_set set, double k, double tau,
                           double phi0) {
    *o = (one_row){.problem = {.dt = 0.01, .constraint_count = 1}};
    int32_t rows = set == STN_SET_CONE ? 3 : 1;
    o->constraint = (stn_constraint){
        .kind = kind, .set = set, .rows = rows, .phi0 = phi0, .stiffness = k, .relaxation_time = tau, .w = 2.0};
    o->problem.constraints = &o->constraint;
    o->problem.row_count = rows;
    o->problem.R = o->R;
    o->problem.v_hat = o->v_hat;
    stn_problem_regularize(&o->problem);
}

// docs/contact-problem.md, "What the rows are", with dt = 0.01, w = 2: near-rigid floor 0.01/(4 pi^2) w.
static void rows_are_regularised_by_the_closed_forms(void **state) {
    (void)state;
    const double floor_R = 0.01 / (4.0 * STN_PI * STN_PI) * 2.0;
    one_row o;
    regularize_one(&o, STN_CONSTRAINT_JOINT_LIMIT, STN_SET_BOX, INFINITY, 0.3, -0.002); // rigid: tau becomes dt
    assert_near(o.R[0], floor_R, 1e-18);
    assert_near(o.v_hat[0], 0.002 / 0.02, 1e-15);
    regularize_one(&o, STN_CONSTRAINT_JOINT_LIMIT, STN_SET_BOX, INFINITY, 0.0, -0.002); // unless the limit says less
    assert_near(o.v_hat[0], 0.002 / 0.01, 1e-15);
    regularize_one(&o, STN_CONSTRAINT_DISTANCE, STN_SET_EQUALITY, 100.0, 0.04, 0.01); // soft: c = 1/(dt k (dt + tau))
    assert_near(o.R[0], 1.0 / (0.01 * 100.0 * 0.05), 1e-15);
    assert_near(o.v_hat[0], -0.01 / 0.05, 1e-15);
    regularize_one(&o, STN_CONSTRAINT_SERVO, STN_SET_BOX, 1e9, 0.04, 0.01); // stiff servo: the ratio kd/kp stays
    assert_near(o.R[0], floor_R, 1e-18);
    assert_near(o.v_hat[0], -0.01 / 0.05, 1e-15);
    regularize_one(&o, STN_CONSTRAINT_DRY_FRICTION, STN_SET_BOX, NAN, NAN, NAN);
    assert_near(o.R[0], 2e-3, 1e-18);
    assert_near(o.v_hat[0], 0.0, 0.0);
    regularize_one(&o, STN_CONSTRAINT_WELD, STN_SET_EQUALITY, NAN, NAN, NAN);
    assert_near(o.R[0], floor_R, 1e-18);
    assert_near(o.v_hat[0], 0.0, 0.0);
    regularize_one(&o, STN_CONSTRAINT_SERVO, STN_SET_BOX, 0.0, 0.01, 0.01); // no gains at all: finite, and no impulse
    assert_true(isfinite(o.R[0]) && o.R[0] >= 1e100);
    regularize_one(&o, STN_CONSTRAINT_CONTACT, STN_SET_CONE, 1e4, 0.02, 0.003);
    assert_near(o.R[0], 0.0, 0.0);
    assert_near(o.R[2], 1.0 / (0.01 * 1e4 * 0.03), 1e-15);
    assert_near(o.v_hat[2], -0.1, 1e-15);
    regularize_one(&o, STN_CONSTRAINT_CONTACT, STN_SET_CONE, INFINITY, 0.02, 0.003);
    assert_near(o.R[2], 0.0, 0.0);
}

static void explicit_regularisation_is_left_alone(void **state) {
    (void)state;
    one_row o;
    regularize_one(&o, STN_CONSTRAINT_JOINT_LIMIT, STN_SET_BOX, INFINITY, 0.3, -0.002);
    o.R[0] = 5.0;
    o.problem.explicit_R = true;
    stn_problem_regularize(&o.problem);
    assert_near(o.R[0], 5.0, 0.0);
}

/// Three equality rows with an error each, a fourth set whose rows nothing can move.
static void rows_have_errors_of_their_own(void **state) {
    (void)state;
    double R[3], v_hat[3], phi[3] = {0.01, NAN, -0.03};
    stn_constraint ball = {.kind = STN_CONSTRAINT_BALL,
                           .set = STN_SET_EQUALITY,
                           .rows = 3,
                           .phi0 = NAN,
                           .stiffness = INFINITY,
                           .relaxation_time = 0.5,
                           .w = 2.0};
    stn_problem p = {
        .dt = 0.01, .constraint_count = 1, .constraints = &ball, .row_count = 3, .R = R, .v_hat = v_hat, .phi = phi};
    stn_problem_regularize(&p);
    assert_near(v_hat[0], -0.01 / 0.02, 1e-15); // rigid: tau_d is dt
    assert_near(v_hat[1], 0.0, 0.0);
    assert_near(v_hat[2], 0.03 / 0.02, 1e-15);
    ball.stiffness = 100.0;
    stn_problem_regularize(&p);
    assert_near(R[2], 1.0 / (0.01 * 100.0 * 0.51), 1e-15);
    assert_near(v_hat[2], 0.03 / 0.51, 1e-15);
    ball.stiffness = INFINITY;
    ball.w = 0.0; // at a dead centre: finite, and no impulse
    stn_problem_regularize(&p);
    assert_true(isfinite(R[0]) && R[0] >= 1e100);
}

static bool same_reals(const double *a, const double *b, size_t count) {
    return (a == NULL && b == NULL) || (a != NULL && b != NULL && a != b && memcmp(a, b, count * sizeof *a) == 0);
}

static void copies_are_deep_and_equal(void **state) {
    stn_heap *heap = *state;
    stn_error err;
    stn_heap_arm(heap, 0);
    stn_context *context = stn_heap_context(heap);
    sample *s = full_sample(5);
    const stn_problem *p = &s->problem;
    stn_problem_owner *owner = NULL;
    assert_ok(stn_problem_copy(context, p, &owner, &err), err);
    const stn_problem *q = stn_problem_of(owner);
    size_t nv = (size_t)p->nv, rows = (size_t)p->row_count;
    assert_string_equal(q->name, p->name);
    assert_true(q->name != p->name);
    assert_true(same_reals(p->v0, q->v0, nv) && same_reals(p->free_impulse, q->free_impulse, nv));
    assert_true(same_reals(p->R, q->R, rows) && same_reals(p->gamma_guess, q->gamma_guess, rows) &&
                same_reals(p->phi, q->phi, rows));
    assert_null(q->W);
    for (int32_t t = 0; t < p->tree_count; t++) {
        const stn_matrix *a = &p->trees[t].A, *b = &q->trees[t].A;
        assert_true(same_reals(a->values, b->values, (size_t)stn_matrix_value_count(a)));
        assert_true(a->form != STN_MATRIX_NODAL || a->column != b->column);
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *a = &p->constraints[i], *b = &q->constraints[i];
        assert_true(a->id == b->id && a->row == b->row && a->J[1].tree == b->J[1].tree);
        assert_true(same_reals(a->J[0].values, b->J[0].values, (size_t)a->rows));
        assert_int_equal(a->more_count, b->more_count);
        assert_true(a->more_count == 0 || a->more != b->more);
        for (int32_t k = 0; k < a->more_count; k++) {
            assert_int_equal(a->more[k].tree, b->more[k].tree);
            assert_true(same_reals(a->more[k].values, b->more[k].values, (size_t)a->rows));
            assert_true(a->more[k].values != b->more[k].values);
        }
    }
    stn_problem_destroy(owner);
    stn_problem_destroy(NULL);
    long long before = atomic_load(&heap->live);
    stn_status status = STN_ERR_MEMORY;
    for (long long n = 1; status != STN_OK; n++) {
        stn_heap_arm(heap, n);
        status = stn_problem_copy(context, p, &owner, &err);
        stn_heap_arm(heap, 0);
        assert_true(status == STN_OK || (status == STN_ERR_MEMORY && owner == NULL));
        assert_true(status == STN_OK || atomic_load(&heap->live) == before);
    }
    stn_problem_destroy(owner);
    sample_clear(s);
    stn_context_destroy(context);
    assert_int_equal(atomic_load(&heap->live), 0);
}

int main(void) {
    static stn_heap heap;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_and_set_has_a_name),
        cmocka_unit_test(products_equal_dense_algebra),
        cmocka_unit_test(velocity_of_one_constraint_is_its_rows_without_bias),
        cmocka_unit_test(mass_times_a_small_difference_is_exact),
        cmocka_unit_test(rows_are_regularised_by_the_closed_forms),
        cmocka_unit_test(rows_have_errors_of_their_own),
        cmocka_unit_test(explicit_regularisation_is_left_alone),
        cmocka_unit_test_prestate(copies_are_deep_and_equal, &heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
