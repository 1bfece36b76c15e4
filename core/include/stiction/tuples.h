// SPDX-License-Identifier: Apache-2.0
// What neighbours what in a mesh: edges of triangles and faces of tetrahedra as tuples of vertices, sorted so that
// equal ones stand together.
#ifndef STICTION_TUPLES_H
#define STICTION_TUPLES_H

#include <stiction/context.h>

STN_BEGIN_C

/// Tuples of vertices, each with its vertices in rising order. Threads: [any] for all of this file, one at a time for
/// one object.
typedef struct stn_tuples {
    stn_context *context; // whose memory the arrays are
    int32_t width;        // vertices in each: 2 for edges, 3 for faces
    int32_t count;        // tuples
    int32_t *ids;         // (count x width)
    int32_t *order;       // once sorted: the tuples from the smallest to the largest, equal ones as they were written
} stn_tuples;

/// Room for the ids, which the caller writes. STN_ERR_MEMORY; `out` is to be cleared in any case.
STN_API stn_status stn_tuples_create(stn_context *context, int32_t width, int32_t count, stn_tuples *out,
                                     stn_error *err);
STN_API void stn_tuples_clear(stn_tuples *tuples); ///< accepts a zeroed one
/// Fills `order`. The ids are below `vertex_count`. Counting sort, one pass for each place: time and memory are linear
/// whatever the numbers are. STN_ERR_MEMORY.
STN_API stn_status stn_tuples_sort(stn_tuples *tuples, int32_t vertex_count, stn_error *err);
/// First position in `order` behind the tuples equal to the one at `from`.
STN_API int32_t stn_tuples_end(const stn_tuples *tuples, int32_t from);

/// The edges of triangles (count x 3) with vertices below `vertex_count`, sorted. Edge i runs from corner i % 3 of
/// triangle i / 3 to the next one. STN_ERR_MEMORY; `out` is to be cleared in any case.
STN_API stn_status stn_tuples_of_edges(stn_context *context, const int32_t *triangles, int32_t count,
                                       int32_t vertex_count, stn_tuples *out, stn_error *err);
/// The faces of tetrahedra (count x 4), sorted. Face i is that of tetrahedron i / 4 opposite to its corner i % 4. As
/// above.
STN_API stn_status stn_tuples_of_faces(stn_context *context, const int32_t *tetrahedra, int32_t count,
                                       int32_t vertex_count, stn_tuples *out, stn_error *err);

STN_END_C
#endif
