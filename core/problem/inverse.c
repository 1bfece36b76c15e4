// SPDX-License-Identifier: Apache-2.0
// A^-1 tree by tree: A_t = L L^T where A_t is dense, L^T L where its zeros show branches, 1/a_ii where it is diagonal,
// a sparse factor where it is nodal. A tree counts as singular when a pivot of its dense factor falls below 1e-13 of
// the diagonal entry that it started from (round-off alone leaves about 1e-16 n), or is not > 0 in the other forms.
#include "problem/inverse.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/kernels.h"
#include "factor/nodal_factor.h"
#include "problem/jacobian.h"

#define SINGULAR_PIVOT 1e-13
enum { BRANCHED_DOFS = 16 }; // smaller trees lose nothing by a dense factor

typedef struct tree_factor {
    stn_matrix_form form;
    bool regular;
    int32_t n;
    int32_t singular; // the first dof at which the matrix is, -1: none
    int32_t nodal;    // index into the cache
    bool branched;    // dense: L^T L, kept by ltl
    /// Dense: L (n x n, lower), for n = 6 then 1/l_ii. Diagonal: 1/a_ii (n), then 1/sqrt(a_ii) (n).
    double *values;
    stn_ltl ltl;
} tree_factor;

struct stn_inverse {
    stn_context *context;
    const stn_problem *problem;
    tree_factor *trees;
    int32_t tree_capacity;
    double *values;
    size_t value_capacity;
    nodal_cache nodal;
    const body_kernels *body;
    const kept_half *halves; // of what inverse_masses_keeping saw; NULL: none
    int32_t half_count;      // its constraints
};

stn_status stn_inverse_create(stn_context *context, stn_inverse **out, stn_error *err) {
    *out = stn_allocate(context, 1, sizeof **out);
    if (*out == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "inverse of A: out of memory");
    }
    (*out)->context = context;
    (*out)->nodal.context = context;
    (*out)->body = body_kernels_choose();
    return STN_OK;
}

void stn_inverse_destroy(stn_inverse *inverse) {
    if (inverse != NULL) {
        nodal_cache_clear(&inverse->nodal);
        stn_release(inverse->context, inverse->trees);
        stn_release(inverse->context, inverse->values);
        stn_release(inverse->context, inverse);
    }
}

// Room for a factor of either the tree's matrix or its replacement.
static size_t values_needed(const stn_matrix *a, const stn_matrix *fallback) {
    size_t n = (size_t)a->n;
    bool dense = a->form == STN_MATRIX_DENSE || (fallback != NULL && fallback->form == STN_MATRIX_DENSE);
    return dense ? STN_LTL_VALUES(n) + n : 2 * n; // n doubles hold the 2 n integers of the shape
}

// Factors one matrix into f. STN_OK also where it is singular: f->singular.
static stn_status factor_matrix(stn_inverse *inverse, const stn_matrix *a, tree_factor *f, stn_error *err) {
    const int32_t n = a->n;
    const double *values = a->values;
    f->form = a->form;
    f->n = n;
    f->nodal = f->singular = -1;
    f->branched = false;
    if (a->form == STN_MATRIX_NODAL) {
        stn_status status = nodal_cache_take(&inverse->nodal, a, &f->nodal, err);
        if (status == STN_OK) {
            status = nodal_factor_numeric(&inverse->nodal.entries[f->nodal], a, err);
            f->singular = status == STN_ERR_NUMERIC ? 0 : -1;
        }
        return status == STN_ERR_NUMERIC ? STN_OK : status;
    }
    if (n == 0) { // a kinematic body has no velocities
        return STN_OK;
    }
    if (a->form == STN_MATRIX_ZERO) {
        f->singular = 0;
    } else if (a->form == STN_MATRIX_DIAGONAL) {
        for (int32_t i = 0; i < n && f->singular < 0; i++) {
            f->singular = values[i] > 0.0 && isfinite(values[i]) ? -1 : i;
            f->values[i] = 1.0 / values[i];
            f->values[n + i] = 1.0 / sqrt(values[i]);
        }
    } else if (n == 6) {
        f->singular = inverse->body->factor(values, SINGULAR_PIVOT, f->values);
    } else {
        f->ltl = (stn_ltl){n, f->values, (int32_t *)(void *)(f->values + STN_LTL_VALUES(n))};
        f->branched = n >= BRANCHED_DOFS && stn_ltl_analyse(&f->ltl, values, n);
        if (f->branched) {
            f->singular = stn_ltl_factor(&f->ltl, values, n, SINGULAR_PIVOT);
            return STN_OK;
        }
        memcpy(f->values, values, (size_t)n * (size_t)n * sizeof *values);
        f->singular = stn_cholesky(n, f->values, n);
        int32_t end = f->singular < 0 ? n : f->singular;
        for (int32_t i = 0; i < end; i++) {
            size_t ii = (size_t)i * (size_t)(n + 1);
            if (!(f->values[ii] * f->values[ii] > SINGULAR_PIVOT * values[ii])) {
                f->singular = i;
                break;
            }
        }
    }
    return STN_OK;
}

// A matrix that holds a NaN is an error of its own, never "singular": the fallback must not hide it.
static stn_status check_finite(const stn_matrix *a, int32_t tree, const char *what, stn_error *err) {
    int64_t count = stn_matrix_value_count(a);
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(a->values[i])) {
            return stn_fail(err, STN_ERR_NUMERIC, "%s of tree %d: value %lld is %g, it must be finite", what, tree,
                            (long long)i, a->values[i]);
        }
    }
    return STN_OK;
}

stn_status stn_inverse_factor(stn_inverse *inverse, const stn_problem *problem, const stn_matrix *fallback,
                              stn_error *err) {
    inverse->problem = NULL;
    inverse_keep_halves(inverse, NULL, 0);
    nodal_cache_begin(&inverse->nodal);
    // what a factorisation reads it has written: the room need not be zeroed
    size_t needed = 0;
    for (int32_t t = 0; t < problem->tree_count; t++) {
        needed += values_needed(&problem->trees[t].A, fallback != NULL ? &fallback[t] : NULL);
    }
    if (problem->tree_count > inverse->tree_capacity) {
        size_t capacity = 2 * (size_t)problem->tree_count;
        tree_factor *trees = stn_context_allocate_raw(inverse->context, capacity * sizeof *trees);
        if (trees == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "inverse of A: out of memory for %d trees", problem->tree_count);
        }
        stn_release(inverse->context, inverse->trees);
        inverse->trees = trees;
        inverse->tree_capacity = (int32_t)capacity;
    }
    if (needed > inverse->value_capacity) {
        size_t capacity = needed + needed / 2;
        double *room = stn_context_allocate_raw(inverse->context, capacity * sizeof *room);
        if (room == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "inverse of A: out of memory for %zu values", capacity);
        }
        stn_release(inverse->context, inverse->values);
        inverse->values = room;
        inverse->value_capacity = capacity;
    }
    stn_status status = STN_OK;
    double *values = inverse->values;
    for (int32_t t = 0; status == STN_OK && t < problem->tree_count; t++) {
        const stn_problem_tree *tree = &problem->trees[t];
        const stn_matrix *other = fallback != NULL ? &fallback[t] : NULL;
        tree_factor *f = &inverse->trees[t];
        f->values = values;
        values += values_needed(&tree->A, other);
        status = factor_matrix(inverse, &tree->A, f, err);
        const int32_t first = f->singular;
        f->regular = first < 0;
        if (status != STN_OK || f->regular) {
            continue;
        }
        status = check_finite(&tree->A, t, "A", err);
        if (status == STN_OK && other == NULL) {
            status = stn_fail(err, STN_ERR_NUMERIC,
                              "A of tree %d (source %d) is singular at dof %d: give the dof mass, stiffness or damping",
                              t, tree->source, first);
        }
        if (status == STN_OK) {
            status = factor_matrix(inverse, other, f, err);
        }
        if (status == STN_OK && f->singular >= 0) {
            status = check_finite(other, t, "mass matrix", err);
            if (status == STN_OK) {
                status = stn_fail(err, STN_ERR_NUMERIC,
                                  "A of tree %d (source %d) is singular at dof %d, and so is its mass matrix at dof %d",
                                  t, tree->source, first, f->singular);
            }
        }
    }
    if (status == STN_OK) {
        inverse->problem = problem;
    }
    return status;
}

bool stn_inverse_regular(const stn_inverse *inverse, int32_t tree) {
    return inverse->trees[tree].regular;
}

void stn_inverse_apply(const stn_inverse *inverse, int32_t tree, int32_t columns, double *x) {
    const tree_factor *f = &inverse->trees[tree];
    switch (f->form) {
    case STN_MATRIX_ZERO:
        break;
    case STN_MATRIX_DIAGONAL:
        for (int32_t c = 0; c < columns; c++) {
            double *y = x + (size_t)c * (size_t)f->n;
            for (int32_t i = 0; i < f->n; i++) {
                y[i] *= f->values[i];
            }
        }
        break;
    case STN_MATRIX_DENSE:
        if (f->branched) {
            stn_ltl_forward(&f->ltl, columns, x, f->n);
            stn_ltl_backward(&f->ltl, columns, x, f->n);
        } else {
            stn_cholesky_forward(f->n, f->values, f->n, columns, x, f->n);
            stn_cholesky_backward(f->n, f->values, f->n, columns, x, f->n);
        }
        break;
    case STN_MATRIX_NODAL:
        nodal_factor_solve(&inverse->nodal.entries[f->nodal], columns, x);
        break;
    }
}

bool inverse_has_half(const stn_inverse *inverse, int32_t tree) {
    return inverse->trees[tree].form != STN_MATRIX_NODAL;
}

const stn_ltl *inverse_branched(const stn_inverse *inverse, int32_t tree) {
    const tree_factor *f = &inverse->trees[tree];
    return f->form == STN_MATRIX_DENSE && f->branched ? &f->ltl : NULL;
}

void inverse_branched_half(const stn_ltl *branched, const stn_jacobian *J, double *X) {
    int32_t *dofs = (int32_t *)(void *)(X + 4 * (size_t)branched->n);
    dofs[branched->n] = ltl_half(branched, J->values, X, dofs);
}

void inverse_keep_halves(stn_inverse *inverse, const kept_half *halves, int32_t constraint_count) {
    inverse->halves = halves;
    inverse->half_count = constraint_count;
}

const double *inverse_kept_half(const stn_inverse *inverse, int32_t constraint, int32_t side, const stn_jacobian *J) {
    if (constraint >= inverse->half_count) {
        return NULL;
    }
    const kept_half *half = &inverse->halves[2 * constraint + side];
    return half->J == J->values ? half->X : NULL;
}

const body_kernels *inverse_body(const stn_inverse *inverse, int32_t tree, const double **factor) {
    const tree_factor *f = &inverse->trees[tree];
    *factor = f->values;
    return f->form == STN_MATRIX_DENSE && f->n == 6 ? inverse->body : NULL;
}

void inverse_half(const stn_inverse *inverse, int32_t tree, const stn_jacobian *J, int32_t rows, double *X) {
    const tree_factor *f = &inverse->trees[tree];
    jacobian_expand(J, rows, f->n, X);
    if (f->form == STN_MATRIX_DENSE && f->branched) {
        stn_ltl_forward(&f->ltl, rows, X, f->n);
    } else if (f->form == STN_MATRIX_DENSE) {
        stn_cholesky_forward(f->n, f->values, f->n, rows, X, f->n);
    } else if (f->form == STN_MATRIX_DIAGONAL) {
        for (int32_t r = 0; r < rows; r++) {
            for (int32_t i = 0; i < f->n; i++) {
                X[(size_t)r * (size_t)f->n + (size_t)i] *= f->values[f->n + i];
            }
        }
    }
}

void stn_inverse_velocity(const stn_inverse *inverse, const stn_problem *problem, const double *gamma, double *v) {
    size_t size = (size_t)problem->nv * sizeof *v;
    if (problem->free_impulse != NULL) {
        memcpy(v, problem->free_impulse, size);
    } else {
        memset(v, 0, size);
    }
    for (int32_t c = 0; c < problem->constraint_count; c++) {
        const stn_constraint *constraint = &problem->constraints[c];
        for (int32_t k = 0; k < 2; k++) {
            const stn_jacobian *J = &constraint->J[k];
            if (J->tree >= 0) {
                const stn_problem_tree *tree = &problem->trees[J->tree];
                jacobian_transposed_add(J, constraint->rows, tree->A.n, 1.0, gamma + constraint->row,
                                        v + tree->dof_start);
            }
        }
    }
    for (int32_t t = 0; t < problem->tree_count; t++) {
        double *x = v + problem->trees[t].dof_start;
        stn_inverse_apply(inverse, t, 1, x);
        for (int32_t i = 0; i < problem->trees[t].A.n; i++) {
            x[i] += problem->v_star[problem->trees[t].dof_start + i];
        }
    }
}

const stn_inverse *inverse_view(const stn_inverse *inverse, const stn_problem *part, const int32_t *tree,
                                const int32_t *constraint, stn_arena *arena) {
    stn_inverse *view = STN_ARENA(arena, 1, stn_inverse);
    tree_factor *trees = STN_ARENA(arena, part->tree_count, tree_factor);
    if (view == NULL || trees == NULL) {
        return NULL;
    }
    for (int32_t k = 0; k < part->tree_count; k++) {
        trees[k] = inverse->trees[tree[k]];
    }
    *view = *inverse;
    view->problem = part;
    view->trees = trees;
    inverse_keep_halves(view, NULL, 0);
    if (inverse->halves == NULL) {
        return view;
    }
    kept_half *halves = STN_ARENA(arena, 2 * (size_t)part->constraint_count, kept_half);
    if (halves == NULL) {
        return NULL;
    }
    for (int32_t k = 0; k < part->constraint_count; k++) {
        memcpy(halves + 2 * (size_t)k, inverse->halves + 2 * (size_t)constraint[k], 2 * sizeof *halves);
    }
    inverse_keep_halves(view, halves, part->constraint_count);
    return view;
}
