// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_BASE_LTL_H
#define STICTION_CORE_BASE_LTL_H

#include <stiction/factor.h>
#include <stiction/matrix.h>

/// The kernels of these names.
int32_t ltl_half(const stn_ltl *factor, const double *J, double *X, int32_t *dofs);
void ltl_four_squares(const stn_ltl *factor, const double *const J[4], double *X, double *W);

/// The kernel of that name; and of any three rows J (3 x n), whose dofs are all.
int32_t articulated_half(const stn_articulated *factor, const double *E, int32_t tip, double *X, int32_t *dofs);
/// J (3 x n, row-major) = E S on the way from `tip` to the root; other entries stay.
void articulated_rows(int32_t n, const int32_t *parent, const double *motion, const double *E, int32_t tip, double *J);
int32_t articulated_half_of_rows(const stn_articulated *factor, const double *J, double *X, int32_t *dofs);

/// (A^-1)_jj, after stn_articulated_response.
double articulated_mobility(const stn_articulated *factor, int32_t j);

// Of articulated matrices (stn_matrix).
enum { ARTICULATED_NUMBERS = 50 }; // values of a dof

/// What is added to the diagonal, and the whole diagonal.
static inline double *articulated_extra(const stn_matrix *a) {
    return a->values + 48 * (size_t)a->n;
}
static inline double *articulated_diagonal(const stn_matrix *a) {
    return a->values + 49 * (size_t)a->n;
}
/// y += s A (x - x0); x0 may be NULL.
void articulated_times(const stn_matrix *a, double s, const double *x, const double *x0, double *y);
/// out (n x n) = A.
void articulated_expand(const stn_matrix *a, double *out);

// Sums over a tree, in the room of `bodies` until the next call.
/// V (n x 8), V(j) = V(parent) + S_j x_j; or F (n x 8), zeroed, which the caller adds to.
static inline double *articulated_work(const stn_articulated *bodies) {
    return bodies->values + 8 * (size_t)bodies->n;
}
void articulated_velocities(const stn_articulated *bodies, const double *x);
void articulated_forces(const stn_articulated *bodies);
/// y_j += S_j . sum of F at j or beyond.
void articulated_gather(const stn_articulated *bodies, double *y);

#endif
