// SPDX-License-Identifier: Apache-2.0
// Meshes of any numbers. Whatever is made must hold together: indices in range, finite figures, and a hull that is
// closed, has the mesh inside its box and at least its volume.
#include <stdlib.h>
#include <string.h>

#include <stiction/mesh_query.h>

#include "mesh_input.h"
#include "must.h"
#include "split_mesh.h"

static void check_mesh(const stn_mesh *mesh) {
    must(mesh->triangle_count > 0 && isfinite(mesh->facts.area) && isfinite(mesh->facts.volume));
    must(mesh->solid.mass >= 0.0 && isfinite(mesh->solid.mass) && stn_vec3_finite(mesh->solid.com));
    for (int32_t i = 0; i < 3 * mesh->triangle_count; i++) {
        must(mesh->triangles[i] >= 0 && mesh->triangles[i] < mesh->vertex_count);
    }
    for (int32_t i = 0; i < 4 * mesh->tetrahedron_count; i++) {
        must(mesh->tetrahedra[i] >= 0 && mesh->tetrahedra[i] < mesh->vertex_count);
    }
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        for (int32_t k = 0; k < i; k++) {
            must(memcmp(mesh->vertices + 3 * (size_t)i, mesh->vertices + 3 * (size_t)k, 3 * sizeof(double)) != 0);
        }
    }
}

/// Vertex in units of the sides of the box, from its lower corner: distances that do not depend on how thin the body
/// is.
static stn_vec3 relative(const stn_aabb *box, const double *v) {
    stn_vec3 size = stn_vec3_sub(box->upper, box->lower);
    return stn_vec3_make((v[0] - box->lower.x) / size.x, (v[1] - box->lower.y) / size.y,
                         (v[2] - box->lower.z) / size.z);
}

static void check_inside(const stn_mesh *mesh, const stn_mesh *hull) {
    for (int32_t i = 0; i < hull->triangle_count; i++) {
        stn_vec3 corner[3];
        for (int32_t k = 0; k < 3; k++) {
            corner[k] = relative(&hull->bounds, hull->vertices + 3 * (size_t)hull->triangles[3 * i + k]);
        }
        stn_vec3 normal = stn_vec3_normalize_or(
            stn_vec3_cross(stn_vec3_sub(corner[1], corner[0]), stn_vec3_sub(corner[2], corner[0])), stn_vec3_zero());
        must(stn_vec3_norm(normal) > 0.0);
        for (int32_t k = 0; k < mesh->vertex_count; k++) {
            stn_vec3 p = relative(&hull->bounds, mesh->vertices + 3 * (size_t)k);
            must(stn_vec3_dot(normal, stn_vec3_sub(p, corner[0])) <= 1e-12);
        }
    }
}

/// Repaired tetrahedra have volume, and share faces as their neighbours say; they can be made ready for a field.
static void check_solid(stn_context *context, const stn_mesh *mesh) {
    const int32_t *across = stn_mesh_across_faces(mesh);
    must(across != NULL && mesh->facts.open_edge_count >= 0 && mesh->facts.solid.part_count > 0);
    int32_t outer = 0;
    for (int32_t i = 0; i < 4 * mesh->tetrahedron_count; i++) {
        const int32_t *back = across + 4 * (size_t)(across[i] < 0 ? 0 : across[i]);
        must(across[i] < 0 || back[0] == i / 4 || back[1] == i / 4 || back[2] == i / 4 || back[3] == i / 4);
        outer += across[i] < 0;
    }
    must(outer == mesh->triangle_count);
    for (int32_t i = 0; i < 3 * mesh->triangle_count && mesh->extents != NULL; i++) {
        must(mesh->extents[mesh->triangles[i]] == 0.0);
    }
    split_mesh(context, mesh);
    stn_mesh_finding found;
    for (int32_t i = 0; stn_mesh_finding_of(mesh, i, &found); i++) {
        must(i < 16 && found.text[0] != '\0' && strchr(found.text, '\n') == NULL);
    }
}

static void check_hull(const stn_mesh *mesh) {
    stn_mesh *hull = NULL, *scaled = NULL;
    stn_error err;
    stn_status status = stn_mesh_create_hull(mesh, &hull, &err);
    if (status != STN_OK) {
        must(status == STN_ERR_ARGUMENT && hull == NULL); // flat; nothing else may stop so few points
        return;
    }
    check_mesh(hull);
    must(hull->convex && hull->triangle_count == 2 * hull->vertex_count - 4 && hull->solid.mass > 0.0);
    check_inside(mesh, hull);
    if (stn_mesh_create_scaled(hull, stn_vec3_make(2.0, -1.0, 0.5), &scaled, &err) == STN_OK) {
        check_mesh(scaled);
    }
    stn_mesh_release(scaled);
    stn_mesh_release(hull);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static input in; // large; filled anew
    input_begin(&in, data, size);
    stn_context *context;
    must(stn_context_create(NULL, &context, NULL) == STN_OK);
    stn_mesh_data mesh_data = input_mesh(&in);
    stn_mesh *mesh = NULL;
    stn_error err;
    if (stn_mesh_create(context, &mesh_data, &mesh, &err) == STN_OK) {
        check_mesh(mesh);
        if (mesh->tetrahedron_count > 0) {
            check_solid(context, mesh);
        }
        check_hull(mesh);
    }
    stn_mesh_release(mesh);
    stn_context_destroy(context);
    return 0;
}
