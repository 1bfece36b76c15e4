// SPDX-License-Identifier: Apache-2.0
// The invariants of a contact problem, one after the other; the first offender is named.
#include <stdio.h>
#include <string.h>

#include <stiction/factor.h>
#include <stiction/problem.h>

#include "factor/nodal_factor.h"
#include "problem/jacobian.h"

// ------------------------------------------------------------------------------------------------------ matrices
// Is a matrix finite, symmetric and positive semidefinite? All in the scale of its diagonal,
//
//     |a_ij - a_ji| <= 1e-9 sqrt(a_ii a_jj),   |a_ij|^2 <= a_ii a_jj,   D^-1/2 A D^-1/2 + 1e-10 I > 0,  D = diag(A),
//
// so that units and masses of any size are judged alike.

static const double symmetry_tolerance = 1e-9;
static const double definite_shift = 1e-10; // eigenvalues of the scaled matrix below minus this are no round-off

/// Entries (i, j) and (j, i) of a matrix, and those of its diagonal.
typedef struct entry_pair {
    int32_t i, j;
    double a_ij, a_ji, a_ii, a_jj;
} entry_pair;

static stn_status check_pair(const char *label, const entry_pair *e, stn_error *err) {
    if (!isfinite(e->a_ij) || !isfinite(e->a_ji)) {
        bool first = !isfinite(e->a_ij);
        return stn_fail(err, STN_ERR_NUMERIC, "%s: entry (%d, %d) is %g, must be finite", label, first ? e->i : e->j,
                        first ? e->j : e->i, first ? e->a_ij : e->a_ji);
    }
    double scale = sqrt(e->a_ii) * sqrt(e->a_jj);
    if (!(fabs(e->a_ij - e->a_ji) <= symmetry_tolerance * scale)) {
        return stn_fail(
            err, STN_ERR_ARGUMENT,
            "%s is not symmetric: entry (%d, %d) = %.17g but (%d, %d) = %.17g; both triangles must be stored", label,
            e->i, e->j, e->a_ij, e->j, e->i, e->a_ji);
    }
    if (!(fabs(e->a_ij) <= (1.0 + symmetry_tolerance) * scale)) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "%s is not positive semidefinite: entry (%d, %d) = %g exceeds sqrt(%g * %g) of its diagonal",
                        label, e->i, e->j, e->a_ij, e->a_ii, e->a_jj);
    }
    return STN_OK;
}

static stn_status check_diagonal_entry(const char *label, int32_t i, double a, stn_error *err) {
    if (!isfinite(a)) {
        return stn_fail(err, STN_ERR_NUMERIC, "%s: entry (%d, %d) is %g, must be finite", label, i, i, a);
    }
    if (!(a >= 0.0)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s is not positive semidefinite: diagonal entry %d is %g", label, i, a);
    }
    return STN_OK;
}

static double inverse_root(double a) {
    return a > 0.0 ? 1.0 / sqrt(a) : 0.0;
}

static stn_status check_dense(stn_context *context, const char *label, const stn_matrix *A, stn_error *err) {
    const size_t n = (size_t)A->n;
    const double *a = A->values;
    for (size_t i = 0; i < n; i++) {
        stn_status status = check_diagonal_entry(label, (int32_t)i, a[i * n + i], err);
        for (size_t j = 0; j < i && status == STN_OK; j++) {
            const entry_pair e = {(int32_t)i, (int32_t)j, a[i * n + j], a[j * n + i], a[i * n + i], a[j * n + j]};
            status = check_pair(label, &e, err);
        }
        if (status != STN_OK) {
            return status;
        }
    }
    double *scaled = stn_allocate(context, n * n, sizeof *scaled);
    if (scaled == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory for %d x %d numbers", label, A->n, A->n);
    }
    for (size_t i = 0; i < n; i++) {
        double d = inverse_root(a[i * n + i]);
        for (size_t j = 0; j < i; j++) {
            scaled[i * n + j] = d * a[i * n + j] * inverse_root(a[j * n + j]);
        }
        scaled[i * n + i] = 1.0 + definite_shift; // a zero row passed the test of pairs, so it is zero throughout
    }
    int32_t pivot = stn_cholesky(A->n, scaled, A->n);
    stn_release(context, scaled);
    if (pivot >= 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s is not positive semidefinite: elimination fails at dof %d", label,
                        pivot);
    }
    return STN_OK;
}

static stn_status check_pattern(const char *label, const stn_matrix *A, stn_error *err) {
    if (A->node_size < 1 || A->node_size > STN_MAX_NODE_SIZE) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: node_size = %d, must be 1 to %d", label, A->node_size,
                        STN_MAX_NODE_SIZE);
    }
    if (A->node_count < 0 || A->n != A->node_size * (int64_t)A->node_count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: n = %d, expected node_size per node = %d * %d", label, A->n,
                        A->node_size, A->node_count);
    }
    if (A->node_count > 0 && (A->row_start == NULL || A->row_start[0] != 0)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: row_start must begin with 0", label);
    }
    for (int32_t i = 0; i < A->node_count; i++) {
        if (A->row_start[i + 1] < A->row_start[i]) {
            return stn_fail(err, STN_ERR_ARGUMENT, "%s: row_start[%d] = %d is below row_start[%d] = %d", label, i + 1,
                            A->row_start[i + 1], i, A->row_start[i]);
        }
    }
    if (A->node_count > 0 && A->row_start[A->node_count] > 0 && A->column == NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: row_start has %d blocks, but column is NULL", label,
                        A->row_start[A->node_count]);
    }
    for (int32_t i = 0; i < A->node_count; i++) {
        int32_t before = -1;
        for (int32_t e = A->row_start[i]; e < A->row_start[i + 1]; e++) {
            if (A->column[e] <= before || A->column[e] >= A->node_count) {
                return stn_fail(err, STN_ERR_ARGUMENT,
                                "%s: row %d of the pattern has node %d after %d; nodes must ascend "
                                "and lie below %d",
                                label, i, A->column[e], before, A->node_count);
            }
            before = A->column[e];
        }
        if (stn_nodal_entry(A->row_start, A->column, i, i) < 0) {
            return stn_fail(err, STN_ERR_ARGUMENT, "%s: the pattern has no diagonal block for node %d", label, i);
        }
    }
    return STN_OK;
}

static double nodal_diagonal(const stn_matrix *A, int32_t dof) {
    const size_t m = (size_t)A->node_size, a = (size_t)dof % m;
    const int32_t node = dof / A->node_size;
    return A->values[m * m * (size_t)stn_nodal_entry(A->row_start, A->column, node, node) + (m + 1) * a];
}

static stn_status check_nodal_definite(stn_context *context, const char *label, const stn_matrix *A, stn_error *err) {
    double *values = stn_allocate(context, (size_t)stn_matrix_value_count(A), sizeof *values);
    double *d = stn_allocate(context, (size_t)A->n, sizeof *d);
    stn_matrix scaled = *A;
    nodal_cache cache = {.context = context};
    stn_error cause = {STN_OK, ""};
    stn_status status = STN_ERR_MEMORY;
    const int32_t m = A->node_size;
    int32_t pivot = -1;
    scaled.values = values;
    if (values != NULL && d != NULL) {
        for (int32_t i = 0; i < A->n; i++) {
            d[i] = inverse_root(nodal_diagonal(A, i));
        }
        for (int32_t i = 0; i < A->node_count; i++) {
            for (int32_t e = A->row_start[i]; e < A->row_start[i + 1]; e++) {
                int32_t j = A->column[e];
                for (int32_t k = 0; k < m * m; k++) {
                    size_t at = (size_t)(m * m) * (size_t)e + (size_t)k;
                    bool diagonal = i == j && k % (m + 1) == 0;
                    values[at] = diagonal ? 1.0 + definite_shift : d[m * i + k / m] * A->values[at] * d[m * j + k % m];
                }
            }
        }
        int32_t index = 0;
        status = nodal_cache_take(&cache, &scaled, &index, &cause);
        if (status == STN_OK) {
            status = nodal_factor_numeric(&cache.entries[index], &scaled, NULL, 0.0, &pivot, &cause);
        }
    }
    nodal_cache_clear(&cache);
    stn_release(context, d);
    stn_release(context, values);
    if (pivot >= 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s is not positive semidefinite: elimination fails at dof %d", label,
                        pivot);
    }
    return status == STN_OK ? STN_OK : stn_fail(err, status, "%s: out of memory for its factor", label);
}

static stn_status check_nodal(stn_context *context, const char *label, const stn_matrix *A, stn_error *err) {
    stn_status status = check_pattern(label, A, err);
    for (int32_t d = 0; d < A->n && status == STN_OK; d++) {
        status = check_diagonal_entry(label, d, nodal_diagonal(A, d), err);
    }
    if (status != STN_OK) {
        return status;
    }
    for (int32_t i = 0; i < A->node_count; i++) { // every block against its mirror image
        for (int32_t e = A->row_start[i]; e < A->row_start[i + 1]; e++) {
            int32_t j = A->column[e], mirror = stn_nodal_entry(A->row_start, A->column, j, i);
            if (mirror < 0) {
                return stn_fail(err, STN_ERR_ARGUMENT, "%s: the pattern has block (%d, %d) but not (%d, %d)", label, i,
                                j, j, i);
            }
            const int32_t m = A->node_size;
            const size_t size = (size_t)(m * m);
            const double *block = A->values + size * (size_t)e, *opposite = A->values + size * (size_t)mirror;
            for (int32_t k = 0; k < m * m; k++) {
                int32_t row = m * i + k / m, column = m * j + k % m;
                const entry_pair pair = {row,
                                         column,
                                         block[k],
                                         opposite[m * (k % m) + k / m],
                                         nodal_diagonal(A, row),
                                         nodal_diagonal(A, column)};
                status = check_pair(label, &pair, err);
                if (status != STN_OK) {
                    return status;
                }
            }
        }
    }
    return A->n > 0 ? check_nodal_definite(context, label, A, err) : STN_OK;
}

/// Parents, inertias, and the diagonal that is told; then as a dense one.
static stn_status check_articulated(stn_context *context, const char *label, const stn_matrix *A, stn_error *err) {
    const int32_t n = A->n;
    const stn_articulated *bodies = A->bodies;
    if (bodies == NULL || bodies->n != n) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: n = %d, but its bodies have %d dofs", label, n,
                        bodies != NULL ? bodies->n : 0);
    }
    for (int32_t k = 0; k < n; k++) {
        if (bodies->parent[k] < -1 || bodies->parent[k] >= k) {
            return stn_fail(err, STN_ERR_ARGUMENT, "%s: the dof before %d must be -1 or smaller", label, k);
        }
        for (int32_t e = 0; e < 64; e++) { // the last 16: S, its zeros, what is added to the diagonal
            const int32_t i = e / 8, j = e % 8;
            const double *I = A->values + 48 * (size_t)k, *S = bodies->motion + 8 * (size_t)k;
            const double x = i < 6 ? I[e] : i == 6 ? S[j] : A->values[48 * (size_t)n + (size_t)k];
            if (!isfinite(x)) {
                return stn_fail(err, STN_ERR_NUMERIC, "%s: a number of dof %d is %g, must be finite", label, k, x);
            }
            const double mirror = i < 6 && j < 6 ? I[8 * j + i] : i < 7 && j >= 6 ? 0.0 : x;
            const double size = i < 6 && j < 6 ? sqrt(fabs(I[9 * i] * I[9 * j])) : 0.0;
            if (!(fabs(x - mirror) <= symmetry_tolerance * size)) {
                return stn_fail(err, STN_ERR_ARGUMENT, "%s: inertia or motion of dof %d: %g where %g is asked for",
                                label, k, x, mirror);
            }
        }
    }
    double *full = stn_allocate(context, (size_t)n * (size_t)n, sizeof *full);
    if (full == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory for %d x %d numbers", label, n, n);
    }
    stn_matrix_expand(A, full);
    const stn_matrix dense = {.n = n, .form = STN_MATRIX_DENSE, .values = full};
    stn_status status = check_dense(context, label, &dense, err);
    for (int32_t k = 0; k < n && status == STN_OK; k++) {
        const double told = A->values[49 * (size_t)n + (size_t)k], made = full[(size_t)k * (size_t)(n + 1)];
        if (!(fabs(told - made) <= symmetry_tolerance * fabs(made))) {
            status = stn_fail(err, STN_ERR_ARGUMENT, "%s: entry %d of the diagonal is told to be %g, but is %g", label,
                              k, told, made);
        }
    }
    stn_release(context, full);
    return status;
}

stn_status stn_matrix_check(stn_context *context, const char *label, const stn_matrix *a, stn_error *err) {
    if (a->n < 0 || a->form < STN_MATRIX_ZERO || a->form > STN_MATRIX_ARTICULATED) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: n = %d, form %d is no matrix", label, a->n, (int)a->form);
    }
    if (a->values == NULL && a->form != STN_MATRIX_ZERO && a->n > 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s has no values", label);
    }
    switch (a->form) {
    case STN_MATRIX_ZERO:
        return STN_OK;
    case STN_MATRIX_DIAGONAL:
        for (int32_t i = 0; i < a->n; i++) {
            stn_status status = check_diagonal_entry(label, i, a->values[i], err);
            if (status != STN_OK) {
                return status;
            }
        }
        return STN_OK;
    case STN_MATRIX_DENSE:
        return check_dense(context, label, a, err);
    case STN_MATRIX_NODAL:
        return check_nodal(context, label, a, err);
    case STN_MATRIX_ARTICULATED:
        return check_articulated(context, label, a, err);
    }
    return STN_OK;
}

// --------------------------------------------------------------------------------------------------- the problem

static stn_status check_header(const stn_problem *p, stn_error *err) {
    if (p->form != STN_FORM_GLOBAL && p->form != STN_FORM_LOCAL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "form = %d is neither global nor local", (int)p->form);
    }
    if (!(p->dt > 0.0) || isinf(p->dt)) {
        return stn_fail(err, isnan(p->dt) ? STN_ERR_NUMERIC : STN_ERR_ARGUMENT, "dt = %g s, must be > 0 and finite",
                        p->dt);
    }
    bool mid = p->velocity_kind == STN_VELOCITY_MID;
    if (!mid && p->velocity_kind != STN_VELOCITY_END) {
        return stn_fail(err, STN_ERR_ARGUMENT, "velocity kind = %d is neither end nor mid", (int)p->velocity_kind);
    }
    if (!(p->theta > 0.0 && p->theta <= 1.0) || (!mid && p->theta != 1.0)) {
        return stn_fail(err, isnan(p->theta) ? STN_ERR_NUMERIC : STN_ERR_ARGUMENT, "theta = %g, must be %s", p->theta,
                        mid ? "in (0, 1]" : "1 for the velocity at the end");
    }
    if (p->nv < 0 || p->tree_count < 0 || p->constraint_count < 0 || p->row_count < 0 || p->bilateral_count < 0) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "counts must be >= 0: nv %d, trees %d, constraints %d, rows %d, bilateral %d", p->nv,
                        p->tree_count, p->constraint_count, p->row_count, p->bilateral_count);
    }
    if ((p->trees == NULL && p->tree_count > 0) || (p->constraints == NULL && p->constraint_count > 0)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%d trees, %d constraints, but no array of them", p->tree_count,
                        p->constraint_count);
    }
    if (p->form == STN_FORM_LOCAL && (p->nv != 0 || p->tree_count != 0)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "a local problem has no dofs, but nv = %d and %d trees are given", p->nv,
                        p->tree_count);
    }
    return STN_OK;
}

/// Matrices of the trees, then what is given by dofs.
static stn_status check_trees(stn_context *context, const stn_problem *p, stn_error *err) {
    int64_t dof = 0;
    for (int32_t t = 0; t < p->tree_count; t++) {
        const stn_problem_tree *tree = &p->trees[t];
        char name[64];
        snprintf(name, sizeof name, "tree %d (source %d): A", t, tree->source);
        stn_status status = stn_matrix_check(context, name, &tree->A, err);
        if (status != STN_OK) {
            return status;
        }
        for (int32_t k = 0; k < tree->A.n && tree->motion != NULL; k++) {
            if (tree->parent == NULL || tree->parent[k] < -1 || tree->parent[k] >= k) {
                return stn_fail(err, STN_ERR_ARGUMENT, "tree %d: the dof before %d must be -1 or smaller", t, k);
            }
        }
        if (tree->A.form == STN_MATRIX_ARTICULATED &&
            (tree->motion != tree->A.bodies->motion || tree->parent != tree->A.bodies->parent)) {
            return stn_fail(err, STN_ERR_ARGUMENT, "tree %d: motion and parents must be those of its articulated A", t);
        }
        if (tree->dof_start != dof) {
            return stn_fail(err, STN_ERR_ARGUMENT, "tree %d starts at dof %d, expected %lld: trees follow each other",
                            t, tree->dof_start, (long long)dof);
        }
        dof += tree->A.n;
    }
    if (p->form == STN_FORM_GLOBAL && dof != p->nv) {
        return stn_fail(err, STN_ERR_ARGUMENT, "nv = %d, but the trees have %lld dofs", p->nv, (long long)dof);
    }
    const struct {
        const char *name;
        const double *values;
    } vectors[] = {{"v0", p->v0}, {"v_star", p->v_star}, {"v_guess", p->v_guess}, {"free_impulse", p->free_impulse}};
    for (int32_t k = 0; k < STN_COUNT(vectors); k++) {
        if (vectors[k].values == NULL && p->nv > 0 && k < 3) {
            return stn_fail(err, STN_ERR_ARGUMENT, "%s is missing, expected %d numbers", vectors[k].name, p->nv);
        }
        for (int32_t d = 0; d < p->nv && vectors[k].values != NULL; d++) {
            if (!isfinite(vectors[k].values[d])) {
                int32_t t = 0;
                while (t + 1 < p->tree_count && p->trees[t + 1].dof_start <= d) {
                    t++;
                }
                return stn_fail(err, STN_ERR_NUMERIC, "%s of tree %d (source %d), dof %d, is %g, must be finite",
                                vectors[k].name, t, p->trees[t].source, d - p->trees[t].dof_start,
                                vectors[k].values[d]);
            }
        }
    }
    return STN_OK;
}

static stn_status check_finite(const char *name, const double *values, size_t count, stn_error *err) {
    if (values == NULL && count > 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s is missing, expected %zu numbers", name, count);
    }
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            return stn_fail(err, STN_ERR_NUMERIC, "%s[%zu] is %g, must be finite", name, i, values[i]);
        }
    }
    return STN_OK;
}

/// A constraint, and how messages name it: "constraint 3 (contact, id 17)".
typedef struct named_constraint {
    const stn_problem *problem;
    const stn_constraint *c;
    char who[96];
} named_constraint;

/// values = wrench S on the way from the tip, and 0 elsewhere.
static stn_status check_wrench(const named_constraint *named, int32_t side, stn_error *err) {
    const stn_constraint *c = named->c;
    const stn_jacobian *J = stn_constraint_block(c, side);
    const stn_problem_tree *tree = &named->problem->trees[J->tree];
    const int32_t n = tree->A.n;
    if (tree->motion == NULL || J->node_count > 0 || J->tip < 0 || J->tip >= n) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: J[%d] has a wrench at dof %d, but tree %d with %d dofs %s",
                        named->who, side, J->tip, J->tree, n,
                        tree->motion == NULL ? "tells no motion" : "has no such dof");
    }
    if (jacobian_is_wrench(J) && (c->rows != 3 || tree->A.form != STN_MATRIX_ARTICULATED)) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "%s: J[%d] has no values: a wrench of 3 rows does without where A is articulated", named->who,
                        side);
    }
    for (int32_t r = 0; r < c->rows && jacobian_is_wrench(J); r++) {
        stn_status status = check_finite(named->who, J->wrench + 8 * (size_t)r, 8, err);
        if (status != STN_OK) {
            return status;
        }
    }
    for (int32_t r = 0; r < c->rows && !jacobian_is_wrench(J); r++) {
        const double *row = J->values + (size_t)r * (size_t)n, *wrench = J->wrench + 8 * (size_t)r;
        int32_t next = J->tip;
        for (int32_t i = n - 1; i >= 0; i--) {
            double value = 0.0, size = 0.0;
            for (int32_t k = 0; k < 6 && i == next; k++) {
                value += wrench[k] * tree->motion[8 * i + k];
                size += fabs(wrench[k] * tree->motion[8 * i + k]);
            }
            next = i == next ? tree->parent[i] : next;
            if (!(fabs(row[i] - value) <= 1e-9 * size)) {
                return stn_fail(err, STN_ERR_ARGUMENT,
                                "%s: J[%d], row %d, dof %d: the value is %g, but wrench and motion make %g", named->who,
                                side, r, i, row[i], value);
            }
        }
    }
    return STN_OK;
}

static stn_status check_jacobian(const named_constraint *named, int32_t side, stn_error *err) {
    const stn_problem *p = named->problem;
    const stn_constraint *c = named->c;
    const char *who = named->who;
    const stn_jacobian *J = stn_constraint_block(c, side);
    if (p->form == STN_FORM_LOCAL || (side == 1 && J->tree == -1 && c->more_count == 0)) {
        return STN_OK;
    }
    if (J->tree < 0 || J->tree >= p->tree_count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: J[%d].tree = %d, but the problem has %d trees", who, side, J->tree,
                        p->tree_count);
    }
    for (int32_t k = 0; k < side; k++) {
        if (J->tree == stn_constraint_block(c, k)->tree) {
            return stn_fail(err, STN_ERR_ARGUMENT,
                            "%s: Jacobian blocks %d and %d are both of tree %d; they must be added up into one", who, k,
                            side, J->tree);
        }
    }
    int32_t n = p->trees[J->tree].A.n;
    if (J->node_count < 0 || J->node_count > STN_MAX_NODES) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: J[%d] has %d nodes, at most %d fit", who, side, J->node_count,
                        STN_MAX_NODES);
    }
    const stn_matrix *A = &p->trees[J->tree].A;
    const int32_t m = J->node_size;
    if (J->node_count > 0 && (m < 1 || m > STN_MAX_NODE_SIZE)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: J[%d].node_size = %d, must be 1 to %d", who, side, m,
                        STN_MAX_NODE_SIZE);
    }
    if (J->node_count > 0 && A->form == STN_MATRIX_NODAL && m != A->node_size) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: J[%d].node_size = %d, but a node of tree %d has %d dofs", who, side,
                        m, J->tree, A->node_size);
    }
    for (int32_t b = 0; b < J->node_count; b++) {
        if (J->node[b] < 0 || J->node[b] >= n / m) {
            return stn_fail(err, STN_ERR_ARGUMENT, "%s: J[%d].node[%d] = %d, but tree %d has %d nodes", who, side, b,
                            J->node[b], J->tree, n / m);
        }
        for (int32_t a = 0; a < b; a++) {
            if (J->node[a] == J->node[b]) {
                return stn_fail(err, STN_ERR_ARGUMENT, "%s: J[%d] names node %d twice; add its blocks up", who, side,
                                J->node[b]);
            }
        }
    }
    char name[160];
    snprintf(name, sizeof name, "%s: J[%d].values", who, side);
    const size_t count = jacobian_is_wrench(J) ? 0 : (size_t)c->rows * (size_t)stn_jacobian_columns(p, J);
    stn_status status = check_finite(name, J->values, count, err);
    return status == STN_OK && J->wrench != NULL ? check_wrench(named, side, err) : status;
}

static stn_status check_physical(const named_constraint *named, stn_error *err) {
    const stn_problem *p = named->problem;
    const stn_constraint *c = named->c;
    const char *who = named->who;
    bool contact = stn_constraint_has_cone(c);
    bool derived = contact && !p->explicit_R && p->form == STN_FORM_GLOBAL; // R follows from these data
    const struct { // value >= low (NaN passes when it may be absent), and finite unless infinity has a meaning
        const char *name, *unit;
        double value, low;
        bool may_miss, may_be_infinite;
    } data[] = {
        {"phi0", "m", c->phi0, -INFINITY, !derived, false},
        {"stiffness", "N/m", c->stiffness, 0.0, !derived, true},
        {"relaxation_time", "s", c->relaxation_time, 0.0, !derived, false},
        {"dissipation", "s/m", c->dissipation, 0.0, true, false},
        {"mu1", "", c->mu1, 0.0, !contact, false},
        {"mu2", "", c->mu2, 0.0, !contact, false},
        {"restitution", "", c->restitution, 0.0, true, false},
        {"w", "1/kg", c->w, 0.0, true, false},
        {"w_trace", "1/kg", c->w_trace, 0.0, true, false},
        {"gamma_n0", "N s", c->gamma_n0, -INFINITY, true, false},
        {"vn0", "m/s", c->vn0, -INFINITY, true, false},
    };
    for (int32_t k = 0; k < STN_COUNT(data); k++) {
        const char *name = data[k].name, *unit = data[k].unit;
        double value = data[k].value, low = data[k].low;
        bool may_be_infinite = data[k].may_be_infinite;
        if (isnan(value)) {
            if (data[k].may_miss) {
                continue;
            }
            return stn_fail(err, STN_ERR_NUMERIC, "%s: %s is not a number", who, name);
        }
        if (!(value >= low) || (isinf(value) && !(may_be_infinite && value > 0.0))) {
            const char *rule = isinf(low) ? "finite" : (may_be_infinite ? ">= 0" : ">= 0 and finite");
            return stn_fail(err, STN_ERR_ARGUMENT, "%s: %s = %g%s%s, must be %s", who, name, value,
                            *unit != '\0' ? " " : "", unit, rule);
        }
    }
    if (c->set == STN_SET_CONE && c->mu1 != c->mu2) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: mu1 = %g and mu2 = %g differ; such a set is an ellipse", who,
                        c->mu1, c->mu2);
    }
    return STN_OK;
}

static stn_status check_constraint(const stn_problem *p, int32_t i, int32_t row, stn_error *err) {
    const stn_constraint *c = &p->constraints[i];
    const char *kind = stn_constraint_kind_name(c->kind);
    named_constraint named = {.problem = p, .c = c};
    snprintf(named.who, sizeof named.who, "constraint %d (%s, id %llu)", i, kind != NULL ? kind : "unknown kind",
             (unsigned long long)c->id);
    if (kind == NULL || stn_constraint_set_name(c->set) == NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: kind = %d, set = %d are not known", named.who, (int)c->kind,
                        (int)c->set);
    }
    bool contact = stn_constraint_has_cone(c);
    if (c->rows < 1 || c->rows > STN_MAX_ROWS || (contact && c->rows != 3)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: rows = %d, must be %s", named.who, c->rows,
                        contact ? "3 for a friction cone" : "1 to 6");
    }
    if (c->row != row || c->row > p->row_count - c->rows) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: rows [%d, %d), expected to start at %d and to end by %d", named.who,
                        c->row, c->row + c->rows, row, p->row_count);
    }
    if (c->memory < -1) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: memory = %d, must be -1 or a slot", named.who, c->memory);
    }
    stn_status status = check_physical(&named, err);
    if (status == STN_OK && (c->more_count < 0 || (c->more_count > 0 && c->more == NULL))) {
        status = stn_fail(err, STN_ERR_ARGUMENT, "%s: more_count = %d, but `more` has no such blocks", named.who,
                          c->more_count);
    }
    for (int32_t side = 0; status == STN_OK && side < 2 + c->more_count; side++) {
        status = check_jacobian(&named, side, err);
    }
    for (int32_t r = c->row; r < c->row + c->rows && status == STN_OK; r++) {
        double lo = p->lo[r], hi = p->hi[r];
        bool below = isinf(lo) && lo < 0.0, above = isinf(hi) && hi > 0.0; // unbounded on that side
        bool ordered = (below || isfinite(lo)) && (above || isfinite(hi)) && lo <= hi;
        if (!ordered) {
            return stn_fail(err, isnan(lo) || isnan(hi) ? STN_ERR_NUMERIC : STN_ERR_ARGUMENT,
                            "%s, row %d: lo = %g, hi = %g N s, must be lo <= hi", named.who, r - c->row, lo, hi);
        }
        if (c->set != STN_SET_BOX && !(below && above)) {
            return stn_fail(err, STN_ERR_ARGUMENT, "%s, row %d: lo = %g, hi = %g N s, but only box sets have bounds",
                            named.who, r - c->row, lo, hi);
        }
        if (!isfinite(p->bias[r]) || !isfinite(p->gamma_guess[r])) {
            return stn_fail(err, STN_ERR_NUMERIC, "%s, row %d: bias = %g m/s, gamma_guess = %g N s, must be finite",
                            named.who, r - c->row, p->bias[r], p->gamma_guess[r]);
        }
        if (p->phi != NULL && isinf(p->phi[r])) {
            return stn_fail(err, STN_ERR_NUMERIC, "%s, row %d: phi = %g m, must be finite, or NaN for none", named.who,
                            r - c->row, p->phi[r]);
        }
        if (p->explicit_R && !(p->R[r] >= 0.0 && isfinite(p->R[r]) && isfinite(p->v_hat[r]))) {
            bool number = !isnan(p->R[r]) && !isnan(p->v_hat[r]);
            return stn_fail(err, number ? STN_ERR_ARGUMENT : STN_ERR_NUMERIC,
                            "%s, row %d: R = %g 1/kg, v_hat = %g m/s, must be >= 0 and finite", named.who, r - c->row,
                            p->R[r], p->v_hat[r]);
        }
    }
    return status;
}

static stn_status check_ids(stn_context *context, const stn_problem *p, stn_error *err) {
    size_t capacity = 16;
    while (capacity < 2 * (size_t)p->constraint_count) {
        capacity *= 2;
    }
    int32_t *slot = stn_allocate(context, capacity, sizeof *slot); // position + 1, 0: free
    if (slot == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for %d constraint ids", p->constraint_count);
    }
    stn_status status = STN_OK;
    for (int32_t i = 0; i < p->constraint_count && status == STN_OK; i++) {
        uint64_t id = p->constraints[i].id;
        size_t s = (size_t)stn_hash(0, &id, sizeof id) & (capacity - 1);
        while (slot[s] != 0 && p->constraints[slot[s] - 1].id != id) {
            s = (s + 1) & (capacity - 1);
        }
        if (slot[s] != 0) {
            status = stn_fail(err, STN_ERR_ARGUMENT, "constraints %d and %d have the same id %llu", slot[s] - 1, i,
                              (unsigned long long)id);
        }
        slot[s] = i + 1;
    }
    stn_release(context, slot);
    return status;
}

stn_status stn_problem_check(stn_context *context, const stn_problem *problem, stn_error *err) {
    stn_status status = check_header(problem, err);
    if (status == STN_OK) {
        status = check_trees(context, problem, err);
    }
    bool complete = problem->bias != NULL && problem->lo != NULL && problem->hi != NULL && problem->R != NULL &&
                    problem->v_hat != NULL && problem->gamma_guess != NULL;
    if (status == STN_OK && problem->row_count > 0 && !complete) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "one of bias, lo, hi, R, v_hat, gamma_guess is missing, expected %d numbers",
                        problem->row_count);
    }
    int32_t row = 0;
    for (int32_t i = 0; i < problem->constraint_count && status == STN_OK; i++) {
        status = check_constraint(problem, i, row, err);
        row += problem->constraints[i].rows;
    }
    if (status == STN_OK && row != problem->row_count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "row_count = %d, but the constraints have %d rows", problem->row_count,
                        row);
    }
    if (status == STN_OK && problem->form == STN_FORM_LOCAL) {
        size_t rows = (size_t)problem->row_count, bilateral = (size_t)problem->bilateral_count;
        const struct {
            const char *name;
            const double *values;
            size_t count;
        } arrays[] = {{"q", problem->q, rows},
                      {"V", problem->V, rows * bilateral},
                      {"R_bilateral", problem->R_bilateral, bilateral * bilateral},
                      {"s", problem->s, bilateral}};
        stn_matrix W = {.n = problem->row_count, .form = STN_MATRIX_DENSE, .values = problem->W};
        status = problem->general_W ? check_finite("W", problem->W, rows * rows, err)
                                    : stn_matrix_check(context, "W", &W, err);
        for (int32_t i = 0; i < STN_COUNT(arrays) && status == STN_OK; i++) {
            status = check_finite(arrays[i].name, arrays[i].values, arrays[i].count, err);
        }
    }
    return status == STN_OK ? check_ids(context, problem, err) : status;
}
