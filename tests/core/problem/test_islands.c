// SPDX-License-Identifier: Apache-2.0
// Islands of known graphs, and an island as a problem of its own.
#include <stiction/delassus.h>
#include <stiction/islands.h>

#include "full_problem.h"
#include "stn_heap.h"
#include "stn_test.h"

static stn_context *context_on(stn_heap *heap) {
    stn_heap_arm(heap, 0);
    stn_context *context = stn_heap_context(heap);
    return context;
}

static void assert_list(const int32_t *start, const int32_t *items, int32_t island, int32_t count,
                        const int32_t *expected) {
    assert_int_equal(start[island + 1] - start[island], count);
    for (int32_t k = 0; k < count; k++) {
        assert_int_equal(items[start[island] + k], expected[k]);
    }
}

/// Trees 0..7, one dof each, with edges as given; b = -1 is the world.
static sample *graph(int32_t (*edges)[2], int32_t count) {
    stn_random r = {9};
    sample *s = sample_create();
    for (int32_t t = 0; t < 8; t++) {
        sample_tree(s, &r, STN_MATRIX_DENSE, 1);
    }
    for (int32_t e = 0; e < count; e++) {
        sample_constraint(s, &r, STN_SET_BOX, 1, edges[e][0], 0, edges[e][1], 0);
    }
    sample_finish(s, &r);
    return s;
}

static void islands_are_the_connected_components(void **state) {
    stn_heap *heap = *state;
    stn_context *context = context_on(heap);
    stn_arena *arena = stn_arena_create(context);
    stn_islands islands;
    // {1, 5, 7} in a chain whose last edge joins two parts, {2} on the world, {3, 4}; 0 and 6 are free
    int32_t edges[6][2] = {{7, -1}, {4, 3}, {5, 1}, {2, -1}, {7, 5}, {3, 4}};
    sample *s = graph(edges, 6);
    assert_int_equal(stn_problem_islands(&s->problem, arena, &islands, NULL), STN_OK);
    assert_int_equal(islands.count, 3);
    assert_list(islands.tree_start, islands.tree, 0, 3, (const int32_t[]){1, 5, 7});
    assert_list(islands.constraint_start, islands.constraint, 0, 3, (const int32_t[]){0, 2, 4});
    assert_list(islands.tree_start, islands.tree, 1, 1, (const int32_t[]){2});
    assert_list(islands.constraint_start, islands.constraint, 1, 1, (const int32_t[]){3});
    assert_list(islands.tree_start, islands.tree, 2, 2, (const int32_t[]){3, 4});
    assert_list(islands.constraint_start, islands.constraint, 2, 2, (const int32_t[]){1, 5});
    const int32_t positions[8] = {-1, 0, 0, 0, 1, 1, -1, 2};
    assert_memory_equal(islands.tree_position, positions, sizeof positions);
    sample_clear(s);
    stn_arena_destroy(arena);
    stn_context_destroy(context);
    assert_int_equal(atomic_load(&heap->live), 0);
}

static void a_cable_joins_all_of_its_trees(void **state) {
    stn_heap *heap = *state;
    stn_context *context = context_on(heap);
    stn_arena *arena = stn_arena_create(context);
    stn_random r = {3};
    stn_islands islands;
    int32_t edges[3][2] = {{0, -1}, {1, -1}, {4, 3}};
    sample *s = graph(edges, 3);
    sample_more(s, &r, 1, 0);
    sample_more(s, &r, 6, 0);
    assert_int_equal(stn_problem_islands(&s->problem, arena, &islands, NULL), STN_OK);
    assert_int_equal(islands.count, 2);
    assert_list(islands.tree_start, islands.tree, 0, 1, (const int32_t[]){0});
    assert_list(islands.tree_start, islands.tree, 1, 4, (const int32_t[]){1, 3, 4, 6});
    assert_list(islands.constraint_start, islands.constraint, 1, 2, (const int32_t[]){1, 2});
    stn_problem part;
    assert_int_equal(stn_problem_island(&s->problem, &islands, 1, arena, &part, NULL), STN_OK);
    assert_int_equal(part.constraints[1].more[0].tree, 0);
    assert_int_equal(part.constraints[1].more[1].tree, 3);
    sample_clear(s);
    stn_arena_destroy(arena);
    stn_context_destroy(context);
}

static void islands_do_not_depend_on_the_order_of_constraints(void **state) {
    stn_heap *heap = *state;
    stn_context *context = context_on(heap);
    stn_arena *arena = stn_arena_create(context);
    stn_random r = {17};
    for (int32_t trial = 0; trial < 200; trial++) {
        int32_t edges[6][2], shuffled[6][2];
        for (int32_t e = 0; e < 6; e++) {
            edges[e][0] = random_below(&r, 8);
            edges[e][1] = (edges[e][0] + random_below(&r, 8)) % 8;
            edges[e][1] = edges[e][1] == edges[e][0] ? -1 : edges[e][1];
        }
        for (int32_t e = 0; e < 6; e++) { // another order, ends exchanged
            int32_t other = (5 * e + trial) % 6;
            bool turn = edges[other][1] >= 0 && trial % 2 == 0;
            shuffled[e][0] = edges[other][turn];
            shuffled[e][1] = edges[other][!turn];
        }
        sample *a = graph(edges, 6), *b = graph(shuffled, 6);
        stn_islands x, y;
        assert_int_equal(stn_problem_islands(&a->problem, arena, &x, NULL), STN_OK);
        assert_int_equal(stn_problem_islands(&b->problem, arena, &y, NULL), STN_OK);
        assert_int_equal(x.count, y.count);
        assert_memory_equal(x.tree_start, y.tree_start, ((size_t)x.count + 1) * sizeof(int32_t));
        assert_memory_equal(x.tree, y.tree, (size_t)x.tree_start[x.count] * sizeof(int32_t));
        sample_clear(a);
        sample_clear(b);
    }
    stn_arena_destroy(arena);
    stn_context_destroy(context);
}

/// Products of every island against those of the whole: J v, A x and J^T gamma fall apart by island.
static void an_island_is_the_whole_restricted_to_it(void **state) {
    stn_heap *heap = *state;
    stn_context *context = context_on(heap);
    stn_arena *arena = stn_arena_create(context);
    sample *s = full_sample(21);
    stn_problem *p = &s->problem;
    p->constraints[6].J[1].tree = -1; // soft - body: now two islands
    p->constraints[8] = p->constraints[6];
    p->constraints[8].row = 24;
    s->constraints[10].more_count = 1; // cables that touch no rod
    s->constraints[11].J[0] = s->more[11][2];
    s->constraints[11].more_count = 2;
    stn_random r = {2};
    double *v = sample_random_doubles(s, &r, (size_t)p->nv), *v_c = sample_doubles(s, (size_t)p->row_count, 0.0);
    double *gamma = sample_random_doubles(s, &r, (size_t)p->row_count), *j = sample_doubles(s, (size_t)p->nv, 0.0);
    stn_problem_contact_velocity(p, v, true, v_c);
    stn_problem_jacobian_transposed_add(p, 1.0, gamma, j);
    stn_islands islands;
    assert_int_equal(stn_problem_islands(p, arena, &islands, NULL), STN_OK);
    assert_int_equal(islands.count, 2);
    int32_t dofs = 0, rows = 0;
    for (int32_t i = 0; i < islands.count; i++) {
        stn_problem q;
        assert_int_equal(stn_problem_island(p, &islands, i, arena, &q, NULL), STN_OK);
        double x[128], g[64], y[128] = {0.0}, q_c[64];
        for (int32_t t = 0; t < q.tree_count; t++) {
            const stn_problem_tree *whole = &p->trees[islands.tree[islands.tree_start[i] + t]];
            assert_int_equal(q.trees[t].source, whole->source);
            assert_ptr_equal(q.trees[t].A.values, whole->A.values);
            size_t bytes = (size_t)whole->A.n * sizeof(double);
            memcpy(x + q.trees[t].dof_start, v + whole->dof_start, bytes);
            assert_memory_equal(q.v_star + q.trees[t].dof_start, p->v_star + whole->dof_start, bytes);
            assert_memory_equal(q.free_impulse + q.trees[t].dof_start, p->free_impulse + whole->dof_start, bytes);
        }
        for (int32_t k = 0; k < q.constraint_count; k++) {
            const stn_constraint *whole = &p->constraints[islands.constraint[islands.constraint_start[i] + k]];
            size_t bytes = (size_t)whole->rows * sizeof(double);
            assert_true(q.constraints[k].id == whole->id);
            memcpy(g + q.constraints[k].row, gamma + whole->row, bytes);
            assert_memory_equal(q.lo + q.constraints[k].row, p->lo + whole->row, bytes);
            assert_memory_equal(q.gamma_guess + q.constraints[k].row, p->gamma_guess + whole->row, bytes);
        }
        stn_problem_contact_velocity(&q, x, true, q_c);
        stn_problem_jacobian_transposed_add(&q, 1.0, g, y);
        for (int32_t k = 0; k < q.constraint_count; k++) {
            const stn_constraint *whole = &p->constraints[islands.constraint[islands.constraint_start[i] + k]];
            assert_memory_equal(q_c + q.constraints[k].row, v_c + whole->row, (size_t)whole->rows * sizeof(double));
        }
        for (int32_t t = 0; t < q.tree_count; t++) {
            const stn_problem_tree *whole = &p->trees[islands.tree[islands.tree_start[i] + t]];
            assert_memory_equal(y + q.trees[t].dof_start, j + whole->dof_start, (size_t)whole->A.n * sizeof(double));
        }
        dofs += q.nv;
        rows += q.row_count;
    }
    assert_int_equal(dofs, p->nv);
    assert_int_equal(rows, p->row_count);
    sample_clear(s);
    stn_arena_destroy(arena);
    stn_context_destroy(context);
}

static void a_problem_without_trees_has_no_islands(void **state) {
    stn_context *context = context_on(*state);
    stn_arena *arena = stn_arena_create(context);
    stn_problem empty = {0};
    stn_islands islands;
    assert_int_equal(stn_problem_islands(&empty, arena, &islands, NULL), STN_OK);
    assert_int_equal(islands.count, 0);
    stn_arena_destroy(arena);
    stn_context_destroy(context);
}

static void islands_say_when_memory_is_out(void **state) {
    stn_heap *heap = *state;
    stn_context *context = context_on(heap);
    sample *s = sample_mixed(1);
    stn_error err;
    stn_status status = STN_ERR_MEMORY;
    for (long long n = 1; status != STN_OK; n++) {
        stn_arena *arena = stn_arena_create(context);
        stn_islands islands;
        stn_problem island;
        stn_heap_arm(heap, n);
        status = stn_problem_islands(&s->problem, arena, &islands, &err);
        if (status == STN_OK) {
            status = stn_problem_island(&s->problem, &islands, 0, arena, &island, &err);
        }
        stn_heap_arm(heap, 0);
        assert_true(status == STN_OK || status == STN_ERR_MEMORY);
        stn_arena_destroy(arena);
    }
    sample_clear(s);
    stn_context_destroy(context);
    assert_int_equal(atomic_load(&heap->live), 0);
}

// ------------------------------------------------------------------------------------------------------------- local

enum { CONTACTS = 5, ROWS = 3 * CONTACTS, BILATERAL = 2 };

/// W couples 0 with 3 and, one way only, 4 with 1; bilateral rows act on 1 and 2.
static void fill_local(stn_random *r, double *W, double *q, double *V) {
    for (int32_t i = 0; i < ROWS; i++) {
        q[i] = random_real(r);
        for (int32_t j = 0; j < ROWS; j++) {
            int32_t a = i / 3, b = j / 3;
            bool coupled = a == b || (a == 0 && b == 3) || (a == 3 && b == 0) || (a == 4 && b == 1);
            W[i * ROWS + j] = coupled ? random_real(r) + (i == j ? 4.0 : 0.0) : 0.0;
        }
        for (int32_t k = 0; k < BILATERAL; k++) {
            V[i * BILATERAL + k] = i / 3 == 1 || i / 3 == 2 ? random_real(r) : 0.0;
        }
    }
}

/// The rows of an island under all impulses are those of the whole: nothing else acts on them.
static void compare_island(const stn_problem *whole, const stn_islands *islands, int32_t i, const double *gamma,
                           stn_arena *arena) {
    stn_problem part;
    stn_delassus all, own;
    stn_error err;
    double own_gamma[ROWS];
    assert_ok(stn_problem_island(whole, islands, i, arena, &part, &err), err);
    assert_ok(stn_delassus_build(NULL, whole, arena, &all, &err), err);
    assert_ok(stn_delassus_build(NULL, &part, arena, &own, &err), err);
    const int32_t *index = islands->constraint + islands->constraint_start[i];
    for (int32_t k = 0; k < part.constraint_count; k++) {
        assert_true(part.constraints[k].id == whole->constraints[index[k]].id);
        memcpy(own_gamma + 3 * k, gamma + 3 * index[k], 3 * sizeof *gamma);
    }
    for (int32_t k = 0; k < part.constraint_count; k++) {
        double u[3] = {0}, expected[3] = {0};
        stn_delassus_row_mul_add(&own, k, own_gamma, u);
        stn_delassus_row_mul_add(&all, index[k], gamma, expected);
        for (int32_t r = 0; r < 3; r++) {
            assert_near(u[r] + own.b[3 * k + r], expected[r] + all.b[3 * index[k] + r], 1e-13);
        }
    }
}

static void islands_of_a_local_problem_are_what_its_operator_couples(void **state) {
    stn_context *context = context_on(*state);
    stn_arena *arena = stn_arena_create(context);
    stn_random r = {5};
    double W[ROWS * ROWS], q[ROWS], V[ROWS * BILATERAL], R[4] = {2.0, 0.5, -0.5, 3.0}, shift[2] = {0.3, -0.2};
    double rows[ROWS] = {0}, gamma[ROWS];
    stn_constraint constraints[CONTACTS];
    fill_local(&r, W, q, V);
    for (int32_t i = 0; i < CONTACTS; i++) {
        constraints[i] = (stn_constraint){
            .id = 100 + (uint64_t)i, .set = STN_SET_CONE, .row = 3 * i, .rows = 3, .J = {{.tree = -1}, {.tree = -1}}};
    }
    for (int32_t i = 0; i < ROWS; i++) {
        gamma[i] = random_real(&r);
    }
    stn_problem p = {.form = STN_FORM_LOCAL,
                     .constraint_count = CONTACTS,
                     .row_count = ROWS,
                     .constraints = constraints,
                     .W = W,
                     .q = q,
                     .V = V,
                     .R_bilateral = R,
                     .s = shift,
                     .bilateral_count = BILATERAL,
                     .general_W = true,
                     .bias = rows,
                     .lo = rows,
                     .hi = rows,
                     .R = rows,
                     .v_hat = rows,
                     .gamma_guess = rows};
    stn_islands islands;
    assert_int_equal(stn_problem_islands(&p, arena, &islands, NULL), STN_OK);
    assert_int_equal(islands.count, 2);
    assert_list(islands.constraint_start, islands.constraint, 0, 2, (const int32_t[]){0, 3});
    assert_list(islands.constraint_start, islands.constraint, 1, 3, (const int32_t[]){1, 2, 4});
    compare_island(&p, &islands, 0, gamma, arena);
    compare_island(&p, &islands, 1, gamma, arena);
    p.bilateral_count = 0;
    assert_int_equal(stn_problem_islands(&p, arena, &islands, NULL), STN_OK);
    assert_int_equal(islands.count, 3); // {0, 3}, {1, 4}, {2}
    assert_list(islands.constraint_start, islands.constraint, 1, 2, (const int32_t[]){1, 4});
    compare_island(&p, &islands, 2, gamma, arena);
    stn_delassus d;
    assert_int_equal(stn_delassus_build(NULL, &p, arena, &d, NULL), STN_OK);
    assert_int_equal(d.row_start[CONTACTS], CONTACTS + 4); // (1, 4) is zero, but there as (4, 1) is
    stn_arena_destroy(arena);
    stn_context_destroy(context);
}

int main(void) {
    static stn_heap heap;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(islands_of_a_local_problem_are_what_its_operator_couples, &heap),
        cmocka_unit_test_prestate(islands_are_the_connected_components, &heap),
        cmocka_unit_test_prestate(a_cable_joins_all_of_its_trees, &heap),
        cmocka_unit_test_prestate(islands_do_not_depend_on_the_order_of_constraints, &heap),
        cmocka_unit_test_prestate(an_island_is_the_whole_restricted_to_it, &heap),
        cmocka_unit_test_prestate(a_problem_without_trees_has_no_islands, &heap),
        cmocka_unit_test_prestate(islands_say_when_memory_is_out, &heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
