// SPDX-License-Identifier: Apache-2.0
// The field of tetrahedra as they were given: e as the mesh has it, else the distance from the surface over the
// largest.
//
// Edges, faces and tetrahedra inside with all corners on the surface would have no pressure:
// stn_mesh_create_field_ready gives them a vertex in their middle.
#include "field_build.h"

#include <stiction/mesh_query.h>

/// Vertices, extents and tetrahedra of a mesh that is ready; returns the depth: the distance of what is deepest.
static double copy_solid(const stn_mesh *ready, surface_build *s, tetrahedra_build *tetrahedra) {
    int32_t deepest = 0;
    for (int32_t i = 0; i < ready->vertex_count; i++) {
        surface_build_vertex(s, surface_point(ready->vertices, i), ready->extents[i]);
        deepest = ready->extents[i] > ready->extents[deepest] ? i : deepest;
    }
    for (int32_t t = 0; t < ready->tetrahedron_count && !s->failed; t++) {
        const int32_t *v = ready->tetrahedra + 4 * (size_t)t;
        tetrahedra_add(tetrahedra, s->vertices, v[0], v[1], v[2], v[3]);
    }
    stn_mesh_point nearest = {0};
    stn_mesh_nearest(ready, surface_point(ready->vertices, deepest), INFINITY, &nearest);
    return nearest.distance;
}

static stn_status check_count(double count, int32_t max, stn_error *err) {
    if (count > max) {
        return stn_fail(
            err, STN_ERR_ARGUMENT,
            "%.0f tetrahedra of the volume mesh, with those that its field and margin need (about %.0f MB), "
            "are more than the %d that are allowed: give a coarser mesh",
            count, count * surface_plan_bytes * 1e-6, max);
    }
    return STN_OK;
}

stn_status field_of_mesh(stn_context *context, const stn_mesh *mesh, double margin, int32_t max_tetrahedra, field **out,
                         stn_error *err) {
    *out = NULL;
    stn_mesh *ready = NULL;
    double prisms = margin > 0.0 ? 3.0 * mesh->triangle_count : 0.0;
    stn_status status = check_count(mesh->tetrahedron_count + prisms, max_tetrahedra, err);
    if (status == STN_OK) {
        status = stn_mesh_create_field_ready(mesh, &ready, err);
    }
    if (status == STN_OK) {
        status = check_count(ready->tetrahedron_count + prisms, max_tetrahedra, err);
    }
    if (status != STN_OK) {
        stn_mesh_release(ready);
        return status;
    }
    surface_build s = surface_build_empty(context);
    tetrahedra_build tetrahedra = {.context = context};
    double depth = copy_solid(ready, &s, &tetrahedra);
    if (margin > 0.0 && !s.failed) {
        field_skirt(mesh, margin, depth, &s, &tetrahedra);
    }
    stn_mesh_release(ready);
    return field_take(&s, &tetrahedra, depth, out, err);
}
