// SPDX-License-Identifier: Apache-2.0
// Mesh files, one format for each target. What a reader gives must hold together, and so must the mesh that is made of
// it and, of small ones, its hull and its tetrahedra made ready for a field.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <stiction/plugin.h>

#include "must.h"
#include "split_mesh.h"

extern const stn_plugin_entry stn_plugin; // of the format's plugin, which is compiled in

enum { SMALL = 200 }; // vertices

static void must_name_vertices(const int32_t *index, int64_t count, int32_t vertex_count) {
    for (int64_t i = 0; i < count; i++) {
        must(index[i] >= 0 && index[i] < vertex_count);
    }
}

static void check_raw(const stn_raw_mesh *raw) {
    must(raw->triangle_count > 0 || raw->tetrahedron_count > 0);
    must(raw->vertex_count > 0 && raw->triangle_count >= 0 && raw->tetrahedron_count >= 0);
    for (int64_t i = 0; i < 3 * (int64_t)raw->vertex_count; i++) {
        must(isfinite(raw->vertices[i]));
    }
    must_name_vertices(raw->triangles, 3 * (int64_t)raw->triangle_count, raw->vertex_count);
    must_name_vertices(raw->tetrahedra, 4 * (int64_t)raw->tetrahedron_count, raw->vertex_count);
    must(raw->extents == NULL || raw->tetrahedron_count > 0);
    for (int64_t i = 0; raw->extents != NULL && i < 4 * (int64_t)raw->tetrahedron_count; i++) {
        must(stn_mesh_extent_in_range(raw->extents[raw->tetrahedra[i]]));
    }
}

static void check_mesh(const stn_mesh *mesh) {
    must(mesh->vertex_count > 0 && mesh->triangle_count > 0);
    must_name_vertices(mesh->triangles, 3 * (int64_t)mesh->triangle_count, mesh->vertex_count);
    must_name_vertices(mesh->tetrahedra, 4 * (int64_t)mesh->tetrahedron_count, mesh->vertex_count);
    for (int64_t i = 0; i < 3 * (int64_t)mesh->vertex_count; i++) {
        must(isfinite(mesh->vertices[i]));
    }
}

/// A field is 0 on the surface, from 0 to 1 inside, and not 0 everywhere.
static void check_extents(const stn_mesh *mesh) {
    double largest = 0.0;
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        must(mesh->extents[i] >= 0.0 && mesh->extents[i] <= 1.0);
        largest = fmax(largest, mesh->extents[i]);
    }
    must(largest > 0.0);
    for (int64_t i = 0; i < 3 * (int64_t)mesh->triangle_count; i++) {
        must(mesh->extents[mesh->triangles[i]] == 0.0);
    }
}

static void try_mesh(stn_context *context, const stn_raw_mesh *raw) {
    stn_mesh *mesh = NULL, *hull = NULL;
    stn_error err = {STN_OK, ""};
    const stn_mesh_data data = {.vertex_count = raw->vertex_count,
                                .triangle_count = raw->triangle_count,
                                .tetrahedron_count = raw->tetrahedron_count,
                                .vertices = raw->vertices,
                                .triangles = raw->triangles,
                                .tetrahedra = raw->tetrahedra,
                                .extents = raw->extents};
    stn_status status = stn_mesh_create(context, &data, &mesh, &err);
    must((status == STN_OK) == (mesh != NULL) && (status == STN_OK || err.text[0] != '\0'));
    if (mesh == NULL) {
        return;
    }
    reached("accepted");
    check_mesh(mesh);
    if (mesh->extents != NULL) {
        check_extents(mesh);
    }
    if (mesh->tetrahedron_count > 0 && mesh->vertex_count <= SMALL) {
        split_mesh(context, mesh);
    }
    if (mesh->vertex_count <= SMALL) {
        status = stn_mesh_create_hull(mesh, &hull, &err);
        must((status == STN_OK) == (hull != NULL));
    }
    if (hull != NULL) {
        check_mesh(hull);
    }
    stn_mesh_release(hull);
    stn_mesh_release(mesh);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const stn_mesh_ops *ops = stn_plugin.plugins[0]->ops.mesh;
    stn_context *context = NULL;
    stn_raw_mesh raw = {0};
    stn_error err = {STN_OK, ""};
    char *bytes = malloc(size + 1); // the sanitizer sees every step beyond
    must(bytes != NULL && stn_context_create(NULL, &context, NULL) == STN_OK);
    if (size > 0) {
        memcpy(bytes, data, size);
    }
    bytes[size] = '\0';
    const stn_mesh_source source = {
        .context = context, .path = "fuzz", .bytes = bytes, .size = size, .folder = "/", .root = "/"};
    bool recognised = ops->recognises != NULL && ops->recognises(bytes, size);
    stn_status status = ops->read(NULL, &source, &raw, &err);
    (void)recognised;
    if (status == STN_OK) {
        check_raw(&raw);
        try_mesh(context, &raw);
    } else {
        must(status == STN_ERR_ARGUMENT && strncmp(err.text, "fuzz:", 5) == 0 && strchr(err.text, '\n') == NULL);
        must(raw.vertices == NULL && raw.triangles == NULL && raw.tetrahedra == NULL && raw.extents == NULL);
    }
    stn_release(context, raw.vertices);
    stn_release(context, raw.triangles);
    stn_release(context, raw.tetrahedra);
    stn_release(context, raw.extents);
    stn_context_destroy(context);
    free(bytes);
    return 0;
}
