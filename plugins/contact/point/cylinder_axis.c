// SPDX-License-Identifier: Apache-2.0
// Cylinder against box or cylinder: what a few directions tell without the general method.
//
// A body that stands or lies on another one is separated best along the normal n of a face or cap, and that can be
// proved. The flat piece and the point x of the other body deepest below it, at a clearance rho inside the piece's
// outline, put a flat disk of radius rho on the boundary of C = B - A, at the depth d. In a direction that makes the
// angle w with n the reach of C is at least d cos w + rho sin w >= d as long as tan(w / 2) <= rho / d; beyond, it is at
// least that of the two inscribed balls about the centres. When this is >= d too, no direction has a smaller depth.
// Apart, two points at the distance that the direction shows are proof enough.
#include "piece.h"

static double reach(const convex *c, stn_vec3 n) {
    stn_vec3 d = stn_mat3_apply_transposed(&c->pose.rotation, n), h = c->shape->half_extents;
    if (c->shape->type == STN_SHAPE_BOX) {
        return h.x * fabs(d.x) + h.y * fabs(d.y) + h.z * fabs(d.z);
    }
    return c->shape->half_length * fabs(d.z) + c->shape->radius * sqrt(d.x * d.x + d.y * d.y);
}

/// Replaces the best candidate when n, of any length, separates more. `edge`: the axis of A that n was crossed with.
static void try_axis(const convex *a, const convex *b, stn_vec3 n, axis_kind kind, int32_t edge, axis_candidate *best) {
    double length = stn_vec3_norm(n), along = stn_vec3_dot(n, b->pose.position);
    if (!(length > 1e-6)) {
        return;
    }
    n = stn_vec3_scale((along < 0.0 ? -1.0 : 1.0) / length, n);
    double s = fabs(along) / length - reach(a, n) - reach(b, n);
    double preferred = kind >= AXIS_CROSSED && best->kind < AXIS_CROSSED ? 1e-10 * pair_size(a->shape, b->shape) : 0.0;
    if (s > best->separation + preferred) { // a flat piece is preferred
        *best = (axis_candidate){s, n, kind, edge};
    }
}

static stn_vec3 across(stn_vec3 v, stn_vec3 axis) {
    return stn_vec3_mul_add(v, -stn_vec3_dot(v, axis), axis);
}

axis_candidate best_axis(const convex *a, const convex *b, double margin) {
    axis_candidate best = {.separation = -INFINITY};
    stn_vec3 axis_b = stn_mat3_column(&b->pose.rotation, 2), t = b->pose.position;
    bool box = a->shape->type == STN_SHAPE_BOX;
    try_axis(a, b, axis_b, AXIS_OF_B, -1, &best);
    for (int32_t i = box ? 0 : 2; i < 3 && !(best.separation > margin); i++) {
        try_axis(a, b, stn_mat3_column(&a->pose.rotation, i), AXIS_OF_A, -1, &best);
    }
    if (!(best.separation > margin)) {
        try_axis(a, b, across(t, axis_b), AXIS_RADIAL, -1, &best);
    }
    for (int32_t i = box ? 0 : 2; i < 3 && !(best.separation > margin); i++) {
        try_axis(a, b, stn_vec3_cross(stn_mat3_column(&a->pose.rotation, i), axis_b), AXIS_CROSSED, i, &best);
    }
    if (!box && !(best.separation > margin)) {
        try_axis(a, b, across(t, stn_mat3_column(&a->pose.rotation, 2)), AXIS_RADIAL, -1, &best);
    }
    return best;
}

double inner_radius(const stn_shape *s) {
    if (s->type == STN_SHAPE_BOX) {
        return fmin(s->half_extents.x, fmin(s->half_extents.y, s->half_extents.z));
    }
    return fmin(s->radius, s->half_length);
}

/// The proof of the file's head for the depth d and the clearance rho.
static bool no_shallower_direction(const convex *a, const convex *b, stn_vec3 n, double d, double rho) {
    double beyond = stn_vec3_dot(n, b->pose.position), sum = d * d + rho * rho;
    double sideways = stn_vec3_norm(across(b->pose.position, n));
    double cosine = (d * d - rho * rho) / sum,
           sine = 2.0 * rho * d / sum; // of the angle at which the disk's bound ends
    double balls = inner_radius(a->shape) + inner_radius(b->shape);
    return rho >= d && beyond >= 0.0 && -beyond * cosine - sideways * sine + balls >= d;
}

/// Middle of the points that are as deep as the deepest; they all lie under the flat piece.
static stn_vec3 middle_of_deepest(const overlap *points, double bound) {
    stn_vec3 sum = stn_vec3_zero();
    double count = 0.0;
    for (int32_t i = 0; i < points->count; i++) {
        if (points->points[i].h <= bound) {
            sum = stn_vec3_add(sum, points->points[i].p);
            count += 1.0;
        }
    }
    return stn_vec3_scale(1.0 / fmax(count, 1.0), sum);
}

/// Normal of a flat piece: the deepest point must lie under it.
static bool flat_is_exact(const convex *a, const convex *b, const axis_candidate *axis, const facing *f,
                          separation *out) {
    bool of_a = axis->kind == AXIS_OF_A;
    const piece *flat = of_a ? &f->a : &f->b;
    stn_vec3 n = axis->n, deepest = of_a ? convex_support(b, stn_vec3_neg(n)) : convex_support(a, n);
    double tiny = 1e-10 * pair_size(a->shape, b->shape), s = axis->separation, rho = piece_clearance(flat, deepest);
    double depth = overlap_depth(&f->points);
    stn_vec3 foot = stn_vec3_mul_add(deepest, of_a ? -s : s, n);
    *out = (separation){s, n, of_a ? foot : deepest, of_a ? deepest : foot};
    if (depth <= s + tiny) { // the two pieces lie flat on each other
        out->phi = rho < 0.0 ? depth : s;
        rho = fmax(rho, piece_clearance(flat, middle_of_deepest(&f->points, s + tiny)));
    }
    return rho >= 0.0 && (s >= 0.0 || no_shallower_direction(a, b, n, -s, rho));
}

/// Normal across an edge or axis u of A and the axis v of B: an edge or side line p + x u of A and the side line q + y
/// v of B must cross. They span the flat side of C.
static bool crossing_is_exact(const convex *a, const convex *b, const axis_candidate *axis, separation *out) {
    stn_vec3 n = axis->n, u = stn_mat3_column(&a->pose.rotation, axis->edge);
    stn_vec3 v = stn_mat3_column(&b->pose.rotation, 2), h = a->shape->half_extents;
    bool box = a->shape->type == STN_SHAPE_BOX;
    double l_a = !box ? a->shape->half_length : axis->edge == 0 ? h.x : axis->edge == 1 ? h.y : h.z;
    stn_vec3 p = box ? across(convex_support(a, n), u) : stn_vec3_scale(a->shape->radius, n);
    stn_vec3 q = stn_vec3_mul_add(b->pose.position, -b->shape->radius, n), d = stn_vec3_sub(q, p);
    double uv = stn_vec3_dot(u, v), sine2 = 1.0 - uv * uv, du = stn_vec3_dot(d, u), dv = stn_vec3_dot(d, v);
    double x = (du - uv * dv) / sine2, y = (uv * du - dv) / sine2, s = axis->separation;
    double rho = fmin(l_a - fabs(x), b->shape->half_length - fabs(y)) * sqrt(sine2);
    *out = (separation){s, n, stn_vec3_mul_add(p, x, u), stn_vec3_mul_add(q, y, v)};
    return sine2 > 1e-6 && rho >= 0.0 && (s >= 0.0 || no_shallower_direction(a, b, n, -s, rho));
}

bool axis_is_exact(const convex *a, const convex *b, const axis_candidate *axis, const facing *f, separation *out) {
    switch (axis->kind) {
    case AXIS_OF_A:
    case AXIS_OF_B:
        return flat_is_exact(a, b, axis, f, out);
    case AXIS_CROSSED:
        return crossing_is_exact(a, b, axis, out);
    default:
        return false;
    }
}
