// SPDX-License-Identifier: Apache-2.0
// Velocities of a problem laid out for products with A: nodes padded to whole vectors, cut into chunks that workers
// take.
#ifndef SOLVER_COND_LAYOUT_H
#define SOLVER_COND_LAYOUT_H

#include <stiction/kernel.h>
#include <stiction/plugin.h>

// Passed by value only between inlined functions, so no ABI is at stake.
#pragma GCC diagnostic ignored "-Wpsabi"
/// Four doubles, anywhere.
typedef double cond_v4 __attribute__((vector_size(32), aligned(8), may_alias));

/// Where the velocities of a tree are. Node i has `size` of them at place + stride i, zeros behind them up to `stride`.
/// A tree that is not nodal counts as one node.
typedef struct cond_tree {
    const stn_matrix *A;
    int32_t place, size, stride, nodes;
    const double *inverse; // (size x size) A^-1 of a dense tree, row-major; else NULL
} cond_tree;

/// Consecutive nodes of one tree: what a worker does at a time.
typedef struct cond_chunk {
    int32_t tree;
    int32_t first, end;   // nodes, within the tree
    int32_t place, width; // of their velocities in padded vectors
} cond_chunk;

/// The padded vectors of a problem of global form.
typedef struct cond_layout {
    const stn_problem *problem;
    int32_t size; // of padded vectors
    int32_t chunk_count;
    cond_tree *trees;   // (tree_count)
    cond_chunk *chunks; // (chunk_count), by place
} cond_layout;

/// Everything lives in `arena`. STN_ERR_MEMORY; STN_ERR_NUMERIC: a dense A is not positive definite.
stn_status cond_layout_build(const stn_problem *problem, stn_arena *arena, cond_layout *out, stn_error *err);
/// A zeroed padded vector; NULL: out of memory.
double *cond_vector(const cond_layout *layout, stn_arena *arena);
/// Place of dof `dof` of a tree.
static inline int32_t cond_place(const cond_tree *tree, int32_t dof) {
    return tree->place + dof / tree->size * tree->stride + dof % tree->size;
}
/// From v (nv) to a padded vector, whose padding stays, and back.
void cond_pack(const cond_layout *layout, const double *v, double *x);
void cond_unpack(const cond_layout *layout, const double *x, double *v);
/// y = A x in the places of a chunk. Sums run in the same order whoever calls.
void cond_product(const cond_layout *layout, const cond_chunk *chunk, const double *x, double *y);
/// Sums of four lanes.
STN_KERNEL_INLINE double cond_total(cond_v4 x) {
    return (x[0] + x[1]) + (x[2] + x[3]);
}
STN_KERNEL_INLINE cond_v4 cond_load(const double *x) {
    return *(const cond_v4 *)x;
}
/// y = W x in `width` places from `place` of a tree, whole nodes: `w` is the diagonal of W, but of dense trees, whose
/// part is the inverse.
void cond_weigh(const cond_tree *tree, int32_t place, int32_t width, const double *w, const double *x, double *y);

#endif
