// SPDX-License-Identifier: Apache-2.0
// The box: every face in eight triangles about its centre, so that no diagonal is preferred, then divided evenly.
#include "field_build.h"

/// Region of a point of the surface: the corner of the core on its side of every axis along which the core reaches.
static int32_t region(stn_vec3 p, const int32_t bit[3]) {
    return (p.x > 0.0 ? bit[0] : 0) + (p.y > 0.0 ? bit[1] : 0) + (p.z > 0.0 ? bit[2] : 0);
}

/// The eight triangles of the face of axis `axis` on the side `sign`; vertices by their place (i, j, k) in -1..1.
static void add_face(surface_build *s, const int32_t id[27], int32_t axis, int32_t sign, const int32_t bit[3]) {
    static const int32_t ring[8][2] = {{1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}, {0, -1}, {1, -1}};
    int32_t places[9];
    for (int32_t i = 0; i < 9; i++) {
        int32_t at[3] = {0};
        at[axis] = sign;
        if (i < 8) {
            at[(axis + 1) % 3] = ring[i][0];
            at[(axis + 2) % 3] = ring[i][1];
        }
        places[i] = id[13 + at[0] + 3 * at[1] + 9 * at[2]];
    }
    for (int32_t i = 0; i < 8; i++) {
        int32_t a = places[i], b = places[(i + 1) % 8], first = sign > 0 ? a : b, second = sign > 0 ? b : a;
        stn_vec3 sum = stn_vec3_add(surface_point(s->vertices, a), surface_point(s->vertices, b));
        sum = stn_vec3_add(sum, surface_point(s->vertices, places[8]));
        surface_build_triangle(s, places[8], first, second, region(sum, bit));
    }
}

surface_build surface_of_box(stn_context *context, stn_vec3 half, const int32_t bit[3], int32_t steps) {
    surface_build coarse = surface_build_empty(context);
    int32_t id[27];
    for (int32_t i = 0; i < 27; i++) {
        if (i != 13) {
            stn_vec3 p = {(i % 3 - 1) * half.x, (i / 3 % 3 - 1) * half.y, (i / 9 - 1) * half.z};
            id[i] = surface_build_vertex(&coarse, p, 0.0);
        }
    }
    for (int32_t i = 0; i < 6 && !coarse.failed; i++) {
        add_face(&coarse, id, i / 2, i % 2 == 0 ? -1 : 1, bit);
    }
    surface_build s = surface_divide(&coarse, steps, surface_place_flat);
    surface_build_clear(&coarse);
    return s;
}
