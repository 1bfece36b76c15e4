// SPDX-License-Identifier: Apache-2.0
// Rays against shapes, in the shape's frame: o + t d, |d| = 1. A convex solid is inside the ray for one span of t:
//   sphere      |p|^2 = r^2 with p = o + t d; h = sqrt(r^2 - |o - (o.d) d|^2), t = -(o.d) -+ h
//   ellipsoid   the unit sphere after division by the semi-axes
//   box         the span common to three slabs
//   cylinder    the span of x^2 + y^2 <= r^2 and that of the slab |z| <= l in common
//   capsule     that of its cylinder and its two spheres together: their union is convex
// Meshes are met by walking their tree or grid; what a closed convex surface shows first tells whether the ray begins
// inside: its back.
#include <stiction/mesh_query.h>

/// The part of a line inside a convex solid, and the outward normal where it begins.
typedef struct span {
    double enter, leave; // enter > leave: nowhere
    stn_vec3 normal;
} span;

static const span nowhere = {INFINITY, -INFINITY, {0.0, 0.0, 1.0}};

static span sphere_span(stn_vec3 o, stn_vec3 d, double radius) {
    double middle = -stn_vec3_dot(o, d);
    stn_vec3 foot = stn_vec3_mul_add(o, middle, d);
    double h2 = (radius - stn_vec3_norm(foot)) * (radius + stn_vec3_norm(foot));
    if (!(h2 >= 0.0)) {
        return nowhere;
    }
    double h = sqrt(h2);
    stn_vec3 normal = stn_vec3_normalize_or(stn_vec3_mul_add(foot, -h, d), stn_vec3_neg(d));
    return (span){middle - h, middle + h, normal};
}

/// |o_i + t d_i| <= h, of normals +-axis.
static span slab_span(double o, double d, double h, stn_vec3 axis) {
    if (d == 0.0) {
        span whole = {-INFINITY, INFINITY, axis};
        return fabs(o) <= h ? whole : nowhere;
    }
    double side = d > 0.0 ? -1.0 : 1.0;
    return (span){(side * h - o) / d, (-side * h - o) / d, stn_vec3_scale(side, axis)};
}

static span common(span a, span b) {
    span s = a.enter >= b.enter ? a : b;
    s.leave = fmin(a.leave, b.leave);
    return s;
}

/// Of two solids that overlap and together are convex.
static span joined(span a, span b) {
    if (!(a.enter <= a.leave)) {
        return b;
    }
    if (!(b.enter <= b.leave)) {
        return a;
    }
    span s = a.enter <= b.enter ? a : b;
    s.leave = fmax(a.leave, b.leave);
    return s;
}

/// The tube about z, between its ends.
static span cylinder_span(stn_vec3 o, stn_vec3 d, double radius, double half_length) {
    stn_vec3 across = {d.x, d.y, 0.0}, from = {o.x, o.y, 0.0};
    double rate = stn_vec3_norm(across);
    span tube = {-INFINITY, INFINITY, {1.0, 0.0, 0.0}};
    if (rate != 0.0) {
        tube = sphere_span(from, stn_vec3_scale(1.0 / rate, across), radius);
        tube.enter /= rate;
        tube.leave /= rate;
    } else if (!(stn_vec3_norm(from) <= radius)) {
        tube = nowhere;
    }
    return common(tube, slab_span(o.z, d.z, half_length, stn_vec3_make(0.0, 0.0, 1.0)));
}

static span span_of(const stn_shape *shape, stn_vec3 o, stn_vec3 d) {
    stn_vec3 h = shape->half_extents;
    double l = shape->half_length;
    switch (shape->type) {
    case STN_SHAPE_SPHERE:
        return sphere_span(o, d, shape->radius);
    case STN_SHAPE_BOX: {
        span x = slab_span(o.x, d.x, h.x, stn_vec3_make(1.0, 0.0, 0.0));
        span y = slab_span(o.y, d.y, h.y, stn_vec3_make(0.0, 1.0, 0.0));
        span z = slab_span(o.z, d.z, h.z, stn_vec3_make(0.0, 0.0, 1.0));
        return common(common(x, y), z);
    }
    case STN_SHAPE_CAPSULE: {
        stn_vec3 above = {o.x, o.y, o.z - l}, below = {o.x, o.y, o.z + l};
        span ends = joined(sphere_span(above, d, shape->radius), sphere_span(below, d, shape->radius));
        return l > 0.0 ? joined(cylinder_span(o, d, shape->radius, l), ends) : ends;
    }
    case STN_SHAPE_CYLINDER:
        return cylinder_span(o, d, shape->radius, l);
    case STN_SHAPE_ELLIPSOID: {
        stn_vec3 scaled = {d.x / h.x, d.y / h.y, d.z / h.z};
        double rate = stn_vec3_norm(scaled);
        span s = sphere_span(stn_vec3_make(o.x / h.x, o.y / h.y, o.z / h.z), stn_vec3_scale(1.0 / rate, scaled), 1.0);
        s.enter /= rate;
        s.leave /= rate;
        stn_vec3 gradient = {s.normal.x / h.x, s.normal.y / h.y, s.normal.z / h.z};
        s.normal = stn_vec3_normalize_or(gradient, stn_vec3_neg(d));
        return s;
    }
    case STN_SHAPE_HALF_SPACE: {
        span s = {-INFINITY, INFINITY, {0.0, 0.0, 1.0}};
        if (d.z == 0.0) {
            return o.z < 0.0 ? s : nowhere;
        }
        *(d.z < 0.0 ? &s.enter : &s.leave) = -o.z / d.z;
        return s;
    }
    default:
        return nowhere;
    }
}

/// What is met in the shape's frame; the point follows from the distance.
typedef stn_ray_hit local_hit;

/// The ray there.
typedef struct local_ray {
    stn_vec3 o, d;
    double max;
} local_ray;

static local_hit inside_hit(stn_vec3 d) {
    return (local_hit){.normal = stn_vec3_neg(d), .triangle = -1, .inside = true};
}

/// `solid`: closed, corners counter-clockwise seen from outside.
static bool meet_mesh(const stn_mesh *mesh, bool solid, const local_ray *ray, local_hit *hit) {
    stn_mesh_point found;
    if (!stn_mesh_raycast(mesh, ray->o, ray->d, solid ? (double)INFINITY : ray->max, &found)) {
        return false;
    }
    stn_vec3 normal = stn_mesh_triangle_normal(mesh, found.triangle);
    bool back = stn_vec3_dot(normal, ray->d) > 0.0;
    if (solid && back) {
        *hit = inside_hit(ray->d);
        return found.distance > 0.0;
    }
    *hit = (local_hit){
        .distance = found.distance, .normal = back ? stn_vec3_neg(normal) : normal, .triangle = found.triangle};
    return found.distance <= ray->max;
}

/// The surface, or before it a side under the border.
static bool meet_height_field(const stn_mesh *mesh, const local_ray *ray, local_hit *hit) {
    const stn_grid *g = &mesh->grid;
    stn_vec3 o = ray->o, d = ray->d;
    span sides = common(slab_span(o.x, d.x, -g->x, stn_vec3_make(1.0, 0.0, 0.0)),
                        slab_span(o.y, d.y, -g->y, stn_vec3_make(0.0, 1.0, 0.0)));
    if (!(sides.enter <= sides.leave && sides.leave > 0.0)) {
        return false;
    }
    double begin = fmax(sides.enter, 0.0);
    stn_vec3 p = stn_vec3_mul_add(o, begin, d); // on the border but for rounding, when the ray comes from outside
    double x = fmin(fmax(p.x, g->x), -g->x), y = fmin(fmax(p.y, g->y), -g->y);
    if (p.z < stn_grid_height(mesh, x, y)) {
        *hit =
            sides.enter < 0.0 ? inside_hit(d) : (local_hit){.distance = begin, .normal = sides.normal, .triangle = -1};
        return begin <= ray->max;
    }
    return meet_mesh(mesh, false, ray, hit);
}

bool stn_shape_raycast(const stn_shape *shape, const stn_pose *pose, stn_vec3 origin, stn_vec3 direction, double max,
                       stn_ray_hit *hit) {
    stn_vec3 unit = stn_vec3_normalize_or(direction, stn_vec3_zero());
    if (!stn_vec3_finite(origin) || !(max >= 0.0) || !(stn_vec3_dot(unit, unit) > 0.5)) {
        return false;
    }
    const local_ray ray = {stn_pose_apply_inverse(pose, origin), stn_mat3_apply_transposed(&pose->rotation, unit), max};
    local_hit local;
    span s;
    bool met = false;
    switch (shape->type) {
    case STN_SHAPE_MESH:
    case STN_SHAPE_CONVEX:
        met = shape->mesh != NULL && meet_mesh(shape->mesh, shape->type == STN_SHAPE_CONVEX, &ray, &local);
        break;
    case STN_SHAPE_HEIGHT_FIELD:
        met = meet_height_field(shape->mesh, &ray, &local);
        break;
    case STN_SHAPE_SURFACE:
        return false; // its nodes are not known here
    default:
        s = span_of(shape, ray.o, ray.d);
        met = s.enter <= s.leave && s.leave > 0.0 && s.enter <= max;
        local = s.enter < 0.0 ? inside_hit(ray.d)
                              : (local_hit){.distance = s.enter, .normal = s.normal, .triangle = -1, .inside = false};
    }
    if (met) {
        *hit = local;
        hit->point = stn_vec3_mul_add(origin, hit->distance, unit);
        hit->normal = stn_mat3_apply(&pose->rotation, local.normal);
    }
    return met;
}
