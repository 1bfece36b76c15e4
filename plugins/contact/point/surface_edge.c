// SPDX-License-Identifier: Apache-2.0
// A convex edge or a border of the surface: s(m) over the directions m = c n + d u between the normal n of its triangle
// and that of the next one, u across the edge, outward.
//
// Across the edge, s is the least of linear functions of (c, d), one for each point of the body: between two directions
// where it rises towards each other, its maximum lies below both tangents. Their crossing is the next direction; of a
// body with corners it is the answer once it meets s.
#include "clip.h"
#include "piece.h"
#include "surface.h"

/// A direction, the lowest point along it, and how s changes there towards u.
typedef struct look {
    double c, d, s, slope;
    stn_vec3 lowest;
} look;

/// Edge k of a triangle.
typedef struct edge {
    const surface *surface;
    const facet *facet;
    int32_t k, other; // across it the same edge of the next triangle, -1: a border
    stn_vec3 from, to, along, n, u;
    double length, c_end, d_end; // the direction where the arc ends
} edge;

static stn_vec3 direction(const edge *e, double c, double d) {
    return stn_vec3_mul_add(stn_vec3_scale(c, e->n), d, e->u);
}

static look look_along(const edge *e, double c, double d) {
    double length = sqrt(c * c + d * d);
    look l = {.c = c / length, .d = d / length};
    l.s = surface_gap(e->surface, direction(e, l.c, l.d), e->from, &l.lowest) + e->surface->radius;
    stn_vec3 w = stn_vec3_sub(l.lowest, e->from);
    l.slope = l.c * stn_vec3_dot(e->u, w) - l.d * stn_vec3_dot(e->n, w);
    return l;
}

/// Where the tangents of both sides meet if that is between them, else where the slope would vanish if it were linear.
static look look_between(const edge *e, const look *left, const look *right, bool *tangents) {
    stn_vec3 w = stn_vec3_sub(right->lowest, left->lowest);
    double c = -stn_vec3_dot(e->u, w), d = stn_vec3_dot(e->n, w);
    if (c * (left->c + right->c) + d * (left->d + right->d) < 0.0) {
        c = -c;
        d = -d;
    }
    *tangents = *tangents && left->c * d - left->d * c > 0.0 && c * right->d - d * right->c > 0.0;
    if (!*tangents) {
        double a = fabs(right->slope), b = fabs(left->slope);
        c = a * left->c + b * right->c;
        d = a * left->d + b * right->d;
    }
    return look_along(e, c, d);
}

/// Slope and value of the linear function of one point of the body, along a direction.
static double slope_of(const edge *e, const look *at, stn_vec3 point, double *value) {
    stn_vec3 w = stn_vec3_sub(point, e->from);
    double x = stn_vec3_dot(e->n, w), y = stn_vec3_dot(e->u, w);
    *value = at->c * x + at->d * y;
    return at->c * y - at->d * x;
}

/// The largest s between two directions, where it rises towards the other on both; `left` and `right` close in on it.
static look climb(const edge *e, look *left, look *right) {
    double tiny = 1e-15 * (e->surface->size + stn_vec3_norm(stn_vec3_sub(left->lowest, e->from)));
    look best = left->s > right->s ? *left : *right;
    for (int32_t step = 0; step < 100 && left->c * right->d - left->d * right->c > 1e-15; step++) {
        bool tangents = step % 3 != 2;
        look next = look_between(e, left, right, &tangents);
        double of_left, of_right, falls = slope_of(e, &next, left->lowest, &of_left);
        double rises = slope_of(e, &next, right->lowest, &of_right);
        bool met = fmin(of_left, of_right) - next.s <= tiny;
        if (met && (falls < 0.0) != (rises > 0.0)) { // the way up ends at a corner before
            stn_vec3 w =
                stn_vec3_sub(falls < 0.0 ? left->lowest : right->lowest, e->from); // as far as its function rises
            next = look_along(e, stn_vec3_dot(e->n, w), stn_vec3_dot(e->u, w));
            best = next.s > best.s ? next : best;
            if (fabs(next.slope) <= tiny) {
                break;
            }
        } else if (met && tangents) {
            return next;
        }
        best = next.s > best.s ? next : best;
        *(next.slope > 0.0 ? left : right) = next;
    }
    return best;
}

/// The point of the body over the edge, along the direction found: between the lowest ones of both sides, of a body
/// that lies along the edge as far within its ends as can be.
static stn_vec3 over_edge(const edge *e, const look *left, const look *right, const look *best) {
    stn_vec3 u = direction(e, -best->d, best->c), a = stn_vec3_sub(left->lowest, e->from);
    stn_vec3 b = stn_vec3_sub(right->lowest, e->from);
    double x = stn_vec3_dot(u, a), y = stn_vec3_dot(u, b), t = x != y ? clamp(x / (x - y), 0.0, 1.0) : 0.0;
    double along_a = stn_vec3_dot(e->along, a), along_b = stn_vec3_dot(e->along, b);
    if (fmax(fabs(x), fabs(y)) <= 1e-9 * e->surface->size && along_a != along_b) {
        double at = clamp(along_a + t * (along_b - along_a), 0.0, e->length);
        t = clamp((at - along_a) / (along_b - along_a), 0.0, 1.0);
    }
    return stn_vec3_mul_add(left->lowest, t, stn_vec3_sub(right->lowest, left->lowest));
}

/// The ends of the stretch that the piece of the body's surface over the edge shares with it. A side line lies over it
/// only where the direction is the best of all, not the last one admitted, and that of the nearest points: these are
/// `over` the edge, or anywhere when the lines are parallel.
static void find_stretch(const edge *e, stn_vec3 m, bool within, bool over, overlap *out) {
    const surface *s = e->surface;
    stn_vec3 n = stn_vec3_neg(m);
    polygon line = {.count = 2, .normal = m, .corner = {e->from, e->to}, .corner_code = {1, 2}, .face_code = 0};
    double tolerance = 1e-11 * s->size;
    piece p;
    out->count = 0;
    out->lines = false;
    if (s->body.shape->type == STN_SHAPE_SPHERE || s->body.shape->type == STN_SHAPE_ELLIPSOID) {
        return;
    }
    piece_towards(&s->body, n, &p);
    if (p.kind == PIECE_LINE && !within) {
        return;
    }
    if (p.kind == PIECE_LINE) {
        stn_vec3 side = stn_vec3_sub(p.line.corner[1], p.line.corner[0]), across = stn_vec3_cross(side, e->along);
        if (p.line.count == 2 && (over || stn_vec3_dot(across, across) < 1e-12 * stn_vec3_dot(side, side))) {
            clip_lines(&p.line, &line, n, out);
        }
        return;
    }
    stn_vec3 normal = p.kind == PIECE_FACE ? p.face.normal : p.kind == PIECE_CAP ? p.cap.normal : p.line.normal;
    if ((p.kind == PIECE_POLYGON && p.line.count < 3) || stn_vec3_dot(normal, n) < 0.05 ||
        fabs(stn_vec3_dot(normal, e->along)) > surface_slack) {
        return;
    }
    if (p.kind == PIECE_FACE) {
        clip_rectangle(&p.face, &line, n, tolerance, out);
    } else if (p.kind == PIECE_CAP) {
        clip_disk_polygon(&p.cap, &line, n, out);
    } else {
        clip_polygon(&p.line, &line, n, tolerance, INFINITY, out);
    }
}

/// The number of the edge, for its far end that which it has in the next triangle: each end has one of its own.
static uint32_t code_at(const edge *e, uint32_t end) {
    int32_t first = 3 * e->facet->id;
    if (end == 2 && e->other < 0) {
        return surface_vertex_code + (uint32_t)e->surface->mesh->triangles[first + (e->k + 1) % 3];
    }
    return surface_edge_code + (uint32_t)(end == 2 ? e->other : first + e->k);
}

static void add_points(const edge *e, stn_vec3 m, bool within, stn_vec3 deepest) {
    const surface *s = e->surface;
    overlap stretch;
    double at = stn_vec3_dot(e->along, stn_vec3_sub(deepest, e->from)), tolerance = 1e-9 * s->size;
    bool over = at >= -tolerance && at <= e->length + tolerance;
    double phi = stn_vec3_dot(m, stn_vec3_sub(deepest, e->from)) - s->radius;
    find_stretch(e, m, within, over, &stretch);
    double least = fmin(over ? phi : (double)INFINITY, overlap_depth(&stretch));
    stn_vec3 under = stn_vec3_mul_add(e->from, at, e->along);
    bool missed = over && phi < -tolerance && !surface_is_line(s) &&
                  !surface_holds(s, under, tolerance); // met by the edge's line alone
    if (missed || !(least <= s->margin) || surface_is_passed(s, m, e->from)) {
        return;
    }
    for (int32_t i = 0; i < stretch.count; i++) {
        const overlap_point *p = &stretch.points[i];
        if (p->h <= s->margin) {
            stn_vec3 on_surface = stretch.lines ? stretch.other[i] : stn_vec3_mul_add(p->p, -p->h, m);
            uint32_t end = stretch.lines ? 0 : p->second;
            surface_add(s, p->p, on_surface, m, p->first, code_at(e, end));
        }
    }
    if (over && phi <= s->margin && !(overlap_depth(&stretch) <= phi + 1e-10 * s->size)) {
        surface_add(s, stn_vec3_mul_add(deepest, -s->radius, m), under, m, CODE_DEEPEST, code_at(e, 0));
    }
}

enum { LOOKS = 5 };

/// Where s is largest among directions spread over the arc and a little beyond its ends, and the two beside it; false
/// when that is beyond an end, or the body is further away than the margin.
static bool bracket(const edge *e, double slack, look *left, look *right) {
    const surface *s = e->surface;
    look looks[LOOKS];
    double start = -slack, end = atan2(e->d_end, e->c_end) + slack, limit = s->margin + s->radius;
    static const int32_t order[LOOKS] = {0, LOOKS - 1, 1, 2, 3};
    int32_t best = 0;
    for (int32_t i = 0; i < LOOKS; i++) {
        int32_t at = order[i];
        double angle = start + (end - start) * at / (LOOKS - 1);
        looks[at] = look_along(e, cos(angle), sin(angle));
        const look *l = &looks[at];
        bool outward = (at == 0 && l->slope < 0.0) || (at == LOOKS - 1 && l->slope > 0.0);
        if (l->s > limit || (l->s > 0.0 && outward)) { // apart, s has one maximum
            return false;
        }
        best = l->s > looks[best].s ? at : best;
    }
    int32_t first = looks[best].slope >= 0.0 ? best : best - 1;
    if (first < 0 || first + 1 >= LOOKS) {
        return false;
    }
    *left = looks[first];
    *right = looks[first + 1];
    return left->slope >= 0.0 && right->slope <= 0.0;
}

/// May s have its maximum within the arc, widened by the slack? Where one point of the body is lowest along both ends,
/// s is a cosine of the angle: it has to rise from one end and to fall to the other.
static bool may_peak(const edge *e, double slack) {
    const surface *s = e->surface;
    const facet *f = e->facet;
    double sine = slack, cosine = 1.0 - 0.5 * slack * slack;
    double c = cosine * e->c_end - sine * e->d_end, d = cosine * e->d_end + sine * e->c_end; // beyond the end
    stn_vec3 lowest = f->lowest;
    if (!f->settled || !(e->d_end < 0.5 * surface_settled && e->c_end > 0.0)) {
        lowest = convex_support(&s->body, stn_vec3_neg(direction(e, cosine, -sine)));
        stn_vec3 last = convex_support(&s->body, stn_vec3_neg(direction(e, c, d)));
        if (lowest.x != last.x || lowest.y != last.y || lowest.z != last.z) {
            return true;
        }
    }
    stn_vec3 w = stn_vec3_sub(lowest, e->from);
    double x = stn_vec3_dot(e->n, w), y = stn_vec3_dot(e->u, w);
    double tiny = 1e-4 * slack * (fabs(x) + fabs(y)) + 1e-12 * s->size; // what this leaves out of sine and cosine
    return cosine * y + sine * x >= -tiny && c * y - d * x <= tiny;
}

void surface_edge_points(const surface *s, const facet *f, int32_t k) {
    int32_t other = s->across[3 * (size_t)f->id + (size_t)k];
    if (other >= 0 && other / 3 < f->id) {
        return;
    }
    if (other >= 0) { // most edges are told flat or concave by where the next triangle's far corner lies
        int32_t far = s->mesh->triangles[other / 3 * 3 + (other + 2) % 3];
        stn_vec3 w = stn_vec3_sub(surface_vertex(s, far), f->corner[k]);
        double down = -stn_vec3_dot(f->normal, w), across = stn_vec3_dot(f->outward[k], w);
        if (!(down > 1e-8 * fabs(across))) {
            return;
        }
    }
    edge e = {.surface = s, .facet = f, .k = k, .other = other, .from = f->corner[k], .to = f->corner[(k + 1) % 3]};
    stn_vec3 along = stn_vec3_sub(e.to, e.from);
    e.length = stn_vec3_norm(along);
    e.along = stn_vec3_normalize_or(along, along);
    e.n = f->normal;
    e.u = f->outward[k];
    e.d_end = 1.0;
    if (other >= 0) {
        stn_vec3 next = surface_normal(s, other / 3);
        e.c_end = stn_vec3_dot(next, e.n);
        e.d_end = stn_vec3_dot(next, e.u);
    }
    stn_vec3 w = stn_vec3_sub(s->centre, e.from);
    double t = clamp(stn_vec3_dot(w, e.along), 0.0, e.length), far = s->reach + s->margin;
    w = stn_vec3_mul_add(w, -t, e.along);
    if (!(e.d_end > 1e-7) || !(stn_vec3_dot(w, w) <= far * far)) {
        return;
    }
    bool round = s->body.shape->type == STN_SHAPE_SPHERE || s->body.shape->type == STN_SHAPE_ELLIPSOID;
    double slack = round ? 1e-7 : surface_slack;
    look left, right;
    if (!may_peak(&e, slack) || !bracket(&e, slack, &left, &right)) {
        return;
    }
    look best = climb(&e, &left, &right);
    stn_vec3 deepest = over_edge(&e, &left, &right, &best), m = direction(&e, best.c, best.d);
    bool before = best.d < -1e-9, beyond = best.c * e.d_end - best.d * e.c_end < -1e-9;
    if (before) {
        m = e.n;
    } else if (beyond) {
        m = stn_vec3_normalize_or(direction(&e, e.c_end, e.d_end), e.n);
    }
    add_points(&e, m, !before && !beyond, deepest);
}
