// SPDX-License-Identifier: Apache-2.0
// Integrals over fields, for tests: independent of the plugin's own kernels.
#ifndef STN_TEST_FIELD_PROBE_H
#define STN_TEST_FIELD_PROBE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "field.h"

static inline double extent_in(const field *f, int32_t t, stn_vec3 p) {
    return f->offsets[t] + stn_vec3_dot(f->gradients[t], p);
}

/// Integrals over the part of the plane n . x = height inside one tetrahedron where e > 0.
typedef struct plane_sum {
    double force;    // of e [m^2]
    stn_vec3 moment; // of e x [m^3]
    double area;     // [m^2]
} plane_sum;

/// Clips a polygon to where value > 0 (value linear), in place; returns the corners left.
static inline int32_t clip_positive(stn_vec3 *p, double *value, int32_t count) {
    stn_vec3 kept[16];
    double kept_value[16];
    int32_t n = 0;
    for (int32_t i = 0; i < count; i++) {
        int32_t j = (i + 1) % count;
        if (value[i] > 0.0) {
            kept[n] = p[i];
            kept_value[n++] = value[i];
        }
        if ((value[i] > 0.0) != (value[j] > 0.0)) {
            double s = value[i] / (value[i] - value[j]);
            kept[n] = stn_vec3_add(stn_vec3_scale(1.0 - s, p[i]), stn_vec3_scale(s, p[j]));
            kept_value[n++] = 0.0;
        }
    }
    memcpy(p, kept, (size_t)n * sizeof *p);
    memcpy(value, kept_value, (size_t)n * sizeof *value);
    return n;
}

/// The cut of a tetrahedron by the plane as a polygon; 0, 3 or 4 corners.
static inline int32_t cut_tetrahedron(const field *f, int32_t t, stn_vec3 n, double height, stn_vec3 p[16],
                                      double value[16]) {
    const int32_t *v = f->tetrahedra + 4 * (size_t)t;
    int32_t above[4], below[4], a = 0, b = 0, count = 0;
    double side[4];
    for (int32_t k = 0; k < 4; k++) {
        side[k] = stn_vec3_dot(n, stn_vec3_at(f->vertices, v[k])) - height;
        if (side[k] > 0.0) {
            above[a++] = k;
        } else {
            below[b++] = k;
        }
    }
    if (a == 0 || b == 0) {
        return 0;
    }
    static const int32_t order[4][2] = {{0, 0}, {0, 1}, {1, 1}, {1, 0}};
    for (int32_t i = 0; i < (a == 2 ? 4 : 3); i++) {
        int32_t u = a == 2 ? above[order[i][0]] : a == 1 ? above[0] : above[i];
        int32_t w = a == 2 ? below[order[i][1]] : a == 1 ? below[i] : below[0];
        double s = side[u] / (side[u] - side[w]);
        p[count] = stn_vec3_add(stn_vec3_scale(1.0 - s, stn_vec3_at(f->vertices, v[u])),
                                stn_vec3_scale(s, stn_vec3_at(f->vertices, v[w])));
        value[count++] = (1.0 - s) * f->extents[v[u]] + s * f->extents[v[w]];
    }
    return count;
}

/// Exact integral of e over the plane, as a rigid half space below it would feel it with E = 1.
static inline plane_sum plane_integral(const field *f, stn_vec3 n, double height) {
    plane_sum sum = {0};
    for (int32_t t = 0; t < f->tetrahedron_count; t++) {
        stn_vec3 p[16];
        double value[16];
        int32_t count = cut_tetrahedron(f, t, n, height, p, value);
        count = clip_positive(p, value, count);
        for (int32_t i = 1; i + 1 < count; i++) {
            double area = 0.5 * stn_vec3_norm(stn_vec3_cross(stn_vec3_sub(p[i], p[0]), stn_vec3_sub(p[i + 1], p[0])));
            double total = value[0] + value[i] + value[i + 1];
            sum.area += area;
            sum.force += area * total / 3.0;
            const int32_t corner[3] = {0, i, i + 1};
            for (int32_t k = 0; k < 3; k++) { // integral of e x over a triangle: area / 12 sum (total + e_k) x_k
                sum.moment = stn_vec3_mul_add(sum.moment, area / 12.0 * (total + value[corner[k]]), p[corner[k]]);
            }
        }
    }
    return sum;
}

static inline double tetrahedron_volume(const field *f, int32_t t) {
    const int32_t *v = f->tetrahedra + 4 * (size_t)t;
    stn_vec3 a = stn_vec3_at(f->vertices, v[0]);
    stn_vec3 b = stn_vec3_sub(stn_vec3_at(f->vertices, v[1]), a), c = stn_vec3_sub(stn_vec3_at(f->vertices, v[2]), a);
    return stn_vec3_dot(stn_vec3_cross(b, c), stn_vec3_sub(stn_vec3_at(f->vertices, v[3]), a)) / 6.0;
}

static inline double field_volume(const field *f) {
    double volume = 0.0;
    for (int32_t t = 0; t < f->tetrahedron_count; t++) {
        volume += tetrahedron_volume(f, t);
    }
    return volume;
}

/// Directions spread evenly over the sphere (a Fibonacci spiral).
static inline stn_vec3 spread_direction(int32_t i, int32_t count) {
    double z = 1.0 - (2.0 * i + 1.0) / count, r = sqrt(1.0 - z * z), angle = 2.399963229728653 * i;
    return stn_vec3_make(r * cos(angle), r * sin(angle), z);
}

static inline double support_height(const field *f, stn_vec3 n) {
    double low = INFINITY;
    for (int32_t i = 0; i < f->vertex_count; i++) {
        low = fmin(low, stn_vec3_dot(n, stn_vec3_at(f->vertices, i)));
    }
    return low;
}

#endif
