// SPDX-License-Identifier: Apache-2.0
// Ellipsoids x^T E^-2 x = 1, E = diag(e): one point against anything, as they are smooth.
//
// The nearest surface point to p is x_i = e_i^2 p_i / (t + e_i^2) with the largest root t > -min e^2 of the secular
// equation sum (e_i p_i / (t + e_i^2))^2 = 1 [eberly-2013], which holds outside and inside. With the smallest semi-axis
// m, r_i = (e_i / m)^2, z_i = p_i / e_i and u = (t + m^2) / m^2 it is |v(u)| = 1, v_i = r_i z_i / (u + r_i - 1), u > 0:
// no difference of nearly equal numbers. 1 / |v| is nearly a straight line in u, so that Newton's method on
// 1 / |v| = 1, kept between bounds, needs a few steps. [more-1983]
#include "gjk.h"

typedef struct secular {
    double rz[3], shift[3]; // r_i z_i, r_i - 1
} secular;

/// |v(u)|, and its derivative.
static double secular_at(const secular *s, double u, double *slope) {
    double sum = 0.0, turn = 0.0;
    for (int32_t i = 0; i < 3; i++) {
        double v = s->rz[i] / (u + s->shift[i]);
        if (s->rz[i] != 0.0) {
            sum += v * v;
            turn -= v * v / (u + s->shift[i]);
        }
    }
    double norm = sqrt(sum);
    *slope = turn / norm;
    return norm;
}

/// The root of |v(u)| = 1; 0 when there is none with u > 0: the point lies on the medial disk inside.
static double secular_root(const secular *s) {
    double low = 0.0, high = 0.0, slope;
    for (int32_t i = 0; i < 3; i++) {
        low = fmax(low, s->rz[i] - s->shift[i]); // there v_i = 1
        high += s->rz[i] * s->rz[i];
    }
    high = fmax(sqrt(high), low); // v_i <= r_i z_i / u

    if (!(high > 0.0) || (low == 0.0 && secular_at(s, 0x1p-500, &slope) < 1.0)) {
        return 0.0;
    }
    double u = fmax(low, 0x1p-500);
    for (int32_t step = 0; step < 100; step++) {
        double norm = secular_at(s, u, &slope), old = u;
        *(norm > 1.0 ? &low : &high) = u;
        u += (norm - 1.0) * norm / -slope;
        if (!(u > low && u < high)) {
            u = 0.5 * (low + high);
        }
        if (fabs(u - old) <= 0x1p-53 * old) {
            break;
        }
    }
    return u;
}

/// Sought in the octant p >= 0; on a tie along the lowest smallest axis.
double closest_on_ellipsoid(stn_vec3 semi_axes, stn_vec3 p, stn_vec3 *surface, stn_vec3 *normal) {
    const double e[3] = {semi_axes.x, semi_axes.y, semi_axes.z}, q[3] = {fabs(p.x), fabs(p.y), fabs(p.z)};
    int32_t least = e[0] <= e[1] && e[0] <= e[2] ? 0 : e[1] <= e[2] ? 1 : 2;
    double m = e[least], x[3];
    secular s;
    for (int32_t i = 0; i < 3; i++) {
        double z = q[i] / e[i];
        s.rz[i] = (e[i] / m) * (e[i] / m) * z;
        s.shift[i] = (e[i] - m) / m * ((e[i] + m) / m);
    }
    double u = secular_root(&s), rest = 1.0;
    for (int32_t i = 0; i < 3; i++) {
        double v = u + s.shift[i] > 0.0 ? s.rz[i] / (u + s.shift[i]) : 0.0;
        x[i] = e[i] * v;
        rest -= i == least ? 0.0 : v * v;
    }
    if (u == 0.0) {
        x[least] = m * sqrt(fmax(rest, 0.0));
    }
    *surface = stn_vec3_make(copysign(x[0], p.x), copysign(x[1], p.y), copysign(x[2], p.z));
    stn_vec3 along = {surface->x / e[0] * (m / e[0]), surface->y / e[1] * (m / e[1]), surface->z / e[2] * (m / e[2])};
    *normal = stn_vec3_normalize_or(along, stn_vec3_make(1.0, 0.0, 0.0));
    return stn_vec3_dot(*normal, stn_vec3_sub(p, *surface));
}

void sphere_ellipsoid(posed a, posed b, double margin, manifold *out) {
    stn_vec3 e = b.shape->half_extents, apart = stn_vec3_sub(a.pose->position, b.pose->position);
    double reach = fmax(e.x, fmax(e.y, e.z)) + a.shape->radius + margin;
    if (!(stn_vec3_dot(apart, apart) > reach * reach)) {
        sphere_shape(a, b, margin, out);
    }
}

void ellipsoid_half_space(posed a, posed b, double margin, manifold *out) {
    stn_vec3 m = stn_mat3_column(&b.pose->rotation, 2);
    stn_vec3 down = stn_vec3_neg(stn_mat3_apply_transposed(&a.pose->rotation, m));
    stn_vec3 lowest = stn_pose_apply(a.pose, stn_shape_support(a.shape, down));
    double phi = stn_vec3_dot(m, stn_vec3_sub(lowest, b.pose->position));
    if (!(phi > margin)) {
        manifold_add(out, lowest, stn_vec3_neg(m), phi, 0, 0);
    }
}

/// A capsule is its segment, and its radius is taken off in the end.
void convex_ellipsoid(posed a, posed b, double margin, manifold *out) {
    convex first = {a.shape, stn_pose_identity()}, second = {b.shape, relative_pose(a.pose, b.pose)};
    double radius = a.shape->type == STN_SHAPE_CAPSULE ? a.shape->radius : 0.0;
    separation s = convex_separation(&first, &second, margin + radius);
    if (!(s.phi - radius > margin)) {
        stn_vec3 on_a = stn_vec3_mul_add(s.a, radius, s.normal);
        manifold_add_both(out, stn_pose_apply(a.pose, on_a), stn_pose_apply(a.pose, s.b),
                          stn_mat3_apply(&a.pose->rotation, s.normal), 0, 0);
    }
}
