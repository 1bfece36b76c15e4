// SPDX-License-Identifier: Apache-2.0
// The box: quarters of every face in two triangles, so that no diagonal is preferred, then divided evenly.
#include "field_build.h"

/// Region of a point of the surface: the corner of the core on its side of every axis along which the core reaches.
static int32_t region(stn_vec3 p, const int32_t bit[3]) {
    return (p.x > 0.0 ? bit[0] : 0) + (p.y > 0.0 ? bit[1] : 0) + (p.z > 0.0 ? bit[2] : 0);
}

static void add_outward(surface_build *s, int32_t sign, int32_t a, int32_t b, int32_t c, int32_t label) {
    surface_build_triangle(s, a, sign > 0 ? b : c, sign > 0 ? c : b, label);
}

/// A quarter of a face from its centre p[0] around by p[1] and the corner p[2] to p[3].
static void add_quarter(surface_build *s, const int32_t p[4], int32_t sign, const int32_t bit[3]) {
    stn_vec3 a = surface_point(s->vertices, p[0]), c = surface_point(s->vertices, p[2]);
    stn_vec3 middle = stn_vec3_scale(0.5, stn_vec3_add(a, c));
    int32_t label = region(middle, bit);
    add_outward(s, sign, p[0], p[1], p[2], label);
    add_outward(s, sign, p[0], p[2], p[3], label);
}

/// The face of axis `axis` on the side `sign`; vertices by their place (i, j, k) in -1..1.
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
    for (int32_t i = 0; i < 8; i += 2) {
        const int32_t quarter[4] = {places[8], places[i], places[i + 1], places[(i + 2) % 8]};
        add_quarter(s, quarter, sign, bit);
    }
}

surface_build surface_of_box(stn_context *context, stn_vec3 half, const surface_plan *plan, const int32_t bit[3]) {
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
    surface_build s = surface_divide(&coarse, plan->steps, surface_place_flat);
    surface_build_clear(&coarse);
    return s;
}
