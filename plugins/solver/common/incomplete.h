// SPDX-License-Identifier: Apache-2.0
// An incomplete factor of a block-sparse symmetric positive definite matrix H, the preconditioner of conjugate
// gradients where a whole factor fills in:
//
//     H ~ U^T S^-1 U,    U block upper triangular with diagonal blocks S_k, by places in the order of elimination
//
// The order is that of stn_block_tree_build. Level of fill [saad-2003, section 10.3.3]: an entry of H has 0, one that
// the elimination of k makes has the sum of those of its two entries in row k, plus 1. Entries beyond LEVEL are left
// out. What is left out may cost a pivot block its definiteness: the diagonal of H is taken SHIFT larger, and a block
// that has lost it even so is replaced by that of H. Numbers are single: half the memory, which is what the time goes
// with, and rounding far below what is left out. H and the vectors are double.
#ifndef SOLVER_COMMON_INCOMPLETE_H
#define SOLVER_COMMON_INCOMPLETE_H

#include <stiction/factor.h>

#include "common/tree_parts.h"

typedef struct incomplete {
    int32_t n;             // blocks
    const int32_t *order;  // (n) block of the pattern at every place
    const int32_t *size;   // (n) by place
    int32_t *length;       // (n) size rounded up to 4: rows of blocks and parts of vectors end in zeros
    int32_t *start;        // (n + 1) where the part of every place begins in vectors
    int32_t *original;     // (n + 1) first scalar row of every block in the order of the pattern
    int32_t *row_start;    // (n + 1) entries of U of place k: column[row_start[k]] ..., the diagonal first
    int32_t *column;       // places, ascending
    int32_t *above_start;  // (n + 1) entries of U in the column of place k above its diagonal ...
    int32_t *above;        // ... by rows in the order of elimination
    int32_t *row;          // (row_start[n]) the row of every entry
    int64_t *offset;       // (row_start[n] + 1) of every entry in `values`: rows x length
    int32_t *source;       // (row_start[n]) entry of the pattern, -1: none, fill alone
    bool *flipped;         // (row_start[n]) ... whose transpose it is
    int32_t *target_start; // (row_start[n]) of every entry of a row k beside the diagonal, x: where `target` says ...
    int32_t *target; // ... for each entry y >= x of row k from which entry S^-1 U_x, times U_y, goes; -1: left out
    float *values;   // U, its diagonal blocks inverted
    int32_t largest; // length
    bool sixes;      // all blocks are of size 6, as of bodies
    float *vector;   // (start[n])
    float *work;     // (workers x work_size)
    int32_t work_size;
    int32_t *cross_start;  // (n + 1) entries of the pattern in row i of the lower triangle before its diagonal ...
    int32_t *cross;        // ... ascending by column
    int32_t *cross_column; // ... their columns
    int32_t slice_count;
    int32_t *slice_start; // (slice_count + 1) columns of the pattern, for products with it
    stn_threads *threads;
    tree_parts parts;
    double complete_work; // multiplications of a whole factorisation in the same order
} incomplete;

/// What a whole factorisation would take (complete_work) and the order; all in `arena`. False: out of memory.
bool incomplete_order(const stn_block_pattern *pattern, stn_arena *arena, stn_block_tree *tree, incomplete *out);
/// The entries, after incomplete_order. `threads` share the work of what follows; no bit depends on them.
bool incomplete_analyse(const stn_block_pattern *pattern, stn_threads *threads, stn_arena *arena,
                        const stn_block_tree *tree, incomplete *out);
/// False: a diagonal block of H itself is not positive definite.
bool incomplete_factor(const incomplete *f, const stn_block_matrix *matrix);
/// z = (U^T S^-1 U)^-1 r, in the order of the pattern.
void incomplete_solve(const incomplete *f, const double *r, double *z);
/// y = H x.
void incomplete_times(const incomplete *f, const stn_block_matrix *matrix, const double *x, double *y);

#endif
