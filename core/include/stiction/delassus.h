// SPDX-License-Identifier: Apache-2.0
// Everything that needs A^-1: inverse masses, velocity recovery, the Delassus operator. One factorisation of A, shared.
#ifndef STICTION_DELASSUS_H
#define STICTION_DELASSUS_H

#include <stiction/factor.h>
#include <stiction/kernel.h>
#include <stiction/problem.h>

STN_BEGIN_C

/// A^-1 of a problem, tree by tree. Keeps symbolic factors of nodal trees between problems.
typedef struct stn_inverse stn_inverse;

/// STN_ERR_MEMORY is the only failure. [setup]
STN_API stn_status stn_inverse_create(stn_context *context, stn_inverse **out, stn_error *err);
STN_API void stn_inverse_destroy(stn_inverse *inverse); ///< accepts NULL
/// Factors every A_t. A tree whose A is singular uses `fallback[t]` instead (the mass matrix; NULL: STN_ERR_NUMERIC
/// naming tree and dof); stn_inverse_regular tells. Singular: a pivot of a dense A below 1e-13 of the diagonal entry
/// that it came from, or not > 0 in the other forms. An A that holds a NaN is an error, fallback or not. After warm-up
/// allocates nothing. The problem is borrowed until the next call. A local problem has nothing to factor.
STN_API stn_status stn_inverse_factor(stn_inverse *inverse, const stn_problem *problem, const stn_matrix *fallback,
                                      stn_error *err);
STN_API bool stn_inverse_regular(const stn_inverse *inverse, int32_t tree);
/// x (n_t) = A_t^-1 x in place, for `columns` vectors stored one after the other.
STN_API void stn_inverse_apply(const stn_inverse *inverse, int32_t tree, int32_t columns, double *x);
/// Fills w and w_trace of every constraint: |J A^-1 J^T|_F / rows and the trace; of a local problem from its W,
/// bilateral rows eliminated (`inverse` may then be NULL). `scratch` is an arena.
STN_API stn_status stn_inverse_masses(const stn_inverse *inverse, stn_problem *problem, stn_arena *scratch,
                                      stn_error *err);
/// v = v_star + A^-1 (J^T gamma + free_impulse).
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

/// Of a local problem: its W and q, bilateral rows eliminated; `inverse` may be NULL then.
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
