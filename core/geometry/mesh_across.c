// SPDX-License-Identifier: Apache-2.0
// Which triangles share an edge and which tetrahedra a face, kept with the mesh.
#include <stiction/mesh_query.h>

#include "geometry/mesh_build.h"

static int32_t *make_across(const stn_mesh *mesh, stn_context *context) {
    const raw_mesh view = {.context = context,
                           .vertex_count = mesh->vertex_count,
                           .triangle_count = mesh->triangle_count,
                           .triangles = (int32_t *)mesh->triangles};
    int32_t *across = stn_allocate(context, 3 * (size_t)mesh->triangle_count, sizeof *across);
    if (across != NULL && mesh_pair_edges(&view, across, NULL) != STN_OK) {
        stn_release(context, across);
        return NULL;
    }
    return across;
}

static int32_t *make_across_faces(const stn_mesh *mesh, stn_context *context) {
    int32_t *across = stn_allocate(context, 4 * (size_t)mesh->tetrahedron_count, sizeof *across);
    if (across != NULL && stn_tetrahedra_across(context, mesh->tetrahedra, mesh->tetrahedron_count, mesh->vertex_count,
                                                across, NULL) != STN_OK) {
        stn_release(context, across);
        return NULL;
    }
    return across;
}

/// What the mesh keeps at `place`, made at the first call.
static const int32_t *kept(const stn_mesh *mesh, int32_t *_Atomic *place,
                           int32_t *(*make)(const stn_mesh *mesh, stn_context *context)) {
    stn_context *context = ((mesh_object *)mesh)->context;
    int32_t *across = atomic_load_explicit(place, memory_order_acquire);
    if (across != NULL) {
        return across;
    }
    int32_t *made = make(mesh, context);
    if (made != NULL &&
        !atomic_compare_exchange_strong_explicit(place, &across, made, memory_order_acq_rel, memory_order_acquire)) {
        stn_release(context, made); // another thread was first
        return across;
    }
    return made;
}

const int32_t *stn_mesh_across(const stn_mesh *mesh) {
    return kept(mesh, &((mesh_object *)mesh)->across, make_across);
}

const int32_t *stn_mesh_across_faces(const stn_mesh *mesh) {
    return mesh->tetrahedron_count > 0 ? kept(mesh, &((mesh_object *)mesh)->across_faces, make_across_faces) : NULL;
}
