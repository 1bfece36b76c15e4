// SPDX-License-Identifier: Apache-2.0
// H = A + J^T G J over the velocities of a global problem, G block diagonal over constraints: what methods that keep
// the velocities factor. Blocks are trees, or nodes where A is nodal; in the order of the dofs.
#ifndef SOLVER_COMMON_AUGMENTED_H
#define SOLVER_COMMON_AUGMENTED_H

#include "common/symbolic_cache.h"

/// A panel of a constraint's Jacobian that lies in one block: rows x n at `values`, rows `stride` apart.
typedef struct augmented_part {
    int32_t block, n, stride;
    const double *values;
} augmented_part;

typedef struct augmented {
    const stn_problem *problem;
    stn_block_matrix matrix; // lower triangle
    const int32_t *place;    // (block_count + 1) first dof of a block
    const int32_t *block;    // (tree_count) first block of a tree
    const int32_t *entry;    // what products of parts are added to, in the order of assembly
    augmented_part *parts;   // of one constraint
    double *scratch;         // G J of one of them
    const stn_factor_ops *ops;
    void *factor;
} augmented;

/// Finds the pattern and its symbolic factor. The workspace of `control` is a symbolic_cache; its factor plugin is used
/// where there is one, else the core's: dense for small systems. Everything else lives in the arena.
stn_status augmented_build(const stn_problem *problem, const stn_solve_control *control, augmented *out,
                           stn_error *err);
/// Sums and factors. G holds STN_MAX_ROWS^2 numbers a constraint, of which the first rows x rows are its block,
/// row-major, symmetric. STN_ERR_NUMERIC: H is singular.
stn_status augmented_factor(augmented *h, const double *G, stn_error *err);
/// x (nv) = H^-1 x.
void augmented_solve(const augmented *h, double *x);

#endif
