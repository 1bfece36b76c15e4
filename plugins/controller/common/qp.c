// SPDX-License-Identifier: Apache-2.0
// Everything is seen through the factor H = L L^T: constraint p with normal a_p has the column w_p = L^-1 a_p, and with
// the columns W = Q R of the active ones
//
//     r = R^-1 Q^T w_p,    z = L^-T (w_p - W r) = L^-T (1 - Q Q^T) w_p
//
// are how the active multipliers fall and x moves while that of p grows.
#include <math.h>
#include <string.h>

#include "common/qp.h"

typedef struct solver {
    const qp *problem;
    qp_result *result;
    double *L;            // (n x n)
    double *W, *Q;        // (n x n) columns of the active ones, and orthonormal ones that span the same, one a row
    double *R;            // (n x n) upper triangular
    double *r, *w, *z;    // (n)
    int32_t *active;      // (n) constraints
    bool *is_active;      // (2 n + rows)
    int32_t active_count; // of them
} solver;
/// What is left of a column in those before it, below which it depends on them.
static const double dependent = 1e-11;

/// Is one NaN, or infinite where that is not `allowed`?
static bool is_bad(const double *values, size_t count, double allowed) {
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i]) && values[i] != allowed) {
            return true;
        }
    }
    return false;
}

/// The minimum without constraints.
static stn_status begin(solver *s, stn_arena *arena, stn_error *err) {
    const qp *p = s->problem;
    size_t n = (size_t)p->n, rows = (size_t)p->rows, all = 2 * n + rows;
    double **place[] = {&s->L, &s->W, &s->Q, &s->R, &s->r, &s->w, &s->z, &s->result->x, &s->result->multiplier};
    const size_t size[] = {n * n, n * n, n * n, n * n, n, n, n, n, all};
    s->active = STN_ARENA(arena, n, int32_t);
    s->is_active = STN_ARENA_ZEROED(arena, all, bool);
    bool complete = s->active != NULL && s->is_active != NULL;
    for (int32_t i = 0; i < STN_COUNT(place); i++) {
        *place[i] = STN_ARENA_ZEROED(arena, size[i], double);
        complete = complete && *place[i] != NULL;
    }
    if (!complete) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    if (is_bad(p->lower, n, -INFINITY) || is_bad(p->upper, n, INFINITY) || is_bad(p->A, rows * n, 0.0) ||
        is_bad(p->b, rows, -INFINITY)) { // a NaN among them would pass for a constraint that is met
        return stn_fail(err, STN_ERR_NUMERIC, "quadratic program: a constraint is not finite");
    }
    memcpy(s->L, p->H, sizeof(double) * n * n);
    if (stn_cholesky(p->n, s->L, p->n) >= 0) {
        return stn_fail(err, STN_ERR_NUMERIC, "quadratic program: the matrix is not positive definite");
    }
    for (size_t i = 0; i < n; i++) {
        s->result->x[i] = -p->g[i];
    }
    stn_cholesky_forward(p->n, s->L, p->n, 1, s->result->x, p->n);
    stn_cholesky_backward(p->n, s->L, p->n, 1, s->result->x, p->n);
    return is_bad(s->result->x, n, 0.0)
               ? stn_fail(err, STN_ERR_NUMERIC, "quadratic program: the gradient is not finite")
               : STN_OK;
}

/// a . x - b of a constraint; `scale` is how large its terms are.
static double slack_of(const solver *s, int32_t c, double *scale) {
    const qp *p = s->problem;
    const double *x = s->result->x;
    double sum = 0.0, size = 0.0, b = 0.0;
    if (c < 2 * p->n) {
        sum = c < p->n ? x[c] : -x[c - p->n];
        b = c < p->n ? p->lower[c] : -p->upper[c - p->n];
        size = fabs(sum);
    } else {
        const double *a = p->A + (size_t)(c - 2 * p->n) * (size_t)p->n;
        b = p->b[c - 2 * p->n];
        for (int32_t i = 0; i < p->n; i++) {
            sum += a[i] * x[i];
            size += fabs(a[i] * x[i]);
        }
    }
    *scale = fmax(1.0, fmax(size, isfinite(b) ? fabs(b) : 0.0));
    return sum - b;
}

static double dot(int32_t n, const double *a, const double *b) {
    double sum = 0.0;
    for (int32_t i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/// Takes what the first `count` columns of Q span out of v, twice for the rounding; adds it up in `parts`. Returns what
/// is left, 0 when it is rounding.
static double project(const solver *s, int32_t count, double *v, double *parts) {
    int32_t n = s->problem->n;
    double whole = dot(n, v, v);
    memset(parts, 0, sizeof(double) * (size_t)count);
    for (int32_t k = 0; k < 2 * count; k++) {
        const double *q = s->Q + (size_t)(k % count) * (size_t)n;
        double part = dot(n, q, v);
        parts[k % count] += part;
        for (int32_t j = 0; j < n; j++) {
            v[j] -= part * q[j];
        }
    }
    double left = dot(n, v, v);
    return count < n && left > dependent * dependent * whole ? left : 0.0;
}

/// r, and (1 - Q Q^T) w in z, its square returned.
static double find_direction(solver *s) {
    int32_t n = s->problem->n, k = s->active_count;
    memcpy(s->z, s->w, sizeof(double) * (size_t)n);
    double left = project(s, k, s->z, s->r);
    for (int32_t i = k - 1; i >= 0; i--) {
        for (int32_t j = i + 1; j < k; j++) {
            s->r[i] -= s->R[(size_t)i * (size_t)n + (size_t)j] * s->r[j];
        }
        s->r[i] /= s->R[(size_t)i * (size_t)(n + 1)];
    }
    return left;
}

/// Q and R after a change of column `first`; false: the columns depend on each other.
static bool factor_active(solver *s, int32_t first) {
    size_t n = (size_t)s->problem->n;
    double *parts = s->r;
    for (int32_t j = first; j < s->active_count; j++) {
        double *q = s->Q + (size_t)j * n;
        memcpy(q, s->W + (size_t)j * n, sizeof(double) * n);
        double left = sqrt(project(s, j, q, parts));
        for (int32_t i = 0; i < j; i++) {
            s->R[(size_t)i * n + (size_t)j] = parts[i];
        }
        s->R[(size_t)j * (n + 1)] = left;
        for (size_t i = 0; i < n && left > 0.0; i++) {
            q[i] /= left;
        }
        if (left == 0.0) {
            return false;
        }
    }
    return true;
}

/// Meets constraint c, giving others up where it must. False: it cannot be met beside those that hold.
static bool meet(solver *s, int32_t c) {
    const qp *p = s->problem;
    size_t n = (size_t)p->n;
    double scale, *multiplier = s->result->multiplier;
    memset(s->w, 0, sizeof(double) * n); // L^-1 a
    if (c < 2 * p->n) {
        s->w[c % p->n] = c < p->n ? 1.0 : -1.0;
    } else {
        memcpy(s->w, p->A + (size_t)(c - 2 * p->n) * n, sizeof(double) * n);
    }
    stn_cholesky_forward(p->n, s->L, p->n, 1, s->w, p->n);
    for (;;) {
        // as far as c is met, or as an active one's multiplier reaches zero, the first of all
        double left = find_direction(s), partial = INFINITY;
        double full = left > 0.0 ? -slack_of(s, c, &scale) / left : (double)INFINITY;
        int32_t goes = -1;
        for (int32_t i = 0; i < s->active_count; i++) {
            double at = s->r[i] > 0.0 ? multiplier[s->active[i]] / s->r[i] : (double)INFINITY;
            if (at < partial) {
                partial = at;
                goes = i;
            }
        }
        double step = fmin(partial, full);
        if (isinf(step)) {
            return false;
        }
        for (int32_t i = 0; i < s->active_count; i++) {
            double *u = &multiplier[s->active[i]];
            *u = fmax(*u - step * s->r[i], 0.0);
        }
        multiplier[c] += step;
        if (left > 0.0) {
            stn_cholesky_backward(p->n, s->L, p->n, 1, s->z, p->n);
            for (size_t i = 0; i < n; i++) {
                s->result->x[i] += step * s->z[i];
            }
        }
        s->result->changes++;
        if (full <= partial) {
            memcpy(s->W + (size_t)s->active_count * n, s->w, sizeof(double) * n);
            s->active[s->active_count++] = c;
            s->is_active[c] = true;
            return factor_active(s, s->active_count - 1);
        }
        s->active_count--;
        s->is_active[s->active[goes]] = false;
        multiplier[s->active[goes]] = 0.0;
        for (int32_t i = goes; i < s->active_count; i++) {
            s->active[i] = s->active[i + 1];
            memcpy(s->W + (size_t)i * n, s->W + (size_t)(i + 1) * n, sizeof(double) * n);
        }
        if (!factor_active(s, goes)) {
            return false;
        }
    }
}

stn_status qp_solve(const qp *problem, stn_arena *arena, qp_result *result, stn_error *err) {
    solver s = {.problem = problem, .result = result};
    *result = (qp_result){.changes = 0};
    stn_status status = begin(&s, arena, err);
    if (status != STN_OK) {
        return status;
    }
    const int32_t all = 2 * problem->n + problem->rows, most = 20 * (all + problem->n);
    for (;;) {
        int32_t violated = -1; // most
        double worst = -1e-10;
        for (int32_t c = 0; c < all; c++) {
            double scale, slack = slack_of(&s, c, &scale);
            if (!s.is_active[c] && slack < worst * scale) {
                worst = slack / scale;
                violated = c;
            }
        }
        if (violated < 0) {
            return STN_OK;
        }
        if (result->changes > most || !meet(&s, violated)) {
            return STN_NOT_CONVERGED;
        }
    }
}
