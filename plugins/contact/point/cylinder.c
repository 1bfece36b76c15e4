// SPDX-License-Identifier: Apache-2.0
// A cylinder against a box or a cylinder, in A's axes: the signed distance and its normal, from a flat piece's normal
// when that can be shown to be exact and else from the general convex method (gjk.c, epa.c); then the
// points where the two pieces of surface that look along the normal overlap: a face, a cap, or a side line. A cap rests
// on its rim, a side on the ends of its line; the exact deepest point is added unless one of these is as deep.
#include "piece.h"

// ---------------------------------------------------------------------------------------------------------- axes
// Cylinder against box or cylinder: what a few directions tell without the general method.
//
// A body that stands or lies on another one is separated best along the normal n of a face or cap, and that can be
// proved: the flat piece and the point of the other body deepest below it, at a clearance rho inside the piece's
// outline, are a flat side of C = B - A (shallow.c). Apart, two points at the distance that the direction shows are
// proof enough.

/// A direction that may separate best: the normal of a flat piece of A or of B, across an edge or axis of A and the
/// axis of B, or from an axis straight to the other's centre.
typedef enum axis_kind { AXIS_OF_A, AXIS_OF_B, AXIS_CROSSED, AXIS_RADIAL } axis_kind;
typedef struct axis_candidate {
    double separation;
    stn_vec3 n; // unit, from A to B
    axis_kind kind;
    int32_t edge; // of AXIS_CROSSED: the axis of A
} axis_candidate;

/// Two bodies, and their best candidate.
typedef struct axis_search {
    const convex *a, *b;
    axis_candidate best;
} axis_search;

static double reach(const convex *c, stn_vec3 n) {
    stn_vec3 d = stn_mat3_apply_transposed(&c->pose.rotation, n), h = c->shape->half_extents;
    if (c->shape->type == STN_SHAPE_BOX) {
        return h.x * fabs(d.x) + h.y * fabs(d.y) + h.z * fabs(d.z);
    }
    return c->shape->half_length * fabs(d.z) + c->shape->radius * sqrt(d.x * d.x + d.y * d.y);
}

/// Replaces the best candidate when n, of any length, separates more. `edge`: the axis of A that n was crossed with.
static void try_axis(axis_search *w, stn_vec3 n, axis_kind kind, int32_t edge) {
    const convex *a = w->a, *b = w->b;
    double length = stn_vec3_norm(n), along = stn_vec3_dot(n, b->pose.position), preferred = 0.0;
    if (!(length > 1e-6)) {
        return;
    }
    n = stn_vec3_scale((along < 0.0 ? -1.0 : 1.0) / length, n);
    double s = fabs(along) / length - reach(a, n) - reach(b, n);
    if (kind >= AXIS_CROSSED && w->best.kind < AXIS_CROSSED) { // a flat piece is preferred
        preferred = 1e-10 * pair_size(a->shape, b->shape);
    }
    if (s > w->best.separation + preferred) {
        w->best = (axis_candidate){s, n, kind, edge};
    }
}

static stn_vec3 across(stn_vec3 v, stn_vec3 axis) {
    return stn_vec3_mul_add(v, -stn_vec3_dot(v, axis), axis);
}

/// Finds the candidate that separates most; the search ends early when one separates by more than the margin. B: a
/// cylinder.
static void find_axis(axis_search *w, double margin) {
    const stn_mat3 *axes_a = &w->a->pose.rotation;
    stn_vec3 axis_b = stn_mat3_column(&w->b->pose.rotation, 2), t = w->b->pose.position;
    bool box = w->a->shape->type == STN_SHAPE_BOX;
    try_axis(w, axis_b, AXIS_OF_B, -1);
    for (int32_t i = box ? 0 : 2; i < 3 && !(w->best.separation > margin); i++) {
        try_axis(w, stn_mat3_column(axes_a, i), AXIS_OF_A, -1);
    }
    if (!(w->best.separation > margin)) {
        try_axis(w, across(t, axis_b), AXIS_RADIAL, -1);
    }
    for (int32_t i = box ? 0 : 2; i < 3 && !(w->best.separation > margin); i++) {
        try_axis(w, stn_vec3_cross(stn_mat3_column(axes_a, i), axis_b), AXIS_CROSSED, i);
    }
    if (!box && !(w->best.separation > margin)) {
        try_axis(w, across(t, stn_mat3_column(axes_a, 2)), AXIS_RADIAL, -1);
    }
}

/// Radius of the largest ball in a box or cylinder.
static double inner_radius(const stn_shape *s) {
    if (s->type == STN_SHAPE_BOX) {
        return fmin(s->half_extents.x, fmin(s->half_extents.y, s->half_extents.z));
    }
    return fmin(s->radius, s->half_length);
}

/// The proof for the depth d and the clearance rho.
static bool no_shallower_direction(const axis_search *w, double d, double rho) {
    const double balls = inner_radius(w->a->shape) + inner_radius(w->b->shape);
    return flat_side_is_nearest(w->best.n, w->b->pose.position, balls, d, rho);
}

/// Normal of a flat piece: the deepest point must lie under it.
static bool flat_is_exact(const axis_search *w, const facing *f, separation *out) {
    const convex *a = w->a, *b = w->b;
    const axis_candidate *axis = &w->best;
    bool of_a = axis->kind == AXIS_OF_A;
    const piece *flat = of_a ? &f->a : &f->b;
    stn_vec3 n = axis->n, deepest = of_a ? convex_support(b, stn_vec3_neg(n)) : convex_support(a, n);
    double tiny = 1e-10 * pair_size(a->shape, b->shape), s = axis->separation, rho = piece_clearance(flat, deepest);
    double depth = overlap_depth(&f->points);
    stn_vec3 foot = stn_vec3_mul_add(deepest, of_a ? -s : s, n);
    *out = (separation){s, n, of_a ? foot : deepest, of_a ? deepest : foot};
    if (depth <= s + tiny) { // the two pieces lie flat on each other
        out->phi = rho < 0.0 ? depth : s;
        // the points that are as deep as the deepest all lie under the flat piece
        stn_vec3 sum = stn_vec3_zero();
        double count = 0.0;
        for (int32_t i = 0; i < f->points.count; i++) {
            if (f->points.points[i].h <= s + tiny) {
                sum = stn_vec3_add(sum, f->points.points[i].p);
                count += 1.0;
            }
        }
        rho = fmax(rho, piece_clearance(flat, stn_vec3_scale(1.0 / fmax(count, 1.0), sum)));
    }
    return rho >= 0.0 && (s >= 0.0 || no_shallower_direction(w, -s, rho));
}

/// Normal across an edge or axis u of A and the axis v of B: an edge or side line p + x u of A and the side line q + y
/// v of B must cross. They span the flat side of C.
static bool crossing_is_exact(const axis_search *w, separation *out) {
    const convex *a = w->a, *b = w->b;
    const axis_candidate *axis = &w->best;
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
    return sine2 > 1e-6 && rho >= 0.0 && (s >= 0.0 || no_shallower_direction(w, -s, rho));
}

// ----------------------------------------------------------------------------------------------------------- rim
// The rim of a cylinder (radius r, axis y) against a line of direction u: an edge of a box, or the side of another
// cylinder. Nearly parallel cylinders that lie on each other touch like this.
//
// The normal is across u, n = cos w e_1 + sin w e_2, and turns until the separation s(w) = n . t - (reaches) is
// stationary (Newton's method; between its kinks s is smooth). It is the signed distance when the rim point lies beside
// the line, at a clearance rho >= 0 from its ends, and the bodies are apart or the depth d is proved to be the least.
//
// The proof. With m = -n, the point p = d m is on the boundary of C = B - A. A unit direction v reaches further in C
// than p by the sum of what it reaches further in both bodies than their points there. That is at least
//   r (v . q)^2 / 2 for a rim or side, its disk of radius r with the tangent q;
//   rho |v . u| >= rho (v . u)^2 for a line,
// together sin^2(v, m) l / 2 with the smallest eigenvalue l of the form r q q' + ... + 2 rho u u' across m. Where
// v . m = -c < 0 it is also at least 2 c b, b the sum of the bodies' inner radii. Needed are d (1 - v . m): when l / 2
// >= d and b >= d no direction is shallower.

/// One such pair: `line` is A or B, the rim belongs to the other one.
typedef struct rim_line {
    const convex *line, *rim;
    stn_vec3 u, y, t;    // t: from the line's body to the rim's
    double half, radius; // of the line
    stn_vec3 e_1, e_2;   // across u, e_1 the start
} rim_line;

/// s, s' and s'' at the normal n and its derivative m; the line's body reaches along the support point, plus a radius.
static void separation_at(const rim_line *g, stn_vec3 n, stn_vec3 m, double s[3]) {
    double along = stn_vec3_dot(n, g->y), turn = stn_vec3_dot(m, g->y), r = g->rim->shape->radius;
    stn_vec3 radial = stn_vec3_mul_add(n, -along, g->y); // without cancellation where n is nearly along the axis
    double c2 = stn_vec3_dot(radial, radial), c = sqrt(c2), l = copysign(g->rim->shape->half_length, along);
    stn_vec3 p = stn_vec3_zero();
    if (g->line->shape->type == STN_SHAPE_BOX) {
        p = stn_vec3_sub(convex_support(g->line, n), g->line->pose.position);
    }
    stn_vec3 apart = stn_vec3_sub(g->t, p);
    s[0] = stn_vec3_dot(n, apart) - g->radius - l * along - r * c;
    s[1] = stn_vec3_dot(m, apart) - l * turn + r * along * turn / c;
    s[2] = -stn_vec3_dot(n, apart) + l * along +
           r * ((turn * turn - along * along) / c + along * along * turn * turn / (c * c2));
}

/// The proof of the file's head: the form r q q' + 2 rho u u' + (radius of the line) t t', t = u x n.
static bool is_least_depth(const rim_line *g, stn_vec3 n, double rho, double depth) {
    stn_vec3 q = stn_vec3_normalize_or(stn_vec3_cross(g->y, n), g->u), t = stn_vec3_cross(g->u, n);
    double r = g->rim->shape->radius, qu = stn_vec3_dot(q, g->u), qt = stn_vec3_dot(q, t);
    double uu = r * qu * qu + 2.0 * rho, tt = r * qt * qt + g->radius, ut = r * qu * qt;
    double least = 0.5 * (uu + tt - sqrt((uu - tt) * (uu - tt) + 4.0 * ut * ut));
    return 0.5 * least >= depth && inner_radius(g->line->shape) + inner_radius(g->rim->shape) >= depth;
}

/// The normal turns by Newton's method on s' = 0. False at a kink, where s is not at a maximum, or where the deepest
/// rim point and its foot on the line do not prove the distance.
static bool try_line(const convex *line, const convex *rim, int32_t edge, stn_vec3 start, double size,
                     separation *out) {
    stn_vec3 h = line->shape->half_extents, u = stn_mat3_column(&line->pose.rotation, edge);
    bool box = line->shape->type == STN_SHAPE_BOX;
    stn_vec3 across_line = across(start, u);
    double length = stn_vec3_norm(across_line);
    rim_line g = {line,
                  rim,
                  u,
                  stn_mat3_column(&rim->pose.rotation, 2),
                  .t = stn_vec3_sub(rim->pose.position, line->pose.position),
                  .half = !box        ? line->shape->half_length
                          : edge == 0 ? h.x
                          : edge == 1 ? h.y
                                      : h.z,
                  .radius = line->shape->radius,
                  .e_1 = stn_vec3_scale(1.0 / length, across_line)};
    g.e_2 = stn_vec3_cross(u, g.e_1);
    if (!(length > 0.5)) {
        return false;
    }
    double angle = 0.0, at[3];
    stn_vec3 n;
    bool found = false;
    for (int32_t step = 0; step < 8 && !found; step++) {
        double c = cos(angle), e = sin(angle);
        n = stn_vec3_mul_add(stn_vec3_scale(c, g.e_1), e, g.e_2);
        separation_at(&g, n, stn_vec3_mul_add(stn_vec3_scale(-e, g.e_1), c, g.e_2), at);
        if (!(at[2] < 0.0)) {
            return false;
        }
        found = fabs(at[1]) <= 1e-14 * size;
        angle += clamp(-at[1] / at[2], -0.3, 0.3);
    }
    if (!found) {
        return false;
    }
    double s = at[0];
    stn_vec3 deepest = convex_support(rim, stn_vec3_neg(n)), foot = stn_vec3_mul_add(deepest, -s, n);
    stn_vec3 middle = box ? convex_support(line, n) : stn_vec3_mul_add(line->pose.position, g.radius, n);
    double beside_line = stn_vec3_norm(stn_vec3_cross(u, stn_vec3_sub(foot, middle)));
    double rho = g.half - fabs(stn_vec3_dot(u, stn_vec3_sub(foot, line->pose.position)));
    *out = (separation){s, n, foot, deepest};
    return rho >= 0.0 && beside_line <= 1e-12 * size && (s >= 0.0 || is_least_depth(&g, n, rho, -s));
}

/// For a cylinder's rim against an edge of a box or the side of a cylinder, nearly along it or apart: the normal turns
/// about that edge from `start` until the separation is largest. True when that is the signed distance.
static bool rim_is_exact(const convex *a, const convex *b, stn_vec3 start, separation *out) {
    double size = shape_size(a->shape) + shape_size(b->shape);
    if (a->shape->type == STN_SHAPE_BOX) {
        for (int32_t edge = 0; edge < 3; edge++) {
            if (try_line(a, b, edge, start, size, out)) {
                return true;
            }
        }
        return false;
    }
    if (try_line(a, b, 2, start, size, out)) {
        return true;
    }
    if (!try_line(b, a, 2, stn_vec3_neg(start), size, out)) {
        return false;
    }
    *out = (separation){out->phi, stn_vec3_neg(out->normal), out->b, out->a};
    return true;
}

// ------------------------------------------------------------------------------------------------------ the pair

static void convex_cylinder(posed a, posed b, double margin, manifold *out) {
    convex first = {a.shape, stn_pose_identity()}, second = {b.shape, relative_pose(a.pose, b.pose)};
    axis_search w = {&first, &second, {.separation = -INFINITY}};
    find_axis(&w, margin);
    if (w.best.separation > margin) {
        return;
    }
    facing f;
    separation s;
    f.size = pair_size(a.shape, b.shape);
    f.margin = margin;
    face_along(&first, &second, w.best.n, &f);
    // is the separation along the candidate the signed distance?
    bool flat = w.best.kind == AXIS_OF_A || w.best.kind == AXIS_OF_B;
    if (flat ? !flat_is_exact(&w, &f, &s) : w.best.kind != AXIS_CROSSED || !crossing_is_exact(&w, &s)) {
        if (!rim_is_exact(&first, &second, w.best.n, &s)) {
            s = convex_separation(&first, &second, margin);
        }
        if (s.phi > margin) {
            return;
        }
        face_along(&first, &second, s.normal, &f);
    }
    add_facing(a, &f, &s, out);
}

void box_cylinder(posed a, posed b, double margin, manifold *out) {
    convex_cylinder(a, b, margin, out);
}

void cylinder_cylinder(posed a, posed b, double margin, manifold *out) {
    convex_cylinder(a, b, margin, out);
}
