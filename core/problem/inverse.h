// SPDX-License-Identifier: Apache-2.0
// What the Delassus operator needs of A^-1 beyond the public face.
#ifndef STICTION_CORE_INVERSE_H
#define STICTION_CORE_INVERSE_H

#include <stiction/delassus.h>

#include "base/kernels.h"

/// Dense and diagonal trees offer X = L^-1 J^T with A = L L^T (branched ones L^-T J^T with A = L^T L), so that
/// W_ij = X_i^T X_j; nodal trees only A^-1 itself.
bool inverse_has_half(const stn_inverse *inverse, int32_t tree);
/// X (rows x n_t, one row of J after the other) = (L^-1 J^T)^T.
void inverse_half(const stn_inverse *inverse, int32_t tree, const stn_jacobian *J, int32_t rows, double *X);

/// The factor of a dense tree whose zeros show branches; NULL for another.
const stn_ltl *inverse_branched(const stn_inverse *inverse, int32_t tree);
/// Kernels and factor of a tree that is a free body (dense, n = 6); NULL for another.
const body_kernels *inverse_body(const stn_inverse *inverse, int32_t tree, const double **factor);

/// The same factors seen from a part of the problem: tree k of the view is tree[k] of `inverse`. The view lives in
/// `arena`, is not destroyed, and ends with the next factorisation. Views without a common tree may be used by
/// different threads.
stn_status inverse_view(const stn_inverse *inverse, const stn_problem *part, const int32_t *tree, int32_t count,
                        stn_arena *arena, const stn_inverse **out, stn_error *err);

#endif
