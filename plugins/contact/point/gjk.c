// SPDX-License-Identifier: Apache-2.0
// Distance of two convex bodies: the point v of the Minkowski difference C = B - A nearest to the origin, by a simplex
// of support points that is replaced step by step [gilbert-1988]. For every direction, d(A, B) >= v . w / |v| with the
// support point w opposite to v: the search ends when this bound meets |v|, or when rounding lets v shrink no more.
#include "search.h"

enum { MOST_STEPS = 128 };

stn_vec3 convex_support(const convex *c, stn_vec3 direction) {
    stn_vec3 d = stn_mat3_apply_transposed(&c->pose.rotation, direction), p;
    switch (c->shape->type) {
    case STN_SHAPE_BOX:
        p = stn_vec3_make(copysign(c->shape->half_extents.x, d.x), copysign(c->shape->half_extents.y, d.y),
                          copysign(c->shape->half_extents.z, d.z));
        break;
    case STN_SHAPE_CYLINDER: {
        double rho = sqrt(d.x * d.x + d.y * d.y), s = rho > 0.0 ? c->shape->radius / rho : 0.0;
        p = stn_vec3_make(s * d.x, s * d.y, copysign(c->shape->half_length, d.z));
        break;
    }
    case STN_SHAPE_ELLIPSOID: {
        stn_vec3 e = c->shape->half_extents, u = {e.x * d.x, e.y * d.y, e.z * d.z};
        double reach = stn_vec3_norm(u), s = reach > 0.0 ? 1.0 / reach : 0.0, length = stn_vec3_norm(d);
        double t = length > 0.0 ? c->shape->radius / length : 0.0; // 0, but of a core
        p = stn_vec3_make(s * e.x * u.x + t * d.x, s * e.y * u.y + t * d.y, s * e.z * u.z + t * d.z);
        break;
    }
    case STN_SHAPE_CONVEX: {
        const double *v = c->shape->mesh->vertices + 3 * (size_t)stn_mesh_support(c->shape->mesh, d);
        p = stn_vec3_make(v[0], v[1], v[2]);
        break;
    }
    case STN_SHAPE_SURFACE: // d: along the corners
        return stn_mat3_column(&c->pose.rotation, d.x >= d.y && d.x >= d.z ? 0 : d.y >= d.z ? 1 : 2);
    default:
        p = stn_vec3_make(0.0, 0.0, copysign(c->shape->half_length, d.z));
    }
    return stn_pose_apply(&c->pose, p);
}

stn_vec3 convex_middle(const convex *c) {
    return c->shape->type == STN_SHAPE_CONVEX ? stn_pose_apply(&c->pose, c->shape->mesh->solid.com) : c->pose.position;
}

vertex difference_support(const convex *a, const convex *b, stn_vec3 direction) {
    vertex s = {.a = convex_support(a, stn_vec3_neg(direction)), .b = convex_support(b, direction)};
    s.w = stn_vec3_sub(s.b, s.a);
    return s;
}

static void set_foot(foot *f, stn_vec3 v) {
    f->v = v;
    f->length2 = stn_vec3_dot(v, v);
}

static void foot_on_line(const vertex *s, int32_t i, int32_t j, foot *f) {
    stn_vec3 p = s[i].w, d = stn_vec3_sub(s[j].w, p);
    double along = -stn_vec3_dot(p, d), length2 = stn_vec3_dot(d, d);
    if (!(along > 0.0)) {
        *f = (foot){.count = 1, .corner = {i}, .weight = {1.0}};
        set_foot(f, p);
    } else if (along >= length2) {
        *f = (foot){.count = 1, .corner = {j}, .weight = {1.0}};
        set_foot(f, s[j].w);
    } else {
        double t = along / length2;
        stn_vec3 v = stn_vec3_mul_add(p, t, d);
        v = stn_vec3_mul_add(v, -stn_vec3_dot(v, d) / length2, d); // across d also where v is small
        *f = (foot){.count = 2, .corner = {i, j}, .weight = {1.0 - t, t}};
        set_foot(f, v);
    }
}

/// False when the origin's foot does not lie within all three edges: nothing is written then.
static bool foot_in_triangle(const vertex *s, int32_t i, int32_t j, int32_t k, foot *f) {
    stn_vec3 a = s[i].w, ab = stn_vec3_sub(s[j].w, a), ac = stn_vec3_sub(s[k].w, a), n = stn_vec3_cross(ab, ac);
    double area2 = stn_vec3_dot(n, n);
    double wj = -stn_vec3_dot(stn_vec3_cross(a, ac), n), wk = -stn_vec3_dot(stn_vec3_cross(ab, a), n);
    if (area2 > 0.0 && wj > 0.0 && wk > 0.0 && wj + wk < area2) {
        double tj = wj / area2, tk = wk / area2;
        *f = (foot){.count = 3, .corner = {i, j, k}, .weight = {1.0 - tj - tk, tj, tk}};
        set_foot(f, stn_vec3_scale(stn_vec3_dot(a, n) / area2, n)); // along n: free of cancellation
        return true;
    }
    return false;
}

/// True when the tetrahedron holds the origin. Of a nearly flat one that cannot be told by its volumes: ask only while
/// nothing else shows that the origin is outside.
static bool holds_origin(const vertex *s) {
    static const int32_t face[4][4] = {
        {0, 1, 2, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}, {1, 3, 2, 0}}; // and the opposite corner
    for (int32_t k = 0; k < 4; k++) {
        stn_vec3 a = s[face[k][0]].w, opposite = stn_vec3_sub(s[face[k][3]].w, a);
        stn_vec3 n = stn_vec3_cross(stn_vec3_sub(s[face[k][1]].w, a), stn_vec3_sub(s[face[k][2]].w, a));
        if (!(stn_vec3_dot(n, opposite) * -stn_vec3_dot(n, a) > 0.0)) {
            return false;
        }
    }
    return true;
}

/// The nearest of the faces and edges that the last corner has brought: those without it have been looked at before,
/// and what was nearest of them is further than any that counts now.
static void find_foot(const vertex *s, int32_t count, foot *f) {
    if (count < 3) {
        foot_on_line(s, 0, count - 1, f);
        return;
    }
    const int32_t last = count - 1;
    bool side[3] = {true, true, true}; // the edge from corner i to the last one may be nearest
    foot other;
    f->length2 = INFINITY;
    if (count == 3) {
        if (foot_in_triangle(s, 0, 1, 2, f)) {
            return;
        }
    } else {
        static const int32_t face[3][3] = {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}}; // two corners, and the one beside them
        bool within[3];
        for (int32_t k = 0; k < 3; k++) {
            within[face[k][2]] = foot_in_triangle(s, face[k][0], face[k][1], last, &other);
            if (within[face[k][2]] && other.length2 < f->length2) {
                *f = other;
            }
        }
        for (int32_t i = 0; i < 3; i++) { // of two triangles, each of which has its foot inside
            side[i] = !within[(i + 1) % 3] || !within[(i + 2) % 3];
        }
    }
    for (int32_t i = 0; i < last; i++) {
        if (side[i]) {
            foot_on_line(s, i, last, &other);
            if (other.length2 < f->length2) {
                *f = other;
            }
        }
    }
}

static bool contains(const vertex *s, int32_t count, stn_vec3 w) {
    for (int32_t i = 0; i < count; i++) {
        if (s[i].w.x == w.x && s[i].w.y == w.y && s[i].w.z == w.z) {
            return true;
        }
    }
    return false;
}

/// The direction is that of v: of a triangle the normal, which its edges give more exactly than its small v.
separation search_separation(const search *g) {
    const vertex *s = g->s;
    const foot *f = &g->f;
    stn_vec3 direction = f->v;
    if (f->count == 3) {
        stn_vec3 a = s[0].w, n = stn_vec3_cross(stn_vec3_sub(s[1].w, a), stn_vec3_sub(s[2].w, a));
        direction = stn_vec3_dot(n, a) < 0.0 ? stn_vec3_neg(n) : n;
    }
    separation r = {.normal = stn_vec3_normalize_or(direction, f->v)};
    for (int32_t i = 0; i < f->count; i++) {
        r.a = stn_vec3_mul_add(r.a, f->weight[i], s[i].a);
        r.b = stn_vec3_mul_add(r.b, f->weight[i], s[i].b);
    }
    r.phi = stn_vec3_dot(r.normal, stn_vec3_sub(s[0].b, s[0].a));
    return r;
}

static vertex shifted_support(const search *g, stn_vec3 direction) {
    vertex s = difference_support(g->a, g->b, direction);
    s.w = stn_vec3_add(s.w, g->shift);
    return s;
}

outcome search_nearest(search *g) {
    const double touching = 1e-13 * pair_size(g->a->shape, g->b->shape);
    vertex *s = g->s;
    foot *f = &g->f, next;
    bool outside = false; // the origin is outside of C + shift for certain
    for (int32_t step = 0; step < MOST_STEPS; step++) {
        if (f->length2 <= touching * touching) {
            return TOUCHING;
        }
        vertex *fresh = &s[f->count];
        *fresh = shifted_support(g, stn_vec3_neg(f->v));
        double bound = stn_vec3_dot(f->v, fresh->w); // |v| times the distance is at least this
        double lower = (bound - stn_vec3_dot(f->v, g->shift)) / sqrt(f->length2);
        g->least = lower > g->least ? lower : g->least;
        outside = outside || bound > 0.0;
        if (g->least > g->margin) {
            return BEYOND;
        }
        if (f->length2 - bound <= g->goal * f->length2 || contains(s, f->count, fresh->w)) {
            return NEAREST;
        }
        if (!outside && f->count == 3 && holds_origin(s)) {
            return AROUND;
        }
        find_foot(s, f->count + 1, &next);
        if (!(next.length2 < f->length2)) {
            return SPOILT; // no nearer point can be told
        }
        *f = next;
        vertex kept[3]; // the corners that carry the foot
        for (int32_t i = 0; i < f->count; i++) {
            kept[i] = s[f->corner[i]];
        }
        for (int32_t i = 0; i < f->count; i++) {
            s[i] = kept[i];
            f->corner[i] = i;
        }
    }
    return SPOILT;
}

void search_begin(const convex *a, const convex *b, stn_vec3 towards, double margin, search *g) {
    g->a = a;
    g->b = b;
    g->margin = margin;
    g->least = -INFINITY;
    g->goal = 1e-15;
    g->s[0] = shifted_support(g, towards);
    find_foot(g->s, 1, &g->f);
}

void search_shift(search *g, stn_vec3 shift) {
    const int32_t count = g->f.count;
    for (int32_t i = 0; i < count; i++) {
        g->s[i].w = stn_vec3_add(stn_vec3_sub(g->s[i].b, g->s[i].a), shift);
    }
    g->shift = shift;
    if (count == 3 && foot_in_triangle(g->s, 0, 1, 2, &g->f)) {
        return;
    }
    foot best = {.length2 = INFINITY}, other;
    for (int32_t i = 0; i < count; i++) { // of a triangle its sides, of a line that, of a point itself
        foot_on_line(g->s, i, i + 1 < count ? i + 1 : 0, &other);
        if (other.length2 < best.length2) {
            best = other;
        }
    }
    vertex kept[3];
    for (int32_t i = 0; i < best.count; i++) {
        kept[i] = g->s[best.corner[i]];
    }
    for (int32_t i = 0; i < best.count; i++) {
        g->s[i] = kept[i];
        best.corner[i] = i;
    }
    g->f = best;
}

bool convex_apart(const convex *a, const convex *b, double margin, separation *out, double *least) {
    return convex_apart_or_around(a, b, margin, out, least, NULL);
}

bool convex_apart_or_around(const convex *a, const convex *b, double margin, separation *out, double *least,
                            simplex *around) {
    search g;
    g.shift = stn_vec3_zero();
    search_begin(a, b, stn_vec3_sub(a->pose.position, b->pose.position), margin, &g);
    outcome end = search_nearest(&g);
    *least = g.least;
    if (end == AROUND || end == TOUCHING) {
        for (int32_t i = 0; around != NULL && end == AROUND && i < 4; i++) {
            around->corner[i] = g.s[i];
            around->count = 4;
        }
        return false;
    }
    *out = search_separation(&g);
    return true;
}

/// Whether the normal of round bodies that are apart can be refined until the separation along it is the distance of
/// two points.
static bool refined(const convex *a, const convex *b, separation *found) {
    double nearest = found->phi, tiny = 1e-12 * pair_size(a->shape, b->shape);
    separation_refine(a, b, found);
    return found->phi >= nearest - tiny;
}

/// Close to touch, or beside a much larger body, rounding may end the search before the lower bound meets |v|. The
/// polytope then bounds the distance from below by one of its faces; the better bound has the better normal.
separation convex_best(const convex *a, const convex *b, const separation *found) {
    separation other = convex_penetration(a, b, NULL);
    double along = stn_vec3_dot(found->normal, difference_support(a, b, stn_vec3_neg(found->normal)).w);
    double other_along = stn_vec3_dot(other.normal, difference_support(a, b, stn_vec3_neg(other.normal)).w);
    return other_along > along ? other : *found;
}

/// An ellipsoid less a ball of its smallest radius of curvature, made in `shape` and `core`; of others the body itself.
static const convex *core_of(const convex *c, stn_shape *shape, convex *core) {
    if (!is_ellipsoid(c)) {
        return c;
    }
    *shape = *c->shape;
    shape->radius -= smallest_radius(c);
    *core = (convex){shape, c->pose};
    return core;
}

/// Ellipsoids are searched by their cores, so that bodies that overlap by less than the balls are apart too; what is
/// found has the normal of the whole bodies.
separation convex_separation(const convex *a, const convex *b, double margin) {
    separation found;
    stn_shape shape_a, shape_b;
    convex made_a, made_b;
    const convex *core_a = core_of(a, &shape_a, &made_a), *core_b = core_of(b, &shape_b, &made_b);
    double ball = smallest_radius(a) + smallest_radius(b), least = 0.0, size = pair_size(a->shape, b->shape);
    if (shallow_separation(a, b, margin, &found)) {
        return found;
    }
    simplex around;
    around.count = 0;
    if (!convex_apart_or_around(core_a, core_b, margin + ball, &found, &least, &around)) {
        return convex_penetration(a, b, is_round(a) || is_round(b) ? NULL : &around);
    }
    found.phi -= ball;
    least -= ball;
    bool round = is_round(a) || is_round(b);
    if (least > margin || (!round && found.phi - least <= 1e-11 * size) || (round && refined(a, b, &found))) {
        return found;
    }
    return convex_best(a, b, &found);
}
