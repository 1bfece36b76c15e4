// SPDX-License-Identifier: Apache-2.0
// Factorisation of a block-sparse symmetric matrix, split in symbolic, numeric and solve. Plugin kind "factor"; the
// core holds "dense" and "block".
#ifndef STICTION_FACTOR_H
#define STICTION_FACTOR_H

#include <stiction/threads.h>

STN_BEGIN_C

/// Pattern of a symmetric matrix in square diagonal blocks. Stored: the lower triangle by block column. Column j holds
/// the rows row[column_start[j]] = j < row[...] < ...; all borrowed.
typedef struct stn_block_pattern {
    int32_t block_count;         // square blocks on the diagonal
    const int32_t *block_size;   // (block_count), > 0
    const int32_t *column_start; // (block_count + 1)
    const int32_t *row;          // (column_start[block_count])
    const int32_t *order;        // (block_count) the block to be eliminated as k-th, a permutation; NULL: the factor's
                                 // own choice. A factor may change the order as long as L keeps its entries
} stn_block_pattern;

/// Values: block e of the pattern, rows x columns, row-major, at values + offset[e].
typedef struct stn_block_matrix {
    stn_block_pattern pattern; // of the lower triangle
    const int64_t *offset;     // (entry count + 1)
    double *values;            // of all blocks of the lower triangle
} stn_block_matrix;

/// How a matrix of a block pattern is eliminated: an order that keeps the fill small (the pattern's, else approximate
/// minimum degree [amestoy-1996]; postordered), the elimination tree [liu-1990] and the rows of L. A function of the
/// pattern alone.
/// "place": where a block comes in the order. Children come before their parent, the one with most rows right before
/// it.
typedef struct stn_block_tree {
    int32_t n;             // blocks
    int32_t *order;        // (n) block of the pattern at every place
    int32_t *place;        // (n) the inverse
    int32_t *size;         // (n) block sizes, by place
    int32_t *parent;       // (n) by place, a place; -1: root
    int32_t *column_start; // (n + 1) column of L at place j: row[column_start[j]] ...
    int32_t *row;          // places of its block rows below the diagonal, ascending
} stn_block_tree;

/// All arrays live in `arena`. False: out of memory. Thread: [any].
STN_API bool stn_block_tree_build(const stn_block_pattern *pattern, stn_arena *arena, stn_block_tree *out);

/// What a factorisation does; plugin kind "factor".
typedef struct stn_factor_ops {
    uint32_t size; // sizeof of the struct as the plugin was compiled
    /// REQUIRED. Orders and analyses; may allocate. The pattern is copied. [step], called when the pattern changes
    stn_status (*symbolic)(void *self, stn_context *context, const stn_block_pattern *pattern, void **factor,
                           stn_error *err);
    void (*release)(void *factor); // REQUIRED; accepts NULL
    /// REQUIRED. No allocation for a repeated pattern. A pivot that is not > 0: STN_ERR_NUMERIC naming the block.
    /// [step]
    stn_status (*numeric)(void *factor, const stn_block_matrix *matrix, stn_error *err);
    /// REQUIRED. x (n x columns, column-major) in place. [step]
    void (*solve)(void *factor, int32_t columns, double *x);
    /// OPTIONAL. What numeric does, for a matrix that is factored several times while only some blocks change:
    /// `changing` (block_count) marks them. `again`: since the last call, which had the same marks, only entries
    /// between two marked blocks may have changed; what the others alone decide is then not computed again. The
    /// factor does not depend on `again`. Memory for it grows when first used, then stays. [step]
    stn_status (*refactor)(void *factor, const stn_block_matrix *matrix, const bool *changing, bool again,
                           stn_error *err);
    /// OPTIONAL. Of the last numeric or refactor: the first scalar row in the order of elimination, numbered as in the
    /// pattern, whose pivot (the square of its diagonal entry of L) is not > least[row] (n); where that call failed,
    /// the row that it failed at unless an earlier one is found. -1: none. Absent: the A of clouds, whose singularity
    /// shows in the pivots, is factored by "block". [step]
    int32_t (*weak_pivot)(void *factor, const double *least);
    /// OPTIONAL. Fills `order` (block_count) with the order that it would give a pattern that stays for long: of a
    /// deformable body, whose contacts change from step to step. It may take its time. A function of the pattern
    /// alone. Absent: what symbolic chooses serves. [step], called when a new body appears
    stn_status (*order)(void *self, stn_context *context, const stn_block_pattern *pattern, int32_t *order,
                        stn_error *err);
    /// OPTIONAL. How much memory it holds now [bytes]; what is small beside its numbers may be left out. Whoever keeps
    /// factors of several patterns releases the ones longest unused beyond a bound. Absent: guessed by pattern. [step]
    size_t (*memory)(const void *factor);
    /// OPTIONAL. What numeric, refactor and solve may use from now on; NULL: no threads. Their results must not depend
    /// on it. Absent: they work on the thread that calls them. [step]
    void (*use_threads)(void *factor, stn_threads *threads);
} stn_factor_ops;

/// The core's own back ends, usable without the registry: "dense" and "block" (minimum degree, block LDL^T or LL^T).
STN_API const stn_factor_ops *stn_factor_dense(void);
STN_API const stn_factor_ops *stn_factor_block(void);

/// In-place Cholesky A = L L^T of a dense n x n row-major matrix; only the lower triangle is read and written. Returns
/// -1, or the index of the first pivot that is not > 0 (or not finite). Thread: [any].
STN_API int32_t stn_cholesky(int32_t n, double *a, int32_t stride);
/// x = L^-1 x, and x = L^-T x, for `columns` right-hand sides stored as rows of length n at distance `stride_x`
/// (that is, x is columns x n, row-major: one vector per row).
STN_API void stn_cholesky_forward(int32_t n, const double *l, int32_t stride, int32_t columns, double *x,
                                  int32_t stride_x);
STN_API void stn_cholesky_backward(int32_t n, const double *l, int32_t stride, int32_t columns, double *x,
                                   int32_t stride_x);

/// A = L^T L, L lower triangular, of a symmetric n x n matrix, from the last row up. In the mass matrix of a tree a_ij
/// is zero unless dof i carries j or j carries i, and its dofs are numbered depth first: then l_ij is zero where a_ij
/// is, so that branches cost nothing to each other [featherstone-2005]. Which dofs carry which is read from the zeros
/// of A; a full matrix costs what it costs in any order. The arrays belong to the caller; what they hold is private.
/// Up to STN_LTL_WHOLE rows a matrix need not be analysed, and has no shape: its zeros are passed over as they come.
enum { STN_LTL_WHOLE = 32 };
typedef struct stn_ltl {
    int32_t n;      // rows
    double *values; // (STN_LTL_VALUES(n))
    int32_t *shape; // (2 n); not read up to STN_LTL_WHOLE rows
} stn_ltl;
/// Room that stn_ltl.values needs for n rows [doubles], and the distance of two rows in it.
#define STN_LTL_STRIDE(n) (((n) + 7) / 4 * 4)
#define STN_LTL_VALUES(n) ((size_t)(n) * ((size_t)STN_LTL_STRIDE(n) + 2))

/// Reads from the zeros of `a` (row-major, both triangles) which dofs carry which. Returns whether there are branches:
/// a matrix without them is better given to stn_cholesky. Thread: [any].
STN_API bool stn_ltl_analyse(stn_ltl *factor, const double *a, int32_t stride);
/// Factors the matrix that was analysed, or another with at least its zeros. Returns -1, or the index of the first
/// pivot, from the last row up, that is not > max(0, singular a_kk) or not finite. Thread: [any].
STN_API int32_t stn_ltl_factor(stn_ltl *factor, const double *a, int32_t stride, double singular);
/// x = L^-T x, and x = L^-1 x, for right-hand sides stored as above: A^-1 x is forward, then backward. A vector that is
/// zero on whole branches costs nothing there, and stays zero in forward.
STN_API void stn_ltl_forward(const stn_ltl *factor, int32_t columns, double *x, int32_t stride_x);
STN_API void stn_ltl_backward(const stn_ltl *factor, int32_t columns, double *x, int32_t stride_x);

/// A matrix of a tree in O(n): with S_j (6) the motion of dof j, angular and linear about a point that all share,
///
///     a_ij = S_i . C(j) S_j  for i on the way from j to the root, i = j among them,   C(j) = sum of I(k), k at j or
///     beyond;   0 elsewhere;   a_jj + extra_j
///
/// as the mass matrix, I the inertia of what dof k is the last to move, and its sum with contacts of bodies. Its
/// factor is that of articulated inertias [featherstone-2008], A^-1 = X^T X as with stn_ltl. The arrays belong to the
/// caller.
typedef struct stn_articulated {
    int32_t n;             // dofs
    const int32_t *parent; // (n) the dof before on the way to the root, < its own number; -1: none
    const double *motion;  // S (n x 8): angular, linear, two zeros
    double *values;        // (STN_ARTICULATED_VALUES(n)); what they hold is private
} stn_articulated;
/// Room that stn_articulated.values needs for n dofs [doubles].
#define STN_ARTICULATED_VALUES(n) (90 * (size_t)(n))

/// inertia (n x 6 x 8): I(j), its rows with two zeros each, symmetric, 0 where a joint has later dofs; extra and
/// diagonal (n): of A itself. Returns -1, or the index of the first pivot, from the last dof up, that is not > max(0,
/// singular diagonal_j) or not finite. Thread: [any].
STN_API int32_t stn_articulated_factor(stn_articulated *factor, const double *inertia, const double *extra,
                                       const double *diagonal, double singular);
/// x = L^-T x and x = L^-1 x as of stn_ltl, A = L^T L: A^-1 x is forward, then backward. Not [any]: they use room in
/// values.
STN_API void stn_articulated_forward(const stn_articulated *factor, int32_t columns, double *x, int32_t stride_x);
STN_API void stn_articulated_backward(const stn_articulated *factor, int32_t columns, double *x, int32_t stride_x);
/// response (n x 6 x 8) of the factor: G(j) = P A^-1 P^T, P (6 x n) holding S on the way from j to the root: the
/// velocity that a unit wrench on what j moves gives it, so that rows E P of a contact there have E G(j) E^T. Takes the
/// place of what the factor no longer needs. Valid until the next factorisation.
STN_API const double *stn_articulated_response(const stn_articulated *factor);

STN_END_C
#endif
