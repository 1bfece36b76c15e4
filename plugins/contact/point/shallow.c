// SPDX-License-Identifier: Apache-2.0
// The signed distance of two polyhedra that are apart or overlap by little, without the expanding polytope.
//
// B is moved away from A by a small step, so that bodies in touch are apart; the nearest points then are a cheap search
// (gjk.c), and they lie on that flat side of C = B - A through which the bodies nearly always come apart soonest, too.
// Whether they do is proved; where it cannot be, B is moved along the normal just found, and in the end the general
// method decides.
//
// The proof. Let the foot of the origin on a flat side of C with the outward normal m lie at the depth d, a clearance
// rho inside of its outline. The side holds a disk of the radius rho around the foot, so in a direction that makes the
// angle w with m the reach of C is at least d cos w + rho sin w >= d as long as tan(w / 2) <= rho / d. Beyond, it is at
// least that of any ball inside of C. When this is >= d too, no direction has a smaller depth.
#include "search.h"

bool nearest_with_beyond(stn_vec3 n, stn_vec3 from_a_to_b, double balls, double d, double cosine) {
    const double beyond = stn_vec3_dot(n, from_a_to_b), sine = sqrt(fmax(1.0 - cosine * cosine, 0.0));
    const stn_vec3 across = stn_vec3_mul_add(from_a_to_b, -beyond, n);
    return cosine <= 0.0 && beyond >= 0.0 && -beyond * cosine - stn_vec3_norm(across) * sine + balls >= d;
}

bool flat_side_is_nearest(stn_vec3 n, stn_vec3 from_a_to_b, double balls, double d, double rho) {
    return rho >= d && nearest_with_beyond(n, from_a_to_b, balls, d, (d * d - rho * rho) / (d * d + rho * rho));
}

/// A capsule's segment is none: the radius keeps it apart where the capsule overlaps by little.
static bool is_polyhedron(const convex *c) {
    return c->shape->type == STN_SHAPE_BOX || c->shape->type == STN_SHAPE_CONVEX;
}

static bool is_same(stn_vec3 p, stn_vec3 q) {
    return p.x == q.x && p.y == q.y && p.z == q.z;
}

/// The corner of a triangle of B - A that shares its point of A with one of the others and that of B with the other:
/// then an edge of A and an edge of B span it, and it is half of a parallelogram. -1: there is none.
static int32_t crossing_corner(const vertex *s) {
    for (int32_t j = 0; j < 3; j++) {
        const vertex *here = &s[j], *p = &s[(j + 1) % 3], *q = &s[(j + 2) % 3];
        if ((is_same(here->a, p->a) && is_same(here->b, q->b)) || (is_same(here->a, q->a) && is_same(here->b, p->b))) {
            return j;
        }
    }
    return -1;
}

/// The flat side that the search ended on, for the bodies where they are: the separation along its normal, and how far
/// the origin's foot lies inside of the triangle or parallelogram; negative: outside.
static double side_clearance(const search *g, separation *r) {
    const int32_t crossing = crossing_corner(g->s), j = crossing >= 0 ? crossing : 0;
    const vertex *o = &g->s[j], *p = &g->s[(j + 1) % 3], *q = &g->s[(j + 2) % 3];
    stn_vec3 at = stn_vec3_sub(o->b, o->a), u = stn_vec3_sub(p->w, o->w), v = stn_vec3_sub(q->w, o->w);
    const double area = stn_vec3_dot(r->normal, stn_vec3_cross(u, v));
    const double x = -stn_vec3_dot(r->normal, stn_vec3_cross(at, v)) / area,
                 y = -stn_vec3_dot(r->normal, stn_vec3_cross(u, at)) / area;
    const double across_u = fabs(area) / stn_vec3_norm(u), across_v = fabs(area) / stn_vec3_norm(v);
    r->a = stn_vec3_mul_add(stn_vec3_mul_add(o->a, x, stn_vec3_sub(p->a, o->a)), y, stn_vec3_sub(q->a, o->a));
    r->b = stn_vec3_mul_add(stn_vec3_mul_add(o->b, x, stn_vec3_sub(p->b, o->b)), y, stn_vec3_sub(q->b, o->b));
    r->phi = stn_vec3_dot(r->normal, at);
    const double inside = fmin(x * across_v, y * across_u);
    return fmin(inside, crossing >= 0 ? fmin((1.0 - x) * across_v, (1.0 - y) * across_u)
                                      : (1.0 - x - y) * fabs(area) / stn_vec3_norm(stn_vec3_sub(q->w, p->w)));
}

/// Whether the nearest points of the bodies where they are follow from those of the bodies moved apart.
static bool follows(const search *g, stn_vec3 from_a_to_b, separation *r) {
    if (g->f.count != 3) {
        return false;
    }
    const double rho = side_clearance(g, r);
    return rho >= 0.0 && (r->phi >= 0.0 || flat_side_is_nearest(r->normal, from_a_to_b, 0.0, -r->phi, rho));
}

bool shallow_separation(const convex *a, const convex *b, double margin, separation *out) {
    enum { ROUNDS = 3 };
    if (!is_polyhedron(a) || !is_polyhedron(b)) {
        return false;
    }
    const double size = pair_size(a->shape, b->shape), away = 1e-2 * size;
    const stn_vec3 between = stn_vec3_sub(convex_middle(b), convex_middle(a));
    const stn_vec3 towards = stn_vec3_normalize_or(between, stn_vec3_zero());
    search g;
    g.shift = stn_vec3_scale(away, towards);
    search_begin(a, b, stn_vec3_neg(towards), margin, &g);
    outcome end = search_nearest(&g);
    for (int32_t round = 1; end == NEAREST; round++) {
        *out = search_separation(&g);
        if (follows(&g, between, out)) {
            return true;
        }
        if (out->phi > 0.0) { // apart: the search goes on where they are
            search_shift(&g, stn_vec3_zero());
            end = search_nearest(&g);
            *out = search_separation(&g);
            return end == BEYOND || (end == NEAREST && out->phi - g.least <= 1e-11 * size);
        }
        if (round == ROUNDS) {
            return false;
        }
        search_shift(&g, stn_vec3_scale(away, out->normal));
        end = search_nearest(&g);
    }
    if (end == BEYOND) {
        *out = search_separation(&g);
        out->phi = sqrt(g.f.length2) + stn_vec3_norm(g.shift);
    }
    return end == BEYOND;
}
