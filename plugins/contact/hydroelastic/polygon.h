// SPDX-License-Identifier: Apache-2.0
// Convex polygons in a plane: cut out of cells, clipped by planes (Sutherland and Hodgman).
//
// A corner on an edge is always reckoned from the side that is cut off to the side that stays, so that neighbours which
// share the edge find the same point.
#ifndef HYDROELASTIC_POLYGON_H
#define HYDROELASTIC_POLYGON_H

#include <stiction/math.h>

/// A slice of a cell has at most 8 corners, each of at most 10 planes adds one; where rounding makes a sliver cross a
/// plane more than twice, what would be too many is left out.
enum { POLYGON_CORNERS = 18 };
typedef struct polygon {
    int32_t count;
    stn_vec3 corner[POLYGON_CORNERS];
} polygon;

/// From `outside`, with height `out` < 0, towards `inside`, with height `in` >= 0: the point of height 0.
static inline stn_vec3 polygon_crossing(stn_vec3 outside, double out, stn_vec3 inside, double in) {
    double t = out / (out - (in > 0.0 ? in : 0.0));
    return stn_vec3_mul_add(outside, t, stn_vec3_sub(inside, outside));
}

/// Keeps what has height >= -tolerance; `height` of each corner. Corners with less than 3 left make no polygon.
static inline void polygon_clip(polygon *p, const double *height, double tolerance) {
    int32_t below = 0;
    for (int32_t i = 0; i < p->count; i++) {
        below += height[i] < -tolerance;
    }
    if (below == 0) {
        return;
    }
    polygon kept;
    kept.count = 0;
    for (int32_t i = 0, last = p->count - 1; i < p->count && below < p->count; last = i++) {
        bool was_out = height[last] < -tolerance, is_out = height[i] < -tolerance;
        if (was_out != is_out && kept.count < POLYGON_CORNERS) {
            kept.corner[kept.count++] = was_out
                                            ? polygon_crossing(p->corner[last], height[last], p->corner[i], height[i])
                                            : polygon_crossing(p->corner[i], height[i], p->corner[last], height[last]);
        }
        if (!is_out && kept.count < POLYGON_CORNERS) {
            kept.corner[kept.count++] = p->corner[i];
        }
    }
    p->count = kept.count;
    for (int32_t i = 0; i < kept.count; i++) {
        p->corner[i] = kept.corner[i];
    }
}

/// Keeps what has normal . x + offset >= -tolerance.
static inline void polygon_clip_plane(polygon *p, stn_vec3 normal, double offset, double tolerance) {
    double height[POLYGON_CORNERS];
    for (int32_t i = 0; i < p->count; i++) {
        height[i] = stn_vec3_dot(normal, p->corner[i]) + offset;
    }
    polygon_clip(p, height, tolerance);
}

/// Drops corners that stand within `tolerance` of the one before.
static inline void polygon_weld(polygon *p, double tolerance) {
    int32_t kept = 0;
    for (int32_t i = 0; i < p->count; i++) {
        stn_vec3 before = p->corner[kept > 0 ? kept - 1 : p->count - 1];
        stn_vec3 d = stn_vec3_sub(p->corner[i], before);
        if (stn_vec3_dot(d, d) > tolerance * tolerance) {
            p->corner[kept++] = p->corner[i];
        }
    }
    p->count = kept;
}

/// Area and its centre, by triangles from the first corner.
static inline double polygon_area(const polygon *p, stn_vec3 *centre) {
    stn_vec3 sum = stn_vec3_zero(), o = p->corner[0];
    double area = 0.0;
    for (int32_t i = 1; i + 1 < p->count; i++) {
        stn_vec3 u = stn_vec3_sub(p->corner[i], o), v = stn_vec3_sub(p->corner[i + 1], o);
        double a = 0.5 * stn_vec3_norm(stn_vec3_cross(u, v));
        area += a;
        sum = stn_vec3_mul_add(sum, a, stn_vec3_add(u, v));
    }
    *centre = area > 0.0 ? stn_vec3_mul_add(o, 1.0 / (3.0 * area), sum) : o;
    return area;
}

#endif
