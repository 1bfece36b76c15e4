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
        worst = worse(worst, fabs(gradient));
        worst = worse(worst, fmax(p->lower[i] - x[i], x[i] - p->upper[i]));
        worst = worse(worst, fmax(-u[i], -u[p->n + i]));
        worst = worse(worst, fabs(u[i] * (x[i] - p->lower[i])));
        worst = isinf(p->upper[i]) ? worst : fmax(worst, fabs(u[p->n + i] * (p->upper[i] - x[i])));
    }
    for (int32_t k = 0; k < p->rows; k++) {
        double left = -p->b[k];
        for (int32_t i = 0; i < p->n; i++) {
            left += p->A[k * p->n + i] * x[i];
        }
        worst = worse(worst, fmax(-left, fmax(-u[2 * p->n + k], fabs(left * u[2 * p->n + k]))));
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

// ------------------------------------------------------------------------------------------- every set of active ones

enum { FEW = 3, FEW_ROWS = 5, FEW_ALL = 2 * FEW + FEW_ROWS };

/// Constraint c of a program as a . x >= b, false: it is none.
static bool constraint_of(const qp *p, int32_t c, double *a, double *b) {
    memset(a, 0, sizeof(double) * (size_t)p->n);
    if (c < 2 * p->n) {
        a[c % p->n] = c < p->n ? 1.0 : -1.0;
        *b = c < p->n ? p->lower[c] : -p->upper[c - p->n];
        return isfinite(*b);
    }
    memcpy(a, p->A + (size_t)(c - 2 * p->n) * (size_t)p->n, sizeof(double) * (size_t)p->n);
    *b = p->b[c - 2 * p->n];
    return true;
}

/// M x = y (size x size) by elimination with row pivots; false: singular.
static bool eliminate(int32_t size, double M[2 * FEW][2 * FEW + 1]) {
    for (int32_t k = 0; k < size; k++) {
        int32_t best = k;
        for (int32_t i = k; i < size; i++) {
            best = fabs(M[i][k]) > fabs(M[best][k]) ? i : best;
        }
        if (fabs(M[best][k]) < 1e-9) {
            return false;
        }
        for (int32_t j = 0; j <= size; j++) {
            double kept = M[k][j];
            M[k][j] = M[best][j];
            M[best][j] = kept;
        }
        for (int32_t i = 0; i < size; i++) {
            double factor = i == k ? 0.0 : M[i][k] / M[k][k];
            for (int32_t j = 0; j <= size; j++) {
                M[i][j] -= factor * M[k][j];
            }
        }
    }
    return true;
}

/// The minimum where the constraints of a set (bits) are equalities; false: there is none that meets all constraints.
static bool minimum_of_set(const qp *p, uint32_t set, double *x) {
    double M[2 * FEW][2 * FEW + 1] = {{0.0}}, a[FEW], b;
    int32_t n = p->n, size = n;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            M[i][j] = p->H[i * n + j];
        }
    }
    for (int32_t c = 0; c < 2 * n + p->rows; c++) {
        if ((set >> c & 1) == 0) {
            continue;
        }
        if (size == 2 * n || !constraint_of(p, c, a, &b)) {
            return false;
        }
        for (int32_t i = 0; i < n; i++) {
            M[i][size] = -a[i];
            M[size][i] = a[i];
        }
        size++;
    }
    int32_t row = n;
    for (int32_t c = 0; c < 2 * n + p->rows; c++) {
        if ((set >> c & 1) != 0) {
            constraint_of(p, c, a, &M[row++][size]);
        }
    }
    for (int32_t i = 0; i < n; i++) {
        M[i][size] = -p->g[i];
    }
    bool met = eliminate(size, M);
    for (int32_t i = 0; i < n && met; i++) {
        x[i] = M[i][size] / M[i][i];
    }
    for (int32_t c = 0; c < 2 * n + p->rows && met; c++) {
        bool is_one = constraint_of(p, c, a, &b);
        double left = -b;
        for (int32_t i = 0; i < n; i++) {
            left += a[i] * x[i];
        }
        met = !is_one || left > -1e-7;
    }
    return met;
}

static double value_of(const qp *p, const double *x) {
    double sum = 0.0;
    for (int32_t i = 0; i < p->n; i++) {
        sum += p->g[i] * x[i];
        for (int32_t j = 0; j < p->n; j++) {
            sum += 0.5 * p->H[i * p->n + j] * x[i] * x[j];
        }
    }
    return sum;
}

/// Small whole numbers, so that rows repeat, oppose each other and vanish, corners have many, and a part of the
/// programs cannot be met.
static void fill_whole(program *p, stn_random *r) {
    int32_t n = 1 + draw_count(r, FEW - 1), rows = draw_count(r, FEW_ROWS);
    p->face = (qp){n, p->H, p->g, p->lower, p->upper, rows, p->A, p->b};
    fill_matrix(p, r, false);
    for (int32_t i = 0; i < n; i++) {
        p->H[i * (n + 1)] += 0.5;
        p->g[i] = draw_count(r, 8) - 4;
        p->lower[i] = draw_count(r, 3) == 0 ? -(double)INFINITY : -draw_count(r, 2);
        p->upper[i] = draw_count(r, 3) == 0 ? (double)INFINITY : draw_count(r, 2);
    }
    for (int32_t k = 0; k < rows; k++) {
        p->b[k] = draw_count(r, 5) - 2;
        for (int32_t i = 0; i < n; i++) {
            p->A[k * n + i] = draw_count(r, 4) - 2;
        }
    }
}

static void every_active_set_agrees(void **state) {
    stn_arena *arena = stn_arena_create(*state);
    stn_random r = {3};
    program p;
    int32_t met = 0, unmet = 0;
    for (int32_t round = 0; round < 3000; round++) {
        stn_error err = {0};
        qp_result result;
        stn_arena_reset(arena);
        fill_whole(&p, &r);
        double least = INFINITY, x[FEW], best[FEW] = {0.0};
        for (uint32_t set = 0; set < 1U << (2 * p.face.n + p.face.rows); set++) {
            if (minimum_of_set(&p.face, set, x) && value_of(&p.face, x) < least) {
                least = value_of(&p.face, x);
                memcpy(best, x, sizeof best);
            }
        }
        met += isfinite(least) ? 1 : 0;
        unmet += isfinite(least) ? 0 : 1;
        assert_int_equal(qp_solve(&p.face, arena, &result, &err), isfinite(least) ? STN_OK : STN_NOT_CONVERGED);
        for (int32_t i = 0; i < p.face.n && isfinite(least); i++) {
            assert_near(result.x[i], best[i], 1e-6);
        }
    }
    assert_true(met > 500 && unmet > 500);
    stn_arena_destroy(arena);
}

static void what_is_not_finite_is_told(void **state) {
    stn_arena *arena = stn_arena_create(*state);
    qp_result result;
    double H[] = {1.0, 0.0, 0.0, 1.0}, g[] = {0.0, 0.0}, lower[] = {-1.0, -1.0}, upper[] = {1.0, 1.0};
    double A[] = {1.0, 1.0, 1.0, -1.0}, b[] = {-3.0, -3.0};
    double *places[] = {&H[0],     &H[2],     &H[3], &g[1], &lower[0], &lower[1],
                        &upper[0], &upper[1], &A[1], &A[2], &b[0],     &b[1]};
    const qp p = {2, H, g, lower, upper, 2, A, b};
    for (size_t i = 0; i < STN_COUNT(places); i++) {
        stn_error err = {0};
        double kept = *places[i];
        assert_ok(qp_solve(&p, arena, &result, &err), err);
        *places[i] = NAN;
        assert_int_equal(qp_solve(&p, arena, &result, &err), STN_ERR_NUMERIC);
        *places[i] = kept;
    }
    A[3] = INFINITY;
    stn_error err = {0};
    assert_int_equal(qp_solve(&p, arena, &result, &err), STN_ERR_NUMERIC);
    stn_arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_are_solved),
        cmocka_unit_test(bounds_alone_agree_with_projected_gradients),
        cmocka_unit_test(what_cannot_be_met_and_what_is_no_program_are_told),
        cmocka_unit_test(every_active_set_agrees),
        cmocka_unit_test(what_is_not_finite_is_told),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
