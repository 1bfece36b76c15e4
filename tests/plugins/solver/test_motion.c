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

/// The tree once more, by the inertias of its bodies.
typedef struct articulation {
    int32_t parent[64];
    stn_articulated bodies;
    stn_matrix articulated;
    double number[64][2]; // of rows of one or two dofs
} articulation;

/// A of the tree by its inertias, and wrenches, or nodes of one dof, in the place of rows.
static void articulate(sample *s, articulation *own) {
    s->trees[0].A = own->articulated;
    for (int32_t i = 0; i < s->problem.constraint_count; i++) {
        stn_jacobian *J = &s->constraints[i].J[0];
        if (s->constraints[i].set == STN_SET_BOX) {
            for (int32_t d = 0; d < own->bodies.n; d++) {
                if (J->values[d] != 0.0) {
                    own->number[i][J->node_count] = J->values[d];
                    J->node[J->node_count++] = d;
                }
            }
            J->node_size = 1;
            J->values = own->number[i];
        }
        J->values = J->wrench != NULL ? NULL : J->values;
    }
}

/// A tree with contacts, and with the seed a limit of a joint, rows that couple branches, an ellipse, a contact with
/// another tree, two dofs that damping couples.
static sample *tree_sample(uint64_t seed, articulation *own) {
    int32_t *parent = own->parent;
    stn_random r = {seed};
    sample *s = sample_create();
    const int32_t n = 1 + random_below(&r, 48);
    const int32_t tree = sample_tree(s, &r, STN_MATRIX_DENSE, n);
    random_parents(&r, (shape)(seed % SHAPES), n, parent);
    double *S = sample_random_doubles(s, &r, (size_t)(8 * n));
    for (int32_t j = 0; j < n; j++) {
        S[8 * j + 6] = S[8 * j + 7] = 0.0;
    }
    double *inertia = sample_doubles(s, (size_t)(50 * n), 0.1); // and 0.1 on the diagonal
    memset(inertia, 0, (size_t)(48 * n) * sizeof *inertia);
    put_mass(&r, n, parent, S, inertia, s->trees[tree].A.values);
    stn_matrix_diagonal(&s->trees[tree].A, inertia + 49 * n);
    own->articulated = (stn_matrix){.n = n, .form = STN_MATRIX_ARTICULATED, .values = inertia, .bodies = &own->bodies};
    own->bodies = (stn_articulated){n, parent, S, sample_doubles(s, STN_ARTICULATED_VALUES(n), 0.0)};
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
        row[random_below(&r, n)] = -1.0;
        c->J[0].values = row;
    }
    if (seed % 8 == 2) { // a servo of the same dof may meet it, and one row of two dofs
        for (int32_t k = 1; k <= 2; k++) {
            stn_constraint *c = sample_constraint(s, &r, STN_SET_BOX, 1, tree, 0, -1, 0);
            double *row = sample_doubles(s, (size_t)n, 0.0);
            row[k * (n - 1) / 2] = 1.0;
            row[n / 3] += k == 1 ? 0.0 : 0.5;
            c->J[0].values = row;
        }
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
        articulation own;
        sample *s = tree_sample(seed, &own);
        stn_problem *p = &s->problem;
        double v[MULTICONTACT_MOST], speed = 0.0, off = 0.0;
        const stn_matrix full = s->trees[0].A;
        stn_jacobian rows[64];
        assert_true(p->constraint_count <= 64);
        for (int32_t i = 0; i < p->constraint_count; i++) {
            rows[i] = s->constraints[i].J[0];
        }
        if (seed % 11 != 0 && seed % 3 != 0) { // A is that of the inertias
            articulate(s, &own);
        }
        assert_ok(stn_problem_check(f->context, p, &f->err), f->err);
        const stn_status told = solve(f, p);
        if (told < STN_OK) {
            fail_msg("%s, seed %d: %s", solver, (int)seed, f->err.text);
        }
        const int32_t iterations = f->report.iterations;
        memcpy(v, f->v, (size_t)p->nv * sizeof *v);
        s->trees[0].A = full;
        for (int32_t i = 0; i < p->constraint_count; i++) {
            s->constraints[i].J[0] = rows[i];
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
    compare(*state, "apgd", "sap", NULL); // which is given rows and dense matrices
}

static void a_motion_that_is_not_that_of_the_rows_is_refused(void **state) {
    fixture *f = *state;
    articulation own;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        sample *s = tree_sample(seed, &own);
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
        own.parent[tree->A.n - 1] = tree->A.n - 1;
        assert_int_equal(stn_problem_check(f->context, &s->problem, &f->err), STN_ERR_ARGUMENT);
        sample_clear(s);
    }
}

static void articulated_matrices_that_are_none_are_refused(void **state) {
    fixture *f = *state;
    articulation own;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        if (seed % 11 == 0) {
            continue;
        }
        sample *s = tree_sample(seed, &own);
        articulate(s, &own);
        const int32_t n = own.bodies.n;
        double *values = own.articulated.values;
        const int32_t wrong[] = {1, 48 * n, 50 * n - 1, 48 * (n - 1) + 6}; // one half of a pair, diagonals, a zero
        assert_ok(stn_problem_check(f->context, &s->problem, &f->err), f->err);
        for (int32_t k = 0; k < STN_COUNT(wrong); k++) {
            const double right = values[wrong[k]];
            values[wrong[k]] += 0.01;
            assert_int_equal(stn_problem_check(f->context, &s->problem, &f->err), STN_ERR_ARGUMENT);
            values[wrong[k]] = NAN;
            assert_true(stn_problem_check(f->context, &s->problem, &f->err) < STN_OK);
            values[wrong[k]] = right;
        }
        stn_jacobian *J = &s->constraints[0].J[0];
        double *wrench = (double *)(uintptr_t)J->wrench;
        const double right = wrench[2];
        wrench[2] = NAN;
        assert_int_equal(stn_problem_check(f->context, &s->problem, &f->err), STN_ERR_NUMERIC);
        wrench[2] = right;
        s->trees[0].motion = NULL; // that of A is another one
        assert_int_equal(stn_problem_check(f->context, &s->problem, &f->err), STN_ERR_ARGUMENT);
        sample_clear(s);
    }
}

static void copies_do_without_the_motion(void **state) {
    fixture *f = *state;
    articulation own;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        if (seed % 11 == 0) {
            continue;
        }
        sample *s = tree_sample(seed, &own);
        const stn_matrix full = s->trees[0].A;
        const stn_constraint *c = &s->constraints[0];
        const double *rows = c->J[0].values;
        stn_problem_owner *owner = NULL;
        articulate(s, &own);
        assert_ok(stn_problem_copy(f->context, &s->problem, &owner, &f->err), f->err);
        const stn_problem *copy = stn_problem_of(owner);
        assert_null(copy->trees[0].motion);
        assert_null(copy->constraints[0].J[0].wrench);
        assert_int_equal(copy->trees[0].A.form, STN_MATRIX_DENSE);
        for (int32_t k = 0; k < full.n * full.n; k++) {
            assert_near(copy->trees[0].A.values[k], full.values[k], 1e-12 * (1.0 + fabs(full.values[k])));
        }
        for (int32_t k = 0; k < c->rows * full.n; k++) {
            assert_near(copy->constraints[0].J[0].values[k], rows[k], 1e-12 * (1.0 + fabs(rows[k])));
        }
        stn_problem_destroy(owner);
        sample_clear(s);
    }
}

/// Products and inverse masses of the articulated problem are those of the one that is written out.
static void products_are_those_of_rows(void **state) {
    fixture *f = *state;
    articulation own;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        if (seed % 11 == 0) {
            continue;
        }
        sample *s = tree_sample(seed, &own);
        stn_problem *p = &s->problem, plain;
        stn_arena *arena = stn_arena_create(f->context);
        stn_random r = {seed};
        double x[128], from[128], y[4][128], gamma[256], v_c[4][256];
        assert_true(p->nv <= 128 && p->row_count <= 256);
        for (int32_t d = 0; d < p->nv; d++) {
            x[d] = random_real(&r);
            from[d] = random_real(&r);
            y[0][d] = y[1][d] = y[2][d] = 1.0;
        }
        for (int32_t i = 0; i < p->row_count; i++) {
            gamma[i] = random_real(&r);
        }
        stn_problem_jacobian_transposed_add(p, 0.7, gamma, y[0]);
        stn_problem_contact_velocity(p, x, true, v_c[0]);
        stn_problem_impulse_sizes(p, gamma, v_c[2]);
        stn_problem_mass_times(p, x, from, y[3]);
        stn_inverse *inverse = NULL;
        double w[64];
        assert_ok(stn_inverse_create(f->context, &inverse, &f->err), f->err);
        assert_true(arena != NULL && p->constraint_count <= 64);
        for (int32_t k = 0; k < 2; k++) {
            assert_ok(stn_inverse_factor(inverse, p, &f->err), f->err);
            assert_ok(stn_inverse_masses(inverse, p, arena, &f->err), f->err);
            for (int32_t i = 0; i < p->constraint_count; i++) {
                assert_true(k == 0 || fabs(w[i] - s->constraints[i].w) <= 1e-9 * w[i]);
                w[i] = s->constraints[i].w;
            }
            if (k == 0) {
                articulate(s, &own);
            }
        }
        stn_inverse_destroy(inverse);
        assert_true(arena != NULL && stn_problem_expand(p, arena, &plain));
        for (int32_t k = 0; k < 2; k++) { // the articulated one, and what was made of it
            const stn_problem *q = k == 0 ? p : &plain;
            double mass[128], sizes[128];
            for (int32_t d = 0; d < p->nv; d++) {
                y[1][d] = y[2][d] = 1.0;
            }
            stn_problem_jacobian_transposed_add(q, 0.7, gamma, y[1]);
            stn_problem_contact_velocity(q, x, true, v_c[1]);
            stn_problem_impulse_sizes(q, gamma, sizes);
            stn_problem_mass_times(q, x, from, mass);
            for (int32_t i = 0; i < p->constraint_count; i++) {
                const stn_constraint *c = &p->constraints[i];
                stn_constraint_transposed_add(q, c, 0.7, gamma + c->row, y[2]);
                stn_constraint_velocity(q, c, x, v_c[3] + c->row);
            }
            for (int32_t d = 0; d < p->nv; d++) {
                assert_near(y[1][d], y[0][d], 1e-12 * (1.0 + v_c[2][d]));
                assert_near(y[2][d], y[0][d], 1e-12 * (1.0 + v_c[2][d]));
                assert_near(sizes[d], v_c[2][d], 1e-12 * (1.0 + v_c[2][d]));
                assert_near(mass[d], y[3][d], 1e-11 * (1.0 + fabs(y[3][d])));
            }
            for (int32_t i = 0; i < p->row_count; i++) {
                assert_near(v_c[1][i], v_c[0][i], 1e-11);
                assert_near(v_c[3][i] + p->bias[i], v_c[0][i], 1e-11);
            }
        }
        stn_arena_destroy(arena);
        sample_clear(s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(solvers_find_the_same_by_the_motion_of_trees, setup, teardown),
        cmocka_unit_test_setup_teardown(a_motion_that_is_not_that_of_the_rows_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(articulated_matrices_that_are_none_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(copies_do_without_the_motion, setup, teardown),
        cmocka_unit_test_setup_teardown(products_are_those_of_rows, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
