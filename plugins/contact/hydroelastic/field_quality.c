// SPDX-License-Identifier: Apache-2.0
// Figures over all tetrahedra of a field.
#include "field_quality.h"

#include "surface_build.h"

/// Longest edge over smallest height: heights are three volumes over the area of the face below.
static double aspect(const stn_vec3 p[4], double volume) {
    double longest = 0.0, largest = 0.0;
    for (int32_t i = 0; i < 4; i++) {
        for (int32_t j = i + 1; j < 4; j++) {
            longest = fmax(longest, stn_vec3_norm(stn_vec3_sub(p[i], p[j])));
        }
        stn_vec3 a = p[(i + 1) % 4];
        stn_vec3 across = stn_vec3_cross(stn_vec3_sub(p[(i + 2) % 4], a), stn_vec3_sub(p[(i + 3) % 4], a));
        largest = fmax(largest, 0.5 * stn_vec3_norm(across));
    }
    return longest * largest / (3.0 * volume);
}

static void add_tetrahedron(const field *f, int32_t t, field_quality *q) {
    const int32_t *v = f->tetrahedra + 4 * (size_t)t;
    stn_vec3 p[4];
    for (int32_t k = 0; k < 4; k++) {
        p[k] = surface_point(f->vertices, v[k]);
    }
    double volume = surface_det(p[0], p[1], p[2], p[3]) / 6.0;
    q->volume += volume;
    q->smallest_volume = fmin(q->smallest_volume, volume);
    q->worst_aspect = fmax(q->worst_aspect, aspect(p, volume));
    q->steepest = fmax(q->steepest, f->depth * stn_vec3_norm(f->gradients[t]));
    for (int32_t k = 0; k < 4; k++) {
        if (f->neighbours[4 * t + k] >= 0) {
            continue;
        }
        q->outer_faces++;
        for (int32_t c = 1; c < 4; c++) {
            q->outer_extent = fmax(q->outer_extent, fabs(f->extents[v[(k + c) % 4]] - q->lowest));
        }
    }
}

field_quality field_inspect(const field *f) {
    field_quality q = {.smallest_volume = INFINITY, .lowest = INFINITY, .highest = -INFINITY};
    for (int32_t i = 0; i < f->vertex_count; i++) {
        q.lowest = fmin(q.lowest, f->extents[i]);
        q.highest = fmax(q.highest, f->extents[i]);
    }
    for (int32_t t = 0; t < f->tetrahedron_count; t++) {
        add_tetrahedron(f, t, &q);
    }
    return q;
}
