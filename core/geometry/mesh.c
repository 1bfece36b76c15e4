// SPDX-License-Identifier: Apache-2.0
// Meshes as values: shared by counted references.
#include <stiction/mesh.h>

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
    return mesh;
}

void stn_mesh_release(const stn_mesh *mesh) {
    (void)mesh;
}
