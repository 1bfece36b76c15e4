// SPDX-License-Identifier: Apache-2.0
// The signed distance of two convex shapes by brute force over directions. For every unit direction n the shapes can be
// told apart by s(n) = n . (c_B - c_A) - h_A(n) - h_B(-n), h the reach of a shape from its centre; the signed distance
// is the largest s(n), for shapes apart and for shapes that overlap alike. Directions are sampled over the sphere and
// refined.
#ifndef STN_POINT_ORACLE_H
#define STN_POINT_ORACLE_H

#include <stiction/mesh.h>

#include "point_probe.h"

/// Over all vertices of a hull.
static inline double oracle_furthest(const stn_mesh *mesh, stn_vec3 d) {
    double reach = -INFINITY;
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        const double *p = mesh->vertices + 3 * (size_t)i;
        double along = p[0] * d.x + p[1] * d.y + p[2] * d.z;
        reach = along > reach ? along : reach;
    }
    return reach;
}

static inline double oracle_reach(const placed *p, stn_vec3 n) {
    stn_vec3 d = stn_mat3_apply_transposed(&p->pose.rotation, n);
    const stn_shape *s = &p->shape;
    switch (s->type) {
    case STN_SHAPE_SPHERE:
        return s->radius;
    case STN_SHAPE_BOX:
        return s->half_extents.x * fabs(d.x) + s->half_extents.y * fabs(d.y) + s->half_extents.z * fabs(d.z);
    case STN_SHAPE_CAPSULE:
        return s->radius + s->half_length * fabs(d.z);
    case STN_SHAPE_CYLINDER:
        return s->half_length * fabs(d.z) + s->radius * hypot(d.x, d.y);
    case STN_SHAPE_ELLIPSOID:
        return hypot(hypot(s->half_extents.x * d.x, s->half_extents.y * d.y), s->half_extents.z * d.z);
    case STN_SHAPE_CONVEX:
        return oracle_furthest(s->mesh, d);
    default:
        return d.z > 0.0 && hypot(d.x, d.y) <= 1e-14 ? 0.0 : HUGE_VAL; // a half space is bounded along its normal alone
    }
}

static inline double oracle_along(const placed *a, const placed *b, stn_vec3 n) {
    return stn_vec3_dot(n, stn_vec3_sub(b->pose.position, a->pose.position)) - oracle_reach(a, n) -
           oracle_reach(b, stn_vec3_neg(n));
}

/// Steps of a shrinking star of directions around n; each circle is turned by another angle. Bounded, as along a sharp
/// ridge small steps can go on for ever.
static inline double oracle_climb(const placed *a, const placed *b, stn_vec3 *n, double step, double end) {
    double best = oracle_along(a, b, *n);
    stn_vec3 star[12]; // cosine and sine, turned from round to round
    for (int32_t k = 0; k < 12; k++) {
        star[k] = stn_vec3_make(cos(k * (STN_PI / 6.0)), sin(k * (STN_PI / 6.0)), 0.0);
    }
    const double c = cos(0.7), s_turn = sin(0.7);
    for (int32_t round = 0; step > end && round < 1000; round++) {
        stn_mat3 frame = stn_contact_frame(*n);
        stn_vec3 u = stn_mat3_column(&frame, 0), v = stn_mat3_column(&frame, 1), winner = *n;
        bool better = false;
        for (int32_t k = 0; k < 12; k++) {
            stn_vec3 d = stn_vec3_mul_add(stn_vec3_scale(step * star[k].x, u), step * star[k].y, v);
            star[k] = stn_vec3_make(c * star[k].x - s_turn * star[k].y, s_turn * star[k].x + c * star[k].y, 0.0);
            stn_vec3 m = stn_vec3_normalize_or(stn_vec3_add(*n, d), *n);
            double s = oracle_along(a, b, m);
            if (s > best) {
                best = s;
                winner = m;
                better = true;
            }
        }
        *n = winner;
        step *= better ? 1.0 : 0.6;
    }
    return best;
}

typedef struct oracle_start {
    double s;
    stn_vec3 n;
} oracle_start;

enum { ORACLE_STARTS = 10, ORACLE_SAMPLES = 500 };

/// Keeps the best starts that stand apart from each other.
static inline void oracle_offer(const placed *a, const placed *b, stn_vec3 n, oracle_start *starts) {
    oracle_start here = {oracle_along(a, b, n), n};
    int32_t worst = 0;
    for (int32_t i = 0; i < ORACLE_STARTS; i++) {
        if (stn_vec3_dot(starts[i].n, n) > 0.97) {
            starts[i] = here.s > starts[i].s ? here : starts[i];
            return;
        }
        worst = starts[i].s < starts[worst].s ? i : worst;
    }
    starts[worst] = here.s > starts[worst].s ? here : starts[worst];
}

/// The largest s(n) found: never above the signed distance.
static inline double oracle_distance(const placed *a, const placed *b) {
    oracle_start best[ORACLE_STARTS];
    for (int32_t i = 0; i < ORACLE_STARTS; i++) {
        best[i] = (oracle_start){-INFINITY, {0.0, 0.0, 0.0}};
    }
    for (int32_t i = 0; i < ORACLE_SAMPLES; i++) { // a spiral from pole to pole
        double z = 1.0 - (2.0 * i + 1.0) / ORACLE_SAMPLES, angle = i * 2.399963229728653, rho = sqrt(1.0 - z * z);
        oracle_offer(a, b, stn_vec3_make(rho * cos(angle), rho * sin(angle), z), best);
    }
    for (int32_t i = 0; i < 6; i++) {
        stn_vec3 e = stn_mat3_column(i < 3 ? &a->pose.rotation : &b->pose.rotation, i % 3);
        oracle_offer(a, b, e, best);
        oracle_offer(a, b, stn_vec3_neg(e), best);
        for (int32_t j = 3; j < 6 && i < 3; j++) {
            stn_vec3 c = stn_vec3_cross(e, stn_mat3_column(&b->pose.rotation, j - 3));
            c = stn_vec3_normalize_or(c, e);
            oracle_offer(a, b, c, best);
            oracle_offer(a, b, stn_vec3_neg(c), best);
        }
    }
    double distance = -INFINITY, coarse = 1e-3;
    stn_vec3 apart = stn_vec3_sub(b->pose.position, a->pose.position);
    for (int32_t i = 0; i < ORACLE_STARTS; i++) {
        if (isfinite(best[i].s)) {
            best[i].s = oracle_climb(a, b, &best[i].n, 0.08, coarse);
            distance = fmax(distance, best[i].s);
        }
    }
    double so_far = distance;
    for (int32_t i = 0; i < ORACLE_STARTS; i++) { // a turn by the last step gains no more than this
        double lever = stn_vec3_norm(apart) + stn_vec3_dot(best[i].n, apart) - best[i].s;
        if (isfinite(best[i].s) && best[i].s > so_far - 4.0 * coarse * lever) {
            distance = fmax(distance, oracle_climb(a, b, &best[i].n, coarse, 1e-9));
        }
    }
    return distance;
}

/// Height over the highest of a hull's triangles.
static inline double oracle_over_triangles(const stn_mesh *mesh, stn_vec3 q) {
    double height = -INFINITY;
    for (int32_t i = 0; i < mesh->triangle_count; i++) {
        stn_vec3 p[3];
        for (int32_t k = 0; k < 3; k++) {
            const double *x = mesh->vertices + 3 * (size_t)mesh->triangles[3 * i + k];
            p[k] = stn_vec3_make(x[0], x[1], x[2]);
        }
        stn_vec3 n = stn_vec3_cross(stn_vec3_sub(p[1], p[0]), stn_vec3_sub(p[2], p[0]));
        height = fmax(height, stn_vec3_dot(stn_vec3_sub(q, p[0]), n) / stn_vec3_norm(n));
    }
    return height;
}

/// (f - 1) f / |grad f^2 / 2| with f = |E^-1 q|: right to first order.
static inline double oracle_over_ellipsoid(stn_vec3 e, stn_vec3 q) {
    double x = q.x / e.x, y = q.y / e.y, z = q.z / e.z, f = hypot(hypot(x, y), z);
    return (f - 1.0) * f / hypot(hypot(x / e.x, y / e.y), z / e.z);
}

/// Signed distance of a point from a shape's surface; exact on and near the surface.
static inline double oracle_surface(const placed *p, stn_vec3 world) {
    stn_vec3 q = stn_pose_apply_inverse(&p->pose, world);
    const stn_shape *s = &p->shape;
    double x = fabs(q.x) - s->half_extents.x, y = fabs(q.y) - s->half_extents.y, z = fabs(q.z) - s->half_extents.z;
    double rho = hypot(q.x, q.y), beyond = fmax(fabs(q.z) - s->half_length, 0.0);
    switch (s->type) {
    case STN_SHAPE_SPHERE:
        return stn_vec3_norm(q) - s->radius;
    case STN_SHAPE_BOX:
        return fmax(x, fmax(y, z));
    case STN_SHAPE_CAPSULE:
        return hypot(rho, beyond) - s->radius;
    case STN_SHAPE_CYLINDER:
        return fmax(rho - s->radius, fabs(q.z) - s->half_length);
    case STN_SHAPE_ELLIPSOID:
        return oracle_over_ellipsoid(s->half_extents, q);
    case STN_SHAPE_CONVEX:
        return oracle_over_triangles(s->mesh, q);
    default:
        return q.z;
    }
}

#endif
