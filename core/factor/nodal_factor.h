// SPDX-License-Identifier: Apache-2.0
// Factors of nodal (block-sparse) matrices, with the analysis kept for as long as a pattern comes back.
#ifndef STICTION_CORE_FACTOR_NODAL_FACTOR_H
#define STICTION_CORE_FACTOR_NODAL_FACTOR_H

#include <stiction/factor.h>
#include <stiction/matrix.h>

typedef struct nodal_factor {
    const stn_factor_ops *ops;
    void *factor;
    int32_t node_count, node_size;
    int32_t *row_start, *column; // the pattern it was analysed for, copied
    // lower triangle by block column, as the back end wants it
    int32_t *block_size, *column_start, *row;
    int64_t *offset;
    double *values, *least; // least (n): of weak_pivot
    bool used;              // by a tree of the present problem
} nodal_factor;

typedef struct nodal_cache {
    stn_context *context;
    const stn_factor_ops *ops; // of entries made from now on; NULL, or one without weak_pivot: "block"
    void *self;
    nodal_factor *entries;
    int32_t count, capacity;
} nodal_cache;

void nodal_cache_clear(nodal_cache *cache);
/// Declares every entry free to be taken again.
void nodal_cache_begin(nodal_cache *cache);
/// Index of an entry analysed for the pattern of `a`, taken for this problem; made when there is none. Entries may
/// move: hold the index, not the address.
stn_status nodal_cache_take(nodal_cache *cache, const stn_matrix *a, int32_t *index, stn_error *err);
/// Factors `a` + diag(shift), a's pattern being the entry's; shift (a->n) may be NULL. `weak` gets -1, or the first
/// dof in elimination order whose pivot is not > `least` times the entry of the diagonal that it came from. Fails only
/// where memory does.
stn_status nodal_factor_numeric(nodal_factor *entry, const stn_matrix *a, const double *shift, double least,
                                int32_t *weak, stn_error *err);
/// x (a->n) = A^-1 x for `columns` vectors stored one after the other.
void nodal_factor_solve(const nodal_factor *entry, int32_t columns, double *x);

#endif
