// SPDX-License-Identifier: Apache-2.0
// A sphere touches any shape where the shape's surface is nearest to its centre: phi = (signed distance of the centre)
// - radius, also with the centre inside. Normal from the sphere (A) into the other shape (B).
#include "pair.h"

static double closest_on_box(stn_vec3 h, stn_vec3 p, stn_vec3 *surface, stn_vec3 *normal) {
    stn_vec3 q = {clamp(p.x, -h.x, h.x), clamp(p.y, -h.y, h.y), clamp(p.z, -h.z, h.z)}, out = stn_vec3_sub(p, q);
    *surface = q;
    double d = stn_vec3_norm(out);
    if (d > 0.0) {
        *normal = stn_vec3_normalize_or(out, out);
        return d;
    }
    double x = fabs(p.x) - h.x, y = fabs(p.y) - h.y, z = fabs(p.z) - h.z; // inside: the nearest face
    if (x >= y && x >= z) {
        surface->x = copysign(h.x, p.x);
        *normal = stn_vec3_make(copysign(1.0, p.x), 0.0, 0.0);
        return x;
    }
    if (y >= z) {
        surface->y = copysign(h.y, p.y);
        *normal = stn_vec3_make(0.0, copysign(1.0, p.y), 0.0);
        return y;
    }
    surface->z = copysign(h.z, p.z);
    *normal = stn_vec3_make(0.0, 0.0, copysign(1.0, p.z));
    return z;
}

static double closest_on_cylinder(const stn_shape *s, stn_vec3 p, stn_vec3 *surface, stn_vec3 *normal) {
    double l = s->half_length, r = s->radius, rho = sqrt(p.x * p.x + p.y * p.y);
    double side = rho - r, cap = fabs(p.z) - l;
    stn_vec3 radial = stn_vec3_normalize_or(stn_vec3_make(p.x, p.y, 0.0), stn_vec3_make(1.0, 0.0, 0.0));
    if (side <= 0.0 && side <= cap) { // nearest to a cap
        *surface = stn_vec3_make(p.x, p.y, copysign(l, p.z));
        *normal = stn_vec3_make(0.0, 0.0, copysign(1.0, p.z));
        return cap;
    }
    *surface = stn_vec3_make(r * radial.x, r * radial.y, clamp(p.z, -l, l));
    *normal = radial;
    if (cap <= 0.0) {
        return side;
    }
    stn_vec3 out = {side * radial.x, side * radial.y, copysign(cap, p.z)}; // beyond the rim
    *normal = stn_vec3_normalize_or(out, radial);
    return sqrt(side * side + cap * cap);
}

double closest_point(const stn_shape *shape, stn_vec3 p, stn_vec3 *surface, stn_vec3 *normal) {
    switch (shape->type) {
    case STN_SHAPE_BOX:
        return closest_on_box(shape->half_extents, p, surface, normal);
    case STN_SHAPE_CAPSULE: {
        stn_vec3 core = {0.0, 0.0, clamp(p.z, -shape->half_length, shape->half_length)}, out = stn_vec3_sub(p, core);
        *normal = stn_vec3_normalize_or(out, stn_vec3_make(1.0, 0.0, 0.0));
        *surface = stn_vec3_mul_add(core, shape->radius, *normal);
        return stn_vec3_norm(out) - shape->radius;
    }
    case STN_SHAPE_ELLIPSOID:
        return closest_on_ellipsoid(shape->half_extents, p, surface, normal);
    default:
        return closest_on_cylinder(shape, p, surface, normal);
    }
}

void sphere_shape(posed a, posed b, double margin, manifold *out) {
    stn_vec3 centre = stn_pose_apply_inverse(b.pose, a.pose->position), surface, outward;
    double r = a.shape->radius, phi = closest_point(b.shape, centre, &surface, &outward) - r;
    if (phi > margin) {
        return;
    }
    stn_vec3 normal = stn_vec3_neg(stn_mat3_apply(&b.pose->rotation, outward));
    stn_vec3 on_a = stn_vec3_mul_add(a.pose->position, r, normal);
    manifold_add_both(out, on_a, stn_pose_apply(b.pose, surface), normal, 0, 0);
}

/// Most spheres near a box are further from it than the margin: the squared distance tells, with room for its rounding.
void sphere_box(posed a, posed b, double margin, manifold *out) {
    stn_vec3 h = b.shape->half_extents, p = stn_pose_apply_inverse(b.pose, a.pose->position);
    double x = fabs(p.x) - h.x, y = fabs(p.y) - h.y, z = fabs(p.z) - h.z, reach = a.shape->radius + margin;
    x = x > 0.0 ? x : 0.0;
    y = y > 0.0 ? y : 0.0;
    z = z > 0.0 ? z : 0.0;
    if (!(reach > 0.0 && x * x + y * y + z * z > (1.0 + 1e-10) * (reach * reach))) {
        sphere_shape(a, b, margin, out);
    }
}

void sphere_capsule(posed a, posed b, double margin, manifold *out) {
    stn_vec3 d = stn_vec3_sub(a.pose->position, b.pose->position), u = stn_mat3_column(&b.pose->rotation, 2);
    double along = stn_vec3_dot(d, u), l = b.shape->half_length, reach = a.shape->radius + b.shape->radius + margin;
    stn_vec3 out_of = stn_vec3_mul_add(d, -clamp(along, -l, l), u);
    if (!(reach > 0.0 && stn_vec3_dot(out_of, out_of) > (1.0 + 1e-10) * (reach * reach))) {
        sphere_shape(a, b, margin, out);
    }
}

void sphere_cylinder(posed a, posed b, double margin, manifold *out) {
    sphere_shape(a, b, margin, out);
}

void sphere_sphere(posed a, posed b, double margin, manifold *out) {
    stn_vec3 apart = stn_vec3_sub(b.pose->position, a.pose->position);
    double reach = a.shape->radius + b.shape->radius + margin, squared = stn_vec3_dot(apart, apart);
    if (squared > reach * reach) {
        return;
    }
    stn_vec3 normal = stn_vec3_normalize_or(apart, stn_mat3_column(&a.pose->rotation, 2));
    double phi = sqrt(squared) - a.shape->radius - b.shape->radius;
    manifold_add(out, stn_vec3_mul_add(a.pose->position, a.shape->radius, normal), normal, phi, 0, 0);
}
