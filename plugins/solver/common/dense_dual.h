// SPDX-License-Identifier: Apache-2.0
// T W T of a packed problem as a full matrix, to which something block diagonal is added before it is factored: the
// linear system of second-order methods over impulses. Dense Cholesky: rows^2 numbers, rows^3/6 multiplications.
#ifndef SOLVER_COMMON_DENSE_DUAL_H
#define SOLVER_COMMON_DENSE_DUAL_H

#include "common/packed.h"

typedef struct dense_dual {
    const packed *p;
    int32_t n, stride;      // rows of the problem
    bool symmetric;         // to 1e-12 of the largest entry; the factor takes the lower triangle
    double *matrix, *lower; // (n x stride) T W T; what is factored, and its factor
    double *work;           // (n)
} dense_dual;

/// T (size) is a padded vector, NULL: 1. Everything lives in `arena`. STN_ERR_UNSUPPORTED: more than 9000 rows.
stn_status dense_dual_build(const packed *p, const double *T, stn_arena *arena, dense_dual *out, stn_error *err);
/// `lower` is T W T again.
void dense_dual_reset(dense_dual *d);
/// Adds to entry (r, c) of constraint `row`, c <= r.
static inline void dense_dual_add(dense_dual *d, const packed_row *row, int32_t r, int32_t c, double value) {
    d->lower[(size_t)(row->row + r) * (size_t)d->stride + (size_t)(row->row + c)] += value;
}
/// Factors `lower`. Returns -1, or the first row whose pivot is not > 0 and finite.
int32_t dense_dual_factor(dense_dual *d);
/// x = lower^-1 right, padded vectors that may be the same.
void dense_dual_solve(const dense_dual *d, const double *right, double *x);

#endif
