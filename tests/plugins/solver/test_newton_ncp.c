// SPDX-License-Identifier: Apache-2.0
// Newton's method on Coulomb's law: its sparse factor against Gaussian elimination, redundant stacks against statics,
// other solvers on random problems, how it ends. What every solver must do is asked by the battery of `stiction
// validate`.
#include <stiction/solve.h>

#include "common/block_lu.h"
#include "solver_fixture.h"
#include "stn_scene.h"

static void choose(fixture *f, const char *id, double tolerance, double most) {
    const stn_setting settings[] = {number_setting("tolerance", tolerance), number_setting("absolute_tolerance", 0.0),
                                    number_setting("max_iterations", most)};
    choose_with(f, id, settings, STN_COUNT(settings));
}

// ------------------------------------------------------------------------------------------------------------- factor

enum { BLOCKS = 40, MOST = 6 * BLOCKS };

/// A symmetric pattern in which one pair in `sparse` is coupled; sizes 1 to 6.
typedef struct pattern {
    int32_t size[BLOCKS], row_start[BLOCKS + 1], column[BLOCKS * BLOCKS];
} pattern;

static void random_pattern(stn_random *random, int32_t sparse, pattern *p) {
    bool coupled[BLOCKS][BLOCKS] = {{false}};
    int32_t count = 0;
    for (int32_t i = 0; i < BLOCKS; i++) {
        p->size[i] = 1 + random_below(random, 6);
        coupled[i][i] = true;
        for (int32_t j = 0; j < i; j++) {
            coupled[i][j] = coupled[j][i] = random_below(random, sparse) == 0;
        }
    }
    for (int32_t i = 0; i < BLOCKS; i++) {
        p->row_start[i] = count;
        for (int32_t j = 0; j < BLOCKS; j++) {
            if (coupled[i][j]) {
                p->column[count++] = j;
            }
        }
    }
    p->row_start[BLOCKS] = count;
}

/// Random values, neither symmetric nor dominated by the diagonal; also as a full matrix, with 1 for blocks left out.
static void random_values(stn_random *random, block_lu *lu, const bool *left_out, double *full) {
    memset(full, 0, (size_t)(lu->rows * lu->rows) * sizeof *full);
    for (int32_t i = 0; i < lu->n; i++) {
        for (int32_t e = lu->row_start[i]; e < lu->row_start[i + 1]; e++) {
            int32_t j = lu->column[e];
            for (int32_t r = 0; r < lu->size[i]; r++) {
                for (int32_t c = 0; c < lu->size[j]; c++) {
                    double value = random_real(random) + (i == j && r == c ? 3.0 : 0.0);
                    lu->values[lu->offset[e] + r * lu->size[j] + c] = value;
                    bool there = !left_out[i] && !left_out[j];
                    full[(lu->start[i] + r) * lu->rows + lu->start[j] + c] =
                        there ? value : (i == j && r == c ? 1.0 : 0.0);
                }
            }
        }
    }
}

static void the_factor_solves_what_elimination_solves(void **state) {
    fixture *f = *state;
    static pattern p;
    static double full[MOST * MOST];
    stn_random random = {11};
    for (int32_t trial = 0; trial < 60; trial++) {
        const int32_t sparse[] = {1, 4, 12, 40}; // one front, some, many
        bool left_out[BLOCKS];
        double x[MOST], plain[MOST], most = 0.0, off = 0.0;
        stn_arena *arena = stn_arena_create(f->context);
        block_lu lu;
        random_pattern(&random, sparse[trial % 4], &p);
        for (int32_t i = 0; i < BLOCKS; i++) {
            left_out[i] = trial % 3 == 1 && random_below(&random, 3) == 0;
        }
        assert_true(block_lu_build(BLOCKS, p.size, p.row_start, p.column, arena, &lu));
        random_values(&random, &lu, left_out, full);
        for (int32_t r = 0; r < lu.rows; r++) {
            x[r] = plain[r] = random_real(&random);
        }
        assert_true(block_lu_factor(&lu, left_out));
        block_lu_solve(&lu, x);
        plain_solve(lu.rows, full, plain);
        for (int32_t r = 0; r < lu.rows; r++) {
            most = worse(most, fabs(plain[r]));
            off = worse(off, fabs(x[r] - plain[r]));
        }
        if (!(off <= 1e-9 * most)) {
            fail_msg("trial %d: off by %.1e of %.1e", trial, off, most);
        }
        stn_arena_destroy(arena);
    }
}

static void a_singular_matrix_has_no_factor(void **state) {
    fixture *f = *state;
    const int32_t size[2] = {2, 1}, row_start[3] = {0, 2, 4}, column[4] = {0, 1, 0, 1};
    const double values[9] = {1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 1.0, 2.0, 3.0};
    stn_arena *arena = stn_arena_create(f->context);
    block_lu lu;
    assert_true(block_lu_build(2, size, row_start, column, arena, &lu));
    const int32_t from[9] = {0, 1, 4, 2, 3, 5, 6, 7, 8}; // block by block: (0, 0), (0, 1), (1, 0), (1, 1)
    for (int32_t k = 0; k < 9; k++) {
        lu.values[from[k]] = values[k];
    }
    assert_false(block_lu_factor(&lu, NULL));
    stn_arena_destroy(arena);
}

// -------------------------------------------------------------------------------------------------------------- stacks

/// Boxes on one another, four contacts a layer where three would do; `top` times heavier above, a push sideways.
static void make_stack(scene *s, stn_context *context, int32_t height, double top, double push) {
    scene_begin(s, context, 5);
    scene_pile(s, 1, height, false, 0.0);
    stn_problem *p = &s->problem;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        p->constraints[i].phi0 = 0.0;
    }
    for (int32_t k = 0; k < 36; k++) {
        p->trees[height - 1].A.values[k] *= top;
    }
    p->v_star[6 * (height - 1)] = push / top;
}

/// Statics: every layer carries what stands on it, nothing moves, however the four contacts share it.
static void a_heavy_box_rests_on_light_ones(void **state) {
    fixture *f = *state;
    enum { HEIGHT = 8 };
    const double tops[] = {1.0, 100.0, 1e4};
    for (int32_t k = 0; k < STN_COUNT(tops); k++) {
        scene s;
        const double push = 0.3 * 9.81 * 0.002; // 0.3 of the weight of a light box, mu = 1
        make_stack(&s, f->context, HEIGHT, tops[k], push);
        choose(f, "newton_ncp", 1e-11, 300.0);
        stn_status status = solve(f, &s.problem); // beside 1e4 the digits may end just above the tolerance
        assert_true(status == STN_OK || (status == STN_STALLED && tops[k] > 100.0));
        assert_true(f->certificate.natural_ncp <= 1e-12);
        print_message("heavier by %g: %d steps, natural map %.1e\n", tops[k], f->report.iterations,
                      f->certificate.natural_ncp);
        for (int32_t layer = 0; layer < HEIGHT; layer++) {
            double normal = 0.0, sideways = 0.0;
            for (int32_t corner = 0; corner < 4; corner++) {
                const stn_constraint *c = &s.problem.constraints[4 * layer + corner];
                const double *gamma = f->gamma + c->row;
                stn_vec3 t1 = {c->J[0].values[0], c->J[0].values[1], 0.0};
                stn_vec3 t2 = {c->J[0].values[6], c->J[0].values[7], 0.0};
                normal += gamma[2];
                sideways += gamma[0] * t1.x + gamma[1] * t2.x;
            }
            double weight = (HEIGHT - 1 - layer + tops[k]) * 9.81 * 0.002;
            assert_near(normal, weight, 1e-9 * weight);
            assert_near(sideways, -push, 1e-9 * weight);
        }
        for (int32_t i = 0; i < s.problem.nv; i++) {
            assert_near(f->v[i], 0.0, 1e-11);
        }
        leave(f);
        scene_end(&s);
    }
}

/// More than friction holds: the box above slides, by mu less than the push.
static void a_box_that_is_pushed_hard_slides(void **state) {
    fixture *f = *state;
    enum { HEIGHT = 4 };
    const double dt = 0.002, push = 2.0 * 9.81 * dt;
    scene s;
    make_stack(&s, f->context, HEIGHT, 1.0, push);
    for (int32_t i = 0; i < s.problem.constraint_count; i++) {
        s.problem.constraints[i].mu1 = s.problem.constraints[i].mu2 = i < 4 * (HEIGHT - 1) ? 1.0 : 0.5;
    }
    choose(f, "newton_ncp", 1e-12, 300.0);
    assert_ok(solve(f, &s.problem), f->err);
    double v = f->v[6 * (HEIGHT - 1)];
    assert_near(v, push - 0.5 * 9.81 * dt, 1e-12);
    assert_near(f->v[6 * (HEIGHT - 1) + 2], 0.0, 1e-12);
    leave(f);
    scene_end(&s);
}

// ------------------------------------------------------------------------------------------------------------- others

/// Where both solve, velocities agree: random compliant contacts, unique as far as they are called solved.
static void it_agrees_with_gauss_seidel(void **state) {
    fixture *f = *state;
    int32_t solved = 0, both = 0;
    for (int32_t i = 0; i < 60; i++) {
        scene s;
        double other[MULTICONTACT_MOST];
        scene_begin(&s, f->context, 100 + (uint64_t)i);
        scene_random(&s, 3 + i % 10, 100.0, 0.6);
        choose(f, "newton_ncp", 1e-11, 500.0);
        bool newton = solve(f, &s.problem) == STN_OK;
        leave(f);
        memcpy(other, f->v, (size_t)s.problem.nv * sizeof *other);
        choose(f, "bisection", 1e-11, 5000.0);
        bool sweeps = solve(f, &s.problem) == STN_OK;
        leave(f);
        solved += newton;
        both += newton && sweeps;
        if (newton && sweeps) {
            double off = scene_distance(&s.problem, f->v, other), size = scene_distance(&s.problem, other, NULL);
            if (!(off <= 1e-6 * size)) {
                fail_msg("problem %d: off by %.1e of %.1e", i, off, size);
            }
        }
        scene_end(&s);
    }
    print_message("%d of 60 solved, %d by both\n", solved, both);
    assert_true(solved >= 50 && both >= 40);
}

static void it_tells_when_digits_end(void **state) {
    fixture *f = *state;
    scene s;
    make_stack(&s, f->context, 6, 1.0, 0.0);
    s.problem.v_star[0] = 0.123456789;
    choose(f, "newton_ncp", 1e-30, 300.0);
    stn_status status = solve(f, &s.problem);
    print_message("%s, %s after %d steps, natural map %.1e\n", stn_status_text(status), f->report.reason,
                  f->report.iterations, f->certificate.natural_ncp);
    assert_int_equal(status, STN_STALLED);
    assert_string_equal(f->report.reason, "round-off");
    assert_true(f->certificate.natural_ncp <= 1e-12 && f->report.iterations < 120);
    leave(f);
    scene_end(&s);
}

/// A wheel between two walls that close in: no impulse can open them.
static void walls_that_close_have_no_solution(void **state) {
    fixture *f = *state;
    scene s;
    double A[1] = {1.0}, left[3] = {0.0, 0.0, 1.0}, right[3] = {0.0, 0.0, -1.0};
    scene_begin(&s, f->context, 1);
    int32_t tree = scene_tree(&s, 1, A);
    scene_constraint(&s, 3, tree, left, -1, NULL);
    scene_constraint(&s, 3, tree, right, -1, NULL);
    scene_finish(&s);
    s.problem.bias[2] = s.problem.bias[5] = -1.0;
    choose(f, "newton_ncp", 1e-8, 2000.0);
    stn_status status = solve(f, &s.problem);
    print_message("%s after %d steps, natural map %.1e\n", stn_status_text(status), f->report.iterations,
                  f->certificate.natural_ncp);
    assert_int_equal(status, STN_NOT_CONVERGED);
    assert_true(f->certificate.natural_ncp > 0.1);
    leave(f);
    scene_end(&s);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CLAIM(the_factor_solves_what_elimination_solves),
        CLAIM(a_singular_matrix_has_no_factor),
        CLAIM(a_heavy_box_rests_on_light_ones),
        CLAIM(a_box_that_is_pushed_hard_slides),
        CLAIM(it_agrees_with_gauss_seidel),
        CLAIM(it_tells_when_digits_end),
        CLAIM(walls_that_close_have_no_solution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
