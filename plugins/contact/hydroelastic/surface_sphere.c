// SPDX-License-Identifier: Apache-2.0
// The sphere: an icosahedron divided evenly, its vertices moved outwards.
//
// A triangle whose corners lie on the sphere lies below it, on average by h^2 / (8 R), and a shallow contact of depth d
// loses h^2 / (4 R d) of its force. So every vertex is moved outwards by what the cones over its triangles lack of the
// volume under the sphere; what is left changes sign from middle to corner, and the loss is of the order h^4.
#include "field_build.h"

/// Solid angle of a triangle seen from the origin [van-oosterom-1983].
static double solid_angle(stn_vec3 a, stn_vec3 b, stn_vec3 c) {
    double la = stn_vec3_norm(a), lb = stn_vec3_norm(b), lc = stn_vec3_norm(c);
    double det = stn_vec3_dot(a, stn_vec3_cross(b, c));
    double below = la * lb * lc + stn_vec3_dot(a, b) * lc + stn_vec3_dot(b, c) * la + stn_vec3_dot(c, a) * lb;
    return 2.0 * atan2(det, below);
}

/// Each vertex by the mean, over its triangles, of the factor that their cones lack.
static void swell_once(surface_build *s, double *factors) {
    for (int32_t i = 0; i < 2 * s->vertex_count; i++) {
        factors[i] = 0.0;
    }
    for (int32_t t = 0; t < s->triangle_count; t++) {
        const int32_t *v = s->triangles + 3 * (size_t)t;
        stn_vec3 a = surface_point(s->vertices, v[0]), b = surface_point(s->vertices, v[1]);
        stn_vec3 c = surface_point(s->vertices, v[2]);
        double angle = solid_angle(a, b, c);
        double factor = cbrt(2.0 * angle / stn_vec3_dot(a, stn_vec3_cross(b, c)));
        for (int32_t k = 0; k < 3; k++) {
            factors[2 * v[k]] += angle * factor;
            factors[2 * v[k] + 1] += angle;
        }
    }
    for (int32_t i = 0; i < s->vertex_count; i++) {
        double factor = factors[2 * i] / factors[2 * i + 1];
        surface_put(s->vertices, i, stn_vec3_scale(factor, surface_point(s->vertices, i)));
    }
}

static double volume_of(const surface_build *s) {
    double volume = 0.0;
    for (int32_t t = 0; t < s->triangle_count; t++) {
        const int32_t *v = s->triangles + 3 * (size_t)t;
        stn_vec3 bc = stn_vec3_cross(surface_point(s->vertices, v[1]), surface_point(s->vertices, v[2]));
        volume += stn_vec3_dot(surface_point(s->vertices, v[0]), bc) / 6.0;
    }
    return volume;
}

/// Puts vertices of the equator back on their circle and multiplies the others.
static void scale(surface_build *s, double factor, double equator) {
    for (int32_t i = 0; i < s->vertex_count; i++) {
        stn_vec3 p = surface_point(s->vertices, i);
        bool held = equator > 0.0 && fabs(p.z) < surface_equator;
        surface_put(s->vertices, i, stn_vec3_scale(held ? equator / stn_vec3_norm(p) : factor, p));
    }
}

void surface_swell(surface_build *s, double equator) {
    double *factors = stn_allocate(s->context, (size_t)s->vertex_count, 2 * sizeof(double));
    if (factors == NULL || s->failed) {
        stn_release(s->context, factors);
        s->failed = true;
        return;
    }
    for (int32_t pass = 0; pass < 6; pass++) { // neighbours make up for each other, and for what is held
        swell_once(s, factors);
        scale(s, 1.0, equator);
    }
    stn_release(s->context, factors);
    for (int32_t pass = 0; pass < 8; pass++) { // one is enough when nothing is held
        scale(s, cbrt(4.0 / 3.0 * STN_PI / volume_of(s)), equator);
    }
}

/// Corners (0, +-1, +-golden) and their cyclic exchanges, so that the planes between the axes are mirrors.
static surface_build icosahedron(stn_context *context) {
    surface_build s = surface_build_empty(context);
    const double golden = 0.5 * (1.0 + sqrt(5.0)), norm = 1.0 / sqrt(1.0 + golden * golden);
    for (int32_t i = 0; i < 12; i++) {
        double p[3] = {0};
        p[(i / 4 + 1) % 3] = (i & 1) != 0 ? norm : -norm;
        p[(i / 4 + 2) % 3] = (i & 2) != 0 ? golden * norm : -golden * norm;
        surface_build_vertex(&s, stn_vec3_make(p[0], p[1], p[2]), 0.0);
    }
    const double edge = 2.1 * norm;
    for (int32_t i = 0; i < 12 && !s.failed; i++) {
        for (int32_t j = i + 1; j < 12; j++) {
            for (int32_t k = j + 1; k < 12; k++) {
                stn_vec3 a = surface_point(s.vertices, i), b = surface_point(s.vertices, j);
                stn_vec3 c = surface_point(s.vertices, k);
                if (stn_vec3_norm(stn_vec3_sub(a, b)) < edge && stn_vec3_norm(stn_vec3_sub(b, c)) < edge &&
                    stn_vec3_norm(stn_vec3_sub(c, a)) < edge) {
                    bool outward = stn_vec3_dot(a, stn_vec3_cross(b, c)) > 0.0;
                    surface_build_triangle(&s, i, outward ? j : k, outward ? k : j, 0);
                }
            }
        }
    }
    return s;
}

surface_build surface_of_sphere(stn_context *context, double radius, int32_t steps) {
    surface_build coarse = icosahedron(context);
    surface_build s = surface_divide(&coarse, steps, surface_place_round);
    surface_build_clear(&coarse);
    surface_swell(&s, 0.0);
    for (int32_t i = 0; i < 3 * s.vertex_count; i++) {
        s.vertices[i] *= radius;
    }
    return s;
}
