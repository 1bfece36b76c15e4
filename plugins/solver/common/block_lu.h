// SPDX-License-Identifier: Apache-2.0
// L U = A of a sparse matrix of small blocks whose pattern is symmetric and whose values need not be: the linear system
// of Newton's method where friction makes it unsymmetric. Multifrontal [duff-1983]: minimum degree, fronts of blocks
// that are eliminated together, rows exchanged within the rows of a front alone.
#ifndef SOLVER_COMMON_BLOCK_LU_H
#define SOLVER_COMMON_BLOCK_LU_H

#include <stiction/plugin.h>

/// Blocks that are eliminated together, and those that this changes.
typedef struct block_front {
    int32_t first, pivots; // in the order of elimination
    const int32_t *blocks; // (pivots + rest) in that order
    int32_t rest;
    int32_t children;
    int64_t place; // of its factor in `factors`
    int32_t pivot; // of its exchanges in `exchanges`
} block_front;

typedef struct block_lu {
    int32_t n, rows;
    const int32_t *size, *row_start, *column; // the caller's
    int32_t *start;                           // (n + 1) first row of a block
    int64_t *offset;                          // of entry e in `values`, size_i x size_j, row-major
    double *values;                           // what is factored: the caller fills it
    int32_t *mirror;                          // entry (j, i) of entry (i, j)
    int32_t *position;                        // (n) in the order of elimination
    block_front *fronts;
    int32_t front_count;
    double *factors, *front, *stack, *work;
    int32_t *exchanges, *local, *relative, *waiting, *rows_of; // rows_of: 0 of blocks left out
    int64_t entries;                                           // of the factor, all blocks in it
} block_lu;

/// Orders and allocates. Entries of row i are [row_start[i], row_start[i + 1]), with the diagonal one, both (i, j) and
/// (j, i); columns ascend. The arrays are borrowed, everything else lives in `arena`. False: out of memory.
bool block_lu_build(int32_t n, const int32_t *size, const int32_t *row_start, const int32_t *column, stn_arena *arena,
                    block_lu *out);
/// Factors `values`, of which the blocks with `left_out` do not take part (NULL: all do). False: a pivot is 0 or not
/// finite.
bool block_lu_factor(block_lu *lu, const bool *left_out);
/// x (rows) = A^-1 x; what blocks left out hold stays.
void block_lu_solve(const block_lu *lu, double *x);

/// Rows of a front are this far apart.
static inline int64_t block_lu_stride(int32_t rows) {
    return (rows + 3) / 4 * 4;
}

#endif
