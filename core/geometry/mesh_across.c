// SPDX-License-Identifier: Apache-2.0
// Which triangles of a mesh share an edge, kept with the mesh.
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

const int32_t *stn_mesh_across(const stn_mesh *mesh) {
    mesh_object *object = (mesh_object *)mesh;
    int32_t *across = atomic_load_explicit(&object->across, memory_order_acquire);
    if (across != NULL) {
        return across;
    }
    int32_t *made = make_across(mesh, object->context);
    if (made != NULL && !atomic_compare_exchange_strong_explicit(&object->across, &across, made, memory_order_acq_rel,
                                                                 memory_order_acquire)) {
        stn_release(object->context, made); // another thread was first
        return across;
    }
    return made;
}
