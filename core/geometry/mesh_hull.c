// SPDX-License-Identifier: Apache-2.0
// Convex hulls of meshes: points for qhull, and whether what it found is convex.
//
// The points are moved to the centre of their box and each axis is scaled by a power of two, so that far and thin
// bodies are as exact as others: the hull is affine invariant. Vertices are taken for as exact as their own rounding.
// Points that leave a plane by little more than that give facets of any shape; what is then found is not convex, and
// qhull is asked again with a coarser accuracy.
#include <string.h>

#include "geometry/mesh_hull.h"

enum { POINTS_MAX = 4000000 }; // qhull's counters of work are ints

stn_status hull_flat(stn_error *err) {
    return stn_fail(err, STN_ERR_ARGUMENT, "mesh: its vertices lie in one plane: it has no convex hull");
}

stn_status hull_out_of_memory(stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory for its convex hull");
}

static void hull_clear(hull *h) {
    stn_release(h->context, h->vertex);
    stn_release(h->context, h->points);
    stn_release(h->context, h->triangles);
    stn_release(h->context, h->follower);
    stn_release(h->context, h->used);
    stn_release(h->context, h->polygon);
    stn_release(h->context, h->edge);
}

/// Lists the vertices that triangles have; others may lie anywhere.
static stn_status list_points(hull *h, const stn_mesh *mesh, stn_error *err) {
    size_t n = (size_t)mesh->vertex_count;
    h->vertex = stn_allocate(h->context, n, sizeof *h->vertex);
    h->points = stn_allocate(h->context, 3 * n, sizeof *h->points);
    h->follower = stn_allocate(h->context, n, sizeof *h->follower);
    h->used = stn_allocate(h->context, n, sizeof *h->used);
    h->polygon = stn_allocate(h->context, n, sizeof *h->polygon);
    h->edge = stn_allocate(h->context, 2 * (n + 1), sizeof *h->edge);
    if (h->vertex == NULL || h->points == NULL || h->follower == NULL || h->used == NULL || h->polygon == NULL ||
        h->edge == NULL) {
        return hull_out_of_memory(err);
    }
    for (size_t i = 0; i < 3 * (size_t)mesh->triangle_count; i++) {
        h->used[mesh->triangles[i]] = 1;
    }
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        h->vertex[h->point_count] = i;
        h->point_count += h->used[i];
    }
    if (h->point_count > POINTS_MAX) {
        return stn_fail(err, STN_ERR_UNSUPPORTED, "mesh: convex hulls of %d vertices at most, not %d", POINTS_MAX,
                        h->point_count);
    }
    return h->point_count < 4 ? hull_flat(err) : STN_OK;
}

/// Each axis to [-1, 1], and how exact the points then are.
static stn_status normalize(hull *h, const stn_mesh *mesh, stn_error *err) {
    const double lower[3] = {mesh->bounds.lower.x, mesh->bounds.lower.y, mesh->bounds.lower.z};
    const double upper[3] = {mesh->bounds.upper.x, mesh->bounds.upper.y, mesh->bounds.upper.z};
    for (int32_t axis = 0; axis < 3; axis++) {
        int exponent;
        double centre = 0.5 * (lower[axis] + upper[axis]), size = upper[axis] - lower[axis];
        if (!(size > 0.0)) {
            return hull_flat(err);
        }
        frexp(size, &exponent);
        double scale = ldexp(1.0, 1 - exponent),
               rounding = 0x1p-52 * fmax(fabs(lower[axis]), fabs(upper[axis])) * scale;
        h->accuracy = fmax(h->accuracy, 1.4e-15 + rounding); // the first: what qhull allows for exact points
        for (int32_t i = 0; i < h->point_count; i++) {
            h->points[3 * (size_t)i + (size_t)axis] =
                (mesh->vertices[3 * (size_t)h->vertex[i] + (size_t)axis] - centre) * scale;
        }
    }
    return STN_OK;
}

/// Normal and a corner of the plane of a triangle.
static stn_vec3 plane_of(const hull *h, int32_t triangle, stn_vec3 *corner) {
    const int32_t *ids = h->triangles + 3 * (size_t)triangle;
    *corner = mesh_vertex(h->points, ids[0]);
    stn_vec3 u = stn_vec3_sub(mesh_vertex(h->points, ids[1]), *corner);
    stn_vec3 v = stn_vec3_sub(mesh_vertex(h->points, ids[2]), *corner);
    return stn_vec3_normalize_or(stn_vec3_cross(u, v), stn_vec3_zero());
}

/// The mean of the corners, and how many they are; marks them in `used`.
static stn_vec3 middle_of(hull *h, int32_t *corners) {
    stn_vec3 sum = stn_vec3_zero();
    *corners = 0;
    memset(h->used, 0, (size_t)h->point_count * sizeof *h->used);
    for (size_t i = 0; i < 3 * (size_t)h->triangle_count; i++) {
        int32_t id = h->triangles[i];
        if (h->used[id] == 0) {
            h->used[id] = 1;
            ++*corners;
            sum = stn_vec3_add(sum, mesh_vertex(h->points, id));
        }
    }
    return stn_vec3_scale(1.0 / *corners, sum);
}

/// Convex: closed with the Euler characteristic of a ball (triangles = 2 corners - 4), the middle inside every plane,
/// and no neighbour's far corner outside it by more than slivers, whose normals are inexact, may have it: 1e-7 of the
/// box.
static stn_status check_convex(hull *h, bool *convex, stn_error *err) {
    int32_t corners;
    stn_vec3 middle = middle_of(h, &corners), corner;
    int32_t *other = stn_allocate(h->context, 3 * (size_t)h->triangle_count, sizeof *other);
    if (other == NULL) {
        return hull_out_of_memory(err);
    }
    const raw_mesh view = {.context = h->context,
                           .vertex_count = h->point_count,
                           .triangle_count = h->triangle_count,
                           .triangles = h->triangles};
    stn_status status = mesh_pair_edges(&view, other, err);
    *convex = status == STN_OK && h->triangle_count == 2 * corners - 4;
    for (int32_t i = 0; i < h->triangle_count && *convex; i++) {
        stn_vec3 normal = plane_of(h, i, &corner);
        *convex = stn_vec3_dot(normal, stn_vec3_sub(middle, corner)) < 0.0;
        for (int32_t k = 0; k < 3 && *convex; k++) {
            int32_t across = other[3 * (size_t)i + (size_t)k];
            if (across < 0) {
                *convex = false;
                break;
            }
            int32_t far_corner = h->triangles[3 * (size_t)(across / 3) + (size_t)((across + 2) % 3)];
            double outside = stn_vec3_dot(normal, stn_vec3_sub(mesh_vertex(h->points, far_corner), corner));
            *convex = outside <= fmax(1e-7, 32.0 * h->accuracy);
        }
    }
    stn_release(h->context, other);
    return status;
}

static stn_status find_hull(hull *h, const stn_mesh *mesh, stn_error *err) {
    enum { ATTEMPTS = 6 }; // up to a millionth of the first accuracy
    stn_status status = list_points(h, mesh, err);
    if (status == STN_OK) {
        status = normalize(h, mesh, err);
    }
    bool convex = false;
    for (int32_t attempt = 0; attempt < ATTEMPTS && status == STN_OK && !convex; attempt++) {
        h->accuracy *= attempt > 0 ? 16.0 : 1.0;
        status = hull_run(h, err);
        if (status == STN_OK) {
            status = check_convex(h, &convex, err);
        } else if (status == STN_ERR_NUMERIC && attempt + 1 < ATTEMPTS) {
            status = STN_OK;
        }
    }
    if (status == STN_OK && !convex) {
        status = stn_fail(err, STN_ERR_NUMERIC, "mesh: no convex hull found: rounding makes its faces bend inwards");
    }
    return status;
}

/// The hull's triangles on the vertices of the mesh.
static stn_status name_vertices(hull *h, const stn_mesh *mesh, raw_mesh *out, stn_error *err) {
    out->vertex_count = mesh->vertex_count;
    out->vertices = stn_allocate(h->context, 3 * (size_t)mesh->vertex_count, sizeof *out->vertices);
    if (out->vertices == NULL) {
        return hull_out_of_memory(err);
    }
    memcpy(out->vertices, mesh->vertices, 3 * (size_t)mesh->vertex_count * sizeof *out->vertices);
    for (size_t i = 0; i < 3 * (size_t)h->triangle_count; i++) {
        h->triangles[i] = h->vertex[h->triangles[i]];
    }
    out->triangles = h->triangles;
    out->triangle_count = h->triangle_count;
    h->triangles = NULL;
    return mesh_compact(out, err);
}

stn_status stn_mesh_create_hull(const stn_mesh *mesh, stn_mesh **out, stn_error *err) {
    *out = NULL;
    raw_mesh result = {.context = ((const mesh_object *)mesh)->context};
    hull h = {.context = result.context};
    stn_status status = find_hull(&h, mesh, err);
    if (status == STN_OK) {
        status = name_vertices(&h, mesh, &result, err);
    }
    if (status == STN_OK) {
        stn_aabb bounds = mesh_bounds(&result);
        mesh_integrals integrals = mesh_integrate(&result, &bounds, true);
        status = integrals.solid.mass > 0.0 ? mesh_wrap(&result, &mesh->facts, &integrals.solid, true, out, err)
                                            : hull_flat(err);
    }
    hull_clear(&h);
    raw_mesh_clear(&result);
    return status;
}
