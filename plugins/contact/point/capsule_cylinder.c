// SPDX-License-Identifier: Apache-2.0
// Capsule (A) against cylinder (B), in the cylinder's axes: the capsule's segment p(t) = c + t u, |t| <= l, against the
// cylinder rho <= R, |z| <= L; the capsule's radius is subtracted at the end.
//
// Segment outside: f(t) = 1/2 |e(p(t))|^2, e(p) = p - (nearest point of the cylinder), is convex and f' = u . e. Its
// root is bracketed by the parameters where the segment crosses the planes of the caps and the side, between which f'
// is smooth, then found by safeguarded Newton steps. Segment inside: epa.c.
#include "clip.h"
#include "gjk.h"

typedef struct rod {
    stn_vec3 c, u;
    double l, r;                // of the capsule
    double radius, half_length; // of the cylinder
} rod;

static stn_vec3 at(const rod *g, double t) {
    return stn_vec3_mul_add(g->c, t, g->u);
}

static stn_vec3 excess(const rod *g, stn_vec3 p) {
    double rho = sqrt(p.x * p.x + p.y * p.y), s = rho > g->radius ? (rho - g->radius) / rho : 0.0;
    return stn_vec3_make(s * p.x, s * p.y, p.z - clamp(p.z, -g->half_length, g->half_length));
}

static double slope(const rod *g, double t) {
    return stn_vec3_dot(g->u, excess(g, at(g, t)));
}

/// d slope / dt: 1 along the axis beyond a cap; beyond the side e = (rho - R) radial direction.
static double curvature(const rod *g, double t) {
    stn_vec3 p = at(g, t);
    double rho2 = p.x * p.x + p.y * p.y, c = fabs(p.z) > g->half_length ? g->u.z * g->u.z : 0.0;
    if (rho2 > g->radius * g->radius) {
        double along = (p.x * g->u.x + p.y * g->u.y), across2 = g->u.x * g->u.x + g->u.y * g->u.y;
        double ratio = g->radius / sqrt(rho2);
        c += across2 * (1.0 - ratio) + ratio * along * along / rho2;
    }
    return c;
}

static void tighten(const rod *g, double t, double *low, double *high) {
    if (t > *low && t < *high) {
        *(slope(g, t) < 0.0 ? low : high) = t;
    }
}

static double nearest_parameter(const rod *g) {
    double low = -g->l, high = g->l;
    if (slope(g, low) >= 0.0) {
        return low;
    }
    if (slope(g, high) <= 0.0) {
        return high;
    }
    tighten(g, (-g->half_length - g->c.z) / g->u.z, &low, &high);
    tighten(g, (g->half_length - g->c.z) / g->u.z, &low, &high);
    // where the line crosses rho = R
    double a = g->u.x * g->u.x + g->u.y * g->u.y, b = g->c.x * g->u.x + g->c.y * g->u.y;
    double c = g->c.x * g->c.x + g->c.y * g->c.y - g->radius * g->radius, root2 = b * b - a * c;
    if (root2 >= 0.0 && a > 0.0) {
        double far = -(b + copysign(sqrt(root2), b));
        tighten(g, far / a, &low, &high);
        tighten(g, far != 0.0 ? c / far : 0.0, &low, &high);
    }
    double t = 0.5 * (low + high);
    for (int32_t step = 0; step < 64; step++) {
        double here = slope(g, t), turn = curvature(g, t), old = t;
        *(here < 0.0 ? &low : &high) = t;
        t -= here / turn;
        if (!(t > low && t < high)) {
            t = 0.5 * (low + high);
        }
        if (fabs(t - old) <= 1e-16 * g->l) {
            break;
        }
    }
    return t;
}

void capsule_cylinder(posed a, posed b, double margin, manifold *out) {
    stn_pose x = relative_pose(b.pose, a.pose);
    rod g = {x.position,           stn_mat3_column(&x.rotation, 2),
             a.shape->half_length, a.shape->radius,
             b.shape->radius,      b.shape->half_length};
    double rise = fabs(g.u.z), reach_z = g.half_length + g.l * rise + g.r + margin;
    double reach_rho = g.radius + g.l * sqrt(fmax(0.0, 1.0 - rise * rise)) + g.r + margin;
    if (fabs(g.c.z) > reach_z || g.c.x * g.c.x + g.c.y * g.c.y > reach_rho * reach_rho) {
        return;
    }
    // where on the segment it is nearest, the outward normal of the cylinder and the separation there
    double size = pair_size(a.shape, b.shape), t = nearest_parameter(&g);
    stn_vec3 p = at(&g, t), e = excess(&g, p), on_cylinder = stn_vec3_sub(p, e);
    stn_vec3 n = stn_vec3_normalize_or(e, stn_vec3_make(1.0, 0.0, 0.0));
    double distance = stn_vec3_norm(e);
    if (!(distance > 1e-11 * size)) {
        convex cylinder = {b.shape, stn_pose_identity()}, segment = {a.shape, x};
        separation s = convex_penetration(&cylinder, &segment, NULL);
        double lean = stn_vec3_dot(g.u, s.normal); // the deeper end, unless the segment lies nearly across the normal
        t = lean > 1e-4 ? -g.l : lean < -1e-4 ? g.l : 0.0;
        distance = s.phi;
        on_cylinder = s.a;
        n = s.normal;
    }
    double phi = distance - g.r;
    if (phi > margin) {
        return;
    }
    // the capsule's side line over the cap or along the side that the normal belongs to; points lie on the cylinder
    stn_vec3 normal = stn_vec3_neg(stn_mat3_apply(&b.pose->rotation, n));
    stn_pose identity = stn_pose_identity();
    polygon line, side;
    disk cap;
    overlap points;
    side_line(a.shape, &x, stn_vec3_neg(n), &line);
    if (2.0 * n.z * n.z >= 1.0) {
        cylinder_cap(b.shape, &identity, n.z > 0.0, &cap);
        clip_disk_polygon(&cap, &line, n, &points);
    } else {
        side_line(b.shape, &identity, n, &side);
        clip_lines(&side, &line, n, &points);
    }
    uint32_t end = t == -g.l ? line.corner_code[0] : t == g.l ? line.corner_code[1] : CODE_BETWEEN;
    bool covered = false;
    for (int32_t i = 0; i < points.count; i++) {
        const overlap_point *q = &points.points[i];
        if (q->second != end && !(q->h > margin)) {
            stn_vec3 on_b = stn_pose_apply(b.pose, q->p);
            stn_vec3 on_a =
                points.lines ? stn_pose_apply(b.pose, points.other[i]) : stn_vec3_mul_add(on_b, -q->h, normal);
            manifold_add_both(out, on_a, on_b, normal, q->second, q->first);
            covered = covered || q->h <= phi + 1e-10 * size;
        }
    }
    if (!covered || end != CODE_BETWEEN) {
        stn_vec3 on_b = stn_pose_apply(b.pose, on_cylinder);
        manifold_add(out, stn_vec3_mul_add(on_b, -phi, normal), normal, phi, end, CODE_BETWEEN);
    }
}
