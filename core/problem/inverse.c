// SPDX-License-Identifier: Apache-2.0
// A^-1 tree by tree: A_t = L L^T where A_t is dense, L^T L where its zeros show branches, articulated inertias where it
// is articulated, 1/a_ii where it is diagonal, a sparse factor where it is nodal. A tree counts as singular when a
// pivot of its factor falls below `least` of the diagonal entry that it started from (round-off alone leaves about
// 1e-16 n); an indefinite A is told from a singular one by the factor of A + 1e-10 diag(A) + 1e-13 max|A|, which exists
// unless A is indefinite beyond round-off.
#include "problem/inverse.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/kernels.h"
#include "factor/nodal_factor.h"
#include "problem/body_rows.h"
#include "problem/jacobian.h"

#define SINGULAR_PIVOT 1e-13
enum { BRANCHED_DOFS = 16 }; // smaller trees lose nothing by a dense factor

typedef struct tree_factor {
    stn_matrix_form form; // of A; dense where an articulated one is singular
    int32_t n, node_size;
    int32_t singular; // the first dof at which the matrix is, -1: none; the factor is then that of A + proximal D
    int32_t nodal;    // index into the cache
    bool made;        // since inverse_begin
    bool left;        // nodal: not factored
    bool branched;    // dense: L^T L, kept by ltl
    /// Dense: L (n x n, lower), for n = 6 then 1/l_ii. Diagonal: 1/a_ii (n), then 1/sqrt(a_ii) (n). Nodal, of a scale:
    /// L of the diagonal blocks (node_size x node_size each).
    double *values;
    stn_ltl ltl;
    stn_articulated in_order_n; // articulated: its factor
    const double *response;     // and its response
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
    bool leave_nodal;        // nodal trees are left without a factor
    bool singular;           // some tree is
    bool scaled;             // some tree has a scale that is not its A: `scale` is in use
    stn_inverse *scale;      // the matrices that inverse masses are taken from, by the same functions; its own is NULL
    int32_t fault[2];        // tree and dof that the last factorisation failed at, -1
    const kept_half *halves; // of what inverse_masses_keeping saw; NULL: none
    int32_t half_count;      // its constraints
};

stn_status stn_inverse_create(stn_context *context, stn_inverse **out, stn_error *err) {
    stn_inverse *inverse = stn_allocate(context, 1, sizeof *inverse);
    stn_inverse *scale = stn_allocate(context, 1, sizeof *scale);
    *out = NULL;
    if (inverse == NULL || scale == NULL) {
        stn_release(context, inverse);
        stn_release(context, scale);
        return stn_fail(err, STN_ERR_MEMORY, "inverse of A: out of memory");
    }
    inverse->context = inverse->nodal.context = scale->context = scale->nodal.context = context;
    inverse->body = scale->body = body_kernels_choose();
    inverse->scale = scale;
    *out = inverse;
    return STN_OK;
}

void stn_inverse_set_factor(stn_inverse *inverse, const stn_factor_ops *ops, void *self) {
    nodal_cache_clear(&inverse->nodal);
    inverse->nodal.ops = ops;
    inverse->nodal.self = self;
}

void stn_inverse_destroy(stn_inverse *inverse) {
    if (inverse != NULL) {
        stn_inverse_destroy(inverse->scale);
        nodal_cache_clear(&inverse->nodal);
        stn_release(inverse->context, inverse->trees);
        stn_release(inverse->context, inverse->values);
        stn_release(inverse->context, inverse);
    }
}

/// Room for trees and values; what a factorisation reads it has written, so neither need be zeroed.
static stn_status reserve(stn_inverse *inverse, int32_t trees, size_t values, stn_error *err) {
    if (trees > inverse->tree_capacity) {
        size_t capacity = 2 * (size_t)trees;
        tree_factor *room = stn_context_allocate_raw(inverse->context, capacity * sizeof *room);
        if (room == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "inverse of A: out of memory for %d trees", trees);
        }
        stn_release(inverse->context, inverse->trees);
        inverse->trees = room;
        inverse->tree_capacity = (int32_t)capacity;
    }
    if (values > inverse->value_capacity) {
        size_t capacity = values + values / 2;
        double *room = stn_context_allocate_raw(inverse->context, capacity * sizeof *room);
        if (room == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "inverse of A: out of memory for %zu values", capacity);
        }
        stn_release(inverse->context, inverse->values);
        inverse->values = room;
        inverse->value_capacity = capacity;
    }
    return STN_OK;
}

/// Room for a factor, and behind it a diagonal where A is singular.
static size_t values_needed(const stn_matrix *a) {
    const size_t n = (size_t)a->n, least = 3 * n; // diagonal: 2 n and the diagonal; nodal: the blocks of a scale
    if (a->form == STN_MATRIX_DENSE && n == 6) {  // a pile of bodies is made of these
        return BODY_FACTOR + n;
    }
    const size_t branches = STN_LTL_VALUES(n) + n; // n doubles hold the 2 n integers of the shape
    const size_t bodies = STN_ARTICULATED_VALUES(n) + n;
    return a->form == STN_MATRIX_DENSE         ? branches
           : a->form == STN_MATRIX_ARTICULATED ? (branches > bodies ? branches : bodies) // dense where singular
           : a->form == STN_MATRIX_NODAL && a->node_size > 3 ? n * (size_t)a->node_size
                                                             : least;
}

// ---------------------------------------------------------------------------------------------------- the operator

static void describe(const stn_matrix *a, tree_factor *f) {
    f->form = a->form;
    f->n = a->n;
    f->node_size = a->node_size;
    f->nodal = f->singular = -1;
    f->branched = f->left = false;
}

static void factor_articulated(const stn_matrix *a, tree_factor *f) {
    f->in_order_n = (stn_articulated){a->n, a->bodies->parent, a->bodies->motion, f->values};
    f->singular = stn_articulated_factor(&f->in_order_n, a->values, articulated_extra(a), articulated_diagonal(a),
                                         SINGULAR_PIVOT);
    f->response = f->singular < 0 ? stn_articulated_response(&f->in_order_n) : NULL;
}

// Factors one matrix into f. STN_OK also where it is singular: f->singular.
static stn_status factor_matrix(stn_inverse *inverse, const stn_matrix *a, tree_factor *f, stn_error *err) {
    const int32_t n = a->n;
    const double *values = a->values;
    describe(a, f);
    if (a->form == STN_MATRIX_NODAL) {
        if (a->node_size < 1 || a->node_size > STN_MAX_NODE_SIZE || n != a->node_size * a->node_count) {
            return stn_fail(
                err, STN_ERR_ARGUMENT,
                "a nodal A of %d dofs has %d nodes of node_size = %d dofs: must be 1 to %d, and all of them", n,
                a->node_count, a->node_size, STN_MAX_NODE_SIZE);
        }
        if (inverse->leave_nodal) {
            f->left = true;
            return STN_OK;
        }
        stn_status status = nodal_cache_take(&inverse->nodal, a, &f->nodal, err);
        if (status == STN_OK) { // round-off grows with the elimination
            const double least = fmax(SINGULAR_PIVOT, 1e-14 * n);
            status = nodal_factor_numeric(&inverse->nodal.entries[f->nodal], a, NULL, least, &f->singular, err);
        }
        return status;
    }
    if (n == 0) { // a kinematic body has no velocities
        return STN_OK;
    }
    if (a->form == STN_MATRIX_ZERO) {
        f->singular = 0;
    } else if (a->form == STN_MATRIX_ARTICULATED) {
        factor_articulated(a, f);
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
        f->branched = n >= BRANCHED_DOFS && (n <= STN_LTL_WHOLE || stn_ltl_analyse(&f->ltl, values, n));
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

/// Factors A + diag(shift) into f, plainly; `dof`: -1 or that at which it is not positive definite.
static stn_status factor_shifted(stn_inverse *inverse, const stn_matrix *a, const double *shift, tree_factor *f,
                                 int32_t *dof, stn_error *err) {
    const size_t n = (size_t)a->n;
    f->branched = false;
    *dof = -1;
    if (a->form == STN_MATRIX_NODAL) {
        return nodal_factor_numeric(&inverse->nodal.entries[f->nodal], a, shift, 0.0, dof, err);
    }
    if (a->form == STN_MATRIX_DIAGONAL) {
        for (size_t i = 0; i < n; i++) {
            f->values[i] = 1.0 / (a->values[i] + shift[i]);
            if (!(f->values[i] > 0.0)) {
                *dof = (int32_t)i;
                return STN_OK;
            }
        }
        return STN_OK;
    }
    double body[36], *shifted = n == 6 ? body : f->values;
    f->form = STN_MATRIX_DENSE;
    stn_matrix_expand(a, shifted);
    for (size_t i = 0; i < n; i++) {
        shifted[i * (n + 1)] += shift[i];
    }
    *dof = n == 6 ? inverse->body->factor(shifted, 0.0, f->values) : stn_cholesky(a->n, shifted, a->n);
    return STN_OK;
}

/// D of A: its diagonal; where that is not > 0 the largest of the tree stands in, or 1.
static void stand_in(const stn_matrix *a, double *D) {
    double largest = 0.0;
    memset(D, 0, (size_t)a->n * sizeof *D);
    stn_matrix_diagonal(a, D);
    for (int32_t i = 0; i < a->n; i++) {
        largest = fmax(largest, D[i]);
    }
    for (int32_t i = 0; i < a->n; i++) {
        D[i] = D[i] > 0.0 ? D[i] : (largest > 0.0 ? largest : 1.0);
    }
}

/// A has no inverse: is it singular, indefinite or no matrix? A singular one leaves the factor of A + proximal D.
static stn_status judge_singular(stn_inverse *inverse, int32_t tree, stn_error *err) {
    const double proximal = 1e-6;
    const stn_problem_tree *from = &inverse->problem->trees[tree];
    const stn_matrix *a = &from->A;
    tree_factor *f = &inverse->trees[tree];
    double *shift = f->values + values_needed(a) - a->n, largest = 0.0;
    const int64_t count = stn_matrix_value_count(a);
    for (int64_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs(a->values[i]));
        if (!isfinite(a->values[i])) {
            return stn_fail(err, STN_ERR_NUMERIC, "A of tree %d: value %lld is %g, it must be finite", tree,
                            (long long)i, a->values[i]);
        }
    }
    if (a->form == STN_MATRIX_ARTICULATED) { // whose values are not those of the matrix
        stn_matrix_diagonal(a, shift);
        largest = 0.0;
        for (int32_t i = 0; i < a->n; i++) {
            largest = fmax(largest, fabs(shift[i]));
        }
    }
    if (largest > 0.0) {
        stn_matrix_diagonal(a, shift);
        for (int32_t i = 0; i < a->n; i++) {
            shift[i] = 1e-10 * fabs(shift[i]) + SINGULAR_PIVOT * largest;
        }
        int32_t dof;
        stn_status status = factor_shifted(inverse, a, shift, f, &dof, err);
        if (status != STN_OK) {
            return status;
        }
        if (dof >= 0) {
            inverse->fault[0] = tree;
            inverse->fault[1] = dof;
            return stn_fail(err, STN_ERR_NUMERIC,
                            "A of tree %d (source %d) is indefinite: its elimination fails at dof %d; look for a "
                            "negative mass, stiffness, damping or gain",
                            tree, from->source, dof);
        }
    }
    if (a->form != STN_MATRIX_ZERO) {
        stand_in(a, shift);
        for (int32_t i = 0; i < a->n; i++) {
            shift[i] *= proximal;
        }
        int32_t dof;
        return factor_shifted(inverse, a, shift, f, &dof, err);
    }
    return STN_OK;
}

stn_status inverse_begin(stn_inverse *inverse, const stn_problem *problem, stn_error *err) {
    inverse->problem = problem;
    inverse->fault[0] = inverse->fault[1] = -1;
    inverse->singular = inverse->scaled = false;
    inverse_keep_halves(inverse, NULL, 0);
    nodal_cache_begin(&inverse->nodal);
    size_t needed = 0;
    for (int32_t t = 0; t < problem->tree_count; t++) {
        needed += values_needed(&problem->trees[t].A);
    }
    stn_status status = reserve(inverse, problem->tree_count, needed, err);
    double *values = inverse->values;
    for (int32_t t = 0; status == STN_OK && t < problem->tree_count; t++) {
        inverse->trees[t].values = values;
        inverse->trees[t].made = false;
        values += values_needed(&problem->trees[t].A);
    }
    return status;
}

static stn_status make_factor(stn_inverse *inverse, int32_t t, stn_error *err) {
    const stn_matrix *a = &inverse->problem->trees[t].A;
    tree_factor *f = &inverse->trees[t];
    stn_status status = factor_matrix(inverse, a, f, err);
    inverse->scaled |= a->form == STN_MATRIX_NODAL || f->singular >= 0;
    if (status == STN_OK && f->singular >= 0) {
        inverse->singular = true;
        status = judge_singular(inverse, t, err);
    }
    f->made = status == STN_OK;
    return status;
}

const double *inverse_response(const stn_inverse *inverse, int32_t tree) {
    const tree_factor *f = &inverse->trees[tree];
    return f->form == STN_MATRIX_ARTICULATED ? f->response : NULL;
}

double inverse_mobility(const stn_inverse *inverse, int32_t tree, int32_t j) {
    return articulated_mobility(&inverse->trees[tree].in_order_n, j);
}

bool inverse_solve(stn_inverse *inverse, int32_t tree, double *x) {
    const tree_factor *f = &inverse->trees[tree];
    if ((!f->made && make_factor(inverse, tree, NULL) != STN_OK) || f->singular >= 0) {
        return false;
    }
    stn_inverse_apply(inverse, tree, 1, x);
    return true;
}

stn_status inverse_finish(stn_inverse *inverse, stn_error *err) {
    stn_status status = STN_OK;
    for (int32_t t = 0; status == STN_OK && t < inverse->problem->tree_count; t++) {
        status = inverse->trees[t].made ? STN_OK : make_factor(inverse, t, err);
    }
    if (status == STN_OK && inverse->scaled) {
        status = stn_inverse_set_scale(inverse, NULL, err);
    }
    if (status != STN_OK) {
        inverse->problem = NULL;
    }
    return status;
}

stn_status stn_inverse_factor(stn_inverse *inverse, const stn_problem *problem, stn_error *err) {
    stn_status status = inverse_begin(inverse, problem, err);
    if (status != STN_OK) {
        inverse->problem = NULL;
        return status;
    }
    return inverse_finish(inverse, err);
}

void inverse_leave_nodal(stn_inverse *inverse, bool leave) {
    inverse->leave_nodal = leave;
}

bool inverse_left(const stn_inverse *inverse, int32_t tree) {
    return inverse->trees[tree].left;
}

int32_t stn_inverse_singular(const stn_inverse *inverse, int32_t tree) {
    return inverse->trees[tree].singular;
}

bool inverse_has_singular(const stn_inverse *inverse) {
    return inverse->singular;
}

stn_status stn_inverse_require(const stn_inverse *inverse, stn_error *err) {
    for (int32_t t = 0; t < inverse->problem->tree_count && inverse->singular; t++) {
        if (inverse->trees[t].singular >= 0) {
            return stn_fail(err, STN_ERR_NUMERIC,
                            "A of tree %d (source %d) is singular at dof %d and has no inverse: give the dof mass, "
                            "stiffness or damping",
                            t, inverse->problem->trees[t].source, inverse->trees[t].singular);
        }
    }
    return STN_OK;
}

bool stn_inverse_fault(const stn_inverse *inverse, int32_t *tree, int32_t *dof) {
    *tree = inverse->fault[0];
    *dof = inverse->fault[1];
    return *tree >= 0;
}

/// |D^-1/2 x|, and where D^-1/2 x is largest.
static double scaled_norm(int32_t n, const double *D, const double *x, int32_t *where) {
    double sum = 0.0, largest = -1.0;
    for (int32_t i = 0; i < n; i++) {
        double square = x[i] * x[i] / D[i];
        sum += square;
        *where = square > largest ? i : *where;
        largest = fmax(largest, square);
    }
    return sqrt(sum);
}

stn_status inverse_settle(const stn_inverse *inverse, int32_t tree, const double *f, double *v, stn_arena *scratch,
                          int32_t *unheld) {
    enum { MOST = 40 };
    const double enough = 1e-10; // of |D^-1/2 f|
    const stn_problem_tree *from = &inverse->problem->trees[tree];
    const int32_t n = from->A.n;
    double *D = STN_ARENA(scratch, 2 * (size_t)n + 1, double), *r = D + n;
    if (D == NULL) {
        return STN_ERR_MEMORY;
    }
    stand_in(&from->A, D);
    memset(v, 0, (size_t)n * sizeof *v);
    memcpy(r, f, (size_t)n * sizeof *r);
    const double size = scaled_norm(n, D, f, unheld);
    for (int32_t i = 0; i < MOST && scaled_norm(n, D, r, unheld) > enough * size; i++) {
        if (from->A.form == STN_MATRIX_ZERO) {
            break;
        }
        stn_inverse_apply(inverse, tree, 1, r);
        for (int32_t d = 0; d < n; d++) {
            v[d] += r[d];
        }
        memcpy(r, f, (size_t)n * sizeof *r);
        stn_matrix_mul_add(&from->A, -1.0, v, r);
    }
    return scaled_norm(n, D, r, unheld) <= enough * size ? STN_OK : STN_ERR_NUMERIC;
}

// ------------------------------------------------------------------------------------------------------- the scale

/// L of the blocks on the diagonal of a nodal matrix; -1 or the dof at which one is not positive definite.
static int32_t factor_nodes(const stn_matrix *a, double *L) {
    const int32_t m = a->node_size;
    for (int32_t i = 0; i < a->node_count; i++, L += m * m) {
        const int32_t e = stn_nodal_entry(a->row_start, a->column, i, i);
        memcpy(L, a->values + (size_t)(m * m) * (size_t)e, (size_t)(m * m) * sizeof *L);
        int32_t pivot = stn_cholesky(m, L, m);
        if (pivot >= 0) {
            return m * i + pivot;
        }
    }
    return -1;
}

/// What a factor needs; nothing where the operator's own serves.
static size_t scale_needed(const stn_inverse *inverse, int32_t t, const stn_matrix *given) {
    const stn_matrix *a = given != NULL ? given : &inverse->problem->trees[t].A;
    bool own = given != NULL || a->form == STN_MATRIX_NODAL || inverse->trees[t].singular >= 0;
    return own ? values_needed(a) : 0;
}

stn_status stn_inverse_set_scale(stn_inverse *inverse, const stn_matrix *const *from, stn_error *err) {
    const stn_problem *problem = inverse->problem;
    stn_inverse *scale = inverse->scale;
    size_t needed = 0;
    for (int32_t t = 0; t < problem->tree_count; t++) {
        needed += scale_needed(inverse, t, from != NULL ? from[t] : NULL);
    }
    stn_status status = reserve(scale, problem->tree_count, needed, err);
    double *values = scale->values;
    scale->problem = problem;
    inverse->scaled = true;
    for (int32_t t = 0; status == STN_OK && t < problem->tree_count; t++) {
        const stn_matrix *given = from != NULL ? from[t] : NULL, *a = given != NULL ? given : &problem->trees[t].A;
        const bool stands = given == NULL && inverse->trees[t].singular >= 0;
        tree_factor *f = &scale->trees[t];
        *f = inverse->trees[t];
        if (given == NULL && a->form != STN_MATRIX_NODAL && !stands) {
            continue;
        }
        f->values = values;
        values += scale_needed(inverse, t, given);
        f->form = stands ? STN_MATRIX_DIAGONAL : a->form;
        f->node_size = a->node_size;
        f->branched = false;
        f->singular = -1;
        if (stands) {
            stand_in(a, f->values);
            for (int32_t i = 0; i < a->n; i++) {
                f->values[a->n + i] = 1.0 / sqrt(f->values[i]);
                f->values[i] = 1.0 / f->values[i];
            }
        } else if (a->form == STN_MATRIX_NODAL) {
            f->singular = factor_nodes(a, f->values);
        } else {
            status = factor_matrix(scale, a, f, err);
        }
        if (status == STN_OK && f->singular >= 0) {
            status = stn_fail(err, STN_ERR_NUMERIC,
                              "scale of tree %d (source %d): the matrix that inverse masses are taken from is not "
                              "positive definite at dof %d",
                              t, problem->trees[t].source, f->singular);
        }
    }
    return status;
}

const stn_inverse *inverse_scale(const stn_inverse *inverse) {
    return inverse->scaled ? inverse->scale : inverse;
}

bool inverse_shares_scale(const stn_inverse *inverse, int32_t tree) {
    return !inverse->scaled || inverse->trees[tree].values == inverse->scale->trees[tree].values;
}

void inverse_nodes_add(const stn_inverse *scale, int32_t rows, const stn_jacobian *J, double *W) {
    const tree_factor *f = &scale->trees[J->tree];
    const int32_t m = J->node_size;
    for (int32_t b = 0; b < J->node_count; b++) {
        double X[STN_MAX_NODE_SIZE * STN_MAX_ROWS] = {0.0};
        bool met = false; // a node that is named twice adds
        for (int32_t c = 0; c < J->node_count && !met; c++) {
            met = c < b && J->node[c] == J->node[b];
            for (int32_t k = 0; k < m * rows && J->node[c] == J->node[b]; k++) {
                X[k] += J->values[m * rows * c + k];
            }
        }
        if (met) {
            continue;
        }
        stn_cholesky_forward(m, f->values + (size_t)(m * m) * (size_t)J->node[b], m, rows, X, m);
        inverse_add_square(rows, m, X, W);
    }
}

// ---------------------------------------------------------------------------------------------------- what they do

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
        } else if (f->n == 6) {
            inverse->body->solve(f->values, columns, x);
        } else {
            stn_cholesky_forward(f->n, f->values, f->n, columns, x, f->n);
            stn_cholesky_backward(f->n, f->values, f->n, columns, x, f->n);
        }
        break;
    case STN_MATRIX_ARTICULATED:
        stn_articulated_forward(&f->in_order_n, columns, x, f->n);
        stn_articulated_backward(&f->in_order_n, columns, x, f->n);
        break;
    case STN_MATRIX_NODAL:
        if (inverse->scale != NULL) {
            nodal_factor_solve(&inverse->nodal.entries[f->nodal], columns, x);
            break;
        }
        for (int32_t i = 0, m = f->node_size; i < f->n; i += m) { // of a scale
            const double *L = f->values + (size_t)m * (size_t)i;
            stn_cholesky_forward(m, L, m, columns, x + i, f->n);
            stn_cholesky_backward(m, L, m, columns, x + i, f->n);
        }
        break;
    }
}

bool inverse_has_half(const stn_inverse *inverse, int32_t tree) {
    return inverse->trees[tree].form != STN_MATRIX_NODAL;
}

bool inverse_branched(const stn_inverse *inverse, int32_t tree) {
    const tree_factor *f = &inverse->trees[tree];
    return f->form == STN_MATRIX_ARTICULATED || (f->form == STN_MATRIX_DENSE && f->branched);
}

void inverse_branched_half(const stn_inverse *inverse, int32_t tree, const stn_jacobian *J, double *X) {
    const tree_factor *f = &inverse->trees[tree];
    const int32_t n = f->n;
    int32_t *dofs = (int32_t *)(void *)(X + 4 * (size_t)n);
    if (f->form == STN_MATRIX_DENSE) {
        dofs[n] = ltl_half(&f->ltl, J->values, X, dofs);
    } else if (J->wrench != NULL) {
        dofs[n] = articulated_half(&f->in_order_n, J->wrench, J->tip, X, dofs);
    } else {
        dofs[n] = articulated_half_of_rows(&f->in_order_n, J->values, X, dofs);
    }
}

bool inverse_has_squares(const stn_inverse *inverse, int32_t tree) {
    const tree_factor *f = &inverse->trees[tree];
    return f->form == STN_MATRIX_DENSE && f->branched && f->n <= STN_LTL_WHOLE;
}

void inverse_four_squares(const stn_inverse *inverse, int32_t tree, const double *const J[4], double *scratch,
                          double *W) {
    ltl_four_squares(&inverse->trees[tree].ltl, J, scratch, W);
}

void inverse_keep_halves(stn_inverse *inverse, const kept_half *halves, int32_t constraint_count) {
    inverse->halves = halves;
    inverse->half_count = constraint_count;
}

const double *inverse_kept_half(const stn_inverse *inverse, int32_t constraint, int32_t side, const stn_jacobian *J) {
    if (constraint >= inverse->half_count || side >= 2) {
        return NULL;
    }
    const kept_half *half = &inverse->halves[2 * constraint + side];
    return half->J == kept_half_key(J) ? half->X : NULL;
}

const body_kernels *inverse_body(const stn_inverse *inverse, int32_t tree, const double **factor) {
    const tree_factor *f = &inverse->trees[tree];
    *factor = f->values;
    return f->form == STN_MATRIX_DENSE && f->n == 6 ? inverse->body : NULL;
}

void inverse_half(const stn_inverse *inverse, int32_t tree, const stn_jacobian *J, int32_t rows, double *X) {
    const tree_factor *f = &inverse->trees[tree];
    stn_jacobian_expand(inverse->problem, J, rows, X);
    if (f->form == STN_MATRIX_ARTICULATED) {
        stn_articulated_forward(&f->in_order_n, rows, X, f->n);
    } else if (f->form == STN_MATRIX_DENSE && f->branched) {
        stn_ltl_forward(&f->ltl, rows, X, f->n);
    } else if (f->form == STN_MATRIX_DENSE) {
        stn_cholesky_forward(f->n, f->values, f->n, rows, X, f->n);
    } else if (f->form == STN_MATRIX_DIAGONAL) {
        for (int32_t r = 0; r < rows; r++) {
            for (int32_t i = 0; i < f->n; i++) {
                X[(size_t)r * (size_t)f->n + (size_t)i] *= f->values[f->n + i];
            }
        }
    } else if (f->form == STN_MATRIX_NODAL) { // of a scale
        const int32_t m = f->node_size;
        const double *L = f->values;
        for (int32_t i = 0; i < f->n; i += m, L += m * m) {
            stn_cholesky_forward(m, L, m, rows, X + i, f->n);
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
        c = body_rows_transposed_add(problem, c, 1.0, gamma, v);
        if (c < problem->constraint_count) {
            const stn_constraint *constraint = &problem->constraints[c];
            stn_constraint_transposed_add(problem, constraint, 1.0, gamma + constraint->row, v);
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
    *view = *inverse;
    view->singular = false;
    for (int32_t k = 0; k < part->tree_count; k++) {
        trees[k] = inverse->trees[tree[k]];
        view->singular |= trees[k].singular >= 0;
    }
    view->problem = part;
    view->trees = trees;
    if (inverse->scaled) {
        view->scale = (stn_inverse *)(uintptr_t)inverse_view(inverse->scale, part, tree, constraint, arena);
        if (view->scale == NULL) {
            return NULL;
        }
    }
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
