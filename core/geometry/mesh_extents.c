// SPDX-License-Identifier: Apache-2.0
// Pressure fields of solids, one extent for each vertex: those that were given, and the distance to the surface.
#include <stiction/mesh_query.h>

#include "geometry/mesh_build.h"

stn_status mesh_check_extents(const raw_mesh *raw, stn_error *err) {
    if (raw->tetrahedron_count == 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "mesh: extents of a surface: only tetrahedra have a pressure field");
    }
    for (size_t i = 0; i < 4 * (size_t)raw->tetrahedron_count; i++) {
        double extent = raw->extents[raw->tetrahedra[i]];
        if (!mesh_extent_in_range(extent)) {
            return stn_fail(err, STN_ERR_ARGUMENT,
                            "mesh: extent %g at vertex %d (counted from 0) of tetrahedron %zu: must be from 0 (on the "
                            "surface) to 1 (deepest)",
                            extent, raw->tetrahedra[i], i / 4);
        }
    }
    return STN_OK;
}

bool mesh_extents_agree(double a, double b) {
    return isnan(a) || isnan(b) || fabs(a - b) <= MESH_EXTENT_EXACTNESS;
}

stn_status mesh_finish_extents(raw_mesh *mesh, int32_t *raised_count, stn_error *err) {
    double largest = 0.0;
    *raised_count = 0;
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        mesh->extents[i] = fmin(fmax(mesh->extents[i], 0.0), 1.0); // of unused vertices, which go, NAN becomes 0
    }
    for (size_t i = 0; i < 3 * (size_t)mesh->triangle_count; i++) {
        double *extent = &mesh->extents[mesh->triangles[i]];
        *raised_count += *extent > MESH_EXTENT_EXACTNESS;
        *extent = 0.0;
    }
    for (size_t i = 0; i < 4 * (size_t)mesh->tetrahedron_count; i++) {
        largest = fmax(largest, mesh->extents[mesh->tetrahedra[i]]);
    }
    if (!(largest > 0.0)) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "mesh: its field is 0 at all vertices inside: give extents up to 1, or none");
    }
    return STN_OK;
}

stn_status stn_mesh_distance_extents(const stn_mesh *mesh, double *extents, stn_error *err) {
    if (mesh->tetrahedron_count == 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "mesh: no tetrahedra: a surface has no pressure field");
    }
    stn_status status = stn_mesh_prepare(mesh, err);
    if (status != STN_OK) {
        return status;
    }
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        extents[i] = NAN;
    }
    for (size_t i = 0; i < 3 * (size_t)mesh->triangle_count; i++) {
        extents[mesh->triangles[i]] = 0.0;
    }
    double largest = 0.0, reach = INFINITY; // no point of the surface is further from the vertex
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        stn_mesh_point nearest = {0};
        if (isnan(extents[i])) {
            stn_vec3 p = mesh_vertex(mesh->vertices, i);
            if (i > 0) { // the way over the vertex before
                stn_vec3 before = mesh_vertex(mesh->vertices, i - 1);
                reach = (extents[i - 1] + stn_vec3_norm(stn_vec3_sub(p, before))) * (1.0 + 1e-9);
            }
            bool found = stn_mesh_nearest(mesh, p, reach, &nearest);
            extents[i] = found || stn_mesh_nearest(mesh, p, INFINITY, &nearest) ? nearest.distance : 0.0;
            largest = fmax(largest, extents[i]);
        }
    }
    if (!(largest > 0.0)) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "mesh: all its vertices lie on the surface: stn_mesh_create_field_ready puts some inside");
    }
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        extents[i] /= largest;
    }
    return STN_OK;
}
