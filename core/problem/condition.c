// SPDX-License-Identifier: Apache-2.0
// How well posed the convex problem is: the condition number of D H D, H = A + J^T G J, D = diag(A)^-1/2, from its
// largest and smallest eigenvalue by power iterations with H and with its Cholesky factor.
#include <string.h>

#include <stiction/certificate.h>
#include <stiction/factor.h>

#include "problem/solver.h"

enum { LARGEST = 4000, SWEEPS = 300 };

/// Row-major, both triangles.
typedef struct dense {
    int32_t n;
    double *values;
} dense;

/// Dofs of the trees that a constraint acts on; `dofs` holds all of them at most.
static int32_t list_dofs(const stn_problem *p, const stn_constraint *c, int32_t *dofs) {
    int32_t count = 0;
    for (int32_t side = 0; side < 2 && c->J[side].tree >= 0; side++) {
        const stn_problem_tree *tree = &p->trees[c->J[side].tree];
        for (int32_t d = 0; d < tree->A.n && (side == 0 || c->J[1].tree != c->J[0].tree); d++) {
            dofs[count++] = tree->dof_start + d;
        }
    }
    return count;
}

/// Entry (a, b) of a constraint's Hessian.
static double entry(const stn_constraint *c, const double *G, int32_t a, int32_t b) {
    static const int32_t packed[3][3] = {{0, 1, 3}, {1, 2, 4}, {3, 4, 5}};
    if (stn_constraint_has_cone(c)) {
        return G[packed[a][b]];
    }
    return a == b ? G[a] : 0.0;
}

/// H += J^T G J of one constraint; `rows` holds STN_MAX_ROWS vectors of zeros, and does so again afterwards.
static void add_constraint(const stn_problem *p, const stn_constraint *c, const double *G, double *rows, int32_t *dofs,
                           dense *H) {
    size_t n = (size_t)H->n;
    int32_t count = list_dofs(p, c, dofs);
    for (int32_t a = 0; a < c->rows; a++) {
        double unit[STN_MAX_ROWS] = {0.0};
        unit[a] = 1.0;
        stn_constraint_transposed_add(p, c, 1.0, unit, rows + (size_t)a * n);
    }
    for (int32_t a = 0; a < c->rows; a++) {
        for (int32_t b = 0; b < c->rows; b++) {
            double g = entry(c, G, a, b);
            for (int32_t i = 0; i < count && g != 0.0; i++) {
                double scale = g * rows[(size_t)a * n + (size_t)dofs[i]], *out = H->values + (size_t)dofs[i] * n;
                for (int32_t k = 0; k < count; k++) {
                    out[dofs[k]] += scale * rows[(size_t)b * n + (size_t)dofs[k]];
                }
            }
        }
    }
    for (int32_t a = 0; a < c->rows; a++) {
        for (int32_t i = 0; i < count; i++) {
            rows[(size_t)a * n + (size_t)dofs[i]] = 0.0;
        }
    }
}

/// H = A, then scaled by D on both sides with the constraints' part in between.
static stn_status form_hessian(const stn_problem *p, const double *v, const stn_law *law, const void *law_memory,
                               stn_arena *scratch, dense *H, stn_error *err) {
    size_t n = (size_t)p->nv;
    double *v_c = STN_ARENA(scratch, p->row_count, double), *gamma = STN_ARENA(scratch, p->row_count, double);
    double *G = STN_ARENA_ZEROED(scratch, 6 * (size_t)p->constraint_count, double);
    double *rows = STN_ARENA_ZEROED(scratch, STN_MAX_ROWS * n, double), *D = STN_ARENA(scratch, n, double);
    int32_t *dofs = STN_ARENA(scratch, n, int32_t);
    *H = (dense){p->nv, STN_ARENA_ZEROED(scratch, n * n, double)};
    if (v_c == NULL || gamma == NULL || G == NULL || rows == NULL || D == NULL || dofs == NULL || H->values == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "condition number: out of memory");
    }
    stn_problem_contact_velocity(p, v, true, v_c);
    const law_question asked = {.problem = p, .law = law, .law_memory = law_memory, .scratch = scratch, .G = G};
    stn_status status = complete_impulses_at(&asked, v_c, gamma, err);
    if (status < 0) {
        return status;
    }
    for (size_t i = 0; i < n; i++) { // A is symmetric: its columns are its rows
        rows[i] = 1.0;
        stn_problem_mass_times(p, rows, NULL, H->values + i * n);
        rows[i] = 0.0;
        D[i] = 1.0 / sqrt(H->values[i * n + i]);
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        add_constraint(p, &p->constraints[i], G + 6 * (size_t)i, rows, dofs, H);
    }
    for (size_t i = 0; i < n * n; i++) {
        H->values[i] *= D[i / n] * D[i % n];
    }
    return STN_OK;
}

/// x <- x / |x|; returns |x|.
static double normalize(int32_t n, double *x) {
    double sum = 0.0;
    for (int32_t i = 0; i < n; i++) {
        sum += x[i] * x[i];
    }
    double norm = sqrt(sum);
    for (int32_t i = 0; i < n; i++) {
        x[i] /= norm;
    }
    return norm;
}

/// No eigenvector is likely to be normal to it.
static void start(int32_t n, double *x) {
    for (int32_t i = 0; i < n; i++) {
        x[i] = 1.0 + 0.7 * sin(1.0 + 2.3 * i);
    }
    normalize(n, x);
}

/// The largest eigenvalue of H, or with its factor that of its inverse.
static double largest(const dense *H, bool factored, double *x, double *y) {
    double value = 0.0;
    start(H->n, x);
    for (int32_t sweep = 0; sweep < SWEEPS; sweep++) {
        double before = value;
        if (factored) {
            memcpy(y, x, (size_t)H->n * sizeof *y);
            stn_cholesky_forward(H->n, H->values, H->n, 1, y, H->n);
            stn_cholesky_backward(H->n, H->values, H->n, 1, y, H->n);
        } else {
            for (int32_t i = 0; i < H->n; i++) {
                y[i] = 0.0;
                for (int32_t k = 0; k < H->n; k++) {
                    y[i] += H->values[(size_t)i * (size_t)H->n + (size_t)k] * x[k];
                }
            }
        }
        value = normalize(H->n, y);
        memcpy(x, y, (size_t)H->n * sizeof *x);
        if (fabs(value - before) <= 1e-6 * value) {
            break;
        }
    }
    return value;
}

stn_status stn_condition_number(const stn_problem *p, const double *v, const stn_law *law, const void *law_memory,
                                stn_arena *scratch, double *out, stn_error *err) {
    *out = (double)NAN;
    if (p->form == STN_FORM_LOCAL || p->nv > LARGEST) {
        return stn_fail(err, STN_ERR_UNSUPPORTED, "condition number: needs a global problem of at most %d dofs",
                        LARGEST);
    }
    if (p->nv == 0) {
        *out = 1.0;
        return STN_OK;
    }
    dense H;
    double *x = STN_ARENA(scratch, p->nv, double), *y = STN_ARENA(scratch, p->nv, double);
    if (x == NULL || y == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "condition number: out of memory");
    }
    stn_status status = form_hessian(p, v, law, law_memory, scratch, &H, err);
    if (status < 0) {
        return status;
    }
    double high = largest(&H, false, x, y);
    int32_t pivot = stn_cholesky(H.n, H.values, H.n);
    if (!isfinite(high) || pivot >= 0) {
        return stn_fail(err, STN_ERR_NUMERIC, "condition number: H is not finite and positive definite, at dof %d",
                        pivot);
    }
    *out = high * largest(&H, true, x, y);
    return STN_OK;
}
