// SPDX-License-Identifier: Apache-2.0
// Meshes as values: shared by counted references.
#include "geometry/mesh.h"

void raw_mesh_clear(raw_mesh *raw) {
    if (raw->context != NULL) {
        stn_release(raw->context, raw->vertices);
        stn_release(raw->context, raw->triangles);
        stn_release(raw->context, raw->tetrahedra);
    }
    *raw = (raw_mesh){0};
}

stn_status mesh_from_raw(stn_context *context, const raw_mesh *raw, stn_mesh **out, stn_error *err) {
    (void)context;
    (void)raw;
    *out = NULL;
    return stn_fail(err, STN_ERR_UNSUPPORTED, "mesh: not built yet");
}

stn_status mesh_from_parts(stn_context *context, const stn_mesh *parts, stn_mesh **out, stn_error *err) {
    (void)context;
    (void)parts;
    *out = NULL;
    return stn_fail(err, STN_ERR_UNSUPPORTED, "mesh: not built yet");
}

stn_status stn_mesh_create(stn_context *context, const stn_mesh_data *data, stn_mesh **out, stn_error *err) {
    (void)context;
    (void)data;
    *out = NULL;
    return stn_fail(err, STN_ERR_UNSUPPORTED, "mesh: not built yet");
}

stn_status stn_mesh_create_hull(const stn_mesh *mesh, stn_mesh **out, stn_error *err) {
    (void)mesh;
    *out = NULL;
    return stn_fail(err, STN_ERR_UNSUPPORTED, "mesh: not built yet");
}

stn_status stn_mesh_create_scaled(const stn_mesh *mesh, stn_vec3 scale, stn_mesh **out, stn_error *err) {
    (void)mesh;
    (void)scale;
    *out = NULL;
    return stn_fail(err, STN_ERR_UNSUPPORTED, "mesh: not built yet");
}

const stn_mesh *stn_mesh_keep(const stn_mesh *mesh) {
    atomic_fetch_add_explicit(&((mesh_object *)mesh)->references, 1, memory_order_relaxed);
    return mesh;
}

void stn_mesh_release(const stn_mesh *mesh) {
    mesh_object *object = (mesh_object *)mesh;
    if (object != NULL && atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel) == 1) {
        stn_release(object->context, (void *)mesh->vertices);
        stn_release(object->context, (void *)mesh->triangles);
        stn_release(object->context, (void *)mesh->tetrahedra);
        stn_release(object->context, object);
    }
}
