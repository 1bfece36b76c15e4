// SPDX-License-Identifier: Apache-2.0
// Elimination order, elimination tree and the rows of L, all in blocks.
#ifndef STICTION_CORE_FACTOR_BLOCK_TREE_H
#define STICTION_CORE_FACTOR_BLOCK_TREE_H

#include <stiction/factor.h>

typedef struct block_tree {
    int32_t n;
    int32_t *order;  // (n) original block at every place: minimum degree, then postordered
    int32_t *place;  // (n) the inverse
    int32_t *size;   // (n) block sizes, by place
    int32_t *parent; // (n) by place, -1: root
    /// Block rows of L below the diagonal, ascending: row[column_start[j]] ...
    int32_t *column_start, *row;
} block_tree;

/// All arrays from `scratch`; false when it is out of memory.
bool block_tree_build(const stn_block_pattern *pattern, stn_arena *scratch, block_tree *out);

#endif
