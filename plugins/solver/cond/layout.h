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
    int32_t body; // that it belongs to, -1: none
} cond_tree;

/// The part of a Jacobian that acts on one node, or on a tree that is not nodal.
typedef struct cond_piece {
    const double *J; // (rows x columns), a row every `pitch`
    int32_t pitch, columns;
    int32_t place; // of its velocities
    int32_t constraint, row, rows;
    int32_t unit;           // index into cond_contacts.units
    const double *response; // (rows x body->size) W J^T of its body, a row for each row of J; NULL on nodes
} cond_piece;

/// Dense trees whose part of W is exact: one, or several that springs tie to each other; their velocities follow each
/// other. Springs are equality rows and soft rows with bounds, R > 0, of these trees alone: their impulses clamp((v_hat
/// - v_c)/R, lo, hi) count as forces of v, and their stiffness 1/R is in W^-1.
typedef struct cond_body {
    int32_t place, size, width; // width: with padding
    int32_t first, end;         // of body_trees
    int32_t first_spring, end_spring;
    double *matrix;  // (size x size) A + J^T R^-1 J, row-major
    double *inverse; // its inverse, W
} cond_body;

/// A spring, and its pieces.
typedef struct cond_spring {
    int32_t constraint, first, end;
} cond_spring;

/// Consecutive nodes of one tree, or a body: what a worker does at a time.
typedef struct cond_chunk {
    int32_t tree, body;   // one of them is -1
    int32_t first, end;   // nodes, within the tree
    int32_t place, width; // of their velocities in padded vectors
} cond_chunk;

/// The padded vectors of a problem of global form.
typedef struct cond_layout {
    const stn_problem *problem;
    int32_t size; // of padded vectors
    int32_t chunk_count, body_count, spring_count;
    cond_tree *trees;     // (tree_count)
    cond_body *bodies;    // (body_count)
    int32_t *body_trees;  // trees by body
    cond_spring *springs; // (spring_count) by body
    cond_piece *spring_pieces;
    bool *is_spring;    // (constraint_count)
    cond_chunk *chunks; // (chunk_count), by place
} cond_layout;

/// Everything lives in `arena`. STN_ERR_MEMORY; STN_ERR_NUMERIC: the A of a body is not positive definite.
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
/// Pieces of constraint `index`, and how many; counts alone where `out` is NULL. `unit` is the place of the node or
/// body.
int32_t cond_split(const cond_layout *layout, int32_t index, cond_piece *out);
/// y = A x in the places of a chunk. Sums run in the same order whoever calls.
void cond_product(const cond_layout *layout, const cond_chunk *chunk, const double *x, double *y);
/// q = J^T gamma of the springs of a body, at velocities v, into its places; the impulses into `gamma` (row_count).
void cond_spring_impulses(const cond_layout *layout, const cond_body *body, const double *v, double *gamma, double *q);
/// Sums of four lanes.
STN_KERNEL_INLINE double cond_total(cond_v4 x) {
    return (x[0] + x[1]) + (x[2] + x[3]);
}
STN_KERNEL_INLINE cond_v4 cond_load(const double *x) {
    return *(const cond_v4 *)x;
}
/// y = W x: in `width` places from `place`, whole nodes, `w` being the diagonal of W; of a body (`body` not NULL) by
/// its part of W.
void cond_weigh(const cond_body *body, int32_t place, int32_t width, const double *w, const double *x, double *y);

#endif
