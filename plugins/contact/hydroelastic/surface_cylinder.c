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
                  sector_labels labels) {
    for (int32_t i = 0; i < around; i++) {
        int32_t next = (i + 1) % around, q[4] = {lower + i, lower + next, upper + i, upper + next};
        add_quad(s, q, (i % 2 == 0) == lean, flip, labels.first + labels.step * i);
    }
}

static void add_facing(surface_build *s, bool above, int32_t a, int32_t b, int32_t c, int32_t label) {
    surface_build_triangle(s, a, above ? b : c, above ? c : b, label);
}

/// A ring of a cap between `around` vertices outside and half as many inside.
static void add_halving(surface_build *s, int32_t around, int32_t inner, int32_t outer, bool above, int32_t label) {
    for (int32_t i = 0; i < around; i += 2) {
        int32_t a = inner + i / 2, b = inner + (i / 2 + 1) % (around / 2), next = outer + (i + 2) % around;
        add_facing(s, above, a, outer + i, outer + i + 1, label);
        add_facing(s, above, a, outer + i + 1, b, label);
        add_facing(s, above, b, outer + i + 1, next, label);
    }
}

/// From the rim `outer` inwards to the centre, with half the sectors where they become narrow.
static void add_cap(surface_build *s, const surface_plan *p, int32_t outer, double radius, double z, int32_t label) {
    bool above = z > 0.0;
    int32_t around = p->around;
    for (int32_t ring = p->rings - 1; ring > 0; ring--) {
        bool halve = around % 8 == 0 && around > 8 && 2.0 * STN_PI * ring < 0.6 * around;
        int32_t inner = surface_ring(s, halve ? around / 2 : around, radius * ring / p->rings, z);
        if (halve) {
            add_halving(s, around, inner, outer, above, label);
        } else {
            surface_band(s, around, inner, outer, ring % 2 == 0, above, (sector_labels){label, 0});
        }
        around = halve ? around / 2 : around;
        outer = inner;
    }
    int32_t centre = surface_build_vertex(s, stn_vec3_make(0.0, 0.0, z), 0.0);
    for (int32_t i = 0; i < around; i++) {
        add_facing(s, above, centre, outer + i, outer + (i + 1) % around, label);
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
        bool second = regions == CYLINDER_HALVES && 2 * band >= p->bands;
        sector_labels labels = {second ? 1 : 0, regions == CYLINDER_SECTORS ? 1 : 0};
        surface_band(&s, p->around, lower, upper, band % 2 == 0, false, labels);
        lower = upper;
    }
    int32_t middle = regions == CYLINDER_SECTORS ? p->around : 0; // caps lie over the polygon's centre
    add_cap(&s, p, bottom, radius, -half_length, middle);
    add_cap(&s, p, lower, radius, half_length, regions == CYLINDER_HALVES ? 1 : middle);
    return s;
}
