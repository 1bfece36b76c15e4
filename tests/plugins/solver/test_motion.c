// SPDX-License-Identifier: Apache-2.0
// Trees that tell how their bodies move (stn_problem_tree.motion): solvers find what they find without that, whatever
// the tree looks like and whatever else is in the problem.
#include "sample_problem.h"
#include "solver_fixture.h"

enum { SEEDS = 60 };

typedef enum shape { RANDOM, CHAIN, STAR, SHAPES } shape;

/// Parents before their children, branch after branch: a dof hangs on the one before it or on one that carries that.
static void random_parents(stn_random *r, shape kind, int32_t n, int32_t *parent) {
    for (int32_t j = 0; j < n; j++) {
        parent[j] = j - 1;
        for (int32_t up = kind == RANDOM ? random_below(r, 3) : 0; up > 0 && parent[j] >= 0; up--) {
            parent[j] = parent[parent[j]];
        }
        parent[j] = kind == STAR && j > 0 ? 0 : parent[j];
    }
}

/// A = sum over dofs of the inertia beyond it: S_i . I(j) S_j, i above j, and a little more on the diagonal. `own` (n x
/// 6 x 8): what each dof is the last to move.
static void put_mass(stn_random *r, int32_t n, const int32_t *parent, const double *S, double *own, double *A) {
    double *I = calloc((size_t)n * 36, sizeof *I);
    assert_non_null(I);
    memset(A, 0, (size_t)n * (size_t)n * sizeof *A);
    for (int32_t j = 0; j < n; j++) {
        random_spd(r, 6, 0.5, I + 36 * j);
        for (int32_t k = 0; k < 36; k++) {
            own[48 * j + 8 * (k / 6) + k % 6] = I[36 * j + k];
        }
    }
    for (int32_t j = n - 1; j >= 0; j--) {
        for (int32_t k = 0; k < 36 && parent[j] >= 0; k++) {
            I[36 * parent[j] + k] += I[36 * j + k];
        }
        for (int32_t i = j; i >= 0; i = parent[i]) {
            double sum = i == j ? 0.1 : 0.0;
            for (int32_t k = 0; k < 36; k++) {
                sum += S[8 * i + k / 6] * I[36 * j + k] * S[8 * j + k % 6];
            }
            A[i * n + j] = A[j * n + i] = sum;
        }
    }
    free(I);
}

/// The wrench of a constraint of the tree and its Jacobian.
static void put_wrench(sample *s, stn_random *r, stn_constraint *c, int32_t tip) {
    const stn_problem_tree *tree = &s->trees[c->J[0].tree];
    const int32_t n = tree->A.n;
    double *wrench = sample_random_doubles(s, r, (size_t)(8 * c->rows));
    double *values = sample_doubles(s, (size_t)(c->rows * n), 0.0);
    for (int32_t row = 0; row < c->rows; row++) {
        for (int32_t i = tip; i >= 0; i = tree->parent[i]) {
            for (int32_t k = 0; k < 6; k++) {
                values[row * n + i] += wrench[8 * row + k] * tree->motion[8 * i + k];
            }
        }
    }
    c->J[0].values = values;
    c->J[0].wrench = wrench;
    c->J[0].tip = tip;
}

/// A tree with contacts, and with the seed a limit of a joint, rows that couple branches, an ellipse, a contact with
/// another tree, two dofs that damping couples.
static sample *tree_sample(uint64_t seed, int32_t *parent) {
    stn_random r = {seed};
    sample *s = sample_create();
    const int32_t n = 1 + random_below(&r, 48);
    const int32_t tree = sample_tree(s, &r, STN_MATRIX_DENSE, n);
    random_parents(&r, (shape)(seed % SHAPES), n, parent);
    double *S = sample_random_doubles(s, &r, (size_t)(8 * n));
    for (int32_t j = 0; j < n; j++) {
        S[8 * j + 6] = S[8 * j + 7] = 0.0;
    }
    double *inertia = sample_doubles(s, (size_t)(48 * n), 0.0);
    put_mass(&r, n, parent, S, inertia, s->trees[tree].A.values);
    if (seed % 11 != 0 && seed % 3 != 0) { // A is that of the inertias
        s->trees[tree].inertia = inertia;
        s->trees[tree].extra = sample_doubles(s, (size_t)n, 0.1);
    }
    s->trees[tree].motion = S;
    s->trees[tree].parent = parent;
    for (int32_t k = 1 + random_below(&r, 12); k > 0; k--) {
        stn_constraint *c =
            sample_constraint(s, &r, k == 1 && seed % 5 == 0 ? STN_SET_ELLIPSE : STN_SET_CONE, 3, tree, 0, -1, 0);
        c->mu2 = c->set == STN_SET_ELLIPSE ? 0.2 : c->mu2;
        put_wrench(s, &r, c, random_below(&r, n));
    }
    if (seed % 2 == 0) { // a limit
        stn_constraint *c = sample_constraint(s, &r, STN_SET_BOX, 1, tree, 0, -1, 0);
        double *row = sample_doubles(s, (size_t)n, 0.0);
        row[random_below(&r, n)] = 1.0;
        c->J[0].values = row;
    }
    if (seed % 7 == 0) {
        sample_constraint(s, &r, STN_SET_EQUALITY, 2, tree, 0, -1, 0);
    }
    if (seed % 4 == 0) {
        sample_constraint(s, &r, STN_SET_CONE, 3, tree, 0, sample_tree(s, &r, STN_MATRIX_DENSE, 6), 0);
    }
    if (seed % 11 == 0 && n > 2) { // A holds more than the tree
        double *A = s->trees[tree].A.values;
        A[1] += 0.05;
        A[n] += 0.05;
        A[n - 1] += 0.05;
        A[n * (n - 1)] += 0.05;
        A[0] += 0.2;
        A[n + 1] += 0.2;
        A[n * n - 1] += 0.2;
    }
    sample_finish(s, &r);
    s->problem.explicit_R = true;
    for (int32_t i = 0; i < s->problem.constraint_count; i++) {
        stn_constraint *c = &s->constraints[i];
        c->phi0 = -1e-4;
        c->stiffness = 1e4;
        c->relaxation_time = 0.01;
        for (int32_t row = c->row; row < c->row + c->rows; row++) {
            s->problem.R[row] = 0.05;
        }
        if (c->set == STN_SET_ELLIPSE) { // as law/sap has it
            s->problem.R[c->row + 1] *= c->mu1 * c->mu1 / (c->mu2 * c->mu2);
        }
    }
    return s;
}

static void compare(fixture *f, const char *solver, const char *law, const char *factorization) {
    const stn_setting settings[] = {number_setting("tolerance", 1e-10), number_setting("max_iterations", 500.0),
                                    text_setting("factorization", factorization)};
    assert_ok(try_with(f, solver, settings, factorization != NULL ? 3 : 2, law), f->err);
    double worst = 0.0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        int32_t parent[64];
        sample *s = tree_sample(seed, parent);
        stn_problem *p = &s->problem;
        double v[MULTICONTACT_MOST], speed = 0.0, off = 0.0;
        assert_ok(stn_problem_check(f->context, p, &f->err), f->err);
        const stn_status told = solve(f, p);
        if (told < STN_OK) {
            fail_msg("%s, seed %d: %s", solver, (int)seed, f->err.text);
        }
        const int32_t iterations = f->report.iterations;
        memcpy(v, f->v, (size_t)p->nv * sizeof *v);
        for (int32_t i = 0; i < p->constraint_count; i++) {
            s->constraints[i].J[0].wrench = NULL;
        }
        const stn_status plain = solve(f, p);
        for (int32_t d = 0; d < p->nv; d++) {
            speed = fmax(speed, fabs(f->v[d]));
            off = worse(off, fabs(v[d] - f->v[d]));
        }
        worst = worse(worst, off / speed);
        if (told != plain || abs(iterations - f->report.iterations) > 1 || off > 1e-8 * speed) {
            fail_msg("%s, seed %d, %d dofs: %d after %d iterations, without the motion %d after %d; v off by %g of %g",
                     solver, (int)seed, s->trees[0].A.n, (int)told, iterations, (int)plain, f->report.iterations, off,
                     speed);
        }
        sample_clear(s);
    }
    leave(f);
    print_message("%s %s: v off by %.1e\n", solver, law != NULL ? law : "", worst);
}

static void solvers_find_the_same_by_the_motion_of_trees(void **state) {
    compare(*state, "sap", "sap", NULL);
    compare(*state, "sap", "sap", "dense");
    compare(*state, "sap", "sap", "block");
    compare(*state, "ipm", "sap", NULL);
    compare(*state, "ipm", NULL, NULL);
}

static void a_motion_that_is_not_that_of_the_rows_is_refused(void **state) {
    fixture *f = *state;
    int32_t parent[64];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        sample *s = tree_sample(seed, parent);
        stn_jacobian *J = &s->constraints[0].J[0];
        const stn_problem_tree *tree = &s->trees[0];
        double *wrench = (double *)(uintptr_t)J->wrench;
        assert_ok(stn_problem_check(f->context, &s->problem, &f->err), f->err);
        wrench[1] += 0.01;
        assert_int_equal(stn_problem_check(f->context, &s->problem, &f->err), STN_ERR_ARGUMENT);
        wrench[1] -= 0.01;
        J->tip = tree->A.n;
        assert_int_equal(stn_problem_check(f->context, &s->problem, &f->err), STN_ERR_ARGUMENT);
        J->tip = -1;
        assert_int_equal(stn_problem_check(f->context, &s->problem, &f->err), STN_ERR_ARGUMENT);
        J->wrench = NULL;
        assert_ok(stn_problem_check(f->context, &s->problem, &f->err), f->err);
        parent[tree->A.n - 1] = tree->A.n - 1;
        assert_int_equal(stn_problem_check(f->context, &s->problem, &f->err), STN_ERR_ARGUMENT);
        sample_clear(s);
    }
}

static void copies_do_without_the_motion(void **state) {
    fixture *f = *state;
    int32_t parent[64];
    sample *s = tree_sample(3, parent);
    stn_problem_owner *owner = NULL;
    assert_ok(stn_problem_copy(f->context, &s->problem, &owner, &f->err), f->err);
    assert_null(stn_problem_of(owner)->trees[0].motion);
    assert_null(stn_problem_of(owner)->constraints[0].J[0].wrench);
    stn_problem_destroy(owner);
    sample_clear(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(solvers_find_the_same_by_the_motion_of_trees, setup, teardown),
        cmocka_unit_test_setup_teardown(a_motion_that_is_not_that_of_the_rows_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(copies_do_without_the_motion, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
