// SPDX-License-Identifier: Apache-2.0
// The cylinder: a prism whose polygon has the area of the circle, caps in rings about their centres, the side in bands;
// diagonals lean alternately, so that the planes through corners and z = 0 are mirrors.
#include "field_build.h"

double surface_prism_factor(int32_t around) {
    double angle = 2.0 * STN_PI / around;
    return sqrt(angle / sin(angle));
}

/// A multiple of 4 of them, at the same places in every quarter to the last bit.
int32_t surface_ring(surface_build *s, int32_t around, double radius, double z) {
    int32_t first = s->vertex_count, quarter = around / 4;
    for (int32_t i = 0; i < around; i++) {
        double angle = 0.5 * STN_PI * (i % quarter) / quarter, x = radius * cos(angle), y = radius * sin(angle);
        int32_t turns = i / quarter;
        stn_vec3 p = turns == 0   ? stn_vec3_make(x, y, z)
                     : turns == 1 ? stn_vec3_make(-y, x, z)
                     : turns == 2 ? stn_vec3_make(-x, -y, z)
                                  : stn_vec3_make(y, -x, z);
        surface_build_vertex(s, p, 0.0);
    }
    return first;
}

static int32_t label_of(cylinder_regions regions, bool upper, int32_t sector) {
    return regions == CYLINDER_SECTORS ? sector : regions == CYLINDER_HALVES && upper ? 1 : 0;
}

/// Two triangles of the quadrangle a b (below or inside, in order of the angle) and c d (above or outside).
static void add_quad(surface_build *s, const int32_t q[4], bool lean, bool flip, int32_t label) {
    int32_t a = flip ? q[1] : q[0], b = flip ? q[0] : q[1], c = flip ? q[3] : q[2], d = flip ? q[2] : q[3];
    if (lean != flip) { // the diagonal a d
        surface_build_triangle(s, a, b, d, label);
        surface_build_triangle(s, a, d, c, label);
    } else {
        surface_build_triangle(s, a, b, c, label);
        surface_build_triangle(s, b, d, c, label);
    }
}

void surface_band(surface_build *s, int32_t around, int32_t lower, int32_t upper, bool lean, bool flip,
                  cylinder_regions regions, bool above) {
    for (int32_t i = 0; i < around; i++) {
        int32_t next = (i + 1) % around, q[4] = {lower + i, lower + next, upper + i, upper + next};
        add_quad(s, q, (i % 2 == 0) == lean, flip, label_of(regions, above, i));
    }
}

/// From the rim `outer` inwards to the centre. The upper cap's quadrangles run the other way round.
static void add_cap(surface_build *s, const surface_plan *p, cylinder_regions regions, int32_t outer, double radius,
                    double z) {
    bool above = z > 0.0;
    for (int32_t ring = p->rings - 1; ring > 0; ring--) {
        int32_t inner = surface_ring(s, p->around, radius * ring / p->rings, z);
        surface_band(s, p->around, inner, outer, ring % 2 == 0, above, regions, above);
        outer = inner;
    }
    int32_t centre = surface_build_vertex(s, stn_vec3_make(0.0, 0.0, z), 0.0);
    for (int32_t i = 0; i < p->around; i++) {
        int32_t a = outer + i, b = outer + (i + 1) % p->around;
        surface_build_triangle(s, centre, above ? a : b, above ? b : a, label_of(regions, above, i));
    }
}

surface_build surface_of_cylinder(stn_context *context, double radius, double half_length, const surface_plan *p,
                                  cylinder_regions regions) {
    surface_build s = surface_build_empty(context);
    radius *= surface_prism_factor(p->around);
    int32_t bottom = surface_ring(&s, p->around, radius, -half_length), lower = bottom;
    for (int32_t band = 0; band < p->bands; band++) {
        double z = half_length * (2.0 * (band + 1) - p->bands) / p->bands;
        int32_t upper = surface_ring(&s, p->around, radius, z);
        surface_band(&s, p->around, lower, upper, band % 2 == 0, false, regions, 2 * band >= p->bands);
        lower = upper;
    }
    add_cap(&s, p, regions, bottom, radius, -half_length);
    add_cap(&s, p, regions, lower, radius, half_length);
    return s;
}
