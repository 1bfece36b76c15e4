// SPDX-License-Identifier: Apache-2.0
// Nodes of 1 to 12 dofs: every solver finds in a nodal tree what it finds in the same tree written as a dense one.
#include "every_solver.h"
#include "sample_problem.h"

/// Two nodal trees, a body and the constraints among them. R is stated, so that it does not depend on how A is stored.
static sample *nodal_sample(uint64_t seed, int32_t node_size) {
    stn_random r = {seed};
    sample *s = sample_create();
    s->node_size = node_size;
    const int32_t first = sample_tree(s, &r, STN_MATRIX_NODAL, node_size * (2 + random_below(&r, 3)));
    const int32_t body = sample_tree(s, &r, STN_MATRIX_DENSE, 6);
    const int32_t second = sample_tree(s, &r, STN_MATRIX_NODAL, node_size * (1 + random_below(&r, 3)));
    sample_constraint(s, &r, STN_SET_CONE, 3, first, 2, -1, 0);
    sample_constraint(s, &r, STN_SET_CONE, 3, first, 0, body, 0); // dense columns on a nodal tree
    sample_constraint(s, &r, STN_SET_CONE, 3, first, 1, second, 3);
    sample_constraint(s, &r, STN_SET_BOX, 1, second, 1, -1, 0);
    sample_constraint(s, &r, STN_SET_EQUALITY, 2, second, 1, body, 0);
    sample_finish(s, &r);
    s->problem.explicit_R = true;
    for (int32_t i = 0; i < s->problem.constraint_count; i++) {
        stn_constraint *c = &s->constraints[i];
        for (int32_t k = 0; k < 2; k++) {
            for (int32_t b = 0; b < c->J[k].node_count; b++) {
                c->J[k].node[b] = b; // distinct
            }
        }
        c->phi0 = -1e-4;
        c->stiffness = 1e4;
        c->relaxation_time = 0.01;
        for (int32_t row = c->row; row < c->row + c->rows; row++) {
            s->problem.R[row] = 0.05;
        }
    }
    return s;
}

/// The nodal trees of `s` written as dense ones; Jacobian blocks stay as they are, or become dense, too.
static sample *dense_sample(uint64_t seed, int32_t node_size, bool by_node) {
    sample *s = nodal_sample(seed, node_size);
    stn_problem *p = &s->problem;
    double *A = sample_dense_A(p), *J = sample_dense_J(p);
    for (int32_t i = 0; i < p->constraint_count; i++) {
        stn_constraint *c = &s->constraints[i];
        for (int32_t side = 0; side < stn_constraint_block_count(c) && !by_node; side++) {
            const stn_problem_tree *tree = &p->trees[c->J[side].tree];
            double *values = sample_doubles(s, (size_t)(c->rows * tree->A.n), 0.0);
            for (int32_t k = 0; k < c->rows * tree->A.n; k++) {
                values[k] = J[(c->row + k / tree->A.n) * p->nv + tree->dof_start + k % tree->A.n];
            }
            c->J[side] = (stn_jacobian){.tree = c->J[side].tree, .values = values};
        }
    }
    for (int32_t t = 0; t < p->tree_count; t++) {
        const stn_problem_tree *tree = &p->trees[t];
        const int32_t n = tree->A.n;
        double *values = sample_doubles(s, (size_t)(n * n), 0.0);
        for (int32_t k = 0; k < n * n; k++) {
            values[k] = A[(tree->dof_start + k / n) * p->nv + tree->dof_start + k % n];
        }
        s->trees[t].A = (stn_matrix){.n = n, .form = STN_MATRIX_DENSE, .values = values};
    }
    free(A);
    free(J);
    return s;
}

/// The row that a block of a nodal matrix stands in.
static int32_t node_of_block(const stn_matrix *A, int64_t block) {
    int32_t i = 0;
    while (A->row_start[i + 1] <= block) {
        i++;
    }
    return i;
}

static bool answer(fixture *f, const stn_problem *p, double *v) {
    const stn_status status = solve(f, p);
    if (status < 0) {
        fail_msg("%s: %s", f->solver->desc->id, f->err.text);
    }
    memcpy(v, f->v, (size_t)p->nv * sizeof *v);
    return status == STN_OK;
}

static void nodal_trees_are_solved_as_dense_ones(void **state) {
    enum { SEEDS = 8 };
    static const int32_t sizes[] = {1, 2, 3, 4, 6, 12};
    const double tolerance = 1e-8;
    for (int32_t w = 0; w < STN_COUNT(every_way); w++) {
        const solver_way *way = &every_way[w];
        double worst = 0.0;
        int32_t converged = 0;
        const stn_setting settings[] = {number_setting("tolerance", tolerance),
                                        number_setting("max_iterations", 20000.0),
                                        text_setting(way->setting, way->value)};
        assert_ok(try_with(*state, way->id, settings, way->setting != NULL ? 3 : 2, way->law),
                  ((fixture *)*state)->err);
        for (int32_t k = 0; k < STN_COUNT(sizes) * SEEDS; k++) {
            const int32_t size = sizes[k / SEEDS];
            const uint64_t seed = 1 + (uint64_t)(k % SEEDS);
            sample *nodal = nodal_sample(seed, size), *dense = dense_sample(seed, size, k % 2 == 0);
            double v[MULTICONTACT_MOST], expected[MULTICONTACT_MOST], speed = 0.0, off = 0.0;
            const bool one = answer(*state, &nodal->problem, v), other = answer(*state, &dense->problem, expected);
            for (int32_t d = 0; d < nodal->problem.nv; d++) {
                speed = fmax(speed, fabs(expected[d]));
                off = worse(off, fabs(v[d] - expected[d]));
            }
            converged += one;
            worst = worse(worst, off / speed);
            if (one != other || off > 100.0 * tolerance * speed) {
                fail_msg("%s, %d dofs a node, seed %d: converged %d and %d, off by %g of %g", way->id, size, (int)seed,
                         one, other, off, speed);
            }
            sample_clear(nodal);
            sample_clear(dense);
        }
        leave(*state);
        print_message("%s %s %s: %d of %d converged, v off by %.1e\n", way->id, way->value != NULL ? way->value : "",
                      way->law != NULL ? way->law : "", converged, (int)STN_COUNT(sizes) * SEEDS, worst);
        assert_int_equal(converged, STN_COUNT(sizes) * SEEDS);
    }
}

/// Soft steps take their softness from inverse masses: those of a nodal tree are those of the dense one where no node
/// is coupled to another.
static void soft_steps_take_nodes_of_any_size(void **state) {
    static const int32_t sizes[] = {1, 2, 3, 4, 6, 12};
    choose_with(*state, "soft_step", NULL, 0);
    for (int32_t k = 0; k < 8 * STN_COUNT(sizes); k++) {
        const int32_t size = sizes[k / 8];
        sample *s[2] = {nodal_sample(1 + (uint64_t)(k % 8), size),
                        dense_sample(1 + (uint64_t)(k % 8), size, k % 2 == 0)};
        double v[2][MULTICONTACT_MOST], speed = 0.0;
        for (int32_t i = 0; i < 2; i++) {
            for (int32_t t = 0; t < 3; t++) {
                stn_matrix *A = &s[i]->trees[t].A;
                for (int64_t e = 0; e < stn_matrix_value_count(A); e++) {
                    const int64_t m = size * size, n = A->n;
                    const bool coupling = A->form == STN_MATRIX_NODAL
                                              ? s[i]->nodal[t].column[e / m] != node_of_block(A, e / m)
                                              : t != 1 && e / n / size != e % n / size;
                    A->values[e] = coupling ? 0.0 : A->values[e];
                }
            }
            answer(*state, &s[i]->problem, v[i]);
        }
        for (int32_t d = 0; d < s[0]->problem.nv; d++) {
            speed = fmax(speed, fabs(v[1][d]));
        }
        for (int32_t d = 0; d < s[0]->problem.nv; d++) {
            assert_near(v[0][d], v[1][d], 1e-12 * speed);
        }
        sample_clear(s[0]);
        sample_clear(s[1]);
    }
    leave(*state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nodal_trees_are_solved_as_dense_ones, setup, teardown),
        cmocka_unit_test_setup_teardown(soft_steps_take_nodes_of_any_size, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
