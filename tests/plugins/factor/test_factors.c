// SPDX-License-Identifier: Apache-2.0
// Every factor plugin, reached by name, on the same matrices.
#include "stn_test.h"

#include <dirent.h>
#include <stdlib.h>

#include <stiction/delassus.h>
#include <stiction/plugin.h>

#include "stn_blocks.h"
#include "stn_cloud.h"
#include "stn_context.h"

typedef struct variant {
    const char *id, *method; // NULL: no parameter
} variant;

static const variant variants[] = {
    {"dense", NULL}, {"block", NULL}, {"cholmod", NULL}, {"cholmod", "simplicial"}, {"cholmod", "supernodal"}};

// NULL where CHOLMOD was not there to build with.
static stn_instance *choose(stn_context *context, variant v) {
    stn_setting method = {.name = "method", .form = STN_SETTING_TEXT, .text = v.method, .where = "test"};
    stn_instance *instance = NULL;
    stn_error err = {0};
    stn_status status = stn_instance_create(context, STN_KIND_FACTOR, v.id, &method, v.method != NULL, &instance, &err);
    if (status == STN_ERR_PLUGIN && strcmp(v.id, "cholmod") == 0) {
        print_message("skipped: %s\n", err.text);
        return NULL;
    }
    assert_ok(status, err);
    return instance;
}

static void check(stn_context *context, stn_instance *f, const blocks *b, int32_t columns, stn_random *r) {
    const stn_factor_ops *ops = f->desc->ops.factor;
    size_t count = (size_t)b->n * (size_t)columns;
    double *x = malloc((count + 1) * sizeof *x), *rhs = malloc((count + 1) * sizeof *rhs);
    void *factor = NULL;
    stn_error err = {0};
    assert_ok(ops->symbolic(f->self, context, &b->matrix.pattern, &factor, &err), err);
    for (int32_t round = 0; round < 2; round++) { // the second time everything is there
        for (size_t i = 0; i < count; i++) {
            x[i] = rhs[i] = random_real(r);
        }
        assert_ok(ops->numeric(factor, &b->matrix, &err), err);
        ops->solve(factor, columns, x);
        assert_true(blocks_residual(b, x, rhs, columns) < 1e-9);
    }
    ops->release(factor);
    ops->release(NULL);
    free(x);
    free(rhs);
}

static void all_of_them_solve_mixed_blocks(void **state) {
    static const int32_t sizes[] = {6, 3, 1, 7, 16, 23};
    for (int32_t k = 0; k < STN_COUNT(variants); k++) {
        stn_random r = {11};
        stn_instance *f = choose(*state, variants[k]);
        for (int32_t round = 0; round < 25 && f != NULL; round++) {
            int32_t count = 1 + random_below(&r, 25), size[25];
            bool adjacent[625];
            for (int32_t i = 0; i < count; i++) {
                size[i] = sizes[random_below(&r, STN_COUNT(sizes))];
            }
            for (int32_t i = 0; i < count * count; i++) {
                adjacent[i] = random_real(&r) > 0.6;
            }
            blocks b = blocks_create(count, size, adjacent);
            blocks_fill(&b, &r);
            check(*state, f, &b, round % 4, &r);
            blocks_clear(&b);
        }
        stn_instance_destroy(f);
    }
}

static void bad_pivots_are_named_by_all_of_them(void **state) {
    static const double bad[] = {-1.0, 0.0, NAN, INFINITY};
    bool adjacent[9] = {false, false, true, false, false, false, true, false, false};
    for (int32_t k = 0; k < STN_COUNT(variants); k++) {
        stn_random r = {3};
        stn_instance *f = choose(*state, variants[k]);
        for (int32_t block = 0; block < 3 && f != NULL; block++) {
            for (int32_t q = 0; q < STN_COUNT(bad); q++) {
                blocks b = blocks_create(3, (int32_t[]){6, 3, 1}, adjacent);
                blocks_fill(&b, &r);
                int64_t place = b.offset[b.column_start[block]];
                for (int32_t i = 0; i < b.size[block] * b.size[block]; i++) {
                    b.matrix.values[place + i] = 0.0;
                }
                for (int32_t i = 0; i < b.size[block]; i++) {
                    b.matrix.values[place + i * (b.size[block] + 1)] = bad[q];
                }
                for (int64_t i = b.offset[1]; i < b.offset[2]; i++) { // the coupling
                    b.matrix.values[i] = 0.0;
                }
                stn_error err = {0};
                char name[32];
                void *factor = NULL;
                snprintf(name, sizeof name, "of block %d", block);
                const stn_factor_ops *ops = f->desc->ops.factor;
                assert_ok(ops->symbolic(f->self, *state, &b.matrix.pattern, &factor, &err), err);
                assert_int_equal(ops->numeric(factor, &b.matrix, &err), STN_ERR_NUMERIC);
                assert_non_null(strstr(err.text, name));
                ops->release(factor);
                blocks_clear(&b);
            }
        }
        stn_instance_destroy(f);
    }
}

static int32_t count_threads(void) {
    DIR *tasks = opendir("/proc/self/task");
    int32_t count = 0;
    for (struct dirent *e = tasks != NULL ? readdir(tasks) : NULL; e != NULL; e = readdir(tasks)) {
        count += e->d_name[0] != '.';
    }
    if (tasks != NULL) {
        closedir(tasks);
    }
    return count;
}

static void none_of_them_starts_threads(void **state) {
    enum { COUNT = 120 };
    static bool adjacent[COUNT * COUNT];
    int32_t size[COUNT];
    for (int32_t i = 0; i < COUNT; i++) {
        size[i] = 6;
    }
    stn_random r = {5};
    for (int32_t i = 0; i < COUNT;
         i++) { // a wide band: large supernodes one after the other, where CHOLMOD likes threads
        for (int32_t j = 0; j < COUNT; j++) {
            adjacent[i * COUNT + j] = abs(i - j) <= 40;
        }
    }
    blocks b = blocks_create(COUNT, size, adjacent);
    blocks_fill(&b, &r);
    for (int32_t k = 1; k < STN_COUNT(variants); k++) {
        stn_instance *f = choose(*state, variants[k]);
        if (f != NULL) {
            int32_t before = count_threads();
            check(*state, f, &b, 1, &r);
            assert_int_equal(count_threads(), before);
        }
        stn_instance_destroy(f);
    }
    blocks_clear(&b);
}

enum { GRAPHS = 8, MOST_BLOCKS = 392 };
static const char *const graph_names[GRAPHS] = {"lattice", "mat",      "nothing joined", "star",
                                                "chain",   "complete", "random",         "two lattices"};

/// Graphs that dissection meets: returns the number of their blocks, 0: none.
static int32_t graph_of(int32_t shape, bool *adjacent) {
    static const int32_t sides[GRAPHS][3] = {{7, 7, 8},   {14, 14, 2}, {250, 1, 1}, {250, 1, 1},
                                             {300, 1, 1}, {210, 1, 1}, {250, 1, 1}, {10, 4, 9}};
    const int32_t *side = sides[shape], n = side[0] * side[1] * side[2];
    stn_random r = {31};
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            const int32_t dx = abs(i % side[0] - j % side[0]), dy = abs(i / side[0] % side[1] - j / side[0] % side[1]);
            const int32_t dz = abs(i / side[0] / side[1] - j / side[0] / side[1]);
            const bool near = dx <= 1 && dy <= 1 && dz <= 1;
            const bool is[GRAPHS] = {near,
                                     near,
                                     false,
                                     i == 0,
                                     i == j + 1,
                                     true,
                                     i > j && random_below(&r, 60) == 0,
                                     near && (i % 10 < 5) == (j % 10 < 5)};
            adjacent[i * n + j] = is[shape];
        }
    }
    return n;
}

static blocks make_graph(int32_t shape, stn_random *r) {
    static bool adjacent[MOST_BLOCKS * MOST_BLOCKS];
    int32_t n = graph_of(shape, adjacent), size[MOST_BLOCKS];
    for (int32_t i = 0; i < n; i++) {
        size[i] = shape == 6 ? 1 + i % 3 : 2;
    }
    blocks b = blocks_create(n, size, adjacent);
    blocks_fill(&b, r);
    return b;
}

/// The order that a factor gives a pattern that stays is one, whatever the graph, and any factor takes it.
static void orders_of_patterns_that_stay_are_orders(void **state) {
    stn_random r = {5};
    for (int32_t shape = 0; shape < GRAPHS; shape++) {
        blocks b = make_graph(shape, &r);
        const int32_t n = b.matrix.pattern.block_count;
        for (int32_t k = 0; k < STN_COUNT(variants); k++) {
            stn_instance *f = choose(*state, variants[k]);
            if (f != NULL && f->desc->ops.factor->order != NULL) {
                int32_t order[MOST_BLOCKS], again[MOST_BLOCKS];
                bool seen[MOST_BLOCKS] = {false};
                stn_error err = {0};
                assert_ok(f->desc->ops.factor->order(f->self, *state, &b.matrix.pattern, order, &err), err);
                assert_ok(f->desc->ops.factor->order(f->self, *state, &b.matrix.pattern, again, &err), err);
                assert_memory_equal(order, again, (size_t)n * sizeof *order);
                for (int32_t i = 0; i < n; i++) {
                    assert_in_range(order[i], 0, n - 1);
                    assert_false(seen[order[i]]);
                    seen[order[i]] = true;
                }
                b.matrix.pattern.order = order;
                check(*state, f, &b, 1, &r);
                for (int32_t i = 0; i < n; i++) { // and any other
                    const int32_t j = i + random_below(&r, n - i), other = order[j];
                    order[j] = order[i];
                    order[i] = other;
                }
                if (k == 1 || shape == 6) { // fill is what it is: few of them
                    check(*state, f, &b, 1, &r);
                }
                b.matrix.pattern.order = NULL;
            }
            stn_instance_destroy(f);
        }
        blocks_clear(&b);
    }
}

static int64_t entries_of_L(stn_context *context, const stn_block_pattern *pattern) {
    stn_arena *arena = stn_arena_create(context);
    stn_block_tree tree;
    assert_true(stn_block_tree_build(pattern, arena, &tree));
    const int64_t count = tree.column_start[tree.n];
    stn_arena_destroy(arena);
    return count;
}

/// Never more fill than by minimum degree; on a ball of 10 x 10 x 11 cells, less.
static void dissection_leaves_less_fill_where_it_is_taken(void **state) {
    stn_random r = {5};
    stn_instance *f = choose(*state, (variant){"block", NULL});
    scene s;
    scene_begin(&s, *state, 1);
    scene_cloud(&s, 10, 10, 11, 1e3);
    for (int32_t shape = 0; shape <= GRAPHS; shape++) {
        const bool ball = shape == GRAPHS;
        blocks b = make_graph(ball ? 0 : shape, &r);
        stn_block_pattern pattern = ball ? cloud_lower(&s, 0).pattern : b.matrix.pattern;
        int32_t *order = calloc((size_t)pattern.block_count + 1, sizeof *order);
        stn_error err = {0};
        const int64_t before = entries_of_L(*state, &pattern);
        assert_ok(f->desc->ops.factor->order(f->self, *state, &pattern, order, &err), err);
        pattern.order = order;
        const int64_t after = entries_of_L(*state, &pattern);
        print_message("%s: %lld blocks of L by minimum degree, %lld by the order of block\n",
                      ball ? "ball" : graph_names[shape], (long long)before, (long long)after);
        assert_true(ball ? after < before : after <= before);
        free(order);
        blocks_clear(&b);
    }
    scene_end(&s);
    stn_instance_destroy(f);
}

/// x = A^-1 b by refactor, or by numeric where `changing` is NULL.
static void solve_by(stn_instance *f, void *factor, const blocks *b, const bool *changing, bool again, double *x) {
    stn_error err = {0};
    for (int32_t i = 0; i < b->n; i++) {
        x[i] = 1.0 / (1.0 + i % 17);
    }
    const stn_factor_ops *ops = f->desc->ops.factor;
    assert_ok(changing != NULL ? ops->refactor(factor, &b->matrix, changing, again, &err)
                               : ops->numeric(factor, &b->matrix, &err),
              err);
    ops->solve(factor, 1, x);
}

/// Random marks, none and all; values between marked blocks change from call to call. The factor is that of numeric to
/// round-off, and the same to the bit whether what stayed was kept or made again.
static void only_what_changing_blocks_decide_is_factored_again(void **state) {
    stn_random r = {77};
    for (int32_t k = 0; k < STN_COUNT(variants); k++) {
        stn_instance *f = choose(*state, variants[k]);
        for (int32_t round = 0; f != NULL && f->desc->ops.factor->refactor != NULL && round < 60; round++) {
            blocks b = make_graph(round % GRAPHS, &r);
            const stn_block_pattern *p = &b.matrix.pattern;
            const int32_t chance = (int32_t[]){0, 1, 5, 20, 60, 100}[round % 6];
            bool changing[MOST_BLOCKS];
            double x[2 * MOST_BLOCKS], y[2 * MOST_BLOCKS], z[2 * MOST_BLOCKS];
            int32_t order[MOST_BLOCKS];
            stn_error err = {0};
            void *one = NULL, *two = NULL, *three = NULL;
            if (round % 2 == 0) {
                assert_ok(f->desc->ops.factor->order(f->self, *state, p, order, &err), err);
                b.matrix.pattern.order = order;
            }
            assert_ok(f->desc->ops.factor->symbolic(f->self, *state, p, &one, &err), err);
            assert_ok(f->desc->ops.factor->symbolic(f->self, *state, p, &two, &err), err);
            assert_ok(f->desc->ops.factor->symbolic(f->self, *state, p, &three, &err), err);
            for (int32_t i = 0; i < p->block_count; i++) {
                changing[i] = random_below(&r, 100) < chance;
            }
            int64_t allocations = 0;
            for (int32_t call = 0; call < 4; call++) {
                if (call == 3) { // new marks: nothing may be kept
                    for (int32_t i = 0; i < p->block_count; i++) {
                        changing[i] = random_below(&r, 100) < 10;
                    }
                }
                for (int32_t j = 0; j < p->block_count; j++) {
                    const int32_t diagonal = p->column_start[j];
                    for (int32_t i = 0; changing[j] && i < p->block_size[j]; i++) {
                        b.matrix.values[b.offset[diagonal] + i * (p->block_size[j] + 1)] += 0.5 + 0.4 * random_real(&r);
                    }
                    for (int32_t e = diagonal + 1; e < p->column_start[j + 1]; e++) { // stays positive definite
                        for (int64_t v = b.offset[e]; changing[j] && changing[p->row[e]] && v < b.offset[e + 1]; v++) {
                            b.matrix.values[v] *= 0.999;
                        }
                    }
                }
                solve_by(f, one, &b, changing, call % 3 > 0, x);
                solve_by(f, two, &b, changing, false, y);
                solve_by(f, three, &b, NULL, false, z);
                assert_memory_equal(x, y, (size_t)b.n * sizeof *x);
                for (int32_t i = 0; i < b.n; i++) {
                    assert_true(fabs(x[i] - z[i]) <= 1e-9);
                }
                if (call == 1) {
                    allocations = stn_context_allocations(*state);
                } else if (call == 2) {
                    assert_int_equal(stn_context_allocations(*state), allocations);
                }
            }
            f->desc->ops.factor->release(one);
            f->desc->ops.factor->release(two);
            f->desc->ops.factor->release(three);
            b.matrix.pattern.order = NULL;
            blocks_clear(&b);
        }
        stn_instance_destroy(f);
    }
}

/// A pivot that fails in what stays, or in what changes, is named, and the next matrix is factored all the same.
static void refactor_names_bad_pivots_and_recovers(void **state) {
    stn_random r = {3};
    stn_instance *f = choose(*state, (variant){"block", NULL});
    const stn_factor_ops *ops = f->desc->ops.factor;
    blocks b = make_graph(0, &r);
    bool changing[MOST_BLOCKS] = {false};
    changing[17] = changing[18] = true;
    static const int32_t bad[] = {17, 300};
    void *factor = NULL;
    stn_error err = {0};
    double x[2 * MOST_BLOCKS], y[2 * MOST_BLOCKS];
    assert_ok(ops->symbolic(f->self, *state, &b.matrix.pattern, &factor, &err), err);
    solve_by(f, factor, &b, changing, false, y);
    for (int32_t k = 0; k < 2; k++) {
        double *value = &b.matrix.values[b.offset[b.column_start[bad[k]]]], good = *value;
        *value = -1.0;
        assert_int_equal(ops->refactor(factor, &b.matrix, changing, k == 0, &err), STN_ERR_NUMERIC);
        assert_non_null(strstr(err.text, "not positive definite"));
        *value = good;
        solve_by(f, factor, &b, changing, true, x);
        assert_memory_equal(x, y, (size_t)b.n * sizeof *x);
    }
    ops->release(factor);
    blocks_clear(&b);
    stn_instance_destroy(f);
}

/// Decoupled blocks, so that pivots are known: one is bad, the others are 1.
static void weak_pivots_are_told_by_all_of_them(void **state) {
    enum { COUNT = 40 };
    static const double bad[] = {1e-9, 0.0, -1.0, NAN, INFINITY};
    bool adjacent[COUNT * COUNT] = {false};
    int32_t size[COUNT];
    for (int32_t i = 0; i < COUNT; i++) {
        size[i] = 1 + i % 6;
    }
    for (int32_t k = 0; k < STN_COUNT(variants); k++) {
        stn_random r = {3};
        stn_instance *f = choose(*state, variants[k]);
        for (int32_t round = 0; round < 30 && f != NULL; round++) {
            const stn_factor_ops *ops = f->desc->ops.factor;
            blocks b = blocks_create(COUNT, size, adjacent);
            const int32_t block = random_below(&r, COUNT), row = b.start[block] + random_below(&r, size[block]);
            double *least = calloc((size_t)b.n, sizeof *least);
            double *diagonal = b.matrix.values + b.offset[b.column_start[block]];
            stn_error err = {0};
            void *factor = NULL;
            for (int32_t j = 0; j < COUNT; j++) {
                for (int32_t i = 0; i < size[j]; i++) {
                    b.matrix.values[b.offset[b.column_start[j]] + i * (size[j] + 1)] = 1.0;
                }
            }
            assert_ok(ops->symbolic(f->self, *state, &b.matrix.pattern, &factor, &err), err);
            assert_ok(ops->numeric(factor, &b.matrix, &err), err);
            assert_int_equal(ops->weak_pivot(factor, least), -1);
            least[row] = 1.0 + 1e-12;
            assert_int_equal(ops->weak_pivot(factor, least), row);
            least[row] = 1.0 - 1e-12;
            assert_int_equal(ops->weak_pivot(factor, least), -1);
            for (int32_t q = 0; q < STN_COUNT(bad); q++) {
                diagonal[(row - b.start[block]) * (size[block] + 1)] = bad[q];
                least[row] = 1e-8;
                assert_int_equal(ops->numeric(factor, &b.matrix, &err), q == 0 ? STN_OK : STN_ERR_NUMERIC);
                assert_int_equal(ops->weak_pivot(factor, least), row);
            }
            ops->release(factor);
            free(least);
            blocks_clear(&b);
        }
        stn_instance_destroy(f);
    }
}

/// The A of a cloud by every factor: regular, singular (springs without masses) and indefinite ones are told apart, and
/// the operator is that of A.
static void clouds_are_factored_by_the_chosen_one(void **state) {
    for (int32_t k = 0; k < STN_COUNT(variants); k++) {
        stn_instance *f = choose(*state, variants[k]);
        if (f == NULL) {
            continue;
        }
        for (int32_t kind = 0; kind < 4; kind++) {
            scene s;
            scene_begin(&s, *state, 4);
            const cloud c = scene_cloud(&s, 6, 6, 5, 200.0);
            const stn_problem *p = scene_finish(&s);
            const stn_matrix *A = &p->trees[0].A;
            for (int32_t i = 0; i < A->node_count; i++) {
                int32_t e = A->row_start[i];
                while (A->column[e] != i) {
                    e++;
                }
                for (int32_t r = 0; r < 3; r++) {
                    A->values[9 * e + 4 * r] -= kind == 1 ? 1e-3 : kind == 2 && i == 77 ? 1.0 : 0.0;
                    A->values[9 * e + 4 * r] += kind == 3 && i == 77 && r == 1 ? (double)NAN : 0.0;
                }
            }
            stn_inverse *inverse = NULL;
            stn_error err = {0};
            assert_ok(stn_inverse_create(*state, &inverse, &err), err);
            stn_inverse_set_factor(inverse, f->desc->ops.factor, f->self);
            const stn_status status = stn_inverse_factor(inverse, p, &err);
            if (kind >= 2) {
                assert_int_equal(status, STN_ERR_NUMERIC);
                assert_non_null(strstr(err.text, kind == 2 ? "A of tree 0 (source 0) is indefinite" : "is nan"));
            } else {
                assert_ok(status, err);
                assert_int_equal(stn_inverse_singular(inverse, 0) >= 0, kind == 1);
            }
            if (kind == 0) {
                double *x = scene_reals(&s, p->nv, 0.0), *y = scene_reals(&s, p->nv, 0.0);
                for (int32_t i = 0; i < p->nv; i++) {
                    x[i] = 1e-3 * (1.0 + i % 7);
                }
                stn_inverse_apply(inverse, 0, 1, x);
                stn_matrix_mul_add(A, 1.0, x, y);
                for (int32_t i = 0; i < p->nv; i++) {
                    assert_near(y[i], 1e-3 * (1.0 + i % 7), 1e-13);
                }
                const int64_t before = stn_context_allocations(*state);
                assert_ok(stn_inverse_factor(inverse, p, &err), err);
                assert_int_equal(stn_context_allocations(*state), before);
            }
            assert_int_equal(cloud_nodes(&c), A->node_count);
            stn_inverse_destroy(inverse);
            scene_end(&s);
        }
        stn_instance_destroy(f);
    }
}

/// Places 3 and 5 of an order, and what they hold instead; `wrong` is the first that is no order any more.
static const struct { int32_t third, fifth, wrong; } wrong_orders[] = {{5, 3, -1}, {-1, 5, 3}, {294, 5, 3}, {3, 3, 5}};

static int32_t wrong_order; // of wrong_orders

static stn_status give_order(void *self, stn_context *context, const stn_block_pattern *pattern, int32_t *order,
                             stn_error *err) {
    (void)self;
    (void)context;
    (void)err;
    for (int32_t k = 0; k < pattern->block_count; k++) {
        order[k] = k == 3 ? wrong_orders[wrong_order].third : k == 5 ? wrong_orders[wrong_order].fifth : k;
    }
    return STN_OK;
}

static void orders_of_plugins_are_checked(void **state) {
    stn_instance *f = choose(*state, (variant){"block", NULL});
    stn_factor_ops ops = *f->desc->ops.factor;
    ops.order = give_order;
    for (wrong_order = 0; wrong_order < STN_COUNT(wrong_orders); wrong_order++) {
        scene s;
        scene_begin(&s, *state, 4);
        (void)scene_cloud(&s, 6, 6, 5, 200.0);
        const stn_problem *p = scene_finish(&s);
        assert_int_equal(p->trees[0].A.node_count, 294);
        stn_inverse *inverse = NULL;
        stn_error err = {0};
        assert_ok(stn_inverse_create(*state, &inverse, &err), err);
        stn_inverse_set_factor(inverse, &ops, f->self);
        const stn_status status = stn_inverse_factor(inverse, p, &err);
        if (wrong_orders[wrong_order].wrong < 0) {
            assert_ok(status, err);
        } else {
            char text[40];
            snprintf(text, sizeof text, "place %d holds %d,", wrong_orders[wrong_order].wrong,
                     wrong_orders[wrong_order].wrong == 3 ? wrong_orders[wrong_order].third
                                                          : wrong_orders[wrong_order].fifth);
            assert_int_equal(status, STN_ERR_PLUGIN);
            assert_non_null(strstr(err.text, text));
        }
        stn_inverse_destroy(inverse);
        scene_end(&s);
    }
    stn_instance_destroy(f);
}

static void an_unknown_method_is_refused_with_the_list(void **state) {
    stn_setting method = {.name = "method", .form = STN_SETTING_TEXT, .text = "magic", .where = "test"};
    stn_instance *f = choose(*state, (variant){"cholmod", NULL});
    stn_error err = {0};
    if (f != NULL) {
        stn_instance *other = NULL;
        assert_int_equal(stn_instance_create(*state, STN_KIND_FACTOR, "cholmod", &method, 1, &other, &err),
                         STN_ERR_PARAMETER);
        assert_non_null(strstr(err.text, "simplicial"));
    }
    stn_instance_destroy(f);
}

int main(void) {
    unsetenv("OMP_THREAD_LIMIT"); // what the test runner sets would hide the threads that the plugin must not start
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(none_of_them_starts_threads, make_context, drop_context), // first: threads stay
        cmocka_unit_test_setup_teardown(all_of_them_solve_mixed_blocks, make_context, drop_context),
        cmocka_unit_test_setup_teardown(bad_pivots_are_named_by_all_of_them, make_context, drop_context),
        cmocka_unit_test_setup_teardown(orders_of_patterns_that_stay_are_orders, make_context, drop_context),
        cmocka_unit_test_setup_teardown(orders_of_plugins_are_checked, make_context, drop_context),
        cmocka_unit_test_setup_teardown(dissection_leaves_less_fill_where_it_is_taken, make_context, drop_context),
        cmocka_unit_test_setup_teardown(only_what_changing_blocks_decide_is_factored_again, make_context, drop_context),
        cmocka_unit_test_setup_teardown(refactor_names_bad_pivots_and_recovers, make_context, drop_context),
        cmocka_unit_test_setup_teardown(weak_pivots_are_told_by_all_of_them, make_context, drop_context),
        cmocka_unit_test_setup_teardown(clouds_are_factored_by_the_chosen_one, make_context, drop_context),
        cmocka_unit_test_setup_teardown(an_unknown_method_is_refused_with_the_list, make_context, drop_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
