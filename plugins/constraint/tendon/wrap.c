// SPDX-License-Identifier: Apache-2.0
// Everything happens in a plane through the middle: that of both points and the middle of a sphere, that across a
// cylinder. With r0, r1 the distances of the points from the middle and delta the angle from one to the other,
//
//     a_i = acos(R / r_i),   arc = delta - a_0 - a_1,   s = sqrt(r0^2 - R^2) + R arc + sqrt(r1^2 - R^2)
//
// is the way along two tangents and an arc between them; the line between the points is free where arc <= 0. Unrolled,
// a cylinder is flat: with the points h apart along its axis the way is straight there, hypot(s, h) long, a helix on
// the surface.
#include "wrap.h"

#include <math.h>

/// Where both points are in the plane, and which way round the cable goes.
typedef struct plane {
    stn_vec3 x, y;  // unit: x towards `from`, y from there the way round
    double r[2];    // distances from the middle
    double delta;   // angle from one to the other the way round
    bool line_fits; // the line between the points passes on the side of that way
} plane;

wrap wrap_straight(stn_vec3 from, stn_vec3 to) {
    stn_vec3 apart = stn_vec3_sub(to, from);
    stn_vec3 along = stn_vec3_normalize_or(apart, stn_vec3_zero());
    return (wrap){.length = stn_vec3_norm(apart), .out = along, .in = along};
}

/// The angle a_i of a point; 0 on the surface, to round-off.
static double tangent_angle(double radius, double r) {
    return r > radius ? acos(radius / r) : 0.0;
}

/// The unit vector at `angle` in the plane.
static stn_vec3 turned(const plane *p, double angle) {
    return stn_vec3_add(stn_vec3_scale(cos(angle), p->x), stn_vec3_scale(sin(angle), p->y));
}

/// Past a circle in the plane; `axis` carries the heights of both points, which a sphere has none of.
static wrap around(stn_vec3 from, stn_vec3 to, double radius, const plane *p, stn_vec3 axis) {
    double a0 = tangent_angle(radius, p->r[0]), a1 = tangent_angle(radius, p->r[1]);
    wrap w = wrap_straight(from, to);
    w.inside = fmin(p->r[0], p->r[1]) < radius * (1.0 - 1e-9);
    double arc = p->delta - a0 - a1;
    if (w.inside || (p->line_fits && arc <= 0.0)) {
        return w;
    }
    double first = radius * tan(a0), last = radius * tan(a1), s = first + radius * arc + last;
    double z0 = stn_vec3_dot(axis, from), h = stn_vec3_dot(axis, to) - z0;
    w.touches = true;
    w.arc = arc;
    w.length = hypot(s, h);
    double leave = a0, arrive = p->delta - a1; // angles of the points of contact
    stn_vec3 rise = stn_vec3_scale(h / w.length, axis);
    w.out = stn_vec3_mul_add(rise, s / w.length, turned(p, leave + 0.5 * STN_PI));
    w.in = stn_vec3_mul_add(rise, s / w.length, turned(p, arrive + 0.5 * STN_PI));
    w.radial = stn_vec3_scale(radius, turned(p, leave));
    w.along = stn_vec3_scale(radius, turned(p, leave + 0.5 * STN_PI));
    w.leaves = stn_vec3_mul_add(w.radial, z0 + h * first / s, axis);
    w.arrives = stn_vec3_add(stn_vec3_scale(radius, turned(p, arrive)), stn_vec3_scale(z0 + h * (s - last) / s, axis));
    return w;
}

/// Turns the plane over, so that the way round is the other one.
static void turn_over(plane *p) {
    p->y = stn_vec3_neg(p->y);
    p->delta = 2.0 * STN_PI - p->delta;
    p->line_fits = false;
}

/// Does the shorter way, halfway between both points, lie on the far side of the middle from `side`?
static bool on_wrong_side(const plane *p, stn_vec3 side) {
    return stn_vec3_dot(turned(p, 0.5 * p->delta), side) < 0.0;
}

wrap wrap_sphere(stn_vec3 from, stn_vec3 to, double radius, stn_vec3 side) {
    plane p = {.r = {stn_vec3_norm(from), stn_vec3_norm(to)}, .line_fits = true};
    p.x = stn_vec3_normalize_or(from, stn_vec3_make(1.0, 0.0, 0.0));
    stn_vec3 normal = stn_vec3_cross(from, to);
    double sine = stn_vec3_norm(normal);
    p.delta = atan2(sine, stn_vec3_dot(from, to));
    if (!(sine > 1e-12 * p.r[0] * p.r[1])) { // in line with the middle: any plane, best that of `side`
        stn_vec3 any = fabs(p.x.x) < 0.9 ? stn_vec3_make(1.0, 0.0, 0.0) : stn_vec3_make(0.0, 1.0, 0.0);
        normal = stn_vec3_cross(p.x, side);
        normal = stn_vec3_norm(normal) > 1e-12 * stn_vec3_norm(side) ? normal : stn_vec3_cross(p.x, any);
    }
    p.y = stn_vec3_cross(stn_vec3_normalize_or(normal, stn_vec3_zero()), p.x);
    if (on_wrong_side(&p, side)) {
        turn_over(&p);
    }
    return around(from, to, radius, &p, stn_vec3_zero());
}

wrap wrap_cylinder(stn_vec3 from, stn_vec3 to, double radius, stn_vec3 side) {
    plane p = {.r = {hypot(from.x, from.y), hypot(to.x, to.y)}, .line_fits = true};
    p.x = stn_vec3_normalize_or(stn_vec3_make(from.x, from.y, 0.0), stn_vec3_make(1.0, 0.0, 0.0));
    double angle = atan2(from.x * to.y - from.y * to.x, from.x * to.x + from.y * to.y);
    p.y = stn_vec3_scale(angle < 0.0 ? -1.0 : 1.0, stn_vec3_make(-p.x.y, p.x.x, 0.0));
    p.delta = fabs(angle);
    if (on_wrong_side(&p, side)) {
        turn_over(&p);
    }
    return around(from, to, radius, &p, stn_vec3_make(0.0, 0.0, 1.0));
}

/// How far round the middle a point of the arc has come, without what it rose along the axis.
static stn_vec3 come_round(const wrap *way, double angle) {
    return stn_vec3_add(stn_vec3_scale(cos(angle) - 1.0, way->radial), stn_vec3_scale(sin(angle), way->along));
}

stn_vec3 wrap_point(const wrap *way, double share) {
    stn_vec3 rise = stn_vec3_sub(stn_vec3_sub(way->arrives, way->leaves), come_round(way, way->arc));
    return stn_vec3_mul_add(stn_vec3_add(way->leaves, come_round(way, share * way->arc)), share, rise);
}
