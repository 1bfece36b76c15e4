// SPDX-License-Identifier: Apache-2.0
// Box (A) against capsule (B), in the box's axes: the capsule's segment p(t) = c + t u, |t| <= l, against the box
// |p_i| <= h_i; the capsule's radius is subtracted at the end.
//
// Segment outside: f(t) = 1/2 |e(p(t))|^2 with e(p) = p - clamp(p) is convex, and f' = u . e is piecewise linear with
// kinks where p(t) crosses a face plane: its root is exact after bracketing by the at most six kinks. Segment inside:
// the smallest separation over the normals of the Minkowski difference, e_i and e_i x u.
#include "clip.h"

typedef struct rod {
    double c[3], u[3], h[3], l, r, size;
} rod;

/// The main contact: outward unit normal of the box, separation of the segment along it, and where.
typedef struct touch {
    double n[3], separation, t; // t: on the segment
    double on_box[3];
} touch;

static double excess(const rod *g, int32_t i, double t) {
    double p = g->c[i] + t * g->u[i];
    return p > g->h[i] ? p - g->h[i] : p < -g->h[i] ? p + g->h[i] : 0.0;
}

static double slope(const rod *g, double t) {
    return g->u[0] * excess(g, 0, t) + g->u[1] * excess(g, 1, t) + g->u[2] * excess(g, 2, t);
}

static double nearest_parameter(const rod *g) {
    double low = -g->l, high = g->l, at_low = slope(g, low), at_high = slope(g, high);
    if (at_low >= 0.0) {
        return low;
    }
    if (at_high <= 0.0) {
        return high;
    }
    for (int32_t k = 0; k < 6; k++) {
        int32_t i = k >> 1;
        double t = ((k & 1 ? g->h[i] : -g->h[i]) - g->c[i]) / g->u[i];
        if (t > low && t < high) {
            double here = slope(g, t);
            if (here < 0.0) {
                low = t;
                at_low = here;
            } else {
                high = t;
                at_high = here;
            }
        }
    }
    return low - at_low * (high - low) / (at_high - at_low);
}

static void touch_inside(const rod *g, touch *best) {
    best->separation = -INFINITY;
    for (int32_t i = 0; i < 3; i++) { // along face axis i; the deepest point is an end of the segment
        double side = g->c[i] < 0.0 ? -1.0 : 1.0;
        double separation = side * g->c[i] - g->h[i] - g->l * fabs(g->u[i]);
        if (!(separation > best->separation)) {
            continue;
        }
        // moved to where the segment stands over the face: of the deepest points of a segment along the face that is
        // the one to take; any other is there already
        double t = side * g->u[i] > 0.0 ? -g->l : g->l;
        for (int32_t m = 1; m < 3; m++) {
            int32_t k = (i + m) % 3;
            if (g->u[k] != 0.0) {
                double first = (-g->h[k] - g->c[k]) / g->u[k], last = (g->h[k] - g->c[k]) / g->u[k];
                t = clamp(t, fmin(first, last), fmax(first, last));
            }
        }
        *best = (touch){.separation = separation, .t = t};
        best->n[i] = side;
        for (int32_t k = 0; k < 3; k++) {
            best->on_box[k] = g->c[k] + best->t * g->u[k] - separation * best->n[k];
        }
    }
    for (int32_t i = 0; i < 3;
         i++) { // along e_i x u: against the box edge parallel to axis i that the normal points at
        int32_t j = (i + 1) % 3, k = (i + 2) % 3;
        double across = sqrt(g->u[j] * g->u[j] + g->u[k] * g->u[k]);
        if (across < 1e-7) {
            continue;
        }
        double nj = -g->u[k] / across, nk = g->u[j] / across, centre = nj * g->c[j] + nk * g->c[k];
        double side = centre < 0.0 ? -1.0 : 1.0;
        nj *= side;
        nk *= side;
        double separation = side * centre - g->h[j] * fabs(nj) - g->h[k] * fabs(nk);
        if (separation > best->separation + 1e-10 * g->size) { // a face is preferred
            double ej = copysign(g->h[j], nj), ek = copysign(g->h[k], nk);
            double t = (g->u[j] * (ej - g->c[j]) + g->u[k] * (ek - g->c[k])) / (across * across);
            *best = (touch){.separation = separation, .t = clamp(t, -g->l, g->l)};
            best->n[j] = nj;
            best->n[k] = nk;
            best->on_box[i] = g->c[i] + best->t * g->u[i];
            best->on_box[j] = ej;
            best->on_box[k] = ek;
        }
    }
}

static stn_vec3 vector(const double x[3]) {
    return stn_vec3_make(x[0], x[1], x[2]);
}

void box_capsule(posed a, posed b, double margin, manifold *out) {
    stn_pose x = relative_pose(a.pose, b.pose), identity = stn_pose_identity();
    stn_vec3 h = a.shape->half_extents;
    rod g = {{x.position.x, x.position.y, x.position.z},
             {x.rotation.m[0][2], x.rotation.m[1][2], x.rotation.m[2][2]},
             {h.x, h.y, h.z},
             b.shape->half_length,
             b.shape->radius,
             pair_size(a.shape, b.shape)};
    for (int32_t i = 0; i < 3; i++) {
        if (fabs(g.c[i]) - g.h[i] - g.l * fabs(g.u[i]) - g.r > margin) {
            return;
        }
    }
    touch main = {.t = nearest_parameter(&g)};
    double e[3];
    for (int32_t i = 0; i < 3; i++) {
        e[i] = excess(&g, i, main.t);
        main.on_box[i] = g.c[i] + main.t * g.u[i] - e[i];
    }
    main.separation = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
    for (int32_t i = 0; i < 3; i++) {
        main.n[i] = e[i] / main.separation;
    }
    if (!(main.separation > 1e-11 * g.size)) {
        touch_inside(&g, &main);
    }
    double phi = main.separation - g.r;
    if (phi > margin) {
        return;
    }
    stn_vec3 n = vector(main.n), world_n = stn_mat3_apply(&a.pose->rotation, n);
    rectangle face;
    polygon line;
    box_face(a.shape->half_extents, &identity, n, &face);
    side_line(b.shape, &x, stn_vec3_neg(n), &line);
    overlap points;
    clip_rectangle(&face, &line, n, 0.0, &points);
    uint32_t end = main.t == -g.l ? line.corner_code[0] : main.t == g.l ? line.corner_code[1] : CODE_BETWEEN;
    bool covered = false;
    for (int32_t i = 0; i < points.count; i++) {
        const overlap_point *p = &points.points[i];
        if (p->second != end && !(p->h > margin)) {
            manifold_add(out, stn_pose_apply(a.pose, p->p), world_n, p->h, p->first, p->second);
            covered = covered || p->h <= phi + 1e-10 * g.size;
        }
    }
    if (!covered || end != CODE_BETWEEN) {
        manifold_add(out, stn_pose_apply(a.pose, vector(main.on_box)), world_n, phi, CODE_BETWEEN, end);
    }
}
