// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_FACTOR_NESTED_DISSECTION_H
#define STICTION_CORE_FACTOR_NESTED_DISSECTION_H

#include "factor/minimum_degree.h"

/// order[k] = the vertex eliminated as k-th. For meshes, where it leaves less fill than minimum degree; all vertices
/// count the same. A function of the graph alone. False when `scratch` is out of memory.
bool nested_dissection(const graph *g, stn_arena *scratch, int32_t *order);

#endif
