// SPDX-License-Identifier: Apache-2.0
// Disjoint sets of numbers 0 .. count - 1, joined one by one; a set is named by its smallest member.
#ifndef STICTION_CORE_GEOMETRY_MESH_SETS_H
#define STICTION_CORE_GEOMETRY_MESH_SETS_H

#include "geometry/mesh.h"

typedef struct mesh_sets {
    stn_context *context;
    int32_t *parent; // (count) a smaller member, or itself
} mesh_sets;

static inline stn_status mesh_sets_create(stn_context *context, int32_t count, mesh_sets *out, stn_error *err) {
    *out = (mesh_sets){context, stn_allocate(context, (size_t)count, sizeof *out->parent)};
    if (out->parent == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory for its parts");
    }
    for (int32_t i = 0; i < count; i++) {
        out->parent[i] = i;
    }
    return STN_OK;
}

static inline void mesh_sets_clear(mesh_sets *s) {
    stn_release(s->context, s->parent);
}

/// The name of the set; the way there is halved for the next time.
static inline int32_t mesh_sets_find(mesh_sets *s, int32_t i) {
    while (s->parent[i] != i) {
        s->parent[i] = s->parent[s->parent[i]];
        i = s->parent[i];
    }
    return i;
}

static inline void mesh_sets_join(mesh_sets *s, int32_t a, int32_t b) {
    int32_t x = mesh_sets_find(s, a), y = mesh_sets_find(s, b);
    s->parent[x > y ? x : y] = x > y ? y : x;
}

#endif
