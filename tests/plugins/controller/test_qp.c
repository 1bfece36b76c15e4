// SPDX-License-Identifier: Apache-2.0
// Small quadratic programs of controllers, against the conditions of Karush, Kuhn and Tucker, and another method.
#include "stn_test.h"

#include <math.h>
#include <string.h>

#include "common/qp.h"
#include "stn_context.h"
#include "stn_random.h"

enum { N = 12, ROWS = 16 };

typedef struct program {
    double H[N * N], g[N], lower[N], upper[N], A[ROWS * N], b[ROWS];
    qp face;
} program;

static double draw(stn_random *r, double low, double high) {
    return low + (high - low) * 0.5 * (1.0 + random_real(r));
}

static int32_t draw_count(stn_random *r, int32_t most) {
    return random_below(r, most + 1);
}

/// H of low rank with a little on the diagonal, as Jacobians make it; with `slack` the last variable is one.
static void fill_matrix(program *p, stn_random *r, bool slack) {
    int32_t n = p->face.n, rank = 1 + draw_count(r, 5);
    double J[6 * N];
    for (int32_t i = 0; i < rank * n; i++) {
        J[i] = draw(r, -1.0, 1.0);
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            double sum = i == j ? 4e-4 : 0.0;
            for (int32_t k = 0; k < rank; k++) {
                sum += J[k * n + i] * J[k * n + j];
            }
            bool own = slack && (i == n - 1 || j == n - 1);
            p->H[i * n + j] = own ? (i == j ? 1.0 : 0.0) : sum;
        }
    }
}

/// Rows repeat now and then, bounds may meet: what is active depends on each other.
static void fill(program *p, stn_random *r, bool slack) {
    int32_t n = 2 + draw_count(r, N - 2), rows = draw_count(r, ROWS);
    p->face = (qp){n, p->H, p->g, p->lower, p->upper, rows, p->A, p->b};
    fill_matrix(p, r, slack);
    for (int32_t i = 0; i < n; i++) {
        bool fixed = draw(r, 0.0, 1.0) < 0.1;
        p->g[i] = draw(r, -1.0, 1.0);
        p->lower[i] = fixed ? 0.0 : -draw(r, 0.0, 1.0);
        p->upper[i] = fixed ? 0.0 : draw(r, 0.0, 1.0);
    }
    if (slack) {
        p->g[n - 1] = 1e3;
        p->lower[n - 1] = 0.0;
        p->upper[n - 1] = INFINITY;
    }
    for (int32_t k = 0; k < rows; k++) {
        bool again = k > 0 && draw(r, 0.0, 1.0) < 0.3;
        p->b[k] = slack ? draw(r, -0.3, 0.3) : -draw(r, 0.0, 0.3);
        for (int32_t i = 0; i < n; i++) {
            p->A[k * n + i] = again ? p->A[(k - 1) * n + i] : draw(r, -0.5, 0.5);
        }
        p->A[k * n + n - 1] = slack ? 1.0 : p->A[k * n + n - 1];
    }
}

/// The largest residual: of the gradient, of what is violated, of multipliers that are negative or beside their limit.
static double residual(const qp *p, const qp_result *result) {
    const double *x = result->x, *u = result->multiplier;
    double worst = 0.0;
    for (int32_t i = 0; i < p->n; i++) {
        double gradient = p->g[i] - u[i] + u[p->n + i];
        for (int32_t j = 0; j < p->n; j++) {
            gradient += p->H[i * p->n + j] * x[j];
        }
        for (int32_t k = 0; k < p->rows; k++) {
            gradient -= p->A[k * p->n + i] * u[2 * p->n + k];
        }
        worst = fmax(worst, fabs(gradient));
        worst = fmax(worst, fmax(p->lower[i] - x[i], x[i] - p->upper[i]));
        worst = fmax(worst, fmax(-u[i], -u[p->n + i]));
        worst = fmax(worst, fabs(u[i] * (x[i] - p->lower[i])));
        worst = isinf(p->upper[i]) ? worst : fmax(worst, fabs(u[p->n + i] * (p->upper[i] - x[i])));
    }
    for (int32_t k = 0; k < p->rows; k++) {
        double left = -p->b[k];
        for (int32_t i = 0; i < p->n; i++) {
            left += p->A[k * p->n + i] * x[i];
        }
        worst = fmax(worst, fmax(-left, fmax(-u[2 * p->n + k], fabs(left * u[2 * p->n + k]))));
    }
    return worst;
}

static void random_programs_are_solved(void **state) {
    stn_arena *arena = stn_arena_create(*state);
    stn_random r = {1};
    program p;
    for (int32_t i = 0; i < 10000; i++) {
        stn_error err = {0};
        qp_result result;
        stn_arena_reset(arena);
        fill(&p, &r, i % 2 == 1);
        assert_ok(qp_solve(&p.face, arena, &result, &err), err);
        assert_true(residual(&p.face, &result) < 1e-8);
    }
    stn_arena_destroy(arena);
}

/// Projected gradients, which know nothing of active sets.
static void bounds_alone_agree_with_projected_gradients(void **state) {
    stn_arena *arena = stn_arena_create(*state);
    stn_random r = {2};
    program p;
    for (int32_t i = 0; i < 20; i++) {
        stn_error err = {0};
        qp_result result;
        stn_arena_reset(arena);
        fill(&p, &r, false);
        p.face.rows = 0;
        int32_t n = p.face.n;
        double x[N] = {0.0}, trace = 0.0;
        for (int32_t k = 0; k < n; k++) {
            p.H[k * (n + 1)] += 0.1;
            trace += p.H[k * (n + 1)];
        }
        for (int32_t step = 0; step < 20000; step++) {
            double next[N];
            for (int32_t k = 0; k < n; k++) {
                double gradient = p.g[k];
                for (int32_t j = 0; j < n; j++) {
                    gradient += p.H[k * n + j] * x[j];
                }
                next[k] = fmin(fmax(x[k] - gradient / trace, p.lower[k]), p.upper[k]);
            }
            memcpy(x, next, sizeof x);
        }
        assert_ok(qp_solve(&p.face, arena, &result, &err), err);
        for (int32_t k = 0; k < n; k++) {
            assert_near(result.x[k], x[k], 1e-9);
        }
    }
    stn_arena_destroy(arena);
}

static void what_cannot_be_met_and_what_is_no_program_are_told(void **state) {
    stn_arena *arena = stn_arena_create(*state);
    stn_error err = {0};
    qp_result result;
    const double H[] = {1.0, 0.0, 0.0, 1.0}, flat[] = {1.0, 1.0, 1.0, 1.0}, g[] = {0.0, 0.0}, bad[] = {NAN, 0.0};
    const double lower[] = {-1.0, -1.0}, upper[] = {1.0, 1.0}, A[] = {1.0, 1.0}, b[] = {3.0};
    qp p = {2, H, g, lower, upper, 1, A, b};
    assert_int_equal(qp_solve(&p, arena, &result, &err), STN_NOT_CONVERGED);
    p.rows = 0;
    p.H = flat;
    assert_int_equal(qp_solve(&p, arena, &result, &err), STN_ERR_NUMERIC);
    p.H = H;
    p.g = bad;
    assert_int_equal(qp_solve(&p, arena, &result, &err), STN_ERR_NUMERIC);
    stn_arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_are_solved),
        cmocka_unit_test(bounds_alone_agree_with_projected_gradients),
        cmocka_unit_test(what_cannot_be_met_and_what_is_no_program_are_told),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
