// SPDX-License-Identifier: Apache-2.0
// What the Delassus operator needs of A^-1 beyond the public face.
#ifndef STICTION_CORE_PROBLEM_INVERSE_H
#define STICTION_CORE_PROBLEM_INVERSE_H

#include <stiction/delassus.h>
#include <stiction/islands.h>

#include "base/kernels.h"
#include "base/ltl.h"

/// stn_inverse_factor in two halves: all is made ready for the forms and sizes of the problem's A, and what is not
/// factored yet is factored.
stn_status inverse_begin(stn_inverse *inverse, const stn_problem *problem, stn_error *err);
stn_status inverse_finish(stn_inverse *inverse, stn_error *err);
/// Between them: x = A_t^-1 x of a tree whose A is complete. False: A_t has no inverse, which inverse_finish will say.
bool inverse_solve(stn_inverse *inverse, int32_t tree, double *x);
/// stn_articulated_response of a tree whose A is articulated; NULL: its factor is another one.
const double *inverse_response(const stn_inverse *inverse, int32_t tree);

/// (A^-1)_jj of such a tree.
double inverse_mobility(const stn_inverse *inverse, int32_t tree, int32_t j);

/// The matrices that inverse masses are taken from, by the same functions: half, branched, body. Nodal trees have a
/// half here: that of their diagonal blocks.
const stn_inverse *inverse_scale(const stn_inverse *inverse);
/// Is the A of some tree singular? Of a view: of the whole problem.
bool inverse_has_singular(const stn_inverse *inverse);
/// Is the tree's scale A itself, with the operator's factor?
bool inverse_shares_scale(const stn_inverse *inverse, int32_t tree);
/// W (rows x rows) += J D^-1 J^T of a block by node, D the diagonal blocks of a nodal scale.
void inverse_nodes_add(const stn_inverse *scale, int32_t rows, const stn_jacobian *J, double *W);
/// Nodal trees are not factored from the next stn_inverse_factor on: they have a scale, count as regular, and are for
/// who works by products with A. [setup]
void inverse_leave_nodal(stn_inverse *inverse, bool leave);
/// Was the tree left without a factor?
bool inverse_left(const stn_inverse *inverse, int32_t tree);
/// For such a tree: A_t v = f, from the v (n_t) given, until what is left is `tolerance` of f in the norm of the
/// scale's inverse, or after `most` iterations: STN_NOT_CONVERGED. STN_ERR_NUMERIC: A is indefinite or not finite. 4
/// n_t numbers of `scratch`.
stn_status inverse_iterate(const stn_inverse *inverse, const stn_problem *problem, int32_t tree, const double *f,
                           double tolerance, int32_t most, double *v, stn_arena *scratch, stn_error *err);
/// For a tree whose A_t is singular: a v (n_t) with A_t v = f, by proximal steps. STN_ERR_NUMERIC: there is
/// none, nothing holds the tree along its dof `unheld`.
stn_status inverse_settle(const stn_inverse *inverse, int32_t tree, const double *f, double *v, stn_arena *scratch,
                          int32_t *unheld);

/// Dense and diagonal trees offer X = L^-1 J^T with A = L L^T (branched ones L^-T J^T with A = L^T L), so that
/// W_ij = X_i^T X_j; nodal trees only A^-1 itself.
bool inverse_has_half(const stn_inverse *inverse, int32_t tree);
/// X (rows x n_t, one row of J after the other) = (L^-1 J^T)^T.
void inverse_half(const stn_inverse *inverse, int32_t tree, const stn_jacobian *J, int32_t rows, double *X);

/// W (rows x rows) += X X^T with X rows x n, W symmetric.
static inline void inverse_add_square(int32_t rows, int32_t n, const double *restrict X, double *restrict W) {
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

/// Has a block three rows on an articulated tree, as the kernels' lanes t1, t2, n, 0 hold them?
static inline bool inverse_fits_lanes(const stn_constraint *constraint, const stn_jacobian *J) {
    return constraint->rows == 3 && J->node_count == 0;
}

/// Is the factor of a dense tree one that knows its branches?
bool inverse_branched(const stn_inverse *inverse, int32_t tree);
/// X (BRANCHED_HALF(n)) of a contact: four lanes a dof, then the dofs that move it and at [n] their number.
void inverse_branched_half(const stn_inverse *inverse, int32_t tree, const stn_jacobian *J, double *X);
static inline const int32_t *inverse_half_dofs(int32_t n, const double *X) {
    return (const int32_t *)(const void *)(X + 4 * (size_t)n);
}
/// Does such a tree offer the squares X^T X (3 x 3 x 4) of four contacts side by side? J (3 x n) each; scratch (12 n).
bool inverse_has_squares(const stn_inverse *inverse, int32_t tree);
void inverse_four_squares(const stn_inverse *inverse, int32_t tree, const double *const J[4], double *scratch,
                          double *W);
/// stn_inverse_masses of the constraints whose w is NaN, in a global problem.
stn_status inverse_masses_missing(const stn_inverse *inverse, stn_problem *problem, stn_arena *scratch, stn_error *err);
/// stn_inverse_masses that leaves the halves of contacts on branched trees with `inverse`, for the Delassus operator of
/// the same constraints. They live in `arena` and are forgotten with the next factorisation.
stn_status inverse_masses_keeping(stn_inverse *inverse, stn_problem *problem, stn_arena *arena, stn_error *err);
/// The half that was kept of this block of a constraint; NULL when there is none, as of blocks beyond two.
const double *inverse_kept_half(const stn_inverse *inverse, int32_t constraint, int32_t side, const stn_jacobian *J);
/// What masses leave, (2 constraint_count): of block `side` of constraint c at [2 c + side]. J tells that it is still
/// the same block; NULL: none.
typedef struct kept_half {
    const double *J, *X;
} kept_half;
static inline const double *kept_half_key(const stn_jacobian *J) {
    return J->wrench != NULL ? J->wrench : J->values;
}
void inverse_keep_halves(stn_inverse *inverse, const kept_half *halves, int32_t constraint_count);
/// Kernels and factor of a tree that is a free body (dense, n = 6); NULL for another.
const body_kernels *inverse_body(const stn_inverse *inverse, int32_t tree, const double **factor);

/// The same factors seen from a part of the problem: tree k and constraint k of the view are those of the lists. The
/// view lives in `arena`, is not destroyed, and ends with the next factorisation. Views without a common tree may be
/// used by different threads. NULL: out of memory.
const stn_inverse *inverse_view(const stn_inverse *inverse, const stn_problem *part, const int32_t *tree,
                                const int32_t *constraint, stn_arena *arena);

#endif
