// SPDX-License-Identifier: Apache-2.0
// Bounded shapes against a half space (B). Along its outward normal m every point p of A has the height
// phi = m . (p - p_B); the contacts are the lowest points of A: corners, ends, rim points. Normal from A into B: -m.
#include "pair.h"

typedef struct plane {
    stn_vec3 m;
    double offset; // m . p_B
} plane;

static plane plane_of(posed b) {
    stn_vec3 m = stn_mat3_column(&b.pose->rotation, 2);
    plane p = {m, stn_vec3_dot(m, b.pose->position)};
    return p;
}

static double height(const plane *p, stn_vec3 point) {
    return stn_vec3_dot(p->m, point) - p->offset;
}

void sphere_half_space(posed a, posed b, double margin, manifold *out) {
    plane p = plane_of(b);
    double phi = height(&p, a.pose->position) - a.shape->radius;
    if (phi > margin) {
        return;
    }
    stn_vec3 lowest = stn_vec3_mul_add(a.pose->position, -a.shape->radius, p.m);
    manifold_add(out, lowest, stn_vec3_neg(p.m), phi, 0, 0);
}

/// The ball at the lower end, and the other end of the lowest side line.
void capsule_half_space(posed a, posed b, double margin, manifold *out) {
    plane p = plane_of(b);
    stn_vec3 up = stn_mat3_column(&a.pose->rotation, 2); // along the axis, away from the plane
    double l = a.shape->half_length, r = a.shape->radius, rise = stn_vec3_dot(p.m, up);
    uint32_t lower = rise < 0.0;
    up = lower ? stn_vec3_neg(up) : up;
    stn_vec3 low = stn_vec3_mul_add(a.pose->position, -l, up), normal = stn_vec3_neg(p.m);
    double phi = height(&p, low) - r;
    if (phi > margin) {
        return;
    }
    manifold_add(out, stn_vec3_mul_add(low, r, normal), normal, phi, lower, 0);
    stn_vec3 across = stn_vec3_mul_add(p.m, -fabs(rise), up); // of the normal, beside the axis
    double length = stn_vec3_norm(across);
    phi = height(&p, low) + 2.0 * l * fabs(rise) - r * length;
    if (l > 0.0 && length > 1e-6 && !(phi > margin)) {
        stn_vec3 side = stn_vec3_mul_add(stn_vec3_mul_add(low, 2.0 * l, up), -r / length, across);
        manifold_add(out, side, normal, phi, 1 - lower, 0);
    }
}

/// Corner k stands on the positive side of axis i when bit i of k is set.
void box_half_space(posed a, posed b, double margin, manifold *out) {
    plane p = plane_of(b);
    stn_vec3 h = a.shape->half_extents, m = stn_mat3_apply_transposed(&a.pose->rotation, p.m);
    double centre = height(&p, a.pose->position), x = m.x * h.x, y = m.y * h.y, z = m.z * h.z;
    if (centre - fabs(x) - fabs(y) - fabs(z) > margin) {
        return;
    }
    for (uint32_t k = 0; k < 8; k++) {
        double sx = k & 1 ? 1.0 : -1.0, sy = k & 2 ? 1.0 : -1.0, sz = k & 4 ? 1.0 : -1.0;
        double phi = centre + sx * x + sy * y + sz * z;
        if (!(phi > margin)) {
            stn_vec3 corner = stn_pose_apply(a.pose, stn_vec3_make(sx * h.x, sy * h.y, sz * h.z));
            manifold_add(out, corner, stn_vec3_neg(p.m), phi, k, 0);
        }
    }
}

enum { RIM_POINTS = 4, FEATURE_LOWEST = 8, FEATURE_ACROSS = 9 }; // both + 2: of the upper cap

/// On the cap that faces the plane rim points fixed to the cylinder, so that they persist while it stands; besides, the
/// exact lowest one unless a fixed one is as low, and the one across from it (see add_facing).
void cylinder_half_space(posed a, posed b, double margin, manifold *out) {
    plane p = plane_of(b);
    stn_vec3 m = stn_mat3_apply_transposed(&a.pose->rotation, p.m); // in the cylinder's axes
    double r = a.shape->radius, l = a.shape->half_length, centre = height(&p, a.pose->position);
    double slope = sqrt(m.x * m.x + m.y * m.y), lowest = centre - fabs(m.z) * l - slope * r;
    if (lowest > margin) {
        return;
    }
    double down = m.z > 0.0 ? -l : l, fixed = INFINITY; // lowest height among the fixed ones
    for (uint32_t k = 0; k < RIM_POINTS && fabs(m.z) > 0.5; k++) {
        static const double direction[RIM_POINTS][2] = {{1.0, 0.0}, {0.0, 1.0}, {-1.0, 0.0}, {0.0, -1.0}};
        stn_vec3 rim = {r * direction[k][0], r * direction[k][1], down};
        double phi = centre + stn_vec3_dot(m, rim);
        fixed = fmin(fixed, phi);
        if (!(phi > margin)) {
            uint32_t feature = (down > 0.0 ? RIM_POINTS : 0) + k;
            manifold_add(out, stn_pose_apply(a.pose, rim), stn_vec3_neg(p.m), phi, feature, 0);
        }
    }
    double scale = slope > 0.0 ? -r / slope : 0.0;
    if (!(fixed <= lowest + (slope > 1e-10 ? 1e-12 * slope : 1e-10) * r)) {
        stn_vec3 rim = {scale * m.x, scale * m.y, down};
        manifold_add(out, stn_pose_apply(a.pose, rim), stn_vec3_neg(p.m), lowest, FEATURE_LOWEST + (down > 0.0 ? 2 : 0),
                     0);
        double across = lowest + 2.0 * slope * r;
        if (!(across > margin) && isfinite(fixed)) {
            rim = (stn_vec3){-rim.x, -rim.y, down};
            manifold_add(out, stn_pose_apply(a.pose, rim), stn_vec3_neg(p.m), across,
                         FEATURE_ACROSS + (down > 0.0 ? 2 : 0), 0);
        }
    }
    double opposite = centre + fabs(m.z) * l - slope * r; // the other end of the lowest side line
    if (!(opposite > margin)) {
        stn_vec3 rim = {slope > 0.0 ? scale * m.x : r, scale * m.y, -down};
        manifold_add(out, stn_pose_apply(a.pose, rim), stn_vec3_neg(p.m), opposite,
                     FEATURE_LOWEST + (down > 0.0 ? 0 : 2), 0);
    }
}
