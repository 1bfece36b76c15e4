// SPDX-License-Identifier: Apache-2.0
// The convex hull of points.
#include "field_build.h"

/// The faces of a hull: triangles as they are, larger ones as fans about their centroid, so that none has a preferred
/// diagonal.
surface_build surface_of_hull(stn_context *context, const stn_mesh *mesh) {
    surface_build s = surface_build_empty(context);
    const stn_polytope *p = mesh->polytope;
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        surface_build_vertex(&s, surface_point(mesh->vertices, i), 0.0);
    }
    for (int32_t f = 0; f < p->face_count; f++) {
        const int32_t *corners = p->face_vertices + p->face_start[f];
        int32_t count = p->face_start[f + 1] - p->face_start[f];
        if (count == 3) {
            surface_build_triangle(&s, corners[0], corners[1], corners[2], 0);
            continue;
        }
        stn_vec3 first = surface_point(mesh->vertices, corners[0]), moment = stn_vec3_zero();
        stn_vec3 normal = {p->planes[4 * f], p->planes[4 * f + 1], p->planes[4 * f + 2]};
        double area = 0.0;
        for (int32_t k = 1; k + 1 < count; k++) {
            stn_vec3 a = stn_vec3_sub(surface_point(mesh->vertices, corners[k]), first);
            stn_vec3 b = stn_vec3_sub(surface_point(mesh->vertices, corners[k + 1]), first);
            double part = stn_vec3_dot(normal, stn_vec3_cross(a, b));
            moment = stn_vec3_mul_add(moment, part / 3.0, stn_vec3_add(a, b));
            area += part;
        }
        int32_t centre = surface_build_vertex(&s, stn_vec3_mul_add(first, 1.0 / area, moment), 0.0);
        for (int32_t k = 0; k < count; k++) {
            surface_build_triangle(&s, centre, corners[k], corners[(k + 1) % count], 0);
        }
    }
    return s;
}
