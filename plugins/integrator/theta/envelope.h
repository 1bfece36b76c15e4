// SPDX-License-Identifier: Apache-2.0
// Cholesky factor of a nodal matrix by its envelope: every row of L from the first column that the row of A has. No
// reordering: meant for cables, whose nodes are numbered along them.
#ifndef STN_THETA_ENVELOPE_H
#define STN_THETA_ENVELOPE_H

#include <stiction/matrix.h>

typedef struct envelope {
    int32_t n;
    int32_t *first; // (n) first column of each row
    int64_t *start; // (n) where L_i0 would be in values, so that L_ij is values[start[i] + j]
    double *values;
} envelope;

/// Room for the factor of a nodal matrix, in the arena. False: out of memory.
bool envelope_create(const stn_matrix *a, stn_arena *arena, envelope *out);
/// A = L L^T; -1, or the row whose pivot is not > 0.
int32_t envelope_factor(envelope *e, const stn_matrix *a);
/// x (n) = A^-1 x.
void envelope_solve(const envelope *e, double *x);

#endif
