// SPDX-License-Identifier: Apache-2.0
// Islands of a problem: what no constraint couples is solved, and differentiated, apart.
#ifndef STICTION_ISLANDS_H
#define STICTION_ISLANDS_H

#include <stiction/problem.h>

STN_BEGIN_C

/// Connected components of the graph tree - constraint. Trees without constraint are in no island: v = v_star there.
/// Islands are ordered by their smallest tree, trees and constraints ascend within one. Of a local problem: constraints
/// that W or bilateral rows couple, without trees, ordered by their smallest constraint.
typedef struct stn_islands {
    int32_t count;                                // of islands
    const int32_t *tree_start, *tree;             // (count + 1), then trees
    const int32_t *tree_position;                 // (tree_count) index of a tree within its island, -1 in none
    const int32_t *constraint_start, *constraint; // (count + 1), then constraints
} stn_islands;

/// Arrays live in `arena`. STN_ERR_MEMORY is the only failure. Thread: [any].
STN_API stn_status stn_problem_islands(const stn_problem *problem, stn_arena *arena, stn_islands *out, stn_error *err);
/// Island i as a problem of its own, in `arena`: own dof and row numbering, matrices and Jacobian values shared.
/// STN_ERR_MEMORY is the only failure. Thread: [any].
STN_API stn_status stn_problem_island(const stn_problem *problem, const stn_islands *islands, int32_t i,
                                      stn_arena *arena, stn_problem *out, stn_error *err);

STN_END_C
#endif
