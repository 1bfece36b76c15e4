// SPDX-License-Identifier: Apache-2.0
// A polygon p_0 ... p_(n-1) as the fan of triangles (p_k, p_i, p_(i+1)). With Newell's normal
//     N = sum over i of p_i x p_(i+1),
// which is the sum of (p_i - p_k) x (p_(i+1) - p_k) over the fan whatever k is, the fan covers the polygon once when no
// triangle of it turns against N. A convex polygon allows every k; one of up to 5 corners always has such a k. Of
// others the first corners are tried, so that the work stays proportional to the corners; where none sees the whole
// polygon the fan of the first one stays: its boundary, vector area and enclosed volume are right, its area counts
// overlaps.
#include <stiction/math.h>

#include "common/reader.h"

enum { MOST_TRIED = 8 };

static stn_vec3 vertex(const mesh_reader *r, int32_t index) {
    const double *p = (const double *)r->vertices.items + 3 * (size_t)index;
    return (stn_vec3){p[0], p[1], p[2]};
}

/// Twice the vector area of the triangle.
static stn_vec3 turn(const mesh_reader *r, int32_t a, int32_t b, int32_t c) {
    stn_vec3 origin = vertex(r, a);
    return stn_vec3_cross(stn_vec3_sub(vertex(r, b), origin), stn_vec3_sub(vertex(r, c), origin));
}

stn_status reader_add_polygon(mesh_reader *r, const int32_t *corners, int32_t count) {
    int32_t apex = 0;
    stn_vec3 normal = {0.0, 0.0, 0.0};
    for (int32_t i = 1; i + 1 < count && count > 3; i++) {
        normal = stn_vec3_add(normal, turn(r, corners[0], corners[i], corners[i + 1]));
    }
    double slack = 1e-9 * stn_vec3_dot(normal, normal); // corners on one line turn either way by rounding
    bool once = count <= 3;
    for (int32_t k = 0; k < count && k < MOST_TRIED && !once; k++) {
        once = true;
        for (int32_t i = 1; i + 1 < count && once; i++) {
            int32_t b = corners[(k + i) % count], c = corners[(k + i + 1) % count];
            once = stn_vec3_dot(turn(r, corners[k], b, c), normal) >= -slack;
        }
        apex = once ? k : 0;
    }
    stn_status status = STN_OK;
    for (int32_t i = 1; i + 1 < count && status == STN_OK; i++) {
        status = reader_add_triangle(r, corners[apex], corners[(apex + i) % count], corners[(apex + i + 1) % count]);
    }
    return status;
}
