// SPDX-License-Identifier: Apache-2.0
// Two boxes, in A's axes. The separation along a unit direction n is s(n) = n . t - (reach of A) - (reach of B); among
// the 15 candidates (face normals of A and of B, cross products of edges) the largest s is minus the depth of an
// overlap [gottschalk-1996]. The two faces that look most along the normal are then clipped against each other, so that
// every corner of their overlap is a contact with its own distance along the normal: 4 to 8 points for faces, fewer for
// edges.
//
// Apart, s is the distance only when the nearest features are face and corner or two edges, which the clipped points
// show (the smallest height equals s). Otherwise the distance is that of two corners or corner and edge: gjk.c.
#include "clip.h"
#include "gjk.h"

typedef struct boxes {
    posed first, second;
    const stn_pose *x;       // of B in A
    double r[3][3], q[3][3]; // rotation of B in A, and its absolute values
    double t[3];             // centre of B in A
    double a[3], b[3];       // half extents
    double size, margin;
} boxes;

typedef struct axis {
    double separation;
    stn_vec3 n; // unit, from A to B
    bool of_b;  // a face normal of B: B's face is the reference
} axis;

/// False when a face axis separates by more than the margin.
static bool try_faces(const boxes *g, axis *best) {
    int32_t axis_a = 0, axis_b = -1;
    double s_a = -INFINITY, s_b = -INFINITY, along_b[3];
    for (int32_t i = 0; i < 3; i++) {
        const double *q = g->q[i];
        double s = fabs(g->t[i]) - g->a[i] - (q[0] * g->b[0] + q[1] * g->b[1] + q[2] * g->b[2]);
        if (s > g->margin) {
            return false;
        }
        axis_a = s > s_a ? i : axis_a;
        s_a = s > s_a ? s : s_a;
    }
    for (int32_t j = 0; j < 3; j++) {
        along_b[j] = g->t[0] * g->r[0][j] + g->t[1] * g->r[1][j] + g->t[2] * g->r[2][j];
        double s = fabs(along_b[j]) - g->b[j] - (g->q[0][j] * g->a[0] + g->q[1][j] * g->a[1] + g->q[2][j] * g->a[2]);
        if (s > g->margin) {
            return false;
        }
        axis_b = s > s_b ? j : axis_b;
        s_b = s > s_b ? s : s_b;
    }
    best->of_b = s_b > s_a;
    if (best->of_b) {
        double side = along_b[axis_b] < 0.0 ? -1.0 : 1.0;
        best->n = stn_vec3_make(side * g->r[0][axis_b], side * g->r[1][axis_b], side * g->r[2][axis_b]);
        best->separation = s_b;
    } else {
        double side = g->t[axis_a] < 0.0 ? -1.0 : 1.0;
        best->n = stn_vec3_make(axis_a == 0 ? side : 0.0, axis_a == 1 ? side : 0.0, axis_a == 2 ? side : 0.0);
        best->separation = s_a;
    }
    return true;
}

/// e_i x (axis j of B) has the components -r[k][j] along axis l and r[l][j] along axis k of A; with (i, k, l) and
/// (j, m, n) cyclic its dot products with the other axes of B are r[i][n] and r[i][m]. All small together when the
/// edges are nearly parallel, so the quotient stays exact; below 1e-7 rad the face axes stand for it.
static bool try_edges(const boxes *g, axis *best) {
    double preferred = best->separation + 1e-10 * g->size; // a face is preferred
    int32_t found_i = -1, found_j = -1;
    double found = preferred;
    for (int32_t i = 0; i < 3; i++) {
        int32_t k = (i + 1) % 3, l = (i + 2) % 3;
        for (int32_t j = 0; j < 3; j++) {
            int32_t m = (j + 1) % 3, n = (j + 2) % 3;
            double along = g->t[l] * g->r[k][j] - g->t[k] * g->r[l][j];
            double reach = g->a[k] * g->q[l][j] + g->a[l] * g->q[k][j] + g->b[m] * g->q[i][n] + g->b[n] * g->q[i][m];
            double squared = g->r[k][j] * g->r[k][j] + g->r[l][j] * g->r[l][j], d = fabs(along) - reach;
            if (squared < 1e-14) {
                continue;
            }
            if (d * fabs(d) > found * fabs(found) * squared) { // only a better one needs the root
                double s = d / sqrt(squared);
                if (s > g->margin) {
                    return false;
                }
                if (s > found) {
                    found = s;
                    found_i = i;
                    found_j = j;
                }
            }
        }
    }
    if (found_i >= 0) { // the unit vector along the product; the reference is the face that looks more along it
        int32_t j = found_j, k = (found_i + 1) % 3, l = (found_i + 2) % 3;
        double n[3] = {0.0, 0.0, 0.0}, along = g->t[l] * g->r[k][j] - g->t[k] * g->r[l][j], on_b = 0.0;
        double scale = (along < 0.0 ? -1.0 : 1.0) / sqrt(g->r[k][j] * g->r[k][j] + g->r[l][j] * g->r[l][j]);
        n[k] = -scale * g->r[l][j];
        n[l] = scale * g->r[k][j];
        for (int32_t m = 0; m < 3; m++) {
            on_b = fmax(on_b, fabs(n[k] * g->r[k][m] + n[l] * g->r[l][m]));
        }
        *best = (axis){found, {n[0], n[1], n[2]}, on_b > fmax(fabs(n[k]), fabs(n[l]))};
    }
    return true;
}

/// Overlap of the two faces that look along the normal. Points lie on the reference's face.
static void clip_faces(const boxes *g, const axis *best, overlap *out) {
    static const stn_pose identity = {{{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}}, {0.0, 0.0, 0.0}};
    stn_vec3 back = stn_vec3_neg(best->n);
    double tolerance = 1e-11 * g->size;
    rectangle on_a, on_b;
    polygon q;
    box_face(g->first.shape->half_extents, &identity, best->n, &on_a);
    box_face(g->second.shape->half_extents, g->x, back, &on_b);
    if (best->of_b) {
        polygon_of(&on_a, &q);
        clip_rectangle(&on_b, &q, back, tolerance, out);
    } else {
        polygon_of(&on_b, &q);
        clip_rectangle(&on_a, &q, best->n, tolerance, out);
    }
}

static void add_points(const boxes *g, const axis *best, const overlap *points, manifold *out) {
    posed a = g->first;
    stn_vec3 normal = stn_mat3_apply(&a.pose->rotation, best->n);
    for (int32_t i = 0; i < points->count; i++) {
        const overlap_point *p = &points->points[i];
        if (p->h > g->margin) {
            continue;
        }
        stn_vec3 world = stn_pose_apply(a.pose, p->p);
        if (best->of_b) { // p lies on B
            manifold_add(out, stn_vec3_mul_add(world, -p->h, normal), normal, p->h, p->second, p->first);
        } else {
            manifold_add(out, world, normal, p->h, p->first, p->second);
        }
    }
}

void box_box(posed a, posed b, double margin, manifold *out) {
    stn_pose x = relative_pose(a.pose, b.pose);
    boxes g; // in place, number by number: what is copied whole right after it was written makes the processor wait
    const double *t = &x.position.x, *half_a = &a.shape->half_extents.x, *half_b = &b.shape->half_extents.x;
    g.first = a;
    g.second = b;
    g.x = &x;
    g.size = pair_size(a.shape, b.shape);
    g.margin = margin;
    for (int32_t i = 0; i < 3; i++) {
        g.t[i] = t[i];
        g.a[i] = half_a[i];
        g.b[i] = half_b[i];
        for (int32_t j = 0; j < 3; j++) {
            g.r[i][j] = x.rotation.m[i][j];
            g.q[i][j] = fabs(g.r[i][j]);
        }
    }
    axis best;
    if (!try_faces(&g, &best) || !try_edges(&g, &best)) {
        return;
    }
    overlap points;
    double tiny = 1e-10 * g.size;
    clip_faces(&g, &best, &points);
    if (!(overlap_depth(&points) > best.separation + tiny)) {
        add_points(&g, &best, &points, out);
        return;
    }
    // apart, with corners or a corner and an edge nearest
    convex first = {a.shape, stn_pose_identity()}, second = {b.shape, x};
    separation s = convex_separation(&first, &second, margin);
    if (s.phi > margin) {
        return;
    }
    axis along = {.separation = s.phi, .n = s.normal};
    clip_faces(&g, &along, &points);
    if (overlap_depth(&points) <= s.phi + tiny) {
        add_points(&g, &along, &points, out);
    } else {
        stn_vec3 normal = stn_mat3_apply(&a.pose->rotation, s.normal);
        manifold_add_both(out, stn_pose_apply(a.pose, s.a), stn_pose_apply(a.pose, s.b), normal, 0, 0);
    }
}
