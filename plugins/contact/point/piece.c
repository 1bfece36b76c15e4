// SPDX-License-Identifier: Apache-2.0
// Pieces of the surface of a body: face, cap, side line; and where two that look at each other overlap.
#include "piece.h"

void piece_towards(const convex *c, stn_vec3 direction, piece *out) {
    if (c->shape->type == STN_SHAPE_BOX) {
        out->kind = PIECE_FACE;
        box_face(c->shape->half_extents, &c->pose, direction, &out->face);
        return;
    }
    if (c->shape->type == STN_SHAPE_CONVEX) {
        out->kind = PIECE_POLYGON;
        hull_face(c->shape, &c->pose, direction, &out->line);
        return;
    }
    double along = stn_vec3_dot(direction, stn_mat3_column(&c->pose.rotation, 2));
    if (c->shape->type == STN_SHAPE_CYLINDER && 2.0 * along * along >= 1.0) {
        out->kind = PIECE_CAP;
        cylinder_cap(c->shape, &c->pose, along > 0.0, &out->cap);
    } else {
        out->kind = PIECE_LINE;
        side_line(c->shape, &c->pose, direction, &out->line);
    }
}

double piece_clearance(const piece *p, stn_vec3 point) {
    if (p->kind == PIECE_FACE) {
        stn_vec3 w = stn_vec3_sub(point, p->face.centre);
        return fmin(p->face.hu - fabs(stn_vec3_dot(w, p->face.u)), p->face.hv - fabs(stn_vec3_dot(w, p->face.v)));
    }
    stn_vec3 w = stn_vec3_sub(point, p->cap.centre);
    double x = stn_vec3_dot(w, p->cap.u), y = stn_vec3_dot(w, p->cap.v);
    return p->cap.radius - sqrt(x * x + y * y);
}

/// A hull's face q (of B) against any piece of A. Of two faces the one that looks more along n is the plane that
/// heights are measured from; one that n runs nearly along is none.
static bool overlap_polygon(const piece *a, const polygon *q, stn_vec3 n, double tolerance, overlap *out) {
    enum { STEEPEST = 20 };
    stn_vec3 back = stn_vec3_neg(n);
    double on_b = stn_vec3_dot(back, q->normal), on_a = -INFINITY;
    polygon box;
    const polygon *p = &a->line;
    out->count = 0;
    if (a->kind == PIECE_CAP) {
        clip_disk_polygon(&a->cap, q, n, out);
        return false;
    }
    if (a->kind == PIECE_FACE) {
        polygon_of(&a->face, &box);
        p = &box;
    }
    if (a->kind != PIECE_LINE && p->count > 0) {
        on_a = stn_vec3_dot(n, p->normal);
    }
    if (p->count == 0 || q->count == 0 || STEEPEST * fmax(on_a, on_b) < 1.0) {
        return false;
    }
    if (on_a >= on_b) {
        clip_polygon(p, q, n, tolerance, out);
    } else {
        clip_polygon(q, p, back, tolerance, out);
    }
    return on_a < on_b;
}

/// Overlap of the two pieces; true when its points lie on B instead of A.
static bool overlap_pieces(const piece *a, const piece *b, stn_vec3 n, double tolerance, overlap *out) {
    stn_vec3 back = stn_vec3_neg(n);
    if (b->kind == PIECE_POLYGON) {
        return overlap_polygon(a, &b->line, n, tolerance, out);
    }
    if (a->kind == PIECE_FACE && b->kind == PIECE_CAP) {
        polygon q;
        polygon_of(&a->face, &q);
        clip_disk_polygon(&b->cap, &q, back, out);
        return true;
    }
    if (a->kind == PIECE_FACE) {
        clip_rectangle(&a->face, &b->line, n, tolerance, out);
        return false;
    }
    if (a->kind == PIECE_LINE && b->kind == PIECE_CAP) {
        clip_disk_polygon(&b->cap, &a->line, back, out);
        return true;
    }
    if (a->kind == PIECE_LINE) {
        clip_lines(&a->line, &b->line, n, out);
    } else if (b->kind == PIECE_CAP) {
        clip_disk_disk(&a->cap, &b->cap, n, out);
    } else {
        clip_disk_polygon(&a->cap, &b->line, n, out);
    }
    return false;
}

void face_along(const convex *a, const convex *b, stn_vec3 n, double tolerance, facing *out) {
    piece_towards(a, n, &out->a);
    piece_towards(b, stn_vec3_neg(n), &out->b);
    out->on_b = overlap_pieces(&out->a, &out->b, n, tolerance, &out->points);
}

void add_facing(posed a, const facing *f, const separation *deepest, double margin, double size, manifold *out) {
    stn_vec3 normal = stn_mat3_apply(&a.pose->rotation, deepest->normal);
    for (int32_t i = 0; i < f->points.count; i++) {
        const overlap_point *p = &f->points.points[i];
        if (p->h > margin) {
            continue;
        }
        stn_vec3 world = stn_pose_apply(a.pose, p->p);
        if (f->points.lines) {
            manifold_add_both(out, world, stn_pose_apply(a.pose, f->points.other[i]), normal, p->first, p->second);
        } else if (f->on_b) {
            manifold_add(out, stn_vec3_mul_add(world, -p->h, normal), normal, p->h, p->second, p->first);
        } else {
            manifold_add(out, world, normal, p->h, p->first, p->second);
        }
    }
    if (!(overlap_depth(&f->points) <= deepest->phi + 1e-10 * size)) {
        manifold_add_both(out, stn_pose_apply(a.pose, deepest->a), stn_pose_apply(a.pose, deepest->b), normal,
                          CODE_DEEPEST, CODE_DEEPEST);
    }
}
