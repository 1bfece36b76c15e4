// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_FACTOR_MINIMUM_DEGREE_H
#define STICTION_CORE_FACTOR_MINIMUM_DEGREE_H

#include <stiction/context.h>

/// Undirected graph without loops: the neighbours of i are neighbour[start[i]] ... neighbour[start[i + 1] - 1].
typedef struct graph {
    int32_t n;
    const int32_t *start, *neighbour;
} graph;

/// order[k] = the vertex eliminated as k-th. `weight` > 0: how many scalar columns a vertex stands for. A function of
/// the inputs alone. False when `scratch` is out of memory.
bool minimum_degree(const graph *g, const int32_t *weight, stn_arena *scratch, int32_t *order);

#endif
