// SPDX-License-Identifier: Apache-2.0
// Tuples of vertices, sorted so that equal ones stand together: edges of triangles as pairs, faces of tetrahedra as
// triples, each with its vertices in rising order. Counting sort, one pass for each place: time and memory are linear
// whatever the numbers are.
#ifndef STICTION_CORE_GEOMETRY_MESH_TUPLES_H
#define STICTION_CORE_GEOMETRY_MESH_TUPLES_H

#include "geometry/mesh.h"

typedef struct tuples {
    stn_context *context;
    int32_t width;  // 2: edges, 3: faces
    int32_t count;  // at most INT32_MAX by MESH_COUNT_MAX
    int32_t *ids;   // (count x width) rising
    int32_t *order; // once sorted: the tuples from the smallest to the largest
} tuples;

/// Room for the ids, which the caller writes.
stn_status tuples_create(stn_context *context, int32_t width, int32_t count, tuples *out, stn_error *err);
void tuples_clear(tuples *t); ///< accepts a zeroed one
/// Fills `order`; equal tuples keep the order in which they were written.
stn_status tuples_sort(tuples *t, int32_t vertex_count, stn_error *err);
/// First position in `order` behind the tuples equal to the one at `from`.
int32_t tuples_end(const tuples *t, int32_t from);

#endif
