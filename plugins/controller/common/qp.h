// SPDX-License-Identifier: Apache-2.0
// Small strictly convex quadratic programs, dense:
//
//     minimise 1/2 x^T H x + g^T x    subject to  lower <= x <= upper,  A x >= b
//
// by the dual active-set method of Goldfarb and Idnani [goldfarb-1983]: from the minimum without constraints, one that
// is violated after the other is met, the multipliers staying >= 0. It ends after finitely many changes of the set.
#ifndef STICTION_CONTROLLER_COMMON_QP_H
#define STICTION_CONTROLLER_COMMON_QP_H

#include <stiction/plugin.h>

/// All row-major and borrowed. `lower` and `b` may be -INFINITY, `upper` INFINITY.
typedef struct qp {
    int32_t n;                   // > 0
    const double *H;             // (n x n) symmetric, positive definite; the lower triangle is read
    const double *g;             // (n)
    const double *lower, *upper; // (n) lower <= upper
    int32_t rows;                // of A
    const double *A, *b;         // (rows x n), (rows)
} qp;

/// What solved it. Constraints are numbered: n lower bounds, n upper bounds, rows.
typedef struct qp_result {
    double *x;          // (n)
    double *multiplier; // (2 n + rows) >= 0: H x + g = sum of multiplier times normal
    int32_t changes;    // of the active set
} qp_result;

/// Results live in the arena. STN_ERR_NUMERIC: H is not positive definite, or something is not finite;
/// STN_NOT_CONVERGED: nothing meets all constraints, x is the last point then. Constraints hold to about 1e-10 of the
/// larger of 1 and their terms. No allocation beyond the arena.
stn_status qp_solve(const qp *problem, stn_arena *arena, qp_result *result, stn_error *err);

#endif
