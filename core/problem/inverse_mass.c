// SPDX-License-Identifier: Apache-2.0
// Inverse mass of every constraint: W_ii = sum over its trees of J A^-1 J^T,
//     w = |W_ii|_F / rows,   w_trace = trace(W_ii)                                    [castro-2022] S V-C
#include <math.h>
#include <string.h>

#include "problem/inverse.h"
#include "problem/jacobian.h"
#include "problem/local_form.h"

// W (rows x rows) += X X^T with X rows x n.
static void add_square(int32_t rows, int32_t n, const double *restrict X, double *restrict W) {
    for (int32_t i = 0; i < rows; i++) {
        for (int32_t j = 0; j <= i; j++) {
            double sum = 0.0;
            for (int32_t k = 0; k < n; k++) {
                sum += X[i * n + k] * X[j * n + k];
            }
            W[i * rows + j] += sum;
            W[j * rows + i] += i == j ? 0.0 : sum;
        }
    }
}

// W += J Y^T for Y (rows x n) = J A^-1.
static void add_full(const stn_jacobian *J, int32_t rows, int32_t n, const double *Y, double *W) {
    for (int32_t i = 0; i < rows; i++) {
        jacobian_mul_add(J, rows, n, Y + (size_t)i * (size_t)n, W + i * rows);
    }
}

// X (BRANCHED_HALF of the tree) holds the half of a contact on a branched tree.
static void add_branched(const stn_ltl *branched, const stn_jacobian *J, double *X, double *W) {
    inverse_branched_half(branched, J, X);
    const int32_t *dofs = inverse_half_dofs(branched->n, X);
    ltl_kernels_choose()->pair_add(dofs[branched->n], dofs, X, X, W);
}

static void add_other(const stn_inverse *inverse, const stn_problem *problem, const stn_constraint *constraint,
                      const stn_jacobian *J, double *scratch, double *W) {
    int32_t n = problem->trees[J->tree].A.n;
    const double *factor;
    const body_kernels *body = inverse_body(inverse, J->tree, &factor);
    if (inverse_fits_lanes(constraint, J) && body != NULL) {
        body->half(factor, J->values, scratch);
        body->pair_add(scratch, scratch, W);
    } else if (inverse_has_half(inverse, J->tree)) {
        inverse_half(inverse, J->tree, J, constraint->rows, scratch);
        add_square(constraint->rows, n, scratch, W);
    } else {
        jacobian_expand(J, constraint->rows, n, scratch);
        stn_inverse_apply(inverse, J->tree, constraint->rows, scratch);
        add_full(J, constraint->rows, n, scratch, W);
    }
}

// W += J A^-1 J^T of one block. kept, unless NULL, receives the half of a contact on a branched tree. False: no memory.
static bool add_block(const stn_inverse *inverse, const stn_problem *problem, const stn_constraint *constraint,
                      const stn_jacobian *J, kept_half *kept, stn_arena *arena, double *scratch, double *W) {
    const stn_ltl *branched = inverse_branched(inverse, J->tree);
    if (branched == NULL || !inverse_fits_lanes(constraint, J)) {
        add_other(inverse, problem, constraint, J, scratch, W);
        return true;
    }
    double *X = kept != NULL ? STN_ARENA(arena, BRANCHED_HALF(branched->n), double) : scratch;
    if (X == NULL) {
        return false;
    }
    add_branched(branched, J, X, W);
    if (kept != NULL) {
        *kept = (kept_half){J->values, X};
    }
    return true;
}

static void set_masses(stn_constraint *constraint, const double *W) {
    int32_t rows = constraint->rows;
    double square = 0.0, trace = 0.0;
    for (int32_t i = 0; i < rows * rows; i++) {
        square += W[i] * W[i];
    }
    for (int32_t i = 0; i < rows; i++) {
        trace += W[i * (rows + 1)];
    }
    constraint->w = sqrt(square) / rows;
    constraint->w_trace = trace;
}

// The local form gives W itself.
static stn_status local_masses(stn_problem *problem, stn_arena *scratch, stn_error *err) {
    local_form form;
    stn_status status = local_form_reduce(problem, scratch, &form, err);
    for (int32_t c = 0; c < problem->constraint_count && status == STN_OK; c++) {
        stn_constraint *constraint = &problem->constraints[c];
        double W[STN_MAX_ROWS * STN_MAX_ROWS];
        for (int32_t r = 0; r < constraint->rows; r++) {
            size_t row = (size_t)(constraint->row + r) * (size_t)problem->row_count;
            memcpy(W + r * constraint->rows, form.W + row + constraint->row, (size_t)constraint->rows * sizeof *W);
        }
        set_masses(constraint, W);
    }
    return status;
}

static stn_status out_of_memory(stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "inverse masses: out of memory");
}

// kept, unless NULL: (2 constraint_count), zeroed. `all`: also of constraints that have a w.
static stn_status global_masses(const stn_inverse *inverse, stn_problem *problem, bool all, kept_half *kept,
                                stn_arena *arena, stn_error *err) {
    int32_t largest = 0;
    for (int32_t t = 0; t < problem->tree_count; t++) {
        largest = problem->trees[t].A.n > largest ? problem->trees[t].A.n : largest;
    }
    double *scratch = STN_ARENA(arena, STN_MAX_ROWS * (size_t)largest + BODY_HALF, double); // BRANCHED_HALF fits
    if (scratch == NULL) {
        return out_of_memory(err);
    }
    for (int32_t c = 0; c < problem->constraint_count; c++) {
        stn_constraint *constraint = &problem->constraints[c];
        double W[STN_MAX_ROWS * STN_MAX_ROWS];
        if (!all && isfinite(constraint->w)) {
            continue;
        }
        for (int32_t i = 0; i < constraint->rows * constraint->rows; i++) {
            W[i] = 0.0;
        }
        for (int32_t side = 0; side < 2; side++) {
            const stn_jacobian *J = &constraint->J[side];
            kept_half *half = kept != NULL ? kept + 2 * (size_t)c + side : NULL;
            if (J->tree >= 0 && !add_block(inverse, problem, constraint, J, half, arena, scratch, W)) {
                return out_of_memory(err);
            }
        }
        set_masses(constraint, W);
        if (!isfinite(constraint->w)) {
            return stn_fail(err, STN_ERR_NUMERIC,
                            "constraint %d: its inverse mass is %g; look for a NaN in its Jacobian", c, constraint->w);
        }
    }
    return STN_OK;
}

stn_status stn_inverse_masses(const stn_inverse *inverse, stn_problem *problem, stn_arena *scratch, stn_error *err) {
    return problem->form == STN_FORM_LOCAL ? local_masses(problem, scratch, err)
                                           : global_masses(inverse, problem, true, NULL, scratch, err);
}

stn_status inverse_masses_missing(const stn_inverse *inverse, stn_problem *problem, stn_arena *scratch,
                                  stn_error *err) {
    return global_masses(inverse, problem, false, NULL, scratch, err);
}

static bool has_branches(const stn_inverse *inverse, const stn_problem *problem) {
    int32_t t = 0;
    while (t < problem->tree_count && inverse_branched(inverse, t) == NULL) {
        t++;
    }
    return t < problem->tree_count;
}

stn_status inverse_masses_keeping(stn_inverse *inverse, stn_problem *problem, stn_arena *arena, stn_error *err) {
    if (problem->form == STN_FORM_LOCAL || !has_branches(inverse, problem)) {
        return stn_inverse_masses(inverse, problem, arena, err);
    }
    kept_half *kept = STN_ARENA_ZEROED(arena, 2 * (size_t)problem->constraint_count, kept_half);
    if (kept == NULL) {
        return out_of_memory(err);
    }
    stn_status status = global_masses(inverse, problem, true, kept, arena, err);
    if (status == STN_OK) {
        inverse_keep_halves(inverse, kept, problem->constraint_count);
    }
    return status;
}
