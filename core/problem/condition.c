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

/// H = A + J^T G J, column by column, scaled by D on both sides.
static stn_status form_hessian(const stn_problem *p, const double *v, const stn_law *law, const void *law_memory,
                               stn_arena *scratch, dense *H, stn_error *err) {
    const size_t n = (size_t)p->nv;
    double *v_c = STN_ARENA(scratch, p->row_count + 1, double), *gamma = STN_ARENA(scratch, p->row_count + 1, double);
    double *G = STN_ARENA_ZEROED(scratch, 6 * (size_t)p->constraint_count, double);
    double *unit = STN_ARENA_ZEROED(scratch, n, double), *D = STN_ARENA(scratch, n, double);
    *H = (dense){p->nv, STN_ARENA_ZEROED(scratch, n * n, double)};
    if (v_c == NULL || gamma == NULL || G == NULL || unit == NULL || D == NULL || H->values == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "condition number: out of memory");
    }
    stn_problem_contact_velocity(p, v, true, v_c);
    const law_question asked = {.problem = p, .law = law, .law_memory = law_memory, .scratch = scratch, .G = G};
    stn_status status = complete_impulses_at(&asked, v_c, gamma, err);
    if (status < 0) {
        return status;
    }
    for (size_t i = 0; i < n; i++) { // H is symmetric: its columns are its rows
        double *column = H->values + i * n;
        unit[i] = 1.0;
        stn_problem_mass_times(p, unit, NULL, column);
        D[i] = 1.0 / sqrt(column[i]);
        stn_problem_contact_velocity(p, unit, false, v_c);
        unit[i] = 0.0;
        for (int32_t c = 0; c < p->constraint_count; c++) {
            const stn_constraint *constraint = &p->constraints[c];
            const double *g = G + 6 * (size_t)c, *x = v_c + constraint->row;
            double *out = gamma + constraint->row;
            if (stn_constraint_has_cone(constraint)) {
                out[0] = g[0] * x[0] + g[1] * x[1] + g[3] * x[2];
                out[1] = g[1] * x[0] + g[2] * x[1] + g[4] * x[2];
                out[2] = g[3] * x[0] + g[4] * x[1] + g[5] * x[2];
            } else {
                for (int32_t r = 0; r < constraint->rows; r++) {
                    out[r] = g[r] * x[r];
                }
            }
        }
        stn_problem_jacobian_transposed_add(p, 1.0, gamma, column);
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
