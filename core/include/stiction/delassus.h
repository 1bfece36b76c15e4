// SPDX-License-Identifier: Apache-2.0
// Scale and operator of a problem's A: inverse masses from the one, velocity recovery and the Delassus operator from
// the other. One factorisation of A, shared.
#ifndef STICTION_DELASSUS_H
#define STICTION_DELASSUS_H

#include <stiction/factor.h>
#include <stiction/kernel.h>
#include <stiction/problem.h>

STN_BEGIN_C

/// Of a problem's A, tree by tree:
///
///     operator  A^-1, where A is regular; elsewhere there is none
///     scale     P^-1 of a positive definite P that is as large as A: what inverse masses w, and with them tolerances
///               and regularisation, are taken from. A itself where it is dense or diagonal, the 3 x 3 blocks on its
///               diagonal where it is nodal; where A is singular its diagonal, in which the largest entry of the tree,
///               or 1, stands in for what is not > 0; or what stn_inverse_set_scale says.
///
/// Keeps symbolic factors of nodal trees between problems.
typedef struct stn_inverse stn_inverse;

/// STN_ERR_MEMORY is the only failure. [setup]
STN_API stn_status stn_inverse_create(stn_context *context, stn_inverse **out, stn_error *err);
STN_API void stn_inverse_destroy(stn_inverse *inverse); ///< accepts NULL
/// Nodal trees are factored by this back end from the next stn_inverse_factor on; NULL, as after creation, or one
/// without weak_pivot: by stn_factor_block. Borrowed. [setup]
STN_API void stn_inverse_set_factor(stn_inverse *inverse, const stn_factor_ops *ops, void *self);
/// Factors every A_t. Singular: a pivot of a dense A below 1e-13 of the diagonal entry that it came from, of a nodal A
/// below max(1e-13, 1e-14 n), or not > 0 in a diagonal; no error, stn_inverse_singular tells. STN_ERR_NUMERIC: A holds
/// a NaN or infinity, or is indefinite, which is that A + 1e-10 diag|A| + 1e-13 max|A| has no Cholesky factor either;
/// the text names tree, source and dof. After warm-up allocates nothing. The problem is borrowed until the next call.
/// A local problem has nothing to factor.
STN_API stn_status stn_inverse_factor(stn_inverse *inverse, const stn_problem *problem, stn_error *err);
/// The first dof of a tree at which its A is singular, in elimination order; -1: A is regular.
STN_API int32_t stn_inverse_singular(const stn_inverse *inverse, int32_t tree);
/// STN_ERR_NUMERIC naming the first tree, with source and dof, whose A is singular: to be asked before what needs the
/// operator of every tree.
STN_API stn_status stn_inverse_require(const stn_inverse *inverse, stn_error *err);
/// The tree and the dof at which the last factorisation found A indefinite; false: it did not.
STN_API bool stn_inverse_fault(const stn_inverse *inverse, int32_t *tree, int32_t *dof);
/// Takes the scale from other matrices: from[t] (n_t) for tree t, NULL: as stn_inverse_factor leaves it. (tree_count)
/// pointers, read in the call. STN_ERR_NUMERIC: one is not positive definite; the text names tree and dof.
STN_API stn_status stn_inverse_set_scale(stn_inverse *inverse, const stn_matrix *const *from, stn_error *err);
/// x (n_t) = A_t^-1 x in place, for `columns` vectors stored one after the other. The tree must be regular.
STN_API void stn_inverse_apply(const stn_inverse *inverse, int32_t tree, int32_t columns, double *x);
/// Fills w and w_trace of every constraint: |J P^-1 J^T|_F / rows and the trace, P the scale; of a local problem from
/// its W, bilateral rows eliminated (`inverse` may then be NULL). `scratch` is an arena.
STN_API stn_status stn_inverse_masses(const stn_inverse *inverse, stn_problem *problem, stn_arena *scratch,
                                      stn_error *err);
/// v = v_star + A^-1 (J^T gamma + free_impulse). All trees must be regular.
STN_API void stn_inverse_velocity(const stn_inverse *inverse, const stn_problem *problem, const double *gamma,
                                  double *v);

/// Delassus form: constraints see each other only through W = J A^-1 J^T; v_c = W gamma + b,
/// b = J (v_star + A^-1 free_impulse) + bias.
/// Block-sparse over constraints: block e = (i, column[e]) for e in [row_start[i], row_start[i+1]), rows_i x rows_j,
/// row-major, at values + offset[e]; columns ascend, both triangles are stored, the diagonal block always is.
/// Sets, mu, lo, hi, R, v_hat are the problem's. Borrowed from the arena it was built in. Symmetric, but of a problem
/// with general_W, whose blocks are as the file has them: (i, j) is there when (j, i) is, but need not be its
/// transpose.
typedef struct stn_delassus {
    const stn_problem *problem;        // whose constraints these are, borrowed
    int32_t n;                         // constraints
    int32_t rows;                      // scalar rows
    const int32_t *row_start, *column; // (n + 1), (row_start[n])
    const int64_t *offset;             // (row_start[n])
    const double *values;              // [1/kg]
    const double *b;                   // (rows) [m/s]
} stn_delassus;

/// STN_ERR_NUMERIC: a tree has no operator, as stn_inverse_require says. Of a local problem: its W and q, bilateral
/// rows eliminated; `inverse` may be NULL then.
STN_API stn_status stn_delassus_build(const stn_inverse *inverse, const stn_problem *problem, stn_arena *arena,
                                      stn_delassus *out, stn_error *err);
/// y (rows_i) += row i of W times gamma.
STN_API void stn_delassus_row_mul_add(const stn_delassus *d, int32_t i, const double *gamma, double *y);
/// The diagonal block of constraint i (rows_i x rows_i).
STN_API const double *stn_delassus_diagonal(const stn_delassus *d, int32_t i);
/// Square of the natural map |omega gamma - P(omega gamma - g)| of three rows t1, t2, n in a circular cone [m^2/s^2],
/// omega = trace(W_ii)/rows: cones are cones in any unit. `shifted` takes the place of g_n: g_n + mu |g_t|, the form of
/// De Saxce, for Coulomb's law, g_n for its convex relaxation. Most contacts are inside of the cone or of its polar,
/// where no root is needed; a NaN falls through both. Thread: [any].
STN_KERNEL_INLINE double stn_natural_map_cone(double mu, double omega, double shifted, const double *gamma,
                                              const double *g) {
    double impulse[3] = {omega * gamma[0], omega * gamma[1], omega * gamma[2]};
    double x[3] = {impulse[0] - g[0], impulse[1] - g[1], impulse[2] - shifted};
    double t2 = x[0] * x[0] + x[1] * x[1];
    if (x[2] >= 0.0 && t2 <= mu * mu * x[2] * x[2]) {
        return g[0] * g[0] + g[1] * g[1] + shifted * shifted;
    }
    if (x[2] <= 0.0 && mu * mu * t2 <= x[2] * x[2]) {
        return impulse[0] * impulse[0] + impulse[1] * impulse[1] + impulse[2] * impulse[2];
    }
    double t = sqrt(t2), n = (x[2] + mu * t) / (1.0 + mu * mu), s = mu * n / t;
    double d[3] = {impulse[0] - s * x[0], impulse[1] - s * x[1], impulse[2] - n};
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

/// The same of `rows` rows with bounds lo <= gamma <= hi, summed. Thread: [any].
STN_KERNEL_INLINE double stn_natural_map_box(int32_t rows, double omega, const double *lo, const double *hi,
                                             const double *gamma, const double *g) {
    double square = 0.0;
    for (int32_t r = 0; r < rows; r++) {
        double d = g[r]; // free rows: the map is g itself, without the rounding of gamma - (gamma - rho g)
        if (lo[r] > -(double)INFINITY || hi[r] < (double)INFINITY) {
            double x = omega * gamma[r] - g[r], low = omega * lo[r], high = omega * hi[r];
            d = omega * gamma[r] - (x < low ? low : (x > high ? high : x));
        }
        square += d * d;
    }
    return square;
}

/// Largest natural-map residual [m/s] of (W, b): with g = v_c - v_hat + R gamma, of the convex relaxation, or of
/// Coulomb's law (`convex` false: g_n is raised by mu |g_t|); box and equality rows by clamping. 0 without rows; NaN
/// when an input is. What solvers share as a stopping test.
STN_API double stn_delassus_residual(const stn_delassus *d, bool convex, const double *gamma);

STN_END_C
#endif
