// SPDX-License-Identifier: Apache-2.0
// Splits the long sides of a flat surface's triangles until none is longer than wanted. Short ones stay whole.
#include "surface_build.h"

static int32_t following(int32_t place) {
    return place % 3 == 2 ? place - 2 : place + 1;
}

static double length_between(const surface_build *s, int32_t a, int32_t b) {
    return stn_vec3_norm(stn_vec3_sub(surface_point(s->vertices, a), surface_point(s->vertices, b)));
}

/// Middles of the sides that are the longest of a triangle, and longer than `edge`: middle[place] the new vertex, -1:
/// none. Narrow triangles are so cut across alone. Returns how many.
static int32_t split_sides(surface_build *s, const int32_t *across, double edge, int32_t *middle) {
    int32_t count = 0;
    for (int32_t i = 0; i < 3 * s->triangle_count; i++) {
        middle[i] = -1;
    }
    for (int32_t t = 0; t < s->triangle_count; t++) {
        int32_t longest = 3 * t;
        double length = 0.0;
        for (int32_t i = 3 * t; i < 3 * t + 3; i++) {
            double side = length_between(s, s->triangles[i], s->triangles[following(i)]);
            longest = side > length ? i : longest;
            length = fmax(length, side);
        }
        if (length > edge && middle[longest] < 0) {
            stn_vec3 a = surface_point(s->vertices, s->triangles[longest]);
            stn_vec3 b = surface_point(s->vertices, s->triangles[following(longest)]);
            middle[longest] = surface_build_vertex(s, stn_vec3_scale(0.5, stn_vec3_add(a, b)), 0.0);
            if (across[longest] >= 0) {
                middle[across[longest]] = middle[longest];
            }
            count++;
        }
    }
    return count;
}

/// The parts of triangle t; the first of them takes its place.
static void split_triangle(surface_build *s, int32_t t, const int32_t *middle) {
    int32_t v[3], m[3], count = 0, turn = 0, label = s->labels[t];
    for (int32_t k = 0; k < 3; k++) {
        count += middle[3 * t + k] >= 0;
    }
    if (count == 0) {
        return;
    }
    for (int32_t k = 0; k < 3; k++) { // one split: side 0; two: side 2 stays whole
        bool split = middle[3 * t + k] >= 0;
        turn = (count == 1 && split) ? k : (count == 2 && !split) ? (k + 1) % 3 : turn;
    }
    for (int32_t k = 0; k < 3; k++) {
        v[k] = s->triangles[3 * t + (k + turn) % 3];
        m[k] = middle[3 * t + (k + turn) % 3];
    }
    int32_t first[3] = {v[0], m[0], v[2]};
    if (count == 1) {
        surface_build_triangle(s, m[0], v[1], v[2], label);
    } else if (count == 2) { // the corner between the two, and what is left along its shorter diagonal
        bool from_start = length_between(s, v[0], m[1]) <= length_between(s, m[0], v[2]);
        surface_build_triangle(s, m[0], v[1], m[1], label);
        surface_build_triangle(s, from_start ? v[0] : m[0], m[1], v[2], label);
        first[2] = from_start ? m[1] : v[2];
    } else {
        surface_build_triangle(s, m[0], v[1], m[1], label);
        surface_build_triangle(s, m[2], m[1], v[2], label);
        surface_build_triangle(s, m[0], m[1], m[2], label);
        first[2] = m[2];
    }
    for (int32_t k = 0; k < 3 && !s->failed; k++) {
        s->triangles[3 * t + k] = first[k];
    }
}

void surface_refine(surface_build *s, double edge) {
    int32_t split = 1;
    for (int32_t pass = 0; pass < 80 && split > 0 && !s->failed; pass++) {
        int32_t count = s->triangle_count;
        int32_t *across = surface_sides(s->context, count, s->triangles);
        int32_t *middle = stn_allocate(s->context, (size_t)count, 3 * sizeof *middle);
        if (across == NULL || middle == NULL) {
            s->failed = true;
        } else {
            split = split_sides(s, across, edge, middle);
            for (int32_t t = 0; t < count; t++) {
                split_triangle(s, t, middle);
            }
        }
        stn_release(s->context, across);
        stn_release(s->context, middle);
    }
}
