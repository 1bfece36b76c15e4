// SPDX-License-Identifier: Apache-2.0
// What follows from vertices, extents and tetrahedra: gradients, neighbours, box and edge length.
#include <stiction/mesh_query.h>

#include "field_build.h"
#include "field_quality.h"
#include "surface_build.h"

/// A tetrahedron is flat when its volume is below this share of what its edges could span.
static const double flat = 1e-13;

/// grad e of a tetrahedron with corners p and extents e: sum over k of (e_k - e_0) grad N_k, where grad N_1 is the
/// cross product of the edges to corners 2 and 3 over the determinant.
static bool set_gradient(field *f, int32_t tetrahedron) {
    const int32_t *v = f->tetrahedra + 4 * (size_t)tetrahedron;
    stn_vec3 p = stn_vec3_at(f->vertices, v[0]), edge[3], gradient = stn_vec3_zero();
    for (int32_t k = 0; k < 3; k++) {
        edge[k] = stn_vec3_sub(stn_vec3_at(f->vertices, v[k + 1]), p);
    }
    double det = stn_vec3_dot(stn_vec3_cross(edge[0], edge[1]), edge[2]);
    double span = stn_vec3_norm(edge[0]) * stn_vec3_norm(edge[1]) * stn_vec3_norm(edge[2]);
    if (!(det > flat * span)) { // NaN is flat too
        return false;
    }
    for (int32_t k = 0; k < 3; k++) {
        double rise = f->extents[v[k + 1]] - f->extents[v[0]];
        gradient = stn_vec3_mul_add(gradient, rise / det, stn_vec3_cross(edge[(k + 1) % 3], edge[(k + 2) % 3]));
    }
    f->gradients[tetrahedron] = gradient;
    f->offsets[tetrahedron] = f->extents[v[0]] - stn_vec3_dot(gradient, p);
    return stn_vec3_finite(gradient) && isfinite(f->offsets[tetrahedron]);
}

stn_status field_finish(stn_context *context, field *f, stn_error *err) {
    size_t count = (size_t)f->tetrahedron_count;
    f->neighbours = stn_allocate(context, count, 4 * sizeof(int32_t));
    f->gradients = stn_allocate(context, count, sizeof(stn_vec3));
    f->offsets = stn_allocate(context, count, sizeof(double));
    if (f->neighbours == NULL || f->gradients == NULL || f->offsets == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for a pressure field of %d tetrahedra",
                        f->tetrahedron_count);
    }
    for (int32_t t = 0; t < f->tetrahedron_count; t++) {
        if (!set_gradient(f, t)) {
            return stn_fail(err, STN_ERR_ARGUMENT,
                            "pressure field: tetrahedron %d has no volume: make the solid less thin, or its mesh "
                            "coarser",
                            t);
        }
    }
    stn_status status =
        stn_tetrahedra_across(context, f->tetrahedra, f->tetrahedron_count, f->vertex_count, f->neighbours, err);
    if (status != STN_OK) {
        return status;
    }
    for (int32_t i = 0; i < f->vertex_count; i++) {
        if (!(f->extents[i] <= 1.0)) {
            return stn_fail(err, STN_ERR_NUMERIC, "pressure field: extent %g of vertex %d must be at most 1",
                            f->extents[i], i);
        }
    }
    // nothing of the extent is left outside; the edge is the mean of the sides of outer faces, where each edge counts
    // twice
    double sum = 0.0;
    int64_t sides = 0;
    for (int32_t i = 0; i < 4 * f->tetrahedron_count; i++) {
        const int32_t *v = f->tetrahedra + (size_t)(i / 4 * 4);
        for (int32_t k = 1; f->neighbours[i] < 0 && k < 4; k++, sides++) {
            int32_t from = v[(i + k) % 4], to = v[(i + k % 3 + 1) % 4];
            if (f->extents[from] > 0.0) {
                return stn_fail(err, STN_ERR_ARGUMENT,
                                "pressure field: extent %g of vertex %d on the surface must be 0", f->extents[from],
                                from);
            }
            sum += stn_vec3_norm(stn_vec3_sub(stn_vec3_at(f->vertices, from), stn_vec3_at(f->vertices, to)));
        }
    }
    f->edge = sum / (double)sides;
    f->bounds = surface_bounds(f->vertices, f->vertex_count);
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------------- figures
// Figures over all tetrahedra of a field.

field_quality field_inspect(const field *f) {
    field_quality q = {.smallest_volume = INFINITY, .lowest = INFINITY, .highest = -INFINITY};
    for (int32_t i = 0; i < f->vertex_count; i++) {
        q.lowest = fmin(q.lowest, f->extents[i]);
        q.highest = fmax(q.highest, f->extents[i]);
    }
    for (int32_t t = 0; t < f->tetrahedron_count; t++) {
        const int32_t *v = f->tetrahedra + 4 * (size_t)t;
        stn_vec3 p[4];
        for (int32_t k = 0; k < 4; k++) {
            p[k] = stn_vec3_at(f->vertices, v[k]);
        }
        double volume = surface_det(p[0], p[1], p[2], p[3]) / 6.0, longest = 0.0, largest = 0.0;
        q.volume += volume;
        q.smallest_volume = fmin(q.smallest_volume, volume);
        q.steepest = fmax(q.steepest, f->depth * stn_vec3_norm(f->gradients[t]));
        for (int32_t k = 0; k < 4; k++) {
            for (int32_t j = k + 1; j < 4; j++) {
                longest = fmax(longest, stn_vec3_norm(stn_vec3_sub(p[k], p[j])));
            }
            stn_vec3 a = p[(k + 1) % 4];
            stn_vec3 across = stn_vec3_cross(stn_vec3_sub(p[(k + 2) % 4], a), stn_vec3_sub(p[(k + 3) % 4], a));
            largest = fmax(largest, 0.5 * stn_vec3_norm(across));
            bool outer = f->neighbours[4 * t + k] < 0;
            q.outer_faces += outer;
            for (int32_t c = 1; c < 4 && outer; c++) {
                q.outer_extent = fmax(q.outer_extent, fabs(f->extents[v[(k + c) % 4]] - q.lowest));
            }
        }
        // longest edge over smallest height: heights are three volumes over the area of the face below
        q.worst_aspect = fmax(q.worst_aspect, longest * largest / (3.0 * volume));
    }
    return q;
}
