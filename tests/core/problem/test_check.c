// SPDX-License-Identifier: Apache-2.0
// Every invariant of a contact problem: broken one at a time, it is named.
#include "full_problem.h"
#include "stn_heap.h"
#include "stn_test.h"

typedef struct checking {
    stn_heap heap;
    stn_context *context;
    sample *s;
} checking;

static int set_up(void **state) {
    static checking c;
    c.heap.fail_at = 0;
    stn_context_options options = stn_heap_options(&c.heap);
    c.s = full_sample(40);
    *state = &c;
    return stn_context_create(&options, &c.context, NULL) == STN_OK ? 0 : -1;
}

static int tear_down(void **state) {
    checking *c = *state;
    sample_clear(c->s);
    stn_context_destroy(c->context);
    return atomic_load(&c->heap.live) == 0 ? 0 : -1;
}

static void refused(checking *c, stn_status status, const char *part) {
    stn_error err = {0};
    stn_status got = stn_problem_check(c->context, &c->s->problem, &err);
    if (got != status || strstr(err.text, part) == NULL) {
        fail_msg("status %d, expected %d with \"%s\": %s", got, status, part, err.text);
    }
}

#define BREAK(target, value, status, part)  \
    do {                                    \
        __typeof__(target) kept = (target); \
        (target) = (value);                 \
        refused(*state, status, part);      \
        (target) = kept;                    \
    } while (0)

static void a_sound_problem_passes(void **state) {
    checking *c = *state;
    stn_error err;
    assert_ok(stn_problem_check(c->context, &c->s->problem, &err), err);
    c->s->trees[0].A = (stn_matrix){.n = 6, .form = STN_MATRIX_ZERO}; // quasistatic: singular is sound
    assert_ok(stn_problem_check(c->context, &c->s->problem, &err), err);
}

static void headers_are_checked(void **state) {
    stn_problem *p = &((checking *)*state)->s->problem;
    BREAK(p->dt, NAN, STN_ERR_NUMERIC, "dt = nan s, must be > 0");
    BREAK(p->dt, INFINITY, STN_ERR_ARGUMENT, "dt = inf s");
    BREAK(p->theta, 0.0, STN_ERR_ARGUMENT, "theta = 0, must be in (0, 1]");
    BREAK(p->theta, NAN, STN_ERR_NUMERIC, "theta = nan");
    BREAK(p->form, (stn_problem_form)7, STN_ERR_ARGUMENT, "form = 7");
    BREAK(p->velocity_kind, (stn_velocity_kind)7, STN_ERR_ARGUMENT, "velocity kind = 7");
    BREAK(p->velocity_kind, STN_VELOCITY_END, STN_ERR_ARGUMENT, "must be 1 for the velocity at the end");
    BREAK(p->constraint_count, -1, STN_ERR_ARGUMENT, "counts must be >= 0");
    BREAK(p->form, STN_FORM_LOCAL, STN_ERR_ARGUMENT, "a local problem has no dofs");
    BREAK(p->nv, p->nv + 1, STN_ERR_ARGUMENT, "but the trees have");
    BREAK(p->row_count, p->row_count + 1, STN_ERR_ARGUMENT, "but the constraints have");
    BREAK(p->v_star, NULL, STN_ERR_ARGUMENT, "v_star is missing");
    BREAK(p->R, NULL, STN_ERR_ARGUMENT, "is missing");
}

static void matrices_are_checked(void **state) {
    sample *s = ((checking *)*state)->s;
    stn_problem_tree *robot = &s->trees[2], *ball = &s->trees[4], *soft = &s->trees[5];
    BREAK(robot->A.values[23 * 5 + 3], NAN, STN_ERR_NUMERIC, "tree 2 (source 102): A: entry (5, 3) is nan");
    BREAK(robot->A.values[23 * 3 + 5], INFINITY, STN_ERR_NUMERIC, "A: entry (3, 5) is inf");
    BREAK(robot->A.values[24 * 4], NAN, STN_ERR_NUMERIC, "A: entry (4, 4) is nan");
    BREAK(robot->A.values[23 * 5 + 3], 0.123, STN_ERR_ARGUMENT, "A is not symmetric: entry (5, 3)");
    BREAK(robot->dof_start, 11, STN_ERR_ARGUMENT, "tree 2 starts at dof 11, expected 12");
    BREAK(robot->A.form, (stn_matrix_form)9, STN_ERR_ARGUMENT, "is no matrix");
    BREAK(robot->A.values, NULL, STN_ERR_ARGUMENT, "has no values");
    BREAK(ball->A.values[2], -1.0, STN_ERR_ARGUMENT, "diagonal entry 2 is -1");
    BREAK(soft->A.node_count, 7, STN_ERR_ARGUMENT, "n = 24, expected node_size per node = 3 * 7");
    BREAK(soft->A.node_size, 0, STN_ERR_ARGUMENT, "node_size = 0, must be 1 to 12");
    BREAK(soft->A.node_size, 13, STN_ERR_ARGUMENT, "node_size = 13, must be 1 to 12");
    BREAK(soft->A.node_size, 4, STN_ERR_ARGUMENT, "n = 24, expected node_size per node = 4 * 8");
    BREAK(s->nodal[5].column[3], 0, STN_ERR_ARGUMENT, "nodes must ascend");
    BREAK(s->nodal[5].column[0], 1, STN_ERR_ARGUMENT, "nodes must ascend");
    BREAK(s->nodal[5].row_start[1], 1, STN_ERR_ARGUMENT, "the pattern has");
    BREAK(s->nodal[5].row_start[1], 90, STN_ERR_ARGUMENT, "is below row_start[1] = 90");
    BREAK(soft->A.values[9 + 1], soft->A.values[9 + 1] + 0.5, STN_ERR_ARGUMENT, "is not symmetric: entry (0, 4)");
    BREAK(soft->A.values[0], NAN, STN_ERR_NUMERIC, "entry (0, 0) is nan");
}

// Every pair of entries is fine and yet the whole is indefinite: [1 a a; a 1 a; a a 1] with a = -0.9.
static void indefinite_matrices_are_found(void **state) {
    sample *s = ((checking *)*state)->s;
    double a[9] = {1.0, -0.9, -0.9, -0.9, 1.0, -0.9, -0.9, -0.9, 1.0};
    int32_t row_start[2] = {0, 1}, column[1] = {0};
    stn_problem_tree tree = {.source = 5, .A = {.n = 3, .form = STN_MATRIX_DENSE, .values = a}};
    double zero[3] = {0.0, 0.0, 0.0};
    s->problem = (stn_problem){
        .dt = 0.1, .theta = 1.0, .nv = 3, .tree_count = 1, .trees = &tree, .v0 = zero, .v_star = zero, .v_guess = zero};
    refused(*state, STN_ERR_ARGUMENT, "tree 0 (source 5): A is not positive semidefinite: elimination fails at dof 2");
    tree.A = (stn_matrix){.n = 3,
                          .form = STN_MATRIX_NODAL,
                          .values = a,
                          .node_count = 1,
                          .node_size = 3,
                          .row_start = row_start,
                          .column = column};
    refused(*state, STN_ERR_ARGUMENT, "tree 0 (source 5): A is not positive semidefinite");
    for (int32_t k = 0; k < 9; k++) {
        a[k] = 1e-12; // rank one, of any size
    }
    assert_int_equal(stn_problem_check(((checking *)*state)->context, &s->problem, NULL), STN_OK);
    tree.A.form = STN_MATRIX_DENSE;
    assert_int_equal(stn_problem_check(((checking *)*state)->context, &s->problem, NULL), STN_OK);
}

static void vectors_are_checked(void **state) {
    stn_problem *p = &((checking *)*state)->s->problem;
    BREAK(p->v_star[14], NAN, STN_ERR_NUMERIC, "v_star of tree 2 (source 102), dof 2, is nan");
    BREAK(p->v0[0], INFINITY, STN_ERR_NUMERIC, "v0 of tree 0");
    BREAK(p->free_impulse[p->nv - 1], NAN, STN_ERR_NUMERIC, "free_impulse of tree 6");
    BREAK(p->bias[3], NAN, STN_ERR_NUMERIC, ", row 0: bias = nan m/s");
    BREAK(p->gamma_guess[4], INFINITY, STN_ERR_NUMERIC, "gamma_guess = inf");
    BREAK(p->lo[9], 3.0, STN_ERR_ARGUMENT, "lo = 3, hi = 2 N s, must be lo <= hi");
    BREAK(p->hi[9], NAN, STN_ERR_NUMERIC, "hi = nan");
    BREAK(p->lo[9], INFINITY, STN_ERR_ARGUMENT, "lo = inf");
    BREAK(p->lo[0], 0.0, STN_ERR_ARGUMENT, "only box sets have bounds");
    p->explicit_R = true;
    refused(*state, STN_ERR_NUMERIC, "row 0: R = nan 1/kg");
}

static void constraints_are_checked(void **state) {
    sample *s = ((checking *)*state)->s;
    stn_constraint *c = &s->constraints[1], *limit = &s->constraints[3], *soft = &s->constraints[6];
    BREAK(c->mu1, -0.1, STN_ERR_ARGUMENT, "mu1 = -0.1, must be >= 0 and finite");
    BREAK(c->mu1, NAN, STN_ERR_NUMERIC, "mu1 is not a number");
    BREAK(c->mu2, 9.0, STN_ERR_ARGUMENT, "such a set is an ellipse");
    BREAK(c->phi0, NAN, STN_ERR_NUMERIC, "phi0 is not a number");
    BREAK(c->phi0, INFINITY, STN_ERR_ARGUMENT, "phi0 = inf m, must be finite");
    BREAK(c->stiffness, -INFINITY, STN_ERR_ARGUMENT, "stiffness = -inf N/m, must be >= 0");
    BREAK(c->relaxation_time, INFINITY, STN_ERR_ARGUMENT, "relaxation_time = inf s, must be >= 0 and finite");
    BREAK(c->dissipation, -1.0, STN_ERR_ARGUMENT, "dissipation = -1 s/m");
    BREAK(c->w, -1.0, STN_ERR_ARGUMENT, "w = -1 1/kg");
    BREAK(c->rows, 2, STN_ERR_ARGUMENT, "rows = 2, must be 3 for a friction cone");
    BREAK(limit->rows, 7, STN_ERR_ARGUMENT, "rows = 7, must be 1 to 6");
    BREAK(c->row, 4, STN_ERR_ARGUMENT, "expected to start at 3");
    BREAK(c->memory, -2, STN_ERR_ARGUMENT, "memory = -2");
    BREAK(c->kind, (stn_constraint_kind)50, STN_ERR_ARGUMENT, "constraint 1 (unknown kind, id");
    BREAK(c->set, (stn_constraint_set)50, STN_ERR_ARGUMENT, "set = 50 are not known");
    BREAK(c->id, s->constraints[7].id, STN_ERR_ARGUMENT, "constraints 1 and 7 have the same id");
    BREAK(c->J[0].tree, -1, STN_ERR_ARGUMENT, "J[0].tree = -1, but the problem has 7 trees");
    BREAK(c->J[1].tree, 7, STN_ERR_ARGUMENT, "J[1].tree = 7");
    BREAK(c->J[1].tree, c->J[0].tree, STN_ERR_ARGUMENT, "Jacobian blocks 0 and 1 are both of tree 0");
    stn_constraint *cable = &s->constraints[10];
    BREAK(cable->more_count, -1, STN_ERR_ARGUMENT, "more_count = -1");
    BREAK(cable->more, NULL, STN_ERR_ARGUMENT, "`more` has no such blocks");
    BREAK(cable->J[1].tree, -1, STN_ERR_ARGUMENT, "J[1].tree = -1, but the problem has 7 trees");
    BREAK(s->more[10][1].tree, cable->J[0].tree, STN_ERR_ARGUMENT, "Jacobian blocks 0 and 3 are both of tree 3");
    BREAK(s->more[10][1].tree, 7, STN_ERR_ARGUMENT, "J[3].tree = 7, but the problem has 7 trees");
    BREAK(((double *)(uintptr_t)s->more[10][0].values)[2], NAN, STN_ERR_NUMERIC, "J[2].values[2] is nan");
    BREAK(c->J[0].values, NULL, STN_ERR_ARGUMENT, "J[0].values is missing, expected 18 numbers");
    BREAK(soft->J[0].node_count, 9, STN_ERR_ARGUMENT, "J[0] has 9 nodes, at most 8 fit");
    BREAK(soft->J[0].node_size, 0, STN_ERR_ARGUMENT, "J[0].node_size = 0, must be 1 to 12");
    BREAK(soft->J[0].node_size, 13, STN_ERR_ARGUMENT, "J[0].node_size = 13, must be 1 to 12");
    BREAK(soft->J[0].node_size, 6, STN_ERR_ARGUMENT, "J[0].node_size = 6, but a node of tree 5 has 3 dofs");
    BREAK(soft->J[0].node[1], 8, STN_ERR_ARGUMENT, "J[0].node[1] = 8, but tree 5 has 8 nodes");
    BREAK(soft->J[0].node[1], 0, STN_ERR_ARGUMENT, "J[0] names node 0 twice");
    BREAK(((double *)(uintptr_t)c->J[0].values)[7], NAN, STN_ERR_NUMERIC, "J[0].values[7] is nan");
}

static void no_memory_is_said_and_nothing_leaks(void **state) {
    checking *c = *state;
    stn_status status = STN_ERR_MEMORY;
    long long before = atomic_load(&c->heap.live);
    for (long long n = 1; status != STN_OK; n++) {
        stn_heap_arm(&c->heap, n);
        status = stn_problem_check(c->context, &c->s->problem, NULL);
        stn_heap_arm(&c->heap, 0);
        assert_true(status == STN_OK || status == STN_ERR_MEMORY);
        assert_int_equal(atomic_load(&c->heap.live), before);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_sound_problem_passes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(headers_are_checked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(matrices_are_checked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(indefinite_matrices_are_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(vectors_are_checked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(constraints_are_checked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_memory_is_said_and_nothing_leaks, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
