// SPDX-License-Identifier: Apache-2.0
// The normal of two convex bodies, one of them curved, to the last digits.
//
// The signed distance is the largest s(n) = n . w(n) over unit n, w = p_B(-n) - p_A(n) with the support points p, apart
// and in overlap alike. Its gradient on the sphere is w across n, its Hessian -(H_A + H_B) - s 1 with the curvature H
// of the reaches: (E^2 - x x^T) / |E n| for an ellipsoid, x its support point; r / rho along the rim for a cylinder,
// rho the sine between n and its axis; 0 for corners. Where n stands across an edge, an axis or a face, the reach has a
// kink: s is then largest on the kink, and n turns along it alone. Which kinks count is tried, together and each alone:
// those within a wide angle, within a small one, none; what gives the largest s is the answer, so that it can only gain
// by this.
#include "gjk.h"

enum { MOST_STEPS = 10, KINKS_MAX = 4 };

/// Directions that the normal must stay across.
typedef struct kinks {
    int32_t count;
    bool free_a, free_b; // a body has none: its support point is the only one
    double angle;        // all within it are here; negative: they are not all
    stn_vec3 c[KINKS_MAX];
} kinks;

typedef struct candidate {
    double s, turn2; // separation; turn from where the search began, squared
    stn_vec3 n;
    bool free_a, free_b; // the support point is the only one
    bool proven;         // it is the best of all
} candidate;

typedef struct refinement {
    const convex *a, *b;
    double rounding, concave, most; // of s; s is concave above; what s reaches only where it is largest
} refinement;

static void add_kink(kinks *k, stn_vec3 c) {
    if (k->count < KINKS_MAX) {
        k->c[k->count++] = c;
    }
}

/// Axes of the body that the direction is within the angle of standing across.
static void axis_kinks(const convex *c, stn_vec3 n, int32_t first, kinks *k) {
    for (int32_t i = first; i < 3; i++) {
        stn_vec3 axis = stn_mat3_column(&c->pose.rotation, i);
        if (fabs(stn_vec3_dot(n, axis)) < k->angle) {
            add_kink(k, axis);
        }
    }
}

/// The two sides of a hull's furthest vertex that fall least along the direction.
static void hull_kinks(const convex *c, stn_vec3 n, kinks *k) {
    const stn_mesh *mesh = c->shape->mesh;
    const stn_polytope *p = mesh->polytope;
    stn_vec3 d = stn_mat3_apply_transposed(&c->pose.rotation, n), best[2] = {d, d};
    int32_t v = stn_mesh_support(mesh, d);
    double rise[2] = {-k->angle, -k->angle};
    const double *x = mesh->vertices + 3 * (size_t)v;
    for (int32_t i = p->neighbour_start[v]; i < p->neighbour_start[v + 1]; i++) {
        const double *y = mesh->vertices + 3 * (size_t)p->neighbours[i];
        stn_vec3 side = stn_vec3_make(y[0] - x[0], y[1] - x[1], y[2] - x[2]);
        side = stn_vec3_normalize_or(side, side);
        double along = stn_vec3_dot(side, d);
        if (along > rise[0]) {
            rise[1] = rise[0];
            best[1] = best[0];
            rise[0] = along;
            best[0] = side;
        } else if (along > rise[1]) {
            rise[1] = along;
            best[1] = side;
        }
    }
    for (int32_t i = 0; i < 2; i++) {
        if (rise[i] > -k->angle) {
            add_kink(k, stn_mat3_apply(&c->pose.rotation, best[i]));
        }
    }
}

/// Adds those of one body; true when there are none: then its support point is the only one.
static bool find_kinks(const convex *c, stn_vec3 n, kinks *k) {
    int32_t before = k->count;
    switch (c->shape->type) {
    case STN_SHAPE_BOX:
        axis_kinks(c, n, 0, k);
        break;
    case STN_SHAPE_CYLINDER: {
        double along = stn_vec3_dot(n, stn_mat3_column(&c->pose.rotation, 2));
        if (1.0 - along * along < k->angle * k->angle) { // along the axis: a cap
            add_kink(k, stn_mat3_column(&c->pose.rotation, 0));
            add_kink(k, stn_mat3_column(&c->pose.rotation, 1));
        }
        axis_kinks(c, n, 2, k);
        break;
    }
    case STN_SHAPE_CAPSULE:
        axis_kinks(c, n, 2, k);
        break;
    case STN_SHAPE_CONVEX:
        hull_kinks(c, n, k);
        break;
    default:
        break;
    }
    return k->count == before;
}

/// Adds the curvature of the reach along n, between the tangents t.
static void add_curvature(const convex *c, stn_vec3 n, const stn_vec3 t[2], double h[3]) {
    stn_vec3 d = stn_mat3_apply_transposed(&c->pose.rotation, n), q[2];
    for (int32_t i = 0; i < 2; i++) {
        q[i] = stn_mat3_apply_transposed(&c->pose.rotation, t[i]);
    }
    if (c->shape->type == STN_SHAPE_ELLIPSOID) {
        stn_vec3 e = c->shape->half_extents, x = stn_shape_support(c->shape, d);
        double reach = stn_vec3_dot(x, d), along[2] = {stn_vec3_dot(x, q[0]), stn_vec3_dot(x, q[1])};
        for (int32_t i = 0; i < 2; i++) {
            q[i] = stn_vec3_make(e.x * q[i].x, e.y * q[i].y, e.z * q[i].z);
        }
        h[0] += (stn_vec3_dot(q[0], q[0]) - along[0] * along[0]) / reach;
        h[1] += (stn_vec3_dot(q[0], q[1]) - along[0] * along[1]) / reach;
        h[2] += (stn_vec3_dot(q[1], q[1]) - along[1] * along[1]) / reach;
    } else if (c->shape->type == STN_SHAPE_CYLINDER) {
        double rho2 = d.x * d.x + d.y * d.y, scale = rho2 > 0.0 ? c->shape->radius / (rho2 * sqrt(rho2)) : 0.0;
        double a = d.x * q[0].y - d.y * q[0].x, b = d.x * q[1].y - d.y * q[1].x;
        h[0] += scale * a * a;
        h[1] += scale * a * b;
        h[2] += scale * b * b;
    }
}

static vertex gap_along(const convex *a, const convex *b, stn_vec3 n) {
    return difference_support(a, b, stn_vec3_neg(n));
}

/// Moves the normal to where s is stationary on the kinks, but for rounding of its slope, by Newton's method. False: no
/// such place was found.
static bool climb(const refinement *g, const kinks *k, stn_vec3 *normal) {
    const convex *a = g->a, *b = g->b;
    // the first kink, and the next one that stands most across it, leave 2, 1 or 0 directions to turn in
    stn_vec3 n = *normal, fixed = n, c = k->c[0];
    double most = 1e-3;
    int32_t dimension = k->count > 0 ? 1 : 2;
    for (int32_t i = 1; i < k->count; i++) {
        stn_vec3 across = stn_vec3_cross(c, k->c[i]);
        double sine = stn_vec3_norm(across);
        if (sine > most) {
            most = sine;
            fixed = stn_vec3_scale(1.0 / sine, across);
            dimension = 0;
        }
    }
    if (dimension == 0) {
        *normal = stn_vec3_dot(fixed, n) < 0.0 ? stn_vec3_neg(fixed) : fixed;
        return true;
    }
    if (dimension == 1) {
        n = stn_vec3_normalize_or(stn_vec3_mul_add(n, -stn_vec3_dot(n, c), c), n);
    }
    bool found = false, near = false;
    for (int32_t step = 0; step < MOST_STEPS && !found; step++) {
        stn_mat3 frame = stn_contact_frame(n);
        const stn_vec3 t[2] = {dimension == 1 ? stn_vec3_cross(n, c) : stn_mat3_column(&frame, 0),
                               dimension == 1 ? c : stn_mat3_column(&frame, 1)};
        stn_vec3 turn, w = gap_along(a, b, n).w;
        double h[3] = {0.0, 0.0, 0.0}, s = stn_vec3_dot(n, w), g0 = stn_vec3_dot(t[0], w), g1 = stn_vec3_dot(t[1], w);
        add_curvature(a, n, t, h);
        add_curvature(b, stn_vec3_neg(n), t, h);
        h[0] += s;
        h[2] += s;
        if (dimension == 1) { // uphill to where s bends down
            turn = stn_vec3_scale(h[0] > 0.0 ? clamp(g0 / h[0], -0.3, 0.3) : copysign(0.3, g0), t[0]);
        } else {
            double det = h[0] * h[2] - h[1] * h[1];
            if (!(det > 0.0 && h[0] > 0.0)) {
                break;
            }
            double x = (h[2] * g0 - h[1] * g1) / det, y = (h[0] * g1 - h[1] * g0) / det, length = sqrt(x * x + y * y);
            double scale = length > 0.3 ? 0.3 / length : 1.0;
            turn = stn_vec3_mul_add(stn_vec3_scale(scale * x, t[0]), scale * y, t[1]);
        }
        n = stn_vec3_normalize_or(stn_vec3_add(n, turn), n);
        found = stn_vec3_dot(turn, turn) < 1e-30;
        near = fabs(g0) + (dimension == 1 ? 0.0 : fabs(g1)) <= g->rounding;
    }
    *normal = n;
    return found || near;
}

/// Whether s rises from n on the kinks to one side of kink i; then n is moved there and the kink dropped. The slope
/// tells this to rounding, where s itself is flat.
static bool leave_kink(const refinement *g, int32_t i, kinks *k, stn_vec3 *n) {
    const double beside = 1e-13;
    // the directions in which a normal on the kinks leaves kink i, but not those that cross it
    stn_vec3 c = k->c[i], away = c;
    double most = 1e-3;
    for (int32_t j = 0; j < k->count; j++) {
        stn_vec3 along = stn_vec3_cross(*n, k->c[j]);
        double sine = fabs(stn_vec3_dot(along, c));
        if (sine > most) {
            most = sine;
            away = along;
        }
    }
    away = stn_vec3_normalize_or(stn_vec3_mul_add(away, -stn_vec3_dot(away, *n), *n), c);
    for (int32_t side = -1; side <= 1; side += 2) {
        stn_vec3 m = stn_vec3_mul_add(*n, side * beside, away);
        stn_vec3 w = gap_along(g->a, g->b, m).w;
        if (side * stn_vec3_dot(away, w) - beside * stn_vec3_dot(m, w) > g->rounding) {
            kinks left = {.free_a = k->free_a, .free_b = k->free_b, .angle = k->angle};
            for (int32_t j = 0; j < k->count; j++) {
                if (fabs(stn_vec3_dot(away, k->c[j])) < 1e-3) {
                    left.c[left.count++] = k->c[j];
                }
            }
            *k = left;
            *n = m;
            return true;
        }
    }
    return false;
}

/// Climbs from n on the kinks, and on without those that do not hold the normal. What comes of it is the best when it
/// separates more; of two that rounding cannot tell apart, the one that turned less: bodies almost in touch are
/// separated nearly as much by any normal around the best. Where s is concave, as it is above minus the
/// smallest radii of ellipsoids, a stationary normal on no kink, or on one that holds it, is the best of all; so is one
/// that separates by the most that any can. That holds for all kinks within the angle, and a turn well below it; others
/// prove nothing and win no tie.
static void try_kinks(const refinement *g, stn_vec3 n, kinks k, candidate *best) {
    const convex *a = g->a, *b = g->b;
    double rounding = g->rounding;
    stn_vec3 found = n;
    bool stationary = climb(g, &k, &found);
    for (int32_t i = 0; i < k.count; i++) {
        if (leave_kink(g, i, &k, &found)) {
            stationary = climb(g, &k, &found);
            k.free_a = k.free_a || k.count == 0;
            k.free_b = k.free_b || k.count == 0;
            i = -1;
        }
    }
    stn_vec3 turn = stn_vec3_sub(found, n);
    candidate c = {
        stn_vec3_dot(found, gap_along(a, b, found).w), stn_vec3_dot(turn, turn), found, k.free_a, k.free_b, false};
    bool all = k.angle >= 0.0 && stationary, near = 9.0 * c.turn2 <= k.angle * k.angle;
    bool point = k.free_a || k.free_b || is_ellipsoid(a) || is_ellipsoid(b); // from which the other follows
    c.proven = all && near && point && ((k.count <= 1 && c.s > g->concave) || c.s >= g->most);
    if (c.proven || c.s > best->s + rounding || (all && c.s > best->s - 4.0 * rounding && c.turn2 < best->turn2)) {
        *best = c;
    }
}

/// With the kinks within the angle, together and each alone. Returns how many there are; with as many as `before`
/// nothing is tried.
static int32_t try_angle(const refinement *g, stn_vec3 n, double angle, int32_t before, candidate *best) {
    kinks k = {.angle = angle};
    k.free_a = find_kinks(g->a, n, &k);
    int32_t of_a = k.count;
    k.free_b = find_kinks(g->b, stn_vec3_neg(n), &k);
    if (k.count != before) {
        try_kinks(g, n, k, best);
        for (int32_t i = 0; i < k.count && k.count > 1 && !best->proven; i++) {
            const kinks one = {1, i >= of_a, i < of_a, -1.0, {k.c[i]}};
            try_kinks(g, n, one, best);
        }
    }
    return k.count;
}

/// In the end the kinks at the best normal itself are tried, as from afar they may have been missed: the climb then
/// went across them to and fro.
void separation_refine(const convex *a, const convex *b, separation *found) {
    static const double angles[] = {3e-2, 1e-4, 0.0};
    double rounding = 4e-16 * (shape_size(a->shape) + shape_size(b->shape));
    double most = found->phi - 1e-13 * pair_size(a->shape, b->shape) - rounding;
    const refinement g = {a, b, rounding, rounding - smallest_radius(a) - smallest_radius(b), most};
    vertex w = gap_along(a, b, found->normal);
    candidate best = {stn_vec3_dot(found->normal, w.w), INFINITY, found->normal, false, false, false};
    int32_t before = -1;
    for (int32_t i = 0; i < STN_COUNT(angles) && before != 0 && !best.proven; i++) {
        before = try_angle(&g, found->normal, angles[i], before, &best);
    }
    if (!best.proven) {
        best.turn2 = INFINITY;
        try_angle(&g, best.n, 1e-5, 0, &best);
    }
    bool either = best.free_a || best.free_b;
    bool own_a = either ? best.free_a : is_ellipsoid(a), own_b = either ? best.free_b : is_ellipsoid(b);
    w = gap_along(a, b, best.n);
    found->phi = stn_vec3_dot(best.n, w.w);
    found->normal = best.n;
    found->a = own_a ? w.a : own_b ? stn_vec3_mul_add(w.b, -found->phi, best.n) : found->a;
    found->b = own_b ? w.b : stn_vec3_mul_add(found->a, found->phi, best.n);
}
