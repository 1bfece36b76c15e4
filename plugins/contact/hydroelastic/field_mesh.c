// SPDX-License-Identifier: Apache-2.0
// The field of tetrahedra as they were given: e as the mesh has it, else the distance from the surface over the
// largest.
//
// A tetrahedron with all corners on the surface would have no pressure inside: it gets a vertex in its middle.
#include "field_build.h"

#include <stiction/mesh_query.h>

static bool *surface_vertices(stn_context *context, const stn_mesh *mesh) {
    bool *outer = stn_allocate(context, (size_t)mesh->vertex_count, sizeof *outer);
    for (int32_t i = 0; outer != NULL && i < 3 * mesh->triangle_count; i++) {
        outer[mesh->triangles[i]] = true;
    }
    return outer;
}

static bool all_outer(const bool *outer, const int32_t v[4]) {
    return outer[v[0]] && outer[v[1]] && outer[v[2]] && outer[v[3]];
}

static stn_vec3 middle_of(const double *vertices, const int32_t v[4]) {
    stn_vec3 sum = stn_vec3_add(surface_point(vertices, v[0]), surface_point(vertices, v[1]));
    sum = stn_vec3_add(sum, stn_vec3_add(surface_point(vertices, v[2]), surface_point(vertices, v[3])));
    return stn_vec3_scale(0.25, sum);
}

/// Vertices with their distance from the surface as extent, and tetrahedra, split where none of the corners is inside.
static void copy_solid(const stn_mesh *mesh, const bool *outer, surface_build *s, tetrahedra_build *tetrahedra) {
    stn_mesh_point nearest;
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        stn_vec3 p = surface_point(mesh->vertices, i);
        bool inside = !outer[i] && stn_mesh_nearest(mesh, p, INFINITY, &nearest);
        surface_build_vertex(s, p, inside ? nearest.distance : 0.0);
    }
    for (int32_t t = 0; t < mesh->tetrahedron_count && !s->failed; t++) {
        const int32_t *v = mesh->tetrahedra + 4 * (size_t)t;
        if (!all_outer(outer, v)) {
            tetrahedra_add(tetrahedra, s->vertices, v[0], v[1], v[2], v[3]);
            continue;
        }
        stn_vec3 p = middle_of(mesh->vertices, v);
        bool found = stn_mesh_nearest(mesh, p, INFINITY, &nearest);
        int32_t middle = surface_build_vertex(s, p, found ? nearest.distance : 0.0);
        for (int32_t k = 0; k < 4; k++) {
            tetrahedra_add(tetrahedra, s->vertices, middle, v[(k + 1) % 4], v[(k + 2) % 4], v[(k + 3) % 4]);
        }
    }
}

/// Distances to extents, those of the mesh where it has some; returns the depth: the distance of what is deepest.
static double set_extents(const stn_mesh *mesh, surface_build *s) {
    double depth = 0.0, highest = 0.0;
    for (int32_t i = 0; i < s->vertex_count; i++) {
        bool given = mesh->extents != NULL && i < mesh->vertex_count;
        double extent = given ? mesh->extents[i] : mesh->extents != NULL ? 0.0 : s->extents[i];
        depth = extent > highest ? s->extents[i] : depth;
        highest = fmax(highest, extent);
    }
    for (int32_t i = 0; i < s->vertex_count; i++) {
        bool given = mesh->extents != NULL && i < mesh->vertex_count;
        s->extents[i] = given ? mesh->extents[i] : fmin(1.0, s->extents[i] / depth);
    }
    return depth;
}

static stn_status check_counts(const stn_mesh *mesh, double margin, int32_t max, stn_error *err) {
    double count = 4.0 * mesh->tetrahedron_count + (margin > 0.0 ? 3.0 * mesh->triangle_count : 0.0);
    if (mesh->tetrahedron_count == 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "the volume mesh has no tetrahedra");
    }
    if (mesh->tetrahedron_count > max || count > INT32_MAX / 8.0) {
        return stn_fail(
            err, STN_ERR_ARGUMENT,
            "%d tetrahedra of the volume mesh (about %.0f MB) are more than the %d that are allowed: give a "
            "coarser mesh",
            mesh->tetrahedron_count, mesh->tetrahedron_count * surface_plan_bytes * 1e-6, max);
    }
    return STN_OK;
}

stn_status field_of_mesh(stn_context *context, const stn_mesh *mesh, double margin, int32_t max_tetrahedra, field **out,
                         stn_error *err) {
    *out = NULL;
    stn_status status = check_counts(mesh, margin, max_tetrahedra, err);
    if (status != STN_OK) {
        return status;
    }
    surface_build s = surface_build_empty(context);
    tetrahedra_build tetrahedra = {.context = context};
    bool *outer = surface_vertices(context, mesh);
    s.failed = outer == NULL;
    double depth = 0.0;
    if (!s.failed) {
        copy_solid(mesh, outer, &s, &tetrahedra);
        depth = set_extents(mesh, &s);
        if (margin > 0.0) {
            field_skirt(mesh, margin, depth, &s, &tetrahedra);
        }
    }
    stn_release(context, outer);
    return field_take(&s, &tetrahedra, depth, out, err);
}
