// SPDX-License-Identifier: Apache-2.0
// Supernodal block Cholesky, analysed once for a pattern. Blocks are eliminated in a fill-reducing order; columns of
// blocks with (nearly) the same rows below share one dense panel (a supernode, see base/kernels.h). A panel is
// factored as soon as nothing more will be subtracted from it, and then subtracts its outer product from the panels
// of its ancestors, run by run of consecutive rows.
#ifndef STICTION_CORE_FACTOR_BLOCK_FACTOR_H
#define STICTION_CORE_FACTOR_BLOCK_FACTOR_H

#include <stiction/factor.h>
#include <stiction/threads.h>

#include "base/kernels.h"

/// Panel rows [first, last) of a supernode are columns of one ancestor, consecutive there too. Outer-product columns
/// from them go to `target` (offset of the first column in the ancestor's panel), rows as `runs` say; the first run
/// begins at `first` and covers at least [first, last).
typedef struct block_group {
    int32_t first, last;
    int32_t target_node, target_column; // the ancestor, and its column that the first one is
    int32_t target_place;               // the block that it begins
    int32_t target_ld;
    int64_t target;
    const row_run *runs;
    int32_t run_count;
} block_group;

typedef struct block_supernode {
    int32_t first_block, block_end; // in elimination order
    int32_t first_column;           // scalar, in elimination order
    int32_t columns, rows, ld;
    int64_t panel;
    int32_t parent; // supernode of the first row below, -1: none
    int32_t group_start, group_end;
    int32_t gather_start, gather_end; // runs from panel rows below to the whole vector
} block_supernode;

/// Where pattern entry e goes: its first value's place in the panels, and how. Rows and columns are those of the block
/// as stored; element (r, c) goes to target + r + c ld, or, flipped, to target + r ld + c.
typedef struct block_entry {
    int64_t target;
    int32_t rows, columns, ld;
    int32_t place; // block column of L, in elimination order
    bool flipped;
    bool diagonal; // only its lower triangle has a meaning
} block_entry;

typedef struct block_factor {
    stn_context *context;
    stn_arena *arena; // owns everything below but the values
    const panel_kernels *kernels;
    int32_t n, block_count, entry_count, supernode_count;
    int32_t *order;          // (block_count) original block at every place of the elimination order
    int32_t *original_start; // (block_count + 1) first scalar row of every original block
    int32_t *start;          // (block_count + 1) the same in elimination order
    block_supernode *supernodes;
    block_group *groups;
    row_run *gather_runs;
    block_entry *entries;
    int32_t *supernode_of; // (block_count) of every original block
    int64_t value_count;
    double *values; // panels
    double *scale;  // (n) 1/l_jj
    int32_t failed; // column in elimination order that had no pivot, -1
    double *t, *x;  // work space of solve
    // of refactor: supernodes that a changing block decides (supernode_count), entries that change (entry_count)
    bool *decided;
    int32_t *changing, changing_count;
    double *base; // their panels before the entries that change, one after the other; grows, and is the context's
    size_t base_capacity;
    bool base_ready;
    bool worth_base; // enough is decided by no changing block
    stn_threads *threads;
    struct block_tasks *tasks; // the work of numeric and solve, cut for threads; NULL: not yet
} block_factor;

/// Multiplications of a factorisation.
double block_tree_work(const stn_block_tree *tree);
/// The better of minimum degree and nested dissection. False: out of memory.
bool block_order(const stn_block_pattern *pattern, stn_arena *scratch, int32_t *order);
stn_status block_factor_analyse(stn_context *context, const stn_block_pattern *pattern, block_factor **out,
                                stn_error *err);
void block_factor_release(block_factor *f);

/// block_steps.c
/// Writes entry e of a matrix to its place in the panels.
void block_write_entry(const block_factor *f, const stn_block_matrix *matrix, int32_t e);
/// Subtracts panel rows [first, end) of group g of supernode `node`, which is factored, from the ancestor's panel.
void block_subtract(const block_factor *f, const block_supernode *node, const block_group *g, int32_t first,
                    int32_t end);
/// Factors the panel of a supernode and subtracts from those of its ancestors before supernode `end`. -1, or the column
/// in elimination order that has no pivot.
int32_t block_eliminate(block_factor *f, const block_supernode *node, int32_t end);
/// Brings the own part of x (of supernode `node`, in elimination order) to L^-1 x; t (ld) receives what is to be added
/// to the rows below.
void block_forward(const block_factor *f, const block_supernode *node, double *x, double *t);
/// Brings the own part of x to L^-T x; t (ld) is work space.
void block_backward(const block_factor *f, const block_supernode *node, double *x, double *t);

/// block_tasks.c: numeric and solve by several threads; all bits are those of one.
/// Is it worth it, and is there memory?
bool block_tasks_ready(block_factor *f);
/// Is it worth it for a solve, too?
bool block_tasks_worth_solving(const block_factor *f);
/// False: some pivot is not > 0.
bool block_tasks_factor(block_factor *f, const stn_block_matrix *matrix);
/// x (n), in elimination order.
void block_tasks_solve(block_factor *f, double *x);
#endif
