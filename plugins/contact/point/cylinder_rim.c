// SPDX-License-Identifier: Apache-2.0
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
#include "piece.h"

/// One such pair: `line` is A or B, the rim belongs to the other one.
typedef struct rim_line {
    const convex *line, *rim;
    stn_vec3 u, y, t;    // t: from the line's body to the rim's
    double half, radius; // of the line
    stn_vec3 e_1, e_2;   // across u, e_1 the start
} rim_line;

static bool rim_line_make(const convex *line, const convex *rim, int32_t edge, stn_vec3 start, rim_line *g) {
    g->line = line;
    g->rim = rim;
    g->u = stn_mat3_column(&line->pose.rotation, edge);
    g->y = stn_mat3_column(&rim->pose.rotation, 2);
    g->t = stn_vec3_sub(rim->pose.position, line->pose.position);
    stn_vec3 h = line->shape->half_extents;
    bool box = line->shape->type == STN_SHAPE_BOX;
    g->half = !box ? line->shape->half_length : edge == 0 ? h.x : edge == 1 ? h.y : h.z;
    g->radius = line->shape->radius;
    stn_vec3 across = stn_vec3_mul_add(start, -stn_vec3_dot(start, g->u), g->u);
    double length = stn_vec3_norm(across);
    g->e_1 = stn_vec3_scale(1.0 / length, across);
    g->e_2 = stn_vec3_cross(g->u, g->e_1);
    return length > 0.5;
}

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

/// Newton's method on s' = 0. False at a kink, or where s is not at a maximum.
static bool turn_normal(const rim_line *g, double size, stn_vec3 *n, double *s) {
    double angle = 0.0, at[3];
    for (int32_t step = 0; step < 8; step++) {
        double c = cos(angle), e = sin(angle);
        *n = stn_vec3_mul_add(stn_vec3_scale(c, g->e_1), e, g->e_2);
        separation_at(g, *n, stn_vec3_mul_add(stn_vec3_scale(-e, g->e_1), c, g->e_2), at);
        *s = at[0];
        if (fabs(at[1]) <= 1e-14 * size) {
            return at[2] < 0.0;
        }
        if (!(at[2] < 0.0)) {
            return false;
        }
        angle += clamp(-at[1] / at[2], -0.3, 0.3);
    }
    return false;
}

/// The proof of the file's head: the form r q q' + 2 rho u u' + (radius of the line) t t', t = u x n.
static bool is_least_depth(const rim_line *g, stn_vec3 n, double rho, double depth) {
    stn_vec3 q = stn_vec3_normalize_or(stn_vec3_cross(g->y, n), g->u), t = stn_vec3_cross(g->u, n);
    double r = g->rim->shape->radius, qu = stn_vec3_dot(q, g->u), qt = stn_vec3_dot(q, t);
    double uu = r * qu * qu + 2.0 * rho, tt = r * qt * qt + g->radius, ut = r * qu * qt;
    double least = 0.5 * (uu + tt - sqrt((uu - tt) * (uu - tt) + 4.0 * ut * ut));
    return 0.5 * least >= depth && inner_radius(g->line->shape) + inner_radius(g->rim->shape) >= depth;
}

/// From line to rim: the deepest rim point, its foot, which must lie on the line, and whether they prove the distance.
static bool prove(const rim_line *g, stn_vec3 n, double s, double size, separation *out) {
    stn_vec3 rim = convex_support(g->rim, stn_vec3_neg(n)), foot = stn_vec3_mul_add(rim, -s, n);
    stn_vec3 middle = g->line->shape->type == STN_SHAPE_BOX ? convex_support(g->line, n)
                                                            : stn_vec3_mul_add(g->line->pose.position, g->radius, n);
    double beside_line = stn_vec3_norm(stn_vec3_cross(g->u, stn_vec3_sub(foot, middle)));
    double rho = g->half - fabs(stn_vec3_dot(g->u, stn_vec3_sub(foot, g->line->pose.position)));
    *out = (separation){s, n, foot, rim};
    return rho >= 0.0 && beside_line <= 1e-12 * size && (s >= 0.0 || is_least_depth(g, n, rho, -s));
}

static bool try_line(const convex *line, const convex *rim, int32_t edge, stn_vec3 start, double size,
                     separation *out) {
    rim_line g;
    stn_vec3 n;
    double s;
    return rim_line_make(line, rim, edge, start, &g) && turn_normal(&g, size, &n, &s) && prove(&g, n, s, size, out);
}

bool rim_is_exact(const convex *a, const convex *b, stn_vec3 start, separation *out) {
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
