// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_BASE_LTL_H
#define STICTION_CORE_BASE_LTL_H

#include <stiction/base.h>

/// A = L^T L, L lower triangular, of a symmetric n x n matrix, from the last row up. In the mass matrix of a tree a_ij
/// is zero unless dof i carries j or j carries i, and its dofs are numbered depth first: then l_ij is zero where a_ij
/// is, so that branches cost nothing to each other [featherstone-2005]. Which dofs carry which is read from the zeros
/// of A; a full matrix costs what it costs in any order. The arrays belong to the caller; what they hold is private.
typedef struct stn_ltl {
    int32_t n;      // rows
    double *values; // (STN_LTL_VALUES(n))
    int32_t *shape; // (2 n)
} stn_ltl;
/// Room that stn_ltl.values needs for n rows [doubles], and the distance of two rows in it.
#define STN_LTL_STRIDE(n) (((n) + 7) / 4 * 4)
#define STN_LTL_VALUES(n) ((size_t)(n) * ((size_t)STN_LTL_STRIDE(n) + 2))

/// Reads from the zeros of `a` (row-major, both triangles) which dofs carry which. Returns whether there are branches:
/// a matrix without them is better given to stn_cholesky. Thread: [any].
bool stn_ltl_analyse(stn_ltl *factor, const double *a, int32_t stride);
/// Factors the matrix that was analysed, or another with at least its zeros. Returns -1, or the index of the first
/// pivot, from the last row up, that is not > max(0, singular a_kk) or not finite. Thread: [any].
int32_t stn_ltl_factor(stn_ltl *factor, const double *a, int32_t stride, double singular);
/// x = L^-T x, and x = L^-1 x, for right-hand sides stored as above: A^-1 x is forward, then backward. A vector that is
/// zero on whole branches costs nothing there, and stays zero in forward.
void stn_ltl_forward(const stn_ltl *factor, int32_t columns, double *x, int32_t stride_x);
void stn_ltl_backward(const stn_ltl *factor, int32_t columns, double *x, int32_t stride_x);
/// The kernel of that name.
int32_t ltl_half(const stn_ltl *factor, const double *J, double *X, int32_t *dofs);

#endif
