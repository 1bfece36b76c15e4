// SPDX-License-Identifier: Apache-2.0
// The signed distance of a cylinder and a hull that are apart or overlap by little, without the expanding polytope.
//
// The hull is moved away by a small step, and a search that ends early (gjk.c) tells nearly the normal, and which parts
// of the surfaces meet. Where these are
//   a cap and a corner or face            the normal is the axis;
//   a rim, or the side's line, and a face it is the face's;
//   the side's line and an edge           it stands across both;
//   the side and a corner                 it leads from the axis to the corner;
//   a rim and an edge                     it turns about the edge until the separation is largest: Newton's method,
// and each is tried: it is the answer when the two points that it names lie on those parts and, in overlap, when no
// direction can be shallower. Of the first three C = B - A has a flat side there (shallow.c). Of the others, as in
// cylinder.c, a direction v reaches further in C than the point at depth d, by sin^2(v, m) e / 2 at least, m the
// outward normal and e the smallest eigenvalue of r q q' + 2 rho u u' across m: a circle of radius r with the tangent
// q, a line u with rho on either side. As 1 - v . m <= sin^2 / (1 + v . m), no direction with v . m >= 2 d / e - 1 is
// shallower, and the rest is shown as for a flat side. A rim and a corner, which no distance of bodies that overlap is
// between, and what cannot be shown is left to the general method.
#include "piece.h"
#include "search.h"

typedef struct meeting {
    const convex *a, *b; // the cylinder in its own axes, the hull
    double r, l, size;   // of the cylinder; of the pair
    stn_vec3 between;    // from the middle of A to that of B
} meeting;

static stn_vec3 hull_support(const meeting *g, stn_vec3 n) {
    return convex_support(g->b, stn_vec3_neg(n));
}

/// Is `point` of the hull as near along n as any?
static bool is_support(const meeting *g, stn_vec3 n, stn_vec3 point) {
    return stn_vec3_dot(n, stn_vec3_sub(point, hull_support(g, n))) <= 1e-13 * g->size;
}

/// Accepts a flat side of C with the clearance rho, or one that bends with the eigenvalue e.
static bool is_flat_proof(const meeting *g, stn_vec3 n, double phi, double rho) {
    return rho >= 0.0 && (phi >= 0.0 || flat_side_is_nearest(n, g->between, 0.0, -phi, rho));
}

static bool is_bent_proof(const meeting *g, stn_vec3 n, double phi, double e) {
    return phi >= 0.0 || (e > -4.0 * phi && nearest_with_beyond(n, g->between, 0.0, -phi, -2.0 * phi / e - 1.0));
}

// ------------------------------------------------------------------------------------------------ caps and faces

/// The point of a polygon nearest to the axis, seen along it.
static stn_vec3 nearest_to_axis(const polygon *q) {
    stn_vec3 best = q->corner[0];
    double least = INFINITY, turn = q->normal.z < 0.0 ? -1.0 : 1.0;
    bool inside = true;
    for (int32_t i = 0; i < q->count; i++) {
        const stn_vec3 p = q->corner[i], to = q->corner[i + 1 < q->count ? i + 1 : 0];
        const double x = to.x - p.x, y = to.y - p.y, length2 = x * x + y * y;
        const double t = length2 > 0.0 ? clamp(-(p.x * x + p.y * y) / length2, 0.0, 1.0) : 0.0;
        const stn_vec3 on = {p.x + t * x, p.y + t * y, p.z + t * (to.z - p.z)};
        inside = inside && turn * (y * p.x - x * p.y) >= 0.0;
        if (on.x * on.x + on.y * on.y < least) {
            least = on.x * on.x + on.y * on.y;
            best = on;
        }
    }
    return inside ? stn_vec3_make(0.0, 0.0, best.z) : best;
}

static bool try_cap(const meeting *g, double sign, const polygon *face, separation *out) {
    const stn_vec3 n = {0.0, 0.0, sign};
    stn_vec3 nearest = hull_support(g, n);
    const double height = nearest.z, tiny = 1e-10 * g->size;
    bool flat = face->count > 2;
    for (int32_t i = 0; i < face->count && flat; i++) {
        flat = fabs(face->corner[i].z - height) <= tiny;
    }
    if (flat) { // any of its points is as near
        nearest = nearest_to_axis(face);
    }
    *out = (separation){sign * height - g->l, n, {nearest.x, nearest.y, sign * g->l}, {nearest.x, nearest.y, height}};
    return is_flat_proof(g, n, out->phi, g->r - sqrt(nearest.x * nearest.x + nearest.y * nearest.y));
}

/// How far inside of a face's outline a point lies, seen along its normal.
static double face_clearance(const polygon *q, stn_vec3 point) {
    double least = INFINITY;
    for (int32_t i = 0; i < q->count; i++) {
        const stn_vec3 from = q->corner[i], edge = stn_vec3_sub(q->corner[i + 1 < q->count ? i + 1 : 0], from);
        const stn_vec3 inward = stn_vec3_cross(q->normal, edge);
        least = fmin(least, stn_vec3_dot(inward, stn_vec3_sub(point, from)) / stn_vec3_norm(inward));
    }
    return least;
}

static bool try_face(const meeting *g, const polygon *face, separation *out) {
    const stn_vec3 n = stn_vec3_neg(face->normal);
    const double across = sqrt(n.x * n.x + n.y * n.y), s_r = across > 0.0 ? g->r / across : 0.0;
    stn_vec3 point = {s_r * n.x, s_r * n.y, copysign(g->l, n.z)}, nearest = hull_support(g, n);
    const double reach = g->r * across + g->l * fabs(n.z), phi = stn_vec3_dot(n, nearest) - reach;
    if (g->l * fabs(n.z) <= 1e-10 * g->size) { // the side lies flat: the middle of its line's part over the face
        double low = -g->l, high = g->l;
        for (int32_t i = 0; i < face->count; i++) {
            const stn_vec3 from = face->corner[i], to = face->corner[i + 1 < face->count ? i + 1 : 0];
            const stn_vec3 inward = stn_vec3_cross(face->normal, stn_vec3_sub(to, from));
            const double here = stn_vec3_dot(inward, stn_vec3_sub(stn_vec3_make(point.x, point.y, 0.0), from));
            if (inward.z > 0.0) {
                low = fmax(low, -here / inward.z);
            } else if (inward.z < 0.0) {
                high = fmin(high, -here / inward.z);
            }
        }
        point.z = 0.5 * (low + high);
        if (!(low <= high)) {
            return false;
        }
    }
    *out = (separation){phi, n, point, stn_vec3_mul_add(point, phi, n)};
    return is_flat_proof(g, n, phi, face_clearance(face, point));
}

// ------------------------------------------------------------------------------------------------------- corners

static bool try_side_corner(const meeting *g, stn_vec3 corner, separation *out) {
    const double across = sqrt(corner.x * corner.x + corner.y * corner.y), rho = g->l - fabs(corner.z);
    if (!(across > 0.0) || !(rho >= 0.0)) {
        return false;
    }
    const stn_vec3 n = {corner.x / across, corner.y / across, 0.0};
    *out = (separation){across - g->r, n, {g->r * n.x, g->r * n.y, corner.z}, corner};
    return is_bent_proof(g, n, out->phi, fmin(2.0 * rho, g->r)) && is_support(g, n, corner);
}

// --------------------------------------------------------------------------------------------------------- edges

/// An edge of the hull, from p along u.
typedef struct hull_edge {
    stn_vec3 p, u;
    double length;
} hull_edge;

static bool try_crossing(const meeting *g, const hull_edge *e, stn_vec3 start, separation *out) {
    const double sine = sqrt(e->u.x * e->u.x + e->u.y * e->u.y);
    if (!(sine > 1e-3)) {
        return false;
    }
    stn_vec3 n = {-e->u.y / sine, e->u.x / sine, 0.0};
    n = stn_vec3_dot(n, start) < 0.0 ? stn_vec3_neg(n) : n;
    const double along = e->u.x * -n.y + e->u.y * n.x; // the edge's slope across the side's line
    const double x = (e->p.x * n.y - e->p.y * n.x) / along;
    const stn_vec3 on = stn_vec3_mul_add(e->p, x, e->u);
    const double phi = stn_vec3_dot(n, e->p) - g->r, rho = fmin(fmin(x, e->length - x), g->l - fabs(on.z)) * sine;
    *out = (separation){phi, n, {g->r * n.x, g->r * n.y, on.z}, on};
    return is_flat_proof(g, n, phi, rho) && is_support(g, n, e->p);
}

static bool try_rim(const meeting *g, const hull_edge *e, stn_vec3 start, separation *out) {
    enum { STEPS = 8 };
    const stn_vec3 across_edge = stn_vec3_mul_add(start, -stn_vec3_dot(start, e->u), e->u);
    const double length = stn_vec3_norm(across_edge);
    if (!(length > 0.5)) {
        return false;
    }
    const stn_vec3 e_1 = stn_vec3_scale(1.0 / length, across_edge), e_2 = stn_vec3_cross(e->u, e_1);
    stn_vec3 n = e_1;
    double angle = 0.0, across = 0.0, end = 0.0;
    bool found = false;
    for (int32_t step = 0; step < STEPS && !found; step++) {
        const double c = cos(angle), s = sin(angle);
        n = stn_vec3_mul_add(stn_vec3_scale(c, e_1), s, e_2);
        const stn_vec3 m = stn_vec3_mul_add(stn_vec3_scale(-s, e_1), c, e_2);
        const double across2 = n.x * n.x + n.y * n.y, turn = n.x * m.x + n.y * m.y;
        across = sqrt(across2);
        end = copysign(g->l, n.z);
        if (!(across > 1e-3)) {
            return false;
        }
        const double slope = stn_vec3_dot(m, e->p) - end * m.z - g->r * turn / across;
        const double bend = -stn_vec3_dot(n, e->p) + end * n.z -
                            g->r * ((m.x * m.x + m.y * m.y - across2) / across - turn * turn / (across2 * across));
        if (!(bend < 0.0)) {
            return false;
        }
        found = fabs(slope) <= 1e-14 * g->size;
        angle += clamp(-slope / bend, -0.3, 0.3);
    }
    const double phi = stn_vec3_dot(n, e->p) - end * n.z - g->r * across;
    const stn_vec3 rim = {g->r * n.x / across, g->r * n.y / across, end}, below = stn_vec3_mul_add(rim, phi, n);
    const stn_vec3 w = stn_vec3_sub(below, e->p);
    const double x = stn_vec3_dot(w, e->u), rho = fmin(x, e->length - x);
    const double beside = stn_vec3_norm(stn_vec3_mul_add(w, -x, e->u));
    if (!found || !(rho >= 0.0) || !(beside <= 1e-12 * g->size)) {
        return false;
    }
    // r q q' + 2 rho u u' across n, q the rim's tangent: its smallest eigenvalue
    const double qu = (n.x * e->u.y - n.y * e->u.x) / across, trace = g->r + 2.0 * rho;
    const double det = 2.0 * g->r * rho * (1.0 - qu * qu), root = sqrt(fmax(trace * trace - 4.0 * det, 0.0));
    *out = (separation){phi, n, rim, below};
    return is_bent_proof(g, n, phi, 2.0 * det / (trace + root)) && is_support(g, n, e->p);
}

static bool try_edge(const meeting *g, stn_vec3 p, stn_vec3 q, stn_vec3 start, separation *out) {
    hull_edge e = {.p = p, .u = stn_vec3_sub(q, p)};
    e.length = stn_vec3_norm(e.u);
    if (!(e.length > 0.0)) {
        return false;
    }
    e.u = stn_vec3_scale(1.0 / e.length, e.u);
    return try_crossing(g, &e, start, out) || try_rim(g, &e, start, out);
}

/// The edges of the hull that the search has ended on, and those from its furthest corner that lie nearly across n.
static bool try_edges(const meeting *g, const search *found, int32_t corner, stn_vec3 n, separation *out) {
    for (int32_t i = 0; i < found->f.count; i++) {
        for (int32_t k = i + 1; k < found->f.count; k++) {
            if (try_edge(g, found->s[i].b, found->s[k].b, n, out)) {
                return true;
            }
        }
    }
    const stn_mesh *mesh = g->b->shape->mesh;
    const stn_polytope *p = mesh->polytope;
    const stn_vec3 from = stn_pose_apply(&g->b->pose, stn_vec3_at(mesh->vertices, corner));
    for (int32_t i = p->neighbour_start[corner]; i < p->neighbour_start[corner + 1]; i++) {
        const stn_vec3 to = stn_pose_apply(&g->b->pose, stn_vec3_at(mesh->vertices, p->neighbours[i]));
        const stn_vec3 edge = stn_vec3_sub(to, from);
        if (fabs(stn_vec3_dot(edge, n)) < 0.2 * stn_vec3_norm(edge) && try_edge(g, from, to, n, out)) {
            return true;
        }
    }
    return false;
}

bool cylinder_hull_separation(const convex *a, const convex *b, double margin, separation *out) {
    meeting g = {a, b, a->shape->radius, a->shape->half_length, pair_size(a->shape, b->shape), convex_middle(b)};
    const stn_vec3 towards = stn_vec3_normalize_or(g.between, stn_vec3_zero());
    search f;
    f.shift = stn_vec3_scale(1e-2 * g.size, towards);
    search_begin(a, b, stn_vec3_neg(towards), margin, &f);
    f.goal = 1e-4;
    const outcome end = search_nearest(&f);
    if (end == BEYOND) {
        *out = search_separation(&f);
        out->phi = sqrt(f.f.length2) + stn_vec3_norm(f.shift);
        return true;
    }
    if (end != NEAREST) {
        return false;
    }
    const stn_vec3 n = search_separation(&f).normal;
    polygon face;
    bool alone;
    const int32_t corner = hull_face(b->shape, &b->pose, stn_vec3_neg(n), &alone, &face);
    const stn_vec3 nearest = stn_pose_apply(&b->pose, stn_vec3_at(b->shape->mesh->vertices, corner));
    return (fabs(n.z) > 0.98 && try_cap(&g, copysign(1.0, n.z), &face, out)) ||
           (face.count > 0 && stn_vec3_dot(n, face.normal) < -0.9 && try_face(&g, &face, out)) ||
           (fabs(n.z) < 0.2 && try_side_corner(&g, nearest, out)) || try_edges(&g, &f, corner, n, out);
}
