// SPDX-License-Identifier: Apache-2.0
// The capsule: halves of an octahedron divided evenly and moved outwards as the sphere, and a prism between them.
#include "field_build.h"

/// The octahedron's half above z = 0, divided; the equator in no order.
static surface_build half_sphere(stn_context *context, int32_t steps) {
    surface_build s = surface_build_empty(context);
    static const double corners[6][3] = {{1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    for (int32_t i = 0; i < 6; i++) {
        surface_build_vertex(&s, stn_vec3_make(corners[i][0], corners[i][1], corners[i][2]), 0.0);
    }
    for (int32_t i = 0; i < 4; i++) {
        surface_build_triangle(&s, i, (i + 1) % 4, 4, 1);
        surface_build_triangle(&s, (i + 1) % 4, i, 5, 0);
    }
    surface_build divided = surface_divide(&s, steps, surface_place_round);
    surface_build_clear(&s);
    surface_swell(&divided, surface_prism_factor(4 * steps));
    return divided;
}

/// Number of a vertex of the equator around the ring, from its angle.
static int32_t place_on_ring(stn_vec3 p, int32_t around) {
    double turn = atan2(p.y, p.x) / (2.0 * STN_PI) * around;
    return ((int32_t)floor(turn + 0.5) + around) % around;
}

/// Copies one half of the sphere to its end of the capsule, where its equator is a ring that is there already.
static void add_end(surface_build *s, const surface_build *sphere, int32_t *to, bool above, int32_t ring,
                    int32_t around, double radius, double half_length) {
    double sign = above ? 1.0 : -1.0;
    for (int32_t i = 0; i < sphere->vertex_count; i++) {
        stn_vec3 p = surface_point(sphere->vertices, i);
        if (fabs(p.z) < surface_equator) {
            to[i] = ring + place_on_ring(p, around);
        } else if (p.z * sign > 0.0) {
            stn_vec3 end = {radius * p.x, radius * p.y, radius * p.z + sign * half_length};
            to[i] = surface_build_vertex(s, end, 0.0);
        }
    }
    for (int32_t t = 0; t < sphere->triangle_count; t++) {
        const int32_t *v = sphere->triangles + 3 * (size_t)t;
        if (sphere->labels[t] == (above ? 1 : 0)) {
            surface_build_triangle(s, to[v[0]], to[v[1]], to[v[2]], sphere->labels[t]);
        }
    }
}

surface_build surface_of_capsule(stn_context *context, double radius, double half_length, const surface_plan *plan) {
    int32_t steps = plan->steps, bands = plan->bands;
    surface_build s = surface_build_empty(context), sphere = half_sphere(context, steps);
    int32_t *to = stn_allocate(context, (size_t)sphere.vertex_count + 1, sizeof *to), around = 4 * steps;
    double circumradius = radius * surface_prism_factor(around);
    int32_t lowest = surface_ring(&s, around, circumradius, -half_length), lower = lowest;
    for (int32_t band = 0; band < bands; band++) {
        int32_t upper = surface_ring(&s, around, circumradius, half_length * (2.0 * (band + 1) - bands) / bands);
        surface_band(&s, around, lower, upper, band % 2 == 0, false, (sector_labels){2 * band >= bands ? 1 : 0, 0});
        lower = upper;
    }
    if (to == NULL || sphere.failed) {
        s.failed = true;
    } else {
        add_end(&s, &sphere, to, false, lowest, around, radius, half_length);
        add_end(&s, &sphere, to, true, lower, around, radius, half_length);
    }
    stn_release(context, to);
    surface_build_clear(&sphere);
    return s;
}
